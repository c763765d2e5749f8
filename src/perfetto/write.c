/*
 * perfetto/write.c - a heap graph as an HPROF dump, as ART's own are (art/runtime/hprof/hprof.cc):
 * what an object has beyond its fields is a made-up array beside it, at the ID + 8 of a string, + 1
 * of a class. References that are no field's, of the runtime's own structures, are an array at the
 * ID + 4, in a made-up field.
 */
#include "perfetto/perfetto_private.h"

#include "base/bytes.h"
#include "base/try.h"
#include "hprof/reader.h"

#include <string.h>

/* Sub-records are collected to segments of this size. */
#define SEGMENT_BYTES (1u << 20)
/* Objects between two looks at the cancel flag. */
#define STEP_OBJECTS 16384u
/* Bytes of a string without its characters, and of the head of an array, in ART. */
#define STRING_BYTES 16u
#define ARRAY_BYTES 12u
#define WIDE_ARRAY_BYTES 16u
#define REFERENCE_BYTES 4u
/* Where made-up arrays lie. */
#define STRING_VALUE_AT 8u
#define RUNTIME_AT 4u
#define CLASS_OVERHEAD_AT 1u
/* In dumps with identifiers of 4 bytes no object is here. */
#define NO_OBJECT 0xfffffff0u

/* Texts beside the names of types and fields. */
enum {
	TEXT_VALUE,
	TEXT_OVERHEAD,
	TEXT_RUNTIME,
	TEXT_VALUES,
	TEXT_HEAPS = TEXT_VALUES + PERFETTO_VALUES
};

static const struct {
	uint32_t id; /* ART's */
	const char *name;
} heaps[] = { { 0, "default" }, { 'A', "app" }, { 'Z', "zygote" }, { 'I', "image" } };
#define HEAPS (sizeof(heaps) / sizeof(heaps[0]))
enum { HEAP_APP = 1 };

struct writer {
	struct perfetto_tables *g;
	const struct perfetto_sink *sink;
	struct base_vec segment;   /* bytes */
	struct base_vec class_ids; /* uint64_t, by number of the type */
	struct perfetto_references refs;
	struct hdb_error *err;
	uint64_t written, most; /* bytes */
	uint64_t scale;         /* of identifiers */
	unsigned id_size;
	uint32_t class_bytes; /* of an instance of java.lang.Class */
	uint32_t thread_count;
	uint8_t heap; /* that objects belong to from here on; HEAPS: none */
	int result;   /* the first failure of the put functions */
};

/* ---- bytes; a failure is kept until the end of the sub-record ---- */

static void put(struct writer *w, const void *data, size_t size)
{
	if (w->result == HDB_OK)
		w->result = base_bytes_append(&w->segment, data, size, w->err);
}

static void put_u1(struct writer *w, uint8_t value)
{
	put(w, &value, sizeof(value));
}

static void put_u2(struct writer *w, size_t value)
{
	if (value > UINT16_MAX && w->result == HDB_OK)
		w->result = hdb_fail(w->err, HDB_ELIMIT, "a class with more than %u fields",
				     UINT16_MAX);
	put_u1(w, (uint8_t)(value >> 8));
	put_u1(w, (uint8_t)value);
}

static void put_u4(struct writer *w, uint32_t value)
{
	uint8_t bytes[4];

	put_be32(bytes, value);
	put(w, bytes, sizeof(bytes));
}

static void put_u8(struct writer *w, uint64_t value)
{
	put_u4(w, (uint32_t)(value >> 32));
	put_u4(w, (uint32_t)value);
}

/* An identifier as it is in the dump. */
static void put_id(struct writer *w, uint64_t id)
{
	if (w->id_size == 8)
		put_u8(w, id);
	else
		put_u4(w, (uint32_t)id);
}

/* The identifier of an object of the graph: its address. What no object of it can have stays so. */
static uint64_t object_id(const struct writer *w, uint64_t id)
{
	const uint64_t most = w->id_size == 8 ? UINT64_MAX : NO_OBJECT;

	return id <= most / w->scale ? id * w->scale : NO_OBJECT;
}

static int write_out(struct writer *w, const void *data, size_t size)
{
	w->written += size;
	if (w->written > w->most)
		return perfetto_too_large(w->err);
	return w->sink->put(w->sink->ctx, data, size, w->err);
}

/* Writes what was collected as the body of a record. */
static int end_record(struct writer *w, uint8_t tag)
{
	uint8_t head[9] = { tag };

	TRY(w->result);
	put_be32(head + 5, (uint32_t)w->segment.count);
	TRY(write_out(w, head, sizeof(head)));
	TRY(write_out(w, w->segment.data, w->segment.count));
	w->segment.count = 0;
	return HDB_OK;
}

/* Ends a sub-record. */
static int end_sub(struct writer *w)
{
	TRY(w->result);
	if (w->segment.count > UINT32_MAX || w->written + w->segment.count > w->most)
		return perfetto_too_large(w->err);
	return w->segment.count < SEGMENT_BYTES ? HDB_OK : end_record(w, HPROF_HEAP_DUMP_SEGMENT);
}

/* ---- names ---- */

static uint64_t type_text(uint32_t no)
{
	return 1 + (uint64_t)no;
}

/* A field as one of instances, or of java.lang.Class as a static field of its objects. */
static uint64_t field_text(const struct writer *w, uint32_t no, bool of_class)
{
	return 1 + w->g->types.count + 2 * (uint64_t)no + of_class;
}

static uint64_t other_text(const struct writer *w, unsigned no)
{
	return field_text(w, (uint32_t)w->g->fields.count, false) + no;
}

static int write_text(struct writer *w, uint64_t text_id, const char *prefix,
		      const struct proto *text)
{
	put_id(w, text_id);
	put(w, prefix, strlen(prefix));
	if (text && proto_size(text))
		put(w, text->at, proto_size(text));
	return end_record(w, HPROF_UTF8);
}

static int write_texts(struct writer *w)
{
	static const char *const others[] = { "value", "$classOverhead", "runtimeInternalObjects" };

	for (uint32_t i = 0; i < w->g->types.count; i++)
		TRY(write_text(w, type_text(i), "", &perfetto_type_at(w->g, i)->name));
	for (uint32_t i = 0; i < w->g->fields.count; i++) {
		struct proto class_name, name;

		perfetto_field_name(perfetto_field_at(w->g, i), &class_name, &name);
		TRY(write_text(w, field_text(w, i, false), "", &name));
		if (perfetto_text_is(&class_name, "java.lang.Class"))
			TRY(write_text(w, field_text(w, i, true), "$class$", &name));
	}
	for (unsigned i = 0; i < TEXT_VALUES; i++)
		TRY(write_text(w, other_text(w, i), others[i], NULL));
	for (unsigned i = 0; i < PERFETTO_VALUES; i++)
		TRY(write_text(w, other_text(w, TEXT_VALUES + i), perfetto_value_fields[i].name,
			       NULL));
	for (unsigned i = 0; i < HEAPS; i++)
		TRY(write_text(w, other_text(w, TEXT_HEAPS + i), heaps[i].name, NULL));
	return HDB_OK;
}

/* ---- classes ---- */

static uint64_t class_id(const struct writer *w, uint32_t type_no)
{
	return type_no == PERFETTO_NONE ? 0 : *base_vec_at(&w->class_ids, uint64_t, type_no);
}

/* Classes have the identifiers of their objects; those without one get some behind all others. */
static int number_classes(struct writer *w)
{
	uint64_t next = object_id(w, w->g->id_max) / 16 * 16 + 32;

	for (uint32_t i = 0; i < w->g->types.count; i++) {
		const struct perfetto_type *type = perfetto_type_at(w->g, i);
		uint64_t id = next;

		if (type->class_object != PERFETTO_NONE)
			id = object_id(w, perfetto_object_at(w->g, type->class_object)->id);
		else
			next += 16;
		TRY(base_vec_push(&w->class_ids, &id, sizeof(id), w->err));
	}
	if (next < NO_OBJECT)
		w->id_size = 4;
	return HDB_OK;
}

static int write_loads(struct writer *w)
{
	for (uint32_t i = 0; i < w->g->types.count; i++) {
		if (perfetto_type_at(w->g, i)->class_of != PERFETTO_NONE)
			continue;
		put_u4(w, i + 1);
		put_id(w, class_id(w, i));
		put_u4(w, 0);
		put_id(w, type_text(i));
		TRY(end_record(w, HPROF_LOAD_CLASS));
	}
	return HDB_OK;
}

static void put_heap(struct writer *w, uint8_t heap)
{
	if (heap >= HEAPS)
		heap = 0;
	if (heap == w->heap)
		return;
	w->heap = heap;
	put_u1(w, HPROF_HEAP_DUMP_INFO);
	put_u4(w, heaps[heap].id);
	put_id(w, other_text(w, TEXT_HEAPS + heap));
}

static void put_bare_array(struct writer *w, uint64_t id, uint64_t count, uint8_t type)
{
	put_u1(w, HPROF_PRIMITIVE_ARRAY_NODATA);
	put_id(w, id);
	put_u4(w, 0);
	put_u4(w, count > INT32_MAX ? INT32_MAX : (uint32_t)count);
	put_u1(w, type);
}

static void put_static(struct writer *w, uint64_t text_id, uint64_t id)
{
	put_id(w, text_id);
	put_u1(w, HPROF_OBJECT);
	put_id(w, id);
}

/* Overwrites two bytes with a count. */
static void patch_u2(struct writer *w, size_t at, size_t value)
{
	const size_t end = w->segment.count;

	if (w->result != HDB_OK)
		return;
	w->segment.count = at;
	put_u2(w, value);
	w->segment.count = end;
}

/* The static fields: those of the class object, but for what HPROF has a place for. */
static int put_statics(struct writer *w, const struct perfetto_type *type, uint64_t *overhead)
{
	const struct perfetto_object *object;
	const size_t at = w->segment.count;
	size_t count = 0;
	uint64_t bytes;
	int r;

	*overhead = 0;
	put_u2(w, 0);
	if (type->class_object == PERFETTO_NONE)
		return HDB_OK;
	object = perfetto_object_at(w->g, type->class_object);
	if ((r = perfetto_references_read(w->g, object, &w->refs, w->err)) < 0)
		return r;
	for (size_t i = 0; r == HDB_OK && i < w->refs.fields.count; i++) {
		const uint32_t no = (uint32_t)*base_vec_at(&w->refs.fields, uint64_t, i);
		const uint64_t id = *base_vec_at(&w->refs.ids, uint64_t, i);
		struct proto class_name, name;
		bool of_class;

		perfetto_field_name(perfetto_field_at(w->g, no), &class_name, &name);
		of_class = perfetto_text_is(&class_name, "java.lang.Class");
		if (of_class && (!id || perfetto_text_is(&name, "superClass") ||
				 perfetto_text_is(&name, "classLoader")))
			continue;
		put_static(w, field_text(w, no, of_class), object_id(w, id));
		count++;
	}
	for (size_t i = 0; r == HDB_OK && i < w->refs.extras.count; i++, count++)
		put_static(w, other_text(w, TEXT_RUNTIME),
			   object_id(w, *base_vec_at(&w->refs.extras, uint64_t, i)));
	bytes = w->class_bytes + REFERENCE_BYTES * (count + 1);
	if (object->self_size > bytes) {
		*overhead = object->self_size - bytes;
		put_static(w, other_text(w, TEXT_OVERHEAD),
			   object_id(w, object->id) + CLASS_OVERHEAD_AT);
		count++;
	}
	patch_u2(w, at, count);
	return HDB_OK;
}

static bool is_string(const struct perfetto_type *type)
{
	return type->kind == PERFETTO_KIND_STRING ||
	       perfetto_text_is(&type->name, "java.lang.String");
}

static void put_field(struct writer *w, uint64_t text_id, uint8_t type)
{
	put_id(w, text_id);
	put_u1(w, type);
}

/* The fields of instances, in the order in which put_own_values has their values. */
static void put_fields(struct writer *w, const struct perfetto_type *type)
{
	const size_t at = w->segment.count;
	size_t count = type->field_count;

	put_u2(w, 0);
	for (uint32_t i = 0; i < type->field_count; i++)
		put_field(w, field_text(w, perfetto_own_field(w->g, type, i), false), HPROF_OBJECT);
	for (uint32_t i = type->added_fields; i != PERFETTO_NONE; count++) {
		const struct perfetto_added *added =
			base_vec_at(&w->g->added, struct perfetto_added, i);

		put_field(w, field_text(w, added->field_no, false), HPROF_OBJECT);
		i = added->next;
	}
	if (is_string(type)) {
		put_field(w, other_text(w, TEXT_VALUE), HPROF_OBJECT);
		count++;
	}
	if (type->has_extras) {
		put_field(w, other_text(w, TEXT_RUNTIME), HPROF_OBJECT);
		count++;
	}
	for (unsigned i = 0; i < PERFETTO_VALUES; i++) {
		if (!(type->values & 1u << i))
			continue;
		put_field(w, other_text(w, TEXT_VALUES + i), perfetto_value_fields[i].type);
		count++;
	}
	patch_u2(w, at, count);
}

static int write_class(struct writer *w, uint32_t no)
{
	const struct perfetto_type *type = perfetto_type_at(w->g, no);
	uint64_t overhead;

	if (type->class_of != PERFETTO_NONE)
		return HDB_OK;
	put_heap(w, type->class_object == PERFETTO_NONE ?
			    HEAP_APP :
			    perfetto_object_at(w->g, type->class_object)->heap);
	put_u1(w, HPROF_CLASS_DUMP);
	put_id(w, class_id(w, no));
	put_u4(w, 0);
	put_id(w, class_id(w, type->super_no));
	put_id(w, object_id(w, type->loader_id));
	for (unsigned i = 0; i < 4; i++)
		put_id(w, 0);
	put_u4(w, is_string(type) ? STRING_BYTES : type->element ? 0 : (uint32_t)type->object_size);
	put_u2(w, 0);
	TRY(put_statics(w, type, &overhead));
	put_fields(w, type);
	if (overhead)
		put_bare_array(w, class_id(w, no) + CLASS_OVERHEAD_AT, overhead, HPROF_BYTE);
	return end_sub(w);
}

/* ---- objects ---- */

static int write_array(struct writer *w, const struct perfetto_object *object,
		       const struct perfetto_type *type)
{
	const uint64_t head = type->element == HPROF_LONG || type->element == HPROF_DOUBLE ?
				      WIDE_ARRAY_BYTES :
				      ARRAY_BYTES;
	const uint64_t bytes = object->self_size > head ? object->self_size - head : 0;
	uint64_t count = bytes / REFERENCE_BYTES;

	if (type->element != HPROF_OBJECT) {
		put_bare_array(w, object_id(w, object->id),
			       bytes / hprof_type_size(type->element, 4), type->element);
		return end_sub(w);
	}
	TRY_ERRORS(perfetto_references_read(w->g, object, &w->refs, w->err));
	if (count < w->refs.ids.count)
		count = w->refs.ids.count;
	if (count > (w->most - w->written) / w->id_size)
		return perfetto_too_large(w->err);
	put_u1(w, HPROF_OBJECT_ARRAY_DUMP);
	put_id(w, object_id(w, object->id));
	put_u4(w, 0);
	put_u4(w, (uint32_t)count);
	put_id(w, class_id(w, object->type_no));
	for (uint64_t i = 0; i < count; i++)
		put_id(w, i < w->refs.ids.count ?
				  object_id(w, *base_vec_at(&w->refs.ids, uint64_t, i)) :
				  0);
	return end_sub(w);
}

/* Puts references with fields into the fields' slots; what has none becomes an extra one. */
static int fill_slots(struct writer *w, const struct perfetto_type *type, uint32_t object_no)
{
	struct perfetto_references *refs = &w->refs;

	for (size_t i = 0; i < refs->fields.count; i++) {
		const uint64_t no = *base_vec_at(&refs->fields, uint64_t, i);
		const uint64_t *id = base_vec_at(&refs->ids, uint64_t, i);
		struct perfetto_slot *slot = base_vec_at(&refs->slots, struct perfetto_slot, no);

		if (slot->object_no == object_no + 1 && slot->id && *id && type->has_extras)
			TRY(base_vec_push(&refs->extras, id, sizeof(*id), w->err));
		if (slot->object_no != object_no + 1)
			*slot = (struct perfetto_slot){ *id, object_no + 1 };
	}
	if (!refs->fields.count)
		for (size_t i = type->chain_fields; i < refs->ids.count; i++)
			TRY(base_vec_push(&refs->extras, base_vec_at(&refs->ids, uint64_t, i),
					  sizeof(uint64_t), w->err));
	return HDB_OK;
}

static void put_slot(struct writer *w, uint32_t field_no, uint32_t object_no)
{
	const struct perfetto_slot *slot =
		base_vec_at(&w->refs.slots, struct perfetto_slot, field_no);

	put_id(w, slot->object_no == object_no + 1 ? object_id(w, slot->id) : 0);
}

/* The values of the fields that this class declares; *next is the next reference without a name. */
static void put_own_values(struct writer *w, const struct perfetto_type *type, uint32_t object_no,
			   size_t *next)
{
	const struct perfetto_object *object = perfetto_object_at(w->g, object_no);
	const uint64_t id = object_id(w, object->id);

	for (uint32_t i = 0; i < type->field_count; i++) {
		if (w->refs.fields.count)
			put_slot(w, perfetto_own_field(w->g, type, i), object_no);
		else
			put_id(w,
			       *next < w->refs.ids.count ?
				       object_id(w, *base_vec_at(&w->refs.ids, uint64_t, *next)) :
				       0);
		*next += 1;
	}
	for (uint32_t i = type->added_fields; i != PERFETTO_NONE;) {
		const struct perfetto_added *added =
			base_vec_at(&w->g->added, struct perfetto_added, i);

		put_slot(w, added->field_no, object_no);
		i = added->next;
	}
	if (is_string(type))
		put_id(w, object->self_size > STRING_BYTES ? id + STRING_VALUE_AT : 0);
	if (type->has_extras)
		put_id(w, w->refs.extras.count ? id + RUNTIME_AT : 0);
	for (unsigned i = 0; i < PERFETTO_VALUES; i++) {
		if (!(type->values & 1u << i))
			continue;
		if (perfetto_value_fields[i].type == HPROF_LONG)
			put_u8(w, w->refs.values[i]);
		else
			put_u4(w, (uint32_t)w->refs.values[i]);
	}
}

/* The array of references that are no field's. */
static void put_extras(struct writer *w, const struct perfetto_object *object)
{
	put_u1(w, HPROF_OBJECT_ARRAY_DUMP);
	put_id(w, object_id(w, object->id) + RUNTIME_AT);
	put_u4(w, 0);
	put_u4(w, (uint32_t)w->refs.extras.count);
	put_id(w, class_id(w, w->g->array_no));
	for (size_t i = 0; i < w->refs.extras.count; i++)
		put_id(w, object_id(w, *base_vec_at(&w->refs.extras, uint64_t, i)));
}

static int write_instance(struct writer *w, uint32_t no, const struct perfetto_type *type)
{
	const struct perfetto_object *object = perfetto_object_at(w->g, no);
	const uint64_t id = object_id(w, object->id);
	size_t at, next = 0;

	TRY_ERRORS(perfetto_references_read(w->g, object, &w->refs, w->err));
	TRY(fill_slots(w, type, no));
	put_u1(w, HPROF_INSTANCE_DUMP);
	put_id(w, id);
	put_u4(w, 0);
	put_id(w, class_id(w, object->type_no));
	at = w->segment.count;
	put_u4(w, 0);
	for (const struct perfetto_type *t = type; t;) {
		put_own_values(w, t, no, &next);
		TRY(w->result);
		if (w->written + w->segment.count > w->most)
			return perfetto_too_large(w->err);
		t = t->super_no == PERFETTO_NONE ? NULL : perfetto_type_at(w->g, t->super_no);
	}
	put_be32((uint8_t *)w->segment.data + at, (uint32_t)(w->segment.count - at - 4));
	if (is_string(type) && object->self_size > STRING_BYTES)
		put_bare_array(w, id + STRING_VALUE_AT, object->self_size - STRING_BYTES,
			       HPROF_BYTE);
	if (w->refs.extras.count && type->has_extras)
		put_extras(w, object);
	if (!is_string(type) && object->self_size && object->self_size != type->object_size)
		w->g->problem_count++;
	return end_sub(w);
}

static int write_objects(struct writer *w)
{
	base_stage(w->g->trace->work, "writing the dump", w->g->objects.count, "objects");
	for (uint32_t i = 0; i < w->g->objects.count; i++) {
		const struct perfetto_object *object = perfetto_object_at(w->g, i);
		const struct perfetto_type *type = perfetto_type_at(w->g, object->type_no);

		if (i % STEP_OBJECTS == 0)
			TRY(base_step(w->g->trace->work, i, w->err));
		if (type->class_of != PERFETTO_NONE)
			continue;
		put_heap(w, object->heap);
		TRY(type->element ? write_array(w, object, type) : write_instance(w, i, type));
	}
	return HDB_OK;
}

/* ---- roots ---- */

/* HeapGraphRoot.Type as HPROF has it, and the 4-byte numbers that follow the ID there. */
static const struct {
	uint8_t tag, numbers;
} root_kinds[] = {
	{ HPROF_ROOT_UNKNOWN, 0 },           { HPROF_ROOT_JNI_GLOBAL, 0 }, /* and an ID */
	{ HPROF_ROOT_JNI_LOCAL, 2 },         { HPROF_ROOT_JAVA_FRAME, 2 },
	{ HPROF_ROOT_NATIVE_STACK, 1 },      { HPROF_ROOT_STICKY_CLASS, 0 },
	{ HPROF_ROOT_THREAD_BLOCK, 1 },      { HPROF_ROOT_MONITOR_USED, 0 },
	{ HPROF_ROOT_THREAD_OBJECT, 2 },     { HPROF_ROOT_INTERNED_STRING, 0 },
	{ HPROF_ROOT_FINALIZING, 0 },        { HPROF_ROOT_DEBUGGER, 0 },
	{ HPROF_ROOT_REFERENCE_CLEANUP, 0 }, { HPROF_ROOT_VM_INTERNAL, 0 },
	{ HPROF_ROOT_JNI_MONITOR, 2 },
};

static int write_root(struct writer *w, uint8_t tag, unsigned numbers, uint64_t id)
{
	put_u1(w, tag);
	put_id(w, object_id(w, id));
	if (tag == HPROF_ROOT_JNI_GLOBAL)
		put_id(w, 0);
	for (unsigned i = 0; i < numbers; i++)
		put_u4(w, tag == HPROF_ROOT_THREAD_OBJECT && i == 0 ? ++w->thread_count : 0);
	return end_sub(w);
}

/* The graph's, and what lies in heaps that ART never collects. */
static int write_roots(struct writer *w)
{
	const size_t kinds = sizeof(root_kinds) / sizeof(root_kinds[0]);

	for (size_t i = 0; i < w->g->roots.count; i++) {
		const struct perfetto_root *root =
			base_vec_at(&w->g->roots, struct perfetto_root, i);
		const uint32_t kind = root->kind < kinds ? root->kind : 0;

		TRY(write_root(w, root_kinds[kind].tag, root_kinds[kind].numbers, root->id));
	}
	for (size_t i = 0; i < w->g->objects.count; i++) {
		const struct perfetto_object *object = perfetto_object_at(w->g, i);

		if (object->heap > HEAP_APP && object->heap < HEAPS)
			TRY(write_root(w, HPROF_ROOT_VM_INTERNAL, 0, object->id));
	}
	return HDB_OK;
}

/* ---- all of it ---- */

static int write_header(struct writer *w, const struct perfetto_graph *graph)
{
	static const char magic[] = "JAVA PROFILE 1.0.3";
	const int64_t ns = (int64_t)graph->timestamp + w->g->trace->clock_offset_ns;

	put(w, magic, sizeof(magic));
	put_u4(w, w->id_size);
	put_u8(w, ns > 0 ? (uint64_t)ns / 1000000 : 0);
	TRY(w->result);
	TRY(write_out(w, w->segment.data, w->segment.count));
	w->segment.count = 0;
	return HDB_OK;
}

static int write_all(struct writer *w, const struct perfetto_graph *graph)
{
	TRY(number_classes(w));
	TRY(write_header(w, graph));
	TRY(write_texts(w));
	TRY(write_loads(w));
	for (uint32_t i = 0; i < w->g->types.count; i++)
		TRY(write_class(w, i));
	TRY(write_objects(w));
	TRY(write_roots(w));
	TRY(end_record(w, HPROF_HEAP_DUMP_SEGMENT));
	/* Readers then know that something is missing. */
	return graph->missing_count ? HDB_OK : end_record(w, HPROF_HEAP_DUMP_END);
}

/*
 * ART writes addresses divided by the alignment of objects for its compiler, 4; before, as they
 * are. Made-up arrays need room between identifiers.
 */
static int find_scale(struct writer *w)
{
	const uint64_t bits = w->g->id_bits;

	w->scale = bits & 1 ? 16 : bits & 2 ? 4 : bits & 4 ? 2 : 1;
	if (w->g->id_max < UINT64_MAX / 32)
		return HDB_OK;
	return hdb_fail(w->err, HDB_EFORMAT, "0x%" PRIx64 " is no object's address", w->g->id_max);
}

static void release(struct writer *w)
{
	perfetto_references_release(&w->refs);
	base_vec_release(&w->class_ids);
	base_vec_release(&w->segment);
}

int perfetto_write(struct perfetto *trace, unsigned graph_no, const struct perfetto_sink *sink,
		   struct perfetto_result *result, struct hdb_error *err)
{
	BASE_SCOPED(perfetto_tables_release) struct perfetto_tables g = { .trace = trace };
	BASE_SCOPED(release)
	struct writer w = {
		.g = &g,
		.sink = sink,
		.err = err,
		.heap = HEAPS,
		.id_size = 8,
		.segment.work = trace->work,
		.class_ids.work = trace->work,
		.most = ((uint64_t)PERFETTO_GROWTH_MIB << 20) +
			perfetto_bytes(trace) * PERFETTO_GROWTH_MAX,
	};
	uint32_t class_no;

	if (!graph_no || graph_no > trace->graphs.count)
		return hdb_fail(err, HDB_EUSAGE,
				"%s: there is no heap graph number %u; the trace holds %zu",
				trace->source->path, graph_no, trace->graphs.count);
	TRY(perfetto_tables_read(&g, graph_no - 1, err));
	TRY(find_scale(&w));
	class_no = perfetto_type_named(&g, "java.lang.Class");
	if (class_no != PERFETTO_NONE)
		w.class_bytes = (uint32_t)perfetto_type_at(&g, class_no)->object_size;
	TRY(write_all(&w, base_vec_at(&trace->graphs, struct perfetto_graph, graph_no - 1)));
	TRY(base_source_failed(trace->source, err));
	*result = (struct perfetto_result){ g.objects.count, g.problem_count };
	return HDB_OK;
}

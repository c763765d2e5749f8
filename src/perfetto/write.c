/*
 * perfetto/write.c - writes a heap graph as HPROF, in the same form as ART
 * (art/runtime/hprof/hprof.cc). Where an object is larger than its fields, an artificial array next
 * to it makes up the difference: the characters of a string at its ID + 8, and the overhead of a
 * class at its ID + 1. References without a field, which the runtime holds internally, go into an
 * artificial array at ID + 4, to which an artificial field refers. If objects of one class differ
 * in size, the class gets the size of the smallest, and an artificial first field contains the
 * number of extra bytes of each object.
 */
#include "perfetto/perfetto_private.h"

#include "base/bytes.h"
#include "base/try.h"
#include "hprof/reader.h"

#include <assert.h>
#include <string.h>

/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 16384u
/* Sizes in ART: a string without its characters, and the headers of arrays. */
#define STRING_BYTES 16u
#define ARRAY_BYTES 12u
#define WIDE_ARRAY_BYTES 16u
#define REFERENCE_BYTES 4u
/* Maximum value of HPROF_MORE_BYTES that the import accepts. */
#define MORE_BYTES_MAX ((uint32_t)INT32_MAX & ~7u)
/* Distance from the ID of an object to the ID of its artificial array. */
#define STRING_VALUE_AT 8u
#define RUNTIME_AT 4u
#define CLASS_OVERHEAD_AT 1u
/* An ID that no object has in dumps with 4-byte IDs. */
#define NO_OBJECT 0xfffffff0u

/* Strings other than the names of types and fields. */
enum {
	TEXT_VALUE,
	TEXT_OVERHEAD,
	TEXT_RUNTIME,
	TEXT_MORE_BYTES,
	TEXT_VALUES,
	TEXT_HEAPS = TEXT_VALUES + PERFETTO_VALUES
};

static const struct {
	uint32_t id; /* the ID that ART uses */
	const char *name;
} heaps[] = { { 0, "default" }, { 'A', "app" }, { 'Z', "zygote" }, { 'I', "image" } };
#define HEAPS BASE_COUNT(heaps)
enum { HEAP_APP = 1 };

struct writer {
	struct perfetto_tables *g;
	struct hprof_writer out;
	struct base_vec class_ids; /* uint64_t, indexed by type */
	struct perfetto_references refs;
	uint64_t scale;       /* factor from IDs in the graph to IDs in the dump */
	uint32_t class_bytes; /* size of an instance of java.lang.Class */
	uint32_t thread_count;
	uint8_t heap; /* heap recorded last; HEAPS means none yet */
};

/* ---- identifiers ---- */

/* Returns the ID of an object in the dump. IDs that are too large to be real become NO_OBJECT. */
static uint64_t object_id(const struct writer *w, uint64_t id)
{
	const uint64_t most = w->out.id_size == 8 ? UINT64_MAX : NO_OBJECT;

	assert(w->scale > 0);
	return id <= most / w->scale ? id * w->scale : NO_OBJECT;
}

/* ---- names ---- */

static uint64_t type_text(uint32_t no)
{
	return 1 + (uint64_t)no;
}

/*
 * Returns the string ID of a field's name. Each field has two: one for instances and, if
 * java.lang.Class declares the field, one for static fields of class objects.
 */
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
	hprof_put_id(&w->out, text_id);
	hprof_put(&w->out, prefix, strlen(prefix));
	if (text && proto_size(text))
		hprof_put(&w->out, text->at, proto_size(text));
	return hprof_end_record(&w->out, HPROF_UTF8);
}

/*
 * Writes the original name of an obfuscated class. For "a[]", this is the original name of "a"
 * followed by "[]".
 */
static int write_type_text(struct writer *w, uint32_t no)
{
	const struct perfetto_type *type = perfetto_type_at(w->g, no);
	const uint32_t location = base_idmap_get(&w->g->location_map, type->location_id);
	struct proto of[CLEAR_NAME] = { type->name }, name;
	const struct clear_name *clear;

	while (proto_size(&of[CLEAR_CLASS]) > 2 && memcmp(of[CLEAR_CLASS].end - 2, "[]", 2) == 0)
		of[CLEAR_CLASS].end -= 2;
	if (location != BASE_IDMAP_NONE)
		of[CLEAR_PACKAGE] = *base_vec_at(&w->g->packages, struct proto, location);
	clear = clear_find(&w->g->trace->names, of);
	name = clear ? clear->class_name : of[CLEAR_CLASS];
	hprof_put_id(&w->out, type_text(no));
	hprof_put(&w->out, name.at, proto_size(&name));
	hprof_put(&w->out, of[CLEAR_CLASS].end, (size_t)(type->name.end - of[CLEAR_CLASS].end));
	return hprof_end_record(&w->out, HPROF_UTF8);
}

static int write_texts(struct writer *w)
{
	static const char *const others[] = { "value", "$classOverhead", "runtimeInternalObjects",
					      HPROF_MORE_BYTES };

	for (uint32_t i = 0; i < w->g->types.count; i++)
		TRY(write_type_text(w, i));
	for (uint32_t i = 0; i < w->g->fields.count; i++) {
		struct proto class_name, name, unused;
		const struct clear_name *clear;

		perfetto_field_name(perfetto_field_at(w->g, i), &class_name, &name);
		clear = clear_find(&w->g->trace->names,
				   (struct proto[CLEAR_NAME]){ class_name, name });
		if (clear)
			perfetto_field_name(&clear->of[CLEAR_NAME], &unused, &name);
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
	assert(type_no == PERFETTO_NONE || type_no < w->class_ids.count);
	return type_no == PERFETTO_NONE ? 0 : *base_vec_at(&w->class_ids, uint64_t, type_no);
}

/*
 * Assigns IDs to classes. A class has the ID of its class object; a class without a class object
 * gets an ID above the IDs of all objects.
 */
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
		TRY(base_vec_push(&w->class_ids, &id, sizeof(id), w->out.err));
	}
	if (next < NO_OBJECT)
		w->out.id_size = 4;
	return HDB_OK;
}

static int write_loads(struct writer *w)
{
	for (uint32_t i = 0; i < w->g->types.count; i++) {
		if (perfetto_type_at(w->g, i)->class_of != PERFETTO_NONE)
			continue;
		hprof_put_u4(&w->out, i + 1);
		hprof_put_id(&w->out, class_id(w, i));
		hprof_put_u4(&w->out, 0);
		hprof_put_id(&w->out, type_text(i));
		TRY(hprof_end_record(&w->out, HPROF_LOAD_CLASS));
	}
	return HDB_OK;
}

static void put_heap(struct writer *w, uint8_t heap)
{
	assert(w->heap <= HEAPS);
	if (heap >= HEAPS)
		heap = 0;
	if (heap == w->heap)
		return;
	w->heap = heap;
	hprof_put_u1(&w->out, HPROF_HEAP_DUMP_INFO);
	hprof_put_u4(&w->out, heaps[heap].id);
	hprof_put_id(&w->out, other_text(w, TEXT_HEAPS + heap));
}

static void put_static(struct writer *w, uint64_t text_id, uint64_t id)
{
	hprof_put_id(&w->out, text_id);
	hprof_put_u1(&w->out, HPROF_OBJECT);
	hprof_put_id(&w->out, id);
}

/*
 * Writes the fields of the class object as static fields, except fields that the class record
 * already contains (superclass, class loader). Sets *overhead to the part of the class object's
 * size that its fields do not account for.
 */
static int put_statics(struct writer *w, const struct perfetto_type *type, uint64_t *overhead)
{
	const struct perfetto_object *object;
	const size_t at = w->out.segment.count;
	size_t count = 0;
	uint64_t bytes;
	int r;

	*overhead = 0;
	hprof_put_u2(&w->out, 0);
	if (type->class_object == PERFETTO_NONE)
		return HDB_OK;
	object = perfetto_object_at(w->g, type->class_object);
	TRY_ERRORS(r = perfetto_references_read(w->g, object, &w->refs, w->out.err));
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
	hprof_patch_u2(&w->out, at, count);
	return HDB_OK;
}

static bool is_string(const struct perfetto_type *type)
{
	return type->kind == PERFETTO_KIND_STRING ||
	       perfetto_text_is(&type->name, "java.lang.String");
}

/* Returns whether the instances need an artificial size field. Strings use an array instead. */
static bool has_sizes(const struct perfetto_type *type)
{
	return type->least_bytes != type->most_bytes && !is_string(type);
}

/* Returns the instance size to record: the trace's own value if it matches the smallest object. */
static uint32_t instance_size(const struct perfetto_type *type)
{
	const bool is_least = !type->most_bytes || perfetto_bytes_of(type, 0) == type->least_bytes;

	return (uint32_t)(is_least ? type->object_size : type->least_bytes);
}

static void put_field(struct writer *w, uint64_t text_id, uint8_t type)
{
	hprof_put_id(&w->out, text_id);
	hprof_put_u1(&w->out, type);
}

/* Declares the instance fields, in the order in which put_own_values writes the values. */
static void put_fields(struct writer *w, const struct perfetto_type *type)
{
	const size_t at = w->out.segment.count;
	size_t count = type->field_count;

	hprof_put_u2(&w->out, 0);
	if (has_sizes(type)) {
		put_field(w, other_text(w, TEXT_MORE_BYTES), HPROF_INT);
		count++;
	}
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
	hprof_patch_u2(&w->out, at, count);
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
	hprof_put_u1(&w->out, HPROF_CLASS_DUMP);
	hprof_put_id(&w->out, class_id(w, no));
	hprof_put_u4(&w->out, 0);
	hprof_put_id(&w->out, class_id(w, type->super_no));
	hprof_put_id(&w->out, object_id(w, type->loader_id));
	for (unsigned i = 0; i < 4; i++)
		hprof_put_id(&w->out, 0);
	hprof_put_u4(&w->out, is_string(type) ? STRING_BYTES :
			      type->element   ? 0 :
						instance_size(type));
	hprof_put_u2(&w->out, 0);
	TRY(put_statics(w, type, &overhead));
	put_fields(w, type);
	if (overhead)
		hprof_put_bare_array(&w->out, class_id(w, no) + CLASS_OVERHEAD_AT, overhead,
				     HPROF_BYTE);
	return hprof_end_sub(&w->out);
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
		hprof_put_bare_array(&w->out, object_id(w, object->id),
				     bytes / hprof_type_size(type->element, 4), type->element);
		return hprof_end_sub(&w->out);
	}
	TRY_ERRORS(perfetto_references_read(w->g, object, &w->refs, w->out.err));
	if (count < w->refs.ids.count)
		count = w->refs.ids.count;
	if (count > (w->out.most - w->out.written) / w->out.id_size)
		return hprof_too_large(w->out.err);
	hprof_put_u1(&w->out, HPROF_OBJECT_ARRAY_DUMP);
	hprof_put_id(&w->out, object_id(w, object->id));
	hprof_put_u4(&w->out, 0);
	hprof_put_u4(&w->out, (uint32_t)count);
	hprof_put_id(&w->out, class_id(w, object->type_no));
	for (uint64_t i = 0; i < count; i++)
		hprof_put_id(&w->out,
			     i < w->refs.ids.count ?
				     object_id(w, *base_vec_at(&w->refs.ids, uint64_t, i)) :
				     0);
	return hprof_end_sub(&w->out);
}

/* Stores references in the slots of their fields. Those without a field become extras. */
static int fill_slots(struct writer *w, const struct perfetto_type *type, uint32_t object_no)
{
	struct perfetto_references *refs = &w->refs;

	for (size_t i = 0; i < refs->fields.count; i++) {
		const uint64_t no = *base_vec_at(&refs->fields, uint64_t, i);
		const uint64_t *id = base_vec_at(&refs->ids, uint64_t, i);
		struct perfetto_slot *slot = base_vec_at(&refs->slots, struct perfetto_slot, no);

		if (slot->object_no == object_no + 1 && slot->id && *id && type->has_extras)
			TRY(base_vec_push(&refs->extras, id, sizeof(*id), w->out.err));
		if (slot->object_no != object_no + 1)
			*slot = (struct perfetto_slot){ *id, object_no + 1 };
	}
	if (!refs->fields.count)
		for (size_t i = type->chain_fields; i < refs->ids.count; i++)
			TRY(base_vec_push(&refs->extras, base_vec_at(&refs->ids, uint64_t, i),
					  sizeof(uint64_t), w->out.err));
	return HDB_OK;
}

static void put_slot(struct writer *w, uint32_t field_no, uint32_t object_no)
{
	const struct perfetto_slot *slot =
		base_vec_at(&w->refs.slots, struct perfetto_slot, field_no);

	assert(field_no < w->refs.slots.count);
	hprof_put_id(&w->out, slot->object_no == object_no + 1 ? object_id(w, slot->id) : 0);
}

/*
 * Writes the values of the fields that `type` declares. If references are not matched to fields,
 * *next is the index of the next reference.
 */
static void put_own_values(struct writer *w, const struct perfetto_type *type, uint32_t object_no,
			   size_t *next)
{
	const struct perfetto_object *object = perfetto_object_at(w->g, object_no);
	const uint64_t id = object_id(w, object->id);
	uint64_t more;

	if (has_sizes(type)) {
		more = type == perfetto_type_at(w->g, object->type_no) ?
			       perfetto_bytes_of(type, object->self_size) - type->least_bytes :
			       0;
		hprof_put_u4(&w->out, more > MORE_BYTES_MAX ? MORE_BYTES_MAX : (uint32_t)more);
	}
	for (uint32_t i = 0; i < type->field_count; i++) {
		if (w->refs.fields.count)
			put_slot(w, perfetto_own_field(w->g, type, i), object_no);
		else
			hprof_put_id(&w->out, *next < w->refs.ids.count ?
						      object_id(w, *base_vec_at(&w->refs.ids,
										uint64_t, *next)) :
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
		hprof_put_id(&w->out, object->self_size > STRING_BYTES ? id + STRING_VALUE_AT : 0);
	if (type->has_extras)
		hprof_put_id(&w->out, w->refs.extras.count ? id + RUNTIME_AT : 0);
	for (unsigned i = 0; i < PERFETTO_VALUES; i++) {
		if (!(type->values & 1u << i))
			continue;
		if (perfetto_value_fields[i].type == HPROF_LONG)
			hprof_put_u8(&w->out, w->refs.values[i]);
		else
			hprof_put_u4(&w->out, (uint32_t)w->refs.values[i]);
	}
}

/* Writes the artificial array of references without a field. */
static void put_extras(struct writer *w, const struct perfetto_object *object)
{
	hprof_put_u1(&w->out, HPROF_OBJECT_ARRAY_DUMP);
	hprof_put_id(&w->out, object_id(w, object->id) + RUNTIME_AT);
	hprof_put_u4(&w->out, 0);
	hprof_put_u4(&w->out, (uint32_t)w->refs.extras.count);
	hprof_put_id(&w->out, class_id(w, w->g->array_no));
	for (size_t i = 0; i < w->refs.extras.count; i++)
		hprof_put_id(&w->out, object_id(w, *base_vec_at(&w->refs.extras, uint64_t, i)));
}

static int write_instance(struct writer *w, uint32_t no, const struct perfetto_type *type)
{
	const struct perfetto_object *object = perfetto_object_at(w->g, no);
	const uint64_t id = object_id(w, object->id);
	size_t at, next = 0;

	TRY_ERRORS(perfetto_references_read(w->g, object, &w->refs, w->out.err));
	TRY(fill_slots(w, type, no));
	hprof_put_u1(&w->out, HPROF_INSTANCE_DUMP);
	hprof_put_id(&w->out, id);
	hprof_put_u4(&w->out, 0);
	hprof_put_id(&w->out, class_id(w, object->type_no));
	at = w->out.segment.count;
	hprof_put_u4(&w->out, 0);
	for (const struct perfetto_type *t = type; t;) {
		put_own_values(w, t, no, &next);
		TRY(w->out.result);
		if (w->out.written + w->out.segment.count > w->out.most)
			return hprof_too_large(w->out.err);
		t = t->super_no == PERFETTO_NONE ? NULL : perfetto_type_at(w->g, t->super_no);
	}
	assert(at + 4 <= w->out.segment.count);
	put_be32((uint8_t *)w->out.segment.data + at, (uint32_t)(w->out.segment.count - at - 4));
	if (is_string(type) && object->self_size > STRING_BYTES)
		hprof_put_bare_array(&w->out, id + STRING_VALUE_AT,
				     object->self_size - STRING_BYTES, HPROF_BYTE);
	if (w->refs.extras.count && type->has_extras)
		put_extras(w, object);
	return hprof_end_sub(&w->out);
}

static int write_objects(struct writer *w)
{
	base_stage(w->g->trace->work, "writing the dump", w->g->objects.count, "objects");
	for (uint32_t i = 0; i < w->g->objects.count; i++) {
		const struct perfetto_object *object = perfetto_object_at(w->g, i);
		const struct perfetto_type *type = perfetto_type_at(w->g, object->type_no);

		if (i % STEP_OBJECTS == 0)
			TRY(base_step(w->g->trace->work, i, w->out.err));
		if (type->class_of != PERFETTO_NONE)
			continue;
		put_heap(w, object->heap);
		TRY(type->element ? write_array(w, object, type) : write_instance(w, i, type));
	}
	return HDB_OK;
}

/* ---- roots ---- */

/* HPROF tag for each HeapGraphRoot.Type, and the number of 4-byte values after the ID. */
static const struct {
	uint8_t tag, numbers;
} root_kinds[] = {
	/* JNI_GLOBAL also has a second ID */
	{ HPROF_ROOT_UNKNOWN, 0 },           { HPROF_ROOT_JNI_GLOBAL, 0 },
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
	hprof_put_u1(&w->out, tag);
	hprof_put_id(&w->out, object_id(w, id));
	if (tag == HPROF_ROOT_JNI_GLOBAL)
		hprof_put_id(&w->out, 0);
	for (unsigned i = 0; i < numbers; i++)
		hprof_put_u4(&w->out,
			     tag == HPROF_ROOT_THREAD_OBJECT && i == 0 ? ++w->thread_count : 0);
	return hprof_end_sub(&w->out);
}

/* Writes the roots of the graph. Objects in heaps that ART never collects become roots too. */
static int write_roots(struct writer *w)
{
	const size_t kinds = BASE_COUNT(root_kinds);

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

/* ---- the whole dump ---- */

static int write_all(struct writer *w, const struct perfetto_graph *graph)
{
	const int64_t ns = (int64_t)graph->timestamp + w->g->trace->clock_offset_ns;

	TRY(number_classes(w));
	TRY(hprof_write_head(&w->out, "JAVA PROFILE 1.0.3", ns > 0 ? (uint64_t)ns / 1000000 : 0));
	TRY(write_texts(w));
	TRY(write_loads(w));
	for (uint32_t i = 0; i < w->g->types.count; i++)
		TRY(write_class(w, i));
	TRY(write_objects(w));
	TRY(write_roots(w));
	TRY(hprof_end_record(&w->out, HPROF_HEAP_DUMP_SEGMENT));
	/* If the end record is missing, readers know that the dump is incomplete. */
	return graph->missing_count ? HDB_OK : hprof_end_record(&w->out, HPROF_HEAP_DUMP_END);
}

/*
 * Finds a scale for IDs that leaves room for artificial IDs between objects. ART divides addresses
 * by 4, the alignment that the C++ compiler gives objects; earlier versions did not.
 */
static int find_scale(struct writer *w)
{
	const uint64_t bits = w->g->id_bits;

	w->scale = bits & 1 ? 16 : bits & 2 ? 4 : bits & 4 ? 2 : 1;
	if (w->g->id_max < UINT64_MAX / 32)
		return HDB_OK;
	return hdb_fail(w->out.err, HDB_EFORMAT, "0x%" PRIx64 " is not the address of an object",
			w->g->id_max);
}

static void release(struct writer *w)
{
	perfetto_references_release(&w->refs);
	base_vec_release(&w->class_ids);
	hprof_writer_release(&w->out);
}

int perfetto_write(struct perfetto *trace, unsigned graph_no, const struct hprof_sink *sink,
		   struct hprof_written *result, struct hdb_error *err)
{
	BASE_SCOPED(perfetto_tables_release) struct perfetto_tables g = { .trace = trace };
	BASE_SCOPED(release)
	struct writer w = {
		.g = &g,
		.out = { .sink = sink,
			 .err = err,
			 .id_size = 8,
			 .segment.work = trace->work,
			 .most = ((uint64_t)PERFETTO_GROWTH_MIB << 20) +
				 perfetto_bytes(trace) * PERFETTO_GROWTH_MAX },
		.heap = HEAPS,
		.class_ids.work = trace->work,
	};
	uint32_t class_no;

	if (!graph_no || graph_no > trace->graphs.count)
		return hdb_fail(err, HDB_EUSAGE,
				"%s: no heap graph number %u (heap graphs in the trace: %zu)",
				trace->source->path, graph_no, trace->graphs.count);
	TRY(perfetto_tables_read(&g, graph_no - 1, err));
	TRY(find_scale(&w));
	class_no = perfetto_type_named(&g, "java.lang.Class");
	if (class_no != PERFETTO_NONE)
		w.class_bytes = (uint32_t)perfetto_type_at(&g, class_no)->object_size;
	TRY(write_all(&w, base_vec_at(&trace->graphs, struct perfetto_graph, graph_no - 1)));
	TRY(base_source_failed(trace->source, err));
	*result = (struct hprof_written){ g.objects.count, g.problem_count };
	return HDB_OK;
}

/* perfetto/graph.c - reads the tables of one heap graph: types, fields, objects and roots. */
#include "perfetto/perfetto_private.h"

#include "base/sort.h"
#include "base/try.h"
#include "hprof/reader.h"

#include <assert.h>
#include <string.h>

/* Field numbers of HeapGraph, HeapGraphType, HeapGraphObject, HeapGraphRoot and InternedString. */
enum { GRAPH_OBJECT = 2, GRAPH_FIELD_NAME = 4, GRAPH_ROOT = 7, GRAPH_LOCATION = 8, GRAPH_TYPE = 9 };
enum {
	TYPE_ID = 1,
	TYPE_LOCATION = 2,
	TYPE_NAME = 3,
	TYPE_SIZE = 4,
	TYPE_SUPER = 5,
	TYPE_FIELDS = 6,
	TYPE_KIND = 7,
	TYPE_LOADER = 8
};
enum {
	OBJECT_ID = 1,
	OBJECT_TYPE = 2,
	OBJECT_SIZE = 3,
	OBJECT_FIELDS = 4,
	OBJECT_REFERENCES = 5,
	OBJECT_BASE = 6,
	OBJECT_ID_DELTA = 7,
	OBJECT_HEAP = 9,
	OBJECT_RUNTIME = 10
};
enum { ROOT_OBJECTS = 1, ROOT_KIND = 2 };
enum { STRING_ID = 1, STRING_TEXT = 2 };

/*
 * Maximum length of a superclass chain. A longer chain is truncated, because it may be a cycle in a
 * damaged trace.
 */
#define SUPERCLASSES_MAX 256
/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 65536u

const struct perfetto_value_field perfetto_value_fields[PERFETTO_VALUES] = {
	{ "libcore.util.NativeAllocationRegistry", "size", 8, HPROF_LONG },
	{ "android.graphics.Bitmap", "mId", 11, HPROF_LONG },
	{ "android.graphics.Bitmap", "mSourceId", 12, HPROF_LONG },
	{ "android.graphics.Bitmap", "mWidth", 13, HPROF_INT },
	{ "android.graphics.Bitmap", "mHeight", 14, HPROF_INT },
	{ "android.content.pm.ApplicationInfo", "longVersionCode", 15, HPROF_LONG },
};

/* An empty name. */
static const uint8_t nothing[1];
#define UNNAMED \
	{ \
		.at = nothing, .end = nothing \
	}

static const char class_prefix[] = "java.lang.Class<";

bool perfetto_text_is(const struct proto *text, const char *want)
{
	return proto_size(text) == strlen(want) && memcmp(text->at, want, strlen(want)) == 0;
}

void perfetto_field_name(const struct proto *field, struct proto *class_name, struct proto *name)
{
	const uint8_t *at = field->end;

	*class_name = *name = *field;
	while (at > field->at && at[-1] != '.' && at[-1] != ' ')
		at--;
	name->at = at;
	class_name->end = at > field->at ? at - 1 : at;
	for (at = class_name->end; at > field->at && at[-1] != ' ';)
		at--;
	class_name->at = at;
	assert(class_name->at <= class_name->end);
	assert(class_name->end <= name->at && name->at <= name->end);
}

static const struct proto unnamed = UNNAMED;

/*
 * Finds the index of the field with this ID, or adds the field, because its name may follow later
 * in the trace. Once all tables are read, fields have fixed numbers, so unknown IDs share the last,
 * unnamed field.
 */
static int field_no(struct perfetto_tables *g, uint64_t id, uint32_t *out, struct hdb_error *err)
{
	*out = base_idmap_get(&g->field_map, id);
	if (*out != BASE_IDMAP_NONE)
		return HDB_OK;
	*out = (uint32_t)g->fields.count - g->has_all_fields;
	if (g->has_all_fields)
		return HDB_OK;
	if (*out == PERFETTO_NONE)
		return hdb_fail(err, HDB_ELIMIT, "too many fields (limit %" PRIu32 ")",
				PERFETTO_NONE);
	TRY(base_vec_push(&g->fields, &unnamed, sizeof(unnamed), err));
	return base_idmap_put(&g->field_map, id, *out, err);
}

/* Appends the values of a repeated field, which may be packed. */
static int take_numbers(struct proto_field *field, struct base_vec *out, struct hdb_error *err)
{
	uint64_t value;

	if (field->wire == PROTO_VARINT)
		return base_vec_push(out, &field->value, sizeof(field->value), err);
	while (field->bytes.at < field->bytes.end && proto_varint(&field->bytes, &value))
		TRY(base_vec_push(out, &value, sizeof(value), err));
	return HDB_OK;
}

static int take_field_name(struct perfetto_tables *g, struct proto string, struct hdb_error *err)
{
	const struct proto text = proto_last(string, STRING_TEXT).bytes;
	uint32_t no;

	TRY(field_no(g, proto_last(string, STRING_ID).value, &no, err));
	if (text.at)
		*perfetto_field_at(g, no) = text;
	return HDB_OK;
}

static int take_location(struct perfetto_tables *g, struct proto string, struct hdb_error *err)
{
	const struct proto package = clear_package(proto_last(string, STRING_TEXT).bytes);

	TRY(base_idmap_put(&g->location_map, proto_last(string, STRING_ID).value,
			   (uint32_t)g->packages.count, err));
	return base_vec_push(&g->packages, &package, sizeof(package), err);
}

/*
 * Returns the HPROF element type of an array class such as "int[]", "a.B[]" or "int[][]", or 0 if
 * the name does not end in "[]".
 */
static uint8_t element_of(const struct proto *name)
{
	static const struct {
		const char *name;
		uint8_t type;
	} primitives[] = {
		{ "boolean[]", HPROF_BOOLEAN }, { "char[]", HPROF_CHAR },
		{ "float[]", HPROF_FLOAT },     { "double[]", HPROF_DOUBLE },
		{ "byte[]", HPROF_BYTE },       { "short[]", HPROF_SHORT },
		{ "int[]", HPROF_INT },         { "long[]", HPROF_LONG },
	};

	if (proto_size(name) < 2 || memcmp(name->end - 2, "[]", 2) != 0)
		return 0;
	for (size_t i = 0; i < BASE_COUNT(primitives); i++)
		if (perfetto_text_is(name, primitives[i].name))
			return primitives[i].type;
	return HPROF_OBJECT;
}

static int take_type_fields(struct perfetto_tables *g, struct proto_field *field,
			    struct perfetto_type *type, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec ids = { 0 };
	uint32_t no;

	TRY(take_numbers(field, &ids, err));
	for (size_t i = 0; i < ids.count; i++, type->field_count++) {
		TRY(field_no(g, *base_vec_at(&ids, uint64_t, i), &no, err));
		TRY(base_vec_push(&g->type_fields, &no, sizeof(no), err));
	}
	assert(type->first_field + type->field_count == g->type_fields.count);
	return HDB_OK;
}

static int add_type(struct perfetto_tables *g, struct perfetto_type *type, struct hdb_error *err)
{
	const uint32_t no = (uint32_t)g->types.count;

	type->super_no = type->class_of = type->class_object = type->added_fields = PERFETTO_NONE;
	type->element = element_of(&type->name);
	for (unsigned i = 0; i < PERFETTO_VALUES; i++)
		if (perfetto_text_is(&type->name, perfetto_value_fields[i].class_name))
			type->values |= 1u << i;
	TRY(base_vec_push(&g->types, type, sizeof(*type), err));
	return base_idmap_put(&g->type_map, type->id, no, err);
}

static int take_type(struct perfetto_tables *g, struct proto message, struct hdb_error *err)
{
	const struct proto name = proto_last(message, TYPE_NAME).bytes;
	struct perfetto_type type = {
		.id = proto_last(message, TYPE_ID).value,
		.location_id = proto_last(message, TYPE_LOCATION).value,
		.name = name.at ? name : (struct proto)UNNAMED,
		.object_size = proto_last(message, TYPE_SIZE).value,
		.super_id = proto_last(message, TYPE_SUPER).value,
		.kind = (uint32_t)proto_last(message, TYPE_KIND).value,
		.loader_id = proto_last(message, TYPE_LOADER).value,
		.first_field = g->type_fields.count,
	};
	struct proto_field field;

	while (proto_next(&message, &field))
		if (field.no == TYPE_FIELDS)
			TRY(take_type_fields(g, &field, &type, err));
	g->problem_count += message.is_bad;
	return add_type(g, &type, err);
}

static int take_root(struct perfetto_tables *g, struct proto message, struct hdb_error *err)
{
	struct perfetto_root root = { .kind = (uint32_t)proto_last(message, ROOT_KIND).value };
	BASE_SCOPED(base_vec_release) struct base_vec ids = { 0 };
	struct proto_field field;

	while (proto_next(&message, &field))
		if (field.no == ROOT_OBJECTS)
			TRY(take_numbers(&field, &ids, err));
	for (size_t i = 0; i < ids.count; i++) {
		root.id = *base_vec_at(&ids, uint64_t, i);
		TRY(base_vec_push(&g->roots, &root, sizeof(root), err));
	}
	return HDB_OK;
}

/*
 * Reads an object. The trace omits the heap of an object if the previous object is in the same
 * heap, and may store an ID as the difference from the previous ID.
 */
static int take_object(struct perfetto_tables *g, struct proto message,
		       struct perfetto_object *last, struct hdb_error *err)
{
	struct perfetto_object object = { .proto = message, .heap = last->heap };
	struct proto_field field;
	uint64_t type_id = 0;

	while (proto_next(&message, &field)) {
		if (field.no == OBJECT_ID)
			object.id = field.value;
		else if (field.no == OBJECT_ID_DELTA)
			object.id = last->id + field.value;
		else if (field.no == OBJECT_TYPE)
			type_id = field.value;
		else if (field.no == OBJECT_SIZE)
			object.self_size = field.value;
		else if (field.no == OBJECT_HEAP)
			object.heap = (uint8_t)field.value;
	}
	*last = object;
	if (message.is_bad || !object.id) {
		g->problem_count++;
		return HDB_OK;
	}
	object.type_no = base_idmap_get(&g->type_map, type_id);
	if (object.type_no == BASE_IDMAP_NONE) {
		struct perfetto_type type = { .name = UNNAMED, .id = type_id };

		object.type_no = (uint32_t)g->types.count;
		TRY(add_type(g, &type, err));
	}
	g->id_bits |= object.id;
	g->id_max = object.id > g->id_max ? object.id : g->id_max;
	return base_vec_push(&g->objects, &object, sizeof(object), err);
}

/*
 * Reads the packets of a graph. Objects need a second pass (for_objects), because types may follow
 * the objects that use them.
 */
static int read_packets(struct perfetto_tables *g, uint32_t graph_no, bool for_objects,
			struct hdb_error *err)
{
	struct perfetto_object last = { 0 };
	struct proto_field field;

	for (size_t i = 0; i < g->trace->packets.count; i++) {
		struct perfetto_packet packet =
			*base_vec_at(&g->trace->packets, struct perfetto_packet, i);

		if (packet.graph_no != graph_no)
			continue;
		TRY(base_step(g->trace->work, g->objects.count, err));
		while (proto_next(&packet.graph, &field)) {
			if (field.wire != PROTO_BYTES)
				continue;
			if (for_objects) {
				if (field.no == GRAPH_OBJECT)
					TRY(take_object(g, field.bytes, &last, err));
			} else if (field.no == GRAPH_TYPE) {
				TRY(take_type(g, field.bytes, err));
			} else if (field.no == GRAPH_FIELD_NAME) {
				TRY(take_field_name(g, field.bytes, err));
			} else if (field.no == GRAPH_LOCATION) {
				TRY(take_location(g, field.bytes, err));
			} else if (field.no == GRAPH_ROOT) {
				TRY(take_root(g, field.bytes, err));
			}
		}
	}
	return HDB_OK;
}

/* ---- classes ---- */

/* Name of a class, or of the class X of a type "java.lang.Class<X>". */
struct class_name {
	struct proto name;
	uint64_t location_id;
	uint32_t type_no;
};

static int compare_classes(const struct class_name *a, const struct class_name *b)
{
	BASE_COMPARED(proto_compare(&a->name, &b->name));
	BASE_ASCENDING(a->location_id, b->location_id);
	return 0;
}

BASE_ORDER(compare_names, struct class_name, BASE_BY(compare_classes(x, y)), BASE_UP(type_no))

/*
 * Pairs class objects with their classes. ART creates a type "java.lang.Class<X>" for the class
 * object of each class X. Classes with the same name and location are paired in the order of their
 * types.
 */
static int pair_classes(struct perfetto_tables *g, struct hdb_error *err)
{
	const size_t prefix = sizeof(class_prefix) - 1;
	BASE_SCOPED(base_vec_release) struct base_vec classes = { 0 };
	BASE_SCOPED(base_vec_release) struct base_vec made_up = { 0 };
	size_t c = 0, m = 0;

	for (size_t i = 0; i < g->types.count; i++) {
		const struct perfetto_type *type = perfetto_type_at(g, i);
		struct class_name name = { type->name, type->location_id, (uint32_t)i };
		const bool is_made_up = proto_size(&name.name) > prefix &&
					memcmp(name.name.at, class_prefix, prefix) == 0 &&
					name.name.end[-1] == '>';

		if (is_made_up) {
			name.name.at += prefix;
			name.name.end--;
		}
		TRY(base_vec_push(is_made_up ? &made_up : &classes, &name, sizeof(name), err));
	}
	assert(classes.count + made_up.count == g->types.count);
	base_vec_sort(&classes, sizeof(struct class_name), compare_names);
	base_vec_sort(&made_up, sizeof(struct class_name), compare_names);
	while (c < classes.count && m < made_up.count) {
		const struct class_name *class = base_vec_at(&classes, struct class_name, c);
		const struct class_name *of = base_vec_at(&made_up, struct class_name, m);
		const int order = compare_classes(class, of);

		if (order == 0)
			perfetto_type_at(g, of->type_no)->class_of = class->type_no;
		c += order <= 0;
		m += order >= 0;
	}
	return HDB_OK;
}

/* Finds superclasses, and counts the reference fields of each type, including inherited ones. */
static void link_types(struct perfetto_tables *g)
{
	struct perfetto_type *types = g->types.data;

	static_assert(BASE_IDMAP_NONE == PERFETTO_NONE, "a failed lookup means no superclass");
	for (size_t i = 0; i < g->types.count; i++) {
		if (!types[i].super_id)
			continue;
		types[i].super_no = base_idmap_get(&g->type_map, types[i].super_id);
		if (types[i].super_no == BASE_IDMAP_NONE)
			g->problem_count++;
	}
	for (size_t i = 0; i < g->types.count; i++) {
		uint32_t no = (uint32_t)i;

		for (unsigned depth = 0; no != PERFETTO_NONE; depth++) {
			assert(no < g->types.count);
			types[i].chain_fields += types[no].field_count;
			if (depth == SUPERCLASSES_MAX) {
				types[no].super_no = PERFETTO_NONE;
				g->problem_count++;
			}
			no = types[no].super_no;
		}
	}
}

/* ---- references ---- */

int perfetto_references_read(struct perfetto_tables *g, const struct perfetto_object *object,
			     struct perfetto_references *out, struct hdb_error *err)
{
	static const struct perfetto_slot none;
	struct proto message = object->proto;
	struct proto_field field;
	uint64_t base = 0;
	int r = HDB_OK;

	out->ids.count = out->fields.count = out->extras.count = 0;
	memset(out->values, 0, sizeof(out->values));
	while (proto_next(&message, &field)) {
		if (field.no == OBJECT_REFERENCES)
			TRY(take_numbers(&field, &out->ids, err));
		else if (field.no == OBJECT_FIELDS)
			TRY(take_numbers(&field, &out->fields, err));
		else if (field.no == OBJECT_RUNTIME)
			TRY(take_numbers(&field, &out->extras, err));
		else if (field.no == OBJECT_BASE)
			base = field.value;
		for (unsigned i = 0; i < PERFETTO_VALUES; i++)
			if (field.no == perfetto_value_fields[i].proto_no)
				out->values[i] = field.value;
	}
	for (size_t i = 0; i < out->ids.count; i++) {
		uint64_t *id = base_vec_at(&out->ids, uint64_t, i);

		*id += *id ? base : 0;
	}
	if (out->fields.count && out->fields.count != out->ids.count) {
		out->ids.count = out->fields.count = 0;
		r = HDB_NOTFOUND;
	}
	for (size_t i = 0; i < out->fields.count; i++) {
		uint64_t *id = base_vec_at(&out->fields, uint64_t, i);
		uint32_t no;

		TRY(field_no(g, *id, &no, err));
		*id = no;
	}
	while (out->slots.count < g->fields.count)
		TRY(base_vec_push(&out->slots, &none, sizeof(none), err));
	assert(!out->fields.count || out->fields.count == out->ids.count);
	return r;
}

void perfetto_references_release(struct perfetto_references *r)
{
	base_vec_release(&r->ids);
	base_vec_release(&r->fields);
	base_vec_release(&r->extras);
	base_vec_release(&r->slots);
}

/*
 * Finds the superclass of a type in traces from before Android 12, which contain superclasses only
 * as the field superClass of class objects. `classes` maps the ID of a class object to its type.
 */
static int link_by_class(struct perfetto_tables *g, const struct base_idmap *classes,
			 struct perfetto_type *type, struct perfetto_references *refs,
			 struct hdb_error *err)
{
	TRY_FOUND(
		perfetto_references_read(g, perfetto_object_at(g, type->class_object), refs, err));
	for (size_t i = 0; i < refs->fields.count; i++) {
		const uint64_t no = *base_vec_at(&refs->fields, uint64_t, i);
		struct proto class_name, name;

		perfetto_field_name(perfetto_field_at(g, no), &class_name, &name);
		if (perfetto_text_is(&name, "superClass") &&
		    perfetto_text_is(&class_name, "java.lang.Class"))
			type->super_no =
				base_idmap_get(classes, *base_vec_at(&refs->ids, uint64_t, i));
	}
	return HDB_OK;
}

static int find_class_objects(struct perfetto_tables *g, struct perfetto_references *refs,
			      struct hdb_error *err)
{
	BASE_SCOPED(base_idmap_release) struct base_idmap classes = { .work = g->trace->work };

	for (size_t i = 0; i < g->objects.count; i++) {
		const struct perfetto_object *object = perfetto_object_at(g, i);
		const uint32_t no = perfetto_type_at(g, object->type_no)->class_of;

		if (no == PERFETTO_NONE)
			continue;
		perfetto_type_at(g, no)->class_object = (uint32_t)i;
		TRY(base_idmap_put(&classes, object->id, no, err));
	}
	for (size_t i = 0; i < g->types.count; i++) {
		struct perfetto_type *type = perfetto_type_at(g, i);

		if (!type->super_id && type->class_object != PERFETTO_NONE)
			TRY(link_by_class(g, &classes, type, refs, err));
	}
	return HDB_OK;
}

static bool is_same(const struct proto *a, const struct proto *b)
{
	return proto_size(a) == proto_size(b) && memcmp(a->at, b->at, proto_size(a)) == 0;
}

/*
 * Adds a field that is missing from the type's field list. The field's name contains the class that
 * declares it; if no superclass has that name, the field is added to the object's own class.
 */
static int add_field(struct perfetto_tables *g, uint32_t type_no, uint32_t no,
		     struct hdb_error *err)
{
	struct perfetto_added added = { .field_no = no };
	struct perfetto_type *type = perfetto_type_at(g, type_no);
	struct proto class_name, name;
	uint32_t declaring = type_no;

	perfetto_field_name(perfetto_field_at(g, no), &class_name, &name);
	while (declaring != PERFETTO_NONE &&
	       !is_same(&perfetto_type_at(g, declaring)->name, &class_name))
		declaring = perfetto_type_at(g, declaring)->super_no;
	if (declaring != PERFETTO_NONE)
		type = perfetto_type_at(g, declaring);
	added.next = type->added_fields;
	type->added_fields = (uint32_t)g->added.count;
	return base_vec_push(&g->added, &added, sizeof(added), err);
}

/*
 * Marks all reference fields of a type, including inherited ones, with `mark` (1 + index of the
 * object). Returns the number of fields.
 */
static uint64_t mark_fields(struct perfetto_tables *g, uint32_t type_no, uint32_t mark,
			    struct perfetto_references *refs)
{
	struct perfetto_slot *slots = refs->slots.data;
	uint64_t count = 0;

	while (type_no != PERFETTO_NONE) {
		const struct perfetto_type *type = perfetto_type_at(g, type_no);

		for (uint32_t i = 0; i < type->field_count; i++)
			slots[perfetto_own_field(g, type, i)].object_no = mark;
		for (uint32_t i = type->added_fields; i != PERFETTO_NONE;) {
			const struct perfetto_added *added =
				base_vec_at(&g->added, struct perfetto_added, i);

			slots[added->field_no].object_no = mark;
			i = added->next;
			count++;
		}
		count += type->field_count;
		type_no = type->super_no;
	}
	return count;
}

/*
 * Adds the members that an object requires of its class: fields missing from the type, and a slot
 * for references without a field.
 */
static int survey_object(struct perfetto_tables *g, uint32_t i, struct perfetto_references *refs,
			 uint64_t *steps, struct hdb_error *err)
{
	const struct perfetto_object *object = perfetto_object_at(g, i);
	struct perfetto_type *type = perfetto_type_at(g, object->type_no);
	uint64_t bytes;
	int r;

	if (type->class_of != PERFETTO_NONE || type->element)
		return HDB_OK;
	if (!type->object_size)
		type->object_size = object->self_size;
	bytes = perfetto_bytes_of(type, object->self_size);
	type->least_bytes =
		!type->most_bytes || bytes < type->least_bytes ? bytes : type->least_bytes;
	type->most_bytes = bytes > type->most_bytes ? bytes : type->most_bytes;
	if ((r = perfetto_references_read(g, object, refs, err)) != HDB_OK) {
		g->problem_count += r == HDB_NOTFOUND;
		return r > 0 ? HDB_OK : r;
	}
	type->has_extras |=
		refs->extras.count || (!refs->fields.count && refs->ids.count > type->chain_fields);
	if (refs->fields.count)
		*steps += mark_fields(g, object->type_no, i + 1, refs);
	for (size_t k = 0; k < refs->fields.count; k++) {
		const uint64_t no = *base_vec_at(&refs->fields, uint64_t, k);
		struct perfetto_slot *slot = base_vec_at(&refs->slots, struct perfetto_slot, no);

		/* the object has two values for this field */
		type->has_extras |= slot->id == i + 1;
		slot->id = i + 1;
		if (slot->object_no == i + 1)
			continue;
		slot->object_no = i + 1;
		TRY(add_field(g, object->type_no, (uint32_t)no, err));
	}
	return HDB_OK;
}

uint32_t perfetto_type_named(const struct perfetto_tables *g, const char *name)
{
	for (uint32_t i = 0; i < g->types.count; i++)
		if (perfetto_text_is(&perfetto_type_at(g, i)->name, name))
			return i;
	return PERFETTO_NONE;
}

/*
 * Finds or adds java.lang.Object[], the class of the artificial arrays for references without a
 * field.
 */
static int find_arrays(struct perfetto_tables *g, struct hdb_error *err)
{
	static const char name[] = "java.lang.Object[]";
	struct perfetto_type type = {
		.id = UINT64_MAX,
		.name = { (const uint8_t *)name, (const uint8_t *)name + sizeof(name) - 1, false },
	};

	g->array_no = perfetto_type_named(g, name);
	if (g->array_no != PERFETTO_NONE)
		return HDB_OK;
	g->array_no = (uint32_t)g->types.count;
	return add_type(g, &type, err);
}

static int survey_objects(struct perfetto_tables *g, struct perfetto_references *refs,
			  struct hdb_error *err)
{
	const uint64_t most = ((uint64_t)PERFETTO_GROWTH_MIB << 20) +
			      perfetto_bytes(g->trace) * PERFETTO_GROWTH_MAX;
	uint64_t steps = 0;

	base_stage(g->trace->work, "reading classes", g->objects.count, "objects");
	for (uint32_t i = 0; i < g->objects.count; i++) {
		const struct perfetto_object *object = perfetto_object_at(g, i);

		if (i % STEP_OBJECTS == 0)
			TRY(base_step(g->trace->work, i, err));
		steps += perfetto_type_at(g, object->type_no)->chain_fields;
		if (steps > most)
			return hprof_too_large(err);
		TRY(survey_object(g, i, refs, &steps, err));
	}
	return HDB_OK;
}

int perfetto_tables_read(struct perfetto_tables *g, uint32_t graph_no, struct hdb_error *err)
{
	struct base_work *work = g->trace->work;
	struct base_vec *vecs[] = { &g->types, &g->type_fields, &g->fields,  &g->objects,
				    &g->roots, &g->added,       &g->packages };
	struct base_idmap *maps[] = { &g->type_map, &g->field_map, &g->location_map };
	BASE_SCOPED(perfetto_references_release) struct perfetto_references refs = { 0 };

	for (size_t i = 0; i < BASE_COUNT(vecs); i++)
		vecs[i]->work = work;
	for (size_t i = 0; i < BASE_COUNT(maps); i++)
		maps[i]->work = work;
	g->problem_count =
		base_vec_at(&g->trace->graphs, struct perfetto_graph, graph_no)->missing_count;
	base_stage(work, "reading the graph", 0, "objects");
	TRY(read_packets(g, graph_no, false, err));
	TRY(read_packets(g, graph_no, true, err));
	if (g->objects.count >= PERFETTO_NONE || g->types.count >= PERFETTO_NONE)
		return hdb_fail(err, HDB_ELIMIT, "too many objects (limit %" PRIu32 ")",
				PERFETTO_NONE);
	TRY(pair_classes(g, err));
	TRY(find_class_objects(g, &refs, err));
	link_types(g);
	TRY(survey_objects(g, &refs, err));
	TRY(base_vec_push(&g->fields, &unnamed, sizeof(unnamed), err));
	g->has_all_fields = true;
	return find_arrays(g, err);
}

void perfetto_tables_release(struct perfetto_tables *g)
{
	base_vec_release(&g->types);
	base_vec_release(&g->type_fields);
	base_vec_release(&g->fields);
	base_vec_release(&g->objects);
	base_vec_release(&g->roots);
	base_vec_release(&g->added);
	base_vec_release(&g->packages);
	base_idmap_release(&g->type_map);
	base_idmap_release(&g->field_map);
	base_idmap_release(&g->location_map);
}

/* heap/known.c - reads fields by name, and finds the rows of known classes. See known.h. */
#include "heap/known.h"

#include "base/bytes.h"
#include "base/glob.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Number of slots in the cache of field positions, a power of two. A collision only costs time. */
#define PLACES 8192u
/* Maximum size of a field name to cache. */
#define PLACE_NAME_MAX 32
/* Maximum size of a field name to compare. */
#define FIELD_NAME_MAX 128
/* Maximum number of references in a path. Paths in the tables have only a few. */
#define PATH_STEPS_MAX 16

/* Position of a field in instances of a class. */
struct place {
	uint32_t class_no, start_no;
	uint32_t at;  /* offset in the field values */
	uint8_t type; /* HPROF basic type; 0 means the class has no such field */
	bool is_used;
	char name[PLACE_NAME_MAX];
};

struct heap_known {
	/* most recently opened instance; consecutive reads often use the same object */
	struct heap_instance last;
	bool has_last;
	struct place *places;
	/* indexed by class: 1 + row, or 0 if not looked up yet */
	struct heap_known_row *rows[HEAP_KNOWN_TABLES];
};

void heap_known_free(struct heap_known *known)
{
	if (!known)
		return;
	free(known->places);
	for (unsigned t = 0; t < HEAP_KNOWN_TABLES; t++)
		free(known->rows[t]);
	free(known);
}

static struct heap_known *known_of(struct heap *heap)
{
	static_assert((PLACES & (PLACES - 1)) == 0, "slots are selected by a mask");
	if (!heap->known)
		heap->known = calloc(1, sizeof(*heap->known));
	return heap->known;
}

/* ---- positions of fields ---- */

/*
 * A field to find in instances of class_no. The field is declared by start_no or one of its
 * superclasses.
 */
struct sought {
	uint32_t class_no, start_no;
	const char *name;
	size_t name_size;
};

/* Returns the first field of a path. */
static struct sought first_of(const char *path, uint32_t class_no, uint32_t start_no)
{
	return (struct sought){
		.class_no = class_no,
		.start_no = start_no == HEAP_NONE ? class_no : start_no,
		.name = path,
		.name_size = strcspn(path, ".|"),
	};
}

static bool is_name_of(const struct sought *sought, const char *name)
{
	return strncmp(name, sought->name, sought->name_size) == 0 && !name[sought->name_size];
}

/*
 * Returns whether `name` is the expanded name of a field. Scala renames a private field in this way
 * if other classes access it: "scala$Map$Map2$$key1" is the field key1 of scala.Map$Map2.
 */
static bool is_expanded_name_of(const struct sought *sought, const char *class_name,
				const char *name)
{
	const char *c = class_name;

	for (; *c && (*name == *c || (*name == '$' && *c == '.')); c++)
		name++;
	return !*c && name[0] == '$' && name[1] == '$' && is_name_of(sought, name + 2);
}

/* Finds a field by searching the class records. */
static int find_place(struct heap *heap, const struct sought *sought, struct place *out,
		      struct hdb_error *err)
{
	bool is_started = false, is_foreign;
	uint64_t at = 0;
	uint32_t no = sought->class_no;

	assert(sought->class_no < heap->class_count);
	out->type = 0;
	/*
	 * The import breaks cycles, but a damaged database may contain one, so the number of steps
	 * is limited.
	 */
	for (uint32_t steps = 0; no != STORE_NONE && steps <= heap->class_count; steps++) {
		const struct store_class *class = heap_class(heap, no);
		const char *class_name = heap_class_name(heap, no);

		is_started = is_started || no == sought->start_no;
		/*
		 * The VM's own fields in Reference, such as "next", must not be mistaken for fields
		 * of a subclass.
		 */
		is_foreign = no != sought->start_no &&
			     strcmp(class_name, "java.lang.ref.Reference") == 0 &&
			     !is_name_of(sought, "referent");
		for (uint32_t f = 0; f < class->field_count; f++) {
			char text[FIELD_NAME_MAX] = "";
			struct store_field field;

			TRY(heap_field(heap, class->first_field + f, &field, err));
			if (is_started)
				TRY(heap_text(heap, field.name_text, text, sizeof(text), err));
			if (is_started && !is_foreign && at < UINT32_MAX &&
			    (is_name_of(sought, text) ||
			     is_expanded_name_of(sought, class_name, text))) {
				out->at = (uint32_t)at;
				out->type = field.type;
				return HDB_OK;
			}
			at += hprof_type_size(field.type, heap->id_size);
		}
		no = class->super_no;
	}
	return HDB_OK;
}

/*
 * Returns the cache slot of a field, which may hold another field with the same hash. Returns NULL
 * if the name is too long or memory is exhausted; the caller then searches every time.
 */
static struct place *place_slot(struct heap *heap, const struct sought *sought)
{
	struct heap_known *known = known_of(heap);
	uint32_t hash = sought->class_no * 2654435761u ^ sought->start_no * 40503u;

	if (!known || sought->name_size >= PLACE_NAME_MAX)
		return NULL;
	if (!known->places)
		known->places = calloc(PLACES, sizeof(*known->places));
	if (!known->places)
		return NULL;
	for (size_t i = 0; i < sought->name_size; i++)
		hash = (hash ^ (uint8_t)sought->name[i]) * 16777619u;
	return &known->places[(hash ^ hash >> 16) & (PLACES - 1)];
}

/* Returns HDB_OK with *out set, or HDB_NOTFOUND. Missing fields are cached too. */
static int get_place(struct heap *heap, const struct sought *sought, struct place *out,
		     struct hdb_error *err)
{
	struct place *slot = place_slot(heap, sought);

	if (slot && slot->is_used && slot->class_no == sought->class_no &&
	    slot->start_no == sought->start_no && is_name_of(sought, slot->name)) {
		*out = *slot;
		return out->type ? HDB_OK : HDB_NOTFOUND;
	}
	*out = (struct place){ .class_no = sought->class_no,
			       .start_no = sought->start_no,
			       .is_used = true };
	TRY(sought->name_size < FIELD_NAME_MAX ? find_place(heap, sought, out, err) : HDB_OK);
	if (slot) {
		memcpy(out->name, sought->name, sought->name_size);
		*slot = *out;
	}
	return out->type ? HDB_OK : HDB_NOTFOUND;
}

/* ---- instances ---- */

int heap_instance_read(struct heap *heap, struct base_view *view, uint64_t offset,
		       struct heap_instance *out, struct hdb_error *err)
{
	struct hprof_sub sub;

	out->body_offset = out->body_size = 0;
	TRY(hprof_sub_read(&heap->dump.file, view, offset, &sub, err));
	if (sub.tag == HPROF_INSTANCE_DUMP) {
		out->body_offset = sub.body_offset;
		out->body_size = sub.body_size;
	}
	return HDB_OK;
}

/*
 * Opens an instance and keeps it open, because callers read several fields in a row and opening
 * takes two lookups.
 */
int heap_instance_open(struct heap *heap, uint32_t ix, struct heap_instance *out,
		       struct hdb_error *err)
{
	struct heap_known *known = known_of(heap);
	struct heap_object object;
	uint64_t offset = 0;

	if (known && known->has_last && known->last.ix == ix) {
		*out = known->last;
		return heap_open_dump(heap, err);
	}
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE)
		return HDB_NOTFOUND;
	TRY(heap_offset(heap, ix, &offset, err));
	if (!offset)
		return HDB_NOTFOUND;
	*out = (struct heap_instance){ .ix = ix, .class_no = object.class_no };
	TRY(heap_open_dump(heap, err));
	TRY(heap_instance_read(heap, &heap->dump.view, offset, out, err));
	if (!out->body_offset)
		return HDB_NOTFOUND;
	if (known) {
		known->last = *out;
		known->has_last = true;
	}
	return HDB_OK;
}

/*
 * Reads the field at a position. Checks that the position is within the instance, whose record may
 * be shorter than its class requires.
 */
int heap_place_value(struct base_view *view, const struct heap_instance *instance,
		     struct heap_place place, struct heap_value *out, struct hdb_error *err)
{
	const uint8_t *p;

	*out = (struct heap_value){ .type = 0 };
	if (!place.size || place.size > instance->body_size ||
	    place.at > instance->body_size - place.size)
		return HDB_OK;
	p = base_view_at(view, instance->body_offset + place.at, place.size, err);
	if (!p)
		return HDB_ETRUNC;
	*out = (struct heap_value){ .type = place.type, .bits = be_bits(p, place.size) };
	return HDB_OK;
}

static struct heap_place place_of(const struct heap *heap, const struct place *place)
{
	return (struct heap_place){ .at = place->at,
				    .type = place->type,
				    .size = (uint8_t)hprof_type_size(place->type, heap->id_size) };
}

/*
 * Reads a field declared by class start_no or inherited from its nearest superclass that declares a
 * field of this name. Returns HDB_NOTFOUND if there is no such field or the instance is truncated.
 */
static int field_value(struct heap *heap, const struct heap_instance *instance,
		       const struct sought *sought, struct heap_value *out, struct hdb_error *err)
{
	struct place place;

	assert(instance->class_no < heap->class_count);
	TRY(get_place(heap, sought, &place, err));
	TRY(heap_place_value(&heap->dump.view, instance, place_of(heap, &place), out, err));
	return out->type ? HDB_OK : HDB_NOTFOUND;
}

/* ---- paths ---- */

/* Returns the first alternative of a path whose first field exists in the class, or NULL. */
static const char *choose(struct heap *heap, uint32_t class_no, uint32_t start_no, const char *path)
{
	for (const char *p = path;;) {
		const struct sought first = first_of(p, class_no, start_no);
		struct place place;

		if (get_place(heap, &first, &place, NULL) == HDB_OK)
			return p;
		p += strcspn(p, "|");
		if (!*p)
			return NULL;
		p++;
	}
}

bool heap_has_path(struct heap *heap, uint32_t class_no, uint32_t start_no, const char *path)
{
	return !*path || choose(heap, class_no, start_no, path);
}

uint8_t heap_path_type(struct heap *heap, uint32_t class_no, uint32_t start_no, const char *path)
{
	struct sought first;
	struct place place;

	path = choose(heap, class_no, start_no, path);
	if (!path)
		return 0;
	first = first_of(path, class_no, start_no);
	return get_place(heap, &first, &place, NULL) == HDB_OK ? place.type : 0;
}

int heap_path_place(struct heap *heap, uint32_t class_no, const char *path, struct heap_place *out,
		    struct hdb_error *err)
{
	struct sought first;
	struct place place;

	path = choose(heap, class_no, HEAP_NONE, path);
	if (!path)
		return HDB_NOTFOUND;
	first = first_of(path, class_no, HEAP_NONE);
	if (!first.name_size || path[first.name_size] == '.')
		return HDB_NOTFOUND;
	*out = (struct heap_place){ 0 };
	TRY(get_place(heap, &first, &place, err));
	*out = place_of(heap, &place);
	return HDB_OK;
}

/*
 * Reads the value at the end of a path. Only the first object is seen as an instance of a
 * superclass; objects to which references lead are seen as instances of their own classes. The
 * number of steps is limited, because a path may follow a cycle of references.
 */
int heap_path_value_as(struct heap *heap, struct heap_as from, const char *path,
		       struct heap_value *out, struct hdb_error *err)
{
	uint32_t ix = from.ix, start_no = from.class_no;
	struct heap_instance instance;
	uint64_t id;
	int r;

	if (!*path) {
		r = heap_id(heap, ix, &id, err);
		*out = (struct heap_value){ .type = HPROF_OBJECT, .bits = r == HDB_OK ? id : 0 };
		return r;
	}
	TRY(heap_instance_open(heap, ix, &instance, err));
	path = choose(heap, instance.class_no, start_no, path);
	if (!path)
		return HDB_NOTFOUND;
	for (unsigned steps = 0; steps < PATH_STEPS_MAX; steps++) {
		const struct sought field = first_of(path, instance.class_no, start_no);

		r = field_value(heap, &instance, &field, out, err);
		path += field.name_size;
		if (r != HDB_OK || *path != '.')
			return r;
		path++;
		start_no = HEAP_NONE;
		if (out->type != HPROF_OBJECT || !out->bits)
			return HDB_NOTFOUND;
		TRY(heap_find(heap, out->bits, &ix, err));
		TRY(heap_instance_open(heap, ix, &instance, err));
	}
	return HDB_NOTFOUND;
}

int heap_path_object_as(struct heap *heap, struct heap_as from, const char *path, uint32_t *target,
			struct hdb_error *err)
{
	struct heap_value value;

	if (!*path) {
		*target = from.ix;
		return HDB_OK;
	}
	TRY(heap_path_value_as(heap, from, path, &value, err));
	if (value.type != HPROF_OBJECT || !value.bits)
		return HDB_NOTFOUND;
	return heap_find(heap, value.bits, target, err);
}

/*
 * Converts a value to a number. The bits are zero-extended, so signed types are sign-extended here.
 * Only the lowest byte of a boolean is defined.
 */
bool heap_value_number(const struct heap_value *value, int64_t *out)
{
	switch (value->type) {
	case HPROF_BOOLEAN:
		*out = (value->bits & 0xff) != 0;
		return true;
	case HPROF_BYTE:
		*out = (int16_t)(int8_t)value->bits;
		return true;
	case HPROF_CHAR:
		*out = (uint16_t)value->bits;
		return true;
	case HPROF_SHORT:
		*out = (int16_t)value->bits;
		return true;
	case HPROF_INT:
		*out = (int32_t)(uint32_t)value->bits;
		return true;
	case HPROF_LONG:
		*out = (int64_t)value->bits;
		return true;
	default:
		return false;
	}
}

int heap_path_number_as(struct heap *heap, struct heap_as from, const char *path, int64_t *out,
			struct hdb_error *err)
{
	struct heap_value value;

	TRY(heap_path_value_as(heap, from, path, &value, err));
	return heap_value_number(&value, out) ? HDB_OK : HDB_NOTFOUND;
}

/* ---- static fields ---- */

/*
 * Reads a static field. Class loaders may define several classes with this name; the first that has
 * the field is used.
 */
int heap_static_value(struct heap *heap, const char *class_and_field, struct heap_value *out,
		      struct hdb_error *err)
{
	const char *dot = strrchr(class_and_field, '.');
	char class_name[FIELD_NAME_MAX], name[FIELD_NAME_MAX];
	struct heap_fields fields;
	int r;

	if (!dot || (size_t)(dot - class_and_field) >= sizeof(class_name))
		return HDB_NOTFOUND;
	memcpy(class_name, class_and_field, (size_t)(dot - class_and_field));
	class_name[dot - class_and_field] = '\0';
	for (uint32_t no = 0; no < heap->class_count; no++) {
		no = heap_class_by_name(heap, class_name, no);
		if (no == HEAP_NONE)
			break;
		heap_statics_begin(heap, no, &fields);
		while ((r = heap_fields_next(&fields, err)) == HDB_OK) {
			TRY(heap_text(heap, fields.field.name_text, name, sizeof(name), err));
			if (strcmp(name, dot + 1) == 0) {
				*out = fields.value;
				return HDB_OK;
			}
		}
		TRY_ERRORS(r);
	}
	return HDB_NOTFOUND;
}

int heap_static_object(struct heap *heap, const char *class_and_field, uint32_t *target,
		       struct hdb_error *err)
{
	struct heap_value value;

	TRY(heap_static_value(heap, class_and_field, &value, err));
	if (value.type != HPROF_OBJECT || !value.bits)
		return HDB_NOTFOUND;
	return heap_find(heap, value.bits, target, err);
}

/* ---- rows of known classes ---- */

/* Returns the row for this class itself. Its `row` is HEAP_NONE if the table has no such row. */
static struct heap_known_row own_row(struct heap *heap, uint32_t class_no,
				     const struct heap_known_rows *known)
{
	const char *class_name = heap_class_name(heap, class_no), *name;

	assert(known->name && known->fits);
	for (uint32_t row = 0; (name = known->name(row)) != NULL; row++)
		if (base_glob(name, class_name) && known->fits(heap, row, class_no))
			return (struct heap_known_row){ row + 1, class_no };
	return (struct heap_known_row){ HEAP_NONE, HEAP_NONE };
}

/*
 * Finds the row of the nearest superclass that has one, and caches it for all classes in between.
 */
static void find_row(struct heap *heap, struct heap_known_row *rows, uint32_t class_no,
		     const struct heap_known_rows *known)
{
	struct heap_known_row found = { HEAP_NONE, HEAP_NONE };
	uint32_t no = class_no, steps = 0;

	assert(class_no < heap->class_count);
	assert(rows[class_no].row == 0);
	for (; no != STORE_NONE && found.row == HEAP_NONE && steps <= heap->class_count; steps++) {
		found = rows[no].row ? rows[no] : own_row(heap, no, known);
		if (rows[no].row)
			break;
		no = heap_class(heap, no)->super_no;
	}
	for (no = class_no; steps && no != STORE_NONE; steps--) {
		rows[no] = found;
		no = heap_class(heap, no)->super_no;
	}
}

/*
 * Finds the row of a class. The cache stores 1 + row, so that zeroed memory means "not looked up
 * yet".
 */
bool heap_known_row(struct heap *heap, const struct heap_known_rows *rows, uint32_t class_no,
		    struct heap_known_row *out)
{
	struct heap_known *known = known_of(heap);
	struct heap_known_row **remembered;

	assert(rows->table < HEAP_KNOWN_TABLES);
	if (!known || class_no >= heap->class_count)
		return false;
	remembered = &known->rows[rows->table];
	if (!*remembered)
		*remembered = calloc(heap->class_count, sizeof(**remembered));
	if (!*remembered)
		return false;
	if (!(*remembered)[class_no].row)
		find_row(heap, *remembered, class_no, rows);
	*out = (*remembered)[class_no];
	if (out->row == HEAP_NONE)
		return false;
	out->row--;
	return true;
}

/*
 * phd/phd_classes.c - the first pass: classes, how many references objects have room for, and
 * how large what comes before the elements of an array is.
 *
 * References have no fields. Each class gets as many as the object of it with most of them, with
 * those of its superclasses, so that the values of an object are its references in order.
 */
#include "phd/phd_private.h"

#include "base/bytes.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Records between two looks at the cancel flag. */
#define STEP_RECORDS 16384u
/* References of an object beyond are left out: HPROF counts the fields of a class in 16 bits. */
#define FIELDS_MAX 60000u
/* What comes before the elements of an array, if no array tells. */
#define HEADER_MIN 8
#define HEADER_MAX 32

/* Least room for a header in arrays of objects, by bytes of a reference, and of primitives. */
struct evidence {
	int64_t objects_4, objects_8, primitives;
	struct phd_record last; /* an array whose size the next record tells */
	bool has_last;
};

int phd_name_put(struct phd *phd, const void *text, size_t size, uint32_t *at,
		 struct hdb_error *err)
{
	if (phd->names.count + size > UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "more than 4 GiB of names");
	*at = (uint32_t)phd->names.count;
	return size ? base_bytes_append(&phd->names, text, size, err) : HDB_OK;
}

static uint64_t name_key(const char *name, size_t size, uint64_t loader_id)
{
	uint64_t key = base_hash(loader_id + size, base_hash_seed());

	for (size_t i = 0; i < size; i++)
		key = base_hash(key + (uint8_t)name[i], base_hash_seed());
	return key | 1;
}

uint32_t phd_class_named(const struct phd *phd, const char *name, size_t size)
{
	return base_idmap_get(&phd->name_map, name_key(name, size, 0));
}

/* The class with this ID, which records may name before its own, or that has none. */
static int class_of(struct phd *phd, uint64_t id, uint32_t *no, struct hdb_error *err)
{
	const struct phd_class new = { .id = id, .super_no = PHD_NONE, .array_no = PHD_NONE };

	*no = base_idmap_get(&phd->class_map, id);
	if (*no != BASE_IDMAP_NONE)
		return HDB_OK;
	*no = (uint32_t)phd->classes.count;
	TRY(base_vec_push(&phd->classes, &new, sizeof(new), err));
	return base_idmap_put(&phd->class_map, id, *no, err);
}

static void note_least(int64_t *least, int64_t room)
{
	if (room >= HEADER_MIN && (!*least || room < *least))
		*least = room;
}

static void note_array(struct evidence *e, const struct phd_record *array, int64_t bytes)
{
	const int64_t length = (int64_t)(array->length & INT32_MAX);

	if (array->kind == PHD_PRIMITIVE_ARRAY) {
		note_least(&e->primitives, bytes - length * hprof_type_size(array->element, 4));
		return;
	}
	/* One that is too small for 8 bytes proves 4. */
	note_least(&e->objects_4, bytes - length * 4);
	if (bytes - length * 8 < HEADER_MIN)
		e->objects_8 = -1;
	else if (e->objects_8 >= 0)
		note_least(&e->objects_8, bytes - length * 8);
}

/* The size of an array is recorded, or it reaches to the next object at most. */
static void note_size(struct evidence *e, const struct phd_record *record)
{
	const bool is_array =
		record->kind == PHD_OBJECT_ARRAY || record->kind == PHD_PRIMITIVE_ARRAY;

	if (e->has_last && record->kind != PHD_CLASS && record->id > e->last.id &&
	    record->id - e->last.id < INT64_MAX)
		note_array(e, &e->last, (int64_t)(record->id - e->last.id));
	e->has_last = is_array && !record->bytes;
	e->last = *record;
	if (is_array && record->bytes)
		note_array(e, record, (int64_t)record->bytes);
}

static unsigned header_of(int64_t least)
{
	return least < HEADER_MIN ? HEADER_MIN :
	       least > HEADER_MAX ? HEADER_MAX :
				    (unsigned)least / 4 * 4;
}

static void find_layout(struct phd *phd, const struct evidence *e)
{
	const bool is_wide = phd->head.word_bytes == 8 && e->objects_8 > 0;

	phd->layout.reference = is_wide ? 8 : 4;
	phd->layout.object_header = header_of(is_wide ? e->objects_8 : e->objects_4);
	phd->layout.primitive_header =
		e->primitives ? header_of(e->primitives) : phd->layout.object_header;
}

static int note_class(struct phd *phd, const struct phd_record *record, struct hdb_error *err)
{
	struct phd_class *class;
	uint32_t no;

	TRY(class_of(phd, record->id, &no, err));
	class = phd_class_at(phd, no);
	if (class->is_read) {
		phd->problem_count++;
		return HDB_OK;
	}
	class->is_read = true;
	class->super_id = record->class_id;
	class->instance_bytes = (uint32_t)record->length;
	class->first_ref = phd->class_refs.count;
	class->ref_count =
		(uint32_t)(record->refs.count < FIELDS_MAX ? record->refs.count : FIELDS_MAX);
	class->name_size = (uint32_t)record->name.count;
	TRY(phd_name_put(phd, record->name.data, record->name.count, &class->name_at, err));
	for (uint32_t i = 0; i < class->ref_count; i++)
		TRY(base_vec_push(&phd->class_refs, base_vec_at(&record->refs, uint64_t, i),
				  sizeof(uint64_t), err));
	return HDB_OK;
}

static int note_record(struct phd *phd, const struct phd_record *record, struct hdb_error *err)
{
	struct phd_class *class;
	uint32_t no;

	if (record->kind == PHD_CLASS)
		return note_class(phd, record, err);
	phd->object_count++;
	if (record->kind == PHD_PRIMITIVE_ARRAY)
		return HDB_OK;
	TRY(class_of(phd, record->class_id, &no, err));
	class = phd_class_at(phd, no);
	class->has_arrays |= record->kind == PHD_OBJECT_ARRAY;
	if (record->kind == PHD_OBJECT && record->refs.count > class->most_refs)
		class->most_refs =
			record->refs.count < FIELDS_MAX ? (uint32_t)record->refs.count : FIELDS_MAX;
	return HDB_OK;
}

static int read_records(struct phd *phd, struct hdb_error *err)
{
	struct phd_record record = { .refs.work = phd->work };
	struct evidence evidence = { 0 };
	int r = HDB_OK;

	base_stage(phd->work, "reading the dump", base_input_size(phd->head.input), "bytes");
	for (uint64_t i = 0; r == HDB_OK; i++) {
		if (i % STEP_RECORDS == 0)
			r = base_step(phd->work, base_input_taken(phd->head.input), err);
		if (r == HDB_OK)
			r = phd_reader_next(&phd->head, &record);
		if (r == HDB_OK) {
			note_size(&evidence, &record);
			r = note_record(phd, &record, err);
		}
	}
	base_vec_release(&record.refs);
	base_vec_release(&record.name);
	find_layout(phd, &evidence);
	return r == HDB_END ? HDB_OK : r;
}

/* ---- what classes have of one another ---- */

/* Superclasses by number; what closes a circle has none. */
static int link_supers(struct phd *phd, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec path = { .work = phd->work };

	for (uint32_t i = 0; i < phd->classes.count; i++) {
		struct phd_class *class = phd_class_at(phd, i);

		class->super_no = class->super_id ?
					  base_idmap_get(&phd->class_map, class->super_id) :
					  PHD_NONE;
	}
	for (uint32_t i = 0; i < phd->classes.count; i++) {
		for (uint32_t no = i; no != PHD_NONE && !phd_class_at(phd, no)->visit;) {
			struct phd_class *class = phd_class_at(phd, no);

			class->visit = 1;
			TRY(base_vec_push(&path, &no, sizeof(no), err));
			if (class->super_no != PHD_NONE &&
			    phd_class_at(phd, class->super_no)->visit == 1)
				class->super_no = PHD_NONE;
			no = class->super_no;
		}
		while (path.count) {
			struct phd_class *class =
				phd_class_at(phd, *base_vec_at(&path, uint32_t, --path.count));
			const uint32_t above = class->super_no == PHD_NONE ?
						       0 :
						       phd_class_at(phd, class->super_no)->fields;

			class->visit = 2;
			class->fields = class->most_refs > above ? class->most_refs : above;
			if (class->fields > phd->most_fields)
				phd->most_fields = class->fields;
		}
	}
	return HDB_OK;
}

/* The first reference of a class leads to its loader. */
static uint64_t loader_of(const struct phd *phd, const struct phd_class *class)
{
	return class->ref_count ? *base_vec_at(&phd->class_refs, uint64_t, class->first_ref) : 0;
}

/* The name of what an array class has as elements: "[[I" and "[La/B;" become "[I" and "a/B". */
static const char *element_name(const struct phd *phd, const struct phd_class *class, size_t *size)
{
	const char *name = phd_name(phd, class->name_at);

	*size = class->name_size;
	if (*size < 3 || name[0] != '[')
		return NULL;
	*size -= name[1] == 'L' ? 3 : 1;
	return name + (name[1] == 'L' ? 2 : 1);
}

/* Arrays of objects name their elements' class: array classes by those, of one loader first. */
static int link_arrays(struct phd *phd, struct hdb_error *err)
{
	BASE_SCOPED(base_idmap_release) struct base_idmap arrays = { .work = phd->work };

	for (uint32_t i = 0; i < phd->classes.count; i++) {
		const struct phd_class *class = phd_class_at(phd, i);
		uint64_t key = name_key(phd_name(phd, class->name_at), class->name_size, 0);
		const char *name;
		size_t size;

		if (!class->is_read)
			continue;
		if (base_idmap_get(&phd->name_map, key) == BASE_IDMAP_NONE)
			TRY(base_idmap_put(&phd->name_map, key, i, err));
		if (!(name = element_name(phd, class, &size)))
			continue;
		TRY(base_idmap_put(&arrays, name_key(name, size, loader_of(phd, class)), i, err));
		key = name_key(name, size, 0);
		if (base_idmap_get(&arrays, key) == BASE_IDMAP_NONE)
			TRY(base_idmap_put(&arrays, key, i, err));
	}
	for (uint32_t i = 0; i < phd->classes.count; i++) {
		struct phd_class *class = phd_class_at(phd, i);
		const char *name = phd_name(phd, class->name_at);

		if (!class->is_read)
			continue;
		class->array_no = base_idmap_get(
			&arrays, name_key(name, class->name_size, loader_of(phd, class)));
		if (class->array_no == BASE_IDMAP_NONE)
			class->array_no =
				base_idmap_get(&arrays, name_key(name, class->name_size, 0));
	}
	return HDB_OK;
}

/*
 * Gives names to classes without a record, as most are in a dump that was cut, and classes to
 * arrays that have none.
 */
static int invent_classes(struct phd *phd, struct hdb_error *err)
{
	const size_t count = phd->classes.count;
	char name[64];

	for (uint32_t i = 0; i < count; i++) {
		struct phd_class *class = phd_class_at(phd, i);
		const unsigned bytes =
			phd->layout.object_header + class->most_refs * phd->layout.reference;

		if (class->is_read)
			continue;
		class->instance_bytes = bytes;
		class->name_size = (uint32_t)snprintf(name, sizeof(name),
						      "unknown class 0x%" PRIx64, class->id);
		TRY(phd_name_put(phd, name, class->name_size, &class->name_at, err));
		phd->problem_count++;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct phd_class of = *phd_class_at(phd, i);
		struct phd_class array = { .id = of.id + 1, .super_no = PHD_NONE };
		const bool is_array = of.name_size && *phd_name(phd, of.name_at) == '[';

		if (!of.has_arrays || of.array_no != PHD_NONE)
			continue;
		array.array_no = PHD_NONE;
		array.name_size = of.name_size + (is_array ? 1 : 3);
		TRY(base_vec_reserve(&phd->names, array.name_size, 1, err));
		TRY(phd_name_put(phd, "[L", is_array ? 1 : 2, &array.name_at, err));
		TRY(phd_name_put(phd, phd_name(phd, of.name_at), of.name_size, &(uint32_t){ 0 },
				 err));
		TRY(phd_name_put(phd, ";", is_array ? 0 : 1, &(uint32_t){ 0 }, err));
		phd_class_at(phd, i)->array_no = (uint32_t)phd->classes.count;
		TRY(base_vec_push(&phd->classes, &array, sizeof(array), err));
	}
	return HDB_OK;
}

static void close_at(struct phd **phd)
{
	phd_close(*phd);
}

int phd_open(const char *path, struct base_work *work, struct phd **out, struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct phd *phd = NULL;
	struct stat st;

	*out = NULL;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return HDB_NOTFOUND;
	TRY(BASE_ALLOC(phd, 1, "a dump", err));
	phd->path = path;
	phd->work = phd->classes.work = phd->class_map.work = phd->name_map.work = work;
	phd->names.work = phd->class_refs.work = work;
	phd->threads.work = phd->frames.work = work;
	phd->file_bytes = (uint64_t)st.st_size;
	/* So that there are names. */
	TRY(phd_name_put(phd, "", 1, &(uint32_t){ 0 }, err));
	TRY(phd_reader_open(&phd->head, path, err));
	TRY(read_records(phd, err));
	phd_reader_release(&phd->head);
	TRY(link_supers(phd, err));
	TRY(link_arrays(phd, err));
	TRY(invent_classes(phd, err));
	TRY(phd_javacore_read(phd, err));
	*out = phd;
	phd = NULL;
	return HDB_OK;
}

void phd_close(struct phd *phd)
{
	if (!phd)
		return;
	phd_reader_release(&phd->head);
	base_vec_release(&phd->classes);
	base_vec_release(&phd->names);
	base_vec_release(&phd->class_refs);
	base_vec_release(&phd->threads);
	base_vec_release(&phd->frames);
	base_idmap_release(&phd->class_map);
	base_idmap_release(&phd->name_map);
	free(phd);
}

uint64_t phd_bytes(const struct phd *phd)
{
	return phd->file_bytes;
}

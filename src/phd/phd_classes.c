/*
 * phd/phd_classes.c - the first pass: collects the classes, how many references their objects have,
 * and evidence for the size of array headers.
 *
 * A PHD does not say which field holds a reference. Each class therefore gets as many artificial
 * fields, including inherited ones, as its object with the most references needs; an object's
 * references fill them in order.
 */
#include "phd/phd_private.h"

#include "base/try.h"
#include "base/unpack.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of fields in a class, because HPROF counts them in 16 bits. Further references are
 * dropped.
 */
#define FIELDS_MAX 60000u
/* Bounds for the size of an array header. HEADER_MIN is the default without evidence. */
#define HEADER_MIN 8
#define HEADER_MAX 32

/*
 * The smallest space that any array leaves for its header, judging by its recorded size or by the
 * distance to the next object: for object arrays with references of 4 bytes or of 8 bytes (-1 means
 * that 8 bytes are ruled out), and for primitive arrays.
 */
struct evidence {
	int64_t objects_4, objects_8, primitives;
	/* the previous array, if its size must be inferred from the record after it */
	struct phd_record last;
	bool has_last;
};

/* Appends a string to names. Fails with HDB_ELIMIT if names would exceed 4 GiB. */
static int put_name(struct phd *phd, const void *text, size_t size, uint32_t *at,
		    struct hdb_error *err)
{
	if (phd->names.count + size > UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "the names in the dump exceed 4 GiB");
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

/*
 * Finds or adds the class with this ID. Other records may refer to a class before its own record,
 * or to a class without a record.
 */
static int class_of(struct phd *phd, uint64_t id, uint32_t *no, struct hdb_error *err)
{
	const struct phd_class new = { .id = id, .super_no = PHD_NONE };

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
	/*
	 * An array that is too small for references of 8 bytes proves that references take 4 bytes.
	 */
	note_least(&e->objects_4, bytes - length * 4);
	if (bytes - length * 8 < HEADER_MIN)
		e->objects_8 = -1;
	else if (e->objects_8 >= 0)
		note_least(&e->objects_8, bytes - length * 8);
}

/*
 * Updates the evidence with a record. The size of an array is recorded (version 6), or is at most
 * the distance to the next object.
 */
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

	assert(!is_wide || e->objects_8 >= HEADER_MIN);
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
	TRY(put_name(phd, record->name.data, record->name.count, &class->name_at, err));
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

	base_stage(phd->work, "reading the dump", phd->source->size, "bytes");
	for (uint64_t i = 0; r == HDB_OK; i++) {
		if (i % PHD_STEP_RECORDS == 0)
			r = base_step(phd->work, phd->head.view.end, err);
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
	return r == HDB_END ? base_source_failed(phd->source, err) : r;
}

/* ---- relations between classes ---- */

/* Finds superclasses and counts fields. A class that would close a cycle gets no superclass. */
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

			assert(class->visit == 1);
			class->visit = 2;
			class->fields = class->most_refs > above ? class->most_refs : above;
			assert(class->fields >= above && class->fields <= FIELDS_MAX);
			if (class->fields > phd->most_fields)
				phd->most_fields = class->fields;
		}
	}
	return HDB_OK;
}

/* Finds the name of an array class: "a/B" gives "[La/B;", "[I" gives "[[I". */
static int array_name(struct phd *phd, const struct phd_class *of, struct base_vec *out,
		      struct hdb_error *err)
{
	const char *name = phd_name(phd, of->name_at);
	const bool is_array = of->name_size && *name == '[';

	out->count = 0;
	TRY(base_bytes_append(out, "[L", is_array ? 1 : 2, err));
	TRY(base_bytes_append(out, name, of->name_size, err));
	return is_array ? HDB_OK : base_bytes_append(out, ";", 1, err);
}

/*
 * Finds the class of arrays whose elements have class `no`, which is all that a PHD records about
 * an array's class. Prefers an array class of the same class loader; if the dump has none at all,
 * creates one.
 */
static int find_array_class(struct phd *phd, uint32_t no, struct base_vec *name,
			    struct hdb_error *err)
{
	struct phd_class *of = phd_class_at(phd, no);
	struct phd_class made_up = { .id = of->id + 1, .super_no = PHD_NONE };

	TRY(array_name(phd, of, name, err));
	of->array_no = base_idmap_get(&phd->name_map,
				      name_key(name->data, name->count, phd_first_ref(phd, of)));
	if (of->array_no == BASE_IDMAP_NONE)
		of->array_no = phd_class_named(phd, name->data, name->count);
	if (of->array_no != BASE_IDMAP_NONE)
		return HDB_OK;
	of->array_no = (uint32_t)phd->classes.count;
	made_up.name_size = (uint32_t)name->count;
	TRY(put_name(phd, name->data, name->count, &made_up.name_at, err));
	return base_vec_push(&phd->classes, &made_up, sizeof(made_up), err);
}

/* Makes up a name for a class without a record. Most classes in a truncated dump have none. */
static int name_unknown(struct phd *phd, struct phd_class *class, struct hdb_error *err)
{
	char name[64];

	class->instance_bytes =
		phd->layout.object_header + class->most_refs * phd->layout.reference;
	class->name_size =
		(uint32_t)snprintf(name, sizeof(name), "unknown class 0x%" PRIx64, class->id);
	phd->problem_count++;
	return put_name(phd, name, class->name_size, &class->name_at, err);
}

static int link_arrays(struct phd *phd, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec name = { 0 };
	const uint32_t count = (uint32_t)phd->classes.count;

	for (uint32_t i = count; i-- > 0;) {
		struct phd_class *class = phd_class_at(phd, i);
		const char *text = phd_name(phd, class->name_at);

		if (!class->is_read) {
			TRY(name_unknown(phd, class, err));
			continue;
		}
		TRY(base_idmap_put(&phd->name_map, name_key(text, class->name_size, 0), i, err));
		TRY(base_idmap_put(&phd->name_map,
				   name_key(text, class->name_size, phd_first_ref(phd, class)), i,
				   err));
	}
	for (uint32_t i = 0; i < count; i++)
		if (phd_class_at(phd, i)->has_arrays)
			TRY(find_array_class(phd, i, &name, err));
	return HDB_OK;
}

BASE_CLOSER(close_at, struct phd, phd_close)

int phd_open(struct base_input *input, struct phd_files files, struct base_work *work,
	     struct phd **out, struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct phd *phd = NULL;
	const uint8_t *head;
	uint64_t size;

	*out = NULL;
	TRY(base_input_peek(input, &head, &size, err));
	if (size < PHD_MAGIC_SIZE || memcmp(head, PHD_MAGIC, PHD_MAGIC_SIZE) != 0)
		return HDB_NOTFOUND;
	TRY(BASE_ALLOC(phd, 1, "a dump", err));
	phd->files = files;
	TRY(base_unpack_open(input, work, &phd->source, err));
	phd->file_bytes = base_input_size(input) ? base_input_size(input) : base_input_taken(input);
	phd->work = phd->classes.work = phd->class_map.work = phd->name_map.work = work;
	phd->names.work = phd->class_refs.work = work;
	/* An empty name at offset 0 ensures that `names` is never empty. */
	TRY(put_name(phd, "", 1, &(uint32_t){ 0 }, err));
	TRY(phd_reader_open(&phd->head, phd->source, err));
	TRY(read_records(phd, err));
	phd_reader_release(&phd->head);
	TRY(link_supers(phd, err));
	TRY(link_arrays(phd, err));
	*out = phd;
	phd = NULL;
	return HDB_OK;
}

void phd_close(struct phd *phd)
{
	if (!phd)
		return;
	phd_reader_release(&phd->head);
	base_source_close(phd->source);
	base_vec_release(&phd->classes);
	base_vec_release(&phd->names);
	base_vec_release(&phd->class_refs);
	base_idmap_release(&phd->class_map);
	base_idmap_release(&phd->name_map);
	free(phd);
}

uint64_t phd_bytes(const struct phd *phd)
{
	return phd->file_bytes;
}

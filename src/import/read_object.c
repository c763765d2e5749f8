/*
 * import/read_object.c - reads objects of the dump that are not plain (see take_objects.c): the
 * entry in the table of objects, and the IDs of references.
 */
#include "base/search.h"
#include "import/resolve.h"

#include "base/bytes.h"

#include <assert.h>

/* Number of elements of a large array that are resolved at a time. */
#define ELEMENTS 4096

static int push_reference(struct block_builder *m, uint64_t id, struct hdb_error *err)
{
	return id ? base_vec_push(&m->raw, &id, sizeof(id), err) : HDB_OK;
}

/* ---- dictionary entries ---- */

void import_forget_classes(struct block_builder *m)
{
	store_objects_dictionary_release(&m->dictionary);
	for (unsigned i = 0; i < BUILDER_CLASSES; i++)
		m->classes[i] = (struct builder_class){ .plain_bytes = UINT64_MAX };
	for (unsigned t = 0; t < 16; t++)
		m->primitive_entry[t] = STORE_NONE;
}

struct store_object import_get_object(const struct block_builder *m, uint32_t i)
{
	const struct store_object_put *put = &m->objects[i];
	const struct store_objects_entry *e =
		base_vec_at(&m->dictionary.entries, struct store_objects_entry, put->entry);

	return (struct store_object){
		.file_offset = m->offsets[i],
		.length = put->length,
		.class_no = e->class_no,
		.body_size = e->body_size,
		.heap_no = m->heap_nos ? m->heap_nos[i] : 0,
		.kind = e->kind,
		.is_embedded = e->is_embedded,
	};
}

/* Stores object i of the block, without its offset. */
static int put_object(struct block_builder *m, uint32_t i, const struct store_object *o,
		      struct hdb_error *err)
{
	assert(o->length <= UINT32_MAX);
	m->objects[i].length = (uint32_t)o->length;
	if (m->heap_nos)
		m->heap_nos[i] = o->heap_no;
	return store_objects_entry(&m->dictionary, o, &m->objects[i].entry, err);
}

/* ---- classes ---- */

/* Adds the entries for the class's instances and arrays to the dictionary. */
static int add_entries(struct import *im, struct block_builder *m, struct builder_class *class,
		       struct hdb_error *err)
{
	struct store_object o = {
		.class_no = class->no - 1,
		.kind = STORE_INSTANCE,
		.body_size = class->body_size,
	};

	TRY(store_objects_entry(&m->dictionary, &o, &class->instance_entry, err));
	o.kind = STORE_OBJECT_ARRAY;
	o.body_size = im->file.id_size;
	return store_objects_entry(&m->dictionary, &o, &class->array_entry, err);
}

int import_note_usual(struct block_builder *m, struct builder_class *class, struct hdb_error *err)
{
	const struct store_object o = { .kind = STORE_INSTANCE, .class_no = class->no - 1 };

	if (class->usual_count)
		TRY(import_distances_add(&m->distances, &o, class->usual, class->usual_count, err));
	class->usual = class->usual_count = 0;
	return HDB_OK;
}

/* Finds a class and puts it into the cache. An unknown class is cached without a number. */
static int find_class(struct import *im, struct block_builder *m, uint64_t class_id,
		      struct hdb_error *err)
{
	struct builder_class *entry = import_class_entry(m, class_id);
	const uint32_t no = base_idmap_get(&im->class_map, class_id);
	const struct import_class *class;

	TRY(import_note_usual(m, entry, err));
	*entry = (struct builder_class){ .id = class_id, .plain_bytes = UINT64_MAX };
	if (no == BASE_IDMAP_NONE)
		return HDB_OK;
	class = import_class_at(im, no);
	entry->no = no + 1;
	entry->body_size = class->out.body_size;
	entry->plan_first = class->plan_first;
	entry->plan_count = class->plan_count;
	if (class->plan_count)
		entry->plan = base_vec_at(&im->links.plans, uint32_t, class->plan_first);
	entry->tail_size_at = class->tail_size_at;
	if (!class->tail_size_at && class->plan_count <= STORE_LIST_BIG)
		entry->plain_bytes = class->out.body_size;
	return add_entries(im, m, entry, err);
}

/* Finds the entry of a class. Valid until the next call. */
static int class_of(struct import *im, struct block_builder *m, uint64_t class_id,
		    const struct builder_class **class, struct hdb_error *err)
{
	*class = import_class_entry(m, class_id);
	return (*class)->id == class_id && (*class)->no ? HDB_OK : find_class(im, m, class_id, err);
}

/*
 * Returns the value of the field at tail_size_at: a number of stack words or bytes. Negative values
 * occur only in damaged dumps and count as 0.
 */
static uint64_t tail_size(const uint8_t *value)
{
	const uint32_t size = be32(value);

	return size <= INT32_MAX ? size : 0;
}

/*
 * Returns the number of ascending offsets whose references lie completely within a body of `size`
 * bytes. A truncated instance has fewer fields than its class.
 */
static uint32_t count_whole(const uint32_t *at, uint32_t count, uint64_t size, unsigned id_size)
{
	while (count && (uint64_t)at[count - 1] + id_size > size)
		count--;
	return count;
}

static int note_short(struct block_builder *m, uint64_t id, uint64_t offset, struct hdb_error *err)
{
	const struct short_instance one = { .id = id, .offset = offset };

	if (m->out->short_count++ >= BLOCK_PROBLEMS_MAX)
		return HDB_OK;
	return base_vec_push(&m->out->shorts, &one, sizeof(one), err);
}

/* Stores the smaller ID. The result does not depend on the order in which threads run. */
static void keep_least(uint64_t *slot, uint64_t id)
{
	uint64_t held = __atomic_load_n(slot, __ATOMIC_RELAXED);

	while ((!held || id < held) &&
	       !__atomic_compare_exchange_n(slot, &held, id, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		continue;
}

/* Records the references of an instance that are flat values. */
static void note_flat_fields(struct import *im, const struct builder_class *class,
			     const uint8_t *body, const uint32_t *at, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t id = be_id(body + at[i], im->file.id_size);

		if (id && id <= im->flat.last)
			keep_least(&im->flat.plan[class->plan_first + i], id);
	}
}

/* Records the elements of an array of class class_no that are flat values. */
static void note_flat_elements(struct import *im, uint32_t class_no, const uint64_t *ids,
			       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] <= im->flat.last)
			keep_least(&im->flat.element[class_no], ids[i]);
}

static int take_instance(struct import *im, struct block_builder *m, const struct hprof_sub *sub,
			 struct store_object *o, struct hdb_error *err)
{
	const struct builder_class *class;
	const uint32_t *at;
	const uint8_t *body;
	uint32_t count;
	uint64_t *raw;

	TRY(class_of(im, m, sub->class_id, &class, err));
	count = class->plan_count;
	o->kind = STORE_INSTANCE;
	o->class_no = class->no - 1;
	if (!class->no)
		return hdb_fail(err, HDB_EBUG, "instance 0x%" PRIx64 " has no class", sub->id);
	o->body_size = class->body_size;
	m->objects[m->reading].entry = class->instance_entry;
	if (sub->body_size < class->body_size)
		TRY(note_short(m, sub->id, sub->offset, err));
	if (!count && !class->tail_size_at)
		return HDB_OK;
	body = base_view_at(&m->view, sub->body_offset, sub->body_size, err);
	if (!body)
		return HDB_ETRUNC;
	if (class->tail_size_at && class->tail_size_at <= sub->body_size)
		o->length = tail_size(body + class->tail_size_at - 4);
	if (!count)
		return HDB_OK;
	TRY(base_vec_reserve(&m->raw, count, sizeof(uint64_t), err));
	raw = (uint64_t *)m->raw.data + m->raw.count;
	at = class->plan;
	count = count_whole(at, count, sub->body_size, im->file.id_size);
	if (im->flat.last)
		note_flat_fields(im, class, body, at, count);
	m->raw.count += im->file.id_size == 8 ? import_read_fields(raw, body, at, count, 8) :
						import_read_fields(raw, body, at, count, 4);
	return HDB_OK;
}

/* A range of an object array's elements. */
struct elements {
	uint64_t offset;
	uint64_t n;
	uint64_t *ids; /* the elements that are not null, after reading */
	size_t count;  /* number of ids */
};

static int read_elements(struct base_view *view, unsigned id_size, struct elements *elements,
			 struct hdb_error *err)
{
	const uint64_t n = elements->n;
	const uint8_t *p = base_view_at(view, elements->offset, n * id_size, err);

	elements->count = 0;
	if (!p)
		return HDB_ETRUNC;
	elements->count = id_size == 8 ? import_read_elements(elements->ids, p, n, 8) :
					 import_read_elements(elements->ids, p, n, 4);
	return HDB_OK;
}

int import_note_missing(struct slot *s, uint64_t id, uint32_t ix, struct hdb_error *err)
{
	const struct missing m = { .id = id, .from_ix = ix };

	s->missing_count++;
	/* The list for the whole dump has at most this many entries, so a block needs no more. */
	if (s->missing.count >= IMPORT_DANGLING_MAX)
		return HDB_OK;
	return base_vec_push(&s->missing, &m, sizeof(m), err);
}

/*
 * Reads a long array in pieces of ELEMENTS and passes each piece to `take`, with the indexes of its
 * IDs.
 */
int import_each_element(const struct import_array *array,
			int (*take)(void *ctx, const uint64_t *ids, const uint32_t *found,
				    size_t count, struct hdb_error *err),
			void *ctx, struct hdb_error *err)
{
	const struct hprof_sub *sub = array->sub;
	const unsigned id_size = array->im->file.id_size;
	uint64_t ids[ELEMENTS];
	uint32_t found[ELEMENTS];

	for (uint64_t from = 0; from < sub->length; from += ELEMENTS) {
		struct elements some = {
			.offset = sub->body_offset + from * id_size,
			.n = sub->length - from < ELEMENTS ? sub->length - from : ELEMENTS,
			.ids = ids,
		};

		TRY(read_elements(array->view, id_size, &some, err));
		import_idset_find_many(&array->im->ids, ids, some.count, found);
		TRY(take(ctx, ids, found, some.count, err));
	}
	return HDB_OK;
}

struct long_array {
	struct import *im;
	uint32_t class_no;
	uint64_t found; /* number of elements whose object is in the dump */
};

static int count_found(void *ctx, const uint64_t *ids, const uint32_t *found, size_t count,
		       struct hdb_error *err)
{
	struct long_array *array = ctx;

	(void)err;
	for (size_t i = 0; i < count; i++)
		array->found += found[i] != IDSET_NONE;
	if (array->im->flat.last)
		note_flat_elements(array->im, array->class_no, ids, count);
	return HDB_OK;
}

struct few {
	struct block_builder *m;
	uint32_t ix;
};

/*
 * Stores the references of an array that is long but contains few references, as for a short array.
 */
static int keep_found(void *ctx, const uint64_t *ids, const uint32_t *found, size_t count,
		      struct hdb_error *err)
{
	struct few *few = ctx;

	for (size_t i = 0; i < count; i++) {
		TRY(found[i] == IDSET_NONE ?
			    import_note_missing(few->m->out, ids[i], few->ix, err) :
			    base_vec_push(&few->m->raw, &ids[i], sizeof(ids[i]), err));
	}
	return HDB_OK;
}

/*
 * Reads a long array twice: once to count its references, and once to store them. If there are many
 * references, the writing thread stores them.
 */
static int take_long_array(struct import *im, struct block_builder *m, const struct hprof_sub *sub,
			   uint32_t class_no, struct hdb_error *err)
{
	const uint32_t ix = m->first_ix + m->reading;
	const struct import_array elements = { im, &m->view, sub };
	struct big_list big = { .ix = ix, .start = NOT_HELD, .offset = sub->offset };
	struct long_array array = { .im = im, .class_no = class_no };
	struct few few = { .m = m, .ix = ix };

	TRY_ERRORS(import_each_element(&elements, count_found, &array, err));
	big.length = array.found;
	if (big.length <= STORE_LIST_BIG)
		return import_each_element(&elements, keep_found, &few, err);
	return base_vec_push(&m->out->big, &big, sizeof(big), err);
}

static int take_object_array(struct import *im, struct block_builder *m,
			     const struct hprof_sub *sub, struct store_object *o,
			     struct hdb_error *err)
{
	struct elements elements = { .offset = sub->body_offset, .n = sub->length };
	const struct builder_class *class;

	TRY(class_of(im, m, sub->class_id, &class, err));
	o->kind = STORE_OBJECT_ARRAY;
	o->class_no = class->no - 1;
	o->length = sub->length;
	o->body_size = im->file.id_size;
	if (!class->no)
		return hdb_fail(err, HDB_EBUG, "array 0x%" PRIx64 " has no class", sub->id);
	m->objects[m->reading].entry = class->array_entry;
	if (sub->length > STORE_LIST_BIG)
		return take_long_array(im, m, sub, o->class_no, err);
	TRY(base_vec_reserve(&m->raw, sub->length, sizeof(uint64_t), err));
	elements.ids = (uint64_t *)m->raw.data + m->raw.count;
	TRY(read_elements(&m->view, im->file.id_size, &elements, err));
	if (im->flat.last)
		note_flat_elements(im, o->class_no, elements.ids, elements.count);
	m->raw.count += elements.count;
	return HDB_OK;
}

/* Adds a class object, which refers to the objects in its static fields. */
static int take_class(struct import *im, struct block_builder *m, struct store_object *o,
		      uint64_t id, struct hdb_error *err)
{
	const uint32_t no = base_idmap_get(&im->class_map, id);
	const struct import_class *class;
	uint64_t offset;

	o->kind = STORE_CLASS;
	o->class_no = im->known.class_no;
	o->length = no;
	o->file_offset = 0;
	if (no == BASE_IDMAP_NONE)
		return hdb_fail(err, HDB_EBUG, "class 0x%" PRIx64 " has no number", id);
	class = import_class_at(im, no);
	offset = class->statics_offset;
	for (uint32_t f = 0; f < class->out.static_count; f++) {
		struct hprof_static field;

		TRY(hprof_static_next(&im->file, &m->view, &offset, &field, err));
		if (field.type == HPROF_OBJECT)
			TRY(push_reference(m, field.value, err));
	}
	return HDB_OK;
}

static uint32_t heap_of(const struct import *im, uint64_t offset)
{
	struct base_search search = base_search_in(im->records.heap_switches.count);

	while (base_search_next(&search))
		base_search_step(&search, base_vec_at(&im->records.heap_switches,
						      struct import_heap_switch, search.mid)
							  ->offset <= offset);
	return search.low ? base_vec_at(&im->records.heap_switches, struct import_heap_switch,
					search.low - 1)
				    ->heap_no :
			    0;
}

/*
 * Adds the length of object i of the block, and its distance to the next object, to the statistics
 * of its class.
 */
static int note_object(struct import *im, struct block_builder *m, uint32_t i,
		       const struct store_object *o, struct hdb_error *err)
{
	const uint64_t id = m->ids[i];
	int r = HDB_OK;

	if (!id)
		return HDB_OK;
	m->out->odd_count += im->flat.has_odd_ids && id & 7 && !o->is_embedded;
	if (i + 1 < m->id_count && !import_is_apart(im, id) && !import_is_apart(im, m->ids[i + 1]))
		r = import_distances_add(&m->distances, o, m->ids[i + 1] - id, 1, err);
	else if (o->kind == STORE_INSTANCE)
		r = import_distances_pass(&m->distances, o, err);
	TRY(r);
	if (o->kind != STORE_CLASS && (o->kind != STORE_INSTANCE || o->length || o->is_embedded))
		return import_counts_add(&m->counting, o, err);
	return HDB_OK;
}

static int take_primitives(struct import *im, struct block_builder *m, const struct hprof_sub *sub,
			   struct store_object *o, struct hdb_error *err)
{
	uint32_t *entry = &m->primitive_entry[sub->element_type & 15];

	o->kind = STORE_PRIMITIVE_ARRAY;
	o->length = sub->length;
	o->class_no = im->known.primitive_no[sub->element_type & 15];
	o->body_size = hprof_type_size(sub->element_type, im->file.id_size);
	if (*entry == STORE_NONE)
		TRY(store_objects_entry(&m->dictionary, o, entry, err));
	m->objects[m->reading].entry = *entry;
	if (sub->tag != HPROF_PRIMITIVE_ARRAY_DUMP ||
	    ((im->origin.is_android ||
	      sub->length <= __atomic_load_n(&im->evidence.zeroed_end, __ATOMIC_RELAXED)) &&
	     __atomic_load_n(&im->evidence.fill, __ATOMIC_RELAXED) == IMPORT_FILL_VARIES))
		return HDB_OK;
	return import_zeroed_add(im, m, sub, err);
}

static int take_sub(struct import *im, struct block_builder *m, const struct hprof_sub *sub,
		    struct store_object *o, struct hdb_error *err)
{
	switch (sub->tag) {
	case HPROF_INSTANCE_DUMP:
		return take_instance(im, m, sub, o, err);
	case HPROF_OBJECT_ARRAY_DUMP:
		return take_object_array(im, m, sub, o, err);
	case HPROF_PRIMITIVE_ARRAY_DUMP:
	case HPROF_PRIMITIVE_ARRAY_NODATA:
		return take_primitives(im, m, sub, o, err);
	default:
		return hdb_fail(err, HDB_EBUG, "no object at offset %" PRIu64, sub->offset);
	}
}

/*
 * Records the range in `raw` that contains the references of object i. The range begins at `first`.
 */
static int end_raw(struct block_builder *m, uint32_t i, size_t first, struct hdb_error *err)
{
	if (m->raw.count >= NOT_TAKEN)
		return hdb_fail(err, HDB_ELIMIT,
				"%u consecutive objects have more than %" PRIu32 " references",
				STORE_BLOCK_OBJECTS, NOT_TAKEN);
	assert(first <= m->raw.count);
	m->raw_first[i] = (uint32_t)first;
	m->raw_end[i] = (uint32_t)m->raw.count;
	return HDB_OK;
}

static int take_object(struct import *im, struct block_builder *m, uint32_t i,
		       const struct hprof_sub *sub, struct hdb_error *err)
{
	struct store_object o = { .file_offset = sub->offset };
	const size_t first = m->raw.count;

	/*
	 * Objects with ID 0 are dropped, because index 0 belongs to the boot loader's placeholder.
	 */
	if (!sub->id)
		return HDB_OK;
	if (im->records.heap_switches.count)
		o.heap_no = heap_of(im, sub->offset);
	assert(i < m->out->count);
	assert(m->raw_first[i] == NOT_TAKEN);
	m->taken++;
	m->reading = i;
	TRY(take_sub(im, m, sub, &o, err));
	if (m->is_noted)
		TRY(note_object(im, m, i, &o, err));
	assert(o.length <= UINT32_MAX);
	m->objects[i].length = (uint32_t)o.length;
	if (m->heap_nos)
		m->heap_nos[i] = o.heap_no;
	return end_raw(m, i, first, err);
}

int import_look_up(struct import *im, struct block_builder *m, struct hdb_error *err)
{
	struct idset_lookup *lookup = &m->lookups[m->lookup_turn++ % BUILDER_LOOKUPS];
	const uint64_t *ids = m->raw.data;
	const size_t n = lookup->count, left = m->raw.count - m->lookup_end;
	const size_t next = left < BUILDER_LOOKUP_IDS ? left : BUILDER_LOOKUP_IDS;

	assert(m->answered + n <= m->lookup_end);
	assert(m->lookup_end <= m->raw.count);
	TRY(base_vec_reserve(&m->found, n, sizeof(uint32_t), err));
	m->found_count += import_idset_find_prefetched(&im->ids, ids + m->answered, lookup,
						       (uint32_t *)m->found.data + m->answered);
	m->answered = m->found.count = m->answered + n;
	import_idset_prefetch(&im->ids, ids + m->lookup_end, next, lookup);
	m->lookup_end += next;
	return HDB_OK;
}

int import_find_rest(struct import *im, struct block_builder *m, struct hdb_error *err)
{
	TRY(base_vec_reserve(&m->found, m->raw.count - m->found.count, sizeof(uint32_t), err));
	while (m->answered < m->raw.count)
		TRY(import_look_up(im, m, err));
	return HDB_OK;
}

int import_take_next(struct import *im, struct block_builder *m, struct import_piece_reader *reader,
		     struct hdb_error *err)
{
	struct hprof_sub sub;
	uint32_t i;

	TRY(import_locator_next(reader, &i, &sub, err));
	TRY(take_object(im, m, i, &sub, err));
	while (m->raw.count - m->lookup_end >= BUILDER_LOOKUP_IDS)
		TRY(import_look_up(im, m, err));
	return HDB_OK;
}

/*
 * Completes object i of the block if it is a class object or the boot loader's placeholder, and
 * therefore neither an instance nor an array.
 */
static int take_other(struct import *im, struct block_builder *m, uint32_t i, struct hdb_error *err)
{
	struct store_object o = { 0 };
	const size_t first = m->raw.count;
	int r = HDB_OK;

	if (!m->ids[i]) {
		/* The boot loader's placeholder. */
		m->offsets[i] = 0;
		o.kind = STORE_INSTANCE;
		o.class_no = im->known.loader_no;
		o.body_size = import_class_at(im, o.class_no)->out.body_size;
	} else {
		if (m->offsets[i] && im->records.heap_switches.count)
			o.heap_no = heap_of(im, m->offsets[i]);
		r = take_class(im, m, &o, m->ids[i], err);
	}
	if (r != HDB_OK || (r = put_object(m, i, &o, err)) != HDB_OK)
		return r;
	return end_raw(m, i, first, err);
}

static void mark_flat(const struct import *im, struct block_builder *m, uint32_t i,
		      struct store_object *o)
{
	if (m->ids[i] > im->flat.last || !m->ids[i] || o->kind != STORE_INSTANCE)
		return;
	o->is_embedded = 1;
	m->out->flat_count++;
}

int import_take_rest(struct import *im, struct block_builder *m, struct hdb_error *err)
{
	for (uint32_t i = 0; i < m->out->count; i++) {
		const bool is_other = m->raw_first[i] == NOT_TAKEN;
		struct store_object o;

		if (!is_other && m->is_noted)
			continue;
		if (is_other)
			TRY(take_other(im, m, i, err));
		o = import_get_object(m, i);
		if (im->origin.is_android)
			import_mark_embedded(im, m, i, &o);
		if (im->flat.last)
			mark_flat(im, m, i, &o);
		TRY(note_object(im, m, i, &o, err));
		if (o.is_embedded)
			TRY(put_object(m, i, &o, err));
	}
	return HDB_OK;
}

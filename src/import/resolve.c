/*
 * import/resolve.c - the pass over objects in order of index, on all threads: the blocks of the tables ids, objects and
 * references.
 */
#include "import/resolve.h"

#include "base/pipeline.h"

#include <pthread.h>
#include <stdlib.h>

/* Reference lists up to this length are sorted and made distinct. */
#define SORT_MAX 32

struct resolve {
	struct import *im;
	struct slot *slots;
	struct maker *makers;       /* one a thread */
	struct maker **free_makers; /* what was used last comes first: a core's caches may still hold it */
	unsigned free_count;
	pthread_mutex_t lock;       /* of the two above */
	struct base_view view;      /* of the writing thread */
};

/* ---- a list ---- */

static inline void order_two(uint32_t *a, uint32_t *b)
{
	const uint32_t least = *a < *b ? *a : *b, most = *a < *b ? *b : *a;

	*a = least;
	*b = most;
}

/* Two and three are most of what is not one; nobody can foretell their order, so it decides no branch. */
static void sort_few(uint32_t *v, size_t n)
{
	if (n <= 3) {
		order_two(&v[0], &v[1]);
		if (n == 3) {
			order_two(&v[1], &v[2]);
			order_two(&v[0], &v[1]);
		}
		return;
	}
	for (size_t i = 1; i < n; i++) {
		const uint32_t x = v[i];
		size_t k = i;

		for (; k && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Makes the list distinct: sorted if short, else only neighbours. Returns its length. */
static size_t tidy_list(uint32_t *v, size_t n)
{
	size_t kept = 1;

	if (n < 2)
		return n;
	if (n <= SORT_MAX)
		sort_few(v, n);
	for (size_t i = 1; i < n; i++) {
		v[kept] = v[i];
		kept += v[i] != v[kept - 1];
	}
	return kept;
}

/* Edges of a class object that are no static fields: index known already. */
static int class_targets(struct import *im, struct base_vec *targets, uint32_t no,
			 struct hdb_error *err)
{
	const struct import_class *class = import_class_at(im, no);
	int r = base_vec_push(targets, &class->out.loader_ix, sizeof(uint32_t), err);

	if (r == HDB_OK && class->out.super_no != STORE_NONE)
		r = base_vec_push(targets, &import_class_at(im, class->out.super_no)->out.ix,
				  sizeof(uint32_t), err);
	return r;
}

static int note_missing(struct maker *m, uint32_t i, struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint32_t k = m->raw_first[i]; k < m->raw_end[i] && r == HDB_OK; k++)
		if (*base_vec_at(&m->found, uint32_t, k) == IDSET_NONE)
			r = import_note_missing(m->out, *base_vec_at(&m->raw, uint64_t, k),
						m->first_ix + i, err);
	return r;
}

/* The object that has extra edge number `extra`; UINT32_MAX behind the last one. */
static uint32_t extra_ix(const struct import *im, size_t extra)
{
	return extra < im->extras.count ?
	       base_vec_at(&im->extras, struct import_edge, extra)->from_ix : UINT32_MAX;
}

/* Adds the edges of object i that no field of the dump holds. */
static int add_extras(struct import *im, struct maker *m, uint32_t i, struct hdb_error *err)
{
	const uint32_t ix = m->first_ix + i;
	int r = HDB_OK;

	if (m->objects[i].kind == STORE_CLASS)
		r = class_targets(im, &m->targets, (uint32_t)m->objects[i].length, err);
	while (m->next_extra <= ix && r == HDB_OK) {
		/* A long array has none in its list; only damage makes an array a thread. */
		if (m->next_extra == ix)
			r = base_vec_push(&m->targets, &base_vec_at(&im->extras, struct import_edge,
								    m->extra)->to_ix,
					  sizeof(uint32_t), err);
		m->next_extra = extra_ix(im, ++m->extra);
	}
	return r;
}

/* A list too long for the block: kept until it is written. */
static int hold_list(struct maker *m, uint32_t i, const uint32_t *targets, size_t n,
		     struct hdb_error *err)
{
	struct slot *s = m->out;
	const struct big_list held = {
		.ix = m->first_ix + i, .length = n, .start = s->held.count,
	};
	int r = base_vec_reserve(&s->held, n, sizeof(uint32_t), err);

	if (r < 0)
		return r;
	memcpy((uint32_t *)s->held.data + s->held.count, targets, n * sizeof(uint32_t));
	s->held.count += n;
	return base_vec_push(&s->big, &held, sizeof(held), err);
}

/* Gathers the list of object i in m->targets, where some of its references lead nowhere or are in no field. */
static int gather_list(struct import *im, struct maker *m, uint32_t i, struct hdb_error *err)
{
	const uint32_t *found = m->found.data;
	const uint32_t first = m->raw_first[i], end = m->raw_end[i];
	size_t n = 0;
	int r;

	m->targets.count = 0;
	r = base_vec_reserve(&m->targets, end - first + 1, sizeof(uint32_t), err);
	if (r < 0)
		return r;
	for (uint32_t k = first; k < end; k++) {
		*base_vec_at(&m->targets, uint32_t, n) = found[k];
		n += found[k] != IDSET_NONE;
	}
	m->targets.count = n;
	if (n != end - first)
		r = note_missing(m, i, err);
	return r == HDB_OK ? add_extras(im, m, i, err) : r;
}

/* The object of long array number `no` of the `count` that the block has; UINT32_MAX behind the last one. */
static uint32_t array_ix(const struct slot *s, size_t no, size_t count)
{
	return no < count ? base_vec_at(&s->big, struct big_list, no)->ix : UINT32_MAX;
}

/* Writes the lists of all objects. are_found: no reference in a field leads nowhere. */
static int put_lists(struct import *im, struct maker *m, bool are_found,
		     struct store_lists_writer *out, struct hdb_error *err)
{
	struct slot *s = m->out;
	const size_t arrays = s->big.count; /* long arrays come in order of index; lists are held behind them */
	uint32_t next_array = array_ix(s, 0, arrays);
	size_t array = 0;
	int r = HDB_OK;

	for (uint32_t i = 0; i < s->count && r == HDB_OK; i++) {
		const uint32_t ix = m->first_ix + i;
		uint32_t *targets = base_vec_at(&m->found, uint32_t, m->raw_first[i]);
		uint64_t n = m->raw_end[i] - m->raw_first[i];

		if (ix == next_array) {
			n = base_vec_at(&s->big, struct big_list, array)->length;
			next_array = array_ix(s, ++array, arrays);
		} else {
			if (!are_found || m->objects[i].kind == STORE_CLASS || ix >= m->next_extra) {
				r = gather_list(im, m, i, err);
				targets = m->targets.data;
				n = m->targets.count;
			}
			n = tidy_list(targets, n);
			if (n > STORE_LIST_BIG && r == HDB_OK)
				r = hold_list(m, i, targets, n, err);
		}
		s->reference_count += n;
		if (r == HDB_OK)
			r = store_lists_add(out, targets, n, err);
	}
	return r;
}

/* Turns the raw IDs of the block's objects into lists of indices, and writes them. */
static int resolve_lists(struct import *im, struct maker *m, struct hdb_error *err)
{
	struct slot *s = m->out;
	struct store_lists_writer out;
	size_t found;
	int r = base_vec_reserve(&m->found, m->raw.count, sizeof(uint32_t), err);

	if (r == HDB_OK)
		r = store_lists_open(&out, &s->lists_bytes, m->first_ix, s->count, err);
	if (r != HDB_OK)
		return r;
	m->extra = import_extras_from(im, m->first_ix);
	m->next_extra = extra_ix(im, m->extra);
	found = idset_find_many(&im->ids, m->raw.data, m->raw.count, m->found.data);
	return put_lists(im, m, found == m->raw.count, &out, err);
}

/* ---- a block ---- */

static void empty_slot(struct slot *s)
{
	s->ids_bytes.count = s->objects_bytes.count = s->lists_bytes.count = 0;
	s->held.count = s->missing.count = s->big.count = s->shorts.count = 0;
	s->missing_count = s->short_count = s->reference_count = 0;
	s->flat_count = s->odd_count = 0;
	s->zeroed = (struct import_zeroed){ 0 };
}

/* Class objects' own offsets. */
static void find_classes(struct import *im, struct maker *m)
{
	const uint32_t count = m->out->count;
	uint32_t low = 0, high = (uint32_t)im->classes.count;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (import_class_at(im, mid)->out.ix < m->first_ix)
			low = mid + 1;
		else
			high = mid;
	}
	memset(m->offsets, 0, count * sizeof(*m->offsets));
	for (; low < im->classes.count; low++) {
		const struct import_class *class = import_class_at(im, low);

		if (class->out.ix - m->first_ix >= count)
			break;
		if (class->has_dump)
			m->offsets[class->out.ix - m->first_ix] = class->out.file_offset;
	}
}

static int by_index(const void *a, const void *b)
{
	const struct big_list *x = a, *y = b;

	return (x->ix > y->ix) - (x->ix < y->ix);
}

/* What an object tells about sizes, and how many there are. with_next: the next one's ID is known. */
static int note_object(const struct import *im, struct maker *m, uint32_t i, bool with_next,
		       struct hdb_error *err)
{
	const struct store_object *o = &m->objects[i];
	int r = HDB_OK;

	if (!m->ids[i])
		return HDB_OK;
	m->out->odd_count += im->has_odd_ids && m->ids[i] & 7 && !o->is_embedded;
	if (with_next && !import_is_apart(im, m->ids[i]) && !import_is_apart(im, m->ids[i + 1]))
		r = import_distances_add(&m->distances, o, m->ids[i + 1] - m->ids[i], err);
	else if (o->kind == STORE_INSTANCE)
		r = import_distances_pass(&m->distances, o, err);
	if (r == HDB_OK && o->kind != STORE_CLASS &&
	    (o->kind != STORE_INSTANCE || o->length || o->is_embedded))
		r = import_counts_add(&m->counting, o, err);
	return r;
}

static void mark_flat(const struct import *im, struct maker *m, uint32_t i)
{
	struct store_object *o = &m->objects[i];

	if (m->ids[i] > im->flat_last || !m->ids[i] || o->kind != STORE_INSTANCE)
		return;
	o->is_embedded = 1;
	m->out->flat_count++;
}

/* Reads the objects of the block, in the order of the dump, then those that it lacks. */
static int read_objects(struct import *im, struct maker *m, uint32_t with_next,
			struct hdb_error *err)
{
	struct slot *s = m->out;
	int r;

	find_classes(im, m);
	memset(m->raw_first, 0xff, s->count * sizeof(*m->raw_first));
	m->raw.count = 0;
	r = import_take_objects(im, m, err);
	for (uint32_t i = 0; i < s->count && r == HDB_OK; i++) {
		if (m->raw_first[i] == NOT_TAKEN)
			r = import_take_rest(im, m, i, err);
		if (im->is_android && r == HDB_OK)
			import_mark_embedded(im, m, i);
		if (im->flat_last && r == HDB_OK)
			mark_flat(im, m, i);
		if (r == HDB_OK)
			r = note_object(im, m, i, i + 1 < with_next, err);
	}
	if (s->big.count > 1)
		qsort(s->big.data, s->big.count, sizeof(struct big_list), by_index);
	if (r == HDB_OK)
		r = import_counts_flush(&m->counting, err);
	return r == HDB_OK ? import_distances_flush(&m->distances, err) : r;
}

static int make_block(struct import *im, struct maker *m, uint64_t item, struct hdb_error *err)
{
	struct slot *s = m->out;
	const uint32_t first_ix = (uint32_t)(item * STORE_BLOCK_OBJECTS);
	const uint32_t left = im->object_count - first_ix;
	const uint32_t with_next = left > STORE_BLOCK_OBJECTS ? STORE_BLOCK_OBJECTS + 1 : left;
	int r;

	empty_slot(s);
	s->count = left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS;
	m->first_ix = first_ix;
	idset_scan(&im->ids, first_ix, with_next, m->ids);
	s->first_id = m->ids[0];
	r = read_objects(im, m, with_next, err);
	if (r == HDB_OK)
		r = store_ids_encode(&s->ids_bytes, m->ids, s->count, first_ix, err);
	if (r == HDB_OK)
		r = store_objects_encode(&s->objects_bytes, m->objects, s->count,
					 im->file.id_size, im->heaps.count != 0, err);
	return r == HDB_OK ? resolve_lists(im, m, err) : r;
}

static int produce(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct resolve *v = ctx;
	struct maker *m;
	int r;

	pthread_mutex_lock(&v->lock);
	m = v->free_makers[--v->free_count];
	pthread_mutex_unlock(&v->lock);
	m->out = &v->slots[slot_no];
	m->distances.seen = &m->out->seen;
	m->counting.counted = &m->out->counted;
	r = make_block(v->im, m, item, err);
	pthread_mutex_lock(&v->lock);
	v->free_makers[v->free_count++] = m;
	pthread_mutex_unlock(&v->lock);
	return r;
}

static int consume(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct resolve *v = ctx;

	return import_write_block(v->im, &v->view, &v->slots[slot_no], item * STORE_BLOCK_OBJECTS, err);
}

/* ---- the pass ---- */

static void release(struct resolve *v, unsigned slot_count, unsigned maker_count)
{
	for (unsigned i = 0; v->slots && i < slot_count; i++) {
		struct slot *s = &v->slots[i];

		base_vec_release(&s->ids_bytes);
		base_vec_release(&s->objects_bytes);
		base_vec_release(&s->lists_bytes);
		base_vec_release(&s->held);
		base_vec_release(&s->missing);
		base_vec_release(&s->big);
		base_vec_release(&s->shorts);
		base_vec_release(&s->counted);
		base_vec_release(&s->seen.entries);
	}
	for (unsigned i = 0; v->makers && i < maker_count; i++) {
		struct maker *m = &v->makers[i];

		base_vec_release(&m->raw);
		base_vec_release(&m->found);
		base_vec_release(&m->targets);
		free(m->ids);
		free(m->offsets);
		free(m->raw_first);
		free(m->raw_end);
		free(m->objects);
	}
	free(v->slots);
	free(v->makers);
	free(v->free_makers);
}

static int make_makers(struct resolve *v, unsigned count, struct hdb_error *err)
{
	const size_t n = STORE_BLOCK_OBJECTS + 1;

	for (unsigned i = 0; i < count; i++) {
		struct maker *m = &v->makers[i];

		m->view.src = v->im->source;
		import_distances_init(&m->distances);
		m->counting.counts = &v->im->counts_by_class;
		m->ids = malloc(n * sizeof(*m->ids));
		m->offsets = malloc(n * sizeof(*m->offsets));
		m->raw_first = malloc(n * sizeof(*m->raw_first));
		m->raw_end = malloc(n * sizeof(*m->raw_end));
		m->objects = malloc(n * sizeof(*m->objects));
		if (!m->ids || !m->offsets || !m->raw_first || !m->raw_end || !m->objects)
			return hdb_fail_memory(err, "a block of objects", n * 56);
		v->free_makers[v->free_count++] = m;
	}
	return HDB_OK;
}

static int prepare(struct resolve *v, unsigned slot_count, unsigned maker_count,
		   struct hdb_error *err)
{
	v->slots = calloc(slot_count, sizeof(*v->slots));
	v->makers = calloc(maker_count, sizeof(*v->makers));
	v->free_makers = calloc(maker_count, sizeof(*v->free_makers));
	if (!v->slots || !v->makers || !v->free_makers)
		return hdb_fail_memory(err, "blocks of objects",
				       slot_count * sizeof(struct slot) +
				       maker_count * sizeof(struct maker));
	return make_makers(v, maker_count, err);
}

static int write_blocks(struct resolve *v, struct hdb_error *err)
{
	struct import *im = v->im;
	const uint64_t blocks = ((uint64_t)im->object_count + STORE_BLOCK_OBJECTS - 1) /
				STORE_BLOCK_OBJECTS;
	const struct base_pipeline pipeline = {
		.item_count = blocks, .threads = im->work->threads,
		.slot_count = 3 * im->work->threads, .ctx = v,
		.produce = produce, .consume = consume,
	};
	int r = prepare(v, pipeline.slot_count, pipeline.threads, err);

	base_stage(im->work, "resolving references", im->object_count, "objects");
	(void)pthread_mutex_init(&v->lock, NULL);
	if (r == HDB_OK)
		r = base_pipeline_run(&pipeline, err);
	(void)pthread_mutex_destroy(&v->lock);
	release(v, pipeline.slot_count, pipeline.threads);
	if (r == HDB_OK)
		r = store_put_table(im->writer, STORE_IDS, im->object_count, err);
	if (r == HDB_OK)
		r = store_put_table(im->writer, STORE_OBJECTS, im->object_count, err);
	if (r == HDB_OK)
		r = store_put_table(im->writer, STORE_REFERENCES, im->reference_count, err);
	if (r == HDB_OK)
		r = store_put_table(im->writer, STORE_REFERENCES_BIG, 0, err);
	return r;
}

int import_resolve(struct import *im, struct hdb_error *err)
{
	struct resolve v = { .im = im, .view = { .src = im->source } };
	int r = places_finish(&im->places, &im->file, &im->ids, STORE_BLOCK_OBJECTS, im->work, err);

	if (r == HDB_OK)
		r = import_counts_begin(im, err);
	if (r == HDB_OK)
		r = import_flat_begin(im, err);
	if (r == HDB_OK)
		r = write_blocks(&v, err);
	if (r == HDB_OK)
		r = import_flat_end(im, err);
	return r < 0 ? r : im->source->check(im->source, err);
}

/*
 * import/resolve.c - the pass over objects in index order, on several threads. It builds the blocks
 * of the `ids`, `objects` and `references` tables.
 */
#include "import/resolve.h"

#include "base/search.h"
#include "base/pipeline.h"
#include "base/processor.h"
#include "base/sort.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Maximum length of reference lists that are sorted to remove duplicates. */
#define SORT_MAX 32u
/*
 * Maximum length of lists that are sorted without data-dependent branches. A mispredicted branch
 * costs as much as five steps.
 */
#define BRANCH_FREE 14u

#define ALWAYS_INLINE inline __attribute__((always_inline))

struct resolve {
	struct import *im;
	struct slot *slots;
	struct block_builder *builders; /* one per thread */
	unsigned slot_count, builder_count;
	/*
	 * A stack of free builders. The most recently used builder comes first, because its data
	 * may still be in a core's cache.
	 */
	struct block_builder **free_builders;
	unsigned free_count;
	pthread_mutex_t lock;  /* protects free_builders and free_count */
	struct base_view view; /* used by the writing thread */
};

/* ---- class objects ---- */

/*
 * Returns the number of the first class whose class object has index `ix` or higher. Classes are
 * sorted by ID.
 */
static uint32_t class_from(struct import *im, uint32_t ix)
{
	struct base_search search = base_search_in((uint32_t)im->classes.count);

	while (base_search_next(&search))
		base_search_step(&search, import_class_at(im, (uint32_t)search.mid)->out.ix < ix);
	return (uint32_t)search.low;
}

/* Returns the index of the class object of class `no`, or UINT32_MAX after the last class. */
static uint32_t class_ix(struct import *im, uint32_t no)
{
	return no < im->classes.count ? import_class_at(im, no)->out.ix : UINT32_MAX;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- a reference list ---- */

/* Sorts a short list. If n is a constant, the compiler unrolls the loops. */
static ALWAYS_INLINE void sort(uint32_t *v, const size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t x = v[i];
		size_t k = i;

		for (; k && (n <= BRANCH_FREE || v[k - 1] > x); k--) {
			const uint32_t y = v[k - 1];

			v[k] = x > y ? x : y;
			x = x > y ? y : x;
		}
		v[k] = x;
	}
}

/*
 * Removes duplicates from a list, and returns the new length. Short lists are sorted. In long
 * lists, only equal neighbours are removed.
 */
static size_t make_distinct(uint32_t *v, size_t n)
{
	size_t kept = 1;

	if (n < 2)
		return n;
	if (n <= SORT_MAX)
		sort(v, n);
	for (size_t i = 1; i < n; i++) {
		v[kept] = v[i];
		kept += v[i] != v[kept - 1];
	}
	return kept;
}

/*
 * Adds the edges of a class object that are not static fields: the edges to its class loader and
 * its superclass.
 */
static int class_targets(struct import *im, struct base_vec *targets, uint32_t no,
			 struct hdb_error *err)
{
	const struct import_class *class = import_class_at(im, no);

	TRY(base_vec_push(targets, &class->out.loader_ix, sizeof(uint32_t), err));
	if (class->out.super_no == STORE_NONE)
		return HDB_OK;
	return base_vec_push(targets, &import_class_at(im, class->out.super_no)->out.ix,
			     sizeof(uint32_t), err);
}

static int note_missing(struct block_builder *m, uint32_t i, struct hdb_error *err)
{
	for (uint32_t k = m->raw_first[i]; k < m->raw_end[i]; k++) {
		if (*base_vec_at(&m->found, uint32_t, k) != IDSET_NONE)
			continue;
		TRY(import_note_missing(m->out, *base_vec_at(&m->raw, uint64_t, k), m->first_ix + i,
					err));
	}
	return HDB_OK;
}

/*
 * Returns the index of the object from which extra edge number `extra` starts, or UINT32_MAX after
 * the last edge.
 */
static uint32_t extra_ix(const struct import *im, size_t extra)
{
	return extra < im->links.extras.count ?
		       base_vec_at(&im->links.extras, struct import_edge, extra)->from_ix :
		       UINT32_MAX;
}

/* Adds the edges of object i that are not in a field of the dump. */
static int add_extras(struct import *im, struct block_builder *m, uint32_t i, struct hdb_error *err)
{
	const struct store_object o = import_get_object(m, i);
	const uint32_t ix = m->first_ix + i;

	if (o.kind == STORE_CLASS)
		TRY(class_targets(im, &m->targets, (uint32_t)o.length, err));
	/*
	 * Long arrays are written elsewhere and get no extra edges. An array can have extra edges
	 * only in a damaged dump, in which it is used as a thread.
	 */
	for (; extra_ix(im, m->extra) <= ix; m->extra++) {
		const struct import_edge *edge =
			base_vec_at(&im->links.extras, struct import_edge, m->extra);

		if (edge->from_ix == ix)
			TRY(base_vec_push(&m->targets, &edge->to_ix, sizeof(uint32_t), err));
	}
	return HDB_OK;
}

/* Keeps a list that is too long for the block until the block is written. */
static int hold_list(struct block_builder *m, uint32_t i, const uint32_t *targets, size_t n,
		     struct hdb_error *err)
{
	struct slot *s = m->out;
	const struct big_list held = {
		.ix = m->first_ix + i,
		.length = n,
		.start = s->held.count,
	};

	TRY(base_vec_reserve(&s->held, n, sizeof(uint32_t), err));
	memcpy((uint32_t *)s->held.data + s->held.count, targets, n * sizeof(uint32_t));
	s->held.count += n;
	return base_vec_push(&s->big, &held, sizeof(held), err);
}

/*
 * Collects the reference list of object i in m->targets. Needed only if some references lead to
 * missing objects, or if some edges are not in a field.
 */
static int gather_list(struct import *im, struct block_builder *m, uint32_t i,
		       struct hdb_error *err)
{
	const uint32_t *found = m->found.data;
	const uint32_t first = m->raw_first[i], end = m->raw_end[i];
	size_t n = 0;

	assert(first <= end);
	assert(end <= m->found.count);
	m->targets.count = 0;
	TRY(base_vec_reserve(&m->targets, end - first + 1, sizeof(uint32_t), err));
	for (uint32_t k = first; k < end; k++) {
		*base_vec_at(&m->targets, uint32_t, n) = found[k];
		n += found[k] != IDSET_NONE;
	}
	assert(n <= end - first);
	m->targets.count = n;
	if (n != end - first)
		TRY(note_missing(m, i, err));
	return add_extras(im, m, i, err);
}

/*
 * Returns the index of long array number `no` among the block's `count` long arrays, or UINT32_MAX
 * after the last one.
 */
static uint32_t array_ix(const struct slot *s, size_t no, size_t count)
{
	return no < count ? base_vec_at(&s->big, struct big_list, no)->ix : UINT32_MAX;
}

/* Sorts and writes a short list. If n is a constant, the compiler unrolls the loops. */
static ALWAYS_INLINE uint8_t *put_short(uint8_t *p, uint32_t ix, uint32_t *v, const uint32_t n,
					uint64_t *kept)
{
	sort(v, n);
	return store_put_short(p, ix, v, n, kept);
}

#define FEW(n) \
	case n: \
		p = put_short(p, ix, v, n, kept); \
		break;

/*
 * Writes the lists of the objects from i up to `end` whose references are all in m->found. Returns
 * the first object with a long list.
 */
static uint32_t put_group(const struct block_builder *m, uint32_t i, uint32_t end, uint8_t **out,
			  uint64_t *kept)
{
	uint32_t *found = m->found.data;
	uint8_t *p = *out;

	for (; i < end; i++) {
		uint32_t *v = found + m->raw_first[i];
		const uint32_t n = m->raw_end[i] - m->raw_first[i], ix = m->first_ix + i;

		if (n > SORT_MAX)
			break;
		switch (n) {
			FEW(0)
			FEW(1)
			FEW(2)
			FEW(3)
			FEW(4)
			FEW(5)
			FEW(6)
		default:
			p = put_short(p, ix, v, n, kept);
			break;
		}
	}
	*out = p;
	return i;
}

/*
 * Writes the lists from *i up to the first long list or `end`. The references of these lists are
 * all in m->found.
 */
static int put_run(struct block_builder *m, uint32_t *i, uint32_t end, struct hdb_error *err)
{
	uint32_t last = *i, done = *i;

	while (*i < end && done == last) {
		const uint32_t left = STORE_LIST_GROUP - *i % STORE_LIST_GROUP;
		uint64_t entries = 0;
		uint8_t *p;

		last = end - *i < left ? end : *i + left;
		for (uint32_t k = *i; k < last; k++)
			entries += m->raw_end[k] - m->raw_first[k];
		TRY(store_lists_reserve(&m->lists, last - *i, entries, &p, err));
		done = put_group(m, *i, last, &p, &m->out->reference_count);
		store_lists_written(&m->lists, done - *i, p);
		*i = done;
	}
	return HDB_OK;
}

/* Writes a list in memory, after removing duplicates in place. */
static int put_list(struct block_builder *m, uint32_t i, uint32_t *targets, size_t count,
		    struct hdb_error *err)
{
	const size_t n = make_distinct(targets, count);

	if (n > STORE_LIST_BIG)
		TRY(hold_list(m, i, targets, n, err));
	m->out->reference_count += n;
	return store_lists_add(&m->lists, targets, n, err);
}

/*
 * Writes the list of object i if the list is long, if it is in m->out->big, or if it has edges that
 * are not in a field or that lead to missing objects.
 */
static int put_odd(struct import *im, struct block_builder *m, uint32_t i,
		   const struct big_list *array, struct hdb_error *err)
{
	if (array) {
		m->out->reference_count += array->length;
		return store_lists_add(&m->lists, NULL, array->length, err);
	}
	TRY(gather_list(im, m, i, err));
	return put_list(m, i, m->targets.data, m->targets.count, err);
}

/*
 * Translates the block's references from IDs to indexes, and encodes the lists. Nearly all lists
 * are encoded directly from m->found. Lists are collected first for class objects and threads,
 * which have additional edges, and for a whole block if any of its references leads to a missing
 * object.
 */
static int write_lists(struct import *im, struct block_builder *m, struct hdb_error *err)
{
	struct slot *s = m->out;
	/*
	 * `big` contains the long arrays in index order; lists that were held back are appended
	 * after these arrays
	 */
	const size_t arrays = s->big.count;
	uint32_t next_class = class_from(im, m->first_ix);
	size_t array = 0;

	TRY(import_find_rest(im, m, err));
	TRY(store_lists_open(&m->lists, &s->lists_bytes, m->first_ix, s->count, err));
	assert(m->found.count == m->raw.count);
	m->extra = import_extras_from(im, m->first_ix);
	for (uint32_t i = 0;; i++) {
		const uint32_t array_at = array_ix(s, array, arrays);
		const uint32_t class_at = class_ix(im, next_class);
		uint32_t odd = least(array_at, least(class_at, extra_ix(im, m->extra)));
		bool is_array;

		/* In a damaged dump, a long array may have an extra edge, which is omitted. */
		if (m->found_count < m->raw.count || odd < m->first_ix + i)
			odd = m->first_ix + i;
		TRY(put_run(m, &i, least(odd - m->first_ix, s->count), err));
		if (i == s->count)
			return HDB_OK;
		is_array = array_at == m->first_ix + i;
		next_class += class_at == m->first_ix + i;
		TRY(put_odd(im, m, i,
			    is_array ? base_vec_at(&s->big, struct big_list, array++) : NULL, err));
	}
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

/* Sets the offsets of class objects. The locator finds only instances and arrays. */
static void find_classes(struct import *im, struct block_builder *m)
{
	const uint32_t count = m->out->count;

	memset(m->offsets, 0, count * sizeof(*m->offsets));
	for (uint32_t no = class_from(im, m->first_ix); no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);

		if (class->out.ix - m->first_ix >= count)
			break;
		if (class->has_dump)
			m->offsets[class->out.ix - m->first_ix] = class->out.file_offset;
	}
}

BASE_ORDER(by_index, struct big_list, BASE_UP(ix))

/* Reads the block's objects in file order, and then adds the objects that the dump lacks. */
static int read_objects(struct import *im, struct block_builder *m, struct hdb_error *err)
{
	struct slot *s = m->out;
	int r;

	if (m->dictionary.entries.count > BUILDER_ENTRIES_MAX)
		import_forget_classes(m);
	find_classes(im, m);
	memset(m->raw_first, 0xff, s->count * sizeof(*m->raw_first));
	m->taken = 0;
	m->raw.count = m->found.count = m->answered = m->lookup_end = m->found_count = 0;
	for (unsigned i = 0; i < BUILDER_LOOKUPS; i++)
		m->lookups[i].count = 0;
	m->is_noted = !im->origin.is_android && !im->flat.last;
	TRY(import_take_objects(im, m, err));
	if ((!m->is_noted || m->taken < s->count) && (r = import_take_rest(im, m, err)) != HDB_OK)
		return r;
	if (s->big.count > 1)
		qsort(s->big.data, s->big.count, sizeof(struct big_list), by_index);
	TRY(import_counts_flush(&m->counting, err));
	return import_distances_flush(&m->distances, err);
}

static int make_block(struct import *im, struct block_builder *m, uint64_t item,
		      struct hdb_error *err)
{
	struct slot *s = m->out;
	const uint32_t first_ix = (uint32_t)(item * STORE_BLOCK_OBJECTS);
	const uint32_t left = im->object_count - first_ix;

	assert(first_ix < im->object_count);
	empty_slot(s);
	s->count = left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS;
	m->first_ix = first_ix;
	m->id_count = left > STORE_BLOCK_OBJECTS ? STORE_BLOCK_OBJECTS + 1 : left;
	import_idset_scan(&im->ids, first_ix, m->id_count, m->ids);
	s->first_id = m->ids[0];
	TRY(read_objects(im, m, err));
	TRY(store_ids_encode(&s->ids_bytes, m->ids, s->count, first_ix, err));
	TRY(store_objects_encode(&s->objects_bytes, &m->dictionary,
				 &(struct store_objects_put){
					 .objects = m->objects,
					 .file_offsets = m->offsets,
					 .heap_nos = m->heap_nos,
					 .count = s->count,
				 },
				 err));
	return write_lists(im, m, err);
}

static int produce(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct resolve *v = ctx;
	struct block_builder *m;
	int r;

	pthread_mutex_lock(&v->lock);
	assert(v->free_count); /* there is one builder per thread */
	m = v->free_builders[--v->free_count];
	pthread_mutex_unlock(&v->lock);
	m->out = &v->slots[slot_no];
	m->distances.seen = &m->out->seen;
	m->counting.counted = &m->out->counted;
	r = make_block(v->im, m, item, err);
	pthread_mutex_lock(&v->lock);
	v->free_builders[v->free_count++] = m;
	pthread_mutex_unlock(&v->lock);
	return r;
}

static int consume(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct resolve *v = ctx;

	return import_write_block(v->im, &v->view, &v->slots[slot_no], item * STORE_BLOCK_OBJECTS,
				  err);
}

/* ---- the pass ---- */

static void release(struct resolve *v)
{
	for (unsigned i = 0; v->slots && i < v->slot_count; i++) {
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
	for (unsigned i = 0; v->builders && i < v->builder_count; i++) {
		struct block_builder *m = &v->builders[i];

		base_view_release(&m->view);
		base_vec_release(&m->raw);
		base_vec_release(&m->found);
		base_vec_release(&m->targets);
		free(m->heap_nos);
		store_objects_dictionary_release(&m->dictionary);
	}
	free(v->slots);
	free(v->builders);
	free(v->free_builders);
	base_view_release(&v->view);
}

static int prepare(struct resolve *v, struct hdb_error *err)
{
	static const char what[] = "blocks of objects";

	TRY(BASE_ALLOC(v->slots, v->slot_count, what, err));
	TRY(BASE_ALLOC(v->builders, v->builder_count, what, err));
	TRY(BASE_ALLOC(v->free_builders, v->builder_count, what, err));
	for (unsigned i = 0; i < v->builder_count; i++) {
		struct block_builder *m = &v->builders[i];

		m->view.src = v->im->source;
		import_distances_init(&m->distances);
		store_objects_dictionary_init(&m->dictionary, v->im->file.id_size);
		import_forget_classes(m);
		m->counting.counts = &v->im->evidence.counts_by_class;
		if (v->im->records.heaps.count)
			TRY(BASE_ALLOC(m->heap_nos, STORE_BLOCK_OBJECTS, what, err));
		v->free_builders[v->free_count++] = m;
	}
	return HDB_OK;
}

/* Builds and writes all blocks. */
static int run(struct resolve *v, struct hdb_error *err)
{
	struct import *im = v->im;
	const uint64_t blocks =
		((uint64_t)im->object_count + STORE_BLOCK_OBJECTS - 1) / STORE_BLOCK_OBJECTS;
	const struct base_pipeline pipeline = {
		.item_count = blocks,
		.threads = v->builder_count,
		.slot_count = v->slot_count,
		.ctx = v,
		.produce = produce,
		.consume = consume,
	};
	int r;

	base_stage(im->work, "resolving references", im->object_count, "objects");
	TRY(prepare(v, err));
	(void)pthread_mutex_init(&v->lock, NULL);
	r = base_pipeline_run(&pipeline, err);
	(void)pthread_mutex_destroy(&v->lock);
	return r;
}

static int write_blocks(struct import *im, struct hdb_error *err)
{
	BASE_SCOPED(release)
	struct resolve v = {
		.im = im,
		.view = { .src = im->source },
		.builder_count = im->work->threads,
		.slot_count = 3 * im->work->threads,
	};

	TRY(run(&v, err));
	TRY(store_put_table(im->writer, STORE_IDS, im->object_count, err));
	TRY(store_put_table(im->writer, STORE_OBJECTS, im->object_count, err));
	TRY(store_put_table(im->writer, STORE_REFERENCES, im->links.reference_count, err));
	return store_put_table(im->writer, STORE_REFERENCES_BIG, 0, err);
}

int import_resolve(struct import *im, struct hdb_error *err)
{
	im->locator.file = &im->file;
	im->locator.block_objects = STORE_BLOCK_OBJECTS;
	TRY(import_locator_finish(&im->locator, &im->ids, im->work, err));
	TRY(import_counts_begin(im, err));
	TRY(import_flat_begin(im, err));
	TRY(write_blocks(im, err));
	TRY(import_flat_end(im, err));
	return im->source->check(im->source, err);
}

/*
 * queries/waste/q_collections.c - the collections query: the number of lists, sets, maps and queues
 * of known classes, or of object arrays, how full they are, and how much memory their unused slots
 * take.
 *
 * The query makes one pass over the objects. Sums by class, ratio or size take little memory. To
 * list collections one by one, the query keeps the size and index of each (16 bytes), and measures
 * the collection again when its row is read.
 */
#include "analysis/collection_fill.h"
#include "derive/blocks.h"
#include "queries/queries.h"
#include "query/grouping.h"

#include <stdatomic.h>

/* Maximum number of steps that a ratio is divided into. */
#define SEGMENTS_MAX 1000u

#include <queries/waste/q_collections.query.h>

enum by { BY_CLASS, BY_SIZE, BY_FILL, BY_COLLISIONS, BY_OBJECT };

/* The collections of one row. */
struct sum {
	uint64_t key; /* class number, size or segment */
	uint64_t count, empty, elements, wasted_bytes, shallow_bytes, without_size, impossible;
	uint64_t empty_bytes; /* shallow size of the empty collections */
	/* number of collections at most half full, and size of their unused slots */
	uint64_t sparse, sparse_bytes;
	uint64_t sized, capacity; /* number of elements, and capacity, of collections with a
				   * capacity */
	/* number of elements in hash tables, and number of these elements that share a slot */
	uint64_t hashed, collided;
	uint64_t largest_size;
	uint32_t largest_ix;
	const char *kind;
};

/* A collection that is listed separately. */
struct one {
	uint64_t size;
	uint32_t ix;
};

struct collections {
	enum by by;
	uint64_t segments;
	uint8_t *wanted; /* indexed by class number: 1 if the class is requested; NULL if all
			  * classes are requested */
	struct analysis_measuring how;
	_Atomic uint64_t slots_left, steps_left; /* the remaining budgets of `how` */
	/* the counted collections, and the other (unreachable) collections */
	struct sum all, others;
	struct analysis_cut unsorted; /* collections that do not belong to a row */
	struct query_groups sums;     /* struct sum, by key */
	struct base_vec ones;         /* struct one */
};

/* ---- sums ---- */

/* Adds a collection. Of several equally large collections, the first is kept. */
static void add_to(struct sum *sum, const struct analysis_measure *m, uint32_t ix)
{
	if (!sum->count || m->size > sum->largest_size) {
		sum->largest_size = m->size;
		sum->largest_ix = ix;
	}
	sum->kind = m->kind;
	sum->count++;
	if (m->has_size && !m->size) {
		sum->empty++;
		sum->empty_bytes += m->shallow_bytes;
	} else if (m->has_capacity && m->wasted_bytes && m->size <= m->capacity / 2) {
		sum->sparse++;
		sum->sparse_bytes += m->wasted_bytes;
	}
	sum->elements += m->size;
	sum->wasted_bytes += m->wasted_bytes;
	sum->shallow_bytes += m->shallow_bytes;
	sum->without_size += !m->has_size;
	sum->impossible += m->has_lied;
	if (m->has_capacity && m->has_size) {
		sum->sized += m->size;
		sum->capacity += m->capacity;
	}
	if (m->has_used) {
		sum->hashed += m->size;
		sum->collided += m->size > m->used ? m->size - m->used : 0;
	}
}

/*
 * Returns the segment of a ratio. Segment 0 is for exactly 0, the second to last ends at 1, and the
 * last is for larger ratios.
 */
static uint64_t segment_of(const struct collections *s, double ratio)
{
	/* Subtracts a little, so that 3 / 5 belongs to the third of five steps. */
	const double steps = ratio * (double)s->segments - 1e-9;
	const uint64_t whole = steps > 0 ? (uint64_t)steps : 0;

	assert(s->segments > 0 && s->segments <= SEGMENTS_MAX);
	if (ratio > 1.0)
		return s->segments + 1;
	return whole + (steps > (double)whole);
}

static int count_one(struct collections *s, const struct analysis_measure *m, uint32_t ix,
		     struct hdb_error *err)
{
	const struct one one = { .size = m->size, .ix = ix };
	struct sum fresh = { .key = 0 };
	void *sum;

	add_to(&s->all, m, ix);
	if (s->by == BY_OBJECT)
		return base_vec_push(&s->ones, &one, sizeof(one), err);
	if ((s->by == BY_SIZE && !m->has_size) ||
	    (s->by == BY_FILL && (!m->has_capacity || !m->has_size)) ||
	    (s->by == BY_COLLISIONS && !m->has_used)) {
		/* the collection does not belong to a row */
		s->unsorted.rows = ANALYSIS_NOT_COUNTED;
		s->unsorted.objects++;
		s->unsorted.bytes += m->shallow_bytes;
		return HDB_OK;
	}
	fresh.key = s->by == BY_CLASS ? m->class_no :
		    s->by == BY_SIZE  ? m->size :
		    s->by == BY_FILL  ? segment_of(s, analysis_measure_fill(m)) :
					segment_of(s, analysis_measure_collisions(m));
	TRY(query_group_of(&s->sums, fresh.key, &fresh, &sum, err));
	add_to(sum, m, ix);
	return HDB_OK;
}

/* ---- the pass ---- */

/* A collection of a block. */
struct measured {
	struct analysis_measure m;
	uint32_t ix;
	bool is_reachable;
};

struct room {
	uint8_t reachable[STORE_BLOCK_OBJECTS];
	uint64_t slots, steps; /* the parts of the budgets that the block has used */
};

/*
 * Measures the collections of a block within the budgets that are left. bytes[0] contains struct
 * measured.
 */
static int measure_block(struct query *q, struct heap *heap, struct derive_block *block,
			 struct hdb_error *err)
{
	struct collections *s = q->state;
	const uint64_t slots = atomic_load(&s->slots_left), steps = atomic_load(&s->steps_left);
	const struct heap_block *b = block->objects;
	const struct session session = { .heap = heap };
	struct analysis_measuring how = s->how;
	struct room *room = block->room;
	int r;

	block->bytes[0].count = 0;
	how.slots_left = slots;
	how.steps_left = steps;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct heap_object object = {
			.ix = b->first_ix + i,
			.class_no = b->class_no[i],
			.kind = b->kind[i],
			.length = b->length[i],
			.shallow_bytes = b->shallow[i],
		};
		struct measured found = { .ix = object.ix, .is_reachable = room->reachable[i] };

		if (s->wanted && !s->wanted[object.class_no])
			continue;
		TRY_ERRORS(r = analysis_measure(&session, &how, &object, &found.m, err));
		if (r != HDB_OK)
			continue;
		TRY(base_vec_push(&block->bytes[0], &found, sizeof(found), err));
		/*
		 * Some objects take a long time, because chains are followed or slots are counted.
		 */
		TRY(base_check_cancelled(q->work, err));
	}
	room->slots = slots - how.slots_left;
	room->steps = steps - how.steps_left;
	return HDB_OK;
}

static int make_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct query *q = ctx;
	struct room *room = block->room;

	heap_prefetch_ahead(q->heap, block->block_no);
	TRY(derive_reachable_block(q->derive, block->block_no, room->reachable, err));
	return measure_block(q, block->twin, block, err);
}

/*
 * Counts the collections of a block. If earlier blocks have left less of the budgets than the block
 * used, measures the block again, so that the answer does not depend on the number of threads.
 */
static int take_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct query *q = ctx;
	struct collections *s = q->state;
	const struct room *room = block->room;

	if (room->slots >= s->slots_left || room->steps >= s->steps_left)
		TRY(measure_block(q, q->heap, block, err));
	s->slots_left -= room->slots;
	s->steps_left -= room->steps;
	for (size_t i = 0; i < block->bytes[0].count; i++) {
		const struct measured *found = base_vec_at(&block->bytes[0], struct measured, i);

		if (!found->is_reachable)
			add_to(&s->others, &found->m, found->ix);
		if (query_counts(q, found->is_reachable))
			TRY(count_one(s, &found->m, found->ix, err));
	}
	return HDB_OK;
}

static int look_at_all(struct query *q, struct hdb_error *err)
{
	struct collections *s = q->state;

	s->slots_left = s->how.slots_left;
	s->steps_left = s->how.steps_left;
	TRY(heap_open_dump(q->heap, err));
	if (!heap_block_count(q->heap))
		return HDB_OK;
	TRY(derive_prepare_reachable(q->derive, err));
	return derive_each_block(q->derive,
				 &(struct derive_pass){ .stage = "examining collections",
							.reads_objects = true,
							.has_twins = true,
							.make = make_block,
							.take = take_block,
							.ctx = q,
							.room_bytes = sizeof(struct room) },
				 err);
}

/* ---- order ---- */

BASE_ORDER(compare_ones, struct one, BASE_DOWN(size), BASE_UP(ix))

BASE_ORDER(compare_by_waste, struct sum, BASE_DOWN(wasted_bytes), BASE_DOWN(count), BASE_UP(key))

static void order_rows(struct query *q, struct collections *s)
{
	base_vec_sort(&s->ones, sizeof(struct one), compare_ones);
	base_vec_sort(&s->sums.list, sizeof(struct sum),
		      s->by == BY_CLASS ? compare_by_waste : base_compare_u64);
	q->total = s->by == BY_OBJECT ? s->ones.count : s->sums.list.count;
}

/* ---- opening ---- */

static void read_by(struct query *q, struct collections *s)
{
	static const char *const shown[] = {
		[BY_CLASS] = "class,kind,objects,empty,elements,capacity,fill,wasted,shallow,"
			     "largest_size,largest",
		[BY_SIZE] = "size,objects,wasted,shallow,largest",
		[BY_FILL] = "at_most,objects,elements,capacity,wasted,shallow,largest_size,largest",
		[BY_COLLISIONS] = "at_most,objects,elements,capacity,collisions,shallow,"
				  "largest_size,largest",
		[BY_OBJECT] = "id,class,label,kind,size,capacity,fill,collisions,wasted,shallow,"
			      "retained",
	};

	s->by = (enum by)query_choice(q, "by");
	query_choose(q, shown[s->by]);
}

static void set_facts(struct query *q, const struct collections *s)
{
	query_fact(q, "objects", s->all.count);
	query_fact(q, "empty", s->all.empty);
	query_fact(q, "empty_shallow", s->all.empty_bytes);
	query_fact(q, "sparse", s->all.sparse);
	query_fact(q, "sparse_wasted", s->all.sparse_bytes);
	query_fact(q, "elements", s->all.elements);
	query_fact(q, "wasted", s->all.wasted_bytes);
	if (s->all.without_size) {
		query_fact(q, "without_size", s->all.without_size);
	}
	if (s->all.impossible)
		query_fact(q, "impossible", s->all.impossible);
	query_report_unreachable(q, s->others.count, s->others.shallow_bytes);
	query_cut(q, &s->unsorted, "%s",
		  s->by == BY_SIZE ? "collections of unknown size" :
		  s->by == BY_FILL ? "collections of unknown capacity or size" :
				     "collections that are empty or are not maps with chains");
}

static int open_collections(struct query *q, struct hdb_error *err)
{
	struct collections *s = q->state;
	const bool is_arrays = query_option(q, "arrays") != NULL;

	read_by(q, s);
	s->segments = query_number(q, "segments", 0);
	if (is_arrays && s->by == BY_COLLISIONS)
		return hdb_fail(err, HDB_EUSAGE,
				"--by collisions cannot be combined with "
				"--arrays: arrays have no collisions");
	TRY(heap_load_classes(q->heap, err));
	if (q->target_count)
		TRY(analysis_class_marks(&q->session, q->targets[0], true, &s->wanted, err));
	s->sums.size = sizeof(struct sum);
	s->ones.work = q->work;
	analysis_measuring_init(&q->session, is_arrays, s->by == BY_COLLISIONS, &s->how);
	TRY(look_at_all(q, err));
	set_facts(q, s);
	order_rows(q, s);
	/* If collections are listed one by one, slots are counted when each row is read. */
	analysis_measuring_init(&q->session, is_arrays, true, &s->how);
	return HDB_OK;
}

/* ---- rows ---- */

static void set_sum(struct query *q, const struct collections *s, const struct sum *sum)
{
	assert(sum->count > 0 && sum->empty <= sum->count);
	assert(sum->collided <= sum->hashed);
	if (s->by == BY_CLASS) {
		query_set_text(q, CLASS, heap_class_name(q->heap, (uint32_t)sum->key));
		query_lend_text(q, KIND, sum->kind);
	} else if (s->by == BY_SIZE) {
		query_set(q, SIZE, sum->key);
	} else if (sum->key <= s->segments) {
		query_set_double(q, AT_MOST, (double)sum->key / (double)s->segments);
	}
	query_set(q, COUNT, sum->count);
	query_set(q, EMPTY, sum->empty);
	query_set(q, ELEMENTS, sum->elements);
	query_set(q, WASTED, sum->wasted_bytes);
	query_set(q, SHALLOW, sum->shallow_bytes);
	query_set(q, LARGEST_SIZE, sum->largest_size);
	if (sum->capacity) {
		query_set(q, CAPACITY, sum->capacity);
		query_set_double(q, FILL, (double)sum->sized / (double)sum->capacity);
	}
	if (sum->hashed)
		query_set_double(q, COLLISIONS, (double)sum->collided / (double)sum->hashed);
	query_set_id(q, LARGEST, sum->largest_ix);
}

static int set_one(struct query *q, struct collections *s, uint32_t ix, struct hdb_error *err)
{
	static const struct query_object_columns cells = {
		ID, CLASS, LABEL, SIZE_MAX, RETAINED,
	};
	struct heap_object object;
	struct analysis_measure m;
	int r;

	TRY(heap_object(q->heap, ix, &object, err));
	TRY_ERRORS(r = analysis_measure(&q->session, &s->how, &object, &m, err));
	if (r == HDB_OK)
		query_set_object(q, &cells, ix);
	query_lend_text(q, KIND, m.kind);
	if (m.has_size)
		query_set(q, SIZE, m.size);
	if (m.has_capacity)
		query_set(q, CAPACITY, m.capacity);
	if (m.has_capacity && m.has_size)
		query_set_double(q, FILL, analysis_measure_fill(&m));
	if (m.has_used)
		query_set_double(q, COLLISIONS, analysis_measure_collisions(&m));
	query_set(q, WASTED, m.wasted_bytes);
	query_set(q, SHALLOW, m.shallow_bytes);
	return HDB_OK;
}

static int collection_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct collections *s = q->state;

	if (s->by == BY_OBJECT)
		return set_one(q, s, base_vec_at(&s->ones, struct one, no)->ix, err);
	assert(no < s->sums.list.count);
	set_sum(q, s, base_vec_at(&s->sums.list, struct sum, no));
	return HDB_OK;
}

QUERY_DEFINE(collections, QUERY_STATE(struct collections, ones, sums, wanted),
	     .open = open_collections, .row = collection_row);

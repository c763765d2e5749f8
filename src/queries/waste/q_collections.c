/*
 * queries/waste/q_collections.c - lists, sets, maps and queues of known classes, or object arrays:
 * how many, how full, what their empty room costs.
 *
 * One pass over the objects. Sums by class, by ratio and by size are small; one by one they are
 * kept as (size, index), 16 bytes each, and measured again when their rows are given.
 */
#include "analysis/collection_fill.h"
#include "analysis/collection_stats.h"
#include "analysis/describe.h"
#include "queries/queries.h"
#include "query/coverage.h"
#include "query/object_columns.h"
#include "query/object_cells.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLASS,
	LABEL,
	KIND,
	AT_MOST,
	SIZE,
	COUNT,
	EMPTY,
	ELEMENTS,
	CAPACITY,
	FILL,
	COLLISIONS,
	WASTED,
	SHALLOW,
	RETAINED,
	LARGEST_SIZE,
	LARGEST,
	ID
};

/* Steps of a ratio that are told apart at most. */
#define SEGMENTS_MAX 1000u
/* Slots of the first table of sizes. */
#define FIRST_SLOTS 1024u

static const struct hdb_option_spec options[] = {
	{ "by", HDB_OPTION_CHOICE, "class|size|fill|collisions|object",
	  "what to count by; object: one by one, largest first", .default_value = "class" },
	{ "arrays", HDB_OPTION_FLAG,
	  .help = "object arrays instead of collections: their size is the elements that are "
		  "not null" },
	{ "segments", HDB_OPTION_NUMBER, "N", "steps of a ratio", .low = 1, .high = SEGMENTS_MAX,
	  .unit = "steps", .default_value = "5", .example = "4" },
	QUERY_POPULATION_OPTIONS("collections"),
	{ .name = NULL },
};

static const struct hdb_column columns[] = {
	{ "class", HDB_TYPE_TEXT, "class", "class of the collections" },
	{ "label", HDB_TYPE_TEXT, "object", "by object: what it is" },
	{ "kind", HDB_TYPE_TEXT, "kind", "list, set, map, queue, bits or array" },
	{ "at_most", HDB_TYPE_DOUBLE, "ratio <=",
	  "by fill and collisions: the ratio is at most this "
	  "and more than that of the row before; null: more than 1" },
	{ "size", HDB_TYPE_COUNT, "size", "by size and object: elements; null if it is not known" },
	{ "objects", HDB_TYPE_COUNT, "objects", "collections" },
	{ "empty", HDB_TYPE_COUNT, "empty", "of those, without elements" },
	{ "elements", HDB_TYPE_COUNT, "elements", "elements of all of them" },
	{ "capacity", HDB_TYPE_COUNT, "capacity",
	  "elements for which there is room, where arrays keep them" },
	{ "fill", HDB_TYPE_DOUBLE, "fill", "elements / capacity, of those with a capacity" },
	{ "collisions", HDB_TYPE_DOUBLE, "collisions",
	  "(elements - slots in use) / elements, of maps with chains" },
	{ "wasted", HDB_TYPE_BYTES, "wasted",
	  "bytes of array slots without an element; 0 for those "
	  "that wrap another one, where it is counted" },
	{ "shallow", HDB_TYPE_BYTES, "shallow",
	  "bytes of the collections and of the arrays that they "
	  "keep for themselves, without entry objects" },
	{ "retained", HDB_TYPE_BYTES, "retained",
	  "by object: retained size: what would be freed "
	  "without this object; null while the table is not built" },
	{ "largest_size", HDB_TYPE_COUNT, "largest size", "by class: elements of the largest" },
	{ "largest", HDB_TYPE_ID, "largest", "the largest one, of several the first by ID" },
	{ "id", HDB_TYPE_ID, "id", "by object: the collection" },
	QUERY_LABEL_COLUMNS,
	QUERY_NATIVE_COLUMN,
	QUERY_RETAINED_NATIVE_COLUMN,
};
QUERY_COLUMN_EACH(columns, ID + 5);

static const struct hdb_column facts[] = {
	{ "objects", HDB_TYPE_COUNT, "objects", "those that were looked at" },
	{ "empty", HDB_TYPE_COUNT, "empty", "of those, without elements" },
	{ "elements", HDB_TYPE_COUNT, "elements", "their elements, those of wrapped ones twice" },
	{ "wasted", HDB_TYPE_BYTES, "wasted", "bytes of array slots without an element" },
	{ "without_size", HDB_TYPE_COUNT, "without size", "whose size is not known" },
	{ "impossible", HDB_TYPE_COUNT, "impossible sizes",
	  "whose own count is more than there can be; cut to that" },
	QUERY_COVERAGE_FACTS,
};

enum by { BY_CLASS, BY_SIZE, BY_FILL, BY_COLLISIONS, BY_OBJECT };

/* A collection when they are listed one by one. */
struct one {
	uint64_t size;
	uint32_t ix;
};

struct collections {
	enum by by;
	uint64_t segments;
	uint8_t *wanted; /* by class number: 1 if named; NULL: all */
	struct analysis_measuring how;
	struct analysis_sum all;
	struct analysis_sum others;   /* unreachable ones */
	struct analysis_cut unsorted; /* those that fit in no row */
	struct analysis_sums sums;    /* rows, or a hash table of sizes while it is filled */
	struct base_big ones;         /* struct one */
	uint64_t one_count, one_room;
	uint64_t at; /* next row */
};

/* ---- sums ---- */

/* Segment of a ratio: 0 is 0 itself, the last but one ends at 1, the last is what is above. */
static uint64_t segment_of(const struct collections *s, double ratio)
{
	/* A little less, so that 3 / 5 is in the third of five steps. */
	const double steps = ratio * (double)s->segments - 1e-9;
	const uint64_t whole = steps > 0 ? (uint64_t)steps : 0;

	if (ratio > 1.0)
		return s->segments + 1;
	return whole + (steps > (double)whole);
}

/* Makes the list twice as long; both are there meanwhile. */
static int add_one(struct query *q, struct collections *s, const struct analysis_measure *m,
		   uint32_t ix, struct hdb_error *err)
{
	if (s->one_count == s->one_room) {
		const uint64_t room = s->one_room ? s->one_room * 2 : FIRST_SLOTS;
		struct base_big ones = { 0 };

		TRY_ERRORS(base_big_alloc(q->work, &ones, room * sizeof(struct one), "collections",
					  err));
		if (s->one_count)
			memcpy(ones.data, s->ones.data, s->one_count * sizeof(struct one));
		base_big_free(q->work, &s->ones);
		s->ones = ones;
		s->one_room = room;
	}
	((struct one *)s->ones.data)[s->one_count++] = (struct one){ .size = m->size, .ix = ix };
	return HDB_OK;
}

/* A collection that is in no row. */
static int leave_out(struct collections *s, const struct analysis_measure *m)
{
	s->unsorted.rows = ANALYSIS_NOT_COUNTED;
	s->unsorted.objects++;
	s->unsorted.bytes += m->shallow_bytes;
	return HDB_OK;
}

static int count_one(struct query *q, struct collections *s, const struct analysis_measure *m,
		     uint32_t ix, struct hdb_error *err)
{
	analysis_sum_add(&s->all, m, ix);
	switch (s->by) {
	case BY_CLASS:
		analysis_sum_add(&s->sums.sums[m->class_no], m, ix);
		return HDB_OK;
	case BY_SIZE:
		return m->has_size ? analysis_sums_add_size(&q->session, &s->sums, m, ix, err) :
				     leave_out(s, m);
	case BY_FILL:
		if (!m->has_capacity || !m->has_size)
			return leave_out(s, m);
		analysis_sum_add(&s->sums.sums[segment_of(s, analysis_measure_fill(m))], m, ix);
		return HDB_OK;
	case BY_COLLISIONS:
		if (!m->has_used)
			return leave_out(s, m);
		analysis_sum_add(&s->sums.sums[segment_of(s, analysis_measure_collisions(m))], m,
				 ix);
		return HDB_OK;
	default:
		return add_one(q, s, m, ix, err);
	}
}

/* ---- the pass ---- */

static int look_at_block(struct query *q, struct collections *s, const struct heap_block *block,
			 const uint8_t *reachable, struct hdb_error *err)
{
	int r;

	for (uint32_t i = 0; i < block->count; i++) {
		const struct heap_object object = {
			.ix = block->first_ix + i,
			.class_no = block->class_no[i],
			.kind = block->kind[i],
			.length = block->length[i],
			.shallow_bytes = block->shallow[i],
		};
		struct analysis_measure m;

		if (s->wanted && !s->wanted[object.class_no])
			continue;
		if ((r = analysis_measure(&q->session, &s->how, &object, &m, err)) < 0)
			return r;
		if (r != HDB_OK)
			continue;
		if (!reachable[i])
			analysis_sum_add(&s->others, &m, object.ix);
		if (query_counts(q, reachable[i]) && (r = count_one(q, s, &m, object.ix, err)) < 0)
			return r;
		/* Some are long: chains to walk, slots to count. */
		TRY_ERRORS(base_step(q->work, object.ix, err));
	}
	return HDB_OK;
}

struct looking {
	struct query *q;
	struct collections *collections;
};

static int look(void *ctx, const struct heap_block *block, const uint8_t *reachable,
		struct hdb_error *err)
{
	const struct looking *l = ctx;

	heap_want_ahead(l->q->heap, heap_block_no(block));
	return look_at_block(l->q, l->collections, block, reachable, err);
}

static int look_at_all(struct query *q, struct collections *s, struct hdb_error *err)
{
	struct looking looking = { q, s };

	TRY(heap_open_dump(q->heap, err));
	TRY(derive_need_reachable(q->derive, err));
	base_stage(q->work, "looking at collections", q->heap->object_count, "objects");
	return derive_each_reachable(q->derive, q->work, look, &looking, err);
}

/* ---- order ---- */

static int compare_ones(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

static void order_rows(struct query *q, struct collections *s)
{
	uint64_t kept = 0;

	if (s->by == BY_OBJECT) {
		if (s->one_count)
			qsort(s->ones.data, s->one_count, sizeof(struct one), compare_ones);
		q->total = s->one_count;
		return;
	}
	for (uint64_t i = 0; i < s->sums.slots; i++) {
		if (s->by != BY_SIZE)
			s->sums.sums[i].key = i;
		if (s->sums.sums[i].count)
			s->sums.sums[kept++] = s->sums.sums[i];
	}
	if (kept)
		qsort(s->sums.sums, kept, sizeof(struct analysis_sum),
		      s->by == BY_CLASS ? analysis_sum_by_waste : analysis_sum_by_key);
	q->total = kept;
}

/* ---- opening ---- */

static void read_by(struct query *q, struct collections *s)
{
	static const char *const shown[] = {
		[BY_CLASS] = "class,kind,objects,empty,elements,capacity,fill,wasted,shallow,"
			     "largest_size,largest",
		[BY_SIZE] = "size,objects,wasted,shallow,largest",
		[BY_FILL] = "at_most,objects,elements,capacity,wasted,shallow,largest_size,largest",
		[BY_COLLISIONS] = "at_most,objects,elements,capacity,collisions,shallow,largest_"
				  "size,largest",
		[BY_OBJECT] = "id,class,label,kind,size,capacity,fill,collisions,wasted,shallow,"
			      "retained",
	};

	s->by = (enum by)query_choice(q, "by");
	query_choose(q, shown[s->by]);
}

static int make_room(struct query *q, struct collections *s, struct hdb_error *err)
{
	s->sums.slots = s->by == BY_CLASS  ? q->heap->class_count :
			s->by == BY_SIZE   ? FIRST_SLOTS :
			s->by == BY_OBJECT ? 0 :
					     s->segments + 2;
	s->sums.sums = calloc(s->sums.slots + 1, sizeof(struct analysis_sum));
	return s->sums.sums ?
		       HDB_OK :
		       hdb_fail_memory(err, "sums", s->sums.slots * sizeof(struct analysis_sum));
}

static int mark_classes(struct query *q, struct collections *s, struct hdb_error *err)
{
	if (!q->target_count)
		return HDB_OK;
	return analysis_class_marks(&q->session, q->targets[0], true, &s->wanted, err);
}

static void set_facts(struct query *q, const struct collections *s)
{
	query_fact(q, "objects", s->all.count);
	query_fact(q, "empty", s->all.empty);
	query_fact(q, "elements", s->all.elements);
	query_fact(q, "wasted", s->all.wasted_bytes);
	if (s->all.without_size) {
		query_fact(q, "without_size", s->all.without_size);
	}
	if (s->all.impossible)
		query_fact(q, "impossible", s->all.impossible);
	query_tell_unreachable(q, s->others.count, s->others.shallow_bytes);
	query_cut(q, &s->unsorted, "%s",
		  s->by == BY_SIZE ? "collections whose size is not known" :
		  s->by == BY_FILL ? "collections without a capacity, or whose size is not known" :
				     "collections that are no maps with chains, or are empty");
}

static int open_collections(struct query *q, struct hdb_error *err)
{
	struct collections *s = q->state;
	const bool is_arrays = query_option(q, "arrays") != NULL;
	int r;

	read_by(q, s);
	s->segments = query_number(q, "segments", 0);
	if (is_arrays && s->by == BY_COLLISIONS)
		return hdb_fail(err, HDB_EUSAGE, "--by collisions: arrays have none");
	TRY(heap_load_classes(q->heap, err));
	TRY(mark_classes(q, s, err));
	TRY(make_room(q, s, err));
	analysis_measuring_init(&q->session, is_arrays, s->by == BY_COLLISIONS, &s->how);
	if ((r = look_at_all(q, s, err)) != HDB_OK)
		goto out;
	set_facts(q, s);
	order_rows(q, s);
out:
	/* Rows that show one at a time look at its slots. */
	analysis_measuring_init(&q->session, is_arrays, true, &s->how);
	return r;
}

/* ---- rows ---- */

static void set_sum(struct query *q, const struct collections *s, const struct analysis_sum *sum)
{
	if (s->by == BY_CLASS) {
		query_set_text(q, CLASS, heap_class_name(q->heap, (uint32_t)sum->key));
		query_lend_text(q, KIND, sum->kind, strlen(sum->kind));
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

	TRY_ERRORS(heap_object(q->heap, ix, &object, err));
	if ((r = analysis_measure(&q->session, &s->how, &object, &m, err)) < 0)
		return r;
	if (r == HDB_OK)
		query_set_object(q, &cells, ix);
	query_lend_text(q, KIND, m.kind, strlen(m.kind));
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

static int next_collections(struct query *q, struct hdb_error *err)
{
	struct collections *s = q->state;
	const uint64_t at = s->at++;

	if (at >= q->total)
		return HDB_END;
	if (s->by == BY_OBJECT)
		return set_one(q, s, ((const struct one *)s->ones.data)[at].ix, err);
	set_sum(q, s, &s->sums.sums[at]);
	return HDB_OK;
}

static void close_collections(struct query *q)
{
	struct collections *s = q->state;

	base_big_free(q->work, &s->ones);
	free(s->sums.sums);
	free(s->wanted);
}

const struct query_def query_collections = {
	.spec = {
		.name = "collections",
		.group = "waste", .example = "'java.util.HashMap' --by fill",
		.targets = "[PATTERN]",
		.target_types = HDB_TARGET_PATTERN, .target_min = 0, .target_max = 1,
		.summary = "fill ratio, size and collisions of collections, or of object arrays",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
	},
	.population = ANALYSIS_OF_REACHABLE,
	.uses = QUERY_USES_STRENGTH | QUERY_USES_HEAP | QUERY_HAS_NATIVE | QUERY_IF_KNOWN,
	.keeps = STORE_ANSWER_COLLECTIONS,
	.state_size = sizeof(struct collections),
	.open = open_collections, .next = next_collections, .close = close_collections,
};

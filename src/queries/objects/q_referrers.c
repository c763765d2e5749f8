/*
 * queries/objects/q_referrers.c - the referrers query: the objects that refer to an object, and
 * how.
 */
#include "queries/queries.h"

#define NAME_MAX_BYTES 512

#include <queries/objects/q_referrers.query.h>

struct referrers {
	uint32_t ix;
	uint32_t class_no; /* the class whose instances are listed, or HEAP_NONE */
	struct store_lists lists;
	const uint32_t *batch;
	size_t count, at;
	uint8_t *is_wanted;      /* indexed by class number: whether instances of the class are
				  * listed; owned */
	struct heap_block block; /* block of instances */
	uint32_t block_no, i;    /* the next block */
};

struct instances {
	uint32_t class_no;
	uint64_t count;
};

static int add_instances(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct instances *s = ctx;

	(void)err;
	if (count->class_no == s->class_no)
		s->count += count->count;
	return HDB_OK;
}

static int mark_class(struct query *q, struct referrers *s, uint32_t class_no,
		      struct hdb_error *err)
{
	TRY(BASE_ALLOC(s->is_wanted, (size_t)q->heap->class_count + 1, "classes", err));
	s->is_wanted[class_no] = 1;
	return HDB_OK;
}

/* Reads the next block with instances: HDB_OK or HDB_END. */
static int read_next_block(struct query *q, struct referrers *s, struct hdb_error *err)
{
	bool has = false;

	assert(s->is_wanted);
	while (!has && s->block_no < heap_block_count(q->heap))
		TRY(heap_block_has(q->heap, s->block_no++, s->is_wanted, &has, err));
	return has ? heap_read_block_of(q->heap, s->block_no - 1, s->is_wanted, &s->block, err) :
		     HDB_END;
}

/*
 * Counts instances of a class, using the import's counts or, if they are missing, by reading the
 * blocks that contain instances.
 */
static int count_instances(struct query *q, struct referrers *s, uint32_t class_no, uint64_t *count,
			   struct hdb_error *err)
{
	struct instances sum = { .class_no = class_no };
	int r = heap_each_count(q->heap, add_instances, &sum, err);

	if (r == HDB_NOTFOUND) {
		while ((r = read_next_block(q, s, err)) == HDB_OK)
			for (uint32_t i = 0; i < s->block.count; i++)
				sum.count += s->block.class_no[i] == class_no &&
					     s->block.kind[i] != HEAP_LEFT_OUT &&
					     s->block.first_ix + i != HEAP_BOOT_LOADER;
		s->block.count = 0;
		s->block_no = 0;
	}
	*count = sum.count;
	return r < 0 ? r : HDB_OK;
}

/*
 * Counts the referrers that belong to the population. For an unreachable object these are all its
 * referrers, because they are unreachable too.
 */
static int count_referrers(struct query *q, struct referrers *s, uint64_t *count,
			   struct hdb_error *err)
{
	uint64_t others = 0, bytes = 0;
	bool reachable;
	int r;

	*count = 0;
	TRY(derive_is_reachable(q->derive, s->ix, &reachable, err));
	if (!reachable && !query_option(q, "unreachable"))
		q->population = ANALYSIS_OF_ALL;
	while ((r = store_lists_next(&s->lists, &s->batch, &s->count, err)) == HDB_OK && s->count)
		for (size_t i = 0; i < s->count; i++) {
			struct heap_object object;

			TRY(derive_is_reachable(q->derive, s->batch[i], &reachable, err));
			*count += query_counts(q, reachable);
			if (reachable)
				continue;
			TRY(heap_object(q->heap, s->batch[i], &object, err));
			others++;
			bytes += object.shallow_bytes;
		}
	s->count = 0;
	TRY(r);
	query_report_unreachable(q, others, bytes);
	return store_lists_begin(&s->lists, s->ix, NULL, err);
}

static int open_referrers(struct query *q, struct hdb_error *err)
{
	struct referrers *s = q->state;
	struct heap_object object;
	uint64_t length = 0, instances = 0;

	s->class_no = HEAP_NONE;
	TRY(analysis_object(&q->session, q->targets[0], &s->ix, err));
	TRY(heap_object(q->heap, s->ix, &object, err));
	TRY(derive_referrers(q->derive, &s->lists, err));
	TRY(store_lists_begin(&s->lists, s->ix, &length, err));
	query_fact_object(q, s->ix);
	TRY(count_referrers(q, s, &length, err));
	query_fact(q, "referrers", length);
	q->total = length;
	if (object.kind != STORE_CLASS)
		return HDB_OK;
	TRY(mark_class(q, s, (uint32_t)object.length, err));
	TRY(count_instances(q, s, (uint32_t)object.length, &instances, err));
	query_fact(q, "instances", instances);
	if (query_option(q, "instances")) {
		s->class_no = (uint32_t)object.length;
		q->total =
			q->population == ANALYSIS_OF_ALL ? length + instances : QUERY_TOTAL_UNKNOWN;
	}
	return HDB_OK;
}

/* Returns the next instance of the class. */
static int next_instance(struct query *q, struct referrers *s, uint32_t *ix, struct hdb_error *err)
{
	if (s->class_no == HEAP_NONE)
		return HDB_END;
	for (;;) {
		if (s->i >= s->block.count) {
			TRY(read_next_block(q, s, err));
			s->i = 0;
		}
		*ix = s->block.first_ix + s->i;
		if (s->block.class_no[s->i++] == s->class_no && *ix != HEAP_BOOT_LOADER)
			return HDB_OK;
	}
}

static int next_ix(struct query *q, struct referrers *s, uint32_t *ix, struct hdb_error *err)
{
	assert(s->at <= s->count);
	if (s->at == s->count) {
		const int r = store_lists_next(&s->lists, &s->batch, &s->count, err);

		s->at = 0;
		TRY(r);
		if (!s->count)
			return next_instance(q, s, ix, err);
	}
	*ix = s->batch[s->at++];
	return HDB_OK;
}

static int next_referrers(struct query *q, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	struct referrers *s = q->state;
	char name[NAME_MAX_BYTES] = "";
	uint8_t strength;
	uint32_t ix;
	bool reachable;

	do {
		TRY(next_ix(q, s, &ix, err));
		TRY(derive_is_reachable(q->derive, ix, &reachable, err));
	} while (!query_counts(q, reachable));
	query_set_object(q, &cells, ix);
	TRY(analysis_holder(&q->session, ix, s->ix, BASE_TEXT(name), err));
	query_set_text(q, NAME, name);
	TRY(heap_strength(q->heap, ix, s->ix, &strength, err));
	query_set_text(q, STRENGTH, analysis_strength_name(strength));
	query_set(q, REACHABLE, reachable);
	return HDB_OK;
}

QUERY_DEFINE(referrers, QUERY_STATE(struct referrers, is_wanted), .open = open_referrers,
	     .next = next_referrers);

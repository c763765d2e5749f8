/*
 * queries/retained/q_histogram.c - the histogram query: number and size of objects by class,
 * superclass, package, class loader, heap or call stack.
 */
#include "heap/heap_database.h"
#include "queries/queries.h"
#include "query/conditions.h"

#include <queries/retained/q_histogram.query.h>

#define NAME_SIZE 64

struct histogram {
	struct analysis_groups groups;
	struct analysis_groups native; /* the same groups; shallow_bytes is native memory */
	char (*heap_names)[NAME_SIZE]; /* indexed by heap, if groups are heaps; otherwise NULL */
};

/*
 * Sets facts with the sums over classes, because sums over superclasses would count objects several
 * times.
 */
static int set_facts(struct query *q, const struct analysis_groups *groups, bool is_shallow,
		     struct hdb_error *err)
{
	BASE_SCOPED(analysis_groups_release) struct analysis_groups classes = { 0 };
	struct derive_total sum;

	if (groups->by == DERIVE_SUPERCLASS) {
		TRY(is_shallow ? analysis_count_groups(&q->session, DERIVE_CLASS,
						       ANALYSIS_COUNT_ALL, &classes, err) :
				 analysis_load_groups(&q->session, DERIVE_CLASS, &classes, err));
		groups = &classes;
	}
	analysis_add_groups(groups, &sum);
	if (!is_shallow)
		analysis_choose_counts(&sum, q->population);
	query_fact(q, "objects", sum.count);
	query_fact(q, "shallow", sum.shallow_bytes);
	if (!is_shallow)
		query_report_unreachable(q, sum.unreachable_count, sum.unreachable_bytes);
	return HDB_OK;
}

/*
 * Replaces the counts with the counts of the population, and drops groups without objects. If
 * reachable objects are counted, keeps groups of only unreachable objects, too, because these have
 * their own columns.
 */
static void choose_counts(const struct query *q, struct analysis_groups *groups)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++) {
		struct derive_total total = groups->totals[i];

		analysis_choose_counts(&total, q->population);
		if (total.count ||
		    (total.unreachable_count && q->population == ANALYSIS_OF_REACHABLE))
			groups->totals[kept++] = total;
	}
	assert(kept <= groups->count);
	groups->count = kept;
}

static void choose_columns(struct query *q, enum derive_group by, bool is_shallow, bool has_native)
{
	const bool is_lost = q->population == ANALYSIS_OF_UNREACHABLE;
	const bool is_class = by == DERIVE_CLASS || by == DERIVE_SUPERCLASS;
	char names[128];

	(void)snprintf(
		names, sizeof(names), "name%s,objects,shallow%s%s%s", is_class ? ",loader" : "",
		is_shallow || is_lost ? "" : ",retained,unreachable_objects,unreachable_shallow",
		is_class || by == DERIVE_LOADER ? ",id" : "", has_native ? ",native" : "");
	query_choose(q, names);
}

/* ---- by Android's heaps ---- */

/* The columns of one block. */
struct heap_columns {
	struct heap_block objects;
	uint64_t native[STORE_BLOCK_OBJECTS];
	uint32_t heap_no[STORE_BLOCK_OBJECTS];
	uint8_t reachable[STORE_BLOCK_OBJECTS];
};

static int count_heaps(struct query *q, struct histogram *h, struct heap_columns *block,
		       struct hdb_error *err)
{

	TRY(heap_load_classes(q->heap, err));
	for (uint32_t b = 0; b < heap_block_count(q->heap); b++) {
		TRY(heap_read_block(q->heap, b, &block->objects, err));
		TRY(heap_read_heaps(q->heap, b, block->heap_no, err));
		TRY(derive_reachable_block(q->derive, b, block->reachable, err));
		TRY(derive_native_block(q->derive, b, block->native, err));
		for (uint32_t i = 0; i < block->objects.count; i++) {
			const uint32_t no = block->heap_no[i];

			if (!heap_is_counted(q->heap, &block->objects, i) || no >= h->groups.count)
				continue;
			analysis_count_object(&h->groups.totals[no], block->objects.shallow[i],
					      block->reachable[i]);
			if (query_counts(q, block->reachable[i]))
				h->native.totals[no].shallow_bytes += block->native[i];
		}
		TRY(base_step(q->work, block->objects.first_ix, err));
	}
	return HDB_OK;
}

static int name_heaps(struct query *q, struct histogram *h, size_t count, struct hdb_error *err)
{
	struct store_heap heap;

	(void)snprintf(h->heap_names[0], NAME_SIZE, "default");
	for (size_t no = 1; no < count; no++) {
		TRY(heap_record(q->heap, STORE_HEAPS, no - 1, &heap, err));
		TRY(heap_text(q->heap, heap.name_text, h->heap_names[no], NAME_SIZE, err));
	}
	return HDB_OK;
}

/* Makes a group for each heap, numbered like the heap, and one for objects that are in no heap. */
static int open_heaps(struct query *q, struct histogram *h, struct hdb_error *err)
{
	const size_t count = (size_t)heap_record_count(q->heap, STORE_HEAPS) + 1;
	BASE_FREED struct heap_columns *block = malloc(sizeof(*block));
	bool has_native = false;
	char names[128];

	h->heap_names = calloc(count, NAME_SIZE);
	h->groups.totals = calloc(count, sizeof(*h->groups.totals));
	h->native.totals = calloc(count, sizeof(*h->native.totals));
	h->groups.count = h->native.count = count;
	if (!block || !h->heap_names || !h->groups.totals || !h->native.totals)
		return hdb_fail_memory(err, "heaps", count * NAME_SIZE);
	for (size_t no = 0; no < count; no++)
		h->groups.totals[no].no = h->native.totals[no].no = (uint32_t)no;
	TRY_ERRORS(name_heaps(q, h, count, err));
	TRY(derive_has_native(q->derive, &has_native, err));
	TRY(count_heaps(q, h, block, err));
	TRY_ERRORS(set_facts(q, &h->groups, false, err));
	choose_counts(q, &h->groups);
	q->total = h->groups.count;
	analysis_sort_groups(&h->groups, ANALYSIS_BY_SHALLOW);
	query_fact(q, "groups", q->total);
	(void)snprintf(names, sizeof(names), "name,objects,shallow%s%s",
		       q->population == ANALYSIS_OF_UNREACHABLE ?
			       "" :
			       ",unreachable_objects,unreachable_shallow",
		       has_native ? ",native" : "");
	query_choose(q, names);
	return HDB_OK;
}

/* ---- opening ---- */

static int open_groups(struct query *q, struct histogram *h, bool is_shallow, struct hdb_error *err)
{
	const enum derive_group by = query_by(q);
	struct analysis_groups *groups = &h->groups;
	bool has_native = false;

	TRY(query_check_conditions(q, 1, NULL, err));
	if (!is_shallow)
		TRY(analysis_native_groups(&q->session, by, &h->native, &has_native, err));
	choose_columns(q, by, is_shallow, has_native);
	TRY(is_shallow ? analysis_count_groups(&q->session, by, ANALYSIS_COUNT_ALL, groups, err) :
			 analysis_load_groups(&q->session, by, groups, err));
	TRY(set_facts(q, groups, is_shallow, err));
	choose_counts(q, groups);
	choose_counts(q, &h->native);
	query_fact(q, "groups", groups->count);
	TRY(query_judge(q, &q->session, 1, NULL, err));
	if (q->target_count)
		TRY(analysis_filter_groups(&q->session, groups, q->targets[0], err));
	analysis_sort_groups(groups, ANALYSIS_BY_SHALLOW);
	q->total = groups->count;
	return HDB_OK;
}

static int open_histogram(struct query *q, struct hdb_error *err)
{
	const bool is_shallow = query_option(q, "shallow") != NULL;
	const char *by = query_text(q, "by");
	const bool is_special = strcmp(by, "heap") == 0 || strcmp(by, "call-stack") == 0;
	struct histogram *h = q->state;

	if (is_special && (is_shallow || q->target_count || query_option(q, "fail-if")))
		return hdb_fail(err, HDB_EUSAGE,
				"--by %s cannot be combined with a pattern, --shallow or --fail-if",
				by);
	if (is_shallow && q->population == ANALYSIS_OF_UNREACHABLE)
		return hdb_fail(err, HDB_EUSAGE,
				"--shallow counts all objects and cannot be "
				"combined with --unreachable");
	if (strcmp(by, "call-stack") == 0)
		return query_become(q, &query_call_tree, err);
	if (is_shallow)
		q->population = ANALYSIS_OF_ALL;
	return is_special ? open_heaps(q, h, err) : open_groups(q, h, is_shallow, err);
}

static int group_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct histogram *h = q->state;
	const struct analysis_groups *groups = &h->groups;
	const struct derive_total *total = &groups->totals[no];

	(void)err;
	assert(no < groups->count);
	query_set(q, COUNT, total->count);
	query_set(q, SHALLOW, total->shallow_bytes);
	query_set(q, UNREACHABLE_COUNT, total->unreachable_count);
	query_set(q, UNREACHABLE_SHALLOW, total->unreachable_bytes);
	query_set(q, NATIVE, analysis_group_native(&h->native, total->no));
	if (h->heap_names) {
		query_set_text(q, NAME, h->heap_names[total->no]);
		return HDB_OK;
	}
	query_set_group(q, NAME, groups, total);
	query_set(q, RETAINED, total->retained_bytes);
	query_set_group_objects(q, ID, LOADER, groups, total);
	return HDB_OK;
}

QUERY_DEFINE(histogram, QUERY_STATE(struct histogram, groups, native, heap_names),
	     .open = open_histogram, .row = group_row);

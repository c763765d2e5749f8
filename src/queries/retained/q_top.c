/*
 * queries/retained/q_top.c - the top query: the largest objects without a dominator, or the largest
 * classes, packages or class loaders.
 */
#include "analysis/dominator_children.h"
#include "queries/queries.h"

#include <queries/retained/q_top.query.h>

struct top {
	struct analysis_level level;   /* objects, if grouped by object */
	struct analysis_groups groups; /* groups, if grouped otherwise */
	struct analysis_groups native; /* the same groups; shallow_bytes is native memory */
	bool is_grouped;
	uint64_t whole; /* retained size of all roots */
};

static int set_facts(struct query *q, struct top *t, struct hdb_error *err)
{
	struct derive_total whole;

	TRY(analysis_heap_total(&q->session, &whole, err));
	t->whole = whole.retained_bytes;
	query_fact(q, "heap_objects", whole.count);
	query_fact(q, "heap_shallow", whole.shallow_bytes);
	query_report_unreachable(q, whole.unreachable_count, whole.unreachable_bytes);
	query_fact_text(q, "bound", t->is_grouped ? "lower bound" : "exact");
	return HDB_OK;
}

static int open_objects(struct query *q, struct top *t, struct hdb_error *err)
{
	query_choose(q, "id,class,label,shallow,retained,percent");
	TRY(analysis_level_begin(&q->session, HEAP_NONE, true, &t->level, err));
	q->total = t->level.length;
	return HDB_OK;
}

static int open_groups(struct query *q, struct top *t, struct hdb_error *err)
{
	const enum derive_group by = query_by(q);
	bool has_native = false;
	char names[128];
	size_t kept = 0;

	q->extra.is_used = false;
	TRY(analysis_native_groups(&q->session, by, &t->native, &has_native, err));
	(void)snprintf(names, sizeof(names), "%sname,%sobjects,shallow,retained,percent%s",
		       by == DERIVE_PACKAGE ? "" : "id,",
		       by == DERIVE_PACKAGE || by == DERIVE_LOADER ? "" : "loader,",
		       has_native ? ",native" : "");
	query_choose(q, names);
	TRY(analysis_load_groups(&q->session, by, &t->groups, err));
	for (size_t i = 0; i < t->groups.count; i++)
		if (t->groups.totals[i].count || t->groups.totals[i].retained_bytes)
			t->groups.totals[kept++] = t->groups.totals[i];
	t->groups.count = kept;
	analysis_sort_groups(&t->groups, ANALYSIS_BY_RETAINED);
	q->total = t->groups.count;
	return HDB_OK;
}

static int open_top(struct query *q, struct hdb_error *err)
{
	const char *by = query_option(q, "by");
	struct top *t = q->state;

	t->is_grouped = by && strcmp(by, "object") != 0;
	TRY(t->is_grouped ? open_groups(q, t, err) : open_objects(q, t, err));
	return set_facts(q, t, err);
}

static int group_row(struct query *q, const struct top *t, const struct derive_total *total)
{
	query_set_group(q, NAME, &t->groups, total);
	query_set(q, COUNT, total->count);
	query_set(q, SHALLOW, total->shallow_bytes);
	query_set(q, RETAINED, total->retained_bytes);
	query_set(q, q->extra.native, analysis_group_native(&t->native, total->no));
	query_set_double(q, PERCENT, analysis_percent(total->retained_bytes, t->whole));
	query_set_group_objects(q, ID, LOADER, &t->groups, total);
	return HDB_OK;
}

static int top_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	struct top *t = q->state;
	uint32_t ix;

	if (t->is_grouped)
		return group_row(q, t, &t->groups.totals[no]);
	TRY(analysis_level_next(&q->session, &t->level, &ix, err));
	query_set_object(q, &cells, ix);
	query_set_double(q, PERCENT, analysis_percent(q->cells[RETAINED].u, t->whole));
	return HDB_OK;
}

QUERY_DEFINE(top, QUERY_STATE(struct top, groups, native), .open = open_top, .row = top_row);

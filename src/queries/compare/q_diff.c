/*
 * queries/compare/q_diff.c - the diff query, which shows the changes between two or more dumps.
 *
 * The queried database is the newest dump. Arguments name the older dumps. This file reads options,
 * sets facts and chooses columns. The parts are in diff_groups.c, diff_objects.c, diff_tree.c,
 * diff_growth.c and diff_owners.c.
 */
#include "queries/compare/diff.h"
#include "queries/queries.h"

/* Maximum length of a number in the `steps` column, including the separating space. */
#define STEP_BYTES 21

/* ---- figures ---- */

static int64_t difference(uint64_t now, uint64_t before)
{
	return (int64_t)(now - before);
}

static const char *status_of(const struct diff_figures *first, const struct diff_figures *last)
{
	if (!first->count && !first->retained_bytes && (last->count || last->retained_bytes))
		return "new";
	if (!last->count && !last->retained_bytes && (first->count || first->retained_bytes))
		return "gone";
	if (last->retained_bytes != first->retained_bytes)
		return last->retained_bytes > first->retained_bytes ? "grown" : "shrunk";
	if (last->count != first->count)
		return last->count > first->count ? "grown" : "shrunk";
	return "same";
}

int diff_set_steps(struct query *q, const struct diff *d, const struct diff_figures *by_side,
		   size_t column, struct hdb_error *err)
{
	BASE_FREED char *text = NULL;
	size_t used = 0;

	TRY(BASE_ALLOC(text, d->side_count * STEP_BYTES + 1, "a row", err));
	for (size_t s = 0; s < d->side_count; s++)
		used += (size_t)snprintf(text + used, STEP_BYTES + 1, "%s%" PRIu64, s ? " " : "",
					 column == DIFF_COUNTS ? by_side[s].count :
								 by_side[s].retained_bytes);
	query_set_text(q, column, text);
	return HDB_OK;
}

int diff_set_figures(struct query *q, const struct diff *d, const struct diff_figures *by_side,
		     struct hdb_error *err)
{
	const struct diff_figures *first = &by_side[0], *last = &by_side[d->side_count - 1];
	const int64_t delta = difference(last->retained_bytes, first->retained_bytes);
	const char *status = status_of(first, last);
	bool grows = true;

	query_set(q, DIFF_COUNT_BEFORE, first->count);
	query_set(q, DIFF_COUNT, last->count);
	query_set_int(q, DIFF_COUNT_DELTA, difference(last->count, first->count));
	query_set(q, DIFF_SHALLOW_BEFORE, first->shallow_bytes);
	query_set(q, DIFF_SHALLOW, last->shallow_bytes);
	query_set_int(q, DIFF_SHALLOW_DELTA, difference(last->shallow_bytes, first->shallow_bytes));
	query_set(q, DIFF_RETAINED_BEFORE, first->retained_bytes);
	query_set(q, DIFF_RETAINED, last->retained_bytes);
	query_set_int(q, DIFF_RETAINED_DELTA, delta);
	query_set_double(q, DIFF_PERCENT,
			 d->whole_bytes[0] ? 100.0 * (double)delta / (double)d->whole_bytes[0] : 0);
	query_lend_text(q, DIFF_STATUS, status);
	if (d->side_count <= 2)
		return HDB_OK;
	for (size_t s = 1; s < d->side_count; s++)
		grows &= by_side[s].retained_bytes > by_side[s - 1].retained_bytes;
	query_set(q, DIFF_GROWS, grows);
	return diff_set_steps(q, d, by_side, DIFF_STEPS, err);
}

/* ---- opening ---- */

static int open_sides(struct query *q, struct diff *d, struct hdb_error *err)
{
	d->side_count = q->before_count + 1;
	TRY(BASE_ALLOC(d->sides, d->side_count, "a comparison", err));
	TRY(BASE_ALLOC(d->whole_bytes, d->side_count, "a comparison", err));
	for (size_t s = 0; s < d->side_count; s++) {
		d->sides[s] = s < q->before_count ? q->before[s] : q->session;
		for (size_t t = 0; t < s; t++)
			if (d->sides[t].heap == d->sides[s].heap)
				return hdb_fail(err, HDB_EUSAGE,
						"the same database handle is passed twice");
	}
	return HDB_OK;
}

static void read_by(const struct query *q, struct diff *d)
{
	const unsigned others = query_choice(q, "by");

	/* The option's other values are class, superclass, package and loader, in this order. */
	d->group = query_by(q);
	d->by = others <= DERIVE_LOADER ?
			DIFF_BY_GROUP :
			(enum diff_by)(DIFF_BY_OBJECT + others - DERIVE_LOADER - 1);
}

/* Sets a fact if the dumps' sizes were computed in different ways. */
static void compare_sizes(struct query *q, const struct diff *d)
{
	const struct heap_layout *a = &d->sides[0].heap->layout;

	for (size_t s = 1; s < d->side_count; s++) {
		const struct heap_layout *b = &d->sides[s].heap->layout;

		if (a->model != b->model || a->header_bytes != b->header_bytes ||
		    a->reference_bytes != b->reference_bytes || a->align_bytes != b->align_bytes) {
			query_fact_text(q, "sizes",
					"the dumps have different size models or layouts");
			return;
		}
	}
}

static int set_facts(struct query *q, struct diff *d, struct hdb_error *err)
{
	struct derive_total first = { 0 }, last = { 0 }, total;

	for (size_t s = 0; s < d->side_count; s++) {
		const int r = analysis_heap_total(&d->sides[s], &total, err);

		d->whole_bytes[s] = total.shallow_bytes;
		if (s == 0)
			first = total;
		last = total;
		/* Free the memory of these tables before the tables of the next dump are built. */
		base_work_release(d->sides[s].work);
		TRY(r);
	}
	query_fact(q, "dumps", d->side_count);
	query_fact(q, "heap_objects_before", first.count);
	query_fact(q, "heap_objects", last.count);
	query_fact(q, "heap_shallow_before", first.shallow_bytes);
	query_fact(q, "heap_shallow", last.shallow_bytes);
	query_fact_int(q, "heap_shallow_delta",
		       difference(last.shallow_bytes, first.shallow_bytes));
	query_report_unreachable(q, last.unreachable_count, last.unreachable_bytes);
	compare_sizes(q, d);
	return HDB_OK;
}

/* Part and columns of each kind of comparison. */
static const struct {
	const struct diff_part *part;
	/* columns_of_many: additional columns for more than two dumps */
	const char *columns, *columns_of_many;
} parts[] = {
	[DIFF_BY_GROUP] = { &diff_groups,
			    "status,name,objects_before,objects,objects_delta,shallow_before,"
			    "shallow,shallow_delta,retained_before,retained,retained_delta,percent",
			    ",grows,steps" },
	[DIFF_BY_OBJECT] = { &diff_objects, "status,id,name,shallow,retained", "" },
	[DIFF_BY_PATH] = { &diff_tree, DIFF_TREE_COLUMNS, ",grows,steps" },
	[DIFF_BY_DOMINATOR] = { &diff_tree, DIFF_TREE_COLUMNS, ",grows,steps" },
	[DIFF_BY_SUSPECT] = { &diff_tree,
			      "status,name,id,objects_before,objects,retained_before,retained,"
			      "retained_delta,percent,point_delta,point_id,point,point_of",
			      ",grows,steps" },
	[DIFF_BY_GROWTH] = { &diff_growth,
			     "level,name,objects_before,objects,objects_delta,retained_before,"
			     "retained,retained_delta,retained_alone,id",
			     ",counts,steps" },
	[DIFF_BY_OWNER] = { &diff_owners,
			    "status,name,held,objects_before,objects,objects_delta,"
			    "retained_before,retained,retained_delta,percent,id,owner_before,text",
			    ",grows,steps" },
};

static void choose(struct query *q, const struct diff *d)
{
	const bool has_loader = d->by == DIFF_BY_GROUP &&
				(d->group == DERIVE_CLASS || d->group == DERIVE_SUPERCLASS);
	char text[512];

	(void)snprintf(text, sizeof(text), "%s%s%s", parts[d->by].columns,
		       has_loader ? ",loader" : "",
		       d->side_count > 2 ? parts[d->by].columns_of_many : "");
	query_choose(q, text);
}

static const struct query_measure suspects = { "suspects", diff_count_suspects };

static int open_diff(struct query *q, struct hdb_error *err)
{
	struct diff *d = q->state;
	const struct diff_part *part;

	if (!q->before_count)
		return hdb_fail(err, HDB_EUSAGE, "expected the database of an earlier dump");
	read_by(q, d);
	TRY(query_check_conditions(q, q->before_count + 1, &suspects, err));
	TRY(open_sides(q, d, err));
	choose(q, d);
	d->only = query_option(q, "only");
	TRY(set_facts(q, d, err));
	part = parts[d->by].part;
	d->part = base_alloc(1, part->state_size, "a comparison", err);
	TRY(d->part ? HDB_OK : HDB_ENOMEM);
	TRY(part->open(q, d, err));
	return query_judge(q, d->sides, d->side_count, &suspects, err);
}

static int diff_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct diff *d = q->state;

	assert(d->side_count >= 2 && (size_t)d->by < BASE_COUNT(parts));
	return parts[d->by].part->row(q, d, no, err);
}

/* Sets the next row, for parts that do not know their number of rows. */
static int next_object(struct query *q, struct hdb_error *err)
{
	return diff_row(q, 0, err);
}

static void close_diff(struct query *q)
{
	struct diff *d = q->state;

	if (d->part && parts[d->by].part->close)
		parts[d->by].part->close(d);
	free(d->part);
	free(d->sides);
	free(d->whole_bytes);
}

QUERY_DEFINE(diff, .state_size = sizeof(struct diff), .open = open_diff, .next = next_object,
	     .row = diff_row, .close = close_diff, .takes_before = true);

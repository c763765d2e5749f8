/*
 * queries/retained/q_histogram.c - how many objects of each class, superclass, package or loader
 * there are, and how large.
 */
#include "analysis/groups.h"
#include "queries/queries.h"
#include "query/common_options.h"
#include "query/conditions.h"
#include "query/coverage.h"
#include "query/object_cells.h"

#include <stdlib.h>

enum { NAME, LOADER, COUNT, SHALLOW, RETAINED, UNREACHABLE_COUNT, UNREACHABLE_SHALLOW, ID };

static const struct hdb_option_spec options[] = {
	{ "by", HDB_OPTION_CHOICE, "class|superclass|package|loader",
	  "what to count by; a superclass counts its subclasses too", .default_value = "class" },
	{ "shallow", HDB_OPTION_FLAG,
	  .help = "count and shallow size of all objects, reachable or not, as the import "
		  "counted them; builds no table; no retained sizes" },
	QUERY_FAIL_IF,
	{ .name = NULL },
};

static const struct hdb_column columns[] = {
	{ "name", HDB_TYPE_TEXT, "name",
	  "class, superclass, package or class of the class loader" },
	{ "loader", HDB_TYPE_TEXT, "loader", "the class's loader; only by class and superclass" },
	{ "objects", HDB_TYPE_COUNT, "objects", "reachable objects; with --shallow all objects" },
	{ "shallow", HDB_TYPE_BYTES, "shallow", "bytes of these objects themselves" },
	{ "retained", HDB_TYPE_BYTES, "retained >=",
	  "bytes they retain at least: the sum over those "
	  "that no other of them dominates; not with --shallow" },
	{ "unreachable_objects", HDB_TYPE_COUNT, "unreachable",
	  "unreachable objects; not with "
	  "--shallow" },
	{ "unreachable_shallow", HDB_TYPE_BYTES, "unreachable bytes",
	  "bytes of the unreachable "
	  "objects; not with --shallow" },
	{ "id", HDB_TYPE_ID, "id", "class object, or the loader by loader; none by package" },
};

static const struct hdb_column facts[] = {
	{ "groups", HDB_TYPE_COUNT, "groups", "groups that have objects, before the pattern" },
	{ "objects", HDB_TYPE_COUNT, "objects",
	  "reachable objects of the whole heap; with --shallow "
	  "all objects" },
	{ "shallow", HDB_TYPE_BYTES, "shallow", "their bytes" },
	QUERY_FAIL_IF_FACTS,
	QUERY_COVERAGE_FACTS,
};

/* The sum over all objects; superclasses would count them several times. */
static int set_facts(struct query *q, const struct analysis_groups *groups, bool is_shallow,
		     struct hdb_error *err)
{
	struct analysis_groups classes = { 0 };
	struct derive_total sum;
	int r = HDB_OK;

	if (groups->by == DERIVE_SUPERCLASS) {
		r = is_shallow ? analysis_count_groups(&q->session, DERIVE_CLASS,
						       ANALYSIS_COUNT_ALL, &classes, err) :
				 analysis_load_groups(&q->session, DERIVE_CLASS, &classes, err);
		groups = r == HDB_OK ? &classes : groups;
	}
	analysis_add_groups(groups, &sum);
	analysis_groups_release(&classes);
	if (r == HDB_OK)
		r = query_fact(q, "objects", sum.count, err);
	if (r == HDB_OK)
		r = query_fact(q, "shallow", sum.shallow_bytes, err);
	if (r == HDB_OK && !is_shallow)
		r = query_tell_unreachable(q, sum.unreachable_count, sum.unreachable_bytes, err);
	return r;
}

static int choose_columns(struct query *q, enum derive_group by, bool is_shallow,
			  struct hdb_error *err)
{
	const bool is_class = by == DERIVE_CLASS || by == DERIVE_SUPERCLASS;

	if (is_shallow)
		return query_choose(q,
				    is_class            ? "name,loader,objects,shallow,id" :
				    by == DERIVE_LOADER ? "name,objects,shallow,id" :
							  "name,objects,shallow",
				    err);
	return query_choose(
		q,
		is_class ?
			"name,loader,objects,shallow,retained,unreachable_objects,"
			"unreachable_shallow,id" :
		by == DERIVE_LOADER ?
			"name,objects,shallow,retained,unreachable_objects,unreachable_shallow,id" :
			"name,objects,shallow,retained,unreachable_objects,unreachable_shallow",
		err);
}

static int open_histogram(struct query *q, struct hdb_error *err)
{
	const bool is_shallow = query_option(q, "shallow") != NULL;
	struct analysis_groups *groups = calloc(1, sizeof(*groups));
	enum derive_group by = DERIVE_CLASS;
	int r;

	q->state = groups;
	if (!groups)
		return hdb_fail_memory(err, "a histogram", sizeof(*groups));
	q->population = is_shallow ? ANALYSIS_OF_ALL : ANALYSIS_OF_REACHABLE;
	r = query_check_conditions(q, 1, false, err);
	by = query_by(q);
	if (r == HDB_OK)
		r = choose_columns(q, by, is_shallow, err);
	if (r == HDB_OK)
		r = is_shallow ? analysis_count_groups(&q->session, by, ANALYSIS_COUNT_ALL, groups,
						       err) :
				 analysis_load_groups(&q->session, by, groups, err);
	if (r == HDB_OK)
		r = query_fact(q, "groups", groups->count, err);
	if (r == HDB_OK)
		r = set_facts(q, groups, is_shallow, err);
	if (r == HDB_OK)
		r = query_judge(q, &q->session, 1, NULL, err);
	if (r == HDB_OK && q->target_count)
		r = analysis_filter_groups(&q->session, groups, q->targets[0], err);
	if (r != HDB_OK)
		return r;
	analysis_sort_groups(groups, ANALYSIS_BY_SHALLOW);
	q->total = groups->count;
	return HDB_OK;
}

static int next_histogram(struct query *q, struct hdb_error *err)
{
	struct analysis_groups *groups = q->state;
	const struct derive_total *total = &groups->totals[groups->at];
	int r = HDB_OK;

	if (groups->at == groups->count)
		return HDB_END;
	groups->at++;
	query_set_group(q, NAME, groups, total);
	query_set(q, COUNT, total->count);
	query_set(q, SHALLOW, total->shallow_bytes);
	query_set(q, RETAINED, total->retained_bytes);
	query_set(q, UNREACHABLE_COUNT, total->unreachable_count);
	query_set(q, UNREACHABLE_SHALLOW, total->unreachable_bytes);
	if (groups->by == DERIVE_LOADER)
		return query_set_id(q, ID, total->no, err);
	if (groups->by == DERIVE_PACKAGE)
		return HDB_OK;
	query_set(q, ID, heap_class(q->heap, total->no)->class_id);
	r = query_set_loader(q, LOADER, heap_class(q->heap, total->no)->loader_ix, err);
	return r;
}

static void close_histogram(struct query *q)
{
	if (q->state)
		analysis_groups_release(q->state);
	free(q->state);
}

const struct query_def query_histogram = {
	.spec = {
		.name = "histogram", .aliases = "histo|class-histogram",
		.group = "sizes", .example = "--by package",
		.targets = "[PATTERN]",
		.target_types = HDB_TARGET_PATTERN, .target_min = 0, .target_max = 1,
		.summary = "class histogram: objects and bytes by class, superclass, package or class loader",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.population = ANALYSIS_OF_REACHABLE,
	.uses = QUERY_USES_STRENGTH | QUERY_USES_HEAP,
	.open = open_histogram, .next = next_histogram, .close = close_histogram,
};

/*
 * query/q_unreachable.c - the garbage in the dump: objects that no root reaches, by class.
 */
#include "query/groups.h"
#include "query/queries.h"

#include <stdlib.h>

enum { NAME, COUNT, SHALLOW, PERCENT };

static const struct hdb_option_spec options[] = {
	{ "by", "class|superclass|package|loader", "what to count by (class)" },
	{ NULL, NULL, NULL },
};

static const struct hdb_column columns[] = {
	{ "name", HDB_TYPE_TEXT, "name", "class, super class, package or loader class" },
	{ "count", HDB_TYPE_COUNT, "objects", "unreachable objects" },
	{ "shallow", HDB_TYPE_BYTES, "shallow", "their bytes" },
	{ "percent", HDB_TYPE_DOUBLE, "%", "share of all unreachable bytes" },
};

static const struct hdb_column facts[] = {
	{ "unreachable_objects", HDB_TYPE_COUNT, "unreachable objects", "objects that no root "
	  "reaches" },
	{ "unreachable_shallow", HDB_TYPE_BYTES, "unreachable bytes", "their bytes" },
	{ "objects", HDB_TYPE_COUNT, "reachable objects", "objects that a root reaches" },
	{ "shallow", HDB_TYPE_BYTES, "reachable bytes", "their bytes" },
};

struct unreachable {
	struct query_groups groups;
	uint64_t bytes; /* of all unreachable objects */
};

static int load(struct query *q, enum derive_group by, struct query_groups *out,
		struct hdb_error *err)
{
	/* Totals need the dominator tree; telling who is reachable does not. */
	return derive_has(q->derive, STORE_TOTALS) ? query_load_groups(q, by, out, err) :
	       query_count_groups(q, by, QUERY_COUNT_REACHED, out, err);
}

static int set_facts(struct query *q, struct unreachable *u, struct hdb_error *err)
{
	struct query_groups classes = { 0 };
	struct derive_total sum = { 0 };
	int r = HDB_OK;

	if (u->groups.by == DERIVE_SUPERCLASS)
		r = load(q, DERIVE_CLASS, &classes, err);
	query_add_groups(classes.totals ? &classes : &u->groups, &sum);
	query_groups_release(&classes);
	u->bytes = sum.unreachable_bytes;
	if (r == HDB_OK)
		r = query_fact(q, "unreachable_objects", sum.unreachable_count, err);
	if (r == HDB_OK)
		r = query_fact(q, "unreachable_shallow", sum.unreachable_bytes, err);
	if (r == HDB_OK)
		r = query_fact(q, "objects", sum.count, err);
	return r == HDB_OK ? query_fact(q, "shallow", sum.shallow_bytes, err) : r;
}

static int open_unreachable(struct query *q, struct hdb_error *err)
{
	struct unreachable *u = calloc(1, sizeof(*u));
	enum derive_group by = DERIVE_CLASS;
	size_t kept = 0;
	int r;

	q->state = u;
	if (!u)
		return hdb_fail_memory(err, "a histogram", sizeof(*u));
	r = query_targets(q, 0, 1, err);
	if (r == HDB_OK)
		r = query_by(q, DERIVE_CLASS, &by, err);
	if (r == HDB_OK)
		r = load(q, by, &u->groups, err);
	if (r == HDB_OK)
		r = set_facts(q, u, err);
	if (r != HDB_OK)
		return r;
	for (size_t i = 0; i < u->groups.count; i++)
		if (u->groups.totals[i].unreachable_count)
			u->groups.totals[kept++] = u->groups.totals[i];
	u->groups.count = kept;
	if (q->args->target_count)
		r = query_filter_groups(q, &u->groups, q->args->targets[0], err);
	query_sort_groups(&u->groups, QUERY_BY_UNREACHABLE);
	q->total = u->groups.count;
	return r;
}

static int next_unreachable(struct query *q, struct hdb_error *err)
{
	struct unreachable *u = q->state;
	const struct derive_total *total = &u->groups.totals[u->groups.at];

	(void)err;
	if (u->groups.at == u->groups.count)
		return HDB_END;
	u->groups.at++;
	query_set_group(q, NAME, &u->groups, total);
	query_set(q, COUNT, total->unreachable_count);
	query_set(q, SHALLOW, total->unreachable_bytes);
	query_set_double(q, PERCENT, query_percent(total->unreachable_bytes, u->bytes));
	return HDB_OK;
}

static void close_unreachable(struct query *q)
{
	struct unreachable *u = q->state;

	if (u)
		query_groups_release(&u->groups);
	free(u);
}

const struct query_def query_unreachable = {
	.spec = {
		.name = "unreachable", .targets = "[PATTERN]",
		.summary = "objects that no root reaches, by class, super class, package or loader",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.open = open_unreachable, .next = next_unreachable, .close = close_unreachable,
};

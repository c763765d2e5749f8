/*
 * queries/waste/q_unreachable.c - query unreachable: the garbage in the dump, that is objects that
 * no root reaches, by class or by the objects that hold them.
 */
#include "analysis/describe.h"
#include "analysis/groups.h"
#include "base/glob.h"
#include "base/sort.h"
#include "queries/queries.h"
#include "queries/waste/garbage.h"
#include "query/common_options.h"
#include "query/coverage.h"
#include "query/object_cells.h"

#include <string.h>

static const struct hdb_option_spec options[] = {
	{ "by", HDB_OPTION_CHOICE, "class|superclass|package|loader|holder",
	  "What to count by. A holder is an unreachable object that no other object references.",
	  .default_value = "class" },
	{ "holders", HDB_OPTION_FLAG, .help = "List the holders one by one, largest first" },
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(ID, ID, "id", "id", \
	  "ID of the holder, or of the largest holder of this class. Only with --by holder.") \
	X(NAME, TEXT, "name", "name", \
	  "Name of the class, superclass, package, loader class or holder's class") \
	X(LABEL, TEXT, "label", "object", "Label of the holder. Only with --holders.") \
	X(HOLDERS, COUNT, "holders", "holders", "Holders of this class. Only with --by holder.") \
	X(COUNT, COUNT, "objects", "objects", \
	  "Number of unreachable objects. With --by holder, those not reached by an earlier " \
	  "holder.") \
	X(SHALLOW, BYTES, "shallow", "shallow", QUERY_HELP_SHALLOW_SUM) \
	X(PERCENT, PERCENT, "percent", "%", "Share of all unreachable bytes")
enum { COLUMNS(QUERY_NUMBER) LABEL_KIND, LABEL_VALUE, NATIVE };
static const struct hdb_column columns[] = {
	COLUMNS(QUERY_COLUMN) QUERY_LABEL_COLUMNS,
	{ "native", HDB_TYPE_BYTES, "native",
	  "Native memory owned by these objects, if recorded. Not included in other columns." }
};

static const struct hdb_column facts[] = {
	{ "holders", HDB_TYPE_COUNT, "holders",
	  "Unreachable objects that no other object references. Only with --by holder." },
	{ "objects", HDB_TYPE_COUNT, "reachable objects", "Reachable objects" },
	{ "shallow", HDB_TYPE_BYTES, "reachable bytes", "Shallow size of these objects" },
	QUERY_COVERAGE_FACTS,
};

/* The holders of one class. */
struct holder_group {
	uint64_t holders, count, bytes, native_bytes;
	uint32_t class_no;
	uint32_t biggest; /* index in `tops` of the one that holds most bytes */
};

struct unreachable {
	struct analysis_groups groups;
	struct analysis_groups native; /* by the same groups; not by holder */
	uint64_t bytes;                /* of all unreachable objects */
	bool by_holder, is_list, has_native;
	struct base_vec tops;     /* struct analysis_garbage_top; by holder */
	struct base_vec by_class; /* struct holder_group; by holder, unless is_list */
};

/* ---- by holder ---- */

/* Most bytes first, then by ID. */
BASE_ORDER(compare_tops, struct analysis_garbage_top, BASE_DOWN(bytes), BASE_UP(ix))

/* Most bytes first, then by class. */
BASE_ORDER(compare_groups, struct holder_group, BASE_DOWN(bytes), BASE_UP(class_no))

/* Adds up holders by class. PATTERN keeps those whose class matches. */
static int group_tops(struct query *q, struct unreachable *u, struct hdb_error *err)
{
	struct analysis_garbage_top *tops = u->tops.data;
	const char *pattern = q->target_count ? q->targets[0] : NULL;
	BASE_FREED struct holder_group *groups = NULL;
	size_t kept = 0;

	TRY(BASE_ALLOC(groups, (size_t)q->heap->class_count + 1, "classes", err));
	for (size_t i = 0; i < u->tops.count; i++) {
		struct heap_object object;
		struct holder_group *g;

		TRY(heap_object(q->heap, tops[i].ix, &object, err));
		if (pattern && !base_glob(pattern, heap_class_name(q->heap, object.class_no)))
			continue;
		g = &groups[object.class_no];
		if (!g->holders)
			*g = (struct holder_group){
				.class_no = object.class_no,
				.biggest = (uint32_t)kept,
			};
		tops[kept++] = tops[i];
		g->holders++;
		g->count += tops[i].count;
		g->bytes += tops[i].bytes;
		g->native_bytes += tops[i].native_bytes;
	}
	u->tops.count = kept;
	for (uint32_t no = 0; no < q->heap->class_count; no++)
		if (groups[no].holders)
			TRY(base_vec_push(&u->by_class, &groups[no], sizeof(*groups), err));
	base_vec_sort(&u->by_class, sizeof(*groups), compare_groups);
	if (pattern && !kept)
		return hdb_fail(err, HDB_NOTFOUND, "no holder has a class named %s", pattern);
	return HDB_OK;
}

static int open_holders(struct query *q, struct unreachable *u, struct hdb_error *err)
{
	TRY(analysis_garbage_tops(&q->session, &u->tops, err));
	query_fact(q, "holders", u->tops.count);
	/* Sorted, so the first of each class is its largest. */
	base_vec_sort(&u->tops, sizeof(struct analysis_garbage_top), compare_tops);
	TRY(group_tops(q, u, err));
	q->total = u->is_list ? u->tops.count : u->by_class.count;
	return HDB_OK;
}

static void set_holder(struct query *q, const struct unreachable *u,
		       const struct analysis_garbage_top *top)
{
	query_set(q, COUNT, top->count);
	query_set(q, SHALLOW, top->bytes);
	query_set(q, NATIVE, top->native_bytes);
	query_set_double(q, PERCENT, analysis_percent(top->bytes, u->bytes));
	query_set_label(q, LABEL, top->ix);
}

static void holder_row(struct query *q, const struct unreachable *u, size_t no)
{
	const struct analysis_garbage_top *tops = u->tops.data, *top;

	if (u->is_list) {
		top = &tops[no];
		set_holder(q, u, top);
	} else {
		const struct holder_group *g = base_vec_at(&u->by_class, struct holder_group, no);

		top = &tops[g->biggest];
		query_set(q, HOLDERS, g->holders);
		query_set(q, COUNT, g->count);
		query_set(q, SHALLOW, g->bytes);
		query_set(q, NATIVE, g->native_bytes);
		query_set_double(q, PERCENT, analysis_percent(g->bytes, u->bytes));
	}
	query_set_class_of(q, NAME, top->ix);
	query_set_id(q, ID, top->ix);
}

/* ---- by class and so on ---- */

static int load(struct query *q, enum derive_group by, struct analysis_groups *out,
		struct hdb_error *err)
{
	/* Totals need the dominator tree; reachability does not. */
	return derive_has(q->derive, STORE_TOTALS) ?
		       analysis_load_groups(&q->session, by, out, err) :
		       analysis_count_groups(&q->session, by, ANALYSIS_COUNT_REACHED, out, err);
}

static int set_facts(struct query *q, struct unreachable *u, struct hdb_error *err)
{
	struct analysis_groups classes = { 0 };
	struct derive_total sum = { 0 };
	int r = HDB_OK;

	if (u->groups.by == DERIVE_SUPERCLASS)
		r = load(q, DERIVE_CLASS, &classes, err);
	analysis_add_groups(classes.totals ? &classes : &u->groups, &sum);
	analysis_groups_release(&classes);
	u->bytes = sum.unreachable_bytes;
	TRY(r);
	query_report_unreachable(q, sum.unreachable_count, sum.unreachable_bytes);
	query_fact(q, "objects", sum.count);
	query_fact(q, "shallow", sum.shallow_bytes);
	return HDB_OK;
}

static int read_options(struct query *q, struct unreachable *u, enum derive_group *by,
			struct hdb_error *err)
{
	const char *name = query_option(q, "by");

	TRY(derive_has_native(q->derive, &u->has_native, err));
	u->is_list = query_option(q, "holders") != NULL;
	u->by_holder = u->is_list || (name && strcmp(name, "holder") == 0);
	if (!u->by_holder) {
		*by = query_by(q);
		TRY(analysis_native_groups(&q->session, *by, &u->native, &u->has_native, err));
		query_choose(q, u->has_native ? "name,objects,shallow,percent,native" :
						"name,objects,shallow,percent");
		return HDB_OK;
	}
	if (name && strcmp(name, "holder") != 0)
		return hdb_fail(err, HDB_EUSAGE, "--holders cannot be combined with --by");
	if (u->is_list) {
		query_choose(q, u->has_native ? "id,name,label,objects,shallow,percent,native" :
						"id,name,label,objects,shallow,percent");
		return HDB_OK;
	}
	query_choose(q, u->has_native ? "name,holders,objects,shallow,percent,native,id" :
					"name,holders,objects,shallow,percent,id");
	return HDB_OK;
}

static int open_unreachable(struct query *q, struct hdb_error *err)
{
	struct unreachable *u = q->state;
	enum derive_group by = DERIVE_CLASS;
	size_t kept = 0;

	TRY(read_options(q, u, &by, err));
	TRY(load(q, by, &u->groups, err));
	TRY(set_facts(q, u, err));
	if (u->by_holder)
		return open_holders(q, u, err);
	for (size_t i = 0; i < u->groups.count; i++)
		if (u->groups.totals[i].unreachable_count)
			u->groups.totals[kept++] = u->groups.totals[i];
	u->groups.count = kept;
	if (q->target_count)
		TRY(analysis_filter_groups(&q->session, &u->groups, q->targets[0], err));
	analysis_sort_groups(&u->groups, ANALYSIS_BY_UNREACHABLE);
	q->total = u->groups.count;
	return HDB_OK;
}

static int unreachable_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct unreachable *u = q->state;
	const struct derive_total *total = &u->groups.totals[no];

	(void)err;
	if (u->by_holder) {
		holder_row(q, u, no);
		return HDB_OK;
	}
	query_set_group(q, NAME, &u->groups, total);
	query_set(q, COUNT, total->unreachable_count);
	query_set(q, SHALLOW, total->unreachable_bytes);
	query_set(q, NATIVE, analysis_group_lost_native(&u->native, total->no));
	query_set_double(q, PERCENT, analysis_percent(total->unreachable_bytes, u->bytes));
	return HDB_OK;
}

static void close_unreachable(struct query *q)
{
	struct unreachable *u = q->state;

	analysis_groups_release(&u->groups);
	analysis_groups_release(&u->native);
	base_vec_release(&u->tops);
	base_vec_release(&u->by_class);
}

const struct query_def query_unreachable = {
	.spec = {
		.name = "unreachable",
		.group = "waste", .example = "--by holder",
		.targets = "[PATTERN]",
		.target_types = HDB_TARGET_PATTERN, .target_min = 0, .target_max = 1,
		.never_null = "name|objects|shallow",
		.summary = "Unreachable objects by class, superclass, package, class loader or "
			"holder",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
		.one_population = "it counts only unreachable objects; use `histogram` for others",
	},
	.no_rows = "no requested object is unreachable",
	.population = ANALYSIS_OF_UNREACHABLE,
	.uses = QUERY_USES_STRENGTH | QUERY_USES_HEAP,
	.state_size = sizeof(struct unreachable),
	.open = open_unreachable, .row = unreachable_row, .close = close_unreachable,
};

/*
 * rows_test.c - features that all queries share: options, columns, sorting, limits, totals, facts.
 */
#include "support/query_world.h"

#include "queries/queries.h"

#include <inttypes.h>
#include <unistd.h>

#define NODES 500

static struct world world;

static int make(void **state)
{
	uint64_t seed = world_seed();

	(void)state;
	world_make(&world, NODES, &seed);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	world_free(&world);
	return 0;
}

/* ---- refusals ---- */

static void refusals(void **state)
{
	static const struct refusal cases[] = {
		{ { .query = "nope" },
		  HDB_EUSAGE,
		  "unknown query \"nope\"; known queries: overview, leaks, " },
		{ { .query = "histogram", .options = { "bogus" } }, HDB_EUSAGE, "--by class|" },
		{ { .query = "problems", .options = { "bogus" } },
		  HDB_EUSAGE,
		  "no options of its own" },
		{ { .query = "histogram", .options = { "by" } },
		  HDB_EUSAGE,
		  "--by requires a value" },
		{ { .query = "histogram", .options = { "by=x" } }, HDB_EUSAGE, "superclass" },
		{ { .query = "histogram", .options = { "shallow=1" } }, HDB_EUSAGE, "no value" },
		{ { .query = "histogram", .sort = "nope" },
		  HDB_EUSAGE,
		  "available columns: name, loader" },
		{ { .query = "histogram", .sort = "-" }, HDB_EUSAGE, "no column" },
		{ { .query = "histogram", .target = "zzz*" }, HDB_NOTFOUND, "zzz*" },
		{ { .query = "histogram", .target = "One" }, HDB_NOTFOUND, "text, such as a.One" },
		{ { .query = "dominators", .options = { "by=superclass" } },
		  HDB_EUSAGE,
		  "package" },
		{ { .query = "objects", .options = { "columns=id,nope" } }, HDB_EUSAGE, "nope" },
		{ { .query = "objects", .options = { "columns=id,id" } }, HDB_EUSAGE, "twice" },
		{ { .query = "objects", .options = { "columns=id," } }, HDB_EUSAGE, "no column" },
		{ { .query = "objects", .target = "x" }, HDB_EUSAGE, "no arguments" },
		{ { .query = "retained" }, HDB_EUSAGE, "OBJECT|CLASS" },
		{ { .query = "retained", .target = "0x" }, HDB_EUSAGE, "is not an object ID" },
		{ { .query = "retained", .target = "0x1g" }, HDB_EUSAGE, "is not an object ID" },
		{ { .query = "retained", .target = "0x11111111111111111" },
		  HDB_EUSAGE,
		  "not an object ID" },
		{ { .query = "retained", .target = "0x77" }, HDB_NOTFOUND, "no such object: 0x77" },
		{ { .query = "retained", .target = "00000077" },
		  HDB_NOTFOUND,
		  "no such object: 0x77" },
		{ { .query = "retained", .target = "One" }, HDB_NOTFOUND, "did you mean a.One" },
		{ { .query = "retained", .target = "A.ONE" }, HDB_NOTFOUND, "did you mean a.One" },
		{ { .query = "retained", .target = "q*" }, HDB_NOTFOUND, "no class matches q*" },
		{ { .query = "retained", .target = "loader:q" }, HDB_NOTFOUND, "loader named q" },
		{ { .query = "retained", .target = "a.One", .options = { "budget=x" } },
		  HDB_EUSAGE,
		  "--budget" },
		{ { .query = "retained", .target = "a.One", .options = { "budget=-1" } },
		  HDB_EUSAGE,
		  "--budget" },
	};

	(void)state;
	expect_refusals(world.db, cases, sizeof(cases) / sizeof(cases[0]));
}

/* ---- sorting ---- */

/*
 * Checks that the previous row does not come after this row. Equal rows stay in the order of their
 * IDs.
 */
static void check_order(const struct hdb_rows *rows, const char *name, bool descending,
			const struct hdb_value *before, uint64_t id_before)
{
	const struct hdb_value *now = value_of(rows, name);
	const uint64_t id = value_of(rows, "id")->u;
	int c = 0;

	if (before->type == HDB_TYPE_NULL || now->type == HDB_TYPE_NULL) {
		/* Rows without a value come last in both directions. */
		assert_true(now->type == HDB_TYPE_NULL);
		if (before->type == HDB_TYPE_NULL)
			assert_true(id_before < id);
		return;
	}
	if (now->type == HDB_TYPE_TEXT) {
		const size_t n =
			before->text_size < now->text_size ? before->text_size : now->text_size;

		c = memcmp(before->text, now->text, n);
		if (!c)
			c = before->text_size < now->text_size ? -1 :
								 before->text_size > now->text_size;
	} else {
		c = before->u < now->u ? -1 : before->u > now->u;
	}
	assert_true(descending ? c >= 0 : c <= 0);
	if (c == 0)
		assert_true(id_before < id);
}

static void sort_by(const char *name, bool turned, uint64_t limit)
{
	char sort[64], text[256];
	const struct ask ask = {
		.query = "objects",
		.options = { "all", "invented" },
		.sort = sort,
		.limit = limit,
	};
	struct hdb_value before = { 0 };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;
	uint64_t count = 0, id = 0, total;
	bool is_text;

	(void)snprintf(sort, sizeof(sort), "%s%s", turned ? "-" : "", name);
	rows = ask_rows(world.db, &ask);
	is_text = hdb_rows_column(rows, column_of(rows, name))->type == HDB_TYPE_TEXT;
	while (next_row(rows)) {
		if (count++)
			check_order(rows, name, is_text == turned, &before, id);
		before = *value_of(rows, name);
		id = value_of(rows, "id")->u;
		if (before.type == HDB_TYPE_TEXT) {
			assert_true(before.text_size < sizeof(text));
			memcpy(text, before.text, before.text_size);
			before.text = text;
		}
	}
	assert_int_equal(hdb_rows_total(rows, &total, &err), HDB_OK);
	assert_true(total >= NODES + WORLD_CLASSES + 2);
	assert_int_equal(count, limit && limit < total ? limit : total);
	hdb_rows_close(rows);
}

static void sorting(void **state)
{
	static const char *const names[] = {
		"id", "class", "kind", "shallow", "retained", "dominator", "length", "reachable",
	};
	static const uint64_t limits[] = { 0, 1, 2, 7, 100, 508, 100000 };

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++)
			for (unsigned turned = 0; turned < 2; turned++)
				sort_by(names[n], turned != 0, limits[l]);
}

/* The first rows with a limit equal the first rows without one. */
static void limit_agrees(void **state)
{
	const struct ask ask[2] = {
		{ .query = "objects", .sort = "retained" },
		{ .query = "objects", .sort = "retained", .limit = 20 },
	};
	struct hdb_rows *rows[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(ask_open(world.db, &ask[i], &rows[i], NULL), HDB_OK);
	for (unsigned n = 0; n < 20; n++) {
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(hdb_rows_next(rows[i], NULL), HDB_OK);
		assert_int_equal(value_of(rows[0], "id")->u, value_of(rows[1], "id")->u);
	}
	assert_int_equal(hdb_rows_next(rows[1], NULL), HDB_END);
	assert_int_equal(hdb_rows_next(rows[1], NULL), HDB_END);
	for (unsigned i = 0; i < 2; i++)
		hdb_rows_close(rows[i]);
}

/*
 * Sorting all rows needs memory for all of them. Sorting with a limit needs memory only for the
 * first rows.
 */
static void budget(void **state)
{
	static const struct hdb_option options[] = { { "all", NULL }, { "columns", "id" } };
	struct hdb_query_args args = { .options = options, .option_count = 2, .sort = "id" };
	struct hdb_error err = { 0 };
	struct session side;
	struct base_work work;
	struct derive derive;
	struct heap *heap;
	struct query *q;

	(void)state;
	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(heap_open(world.db_path, NULL, &work, &heap, &err), HDB_OK);
	derive_init(&derive, heap, &work);
	side = (struct session){ .heap = heap, .derive = &derive, .work = &work };
	assert_int_equal(heap_load_classes(heap, &err), HDB_OK);
	/*
	 * A budget below the minimum of base_work_init, in addition to the memory of classes. Only
	 * a few rows fit.
	 */
	work.memory_bytes = work.memory_used + 4096;
	assert_int_equal(query_open(query_find("objects"), &(struct query_sides){ &side, NULL },
				    &args, &q, &err),
			 HDB_ELIMIT);
	assert_non_null(strstr(err.message, "use --limit"));
	args.limit = 5;
	assert_int_equal(query_open(query_find("objects"), &(struct query_sides){ &side, NULL },
				    &args, &q, &err),
			 HDB_OK);
	assert_int_equal(query_next(q, &err), HDB_OK);
	assert_int_equal(query_value(q, 0)->u, world_id(NODES - 1));
	query_close(q);
	derive_release(&derive);
	heap_close(heap);
}

/* ---- columns, limits, totals ---- */

static void columns(void **state)
{
	const struct ask ask = { .query = "objects",
				 .options = { "columns=shallow,id" },
				 .sort = "retained",
				 .limit = 1 };
	struct hdb_rows *rows;

	(void)state;
	assert_int_equal(ask_open(world.db, &ask, &rows, NULL), HDB_OK);
	assert_int_equal(hdb_rows_column_count(rows), 2);
	assert_string_equal(hdb_rows_column(rows, 0)->name, "shallow");
	assert_string_equal(hdb_rows_column(rows, 1)->name, "id");
	assert_int_equal(hdb_rows_next(rows, NULL), HDB_OK);
	assert_int_equal(hdb_rows_value(rows, 0)->type, HDB_TYPE_BYTES);
	assert_int_equal(hdb_rows_value(rows, 1)->type, HDB_TYPE_ID);
	hdb_rows_close(rows);
}

/*
 * If the total is unknown, the remaining rows are read to count them. The current row does not
 * change.
 */
static void totals(void **state)
{
	const struct ask ask = { .query = "objects", .limit = 3 };
	struct hdb_rows *rows;
	uint64_t total, want = WORLD_CLASSES + 2;

	(void)state;
	for (uint32_t v = 0; v < world.n; v++)
		want += world.is_reachable[v];
	assert_int_equal(ask_open(world.db, &ask, &rows, NULL), HDB_OK);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(hdb_rows_next(rows, NULL), HDB_OK);
	assert_int_equal(hdb_rows_next(rows, NULL), HDB_END);
	assert_int_equal(hdb_rows_total(rows, &total, NULL), HDB_OK);
	assert_int_equal(total, want);
	assert_int_equal(hdb_rows_total(rows, &total, NULL), HDB_OK);
	assert_int_equal(total, want);
	assert_int_equal(hdb_rows_next(rows, NULL), HDB_END);
	hdb_rows_close(rows);
}

/* Facts are returned in the documented order, whatever order they were set in. */
static void facts(void **state)
{
	const struct ask ask = { .query = "retained", .target = "a.*", .options = { "explain" } };
	static const char *const names[] = {
		"way",
		"subtree_count",
		"removed_count",
		"edges_looked_at",
		"time_us",
		"tables_built",
		"counted",
		"unreachable_objects",
		"unreachable_shallow",
	};
	struct hdb_rows *rows;

	(void)state;
	assert_int_equal(ask_open(world.db, &ask, &rows, NULL), HDB_OK);
	assert_int_equal(hdb_rows_fact_count(rows), 9);
	for (size_t i = 0; i < 9; i++)
		assert_string_equal(hdb_rows_fact_column(rows, i)->name, names[i]);
	hdb_rows_close(rows);
}

static bool has_fact(const struct hdb_query_spec *s, const char *name)
{
	for (size_t i = 0; i < s->fact_count; i++)
		if (strcmp(s->facts[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Every query states which objects its numbers refer to, except queries whose numbers do not refer
 * to a set of objects.
 */
static void populations(void **state)
{
	static const char *const others[] = {
		/* one object, or a path to it */
		"object",
		"references",
		"path",
		"entries",
		/* contents of dump records */
		"threads",
		"properties",
		"alloc-sites",
		"cpu-samples",
		"heap-summaries",
		"records",
		"problems",
		"dangling",
		/* the database, layouts */
		"info",
		"sizes",
		"tables",
		"check",
		"layout",
		/* findings, each with its own numbers */
		"leaks",
		"leak-traces",
		"app",
		"triage",
		"secrets",
	};
	const size_t count = hdb_query_count();

	(void)state;
	for (size_t i = 0; i < count; i++) {
		bool is_other = false;

		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			is_other |= strcmp(others[k], hdb_query_at(i)->name) == 0;
		if (!is_other && (!has_fact(hdb_query_at(i), "counted") ||
				  !has_fact(hdb_query_at(i), "unreachable_objects") ||
				  !has_fact(hdb_query_at(i), "cut")))
			fail_msg("%s does not say which objects count, and what is cut",
				 hdb_query_at(i)->name);
	}
}

/* ---- progress ---- */

static void on_progress(void *ctx, const char *stage, uint64_t done, uint64_t total,
			const char *unit)
{
	(void)unit;
	*(unsigned *)ctx += strcmp(stage, "sorting") == 0;
	if (total && done > total)
		fail_msg("%s: %" PRIu64 " of %" PRIu64, stage, done, total);
}

/* Progress counts objects while rows are produced, and rows while they are sorted. */
static void progress_is_of_rows(void **state)
{
	static const struct ask asks[] = {
		{ .query = "instances", .target = "java.lang.String", .sort = "retained" },
		{ .query = "instances", .target = "java.lang.String", .sort = "label", .limit = 5 },
		{ .query = "objects", .sort = "id", .limit = 5 },
	};
	const struct hdb_import_options opt = { .force = 1 };
	const char *dump = getenv("DUMP"), *path = temp_path("progress.heapdb");
	unsigned reports = 0;
	const struct hdb_open_options open = { .progress = { .report = on_progress,
							     .ctx = &reports } };
	struct hdb_error err = { 0 };
	struct hdb *db;

	(void)state;
	if (!dump || access(dump, R_OK) != 0)
		skip();
	if (hdb_import(dump, path, &opt, NULL, &err) < 0 || hdb_open(path, &open, &db, &err) < 0)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		hdb_rows_close(ask_rows(db, &asks[i]));
	assert_true(reports > 3);
	hdb_close(db);
}

/* Every query's specification is consistent. */
static void specs(void **state)
{
	const size_t count = hdb_query_count();

	(void)state;
	assert_true(count >= 20);
	for (size_t i = 0; i < count; i++) {
		const struct hdb_query_spec *s = hdb_query_at(i);

		assert_non_null(s->name);
		assert_non_null(s->targets);
		assert_non_null(s->options);
		assert_true(s->summary[0] != '\0');
		assert_true(s->column_count > 0);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(hdb_query_at(k)->name, s->name);
		for (size_t c = 0; c < s->column_count + s->fact_count; c++) {
			const struct hdb_column *column = c < s->column_count ?
								  &s->columns[c] :
								  &s->facts[c - s->column_count];

			if (!column->help || !*column->help || !column->title ||
			    strspn(column->name, "abcdefghijklmnopqrstuvwxyz0123456789_") !=
				    strlen(column->name))
				fail_msg("%s: column %zu", s->name, c);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(specs),       cmocka_unit_test(refusals),
		cmocka_unit_test(budget),      cmocka_unit_test(totals),
		cmocka_unit_test(sorting),     cmocka_unit_test(limit_agrees),
		cmocka_unit_test(columns),     cmocka_unit_test(facts),
		cmocka_unit_test(populations), cmocka_unit_test(progress_is_of_rows),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}

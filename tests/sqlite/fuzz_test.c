/*
 * tests/sqlite/fuzz_test.c - statements made by a grammar over the schema, and cut or mixed up:
 * each ends, in a row, an end or a failure with a message, and leaves the connection usable.
 * STATEMENTS is how many, SEED where they begin.
 */
#include "heapdb.h"

#include "support/temp.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"

#define STATEMENT_SIZE 8192
/* Rows that are read of each; looks at the cancel flag end the others. */
#define ROWS_MAX 200
/* Milliseconds that a statement may take before it is cancelled. */
#define CANCEL_MS 100
#define DEPTH_MAX 4

static struct hdb *db;
static struct heapsql *sql;
static char db_path[512];
static uint64_t seed;
static bool shows_all; /* tables show unreachable objects, too */
static volatile int cancel;
static volatile unsigned byte_sum; /* of texts, so that they are read */
static long ran;                   /* statements that SQLite took */

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % n);
}

struct text {
	char data[STATEMENT_SIZE];
	size_t size;
};

static void put(struct text *t, const char *s)
{
	const size_t n = strlen(s);

	if (t->size + n + 2 >= sizeof(t->data))
		return;
	memcpy(t->data + t->size, s, n);
	t->size += n;
	t->data[t->size++] = ' ';
	t->data[t->size] = '\0';
}

#define PICK(list) (list)[below(sizeof(list) / sizeof((list)[0]))]

/* Tables with columns that they have: else nearly all statements would fail at once. */
static const struct source {
	const char *table;
	const char *columns[9];
} sources[] = {
	{ "objects",
	  { "id", "class", "kind", "shallow", "retained", "dominator", "length", "reachable" } },
	{ "objects", { "id", "class", "class_id", "file_offset", "heap", "referrers" } },
	{ "refs", { "source", "target", "name", "strength" } },
	{ "classes", { "id", "name", "super", "loader", "objects", "shallow", "is_array" } },
	{ "class_fields", { "class", "class_id", "name", "type", "value", "is_static" } },
	{ "kind_totals", { "kind", "objects", "shallow", "retained" } },
	{ "class_totals", { "class", "objects", "shallow", "retained" } },
	{ "roots", { "id", "class", "kind", "thread", "depth" } },
	{ "threads", { "id", "serial", "name", "frames", "retained" } },
	{ "frames", { "thread", "depth", "class", "method", "line", "frame" } },
	{ "locals", { "id", "class", "thread", "depth" } },
	{ "strings", { "id", "text", "shallow", "retained" } },
	{ "arrays", { "id", "class", "element_type", "length" } },
	{ "instances('java.util.*')", { "id", "class", "shallow", "text", "subclasses" } },
	{ "\"java.util.HashMap\"", { "id", "size", "\"table\"", "retained", "loadFactor" } },
	{ "\"java.util.HashMap+\"", { "id", "class", "size", "modCount", "reachable" } },
	{ "\"Sample$Node\"", { "id", "shallow", "dominator", "rowid" } },
	{ "\"byte[]\"", { "id", "length", "text" } },
	{ "entries(0xfeb10838)", { "no", "key", "key_id", "value", "value_id", "entry" } },
	{ "fields(0xfeb10838)", { "name", "type", "value", "text" } },
	{ "elements(0xfeaa0000)", { "no", "value", "text" } },
	{ "dominated(0xfeb10758)", { "id", "class", "shallow", "retained" } },
	{ "reachable_from(0xfeb10838)", { "id", "class", "depth" } },
	{ "path_to_root(0xfeb10838)", { "step", "id", "class", "name", "root" } },
	{ "referrers(0xfeb10838)", { "id", "class", "name", "strength" } },
	{ "histogram", { "name", "shallow", "retained", "id" } },
	{ "leaks", { "id", "kind", "percent", "text" } },
	{ "loaders", { "id", "name", "classes", "retained" } },
	{ "records", { "name", "tag", "bytes" } },
};
static const struct source *current = sources;

static const char *const tables[] = {
	"\"top-consumers\"",
	"query_path",
	"pragma_table_xinfo('objects')",
	"main.objects",
	"nothing",
	"heaps",
	"problems",
	"\"java.lang.Object+\"",
	"triage",
	"duplicates",
};
static const char *const columns[] = {
	"id",        "class",    "kind", "shallow",     "retained",  "dominator", "length",
	"reachable", "class_id", "heap", "file_offset", "source",    "target",    "name",
	"value",     "key",      "text", "size",        "\"table\"", "rowid",     "no",
	"depth",     "*",        "x",    "count",       "objects",   "a.id",      "b.id",
};
static const char *const values[] = {
	"0",
	"1",
	"-1",
	"NULL",
	"0xfeb10838",
	"0xfeb10758",
	"0xfeaa0000",
	"4273031224",
	"''",
	"'java.util.HashMap'",
	"'java.*'",
	"'0xfeb10838'",
	"'0xzz'",
	"9223372036854775807",
	"-9223372036854775808",
	"1e308",
	"x'00ff'",
	"'a,b,c'",
	"0.5",
	"'class'",
	"'size'",
	"'a.b.c'",
	"'package'",
	"'%'",
	"'instance'",
};
/* Functions with as many arguments as they take, most of the time. */
static const struct function {
	const char *name;
	uint32_t arguments;
} known[] = {
	{ "text", 1 },        { "class_of", 1 }, { "shallow", 1 },      { "retained", 1 },
	{ "dominator", 1 },   { "field", 2 },    { "element", 2 },      { "path", 1 },
	{ "is_instance", 2 }, { "hex", 1 },      { "retained_set", 1 }, { "common_dominator", 1 },
	{ "count", 1 },       { "sum", 1 },      { "max", 1 },          { "length", 1 },
	{ "min", 2 },         { "ifnull", 2 },   { "avg", 1 },          { "group_concat", 2 },
};
static const char *const functions[] = {
	"text",    "class_of", "shallow",     "retained",     "dominator",    "field",
	"element", "path",     "is_instance", "hex",          "retained_set", "common_dominator",
	"count",   "sum",      "max",         "group_concat", "avg",          "length",
	"substr",  "printf",   "zeroblob",    "replace",      "likely",
};
static const char *const made[] = {
	"entries",        "elements",       "fields",       "referrers",      "\"references\"",
	"dominated",      "reachable_from", "path_to_root", "instances",      "inbound",
	"outbound",       "query_entries",  "query_object", "query_retained", "histogram",
	"group_by_value", "strings",
};
static const char *const operators[] = {
	"=", "<>", "<",   ">",  "<=",   ">=",   "+",  "-",      "*", "/",
	"%", "||", "AND", "OR", "LIKE", "GLOB", "IS", "IS NOT", "&", "<<",
};

static void put_select(struct text *t, unsigned depth);

static void put_column(struct text *t)
{
	uint32_t n = 0;

	if (below(20) == 0) {
		put(t, PICK(columns));
		return;
	}
	while (n < 9 && current->columns[n])
		n++;
	put(t, current->columns[below(n)]);
}

static void put_expression(struct text *t, unsigned depth)
{
	const uint32_t way = below(depth >= DEPTH_MAX ? 2 : 10);
	struct function f;

	switch (way) {
	case 0:
	case 2:
		put_column(t);
		break;
	case 1:
	case 3:
		put(t, PICK(values));
		break;
	case 4:
	case 5:
		f = PICK(known);
		if (below(10) == 0)
			f = (struct function){ PICK(functions), 1 + below(3) };
		put(t, f.name);
		put(t, "(");
		for (uint32_t i = f.arguments - 1; i != UINT32_MAX; i--) {
			put_expression(t, depth + 1);
			if (i)
				put(t, ",");
		}
		put(t, ")");
		break;
	case 6:
		put(t, "(");
		put_select(t, depth + 1);
		put(t, ")");
		break;
	case 7:
		put_expression(t, depth + 1);
		put(t, "IN (");
		put_expression(t, depth + 1);
		put(t, ",");
		put_expression(t, depth + 1);
		put(t, ")");
		break;
	default:
		put_expression(t, depth + 1);
		put(t, PICK(operators));
		put_expression(t, depth + 1);
	}
}

static void put_table(struct text *t, unsigned depth)
{
	switch (below(depth >= DEPTH_MAX ? 2 : 6)) {
	case 0:
	case 1:
	case 2:
		put(t, PICK(tables));
		break;
	case 3:
		put(t, "(");
		put_select(t, depth + 1);
		put(t, ")");
		break;
	default:
		put(t, PICK(made));
		put(t, "(");
		put_expression(t, depth + 2);
		if (below(4) == 0) {
			put(t, ",");
			put_expression(t, depth + 2);
		}
		put(t, ")");
	}
}

static void put_select(struct text *t, unsigned depth)
{
	const struct source *outer = current;
	const bool is_known = below(10) != 0;

	if (is_known)
		current = &PICK(sources);
	put(t, "SELECT");
	if (below(8) == 0)
		put(t, "DISTINCT");
	for (uint32_t i = below(3); i != UINT32_MAX; i--) {
		put_expression(t, depth + 1);
		if (i)
			put(t, ",");
	}
	put(t, "FROM");
	if (is_known)
		put(t, current->table);
	else
		put_table(t, depth);
	put(t, "a");
	if (below(4) == 0) {
		put(t, below(2) ? ", " : "LEFT JOIN");
		put_table(t, depth);
		put(t, "b");
	}
	if (below(2) == 0) {
		put(t, "WHERE");
		put_expression(t, depth + 1);
	}
	if (below(4) == 0) {
		put(t, "GROUP BY");
		put_expression(t, depth + 1);
	}
	if (below(3) == 0) {
		put(t, "ORDER BY");
		put_expression(t, depth + 1);
		if (below(2))
			put(t, "DESC");
	}
	if (below(2) == 0) {
		put(t, "LIMIT");
		put(t, PICK(values));
	}
	if (depth < 2 && below(12) == 0) {
		put(t, below(2) ? "UNION ALL" : "EXCEPT");
		put_select(t, depth + 1);
	}
	current = outer;
}

/* Takes a part out, repeats one, or changes a byte. */
static void spoil(struct text *t)
{
	const uint32_t at = below((uint32_t)t->size), n = below((uint32_t)(t->size - at)) + 1;

	switch (below(3)) {
	case 0:
		memmove(t->data + at, t->data + at + n, t->size - at - n + 1);
		break;
	case 1:
		t->data[at] = (char)(1 + below(255));
		break;
	default:
		t->data[at] = '\0';
	}
}

static void on_alarm(int number)
{
	cancel = number;
}

static void run(const char *statement)
{
	const struct itimerspec soon = { .it_value = { 0, CANCEL_MS * 1000000L } };
	const struct itimerspec never = { { 0, 0 }, { 0, 0 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct heapsql_rows *rows = NULL;
	struct hdb_error err = { 0 };
	const char *rest = statement;
	const clock_t start = clock();
	timer_t timer;
	int r;

	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	cancel = 0;
	assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
	r = heapsql_prepare(sql, statement, &rest, &rows, &err);
	assert_true(rest >= statement && rest <= statement + strlen(statement));
	ran += rows != NULL;
	for (int i = 0; r == HDB_OK && rows && i < ROWS_MAX; i++) {
		r = heapsql_next(rows, &err);
		for (size_t c = 0; r == HDB_OK && c < heapsql_column_count(rows); c++) {
			const struct hdb_value *value = heapsql_value(rows, c);

			assert_non_null(heapsql_column(rows, c)->name);
			if (value->type == HDB_TYPE_TEXT && value->text_size)
				byte_sum += (unsigned char)value->text[value->text_size - 1];
		}
	}
	assert_int_equal(timer_settime(timer, 0, &never, NULL), 0);
	assert_int_equal(timer_delete(timer), 0);
	cancel = 0;
	if (r < 0 && !err.message[0])
		fail_msg("no message: %s", statement);
	heapsql_rows_close(rows);
	/* Sanitizers are slow; what never ends takes longer. */
	if ((double)(clock() - start) / CLOCKS_PER_SEC > 20)
		fail_msg("too long: %s", statement);
}

static void test_statements(void **state)
{
	const char *count = getenv("STATEMENTS");
	struct heapsql_rows *rows;
	struct hdb_error err;
	const char *rest;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (long i = count ? atol(count) : 1500; i > 0; i--) {
		struct text t = { .size = 0 };

		if (below(20) == 0)
			put(&t, "EXPLAIN QUERY PLAN");
		put_select(&t, 0);
		for (uint32_t n = below(4) == 0 ? 1 + below(3) : 0; n && strlen(t.data); n--) {
			t.size = strlen(t.data);
			spoil(&t);
		}
		if (getenv("SHOW"))
			fprintf(stderr, "%s\n", t.data);
		run(t.data);
	}
	print_message("%ld ran\n", ran);
	assert_int_equal(heapsql_prepare(sql, "SELECT count(*) FROM objects", &rest, &rows, &err),
			 HDB_OK);
	assert_int_equal(heapsql_next(rows, &err), HDB_OK);
	assert_int_equal(heapsql_value(rows, 0)->i, shows_all ? 31512 : 30954);
	heapsql_rows_close(rows);
}

static int start(void **state)
{
	const char *dump = getenv("DUMP"), *from = getenv("SEED");
	const struct hdb_import_options import = { .force = 1 };
	const struct hdb_open_options open = { .progress = { .cancel = &cancel } };
	const struct heapsql_options options = { .cancel = &cancel };
	struct heapsql_database database = { 0 };
	struct hdb_error err;

	(void)state;
	seed = from ? strtoull(from, NULL, 0) : (uint64_t)time(NULL);
	shows_all = seed & 1;
	(void)signal(SIGALRM, on_alarm);
	snprintf(db_path, sizeof(db_path), "%s", temp_path("f.heapdb"));
	if (!dump || hdb_import(dump, db_path, &import, NULL, &err) != HDB_OK ||
	    hdb_open(db_path, &open, &db, &err) != HDB_OK ||
	    hdb_need(db, HDB_NEED_DOMINATORS | HDB_NEED_CHILDREN | HDB_NEED_STRONG, &err) != HDB_OK)
		return -1;
	database.db = db;
	database.all = shows_all;
	return heapsql_open(&options, &sql, &err) == HDB_OK &&
			       heapsql_add(sql, &database, &err) == HDB_OK ?
		       0 :
		       -1;
}

static int clean(void **state)
{
	(void)state;
	heapsql_close(sql);
	hdb_close(db);
	temp_remove_db(db_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_statements) };

	return cmocka_run_group_tests(tests, start, clean);
}
#else
int main(void)
{
	puts("built without SQLite");
	return 77;
}
#endif

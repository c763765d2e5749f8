/*
 * tests/query/args_test.c - arguments of queries: options of all types, targets as strings and
 * numbers, structures of other sizes; and answers read by column name.
 */
#include "support/query_world.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>

#define NODES 300

static struct world world;

static int make(void **state)
{
	uint64_t seed = world_seed();

	(void)state;
	world_keeps_dump = true;
	world_make(&world, NODES, &seed);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	(void)unlink(temp_path("world.hprof"));
	world_free(&world);
	return 0;
}

/* ---- options ---- */

static void refusals(void **state)
{
	static const struct refusal cases[] = {
		{ { .query = "leaks", .options = { "threshold=0" } },
		  HDB_EUSAGE,
		  "--threshold must be a percentage from 1 to 100, not \"0\"" },
		{ { .query = "leaks", .options = { "threshold=1%" } }, HDB_EUSAGE, "not \"1%\"" },
		{ { .query = "leaks", .options = { "threshold" } },
		  HDB_EUSAGE,
		  "--threshold requires a value: PERCENT" },
		{ { .query = "arrays", .options = { "min-tail=0" } },
		  HDB_EUSAGE,
		  "--min-tail must be a number of bytes, 1 or more, not \"0\"" },
		{ { .query = "arrays", .options = { "min-tail=64X" } }, HDB_EUSAGE, "\"64X\"" },
		{ { .query = "arrays", .options = { "min-tail=99999999999T" } },
		  HDB_EUSAGE,
		  "number of bytes" },
		/* Only bytes have units. */
		{ { .query = "strings", .options = { "min-count=1K" } }, HDB_EUSAGE, "\"1K\"" },
		{ { .query = "strings", .options = { "min-count= 1" } }, HDB_EUSAGE, "\" 1\"" },
		{ { .query = "strings", .options = { "min-count=18446744073709551616" } },
		  HDB_EUSAGE,
		  "must be a number of strings" },
		{ { .query = "finalizers", .options = { "state=lost" } },
		  HDB_EUSAGE,
		  "must be one of registered, queued, running, finalized, not \"lost\"" },
		{ { .query = "finalizers", .options = { "state=queued|running" } },
		  HDB_EUSAGE,
		  "must be one of" },
		{ { .query = "path" }, HDB_EUSAGE, "missing argument: OBJECT" },
	};

	(void)state;
	expect_refusals(world.db, cases, sizeof(cases) / sizeof(cases[0]));
}

static uint64_t rows_of(const char *query, const struct hdb_option *option)
{
	const struct hdb_query_args args = {
		.struct_size = sizeof(args),
		.options = option,
		.option_count = 1,
	};
	struct hdb_rows *rows;
	struct hdb_error err;
	uint64_t total;

	if (hdb_query(world.db, query, &args, &rows, &err) != HDB_OK)
		fail_msg("%s --%s %s: %s", query, option->name, option->value, err.message);
	assert_int_equal(hdb_rows_total(rows, &total, &err), HDB_OK);
	hdb_rows_close(rows);
	return total;
}

static void units(void **state)
{
	static const char *const same[] = { "1048576", "1024K", "1024k", "1M", "1MB", "1MiB" };

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_int_equal(rows_of("dominator-tree", &(struct hdb_option){ "min", same[i] }),
				 rows_of("dominator-tree", &(struct hdb_option){ "min", same[0] }));
}

/* A default is a valid value of the option. Examples and defaults are accepted. */
static void check_option(const struct hdb_query_spec *spec, const struct hdb_option_spec *o)
{
	const bool is_flag = o->type == HDB_OPTION_FLAG;

	if (is_flag != !o->argument || !o->help)
		fail_msg("%s --%s has no argument, or no help", spec->name, o->name);
	if (o->type == HDB_OPTION_CHOICE && !strchr(o->argument, '|'))
		fail_msg("%s --%s has no choices", spec->name, o->name);
	if (o->type == HDB_OPTION_NUMBER && (o->low >= o->high || !o->unit))
		fail_msg("%s --%s has no range, or no unit", spec->name, o->name);
	if (!is_flag && o->type != HDB_OPTION_CHOICE && !o->example)
		fail_msg("%s --%s has no example", spec->name, o->name);
	for (int i = 0; i < 2 && !is_flag && !spec->target_min && spec->is_query; i++) {
		const char *value = i ? o->default_value : o->example;
		const struct hdb_option option = { o->name, value };
		const struct hdb_query_args args = { .options = &option, .option_count = 1 };
		struct hdb_rows *rows = NULL;
		struct hdb_error err = { 0 };

		if (value && hdb_query(world.db, spec->name, &args, &rows, &err) == HDB_EUSAGE)
			fail_msg("%s --%s %s: %s", spec->name, o->name, value, err.message);
		hdb_rows_close(rows);
	}
}

static void specs(void **state)
{
	const size_t count = hdb_query_count();

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const struct hdb_query_spec *spec = hdb_query_at(i);
		const unsigned types = spec->target_types;

		for (const struct hdb_option_spec *o = spec->options; o->name; o++)
			check_option(spec, o);
		/* The description of the targets matches their types. */
		assert_int_equal(!types, !*spec->targets);
		assert_int_equal(!types, !spec->target_max);
		assert_true(spec->target_min <= spec->target_max);
		assert_int_equal(types && !spec->target_min, *spec->targets == '[');
		assert_int_equal((types & HDB_TARGET_LOADER) != 0,
				 strstr(spec->targets, "loader:CLASS") != NULL);
		assert_int_equal((types & HDB_TARGET_NAME) != 0,
				 strstr(spec->targets, "NAME-") != NULL);
		assert_int_equal(spec->target_max == UINT_MAX,
				 strstr(spec->targets, "...") != NULL);
	}
}

/* ---- targets as numbers ---- */

/* Queries without rows about objects in a heap, with the reason. */
static const struct {
	const char *query, *reason;
} without_heap[] = {
	{ "layout", "where fields lie in any instance" },
	{ "info", "the database and the dump" },
	{ "app", "the device and the application" },
	{ "check", "tables" },
	{ "sizes", "how sizes come about" },
	{ "properties", "the VM" },
	{ "problems", "damage" },
	{ "dangling", "what the dump lacks is in no heap" },
	{ "records", "the file" },
	{ "tables", "the database" },
	{ "alloc-sites", "sums of an agent, who does not tell heaps; object-sites takes --heap" },
	{ "cpu-samples", "stacks" },
	{ "heap-summaries", "sums of an agent" },
	{ "explain", "objects with all that they retain, in any heap" },
	{ "overview", "all heaps; it asks other queries" },
	{ "secrets", "a dump is given away with all its heaps" },
};

static bool takes(const struct hdb_query_spec *spec, const char *name)
{
	const struct hdb_option_spec *o = spec->options;

	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o->name != NULL;
}

/* --heap is a filter of every query about objects. */
static void heaps(void **state)
{
	const size_t named = sizeof(without_heap) / sizeof(without_heap[0]);
	const size_t count = hdb_query_count();
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const char *reason = NULL;

		for (size_t k = 0; k < named; k++)
			if (strcmp(without_heap[k].query, hdb_query_at(i)->name) == 0)
				reason = without_heap[k].reason;
		found += reason != NULL;
		if (takes(hdb_query_at(i), "heap") == (reason != NULL))
			fail_msg("%s %s --heap%s%s", hdb_query_at(i)->name,
				 reason ? "takes" : "lacks", reason ? ", but is about " : "",
				 reason ? reason : "");
	}
	assert_int_equal(found, named);
}

static void ids(void **state)
{
	const char *const texts[] = { "a.One" };
	const uint64_t numbers[] = { 0x10000, 0, UINT64_MAX };
	struct hdb_query_args args = { .struct_size = sizeof(args), .limit = 1 };
	uint64_t id, retained_bytes;
	struct hdb_rows *rows;
	struct hdb_error err;

	(void)state;
	assert_int_equal(hdb_query(world.db, "top", &args, &rows, &err), HDB_OK);
	assert_int_equal(hdb_rows_next(rows, &err), HDB_OK);
	id = hdb_rows_u64(rows, hdb_rows_find_column(rows, "id"));
	hdb_rows_close(rows);
	assert_int_equal(hdb_retained(world.db, id, &retained_bytes, &err), HDB_OK);
	args = (struct hdb_query_args){
		.targets = texts, .target_count = 1, .ids = &id, .id_count = 1
	};
	assert_int_equal(hdb_query(world.db, "retained", &args, &rows, &err), HDB_OK);
	assert_int_equal(hdb_rows_next(rows, &err), HDB_OK);
	assert_string_equal(hdb_rows_text(rows, hdb_rows_find_column(rows, "target")), "a.One");
	assert_true(hdb_rows_is_null(rows, hdb_rows_find_column(rows, "id")));
	assert_int_equal(hdb_rows_next(rows, &err), HDB_OK);
	assert_int_equal(hdb_rows_u64(rows, hdb_rows_find_column(rows, "id")), id);
	assert_int_equal(hdb_rows_u64(rows, hdb_rows_find_column(rows, "retained")),
			 retained_bytes);
	assert_int_equal(hdb_rows_next(rows, &err), HDB_END);
	hdb_rows_close(rows);
	/* They count as targets. */
	args = (struct hdb_query_args){ .ids = numbers, .id_count = 2 };
	assert_int_equal(hdb_query(world.db, "object", &args, &rows, &err), HDB_EUSAGE);
	assert_non_null(strstr(err.message, "at most 1 argument"));
	args = (struct hdb_query_args){ .ids = numbers + 2, .id_count = 1 };
	assert_int_equal(hdb_query(world.db, "object", &args, &rows, &err), HDB_NOTFOUND);
	assert_non_null(strstr(err.message, "0xffffffffffffffff"));
}

/* ---- values by their type ---- */

static void getters(void **state)
{
	const struct hdb_option by = { "by", "class" };
	const struct hdb_query_args args = {
		.struct_size = sizeof(args), .options = &by, .option_count = 1, .limit = 3
	};
	struct hdb_rows *rows;
	struct hdb_error err;
	size_t name, count, percent;

	(void)state;
	assert_int_equal(hdb_query(world.db, "top", &args, &rows, &err), HDB_OK);
	name = hdb_rows_find_column(rows, "name");
	count = hdb_rows_find_column(rows, "objects");
	percent = hdb_rows_find_column(rows, "percent");
	assert_true(hdb_rows_find_column(rows, "nope") == SIZE_MAX);
	assert_true(hdb_rows_find_column(rows, NULL) == SIZE_MAX);
	while (hdb_rows_next(rows, &err) == HDB_OK) {
		const struct hdb_value *value = hdb_rows_value(rows, name);
		const char *text = hdb_rows_text(rows, name);

		assert_int_equal(strlen(text), value->text_size);
		assert_memory_equal(text, value->text, value->text_size);
		assert_int_equal(hdb_rows_u64(rows, count), hdb_rows_value(rows, count)->u);
		assert_int_equal(hdb_rows_i64(rows, count), hdb_rows_value(rows, count)->u);
		assert_true(hdb_rows_double(rows, percent) == hdb_rows_value(rows, percent)->d);
		/* If the type differs or the column does not exist, the result is 0 or NULL. */
		assert_int_equal(hdb_rows_u64(rows, name), 0);
		assert_int_equal(hdb_rows_u64(rows, SIZE_MAX), 0);
		assert_null(hdb_rows_text(rows, count));
		assert_null(hdb_rows_text(rows, SIZE_MAX));
		assert_true(hdb_rows_is_null(rows, SIZE_MAX));
		assert_false(hdb_rows_is_null(rows, count));
	}
	assert_non_null(hdb_rows_find_fact(rows, "counted"));
	assert_null(hdb_rows_find_fact(rows, "nope"));
	hdb_rows_close(rows);
}

/* ---- structures of other versions ---- */

static void sizes(void **state)
{
	struct {
		struct hdb_query_args args;
		char later[64]; /* members of a future header */
	} big = { .args = { .struct_size = sizeof(big), .limit = 1 } };
	struct hdb_rows *rows;
	struct hdb_error err;
	uint64_t total;

	(void)state;
	memset(big.later, 0x5a, sizeof(big.later));
	assert_int_equal(hdb_query(world.db, "histogram", &big.args, &rows, &err), HDB_OK);
	assert_int_equal(hdb_rows_next(rows, &err), HDB_OK);
	assert_int_equal(hdb_rows_next(rows, &err), HDB_END);
	assert_int_equal(hdb_rows_total(rows, &total, &err), HDB_OK);
	hdb_rows_close(rows);
	big.args.struct_size = 8;
	assert_int_equal(hdb_query(world.db, "histogram", &big.args, &rows, &err), HDB_EUSAGE);
	assert_non_null(strstr(err.message, "struct_size"));
	assert_int_equal(hdb_version_number(), HDB_VERSION_NUMBER);
	{
		unsigned major, minor, patch;

		assert_int_equal(sscanf(HDB_VERSION, "%u.%u.%u", &major, &minor, &patch), 3);
		assert_int_equal(HDB_VERSION_NUMBER, 10000 * major + 100 * minor + patch);
	}
}

/* An existing database gives a different failure than wrong arguments. */
static void exists(void **state)
{
	struct hdb_import_options options = { .struct_size = sizeof(options),
					      .no_sigbus_handler = 1 };
	struct hdb_error err;

	(void)state;
	assert_int_equal(hdb_import(temp_path("world.hprof"), world.db_path, &options, NULL, &err),
			 HDB_EEXIST);
	assert_string_equal(hdb_result_name(HDB_EEXIST), "HDB_EEXIST");
	assert_null(strstr(err.message, "--"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals), cmocka_unit_test(units),   cmocka_unit_test(specs),
		cmocka_unit_test(ids),      cmocka_unit_test(getters), cmocka_unit_test(sizes),
		cmocka_unit_test(exists),   cmocka_unit_test(heaps),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}

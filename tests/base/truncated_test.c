/*
 * truncated_test.c - cuts the dump or the database while it is mapped. The result must be HDB_EIO
 * (the command's exit code 4) with the offset, never half an answer.
 */
#include "support/hostile.h"
#include "support/temp.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

/* Number of objects added to the small dump, so that dump and database are many pages long. */
#define EXTRA 20000

static char dump_path[512], db_path[512], copy_path[512];

/* Cuts a file at a call of the progress report. */
struct cut {
	const char *path;
	off_t size;
	unsigned at; /* number of the call, starting at 0 */
	unsigned calls;
};

static void cut_file(void *ctx, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
	struct cut *cut = ctx;

	(void)stage;
	(void)done;
	(void)total;
	(void)unit;
	if (cut->calls++ == cut->at)
		(void)truncate(cut->path, cut->size);
}

static void copy_file(const char *from, const char *to)
{
	char command[1200];

	(void)unlink(to);
	(void)snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	assert_int_equal(system(command), 0);
}

static off_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static void expect_reported(int r, const struct hdb_error *err, const char *what, unsigned at)
{
	if (r != HDB_EIO || !strstr(err->message, "cannot read at offset"))
		fail_msg("%s cut at report %u: result %d: %s", what, at, r, err->message);
}

/*
 * Cuts the dump at each stage of the import. Data read before the cut is valid, so a late cut does
 * no harm.
 */
static void test_dump_import(void **state)
{
	const off_t whole = size_of(dump_path);
	unsigned told = 0, reports = 0;

	(void)state;
	/* The first round cuts nothing and counts the calls. */
	for (unsigned at = UINT_MAX; at == UINT_MAX || at < reports; at++) {
		struct cut cut = { copy_path, whole / 3, at, 0 };
		const struct hdb_import_options opt = {
			.force = 1,
			.threads = 1,
			.progress = { .report = cut_file, .ctx = &cut },
		};
		struct hdb_error err = { 0 };
		int r;

		copy_file(dump_path, copy_path);
		r = hdb_import(copy_path, db_path, &opt, NULL, &err);
		if (r != HDB_OK)
			expect_reported(r, &err, "dump", at);
		told += r != HDB_OK;
		if (at == UINT_MAX)
			reports = cut.calls;
	}
	print_message("%u reports, %u told\n", reports, told);
	assert_true(told > 0);
}

static int ask(const char *db, const char *dump, struct cut *cut, const char *query,
	       struct hdb_error *err)
{
	const struct hdb_open_options opt = {
		.dump_path = dump,
		.threads = 1,
		.progress = { .report = cut_file, .ctx = cut },
	};
	struct hdb_rows *rows = NULL;
	struct hdb *handle;
	int r = hdb_open(db, &opt, &handle, err);

	if (r < 0)
		return r;
	/* Call 0: before the first query. */
	cut_file(cut, "", 0, 0, "");
	r = hdb_query(handle, query, NULL, &rows, err);
	while (r == HDB_OK)
		r = hdb_rows_next(rows, err);
	hdb_rows_close(rows);
	hdb_close(handle);
	return r;
}

/* The dump is cut between two rows of an answer that reads it. */
static void test_dump_query(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	const struct hdb_open_options open_opt = { .dump_path = copy_path, .threads = 1 };
	const char *const target[] = { "0x20080" };
	const struct hdb_query_args args = { .targets = target, .target_count = 1 };
	struct hdb_rows *rows = NULL;
	struct hdb_error err = { 0 };
	struct hdb *db;
	int r;

	(void)state;
	copy_file(dump_path, copy_path);
	assert_int_equal(hdb_import(copy_path, db_path, &opt, NULL, NULL), HDB_OK);
	assert_int_equal(hdb_open(db_path, &open_opt, &db, NULL), HDB_OK);
	assert_int_equal(hdb_query(db, "object", &args, &rows, NULL), HDB_OK);
	hdb_rows_close(rows);
	assert_int_equal(truncate(copy_path, 0), 0);
	rows = NULL;
	r = hdb_query(db, "object", &args, &rows, &err);
	while (r == HDB_OK)
		r = hdb_rows_next(rows, &err);
	expect_reported(r, &err, "dump", 0);
	hdb_rows_close(rows);
	hdb_close(db);
}

/* Cuts the database during queries, and at each progress report while tables are built. */
static void test_database(void **state)
{
	static const char *const queries[] = { "dominators", "histogram", "check", "top", "path" };
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	unsigned told = 0, cuts = 0;
	off_t whole;

	(void)state;
	assert_int_equal(hdb_import(dump_path, db_path, &opt, NULL, NULL), HDB_OK);
	whole = size_of(db_path);
	for (size_t q = 0; q < sizeof(queries) / sizeof(queries[0]); q++) {
		unsigned reports = 0;

		for (unsigned at = UINT_MAX; at == UINT_MAX || at < reports; at++) {
			struct cut cut = { copy_path, at % 2 ? 8192 : whole / 8192 * 4096, at, 0 };
			struct hdb_error err = { 0 };
			int r;

			copy_file(db_path, copy_path);
			r = ask(copy_path, dump_path, &cut, queries[q], &err);
			temp_remove_db(copy_path);
			if (r == HDB_EUSAGE)
				break;
			if (r < 0 && r != HDB_EIO && r != HDB_ECORRUPT)
				fail_msg("%s cut at report %u: result %d: %s", queries[q], at, r,
					 err.message);
			told += r < 0;
			cuts++;
			if (at == UINT_MAX)
				reports = cut.calls;
		}
	}
	print_message("%u cuts, %u told\n", cuts, told);
	assert_true(told > cuts / 4);
}

static int setup(void **state)
{
	struct hw w;

	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "cut.hprof");
	hostile_path(db_path, sizeof(db_path), "cut.heapdb");
	hostile_path(copy_path, sizeof(copy_path), "copy");
	hostile_dump(&w, HOSTILE_JAVA8, EXTRA);
	if (hw_save(&w, dump_path) != 0)
		return -1;
	hw_release(&w);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	temp_remove_db(copy_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump_import),
		cmocka_unit_test(test_dump_query),
		cmocka_unit_test(test_database),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

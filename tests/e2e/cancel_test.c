/*
 * tests/e2e/cancel_test.c - the cancel flag, set at the beginning and in the middle of each stage
 * of an operation: the operation ends within a second of processor time and leaves nothing behind.
 *
 * HEAPDB_HOSTILE=long: 8 million objects and every query.
 */
#include "heapdb.h"

#include "support/hostile.h"
#include "support/temp.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <cmocka.h>

#define SECONDS_MAX 1.0
/* Greater than the number of stages of any operation. */
#define STAGES_MAX 64

static char dump_path[512], packed_path[512], db_path[512], out_path[512];
static volatile int cancel;

/* ---- the point of cancellation ---- */

static struct {
	unsigned stage; /* number of the cancelled stage, starting at 0 */
	bool at_half;   /* cancel in the middle of the stage, not at its beginning */
	unsigned now;   /* number of stages that have begun */
	char name[80];  /* name of the current stage */
	double at;      /* processor time when the flag was set; 0: not yet */
} where;

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(void *ctx, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
	(void)ctx;
	(void)unit;
	if (cancel)
		return;
	if (!where.now || strcmp(where.name, stage) != 0 || !done) {
		where.now++;
		(void)snprintf(where.name, sizeof(where.name), "%s", stage);
	}
	if (where.now == where.stage + 1 && (!where.at_half || (total && done * 2 >= total))) {
		where.at = cpu_seconds();
		cancel = 1;
	}
}

static struct hdb_progress progress(void)
{
	return (struct hdb_progress){ .report = report, .cancel = &cancel };
}

/* ---- operations ---- */

struct operation {
	const char *name;
	int (*run)(const char *query, struct hdb_error *err);
	const char *query;
};

static int import(const char *path, struct hdb_error *err)
{
	const struct hdb_import_options options = { .struct_size = sizeof(options),
						    .progress = progress(),
						    .no_sync = 1 };

	return hdb_import(path, out_path, &options, NULL, err);
}

static int run_import(const char *query, struct hdb_error *err)
{
	(void)query;
	return import(dump_path, err);
}

static int run_import_packed(const char *query, struct hdb_error *err)
{
	(void)query;
	return import(packed_path, err);
}

static void copy_database(void)
{
	char command[1200];

	(void)snprintf(command, sizeof(command), "cp '%s' '%s'", db_path, out_path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a path of our own */
}

/* On a database without derived tables, so that their builds are cancelled, too. */
static int run_query(const char *query, struct hdb_error *err)
{
	const struct hdb_open_options options = { .struct_size = sizeof(options),
						  .progress = progress(),
						  .no_sync = 1 };
	struct hdb_rows *rows = NULL;
	struct hdb *db = NULL;
	int r;

	copy_database();
	r = hdb_open(out_path, &options, &db, err);
	if (r == HDB_OK)
		r = hdb_query(db, query, NULL, &rows, err);
	while (r == HDB_OK)
		r = hdb_rows_next(rows, err);
	hdb_rows_close(rows);
	hdb_close(db);
	temp_remove_db(out_path);
	return r;
}

static int run_convert(const char *query, struct hdb_error *err)
{
	const struct hdb_output_options output = { .progress = progress() };
	const struct hdb_convert_options options = { .output = &output, .segments = 1 };

	return hdb_convert(query ? packed_path : dump_path, out_path, &options, NULL, err);
}

static int run_strip(const char *query, struct hdb_error *err)
{
	const struct hdb_output_options output = { .progress = progress() };
	const struct hdb_strip_options options = { .output = &output };

	(void)query;
	return hdb_strip(packed_path, out_path, &options, NULL, err);
}

static int run_redact(const char *query, struct hdb_error *err)
{
	const struct hdb_output_options output = { .progress = progress() };
	const struct hdb_redact_options options = { .output = &output };

	(void)query;
	return hdb_redact(dump_path, out_path, &options, NULL, err);
}

/* ---- tests ---- */

/* Counts the files in the directory whose names begin like the output's. */
static unsigned left_behind(void)
{
	char folder[512];
	const char *name = strrchr(out_path, '/') + 1;
	const struct dirent *entry;
	unsigned count = 0;
	DIR *dir;

	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(name - out_path), out_path);
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		count += strncmp(entry->d_name, name, strlen(name)) == 0;
	(void)closedir(dir);
	return count;
}

/* Cancels one stage. Returns false if the operation ended before it. */
static bool try_stage(const struct operation *o, unsigned stage, bool at_half)
{
	struct hdb_error err = { 0 };
	double seconds;
	int r;

	cancel = 0;
	memset(&where, 0, sizeof(where));
	where.stage = stage;
	where.at_half = at_half;
	r = o->run(o->query, &err);
	seconds = cancel ? cpu_seconds() - where.at : 0;
	if (cancel && hostile_is_long())
		print_message("%-24s %-34s %s %5.2f s\n", o->name, where.name,
			      at_half ? "middle" : "begin ", seconds);
	if (seconds > SECONDS_MAX && !HOSTILE_HAS_SANITIZER)
		fail_msg("%s: %s: %.2f s after it was cancelled", o->name, where.name, seconds);
	/* An operation that ended before the flag was checked counts as successful. */
	if (r < 0 && r != HDB_EINTR)
		fail_msg("%s: %s: %d %s", o->name, where.name, r, err.message);
	if (r >= 0)
		temp_remove_db(out_path);
	if (left_behind())
		fail_msg("%s: %s: left something behind", o->name, where.name);
	return where.now > stage;
}

static unsigned try_operation(const struct operation *o)
{
	unsigned stage = 0;

	while (try_stage(o, stage, false)) {
		(void)try_stage(o, stage, true);
		stage++;
		assert_true(stage < STAGES_MAX);
	}
	if (!hostile_is_long())
		print_message("%s: %u stages\n", o->name, stage);
	return stage;
}

static void test_cancel(void **state)
{
	static const struct operation operations[] = {
		{ "import", run_import, NULL },
		{ "import of .zst", run_import_packed, NULL },
		{ "convert", run_convert, NULL },
		{ "convert of .zst", run_convert, "zst" },
		{ "strip", run_strip, NULL },
		{ "redact", run_redact, NULL },
		{ "leaks", run_query, "leaks" },
		{ "check", run_query, "check" },
		{ "duplicates", run_query, "duplicates" },
	};
	const struct hdb_query_spec *spec;
	unsigned stages = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!operations[i].query || operations[i].run != run_query || !hostile_is_long())
			stages += try_operation(&operations[i]);
	for (size_t i = 0; hostile_is_long() && (spec = hdb_query_at(i)) != NULL; i++)
		if (!spec->target_min && strcmp(spec->name, "diff") != 0)
			stages += try_operation(
				&(struct operation){ spec->name, run_query, spec->name });
	print_message("%u stages\n", stages);
	assert_true(stages > 20);
}

static int setup(void **state)
{
	const struct hdb_output_options zstd = { .packing = HDB_PACKING_ZSTD };
	const struct hdb_convert_options packed = { .output = &zstd };
	const struct hdb_import_options options = { .struct_size = sizeof(options), .no_sync = 1 };
	struct hdb_error err;
	char command[700];

	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "cancel.hprof");
	hostile_path(packed_path, sizeof(packed_path), "cancel-packed.hprof.zst");
	hostile_path(db_path, sizeof(db_path), "cancel.heapdb");
	hostile_path(out_path, sizeof(out_path), "cancelled");
	(void)snprintf(command, sizeof(command), "hprofgen random --objects %s -o '%s' > /dev/null",
		       hostile_is_long() ? "8M" : "100K", dump_path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a path of our own */
	assert_int_equal(hdb_convert(dump_path, packed_path, &packed, NULL, &err), HDB_OK);
	assert_int_equal(hdb_import(dump_path, db_path, &options, NULL, &err), HDB_OK);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	(void)unlink(packed_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cancel) };

	return cmocka_run_group_tests(tests, setup, teardown);
}

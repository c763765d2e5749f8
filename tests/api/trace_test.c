/*
 * tests/api/trace_test.c - importing traces through the API: progress is reported on the calling
 * thread, and a cancelled import leaves nothing behind.
 */
#include "heapdb.h"

#include "support/temp.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <cmocka.h>

struct seen {
	pthread_t caller;
	unsigned reports, of_others;
	volatile int cancel;
	bool cancels;
};

static void on_report(void *ctx, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
	struct seen *seen = ctx;

	(void)stage;
	(void)done;
	(void)total;
	(void)unit;
	seen->reports++;
	seen->of_others += !pthread_equal(pthread_self(), seen->caller);
	seen->cancel = seen->cancels;
}

static int import(struct seen *seen, const char *db_path, struct hdb_error *err)
{
	const struct hdb_import_options options = {
		.struct_size = sizeof(options),
		.threads = 2,
		.snapshot = 2,
		.progress = { .report = on_report, .ctx = seen, .cancel = &seen->cancel },
	};

	seen->caller = pthread_self();
	return hdb_import("tests/corpus/perfetto/mini.pftrace", db_path, &options, NULL, err);
}

static void test_progress(void **state)
{
	const char *path = temp_path("trace.heapdb");
	struct seen seen = { 0 };
	struct hdb_error err;

	(void)state;
	assert_int_equal(import(&seen, path, &err), HDB_OK);
	assert_true(seen.reports > 0);
	assert_int_equal(seen.of_others, 0);
	temp_remove_db(path);
}

static void test_cancel(void **state)
{
	const char *path = temp_path("cancelled.heapdb");
	struct seen seen = { .cancels = true };
	struct hdb_error err;

	(void)state;
	assert_int_equal(import(&seen, path, &err), HDB_EINTR);
	assert_int_not_equal(access(path, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

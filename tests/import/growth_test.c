/*
 * growth_test.c - dumps that reveal quadratic work: import, tables and all queries run on a dump
 * and on a dump that is eight times as big. Linear work takes eight times the processor time,
 * quadratic work 64 times; 24 is the limit.
 *
 * HEAPDB_HOSTILE=long: twelve times as big, and a million of each thing of which a dump can have a
 * million:
 * classes in one chain, roots on one object, threads, class loaders, brackets in one name,
 * problems, names.
 */
#include "support/hostile.h"
#include "support/temp.h"
#include "support/traps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

/* Below this time, the clock's resolution and fixed costs dominate. */
#define TIME_MIN_US 4000

static char dump_path[512], db_path[512];

static uint64_t cpu_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t measure(const struct trap *trap, uint64_t n)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err = { 0 };
	uint64_t start, hash;

	trap_write(trap, n, dump_path);
	start = cpu_us();
	if (hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK ||
	    hostile_answers(db_path, dump_path, &hash, &err) != HDB_OK)
		fail_msg("%s of %" PRIu64 ": %s", trap->name, n, err.message);
	return cpu_us() - start;
}

/* Runs a trap with n and with TRAP_TIMES n items. Returns whether its time grows too fast. */
static bool grows(const struct trap *trap, uint64_t n)
{
	uint64_t small = measure(trap, n), big = measure(trap, n * TRAP_TIMES);

	if (small < TIME_MIN_US)
		small = TIME_MIN_US;
	if (big > TRAP_GROWTH_MAX * small)
		big = measure(trap, n * TRAP_TIMES);
	print_message("%-26s %8" PRIu64 ": %8" PRIu64 " us, %8" PRIu64 ": %8" PRIu64
		      " us, times %.1f\n",
		      trap->name, n, small, n * TRAP_TIMES, big, (double)big / (double)small);
	return big > TRAP_GROWTH_MAX * small;
}

static void test_growth(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t t = 0; t < trap_count; t++)
		failed += grows(&traps[t], traps[t].n * (hostile_is_long() ? 12 : 1));
	assert_int_equal(failed, 0);
}

static void test_million(void **state)
{
	unsigned failed = 0;

	(void)state;
	if (!hostile_is_long())
		skip();
	for (size_t t = 0; t < trap_count; t++)
		failed += traps[t].million_n && grows(&traps[t], traps[t].million_n);
	assert_int_equal(failed, 0);
}

static int setup(void **state)
{
	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "growth.hprof");
	hostile_path(db_path, sizeof(db_path), "growth.heapdb");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_growth),
					    cmocka_unit_test(test_million) };

	return cmocka_run_group_tests(tests, setup, teardown);
}

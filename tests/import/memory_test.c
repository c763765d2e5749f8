/*
 * memory_test.c - the memory budget holds as classes, names, roots, threads and class
 * loaders grow: import and every query without a target take no more anonymous memory than the
 * budget. If a budget is too small for so many classes, all of them fail, and report a budget that
 * suffices.
 *
 * HEAPDB_HOSTILE=long: four times as many things with four times the budget, every query.
 */
#include "base/flag.h"
#include "support/hostile.h"
#include "support/temp.h"
#include "support/traps.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

#define MIB ((uint64_t)1024 * 1024)

static char dump_path[512], db_path[512];

/* ---- memory of a process ---- */

static struct {
	pthread_t thread;
	base_flag is_over;
	uint64_t peak;
} sampler;

static uint64_t anonymous_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	uint64_t kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %" SCNu64, &kb) == 1)
			break;
	if (f)
		(void)fclose(f);
	return kb * 1024;
}

static void *sample(void *ctx)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	(void)ctx;
	while (!base_flag_is_set(&sampler.is_over)) {
		const uint64_t now = anonymous_bytes();

		if (now > sampler.peak)
			sampler.peak = now;
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

struct outcome {
	uint64_t peak;
	int code;
	char message[HDB_ERROR_SIZE];
};

/* Imports, or runs one query, in a separate process. */
static struct outcome run(const char *query, uint64_t budget)
{
	struct outcome out = { 0 };
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		const struct hdb_import_options import = { .force = 1,
							   .threads = 1,
							   .memory_bytes = budget };
		const struct hdb_open_options open = { .threads = 1,
						       .memory_bytes = budget,
						       .no_sync = 1 };
		struct hdb_error err = { 0 };
		struct hdb_rows *rows = NULL;
		struct hdb *db = NULL;

		(void)pthread_create(&sampler.thread, NULL, sample, NULL);
		if (!query) {
			out.code = hdb_import(dump_path, db_path, &import, NULL, &err);
		} else {
			out.code = hdb_open(db_path, &open, &db, &err);
			if (out.code == HDB_OK)
				out.code = hdb_query(db, query, NULL, &rows, &err);
			while (out.code == HDB_OK)
				out.code = hdb_rows_next(rows, &err);
		}
		base_flag_set(&sampler.is_over, 1);
		(void)pthread_join(sampler.thread, NULL);
		out.peak = sampler.peak;
		(void)snprintf(out.message, sizeof(out.message), "%s", err.message);
		if (write(ends[1], &out, sizeof(out)) != (ssize_t)sizeof(out))
			_exit(1);
		_exit(0);
	}
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &out, sizeof(out)), sizeof(out));
	(void)close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return out;
}

/* ---- dumps ---- */

/* Classes with different names, in chains of 50. */
static void many_classes(struct hw *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "com/p%" PRIu64 "/C%" PRIu64, i % 1000, i);
		hw_utf8(w, 1000 + i, name);
		hw_load_class(w, (uint32_t)(100 + i), 0x20000000 + i * 8, 0, 1000 + i);
	}
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (uint64_t i = 0; i < n; i++) {
		const struct hw_class class = { .id = 0x20000000 + i * 8,
						.super_id = i % 50 ? 0x20000000 + i * 8 - 8 : 0 };

		hw_class(w, &class);
	}
}

static const struct trap classes = { "classes", many_classes, 0, 0 };

static const struct trap *trap_named(const char *name)
{
	for (size_t t = 0; t < trap_count; t++)
		if (strcmp(traps[t].name, name) == 0)
			return &traps[t];
	return &classes;
}

/* ---- tests ---- */

/*
 * Number of items whose import and queries must fit a budget, and number of items (0: none) that
 * must be refused. Neither may exceed the budget.
 */
static const struct growing {
	const char *name; /* name of a trap, or "classes" */
	uint64_t least, most;
} growing[] = {
	{ "classes", 60000, 150000 }, { "one name, many loaders", 60000, 150000 },
	{ "names", 1200000, 0 },      { "roots on one object", 1500000, 0 },
	{ "threads", 250000, 0 },
};
/* Queries in the short form: the queries that need most memory. */
static const char *const heaviest[] = { "dominator-tree", "top-consumers", "triage", "roots",
					"threads",        "loaders",       "check" };
#define BUDGET ((uint64_t)64 * 1024 * 1024)

/* Returns the budget that an error message names, in bytes; 0: it names none. */
static uint64_t named_budget(const char *message)
{
	const char *at = strstr(message, "--memory ");
	char *end;
	uint64_t n;

	if (!at || !strstr(message, "budget"))
		return 0;
	n = strtoull(at + strlen("--memory "), &end, 10);
	return strcmp(end, "M") == 0 ? n * MIB : strcmp(end, "G") == 0 ? n * MIB * 1024 : 0;
}

/*
 * Whether the process stayed within the budget and either succeeded or failed with a message. If it
 * failed, *suffices is not 0.
 */
static bool is_held(const struct trap *trap, const char *what, uint64_t budget, uint64_t *suffices)
{
	const struct outcome o = run(what, budget);

	*suffices = o.code == HDB_ELIMIT ? named_budget(o.message) : 0;
	if (HOSTILE_HAS_SANITIZER || (o.peak <= budget && (o.code >= 0 || *suffices)))
		return true;
	print_message("%s: %s: %" PRIu64 " MB of %" PRIu64 " MB, result %d %s\n", trap->name,
		      what ? what : "import", o.peak / MIB, budget / MIB, o.code, o.message);
	return false;
}

static bool is_selected(const char *query)
{
	for (size_t i = 0; i < sizeof(heaviest) / sizeof(heaviest[0]); i++)
		if (strcmp(query, heaviest[i]) == 0)
			return true;
	return hostile_is_long() && strcmp(query, "diff") != 0;
}

/* Import and queries succeed, or the import and all queries that need classes fail. */
static unsigned try_trap(const struct trap *trap, uint64_t n, uint64_t budget, bool is_refused)
{
	uint64_t suffices, query_suffices;
	bool is_any_refused = false;
	unsigned failed = 0;
	size_t count;

	trap_write(trap, n, dump_path);
	temp_remove_db(db_path);
	failed += !is_held(trap, NULL, budget, &suffices);
	if ((suffices != 0) != is_refused)
		fail_msg("%s: %" PRIu64 " of them: import suffices %" PRIu64, trap->name, n,
			 suffices);
	count = hdb_query_count();
	/* A database whose import exceeds the budget is still queried within it. */
	if (suffices && run(NULL, suffices).code != HDB_OK)
		fail_msg("%s: no import with the budget that was named", trap->name);
	for (size_t i = 0; i < count; i++)
		if (!hdb_query_at(i)->target_min && is_selected(hdb_query_at(i)->name)) {
			failed += !is_held(trap, hdb_query_at(i)->name, budget, &query_suffices);
			is_any_refused |= query_suffices != 0;
			if (query_suffices && query_suffices != suffices)
				fail_msg("%s: %s refuses otherwise than import", trap->name,
					 hdb_query_at(i)->name);
			if (suffices && run(hdb_query_at(i)->name, suffices).code < 0)
				fail_msg("%s: %s refuses the budget that was named", trap->name,
					 hdb_query_at(i)->name);
		}
	assert_int_equal(is_any_refused, is_refused);
	return failed;
}

static void test_memory(void **state)
{
	const uint64_t times = hostile_is_long() ? 4 : 1;
	unsigned failed = 0;

	(void)state;
	if (access("/proc/self/status", R_OK) != 0) {
		skip();
		return;
	}
	for (size_t g = 0; g < sizeof(growing) / sizeof(growing[0]); g++) {
		const struct trap *trap = trap_named(growing[g].name);

		failed += try_trap(trap, growing[g].least * times, BUDGET * times, false);
		if (growing[g].most)
			failed += try_trap(trap, growing[g].most * times, BUDGET, true);
	}
	assert_int_equal(failed, 0);
}

static int setup(void **state)
{
	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "memory.hprof");
	hostile_path(db_path, sizeof(db_path), "memory.heapdb");
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
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_memory) };

	return cmocka_run_group_tests(tests, setup, teardown);
}

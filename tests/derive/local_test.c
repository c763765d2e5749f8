/*
 * local_test.c - local retained sizes compared with the dominator tree, for every object of real
 * dumps, and the walk that blocks a set. Uses the sample and, if available, ../shared/dumps.
 */
#include "derive/derive.h"
#include "import/import.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SET_SIZE 40
#define SETS 12

/*
 * Sets of objects from all parts of the heap: compares the local method with the walk that blocks
 * the set, which is used if the local method has no budget.
 */
static void compare_sets(struct derive *derive, uint32_t object_count)
{
	const struct graph_retained_options none = { .max_nodes = 1 }, all = { 0 };
	struct hdb_error err = { 0 };
	uint64_t seed = 7;

	for (unsigned turn = 0; turn < SETS; turn++) {
		struct derive_retained_result walked, local;
		uint32_t members[SET_SIZE];

		for (unsigned i = 0; i < SET_SIZE; i++)
			members[i] = object_count / SET_SIZE * i +
				     (uint32_t)(test_random(&seed) % (object_count / SET_SIZE));
		if (derive_retained_set(derive, (struct graph_members){ members, SET_SIZE }, &none,
					&walked, &err) != HDB_OK ||
		    derive_retained_set(derive, (struct graph_members){ members, SET_SIZE }, &all,
					&local, &err) != HDB_OK)
			fail_msg("%s", err.message);
		assert_false(walked.used_local);
		assert_true(local.used_local);
		assert_int_equal(walked.retained_bytes, local.retained_bytes);
		assert_int_equal(walked.retained_count, local.retained_count);
	}
}

static void compare_all(const char *dump)
{
	const struct hdb_import_options opt = { .force = 1, .sizes = HDB_SIZES_MAT };
	/* Without limits, for every object, however much it retains. */
	const struct graph_retained_options limits = { 0 };
	const char *path = temp_path("local.heapdb");
	struct hdb_error err = { 0 };
	struct base_work work;
	struct derive derive;
	struct heap *heap;
	uint64_t sum = 0;

	base_work_init(&work, 0, 2, NULL);
	if (import_dump((struct import_paths){ .dump = dump, .database = path }, &opt, &work, NULL,
			&err) != HDB_OK)
		fail_msg("%s", err.message);
	assert_int_equal(heap_open(path, NULL, &work, &heap, &err), HDB_OK);
	derive_init(&derive, heap, &work);
	for (uint32_t ix = 0; ix < heap->object_count; ix++) {
		struct derive_retained_result local;
		uint64_t bytes;

		if (derive_retained(&derive, ix, &bytes, &err) != HDB_OK ||
		    derive_retained_local(&derive, (struct graph_members){ &ix, 1 }, &limits,
					  &local, &err) != HDB_OK)
			fail_msg("%s", err.message);
		if (bytes != local.retained_bytes)
			fail_msg("object %u: %llu in the table, %llu locally", ix,
				 (unsigned long long)bytes,
				 (unsigned long long)local.retained_bytes);
		sum += bytes;
	}
	assert_true(sum > 0);
	compare_sets(&derive, heap->object_count);
	derive_release(&derive);
	heap_close(heap);
	base_work_release(&work);
	temp_remove_db(path);
}

static void test_sample(void **state)
{
	const char *dump = getenv("DUMP");

	(void)state;
	if (!dump)
		skip();
	compare_all(dump);
}

/* The zstd command unpacks the dump, because the tests do not use the library otherwise. */
static void test_shared(void **state)
{
	static const char *const names[] = { "basics_j25", "graph_random_j17",     "refs_j17_all",
					     "slurp_32",   "android_service_leak", "loaders_j17" };
	const char *root = getenv("HDB_ROOT");
	unsigned seen = 0;

	(void)state;
	for (size_t i = 0; root && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *dump = temp_path("local.hprof");
		char packed[1024], command[2048];

		(void)snprintf(packed, sizeof(packed), "%s/../shared/dumps/%s.hprof.zst", root,
			       names[i]);
		if (access(packed, R_OK) != 0)
			continue;
		(void)snprintf(command, sizeof(command), "zstd -dqf '%s' -o '%s'", packed, dump);
		if (system(command) != 0)
			continue;
		compare_all(dump);
		(void)unlink(dump);
		seen++;
	}
	if (!seen)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

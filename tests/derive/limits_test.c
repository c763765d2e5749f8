/*
 * limits_test.c - limits of derived tables: too many references, classes or objects, and tables
 * without a build function. The functions that count references are called directly, because no
 * heap of that size is available for tests.
 */
#include "derive/referrers.c" /* NOLINT: its functions are static */

#include "derive/totals.h"
#include "import/import.h"
#include "support/hostile.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct hdb_error err;

static void check(int r, int code, const char *message)
{
	if (r != code || !strstr(err.message, message))
		fail_msg("%d \"%s\", expected %d \"%s\"", r, err.message, code, message);
}

/*
 * An object with 2^32 - 1 references to it gets one more. The same for the sum over many objects.
 */
static void test_referrers(void **state)
{
	uint32_t degree[] = { UINT32_MAX, UINT32_MAX };
	struct heap heap = { .object_count = 2 };
	struct derive derive = { .heap = &heap };
	struct turn turn = { .derive = &derive, .degree = { .data = degree } };
	const uint32_t to[] = { 0 };

	(void)state;
	check(count_into(&turn, 0, to, 1, &err), HDB_ELIMIT,
	      "an object has too many referrers (limit 4294967295)");
	degree[0] = UINT32_MAX; /* the counter overflowed */
	check(turn_part(&turn, 0, UINT64_MAX, &err), HDB_ELIMIT,
	      "too many references to sort: 8589934590 references to 16384 objects (limit "
	      "4294967295)");
}

static void test_numbers(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	static char dump[512], db[512];
	struct derive derive;
	struct totals totals = { .derive = &derive };
	struct base_work work;
	uint32_t objects, classes;
	struct heap *heap;
	struct hw w;

	(void)state;
	(void)snprintf(dump, sizeof(dump), "%s", temp_path("limits.hprof"));
	(void)snprintf(db, sizeof(db), "%s", temp_path("limits.heapdb"));
	hostile_dump(&w, HOSTILE_JAVA8, 40);
	assert_int_equal(hw_save(&w, dump), 0);
	hw_release(&w);
	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(import_dump((struct import_paths){ .dump = dump, .database = db }, &opt,
				     &work, NULL, &err),
			 HDB_OK);
	assert_int_equal(heap_open(db, dump, &work, &heap, &err), HDB_OK);
	derive_init(&derive, heap, &work);
	check(derive_need(&derive, STORE_ANSWER_LEAKS, &err), HDB_EBUG,
	      "no function builds table answer.leaks");
	assert_int_equal(derive_need(&derive, STORE_DOMINATORS, &err), HDB_OK);

	objects = heap->object_count;
	heap->object_count = UINT32_MAX - 1;
	check(derive_build_retained_heaps.build(&derive, NULL, &err), HDB_ELIMIT,
	      "too many objects to compute totals by heap");
	heap->object_count = objects;
	classes = heap->class_count;
	heap->class_count = UINT32_MAX - 1;
	check(derive_totals_add_objects(&totals, &err), HDB_ELIMIT,
	      "too many classes for totals: 4294967294 (limit 1431655765)");
	heap->class_count = classes;
	derive_release(&derive);
	heap_close(heap);
	base_work_release(&work);
	(void)unlink(dump);
	temp_remove_db(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_referrers),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

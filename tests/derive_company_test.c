/*
 * derive_company_test.c - several processes on one database: they want the same missing table at once, and some
 * are killed while they build it.
 */
#include "derive/derive.h"
#include "import/import.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

enum { OBJECT = 0x1000, CLASS = 0x1100, NODE = 0x1208, FIRST = 0x10000, COUNT = 120000 };

static char db_path[512];

/* A random graph large enough that building takes some tens of milliseconds. */
static void write_dump(const char *path)
{
	const struct hprof_field fields[] = { { 1, HPROF_OBJECT }, { 1, HPROF_OBJECT } };
	const struct hw_class object = { .id = OBJECT };
	const struct hw_class class = { .id = CLASS, .super_id = OBJECT };
	const struct hw_class node = { .id = NODE, .super_id = OBJECT, .fields = fields,
				       .field_count = 2 };
	uint64_t seed = 99;
	struct hw w;

	hw_init(&w, HPROF_1_0_2, 8, 0);
	hw_utf8(&w, 1, "next");
	hw_utf8(&w, 2, "java/lang/Object");
	hw_utf8(&w, 3, "java/lang/Class");
	hw_utf8(&w, 4, "test/Node");
	hw_load_class(&w, 1, OBJECT, 0, 2);
	hw_load_class(&w, 2, CLASS, 0, 3);
	hw_load_class(&w, 3, NODE, 0, 4);
	(void)hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_class(&w, &object);
	hw_class(&w, &class);
	hw_class(&w, &node);
	for (unsigned i = 0; i < 5; i++)
		hw_root(&w, HPROF_ROOT_JNI_GLOBAL, FIRST + i * 32, 0, 0);
	for (uint64_t i = 0; i < COUNT; i++) {
		uint8_t body[16];

		for (unsigned f = 0; f < 2; f++) {
			const uint64_t to = FIRST + (i + 1 + test_random(&seed) % 50) % COUNT * 32;

			for (unsigned b = 0; b < 8; b++)
				body[f * 8 + b] = (uint8_t)(to >> (56 - 8 * b));
		}
		hw_instance(&w, FIRST + i * 32, NODE, body, 16);
	}
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, path), 0);
	hw_release(&w);
}

static int import_it(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .sizes = HDB_SIZES_MAT };
	struct base_work work;
	char dump[512];

	(void)state;
	(void)snprintf(dump, sizeof(dump), "%s", temp_path("company.hprof"));
	(void)snprintf(db_path, sizeof(db_path), "%s", temp_path("company.heapdb"));
	write_dump(dump);
	base_work_init(&work, 0, 1, NULL);
	return import_dump(dump, db_path, &opt, &work, NULL, NULL);
}

static int remove_it(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	(void)unlink(temp_path("company.hprof"));
	return 0;
}

/* A hash over all retained sizes and totals; 0 on failure. */
static uint64_t answers(void)
{
	struct derive_total *totals = NULL;
	struct hdb_error err = { 0 };
	struct base_work work;
	struct derive derive;
	struct heap *heap;
	uint64_t sum = 1;
	size_t count = 0;

	base_work_init(&work, 0, 1, NULL);
	if (heap_open(db_path, NULL, &work, &heap, &err) != HDB_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 0;
	}
	derive_init(&derive, heap, &work);
	if (derive_totals(&derive, DERIVE_CLASS, &totals, &count, &err) != HDB_OK)
		sum = 0;
	for (size_t i = 0; sum && i < count; i++)
		sum = sum * 31 + totals[i].retained_bytes * 7 + totals[i].count;
	for (uint32_t ix = 0; sum && ix < heap->object_count; ix += 37) {
		struct derive_retained_result local;
		uint64_t bytes;

		if (derive_retained(&derive, ix, &bytes, &err) != HDB_OK)
			sum = 0;
		else
			sum = sum * 31 + bytes;
		if (sum && ix % 100 == 0 &&
		    derive_retained_local(&derive, &ix, 1, NULL, &local, &err) == HDB_OK &&
		    local.retained_bytes != bytes)
			sum = 0;
	}
	if (!sum)
		(void)fprintf(stderr, "failed: %s\n", err.message);
	free(totals);
	derive_release(&derive);
	heap_close(heap);
	return sum;
}

static pid_t ask_in_child(uint64_t want)
{
	const pid_t child = fork();

	if (child == 0) {
		const uint64_t got = answers();

		_exit(got && (!want || got == want) ? 0 : 1);
	}
	return child;
}

static void test_killed_builders(void **state)
{
	uint64_t seed = 1234;
	struct base_work work;
	struct store *store;
	struct stat st;
	uint64_t blocks;

	(void)state;
	for (unsigned i = 0; i < 25; i++) {
		const pid_t child = ask_in_child(0);
		int status;

		(void)usleep((useconds_t)(test_random(&seed) % 60000));
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		base_work_init(&work, 0, 1, NULL);
		assert_int_equal(store_open(db_path, &store, NULL), HDB_OK);
		assert_int_equal(store_check(store, &work, &blocks, NULL), HDB_OK);
		store_close(store);
	}
	assert_int_not_equal(answers(), 0);
	assert_int_equal(stat(db_path, &st), 0);
	/* What killed builds left was used again: 25 builds did not pile up. */
	assert_true(st.st_size < 30 << 20);
}

static void test_many_at_once(void **state)
{
	pid_t children[6];
	uint64_t want;

	(void)state;
	(void)import_it(NULL);
	for (unsigned i = 0; i < 6; i++)
		children[i] = ask_in_child(0);
	for (unsigned i = 0; i < 6; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	want = answers();
	assert_int_not_equal(want, 0);
	/* The same answers as from a database built by one alone. */
	(void)import_it(NULL);
	assert_int_equal(answers(), want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_builders), cmocka_unit_test(test_many_at_once),
	};

	return cmocka_run_group_tests(tests, import_it, remove_it);
}

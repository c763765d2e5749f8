/*
 * heap_test.c - tests the pass over all blocks of objects (heap/heap.h): in order, complete, ended
 * early, failed and cancelled.
 */
#include "heap/heap.h"
#include "import/import.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { OBJECT = 0x1000, CLASS = 0x1100, NODE = 0x1200, FIRST = 0x10000, STEP = 0x10 };
/* Two full blocks, and part of a third. */
#define NODES (2 * STORE_BLOCK_OBJECTS + 100)

static struct base_work work;
static struct heap *heap;
static char db_path[512];

static int open_heap(void **state)
{
	static const char *const names[] = { "java/lang/Object", "java/lang/Class", "test/Node" };
	static const uint64_t ids[] = { OBJECT, CLASS, NODE };
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	const char *dump_path = temp_path("heap.hprof");
	struct hdb_error err = { 0 };
	struct hw w;

	(void)state;
	(void)snprintf(db_path, sizeof(db_path), "%s", temp_path("heap.heapdb"));
	hw_init(&w, HPROF_1_0_2, 4, 0);
	for (uint32_t i = 0; i < 3; i++) {
		hw_utf8(&w, i + 1, names[i]);
		hw_load_class(&w, i + 1, ids[i], 0, i + 1);
	}
	(void)hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct hw_class class = { .id = ids[i], .super_id = i ? OBJECT : 0 };

		hw_class(&w, &class);
	}
	for (uint32_t i = 0; i < NODES; i++)
		hw_instance(&w, FIRST + i * STEP, NODE, NULL, 0);
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, dump_path), 0);
	hw_release(&w);
	base_work_init(&work, 0, 1, NULL);
	if (import_dump((struct import_paths){ .dump = dump_path, .database = db_path }, &opt,
			&work, NULL, &err) < 0 ||
	    heap_open(db_path, NULL, &work, &heap, &err) < 0)
		fail_msg("%s", err.message);
	(void)unlink(dump_path);
	return 0;
}

static int close_heap(void **state)
{
	(void)state;
	heap_close(heap);
	base_work_release(&work);
	temp_remove_db(db_path);
	return 0;
}

/* Action at the second block of the pass. */
struct pass {
	uint32_t blocks, objects;
	int result;
	int cancelled; /* set there, if `cancels` */
	bool cancels;
};

static int look(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct pass *p = ctx;
	struct heap_object object;

	assert_int_equal(heap_block_no(block), p->blocks);
	assert_int_equal(block->first_ix, p->objects);
	for (uint32_t i = 0; i < block->count; i += block->count / 2) {
		assert_int_equal(heap_object(heap, block->first_ix + i, &object, err), HDB_OK);
		assert_int_equal(block->class_no[i], object.class_no);
		assert_int_equal(block->kind[i], object.kind);
		assert_int_equal(block->shallow[i], object.shallow_bytes);
	}
	p->blocks++;
	p->objects += block->count;
	if (p->blocks != 2)
		return HDB_OK;
	p->cancelled = p->cancels;
	return p->result < 0 ? hdb_fail(err, p->result, "enough") : p->result;
}

static void test_each_block(void **state)
{
	struct pass p = { 0 };

	(void)state;
	assert_int_equal(heap_each_block(heap, &work, look, &p, NULL), HDB_OK);
	assert_int_equal(p.blocks, heap_block_count(heap));
	assert_int_equal(p.blocks, 3);
	assert_int_equal(p.objects, heap->object_count);
}

static void test_ended(void **state)
{
	static const int results[] = { HDB_END, HDB_NOTFOUND, HDB_ECORRUPT };

	(void)state;
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct pass p = { .result = results[i] };
		struct hdb_error err = { 0 };

		assert_int_equal(heap_each_block(heap, &work, look, &p, &err), results[i]);
		assert_int_equal(p.blocks, 2);
		assert_string_equal(err.message, results[i] < 0 ? "enough" : "");
	}
}

/* Only a pass that gets a struct base_work checks for cancellation. */
static void test_cancelled(void **state)
{
	struct pass p = { .cancels = true };
	struct hdb_error err = { 0 };

	(void)state;
	work.progress.cancel = &p.cancelled;
	assert_int_equal(heap_each_block(heap, &work, look, &p, &err), HDB_EINTR);
	assert_int_equal(p.blocks, 2);
	p = (struct pass){ .cancels = true };
	assert_int_equal(heap_each_block(heap, NULL, look, &p, &err), HDB_OK);
	assert_int_equal(p.blocks, 3);
	work.progress.cancel = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_block),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_cancelled),
	};

	return cmocka_run_group_tests(tests, open_heap, close_heap);
}

/*
 * pipeline_test.c - tests base/pipeline.c, and the small containers of base/.
 */
#include "base/idmap.h"
#include "base/pipeline.h"
#include "base/source.h"
#include "base/vec.h"
#include "base/work.h"
#include "support/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct run {
	uint64_t slots[12];
	uint64_t next;
	uint64_t fail_at; /* UINT64_MAX: never */
	bool fail_in_consume;
};

static int produce(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct run *run = ctx;

	if (!run->fail_in_consume && item >= run->fail_at)
		return hdb_fail(err, HDB_ELIMIT, "item %d", (int)item);
	/* Later items take less time, so they could overtake earlier items. */
	for (volatile uint64_t spin = item % 7 ? 10 : 20000; spin; spin--)
		;
	run->slots[slot] = item * item;
	return HDB_OK;
}

static int consume(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct run *run = ctx;

	assert_int_equal(item, run->next);
	assert_int_equal(run->slots[slot], item * item);
	run->next++;
	if (run->fail_in_consume && item == run->fail_at)
		return hdb_fail(err, HDB_EIO, "taking %d", (int)item);
	return HDB_OK;
}

static void test_order(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		for (unsigned slots = 1; slots <= 12; slots += 3) {
			struct run run = { .fail_at = UINT64_MAX };
			const struct base_pipeline p = {
				.item_count = 500,
				.threads = threads,
				.slot_count = slots,
				.ctx = &run,
				.produce = produce,
				.consume = consume,
			};

			assert_int_equal(base_pipeline_run(&p, NULL), HDB_OK);
			assert_int_equal(run.next, 500);
		}
	}
}

/* The result is the first failure in item order, whatever the order in which threads ran. */
static void test_failure(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct run run = { .fail_at = 123 };
		struct base_pipeline p = {
			.item_count = 500,
			.threads = threads,
			.slot_count = 8,
			.ctx = &run,
			.produce = produce,
			.consume = consume,
		};
		struct hdb_error err;

		assert_int_equal(base_pipeline_run(&p, &err), HDB_ELIMIT);
		assert_string_equal(err.message, "item 123");
		assert_int_equal(run.next, 123);
		run = (struct run){ .fail_at = 77, .fail_in_consume = true };
		assert_int_equal(base_pipeline_run(&p, &err), HDB_EIO);
		assert_string_equal(err.message, "taking 77");
	}
}

static void test_idmap(void **state)
{
	struct base_idmap map = { 0 };
	uint64_t seed = 5;

	(void)state;
	assert_int_equal(base_idmap_get(&map, 1), BASE_IDMAP_NONE);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(base_idmap_put(&map, test_random(&seed), i, NULL), HDB_OK);
	assert_int_equal(base_idmap_put(&map, 0, 4711, NULL), HDB_OK);
	assert_int_equal(map.count, 100001);
	seed = 5;
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(base_idmap_get(&map, test_random(&seed)), i);
	assert_int_equal(base_idmap_get(&map, 0), 4711);
	assert_int_equal(base_idmap_get(&map, test_random(&seed)), BASE_IDMAP_NONE);
	base_idmap_release(&map);
}

static void test_vec_overflow(void **state)
{
	struct base_vec vec = { 0 };
	struct hdb_error err;

	(void)state;
	assert_int_equal(base_vec_reserve(&vec, SIZE_MAX, 8, &err), HDB_ENOMEM);
	assert_int_equal(base_vec_reserve(&vec, SIZE_MAX / 8 + 1, 8, &err), HDB_ENOMEM);
	assert_int_equal(base_vec_push(&vec, "abcdefgh", 8, &err), HDB_OK);
	assert_int_equal(vec.count, 1);
	base_vec_release(&vec);
}

/*
 * A file that shrinks while it is mapped reads as zeros and gives an error with the offset, but no
 * signal.
 */
static void test_shrinking_file(void **state)
{
	const char *path = temp_path("shrink");
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct base_source *source;
	struct base_view view;
	struct hdb_error err;
	const uint8_t *p;
	unsigned sum = 0;

	(void)state;
	base_sigbus_install();
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(base_map_open(path, BASE_RANDOM, &source, &err), HDB_OK);
	view = (struct base_view){ .src = source };
	assert_int_equal(ftruncate(fd, 8192), 0);
	p = base_view_at(&view, 0, 1 << 20, &err);
	assert_non_null(p);
	for (unsigned i = 0; i < 1 << 20; i += 512)
		sum += p[i];
	assert_int_equal(sum, 0);
	assert_int_equal(source->check(source, &err), HDB_EIO);
	assert_non_null(strstr(err.message, "8192"));
	base_source_close(source);
	(void)close(fd);
	(void)unlink(path);
}

static void test_open_errors(void **state)
{
	struct base_source *source = NULL;
	struct hdb_error err;
	const char *path = temp_path("empty");

	(void)state;
	(void)close(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600));
	assert_int_equal(base_map_open(path, BASE_RANDOM, &source, &err), HDB_EFORMAT);
	assert_non_null(strstr(err.message, "empty"));
	assert_int_equal(base_map_open("/", BASE_RANDOM, &source, &err), HDB_EFORMAT);
	assert_non_null(strstr(err.message, "directory"));
	assert_int_equal(base_map_open("/nowhere/at/all", BASE_RANDOM, &source, &err), HDB_EABSENT);
	assert_int_equal(base_map_open("/dev/null", BASE_RANDOM, &source, &err), HDB_EFORMAT);
	(void)unlink(path);
}

/* Beyond the budget, big arrays are in a file. They are still zeroed and writable. */
static void test_big_arrays(void **state)
{
	struct base_work work;
	struct base_big small, large;
	const char *dir = getenv("TMPDIR");

	(void)state;
	base_work_init(&work, 16 << 20, 1, NULL);
	work.scratch_dir = dir ? dir : "/tmp";
	assert_int_equal(base_big_alloc(&work, &small, 8 << 20, "test", NULL), HDB_OK);
	assert_false(small.is_file);
	assert_int_equal(base_big_alloc(&work, &large, 12 << 20, "test", NULL), HDB_OK);
	assert_true(large.is_file);
	assert_int_equal(work.memory_used, 8 << 20);
	assert_int_equal(((uint8_t *)large.data)[(12 << 20) - 1], 0);
	memset(large.data, 1, 12 << 20);
	base_big_free(&large);
	base_big_free(&small);
	assert_int_equal(work.memory_used, 0);
}

struct parts {
	pthread_t caller;
	int result[4];
	_Atomic unsigned called, on_caller;
};

static int part(void *ctx, unsigned no, struct hdb_error *err)
{
	struct parts *parts = ctx;

	parts->called |= 1u << no;
	if (pthread_equal(pthread_self(), parts->caller))
		parts->on_caller |= 1u << no;
	return parts->result[no] < 0 ? hdb_fail(err, parts->result[no], "part %u", no) :
				       parts->result[no];
}

/*
 * All functions run, the first on the calling thread. The result is the first failure. HDB_END is
 * not a failure.
 */
static void test_parts(void **state)
{
	struct parts parts = { .caller = pthread_self(), .result = { HDB_OK, HDB_END } };
	struct hdb_error err;

	(void)state;
	assert_int_equal(base_pipeline_parts(4, &parts, part, &err), HDB_OK);
	assert_int_equal(parts.called, 0xf);
	assert_int_equal(parts.on_caller, 1);
	parts.result[2] = HDB_ELIMIT;
	parts.result[3] = HDB_EINTR;
	assert_int_equal(base_pipeline_parts(4, &parts, part, &err), HDB_ELIMIT);
	assert_string_equal(err.message, "part 2");
	parts.called = 0;
	assert_int_equal(base_pipeline_parts(1, &parts, part, &err), HDB_OK);
	assert_int_equal(parts.called, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),          cmocka_unit_test(test_failure),
		cmocka_unit_test(test_idmap),          cmocka_unit_test(test_vec_overflow),
		cmocka_unit_test(test_shrinking_file), cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_big_arrays),     cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

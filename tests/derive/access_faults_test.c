/*
 * access_faults_test.c - makes the n-th call that can fail do so, in functions that read parts of
 * the graph. The result is an error or the right answer, nothing leaks, and a second attempt gives
 * the right answer.
 *
 * Link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup
 * Link with: -Wl,--wrap=strndup
 * Link with: -Wl,--wrap=realpath
 * Link with: -Wl,--wrap=asprintf,--wrap=mmap,--wrap=open,--wrap=fopen,--wrap=fstat,--wrap=stat
 * Link with: -Wl,--wrap=write,--wrap=close,--wrap=opendir,--wrap=linkat,--wrap=read
 * Link with: -Wl,--wrap=pread,--wrap=rename,--wrap=fchmod,--wrap=fcntl,--wrap=posix_fallocate
 * Link with: -Wl,--wrap=mkostemp,--wrap=mkdtemp,--wrap=pthread_create
 * Link with: -Wl,--wrap=mdb_env_create,--wrap=mdb_env_open,--wrap=mdb_env_sync
 * Link with: -Wl,--wrap=mdb_txn_begin,--wrap=mdb_txn_commit,--wrap=mdb_dbi_open
 * Link with: -Wl,--wrap=mdb_cursor_open,--wrap=mdb_cursor_get,--wrap=mdb_cursor_del
 * Link with: -Wl,--wrap=mdb_put,--wrap=mdb_del,--wrap=mdb_env_get_fd,--wrap=mdb_get
 */
#include "derive/derive.h"
#include "import/import.h"
#include "support/faults.h"
#include "support/hostile.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char dump_path[512], db_path[512];

/* A hash of the retained sizes of all objects, computed by the local method. */
static int ask(struct derive *derive, uint64_t *hash, struct hdb_error *err)
{
	const struct graph_retained_options no_limits = { 0 };

	*hash = 0;
	for (uint32_t ix = 0; ix < derive->heap->object_count; ix++) {
		struct derive_retained_result result;
		const int r = derive_retained_local(derive, (struct graph_members){ &ix, 1 },
						    &no_limits, &result, err);

		if (r != HDB_OK)
			return r;
		*hash = *hash * 31 + result.retained_bytes * 7 + result.retained_count;
	}
	return HDB_OK;
}

/*
 * Computes the answer twice on one heap, the first time with a fault. Returns the number of calls
 * that could fail.
 */
static unsigned long ask_twice(unsigned long at, bool is_sticky, uint64_t *want)
{
	struct hdb_error err = { 0 };
	struct base_work work;
	struct derive derive;
	struct heap *heap;
	uint64_t first, second;
	int r;

	fault.live = 0;
	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(heap_open(db_path, dump_path, &work, &heap, &err), HDB_OK);
	derive_init(&derive, heap, &work);
	fault.at = at;
	fault.is_sticky = is_sticky;
	fault.count = 0;
	fault.failed = "nothing";
	fault.is_armed = true;
	r = ask(&derive, &first, &err);
	fault.is_armed = false;
	if (r > 0 || (r < 0 && !err.message[0]) || (!at && r < 0))
		fail_msg("call %lu (%s): result %d, \"%s\"", at, fault.failed, r, err.message);
	if (!at)
		*want = first;
	if (r == HDB_OK && first != *want)
		fail_msg("call %lu (%s): another answer", at, fault.failed);
	if (ask(&derive, &second, &err) != HDB_OK)
		fail_msg("call %lu (%s): then: %s", at, fault.failed, err.message);
	if (second != *want)
		fail_msg("call %lu (%s): then another answer", at, fault.failed);
	derive_release(&derive);
	heap_close(heap);
	base_work_release(&work);
	if (fault.live != 0)
		fail_msg("call %lu (%s): %ld blocks of memory leak", at, fault.failed, fault.live);
	return fault.count;
}

static void test_retained_local(void **state)
{
	uint64_t want = 0;
	unsigned long calls;

	(void)state;
	/* Builds the tables. */
	(void)ask_twice(0, false, &want);
	calls = ask_twice(0, false, &want);
	assert_true(calls > 10);
	for (unsigned long at = 1; at <= calls; at++) {
		(void)ask_twice(at, false, &want);
		(void)ask_twice(at, true, &want);
	}
}

enum { OBJECT = 0x100, CLASS = 0x200, SHARED = 0x300, FIRST = 0x1000 };

/* A class object that only its two instances hold, and no root: neither of them retains it. */
static void put_dump(struct hw *w)
{
	static const char *const names[] = { "java/lang/Object", "java/lang/Class", "Shared" };

	hw_init(w, HPROF_1_0_2, 8, 1234567890);
	for (unsigned i = 0; i < 3; i++) {
		hw_utf8(w, i + 1, names[i]);
		hw_load_class(w, i + 1, OBJECT + i * 0x100, 1, i + 1);
	}
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_root(w, HPROF_ROOT_STICKY_CLASS, OBJECT, 0, 0);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST, 1, 0);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 0x10, 1, 0);
	hw_class(w, &(struct hw_class){ .id = OBJECT });
	hw_class(w, &(struct hw_class){ .id = CLASS, .super_id = OBJECT });
	hw_class(w, &(struct hw_class){ .id = SHARED, .super_id = OBJECT });
	hw_instance(w, FIRST, SHARED, NULL, 0);
	hw_instance(w, FIRST + 0x10, SHARED, NULL, 0);
	hw_end(w);
	hw_heap_dump_end(w);
}

static int setup(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err;
	struct hw w;
	int r;

	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "access.hprof");
	hostile_path(db_path, sizeof(db_path), "access.heapdb");
	put_dump(&w);
	r = hw_save(&w, dump_path);
	hw_release(&w);
	return r != 0 || hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK ? -1 : 0;
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retained_local),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

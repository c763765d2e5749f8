/*
 * company_test.c - several processes on one database. They need the same missing table at the same
 * time, some are killed while they build or read it, and others repeatedly import the dump.
 *
 * HEAPDB_HOSTILE=long: the test runs for four minutes instead of four seconds.
 */
#include "derive/derive.h"
#include "import/import.h"
#include "support/hostile.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

enum { OBJECT = 0x1000, CLASS = 0x1100, NODE = 0x1208, FIRST = 0x10000, COUNT = 120000 };

static char db_path[512], dump_path[512];

/* A random graph that is large enough for a build to take tens of milliseconds. */
static void write_dump(const char *path)
{
	const struct hprof_field fields[] = { { 1, HPROF_OBJECT }, { 1, HPROF_OBJECT } };
	const struct hw_class object = { .id = OBJECT };
	const struct hw_class class = { .id = CLASS, .super_id = OBJECT };
	const struct hw_class node = {
		.id = NODE, .super_id = OBJECT, .fields = fields, .field_count = 2
	};
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

	(void)state;
	if (!dump_path[0]) {
		(void)snprintf(dump_path, sizeof(dump_path), "%s", temp_path("company.hprof"));
		(void)snprintf(db_path, sizeof(db_path), "%s", temp_path("company.heapdb"));
		write_dump(dump_path);
	}
	base_work_init(&work, 0, 1, NULL);
	return import_dump((struct import_paths){ .dump = dump_path, .database = db_path }, &opt,
			   &work, NULL, NULL);
}

static int remove_it(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

/* Returns a hash over all retained sizes and totals, or 0 on failure. */
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
		    derive_retained_local(&derive, (struct graph_members){ &ix, 1 }, NULL, &local,
					  &err) == HDB_OK &&
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
	/* Space that killed builds left was reused, so 25 builds did not accumulate. */
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
	/* The answers are the same as from a database that one process built. */
	(void)import_it(NULL);
	assert_int_equal(answers(), want);
}

/* ---- many processes ---- */

#define READERS 8
#define CROWD_SECONDS 4
#define CROWD_SECONDS_LONG 240
/*
 * A file in which pages of killed processes accumulate grows by its own size every few rounds. A
 * sound file hardly grows.
 */
#define GROWTH_MAX 2

static uint64_t crowd_end_us(void)
{
	return base_now_us() +
	       (hostile_is_long() ? CROWD_SECONDS_LONG : CROWD_SECONDS) * 1000000ull;
}

/*
 * Runs queries until it is killed or the time is over. If `sits` is set, it holds one snapshot all
 * the time.
 */
static pid_t start_reader(uint64_t want, uint64_t end_us, bool sits)
{
	const pid_t child = fork();

	if (child != 0)
		return child;
	if (sits) {
		struct base_work work;
		struct heap *heap;
		uint64_t id;

		base_work_init(&work, 0, 1, NULL);
		if (heap_open(db_path, NULL, &work, &heap, NULL) != HDB_OK ||
		    heap_id(heap, 0, &id, NULL) != HDB_OK)
			_exit(1);
		while (base_now_us() < end_us)
			(void)usleep(10000);
		_exit(0);
	}
	while (base_now_us() < end_us)
		if (answers() != want)
			_exit(1);
	_exit(0);
}

/* Kills a reader at any moment and starts another. The reader must not have failed before. */
static void replace_reader(pid_t *reader, uint64_t want, uint64_t end_us, bool sits)
{
	int status;

	(void)kill(*reader, SIGKILL);
	assert_int_equal(waitpid(*reader, &status, 0), *reader);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) != 0);
	*reader = start_reader(want, end_us, sits);
}

static off_t size_of_db(void)
{
	struct stat st;

	assert_int_equal(stat(db_path, &st), 0);
	return st.st_size;
}

static void check_db(void)
{
	struct base_work work;
	struct store *store;
	uint64_t blocks;

	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(store_open(db_path, &store, NULL), HDB_OK);
	assert_int_equal(store_check(store, &work, &blocks, NULL), HDB_OK);
	store_close(store);
}

/* Kills several builders of the same database, then lets one finish. */
static unsigned build_and_kill(uint64_t want, uint64_t *seed)
{
	unsigned kills = 0;

	for (unsigned i = 0; i < 6; i++) {
		const pid_t child = ask_in_child(want);
		int status;

		(void)usleep((useconds_t)(test_random(seed) % 80000));
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_false(WIFEXITED(status) && WEXITSTATUS(status) != 0);
		kills += WIFSIGNALED(status);
	}
	assert_int_equal(answers(), want);
	return kills;
}

static void test_crowd(void **state)
{
	uint64_t seed = 4321, end_us;
	unsigned rounds = 0, kills = 0, dead = 0;
	pid_t readers[READERS];
	off_t first, size = 0;
	uint64_t want;

	(void)state;
	(void)import_it(NULL);
	want = answers();
	assert_int_not_equal(want, 0);
	first = size_of_db();
	end_us = crowd_end_us();
	for (unsigned i = 0; i < READERS; i++)
		readers[i] = start_reader(want, end_us, i == 0);
	while (base_now_us() < end_us) {
		const unsigned i = (unsigned)(test_random(&seed) % READERS);

		/* Every other round keeps the existing database. */
		if (rounds++ % 2 == 0)
			assert_int_equal(import_it(NULL), HDB_OK);
		kills += build_and_kill(want, &seed);
		replace_reader(&readers[i], want, end_us, i == 0);
		dead++;
		size = size_of_db() > size ? size_of_db() : size;
		assert_true(size <= GROWTH_MAX * first);
		check_db();
	}
	for (unsigned i = 0; i < READERS; i++) {
		int status;

		assert_int_equal(waitpid(readers[i], &status, 0), readers[i]);
		assert_int_equal(status, 0);
	}
	print_message(
		"%u rounds, %u readers and %u builders killed, %jd bytes first, at most %jd\n",
		rounds, dead, kills, (intmax_t)first, (intmax_t)size);
}

/*
 * Two imports at the same time: each succeeds or reports why not. The database is complete, and no
 * other file remains.
 */
static void test_two_imports(void **state)
{
	const unsigned rounds = hostile_is_long() ? 200 : 10;
	uint64_t want, seed = 77;
	unsigned refused = 0;
	struct dirent *entry;
	DIR *dir;

	(void)state;
	(void)import_it(NULL);
	want = answers();
	for (unsigned i = 0; i < rounds; i++) {
		pid_t children[2];
		unsigned done = 0;

		for (unsigned c = 0; c < 2; c++) {
			children[c] = fork();
			if (children[c] == 0) {
				const struct hdb_import_options opt = { .force = 1,
									.threads = 1,
									.sizes = HDB_SIZES_MAT };
				struct hdb_error err = { 0 };
				const int r = hdb_import(dump_path, db_path, &opt, NULL, &err);

				_exit(r == HDB_OK ? 0 : err.message[0] ? 1 : 2);
			}
			(void)usleep((useconds_t)(test_random(&seed) % 20000));
		}
		for (unsigned c = 0; c < 2; c++) {
			int status;

			assert_int_equal(waitpid(children[c], &status, 0), children[c]);
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
			done += WEXITSTATUS(status) == 0;
		}
		assert_true(done >= 1);
		refused += 2 - done;
		check_db();
	}
	assert_int_equal(answers(), want);
	print_message("%u pairs of imports, %u refused\n", rounds, refused);
	dir = opendir(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		if (strstr(entry->d_name, "importing"))
			fail_msg("left behind: %s", entry->d_name);
	(void)closedir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_builders),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_two_imports),
	};

	return cmocka_run_group_tests(tests, import_it, remove_it);
}

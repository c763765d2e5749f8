/*
 * faults_test.c - makes the n-th call that can fail do so, either that call only or all calls from
 * then on, in imports, builds of derived tables and queries. Each time the result must be a clear
 * error or the right answer, without a crash or leak, and the old database must be intact.
 * Slow: twelve thousand runs, a minute of processor time.
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
#include "support/faults.h"
#include "support/hostile.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Maximum processor time in seconds for one step. */
#define STEP_SECONDS_MAX 20

/* ---- operations ---- */

static char dump_path[512], db_path[512], temp_name[600];

struct image {
	uint8_t *data;
	size_t size;
};
static struct image base_image, full_image;
static uint64_t want;

static struct image read_image(void)
{
	struct image image = { 0 };
	FILE *f = fopen(db_path, "rb");
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	image.size = (size_t)st.st_size;
	image.data = malloc(image.size);
	assert_non_null(image.data);
	assert_int_equal(fread(image.data, 1, image.size, f), image.size);
	(void)fclose(f);
	return image;
}

static void write_image(const struct image *image)
{
	FILE *f = fopen(db_path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(image->data, 1, image->size, f), image->size);
	assert_int_equal(fclose(f), 0);
}

static bool is_image(const struct image *image)
{
	const struct image now = read_image();
	const bool same = now.size == image->size && memcmp(now.data, image->data, now.size) == 0;

	free(now.data);
	return same;
}

static int do_import(uint64_t *hash, struct hdb_error *err)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };

	*hash = want;
	return hdb_import(dump_path, db_path, &opt, NULL, err);
}

static int do_ask(uint64_t *hash, struct hdb_error *err)
{
	return hostile_answers(db_path, dump_path, hash, err);
}

static int run(int (*what)(uint64_t *, struct hdb_error *), unsigned long at, bool is_sticky,
	       uint64_t *hash, struct hdb_error *err)
{
	int r;

	*err = (struct hdb_error){ 0 };
	fault.at = at;
	fault.is_sticky = is_sticky;
	fault.count = 0;
	fault.live = 0;
	fault.failed = "nothing";
	fault.is_armed = true;
	hostile_seconds(STEP_SECONDS_MAX);
	r = what(hash, err);
	hostile_seconds(0);
	fault.is_armed = false;
	return r;
}

/* Checks the conditions that must be true after a run, whatever failed. */
static void judge(int r, uint64_t hash, const struct hdb_error *err, unsigned long at,
		  bool is_sticky)
{
	const char *how = is_sticky ? "from then on" : "once";

	if (r > 0)
		fail_msg("call %lu (%s) fails %s: result %d", at, fault.failed, how, r);
	if (r < 0 && (!err->message[0] || r == HDB_EBUG || r == HDB_EFORMAT))
		fail_msg("call %lu (%s) fails %s: result %d, \"%s\"", at, fault.failed, how, r,
			 err->message);
	if (r == HDB_OK && hash != want)
		fail_msg("call %lu (%s) fails %s: another answer", at, fault.failed, how);
	if (fault.live != 0)
		fail_msg("call %lu (%s) fails %s: %ld blocks of memory leak", at, fault.failed, how,
			 fault.live);
}

/* After each failure, the file equals `before` or is complete. */
static void sweep(int (*what)(uint64_t *, struct hdb_error *), const struct image *before,
		  bool is_import)
{
	unsigned long calls, errors = 0, runs = 0;
	struct hdb_error err;
	uint64_t hash;

	write_image(before);
	assert_int_equal(run(what, 0, false, &hash, &err), HDB_OK);
	calls = fault.count;
	assert_true(calls > 100);
	for (unsigned long i = 0; i < 2 * calls; i++) {
		const unsigned long at = i / 2 + 1;
		const bool is_sticky = i % 2 != 0;
		int r;

		write_image(before);
		r = run(what, at, is_sticky, &hash, &err);
		judge(r, hash, &err, at, is_sticky);
		runs++;
		errors += r < 0;
		if (access(temp_name, F_OK) == 0)
			fail_msg("call %lu (%s): litter", at, fault.failed);
		if (!is_image(before) && hostile_check(db_path, dump_path, &err) != HDB_OK)
			fail_msg("call %lu (%s): %s", at, fault.failed, err.message);
		if (!is_import && r < 0 && i % 7 == 0) {
			/* Remains of a failed run do not prevent the next run. */
			if (hostile_answers(db_path, dump_path, &hash, &err) != HDB_OK ||
			    hash != want)
				fail_msg("call %lu (%s): then: %s", at, fault.failed, err.message);
		}
	}
	print_message("%lu calls that can fail, %lu runs, %lu ended in an error\n", calls, runs,
		      errors);
	assert_true(errors > runs / 4);
}

static void test_import(void **state)
{
	(void)state;
	sweep(do_import, &full_image, true);
}

static void test_build(void **state)
{
	(void)state;
	sweep(do_ask, &base_image, false);
}

static void test_query(void **state)
{
	(void)state;
	sweep(do_ask, &full_image, false);
}

static int setup(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err;
	struct hw w;

	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "faults.hprof");
	hostile_path(db_path, sizeof(db_path), "faults.heapdb");
	(void)snprintf(temp_name, sizeof(temp_name), "%s.importing", db_path);
	hostile_dump(&w, HOSTILE_JAVA8, 40);
	if (hw_save(&w, dump_path) != 0)
		return -1;
	hw_release(&w);
	if (hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK)
		return -1;
	base_image = read_image();
	if (hostile_answers(db_path, dump_path, &want, &err) != HDB_OK ||
	    hostile_answers(db_path, dump_path, &want, &err) != HDB_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	full_image = read_image();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(base_image.data);
	free(full_image.data);
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_import),
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_query),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

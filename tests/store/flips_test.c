/*
 * flips_test.c - changes any byte of a database. The result must be an error or the same answers,
 * never a crash, a hang or a different number. If a query fails, `check` must fail, too.
 *
 * The short form changes every byte of the meta, branch and leaf pages' heads and every 97th of the
 * others.
 */
#include "import/import.h"
#include "support/hostile.h"
#include "support/temp.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

/* Maximum processor time in seconds for a single change. A hang ends the test. */
#define STEP_SECONDS_MAX 20
/* Bytes at the start of each page that are always changed. */
#define HEAD_BYTES 32
/* In the short form, one of this many other bytes is changed. */
#define STRIDE 97

static char dump_path[512], db_path[512];
static uint8_t *image;
static size_t image_size;
static uint64_t want;

static int setup(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err;
	struct stat st;
	struct hw w;
	FILE *f;

	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "flips.hprof");
	hostile_path(db_path, sizeof(db_path), "flips.heapdb");
	hostile_dump(&w, HOSTILE_JAVA8, 300);
	if (hw_save(&w, dump_path) != 0)
		return -1;
	hw_release(&w);
	if (hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK ||
	    hostile_answers(db_path, dump_path, &want, &err) != HDB_OK ||
	    hostile_answers(db_path, dump_path, &want, &err) != HDB_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	f = fopen(db_path, "rb");
	if (!f || fstat(fileno(f), &st) != 0)
		return -1;
	image_size = (size_t)st.st_size;
	image = malloc(image_size);
	if (!image || fread(image, 1, image_size, f) != image_size)
		return -1;
	return fclose(f);
}

static int teardown(void **state)
{
	(void)state;
	free(image);
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

static void write_image(size_t size)
{
	const int fd = open(db_path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image, size), size);
	(void)close(fd);
}

static struct {
	unsigned changes, refused, harmless;
} counts;

static void try_change(size_t at, uint8_t mask)
{
	struct hdb_error err = { 0 };
	uint64_t got = 0;
	int r;

	image[at] ^= mask;
	write_image(image_size);
	hostile_seconds(STEP_SECONDS_MAX);
	r = hostile_answers(db_path, dump_path, &got, &err);
	counts.changes++;
	if (r == HDB_OK && got != want)
		fail_msg("byte %zu ^ %#x: another answer", at, mask);
	if (r < 0 && !err.message[0])
		fail_msg("byte %zu ^ %#x: result %d without a message", at, mask, r);
	if (r < 0) {
		counts.refused++;
		/* A build may have written to the file before it failed. */
		write_image(image_size);
		if (hostile_check(db_path, dump_path, &err) == HDB_OK)
			fail_msg(
				"byte %zu ^ %#x: the check finds nothing, but an answer failed: %s",
				at, mask, err.message);
	} else {
		counts.harmless++;
	}
	hostile_seconds(0);
	image[at] ^= mask;
}

static void test_flips(void **state)
{
	const size_t page = 4096;

	(void)state;
	for (size_t at = 0; at < image_size; at++) {
		const bool is_head = at % page < HEAD_BYTES || (at < 2 * page && at % page < 256);

		if (!hostile_is_long() && !is_head && at % STRIDE)
			continue;
		try_change(at, (uint8_t)(1u << at % 8));
		if (is_head || hostile_is_long()) {
			try_change(at, 0xff);
			try_change(at, 0x80);
		}
	}
	print_message("%u changes of %zu bytes: %u refused, %u harmless\n", counts.changes,
		      image_size, counts.refused, counts.harmless);
	assert_true(counts.refused > counts.changes / 10);
}

/* A database that is cut anywhere is refused, and the message says how much is missing. */
static void test_cuts(void **state)
{
	struct hdb_error err = { 0 };
	uint64_t got;

	(void)state;
	for (size_t size = 0; size < image_size; size += hostile_is_long() ? 1 : 509) {
		write_image(size);
		hostile_seconds(STEP_SECONDS_MAX);
		if (hostile_answers(db_path, dump_path, &got, &err) >= 0)
			fail_msg("cut to %zu bytes: answers", size);
		assert_true(err.code == HDB_ECORRUPT);
	}
	hostile_seconds(0);
}

/* Damaged blocks and pages are named. */
static void test_names(void **state)
{
	struct hdb_error err = { 0 };
	unsigned named = 0, all = 0;
	uint64_t got;

	(void)state;
	for (size_t at = 8192; at < image_size; at += 1031) {
		image[at] ^= 0x10;
		write_image(image_size);
		if (hostile_answers(db_path, dump_path, &got, &err) < 0) {
			all++;
			named += strstr(err.message, "damaged: table ") != NULL ||
				 strstr(err.message, "damaged: page ") != NULL;
		}
		image[at] ^= 0x10;
	}
	assert_true(all > 0);
	assert_int_equal(named, all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/*
 * tests/watch/series_test.c - series: appended records are read back, damage is skipped and
 * counted, and a file is thinned at its limit. A full disk, a killed writer and a second writer
 * lose no records.
 */
#include "watch/series.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT (UINT64_C(20) << 20)

static char path[300];

static int name_file(void **state)
{
	const char *folder = getenv("TMPDIR");

	(void)state;
	snprintf(path, sizeof(path), "%s/series_test.%d", folder ? folder : "/tmp", (int)getpid());
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static struct series_record sample(uint64_t no)
{
	struct series_record r = { .kind = SERIES_SAMPLE, .time_ms = 1000 + no, .age_ms = no };

	snprintf(r.jvm, sizeof(r.jvm), "4711-99");
	for (unsigned i = 0; i < SERIES_FIGURES; i++)
		r.figures[i] = no * 100 + i;
	r.has = (1U << SERIES_FIGURES) - 1;
	return r;
}

static struct series *open_series(uint64_t limit)
{
	struct hdb_error err;
	struct series *s;

	assert_int_equal(series_open(path, limit, &s, &err), HDB_OK);
	return s;
}

static void append(struct series *s, uint64_t no)
{
	const struct series_record r = sample(no);

	assert_int_equal(series_append(s, &r, NULL), HDB_OK);
}

/* Records that a reader has read. */
struct seen {
	uint64_t count[SERIES_KINDS], first, last;
	bool in_order;
	struct series_counts counts;
};

static int see(void *ctx, const struct series_record *r)
{
	struct seen *seen = ctx;

	if (r->kind == SERIES_SAMPLE) {
		seen->first = seen->count[SERIES_SAMPLE] ? seen->first : r->age_ms;
		seen->in_order = seen->in_order && r->age_ms >= seen->last;
		seen->last = r->age_ms;
	}
	seen->count[r->kind]++;
	return HDB_OK;
}

static struct seen read_all(void)
{
	struct seen seen = { .in_order = true };

	assert_int_equal(
		series_read(path, &(struct series_taker){ see, &seen, NULL }, &seen.counts, NULL),
		HDB_OK);
	return seen;
}

static void test_records(void **state)
{
	struct series_class classes[2] = { { "java.lang.String", 16, 10, 240 },
					   { "a\"b\\\x01\n<\xc3\xbc>", 9, 1, 16 } };
	struct series_record jvm = { .kind = SERIES_JVM, .time_ms = 5, .jvm = "1-2" };
	struct series_record histogram = { .kind = SERIES_CLASSES,
					   .time_ms = 7,
					   .jvm = "1-2",
					   .pause_us = 1234,
					   .objects = 11,
					   .bytes = 256,
					   .classes = classes,
					   .class_count = 2 };
	struct series_parser *parser = series_parser_new();
	const struct series_record *r;
	struct bytes line = { 0 };

	(void)state;
	snprintf(jvm.main_class, sizeof(jvm.main_class), "com.example.Main \"x\"\t");
	snprintf(jvm.version, sizeof(jvm.version), "25");
	series_write_line(&line, &jvm);
	assert_non_null(r = series_parse(parser, line.data, line.size - 1));
	assert_int_equal(r->kind, SERIES_JVM);
	assert_string_equal(r->main_class, jvm.main_class);
	assert_string_equal(r->version, "25");
	assert_string_equal(r->jvm, "1-2");
	line.size = 0;
	series_write_line(&line, &histogram);
	assert_non_null(r = series_parse(parser, line.data, line.size - 1));
	assert_int_equal(r->class_count, 2);
	assert_int_equal(r->pause_us, 1234);
	assert_int_equal(r->bytes, 256);
	assert_int_equal(r->classes[0].objects, 10);
	assert_int_equal(r->classes[1].bytes, 16);
	assert_int_equal(r->classes[1].name_size, 9);
	assert_memory_equal(r->classes[0].name, classes[0].name, 16);
	assert_memory_equal(r->classes[1].name, classes[1].name, 9);
	/* A line that is cut anywhere, or that has any byte changed, counts as damaged. */
	for (size_t i = 0; i < line.size - 1; i++) {
		assert_null(series_parse(parser, line.data, i));
		line.data[i] ^= 1;
		assert_null(series_parse(parser, line.data, line.size - 1));
		line.data[i] ^= 1;
	}
	bytes_release(&line);
	series_parser_free(parser);
}

/* Lines with a valid checksum that no watch wrote. */
static void test_foreign_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"{",
		"{\"kind\":\"sample\"",
		"{\"kind\":\"sample\",\"time\":99999999999999999999",
		"{\"kind\":\"other\"",
		"{\"kind\":\"classes\",\"classes\":[[",
		"{\"kind\":\"classes\",\"classes\":[[\"x\",1]]",
		"{\"kind\":\"classes\",\"classes\":[[\"\\u12\",1,2]]",
		"{\"kind\":\"classes\",\"classes\":[]",
		"{\"kind\":\"sample\",\"new\":{\"a\":1}",
		"{\"kind\":\"sample\",\"later\":5",
		"{\"time\":1",
	};
	static const bool is_good[] = { 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0 };
	struct series_parser *parser = series_parser_new();

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[256];
		uint32_t crc = 0xffffffff;

		for (const char *c = lines[i]; *c; c++) {
			crc ^= (uint8_t)*c;
			for (int k = 0; k < 8; k++)
				crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		}
		snprintf(text, sizeof(text), "%s,\"crc\":\"%08x\"}", lines[i], ~crc);
		assert_int_equal(series_parse(parser, text, strlen(text)) != NULL, is_good[i]);
	}
	series_parser_free(parser);
}

static void test_damage_in_the_middle(void **state)
{
	struct series *s = open_series(LIMIT);
	struct seen seen;
	struct stat st;
	int fd;

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		append(s, i);
	series_close(s);
	fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, "\0\n{garbage}\n\xff", 13, st.st_size / 2), 13);
	/* The writer is killed in the middle of a line. */
	assert_int_equal(ftruncate(fd, st.st_size - 20), 0);
	close(fd);
	seen = read_all();
	assert_true(seen.counts.damaged >= 3 && seen.counts.damaged <= 5);
	assert_true(seen.count[SERIES_SAMPLE] >= 97);
	assert_true(seen.in_order);
	/* The series is resumed. Only the damaged lines are lost. */
	s = open_series(LIMIT);
	append(s, 100);
	append(s, 101);
	series_close(s);
	assert_int_equal(read_all().count[SERIES_SAMPLE], seen.count[SERIES_SAMPLE] + 2);
}

static void test_second_writer(void **state)
{
	struct series *s = open_series(LIMIT), *other;
	struct hdb_error err;

	(void)state;
	assert_int_equal(series_open(path, LIMIT, &other, &err), HDB_EIO);
	assert_non_null(strstr(err.message, "another `heapdb watch` is writing to it"));
	series_close(s);
	s = open_series(LIMIT);
	series_close(s);
	assert_int_equal(series_open("/", LIMIT, &other, &err), HDB_EIO);
	assert_int_equal(series_open("/absent/x", LIMIT, &other, &err), HDB_EIO);
}

static void test_thinning(void **state)
{
	const uint64_t limit = 1 << 20;
	struct series_record event = { .kind = SERIES_EVENT, .event = "capture", .text = "x" };
	struct series *s = open_series(limit);
	struct seen seen;
	struct stat st;
	uint64_t most = 0;

	(void)state;
	assert_int_equal(series_append(s, &event, NULL), HDB_OK);
	for (uint64_t i = 0; i < 20000; i++) {
		append(s, i);
		assert_int_equal(stat(path, &st), 0);
		most = (uint64_t)st.st_size > most ? (uint64_t)st.st_size : most;
	}
	series_close(s);
	assert_true(most < limit + 1000);
	seen = read_all();
	assert_int_equal(seen.counts.damaged, 0);
	assert_int_equal(seen.count[SERIES_EVENT], 1);
	/* The oldest and the newest records exist, and the newest quarter is complete. */
	assert_true(seen.first < 100);
	assert_int_equal(seen.last, 19999);
	assert_true(seen.in_order);
	assert_true(seen.count[SERIES_SAMPLE] > 1500);
}

/* A limit on file sizes simulates a full disk. */
static void test_full_disk(void **state)
{
	struct rlimit before, small = { .rlim_cur = 20000 };
	struct series *s = open_series(LIMIT);
	struct hdb_error err;
	unsigned failures = 0;
	struct seen seen;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (uint64_t i = 0; i < 500; i++) {
		const struct series_record r = sample(i);

		failures += series_append(s, &r, &err) == HDB_EIO;
	}
	assert_true(failures > 300);
	assert_true(series_pending(s) > 300);
	/* All records in the file are complete. */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	seen = read_all();
	assert_int_equal(seen.counts.damaged, 0);
	assert_int_equal(seen.count[SERIES_SAMPLE] + series_pending(s), 500);
	append(s, 500);
	assert_int_equal(series_pending(s), 0);
	assert_int_equal(series_lost(s), 0);
	series_close(s);
	assert_int_equal(read_all().count[SERIES_SAMPLE], 501);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_foreign_lines),
		cmocka_unit_test_setup_teardown(test_damage_in_the_middle, name_file, remove_file),
		cmocka_unit_test_setup_teardown(test_second_writer, name_file, remove_file),
		cmocka_unit_test_setup_teardown(test_thinning, name_file, remove_file),
		cmocka_unit_test_setup_teardown(test_full_disk, name_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * rewriter_test.c - small dumps cut at every byte and with a bit flipped at every byte, through
 * convert, strip and redact: the result must be a result code, and a complete dump or no file.
 *
 * The short form uses one of the commands for each change, in turn. The long form uses all of them.
 */
#include "heapdb.h"
#include "hprof/walk.h"
#include "support/hostile.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define STEP_SECONDS_MAX 10
#define WAYS 8u

static char in[512], out[512], report[512];
static unsigned long written, refused;

static int rewrite(unsigned way, struct hdb_error *err)
{
	const struct hdb_output_options output = { .force = 1, .threads = 1 };
	struct hdb_convert_options convert = { .output = &output, .segments = 1 };
	struct hdb_strip_options strip = { .output = &output };
	struct hdb_redact_options redact = { .output = &output };

	switch (way) {
	case 0:
		convert.app_only = 1;
		return hdb_convert(in, out, &convert, NULL, err);
	case 1:
		convert.id_size = 8;
		return hdb_convert(in, out, &convert, NULL, err);
	case 2:
		convert.id_size = 4;
		return hdb_convert(in, out, &convert, NULL, err);
	case 3:
		strip.what = HDB_STRIP_PRIMITIVES;
		return hdb_strip(in, out, &strip, NULL, err);
	case 4:
		strip.keep = HDB_KEEP_STRINGS | HDB_KEEP_BITMAPS;
		return hdb_strip(in, out, &strip, NULL, err);
	case 5:
		redact.hash = 1;
		redact.report_path = report;
		return hdb_redact(in, out, &redact, NULL, err);
	case 6:
		redact.arrays = HDB_REDACT_TEXTS;
		return hdb_redact(in, out, &redact, NULL, err);
	default:
		return hdb_strip(in, out, &strip, NULL, err);
	}
}

/* Counts the events of a dump. Fails if there is damage that only a writer could have caused. */
static void look(const char *what, size_t at)
{
	struct base_source *source;
	struct hprof_file file;
	struct hprof_walk walk;
	enum hprof_event event;

	assert_int_equal(base_map_open(out, BASE_SEQUENTIAL, &source, NULL), HDB_OK);
	assert_int_equal(hprof_open(source, &file, NULL), HDB_OK);
	hprof_walk_init(&walk, &file);
	while (hprof_walk_next(&walk, &event, NULL) == HDB_OK)
		if (event == HPROF_EVENT_PROBLEM && walk.problem.kind == HPROF_PROBLEM_TRUNCATED)
			fail_msg("%s at %zu: %s", what, at, walk.problem.message);
	hprof_walk_release(&walk);
	base_source_close(source);
}

static void try_way(unsigned way, const char *what, size_t at)
{
	struct hdb_error err = { 0 };
	int r;

	hostile_seconds(STEP_SECONDS_MAX);
	(void)unlink(out);
	r = rewrite(way, &err);
	if (r == HDB_OK) {
		written++;
		look(what, at);
	} else {
		refused++;
		if (access(out, F_OK) == 0)
			fail_msg("%s at %zu, way %u: failed, and there is a file", what, at, way);
		if (!err.message[0] ||
		    (r != HDB_EFORMAT && r != HDB_ETRUNC && r != HDB_ELIMIT && r != HDB_EIO))
			fail_msg("%s at %zu, way %u: result %d: %s", what, at, way, r, err.message);
	}
	hostile_seconds(0);
}

static void try_dump(const uint8_t *data, size_t size, const char *what, size_t at)
{
	const int fd = open(in, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	(void)close(fd);
	for (unsigned way = 0; way < WAYS; way++)
		if (hostile_is_long() || way == at % WAYS)
			try_way(way, what, at);
}

static void test_kind(enum hostile_dump kind)
{
	struct hw w;

	hostile_dump(&w, kind, 6);
	for (unsigned way = 0; way < WAYS; way++)
		try_dump(w.data, w.size, "whole", way);
	for (size_t at = 0; at < w.size; at++)
		try_dump(w.data, at, "cut", at);
	for (size_t at = 0; at < w.size; at++) {
		w.data[at] ^= (uint8_t)(1u << at * 5 % 8);
		try_dump(w.data, w.size, "flip", at);
		w.data[at] ^= (uint8_t)(1u << at * 5 % 8);
	}
	hw_release(&w);
}

static void test_java8(void **state)
{
	(void)state;
	test_kind(HOSTILE_JAVA8);
}

static void test_java4(void **state)
{
	(void)state;
	test_kind(HOSTILE_JAVA4);
}

static void test_android(void **state)
{
	(void)state;
	test_kind(HOSTILE_ANDROID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_java8),
		cmocka_unit_test(test_java4),
		cmocka_unit_test(test_android),
	};
	int r;

	hostile_path(in, sizeof(in), "in.hprof");
	hostile_path(out, sizeof(out), "out.hprof");
	hostile_path(report, sizeof(report), "report.tsv");
	r = cmocka_run_group_tests(tests, NULL, NULL);
	print_message("%lu written, %lu refused\n", written, refused);
	(void)unlink(in);
	(void)unlink(out);
	(void)unlink(report);
	return r;
}

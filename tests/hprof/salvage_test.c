/*
 * salvage_test.c - the walk over damaged files: files cut or changed at every byte, files with one
 * kind of damage, random bytes, and the maximum cost of a search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "hprof/walk.h"
#include "support/small_dump.h"
#include "support/walked.h"

#include <stdlib.h>
#include <string.h>

/* ---- cuts and flips ---- */

static unsigned whole_subs(const struct walked *good, uint64_t cut)
{
	unsigned n = 0;

	while (n < good->subs && good->sub_end[n] <= cut)
		n++;
	return n;
}

/*
 * If the file is cut at any byte, every complete sub-record is kept. The cut is reported unless it
 * is between records.
 */
static void test_cuts(void **state)
{
	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;
		struct walked good, r;
		const struct small_places at = small_dump(&w, id_size);

		walk_bytes(w.data, w.size, &good);
		for (size_t cut = 31; cut < w.size; cut++) {
			walk_bytes(w.data, cut, &r);
			assert_int_equal(r.subs, whole_subs(&good, cut));
			assert_true(r.problems <= 1);
			if (r.problems == 1 && r.problem[0].kind != HPROF_PROBLEM_TRUNCATED)
				fail_msg("cut at %zu: %s", cut, r.problem[0].message);
			if (cut == at.first || cut == at.second || cut == at.end)
				assert_int_equal(r.problems, 0);
			else if (cut > at.first)
				assert_int_equal(r.problems, 1);
		}
		hw_release(&w);
	}
}

/*
 * If any byte is changed, the walk ends and nearly always loses only a few sub-records. The
 * exception is a changed length that happens to lead to the start of another sub-record.
 */
static void test_flips(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x04, 0x10, 0x80, 0xff };

	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;
		unsigned bad = 0;

		small_dump(&w, id_size);
		for (size_t at = 31; at < w.size; at++) {
			for (size_t f = 0; f < sizeof(flips); f++) {
				struct walked r;

				w.data[at] ^= flips[f];
				walk_bytes(w.data, w.size, &r);
				w.data[at] ^= flips[f];
				bad += r.subs < SMALL_SUBS - 14;
				assert_true(r.records >= SMALL_HEAD_RECORDS - 2);
				assert_true(r.subs <= SMALL_SUBS + 14);
				assert_true(r.problems <= 6);
			}
		}
		assert_in_range(bad, 0, 3);
		hw_release(&w);
	}
}

/* ---- one kind of damage each ---- */

struct damage {
	const char *name;
	void (*make)(struct hw *w, struct small_places at);
	int kind;           /* offset of the first problem; 0: no problem */
	unsigned problems;  /* 0 of kind 0 */
	unsigned subs_lost; /* at most */
	unsigned snapshots;
};

static uint32_t length_at(const struct hw *w, size_t record)
{
	const uint8_t *p = w->data + record + 5;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void insert(struct hw *w, size_t at, const void *data, size_t size)
{
	const size_t rest = w->size - at;

	hw_zeros(w, size);
	memmove(w->data + at + size, w->data + at, rest);
	memcpy(w->data + at, data, size);
}

static void too_long(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, at.first + 5, length_at(w, at.first) + 345);
}

static void too_short(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, at.first + 5, length_at(w, at.first) - 100);
}

static void last_too_short(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, at.second + 5, length_at(w, at.second) - 100);
}

static void last_too_long(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, at.second + 5, length_at(w, at.second) + 4);
}

static void open_zero(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, at.second + 5, 0);
	w->size = at.end - 7;
}

static void open_zero_whole(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, at.second + 5, 0);
	w->size = at.end;
}

static void open_zero_empty(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, at.second + 5, 0);
	w->size = at.second + 9;
}

static void zeroed(struct hw *w, struct small_places at)
{
	memset(w->data + (at.first + at.second) / 2, 0, 64);
}

static void zeroed_boundary(struct hw *w, struct small_places at)
{
	memset(w->data + at.second - 20, 0, 64);
}

static void zeroed_first_header(struct hw *w, struct small_places at)
{
	memset(w->data + at.first, 0, 9);
}

static void ones(struct hw *w, struct small_places at)
{
	memset(w->data + (at.first + at.second) / 2, 0xff, 64);
}

static void rubbish_after(struct hw *w, struct small_places at)
{
	(void)at;
	for (unsigned i = 0; i < 100; i++)
		hw_u4(w, 0xdeadbeef);
}

static void short_rubbish_after(struct hw *w, struct small_places at)
{
	(void)at;
	hw_u4(w, 0);
}

static void unknown_record(struct hw *w, struct small_places at)
{
	(void)at;
	insert(w, 31,
	       "\x77\0\0\0\0\0\0\0\x0a"
	       "0123456789",
	       19);
}

static void unknown_between_segments(struct hw *w, struct small_places at)
{
	insert(w, at.second,
	       "\x77\0\0\0\0\0\0\0\x0a"
	       "0123456789",
	       19);
}

/* The tag of a heap record is damaged. */
static void unknown_heap(struct hw *w, struct small_places at)
{
	w->data[at.second] = 0x77;
}

static void unknown_last(struct hw *w, struct small_places at)
{
	(void)at;
	hw_begin(w, 0x55, 0);
	hw_u8(w, 1);
	hw_end(w);
}

static void rubbish_between(struct hw *w, struct small_places at)
{
	insert(w, at.second, "not a record at all, this", 25);
}

static void bad_record(struct hw *w, struct small_places at)
{
	(void)at;
	insert(w, 31,
	       "\x05\0\0\0\0\0\0\0\x0c"
	       "\0\0\0\1"
	       "\0\0\0\2"
	       "\0\0\0\3",
	       21);
}

static void utf8_too_long(struct hw *w, struct small_places at)
{
	(void)at;
	hw_patch_u4(w, 31 + 5, 150);
}

static void utf8_past_file(struct hw *w, struct small_places at)
{
	(void)at;
	hw_patch_u4(w, 31 + 5, 0x7fffffff);
}

static void utf8_too_short(struct hw *w, struct small_places at)
{
	(void)at;
	hw_patch_u4(w, 31 + 5, 12);
}

/* The length of the first array in the second segment: past the segment, then inside it. */
static size_t first_array(const struct hw *w, struct small_places at)
{
	return at.second + 9 + 2 * (9 + 2 * (size_t)w->id_size + w->id_size + 4);
}

static void array_past_segment(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, first_array(w, at) + 5 + w->id_size, 0x10000);
}

static void array_too_long(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, first_array(w, at) + 5 + w->id_size, 100);
}

static void array_too_short(struct hw *w, struct small_places at)
{
	hw_patch_u4(w, first_array(w, at) + 5 + w->id_size, 0);
}

static const struct damage damages[] = {
	{ "segment too long", too_long, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "segment too short", too_short, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "last segment too short", last_too_short, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "last segment too long", last_too_long, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "open segment, cut", open_zero, HPROF_PROBLEM_TRUNCATED, 1, 2, 1 },
	{ "open segment, whole", open_zero_whole, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "open segment, empty", open_zero_empty, 0, 0, 70, 1 },
	{ "64 zero bytes", zeroed, HPROF_PROBLEM_UNKNOWN_SUB_TAG, 1, 4, 1 },
	{ "64 zero bytes over a segment's head", zeroed_boundary, 0, 1, 3, 1 },
	{ "first heap record's head zeroed", zeroed_first_header, HPROF_PROBLEM_RECORD_LENGTH, 1, 0,
	  1 },
	{ "64 bytes of 0xff", ones, 0, 1, 4, 1 },
	{ "rubbish after the end", rubbish_after, HPROF_PROBLEM_TRAILING_BYTES, 1, 0, 1 },
	{ "four zeros after the end", short_rubbish_after, HPROF_PROBLEM_TRAILING_BYTES, 1, 0, 1 },
	{ "unknown record", unknown_record, 0, 0, 0, 1 },
	{ "unknown record between segments", unknown_between_segments, 0, 0, 0, 1 },
	{ "unknown record at the end", unknown_last, 0, 0, 0, 1 },
	{ "heap record of unknown tag", unknown_heap, HPROF_PROBLEM_UNKNOWN_TAG, 1, 0, 1 },
	{ "rubbish between segments", rubbish_between, HPROF_PROBLEM_RECORD_LENGTH, 1, 0, 1 },
	{ "trace with too many frames", bad_record, HPROF_PROBLEM_BAD_RECORD, 1, 0, 1 },
	{ "string too long", utf8_too_long, HPROF_PROBLEM_RECORD_LENGTH, 1, 0, 1 },
	{ "string past the file", utf8_past_file, HPROF_PROBLEM_RECORD_LENGTH, 1, 0, 1 },
	{ "string too short", utf8_too_short, HPROF_PROBLEM_RECORD_LENGTH, 1, 0, 1 },
	{ "array past its segment", array_past_segment, HPROF_PROBLEM_SUB_OVERRUN, 1, 1, 1 },
	{ "array too long", array_too_long, HPROF_PROBLEM_UNKNOWN_SUB_TAG, 1, 0, 1 },
	{ "array too short", array_too_short, HPROF_PROBLEM_UNKNOWN_SUB_TAG, 1, 0, 1 },
};

static void test_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(damages) / sizeof(damages[0]); i++) {
		const struct damage *row = &damages[i / 2];
		const unsigned id_size = i % 2 ? 4 : 8;
		struct hw w;
		struct walked r;
		const struct small_places at = small_dump(&w, id_size);

		row->make(&w, at);
		walk_bytes(w.data, w.size, &r);
		if (r.problems != row->problems || r.subs + row->subs_lost < SMALL_SUBS ||
		    r.subs > SMALL_SUBS + 2 || r.snapshot != row->snapshots ||
		    (row->kind && (int)r.problem[0].kind != row->kind))
			fail_msg(
				"%s, id size %u: %u problems (%d: %s), %u of %u subs, %u snapshots",
				row->name, id_size, r.problems, (int)r.problem[0].kind,
				r.problem[0].message, r.subs, SMALL_SUBS, r.snapshot);
		hw_release(&w);
	}
}

/* The problem reports the number of lost bytes and their position. */
static void test_problem_facts(void **state)
{
	struct hw w;
	struct walked r;
	struct small_places at;

	(void)state;
	at = small_dump(&w, 8);
	walk_bytes(w.data, at.end - 3, &r);
	assert_int_equal(r.problem[0].kind, HPROF_PROBLEM_TRUNCATED);
	assert_int_equal(r.problem[0].offset, at.end - 9);
	assert_int_equal(r.problem[0].lost_bytes, 6);
	assert_non_null(strstr(r.problem[0].message, " 3 bytes are missing"));
	hw_release(&w);

	at = small_dump(&w, 8);
	too_long(&w, at);
	walk_bytes(w.data, w.size, &r);
	assert_int_equal(r.problem[0].offset, at.first);
	assert_int_equal(r.problem[0].lost_bytes, 0);
	hw_release(&w);

	at = small_dump(&w, 8);
	unknown_heap(&w, at);
	walk_bytes(w.data, w.size, &r);
	assert_int_equal(r.problem[0].offset, at.second);
	assert_int_equal(r.problem[0].lost_bytes, 9);
	hw_release(&w);
}

/*
 * Adds one or several records with unknown tags before and after every record. Each of them is
 * reported, and nothing else changes.
 */
static void test_unknown_everywhere(void **state)
{
	static const unsigned rows[] = { 1, 3, 63, 64, 65, 200 };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct hw w, more;
		struct walked good, r;
		size_t at = 31;
		unsigned added = 0;

		(void)small_dump(&w, i % 2 ? 4 : 8);
		walk_bytes(w.data, w.size, &good);
		hw_init(&more, HPROF_1_0_2, w.id_size, 1000);
		for (;;) {
			size_t size;

			for (unsigned k = 0; k < rows[i / 2]; k++, added++) {
				hw_begin(&more, k % 2 ? 0x77 : 0x12, 0);
				hw_bytes(&more, "zzzz", k % 5);
				hw_end(&more);
			}
			if (at == w.size)
				break;
			size = 9 + be32(w.data + at + 5);
			hw_bytes(&more, w.data + at, size);
			at += size;
		}
		walk_bytes(more.data, more.size, &r);
		if (r.problems)
			fail_msg("%u in a row: %s", rows[i / 2], r.problem[0].message);
		assert_int_equal(r.records, good.records + added);
		assert_int_equal(r.subs, good.subs);
		assert_int_equal(r.snapshot, good.snapshot);
		hw_release(&w);
		hw_release(&more);
	}
}

/* A file transfer in text mode loses much data. The problem names this cause. */
static void test_text_mode(void **state)
{
	struct hw w, c;
	struct walked r;

	(void)state;
	hw_init(&w, HPROF_1_0_2, 8, 1);
	for (unsigned i = 0; i < 50; i++)
		hw_utf8(&w, i + 1, "a line\nand another\n");
	hw_init(&c, HPROF_1_0_2, 8, 1);
	for (size_t i = 31; i < w.size; i++) {
		if (w.data[i] == '\n')
			hw_u1(&c, '\r');
		hw_u1(&c, w.data[i]);
	}
	walk_bytes(c.data, c.size, &r);
	assert_true(r.problems > 0);
	assert_non_null(strstr(r.problem[0].message, "text mode"));
	hw_release(&w);
	hw_release(&c);
}

/* Random bytes after a valid header, and random splices, cause no crash or hang. */
static void test_random(void **state)
{
	const unsigned seed = 20240607;
	struct hw w;

	(void)state;
	print_message("seed %u\n", seed);
	srand(seed);
	for (unsigned round = 0; round < 400; round++) {
		struct walked r;
		size_t from;

		small_dump(&w, round % 2 ? 4 : 8);
		if (round < 100) {
			for (size_t i = 31; i < w.size; i++)
				w.data[i] = (uint8_t)(rand() >> 7);
		} else {
			for (unsigned n = 0; n < 1 + round % 5; n++) {
				from = 31 + (size_t)rand() % (w.size - 200);
				memmove(w.data + 31 + (size_t)rand() % (w.size - 200),
					w.data + from, 1 + (size_t)rand() % 150);
			}
		}
		walk_bytes(w.data, w.size, &r);
		hw_release(&w);
	}
}

/*
 * The most expensive search: each block looks like a class dump with 65,535 constants in the
 * following blocks, so each attempt takes that many steps. Every eleventh byte is the type of an
 * 8-byte constant, which contains the zeros of the headers. Without the budget, this takes minutes.
 */
static void test_search_is_linear(void **state)
{
	static const uint8_t places[] = { 2, 13, 24, 35 };
	uint8_t block[44] = { HPROF_CLASS_DUMP, 1 };
	struct hw w;
	struct walked r;

	(void)state;
	for (size_t i = 0; i < sizeof(places); i++)
		block[places[i]] = HPROF_LONG;
	block[37] = block[38] = 0xff; /* number of constants */
	block[41] = HPROF_CHAR;       /* the first one leads to the next block's byte 2 */
	hw_init(&w, HPROF_1_0_2, 4, 0);
	hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	small_classes(&w);
	hw_u1(&w, 0x42);
	for (unsigned i = 0; i < (8u << 20) / sizeof(block); i++)
		hw_bytes(&w, block, sizeof(block));
	hw_end(&w);
	walk_bytes(w.data, w.size, &r);
	assert_int_equal(r.subs, 3);
	assert_int_equal(r.problems, 1);
	hw_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_problem_facts),
		cmocka_unit_test(test_unknown_everywhere),
		cmocka_unit_test(test_text_mode),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_search_is_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * prescan_test.c - the prescan gives the same results as the walk without it, for any bytes and
 * chunks, and objects are found again in any order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "hprof/walk.h"
#include "import/prescan.h"
#include "support/hprof_writer.h"

#include <stdlib.h>
#include <string.h>

#define NODE UINT64_C(0x1040)
#define NODES UINT64_C(0x1080)

/* Everything that was visited, in order. */
struct met {
	uint64_t hash;
	unsigned subs, taken; /* number of these that were in runs */
};

static void note(struct met *m, uint64_t a, uint64_t b)
{
	m->hash = (m->hash ^ a ^ b << 32) * UINT64_C(0x9e3779b97f4a7c15);
	m->hash ^= m->hash >> 29;
}

static int step(struct hprof_walk *walk, struct met *m)
{
	enum hprof_event event;
	const int r = hprof_walk_next(walk, &event, NULL);

	if (r != HDB_OK)
		return r;
	if (event == HPROF_EVENT_SUB) {
		note(m, walk->sub.offset, walk->sub.id);
		m->subs++;
	} else if (event == HPROF_EVENT_PROBLEM) {
		note(m, walk->problem.offset, walk->problem.lost_bytes);
	} else {
		note(m, walk->record.offset, (uint64_t)event);
	}
	return HDB_OK;
}

static void walk_alone(const struct hprof_file *file, struct met *m)
{
	struct hprof_walk walk;

	memset(m, 0, sizeof(*m));
	hprof_walk_init(&walk, file);
	while (step(&walk, m) == HDB_OK)
		;
	hprof_walk_release(&walk);
}

/* Reads the sub-records of a run again, one by one. */
static void note_run(const struct hprof_file *file, const struct import_prescan *a,
		     const struct import_prescan_run *run, struct met *m)
{
	struct base_view view = { .src = file->source };
	uint64_t at = run->start;
	size_t i = 0, pieces = 0;

	while (at < run->last.end) {
		struct hprof_sub sub;

		assert_int_equal(hprof_sub_read_in(file, &view,
						   (struct hprof_range){ at, file->source->size },
						   &sub, NULL),
				 HDB_OK);
		assert_true(sub.id == *base_vec_at(&a->ids, uint64_t, run->first_id + i));
		note(m, at, sub.id);
		at = sub.end;
		i++;
	}
	for (size_t p = 0; p < run->piece_count; p++)
		pieces += base_vec_at(&a->pieces, struct import_piece, run->first_piece + p)->count;
	assert_true(at == run->last.end);
	assert_int_equal(i, run->id_count);
	assert_int_equal(i, pieces);
	assert_int_equal(i, run->count[0] + run->count[1] + run->count[2]);
	m->subs += (unsigned)i;
	m->taken += (unsigned)i;
}

static void walk_ahead(const struct hprof_file *file, uint64_t chunk, struct met *m)
{
	const uint64_t size = file->source->size;
	struct import_prescan *a = calloc(1, sizeof(*a));
	struct hprof_walk walk;
	int r = HDB_OK;

	memset(m, 0, sizeof(*m));
	hprof_walk_init(&walk, file);
	for (uint64_t from = 0; from < size; from += chunk) {
		const uint64_t until = size - from < chunk ? size : from + chunk;
		size_t next = 0;

		assert_int_equal(import_prescan_read(a, file, from, until, NULL), HDB_OK);
		while (r == HDB_OK && walk.position < until) {
			const struct import_prescan_run *run = NULL;

			for (; next < a->runs.count; next++) {
				run = base_vec_at(&a->runs, struct import_prescan_run, next);
				if (run->start >= walk.position)
					break;
				run = NULL;
			}
			if (run && hprof_walk_would_meet(&walk, run->start, &run->last)) {
				note_run(file, a, run, m);
				hprof_walk_skip(&walk, &run->last);
			} else {
				r = step(&walk, m);
			}
		}
	}
	while (r == HDB_OK)
		r = step(&walk, m);
	hprof_walk_release(&walk);
	import_prescan_release(a);
	free(a);
}

/*
 * Compares both on a copy in memory of exactly the size. Returns the number of sub-records that
 * were read in runs.
 */
static unsigned compare(const uint8_t *data, size_t size, uint64_t chunk)
{
	struct base_source *source;
	struct hprof_file file;
	struct met alone, ahead;
	uint8_t *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, data, size);
	assert_int_equal(base_memory_open(copy, size, &source, NULL), HDB_OK);
	assert_int_equal(hprof_open(source, &file, NULL), HDB_OK);
	walk_alone(&file, &alone);
	walk_ahead(&file, chunk, &ahead);
	assert_int_equal(ahead.subs, alone.subs);
	assert_true(ahead.hash == alone.hash);
	base_source_close(source);
	free(copy);
	return ahead.taken;
}

static void write_nodes(struct hw *w, uint64_t id, unsigned count)
{
	for (unsigned i = 0; i < count; i++, id += 64) {
		const uint64_t next = id + 0x2122; /* bytes that look like tags */
		uint8_t values[12] = { 0x21, 0x22, 0x23 };

		hw_instance(w, id, NODE, values, w->id_size + 4);
		if (i % 4 == 1)
			hw_object_array(w, id + 16, NODES, &next, 1);
		if (i % 4 == 2)
			hw_primitive_array(w, id + 24, HPROF_BYTE, "#\"! text in bytes", 17);
		if (i % 32 == 31)
			hw_root(w, HPROF_ROOT_JNI_GLOBAL, id, 0x7f0010, 0);
		if (i % 50 == 49)
			hw_instance(w, 0, NODE, values, w->id_size + 4);
	}
}

#define NODES_COUNT 120u
static void small_dump(struct hw *w, unsigned id_size)
{
	hw_init(w, HPROF_1_0_2, id_size, 1000);
	hw_utf8(w, 11, "java/lang/Object");
	hw_load_class(w, 1, NODE, 1, 11);
	hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_class(w, &(struct hw_class){ .id = NODE });
	write_nodes(w, 0x20000, NODES_COUNT);
	hw_end(w);
	hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	write_nodes(w, 0x40000, NODES_COUNT);
	hw_end(w);
	hw_heap_dump_end(w);
}

static const uint64_t chunk_sizes[] = { 40, 333, 2000, 1u << 20 };
#define CHUNK_SIZES (sizeof(chunk_sizes) / sizeof(chunk_sizes[0]))

static void test_good(void **state)
{
	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;

		small_dump(&w, id_size);
		/*
		 * In long chunks, runs contain all sub-records except roots, classes, nulls, and
		 * sub-records lost with their run.
		 */
		assert_int_equal(compare(w.data, w.size, 1u << 20), 2 * NODES_COUNT * 3 / 2);
		for (size_t c = 0; c < CHUNK_SIZES; c++)
			(void)compare(w.data, w.size, chunk_sizes[c]);
		hw_release(&w);
	}
}

/* Changes every byte, and cuts the file at every byte. The results must equal those of the walk. */
static void test_damage(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x10, 0xff };

	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;

		small_dump(&w, id_size);
		for (size_t at = 31; at < w.size; at += 3) {
			const uint8_t flip = flips[at % sizeof(flips)];

			(void)compare(w.data, at, chunk_sizes[at % CHUNK_SIZES]);
			w.data[at] ^= flip;
			(void)compare(w.data, w.size, chunk_sizes[at / 3 % CHUNK_SIZES]);
			w.data[at] ^= flip;
		}
		hw_release(&w);
	}
}

/* ---- places ---- */

#define OBJECTS 200000u
#define BLOCK 16384u

enum order { RISING, REGIONS, SHUFFLED };

/* The position, in the order of IDs, of the i-th object in the file. */
static uint32_t rank_of(enum order order, uint32_t i)
{
	switch (order) {
	case RISING:
		return i;
	case REGIONS: /* pairs of regions of 1,000 objects, the higher one first */
		return (i / 1000 ^ 1) * 1000 + i % 1000;
	default:
		return (uint32_t)((uint64_t)i * 7919 % OBJECTS); /* 7,919 is prime */
	}
}

static void check_blocks(const struct import_locator *locator, const struct hprof_file *file,
			 const struct idset *ids, const uint64_t *expected)
{
	static uint64_t block_ids[BLOCK], offsets[BLOCK];
	struct base_view view = { .src = file->source };
	struct import_wanted wanted = { .view = &view, .ids = block_ids, .offsets = offsets };

	for (uint32_t first = 0; first < OBJECTS; first += BLOCK) {
		const uint32_t n = OBJECTS - first < BLOCK ? OBJECTS - first : BLOCK;

		import_idset_scan(ids, first, n, block_ids);
		memset(offsets, 0, sizeof(offsets));
		wanted.count = n;
		assert_int_equal(import_locator_block(locator, first, &wanted, NULL), HDB_OK);
		assert_memory_equal(offsets, expected + first, n * sizeof(*offsets));
	}
}

static void check_places(enum order order, bool want_disordered, unsigned threads)
{
	uint64_t *expected = calloc(OBJECTS, sizeof(*expected)), duplicates;
	struct base_source *source;
	struct base_view view = { 0 };
	struct base_work work;
	struct hprof_file file;
	struct import_locator locator = { 0 };
	struct idset ids;
	struct hw w;

	hw_init(&w, HPROF_1_0_2, 8, 1000);
	import_idset_init(&ids);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		const uint64_t id = 0x700000000 + (uint64_t)rank_of(order, i) * 24;

		expected[rank_of(order, i)] = w.size;
		hw_instance(&w, id, NODE, NULL, i % 5);
		if (i % 97 == 0) /* ID of an object that comes elsewhere */
			hw_root(&w, HPROF_ROOT_STICKY_CLASS, id + 24, 0, 0);
		assert_int_equal(import_idset_add(&ids, id, NULL), HDB_OK);
	}
	assert_int_equal(base_memory_open(w.data, w.size, &source, NULL), HDB_OK);
	assert_int_equal(hprof_open(source, &file, NULL), HDB_OK);
	view.src = source;
	for (uint64_t at = file.first_record; at < w.size;) {
		struct hprof_sub sub;

		assert_int_equal(hprof_sub_read_in(&file, &view, (struct hprof_range){ at, w.size },
						   &sub, NULL),
				 HDB_OK);
		if (hprof_sub_is_root(sub.tag))
			import_locator_pass(&locator, &sub);
		else
			assert_int_equal(import_locator_add(&locator, &sub, NULL), HDB_OK);
		at = sub.end;
	}
	/* Roots between objects do not divide ranges of the file. */
	assert_in_range(locator.extents.count, 1, w.size / IMPORT_EXTENT_BYTES + 1);
	assert_int_equal(import_idset_finish(&ids, &duplicates, NULL), HDB_OK);
	base_work_init(&work, 1u << 30, threads, NULL);
	locator.file = &file;
	locator.block_objects = BLOCK;
	assert_int_equal(import_locator_finish(&locator, &ids, &work, NULL), HDB_OK);
	assert_int_equal(locator.is_disordered, want_disordered);
	check_blocks(&locator, &file, &ids, expected);
	import_locator_release(&locator);
	base_work_release(&work);
	base_source_close(source);
	import_idset_release(&ids);
	hw_release(&w);
	free(expected);
}

static void test_places(void **state)
{
	(void)state;
	check_places(RISING, false, 1);
	check_places(REGIONS, false, 2);
	check_places(SHUFFLED, true, 1);
	check_places(SHUFFLED, true, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * tests/base/structures_test.c - compares arrays, maps, buffers, bit sets, sorting and searching
 * with plain arrays that do the same slowly. The invariants of each structure are asserted after
 * every step, by its own _check function or by one in this file.
 */
#include "base/base_text.h"
#include "base/bits.h"
#include "base/chunked_buffer.h"
#include "base/idmap.h"
#include "base/packed_runs.h"
#include "base/rank_bitset.h"
#include "base/search.h"
#include "base/size_array.h"
#include "base/sort.h"
#include "base/vec.h"
#include "base/work.h"
#include "support/death.h"
#include "support/structure_checks.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define COUNT 5000u

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

static int start(void **state)
{
	const char *text = getenv("SEED");

	(void)state;
	seed = text ? strtoull(text, NULL, 0) : base_now_us();
	print_message("SEED=%llu\n", (unsigned long long)seed);
	return 0;
}

static void chunks_check(const struct base_chunks *chunks)
{
	assert(chunks->count <= chunks->limit);
	assert(chunks->used_bytes <= chunks->size_bytes);
	assert(chunks->size_bytes <= BASE_CHUNK_BYTES);
	for (size_t i = 0; i < chunks->count; i++)
		assert(chunks->data[i] && chunks->data[i] == chunks->slabs[i].data);
}

static void runs_check(const struct base_runs *runs)
{
	chunks_check(&runs->bytes);
	base_vec_check(&runs->packed);
	for (uint64_t b = 0; b < runs->block_count; b++) {
		assert(runs->count[b] <= BASE_RUN);
		assert(!runs->count[b] || runs->position[b] >> BASE_CHUNK_BITS < runs->bytes.count);
	}
}

/* After ranking, the rank of each bit is the number of set bits before it. */
static void ranks_check(const struct base_ranks *set)
{
	uint32_t rank = 0;

	for (uint64_t v = 0; v <= set->node_count; v++) {
		assert(base_ranks_before(set, (uint32_t)v) == rank);
		rank += base_ranks_has(set, (uint32_t)v);
	}
	assert(rank == set->count);
}

static void sizes_check(const struct base_sizes *sizes)
{
	assert(!sizes->wide || !sizes->narrow);
	assert(!sizes->big.data || sizes->work);
	assert(sizes->big.data == (sizes->wide ? (void *)sizes->wide : (void *)sizes->narrow));
}

static void vec(void **state)
{
	struct base_vec v = { 0 };
	struct hdb_error err;

	(void)state;
	base_vec_check(&v);
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(base_vec_push(&v, &i, sizeof(i), &err), HDB_OK);
		base_vec_check(&v);
	}
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(*base_vec_at(&v, uint32_t, i), i);
	/* An impossible size is refused, and no data is lost. */
	assert_int_equal(base_vec_reserve(&v, SIZE_MAX, sizeof(uint32_t), &err), HDB_ENOMEM);
	assert_int_equal(base_vec_reserve(&v, SIZE_MAX / 2, sizeof(uint32_t), &err), HDB_ENOMEM);
	base_vec_check(&v);
	assert_int_equal(v.count, COUNT);
	base_vec_release(&v);
	base_vec_check(&v);
}

static void idmap(void **state)
{
	struct base_idmap map = { 0 };
	uint32_t plain[512];
	struct hdb_error err;

	(void)state;
	memset(plain, 0xff, sizeof(plain));
	base_idmap_check(&map);
	assert_int_equal(base_idmap_get(&map, 1), BASE_IDMAP_NONE);
	for (uint32_t i = 0; i < COUNT; i++) {
		const uint32_t id = (uint32_t)draw(512);

		plain[id] = (uint32_t)draw(1000);
		assert_int_equal(base_idmap_put(&map, (uint64_t)id << 40, plain[id], &err), HDB_OK);
		if (i % 64 == 0)
			base_idmap_check(&map);
		/* Room for more elements than exist, for as many, and for fewer. */
		if (i % 256 == 0) {
			const uint64_t count = draw(2 * map.count + 2);

			assert_int_equal(base_idmap_reserve(&map, count, &err), HDB_OK);
			assert_true(map.capacity > 2 * count);
			base_idmap_check(&map);
		}
	}
	base_idmap_check(&map);
	for (uint32_t id = 0; id < 512; id++)
		assert_int_equal(base_idmap_get(&map, (uint64_t)id << 40), plain[id]);
	base_idmap_release(&map);
}

static void chunks(void **state)
{
	struct base_chunks chunks;
	uint64_t position[COUNT];
	struct base_work work;
	struct hdb_error err;
	uint8_t *room = NULL;

	(void)state;
	base_work_init(&work, 0, 1, NULL);
	base_chunks_init(&chunks, 4096, &work, "test");
	for (uint32_t i = 0; i < COUNT; i++) {
		const uint64_t size = 4 + draw(i % 100 ? 64 : BASE_CHUNK_BYTES / 64);

		assert_int_equal(base_chunks_add(&chunks, size, &position[i], &room, &err), HDB_OK);
		memcpy(room, &i, sizeof(i));
		chunks_check(&chunks);
	}
	for (uint32_t i = 0; i < COUNT; i++)
		assert_memory_equal(base_chunks_at(&chunks, position[i]), &i, sizeof(i));
	base_chunks_release(&chunks);
	assert_int_equal(work.memory_used, 0);
}

static void runs(void **state)
{
	const uint64_t total = 3 * (uint64_t)BASE_RUN + 77;
	uint64_t *values = malloc((total + BASE_RUN) * sizeof(*values));
	uint64_t *read = malloc((BASE_RUN + 128) * sizeof(*read));
	struct base_runs array;
	struct base_work work;
	struct hdb_error err;

	(void)state;
	assert_non_null(values);
	assert_non_null(read);
	base_work_init(&work, 0, 1, NULL);
	for (uint64_t i = 0; i < total; i++)
		values[i] = i + draw(1000);
	assert_int_equal(base_runs_init(&array, total, &work, "test", &err), HDB_OK);
	/* Blocks in any order. */
	for (unsigned i = 0; i < 4; i++) {
		const uint64_t block = (i * 3 + 1) % 4, first = block * BASE_RUN;
		const uint32_t n = block == 3 ? 77 : BASE_RUN;

		assert_int_equal(base_runs_put(&array, block, values + first, n, &err), HDB_OK);
		runs_check(&array);
	}
	for (uint64_t block = 0; block < 4; block++) {
		assert_int_equal(base_runs_get(&array, block, read, &err), HDB_OK);
		assert_memory_equal(read, values + block * BASE_RUN,
				    (block == 3 ? 77 : BASE_RUN) * sizeof(*read));
	}
	assert_int_equal(base_runs_range(&array, BASE_RUN - 128, read, 256, &err), HDB_OK);
	assert_memory_equal(read, values + BASE_RUN - 128, 256 * sizeof(*read));
	base_runs_release(&array);
	free(values);
	free(read);
	assert_int_equal(work.memory_used, 0);
}

static void bit_sets(void **state)
{
	uint64_t *bits = calloc(base_bit_words(COUNT), sizeof(*bits));
	struct base_ranks ranks = { 0 };
	bool plain[COUNT] = { false };
	struct base_work work;
	struct hdb_error err;
	uint32_t before = 0;

	(void)state;
	assert_non_null(bits);
	assert_int_equal(base_bit_words(0), 0);
	assert_int_equal(base_bit_words(64), 1);
	assert_int_equal(base_bit_words(65), 2);
	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(base_ranks_init(&ranks, COUNT, &work, "test", &err), HDB_OK);
	for (uint32_t i = 0; i < COUNT; i++) {
		const uint64_t v = draw(COUNT), w = draw(COUNT);

		base_bit_put(bits, v);
		base_bit_drop(bits, w);
		plain[v] = true;
		plain[w] = false;
	}
	for (uint32_t v = 0; v < COUNT; v++) {
		assert_int_equal(base_bit_has(bits, v), plain[v]);
		if (plain[v] && v % 2)
			base_ranks_put(&ranks, v);
		else if (plain[v])
			base_ranks_put_alone(&ranks, v);
	}
	base_ranks_rank(&ranks);
	ranks_check(&ranks);
	for (uint32_t v = 0; v < COUNT; v++) {
		assert_int_equal(base_ranks_has(&ranks, v), plain[v]);
		assert_int_equal(base_ranks_before(&ranks, v), before);
		before += plain[v];
	}
	assert_int_equal(ranks.count, before);
	base_ranks_release(&ranks);
	free(bits);
	assert_int_equal(work.memory_used, 0);
}

static void sizes(void **state)
{
	struct base_sizes narrow, wide;
	struct base_work work;
	struct hdb_error err;

	(void)state;
	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(base_sizes_init(&narrow, 10, false, &work, &err), HDB_OK);
	assert_int_equal(base_sizes_init(&wide, 10, true, &work, &err), HDB_OK);
	assert_true(base_sizes_set(&narrow, 3, UINT32_MAX));
	assert_false(base_sizes_set(&narrow, 4, (uint64_t)UINT32_MAX + 1));
	assert_true(base_sizes_set(&wide, 4, (uint64_t)UINT32_MAX + 1));
	assert_int_equal(base_sizes_get(&narrow, 3), UINT32_MAX);
	assert_int_equal(base_sizes_get(&wide, 4), (uint64_t)UINT32_MAX + 1);
	assert_int_equal(base_sizes_get(&wide, 9), 0);
	sizes_check(&narrow);
	sizes_check(&wide);
	base_sizes_release(&narrow);
	base_sizes_release(&wide);
	assert_int_equal(work.memory_used, 0);
}

static int compare_nodes(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * The result equals that of qsort, with a stable order of equal keys. Then each position can be
 * found.
 */
static void sorting(void **state)
{
	static const size_t counts[] = { 0, 1, 2, 31, 32, 33, 257, COUNT };
	struct base_sort_key keys[COUNT], spare_keys[COUNT];
	uint32_t nodes[COUNT], want[COUNT], spare[COUNT];

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		const size_t n = counts[c];

		for (uint32_t i = 0; i < n; i++) {
			nodes[i] = want[i] = (uint32_t)draw(c % 2 ? 100 : UINT32_MAX);
			keys[i] = (struct base_sort_key){ draw(50) << (c * 7), i };
		}
		base_sort_nodes(nodes, spare, n);
		qsort(want, n, sizeof(*want), compare_nodes);
		assert_memory_equal(nodes, want, n * sizeof(*want));
		base_sort_keys(keys, spare_keys, n);
		for (size_t i = 1; i < n; i++)
			assert_true(keys[i - 1].key < keys[i].key ||
				    (keys[i - 1].key == keys[i].key &&
				     keys[i - 1].node < keys[i].node));
		for (unsigned look = 0; look < 200; look++) {
			const uint32_t key = (uint32_t)draw(120);
			struct base_search search = base_search_in(n);
			size_t slowly = 0;

			while (slowly < n && nodes[slowly] < key)
				slowly++;
			while (base_search_next(&search))
				base_search_step(&search, nodes[search.mid] < key);
			assert_int_equal(search.low, slowly);
		}
	}
}

/* ---- broken structures are detected ---- */

static void check_vec(void *ctx)
{
	base_vec_check(ctx);
}

static void check_idmap(void *ctx)
{
	base_idmap_check(ctx);
}

static void check_ranks(void *ctx)
{
	ranks_check(ctx);
}

static void check_sizes(void *ctx)
{
	sizes_check(ctx);
}

static void check_work(void *ctx)
{
	base_work_check(ctx);
}

static void numbers(void **state)
{
	static const struct {
		uint64_t value;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 65536, "65,536" },
		{ 123456, "123,456" },
		{ 1000000, "1,000,000" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(base_number(rows[i].value).text, rows[i].text);
}

static void broken(void **state)
{
	struct base_vec v = { 0 };
	struct base_idmap map = { 0 };
	struct base_ranks ranks;
	struct base_sizes sizes;
	struct base_big big;
	struct base_work work;

	(void)state;
	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(base_bytes_append(&v, "abc", 3, NULL), HDB_OK);
	assert_false(dies(check_vec, &v));
	v.count = v.capacity + 1;
	assert_true(dies(check_vec, &v));
	base_vec_release(&v);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(base_idmap_put(&map, 1000 + i, i, NULL), HDB_OK);
	assert_false(dies(check_idmap, &map));
	map.count--;
	assert_true(dies(check_idmap, &map));
	base_idmap_release(&map);
	assert_int_equal(base_ranks_init(&ranks, 1000, &work, "test", NULL), HDB_OK);
	base_ranks_put(&ranks, 70);
	base_ranks_rank(&ranks);
	assert_false(dies(check_ranks, &ranks));
	base_ranks_put(&ranks, 3);
	assert_true(dies(check_ranks, &ranks));
	base_ranks_release(&ranks);
	assert_int_equal(base_sizes_init(&sizes, 10, false, &work, NULL), HDB_OK);
	assert_false(dies(check_sizes, &sizes));
	sizes.narrow++;
	assert_true(dies(check_sizes, &sizes));
	base_sizes_release(&sizes);
	assert_int_equal(base_big_alloc(&work, &big, 4 << 20, "test", NULL), HDB_OK);
	base_big_free(&big);
	assert_false(dies(check_work, &work));
	work.pool_bytes++;
	assert_true(dies(check_work, &work));
	work.pool_bytes--;
	base_work_release(&work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vec),     cmocka_unit_test(idmap),  cmocka_unit_test(chunks),
		cmocka_unit_test(runs),    cmocka_unit_test(sizes),  cmocka_unit_test(bit_sets),
		cmocka_unit_test(sorting), cmocka_unit_test(broken), cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}

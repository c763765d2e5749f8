/*
 * tests/graph/edge_test.c - structures indexed by node number, in heaps of the maximum size, with
 * numbers close to 2^32.
 */
#include "graph/child_rows.h"
#include "graph/dominators/edge_buckets.h"
#include "base/packed_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

/* The last node of the largest graph. */
#define LAST (UINT32_MAX - 1)

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, 0, 1, NULL);
	return 0;
}

static void runs(void **state)
{
	const uint64_t last = LAST / BASE_RUN, values[] = { 0, LAST, UINT32_MAX, 1 };
	struct base_runs r;
	uint64_t *got = malloc(BASE_RUN * sizeof(*got));

	(void)state;
	assert_non_null(got);
	assert_int_equal(base_runs_init(&r, UINT32_MAX, &work, "numbers", NULL), HDB_OK);
	assert_int_equal(base_runs_put(&r, last, values, 4, NULL), HDB_OK);
	assert_int_equal(base_runs_put(&r, 0, values, 4, NULL), HDB_OK);
	assert_int_equal(base_runs_get(&r, last, got, NULL), HDB_OK);
	assert_memory_equal(got, values, sizeof(values));
	assert_int_equal(base_runs_range(&r, last * BASE_RUN, got, 4, NULL), HDB_OK);
	assert_memory_equal(got, values, sizeof(values));
	base_runs_release(&r);
	free(got);
}

static void edges(void **state)
{
	static const uint32_t sources[] = { LAST, 0, UINT32_MAX, 1, LAST };
	struct graph_edge_buckets eb;
	const uint32_t bucket = LAST / GRAPH_BUCKET_SIZE, k = LAST % GRAPH_BUCKET_SIZE;
	const uint64_t *first;
	const uint32_t *source;

	(void)state;
	/* 500 edges into one target of the last bucket. */
	assert_int_equal(graph_buckets_init(&eb, UINT32_MAX, &work, NULL), HDB_OK);
	for (unsigned i = 0; i < 500; i++) {
		assert_int_equal(graph_buckets_add(&eb, sources[i % 5], LAST, NULL), HDB_OK);
		assert_int_equal(graph_buckets_add(&eb, LAST, 0, NULL), HDB_OK);
	}
	assert_int_equal(graph_buckets_sort(&eb, bucket, &first, &source, NULL), HDB_OK);
	assert_int_equal(first[k], 0);
	assert_int_equal(first[k + 1], 500);
	for (unsigned i = 0; i < 5; i++) {
		unsigned count = 0;

		for (unsigned e = 0; e < 500; e++)
			count += source[e] == sources[i];
		assert_int_equal(count, sources[i] == LAST ? 200 : 100);
	}
	assert_int_equal(graph_buckets_sort(&eb, 0, &first, &source, NULL), HDB_OK);
	assert_int_equal(first[1] - first[0], 500);
	assert_int_equal(source[499], LAST);
	graph_buckets_release(&eb);
}

static int take(void *ctx, uint32_t row, uint32_t node, uint64_t size, struct hdb_error *err)
{
	uint64_t *sum = ctx;

	(void)err;
	sum[0]++;
	sum[1] += size;
	assert_int_equal(row, UINT32_MAX - 3);
	assert_int_equal(node, sum[0] == 1 ? UINT32_MAX - 4 : 7);
	return HDB_OK;
}

static void children(void **state)
{
	struct graph_child_rows rows;
	struct hdb_error err;
	uint64_t top, sum[2] = { 0 };

	(void)state;
	assert_int_equal(graph_child_rows_init(&rows, LAST, &work, &err), HDB_ELIMIT);
	graph_child_rows_release(&rows);
	assert_int_equal(graph_child_rows_init(&rows, LAST - 1, &work, &err), HDB_OK);
	assert_int_equal(graph_child_rows_add(&rows, UINT32_MAX - 3, 7, 5, &err), HDB_OK);
	assert_int_equal(
		graph_child_rows_add(&rows, UINT32_MAX - 3, UINT32_MAX - 4, 1ull << 40, &err),
		HDB_OK);
	assert_int_equal(graph_child_rows_end(&rows, 10, &top, &err), HDB_OK);
	assert_int_equal(graph_child_rows_merge(&rows, rows.range_count - 1, take, sum, &err),
			 HDB_OK);
	assert_int_equal(sum[0], 2);
	assert_int_equal(sum[1], (1ull << 40) + 5);
	graph_child_rows_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs),
		cmocka_unit_test(edges),
		cmocka_unit_test(children),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}

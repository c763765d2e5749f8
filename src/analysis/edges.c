/* analysis/edges.c - reads every list of a table of lists once, whole blocks at a time. */
#include "analysis/edges.h"

#include "heap/heap_database.h"

#include <assert.h>
#include <stdlib.h>

/* Passes on a list that is too big for its block and is stored outside it. */
static int each_big(struct store_lists *lists, uint32_t ix, const struct analysis_edge_taker *taker,
		    struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count = 0;

	TRY(store_lists_begin(lists, ix, NULL, err));
	for (;;) {
		TRY(store_lists_next(lists, &batch, &count, err));
		if (!count)
			return HDB_OK;
		TRY(taker->take(taker->ctx, ix, batch, count, err));
	}
}

int analysis_each_edge(const struct session *session, const struct store_lists *lists,
		       uint64_t list_count, const struct analysis_edge_taker *taker,
		       struct hdb_error *err)
{
	/* Two readers are needed, because reading a big list moves the reader. */
	struct store_lists whole = *lists, big = *lists;
	BASE_FREED uint64_t *lengths = malloc(STORE_BLOCK_OBJECTS * sizeof(*lengths));
	BASE_SCOPED(base_vec_release) struct base_vec entries = { 0 };
	struct store_lists_out out = { .lengths = lengths, .target = &entries };

	assert(taker->take);
	TRY(lengths ? HDB_OK : hdb_fail_memory(err, "a block of lists", STORE_BLOCK_OBJECTS * 8));
	assert(taker->first % STORE_BLOCK_OBJECTS == 0);
	for (uint64_t first = taker->first; first < list_count; first += STORE_BLOCK_OBJECTS) {
		const uint64_t left = list_count - first;
		const uint32_t *at;

		entries.count = 0;
		out.count = 0;
		TRY(store_lists_block(&whole, (uint32_t)first, &out, err));
		if (out.count != (left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS))
			return heap_damaged(session->heap, lists->table, first, "impossible size",
					    err);
		at = entries.data;
		for (uint32_t i = 0; i < out.count; i++) {
			const uint32_t ix = (uint32_t)first + i;

			if (lengths[i] & STORE_LIST_IS_BIG) {
				TRY(each_big(&big, ix, taker, err));
			} else if (lengths[i]) {
				TRY(taker->take(taker->ctx, ix, at, lengths[i], err));
				at += lengths[i];
			}
		}
		TRY(base_step(session->work, first, err));
	}
	return HDB_OK;
}

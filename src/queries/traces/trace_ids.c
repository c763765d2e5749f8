/* queries/traces/trace_ids.c - builds the tables of trace_ids.h. */
#include "queries/traces/trace_ids.h"

#include <stdlib.h>

/*
 * Maximum number of pages, per object and in addition. With more the objects are too scattered for
 * this to pay.
 */
#define PAGES_PER_OBJECT 4u
#define PAGES_MORE 65536u

static int fill(struct trace_ids *ids, uint32_t first_ix, uint64_t *block, struct hdb_error *err)
{
	const uint32_t n = ids->heap->object_count;
	uint64_t page = 0;
	uint32_t ix = 0;

	for (uint32_t b = 0; b < heap_block_count(ids->heap); b++) {
		uint32_t count;

		TRY(heap_read_ids(ids->heap, b, block, &count, err));
		for (uint32_t i = 0; i < count; i++, ix++) {
			ids->low[ix] = (uint8_t)block[i];
			if (ix < first_ix)
				continue;
			for (; page <= (block[i] - ids->first) >> 8; page++)
				ids->pages[page] = ix;
		}
	}
	for (; page <= ids->page_count; page++)
		ids->pages[page] = n;
	return HDB_OK;
}

int trace_ids_init(struct trace_ids *ids, const struct session *session, struct hdb_error *err)
{
	const uint32_t n = session->heap->object_count;
	/* The placeholder for the boot loader has no ID. */
	const uint32_t first_ix = HEAP_BOOT_LOADER + 1;
	uint64_t *block, last, pages;
	int r;

	*ids = (struct trace_ids){ .heap = session->heap, .work = session->work };
	if (n <= first_ix)
		return HDB_OK;
	TRY(heap_id(ids->heap, first_ix, &ids->first, err));
	TRY(heap_id(ids->heap, n - 1, &last, err));
	ids->first &= ~(uint64_t)0xff;
	pages = ((last - ids->first) >> 8) + 1;
	if (pages > (uint64_t)PAGES_PER_OBJECT * n + PAGES_MORE)
		return HDB_OK;
	TRY(base_big_alloc_raw(ids->work, &ids->pages_big, (pages + 1) * sizeof(uint32_t),
			       "identifiers", err));
	TRY(base_big_alloc_raw(ids->work, &ids->low_big, n, "identifiers", err));
	TRY(BASE_ALLOC(block, STORE_BLOCK_OBJECTS, "identifiers", err));
	ids->pages = ids->pages_big.data;
	ids->low = ids->low_big.data;
	ids->page_count = pages;
	r = fill(ids, first_ix, block, err);
	free(block);
	return r;
}

void trace_ids_release(struct trace_ids *ids)
{
	if (!ids->work)
		return;
	base_big_free(&ids->pages_big);
	base_big_free(&ids->low_big);
	*ids = (struct trace_ids){ .heap = NULL };
}

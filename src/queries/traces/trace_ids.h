/*
 * queries/traces/trace_ids.h - finds objects by ID in memory, for passes that look up every
 * reference of a heap.
 *
 * IDs are addresses, and most heaps are one range of them. For every 256 addresses the index of the
 * first object is kept, and for every object the lowest byte of its ID: about two bytes per object.
 */
#ifndef QUERIES_TRACES_TRACE_IDS_H
#define QUERIES_TRACES_TRACE_IDS_H

#include "analysis/session.h"

struct trace_ids {
	struct heap *heap;      /* borrowed, as is `work` */
	struct base_work *work; /* lent */
	/*
	 * first: lowest ID, rounded down. page_count is 0 if the IDs are too far apart; then the
	 * heap is asked.
	 */
	uint64_t first, page_count;
	/* by page of 256 IDs: index of its first object; page_count + 1 entries */
	uint32_t *pages;
	uint8_t *low; /* by object: lowest byte of its ID */
	struct base_big pages_big, low_big;
};

/* `session` is borrowed. The caller releases *ids, also after a failure. */
int trace_ids_init(struct trace_ids *ids, const struct session *session, struct hdb_error *err);
void trace_ids_release(struct trace_ids *ids);

/* Finds an object like heap_find: HDB_OK or HDB_NOTFOUND. Thread-safe if page_count is not 0. */
static inline int trace_ids_find(struct trace_ids *ids, uint64_t id, uint32_t *ix,
				 struct hdb_error *err)
{
	const uint64_t page = (id - ids->first) >> 8;

	if (!ids->page_count)
		return heap_find(ids->heap, id, ix, err);
	if (id < ids->first || page >= ids->page_count)
		return HDB_NOTFOUND;
	for (uint32_t i = ids->pages[page]; i < ids->pages[page + 1]; i++)
		if (ids->low[i] == (uint8_t)id) {
			*ix = i;
			return HDB_OK;
		}
	return HDB_NOTFOUND;
}

#endif

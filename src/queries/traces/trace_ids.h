/*
 * queries/traces/trace_ids.h - indexes of objects by identifier, all in memory: for passes that
 * look up every reference of a heap.
 *
 * Identifiers are addresses, and the heap mostly one stretch of them: of each 256 the index of the
 * first object, and of each object the last byte. Some two bytes an object.
 */
#ifndef QUERIES_TRACES_TRACE_IDS_H
#define QUERIES_TRACES_TRACE_IDS_H

#include "analysis/session.h"

struct trace_ids {
	struct heap *heap;          /* lent */
	struct base_work *work;     /* lent */
	uint64_t first, page_count; /* the first identifier, rounded; 0: too far apart, not kept */
	uint32_t *pages;            /* by 256 identifiers: its first object; page_count + 1 */
	uint8_t *low;               /* by object: the last byte of its identifier */
	struct base_big pages_big, low_big;
};

/* `session` is lent. Release it in any case. */
int trace_ids_init(struct trace_ids *ids, const struct session *session, struct hdb_error *err);
void trace_ids_release(struct trace_ids *ids);

/* As heap_find: HDB_OK or HDB_NOTFOUND. */
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

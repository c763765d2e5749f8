/*
 * base/pipeline.h - numbered items made on several threads and taken in order on one.
 *
 * Item i is made by produce() on any thread, into slot i % slot_count of the caller's, and taken by
 * consume() on the calling thread in the order 0, 1, 2 ...: what is written does not depend on the
 * thread count.
 */
#ifndef BASE_PIPELINE_H
#define BASE_PIPELINE_H

#include "base/error.h"

struct base_pipeline {
	uint64_t item_count; /* UINT64_MAX: unknown, produce says where they end */
	unsigned threads;    /* workers, the calling thread included; at least 1 */
	unsigned slot_count; /* slots that the caller has; at least 1, best 4 a thread */
	void *ctx;
	/*
	 * Makes an item; called on any thread, never twice at once for one slot. HDB_END: there is
	 * no such item, nor any after it.
	 */
	int (*produce)(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err);
	/* Takes an item; called in order on the calling thread. NULL: nothing to take. */
	int (*consume)(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err);
};

/*
 * Runs it. The result is the first failure in item order (so the same failure whatever the thread
 * count), or HDB_OK.
 */
int base_pipeline_run(const struct base_pipeline *pipeline, struct hdb_error *err);

#endif

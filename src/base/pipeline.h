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

/* The same where nothing is taken in order: makes items 0 to item_count - 1 on so many threads. */
int base_pipeline_each(uint64_t item_count, unsigned threads, void *ctx,
		       int (*produce)(void *ctx, unsigned slot, uint64_t item,
				      struct hdb_error *err),
		       struct hdb_error *err);

/*
 * Calls part() for 0 to count - 1 at the same time, for 0 on the calling thread, and for each other
 * one on a thread of its own; where that cannot start, on the calling thread, after 0. Returns when
 * all have ended, the first failure in order of parts, or HDB_OK.
 */
int base_pipeline_parts(unsigned count, void *ctx,
			int (*part)(void *ctx, unsigned no, struct hdb_error *err),
			struct hdb_error *err);

#endif

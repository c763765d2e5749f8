/*
 * base/pipeline.h - makes numbered items on several threads and consumes them in order on one.
 *
 * produce() makes item i on any thread, in slot i % slot_count of the caller's; consume() takes the
 * items on the calling thread in the order 0, 1, 2, ... So results do not depend on the number of
 * threads.
 */
#ifndef BASE_PIPELINE_H
#define BASE_PIPELINE_H

#include "base/error.h"

struct base_pipeline {
	uint64_t item_count; /* UINT64_MAX: unknown; produce() reports the end */
	unsigned threads;    /* number of threads, including the calling one; at least 1 */
	unsigned slot_count; /* number of the caller's slots; at least 1, ideally 4 per thread */
	void *ctx;
	/*
	 * Makes an item. Called on any thread, never twice at a time for one slot. HDB_END: this
	 * item and all later ones do not exist.
	 */
	int (*produce)(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err);
	/* Takes an item. Called in order on the calling thread. May be NULL. */
	int (*consume)(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err);
};

/*
 * Runs the pipeline. Returns the first failure in the order of items, so it does not depend on the
 * number of threads, or HDB_OK.
 */
int base_pipeline_run(const struct base_pipeline *pipeline, struct hdb_error *err);

/*
 * For items that need not be consumed in order: makes items 0 to item_count - 1 on that many
 * threads.
 */
int base_pipeline_each(uint64_t item_count, unsigned threads, void *ctx,
		       int (*produce)(void *ctx, unsigned slot, uint64_t item,
				      struct hdb_error *err),
		       struct hdb_error *err);

/*
 * Calls part() for 0 to count - 1 at the same time: for 0 on the calling thread, for each other one
 * on its own thread, or if that cannot be started on the calling thread after 0. Returns when all
 * have ended: the first failure in the order of parts, or HDB_OK.
 */
int base_pipeline_parts(unsigned count, void *ctx,
			int (*part)(void *ctx, unsigned no, struct hdb_error *err),
			struct hdb_error *err);

/* How work was divided: `heapdb --timings` measures what more threads could gain. */
struct base_meter {
	uint64_t parts;      /* items made and parts called */
	uint64_t made_ns;    /* their processor time */
	uint64_t longest_ns; /* that of the longest one */
};

/*
 * From now on adds up the pipelines that this thread runs, and does not if NULL. Borrowed until
 * then.
 */
void base_meter_use(struct base_meter *meter);

#endif

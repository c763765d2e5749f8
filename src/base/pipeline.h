/*
 * base/pipeline.h - produces numbered items on several threads and consumes them in order on one
 * thread.
 *
 * produce() makes item i on any thread, in the caller's slot i % slot_count. consume() takes the
 * items on the calling thread in the order 0, 1, 2, ..., so that results do not depend on the
 * number of threads.
 */
#ifndef BASE_PIPELINE_H
#define BASE_PIPELINE_H

#include "base/error.h"

struct base_pipeline {
	uint64_t item_count; /* UINT64_MAX means unknown; produce() then reports the end */
	unsigned threads;    /* number of threads, including the calling one; at least 1 */
	unsigned slot_count; /* number of slots of the caller; at least 1, ideally 4 per thread */
	void *ctx;
	/*
	 * Makes an item. Called on any thread, but never for the same slot at the same time.
	 * Returns HDB_END if neither this item nor any later item exists.
	 */
	int (*produce)(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err);
	/* Takes an item. Called in order on the calling thread. May be NULL. */
	int (*consume)(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err);
};

/*
 * Runs the pipeline. Returns HDB_OK or the failure of the item with the lowest number, so the
 * result does not depend on the number of threads.
 */
int base_pipeline_run(const struct base_pipeline *pipeline, struct hdb_error *err);

/*
 * Makes items 0 to item_count - 1 on several threads. For items that need not be consumed in order.
 */
int base_pipeline_each(uint64_t item_count, unsigned threads, void *ctx,
		       int (*produce)(void *ctx, unsigned slot, uint64_t item,
				      struct hdb_error *err),
		       struct hdb_error *err);

/*
 * Calls part() concurrently with the numbers 0 to count - 1. Part 0 runs on the calling thread,
 * and each other part on its own thread. If a thread cannot be started, the calling thread runs
 * its part after part 0. Waits for all parts. Returns HDB_OK, or the failure of the part with the
 * lowest number.
 */
int base_pipeline_parts(unsigned count, void *ctx,
			int (*part)(void *ctx, unsigned no, struct hdb_error *err),
			struct hdb_error *err);

/*
 * Times that show how work was divided between threads. With them, `heapdb --timings` estimates
 * what more threads could gain.
 */
struct base_meter {
	uint64_t parts;      /* items made and parts called */
	uint64_t made_ns;    /* processor time of these items and parts */
	uint64_t longest_ns; /* processor time of the longest item or part */
};

/*
 * Adds the times of the pipelines that this thread runs from now on to the meter. NULL ends the
 * measurement. The meter is borrowed until then.
 */
void base_meter_use(struct base_meter *meter);

#endif

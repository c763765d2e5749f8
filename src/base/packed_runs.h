/*
 * base/packed_runs.h - an array of numbers that is written and read in packed blocks (base/pack.h).
 *
 * It suits data that an algorithm writes in one phase and reads sequentially in the next. Parents
 * in DFS order, for example, take half a byte each in this form.
 */
#ifndef BASE_PACKED_RUNS_H
#define BASE_PACKED_RUNS_H

#include "base/vec.h"
#include "base/chunked_buffer.h"

/* Binary logarithm of the number of values per block. The last block may have fewer. */
#define BASE_RUN_BITS 15
#define BASE_RUN (1u << BASE_RUN_BITS)

struct base_runs {
	uint64_t *position; /* indexed by block: offset of the block in `bytes` */
	uint64_t block_count;
	uint32_t *count; /* indexed by block: number of values */
	struct base_chunks bytes;
	struct base_vec packed; /* scratch space for one block */
};

/*
 * Allocates an array of `count` numbers. `work` and `what` are borrowed. The caller must release
 * *runs, even after a failure.
 */
int base_runs_init(struct base_runs *runs, uint64_t count, struct base_work *work, const char *what,
		   struct hdb_error *err);
void base_runs_release(struct base_runs *runs);

/*
 * Writes block `block`. Blocks may be written in any order, each of them once. `count` is BASE_RUN
 * except for the last block.
 */
int base_runs_put(struct base_runs *runs, uint64_t block, const uint64_t *values, uint32_t count,
		  struct hdb_error *err);

/*
 * Writes a block of values that were packed elsewhere (base_pack_encode), for example on another
 * thread.
 */
int base_runs_put_packed(struct base_runs *runs, uint64_t block, const struct base_vec *packed,
			 uint32_t count, struct hdb_error *err);

/* Reads a block into values[BASE_RUN]. The block must have been written. */
int base_runs_get(const struct base_runs *runs, uint64_t block, uint64_t *values,
		  struct hdb_error *err);

/*
 * Reads values [first, first + count), which must have been written. `first` must be a multiple of
 * 128. Thread-safe.
 */
int base_runs_range(const struct base_runs *runs, uint64_t first, uint64_t *values, uint32_t count,
		    struct hdb_error *err);

#endif

/*
 * base/packed_runs.h - an array of numbers that is written and read in blocks, packed
 * (base/pack.h).
 *
 * For what an algorithm writes down in one phase and goes through in the next: parents in the
 * order of a search, for instance, which cost half a byte so.
 */
#ifndef BASE_PACKED_RUNS_H
#define BASE_PACKED_RUNS_H

#include "base/vec.h"
#include "base/chunked_buffer.h"

/* Numbers of a block, but for the last one's. */
#define BASE_RUN_BITS 15
#define BASE_RUN (1u << BASE_RUN_BITS)

struct base_runs {
	uint64_t *position; /* by block */
	uint64_t block_count;
	uint32_t *count; /* values, by block */
	struct base_chunks bytes;
	struct base_vec packed; /* one block, before it is put */
};

/* Room for `count` numbers. `work` and `what` are lent. Release it in any case. */
int base_runs_init(struct base_runs *runs, uint64_t count, struct base_work *work, const char *what,
		   struct hdb_error *err);
void base_runs_release(struct base_runs *runs);

/* Puts block `block`, once, in any order. `count` is BASE_RUN but in the last block. */
int base_runs_put(struct base_runs *runs, uint64_t block, const uint64_t *values, uint32_t count,
		  struct hdb_error *err);

/* The same with values that were packed elsewhere (pack_encode), on another thread perhaps. */
int base_runs_put_packed(struct base_runs *runs, uint64_t block, const struct base_vec *packed,
			 uint32_t count, struct hdb_error *err);

/* Reads a block that was put, into values[BASE_RUN]. */
int base_runs_get(const struct base_runs *runs, uint64_t block, uint64_t *values,
		  struct hdb_error *err);

/*
 * Values [first, first + count) of those that were put; first is a multiple of 128. On any thread.
 */
int base_runs_range(const struct base_runs *runs, uint64_t first, uint64_t *values, uint32_t count,
		    struct hdb_error *err);

#endif

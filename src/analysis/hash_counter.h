/*
 * analysis/hash_counter.h - counts equal contents by their 128-bit hash.
 *
 * Entries of a fixed size are kept in the order of their first occurrence, and a hash table
 * contains their numbers. Both move to a file when the memory budget is exhausted (base/work.h).
 * Different contents practically never have the same 128-bit hash, because each process uses a
 * random seed.
 */
#ifndef ANALYSIS_HASH_COUNTER_H
#define ANALYSIS_HASH_COUNTER_H

#include "analysis/session.h"
#include "heap/values/chars.h"

/*
 * Number of pieces that contain the entries. Each is twice as large as the previous one, and
 * together they have room for 2^32 entries.
 */
#define ANALYSIS_COUNTER_PIECES 21u
/*
 * How many additions ahead analysis_counter_prefetch works: as many as the memory can fetch at the
 * same time.
 */
#define ANALYSIS_COUNTER_AHEAD 16u

/* The header of every entry. The caller's data follows and is initially zero. */
struct analysis_counter_head {
	struct heap_text_hash hash;
	uint64_t count;
	uint32_t first_ix; /* the object that was counted first */
};

/*
 * A counter. The caller must set the first three members, set the others to zero, and finally call
 * analysis_counter_release.
 */
struct analysis_counter {
	const struct session *session; /* borrowed */
	size_t entry_bytes;
	/* name of the counted items for error messages ("texts"); borrowed */
	const char *what;
	/* private except for reading */
	uint64_t used; /* number of different hashes */
	struct base_big pieces[ANALYSIS_COUNTER_PIECES];
	struct base_big table; /* struct slot (hash_counter.c) */
	uint64_t slots;        /* a power of two, or 0 initially */
	/* uint32_t: numbers of the entries, in the order of analysis_counter_order */
	struct base_big order;
};

/*
 * Counts object ix with the given hash. Sets *entry to the entry, which is borrowed until
 * analysis_counter_release. Objects must be counted in ascending order.
 */
int analysis_counter_add(struct analysis_counter *tally, struct heap_text_hash hash, uint32_t ix,
			 void **entry, struct hdb_error *err);

/*
 * Prefetch the slot of a hash, and the entry in the slot, if any. Calling these functions is
 * optional. The entry is found through the slot, so it is prefetched ANALYSIS_COUNTER_AHEAD / 2
 * additions after the slot.
 */
void analysis_counter_prefetch(const struct analysis_counter *tally, struct heap_text_hash hash);
void analysis_counter_prefetch_entry(const struct analysis_counter *tally,
				     struct heap_text_hash hash);

/*
 * Sorts the entries that were counted at least min_count times: highest count first, then lowest
 * first_ix, so that the order does not depend on the hashes. Sets *kept to the number of these
 * entries. Nothing can be added afterwards.
 */
int analysis_counter_order(struct analysis_counter *tally, uint64_t min_count, uint64_t *kept,
			   struct hdb_error *err);

/* Returns entry i in sorted order. */
const void *analysis_counter_at(const struct analysis_counter *tally, uint64_t i);

/* Frees the counter, which may be zeroed. */
void analysis_counter_release(struct analysis_counter *tally);

#endif

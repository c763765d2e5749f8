/*
 * analysis/hash_counter.h - counts equal contents by their 128-bit hash.
 *
 * Entries of a fixed size are kept in the order of their first occurrence, with a hash table of
 * their numbers. Both move to a file when the memory budget is used up (base/work.h). Different
 * contents with the same 128 bits are not expected, because the seed is random in each process.
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
 * Number of additions by which callers should call analysis_counter_prefetch ahead: as many as the
 * memory can fetch at the same time.
 */
#define ANALYSIS_COUNTER_AHEAD 16u

/* The start of every entry. The caller's data follows and is initially zero. */
struct analysis_counter_head {
	struct heap_text_hash hash;
	uint64_t count;
	uint32_t first_ix; /* the object that was counted first */
};

/* Set the first three members and zero the others; call analysis_counter_release at the end. */
struct analysis_counter {
	const struct session *session; /* borrowed */
	size_t entry_bytes;
	/* name of the items that are counted, for error messages ("texts"); borrowed */
	const char *what;
	/* private except for reading */
	uint64_t used; /* number of different hashes */
	struct base_big pieces[ANALYSIS_COUNTER_PIECES];
	struct base_big table; /* struct slot (hash_counter.c) */
	uint64_t slots;        /* a power of two, 0 at first */
	/* uint32_t: numbers of entries, as sorted by analysis_counter_order */
	struct base_big order;
};

/*
 * Counts object ix under `hash`. *entry is borrowed until analysis_counter_release. Objects must be
 * counted in ascending order.
 */
int analysis_counter_add(struct analysis_counter *tally, struct heap_text_hash hash, uint32_t ix,
			 void **entry, struct hdb_error *err);

/* Prefetches the slot of a hash. Calling it is optional. */
void analysis_counter_prefetch(const struct analysis_counter *tally, struct heap_text_hash hash);

/*
 * Sorts the entries that were counted at least min_count times: highest count first, then lowest
 * first_ix, so that the order does not depend on the hashes. *kept is their number. Afterwards,
 * nothing can be added.
 */
int analysis_counter_order(struct analysis_counter *tally, uint64_t min_count, uint64_t *kept,
			   struct hdb_error *err);

/* Returns entry i in sorted order. */
const void *analysis_counter_at(const struct analysis_counter *tally, uint64_t i);

/* Also accepts a zeroed counter. */
void analysis_counter_release(struct analysis_counter *tally);

#endif

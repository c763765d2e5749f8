/*
 * analysis/hash_counter.h - counts of what is the same, by 128-bit hash: entries of any size in the
 * order in which they came, and a hash table of their numbers. Both go to a file when the memory
 * budget is used up (base/work.h).
 */
#ifndef ANALYSIS_HASH_COUNTER_H
#define ANALYSIS_HASH_COUNTER_H

#include "analysis/session.h"
#include "heap/values/chars.h"

/* Entries are kept in pieces, each twice as large as the one before; there are fewer than 2^32. */
#define ANALYSIS_COUNTER_PIECES 21u
/*
 * How far ahead of analysis_counter_add callers do well to call analysis_counter_prefetch: what
 * memory can fetch at once.
 */
#define ANALYSIS_COUNTER_AHEAD 16u

/* What every entry begins with; what follows it starts as zeros. */
struct analysis_counter_head {
	struct heap_text_hash hash;
	uint64_t count;
	uint32_t first_ix; /* the object that was counted first */
};

/* Set the first three, zero the rest; analysis_counter_release at the end. */
struct analysis_counter {
	const struct session *session; /* lent */
	size_t entry_bytes;
	const char *what; /* "texts", for error messages; lent */
	/* private but for reading */
	uint64_t used; /* distinct ones */
	struct base_big pieces[ANALYSIS_COUNTER_PIECES];
	struct base_big table; /* struct slot (hash_counter.c) */
	uint64_t slots;        /* a power of two, 0 at first */
	struct base_big order; /* uint32_t: numbers of entries, by analysis_counter_order */
};

/*
 * Counts object ix under `hash`; *entry is its entry, lent until analysis_counter_release. Objects
 * are counted in ascending order.
 */
int analysis_counter_add(struct analysis_counter *tally, struct heap_text_hash hash, uint32_t ix,
			 void **entry, struct hdb_error *err);

/* Asks memory for the slot of a hash; only advice. */
void analysis_counter_prefetch(const struct analysis_counter *tally, struct heap_text_hash hash);

/*
 * Puts the entries counted min_count times or more in order, the most counted first, then by
 * first_ix, so that the order does not depend on the hash; *kept is how many. Nothing can be added
 * any more.
 */
int analysis_counter_order(struct analysis_counter *tally, uint64_t min_count, uint64_t *kept,
			   struct hdb_error *err);

/* Entry i of those in order. */
const void *analysis_counter_at(const struct analysis_counter *tally, uint64_t i);

/* Also one of zeros, which was never set. */
void analysis_counter_release(struct analysis_counter *tally);

#endif

/*
 * query/hash_counter.h - counts of what is the same, by 128-bit hash: entries of any size in the
 * order in which they came, and a hash table of their numbers. Both go to a file when the memory
 * budget is used up (base/work.h).
 */
#ifndef QUERY_HASH_COUNTER_H
#define QUERY_HASH_COUNTER_H

#include "heap/values/chars.h"
#include "query/query.h"

/* Entries are kept in pieces, each twice as large as the one before; there are fewer than 2^32. */
#define QUERY_COUNTER_PIECES 21u
/*
 * How far ahead of query_counter_add callers do well to call query_counter_prefetch: what memory
 * can fetch at once.
 */
#define QUERY_COUNTER_AHEAD 16u

/* What every entry begins with; what follows it starts as zeros. */
struct query_counter_head {
	struct heap_text_hash hash;
	uint64_t count;
	uint32_t first_ix; /* the object that was counted first */
};

/* Set the first two, zero the rest; query_counter_release at the end. */
struct query_counter {
	size_t entry_bytes;
	const char *what; /* "texts", for error messages; lent */
	/* private but for reading */
	uint64_t used; /* distinct ones */
	struct base_big pieces[QUERY_COUNTER_PIECES];
	struct base_big table; /* struct slot (tally.c) */
	uint64_t slots;        /* a power of two, 0 at first */
	struct base_big order; /* uint32_t: numbers of entries, by query_counter_order */
};

/*
 * Counts object ix under `hash`; *entry is its entry, lent until query_counter_release. Objects are
 * counted in ascending order.
 */
int query_counter_add(struct query *q, struct query_counter *tally, struct heap_text_hash hash,
		      uint32_t ix, void **entry, struct hdb_error *err);

/* Asks memory for the slot of a hash; only advice. */
void query_counter_prefetch(const struct query_counter *tally, struct heap_text_hash hash);

/*
 * Puts the entries counted min_count times or more in order, the most counted first, then by
 * first_ix, so that the order does not depend on the hash; *kept is how many. Nothing can be added
 * any more.
 */
int query_counter_order(struct query *q, struct query_counter *tally, uint64_t min_count,
			uint64_t *kept, struct hdb_error *err);

/* Entry i of those in order. */
const void *query_counter_at(const struct query_counter *tally, uint64_t i);

void query_counter_release(struct query *q, struct query_counter *tally);

#endif

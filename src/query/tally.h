/*
 * query/tally.h - counts of what is the same, by 128-bit hash: a hash table of entries of any size, then the same
 * entries in order.
 */
#ifndef QUERY_TALLY_H
#define QUERY_TALLY_H

#include "heap/chars.h"
#include "query/query.h"

/* What every entry begins with; what follows it starts as zeros. */
struct query_tally_head {
	struct heap_text_hash hash;
	uint64_t count;    /* 0: free slot */
	uint32_t first_ix; /* the object that was counted first */
	uint32_t unused;
};

/* Set the first three, zero the rest; query_tally_release at the end. */
struct query_tally {
	size_t entry_bytes;
	const char *what;   /* "texts", for error messages; lent */
	const char *advice; /* what helps beside more memory, after that in the message; lent */
	/* private but for reading */
	struct base_big table;
	uint64_t slots;
	uint64_t used;      /* distinct ones */
	uint64_t seed;      /* base_hash_seed, once there are slots */
};

/*
 * Counts object ix under `hash`; *entry is its entry, lent until the next call. HDB_ELIMIT if the distinct ones do
 * not fit in the memory budget.
 */
int query_tally_add(struct query *q, struct query_tally *tally, struct heap_text_hash hash,
		    uint32_t ix, void **entry, struct hdb_error *err);

/*
 * Moves the entries counted min_count times or more to the start of the table, the most counted first, then by
 * first_ix, so that the order does not depend on the hash. Returns how many. Nothing can be added any more.
 */
uint64_t query_tally_order(struct query_tally *tally, uint64_t min_count);

/* Entry i of those in order. */
static inline const void *query_tally_at(const struct query_tally *tally, uint64_t i)
{
	return (const uint8_t *)tally->table.data + i * tally->entry_bytes;
}

void query_tally_release(struct query *q, struct query_tally *tally);

#endif

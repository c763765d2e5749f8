/*
 * import/idset.h - the set of all object identifiers of a dump, which numbers them.
 *
 * Identifiers are addresses, so a bit an alignment unit in chunks of a few KB holds them in little
 * memory, needs no sorting, and answers "which index has this ID" with one or two cache misses.
 * Identifiers that are spread too thin for that (no VM does it, a damaged or hostile file may) are
 * kept as a sorted array instead.
 */
#ifndef IMPORT_IDSET_H
#define IMPORT_IDSET_H

#include "base/idmap.h"
#include "import/idset_sorted.h"

#include <stdbool.h>

/* No index. */
#define IDSET_NONE UINT32_MAX
/* Log2 of the bits in a chunk. */
#define IDSET_CHUNK_BITS 15
#define IDSET_CHUNK_WORDS (1u << (IDSET_CHUNK_BITS - 6))
/*
 * Chunks that the system is asked for at a time: some MB, so that it can give large pages; the
 * first time fewer, for small dumps.
 */
#define IDSET_SLAB_CHUNKS 1024u
#define IDSET_FIRST_SLAB_CHUNKS 64u

/*
 * 64 units (IDs without their low zero bits) and the index of the first object in them: a look-up
 * touches nothing else that is big.
 */
struct idset_word {
	uint8_t bits[8];   /* a bit an ID; a number of 64 bits that would be aligned otherwise */
	uint32_t first_ix; /* after idset_finish */
};

struct idset_chunk {
	uint64_t region;   /* id >> shift >> IDSET_CHUNK_BITS */
	uint32_t first_ix; /* index of its first object */
	struct idset_word words[IDSET_CHUNK_WORDS];
};

struct idset {
	unsigned shift; /* low zero bits that all IDs have, at most 3 */
	uint64_t count; /* IDs in it (before idset_finish: duplicates in `sparse` included) */
	/* dense form */
	struct idset_chunk **chunks; /* after idset_finish in order of region */
	size_t chunk_count, chunk_capacity;
	struct base_idmap regions; /* region -> chunk number */
	struct idset_chunk *last;  /* the chunk that was used last */
	/* after idset_finish, if regions lie close: by region - first, or NULL */
	struct idset_chunk **table;
	uint64_t first_region, table_count;
	void **slabs; /* what chunks are cut from */
	size_t slab_count;
	size_t slab_used; /* chunks of the last one in use */
	/* sparse form */
	bool is_sparse;
	bool is_finished;
	struct idset_sorted sorted;
};

/* Spreads IDs over a small cache, of which a hostile dump can only make misses. */
static inline uint32_t import_id_hash(uint64_t id)
{
	return (uint32_t)(id * 0x9e3779b97f4a7c15ull >> 32);
}

/* IDs that are looked up at a time: enough to hide memory latency. */
#define IDSET_BATCH 32u

/* IDs that are being looked up: where each would be. All zeros: none. */
struct idset_asked {
	size_t count;
	const struct idset_word *words[IDSET_BATCH];
};

void import_idset_init(struct idset *set);
void import_idset_release(struct idset *set);

/*
 * Adds an ID: HDB_OK, or HDB_END if it was there already (in the sparse form that is found by
 * idset_finish).
 */
int import_idset_add(struct idset *set, uint64_t id, struct hdb_error *err);

/*
 * Adds `count` IDs in turn, as far as none was there: HDB_OK, or HDB_END at the first that was.
 * *added is how many went in.
 */
int import_idset_add_many(struct idset *set, const uint64_t *ids, size_t count, size_t *added,
			  struct hdb_error *err);

/* Takes out IDs that were added last. For the dense form, whose idset_add may say HDB_END. */
void import_idset_remove(struct idset *set, const uint64_t *ids, size_t count);

/*
 * Whether it is there; slow in the sparse form before idset_finish. What was added since
 * idset_finish may not be found before the next.
 */
bool import_idset_has(const struct idset *set, uint64_t id);

/*
 * Numbers the IDs in ascending order. HDB_ELIMIT for more than 2^32 - 2. Adding after it needs
 * another idset_finish. Returns the number of duplicates found in *duplicates (sparse form only).
 */
int import_idset_finish(struct idset *set, uint64_t *duplicates, struct hdb_error *err);

/* Index of an ID, or IDSET_NONE. */
uint32_t import_idset_find(const struct idset *set, uint64_t id);

/*
 * The same for many, with the cache misses of neighbours overlapped. Returns how many are in the
 * set.
 */
size_t import_idset_find_many(const struct idset *set, const uint64_t *ids, size_t count,
			      uint32_t *out);

/*
 * The same in two steps, for up to IDSET_BATCH: idset_ask asks memory for what idset_answer, which
 * must get the same IDs, looks at, so that there is something else to do meanwhile.
 */
void import_idset_ask(const struct idset *set, const uint64_t *ids, size_t count,
		      struct idset_asked *asked);
size_t import_idset_answer(const struct idset *set, const uint64_t *ids,
			   const struct idset_asked *asked, uint32_t *out);

/* The IDs with index first_ix and on, `count` of them, which must exist. */
void import_idset_scan(const struct idset *set, uint32_t first_ix, uint32_t count, uint64_t *out);

#endif

/*
 * import/idset.h - the set of all object IDs of a dump, which assigns the indexes.
 *
 * IDs are addresses. One bit for each alignment unit, in chunks of a few KB, takes little memory,
 * requires no sorting, and gives the index of an ID with one or two cache misses. If IDs are too
 * scattered for this (no VM writes such dumps, but damaged or hostile files exist), a sorted array
 * is used instead.
 */
#ifndef IMPORT_IDSET_H
#define IMPORT_IDSET_H

#include "base/idmap.h"
#include "import/idset_sorted.h"

#include <stdbool.h>

/* Index that means "not in the set". */
#define IDSET_NONE UINT32_MAX
/* Log2 of the bits in a chunk. */
#define IDSET_CHUNK_BITS 15
#define IDSET_CHUNK_WORDS (1u << (IDSET_CHUNK_BITS - 6))
/*
 * Number of chunks per slab requested from the system. A slab has a few MB, so that the system can
 * use large pages. The first slab is smaller, for small dumps.
 */
#define IDSET_SLAB_CHUNKS 1024u
#define IDSET_FIRST_SLAB_CHUNKS 64u

/*
 * 64 units (IDs without their low zero bits), and the index of the first object among them. A
 * lookup in a chunk reads only this structure.
 */
struct idset_word {
	/* one bit per ID; an array of bytes, because a uint64_t would require padding */
	uint8_t bits[8];
	uint32_t first_ix; /* valid after import_idset_finish */
};

struct idset_chunk {
	uint64_t region;   /* id >> shift >> IDSET_CHUNK_BITS */
	uint32_t first_ix; /* index of the chunk's first object */
	struct idset_word words[IDSET_CHUNK_WORDS];
};

struct idset {
	unsigned shift; /* number of low zero bits that all IDs have, at most 3 */
	/* number of IDs; in the sparse form, includes duplicates until import_idset_finish */
	uint64_t count;
	/* dense form */
	struct idset_chunk **chunks; /* ordered by region after import_idset_finish */
	size_t chunk_count, chunk_capacity;
	struct base_idmap regions; /* region to chunk number */
	struct idset_chunk *last;  /* most recently used chunk */
	/*
	 * after import_idset_finish, if regions are close together: chunks by region -
	 * first_region; otherwise NULL
	 */
	struct idset_chunk **table;
	uint64_t first_region, table_count;
	void **slabs; /* memory from which chunks are taken */
	size_t slab_count;
	size_t slab_used; /* number of chunks used in the last slab */
	/* sparse form */
	bool is_sparse;
	bool is_finished;
	struct idset_sorted sorted;
};

/*
 * Computes a hash of an ID for direct-mapped caches. A hostile dump can cause cache misses, but
 * nothing worse.
 */
static inline uint32_t import_id_hash(uint64_t id)
{
	return (uint32_t)(id * 0x9e3779b97f4a7c15ull >> 32);
}

/* Number of IDs looked up at a time, which is enough to hide memory latency. */
#define IDSET_BATCH 32u

/* A batch of lookups in progress: the word of each ID. A zeroed structure is an empty batch. */
struct idset_lookup {
	size_t count;
	const struct idset_word *words[IDSET_BATCH];
};

void import_idset_init(struct idset *set);
void import_idset_release(struct idset *set);

/*
 * Adds an ID. Returns HDB_OK, or HDB_END if the set already contains the ID. The sparse form finds
 * duplicates only in idset_finish.
 */
int import_idset_add(struct idset *set, uint64_t id, struct hdb_error *err);

/*
 * Adds `count` IDs in order. Stops with HDB_END at the first ID that the set already contains. Sets
 * *added to the number of IDs added.
 */
int import_idset_add_many(struct idset *set, const uint64_t *ids, size_t count, size_t *added,
			  struct hdb_error *err);

/*
 * Removes IDs that were just added. Only for the dense form, because in the sparse form adding
 * never returns HDB_END.
 */
void import_idset_remove(struct idset *set, const uint64_t *ids, size_t count);

/*
 * Returns whether an ID is in the set. This is slow in the sparse form before idset_finish. IDs
 * added after idset_finish may not be found before the next call.
 */
bool import_idset_has(const struct idset *set, uint64_t id);

/*
 * Numbers the IDs in ascending order. Fails with HDB_ELIMIT if there are more than 2^32 - 2 IDs.
 * Must be called again after IDs have been added. Sets *duplicates to the number of duplicates
 * removed (sparse form only).
 */
int import_idset_finish(struct idset *set, uint64_t *duplicates, struct hdb_error *err);

/* Returns the index of an ID, or IDSET_NONE. */
uint32_t import_idset_find(const struct idset *set, uint64_t id);

/* Looks up many IDs, so that their cache misses overlap. Returns the number of IDs found. */
size_t import_idset_find_many(const struct idset *set, const uint64_t *ids, size_t count,
			      uint32_t *out);

/*
 * Look up at most IDSET_BATCH IDs in two steps, so that the caller can do other work in between.
 * import_idset_prefetch prefetches the memory that import_idset_find_prefetched reads. Both
 * functions get the same IDs.
 */
void import_idset_prefetch(const struct idset *set, const uint64_t *ids, size_t count,
			   struct idset_lookup *lookup);
size_t import_idset_find_prefetched(const struct idset *set, const uint64_t *ids,
				    const struct idset_lookup *lookup, uint32_t *out);

/* Copies `count` IDs, beginning with index first_ix. All these IDs must exist. */
void import_idset_scan(const struct idset *set, uint32_t first_ix, uint32_t count, uint64_t *out);

#endif

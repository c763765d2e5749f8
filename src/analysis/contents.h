/*
 * analysis/contents.h - the contents of all strings or all primitive arrays as 128-bit hashes,
 * sorted so that equal contents are adjacent. Hashes are seeded differently in each process, so
 * answers must not depend on this order.
 *
 * Memory: 32 bytes per string or array, in one large array that moves to a file if the budget is
 * exhausted.
 */
#ifndef ANALYSIS_CONTENTS_H
#define ANALYSIS_CONTENTS_H

#include "analysis/population.h"
#include "analysis/session.h"
#include "base/sort.h"

/* The contents to read. */
enum analysis_content_kind {
	ANALYSIS_TEXTS,  /* strings, by text */
	ANALYSIS_ARRAYS, /* primitive arrays, by elements */
	ANALYSIS_SPANS   /* strings, by the part of the array that they use */
};

/* The content of a string or array. */
struct analysis_content {
	/*
	 * 128 bits of XXH3, seeded for this process (base_hash_seed), of the string or of the bytes
	 * of the elements. The element type is part of the seed. For spans, this is not a hash:
	 * `low` is the index of the array, and `high` is first byte << 32 | number of bytes.
	 */
	uint64_t low, high;
	uint32_t ix;
	/*
	 * for strings, the array if the string uses the whole array, otherwise HEAP_NONE; for spans
	 * and arrays, the array
	 */
	uint32_t array_ix;
	/*
	 * shallow sizes of the string and of the array; ANALYSIS_BYTES_MANY means this size or more
	 */
	uint32_t bytes, array_bytes;
};
#define ANALYSIS_BYTES_MANY UINT32_MAX

struct analysis_contents {
	struct base_big records; /* struct analysis_content, sorted by hash, then by ix */
	uint64_t count;
	/* number of objects omitted because their content is not in the dump */
	uint64_t without;
	/*
	 * if counts_heap is set, shallow size of all objects of the population, regardless of class
	 */
	uint64_t heap_bytes;
	uint64_t unreachable_count,
		/* number of all unreachable strings or arrays, whether in the population or not */
		unreachable_bytes;
};

struct analysis_contents_options {
	enum analysis_content_kind kind;
	enum analysis_population
		/* population; ANALYSIS_OF_NOTHING is treated as ANALYSIS_OF_REACHABLE */
		population;
	/*
	 * for arrays, by class number: nonzero if the class is requested; NULL requests all classes
	 */
	const uint8_t *is_class;
	bool counts_heap; /* heap_bytes is needed */
};

/* Reads all contents on several threads. The caller must release *out, even after a failure. */
int analysis_contents_read(const struct session *session,
			   const struct analysis_contents_options *options,
			   struct analysis_contents *out, struct hdb_error *err);
void analysis_contents_release(struct analysis_contents *contents);

/* Returns the end of the run of equal contents that begins at `from`. */
uint64_t analysis_contents_run(const struct analysis_contents *contents, uint64_t from);

/* A run of equal contents. */
struct analysis_run {
	const struct analysis_content *first;
	uint64_t count;
	/* whether the contents belong to arrays, not to strings */
	bool of_arrays;
	struct base_sort_key *keys, *spare; /* scratch space with one entry per member of the run */
};

/* Memory taken by a run of equal contents. */
struct analysis_copies {
	/*
	 * size of all copies and their arrays; an array shared by several strings counts only once
	 */
	uint64_t total;
	/*
	 * number of bytes that sharing would save: all but the first object and the smallest array
	 */
	uint64_t wasted;
	uint32_t arrays; /* number of different arrays */
};

/* Measures a run. Overwrites run->keys and run->spare. */
int analysis_copies_measure(const struct session *session, const struct analysis_run *run,
			    struct analysis_copies *out, struct hdb_error *err);

/*
 * Hashes the elements of a primitive array. `view` belongs to the calling thread, and `offset` is
 * the offset of the array in the dump. Returns HDB_NOTFOUND if the elements are not in the dump.
 */
int analysis_array_hash(struct heap *heap, struct base_view *view, uint64_t offset,
			struct analysis_content *out, struct hdb_error *err);

#endif

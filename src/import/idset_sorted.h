/*
 * import/idset_sorted.h - the sparse form of a set of identifiers: a sorted array, with a directory
 * into it.
 *
 * The directory cuts the span of identifiers into equal parts, about one for two identifiers; where
 * they lie evenly a look-up takes two cache misses. Where they do not, it is a binary search in
 * what one part holds.
 */
#ifndef IMPORT_IDSET_SORTED_H
#define IMPORT_IDSET_SORTED_H

#include "base/vec.h"

/* Index of the first of the ascending ids[low..high) that is at least `id`; high if none is. */
static inline uint32_t import_idset_lower_bound(const uint64_t *ids, uint32_t low, uint32_t high,
						uint64_t id)
{
	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (ids[mid] < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct idset_sorted {
	struct base_vec ids; /* uint64_t; sorted and distinct after import_idset_sorted_finish */
	uint32_t *first;     /* by part of the span: index of its first ID; one more at the end */
	uint64_t least;      /* the least ID of a part: that of ids[skipped] */
	uint32_t skipped;    /* IDs before the span: the boot loader's stand-in, invented classes */
	uint64_t part_count;
	unsigned part_shift; /* log2 of the width of a part */
};

/*
 * Sorts, drops duplicates (*duplicates: how many), makes the directory. HDB_ELIMIT for more than
 * 2^32 - 2 IDs.
 */
int import_idset_sorted_finish(struct idset_sorted *set, uint64_t *duplicates,
			       struct hdb_error *err);

/* Index of an ID, or UINT32_MAX. */
uint32_t import_idset_sorted_find(const struct idset_sorted *set, uint64_t id);

/* The same for many, with the cache misses of neighbours overlapped. */
void import_idset_sorted_find_many(const struct idset_sorted *set, const uint64_t *ids,
				   size_t count, uint32_t *out);

void import_idset_sorted_release(struct idset_sorted *set);

#endif

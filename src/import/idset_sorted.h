/*
 * import/idset_sorted.h - the sparse form of the ID set: a sorted array with a directory.
 *
 * The directory divides the span of IDs into equal parts, about one for every two IDs. A lookup is
 * a binary search within one part. If IDs are evenly distributed, a lookup takes two cache misses.
 */
#ifndef IMPORT_IDSET_SORTED_H
#define IMPORT_IDSET_SORTED_H

#include "base/vec.h"

/*
 * Returns the index of the first of the ascending ids[low..high) that is not less than `id`, or
 * `high` if there is none.
 */
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
	/*
	 * indexed by part of the span: index of the first ID of the part, with one extra entry at
	 * the end
	 */
	uint32_t *first;
	uint64_t least; /* first ID of the span: ids[skipped] */
	/* number of IDs below the span: the boot loader's placeholder and invented classes */
	uint32_t skipped;
	uint64_t part_count;
	unsigned part_shift; /* log2 of the width of a part in IDs */
};

/*
 * Sorts the IDs, removes duplicates, and builds the directory. Sets *duplicates to the number of
 * IDs removed. Fails with HDB_ELIMIT if there are more than 2^32 - 2 IDs.
 */
int import_idset_sorted_finish(struct idset_sorted *set, uint64_t *duplicates,
			       struct hdb_error *err);

/* Returns the index of an ID, or UINT32_MAX. */
uint32_t import_idset_sorted_find(const struct idset_sorted *set, uint64_t id);

/* Looks up many IDs, so that their cache misses overlap. */
void import_idset_sorted_find_many(const struct idset_sorted *set, const uint64_t *ids,
				   size_t count, uint32_t *out);

void import_idset_sorted_release(struct idset_sorted *set);

#endif

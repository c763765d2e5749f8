/*
 * import/idset_sorted.c - a sorted array of IDs with a directory; see idset_sorted.h.
 */
#include "import/idset_sorted.h"

#include "base/prefetch.h"
#include "base/sort.h"

#include <stdlib.h>

/*
 * IDs below this limit were invented by the import. They are far below the heap's addresses and
 * therefore excluded from the span.
 */
#define LOW_END 65536u
/* Number of IDs per part of the span. */
#define IDS_PER_PART 2u
/* How many IDs ahead of lookups to prefetch, first for the directory and then for the array. */
#define AHEAD 16u

void import_idset_sorted_release(struct idset_sorted *set)
{
	base_vec_release(&set->ids);
	free(set->first);
	*set = (struct idset_sorted){ 0 };
}

static uint64_t sort_distinct(struct idset_sorted *set)
{
	uint64_t *ids = set->ids.data;
	const size_t count = set->ids.count;
	size_t kept = 0, rising = 1;

	/* Dumps usually have objects in address order, so sorting is often unnecessary. */
	while (rising < count && ids[rising - 1] <= ids[rising])
		rising++;
	if (rising < count)
		qsort(ids, count, sizeof(*ids), base_compare_u64);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || ids[i] != ids[i - 1])
			ids[kept++] = ids[i];
	set->ids.count = kept;
	return count - kept;
}

static uint64_t part_of(const struct idset_sorted *set, uint64_t id)
{
	return (id - set->least) >> set->part_shift;
}

/*
 * Builds the directory. part_shift is the smallest width for which the number of parts does not
 * exceed the number of IDs / IDS_PER_PART.
 */
static int build_directory(struct idset_sorted *set, struct hdb_error *err)
{
	const uint64_t *ids = set->ids.data;
	const uint32_t count = (uint32_t)set->ids.count;
	uint64_t span, part = 0;

	free(set->first);
	set->first = NULL;
	set->part_count = 0;
	for (set->skipped = 0; set->skipped < count && ids[set->skipped] < LOW_END; set->skipped++)
		;
	if (set->skipped == count)
		return HDB_OK;
	set->least = ids[set->skipped];
	span = ids[count - 1] - set->least;
	for (set->part_shift = 0; span >> set->part_shift > count / IDS_PER_PART; set->part_shift++)
		;
	set->part_count = (span >> set->part_shift) + 1;
	set->first = malloc((set->part_count + 1) * sizeof(*set->first));
	if (!set->first) {
		const uint64_t size = (set->part_count + 1) * sizeof(*set->first);

		set->part_count = 0;
		return hdb_fail_memory(err, "the identifier set", size);
	}
	for (uint32_t i = set->skipped; i < count; i++)
		for (const uint64_t p = part_of(set, ids[i]); part <= p; part++)
			set->first[part] = i;
	set->first[part] = count;
	return HDB_OK;
}

int import_idset_sorted_finish(struct idset_sorted *set, uint64_t *duplicates,
			       struct hdb_error *err)
{
	*duplicates = sort_distinct(set);
	if (set->ids.count >= UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many objects: %zu (limit %" PRIu32 ")",
				set->ids.count, UINT32_MAX - 1);
	return build_directory(set, err);
}

/* Returns the index of `id` among ids[low..high), or UINT32_MAX. */
static uint32_t find_between(const struct idset_sorted *set, uint64_t id, uint32_t low,
			     uint32_t high)
{
	const uint64_t *ids = set->ids.data;
	const uint32_t at = import_idset_lower_bound(ids, low, high, id);

	return at < high && ids[at] == id ? at : UINT32_MAX;
}

/*
 * Finds the range of indexes that may contain an ID. The range is empty if the ID is outside the
 * span and was not invented.
 */
static void bounds_of(const struct idset_sorted *set, uint64_t id, uint32_t *low, uint32_t *high)
{
	const uint64_t part = part_of(set, id);

	*low = 0;
	*high = id < LOW_END ? set->skipped : 0;
	if (id >= set->least && part < set->part_count) {
		*low = set->first[part];
		*high = set->first[part + 1];
	}
}

uint32_t import_idset_sorted_find(const struct idset_sorted *set, uint64_t id)
{
	uint32_t low, high;

	bounds_of(set, id, &low, &high);
	return find_between(set, id, low, high);
}

/*
 * Looks up many IDs. The loop has three stages that are AHEAD IDs apart: prefetch the directory
 * entry, prefetch the middle of the range, and search.
 */
void import_idset_sorted_find_many(const struct idset_sorted *set, const uint64_t *ids,
				   size_t count, uint32_t *out)
{
	uint32_t lows[AHEAD] = { 0 }, highs[AHEAD] = { 0 };
	const uint64_t *sorted = set->ids.data;

	for (size_t i = 0; i < count + 2 * AHEAD; i++) {
		if (i >= 2 * AHEAD)
			out[i - 2 * AHEAD] = find_between(set, ids[i - 2 * AHEAD], lows[i % AHEAD],
							  highs[i % AHEAD]);
		if (i >= AHEAD && i - AHEAD < count) {
			bounds_of(set, ids[i - AHEAD], &lows[i % AHEAD], &highs[i % AHEAD]);
			prefetch_read(sorted + (lows[i % AHEAD] + highs[i % AHEAD]) / 2);
		}
		if (i < count && part_of(set, ids[i]) < set->part_count)
			prefetch_read(set->first + part_of(set, ids[i]));
	}
}

/*
 * base/sort.c - sorts short lists by insertion, and longer lists by a radix sort on bytes. A byte
 * that is the same in all keys needs no pass.
 */
#include "base/sort.h"

#include <assert.h>
#include <string.h>

/*
 * Minimum length of a list that is sorted by counting. Shorter lists are sorted faster by
 * insertion.
 */
#define SHORT_LIST 48

static void insert_keys(struct base_sort_key *keys, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct base_sort_key k = keys[i];
		size_t j = i;
		for (; j > 0 && keys[j - 1].key > k.key; j--)
			keys[j] = keys[j - 1];
		keys[j] = k;
	}
}

/*
 * Turns counts into start positions. Returns false if all elements are in the same slot, so that
 * nothing has to be moved.
 */
static int counts_to_starts(size_t counts[256], size_t count)
{
	size_t sum = 0;

	for (unsigned b = 0; b < 256; b++) {
		const size_t c = counts[b];
		if (c == count)
			return 0;
		counts[b] = sum;
		sum += c;
	}
	assert(sum == count);
	return 1;
}

void base_sort_keys(struct base_sort_key *keys, struct base_sort_key *spare, size_t count)
{
	struct base_sort_key *from = keys, *to = spare;
	uint64_t varying = 0;

	assert(keys != spare || !count);
	if (count < SHORT_LIST) {
		insert_keys(keys, count);
		return;
	}
	for (size_t i = 1; i < count; i++)
		varying |= keys[i].key ^ keys[0].key;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t at[256] = { 0 };
		if ((varying >> shift & 0xff) == 0)
			continue;
		for (size_t i = 0; i < count; i++)
			at[from[i].key >> shift & 0xff]++;
		if (!counts_to_starts(at, count))
			continue;
		for (size_t i = 0; i < count; i++)
			to[at[from[i].key >> shift & 0xff]++] = from[i];
		struct base_sort_key *swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof *keys);
}

static void insert_nodes(uint32_t *nodes, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const uint32_t v = nodes[i];
		size_t j = i;
		for (; j > 0 && nodes[j - 1] > v; j--)
			nodes[j] = nodes[j - 1];
		nodes[j] = v;
	}
}

void base_sort_nodes(uint32_t *nodes, uint32_t *spare, size_t count)
{
	uint32_t *from = nodes, *to = spare;

	assert(nodes != spare || !count);
	if (count < SHORT_LIST) {
		insert_nodes(nodes, count);
		return;
	}
	for (unsigned shift = 0; shift < 32; shift += 8) {
		size_t at[256] = { 0 };
		for (size_t i = 0; i < count; i++)
			at[from[i] >> shift & 0xff]++;
		if (!counts_to_starts(at, count))
			continue;
		for (size_t i = 0; i < count; i++)
			to[at[from[i] >> shift & 0xff]++] = from[i];
		uint32_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != nodes)
		memcpy(nodes, from, count * sizeof *nodes);
}

int base_compare_u32(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int base_compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

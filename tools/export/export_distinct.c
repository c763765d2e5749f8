/*
 * export/export_distinct.c - numbers the distinct values of a column in order of first occurrence,
 * so the output does not depend on the hash seed. Values come from dumps, which may be hostile: the
 * hash is seeded against chosen collisions.
 */
#include "export/export_private.h"

#include <stdlib.h>
#include <xxhash.h>

#define SLOTS_FIRST 1024

void export_distinct_init(struct export_distinct *d, bool is_text, uint64_t seed)
{
	*d = (struct export_distinct){ .is_text = is_text, .seed = seed };
}

static uint64_t hash_number(const struct export_distinct *d, uint64_t value)
{
	const unsigned __int128 product =
		(unsigned __int128)(value ^ d->seed) * (d->seed << 1 | 0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

const char *export_distinct_text_at(const struct export_distinct *d, uint32_t no, uint32_t *size)
{
	const uint8_t *at = (const uint8_t *)d->plain.data + d->values[no];

	*size = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
		(uint32_t)at[3] << 24;
	return (const char *)at + 4;
}

static uint64_t hash_of(const struct export_distinct *d, uint32_t no)
{
	uint32_t size;
	const char *text;

	if (!d->is_text)
		return hash_number(d, d->values[no]);
	text = export_distinct_text_at(d, no, &size);
	return XXH3_64bits_withSeed(text, size, d->seed);
}

/* Makes room for one more value; false if out of memory. */
static bool grow(struct export_distinct *d)
{
	const uint32_t slots = d->slot_count ? 2 * d->slot_count : SLOTS_FIRST;
	uint32_t *table;

	d->value_count = d->count;
	if (base_vec_reserve(&d->value_vec, 1, sizeof(*d->values), NULL) < 0)
		return false;
	if (d->count < d->slot_count / 2)
		return true;
	table = calloc(slots, sizeof(*table));
	if (!table)
		return false;
	for (uint32_t no = 0; no < d->count; no++) {
		uint32_t at = (uint32_t)hash_of(d, no) & (slots - 1);

		while (table[at])
			at = (at + 1) & (slots - 1);
		table[at] = no + 1;
	}
	free(d->slots);
	d->slots = table;
	d->slot_count = slots;
	return true;
}

uint32_t export_distinct_number(struct export_distinct *d, uint64_t value)
{
	uint32_t at;

	if (!grow(d))
		return EXPORT_NO_CODE;
	for (at = (uint32_t)hash_number(d, value) & (d->slot_count - 1); d->slots[at];
	     at = (at + 1) & (d->slot_count - 1)) {
		if (d->values[d->slots[at] - 1] == value)
			return d->slots[at] - 1;
	}
	export_bytes_u64(&d->plain, value);
	if (d->plain.failed)
		return EXPORT_NO_CODE;
	d->values[d->count] = value;
	d->slots[at] = ++d->count;
	return d->count - 1;
}

uint32_t export_distinct_text(struct export_distinct *d, const char *text, uint32_t size)
{
	const uint64_t hash = XXH3_64bits_withSeed(text, size, d->seed);
	uint32_t at, other;

	if (!grow(d))
		return EXPORT_NO_CODE;
	for (at = (uint32_t)hash & (d->slot_count - 1); d->slots[at];
	     at = (at + 1) & (d->slot_count - 1)) {
		const char *found = export_distinct_text_at(d, d->slots[at] - 1, &other);

		if (other == size && memcmp(found, text, size) == 0)
			return d->slots[at] - 1;
	}
	d->values[d->count] = d->plain.size;
	export_bytes_u32(&d->plain, size);
	bytes_add(&d->plain, text, size);
	if (d->plain.failed)
		return EXPORT_NO_CODE;
	d->slots[at] = ++d->count;
	return d->count - 1;
}

void export_distinct_clear(struct export_distinct *d)
{
	if (d->slots)
		memset(d->slots, 0, d->slot_count * sizeof(*d->slots));
	d->count = 0;
	d->plain.size = 0;
}

void export_distinct_release(struct export_distinct *d)
{
	free(d->slots);
	base_vec_release(&d->value_vec);
	bytes_release(&d->plain);
	*d = (struct export_distinct){ 0 };
}

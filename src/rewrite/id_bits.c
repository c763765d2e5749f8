/*
 * rewrite/id_bits.c - a bit set in fixed-size parts, each allocated when its first ID is added.
 * Parts that exceed the memory budget are stored in a scratch file.
 */
#include "rewrite/id_bits.h"

#include <assert.h>

/*
 * Binary logarithm of the number of bits in a part. A part takes 256 KiB, and covers 16 MiB of heap
 * if objects are aligned to 8 bytes.
 */
#define PART_SHIFT 21u
#define PART_BYTES ((uint64_t)1 << (PART_SHIFT - 3))

unsigned rewrite_id_shift(uint64_t all)
{
	unsigned shift = 0;

	static_assert(PART_SHIFT > 3, "a part must be a whole number of bytes");
	while (shift < 3 && !(all >> shift & 1))
		shift++;
	assert(shift <= 3);
	return shift;
}

static uint8_t *byte_of(const struct rewrite_id_bits *set, uint32_t part, uint64_t place)
{
	const struct base_big *big = base_vec_at(&set->bits, struct base_big, part);

	assert(part < set->bits.count);
	assert(big->data);
	return (uint8_t *)big->data + (place >> 3 & (PART_BYTES - 1));
}

int rewrite_id_bits_add(struct rewrite_id_bits *set, uint64_t id, struct hdb_error *err)
{
	const uint64_t place = id >> set->shift, head = place >> PART_SHIFT;
	uint32_t part = base_idmap_get(&set->parts, head);

	assert(set->shift <= 3);
	assert(set->work);
	if (part == BASE_IDMAP_NONE) {
		struct base_big big = { 0 };
		int r;

		part = (uint32_t)set->bits.count;
		TRY(base_vec_reserve(&set->bits, 1, sizeof(big), err));
		TRY(base_idmap_put(&set->parts, head, part, err));
		r = base_big_alloc(set->work, &big, PART_BYTES, "identifiers", err);
		/*
		 * The map already contains the index of the part, so the part is pushed even if its
		 * allocation failed. The caller then fails.
		 */
		(void)base_vec_push(&set->bits, &big, sizeof(big), NULL);
		TRY(r);
	}
	*byte_of(set, part, place) |= (uint8_t)(1u << (place & 7));
	return HDB_OK;
}

bool rewrite_id_bits_has(const struct rewrite_id_bits *set, uint64_t id)
{
	const uint64_t place = id >> set->shift;
	const uint32_t part = base_idmap_get(&set->parts, place >> PART_SHIFT);

	return part != BASE_IDMAP_NONE && *byte_of(set, part, place) >> (place & 7) & 1;
}

void rewrite_id_bits_release(struct rewrite_id_bits *set)
{
	for (size_t i = 0; i < set->bits.count; i++)
		base_big_free(base_vec_at(&set->bits, struct base_big, i));
	base_vec_release(&set->bits);
	base_idmap_release(&set->parts);
}

/* rewrite/id_bits.h - a set of object IDs, with one bit for each possible object address. */
#ifndef REWRITE_ID_BITS_H
#define REWRITE_ID_BITS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "base/work.h"

/*
 * Zero-initialise, then set work and shift. Memory: one bit for each 2^shift bytes of heap in use.
 */
struct rewrite_id_bits {
	struct base_work *work;  /* borrowed */
	unsigned shift;          /* number of low bits that are zero in every ID */
	struct base_idmap parts; /* high bits of an ID to index in bits */
	struct base_vec bits;    /* struct base_big, one per part */
};

/*
 * Returns the number of low bits that are zero in every ID, at most 3. `all` is the bitwise OR of
 * the IDs.
 */
unsigned rewrite_id_shift(uint64_t all);

int rewrite_id_bits_add(struct rewrite_id_bits *set, uint64_t id, struct hdb_error *err);
bool rewrite_id_bits_has(const struct rewrite_id_bits *set, uint64_t id);
void rewrite_id_bits_release(struct rewrite_id_bits *set);

#endif

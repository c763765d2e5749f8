/*
 * rewrite/id_bits.h - a set of object IDs: one bit for each address at which an object may start.
 */
#ifndef REWRITE_ID_BITS_H
#define REWRITE_ID_BITS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "base/work.h"

/*
 * A set of IDs. The caller must initialise it with zeros, and set work and shift. Memory: one bit
 * for each 2^shift bytes of heap, in parts.
 */
struct rewrite_id_bits {
	struct base_work *work;  /* borrowed */
	unsigned shift;          /* number of low bits that are zero in all IDs */
	struct base_idmap parts; /* high bits of an ID to number of the part */
	struct base_vec bits;    /* struct base_big, one per part */
};

/* Returns how many low bits are zero in all IDs, at most 3. `all` is the bitwise OR of the IDs. */
unsigned rewrite_id_shift(uint64_t all);

int rewrite_id_bits_add(struct rewrite_id_bits *set, uint64_t id, struct hdb_error *err);
bool rewrite_id_bits_has(const struct rewrite_id_bits *set, uint64_t id);
void rewrite_id_bits_release(struct rewrite_id_bits *set);

#endif

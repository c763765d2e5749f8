/*
 * rewrite/id_bits.h - a set of identifiers of objects: a bit for each place where one may be.
 */
#ifndef REWRITE_ID_BITS_H
#define REWRITE_ID_BITS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "base/work.h"

/* Zero-initialise, and set work and shift. Memory: a bit for each 2^shift bytes of heap. */
struct rewrite_id_bits {
	struct base_work *work;  /* lent */
	unsigned shift;          /* low bits that no identifier has */
	struct base_idmap parts; /* what the identifiers of a part begin with -> its number */
	struct base_vec bits;    /* struct base_big, one a part */
};

/* How many low bits are zero in all identifiers of which `all` is the disjunction; 3 at most. */
unsigned rewrite_id_shift(uint64_t all);

int rewrite_id_bits_add(struct rewrite_id_bits *set, uint64_t id, struct hdb_error *err);
bool rewrite_id_bits_has(const struct rewrite_id_bits *set, uint64_t id);
void rewrite_id_bits_release(struct rewrite_id_bits *set);

#endif

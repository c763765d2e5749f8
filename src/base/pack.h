/*
 * base/pack.h - packed columns of 64-bit numbers: groups of 128, each with a common base, a bit
 * width of its own and a few exceptions for the values that do not fit.
 *
 * The scheme is patched frame of reference (Zukowski et al., "Super-Scalar RAM-CPU Cache
 * Compression", ICDE 2006): constant time access to any value, and a column costs little more than
 * the entropy of its typical values.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include "base/vec.h"

#include <stdbool.h>

/* Values in a group. A position in a group is one byte. */
#define PACK_GROUP 128

/* Appends the packed form of `count` values to `out`. */
int base_pack_encode(struct base_vec *out, const uint64_t *values, uint32_t count,
		     struct hdb_error *err);

/* Writes a column group by group; private. */
struct pack_writer {
	struct base_vec *out; /* lent */
	size_t start;         /* of the column in out */
	uint32_t group;       /* groups put so far */
};

/*
 * Begins a column of `count` values at the end of `out`, to which only this writer may append until
 * pack_end.
 */
int base_pack_begin(struct pack_writer *w, struct base_vec *out, uint32_t count,
		    struct hdb_error *err);
/* The next PACK_GROUP values, or what is left of them. */
int base_pack_put_group(struct pack_writer *w, const uint64_t *values, unsigned n,
			struct hdb_error *err);
int base_pack_end(struct pack_writer *w, struct hdb_error *err);

/* A packed column in memory that is borrowed from whoever has the bytes. */
struct pack_column {
	const uint8_t *data; /* its first byte */
	uint64_t size;       /* bytes that it takes */
	uint32_t count;      /* values */
};

/*
 * Opens the column at the start of [data, data + size), of which it may take less: `count` values
 * are expected. Checks the whole structure, so that reading needs no checks; HDB_ECORRUPT if it
 * does not hold.
 */
int base_pack_open(struct pack_column *column, const uint8_t *data, uint64_t size, uint32_t count,
		   struct hdb_error *err);

/* Value i (i < count). */
uint64_t base_pack_get(const struct pack_column *column, uint32_t i);

/* Whether all its values are 0, as pack_encode writes them; false if they are but otherwise. */
bool base_pack_is_zero(const struct pack_column *column);

/* Decodes group g into out[128]; returns how many values it has. */
unsigned base_pack_group(const struct pack_column *column, uint32_t g, uint64_t *out);

#endif

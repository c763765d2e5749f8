/*
 * base/pack.h - packed columns of 64-bit numbers. They consist of groups of 128 values with a
 * common base and bit width, and a few exceptions for values that do not fit.
 *
 * The scheme is patched frame of reference (Zukowski et al., "Super-Scalar RAM-CPU Cache
 * Compression", ICDE 2006). Any value can be read in constant time, and the size of a column is
 * close to the entropy of its typical values.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include "base/vec.h"

#include <stdbool.h>

/* Number of values per group. A position within a group fits in one byte. */
#define PACK_GROUP 128

/* Appends `count` values in packed form to `out`. */
int base_pack_encode(struct base_vec *out, const uint64_t *values, uint32_t count,
		     struct hdb_error *err);

/* State for writing a column group by group; private. */
struct pack_writer {
	struct base_vec *out; /* borrowed */
	size_t start;         /* start of the column in `out` */
	uint32_t group;       /* number of groups written */
};

/*
 * Starts a column of `count` values at the end of `out`. Until base_pack_end, only this writer may
 * append to `out`.
 */
int base_pack_begin(struct pack_writer *w, struct base_vec *out, uint32_t count,
		    struct hdb_error *err);
/* Writes the next PACK_GROUP values, or all remaining values if fewer remain. */
int base_pack_put_group(struct pack_writer *w, const uint64_t *values, unsigned n,
			struct hdb_error *err);
int base_pack_end(struct pack_writer *w, struct hdb_error *err);

/* A packed column; its bytes are borrowed. */
struct pack_column {
	const uint8_t *data; /* its first byte */
	uint64_t size;       /* size of the column in bytes */
	uint32_t count;      /* number of values */
};

/*
 * Opens the column of `count` values at the start of [data, data + size), which may be longer.
 * Checks the whole structure, so that reading needs no checks. Returns HDB_ECORRUPT if it is
 * invalid.
 */
int base_pack_open(struct pack_column *column, const uint8_t *data, uint64_t size, uint32_t count,
		   struct hdb_error *err);

/* Returns value i; i < count. */
uint64_t base_pack_get(const struct pack_column *column, uint32_t i);

/*
 * Returns whether all values are 0 and the column has the form in which base_pack_encode writes
 * zeros. For other forms, returns false.
 */
bool base_pack_is_zero(const struct pack_column *column);

/* Decodes group g into out[128]. Returns the number of its values. */
unsigned base_pack_group(const struct pack_column *column, uint32_t g, uint64_t *out);

#endif

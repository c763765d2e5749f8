/*
 * derive/native.h - finds native memory owned by Java objects. To read the stored table, use
 * derive_native_of.
 */
#ifndef DERIVE_NATIVE_H
#define DERIVE_NATIVE_H

#include "derive/derive.h"

/* Maximum size of one object's native memory. A larger size in a dump is assumed to be garbage. */
#define DERIVE_NATIVE_MAX ((uint64_t)1 << 40)

struct derive_native {
	uint32_t ix; /* the owner */
	uint64_t bytes;
};

/*
 * Which native memory counts: memory recorded by a registry, all memory, or the memory that counts
 * in the size model: registered memory with ahat's sizes, and all memory with other sizes. The
 * `native` table and every `native` column use the third kind.
 */
enum derive_native_kind { DERIVE_NATIVE_REGISTERED, DERIVE_NATIVE_ALL, DERIVE_NATIVE_COUNTED };

/*
 * Finds all owners, as struct derive_native in ascending order. Reads objects only if the heap has
 * a class whose instances can own native memory. The caller must release the vec.
 */
int derive_native_sizes(struct derive *derive, enum derive_native_kind kind, struct base_vec *out,
			struct hdb_error *err);

/*
 * Like derive_native_sizes with DERIVE_NATIVE_COUNTED, but does not search the heap if the `native`
 * table shows that no object owns native memory. Builds this table if it is missing.
 */
int derive_native_counted(struct derive *derive, struct base_vec *out, struct hdb_error *err);

/* Looks up one object in a list from derive_native_sizes. Returns 0 if it is not in the list. */
uint64_t derive_native_in(const struct base_vec *sizes, uint32_t ix);

/*
 * A table column that is written from a list of derive_native_sizes. Objects that are not in the
 * list have the value 0.
 */
struct derive_native_column {
	enum store_table table;
	const char *stage;            /* name of the stage for base_stage */
	const struct base_vec *sizes; /* struct derive_native, ascending; borrowed */
};

/* Writes the column. The caller calls store_put_table. */
int derive_put_native(struct derive *derive, struct store_writer *writer,
		      const struct derive_native_column *column, struct hdb_error *err);

#endif

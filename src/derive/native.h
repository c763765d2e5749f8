/*
 * derive/native.h - native memory that Java objects own, found anew. What is kept is read by
 * derive_native_of.
 */
#ifndef DERIVE_NATIVE_H
#define DERIVE_NATIVE_H

#include "derive/derive.h"

/* What one object is said to own at most: more is no honest dump. */
#define DERIVE_NATIVE_MAX ((uint64_t)1 << 40)

struct derive_native {
	uint32_t ix; /* the owner */
	uint64_t bytes;
};

/*
 * Which of them: what a registry knows only, all that is known, or what the size model counts,
 * which the table native and every column "native" have: of sizes like ahat's what is registered.
 */
enum derive_native_kind { DERIVE_NATIVE_REGISTERED, DERIVE_NATIVE_ALL, DERIVE_NATIVE_COUNTED };

/*
 * Finds all owners, ascending, as struct derive_native; looks at the objects if the heap has a
 * class of owners. Owned: release the vec.
 */
int derive_native_sizes(struct derive *derive, enum derive_native_kind kind, struct base_vec *out,
			struct hdb_error *err);

/* What one object owns, from such a list. */
uint64_t derive_native_in(const struct base_vec *sizes, uint32_t ix);

/* A column of such a list: 0 for all objects that are not in it. */
struct derive_native_column {
	enum store_table table;
	const char *stage;            /* for base_stage */
	const struct base_vec *sizes; /* struct derive_native, ascending; lent */
};

/* Writes it, without store_put_table. */
int derive_put_native(struct derive *derive, struct store_writer *writer,
		      const struct derive_native_column *column, struct hdb_error *err);

#endif

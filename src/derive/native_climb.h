/*
 * derive/native_climb.h - adds up native memory along the dominator tree if few objects own any.
 * Private to derive.
 */
#ifndef DERIVE_NATIVE_CLIMB_H
#define DERIVE_NATIVE_CLIMB_H

#include "derive/native.h"

/* Returns the maximum number of objects to visit, a small fraction of object_count. */
uint32_t derive_climb_limit(uint32_t object_count);

/*
 * For each object, adds up the native memory of the objects that it dominates, not including its
 * own. Sets *out to the objects with a nonzero amount, in ascending order, as struct derive_native.
 * Reads the `native` and `dominators` tables, which must exist. Returns HDB_NOTFOUND, with an empty
 * *out, if more than `limit` objects own native memory or dominate an owner. A cycle above an owner
 * indicates a damaged table and is an error. The caller must release *out.
 */
int derive_native_below(struct derive *derive, uint32_t limit, struct base_vec *out,
			struct hdb_error *err);

#endif

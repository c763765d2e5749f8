/*
 * derive/native_climb.h - native memory summed up the dominator tree where few objects own any.
 * Private to derive.
 */
#ifndef DERIVE_NATIVE_CLIMB_H
#define DERIVE_NATIVE_CLIMB_H

#include "derive/native.h"

/* Objects that are looked at, at most: in a heap of so many objects a small part of them. */
uint32_t derive_climb_limit(uint32_t object_count);

/*
 * What is below each object of native memory, without its own: *out gets those that have any,
 * ascending, as struct derive_native, from the tables native and dominators, which are there.
 * HDB_NOTFOUND if more than `limit` objects own some or are above such: *out is empty then. Errors
 * of reading; a table of dominators with a circle above an owner is damaged. Release *out.
 */
int derive_native_below(struct derive *derive, uint32_t limit, struct base_vec *out,
			struct hdb_error *err);

#endif

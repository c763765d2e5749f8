/*
 * analysis/native_sizes.h - native memory that Java objects own.
 *
 * Android registers it: a Cleaner whose referent is the owner holds a thunk of a
 * NativeAllocationRegistry, which has the size of each of its allocations. Older Androids and JVMs
 * keep sizes in fields of the owner: bitmaps, direct buffers.
 */
#ifndef ANALYSIS_NATIVE_SIZES_H
#define ANALYSIS_NATIVE_SIZES_H

#include "analysis/session.h"

struct analysis_native {
	uint32_t ix; /* the owner */
	uint64_t bytes;
};

/* Which of them: what a registry knows only, or all that is known. */
enum analysis_native_kind { ANALYSIS_NATIVE_REGISTERED, ANALYSIS_NATIVE_ALL };

/*
 * Finds all owners, ascending, as struct analysis_native; a pass over the objects if the heap has a
 * class of owners. Owned: release the vec.
 */
int analysis_native_sizes(const struct session *session, enum analysis_native_kind kind,
			  struct base_vec *out, struct hdb_error *err);

/* What one object owns, from such a list. */
uint64_t analysis_native_of(const struct base_vec *sizes, uint32_t ix);

#endif

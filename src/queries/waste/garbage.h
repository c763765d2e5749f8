/*
 * queries/waste/garbage.h - the forest of the unreachable: which unreachable objects no other one
 * holds, and what depends on each.
 *
 * Each unreachable object depends on one top: an object that nothing unreachable refers to or, of a
 * ring that nothing refers to, one object of the ring. What several tops hold depends on the first
 * by ID.
 */
#ifndef QUERIES_WASTE_GARBAGE_H
#define QUERIES_WASTE_GARBAGE_H

#include "analysis/session.h"

struct analysis_garbage_top {
	uint64_t bytes;        /* shallow sizes of what depends on it, itself included */
	uint64_t native_bytes; /* memory outside of the Java heap that these own */
	uint32_t count;        /* objects, itself included */
	uint32_t ix;
};

/*
 * Finds them, in order of ix; *tops (struct analysis_garbage_top) is owned: base_vec_release.
 * Memory: 4 bytes an object, 26 an unreachable one and 4 each of its references.
 */
int analysis_garbage_tops(const struct session *session, struct base_vec *tops,
			  struct hdb_error *err);

#endif

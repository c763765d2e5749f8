/*
 * queries/waste/garbage.h - which unreachable objects are not held by another one, and what each of
 * these holds.
 *
 * Each unreachable object is held by one "top": an object that no unreachable object refers to, or,
 * for a ring that nothing refers to, one object of the ring. What several tops hold is assigned to
 * the one with the lowest ID.
 */
#ifndef QUERIES_WASTE_GARBAGE_H
#define QUERIES_WASTE_GARBAGE_H

#include "analysis/session.h"

/* An unreachable object that no other one holds. */
struct analysis_garbage_top {
	uint64_t bytes;        /* shallow size of everything it holds, including itself */
	uint64_t native_bytes; /* native memory owned by these objects */
	uint32_t count;        /* number of these objects */
	uint32_t ix;
};

/*
 * Finds all tops in order of ix. The caller releases *tops (struct analysis_garbage_top). Memory: 4
 * bytes per object, 26 per unreachable object, and 4 for each of its references.
 */
int analysis_garbage_tops(const struct session *session, struct base_vec *tops,
			  struct hdb_error *err);

#endif

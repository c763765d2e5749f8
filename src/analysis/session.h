/*
 * analysis/session.h - the context of an analysis: an open heap, its derived tables, and the state
 * of long work. It has no state of its own, so any query or client can create one.
 */
#ifndef ANALYSIS_SESSION_H
#define ANALYSIS_SESSION_H

#include "derive/derive.h"
#include "heap/heap.h"

struct analysis_suspects;

struct session {
	struct heap *heap;      /* borrowed, as all four are */
	struct derive *derive;  /* lent */
	struct base_work *work; /* lent */
	/*
	 * where a query stores the suspects that it has found, for the next query with the same
	 * options (analysis_suspects_leave); NULL: nowhere
	 */
	struct analysis_suspects *left;
};

#endif

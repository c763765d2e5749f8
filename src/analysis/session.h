/*
 * analysis/session.h - the context of an analysis: an open heap, its derived tables, and the state
 * of long operations. A session has no other state, so any query or client can create one.
 */
#ifndef ANALYSIS_SESSION_H
#define ANALYSIS_SESSION_H

#include "derive/derive.h"
#include "heap/heap.h"

struct analysis_suspects;

struct session {
	struct heap *heap;      /* borrowed */
	struct derive *derive;  /* borrowed */
	struct base_work *work; /* borrowed */
	/*
	 * where a query stores its suspects for the next query with the same options
	 * (analysis_suspects_leave), or NULL; borrowed
	 */
	struct analysis_suspects *left;
};

#endif

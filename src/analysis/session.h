/*
 * analysis/session.h - what an analysis works on: an open heap, its derived tables, and the state
 * of long work. It has no state of its own; any door and any query can make one.
 */
#ifndef ANALYSIS_SESSION_H
#define ANALYSIS_SESSION_H

#include "derive/derive.h"
#include "heap/heap.h"

struct session {
	struct heap *heap;      /* borrowed, as all three are */
	struct derive *derive;  /* lent */
	struct base_work *work; /* lent */
};

#endif

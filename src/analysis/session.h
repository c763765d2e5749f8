/*
 * analysis/session.h - what analyses work on: an open heap, its derived tables, and what long work
 * carries with it. Any door and any query can make one; it has no state of its own.
 */
#ifndef ANALYSIS_SESSION_H
#define ANALYSIS_SESSION_H

#include "derive/derive.h"
#include "heap/heap.h"

struct session {
	struct heap *heap;      /* lent */
	struct derive *derive;  /* lent */
	struct base_work *work; /* lent */
};

#endif

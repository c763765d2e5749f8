/*
 * derive/segments.h - memory of foreign-memory segments (java.lang.foreign, JDK 17 and later), each
 * once, however many slices of it there are.
 */
#ifndef DERIVE_SEGMENTS_H
#define DERIVE_SEGMENTS_H

#include "heap/heap.h"

/* The class whose instances, and those of its subclasses, are segments outside of the heap. */
#define DERIVE_SEGMENT_CLASS "jdk.internal.foreign.NativeMemorySegmentImpl"

struct derive_segment {
	uint32_t ix;
	uint32_t session; /* of the arena, which frees the memory; HEAP_NONE: not known */
	uint32_t mapping; /* of a mapped file: what unmaps it; HEAP_NONE: allocated */
	uint64_t address, bytes;
	uint64_t mapping_bytes; /* of the whole mapping; 0: not known */
	bool is_global;         /* of the global arena, or an address that came from native code */
	bool is_view;           /* derive_join_segments: a part of another one in the list */
};

/*
 * Reads an instance of the class. HDB_NOTFOUND if it has no memory: its arena is closed, it is
 * empty, or it stands for all of memory.
 */
int derive_read_segment(struct heap *heap, uint32_t ix, struct derive_segment *out,
			struct hdb_error *err);

/*
 * Sorts a list of struct derive_segment, those of one memory behind one another. The first has the
 * bytes of all that overlap, of a mapping those of the mapping; the others become views.
 */
void derive_join_segments(struct base_vec *list);

#endif

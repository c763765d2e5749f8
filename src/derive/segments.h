/*
 * derive/segments.h - native memory of foreign-memory segments (java.lang.foreign, JDK 17 and
 * later). Memory is counted only once, even if several slices share it.
 */
#ifndef DERIVE_SEGMENTS_H
#define DERIVE_SEGMENTS_H

#include "heap/heap.h"

/* Class of segments outside the heap. Segments are instances of this class or of a subclass. */
#define DERIVE_SEGMENT_CLASS "jdk.internal.foreign.NativeMemorySegmentImpl"

struct derive_segment {
	uint32_t ix;
	/* session of the arena, which frees the memory, or HEAP_NONE if unknown */
	uint32_t session;
	/* for a mapped file, the object that unmaps it; HEAP_NONE for allocated memory */
	uint32_t mapping;
	uint64_t address, bytes;
	uint64_t mapping_bytes; /* size of the whole mapping, or 0 if unknown */
	/*
	 * whether the segment is in the global arena, or was made from an address that native code
	 * returned
	 */
	bool is_global;
	/*
	 * set by derive_join_segments: whether the segment is part of another segment in the list
	 */
	bool is_view;
};

/*
 * Reads an instance of the class. Returns HDB_NOTFOUND if the segment has no memory, because its
 * arena is closed, its size is 0, or it spans the whole address space.
 */
int derive_read_segment(struct heap *heap, uint32_t ix, struct derive_segment *out,
			struct hdb_error *err);

/*
 * Sorts a list of struct derive_segment so that segments of the same memory are adjacent. The first
 * segment of each group gets the size of the mapping or of the overlapping segments. The other
 * segments become views.
 */
void derive_join_segments(struct base_vec *list);

#endif

/*
 * support/odd_heap.h - heaps laid out as in HotSpot, without gaps, each with one of the oddities of
 * HotSpot's dumps.
 *
 * Sizes are those of the modelled VM. The sizes that heapdb finds must add up to odd_heap.bytes,
 * the distance from the first object to the end of the last. Class objects are elsewhere and are
 * not included.
 */
#ifndef SUPPORT_ODD_HEAP_H
#define SUPPORT_ODD_HEAP_H

#include "support/hprof_writer.h"

#include <stdbool.h>

enum {
	ODD_FLAT = 1, /* values in fields and arrays (JEP 401), some of them null */
	ODD_FILLERS =
		/*
		 * filler objects, and arrays of words of 4 bytes that are written as object arrays
		 */
	2,
	ODD_ZEROED = 4,   /* arrays that are zeros from element 120 on (SapMachine) */
	ODD_TRACES = 8,   /* FRAME and TRACE records between the segments */
	ODD_MIRRORS = 16, /* references to class objects that the dump leaves out (CDS) */
	ODD_ID = 32,      /* an object whose ID is not an address */
	ODD_INSIDE = 64,  /* an object whose ID is an address inside another object */
	ODD_UTF16 = 128   /* texts in UTF-16 (-XX:-CompactStrings) */
};

/* IDs of classes. */
enum {
	ODD_OBJECT_CLASS = 0x70000000,
	ODD_CLASS_CLASS = 0x70010000,
	ODD_STRING_CLASS = 0x70020000,
	ODD_VERSION_CLASS = 0x70030000,
	ODD_NODE_CLASS = 0x70040000,
	ODD_SMALL_CLASS = 0x70050000,
	ODD_BOX_CLASS = 0x70060000,
	ODD_DEEP_CLASS = 0x70070000,
	ODD_HOLDER_CLASS = 0x70080000,
	ODD_SMALLS_CLASS = 0x70090000,
	ODD_OBJECTS_CLASS = 0x700a0000,
	ODD_BYTES_CLASS = 0x700b0000,
	ODD_INTS_CLASS = 0x700c0000,
	ODD_FILLER_CLASS = 0x700d0000,
	ODD_FILLERS_CLASS = 0x700e0000,
	ODD_FIRST = 0x71000000
};

/* Index from which on elements are zeros, and number of such arrays. */
#define ODD_ZEROED_FROM 120u
#define ODD_ZEROED_ARRAYS 60u
#define ODD_MIRROR_BYTES 112u
#define ODD_MIRROR_COUNT 5u

struct odd_heap {
	unsigned header, reference; /* sizes in the VM: 12 and 4, or 16 and 8 */
	unsigned odd;               /* ODD_* */
	uint64_t bytes;             /* out: size of all objects except class objects */
	uint64_t flat_count;        /* out */
	/* out: an object with flat values, the first of which has ID 1 */
	uint64_t holder, holder_bytes;
	uint64_t smalls, smalls_bytes;  /* out: a long array of flat values */
	uint64_t fillers, filler_bytes; /* out */
	/* out: object of the thread that the stack trace belongs to */
	uint64_t thread;
};

/* Writes the dump that *heap describes. */
void odd_heap_write(struct hw *w, struct odd_heap *heap);

#endif

/*
 * heap/heap_layout.h - the layout of one class's instances: every byte of an object, and what lies
 * there.
 */
#ifndef HEAP_HEAP_LAYOUT_H
#define HEAP_HEAP_LAYOUT_H

#include "base/vec.h"
#include "heap/heap.h"
#include "layout/layout.h"

/*
 * Fields of a class and its superclasses: a class file has 65,535, real lines of classes some
 * hundreds.
 */
#define HEAP_PARTS_MAX (1u << 20)

enum heap_part_kind {
	HEAP_PART_HEADER,
	HEAP_PART_LENGTH, /* of an array */
	HEAP_PART_FIELD,
	HEAP_PART_INJECTED,  /* a field that the VM adds and the dump does not list */
	HEAP_PART_GAP,       /* between fields, for want of one that fits */
	HEAP_PART_CONTENDED, /* padding of @Contended */
	HEAP_PART_PADDING,   /* at the end, to the alignment */
	/* the distances between objects prove it, the layout does not explain it */
	HEAP_PART_UNKNOWN,
	HEAP_PART_ELEMENTS /* of an array, or a stack chunk's stack: any number of bytes */
};

/* A run of bytes of an object. */
struct heap_part {
	uint64_t offset; /* from the object's start */
	uint64_t bytes;
	uint32_t class_no;   /* fields: the class that declares it; else HEAP_NONE */
	uint32_t name_text;  /* fields of the dump: number of its name; else STORE_NONE */
	const char *name;    /* injected fields: static; else NULL */
	uint32_t flat_bytes; /* fields that hold a flat value: its bytes; else 0 */
	uint32_t flat_align;
	uint32_t flat_class; /* of the value */
	uint8_t kind;        /* enum heap_part_kind */
	uint8_t type;        /* fields: HPROF basic type */
};

/* "header", "field", "gap", ...; static. */
const char *heap_part_name(uint8_t kind);

/*
 * Lays a class out as the import did: appends its parts to `out` (struct heap_part, the caller's to
 * release), ascending, without holes up to the size of an instance, or of an empty array.
 * HDB_EUSAGE if the database has sizes that no layout was computed for (--sizes mat or dump).
 */
int heap_lay_out(struct heap *heap, uint32_t class_no, struct base_vec *out, struct hdb_error *err);

#endif

/* heap/heap_layout.h - the layout of instances of a class: accounts for every byte of an object. */
#ifndef HEAP_HEAP_LAYOUT_H
#define HEAP_HEAP_LAYOUT_H

#include "base/vec.h"
#include "heap/heap.h"
#include "layout/layout.h"

/*
 * Maximum number of fields in a class and its superclasses. A class file may declare 65,535; real
 * hierarchies have a few hundred.
 */
#define HEAP_PARTS_MAX (1u << 20)

enum heap_part_kind {
	HEAP_PART_HEADER,
	HEAP_PART_LENGTH, /* length of an array */
	HEAP_PART_FIELD,
	HEAP_PART_INJECTED,  /* a field that the VM adds and the dump does not list */
	HEAP_PART_GAP,       /* a gap between fields that is too small for any field */
	HEAP_PART_CONTENDED, /* padding of @Contended */
	HEAP_PART_PADDING,   /* bytes at the end, up to the alignment */
	/* bytes that the layout does not explain, but distances between objects prove */
	HEAP_PART_UNKNOWN,
	/* the elements of an array or the stack of a stack chunk; the size varies */
	HEAP_PART_ELEMENTS
};

/* A range of bytes of an object. */
struct heap_part {
	uint64_t offset; /* offset in the object */
	uint64_t bytes;
	uint32_t class_no; /* fields: declaring class; otherwise HEAP_NONE */
	/* for a field listed in the dump, the string number of its name; otherwise STORE_NONE */
	uint32_t name_text;
	const char *name; /* name of an injected field (static); otherwise NULL */
	/* size of the flat value in the field, or 0 if there is none */
	uint32_t flat_bytes;
	uint32_t flat_align;
	uint32_t flat_class; /* class of the flat value */
	uint8_t kind;        /* enum heap_part_kind */
	uint8_t type;        /* fields: HPROF basic type */
};

/* Returns the name of a kind, such as "header", "field" or "gap". Static. */
const char *heap_part_name(uint8_t kind);

/*
 * Lays out a class as the import did. Appends its parts to `out` (struct heap_part) in order of
 * offset; the caller releases it. The parts cover an instance, or an empty array, without gaps.
 * Fails with HDB_EUSAGE if the database's sizes are not based on a layout (--sizes mat or dump).
 */
int heap_lay_out(struct heap *heap, uint32_t class_no, struct base_vec *out, struct hdb_error *err);

#endif

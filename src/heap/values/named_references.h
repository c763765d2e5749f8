/*
 * heap/values/named_references.h - iterates over the references of an object, with their names: one
 * row per field, static field and element, as in the dump.
 */
#ifndef HEAP_VALUES_NAMED_REFERENCES_H
#define HEAP_VALUES_NAMED_REFERENCES_H

#include "heap/heap.h"

struct heap_named_reference {
	uint64_t to_id;
	/*
	 * enum store_strength of this reference; other references to the same object may be
	 * stronger
	 */
	uint8_t strength;
	/*
	 * for example "next", "static cache" or "<super>"; valid until the heap is closed; NULL for
	 * an element
	 */
	const char *name;
	uint64_t element; /* index in the array, if `name` is NULL */
};

struct heap_named_references;

/*
 * Creates an iterator. `only` (copied) restricts it to references with this name, for example
 * "next" or "[3]"; NULL means all. The caller must close *out with heap_named_close. Opens the
 * dump.
 */
int heap_named_open(struct heap *heap, const char *only, struct heap_named_references **out,
		    struct hdb_error *err);
void heap_named_close(struct heap_named_references *named);

/*
 * Sets marks[no] to 1 if objects of class `no` can contain references that this iterator returns,
 * and to 0 otherwise.
 */
int heap_named_marks(struct heap_named_references *named, uint8_t *marks, struct hdb_error *err);

/*
 * Starts an iteration over the references from object `from` to object `to`, or to any object if
 * `to` is HEAP_NONE.
 */
int heap_named_begin(struct heap_named_references *named, uint32_t from, uint32_t to,
		     struct hdb_error *err);
/* Returns the next reference: HDB_OK, or HDB_END after the last one. */
int heap_named_next(struct heap_named_references *named, struct heap_named_reference *out,
		    struct hdb_error *err);

#endif

/*
 * heap/values/named_references.h - the references of an object one by one, each with its name: a
 * row for each field, static field and element, as the dump has them.
 */
#ifndef HEAP_VALUES_NAMED_REFERENCES_H
#define HEAP_VALUES_NAMED_REFERENCES_H

#include "heap/heap.h"

struct heap_named_reference {
	uint64_t to_id;
	uint8_t strength; /* enum store_strength: of this reference, whatever others there are */
	/* "next", "static cache", "<super>"; lives as long as the heap; NULL: an element */
	const char *name;
	uint64_t element; /* its place in the array, if `name` is NULL */
};

struct heap_named_references;

/*
 * `only` (copied): the one name that is asked for, "next" or "[3]"; NULL: all. *out is owned:
 * heap_named_close. Opens the dump.
 */
int heap_named_open(struct heap *heap, const char *only, struct heap_named_references **out,
		    struct hdb_error *err);
void heap_named_close(struct heap_named_references *named);

/* Sets marks[no] to 1 for each class whose objects can have such a reference, else to 0. */
int heap_named_marks(struct heap_named_references *named, uint8_t *marks, struct hdb_error *err);

/* Starts with the references of object `from`, or those of them to object `to` (HEAP_NONE: all). */
int heap_named_begin(struct heap_named_references *named, uint32_t from, uint32_t to,
		     struct hdb_error *err);
/* HDB_OK or HDB_END. */
int heap_named_next(struct heap_named_references *named, struct heap_named_reference *out,
		    struct hdb_error *err);

#endif

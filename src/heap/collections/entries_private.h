/* heap/collections/entries_private.h - shared by the files that implement the iterator. */
#ifndef HEAP_COLLECTIONS_ENTRIES_PRIVATE_H
#define HEAP_COLLECTIONS_ENTRIES_PRIVATE_H

#include "heap/collections/collections.h"

/*
 * Returns the row for a class and the class that the row names, or NULL if the class is not a known
 * collection.
 */
const struct heap_collection_rule *heap_collection_row(struct heap *heap, uint32_t class_no,
						       uint32_t *row_class);

/* Returns whether the array at `store` holds the elements or their entries. */
static inline bool heap_is_in_slots(const struct heap_collection_rule *rule)
{
	return rule->shape == HEAP_ARRAY || rule->shape == HEAP_SLOTS ||
	       rule->shape == HEAP_PAIRS || rule->shape == HEAP_CHAINS;
}

/* Turns HDB_NOTFOUND into HDB_OK, for reading optional fields. */
static inline int heap_soft(int r)
{
	return r > 0 ? HDB_OK : r;
}

static inline struct heap_value heap_null_value(void)
{
	return (struct heap_value){ .type = HPROF_OBJECT };
}

/* Reads the value at a path, or null if a field of the path is missing. */
static inline int heap_value_or_null(struct heap *heap, struct heap_as from, const char *path,
				     struct heap_value *out, struct hdb_error *err)
{
	const int r = heap_path_value_as(heap, from, path, out, err);

	if (r == HDB_NOTFOUND)
		*out = heap_null_value();
	return heap_soft(r);
}

/* Returns the inner object of a collection, with the fields of the class that the row names. */
static inline struct heap_as heap_as_inner(const struct heap_collection *c)
{
	return (struct heap_as){ c->inner_ix, c->inner_class };
}

/* Reads the number at a path in the inner object. Sets *out to 0 if there is no number. */
static inline int heap_inner_number(struct heap *heap, const struct heap_collection *c,
				    const char *path, int64_t *out, struct hdb_error *err)
{
	*out = 0;
	return heap_soft(heap_path_number_as(heap, heap_as_inner(c), path, out, err));
}

/* Starts reading an array. HEAP_NONE means no array. */
void heap_chunk_open(struct heap_chunk *chunk, uint32_t array_ix);

/*
 * Starts reading a list that stores its elements in an array or in a single field. Sets *length to
 * the number of elements.
 */
int heap_chunk_open_list(struct heap *heap, struct heap_chunk *chunk, uint32_t ix, uint64_t *length,
			 struct hdb_error *err);

/*
 * Reads element `at`. Returns HDB_NOTFOUND beyond the end, or if the dump does not contain the
 * element.
 */
int heap_chunk_get(struct heap *heap, struct heap_chunk *chunk, uint64_t at, struct heap_value *out,
		   struct hdb_error *err);

/*
 * Read the next element of one shape. Return HDB_OK with the element in `e`, HDB_NOTFOUND if the
 * slot is free, and HDB_END after the last element.
 */
int heap_next_in_array(struct heap_entries *e, struct hdb_error *err);
int heap_next_in_slots(struct heap_entries *e, struct hdb_error *err);
int heap_next_pair(struct heap_entries *e, struct hdb_error *err);
int heap_next_field(struct heap_entries *e, struct hdb_error *err);
int heap_next_bit(struct heap_entries *e, struct hdb_error *err);
int heap_next_in_nodes(struct heap_entries *e, struct hdb_error *err);

/* Begins at the collection itself, which is a node. */
int heap_begin_nodes(struct heap_entries *e, struct hdb_error *err);

/*
 * Detect a cycle in a chain by Brent's algorithm. heap_is_circle is called for each step from
 * `last` to `node`, and returns true once the chain is in a cycle. heap_begin_chain starts a new
 * chain.
 */
void heap_begin_chain(struct heap_entries *e);
bool heap_is_circle(struct heap_entries *e, uint32_t last, uint32_t node);

/* Reads the bounds of a view of a sorted map. Sets e->unknown if they cannot be compared. */
int heap_begin_bounds(struct heap_entries *e, struct hdb_error *err);
/* Sets *out to whether the key of the current entry is within the bounds. */
int heap_is_inside(struct heap_entries *e, bool *out, struct hdb_error *err);

#endif

/*
 * heap/collections/entries_private.h - what the files of entries share.
 */
#ifndef HEAP_COLLECTIONS_ENTRIES_PRIVATE_H
#define HEAP_COLLECTIONS_ENTRIES_PRIVATE_H

#include "heap/collections/collections.h"

/* The row for a class, and the class that it names; NULL if it is no known collection. */
const struct heap_collection_rule *heap_collection_row(struct heap *heap, uint32_t class_no,
						       uint32_t *row_class);

/* HDB_NOTFOUND is no failure where a field is merely null. */
static inline int heap_soft(int r)
{
	return r == HDB_NOTFOUND ? HDB_OK : r;
}

static inline struct heap_value heap_null_value(void)
{
	return (struct heap_value){ .type = HPROF_OBJECT };
}

/* The value at a path, null if there is none. */
static inline int heap_value_or_null(struct heap *heap, struct heap_as from, const char *path,
				     struct heap_value *out, struct hdb_error *err)
{
	const int r = heap_path_value_as(heap, from, path, out, err);

	if (r == HDB_NOTFOUND)
		*out = heap_null_value();
	return heap_soft(r);
}

/* What is read of a collection: its fields are those of the class that its row names. */
static inline struct heap_as heap_as_inner(const struct heap_collection *c)
{
	return (struct heap_as){ c->inner_ix, c->inner_class };
}

/* The number at a path of it, 0 if it has none. */
static inline int heap_inner_number(struct heap *heap, const struct heap_collection *c,
				    const char *path, int64_t *out, struct hdb_error *err)
{
	*out = 0;
	return heap_soft(heap_path_number_as(heap, heap_as_inner(c), path, out, err));
}

/* Starts to read an array; HEAP_NONE: there is none. */
void heap_chunk_open(struct heap_chunk *chunk, uint32_t array_ix);

/* Starts to read a list that has its elements in an array, or in one field; *length elements. */
int heap_chunk_open_list(struct heap *heap, struct heap_chunk *chunk, uint32_t ix, uint64_t *length,
			 struct hdb_error *err);

/* Element `at`: HDB_NOTFOUND past the end of what the dump has. */
int heap_chunk_get(struct heap *heap, struct heap_chunk *chunk, uint64_t at, struct heap_value *out,
		   struct hdb_error *err);

/*
 * The next element by the shape of e->rule: HDB_OK with it in `e`, HDB_NOTFOUND if a slot was free
 * and there are more, HDB_END after the last.
 */
int heap_next_in_array(struct heap_entries *e, struct hdb_error *err);
int heap_next_in_slots(struct heap_entries *e, struct hdb_error *err);
int heap_next_pair(struct heap_entries *e, struct hdb_error *err);
int heap_next_field(struct heap_entries *e, struct hdb_error *err);
int heap_next_bit(struct heap_entries *e, struct hdb_error *err);
int heap_next_in_nodes(struct heap_entries *e, struct hdb_error *err);

/* Starts with the node that the collection itself is. */
int heap_begin_nodes(struct heap_entries *e, struct hdb_error *err);

/*
 * Follows a chain in which `node` comes next, from `last`: whether that runs into itself (Brent).
 * begin starts anew.
 */
void heap_begin_chain(struct heap_entries *e);
bool heap_is_circle(struct heap_entries *e, uint32_t last, uint32_t node);

/* Reads the bounds of a view of a sorted map: e->unknown says if they cannot be compared. */
int heap_begin_bounds(struct heap_entries *e, struct hdb_error *err);
/* Whether the key of the current entry is between them. */
int heap_is_inside(struct heap_entries *e, bool *out, struct hdb_error *err);

#endif

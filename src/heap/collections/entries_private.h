/*
 * heap/collections/entries_private.h - what entries.c and entries_slots.c share.
 */
#ifndef HEAP_COLLECTIONS_ENTRIES_PRIVATE_H
#define HEAP_COLLECTIONS_ENTRIES_PRIVATE_H

#include "heap/collections/collections.h"

/* HDB_NOTFOUND is no failure where a field is merely null. */
static inline int heap_soft(int r)
{
	return r == HDB_NOTFOUND ? HDB_OK : r;
}

static inline struct heap_value heap_null_value(void)
{
	return (struct heap_value){ .type = HPROF_OBJECT };
}

/* Starts to read an array; HEAP_NONE: there is none. */
void heap_chunk_open(struct heap_chunk *chunk, uint32_t array_ix);

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

#endif

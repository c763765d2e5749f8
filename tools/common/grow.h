/*
 * common/grow.h - arrays and bytes that grow.
 */
#ifndef COMMON_GROW_H
#define COMMON_GROW_H

#include "heapdb.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Doubles the room of an array, which realloc() gave: `items` is the address of the pointer, *room
 * the number of entries. False, and nothing changes: there is no memory, or it would take more than
 * most_bytes.
 */
bool grow_array(void *items, size_t *room, size_t entry_size, size_t most_bytes);

/* The same of a pointer and a number that are variables. */
#define GROW_WITHIN(items, room, most_bytes) \
	grow_array((void *)&(items), &(room), sizeof(*(items)), most_bytes)
#define GROW(items, room) GROW_WITHIN(items, room, (size_t)-1)

/* ---- bytes ---- */

/* All zeros, but for `most`, is empty. After a failure nothing is added any more. */
struct bytes {
	char *data; /* owned, not zero-terminated */
	size_t size;
	size_t capacity;
	uint64_t most; /* bytes that it may take; 0: any number */
	bool failed;   /* there was no memory; `data` misses something */
};

/* Room for `more` bytes at the end, or NULL. They count when `size` is raised. */
void *bytes_room(struct bytes *b, size_t more);
void bytes_add(struct bytes *b, const void *data, size_t size);
void bytes_string(struct bytes *b, const char *string);
void bytes_format(struct bytes *b, const char *format, ...) HDB_PRINTF(2, 3);
/* Frees the bytes; `most` stays. */
void bytes_release(struct bytes *b);

#endif

/*
 * common/grow.h - arrays that grow.
 */
#ifndef COMMON_GROW_H
#define COMMON_GROW_H

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

#endif

/*
 * common/grow.c - arrays that grow.
 */
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

/* Entries that an array has room for at first. */
#define FIRST_ROOM 64

bool grow_array(void *items, size_t *room, size_t entry_size, size_t most_bytes)
{
	const size_t more = *room ? *room * 2 : FIRST_ROOM;
	void *old, *grown;

	memcpy(&old, items, sizeof(old));
	grown = more > most_bytes / entry_size ? NULL : realloc(old, more * entry_size);
	if (!grown)
		return false;
	memcpy(items, &grown, sizeof(grown));
	*room = more;
	return true;
}

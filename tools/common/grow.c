/*
 * common/grow.c - arrays and bytes that grow.
 */
#include "common/grow.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries that an array has room for at first. */
#define FIRST_ROOM 64

/* Bytes that are asked for beyond what is needed now. */
#define SPARE 64

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

void *bytes_room(struct bytes *b, size_t more)
{
	const size_t need = b->size + more;
	size_t capacity;
	char *grown = NULL;

	assert(b->size <= b->capacity);
	if (!b->failed && (!b->data || more > b->capacity - b->size)) {
		capacity = need / 2 < b->capacity ? b->capacity * 2 : need + SPARE;
		if (need < more || capacity < need || (b->most && capacity > b->most) ||
		    !(grown = realloc(b->data, capacity))) {
			b->failed = true;
			return NULL;
		}
		b->data = grown;
		b->capacity = capacity;
	}
	return b->failed ? NULL : b->data + b->size;
}

void bytes_add(struct bytes *b, const void *data, size_t size)
{
	void *to = size ? bytes_room(b, size) : NULL;

	if (!to)
		return;
	memcpy(to, data, size);
	b->size += size;
}

void bytes_string(struct bytes *b, const char *string)
{
	bytes_add(b, string, strlen(string));
}

void bytes_format(struct bytes *b, const char *format, ...)
{
	va_list args, again;
	char *to = bytes_room(b, SPARE); /* most fit */
	int n;

	if (!to)
		return;
	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(to, b->capacity - b->size, format, args);
	if (n > 0 && (size_t)n >= b->capacity - b->size && (to = bytes_room(b, (size_t)n + 1)))
		n = vsnprintf(to, (size_t)n + 1, format, again);
	if (n > 0 && to)
		b->size += (size_t)n;
	va_end(again);
	va_end(args);
}

void bytes_release(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ .most = b->most };
}

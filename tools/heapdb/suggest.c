/*
 * heapdb/suggest.c - edit distance between short names.
 */
#include "heapdb/suggest.h"

#include <string.h>

/* Longer words are no typing errors of ours. */
#define NAME_MAX_SIZE 40

void suggest_init(struct suggest *s, const char *wanted, size_t size)
{
	*s = (struct suggest){ .wanted = wanted, .size = size, .distance = size / 3 + 2 };
}

static size_t least(size_t a, size_t b, size_t c)
{
	const size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, drop or replace to make one of the other. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t row[NAME_MAX_SIZE + 1];

	for (size_t j = 0; j <= b_size; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			const size_t kept = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = least(row[j] + 1, row[j - 1] + 1, kept);
		}
	}
	return row[b_size];
}

void suggest_try(struct suggest *s, const char *name)
{
	const size_t size = strlen(name);
	size_t distance;

	if (size > NAME_MAX_SIZE || s->size > NAME_MAX_SIZE || s->size == 0)
		return;
	distance = edit_distance(s->wanted, s->size, name, size);
	if (distance < s->distance && distance < size) {
		s->distance = distance;
		s->best = name;
	}
}

/*
 * heapdb/suggest.c - edit distance between short names.
 */
#include "heapdb/suggest.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Longer words are no typing errors of ours. */
#define NAME_MAX_SIZE 40

void suggest_init(struct suggest *s, const char *wanted, size_t size)
{
	*s = (struct suggest){ .wanted = wanted,
			       .size = size,
			       .distance = size < 3 ? 2 : size / 3 + 1 };
}

static size_t least(size_t a, size_t b, size_t c)
{
	const size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, drop, replace or swap with their neighbour to make one of the other. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t rows[3][NAME_MAX_SIZE + 1];

	assert(a_size <= NAME_MAX_SIZE);
	assert(b_size <= NAME_MAX_SIZE);
	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1, SIZE_MAX);
		}
	}
	return rows[a_size % 3][b_size];
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

/*
 * base/table.h - tables of constants: arrays of strings, or of structures whose first member is a
 * string.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Number of elements of an array. */
#define BASE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the index of the first row that begins with this word, or the number of rows. */
#define BASE_INDEX(table, word) base_index((table), BASE_COUNT(table), sizeof((table)[0]), (word))
static inline size_t base_index(const void *table, size_t count, size_t row_size, const char *word)
{
	const char *row = table;
	size_t i = 0;

	for (; i < count && strcmp(*(const char *const *)row, word) != 0; row += row_size)
		i++;
	return i;
}

/* Whether a row begins with this word. */
#define BASE_HAS(table, word) (BASE_INDEX(table, word) < BASE_COUNT(table))

#endif

/*
 * common/unique_names.c - implements unique_names.h. JSON objects, data frames and --columns
 * require unique names.
 */
#include "common/unique_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_name(char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Appends the lowest number that makes the name unique. Returns NULL if memory is exhausted. */
static char *number_name(char *const *names, size_t count, const char *name, unsigned *number)
{
	const size_t size = strlen(name) + sizeof("_4294967295");
	char *numbered = malloc(size);

	do {
		if (!numbered)
			return NULL;
		snprintf(numbered, size, "%s_%u", name, ++*number);
	} while (has_name(names, count, numbered));
	return numbered;
}

bool unique_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned number = 1;

		for (size_t j = i + 1; j < count; j++) {
			char *numbered;

			if (strcmp(names[i], names[j]) != 0)
				continue;
			numbered = number_name(names, count, names[i], &number);
			if (!numbered)
				return false;
			free(names[j]);
			names[j] = numbered;
		}
	}
	return true;
}

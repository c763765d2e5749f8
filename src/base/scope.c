/*
 * base/scope.c - allocation functions that set an error message when they fail.
 */
#include "base/scope.h"

#include <string.h>

void *base_alloc(size_t count, size_t size, const char *what, struct hdb_error *err)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		(void)hdb_fail_memory(err, what, (uint64_t)count * size);
	return memory;
}

char *base_copy(const char *text, const char *what, struct hdb_error *err)
{
	char *copy = strdup(text);

	if (!copy)
		(void)hdb_fail_memory(err, what, strlen(text));
	return copy;
}

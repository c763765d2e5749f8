/*
 * base/scope.c - allocation functions that set an error message when they fail.
 */
#include "base/scope.h"

void *base_alloc(size_t count, size_t size, const char *what, struct hdb_error *err)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		(void)hdb_fail_memory(err, what, (uint64_t)count * size);
	return memory;
}

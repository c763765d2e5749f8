/*
 * base/scope.h - memory that is released where its scope ends, however the scope is left.
 *
 * So TRY can leave a function that owns memory, and what a function owns is said where it is
 * declared. What is declared so must have a value from the start: NULL, or zeros.
 */
#ifndef BASE_SCOPE_H
#define BASE_SCOPE_H

#include "base/error.h"

#include <stdlib.h>
#include <unistd.h>

/* Before a declaration: calls a function with the variable's address where its scope ends. */
#define BASE_SCOPED(release) __attribute__((cleanup(release)))

/* The same for a pointer to what malloc gave. */
#define BASE_FREED BASE_SCOPED(base_free_at)
static inline void base_free_at(void *pointer)
{
	free(*(void **)pointer); /* to compilers a void * may alias any pointer */
}

/* The same for a file descriptor; -1: none. */
#define BASE_CLOSED BASE_SCOPED(base_close_at)
static inline void base_close_at(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* `count` elements of `size` bytes, zeros; never NULL for 0 of them. NULL: HDB_ENOMEM, in err. */
void *base_alloc(size_t count, size_t size, const char *what, struct hdb_error *err);

/* Points at that many zeroed elements, for `what`: HDB_OK or HDB_ENOMEM. */
#define BASE_ALLOC(pointer, count, what, err) \
	(((pointer) = base_alloc((count), sizeof(*(pointer)), (what), (err))) ? HDB_OK : HDB_ENOMEM)

#endif

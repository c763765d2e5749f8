/*
 * base/scope.h - releases variables at the end of their scope, regardless of how the scope is left.
 *
 * Functions that own memory can therefore use TRY, and the declaration of a variable shows its
 * ownership. Initialise such a variable with NULL or zeros.
 */
#ifndef BASE_SCOPE_H
#define BASE_SCOPE_H

#include "base/error.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * Calls `release` with the address of a variable at the end of its scope. Placed before the
 * declaration.
 */
#define BASE_SCOPED(release) __attribute__((cleanup(release)))

/* Defines a function for BASE_SCOPED that calls `close` with a pointer, which may be NULL. */
#define BASE_CLOSER(name, type, close) \
	static inline void name(__typeof__(type) *const *pointer) \
	{ \
		close(*pointer); \
	}

/* Frees a pointer from malloc at the end of its scope. */
#define BASE_FREED BASE_SCOPED(base_free_at)
static inline void base_free_at(void *pointer)
{
	free(*(void **)pointer); /* compilers assume that a void * may alias any pointer */
}

/* Closes a file descriptor at the end of its scope; -1 means none. */
#define BASE_CLOSED BASE_SCOPED(base_close_at)
static inline void base_close_at(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/*
 * Allocates `count` zeroed elements of `size` bytes. The result is not NULL even if `count` is 0.
 * Returns NULL, with HDB_ENOMEM in *err, if memory is exhausted.
 */
void *base_alloc(size_t count, size_t size, const char *what, struct hdb_error *err);

/*
 * Sets a pointer to newly allocated, zeroed elements. `what` names them in error messages. Returns
 * HDB_OK or HDB_ENOMEM.
 */
#define BASE_ALLOC(pointer, count, what, err) \
	(((pointer) = base_alloc((count), sizeof(*(pointer)), (what), (err))) ? HDB_OK : HDB_ENOMEM)

/* Sets a pointer to a copy of a string, like BASE_ALLOC. */
#define BASE_COPY(pointer, text, what, err) \
	(((pointer) = base_copy((text), (what), (err))) ? HDB_OK : HDB_ENOMEM)
char *base_copy(const char *text, const char *what, struct hdb_error *err);

#endif

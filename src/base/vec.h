/*
 * base/vec.h - growing arrays of plain structs, and growing byte buffers.
 *
 * struct base_vec is for element types; zero-initialise. Elements move when it grows, so keep
 * indices, not pointers.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/work.h"

#include <stdlib.h>
#include <string.h>

struct base_vec {
	void *data;
	size_t count;    /* elements in use */
	size_t capacity; /* elements allocated */
	/* lent; a large array is its budget's then, and beyond that in a file. NULL: malloc's */
	struct base_work *work;
	struct base_big big; /* what data is in, if it is large */
};

/*
 * Members of a structure: a vec, whose elements and number can also be read under typed names, as
 * data and count are its first members. A member's name cannot stand in parentheses.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define BASE_VEC_AS(vec, type, items, number) \
	union { \
		struct base_vec vec; \
		struct { \
			type *items; \
			size_t number; \
		}; \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

/* What base_vec_reserve does where there is no room. */
int base_vec_grow(struct base_vec *vec, size_t more, size_t element_size, struct hdb_error *err);

/*
 * Makes room for `more` further elements of `element_size` bytes; data is not NULL after it, even
 * for 0.
 */
static inline int base_vec_reserve(struct base_vec *vec, size_t more, size_t element_size,
				   struct hdb_error *err)
{
	return more <= vec->capacity - vec->count && vec->data ?
		       HDB_OK :
		       base_vec_grow(vec, more, element_size, err);
}

/* Appends one element (copied). */
static inline int base_vec_push(struct base_vec *vec, const void *element, size_t element_size,
				struct hdb_error *err)
{
	const int r = base_vec_reserve(vec, 1, element_size, err);

	if (r < 0)
		return r;
	memcpy((char *)vec->data + vec->count * element_size, element, element_size);
	vec->count++;
	return HDB_OK;
}

/* Frees the array and empties it. */
void base_vec_release(struct base_vec *vec);

/* Element i, which must exist, as a pointer to `type`. */
#define base_vec_at(vec, type, i) (&((type *)(vec)->data)[i])

/* The element at *at, which is stepped on; NULL: there is none left. */
#define base_vec_next(vec, type, at) \
	(*(at) < (vec)->count ? base_vec_at(vec, type, (*(at))++) : (type *)NULL)

/* Puts the elements in the order of a comparison, as qsort has it. */
static inline void base_vec_sort(struct base_vec *vec, size_t element_size,
				 int (*compare)(const void *, const void *))
{
	if (vec->count)
		qsort(vec->data, vec->count, element_size, compare);
}

/* Appends `size` bytes to a vec of bytes. */
int base_bytes_append(struct base_vec *vec, const void *data, size_t size, struct hdb_error *err);

#endif

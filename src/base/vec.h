/*
 * base/vec.h - growing arrays of plain structures, and growing byte buffers.
 *
 * A struct base_vec must be initialised with zeros. Elements move when it grows, so callers must
 * keep indexes instead of pointers.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/work.h"

#include <stdlib.h>
#include <string.h>

struct base_vec {
	void *data;
	size_t count;    /* number of elements in use */
	size_t capacity; /* number of elements allocated */
	/*
	 * Borrowed. If set, a large array counts against its budget, and moves to a file if the
	 * budget is exceeded. NULL: use malloc in all cases.
	 */
	struct base_work *work;
	struct base_big big; /* memory of `data`, if it is large */
};

/*
 * Defines members of a structure that form a vector. Because data and count are the first members
 * of a vector, its elements and their number can also be accessed by typed names. A member's name
 * cannot be put in parentheses.
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

/* The slow path of base_vec_reserve. */
int base_vec_grow(struct base_vec *vec, size_t more, size_t element_size, struct hdb_error *err);

/*
 * Makes room for `more` additional elements of `element_size` bytes. Afterwards, data is not NULL,
 * even for 0 elements.
 */
static inline int base_vec_reserve(struct base_vec *vec, size_t more, size_t element_size,
				   struct hdb_error *err)
{
	return more <= vec->capacity - vec->count && vec->data ?
		       HDB_OK :
		       base_vec_grow(vec, more, element_size, err);
}

/* Appends a copy of one element. */
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

/* Frees and empties the array. */
void base_vec_release(struct base_vec *vec);

/* Returns element i, which must exist, as a pointer to `type`. */
#define base_vec_at(vec, type, i) (&((type *)(vec)->data)[i])

/* Returns the element at *at and advances *at, or returns NULL if there are no more elements. */
#define base_vec_next(vec, type, at) \
	(*(at) < (vec)->count ? base_vec_at(vec, type, (*(at))++) : (type *)NULL)

/* Sorts the elements with a comparison function as for qsort. */
static inline void base_vec_sort(struct base_vec *vec, size_t element_size,
				 int (*compare)(const void *, const void *))
{
	if (vec->count)
		qsort(vec->data, vec->count, element_size, compare);
}

/* Appends `size` bytes to a vec of bytes. */
int base_bytes_append(struct base_vec *vec, const void *data, size_t size, struct hdb_error *err);

#endif

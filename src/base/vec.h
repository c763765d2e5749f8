/*
 * base/vec.h - growing arrays of plain structs, and growing byte buffers.
 *
 * struct base_vec is for element types; zero-initialise. Elements move when it grows, so keep indices,
 * not pointers.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/error.h"

struct base_vec {
	void *data;
	size_t count;    /* elements in use */
	size_t capacity; /* elements allocated */
};

/* Makes room for `more` further elements of `element_size` bytes; data is not NULL after it, even for 0. */
int base_vec_reserve(struct base_vec *vec, size_t more, size_t element_size,
		     struct hdb_error *err);

/* Appends one element (copied). */
int base_vec_push(struct base_vec *vec, const void *element, size_t element_size,
		  struct hdb_error *err);

/* Frees the array and empties it. */
void base_vec_release(struct base_vec *vec);

/* Element i, which must exist, as a pointer to `type`. */
#define base_vec_at(vec, type, i) (&((type *)(vec)->data)[i])

/* Appends `size` bytes to a vec of bytes. */
int base_bytes_append(struct base_vec *vec, const void *data, size_t size, struct hdb_error *err);

#endif

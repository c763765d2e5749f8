/*
 * base/vec.c - growing arrays.
 */
#include "base/vec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Moves a large array to a larger array, which is allocated from the budget. */
static int move(struct base_vec *vec, size_t capacity, size_t element_size, struct hdb_error *err)
{
	struct base_big big = { 0 };

	TRY(base_big_alloc_raw(vec->work, &big, capacity * element_size, "an array", err));
	if (vec->data)
		memcpy(big.data, vec->data, vec->count * element_size);
	base_free_large(&vec->big, vec->data);
	vec->big = big;
	vec->data = big.data;
	vec->capacity = capacity;
	return HDB_OK;
}

int base_vec_grow(struct base_vec *vec, size_t more, size_t element_size, struct hdb_error *err)
{
	size_t want, size;
	void *data;

	assert(element_size > 0);
	if (__builtin_add_overflow(vec->count, more, &want))
		return hdb_fail_memory(err, "an array", UINT64_MAX);
	if (want < vec->capacity + vec->capacity / 2)
		want = vec->capacity + vec->capacity / 2;
	if (want < 16)
		want = 16;
	if (__builtin_mul_overflow(want, element_size, &size))
		return hdb_fail_memory(err, "an array", UINT64_MAX);
	if (vec->work && size >= BASE_LARGE_BYTES)
		return move(vec, want, element_size, err);
	data = realloc(vec->data, size);
	if (!data)
		return hdb_fail_memory(err, "an array", size);
	vec->data = data;
	vec->capacity = want;
	return HDB_OK;
}

void base_vec_release(struct base_vec *vec)
{
	base_free_large(&vec->big, vec->data);
	*vec = (struct base_vec){ .work = vec->work };
}

int base_bytes_append(struct base_vec *vec, const void *data, size_t size, struct hdb_error *err)
{
	TRY(base_vec_reserve(vec, size, 1, err));
	if (size)
		memcpy((char *)vec->data + vec->count, data, size);
	vec->count += size;
	return HDB_OK;
}

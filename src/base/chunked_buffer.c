/*
 * base/chunked_buffer.c - an append-only buffer in slabs of growing size, each a separate large
 * array.
 */
#include "base/chunked_buffer.h"

#include <assert.h>
#include <stdlib.h>

void base_chunks_init(struct base_chunks *slabs, uint64_t first_bytes, struct base_work *work,
		      const char *what)
{
	assert(first_bytes > 0);
	assert(first_bytes <= BASE_CHUNK_BYTES);
	*slabs = (struct base_chunks){ .work = work, .what = what, .first_bytes = first_bytes };
}

void base_chunks_release(struct base_chunks *slabs)
{
	for (size_t i = 0; i < slabs->count; i++)
		base_big_free(&slabs->slabs[i]);
	free(slabs->slabs);
	free(slabs->data);
	*slabs = (struct base_chunks){ 0 };
}

/* Makes room in the list for one more slab. */
static int grow_list(struct base_chunks *slabs, struct hdb_error *err)
{
	const size_t limit = slabs->limit ? 2 * slabs->limit : 16;
	struct base_big *list;
	uint8_t **data;

	if (slabs->count < slabs->limit)
		return HDB_OK;
	list = realloc(slabs->slabs, limit * sizeof *list);
	if (list)
		slabs->slabs = list;
	data = realloc(slabs->data, limit * sizeof *data);
	if (data)
		slabs->data = data;
	if (!list || !data)
		return hdb_fail_memory(err, slabs->what, limit * sizeof *list);
	slabs->limit = limit;
	return HDB_OK;
}

int base_chunks_grow(struct base_chunks *slabs, uint64_t bytes, struct hdb_error *err)
{
	uint64_t size = slabs->count ? 2 * slabs->size_bytes : slabs->first_bytes;
	int rc = grow_list(slabs, err);

	assert(bytes <= BASE_CHUNK_BYTES);
	if (size < bytes)
		size = bytes;
	if (size > BASE_CHUNK_BYTES)
		size = BASE_CHUNK_BYTES;
	TRY(rc);
	TRY(base_big_alloc_raw(slabs->work, &slabs->slabs[slabs->count], size + BASE_CHUNK_SPARE,
			       slabs->what, err));
	slabs->data[slabs->count] = slabs->slabs[slabs->count].data;
	slabs->count++;
	slabs->size_bytes = size;
	slabs->used_bytes = 0;
	return HDB_OK;
}

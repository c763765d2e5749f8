/* base/packed_runs.c - stores packed blocks in slabs. */
#include "base/packed_runs.h"

#include "base/bytes.h"
#include "base/pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Size of the first slab. It is small so that small arrays stay small. */
#define FIRST_SLAB_BYTES ((uint64_t)1 << 12)

int base_runs_init(struct base_runs *runs, uint64_t count, struct base_work *work, const char *what,
		   struct hdb_error *err)
{
	*runs = (struct base_runs){ .block_count = count / BASE_RUN + 1 };
	base_chunks_init(&runs->bytes, FIRST_SLAB_BYTES, work, what);
	TRY(BASE_ALLOC(runs->position, runs->block_count, what, err));
	return BASE_ALLOC(runs->count, runs->block_count, what, err);
}

void base_runs_release(struct base_runs *runs)
{
	base_chunks_release(&runs->bytes);
	base_vec_release(&runs->packed);
	free(runs->position);
	free(runs->count);
	*runs = (struct base_runs){ 0 };
}

int base_runs_put_packed(struct base_runs *runs, uint64_t block, const struct base_vec *packed,
			 uint32_t count, struct hdb_error *err)
{
	uint8_t *room;

	assert(block < runs->block_count && count <= BASE_RUN);
	/* The length is stored before the block. */
	TRY(base_chunks_add(&runs->bytes, 8 + packed->count, &runs->position[block], &room, err));
	runs->count[block] = count;
	store64(room, packed->count);
	memcpy(room + 8, packed->data, packed->count);
	return HDB_OK;
}

int base_runs_put(struct base_runs *runs, uint64_t block, const uint64_t *values, uint32_t count,
		  struct hdb_error *err)
{
	runs->packed.count = 0;
	TRY(base_pack_encode(&runs->packed, values, count, err));
	return base_runs_put_packed(runs, block, &runs->packed, count, err);
}

static int open_block(const struct base_runs *runs, uint64_t block, struct pack_column *column,
		      struct hdb_error *err)
{
	const uint8_t *at = base_chunks_at(&runs->bytes, runs->position[block]);

	return base_pack_open(column, at + 8, load64(at), runs->count[block], err);
}

/* Decodes the groups that contain `count` values of a block, starting at group `from`. */
static void get_groups(const struct pack_column *block, uint32_t from, uint32_t count,
		       uint64_t *values)
{
	const uint32_t groups = (count + PACK_GROUP - 1) / PACK_GROUP;

	for (uint32_t g = 0; g < groups; g++)
		(void)base_pack_group(block, from + g, values + (size_t)g * PACK_GROUP);
}

int base_runs_get(const struct base_runs *runs, uint64_t block, uint64_t *values,
		  struct hdb_error *err)
{
	struct pack_column column;

	assert(block < runs->block_count);
	TRY(open_block(runs, block, &column, err));
	get_groups(&column, 0, column.count, values);
	return HDB_OK;
}

int base_runs_range(const struct base_runs *runs, uint64_t first, uint64_t *values, uint32_t count,
		    struct hdb_error *err)
{
	struct pack_column column;

	assert(first % PACK_GROUP == 0);
	for (uint32_t done = 0; done < count;) {
		const uint32_t from = (uint32_t)((first + done) % BASE_RUN);
		const uint32_t n = count - done < BASE_RUN - from ? count - done : BASE_RUN - from;

		TRY(open_block(runs, (first + done) / BASE_RUN, &column, err));
		get_groups(&column, from / PACK_GROUP, n, values + done);
		done += n;
	}
	return HDB_OK;
}

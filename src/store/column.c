/*
 * store/column.c - reads tables with one packed number per object.
 */
#include "store/column.h"

#include "base/bytes.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Opens a block, or returns it if it is already open. Open blocks borrow bytes of the snapshot, so
 * they are dropped when the generation changes.
 */
static int open_block(struct store_column *c, uint32_t block_no, struct pack_column **out,
		      struct hdb_error *err)
{
	const uint32_t block_count =
		(uint32_t)(((uint64_t)c->ix_count + STORE_BLOCK_OBJECTS - 1) / STORE_BLOCK_OBJECTS);
	const uint32_t first_ix = block_no * STORE_BLOCK_OBJECTS;
	const uint64_t generation = store_generation(c->store);
	struct store_block block;
	struct hdb_error why;

	if (!c->blocks || c->generation != generation) {
		free(c->blocks);
		TRY(BASE_ALLOC(c->blocks, block_count, "a table's blocks", err));
		c->generation = generation;
	}
	*out = &c->blocks[block_no];
	if ((*out)->data)
		return HDB_OK;
	TRY(store_need_block(c->store, c->table, first_ix, &block, err));
	if (block.item_count != (c->ix_count - first_ix < STORE_BLOCK_OBJECTS ?
					 c->ix_count - first_ix :
					 STORE_BLOCK_OBJECTS))
		return store_damaged(c->store, c->table, first_ix, "impossible size", err);
	if (base_pack_open(*out, block.data, block.size, block.item_count, &why) < 0) {
		(*out)->data = NULL;
		return store_damaged(c->store, c->table, first_ix, why.message, err);
	}
	return HDB_OK;
}

int store_column_get(struct store_column *column, uint32_t ix, uint64_t *value,
		     struct hdb_error *err)
{
	struct pack_column *block;

	assert(column->store);
	if (ix >= column->ix_count)
		return store_damaged(column->store, column->table, ix, "object beyond the table",
				     err);
	TRY(open_block(column, ix / STORE_BLOCK_OBJECTS, &block, err));
	*value = base_pack_get(block, ix % STORE_BLOCK_OBJECTS);
	return HDB_OK;
}

int store_column_block(struct store_column *column, uint32_t first_ix, uint64_t *values,
		       uint32_t *count, struct hdb_error *err)
{
	struct pack_column *block;

	TRY(open_block(column, first_ix / STORE_BLOCK_OBJECTS, &block, err));
	/* The pages may have been evicted since the block was opened. */
	base_map_prefetch(block->data, load32(block->data));
	for (uint32_t g = 0; g * PACK_GROUP < block->count; g++)
		(void)base_pack_group(block, g, values + g * PACK_GROUP);
	*count = block->count;
	return HDB_OK;
}

int store_column_has(struct store_column *column, uint32_t first_ix, bool *has,
		     struct hdb_error *err)
{
	struct pack_column *block;
	const int r = open_block(column, first_ix / STORE_BLOCK_OBJECTS, &block, err);

	*has = r == HDB_OK && !base_pack_is_zero(block);
	return r;
}

int store_column_prepare(struct store_column *column, struct hdb_error *err)
{
	struct pack_column *block;

	for (uint64_t ix = 0; ix < column->ix_count; ix += STORE_BLOCK_OBJECTS)
		TRY(open_block(column, (uint32_t)(ix / STORE_BLOCK_OBJECTS), &block, err));
	return HDB_OK;
}

void store_column_release(struct store_column *column)
{
	free(column->blocks);
	column->blocks = NULL;
}

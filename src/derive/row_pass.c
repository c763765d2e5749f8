/* derive/row_pass.c - packs and joins the rows of a graph. See row_pass.h. */
#include "derive/row_pass.h"

#include <assert.h>
#include <string.h>

static_assert(STORE_BLOCK_OBJECTS % GRAPH_GROUP == 0, "a group of rows is in one block");

void derive_rows_begin(struct derive_block *block)
{
	struct derive_row_room *room = block->room;

	memset(room->length, 0, sizeof(room->length));
	room->targets.count = room->left.count = room->left_targets.count = 0;
}

int derive_rows_leave(struct derive_block *block, uint32_t i, uint32_t count, struct hdb_error *err)
{
	struct derive_row_room *room = block->room;
	const struct derive_left_row left = { .i = i, .count = count };
	struct base_vec *to = &room->left_targets;

	assert(i < block->objects->count);
	TRY(base_vec_reserve(to, count, sizeof(uint32_t), err));
	if (count)
		memcpy(base_vec_at(to, uint32_t, to->count), room->targets.data,
		       count * sizeof(uint32_t));
	to->count += count;
	return base_vec_push(&room->left, &left, sizeof(left), err);
}

int derive_rows_add(const struct graph_rows *rows, struct derive_block *block, uint32_t i,
		    uint32_t count, struct hdb_error *err)
{
	struct derive_row_room *room = block->room;
	struct base_vec *bytes = &block->bytes[0];
	unsigned length;

	TRY(base_vec_reserve(bytes, GRAPH_ROW_MAX + GRAPH_TARGET_ROOM, 1, err));
	length = graph_rows_pack(rows, block->objects->first_ix + i, room->targets.data, count,
				 base_vec_at(bytes, uint8_t, bytes->count));
	if (length == GRAPH_ROW_LONG)
		return derive_rows_leave(block, i, count, err);
	room->length[i] = (uint8_t)length;
	bytes->count += length;
	return HDB_OK;
}

/*
 * Joins the rows group by group. A group in which rows were left to this thread is copied row by
 * row. Other groups are appended unchanged.
 */
int derive_rows_join(struct graph_rows *rows, const struct derive_block *block,
		     derive_finish_row finish, void *ctx, struct hdb_error *err)
{
	struct derive_row_room *room = block->room;
	struct derive_left_row *left = room->left.data;
	struct derive_left_row *end = left ? left + room->left.count : NULL;
	const uint32_t *targets = room->left_targets.data;
	const uint8_t *bytes = block->bytes[0].data;

	for (uint32_t i = 0; i < block->objects->count; i += GRAPH_GROUP) {
		/* GRAPH_GROUP rows, and space for writing whole words beyond the last row */
		uint8_t group[GRAPH_GROUP * GRAPH_ROW_MAX + GRAPH_ROW_MAX + GRAPH_TARGET_ROOM];
		const uint8_t *from = bytes;
		uint8_t *at = group;

		if (left == end || left->i >= i + GRAPH_GROUP) {
			for (uint32_t k = i; k < i + GRAPH_GROUP; k++)
				bytes += room->length[k];
		} else {
			from = group;
			for (uint32_t k = i; k < i + GRAPH_GROUP; k++) {
				const uint8_t length = room->length[k];
				struct graph_row row = { .source = block->objects->first_ix + k,
							 .out = at,
							 .length = &room->length[k] };

				if (length)
					memcpy(at, bytes, length);
				bytes += length;
				if (left < end && left->i == k) {
					left->targets = targets;
					targets += left->count;
					TRY(finish(ctx, block, left++, &row, err));
				}
				at += room->length[k] & GRAPH_ROW_MAX;
			}
		}
		TRY(graph_rows_put(rows, (block->objects->first_ix + i) / GRAPH_GROUP,
				   &room->length[i], from, err));
	}
	assert(left == end);
	return HDB_OK;
}

void derive_rows_release(void *room)
{
	struct derive_row_room *r = room;

	base_vec_release(&r->targets);
	base_vec_release(&r->left);
	base_vec_release(&r->left_targets);
}

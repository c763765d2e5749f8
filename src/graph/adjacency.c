/* graph/adjacency.c - packs rows. */
#include "graph/adjacency.h"

#include <assert.h>

/* Size of the first chunk of rows, which is small so that small graphs stay small. */
#define FIRST_SLAB_BYTES ((uint64_t)1 << 16)

/* Maximum number of nodes for which a signed distance fits in 30 bits. */
#define SHORT_NODES_MAX ((uint32_t)1 << 29)

static_assert(sizeof(struct graph_long_row) <= GRAPH_ROW_MAX, "a long row's bytes are short");

int graph_rows_init(struct graph_rows *rows, uint32_t node_count, struct base_work *work,
		    struct hdb_error *err)
{
	const uint64_t groups = (uint64_t)node_count / GRAPH_GROUP + 1;
	const unsigned shortest = node_count <= SHORT_NODES_MAX ? 1 : 2;

	*rows = (struct graph_rows){ .work = work, .node_count = node_count };
	for (unsigned code = 0; code < 4; code++) {
		rows->width[code] = (uint8_t)(shortest + code);
		rows->mask[code] = ((uint64_t)1 << (8 * (shortest + code))) - 1;
	}
	base_chunks_init(&rows->bytes, FIRST_SLAB_BYTES, work, "the graph's edges");
	base_chunks_init(&rows->longs, BASE_CHUNK_BYTES, work, "the graph's edges");
	TRY(base_big_alloc(work, &rows->start_big, (groups + 1) * sizeof *rows->start, "the graph",
			   err));
	TRY(base_big_alloc(work, &rows->base_big,
			   ((groups >> GRAPH_GROUPS_BITS) + 1) * sizeof *rows->base, "the graph",
			   err));
	rows->start = rows->start_big.data;
	rows->base = rows->base_big.data;
	return HDB_OK;
}

void graph_rows_release(struct graph_rows *rows)
{
	if (!rows->work)
		return;
	base_chunks_release(&rows->bytes);
	base_chunks_release(&rows->longs);
	base_big_free(&rows->start_big);
	base_big_free(&rows->base_big);
	*rows = (struct graph_rows){ 0 };
}

int graph_rows_add_long(struct graph_rows *rows, struct graph_long_row *row,
			const uint32_t *targets, uint64_t count, struct hdb_error *err)
{
	uint64_t position;
	uint8_t *room;

	if (row->at == row->end)
		row->at = row->end = rows->long_count;
	assert(row->end == rows->long_count);
	for (uint64_t i = 0; i < count; i++) {
		TRY(base_chunks_add(&rows->longs, sizeof *targets, &position, &room, err));
		memcpy(room, &targets[i], sizeof *targets);
	}
	rows->long_count += count;
	row->end += count;
	return HDB_OK;
}

int graph_rows_finish(struct graph_rows *rows, struct graph_row *row, const uint32_t *targets,
		      uint64_t count, struct hdb_error *err)
{
	unsigned packed = GRAPH_ROW_LONG;

	if (row->longs.at == row->longs.end)
		packed = graph_rows_pack(rows, row->source, targets, count, row->out);
	if (packed == GRAPH_ROW_LONG) {
		TRY(graph_rows_add_long(rows, &row->longs, targets, count, err));
		memcpy(row->out, &row->longs, sizeof(row->longs));
		packed |= sizeof(row->longs);
	}
	*row->length = (uint8_t)packed;
	return HDB_OK;
}

int graph_rows_put(struct graph_rows *rows, uint32_t group_no, const uint8_t *length,
		   const uint8_t *bytes, struct hdb_error *err)
{
	const uint32_t first = group_no >> GRAPH_GROUPS_BITS;
	uint64_t total = 0, position;
	uint8_t *room;

	assert(group_no <= rows->node_count / GRAPH_GROUP);
	for (unsigned i = 0; i < GRAPH_GROUP; i++)
		total += length[i] & GRAPH_ROW_MAX;
	TRY(base_chunks_add(&rows->bytes, GRAPH_GROUP + total, &position, &room, err));
	if (group_no == first << GRAPH_GROUPS_BITS)
		rows->base[first] = position;
	rows->start[group_no] = (uint32_t)(position - rows->base[first]);
	memcpy(room, length, GRAPH_GROUP);
	if (total)
		memcpy(room + GRAPH_GROUP, bytes, total);
	return HDB_OK;
}

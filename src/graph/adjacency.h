/*
 * graph/adjacency.h - the edges of a whole graph in memory, packed: about one byte a node and two an edge.
 *
 * The references of a heap mostly go to objects near by, so a row holds the distances to its
 * targets. A number's length is in its two lowest bits, so that reading one needs no branch.
 * Rows lie one after the other in groups of 32 nodes: a group keeps where its rows start and
 * the length of each. What does not fit into 127 bytes is a long row: plain 32-bit targets,
 * elsewhere.
 *
 * Filled group by group in ascending order; then read only. Not safe against wrong positions:
 * rows never come from a file.
 */
#ifndef GRAPH_ADJACENCY_H
#define GRAPH_ADJACENCY_H

#include "base/bytes.h"
#include "graph/slabs.h"

#include <stdbool.h>
#include <string.h>

/* Nodes of a group: its lengths are summed with four 64-bit words. */
#define GRAPH_GROUP 32

/* Bytes of a row that is not long; the number of its targets is not more. */
#define GRAPH_ROW_MAX 127

/* Set in the length of a long row. */
#define GRAPH_ROW_LONG 0x80

/* What the bytes of a long row are: where its targets are among all targets of long rows. */
struct graph_long_row {
	uint64_t at;
	uint64_t end; /* past the last */
};

struct graph_rows_group {
	uint64_t position;          /* of its first row */
	uint8_t length[GRAPH_GROUP];
};

struct graph_rows {
	struct base_work *work;
	uint32_t node_count;
	uint64_t edge_count;
	struct graph_rows_group *groups;
	struct graph_slabs bytes;   /* rows */
	struct graph_slabs longs;   /* targets of long rows */
	uint64_t long_count;
	uint64_t mask[4];           /* of a number by the code of its length */
	uint8_t width[4];           /* bytes by code */
	struct base_big groups_big;
};

/* Empty rows for all nodes. `work` is lent. Release it in any case. */
int graph_rows_init(struct graph_rows *rows, uint32_t node_count, struct base_work *work,
		    struct hdb_error *err);
void graph_rows_release(struct graph_rows *rows);

/*
 * Packs a row into `out`, which has room for GRAPH_ROW_MAX + 8 bytes, and returns its length;
 * GRAPH_ROW_LONG if it is too long. May be called on any thread.
 */
unsigned graph_rows_pack(const struct graph_rows *rows, uint32_t source, const uint32_t *targets,
			 uint64_t count, uint8_t *out);

/*
 * Appends targets to a long row, which starts as zeros; nothing else is appended to any other
 * long row between. Its 16 bytes are then the row that is put.
 */
int graph_rows_add_long(struct graph_rows *rows, struct graph_long_row *row,
			const uint32_t *targets, uint64_t count, struct hdb_error *err);

/* Puts the rows of the next group: their lengths, and their bytes one after the other. */
int graph_rows_put(struct graph_rows *rows, uint32_t group_no, const uint8_t *length,
		   const uint8_t *bytes, struct hdb_error *err);

/* Where the row of v starts. */
static inline const uint8_t *graph_rows_at(const struct graph_rows *rows, uint32_t v)
{
	const struct graph_rows_group *group = &rows->groups[v / GRAPH_GROUP];
	const unsigned before = v % GRAPH_GROUP;
	uint64_t sum = 0;

	/* Pairs of lengths are added in 16-bit lanes: eight times 127 would not fit a byte. */
	for (unsigned i = 0; i < GRAPH_GROUP / 8; i++) {
		const unsigned n = before < 8 * i ? 0 : before - 8 * i;
		const uint64_t keep = n >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << (8 * n)) - 1;
		const uint64_t word = load64(&group->length[8 * i]) & keep;

		sum += (word & 0x007f007f007f007fu) + (word >> 8 & 0x007f007f007f007fu);
	}
	return graph_slabs_at(&rows->bytes, group->position + (sum * 0x0001000100010001u >> 48));
}

/* Asks for the group of v, and, once that is there, for its row. */
static inline void graph_rows_prefetch_group(const struct graph_rows *rows, uint32_t v)
{
	__builtin_prefetch(&rows->groups[v / GRAPH_GROUP]);
}

static inline void graph_rows_prefetch_row(const struct graph_rows *rows, uint32_t v)
{
	if (rows->groups[v / GRAPH_GROUP].length[v % GRAPH_GROUP])
		__builtin_prefetch(graph_rows_at(rows, v));
}

/*
 * The targets of v into out[GRAPH_ROW_MAX], and how many; if the row is long, *row says where
 * they are (graph_rows_long) and the result is 0. A row that is not long leaves *row empty.
 */
static inline unsigned graph_rows_get(const struct graph_rows *rows, uint32_t v, uint32_t *out,
				      struct graph_long_row *row)
{
	const unsigned length = rows->groups[v / GRAPH_GROUP].length[v % GRAPH_GROUP];
	unsigned count = 0;
	const uint8_t *at, *end;

	*row = (struct graph_long_row){ 0, 0 };
	if (length == 0)
		return 0;
	at = graph_rows_at(rows, v);
	if (length & GRAPH_ROW_LONG) {
		memcpy(row, at, sizeof *row);
		return 0;
	}
	for (end = at + length; at < end; count++) {
		const uint64_t word = load64(at);
		const unsigned code = word & 3;
		const uint64_t z = (word & rows->mask[code]) >> 2;

		out[count] = v + (uint32_t)((z >> 1) ^ (0 - (z & 1)));
		at += rows->width[code];
	}
	return count;
}

/* Target i of all long rows' targets. */
static inline uint32_t graph_rows_long(const struct graph_rows *rows, uint64_t i)
{
	uint32_t target;

	memcpy(&target, graph_slabs_at(&rows->longs, i * sizeof target), sizeof target);
	return target;
}

#endif

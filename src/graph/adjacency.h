/*
 * graph/adjacency.h - the edges of a whole graph in memory, packed: about one byte per node and two
 * per edge.
 *
 * References in a heap usually lead to objects nearby, so a row contains the distances to its
 * targets. The two lowest bits of a number are its length, so reading a number needs no branch.
 * Rows are in groups of 32 nodes: the length of each row, then the rows. The array of group starts
 * is small enough for the caches, so a row that was not prefetched costs a single cache miss. A row
 * that does not fit in 127 bytes is a long row. The targets of long rows are plain 32-bit numbers,
 * which are stored separately.
 *
 * All groups must be filled, in ascending order. Afterwards, the rows are read-only. Positions are
 * not checked, because rows never come from a file.
 */
#ifndef GRAPH_ADJACENCY_H
#define GRAPH_ADJACENCY_H

#include "base/bytes.h"
#include "base/prefetch.h"
#include "base/chunked_buffer.h"
#include "base/thread.h"

#include <stdbool.h>
#include <string.h>

/* Number of nodes per group. The lengths of their rows are added with four 64-bit words. */
#define GRAPH_GROUP 32

/*
 * Binary logarithm of the number of groups that share a base. The starts of groups are relative to
 * this base. The groups of a base together take less than 2^32 bytes.
 */
#define GRAPH_GROUPS_BITS 10

/* Maximum size of a row that is not long. It also limits the number of targets. */
#define GRAPH_ROW_MAX 127

/* Flag in the length of a long row. */
#define GRAPH_ROW_LONG 0x80

/* Contents of a long row: the range of its targets among the targets of all long rows. */
struct graph_long_row {
	uint64_t at;
	uint64_t end; /* index after the last target */
};

struct graph_rows {
	struct base_work *work;
	uint32_t node_count;
	uint64_t *base;   /* position of the first group, by 2^GRAPH_GROUPS_BITS groups */
	uint32_t *start;  /* indexed by group: position relative to `base` */
	uint64_t mask[4]; /* indexed by length code: mask of a number */
	uint8_t width[4]; /* indexed by length code: number of bytes */
	/* the members below change with each row, and the members above are only read */
	BASE_NO_SHARING;
	struct base_chunks bytes; /* groups: lengths, rows */
	struct base_chunks longs; /* targets of long rows */
	uint64_t long_count;
	struct base_big base_big, start_big;
};

/*
 * Prepares empty rows for all nodes. `work` is borrowed. The caller must release *rows even after a
 * failure.
 */
int graph_rows_init(struct graph_rows *rows, uint32_t node_count, struct base_work *work,
		    struct hdb_error *err);
void graph_rows_release(struct graph_rows *rows);

/* Number of bytes written for each packed target. At most 5 of them are used. */
#define GRAPH_TARGET_ROOM 8u

/*
 * Packs one target into `out`, which must have room for GRAPH_TARGET_ROOM bytes, and returns the
 * length of the packed target.
 */
static inline unsigned graph_rows_pack_one(const struct graph_rows *rows, uint32_t source,
					   uint32_t target, uint8_t *out)
{
	const unsigned shortest = rows->width[0];
	const uint64_t value = zigzag((int64_t)target - (int64_t)source) << 2;
	const unsigned size = (71 - (unsigned)__builtin_clzll(value | 1)) / 8;
	const unsigned code = size < shortest ? 0 : size - shortest;

	store64(out, value | code);
	return shortest + code;
}

/*
 * Packs a row into `out`, which must have room for GRAPH_ROW_MAX + GRAPH_TARGET_ROOM bytes. Returns
 * the length of the packed row, or GRAPH_ROW_LONG if it is too long. May be called on any thread.
 */
static inline unsigned graph_rows_pack(const struct graph_rows *rows, uint32_t source,
				       const uint32_t *targets, uint64_t count, uint8_t *out)
{
	unsigned length = 0;

	if (count > GRAPH_ROW_MAX)
		return GRAPH_ROW_LONG;
	for (uint64_t i = 0; i < count; i++) {
		length += graph_rows_pack_one(rows, source, targets[i], out + length);
		if (length > GRAPH_ROW_MAX)
			return GRAPH_ROW_LONG;
	}
	return length;
}

/*
 * Appends targets to a long row. Initially, *row must be zeroed. Each row must be completed before
 * the next is begun. Finally, the 16 bytes of *row are stored as the row.
 */
int graph_rows_add_long(struct graph_rows *rows, struct graph_long_row *row,
			const uint32_t *targets, uint64_t count, struct hdb_error *err);

/* A row that is completed on a single thread. */
struct graph_row {
	uint32_t source;
	struct graph_long_row longs; /* targets so far, if the row is already long */
	uint8_t *out, *length;       /* destinations of the row and of its length */
};

/*
 * Completes a row with its last targets. Packs them into row->out like graph_rows_pack. If there
 * are too many targets or row->longs already contains targets, stores a long row instead.
 */
int graph_rows_finish(struct graph_rows *rows, struct graph_row *row, const uint32_t *targets,
		      uint64_t count, struct hdb_error *err);

/* Adds the rows of the next group: their lengths and their concatenated contents. */
int graph_rows_put(struct graph_rows *rows, uint32_t group_no, const uint8_t *length,
		   const uint8_t *bytes, struct hdb_error *err);

/* Returns the group of v: the lengths of its rows, then the rows. */
static inline const uint8_t *graph_rows_group(const struct graph_rows *rows, uint32_t v)
{
	const uint32_t group = v / GRAPH_GROUP;

	return base_chunks_at(&rows->bytes,
			      rows->base[group >> GRAPH_GROUPS_BITS] + rows->start[group]);
}

/* Returns the offset of the row of v in its group. */
static inline uint64_t graph_rows_offset(const uint8_t *group, uint32_t v)
{
	const unsigned before = v % GRAPH_GROUP;
	uint64_t sum = 0;

	/*
	 * Lengths are added in 16-bit lanes because the sum of eight lengths would not fit in a
	 * byte.
	 */
	for (unsigned i = 0; i < GRAPH_GROUP / 8; i++) {
		const unsigned n = before < 8 * i ? 0 : before - 8 * i;
		const uint64_t keep = n >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << (8 * n)) - 1;
		const uint64_t word = load64(&group[8 * i]) & keep;

		sum += (word & 0x007f007f007f007fu) + (word >> 8 & 0x007f007f007f007fu);
	}
	return GRAPH_GROUP + (sum * 0x0001000100010001u >> 48);
}

/* Prefetches the start of the group of v. */
static inline void graph_rows_prefetch_start(const struct graph_rows *rows, uint32_t v)
{
	prefetch_read(&rows->start[v / GRAPH_GROUP]);
}

/* Prefetches the row of v. The lengths of the group must be in the caches. */
static inline void graph_rows_prefetch_row(const struct graph_rows *rows, uint32_t v)
{
	const uint8_t *group = graph_rows_group(rows, v);
	const uint8_t *at = group + graph_rows_offset(group, v);

	prefetch_read(at);
	prefetch_read(at + 24);
}

/*
 * Prefetches the lengths of the group of v, and the row of v at the position that it would have if
 * all rows of the group were equally long.
 */
static inline void graph_rows_prefetch(const struct graph_rows *rows, uint32_t v)
{
	const uint32_t group = v / GRAPH_GROUP;
	const uint8_t *at = graph_rows_group(rows, v);
	const uint32_t size = rows->start[group + 1] - rows->start[group];

	prefetch_read(at);
	prefetch_read(at + GRAPH_GROUP - 1);
	/*
	 * If the next group is in another chunk, the address is wrong, but prefetching it is
	 * harmless.
	 */
	prefetch_read(at + GRAPH_GROUP + (uint64_t)size * (v % GRAPH_GROUP) / GRAPH_GROUP);
}

/*
 * Unpacks the row of v into out[GRAPH_ROW_MAX], and returns the number of targets. Reads up to 8
 * bytes beyond the row.
 */
static inline unsigned graph_rows_unpack(const struct graph_rows *rows, uint32_t v,
					 const uint8_t *at, unsigned length, uint32_t *out)
{
	const uint8_t *end = at + length;
	unsigned count = 0;

	for (; at < end; count++) {
		const uint64_t word = load64(at);
		const unsigned code = word & 3;
		const uint64_t z = (word & rows->mask[code]) >> 2;

		out[count] = v + (uint32_t)((z >> 1) ^ (0 - (z & 1)));
		at += rows->width[code];
	}
	return count;
}

/*
 * Unpacks the targets of v into out[GRAPH_ROW_MAX], and returns their number. For a long row,
 * returns 0 and sets *row to the range of its targets, for graph_rows_long. Otherwise, sets *row to
 * an empty range.
 */
static inline unsigned graph_rows_get(const struct graph_rows *rows, uint32_t v, uint32_t *out,
				      struct graph_long_row *row)
{
	const uint8_t *group = graph_rows_group(rows, v);
	const unsigned length = group[v % GRAPH_GROUP];
	const uint8_t *at;

	*row = (struct graph_long_row){ 0, 0 };
	if (length == 0)
		return 0;
	at = group + graph_rows_offset(group, v);
	if (length & GRAPH_ROW_LONG) {
		memcpy(row, at, sizeof *row);
		return 0;
	}
	return graph_rows_unpack(rows, v, at, length, out);
}

/* Returns target i of all long rows. */
static inline uint32_t graph_rows_long(const struct graph_rows *rows, uint64_t i)
{
	uint32_t target;

	memcpy(&target, base_chunks_at(&rows->longs, i * sizeof target), sizeof target);
	return target;
}

#endif

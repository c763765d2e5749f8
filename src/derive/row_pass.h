/*
 * derive/row_pass.h - fills the rows of a graph (graph/adjacency.h) in a pass over all blocks.
 *
 * Each thread packs the rows of its blocks. Rows that are long, or that need the store, are left to
 * the calling thread, which joins the blocks in order.
 */
#ifndef DERIVE_ROW_PASS_H
#define DERIVE_ROW_PASS_H

#include "derive/blocks.h"
#include "graph/adjacency.h"

/*
 * The `room` of a row pass. In the derive_block, bytes[0] contains the packed rows. Callers may
 * access only `targets`, and read `left.count`.
 */
struct derive_row_room {
	uint8_t length[STORE_BLOCK_OBJECTS]; /* length of each object's packed row */
	struct base_vec targets;             /* uint32_t: entries of the current object */
	struct base_vec left;                /* struct derive_left_row */
	struct base_vec left_targets;        /* uint32_t: targets of these rows */
};

/* A row that was left to the calling thread. */
struct derive_left_row {
	uint32_t i;              /* index of the object in the block */
	uint32_t count;          /* number of targets found so far */
	const uint32_t *targets; /* borrowed; only set for derive_finish_row */
};

/* Finishes a row that was left to the calling thread, with graph_rows_finish. */
typedef int (*derive_finish_row)(void *ctx, const struct derive_block *block,
				 const struct derive_left_row *left, struct graph_row *row,
				 struct hdb_error *err);

/* Prepares a block. Must be called first for each block. Empties room->targets. */
void derive_rows_begin(struct derive_block *block);
/*
 * Packs the first `count` entries of room->targets as the row of object i. A long row is left to
 * the calling thread.
 */
int derive_rows_add(const struct graph_rows *rows, struct derive_block *block, uint32_t i,
		    uint32_t count, struct hdb_error *err);
/*
 * Leaves the row of object i to the calling thread, with the first `count` entries of
 * room->targets.
 */
int derive_rows_leave(struct derive_block *block, uint32_t i, uint32_t count,
		      struct hdb_error *err);

/* Appends the rows of a block, on the calling thread. To be called in `take`. */
int derive_rows_join(struct graph_rows *rows, const struct derive_block *block,
		     derive_finish_row finish, void *ctx, struct hdb_error *err);

/* Frees the memory of a room. To be used as `release`. */
void derive_rows_release(void *room);

#endif

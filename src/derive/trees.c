/*
 * derive/trees.c - tables that contain a tree of objects (reach, reach.strong, dominators), and
 * functions that read them.
 */
#include "derive/blocks.h"
#include "derive/build.h"
#include "derive/strangeness.h"
#include "graph/reach.h"

static int fill_tree(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const uint32_t *parent = ctx;
	const uint32_t first_ix = block->objects->first_ix;

	(void)err;
	for (uint32_t i = 0; i < block->objects->count; i++)
		block->values[i] = derive_tree_value(first_ix + i, parent[first_ix + i]);
	return HDB_OK;
}

/* Builds the table of a column if it is missing. */
static int need_column(struct derive *derive, const struct store_column *column,
		       struct hdb_error *err)
{
	return derive_need(derive,
			   column == &derive->dominators   ? STORE_DOMINATORS :
			   column == &derive->reach_strong ? STORE_REACH_STRONG :
							     STORE_REACH,
			   err);
}

/* Checks a parent that was read from the file before it is used as an index. */
static int check_parent(struct derive *derive, struct store_column *column, uint32_t ix,
			uint32_t parent, struct hdb_error *err)
{
	if (parent < derive->heap->object_count || parent == GRAPH_NONE)
		return HDB_OK;
	return store_damaged(derive->heap->store, column->table, ix, "parent out of range", err);
}

/* Buffers for reading a block. */
struct tree_room {
	uint64_t *values; /* STORE_BLOCK_OBJECTS values of scratch space */
	uint32_t *parent;
};

/* Checks every parent, because the values come from the file and are used as indexes. */
static int read_block(struct derive *derive, struct store_column *column, uint32_t block_no,
		      struct tree_room room, struct hdb_error *err)
{
	const uint32_t first = block_no * STORE_BLOCK_OBJECTS;
	uint64_t *values = room.values;
	uint32_t *parent = room.parent, count = 0;

	TRY(store_column_block(column, first, values, &count, err));
	for (uint32_t i = 0; i < count; i++) {
		parent[i] = derive_tree_parent(values[i], first + i);
		TRY(check_parent(derive, column, first + i, parent[i], err));
	}
	return HDB_OK;
}

static int read_parent(struct derive *derive, struct store_column *column, uint32_t ix,
		       uint32_t *parent, struct hdb_error *err)
{
	uint64_t value;

	TRY(need_column(derive, column, err));
	TRY(store_column_get(column, ix, &value, err));
	*parent = derive_tree_parent(value, ix);
	return check_parent(derive, column, ix, *parent, err);
}

int derive_reach(struct derive *derive, bool is_strong, uint32_t ix, uint32_t *parent,
		 struct hdb_error *err)
{
	bool is_known = false;

	if (is_strong)
		TRY(derive_near_parent(derive, ix, parent, &is_known, err));
	if (is_known)
		return HDB_OK;
	return read_parent(derive, is_strong ? &derive->reach_strong : &derive->reach, ix, parent,
			   err);
}

/*
 * Returns the column to read for reachability. The `reach` and `dominators` tables both show which
 * objects are reachable. `reach` is preferred if it is known to exist, because `dominators` would
 * have to be looked up in the file.
 */
static struct store_column *reachable_column(struct derive *derive)
{
	return !derive->is_ready[derive_table(derive, STORE_REACH)] &&
			       derive_has(derive, STORE_DOMINATORS) ?
		       &derive->dominators :
		       &derive->reach;
}

int derive_is_reachable(struct derive *derive, uint32_t ix, bool *reachable, struct hdb_error *err)
{
	uint32_t parent = ix;
	const int r = read_parent(derive, reachable_column(derive), ix, &parent, err);

	*reachable = r == HDB_OK && parent != ix;
	return r;
}

int derive_dominator(struct derive *derive, uint32_t ix, uint32_t *dominator, struct hdb_error *err)
{
	return read_parent(derive, &derive->dominators, ix, dominator, err);
}

static int tree_block(struct derive *derive, struct store_column *column, uint32_t block_no,
		      uint32_t *parent, struct hdb_error *err)
{
	BASE_FREED uint64_t *values = NULL;

	TRY(BASE_ALLOC(values, STORE_BLOCK_OBJECTS, "a table's block", err));
	TRY(need_column(derive, column, err));
	return read_block(derive, column, block_no, (struct tree_room){ values, parent }, err);
}

int derive_dominator_block(struct derive *derive, uint32_t block_no, uint32_t *dominator,
			   struct hdb_error *err)
{
	return tree_block(derive, &derive->dominators, block_no, dominator, err);
}

int derive_reach_block(struct derive *derive, bool is_strong, uint32_t block_no, uint32_t *parent,
		       struct hdb_error *err)
{
	return tree_block(derive, is_strong ? &derive->reach_strong : &derive->reach, block_no,
			  parent, err);
}

int derive_reachable_block(struct derive *derive, uint32_t block_no, uint8_t *out,
			   struct hdb_error *err)
{
	struct store_column *column = reachable_column(derive);
	BASE_FREED uint64_t *values = NULL;
	uint32_t count = 0;

	TRY(BASE_ALLOC(values, STORE_BLOCK_OBJECTS, "a table's block", err));
	TRY(need_column(derive, column, err));
	TRY(store_column_block(column, block_no * STORE_BLOCK_OBJECTS, values, &count, err));
	for (uint32_t i = 0; i < count; i++)
		out[i] = values[i] != 0;
	return HDB_OK;
}

int derive_need_reachable(struct derive *derive, struct hdb_error *err)
{
	if (!heap_block_count(derive->heap))
		return HDB_OK;
	return need_column(derive, reachable_column(derive), err);
}

int derive_prepare_reachable(struct derive *derive, struct hdb_error *err)
{
	TRY(derive_need_reachable(derive, err));
	return store_column_prepare(reachable_column(derive), err);
}

struct looking {
	struct derive *derive;
	derive_look look;
	void *ctx;                              /* look's */
	uint8_t reachable[STORE_BLOCK_OBJECTS]; /* context of `look` */
};

static int look_with_reachable(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct looking *l = ctx;

	TRY(derive_reachable_block(l->derive, heap_block_no(block), l->reachable, err));
	return l->look(l->ctx, block, l->reachable, err);
}

int derive_each_reachable(struct derive *derive, struct base_work *work, derive_look look,
			  void *ctx, struct hdb_error *err)
{
	BASE_FREED struct looking *l = NULL;

	TRY(BASE_ALLOC(l, 1, "a block of objects", err));
	l->derive = derive;
	l->look = look;
	l->ctx = ctx;
	return heap_each_block(derive->heap, work, look_with_reachable, l, err);
}

/* ---- building the reach trees ---- */

static int build_tree(struct derive *derive, bool is_strong, enum store_table table,
		      struct store_writer *writer, struct hdb_error *err)
{
	BASE_SCOPED(graph_rows_release) struct graph_rows rows = { 0 };
	BASE_SCOPED(base_big_free) struct base_big parent = { 0 };

	TRY(derive_graph_load(derive, is_strong, &rows, err));
	if (!is_strong)
		TRY(base_big_alloc(derive->work, &parent, (uint64_t)rows.node_count * 4,
				   "the reach tree", err));
	/*
	 * Displayed paths contain only strong references, so only the tree of strong references
	 * needs the least strangeness.
	 */
	TRY(is_strong ? derive_least_strange(derive, &rows, &parent, err) :
			graph_reach_tree(&rows, derive->heap->roots.bits, derive->work, parent.data,
					 err));
	/* The graph is no longer needed when the table is written. */
	graph_rows_release(&rows);
	TRY(derive_put_column(derive, writer, table,
			      &(struct derive_fill){ .stage = "writing the reach tree",
						     .fill = fill_tree,
						     .ctx = parent.data },
			      err));
	return store_put_table(writer, table, derive->heap->object_count, err);
}

static int build_reach(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	return build_tree(derive, false, derive_table(derive, STORE_REACH), writer, err);
}

static int build_reach_strong(struct derive *derive, struct store_writer *writer,
			      struct hdb_error *err)
{
	return build_tree(derive, true, STORE_REACH_STRONG, writer, err);
}

const struct derive_builder derive_build_reach = {
	.tables = { STORE_REACH },
	.build = build_reach,
};

const struct derive_builder derive_build_reach_strong = {
	.tables = { STORE_REACH_STRONG },
	.build = build_reach_strong,
};

/* ---- the dominator tree as a whole ---- */

int derive_tree_prepare(struct derive *derive, struct hdb_error *err)
{
	TRY(derive_need(derive, STORE_DOMINATORS, err));
	TRY(derive_need(derive, STORE_RETAINED, err));
	TRY(store_column_prepare(&derive->dominators, err));
	return store_column_prepare(&derive->retained, err);
}

int derive_tree_dominators(struct derive *derive, struct derive_block *block, uint32_t *dominator,
			   struct hdb_error *err)
{
	return read_block(derive, &derive->dominators, block->block_no,
			  (struct tree_room){ block->values, dominator }, err);
}

int derive_strong_prepare(struct derive *derive, struct hdb_error *err)
{
	TRY(need_column(derive, &derive->reach_strong, err));
	return store_column_prepare(&derive->reach_strong, err);
}

int derive_tree_strong(struct derive *derive, struct derive_block *block, uint32_t *parent,
		       struct hdb_error *err)
{
	return read_block(derive, &derive->reach_strong, block->block_no,
			  (struct tree_room){ block->values, parent }, err);
}

/*
 * Reads the units of a block whose out->dominator is set. The table contains only the size of the
 * objects below each object, so the object's own size is added.
 */
static int read_units(struct derive *derive, struct derive_block *block,
		      struct derive_tree_block *out, struct hdb_error *err)
{
	const uint32_t first_ix = block->objects->first_ix;
	uint32_t count;

	TRY(store_column_block(&derive->retained, first_ix, out->units, &count, err));
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t units =
			out->units[i] + derive_units(derive, block->objects->shallow[i]);

		out->units[i] = out->dominator[i] == first_ix + i ? 0 : units;
	}
	return HDB_OK;
}

int derive_tree_read(struct derive *derive, struct derive_block *block,
		     struct derive_tree_block *out, struct hdb_error *err)
{
	TRY(derive_tree_dominators(derive, block, out->dominator, err));
	return read_units(derive, block, out, err);
}

int derive_tree_read_top(struct derive *derive, struct derive_block *block,
			 struct derive_tree_block *out, struct hdb_error *err)
{
	const uint32_t count = block->objects->count;
	uint32_t i = 0;

	TRY(derive_tree_dominators(derive, block, out->dominator, err));
	while (i < count && out->dominator[i] != GRAPH_NONE)
		i++;
	if (i == count)
		return HDB_OK;
	TRY(heap_read_block(derive->heap, block->block_no, block->objects, err));
	return read_units(derive, block, out, err);
}

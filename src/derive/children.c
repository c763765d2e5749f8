/*
 * derive/children.c - the table children: what each object dominates immediately, largest first.
 */
#include "derive/build.h"

#include "graph/domtree.h"

#include <stdlib.h>

int derive_put_lists(struct store_writer *writer, struct base_work *work, enum store_table table,
		     enum store_table big_table, const uint32_t *first, const uint32_t *target,
		     uint64_t row_count, struct hdb_error *err)
{
	uint64_t *starts = malloc((STORE_BLOCK_OBJECTS + 1) * sizeof(*starts));
	struct base_vec bytes = { 0 };
	int r = starts ? HDB_OK : hdb_fail_memory(err, "a block of lists", STORE_BLOCK_OBJECTS * 8);

	for (uint64_t row = 0; row < row_count && r == HDB_OK; row += STORE_BLOCK_OBJECTS) {
		const uint32_t count = row_count - row < STORE_BLOCK_OBJECTS ?
				       (uint32_t)(row_count - row) : STORE_BLOCK_OBJECTS;

		r = base_step(work, row, err);
		for (uint32_t i = 0; i <= count; i++)
			starts[i] = first[row + i];
		for (uint32_t i = 0; i < count && r == HDB_OK; i++)
			if (starts[i + 1] - starts[i] > STORE_LIST_BIG)
				r = store_lists_put_big(writer, big_table, (uint32_t)row + i,
							target + starts[i],
							starts[i + 1] - starts[i], err);
		bytes.count = 0;
		if (r == HDB_OK)
			r = store_lists_encode(&bytes, (uint32_t)row, count, starts, target, NULL,
					       err);
		if (r == HDB_OK)
			r = store_put(writer, table, row, count, bytes.data, bytes.count, err);
	}
	base_vec_release(&bytes);
	free(starts);
	return r;
}

static int build_children(struct derive *derive, struct store_writer *writer,
			  struct hdb_error *err)
{
	const uint32_t n = derive->heap->object_count;
	struct graph_children children = { 0 };
	struct derive_tree tree = { 0 };
	int r = derive_tree_load(derive, "ordering the dominator tree", &tree, err);

	if (r == HDB_OK)
		r = graph_children(tree.dominator, n, &tree.retained, derive->work, &children, err);
	derive_tree_release(&tree);
	/* One more row than objects: the top level. */
	if (r == HDB_OK)
		r = derive_put_lists(writer, derive->work, STORE_CHILDREN, STORE_CHILDREN_BIG,
				     children.first, children.child, (uint64_t)n + 1, err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_CHILDREN, children.first[(uint64_t)n + 1], err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_CHILDREN_BIG, 0, err);
	graph_children_release(derive->work, &children);
	return r;
}

const struct derive_builder derive_build_children = {
	.tables = { STORE_CHILDREN, STORE_CHILDREN_BIG },
	.needs = { STORE_DOMINATORS, STORE_RETAINED }, .build = build_children,
};

int derive_children(struct derive *derive, struct store_lists *out, struct hdb_error *err)
{
	const int r = derive_need(derive, STORE_CHILDREN, err);

	*out = (struct store_lists){
		.store = derive->heap->store, .table = STORE_CHILDREN,
		.big_table = STORE_CHILDREN_BIG, .ix_count = derive->heap->object_count,
	};
	return r;
}

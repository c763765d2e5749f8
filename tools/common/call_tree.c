/*
 * common/call_tree.c - implements call_tree.h. A node has a higher number than its parent, so one
 * backward pass computes the sums.
 */
#include "common/call_tree.h"

#include "base/error.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void call_tree_add(uint64_t *sum, uint64_t more)
{
	*sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

void call_node_add(struct call_node *sum, const struct call_node *more)
{
	call_tree_add(&sum->count, more->count);
	call_tree_add(&sum->bytes, more->bytes);
	call_tree_add(&sum->all_count, more->all_count);
	call_tree_add(&sum->all_bytes, more->all_bytes);
}

int call_tree_child(struct call_tree *tree, uint32_t parent, const char *name, uint32_t *node,
		    struct hdb_error *err)
{
	const struct base_name text = { .text = name, .size = strlen(name) };
	const uint32_t above = parent - 1; /* wraps around to BASE_TREE_TOP if `parent` is 0 */
	struct call_node new = { .parent = parent };
	uint32_t no;

	if (!tree->count)
		TRY(base_vec_push(&tree->vec, &new, sizeof(new), err));
	assert(parent < tree->count);
	TRY(base_names_add(&tree->names, &text, false, &no, err));
	*node = base_tree_child(&tree->tree, above, no) + 1;
	if (*node)
		return HDB_OK;
	if (tree->count >= CALL_TREE_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many distinct stack frames (limit %u)",
				CALL_TREE_MAX);
	TRY(base_tree_add(&tree->tree, above, no, node, err));
	new.name = base_vec_at(&tree->names.list, struct base_name, no)->text;
	new.level = base_tree_node(&tree->tree, (*node)++)->depth;
	return base_vec_push(&tree->vec, &new, sizeof(new), err);
}

/* Compares two nodes, with the largest first. */
static int compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct call_tree *tree = ctx;
	const struct call_node *x = &tree->nodes[a + 1], *y = &tree->nodes[b + 1];

	BASE_DESCENDING(x->bytes, y->bytes);
	BASE_DESCENDING(x->count, y->count);
	return strcmp(x->name, y->name);
}

int call_tree_sum(struct call_tree *tree, struct hdb_error *err)
{
	const struct base_tree_list list = { compare, tree, NULL, UINT32_MAX };
	size_t count;

	for (size_t i = tree->count; i-- > 1;)
		call_node_add(&tree->nodes[tree->nodes[i].parent], &tree->nodes[i]);
	TRY(base_tree_order(&tree->tree, &list, &tree->order, &count, err));
	for (size_t i = 0; i < count; i++)
		tree->order[i]++;
	return HDB_OK;
}

void call_tree_release(struct call_tree *tree)
{
	base_names_release(&tree->names);
	base_tree_release(&tree->tree);
	base_vec_release(&tree->vec);
	free(tree->order);
	*tree = (struct call_tree){ 0 };
}

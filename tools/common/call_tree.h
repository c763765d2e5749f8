/*
 * common/call_tree.h - adds up samples in a tree of names, which is a tree of call stacks or a list
 * (a single level).
 */
#ifndef COMMON_CALL_TREE_H
#define COMMON_CALL_TREE_H

#include "base/name_tree.h"

/* Maximum number of nodes. */
#define CALL_TREE_MAX 4000000u

struct call_node {
	const char *name; /* owned by the tree */
	/* sums of the samples that end here; after call_tree_sum, also of all nodes below */
	uint64_t count, bytes;
	uint64_t all_count, all_bytes; /* total including freed objects, or 0 if unknown */
	uint32_t parent, level;
};

/* A tree. A structure of zeros is an empty tree. */
struct call_tree {
	/* node 0 is the unnamed root; node n + 1 is node n of `tree` */
	BASE_VEC_AS(vec, struct call_node, nodes, count);
	uint32_t *order; /* all nodes except 0, parents first, siblings by descending size */
	/* private */
	struct base_names names;
	struct base_tree tree;
};

/* Finds or adds the child of `parent` with this name. Fails with HDB_ELIMIT or HDB_ENOMEM. */
int call_tree_child(struct call_tree *tree, uint32_t parent, const char *name, uint32_t *node,
		    struct hdb_error *err);

/* Adds to a sum that saturates at UINT64_MAX. */
void call_tree_add(uint64_t *sum, uint64_t more);

/* Adds the figures of one node to the figures of another. */
void call_node_add(struct call_node *sum, const struct call_node *more);

/* Computes the sums, once, and fills tree->order with tree->count - 1 nodes. */
int call_tree_sum(struct call_tree *tree, struct hdb_error *err);

void call_tree_release(struct call_tree *tree);

#endif

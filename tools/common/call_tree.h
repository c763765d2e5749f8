/*
 * common/call_tree.h - samples added up by names, and by names below names: a tree of call stacks,
 * or a tree of one level, a list.
 */
#ifndef COMMON_CALL_TREE_H
#define COMMON_CALL_TREE_H

#include "base/name_tree.h"

/* Nodes at most; more are refused. */
#define CALL_TREE_MAX 4000000u

struct call_node {
	const char *name;              /* owned by the tree */
	uint64_t count, bytes;         /* of samples that end here; in order: with all below */
	uint64_t all_count, all_bytes; /* with those that were freed since; 0 where nobody knows */
	uint32_t parent, level;
};

/* All zeros is empty. */
struct call_tree {
	/* node 0 is above all, and has no name; node n + 1 is node n of `tree` */
	BASE_VEC_AS(vec, struct call_node, nodes, count);
	uint32_t *order; /* nodes but 0: parents first, of one parent's the largest first */
	/* private */
	struct base_names names;
	struct base_tree tree;
};

/* The node of that name below `parent`, a new one if there is none. HDB_ELIMIT, HDB_ENOMEM. */
int call_tree_child(struct call_tree *tree, uint32_t parent, const char *name, uint32_t *node,
		    struct hdb_error *err);

/* Adds to a sum, which ends at UINT64_MAX. */
void call_tree_add(uint64_t *sum, uint64_t more);

/* Adds what a node has to another's. */
void call_node_add(struct call_node *sum, const struct call_node *more);

/* Adds up, once, and makes tree->order, of which there are tree->count - 1. */
int call_tree_sum(struct call_tree *tree, struct hdb_error *err);

void call_tree_release(struct call_tree *tree);

#endif

/*
 * base/name_tree.h - trees whose branches are merged by name: the names below a node are distinct.
 * struct base_names numbers texts; struct base_tree numbers nodes by parent and name. The builder
 * of a tree keeps its own data in arrays indexed by node.
 */
#ifndef BASE_NAME_TREE_H
#define BASE_NAME_TREE_H

#include "base/idmap.h"
#include "base/vec.h"

/* Not a node: the parent of nodes on the top level. */
#define BASE_TREE_TOP UINT32_MAX
/* Maximum number of names. */
#define BASE_NAMES_MAX 0x7ffffffeu

struct base_name {
	const char *text; /* owned by the names, or lent by the caller as long as these exist */
	size_t size;
	uint8_t kind; /* the caller's; equal texts of different kinds are different names */
};

/* Starts with zeros. */
struct base_names {
	struct base_vec list;      /* struct base_name, in the order in which they were added */
	struct base_vec copies;    /* char *; owned */
	struct base_idmap by_hash; /* hash of a name -> its number */
};

/* Finds or adds a name. Unless it is lent, its text is copied, with a zero byte at the end. */
int base_names_add(struct base_names *names, const struct base_name *name, bool is_lent,
		   uint32_t *no, struct hdb_error *err);
bool base_names_has(const struct base_names *names, const struct base_name *name);
void base_names_release(struct base_names *names);

/* Nodes are numbered in the order in which they were added, so parents have lower numbers. */
struct base_tree_node {
	uint32_t parent; /* number of the parent, or BASE_TREE_TOP */
	uint32_t name;
	uint32_t depth; /* 0 on the top level */
	uint32_t hint;  /* the child that was looked up last, which often is the next one too */
};

/* Starts with zeros. */
struct base_tree {
	struct base_vec nodes;      /* struct base_tree_node */
	struct base_idmap by_place; /* parent and name -> node */
};

static inline struct base_tree_node *base_tree_node(const struct base_tree *tree, uint32_t node)
{
	return base_vec_at(&tree->nodes, struct base_tree_node, node);
}

/* Returns the child of that name, or BASE_TREE_TOP if none exists. */
uint32_t base_tree_child(struct base_tree *tree, uint32_t parent, uint32_t name);
/* Adds a child of a name that the parent does not have yet. */
int base_tree_add(struct base_tree *tree, uint32_t parent, uint32_t name, uint32_t *node,
		  struct hdb_error *err);
void base_tree_release(struct base_tree *tree);

/* Which nodes to list, and how to order siblings. */
struct base_tree_list {
	/* negative if node a comes before b; equal nodes are sorted by number */
	int (*compare)(const void *ctx, uint32_t a, uint32_t b);
	const void *ctx;
	/* by node; the parent of a listed node must be listed. NULL: all */
	const bool *is_listed;
	uint32_t max_depth; /* deepest level listed */
};

/* Lists nodes, parents before children. *order is owned by the caller; *count is its length. */
int base_tree_order(const struct base_tree *tree, const struct base_tree_list *list,
		    uint32_t **order, size_t *count, struct hdb_error *err);

#endif

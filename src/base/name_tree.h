/*
 * base/name_tree.h - trees whose branches are merged by name, so that siblings have different
 * names. struct base_names assigns numbers to strings, and struct base_tree assigns numbers to
 * nodes, given their parent and name. The builder of a tree keeps its own data in arrays indexed by
 * node.
 */
#ifndef BASE_NAME_TREE_H
#define BASE_NAME_TREE_H

#include "base/idmap.h"
#include "base/vec.h"

/* Parent of the nodes on the top level. It is not a node itself. */
#define BASE_TREE_TOP UINT32_MAX
/* Maximum number of names. */
#define BASE_NAMES_MAX 0x7ffffffeu

struct base_name {
	/* owned by the names, or borrowed from the caller as long as the names exist */
	const char *text;
	size_t size;
	/* defined by the caller; equal strings of different kinds are different names */
	uint8_t kind;
};

/* Must be initialised with zeros. */
struct base_names {
	struct base_vec list;      /* struct base_name, in the order in which they were added */
	struct base_vec copies;    /* char *; owned */
	struct base_idmap by_hash; /* hash of a name to its number */
};

/* Finds or adds a name. Unless its text is borrowed, the text is copied and zero-terminated. */
int base_names_add(struct base_names *names, const struct base_name *name, bool is_lent,
		   uint32_t *no, struct hdb_error *err);
bool base_names_has(const struct base_names *names, const struct base_name *name);
void base_names_release(struct base_names *names);

/* Nodes are numbered in the order in which they were added, so parents have lower numbers. */
struct base_tree_node {
	uint32_t parent; /* number of the parent, or BASE_TREE_TOP */
	uint32_t name;
	uint32_t depth; /* 0 on the top level */
	uint32_t hint;  /* the child that was looked up last, which is often looked up again */
};

/* Must be initialised with zeros. */
struct base_tree {
	struct base_vec nodes;      /* struct base_tree_node */
	struct base_idmap by_place; /* parent and name to node */
};

static inline struct base_tree_node *base_tree_node(const struct base_tree *tree, uint32_t node)
{
	return base_vec_at(&tree->nodes, struct base_tree_node, node);
}

/* Returns the child with that name, or BASE_TREE_TOP if the parent has none. */
uint32_t base_tree_child(struct base_tree *tree, uint32_t parent, uint32_t name);
/* Adds a child with a name that the parent's children do not have yet. */
int base_tree_add(struct base_tree *tree, uint32_t parent, uint32_t name, uint32_t *node,
		  struct hdb_error *err);
void base_tree_release(struct base_tree *tree);

/* Specifies which nodes to list, and the order of siblings. */
struct base_tree_list {
	/* returns a negative number if node a comes before b; equal nodes are sorted by number */
	int (*compare)(const void *ctx, uint32_t a, uint32_t b);
	const void *ctx;
	/*
	 * indexed by node: whether to list it, which requires that its parent is listed; NULL means
	 * list all nodes
	 */
	const bool *is_listed;
	uint32_t max_depth; /* deepest level listed */
};

/*
 * Lists nodes so that parents precede their children. The caller frees *order. Sets *count to its
 * length.
 */
int base_tree_order(const struct base_tree *tree, const struct base_tree_list *list,
		    uint32_t **order, size_t *count, struct hdb_error *err);

#endif

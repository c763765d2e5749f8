/*
 * query/loader_tree.h - the class loaders of a heap, and how they are each other's parents.
 */
#ifndef QUERY_LOADER_TREE_H
#define QUERY_LOADER_TREE_H

#include "query/query.h"

/* No loader: the parent of the boot loader, or one that is not known. */
#define QUERY_NO_LOADER UINT32_MAX

/* What keeps a loader loaded, from least to most. */
enum query_loader_use { USE_GARBAGE, USE_HELD, USE_PARENT, USE_ROOT, USE_INSTANCES };

struct query_loader {
	uint32_t ix;
	uint32_t parent;           /* number among the loaders, or QUERY_NO_LOADER */
	uint32_t level;            /* parents above it */
	uint32_t first_class;      /* the query's: where its classes are */
	struct derive_total total; /* of its classes' instances */
	uint64_t classes;          /* that it defines */
	uint64_t retained_bytes;
	enum query_loader_use use;
};

struct query_loader_tree {
	struct base_vec all; /* struct query_loader, by ix; the boot loader first */
	uint32_t *order;     /* numbers of loaders, children after their parents; owned */
	size_t count;        /* in order[] */
};

/*
 * Finds instances of java.lang.ClassLoader, whatever classes name as their loader, and the boot
 * loader, and their parents, as far as the dump can be read. One pass over all objects. Release
 * *tree in any case.
 */
int query_loaders_find(struct query *q, struct query_loader_tree *tree, struct hdb_error *err);
void query_loaders_release(struct query_loader_tree *tree);

/* Makes the order: under one parent those first that retain most. */
int query_loaders_order(struct query_loader_tree *tree, struct hdb_error *err);

static inline struct query_loader *query_loader_at(const struct query_loader_tree *tree,
						   uint32_t no)
{
	return base_vec_at(&tree->all, struct query_loader, no);
}

/* Number of the loader with that index, or QUERY_NO_LOADER. */
uint32_t query_loader_number(const struct query_loader_tree *tree, uint32_t ix);

#endif

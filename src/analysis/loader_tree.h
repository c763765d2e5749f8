/* analysis/loader_tree.h - the tree of the class loaders in a heap and their parents. */
#ifndef ANALYSIS_LOADER_TREE_H
#define ANALYSIS_LOADER_TREE_H

#include "analysis/session.h"

/* Index that means no class loader: the parent of the boot loader, or an unknown parent. */
#define ANALYSIS_NO_LOADER UINT32_MAX

/* Reasons why a class loader is alive, weakest reason first. */
enum analysis_loader_use { USE_GARBAGE, USE_HELD, USE_PARENT, USE_ROOT, USE_INSTANCES };

/* A class loader. The loaders query sets the members from first_class on. */
struct analysis_loader {
	uint32_t ix;
	uint32_t parent;           /* index among the class loaders, or ANALYSIS_NO_LOADER */
	uint32_t level;            /* number of parents above it */
	uint32_t first_class;      /* index of the loader's first class in the query's list */
	struct derive_total total; /* total of the instances of its classes */
	uint64_t classes;          /* number of classes it defines */
	/* lower bound of the retained size, including classes and their instances */
	uint64_t retained_bytes;
	uint64_t own_bytes; /* retained size of the class loader object itself */
	enum analysis_loader_use use;
};

struct analysis_loader_tree {
	struct base_vec all; /* struct analysis_loader by ix; the boot loader comes first */
	uint32_t *order;     /* indexes of class loaders, parents before children; owned */
	size_t count;        /* number of elements in order[] */
	/* whether parents and names are unknown because the dump is not available */
	bool has_no_parents;
};

/*
 * Finds the class loaders: the instances of java.lang.ClassLoader, all objects that classes have as
 * their class loader, and the boot loader. If the dump can be read, also finds their parents. Makes
 * one pass over all objects. The caller must release *tree, even after a failure.
 */
int analysis_loaders_find(const struct session *session, struct analysis_loader_tree *tree,
			  struct hdb_error *err);
void analysis_loaders_release(struct analysis_loader_tree *tree);

/* Sets `order`. The children of each parent are sorted by retained size, largest first. */
int analysis_loaders_order(struct analysis_loader_tree *tree, struct hdb_error *err);

static inline struct analysis_loader *analysis_loader_at(const struct analysis_loader_tree *tree,
							 uint32_t no)
{
	return base_vec_at(&tree->all, struct analysis_loader, no);
}

/* Returns the index of the class loader with this ix, or ANALYSIS_NO_LOADER. */
uint32_t analysis_loader_number(const struct analysis_loader_tree *tree, uint32_t ix);

/*
 * Writes the name of a class loader ("app"), as UTF-8, truncated to `size` bytes. If the class
 * loader has no name or the dump is not available, returns HDB_NOTFOUND without a message and
 * leaves buf empty.
 */
int analysis_loader_name(struct heap *heap, uint32_t ix, char *buf, size_t size,
			 struct hdb_error *err);

#endif

/*
 * analysis/loader_tree.h - the class loaders of a heap, and how they are each other's parents.
 */
#ifndef ANALYSIS_LOADER_TREE_H
#define ANALYSIS_LOADER_TREE_H

#include "analysis/session.h"

/* No loader: the parent of the boot loader, or one that is not known. */
#define ANALYSIS_NO_LOADER UINT32_MAX

/* What keeps a loader loaded, from least to most. */
enum analysis_loader_use { USE_GARBAGE, USE_HELD, USE_PARENT, USE_ROOT, USE_INSTANCES };

struct analysis_loader {
	uint32_t ix;
	uint32_t parent;           /* number among the loaders, or ANALYSIS_NO_LOADER */
	uint32_t level;            /* parents above it */
	uint32_t first_class;      /* the query's: where its classes are */
	struct derive_total total; /* of its classes' instances */
	uint64_t classes;          /* that it defines */
	uint64_t retained_bytes;   /* at least, with its classes and their instances */
	uint64_t own_bytes;        /* retained by the loader object alone */
	enum analysis_loader_use use;
};

struct analysis_loader_tree {
	struct base_vec all; /* struct analysis_loader, by ix; the boot loader first */
	uint32_t *order;     /* numbers of loaders, children after their parents; owned */
	size_t count;        /* in order[] */
	bool has_no_parents; /* only the dump has parents and names, and it is not there */
};

/*
 * Finds instances of java.lang.ClassLoader, whatever classes name as their loader, and the boot
 * loader, and their parents, as far as the dump can be read. One pass over all objects. Release
 * *tree in any case.
 */
int analysis_loaders_find(const struct session *session, struct analysis_loader_tree *tree,
			  struct hdb_error *err);
void analysis_loaders_release(struct analysis_loader_tree *tree);

/* Makes the order: under one parent those first that retain most. */
int analysis_loaders_order(struct analysis_loader_tree *tree, struct hdb_error *err);

static inline struct analysis_loader *analysis_loader_at(const struct analysis_loader_tree *tree,
							 uint32_t no)
{
	return base_vec_at(&tree->all, struct analysis_loader, no);
}

/* Number of the loader with that index, or ANALYSIS_NO_LOADER. */
uint32_t analysis_loader_number(const struct analysis_loader_tree *tree, uint32_t ix);

/*
 * The name that a loader was given ("app"), as UTF-8 in buf, cut to `size` bytes. HDB_NOTFOUND
 * without a message, and an empty text, if it has none, or only the dump has it and that is not
 * there.
 */
int analysis_loader_name(struct heap *heap, uint32_t ix, char *buf, size_t size,
			 struct hdb_error *err);

#endif

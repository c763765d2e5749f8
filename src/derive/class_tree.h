/*
 * derive/class_tree.h - the class hierarchy, with sums over superclasses whose cost does not depend
 * on the depth of the hierarchy.
 *
 * Totals by superclass need such sums. An object counts for its class and for all superclasses. Its
 * retained size counts only for those superclasses that have no instance among the object's
 * dominators. These superclasses are consecutive: the first is the object's class, and the last is
 * just below the first class of which some dominator is an instance. It is therefore enough to add
 * the size at the lower end and to subtract it at the upper end.
 */
#ifndef DERIVE_CLASS_TREE_H
#define DERIVE_CLASS_TREE_H

#include "heap/heap.h"

/*
 * Number of levels of the bitmap of open classes. Each level has one bit per word of 64 bits of the
 * level below, so 6 levels cover 32-bit class numbers.
 */
#define CLASS_TREE_LEVELS 6

/*
 * Must be initialised with zeros, and released with derive_class_tree_release. All arrays are owned
 * and, unless stated otherwise, indexed by class number.
 */
struct class_tree {
	uint32_t count;
	/* superclass, or STORE_NONE if there is none or if it would close a cycle */
	uint32_t *parent;
	/* jump pointer: an ancestor further up, so that many levels are climbed in few steps */
	uint32_t *jump;
	uint32_t *depth;
	uint32_t *pre; /* place in preorder, where a class precedes its subclasses */
	/* place of the last class in its subtree; its own place if it has no subclasses */
	uint32_t *last;
	uint32_t *order; /* class number, by place */
	uint32_t *open;  /* number of times that the class was opened and not yet closed */
	uint64_t *levels[CLASS_TREE_LEVELS]; /* one bit per place: whether the class is open */
};

/* Builds the tree of the heap's loaded classes, which takes 32 bytes per class. */
int derive_class_tree_init(struct class_tree *tree, const struct heap *heap, struct hdb_error *err);
void derive_class_tree_release(struct class_tree *tree);

/*
 * Returns the first class among `no` and its superclasses that is open or has an open subclass, or
 * STORE_NONE if there is none.
 */
uint32_t derive_class_tree_covered(const struct class_tree *tree, uint32_t no);

void derive_class_tree_open(struct class_tree *tree, uint32_t no);
void derive_class_tree_close(struct class_tree *tree, uint32_t no);

#endif

/*
 * derive/class_tree.h - the tree of classes by superclass, and sums over it in time that does not
 * grow with its depth.
 *
 * For the totals by superclass: an object counts for its class and all superclasses, but what it
 * retains only for those that none of its dominators counts for. Those are a piece of the way up
 * from its class, which ends below the first class that some dominator's class is, or is under; so
 * a difference at both ends of the piece says it all.
 */
#ifndef DERIVE_CLASS_TREE_H
#define DERIVE_CLASS_TREE_H

#include "heap/heap.h"

/* Levels of the set of open classes: each has a bit for 64 of the level below. */
#define CLASS_TREE_LEVELS 6

/*
 * Zero-initialise; class_tree_release. Everything is owned and by class number unless it says
 * otherwise.
 */
struct class_tree {
	uint32_t count;
	uint32_t *parent; /* superclass; STORE_NONE: none, or it would close a circle */
	uint32_t *jump;   /* an ancestor further up, for long ways in few steps */
	uint32_t *depth;
	uint32_t *pre;   /* place in preorder: subclasses follow their superclass */
	uint32_t *last;  /* place of the last of its subclasses, or its own */
	uint32_t *order; /* by place: the class */
	uint32_t *open;  /* times that the class was opened and not closed */
	uint64_t *levels[CLASS_TREE_LEVELS]; /* by place: whether it is open */
};

/* Makes the tree of a heap's classes, which are loaded. 32 bytes a class. */
int derive_class_tree_init(struct class_tree *tree, const struct heap *heap, struct hdb_error *err);
void derive_class_tree_release(struct class_tree *tree);

/*
 * The first class on the way up from `no`, itself included, that is open or has an open subclass;
 * STORE_NONE if there is none.
 */
uint32_t derive_class_tree_covered(const struct class_tree *tree, uint32_t no);

void derive_class_tree_open(struct class_tree *tree, uint32_t no);
void derive_class_tree_close(struct class_tree *tree, uint32_t no);

#endif

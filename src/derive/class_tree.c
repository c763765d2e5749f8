/*
 * derive/class_tree.c - implements class_tree.h.
 *
 * Jump pointers are those of Myers ("An applicative random-access stack", 1983): with one
 * additional pointer per node, any ancestor can be reached in a logarithmic number of steps. A
 * hierarchical bitmap finds the nearest open classes before and after a position in preorder. One
 * of these two classes determines the lowest common superclass, because classes farther away in
 * preorder branch off higher up.
 */
#include "derive/class_tree.h"

#include "base/bits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void derive_class_tree_release(struct class_tree *tree)
{
	uint32_t *arrays[] = { tree->parent, tree->jump,  tree->depth, tree->pre,
			       tree->last,   tree->order, tree->open };

	for (size_t i = 0; i < BASE_COUNT(arrays); i++)
		free(arrays[i]);
	for (unsigned i = 0; i < CLASS_TREE_LEVELS; i++)
		free(tree->levels[i]);
	*tree = (struct class_tree){ 0 };
}

static int make_arrays(struct class_tree *tree, uint32_t count, struct hdb_error *err)
{
	uint32_t **arrays[] = { &tree->parent, &tree->jump,  &tree->depth, &tree->pre,
				&tree->last,   &tree->order, &tree->open };
	size_t words = count;

	tree->count = count;
	for (size_t i = 0; i < BASE_COUNT(arrays); i++)
		TRY(BASE_ALLOC(*arrays[i], count, "the tree of classes", err));
	for (unsigned i = 0; i < CLASS_TREE_LEVELS; i++) {
		words = words / 64 + 1;
		TRY(BASE_ALLOC(tree->levels[i], words, "the tree of classes", err));
	}
	return HDB_OK;
}

/*
 * Inserts a class below `parent`: sets its preorder number, depth, and jump pointer by Myers' rule.
 */
static void place(struct class_tree *tree, uint32_t no, uint32_t parent, uint32_t *next)
{
	tree->parent[no] = parent;
	tree->jump[no] = no;
	tree->pre[no] = tree->last[no] = *next;
	tree->order[(*next)++] = no;
	if (parent == STORE_NONE)
		return;
	tree->depth[no] = tree->depth[parent] + 1;
	tree->jump[no] = parent;
	if (tree->depth[parent] - tree->depth[tree->jump[parent]] ==
	    tree->depth[tree->jump[parent]] - tree->depth[tree->jump[tree->jump[parent]]])
		tree->jump[no] = tree->jump[tree->jump[parent]];
}

/*
 * Subclasses of each class as linked lists: first[no] is the first subclass, and next[] links to
 * the others. The stack contains the classes whose subclasses are being placed. A recursive walk
 * could overflow on a hostile file.
 */
struct walk {
	uint32_t *first, *next, *stack;
	uint8_t *placed;
};

/*
 * Places a class and all its subclasses. A class may be listed below a superclass that is part of a
 * cycle, so a class that has already been placed is skipped.
 */
static void walk_from(struct class_tree *tree, struct walk *w, uint32_t root, uint32_t *at)
{
	uint32_t depth = 0;

	w->stack[depth++] = root;
	w->placed[root] = 1;
	place(tree, root, STORE_NONE, at);
	while (depth) {
		const uint32_t no = w->stack[depth - 1];
		const uint32_t sub = w->first[no];

		if (sub == STORE_NONE) {
			depth--;
			continue;
		}
		w->first[no] = w->next[sub];
		if (w->placed[sub])
			continue;
		w->placed[sub] = 1;
		place(tree, sub, no, at);
		w->stack[depth++] = sub;
	}
}

static void free_walk(struct walk *w)
{
	free(w->first);
	free(w->next);
	free(w->stack);
	free(w->placed);
}

static int walk_all(struct class_tree *tree, const struct heap *heap, struct hdb_error *err)
{
	BASE_SCOPED(free_walk) struct walk w = { 0 };
	uint32_t at = 0;

	TRY(BASE_ALLOC(w.first, tree->count, "the tree of classes", err));
	TRY(BASE_ALLOC(w.next, tree->count, "the tree of classes", err));
	TRY(BASE_ALLOC(w.stack, tree->count, "the tree of classes", err));
	TRY(BASE_ALLOC(w.placed, tree->count, "the tree of classes", err));
	memset(w.first, 0xff, tree->count * sizeof(*w.first));
	for (uint32_t no = tree->count; no-- > 0;) {
		const uint32_t super = heap_class(heap, no)->super_no;

		if (super == STORE_NONE)
			continue;
		w.next[no] = w.first[super];
		w.first[super] = no;
	}
	for (uint32_t no = 0; no < tree->count; no++)
		if (heap_class(heap, no)->super_no == STORE_NONE)
			walk_from(tree, &w, no, &at);
	/*
	 * Classes that have not been placed are on cycles, which exist only in a damaged database.
	 * Starting at any class of a cycle cuts the cycle.
	 */
	for (uint32_t no = 0; no < tree->count; no++)
		if (!w.placed[no])
			walk_from(tree, &w, no, &at);
	assert(at == tree->count);
	return HDB_OK;
}

/*
 * Builds the tree. A backward walk through the preorder visits subclasses before superclasses, and
 * propagates the end of each subtree upwards.
 */
int derive_class_tree_init(struct class_tree *tree, const struct heap *heap, struct hdb_error *err)
{
	TRY(make_arrays(tree, heap->class_count, err));
	TRY(walk_all(tree, heap, err));
	for (uint32_t i = tree->count; i-- > 0;) {
		const uint32_t no = tree->order[i], parent = tree->parent[no];

		if (parent != STORE_NONE && tree->last[no] > tree->last[parent])
			tree->last[parent] = tree->last[no];
	}
	return HDB_OK;
}

/* ---- open classes ---- */

/*
 * Opens a class. Nested objects may open a class several times. Only the first time changes the
 * bitmap.
 */
void derive_class_tree_open(struct class_tree *tree, uint32_t no)
{
	uint32_t at = tree->pre[no];

	if (tree->open[no]++)
		return;
	for (unsigned i = 0; i < CLASS_TREE_LEVELS; i++, at /= 64)
		base_bit_put(tree->levels[i], at);
}

/* Closes a class: clears its bit, and the bits of higher levels whose words become empty. */
void derive_class_tree_close(struct class_tree *tree, uint32_t no)
{
	uint32_t at = tree->pre[no];

	if (--tree->open[no])
		return;
	for (unsigned i = 0; i < CLASS_TREE_LEVELS; i++, at /= 64) {
		base_bit_drop(tree->levels[i], at);
		if (tree->levels[i][at / 64])
			break;
	}
}

/* Returns the first open place at or after `at`, or STORE_NONE. */
static uint32_t open_from(const struct class_tree *tree, uint32_t at)
{
	for (unsigned i = 0; i < CLASS_TREE_LEVELS; i++) {
		const uint64_t word = tree->levels[i][at / 64] >> (at & 63);

		if (word) {
			at += (uint32_t)__builtin_ctzll(word);
			while (i-- > 0)
				at = at * 64 + (uint32_t)__builtin_ctzll(tree->levels[i][at]);
			return at;
		}
		/*
		 * The word contains no open place, so continue with the next word, one level up.
		 * Each level has one additional word, so the index stays in bounds.
		 */
		at = at / 64 + 1;
	}
	return STORE_NONE;
}

/* Returns the last open place before `at`, or STORE_NONE. */
static uint32_t open_before(const struct class_tree *tree, uint32_t at)
{
	for (unsigned i = 0; i < CLASS_TREE_LEVELS; i++) {
		const uint64_t word = at & 63 ? tree->levels[i][at / 64] << (64 - (at & 63)) : 0;

		if (word) {
			at -= 1 + (uint32_t)__builtin_clzll(word);
			while (i-- > 0)
				at = at * 64 + 63 - (uint32_t)__builtin_clzll(tree->levels[i][at]);
			return at;
		}
		at /= 64;
	}
	return STORE_NONE;
}

/*
 * Returns the lowest class among `no` and its superclasses whose subtree contains the place `at`.
 */
static uint32_t common(const struct class_tree *tree, uint32_t no, uint32_t at)
{
	while (at < tree->pre[no] || at > tree->last[no]) {
		const uint32_t jump = tree->jump[no];

		if (at < tree->pre[jump] || at > tree->last[jump]) {
			if (jump == no)
				return STORE_NONE;
			no = jump;
		} else {
			no = tree->parent[no];
		}
	}
	return no;
}

/*
 * Returns the first class among `no` and its superclasses that is open or has an open subclass. Of
 * the open classes before and after `no` in preorder, the nearest one on each side has the deepest
 * common superclass with `no`, so only these two are examined. The result is the deeper of the two
 * common superclasses.
 */
uint32_t derive_class_tree_covered(const struct class_tree *tree, uint32_t no)
{
	uint32_t places[2], best = STORE_NONE;

	if (tree->open[no])
		return no;
	places[0] = open_from(tree, tree->pre[no]);
	places[1] = open_before(tree, tree->pre[no]);
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t found =
			places[i] == STORE_NONE ? STORE_NONE : common(tree, no, places[i]);

		if (found != STORE_NONE &&
		    (best == STORE_NONE || tree->depth[found] > tree->depth[best]))
			best = found;
	}
	return best;
}

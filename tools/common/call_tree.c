/*
 * common/call_tree.c - a tree of names with what was sampled below each. A node comes after its
 * parent, so one sweep from the last to the first adds up.
 */
#include "common/call_tree.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void call_tree_add(uint64_t *sum, uint64_t more)
{
	*sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

void call_node_add(struct call_node *sum, const struct call_node *more)
{
	call_tree_add(&sum->count, more->count);
	call_tree_add(&sum->bytes, more->bytes);
	call_tree_add(&sum->all_count, more->all_count);
	call_tree_add(&sum->all_bytes, more->all_bytes);
}

static size_t slot_of(const struct call_tree *t, uint32_t parent, const char *name)
{
	uint64_t h = 0xcbf29ce484222325u ^ parent;

	for (const char *p = name; *p; p++)
		h = (h ^ (uint8_t)*p) * 0x100000001b3u;
	h = (h ^ h >> 31) * 0x94d049bb133111ebu;
	return (size_t)(h ^ h >> 29) & (t->slot_count - 1);
}

/* Where the node is, or the free slot where it would be. */
static uint32_t *find(const struct call_tree *t, uint32_t parent, const char *name)
{
	size_t slot = slot_of(t, parent, name);

	for (; t->slots[slot]; slot = (slot + 1) & (t->slot_count - 1)) {
		const struct call_node *node = &t->nodes[t->slots[slot]];

		if (node->parent == parent && strcmp(node->name, name) == 0)
			break;
	}
	return &t->slots[slot];
}

/* Room for one node more, and twice as many slots. */
static bool grow(struct call_tree *t)
{
	const size_t slots = t->slot_count ? t->slot_count * 2 : 1024;

	if (base_vec_reserve(&t->vec, 1, sizeof(*t->nodes), NULL) < 0)
		return false;
	if (t->count == 0)
		t->nodes[t->count++] = (struct call_node){ 0 };
	if (t->count * 2 < t->slot_count)
		return true;
	free(t->slots);
	t->slot_count = slots;
	t->slots = calloc(slots, sizeof(*t->slots));
	for (uint32_t i = 1; t->slots && i < t->count; i++)
		*find(t, t->nodes[i].parent, t->nodes[i].name) = i;
	return t->slots != NULL;
}

int call_tree_child(struct call_tree *tree, uint32_t parent, const char *name, uint32_t *node,
		    struct hdb_error *err)
{
	uint32_t *slot;
	char *copy;

	if (!grow(tree))
		return hdb_fail(err, HDB_ENOMEM, "no memory for call stacks");
	slot = find(tree, parent, name);
	*node = *slot;
	if (*node)
		return HDB_OK;
	if (tree->count >= CALL_TREE_MAX)
		return hdb_fail(err, HDB_ELIMIT, "more than %u different frames of call stacks",
				CALL_TREE_MAX);
	copy = strdup(name);
	if (!copy)
		return hdb_fail(err, HDB_ENOMEM, "no memory for call stacks");
	*node = *slot = (uint32_t)tree->count;
	tree->nodes[tree->count++] = (struct call_node){
		.name = copy, .parent = parent, .level = parent ? tree->nodes[parent].level + 1 : 0
	};
	return HDB_OK;
}

/* By parent; of one parent's the smallest first, as they go on a stack. */
static int compare(const void *a, const void *b, void *tree)
{
	const struct call_node *nodes = ((const struct call_tree *)tree)->nodes;
	const struct call_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return strcmp(y->name, x->name);
}

/* `sorted` and `stack` have an entry a node, `first` one more. */
static void walk(struct call_tree *t, const uint32_t *sorted, uint32_t *first, uint32_t *stack)
{
	const uint32_t count = (uint32_t)t->count - 1;
	uint32_t used = 0, done = 0, node = 0;

	for (uint32_t i = 0; i < count; i++)
		first[t->nodes[sorted[i]].parent + 1]++;
	for (uint32_t i = 0; i <= count; i++)
		first[i + 1] += first[i];
	for (;;) {
		for (uint32_t i = first[node]; i < first[node + 1]; i++)
			stack[used++] = sorted[i];
		if (used == 0)
			break;
		node = stack[--used];
		t->order[done++] = node;
	}
}

int call_tree_sum(struct call_tree *tree, struct hdb_error *err)
{
	const size_t count = tree->count ? tree->count - 1 : 0;
	uint32_t *room = calloc(3 * count + 3, sizeof(*room));

	tree->order = malloc((count + 1) * sizeof(*tree->order));
	if (!tree->order || !room) {
		free(room);
		return hdb_fail(err, HDB_ENOMEM, "no memory for call stacks");
	}
	for (size_t i = count; i > 0; i--) {
		call_node_add(&tree->nodes[tree->nodes[i].parent], &tree->nodes[i]);
		room[i - 1] = (uint32_t)i;
	}
	if (count) {
		qsort_r(room, count, sizeof(*room), compare, tree);
		walk(tree, room, room + 2 * count, room + count);
	}
	free(room);
	return HDB_OK;
}

void call_tree_release(struct call_tree *tree)
{
	for (size_t i = 1; i < tree->count; i++)
		free(tree->nodes[i].name);
	base_vec_release(&tree->vec);
	free(tree->slots);
	free(tree->order);
	*tree = (struct call_tree){ 0 };
}

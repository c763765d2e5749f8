/* base/name_tree.c - trees whose branches are merged by name. */
#include "base/name_tree.h"

#include "base/error.h"
#include "base/scope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/*
 * Number of hash seeds tried for a name. More seeds would be needed only after this many collisions
 * in a row.
 */
#define HASH_TRIES 16

/* ---- names ---- */

/* Replaces the text with an owned copy. */
static int copy_text(struct base_names *names, struct base_name *name, struct hdb_error *err)
{
	char *copy = malloc(name->size + 1);

	if (!copy)
		return hdb_fail_memory(err, "a name", name->size);
	memcpy(copy, name->text, name->size);
	copy[name->size] = '\0';
	name->text = copy;
	if (base_vec_push(&names->copies, &copy, sizeof(copy), err) == HDB_OK)
		return HDB_OK;
	free(copy);
	return HDB_ENOMEM;
}

static int add_name(struct base_names *names, struct base_name name, bool is_lent, uint64_t hash,
		    struct hdb_error *err)
{
	const uint32_t no = (uint32_t)names->list.count;

	if (no >= BASE_NAMES_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many names in a tree (limit %u)",
				BASE_NAMES_MAX);
	if (!is_lent)
		TRY(copy_text(names, &name, err));
	TRY(base_vec_push(&names->list, &name, sizeof(name), err));
	return base_idmap_put(&names->by_hash, hash, no, err);
}

/*
 * Finds a name. If the name is new, finds a free hash for the name and sets *no to BASE_IDMAP_NONE.
 * If two names have the same hash, another seed is tried, so the map needs only one entry per hash.
 * Returns false if all seeds collide.
 */
static bool find_name(const struct base_names *names, const struct base_name *name, uint64_t *hash,
		      uint32_t *no)
{
	for (uint64_t try = 0; try < HASH_TRIES; try++) {
		const struct base_name *there;

		*hash = XXH3_64bits_withSeed(name->text, name->size,
					     base_hash_seed() + HASH_TRIES * name->kind + try);
		*no = base_idmap_get(&names->by_hash, *hash);
		if (*no == BASE_IDMAP_NONE)
			return true;
		there = base_vec_at(&names->list, struct base_name, *no);
		if (there->kind == name->kind && there->size == name->size &&
		    memcmp(there->text, name->text, name->size) == 0)
			return true;
	}
	return false;
}

int base_names_add(struct base_names *names, const struct base_name *name, bool is_lent,
		   uint32_t *no, struct hdb_error *err)
{
	uint64_t hash;

	if (!find_name(names, name, &hash, no))
		return hdb_fail(err, HDB_ELIMIT, "too many names in a tree have the same hash");
	if (*no != BASE_IDMAP_NONE)
		return HDB_OK;
	*no = (uint32_t)names->list.count;
	return add_name(names, *name, is_lent, hash, err);
}

bool base_names_has(const struct base_names *names, const struct base_name *name)
{
	uint64_t hash;
	uint32_t no;

	return find_name(names, name, &hash, &no) && no != BASE_IDMAP_NONE;
}

void base_names_release(struct base_names *names)
{
	for (size_t i = 0; i < names->copies.count; i++)
		free(*base_vec_at(&names->copies, char *, i));
	base_vec_release(&names->copies);
	base_vec_release(&names->list);
	base_idmap_release(&names->by_hash);
}

/* ---- nodes ---- */

static uint64_t place_of(uint32_t parent, uint32_t name)
{
	return (uint64_t)(parent + 1) << 32 | name;
}

uint32_t base_tree_child(struct base_tree *tree, uint32_t parent, uint32_t name)
{
	uint32_t node;

	assert(parent == BASE_TREE_TOP || parent < tree->nodes.count);
	if (parent != BASE_TREE_TOP) {
		const uint32_t hint = base_tree_node(tree, parent)->hint;

		if (hint != BASE_TREE_TOP && base_tree_node(tree, hint)->name == name)
			return hint;
	}
	node = base_idmap_get(&tree->by_place, place_of(parent, name));
	static_assert(BASE_IDMAP_NONE == BASE_TREE_TOP, "a look-up finds nothing");
	if (node != BASE_TREE_TOP && parent != BASE_TREE_TOP)
		base_tree_node(tree, parent)->hint = node;
	return node;
}

int base_tree_add(struct base_tree *tree, uint32_t parent, uint32_t name, uint32_t *node,
		  struct hdb_error *err)
{
	const struct base_tree_node added = {
		.parent = parent,
		.name = name,
		.depth = parent == BASE_TREE_TOP ? 0 : base_tree_node(tree, parent)->depth + 1,
		.hint = BASE_TREE_TOP,
	};

	assert(base_tree_child(tree, parent, name) == BASE_TREE_TOP);
	*node = (uint32_t)tree->nodes.count;
	assert(*node < BASE_TREE_TOP);
	TRY(base_vec_push(&tree->nodes, &added, sizeof(added), err));
	if (parent != BASE_TREE_TOP)
		base_tree_node(tree, parent)->hint = *node;
	return base_idmap_put(&tree->by_place, place_of(parent, name), *node, err);
}

void base_tree_release(struct base_tree *tree)
{
	base_vec_release(&tree->nodes);
	base_idmap_release(&tree->by_place);
}

/* ---- order ---- */

static int compare_siblings(const void *a, const void *b, void *list)
{
	const struct base_tree_list *l = list;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const int order = l->compare(l->ctx, x, y);

	return order ? order : x < y ? -1 : 1;
}

/*
 * The listed nodes grouped by parent. The children of node p are children[first[p]] to
 * children[first[p + 1] - 1].
 */
struct families {
	uint32_t *first; /* one entry per node, one for the top level, and two more */
	uint32_t *children;
};

/* Returns the index of a node's parent in first[]. The top level comes after the last node. */
static size_t family_of(const struct base_tree *tree, uint32_t node)
{
	const uint32_t parent = base_tree_node(tree, node)->parent;

	return parent == BASE_TREE_TOP ? tree->nodes.count : parent;
}

static bool is_listed(const struct base_tree *tree, const struct base_tree_list *list,
		      uint32_t node)
{
	return base_tree_node(tree, node)->depth <= list->max_depth &&
	       (!list->is_listed || list->is_listed[node]);
}

static void sort_families(const struct base_tree *tree, const struct base_tree_list *list,
			  struct families *f)
{
	const uint32_t n = (uint32_t)tree->nodes.count;
	struct base_tree_list by = *list;

	for (uint32_t v = 0; v < n; v++)
		if (is_listed(tree, list, v))
			f->first[family_of(tree, v) + 2]++;
	for (size_t p = 0; p <= n; p++)
		f->first[p + 2] += f->first[p + 1];
	for (uint32_t v = 0; v < n; v++)
		if (is_listed(tree, list, v))
			f->children[f->first[family_of(tree, v) + 1]++] = v;
	for (size_t p = 0; p <= n; p++)
		if (f->first[p + 1] - f->first[p] > 1)
			qsort_r(f->children + f->first[p], f->first[p + 1] - f->first[p],
				sizeof(*f->children), compare_siblings, &by);
}

int base_tree_order(const struct base_tree *tree, const struct base_tree_list *list,
		    uint32_t **order, size_t *count, struct hdb_error *err)
{
	const size_t n = tree->nodes.count;
	BASE_FREED uint32_t *first = NULL;
	BASE_FREED uint32_t *children = NULL;
	BASE_FREED uint32_t *stack = NULL;
	struct families f;
	size_t used = 0, at = n;

	*count = 0;
	TRY(BASE_ALLOC(*order, n + 1, "the order of a tree", err));
	TRY(BASE_ALLOC(first, n + 3, "the order of a tree", err));
	TRY(BASE_ALLOC(children, n + 1, "the order of a tree", err));
	TRY(BASE_ALLOC(stack, n + 1, "the order of a tree", err));
	f = (struct families){ first, children };
	sort_families(tree, list, &f);
	for (;;) {
		for (uint32_t i = first[at + 1]; i-- > first[at];)
			stack[used++] = children[i];
		if (!used)
			break;
		at = stack[--used];
		(*order)[(*count)++] = (uint32_t)at;
	}
	assert(*count == first[n + 1]); /* the parent of each listed node is listed too */
	return HDB_OK;
}

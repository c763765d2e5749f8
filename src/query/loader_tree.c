/*
 * query/loader_tree.c - finds class loaders and their parents, and puts them in the order of a
 * tree.
 */
#include "query/coverage.h"
#include "query/loader_tree.h"

#include "heap/values/values.h"

#include <stdlib.h>
#include <string.h>

/* Parents of a loader that are followed; more are a circle. */
#define DEPTH_MAX 1000u
/* Loaders that are listed; more are no class loaders but something broken. */
#define LOADERS_MAX 4000000u

uint32_t query_loader_number(const struct query_loader_tree *tree, uint32_t ix)
{
	size_t low = 0, high = tree->all.count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (query_loader_at(tree, (uint32_t)mid)->ix < ix)
			low = mid + 1;
		else
			high = mid;
	}
	return low < tree->all.count && query_loader_at(tree, (uint32_t)low)->ix == ix ?
		       (uint32_t)low :
		       QUERY_NO_LOADER;
}

/* ---- finding them ---- */

/* Instances of java.lang.ClassLoader, whatever classes name as their loader, the boot loader. */
static int find_loaders(struct query *q, struct query_loader_tree *tree, struct hdb_error *err)
{
	struct heap *heap = q->heap;
	struct heap_block *block = malloc(sizeof(*block));
	uint8_t *is_loader = calloc((size_t)heap->class_count + 1, 1);
	uint8_t *is_named = calloc((size_t)heap->object_count / 8 + 1, 1);
	int r = block && is_loader && is_named ?
			HDB_OK :
			hdb_fail_memory(err, "class loaders", sizeof(*block));

	for (uint32_t no = 0; r == HDB_OK && no < heap->class_count; no++) {
		const uint32_t ix = heap_class(heap, no)->loader_ix;

		is_loader[no] = heap_has_superclass(heap, no, "java.lang.ClassLoader");
		is_named[ix >> 3] |= (uint8_t)(1u << (ix & 7));
	}
	if (r == HDB_OK)
		is_named[HEAP_BOOT_LOADER >> 3] |= 1u << (HEAP_BOOT_LOADER & 7);
	base_stage(q->work, "finding class loaders", heap->object_count, "objects");
	for (uint32_t b = 0; r == HDB_OK && b < heap_block_count(heap); b++) {
		r = heap_read_block(heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++) {
			const uint32_t ix = block->first_ix + i;
			const struct query_loader loader = { .ix = ix, .parent = QUERY_NO_LOADER };

			if (!(is_named[ix >> 3] >> (ix & 7) & 1) &&
			    (block->kind[i] != STORE_INSTANCE || !is_loader[block->class_no[i]]))
				continue;
			if (tree->all.count == LOADERS_MAX)
				r = hdb_fail(err, HDB_ELIMIT, "more than %u class loaders",
					     LOADERS_MAX);
			if (r == HDB_OK)
				r = base_vec_push(&tree->all, &loader, sizeof(loader), err);
		}
		if (r == HDB_OK)
			r = base_step(q->work, block->first_ix, err);
	}
	free(is_named);
	free(is_loader);
	free(block);
	return r;
}

/* Parents, by a field of java.lang.ClassLoader; without the dump nothing is known of them. */
static int find_parents(struct query *q, struct query_loader_tree *tree, struct hdb_error *err)
{
	for (uint32_t no = 1; no < tree->all.count; no++) {
		struct query_loader *loader = query_loader_at(tree, no);
		uint32_t parent;
		const int r = heap_field_object(q->heap, loader->ix, "java.lang.ClassLoader",
						"parent", &parent, err);

		if (r == HDB_ECHANGED) {
			if (err)
				*err = (struct hdb_error){ 0 };
			return query_cut(
				q, NULL, err,
				"parents and names of class loaders, which only the dump has: "
				"it is not there");
		}
		if (r < 0)
			return r;
		loader->parent = r == HDB_OK ? query_loader_number(tree, parent) : 0;
	}
	return HDB_OK;
}

/* How many parents each has; one in a circle has none. */
static void find_levels(struct query_loader_tree *tree)
{
	for (uint32_t no = 0; no < tree->all.count; no++) {
		uint32_t level = 0;

		for (uint32_t v = query_loader_at(tree, no)->parent;
		     v != QUERY_NO_LOADER && level <= DEPTH_MAX; level++)
			v = query_loader_at(tree, v)->parent;
		if (level > DEPTH_MAX) {
			query_loader_at(tree, no)->parent = QUERY_NO_LOADER;
			level = 0;
		}
		query_loader_at(tree, no)->level = level;
	}
}

struct child {
	uint32_t parent, no;
	uint64_t retained_bytes;
};

static int compare_children(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->retained_bytes != y->retained_bytes)
		return x->retained_bytes > y->retained_bytes ? -1 : 1;
	return x->no < y->no ? -1 : x->no > y->no;
}

static size_t find_children(const struct child *children, size_t count, uint32_t parent)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (children[mid].parent < parent)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int query_loaders_order(struct query_loader_tree *tree, struct hdb_error *err)
{
	const size_t n = tree->all.count;
	struct child *children = malloc((n + 1) * sizeof(*children));
	size_t stack[DEPTH_MAX + 2], depth = 0;

	tree->order = malloc((n + 1) * sizeof(*tree->order));
	if (!children || !tree->order) {
		free(children);
		return hdb_fail_memory(err, "class loaders", n * sizeof(*children));
	}
	for (uint32_t no = 0; no < n; no++)
		children[no] = (struct child){ query_loader_at(tree, no)->parent, no,
					       no ? query_loader_at(tree, no)->retained_bytes :
						    UINT64_MAX };
	if (n)
		qsort(children, n, sizeof(*children), compare_children);
	stack[0] = find_children(children, n, QUERY_NO_LOADER);
	for (;;) {
		const uint32_t parent = depth ? children[stack[depth - 1] - 1].no : QUERY_NO_LOADER;
		const size_t at = stack[depth]++;

		if (at >= n || children[at].parent != parent) {
			if (!depth--)
				break;
			continue;
		}
		tree->order[tree->count++] = children[at].no;
		if (depth <= DEPTH_MAX)
			stack[++depth] = find_children(children, n, children[at].no);
	}
	free(children);
	return HDB_OK;
}

int query_loaders_find(struct query *q, struct query_loader_tree *tree, struct hdb_error *err)
{
	int r = find_loaders(q, tree, err);

	if (r == HDB_OK)
		r = find_parents(q, tree, err);
	find_levels(tree);
	return r;
}

void query_loaders_release(struct query_loader_tree *tree)
{
	base_vec_release(&tree->all);
	free(tree->order);
	*tree = (struct query_loader_tree){ 0 };
}

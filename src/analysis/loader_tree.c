/*
 * analysis/loader_tree.c - finds class loaders and their parents, and arranges them as a tree.
 */
#include "analysis/loader_tree.h"

#include "base/bits.h"
#include "base/search.h"
#include "base/sort.h"
#include "heap/values/values.h"

#include <assert.h>
#include <stdlib.h>

/* Maximum depth of the tree. A longer chain of parents must be a cycle. */
#define DEPTH_MAX 1000u
/* Maximum number of class loaders. A heap with more class loaders is damaged. */
#define LOADERS_MAX 4000000u

uint32_t analysis_loader_number(const struct analysis_loader_tree *tree, uint32_t ix)
{
	struct base_search search = base_search_in(tree->all.count);

	while (base_search_next(&search))
		base_search_step(&search, analysis_loader_at(tree, (uint32_t)search.mid)->ix < ix);
	return search.low < tree->all.count &&
			       analysis_loader_at(tree, (uint32_t)search.low)->ix == ix ?
		       (uint32_t)search.low :
		       ANALYSIS_NO_LOADER;
}

/* ---- finding them ---- */

/* State of the pass that finds class loaders. */
struct finding {
	struct analysis_loader_tree *tree;
	const uint8_t *is_loader; /* indexed by class */
	const uint64_t *is_named; /* one bit per object */
};

static int look_for_loaders(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct finding *f = ctx;

	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t ix = block->first_ix + i;
		const struct analysis_loader loader = { .ix = ix, .parent = ANALYSIS_NO_LOADER };

		if (!base_bit_has(f->is_named, ix) &&
		    (block->kind[i] != STORE_INSTANCE || !f->is_loader[block->class_no[i]]))
			continue;
		if (f->tree->all.count == LOADERS_MAX)
			return hdb_fail(err, HDB_ELIMIT, "too many class loaders (limit %u)",
					LOADERS_MAX);
		TRY(base_vec_push(&f->tree->all, &loader, sizeof(loader), err));
	}
	return HDB_OK;
}

/*
 * Finds the class loaders: the instances of java.lang.ClassLoader, all objects that classes have as
 * their class loader, and the boot loader.
 */
static int find_loaders(const struct session *session, struct analysis_loader_tree *tree,
			struct hdb_error *err)
{
	struct heap *heap = session->heap;
	BASE_FREED uint8_t *is_loader = calloc((size_t)heap->class_count + 1, 1);
	BASE_FREED uint64_t *is_named =
		calloc(base_bit_words(heap->object_count) + 1, sizeof(*is_named));

	if (!is_loader || !is_named)
		return hdb_fail_memory(err, "class loaders", heap->object_count / 8);
	for (uint32_t no = 0; no < heap->class_count; no++) {
		const uint32_t ix = heap_class(heap, no)->loader_ix;

		is_loader[no] = heap_has_superclass(heap, no, "java.lang.ClassLoader");
		base_bit_put(is_named, ix);
	}
	base_bit_put(is_named, HEAP_BOOT_LOADER);
	base_stage(session->work, "finding class loaders", heap->object_count, "objects");
	return heap_each_block(heap, session->work, look_for_loaders,
			       &(struct finding){ tree, is_loader, is_named }, err);
}

/*
 * Reads the parents from a field of java.lang.ClassLoader. If the dump is missing, the parents are
 * unknown, which is not a failure. A null parent stands for the boot loader.
 */
static int find_parents(const struct session *session, struct analysis_loader_tree *tree,
			struct hdb_error *err)
{
	for (uint32_t no = 1; no < tree->all.count; no++) {
		struct analysis_loader *loader = analysis_loader_at(tree, no);
		uint32_t parent;
		const int r = heap_field_object(
			session->heap, loader->ix,
			(struct heap_field_name){ "java.lang.ClassLoader", "parent" }, &parent,
			err);

		if (r == HDB_ECHANGED) {
			if (err)
				*err = (struct hdb_error){ 0 };
			tree->has_no_parents = true;
			return HDB_OK;
		}
		TRY_ERRORS(r);
		loader->parent = r == HDB_OK ? analysis_loader_number(tree, parent) : 0;
	}
	return HDB_OK;
}

/* Computes the level of each class loader. In a cycle, one class loader loses its parent. */
static void find_levels(struct analysis_loader_tree *tree)
{
	assert(tree->all.count <= LOADERS_MAX);
	for (uint32_t no = 0; no < tree->all.count; no++) {
		uint32_t level = 0;

		for (uint32_t v = analysis_loader_at(tree, no)->parent;
		     v != ANALYSIS_NO_LOADER && level <= DEPTH_MAX; level++)
			v = analysis_loader_at(tree, v)->parent;
		if (level > DEPTH_MAX) {
			analysis_loader_at(tree, no)->parent = ANALYSIS_NO_LOADER;
			level = 0;
		}
		analysis_loader_at(tree, no)->level = level;
	}
}

struct child {
	uint32_t parent, no;
	uint64_t retained_bytes;
};

/* Sorts by parent, then by retained size. The boot loader is treated as the largest. */
BASE_ORDER(compare_children, struct child, BASE_UP(parent), BASE_DOWN(retained_bytes), BASE_UP(no))

static size_t find_children(const struct child *children, size_t count, uint32_t parent)
{
	struct base_search search = base_search_in(count);

	assert(children || !count);
	while (base_search_next(&search))
		base_search_step(&search, children[search.mid].parent < parent);
	return search.low;
}

int analysis_loaders_order(struct analysis_loader_tree *tree, struct hdb_error *err)
{
	const size_t n = tree->all.count;
	struct child *children = malloc((n + 1) * sizeof(*children));
	size_t stack[DEPTH_MAX + 2], depth = 0;

	assert(!tree->order);
	tree->order = malloc((n + 1) * sizeof(*tree->order));
	if (!children || !tree->order) {
		free(children);
		return hdb_fail_memory(err, "class loaders", n * sizeof(*children));
	}
	for (uint32_t no = 0; no < n; no++)
		children[no] = (struct child){ analysis_loader_at(tree, no)->parent, no,
					       no ? analysis_loader_at(tree, no)->retained_bytes :
						    UINT64_MAX };
	if (n)
		qsort(children, n, sizeof(*children), compare_children);
	stack[0] = find_children(children, n, ANALYSIS_NO_LOADER);
	for (;;) {
		const uint32_t parent =
			depth ? children[stack[depth - 1] - 1].no : ANALYSIS_NO_LOADER;
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

int analysis_loaders_find(const struct session *session, struct analysis_loader_tree *tree,
			  struct hdb_error *err)
{

	TRY_ERRORS(find_loaders(session, tree, err));
	TRY(find_parents(session, tree, err));
	find_levels(tree);
	return HDB_OK;
}

void analysis_loaders_release(struct analysis_loader_tree *tree)
{
	base_vec_release(&tree->all);
	free(tree->order);
	*tree = (struct analysis_loader_tree){ 0 };
}

/* Reads the string in a class loader's field `name`. */
static int read_name(struct heap *heap, uint32_t ix, char *buf, size_t size, struct hdb_error *err)
{
	uint32_t name_ix;
	const int r = heap_field_object(heap, ix,
					(struct heap_field_name){ "java.lang.ClassLoader", "name" },
					&name_ix, err);

	return r != HDB_OK ? r : heap_string(heap, name_ix, buf, size, err);
}

int analysis_loader_name(struct heap *heap, uint32_t ix, char *buf, size_t size,
			 struct hdb_error *err)
{
	struct hdb_error own = { 0 };
	int r;

	assert(size > 0);
	buf[0] = '\0';
	if (ix == HEAP_BOOT_LOADER)
		return HDB_NOTFOUND;
	r = read_name(heap, ix, buf, size, &own);
	if (r == HDB_ECHANGED || r > 0) {
		buf[0] = '\0';
		return HDB_NOTFOUND;
	}
	if (r < 0 && err)
		*err = own;
	return r;
}

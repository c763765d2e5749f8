/*
 * query/merged_walk.c - the nodes of a merged tree in the order in which people read a tree.
 */
#include "query/merged.h"

#include <stdlib.h>
#include <string.h>

/* A node that is shown. */
struct shown {
	uint32_t parent, node;
	int64_t rank;
	const struct query_merged_name *name;
};

static int compare_names(const struct query_merged_name *a, const struct query_merged_name *b)
{
	const size_t n = a->size < b->size ? a->size : b->size;
	const int c = memcmp(a->text, b->text, n);

	if (c)
		return c;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return a->is_class - b->is_class;
}

/* By parent; under one parent the highest rank first, then by name. The top level is the last. */
static int compare_shown(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return compare_names(x->name, y->name);
}

/* Where the children of a node begin in shown[]. */
static size_t find_children(const struct shown *shown, size_t count, uint32_t parent)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (shown[mid].parent < parent)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Pre-order of what `shown`, sorted, has. */
static void put_order(const struct shown *shown, size_t count, struct query_merged_walk *out)
{
	size_t stack[QUERY_MERGED_DEPTH + 1], depth = 0;

	stack[0] = find_children(shown, count, QUERY_MERGED_TOP);
	for (;;) {
		const size_t at = stack[depth]++;
		const uint32_t parent = depth ? shown[stack[depth - 1] - 1].node : QUERY_MERGED_TOP;

		if (at >= count || shown[at].parent != parent) {
			if (!depth--)
				return;
			continue;
		}
		out->order[out->count++] = shown[at].node;
		if (depth < QUERY_MERGED_DEPTH)
			stack[++depth] = find_children(shown, count, shown[at].node);
	}
}

int query_merged_walk(const struct query_merged *m,
		      int64_t (*rank)(const struct query_merged *m, uint32_t node), int64_t low,
		      uint32_t max_depth, struct query_merged_walk *out, struct hdb_error *err)
{
	const size_t n = m->nodes.count;
	struct shown *shown = malloc((n + 1) * sizeof(*shown));
	bool *is_shown = calloc(n + 1, sizeof(*is_shown));
	size_t count = 0;

	*out = (struct query_merged_walk){ .order = malloc((n + 1) * sizeof(uint32_t)) };
	if (!shown || !is_shown || !out->order) {
		free(shown);
		free(is_shown);
		return hdb_fail_memory(err, "a merged tree", n * sizeof(*shown));
	}
	for (uint32_t v = (uint32_t)n; v-- > 0;) {
		const struct query_merged_node *node = query_merged_node(m, v);
		const int64_t r = rank(m, v);

		/* Children have higher numbers: what they are is known. */
		is_shown[v] = is_shown[v] || (r >= low && node->depth <= max_depth);
		if (!is_shown[v])
			continue;
		if (node->parent != QUERY_MERGED_TOP)
			is_shown[node->parent] = true;
		shown[count++] = (struct shown){
			node->parent, v, r,
			base_vec_at(&m->names, struct query_merged_name, node->name),
		};
	}
	if (count)
		qsort(shown, count, sizeof(*shown), compare_shown);
	put_order(shown, count, out);
	free(is_shown);
	free(shown);
	return HDB_OK;
}

void query_merged_walk_release(struct query_merged_walk *walk)
{
	free(walk->order);
	*walk = (struct query_merged_walk){ 0 };
}

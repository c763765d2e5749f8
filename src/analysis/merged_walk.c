/* analysis/merged_walk.c - puts the nodes of a merged tree in the order in which a tree is read. */
#include "analysis/merged.h"
#include "analysis/population.h"
#include "base/search.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A node to show. */
struct shown {
	uint32_t parent, node;
	int64_t rank;
	const struct analysis_merged_name *name;
};

/* Alphabetical; an instance's node comes before the class object's. */
static int compare_names(const struct analysis_merged_name *a, const struct analysis_merged_name *b)
{
	const size_t n = a->size < b->size ? a->size : b->size;
	const int c = memcmp(a->text, b->text, n);

	if (c)
		return c;
	BASE_ASCENDING(a->size, b->size);
	return a->is_class - b->is_class;
}

/*
 * By parent, then by rank, highest first, then by name. ANALYSIS_MERGED_TOP is the largest parent,
 * so the top level comes last.
 */
static int compare_shown(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	BASE_ASCENDING(x->parent, y->parent);
	BASE_DESCENDING(x->rank, y->rank);
	return compare_names(x->name, y->name);
}

/* Returns where the children of a node begin in shown[]. */
static size_t find_children(const struct shown *shown, size_t count, uint32_t parent)
{
	struct base_search search = base_search_in(count);

	while (base_search_next(&search))
		base_search_step(&search, shown[search.mid].parent < parent);
	return search.low;
}

/* ---- others ---- */

/*
 * Whether a node and everything below it are empty in all dumps: only its descendants were
 * filtered.
 */
static bool is_empty(const struct analysis_merged *m, uint32_t node)
{
	assert(node < m->nodes.count);
	for (unsigned d = 0; d < m->dump_count; d++)
		if (analysis_merged_sum(m, node, d)->total_count)
			return false;
	return true;
}

/*
 * Collects the rests. rest_of[node] becomes 1 + index of the rest below a node, 0 if there is none;
 * the entry after the last node is for the top level.
 */
static int add_rests(const struct analysis_merged *m, const bool *is_shown, uint32_t *rest_of,
		     struct analysis_merged_walk *out, struct hdb_error *err)
{
	const uint32_t n = (uint32_t)m->nodes.count;
	const struct analysis_merged_sum none = { .example_ix = HEAP_NONE };

	for (uint32_t v = 0; v < n; v++) {
		const struct analysis_merged_node *node = analysis_merged_node(m, v);
		const struct analysis_merged_sum *newest =
			analysis_merged_sum(m, v, m->dump_count - 1);
		struct analysis_cut *cut = node->depth > out->max_depth ? &out->deep : &out->small;
		const uint32_t above = node->parent == ANALYSIS_MERGED_TOP ? n : node->parent;
		struct analysis_merged_rest *rest;

		if (is_shown[v] || is_empty(m, v))
			continue;
		cut->rows++;
		cut->objects += newest->count;
		cut->bytes += newest->shallow_bytes;
		if (node->depth > out->max_depth || (above < n && !is_shown[above]))
			continue;
		if (!rest_of[above]) {
			const struct analysis_merged_rest new = { .depth = node->depth };

			TRY(base_vec_push(&out->rests, &new, sizeof(new), err));
			for (unsigned d = 0; d < m->dump_count; d++)
				TRY(base_vec_push(&out->sums, &none, sizeof(none), err));
			rest_of[above] = (uint32_t)out->rests.count;
		}
		rest = base_vec_at(&out->rests, struct analysis_merged_rest, rest_of[above] - 1);
		rest->nodes++;
		for (unsigned d = 0; d < m->dump_count; d++) {
			const struct analysis_merged_sum *from = analysis_merged_sum(m, v, d);
			struct analysis_merged_sum *to =
				base_vec_at(&out->sums, struct analysis_merged_sum,
					    (size_t)(rest_of[above] - 1) * m->dump_count + d);

			to->total_count += from->total_count;
			to->total_bytes += from->total_bytes;
			to->total_native += from->total_native;
		}
	}
	return HDB_OK;
}

const struct analysis_merged_sum *analysis_merged_others(const struct analysis_merged *m,
							 const struct analysis_merged_walk *walk,
							 const struct analysis_merged_step *step,
							 unsigned dump)
{
	return base_vec_at(&walk->sums, struct analysis_merged_sum,
			   (size_t)(step->others - 1) * m->dump_count + dump);
}

/* ---- order ---- */

/*
 * Writes the steps in preorder, each level with its rest at the end. `shown` is sorted by
 * compare_shown.
 */
static void put_order(const struct shown *shown, size_t count, const uint32_t *rest_of,
		      uint32_t top, struct analysis_merged_walk *out)
{
	size_t stack[ANALYSIS_MERGED_DEPTH + 1], depth = 0;

	stack[0] = find_children(shown, count, ANALYSIS_MERGED_TOP);
	for (;;) {
		const size_t at = stack[depth]++;
		const uint32_t parent =
			depth ? shown[stack[depth - 1] - 1].node : ANALYSIS_MERGED_TOP;
		const uint32_t rest = rest_of[depth ? parent : top];

		if (at >= count || shown[at].parent != parent) {
			if (rest)
				out->order[out->count++] =
					(struct analysis_merged_step){ parent, rest };
			if (!depth--)
				return;
			continue;
		}
		out->order[out->count++] = (struct analysis_merged_step){ shown[at].node, 0 };
		if (depth < ANALYSIS_MERGED_DEPTH)
			stack[++depth] = find_children(shown, count, shown[at].node);
	}
	assert(out->count == count + out->rests.count);
}

int analysis_merged_walk(const struct analysis_merged *m, const struct analysis_merged_worth *worth,
			 struct analysis_merged_walk *out, struct hdb_error *err)
{
	const size_t n = m->nodes.count;
	BASE_FREED struct shown *shown = malloc((n + 1) * sizeof(*shown));
	BASE_FREED bool *is_shown = calloc(n + 1, sizeof(*is_shown));
	BASE_FREED uint32_t *rest_of = calloc(n + 1, sizeof(*rest_of));
	size_t count = 0;

	assert(worth->max_depth <= ANALYSIS_MERGED_DEPTH);
	*out = (struct analysis_merged_walk){ .max_depth = worth->max_depth };
	if (!shown || !is_shown || !rest_of)
		return hdb_fail_memory(err, "a merged tree", n * sizeof(*shown));
	for (uint32_t v = (uint32_t)n; v-- > 0;) {
		const struct analysis_merged_node *node = analysis_merged_node(m, v);
		const int64_t weight = worth->rank(m, v);

		/*
		 * Nodes are visited from the last to the first, so children have already marked
		 * their parents.
		 */
		is_shown[v] =
			is_shown[v] || (weight >= worth->low && node->depth <= worth->max_depth);
		if (!is_shown[v])
			continue;
		if (node->parent != ANALYSIS_MERGED_TOP)
			is_shown[node->parent] = true;
		shown[count++] = (struct shown){
			node->parent,
			v,
			weight,
			base_vec_at(&m->names, struct analysis_merged_name, node->name),
		};
	}
	TRY(add_rests(m, is_shown, rest_of, out, err));
	TRY(BASE_ALLOC(out->order, count + out->rests.count + 1, "a merged tree", err));
	if (count)
		qsort(shown, count, sizeof(*shown), compare_shown);
	put_order(shown, count, rest_of, (uint32_t)n, out);
	return HDB_OK;
}

void analysis_merged_walk_release(struct analysis_merged_walk *walk)
{
	free(walk->order);
	base_vec_release(&walk->rests);
	base_vec_release(&walk->sums);
	*walk = (struct analysis_merged_walk){ 0 };
}

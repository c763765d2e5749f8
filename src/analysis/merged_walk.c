/*
 * analysis/merged_walk.c - sorts the nodes of a merged tree into the order in which they are shown.
 */
#include "analysis/merged.h"
#include "analysis/population.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How siblings are compared. */
struct ranking {
	const struct analysis_merged *m;
	int64_t (*rank)(const struct analysis_merged *m, uint32_t node);
};

/* Sorts alphabetically, with an instance's node before the class object's. */
static int compare_names(const struct base_name *a, const struct base_name *b)
{
	BASE_COMPARED(base_compare_text(a->text, a->size, b->text, b->size));
	return a->kind - b->kind;
}

/* Sorts by rank, highest first, then by name. */
static int compare_shown(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ranking *r = ctx;

	BASE_DESCENDING(r->rank(r->m, a), r->rank(r->m, b));
	return compare_names(analysis_merged_name(r->m, a), analysis_merged_name(r->m, b));
}

/* ---- others ---- */

/*
 * Returns whether a node and all nodes below it are empty in all dumps. This happens if a filter
 * has removed their objects.
 */
static bool is_empty(const struct analysis_merged *m, uint32_t node)
{
	assert(node < m->tree.nodes.count);
	for (unsigned d = 0; d < m->dump_count; d++)
		if (analysis_merged_sum(m, node, d)->total_count)
			return false;
	return true;
}

/*
 * Collects the rests. rest_of[node] becomes 1 + index of the rest below a node, or 0 if there is no
 * rest. The entry after the last node is for the top level.
 */
static int add_rests(const struct analysis_merged *m, const bool *is_shown, uint32_t *rest_of,
		     struct analysis_merged_walk *out, struct hdb_error *err)
{
	const uint32_t n = (uint32_t)m->tree.nodes.count;
	const struct analysis_merged_sum none = { .example_ix = HEAP_NONE };

	for (uint32_t v = 0; v < n; v++) {
		const struct base_tree_node *node = analysis_merged_node(m, v);
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

const struct analysis_merged_sum *analysis_merged_step_sum(const struct analysis_merged *m,
							   const struct analysis_merged_walk *walk,
							   const struct analysis_merged_step *step,
							   unsigned dump)
{
	return step->others ? base_vec_at(&walk->sums, struct analysis_merged_sum,
					  (size_t)(step->others - 1) * m->dump_count + dump) :
			      analysis_merged_sum(m, step->node, dump);
}

/* ---- order ---- */

/* Adds a step for the rest of a level, if there is a rest. */
static void add_rest(uint32_t above, uint32_t rest, struct analysis_merged_walk *out)
{
	if (rest)
		out->order[out->count++] = (struct analysis_merged_step){ above, rest };
}

/* Writes the steps. Each level ends with its rest. */
static int put_steps(const struct analysis_merged *m, const struct base_tree_list *list,
		     const uint32_t *rest_of, struct analysis_merged_walk *out,
		     struct hdb_error *err)
{
	BASE_FREED uint32_t *order = NULL;
	size_t count;
	uint32_t at = ANALYSIS_MERGED_TOP;

	TRY(base_tree_order(&m->tree, list, &order, &count, err));
	TRY(BASE_ALLOC(out->order, count + out->rests.count + 1, "a merged tree", err));
	for (size_t i = 0; i <= count; i++) {
		const uint32_t parent =
			i < count ? analysis_merged_node(m, order[i])->parent : ANALYSIS_MERGED_TOP;

		for (; at != parent; at = analysis_merged_node(m, at)->parent)
			add_rest(at, rest_of[at], out);
		if (i < count)
			out->order[out->count++] = (struct analysis_merged_step){ order[i], 0 };
		at = i < count ? order[i] : at;
	}
	add_rest(ANALYSIS_MERGED_TOP, rest_of[m->tree.nodes.count], out);
	assert(out->count == count + out->rests.count);
	return HDB_OK;
}

int analysis_merged_walk(const struct analysis_merged *m, const struct analysis_merged_worth *worth,
			 struct analysis_merged_walk *out, struct hdb_error *err)
{
	const size_t n = m->tree.nodes.count;
	BASE_FREED bool *is_shown = NULL;
	BASE_FREED uint32_t *rest_of = NULL;
	const struct ranking ranking = { m, worth->rank };
	struct base_tree_list list = { compare_shown, &ranking, NULL, worth->max_depth };

	assert(worth->max_depth <= ANALYSIS_MERGED_DEPTH);
	*out = (struct analysis_merged_walk){ .max_depth = worth->max_depth };
	TRY(BASE_ALLOC(is_shown, n + 1, "a merged tree", err));
	TRY(BASE_ALLOC(rest_of, n + 1, "a merged tree", err));
	/*
	 * Visits the nodes from last to first, so that children have already marked their parents.
	 */
	for (uint32_t v = (uint32_t)n; v-- > 0;) {
		const struct base_tree_node *node = analysis_merged_node(m, v);

		is_shown[v] = is_shown[v] ||
			      (node->depth <= worth->max_depth && worth->rank(m, v) >= worth->low);
		if (is_shown[v] && node->parent != ANALYSIS_MERGED_TOP)
			is_shown[node->parent] = true;
	}
	list.is_listed = is_shown;
	TRY(add_rests(m, is_shown, rest_of, out, err));
	return put_steps(m, &list, rest_of, out, err);
}

void analysis_merged_walk_release(struct analysis_merged_walk *walk)
{
	free(walk->order);
	base_vec_release(&walk->rests);
	base_vec_release(&walk->sums);
	*walk = (struct analysis_merged_walk){ 0 };
}

/*
 * graph/dominators/thinning.c - from a sample of edges to what is popular, and how many edges of it
 * are kept.
 */
#include "graph/dominators/thinning.h"

#include <assert.h>
#include <stdlib.h>

static uint64_t key_at(const struct base_vec *edges, size_t i)
{
	return base_vec_at(edges, struct base_sort_key, i)->key;
}

/* How many edges from i on have the same target, or, with all bits, the same kind, too. */
static size_t run_of(const struct base_vec *edges, size_t i, unsigned shift)
{
	size_t end = i + 1;

	while (end < edges->count && key_at(edges, end) >> shift == key_at(edges, i) >> shift)
		end++;
	return end - i;
}

/* So that so many of the edges are kept. */
static uint32_t keep_below(uint32_t kept, double edge_count)
{
	const double part = kept / edge_count;

	return part < 1 ? 1 + (uint32_t)(part * (UINT32_MAX - 1)) : UINT32_MAX;
}

/* Adds the pairs of a popular node, whose edges are [i, end); whether there are any. */
static bool add_pairs(struct graph_thinning *t, const struct graph_thinning_sample *sample,
		      size_t i, size_t end, uint32_t node_count)
{
	bool is_any = false;

	for (size_t count; i < end; i += count) {
		const uint64_t key = key_at(&sample->edges, i);
		const uint32_t kind = (uint32_t)key, target = (uint32_t)(key >> 32);
		struct graph_thin_pair *pair = &t->pairs[graph_thin_place(t, kind, target)];

		count = run_of(&sample->edges, i, 0);
		if (count < GRAPH_THIN_SAMPLED_MIN)
			continue;
		assert(!pair->keep_below);
		*pair = (struct graph_thin_pair){
			.kind = kind,
			.target = target,
			.keep_below =
				keep_below(GRAPH_THIN_KEPT,
					   (double)count * (double)node_count / sample->node_count),
		};
		t->popular_edges += count;
		is_any = true;
	}
	return is_any;
}

/* Room for all pairs that there may be, half of it empty. */
static int make_pairs(struct graph_thinning *t, size_t edge_count, struct hdb_error *err)
{
	size_t places = 16;

	while (places < 2 * edge_count / GRAPH_THIN_SAMPLED_MIN)
		places *= 2;
	t->pairs = calloc(places, sizeof *t->pairs);
	t->pair_mask = (uint32_t)places - 1;
	return t->pairs ? HDB_OK : hdb_fail_memory(err, "popular objects", places);
}

static int sort_sample(struct graph_thinning_sample *sample, struct hdb_error *err)
{
	struct base_sort_key *spare = calloc(sample->edges.count + 1, sizeof *spare);

	if (!spare)
		return hdb_fail_memory(err, "references", sample->edges.count);
	base_sort_keys(sample->edges.data, spare, sample->edges.count);
	free(spare);
	return HDB_OK;
}

static int add_classes(struct graph_thinning *t, const struct graph_thinning_sample *sample,
		       struct hdb_error *err)
{
	const struct graph_thin_class *class = sample->classes.data;
	int rc;

	t->class_keep = calloc((size_t)sample->class_count + 1, sizeof *t->class_keep);
	if (!t->class_keep)
		return hdb_fail_memory(err, "classes", sample->class_count);
	memset(t->class_keep, 0xff, ((size_t)sample->class_count + 1) * sizeof *t->class_keep);
	for (size_t i = 0; i < sample->classes.count; i++) {
		assert(class[i].class_no < sample->class_count);
		t->class_keep[class[i].class_no] =
			keep_below(GRAPH_THIN_CLASS_KEPT, (double)class[i].count);
		rc = base_vec_push(&t->classes, &class[i], sizeof class[i], err);
		if (rc != HDB_OK)
			return rc;
	}
	return HDB_OK;
}

/* Roots, until something else is special, too. */
static int copy_roots(struct graph_thinning *t, struct graph_thin_nodes nodes,
		      struct hdb_error *err)
{
	const uint64_t n = nodes.count;
	const int rc = base_big_alloc(t->work, &t->special_big, n / 8 + 8, "popular objects", err);

	if (rc != HDB_OK)
		return rc;
	t->special = t->special_big.data;
	memcpy(t->special, nodes.root_bits, (n + 63) / 64 * sizeof *t->special);
	return HDB_OK;
}

/* Which nodes are popular, by the sorted sample. */
static int add_popular(struct graph_thinning *t, const struct graph_thinning_sample *sample,
		       uint32_t node_count, struct hdb_error *err)
{
	const size_t edge_count = sample->edges.count;
	int rc;

	for (size_t i = 0, count; i < edge_count; i += count) {
		const uint32_t target = (uint32_t)(key_at(&sample->edges, i) >> 32);

		count = run_of(&sample->edges, i, 32);
		if (count < sample->node_count / GRAPH_POPULAR_PART ||
		    !add_pairs(t, sample, i, i + count, node_count))
			continue;
		t->special[target / 64] |= (uint64_t)1 << (target % 64);
		if ((rc = base_vec_push(&t->popular, &target, sizeof target, err)) != HDB_OK)
			return rc;
	}
	return HDB_OK;
}

int graph_thinning_init(struct graph_thinning *t, struct graph_thinning_sample *sample,
			struct graph_thin_nodes nodes, struct base_work *work,
			struct hdb_error *err)
{
	int rc;

	*t = (struct graph_thinning){ .work = work };
	if (!sample->edges.count && !sample->classes.count)
		return HDB_OK;
	if ((rc = sort_sample(sample, err)) != HDB_OK)
		return rc;
	if ((rc = add_classes(t, sample, err)) != HDB_OK)
		return rc;
	if ((rc = make_pairs(t, sample->edges.count, err)) != HDB_OK)
		return rc;
	if ((rc = copy_roots(t, nodes, err)) != HDB_OK)
		return rc;
	return add_popular(t, sample, nodes.count, err);
}

void graph_thinning_release(struct graph_thinning *t)
{
	if (!t->work)
		return;
	base_big_free(t->work, &t->special_big);
	base_vec_release(&t->popular);
	base_vec_release(&t->classes);
	free(t->class_keep);
	free(t->pairs);
	*t = (struct graph_thinning){ 0 };
}

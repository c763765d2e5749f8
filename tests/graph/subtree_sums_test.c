/*
 * tests/graph/subtree_sums_test.c - sums up trees of several shapes against sums made in the order
 * of a list, by one thread and by several, in memory and in a file; what is no tree; a path that
 * goes to and fro; cancelling.
 */
#include "support/graph_oracle.h"

#include "base/pipeline.h"
#include "graph/dominators/subtree_sums.h"

/* Nodes of a tree: with children they are several ranges; so many that zones fill their mail. */
#define NODES 400000u
#define NODES_MANY 3000000u
/* Nodes that are shown at once. */
#define SHOWN 4096u

enum shape {
	SHAPE_RANDOM, /* the parent is any node that comes before it in the list */
	SHAPE_PATH,   /* the one before it */
	SHAPE_TO_FRO, /* the same, and the list goes from one end of the nodes to the other */
	SHAPE_NEAR,   /* one of some before it */
	SHAPE_BROAD,  /* one of few */
	SHAPES
};

struct tree {
	uint32_t n;
	uint32_t *list;   /* nodes, parents first */
	uint32_t *parent; /* by node */
	uint64_t *size, *below;
};

static int start(void **state)
{
	(void)state;
	oracle_start();
	return 0;
}

/* Nodes in the order in which they get parents. */
static void order_nodes(struct tree *t, enum shape shape)
{
	const uint32_t n = t->n;

	for (uint32_t i = 0; i < n; i++)
		t->list[i] = shape != SHAPE_TO_FRO ? i : i % 2 ? n - 1 - i / 2 : i / 2;
	for (uint32_t i = n - 1; shape == SHAPE_RANDOM && i > 0; i--) {
		const uint32_t k = oracle_below(i + 1), v = t->list[i];

		t->list[i] = t->list[k];
		t->list[k] = v;
	}
}

static struct tree make_tree(uint32_t n, enum shape shape)
{
	struct tree t = { .n = n,
			  .list = oracle_alloc(n, sizeof *t.list),
			  .parent = oracle_alloc(n, sizeof *t.parent),
			  .size = oracle_alloc(n, sizeof *t.size),
			  .below = oracle_alloc(n, sizeof *t.below) };

	order_nodes(&t, shape);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t v = t.list[i], near = i < 100 ? i : 100;
		const uint32_t back = shape == SHAPE_RANDOM ? 1 + oracle_below(i ? i : 1) :
				      shape == SHAPE_NEAR   ? 1 + oracle_below(near ? near : 1) :
				      shape == SHAPE_BROAD  ? i - oracle_below(i < 9 ? i + 1 : 9) :
							      1;

		t.size[v] = 8 * (uint64_t)oracle_below(1 << 20);
		/* Some are below the virtual root, and some in no tree. */
		t.parent[v] = i == 0 || back == 0                 ? GRAPH_NONE :
			      shape < SHAPE_PATH && v % 5000 == 1 ? GRAPH_NONE :
								    t.list[i - back];
	}
	for (uint32_t i = n; i-- > 0;) {
		const uint32_t v = t.list[i];

		if (t.parent[v] != GRAPH_NONE)
			t.below[t.parent[v]] += t.below[v] + t.size[v];
	}
	return t;
}

static void free_tree(struct tree *t)
{
	free(t->list);
	free(t->parent);
	free(t->size);
	free(t->below);
}

struct showing {
	struct graph_subtree_sums *sums;
	const struct tree *tree;
	struct base_vec sizes[8]; /* by slot */
};

static int mark(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	const struct showing *x = ctx;
	const uint32_t first = (uint32_t)item * SHOWN;

	(void)slot;
	(void)err;
	graph_subtree_sums_mark(x->sums, first, x->tree->parent + first,
				x->tree->n - first < SHOWN ? x->tree->n - first : SHOWN);
	return HDB_OK;
}

static int add(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct showing *x = ctx;
	const uint32_t first = (uint32_t)item * SHOWN;
	const struct graph_tree_range range = {
		.first = first,
		.count = x->tree->n - first < SHOWN ? x->tree->n - first : SHOWN,
		.parent = x->tree->parent + first,
		.size = x->tree->size + first,
	};

	return graph_subtree_sums_add(x->sums, &x->sizes[slot], &range, err);
}

static int join(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct showing *x = ctx;

	(void)item;
	return graph_subtree_sums_join(x->sums, &x->sizes[slot], err);
}

/* Sums of a tree; `work` has its budget and threads. Released by the caller. */
static int sum(struct graph_subtree_sums *sums, const struct tree *t, struct base_work *work,
	       struct hdb_error *err)
{
	struct showing x = { .sums = sums, .tree = t };
	struct base_pipeline passes = { .item_count = (t->n + SHOWN - 1) / SHOWN,
					.threads = work->threads,
					.slot_count = 8,
					.ctx = &x,
					.produce = mark };

	assert_int_equal(graph_subtree_sums_init(sums, t->n, work, err), HDB_OK);
	assert_int_equal(base_pipeline_run(&passes, err), HDB_OK);
	graph_subtree_sums_rank(sums);
	assert_int_equal(graph_subtree_sums_begin(sums, err), HDB_OK);
	passes.produce = add;
	passes.consume = join;
	assert_int_equal(base_pipeline_run(&passes, err), HDB_OK);
	for (unsigned i = 0; i < 8; i++)
		base_vec_release(&x.sizes[i]);
	return graph_subtree_sums_up(sums, err);
}

static void check(const struct tree *t, unsigned threads, bool is_in_file)
{
	uint64_t *below = oracle_alloc(t->n, sizeof *below), counted = 0;
	struct graph_subtree_sums sums;
	struct base_work work;
	struct hdb_error err;

	base_work_init(&work, is_in_file ? 1 : (uint64_t)1 << 30, threads, NULL);
	work.scratch_dir = work.tmp_dir;
	if (is_in_file)
		base_work_count(&work, &counted, base_work_room(&work) - (1u << 20));
	assert_int_equal(sum(&sums, t, &work, &err), HDB_OK);
	/* The few of a broad tree have room. */
	assert_int_equal(sums.file.is_file,
			 is_in_file && (sums.inner.count + 1) * sizeof(**sums.part) > 1u << 20);
	graph_subtree_sums_below(&sums, 0, below, t->n);
	for (uint32_t v = 0; v < t->n; v++)
		assert_int_equal(below[v], t->below[v]);
	graph_subtree_sums_release(&sums);
	base_work_count(&work, &counted, 0);
	assert_int_equal(work.memory_used, 0);
	base_work_release(&work);
	free(below);
}

static void trees(void **state)
{
	(void)state;
	for (enum shape shape = 0; shape < SHAPES; shape++) {
		struct tree t = make_tree(NODES, shape);

		check(&t, 1, false);
		check(&t, 2, false);
		check(&t, 5, false);
		check(&t, 2, true);
		free_tree(&t);
	}
}

static void many(void **state)
{
	struct tree t = make_tree(oracle_size(NODES_MANY), SHAPE_RANDOM);

	(void)state;
	check(&t, 2, false);
	free_tree(&t);
}

/* Two nodes that are each other's parents, above all others. */
static void rings(void **state)
{
	struct tree t = make_tree(NODES, SHAPE_PATH);

	(void)state;
	t.parent[0] = 1;
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct graph_subtree_sums sums;
		struct base_work work;
		struct hdb_error err;

		base_work_init(&work, (uint64_t)1 << 30, threads, NULL);
		assert_int_equal(sum(&sums, &t, &work, &err), HDB_ECORRUPT);
		graph_subtree_sums_release(&sums);
		base_work_release(&work);
	}
	free_tree(&t);
}

static void cancelled(void **state)
{
	volatile int cancel = 1;
	const struct hdb_progress progress = { .cancel = &cancel };
	struct tree t = make_tree(NODES, SHAPE_PATH);
	struct graph_subtree_sums sums;
	struct base_work work;
	struct hdb_error err;

	(void)state;
	base_work_init(&work, (uint64_t)1 << 30, 2, &progress);
	assert_int_equal(sum(&sums, &t, &work, &err), HDB_EINTR);
	graph_subtree_sums_release(&sums);
	base_work_release(&work);
	free_tree(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees),
		cmocka_unit_test(many),
		cmocka_unit_test(rings),
		cmocka_unit_test(cancelled),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}

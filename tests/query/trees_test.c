/*
 * trees_test.c - merged paths, immediate dominators, drops, top consumers and retained sets without
 * some references, on random heaps, compared with the effect of deleting objects and edges.
 */
#include "support/query_world.h"

#include "derive/build.h"
#include "support/tree_tables.h"

#define WORLDS 40

static struct world world;

/* The class of the world that a row names, or WORLD_CLASSES. */
static unsigned class_of(const struct hdb_rows *rows, const char *column)
{
	for (unsigned c = 0; c < WORLD_CLASSES; c++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "%s", world_classes[c].name);
		for (char *p = name; *p; p++)
			*p = *p == '/' ? '.' : *p;
		if (value_is(rows, column, name))
			return c;
	}
	return WORLD_CLASSES;
}

/* ---- without some references ---- */

/*
 * The nodes that the set retains if references of instances of `from` and its subclasses are
 * ignored, as in Eclipse MAT: nodes that the set reaches, and that the roots do not reach without
 * the set and the ignored references.
 */
static uint64_t retained_without(const bool *set, int from, uint64_t *count)
{
	bool first[WORLD_NODES_MAX], second[WORLD_NODES_MAX];
	struct world cut = world;
	uint64_t bytes = 0;
	bool changed = true;

	for (uint32_t v = 0; v < world.n; v++)
		for (uint32_t e = 0; e < WORLD_EDGES && world_is_sub(world.class_no[v], from); e++)
			cut.edge[v][e] = WORLD_NODES_MAX;
	world_reach(&cut, set, first);
	for (uint32_t v = 0; v < world.n; v++)
		second[v] = set[v] && world.is_reachable[v];
	while (changed) {
		changed = false;
		for (uint32_t v = 0; v < world.n; v++) {
			for (uint32_t e = 0; e < WORLD_EDGES && second[v]; e++) {
				const uint32_t to = world.edge[v][e];

				if (to >= world.n || second[to] || first[to])
					continue;
				second[to] = changed = true;
			}
		}
	}
	*count = 0;
	for (uint32_t v = 0; v < world.n; v++) {
		*count += second[v];
		bytes += second[v] ? world.shallow[v] : 0;
	}
	return bytes;
}

static void excluding(const char *target, int class_no, const char *option, int from)
{
	const struct ask question = { .query = "retained",
				      .target = target,
				      .options = { option } };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	bool set[WORLD_NODES_MAX] = { false };
	uint64_t count, bytes;

	for (uint32_t v = 0; v < world.n; v++)
		set[v] = world.class_no[v] == class_no;
	bytes = retained_without(set, from, &count);
	assert_true(next_row(rows));
	assert_int_equal(value_of(rows, "retained")->u, bytes);
	assert_int_equal(value_of(rows, "retained_objects")->u, count);
	hdb_rows_close(rows);
}

/* ---- paths ---- */

/*
 * The objects below the roots are those that are reachable without the ignored references. No other
 * objects are counted.
 */
static void paths(const char *option, int from)
{
	const struct ask question = { .query = "merged-paths",
				      .target = "a.*",
				      .options = { option } };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	uint64_t want[WORLD_CLASSES + 1] = { 0 }, have[WORLD_CLASSES + 1] = { 0 }, total = 0,
				      top = 0;
	bool reached[WORLD_NODES_MAX];
	struct world cut = world;

	for (uint32_t v = 0; v < world.n; v++)
		for (uint32_t e = 0; e < WORLD_EDGES && world_is_sub(world.class_no[v], from); e++)
			cut.edge[v][e] = WORLD_NODES_MAX;
	world_reach(&cut, NULL, reached);
	for (uint32_t v = 0; v < world.n; v++)
		if (reached[v] && strncmp(world_classes[world.class_no[v]].name, "a/", 2) == 0)
			want[world.class_no[v]]++;
	while (next_row(rows)) {
		if (value_of(rows, "level")->u == 0)
			top += value_of(rows, "below_objects")->u;
		if (value_of(rows, "objects")->u)
			have[class_of(rows, "name")] += value_of(rows, "objects")->u;
	}
	for (unsigned c = 0; c <= WORLD_CLASSES; c++) {
		assert_int_equal(have[c], want[c]);
		total += want[c];
	}
	assert_int_equal(top, total);
	assert_int_equal(fact_of(rows, "objects")->u - fact_of(rows, "without_path")->u, total);
	hdb_rows_close(rows);
}

/* ---- dominators ---- */

/* Immediate dominator of a node, or n if it has none. */
static uint32_t dominator_of(uint32_t v)
{
	uint32_t best = world.n;
	uint64_t best_size = UINT64_MAX;

	for (uint32_t d = 0; d < world.n; d++) {
		bool one[WORLD_NODES_MAX] = { false }, reached[WORLD_NODES_MAX];
		uint64_t size = 0;

		one[d] = true;
		world_reach(&world, one, reached);
		if (d == v || !world.is_reachable[d] || reached[v])
			continue;
		/* The nearest dominator is the one that dominates least. */
		for (uint32_t u = 0; u < world.n; u++)
			size += world.is_reachable[u] && !reached[u];
		if (size < best_size) {
			best_size = size;
			best = d;
		}
	}
	return best;
}

static uint32_t idom[WORLD_NODES_MAX];
static uint64_t retained[WORLD_NODES_MAX];

static void immediate(const char *skip, int skipped)
{
	const struct ask question = { .query = "immediate-dominators",
				      .target = "a.Two",
				      .options = { skip } };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	uint64_t dominated[WORLD_CLASSES + 1] = { 0 }, count[WORLD_CLASSES + 1] = { 0 }, sum = 0;
	bool seen[WORLD_NODES_MAX] = { false };

	for (uint32_t v = 0; v < world.n; v++) {
		uint32_t d = idom[v];

		if (world.class_no[v] != 1 || !world.is_reachable[v])
			continue;
		while (d < world.n && world.class_no[d] == skipped)
			d = idom[d];
		dominated[d < world.n ? world.class_no[d] : WORLD_CLASSES]++;
		if (d == world.n || seen[d])
			continue;
		seen[d] = true;
		count[world.class_no[d]]++;
	}
	while (next_row(rows)) {
		const unsigned c = class_of(rows, "name");

		assert_int_equal(value_of(rows, "dominated_objects")->u, dominated[c]);
		assert_int_equal(value_of(rows, "objects")->u, count[c]);
		sum += dominated[c];
	}
	assert_int_equal(sum, fact_of(rows, "objects")->u);
	hdb_rows_close(rows);
}

/* Computes the expected rows, by applying the rule to each node. */
static bool is_drop(uint32_t v, uint64_t threshold)
{
	uint64_t largest = 0;

	for (uint32_t c = 0; c < world.n; c++)
		if (world.is_reachable[c] && idom[c] == v && retained[c] > largest)
			largest = retained[c];
	return retained[v] - largest > threshold;
}

static void drops(void)
{
	const struct ask question = { .query = "big-drops", .options = { "threshold=5" } };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	const uint64_t threshold = fact_of(rows, "threshold")->u;
	bool listed[WORLD_NODES_MAX] = { false };

	while (next_row(rows)) {
		const uint64_t id = value_of(rows, "id")->u;
		uint32_t v, above = 0;

		if (id < WORLD_FIRST)
			continue; /* a class object */
		v = (uint32_t)((id - WORLD_FIRST) / WORLD_STEP);
		assert_true(is_drop(v, threshold));
		assert_false(listed[v]);
		listed[v] = true;
		for (uint32_t d = idom[v]; d < world.n; d = idom[d])
			above += is_drop(d, threshold);
		assert_int_equal(value_of(rows, "level")->u, above);
		assert_int_equal(value_of(rows, "retained")->u, retained[v]);
	}
	/*
	 * All big drops, except those next to the largest child of a node that is not a drop,
	 * because its other children together are below the threshold.
	 */
	for (uint32_t v = 0; v < world.n; v++)
		if (world.is_reachable[v] && is_drop(v, threshold))
			assert_true(listed[v]);
	hdb_rows_close(rows);
}

static void consumers(const char *target)
{
	const struct ask question = { .query = "top-consumers",
				      .target = target,
				      .options = { "threshold=0" } };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	uint64_t by_kind[4] = { 0 }, objects = 0, before = UINT64_MAX;
	static const char *const kinds[] = { "object", "class", "loader", "package" };
	bool set[WORLD_NODES_MAX];

	for (uint32_t v = 0; v < world.n; v++)
		set[v] = world.class_no[v] == 1;
	while (next_row(rows)) {
		for (unsigned k = 0; k < 4; k++) {
			if (!value_is(rows, "kind", kinds[k]) ||
			    (k == 3 && value_of(rows, "level")->u))
				continue;
			by_kind[k] += value_of(rows, "retained")->u;
			objects += k == 0;
		}
		if (!value_is(rows, "kind", "object"))
			continue;
		assert_true(value_of(rows, "retained")->u <= before);
		before = value_of(rows, "retained")->u;
	}
	/*
	 * Each item belongs to one class, class loader and package. Without a target, a class
	 * loader's retained size is that of all its classes, not only of the items.
	 */
	for (unsigned k = 1; k < 4; k++)
		if (k == 2 && !target)
			assert_true(by_kind[k] >= by_kind[0]);
		else
			assert_int_equal(by_kind[k], by_kind[0]);
	assert_int_equal(by_kind[0], fact_of(rows, "retained")->u);
	assert_true(objects <= fact_of(rows, "objects")->u);
	if (target)
		assert_int_equal(by_kind[0], world_bound(&world, set));
	hdb_rows_close(rows);
}

static void random_worlds(void **state)
{
	uint64_t seed = world_seed();

	(void)state;
	world_keeps_dump = true;
	for (unsigned i = 0; i < WORLDS; i++) {
		world_make(&world, 2 + (uint32_t)(test_random(&seed) % 40), &seed);
		for (uint32_t v = 0; v < world.n; v++) {
			idom[v] = dominator_of(v);
			retained[v] = world_retained_one(&world, v);
		}
		excluding("a.Two", 1, "exclude=a.One:next", 0);
		excluding("b.c.Four", 3, "exclude=b.Three:next", 2);
		excluding("Five", 4, "exclude=a.One:no,weak", -2);
		paths("exclude=none", -2);
		paths(NULL, -2);
		paths("exclude=a.Two:next", 1);
		immediate(NULL, -1);
		immediate("skip=none", -1);
		immediate("skip=b.Th*,nothing", 2);
		immediate("skip=b.Th*,nothing", 2);
		drops();
		consumers(NULL);
		consumers("a.Two");
		world_free(&world);
	}
}

/* Writes dominators in which nodes 1 to 3 dominate each other in a cycle. */
static void write_circle(void)
{
	uint64_t dominators[WORLD_NODES_MAX + WORLD_CLASSES + 16];
	const uint64_t zeros[WORLD_NODES_MAX + WORLD_CLASSES + 16] = { 0 };
	struct base_work work;
	struct heap *heap;
	uint32_t ix[3];

	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(heap_open(world.db_path, NULL, &work, &heap, NULL), HDB_OK);
	for (uint32_t i = 0; i < heap->object_count; i++)
		dominators[i] = derive_tree_value(i, GRAPH_NONE);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(heap_find(heap, world_id(i + 1), &ix[i], NULL), HDB_OK);
	for (uint32_t i = 0; i < 3; i++)
		dominators[ix[i]] = derive_tree_value(ix[i], ix[(i + 1) % 3]);
	tree_tables_put(heap, dominators, zeros);
	heap_close(heap);
}

/* A damaged tree with right checksums is reported, and no query loops in it forever. */
static void circles(void **state)
{
	static const struct ask asks[] = {
		{ .query = "dominator-tree" },
		{ .query = "immediate-dominators", .target = "*", .options = { "skip=*" } },
		{ .query = "big-drops" },
		{ .query = "top-consumers" },
	};
	uint64_t seed = 7;

	(void)state;
	world_make(&world, 20, &seed);
	hdb_close(world.db);
	write_circle();
	assert_int_equal(hdb_open(world.db_path, NULL, &world.db, NULL), HDB_OK);
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		struct hdb_error err = { 0 };
		struct hdb_rows *rows = NULL;
		int r = ask_open(world.db, &asks[i], &rows, &err);

		while (r == HDB_OK)
			r = hdb_rows_next(rows, &err);
		/* The first two queries read this table. */
		if (i < 2)
			assert_int_equal(r, HDB_ECORRUPT);
		hdb_rows_close(rows);
	}
	world_free(&world);
}

/* Invalid arguments are refused. */
static void wrong_questions(void **state)
{
	static const struct ask asks[] = {
		{ .query = "retained", .target = "a.One", .options = { "exclude=nonsense" } },
		{ .query = "retained",
		  .target = "a.One",
		  .options = { "exclude=weak", "lower-bound" } },
		{ .query = "merged-paths" },
		{ .query = "merged-paths", .target = "a.One", .options = { "by=superclass" } },
		{ .query = "merged-paths", .target = "a.One", .options = { "depth=x" } },
		{ .query = "dominator-tree", .options = { "min=-1" } },
		{ .query = "immediate-dominators", .target = "0x10000" },
		{ .query = "big-drops", .options = { "threshold=101" } },
		{ .query = "top-consumers", .options = { "threshold=x" } },
	};
	uint64_t seed = 7;

	(void)state;
	world_make(&world, 20, &seed);
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		struct hdb_error err = { 0 };
		struct hdb_rows *rows;

		assert_int_equal(ask_open(world.db, &asks[i], &rows, &err), HDB_EUSAGE);
		assert_true(err.message[0] != '\0');
	}
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_worlds),
		cmocka_unit_test(circles),
		cmocka_unit_test(wrong_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

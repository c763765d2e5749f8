/*
 * leaks_test.c - leak suspects on random heaps, compared with brute force: the retained sizes on
 * the top level of the dominator tree by object and by class, the accumulation point, and the path
 * to it. Also lists of millions of steps, which must be shortened.
 */
#include "support/query_world.h"

#include <math.h>

#define WORLDS 25

static struct world world;
/*
 * Indexed by node: its immediate dominator (WORLD_NODES_MAX: it is on the top level), and its
 * retained size.
 */
static uint32_t dominator[WORLD_NODES_MAX];
static uint64_t retained[WORLD_NODES_MAX];

/*
 * "Which objects become unreachable without d?" Of all dominators of v, the one that retains least
 * is the immediate dominator.
 */
static void find_dominators(void)
{
	bool set[WORLD_NODES_MAX] = { false }, reached[WORLD_NODES_MAX];

	for (uint32_t v = 0; v < world.n; v++) {
		dominator[v] = WORLD_NODES_MAX;
		retained[v] = world.is_reachable[v] ? world_retained_one(&world, v) : 0;
	}
	for (uint32_t d = 0; d < world.n; d++) {
		if (!world.is_reachable[d])
			continue;
		set[d] = true;
		world_reach(&world, set, reached);
		set[d] = false;
		for (uint32_t v = 0; v < world.n; v++)
			if (v != d && world.is_reachable[v] && !reached[v] &&
			    (dominator[v] == WORLD_NODES_MAX ||
			     retained[d] < retained[dominator[v]]))
				dominator[v] = d;
	}
}

static bool is_top(uint32_t v)
{
	return world.is_reachable[v] && dominator[v] == WORLD_NODES_MAX;
}

/* The child with the largest retained size, or WORLD_NODES_MAX. */
static uint32_t largest_child(uint32_t v)
{
	uint32_t best = WORLD_NODES_MAX;

	for (uint32_t c = 0; c < world.n; c++)
		if (world.is_reachable[c] && dominator[c] == v &&
		    (best == WORLD_NODES_MAX || retained[c] > retained[best]))
			best = c;
	return best;
}

/* The accumulation point of a single suspect. */
static uint32_t point_of(uint32_t v)
{
	for (;;) {
		const uint32_t best = largest_child(v);

		if (best == WORLD_NODES_MAX || (double)retained[best] / (double)retained[v] < 0.7)
			return v;
		v = best;
	}
}

/* Whether two suspects or more replace a suspect with this point: see analysis/suspects.h. */
static bool is_split(uint32_t point, uint64_t threshold)
{
	const uint32_t child = largest_child(point);
	unsigned instances = 0;

	for (uint32_t v = 0; v < world.n; v++)
		instances += world.is_reachable[v] && world.class_no[v] == world.class_no[point];
	return instances == 1 && child != WORLD_NODES_MAX && retained[child] > threshold &&
	       retained[point] - retained[child] > threshold;
}

/* Number of steps from a root to each node. */
static void find_distances(uint32_t *steps)
{
	uint32_t queue[WORLD_NODES_MAX], head = 0, tail = 0;

	for (uint32_t v = 0; v < world.n; v++) {
		steps[v] = world.is_root[v] ? 0 : UINT32_MAX;
		if (world.is_root[v])
			queue[tail++] = v;
	}
	while (head < tail) {
		const uint32_t v = queue[head++];

		for (uint32_t e = 0; e < WORLD_EDGES; e++) {
			const uint32_t to = world.edge[v][e];

			if (to < world.n && steps[to] == UINT32_MAX) {
				steps[to] = steps[v] + 1;
				queue[tail++] = to;
			}
		}
	}
}

static uint32_t node_of(const struct hdb_value *id)
{
	assert_int_equal(id->type, HDB_TYPE_ID);
	return id->u < WORLD_FIRST ? WORLD_NODES_MAX :
				     (uint32_t)((id->u - WORLD_FIRST) / WORLD_STEP);
}

/* Expected suspects. Found suspects are removed from `single`. */
struct expected {
	bool single[WORLD_NODES_MAX], is_suspect[WORLD_NODES_MAX];
	uint64_t bytes[WORLD_NODES_MAX], point_bytes[WORLD_NODES_MAX]; /* of single suspects */
	uint64_t group_bytes[WORLD_CLASSES], group_shallow[WORLD_CLASSES];
	uint64_t group_count[WORLD_CLASSES];
};

static void expect_single(struct expected *e, uint32_t top, uint64_t threshold)
{
	uint32_t list[WORLD_NODES_MAX], count = 0;

	list[count++] = top;
	while (count) {
		const uint32_t v = list[--count], point = point_of(v);

		e->bytes[v] = retained[v];
		e->point_bytes[v] = retained[point];
		for (uint32_t c = 0; c < world.n && is_split(point, threshold); c++) {
			if (!world.is_reachable[c] || dominator[c] != point ||
			    retained[c] <= threshold)
				continue;
			list[count++] = c;
			e->bytes[v] -= retained[c];
		}
		e->single[v] = e->is_suspect[v] = e->bytes[v] > threshold;
	}
}

static void expect(struct expected *e, uint64_t threshold)
{
	memset(e, 0, sizeof(*e));
	for (uint32_t v = 0; v < world.n; v++) {
		if (!is_top(v))
			continue;
		if (retained[v] > threshold) {
			expect_single(e, v, threshold);
			continue;
		}
		e->group_bytes[world.class_no[v]] += retained[v];
		e->group_shallow[world.class_no[v]] += world.shallow[v];
		e->group_count[world.class_no[v]]++;
	}
	for (unsigned c = 0; c < WORLD_CLASSES; c++)
		if (e->group_bytes[c] <= threshold)
			e->group_bytes[c] = 0;
}

/*
 * Checks a suspect's row, which must be expected. Returns the node, or WORLD_NODES_MAX for a group
 * or a class.
 */
static uint32_t tick(struct hdb_rows *rows, struct expected *e)
{
	const uint64_t bytes = value_of(rows, "retained")->u;
	uint32_t v;

	if (value_of(rows, "id")->type == HDB_TYPE_ID) {
		v = node_of(value_of(rows, "id"));
		if (v == WORLD_NODES_MAX)
			return v; /* a class object */
		assert_true(v < world.n && e->single[v]);
		assert_int_equal(bytes, e->bytes[v]);
		e->single[v] = false;
		return v;
	}
	for (unsigned c = 0; c < WORLD_CLASSES; c++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "%s", world_classes[c].name);
		for (char *p = name; *p; p++)
			*p = *p == '/' ? '.' : *p;
		if (!value_is(rows, "class", name))
			continue;
		assert_int_equal(bytes, e->group_bytes[c]);
		assert_int_equal(value_of(rows, "shallow")->u, e->group_shallow[c]);
		assert_int_equal(value_of(rows, "objects")->u, e->group_count[c]);
		e->group_bytes[c] = 0;
		return WORLD_NODES_MAX;
	}
	fail_msg("a group of no class of the world's, like java.lang.Class");
	return WORLD_NODES_MAX;
}

/* The suspect to which a node belongs: the nearest one among it and its dominators. */
static uint32_t suspect_of(const struct expected *e, uint32_t v)
{
	while (v != WORLD_NODES_MAX && !e->is_suspect[v])
		v = dominator[v];
	return v;
}

/*
 * The content rows of a suspect must add up to its retained size, and each class must have the
 * number that brute force counts.
 */
struct contents {
	const struct expected *e;
	uint32_t suspect;    /* WORLD_NODES_MAX: a class, or a group */
	uint64_t left_bytes; /* part of its retained size that no row has listed yet */
	/* class loaders also hold classes that the dump lacks, which are never counted */
	bool has_classes;
};

static void begin_contents(struct contents *c, uint32_t suspect, uint64_t retained_bytes)
{
	assert_true(c->left_bytes == 0 || c->has_classes);
	c->suspect = suspect;
	c->left_bytes = retained_bytes;
	c->has_classes = suspect == WORLD_NODES_MAX ||
			 (world.is_reachable[0] && suspect_of(c->e, 0) == suspect);
}

static void check_content(struct contents *c, struct hdb_rows *rows)
{
	assert_true(value_of(rows, "shallow")->u <= c->left_bytes);
	c->left_bytes -= value_of(rows, "shallow")->u;
	c->has_classes |=
		value_is(rows, "class", "java.lang.Class") || value_is(rows, "class", "a.Loader");
	for (unsigned no = 0; no < WORLD_CLASSES && c->suspect != WORLD_NODES_MAX; no++) {
		uint64_t count = 0;
		char name[32];

		(void)snprintf(name, sizeof(name), "%s", world_classes[no].name);
		for (char *p = name; *p; p++)
			*p = *p == '/' ? '.' : *p;
		if (!value_is(rows, "class", name))
			continue;
		for (uint32_t v = 0; v < world.n; v++)
			count += world.is_reachable[v] && world.class_no[v] == no &&
				 suspect_of(c->e, v) == c->suspect;
		assert_int_equal(value_of(rows, "objects")->u, count);
	}
}

static void check_rows(struct hdb_rows *rows, struct expected *e)
{
	uint32_t steps[WORLD_NODES_MAX], suspect = WORLD_NODES_MAX, point = WORLD_NODES_MAX;
	uint32_t last = WORLD_NODES_MAX;
	uint64_t before = UINT64_MAX, length = 0;
	struct contents contents = { .e = e };
	struct hdb_error err = { 0 };

	find_distances(steps);
	while (hdb_rows_next(rows, &err) == HDB_OK) {
		if (value_is(rows, "kind", "suspect")) {
			assert_true(value_of(rows, "retained")->u <= before);
			before = value_of(rows, "retained")->u;
			suspect = tick(rows, e);
			begin_contents(&contents, suspect, before);
			point = last = WORLD_NODES_MAX;
		} else if (value_is(rows, "kind", "point")) {
			point = node_of(value_of(rows, "id"));
			if (suspect != WORLD_NODES_MAX)
				assert_int_equal(value_of(rows, "retained")->u,
						 e->point_bytes[suspect]);
		} else if (value_is(rows, "kind", "path") && point != WORLD_NODES_MAX) {
			const uint32_t v = node_of(value_of(rows, "id"));
			const uint64_t step = value_of(rows, "step")->u;

			assert_int_equal(step, last == WORLD_NODES_MAX ? 0 : length + 1);
			length = step;
			if (v == WORLD_NODES_MAX) {
				point = v; /* through a class, which the arrays do not contain */
				continue;
			}
			assert_true(last == WORLD_NODES_MAX ? world.is_root[v] :
							      world_refers(&world, last, v));
			assert_int_equal(step, steps[v]);
			last = v;
		} else if (value_is(rows, "kind", "content")) {
			check_content(&contents, rows);
		} else if (value_is(rows, "kind", "child") && point != WORLD_NODES_MAX) {
			assert_int_equal(last, point);
		}
	}
	assert_int_equal(err.code, HDB_OK);
	begin_contents(&contents, WORLD_NODES_MAX, 0);
	for (uint32_t v = 0; v < world.n; v++)
		assert_false(e->single[v]);
	for (unsigned c = 0; c < WORLD_CLASSES; c++)
		assert_int_equal(e->group_bytes[c], 0);
}

static void test_worlds(void **state)
{
	static const char *const thresholds[] = { "threshold=1", "threshold=5", "threshold=20" };
	uint64_t seed = world_seed();

	(void)state;
	for (int w = 0; w < WORLDS; w++) {
		world_make(&world, 20 + (uint32_t)(test_random(&seed) % 180), &seed);
		find_dominators();
		for (unsigned t = 0; t < 3; t++) {
			const struct ask ask = { .query = "leaks", .options = { thresholds[t] } };
			struct hdb_error err = { 0 };
			struct expected e;
			struct hdb_rows *rows;

			assert_int_equal(ask_open(world.db, &ask, &rows, &err), HDB_OK);
			expect(&e, fact_of(rows, "threshold")->u);
			check_rows(rows, &e);
			hdb_rows_close(rows);
		}
		world_free(&world);
	}
}

/*
 * A chain of all nodes. Each child retains at least 70 % of its parent's size except near the end,
 * so the path to the accumulation point is shortened.
 */
static void test_long_path(void **state)
{
	const struct ask ask = { .query = "leaks" };
	uint64_t seed = 1, paths = 0, gaps = 0, steps = 0;
	struct hdb_import_options opt = { .force = 1, .sizes = HDB_SIZES_MAT };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;

	(void)state;
	world_make(&world, 500, &seed);
	hdb_close(world.db);
	for (uint32_t v = 0; v < world.n; v++) {
		for (uint32_t e = 0; e < WORLD_EDGES; e++)
			world.edge[v][e] = e == 0 && v + 1 < world.n ? v + 1 : WORLD_NODES_MAX;
		world.is_root[v] = v == 0;
	}
	world_write(&world, temp_path("chain.hprof"));
	assert_int_equal(hdb_import(temp_path("chain.hprof"), world.db_path, &opt, NULL, &err),
			 HDB_OK);
	assert_int_equal(hdb_open(world.db_path, NULL, &world.db, &err), HDB_OK);
	assert_int_equal(ask_open(world.db, &ask, &rows, &err), HDB_OK);
	while (hdb_rows_next(rows, &err) == HDB_OK) {
		if (value_is(rows, "kind", "path")) {
			paths++;
			steps = value_of(rows, "step")->u;
		} else if (value_is(rows, "kind", "gap")) {
			gaps += value_of(rows, "objects")->u;
		}
	}
	hdb_rows_close(rows);
	assert_int_equal(paths, 48);
	assert_int_equal(paths + gaps, steps + 1);
	assert_true(steps > 450);
	(void)unlink(temp_path("chain.hprof"));
	world_free(&world);
}

/*
 * Three objects that two roots hold. Nothing dominates them, they are a suspect together, and there
 * is no accumulation point. The paths have only their root in common.
 */
static void test_group(void **state)
{
	const struct ask ask = { .query = "leaks", .options = { "threshold=25" } };
	const struct hdb_import_options opt = { .force = 1, .sizes = HDB_SIZES_MAT };
	uint64_t seed = 3, groups = 0, points = 0, steps = 0, members = 0;
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;

	(void)state;
	world_make(&world, 5, &seed);
	hdb_close(world.db);
	for (uint32_t v = 0; v < world.n; v++) {
		for (uint32_t e = 0; e < WORLD_EDGES; e++)
			world.edge[v][e] = v < 2 ? 2 + e : WORLD_NODES_MAX;
		world.is_root[v] = v < 2;
		world.class_no[v] = v < 2 ? 3 : 0;
	}
	world_write(&world, temp_path("group.hprof"));
	assert_int_equal(hdb_import(temp_path("group.hprof"), world.db_path, &opt, NULL, &err),
			 HDB_OK);
	assert_int_equal(hdb_open(world.db_path, NULL, &world.db, &err), HDB_OK);
	assert_int_equal(ask_open(world.db, &ask, &rows, &err), HDB_OK);
	while (hdb_rows_next(rows, &err) == HDB_OK) {
		const bool is_group = value_of(rows, "suspect")->u == groups && groups;

		if (value_is(rows, "kind", "suspect") && value_is(rows, "class", "a.One")) {
			groups = value_of(rows, "suspect")->u;
			assert_int_equal(value_of(rows, "objects")->u, 3);
		}
		members += is_group && value_is(rows, "kind", "member");
		points += is_group && value_is(rows, "kind", "point") &&
			  node_of(value_of(rows, "id")) < 2;
		steps += is_group && value_is(rows, "kind", "path");
	}
	hdb_rows_close(rows);
	assert_true(groups > 0);
	assert_int_equal(members, 3);
	assert_int_equal(points, 0); /* none of them is held by only one root */
	assert_int_equal(steps, 1);
	(void)unlink(temp_path("group.hprof"));
	world_free(&world);
}

/*
 * Writes small and large byte arrays, each a GC root. Returns the percentage of byte[] in the
 * "values" row.
 */
static double values_percent(unsigned small, unsigned large)
{
	static const uint8_t zeros[70000];
	const struct ask ask = { .query = "leaks", .options = { "threshold=25" } };
	const struct hdb_import_options opt = { .force = 1, .sizes = HDB_SIZES_MAT };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;
	double percent = 0;
	struct hw w;

	hw_init(&w, HPROF_1_0_2, 8, 1000);
	hw_utf8(&w, 11, "java/lang/Object");
	hw_utf8(&w, 12, "[B");
	hw_load_class(&w, 1, 0x1000, 0, 11);
	hw_load_class(&w, 2, 0x1040, 0, 12);
	hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_class(&w, &(struct hw_class){ .id = 0x1000 });
	hw_class(&w, &(struct hw_class){ .id = 0x1040, .super_id = 0x1000 });
	for (unsigned i = 0; i < small + large; i++) {
		const uint64_t id = 0x100000 + (uint64_t)i * 0x20000;

		hw_root(&w, HPROF_ROOT_JNI_GLOBAL, id, 0x7f0000, 0);
		hw_primitive_array(&w, id, HPROF_BYTE, zeros, i < small ? 1000 : sizeof(zeros));
	}
	hw_end(&w);
	assert_int_equal(hw_save(&w, temp_path("values.hprof")), 0);
	hw_release(&w);
	assert_int_equal(
		hdb_import(temp_path("values.hprof"), temp_path("values.heapdb"), &opt, NULL, &err),
		HDB_OK);
	assert_int_equal(hdb_open(temp_path("values.heapdb"), NULL, &world.db, &err), HDB_OK);
	assert_int_equal(ask_open(world.db, &ask, &rows, &err), HDB_OK);
	while (hdb_rows_next(rows, &err) == HDB_OK)
		;
	if (fact_of(rows, "values"))
		assert_int_equal(sscanf(fact_of(rows, "values")->text, "byte[] %lf", &percent), 1);
	hdb_rows_close(rows);
	hdb_close(world.db);
	(void)unlink(temp_path("values.hprof"));
	(void)unlink(temp_path("values.heapdb"));
	return percent;
}

/*
 * If the large arrays together are not a suspect, they count among the values. Otherwise they form
 * a separate suspect.
 */
static void test_values(void **state)
{
	const double small = 300 * 1016, large = 2 * 70016;

	(void)state;
	assert_true(values_percent(300, 1) > 99.5);
	assert_true(fabs(values_percent(300, 2) - 100 * small / (small + large)) < 0.5);
}

static void test_usage(void **state)
{
	const struct ask zero = { .query = "leaks", .options = { "threshold=0" } };
	const struct ask target = { .query = "leaks", .target = "0x10000" };
	uint64_t seed = 7;
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;

	(void)state;
	world_make(&world, 30, &seed);
	assert_int_equal(ask_open(world.db, &zero, &rows, &err), HDB_EUSAGE);
	assert_int_equal(ask_open(world.db, &target, &rows, &err), HDB_EUSAGE);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worlds), cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_group),  cmocka_unit_test(test_values),
		cmocka_unit_test(test_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * diff_test.c - checks the comparison of two random heaps against the heaps themselves, and the
 * conditions of --fail-if.
 */
#include "support/query_world.h"

#include "derive/derive.h"

#define ROUNDS 30
#define PATHS_MAX 4096
#define PATH_BYTES 2048
/* Maximum number of levels in a tree. */
#define LEVELS_MAX 101

static struct world before, after;
static struct hdb *olds[1];
static char dump_paths[2][600]; /* borrowed by open databases */

/*
 * Closes a world, renames its files so that the next world does not overwrite them, and opens it
 * again.
 */
static void make(struct world *w, const char *name, uint32_t n, uint64_t *seed)
{
	struct hdb_error err = { 0 };
	char path[512], *dump = dump_paths[w == &after];
	const struct hdb_open_options options = { .struct_size = sizeof(options),
						  .dump_path = dump };

	world_keeps_dump = true;
	world_make(w, n, seed);
	hdb_close(w->db);
	(void)snprintf(path, sizeof(path), "%s", temp_path(name));
	(void)snprintf(dump, sizeof(dump_paths[0]), "%s.hprof", path);
	assert_int_equal(rename(temp_path("world.hprof"), dump), 0);
	assert_int_equal(rename(w->db_path, path), 0);
	temp_remove_db(w->db_path);
	memcpy(w->db_path, path, sizeof(path));
	if (hdb_open(path, &options, &w->db, &err) < 0)
		fail_msg("%s", err.message);
}

static int open_diff(const struct hdb_option *options, size_t count, struct hdb_rows **rows,
		     struct hdb_error *err)
{
	static struct hdb_query_args args[4];
	static unsigned turn;
	struct hdb_query_args *a = &args[turn++ % 4];

	*a = (struct hdb_query_args){
		.options = options,
		.option_count = count,
		.before = olds,
		.before_count = 1,
	};
	olds[0] = before.db;
	return hdb_query(after.db, "diff", a, rows, err);
}

static struct hdb_rows *diff(const struct hdb_option *options, size_t count)
{
	struct hdb_error err = { 0 };
	struct hdb_rows *rows = NULL;

	if (open_diff(options, count, &rows, &err) != HDB_OK)
		fail_msg("%s", err.message);
	return rows;
}

static void text_of(const struct hdb_rows *rows, const char *column, char *buf, size_t size)
{
	const struct hdb_value *value = value_of(rows, column);

	(void)snprintf(buf, size, "%.*s", (int)value->text_size, value->text);
}

static bool contains(const struct hdb_rows *rows, const char *column, const char *part)
{
	char text[PATH_BYTES];

	text_of(rows, column, text, sizeof(text));
	return strstr(text, part) != NULL;
}

/* ---- classes ---- */

static void dotted(const char *slashed, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s", slashed);
	for (char *p = buf; *p; p++)
		if (*p == '/')
			*p = '.';
}

/* Finds a class of the world by name. Returns WORLD_CLASSES if there is no such class. */
static unsigned class_named(const char *name)
{
	char own[64];
	unsigned c = 0;

	for (; c < WORLD_CLASSES; c++) {
		dotted(world_classes[c].name, own, sizeof(own));
		if (strcmp(own, name) == 0)
			break;
	}
	return c;
}

static void sum_class(const struct world *w, unsigned class_no, uint64_t *count, uint64_t *bytes)
{
	*count = *bytes = 0;
	for (uint32_t v = 0; v < w->n; v++) {
		if (w->class_no[v] != class_no || !w->is_reachable[v])
			continue;
		(*count)++;
		*bytes += w->shallow[v];
	}
}

static void by_class(void)
{
	struct hdb_rows *rows = diff(NULL, 0);
	const struct hdb_value *cut = fact_of(rows, "cut_rows");
	const uint64_t unchanged = cut && cut->type != HDB_TYPE_NULL ? cut->u : 0;
	unsigned seen = 0, want = 0, all = 0;

	for (unsigned c = 0; c < WORLD_CLASSES; c++) {
		uint64_t a, b, bytes[2];

		sum_class(&before, c, &a, &bytes[0]);
		sum_class(&after, c, &b, &bytes[1]);
		want += a != b || bytes[0] != bytes[1] ? 1u << c : 0;
		all += a || b ? 1u << c : 0;
	}
	while (next_row(rows)) {
		uint64_t count[2], bytes[2];
		char name[256];
		unsigned c;

		text_of(rows, "name", name, sizeof(name));
		c = class_named(name);
		if (c == WORLD_CLASSES)
			continue;
		assert_false(seen >> c & 1);
		seen |= 1u << c;
		sum_class(&before, c, &count[0], &bytes[0]);
		sum_class(&after, c, &count[1], &bytes[1]);
		assert_int_equal(value_of(rows, "objects_before")->u, count[0]);
		assert_int_equal(value_of(rows, "objects")->u, count[1]);
		assert_int_equal(value_of(rows, "objects_delta")->i,
				 (int64_t)(count[1] - count[0]));
		assert_int_equal(value_of(rows, "shallow_delta")->i,
				 (int64_t)(bytes[1] - bytes[0]));
		assert_true(value_is(rows, "status", "new") == (!count[0] && count[1]));
		assert_true(value_is(rows, "status", "gone") == (count[0] && !count[1]));
		assert_true(count[0] != count[1] || bytes[0] != bytes[1] ||
			    value_of(rows, "retained_delta")->i != 0);
	}
	/* classes whose retained size alone changed are seen, too */
	assert_int_equal(seen & want, want);
	assert_int_equal(seen & ~all, 0);
	assert_true((unsigned)__builtin_popcount(all & ~seen) <= unchanged);
	hdb_rows_close(rows);
}

/* ---- merged trees ---- */

/* A merged path, with its numbers in each world. */
struct path {
	char text[PATH_BYTES];
	uint64_t count[2], total[2];
};

static struct path paths[PATHS_MAX];
static size_t path_count;

static struct path *path_named(const char *text)
{
	size_t i = 0;

	while (i < path_count && strcmp(paths[i].text, text) != 0)
		i++;
	if (i == path_count) {
		assert_true(path_count < PATHS_MAX);
		memset(&paths[i], 0, sizeof(paths[i]));
		(void)snprintf(paths[path_count++].text, PATH_BYTES, "%s", text);
	}
	return &paths[i];
}

/* Adds an object whose path from the root is names[0] .. names[depth - 1]. */
static void add_object(unsigned side, char names[][128], size_t depth, uint64_t shallow)
{
	char text[PATH_BYTES] = "";
	size_t used = 0;

	for (size_t i = 0; i < depth; i++) {
		if (i && strcmp(names[i], names[i - 1]) == 0)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "/%s", names[i]);
		assert_true(used < sizeof(text));
		path_named(text)->total[side] += 0;
	}
	path_named(text)->count[side]++;
	for (char *cut = text; cut; cut = strrchr(text, '/')) {
		if (!text[0])
			break;
		path_named(text)->total[side] += shallow;
		*strrchr(text, '/') = '\0';
	}
}

/*
 * Returns the path to an object in the dominator tree as names, the object last. Dominators are
 * found by deletion.
 */
static size_t way_down(const struct world *w, uint32_t v, char names[][128])
{
	size_t depth = 0;

	/*
	 * Dominators of v, nearest to the root first, sorted by the number of their own dominators.
	 */
	for (uint32_t rank = 0; rank <= w->n; rank++) {
		for (uint32_t d = 0; d < w->n; d++) {
			bool blocked[WORLD_NODES_MAX] = { false }, reached[WORLD_NODES_MAX];
			uint32_t above = 0;

			blocked[d] = true;
			world_reach(w, blocked, reached);
			if (d != v && (reached[v] || !w->is_reachable[d]))
				continue;
			for (uint32_t e = 0; e < w->n; e++) {
				bool one[WORLD_NODES_MAX] = { false };

				one[e] = true;
				world_reach(w, one, reached);
				above += e != d && w->is_reachable[e] && !reached[d];
			}
			if (above == rank)
				dotted(world_classes[w->class_no[d]].name, names[depth++], 128);
		}
	}
	return depth;
}

static void add_world(const struct world *w, unsigned side)
{
	static char names[WORLD_NODES_MAX + 8][128];

	for (uint32_t v = 0; v < w->n; v++)
		if (w->is_reachable[v])
			add_object(side, names, way_down(w, v, names), w->shallow[v]);
}

/* Whether the path or a path below it has grown. */
static bool has_grown(const struct path *path)
{
	const size_t size = strlen(path->text);

	for (size_t i = 0; i < path_count; i++)
		if (strncmp(paths[i].text, path->text, size) == 0 &&
		    (paths[i].text[size] == '/' || !paths[i].text[size]) &&
		    paths[i].total[1] > paths[i].total[0])
			return true;
	return false;
}

static void by_tree(void)
{
	const struct hdb_option options[] = { { "by", "dominator" }, { "min", "0" } };
	struct hdb_rows *rows = diff(options, 2);
	char stack[WORLD_NODES_MAX][128], text[PATH_BYTES];
	size_t want = 0, have = 0, depth = 0;
	bool is_world[WORLD_NODES_MAX + 1];

	path_count = 0;
	add_world(&before, 0);
	add_world(&after, 1);
	for (size_t i = 0; i < path_count; i++)
		want += has_grown(&paths[i]);
	while (next_row(rows)) {
		const uint64_t level = value_of(rows, "level")->u;
		const struct path *path;
		size_t used = 0;

		assert_true(level <= depth);
		text_of(rows, "name", stack[level], 128);
		depth = level + 1;
		/* Class objects are separate roots outside the world. */
		is_world[level] = class_named(stack[level]) < WORLD_CLASSES &&
				  (!level || is_world[level - 1]);
		if (!is_world[level])
			continue;
		for (size_t i = 0; i < depth; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "/%s", stack[i]);
		path = path_named(text);
		assert_int_equal(value_of(rows, "objects_before")->u, path->count[0]);
		assert_int_equal(value_of(rows, "objects")->u, path->count[1]);
		assert_int_equal(value_of(rows, "retained_before")->u, path->total[0]);
		assert_int_equal(value_of(rows, "retained")->u, path->total[1]);
		have++;
	}
	assert_int_equal(have, want);
	hdb_rows_close(rows);
}

/*
 * If rows are reference names, the rows below a row add up to the row minus its own objects, and
 * the top level does not exceed the heap.
 */
static void by_names(void)
{
	const struct hdb_option options[] = { { "by", "path" }, { "min", "0" } };
	struct hdb_rows *rows = diff(options, 2);
	int64_t left[LEVELS_MAX];
	uint64_t objects = 0, last = 0;

	while (next_row(rows)) {
		const uint64_t level = value_of(rows, "level")->u;

		assert_true(level < LEVELS_MAX && level <= last + 1);
		last = level;
		left[level] = (int64_t)value_of(rows, "retained")->u;
		if (level) {
			left[level - 1] -= left[level];
			assert_true(left[level - 1] >= 0);
		} else {
			objects += value_of(rows, "retained")->u;
		}
		assert_true(value_of(rows, "others")->type != HDB_TYPE_NULL || !level ||
			    contains(rows, "name", " -> "));
	}
	assert_true(objects <= fact_of(rows, "heap_shallow")->u);
	hdb_rows_close(rows);
}

/*
 * Growing references have gained at least the required number of objects, and their exclusive bytes
 * are at most all their bytes.
 */
static void by_growth(void)
{
	for (unsigned loops = 1; loops < 4; loops++) {
		char text[8];
		const struct hdb_option options[] = { { "by", "growth" }, { "loops", text } };
		struct hdb_rows *rows;
		uint64_t nodes = 0;

		(void)snprintf(text, sizeof(text), "%u", loops);
		rows = diff(options, 2);
		while (next_row(rows)) {
			if (value_of(rows, "level")->u) {
				assert_true(value_of(rows, "objects_delta")->i >= (int64_t)loops);
				assert_true(value_of(rows, "objects_before")->u > 0);
			} else if (value_of(rows, "retained")->type != HDB_TYPE_NULL) {
				assert_true(value_of(rows, "retained_alone")->u <=
					    value_of(rows, "retained")->u);
				nodes++;
			}
		}
		assert_int_equal(fact_of(rows, "growing")->u, nodes);
		hdb_rows_close(rows);
	}
}

/* ---- objects ---- */

static bool is_there(const struct world *w, uint32_t v)
{
	return v < w->n && w->is_reachable[v];
}

/* Both worlds use the same IDs. Objects with the same class and ID count as the same object. */
static void by_object(void)
{
	const struct hdb_option options[] = { { "by", "object" }, { "trust-ids", NULL } };
	struct hdb_rows *rows = diff(options, 2);
	uint64_t want[2] = { 0 }, have[2] = { 0 }, last = 0;
	const uint32_t n = before.n > after.n ? before.n : after.n;

	for (uint32_t v = 0; v < n; v++) {
		const bool same = is_there(&before, v) && is_there(&after, v) &&
				  before.class_no[v] == after.class_no[v];

		want[0] += is_there(&before, v) && !same;
		want[1] += is_there(&after, v) && !same;
	}
	while (next_row(rows)) {
		const bool is_new = value_is(rows, "status", "new");
		const uint64_t id = value_of(rows, "id")->u;
		const struct world *own = is_new ? &after : &before,
				   *other = is_new ? &before : &after;
		const uint32_t v = (uint32_t)((id - WORLD_FIRST) / WORLD_STEP);

		assert_true(id >= last);
		last = id;
		assert_true(is_there(own, v));
		assert_false(is_there(other, v) && other->class_no[v] == own->class_no[v]);
		assert_int_equal(value_of(rows, "shallow")->u, own->shallow[v]);
		assert_int_equal(value_of(rows, "retained")->u,
				 v ? world_retained_one(own, v) : value_of(rows, "retained")->u);
		have[is_new]++;
	}
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(have[i], want[i]);
	assert_int_equal(fact_of(rows, "gone_objects")->u, want[0]);
	assert_int_equal(fact_of(rows, "new_objects")->u, want[1]);
	hdb_rows_close(rows);
}

/* ---- conditions ---- */

static void condition(const char *text, uint64_t holds)
{
	const struct hdb_option options[] = { { "fail-if", text } };
	struct hdb_rows *rows = diff(options, 1);

	if (fact_of(rows, "failed")->u != holds)
		fail_msg("%.*s", (int)fact_of(rows, "conditions")->text_size,
			 fact_of(rows, "conditions")->text);
	hdb_rows_close(rows);
}

static void conditions(void)
{
	bool set[2][WORLD_NODES_MAX] = { { false } };
	struct world *worlds[2] = { &before, &after };
	uint64_t retained[2], count[2], bytes[2], unused;
	char text[256];

	for (unsigned w = 0; w < 2; w++) {
		for (uint32_t v = 0; v < worlds[w]->n; v++)
			set[w][v] = worlds[w]->class_no[v] == 1;
		retained[w] = world_retained(worlds[w], set[w], &unused);
		sum_class(worlds[w], 1, &count[w], &bytes[w]);
	}
	(void)snprintf(text, sizeof(text), "retained(a.Two) == %" PRIu64, retained[1]);
	condition(text, 1);
	(void)snprintf(text, sizeof(text), " retained ( a.Two ) > %" PRIu64 "B ", retained[1]);
	condition(text, 0);
	(void)snprintf(text, sizeof(text), "count(a.T*) >= %" PRIu64, count[1]);
	condition(text, 1);
	(void)snprintf(text, sizeof(text), "shallow(a.Two)<%" PRIu64, bytes[1]);
	condition(text, 0);
	(void)snprintf(text, sizeof(text), "growth(retained(a.Two)) == %" PRId64,
		       (int64_t)(retained[1] - retained[0]));
	condition(text, 1);
	(void)snprintf(text, sizeof(text), "growth(count(a.Two)) != %" PRId64,
		       (int64_t)(count[1] - count[0]));
	condition(text, 0);
	if (count[0]) {
		(void)snprintf(
			text, sizeof(text), "growth(count(a.Two)) > %d.0%%",
			1 + (int)(100 * ((double)count[1] - (double)count[0]) / (double)count[0]));
		condition(text, 0);
	}
	condition("count(*) > 100%", 0);
	condition("count(*) >= 99.9%", 1);
	condition("count(no.such) == 0", 1);
	condition("count(a.Two) < 1K", 1);
	condition("suspects() < 1000", 1);
}

static void wrong_conditions(void **state)
{
	static const char *const wrong[] = {
		"",
		"x",
		"retained",
		"retained(",
		"retained()",
		"retained(a)",
		"retained(a) >",
		"retained(a) > x",
		"retained(a) => 5",
		"retained(a) > 5Q",
		"retained(a) > 5 5",
		"growth(retained(a) > 5",
		"growth(suspects()) > 1",
		"suspects(a) > 1",
		"suspects() > 5%",
		"count(a) > 1234567890123456789012",
	};
	uint64_t seed = 5;

	(void)state;
	make(&before, "before.heapdb", 20, &seed);
	make(&after, "after.heapdb", 20, &seed);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct hdb_option options[] = { { "fail-if", wrong[i] } };
		struct hdb_error err = { 0 };
		struct hdb_rows *rows;

		if (open_diff(options, 1, &rows, &err) != HDB_EUSAGE)
			fail_msg("\"%s\" is not refused", wrong[i]);
		assert_true(err.message[0] != '\0');
	}
	world_free(&before);
	world_free(&after);
}

/* ---- tests ---- */

static void random_worlds(void **state)
{
	uint64_t seed = world_seed();

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		make(&before, "before.heapdb", 2 + (uint32_t)(test_random(&seed) % 24), &seed);
		make(&after, "after.heapdb", 2 + (uint32_t)(test_random(&seed) % 24), &seed);
		by_class();
		by_tree();
		by_names();
		by_growth();
		by_object();
		conditions();
		world_free(&before);
		world_free(&after);
	}
}

/* A dump compared with itself, through two handles: nothing has changed, and IDs are stable. */
static void same_dump(void **state)
{
	static const char *const kinds[] = { "class",      "package", "loader",
					     "superclass", "object",  "path",
					     "dominator",  "suspect", "growth" };
	struct hdb_open_options now = { .struct_size = sizeof(now) };
	uint64_t seed = 9;

	(void)state;
	make(&before, "before.heapdb", 200, &seed);
	after = before;
	now.dump_path = dump_paths[0];
	assert_int_equal(hdb_open(before.db_path, &now, &after.db, NULL), HDB_OK);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct hdb_option options[] = { { "by", kinds[i] },
						      { "fail-if", "growth(count(*)) != 0" } };
		struct hdb_rows *rows = diff(options, 2);

		while (next_row(rows)) {
			/* In a tree, the row for nodes that did not grow contains everything. */
			assert_true(i < 4 || value_of(rows, "others")->type != HDB_TYPE_NULL);
			assert_int_equal(value_of(rows, "retained_delta")->i, 0);
			assert_true(value_is(rows, "status", "same"));
		}
		if (strcmp(kinds[i], "object") == 0)
			assert_true(fact_of(rows, "ids_stable")->u);
		assert_int_equal(fact_of(rows, "failed")->u, 0);
		hdb_rows_close(rows);
	}
	hdb_close(after.db);
	world_free(&before);
}

/*
 * Only queries that compare accept other databases, and a database cannot be compared through the
 * same handle.
 */
static void wrong_handles(void **state)
{
	struct hdb_query_args args = { .before = olds, .before_count = 1 };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;
	uint64_t seed = 3;

	(void)state;
	make(&before, "before.heapdb", 20, &seed);
	olds[0] = before.db;
	assert_int_equal(hdb_query(before.db, "top", &args, &rows, &err), HDB_EUSAGE);
	assert_int_equal(hdb_query(before.db, "diff", &args, &rows, &err), HDB_EUSAGE);
	args.before_count = 0;
	assert_int_equal(hdb_query(before.db, "diff", &args, &rows, &err), HDB_EUSAGE);
	world_free(&before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_worlds),
		cmocka_unit_test(wrong_conditions),
		cmocka_unit_test(same_dump),
		cmocka_unit_test(wrong_handles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

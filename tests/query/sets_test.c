/*
 * sets_test.c - retained sizes, histograms, the dominator tree's levels and the checks, on random
 * heaps, compared with the effect of deleting objects.
 */
#include "support/query_world.h"

#include "derive/derive.h"
#include "support/tree_tables.h"

#define WORLDS 40

static struct world world;

/* ---- retained ---- */

static void retained_object(uint32_t v, const char *way)
{
	char id[32];
	const struct ask question = { .query = "retained", .target = id, .options = { "explain" } };
	struct hdb_rows *rows;

	(void)snprintf(id, sizeof(id), "0x%" PRIx64, world_id(v));
	rows = ask_rows(world.db, &question);
	assert_true(next_row(rows));
	assert_int_equal(value_of(rows, "id")->u, world_id(v));
	assert_int_equal(value_of(rows, "shallow")->u, world.shallow[v]);
	assert_int_equal(value_of(rows, "reachable")->u, world.is_reachable[v]);
	assert_int_equal(value_of(rows, "retained")->u, world_retained_one(&world, v));
	assert_true(value_is(rows, "bound", "exact"));
	assert_int_equal(fact_of(rows, "way")->text_size, strlen(way));
	assert_memory_equal(fact_of(rows, "way")->text, way, strlen(way));
	assert_false(next_row(rows));
	hdb_rows_close(rows);
}

/* The members that a target names, as determined by the test itself. */
struct set {
	const char *target;
	bool with_sub;
	unsigned classes; /* bits */
};

static const struct set sets[] = {
	{ "a.One", false, 1 },
	{ "a.One", true, 7 },
	{ "a.Two", true, 6 },
	{ "b.Three", false, 4 },
	{ "a.*", false, 35 },
	{ "a.*", true, 39 },
	{ "?.T*", false, 6 },
	{ "Five", false, 16 },
	{ "loader:a.Loader", false, 24 },
	{ "loader:0x10000", false, 24 },
	{ "b*", false, 12 },
};

/*
 * The part of a class loader's set that is not nodes: its class objects, which retain nothing else.
 */
static uint64_t class_objects(unsigned classes, uint64_t *bytes)
{
	uint64_t count = 0;

	*bytes = 0;
	for (unsigned c = 0; c < WORLD_CLASSES; c++) {
		char id[32];
		const struct ask question = { .query = "retained", .target = id };
		struct hdb_rows *rows;

		if (!(classes >> c & 1))
			continue;
		(void)snprintf(id, sizeof(id), "0x%x", WORLD_OWN + c * 0x100u);
		rows = ask_rows(world.db, &question);
		assert_true(next_row(rows));
		*bytes += value_of(rows, "shallow")->u;
		count++;
		hdb_rows_close(rows);
	}
	return count;
}

static void retained_set(const struct set *set, bool quick)
{
	const bool is_loader = strncmp(set->target, "loader:", 7) == 0;
	const struct ask question = {
		.query = "retained",
		.target = set->target,
		.options = { quick         ? "lower-bound" :
			     set->with_sub ? "subclasses" :
					     NULL,
			     quick && set->with_sub ? "subclasses" : NULL },
	};
	struct hdb_rows *rows = ask_rows(world.db, &question);
	bool member[WORLD_NODES_MAX];
	uint64_t count = 0, bytes = 0, want, goes = 0, class_bytes = 0;

	/* A class loader's set also contains the class loader, node 0, and its class objects. */
	if (is_loader)
		count = class_objects(set->classes, &class_bytes);
	bytes = class_bytes;
	goes = count;
	for (uint32_t v = 0; v < world.n; v++) {
		member[v] = (set->classes >> world.class_no[v] & 1) || (is_loader && v == 0);
		count += member[v] && world.is_reachable[v];
		bytes += member[v] && world.is_reachable[v] ? world.shallow[v] : 0;
	}
	want = class_bytes;
	if (quick) {
		want += world_bound(&world, member);
	} else {
		uint64_t nodes = 0;

		want += world_retained(&world, member, &nodes);
		goes += nodes;
	}
	assert_true(next_row(rows));
	assert_int_equal(value_of(rows, "objects")->u, count);
	assert_int_equal(value_of(rows, "shallow")->u, bytes);
	assert_int_equal(value_of(rows, "exact")->u, !quick);
	assert_true(value_is(rows, "bound", quick ? "lower bound" : "exact"));
	if (value_of(rows, "retained")->u != want)
		fail_msg("%s%s: %" PRIu64 ", not %" PRIu64, set->target, quick ? " quick" : "",
			 value_of(rows, "retained")->u, want);
	if (!quick)
		assert_int_equal(value_of(rows, "retained_objects")->u, goes);
	hdb_rows_close(rows);
}

static void ask_for_sets(bool quick)
{
	for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
		retained_set(&sets[s], quick);
}

static void retained_all(uint64_t *seed)
{
	/*
	 * In addition to its root, the class loader's classes keep node 0 alive, so it is not
	 * tested.
	 */
	for (uint32_t v = 1; v < world.n; v++)
		retained_object(v, "local");
	ask_for_sets(false);
	/* Without a budget, the table is built once. */
	const struct ask over = { .query = "retained",
				  .target = "0x10020",
				  .options = { "budget=1", "explain" } };
	struct hdb_rows *rows = ask_rows(world.db, &over);

	hdb_rows_close(rows);
	if (test_random(seed) % 2) {
		const struct ask top = { .query = "top" };

		hdb_rows_close(ask_rows(world.db, &top));
	} else {
		/* by walking the tree; below, by the totals if they can answer */
		ask_for_sets(true);
		const struct ask top = { .query = "top" };

		hdb_rows_close(ask_rows(world.db, &top));
	}
	for (uint32_t v = 1; v < world.n; v++)
		retained_object(v, "table");
	ask_for_sets(true);
	ask_for_sets(false);
}

/* ---- histograms ---- */

struct sums {
	uint64_t count, shallow, lost_count, lost_shallow;
};

static void add(struct sums *sums, uint32_t v)
{
	if (world.is_reachable[v]) {
		sums->count++;
		sums->shallow += world.shallow[v];
	} else {
		sums->lost_count++;
		sums->lost_shallow += world.shallow[v];
	}
}

/* Computes the expected contents of the row's group. Returns false if the group has no node. */
static bool group_sums(const struct hdb_rows *rows, const char *by, struct sums *sums)
{
	const struct hdb_value *name = value_of(rows, "name");
	bool any = false;

	*sums = (struct sums){ 0 };
	for (uint32_t v = 0; v < world.n; v++) {
		const int c = world.class_no[v];
		bool in = false;

		if (strcmp(by, "loader") == 0) {
			in = world_classes[c].has_loader == value_is(rows, "name", "a.Loader");
		} else if (strcmp(by, "package") == 0) {
			in = value_is(rows, "name", world_classes[c].package);
		} else {
			for (int k = 0; k < WORLD_CLASSES; k++) {
				char dotted[32];

				(void)snprintf(dotted, sizeof(dotted), "%s", world_classes[k].name);
				for (char *p = dotted; *p; p++)
					*p = *p == '/' ? '.' : *p;
				if (name->text_size == strlen(dotted) &&
				    memcmp(name->text, dotted, name->text_size) == 0)
					in = strcmp(by, "class") == 0 ? k == c : world_is_sub(c, k);
			}
		}
		if (in)
			add(sums, v);
		any = any || in;
	}
	return any;
}

static void histogram_by(const char *by)
{
	char option[32];
	const struct ask question = { .query = "histogram", .options = { option } };
	uint64_t before = UINT64_MAX, groups = 0, nodes = 0;
	struct hdb_rows *rows;

	(void)snprintf(option, sizeof(option), "by=%s", by);
	rows = ask_rows(world.db, &question);
	while (next_row(rows)) {
		const uint64_t classes =
			strcmp(by, "loader") == 0 && value_is(rows, "name", "<boot>") ?
				WORLD_CLASSES + 2 :
				0;
		struct sums sums;

		assert_true(value_of(rows, "shallow")->u <= before);
		before = value_of(rows, "shallow")->u;
		groups++;
		if (!group_sums(rows, by, &sums))
			continue;
		nodes += sums.count + sums.lost_count;
		assert_int_equal(value_of(rows, "objects")->u, sums.count + classes);
		if (!classes)
			assert_int_equal(value_of(rows, "shallow")->u, sums.shallow);
		assert_int_equal(value_of(rows, "unreachable_objects")->u, sums.lost_count);
		assert_int_equal(value_of(rows, "unreachable_shallow")->u, sums.lost_shallow);
		/*
		 * Class objects count for <boot>, but their retained size belongs to the class
		 * loaders of their classes.
		 */
		if (!classes)
			assert_true(value_of(rows, "retained")->u >= value_of(rows, "shallow")->u);
	}
	if (strcmp(by, "superclass") != 0)
		assert_int_equal(nodes, world.n);
	assert_int_equal(fact_of(rows, "groups")->u, groups);
	assert_int_equal(fact_of(rows, "objects")->u + fact_of(rows, "unreachable_objects")->u,
			 world.n + WORLD_CLASSES + 2);
	hdb_rows_close(rows);
}

/*
 * The pass without tables gives the same counts as the tables, for reachable and unreachable
 * objects.
 */
static void histogram_shallow(const char *by)
{
	char option[32];
	const struct ask slow = { .query = "histogram", .options = { option }, .sort = "name" };
	const struct ask quick = { .query = "histogram",
				   .options = { option, "shallow" },
				   .sort = "name" };
	struct hdb_rows *a, *b;

	(void)snprintf(option, sizeof(option), "by=%s", by);
	b = ask_rows(world.db, &quick);
	a = ask_rows(world.db, &slow);
	while (next_row(a)) {
		assert_true(next_row(b));
		assert_int_equal(value_of(a, "objects")->u + value_of(a, "unreachable_objects")->u,
				 value_of(b, "objects")->u);
		assert_int_equal(value_of(a, "shallow")->u + value_of(a, "unreachable_shallow")->u,
				 value_of(b, "shallow")->u);
	}
	assert_false(next_row(b));
	hdb_rows_close(a);
	hdb_rows_close(b);
}

static void unreachable_all(void)
{
	const struct ask question = { .query = "unreachable" };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	uint64_t count = 0, want = 0;

	for (uint32_t v = 0; v < world.n; v++)
		want += !world.is_reachable[v];
	while (next_row(rows)) {
		struct sums sums;

		assert_true(group_sums(rows, "class", &sums));
		assert_int_equal(value_of(rows, "objects")->u, sums.lost_count);
		assert_int_equal(value_of(rows, "shallow")->u, sums.lost_shallow);
		count += sums.lost_count;
	}
	assert_int_equal(count, want);
	assert_int_equal(fact_of(rows, "unreachable_objects")->u, want);
	hdb_rows_close(rows);
}

/* ---- dominators ---- */

/*
 * Checks one level: largest first, each a node that the object dominates. Together they have the
 * object's retained size.
 */
static uint64_t level_sum(const char *target, uint64_t *nodes)
{
	const struct ask question = { .query = "dominators", .target = target };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	uint64_t sum = 0, before = UINT64_MAX, count = 0, total;

	while (next_row(rows)) {
		const uint64_t id = value_of(rows, "id")->u;

		assert_true(value_of(rows, "retained")->u <= before);
		before = value_of(rows, "retained")->u;
		sum += before;
		count++;
		/*
		 * The object that represents the boot loader is shown only if it holds something.
		 */
		assert_true(id || value_of(rows, "children")->u);
		if (id < WORLD_FIRST)
			continue;
		(*nodes)++;
		assert_int_equal(before, world_retained_one(&world, (uint32_t)((id - WORLD_FIRST) /
									       WORLD_STEP)));
	}
	assert_int_equal(hdb_rows_total(rows, &total, NULL), HDB_OK);
	assert_int_equal(total, count);
	assert_int_equal(fact_of(rows, "children")->u, count);
	hdb_rows_close(rows);
	return sum;
}

static void dominators_all(void)
{
	uint64_t nodes = 0, want = 0;

	(void)level_sum(NULL, &nodes);
	for (uint32_t v = 0; v < world.n; v++) {
		char id[32];
		uint64_t sum;

		(void)snprintf(id, sizeof(id), "0x%" PRIx64, world_id(v));
		sum = level_sum(id, &nodes);
		want += world.is_reachable[v];
		assert_int_equal(world.is_reachable[v] ? sum + world.shallow[v] : sum,
				 world_retained_one(&world, v));
	}
	/*
	 * The object that represents the boot loader dominates its class, which the dump lacks and
	 * which holds nothing.
	 */
	const struct ask boot = { .query = "dominators", .target = "0x0" };
	struct hdb_rows *rows = ask_rows(world.db, &boot);

	assert_int_equal(fact_of(rows, "children")->u, 0);
	assert_false(next_row(rows));
	hdb_rows_close(rows);
	/* Each node is in one level. */
	assert_int_equal(nodes, want);
}

/*
 * A limited tree: largest first, and the shown and omitted children of a node add up to the node.
 */
static void dominators_cut(const char *most)
{
	const struct ask question = { .query = "dominators", .options = { most } };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	uint64_t room[66] = { 0 }, shown = 0;
	const uint64_t whole = fact_of(rows, "heap_shallow")->u;

	room[0] = whole;
	while (next_row(rows)) {
		const uint64_t level = value_of(rows, "level")->u;
		const uint64_t retained = value_of(rows, "retained")->u;

		assert_true(level < 65);
		/*
		 * The object that represents the boot loader, and objects that the dump lacks, are
		 * not part of the heap.
		 */
		if (value_of(rows, "id")->type != HDB_TYPE_NULL &&
		    value_of(rows, "id")->u < WORLD_FIRST) {
			room[level + 1] = retained;
			continue;
		}
		assert_true(retained <= room[level]);
		room[level] -= retained;
		if (value_of(rows, "others")->type != HDB_TYPE_NULL) {
			assert_true(level == 0 || room[level] == 0);
			continue;
		}
		shown++;
		room[level + 1] = retained - value_of(rows, "shallow")->u;
	}
	assert_true(shown <= strtoull(most + strlen("tree="), NULL, 10));
	hdb_rows_close(rows);
}

static void grouped_level(void)
{
	const struct ask plain = { .query = "dominators" };
	const struct ask grouped = { .query = "dominators", .options = { "by=package" } };
	const struct ask *asks[2] = { &plain, &grouped };
	uint64_t sums[2] = { 0 }, counts[2] = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		struct hdb_rows *rows = ask_rows(world.db, asks[i]);

		while (next_row(rows)) {
			sums[i] += value_of(rows, "retained")->u;
			counts[i] += i ? value_of(rows, "objects")->u : 1;
		}
		hdb_rows_close(rows);
	}
	assert_int_equal(sums[0], sums[1]);
	assert_int_equal(counts[0], counts[1]);
}

static void check_all(uint64_t failures_wanted)
{
	const struct ask question = { .query = "check" };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	uint64_t failed = 0;

	while (next_row(rows)) {
		if (value_is(rows, "result", "failed"))
			failed++;
		if (value_is(rows, "result", "failed") && !failures_wanted)
			fail_msg("%.*s", (int)value_of(rows, "detail")->text_size,
				 value_of(rows, "detail")->text);
	}
	assert_int_equal(failed, fact_of(rows, "failed")->u);
	assert_int_equal(failed, failures_wanted);
	hdb_rows_close(rows);
}

/* ---- tests ---- */

static void random_worlds(void **state)
{
	static const char *const groupings[] = { "class", "superclass", "package", "loader" };
	uint64_t seed = world_seed();

	(void)state;
	for (unsigned i = 0; i < WORLDS; i++) {
		world_make(&world, 2 + (uint32_t)(test_random(&seed) % 40), &seed);
		check_all(0);
		unreachable_all();
		retained_all(&seed);
		unreachable_all();
		for (size_t g = 0; g < 4; g++) {
			histogram_shallow(groupings[g]);
			histogram_by(groupings[g]);
		}
		dominators_all();
		dominators_cut("tree=1");
		dominators_cut("tree=7");
		dominators_cut("tree=1000");
		grouped_level();
		check_all(0);
		world_free(&world);
	}
}

/* Writes dominators (all objects at the top level) and retained sizes that are wrong for `liar`. */
static void write_lies(uint32_t liar)
{
	uint64_t retained[WORLD_NODES_MAX + WORLD_CLASSES + 16] = { 0 };
	uint64_t dominators[WORLD_NODES_MAX + WORLD_CLASSES + 16];
	struct base_work work;
	struct heap *heap;

	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(heap_open(world.db_path, NULL, &work, &heap, NULL), HDB_OK);
	retained[liar] = 1;
	for (uint32_t i = 0; i < heap->object_count; i++)
		dominators[i] = 1;
	tree_tables_put(heap, dominators, retained);
	heap_close(heap);
}

/* Tables whose checksums are right, but which contradict other tables. */
static void lies_are_found(void **state)
{
	const struct ask reach = { .query = "retained", .target = "0x10020" };
	uint64_t seed = 7;

	(void)state;
	world_make(&world, 60, &seed);
	hdb_rows_close(ask_rows(world.db, &reach));
	hdb_close(world.db);
	write_lies(20);
	assert_int_equal(hdb_open(world.db_path, NULL, &world.db, NULL), HDB_OK);
	/* "retained", and "reach and dominators" since not all of the world is reachable. */
	check_all(2);
	world_free(&world);
}

/* Returns the result of a check on the unchanged database. */
static bool has_failed(const char *check)
{
	const struct ask question = { .query = "check" };
	struct hdb_rows *rows = ask_rows(world.db, &question);
	bool is_there = false, failed = false;

	while (next_row(rows)) {
		if (!value_is(rows, "name", check))
			continue;
		is_there = true;
		failed = value_is(rows, "result", "failed");
		if (!failed && !value_is(rows, "result", "ok"))
			fail_msg("%s: neither ok nor failed", check);
	}
	hdb_rows_close(rows);
	if (!is_there)
		fail_msg("%s is not checked", check);
	return failed;
}

/* Writes a column of one table with the same value for every object. */
static void write_column(enum store_table table, uint64_t value)
{
	uint64_t values[WORLD_NODES_MAX + WORLD_CLASSES + 16];
	const uint64_t *columns[] = { values };
	struct base_work work;
	struct heap *heap;

	hdb_close(world.db);
	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(heap_open(world.db_path, NULL, &work, &heap, NULL), HDB_OK);
	assert_true(heap->object_count <= sizeof(values) / sizeof(values[0]));
	for (uint32_t i = 0; i < heap->object_count; i++)
		values[i] = value;
	tree_tables_write(heap, (struct store_tables){ &table, 1 }, columns);
	heap_close(heap);
	assert_int_equal(hdb_open(world.db_path, NULL, &world.db, NULL), HDB_OK);
}

/* The same for the tables of depths and native memory, and for the tables by strength. */
static void other_lies_are_found(void **state)
{
	const struct ask build[] = {
		{ .query = "retained", .target = "0x10020" },
		{ .query = "dominators" },
		{ .query = "dominator-tree" },
	};
	const struct ask strong = { .query = "dominators", .options = { "retained=strong" } };
	uint64_t seed = 7;

	(void)state;
	world_make(&world, 60, &seed);
	for (size_t i = 0; i < sizeof(build) / sizeof(build[0]); i++)
		hdb_rows_close(ask_rows(world.db, &build[i]));
	hdb_rows_close(ask_rows(world.db, &strong));
	check_all(0);
	assert_false(has_failed("whole"));
	assert_false(has_failed("retained (strong)"));
	/* Unreachable objects have no parent, and not all other objects are roots. */
	write_column(STORE_DEPTH, 1);
	assert_true(has_failed("depth"));
	write_column(STORE_VIEW(4, STORE_VIEW_DOMINATORS), 1);
	write_column(STORE_VIEW(4, STORE_VIEW_RETAINED), 3);
	assert_true(has_failed("retained (weak)"));
	assert_false(has_failed("retained (strong)"));
	assert_false(has_failed("retained"));
	world_free(&world);
	/* Native memory that the dump does not record, and sums that lack it. */
	world_make(&world, 60, &seed);
	write_column(STORE_NATIVE, 5);
	assert_true(has_failed("native"));
	write_column(STORE_RETAINED_NATIVE, 0);
	hdb_rows_close(ask_rows(world.db, &build[2]));
	assert_true(has_failed("retained native"));
	assert_false(has_failed("retained"));
	world_free(&world);
}

/* ---- wrong sums ---- */

/* Number of heaps with a column in a world with heaps: no heap, and the two heaps. */
#define HEAPS 3u

/* A database whose tables are read or written directly. */
struct opened {
	struct base_work work;
	struct heap *heap;
	struct derive derive;
};

/* Creates a world, always the same, and builds the tables `need`. */
static void open_world(struct opened *o, enum store_table need)
{
	uint64_t seed = 7;

	world_make(&world, 60, &seed);
	hdb_close(world.db);
	base_work_init(&o->work, 0, 1, NULL);
	assert_int_equal(heap_open(world.db_path, NULL, &o->work, &o->heap, NULL), HDB_OK);
	derive_init(&o->derive, o->heap, &o->work);
	assert_int_equal(derive_need(&o->derive, need, NULL), HDB_OK);
	assert_int_equal(heap_block_count(o->heap), 1);
}

static struct store_writer *begin(struct opened *o, enum store_table table)
{
	struct store_writer *writer;

	assert_int_equal(store_build(o->heap->store, (struct store_tables){ &table, 1 }, &o->work,
				     &writer, NULL),
			 HDB_OK);
	return writer;
}

static void close_world(struct opened *o, struct store_writer *writer)
{
	if (writer)
		assert_int_equal(store_publish(writer, NULL, NULL), HDB_OK);
	derive_release(&o->derive);
	heap_close(o->heap);
	assert_int_equal(hdb_open(world.db_path, NULL, &world.db, NULL), HDB_OK);
}

/* A number in a table's last record, by its position, and the check that verifies it. */
struct record_lie {
	enum store_table table;
	size_t size, place; /* bytes */
	const char *check;
};

/* All records of a table with the right values. */
static uint8_t *read_records(const struct record_lie *lie, uint64_t *count)
{
	struct opened o;
	uint8_t *records;

	open_world(&o, lie->table);
	*count = store_record_count(o.heap->store, lie->table);
	records = calloc(*count, lie->size);
	assert_non_null(records);
	assert_true(*count > 0);
	for (uint64_t i = 0; i < *count; i++)
		assert_int_equal(
			store_record(o.heap->store, lie->table, i, records + i * lie->size, NULL),
			HDB_OK);
	close_world(&o, NULL);
	assert_false(has_failed(lie->check));
	world_free(&world);
	return records;
}

/*
 * Writes the records to another database of the same world, with one bit flipped if `is_lie` is
 * set.
 */
static bool is_record_lie_found(const struct record_lie *lie, bool is_lie)
{
	uint64_t count, number;
	uint8_t *records = read_records(lie, &count);
	uint8_t *place = records + (count - 1) * lie->size + lie->place;
	struct store_writer *writer;
	struct opened o;
	bool failed;

	memcpy(&number, place, sizeof(number));
	number ^= is_lie;
	memcpy(place, &number, sizeof(number));
	open_world(&o, STORE_RETAINED);
	writer = begin(&o, lie->table);
	assert_int_equal(store_records_put_all(writer, lie->table, records, count, NULL), HDB_OK);
	close_world(&o, writer);
	failed = has_failed(lie->check);
	world_free(&world);
	free(records);
	return failed;
}

#define TOTALS_LIE(field) \
	{ \
		STORE_TOTALS, sizeof(struct derive_total), offsetof(struct derive_total, field), \
			"totals" \
	}
#define WHOLE_LIE(field) \
	{ \
		STORE_WHOLE, sizeof(struct derive_heap_totals), \
			offsetof(struct derive_heap_totals, field), "whole" \
	}

static void sums_that_lie_are_found(void **state)
{
	static const struct record_lie lies[] = {
		TOTALS_LIE(count),
		TOTALS_LIE(shallow_bytes),
		TOTALS_LIE(unreachable_count),
		TOTALS_LIE(unreachable_bytes),
		WHOLE_LIE(count),
		WHOLE_LIE(shallow_bytes),
		WHOLE_LIE(unreachable_count),
		WHOLE_LIE(unreachable_bytes),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		if (!is_record_lie_found(&lies[i], true))
			fail_msg("lie %zu, in %s, is not found", i, lies[i].check);
		assert_false(is_record_lie_found(&lies[i], false));
	}
}

/* Writes the retained sizes of objects in each heap, with one number increased by `more`. */
static bool is_heap_lie_found(const uint64_t *right, uint32_t heap_no, uint32_t liar, uint64_t more)
{
	static uint64_t values[HEAPS * STORE_BLOCK_OBJECTS];
	struct base_vec block = { 0 };
	struct store_writer *writer;
	struct opened o;
	bool failed;

	memcpy(values, right, sizeof(values));
	values[heap_no * STORE_BLOCK_OBJECTS + liar] += more;
	open_world(&o, STORE_RETAINED);
	writer = begin(&o, STORE_RETAINED_HEAPS);
	for (uint32_t no = 0; no < HEAPS; no++) {
		const uint32_t first = no * STORE_BLOCK_OBJECTS;

		block.count = 0;
		assert_int_equal(
			base_pack_encode(&block, values + first, STORE_BLOCK_OBJECTS, NULL),
			HDB_OK);
		assert_int_equal(store_put(writer, STORE_RETAINED_HEAPS,
					   &(struct store_block){ .key = first,
								  .item_count = STORE_BLOCK_OBJECTS,
								  .data = block.data,
								  .size = block.count },
					   NULL),
				 HDB_OK);
	}
	assert_int_equal(
		store_put_table(writer, STORE_RETAINED_HEAPS, HEAPS * STORE_BLOCK_OBJECTS, NULL),
		HDB_OK);
	base_vec_release(&block);
	close_world(&o, writer);
	failed = has_failed("retained heaps");
	world_free(&world);
	return failed;
}

static void heaps_that_lie_are_found(void **state)
{
	static uint64_t right[HEAPS * STORE_BLOCK_OBJECTS];
	struct store_column column = { .table = STORE_RETAINED_HEAPS };
	struct opened o;
	uint32_t liar = 0;

	(void)state;
	world_has_heaps = true;
	open_world(&o, STORE_RETAINED_HEAPS);
	column.store = o.heap->store;
	column.ix_count = HEAPS * STORE_BLOCK_OBJECTS;
	for (uint32_t i = 0; i < column.ix_count; i++)
		assert_int_equal(store_column_get(&column, i, &right[i], NULL), HDB_OK);
	store_column_release(&column);
	close_world(&o, NULL);
	assert_false(has_failed("retained heaps"));
	/* Objects that retain something are reachable. Other objects have no size by heap. */
	while (liar < STORE_BLOCK_OBJECTS && !right[STORE_BLOCK_OBJECTS + liar])
		liar++;
	assert_true(liar < STORE_BLOCK_OBJECTS);
	world_free(&world);
	for (uint32_t no = 0; no < HEAPS; no++)
		if (!is_heap_lie_found(right, no, liar, 1))
			fail_msg("a lie on heap %u is not found", no);
	assert_false(is_heap_lie_found(right, 0, liar, 0));
	world_has_heaps = false;
}

/* A big list with repeated entries: its referrers are listed once. */
static void repeated_references(void **state)
{
	const struct ask build = { .query = "retained", .target = "0x10000" };
	uint64_t seed = 11;

	(void)state;
	world_array_size = 5000;
	world_make(&world, 30, &seed);
	world_array_size = 0;
	hdb_rows_close(ask_rows(world.db, &build));
	check_all(0);
	world_free(&world);
}

/* All checks pass on the sample dump. */
static void sample_checks(void **state)
{
	const struct hdb_import_options opt = { .force = 1 };
	const struct ask build[] = {
		{ .query = "retained", .target = "0x0" },
		{ .query = "dominators" },
	};
	const char *dump = getenv("DUMP");
	struct hdb_error err = { 0 };

	(void)state;
	if (!dump || access(dump, R_OK) != 0)
		skip();
	(void)snprintf(world.db_path, sizeof(world.db_path), "%s", temp_path("sample.heapdb"));
	if (hdb_import(dump, world.db_path, &opt, NULL, &err) < 0 ||
	    hdb_open(world.db_path, NULL, &world.db, &err) < 0)
		fail_msg("%s", err.message);
	check_all(0);
	for (size_t i = 0; i < sizeof(build) / sizeof(build[0]); i++)
		hdb_rows_close(ask_rows(world.db, &build[i]));
	check_all(0);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_worlds),
		cmocka_unit_test(lies_are_found),
		cmocka_unit_test(other_lies_are_found),
		cmocka_unit_test(repeated_references),
		cmocka_unit_test(sample_checks),
		cmocka_unit_test(sums_that_lie_are_found),
		cmocka_unit_test(heaps_that_lie_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

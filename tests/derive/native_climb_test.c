/*
 * native_climb_test.c - native memory below objects. Climbing from the owners and passes over all
 * objects give the same sums as walking up from each owner, on deep lists of owners and on trees
 * with few owners, with any number of threads. Cycles in a table of dominators are reported as
 * damage.
 */
#include "derive/native_climb.h"

#include "derive/build.h"
#include "import/import.h"
#include "support/hprof_writer.h"
#include "support/temp.h"
#include "support/tree_tables.h"

/* Numbers of nodes: two blocks, four blocks, one block. */
enum { DEEP = 20000, WIDE = 60000, SMALL = 1000 };
enum { OBJECT = 0x1000, CLASS = 0x1100, BUFFER = 0x1200, CLEANER = 0x1300, FIRST = 0x100000 };
/* Multiplier that scatters the positions of nodes. */
enum { STRIDE = 7919 };

/* Nodes are direct buffers, and each refers to two others. */
struct shape {
	uint32_t count;
	bool is_list;        /* true: each node is below the previous node; false: a binary tree */
	bool is_scattered;   /* the position of a node is independent of its depth */
	uint32_t owner_from; /* the first node that owns memory */
	uint32_t owner_step; /* from there on, one node in this many owns memory */
};

struct opened {
	struct base_work work;
	struct heap *heap;
	struct derive derive;
	char path[512];
};

static char dump_path[512];

/* Nothing refers to the last ten nodes. */
static uint64_t id_of(const struct shape *s, uint64_t node)
{
	const uint64_t place = s->is_scattered ? node * STRIDE % s->count : node;

	return FIRST + place * 64;
}

static uint64_t link_to(const struct shape *s, uint64_t node)
{
	return node < s->count - 10 ? id_of(s, node) : 0;
}

static void put_node(struct hw *w, const struct shape *s, uint64_t node)
{
	const bool is_owner = node >= s->owner_from && node % s->owner_step == 0;
	struct hw values = { .id_size = 8 };

	hw_u4(&values, is_owner ? 1000 + (uint32_t)node : 0);
	hw_id(&values, CLEANER);
	hw_id(&values, 0);
	hw_id(&values, link_to(s, s->is_list ? node + 1 : 2 * node + 1));
	hw_id(&values, s->is_list ? 0 : link_to(s, 2 * node + 2));
	hw_instance(w, id_of(s, node), BUFFER, values.data, (uint32_t)values.size);
	hw_release(&values);
}

static void begin_dump(struct hw *w)
{
	static const char *const names[] = { "java/lang/Object", "java/lang/Class",
					     "java/nio/DirectByteBuffer" };
	static const char *const fields[] = { "capacity", "cleaner", "att", "left", "right" };
	const struct hprof_field types[] = { { 11, HPROF_INT },
					     { 12, HPROF_OBJECT },
					     { 13, HPROF_OBJECT },
					     { 14, HPROF_OBJECT },
					     { 15, HPROF_OBJECT } };
	const struct hw_class classes[] = {
		{ .id = OBJECT },
		{ .id = CLASS, .super_id = OBJECT },
		{ .id = BUFFER, .super_id = OBJECT, .fields = types, .field_count = 5 },
	};

	hw_init(w, HPROF_1_0_2, 8, 0);
	for (unsigned i = 0; i < 5; i++)
		hw_utf8(w, 11 + i, fields[i]);
	for (unsigned i = 0; i < 3; i++) {
		hw_utf8(w, 1 + i, names[i]);
		hw_load_class(w, 1 + i, classes[i].id, 0, 1 + i);
	}
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (unsigned i = 0; i < 3; i++)
		hw_class(w, &classes[i]);
	hw_instance(w, CLEANER, OBJECT, NULL, 0);
}

static void write_dump(const struct shape *s)
{
	struct hw w;

	(void)snprintf(dump_path, sizeof(dump_path), "%s", temp_path("climb.hprof"));
	begin_dump(&w);
	hw_root(&w, HPROF_ROOT_JNI_GLOBAL, id_of(s, 0), 0, 0);
	for (uint32_t node = 0; node < s->count; node++)
		put_node(&w, s, node);
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, dump_path), 0);
	hw_release(&w);
}

static void open_it(struct opened *o, const struct shape *s, unsigned threads)
{
	const struct hdb_import_options opt = { .force = 1 };
	struct hdb_error err = { 0 };

	write_dump(s);
	(void)snprintf(o->path, sizeof(o->path), "%s", temp_path("climb.heapdb"));
	base_work_init(&o->work, 0, threads, NULL);
	if (import_dump((struct import_paths){ .dump = dump_path, .database = o->path }, &opt,
			&o->work, NULL, &err) != HDB_OK)
		fail_msg("import: %s", err.message);
	assert_int_equal(heap_open(o->path, dump_path, &o->work, &o->heap, &err), HDB_OK);
	derive_init(&o->derive, o->heap, &o->work);
	assert_int_equal(heap_load_classes(o->heap, &err), HDB_OK);
}

static void close_it(struct opened *o)
{
	derive_release(&o->derive);
	heap_close(o->heap);
	base_work_release(&o->work);
	temp_remove_db(o->path);
	(void)unlink(dump_path);
}

/* Computes the sums by walking up from each owner. Owned: free(). */
static uint64_t *plain_below(struct opened *o)
{
	const uint32_t n = o->heap->object_count;
	uint64_t *below = calloc(n, sizeof(*below)), bytes;
	uint32_t *up = calloc((size_t)n + STORE_BLOCK_OBJECTS, sizeof(*up));

	assert_true(below && up);
	for (uint32_t b = 0; b < heap_block_count(o->heap); b++)
		assert_int_equal(derive_dominator_block(&o->derive, b,
							up + (size_t)b * STORE_BLOCK_OBJECTS, NULL),
				 HDB_OK);
	for (uint32_t ix = 0; ix < n; ix++) {
		assert_int_equal(derive_native_of(&o->derive, ix, &bytes, NULL), HDB_OK);
		for (uint32_t at = ix; bytes && up[at] != at && up[at] != GRAPH_NONE; at = up[at])
			below[up[at]] += bytes;
	}
	free(up);
	return below;
}

/* Compares the table with the results of climbing, for any limit on the objects it visits. */
static void compare(struct opened *o, const uint64_t *plain)
{
	struct base_vec list = { 0 };
	size_t at = 0;
	uint64_t value;

	assert_int_equal(derive_need(&o->derive, STORE_RETAINED_NATIVE, NULL), HDB_OK);
	assert_int_equal(derive_native_below(&o->derive, UINT32_MAX, &list, NULL), HDB_OK);
	for (uint32_t ix = 0; ix < o->heap->object_count; ix++) {
		assert_int_equal(store_column_get(&o->derive.retained_native, ix, &value, NULL),
				 HDB_OK);
		assert_int_equal(value, plain[ix]);
		if (!plain[ix])
			continue;
		assert_true(at < list.count);
		assert_int_equal(base_vec_at(&list, struct derive_native, at)->ix, ix);
		assert_int_equal(base_vec_at(&list, struct derive_native, at++)->bytes, plain[ix]);
	}
	assert_int_equal(at, list.count);
	base_vec_release(&list);
}

/* `few`: the table is built by climbing. */
static void check_shape(const struct shape *s, bool few)
{
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct base_vec list = { 0 };
		struct opened o = { 0 };
		uint64_t *plain;
		bool has;

		open_it(&o, s, threads);
		assert_int_equal(derive_has_native(&o.derive, &has, NULL), HDB_OK);
		assert_true(has);
		plain = plain_below(&o);
		assert_int_equal(derive_native_below(&o.derive,
						     derive_climb_limit(o.heap->object_count),
						     &list, NULL),
				 few ? HDB_OK : HDB_NOTFOUND);
		compare(&o, plain);
		base_vec_release(&list);
		free(plain);
		close_it(&o);
	}
}

static void test_deep(void **state)
{
	(void)state;
	check_shape(&(struct shape){ DEEP, true, false, 0, 1 }, false);
	check_shape(&(struct shape){ DEEP, true, true, 0, 3 }, false);
}

static void test_few(void **state)
{
	(void)state;
	check_shape(&(struct shape){ WIDE, false, false, 50000, 50 }, true);
	check_shape(&(struct shape){ WIDE, false, true, 0, 200 }, true);
	check_shape(&(struct shape){ SMALL, true, true, 0, 1 }, true);
}

/* With any limit, climbing either succeeds or gives up. */
static void test_limits(void **state)
{
	const struct shape s = { SMALL, false, true, 0, 10 };
	struct base_vec list = { 0 };
	struct opened o = { 0 };
	bool has, was_enough = false;
	int r;

	(void)state;
	open_it(&o, &s, 1);
	assert_int_equal(derive_has_native(&o.derive, &has, NULL), HDB_OK);
	assert_int_equal(derive_need(&o.derive, STORE_DOMINATORS, NULL), HDB_OK);
	for (uint32_t limit = 0; limit <= SMALL; limit++) {
		list.count = 0;
		r = derive_native_below(&o.derive, limit, &list, NULL);
		assert_int_equal(r == HDB_OK, list.count > 0);
		assert_true(r == HDB_OK || (r == HDB_NOTFOUND && !was_enough));
		was_enough = r == HDB_OK;
	}
	assert_true(was_enough);
	base_vec_release(&list);
	close_it(&o);
}

/* Finds the next owner from an object on. */
static uint32_t owner_from(struct opened *o, uint32_t ix)
{
	uint64_t bytes = 0;

	for (; ix < o->heap->object_count; ix++) {
		assert_int_equal(derive_native_of(&o->derive, ix, &bytes, NULL), HDB_OK);
		if (bytes)
			return ix;
	}
	fail();
	return ix;
}

/* An owner below a cycle of this many objects, or in it. */
static void test_circles(void **state)
{
	static const uint32_t sizes[] = { 2, 3, 100 };
	const struct shape s = { SMALL, true, false, 500, 100 };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint32_t size = sizes[i / 2], first = 50;
		uint64_t dominators[SMALL + 100], retained[SMALL + 100] = { 0 };
		struct hdb_error err = { 0 };
		struct opened o = { 0 };
		uint32_t owner;

		open_it(&o, &s, 1);
		owner = owner_from(&o, 0);
		assert_in_range(o.heap->object_count, first + 100, SMALL + 100);
		for (uint32_t ix = 0; ix < o.heap->object_count; ix++)
			dominators[ix] = derive_tree_value(ix, GRAPH_NONE);
		for (uint32_t ix = first; ix < first + size; ix++)
			dominators[ix] = derive_tree_value(ix, ix + 1);
		dominators[first + size - 1] = derive_tree_value(first + size - 1, first);
		dominators[owner] = derive_tree_value(owner, first);
		if (i % 2)
			dominators[first + 1] = derive_tree_value(first + 1, owner);
		tree_tables_put(o.heap, dominators, retained);
		assert_int_equal(derive_need(&o.derive, STORE_RETAINED_NATIVE, &err), HDB_ECORRUPT);
		assert_non_null(strstr(err.message, "no tree"));
		close_it(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * tables_test.c - every derived table has the same bytes with any memory budget and number
 * of threads, on every shape that hprofgen makes and on lists of leaves that are too long to be
 * sorted at once, and whether the top level is built from notes or not. The totals equal those of a
 * plain walk over the dominator tree, a search for single paths finds the paths of the whole tree,
 * and the referrers of a few objects equal those in the table.
 */
#include "derive/build.h"
#include "derive/strangeness.h"
#include "import/import.h"
#include "support/domtree.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* A budget far below the size of any table, so everything that can be in a file is. */
#define TINY ((uint64_t)1 << 16)

static const enum store_table tables[] = {
	STORE_REFERRERS,  STORE_REFERRERS_BIG, STORE_REACH,    STORE_REACH_STRONG,
	STORE_DOMINATORS, STORE_RETAINED,      STORE_CHILDREN, STORE_CHILDREN_BIG,
	STORE_TOP_LEVEL,  STORE_TOP_LEVEL_BIG, STORE_TOTALS,   STORE_WHOLE,
};

struct opened {
	struct base_work work;
	struct heap *heap;
	struct derive derive;
	char path[512];
};

static char dump_path[512], base_path[512];

/* Number of paths found without tables. */
static unsigned near_count;

/* Number of dumps whose top level was a big list. */

static void copy_file(const char *from, const char *to)
{
	static uint8_t bytes[1 << 16];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t n;

	assert_true(in && out);
	while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		assert_int_equal(fwrite(bytes, 1, n, out), n);
	(void)fclose(in);
	assert_int_equal(fclose(out), 0);
}

/* Imports the dump. Its derived tables are built in copies of the database. */
static void import_it(void)
{
	const struct hdb_import_options opt = { .force = 1 };
	struct hdb_error err = { 0 };
	struct base_work work;

	(void)snprintf(base_path, sizeof(base_path), "%s", temp_path("tables.heapdb"));
	base_work_init(&work, 0, 2, NULL);
	if (import_dump((struct import_paths){ .dump = dump_path, .database = base_path }, &opt,
			&work, NULL, &err) != HDB_OK)
		fail_msg("import: %s", err.message);
	base_work_release(&work);
}

static void open_copy(struct opened *o, const char *name, unsigned threads)
{
	struct hdb_error err = { 0 };

	(void)snprintf(o->path, sizeof(o->path), "%s", temp_path(name));
	copy_file(base_path, o->path);
	base_work_init(&o->work, 0, threads, NULL);
	assert_int_equal(heap_open(o->path, dump_path, &o->work, &o->heap, &err), HDB_OK);
	derive_init(&o->derive, o->heap, &o->work);
	assert_int_equal(heap_load_classes(o->heap, &err), HDB_OK);
}

static void build_all(struct opened *o, const char *name, uint64_t memory_bytes, unsigned threads)
{
	struct hdb_error err = { 0 };

	open_copy(o, name, threads);
	if (memory_bytes) /* less than a user can request */
		o->work.memory_bytes = memory_bytes;
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		if (derive_need(&o->derive, tables[t], &err) < 0)
			fail_msg("%s: %s", store_table_name(tables[t]), err.message);
	/* Only the memory that the heap keeps is still allocated. */
	assert_int_equal(o->work.memory_used,
			 o->heap->classes.counted_bytes +
				 (o->heap->roots.big.is_file ? 0 : o->heap->roots.big.size_bytes));
}

static void close_all(struct opened *o)
{
	derive_release(&o->derive);
	heap_close(o->heap);
	base_work_release(&o->work);
	temp_remove_db(o->path);
}

static void compare_table(struct opened *a, struct opened *b, enum store_table table)
{
	struct store_block x, y;
	struct hdb_error err;
	uint64_t key = 0;
	int r = HDB_OK;

	while (r == HDB_OK) {
		r = store_block_after(a->heap->store, table, key, &x, &err);
		assert_int_equal(store_block_after(b->heap->store, table, key, &y, &err), r);
		if (r != HDB_OK)
			break;
		if (x.key != y.key || x.size != y.size || x.item_count != y.item_count ||
		    memcmp(x.data, y.data, x.size) != 0)
			fail_msg("%s: block %" PRIu64 " is not the same", store_table_name(table),
				 x.key);
		key = x.key + 1;
	}
	assert_int_equal(r, HDB_NOTFOUND);
}

/* ---- totals, computed simply: how many members of its group are above an object ---- */

struct plain {
	struct opened *o;
	struct graph_children children;
	uint32_t *dominator;
	uint32_t *group;    /* indexed by class: group, for the kind of group being checked */
	uint32_t *open;     /* indexed by group: number of members above the object */
	uint64_t *retained; /* indexed by group */
	enum derive_group kind;
};

static bool is_same_package(const char *a, const char *b)
{
	size_t a_size, b_size;

	a = heap_package(a, &a_size);
	b = heap_package(b, &b_size);
	return a_size == b_size && memcmp(a, b, a_size) == 0;
}

static bool is_same_group(struct plain *p, uint32_t a, uint32_t b)
{
	struct heap *heap = p->o->heap;

	if (p->kind == DERIVE_LOADER)
		return heap_class(heap, a)->loader_ix == heap_class(heap, b)->loader_ix;
	if (p->kind == DERIVE_PACKAGE)
		return is_same_package(heap_class_name(heap, a), heap_class_name(heap, b));
	return a == b;
}

static void find_groups(struct plain *p)
{
	for (uint32_t no = 0; no < p->o->heap->class_count; no++) {
		p->group[no] = no;
		for (uint32_t other = 0; other < no && p->group[no] == no; other++)
			if (p->group[other] == other && is_same_group(p, no, other))
				p->group[no] = other;
	}
}

static void step(struct plain *p, uint32_t group, uint64_t bytes, bool enter)
{
	if (enter && !p->open[group])
		p->retained[group] += bytes;
	p->open[group] += enter ? 1u : UINT32_MAX;
}

/*
 * Class objects count for the class loader of the class that they represent, and class loaders for
 * themselves.
 */
static uint32_t member_group(const struct plain *p, uint32_t ix, const struct heap_object *object)
{
	if (p->kind != DERIVE_LOADER)
		return p->group[object->class_no];
	if (object->kind == STORE_CLASS)
		return p->group[(uint32_t)object->length];
	for (uint32_t c = 0; c < p->o->heap->class_count; c++)
		if (heap_class(p->o->heap, c)->loader_ix == ix)
			return p->group[c];
	return p->group[object->class_no];
}

static void walk(struct plain *p)
{
	struct heap *heap = p->o->heap;
	struct graph_walk it;
	struct hdb_error err;
	uint32_t ix, class_no;
	bool enter;

	assert_int_equal(graph_walk_init(&it, &p->children, heap->object_count, &p->o->work, &err),
			 HDB_OK);
	while (graph_walk_next(&it, &ix, &enter, &err) == HDB_OK) {
		struct heap_object object;
		uint64_t bytes = 0;

		if (ix == HEAP_BOOT_LOADER)
			continue;
		assert_int_equal(heap_object(heap, ix, &object, &err), HDB_OK);
		if (enter)
			assert_int_equal(derive_retained(&p->o->derive, ix, &bytes, &err), HDB_OK);
		class_no = object.class_no;
		if (p->kind != DERIVE_SUPERCLASS)
			step(p, member_group(p, ix, &object), bytes, enter);
		for (; p->kind == DERIVE_SUPERCLASS && class_no != STORE_NONE;
		     class_no = heap_class(heap, class_no)->super_no)
			step(p, class_no, bytes, enter);
	}
	graph_walk_release(&it);
}

static void check_kind(struct plain *p, enum derive_group kind)
{
	const uint32_t n = p->o->heap->class_count;
	struct derive_total *totals;
	struct hdb_error err;
	size_t count;

	p->kind = kind;
	p->group = calloc(n + 1, sizeof(*p->group));
	p->open = calloc(n + 1, sizeof(*p->open));
	p->retained = calloc(n + 1, sizeof(*p->retained));
	assert_true(p->group && p->open && p->retained);
	find_groups(p);
	walk(p);
	assert_int_equal(derive_totals(&p->o->derive, kind, &totals, &count, &err), HDB_OK);
	for (size_t i = 0; i < count; i++) {
		uint32_t no = totals[i].no;

		/* A group of a class loader is named by any of its classes. */
		for (uint32_t c = 0; kind == DERIVE_LOADER && c < n; c++)
			if (heap_class(p->o->heap, c)->loader_ix == totals[i].no) {
				no = c;
				break;
			}
		assert_int_equal(totals[i].retained_bytes, p->retained[p->group[no]]);
	}
	free(totals);
	free(p->group);
	free(p->open);
	free(p->retained);
}

static void check_whole(struct opened *o)
{
	struct derive_heap_totals whole, sum = { 0 };
	struct derive_total *totals;
	struct hdb_error err;
	size_t count;

	assert_int_equal(derive_heap_totals(&o->derive, &whole, &err), HDB_OK);
	assert_int_equal(derive_totals(&o->derive, DERIVE_CLASS, &totals, &count, &err), HDB_OK);
	for (size_t i = 0; i < count; i++) {
		sum.count += totals[i].count;
		sum.shallow_bytes += totals[i].shallow_bytes;
		sum.unreachable_count += totals[i].unreachable_count;
		sum.unreachable_bytes += totals[i].unreachable_bytes;
	}
	assert_memory_equal(&whole, &sum, sizeof(sum));
	assert_true(whole.count > 0);
	free(totals);
}

static void check_totals(struct opened *o)
{
	const uint32_t n = o->heap->object_count;
	struct plain p = { .o = o };
	struct hdb_error err;

	p.dominator = malloc(((size_t)n + STORE_BLOCK_OBJECTS) * sizeof(*p.dominator));
	assert_non_null(p.dominator);
	for (uint32_t b = 0; b < heap_block_count(o->heap); b++)
		assert_int_equal(
			derive_dominator_block(&o->derive, b,
					       p.dominator + (size_t)b * STORE_BLOCK_OBJECTS, &err),
			HDB_OK);
	assert_int_equal(graph_children((struct graph_tree){ p.dominator, n, NULL }, &o->work,
					&p.children, &err),
			 HDB_OK);
	for (unsigned kind = 0; kind < 4; kind++)
		check_kind(&p, (enum derive_group)kind);
	graph_children_release(&p.children);
	free(p.dominator);
	check_whole(o);
}

/* Searches for single paths in a database without tables. A search that is over is opened again. */
static void check_near(struct opened *first)
{
	const uint32_t n = first->heap->object_count;
	struct opened near = { .path = "" };
	bool was_over = false;

	open_copy(&near, "near.heapdb", 1);
	for (uint32_t ix = 0; ix < n; ix += 1 + n / 200) {
		uint32_t parent = 0, expected;
		struct hdb_error err;
		bool is_known;

		assert_int_equal(derive_near_parent(&near.derive, ix, &parent, &is_known, &err),
				 HDB_OK);
		if (!is_known) {
			derive_near_close(&near.derive);
			near.derive.is_near_over = false;
			was_over = true;
			continue;
		}
		near_count++;
		assert_int_equal(derive_reach(&first->derive, true, ix, &expected, &err), HDB_OK);
		assert_int_equal(parent, expected);
	}
	/* The table of the tree continues a search that is over. */
	for (uint32_t ix = 0; was_over && ix < n; ix += 1 + n / 200) {
		uint32_t parent, expected;
		struct hdb_error err;

		assert_int_equal(derive_reach(&near.derive, true, ix, &parent, &err), HDB_OK);
		assert_int_equal(derive_reach(&first->derive, true, ix, &expected, &err), HDB_OK);
		assert_int_equal(parent, expected);
	}
	close_all(&near);
}

/* Number of objects whose referrers were found without the table. */
static unsigned few_count;

static void compare_referrers(struct opened *few, struct opened *first, uint32_t ix, size_t max)
{
	struct base_vec list = { 0 }, expected = { 0 };
	struct hdb_error err = { 0 };

	assert_int_equal(derive_referrers_of(&few->derive, ix, max, &list, &err), HDB_OK);
	assert_int_equal(derive_referrers_of(&first->derive, ix, max, &expected, &err), HDB_OK);
	assert_true(list.count <= max);
	assert_int_equal(list.count, expected.count);
	if (list.count)
		assert_memory_equal(list.data, expected.data, list.count * sizeof(uint32_t));
	few_count += !derive_has(&few->derive, STORE_REFERRERS);
	base_vec_release(&list);
	base_vec_release(&expected);
}

/* The referrers of some objects, before there is a table of them; in the end it is built. */
static void check_few(struct opened *first)
{
	const uint32_t n = first->heap->object_count;
	struct hdb_error err = { 0 };
	struct opened few = { .path = "" };
	uint32_t ix;

	open_copy(&few, "few.heapdb", 2);
	for (ix = 0; ix < n; ix += ix < 64 ? 1 : 1 + n / 200)
		assert_int_equal(derive_expect_referrers(&few.derive, &ix, 1, &err), HDB_OK);
	for (ix = 0; ix < n; ix += ix < 64 ? 1 : 1 + n / 200) {
		compare_referrers(&few, first, ix, 1);
		compare_referrers(&few, first, ix, SIZE_MAX);
	}
	for (ix = 65; ix < 70; ix++)
		compare_referrers(&few, first, ix, SIZE_MAX);
	assert_true(derive_has(&few.derive, STORE_REFERRERS));
	close_all(&few);
}

/* ---- dumps ---- */

static void check_dump(void)
{
	static const struct {
		uint64_t memory_bytes;
		unsigned threads;
	} ways[] = { { 0, 1 }, { TINY, 1 }, { TINY, 2 } };
	struct opened first = { .path = "" }, other = { .path = "" };

	import_it();
	build_all(&first, "first.heapdb", 0, 2);
	check_totals(&first);
	check_near(&first);
	check_few(&first);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		build_all(&other, "other.heapdb", ways[i].memory_bytes, ways[i].threads);
		for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
			compare_table(&first, &other, tables[t]);
		close_all(&other);
	}
	close_all(&first);
	temp_remove_db(base_path);
	(void)unlink(dump_path);
}

static void test_shapes(void **state)
{
	static const char *const shapes[] = {
		"tree --objects 30K --shuffle",
		"list --objects 30K --shuffle --id-size 4",
		/* so deep that a single thread walks it for the totals */
		"list --objects 150K",
		"ladder --objects 30K",
		"ring --objects 30K --id-size 4",
		"star --objects 30K",
		"tail --objects 30K --shuffle",
		"random --objects 100K --id-size 4",
		"random --objects 30K",
	};

	(void)state;
	(void)snprintf(dump_path, sizeof(dump_path), "%s", temp_path("tables.hprof"));
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		char command[1200];

		(void)snprintf(command, sizeof(command), "hprofgen %s -o '%s' >'%s' 2>&1",
			       shapes[i], dump_path, temp_path("hprofgen.out"));
		assert_int_equal(system(command), 0);
		check_dump();
	}
	assert_true(near_count > 0);
	assert_true(few_count > 1000);
	(void)unlink(temp_path("hprofgen.out"));
}

enum { OBJECT = 0x1000, CLASS = 0x1100, NODE = 0x1200, SUB = 0x1300, ARRAY = 0x1400 };

/*
 * More leaves, of alternating classes, than are sorted at once, before and after a chain of arrays
 * of leaves.
 */
enum { LEAVES = 140000, CHAIN = 50, CHAIN_LEAVES = 40 };

struct leaves {
	uint64_t first; /* ID of the first array; the IDs of the others follow */
	uint32_t count;
};

/*
 * Writes an array of leaves that also refers to the next array, twice. `elements` has room for all
 * elements.
 */
static void put_array(struct hw *w, uint64_t id, struct leaves leaves, uint64_t next,
		      uint64_t *elements)
{
	const uint64_t first = leaves.first;
	const uint32_t count = leaves.count;

	for (uint32_t i = 0; i < count; i++)
		elements[i] = first + i * 16;
	elements[count] = elements[count + 1] = next;
	hw_object_array(w, id, ARRAY, elements, count + 2);
	for (uint32_t i = 0; i < count; i++)
		hw_instance(w, first + i * 16, i % 2 ? NODE : SUB, NULL, 4);
}

static void begin_dump(struct hw *w)
{
	const struct hprof_field fields[] = { { 1, HPROF_INT } };
	const struct hw_class classes[] = {
		{ .id = OBJECT },
		{ .id = CLASS, .super_id = OBJECT },
		{ .id = NODE, .super_id = OBJECT, .fields = fields, .field_count = 1 },
		{ .id = SUB, .super_id = NODE },
		{ .id = ARRAY, .super_id = OBJECT },
	};
	const char *const names[] = {
		"java/lang/Object", "java/lang/Class", "test/Node",
		"test/below/Sub",   "[Ltest/Node;",
	};

	hw_init(w, HPROF_1_0_2, 8, 0);
	hw_utf8(w, 1, "value");
	for (unsigned i = 0; i < 5; i++) {
		hw_utf8(w, 2 + i, names[i]);
		hw_load_class(w, 1 + i, classes[i].id, 0, 2 + i);
	}
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (unsigned i = 0; i < 5; i++)
		hw_class(w, &classes[i]);
}

static void test_many_leaves(void **state)
{
	const uint64_t first = 0x100000, step = 0x10000;
	uint64_t *elements = calloc(LEAVES + 2, sizeof(*elements));
	uint64_t next = first, leaves = first + (CHAIN + 2) * step;
	struct hw w;

	(void)state;
	assert_non_null(elements);
	(void)snprintf(dump_path, sizeof(dump_path), "%s", temp_path("leaves.hprof"));
	begin_dump(&w);
	hw_root(&w, HPROF_ROOT_JNI_GLOBAL, first, 0, 0);
	for (unsigned i = 0; i <= CHAIN; i++) {
		const uint64_t id = next;
		const uint32_t count = i == CHAIN / 2 ? LEAVES : CHAIN_LEAVES;

		next = i == CHAIN ? 0 : id + step;
		put_array(&w, id, (struct leaves){ leaves, count }, next, elements);
		leaves += count * 16ull;
	}
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, dump_path), 0);
	hw_release(&w);
	free(elements);
	check_dump();
}

/* Many roots, some with equal sizes, and some that retain more than the largest counted size. */
static void test_many_roots(void **state)
{
	enum { ROOTS = 5000, EACH_LARGE = 900, LARGE = 70000, MOST = 12 };
	uint64_t elements[LARGE + 2], leaves = 0x10000000;
	struct hw w;

	(void)state;
	(void)snprintf(dump_path, sizeof(dump_path), "%s", temp_path("roots.hprof"));
	begin_dump(&w);
	for (unsigned i = 0; i < ROOTS; i++) {
		/* Some of the large roots come before all others, and some after them. */
		const uint64_t id = 0x100000 + i * 0x1000ull +
				    (i % (2 * EACH_LARGE) == EACH_LARGE ? 0x40000000 : 0);
		const uint32_t count = i % EACH_LARGE ? i * i % MOST : LARGE - i / EACH_LARGE % 2;

		hw_root(&w, HPROF_ROOT_JNI_GLOBAL, id, 0, 0);
		put_array(&w, id, (struct leaves){ leaves, count }, 0, elements);
		leaves += count * 16ull;
	}
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, dump_path), 0);
	hw_release(&w);
	check_dump();
}

/* If a tree has no table, its values are some parent. Other tests check whether a parent exists. */
static void test_any_parent(void **state)
{
	static const uint32_t ixs[] = { 0, 1, 4095, UINT32_MAX - 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(ixs) / sizeof(ixs[0]); i++) {
		assert_int_equal(derive_tree_parent(derive_tree_value(ixs[i], 7), ixs[i]), 7);
		for (unsigned shift = 0; shift < 64; shift++)
			assert_int_equal(derive_tree_parent(UINT64_MAX << shift, ixs[i]),
					 derive_tree_parent(UINT64_MAX << shift, 0) + ixs[i]);
	}
}

static void test_packages(void **state)
{
	static const char *const packages[][2] = {
		{ "java.util.HashMap$Node[]", "java.util" },
		{ "App", "<unnamed>" },
		{ "App[][]", "<unnamed>" },
		{ "byte[]", "<primitive arrays>" },
		{ "double[][]", "<primitive arrays>" },
		{ "bytes[]", "<unnamed>" },
		{ "int", "<unnamed>" },
		{ "", "<unnamed>" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		size_t size;
		const char *package = heap_package(packages[i][0], &size);

		assert_int_equal(size, strlen(packages[i][1]));
		assert_memory_equal(package, packages[i][1], size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packages),    cmocka_unit_test(test_any_parent),
		cmocka_unit_test(test_many_leaves), cmocka_unit_test(test_many_roots),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

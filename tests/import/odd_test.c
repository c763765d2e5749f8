/*
 * odd_test.c - oddities of HotSpot dumps: sizes must still be exactly those in the VM, and objects
 * that the program did not create must be reported as such.
 */
#include "heap/heap.h"
#include "import/import.h"
#include "layout/layout.h"
#include "support/query_ask.h"
#include "support/odd_heap.h"

static const struct {
	unsigned header, reference;
} vms[] = { { 12, 4 }, { 16, 8 } };

struct opened {
	struct odd_heap made;
	struct base_work work;
	struct heap *heap;
	struct hdb *db;
	char dump_path[600], db_path[600];
};

/* Imports the dump, and releases it. */
static void open_written(struct opened *o, struct hw *w, enum hdb_size_model sizes,
			 unsigned threads)
{
	const struct hdb_import_options opt = { .sizes = sizes, .force = 1 };
	struct hdb_error err = { 0 };

	(void)snprintf(o->dump_path, sizeof(o->dump_path), "%s", temp_path("odd.hprof"));
	(void)snprintf(o->db_path, sizeof(o->db_path), "%s", temp_path("odd.heapdb"));
	assert_int_equal(hw_save(w, o->dump_path), 0);
	hw_release(w);
	base_work_init(&o->work, 0, threads, NULL);
	if (import_dump((struct import_paths){ .dump = o->dump_path, .database = o->db_path }, &opt,
			&o->work, NULL, &err) != HDB_OK ||
	    heap_open(o->db_path, NULL, &o->work, &o->heap, &err) != HDB_OK ||
	    heap_load_classes(o->heap, &err) != HDB_OK ||
	    hdb_open(o->db_path, NULL, &o->db, &err) != HDB_OK)
		fail_msg("%s", err.message);
}

static void open_as(struct opened *o, unsigned vm, unsigned odd, enum hdb_size_model sizes,
		    unsigned threads)
{
	struct hw w;

	memset(o, 0, sizeof(*o));
	o->made = (struct odd_heap){
		.header = vms[vm].header,
		.reference = vms[vm].reference,
		.odd = odd,
	};
	odd_heap_write(&w, &o->made);
	open_written(o, &w, sizes, threads);
}

static void close_it(struct opened *o)
{
	hdb_close(o->db);
	heap_close(o->heap);
	temp_remove_db(o->db_path);
	(void)unlink(o->dump_path);
}

static uint64_t meta(const struct opened *o, const char *name)
{
	return store_meta_number(o->heap->store, name, UINT64_MAX);
}

static int add_bytes(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	(void)err;
	if (count->kind != STORE_CLASS)
		*(uint64_t *)ctx += count->shallow_bytes;
	return HDB_OK;
}

/*
 * The sum of all shallow sizes without class objects, computed object by object and from the
 * import's counts.
 */
static void check_bytes(struct opened *o, uint64_t want)
{
	uint64_t counted = 0, bytes = 0;
	struct heap_object object;

	assert_int_equal(heap_each_count(o->heap, add_bytes, &counted, NULL), HDB_OK);
	assert_int_equal(counted, want);
	for (uint32_t ix = 1; ix < o->heap->object_count; ix++) {
		assert_int_equal(heap_object(o->heap, ix, &object, NULL), HDB_OK);
		bytes += object.kind == STORE_CLASS ? 0 : object.shallow_bytes;
	}
	assert_int_equal(bytes, want);
}

/*
 * The layout was found, no class contradicts it, and all sizes add up to the range from the first
 * object to the last.
 */
static void check_layout(struct opened *o, uint64_t more)
{
	assert_int_equal(meta(o, "sizes.has_addresses"), 1);
	assert_int_equal(meta(o, "sizes.header_bytes"), o->made.header);
	assert_int_equal(meta(o, "sizes.reference_bytes"), o->made.reference);
	assert_int_equal(meta(o, "sizes.align_bytes"), 8);
	assert_int_equal(meta(o, "sizes.java"), 28);
	assert_int_equal(meta(o, "problems"), 0);
	for (uint32_t no = 0; no < o->heap->class_count; no++)
		if (heap_class(o->heap, no)->size_basis == STORE_SIZE_CUT)
			fail_msg("%s is cut to %u", heap_class_name(o->heap, no),
				 (unsigned)heap_class(o->heap, no)->instance_bytes);
	check_bytes(o, o->made.bytes + more);
}

static uint64_t shallow(struct opened *o, uint64_t id)
{
	struct heap_object object;
	uint32_t ix;

	assert_int_equal(heap_find(o->heap, id, &ix, NULL), HDB_OK);
	assert_int_equal(heap_object(o->heap, ix, &object, NULL), HDB_OK);
	return object.shallow_bytes;
}

static uint32_t class_no(struct opened *o, const char *name)
{
	const uint32_t no = heap_class_by_name(o->heap, name, 0);

	assert_int_not_equal(no, HEAP_NONE);
	return no;
}

/* ---- each oddity alone, and all together ---- */

static void test_sizes(void **state)
{
	static const struct {
		unsigned odd;
		/* number of instances of java.lang.Object that the VM's heap does not contain */
		uint64_t objects;
	} cases[] = {
		{ 0, 0 },
		{ ODD_FLAT, 0 },
		{ ODD_FILLERS, 0 },
		{ ODD_ZEROED, 0 },
		{ ODD_TRACES, 0 },
		{ ODD_MIRRORS, 0 },
		{ ODD_ID, 1 },
		{ ODD_INSIDE, 1 },
		{ ODD_ID | ODD_INSIDE, 2 },
		{ ODD_UTF16, 0 },
		{ ODD_FLAT | ODD_FILLERS | ODD_ZEROED | ODD_TRACES | ODD_MIRRORS | ODD_ID |
			  ODD_INSIDE,
		  2 },
	};

	(void)state;
	for (unsigned vm = 0; vm < 2; vm++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct opened o;

			open_as(&o, vm, cases[i].odd, HDB_SIZES_VM, 1 + (unsigned)i % 3);
			check_layout(&o, cases[i].objects * 16);
			assert_int_equal(meta(&o, "flat.values"), o.made.flat_count);
			assert_int_equal(meta(&o, "zeroed.texts"),
					 cases[i].odd & ODD_ZEROED ? ODD_ZEROED_FROM : 0);
			assert_int_equal(meta(&o, "references.dangling"),
					 cases[i].odd & ODD_MIRRORS ? ODD_MIRROR_COUNT : 0);
			close_it(&o);
		}
	}
}

/* ---- flat values ---- */

static void test_flat(void **state)
{
	(void)state;
	for (unsigned vm = 0; vm < 2; vm++) {
		struct opened o;

		open_as(&o, vm, ODD_FLAT, HDB_SIZES_VM, 2);
		assert_int_equal(shallow(&o, 1), 0);
		assert_int_equal(shallow(&o, 8), 0);
		assert_int_equal(shallow(&o, o.made.flat_count), 0);
		assert_int_equal(shallow(&o, o.made.holder), o.made.holder_bytes);
		assert_int_equal(shallow(&o, o.made.smalls), o.made.smalls_bytes);
		assert_int_equal(heap_class(o.heap, class_no(&o, "test.Small[]"))->element_bytes,
				 2);
		close_it(&o);
	}
}

/*
 * In Eclipse MAT's arithmetic, they are ordinary objects, because MAT does not support flat values.
 */
static void test_flat_as_mat_does(void **state)
{
	struct opened o;

	(void)state;
	open_as(&o, 0, ODD_FLAT, HDB_SIZES_MAT, 1);
	assert_int_equal(meta(&o, "sizes.mat_align_bytes"), 8);
	assert_int_equal(shallow(&o, 1), 16);             /* 12, an int */
	assert_int_equal(shallow(&o, o.made.holder), 32); /* 12, an int, four references */
	close_it(&o);
}

static uint64_t fact(struct opened *o, const char *query, const char *target, const char *name)
{
	/* Fillers and flat values are unreachable. */
	const char *option = strcmp(query, "class") == 0 ? "all" : NULL;
	const struct ask ask = { query, target, { option }, NULL, 1 };
	struct hdb_rows *rows = ask_rows(o->db, &ask);
	const struct hdb_value *given = fact_of(rows, name);
	uint64_t value;

	if (!given)
		fail_msg("%s %s: no fact %s", query, target, name);
	value = given->u;

	hdb_rows_close(rows);
	return value;
}

static void test_flat_said(void **state)
{
	const struct ask layout = { "class", "test.Holder", { "layout" }, NULL, 0 };
	struct hdb_rows *rows;
	bool found = false;
	struct opened o;

	(void)state;
	open_as(&o, 0, ODD_FLAT, HDB_SIZES_VM, 1);
	assert_int_equal(fact(&o, "object", "0x1", "flat"), 1);
	assert_int_equal(fact(&o, "object", "0x1", "flat_in"), o.made.holder);
	assert_int_equal(fact(&o, "object", "0x1", "shallow"), 0);
	assert_int_equal(fact(&o, "class", "test.Small[]", "element_bytes"), 2);
	assert_int_equal(fact(&o, "class", "test.Box", "flat_values"),
			 fact(&o, "class", "test.Box", "instances"));
	rows = ask_rows(o.db, &layout);
	while (next_row(rows)) {
		if (!value_is(rows, "field", "b"))
			continue;
		found = true;
		assert_true(value_is(rows, "type", "flat test.Box"));
		assert_int_equal(value_of(rows, "offset")->u, 24);
		assert_int_equal(value_of(rows, "bytes")->u, 8);
	}
	hdb_rows_close(rows);
	assert_true(found);
	close_it(&o);
}

/* ---- other oddities ---- */

static void test_fillers(void **state)
{
	struct opened o;

	(void)state;
	open_as(&o, 1, ODD_FILLERS, HDB_SIZES_VM, 1);
	assert_int_equal(fact(&o, "class", "jdk.internal.vm.FillerElement[]", "filler"), 1);
	assert_int_equal(fact(&o, "class", "jdk.internal.vm.FillerObject", "filler"), 1);
	assert_int_equal(fact(&o, "class", "jdk.internal.vm.FillerElement[]", "shallow") +
				 fact(&o, "class", "jdk.internal.vm.FillerObject", "shallow"),
			 o.made.filler_bytes);
	close_it(&o);
}

/* Texts of at least 121 characters that are equal in the part that was written. */
static void test_zeroed(void **state)
{
	static const char *const queries[] = { "strings", "duplicates", "arrays", "substrings" };
	struct opened o;

	(void)state;
	for (unsigned zeroed = 0; zeroed < 2; zeroed++) {
		open_as(&o, 0, zeroed ? ODD_ZEROED : 0, HDB_SIZES_VM, 2);
		for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
			const struct ask ask = { queries[i], NULL, { NULL }, NULL, 1 };
			struct hdb_rows *rows = ask_rows(o.db, &ask);
			const struct hdb_value *from = fact_of(rows, "zeroed_from");

			if (zeroed)
				assert_int_equal(from ? from->u : 0, ODD_ZEROED_FROM);
			else
				assert_null(from);
			hdb_rows_close(rows);
		}
		close_it(&o);
	}
}

static void test_traces_between(void **state)
{
	const struct ask ask = { "threads", NULL, { NULL }, NULL, 0 };
	struct hdb_rows *rows;
	struct opened o;

	(void)state;
	open_as(&o, 0, ODD_TRACES, HDB_SIZES_VM, 1);
	assert_int_equal(meta(&o, "dump.snapshot_count"), 1);
	rows = ask_rows(o.db, &ask);
	assert_true(next_row(rows));
	assert_int_equal(value_of(rows, "id")->u, o.made.thread);
	assert_int_equal(value_of(rows, "depth")->u, 1);
	hdb_rows_close(rows);
	close_it(&o);
}

/* Archived class objects that the dump lacks have addresses that no other object has. */
static void test_mirrors(void **state)
{
	const struct ask ask = { "dangling", NULL, { NULL }, NULL, 0 };
	struct hdb_rows *rows;
	struct opened o;
	unsigned count = 0;

	(void)state;
	open_as(&o, 0, ODD_MIRRORS, HDB_SIZES_VM, 1);
	rows = ask_rows(o.db, &ask);
	while (next_row(rows)) {
		assert_int_equal(value_of(rows, "references")->u, 1);
		assert_int_equal(value_of(rows, "left_out")->u, 1);
		assert_true(value_is(rows, "example_class", "java.lang.Object[]"));
		count++;
	}
	assert_int_equal(count, ODD_MIRROR_COUNT);
	hdb_rows_close(rows);
	close_it(&o);
}

/*
 * The IDs of flat values belong to other values in the next dump. They count neither as new nor as
 * gone.
 */
static void test_diff(void **state)
{
	static const unsigned odd[] = { ODD_FLAT, 0 };
	struct opened before, after;

	(void)state;
	for (unsigned turn = 0; turn < 2; turn++) {
		const struct hdb_option options[] = { { "by", "object" }, { "trust-ids", NULL } };
		struct hdb_query_args args = { .options = options, .option_count = 2 };
		struct hdb_error err = { 0 };
		struct hdb_rows *rows;
		char path[700];
		struct hdb *old = NULL;
		uint64_t flat = 0, others = 0;

		open_as(&before, 0, odd[turn], HDB_SIZES_VM, 1);
		(void)snprintf(path, sizeof(path), "%s.kept", before.db_path);
		hdb_close(before.db);
		heap_close(before.heap);
		assert_int_equal(rename(before.db_path, path), 0);
		open_as(&after, 0, odd[1 - turn], HDB_SIZES_VM, 1);
		assert_int_equal(hdb_open(path, NULL, &old, &err), HDB_OK);
		args.before = &old;
		args.before_count = 1;
		if (hdb_query(after.db, "diff", &args, &rows, &err) != HDB_OK)
			fail_msg("%s", err.message);
		while (next_row(rows)) {
			const uint64_t id = value_of(rows, "id")->u;

			flat += id <= before.made.flat_count + after.made.flat_count;
			others += id > ODD_FIRST;
		}
		assert_int_equal(flat, 0);
		assert_true(others > 0);
		hdb_rows_close(rows);
		hdb_close(old);
		temp_remove_db(path);
		close_it(&after);
	}
}

/* ---- classes that the dump lacks ---- */

/* Objects so far apart that their IDs are stored as a sorted array, and some close together. */
static const struct {
	uint32_t objects;
	uint64_t apart;
} lacking[] = { { 3000, 1 << 20 }, { 3, 24 } };

#define LACKING_FIRST 0x71000000ull

/*
 * Instances of java.lang.Object, the only class with a CLASS DUMP, then one instance of each class
 * in `classes`, at addresses 8 bytes apart.
 */
static void open_lacking(struct opened *o, unsigned form, const uint64_t *classes, unsigned count)
{
	uint64_t at = LACKING_FIRST;
	struct hw w;

	memset(o, 0, sizeof(*o));
	hw_init(&w, HPROF_1_0_2, 8, 1);
	hw_utf8(&w, 1, "java/lang/Object");
	hw_load_class(&w, 1, ODD_OBJECT_CLASS, 1, 1);
	(void)hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_class(&w, &(struct hw_class){ .id = ODD_OBJECT_CLASS });
	hw_root(&w, HPROF_ROOT_STICKY_CLASS, ODD_OBJECT_CLASS, 0, 0);
	for (uint32_t i = 0; i < lacking[form].objects; i++, at += lacking[form].apart)
		hw_instance(&w, at, ODD_OBJECT_CLASS, NULL, 0);
	for (unsigned i = 0; i < count; i++, at += 8)
		hw_instance(&w, at, classes[i], NULL, 0);
	hw_end(&w);
	hw_heap_dump_end(&w);
	open_written(o, &w, HDB_SIZES_MAT, 1 + form);
	assert_int_equal(meta(o, "sizes.mat_align_bytes"), 8);
	assert_int_equal(o->heap->class_count, count + 3);
	for (uint32_t no = 1; no < o->heap->class_count; no++)
		assert_true(heap_class(o->heap, no - 1)->class_id <
			    heap_class(o->heap, no)->class_id);
}

/* Returns the ID of the class of object number `i` of open_lacking. */
static uint64_t class_of(struct opened *o, unsigned form, unsigned i)
{
	const uint64_t id = LACKING_FIRST + lacking[form].objects * lacking[form].apart + i * 8ull;
	struct heap_object object;
	uint32_t ix;

	assert_int_equal(heap_find(o->heap, id, &ix, NULL), HDB_OK);
	assert_int_equal(heap_object(o->heap, ix, &object, NULL), HDB_OK);
	return heap_class(o->heap, object.class_no)->class_id;
}

static uint64_t id_of_class(struct opened *o, const char *name)
{
	return heap_class(o->heap, class_no(o, name))->class_id;
}

/* Invented classes do not take IDs that objects have. */
static void test_lacking_low(void **state)
{
	static const uint64_t classes[] = { 16, 8 };

	(void)state;
	for (unsigned form = 0; form < 2; form++) {
		struct opened o;

		open_lacking(&o, form, classes, 2);
		assert_int_equal(id_of_class(&o, "java.lang.Class"), 24);
		assert_int_equal(id_of_class(&o, "java.lang.ClassLoader"), 32);
		assert_int_equal(id_of_class(&o, "unknown-name@0x8"), 8);
		assert_int_equal(id_of_class(&o, "unknown-name@0x10"), 16);
		assert_int_equal(class_of(&o, form, 0), 16);
		assert_int_equal(class_of(&o, form, 1), 8);
		assert_int_equal(meta(&o, "problems"), 2);
		close_it(&o);
	}
}

/* Neither does a class that gets another ID because an object has its ID, whichever comes first. */
static void test_lacking_renamed(void **state)
{
	static const uint64_t classes[][2] = { { 24, LACKING_FIRST }, { LACKING_FIRST, 24 } };

	(void)state;
	for (unsigned form = 0; form < 2; form++) {
		for (unsigned turn = 0; turn < 2; turn++) {
			struct opened o;

			open_lacking(&o, form, classes[turn], 2);
			assert_int_equal(id_of_class(&o, "java.lang.Class"), 8);
			assert_int_equal(id_of_class(&o, "java.lang.ClassLoader"), 16);
			assert_int_equal(class_of(&o, form, turn), 24);
			assert_int_equal(class_of(&o, form, 1 - turn), 32);
			assert_int_equal(meta(&o, "problems"), 3);
			close_it(&o);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_flat_as_mat_does),
		cmocka_unit_test(test_flat_said),
		cmocka_unit_test(test_fillers),
		cmocka_unit_test(test_zeroed),
		cmocka_unit_test(test_traces_between),
		cmocka_unit_test(test_mirrors),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_lacking_low),
		cmocka_unit_test(test_lacking_renamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

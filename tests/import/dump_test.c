/*
 * dump_test.c - tests import/ through heap/ and derive/, with valid and invalid dumps written for
 * the purpose.
 */
#include "derive/derive.h"
#include "import/import.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

/* IDs in the small heap that most tests begin with. */
enum {
	OBJECT = 0x1000,
	CLASS = 0x1100,
	LOADER = 0x1200,
	NODE = 0x1300,
	ARRAY = 0x1400,
	BYTES = 0x1500,
	THREAD = 0x1600,
	PIN = 0x1700,
};
enum { NAME_NEXT = 1, NAME_VALUE };

struct dump {
	struct hw w;
	uint32_t serial;
};

static void class_dump(struct dump *d, uint64_t id, uint64_t super,
		       const struct hprof_field *fields, unsigned count)
{
	const struct hw_class c = {
		.id = id, .super_id = super, .fields = fields, .field_count = count
	};

	hw_class(&d->w, &c);
}

static void name_class(struct dump *d, uint64_t id, const char *name)
{
	hw_utf8(&d->w, id + 1, name);
	hw_load_class(&d->w, ++d->serial, id, 0, id + 1);
}

static const struct hprof_field node_fields[] = {
	{ NAME_NEXT, HPROF_OBJECT },
	{ NAME_VALUE, HPROF_INT },
};

/* Writes the header, names, and an open segment with the usual classes, which are sticky roots. */
static void begin(struct dump *d, unsigned id_size)
{
	static const uint64_t roots[] = { OBJECT, CLASS, LOADER, NODE, ARRAY, BYTES };

	memset(d, 0, sizeof(*d));
	hw_init(&d->w, HPROF_1_0_2, id_size, 1234567890123);
	hw_utf8(&d->w, NAME_NEXT, "next");
	hw_utf8(&d->w, NAME_VALUE, "value");
	name_class(d, OBJECT, "java/lang/Object");
	name_class(d, CLASS, "java/lang/Class");
	name_class(d, LOADER, "java/lang/ClassLoader");
	name_class(d, NODE, "test/Node");
	name_class(d, ARRAY, "[Ljava/lang/Object;");
	name_class(d, BYTES, "[B");
	(void)hw_begin(&d->w, HPROF_HEAP_DUMP_SEGMENT, 0);
	class_dump(d, OBJECT, 0, NULL, 0);
	class_dump(d, CLASS, OBJECT, NULL, 0);
	class_dump(d, LOADER, OBJECT, NULL, 0);
	class_dump(d, NODE, OBJECT, node_fields, 2);
	class_dump(d, ARRAY, OBJECT, NULL, 0);
	class_dump(d, BYTES, OBJECT, NULL, 0);
	/* Two neighbours at a distance of 8 bytes determine the alignment. */
	hw_primitive_array(&d->w, PIN, HPROF_BYTE, NULL, 0);
	hw_primitive_array(&d->w, PIN + 8, HPROF_BYTE, NULL, 0);
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		hw_root(&d->w, HPROF_ROOT_STICKY_CLASS, roots[i], 0, 0);
}

static void node(struct dump *d, uint64_t id, uint64_t next)
{
	uint8_t body[12] = { 0 };
	const unsigned n = d->w.id_size;

	for (unsigned i = 0; i < n; i++)
		body[i] = (uint8_t)(next >> (8 * (n - 1 - i)));
	hw_instance(&d->w, id, NODE, body, n + 4);
}

static void finish(struct dump *d)
{
	hw_end(&d->w);
	hw_heap_dump_end(&d->w);
}

/* An imported and opened dump. */
struct opened {
	char dump_path[600], db_path[600];
	struct base_work work;
	struct heap *heap;
	struct derive derive;
	struct hdb_import_result result;
	struct hdb_error error;
};

static int import(struct opened *o, const struct hw *w, const struct hdb_import_options *opt)
{
	static const struct hdb_import_options mat = { .sizes = HDB_SIZES_MAT, .force = 1 };

	memset(o, 0, sizeof(*o));
	(void)snprintf(o->dump_path, sizeof(o->dump_path), "%s", temp_path("dump.hprof"));
	(void)snprintf(o->db_path, sizeof(o->db_path), "%s", temp_path("dump.heapdb"));
	assert_int_equal(hw_save(w, o->dump_path), 0);
	base_work_init(&o->work, 0, 2, NULL);
	return import_dump((struct import_paths){ .dump = o->dump_path, .database = o->db_path },
			   opt ? opt : &mat, &o->work, &o->result, &o->error);
}

static void open_it(struct opened *o, const struct hw *w, const struct hdb_import_options *opt)
{
	if (import(o, w, opt) != HDB_OK)
		fail_msg("%s", o->error.message);
	assert_int_equal(heap_open(o->db_path, NULL, &o->work, &o->heap, &o->error), HDB_OK);
	derive_init(&o->derive, o->heap, &o->work);
}

static void close_it(struct opened *o)
{
	derive_release(&o->derive);
	heap_close(o->heap);
	temp_remove_db(o->db_path);
	(void)unlink(o->dump_path);
}

static uint32_t find(struct opened *o, uint64_t id)
{
	uint32_t ix = HEAP_NONE;

	assert_int_equal(heap_find(o->heap, id, &ix, NULL), HDB_OK);
	return ix;
}

static uint64_t retained(struct opened *o, uint64_t id)
{
	struct derive_retained_result local;
	const uint32_t ix = find(o, id);
	uint64_t bytes = 0;

	if (derive_retained(&o->derive, ix, &bytes, &o->error) != HDB_OK)
		fail_msg("%s", o->error.message);
	assert_int_equal(derive_retained_local(&o->derive, (struct graph_members){ &ix, 1 }, NULL,
					       &local, NULL),
			 HDB_OK);
	assert_int_equal(local.retained_bytes, bytes);
	return bytes;
}

static bool has_problem(struct opened *o, uint32_t kind)
{
	const uint64_t n = store_record_count(o->heap->store, STORE_PROBLEMS);

	for (uint64_t i = 0; i < n; i++) {
		struct store_problem p;

		assert_int_equal(store_record(o->heap->store, STORE_PROBLEMS, i, &p, NULL), HDB_OK);
		if (p.kind == kind)
			return true;
	}
	return false;
}

/* ---- right ---- */

static void test_small_heap(void **state)
{
	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		const uint64_t size = id_size == 8 ? 32 : 16; /* header 8 or 16, id, int */
		struct heap_object object;
		struct opened o;
		struct dump d;
		uint64_t id, offset;

		begin(&d, id_size);
		hw_root(&d.w, HPROF_ROOT_JNI_GLOBAL, 0x2000, 7, 0);
		node(&d, 0x2000, 0x2100);
		node(&d, 0x2100, 0x2200);
		node(&d, 0x2200, 0);
		node(&d, 0x2300, 0x2200); /* garbage */
		finish(&d);
		open_it(&o, &d.w, NULL);
		assert_int_equal(o.result.problem_count, 0);
		assert_int_equal(o.result.class_count, 6);
		assert_int_equal(o.result.object_count, 6 + 2 + 4);
		assert_int_equal(heap_find(o.heap, 0x2001, &object.ix, NULL), HDB_NOTFOUND);
		assert_int_equal(heap_object(o.heap, find(&o, 0x2100), &object, NULL), HDB_OK);
		assert_string_equal(heap_class_name(o.heap, object.class_no), "test.Node");
		assert_int_equal(object.shallow_bytes, size);
		assert_int_equal(retained(&o, 0x2000), 3 * size);
		assert_int_equal(retained(&o, 0x2100), 2 * size);
		assert_int_equal(retained(&o, 0x2300), 0);
		assert_int_equal(heap_id(o.heap, find(&o, 0x2200), &id, NULL), HDB_OK);
		assert_int_equal(id, 0x2200);
		assert_int_equal(heap_offset(o.heap, find(&o, 0x2200), &offset, NULL), HDB_OK);
		assert_int_equal(d.w.data[offset], HPROF_INSTANCE_DUMP);
		close_it(&o);
		hw_release(&d.w);
	}
}

#define MANY 100000u

/*
 * Imports on 1, 2 and 3 threads and compares the files. Nodes are in the order of their IDs or
 * scattered.
 */
static void check_determinism(uint64_t stride)
{
	struct hdb_import_options opt = { .sizes = HDB_SIZES_VM, .force = 1 };
	uint64_t seed = 21;
	char *files[3];
	long sizes[3];
	struct dump d;

	begin(&d, 8);
	for (uint64_t i = 0; i < MANY; i++)
		node(&d, 0x100000 + i * stride % MANY * 32,
		     0x100000 + test_random(&seed) % MANY * 32);
	finish(&d);
	for (unsigned i = 0; i < 3; i++) {
		struct opened o;
		FILE *f;

		memset(&o, 0, sizeof(o));
		(void)snprintf(o.dump_path, sizeof(o.dump_path), "%s", temp_path("d.hprof"));
		(void)snprintf(o.db_path, sizeof(o.db_path), "%s", temp_path("d.heapdb"));
		if (i == 0)
			assert_int_equal(hw_save(&d.w, o.dump_path), 0);
		base_work_init(&o.work, 0, i + 1, NULL);
		assert_int_equal(import_dump((struct import_paths){ .dump = o.dump_path,
								    .database = o.db_path },
					     &opt, &o.work, NULL, &o.error),
				 HDB_OK);
		f = fopen(o.db_path, "rb");
		assert_non_null(f);
		(void)fseek(f, 0, SEEK_END);
		sizes[i] = ftell(f);
		rewind(f);
		files[i] = malloc((size_t)sizes[i]);
		assert_int_equal(fread(files[i], 1, (size_t)sizes[i], f), sizes[i]);
		(void)fclose(f);
		temp_remove_db(o.db_path);
	}
	assert_int_equal(sizes[0], sizes[1]);
	assert_int_equal(sizes[0], sizes[2]);
	assert_memory_equal(files[0], files[1], (size_t)sizes[0]);
	assert_memory_equal(files[0], files[2], (size_t)sizes[0]);
	for (unsigned i = 0; i < 3; i++)
		free(files[i]);
	(void)unlink(temp_path("d.hprof"));
	hw_release(&d.w);
}

/* The same dump gives the same bytes, whatever the thread count. */
static void test_determinism(void **state)
{
	(void)state;
	check_determinism(1);
	check_determinism(7919); /* a prime: scattered */
}

/* A thread holds its local variables. If the thread is unknown, they are roots. */
static void test_locals(void **state)
{
	struct opened o;
	struct dump d;

	(void)state;
	begin(&d, 8);
	node(&d, THREAD, 0);
	hw_root(&d.w, HPROF_ROOT_THREAD_OBJECT, THREAD, 3, 0);
	hw_root(&d.w, HPROF_ROOT_JAVA_FRAME, 0x2000, 3, 0);
	hw_root(&d.w, HPROF_ROOT_JAVA_FRAME, 0x2100, 99, 0);
	node(&d, 0x2000, 0);
	node(&d, 0x2100, 0);
	finish(&d);
	open_it(&o, &d.w, NULL);
	assert_int_equal(retained(&o, THREAD), 64);
	assert_int_equal(heap_load_roots(o.heap, NULL), HDB_OK);
	assert_false(heap_is_root(o.heap, find(&o, 0x2000)));
	assert_true(heap_is_root(o.heap, find(&o, 0x2100)));
	close_it(&o);
	hw_release(&d.w);
}

/* A damaged dump in which a thread is a long array. Its local variable is in no list. */
static void test_array_thread(void **state)
{
	uint64_t elements[STORE_LIST_BIG + 1];
	struct opened o;
	struct dump d;

	(void)state;
	for (unsigned i = 0; i <= STORE_LIST_BIG; i++)
		elements[i] = 0x2000;
	begin(&d, 8);
	node(&d, 0x2000, 0);
	hw_object_array(&d.w, 0x3000, ARRAY, elements, STORE_LIST_BIG + 1);
	node(&d, 0x80000, 0x2000);
	node(&d, 0x80100, 0x80000);
	hw_root(&d.w, HPROF_ROOT_THREAD_OBJECT, 0x3000, 3, 0);
	hw_root(&d.w, HPROF_ROOT_JAVA_FRAME, 0x80100, 3, 0);
	hw_root(&d.w, HPROF_ROOT_JNI_GLOBAL, 0x80100, 0, 0);
	finish(&d);
	open_it(&o, &d.w, NULL);
	assert_int_equal(retained(&o, 0x80100), 64);
	close_it(&o);
	hw_release(&d.w);
}

/* Two dumps in a file: the first is imported unless another is requested. */
static void test_snapshots(void **state)
{
	struct hdb_import_options opt = { .sizes = HDB_SIZES_MAT, .force = 1, .snapshot = 2 };
	struct opened o;
	struct dump d;
	uint32_t ix;

	(void)state;
	begin(&d, 8);
	node(&d, 0x2000, 0);
	finish(&d);
	(void)hw_begin(&d.w, HPROF_HEAP_DUMP_SEGMENT, 0);
	class_dump(&d, OBJECT, 0, NULL, 0);
	class_dump(&d, NODE, OBJECT, node_fields, 2);
	node(&d, 0x3000, 0);
	finish(&d);
	open_it(&o, &d.w, NULL);
	assert_int_equal(o.result.snapshot_count, 2);
	(void)find(&o, 0x2000);
	assert_int_equal(heap_find(o.heap, 0x3000, &ix, NULL), HDB_NOTFOUND);
	close_it(&o);
	open_it(&o, &d.w, &opt);
	(void)find(&o, 0x3000);
	assert_int_equal(heap_find(o.heap, 0x2000, &ix, NULL), HDB_NOTFOUND);
	close_it(&o);
	opt.snapshot = 3;
	assert_int_equal(import(&o, &d.w, &opt), HDB_EUSAGE);
	assert_non_null(strstr(o.error.message, "heap dumps in the file: 2"));
	hw_release(&d.w);
}

/*
 * Arrays with about the length from which lists are stored in parts, with nulls and references to
 * missing objects.
 */
static void test_long_arrays(void **state)
{
	static const uint32_t lengths[] = { 1023, 1024, 1025, 40000, 70000 };
	uint64_t *elements = calloc(70000, sizeof(*elements));
	struct opened o;
	struct dump d;

	(void)state;
	begin(&d, 8);
	for (uint64_t i = 0; i < 70000; i++)
		node(&d, 0x100000 + i * 32, 0);
	for (unsigned a = 0; a < 5; a++) {
		for (uint32_t i = 0; i < lengths[a]; i++)
			elements[i] = i % 10 == 3 ? 0 :
				      i % 10 == 4 ? 0x77777770 :
						    0x100000 + (uint64_t)i * 32;
		hw_object_array(&d.w, 0x80000000 + a * 0x1000000, ARRAY, elements, lengths[a]);
	}
	/* Long, but nearly empty. */
	memset(elements, 0, 70000 * sizeof(*elements));
	elements[69999] = 0x100000;
	hw_object_array(&d.w, 0x90000000, ARRAY, elements, 70000);
	hw_root(&d.w, HPROF_ROOT_JNI_GLOBAL, 0x80000000 + 4 * 0x1000000, 0, 0);
	finish(&d);
	open_it(&o, &d.w, NULL);
	for (unsigned a = 0; a < 5; a++) {
		struct store_lists lists;
		uint64_t want = 0, length;

		for (uint32_t i = 0; i < lengths[a]; i++)
			want += i % 10 != 3 && i % 10 != 4;
		heap_references(o.heap, &lists);
		assert_int_equal(store_lists_begin(&lists, find(&o, 0x80000000 + a * 0x1000000),
						   &length, NULL),
				 HDB_OK);
		assert_int_equal(length, want);
	}
	/*
	 * The root retains all objects that it refers to: 24 bytes plus 8 per element for the
	 * array, and 32 per node.
	 */
	assert_int_equal(retained(&o, 0x80000000 + 4 * 0x1000000), 20 + 70000 * 8 + 4 + 56000 * 32);
	assert_int_equal(store_meta_number(o.heap->store, "references.dangling", 0),
			 102 + 102 + 103 + 4000 + 7000);
	close_it(&o);
	hw_release(&d.w);
	free(elements);
}

/* ---- wrong ---- */

static void test_missing_classes(void **state)
{
	struct opened o;
	struct dump d;
	uint8_t body[16] = { 0 };

	(void)state;
	begin(&d, 8);
	hw_instance(&d.w, 0x2000, 0xabc0, body, 16);
	hw_instance(&d.w, 0x2100, 0, body, 16);
	hw_object_array(&d.w, 0x2200, 0xdef0, NULL, 3);
	hw_instance(&d.w, 0x2300, 0x2000, body, 8); /* its class is an instance */
	class_dump(&d, 0x3000, 0x9990, node_fields, 2);
	hw_instance(&d.w, 0x2400, 0x3000, body, 12);
	hw_root(&d.w, HPROF_ROOT_JNI_GLOBAL, 0x2000, 0, 0);
	finish(&d);
	open_it(&o, &d.w, NULL);
	assert_true(has_problem(&o, STORE_PROBLEM_MISSING_CLASS));
	assert_true(has_problem(&o, STORE_PROBLEM_MISSING_SUPER));
	assert_true(has_problem(&o, STORE_PROBLEM_CLASS_ID));
	assert_true(has_problem(&o, STORE_PROBLEM_MISSING_NAME));
	assert_true(retained(&o, 0x2000) > 0);
	close_it(&o);
	hw_release(&d.w);
}

static void test_super_cycles(void **state)
{
	struct opened o;
	struct dump d;
	uint8_t body[40] = { 0 };

	(void)state;
	begin(&d, 8);
	class_dump(&d, 0x3000, 0x3100, node_fields, 2);
	class_dump(&d, 0x3100, 0x3200, node_fields, 2);
	class_dump(&d, 0x3200, 0x3000, node_fields, 2);
	class_dump(&d, 0x3300, 0x3300, node_fields, 2);
	hw_instance(&d.w, 0x2000, 0x3000, body, 36);
	hw_instance(&d.w, 0x2100, 0x3300, body, 12);
	hw_root(&d.w, HPROF_ROOT_JNI_GLOBAL, 0x2000, 0, 0);
	finish(&d);
	open_it(&o, &d.w, NULL);
	assert_true(has_problem(&o, STORE_PROBLEM_SUPER_CYCLE));
	assert_true(retained(&o, 0x2000) > 0);
	close_it(&o);
	hw_release(&d.w);
}

static void test_duplicates_and_short(void **state)
{
	struct heap_object object;
	struct opened o;
	struct dump d;
	uint8_t body[4] = { 0 };

	(void)state;
	begin(&d, 8);
	node(&d, 0x2000, 0);
	hw_object_array(&d.w, 0x2000, ARRAY, NULL, 2); /* the first is kept */
	hw_instance(&d.w, 0x2100, NODE, body, 4);      /* 12 bytes are required */
	hw_instance(&d.w, 0, NODE, body, 4);
	finish(&d);
	open_it(&o, &d.w, NULL);
	assert_true(has_problem(&o, STORE_PROBLEM_DUPLICATE_ID));
	assert_true(has_problem(&o, STORE_PROBLEM_SHORT_INSTANCE));
	assert_true(has_problem(&o, STORE_PROBLEM_NULL_ID));
	assert_int_equal(heap_object(o.heap, find(&o, 0x2000), &object, NULL), HDB_OK);
	assert_int_equal(object.kind, STORE_INSTANCE);
	close_it(&o);
	hw_release(&d.w);
}

/*
 * If the dump is cut anywhere, the import gives a result or a clear error. A strict import refuses
 * it.
 */
static void test_cuts(void **state)
{
	const struct hdb_import_options strict = { .strict = 1, .force = 1 };
	struct opened o;
	struct dump d;
	size_t whole;

	(void)state;
	begin(&d, 4);
	for (unsigned i = 0; i < 20; i++)
		node(&d, 0x2000 + i * 16, 0x2000 + (i + 1) % 20 * 16);
	finish(&d);
	whole = d.w.size;
	for (d.w.size = 1; d.w.size < whole; d.w.size++) {
		const int r = import(&o, &d.w, NULL);
		struct stat st;

		assert_true(r == HDB_OK || r == HDB_EFORMAT || r == HDB_ETRUNC);
		assert_int_equal(stat(o.db_path, &st), r == HDB_OK ? 0 : -1);
		if (r < 0)
			assert_true(o.error.message[0] != '\0');
		else if (d.w.size < whole - 9)
			assert_true(o.result.problem_count > 0);
		temp_remove_db(o.db_path);
		(void)unlink(o.dump_path);
	}
	d.w.size = whole - 30;
	assert_int_equal(import(&o, &d.w, &strict), HDB_EFORMAT);
	(void)unlink(o.dump_path);
	hw_release(&d.w);
}

/*
 * If any bit is flipped, nothing crashes or hangs, also with sanitizers. If the database opens,
 * queries succeed.
 */
static void test_flips(void **state)
{
	struct opened o;
	struct dump d;

	(void)state;
	begin(&d, 4);
	for (unsigned i = 0; i < 8; i++)
		node(&d, 0x2000 + i * 16, 0x2000 + (i + 1) % 8 * 16);
	hw_root(&d.w, HPROF_ROOT_JNI_GLOBAL, 0x2000, 0, 0);
	finish(&d);
	for (size_t at = 0; at < d.w.size; at++) {
		d.w.data[at] ^= (uint8_t)(1u << at % 8);
		if (import(&o, &d.w, NULL) == HDB_OK) {
			assert_int_equal(heap_open(o.db_path, NULL, &o.work, &o.heap, &o.error),
					 HDB_OK);
			derive_init(&o.derive, o.heap, &o.work);
			if (derive_need(&o.derive, STORE_TOTALS, &o.error) != HDB_OK ||
			    derive_need(&o.derive, STORE_CHILDREN, &o.error) != HDB_OK)
				fail_msg("flip at %zu: %s", at, o.error.message);
			derive_release(&o.derive);
			heap_close(o.heap);
		}
		temp_remove_db(o.db_path);
		d.w.data[at] ^= (uint8_t)(1u << at % 8);
	}
	(void)unlink(o.dump_path);
	hw_release(&d.w);
}

/* 65,535 fields in a class, and a chain of 2,000 superclasses. */
static void test_wide_and_deep_classes(void **state)
{
	struct hprof_field *fields = calloc(65535, sizeof(*fields));
	uint8_t *body = calloc(65535, 8);
	struct opened o;
	struct dump d;

	(void)state;
	for (unsigned i = 0; i < 65535; i++)
		fields[i] = (struct hprof_field){ NAME_NEXT, HPROF_OBJECT };
	for (unsigned i = 0; i < 65535; i += 1000)
		body[i * 8 + 6] = 0x30; /* 0x3000 */
	begin(&d, 8);
	class_dump(&d, 0x2500, OBJECT, fields, 65535);
	hw_instance(&d.w, 0x2600, 0x2500, body, 65535 * 8);
	node(&d, 0x3000, 0);
	for (uint64_t i = 0; i < 2000; i++)
		class_dump(&d, 0x100000 + i * 64, i ? 0x100000 + (i - 1) * 64 : OBJECT, node_fields,
			   1);
	memset(body, 0, 2000 * 8);
	hw_instance(&d.w, 0x2700, 0x100000 + 1999 * 64, body, 2000 * 8);
	hw_root(&d.w, HPROF_ROOT_JNI_GLOBAL, 0x2600, 0, 0);
	hw_root(&d.w, HPROF_ROOT_JNI_GLOBAL, 0x2700, 0, 0);
	finish(&d);
	open_it(&o, &d.w, NULL);
	assert_int_equal(retained(&o, 0x2600), 16 + 65535 * 8 + 32);
	assert_int_equal(retained(&o, 0x2700), 16 + 2000 * 8);
	close_it(&o);
	hw_release(&d.w);
	free(fields);
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_heap),
		cmocka_unit_test(test_determinism),
		cmocka_unit_test(test_locals),
		cmocka_unit_test(test_array_thread),
		cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_long_arrays),
		cmocka_unit_test(test_missing_classes),
		cmocka_unit_test(test_super_cycles),
		cmocka_unit_test(test_duplicates_and_short),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_wide_and_deep_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

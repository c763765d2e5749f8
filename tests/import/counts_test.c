/*
 * counts_test.c - the import's counts by class equal those from a pass over all objects. Without
 * the table, for a dump with too many kinds of arrays, answers are the same.
 */
#include "support/query_world.h"

#include "heap/heap.h"
#include "import/counts.h"
#include "import/import.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

/* IDs: classes come first, each followed by its name. Objects are far above them. */
enum {
	OBJECT = 0x1000,
	CLASS = 0x1010,
	LOADER = 0x1020,
	NODE = 0x1030,
	CHUNK = 0x1040,
	BYTES = 0x1050,
	LONGS = 0x1060,
	SIZE_NAME = 0x1070,
	PARENT_NAME = 0x1080,
	ARRAYS = 0x2000,
	CLASS_STEP = 0x10
};
#define FIRST_OBJECT UINT64_C(0x200000)
/* More than the size of the longest array. */
#define OBJECT_STEP UINT64_C(4096)
#define RANDOM_OBJECTS 30000u
#define RANDOM_CLASSES 40u
/*
 * References of 4 bytes with an alignment of 256 bytes: this many lengths have different padding.
 */
#define LENGTHS 64u

static const struct hprof_field chunk_fields[] = {
	{ PARENT_NAME, HPROF_OBJECT },
	{ SIZE_NAME, HPROF_INT },
};

struct dump {
	struct hw w;
	uint32_t serial;
	uint64_t next_id;
};

static void name_class(struct dump *d, uint64_t id, const char *name)
{
	hw_utf8(&d->w, id + 1, name);
	hw_load_class(&d->w, ++d->serial, id, 0, id + 1);
}

static void class_dump(struct dump *d, uint64_t id, const struct hprof_field *fields,
		       unsigned count)
{
	const struct hw_class c = { .id = id,
				    .super_id = id == OBJECT ? 0 : OBJECT,
				    .fields = fields,
				    .field_count = count };

	hw_class(&d->w, &c);
}

/* A dump with `arrays` classes of object arrays, and an open segment. */
static void begin(struct dump *d, unsigned arrays)
{
	static const struct {
		uint64_t id;
		const char *name;
	} classes[] = {
		{ OBJECT, "java/lang/Object" },
		{ CLASS, "java/lang/Class" },
		{ LOADER, "java/lang/ClassLoader" },
		{ NODE, "test/Node" },
		{ CHUNK, "jdk/internal/vm/StackChunk" },
		{ BYTES, "[B" },
		{ LONGS, "[J" },
	};
	const size_t n = sizeof(classes) / sizeof(classes[0]);
	char name[64];

	*d = (struct dump){ .next_id = FIRST_OBJECT };
	hw_init(&d->w, HPROF_1_0_2, 4, 1234567890123);
	hw_utf8(&d->w, SIZE_NAME, "size");
	hw_utf8(&d->w, PARENT_NAME, "parent");
	for (size_t i = 0; i < n; i++)
		name_class(d, classes[i].id, classes[i].name);
	for (unsigned i = 0; i < arrays; i++) {
		(void)snprintf(name, sizeof(name), "[Ltest/Item%u;", i);
		name_class(d, ARRAYS + i * (uint64_t)CLASS_STEP, name);
	}
	(void)hw_begin(&d->w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (size_t i = 0; i < n; i++)
		class_dump(d, classes[i].id, chunk_fields, classes[i].id == CHUNK ? 2 : 0);
	for (unsigned i = 0; i < arrays; i++)
		class_dump(d, ARRAYS + i * (uint64_t)CLASS_STEP, NULL, 0);
}

static uint64_t new_id(struct dump *d)
{
	return d->next_id += OBJECT_STEP;
}

static void object_array(struct dump *d, unsigned class_no, uint32_t length)
{
	hw_object_array(&d->w, new_id(d), ARRAYS + class_no * (uint64_t)CLASS_STEP, NULL, length);
}

static void stack_chunk(struct dump *d, uint32_t words)
{
	/* Values of the fields: parent is null, size is `words`. */
	const uint8_t body[8] = { [6] = (uint8_t)(words >> 8), [7] = (uint8_t)words };

	hw_instance(&d->w, new_id(d), CHUNK, body, sizeof(body));
}

/* ---- expected counts ---- */

/* Counts of one class and kind. */
struct sum {
	uint64_t count, elements, bytes;
};

struct sums {
	struct sum *by;          /* class number * 4 + kind */
	uint64_t objects, bytes; /* all objects */
};

static int add_counted(void *ctx, const struct heap_count *c, struct hdb_error *err)
{
	struct sum *sum = (struct sum *)ctx + c->class_no * 4 + c->kind;

	(void)err;
	sum->count += c->count;
	sum->bytes += c->shallow_bytes;
	if (c->kind != STORE_CLASS)
		sum->elements += c->elements;
	return HDB_OK;
}

/* Counts every object except the one that represents the boot loader. */
static void look_at_all(struct heap *heap, struct sums *sums)
{
	struct heap_block *block = malloc(sizeof(*block));

	sums->by = calloc(((size_t)heap->class_count + 1) * 4, sizeof(*sums->by));
	assert_true(block && sums->by);
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		assert_int_equal(heap_read_block(heap, b, block, NULL), HDB_OK);
		for (uint32_t i = 0; i < block->count; i++) {
			struct sum *sum = &sums->by[block->class_no[i] * 4 + block->kind[i]];

			if (block->first_ix + i == HEAP_BOOT_LOADER)
				continue;
			sum->count++;
			sum->bytes += block->shallow[i];
			if (block->kind[i] != STORE_CLASS)
				sum->elements += block->length[i];
			sums->objects++;
			sums->bytes += block->shallow[i];
		}
	}
	free(block);
}

/* ---- an imported dump ---- */

struct opened {
	const char *dump, *db;
	struct base_work work;
	struct heap *heap;
};

static void open_it(struct opened *o, struct dump *d, const struct hdb_import_options *opt)
{
	struct hdb_error err = { 0 };

	hw_end(&d->w);
	hw_heap_dump_end(&d->w);
	o->dump = temp_path("counts.hprof");
	o->db = temp_path("counts.heapdb");
	assert_int_equal(hw_save(&d->w, o->dump), 0);
	base_work_init(&o->work, 0, 2, NULL);
	if (import_dump((struct import_paths){ .dump = o->dump, .database = o->db }, opt, &o->work,
			NULL, &err) != HDB_OK ||
	    heap_open(o->db, NULL, &o->work, &o->heap, &err) != HDB_OK ||
	    heap_load_classes(o->heap, &err) != HDB_OK)
		fail_msg("%s", err.message);
}

static void close_it(struct opened *o, struct dump *d)
{
	heap_close(o->heap);
	temp_remove_db(o->db);
	(void)unlink(o->dump);
	hw_release(&d->w);
}

/* The counts of the import equal the counts of all objects. */
static void check_counts(struct opened *o)
{
	const size_t n = ((size_t)o->heap->class_count + 1) * 4;
	struct sum *counted = calloc(n, sizeof(*counted));
	struct sums sums = { 0 };

	assert_non_null(counted);
	look_at_all(o->heap, &sums);
	assert_int_equal(heap_each_count(o->heap, add_counted, counted, NULL), HDB_OK);
	for (size_t i = 0; i < n; i++) {
		if (counted[i].count != sums.by[i].count || counted[i].bytes != sums.by[i].bytes ||
		    counted[i].elements != sums.by[i].elements)
			fail_msg("class 0x%" PRIx64 ", kind %u: %" PRIu64 " objects, %" PRIu64
				 " elements, %" PRIu64 " bytes counted, there are %" PRIu64
				 ", %" PRIu64 ", %" PRIu64,
				 heap_class(o->heap, (uint32_t)(i / 4))->class_id,
				 (unsigned)(i % 4), counted[i].count, counted[i].elements,
				 counted[i].bytes, sums.by[i].count, sums.by[i].elements,
				 sums.by[i].bytes);
	}
	free(sums.by);
	free(counted);
}

/* The counts and bytes of `histogram --shallow` equal those of all objects. */
static void check_histogram(struct opened *o)
{
	static const struct ask question = { .query = "histogram", .options = { "shallow" } };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows = NULL;
	uint64_t objects = 0, bytes = 0;
	struct sums sums = { 0 };
	struct hdb *db = NULL;

	look_at_all(o->heap, &sums);
	if (hdb_open(o->db, NULL, &db, &err) != HDB_OK ||
	    ask_open(db, &question, &rows, &err) != HDB_OK)
		fail_msg("%s", err.message);
	while (hdb_rows_next(rows, &err) == HDB_OK) {
		objects += value_of(rows, "objects")->u;
		bytes += value_of(rows, "shallow")->u;
	}
	assert_int_equal(objects, sums.objects);
	assert_int_equal(bytes, sums.bytes);
	hdb_rows_close(rows);
	hdb_close(db);
	free(sums.by);
}

/* ---- tests ---- */

static void random_objects(struct dump *d, uint64_t *seed)
{
	for (unsigned i = 0; i < RANDOM_OBJECTS; i++) {
		const uint64_t v = test_random(seed);
		const uint32_t length = (uint32_t)(v >> 32) % (v & 64 ? 8 : 300);

		switch (v % 5) {
		case 0:
			hw_instance(&d->w, new_id(d), NODE, NULL, 0);
			break;
		case 1:
			stack_chunk(d, length);
			break;
		case 2:
			hw_primitive_array(&d->w, new_id(d), HPROF_BYTE, NULL, length);
			break;
		case 3:
			hw_primitive_array(&d->w, new_id(d), HPROF_LONG, NULL, length);
			break;
		default:
			object_array(d, (unsigned)(v >> 8) % RANDOM_CLASSES, length);
		}
	}
}

static void test_counts_are_right(void **state)
{
	static const struct hdb_import_options options[] = {
		{ .force = 1 },
		{ .force = 1, .sizes = HDB_SIZES_MAT },
		{ .force = 1, .sizes = HDB_SIZES_DUMP },
		{ .force = 1, .layout = "header=12,ref=4,align=16" },
		{ .force = 1, .layout = "header=16,ref=8,align=8" },
		{ .force = 1, .layout = "header=8,ref=4,align=256" },
	};
	uint64_t seed = world_seed();

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct opened o;
		struct dump d;

		begin(&d, RANDOM_CLASSES);
		random_objects(&d, &seed);
		open_it(&o, &d, &options[i]);
		check_counts(&o);
		check_histogram(&o);
		close_it(&o, &d);
	}
}

/* The maximum number of classes and lengths, and one more. */
static void test_too_many(void **state)
{
	static const struct hdb_import_options opt = {
		.force = 1,
		.layout = "header=12,ref=4,align=256",
	};

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		int (*const take)(void *, const struct heap_count *, struct hdb_error *) =
			add_counted;
		struct opened o;
		struct dump d;

		begin(&d, IMPORT_COUNTS_MAX / LENGTHS);
		for (unsigned i = 0; i < IMPORT_COUNTS_MAX; i++)
			object_array(&d, i / LENGTHS, i % LENGTHS);
		for (unsigned i = 0; i < more; i++)
			hw_primitive_array(&d.w, new_id(&d), HPROF_BYTE, NULL, 1);
		open_it(&o, &d, &opt);
		if (more)
			assert_int_equal(heap_each_count(o.heap, take, NULL, NULL), HDB_NOTFOUND);
		else
			check_counts(&o);
		check_histogram(&o);
		close_it(&o, &d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_right),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * query_collections_test.c - collections that lie: links in circles, sizes that cannot be, fields
 * of the wrong kind, wrappers of themselves. Every question ends, with what is there.
 */
#include "support/query_world.h"

/* IDs of classes; of objects from FIRST on. */
enum {
	STRING = 0x3000,
	LONGS = 0x3100,
	ARRAY = 0x3200,
	HASH_MAP = 0x3300,
	NODE = 0x3400,
	LINKED_LIST = 0x3500,
	LINK = 0x3600,
	TREE_MAP = 0x3700,
	ENTRY = 0x3800,
	HASH_SET = 0x3900,
	ARRAY_LIST = 0x3a00,
	CHM = 0x3b00,
	REFERENCE = 0x3c00,
	BIT_SET = 0x3d00,
	DEQUE = 0x3e00,
	FIRST = 0x100000
};
enum {
	SIZE = 1,
	TABLE,
	KEY,
	VALUE,
	NEXT,
	HEAD,
	ITEM,
	ROOT,
	LEFT,
	RIGHT,
	MAP,
	ELEMENTS,
	SEGMENTS,
	WORDS,
	HEAD_INDEX,
	TAIL_INDEX,
	NAMES
};

static const char *const field_names[] = {
	"",     "size",  "table", "key",         "value",    "next",  "first", "item", "root",
	"left", "right", "map",   "elementData", "segments", "words", "head",  "tail",
};

static const struct {
	uint64_t id;
	const char *name;
	unsigned field_count;
	struct hprof_field fields[5];
} classes[] = {
	{ WORLD_OBJECT, "java/lang/Object", 0, { { 0 } } },
	{ WORLD_CLASS, "java/lang/Class", 0, { { 0 } } },
	{ STRING, "java/lang/String", 0, { { 0 } } },
	{ LONGS, "[J", 0, { { 0 } } },
	{ ARRAY, "[Ljava/lang/Object;", 0, { { 0 } } },
	{ HASH_MAP, "java/util/HashMap", 2, { { SIZE, HPROF_INT }, { TABLE, HPROF_OBJECT } } },
	{ NODE,
	  "java/util/HashMap$Node",
	  3,
	  { { KEY, HPROF_OBJECT }, { VALUE, HPROF_OBJECT }, { NEXT, HPROF_OBJECT } } },
	{ LINKED_LIST, "java/util/LinkedList", 2, { { SIZE, HPROF_INT }, { HEAD, HPROF_OBJECT } } },
	{ LINK,
	  "java/util/LinkedList$Node",
	  2,
	  { { ITEM, HPROF_OBJECT }, { NEXT, HPROF_OBJECT } } },
	{ TREE_MAP, "java/util/TreeMap", 2, { { SIZE, HPROF_INT }, { ROOT, HPROF_OBJECT } } },
	{ ENTRY,
	  "java/util/TreeMap$Entry",
	  4,
	  { { KEY, HPROF_OBJECT },
	    { VALUE, HPROF_OBJECT },
	    { LEFT, HPROF_OBJECT },
	    { RIGHT, HPROF_OBJECT } } },
	{ HASH_SET, "java/util/HashSet", 1, { { MAP, HPROF_OBJECT } } },
	{ ARRAY_LIST,
	  "java/util/ArrayList",
	  2,
	  { { SIZE, HPROF_INT }, { ELEMENTS, HPROF_OBJECT } } },
	{ CHM, "java/util/concurrent/ConcurrentHashMap", 1, { { SEGMENTS, HPROF_OBJECT } } },
	{ REFERENCE,
	  "java/util/concurrent/atomic/AtomicReference",
	  1,
	  { { VALUE, HPROF_OBJECT } } },
	{ BIT_SET, "java/util/BitSet", 1, { { WORDS, HPROF_OBJECT } } },
	{ DEQUE,
	  "java/util/ArrayDeque",
	  3,
	  { { ELEMENTS, HPROF_OBJECT }, { HEAD_INDEX, HPROF_INT }, { TAIL_INDEX, HPROF_INT } } },
};
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

static struct hw out;
static struct written heap;

static void begin(void)
{
	hw_init(&out, HPROF_1_0_2, 8, 0);
	for (uint32_t n = 1; n < NAMES; n++)
		/* ArrayDeque's array has another name than ArrayList's. */
		hw_utf8(&out, n, field_names[n]);
	hw_utf8(&out, NAMES, "elements");
	for (uint32_t c = 0; c < CLASSES; c++) {
		hw_utf8(&out, 100 + c, classes[c].name);
		hw_load_class(&out, 100 + c, classes[c].id, 0, 100 + c);
	}
	(void)hw_begin(&out, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (uint32_t c = 0; c < CLASSES; c++) {
		struct hprof_field fields[5];
		const struct hw_class class = {
			.id = classes[c].id,
			.super_id = c ? (uint64_t)WORLD_OBJECT : 0,
			.fields = fields,
			.field_count = classes[c].field_count,
		};

		memcpy(fields, classes[c].fields, sizeof(fields));
		if (classes[c].id == DEQUE)
			fields[0].name_string_id = NAMES;
		hw_class(&out, &class);
		hw_root(&out, HPROF_ROOT_STICKY_CLASS, class.id, 0, 0);
	}
}

/* Writes an instance that is a root; values in the order of the class's fields. */
static uint64_t put(uint64_t id, uint64_t class_id, const uint64_t *values)
{
	uint8_t body[64];
	size_t size = 0;

	for (uint32_t c = 0; c < CLASSES; c++) {
		for (unsigned f = 0; classes[c].id == class_id && f < classes[c].field_count; f++) {
			const unsigned bytes = classes[c].fields[f].type == HPROF_INT ? 4 : 8;

			for (unsigned b = 0; b < bytes; b++)
				body[size++] = (uint8_t)(values[f] >> (8 * (bytes - 1 - b)));
		}
	}
	hw_instance(&out, id, class_id, body, (uint32_t)size);
	hw_root(&out, HPROF_ROOT_UNKNOWN, id, 0, 0);
	return id;
}
#define PUT(id, class_id, ...) put(id, class_id, (const uint64_t[]){ __VA_ARGS__ })

static struct hdb_rows *ask(const char *query, uint64_t target, const char *option)
{
	static char text[32];
	const struct ask question = { .query = query,
				      .target = target ? text : NULL,
				      .options = { option } };

	(void)snprintf(text, sizeof(text), "0x%" PRIx64, target);
	return ask_rows(heap.db, &question);
}

/* Entries of a collection; *is_cut: the last row says that they were cut. */
static uint64_t entries(uint64_t id, bool *is_cut)
{
	struct hdb_rows *rows = ask("entries", id, NULL);
	struct hdb_error err = { 0 };
	uint64_t n = 0;
	int r;

	*is_cut = false;
	while ((r = hdb_rows_next(rows, &err)) == HDB_OK) {
		const struct hdb_value *value = value_of(rows, "value_label");

		*is_cut = value->text_size > 4 && memcmp(value->text, "<cut", 4) == 0;
		n += !*is_cut;
		assert_true(n < 1000);
	}
	if (r < 0)
		fail_msg("%s", err.message);
	hdb_rows_close(rows);
	return n;
}

static const uint64_t null_slots[4];

/* What each collection must give: at least and at most so many entries, cut or not. */
struct expected {
	const char *what;
	uint64_t id, low, high;
	bool is_cut;
};

static void lies(void **state)
{
	const uint64_t circle = FIRST + 0x1000, array = FIRST + 0x2000, longs = FIRST + 0x3000;
	const uint64_t self = FIRST + 0x4000, parts = FIRST + 0x5000, shared = FIRST + 0x6000;
	const uint8_t ones[64] = { 0xff };
	const struct expected list[] = {
		{ "chain in a circle", FIRST, 2, 3, true },
		{ "size that is too large", FIRST + 0x10, 0, 0, false },
		{ "negative size", FIRST + 0x20, 0, 0, false },
		{ "table of numbers", FIRST + 0x30, 0, 0, false },
		{ "table that is itself", FIRST + 0x40, 0, 0, false },
		{ "table that is not in the dump", FIRST + 0x50, 0, 0, false },
		{ "list in a circle", FIRST + 0x60, 2, 6, true },
		{ "tree in a circle", FIRST + 0x70, 0, 128, true },
		{ "set of itself", FIRST + 0x80, 0, 0, false },
		{ "array list of too many", FIRST + 0x90, 4, 4, false },
		{ "array list of less than none", FIRST + 0xa0, 0, 0, false },
		{ "map of parts that are itself", FIRST + 0xb0, 0, 0, false },
		{ "bits of all kinds", FIRST + 0xc0, 8, 8, false },
		{ "ring with indices of nowhere", FIRST + 0xd0, 0, 4, false },
		{ "slots that share a circle", FIRST + 0xe0, 0, 600, true },
	};

	(void)state;
	begin();
	hw_object_array(&out, array, ARRAY, null_slots, 4);
	hw_primitive_array(&out, longs, HPROF_LONG, ones, 8);
	PUT(circle, NODE, 0, 0, circle + 0x10);
	PUT(circle + 0x10, NODE, array, array, circle);
	hw_object_array(&out, circle + 0x20, ARRAY, (const uint64_t[]){ circle, 0 }, 2);
	PUT(FIRST, HASH_MAP, 2, circle + 0x20);
	PUT(FIRST + 0x10, HASH_MAP, 0x7fffffff, array);
	PUT(FIRST + 0x20, HASH_MAP, 0x80000000, array);
	PUT(FIRST + 0x30, HASH_MAP, 3, longs);
	PUT(FIRST + 0x40, HASH_MAP, 3, FIRST + 0x40);
	PUT(FIRST + 0x50, HASH_MAP, 3, 0xdeadbeef);
	PUT(self, LINK, array, self + 0x10);
	PUT(self + 0x10, LINK, array, self);
	PUT(FIRST + 0x60, LINKED_LIST, 2, self);
	PUT(self + 0x20, ENTRY, array, array, self + 0x20, self + 0x20);
	PUT(FIRST + 0x70, TREE_MAP, 1, self + 0x20);
	PUT(FIRST + 0x80, HASH_SET, FIRST + 0x80);
	PUT(FIRST + 0x90, ARRAY_LIST, 1000000, array);
	PUT(FIRST + 0xa0, ARRAY_LIST, 0xffffffff, array);
	hw_object_array(&out, parts, ARRAY, (const uint64_t[]){ FIRST + 0xb0, FIRST + 0xb0 }, 2);
	PUT(FIRST + 0xb0, CHM, parts);
	PUT(FIRST + 0xc0, BIT_SET, longs);
	PUT(FIRST + 0xd0, DEQUE, array, 0xffffffff, 0x7fffffff);
	hw_object_array(&out, shared, ARRAY, (const uint64_t[]){ circle, circle, circle, circle },
			4);
	PUT(FIRST + 0xe0, HASH_MAP, 4, shared);
	PUT(self + 0x30, REFERENCE, self + 0x30);
	written_open(&heap, &out, "collections", NULL);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		bool is_cut;
		const uint64_t n = entries(list[i].id, &is_cut);

		if (n < list[i].low || n > list[i].high || is_cut != list[i].is_cut)
			fail_msg("%s: %" PRIu64 " entries%s", list[i].what, n,
				 is_cut ? ", cut" : "");
	}
	/* A value that is inside itself ends, too. */
	hdb_rows_close(ask("object", self + 0x30, NULL));
}

/* The counts over all of them, after lies() made the heap. */
static void sums(void **state)
{
	static const char *const ways[] = {
		"by=class", "by=size", "by=fill", "by=collisions", "by=object", "arrays",
	};
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		rows = ask("collections", 0, ways[i]);
		while (hdb_rows_next(rows, &err) == HDB_OK)
			;
		assert_int_equal(err.code, 0);
		if (strcmp(ways[i], "arrays") != 0) {
			assert_int_equal(fact_of(rows, "objects")->u, 15);
			/* Sizes cut: two maps, two lists. */
			assert_int_equal(fact_of(rows, "impossible")->u, 4);
		}
		hdb_rows_close(rows);
	}
	rows = ask("collections", 0, "by=class");
	while (hdb_rows_next(rows, &err) == HDB_OK) {
		if (!value_is(rows, "class", "java.util.ArrayList"))
			continue;
		assert_int_equal(value_of(rows, "objects")->u, 2);
		assert_int_equal(value_of(rows, "empty")->u, 1);
		assert_int_equal(value_of(rows, "elements")->u, 4);
		assert_int_equal(value_of(rows, "capacity")->u, 8);
		/* Four references of the list without elements. */
		assert_int_equal(value_of(rows, "wasted")->u % 4, 0);
		assert_true(value_of(rows, "wasted")->u >= 16);
	}
	hdb_rows_close(rows);
	written_close(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lies),
		cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

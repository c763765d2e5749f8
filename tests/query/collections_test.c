/*
 * collections_test.c - collections with invalid contents: cyclic links, impossible sizes, fields of
 * the wrong type, wrappers that contain themselves. Every query ends, and returns the entries that
 * exist.
 */
#include "support/query_world.h"

/* IDs of classes. IDs of objects start at FIRST. */
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
	CLOJURE_MAP = 0x4000,
	ARRAY_NODE = 0x4100,
	PAIR_NODE = 0x4200,
	CONS = 0x4300,
	VECTOR = 0x4400,
	CHAMP_SET = 0x4500,
	LINKED_QUEUE = 0x4480,
	CHAMP_NODE = 0x4600,
	QUEUE = 0x4700,
	LIST = 0x4800,
	COPIES = 0x4900,
	BITMAP = 0x4a00,
	CONTAINERS = 0x4b00,
	RUNS = 0x4c00,
	HASHED = 0x4d00,
	SEGMENT = 0x4e00,
	ATOMIC_ARRAY = 0x4f00,
	WEAK = 0x5000,
	WEAK_ENTRY = 0x5100,
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
	COUNT,
	ARRAY_FIELD,
	CONS_FIRST,
	CONS_MORE,
	TAIL,
	ROOT_SHIFT,
	ROOT_NODE,
	CONTENT,
	DATA_MAP,
	NODE_MAP,
	FRONT,
	REAR,
	N,
	ELEMENT,
	CONTAINERS_FIELD,
	KEYS,
	VALUES,
	VALUES_LENGTH,
	RUNS_FIELD,
	HT,
	LENGTH,
	REFERENT,
	NAMES
};

static const char *const field_names[] = {
	"",
	"size",
	"table",
	"key",
	"value",
	"next",
	"first",
	"item",
	"root",
	"left",
	"right",
	"map",
	"elementData",
	"segments",
	"words",
	"head",
	"tail",
	"count",
	"array",
	"_first",
	"_more",
	"tail",
	"rootShift",
	"rootNode",
	"content",
	"dataMap",
	"nodeMap",
	"front",
	"rear",
	"n",
	"element",
	"highLowContainer",
	"keys",
	"values",
	"valueslength",
	"nbrruns",
	"ht",
	"length",
	"referent",
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
	{ CLOJURE_MAP,
	  "clojure/lang/PersistentHashMap",
	  2,
	  { { COUNT, HPROF_INT }, { ROOT, HPROF_OBJECT } } },
	{ ARRAY_NODE,
	  "clojure/lang/PersistentHashMap$ArrayNode",
	  1,
	  { { ARRAY_FIELD, HPROF_OBJECT } } },
	{ PAIR_NODE,
	  "clojure/lang/PersistentHashMap$BitmapIndexedNode",
	  1,
	  { { ARRAY_FIELD, HPROF_OBJECT } } },
	{ CONS,
	  "clojure/lang/Cons",
	  2,
	  { { CONS_FIRST, HPROF_OBJECT }, { CONS_MORE, HPROF_OBJECT } } },
	{ VECTOR,
	  "kotlinx/collections/immutable/implementations/immutableList/PersistentVector",
	  4,
	  { { SIZE, HPROF_INT },
	    { ROOT, HPROF_OBJECT },
	    { TAIL, HPROF_OBJECT },
	    { ROOT_SHIFT, HPROF_INT } } },
	{ CHAMP_SET, "scala/collection/immutable/HashSet", 1, { { ROOT_NODE, HPROF_OBJECT } } },
	{ CHAMP_NODE,
	  "scala/collection/immutable/BitmapIndexedSetNode",
	  4,
	  { { SIZE, HPROF_INT },
	    { CONTENT, HPROF_OBJECT },
	    { DATA_MAP, HPROF_INT },
	    { NODE_MAP, HPROF_INT } } },
	{ QUEUE,
	  "io/vavr/collection/Queue",
	  2,
	  { { FRONT, HPROF_OBJECT }, { REAR, HPROF_OBJECT } } },
	{ LIST,
	  "io/vavr/collection/List$Cons",
	  3,
	  { { HEAD_INDEX, HPROF_OBJECT }, { TAIL, HPROF_OBJECT }, { LENGTH, HPROF_INT } } },
	{ LINKED_QUEUE,
	  "java/util/concurrent/ConcurrentLinkedQueue",
	  1,
	  { { HEAD_INDEX, HPROF_OBJECT } } },
	{ COPIES,
	  "java/util/Collections$CopiesList",
	  2,
	  { { N, HPROF_INT }, { ELEMENT, HPROF_OBJECT } } },
	{ BITMAP, "org/roaringbitmap/RoaringBitmap", 1, { { CONTAINERS_FIELD, HPROF_OBJECT } } },
	{ CONTAINERS,
	  "org/roaringbitmap/RoaringArray",
	  3,
	  { { KEYS, HPROF_OBJECT }, { VALUES, HPROF_OBJECT }, { SIZE, HPROF_INT } } },
	{ RUNS,
	  "org/roaringbitmap/RunContainer",
	  2,
	  { { VALUES_LENGTH, HPROF_OBJECT }, { RUNS_FIELD, HPROF_INT } } },
	{ HASHED, "sun/util/PreHashedMap", 2, { { SIZE, HPROF_INT }, { HT, HPROF_OBJECT } } },
	{ SEGMENT,
	  "com/google/common/collect/MapMakerInternalMap$Segment",
	  2,
	  { { COUNT, HPROF_INT }, { TABLE, HPROF_OBJECT } } },
	{ ATOMIC_ARRAY,
	  "java/util/concurrent/atomic/AtomicReferenceArray",
	  1,
	  { { ARRAY_FIELD, HPROF_OBJECT } } },
	{ WEAK,
	  "java/lang/ref/Reference",
	  2,
	  { { REFERENT, HPROF_OBJECT }, { NEXT, HPROF_OBJECT } } },
	{ WEAK_ENTRY,
	  "com/google/common/collect/MapMakerInternalMap$WeakKeyDummyValueEntry",
	  0,
	  { { 0 } } },
};
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

static struct hw out;
static struct written heap;

static void begin(void)
{
	hw_init(&out, HPROF_1_0_2, 8, 0);
	for (uint32_t n = 1; n < NAMES; n++)
		/* ArrayDeque's array has a different field name than ArrayList's. */
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
			.super_id = classes[c].id == WEAK_ENTRY ? (uint64_t)WEAK :
				    c                           ? (uint64_t)WORLD_OBJECT :
								  0,
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

/* Writes an instance that is a root, with values in the order of the class's fields. */
static uint64_t put(uint64_t id, uint64_t class_id, const uint64_t *values)
{
	uint8_t body[64];
	size_t size = 0;

	for (uint32_t c = 0; c < CLASSES; c++) {
		/* If an entry is a reference, all of its fields are inherited. */
		const bool is_it = classes[c].id == (class_id == WEAK_ENTRY ? WEAK : class_id);

		for (unsigned f = 0; is_it && f < classes[c].field_count; f++) {
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

/*
 * Counts the entries of a collection. *is_cut is set if the last row says that entries are cut or
 * unknown.
 */
static uint64_t entries(uint64_t id, bool *is_cut)
{
	struct hdb_rows *rows = ask("entries", id, NULL);
	struct hdb_error err = { 0 };
	uint64_t n = 0;
	int r;

	*is_cut = false;
	while ((r = hdb_rows_next(rows, &err)) == HDB_OK) {
		const struct hdb_value *value = value_of(rows, "value_label");

		*is_cut = value->text_size > 4 && (memcmp(value->text, "<cut", 4) == 0 ||
						   memcmp(value->text, "<unk", 4) == 0);
		n += !*is_cut;
		assert_true(n < 20000);
	}
	if (r < 0)
		fail_msg("%s", err.message);
	hdb_rows_close(rows);
	return n;
}

static const uint64_t null_slots[4];

/*
 * Expected results: minimum and maximum number of entries of each collection, and whether they are
 * cut.
 */
struct expected {
	const char *what;
	uint64_t id, low, high;
	bool is_cut; /* cut or unknown */
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
		{ "set of itself", FIRST + 0x80, 0, 0, true },
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
	/* Reading a value that contains itself also ends. */
	hdb_rows_close(ask("object", self + 0x30, NULL));
}

/* The same for collections with nodes: cycles, shared nodes, and impossible levels and bits. */
static void nodes_that_lie(void **state)
{
	const uint64_t nodes = FIRST + 0x1000, arrays = FIRST + 0x2000, values = FIRST + 0x3000;
	const struct expected list[] = {
		{ "node inside itself", FIRST, 0, 0, true },
		{ "levels of nodes that share all below them", FIRST + 0x10, 0, 19999, true },
		{ "node without rows", FIRST + 0x20, 0, 0, true },
		{ "chain in a circle", FIRST + 0x30, 2, 8, true },
		{ "chain that goes on in a map without rows", FIRST + 0x40, 1, 1, true },
		{ "more levels than numbers have", FIRST + 0x50, 0, 0, true },
		{ "arrays that are inside themselves", FIRST + 0x60, 0, 19999, true },
		{ "vector of the size that it says", FIRST + 0x70, 3, 3, false },
		{ "more bits than slots", FIRST + 0x80, 0, 0, true },
		{ "more runs than slots", FIRST + 0x90, 0, 20000, true },
		{ "queue whose end is a circle", FIRST + 0xa0, 0, 0, true },
		{ "queue", FIRST + 0xb0, 3, 3, false },
		{ "more copies than the dump has bytes", FIRST + 0xc0, 1, 19999, true },
		{ "copies", FIRST + 0xd0, 5, 5, false },
		{ "bucket in a circle", FIRST + 0xe0, 1, 19999, true },
		/* Links of the reference queue do not belong to the map. */
		{ "weak entries that are enqueued", FIRST + 0xf0, 3, 3, false },
	};
	const uint8_t runs[8] = { 0, 5, 0, 1, 0xff, 0xff, 0xff, 0xff };

	(void)state;
	begin();
	hw_object_array(&out, values, ARRAY, null_slots, 3);
	/* PersistentHashMap */
	hw_object_array(&out, arrays, ARRAY, (const uint64_t[]){ nodes, 0 }, 2);
	PUT(nodes, ARRAY_NODE, arrays);
	PUT(FIRST, CLOJURE_MAP, 1, nodes);
	for (unsigned level = 0; level < 24; level++) {
		const uint64_t node = nodes + 0x100 + 0x10 * level,
			       array = arrays + 0x100 + 0x10 * level;

		hw_object_array(&out, array, ARRAY, (const uint64_t[]){ node + 0x10, node + 0x10 },
				2);
		PUT(node, ARRAY_NODE, array);
	}
	hw_object_array(&out, arrays + 0x10, ARRAY, (const uint64_t[]){ values, values }, 2);
	PUT(nodes + 0x100 + 0x10 * 24, PAIR_NODE, arrays + 0x10);
	PUT(FIRST + 0x10, CLOJURE_MAP, 1, nodes + 0x100);
	PUT(FIRST + 0x20, CLOJURE_MAP, 1, values);
	/* Cons */
	PUT(FIRST + 0x30, CONS, values, nodes + 0x10);
	PUT(nodes + 0x10, CONS, values, nodes + 0x20);
	PUT(nodes + 0x20, CONS, values, nodes + 0x10);
	PUT(FIRST + 0x40, CONS, values, FIRST + 0x20);
	/* PersistentVector */
	hw_object_array(&out, arrays + 0x20, ARRAY,
			(const uint64_t[]){ arrays + 0x20, arrays + 0x20 }, 2);
	PUT(FIRST + 0x50, VECTOR, 3, values, values, 5000);
	PUT(FIRST + 0x60, VECTOR, 0x7fffffff, arrays + 0x20, values, 60);
	PUT(FIRST + 0x70, VECTOR, 3, values, values, 0);
	/* HashSet, RoaringBitmap */
	PUT(nodes + 0x40, CHAMP_NODE, 1, values, 0xffffffff, 0xffffffff);
	PUT(FIRST + 0x80, CHAMP_SET, nodes + 0x40);
	hw_primitive_array(&out, arrays + 0x30, HPROF_CHAR, runs, 4);
	PUT(nodes + 0x50, RUNS, arrays + 0x30, 0x7fffffff);
	hw_object_array(&out, arrays + 0x40, ARRAY,
			(const uint64_t[]){ nodes + 0x50, nodes + 0x50, nodes + 0x60 }, 3);
	PUT(nodes + 0x60, CONTAINERS, arrays + 0x30, arrays + 0x40, 0x7fffffff);
	PUT(FIRST + 0x90, BITMAP, nodes + 0x60);
	/* Queue */
	PUT(nodes + 0x70, LIST, values, nodes + 0x70, 1);
	PUT(FIRST + 0xa0, QUEUE, 0, nodes + 0x70);
	PUT(nodes + 0x80, LIST, values, 0, 1);
	PUT(nodes + 0x90, LIST, values, nodes + 0x80, 2);
	PUT(FIRST + 0xb0, QUEUE, nodes + 0x80, nodes + 0x90);
	/* nCopies, PreHashedMap */
	PUT(FIRST + 0xc0, COPIES, 0x7fffffff, values);
	PUT(FIRST + 0xd0, COPIES, 5, values);
	hw_object_array(&out, arrays + 0x50, ARRAY,
			(const uint64_t[]){ values, values, arrays + 0x50 }, 3);
	hw_object_array(&out, arrays + 0x60, ARRAY, (const uint64_t[]){ arrays + 0x50 }, 1);
	PUT(FIRST + 0xe0, HASHED, 1, arrays + 0x60);
	/* Guava's weak keys */
	PUT(nodes + 0xa0, WEAK_ENTRY, values, nodes + 0xa0);
	PUT(nodes + 0xb0, WEAK_ENTRY, values, nodes + 0xa0);
	PUT(nodes + 0xc0, WEAK_ENTRY, 0, nodes + 0xb0);
	hw_object_array(&out, arrays + 0x70, ARRAY,
			(const uint64_t[]){ nodes + 0xa0, 0, nodes + 0xb0, nodes + 0xc0 }, 4);
	PUT(nodes + 0xd0, ATOMIC_ARRAY, arrays + 0x70);
	PUT(FIRST + 0xf0, SEGMENT, 3, nodes + 0xd0);
	written_open(&heap, &out, "nodes", NULL);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		bool is_cut;
		const uint64_t n = entries(list[i].id, &is_cut);

		if (n < list[i].low || n > list[i].high || is_cut != list[i].is_cut)
			fail_msg("%s: %" PRIu64 " entries%s", list[i].what, n,
				 is_cut ? ", cut" : "");
	}
	written_close(&heap);
}

/* The counts of all collections in the heap that lies() wrote. */
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
			/* Two maps and two lists have sizes that were limited. */
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
		/* The array of the list without elements has four references. */
		assert_int_equal(value_of(rows, "wasted")->u % 4, 0);
		assert_true(value_of(rows, "wasted")->u >= 16);
	}
	hdb_rows_close(rows);
	written_close(&heap);
}

/* Number of queues and of nodes, which fill several blocks of objects. */
#define CHAIN 20000u

/*
 * Each queue begins at another node of one chain. Counting all of them would take quadratic time,
 * so most get no size. Which of them do does not depend on the number of threads.
 */
static void budget(void **state)
{
	static const char *const names[] = { "objects", "elements", "without_size", "empty" };
	uint64_t expected[4] = { 0 };

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		const struct hdb_open_options options = { .struct_size = sizeof(options),
							  .threads = threads };
		struct hdb_rows *rows;

		begin();
		for (uint64_t i = 0; i < CHAIN; i++) {
			const uint64_t queue = FIRST + i * 32, next = queue + 48;

			PUT(queue, LINKED_QUEUE, queue + 16);
			PUT(queue + 16, LINK, queue, i + 1 < CHAIN ? next : 0);
		}
		written_open(&heap, &out, "chain", &options);
		rows = ask("collections", 0, "by=class");
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const uint64_t n = fact_of(rows, names[i])->u;

			if (threads == 1)
				expected[i] = n;
			assert_int_equal(n, expected[i]);
		}
		assert_int_equal(expected[0], CHAIN);
		assert_true(expected[2] > CHAIN / 2 && expected[2] < CHAIN);
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lies),
		cmocka_unit_test(sums),
		cmocka_unit_test(nodes_that_lie),
		cmocka_unit_test(budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

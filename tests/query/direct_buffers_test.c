/*
 * direct_buffers_test.c - memory outside the heap. Foreign memory is counted once, however many
 * slices it has. Also the holders of a buffer other than its cleaner, and the JDK's mapped modules
 * file.
 */
#include "support/query_ask.h"

enum {
	OBJECT = 0x1000,
	CLASS = 0x1100,
	ARRAY = 0x1200,
	BUFFER = 0x1300,
	DIRECT = 0x1400,
	REFERENCE = 0x1500,
	PHANTOM = 0x1600,
	CLEANER = 0x1700,
	CHUNK = 0x1800,
	SEGMENT = 0x1900,
	MAPPED = 0x1a00,
	SESSION = 0x1b00,
	GLOBAL = 0x1c00,
	UNMAPPER = 0x1d00,
	READER = 0x1e00,
	FIRST = 0x10000,
	OBJECTS_MAX = 64,
};

/* Names of fields. Names of classes follow. */
enum {
	T_CAPACITY = 1,
	T_ADDRESS,
	T_ATT,
	T_CLEANER,
	T_REFERENT,
	T_MEMORY,
	T_LENGTH,
	T_MIN,
	T_SCOPE,
	T_UNMAPPER,
	T_STATE,
	T_SIZE,
	T_MAP,
	T_CLASS
};

#define FIELDS_MAX 4

static const struct class
{
	uint64_t id, super_id;
	const char *name;
	struct hprof_field fields[FIELDS_MAX];
} classes[] = {
	{ OBJECT, 0, "java/lang/Object", { { 0 } } },
	{ CLASS, OBJECT, "java/lang/Class", { { 0 } } },
	{ ARRAY, OBJECT, "[Ljava/lang/Object;", { { 0 } } },
	{ BUFFER, OBJECT, "java/nio/Buffer", { { 0 } } },
	{ DIRECT,
	  BUFFER,
	  "java/nio/DirectByteBuffer",
	  { { T_CAPACITY, HPROF_INT },
	    { T_ADDRESS, HPROF_LONG },
	    { T_ATT, HPROF_OBJECT },
	    { T_CLEANER, HPROF_OBJECT } } },
	{ REFERENCE, OBJECT, "java/lang/ref/Reference", { { T_REFERENT, HPROF_OBJECT } } },
	{ PHANTOM, REFERENCE, "java/lang/ref/PhantomReference", { { 0 } } },
	{ CLEANER, PHANTOM, "jdk/internal/ref/Cleaner", { { 0 } } },
	{ CHUNK, OBJECT, "io/netty/buffer/PoolChunk", { { T_MEMORY, HPROF_OBJECT } } },
	{ SEGMENT,
	  OBJECT,
	  "jdk/internal/foreign/NativeMemorySegmentImpl",
	  { { T_LENGTH, HPROF_LONG }, { T_MIN, HPROF_LONG }, { T_SCOPE, HPROF_OBJECT } } },
	{ MAPPED,
	  SEGMENT,
	  "jdk/internal/foreign/MappedMemorySegmentImpl",
	  { { T_UNMAPPER, HPROF_OBJECT } } },
	{ SESSION, OBJECT, "jdk/internal/foreign/SharedSession", { { T_STATE, HPROF_INT } } },
	{ GLOBAL, OBJECT, "jdk/internal/foreign/GlobalSession", { { T_STATE, HPROF_INT } } },
	{ UNMAPPER,
	  OBJECT,
	  "sun/nio/ch/FileChannelImpl$DefaultUnmapper",
	  { { T_SIZE, HPROF_LONG } } },
	{ READER, OBJECT, "jdk/internal/jimage/BasicImageReader", { { T_MAP, HPROF_OBJECT } } },
};
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

static struct hw out;
static struct written heap;
static uint64_t kept[OBJECTS_MAX]; /* object that a root holds */
static uint32_t kept_count;
static uint64_t next_id;

static void begin(void)
{
	static const char *const names[] = { "",        "capacity", "address",  "att",
					     "cleaner", "referent", "memory",   "length",
					     "min",     "scope",    "unmapper", "state",
					     "size",    "memoryMap" };

	kept_count = 0;
	next_id = FIRST;
	hw_init(&out, HPROF_1_0_2, 8, 0);
	for (unsigned i = 1; i < T_CLASS; i++)
		hw_utf8(&out, i, names[i]);
	for (uint32_t i = 0; i < CLASSES; i++) {
		hw_utf8(&out, T_CLASS + i, classes[i].name);
		hw_load_class(&out, T_CLASS + i, classes[i].id, 0, T_CLASS + i);
	}
	(void)hw_begin(&out, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (uint32_t i = 0; i < CLASSES; i++) {
		struct hw_class class = {
			.id = classes[i].id,
			.super_id = classes[i].super_id,
			.fields = classes[i].fields,
		};

		while (class.field_count < FIELDS_MAX && classes[i].fields[class.field_count].type)
			class.field_count++;
		hw_class(&out, &class);
		hw_root(&out, HPROF_ROOT_STICKY_CLASS, class.id, 0, 0);
	}
}

/* Writes an object with these field values, starting with the fields that its class declares. */
static uint64_t put(uint64_t class_id, const uint64_t *values)
{
	const uint64_t id = next_id;
	uint8_t body[64];
	uint32_t used = 0;

	next_id += 0x40;
	for (uint64_t of = class_id; of;) {
		const struct class *c = classes;

		while (c->id != of)
			c++;
		for (unsigned f = 0; f < FIELDS_MAX && c->fields[f].type; f++, values++) {
			const unsigned size = c->fields[f].type == HPROF_INT ? 4 : 8;

			for (unsigned b = size; b-- > 0;)
				body[used++] = (uint8_t)(*values >> (8 * b));
		}
		of = c->super_id;
	}
	hw_instance(&out, id, class_id, body, used);
	return id;
}

#define PUT(class_id, ...) put(class_id, (const uint64_t[]){ __VA_ARGS__ })

static uint64_t keep(uint64_t id)
{
	assert_true(kept_count < OBJECTS_MAX);
	kept[kept_count++] = id;
	return id;
}

/* A buffer with a cleaner. The list of cleaners holds the cleaner. */
static uint64_t put_direct(uint64_t capacity)
{
	const uint64_t cleaner = next_id + 0x40;
	const uint64_t id = PUT(DIRECT, capacity, next_id << 16, 0, cleaner);

	assert_int_equal(PUT(CLEANER, id), cleaner);
	hw_root(&out, HPROF_ROOT_JNI_GLOBAL, cleaner, 1, 0);
	return id;
}

static void finish(void)
{
	hw_object_array(&out, 0x8000, ARRAY, kept, kept_count);
	hw_root(&out, HPROF_ROOT_JNI_GLOBAL, 0x8000, 1, 0);
	written_open(&heap, &out, "direct_buffers", NULL);
}

/* Finds the row of an object. Fails if there is no row. */
static struct hdb_rows *row_of(uint64_t id)
{
	const struct ask ask = { .query = "direct-buffers" };
	struct hdb_rows *rows = ask_rows(heap.db, &ask);

	while (next_row(rows))
		if (value_of(rows, "id")->u == id)
			return rows;
	fail_msg("no row of 0x%" PRIx64, id);
	return NULL;
}

static void check_row(uint64_t id, const char *kind, uint64_t capacity)
{
	struct hdb_rows *rows = row_of(id);

	assert_true(value_is(rows, "kind", kind));
	assert_int_equal(value_of(rows, "capacity")->u, capacity);
	hdb_rows_close(rows);
}

static void check_holder(uint64_t id, uint64_t holder)
{
	struct hdb_rows *rows = row_of(id);

	assert_int_equal(value_of(rows, "holder_id")->u, holder);
	hdb_rows_close(rows);
}

/* Counts the rows, and returns the fact of this name, or 0 if the answer lacks it. */
static uint64_t count_rows(const char *option, const char *fact, uint64_t *value)
{
	const struct ask ask = { .query = "direct-buffers", .options = { option } };
	struct hdb_rows *rows = ask_rows(heap.db, &ask);
	const struct hdb_value *given = fact_of(rows, fact);
	uint64_t n = 0;

	*value = given ? given->u : 0;
	while (next_row(rows))
		n++;
	hdb_rows_close(rows);
	return n;
}

static uint64_t fact(const char *name)
{
	uint64_t value;

	(void)count_rows(NULL, name, &value);
	return value;
}

/* ---- segments ---- */

static void test_segments(void **state)
{
	uint64_t whole, apart, parts[2], map, lost, global, value;

	(void)state;
	begin();
	{
		const uint64_t open = keep(PUT(SESSION, 0)), other = keep(PUT(SESSION, 1));
		const uint64_t closed = keep(PUT(SESSION, UINT32_MAX)), all = keep(PUT(GLOBAL, 1));
		const uint64_t file = keep(PUT(UNMAPPER, 1 << 20)), unknown = keep(PUT(OBJECT, 0));

		/*
		 * Slices that precede their segment in the dump. The next slice begins where the
		 * segment ends.
		 */
		for (uint64_t i = 0; i < 8; i++)
			(void)keep(PUT(SEGMENT, 512, 0x100000 + 512 * i, open));
		whole = keep(PUT(SEGMENT, 4096, 0x100000, open));
		apart = keep(PUT(SEGMENT, 64, 0x101000, open));
		/* The same address in another arena is different memory. */
		parts[0] = keep(PUT(SEGMENT, 100, 0x100000, other));
		/* Overlapping slices of a segment that is not in the dump. */
		parts[1] = keep(PUT(SEGMENT, 100, 0x200000, other));
		(void)keep(PUT(SEGMENT, 100, 0x200000 + 60, other));
		(void)keep(PUT(SEGMENT, 1 << 22, 0x300000, closed));
		global = keep(PUT(SEGMENT, 200, 0x400000, all));
		(void)keep(PUT(SEGMENT, INT64_MAX, 0, all));
		(void)keep(PUT(SEGMENT, INT64_MAX, 1, all));
		/*
		 * Slices of mappings: of a mapping that records its size, and of one that does not.
		 */
		map = keep(PUT(MAPPED, file, 4096, 0x500000, open));
		(void)keep(PUT(MAPPED, file, 4096, 0x540000, open));
		lost = keep(PUT(MAPPED, unknown, 4096, 0x700000, open));
		(void)keep(PUT(MAPPED, unknown, 4096, 0x702000, open));
	}
	finish();
	check_row(whole, "segment", 4096);
	check_row(apart, "segment", 64);
	check_row(parts[0], "segment", 100);
	check_row(parts[1], "segment", 160);
	check_row(global, "native", 200);
	check_row(map, "mapped", 1 << 20);
	check_row(lost, "mapped", 3 * 4096);
	assert_int_equal(count_rows(NULL, "segments", &value), 7);
	assert_int_equal(value, 4096 + 64 + 100 + 160);
	assert_int_equal(count_rows("views", "mapped", &value), 7 + 8 + 1 + 2);
	assert_int_equal(value, (1 << 20) + 3 * 4096);
	assert_int_equal(fact("native"), 200);
	written_close(&heap);
}

/*
 * The sessions own the memory in the rows, except the memory of the global session, which is never
 * freed.
 */
static void test_owners(void **state)
{
	const struct ask ask = { .query = "native", .options = { "objects" } };
	uint64_t sessions[2], bytes[2] = { 0 };
	struct hdb_rows *rows;

	(void)state;
	begin();
	sessions[0] = keep(PUT(SESSION, 0));
	sessions[1] = keep(PUT(SESSION, 0));
	for (uint64_t i = 0; i < 8; i++)
		(void)keep(PUT(SEGMENT, 512, 0x100000 + 512 * i, sessions[0]));
	(void)keep(PUT(SEGMENT, 4096, 0x100000, sessions[0]));
	(void)keep(PUT(SEGMENT, 100, 0x200000, sessions[0]));
	(void)keep(PUT(SEGMENT, 7, 0x100000, sessions[1]));
	(void)keep(PUT(SEGMENT, 200, 0x400000, keep(PUT(GLOBAL, 1))));
	finish();
	rows = ask_rows(heap.db, &ask);
	while (next_row(rows)) {
		const uint64_t id = value_of(rows, "id")->u;

		assert_true(id == sessions[0] || id == sessions[1]);
		bytes[id == sessions[1]] = value_of(rows, "native")->u;
	}
	hdb_rows_close(rows);
	assert_int_equal(bytes[0], 4196);
	assert_int_equal(bytes[1], 7);
	written_close(&heap);
}

/* ---- buffers ---- */

static void test_holders(void **state)
{
	uint64_t pooled, chunk, viewed, view, user, lost;

	(void)state;
	begin();
	pooled = put_direct(4 << 20);
	chunk = keep(PUT(CHUNK, pooled));
	/* A view of the buffer also refers to it, but does not count as a holder. */
	(void)keep(PUT(DIRECT, 100, 0x1000, pooled, 0));
	/* If only a view refers to a buffer, the holder of the view is the holder of the buffer. */
	viewed = put_direct(1000);
	view = PUT(DIRECT, 1000, 0x2000, viewed, 0);
	user = keep(PUT(CHUNK, view));
	lost = put_direct(10);
	finish();
	check_holder(pooled, chunk);
	check_holder(viewed, user);
	check_row(pooled, "direct", 4 << 20);
	assert_int_equal(fact("capacity"), (4 << 20) + 1010);
	/* Only its cleaner refers to it. */
	check_holder(lost, lost + 0x40);
	written_close(&heap);
}

static void test_modules(void **state)
{
	uint64_t modules, native, value;

	(void)state;
	begin();
	modules = PUT(DIRECT, 145959730, 0x7000000, 0, 0);
	(void)keep(PUT(READER, PUT(DIRECT, 145959730, 0x7000000, modules, 0)));
	native = keep(PUT(DIRECT, 300, 0x9000000, 0, 0));
	finish();
	check_row(native, "native", 300);
	assert_int_equal(count_rows(NULL, "jdk_modules", &value), 1);
	assert_int_equal(value, 145959730);
	assert_int_equal(fact("native"), 300);
	written_close(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_holders),
		cmocka_unit_test(test_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * triage_test.c - the numbers of the triage rules: thread-local values of all threads, contents of
 * collections in fields with meaningful names, long lists without an array, colliding hash codes.
 * Also checks that all rules are listed, and names the owner of the values that a group of threads
 * holds as a leak suspect.
 */
#include "support/query_ask.h"

/* IDs of classes. IDs of objects start at FIRST. */
enum {
	OBJECT = 0x1000,
	CLASS = 0x1100,
	BYTES = 0x1200,
	ARRAY = 0x1300,
	THREAD = 0x1400,
	LOCAL = 0x1500,
	LOCAL_MAP = 0x1600,
	REFERENCE = 0x1700,
	LOCAL_ENTRY = 0x1800,
	LIST = 0x1900,
	HASH_MAP = 0x1a00,
	NODE = 0x1b00,
	BUS = 0x1c00,
	SUB_BUS = 0x1d00,
	HOLDER = 0x1e00,
	EXECUTOR = 0x1f00,
	HOOK = 0x2100,
	SCREEN = 0x2200,
	BLOB = 0x2300,
	WEAK = 0x2400,
	FIRST_STATICS = 0x2500,
	SECOND_STATICS = 0x2600,
	LOADER = 0x2700,
	FIRST = 0x100000
};
enum {
	NAME_LOCALS = 1,
	NAME_TABLE,
	NAME_REFERENT,
	NAME_VALUE,
	NAME_SIZE,
	NAME_ELEMENTS,
	NAME_KEY,
	NAME_NEXT,
	NAME_LISTENERS,
	NAME_CONTEXT,
	NAME_QUEUE,
	NAME_FIRST,
	NAME_FILES,
	NAME_MATCHERS,
	NAME_HOOKS,
	NAMES
};

static const char *const names[] = {
	"",     "threadLocals", "table",   "referent",  "value", "size",  "elementData", "key",
	"next", "mListeners",   "CONTEXT", "workQueue", "first", "files", "matchers",    "hooks",
};

static const struct {
	uint64_t id, super_id;
	const char *name;
	unsigned field_count;
	struct hprof_field fields[3];
} classes[] = {
	{ OBJECT, 0, "java/lang/Object", 0, { { 0 } } },
	{ CLASS, OBJECT, "java/lang/Class", 0, { { 0 } } },
	{ BYTES, OBJECT, "[B", 0, { { 0 } } },
	{ ARRAY, OBJECT, "[Ljava/lang/Object;", 0, { { 0 } } },
	{ THREAD, OBJECT, "java/lang/Thread", 1, { { NAME_LOCALS, HPROF_OBJECT } } },
	{ LOCAL, OBJECT, "java/lang/ThreadLocal", 0, { { 0 } } },
	{ LOCAL_MAP,
	  OBJECT,
	  "java/lang/ThreadLocal$ThreadLocalMap",
	  2,
	  { { NAME_SIZE, HPROF_INT }, { NAME_TABLE, HPROF_OBJECT } } },
	{ REFERENCE, OBJECT, "java/lang/ref/Reference", 1, { { NAME_REFERENT, HPROF_OBJECT } } },
	{ WEAK, REFERENCE, "java/lang/ref/WeakReference", 0, { { 0 } } },
	{ LOCAL_ENTRY,
	  WEAK,
	  "java/lang/ThreadLocal$ThreadLocalMap$Entry",
	  1,
	  { { NAME_VALUE, HPROF_OBJECT } } },
	{ LIST,
	  OBJECT,
	  "java/util/ArrayList",
	  2,
	  { { NAME_SIZE, HPROF_INT }, { NAME_ELEMENTS, HPROF_OBJECT } } },
	{ HASH_MAP,
	  OBJECT,
	  "java/util/HashMap",
	  2,
	  { { NAME_SIZE, HPROF_INT }, { NAME_TABLE, HPROF_OBJECT } } },
	{ NODE,
	  OBJECT,
	  "java/util/HashMap$Node",
	  3,
	  { { NAME_KEY, HPROF_OBJECT },
	    { NAME_VALUE, HPROF_OBJECT },
	    { NAME_NEXT, HPROF_OBJECT } } },
	{ BUS,
	  OBJECT,
	  "app/Bus",
	  2,
	  { { NAME_MATCHERS, HPROF_OBJECT }, { NAME_LISTENERS, HPROF_OBJECT } } },
	{ SUB_BUS, BUS, "app/SubBus", 0, { { 0 } } },
	{ HOLDER, OBJECT, "app/Holder", 0, { { 0 } } },
	{ EXECUTOR,
	  OBJECT,
	  "java/util/concurrent/ThreadPoolExecutor",
	  1,
	  { { NAME_QUEUE, HPROF_OBJECT } } },
	{ HOOK, OBJECT, "java/io/DeleteOnExitHook", 0, { { 0 } } },
	{ SCREEN, OBJECT, "app/Screen", 0, { { 0 } } },
	{ FIRST_STATICS, OBJECT, "jdk/First", 0, { { 0 } } },
	{ SECOND_STATICS, OBJECT, "jdk/Second", 0, { { 0 } } },
	{ LOADER, OBJECT, "jdk/Loader", 1, { { NAME_ELEMENTS, HPROF_OBJECT } } },
	{ BLOB, OBJECT, "app/Blob", 1, { { NAME_VALUE, HPROF_OBJECT } } },
};
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

/* IDs that static fields refer to. */
enum { CONTEXT = 0x10000, HOOKS = 0x10010, FILES = 0x10020 };

static struct hw out;
static struct written heap;
static uint64_t next_id;
/* If set, two platform classes hold it in static fields, and the JDK's hook is not a root. */
static uint64_t loader;

/* Static fields of app.Holder and of the JDK's hook. */
static void begin(uint64_t context, uint64_t hooks, uint64_t files)
{
	const struct hw_static of_holder[] = {
		{ NAME_CONTEXT, HPROF_OBJECT, context },
		{ NAME_HOOKS, HPROF_OBJECT, hooks },
	};
	const struct hw_static of_hook[] = { { NAME_FILES, HPROF_OBJECT, files } };
	const struct hw_static of_platform[] = { { NAME_CONTEXT, HPROF_OBJECT, loader } };

	next_id = FIRST;
	hw_init(&out, HPROF_1_0_2, 8, 0);
	for (uint32_t n = 1; n < NAMES; n++)
		hw_utf8(&out, n, names[n]);
	for (uint32_t c = 0; c < CLASSES; c++) {
		hw_utf8(&out, 100 + c, classes[c].name);
		hw_load_class(&out, 100 + c, classes[c].id, 0, 100 + c);
	}
	(void)hw_begin(&out, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (uint32_t c = 0; c < CLASSES; c++) {
		const uint64_t id = classes[c].id;
		const bool is_platform = id == FIRST_STATICS || id == SECOND_STATICS;
		const struct hw_class class = {
			.id = id,
			.super_id = classes[c].super_id,
			.fields = classes[c].fields,
			.field_count = classes[c].field_count,
			.statics = id == HOLDER ? of_holder :
				   is_platform  ? of_platform :
						  of_hook,
			.static_count = id == HOLDER ? 2 : is_platform || id == HOOK,
		};

		hw_class(&out, &class);
		if (id == HOOK && loader)
			continue;
		hw_root(&out, HPROF_ROOT_STICKY_CLASS, class.id, 0, 0);
	}
}

/*
 * Writes an instance with values in the order of its class's fields, then of its superclasses'
 * fields. Returns its ID.
 */
static uint64_t put_at(uint64_t id, uint64_t class_id, const uint64_t *values)
{
	uint8_t body[64];
	size_t size = 0;

	for (uint64_t at = class_id; at;) {
		uint32_t c = 0;

		while (classes[c].id != at)
			c++;
		for (unsigned f = 0; f < classes[c].field_count; f++, values++) {
			const unsigned bytes = classes[c].fields[f].type == HPROF_INT ? 4 : 8;

			for (unsigned b = 0; b < bytes; b++)
				body[size++] = (uint8_t)(*values >> (8 * (bytes - 1 - b)));
		}
		at = classes[c].super_id;
	}
	hw_instance(&out, id, class_id, body, (uint32_t)size);
	return id;
}

static uint64_t new_id(void)
{
	return next_id += 0x10;
}

#define PUT_AT(id, class_id, ...) put_at(id, class_id, (const uint64_t[]){ __VA_ARGS__ })
#define PUT(class_id, ...) PUT_AT(new_id(), class_id, __VA_ARGS__)

static uint64_t put_bytes(uint32_t size)
{
	const uint64_t id = new_id();

	hw_primitive_array(&out, id, HPROF_BYTE, NULL, size);
	return id;
}

/* Writes an array of `count` new objects of a class, each with a byte[] of `bytes` bytes. */
static uint64_t put_array(uint64_t class_id, uint32_t count, uint32_t bytes)
{
	uint64_t *elements = calloc(count, sizeof(*elements));
	const uint64_t id = new_id();

	assert_non_null(elements);
	for (uint32_t i = 0; i < count; i++)
		elements[i] = PUT(class_id, bytes ? put_bytes(bytes) : 0);
	hw_object_array(&out, id, ARRAY, elements, count);
	free(elements);
	return id;
}

static uint64_t put_list(uint64_t id, uint64_t class_id, uint32_t count, uint32_t bytes)
{
	const uint64_t array = put_array(class_id, count, bytes);

	return PUT_AT(id, LIST, count, array);
}

/*
 * Writes a map with `slots` slots and `count` entries, which are all in the first slot. Each value
 * is `value`, or a new list of ten.
 */
static uint64_t put_map(uint64_t id, uint32_t count, uint32_t slots, uint64_t value)
{
	uint64_t *table = calloc(slots, sizeof(*table));
	const uint64_t array = new_id();

	assert_non_null(table);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t of = value ? value : put_list(new_id(), SCREEN, 10, 0);

		table[0] = PUT(NODE, PUT(SCREEN, 0), of, table[0]);
	}
	hw_object_array(&out, array, ARRAY, table, slots);
	free(table);
	return PUT_AT(id, HASH_MAP, count, array);
}

/* A thread with one value of `bytes` bytes. */
static void put_thread(uint64_t local, uint64_t value_class, uint32_t bytes)
{
	const uint64_t value = PUT(value_class, put_bytes(bytes)),
		       entry = PUT(LOCAL_ENTRY, value, local);
	const uint64_t table = new_id();
	uint64_t thread;

	hw_object_array(&out, table, ARRAY, (const uint64_t[]){ 0, entry }, 2);
	thread = PUT(THREAD, PUT(LOCAL_MAP, 1, table));
	hw_root(&out, HPROF_ROOT_THREAD_OBJECT, thread, 1, 0);
}

/* Finds the row of a rule, with --all. The caller closes the rows. */
static struct hdb_rows *find_rule(const char *rule)
{
	const struct ask question = { .query = "triage", .options = { "all" } };
	struct hdb_rows *rows = ask_rows(heap.db, &question);
	struct hdb_error err = { 0 };

	while (hdb_rows_next(rows, &err) == HDB_OK)
		if (value_is(rows, "rule", rule))
			return rows;
	fail_msg("no row of the rule %s", rule);
	return rows;
}

static void expect_rule(const char *rule, const char *severity, uint64_t count,
			uint64_t least_bytes, const char *detail)
{
	struct hdb_rows *rows = find_rule(rule);
	const uint64_t found = value_of(rows, "count")->u, bytes = value_of(rows, "bytes")->u;

	if (!value_is(rows, "severity", severity) || found != count || bytes < least_bytes)
		fail_msg("%s: %.*s, %" PRIu64 ", %" PRIu64 " bytes", rule,
			 (int)value_of(rows, "severity")->text_size,
			 value_of(rows, "severity")->text, found, bytes);
	/* A rule that does not match says nothing about the heap. */
	assert_int_equal(value_is(rows, "severity", "ok"),
			 memcmp(value_of(rows, "text")->text, "not found: ", 11) == 0);
	/* A problem that no rule knows may be a suspect of `leaks`. The answer names this query. */
	if (fact_of(rows, "suspects")->u)
		assert_true(fact_of(rows, "suspect")->text_size > strlen(", 10.00 % of the heap"));
	if (detail && !value_is(rows, "detail", detail))
		fail_msg("%s: %.*s", rule, (int)value_of(rows, "detail")->text_size,
			 value_of(rows, "detail")->text);
	hdb_rows_close(rows);
}

/* A little memory in each thread, but much in all threads together. */
static void thread_locals(void **state)
{
	(void)state;
	begin(CONTEXT, 0, 0);
	PUT_AT(CONTEXT, LOCAL, 0);
	for (int i = 0; i < 8; i++)
		put_thread(CONTEXT, BLOB, 800000);
	/* Another ThreadLocal is not counted with it. */
	put_thread(PUT(LOCAL, 0), BLOB, 300000);
	written_open(&heap, &out, "locals", NULL);
	expect_rule("thread-local", "warning", 8, 6400000,
		    "app.Holder.CONTEXT (static), in 8 threads");
	written_close(&heap);
	/* If each use has its own ThreadLocal, their values have the same class. */
	begin(0, 0, 0);
	for (int i = 0; i < 12; i++)
		put_thread(PUT(LOCAL, 0), BLOB, 800000);
	written_open(&heap, &out, "locals", NULL);
	expect_rule("thread-local", "warning", 12, 9600000,
		    "values of class app.Blob, of 12 ThreadLocals; the "
		    "largest value is of a ThreadLocal referenced only by its entries");
	written_close(&heap);
	/* A value that threads share does not belong to the ThreadLocal. */
	begin(CONTEXT, HOOKS, 0);
	PUT_AT(CONTEXT, LOCAL, 0);
	put_list(HOOKS, BLOB, 8, 800000);
	written_open(&heap, &out, "locals", NULL);
	expect_rule("thread-local", "ok", 0, 0, NULL);
	written_close(&heap);
}

/*
 * If a suspect is a group of threads, the owner is the holder of the ThreadLocal that retains most
 * of it.
 */
static void group_of_threads(void **state)
{
	const struct ask question = { .query = "leaks", .options = { "brief" } };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;

	(void)state;
	begin(CONTEXT, 0, 0);
	PUT_AT(CONTEXT, LOCAL, 0);
	for (int i = 0; i < 12; i++)
		put_thread(CONTEXT, BLOB, 60000);
	put_thread(PUT(LOCAL, 0), BLOB, 50000);
	written_open(&heap, &out, "threads", NULL);
	rows = ask_rows(heap.db, &question);
	assert_int_equal(hdb_rows_next(rows, &err), HDB_OK);
	assert_true(value_is(rows, "via_field",
			     "thread-local app.Holder.CONTEXT (static) of 12 threads"));
	hdb_rows_close(rows);
	written_close(&heap);
	/* This ThreadLocal does not explain threads that hold other objects. */
	begin(CONTEXT, 0, 0);
	PUT_AT(CONTEXT, LOCAL, 0);
	for (int i = 0; i < 24; i++)
		put_thread(i < 12 ? CONTEXT : PUT(LOCAL, 0), BLOB, 60000);
	written_open(&heap, &out, "threads", NULL);
	rows = ask_rows(heap.db, &question);
	assert_int_equal(hdb_rows_next(rows, &err), HDB_OK);
	assert_int_equal(value_of(rows, "via_field")->type, HDB_TYPE_NULL);
	hdb_rows_close(rows);
	written_close(&heap);
}

/*
 * A static field of a class that a class loader has defined. References to the loader do not count,
 * even if all of them belong to the platform.
 */
static void below_a_loader(void **state)
{
	const struct ask question = { .query = "leaks", .options = { "brief" } };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;
	uint64_t classes_ix;

	(void)state;
	loader = 0x20000;
	begin(0, 0, FILES);
	put_list(FILES, BLOB, 5, 100000);
	classes_ix = new_id();
	hw_object_array(&out, classes_ix, ARRAY, (const uint64_t[]){ 0, HOOK }, 2);
	PUT_AT(loader, LOADER, PUT(LIST, 2, classes_ix));
	written_open(&heap, &out, "loader", NULL);
	loader = 0;
	rows = ask_rows(heap.db, &question);
	assert_int_equal(hdb_rows_next(rows, &err), HDB_OK);
	if (!value_is(rows, "via_field", "java.io.DeleteOnExitHook.files (static)"))
		fail_msg("%.*s", (int)value_of(rows, "via_field")->text_size,
			 value_of(rows, "via_field")->text);
	hdb_rows_close(rows);
	written_close(&heap);
}

/* A field that a superclass declares. A field with a similar name is not counted. */
static void listeners(void **state)
{
	uint64_t bus;

	(void)state;
	begin(0, 0, 0);
	bus = put_list(new_id(), SCREEN, 1800, 0);
	bus = PUT(SUB_BUS, put_list(new_id(), SCREEN, 5000, 0), bus);
	hw_root(&out, HPROF_ROOT_UNKNOWN, bus, 0, 0);
	written_open(&heap, &out, "listeners", NULL);
	expect_rule("listeners-field", "info", 1800, 1800 * 8, "in app.Bus.mListeners");
	written_close(&heap);
	/*
	 * A collection that retains more is preferred to a collection with more elements, also in a
	 * static field.
	 */
	begin(0, HOOKS, 0);
	put_list(HOOKS, BLOB, 1100, 2000);
	bus = PUT(BUS, 0, put_list(new_id(), SCREEN, 1800, 0));
	hw_root(&out, HPROF_ROOT_UNKNOWN, bus, 0, 0);
	written_open(&heap, &out, "listeners", NULL);
	expect_rule("listeners-field", "warning", 1100, 1100 * 2000,
		    "in app.Holder.hooks (static)");
	written_close(&heap);
	/* Lists by event: their elements are counted; for an array, without nulls. */
	begin(0, HOOKS, 0);
	put_map(HOOKS, 150, 256, 0);
	bus = PUT(BUS, 0, put_array(SCREEN, 999, 0));
	hw_root(&out, HPROF_ROOT_UNKNOWN, bus, 0, 0);
	written_open(&heap, &out, "listeners", NULL);
	expect_rule("listeners-field", "info", 1500, 1500 * 8, "in app.Holder.hooks (static)");
	written_close(&heap);
	/* A normal number is not reported. */
	begin(0, HOOKS, 0);
	put_list(HOOKS, BLOB, 200, 100000);
	written_open(&heap, &out, "listeners", NULL);
	expect_rule("listeners-field", "ok", 200, 200 * 100000, NULL);
	written_close(&heap);
}

static void queues(void **state)
{
	const uint32_t tasks = 12000;
	uint64_t pool;

	(void)state;
	begin(0, 0, FILES);
	pool = PUT(EXECUTOR, put_list(new_id(), SCREEN, tasks, 0));
	hw_root(&out, HPROF_ROOT_UNKNOWN, pool, 0, 0);
	put_list(FILES, BLOB, 11000, 16);
	written_open(&heap, &out, "queues", NULL);
	expect_rule("task-queue", "info", tasks, (uint64_t)tasks * 8,
		    "in java.util.concurrent.ThreadPoolExecutor.workQueue");
	expect_rule("delete-on-exit", "warning", 11000, 11000 * 24,
		    "in java.io.DeleteOnExitHook.files (static)");
	expect_rule("listeners-field", "ok", 0, 0, NULL);
	written_close(&heap);
}

static void shapes(void **state)
{
	const uint32_t size = 2000;
	uint64_t map;

	(void)state;
	begin(0, 0, 0);
	map = put_map(new_id(), size, 4096, CLASS);
	hw_root(&out, HPROF_ROOT_UNKNOWN, map, 0, 0);
	map = put_map(new_id(), 900, 4096, CLASS);
	hw_root(&out, HPROF_ROOT_UNKNOWN, map, 0, 0);
	written_open(&heap, &out, "shapes", NULL);
	expect_rule("hash-collisions", "warning", 1, (uint64_t)size * 3 * 8,
		    "2,000 elements in 1 slot");
	written_close(&heap);
}

/*
 * With --all, the number of rows equals the reported number of rules, and each row says why it is a
 * problem.
 */
static void all_rules(void **state)
{
	const struct ask question = { .query = "triage", .options = { "all" } };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows;
	uint64_t count = 0;

	(void)state;
	begin(0, 0, 0);
	written_open(&heap, &out, "all", NULL);
	rows = ask_rows(heap.db, &question);
	while (hdb_rows_next(rows, &err) == HDB_OK) {
		assert_true(value_of(rows, "why")->text_size > 20);
		count++;
	}
	assert_int_equal(count, fact_of(rows, "rules")->u);
	hdb_rows_close(rows);
	written_close(&heap);
}

/* If garbage is many times as large as reachable objects, its share refers to both together. */
static void garbage(void **state)
{
	const uint32_t size = 20U << 20;
	struct hdb_rows *rows;

	(void)state;
	begin(0, 0, 0);
	put_bytes(size);
	written_open(&heap, &out, "garbage", NULL);
	expect_rule("garbage", "info", 1, size, NULL);
	rows = find_rule("garbage");
	assert_true(value_of(rows, "percent")->d > 99 && value_of(rows, "percent")->d <= 100);
	assert_true(value_is(rows, "share_of", "the heap, garbage included"));
	hdb_rows_close(rows);
	rows = find_rule("many-small-objects");
	assert_true(value_is(rows, "share_of", "the heap"));
	hdb_rows_close(rows);
	written_close(&heap);
}

/*
 * Retained sizes include objects that the dump lacks: the object that represents the boot loader,
 * and the class of class loaders. Even if little else is reachable, no share may exceed 100 %.
 */
static void little_is_reachable(void **state)
{
	static const char *const queries[] = { "top", "leaks", "dominators", "big-drops" };
	const struct hw_class object = { .id = OBJECT },
			      class = { .id = CLASS, .super_id = OBJECT };

	(void)state;
	hw_init(&out, HPROF_1_0_2, 8, 0);
	for (uint32_t c = 0; c < 2; c++) {
		hw_utf8(&out, 100 + c, classes[c].name);
		hw_load_class(&out, 100 + c, classes[c].id, 0, 100 + c);
	}
	(void)hw_begin(&out, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_class(&out, &object);
	hw_class(&out, &class);
	hw_root(&out, HPROF_ROOT_STICKY_CLASS, OBJECT, 0, 0);
	written_open(&heap, &out, "little", NULL);
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		const struct ask question = { .query = queries[i] };
		struct hdb_rows *rows = ask_rows(heap.db, &question);
		struct hdb_error err = { 0 };
		double most = 0;

		while (hdb_rows_next(rows, &err) == HDB_OK)
			if (value_of(rows, "percent")->type == HDB_TYPE_PERCENT &&
			    value_of(rows, "percent")->d > most)
				most = value_of(rows, "percent")->d;
		if (!(most > 99.99 && most < 100.01))
			fail_msg("%s: %f %%", queries[i], most);
		hdb_rows_close(rows);
	}
	written_close(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_locals),
		cmocka_unit_test(group_of_threads),
		cmocka_unit_test(below_a_loader),
		cmocka_unit_test(listeners),
		cmocka_unit_test(queues),
		cmocka_unit_test(shapes),
		cmocka_unit_test(all_rules),
		cmocka_unit_test(garbage),
		cmocka_unit_test(little_is_reachable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * odd_test.c - rare contents of dumps: names in Modified UTF-8 with surrogate pairs, unpaired
 * surrogates and zeros, thread names in a char[], frames without a line, every kind of root.
 */
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { OBJECT = 0x1000, CLASS = 0x1100, THREAD = 0x1200, FIRST_CLASS = 0x2000, FIRST = 0x10000 };

/* Names as stored in the dump, and as displayed. */
static const struct name {
	const char *raw, *shown;
} names[] = {
	{ "p/A\xed\xa0\xbd\xed\xb8\x80z", "p.A\xf0\x9f\x98\x80z" }, /* a surrogate pair: U+1F600 */
	{ "p/B\xed\xa0\xbdz", "p.B\xef\xbf\xbdz" },                 /* its first half */
	{ "p/C\xed\xb8\x80z", "p.C\xef\xbf\xbdz" },                 /* its second half */
	{ "p/D\xed\xa0\xbd\xed\xa0\xbdz", "p.D\xef\xbf\xbd\xef\xbf\xbdz" },
	{ "p/E\xf0\x9f\x98\x80z", "p.E\xf0\x9f\x98\x80z" }, /* plain UTF-8, which some VMs write */
	{ "p/F\xffz", "p.F\xef\xbf\xbdz" },                 /* not UTF-8 */
	{ "p/G\xe2\x82", "p.G\xef\xbf\xbd\xef\xbf\xbd" },   /* cut within a character */
	{ "p/H\xe0\x80\xafz",
	  "p.H\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz" }, /* an overlong encoding */
	{ "p/I\xc3\xa4z", "p.I\xc3\xa4z" },
};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

static const uint8_t root_kinds[] = {
	HPROF_ROOT_UNKNOWN,           HPROF_ROOT_JNI_GLOBAL,   HPROF_ROOT_JNI_LOCAL,
	HPROF_ROOT_JAVA_FRAME,        HPROF_ROOT_NATIVE_STACK, HPROF_ROOT_STICKY_CLASS,
	HPROF_ROOT_THREAD_BLOCK,      HPROF_ROOT_MONITOR_USED, HPROF_ROOT_THREAD_OBJECT,
	HPROF_ROOT_INTERNED_STRING,   HPROF_ROOT_FINALIZING,   HPROF_ROOT_DEBUGGER,
	HPROF_ROOT_REFERENCE_CLEANUP, HPROF_ROOT_VM_INTERNAL,  HPROF_ROOT_JNI_MONITOR,
	HPROF_ROOT_UNREACHABLE,
};
static const char *const root_names[] = {
	"unknown",           "JNI global",      "JNI local",    "Java frame",
	"native stack",      "sticky class",    "thread block", "monitor used",
	"thread object",     "interned string", "finalizing",   "debugger",
	"reference cleanup", "VM internal",     "JNI monitor",  "unreachable",
};
#define ROOT_COUNT (sizeof(root_kinds) / sizeof(root_kinds[0]))

static const int32_t lines[] = { 17, 0, -1, -2, -3 };
static const char *const frames[] = { "p.I\xc3\xa4z.run(T.java:17)", "p.I\xc3\xa4z.run(T.java)",
				      "p.I\xc3\xa4z.run(T.java)", "p.I\xc3\xa4z.run(Compiled Code)",
				      "p.I\xc3\xa4z.run(Native Method)" };
#define FRAME_COUNT (sizeof(lines) / sizeof(lines[0]))

static char dump_path[512], db_path[512];
static struct hdb *db;

static void put_names(struct hw *w)
{
	uint64_t ids[FRAME_COUNT];

	hw_utf8(w, 1, "java/lang/Object");
	hw_utf8(w, 2, "java/lang/Class");
	hw_utf8(w, 3, "java/lang/Thread");
	hw_utf8(w, 4, "name");
	hw_utf8(w, 5, "run");
	hw_utf8(w, 6, "()V");
	hw_utf8(w, 7, "T.java");
	hw_load_class(w, 1, OBJECT, 0, 1);
	hw_load_class(w, 2, CLASS, 0, 2);
	hw_load_class(w, 3, THREAD, 0, 3);
	for (uint32_t i = 0; i < NAME_COUNT; i++) {
		hw_utf8(w, 100 + i, names[i].raw);
		hw_load_class(w, 10 + i, FIRST_CLASS + i * 0x100, 0, 100 + i);
	}
	for (uint32_t i = 0; i < FRAME_COUNT; i++) {
		const struct hprof_frame frame = { .frame_id = 50 + i,
						   .method_string_id = 5,
						   .signature_string_id = 6,
						   .source_string_id = 7,
						   .class_serial = 10 + NAME_COUNT - 1,
						   .line = lines[i] };

		ids[i] = 50 + i;
		hw_frame(w, &frame);
	}
	hw_trace(w, 1, 1, ids, FRAME_COUNT);
}

static void put_heap(struct hw *w)
{
	static const uint8_t thread_name[] = { 0,    'T', 0xd8, 0x3d, 0xde, 0x00, 0xd8,
					       0x3d, 0,   '!',  0xde, 0x00, 0xd8, 0x3d };
	const struct hprof_field name = { 4, HPROF_OBJECT };
	const struct hw_class thread = { .id = THREAD,
					 .super_id = OBJECT,
					 .fields = &name,
					 .field_count = 1,
					 .instance_size = 8 };
	const struct hw_class object = { .id = OBJECT },
			      class = { .id = CLASS, .super_id = OBJECT };
	const uint8_t body[8] = { 0, 0, 0, 0, 0, 0, 0x80, 0 };

	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_class(w, &object);
	hw_class(w, &class);
	hw_class(w, &thread);
	for (uint32_t i = 0; i < NAME_COUNT; i++) {
		const struct hw_class odd = { .id = FIRST_CLASS + i * 0x100, .super_id = OBJECT };

		hw_class(w, &odd);
	}
	hw_primitive_array(w, 0x8000, HPROF_CHAR, thread_name, sizeof(thread_name) / 2);
	for (uint32_t i = 0; i < ROOT_COUNT; i++) {
		const bool is_thread = root_kinds[i] == HPROF_ROOT_THREAD_OBJECT;

		hw_instance(w, FIRST + i * 0x20, is_thread ? THREAD : OBJECT, body,
			    is_thread ? 8 : 0);
		/*
		 * Roots of unknown threads, except for the thread itself, whose serial and trace
		 * are 1.
		 */
		hw_root(w, root_kinds[i], FIRST + i * 0x20, is_thread ? 1 : 999, is_thread ? 1 : 0);
	}
	hw_end(w);
}

/* Whether an answer has a row with this text in the column. *count is set to the number of rows. */
static bool has_row(const char *query, const char *target, const char *column, const char *text)
{
	const struct hdb_query_args args = { .targets = &target, .target_count = target != NULL };
	struct hdb_rows *rows = NULL;
	struct hdb_error err = { 0 };
	bool found = false;
	size_t c = 0;
	int r = hdb_query(db, query, &args, &rows, &err);

	if (r != HDB_OK)
		fail_msg("%s: %s", query, err.message);
	while (strcmp(hdb_rows_column(rows, c)->name, column) != 0)
		c++;
	while (hdb_rows_next(rows, &err) == HDB_OK) {
		const struct hdb_value *value = hdb_rows_value(rows, c);

		found |= value->type == HDB_TYPE_TEXT && value->text_size == strlen(text) &&
			 memcmp(value->text, text, value->text_size) == 0;
	}
	hdb_rows_close(rows);
	return found;
}

static void test_class_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (!has_row("class", "*", "class", names[i].shown))
			fail_msg("no class %s", names[i].shown);
}

static void test_roots(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROOT_COUNT; i++)
		if (has_row("roots", NULL, "kind", root_names[i]) !=
		    (root_kinds[i] != HPROF_ROOT_UNREACHABLE))
			fail_msg("root %s: there is none, or it is none", root_names[i]);
}

/* A surrogate pair is one character. An unpaired surrogate is not a character. */
static void test_threads(void **state)
{
	(void)state;
	assert_true(has_row("threads", NULL, "thread",
			    "T\xf0\x9f\x98\x80\xef\xbf\xbd!\xef\xbf\xbd\xef\xbf\xbd"));
	for (size_t i = 0; i < FRAME_COUNT; i++)
		if (!has_row("threads", NULL, "text", frames[i]))
			fail_msg("no frame %s", frames[i]);
}

static int setup(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err = { 0 };
	struct hw w;

	(void)state;
	(void)snprintf(dump_path, sizeof(dump_path), "%s", temp_path("odd.hprof"));
	(void)snprintf(db_path, sizeof(db_path), "%s", temp_path("odd.heapdb"));
	hw_init(&w, HPROF_1_0_2, 8, 0);
	put_names(&w);
	put_heap(&w);
	hw_heap_dump_end(&w);
	if (hw_save(&w, dump_path) != 0)
		return -1;
	hw_release(&w);
	if (hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK ||
	    hdb_open(db_path, NULL, &db, &err) != HDB_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hdb_close(db);
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class_names),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

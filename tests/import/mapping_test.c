/*
 * mapping_test.c - names from a mapping file: classes, fields, lines of methods, inlined calls.
 * Also damaged files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file in the format of ProGuard and R8, with comments and ranges from R8's doc/retrace.md. */
static const char good[] = "# compiler: R8\n"
			   "# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n"
			   "com.acme.Main -> a.b:\n"
			   "# {\"id\":\"sourceFile\",\"fileName\":\"Main.kt\"}\n"
			   "    int count -> a\n"
			   "    com.acme.Foo[] foos -> b\n"
			   "    1:3:void run(int):10:12 -> a\n"
			   "    4:4:void com.acme.Util.close(java.io.Closeable):70:70 -> a\n"
			   "    4:4:void run(int):13 -> a\n"
			   "    4:4:void start():20 -> a\n"
			   "    5:9:void other(int):40:40 -> a\n"
			   "    void plain() -> c\n"
			   "    void <init>() -> <init>\n"
			   "\n"
			   "com.acme.Util -> a.c:\r\n"
			   "    int count -> b\r\n";

static char path[] = "/tmp/heapdb-mapping-XXXXXX";

static int read_text(struct import_mapping *m, const char *text, size_t size, struct hdb_error *err)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	return import_mapping_read(m, path, err);
}

static void is_text(const struct import_mapping_text *t, const char *expected)
{
	assert_int_equal(t->size, strlen(expected));
	assert_memory_equal(t->text, expected, t->size);
}

static uint32_t use(struct import_mapping *m, const char *name)
{
	const uint32_t no = import_mapping_find(m, name, strlen(name));

	assert_int_not_equal(no, BASE_IDMAP_NONE);
	assert_int_equal(import_mapping_use(m, no, NULL), HDB_OK);
	/* A second time changes nothing. */
	assert_int_equal(import_mapping_use(m, no, NULL), HDB_OK);
	return no;
}

static void names(void **state)
{
	struct import_mapping m;
	struct import_mapping_text to;
	uint32_t main, util;

	(void)state;
	assert_int_equal(read_text(&m, good, sizeof(good) - 1, NULL), HDB_OK);
	main = use(&m, "a.b");
	util = use(&m, "a.c");
	assert_int_equal(import_mapping_find(&m, "com.acme.Main", 13), BASE_IDMAP_NONE);
	is_text(&import_mapping_class(&m, main)->name, "com.acme.Main");
	is_text(&import_mapping_class(&m, main)->source, "Main.kt");
	is_text(&import_mapping_class(&m, util)->name, "com.acme.Util");
	assert_int_equal(import_mapping_class(&m, util)->source.size, 0);
	assert_true(import_mapping_field(&m, main, "a", 1, &to));
	is_text(&to, "count");
	assert_true(import_mapping_field(&m, main, "b", 1, &to));
	is_text(&to, "foos");
	assert_true(import_mapping_field(&m, util, "b", 1, &to));
	is_text(&to, "count");
	assert_false(import_mapping_field(&m, util, "a", 1, &to));
	assert_false(import_mapping_field(&m, main, "c", 1, &to));
	import_mapping_release(&m);
}

static void lines(void **state)
{
	static const struct {
		const char *method;
		int32_t line;
		const char *expected; /* innermost first: class.method:line */
	} rows[] = {
		{ "a", 1, ".run:10" },
		{ "a", 3, ".run:12" },
		{ "a", 4, "com.acme.Util.close:70 .run:13 .start:20" },
		{ "a", 7, ".other:40" },
		{ "a", 99, "" },
		{ "c", 5, ".plain:5" },
		{ "<init>", -1, ".<init>:-1" },
		{ "none", 1, "" },
	};
	struct import_mapping m;
	uint32_t main;

	(void)state;
	assert_int_equal(read_text(&m, good, sizeof(good) - 1, NULL), HDB_OK);
	main = use(&m, "a.b");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct import_mapping_text name = { rows[i].method, strlen(rows[i].method) };
		struct import_mapping_frame frames[IMPORT_MAPPING_INLINED];
		const size_t n = import_mapping_method(&m, main, &name, rows[i].line, frames);
		char got[256] = "";

		for (size_t k = 0; k < n; k++)
			(void)snprintf(
				got + strlen(got), sizeof(got) - strlen(got), "%s%.*s.%.*s:%d",
				k ? " " : "", (int)frames[k].class_name.size,
				frames[k].class_name.size ? frames[k].class_name.text : "",
				(int)frames[k].method.size, frames[k].method.text, frames[k].line);
		assert_string_equal(got, rows[i].expected);
	}
	import_mapping_release(&m);
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{ "hello\n", "line 1 is not a class mapping" },
		{ "    int a -> b\n", "line 1 is not a class mapping" },
		{ "a -> b:\nc d\n", "line 2 is not a class mapping" },
		{ "a -> b\n", "line 1 is not a class mapping" },
		{ " -> :\n", "line 1 is not a class mapping" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct import_mapping m;
		struct hdb_error err = { 0 };

		assert_int_equal(read_text(&m, rows[i].text, strlen(rows[i].text), &err),
				 HDB_EFORMAT);
		assert_non_null(strstr(err.message, rows[i].message));
		import_mapping_release(&m);
	}
}

/*
 * Changes each byte, and cuts the file at each byte. The result is a result code, and look-ups
 * return a result.
 */
static void damaged(void **state)
{
	char text[sizeof(good)];

	(void)state;
	for (size_t i = 0; i < 2 * (sizeof(good) - 1); i++) {
		const bool is_cut = i % 2;
		const struct import_mapping_text name = { "a", 1 };
		struct import_mapping_frame frames[IMPORT_MAPPING_INLINED];
		struct import_mapping_text to;
		struct import_mapping m;

		memcpy(text, good, sizeof(good));
		text[i / 2] ^= is_cut ? 0 : (char)(1 + i % 127);
		if (read_text(&m, text, is_cut ? i / 2 : sizeof(good) - 1, NULL) == HDB_OK) {
			for (uint32_t no = 0; no < m.classes.count; no++) {
				assert_int_equal(import_mapping_use(&m, no, NULL), HDB_OK);
				(void)import_mapping_field(&m, no, "a", 1, &to);
				assert_in_range(import_mapping_method(&m, no, &name, 4, frames), 0,
						IMPORT_MAPPING_INLINED);
			}
		}
		import_mapping_release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(lines),
		cmocka_unit_test(refused),
		cmocka_unit_test(damaged),
	};
	const int fd = mkstemp(path);
	int failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

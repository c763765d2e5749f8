/*
 * old_database_test.c - databases that an earlier version of heapdb wrote, whose tables have
 * earlier revisions. The command imports the dump again and reports this, or refuses. Derived
 * tables are built again. check reports the revisions and changes nothing. Old tables are never
 * read.
 *
 * Link with: -Wl,--wrap=store_table_revision
 */
#include "heapdb.h"
#include "store/store.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

static char dump[512], db_path[512], out[512];
/* The table with the revision of an earlier or later version; 0: no table. */
static unsigned other_table;
static int other_by = -1;

uint32_t __real_store_table_revision(unsigned table); /* NOLINT(bugprone-reserved-identifier) */
uint32_t __wrap_store_table_revision(unsigned table); /* NOLINT(bugprone-reserved-identifier) */

uint32_t __wrap_store_table_revision(unsigned table) /* NOLINT(bugprone-reserved-identifier) */
{
	const uint32_t revision = __real_store_table_revision(table);

	return table == other_table ? revision + (uint32_t)other_by : revision;
}

static int run(const char *format, ...)
{
	char command[4096];
	va_list args;
	int n, status;

	va_start(args, format);
	n = vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_true(n > 0 && (size_t)n < sizeof(command));
	(void)snprintf(command + n, sizeof(command) - (size_t)n, " > '%s' 2>&1", out);
	status = system(command); /* NOLINT(concurrency-mt-unsafe) */
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Whether the output of the last command contains a text. */
static bool says(const char *text)
{
	static char all[1 << 20];
	FILE *in = fopen(out, "r");
	size_t n;

	assert_non_null(in);
	n = fread(all, 1, sizeof(all) - 1, in);
	all[n] = '\0';
	(void)fclose(in);
	return strstr(all, text) != NULL;
}

static void expect_text(const char *text)
{
	static char all[4096];
	FILE *in;

	if (says(text))
		return;
	in = fopen(out, "r");
	all[in ? fread(all, 1, sizeof(all) - 1, in) : 0] = '\0';
	fail_msg("\"%s\" expected: %s", text, all);
}

/* Imports the dump like a version with another revision of this table. */
static void import_other(const char *from, unsigned table, enum hdb_size_model sizes)
{
	const struct hdb_import_options options = {
		.struct_size = sizeof(options),
		.force = 1,
		.sizes = sizes,
	};
	struct hdb_error err = { 0 };

	other_table = table;
	if (hdb_import(from, db_path, &options, NULL, &err) != HDB_OK)
		fail_msg("%s", err.message);
	other_table = 0;
}

static ino_t inode(void)
{
	struct stat st;

	assert_int_equal(stat(db_path, &st), 0);
	return st.st_ino;
}

static void expect_refused(const char *why)
{
	const ino_t was = inode();

	assert_int_equal(run("heapdb histogram '%s'", db_path), 3);
	expect_text(why);
	assert_int_equal(inode(), was);
}

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dump, sizeof(dump), "%s", temp_path("old.hprof"));
	(void)snprintf(db_path, sizeof(db_path), "%s", temp_path("old.heapdb"));
	(void)snprintf(out, sizeof(out), "%s", temp_path("old.out"));
	return run("cp '%s' '%s'", getenv("DUMP"), dump); /* NOLINT(concurrency-mt-unsafe) */
}

static void test_again(void **state)
{
	struct hdb_error err;
	struct hdb *db = NULL;
	ino_t was;

	(void)state;
	other_by = -1;
	import_other(dump, STORE_CLASSES, HDB_SIZES_MAT);
	was = inode();
	assert_int_equal(hdb_open(db_path, NULL, &db, &err), HDB_EVERSION);
	assert_non_null(strstr(err.message, "table classes has revision"));
	assert_non_null(strstr(err.message, "import the dump again"));
	assert_int_equal(run("heapdb check '%s'", db_path), 3);
	expect_text("import the dump again");
	assert_int_equal(inode(), was);
	assert_int_equal(run("heapdb histogram '%s'", db_path), 0);
	expect_text("in a format that this version does not read; importing ");
	assert_int_not_equal(inode(), was);
	/* Only once, and with the options of the first import. */
	assert_int_equal(run("heapdb info '%s'", db_path), 0);
	assert_false(says("importing"));
	expect_text("made by");
	assert_int_equal(run("heapdb info --csv '%s'", db_path), 0);
	expect_text("sizes,model,mat");
	assert_int_equal(run("heapdb check '%s'", db_path), 0);
}

static void test_every_base_table(void **state)
{
	struct hdb_error err;
	struct hdb *db = NULL;

	(void)state;
	for (unsigned t = STORE_META + 1; t < STORE_REFERRERS; t++) {
		/* This dump does not have them. test_refused tests contents. */
		if (!store_table_name(t) || t == STORE_CONTENTS || t == STORE_THREAD_STARTS)
			continue;
		other_by = -1;
		import_other(dump, t, HDB_SIZES_VM);
		if (hdb_open(db_path, NULL, &db, &err) != HDB_EVERSION)
			fail_msg("table %s is read", store_table_name(t));
	}
}

static void test_refused(void **state)
{
	char packed[1024], moved[1024];
	ino_t was;

	(void)state;
	other_by = -1;
	/* The dump was removed. */
	import_other(dump, STORE_OBJECTS, HDB_SIZES_VM);
	(void)snprintf(moved, sizeof(moved), "%s.moved", dump);
	assert_int_equal(rename(dump, moved), 0);
	expect_refused("cannot be read (No such file");
	assert_int_equal(run("heapdb histogram '%s' --dump '%s'", db_path, moved), 0);
	assert_int_equal(rename(moved, dump), 0);
	/* The database contains the dump. */
	(void)snprintf(packed, sizeof(packed), "%s.gz", dump);
	assert_int_equal(run("gzip -k '%s'", dump), 0);
	import_other(packed, STORE_OBJECTS, HDB_SIZES_VM);
	expect_refused("stored in it cannot be read either; import ");
	import_other(packed, STORE_CONTENTS, HDB_SIZES_VM);
	expect_refused("stored in it cannot be read either; import ");
	/* A query on the compressed file, which exists, imports it again, only once. */
	was = inode();
	assert_int_equal(run("heapdb histogram '%s'", packed), 0);
	expect_text("in a format that this version does not read; importing ");
	assert_int_not_equal(inode(), was);
	was = inode();
	assert_int_equal(run("heapdb info '%s'", packed), 0);
	assert_false(says("importing"));
	assert_int_equal(inode(), was);
	assert_int_equal(run("heapdb check '%s'", db_path), 0);
	(void)unlink(packed);
	/* The dump has changed. */
	import_other(dump, STORE_OBJECTS, HDB_SIZES_VM);
	assert_int_equal(
		run("head -c 100 '%s' > '%s' && cat '%s' >> '%s'", dump, moved, dump, moved), 0);
	assert_int_equal(rename(moved, dump), 0);
	expect_refused("has changed since");
	assert_int_equal(setup(state), 0);
}

static void test_derived(void **state)
{
	static const struct {
		unsigned table;
		const char *query; /* a query that reads the table */
	} derived[] = {
		{ STORE_DOMINATORS, "dominators" },
		{ STORE_TOTALS, "histogram" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]); i++) {
		struct hdb_error err = { 0 };
		struct hdb_rows *rows = NULL;
		struct hdb *db = NULL;
		struct store *store = NULL;
		struct store_table_info info = { 0 };

		/* The earlier version built the table, */
		import_other(dump, 0, HDB_SIZES_VM);
		other_by = -1;
		other_table = derived[i].table;
		assert_int_equal(hdb_open(db_path, NULL, &db, &err), HDB_OK);
		assert_int_equal(hdb_query(db, derived[i].query, NULL, &rows, &err), HDB_OK);
		hdb_rows_close(rows);
		hdb_close(db);
		other_table = 0;
		assert_int_equal(store_open(db_path, &store, &err), HDB_OK);
		assert_int_equal(store_table_info(store, derived[i].table, &info, &err),
				 HDB_NOTFOUND);
		assert_int_equal(info.revision, store_table_revision(derived[i].table) - 1);
		store_close(store);
		/* check reports this and passes, */
		assert_int_equal(run("heapdb check '%s'", db_path), 0);
		expect_text("1 derived tables of another version");
		/* and this version builds it again. */
		assert_int_equal(run("heapdb query %s '%s'", derived[i].query, db_path), 0);
		assert_int_equal(store_open(db_path, &store, &err), HDB_OK);
		assert_int_equal(store_table_info(store, derived[i].table, &info, &err), HDB_OK);
		store_close(store);
	}
}

static void test_later(void **state)
{
	(void)state;
	other_by = 1;
	import_other(dump, STORE_CLASSES, HDB_SIZES_VM);
	other_by = -1;
	expect_refused("use a newer heapdb");
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink(dump);
	(void)unlink(out);
	temp_remove_db(db_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),   cmocka_unit_test(test_every_base_table),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_derived),
		cmocka_unit_test(test_later),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

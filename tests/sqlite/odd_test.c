/*
 * tests/sqlite/odd_test.c - data that no VM writes: identifiers in the upper half, which are
 * negative in SQL, and cyclic dominators.
 */
#include "heapdb.h"

#include "derive/build.h"
#include "support/hprof_writer.h"
#include "support/temp.h"
#include "support/tree_tables.h"

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"

enum { OBJECT = 0x100, CLASS = 0x200, NODE = 0x300 };

static const uint64_t ids[] = {
	0x1000, 0x2000, 0x3000, 0x4000, 0x8000000000000000, 0xffffffffffff0000
};

static char db_path[512];
static struct hdb *db;
static struct heapsql *sql;

static void open_sql(void)
{
	struct heapsql_database database = { 0 };
	struct hdb_error err = { 0 };

	assert_int_equal(hdb_open(db_path, NULL, &db, &err), HDB_OK);
	assert_int_equal(heapsql_open(NULL, &sql, &err), HDB_OK);
	database.db = db;
	assert_int_equal(heapsql_add(sql, &database, &err), HDB_OK);
}

static void close_sql(void)
{
	heapsql_close(sql);
	hdb_close(db);
}

/* Reads the first value of the first row as text. Returns the result of the statement. */
static int ask(const char *statement, char *out, size_t size)
{
	struct hdb_error err = { 0 };
	struct heapsql_rows *rows = NULL;
	const char *rest;
	int r = heapsql_prepare(sql, statement, &rest, &rows, &err);

	out[0] = '\0';
	if (r == HDB_OK)
		r = heapsql_next(rows, &err);
	if (r == HDB_OK) {
		const struct hdb_value *value = heapsql_value(rows, 0);

		if (value->type == HDB_TYPE_TEXT)
			(void)snprintf(out, size, "%.*s", (int)value->text_size, value->text);
		else
			(void)snprintf(out, size, "%lld", (long long)value->i);
	}
	heapsql_rows_close(rows);
	return r;
}

/* Results that SQLite computes itself, which `+ 0` forces, are the right ones. */
static void same(const char *form, const char *how)
{
	char plain[512], summed[512], got[512], want[512];

	(void)snprintf(plain, sizeof(plain), form, "id", how);
	(void)snprintf(summed, sizeof(summed), form, "id + 0", how);
	assert_int_equal(ask(plain, got, sizeof(got)), HDB_OK);
	assert_int_equal(ask(summed, want, sizeof(want)), HDB_OK);
	if (strcmp(got, want) != 0)
		fail_msg("%s: %s instead of %s", plain, got, want);
}

static void test_upper_half(void **state)
{
	static const char *const conditions[] = {
		"<= 8192",
		"< 4096",
		">= 4096",
		"> -65536",
		"<= -1",
		"< 0",
		"> 0",
		"BETWEEN 1 AND 9000",
		"> 12288",
		"<= -65536",
		"BETWEEN -65537 AND 4096",
		"<= 9223372036854775807",
		">= -9223372036854775808",
	};

	(void)state;
	open_sql();
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		same("SELECT count(*) FROM objects WHERE %s %s", conditions[i]);
	same("SELECT group_concat(id) FROM (SELECT id FROM objects ORDER BY %s %s)", "");
	same("SELECT group_concat(id) FROM (SELECT id FROM objects ORDER BY %s %s)", "DESC");
	same("SELECT min(%s) %s FROM objects", "");
	same("SELECT max(%s) %s FROM objects", "");
	close_sql();
}

/* Dominators in which the second to fourth objects dominate each other. */
static void write_circle(void)
{
	uint64_t dominators[64];
	const uint64_t zeros[64] = { 0 };
	struct base_work work;
	struct heap *heap;
	uint32_t ix[4];

	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(heap_open(db_path, NULL, &work, &heap, NULL), HDB_OK);
	assert_true(heap->object_count <= 64);
	for (uint32_t i = 0; i < heap->object_count; i++)
		dominators[i] = derive_tree_value(i, GRAPH_NONE);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(heap_find(heap, ids[i], &ix[i], NULL), HDB_OK);
	for (uint32_t i = 1; i < 4; i++)
		dominators[ix[i]] = derive_tree_value(ix[i], ix[i % 3 + 1]);
	tree_tables_put(heap, dominators, zeros);
	heap_close(heap);
	base_work_release(&work);
}

static void test_circle(void **state)
{
	char text[64];

	(void)state;
	write_circle();
	open_sql();
	assert_int_equal(ask("SELECT common_dominator(id) FROM objects WHERE id IN (4096, 8192)",
			     text, sizeof(text)),
			 HDB_ECORRUPT);
	/* All of them are on the path of the first. */
	assert_int_equal(ask("SELECT common_dominator(id) FROM objects WHERE id IN (8192, 12288)",
			     text, sizeof(text)),
			 HDB_OK);
	close_sql();
}

static int start(void **state)
{
	static const char *const names[] = { "java/lang/Object", "java/lang/Class", "Node" };
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	const char *dump = temp_path("odd.hprof");
	struct hdb_error err;
	struct hw w;
	int r;

	(void)state;
	(void)snprintf(db_path, sizeof(db_path), "%s", temp_path("odd.heapdb"));
	hw_init(&w, HPROF_1_0_2, 8, 1234567890);
	for (unsigned i = 0; i < 3; i++) {
		hw_utf8(&w, i + 1, names[i]);
		hw_load_class(&w, i + 1, OBJECT + i * 0x100, 1, i + 1);
	}
	(void)hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_root(&w, HPROF_ROOT_STICKY_CLASS, OBJECT, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		hw_class(&w, &(struct hw_class){ .id = OBJECT + i * 0x100,
						 .super_id = i ? OBJECT : 0 });
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		hw_root(&w, HPROF_ROOT_JNI_GLOBAL, ids[i], 1, 0);
		hw_instance(&w, ids[i], NODE, NULL, 0);
	}
	hw_end(&w);
	hw_heap_dump_end(&w);
	r = hw_save(&w, dump);
	hw_release(&w);
	if (r == 0)
		r = hdb_import(dump, db_path, &opt, NULL, &err);
	(void)unlink(dump);
	return r == 0 ? 0 : -1;
}

static int clean(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_upper_half),
		cmocka_unit_test(test_circle),
	};

	return cmocka_run_group_tests(tests, start, clean);
}
#else
int main(void)
{
	return 0;
}
#endif

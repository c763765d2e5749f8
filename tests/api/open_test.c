/*
 * tests/api/open_test.c - opening databases: missing files, dumps that have changed or are
 * incomplete, concurrent imports; and the list of queries, requested on many threads.
 */
#include "heapdb.h"

#include "support/hprof_writer.h"
#include "support/temp.h"

#include "queries/queries.h"
#include "store/store.h"

#include <endian.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <cmocka.h>

#define THREADS 8
#define OBJECT 0x1000u
#define NODE 0x1100u
#define FIRST 0x2000u
#define NODES 100u

static char dump[512], db_path[512], other[512];

static int start(void **state)
{
	(void)state;
	snprintf(dump, sizeof(dump), "%s", temp_path("d.hprof"));
	snprintf(other, sizeof(other), "%s", temp_path("other.hprof"));
	snprintf(db_path, sizeof(db_path), "%s", temp_path("d.heapdb"));
	return 0;
}

static int clean(void **state)
{
	(void)state;
	(void)unlink(dump);
	(void)unlink(other);
	temp_remove_db(db_path);
	return 0;
}

/*
 * A linked list of nodes. The root record, if any, precedes the end record. `cut` bytes are cut off
 * at the end.
 */
static void write_dump(const char *path, uint64_t time, bool has_root, unsigned cut)
{
	static const struct hprof_field next = { 3, HPROF_OBJECT };
	static const struct hw_class object = { .id = OBJECT };
	static const struct hw_class node = {
		.id = NODE,
		.super_id = OBJECT,
		.fields = &next,
		.field_count = 1,
		.instance_size = 4,
	};
	struct hw w;

	hw_init(&w, HPROF_1_0_2, 4, time);
	hw_utf8(&w, 1, "java/lang/Object");
	hw_utf8(&w, 2, "Node");
	hw_utf8(&w, 3, "next");
	hw_load_class(&w, 1, OBJECT, 0, 1);
	hw_load_class(&w, 2, NODE, 0, 2);
	hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_class(&w, &object);
	hw_class(&w, &node);
	for (uint32_t i = 0; i < NODES; i++) {
		const uint32_t to = htobe32(i + 1 < NODES ? FIRST + (i + 1) * 16 : 0);

		hw_instance(&w, FIRST + i * 16, NODE, &to, 4);
	}
	if (has_root)
		hw_root(&w, HPROF_ROOT_STICKY_CLASS, NODE, 0, 0);
	if (has_root)
		hw_root(&w, HPROF_ROOT_JNI_GLOBAL, FIRST, 0x99, 0);
	hw_end(&w);
	hw_heap_dump_end(&w);
	w.size -= cut;
	assert_int_equal(hw_save(&w, path), 0);
	hw_release(&w);
}

static void import(void)
{
	const struct hdb_import_options options = { .force = 1 };
	struct hdb_error err;

	if (hdb_import(dump, db_path, &options, NULL, &err) != HDB_OK)
		fail_msg("%s", err.message);
}

static struct hdb *open_db(const char *dump_path)
{
	const struct hdb_open_options options = { .dump_path = dump_path };
	struct hdb_error err;
	struct hdb *db;

	if (hdb_open(db_path, &options, &db, &err) != HDB_OK)
		fail_msg("%s", err.message);
	return db;
}

/* ---- names ---- */

static void names(void **state)
{
	struct hdb_error err;
	struct hdb *db = NULL;
	char buf[16];

	(void)state;
	assert_int_equal(hdb_open(NULL, NULL, &db, &err), HDB_EUSAGE);
	assert_string_equal(err.message, "hdb_open: a required pointer is NULL");
	assert_int_equal(hdb_import(NULL, db_path, NULL, NULL, &err), HDB_EUSAGE);
	assert_int_equal(hdb_default_path(NULL, buf, sizeof(buf), &err), HDB_EUSAGE);
	assert_int_equal(hdb_open(temp_path("none.heapdb"), NULL, &db, &err), HDB_EABSENT);
	assert_int_equal(err.code, HDB_EABSENT);
	assert_non_null(strstr(err.message, "No such file"));
	assert_int_equal(hdb_open(temp_path("none/none.heapdb"), NULL, &db, NULL), HDB_EABSENT);
	assert_int_equal(hdb_import(temp_path("none.hprof"), db_path, NULL, NULL, &err),
			 HDB_EABSENT);
	assert_string_equal(hdb_result_name(HDB_EABSENT), "HDB_EABSENT");
	/* A missing directory is a system failure, not invalid input. */
	write_dump(dump, 1, true, 0);
	assert_int_equal(hdb_import(dump, temp_path("none/d.heapdb"), NULL, NULL, &err), HDB_EIO);
	clean(NULL);
}

/* ---- the list of queries ---- */

static pthread_barrier_t barrier;

static void *list_queries(void *ctx)
{
	size_t count, sum = 0;

	(void)ctx;
	(void)pthread_barrier_wait(&barrier);
	count = hdb_query_count();
	for (size_t i = 0; i < count; i++)
		sum += strlen(hdb_query_at(i)->name) > 0;
	return (void *)sum;
}

/*
 * All threads that request the list at the same time, before anyone else, get the same list. Run it
 * with the thread sanitizer.
 */
static void queries(void **state)
{
	const struct query_def *const *registry;
	struct query_def broken;
	pthread_t threads[THREADS];
	size_t have;

	(void)state;
	registry = query_registry(&have);
	for (size_t i = 0; i < have; i++)
		assert_null(query_missing_field(registry[i]));
	broken = *query_find("roots");
	broken.spec.one_population = NULL;
	assert_string_equal(query_missing_field(&broken), "spec.one_population");
	broken.population = ANALYSIS_OF_NOTHING;
	assert_string_equal(query_missing_field(&broken), "population");
	broken.next = NULL;
	broken.row = NULL;
	assert_string_equal(query_missing_field(&broken), "row");
	broken.spec.options = NULL;
	assert_string_equal(query_missing_field(&broken), "spec.options");
	broken.spec.example = NULL;
	assert_string_equal(query_missing_field(&broken), "spec.example");
	assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, list_queries, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		void *sum;

		assert_int_equal(pthread_join(threads[i], &sum), 0);
		assert_int_equal((size_t)sum, have);
	}
	(void)pthread_barrier_destroy(&barrier);
	assert_int_equal(hdb_query_count(), have);
	assert_non_null(hdb_query_at(have - 1));
	assert_null(hdb_query_at(have));
}

/* ---- stale ---- */

/*
 * Returns the fact of this name in the answer to a query, or NULL. *value is a copy without the
 * text.
 */
static bool has_fact(struct hdb *db, const char *query, const char *name, struct hdb_value *value)
{
	struct hdb_rows *rows;
	bool found = false;

	assert_int_equal(hdb_query(db, query, NULL, &rows, NULL), HDB_OK);
	for (size_t i = 0; i < hdb_rows_fact_count(rows); i++) {
		if (strcmp(hdb_rows_fact_column(rows, i)->name, name) != 0)
			continue;
		*value = *hdb_rows_fact_value(rows, i);
		found = true;
		/* Facts that all answers have come first. */
		assert_true(i < 4);
	}
	hdb_rows_close(rows);
	return found;
}

static bool is_stale(const char *dump_path)
{
	struct hdb *db = open_db(dump_path);
	struct hdb_health health = { .struct_size = sizeof(health) };
	struct hdb_value value;

	hdb_health(db, &health);
	assert_int_equal(has_fact(db, "histogram", "stale", &value), health.stale != NULL);
	assert_int_equal(has_fact(db, "info", "stale", &value), health.stale != NULL);
	if (health.stale)
		assert_non_null(strstr(health.stale, "is not the imported dump"));
	hdb_close(db);
	return health.stale != NULL;
}

/* Sets the times of a file to the times of another. */
static void copy_times(const char *from, const char *to)
{
	struct stat st;
	struct timespec times[2];

	assert_int_equal(stat(from, &st), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, to, times, 0), 0);
}

static void stale(void **state)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct hdb_object_info info = { .struct_size = sizeof(info) };
	struct hdb_error err;
	struct hdb *db;

	(void)state;
	write_dump(dump, 1, true, 0);
	import();
	assert_false(is_stale(NULL));
	/* Another time but the same bytes: the dump has not changed. */
	assert_int_equal(utimensat(AT_FDCWD, dump, long_ago, 0), 0);
	assert_false(is_stale(NULL));
	/* The same size and time but other contents. */
	write_dump(dump, 1, true, 0);
	import();
	write_dump(other, 2, true, 0);
	copy_times(dump, other);
	assert_int_equal(rename(other, dump), 0);
	assert_true(is_stale(NULL));
	/* Another size. */
	write_dump(dump, 1, false, 0);
	assert_true(is_stale(NULL));
	/* Queries that do not need the dump succeed. Other queries fail with the reason. */
	db = open_db(NULL);
	assert_int_equal(hdb_object(db, FIRST, &info, &err), HDB_OK);
	{
		const char *const targets[] = { "0x2000" };
		const struct hdb_query_args args = { .targets = targets, .target_count = 1 };
		struct hdb_rows *rows;

		assert_int_equal(hdb_query(db, "object", &args, &rows, &err), HDB_ECHANGED);
		assert_non_null(strstr(err.message, "reads the dump"));
	}
	hdb_close(db);
	/* The imported dump has another path, or was removed. */
	write_dump(other, 1, true, 0);
	assert_false(is_stale(other));
	assert_true(is_stale(NULL));
	assert_int_equal(unlink(dump), 0);
	assert_false(is_stale(NULL));
	clean(NULL);
}

/* ---- incomplete ---- */

static struct hdb_health health_of_import(struct hdb **db)
{
	struct hdb_health health = { .struct_size = sizeof(health) };

	import();
	*db = open_db(NULL);
	hdb_health(*db, &health);
	return health;
}

static void incomplete(void **state)
{
	struct hdb_health health = { .struct_size = sizeof(health) };
	struct hdb_value value;
	uint64_t retained;
	struct hdb *db;

	(void)state;
	write_dump(dump, 1, true, 0);
	health = health_of_import(&db);
	assert_null(health.incomplete);
	assert_false(has_fact(db, "histogram", "incomplete", &value));
	hdb_close(db);

	/* Only the roots are missing. The list is still complete. */
	write_dump(dump, 1, false, 0);
	health = health_of_import(&db);
	assert_non_null(health.incomplete);
	assert_non_null(strstr(health.incomplete, "no GC roots"));
	assert_int_equal(health.roots_seen, 0);
	assert_int_equal(hdb_retained(db, FIRST, &retained, NULL), HDB_OK);
	assert_int_equal(retained, NODES * 16);
	assert_true(has_fact(db, "top", "roots_seen", &value));
	assert_int_equal(value.u, 0);
	assert_false(has_fact(db, "top", "missing_bytes", &value));
	{
		const char *const targets[] = { "0x2000" };
		const struct hdb_query_args args = { .targets = targets, .target_count = 1 };
		struct hdb_rows *rows;
		size_t root = 0;

		assert_int_equal(hdb_query(db, "path", &args, &rows, NULL), HDB_OK);
		while (strcmp(hdb_rows_column(rows, root)->name, "root") != 0)
			root++;
		assert_int_equal(hdb_rows_next(rows, NULL), HDB_OK);
		assert_memory_equal(hdb_rows_value(rows, root)->text, "none (its holder", 16);
		hdb_rows_close(rows);
	}
	hdb_close(db);

	/* Cut inside the last node: the end record, the roots and three bytes are gone. */
	write_dump(dump, 1, true, 9 + 9 + 5 + 3);
	health = health_of_import(&db);
	assert_non_null(health.incomplete);
	assert_non_null(strstr(health.incomplete, "ends inside the INSTANCE DUMP"));
	assert_true(health.missing_bytes >= 3);
	assert_true(has_fact(db, "top", "missing_bytes", &value));
	assert_int_equal(value.u, health.missing_bytes);
	assert_int_equal(hdb_retained(db, FIRST, &retained, NULL), HDB_OK);
	assert_int_equal(retained, (NODES - 1) * 16);
	hdb_close(db);
	clean(NULL);
}

/* ---- concurrent imports ---- */

struct waiting {
	struct hdb_import_options options;
	int result;
	volatile bool has_ended;
};

static void *run_import(void *ctx)
{
	struct waiting *w = ctx;

	w->result = hdb_import(dump, db_path, &w->options, NULL, NULL);
	w->has_ended = true;
	return NULL;
}

/* Another import is running, and then fails or creates the database. */
static int import_beside(bool force, bool is_made)
{
	struct waiting w = { .options = { .force = force, .wait = 1 } };
	struct store_writer *writer;
	struct hdb_error err;
	pthread_t thread;

	assert_int_equal(store_create(db_path, true, 1 << 20, &writer, &err), HDB_OK);
	/* Without `wait` the call fails at once. */
	assert_int_equal(
		hdb_import(dump, db_path, &(struct hdb_import_options){ .force = 1 }, NULL, &err),
		HDB_EIO);
	assert_non_null(strstr(err.message, "another import"));
	assert_int_equal(pthread_create(&thread, NULL, run_import, &w), 0);
	(void)usleep(100000);
	assert_false(w.has_ended);
	if (is_made)
		assert_int_equal(store_publish(writer, NULL, &err), HDB_OK);
	else
		store_abort(writer);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return w.result;
}

static void imports_at_once(void **state)
{
	(void)state;
	write_dump(dump, 1, true, 0);
	assert_int_equal(import_beside(false, true), HDB_END);
	assert_int_equal(import_beside(true, true), HDB_END);
	temp_remove_db(db_path);
	assert_int_equal(import_beside(false, false), HDB_OK);
	assert_int_equal(import_beside(true, false), HDB_OK);
	hdb_close(open_db(NULL));
	clean(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),           cmocka_unit_test(queries),
		cmocka_unit_test(stale),           cmocka_unit_test(incomplete),
		cmocka_unit_test(imports_at_once),
	};

	return cmocka_run_group_tests(tests, start, clean);
}

/*
 * flips_test.c - changes a byte of a block in each table of a database in turn. Every query must
 * give the answer of the sound database or an error, and `check` must find the damage. This is done
 * once with all tables built, and once while queries build them.
 *
 * The questions are those of the registry: each query without a target, with each --by, and with
 * objects and classes of the sample dump as targets. HEAPDB_HOSTILE=long: every block of both, and
 * of a small Android dump.
 */
#include "store/block.h"
#include "support/fuzz_world.h"
#include "support/hostile.h"
#include "support/temp.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

#define QUESTIONS_MAX 600
#define VALUES_MAX 8192
/* Number of rows of an answer that are compared. Further rows are computed in the same way. */
#define ROWS_MAX 300
/* Maximum processor time in seconds for a query. */
#define SECONDS_MAX 60

struct question {
	const struct hdb_query_spec *spec;
	char by[40];        /* "": none */
	const char *target; /* NULL: none */
	uint64_t want;      /* hash of the answer */
	int code;
};

static struct question questions[QUESTIONS_MAX];
static size_t question_count;
static char db_path[512], dump_path[512];
/* The ID of the first object in each of these answers is a target. */
static const char *const object_answers[] = { "top", "threads", "strings" };
#define OBJECTS (sizeof(object_answers) / sizeof(object_answers[0]))
static char objects[OBJECTS][32];
static unsigned changes, refused, same, wrong;

/* ---- questions ---- */

static void add(const struct hdb_query_spec *spec, const char *by, const char *target)
{
	struct question *q = &questions[question_count++];

	assert_true(question_count < QUESTIONS_MAX);
	*q = (struct question){ .spec = spec, .target = target };
	(void)snprintf(q->by, sizeof(q->by), "%s", by);
}

static void add_by(const struct hdb_query_spec *spec)
{
	const struct hdb_option_spec *o = spec->options;

	while (o->name && strcmp(o->name, "by") != 0)
		o++;
	for (const char *p = o->name ? o->argument : ""; *p;) {
		const size_t n = strcspn(p, "|");
		char by[40];

		(void)snprintf(by, sizeof(by), "%.*s", (int)n, p);
		if (!strchr(by, ':')) /* field:NAME is a pattern, not a value */
			add(spec, by, spec->target_min ? "java.lang.*" : NULL);
		p += n + (p[n] != '\0');
	}
}

static void list_questions(void)
{
	static const struct {
		unsigned type;
		const char *target;
	} targets[] = {
		{ HDB_TARGET_CLASS, "java.lang.Thread" },
		{ HDB_TARGET_PATTERN, "java.util.*" },
		{ HDB_TARGET_LOADER, "loader:boot" },
	};
	size_t count;

	question_count = 0;
	count = hdb_query_count();
	for (size_t i = 0; i < count; i++) {
		/* These queries list built tables, or verify them. */
		if (strcmp(hdb_query_at(i)->name, "info") == 0 ||
		    strcmp(hdb_query_at(i)->name, "tables") == 0 ||
		    strcmp(hdb_query_at(i)->name, "check") == 0)
			continue;
		if (!hdb_query_at(i)->target_min)
			add(hdb_query_at(i), "", NULL);
		for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++)
			if (hdb_query_at(i)->target_types & targets[t].type)
				add(hdb_query_at(i), "", targets[t].target);
		for (size_t o = 0; hdb_query_at(i)->target_types & HDB_TARGET_OBJECT && o < OBJECTS;
		     o++)
			add(hdb_query_at(i), "", objects[o]);
		add_by(hdb_query_at(i));
	}
}

static void mix(uint64_t *hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++)
		*hash = (*hash ^ p[i]) * 0x100000001b3ull; /* FNV-1a */
}

static void mix_value(uint64_t *hash, const struct hdb_value *value)
{
	mix(hash, &value->type, sizeof(value->type));
	if (value->type == HDB_TYPE_TEXT)
		mix(hash, value->text, value->text_size);
	else if (value->type == HDB_TYPE_DOUBLE || value->type == HDB_TYPE_PERCENT)
		mix(hash, &value->d, sizeof(value->d));
	else if (value->type != HDB_TYPE_NULL)
		mix(hash, value->type == HDB_TYPE_INT ? (const void *)&value->i : &value->u, 8);
}

/* ---- answers ---- */

static int take_rows(struct hdb_rows *rows, uint64_t *hash, struct hdb_error *err)
{
	unsigned count = 0;
	int r = HDB_OK;

	for (size_t i = 0; i < hdb_rows_fact_count(rows); i++)
		mix_value(hash, hdb_rows_fact_value(rows, i));
	while (count++ < ROWS_MAX && (r = hdb_rows_next(rows, err)) == HDB_OK)
		for (size_t c = 0; c < hdb_rows_column_count(rows); c++)
			mix_value(hash, hdb_rows_value(rows, c));
	return r;
}

/*
 * Runs a query with its own handle. Returns HDB_OK for rows, a positive code for a negative answer,
 * or a failure.
 */
static int ask(const struct question *q, uint64_t *hash, struct hdb_error *err)
{
	const struct hdb_open_options open = { .dump_path = dump_path, .threads = 1, .no_sync = 1 };
	const struct hdb_option by = { "by", q->by };
	struct hdb_query_args args = {
		.targets = &q->target,
		.target_count = q->target != NULL,
		.options = &by,
		.option_count = q->by[0] != '\0',
	};
	struct hdb_rows *rows = NULL;
	struct hdb *db = NULL;
	int r = hdb_open(db_path, &open, &db, err);

	*hash = 0xcbf29ce484222325ull;
	args.before = &db;
	args.before_count = strcmp(q->spec->name, "diff") == 0;
	if (r == HDB_OK)
		r = hdb_query(db, q->spec->name, &args, &rows, err);
	if (r == HDB_OK)
		r = take_rows(rows, hash, err);
	hdb_rows_close(rows);
	hdb_close(db);
	return r == HDB_END ? HDB_OK : r;
}

/* ---- changing bytes ---- */

/*
 * An image of a database, and whether each query gets a fresh copy. Otherwise later queries read
 * the tables that earlier queries built.
 */
struct image {
	uint8_t *data;
	size_t size;
	bool is_base;
};

static void write_image(const struct image *image)
{
	const int fd = open(db_path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image->data, image->size), image->size);
	(void)close(fd);
}

static void read_image(struct image *image)
{
	FILE *f = fopen(db_path, "rb");
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	image->size = (size_t)st.st_size;
	image->data = malloc(image->size);
	assert_non_null(image->data);
	assert_int_equal(fread(image->data, 1, image->size, f), image->size);
	(void)fclose(f);
}

/* The answers of the sound database. */
static void ask_sound(const struct image *image)
{
	struct hdb_error err = { 0 };

	for (size_t i = 0; i < question_count; i++) {
		struct question *q = &questions[i];

		if (image->is_base)
			write_image(image);
		q->code = ask(q, &q->want, &err);
		if (q->code < 0 && q->code != HDB_EUSAGE && q->code != HDB_ELIMIT)
			fail_msg("%s %s: %s", q->spec->name, q->by, err.message);
	}
}

/* Runs all queries on a database in which this value is changed. */
static void ask_damaged(const struct image *image, const char *what)
{
	struct hdb_error err = { 0 };
	unsigned failed = 0;

	for (size_t i = 0; i < question_count; i++) {
		const struct question *q = &questions[i];
		uint64_t hash;
		int r;

		if (!i || image->is_base)
			write_image(image);
		hostile_seconds(SECONDS_MAX);
		r = ask(q, &hash, &err);
		hostile_seconds(0);
		if (r != q->code && r < 0) {
			failed++;
			wrong += !err.message[0];
			if (!err.message[0])
				print_message("%s: %s fails without a message\n", what,
					      q->spec->name);
		} else if (r != q->code || hash != q->want) {
			wrong++;
			print_message("%s: %s %s %s%s gives another answer\n", what, q->spec->name,
				      q->target ? q->target : "", q->by[0] ? "--by " : "", q->by);
		}
	}
	refused += failed;
	same += (unsigned)question_count - failed;
	if (failed && hostile_check(db_path, dump_path, &err) == HDB_OK) {
		wrong++;
		print_message("%s: check finds nothing\n", what);
	}
}

static int compare_turns(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Changes a byte of each value in an image, at most `most` times: first in one block of each table,
 * then in the second block of each, and so on.
 */
static void try_image(const struct image *image, unsigned most)
{
	static struct fuzz_value values[VALUES_MAX];
	static uint64_t turns[VALUES_MAX];
	const size_t count = fuzz_find_values(image->data, image->size, values, VALUES_MAX);
	uint64_t seen[STORE_TABLE_END] = { 0 };

	for (size_t i = 0; i < count; i++) {
		const unsigned table = be16(image->data + values[i].key_at);

		turns[i] = seen[table < STORE_TABLE_END ? table : 0]++ << 32 | i;
	}
	qsort(turns, count, sizeof(turns[0]), compare_turns);
	for (size_t i = 0; i < count && i < most; i++) {
		const struct fuzz_value *value = &values[(uint32_t)turns[i]];
		const size_t at = value->at + (size_t)(changes * 37u) % value->size;
		char what[128];

		(void)snprintf(what, sizeof(what), "table %s, byte %zu of %zu",
			       store_table_name(be16(image->data + value->key_at)), at - value->at,
			       value->size);
		image->data[at] ^= 0x10;
		ask_damaged(image, what);
		image->data[at] ^= 0x10;
		changes++;
	}
}

/* Returns the ID in the first row that has one. */
static void find_objects(void)
{
	const struct hdb_open_options open = { .dump_path = dump_path, .threads = 1 };
	struct hdb_error err = { 0 };
	struct hdb *db;

	assert_int_equal(hdb_open(db_path, &open, &db, &err), HDB_OK);
	for (size_t i = 0; i < OBJECTS; i++) {
		const struct hdb_option options = { "objects", NULL };
		const struct hdb_query_args args = {
			.options = &options,
			.option_count = strcmp(object_answers[i], "strings") == 0,
		};
		struct hdb_rows *rows;
		size_t column;

		(void)snprintf(objects[i], sizeof(objects[i]), "0x0");
		if (hdb_query(db, object_answers[i], &args, &rows, &err) != HDB_OK)
			fail_msg("%s: %s", object_answers[i], err.message);
		column = hdb_rows_find_column(rows, "id");
		if (hdb_rows_next(rows, &err) == HDB_OK)
			(void)snprintf(objects[i], sizeof(objects[i]), "0x%" PRIx64,
				       hdb_rows_value(rows, column)->u);
		hdb_rows_close(rows);
	}
	hdb_close(db);
}

/*
 * Imports a dump, and changes this many blocks of its database, first without and then with derived
 * tables.
 */
static void try_dump(const char *path, unsigned most)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err = { 0 };
	struct image base = { .is_base = true }, whole = { .is_base = false };

	(void)snprintf(dump_path, sizeof(dump_path), "%s", path);
	if (hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK)
		fail_msg("%s", err.message);
	read_image(&base);
	find_objects();
	list_questions();
	ask_sound(&whole); /* builds the tables */
	ask_sound(&whole);
	read_image(&whole);
	try_image(&whole, most);
	ask_sound(&base);
	try_image(&base, most / 4);
	free(base.data);
	free(whole.data);
	print_message("%zu questions, %u changes: %u refused, %u the same\n", question_count,
		      changes, refused, same);
	assert_int_equal(wrong, 0);
	assert_true(refused > 0);
}

static void test_sample(void **state)
{
	const char *sample = getenv("DUMP");

	(void)state;
	if (!sample) {
		skip();
		return;
	}
	try_dump(sample, hostile_is_long() ? UINT_MAX : 16);
}

/* A small dump with Android heaps, so that more blocks are tried. */
static void test_android(void **state)
{
	char path[512];
	struct hw w;

	(void)state;
	hostile_path(path, sizeof(path), "qflips.hprof");
	hostile_dump(&w, HOSTILE_ANDROID, 300);
	assert_int_equal(hw_save(&w, path), 0);
	hw_release(&w);
	try_dump(path, hostile_is_long() ? UINT_MAX : 64);
	(void)unlink(path);
}

static int setup(void **state)
{
	(void)state;
	hostile_path(db_path, sizeof(db_path), "qflips.heapdb");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_android),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

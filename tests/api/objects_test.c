/*
 * tests/api/objects_test.c - objects, classes, values and references by number, on the sample dump.
 * The results of each function are compared with those of another.
 */
#include "heapdb.h"

#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct hdb *db;
static char db_path[512];
static struct hdb_error err;

#define ok(call) \
	do { \
		err.message[0] = '\0'; \
		const int result_ = (call); \
		if (result_ != HDB_OK) \
			fail_msg("%s: %d %s", #call, result_, err.message); \
	} while (0)

static int start(void **state)
{
	const char *dump = getenv("DUMP");
	const struct hdb_import_options opt = { .force = 1 };

	(void)state;
	snprintf(db_path, sizeof(db_path), "%s", temp_path("o.heapdb"));
	if (!dump || hdb_import(dump, db_path, &opt, NULL, &err) != HDB_OK ||
	    hdb_open(db_path, NULL, &db, &err) != HDB_OK) {
		print_error("%s\n", err.message);
		return -1;
	}
	return 0;
}

static int clean(void **state)
{
	(void)state;
	hdb_close(db);
	temp_remove_db(db_path);
	return 0;
}

/* Counts the objects that refer to an object: all objects, or only reachable objects. */
static uint64_t referrers_of(uint32_t ix, int only_reachable)
{
	struct hdb_list *list;
	const uint32_t *ixs;
	uint64_t sum = 0;
	size_t count;

	ok(hdb_list_open(db, HDB_REFERRERS, &list, &err));
	ok(hdb_list_begin(list, ix, NULL, &err));
	do {
		ok(hdb_list_next(list, &ixs, &count, &err));
		for (size_t i = 0; i < count; i++) {
			int reachable = 1;

			if (only_reachable)
				ok(hdb_reachable_at(db, ixs[i], &reachable, &err));
			sum += reachable != 0;
		}
	} while (count);
	hdb_list_close(list);
	return sum;
}

/* Lists the objects that a scan returns. Each value in a batch is compared with a look-up. */
static size_t scan_all(const struct hdb_scan_options *opt, uint32_t *out)
{
	struct hdb_scan *scan;
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	size_t n = 0;
	int r;

	ok(hdb_scan_open(db, opt, &scan, &err));
	while ((r = hdb_scan_next(scan, &batch, &err)) == HDB_OK) {
		assert_true(batch.count > 0);
		for (size_t i = 0; i < batch.count; i++) {
			struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
			int reachable;

			ok(hdb_object_at(db, batch.ix[i], &facts, &err));
			assert_true(facts.is_real);
			assert_int_equal(facts.class_no, batch.class_no[i]);
			assert_int_equal(facts.kind, batch.kind[i]);
			assert_int_equal(facts.shallow_bytes, batch.shallow_bytes[i]);
			if (facts.kind == HDB_KIND_CLASS)
				assert_int_equal(facts.stands_for, batch.length[i]);
			else if (facts.kind != HDB_KIND_INSTANCE)
				assert_int_equal(facts.length, batch.length[i]);
			if (batch.id)
				assert_int_equal(facts.id, batch.id[i]);
			if (batch.reachable) {
				ok(hdb_reachable_at(db, batch.ix[i], &reachable, &err));
				assert_int_equal(reachable, batch.reachable[i]);
			}
			if (batch.retained_bytes) {
				uint64_t bytes;

				ok(hdb_retained_at(db, batch.ix[i], &bytes, &err));
				assert_int_equal(bytes, batch.retained_bytes[i]);
			}
			if (batch.dominator) {
				uint32_t dominator;
				const int found =
					hdb_dominator_at(db, batch.ix[i], &dominator, &err);

				assert_int_equal(batch.dominator[i], dominator);
				assert_int_equal(found,
						 dominator == batch.ix[i] ? HDB_NOTFOUND : HDB_OK);
			}
			if (batch.referrers)
				assert_int_equal(
					batch.referrers[i],
					referrers_of(batch.ix[i],
						     opt->columns & HDB_SCAN_REACHABLE_REFERRERS));
			out[n++] = batch.ix[i];
		}
	}
	assert_int_equal(r, HDB_END);
	hdb_scan_close(scan);
	return n;
}

static void test_scan(void **state)
{
	const uint32_t all = hdb_object_count(db);
	uint32_t *some = calloc(all, 4), *other = calloc(all, 4);
	uint8_t *marks = calloc(hdb_class_count(db), 1);
	struct hdb_scan_options opt = { .columns = HDB_SCAN_ID | HDB_SCAN_REACHABLE |
						   HDB_SCAN_RETAINED | HDB_SCAN_DOMINATOR };
	size_t n, m, reachable, unreachable;

	(void)state;
	n = scan_all(&opt, some);
	assert_int_equal(n, 31512);
	opt.descending = 1;
	m = scan_all(&opt, other);
	assert_int_equal(m, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(some[i], other[n - 1 - i]);
	opt = (struct hdb_scan_options){ .population = 1 };
	reachable = scan_all(&opt, other);
	opt.population = -1;
	unreachable = scan_all(&opt, other);
	assert_int_equal(reachable + unreachable, n);
	opt = (struct hdb_scan_options){ .from_ix = some[100],
					 .end_ix = some[200],
					 .columns = HDB_SCAN_OFFSET };
	assert_int_equal(scan_all(&opt, other), 100);
	assert_memory_equal(other, some + 100, 400);
	opt = (struct hdb_scan_options){ .kinds = 1u << HDB_KIND_CLASS };
	assert_int_equal(scan_all(&opt, other), 1034);
	ok(hdb_classes_like(db, "java.util.HashMap", 1, marks, &err));
	assert_int_equal(marks[hdb_class_named(db, "java.util.HashMap", 0)], 1);
	assert_int_equal(marks[hdb_class_named(db, "java.util.LinkedHashMap", 0)], 2);
	assert_int_equal(marks[hdb_class_named(db, "java.lang.String", 0)], 0);
	opt = (struct hdb_scan_options){ .columns = HDB_SCAN_REFERRERS, .classes = marks };
	opt.descending = 1;
	m = scan_all(&opt, other);
	opt.columns |= HDB_SCAN_REACHABLE_REFERRERS;
	opt.descending = 0;
	assert_int_equal(scan_all(&opt, other), m);
	for (size_t i = 0, at = 0; i < n; i++) {
		struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

		ok(hdb_object_at(db, some[i], &facts, &err));
		if (!marks[facts.class_no])
			continue;
		assert_true(at < m);
		assert_int_equal(other[at++], some[i]);
	}
	assert_int_equal(hdb_classes_like(db, "no.such.Class", 1, marks, &err), HDB_NOTFOUND);
	assert_int_equal(marks[hdb_class_named(db, "java.util.HashMap", 0)], 0);
	assert_int_equal(hdb_object_at(db, all, &(struct hdb_object_facts){ 0 }, &err), HDB_EUSAGE);
	free(some);
	free(other);
	free(marks);
}

/* Finds a field of a class by name. The caller frees *fields. */
static const struct hdb_field *field_of(const char *class_name, const char *name,
					struct hdb_fields **fields)
{
	size_t count;

	ok(hdb_class_fields(db, hdb_class_named(db, class_name, 0), fields, &count, &err));
	for (size_t i = 0; i < count; i++)
		if (strcmp(hdb_field_at(*fields, i)->name, name) == 0)
			return hdb_field_at(*fields, i);
	assert_null(hdb_field_at(*fields, count));
	fail_msg("%s has no field %s", class_name, name);
	return NULL;
}

/* Fields of a class are found in instances of its subclasses, too. */
static void test_fields(void **state)
{
	uint8_t *marks = calloc(hdb_class_count(db), 1);
	struct hdb_scan_options opt = { .classes = marks };
	struct hdb_fields *fields;
	const struct hdb_field *size = field_of("java.util.HashMap", "size", &fields), *inherited;
	struct hdb_scan *scan;
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	uint32_t entries = 0, subclasses = 0;

	(void)state;
	assert_int_equal(size->type, HDB_BASIC_INT);
	ok(hdb_classes_like(db, "java.util.HashMap", 1, marks, &err));
	ok(hdb_scan_open(db, &opt, &scan, &err));
	while (hdb_scan_next(scan, &batch, &err) == HDB_OK) {
		for (size_t i = 0; i < batch.count; i++) {
			struct hdb_basic value, path;
			struct hdb_collection c = { .struct_size = sizeof(c) };
			struct hdb_entries *e;
			struct hdb_entry entry = { .struct_size = sizeof(entry) };

			ok(hdb_field_value(db, batch.ix[i], size, &value, &err));
			ok(hdb_path_value(db, batch.ix[i], "size", &path, &err));
			assert_int_equal(value.i, path.i);
			ok(hdb_collection_at(db, batch.ix[i], &c, &err));
			assert_string_equal(c.kind, "map");
			assert_int_equal(c.size, value.i);
			ok(hdb_entries_open(db, batch.ix[i], &e, &err));
			while (hdb_entries_next(e, &entry, &err) == HDB_OK) {
				assert_true(entry.has_key);
				value.i--;
				entries++;
			}
			assert_int_equal(value.i, 0);
			hdb_entries_close(e);
			subclasses += marks[batch.class_no[i]] == 2;
		}
	}
	assert_true(entries > 100 && subclasses > 0);
	hdb_scan_close(scan);
	hdb_fields_free(fields);
	inherited = field_of("java.util.LinkedHashMap", "size", &fields);
	assert_string_equal(hdb_class_name(db, inherited->declaring_no), "java.util.HashMap");
	hdb_fields_free(fields);
	free(marks);
}

/* A scan returns the same field values as look-ups, in both orders. */
static void test_scanned_fields(void **state)
{
	struct hdb_scan_options opt = { .columns = HDB_SCAN_FIELDS };
	uint32_t read = 0;

	(void)state;
	for (; opt.descending < 2; opt.descending++) {
		struct hdb_scan *scan;
		struct hdb_batch batch = { .struct_size = sizeof(batch) };
		int r;

		ok(hdb_scan_open(db, &opt, &scan, &err));
		while ((r = hdb_scan_next(scan, &batch, &err)) == HDB_OK) {
			struct hdb_basic value = { 0 }, looked_up = { 0 };
			struct hdb_fields *fields;
			size_t count;

			for (size_t i = 0; i < batch.count; i += 7) {
				ok(hdb_class_fields(db, batch.class_no[i], &fields, &count, &err));
				for (size_t f = 0; f < count; f++) {
					r = hdb_scan_field(scan, i, hdb_field_at(fields, f), &value,
							   &err);
					assert_int_equal(hdb_field_value(db, batch.ix[i],
									 hdb_field_at(fields, f),
									 &looked_up, &err),
							 r);
					if (r != HDB_OK)
						continue;
					assert_memory_equal(&value, &looked_up, sizeof(value));
					read++;
				}
				hdb_fields_free(fields);
			}
			assert_int_equal(hdb_scan_field(scan, batch.count, NULL, &value, &err),
					 HDB_EUSAGE);
		}
		assert_int_equal(r, HDB_END);
		hdb_scan_close(scan);
	}
	assert_true(read > 10000);
}

static void test_statics_and_basics(void **state)
{
	const uint32_t no = hdb_class_named(db, "java.lang.Integer", 0);
	struct hdb_fields *fields;
	struct hdb_basic value;
	bool found = false;
	size_t count;

	(void)state;
	ok(hdb_class_statics(db, no, &fields, &count, &err));
	for (size_t i = 0; i < count; i++) {
		if (strcmp(hdb_field_at(fields, i)->name, "MIN_VALUE") != 0)
			continue;
		assert_true(hdb_field_at(fields, i)->value.i == INT32_MIN);
		found = true;
	}
	assert_true(found);
	hdb_fields_free(fields);
	hdb_basic_of(HDB_BASIC_BYTE, 0xff, &value);
	assert_int_equal(value.i, -1);
	hdb_basic_of(HDB_BASIC_CHAR, 0xffff, &value);
	assert_int_equal(value.i, 0xffff);
	hdb_basic_of(HDB_BASIC_FLOAT, 0x3fc00000, &value);
	assert_true(value.d == 1.5);
}

/* Strings have the same text as the arrays that contain their characters. */
static void test_texts(void **state)
{
	const struct hdb_scan_options all = { 0 };
	struct hdb_scan *scan;
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	uint32_t strings = 0;

	(void)state;
	ok(hdb_scan_open(db, &all, &scan, &err));
	while (hdb_scan_next(scan, &batch, &err) == HDB_OK) {
		for (size_t i = 0; i < batch.count && strings < 500; i++) {
			char text[4096], chars[4096];
			struct hdb_basic coder, value;
			uint64_t units, length;
			uint32_t array;

			if (!hdb_is_string(db, batch.ix[i]) ||
			    hdb_text(db, batch.ix[i], text, sizeof(text), &units, &err) != HDB_OK)
				continue;
			ok(hdb_path_value(db, batch.ix[i], "coder", &coder, &err));
			ok(hdb_path_value(db, batch.ix[i], "value", &value, &err));
			ok(hdb_find(db, value.id, &array, &err));
			ok(hdb_text(db, array, chars, sizeof(chars), &length, &err));
			if (coder.i || strlen(text) != units || units >= sizeof(text))
				continue;
			strings++;
			assert_int_equal(length, units);
			assert_memory_equal(text, chars, strlen(chars));
		}
	}
	assert_int_equal(strings, 500);
	hdb_scan_close(scan);
}

/*
 * The parent of a child is its dominator, referrers refer to the object, and paths to roots end at
 * roots.
 */
static void test_lists(void **state)
{
	struct hdb_list *children, *referrers, *references;
	uint32_t edges = 0;

	(void)state;
	ok(hdb_need(db, HDB_NEED_CHILDREN | HDB_NEED_STRONG, &err));
	assert_true(hdb_has(db) & HDB_NEED_CHILDREN);
	ok(hdb_list_open(db, HDB_DOMINATED, &children, &err));
	ok(hdb_list_open(db, HDB_REFERRERS, &referrers, &err));
	ok(hdb_list_open(db, HDB_REFERENCES, &references, &err));
	for (uint32_t ix = 1; ix < hdb_object_count(db); ix += 7) {
		const uint32_t *ixs;
		size_t count;

		ok(hdb_list_begin(children, ix, NULL, &err));
		ok(hdb_list_next(children, &ixs, &count, &err));
		for (size_t i = 0; i < count; i++) {
			uint32_t dominator;

			ok(hdb_dominator_at(db, ixs[i], &dominator, &err));
			assert_int_equal(dominator, ix);
		}
		ok(hdb_list_begin(referrers, ix, NULL, &err));
		ok(hdb_list_next(referrers, &ixs, &count, &err));
		for (size_t i = 0; i < count && i < 3; i++) {
			const uint32_t *targets, from = ixs[i];
			bool refers = false;
			char name[256];
			size_t n;

			ok(hdb_list_begin(references, from, NULL, &err));
			do {
				ok(hdb_list_next(references, &targets, &n, &err));
				for (size_t k = 0; k < n; k++)
					refers |= targets[k] == ix;
			} while (n);
			assert_true(refers);
			ok(hdb_holder(db, from, ix, name, sizeof(name), &err));
			assert_true(name[0]);
			edges++;
		}
		for (uint32_t at = ix, steps = 0; at != HDB_NONE; steps++) {
			uint64_t first, roots;
			uint32_t parent;
			const int r = hdb_parent_at(db, at, 0, &parent, &err);

			if (r == HDB_NOTFOUND && at == ix)
				break;
			assert_int_equal(r, HDB_OK);
			assert_true(steps < 10000);
			if (parent == HDB_NONE) {
				ok(hdb_roots_of(db, at, &first, &roots, &err));
				assert_true(roots > 0);
			}
			at = parent;
		}
	}
	assert_true(edges > 1000);
	hdb_list_close(children);
	hdb_list_close(referrers);
	hdb_list_close(references);
}

/*
 * Counts by class equal the counts of a scan, both before the table of totals exists and when they
 * are read from it.
 */
static void test_counts(void **state)
{
	const uint32_t n = hdb_class_count(db);
	struct hdb_class_count *counts = calloc(n, sizeof(*counts)),
			       *sums = calloc(n, sizeof(*sums));
	const struct hdb_scan_options opt = { .columns = HDB_SCAN_REACHABLE };
	const struct hdb_query_args args = { 0 };
	struct hdb_rows *rows;
	struct hdb_scan *scan;
	struct hdb_batch b = { .struct_size = sizeof(b) };

	(void)state;
	ok(hdb_scan_open(db, &opt, &scan, &err));
	while (hdb_scan_next(scan, &b, &err) == HDB_OK)
		for (size_t i = 0; i < b.count; i++) {
			struct hdb_class_count *sum = &sums[b.class_no[i]];

			sum->objects++;
			sum->shallow_bytes += b.shallow_bytes[i];
			sum->reachable_objects += b.reachable[i];
			sum->reachable_shallow_bytes += b.reachable[i] ? b.shallow_bytes[i] : 0;
		}
	hdb_scan_close(scan);
	ok(hdb_class_counts(db, 1, counts, &err));
	assert_memory_equal(counts, sums, n * sizeof(*counts));
	ok(hdb_query(db, "histogram", &args, &rows, &err)); /* builds the table */
	hdb_rows_close(rows);
	ok(hdb_class_counts(db, 1, counts, &err));
	assert_memory_equal(counts, sums, n * sizeof(*counts));
	ok(hdb_class_counts(db, 0, counts, &err));
	for (uint32_t no = 0; no < n; no++) {
		assert_int_equal(counts[no].objects, sums[no].objects);
		assert_int_equal(counts[no].shallow_bytes, sums[no].shallow_bytes);
		assert_int_equal(counts[no].reachable_objects, 0);
	}
	free(counts);
	free(sums);
}

/*
 * A set retains at least as much as its topmost members. A set of one object retains as much as the
 * object.
 */
static void test_sets(void **state)
{
	uint32_t members[300];
	struct hdb_set sets[20];
	uint64_t sums[20] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 300; i++)
		members[i] = 1 + i * 100;
	for (unsigned s = 0; s < 20; s++) {
		sets[s] = (struct hdb_set){ .ixs = members + s * 15, .count = 15 };
		if (s == 3)
			sets[s].count = 1;
		if (s == 4)
			sets[s].count = 0;
	}
	ok(hdb_retained_sets(db, sets, 20, &err));
	for (unsigned s = 0; s < 20; s++) {
		uint64_t most = 0;

		for (size_t i = 0; i < sets[s].count; i++) {
			uint64_t bytes;

			ok(hdb_retained_at(db, sets[s].ixs[i], &bytes, &err));
			sums[s] += bytes;
			most = bytes > most ? bytes : most;
		}
		assert_true(sets[s].retained_bytes >= most);
		if (sets[s].count <= 1)
			assert_int_equal(sets[s].retained_bytes, sums[s]);
	}
}

/*
 * The number and the total size of the marked objects equal the retained count and size of the set.
 */
static void test_marks(void **state)
{
	uint64_t *bits = calloc(hdb_object_count(db) / 64 + 1, sizeof(bits[0]));
	uint32_t members[60];
	struct hdb_set set = { .ixs = members, .count = 60 };
	uint64_t bytes = 0, count = 0;

	(void)state;
	for (uint32_t i = 0; i < 60; i++)
		members[i] = 6001 - i * 100;
	ok(hdb_retained_sets(db, &set, 1, &err));
	ok(hdb_retained_marks(db, &set, bits, &err));
	for (uint32_t ix = 0; ix < hdb_object_count(db); ix++) {
		struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

		if (!(bits[ix / 64] >> (ix % 64) & 1))
			continue;
		ok(hdb_object_at(db, ix, &facts, &err));
		bytes += facts.is_real ? facts.shallow_bytes : 0;
		count += facts.is_real != 0;
	}
	assert_int_equal(count, set.retained_count);
	assert_int_equal(bytes, set.retained_bytes);
	members[0] = hdb_object_count(db);
	assert_int_equal(hdb_retained_marks(db, &set, bits, &err), HDB_EUSAGE);
	free(bits);
}

static void test_threads(void **state)
{
	uint64_t roots, locals = 0;
	uint32_t frames = 0;
	bool has_main = false;

	(void)state;
	ok(hdb_root_count(db, &roots, &err));
	assert_true(roots > 0);
	for (uint64_t i = 0; i < roots; i++) {
		struct hdb_root root = { .struct_size = sizeof(root) };

		ok(hdb_root_at(db, i, &root, &err));
		assert_true(root.kind[0]);
		locals += root.is_local != 0;
	}
	assert_true(locals > 0);
	for (uint64_t i = 0; i < hdb_thread_count(db); i++) {
		struct hdb_thread thread = { .struct_size = sizeof(thread) };

		ok(hdb_thread_at(db, i, &thread, &err));
		has_main |= strcmp(thread.name, "main") == 0;
		for (uint32_t depth = 0; depth < thread.frame_count; depth++) {
			struct hdb_frame frame = { .struct_size = sizeof(frame) };

			ok(hdb_frame_at(db, thread.trace_serial, depth, &frame, &err));
			assert_true(frame.method[0]);
			frames++;
		}
	}
	assert_true(has_main);
	assert_true(frames > 5);
	assert_int_equal(hdb_root_at(db, roots, &(struct hdb_root){ 0 }, &err), HDB_EUSAGE);
}

/* Invalid numbers and sizes give a default result or an error. */
static void test_senseless(void **state)
{
	const struct hdb_row_source no_source = { 0 };
	struct ArrowArrayStream stream;
	char name[8];

	(void)state;
	assert_int_equal(hdb_is_subclass(db, 0, UINT32_MAX), 0);
	assert_int_equal(hdb_is_subclass(db, UINT32_MAX, 0), 0);
	assert_int_equal(hdb_is_subclass(db, 0, 0), 1);
	assert_int_equal(hdb_heap_name(db, 0, name, 0, &err), HDB_EUSAGE);
	assert_int_equal(hdb_source_arrow(&no_source, 0, &stream, &err), HDB_EUSAGE);
}

/* ---- NULL ---- */

/* With a message that names the function, and without a message. */
#define refuses(call) \
	do { \
		err.message[0] = '\0'; \
		assert_int_equal((call), HDB_EUSAGE); \
		assert_int_equal(strncmp(err.message, #call, strcspn(#call, "(")), 0); \
	} while (0)

/*
 * Functions of dumps, databases and objects that need pointers, each called with one of them NULL.
 */
static void test_nulls(void **state)
{
	const struct hdb_scan_options fields = { .columns = HDB_SCAN_FIELDS, .end_ix = 1 };
	struct hdb_slice slice = { .room = 1 };
	struct hdb_set set = { .ixs = NULL, .count = 1 };
	struct hdb_health health = { .stale = "x" };
	struct hdb_field field = { 0 };
	struct hdb_collection collection = { .struct_size = sizeof(collection) };
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	struct hdb_object_info info = { .struct_size = sizeof(info) };
	struct hdb_entries *entries;
	struct hdb_thread thread = { .struct_size = sizeof(thread) };
	struct hdb_text text = { .struct_size = sizeof(text) };
	struct hdb_frame frame = { .struct_size = sizeof(frame) };
	struct hdb_class class = { .struct_size = sizeof(class) };
	struct hdb_basic basic;
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	struct hdb_fields *list;
	struct hdb_root root = { .struct_size = sizeof(root) };
	struct hdb_scan *scan;
	struct hdb_list *refs;
	struct hdb_references *named;
	const struct hdb_reference *reference;
	const uint32_t *ixs;
	uint64_t n, bits[1];
	uint8_t marks[1];
	unsigned strength;
	char buf[8];
	uint32_t ix;
	size_t size;
	int is;

	(void)state;
	refuses(hdb_import(NULL, db_path, NULL, NULL, &err));
	refuses(hdb_import_again(NULL, NULL, NULL, NULL, &err));
	refuses(hdb_default_path(NULL, buf, sizeof(buf), &err));
	refuses(hdb_default_path("x", NULL, sizeof(buf), &err));
	refuses(hdb_convert(NULL, "x", NULL, NULL, &err));
	refuses(hdb_convert("x", NULL, NULL, NULL, &err));
	refuses(hdb_strip(NULL, "x", NULL, NULL, &err));
	refuses(hdb_strip("x", NULL, NULL, NULL, &err));
	refuses(hdb_redact(NULL, "x", NULL, NULL, &err));
	refuses(hdb_redact("x", NULL, NULL, NULL, &err));
	refuses(hdb_open(NULL, NULL, &db, &err));
	refuses(hdb_open(db_path, NULL, NULL, &err));
	assert_int_equal(hdb_open(db_path, NULL, NULL, NULL), HDB_EUSAGE);
	refuses(hdb_failed(NULL, &err));
	assert_int_equal(hdb_failed(db, NULL), HDB_OK);
	hdb_health(db, NULL);
	hdb_health(NULL, &health);
	assert_null(health.stale);
	assert_int_equal(hdb_dump_fingerprint(NULL), 0);
	assert_true(hdb_dump_fingerprint(db) != 0);
	refuses(hdb_dump_read(NULL, 0, buf, 1, &size, &err));
	refuses(hdb_dump_read(db, 0, NULL, 1, &size, &err));
	refuses(hdb_dump_read(db, 0, buf, 1, NULL, &err));
	refuses(hdb_object(NULL, 1, &info, &err));
	refuses(hdb_object(db, 1, NULL, &err));
	refuses(hdb_retained(NULL, 1, &n, &err));
	refuses(hdb_retained(db, 1, NULL, &err));
	assert_int_equal(hdb_object_count(NULL) + hdb_class_count(NULL), 0);
	refuses(hdb_find(NULL, 1, &ix, &err));
	refuses(hdb_find(db, 1, NULL, &err));
	refuses(hdb_object_at(NULL, 1, &facts, &err));
	refuses(hdb_object_at(db, 1, NULL, &err));
	refuses(hdb_need(NULL, HDB_NEED_REACHABLE, &err));
	assert_int_equal(hdb_has(NULL), 0);
	refuses(hdb_reachable_at(NULL, 1, &is, &err));
	refuses(hdb_reachable_at(db, 1, NULL, &err));
	refuses(hdb_retained_at(NULL, 1, &n, &err));
	refuses(hdb_retained_at(db, 1, NULL, &err));
	refuses(hdb_dominator_at(NULL, 1, &ix, &err));
	refuses(hdb_dominator_at(db, 1, NULL, &err));
	refuses(hdb_parent_at(NULL, 1, 0, &ix, &err));
	refuses(hdb_parent_at(db, 1, 0, NULL, &err));
	refuses(hdb_scan_open(NULL, NULL, &scan, &err));
	refuses(hdb_scan_open(db, NULL, NULL, &err));
	ok(hdb_scan_open(db, &fields, &scan, &err));
	refuses(hdb_scan_next(NULL, &batch, &err));
	refuses(hdb_scan_next(scan, NULL, &err));
	refuses(hdb_scan_field(NULL, 0, &field, &basic, &err));
	refuses(hdb_scan_field(scan, 0, NULL, &basic, &err));
	refuses(hdb_scan_field(scan, 0, &field, NULL, &err));
	hdb_scan_close(scan);
	hdb_scan_close(NULL);

	refuses(hdb_class_at(NULL, 0, &class, &err));
	refuses(hdb_class_at(db, 0, NULL, &err));
	assert_string_equal(hdb_class_name(NULL, 0), "");
	assert_int_equal(hdb_class_named(NULL, "x", 0), HDB_NONE);
	assert_int_equal(hdb_class_named(db, NULL, 0), HDB_NONE);
	refuses(hdb_classes_like(NULL, "x", 0, marks, &err));
	refuses(hdb_classes_like(db, NULL, 0, marks, &err));
	refuses(hdb_classes_like(db, "x", 0, NULL, &err));
	assert_int_equal(hdb_is_subclass(NULL, 0, 0), 0);
	refuses(hdb_class_fields(NULL, 0, &list, &size, &err));
	refuses(hdb_class_fields(db, 0, NULL, &size, &err));
	refuses(hdb_class_fields(db, 0, &list, NULL, &err));
	refuses(hdb_class_statics(NULL, 0, &list, &size, &err));
	refuses(hdb_class_statics(db, 0, NULL, &size, &err));
	refuses(hdb_class_statics(db, 0, &list, NULL, &err));
	hdb_fields_free(NULL);
	refuses(hdb_field_value(NULL, 1, &field, &basic, &err));
	refuses(hdb_field_value(db, 1, NULL, &basic, &err));
	refuses(hdb_field_value(db, 1, &field, NULL, &err));
	refuses(hdb_path_value(NULL, 1, "x", &basic, &err));
	refuses(hdb_path_value(db, 1, NULL, &basic, &err));
	refuses(hdb_path_value(db, 1, "x", NULL, &err));
	refuses(hdb_elements(NULL, 1, &slice, &err));
	refuses(hdb_elements(db, 1, NULL, &err));
	refuses(hdb_elements(db, 1, &slice, &err));
	hdb_basic_of(HDB_BASIC_INT, 1, NULL);
	refuses(hdb_text(NULL, 1, buf, sizeof(buf), NULL, &err));
	refuses(hdb_text(db, 1, NULL, sizeof(buf), NULL, &err));
	refuses(hdb_read_text(NULL, 1, 100, &text, &err));
	refuses(hdb_read_text(db, 1, 100, NULL, &err));
	assert_int_equal(hdb_is_string(NULL, 1), 0);

	refuses(hdb_list_open(NULL, HDB_REFERENCES, &refs, &err));
	refuses(hdb_list_open(db, HDB_REFERENCES, NULL, &err));
	ok(hdb_list_open(db, HDB_REFERENCES, &refs, &err));
	refuses(hdb_list_begin(NULL, 1, NULL, &err));
	refuses(hdb_list_next(NULL, &ixs, &size, &err));
	refuses(hdb_list_next(refs, NULL, &size, &err));
	refuses(hdb_list_next(refs, &ixs, NULL, &err));
	hdb_list_close(refs);
	hdb_list_close(NULL);
	refuses(hdb_references_open(NULL, NULL, &named, &err));
	refuses(hdb_references_open(db, NULL, NULL, &err));
	ok(hdb_references_open(db, NULL, &named, &err));
	refuses(hdb_references_classes(NULL, marks, &err));
	refuses(hdb_references_classes(named, NULL, &err));
	refuses(hdb_references_begin(NULL, 1, HDB_NONE, &err));
	assert_int_equal(hdb_references_begin(named, HDB_NONE, 1, &err), HDB_EUSAGE);
	assert_int_equal(hdb_references_begin(named, 1, HDB_NONE - 1, &err), HDB_EUSAGE);
	refuses(hdb_references_next(NULL, &reference, &err));
	refuses(hdb_references_next(named, NULL, &err));
	hdb_references_close(named);
	hdb_references_close(NULL);
	refuses(hdb_holder(NULL, 1, 2, buf, sizeof(buf), &err));
	refuses(hdb_holder(db, 1, 2, NULL, sizeof(buf), &err));
	refuses(hdb_strength(NULL, 1, 2, &strength, &err));
	refuses(hdb_strength(db, 1, 2, NULL, &err));
	assert_string_equal(hdb_strength_name(99), "strong");
	refuses(hdb_retained_sets(NULL, &set, 1, &err));
	refuses(hdb_retained_sets(db, NULL, 1, &err));
	assert_int_equal(hdb_retained_sets(db, &set, 1, NULL), HDB_EUSAGE);
	refuses(hdb_retained_marks(NULL, &set, bits, &err));
	refuses(hdb_retained_marks(db, NULL, bits, &err));
	refuses(hdb_retained_marks(db, &set, NULL, &err));
	assert_int_equal(hdb_retained_marks(db, &set, bits, NULL), HDB_EUSAGE);
	refuses(hdb_collection_at(NULL, 1, &collection, &err));
	refuses(hdb_collection_at(db, 1, NULL, &err));
	refuses(hdb_entries_open(NULL, 1, &entries, &err));
	refuses(hdb_entries_open(db, 1, NULL, &err));
	refuses(hdb_entries_next(NULL, &(struct hdb_entry){ 0 }, &err));
	hdb_entries_close(NULL);
	refuses(hdb_root_count(NULL, &n, &err));
	refuses(hdb_root_count(db, NULL, &err));
	refuses(hdb_root_at(NULL, 0, &root, &err));
	refuses(hdb_root_at(db, 0, NULL, &err));
	refuses(hdb_roots_of(NULL, 1, &n, &n, &err));
	refuses(hdb_roots_of(db, 1, NULL, &n, &err));
	refuses(hdb_roots_of(db, 1, &n, NULL, &err));
	assert_int_equal(hdb_thread_count(NULL) + hdb_heap_count(NULL), 0);
	refuses(hdb_thread_at(NULL, 0, &thread, &err));
	refuses(hdb_thread_at(db, 0, NULL, &err));
	refuses(hdb_frame_at(NULL, 1, 0, &frame, &err));
	refuses(hdb_frame_at(db, 1, 0, NULL, &err));
	refuses(hdb_heap_name(NULL, 0, buf, sizeof(buf), &err));
	refuses(hdb_heap_name(db, 0, NULL, sizeof(buf), &err));
	hdb_close(NULL);
}

/* Functions of queries and rows. */
static void test_null_rows(void **state)
{
	static const char *const no_target[] = { NULL };
	static const struct hdb_option no_name[] = { { NULL, NULL } };
	static struct hdb *const no_db[] = { NULL };
	static const struct hdb_row_filter no_test = { .text = "x" };
	static const struct hdb_query_args lacking[] = {
		{ .struct_size = sizeof(lacking[0]), .target_count = 1 },
		{ .struct_size = sizeof(lacking[0]), .targets = no_target, .target_count = 1 },
		{ .struct_size = sizeof(lacking[0]), .id_count = 1 },
		{ .struct_size = sizeof(lacking[0]), .option_count = 1 },
		{ .struct_size = sizeof(lacking[0]), .options = no_name, .option_count = 1 },
		{ .struct_size = sizeof(lacking[0]), .before_count = 1 },
		{ .struct_size = sizeof(lacking[0]), .before = no_db, .before_count = 1 },
		{ .struct_size = sizeof(lacking[0]), .filter = &no_test },
	};
	const struct hdb_row_source source = { .column_count = 1 };
	struct ArrowArrayStream stream;
	struct hdb_rows *rows;
	uint64_t n;

	(void)state;
	assert_non_null(hdb_query_at(hdb_query_count() - 1));
	assert_null(hdb_query_at(SIZE_MAX));
	assert_null(hdb_query_option(NULL, 0));
	assert_null(hdb_query_column(NULL, 0));
	assert_non_null(hdb_query_fact(NULL, 0));
	assert_null(hdb_query_fact(NULL, SIZE_MAX));
	assert_null(hdb_field_at(NULL, 0));
	assert_null(hdb_query_named(NULL));
	refuses(hdb_query(NULL, "top", NULL, &rows, &err));
	refuses(hdb_query(db, NULL, NULL, &rows, &err));
	refuses(hdb_query(db, "top", NULL, NULL, &err));
	for (size_t i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++)
		refuses(hdb_query(db, "top", &lacking[i], &rows, &err));
	ok(hdb_query(db, "top", NULL, &rows, &err));
	assert_int_equal(hdb_rows_column_count(NULL) + hdb_rows_fact_count(NULL), 0);
	assert_null(hdb_rows_column(NULL, 0));
	assert_null(hdb_rows_column(rows, SIZE_MAX));
	assert_true(hdb_rows_find_column(NULL, "id") == SIZE_MAX);
	assert_true(hdb_rows_find_column(rows, NULL) == SIZE_MAX);
	refuses(hdb_rows_next(NULL, &err));
	ok(hdb_rows_next(rows, &err));
	assert_null(hdb_rows_value(NULL, 0));
	assert_int_equal(hdb_rows_value(rows, SIZE_MAX)->type, HDB_TYPE_NULL);
	assert_int_equal(hdb_rows_u64(NULL, 0), 0);
	assert_int_equal(hdb_rows_i64(NULL, 0), 0);
	assert_true(hdb_rows_double(NULL, 0) == 0);
	assert_null(hdb_rows_text(NULL, 0));
	assert_int_equal(hdb_rows_is_null(NULL, 0), 1);
	refuses(hdb_rows_total(NULL, &n, &err));
	refuses(hdb_rows_total(rows, NULL, &err));
	assert_null(hdb_rows_fact_column(NULL, 0));
	assert_null(hdb_rows_fact_column(rows, SIZE_MAX));
	assert_null(hdb_rows_fact_value(NULL, 0));
	assert_null(hdb_rows_find_fact(NULL, "x"));
	assert_null(hdb_rows_find_fact(rows, NULL));
	refuses(hdb_rows_arrow(NULL, 0, &stream, &err));
	refuses(hdb_rows_arrow(rows, 0, NULL, &err));
	refuses(hdb_source_arrow(NULL, 0, &stream, &err));
	refuses(hdb_source_arrow(&source, 0, NULL, &err));
	assert_int_equal(hdb_source_arrow(&source, 0, &stream, NULL), HDB_EUSAGE);
	hdb_rows_close(rows);
	hdb_rows_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan),      cmocka_unit_test(test_fields),
		cmocka_unit_test(test_texts),     cmocka_unit_test(test_statics_and_basics),
		cmocka_unit_test(test_lists),     cmocka_unit_test(test_counts),
		cmocka_unit_test(test_sets),      cmocka_unit_test(test_marks),
		cmocka_unit_test(test_threads),   cmocka_unit_test(test_scanned_fields),
		cmocka_unit_test(test_senseless), cmocka_unit_test(test_nulls),
		cmocka_unit_test(test_null_rows),
	};

	return cmocka_run_group_tests(tests, start, clean);
}

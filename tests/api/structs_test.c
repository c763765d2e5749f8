/*
 * tests/api/structs_test.c - structures of programs that were compiled with an earlier or a later
 * header: the library reads and writes nothing beyond their struct_size.
 */
#include "heapdb.h"

#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LATER 40  /* bytes of members of a later header */
#define GUARD 64  /* bytes after the structure */
#define FILL 0xa5 /* value of these bytes */

static struct hdb *db;
static struct hdb_error err;
static char db_path[512];

static int start(void **state)
{
	const char *dump = getenv("DUMP");
	const struct hdb_import_options opt = { .force = 1 };

	(void)state;
	snprintf(db_path, sizeof(db_path), "%s", temp_path("s.heapdb"));
	return dump && hdb_import(dump, db_path, &opt, NULL, &err) == HDB_OK &&
			       hdb_open(db_path, NULL, &db, &err) == HDB_OK ?
		       0 :
		       -1;
}

static int clean(void **state)
{
	(void)state;
	hdb_close(db);
	temp_remove_db(db_path);
	return 0;
}

static bool all_are(const unsigned char *p, size_t count, unsigned char value)
{
	for (size_t i = 0; i < count; i++)
		if (p[i] != value)
			return false;
	return true;
}

/* A call that fills in the structure `to`. */
typedef int call_fn(void *to);

static int call_thread(void *to)
{
	return hdb_thread_at(db, 0, to, &err);
}

static int call_frame(void *to)
{
	struct hdb_thread thread = { .struct_size = sizeof(thread) };

	for (uint64_t no = 0; hdb_thread_at(db, no, &thread, NULL) == HDB_OK; no++)
		if (thread.frame_count)
			break;
	return hdb_frame_at(db, thread.trace_serial, 0, to, &err);
}

static int call_root(void *to)
{
	return hdb_root_at(db, 0, to, &err);
}

static int call_facts(void *to)
{
	return hdb_object_at(db, 100, to, &err);
}

static int call_object(void *to)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	const int r = hdb_object_at(db, 100, &facts, &err);

	return r ? r : hdb_object(db, facts.id, to, &err);
}

static int call_class(void *to)
{
	return hdb_class_at(db, 1, to, &err);
}

static int call_health(void *to)
{
	hdb_health(db, to);
	return ((struct hdb_health *)to)->struct_size == 8 ? HDB_EUSAGE : HDB_OK;
}

static int call_batch(void *to)
{
	struct hdb_scan *scan;
	int r = hdb_scan_open(db, NULL, &scan, &err);

	if (r == HDB_OK)
		r = hdb_scan_next(scan, to, &err);
	hdb_scan_close(scan);
	return r;
}

/* The first object for which the call finds something. */
static int call_any(int (*call)(struct hdb *of, uint32_t ix, void *to))
{
	static unsigned char room[4096];
	uint32_t ix = 1;

	while (ix < hdb_object_count(db) &&
	       (memset(room, 0, sizeof(room)), call(db, ix, room)) != HDB_OK)
		ix++;
	return (int)ix;
}

static int collection_of(struct hdb *of, uint32_t ix, void *to)
{
	return hdb_collection_at(of, ix, to, &err);
}

static int call_collection(void *to)
{
	return collection_of(db, (uint32_t)call_any(collection_of), to);
}

static int entry_of(struct hdb *of, uint32_t ix, void *to)
{
	struct hdb_entries *entries = NULL;
	int r = hdb_entries_open(of, ix, &entries, &err);

	if (r == HDB_OK)
		r = hdb_entries_next(entries, to, &err);
	if (r == HDB_OK || r < 0)
		hdb_entries_close(entries);
	return r;
}

static int call_entry(void *to)
{
	return entry_of(db, (uint32_t)call_any(entry_of), to);
}

static int text_of(struct hdb *of, uint32_t ix, void *to)
{
	const int r = hdb_read_text(of, ix, 100, to, &err);

	if (r == HDB_OK)
		free(((struct hdb_text *)to)->text);
	return r;
}

static int call_text(void *to)
{
	return text_of(db, (uint32_t)call_any(text_of), to);
}

static int call_import(void *to)
{
	const struct hdb_import_options opt = { .struct_size = sizeof(opt), .force = 1 };
	const char *path = temp_path("t.heapdb");
	const int r = hdb_import(getenv("DUMP"), path, &opt, to, &err);

	temp_remove_db(path);
	return r;
}

static int call_strip(void *to)
{
	const struct hdb_output_options output = { .struct_size = sizeof(output), .force = 1 };
	const struct hdb_strip_options opt = { .struct_size = sizeof(opt), .output = &output };
	const char *path = temp_path("t.hprof");
	const int r = hdb_strip(getenv("DUMP"), path, &opt, to, &err);

	(void)remove(path);
	return r;
}

/* Structures that functions fill in. */
static void results(void **state)
{
	static const struct {
		call_fn *call;
		size_t size;
	} calls[] = {
		{ call_thread, sizeof(struct hdb_thread) },
		{ call_frame, sizeof(struct hdb_frame) },
		{ call_root, sizeof(struct hdb_root) },
		{ call_facts, sizeof(struct hdb_object_facts) },
		{ call_object, sizeof(struct hdb_object_info) },
		{ call_class, sizeof(struct hdb_class) },
		{ call_health, sizeof(struct hdb_health) },
		{ call_batch, sizeof(struct hdb_batch) },
		{ call_collection, sizeof(struct hdb_collection) },
		{ call_entry, sizeof(struct hdb_entry) },
		{ call_text, sizeof(struct hdb_text) },
		{ call_import, sizeof(struct hdb_import_result) },
		{ call_strip, sizeof(struct hdb_output_result) },
	};
	union {
		size_t struct_size;
		unsigned char bytes[sizeof(struct hdb_frame) + LATER + GUARD];
	} first, later;

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const size_t size = calls[i].size;

		/* 0 is the size of the first version of this soname. */
		memset(&first, FILL, sizeof(first));
		first.struct_size = 0;
		if (calls[i].call(&first) != HDB_OK)
			fail_msg("call %zu: %s", i, err.message);
		assert_int_equal(first.struct_size, 0);
		assert_false(all_are(first.bytes + sizeof(size_t), size - sizeof(size_t), FILL));
		assert_true(all_are(first.bytes + size, LATER + GUARD, FILL));
		/* A size of a later header, whose members this library does not know. */
		memset(&later, FILL, sizeof(later));
		later.struct_size = size + LATER;
		assert_int_equal(calls[i].call(&later), HDB_OK);
		assert_int_equal(later.struct_size, size + LATER);
		assert_true(all_are(later.bytes + size, LATER, 0));
		assert_true(all_are(later.bytes + size + LATER, GUARD, FILL));
		/*
		 * A size that is smaller than in any version is refused, and the structure does not
		 * change.
		 */
		memset(&later, FILL, sizeof(later));
		for (later.struct_size = 8;; later.struct_size = SIZE_MAX / 2) {
			err.message[0] = '\0';
			if (calls[i].call != call_health || later.struct_size == 8)
				assert_int_equal(calls[i].call(&later), HDB_EUSAGE);
			if (calls[i].call != call_health)
				assert_non_null(strstr(err.message, "struct_size"));
			assert_true(all_are(later.bytes + sizeof(size_t), size, FILL));
			if (later.struct_size != 8)
				break;
		}
	}
}

/* hdb_slice is both read and written. */
static void slices(void **state)
{
	struct {
		struct hdb_slice slice;
		unsigned char later[LATER];
	} big;
	uint64_t bits[4];
	uint32_t ix = 0;
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	(void)state;
	while (facts.kind != HDB_KIND_PRIMITIVE_ARRAY || facts.length < 4)
		assert_int_equal(hdb_object_at(db, ix++, &facts, &err), HDB_OK);
	memset(&big, FILL, sizeof(big));
	big.slice.struct_size = 0;
	big.slice.from = 1;
	big.slice.room = 2;
	big.slice.bits = bits;
	assert_int_equal(hdb_elements(db, ix - 1, &big.slice, &err), HDB_OK);
	assert_int_equal(big.slice.count, 2);
	assert_true(big.slice.bits == bits && big.slice.from == 1 && big.slice.room == 2);
	assert_true(all_are(big.later, LATER, FILL));
	big.slice.struct_size = 8;
	assert_int_equal(hdb_elements(db, ix - 1, &big.slice, &err), HDB_EUSAGE);
}

/*
 * Structures that functions read: nothing is read after the end of a structure of an earlier
 * header.
 */
static void options(void **state)
{
	struct {
		struct hdb_convert_options opt;
		unsigned char behind[LATER];
	} convert;
	struct hdb_output_options output = { .force = 1 };
	struct hdb_scan_options scan_opt = { .struct_size = 8 };
	struct hdb_row_filter filter = { .struct_size = 8 };
	struct hdb_query_args args = { .filter = &filter };
	struct hdb_row_source source = { .struct_size = 8 };
	struct ArrowArrayStream stream;
	struct hdb_rows *rows;
	struct hdb_scan *scan;
	const char *path = temp_path("t.hprof");

	(void)state;
	memset(&convert, 0, sizeof(convert));
	memset(convert.behind, 'A', sizeof(convert.behind));
	for (size_t size = 0; size <= sizeof(convert); size += sizeof(convert)) {
		convert.opt.struct_size = size;
		convert.opt.output = &output;
		assert_int_equal(hdb_convert(getenv("DUMP"), path, &convert.opt, NULL, &err),
				 HDB_OK);
	}
	output.struct_size = 8;
	assert_int_equal(hdb_convert(getenv("DUMP"), path, &convert.opt, NULL, &err), HDB_EUSAGE);
	convert.opt.struct_size = 8;
	assert_int_equal(hdb_convert(getenv("DUMP"), path, &convert.opt, NULL, &err), HDB_EUSAGE);
	(void)remove(path);
	assert_int_equal(hdb_scan_open(db, &scan_opt, &scan, &err), HDB_EUSAGE);
	assert_int_equal(hdb_query(db, "top", &args, &rows, &err), HDB_EUSAGE);
	assert_int_equal(hdb_source_arrow(&source, 0, &stream, &err), HDB_EUSAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results),
		cmocka_unit_test(slices),
		cmocka_unit_test(options),
	};

	return cmocka_run_group_tests(tests, start, clean);
}

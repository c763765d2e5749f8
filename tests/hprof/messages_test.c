/*
 * messages_test.c - each error message of the readers and the writer of dumps, with its code: a
 * table of invalid bytes, the function that reads them, and the expected message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "hprof/dump_writer.h"
#include "hprof/reader.h"

#include <stdlib.h>
#include <string.h>

/* A file with identifiers of 4 bytes: a header of 31 bytes, then the bytes to read. */
#define HEAD "JAVA PROFILE 1.0.2\0\0\0\0\4\0\0\0\0\0\0\0\0"
#define HEAD_SIZE 31
#define ZEROS_7 "\0\0\0\0\0\0\0"
#define ZEROS_28 ZEROS_7 ZEROS_7 ZEROS_7 ZEROS_7
/* The part of a class dump before its constants: class, trace, six identifiers, instance size. */
#define CLASS "\x20\0\0\0\x01\0\0\0\0" ZEROS_28

enum reads { FILE_HEAD, TEXT, TRACE, CPU_SAMPLES, SUB, CLASS_DUMP, STATIC, FIELD };

#define BYTES(text) (text), sizeof(text) - 1

static const struct row {
	enum reads reads;
	const char *bytes;
	size_t size;
	int code;
	const char *message;
} rows[] = {
	{ FILE_HEAD, BYTES(""), HDB_EFORMAT, "the file is empty, not an HPROF heap dump" },
	{ FILE_HEAD, BYTES("PK\3\4 and more"), HDB_EFORMAT, "not an HPROF heap dump but a zip" },
	{ FILE_HEAD, BYTES("\1\2\3\4\5\6"), HDB_EFORMAT,
	  "not an HPROF heap dump: it starts with 0x01 0x02 instead of \"JAVA PROFILE\"" },
	{ FILE_HEAD, BYTES("JAVA PROFILE 1.0.2\0\0\0"), HDB_ETRUNC,
	  "truncated HPROF header: 21 of 31 bytes present" },
	{ FILE_HEAD, BYTES("JAVA PROFILE 2.0.2\0\0\0\0\4\0\0\0\0\0\0\0\0"), HDB_EFORMAT,
	  "unknown HPROF version: expected \"JAVA PROFILE 1.0.1\", 1.0.2 or 1.0.3" },
	{ FILE_HEAD, BYTES("JAVA PROFILE 1.0.4\0\0\0\0\4\0\0\0\0\0\0\0\0"), HDB_EFORMAT,
	  "unknown HPROF version: expected \"JAVA PROFILE 1.0.1\", 1.0.2 or 1.0.3" },
	{ FILE_HEAD, BYTES("JAVA PROFILE 1.0.2\0\0\0\0\5\0\0\0\0\0\0\0\0"), HDB_EFORMAT,
	  "HPROF header: ID size 5 at offset 19 (expected 4 or 8)" },
	{ TEXT, BYTES("\1\2"), HDB_EFORMAT,
	  "UTF8 record at offset 31: body of 2 bytes is too short (needs 4)" },
	{ TRACE, BYTES("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4"), HDB_EFORMAT,
	  "TRACE record at offset 31: 3 frames do not fit in a body of 16 bytes" },
	{ CPU_SAMPLES, BYTES("\0\0\0\1\0\0\0\2\0\0\0\3"), HDB_EFORMAT,
	  "CPU SAMPLES record at offset 31: 2 traces do not fit in a body of 12 bytes" },
	{ SUB, BYTES(""), HDB_ETRUNC,
	  "no room for a heap sub-record at offset 31: the segment "
	  "ends at offset 31" },
	{ SUB, BYTES("\x99\0\0"), HDB_EFORMAT, "unknown heap sub-record 0x99 at offset 31" },
	{ SUB, BYTES("\x23\0\0\0\1\0\0\0\0\0\0\0\1\x1" ZEROS_7), HDB_EFORMAT,
	  "PRIMITIVE ARRAY DUMP at offset 31: unknown basic type" },
	{ SUB, BYTES("\x23\0\0\0\1\0\0\0\0\0\0\0\x9\xb\0"), HDB_ETRUNC,
	  "PRIMITIVE ARRAY DUMP at offset 31 extends past offset 46 (it ends at offset 117 or "
	  "later)" },
	{ CLASS_DUMP, BYTES("\xff\0\0\0\1"), HDB_EFORMAT, "no CLASS DUMP at offset 31" },
	{ CLASS_DUMP, BYTES(CLASS "\0\1\0\7\x63\0\0\0\0"), HDB_EFORMAT,
	  "CLASS DUMP at offset 31 is damaged" },
	{ STATIC, BYTES("\0\0\0\1\x63\0\0\0\0"), HDB_EFORMAT,
	  "static field at offset 31: unknown basic type 99" },
	{ FIELD, BYTES("\0\0\0\1\x63"), HDB_EFORMAT, "field at offset 31: unknown basic type 99" },
};

static int read_row(const struct row *row, const struct hprof_file *file, struct base_view *view,
		    struct hdb_error *err)
{
	static const uint8_t tags[] = {
		[TEXT] = HPROF_UTF8, [TRACE] = HPROF_TRACE, [CPU_SAMPLES] = HPROF_CPU_SAMPLES
	};
	/* The readers of records do not read the header of 9 bytes. */
	const struct hprof_record rec = { .tag = row->reads < SUB ? tags[row->reads] : 0,
					  .offset = HEAD_SIZE,
					  .body_offset = HEAD_SIZE + 9,
					  .body_size = row->size };
	const struct hprof_sub damaged = { .tag = (uint8_t)row->bytes[0],
					   .offset = HEAD_SIZE,
					   .end = HEAD_SIZE + row->size };
	uint64_t offset = HEAD_SIZE;
	struct hprof_cpu_samples samples;
	struct hprof_static value;
	struct hprof_field field;
	struct hprof_trace trace;
	struct hprof_class class;
	struct hprof_utf8 text;
	struct hprof_sub sub;

	switch (row->reads) {
	case TEXT:
		return hprof_read_utf8(file, view, &rec, &text, err);
	case TRACE:
		return hprof_read_trace(file, view, &rec, &trace, err);
	case CPU_SAMPLES:
		return hprof_read_cpu_samples(file, view, &rec, &samples, err);
	case SUB:
		return hprof_sub_read(file, view, HEAD_SIZE, &sub, err);
	case CLASS_DUMP:
		return hprof_class_read(file, view, &damaged, &class, err);
	case STATIC:
		return hprof_static_next(file, view, &offset, &value, err);
	default:
		return hprof_field_next(file, view, &offset, &field, err);
	}
}

static void test_reading(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		const size_t head = row->reads == FILE_HEAD ? 0 : HEAD_SIZE;
		const size_t gap = row->reads == FILE_HEAD || row->reads >= SUB ? 0 : 9;
		const size_t size = head + gap + row->size;
		uint8_t *data = calloc(1, size + 1);
		struct base_source *source = NULL;
		struct hdb_error err = { 0 };
		struct hprof_file file = { 0 };
		BASE_VIEW(view, NULL);
		int r;

		assert_non_null(data);
		memcpy(data, HEAD, head);
		memcpy(data + head + gap, row->bytes, row->size);
		assert_int_equal(base_memory_open(data, size, &source, &err), HDB_OK);
		view.src = source;
		r = hprof_open(source, &file, &err);
		if (row->reads != FILE_HEAD) {
			assert_int_equal(r, HDB_OK);
			r = read_row(row, &file, &view, &err);
		}
		if (r != row->code || !strstr(err.message, row->message))
			fail_msg("row %zu: %d \"%s\", expected %d \"%s\"", i, r, err.message,
				 row->code, row->message);
		/* the view ends before its source */
		base_view_release(&view);
		view.src = NULL;
		base_source_close(source);
		free(data);
	}
}

static int put_nothing(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	(void)ctx;
	(void)data;
	(void)size;
	(void)err;
	return HDB_OK;
}

static void test_writing(void **state)
{
	const struct hprof_sink sink = { .put = put_nothing };
	struct hdb_error err = { 0 };
	struct hprof_writer w = { .sink = &sink, .id_size = 4, .most = UINT64_MAX, .err = &err };

	(void)state;
	hprof_put_u2(&w, UINT16_MAX + 1u);
	assert_int_equal(w.result, HDB_ELIMIT);
	assert_string_equal(err.message, "too many fields in a class (limit 65535)");
	hprof_writer_release(&w);

	w = (struct hprof_writer){ .sink = &sink, .id_size = 4, .most = 8, .err = &err };
	assert_int_equal(hprof_write_head(&w, "JAVA PROFILE 1.0.2", 0), HDB_ELIMIT);
	assert_string_equal(err.message, "the new dump would be many times larger than the input, "
					 "so the input is probably not a real dump");
	hprof_writer_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_writing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

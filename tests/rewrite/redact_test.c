/*
 * redact_test.c - which arrays lose their contents. Byte arrays that hold text are recognised by
 * consecutive printable bytes, including blanks. If contents become hashes, an array of zeros stays
 * an array of zeros, but not if its last byte is not 0. The bytes of a cryptographic key are texts.
 */
#include "support/hprof_writer.h"
#include "support/temp.h"

#include "heapdb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define SIZE 64

static const struct row {
	const char *bytes; /* its first bytes; zeros follow */
	size_t last;       /* if not 0, the byte at this index is 7 */
	bool goes, is_hashed;
} rows[] = {
	{ "\xff\x01\x02\x80", 0, false, true },
	{ "\xff"
	  "abc\xff",
	  0, false, true },
	{ "\xff"
	  "a bc\xff",
	  0, true, true },
	{ "\xff"
	  " \t\n\r\xff",
	  0, true, true },
	{ "\xff"
	  "a b\x7f\xff",
	  0, false, true },
	{ "", 0, false, false },
	{ "", SIZE - 1, false, true },
	{ "", SIZE / 2 + 1, false, true },
	/* the keys of a SecretKeySpec and of an instance of a subclass */
	{ "\xff\x01\x02\x80", 0, true, true },
	{ "\xff\x01\x02\x80", 0, true, true },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void fill(const struct row *row, uint8_t *bytes)
{
	memset(bytes, 0, SIZE);
	memcpy(bytes, row->bytes, strlen(row->bytes));
	if (row->last)
		bytes[row->last] = 7;
}

/* Finds the contents of array i in a dump, or returns NULL. */
static const uint8_t *contents(const uint8_t *dump, size_t size, size_t i)
{
	/* Its tag and ID, which are followed by serial, count and type. */
	const uint8_t head[] = { HPROF_PRIMITIVE_ARRAY_DUMP, 0, 0, 0x77, (uint8_t)i };
	const uint8_t *found = memmem(dump, size, head, sizeof(head));

	return found && found + 14 + SIZE <= dump + size ? found + 14 : NULL;
}

/* Writes the classes of keys, in a new segment. */
static void put_classes(struct hw *w)
{
	static const char *const names[] = { "java.lang.Object", "javax.crypto.spec.SecretKeySpec",
					     "a.Key", "key", "owner" };
	const struct hprof_field key = { 4, HPROF_OBJECT }, owner = { 5, HPROF_OBJECT };
	const struct hw_class classes[] = {
		{ .id = 0x100 },
		{ .id = 0x110, .super_id = 0x100, .fields = &key, .field_count = 1 },
		{ .id = 0x120, .super_id = 0x110, .fields = &owner, .field_count = 1 },
	};

	for (uint64_t i = 0; i < 5; i++)
		hw_utf8(w, i + 1, names[i]);
	for (uint32_t i = 0; i < 3; i++)
		hw_load_class(w, i + 1, classes[i].id, 1, i + 1);
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (unsigned i = 0; i < 3; i++)
		hw_class(w, &classes[i]);
}

static void test_arrays(void **state)
{
	static const uint8_t zeros[SIZE];
	static uint8_t out[1 << 16];
	static char in_path[512], out_path[512];
	uint8_t bytes[SIZE];
	struct hw w;

	(void)state;
	(void)snprintf(in_path, sizeof(in_path), "%s", temp_path("in.hprof"));
	(void)snprintf(out_path, sizeof(out_path), "%s", temp_path("out.hprof"));
	hw_init(&w, HPROF_1_0_2, 4, 0);
	put_classes(&w);
	hw_instance(&w, 0x500, 0x110, (const uint8_t[]){ 0, 0, 0x77, ROWS - 2 }, 4);
	hw_instance(&w, 0x510, 0x120, (const uint8_t[]){ 0, 0, 0, 0, 0, 0, 0x77, ROWS - 1 }, 8);
	for (size_t i = 0; i < ROWS; i++) {
		fill(&rows[i], bytes);
		hw_primitive_array(&w, 0x7700 + i, HPROF_BYTE, bytes, SIZE);
	}
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, in_path), 0);
	hw_release(&w);
	for (int hash = 0; hash < 2; hash++) {
		const struct hdb_output_options output = { .struct_size = sizeof(output),
							   .force = 1 };
		const struct hdb_redact_options opt = { .struct_size = sizeof(opt),
							.output = &output,
							.hash = hash,
							.arrays = hash ? HDB_REDACT_ARRAYS :
									 HDB_REDACT_TEXTS };
		struct hdb_error err = { 0 };
		size_t size;
		FILE *f;

		if (hdb_redact(in_path, out_path, &opt, NULL, &err) != HDB_OK)
			fail_msg("%s", err.message);
		f = fopen(out_path, "rb");
		assert_non_null(f);
		size = fread(out, 1, sizeof(out), f);
		(void)fclose(f);
		for (size_t i = 0; i < ROWS; i++) {
			const uint8_t *now = contents(out, size, i);
			bool is_zero, is_same;

			fill(&rows[i], bytes);
			if (!now)
				fail_msg("row %zu, hash %d: no array in %zu bytes", i, hash, size);
			is_zero = memcmp(now, zeros, SIZE) == 0;
			is_same = memcmp(now, bytes, SIZE) == 0;
			if (hash ? is_zero == rows[i].is_hashed : is_same == rows[i].goes)
				fail_msg("row %zu, hash %d: zeros %d, the same %d", i, hash,
					 is_zero, is_same);
		}
	}
	(void)unlink(in_path);
	(void)unlink(out_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_arrays) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * tests/capture/perfdata_test.c - hsperfdata files, whole, cut at each byte, with each byte
 * changed, and with wrong lengths and offsets. The bytes are at the end of their own block, so that
 * the sanitizers detect reads past the end.
 */
#include "capture/perfdata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILE_SIZE 4096

struct file {
	uint8_t bytes[FILE_SIZE];
	size_t size;
	bool is_big_endian;
};

static void put(struct file *f, size_t at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		f->bytes[at + i] = (uint8_t)(value >> 8 * (f->is_big_endian ? bytes - 1 - i : i));
}

static void begin(struct file *f, bool is_big_endian)
{
	memset(f, 0, sizeof(*f));
	f->is_big_endian = is_big_endian;
	memcpy(f->bytes, "\xca\xfe\xc0\xc0", 4);
	f->bytes[4] = is_big_endian ? 0 : 1;
	f->bytes[5] = 2;
	f->size = 32;
	put(f, 24, 32, 4);
}

/* Begins an entry with room for its value. Returns the offset of the value. */
static size_t put_entry(struct file *f, const char *name, char type, size_t room)
{
	const size_t name_size = strlen(name) + 1;
	const size_t value = (20 + name_size + 7) & ~(size_t)7;
	const size_t at = f->size, size = (value + room + 7) & ~(size_t)7;

	put(f, at, size, 4);
	put(f, at + 4, 20, 4);
	put(f, at + 8, type == 'B' ? room : 0, 4);
	f->bytes[at + 12] = (uint8_t)type;
	put(f, at + 16, value, 4);
	memcpy(f->bytes + at + 20, name, name_size);
	f->size += size;
	put(f, 8, f->size, 4);
	put(f, 28, f->bytes[f->is_big_endian ? 31 : 28] + 1U, 4);
	return at + value;
}

static void put_text(struct file *f, const char *name, const char *text, size_t room)
{
	memcpy(f->bytes + put_entry(f, name, 'B', room), text, strlen(text));
}

static void put_number(struct file *f, const char *name, int64_t number)
{
	put(f, put_entry(f, name, 'J', 8), (uint64_t)number, 8);
}

static void make(struct file *f, bool is_big_endian)
{
	begin(f, is_big_endian);
	put_number(f, "sun.gc.generation.0.space.0.used", 1000);
	put_number(f, "sun.gc.generation.0.space.0.capacity", 5000);
	put_number(f, "sun.gc.generation.0.space.0.maxCapacity", 77);
	put_number(f, "sun.gc.generation.1.space.12.used", 200);
	put_number(f, "sun.gc.generation.1.space.12.capacity", 600);
	put_number(f, "sun.gc.metaspace.used", 99);
	put_number(f, "sun.gc.metaspace.capacity", 128);
	put_number(f, "java.threads.live", 7);
	put_number(f, "java.cls.loadedClasses", 40);
	put_number(f, "java.cls.sharedLoadedClasses", 500);
	put_number(f, "java.cls.unloadedClasses", 3);
	put_number(f, "sun.gc.generation.0.maxCapacity", 7000);
	put_number(f, "sun.gc.generation.1.maxCapacity", 9000);
	put_number(f, "sun.gc.collector.0.invocations", 5);
	put_number(f, "sun.gc.collector.0.time", 3000000);
	put_number(f, "sun.gc.collector.12.invocations", 2);
	put_number(f, "sun.gc.collector.12.time", 1000000);
	put_number(f, "sun.rt.safepoints", 3);
	put_number(f, "sun.rt.safepointTime", 5000000);
	put_number(f, "sun.os.hrt.frequency", 1000000000);
	put_text(f, "java.rt.vmArgs", "-Xmx9000", 16);
	put_text(f, "java.property.java.vm.version", "17.0.15+6", 16);
	put_text(f, "java.property.java.version", "17.0.15", 16);
	put_text(f, "sun.rt.javaCommand", "com.example.Main one two", 64);
	put_text(f, "sun.rt.jvmCapabilities", "1100", 8);
}

/* Summarizes a copy that ends where its block ends. */
static bool summarize(const uint8_t *bytes, size_t size, struct perfdata_summary *s)
{
	uint8_t *copy = malloc(size ? size : 1);
	bool found;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	found = perfdata_summarize(copy, size, s);
	free(copy);
	/* Whatever the input, texts are terminated. */
	assert_true(memchr(s->command, 0, sizeof(s->command)) != NULL);
	assert_true(memchr(s->version, 0, sizeof(s->version)) != NULL);
	return found;
}

static void test_whole(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct perfdata_summary s;
		struct file f;

		make(&f, big);
		assert_true(summarize(f.bytes, f.size, &s));
		assert_string_equal(s.command, "com.example.Main one two");
		assert_string_equal(s.version, "17.0.15");
		assert_false(s.cannot_attach);
		assert_true(s.has_heap);
		assert_int_equal(s.heap_used, 1200);
		assert_int_equal(s.heap_committed, 5600);
		assert_int_equal(s.metaspace_used, 99);
		assert_int_equal(s.metaspace_committed, 128);
		assert_int_equal(s.threads, 7);
		assert_int_equal(s.classes_loaded, 540);
		assert_int_equal(s.classes_unloaded, 3);
		assert_int_equal(s.heap_max, 9000);
		assert_int_equal(s.gc_count, 7);
		assert_int_equal(s.gc_us, 4000);
		assert_int_equal(s.pauses, 3);
		assert_int_equal(s.pause_us, 5000);
		assert_string_equal(s.vm_args, "-Xmx9000");
		/* A file is longer than the part in use. */
		assert_true(summarize(f.bytes, FILE_SIZE, &s));
		assert_int_equal(s.heap_used, 1200);
	}
}

/* Serial and Parallel divide the heap between the generations. */
static void test_split_heap(void **state)
{
	struct perfdata_summary s;
	struct file f;

	(void)state;
	make(&f, false);
	put_text(&f, "sun.gc.policy.name", "ParScav:MSC", 16);
	assert_true(summarize(f.bytes, f.size, &s));
	assert_int_equal(s.heap_max, 16000);
}

static void test_no_such_file(void **state)
{
	struct perfdata_summary s;
	struct file f;

	(void)state;
	make(&f, false);
	assert_false(summarize(f.bytes, 0, &s));
	assert_false(summarize(f.bytes, 31, &s));
	f.bytes[5] = 1;
	assert_false(summarize(f.bytes, f.size, &s));
	make(&f, false);
	f.bytes[4] = 2;
	assert_false(summarize(f.bytes, f.size, &s));
	make(&f, false);
	f.bytes[0] = 0;
	assert_false(summarize(f.bytes, f.size, &s));
}

static void test_cut_and_changed(void **state)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct perfdata_summary s;
	struct file f;

	(void)state;
	make(&f, false);
	for (size_t size = 0; size <= f.size; size++)
		(void)summarize(f.bytes, size, &s);
	for (size_t i = 0; i < f.size; i++) {
		const uint8_t was = f.bytes[i];

		for (size_t k = 0; k < sizeof(values); k++) {
			f.bytes[i] = values[k];
			(void)summarize(f.bytes, f.size, &s);
		}
		f.bytes[i] = was;
	}
}

/* Numbers that lead outside the file, or form a cycle. */
static void test_hostile_numbers(void **state)
{
	static const uint32_t numbers[] = { 0,          1,          19,         20,
					    0x7fffffff, 0x80000000, 0xffffffec, 0xffffffff };
	struct perfdata_summary s;
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* used, offset and number of entries; size, name, vector and value of the first */
		static const size_t places[] = { 8, 24, 28, 32, 36, 40, 48 };

		for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
			make(&f, false);
			put(&f, places[k], numbers[i], 4);
			(void)summarize(f.bytes, f.size, &s);
		}
	}
	/* The header claims four billion entries, but there are none. */
	begin(&f, false);
	put(&f, 28, 0xffffffff, 4);
	assert_true(summarize(f.bytes, FILE_SIZE, &s));
	assert_false(s.has_heap);
}

static void test_sizes_below_zero(void **state)
{
	struct perfdata_summary s;
	struct file f;

	(void)state;
	begin(&f, false);
	put_number(&f, "sun.gc.generation.0.space.0.used", -5);
	put_number(&f, "sun.gc.generation.0.space.1.used", INT64_MAX);
	put_number(&f, "sun.gc.generation.0.space.2.used", INT64_MAX);
	put_number(&f, "sun.gc.generation.0.space.2.used", INT64_MIN);
	put_number(&f, "sun.gc.generation..space.2.used", 1);
	put_number(&f, "sun.gc.generation.0.space.used", 1);
	assert_true(summarize(f.bytes, f.size, &s));
	assert_true(s.heap_used == INT64_MAX);
}

static void test_long_texts(void **state)
{
	struct perfdata_summary s;
	struct file f;
	char text[1500];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	begin(&f, false);
	put_text(&f, "sun.rt.javaCommand", text, sizeof(text));
	put_text(&f, "java.property.java.version", text, sizeof(text) - 1);
	put_text(&f, "sun.rt.jvmCapabilities", "0100", 4);
	assert_true(summarize(f.bytes, f.size, &s));
	assert_int_equal(strlen(s.command), sizeof(s.command) - 1);
	assert_int_equal(strlen(s.version), sizeof(s.version) - 1);
	assert_true(s.cannot_attach);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),           cmocka_unit_test(test_split_heap),
		cmocka_unit_test(test_no_such_file),    cmocka_unit_test(test_cut_and_changed),
		cmocka_unit_test(test_hostile_numbers), cmocka_unit_test(test_sizes_below_zero),
		cmocka_unit_test(test_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * values_test.c - tests heap/values/values.h, heap/values/strings.c and
 * heap/values/string_scan.h: fields, elements, strengths and the strings of every kind of VM, on
 * written dumps, whole and damaged.
 */
#include "heap/values/string_scan.h"
#include "heap/values/values.h"
#include "import/import.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* IDs of classes and of the first object. */
enum {
	OBJECT = 0x1000,
	CLASS = 0x1100,
	STRING = 0x1200,
	REFERENCE = 0x1300,
	WEAK = 0x1400,
	MINE = 0x1500,
	BYTES = 0x1600,
	CHARS = 0x1700,
	OBJECTS = 0x1800,
	UTF16 = 0x1900,
	WIDE = 0x1a00,
	NARROW = 0x1b00,
	FIRST = 0x4000,
};

/* The kind of VM that wrote the dump. */
enum vm { JDK6, JDK8, JDK17, JDK17_BIG_ENDIAN, ANDROID, VM_COUNT };

struct dump {
	struct hw w;
	enum vm vm;
	uint32_t serial;
	uint64_t next_name, next_id;
};

static struct dump dump;
static struct base_work work;
static struct heap *heap;
static struct hdb_error error;
static char dump_path[600], db_path[600];

static uint64_t name(struct dump *d, const char *text)
{
	hw_utf8(&d->w, ++d->next_name, text);
	return d->next_name;
}

static void load(struct dump *d, uint64_t id, const char *text)
{
	hw_load_class(&d->w, ++d->serial, id, 0, name(d, text));
}

/* Names of fields. The order of texts in the dump does not matter. */
static uint64_t n_value, n_coder, n_offset, n_count, n_hash, n_referent, n_queue, n_shift, n_mine;

static void write_classes(struct dump *d)
{
	const struct hprof_field old[] = { { n_value, HPROF_OBJECT },
					   { n_offset, HPROF_INT },
					   { n_count, HPROF_INT },
					   { n_hash, HPROF_INT } };
	const struct hprof_field eight[] = { { n_hash, HPROF_INT }, { n_value, HPROF_OBJECT } };
	const struct hprof_field nine[] = { { n_hash, HPROF_INT },
					    { n_coder, HPROF_BYTE },
					    { n_value, HPROF_OBJECT } };
	const struct hprof_field art[] = { { n_count, HPROF_INT },
					   { n_hash, HPROF_INT },
					   { n_value, HPROF_OBJECT } };
	const struct hprof_field reference[] = { { n_referent, HPROF_OBJECT },
						 { n_queue, HPROF_OBJECT } };
	const struct hprof_field mine[] = { { n_mine, HPROF_OBJECT },
					    { n_referent, HPROF_OBJECT } };
	const struct hprof_field wide[] = {
		{ n_value, HPROF_BOOLEAN }, { n_coder, HPROF_CHAR }, { n_offset, HPROF_FLOAT },
		{ n_count, HPROF_DOUBLE },  { n_hash, HPROF_BYTE },  { n_queue, HPROF_SHORT },
		{ n_shift, HPROF_INT },     { n_mine, HPROF_LONG },  { n_referent, HPROF_OBJECT },
	};
	const struct hprof_field narrow[] = { { n_value, HPROF_INT } };
	const struct hw_static shift[] = {
		{ n_shift, HPROF_INT, d->vm == JDK17_BIG_ENDIAN ? 8 : 0 },
		{ n_mine, HPROF_OBJECT, OBJECT },
	};
	const struct {
		const struct hprof_field *fields;
		unsigned count;
	} strings[VM_COUNT] = { { old, 4 }, { eight, 2 }, { nine, 3 }, { nine, 3 }, { art, 3 } };
	const struct hw_class classes[] = {
		{ .id = OBJECT },
		{ .id = CLASS, .super_id = OBJECT },
		{ .id = STRING,
		  .super_id = OBJECT,
		  .fields = strings[d->vm].fields,
		  .field_count = strings[d->vm].count },
		{ .id = REFERENCE, .super_id = OBJECT, .fields = reference, .field_count = 2 },
		{ .id = WEAK, .super_id = REFERENCE },
		{ .id = MINE, .super_id = WEAK, .fields = mine, .field_count = 2 },
		{ .id = BYTES, .super_id = OBJECT },
		{ .id = CHARS, .super_id = OBJECT },
		{ .id = OBJECTS, .super_id = OBJECT },
		{ .id = UTF16, .super_id = OBJECT, .statics = shift, .static_count = 2 },
		{ .id = NARROW, .super_id = OBJECT, .fields = narrow, .field_count = 1 },
		{ .id = WIDE, .super_id = NARROW, .fields = wide, .field_count = 9 },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		hw_class(&d->w, &classes[i]);
		hw_root(&d->w, HPROF_ROOT_STICKY_CLASS, classes[i].id, 0, 0);
	}
}

static void begin(enum vm vm, unsigned id_size)
{
	struct dump *d = &dump;

	memset(d, 0, sizeof(*d));
	d->vm = vm;
	d->next_id = FIRST;
	hw_init(&d->w, vm == ANDROID ? HPROF_1_0_3 : HPROF_1_0_2, id_size, 0);
	n_value = name(d, "value");
	n_coder = name(d, "coder");
	n_offset = name(d, "offset");
	n_count = name(d, "count");
	n_hash = name(d, "hash");
	n_referent = name(d, "referent");
	n_queue = name(d, "queue");
	n_shift = name(d, "HI_BYTE_SHIFT");
	n_mine = name(d, "mine");
	load(d, OBJECT, "java/lang/Object");
	load(d, CLASS, "java/lang/Class");
	load(d, STRING, "java/lang/String");
	load(d, REFERENCE, "java/lang/ref/Reference");
	load(d, WEAK, "java/lang/ref/WeakReference");
	load(d, MINE, "test/Mine");
	load(d, BYTES, "[B");
	load(d, CHARS, "[C");
	load(d, OBJECTS, "[Ljava/lang/Object;");
	load(d, UTF16, "java/lang/StringUTF16");
	load(d, WIDE, "test/Wide");
	load(d, NARROW, "test/Narrow");
	(void)hw_begin(&d->w, HPROF_HEAP_DUMP_SEGMENT, 0);
	write_classes(d);
}

/* Saves, imports and opens the dump. */
static void open_heap(void)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };

	hw_end(&dump.w);
	hw_heap_dump_end(&dump.w);
	(void)snprintf(dump_path, sizeof(dump_path), "%s", temp_path("values.hprof"));
	(void)snprintf(db_path, sizeof(db_path), "%s", temp_path("values.heapdb"));
	assert_int_equal(hw_save(&dump.w, dump_path), 0);
	hw_release(&dump.w);
	base_work_init(&work, 0, 1, NULL);
	if (import_dump((struct import_paths){ .dump = dump_path, .database = db_path }, &opt,
			&work, NULL, &error) < 0 ||
	    heap_open(db_path, NULL, &work, &heap, &error) < 0)
		fail_msg("%s", error.message);
}

static void close_heap(void)
{
	heap_close(heap);
	heap = NULL;
	(void)unlink(dump_path);
	temp_remove_db(db_path);
}

static uint64_t new_id(void)
{
	dump.next_id += 64;
	return dump.next_id;
}

static uint32_t ix_of(uint64_t id)
{
	uint32_t ix = 0;

	assert_int_equal(heap_find(heap, id, &ix, &error), HDB_OK);
	return ix;
}

/* ---- strings ---- */

struct body {
	uint8_t bytes[128];
	uint32_t size;
};

static void put(struct body *b, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		b->bytes[b->size++] = (uint8_t)(value >> 8 * (size - 1 - i));
}

static bool is_latin1(const uint16_t *units, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (units[i] > 0xff)
			return false;
	return true;
}

static uint64_t put_array(const uint16_t *units, uint32_t count, bool as_bytes, bool is_narrow)
{
	const uint64_t id = new_id();
	const bool little = as_bytes && dump.vm != JDK17_BIG_ENDIAN;
	uint8_t *raw = calloc((size_t)count * 2 + 1, 1);

	assert_non_null(raw);
	for (uint32_t i = 0; i < count; i++) {
		if (is_narrow) {
			raw[i] = (uint8_t)units[i];
			continue;
		}
		raw[2 * i] = (uint8_t)(little ? units[i] : units[i] >> 8);
		raw[2 * i + 1] = (uint8_t)(little ? units[i] >> 8 : units[i]);
	}
	hw_primitive_array(&dump.w, id, as_bytes ? HPROF_BYTE : HPROF_CHAR, raw,
			   as_bytes && !is_narrow ? count * 2 : count);
	free(raw);
	return id;
}

/* Writes a String object for `array`, as the VM would write it. */
static uint64_t put_string_over(uint64_t array, uint32_t from, uint32_t count, bool is_narrow)
{
	const unsigned n = dump.w.id_size;
	const uint64_t id = new_id();
	struct body b = { .size = 0 };

	switch (dump.vm) {
	case JDK6:
		put(&b, array, n);
		put(&b, from, 4);
		put(&b, count, 4);
		put(&b, 0, 4);
		break;
	case JDK8:
		put(&b, 0, 4);
		put(&b, array, n);
		break;
	case ANDROID:
		put(&b, count << 1 | !is_narrow, 4);
		put(&b, 0, 4);
		put(&b, array, n);
		break;
	default:
		put(&b, 0, 4);
		put(&b, !is_narrow, 1);
		put(&b, array, n);
		break;
	}
	hw_instance(&dump.w, id, STRING, b.bytes, b.size);
	return id;
}

static uint64_t put_string(const uint16_t *units, uint32_t count)
{
	const bool bytes = dump.vm >= JDK17 && (dump.vm != ANDROID || is_latin1(units, count));
	const bool narrow = bytes && is_latin1(units, count);
	uint16_t padded[512];
	uint64_t array;

	if (dump.vm != JDK6)
		return put_string_over(put_array(units, count, bytes, narrow), 0, count, narrow);
	/* A substring, with three characters before it and two after it. */
	assert_true(count + 5 <= 512);
	for (uint32_t i = 0; i < count + 5; i++)
		padded[i] = i < 3 || i >= count + 3 ? 'x' : units[i - 3];
	array = put_array(padded, count + 5, false, false);
	return put_string_over(array, 3, count, false);
}

static const struct {
	const char *text;
	uint32_t count;
	uint16_t units[8];
} samples[] = {
	{ "", 0, { 0 } },
	{ "abc", 3, { 'a', 'b', 'c' } },
	{ "\xc3\xa9t\xc3\xa9", 3, { 0xe9, 't', 0xe9 } },
	{ "\xe2\x82\xac", 1, { 0x20ac } },
	{ "a\xf0\x9f\x98\x80z", 4, { 'a', 0xd83d, 0xde00, 'z' } },
	{ "\xef\xbf\xbd!", 2, { 0xd83d, '!' } },
	{ "\xef\xbf\xbd\xef\xbf\xbd", 2, { 0xde00, 0xd83d } },
	{ "\xef\xbf\xbd\xf0\x9f\x98\x80", 3, { 0xd83d, 0xd83d, 0xde00 } },
	{ "\xe4\xb8\xad\xe6\x96\x87", 2, { 0x4e2d, 0x6587 } },
	/* The same bytes, as Latin-1 and as UTF-16. */
	{ "ab", 2, { 'a', 'b' } },
	{ "\xe6\x89\xa1", 1, { 0x6261 } },
};
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static void check_string(uint64_t id, const char *text, uint32_t count)
{
	char buf[64];
	struct heap_utf8 out = { .buf = buf, .size = sizeof(buf), .units = 99 };

	assert_true(heap_is_string(heap, ix_of(id)));
	assert_int_equal(heap_string_text(heap, ix_of(id), &out, &error), HDB_OK);
	assert_string_equal(buf, text);
	assert_int_equal(out.units, count);
	/* The text is cut at a character, whatever the size of the buffer. */
	for (size_t size = 1; size < sizeof(buf); size++) {
		assert_int_equal(heap_string(heap, ix_of(id), buf, size, &error), HDB_OK);
		assert_true(strlen(buf) < size);
		assert_memory_equal(buf, text, strlen(buf));
		assert_true(strlen(buf) == strlen(text) || strlen(buf) + 4 >= size);
	}
}

static void strings_of_vm(enum vm vm, unsigned id_size)
{
	struct heap_string_scan scan;
	struct heap_text_hash hash[SAMPLES], again;
	uint64_t ids[SAMPLES];
	size_t n = 0;

	begin(vm, id_size);
	for (size_t i = 0; i < SAMPLES; i++)
		ids[i] = put_string(samples[i].units, samples[i].count);
	open_heap();
	for (size_t i = 0; i < SAMPLES; i++)
		check_string(ids[i], samples[i].text, samples[i].count);
	assert_int_equal(heap_string_scan_begin(&scan, heap, &error), HDB_OK);
	assert_int_equal(heap_is_big_endian(heap), vm == JDK17_BIG_ENDIAN);
	for (; heap_string_scan_next(&scan, &error) == HDB_OK; n++) {
		char buf[64];
		struct heap_utf8 out = { .buf = buf, .size = sizeof(buf) };

		assert_true(n < SAMPLES);
		assert_int_equal(scan.ix, ix_of(ids[n]));
		assert_true(scan.string.has_chars);
		assert_int_equal(scan.string.chars.count, samples[n].count);
		assert_int_equal(heap_chars_utf8(&scan.view, &scan.string.chars, &out, &error),
				 HDB_OK);
		assert_string_equal(buf, samples[n].text);
		assert_int_equal(out.used, strlen(buf));
		assert_true(out.is_whole);
		assert_int_equal(heap_chars_hash(&scan.view, &scan.string.chars, &hash[n], &error),
				 HDB_OK);
		for (size_t k = 0; k < n; k++)
			assert_true(hash[k].low != hash[n].low || hash[k].high != hash[n].high);
	}
	assert_int_equal(n, SAMPLES);
	for (size_t i = 0; i < SAMPLES; i++) {
		struct heap_string chars;

		assert_int_equal(heap_string_one(heap, ix_of(ids[i]), &chars, &error), HDB_OK);
		assert_int_equal(heap_chars_hash(&scan.view, &chars.chars, &again, &error), HDB_OK);
		assert_int_equal(again.low, hash[i].low);
		assert_int_equal(again.high, hash[i].high);
	}
	heap_string_scan_release(&scan);
	close_heap();
}

static void strings_of_all_vms(void **state)
{
	(void)state;
	for (int vm = 0; vm < VM_COUNT; vm++) {
		strings_of_vm((enum vm)vm, 4);
		strings_of_vm((enum vm)vm, 8);
	}
}

/* The same text has the same hash, whatever kind of array holds it, in one piece or in many. */
static void hash_of_long_text(void **state)
{
	enum { COUNT = 10000 };
	static uint16_t units[COUNT + 1];
	struct heap_string_scan scan;
	struct heap_text_hash hash[4];
	uint64_t narrow, wide, other, mixed;
	struct heap_string chars;

	(void)state;
	begin(JDK17, 8);
	for (size_t i = 0; i <= COUNT; i++)
		units[i] = (uint16_t)('a' + i % 26);
	narrow = put_string_over(put_array(units, COUNT, true, true), 0, COUNT, true);
	wide = put_string_over(put_array(units, COUNT, true, false), 0, COUNT, false);
	units[COUNT - 1] ^= 1;
	other = put_string_over(put_array(units, COUNT, true, true), 0, COUNT, true);
	units[COUNT - 1] = 0x20ac;
	mixed = put_string_over(put_array(units, COUNT, true, false), 0, COUNT, false);
	open_heap();
	assert_int_equal(heap_string_scan_begin(&scan, heap, &error), HDB_OK);
	for (int i = 0; i < 4; i++) {
		const uint64_t ids[] = { narrow, wide, other, mixed };

		assert_int_equal(heap_string_one(heap, ix_of(ids[i]), &chars, &error), HDB_OK);
		assert_int_equal(chars.chars.count, COUNT);
		assert_int_equal(heap_chars_hash(&scan.view, &chars.chars, &hash[i], &error),
				 HDB_OK);
	}
	assert_true(hash[0].low == hash[1].low && hash[0].high == hash[1].high);
	assert_true(hash[0].low != hash[2].low && hash[0].low != hash[3].low);
	assert_true(hash[2].low != hash[3].low);
	heap_string_scan_release(&scan);
	close_heap();
}

/*
 * Invalid strings: no array, another object instead of an array, bounds outside the array, an array
 * without contents.
 */
static void strings_that_lie(void **state)
{
	static const uint16_t abc[] = { 'a', 'b', 'c' };
	struct heap_string_scan scan;
	uint64_t array, ids[7], nodata;
	char buf[16];
	unsigned seen = 0, with_chars = 0;

	(void)state;
	begin(JDK6, 8);
	array = put_array(abc, 3, false, false);
	ids[0] = put_string_over(array, 1, 100, false);
	ids[1] = put_string_over(array, 100, 1, false);
	ids[2] = put_string_over(array, (uint32_t)-5, 2, false);
	ids[3] = put_string_over(array, 0, (uint32_t)-1, false);
	ids[4] = put_string_over(0, 0, 3, false);
	ids[5] = put_string_over(OBJECT, 0, 3, false);
	ids[6] = put_string_over(0xdead00, 0, 3, false);
	nodata = new_id();
	hw_primitive_array_nodata(&dump.w, nodata, HPROF_CHAR, 5);
	(void)put_string_over(nodata, 0, 5, false);
	open_heap();
	assert_int_equal(heap_string(heap, ix_of(ids[0]), buf, sizeof(buf), &error), HDB_OK);
	assert_string_equal(buf, "bc");
	assert_int_equal(heap_string(heap, ix_of(ids[1]), buf, sizeof(buf), &error), HDB_OK);
	assert_string_equal(buf, "");
	assert_int_equal(heap_string(heap, ix_of(ids[2]), buf, sizeof(buf), &error), HDB_OK);
	assert_string_equal(buf, "ab");
	for (int i = 4; i < 7; i++)
		assert_int_equal(heap_string(heap, ix_of(ids[i]), buf, sizeof(buf), &error),
				 HDB_NOTFOUND);
	assert_int_equal(heap_string(heap, ix_of(array), buf, sizeof(buf), &error), HDB_NOTFOUND);
	assert_int_equal(heap_string_scan_begin(&scan, heap, &error), HDB_OK);
	while (heap_string_scan_next(&scan, &error) == HDB_OK) {
		seen++;
		with_chars += scan.string.has_chars;
		if (scan.string.has_chars)
			assert_true(scan.string.chars.count <= 3);
	}
	assert_int_equal(seen, 8);
	assert_int_equal(with_chars, 4);
	for (int i = 0; i < 4; i++) {
		static const uint64_t counts[] = { 2, 0, 2, 0 };
		struct heap_string chars;

		assert_int_equal(heap_string_one(heap, ix_of(ids[i]), &chars, &error), HDB_OK);
		assert_int_equal(chars.chars.count, counts[i]);
	}
	heap_string_scan_release(&scan);
	close_heap();
}

/* ---- fields ---- */

static void fields_of_every_type(void **state)
{
	static const struct {
		uint8_t type;
		uint64_t bits;
	} want[] = {
		{ HPROF_BOOLEAN, 1 },        { HPROF_CHAR, 0x263a },
		{ HPROF_FLOAT, 0x3f800000 }, { HPROF_DOUBLE, 0x4000000000000000 },
		{ HPROF_BYTE, 0xfe },        { HPROF_SHORT, 0xfffe },
		{ HPROF_INT, 0x80000001 },   { HPROF_LONG, 0x8000000000000001 },
		{ HPROF_OBJECT, STRING },    { HPROF_INT, 77 },
	};
	struct heap_fields fields;
	struct heap_value value;
	struct body b = { .size = 0 };
	uint64_t id, cut;
	uint32_t target;
	size_t n = 0;

	(void)state;
	begin(JDK17, 8);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		put(&b, want[i].bits, hprof_type_size(want[i].type, 8));
	id = new_id();
	hw_instance(&dump.w, id, WIDE, b.bytes, b.size);
	cut = new_id();
	hw_instance(&dump.w, cut, WIDE, b.bytes, 6);
	open_heap();
	assert_int_equal(heap_fields_begin(heap, ix_of(id), &fields, &error), HDB_OK);
	for (; heap_fields_next(&fields, &error) == HDB_OK; n++) {
		assert_true(n < sizeof(want) / sizeof(want[0]));
		assert_int_equal(fields.value.type, want[n].type);
		assert_int_equal(fields.value.bits, want[n].bits);
		assert_string_equal(heap_class_name(heap, fields.declaring_no),
				    n == 9 ? "test.Narrow" : "test.Wide");
	}
	assert_int_equal(n, 10);
	/* Both classes have a field `value`. */
	assert_int_equal(heap_field_value(heap, ix_of(id),
					  (struct heap_field_name){ .name = "value" }, &value,
					  &error),
			 HDB_OK);
	assert_int_equal(value.type, HPROF_BOOLEAN);
	assert_int_equal(heap_field_value(heap, ix_of(id),
					  (struct heap_field_name){ "test.Narrow", "value" },
					  &value, &error),
			 HDB_OK);
	assert_int_equal(value.bits, 77);
	assert_int_equal(heap_field_value(heap, ix_of(id),
					  (struct heap_field_name){ .name = "none" }, &value,
					  &error),
			 HDB_NOTFOUND);
	assert_int_equal(heap_field_object(heap, ix_of(id),
					   (struct heap_field_name){ .name = "referent" }, &target,
					   &error),
			 HDB_OK);
	assert_int_equal(target, ix_of(STRING));
	/* A truncated instance has only its first fields. */
	assert_int_equal(heap_fields_begin(heap, ix_of(cut), &fields, &error), HDB_OK);
	for (n = 0; heap_fields_next(&fields, &error) == HDB_OK; n++)
		;
	assert_int_equal(n, 2);
	assert_int_equal(heap_fields_begin(heap, ix_of(STRING), &fields, &error), HDB_EUSAGE);
	assert_string_equal(error.message, "the object is not an instance and has no fields");
	close_heap();
}

static int read_slice(uint64_t id, uint64_t from, uint64_t room, struct heap_slice *slice)
{
	slice->room = room;
	return heap_elements(heap, ix_of(id), from, slice, &error);
}

static void statics_and_elements(void **state)
{
	static const uint16_t abc[] = { 'a', 'b', 'c' };
	uint64_t elements[5000], array, chars, bits[5000];
	struct heap_slice slice = { .bits = bits };
	struct heap_fields fields;
	uint32_t no;

	(void)state;
	for (size_t i = 0; i < 5000; i++)
		elements[i] = i * 3;
	begin(JDK17, 4);
	chars = put_array(abc, 3, false, false);
	array = new_id();
	hw_object_array(&dump.w, array, OBJECTS, elements, 5000);
	open_heap();
	no = heap_class_by_name(heap, "java.lang.StringUTF16", 0);
	assert_int_not_equal(no, HEAP_NONE);
	heap_statics_begin(heap, no, &fields);
	assert_int_equal(heap_fields_next(&fields, &error), HDB_OK);
	assert_int_equal(fields.value.type, HPROF_INT);
	assert_int_equal(heap_fields_next(&fields, &error), HDB_OK);
	assert_int_equal(fields.value.bits, OBJECT);
	assert_int_equal(heap_fields_next(&fields, &error), HDB_END);

	assert_int_equal(read_slice(array, 0, 5000, &slice), HDB_OK);
	assert_int_equal(slice.done, 5000);
	assert_int_equal(slice.type, HPROF_OBJECT);
	assert_memory_equal(bits, elements, sizeof(elements));
	assert_int_equal(read_slice(array, 4990, UINT64_MAX, &slice), HDB_OK);
	assert_int_equal(slice.done, 10);
	assert_int_equal(bits[9], 4999 * 3);
	assert_int_equal(read_slice(array, UINT64_MAX, 5, &slice), HDB_OK);
	assert_int_equal(slice.done, 0);
	assert_int_equal(read_slice(chars, 1, 5, &slice), HDB_OK);
	assert_int_equal(slice.done, 2);
	assert_int_equal(bits[1], 'c');
	assert_int_equal(read_slice(STRING, 0, 5, &slice), HDB_EUSAGE);
	assert_string_equal(error.message, "the object is not an array");
	close_heap();
}

/* ---- strengths ---- */

static uint64_t put_reference(uint64_t class_id, uint64_t mine, uint64_t own_referent,
			      uint64_t referent, uint64_t queue)
{
	const uint64_t id = new_id();
	struct body b = { .size = 0 };

	if (class_id == MINE) {
		put(&b, mine, dump.w.id_size);
		put(&b, own_referent, dump.w.id_size);
	}
	put(&b, referent, dump.w.id_size);
	put(&b, queue, dump.w.id_size);
	hw_instance(&dump.w, id, class_id, b.bytes, b.size);
	return id;
}

static void strengths(void **state)
{
	static const uint16_t abc[] = { 'a', 'b', 'c' };
	uint64_t to, other;
	struct {
		uint64_t from;
		uint64_t to;
		uint8_t strength;
	} want[9];

	(void)state;
	begin(JDK17, 8);
	to = put_string(abc, 3);
	other = put_string(abc, 3);
	want[0].from = put_reference(WEAK, 0, 0, to, other);
	want[1].from = want[0].from;
	want[2].from = put_reference(WEAK, 0, 0, to, to);
	want[3].from = put_reference(MINE, other, 0, to, 0);
	want[4].from = want[3].from;
	want[5].from = put_reference(MINE, to, 0, to, 0);
	want[6].from = put_reference(MINE, 0, to, to, 0);
	want[7].from = put_reference(WEAK, 0, 0, WEAK, 0);
	want[8].from = to;
	for (size_t i = 0; i < 9; i++) {
		want[i].to = to;
		want[i].strength = i == 0 || i == 3 ? STORE_WEAK : STORE_STRONG;
	}
	want[1].to = want[4].to = other;
	want[7].to = WEAK; /* its class, which the class edge also holds */
	open_heap();
	for (size_t i = 0; i < 9; i++) {
		uint8_t strength = 99;

		assert_int_equal(heap_strength(heap, ix_of(want[i].from), ix_of(want[i].to),
					       &strength, &error),
				 HDB_OK);
		if (strength != want[i].strength)
			fail_msg("%zu: strength %u", i, strength);
	}
	close_heap();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_of_all_vms),   cmocka_unit_test(hash_of_long_text),
		cmocka_unit_test(strings_that_lie),     cmocka_unit_test(fields_of_every_type),
		cmocka_unit_test(statics_and_elements), cmocka_unit_test(strengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

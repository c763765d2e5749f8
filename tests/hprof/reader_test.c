/*
 * reader_test.c - each record and sub-record, with 4- and 8-byte identifiers, read back whole and
 * truncated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "hprof/reader.h"
#include "support/hprof_writer.h"

#include <stdlib.h>
#include <string.h>

/* A dump under test. `base` is an identifier that needs all bytes of its size. */
struct dump {
	struct hw w;
	struct base_source *source;
	struct hprof_file file;
	struct base_view view;
	uint64_t base;
};

static const unsigned id_sizes[] = { 4, 8 };

static void dump_init(struct dump *d, unsigned id_size)
{
	memset(d, 0, sizeof(*d));
	hw_init(&d->w, HPROF_1_0_2, id_size, UINT64_C(1700000000123));
	d->base = id_size == 8 ? UINT64_C(0xfedcba9800000000) : 0xfedc0000u;
}

/* Ends writing, and opens the dump. */
static void dump_open(struct dump *d)
{
	struct hdb_error err = { 0 };

	assert_int_equal(base_memory_open(d->w.data, d->w.size, &d->source, &err), HDB_OK);
	assert_int_equal(hprof_open(d->source, &d->file, &err), HDB_OK);
	d->view.src = d->source;
}

static void dump_release(struct dump *d)
{
	base_source_close(d->source);
	hw_release(&d->w);
}

/* Reads the record at `offset`, whose header is complete. */
static struct hprof_record record_at(const struct dump *d, uint64_t offset)
{
	const uint8_t *p = d->w.data + offset;

	assert_in_range(offset, 0, d->w.size - 9);
	return (struct hprof_record){
		.offset = offset,
		.body_offset = offset + 9,
		.body_size = be32(p + 5),
		.time_us = be32(p + 1),
		.tag = p[0],
	};
}

static struct hprof_record first_record(const struct dump *d)
{
	return record_at(d, d->file.first_record);
}

/* ---- header ---- */

static void test_header(void **state)
{
	(void)state;
	for (int version = 1; version <= 3; version++) {
		for (unsigned i = 0; i < 2; i++) {
			struct dump d;

			memset(&d, 0, sizeof(d));
			hw_init(&d.w, (enum hprof_version)version, id_sizes[i], 0x123456789aULL);
			dump_open(&d);
			assert_int_equal(d.file.version, version);
			assert_int_equal(d.file.id_size, id_sizes[i]);
			assert_true(d.file.timestamp_ms == 0x123456789aULL);
			assert_int_equal(d.file.first_record, 31);
			dump_release(&d);
		}
	}
}

static void test_not_hprof(void **state)
{
	static char tar[512] = "./heap.hprof";
	static const struct {
		const char *name;
		const char *bytes;
		size_t size;
		int code;
		const char *message; /* a part of it */
	} rows[] = {
		{ "text", "this is not a heap dump\nat all\n", 31, HDB_EFORMAT, "text" },
		{ "gzip", "\x1f\x8b\x08\0\0\0\0\0", 8, HDB_EFORMAT, "gzip" },
		{ "zip", "PK\x03\x04\x14\0\0\0", 8, HDB_EFORMAT, "zip" },
		{ "zstd", "\x28\xb5\x2f\xfd\x04\0", 6, HDB_EFORMAT, "Zstandard" },
		{ "core",
		  "\x7f"
		  "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0\x3e\0",
		  20, HDB_EFORMAT, "core dump" },
		{ "elf",
		  "\x7f"
		  "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0",
		  20, HDB_EFORMAT, "ELF file" },
		{ "jfr", "FLR\0\0\x02\0\x01", 8, HDB_EFORMAT, "Flight Recorder" },
		{ "phd", "\0\x12portable heap dump\0\0", 22, HDB_EFORMAT, "portable heap dump" },
		{ "perfetto", "\x0a\x9b\x08\x08\x01\x52\x20", 7, HDB_EFORMAT, "Perfetto" },
		{ "tar", tar, sizeof(tar), HDB_EFORMAT, "tar archive" },
		{ "binary", "\x00\x01\x02\x03", 4, HDB_EFORMAT, "0x00 0x01" },
		{ "one byte", "\x00", 1, HDB_EFORMAT, "JAVA PROFILE" },
		{ "old version", "JAVA PROFILE 1.0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0", 31,
		  HDB_EFORMAT, "version" },
		{ "new version", "JAVA PROFILE 1.0.4\0\0\0\0\x04\0\0\0\0\0\0\0\0", 31, HDB_EFORMAT,
		  "version" },
		{ "id size 3", "JAVA PROFILE 1.0.2\0\0\0\0\x03\0\0\0\0\0\0\0\0", 31, HDB_EFORMAT,
		  "ID size 3" },
		{ "magic only", "JAVA PROFILE 1.0.2", 18, HDB_ETRUNC, "18 of 31" },
		{ "cut", "JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0", 30, HDB_ETRUNC,
		  "30 of 31" },
		{ "first letter", "J", 1, HDB_ETRUNC, "1 of 31" },
	};

	(void)state;
	memcpy(tar + 257, "ustar", 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct base_source *source;
		struct hprof_file file;
		struct hdb_error err = { 0 };
		/*
		 * Copies the bytes to memory of exactly their size, so that sanitizers detect reads
		 * past the end.
		 */
		uint8_t *copy = malloc(rows[i].size);

		assert_non_null(copy);
		memcpy(copy, rows[i].bytes, rows[i].size);
		assert_int_equal(base_memory_open(copy, rows[i].size, &source, &err), HDB_OK);
		if (hprof_open(source, &file, &err) != rows[i].code ||
		    !strstr(err.message, rows[i].message))
			fail_msg("%s: code %d, message \"%s\"", rows[i].name, err.code,
				 err.message);
		base_source_close(source);
		free(copy);
	}
}

/* ---- top-level records ---- */

/* Reads a record of any kind and discards it, to test the bounds. */
static int read_any(struct dump *d, const struct hprof_record *rec, struct hdb_error *err)
{
	union {
		struct hprof_utf8 utf8;
		struct hprof_load_class load_class;
		struct hprof_frame frame;
		struct hprof_trace trace;
		struct hprof_start_thread thread;
		struct hprof_heap_summary summary;
		struct hprof_alloc_sites sites;
		struct hprof_cpu_samples samples;
		struct hprof_control_settings settings;
		uint32_t serial;
	} u;
	const struct hprof_file *f = &d->file;
	struct base_view *v = &d->view;

	switch (rec->tag) {
	case HPROF_UTF8:
		return hprof_read_utf8(f, v, rec, &u.utf8, err);
	case HPROF_LOAD_CLASS:
		return hprof_read_load_class(f, v, rec, &u.load_class, err);
	case HPROF_FRAME:
		return hprof_read_frame(f, v, rec, &u.frame, err);
	case HPROF_TRACE:
		return hprof_read_trace(f, v, rec, &u.trace, err);
	case HPROF_START_THREAD:
		return hprof_read_start_thread(f, v, rec, &u.thread, err);
	case HPROF_HEAP_SUMMARY:
		return hprof_read_heap_summary(f, v, rec, &u.summary, err);
	case HPROF_ALLOC_SITES:
		return hprof_read_alloc_sites(f, v, rec, &u.sites, err);
	case HPROF_CPU_SAMPLES:
		return hprof_read_cpu_samples(f, v, rec, &u.samples, err);
	case HPROF_CONTROL_SETTINGS:
		return hprof_read_control_settings(f, v, rec, &u.settings, err);
	default:
		return hprof_read_serial(f, v, rec, &u.serial, err);
	}
}

static void write_all_records(struct dump *d)
{
	const uint64_t b = d->base, frames[] = { b + 1, b + 2, b + 3 };
	const uint32_t pairs[] = { 10, 1, 20, 2 };
	struct hw *w = &d->w;

	hw_utf8(w, b + 7, "h\xc3\xa9llo");
	hw_load_class(w, 3, b + 8, 4, b + 9);
	hw_unload_class(w, 5);
	hw_frame(w, &(struct hprof_frame){ b + 1, b + 2, b + 3, b + 4, 6, -3 });
	hw_trace(w, 7, 8, frames, 3);
	hw_alloc_sites(
		w, &(struct hprof_alloc_sites){ 1, 0x3f800000, 10, 11, 1ULL << 40, 13, 2, 0 },
		(struct hprof_alloc_site[]){ { 2, 1, 2, 3, 4, 5, 6 }, { 8, 7, 8, 9, 1, 2, 3 } });
	hw_heap_summary(w, &(struct hprof_heap_summary){ 1, 2, 1ULL << 33, 4 });
	hw_start_thread(w, &(struct hprof_start_thread){ 1, b + 2, 3, b + 4, b + 5, b + 6 });
	hw_end_thread(w, 9);
	hw_cpu_samples(w, 30, pairs, 2);
	hw_control_settings(w, 3, 17);
}

/* Moves to the record with this tag. */
static struct hprof_record find(struct dump *d, uint8_t tag)
{
	struct hprof_record rec = first_record(d);

	while (rec.tag != tag)
		rec = record_at(d, rec.body_offset + rec.body_size);
	return rec;
}

static void check_records_1(struct dump *d)
{
	const struct hprof_file *f = &d->file;
	struct base_view *v = &d->view;
	const uint64_t b = d->base;
	struct hprof_record rec = find(d, HPROF_UTF8);
	struct hprof_utf8 utf8;
	struct hprof_load_class load;
	struct hprof_frame frame;
	struct hprof_trace trace;
	uint32_t serial;

	assert_int_equal(hprof_read_utf8(f, v, &rec, &utf8, NULL), HDB_OK);
	assert_true(utf8.string_id == b + 7);
	assert_int_equal(utf8.text_size, 6);
	assert_memory_equal(utf8.text, "h\xc3\xa9llo", 6);
	assert_int_equal(utf8.text_offset, 31 + 9 + f->id_size);
	rec = find(d, HPROF_LOAD_CLASS);
	assert_int_equal(hprof_read_load_class(f, v, &rec, &load, NULL), HDB_OK);
	assert_int_equal(load.class_serial, 3);
	assert_true(load.class_id == b + 8);
	assert_int_equal(load.trace_serial, 4);
	assert_true(load.name_string_id == b + 9);
	rec = find(d, HPROF_UNLOAD_CLASS);
	assert_int_equal(hprof_read_serial(f, v, &rec, &serial, NULL), HDB_OK);
	assert_int_equal(serial, 5);
	rec = find(d, HPROF_FRAME);
	assert_int_equal(hprof_read_frame(f, v, &rec, &frame, NULL), HDB_OK);
	assert_true(frame.frame_id == b + 1 && frame.method_string_id == b + 2);
	assert_true(frame.signature_string_id == b + 3 && frame.source_string_id == b + 4);
	assert_int_equal(frame.class_serial, 6);
	assert_int_equal(frame.line, -3);
	rec = find(d, HPROF_TRACE);
	assert_int_equal(hprof_read_trace(f, v, &rec, &trace, NULL), HDB_OK);
	assert_int_equal(trace.trace_serial, 7);
	assert_int_equal(trace.thread_serial, 8);
	assert_int_equal(trace.frame_count, 3);
	assert_true(be_id(d->w.data + trace.frames_offset + 2 * f->id_size, f->id_size) == b + 3);
}

static void check_records_2(struct dump *d)
{
	const struct hprof_file *f = &d->file;
	struct base_view *v = &d->view;
	const uint64_t b = d->base;
	struct hprof_record rec = find(d, HPROF_ALLOC_SITES);
	struct hprof_alloc_sites sites;
	struct hprof_alloc_site site;
	struct hprof_heap_summary sum;
	struct hprof_start_thread thread;
	struct hprof_cpu_samples samples;
	struct hprof_control_settings settings;

	assert_int_equal(hprof_read_alloc_sites(f, v, &rec, &sites, NULL), HDB_OK);
	assert_int_equal(sites.flags, 1);
	assert_int_equal(sites.cutoff_ratio_bits, 0x3f800000);
	assert_int_equal(sites.live_bytes, 10);
	assert_int_equal(sites.live_instances, 11);
	assert_true(sites.allocated_bytes == 1ULL << 40 && sites.allocated_instances == 13);
	assert_int_equal(sites.site_count, 2);
	assert_int_equal(
		hprof_read_alloc_site(v, sites.sites_offset + HPROF_ALLOC_SITE_SIZE, &site, NULL),
		HDB_OK);
	assert_int_equal(site.array_type, 8);
	assert_int_equal(site.class_serial, 7);
	assert_int_equal(site.trace_serial, 8);
	assert_int_equal(site.live_bytes, 9);
	assert_int_equal(site.live_instances, 1);
	assert_int_equal(site.allocated_bytes, 2);
	assert_int_equal(site.allocated_instances, 3);
	rec = find(d, HPROF_HEAP_SUMMARY);
	assert_int_equal(hprof_read_heap_summary(f, v, &rec, &sum, NULL), HDB_OK);
	assert_int_equal(sum.live_bytes, 1);
	assert_int_equal(sum.live_instances, 2);
	assert_true(sum.allocated_bytes == 1ULL << 33 && sum.allocated_instances == 4);
	rec = find(d, HPROF_START_THREAD);
	assert_int_equal(hprof_read_start_thread(f, v, &rec, &thread, NULL), HDB_OK);
	assert_int_equal(thread.thread_serial, 1);
	assert_int_equal(thread.trace_serial, 3);
	assert_true(thread.thread_id == b + 2 && thread.name_string_id == b + 4);
	assert_true(thread.group_name_string_id == b + 5);
	assert_true(thread.parent_group_name_string_id == b + 6);
	rec = find(d, HPROF_CPU_SAMPLES);
	assert_int_equal(hprof_read_cpu_samples(f, v, &rec, &samples, NULL), HDB_OK);
	assert_int_equal(samples.sample_count, 30);
	assert_int_equal(samples.trace_count, 2);
	assert_int_equal(be32(d->w.data + samples.traces_offset + 8), 20);
	rec = find(d, HPROF_CONTROL_SETTINGS);
	assert_int_equal(hprof_read_control_settings(f, v, &rec, &settings, NULL), HDB_OK);
	assert_int_equal(settings.flags, 3);
	assert_int_equal(settings.trace_depth, 17);
}

static void test_records(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct dump d;

		dump_init(&d, id_sizes[i]);
		write_all_records(&d);
		dump_open(&d);
		check_records_1(&d);
		check_records_2(&d);
		dump_release(&d);
	}
}

/* The number of sites is limited by the size of the body. */
static void check_site_count(struct dump *d, const struct hprof_record *rec)
{
	struct hprof_alloc_sites sites;

	if (rec->tag != HPROF_ALLOC_SITES)
		return;
	assert_int_equal(hprof_read_alloc_sites(&d->file, &d->view, rec, &sites, NULL), HDB_OK);
	assert_int_equal(sites.site_count, (rec->body_size - 34) / HPROF_ALLOC_SITE_SIZE);
}

/*
 * Every record with a body of every smaller size: an error that names it, or (lists) fewer entries.
 */
static void test_short_bodies(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct dump d;
		struct hprof_record rec;
		uint64_t at;

		dump_init(&d, id_sizes[i]);
		write_all_records(&d);
		dump_open(&d);
		at = d.file.first_record;
		while (at < d.w.size) {
			uint64_t size;
			bool may_shrink;

			rec = record_at(&d, at);
			size = rec.body_size;
			may_shrink = rec.tag == HPROF_UTF8 || rec.tag == HPROF_ALLOC_SITES;
			at = rec.body_offset + size;
			for (rec.body_size = 0; rec.body_size < size; rec.body_size++) {
				struct hdb_error err = { 0 };
				const int rc = read_any(&d, &rec, &err);

				if (rc == HDB_OK && may_shrink) {
					check_site_count(&d, &rec);
					continue;
				}
				assert_int_equal(rc, HDB_EFORMAT);
				assert_non_null(strstr(err.message, hprof_tag_name(rec.tag)));
				assert_int_equal(read_any(&d, &rec, NULL), HDB_EFORMAT);
			}
			assert_int_equal(read_any(&d, &rec, NULL), HDB_OK);
		}
		dump_release(&d);
	}
}

/* ---- sub-records ---- */

struct sub_row {
	uint8_t tag;
	uint64_t id, class_id; /* offsets relative to the base; class_id 0: no class */
	uint64_t body_size;    /* for ID size 4; with ID size 8, 4 more per element if by_id */
	uint32_t length, trace_serial, thread_serial, frame_number;
	uint8_t element_type;
	bool is_root;
};

static const struct sub_row sub_rows[] = {
	{ HPROF_ROOT_UNKNOWN, 1, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_JNI_GLOBAL, 2, 77, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_JNI_LOCAL, 3, 0, 0, 0, 0, 11, 12, 0, true },
	{ HPROF_ROOT_JAVA_FRAME, 4, 0, 0, 0, 0, 13, 0xffffffff, 0, true },
	{ HPROF_ROOT_NATIVE_STACK, 5, 0, 0, 0, 0, 14, 0, 0, true },
	{ HPROF_ROOT_STICKY_CLASS, 6, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_THREAD_BLOCK, 7, 0, 0, 0, 0, 15, 0, 0, true },
	{ HPROF_ROOT_MONITOR_USED, 8, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_THREAD_OBJECT, 9, 0, 0, 0, 17, 16, 0, 0, true },
	{ HPROF_ROOT_INTERNED_STRING, 10, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_FINALIZING, 11, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_DEBUGGER, 12, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_REFERENCE_CLEANUP, 13, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_VM_INTERNAL, 14, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_ROOT_JNI_MONITOR, 15, 0, 0, 0, 0, 18, 19, 0, true },
	{ HPROF_ROOT_UNREACHABLE, 16, 0, 0, 0, 0, 0, 0, 0, true },
	{ HPROF_INSTANCE_DUMP, 20, 50, 13, 13, 1, 0, 0, 0, false },
	{ HPROF_INSTANCE_DUMP, 21, 50, 0, 0, 1, 0, 0, 0, false },
	{ HPROF_OBJECT_ARRAY_DUMP, 22, 51, 12, 3, 1, 0, 0, 0, false },
	{ HPROF_OBJECT_ARRAY_DUMP, 23, 51, 0, 0, 1, 0, 0, 0, false },
	{ HPROF_PRIMITIVE_ARRAY_DUMP, 24, 0, 5, 5, 1, 0, 0, HPROF_BOOLEAN, false },
	{ HPROF_PRIMITIVE_ARRAY_DUMP, 25, 0, 10, 5, 1, 0, 0, HPROF_CHAR, false },
	{ HPROF_PRIMITIVE_ARRAY_DUMP, 26, 0, 20, 5, 1, 0, 0, HPROF_FLOAT, false },
	{ HPROF_PRIMITIVE_ARRAY_DUMP, 27, 0, 40, 5, 1, 0, 0, HPROF_DOUBLE, false },
	{ HPROF_PRIMITIVE_ARRAY_DUMP, 28, 0, 5, 5, 1, 0, 0, HPROF_BYTE, false },
	{ HPROF_PRIMITIVE_ARRAY_DUMP, 29, 0, 10, 5, 1, 0, 0, HPROF_SHORT, false },
	{ HPROF_PRIMITIVE_ARRAY_DUMP, 30, 0, 20, 5, 1, 0, 0, HPROF_INT, false },
	{ HPROF_PRIMITIVE_ARRAY_DUMP, 31, 0, 40, 5, 1, 0, 0, HPROF_LONG, false },
	{ HPROF_PRIMITIVE_ARRAY_NODATA, 32, 0, 0, 5, 1, 0, 0, HPROF_LONG, false },
};
#define SUB_ROWS (sizeof(sub_rows) / sizeof(sub_rows[0]))

static void write_sub(struct dump *d, const struct sub_row *row)
{
	const uint64_t id = d->base + row->id;

	switch (row->tag) {
	case HPROF_INSTANCE_DUMP:
		hw_instance(&d->w, id, d->base + row->class_id, NULL, row->length);
		break;
	case HPROF_OBJECT_ARRAY_DUMP:
		hw_object_array(&d->w, id, d->base + row->class_id, NULL, row->length);
		break;
	case HPROF_PRIMITIVE_ARRAY_DUMP:
		hw_primitive_array(&d->w, id, row->element_type, NULL, row->length);
		break;
	case HPROF_PRIMITIVE_ARRAY_NODATA:
		hw_primitive_array_nodata(&d->w, id, row->element_type, row->length);
		break;
	case HPROF_ROOT_JNI_GLOBAL:
		hw_root(&d->w, row->tag, id, d->base + row->class_id, 0);
		break;
	default:
		hw_root(&d->w, row->tag, id, row->thread_serial,
			row->trace_serial ? row->trace_serial : row->frame_number);
	}
}

static void check_sub(struct dump *d, const struct sub_row *row, const struct hprof_sub *sub)
{
	uint64_t body_size = row->body_size;

	if (row->tag == HPROF_OBJECT_ARRAY_DUMP)
		body_size = (uint64_t)row->length * d->file.id_size;
	assert_int_equal(sub->tag, row->tag);
	assert_true(sub->id == d->base + row->id);
	if (row->class_id)
		assert_true(sub->class_id == d->base + row->class_id);
	if (!row->is_root) {
		assert_int_equal(sub->body_size, body_size);
		assert_int_equal(sub->body_offset + body_size, sub->end);
	}
	assert_int_equal(sub->length, row->length);
	assert_int_equal(sub->trace_serial, row->trace_serial);
	assert_int_equal(sub->thread_serial, row->thread_serial);
	assert_int_equal(sub->frame_number, row->frame_number);
	assert_int_equal(sub->element_type, row->element_type);
	assert_int_equal(hprof_sub_is_root(sub->tag), row->is_root);
	assert_non_null(hprof_sub_name(sub->tag));
}

static void test_subs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct dump d;
		struct hprof_sub sub;
		struct hdb_error err = { 0 };
		uint64_t at;

		dump_init(&d, id_sizes[i]);
		hw_begin(&d.w, HPROF_HEAP_DUMP_SEGMENT, 0);
		for (size_t r = 0; r < SUB_ROWS; r++)
			write_sub(&d, &sub_rows[r]);
		hw_heap_info(&d.w, 'A', d.base + 99);
		hw_end(&d.w);
		dump_open(&d);
		at = 40;
		for (size_t r = 0; r < SUB_ROWS; r++) {
			assert_int_equal(hprof_sub_read(&d.file, &d.view, at, &sub, &err), HDB_OK);
			assert_int_equal(sub.offset, at);
			check_sub(&d, &sub_rows[r], &sub);
			/* One byte less is too few. */
			for (uint64_t limit = at; limit < sub.end; limit++) {
				struct hprof_sub cut;

				assert_int_equal(
					hprof_sub_read_in(&d.file, &d.view,
							  (struct hprof_range){ at, limit }, &cut,
							  &err),
					HDB_ETRUNC);
				assert_int_equal(cut.offset, at);
			}
			at = sub.end;
		}
		assert_int_equal(hprof_sub_read(&d.file, &d.view, at, &sub, &err), HDB_OK);
		assert_int_equal(sub.tag, HPROF_HEAP_DUMP_INFO);
		assert_int_equal(sub.id, 'A');
		assert_true(sub.class_id == d.base + 99);
		assert_int_equal(sub.end, d.w.size);
		dump_release(&d);
	}
}

static void test_sub_damage(void **state)
{
	struct dump d;
	struct hprof_sub sub;
	struct hdb_error err = { 0 };
	size_t array, bad;

	(void)state;
	dump_init(&d, 8);
	array = d.w.size;
	hw_primitive_array(&d.w, 1, 3, NULL, 0); /* basic type 3 does not exist */
	bad = d.w.size;
	hw_u1(&d.w, 0x42);
	hw_zeros(&d.w, 64);
	hw_primitive_array(&d.w, 1, HPROF_OBJECT, NULL, 0);
	hw_object_array(&d.w, 1, 2, NULL, 0);
	hw_patch_u4(&d.w, d.w.size - 12, 0xffffffff); /* 34 GB of elements */
	dump_open(&d);
	assert_int_equal(hprof_sub_read(&d.file, &d.view, array, &sub, &err), HDB_EFORMAT);
	assert_non_null(strstr(err.message, "basic type"));
	assert_int_equal(hprof_sub_read(&d.file, &d.view, bad, &sub, &err), HDB_EFORMAT);
	assert_non_null(strstr(err.message, "0x42"));
	assert_int_equal(sub.tag, 0x42);
	assert_int_equal(hprof_sub_read(&d.file, &d.view, bad + 65, &sub, &err), HDB_EFORMAT);
	assert_int_equal(hprof_sub_read_in(&d.file, &d.view,
					   (struct hprof_range){ d.w.size - 25, UINT64_MAX }, &sub,
					   &err),
			 HDB_ETRUNC);
	assert_int_equal(hprof_sub_read_in(&d.file, &d.view,
					   (struct hprof_range){ d.w.size + 5, UINT64_MAX }, &sub,
					   &err),
			 HDB_ETRUNC);
	dump_release(&d);
}

/* ---- class dumps ---- */

static const struct hw_constant constants[] = {
	{ 1, HPROF_INT, 0x11223344 },
	{ 2, HPROF_OBJECT, 0x5000 },
	{ 3, HPROF_BOOLEAN, 1 },
};
static const struct hw_static statics[] = {
	{ 0x101, HPROF_OBJECT, 0xfffffff0 },
	{ 0x102, HPROF_BOOLEAN, 1 },
	{ 0x103, HPROF_CHAR, 0xabcd },
	{ 0x104, HPROF_FLOAT, 0x3f800000 },
	{ 0x105, HPROF_DOUBLE, 0x3ff0000000000000ULL },
	{ 0x106, HPROF_BYTE, 0x80 },
	{ 0x107, HPROF_SHORT, 0xfffe },
	{ 0x108, HPROF_INT, 0x87654321 },
	{ 0x109, HPROF_LONG, 0x8000000000000001ULL },
};
static const struct hprof_field fields[] = {
	{ 0x201, HPROF_OBJECT },
	{ 0x202, HPROF_LONG },
	{ 0x203, HPROF_BYTE },
};

static void write_class(struct dump *d)
{
	hw_class(&d->w, &(struct hw_class){
				.id = d->base + 1,
				.super_id = d->base + 2,
				.loader_id = d->base + 3,
				.signers_id = d->base + 4,
				.domain_id = d->base + 5,
				.trace_serial = 6,
				.instance_size = 24,
				.constants = constants,
				.constant_count = 3,
				.statics = statics,
				.static_count = 9,
				.fields = fields,
				.field_count = 3,
			});
}

static void check_class(struct dump *d, const struct hprof_sub *sub)
{
	struct hprof_class c;
	struct hprof_static st;
	struct hprof_field field;
	struct hdb_error err = { 0 };
	uint64_t at;

	assert_int_equal(hprof_class_read(&d->file, &d->view, sub, &c, &err), HDB_OK);
	assert_true(c.class_id == d->base + 1 && c.super_id == d->base + 2);
	assert_true(c.loader_id == d->base + 3 && c.signers_id == d->base + 4);
	assert_true(c.protection_domain_id == d->base + 5);
	assert_int_equal(c.trace_serial, 6);
	assert_int_equal(c.instance_size, 24);
	assert_int_equal(c.constant_count, 3);
	assert_int_equal(c.static_count, 9);
	assert_int_equal(c.field_count, 3);
	at = c.statics_offset;
	for (unsigned i = 0; i < 9; i++) {
		assert_int_equal(hprof_static_next(&d->file, &d->view, &at, &st, &err), HDB_OK);
		assert_int_equal(st.name_string_id, statics[i].name_id);
		assert_int_equal(st.type, statics[i].type);
		assert_true(st.value == statics[i].value);
	}
	assert_int_equal(at + 2, c.fields_offset);
	at = c.fields_offset;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(hprof_field_next(&d->file, &d->view, &at, &field, &err), HDB_OK);
		assert_int_equal(field.name_string_id, fields[i].name_string_id);
		assert_int_equal(field.type, fields[i].type);
	}
	assert_int_equal(at, sub->end);
	assert_int_not_equal(hprof_field_next(&d->file, &d->view, &at, &field, &err), HDB_OK);
	assert_int_not_equal(hprof_static_next(&d->file, &d->view, &at, &st, &err), HDB_OK);
}

static void test_class(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct dump d;
		struct hprof_sub sub;
		struct hdb_error err = { 0 };

		dump_init(&d, id_sizes[i]);
		write_class(&d);
		dump_open(&d);
		assert_int_equal(hprof_sub_read(&d.file, &d.view, 31, &sub, &err), HDB_OK);
		assert_int_equal(sub.tag, HPROF_CLASS_DUMP);
		assert_true(sub.id == d.base + 1 && sub.class_id == d.base + 2);
		assert_int_equal(sub.length, 24);
		assert_int_equal(sub.end, d.w.size);
		check_class(&d, &sub);
		for (uint64_t limit = 31; limit < sub.end; limit++) {
			struct hprof_sub cut;

			assert_int_equal(hprof_sub_read_in(&d.file, &d.view,
							   (struct hprof_range){ 31, limit }, &cut,
							   &err),
					 HDB_ETRUNC);
		}
		dump_release(&d);
	}
}

/* Sets each byte of a class dump to several values. The result is within bounds or an error. */
static void test_class_damage(void **state)
{
	static const uint8_t values[] = { 0, 1, 2, 3, 7, 12, 0x7f, 0x80, 0xff };
	struct dump d;

	(void)state;
	dump_init(&d, 8);
	write_class(&d);
	dump_open(&d);
	for (size_t at = 31; at < d.w.size; at++) {
		for (size_t v = 0; v < sizeof(values); v++) {
			const uint8_t old = d.w.data[at];
			struct hprof_sub sub;
			struct hprof_class c;
			struct hdb_error err = { 0 };

			d.w.data[at] = values[v];
			if (hprof_sub_read(&d.file, &d.view, 31, &sub, &err) == HDB_OK) {
				assert_in_range(sub.end, 32, d.w.size);
				if (sub.tag == HPROF_CLASS_DUMP)
					assert_int_equal(
						hprof_class_read(&d.file, &d.view, &sub, &c, &err),
						HDB_OK);
			}
			d.w.data[at] = old;
		}
	}
	dump_release(&d);
}

static void test_names(void **state)
{
	static const uint8_t types[] = { 2, 4, 5, 6, 7, 8, 9, 10, 11 };
	static const unsigned sizes[] = { 8, 1, 2, 4, 8, 1, 2, 4, 8 };
	unsigned known = 0, subs = 0, tags = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(types); i++) {
		assert_int_equal(hprof_type_size(types[i], 8), sizes[i]);
		assert_non_null(hprof_type_name(types[i]));
	}
	assert_int_equal(hprof_type_size(HPROF_OBJECT, 4), 4);
	assert_string_equal(hprof_type_name(HPROF_LONG), "long");
	for (unsigned t = 0; t < 256; t++) {
		known += hprof_type_size((uint8_t)t, 8) != 0;
		assert_int_equal(hprof_type_size((uint8_t)t, 8) != 0,
				 hprof_type_name((uint8_t)t) != NULL);
		subs += hprof_sub_name((uint8_t)t) != NULL;
		tags += hprof_tag_name((uint8_t)t) != NULL;
	}
	assert_int_equal(known, 9);
	assert_int_equal(subs, 22);
	assert_int_equal(tags, 15);
}

/* Zeros after the last byte that is not zero, within a chunk and across many. */
static void test_content_end(void **state)
{
	static const struct {
		/* index of the byte that is not zero; size: all bytes are zero */
		uint32_t size, last;
		uint64_t least, end;
	} cases[] = {
		{ 0, 0, 0, 0 },
		{ 100, 100, 0, 0 },
		{ 100, 0, 0, 1 },
		{ 100, 99, 0, 100 },
		{ 100, 57, 0, 58 },
		{ 100, 57, 70, 70 },
		{ 100, 57, 58, 58 },
		{ 100, 57, 57, 58 },
		{ 3u << 20, 5, 0, 6 },
		{ 3u << 20, (1u << 20) - 1, 0, 1u << 20 },
		{ 3u << 20, 1u << 20, 7, (1u << 20) + 1 },
		{ (3u << 20) + 3, 5, 1u << 20, 1u << 20 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *bytes = calloc(1, cases[i].size + 1);
		struct hdb_error err = { 0 };
		struct hprof_record rec;
		struct hprof_sub sub;
		uint64_t end = 0;
		struct dump d;

		assert_non_null(bytes);
		bytes[cases[i].last] = cases[i].last < cases[i].size;
		dump_init(&d, 8);
		hw_begin(&d.w, HPROF_HEAP_DUMP_SEGMENT, 0);
		hw_primitive_array(&d.w, d.base, HPROF_BYTE, bytes, cases[i].size);
		hw_end(&d.w);
		dump_open(&d);
		rec = first_record(&d);
		assert_int_equal(hprof_sub_read(&d.file, &d.view, rec.body_offset, &sub, &err),
				 HDB_OK);
		assert_int_equal(hprof_content_end(&d.view, &sub, cases[i].least, &end, &err),
				 HDB_OK);
		assert_int_equal(end, cases[i].end);
		base_view_release(&d.view);
		dump_release(&d);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_content_end),  cmocka_unit_test(test_header),
		cmocka_unit_test(test_not_hprof),    cmocka_unit_test(test_records),
		cmocka_unit_test(test_short_bodies), cmocka_unit_test(test_subs),
		cmocka_unit_test(test_sub_damage),   cmocka_unit_test(test_class),
		cmocka_unit_test(test_class_damage), cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

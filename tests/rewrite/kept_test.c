/*
 * kept_test.c - strip that keeps strings and bitmaps. Of bitmaps with the same pixels, one buffer
 * is kept, and all of them refer to it. Recycled bitmaps have no buffer. Other arrays are removed.
 */
#include "heapdb.h"
#include "base/bytes.h"
#include "hprof/walk.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { OBJECT = 0x100, STRING = 0x110, BITMAP = 0x120, TEXT = 0x1000, PIXELS = 0x2000 };

static void put_classes(struct hw *w)
{
	static const char *const names[] = { "java.lang.Object",
					     "java.lang.String",
					     "android.graphics.Bitmap",
					     "value",
					     "mBuffer",
					     "mRecycled",
					     "hash" };
	const struct hprof_field string[] = { { 7, HPROF_INT }, { 4, HPROF_OBJECT } };
	const struct hprof_field bitmap[] = { { 6, HPROF_BOOLEAN }, { 5, HPROF_OBJECT } };
	const struct hw_class classes[] = {
		{ .id = OBJECT },
		{ .id = STRING, .super_id = OBJECT, .fields = string, .field_count = 2 },
		{ .id = BITMAP, .super_id = OBJECT, .fields = bitmap, .field_count = 2 },
	};

	for (uint64_t i = 0; i < 7; i++)
		hw_utf8(w, i + 1, names[i]);
	for (uint32_t i = 0; i < 3; i++)
		hw_load_class(w, i + 1, classes[i].id, 1, i + 1);
	hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (unsigned i = 0; i < 3; i++)
		hw_class(w, &classes[i]);
}

static void put_string(struct hw *w, uint64_t id, uint32_t text)
{
	uint8_t values[8] = { 0 };

	put_be32(values + 4, text);
	hw_instance(w, id, STRING, values, 8);
}

static void put_bitmap(struct hw *w, uint64_t id, uint8_t recycled, uint32_t buffer)
{
	uint8_t values[5] = { recycled };

	put_be32(values + 1, buffer);
	hw_instance(w, id, BITMAP, values, 5);
}

static void make(const char *path)
{
	struct hw w;

	hw_init(&w, HPROF_1_0_2, 4, 0);
	put_classes(&w);
	put_string(&w, 0x500, TEXT);
	hw_primitive_array(&w, TEXT, HPROF_BYTE, "text", 4);
	hw_primitive_array(&w, TEXT + 0x10, HPROF_BYTE, "gone", 4);
	hw_primitive_array(&w, PIXELS, HPROF_BYTE, "pixels", 6);
	hw_primitive_array(&w, PIXELS + 0x10, HPROF_BYTE, "pixels", 6);
	hw_primitive_array(&w, PIXELS + 0x20, HPROF_BYTE, "others", 6);
	hw_primitive_array(&w, PIXELS + 0x30, HPROF_BYTE, "recycl", 6);
	put_bitmap(&w, 0x600, 0, PIXELS);
	put_bitmap(&w, 0x610, 0, PIXELS + 0x10);
	put_bitmap(&w, 0x620, 0, PIXELS + 0x20);
	put_bitmap(&w, 0x630, 1, PIXELS + 0x30);
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, path), 0);
	hw_release(&w);
}

/* Contents of a dump: its arrays, as bits for their kinds, and the buffers of its bitmaps. */
struct seen {
	bool text, gone, pixels[4];
	uint32_t buffers[4];
};

static void see(const char *path, struct seen *out)
{
	struct base_source *source;
	struct hprof_file file;
	struct hprof_walk walk;
	enum hprof_event event;

	memset(out, 0, sizeof(*out));
	assert_int_equal(base_map_open(path, BASE_SEQUENTIAL, &source, NULL), HDB_OK);
	assert_int_equal(hprof_open(source, &file, NULL), HDB_OK);
	hprof_walk_init(&walk, &file);
	while (hprof_walk_next(&walk, &event, NULL) == HDB_OK) {
		const struct hprof_sub *sub = &walk.sub;

		assert_int_not_equal(event, HPROF_EVENT_PROBLEM);
		if (event != HPROF_EVENT_SUB)
			continue;
		if (sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP && sub->id < PIXELS)
			*(sub->id == TEXT ? &out->text : &out->gone) = true;
		else if (sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP)
			out->pixels[(sub->id - PIXELS) / 0x10] = true;
		else if (sub->tag == HPROF_INSTANCE_DUMP && sub->class_id == BITMAP)
			out->buffers[(sub->id - 0x600) / 0x10] =
				be32(base_view_at(&walk.view, sub->body_offset + 1, 4, NULL));
	}
	hprof_walk_release(&walk);
	base_source_close(source);
}

static void test_keep(void **state)
{
	const char *in = temp_path("in.hprof"), *out = temp_path("out.hprof");
	const struct hdb_output_options output = { .force = 1 };
	struct hdb_strip_options opt = { .output = &output };
	struct seen seen;

	(void)state;
	make(in);
	opt.keep = HDB_KEEP_STRINGS | HDB_KEEP_BITMAPS;
	assert_int_equal(hdb_strip(in, out, &opt, NULL, NULL), HDB_OK);
	see(out, &seen);
	assert_true(seen.text && !seen.gone);
	assert_true(seen.pixels[0] && !seen.pixels[1] && seen.pixels[2] && !seen.pixels[3]);
	assert_int_equal(seen.buffers[0], PIXELS);
	assert_int_equal(seen.buffers[1], PIXELS);
	assert_int_equal(seen.buffers[2], PIXELS + 0x20);
	assert_int_equal(seen.buffers[3], PIXELS + 0x30);
	opt.keep = HDB_KEEP_BITMAPS;
	assert_int_equal(hdb_strip(in, out, &opt, NULL, NULL), HDB_OK);
	see(out, &seen);
	assert_true(!seen.text && seen.pixels[0]);
	opt.keep = HDB_KEEP_STRINGS;
	assert_int_equal(hdb_strip(in, out, &opt, NULL, NULL), HDB_OK);
	see(out, &seen);
	assert_true(seen.text && !seen.pixels[0] && !seen.pixels[2]);
	assert_int_equal(seen.buffers[1], PIXELS + 0x10);
	(void)unlink(in);
	(void)unlink(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_keep) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

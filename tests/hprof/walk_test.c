/*
 * walk_test.c - the walk over complete files: valid files, several dumps in one file, sources with
 * small windows or failures, and lengths that overflow. salvage_test.c tests damaged files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hprof/walk.h"
#include "support/small_dump.h"
#include "support/walked.h"

#include <string.h>

static void test_good(void **state)
{
	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;
		struct walked r, again;
		const struct small_places at = small_dump(&w, id_size);

		walk_bytes(w.data, w.size, &r);
		assert_int_equal(r.records, SMALL_HEAD_RECORDS + 1);
		assert_int_equal(r.begins, 2);
		assert_int_equal(r.subs, SMALL_SUBS);
		assert_int_equal(r.problems, 0);
		assert_int_equal(r.snapshot, 1);
		assert_int_equal(r.heap_size, at.end - at.second - 9);
		assert_int_equal(r.sub_end[SMALL_SUBS - 1], at.end);
		walk_bytes(w.data, w.size, &again);
		assert_true(r.hash == again.hash);
		hw_release(&w);
	}
}

/* The walk returns the same sub-records as the strict reader. */
static void test_quick_path(void **state)
{
	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;
		struct hprof_walk walk;
		struct hprof_file file;
		struct base_source *source;
		struct base_view view = { .data = NULL };
		enum hprof_event event;

		hw_init(&w, HPROF_1_0_3, id_size, 0);
		hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
		for (uint8_t type = HPROF_BOOLEAN; type <= HPROF_LONG; type++)
			hw_primitive_array(&w, type, type, NULL, type);
		small_nodes(&w, 0xf0e0d0c0, 9);
		hw_end(&w);
		assert_int_equal(base_memory_open(w.data, w.size, &source, NULL), HDB_OK);
		assert_int_equal(hprof_open(source, &file, NULL), HDB_OK);
		view.src = source;
		hprof_walk_init(&walk, &file);
		while (hprof_walk_next(&walk, &event, NULL) == HDB_OK) {
			struct hprof_sub sub;

			assert_int_not_equal(event, HPROF_EVENT_PROBLEM);
			if (event != HPROF_EVENT_SUB)
				continue;
			assert_int_equal(
				hprof_sub_read_in(&file, &view,
						  (struct hprof_range){ walk.sub.offset, w.size },
						  &sub, NULL),
				HDB_OK);
			assert_int_equal(sub.tag, walk.sub.tag);
			assert_true(sub.id == walk.sub.id && sub.end == walk.sub.end);
			assert_int_equal(sub.body_offset, walk.sub.body_offset);
			assert_int_equal(sub.body_size, walk.sub.body_size);
			assert_int_equal(sub.length, walk.sub.length);
			assert_int_equal(sub.trace_serial, walk.sub.trace_serial);
			if (sub.tag == HPROF_PRIMITIVE_ARRAY_DUMP)
				assert_int_equal(sub.element_type, walk.sub.element_type);
			else
				assert_true(sub.class_id == walk.sub.class_id);
		}
		hprof_walk_release(&walk);
		base_source_close(source);
		hw_release(&w);
	}
}

/* ---- several dumps in a file ---- */

/* c: HEAP DUMP, s: segment, e: HEAP DUMP END. */
static void test_snapshots(void **state)
{
	static const struct {
		const char *records;
		const char *snapshots; /* numbers of each heap record */
	} rows[] = {
		{ "c", "1" },    { "ce", "1" },   { "cc", "12" },     { "cece", "12" },
		{ "s", "1" },    { "sse", "11" }, { "ssese", "112" }, { "sses", "112" },
		{ "sec", "12" }, { "ces", "12" }, { "sc", "11" },     { "scs", "112" },
		{ "eec", "1" },  { "seee", "1" }, { "ccec", "123" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hw w;
		struct base_source *source;
		struct hprof_file file;
		struct hprof_walk walk;
		enum hprof_event event;
		char found[8] = "";
		size_t n = 0;

		hw_init(&w, HPROF_1_0_2, 8, 0);
		for (const char *p = rows[i].records; *p; p++) {
			if (*p == 'e') {
				hw_heap_dump_end(&w);
				continue;
			}
			hw_begin(&w, *p == 'c' ? HPROF_HEAP_DUMP : HPROF_HEAP_DUMP_SEGMENT, 0);
			small_classes(&w);
			hw_end(&w);
		}
		assert_int_equal(base_memory_open(w.data, w.size, &source, NULL), HDB_OK);
		assert_int_equal(hprof_open(source, &file, NULL), HDB_OK);
		hprof_walk_init(&walk, &file);
		while (hprof_walk_next(&walk, &event, NULL) == HDB_OK) {
			assert_int_not_equal(event, HPROF_EVENT_PROBLEM);
			if (event == HPROF_EVENT_HEAP_BEGIN)
				found[n++] = (char)('0' + walk.snapshot);
		}
		if (strcmp(found, rows[i].snapshots) != 0)
			fail_msg("%s: %s, not %s", rows[i].records, found, rows[i].snapshots);
		hprof_walk_release(&walk);
		base_source_close(source);
		hw_release(&w);
	}
}

/* ---- other sources ---- */

/* Bytes with a range of zeros. Windows have exactly the requested size. */
struct holed {
	struct base_source src;
	const uint8_t *data;
	uint64_t hole_at, hole_size;
	uint64_t fail_at; /* a window that contains this offset fails; 0: no window fails */
	uint8_t window[1 << 12];
};

static int holed_window(struct base_view *view, uint64_t offset, uint64_t size,
			struct hdb_error *err)
{
	struct holed *h = (struct holed *)(void *)view->src;

	if (h->fail_at && offset <= h->fail_at && h->fail_at < offset + size)
		return hdb_fail(err, HDB_EIO, "cannot read at %" PRIu64, h->fail_at);
	assert_true(size <= sizeof(h->window));
	for (uint64_t i = 0; i < size; i++) {
		const uint64_t at = offset + i;

		if (at < h->hole_at)
			h->window[i] = h->data[at];
		else if (at - h->hole_at < h->hole_size)
			h->window[i] = 0;
		else
			h->window[i] = h->data[at - h->hole_size];
	}
	view->data = h->window;
	view->start = offset;
	view->end = offset + size;
	return HDB_OK;
}

static void holed_init(struct holed *h, const struct hw *w, uint64_t hole_at, uint64_t hole_size)
{
	memset(h, 0, sizeof(*h));
	h->src.size = w->size + hole_size;
	h->src.path = "holed";
	h->src.window = holed_window;
	h->data = w->data;
	h->hole_at = hole_at;
	h->hole_size = hole_size;
}

static void test_small_windows(void **state)
{
	struct hw w;
	struct holed h;
	struct walked r, s;

	(void)state;
	small_dump(&w, 8);
	w.data[w.size / 2] ^= 0xff;
	walk_bytes(w.data, w.size, &r);
	holed_init(&h, &w, 0, 0);
	walk_source(&h.src, &s);
	assert_int_equal(s.code, HDB_END);
	assert_true(r.hash == s.hash);
	hw_release(&w);
}

/* If the source fails at any offset, the walk fails with the source's code and message. */
static void test_failing_source(void **state)
{
	struct hw w;
	unsigned failed = 0;

	(void)state;
	small_dump(&w, 8);
	for (uint64_t at = 64; at < w.size; at++) {
		struct holed h;
		struct walked r;

		holed_init(&h, &w, 0, 0);
		h.fail_at = at;
		walk_source(&h.src, &r);
		if (r.code != HDB_END)
			assert_int_equal(r.code, HDB_EIO);
		failed += r.code == HDB_EIO;
	}
	/* Everything except the bodies of records and objects is read. */
	assert_true(failed > w.size / 3);
	hw_release(&w);
}

/*
 * Lengths over 4 GiB: a heap record that holds a 5 GiB array. `tag` is the tag of the record.
 * `after` nodes follow the array, and `tail` follows the record.
 */
static void check_wrapped(unsigned tag, unsigned after, const char *tail, unsigned heap_records)
{
	const uint64_t gib5 = UINT64_C(5) << 30;
	const bool at_end = *tail == 0;
	struct hw w;
	struct holed h;
	struct walked r;
	size_t record, hole;

	hw_init(&w, HPROF_1_0_2, 8, 0);
	small_head(&w);
	record = hw_begin(&w, tag, 0);
	small_classes(&w);
	small_nodes(&w, 0x2000, 8);
	hw_primitive_array(&w, 0x9000, HPROF_LONG, NULL, 0);
	hw_patch_u4(&w, w.size - 5, (uint32_t)(gib5 / 8));
	hole = w.size;
	small_nodes(&w, 0xa000, after);
	hw_end_length(&w, (uint32_t)(w.size - record - 9 + gib5));
	for (; *tail; tail++) {
		if (*tail == 'e') {
			hw_heap_dump_end(&w);
		} else if (*tail == 'u') {
			hw_utf8(&w, 99, "a string behind the heap");
		} else if (*tail == 'a') {
			hw_alloc_sites(&w, &(struct hprof_alloc_sites){ .site_count = 1 },
				       &(struct hprof_alloc_site){ .class_serial = 1 });
		} else {
			hw_begin(&w, tag, 0);
			small_nodes(&w, 0xf000, 4);
			hw_end(&w);
		}
	}
	holed_init(&h, &w, hole, gib5);
	walk_source(&h.src, &r);
	if (r.problems > 0)
		fail_msg("%s", r.problem[0].message);
	assert_int_equal(r.code, HDB_END);
	assert_int_equal(r.begins, heap_records);
	if (at_end)
		assert_true(r.begin_size == h.src.size - record - 9);
	assert_int_equal(r.subs, 3 + 12 + 1 + after * 3 / 2 + (heap_records - 1) * 6);
	hw_release(&w);
}

static void test_wrapped(void **state)
{
	(void)state;
	check_wrapped(HPROF_HEAP_DUMP, 0, "", 1);
	check_wrapped(HPROF_HEAP_DUMP, 8, "", 1);
	check_wrapped(HPROF_HEAP_DUMP, 8, "a", 1);
	check_wrapped(HPROF_HEAP_DUMP, 0, "u", 1);
	check_wrapped(HPROF_HEAP_DUMP, 8, "uauc", 2);
	check_wrapped(HPROF_HEAP_DUMP_SEGMENT, 8, "e", 1);
	check_wrapped(HPROF_HEAP_DUMP_SEGMENT, 8, "ssse", 4);
	check_wrapped(HPROF_HEAP_DUMP_SEGMENT, 0, "se", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),           cmocka_unit_test(test_quick_path),
		cmocka_unit_test(test_snapshots),      cmocka_unit_test(test_small_windows),
		cmocka_unit_test(test_failing_source), cmocka_unit_test(test_wrapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

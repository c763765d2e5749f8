/*
 * hprof_walk_test.c - the walk over whole files: good ones, dumps in one file, wrapped lengths,
 * and what is left of damaged ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hprof/walk.h"
#include "support/hprof_writer.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PROBLEMS 16
#define MAX_SUBS 1024

/* What a walk gave. */
struct result {
	unsigned records, begins, subs, ends, problems;
	unsigned snapshot; /* highest number of a heap record */
	struct hprof_problem problem[MAX_PROBLEMS];
	uint64_t sub_end[MAX_SUBS];
	uint64_t sub_id[MAX_SUBS];
	uint64_t begin_size; /* of the first heap record, at its begin */
	uint64_t heap_size;  /* of the last heap record, at its end */
	uint64_t hash;       /* of all events */
	int code;            /* what the last step returned */
};

static void note(struct result *r, uint64_t v)
{
	r->hash = (r->hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	r->hash ^= r->hash >> 29;
}

static void note_event(struct result *r, const struct hprof_walk *walk, enum hprof_event event)
{
	note(r, (uint64_t)event);
	switch (event) {
	case HPROF_EVENT_RECORD:
		r->records++;
		note(r, walk->record.offset);
		break;
	case HPROF_EVENT_HEAP_BEGIN:
		if (r->begins++ == 0)
			r->begin_size = walk->record.body_size;
		if (walk->snapshot > r->snapshot)
			r->snapshot = walk->snapshot;
		break;
	case HPROF_EVENT_SUB:
		if (r->subs < MAX_SUBS) {
			r->sub_end[r->subs] = walk->sub.end;
			r->sub_id[r->subs] = walk->sub.id;
		}
		r->subs++;
		note(r, walk->sub.offset);
		note(r, walk->sub.id);
		break;
	case HPROF_EVENT_HEAP_END:
		r->ends++;
		r->heap_size = walk->record.body_size;
		break;
	case HPROF_EVENT_PROBLEM:
		if (r->problems < MAX_PROBLEMS)
			r->problem[r->problems] = walk->problem;
		r->problems++;
		note(r, walk->problem.offset);
		note(r, walk->problem.lost_bytes);
		assert_true(strlen(walk->problem.message) > 10);
		break;
	}
}

/* Walks a source to its end; fails if it gives more events than there are bytes. */
static void walk_source(struct base_source *source, struct result *r)
{
	struct hprof_walk walk;
	struct hprof_file file;
	struct hdb_error err = { 0 };
	enum hprof_event event;
	uint64_t events = 0, last_sub = 0;

	memset(r, 0, sizeof(*r));
	assert_int_equal(hprof_open(source, &file, &err), HDB_OK);
	hprof_walk_init(&walk, &file);
	while ((r->code = hprof_walk_next(&walk, &event, &err)) == HDB_OK) {
		note_event(r, &walk, event);
		hprof_walk_check(&walk);
		if (event == HPROF_EVENT_SUB) {
			assert_true(walk.sub.end > walk.sub.offset);
			assert_true(walk.sub.end <= source->size);
			/* After damage the walk may go back, but never before an object it gave. */
			if (walk.sub.tag == HPROF_INSTANCE_DUMP && walk.sub.length > 0) {
				assert_true(walk.sub.offset > last_sub);
				last_sub = walk.sub.offset;
			}
		}
		assert_true(++events <= 2 * source->size);
	}
	if (r->code == HDB_END) {
		assert_int_equal(walk.position, source->size);
		assert_int_equal(r->begins, r->ends);
		assert_int_equal(hprof_walk_next(&walk, &event, &err), HDB_END);
	}
	hprof_walk_release(&walk);
}

/* Walks a copy of the bytes of just their size, so that reading past them is seen. */
static void walk_bytes(const uint8_t *data, size_t size, struct result *r)
{
	struct base_source *source;
	uint8_t *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, data, size);
	assert_int_equal(base_memory_open(copy, size, &source, NULL), HDB_OK);
	walk_source(source, r);
	base_source_close(source);
	free(copy);
	assert_int_equal(r->code, HDB_END);
}

/* ---- a small dump of every kind of sub-record ---- */

#define OBJECT UINT64_C(0x1000) /* class ids */
#define NODE UINT64_C(0x1040)
#define NODES UINT64_C(0x1080)

static void write_classes(struct hw *w)
{
	static const struct hprof_field fields[] = { { 21, HPROF_OBJECT }, { 22, HPROF_INT } };
	const struct hw_static statics[] = { { 23, HPROF_OBJECT, 0x2000 }, { 24, HPROF_LONG, 7 } };

	hw_class(w, &(struct hw_class){ .id = OBJECT, .trace_serial = 1 });
	hw_class(w, &(struct hw_class){
			    .id = NODE,
			    .super_id = OBJECT,
			    .trace_serial = 1,
			    .instance_size = w->id_size + 4,
			    .fields = fields,
			    .field_count = 2,
			    .statics = statics,
			    .static_count = 2,
		    });
	hw_class(w, &(struct hw_class){ .id = NODES, .super_id = OBJECT, .trace_serial = 1 });
}

/* `count` nodes from `id` on, every fourth followed by arrays. */
static void write_nodes(struct hw *w, uint64_t id, unsigned count)
{
	for (unsigned i = 0; i < count; i++, id += 64) {
		const uint64_t next = id + 64;
		uint8_t values[12] = { 0 };

		values[w->id_size - 1] = (uint8_t)next;
		values[w->id_size - 2] = (uint8_t)(next >> 8);
		values[w->id_size + 3] = (uint8_t)i;
		hw_instance(w, id, NODE, values, w->id_size + 4);
		if (i % 4 == 1)
			hw_object_array(w, id + 16, NODES, &next, 1);
		if (i % 4 == 2)
			hw_primitive_array(w, id + 24, HPROF_BYTE, "some text in bytes", 18);
	}
}

static void write_roots(struct hw *w)
{
	hw_root(w, HPROF_ROOT_STICKY_CLASS, OBJECT, 0, 0);
	hw_root(w, HPROF_ROOT_STICKY_CLASS, NODE, 0, 0);
	hw_root(w, HPROF_ROOT_THREAD_OBJECT, 0x2000, 4, 1);
	hw_root(w, HPROF_ROOT_JAVA_FRAME, 0x2040, 4, 4);
	hw_root(w, HPROF_ROOT_JAVA_FRAME, 0x2080, 4, 4);
	hw_root(w, HPROF_ROOT_JNI_LOCAL, 0x2040, 4, 0);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, 0x2040, 0x7f0010, 0);
	hw_root(w, HPROF_ROOT_NATIVE_STACK, 0x2040, 4, 0);
	hw_root(w, HPROF_ROOT_THREAD_BLOCK, 0x2040, 4, 0);
	hw_root(w, HPROF_ROOT_MONITOR_USED, 0x2040, 0, 0);
}

/* Strings, classes, a trace: what comes before the heap. */
static void write_head(struct hw *w)
{
	const uint64_t frames[] = { 30 };

	hw_utf8(w, 11, "java/lang/Object");
	hw_utf8(w, 12, "Node");
	hw_utf8(w, 13, "[LNode;");
	hw_utf8(w, 21, "next");
	hw_utf8(w, 22, "count");
	hw_load_class(w, 1, OBJECT, 1, 11);
	hw_load_class(w, 2, NODE, 1, 12);
	hw_load_class(w, 3, NODES, 1, 13);
	hw_frame(w, &(struct hprof_frame){ 30, 21, 22, 12, 2, 10 });
	hw_trace(w, 1, 4, frames, 1);
}
#define HEAD_RECORDS 10

/* Offsets of the records of small_dump's heap. */
struct places {
	size_t first, second, end;
};

static struct places small_dump(struct hw *w, unsigned id_size)
{
	struct places at;

	hw_init(w, HPROF_1_0_2, id_size, 1000);
	write_head(w);
	at.first = hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	write_classes(w);
	write_nodes(w, 0x2000, 40);
	hw_end(w);
	at.second = hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	write_nodes(w, 0x4000, 40);
	write_roots(w);
	hw_end(w);
	at.end = w->size;
	hw_heap_dump_end(w);
	return at;
}
#define SMALL_SUBS (3 + 2 * 60 + 10)

static void test_good(void **state)
{
	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;
		struct result r, again;
		const struct places at = small_dump(&w, id_size);

		walk_bytes(w.data, w.size, &r);
		assert_int_equal(r.records, HEAD_RECORDS + 1);
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

/* Sub-records come out as the strict reader reads them. */
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
		write_nodes(&w, 0xf0e0d0c0, 9);
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
		const char *snapshots; /* of each heap record */
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
			write_classes(&w);
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

/* Bytes with a hole of zeros in them, lent in windows of just the size asked for. */
struct holed {
	struct base_source src;
	const uint8_t *data;
	uint64_t hole_at, hole_size;
	uint64_t fail_at; /* a window that touches this offset fails; 0: none */
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
	struct result r, s;

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

/* A source that fails anywhere makes the walk fail, with the source's code and message. */
static void test_failing_source(void **state)
{
	struct hw w;
	unsigned failed = 0;

	(void)state;
	small_dump(&w, 8);
	for (uint64_t at = 64; at < w.size; at++) {
		struct holed h;
		struct result r;

		holed_init(&h, &w, 0, 0);
		h.fail_at = at;
		walk_source(&h.src, &r);
		if (r.code != HDB_END)
			assert_int_equal(r.code, HDB_EIO);
		failed += r.code == HDB_EIO;
	}
	/* All but the bodies of records and objects is read. */
	assert_true(failed > w.size / 3);
	hw_release(&w);
}

/*
 * Lengths over 4 GiB: a heap record that holds a 5 GiB array. `tag` is the record's; what comes
 * after the array is `after` nodes, and what comes after the record is `tail`.
 */
static void check_wrapped(unsigned tag, unsigned after, const char *tail, unsigned heap_records)
{
	const uint64_t gib5 = UINT64_C(5) << 30;
	const bool at_end = *tail == 0;
	struct hw w;
	struct holed h;
	struct result r;
	size_t record, hole;

	hw_init(&w, HPROF_1_0_2, 8, 0);
	write_head(&w);
	record = hw_begin(&w, tag, 0);
	write_classes(&w);
	write_nodes(&w, 0x2000, 8);
	hw_primitive_array(&w, 0x9000, HPROF_LONG, NULL, 0);
	hw_patch_u4(&w, w.size - 5, (uint32_t)(gib5 / 8));
	hole = w.size;
	write_nodes(&w, 0xa000, after);
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
			write_nodes(&w, 0xf000, 4);
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

/* ---- cuts and flips ---- */

static unsigned whole_subs(const struct result *good, uint64_t cut)
{
	unsigned n = 0;

	while (n < good->subs && good->sub_end[n] <= cut)
		n++;
	return n;
}

/*
 * Cut at every byte: every whole sub-record is kept, and the cut is told unless it is between
 * records.
 */
static void test_cuts(void **state)
{
	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;
		struct result good, r;
		const struct places at = small_dump(&w, id_size);

		walk_bytes(w.data, w.size, &good);
		for (size_t cut = 31; cut < w.size; cut++) {
			walk_bytes(w.data, cut, &r);
			assert_int_equal(r.subs, whole_subs(&good, cut));
			assert_true(r.problems <= 1);
			if (r.problems == 1 && r.problem[0].kind != HPROF_PROBLEM_TRUNCATED)
				fail_msg("cut at %zu: %s", cut, r.problem[0].message);
			if (cut == at.first || cut == at.second || cut == at.end)
				assert_int_equal(r.problems, 0);
			else if (cut > at.first)
				assert_int_equal(r.problems, 1);
		}
		hw_release(&w);
	}
}

/*
 * Each byte changed in several ways: the walk ends, and nearly always only a few sub-records
 * are gone. Nothing can be done where a changed length happens to lead to the start of another
 * sub-record.
 */
static void test_flips(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x04, 0x10, 0x80, 0xff };

	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;
		unsigned bad = 0;

		small_dump(&w, id_size);
		for (size_t at = 31; at < w.size; at++) {
			for (size_t f = 0; f < sizeof(flips); f++) {
				struct result r;

				w.data[at] ^= flips[f];
				walk_bytes(w.data, w.size, &r);
				w.data[at] ^= flips[f];
				bad += r.subs < SMALL_SUBS - 14;
				assert_true(r.records >= HEAD_RECORDS - 2);
				assert_true(r.subs <= SMALL_SUBS + 14);
				assert_true(r.problems <= 6);
			}
		}
		assert_in_range(bad, 0, 3);
		hw_release(&w);
	}
}

/* ---- one kind of damage each ---- */

struct damage {
	const char *name;
	void (*make)(struct hw *w, struct places at);
	int kind;           /* of the first problem; 0: none */
	unsigned problems;  /* 0 of kind 0 */
	unsigned subs_lost; /* at most */
	unsigned snapshots;
};

static uint32_t length_at(const struct hw *w, size_t record)
{
	const uint8_t *p = w->data + record + 5;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void insert(struct hw *w, size_t at, const void *data, size_t size)
{
	const size_t rest = w->size - at;

	hw_zeros(w, size);
	memmove(w->data + at + size, w->data + at, rest);
	memcpy(w->data + at, data, size);
}

static void too_long(struct hw *w, struct places at)
{
	hw_patch_u4(w, at.first + 5, length_at(w, at.first) + 345);
}

static void too_short(struct hw *w, struct places at)
{
	hw_patch_u4(w, at.first + 5, length_at(w, at.first) - 100);
}

static void last_too_short(struct hw *w, struct places at)
{
	hw_patch_u4(w, at.second + 5, length_at(w, at.second) - 100);
}

static void last_too_long(struct hw *w, struct places at)
{
	hw_patch_u4(w, at.second + 5, length_at(w, at.second) + 4);
}

static void open_zero(struct hw *w, struct places at)
{
	hw_patch_u4(w, at.second + 5, 0);
	w->size = at.end - 7;
}

static void open_zero_whole(struct hw *w, struct places at)
{
	hw_patch_u4(w, at.second + 5, 0);
	w->size = at.end;
}

static void open_zero_empty(struct hw *w, struct places at)
{
	hw_patch_u4(w, at.second + 5, 0);
	w->size = at.second + 9;
}

static void zeroed(struct hw *w, struct places at)
{
	memset(w->data + (at.first + at.second) / 2, 0, 64);
}

static void zeroed_boundary(struct hw *w, struct places at)
{
	memset(w->data + at.second - 20, 0, 64);
}

static void zeroed_first_header(struct hw *w, struct places at)
{
	memset(w->data + at.first, 0, 9);
}

static void ones(struct hw *w, struct places at)
{
	memset(w->data + (at.first + at.second) / 2, 0xff, 64);
}

static void rubbish_after(struct hw *w, struct places at)
{
	(void)at;
	for (unsigned i = 0; i < 100; i++)
		hw_u4(w, 0xdeadbeef);
}

static void short_rubbish_after(struct hw *w, struct places at)
{
	(void)at;
	hw_u4(w, 0);
}

static void unknown_record(struct hw *w, struct places at)
{
	(void)at;
	insert(w, 31,
	       "\x77\0\0\0\0\0\0\0\x0a"
	       "0123456789",
	       19);
}

static void unknown_between_segments(struct hw *w, struct places at)
{
	insert(w, at.second,
	       "\x77\0\0\0\0\0\0\0\x0a"
	       "0123456789",
	       19);
}

static void unknown_last(struct hw *w, struct places at)
{
	(void)at;
	hw_begin(w, 0x55, 0);
	hw_u8(w, 1);
	hw_end(w);
}

static void rubbish_between(struct hw *w, struct places at)
{
	insert(w, at.second, "not a record at all, this", 25);
}

static void bad_record(struct hw *w, struct places at)
{
	(void)at;
	insert(w, 31,
	       "\x05\0\0\0\0\0\0\0\x0c"
	       "\0\0\0\1"
	       "\0\0\0\2"
	       "\0\0\0\3",
	       21);
}

static void utf8_too_long(struct hw *w, struct places at)
{
	(void)at;
	hw_patch_u4(w, 31 + 5, 150);
}

static void utf8_past_file(struct hw *w, struct places at)
{
	(void)at;
	hw_patch_u4(w, 31 + 5, 0x7fffffff);
}

static void utf8_too_short(struct hw *w, struct places at)
{
	(void)at;
	hw_patch_u4(w, 31 + 5, 12);
}

/* The length of the first array in the second segment: past the segment, then inside it. */
static size_t first_array(const struct hw *w, struct places at)
{
	return at.second + 9 + 2 * (9 + 2 * (size_t)w->id_size + w->id_size + 4);
}

static void array_past_segment(struct hw *w, struct places at)
{
	hw_patch_u4(w, first_array(w, at) + 5 + w->id_size, 0x10000);
}

static void array_too_long(struct hw *w, struct places at)
{
	hw_patch_u4(w, first_array(w, at) + 5 + w->id_size, 100);
}

static void array_too_short(struct hw *w, struct places at)
{
	hw_patch_u4(w, first_array(w, at) + 5 + w->id_size, 0);
}

static const struct damage damages[] = {
	{ "segment too long", too_long, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "segment too short", too_short, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "last segment too short", last_too_short, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "last segment too long", last_too_long, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "open segment, cut", open_zero, HPROF_PROBLEM_TRUNCATED, 1, 2, 1 },
	{ "open segment, whole", open_zero_whole, HPROF_PROBLEM_SEGMENT_LENGTH, 1, 0, 1 },
	{ "open segment, empty", open_zero_empty, 0, 0, 70, 1 },
	{ "64 zero bytes", zeroed, HPROF_PROBLEM_UNKNOWN_SUB_TAG, 1, 4, 1 },
	{ "64 zero bytes over a segment's head", zeroed_boundary, 0, 1, 3, 1 },
	{ "first heap record's head zeroed", zeroed_first_header, HPROF_PROBLEM_RECORD_LENGTH, 1, 0,
	  1 },
	{ "64 bytes of 0xff", ones, 0, 1, 4, 1 },
	{ "rubbish after the end", rubbish_after, HPROF_PROBLEM_TRAILING_BYTES, 1, 0, 1 },
	{ "four zeros after the end", short_rubbish_after, HPROF_PROBLEM_TRAILING_BYTES, 1, 0, 1 },
	{ "unknown record", unknown_record, HPROF_PROBLEM_UNKNOWN_TAG, 1, 0, 1 },
	{ "unknown record between segments", unknown_between_segments, HPROF_PROBLEM_UNKNOWN_TAG, 1,
	  0, 1 },
	{ "unknown record at the end", unknown_last, HPROF_PROBLEM_UNKNOWN_TAG, 1, 0, 1 },
	{ "rubbish between segments", rubbish_between, HPROF_PROBLEM_RECORD_LENGTH, 1, 0, 1 },
	{ "trace with too many frames", bad_record, HPROF_PROBLEM_BAD_RECORD, 1, 0, 1 },
	{ "string too long", utf8_too_long, HPROF_PROBLEM_RECORD_LENGTH, 1, 0, 1 },
	{ "string past the file", utf8_past_file, HPROF_PROBLEM_RECORD_LENGTH, 1, 0, 1 },
	{ "string too short", utf8_too_short, HPROF_PROBLEM_RECORD_LENGTH, 1, 0, 1 },
	{ "array past its segment", array_past_segment, HPROF_PROBLEM_SUB_OVERRUN, 1, 1, 1 },
	{ "array too long", array_too_long, HPROF_PROBLEM_UNKNOWN_SUB_TAG, 1, 0, 1 },
	{ "array too short", array_too_short, HPROF_PROBLEM_UNKNOWN_SUB_TAG, 1, 0, 1 },
};

static void test_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(damages) / sizeof(damages[0]); i++) {
		const struct damage *row = &damages[i / 2];
		const unsigned id_size = i % 2 ? 4 : 8;
		struct hw w;
		struct result r;
		const struct places at = small_dump(&w, id_size);

		row->make(&w, at);
		walk_bytes(w.data, w.size, &r);
		if (r.problems != row->problems || r.subs + row->subs_lost < SMALL_SUBS ||
		    r.subs > SMALL_SUBS + 2 || r.snapshot != row->snapshots ||
		    (row->kind && (int)r.problem[0].kind != row->kind))
			fail_msg(
				"%s, id size %u: %u problems (%s: %s), %u of %u subs, %u snapshots",
				row->name, id_size, r.problems,
				hprof_problem_name((int)r.problem[0].kind), r.problem[0].message,
				r.subs, SMALL_SUBS, r.snapshot);
		hw_release(&w);
	}
}

/* What was lost and where is told in numbers. */
static void test_problem_facts(void **state)
{
	struct hw w;
	struct result r;
	struct places at;

	(void)state;
	at = small_dump(&w, 8);
	walk_bytes(w.data, at.end - 3, &r);
	assert_int_equal(r.problem[0].kind, HPROF_PROBLEM_TRUNCATED);
	assert_int_equal(r.problem[0].offset, at.end - 9);
	assert_int_equal(r.problem[0].lost_bytes, 6);
	assert_non_null(strstr(r.problem[0].message, " 3 bytes are missing"));
	hw_release(&w);

	at = small_dump(&w, 8);
	too_long(&w, at);
	walk_bytes(w.data, w.size, &r);
	assert_int_equal(r.problem[0].offset, at.first);
	assert_int_equal(r.problem[0].lost_bytes, 0);
	hw_release(&w);

	at = small_dump(&w, 8);
	unknown_between_segments(&w, at);
	walk_bytes(w.data, w.size, &r);
	assert_int_equal(r.problem[0].offset, at.second);
	assert_int_equal(r.problem[0].lost_bytes, 19);
	for (int kind = HPROF_PROBLEM_TRUNCATED; kind <= HPROF_PROBLEM_COMPRESSION; kind++)
		assert_string_not_equal(hprof_problem_name(kind), "unknown");
	hw_release(&w);
}

/* A transfer in text mode loses much, but is named. */
static void test_text_mode(void **state)
{
	struct hw w, c;
	struct result r;

	(void)state;
	hw_init(&w, HPROF_1_0_2, 8, 1);
	for (unsigned i = 0; i < 50; i++)
		hw_utf8(&w, i + 1, "a line\nand another\n");
	hw_init(&c, HPROF_1_0_2, 8, 1);
	for (size_t i = 31; i < w.size; i++) {
		if (w.data[i] == '\n')
			hw_u1(&c, '\r');
		hw_u1(&c, w.data[i]);
	}
	walk_bytes(c.data, c.size, &r);
	assert_true(r.problems > 0);
	assert_non_null(strstr(r.problem[0].message, "text mode"));
	hw_release(&w);
	hw_release(&c);
}

/* Random bytes behind a good header, and random splices: no crash, no hang. */
static void test_random(void **state)
{
	const unsigned seed = 20240607;
	struct hw w;

	(void)state;
	print_message("seed %u\n", seed);
	srand(seed);
	for (unsigned round = 0; round < 400; round++) {
		struct result r;
		size_t from;

		small_dump(&w, round % 2 ? 4 : 8);
		if (round < 100) {
			for (size_t i = 31; i < w.size; i++)
				w.data[i] = (uint8_t)(rand() >> 7);
		} else {
			for (unsigned n = 0; n < 1 + round % 5; n++) {
				from = 31 + (size_t)rand() % (w.size - 200);
				memmove(w.data + 31 + (size_t)rand() % (w.size - 200),
					w.data + from, 1 + (size_t)rand() % 150);
			}
		}
		walk_bytes(w.data, w.size, &r);
		hw_release(&w);
	}
}

/*
 * What costs a search most: blocks that each look like a class dump with 65,535 constants in the
 * blocks behind, so that trying each takes as many steps. Every eleventh byte is the type of an
 * 8-byte constant, in which the zeros of the heads hide. Without the budget this takes minutes.
 */
static void test_search_is_linear(void **state)
{
	static const uint8_t places[] = { 2, 13, 24, 35 };
	uint8_t block[44] = { HPROF_CLASS_DUMP, 1 };
	struct hw w;
	struct result r;

	(void)state;
	for (size_t i = 0; i < sizeof(places); i++)
		block[places[i]] = HPROF_LONG;
	block[37] = block[38] = 0xff; /* how many constants */
	block[41] = HPROF_CHAR;       /* the first one leads to the next block's byte 2 */
	hw_init(&w, HPROF_1_0_2, 4, 0);
	hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	write_classes(&w);
	hw_u1(&w, 0x42);
	for (unsigned i = 0; i < (8u << 20) / sizeof(block); i++)
		hw_bytes(&w, block, sizeof(block));
	hw_end(&w);
	walk_bytes(w.data, w.size, &r);
	assert_int_equal(r.subs, 3);
	assert_int_equal(r.problems, 1);
	hw_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_quick_path),
		cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_small_windows),
		cmocka_unit_test(test_failing_source),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_problem_facts),
		cmocka_unit_test(test_text_mode),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_search_is_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

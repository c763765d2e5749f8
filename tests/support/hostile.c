/*
 * support/hostile.c - see hostile.h.
 */
#include "support/hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	OBJECT = 0x10000,
	CLASS = 0x10100,
	NODE = 0x10200,
	LIST = 0x10300,
	BYTES = 0x10400,
	REFERENCE = 0x10500,
	WEAK = 0x10600,
	THREAD = 0x10700,
	FIRST = 0x20000
};

bool hostile_is_long(void)
{
	const char *how = getenv("HEAPDB_HOSTILE");

	return how && strcmp(how, "long") == 0;
}

void hostile_seconds(unsigned seconds)
{
	const struct itimerval limit = { .it_value.tv_sec = seconds };

	(void)setitimer(ITIMER_PROF, &limit, NULL);
}

void hostile_path(char *buf, size_t size, const char *name)
{
	const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");

	(void)snprintf(buf, size, "%s/hdbhostile%d_%s", dir ? dir : "/tmp", (int)getpid(), name);
}

/* ---- dumps ---- */

static const char *const names[] = {
	"java/lang/Object",
	"java/lang/Class",
	"Node",
	"[LNode;",
	"[B",
	"java/lang/ref/Reference",
	"java/lang/ref/WeakReference",
	"java/lang/Thread",
	"next",
	"value",
	"referent",
	"run",
	"()V",
	"Node.java",
	"app",
	"\xc0\x80\xed\xa0\x80\x1b[31m",
};

static void put_names(struct hw *w)
{
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		hw_utf8(w, i + 1, names[i]);
	for (unsigned i = 0; i < 8; i++)
		hw_load_class(w, i + 1, OBJECT + i * 0x100, 1, i + 1);
}

static void put_records(struct hw *w)
{
	const struct hprof_frame frame = { .frame_id = 77,
					   .method_string_id = 12,
					   .signature_string_id = 13,
					   .source_string_id = 14,
					   .class_serial = 3,
					   .line = 42 };
	const struct hprof_alloc_sites head = { .flags = 1, .site_count = 1, .live_bytes = 16 };
	const struct hprof_alloc_site site = { .array_type = 2, .class_serial = 3 };
	const struct hprof_heap_summary summary = { .live_bytes = 3, .live_instances = 1 };
	const struct hprof_start_thread thread = {
		.thread_serial = 1, .thread_id = FIRST, .trace_serial = 1, .name_string_id = 12
	};
	const uint32_t samples[2] = { 5, 1 };
	const uint64_t frame_id = 77;

	hw_frame(w, &frame);
	hw_trace(w, 1, 1, &frame_id, 1);
	hw_start_thread(w, &thread);
	hw_alloc_sites(w, &head, &site);
	hw_heap_summary(w, &summary);
	hw_cpu_samples(w, 5, samples, 1);
	hw_control_settings(w, 3, 4);
	hw_unload_class(w, 9);
	hw_end_thread(w, 2);
}

static void put_classes(struct hw *w)
{
	const struct hw_static statics[] = { { 10, HPROF_OBJECT, FIRST + 0x20 },
					     { 9, HPROF_LONG, 12345 } };
	const struct hw_constant constant = { 1, HPROF_INT, 7 };
	const struct hprof_field node_fields[] = { { 9, HPROF_OBJECT },
						   { 10, HPROF_OBJECT },
						   { 12, HPROF_INT } };
	const struct hprof_field referent = { 11, HPROF_OBJECT };
	const struct hw_class classes[] = {
		{ .id = OBJECT },
		{ .id = CLASS, .super_id = OBJECT },
		{ .id = NODE,
		  .super_id = OBJECT,
		  .fields = node_fields,
		  .field_count = 3,
		  .statics = statics,
		  .static_count = 2,
		  .constants = &constant,
		  .constant_count = 1,
		  .instance_size = 20 },
		{ .id = LIST, .super_id = OBJECT },
		{ .id = BYTES, .super_id = OBJECT },
		{ .id = REFERENCE,
		  .super_id = OBJECT,
		  .fields = &referent,
		  .field_count = 1,
		  .instance_size = 8 },
		{ .id = WEAK, .super_id = REFERENCE, .instance_size = 8 },
		{ .id = THREAD, .super_id = OBJECT },
	};

	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		hw_class(w, &classes[i]);
}

static void put_id(uint8_t *out, unsigned id_size, uint64_t id)
{
	for (unsigned b = 0; b < id_size; b++)
		out[b] = (uint8_t)(id >> (8 * (id_size - 1 - b)));
}

/* Two references and an int: with `extra` nodes a graph whose edges go forth and back. */
static void put_node(struct hw *w, uint64_t at, uint64_t next, uint64_t value)
{
	uint8_t body[20] = { 0 };

	put_id(body, w->id_size, next);
	put_id(body + w->id_size, w->id_size, value);
	hw_instance(w, at, NODE, body, 2 * w->id_size + 4);
}

static void put_objects(struct hw *w, unsigned extra)
{
	const uint64_t elements[] = { FIRST + 0x20, 0, FIRST + 0x40, FIRST + 0x9990 };
	uint8_t referent[8];

	hw_instance(w, FIRST, THREAD, NULL, 0);
	put_node(w, FIRST + 0x20, FIRST + 0x40, FIRST + 0x60);
	put_node(w, FIRST + 0x40, FIRST + 0x20, FIRST + 0x80);
	hw_object_array(w, FIRST + 0x60, LIST, elements, 4);
	hw_primitive_array(w, FIRST + 0x80, HPROF_BYTE, "\x1b]0;x\x07", 6);
	hw_primitive_array(w, FIRST + 0xa0, HPROF_CHAR, NULL, 5);
	put_id(referent, w->id_size, FIRST + 0x40);
	hw_instance(w, FIRST + 0xc0, WEAK, referent, w->id_size);
	for (unsigned i = 0; i < extra; i++)
		put_node(w, FIRST + 0x1000 + i * 0x20ull,
			 FIRST + 0x1000 + (i * 7 + 3) % extra * 0x20ull,
			 i ? FIRST + 0x1000 + i / 2 * 0x20ull : FIRST + 0x20);
}

static void put_roots(struct hw *w, enum hostile_dump kind, unsigned extra)
{
	hw_root(w, HPROF_ROOT_STICKY_CLASS, NODE, 0, 0);
	hw_root(w, HPROF_ROOT_THREAD_OBJECT, FIRST, 1, 1);
	hw_root(w, HPROF_ROOT_JAVA_FRAME, FIRST + 0x20, 1, 0);
	hw_root(w, HPROF_ROOT_JNI_LOCAL, FIRST + 0x60, 1, 0);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 0xc0, 0x5555, 0);
	hw_root(w, HPROF_ROOT_MONITOR_USED, FIRST + 0x7770, 0, 0);
	if (kind == HOSTILE_ANDROID)
		hw_root(w, HPROF_ROOT_INTERNED_STRING, FIRST + 0x40, 0, 0);
	if (extra)
		hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 0x1000, 1, 0);
}

void hostile_dump(struct hw *w, enum hostile_dump kind, unsigned extra)
{
	hw_init(w, kind == HOSTILE_ANDROID ? HPROF_1_0_3 : HPROF_1_0_2,
		kind == HOSTILE_JAVA8 ? 8 : 4, 1234567890);
	put_names(w);
	put_records(w);
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	if (kind == HOSTILE_ANDROID)
		hw_heap_info(w, 'A', 15);
	put_roots(w, kind, extra);
	put_classes(w);
	hw_end(w);
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	put_objects(w, extra);
	if (kind == HOSTILE_ANDROID)
		hw_primitive_array_nodata(w, FIRST + 0xe0, HPROF_SHORT, 9);
	hw_end(w);
	hw_heap_dump_end(w);
}

/* ---- answers ---- */

/* Objects that are asked for by ID. */
#define LOOK_UPS_MAX 64

static void mix(uint64_t *hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++)
		*hash = (*hash ^ p[i]) * 0x100000001b3ull; /* FNV-1a */
}

static void mix_number(uint64_t *hash, uint64_t v)
{
	mix(hash, &v, sizeof(v));
}

static void mix_value(uint64_t *hash, const struct hdb_value *value)
{
	mix_number(hash, value->type);
	if (value->type == HDB_TYPE_TEXT)
		mix(hash, value->text, value->text_size);
	else if (value->type == HDB_TYPE_DOUBLE || value->type == HDB_TYPE_PERCENT)
		mix(hash, &value->d, sizeof(value->d));
	else if (value->type != HDB_TYPE_NULL)
		mix_number(hash, value->type == HDB_TYPE_INT ? (uint64_t)value->i : value->u);
}

/*
 * Whether a row is about the database file, such as its size in `info`. If its disk is full, tables
 * are private, and the file is smaller although all answers are right.
 */
static bool is_about_file(const struct hdb_rows *rows)
{
	const struct hdb_value *section = hdb_rows_value(rows, 0);

	return section->type == HDB_TYPE_TEXT && section->text_size == 8 &&
	       memcmp(section->text, "database", 8) == 0;
}

/* One query, all of its rows. Results above 0 and wrong usage are answers, too. */
static int ask(struct hdb *db, const char *name, uint64_t *hash, struct hdb_error *err)
{
	struct hdb_rows *rows = NULL;
	int r = hdb_query(db, name, NULL, &rows, err);

	mix_number(hash, (uint64_t)r);
	if (r == HDB_EUSAGE || r > 0)
		return HDB_OK;
	for (size_t i = 0; r == HDB_OK && i < hdb_rows_fact_count(rows); i++)
		mix_value(hash, hdb_rows_fact_value(rows, i));
	while (r == HDB_OK) {
		r = hdb_rows_next(rows, err);
		for (size_t c = 0;
		     r == HDB_OK && c < hdb_rows_column_count(rows) && !is_about_file(rows); c++)
			mix_value(hash, hdb_rows_value(rows, c));
	}
	hdb_rows_close(rows);
	return r < 0 ? r : HDB_OK;
}

static int look_up(struct hdb *db, uint64_t id, uint64_t *hash, struct hdb_error *err)
{
	struct hdb_object_info info = { .struct_size = sizeof(info) };
	uint64_t retained = 0;
	int r = hdb_object(db, id, &info, err);

	mix_number(hash, (uint64_t)r);
	if (r == HDB_OK) {
		mix(hash, info.class_name, strlen(info.class_name));
		mix_number(hash, info.shallow_bytes);
		mix_number(hash, info.file_offset);
		r = hdb_retained(db, id, &retained, err);
		mix_number(hash, retained);
	}
	return r < 0 ? r : HDB_OK;
}

/* By the sum of its letters, so that a new query moves no other one to another part. */
static bool is_selected(const char *question, unsigned part)
{
	unsigned sum = 0;

	for (; *question; question++)
		sum += (unsigned char)*question;
	return !part || sum % HOSTILE_PARTS == part % HOSTILE_PARTS;
}

int hostile_answers_part(const char *db_path, const char *dump_path, unsigned part, uint64_t *hash,
			 struct hdb_error *err)
{
	const struct hdb_open_options options = { .dump_path = dump_path, .threads = 1 };
	struct hdb *db = NULL;
	size_t count;
	int r = hdb_open(db_path, &options, &db, err);

	*hash = 0xcbf29ce484222325ull;
	count = hdb_query_count();
	/*
	 * The tables that others stand on are built first, so that `info` finds the same ones each
	 * time. No query of a small heap needs the tree of strong paths or the referrers.
	 */
	if (r == HDB_OK && !part)
		r = ask(db, "dominators", hash, err);
	if (r == HDB_OK && !part)
		r = hdb_need(db, HDB_NEED_STRONG | HDB_NEED_REFERRERS, err);
	for (size_t i = 0; r == HDB_OK && i < count; i++)
		if (strcmp(hdb_query_at(i)->name, "info") != 0 &&
		    strcmp(hdb_query_at(i)->name, "tables") != 0 &&
		    is_selected(hdb_query_at(i)->name, part))
			r = ask(db, hdb_query_at(i)->name, hash, err);
	for (uint64_t i = 0; r == HDB_OK && is_selected("objects by ID", part) && i < LOOK_UPS_MAX;
	     i++)
		r = look_up(db,
			    i < 8 ? OBJECT + i * 0x100 :
				    FIRST + (i - 8) * 0x20 + (i > 20 ? 0x1000 : 0),
			    hash, err);
	if (r == HDB_OK && is_selected("info", part))
		r = ask(db, "info", hash, err);
	hdb_close(db);
	return r;
}

int hostile_answers(const char *db_path, const char *dump_path, uint64_t *hash,
		    struct hdb_error *err)
{
	return hostile_answers_part(db_path, dump_path, 0, hash, err);
}

int hostile_check(const char *db_path, const char *dump_path, struct hdb_error *err)
{
	const struct hdb_open_options options = { .dump_path = dump_path, .threads = 1 };
	struct hdb_rows *rows = NULL;
	struct hdb *db = NULL;
	int r = hdb_open(db_path, &options, &db, err);
	int verdict = HDB_OK;

	if (r == HDB_OK)
		r = hdb_query(db, "check", NULL, &rows, err);
	while (r == HDB_OK)
		r = hdb_rows_next(rows, err);
	for (size_t i = 0; r >= 0 && i < hdb_rows_fact_count(rows); i++)
		if (strcmp(hdb_rows_fact_column(rows, i)->name, "failed") == 0 &&
		    hdb_rows_fact_value(rows, i)->u > 0)
			verdict = HDB_NOTFOUND;
	hdb_rows_close(rows);
	hdb_close(db);
	return r < 0 ? r : verdict;
}

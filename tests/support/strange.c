/*
 * support/strange.c - see strange.h.
 */
#include "support/strange.h"

#include <string.h>

/* Classes, 0x100 apart, in the order of class_names; the last three have strange names. */
enum {
	OBJECT = 0x10000,
	CLASS = 0x10100,
	STRING = 0x10200,
	BYTES = 0x10300,
	CHARS = 0x10400,
	THREAD = 0x10500,
	LOADER = 0x10600,
	MAP = 0x10700,
	NODE = 0x10800,
	NODES = 0x10900,
	PROPERTIES = 0x10a00,
	WEAK = 0x10b00,
	ODD = STRANGE_CLASS,
	ODD_SUB = 0x10d00,
	ODDS = 0x10e00
};

/* IDs of texts: of classes by their number, of fields, and of strange texts from 100 on. */
enum {
	T_VALUE = 40,
	T_CODER,
	T_NAME,
	T_TABLE,
	T_SIZE,
	T_HASH,
	T_KEY,
	T_NEXT,
	T_REFERENT,
	T_PROPS,
	T_STRANGE = 100
};
#define STRANGE_TEXTS 24

#define FIRST STRANGE_OBJECT
#define STEP 0x40

struct strange {
	struct hw *w;
	const struct strange_name *names;
	size_t count, turn;
	uint64_t next_id; /* next ID for an object that no number names */
};

static const char *const class_names[] = {
	"java/lang/Object",
	"java/lang/Class",
	"java/lang/String",
	"[B",
	"[C",
	"java/lang/Thread",
	"java/lang/ClassLoader",
	"java/util/HashMap",
	"java/util/HashMap$Node",
	"[Ljava/util/HashMap$Node;",
	"java/lang/System",
	"java/lang/ref/WeakReference",
};

static const char *const field_names[] = { "value", "coder", "name", "table",    "size",
					   "hash",  "key",   "next", "referent", "props" };

static const struct strange_name *next_name(struct strange *s)
{
	return &s->names[s->turn++ % s->count];
}

static void put_text(struct hw *w, uint64_t id, const char *before, const struct strange_name *name,
		     const char *after)
{
	(void)hw_begin(w, HPROF_UTF8, 0);
	hw_id(w, id);
	hw_bytes(w, before, strlen(before));
	if (name)
		hw_bytes(w, name->data, name->size);
	hw_bytes(w, after, strlen(after));
	hw_end(w);
}

static void put_names(struct strange *s)
{
	const size_t plain = sizeof(class_names) / sizeof(class_names[0]);
	struct hw *w = s->w;
	const struct strange_name *odd = next_name(s);

	for (size_t i = 0; i < plain; i++)
		put_text(w, 1 + i, class_names[i], NULL, "");
	put_text(w, 1 + plain, "", odd, "");
	put_text(w, 2 + plain, "a/", next_name(s), "/B");
	put_text(w, 3 + plain, "[L", odd, ";");
	for (size_t i = 0; i < sizeof(field_names) / sizeof(field_names[0]); i++)
		put_text(w, T_VALUE + i, field_names[i], NULL, "");
	for (unsigned i = 0; i < STRANGE_TEXTS; i++)
		put_text(w, T_STRANGE + i, "", next_name(s), "");
	for (uint32_t i = 0; i < plain + 3; i++)
		hw_load_class(w, i + 1, OBJECT + i * 0x100, 1, i + 1);
}

static void put_stack(struct hw *w)
{
	const uint64_t frames[] = { 71, 72 };

	for (unsigned i = 0; i < 2; i++) {
		const struct hprof_frame frame = {
			.frame_id = frames[i],
			.method_string_id = T_STRANGE + 3 * i,
			.signature_string_id = T_STRANGE + 1 + 3 * i,
			.source_string_id = T_STRANGE + 2 + 3 * i,
			.class_serial = 13 + i,
			.line = 42,
		};

		hw_frame(w, &frame);
	}
	hw_trace(w, 1, 1, frames, 2);
}

static void put_classes(struct hw *w)
{
	const struct hw_static statics[] = { { T_STRANGE + 8, HPROF_OBJECT, FIRST },
					     { T_STRANGE + 9, HPROF_CHAR, 0x1b } };
	const struct hw_static props = { T_PROPS, HPROF_OBJECT, FIRST + 3 * STEP };
	const struct hprof_field string[] = { { T_VALUE, HPROF_OBJECT }, { T_CODER, HPROF_BYTE } };
	const struct hprof_field name = { T_NAME, HPROF_OBJECT };
	const struct hprof_field map[] = { { T_TABLE, HPROF_OBJECT }, { T_SIZE, HPROF_INT } };
	const struct hprof_field node[] = { { T_HASH, HPROF_INT },
					    { T_KEY, HPROF_OBJECT },
					    { T_VALUE, HPROF_OBJECT },
					    { T_NEXT, HPROF_OBJECT } };
	const struct hprof_field referent = { T_REFERENT, HPROF_OBJECT };
	const struct hprof_field odd[] = { { T_STRANGE + 10, HPROF_OBJECT },
					   { T_STRANGE + 11, HPROF_CHAR } };
	const struct hprof_field sub = { T_STRANGE + 12, HPROF_OBJECT };
	const struct hw_class classes[] = {
		{ .id = OBJECT },
		{ .id = CLASS, .super_id = OBJECT },
		{ .id = STRING,
		  .super_id = OBJECT,
		  .fields = string,
		  .field_count = 2,
		  .instance_size = 9 },
		{ .id = BYTES, .super_id = OBJECT },
		{ .id = CHARS, .super_id = OBJECT },
		{ .id = THREAD,
		  .super_id = OBJECT,
		  .fields = &name,
		  .field_count = 1,
		  .instance_size = 8 },
		{ .id = LOADER,
		  .super_id = OBJECT,
		  .fields = &name,
		  .field_count = 1,
		  .instance_size = 8 },
		{ .id = MAP,
		  .super_id = OBJECT,
		  .fields = map,
		  .field_count = 2,
		  .instance_size = 12 },
		{ .id = NODE,
		  .super_id = OBJECT,
		  .fields = node,
		  .field_count = 4,
		  .instance_size = 28 },
		{ .id = NODES, .super_id = OBJECT },
		{ .id = PROPERTIES, .super_id = OBJECT, .statics = &props, .static_count = 1 },
		{ .id = WEAK,
		  .super_id = OBJECT,
		  .fields = &referent,
		  .field_count = 1,
		  .instance_size = 8 },
		{ .id = ODD,
		  .super_id = OBJECT,
		  .loader_id = FIRST + 2 * STEP,
		  .fields = odd,
		  .field_count = 2,
		  .statics = statics,
		  .static_count = 2,
		  .instance_size = 10 },
		{ .id = ODD_SUB,
		  .super_id = ODD,
		  .loader_id = FIRST + 2 * STEP,
		  .fields = &sub,
		  .field_count = 1,
		  .instance_size = 18 },
		{ .id = ODDS, .super_id = OBJECT, .loader_id = FIRST + 2 * STEP },
	};

	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		hw_class(w, &classes[i]);
}

static size_t put_be(uint8_t *out, uint64_t v, unsigned size)
{
	for (unsigned b = 0; b < size; b++)
		out[b] = (uint8_t)(v >> (8 * (size - 1 - b)));
	return size;
}

/* Writes a String with a strange name, as Latin-1 or, in odd turns, as UTF-16. Returns its ID. */
static uint64_t put_string(struct strange *s)
{
	const bool is_wide = s->turn & 1;
	const struct strange_name *name = next_name(s);
	const uint64_t string = s->next_id, array = string + STEP;
	const uint32_t size = (uint32_t)(is_wide ? name->size & ~(size_t)1 : name->size);
	uint8_t body[9];

	s->next_id += 2 * STEP;
	(void)put_be(body, array, 8);
	body[8] = is_wide;
	hw_instance(s->w, string, STRING, body, 9);
	hw_primitive_array(s->w, array, HPROF_BYTE, name->data, size);
	return string;
}

/* The number that follows an instance's reference. Size 0 means that there is no number. */
struct last_field {
	uint64_t value;
	unsigned size;
};

static void put_instance(struct hw *w, uint64_t id, uint64_t class_id, uint64_t reference,
			 struct last_field last)
{
	uint8_t body[16];
	size_t at = put_be(body, reference, 8);

	at += put_be(body + at, last.value, last.size);
	hw_instance(w, id, class_id, body, (uint32_t)at);
}

/* Writes a map of two strings to strings at `id`, and the table of its nodes. */
static void put_map(struct strange *s, uint64_t id)
{
	const uint64_t table = s->next_id, nodes[] = { table + STEP, table + 2 * STEP };

	s->next_id += 3 * STEP;
	put_instance(s->w, id, MAP, table, (struct last_field){ 2, 4 });
	hw_object_array(s->w, table, NODES, nodes, 2);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t body[28] = { 0 };

		(void)put_be(body + 4, put_string(s), 8);
		(void)put_be(body + 12, put_string(s), 8);
		hw_instance(s->w, nodes[i], NODE, body, 28);
	}
}

static void put_objects(struct strange *s)
{
	struct hw *w = s->w;
	const uint64_t name = put_string(s);
	const struct last_field none = { 0 };
	uint64_t many[40];

	put_instance(w, FIRST, ODD, name, (struct last_field){ 0x85, 2 });
	put_instance(w, FIRST + STEP, THREAD, put_string(s), none);
	put_instance(w, FIRST + 2 * STEP, LOADER, put_string(s), none);
	put_map(s, FIRST + 3 * STEP);
	put_instance(w, FIRST + 4 * STEP, WEAK, FIRST, none);
	for (unsigned i = 0; i < 40; i++) {
		uint8_t body[18];

		many[i] = s->next_id;
		s->next_id += STEP;
		(void)put_be(body, put_string(s), 8);
		(void)put_be(body + 8, name, 8);
		(void)put_be(body + 16, i, 2);
		hw_instance(w, many[i], ODD_SUB, body, 18);
	}
	hw_object_array(w, FIRST + 5 * STEP, ODDS, many, 40);
	(void)put_string(s); /* garbage */
}

void strange_dump(struct hw *w, const struct strange_name *names, size_t count)
{
	struct strange s = { .w = w, .names = names, .count = count, .next_id = FIRST + 64 * STEP };

	hw_init(w, HPROF_1_0_3, 8, 1234567890);
	put_names(&s);
	put_stack(w);
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_heap_info(w, 'A', T_STRANGE + 13);
	put_classes(w);
	put_objects(&s);
	hw_root(w, HPROF_ROOT_THREAD_OBJECT, FIRST + STEP, 1, 1);
	hw_root(w, HPROF_ROOT_JAVA_FRAME, FIRST + 5 * STEP, 1, 0);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 4 * STEP, 1, 0);
	for (uint64_t c = OBJECT; c <= ODDS; c += 0x100)
		hw_root(w, HPROF_ROOT_STICKY_CLASS, c, 0, 0);
	hw_end(w);
	hw_heap_dump_end(w);
}

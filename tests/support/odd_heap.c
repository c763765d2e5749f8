/*
 * support/odd_heap.c - see odd_heap.h. What is written, and by whom, is in src/hprof/FORMAT.md.
 */
#include "support/odd_heap.h"

#include <string.h>

#define NODES 3000u
#define HOLDERS 150u /* fewer than prove a size by themselves */
#define SMALL_ARRAY 100u
#define LONG_ARRAY 1500u /* longer than a list that is kept in its block */

enum {
	T_VALUE = 1,
	T_HASH,
	T_CODER,
	T_ZERO_HASH,
	T_VERSION,
	T_NEXT,
	T_NUMBER,
	T_A,
	T_B,
	T_D,
	T_O,
	T_RUN,
	T_SIG,
	T_FILE,
	T_CLASSES = 100
};

struct writer {
	struct hw *w;
	struct odd_heap *heap;
	uint64_t at;        /* address of the next object */
	uint64_t next_flat; /* the VM's counter */
	uint64_t last_node;
	uint32_t serial;
	uint8_t body[64];
	unsigned used;
};

static uint64_t take(struct writer *o, uint64_t bytes)
{
	const uint64_t at = o->at;

	o->at += (bytes + 7) & ~7ull;
	o->heap->bytes += o->at - at;
	return at;
}

static void value(struct writer *o, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		o->body[o->used++] = (uint8_t)(v >> (8 * (bytes - 1 - i)));
}

static void id(struct writer *o, uint64_t v)
{
	value(o, o->w->id_size, v);
}

static void instance(struct writer *o, uint64_t at, uint64_t class_id)
{
	hw_instance(o->w, at, class_id, o->body, o->used);
	o->used = 0;
}

static void name_class(struct writer *o, uint64_t class_id, const char *name)
{
	hw_utf8(o->w, T_CLASSES + ++o->serial, name);
	hw_load_class(o->w, o->serial, class_id, 1, T_CLASSES + o->serial);
}

static void put_class(struct writer *o, uint64_t class_id, const struct hprof_field *fields,
		      unsigned count)
{
	const struct hw_class c = {
		.id = class_id,
		.super_id = class_id == ODD_OBJECT_CLASS ? 0 : ODD_OBJECT_CLASS,
		.fields = fields,
		.field_count = count,
	};

	hw_class(o->w, &c);
	hw_root(o->w, HPROF_ROOT_STICKY_CLASS, class_id, 0, 0);
}

static void put_names(struct writer *o)
{
	static const struct {
		uint64_t id;
		const char *name;
	} classes[] = {
		{ ODD_OBJECT_CLASS, "java/lang/Object" },
		{ ODD_CLASS_CLASS, "java/lang/Class" },
		{ ODD_STRING_CLASS, "java/lang/String" },
		{ ODD_VERSION_CLASS, "java/lang/VersionProps" },
		{ ODD_NODE_CLASS, "test/Node" },
		{ ODD_SMALL_CLASS, "test/Small" },
		{ ODD_BOX_CLASS, "test/Box" },
		{ ODD_DEEP_CLASS, "test/Deep" },
		{ ODD_HOLDER_CLASS, "test/Holder" },
		{ ODD_SMALLS_CLASS, "[Ltest/Small;" },
		{ ODD_OBJECTS_CLASS, "[Ljava/lang/Object;" },
		{ ODD_BYTES_CLASS, "[B" },
		{ ODD_INTS_CLASS, "[I" },
		{ ODD_FILLER_CLASS, "jdk/internal/vm/FillerObject" },
		{ ODD_FILLERS_CLASS, "[Ljdk/internal/vm/FillerElement;" },
	};
	static const char *const texts[] = {
		[T_VALUE] = "value",
		[T_HASH] = "hash",
		[T_CODER] = "coder",
		[T_ZERO_HASH] = "hashIsZero",
		[T_VERSION] = "java_version",
		[T_NEXT] = "next",
		[T_NUMBER] = "number",
		[T_A] = "a",
		[T_B] = "b",
		[T_D] = "d",
		[T_O] = "o",
		[T_RUN] = "run",
		[T_SIG] = "()V",
		[T_FILE] = "Test.java",
	};

	for (unsigned i = 1; i < sizeof(texts) / sizeof(texts[0]); i++)
		hw_utf8(o->w, i, texts[i]);
	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		name_class(o, classes[i].id, classes[i].name);
}

static void put_classes(struct writer *o, uint64_t version)
{
	static const struct hprof_field string[] = {
		{ T_VALUE, HPROF_OBJECT },
		{ T_HASH, HPROF_INT },
		{ T_CODER, HPROF_BYTE },
		{ T_ZERO_HASH, HPROF_BOOLEAN },
	};
	static const struct hprof_field node[] = { { T_NEXT, HPROF_OBJECT },
						   { T_NUMBER, HPROF_INT } };
	static const struct hprof_field small = { T_VALUE, HPROF_BYTE };
	static const struct hprof_field box = { T_VALUE, HPROF_INT };
	static const struct hprof_field deep[] = { { T_A, HPROF_OBJECT }, { T_B, HPROF_BYTE } };
	static const struct hprof_field holder[] = {
		{ T_NUMBER, HPROF_INT }, { T_A, HPROF_OBJECT }, { T_B, HPROF_OBJECT },
		{ T_D, HPROF_OBJECT },   { T_O, HPROF_OBJECT },
	};
	const struct hw_static text = { T_VERSION, HPROF_OBJECT, version };
	const struct hw_class versions = {
		.id = ODD_VERSION_CLASS,
		.super_id = ODD_OBJECT_CLASS,
		.statics = &text,
		.static_count = 1,
	};

	put_class(o, ODD_OBJECT_CLASS, NULL, 0);
	put_class(o, ODD_CLASS_CLASS, NULL, 0);
	put_class(o, ODD_STRING_CLASS, string, 4);
	hw_class(o->w, &versions);
	hw_root(o->w, HPROF_ROOT_STICKY_CLASS, ODD_VERSION_CLASS, 0, 0);
	put_class(o, ODD_NODE_CLASS, node, 2);
	put_class(o, ODD_SMALL_CLASS, &small, 1);
	put_class(o, ODD_BOX_CLASS, &box, 1);
	put_class(o, ODD_DEEP_CLASS, deep, 2);
	put_class(o, ODD_HOLDER_CLASS, holder, 5);
	put_class(o, ODD_SMALLS_CLASS, NULL, 0);
	put_class(o, ODD_OBJECTS_CLASS, NULL, 0);
	put_class(o, ODD_BYTES_CLASS, NULL, 0);
	put_class(o, ODD_INTS_CLASS, NULL, 0);
	put_class(o, ODD_FILLER_CLASS, NULL, 0);
	put_class(o, ODD_FILLERS_CLASS, NULL, 0);
}

/* Bytes before the elements of an array, by their width: JDK 23 and later. */
static uint64_t array_base(const struct odd_heap *h, unsigned width)
{
	return width == 8 ? (h->header + 4 + 7u) & ~7u : h->header + 4;
}

static uint64_t put_bytes(struct writer *o, const char *text, uint32_t length)
{
	const uint64_t at = take(o, array_base(o->heap, 1) + length);

	hw_primitive_array(o->w, at, HPROF_BYTE, text, length);
	return at;
}

/* In UTF-16 with a zero byte behind each character, as a little-endian VM has them. */
static uint64_t put_string(struct writer *o, const char *text)
{
	const uint32_t length = (uint32_t)strlen(text), width = o->heap->odd & ODD_UTF16 ? 2 : 1;
	char units[16] = { 0 };
	uint64_t bytes, at;

	for (uint32_t i = 0; i < length && i < sizeof(units) / 2; i++)
		units[i * width] = text[i];
	bytes = put_bytes(o, units, length * width);
	/* hash, coder and hashIsZero, then the reference. */
	at = take(o, (uint64_t)o->heap->header + 8 + o->heap->reference);

	id(o, bytes);
	value(o, 4, 0);
	value(o, 1, width - 1);
	value(o, 1, 0);
	instance(o, at, ODD_STRING_CLASS);
	return at;
}

static void put_node(struct writer *o)
{
	const struct odd_heap *h = o->heap;
	const uint64_t at = take(o, h->reference == 4 ? h->header + 8u : h->header + 16u);

	id(o, o->last_node);
	value(o, 4, (uint32_t)at);
	instance(o, at, ODD_NODE_CLASS);
	o->last_node = at;
}

/* ---- flat values ---- */

static uint64_t count_flat(struct writer *o)
{
	o->heap->flat_count++;
	return o->next_flat++;
}

/*
 * As heapDumper.cpp does: the holder with the numbers of its values, then these, each with the
 * numbers that its own values will have, and those behind it. A small is 1 byte and a null marker:
 * 2; a box 4 and 1: 8; a deep 2, 1 and 1:
 * 4. Behind a header of 12 bytes: number, boxes at 16 and 24, deep, o; of 16 bytes: boxes, number,
 * deep, o at 40.
 */
static void put_holder(struct writer *o, unsigned i)
{
	struct odd_heap *h = o->heap;
	const uint64_t at = take(o, h->header == 12 ? 40 : 48);
	const uint64_t a = count_flat(o), b = i % 3 ? count_flat(o) : 0, d = count_flat(o);
	uint64_t small;

	if (!h->holder) {
		h->holder = at;
		h->holder_bytes = o->at - at;
	}
	value(o, 4, i);
	id(o, a);
	id(o, b);
	id(o, d);
	id(o, o->last_node);
	instance(o, at, ODD_HOLDER_CLASS);
	value(o, 4, i);
	instance(o, a, ODD_BOX_CLASS);
	if (b) {
		value(o, 4, i);
		instance(o, b, ODD_BOX_CLASS);
	}
	small = count_flat(o);
	id(o, small);
	value(o, 1, 1);
	instance(o, d, ODD_DEEP_CLASS);
	value(o, 1, 2);
	instance(o, small, ODD_SMALL_CLASS);
}

static uint64_t put_smalls(struct writer *o, uint32_t length)
{
	/* Elements are values, which begin at a multiple of 8. */
	const uint64_t at = take(o, array_base(o->heap, 8) + 2ull * length);
	uint64_t elements[LONG_ARRAY];

	for (uint32_t i = 0; i < length; i++)
		elements[i] = i % 4 == 3 ? 0 : count_flat(o);
	hw_object_array(o->w, at, ODD_SMALLS_CLASS, elements, length);
	for (uint32_t i = 0; i < length; i++) {
		if (!elements[i])
			continue;
		value(o, 1, i & 0xff);
		instance(o, elements[i], ODD_SMALL_CLASS);
	}
	return at;
}

static void put_flat(struct writer *o)
{
	for (unsigned i = 0; i < HOLDERS; i++)
		put_holder(o, i);
	(void)put_smalls(o, SMALL_ARRAY);
	(void)put_smalls(o, 0);
	o->heap->smalls = o->at;
	(void)put_smalls(o, LONG_ARRAY);
	o->heap->smalls_bytes = o->at - o->heap->smalls;
	hw_root(o->w, HPROF_ROOT_JNI_GLOBAL, o->heap->holder, 7, 0);
	hw_root(o->w, HPROF_ROOT_JNI_GLOBAL, o->heap->smalls, 8, 0);
}

/* ---- other odd things ---- */

static void put_fillers(struct writer *o)
{
	const uint64_t before = o->at;

	for (uint32_t i = 0; i < 40; i++) {
		hw_object_array(o->w, take(o, array_base(o->heap, 4) + 4ull * i * 3),
				ODD_FILLERS_CLASS, NULL, i * 3);
		instance(o, take(o, o->heap->header), ODD_FILLER_CLASS);
		o->heap->fillers += 2;
	}
	o->heap->filler_bytes = o->at - before;
}

static void put_zeroed(struct writer *o)
{
	char text[ODD_ZEROED_FROM + 4 * ODD_ZEROED_ARRAYS];

	for (uint32_t i = 1; i <= ODD_ZEROED_ARRAYS; i++) {
		const uint32_t length = ODD_ZEROED_FROM + 4 * i;

		memset(text, 0, sizeof(text));
		memset(text, 'a' + (int)(i % 26),
		       o->heap->odd & ODD_ZEROED ? ODD_ZEROED_FROM : length);
		(void)put_bytes(o, text, length);
	}
}

/*
 * An array in the archive that has class objects of classes that are not loaded, and what is left
 * where they lie.
 */
static void put_mirrors(struct writer *o)
{
	uint64_t elements[ODD_MIRROR_COUNT + 1];
	const uint64_t at = take(o, array_base(o->heap, o->heap->reference) +
					    (ODD_MIRROR_COUNT + 1) * (uint64_t)o->heap->reference);

	for (unsigned i = 0; i < ODD_MIRROR_COUNT; i++) {
		elements[i] = o->at;
		o->at += ODD_MIRROR_BYTES;
	}
	elements[ODD_MIRROR_COUNT] = ODD_NODE_CLASS;
	hw_object_array(o->w, at, ODD_OBJECTS_CLASS, elements, ODD_MIRROR_COUNT + 1);
}

/*
 * The thread's root comes before its trace, as those of virtual threads that the heap walk finds.
 */
static void put_traces(struct writer *o)
{
	const struct hprof_frame frame = {
		.frame_id = 1,
		.method_string_id = T_RUN,
		.signature_string_id = T_SIG,
		.source_string_id = T_FILE,
		.class_serial = 5,
		.line = 42,
	};
	const uint64_t frames[] = { 1 };

	o->heap->thread = o->last_node;
	hw_root(o->w, HPROF_ROOT_THREAD_OBJECT, o->heap->thread, 9, 10);
	hw_root(o->w, HPROF_ROOT_JAVA_FRAME, o->heap->thread, 9, 0);
	hw_end(o->w);
	hw_frame(o->w, &frame);
	hw_trace(o->w, 10, 9, frames, 1);
	(void)hw_begin(o->w, HPROF_HEAP_DUMP_SEGMENT, 0);
}

void odd_heap_write(struct hw *w, struct odd_heap *heap)
{
	struct writer o = { .w = w, .heap = heap, .at = ODD_FIRST, .next_flat = 1 };
	uint64_t version;

	hw_init(w, HPROF_1_0_2, 8, 1);
	put_names(&o);
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	version = put_string(&o, "28.0.1");
	put_classes(&o, version);
	for (unsigned i = 0; i < NODES; i++) {
		put_node(&o);
		if (i % 16 == 0)
			(void)put_bytes(&o, "0123456789", i % 10);
		if (i == NODES / 2 && heap->odd & ODD_TRACES)
			put_traces(&o);
	}
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, o.last_node, 6, 0);
	if (heap->odd & ODD_FLAT)
		put_flat(&o);
	if (heap->odd & ODD_FILLERS)
		put_fillers(&o);
	put_zeroed(&o);
	if (heap->odd & ODD_MIRRORS)
		put_mirrors(&o);
	if (heap->odd & ODD_ID)
		instance(&o, o.last_node + 3, ODD_OBJECT_CLASS);
	if (heap->odd & ODD_INSIDE)
		instance(&o, o.last_node + 8, ODD_OBJECT_CLASS);
	/* The last one's end. */
	(void)put_bytes(&o, NULL, 0);
	hw_end(w);
	hw_heap_dump_end(w);
}

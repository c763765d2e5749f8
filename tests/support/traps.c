/*
 * support/traps.c - see traps.h.
 */
#include "support/traps.h"

#include "support/temp.h"

#include <inttypes.h>

enum { OBJECT = 0x1000, CLASS = 0x1100, NODE = 0x1200, LIST = 0x1300, FIRST = 0x10000000 };

static void begin(struct hw *w)
{
	hw_init(w, HPROF_1_0_2, 8, 0);
	hw_utf8(w, 1, "java/lang/Object");
	hw_utf8(w, 2, "java/lang/Class");
	hw_utf8(w, 3, "Node");
	hw_utf8(w, 4, "next");
	hw_utf8(w, 5, "[LNode;");
	hw_load_class(w, 1, OBJECT, 0, 1);
	hw_load_class(w, 2, CLASS, 0, 2);
	hw_load_class(w, 3, NODE, 0, 3);
	hw_load_class(w, 4, LIST, 0, 5);
}

static void put_class(struct hw *w, uint64_t id, uint64_t super)
{
	const struct hprof_field next = { 4, HPROF_OBJECT };
	const struct hw_class class = {
		.id = id, .super_id = super, .fields = &next, .field_count = id == NODE
	};

	hw_class(w, &class);
}

static void begin_heap(struct hw *w)
{
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	put_class(w, OBJECT, 0);
	put_class(w, CLASS, OBJECT);
	put_class(w, NODE, OBJECT);
	put_class(w, LIST, OBJECT);
}

static void put_node(struct hw *w, uint64_t id, uint64_t next)
{
	uint8_t body[8];

	for (unsigned b = 0; b < 8; b++)
		body[b] = (uint8_t)(next >> (56 - 8 * b));
	hw_instance(w, id, NODE, body, 8);
}

/* Writes n classes, each of which extends the previous one, and an object of each class. */
static void super_chain(struct hw *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "c/C%" PRIu64, i);
		hw_utf8(w, 100 + i, name);
		hw_load_class(w, (uint32_t)(10 + i), FIRST + i * 64, 0, 100 + i);
	}
	begin_heap(w);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + (n - 1) * 64, 0, 0);
	for (uint64_t i = 0; i < n; i++)
		put_class(w, FIRST + i * 64, i ? FIRST + (i - 1) * 64 : OBJECT);
	for (uint64_t i = 0; i < n; i++)
		hw_instance(w, FIRST + i * 64 + 32, FIRST + i * 64, NULL, 0);
}

/* Writes n roots of two kinds for one object. */
static void many_roots(struct hw *w, uint64_t n)
{
	begin_heap(w);
	put_node(w, FIRST, FIRST);
	for (uint64_t i = 0; i < n; i++)
		hw_root(w, i % 2 ? HPROF_ROOT_JNI_GLOBAL : HPROF_ROOT_JAVA_FRAME, FIRST, i % 7, 0);
}

/* Writes one text and one array of characters, whose sizes grow with n. */
static void long_string(struct hw *w, uint64_t n)
{
	(void)hw_begin(w, HPROF_UTF8, 0);
	hw_id(w, 99);
	hw_zeros(w, (size_t)n * 400);
	memset(w->data + w->size - n * 400, 'a', (size_t)n * 400);
	hw_end(w);
	hw_load_class(w, 9, FIRST, 0, 99);
	begin_heap(w);
	put_class(w, FIRST, OBJECT);
	hw_primitive_array(w, FIRST + 64, HPROF_CHAR, NULL, (uint32_t)n * 200);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 64, 0, 0);
}

/*
 * Writes array classes of arrays of arrays, as deep as the virtual machine allows. Each array
 * refers to the next array.
 */
static void deep_arrays(struct hw *w, uint64_t n)
{
	const uint64_t depth = 255;
	char name[260];

	memset(name, '[', depth);
	name[depth] = 'I';
	name[depth + 1] = '\0';
	for (uint64_t i = 0; i < depth; i++) {
		hw_utf8(w, 100 + i, name + i);
		hw_load_class(w, (uint32_t)(10 + i), FIRST + i * 64, 0, 100 + i);
	}
	begin_heap(w);
	for (uint64_t i = 0; i < depth; i++)
		put_class(w, FIRST + i * 64, OBJECT);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t next = FIRST + 0x100000 + (i + 1) * 32;

		hw_object_array(w, FIRST + 0x100000 + i * 32, FIRST + i % depth * 64, &next,
				i + 1 < n);
	}
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 0x100000, 0, 0);
}

/* Writes the name of an array class that is deeper than a virtual machine allows. */
static void deep_name(struct hw *w, uint64_t n)
{
	(void)hw_begin(w, HPROF_UTF8, 0);
	hw_id(w, 99);
	hw_zeros(w, (size_t)n * 20 + 1);
	memset(w->data + w->size - n * 20 - 1, '[', (size_t)n * 20);
	w->data[w->size - 1] = 'I';
	hw_end(w);
	hw_load_class(w, 9, FIRST, 0, 99);
	begin_heap(w);
	put_class(w, FIRST, OBJECT);
	hw_object_array(w, FIRST + 64, FIRST, NULL, 3);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 64, 0, 0);
}

static void long_list(struct hw *w, uint64_t n)
{
	begin_heap(w);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST, 0, 0);
	for (uint64_t i = 0; i < n; i++)
		put_node(w, FIRST + i * 32, i + 1 < n ? FIRST + (i + 1) * 32 : 0);
}

/*
 * The inverse of the finalizer of MurmurHash3, so that class IDs fall into one slot of an unseeded
 * table.
 */
static uint64_t unmix(uint64_t v)
{
	v ^= v >> 33;
	v *= 0x9cb4b2f8129337dbull;
	v ^= v >> 33;
	v *= 0x4f74430c22a54005ull;
	return v ^ (v >> 33);
}

static void colliding_ids(struct hw *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		hw_utf8(w, unmix((i + 1) << 32), "Same");
		hw_load_class(w, (uint32_t)(10 + i), unmix((i + 1) << 32), 0, unmix((i + 1) << 32));
	}
	begin_heap(w);
	for (uint64_t i = 0; i < n; i++)
		put_class(w, unmix((i + 1) << 32), OBJECT);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, unmix(1ull << 32), 0, 0);
}

/* Writes a hub: all objects refer to the hub, and the hub refers to all objects. */
static void hub(struct hw *w, uint64_t n)
{
	uint64_t *all = malloc(n * sizeof(*all));

	if (!all)
		abort();
	begin_heap(w);
	for (uint64_t i = 0; i < n; i++) {
		all[i] = FIRST + i * 32;
		put_node(w, all[i], FIRST - 64);
	}
	hw_object_array(w, FIRST - 64, LIST, all, (uint32_t)n);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST - 64, 0, 0);
	free(all);
}

/* Writes n threads. The stack of each has one frame, which holds an object. */
static void many_threads(struct hw *w, uint64_t n)
{
	const uint64_t frame_id = 77;
	const struct hprof_frame frame = { .frame_id = frame_id,
					   .method_string_id = 4,
					   .signature_string_id = 4,
					   .source_string_id = 4,
					   .class_serial = 3,
					   .line = 1 };

	hw_frame(w, &frame);
	for (uint64_t i = 0; i < n; i++)
		hw_trace(w, (uint32_t)(10 + i), (uint32_t)(10 + i), &frame_id, 1);
	begin_heap(w);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t thread = FIRST + i * 64;

		put_node(w, thread, 0);
		put_node(w, thread + 32, FIRST + 32);
		hw_root(w, HPROF_ROOT_THREAD_OBJECT, thread, (uint32_t)(10 + i),
			(uint32_t)(10 + i));
		hw_root(w, HPROF_ROOT_JAVA_FRAME, thread + 32, (uint32_t)(10 + i), 0);
	}
}

/* Writes a stack of n frames, each with a local variable. */
static void deep_stack(struct hw *w, uint64_t n)
{
	uint64_t *ids = calloc(n, sizeof(*ids));

	if (!ids)
		abort();
	for (uint64_t i = 0; i < n; i++) {
		const struct hprof_frame frame = { .frame_id = 100 + i,
						   .method_string_id = 4,
						   .signature_string_id = 4,
						   .source_string_id = 4,
						   .class_serial = 3,
						   .line = (int32_t)i };

		ids[i] = 100 + i;
		hw_frame(w, &frame);
	}
	hw_trace(w, 1, 1, ids, (uint32_t)n);
	free(ids);
	begin_heap(w);
	put_node(w, FIRST, 0);
	hw_root(w, HPROF_ROOT_THREAD_OBJECT, FIRST, 1, 1);
	for (uint64_t i = 0; i < n; i++) {
		put_node(w, FIRST + (i + 1) * 32, 0);
		hw_root(w, HPROF_ROOT_JAVA_FRAME, FIRST + (i + 1) * 32, 1, (uint32_t)i);
	}
}

/* Writes a class with as many fields as fit, and instances of this class. */
static void many_fields(struct hw *w, uint64_t n)
{
	const unsigned count = 65535;
	struct hprof_field *fields = calloc(count, sizeof(*fields));
	const struct hw_class class = { .id = FIRST,
					.super_id = OBJECT,
					.fields = fields,
					.field_count = count,
					.instance_size = count };

	if (!fields)
		abort();
	for (unsigned i = 0; i < count; i++)
		fields[i] = (struct hprof_field){ 4, HPROF_BYTE };
	hw_utf8(w, 99, "Wide");
	hw_load_class(w, 9, FIRST, 0, 99);
	begin_heap(w);
	hw_class(w, &class);
	for (uint64_t i = 0; i < n; i++) {
		hw_instance(w, FIRST + 64 + i * 0x20000, FIRST, NULL, count);
		hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 64 + i * 0x20000, 0, 0);
	}
	free(fields);
}

/*
 * Writes n classes of the same name, each with one field and its own class loader, and an object of
 * each class.
 */
static void same_names(struct hw *w, uint64_t n)
{
	hw_utf8(w, 99, "p/Same");
	for (uint64_t i = 0; i < n; i++)
		hw_load_class(w, (uint32_t)(10 + i), FIRST + i * 128, 0, 99);
	begin_heap(w);
	for (uint64_t i = 0; i < n; i++) {
		const struct hprof_field next = { 4, HPROF_OBJECT };
		const struct hw_class class = { .id = FIRST + i * 128,
						.super_id = OBJECT,
						.loader_id = FIRST + i * 128 + 32,
						.fields = &next,
						.field_count = 1,
						.instance_size = 8 };
		uint8_t body[8] = { 0 };

		hw_class(w, &class);
		put_node(w, FIRST + i * 128 + 32, 0);
		hw_instance(w, FIRST + i * 128 + 64, FIRST + i * 128, body, 8);
		hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + i * 128 + 64, 0, 0);
	}
}

/*
 * Writes n objects with different classes that are missing from the dump, and references to missing
 * objects.
 */
static void many_problems(struct hw *w, uint64_t n)
{
	begin_heap(w);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST, 0, 0);
	for (uint64_t i = 0; i < n; i++) {
		if (i % 2)
			hw_instance(w, FIRST + i * 32, 0x7000000000 + i * 32, NULL, 0);
		else
			put_node(w, FIRST + i * 32, 0x6000000000 + i * 32);
	}
}

/* Writes n texts that no record uses. Half of them have the same ID. */
static void many_names(struct hw *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "n%" PRIu64, i);
		hw_utf8(w, i % 2 ? 100 + i : 99, name);
	}
	begin_heap(w);
	put_node(w, FIRST, 0);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST, 0, 0);
}

const struct trap traps[] = {
	{ "chain of superclasses", super_chain, 4000, 125000 },
	{ "roots on one object", many_roots, 10000, 125000 },
	{ "long string", long_string, 10000, 0 },
	{ "deep arrays", deep_arrays, 5000, 125000 },
	{ "long list", long_list, 10000, 125000 },
	{ "identifiers that collide", colliding_ids, 4000, 125000 },
	{ "hub", hub, 10000, 125000 },
	{ "deep name", deep_name, 10000, 6250 },
	{ "threads", many_threads, 5000, 125000 },
	{ "deep stack", deep_stack, 5000, 125000 },
	{ "fields", many_fields, 20, 0 },
	{ "one name, many loaders", same_names, 3000, 125000 },
	{ "problems", many_problems, 5000, 125000 },
	{ "names", many_names, 5000, 125000 },
};

const size_t trap_count = sizeof(traps) / sizeof(traps[0]);

void trap_write(const struct trap *trap, uint64_t n, const char *path)
{
	struct hw w;

	begin(&w);
	trap->put(&w, n);
	hw_end(&w);
	hw_heap_dump_end(&w);
	if (hw_save(&w, path) != 0)
		abort();
	hw_release(&w);
}

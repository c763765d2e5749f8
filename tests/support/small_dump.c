/*
 * support/small_dump.c - see small_dump.h.
 */
#include "support/small_dump.h"

#define OBJECT UINT64_C(0x1000) /* class ids */
#define NODE UINT64_C(0x1040)
#define NODES UINT64_C(0x1080)

void small_classes(struct hw *w)
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

void small_nodes(struct hw *w, uint64_t id, unsigned count)
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

void small_head(struct hw *w)
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

struct small_places small_dump(struct hw *w, unsigned id_size)
{
	struct small_places at;

	hw_init(w, HPROF_1_0_2, id_size, 1000);
	small_head(w);
	at.first = hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	small_classes(w);
	small_nodes(w, 0x2000, 40);
	hw_end(w);
	at.second = hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	small_nodes(w, 0x4000, 40);
	write_roots(w);
	hw_end(w);
	at.end = w->size;
	hw_heap_dump_end(w);
	return at;
}

/*
 * support/hprof_writer.c - see hprof_writer.h. All stack trace serials of objects are 1, as in
 * HotSpot's dumps.
 */
#include "support/hprof_writer.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>

#define TRACE_SERIAL 1

/* Makes room for `size` bytes and returns where they go. */
static uint8_t *extend(struct hw *w, size_t size)
{
	uint8_t *p;

	if (size > w->capacity - w->size) {
		size_t capacity = w->capacity ? w->capacity : 4096;

		while (size > capacity - w->size)
			capacity *= 2;
		w->data = realloc(w->data, capacity);
		if (!w->data)
			abort();
		w->capacity = capacity;
	}
	p = w->data + w->size;
	w->size += size;
	return p;
}

void hw_init(struct hw *w, enum hprof_version version, unsigned id_size, uint64_t timestamp_ms)
{
	char magic[32];

	*w = (struct hw){ .id_size = id_size };
	snprintf(magic, sizeof(magic), "JAVA PROFILE 1.0.%d", (int)version);
	hw_bytes(w, magic, strlen(magic) + 1);
	hw_u4(w, id_size);
	hw_u8(w, timestamp_ms);
}

void hw_release(struct hw *w)
{
	free(w->data);
	*w = (struct hw){ .id_size = 0 };
}

int hw_save(const struct hw *w, const char *path)
{
	FILE *file = fopen(path, "wb");
	size_t written;

	if (!file)
		return -1;
	written = fwrite(w->data, 1, w->size, file);
	return fclose(file) == 0 && written == w->size ? 0 : -1;
}

void hw_bytes(struct hw *w, const void *data, size_t size)
{
	if (size > 0)
		memcpy(extend(w, size), data, size);
}

void hw_zeros(struct hw *w, size_t size)
{
	if (size > 0)
		memset(extend(w, size), 0, size);
}

/* The low `size` bytes of v, big-endian. */
static void put(struct hw *w, uint64_t v, unsigned size)
{
	uint8_t *p = extend(w, size);

	while (size-- > 0) {
		p[size] = (uint8_t)v;
		v >>= 8;
	}
}

void hw_u1(struct hw *w, unsigned v)
{
	put(w, v, 1);
}

void hw_u2(struct hw *w, unsigned v)
{
	put(w, v, 2);
}

void hw_u4(struct hw *w, uint32_t v)
{
	put(w, v, 4);
}

void hw_u8(struct hw *w, uint64_t v)
{
	put(w, v, 8);
}

void hw_id(struct hw *w, uint64_t v)
{
	put(w, v, w->id_size);
}

void hw_value(struct hw *w, uint8_t type, uint64_t v)
{
	put(w, v, hprof_type_size(type, w->id_size));
}

void hw_patch_u4(struct hw *w, size_t offset, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		w->data[offset + i] = (uint8_t)(v >> (24 - 8 * i));
}

size_t hw_begin(struct hw *w, unsigned tag, uint32_t time_us)
{
	w->open = w->size;
	hw_u1(w, tag);
	hw_u4(w, time_us);
	hw_u4(w, 0);
	return w->open;
}

void hw_end(struct hw *w)
{
	hw_end_length(w, (uint32_t)(w->size - w->open - 9));
}

void hw_end_length(struct hw *w, uint32_t length)
{
	hw_patch_u4(w, w->open + 5, length);
	w->open = 0;
}

void hw_utf8(struct hw *w, uint64_t id, const char *text)
{
	hw_begin(w, HPROF_UTF8, 0);
	hw_id(w, id);
	hw_bytes(w, text, strlen(text));
	hw_end(w);
}

void hw_load_class(struct hw *w, uint32_t serial, uint64_t class_id, uint32_t trace_serial,
		   uint64_t name_id)
{
	hw_begin(w, HPROF_LOAD_CLASS, 0);
	hw_u4(w, serial);
	hw_id(w, class_id);
	hw_u4(w, trace_serial);
	hw_id(w, name_id);
	hw_end(w);
}

static void serial_record(struct hw *w, unsigned tag, uint32_t serial)
{
	hw_begin(w, tag, 0);
	hw_u4(w, serial);
	hw_end(w);
}

void hw_unload_class(struct hw *w, uint32_t serial)
{
	serial_record(w, HPROF_UNLOAD_CLASS, serial);
}

void hw_end_thread(struct hw *w, uint32_t serial)
{
	serial_record(w, HPROF_END_THREAD, serial);
}

void hw_frame(struct hw *w, const struct hprof_frame *frame)
{
	hw_begin(w, HPROF_FRAME, 0);
	hw_id(w, frame->frame_id);
	hw_id(w, frame->method_string_id);
	hw_id(w, frame->signature_string_id);
	hw_id(w, frame->source_string_id);
	hw_u4(w, frame->class_serial);
	hw_u4(w, (uint32_t)frame->line);
	hw_end(w);
}

void hw_trace(struct hw *w, uint32_t serial, uint32_t thread_serial, const uint64_t *frames,
	      uint32_t count)
{
	hw_begin(w, HPROF_TRACE, 0);
	hw_u4(w, serial);
	hw_u4(w, thread_serial);
	hw_u4(w, count);
	for (uint32_t i = 0; i < count; i++)
		hw_id(w, frames[i]);
	hw_end(w);
}

void hw_alloc_sites(struct hw *w, const struct hprof_alloc_sites *head,
		    const struct hprof_alloc_site *sites)
{
	hw_begin(w, HPROF_ALLOC_SITES, 0);
	hw_u2(w, head->flags);
	hw_u4(w, head->cutoff_ratio_bits);
	hw_u4(w, head->live_bytes);
	hw_u4(w, head->live_instances);
	hw_u8(w, head->allocated_bytes);
	hw_u8(w, head->allocated_instances);
	hw_u4(w, head->site_count);
	for (uint32_t i = 0; i < head->site_count; i++) {
		hw_u1(w, sites[i].array_type);
		hw_u4(w, sites[i].class_serial);
		hw_u4(w, sites[i].trace_serial);
		hw_u4(w, sites[i].live_bytes);
		hw_u4(w, sites[i].live_instances);
		hw_u4(w, sites[i].allocated_bytes);
		hw_u4(w, sites[i].allocated_instances);
	}
	hw_end(w);
}

void hw_heap_summary(struct hw *w, const struct hprof_heap_summary *summary)
{
	hw_begin(w, HPROF_HEAP_SUMMARY, 0);
	hw_u4(w, summary->live_bytes);
	hw_u4(w, summary->live_instances);
	hw_u8(w, summary->allocated_bytes);
	hw_u8(w, summary->allocated_instances);
	hw_end(w);
}

void hw_start_thread(struct hw *w, const struct hprof_start_thread *thread)
{
	hw_begin(w, HPROF_START_THREAD, 0);
	hw_u4(w, thread->thread_serial);
	hw_id(w, thread->thread_id);
	hw_u4(w, thread->trace_serial);
	hw_id(w, thread->name_string_id);
	hw_id(w, thread->group_name_string_id);
	hw_id(w, thread->parent_group_name_string_id);
	hw_end(w);
}

void hw_cpu_samples(struct hw *w, uint32_t total, const uint32_t *pairs, uint32_t count)
{
	hw_begin(w, HPROF_CPU_SAMPLES, 0);
	hw_u4(w, total);
	hw_u4(w, count);
	for (uint32_t i = 0; i < 2 * count; i++)
		hw_u4(w, pairs[i]);
	hw_end(w);
}

void hw_control_settings(struct hw *w, uint32_t flags, unsigned depth)
{
	hw_begin(w, HPROF_CONTROL_SETTINGS, 0);
	hw_u4(w, flags);
	hw_u2(w, depth);
	hw_end(w);
}

void hw_heap_dump_end(struct hw *w)
{
	hw_begin(w, HPROF_HEAP_DUMP_END, 0);
	hw_end(w);
}

void hw_root(struct hw *w, unsigned tag, uint64_t id, uint64_t a, uint32_t b)
{
	hw_u1(w, tag);
	hw_id(w, id);
	switch (tag) {
	case HPROF_ROOT_JNI_GLOBAL:
		hw_id(w, a);
		break;
	case HPROF_ROOT_JNI_LOCAL:
	case HPROF_ROOT_JAVA_FRAME:
	case HPROF_ROOT_JNI_MONITOR:
	case HPROF_ROOT_THREAD_OBJECT:
		hw_u4(w, (uint32_t)a);
		hw_u4(w, b);
		break;
	case HPROF_ROOT_NATIVE_STACK:
	case HPROF_ROOT_THREAD_BLOCK:
		hw_u4(w, (uint32_t)a);
		break;
	default:
		break;
	}
}

void hw_heap_info(struct hw *w, uint32_t heap_id, uint64_t name_id)
{
	hw_u1(w, HPROF_HEAP_DUMP_INFO);
	hw_u4(w, heap_id);
	hw_id(w, name_id);
}

void hw_class(struct hw *w, const struct hw_class *c)
{
	hw_u1(w, HPROF_CLASS_DUMP);
	hw_id(w, c->id);
	hw_u4(w, c->trace_serial);
	hw_id(w, c->super_id);
	hw_id(w, c->loader_id);
	hw_id(w, c->signers_id);
	hw_id(w, c->domain_id);
	hw_id(w, 0);
	hw_id(w, 0);
	hw_u4(w, c->instance_size);
	hw_u2(w, c->constant_count);
	for (unsigned i = 0; i < c->constant_count; i++) {
		hw_u2(w, c->constants[i].index);
		hw_u1(w, c->constants[i].type);
		hw_value(w, c->constants[i].type, c->constants[i].value);
	}
	hw_u2(w, c->static_count);
	for (unsigned i = 0; i < c->static_count; i++) {
		hw_id(w, c->statics[i].name_id);
		hw_u1(w, c->statics[i].type);
		hw_value(w, c->statics[i].type, c->statics[i].value);
	}
	hw_u2(w, c->field_count);
	for (unsigned i = 0; i < c->field_count; i++) {
		hw_id(w, c->fields[i].name_string_id);
		hw_u1(w, c->fields[i].type);
	}
}

void hw_instance(struct hw *w, uint64_t id, uint64_t class_id, const void *values, uint32_t size)
{
	hw_u1(w, HPROF_INSTANCE_DUMP);
	hw_id(w, id);
	hw_u4(w, TRACE_SERIAL);
	hw_id(w, class_id);
	hw_u4(w, size);
	if (values)
		hw_bytes(w, values, size);
	else
		hw_zeros(w, size);
}

void hw_object_array(struct hw *w, uint64_t id, uint64_t class_id, const uint64_t *elements,
		     uint32_t count)
{
	hw_u1(w, HPROF_OBJECT_ARRAY_DUMP);
	hw_id(w, id);
	hw_u4(w, TRACE_SERIAL);
	hw_u4(w, count);
	hw_id(w, class_id);
	for (uint32_t i = 0; i < count; i++)
		hw_id(w, elements ? elements[i] : 0);
}

static void primitive_head(struct hw *w, unsigned tag, uint64_t id, uint8_t type, uint32_t count)
{
	hw_u1(w, tag);
	hw_id(w, id);
	hw_u4(w, TRACE_SERIAL);
	hw_u4(w, count);
	hw_u1(w, type);
}

void hw_primitive_array(struct hw *w, uint64_t id, uint8_t type, const void *elements,
			uint32_t count)
{
	const size_t size = (size_t)count * hprof_type_size(type, w->id_size);

	primitive_head(w, HPROF_PRIMITIVE_ARRAY_DUMP, id, type, count);
	if (elements)
		hw_bytes(w, elements, size);
	else
		hw_zeros(w, size);
}

void hw_primitive_array_nodata(struct hw *w, uint64_t id, uint8_t type, uint32_t count)
{
	primitive_head(w, HPROF_PRIMITIVE_ARRAY_NODATA, id, type, count);
}

/*
 * support/hprof_writer.h - writes HPROF files for tests: any version, id size and record, right
 * or wrong.
 *
 * Everything goes to one growing buffer; nothing is checked, so that tests can write damage, too.
 * Running out of memory aborts. Names begin with hw_.
 */
#ifndef SUPPORT_HPROF_WRITER_H
#define SUPPORT_HPROF_WRITER_H

#include "hprof/reader.h"

#include <stddef.h>

struct hw {
	uint8_t *data; /* the file so far; owned */
	size_t size;   /* bytes */
	size_t capacity;
	size_t open;      /* offset of the open record; 0: no record is open */
	unsigned id_size; /* 4 or 8 */
};

/* Begins a file with a header: version "1.0.N", the ID size and a timestamp in ms. */
void hw_init(struct hw *w, enum hprof_version version, unsigned id_size, uint64_t timestamp_ms);
void hw_release(struct hw *w);

/* Writes the buffer to a file. Returns 0, or -1 with errno set. */
int hw_save(const struct hw *w, const char *path);

/* Raw bytes, big-endian. */
void hw_bytes(struct hw *w, const void *data, size_t size);
void hw_zeros(struct hw *w, size_t size);
void hw_u1(struct hw *w, unsigned v);
void hw_u2(struct hw *w, unsigned v);
void hw_u4(struct hw *w, uint32_t v);
void hw_u8(struct hw *w, uint64_t v);
void hw_id(struct hw *w, uint64_t v);
/* A value of a basic type, in the type's number of bytes. */
void hw_value(struct hw *w, uint8_t type, uint64_t v);
/* Overwrites four bytes at an offset. */
void hw_patch_u4(struct hw *w, size_t offset, uint32_t v);

/*
 * Top-level records of any kind: call hw_begin, write the body, and call hw_end. hw_begin returns
 * the record's offset. hw_end writes the length into the record, and hw_end_length writes a
 * different length.
 */
size_t hw_begin(struct hw *w, unsigned tag, uint32_t time_us);
void hw_end(struct hw *w);
void hw_end_length(struct hw *w, uint32_t length);

/* Complete top-level records. */
void hw_utf8(struct hw *w, uint64_t id, const char *text);
void hw_load_class(struct hw *w, uint32_t serial, uint64_t class_id, uint32_t trace_serial,
		   uint64_t name_id);
void hw_unload_class(struct hw *w, uint32_t serial);
void hw_frame(struct hw *w, const struct hprof_frame *frame);
void hw_trace(struct hw *w, uint32_t serial, uint32_t thread_serial, const uint64_t *frames,
	      uint32_t count);
/* sites_offset is not used; `sites` holds site_count. */
void hw_alloc_sites(struct hw *w, const struct hprof_alloc_sites *head,
		    const struct hprof_alloc_site *sites);
void hw_heap_summary(struct hw *w, const struct hprof_heap_summary *summary);
void hw_start_thread(struct hw *w, const struct hprof_start_thread *thread);
void hw_end_thread(struct hw *w, uint32_t serial);
/* `pairs`: samples and trace serial, `count` times. */
void hw_cpu_samples(struct hw *w, uint32_t total, const uint32_t *pairs, uint32_t count);
void hw_control_settings(struct hw *w, uint32_t flags, unsigned depth);
void hw_heap_dump_end(struct hw *w);

/*
 * Heap sub-records, between hw_begin(HPROF_HEAP_DUMP or _SEGMENT) and hw_end. hw_root writes any
 * root. a and b are the values after the object's ID, if the tag has them: for a JNI global, the
 * reference's ID, otherwise the thread serial and then the frame number, depth or trace serial.
 */
void hw_root(struct hw *w, unsigned tag, uint64_t id, uint64_t a, uint32_t b);
void hw_heap_info(struct hw *w, uint32_t heap_id, uint64_t name_id);

struct hw_static {
	uint64_t name_id;
	uint8_t type;
	uint64_t value;
};
struct hw_constant {
	uint16_t index;
	uint8_t type;
	uint64_t value;
};
struct hw_class {
	uint64_t id, super_id, loader_id, signers_id, domain_id;
	uint32_t trace_serial;
	uint32_t instance_size;
	const struct hw_constant *constants;
	unsigned constant_count;
	const struct hw_static *statics;
	unsigned static_count;
	const struct hprof_field *fields;
	unsigned field_count;
};
void hw_class(struct hw *w, const struct hw_class *c);

/* `values` are the `size` bytes of field values; NULL: zeros. */
void hw_instance(struct hw *w, uint64_t id, uint64_t class_id, const void *values, uint32_t size);
/* If `elements` is NULL, all elements are null. */
void hw_object_array(struct hw *w, uint64_t id, uint64_t class_id, const uint64_t *elements,
		     uint32_t count);
/* `elements` are the bytes in the file; NULL: zeros. */
void hw_primitive_array(struct hw *w, uint64_t id, uint8_t type, const void *elements,
			uint32_t count);
void hw_primitive_array_nodata(struct hw *w, uint64_t id, uint8_t type, uint32_t count);

#endif

/*
 * hprof/quick.h - the fast reader of instances and arrays, which make up nearly all of a dump.
 *
 * The walk and the prescan threads share this inline function, so they get the same results.
 */
#ifndef HPROF_QUICK_H
#define HPROF_QUICK_H

#include "base/bytes.h"
#include "hprof/reader.h"

/*
 * Prefetch distance in bytes: three pages. The hardware prefetcher does not cross page boundaries,
 * and translating the address of the next page takes as long as reading dozens of sub-records.
 */
#define HPROF_PREFETCH_AHEAD 12288

/* Binary logarithm of the size of a primitive type, plus 1. 0 for other types. */
static const uint8_t hprof_primitive_shift[16] = {
	[HPROF_BOOLEAN] = 1, [HPROF_BYTE] = 1, [HPROF_CHAR] = 2,   [HPROF_SHORT] = 2,
	[HPROF_FLOAT] = 3,   [HPROF_INT] = 3,  [HPROF_DOUBLE] = 4, [HPROF_LONG] = 4,
};

/* Size of the longest header, which instances and object arrays have. */
#define HPROF_QUICK_HEAD(id_size) (9 + 2 * (uint64_t)(id_size))

/*
 * Reads the sub-record at range.offset, which must be inside the view's window or at its end.
 * Returns true if it is an instance or array that ends at or before the limit. Returns false, with
 * *sub undefined, for any other sub-record, or if its header is not completely inside the window.
 * class_id is undefined for a primitive array. Callers pass id_size as a constant, so that the
 * compiler specialises the function for each size.
 */
static inline bool hprof_quick_sub(const struct base_view *view, struct hprof_range range,
				   const unsigned id_size, struct hprof_sub *sub)
{
	const uint64_t at = range.offset;
	const uint8_t *p = view->data + (at - view->start);
	uint64_t body, size;
	uint32_t length;
	uint8_t tag, type = 0;

	if (view->end - at < HPROF_QUICK_HEAD(id_size))
		return false;
	tag = *p;
	if (tag == HPROF_INSTANCE_DUMP) {
		length = be32(p + 5 + 2 * id_size);
		body = at + 9 + 2 * id_size;
		size = length;
	} else if (tag == HPROF_OBJECT_ARRAY_DUMP) {
		length = be32(p + 5 + id_size);
		body = at + 9 + 2 * id_size;
		size = (uint64_t)length * id_size;
	} else if (tag == HPROF_PRIMITIVE_ARRAY_DUMP) {
		type = p[9 + id_size];
		if (type > 15 || hprof_primitive_shift[type] == 0)
			return false;
		length = be32(p + 5 + id_size);
		body = at + 10 + id_size;
		size = ((uint64_t)length << hprof_primitive_shift[type]) >> 1;
	} else {
		return false;
	}
	/*
	 * These sums cannot overflow: sizes are below 2^35, and no file is larger than 2^63 bytes.
	 */
	if (body + size > range.limit)
		return false;
	sub->offset = at;
	sub->tag = tag;
	sub->element_type = type;
	sub->id = be_id(p + 1, id_size);
	sub->trace_serial = be32(p + 1 + id_size);
	sub->class_id = be_id(p + (tag == HPROF_INSTANCE_DUMP ? 5 : 9) + id_size, id_size);
	sub->length = length;
	sub->body_offset = body;
	sub->body_size = size;
	sub->end = body + size;
	/*
	 * Prefetching the next sub-records halves the time for dumps that exceed the caches. The
	 * address may be outside the mapping; a prefetch does not fault.
	 */
	prefetch_read((const void *)((uintptr_t)p + (sub->end - at) + HPROF_PREFETCH_AHEAD));
	return true;
}

#endif

/* queries/waste/array_facts.c - examines what an array contains. */
#include "queries/waste/array_facts.h"

#include "base/bytes.h"

#include <assert.h>
#include <string.h>

/* Bytes examined at a time; a multiple of all element sizes. */
#define CHUNK_BYTES (1u << 20)

/* Sets *out to whether all elements are equal: the array equals itself shifted by one element. */
static int is_uniform(struct base_view *view, const struct hprof_sub *sub, unsigned width,
		      bool *out, struct hdb_error *err)
{
	assert(width == 1 || width == 2 || width == 4 || width == 8);
	*out = true;
	for (uint64_t at = 0; *out && sub->body_size - at > width; at += CHUNK_BYTES) {
		uint64_t n = sub->body_size - at;
		const uint8_t *p;

		/*
		 * One element more than a chunk, so that chunks are compared with each other too.
		 */
		if (n > CHUNK_BYTES + width)
			n = CHUNK_BYTES + width;
		p = base_view_at(view, sub->body_offset + at, n, err);
		if (!p)
			return HDB_ETRUNC;
		*out = memcmp(p, p + width, n - width) == 0;
		if (sub->body_size - at <= CHUNK_BYTES)
			break;
	}
	return HDB_OK;
}

int analysis_array_facts(struct heap *heap, struct base_view *view, uint64_t offset,
			 struct analysis_array_facts *out, struct hdb_error *err)
{
	uint64_t end = 0;
	struct hprof_sub sub;
	const uint8_t *p;
	bool uniform;
	unsigned width;

	*out = (struct analysis_array_facts){ 0 };
	TRY(offset ? hprof_sub_read(&heap->dump.file, view, offset, &sub, err) : HDB_NOTFOUND);
	if (sub.tag == HPROF_OBJECT_ARRAY_DUMP)
		out->type = HPROF_OBJECT;
	else if (sub.tag == HPROF_PRIMITIVE_ARRAY_DUMP || sub.tag == HPROF_PRIMITIVE_ARRAY_NODATA)
		out->type = sub.element_type;
	width = hprof_type_size(out->type, heap->id_size);
	if (!width || (sub.tag == HPROF_PRIMITIVE_ARRAY_NODATA && sub.length))
		return HDB_NOTFOUND;
	if (!sub.length || sub.body_size < width)
		return HDB_OK;
	TRY(is_uniform(view, &sub, width, &uniform, err));
	TRY(hprof_content_end(view, &sub, 0, &end, err));
	p = base_view_at(view, sub.body_offset, width, err);
	if (!p)
		return HDB_ETRUNC;
	out->value = be_bits(p, width);
	out->tail_count = (sub.body_size - end) / width;
	out->is_zero = uniform && out->value == 0;
	out->is_constant = uniform && out->type != HPROF_OBJECT && sub.length >= 2;
	return HDB_OK;
}

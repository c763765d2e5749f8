/* hprof/dump_writer.c - implements dump_writer.h. */
#include "hprof/dump_writer.h"

#include "base/bytes.h"
#include "base/try.h"
#include "hprof/reader.h"

/* Approximate segment size. Sub-records are collected up to this size, then written. */
#define SEGMENT_BYTES (1u << 20)

static const uint8_t zeros[4096];

void hprof_put(struct hprof_writer *w, const void *data, size_t size)
{
	if (w->result == HDB_OK)
		w->result = base_bytes_append(&w->segment, data, size, w->err);
}

void hprof_put_u1(struct hprof_writer *w, uint8_t value)
{
	hprof_put(w, &value, sizeof(value));
}

void hprof_put_u2(struct hprof_writer *w, size_t value)
{
	if (value > UINT16_MAX && w->result == HDB_OK)
		w->result = hdb_fail(w->err, HDB_ELIMIT, "too many fields in a class (limit %u)",
				     UINT16_MAX);
	hprof_put_u1(w, (uint8_t)(value >> 8));
	hprof_put_u1(w, (uint8_t)value);
}

void hprof_put_u4(struct hprof_writer *w, uint32_t value)
{
	uint8_t bytes[4];

	put_be32(bytes, value);
	hprof_put(w, bytes, sizeof(bytes));
}

void hprof_put_u8(struct hprof_writer *w, uint64_t value)
{
	hprof_put_u4(w, (uint32_t)(value >> 32));
	hprof_put_u4(w, (uint32_t)value);
}

void hprof_put_id(struct hprof_writer *w, uint64_t id)
{
	if (w->id_size == 8)
		hprof_put_u8(w, id);
	else
		hprof_put_u4(w, (uint32_t)id);
}

void hprof_put_bare_array(struct hprof_writer *w, uint64_t id, uint64_t count, uint8_t type)
{
	hprof_put_u1(w, HPROF_PRIMITIVE_ARRAY_NODATA);
	hprof_put_id(w, id);
	hprof_put_u4(w, 0);
	hprof_put_u4(w, count > INT32_MAX ? INT32_MAX : (uint32_t)count);
	hprof_put_u1(w, type);
}

void hprof_patch_u2(struct hprof_writer *w, size_t at, size_t value)
{
	const size_t end = w->segment.count;

	if (w->result != HDB_OK)
		return;
	w->segment.count = at;
	hprof_put_u2(w, value);
	w->segment.count = end;
}

int hprof_too_large(struct hdb_error *err)
{
	return hdb_fail(
		err, HDB_ELIMIT,
		"the new dump would be many times larger than the input, so the input is probably "
		"not a real dump");
}

static int write_out(struct hprof_writer *w, const void *data, size_t size)
{
	w->written += size;
	if (w->written > w->most)
		return hprof_too_large(w->err);
	return w->sink->put(w->sink->ctx, data, size, w->err);
}

int hprof_write_head(struct hprof_writer *w, const char *version, uint64_t ms)
{
	hprof_put(w, version, strlen(version) + 1);
	hprof_put_u4(w, w->id_size);
	hprof_put_u8(w, ms);
	TRY(w->result);
	TRY(write_out(w, w->segment.data, w->segment.count));
	w->segment.count = 0;
	return HDB_OK;
}

/* Writes a record whose body is the bytes put so far, followed by zeros. */
static int write_record(struct hprof_writer *w, uint8_t tag, uint64_t zero_bytes)
{
	uint8_t head[9] = { tag };

	TRY(w->result);
	put_be32(head + 5, (uint32_t)(w->segment.count + zero_bytes));
	TRY(write_out(w, head, sizeof(head)));
	if (w->segment.count)
		TRY(write_out(w, w->segment.data, w->segment.count));
	w->segment.count = 0;
	while (zero_bytes) {
		const size_t size = zero_bytes < sizeof(zeros) ? (size_t)zero_bytes : sizeof(zeros);

		TRY(write_out(w, zeros, size));
		zero_bytes -= size;
	}
	return HDB_OK;
}

int hprof_end_record(struct hprof_writer *w, uint8_t tag)
{
	return write_record(w, tag, 0);
}

int hprof_end_sub(struct hprof_writer *w)
{
	return hprof_end_sub_nulls(w, 0);
}

int hprof_end_sub_nulls(struct hprof_writer *w, uint64_t count)
{
	uint64_t bytes = count * w->id_size;

	TRY(w->result);
	if (count > UINT32_MAX || w->segment.count + bytes > UINT32_MAX ||
	    w->written + w->segment.count + bytes > w->most)
		return hprof_too_large(w->err);
	while (bytes && bytes < SEGMENT_BYTES) {
		const size_t size = bytes < sizeof(zeros) ? (size_t)bytes : sizeof(zeros);

		hprof_put(w, zeros, size);
		bytes -= size;
	}
	TRY(w->result);
	return w->segment.count + bytes < SEGMENT_BYTES ?
		       HDB_OK :
		       write_record(w, HPROF_HEAP_DUMP_SEGMENT, bytes);
}

int hprof_write_text(struct hprof_writer *w, uint64_t text_id, const void *text, size_t size)
{
	hprof_put_id(w, text_id);
	if (size)
		hprof_put(w, text, size);
	return hprof_end_record(w, HPROF_UTF8);
}

void hprof_writer_release(struct hprof_writer *w)
{
	base_vec_release(&w->segment);
}

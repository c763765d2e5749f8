/*
 * hprof/sub.c - parses heap sub-records: roots, class dumps, instances and arrays. See reader.h and
 * parse.h.
 *
 * Only a class dump must be parsed completely to find its end. The header of any other sub-record
 * determines its size.
 */
#include "base/bytes.h"
#include "hprof/parse.h"

#include <assert.h>

/* Number of bytes of a body to examine at a time. */
#define CONTENT_CHUNK (1u << 20)

/*
 * Returns the number of bytes after the object ID in a root's body, or -1 if the tag does not
 * belong to a root.
 */
static int root_tail(uint8_t tag, unsigned id_size)
{
	switch (tag) {
	case HPROF_ROOT_UNKNOWN:
	case HPROF_ROOT_STICKY_CLASS:
	case HPROF_ROOT_MONITOR_USED:
	case HPROF_ROOT_INTERNED_STRING:
	case HPROF_ROOT_FINALIZING:
	case HPROF_ROOT_DEBUGGER:
	case HPROF_ROOT_REFERENCE_CLEANUP:
	case HPROF_ROOT_VM_INTERNAL:
	case HPROF_ROOT_UNREACHABLE:
		return 0;
	case HPROF_ROOT_JNI_GLOBAL:
		return (int)id_size;
	case HPROF_ROOT_JNI_LOCAL:
	case HPROF_ROOT_JAVA_FRAME:
	case HPROF_ROOT_JNI_MONITOR:
	case HPROF_ROOT_THREAD_OBJECT:
		return 8;
	case HPROF_ROOT_NATIVE_STACK:
	case HPROF_ROOT_THREAD_BLOCK:
		return 4;
	default:
		return -1;
	}
}

static void parse_root(const uint8_t *p, unsigned id_size, struct hprof_sub *out)
{
	const uint8_t *tail = p + id_size;

	out->id = be_id(p, id_size);
	switch (out->tag) {
	case HPROF_ROOT_JNI_GLOBAL:
		out->class_id = be_id(tail, id_size);
		break;
	case HPROF_ROOT_JNI_LOCAL:
	case HPROF_ROOT_JAVA_FRAME:
	case HPROF_ROOT_JNI_MONITOR:
		out->thread_serial = be32(tail);
		out->frame_number = be32(tail + 4);
		break;
	case HPROF_ROOT_THREAD_OBJECT:
		out->thread_serial = be32(tail);
		out->trace_serial = be32(tail + 4);
		break;
	case HPROF_ROOT_NATIVE_STACK:
	case HPROF_ROOT_THREAD_BLOCK:
		out->thread_serial = be32(tail);
		break;
	default:
		break;
	}
}

/* A position in a class dump, and the offset beyond which the dump must not extend. */
struct cursor {
	struct base_view *view;
	uint64_t offset;
	uint64_t limit;
	unsigned id_size;
};

/* Takes `size` bytes. Returns HPROF_PARSE_OVERRUN if they extend beyond the limit. */
static int take(struct cursor *cur, uint64_t size, const uint8_t **p, struct hdb_error *err)
{
	if (size > cur->limit - cur->offset)
		return HPROF_PARSE_OVERRUN;
	*p = base_view_at(cur->view, cur->offset, size, err);
	if (!*p)
		return hprof_view_failed(err);
	cur->offset += size;
	return HDB_OK;
}

/*
 * Reads a count into *count, and skips that many entries. Each has a header of `head` bytes that
 * ends with a basic type.
 */
static int skip_entries(struct cursor *cur, unsigned head, bool has_value, uint32_t *count,
			struct hdb_error *err)
{
	const uint8_t *p;

	TRY(take(cur, 2, &p, err));
	*count = be16(p);
	for (uint32_t i = 0; i < *count; i++) {
		unsigned size;

		TRY(take(cur, head, &p, err));
		size = hprof_type_size(p[head - 1], cur->id_size);
		if (size == 0)
			return HPROF_PARSE_BAD_TYPE;
		if (has_value && size > cur->limit - cur->offset)
			return HPROF_PARSE_OVERRUN;
		if (has_value)
			cur->offset += size;
	}
	return HDB_OK;
}

/*
 * Finds the parts of a class dump. Advances `cur` from the end of the instance size to the end of
 * the dump.
 */
static int class_parts(struct cursor *cur, struct hprof_class *out, struct hdb_error *err)
{
	const unsigned id_size = cur->id_size;

	out->constants_offset = cur->offset + 2;
	TRY(skip_entries(cur, 3, true, &out->constant_count, err));
	out->statics_offset = cur->offset + 2;
	TRY(skip_entries(cur, id_size + 1, true, &out->static_count, err));
	out->fields_offset = cur->offset + 2;
	return skip_entries(cur, id_size + 1, false, &out->field_count, err);
}

/* Parses a class dump with its head at p and `cur` after the head. */
static int parse_class(const uint8_t *p, struct cursor *cur, struct hprof_sub *out,
		       struct hdb_error *err)
{
	const unsigned id_size = cur->id_size;
	struct hprof_class parts;
	int rc;

	out->id = be_id(p, id_size);
	out->trace_serial = be32(p + id_size);
	out->class_id = be_id(p + id_size + 4, id_size);
	out->length = be32(p + 4 + 7 * id_size);
	out->body_offset = cur->offset;
	rc = class_parts(cur, &parts, err);
	out->end = cur->offset;
	out->body_size = cur->offset - out->body_offset;
	return rc;
}

/*
 * Returns the size of a sub-record's head after the tag, which determines the size of the whole, or
 * 0 for an unknown tag.
 */
static unsigned head_size(uint8_t tag, unsigned id_size)
{
	const int tail = root_tail(tag, id_size);

	if (tail >= 0)
		return id_size + (unsigned)tail;
	switch (tag) {
	case HPROF_CLASS_DUMP:
		return 8 + 7 * id_size;
	case HPROF_INSTANCE_DUMP:
	case HPROF_OBJECT_ARRAY_DUMP:
		return 8 + 2 * id_size;
	case HPROF_PRIMITIVE_ARRAY_DUMP:
	case HPROF_PRIMITIVE_ARRAY_NODATA:
		return 9 + id_size;
	case HPROF_HEAP_DUMP_INFO:
		return 4 + id_size;
	default:
		return 0;
	}
}

/* Parses the head of an instance or array at p, and finds the size of its body. */
static int parse_object(const struct hprof_file *file, const uint8_t *p, struct hprof_sub *out)
{
	const unsigned id_size = file->id_size;

	out->id = be_id(p, id_size);
	out->trace_serial = be32(p + id_size);
	switch (out->tag) {
	case HPROF_INSTANCE_DUMP:
		out->class_id = be_id(p + id_size + 4, id_size);
		out->length = be32(p + 2 * id_size + 4);
		out->body_size = out->length;
		return HDB_OK;
	case HPROF_OBJECT_ARRAY_DUMP:
		out->length = be32(p + id_size + 4);
		out->class_id = be_id(p + id_size + 8, id_size);
		out->body_size = (uint64_t)out->length * id_size;
		return HDB_OK;
	default:
		if (file->is_emptied)
			out->tag = HPROF_PRIMITIVE_ARRAY_NODATA;
		out->length = be32(p + id_size + 4);
		out->element_type = p[id_size + 8];
		out->body_size = 0;
		if (out->element_type == HPROF_OBJECT ||
		    hprof_type_size(out->element_type, id_size) == 0)
			return HPROF_PARSE_BAD_TYPE;
		if (out->tag == HPROF_PRIMITIVE_ARRAY_DUMP)
			out->body_size =
				(uint64_t)out->length * hprof_type_size(out->element_type, id_size);
		return HDB_OK;
	}
}

int hprof_sub_parse(const struct hprof_file *file, struct base_view *view, struct hprof_range range,
		    struct hprof_sub *out, struct hdb_error *err)
{
	const uint64_t offset = range.offset, limit = range.limit;
	const unsigned id_size = file->id_size;
	const uint8_t *p;
	unsigned head;

	assert(file->id_size == 4 || file->id_size == 8);
	out->offset = offset;
	out->end = offset + 1;
	out->tag = 0;
	if (offset >= limit)
		return HPROF_PARSE_OVERRUN;
	p = base_view_at(view, offset, 1, err);
	if (!p)
		return hprof_view_failed(err);
	out->tag = p[0];
	head = head_size(out->tag, id_size);
	if (head == 0)
		return HPROF_PARSE_BAD_TAG;
	out->end = offset + 1 + head;
	if (head > limit - offset - 1)
		return HPROF_PARSE_OVERRUN;
	p = base_view_at(view, offset + 1, head, err);
	if (!p)
		return hprof_view_failed(err);
	if (hprof_sub_is_root(out->tag)) {
		parse_root(p, id_size, out);
		return HDB_OK;
	}
	if (out->tag == HPROF_CLASS_DUMP)
		return parse_class(p, &(struct cursor){ view, out->end, limit, id_size }, out, err);
	if (out->tag == HPROF_HEAP_DUMP_INFO) {
		out->id = be32(p);
		out->class_id = be_id(p + 4, id_size);
		return HDB_OK;
	}
	TRY(parse_object(file, p, out));
	out->body_offset = out->end;
	out->end += out->body_size;
	return out->body_size > limit - out->body_offset ? HPROF_PARSE_OVERRUN : HDB_OK;
}

int hprof_sub_read(const struct hprof_file *file, struct base_view *view, uint64_t offset,
		   struct hprof_sub *out, struct hdb_error *err)
{
	const struct hprof_range range = { offset, file->source->size };

	return hprof_sub_read_in(file, view, range, out, err);
}

int hprof_sub_read_in(const struct hprof_file *file, struct base_view *view,
		      struct hprof_range range, struct hprof_sub *out, struct hdb_error *err)
{
	const uint64_t offset = range.offset;
	const uint64_t end = range.limit < file->source->size ? range.limit : file->source->size;
	int rc;

	*out = (struct hprof_sub){ .offset = offset };
	rc = hprof_sub_parse(file, view, (struct hprof_range){ offset, end }, out, err);
	switch (rc) {
	case HPROF_PARSE_BAD_TAG:
		return hdb_fail(err, HDB_EFORMAT,
				"unknown heap sub-record 0x%02x at offset %" PRIu64, out->tag,
				offset);
	case HPROF_PARSE_BAD_TYPE:
		return hdb_fail(err, HDB_EFORMAT, "%s at offset %" PRIu64 ": unknown basic type",
				hprof_sub_name(out->tag), offset);
	case HPROF_PARSE_OVERRUN:
		if (offset >= end)
			return hdb_fail(err, HDB_ETRUNC,
					"no room for a heap sub-record at offset %" PRIu64 ": "
					"the segment ends at offset %" PRIu64,
					offset, end);
		return hdb_fail(err, HDB_ETRUNC,
				"%s at offset %" PRIu64 " extends past offset %" PRIu64 " (it "
				"ends at offset %" PRIu64 " or later)",
				hprof_sub_name(out->tag), offset, end, out->end);
	default:
		return rc;
	}
}

int hprof_class_read(const struct hprof_file *file, struct base_view *view,
		     const struct hprof_sub *sub, struct hprof_class *out, struct hdb_error *err)
{
	const unsigned id = file->id_size;
	struct cursor cur = {
		.view = view, .offset = sub->offset + 1, .limit = sub->end, .id_size = id
	};
	const uint8_t *p;
	int rc;

	if (sub->tag != HPROF_CLASS_DUMP || sub->end < sub->offset + 9 + 7 * (uint64_t)id)
		return hdb_fail(err, HDB_EFORMAT, "no CLASS DUMP at offset %" PRIu64, sub->offset);
	TRY(take(&cur, 8 + 7 * (uint64_t)id, &p, err));
	out->class_id = be_id(p, id);
	out->trace_serial = be32(p + id);
	out->super_id = be_id(p + id + 4, id);
	out->loader_id = be_id(p + 2 * id + 4, id);
	out->signers_id = be_id(p + 3 * id + 4, id);
	out->protection_domain_id = be_id(p + 4 * id + 4, id);
	out->instance_size = be32(p + 7 * id + 4);
	rc = class_parts(&cur, out, err);
	if (rc > 0)
		return hdb_fail(err, HDB_EFORMAT, "CLASS DUMP at offset %" PRIu64 " is damaged",
				sub->offset);
	return rc;
}

/* Takes bytes of a class dump that has already been checked completely. */
static int entry_take(struct base_view *view, uint64_t *offset, uint64_t size, const uint8_t **p,
		      struct hdb_error *err)
{
	*p = base_view_at(view, *offset, size, err);
	if (!*p)
		return hprof_view_failed(err);
	*offset += size;
	return HDB_OK;
}

int hprof_static_next(const struct hprof_file *file, struct base_view *view, uint64_t *offset,
		      struct hprof_static *out, struct hdb_error *err)
{
	const unsigned id = file->id_size;
	const uint64_t start = *offset;
	const uint8_t *p;
	int rc = entry_take(view, offset, (uint64_t)id + 1, &p, err);
	unsigned size;

	TRY(rc);
	out->name_string_id = be_id(p, id);
	out->type = p[id];
	size = hprof_type_size(out->type, id);
	if (size == 0)
		return hdb_fail(err, HDB_EFORMAT,
				"static field at offset %" PRIu64 ": unknown basic type %u", start,
				out->type);
	TRY(entry_take(view, offset, size, &p, err));
	out->value = size == 1 ? p[0] : size == 2 ? be16(p) : size == 4 ? be32(p) : be64(p);
	return HDB_OK;
}

int hprof_field_next(const struct hprof_file *file, struct base_view *view, uint64_t *offset,
		     struct hprof_field *out, struct hdb_error *err)
{
	const unsigned id = file->id_size;
	const uint64_t start = *offset;
	const uint8_t *p;

	TRY(entry_take(view, offset, (uint64_t)id + 1, &p, err));
	out->name_string_id = be_id(p, id);
	out->type = p[id];
	if (hprof_type_size(out->type, id) == 0)
		return hdb_fail(err, HDB_EFORMAT,
				"field at offset %" PRIu64 ": unknown basic type %u", start,
				out->type);
	return HDB_OK;
}

int hprof_content_end(struct base_view *view, const struct hprof_sub *sub, uint64_t least,
		      uint64_t *out, struct hdb_error *err)
{
	uint64_t end = sub->body_size;

	while (end > least) {
		const uint64_t n = end - least < CONTENT_CHUNK ? end - least : CONTENT_CHUNK;
		const uint8_t *p = base_view_at(view, sub->body_offset + end - n, n, err);
		uint64_t i = n;

		if (!p)
			return HDB_ETRUNC;
		while (i >= 8 && load64(p + i - 8) == 0)
			i -= 8;
		while (i && !p[i - 1])
			i--;
		end -= n - i;
		if (i)
			break;
	}
	*out = end;
	return HDB_OK;
}

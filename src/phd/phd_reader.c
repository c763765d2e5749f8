/*
 * phd/phd_reader.c - decodes the records of a portable heap dump. Numbers are big-endian. The
 * address of an object is stored as the difference from that of the previous object, and a
 * reference as the difference from its object, both in words: 4 bytes, or 8 in version 4 of VMs
 * other than J9.
 */
#include "phd/phd_private.h"

#include <assert.h>
#include <stdio.h>

enum { FLAG_64_BIT = 1, FLAG_HASHED = 2, FLAG_J9 = 4 };
enum { HEAD_BEGIN = 1, HEAD_TOTALS = 1, HEAD_END = 2, HEAD_RANDOMS = 3, HEAD_VERSION = 4 };
enum { BODY_BEGIN = 2 };
enum {
	TAG_END = 3,
	TAG_LONG_OBJECT = 4,
	TAG_OLD_OBJECT_ARRAY = 5,
	TAG_CLASS = 6,
	TAG_LONG_PRIMITIVE_ARRAY = 7,
	TAG_OBJECT_ARRAY = 8
};
/* Flags in long records and class records: a 4-byte hash code follows. */
enum { LONG_HASHED = 2, CLASS_HASHED = 8 };

static const uint8_t elements[] = { HPROF_BOOLEAN, HPROF_CHAR,  HPROF_FLOAT, HPROF_DOUBLE,
				    HPROF_BYTE,    HPROF_SHORT, HPROF_INT,   HPROF_LONG };

/* ---- bytes; r->result keeps the first failure ---- */

static bool refill(struct phd_reader *r)
{
	struct base_view *view = &r->view;
	const uint64_t offset = view->end;

	if (r->result == HDB_OK)
		r->result = offset == view->src->size ? HDB_END :
							base_view_fill(view, offset, 1, r->err);
	if (r->result == HDB_OK) {
		r->at = view->data + (offset - view->start);
		r->end = view->data + (view->end - view->start);
		assert(r->at < r->end);
	}
	return r->result == HDB_OK;
}

/* Reads a number of up to 8 bytes. Returns 0 after a failure. */
static uint64_t take(struct phd_reader *r, unsigned size)
{
	uint64_t value = 0;

	assert(size <= sizeof(value));
	for (unsigned i = 0; i < size; i++) {
		if (r->at == r->end && !refill(r))
			return 0;
		value = value << 8 | *r->at++;
	}
	return value;
}

static void take_text(struct phd_reader *r, struct base_vec *out)
{
	out->count = 0;
	for (uint64_t left = take(r, 2); left && (r->at < r->end || refill(r));) {
		const size_t there = (size_t)(r->end - r->at);
		const size_t size = left < there ? (size_t)left : there;
		const int pushed = base_bytes_append(out, r->at, size, r->err);

		if (pushed != HDB_OK)
			r->result = pushed;
		r->at += size;
		left -= size;
	}
}

/* Reads a signed difference of `size` bytes and adds it to `from`. */
static uint64_t take_address(struct phd_reader *r, uint64_t from, unsigned size)
{
	const unsigned shift = r->version == 5 || r->is_j9 ? 2 : 3;
	const unsigned unused = 64 - 8 * size;
	uint64_t number, sign, address;

	assert(size > 0 && size <= 8);
	assert(r->word_bytes == 4 || r->word_bytes == 8);
	number = take(r, size) << unused;
	sign = number >> 63 && unused ? UINT64_MAX << (64 - unused) : 0;
	address = from + ((number >> unused | sign) << shift);
	return r->word_bytes == 8 ? address : address & UINT32_MAX;
}

/* ---- records ---- */

/*
 * Skips the hash code: 2 bytes if all records have a hash code, otherwise 4 bytes if is_there is
 * set.
 */
static void skip_hash(struct phd_reader *r, bool is_there)
{
	if (r->is_j9 && r->is_hashed)
		(void)take(r, 2);
	else if (is_there)
		(void)take(r, 4);
}

static void take_refs(struct phd_reader *r, struct phd_record *out, uint64_t count, unsigned size)
{
	out->refs.count = 0;
	for (uint64_t i = 0; i < count && r->result == HDB_OK; i++) {
		const uint64_t ref = take_address(r, out->id, size);
		int pushed = HDB_OK;

		/* J9 also lists the class of an object as its first reference. */
		if (r->is_j9 && i == 0 && ref == out->class_id && out->kind != PHD_CLASS)
			continue;
		if (r->result == HDB_OK)
			pushed = base_vec_push(&out->refs, &ref, sizeof(ref), r->err);
		if (pushed != HDB_OK)
			r->result = pushed;
	}
}

static void remember_class(struct phd_reader *r, uint64_t class_id)
{
	assert(r->next_class < BASE_COUNT(r->classes));
	r->classes[r->next_class] = class_id;
	r->next_class = (r->next_class + 1) % 4;
}

/* Reads an object with at most 7 references, whose number and size are in the tag. */
static void take_object(struct phd_reader *r, unsigned tag, struct phd_record *out)
{
	const bool is_short = tag & 0x80;

	out->kind = PHD_OBJECT;
	out->id = take_address(r, r->last_id, tag & 4 ? 2 : 1);
	out->class_id = is_short ? r->classes[tag >> 5 & 3] : take(r, r->word_bytes);
	if (!is_short)
		remember_class(r, out->class_id);
	skip_hash(r, false);
	take_refs(r, out, tag >> 3 & (is_short ? 3 : 7), 1u << (tag & 3));
}

static void take_long_object(struct phd_reader *r, unsigned tag, struct phd_record *out)
{
	const unsigned flags = (unsigned)take(r, 1);

	out->kind = tag == TAG_LONG_OBJECT ? PHD_OBJECT : PHD_OBJECT_ARRAY;
	out->id = take_address(r, r->last_id, 1u << (flags >> 6));
	out->class_id = take(r, r->word_bytes);
	if (tag == TAG_LONG_OBJECT)
		remember_class(r, out->class_id);
	skip_hash(r, flags & LONG_HASHED);
	out->length = take(r, 4);
	take_refs(r, out, out->length, 1u << (flags >> 4 & 3));
	if (tag == TAG_OBJECT_ARRAY)
		out->length = take(r, 4);
	if (tag != TAG_LONG_OBJECT && r->version >= 6)
		out->bytes = take(r, 4) * 4;
}

static void take_primitive_array(struct phd_reader *r, unsigned tag, struct phd_record *out)
{
	const bool is_long = tag == TAG_LONG_PRIMITIVE_ARRAY;
	const unsigned flags = is_long ? (unsigned)take(r, 1) : 0;
	const unsigned size = !is_long ? 1u << (tag & 3) : flags & 0x10 ? r->word_bytes : 1;

	out->kind = PHD_PRIMITIVE_ARRAY;
	out->element = elements[(is_long ? flags >> 5 : tag >> 2) & 7];
	out->id = take_address(r, r->last_id, size);
	out->length = take(r, size);
	skip_hash(r, flags & LONG_HASHED);
	if (r->version >= 6)
		out->bytes = take(r, 4) * 4;
}

static void take_class(struct phd_reader *r, struct phd_record *out)
{
	const unsigned flags = (unsigned)take(r, 1);

	out->kind = PHD_CLASS;
	out->id = take_address(r, r->last_id, 1u << (flags >> 6));
	out->length = take(r, 4);
	skip_hash(r, flags & CLASS_HASHED);
	out->class_id = take(r, r->word_bytes);
	take_text(r, &out->name);
	take_refs(r, out, take(r, 4), 1u << (flags >> 4 & 3));
}

int phd_reader_next(struct phd_reader *r, struct phd_record *out)
{
	const unsigned tag = (unsigned)take(r, 1);

	out->refs.count = out->name.count = 0;
	out->length = out->bytes = 0;
	if (r->result == HDB_OK && tag & 0xc0)
		take_object(r, tag, out);
	else if (tag & 0x20 || tag == TAG_LONG_PRIMITIVE_ARRAY)
		take_primitive_array(r, tag, out);
	else if (tag == TAG_LONG_OBJECT || tag == TAG_OLD_OBJECT_ARRAY || tag == TAG_OBJECT_ARRAY)
		take_long_object(r, tag, out);
	else if (tag == TAG_CLASS)
		take_class(r, out);
	else if (r->result == HDB_OK)
		r->result = HDB_END;
	r->is_whole = tag == TAG_END && r->result == HDB_END;
	r->last_id = out->id;
	return r->result;
}

/* ---- the header ---- */

static int read_head(struct phd_reader *r, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec text = { 0 };
	uint64_t flags, tag;

	for (size_t i = 0; i < PHD_MAGIC_SIZE; i++)
		(void)take(r, 1);
	r->version = (uint32_t)take(r, 4);
	flags = take(r, 4);
	if (r->result == HDB_OK && (r->version < 4 || r->version > 6))
		return hdb_fail(err, HDB_EFORMAT,
				"portable heap dumps of version %" PRIu32
				" are not supported; supported "
				"versions are 4 to 6",
				r->version);
	r->word_bytes = flags & FLAG_64_BIT ? 8 : 4;
	r->is_hashed = flags & FLAG_HASHED;
	r->is_j9 = flags & FLAG_J9;
	for (tag = take(r, 1) == HEAD_BEGIN ? 0 : UINT64_MAX; tag != HEAD_END;) {
		tag = tag ? tag : take(r, 1);
		if (r->result == HDB_OK && (tag == HEAD_TOTALS || tag == HEAD_RANDOMS)) {
			(void)take(r, 8);
		} else if (r->result == HDB_OK && tag == HEAD_VERSION) {
			take_text(r, &text);
			(void)snprintf(r->text, sizeof(r->text), "%.*s", (int)text.count,
				       text.count ? (const char *)text.data : "");
		} else if (tag != HEAD_END) {
			break;
		}
		tag = tag == HEAD_END ? tag : 0;
	}
	if (r->result == HDB_OK && tag == HEAD_END && take(r, 1) == BODY_BEGIN &&
	    r->result == HDB_OK)
		return HDB_OK;
	if (r->result < 0)
		return r->result;
	return hdb_fail(err, HDB_EFORMAT, "the header of the portable heap dump is damaged");
}

int phd_reader_open(struct phd_reader *r, struct base_source *source, struct hdb_error *err)
{
	r->err = err;
	r->view.src = source;
	return read_head(r, err);
}

void phd_reader_release(struct phd_reader *r)
{
	base_view_release(&r->view);
	r->at = r->end = NULL;
}

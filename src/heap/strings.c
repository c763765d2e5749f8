/*
 * heap/strings.c - the text of java.lang.String objects, whatever wrote them.
 *
 * JDK 5 to 8 keep a char[] `value`, up to 7u5 with `offset` and `count`; JDK 9 and later a byte[] `value` with
 * `coder` 0 (Latin-1) or 1 (UTF-16 in the VM's byte order); Android a `count` and, where the dump has it, a char[]
 * or byte[] `value`.
 */
#include "heap/text.h"
#include "heap/values.h"

#include <string.h>

/* Elements decoded at a time. */
#define CHUNK 1024u

bool heap_is_string(struct heap *heap, uint32_t ix)
{
	struct heap_object object;

	return heap_object(heap, ix, &object, NULL) == HDB_OK && object.kind == STORE_INSTANCE &&
	       strcmp(heap_class_name(heap, object.class_no), "java.lang.String") == 0;
}

/* Where a string's characters are. */
struct characters {
	uint32_t array_ix;
	uint64_t from, count; /* in UTF-16 units or Latin-1 bytes */
	bool is_utf16_bytes;  /* two bytes a unit, little-endian */
};

/* An int field, or `fallback` if there is none. */
static int int_field(struct heap *heap, uint32_t ix, const char *name, int64_t fallback,
		     int64_t *out, struct hdb_error *err)
{
	struct heap_value value;
	const int r = heap_field_value(heap, ix, NULL, name, &value, err);

	*out = fallback;
	if (r == HDB_OK && (value.type == HPROF_INT || value.type == HPROF_BYTE))
		*out = value.type == HPROF_INT ? (int32_t)value.bits : (int8_t)value.bits;
	return r < 0 ? r : HDB_OK;
}

static int find_characters(struct heap *heap, uint32_t ix, struct characters *out,
			   struct hdb_error *err)
{
	struct heap_object array;
	int64_t offset = 0, count = -1, coder = 0;
	uint64_t length;
	bool is_bytes;
	int r = heap_field_object(heap, ix, NULL, "value", &out->array_ix, err);

	if (r != HDB_OK)
		return r;
	r = heap_object(heap, out->array_ix, &array, err);
	if (r == HDB_OK)
		r = int_field(heap, ix, "offset", 0, &offset, err);
	if (r == HDB_OK)
		r = int_field(heap, ix, "count", -1, &count, err);
	if (r == HDB_OK)
		r = int_field(heap, ix, "coder", 0, &coder, err);
	if (r < 0)
		return r;
	if (array.kind != STORE_PRIMITIVE_ARRAY)
		return HDB_NOTFOUND;
	is_bytes = heap_class(heap, array.class_no)->element_type == HPROF_BYTE;
	out->is_utf16_bytes = is_bytes && coder == 1;
	length = out->is_utf16_bytes ? array.length / 2 : array.length;
	/* Android's count has a flag in its lowest bit where the array is bytes; the array tells enough. */
	out->from = offset > 0 && !is_bytes ? (uint64_t)offset : 0;
	if (out->from > length)
		out->from = length;
	out->count = length - out->from;
	if (count >= 0 && !is_bytes && (uint64_t)count < out->count)
		out->count = (uint64_t)count;
	return HDB_OK;
}

/* Appends UTF-16 units; a high surrogate may wait in *high for its low one. NULL: no more room. */
static char *put_unit(char *p, const char *end, uint32_t unit, uint32_t *high)
{
	if (*high) {
		const uint32_t first = *high;

		*high = 0;
		if (unit >= 0xdc00 && unit < 0xe000)
			return heap_put_utf8(p, end, 0x10000 + ((first - 0xd800) << 10) +
					     (unit - 0xdc00));
		p = heap_put_utf8(p, end, 0xfffd);
		if (!p)
			return NULL;
	}
	if (unit >= 0xd800 && unit < 0xdc00) {
		*high = unit;
		return p;
	}
	if (unit >= 0xdc00 && unit < 0xe000)
		unit = 0xfffd;
	return heap_put_utf8(p, end, unit);
}

int heap_string(struct heap *heap, uint32_t ix, char *buf, size_t size, uint64_t *char_count,
		struct hdb_error *err)
{
	const char *end = buf + size - 1;
	struct characters c;
	uint64_t bits[CHUNK], at = 0;
	uint32_t high = 0;
	char *p = buf, *next = buf;
	int r;

	buf[0] = '\0';
	if (char_count)
		*char_count = 0;
	if (!heap_is_string(heap, ix))
		return HDB_NOTFOUND;
	r = find_characters(heap, ix, &c, err);
	if (r != HDB_OK)
		return r;
	if (char_count)
		*char_count = c.count;
	while (at < c.count && next) {
		const unsigned width = c.is_utf16_bytes ? 2 : 1;
		const uint64_t want = c.count - at < CHUNK / 2 ? c.count - at : CHUNK / 2;
		uint64_t done;
		uint8_t type;

		r = heap_elements(heap, c.array_ix, (c.from + at) * width, want * width, bits,
				  &type, &done, err);
		if (r < 0)
			return r;
		if (done < width)
			return at ? HDB_OK : HDB_NOTFOUND; /* the dump has no characters */
		for (uint64_t i = 0; i + width <= done && next; i += width) {
			const uint32_t unit = width == 2 ?
					      (uint32_t)(bits[i] | bits[i + 1] << 8) :
					      (uint32_t)bits[i];

			next = put_unit(p, end, unit, &high);
			if (next)
				p = next;
		}
		at += done / width;
	}
	if (high && next) {
		next = heap_put_utf8(p, end, 0xfffd);
		p = next ? next : p;
	}
	*p = '\0';
	return HDB_OK;
}

/*
 * export/export_thrift.c - Thrift's compact protocol.
 */
#include "export/export_thrift.h"

#include <assert.h>

enum { TRUE_FIELD = 1, FALSE_FIELD = 2 };

void thrift_begin(struct thrift *t, struct bytes *to)
{
	*t = (struct thrift){ .to = to };
}

static void header(struct thrift *t, int field, unsigned type)
{
	const int step = field - t->last[t->depth];

	assert(step > 0);
	assert(step <= 15);
	assert(type <= 15);
	export_bytes_byte(t->to, (uint8_t)((unsigned)step << 4 | type));
	t->last[t->depth] = field;
}

static void number(struct thrift *t, int64_t value)
{
	export_bytes_varint(t->to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void thrift_i32(struct thrift *t, int field, int32_t value)
{
	header(t, field, THRIFT_I32);
	number(t, value);
}

void thrift_i64(struct thrift *t, int field, int64_t value)
{
	header(t, field, THRIFT_I64);
	number(t, value);
}

void thrift_bool(struct thrift *t, int field, bool value)
{
	header(t, field, value ? TRUE_FIELD : FALSE_FIELD);
}

void thrift_bytes(struct thrift *t, int field, const void *data, size_t size)
{
	header(t, field, THRIFT_BINARY);
	export_bytes_varint(t->to, size);
	bytes_add(t->to, data, size);
}

void thrift_text(struct thrift *t, int field, const char *text)
{
	thrift_bytes(t, field, text, strlen(text));
}

void thrift_struct(struct thrift *t, int field)
{
	if (field)
		header(t, field, THRIFT_STRUCT);
	assert(t->depth + 1 < THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
	assert(t->depth >= 0);
	export_bytes_byte(t->to, 0);
	t->depth -= t->depth > 0;
}

void thrift_list(struct thrift *t, int field, enum thrift_type type, size_t count)
{
	header(t, field, THRIFT_LIST);
	if (count < 15) {
		export_bytes_byte(t->to, (uint8_t)(count << 4 | type));
	} else {
		export_bytes_byte(t->to, (uint8_t)(0xf0 | type));
		export_bytes_varint(t->to, count);
	}
}

void thrift_element_i32(struct thrift *t, int32_t value)
{
	number(t, value);
}

void thrift_element_text(struct thrift *t, const char *text)
{
	const size_t size = strlen(text);

	export_bytes_varint(t->to, size);
	bytes_add(t->to, text, size);
}

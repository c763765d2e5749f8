/*
 * query/label.c - what an object is, for people.
 */
#include "query/describe.h"

#include "heap/text.h"
#include "heap/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of text in a label. */
#define LABEL_TEXT 64
#define LABEL_MAX 1400

static int32_t as_i32(uint64_t bits)
{
	return (int32_t)(uint32_t)bits;
}

void query_value_text(const struct heap_value *value, char *buf, size_t size)
{
	union {
		uint32_t u;
		float f;
	} narrow = { .u = (uint32_t)value->bits };
	union {
		uint64_t u;
		double d;
	} wide = { .u = value->bits };
	char utf8[8] = "";
	char *end;

	switch (value->type) {
	case HPROF_OBJECT:
		if (value->bits)
			(void)snprintf(buf, size, "0x%" PRIx64, value->bits);
		else
			(void)snprintf(buf, size, "null");
		break;
	case HPROF_BOOLEAN:
		(void)snprintf(buf, size, "%s", value->bits & 0xff ? "true" : "false");
		break;
	case HPROF_CHAR:
		end = value->bits >= 0xd800 && value->bits < 0xe000 ? NULL :
		      heap_put_utf8(utf8, utf8 + sizeof(utf8) - 1, (uint32_t)value->bits & 0xffff);
		if (!end || value->bits < 0x20) {
			(void)snprintf(buf, size, "'\\u%04x'", (unsigned)(uint32_t)value->bits & 0xffff);
		} else {
			*end = '\0';
			(void)snprintf(buf, size, "'%s'", utf8);
		}
		break;
	case HPROF_FLOAT:
		(void)snprintf(buf, size, "%.9g", (double)narrow.f);
		break;
	case HPROF_DOUBLE:
		(void)snprintf(buf, size, "%.17g", wide.d);
		break;
	case HPROF_BYTE:
		(void)snprintf(buf, size, "%d", (int8_t)value->bits);
		break;
	case HPROF_SHORT:
		(void)snprintf(buf, size, "%d", (int16_t)value->bits);
		break;
	case HPROF_INT:
		(void)snprintf(buf, size, "%" PRId32, as_i32(value->bits));
		break;
	default:
		(void)snprintf(buf, size, "%" PRId64, (int64_t)value->bits);
		break;
	}
}

static bool is_boxed(const char *class_name)
{
	static const char *const names[] = {
		"java.lang.Integer", "java.lang.Long", "java.lang.Short", "java.lang.Byte",
		"java.lang.Character", "java.lang.Boolean", "java.lang.Float", "java.lang.Double",
		"java.util.concurrent.atomic.AtomicInteger",
		"java.util.concurrent.atomic.AtomicLong",
		"java.util.concurrent.atomic.AtomicBoolean",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(class_name, names[i]) == 0)
			return true;
	return false;
}

/* UTF-16 units of a UTF-8 text: one a character, two for those of four bytes. */
static uint64_t count_units(const char *text, size_t size)
{
	uint64_t units = 0;

	for (size_t i = 0; i < size; i++)
		units += ((uint8_t)text[i] & 0xc0) != 0x80 ? 1u + ((uint8_t)text[i] >= 0xf0) : 0u;
	return units;
}

/* A string in quotes, with an ellipsis if it was cut (at a character U+0000, too). */
static void quote_string(struct heap *heap, uint32_t ix, char *buf, size_t size)
{
	char text[LABEL_TEXT];
	uint64_t units;

	if (heap_string(heap, ix, text, sizeof(text), &units, NULL) != HDB_OK)
		return;
	(void)snprintf(buf, size, "\"%s\"%s", text,
		       units > count_units(text, strlen(text)) ? "..." : "");
}

static void describe_instance(struct query *q, const struct heap_object *object, char *buf,
			      size_t size)
{
	struct heap *heap = q->heap;
	const char *name = heap_class_name(heap, object->class_no);
	struct heap_value value;
	char text[LABEL_TEXT];
	uint32_t ix;

	if (strcmp(name, "java.lang.String") == 0) {
		quote_string(heap, object->ix, buf, size);
	} else if (is_boxed(name)) {
		if (heap_field_value(heap, object->ix, NULL, "value", &value, NULL) == HDB_OK)
			query_value_text(&value, buf, size);
	} else if (heap_has_superclass(heap, object->class_no, "java.lang.Enum")) {
		if (heap_field_object(heap, object->ix, "java.lang.Enum", "name", &ix, NULL) ==
		    HDB_OK && heap_string(heap, ix, text, sizeof(text), NULL, NULL) == HDB_OK)
			(void)snprintf(buf, size, "%s", text);
	} else if (heap_is_thread(heap, object->ix)) {
		if (heap_thread_name(heap, object->ix, text, sizeof(text), NULL) == HDB_OK &&
		    text[0])
			(void)snprintf(buf, size, "\"%s\"", text);
	}
}

void query_describe(struct query *q, uint32_t ix, char *buf, size_t size)
{
	struct heap_object object;

	buf[0] = '\0';
	if (heap_object(q->heap, ix, &object, NULL) < 0)
		return;
	if (object.kind == STORE_CLASS)
		(void)snprintf(buf, size, "%s", heap_class_name(q->heap, (uint32_t)object.length));
	else if (object.kind == STORE_INSTANCE && ix != HEAP_BOOT_LOADER)
		describe_instance(q, &object, buf, size);
}

int query_set_label(struct query *q, size_t column, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;
	char text[LABEL_MAX];
	const char *name;
	size_t size;
	int r;

	if (ix == HEAP_NONE) {
		query_null(q, column);
		return HDB_OK;
	}
	if (ix == HEAP_BOOT_LOADER)
		return query_set_text(q, column, "<boot class loader>", err);
	r = heap_object(q->heap, ix, &object, err);
	if (r < 0)
		return r;
	name = heap_class_name(q->heap, object.class_no);
	size = strlen(name);
	if (object.kind == STORE_CLASS)
		return query_format(q, column, err, "class %s",
				    heap_class_name(q->heap, (uint32_t)object.length));
	if (object.kind != STORE_INSTANCE) {
		/* "int[][]" of 3 is "int[3][]". */
		while (size >= 4 && strncmp(name + size - 4, "[][]", 4) == 0)
			size -= 2;
		return query_format(q, column, err, "%.*s[%" PRIu64 "]%s",
				    (int)(size >= 2 ? size - 2 : size), name, object.length,
				    name + size);
	}
	query_describe(q, ix, text, sizeof(text));
	return query_format(q, column, err, "%s%s%s", name, text[0] ? " " : "", text);
}

int query_set_value(struct query *q, size_t text_column, size_t id_column,
		    const struct heap_value *value, struct hdb_error *err)
{
	char text[64];
	uint32_t ix;
	int r;

	if (value->type != HPROF_OBJECT || !value->bits) {
		query_value_text(value, text, sizeof(text));
		return query_set_text(q, text_column, text, err);
	}
	r = heap_find(q->heap, value->bits, &ix, err);
	if (r == HDB_NOTFOUND)
		return query_set_text(q, text_column, "not in the dump", err);
	if (r == HDB_OK && id_column != SIZE_MAX)
		query_set(q, id_column, value->bits);
	return r == HDB_OK ? query_set_label(q, text_column, ix, err) : r;
}

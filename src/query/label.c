/*
 * query/label.c - what an object is, for people.
 */
#include "query/describe.h"

#include "heap/collections/collections.h"
#include "heap/values/value_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a value in a label. */
#define LABEL_MAX 1400

void query_value_text(const struct heap_value *value, char *buf, size_t size)
{
	heap_basic_text(value, buf, size);
}

/* Adds how many elements a collection has, if it tells. */
static void describe_size(struct query *q, uint32_t ix, char *buf, size_t size)
{
	struct heap_collection c;

	if (heap_collection_open(q->heap, ix, &c, NULL) == HDB_OK && c.has_size)
		(void)snprintf(buf, size, "size=%" PRIu64, c.size);
}

void query_describe(struct query *q, uint32_t ix, char *buf, size_t size)
{
	heap_value_text(q->heap, ix, buf, size);
	if (!buf[0])
		describe_size(q, ix, buf, size);
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
		/* Strange dumps have arrays whose class is called otherwise. */
		if (size < 2 || strncmp(name + size - 2, "[]", 2) != 0)
			size += 2;
		return query_format(q, column, err, "%.*s[%" PRIu64 "]%s", (int)(size - 2), name,
				    object.length, size <= strlen(name) ? name + size : "");
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

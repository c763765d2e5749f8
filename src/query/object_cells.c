/* query/object_cells.c - sets cells that describe objects, classes and groups of objects. */
#include "query/object_cells.h"

#include "analysis/describe.h"

#include <inttypes.h>
#include <string.h>

/* Maximum size of a value in a label, in bytes. */
#define LABEL_MAX 1400

static const char *kind_name(const struct heap_object *object)
{
	return object->kind == STORE_CLASS           ? "class" :
	       object->kind == STORE_OBJECT_ARRAY    ? "object array" :
	       object->kind == STORE_PRIMITIVE_ARRAY ? "primitive array" :
						       "instance";
}

/* Sets the parts of a label, if the query shows them. `value` may be "" or NULL. */
static void set_parts(struct query *q, size_t column, const char *kind, const char *value)
{
	if (column != q->label || q->label_kind == SIZE_MAX)
		return;
	query_set_text(q, q->label_kind, kind);
	if (value && *value)
		query_set_text(q, q->label_value, value);
}

void query_set_label(struct query *q, size_t column, uint32_t ix)
{
	struct hdb_error why;
	struct heap_object object;
	char text[LABEL_MAX];
	const char *name;
	size_t size;
	int r;

	if (ix == HEAP_NONE) {
		query_null(q, column);
		return;
	}
	if (ix == HEAP_BOOT_LOADER) {
		query_set_text(q, column, "<boot class loader>");
		return;
	}
	if ((r = heap_object(q->heap, ix, &object, &why)) < 0) {
		query_fail(q, r, &why);
		return;
	}
	name = heap_class_name(q->heap, object.class_no);
	size = strlen(name);
	text[0] = '\0';
	if (object.kind == STORE_INSTANCE ||
	    (object.kind == STORE_PRIMITIVE_ARRAY && q->heap->is_android))
		analysis_describe(&q->session, ix, text, sizeof(text));
	set_parts(q, column, kind_name(&object),
		  object.kind == STORE_CLASS ? heap_class_name(q->heap, (uint32_t)object.length) :
					       text);
	if (object.kind == STORE_CLASS) {
		query_format(q, column, "class %s",
			     heap_class_name(q->heap, (uint32_t)object.length));
	} else if (object.kind != STORE_INSTANCE) {
		/* An "int[][]" of length 3 is shown as "int[3][]". */
		while (size >= 4 && strncmp(name + size - 4, "[][]", 4) == 0)
			size -= 2;
		/* In a damaged dump, an array's class may have any name. */
		if (size < 2 || strncmp(name + size - 2, "[]", 2) != 0)
			size += 2;
		query_format(q, column, "%.*s[%" PRIu64 "]%s%s%s", (int)(size - 2), name,
			     object.length, size <= strlen(name) ? name + size : "",
			     text[0] ? " " : "", text);
	} else {
		query_format(q, column, "%s%s%s", name, text[0] ? " " : "", text);
	}
}

void query_set_value(struct query *q, size_t text_column, size_t id_column,
		     const struct heap_value *value)
{
	struct hdb_error why;
	char text[64];
	uint32_t ix;
	int r;

	if (value->type != HPROF_OBJECT || !value->bits) {
		analysis_value_text(value, text, sizeof(text));
		query_set_text(q, text_column, text);
		return;
	}
	r = heap_find(q->heap, value->bits, &ix, &why);
	if (r == HDB_NOTFOUND) {
		query_set_text(q, text_column, "not in the dump");
	} else if (r < 0) {
		query_fail(q, r, &why);
	} else {
		if (id_column != SIZE_MAX)
			query_set(q, id_column, value->bits);
		query_set_label(q, text_column, ix);
	}
}

void query_set_retained(struct query *q, size_t column, uint32_t ix)
{
	struct hdb_error why;
	uint64_t retained;
	const int r = derive_retained(q->derive, ix, &retained, &why);

	if (r < 0)
		query_fail(q, r, &why);
	else
		query_set(q, column, retained);
}

void query_set_object(struct query *q, const struct query_object_columns *columns, uint32_t ix)
{
	struct heap_object object;
	struct hdb_error why;
	int r;

	if ((r = heap_object(q->heap, ix, &object, &why)) < 0) {
		query_fail(q, r, &why);
		return;
	}
	if (columns->id != SIZE_MAX)
		query_set_id(q, columns->id, ix);
	if (columns->class != SIZE_MAX)
		query_set_class_of(q, columns->class, ix);
	if (columns->label != SIZE_MAX)
		query_set_label(q, columns->label, ix);
	if (columns->shallow != SIZE_MAX)
		query_set(q, columns->shallow, object.shallow_bytes);
	if (columns->retained != SIZE_MAX && derive_has(q->derive, STORE_RETAINED))
		query_set_retained(q, columns->retained, ix);
}

void query_set_group(struct query *q, size_t column, const struct analysis_groups *groups,
		     const struct derive_total *total)
{
	size_t size;
	const char *name = analysis_group_name(&q->session, groups->by, total->no, &size);

	query_lend_text_n(q, column, name, size);
}

static void set_loader(struct query *q, size_t column, uint32_t loader_ix)
{
	size_t size;
	const char *name = analysis_group_name(&q->session, DERIVE_LOADER, loader_ix, &size);
	struct hdb_error why;
	uint64_t id;
	int r;

	if (loader_ix == HEAP_BOOT_LOADER)
		query_lend_text_n(q, column, name, size);
	else if ((r = heap_id(q->heap, loader_ix, &id, &why)) < 0)
		query_fail(q, r, &why);
	else
		query_format(q, column, "%s 0x%" PRIx64, name, id);
}

void query_set_group_objects(struct query *q, size_t id_column, size_t loader_column,
			     const struct analysis_groups *groups, const struct derive_total *total)
{
	if (groups->by == DERIVE_LOADER) {
		query_set_id(q, id_column, total->no);
	} else if (groups->by != DERIVE_PACKAGE) {
		query_set(q, id_column, heap_class(q->heap, total->no)->class_id);
		set_loader(q, loader_column, heap_class(q->heap, total->no)->loader_ix);
	}
}

/*
 * sqlite/sql_object_columns.c - columns of the object tables, from the batch of a scan or from a
 * single object.
 */
#include "sqlite/sql_objects.h"

/* The object of the current row. */
struct seen {
	uint32_t ix, class_no;
};

static int result_field(struct objects_cursor *c, sqlite3_context *ctx, int column, struct seen o,
			struct hdb_error *err)
{
	const struct shape *s = c->shape;
	const struct hdb_field *field;
	struct hdb_basic value;
	uint32_t base = 0;

	while (s->base_count > 1 && base + 1 < s->base_count &&
	       !hdb_is_subclass(c->db, o.class_no, s->bases[base]))
		base++;
	assert(base < s->base_count);
	field = s->field_of[(size_t)column * s->base_count + base];
	if (!field)
		return HDB_OK;
	TRY_FOUND(c->scan ? hdb_scan_field(c->scan, c->at, field, &value, err) :
			    hdb_field_value(c->db, o.ix, field, &value, err));
	sql_result_basic(ctx, &value);
	return HDB_OK;
}

static int result_heap(struct objects_cursor *c, sqlite3_context *ctx, uint32_t ix,
		       struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	char name[256];
	int r = hdb_object_at(c->db, ix, &facts, err);

	if (r < 0 || facts.heap_no == HDB_NONE)
		return r;
	TRY(hdb_heap_name(c->db, facts.heap_no, name, sizeof(name), err));
	sql_result_copy(ctx, name);
	return HDB_OK;
}

/* Returns the file offset of an object that was looked up by its ID. */
static int result_offset(struct objects_cursor *c, sqlite3_context *ctx, struct hdb_error *err)
{
	struct hdb_object_info info = { .struct_size = sizeof(info) };

	TRY(hdb_object(c->db, c->batch.id[c->at], &info, err));
	if (info.file_offset)
		sqlite3_result_int64(ctx, (sqlite3_int64)info.file_offset);
	return HDB_OK;
}

static int result_referrers(struct objects_cursor *c, sqlite3_context *ctx, uint32_t ix,
			    struct hdb_error *err)
{
	struct hdb_list *list;
	const uint32_t *ixs;
	size_t count = 0;
	sqlite3_int64 sum = 0;
	bool is_shown;
	int r;

	TRY(hdb_list_open(c->db, HDB_REFERRERS, &list, err));
	r = hdb_list_begin(list, ix, NULL, err);
	while (r == HDB_OK && (r = hdb_list_next(list, &ixs, &count, err)) == HDB_OK && count)
		for (size_t i = 0; i < count && r == HDB_OK; i++) {
			r = sql_is_shown(c->source, ixs[i], &is_shown, err);
			sum += is_shown;
		}
	hdb_list_close(list);
	sqlite3_result_int64(ctx, sum);
	return r;
}

/* Returns a column of object ix that the batch does not contain. */
static int result_more(struct objects_cursor *c, sqlite3_context *ctx, int column, struct seen o,
		       struct hdb_error *err)
{
	const int code = c->shape->columns[column];
	struct hdb_class class = { .struct_size = sizeof(class) };
	uint32_t other;
	int reachable, r = HDB_OK;

	assert((size_t)column < c->shape->column_count);
	switch (code) {
	case C_RETAINED:
		if ((r = hdb_need(c->db, HDB_NEED_DOMINATORS, err)) != HDB_OK)
			break;
		r = sql_result_retained(ctx, c->source, o.ix, err);
		break;
	case C_DOMINATOR:
		if ((r = hdb_dominator_at(c->db, o.ix, &other, err)) != HDB_OK)
			break;
		r = sql_result_ix(ctx, c->source, other, err);
		break;
	case C_REACHABLE:
		if ((r = hdb_reachable_at(c->db, o.ix, &reachable, err)) != HDB_OK)
			break;
		sqlite3_result_int(ctx, reachable);
		break;
	case C_CLASS_ID:
		if ((r = hdb_class_at(c->db, o.class_no, &class, err)) != HDB_OK)
			break;
		sqlite3_result_int64(ctx, (sqlite3_int64) class.id);
		break;
	case C_HEAP:
		r = result_heap(c, ctx, o.ix, err);
		break;
	case C_OFFSET:
		r = result_offset(c, ctx, err);
		break;
	case C_REFERRERS:
		r = result_referrers(c, ctx, o.ix, err);
		break;
	case C_TEXT:
		r = sql_result_text_of(ctx, c->source, o.ix, err);
		break;
	default:
		if (code >= C_FIELD)
			r = result_field(c, ctx, column, o, err);
	}
	return r < 0 ? r : HDB_OK;
}

/* Returns the element type, which follows from the class name: "int" for "int[]". */
static void result_type(struct objects_cursor *c, sqlite3_context *ctx, uint32_t class_no)
{
	const char *name = hdb_class_name(c->db, class_no);
	const size_t size = strlen(name);

	if (size > 2 && strcmp(name + size - 2, "[]") == 0)
		sqlite3_result_text(ctx, name, (int)size - 2, SQLITE_STATIC);
}

int sql_object_column(struct sql_cursor *cursor, sqlite3_context *ctx, int number,
		      struct hdb_error *err)
{
	struct objects_cursor *c = cursor->state;
	const struct hdb_batch *b = &c->batch;
	const size_t i = c->at;

	switch (c->shape->columns[number]) {
	case C_ID:
		if (b->id)
			sqlite3_result_int64(ctx, (sqlite3_int64)b->id[i]);
		return HDB_OK;
	case C_CLASS:
		sql_result_class(ctx, c->source, b->class_no[i]);
		return HDB_OK;
	case C_KIND:
		sqlite3_result_text(ctx, sql_kind_name(b->kind[i]), -1, SQLITE_STATIC);
		return HDB_OK;
	case C_SHALLOW:
		sqlite3_result_int64(ctx, (sqlite3_int64)b->shallow_bytes[i]);
		return HDB_OK;
	case C_LENGTH:
		if (b->kind[i] == HDB_KIND_OBJECT_ARRAY || b->kind[i] == HDB_KIND_PRIMITIVE_ARRAY)
			sqlite3_result_int64(ctx, (sqlite3_int64)b->length[i]);
		return HDB_OK;
	case C_TYPE:
		result_type(c, ctx, b->class_no[i]);
		return HDB_OK;
	case C_RETAINED:
		if (!b->retained_bytes)
			break;
		sqlite3_result_int64(ctx, (sqlite3_int64)b->retained_bytes[i]);
		return HDB_OK;
	case C_DOMINATOR:
		if (!b->dominator)
			break;
		if (b->dominator[i] == b->ix[i])
			return HDB_OK;
		return sql_result_ix(ctx, c->source, b->dominator[i], err);
	case C_REACHABLE:
		if (!b->reachable)
			break;
		sqlite3_result_int(ctx, b->reachable[i]);
		return HDB_OK;
	case C_REFERRERS:
		if (!b->referrers)
			break;
		sqlite3_result_int64(ctx, (sqlite3_int64)b->referrers[i]);
		return HDB_OK;
	case C_OFFSET:
		if (!b->file_offset)
			break;
		if (b->file_offset[i])
			sqlite3_result_int64(ctx, (sqlite3_int64)b->file_offset[i]);
		return HDB_OK;
	default:
		break;
	}
	return result_more(c, ctx, number, (struct seen){ b->ix[i], b->class_no[i] }, err);
}

/*
 * sqlite/sql_values.c - functions that list what one object holds: entries, elements, fields.
 */
#include "sqlite/sql_private.h"

#include <string.h>

/* The text of what a value is: of a reference the object's text, else NULL. */
static int result_text(struct sql_cursor *c, struct sqlite3_context *ctx,
		       const struct hdb_basic *value, struct hdb_error *err)
{
	uint32_t ix;
	int r;

	if (value->type != HDB_BASIC_OBJECT) {
		sql_result_basic(ctx, value);
		return HDB_OK;
	}
	if (!value->id)
		return HDB_OK;
	r = hdb_find(c->db, value->id, &ix, err);
	if (r == HDB_OK)
		r = sql_result_text_of(ctx, c->source, ix, err);
	return r < 0 ? r : HDB_OK;
}

static void result_reference(struct sqlite3_context *ctx, const struct hdb_basic *value)
{
	if (value->type == HDB_BASIC_OBJECT)
		sql_result_basic(ctx, value);
}

/* ---- entries ---- */

struct entries {
	struct hdb_entries *entries;
	struct hdb_entry entry;
};

enum {
	ENTRIES_NO,
	ENTRIES_KEY,
	ENTRIES_KEY_ID,
	ENTRIES_VALUE,
	ENTRIES_VALUE_ID,
	ENTRIES_ENTRY,
	ENTRIES_ARG
};

static int begin_entries(struct sql_cursor *c, struct hdb_error *err)
{
	struct entries *s = c->state;
	uint32_t ix;
	const int r = sql_value_object(c->source, c->key[0], &ix, err);

	return r == HDB_OK ? hdb_entries_open(c->db, ix, &s->entries, err) : r;
}

static int next_entries(struct sql_cursor *c, struct hdb_error *err)
{
	struct entries *s = c->state;

	return hdb_entries_next(s->entries, &s->entry, err);
}

static int column_entries(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			  struct hdb_error *err)
{
	const struct entries *s = c->state;
	const struct hdb_entry *e = &s->entry;

	switch (column) {
	case ENTRIES_NO:
		sqlite3_result_int64(ctx, (sqlite3_int64)e->no);
		return HDB_OK;
	case ENTRIES_KEY:
		return e->has_key ? result_text(c, ctx, &e->key, err) : HDB_OK;
	case ENTRIES_KEY_ID:
		if (e->has_key)
			result_reference(ctx, &e->key);
		return HDB_OK;
	case ENTRIES_VALUE:
		return result_text(c, ctx, &e->value, err);
	case ENTRIES_VALUE_ID:
		result_reference(ctx, &e->value);
		return HDB_OK;
	case ENTRIES_ENTRY:
		return sql_result_ix(ctx, c->source, e->entry_ix, err);
	default:
		return HDB_OK;
	}
}

static void end_entries(struct sql_cursor *c)
{
	hdb_entries_close(((struct entries *)c->state)->entries);
}

const struct sql_table_def sql_entries = {
	.name = "entries",
	.columns = "no COUNT, key, key_id ID, value, value_id ID, entry ID, of ID HIDDEN",
	.keys = { ENTRIES_ARG, -1 },
	.first_arg = ENTRIES_ARG,
	.required_args = 1,
	.rows = 50,
	.state_size = sizeof(struct entries),
	.begin = begin_entries,
	.next = next_entries,
	.column = column_entries,
	.end = end_entries,
};

/* ---- elements ---- */

#define CHUNK 512

struct elements {
	uint32_t ix;
	uint64_t at, from;
	size_t count;
	enum hdb_basic_type type;
	struct hdb_basic value;
	uint64_t bits[CHUNK];
};

enum { ELEMENTS_NO, ELEMENTS_VALUE, ELEMENTS_TEXT, ELEMENTS_ARG };

static int begin_elements(struct sql_cursor *c, struct hdb_error *err)
{
	struct elements *s = c->state;
	struct hdb_object_facts facts;
	int r = sql_value_object(c->source, c->key[0], &s->ix, err);

	if (r == HDB_OK)
		r = hdb_object_at(c->db, s->ix, &facts, err);
	s->at = UINT64_MAX;
	if (r == HDB_OK && facts.kind != HDB_KIND_OBJECT_ARRAY &&
	    facts.kind != HDB_KIND_PRIMITIVE_ARRAY)
		return HDB_END;
	return r;
}

static int next_elements(struct sql_cursor *c, struct hdb_error *err)
{
	struct elements *s = c->state;

	s->at++;
	if (s->at - s->from >= s->count) {
		int r;

		s->from = s->at;
		r = hdb_elements(c->db, s->ix, s->at, CHUNK, s->bits, &s->type, &s->count, err);
		if (r < 0)
			return r;
		if (!s->count)
			return HDB_END;
	}
	hdb_basic_of(s->type, s->bits[s->at - s->from], &s->value);
	return HDB_OK;
}

static int column_elements(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			   struct hdb_error *err)
{
	const struct elements *s = c->state;

	if (column == ELEMENTS_NO)
		sqlite3_result_int64(ctx, (sqlite3_int64)s->at);
	else if (column == ELEMENTS_VALUE)
		sql_result_basic(ctx, &s->value);
	else
		return result_text(c, ctx, &s->value, err);
	return HDB_OK;
}

const struct sql_table_def sql_elements = {
	.name = "elements",
	.columns = "no COUNT, value, text, of ID HIDDEN",
	.keys = { ELEMENTS_ARG, -1 },
	.first_arg = ELEMENTS_ARG,
	.required_args = 1,
	.rows = 100,
	.state_size = sizeof(struct elements),
	.begin = begin_elements,
	.next = next_elements,
	.column = column_elements,
};

/* ---- fields ---- */

struct fields {
	uint32_t ix;
	bool is_static;
	struct hdb_field *fields; /* owned */
	size_t count, at;
	struct hdb_basic value;
	bool has_value;
};

enum { FIELDS_NAME, FIELDS_TYPE, FIELDS_VALUE, FIELDS_TEXT, FIELDS_IN, FIELDS_ARG };

static int begin_fields(struct sql_cursor *c, struct hdb_error *err)
{
	struct fields *s = c->state;
	struct hdb_object_facts facts;
	int r = sql_value_object(c->source, c->key[0], &s->ix, err);

	if (r == HDB_OK)
		r = hdb_object_at(c->db, s->ix, &facts, err);
	if (r != HDB_OK)
		return r;
	s->is_static = facts.kind == HDB_KIND_CLASS;
	s->at = SIZE_MAX;
	if (s->is_static)
		return hdb_class_statics(c->db, facts.stands_for, &s->fields, &s->count, err);
	if (facts.kind != HDB_KIND_INSTANCE)
		return HDB_END;
	return hdb_class_fields(c->db, facts.class_no, &s->fields, &s->count, err);
}

static int next_fields(struct sql_cursor *c, struct hdb_error *err)
{
	struct fields *s = c->state;
	int r = HDB_OK;

	if (++s->at >= s->count)
		return HDB_END;
	s->has_value = true;
	if (s->is_static)
		s->value = s->fields[s->at].value;
	else
		r = hdb_field_value(c->db, s->ix, &s->fields[s->at], &s->value, err);
	s->has_value = r == HDB_OK;
	return r < 0 ? r : HDB_OK;
}

static int column_fields(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			 struct hdb_error *err)
{
	const struct fields *s = c->state;
	const struct hdb_field *field = &s->fields[s->at];

	switch (column) {
	case FIELDS_NAME:
		sql_result_copy(ctx, field->name);
		break;
	case FIELDS_TYPE:
		sqlite3_result_text(ctx, sql_type_name(field->type), -1, SQLITE_STATIC);
		break;
	case FIELDS_VALUE:
		if (s->has_value)
			sql_result_basic(ctx, &s->value);
		break;
	case FIELDS_TEXT:
		if (s->has_value)
			return result_text(c, ctx, &s->value, err);
		break;
	case FIELDS_IN:
		sql_result_class(ctx, c->source, field->declaring_no);
		break;
	default:
		break;
	}
	return HDB_OK;
}

static void end_fields(struct sql_cursor *c)
{
	hdb_fields_free(((struct fields *)c->state)->fields);
}

const struct sql_table_def sql_fields = {
	.name = "fields",
	.columns = "name TEXT, type TEXT, value, text, declared_in TEXT, of ID HIDDEN",
	.keys = { FIELDS_ARG, -1 },
	.first_arg = FIELDS_ARG,
	.required_args = 1,
	.rows = 10,
	.state_size = sizeof(struct fields),
	.begin = begin_fields,
	.next = next_fields,
	.column = column_fields,
	.end = end_fields,
};

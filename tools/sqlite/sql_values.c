/*
 * sqlite/sql_values.c - functions that list what one object holds: entries, elements, fields.
 */
#include "sqlite/sql_private.h"

#include "base/scope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The text of what a value is: of a reference the object's text, else NULL. */
static int result_text(struct sql_cursor *c, struct sqlite3_context *ctx,
		       const struct hdb_basic *value, struct hdb_error *err)
{
	uint32_t ix;

	if (value->type != HDB_BASIC_OBJECT) {
		sql_result_basic(ctx, value);
		return HDB_OK;
	}
	if (!value->id)
		return HDB_OK;
	TRY_FOUND(hdb_find(c->db, value->id, &ix, err));
	return sql_result_text_of(ctx, c->source, ix, err);
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
	uint32_t owner;
	/* of all objects of classes */
	struct hdb_scan *scan;
	struct hdb_batch batch;
	size_t at;      /* the next in the batch */
	uint8_t *marks; /* the classes; owned */
	/* collections whose entries are not all known; the first's message */
	uint64_t opened, unknown;
	struct hdb_error first;
};

enum {
	ENTRIES_NO,
	ENTRIES_KEY,
	ENTRIES_KEY_ID,
	ENTRIES_VALUE,
	ENTRIES_VALUE_ID,
	ENTRIES_ENTRY,
	ENTRIES_OWNER,
	ENTRIES_ARG
};

/* Whether an argument names classes: no ID, no number. */
static const char *class_argument(sqlite3_value *value)
{
	const char *text = sqlite3_value_type(value) == SQLITE_TEXT ?
				   (const char *)sqlite3_value_text(value) :
				   NULL;

	return text && *text && !(text[0] == '0' && (text[1] | 0x20) == 'x') ? text : NULL;
}

/* "java.util.HashMap", "java.util.AbstractMap+" with subclasses, "java.util.*". */
static int begin_class_entries(struct sql_cursor *c, const char *name, struct hdb_error *err)
{
	struct entries *s = c->state;
	const size_t size = strlen(name);
	const bool with_sub = name[size - 1] == '+';
	struct hdb_scan_options opt = { .kinds = 1u << HDB_KIND_INSTANCE,
					.population = sql_population(c->source) };
	BASE_FREED char *plain = strndup(name, size - with_sub);
	int r;

	s->marks = calloc((size_t)hdb_class_count(c->db) + 1, 1);
	if (!plain || !s->marks)
		return sql_fail(err, HDB_ENOMEM, "no memory for classes");
	r = hdb_classes_like(c->db, plain, with_sub, s->marks, err);
	if (r == HDB_NOTFOUND)
		r = sql_fail(err, HDB_EUSAGE, "no class matches %.200s", name);
	TRY_ERRORS(r);
	opt.classes = s->marks;
	return hdb_scan_open(c->db, &opt, &s->scan, err);
}

static int begin_entries(struct sql_cursor *c, struct hdb_error *err)
{
	struct entries *s = c->state;
	const char *name = class_argument(c->key[0]);

	if (name)
		return begin_class_entries(c, name, err);
	TRY(sql_value_object(c->source, c->key[0], &s->owner, err));
	return hdb_entries_open(c->db, s->owner, &s->entries, err);
}

/* Goes on with the others: the failure comes after the last of them. */
static int note_unknown(struct entries *s, struct hdb_error *err)
{
	if (!s->unknown++ && err)
		s->first = *err;
	return HDB_NOTFOUND;
}

/* Opens the next object that is a collection: HDB_OK or HDB_END. */
static int next_owner(struct sql_cursor *c, struct hdb_error *err)
{
	struct entries *s = c->state;
	int r = HDB_NOTFOUND;

	hdb_entries_close(s->entries);
	s->entries = NULL;
	while (r == HDB_NOTFOUND) {
		if (s->at == s->batch.count) {
			s->at = 0;
			s->batch.count = 0;
			r = hdb_scan_next(s->scan, &s->batch, err);
			if (r == HDB_END && s->unknown)
				r = sql_fail(err, HDB_EUSAGE,
					     "of %" PRIu64 " of %" PRIu64
					     " collections not all entries are known, so these are "
					     "not all: %s",
					     s->unknown, s->opened, s->first.message);
			if (r != HDB_OK)
				return r;
		}
		s->owner = s->batch.ix[s->at++];
		r = hdb_entries_open(c->db, s->owner, &s->entries, err);
		s->opened += r != HDB_NOTFOUND;
		if (r == HDB_EUSAGE)
			r = note_unknown(s, err);
	}
	return r;
}

static int next_entry(struct sql_cursor *c, struct hdb_error *err)
{
	struct entries *s = c->state;
	const int r = s->entries ? hdb_entries_next(s->entries, &s->entry, err) : HDB_END;

	if (r != HDB_EUSAGE || !s->scan)
		return r;
	(void)note_unknown(s, err);
	return HDB_END;
}

static int next_entries(struct sql_cursor *c, struct hdb_error *err)
{
	struct entries *s = c->state;
	int r = next_entry(c, err);

	while (r == HDB_END && s->scan) {
		TRY(next_owner(c, err));
		r = next_entry(c, err);
	}
	return r;
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
	case ENTRIES_OWNER:
		return sql_result_ix(ctx, c->source, s->owner, err);
	default:
		return HDB_OK;
	}
}

static void end_entries(struct sql_cursor *c)
{
	struct entries *s = c->state;

	hdb_entries_close(s->entries);
	hdb_scan_close(s->scan);
	free(s->marks);
}

const struct sql_table_def sql_entries = {
	.name = "entries",
	.help = "entries of a collection",
	.columns = "no COUNT, key, key_id ID, value, value_id ID, entry ID, owner ID, "
		   "of ID HIDDEN",
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
	uint64_t at;
	struct hdb_basic value;
	struct hdb_slice slice; /* of bits */
	uint64_t bits[CHUNK];
};

enum { ELEMENTS_NO, ELEMENTS_VALUE, ELEMENTS_TEXT, ELEMENTS_ARG };

static int begin_elements(struct sql_cursor *c, struct hdb_error *err)
{
	struct elements *s = c->state;
	struct hdb_object_facts facts;

	TRY(sql_value_object(c->source, c->key[0], &s->ix, err));
	TRY(hdb_object_at(c->db, s->ix, &facts, err));
	if (facts.kind != HDB_KIND_OBJECT_ARRAY && facts.kind != HDB_KIND_PRIMITIVE_ARRAY)
		return HDB_END;
	s->at = UINT64_MAX; /* the one before the first */
	return HDB_OK;
}

static int next_elements(struct sql_cursor *c, struct hdb_error *err)
{
	struct elements *s = c->state;

	s->at++;
	if (s->at - s->slice.from >= s->slice.count) {
		s->slice = (struct hdb_slice){ .from = s->at, .room = CHUNK, .bits = s->bits };
		TRY_ERRORS(hdb_elements(c->db, s->ix, &s->slice, err));
		if (!s->slice.count)
			return HDB_END;
	}
	hdb_basic_of(s->slice.type, s->bits[s->at - s->slice.from], &s->value);
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
	.help = "elements of an array",
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

	TRY(sql_value_object(c->source, c->key[0], &s->ix, err));
	TRY(hdb_object_at(c->db, s->ix, &facts, err));
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
	.help = "fields of an object, with their values",
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

/*
 * sqlite/sql_values.c - functions that list the contents of one object: entries, elements, fields.
 */
#include "sqlite/sql_private.h"

static const struct hdb_basic null = { .type = HDB_BASIC_OBJECT };

/* ---- entries ---- */

struct entries {
	struct hdb_entries *entries;
	struct hdb_entry entry;
	uint32_t owner;
	/* objects of the classes that the argument names */
	struct hdb_scan *scan;
	struct hdb_batch batch;
	size_t at;      /* next index in the batch */
	uint8_t *marks; /* selected classes; owned */
	/*
	 * number of collections opened, number of collections not fully decoded, and message of the
	 * first such collection
	 */
	uint64_t opened, unknown;
	struct hdb_error first;
};

/* Returns the argument if it names classes, not an ID or number. */
static const char *class_argument(sqlite3_value *value)
{
	const char *text = sqlite3_value_type(value) == SQLITE_TEXT ?
				   (const char *)sqlite3_value_text(value) :
				   NULL;

	return text && *text && !(text[0] == '0' && (text[1] | 0x20) == 'x') ? text : NULL;
}

/*
 * Begins the entries of all objects of the named classes: "java.util.HashMap",
 * "java.util.AbstractMap+" with subclasses, "java.util.*".
 */
static int begin_class_entries(struct sql_cursor *c, const char *name, struct hdb_error *err)
{
	struct entries *s = c->state;
	const size_t size = strlen(name);
	const bool with_sub = name[size - 1] == '+';
	struct hdb_scan_options opt = { .struct_size = sizeof(opt),
					.kinds = 1u << HDB_KIND_INSTANCE,
					.population = sql_population(c->source) };
	BASE_FREED char *plain = strndup(name, size - with_sub);
	int r;

	s->marks = calloc((size_t)hdb_class_count(c->db) + 1, 1);
	if (!plain || !s->marks)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for classes");
	r = hdb_classes_like(c->db, plain, with_sub, s->marks, err);
	if (r == HDB_NOTFOUND)
		r = hdb_fail(err, HDB_EUSAGE, "no class matches %.200s", name);
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

/* Records that a collection was not decoded. The failure is reported after the last collection. */
static int note_unknown(struct entries *s, struct hdb_error *err)
{
	if (!s->unknown++ && err)
		s->first = *err;
	return HDB_NOTFOUND;
}

/* Opens the next object that is a collection. Returns HDB_END if there is no further collection. */
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
				r = hdb_fail(err, HDB_EUSAGE,
					     "the entries of %" PRIu64 " of %" PRIu64
					     " collections are "
					     "unknown, so the result is incomplete: %s",
					     s->unknown, s->opened, s->first.message);
			TRY(r);
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

	if (r == HDB_OK && !s->entry.has_key)
		s->entry.key = null;
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

static void end_entries(struct sql_cursor *c)
{
	struct entries *s = c->state;

	hdb_entries_close(s->entries);
	hdb_scan_close(s->scan);
	free(s->marks);
}

static const struct sql_column entry_columns[] = {
	{ "no COUNT", SQL_AT(SQL_U64, struct entries, entry.no) },
	{ "key", SQL_AT(SQL_BASIC_TEXT, struct entries, entry.key) },
	{ "key_id ID", SQL_AT(SQL_REFERENCE, struct entries, entry.key) },
	{ "value", SQL_AT(SQL_BASIC_TEXT, struct entries, entry.value) },
	{ "value_id ID", SQL_AT(SQL_REFERENCE, struct entries, entry.value) },
	{ "entry ID", SQL_AT(SQL_OBJECT, struct entries, entry.entry_ix) },
	{ "owner ID", SQL_AT(SQL_OBJECT, struct entries, owner) },
	{ "of ID HIDDEN", SQL_ARGUMENT },
};

const struct sql_table_def sql_entries = {
	.name = "entries",
	.help = "Entries of a collection",
	SQL_COLUMNS(entry_columns),
	.rows = 50,
	.state_size = sizeof(struct entries),
	.begin = begin_entries,
	.next = next_entries,
	.end = end_entries,
};

/* ---- elements ---- */

#define CHUNK 512

struct elements {
	uint32_t ix;
	uint64_t at;
	struct hdb_basic value;
	struct hdb_slice slice; /* bits of the elements */
	uint64_t bits[CHUNK];
};

static int begin_elements(struct sql_cursor *c, struct hdb_error *err)
{
	struct elements *s = c->state;
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	TRY(sql_value_object(c->source, c->key[0], &s->ix, err));
	TRY(hdb_object_at(c->db, s->ix, &facts, err));
	if (facts.kind != HDB_KIND_OBJECT_ARRAY && facts.kind != HDB_KIND_PRIMITIVE_ARRAY)
		return HDB_END;
	s->at = UINT64_MAX; /* index before the first element */
	return HDB_OK;
}

static int next_elements(struct sql_cursor *c, struct hdb_error *err)
{
	struct elements *s = c->state;

	s->at++;
	if (s->at - s->slice.from >= s->slice.count) {
		s->slice = (struct hdb_slice){ .struct_size = sizeof(struct hdb_slice),
					       .from = s->at,
					       .room = CHUNK,
					       .bits = s->bits };
		TRY(hdb_elements(c->db, s->ix, &s->slice, err));
		if (!s->slice.count)
			return HDB_END;
	}
	hdb_basic_of(s->slice.type, s->bits[s->at - s->slice.from], &s->value);
	return HDB_OK;
}

static const struct sql_column element_columns[] = {
	{ "no COUNT", SQL_AT(SQL_U64, struct elements, at) },
	{ "value", SQL_AT(SQL_BASIC, struct elements, value) },
	{ "text", SQL_AT(SQL_BASIC_TEXT, struct elements, value) },
	{ "of ID HIDDEN", SQL_ARGUMENT },
};

const struct sql_table_def sql_elements = {
	.name = "elements",
	.help = "Number of array elements",
	SQL_COLUMNS(element_columns),
	.rows = 100,
	.state_size = sizeof(struct elements),
	.begin = begin_elements,
	.next = next_elements,
};

/* ---- fields ---- */

struct fields {
	uint32_t ix;
	bool is_static;
	struct hdb_fields *fields; /* owned */
	size_t count, at;
	struct hdb_field field; /* the current field and its value */
	const char *type;
};

static int begin_fields(struct sql_cursor *c, struct hdb_error *err)
{
	struct fields *s = c->state;
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

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
	s->field = *hdb_field_at(s->fields, s->at);
	s->type = sql_type_name(s->field.type);
	if (!s->is_static)
		r = hdb_field_value(c->db, s->ix, hdb_field_at(s->fields, s->at), &s->field.value,
				    err);
	if (r != HDB_OK)
		s->field.value = null;
	return r < 0 ? r : HDB_OK;
}

static void end_fields(struct sql_cursor *c)
{
	hdb_fields_free(((struct fields *)c->state)->fields);
}

static const struct sql_column field_columns[] = {
	{ "name TEXT", SQL_AT(SQL_TEXT, struct fields, field.name) },
	{ "type TEXT", SQL_AT(SQL_STATIC, struct fields, type) },
	{ "value", SQL_AT(SQL_BASIC, struct fields, field.value) },
	{ "text", SQL_AT(SQL_BASIC_TEXT, struct fields, field.value) },
	{ "declared_in TEXT", SQL_AT(SQL_CLASS, struct fields, field.declaring_no) },
	{ "of ID HIDDEN", SQL_ARGUMENT },
};

const struct sql_table_def sql_fields = {
	.name = "fields",
	.help = "Fields of an object, with their values",
	SQL_COLUMNS(field_columns),
	.rows = 10,
	.state_size = sizeof(struct fields),
	.begin = begin_fields,
	.next = next_fields,
	.end = end_fields,
};

/*
 * query/row_values.c - the values of a query: shown columns, cells of the current row, and facts.
 */
#include "heap/heap_database.h"
#include "heap/values/text.h"
#include "heap/values/values.h"
#include "base/base_text.h"
#include "query/query.h"
#include "query/rows.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

/* Returns the index of a column by its name, or SIZE_MAX. */
static size_t find_column(const struct hdb_column *columns, size_t count, const char *name,
			  size_t name_size)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(columns[i].name) == name_size &&
		    memcmp(columns[i].name, name, name_size) == 0)
			return i;
	return SIZE_MAX;
}

size_t query_find_column(const struct query *q, const char *name)
{
	const struct hdb_query_spec *spec = &q->def->spec;

	for (size_t i = 0; q->renamed && i < spec->column_count; i++)
		if (q->renamed[i].name && strcmp(q->renamed[i].name, name) == 0)
			return i;
	return find_column(spec->columns, spec->column_count, name, strlen(name));
}

size_t query_find_shown(const struct query *q, const char *name)
{
	const size_t column = query_find_column(q, name);

	for (size_t i = 0; i < q->column_count; i++)
		if (q->columns[i] == column)
			return i;
	return column == SIZE_MAX ? SIZE_MAX : q->column_count + column;
}

const struct hdb_value *query_cell(const struct query *q, const char *column)
{
	return query_value(q, query_find_shown(q, column));
}

bool query_cell_is(const struct query *q, const char *column, const char *text)
{
	const struct hdb_value *v = query_cell(q, column);

	return v->type == HDB_TYPE_TEXT && v->text_size == strlen(text) &&
	       memcmp(v->text, text, v->text_size) == 0;
}

/* Maximum size of the list of columns in a message. */
#define LIST_BYTES 150

void query_fail(struct query *q, int code, const struct hdb_error *why)
{
	assert(code < 0);
	if (q->failure)
		return;
	q->failure = code;
	q->why = *why;
}

int query_failed(const struct query *q, struct hdb_error *err)
{
	if (q->failure && err)
		*err = q->why;
	return q->failure;
}

static void fail_memory(struct query *q, const char *what, uint64_t size)
{
	struct hdb_error why;

	query_fail(q, hdb_fail_memory(&why, what, size), &why);
}

int query_fail_column(const struct query *q, const char *name, size_t name_size,
		      struct hdb_error *err)
{
	const struct hdb_query_spec *spec = &q->def->spec;
	char list[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < spec->column_count && used < sizeof(list); i++) {
		const struct hdb_column *column = query_spec_column(q, i);

		if (used > LIST_BYTES) {
			(void)snprintf(list + used, sizeof(list) - used, ", ...");
			break;
		}
		/* The dump of this answer may lack these heaps. */
		if (strncmp(column->name, "retained_heap", 13) != 0)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", column->name);
	}
	return hdb_fail(err, HDB_EUSAGE, "%s has no column \"%.*s\"; available columns: %s",
			spec->name, (int)(name_size < 64 ? name_size : 64), name, list);
}

/* Finds a column by name. Names in this answer take precedence over names in the spec. */
static size_t named_column(const struct query *q, const char *name, size_t name_size)
{
	const struct hdb_query_spec *spec = &q->def->spec;

	for (size_t i = 0; q->renamed && i < spec->column_count; i++)
		if (q->renamed[i].name && strlen(q->renamed[i].name) == name_size &&
		    memcmp(q->renamed[i].name, name, name_size) == 0)
			return i;
	return find_column(spec->columns, spec->column_count, name, name_size);
}

int query_choose_named(struct query *q, const char *names, struct hdb_error *err)
{
	const struct hdb_query_spec *spec = &q->def->spec;
	size_t count = 0;

	for (const char *p = names;; p++) {
		const size_t size = strcspn(p, ",");
		const size_t column = named_column(q, p, size);

		if (column == SIZE_MAX)
			return query_fail_column(q, p, size, err);
		for (size_t i = 0; i < count; i++)
			if (q->columns[i] == column)
				return hdb_fail(err, HDB_EUSAGE, "column \"%s\" is listed twice",
						spec->columns[column].name);
		q->columns[count++] = column;
		p += size;
		if (!*p)
			break;
	}
	q->column_count = count;
	if (query_is_shown(q, q->label) && q->label_kind != SIZE_MAX &&
	    !query_is_shown(q, q->label_kind)) {
		q->columns[q->column_count++] = q->label_kind;
		q->columns[q->column_count++] = q->label_value;
	}
	return HDB_OK;
}

void query_choose(struct query *q, const char *names)
{
	struct hdb_error why;
	const int r = query_choose_named(q, names, &why);

	if (r < 0)
		query_fail(q, r, &why);
}

void query_rename(struct query *q, size_t column, const char *name, enum hdb_type type)
{
	const size_t count = q->def->spec.column_count;
	struct query_renamed *renamed;

	assert(column < q->def->spec.column_count);
	if (!q->renamed)
		q->renamed = calloc(count, sizeof(*q->renamed));
	if (!q->renamed) {
		fail_memory(q, "columns", count * sizeof(*q->renamed));
		return;
	}
	renamed = &q->renamed[column];
	free(renamed->name);
	renamed->name = strdup(name);
	if (!renamed->name) {
		fail_memory(q, "a column", strlen(name));
		return;
	}
	renamed->column = q->def->spec.columns[column];
	renamed->column.name = renamed->column.title = renamed->name;
	renamed->column.type = type;
}

bool query_is_shown(const struct query *q, size_t column)
{
	for (size_t i = 0; i < q->column_count; i++)
		if (q->columns[i] == column)
			return true;
	return false;
}

const struct hdb_column *query_column(const struct query *q, size_t column)
{
	if (column < q->column_count)
		return query_spec_column(q, q->columns[column]);
	column -= q->column_count;
	return column < q->def->spec.column_count ? query_spec_column(q, column) : NULL;
}

size_t query_column_count(const struct query *q)
{
	return q->column_count;
}

const struct hdb_value *query_value(const struct query *q, size_t column)
{
	static const struct hdb_value absent = { .type = HDB_TYPE_NULL };

	return column < q->column_count ? &q->cells[q->columns[column]] : &absent;
}

/* ---- cells ---- */

/* Returns whether values of this type are stored in `u`. */
static bool is_unsigned(enum hdb_type type)
{
	return type == HDB_TYPE_COUNT || type == HDB_TYPE_BYTES || type == HDB_TYPE_ID ||
	       type == HDB_TYPE_BOOL;
}

static struct hdb_value *cell(struct query *q, size_t column)
{
	assert(column < q->def->spec.column_count);
	q->cells[column].type = query_spec_column(q, column)->type;
	return &q->cells[column];
}

void query_null(struct query *q, size_t column)
{
	assert(column < q->def->spec.column_count);
	q->cells[column].type = HDB_TYPE_NULL;
}

void query_set(struct query *q, size_t column, uint64_t value)
{
	struct hdb_value *out = cell(q, column);

	assert(is_unsigned(out->type));
	out->u = value;
}

void query_set_int(struct query *q, size_t column, int64_t value)
{
	struct hdb_value *out = cell(q, column);

	assert(out->type == HDB_TYPE_INT);
	out->i = value;
}

void query_set_double(struct query *q, size_t column, double value)
{
	struct hdb_value *out = cell(q, column);

	assert(!is_unsigned(out->type) && out->type != HDB_TYPE_TEXT);
	out->d = value;
}

void query_lend_text_n(struct query *q, size_t column, const char *text, size_t size)
{
	struct hdb_value *value = cell(q, column);

	assert(value->type == HDB_TYPE_TEXT);
	assert(text || !size);
	value->text = text;
	value->text_size = size;
}

void query_lend_text(struct query *q, size_t column, const char *text)
{
	query_lend_text_n(q, column, text, strlen(text));
}

void query_set_text_n(struct query *q, size_t column, const char *text, size_t size)
{
	struct hdb_value *value = cell(q, column);
	struct hdb_error why;
	int r;

	/*
	 * row_text moves as it grows, so store an offset until the row is complete
	 * (query_place_texts).
	 */
	value->text = NULL;
	value->u = q->row_text.count;
	value->text_size = size;
	if (!size) {
		value->text = "";
		return;
	}
	if ((r = base_bytes_append(&q->row_text, text, size, &why)) < 0) {
		query_fail(q, r, &why);
		query_null(q, column);
		return;
	}
	/* The string may have been truncated within a character. */
	value->text_size = heap_drop_broken((char *)q->row_text.data + value->u, size);
	q->row_text.count = value->u + value->text_size;
}

/* Size of the buffer for a string, large enough for most. */
#define STRING_BYTES 4096
/* Maximum size of a string, large enough for class paths and documents. */
#define QUERY_STRING_MAX_BYTES ((size_t)1 << 20)

/* The text of a string. */
struct string_text {
	char small[STRING_BYTES];
	char *large; /* owned; NULL if the string is in `small` */
	size_t size;
};

/* Reads a string. After a failure, nothing needs to be freed. */
static int read_string(struct query *q, uint32_t ix, struct string_text *text,
		       struct hdb_error *err)
{
	/* cppcheck-suppress ctuuninitvar ; the function writes the array and does not read it */
	struct heap_utf8 out = { .buf = text->small, .size = STRING_BYTES };
	int r;

	text->large = NULL;
	TRY(heap_string_text(q->heap, ix, &out, err));
	text->size = out.used;
	if (out.is_whole)
		return HDB_OK;
	text->large = out.buf = malloc(QUERY_STRING_MAX_BYTES + BASE_CUT_MARK_BYTES);
	if (!text->large)
		return hdb_fail_memory(err, "a string's text", QUERY_STRING_MAX_BYTES);
	out.size = QUERY_STRING_MAX_BYTES;
	r = heap_string_text(q->heap, ix, &out, err);
	if (r != HDB_OK) {
		free(text->large);
		return r;
	}
	if (!out.is_whole)
		out.used += base_cut_mark(out.buf + out.used, out.units, "characters", false);
	text->size = out.used;
	return HDB_OK;
}

int query_set_string(struct query *q, size_t column, uint32_t ix, struct hdb_error *err)
{
	struct string_text text;

	TRY(read_string(q, ix, &text, err));
	query_set_text_n(q, column, text.large ? text.large : text.small, text.size);
	free(text.large);
	return HDB_OK;
}

int query_fact_string(struct query *q, const char *name, uint32_t ix, struct hdb_error *err)
{
	struct string_text text;

	TRY(read_string(q, ix, &text, err));
	query_fact_text_n(q, name, text.large ? text.large : text.small, text.size);
	free(text.large);
	return HDB_OK;
}

void query_set_text(struct query *q, size_t column, const char *text)
{
	query_set_text_n(q, column, text, strlen(text));
}

void query_format(struct query *q, size_t column, const char *format, ...)
{
	char *large;
	char small[256];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	assert(size >= 0);
	if ((size_t)size < sizeof(small)) {
		query_set_text_n(q, column, small, (size_t)size);
		return;
	}
	large = malloc((size_t)size + 1);
	if (!large) {
		fail_memory(q, "a string", (uint64_t)size);
		return;
	}
	va_start(args, format);
	(void)vsnprintf(large, (size_t)size + 1, format, args);
	va_end(args);
	query_set_text_n(q, column, large, (size_t)size);
	free(large);
}

void query_clear_cells(struct query *q)
{
	q->row_text.count = 0;
	for (size_t i = 0; i < q->def->spec.column_count; i++)
		q->cells[i].type = HDB_TYPE_NULL;
}

void query_place_texts(struct query *q)
{
	for (size_t i = 0; i < q->def->spec.column_count; i++) {
		struct hdb_value *value = &q->cells[i];

		if (value->type == HDB_TYPE_TEXT && !value->text)
			value->text = (const char *)q->row_text.data + value->u;
	}
}

void query_unplace_texts(struct query *q)
{
	for (size_t i = 0; i < q->def->spec.column_count; i++) {
		struct hdb_value *value = &q->cells[i];

		/* Borrowed and empty strings need no change. */
		if (value->type == HDB_TYPE_TEXT && value->text_size && q->row_text.data &&
		    value->text == (const char *)q->row_text.data + value->u)
			value->text = NULL;
	}
}

/* ---- common cells ---- */

void query_set_id(struct query *q, size_t column, uint32_t ix)
{
	struct hdb_error why;
	uint64_t id;
	int r;

	if (ix == HEAP_NONE)
		query_null(q, column);
	else if ((r = heap_id(q->heap, ix, &id, &why)) < 0)
		query_fail(q, r, &why);
	else
		query_set(q, column, id);
}

void query_set_class_of(struct query *q, size_t column, uint32_t ix)
{
	struct heap_object object;
	struct hdb_error why;
	int r;

	if (ix == HEAP_NONE) {
		query_null(q, column);
	} else if ((r = heap_object(q->heap, ix, &object, &why)) < 0) {
		query_fail(q, r, &why);
	} else if (object.kind == STORE_CLASS) {
		query_format(q, column, "class %s",
			     heap_class_name(q->heap, (uint32_t)object.length));
	} else {
		query_lend_text(q, column, heap_class_name(q->heap, object.class_no));
	}
}

/* ---- facts ---- */

/* Inserts a fact in the order of the spec. Returns NULL if memory is exhausted. */
static struct query_fact *make_fact(struct query *q, const char *name)
{
	const struct hdb_query_spec *spec = &q->def->spec;
	const size_t no = find_column(spec->facts, spec->fact_count, name, strlen(name));
	const struct hdb_column *column;
	size_t at = 0;

	assert(name);
	if (no == SIZE_MAX) {
		struct hdb_error why;

		query_fail(q, hdb_fail(&why, HDB_EBUG, "%s has no fact \"%s\"", spec->name, name),
			   &why);
		return NULL;
	}
	column = &spec->facts[no];
	if (!q->facts)
		q->facts = calloc(spec->fact_count, sizeof(*q->facts));
	if (!q->facts) {
		fail_memory(q, "facts", spec->fact_count * sizeof(*q->facts));
		return NULL;
	}
	while (at < q->fact_count && q->facts[at].column < column)
		at++;
	if (at < q->fact_count && q->facts[at].column == column) {
		free(q->facts[at].text);
	} else {
		memmove(&q->facts[at + 1], &q->facts[at], (q->fact_count - at) * sizeof(*q->facts));
		q->fact_count++;
	}
	q->facts[at] = (struct query_fact){ .column = column, .value = { .type = column->type } };
	return &q->facts[at];
}

void query_fact(struct query *q, const char *name, uint64_t value)
{
	struct query_fact *fact = make_fact(q, name);

	if (fact)
		fact->value.u = value;
}

void query_fact_id(struct query *q, const char *name, uint32_t ix)
{
	struct hdb_error why;
	uint64_t id;
	const int r = heap_id(q->heap, ix, &id, &why);

	if (r < 0)
		query_fail(q, r, &why);
	else
		query_fact(q, name, id);
}

void query_fact_object(struct query *q, uint32_t ix)
{
	struct heap_object object;
	struct hdb_error why;
	const int r = heap_object(q->heap, ix, &object, &why);

	query_fact_id(q, "id", ix);
	if (r < 0)
		query_fail(q, r, &why);
	else
		query_fact_text(q, "class", heap_class_name(q->heap, object.class_no));
}

void query_fact_int(struct query *q, const char *name, int64_t value)
{
	struct query_fact *fact = make_fact(q, name);

	if (fact)
		fact->value.i = value;
}

void query_fact_text_n(struct query *q, const char *name, const char *text, size_t size)
{
	struct query_fact *fact = make_fact(q, name);

	if (!fact)
		return;
	fact->text = malloc(size + 1);
	if (!fact->text) {
		fact->value.type = HDB_TYPE_NULL;
		fail_memory(q, "a fact", size);
		return;
	}
	memcpy(fact->text, text, size);
	fact->value.text = fact->text;
	fact->value.text_size = heap_drop_broken(fact->text, size);
	fact->text[fact->value.text_size] = '\0';
}

void query_fact_text(struct query *q, const char *name, const char *text)
{
	query_fact_text_n(q, name, text, strlen(text));
}

void query_zeroed(struct query *q)
{
	const uint64_t from = heap_meta_number(q->heap, "zeroed.texts", 0);

	if (from)
		query_fact(q, "zeroed_from", from);
}

bool query_has_fact(const struct query *q, const char *name)
{
	const struct hdb_query_spec *spec = &q->def->spec;

	return find_column(spec->facts, spec->fact_count, name, strlen(name)) != SIZE_MAX;
}

size_t query_fact_count(const struct query *q)
{
	return q->common_count + q->fact_count;
}

static const struct query_fact *fact_at(const struct query *q, size_t fact)
{
	assert(fact < query_fact_count(q));
	return fact < q->common_count ? &q->common[fact] : &q->facts[fact - q->common_count];
}

const struct hdb_column *query_fact_column(const struct query *q, size_t fact)
{
	return fact_at(q, fact)->column;
}

const struct hdb_value *query_fact_value(const struct query *q, size_t fact)
{
	return &fact_at(q, fact)->value;
}

/*
 * mcp/mcp_answer.c - converts an answer to JSON within a budget: whole rows, totals, and a cursor
 * for the next page. Treats all queries alike.
 */
#include "mcp_private.h"

#include "common/door_rows.h"
#include "oql/oql.h"
#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"
#endif

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Number of bytes reserved for the parts of an answer other than rows and facts: names, counts,
 * cursor, note.
 */
#define FRAME_BYTES 400
/* Minimum size of a row in bytes. */
#define ROW_MIN 4

size_t mcp_size(const json_t *value)
{
	return json_dumpb(value, NULL, 0, MCP_DUMP | JSON_ENCODE_ANY);
}

/*
 * Makes a string of at most `max` bytes, cut at a character boundary, with a note that states its
 * length.
 */
static json_t *cut_text(const char *text, size_t size, size_t max)
{
	char cut[MCP_TEXT_MAX + 40];

	assert(max <= MCP_TEXT_MAX);
	if (size <= max)
		return json_stringn(text, size);
	while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	memcpy(cut, text, max);
	max += (size_t)snprintf(cut + max, sizeof(cut) - max, "\xe2\x80\xa6 (%zu bytes)", size);
	return json_stringn(cut, max);
}

/* Makes a value from a string of heapdb itself, which does not come from the dump. */
static json_t *plain_value(const struct hdb_value *value, size_t max)
{
	char text[MCP_TEXT_MAX + 1];

	snprintf(text, sizeof(text), "%.*s", (int)value->text_size, value->text);
	mcp_plain(text);
	return cut_text(text, strlen(text), max);
}

/*
 * Converts a value to JSON. IDs become strings, because clients may convert numbers to doubles and
 * lose digits.
 */
static json_t *json_of(const struct hdb_value *value, size_t text_max)
{
	char text[32];

	switch (value->type) {
	case HDB_TYPE_COUNT:
	case HDB_TYPE_BYTES:
		if (value->u <= INT64_MAX)
			return json_integer((json_int_t)value->u);
		snprintf(text, sizeof(text), "%" PRIu64, value->u);
		return json_string(text);
	case HDB_TYPE_ID:
		snprintf(text, sizeof(text), "0x%" PRIx64, value->u);
		return json_string(text);
	case HDB_TYPE_INT:
		return json_integer((json_int_t)value->i);
	case HDB_TYPE_DOUBLE:
		return isfinite(value->d) ? json_real(value->d) :
					    json_string(isnan(value->d) ? "NaN" :
							value->d > 0    ? "Infinity" :
									  "-Infinity");
	case HDB_TYPE_PERCENT:
		return isfinite(value->d) ? json_real(round(100 * value->d) / 100) : json_null();
	case HDB_TYPE_BOOL:
		return json_boolean(value->u);
	case HDB_TYPE_TEXT:
		return cut_text(value->text, value->text_size, text_max);
	case HDB_TYPE_NULL:
		break;
	}
	return json_null();
}

/* Sets a key. Returns -1 if memory is exhausted. */
static int put(json_t *object, const char *name, const struct hdb_value *value, size_t text_max)
{
	const bool is_ours = value->type == HDB_TYPE_TEXT &&
			     (strcmp(name, "help") == 0 || strcmp(name, "cut") == 0);

	return json_object_set_new(
		object, name, is_ours ? plain_value(value, text_max) : json_of(value, text_max));
}

static json_t *facts_of(const struct hdb_rows *rows, size_t text_max)
{
	json_t *facts = json_object();

	for (size_t i = 0; facts && i < hdb_rows_fact_count(rows); i++) {
		const struct hdb_value *value = hdb_rows_fact_value(rows, i);

		if (value->type != HDB_TYPE_NULL &&
		    put(facts, hdb_rows_fact_column(rows, i)->name, value, text_max) < 0) {
			json_decref(facts);
			return NULL;
		}
	}
	return facts;
}

static bool is_requested(const json_t *columns, const char *name)
{
	for (size_t i = 0; i < json_array_size(columns); i++) {
		if (strcmp(json_string_value(json_array_get(columns, i)), name) == 0)
			return true;
	}
	return !columns;
}

struct filling {
	struct hdb_row_source from;
	const base_flag *cancel;
	struct mcp_page *page;
	bool with_nulls; /* whether to write null values instead of omitting them */
	json_t *list;    /* rows that fit; owned */
	size_t used;     /* bytes used */
	bool is_full;    /* whether a row did not fit or the limit was reached */
	bool is_cut;     /* whether a row was omitted because it did not fit */
};

static json_t *row_of(const struct filling *f, size_t text_max)
{
	json_t *row = json_object();

	for (size_t i = 0; row && i < f->from.column_count; i++) {
		const char *name = f->from.column(f->from.ctx, i)->name;
		const struct hdb_value *value = f->from.value(f->from.ctx, i);

		if ((f->with_nulls || value->type != HDB_TYPE_NULL) &&
		    is_requested(f->page->columns, name) && put(row, name, value, text_max) < 0) {
			json_decref(row);
			return NULL;
		}
	}
	return row;
}

static int refuse_column(const struct hdb_rows *rows, const char *name, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes names = { 0 };

	for (size_t i = 0; i < hdb_rows_column_count(rows); i++)
		bytes_format(&names, "%s%s", names.size ? ", " : "",
			     hdb_rows_column(rows, i)->name);
	return hdb_fail(err, HDB_EUSAGE, "no such column: \"%.60s\"; available columns: %.*s", name,
			(int)names.size, names.size ? names.data : "");
}

/* Fails with HDB_EUSAGE if a requested column does not exist. */
static int check_columns(const struct hdb_rows *rows, const json_t *columns, struct hdb_error *err)
{
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const char *name = json_string_value(json_array_get(columns, i));

		if (!name || hdb_rows_find_column(rows, name) == SIZE_MAX)
			return refuse_column(rows, name ? name : "?", err);
	}
	return HDB_OK;
}

/*
 * Adds the current row, or sets is_full if it does not fit. The first row is shortened until it
 * fits.
 */
static int add_row(struct filling *f, struct hdb_error *err)
{
	const bool is_first = json_array_size(f->list) == 0;

	assert(!f->is_full);
	assert(f->used <= f->page->budget_bytes);
	for (size_t text_max = MCP_TEXT_MAX; text_max >= MCP_TEXT_MIN; text_max /= 2) {
		json_t *row = row_of(f, text_max);
		const size_t size = row ? mcp_size(row) + 1 : 0;

		if (!row)
			return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a row");
		if (size <= f->page->budget_bytes - f->used) {
			f->used += size;
			return json_array_append_new(f->list, row) == 0 ?
				       HDB_OK :
				       hdb_fail(err, HDB_ENOMEM,
						"cannot allocate memory for a row");
		}
		json_decref(row);
		if (!is_first)
			break;
	}
	f->is_full = f->is_cut = true;
	return is_first ? hdb_fail(err, HDB_ELIMIT,
				   "max_tokens is too small for a single row; use a larger "
				   "value or fewer columns") :
			  HDB_OK;
}

static int fill(struct filling *f, struct hdb_error *err)
{
	const struct mcp_page *page = f->page;
	uint64_t no = 0;
	int r;

	assert(json_array_size(f->list) == 0);
	while (!f->is_full && (r = f->from.next(f->from.ctx, err)) != HDB_END) {
		TRY_ERRORS(r);
		if (base_flag_is_set(f->cancel))
			return hdb_fail(err, HDB_EINTR, "cancelled");
		if (no++ < page->offset)
			continue;
		TRY(add_row(f, err));
		if (page->limit && json_array_size(f->list) == page->limit)
			f->is_full = true;
	}
	return HDB_OK;
}

/* Adds the facts and counts their size against the budget. */
static int put_facts(struct filling *f, const struct hdb_rows *rows, json_t *answer,
		     struct hdb_error *err)
{
	for (size_t text_max = MCP_TEXT_MAX; !f->page->without_facts; text_max /= 2) {
		json_t *facts = facts_of(rows, text_max);
		const size_t size = facts ? mcp_size(facts) : 0;

		if (!facts)
			return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for an answer");
		if (size <= f->page->budget_bytes / 2 || text_max < MCP_TEXT_MIN) {
			f->used += size;
			json_object_set_new(answer, "facts", facts);
			break;
		}
		json_decref(facts);
	}
	if (f->used >= f->page->budget_bytes)
		return hdb_fail(err, HDB_ELIMIT,
				"max_tokens is too small: the facts alone do not fit");
	return HDB_OK;
}

static int put_counts(struct filling *f, struct hdb_rows *rows, json_t *answer,
		      struct hdb_error *err)
{
	const size_t count = json_array_size(f->list);
	uint64_t total;

	TRY(hdb_rows_total(rows, &total, err));
	f->page->next = f->page->offset + count < total && count > 0 ? f->page->offset + count : 0;
	json_object_set(answer, "rows", f->list);
	json_object_set_new(answer, "row_count", json_integer((json_int_t)count));
	json_object_set_new(answer, "total_rows", json_integer((json_int_t)total));
	if (f->page->offset)
		json_object_set_new(answer, "from_row", json_integer((json_int_t)f->page->offset));
	return HDB_OK;
}

static const struct hdb_column *rows_column(void *rows, size_t column)
{
	return hdb_rows_column(rows, column);
}

static int rows_next(void *rows, struct hdb_error *err)
{
	return hdb_rows_next(rows, err);
}

static const struct hdb_value *rows_value(void *rows, size_t column)
{
	return hdb_rows_value(rows, column);
}

int mcp_answer(struct hdb *db, const struct mcp_question *question, struct mcp_page *page,
	       json_t **out, struct hdb_error *err)
{
	struct hdb_query_args args = question->args;
	DOOR_ROWS *rows = NULL;
	json_auto_t *list = json_array();
	struct filling f = {
		.from = { .column = rows_column, .next = rows_next, .value = rows_value },
		.cancel = question->cancel,
		.page = page,
		.list = list,
		.used = FRAME_BYTES,
	};
	json_auto_t *answer = json_pack("{s:s}", "query", question->spec->name);
	const uint64_t room = page->limit ? page->limit : page->budget_bytes / ROW_MIN + 1;

	page->next = 0;
	if (!answer || !f.list)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for an answer");
	args.limit = page->offset > UINT64_MAX - room ? UINT64_MAX : page->offset + room;
	TRY(hdb_query(db, question->spec->name, &args, &rows, err));
	f.from.ctx = rows;
	f.from.column_count = hdb_rows_column_count(rows);
	TRY(check_columns(rows, page->columns, err));
	TRY(put_facts(&f, rows, answer, err));
	TRY(fill(&f, err));
	TRY(put_counts(&f, rows, answer, err));
	*out = json_incref(answer);
	return HDB_OK;
}

/* ---- statements ---- */

#ifdef HAVE_SQLITE
static int run_sql(const struct mcp_statement *statement, const char *text,
		   struct hdb_row_source *out, struct hdb_error *err)
{
	const struct heapsql_options options = { .cancel = statement->cancel };
	const struct heapsql_database database = { .db = statement->db, .all = statement->all };

	return heapsql_source(&database, text, &options, out, err);
}

static bool why_empty(const struct mcp_statement *statement, char *why, size_t size)
{
	const struct heapsql_database database = { .db = statement->db, .all = statement->all };

	return statement->is_sql && heapsql_why_source_empty(&database, statement->text, why, size);
}
#else
static bool why_empty(const struct mcp_statement *statement, char *why, size_t size)
{
	(void)statement;
	(void)why;
	(void)size;
	return false;
}
#endif

static int run(const struct mcp_statement *statement, struct hdb_row_source *out,
	       struct hdb_error *err)
{
	const struct oql_options options = { .progress = { .cancel = statement->cancel } };
	const struct oql_str text = { statement->text, strlen(statement->text) };
#ifdef HAVE_SQLITE
	BASE_FREED char *translated = NULL;
	int r;

	if (statement->is_sql)
		return run_sql(statement, statement->text, out, err);
	r = oql_to_sql(text, &translated, err); /* a statement in VisualVM's dialect */
	if (r != HDB_NOTFOUND)
		return r == HDB_OK ? run_sql(statement, translated, out, err) : r;
#endif
	return oql_source(statement->db, text, &options, out, err);
}

int mcp_answer_statement(const struct mcp_statement *statement, struct mcp_page *page, json_t **out,
			 struct hdb_error *err)
{
	json_auto_t *list = json_array();
	struct filling f = {
		.cancel = statement->cancel,
		.page = page,
		.with_nulls = true,
		.list = list,
		.used = FRAME_BYTES,
	};
	char why[512];
	int r;

	TRY(run(statement, &f.from, err));
	r = fill(&f, err);
	if (r >= 0)
		*out = json_pack("{s:O, s:I}", "rows", list, "row_count",
				 (json_int_t)json_array_size(list));
	if (r >= 0 && (f.is_cut || (f.is_full && f.from.next(f.from.ctx, NULL) == HDB_OK)))
		json_object_set_new(*out, "cut",
				    json_string("more rows follow; use LIMIT and OFFSET"));
	if (r >= 0 && json_array_size(list) == 0 && why_empty(statement, why, sizeof(why)))
		json_object_set_new(*out, "note", json_string(why));
	f.from.close(f.from.ctx);
	return r;
}

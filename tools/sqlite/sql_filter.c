/*
 * sqlite/sql_filter.c - an expression that is tested on rows of an answer: a table of one row, the
 * answer's, and a statement that has a row where the expression holds.
 */
#include "sqlite/sql_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heapsql_filter {
	struct heapsql *sql;
	struct sql_source *source;
	sqlite3_stmt *statement;
	char *declaration; /* of the table; sqlite3_free */
	size_t count;
	sqlite3_uint64 used;                   /* columns, as sqlite3_index_info.colUsed */
	const struct hdb_value *const *values; /* of the row that is tested; lent */
};

struct row_table {
	struct sqlite3_vtab base;
	struct heapsql_filter *filter;
};

struct row_cursor {
	struct sqlite3_vtab_cursor base;
	struct heapsql_filter *filter;
	bool at_end;
};

/* ---- the table of one row ---- */

/* NOLINTNEXTLINE(readability-function-size): SQLite says which parameters */
static int connect_row(sqlite3 *sqlite, void *aux, int argc, const char *const *argv,
		       sqlite3_vtab **out, char **message)
{
	struct heapsql_filter *filter = aux;
	const int rc = sql_connect(filter->source, sqlite, filter->declaration,
				   sizeof(struct row_table), out);

	(void)argc;
	(void)argv;
	(void)message;
	if (rc != SQLITE_OK)
		return rc;
	((struct row_table *)*out)->filter = filter;
	return SQLITE_OK;
}

static int best_row(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	((struct row_table *)vtab)->filter->used |= info->colUsed;
	info->estimatedCost = 1;
	info->estimatedRows = 1;
	return SQLITE_OK;
}

static int open_row(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	TRY(sql_open_cursor(sizeof(struct row_cursor), out));
	((struct row_cursor *)*out)->filter = ((struct row_table *)vtab)->filter;
	return SQLITE_OK;
}

static int close_row(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int filter_row(sqlite3_vtab_cursor *cursor, int index, const char *text, int argc,
		      sqlite3_value **argv)
{
	(void)index;
	(void)text;
	(void)argc;
	(void)argv;
	((struct row_cursor *)cursor)->at_end = false;
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
	((struct row_cursor *)cursor)->at_end = true;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct row_cursor *)cursor)->at_end;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int number)
{
	const struct heapsql_filter *filter = ((struct row_cursor *)cursor)->filter;

	if (filter->values && (size_t)number < filter->count)
		sql_result_value(ctx, filter->values[number]);
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	(void)cursor;
	*out = 1;
	return SQLITE_OK;
}

static const struct sqlite3_module module = {
	.iVersion = 0,
	.xConnect = connect_row,
	.xBestIndex = best_row,
	.xDisconnect = sql_disconnect,
	.xOpen = open_row,
	.xClose = close_row,
	.xFilter = filter_row,
	.xNext = next_row,
	.xEof = is_at_end,
	.xColumn = column,
	.xRowid = row_id,
};

/* ---- opening ---- */

static bool is_named_before(const struct hdb_column *const *columns, size_t column)
{
	for (size_t i = 0; i < column; i++)
		if (sqlite3_stricmp(columns[i]->name, columns[column]->name) == 0)
			return true;
	return false;
}

/* Columns by name; a second one of a name, as of a field "id", has its number behind it. */
static char *declare(const struct hdb_column *const *columns, size_t count)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (size_t i = 0; i < count; i++) {
		sqlite3_str_appendf(text, i ? ", \"%w" : "\"%w", columns[i]->name);
		if (is_named_before(columns, i))
			sqlite3_str_appendf(text, "_%zu", i + 1);
		sqlite3_str_appendf(text, "\" %s", sql_column_type(columns[i]->type));
	}
	return sqlite3_str_finish(text);
}

/* "no such column: x; there are: id, label" */
static int fail_expression(struct heapsql_filter *f, int rc,
			   const struct hdb_column *const *columns, struct hdb_error *err)
{
	int r = sql_fail_of(f->sql, rc, err);
	size_t used = err ? strlen(err->message) : 0;

	if (!err || strncmp(err->message, "no such column", 14) != 0)
		return r;
	for (size_t i = 0; i < f->count && used + 1 < sizeof(err->message); i++) {
		const bool is_plain = !strpbrk(columns[i]->name, ".$-");

		used += (size_t)snprintf(err->message + used, sizeof(err->message) - used,
					 is_plain ? "%s%s" : "%s\"%s\"",
					 i ? ", " : "; there are: ", columns[i]->name);
	}
	return r;
}

static int prepare(struct heapsql_filter *f, const char *expression,
		   const struct hdb_column *const *columns, struct hdb_error *err)
{
	sqlite3 *sqlite = f->source->sqlite;
	/* A line of its own: it may end in a comment. */
	char *text =
		sqlite3_mprintf("SELECT 1 FROM \"heapdb row\" AS row WHERE (%s\n)", expression);
	const char *rest = "";
	int rc, r = HDB_OK;

	if (!text)
		return sql_fail(err, HDB_ENOMEM, "no memory for an expression");
	if ((rc = sqlite3_create_module_v2(sqlite, "heapdb row", &module, f, NULL)) == SQLITE_OK) {
		(void)sql_set_guard(f->sql, true);
		rc = sqlite3_prepare_v2(sqlite, text, -1, &f->statement, &rest);
	}
	if (rc != SQLITE_OK)
		r = fail_expression(f, rc, columns, err);
	else if (!f->statement || rest[strspn(rest, " \t\r\n;")])
		r = sql_fail(err, HDB_EUSAGE, "expected one expression, not \"%.200s\"",
			     expression);
	sqlite3_free(text);
	return r;
}

int heapsql_filter_open(struct heapsql *sql, const char *expression,
			const struct heapsql_columns *columns, struct heapsql_filter **out,
			struct hdb_error *err)
{
	struct heapsql_filter *f;
	int r;

	TRY(SQL_ALLOC(f, 1, "an expression", err));
	f->sql = sql;
	f->source = sql_first_source(sql);
	f->count = columns->count;
	f->declaration = declare(columns->list, columns->count);
	if (!f->source)
		r = sql_fail(err, HDB_EUSAGE, "no database");
	else if (!f->declaration)
		r = sql_fail(err, HDB_ENOMEM, "no memory for columns");
	else
		r = prepare(f, expression, columns->list, err);
	if (r < 0) {
		heapsql_filter_close(f);
		return r;
	}
	*out = f;
	return HDB_OK;
}

void heapsql_filter_close(struct heapsql_filter *f)
{
	if (!f)
		return;
	sqlite3_finalize(f->statement);
	if (f->source)
		(void)sqlite3_create_module_v2(f->source->sqlite, "heapdb row", NULL, NULL, NULL);
	sqlite3_free(f->declaration);
	free(f);
}

bool heapsql_filter_uses(const struct heapsql_filter *f, size_t column)
{
	return f->used >> (column < 63 ? column : 63) & 1;
}

int heapsql_filter_test(struct heapsql_filter *f, const struct hdb_value *const *values,
			bool *holds, struct hdb_error *err)
{
	int rc;

	f->values = values;
	f->source->err.code = HDB_OK;
	rc = sqlite3_step(f->statement);
	*holds = rc == SQLITE_ROW;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		const int r = sql_fail_of(f->sql, rc, err);

		(void)sqlite3_reset(f->statement);
		return r;
	}
	(void)sqlite3_reset(f->statement);
	return HDB_OK;
}

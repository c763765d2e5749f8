/*
 * sqlite/sql_arrow.c - rows of a statement as an Arrow stream.
 */
#include "sqlite/sql_private.h"
#include "sqlite/sqlite.h"

#include "common/typed_rows.h"

struct statement {
	struct heapsql *sql;       /* owned */
	struct heapsql_rows *rows; /* owned */
	char *text;                /* owned */
};

static void close_statement(void *ctx)
{
	struct statement *s = ctx;

	heapsql_rows_close(s->rows);
	heapsql_close(s->sql);
	free(s->text);
	free(s);
}

static int start(void *ctx, struct hdb_error *err)
{
	struct statement *s = ctx;
	const char *rest;

	heapsql_rows_close(s->rows);
	s->rows = NULL;
	TRY_ERRORS(heapsql_prepare(s->sql, s->text, &rest, &s->rows, err));
	if (!s->rows)
		return hdb_fail(err, HDB_EUSAGE, "no SQL statement given");
	if (rest[strspn(rest, " \t\r\n;")])
		return hdb_fail(err, HDB_EUSAGE, "only one statement is allowed");
	return heapsql_column_count(s->rows) ?
		       HDB_OK :
		       hdb_fail(err, HDB_EUSAGE, "the statement has no columns");
}

static const struct hdb_column *column_at(void *ctx, size_t column)
{
	return heapsql_column(((struct statement *)ctx)->rows, column);
}

static int next_row(void *ctx, struct hdb_error *err)
{
	return heapsql_next(((struct statement *)ctx)->rows, err);
}

static const struct hdb_value *value_at(void *ctx, size_t column)
{
	return heapsql_value(((struct statement *)ctx)->rows, column);
}

static bool is_typed(void *ctx, size_t column)
{
	return heapsql_is_typed(((struct statement *)ctx)->rows, column);
}

int heapsql_source(const struct heapsql_database *database, const char *text,
		   const struct heapsql_options *opt, struct hdb_row_source *out,
		   struct hdb_error *err)
{
	struct statement *s;
	int r;

	TRY(BASE_ALLOC(s, 1, "a statement", err));
	s->text = strdup(text);
	r = s->text ? HDB_OK : hdb_fail_memory(err, "a statement", strlen(text));
	if (r >= 0)
		r = heapsql_open(opt, &s->sql, err);
	if (r >= 0)
		r = heapsql_add(s->sql, database, err);
	if (r >= 0)
		r = start(s, err);
	if (r < 0) {
		close_statement(s);
		return r;
	}
	*out = (struct hdb_row_source){
		.struct_size = sizeof(struct hdb_row_source),
		.ctx = s,
		.column_count = heapsql_column_count(s->rows),
		.column = column_at,
		.next = next_row,
		.value = value_at,
		.close = close_statement,
	};
	return HDB_OK;
}

int heapsql_arrow(struct hdb *db, const char *statement, const struct heapsql_arrow_options *opt,
		  struct ArrowArrayStream *out, struct hdb_error *err)
{
	const struct heapsql_database database = { .db = db, .all = opt->all };
	struct typed_source source = { .is_typed = is_typed, .restart = start };

	TRY(heapsql_source(&database, statement, &opt->sql, &source.rows, err));
	return typed_rows_arrow(&source, opt->batch_rows, out, err);
}

bool heapsql_why_source_empty(const struct heapsql_database *database, const char *text, char *why,
			      size_t size)
{
	struct heapsql *sql = NULL;
	struct hdb_error err;
	const bool is_known = heapsql_open(NULL, &sql, &err) == HDB_OK &&
			      heapsql_add(sql, database, &err) == HDB_OK &&
			      heapsql_why_empty(sql, text, why, size);

	heapsql_close(sql);
	return is_known;
}

bool heapsql_has_table(const char *name)
{
	struct heapsql_table table;
	size_t left;

	for (size_t no = 0; sql_table_at(no, &table, &left); no++)
		if (strcmp(table.name, name) == 0)
			return true;
	return false;
}

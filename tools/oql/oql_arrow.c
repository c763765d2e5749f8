/*
 * oql/oql_arrow.c - returns a statement's rows as a row source or Arrow stream.
 */
#include "oql/oql.h"

#include "base/error.h"
#include "base/scope.h"
#include "common/typed_rows.h"

#include <stdlib.h>
#include <string.h>

struct statement {
	struct hdb *db;
	struct oql_options opt;
	struct oql *oql; /* owned */
	char *text;      /* owned */
};

static void close_statement(void *ctx)
{
	struct statement *s = ctx;

	oql_close(s->oql);
	free(s->text);
	free(s);
}

static int start(void *ctx, struct hdb_error *err)
{
	struct statement *s = ctx;

	oql_close(s->oql);
	s->oql = NULL;
	return oql_open(s->db, (struct oql_str){ s->text, strlen(s->text) }, &s->opt, &s->oql, err);
}

static const struct hdb_column *column_at(void *ctx, size_t column)
{
	return oql_column(((struct statement *)ctx)->oql, column);
}

static int next_row(void *ctx, struct hdb_error *err)
{
	return oql_next(((struct statement *)ctx)->oql, err);
}

static const struct hdb_value *value_at(void *ctx, size_t column)
{
	return oql_value(((struct statement *)ctx)->oql, column);
}

int oql_source(struct hdb *db, struct oql_str text, const struct oql_options *opt,
	       struct hdb_row_source *out, struct hdb_error *err)
{
	struct statement *s;
	int r;

	TRY(BASE_ALLOC(s, 1, "a statement", err));
	s->db = db;
	s->opt = *opt;
	s->text = strndup(text.data, text.size);
	r = s->text ? start(s, err) : hdb_fail_memory(err, "a statement", text.size);
	if (r < 0) {
		close_statement(s);
		return r;
	}
	*out = (struct hdb_row_source){
		.struct_size = sizeof(struct hdb_row_source),
		.ctx = s,
		.column_count = oql_column_count(s->oql),
		.column = column_at,
		.next = next_row,
		.value = value_at,
		.close = close_statement,
	};
	return HDB_OK;
}

int oql_arrow(struct hdb *db, struct oql_str text, const struct oql_options *opt,
	      struct ArrowArrayStream *out, struct hdb_error *err)
{
	struct typed_source source = { .restart = start };

	TRY(oql_source(db, text, opt, &source.rows, err));
	return typed_rows_arrow(&source, opt->batch_rows, out, err);
}

/*
 * heapdb/where.c - --where: filters rows with SQLite. This is part of the command, because the
 * library does not depend on SQLite.
 */
#include "heapdb/where.h"

#include "heapdb/sql_shell.h"

#include <stdio.h>
#include <string.h>

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"
#endif

void where_table(const struct hdb_query_spec *query, char *name, size_t size)
{
	const char *prefix = "query_";

	snprintf(name, size, "%s%s", prefix, query->name);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
#ifdef HAVE_SQLITE
	/* the prefix is needed only if a table has the same name as the query */
	if (heapsql_has_table(name))
		return;
#endif
	memmove(name, name + strlen(prefix), strlen(name + strlen(prefix)) + 1);
}

#ifdef HAVE_SQLITE

/* Reformats the message as "--where: no such column: a". */
static int fail(struct hdb_error *err, int r)
{
	char message[HDB_ERROR_SIZE - 16];

	if (r == HDB_EUSAGE && err) {
		snprintf(message, sizeof(message), "%.700s", err->message);
		snprintf(err->message, sizeof(err->message), "--where: %s", message);
	}
	return r;
}

static int begin(void *ctx, const struct hdb_column *const *columns, size_t count,
		 struct hdb_error *err)
{
	struct where *w = ctx;

	return fail(err, heapsql_filter_open(w->sql, w->cli->opt.where,
					     &(struct heapsql_columns){ columns, count },
					     &w->expression, err));
}

static int uses(void *ctx, size_t column)
{
	return heapsql_filter_uses(((const struct where *)ctx)->expression, column);
}

static int test(void *ctx, const struct hdb_value *const *values, int *wanted,
		struct hdb_error *err)
{
	bool holds = false;
	const int r = heapsql_filter_test(((struct where *)ctx)->expression, values, &holds, err);

	*wanted = holds;
	return fail(err, r);
}

int where_open(struct where *w, struct cli *cli, struct hdb_query_args *args)
{
	const struct heapsql_database database = { .db = cli->db };

	*w = (struct where){ .cli = cli,
			     .filter = { .struct_size = sizeof(w->filter),
					 .text = cli->opt.where,
					 .ctx = w,
					 .begin = begin,
					 .uses = uses,
					 .test = test } };
	if (!cli->opt.where)
		return HDB_OK;
	TRY(sql_open(cli, &w->sql));
	TRY(heapsql_add(w->sql, &database, &cli->err));
	args->filter = &w->filter;
	return HDB_OK;
}

void where_close(struct where *w)
{
	heapsql_filter_close(w->expression);
	heapsql_close(w->sql);
}
#else
int where_open(struct where *w, struct cli *cli, struct hdb_query_args *args)
{
	(void)args;
	*w = (struct where){ .cli = cli };
	if (!cli->opt.where)
		return HDB_OK;
	return cli_usage(cli, "--where requires SQLite, but this heapdb was built without "
			      "SQLite: install libsqlite3-dev and rebuild");
}

void where_close(struct where *w)
{
	(void)w;
}
#endif

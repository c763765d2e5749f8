/*
 * heapdb/cmd_mcp.c - mcp: starts the assistant's door on standard input and output. The door is
 * tools/mcp; it is not there where heapdb was built without its library.
 */
#include "heapdb/cli.h"
#include "heapdb/report.h"

#ifdef HAVE_MCP

#include "mcp/mcp.h"

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"
#endif

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_SQLITE

/* Columns that a row may have; SQLite allows no more by itself. */
#define COLUMNS_MAX 2000

/* The rows of a statement, one by one. */
static int pass_rows(struct heapsql_rows *rows, const struct mcp_sink *sink, struct hdb_error *err)
{
	const struct hdb_column *columns[COLUMNS_MAX];
	const struct hdb_value *values[COLUMNS_MAX];
	const size_t count = heapsql_column_count(rows);
	int r;

	if (count > COLUMNS_MAX)
		return cli_fail(err, HDB_ELIMIT, "over %d columns", COLUMNS_MAX);
	while ((r = heapsql_next(rows, err)) == HDB_OK) {
		for (size_t i = 0; i < count; i++) {
			columns[i] = heapsql_column(rows, i);
			values[i] = heapsql_value(rows, i);
		}
		if ((r = sink->row(sink->ctx, count, columns, values)) != HDB_OK)
			return r;
	}
	return r == HDB_END ? HDB_OK : r;
}

/* One statement; only blanks may follow it. */
static int run_sql(const struct mcp_statement *statement, const struct mcp_sink *sink,
		   struct hdb_error *err)
{
	const struct heapsql_options options = { .cancel = statement->cancel };
	const struct heapsql_database database = { .db = statement->db, .all = statement->all };
	struct heapsql *sql = NULL;
	struct heapsql_rows *rows = NULL;
	const char *rest;
	int r;

	if ((r = heapsql_open(&options, &sql, err)) < 0)
		goto out;
	if ((r = heapsql_add(sql, &database, err)) < 0)
		goto out;
	if ((r = heapsql_prepare(sql, statement->text, &rest, &rows, err)) < 0)
		goto out;
	if (!rows) {
		r = cli_fail(err, HDB_EUSAGE, "there is no statement");
		goto out;
	}
	if (rest[strspn(rest, " \t\r\n;")]) {
		r = cli_fail(err, HDB_EUSAGE, "one statement at a time");
		goto out;
	}
	r = pass_rows(rows, sink, err);
out:
	heapsql_rows_close(rows);
	heapsql_close(sql);
	return r;
}

#endif

int cmd_mcp(struct cli *cli)
{
	const struct mcp_options options = {
		.folders = cli->opt.operands,
		.folder_count = cli->opt.operand_count,
		.memory_bytes = cli->opt.memory_bytes,
		.threads = cli->opt.threads,
		.report = report_text,
#ifdef HAVE_SQLITE
		.sql = run_sql,
#endif
	};

	if (options.folder_count == 0)
		return cli_fail(&cli->err, HDB_EUSAGE,
				"expected the folders whose databases may be read");
	return mcp_serve(&options, STDIN_FILENO, STDOUT_FILENO, &cli->err);
}

#endif

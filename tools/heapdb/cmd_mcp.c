/*
 * heapdb/cmd_mcp.c - mcp: runs the MCP server (tools/mcp) on standard input and output. Absent from
 * builds without jansson.
 */
#include "heapdb/cli.h"
#include "heapdb/report.h"

#ifdef HAVE_MCP

#include "mcp/mcp.h"
#include "oql/oql.h"

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"
#endif

#include <unistd.h>

#ifdef HAVE_SQLITE
static int run_sql(const struct mcp_statement *statement, struct hdb_row_source *out,
		   struct hdb_error *err)
{
	const struct heapsql_options options = { .cancel = statement->cancel };
	const struct heapsql_database database = { .db = statement->db, .all = statement->all };

	return heapsql_source(&database, statement->text, &options, out, err);
}

static bool why_sql_empty(const struct mcp_statement *statement, char *why, size_t size)
{
	const struct heapsql_database database = { .db = statement->db, .all = statement->all };

	return heapsql_why_source_empty(&database, statement->text, why, size);
}
#endif

static int run_oql(const struct mcp_statement *statement, struct hdb_row_source *out,
		   struct hdb_error *err)
{
	const struct oql_options options = { .progress = { .cancel = statement->cancel } };
	const struct oql_str text = { statement->text, strlen(statement->text) };
#ifdef HAVE_SQLITE
	char *sql = NULL;
	int r = oql_to_sql(text, &sql, err); /* VisualVM's dialect */

	if (r == HDB_OK) {
		struct mcp_statement translated = *statement;

		translated.text = sql;
		r = run_sql(&translated, out, err);
		free(sql);
	}
	if (r != HDB_NOTFOUND)
		return r;
#endif
	return oql_source(statement->db, text, &options, out, err);
}

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
		.why_sql_empty = why_sql_empty,
#endif
		.oql = run_oql,
	};

	if (options.folder_count == 0)
		return cli_usage(cli, "expected at least one directory with databases to serve");
	return mcp_serve(&options, STDIN_FILENO, STDOUT_FILENO, &cli->err);
}

#endif

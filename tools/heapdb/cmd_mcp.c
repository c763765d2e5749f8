/*
 * heapdb/cmd_mcp.c - mcp: runs the MCP server (tools/mcp) on standard input and output. Absent from
 * builds without jansson.
 */
#include "base/scope.h"
#include "base/work.h"
#include "capture/capture.h"
#include "common/feed.h"
#include "heapdb/capture_ask.h"
#include "heapdb/cli.h"
#include "heapdb/report.h"

#ifdef HAVE_MCP

#include "mcp/mcp.h"
#include "memory/memory.h"
#include "watch/watch.h"
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

static int import_dump(const struct mcp_making *what, struct hdb_import_options *options,
		       struct hdb_import_result *result, struct hdb_error *err)
{
	struct feed *feed;

	TRY(feed_open(what->dump_path, NULL, &options->progress, &feed, err));
	if (feed)
		options->dump_name = what->dump_path;
	return feed_close(
		feed,
		hdb_import(feed_path(feed, what->dump_path), what->db_path, options, result, err),
		what->db_path, err);
}

static int capture_jvm(const struct mcp_making *what, struct hdb_import_options *options,
		       struct mcp_made *out, struct hdb_error *err)
{
	const struct capture_options capturing = { .cancel = what->progress->cancel };
	struct capture *capture = NULL;
	struct captured captured;

	TRY(capture_vm_start(what->pid, &capturing, &capture, err));
	TRY(capture_import(capture, what->db_path, options, &captured, err));
	out->result = captured.result;
	out->pause_seconds = (double)captured.cost.pause_us / 1e6;
	out->pause_is_estimate = !captured.cost.pauses;
	return HDB_OK;
}

static int make_database(const struct mcp_options *mcp, const struct mcp_making *what,
			 struct mcp_made *out, struct hdb_error *err)
{
	struct hdb_import_options options = {
		.struct_size = sizeof(options),
		.memory_bytes = mcp->memory_bytes,
		.threads = mcp->threads,
		.progress = *what->progress,
	};
	const uint64_t began_ns = base_now_ns();

	TRY(what->dump_path ? import_dump(what, &options, &out->result, err) :
			      capture_jvm(what, &options, out, err));
	out->seconds = (double)(base_now_ns() - began_ns) / 1e9;
	return HDB_OK;
}

static int list_jvms(void (*add)(void *ctx, const struct mcp_jvm *jvm), void *ctx,
		     struct hdb_error *err)
{
	BASE_FREED struct capture_vm *vms = NULL;
	size_t count, hidden;

	TRY(capture_list(&vms, &count, &hidden, err));
	for (size_t i = 0; i < count; i++)
		add(ctx, &(struct mcp_jvm){ vms[i].pid, vms[i].user, vms[i].main_class,
					    vms[i].version, vms[i].heap_used });
	return HDB_OK;
}

static int growth_text(const char *const *files, size_t count, char **text, struct hdb_error *err)
{
	return growth_json(files, count, true, text, err);
}

static int memory_text(const struct mcp_process *p, char **text, struct hdb_error *err)
{
	const struct memory_sources sources = { p->pid, p->files, p->file_count, p->db, p->cancel };

	return memory_json(&sources, true, text, err);
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
		.growth = growth_text,
		.memory = memory_text,
		.make = make_database,
		.jvms = list_jvms,
		.allow_import = cli->opt.allow_import,
		.allow_capture = cli->opt.allow_capture,
	};

	if (options.folder_count == 0)
		return cli_usage(cli, "expected at least one directory with databases to serve");
	return mcp_serve(&options, STDIN_FILENO, STDOUT_FILENO, &cli->err);
}

#endif

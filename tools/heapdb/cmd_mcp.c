/*
 * heapdb/cmd_mcp.c - mcp: runs the MCP server (tools/mcp) on standard input and output. Absent from
 * builds without jansson.
 */
#include "heapdb/cli.h"
#include "heapdb/report.h"

#ifdef HAVE_MCP

#include "mcp/mcp.h"

#include <unistd.h>

int cmd_mcp(struct cli *cli)
{
	const struct mcp_options options = {
		.folders = cli->opt.operands,
		.folder_count = cli->opt.operand_count,
		.memory_bytes = cli->opt.memory_bytes,
		.threads = cli->opt.threads,
		.report = report_text,
		.allow_import = cli->opt.allow_import,
		.allow_capture = cli->opt.allow_capture,
	};

	if (options.folder_count == 0)
		return cli_usage(cli, "expected at least one directory with databases to serve");
	return mcp_serve(&options, STDIN_FILENO, STDOUT_FILENO, &cli->err);
}

#endif

/*
 * heapdb/cmd_mcp.c - mcp: starts the assistant's door on standard input and output. The door is
 * tools/mcp; it is not there where heapdb was built without its library.
 */
#include "heapdb/cli.h"
#include "heapdb/report.h"

#ifdef HEAPDB_MCP

#include "mcp/mcp.h"

#include <stdlib.h>
#include <unistd.h>

int cmd_mcp(struct cli *cli)
{
	const struct mcp_options options = {
		.folders = cli->opt.operands,
		.folder_count = cli->opt.operand_count,
		.memory_bytes = cli->opt.memory_bytes,
		.threads = cli->opt.threads,
		.report = report_text,
	};

	if (options.folder_count == 0)
		return cli_fail(&cli->err, HDB_EUSAGE,
				"expected the folders whose databases may be read");
	return mcp_serve(&options, STDIN_FILENO, STDOUT_FILENO, &cli->err);
}

#else

int cmd_mcp(struct cli *cli)
{
	return cli_fail(&cli->err, HDB_EUSAGE,
			"this heapdb was built without libjansson, which mcp needs");
}

#endif

/*
 * heapdb/cmd_export_dump.c - writes the original HPROF dump stored in a database, byte for byte.
 */
#include "heapdb/cli.h"
#include "heapdb/progress.h"

#include "base/outfile.h"

/* Number of bytes per read and write. */
#define COPY_BYTES (1u << 20)

static int copy(struct cli *cli)
{
	uint64_t offset = 0;
	size_t size = 0;
	BASE_FREED char *buf = malloc(COPY_BYTES);
	int rc;

	if (!buf)
		return hdb_fail(&cli->err, HDB_ENOMEM,
				"cannot allocate memory for a copy of %u "
				"bytes",
				COPY_BYTES);
	do {
		rc = hdb_dump_read(cli->db, offset, buf, COPY_BYTES, &size, &cli->err);
		if (rc != HDB_OK)
			return rc == HDB_END ? HDB_OK : rc;
		assert(size <= COPY_BYTES);
		output_bytes(cli->out, buf, size);
		offset += size;
		if (progress_is_cancelled())
			return hdb_fail(&cli->err, HDB_EINTR, "interrupted");
	} while (!cli->out->error);
	return HDB_OK;
}

int cmd_export_dump(struct cli *cli)
{
	if (cli->opt.operand_count)
		return cli_usage(cli, "`export dump` does not take a target");
	if (cli->opt.output && !base_names_stdout(cli->opt.output))
		return export_to_file(cli, copy);
	if (cli->out->is_terminal)
		return cli_usage(cli, "cannot write a dump to a terminal; use -o FILE");
	return copy(cli);
}

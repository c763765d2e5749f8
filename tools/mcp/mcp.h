/*
 * mcp/mcp.h - MCP server: answers questions about the heap databases in and below the given
 * directories, using the Model Context Protocol. This is the only header of the directory that the
 * command includes.
 *
 * No request removes a database, or changes or removes a dump. With the user's consent, a request
 * may import a dump or capture a running JVM. As elsewhere, a query may add computed tables to the
 * database.
 */
#ifndef HEAPDB_MCP_H
#define HEAPDB_MCP_H

#include "heapdb.h"

#include <stdbool.h>

struct mcp_options {
	/* only databases below these directories are accessible; borrowed */
	const char *const *folders;
	size_t folder_count;
	uint64_t memory_bytes; /* as in struct hdb_open_options, for each open database */
	unsigned threads;      /* as in struct hdb_open_options */
	/*
	 * Creates the report of a database. The caller must free() *text. `name` is used in the
	 * heading.
	 */
	int (*report)(struct hdb *db, const char *name, char **text, size_t *size,
		      struct hdb_error *err);
	/* Whether to create databases without asking the user through the client. */
	bool allow_import, allow_capture;
};

/*
 * Reads JSON-RPC messages, one per line, from `in` and answers on `out` until the input ends.
 * Returns HDB_OK at the end of the input, or if the client has disconnected. Fails with HDB_EABSENT
 * or HDB_EIO if a directory is inaccessible, and with HDB_ENOMEM.
 */
int mcp_serve(const struct mcp_options *options, int in, int out, struct hdb_error *err);

#endif

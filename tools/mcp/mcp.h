/*
 * mcp/mcp.h - MCP server: answers questions about the heap databases below given folders over the
 * Model Context Protocol. The only header that the command includes.
 *
 * Access is read-only: no request creates, changes or removes a dump or database. As for any query,
 * computed tables are stored in the database.
 */
#ifndef HEAPDB_MCP_H
#define HEAPDB_MCP_H

#include "heapdb.h"

#include <stdbool.h>

/* A statement in SQL or MAT's OQL; all members are lent. */
struct mcp_statement {
	struct hdb *db;
	const char *text;
	bool all; /* SQL: tables include unreachable objects */
	const volatile int *cancel;
	/* Returns the reason why an answer has no rows, if known. NULL: never known. */
	bool (*why_empty)(const struct mcp_statement *statement, char *why, size_t size);
};

typedef int mcp_statement_fn(const struct mcp_statement *statement, struct hdb_row_source *out,
			     struct hdb_error *err);

struct mcp_options {
	const char *const *folders; /* only databases below these folders are accessible; lent */
	size_t folder_count;
	uint64_t memory_bytes; /* as in struct hdb_open_options, for each open database */
	unsigned threads;      /* as in struct hdb_open_options */
	/*
	 * Makes the report of a database: *text is owned, free(). NULL: no reports. `name` is used
	 * in the heading.
	 */
	int (*report)(struct hdb *db, const char *name, char **text, size_t *size,
		      struct hdb_error *err);
	/*
	 * Runs a read-only statement: *out returns and closes its rows. NULL: SQL is not available.
	 */
	mcp_statement_fn *sql, *oql;
	bool (*why_sql_empty)(const struct mcp_statement *statement, char *why, size_t size);
};

/*
 * Reads JSON-RPC messages, one per line, from `in` and answers on `out` until the input ends.
 * HDB_OK then, and when the client has gone; HDB_EABSENT or HDB_EIO if a folder is inaccessible,
 * HDB_ENOMEM.
 */
int mcp_serve(const struct mcp_options *options, int in, int out, struct hdb_error *err);

#endif

/*
 * mcp/mcp.h - the assistant's door: heap databases below some folders, answered over the Model
 * Context Protocol. The one header of it that the command sees.
 *
 * It reads: nothing that a client says makes, changes or removes a dump or database. Tables that
 * are computed once are kept in the database, as those of any query are.
 */
#ifndef HEAPDB_MCP_H
#define HEAPDB_MCP_H

#include "heapdb.h"

#include <stdbool.h>

/* A statement in SQL or in MAT's query language; all is lent. */
struct mcp_statement {
	struct hdb *db;
	const char *text;
	bool all; /* SQL: tables show unreachable objects, too */
	const volatile int *cancel;
	/* Gives the reason why an answer has no rows, if it is known. NULL: never known. */
	bool (*why_empty)(const struct mcp_statement *statement, char *why, size_t size);
};

typedef int mcp_statement_fn(const struct mcp_statement *statement, struct hdb_row_source *out,
			     struct hdb_error *err);

struct mcp_options {
	const char *const *folders; /* databases below them may be asked, and no others; lent */
	size_t folder_count;
	uint64_t memory_bytes; /* as of struct hdb_open_options, for each open database */
	unsigned threads;      /* as of struct hdb_open_options */
	/*
	 * Makes the report on a database: *text is owned, free(). NULL: there are no reports.
	 * `name` is what the heading says.
	 */
	int (*report)(struct hdb *db, const char *name, char **text, size_t *size,
		      struct hdb_error *err);
	/* Runs a statement that reads: *out has its rows, and ends it. NULL: there is no SQL. */
	mcp_statement_fn *sql, *oql;
	bool (*why_sql_empty)(const struct mcp_statement *statement, char *why, size_t size);
};

/*
 * Answers what comes from the descriptor `in`, a JSON-RPC message a line, on `out`, until the
 * input ends. HDB_OK then, also where the client is gone; HDB_EABSENT or HDB_EIO if a folder cannot
 * be used, HDB_ENOMEM.
 */
int mcp_serve(const struct mcp_options *options, int in, int out, struct hdb_error *err);

#endif

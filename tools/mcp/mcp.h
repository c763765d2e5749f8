/*
 * mcp/mcp.h - MCP server: answers questions about the heap databases below given directories over
 * the Model Context Protocol. The only header that the command includes.
 *
 * No request changes or removes a dump or database. With the user's consent, a request imports a
 * dump or captures a running JVM. As for any query, computed tables are stored in the database.
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

/* A running JVM. Texts are lent. */
struct mcp_jvm {
	int pid;
	const char *user, *main_class, *version;
	uint64_t heap_used; /* bytes; 0: unknown */
};

/* A database to be made. All members are lent. */
struct mcp_making {
	const char *dump_path; /* NULL: capture `pid` */
	int pid;
	const char *db_path;
	const struct hdb_progress *progress;
};

struct mcp_made {
	struct hdb_import_result result;
	double seconds, pause_seconds;
	bool pause_is_estimate; /* the pause is an upper bound */
};

/* A process whose memory is to be explained. All members are lent. */
struct mcp_process {
	int pid; /* 0: none */
	const char *const *files;
	size_t file_count;
	struct hdb *db; /* a dump of it; NULL: none */
	const volatile int *cancel;
};

struct mcp_options {
	/* only databases below these directories are accessible; lent */
	const char *const *folders;
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
	/* What `heapdb growth --json` and `heapdb memory --json` print: *text is owned, free(). */
	int (*growth)(const char *const *files, size_t count, char **text, struct hdb_error *err);
	int (*memory)(const struct mcp_process *process, char **text, struct hdb_error *err);
	/* Makes a database. NULL: databases cannot be made. */
	int (*make)(const struct mcp_options *options, const struct mcp_making *what,
		    struct mcp_made *out, struct hdb_error *err);
	/* Calls `add` for each running JVM. */
	int (*jvms)(void (*add)(void *ctx, const struct mcp_jvm *jvm), void *ctx,
		    struct hdb_error *err);
	/* Whether to make databases without asking the user through the client. */
	bool allow_import, allow_capture;
};

/*
 * Reads JSON-RPC messages, one per line, from `in` and answers on `out` until the input ends.
 * HDB_OK then, and when the client has gone; HDB_EABSENT or HDB_EIO if a directory is inaccessible,
 * HDB_ENOMEM.
 */
int mcp_serve(const struct mcp_options *options, int in, int out, struct hdb_error *err);

#endif

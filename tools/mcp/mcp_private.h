/*
 * mcp/mcp_private.h - what the files of the assistant's door share: open databases, calls of tools,
 * answers within a budget.
 */
#ifndef HEAPDB_MCP_PRIVATE_H
#define HEAPDB_MCP_PRIVATE_H

#include "mcp.h"

#include "base/error.h"
#include "base/scope.h"
#include "base/base_text.h"

#include <jansson.h>

#include <stdbool.h>

/* How JSON is written: reals with digits that mean something, keys in the order they were set. */
#define MCP_DUMP (JSON_COMPACT | JSON_REAL_PRECISION(6))

/* Bytes of JSON that a token is taken for: identifiers and class names make short tokens. */
#define MCP_BYTES_PER_TOKEN 3
/* Tokens of an answer: the fewest, what counts if nothing is said, the most. */
#define MCP_TOKENS_MIN 500
#define MCP_TOKENS_DEFAULT 6000
#define MCP_TOKENS_MAX 50000
/* Bytes of a text in a row; longer ones are cut, and further where a row does not fit. */
#define MCP_TEXT_MAX 1000
#define MCP_TEXT_MIN 60

/* Databases that are kept open; more than one comparison takes. */
#define MCP_OPEN_MAX 8
/* Most earlier databases of a comparison. */
#define MCP_BEFORE_MAX 6
/* Folders below a named one that are searched for databases, and databases that are listed. */
#define MCP_DEPTH_MAX 6
#define MCP_LIST_MAX 200

/* Writes a message and returns `code`. */

/* ---- mcp_files.c: which databases there are, and those that are open ---- */

struct mcp_database {
	char *path;       /* real path; owned */
	uint64_t dev, no; /* of the file: another import is another file */
	struct hdb *db;   /* owned */
	uint64_t call;    /* number of the call that used it last */
};

struct mcp_files {
	const struct mcp_options *options; /* lent */
	char **folders;                    /* real paths; owned */
	size_t folder_count;
	struct hdb_open_options open; /* how databases are opened */
	struct mcp_database kept[MCP_OPEN_MAX];
	uint64_t call; /* number of the current call: what it uses stays open */
};

int mcp_files_init(struct mcp_files *files, const struct mcp_options *options,
		   struct hdb_error *err);
void mcp_files_release(struct mcp_files *files);

/*
 * The databases below the folders: an array of objects {"db", "bytes"}, and of dumps that have none
 * {"dump", "bytes"}, in the order of names. NULL: no memory.
 */
json_t *mcp_files_list(const struct mcp_files *files);

/*
 * The open database that `name` means: its path, absolute or below a folder, or that of its dump;
 * NULL: the only one there is. It stays open until files->call changes. *shown (may be NULL) is the
 * name that a client may use for it, owned.
 */
int mcp_files_open(struct mcp_files *files, const char *name, struct hdb **db, char **shown,
		   struct hdb_error *err);

/* ---- mcp_answer.c: rows as JSON ---- */

struct mcp_page {
	uint64_t offset;       /* rows of earlier pages */
	uint64_t limit;        /* most rows of this one; 0: what the budget has room for */
	size_t budget_bytes;   /* of the whole answer, as JSON */
	const json_t *columns; /* array of names, or NULL: all; borrowed */
	bool without_facts;    /* leave them out */
	/* Set: where the next page begins, 0: this was the last. */
	uint64_t next;
};

struct mcp_question {
	const struct hdb_query_spec *spec;
	struct hdb_query_args args;
	const volatile int *cancel; /* looked at between rows */
};

/*
 * Asks, and makes {"query", "facts", "rows", "row_count", "total_rows", ...} of what fits. Whole
 * rows only; a row is an object without its nulls. HDB_ELIMIT if not even one row fits.
 */
int mcp_answer(struct hdb *db, const struct mcp_question *question, struct mcp_page *page,
	       json_t **out, struct hdb_error *err);

/*
 * The rows of a statement, nulls too: {"rows", "row_count"}, and "cut" where more follow, "note"
 * where there are none and it is known why. HDB_ELIMIT as above.
 */
int mcp_answer_statement(mcp_statement_fn *run, const struct mcp_statement *statement,
			 struct mcp_page *page, json_t **out, struct hdb_error *err);

/* Bytes of a value as it is written. */
size_t mcp_size(const json_t *value);

/* ---- mcp_tools.c: what can be called ---- */

struct mcp_call {
	struct mcp_files *files;
	const volatile int *cancel;
	const char *name; /* of the tool */
	json_t *args;     /* object; borrowed */
};

/* The list of tools with their schemas, as of tools/list. NULL: no memory. */
json_t *mcp_tools_list(const struct mcp_options *options);
bool mcp_tool_exists(const struct mcp_options *options, const char *name);
/* Calls one: *out is the JSON that the assistant reads. */
int mcp_tool_call(const struct mcp_call *call, json_t **out, struct hdb_error *err);

/* ---- mcp_prompts.c: investigations that a person can start ---- */

/* As of prompts/list. */
json_t *mcp_prompts_list(void);
/* The messages of one, as of prompts/get. NULL: there is none of the name. */
json_t *mcp_prompt(const char *name, const json_t *args);

/* ---- mcp_schema.c: the registry as schemas ---- */

/* The arguments of a query, as a JSON schema. `takes` has its other arguments: enum below. */
enum mcp_takes {
	MCP_TAKES_NAME = 1,   /* the name of a query */
	MCP_TAKES_BEFORE = 2, /* earlier databases */
	MCP_TAKES_DB = 4,
	MCP_TAKES_ROWS = 8, /* sort, limit, columns, cursor */
	MCP_TAKES_BUDGET = 16,
	MCP_TAKES_OPTIONS = 32,   /* options in an object, and targets of whatever query it is */
	MCP_TAKES_STATEMENT = 64, /* a statement, and a limit */
	MCP_TAKES_ALL = 128       /* whether unreachable objects count, too */
};
json_t *mcp_schema_of(const struct hdb_query_spec *spec, unsigned takes);
/* What such a tool answers. */
json_t *mcp_schema_output(unsigned takes);
/* Targets, options, columns and facts of a query, as its documentation. */
json_t *mcp_schema_explain(const struct hdb_query_spec *spec);
/* The option of a query that clients may give; NULL: there is none of the name. */
const struct hdb_option_spec *mcp_find_option(const struct hdb_query_spec *spec, const char *name);
/* Makes "--arrays" of our own texts "arrays": there are no flags here. */
void mcp_plain(char *text);
/* Name, group and line of each. */
json_t *mcp_schema_queries(void);

#endif

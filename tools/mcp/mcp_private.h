/*
 * mcp/mcp_private.h - declarations shared by the files of the MCP server: open databases, tool
 * calls, answers within a budget.
 */
#ifndef HEAPDB_MCP_PRIVATE_H
#define HEAPDB_MCP_PRIVATE_H

#include "mcp.h"

#include "base/error.h"
#include "base/flag.h"
#include "base/scope.h"
#include "base/base_text.h"

#include <jansson.h>

#include <stdbool.h>

/* JSON format: reals with 6 significant digits, keys in insertion order. */
#define MCP_DUMP (JSON_COMPACT | JSON_REAL_PRECISION(6))

/* Estimated bytes of JSON per token. IDs and class names make short tokens. */
#define MCP_BYTES_PER_TOKEN 3
/* Number of tokens of an answer: minimum, default, maximum. */
#define MCP_TOKENS_MIN 500
#define MCP_TOKENS_DEFAULT 6000
#define MCP_TOKENS_MAX 50000
/*
 * Maximum number of bytes of a string in a row. Longer strings are truncated, and shortened further
 * if the row does not fit.
 */
#define MCP_TEXT_MAX 1000
#define MCP_TEXT_MIN 60

/* Maximum number of open databases. The number is larger than a comparison requires. */
#define MCP_OPEN_MAX 8
/* Maximum number of earlier databases in a comparison. */
#define MCP_BEFORE_MAX 6
/* Maximum depth of searched directories, and maximum number of listed databases. */
#define MCP_DEPTH_MAX 6
#define MCP_LIST_MAX 200

/* ---- mcp_files.c: the databases that exist, and the databases that are open ---- */

struct mcp_database {
	char *path;       /* real path; owned */
	uint64_t dev, no; /* identity of the file, which a new import changes */
	struct hdb *db;   /* owned */
	uint64_t call;    /* number of the last call that used it */
};

struct mcp_files {
	const struct mcp_options *options; /* borrowed */
	char **folders;                    /* real paths; owned */
	size_t folder_count;
	struct hdb_open_options open; /* options for opening databases */
	struct mcp_database kept[MCP_OPEN_MAX];
	uint64_t call; /* number of the current call; databases that it uses stay open */
};

int mcp_files_init(struct mcp_files *files, const struct mcp_options *options,
		   struct hdb_error *err);
void mcp_files_release(struct mcp_files *files);

/*
 * Lists the databases below the directories in order of names: an array of objects {"db", "bytes"},
 * and {"dump", "bytes"} for dumps without a database. Returns NULL if memory is exhausted.
 */
json_t *mcp_files_list(const struct mcp_files *files);

/*
 * Finds the regular file `name`, absolute or relative to a given directory. The caller must free()
 * *path. Fails with HDB_EABSENT if there is no such file below the directories.
 */
int mcp_files_plain(const struct mcp_files *files, const char *name, char **path,
		    struct hdb_error *err);

/*
 * Opens the database `name`, which is the path of the database or of its dump, absolute or relative
 * to a directory. If `name` is NULL, opens the only database. The database stays open until
 * files->call changes. Sets *shown (`shown` may be NULL) to its name for clients, which the caller
 * must free().
 */
int mcp_files_open(struct mcp_files *files, const char *name, struct hdb **db, char **shown,
		   struct hdb_error *err);

/*
 * Finds a dump below the directories, and the name of its database. The caller must free() both
 * names. Fails with HDB_EABSENT if there is no such dump, and with HDB_EEXIST if it has already
 * been imported.
 */
int mcp_files_dump(const struct mcp_files *files, const char *name, char **dump, char **db,
		   struct hdb_error *err);
/*
 * Chooses the name of a new database for a capture, in the first directory. The caller must free()
 * *db.
 */
int mcp_files_capture(const struct mcp_files *files, int pid, char **db, struct hdb_error *err);

/* ---- mcp_answer.c: rows as JSON ---- */

struct mcp_page {
	uint64_t offset;       /* rows on earlier pages */
	uint64_t limit;        /* maximum number of rows in this page; 0 means as many as fit */
	size_t budget_bytes;   /* maximum size of the answer as JSON */
	const json_t *columns; /* array of names, or NULL means all; borrowed */
	bool without_facts;    /* whether to omit the facts */
	/* result: offset of the next page, or 0 for the last page */
	uint64_t next;
};

struct mcp_question {
	const struct hdb_query_spec *spec;
	struct hdb_query_args args;
	const base_flag *cancel; /* checked between rows */
};

/*
 * Runs a query and makes {"query", "facts", "rows", "row_count", "total_rows", ...} from the rows
 * that fit. Each row is an object without null values. Fails with HDB_ELIMIT if not even one row
 * fits.
 */
int mcp_answer(struct hdb *db, const struct mcp_question *question, struct mcp_page *page,
	       json_t **out, struct hdb_error *err);

/* A statement in SQL or OQL; all members are borrowed. */
struct mcp_statement {
	struct hdb *db;
	const char *text;
	bool is_sql;
	bool all; /* SQL: whether tables include unreachable objects */
	const base_flag *cancel;
};

/*
 * Returns the rows of a statement, including nulls: {"rows", "row_count"}, "cut" if there are more
 * rows, "note" if there are no rows and the reason is known. Fails with HDB_ELIMIT like mcp_answer.
 */
int mcp_answer_statement(const struct mcp_statement *statement, struct mcp_page *page, json_t **out,
			 struct hdb_error *err);

/* Returns the size of a value as JSON text. */
size_t mcp_size(const json_t *value);

/* ---- mcp_tools.c: the tools ---- */

struct mcp_call {
	struct mcp_files *files;
	const base_flag *cancel;
	const char *name; /* tool name */
	json_t *args;     /* object; borrowed */
	/*
	 * Asks the user for consent. Returns HDB_OK if the user agrees, or HDB_END if the question
	 * is returned as the answer to the call, which the client then repeats with the user's
	 * reply. Otherwise fails with HDB_EUSAGE. `option` is the command-line option that makes
	 * the question unnecessary.
	 */
	int (*consent)(void *ctx, const char *question, const char *option, struct hdb_error *err);
	void *ctx;
};

struct tool;

/* Returns the tools with their schemas, for tools/list. Returns NULL if memory is exhausted. */
json_t *mcp_tools_list(const struct mcp_options *options, bool can_ask);
/*
 * Returns whether the tool can be called. can_ask is set if the client can ask the user for
 * consent.
 */
bool mcp_tool_exists(const struct mcp_options *options, const char *name, bool can_ask);
/* Runs a tool. Sets *out to the JSON result. */
int mcp_tool_call(const struct mcp_call *call, json_t **out, struct hdb_error *err);
/* Begins a tool that is not a query: checks its arguments and returns the text argument. */
int mcp_begin(const struct mcp_call *call, const struct tool *tool, const char *name,
	      const char **text, struct hdb_error *err);

/* ---- mcp_make.c: tools that make databases ---- */

int mcp_make_import(const struct mcp_call *call, const struct tool *tool, json_t **out,
		    struct hdb_error *err);
int mcp_growth(const struct mcp_call *call, const struct tool *tool, json_t **out,
	       struct hdb_error *err);
int mcp_memory(const struct mcp_call *call, const struct tool *tool, json_t **out,
	       struct hdb_error *err);
/* Reads the argument max_tokens as bytes. */
int mcp_take_budget(const json_t *args, size_t *bytes, struct hdb_error *err);
/* Reads the process ID "pid". Sets *pid to 0 if the call has no such argument. */
int mcp_take_pid(const json_t *args, int *pid, struct hdb_error *err);
int mcp_make_capture(const struct mcp_call *call, const struct tool *tool, json_t **out,
		     struct hdb_error *err);

/* ---- mcp_prompts.c: investigations that a person can start ---- */

/* Returns the result of prompts/list. */
json_t *mcp_prompts_list(void);
/* Returns the result of prompts/get, or NULL if there is no such prompt. */
json_t *mcp_prompt(const char *name, const json_t *args);

/* ---- mcp_schema.c: the registry as schemas ---- */

/* Arguments of a tool, in addition to the arguments of its query. */
enum mcp_takes {
	MCP_TAKES_NAME = 1,   /* the name of a query */
	MCP_TAKES_BEFORE = 2, /* earlier databases */
	MCP_TAKES_DB = 4,
	MCP_TAKES_ROWS = 8, /* sort, limit, columns, cursor */
	MCP_TAKES_BUDGET = 16,
	MCP_TAKES_OPTIONS = 32,   /* options in an object, and targets for any query */
	MCP_TAKES_STATEMENT = 64, /* a statement and a limit */
	MCP_TAKES_ALL = 128,      /* whether to include unreachable objects */
	MCP_TAKES_DUMP = 256,     /* a dump to import */
	MCP_TAKES_PID = 512,      /* a JVM to capture */
	MCP_TAKES_FILES = 1024,   /* files that are not databases */
	MCP_TAKES_PROCESS = 2048  /* a running JVM, which the tool does not change */
};
json_t *mcp_schema_of(const struct hdb_query_spec *spec, unsigned takes);
/* Returns the output schema of a tool that is not a query. */
json_t *mcp_schema_output(unsigned takes);
/* Describes a query: targets, options, columns and facts. */
json_t *mcp_schema_explain(const struct hdb_query_spec *spec);
/* Finds an option of a query that clients may set. Returns NULL if there is none. */
const struct hdb_option_spec *mcp_find_option(const struct hdb_query_spec *spec, const char *name);
/* Replaces "--arrays" with "arrays" in a help text, because tools have no flags. */
void mcp_plain(char *text);
/* Lists name, group and summary of each query. */
json_t *mcp_schema_queries(void);

#endif

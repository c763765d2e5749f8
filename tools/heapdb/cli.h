/*
 * heapdb/cli.h - declarations shared by the command's files: the command table and the running
 * command.
 *
 * The command is linked with the static library. Functions declared here must not use the library's
 * prefixes (hdb_, base_, hprof_, store_, graph_, import_, heap_, derive_, query_): a function of
 * the same name would silently replace the library's function.
 */
#ifndef HEAPDB_CLI_H
#define HEAPDB_CLI_H

#include "heapdb.h"

#include "base/error.h"
#include "base/scope.h"
#include "common/feed.h"
#include "common/file_text.h"
#include "common/output.h"
#include "heapdb/options.h"

/* Exit codes, documented in the manual. */
enum cli_exit {
	CLI_DONE = 0,
	CLI_NO = 1, /* the command ran, and the answer is "no" or "not found" */
	CLI_USAGE = 2,
	CLI_INPUT = 3, /* bad or missing dump or database */
	CLI_SYSTEM = 4 /* disk, memory, permission, interruption */
};

/* Another open database, with its path and the path of its dump. */
struct database {
	char *db_path, *dump_path; /* owned; dump_path may be NULL */
	struct hdb *db;
};

/* Flags of a command. */
enum {
	NEEDS_DB = 1,    /* main.c locates and opens the database */
	WRITES = 2,      /* may take a long time, so signals are handled and progress is shown */
	NAMES_QUERY = 4, /* the first operand is the name of a query */
	EXPORTS = 8,     /* writes output for programs: any query, as TSV by default */
	NAMES_DB = 16,   /* the operand, if any, is the database, as with --db */
	PASSES_ON = 32   /* another program parses the arguments, which are in cli->rest */
};

struct cli;

struct command {
	const char *name; /* such as "import"; "export dump" has its own options and its own row */
	/*
	 * Returns HDB_OK, HDB_NOTFOUND, or a failure with its message in cli->err. The pointer is
	 * NULL if the command is not in this build.
	 */
	int (*run)(struct cli *cli);
	unsigned flags;
	uint64_t options;     /* accepted groups of options: bits of enum option_group */
	const char *query;    /* the query that the command runs, or NULL */
	const char *synopsis; /* usage after the name, or NULL */
	const char *summary;  /* one-line description */
	const char *alias;    /* alternative name, or NULL */
};

/* Options of `capture` without a process, when it lists JVMs. */
#define CAPTURE_LIST_OPTIONS (OPTIONS_ROWS | OPTIONS_TABLE | OPTIONS_COLUMNS | OPTIONS_LIMIT)

/* The running command. */
struct cli {
	const struct command *command;
	struct options opt;
	/* all arguments after the command's name, if the command PASSES_ON */
	struct arguments rest;
	const struct hdb_query_spec *query; /* NULL means none */
	/* whether the user ran the query as `heapdb NAME`, without the word "query" */
	bool is_direct;
	struct hdb *db;            /* open if the command has NEEDS_DB, or opens it */
	char *db_path, *dump_path; /* located paths; owned, valid while db is open */
	struct database *before;   /* older databases to compare with; owned */
	size_t before_count;
	struct notes *notes; /* notes of db; owned; NULL if there are none or before they
			      * are loaded */
	bool has_read_notes;
	struct output *out;
	struct hdb_error err;
	char *statement;         /* SQL statement to export, also for `export TABLE`; owned; NULL if
				  * none */
	bool is_open;            /* whether a JSON object has no end yet; see struct answer */
	bool is_sparse;          /* whether to print JSON for the page; see struct answer */
	int verdict;             /* failure of cli_verdict after a complete answer, or 0 */
	char message_prefix[64]; /* such as "import" or "query retained"; "" for `heapdb FILE` */
	bool is_implied;         /* whether the user typed no command, as in `heapdb FILE` */
};

/* Command table, terminated by a NULL name. */
extern const struct command commands[];

/* Features missing from this build and the library each requires; terminated by a NULL name. */
struct missing {
	const char *name, *library;
};
extern const struct missing missing_doors[];

/* Fails because the command is not in this build. */
int cli_fail_missing(struct hdb_error *err, const struct command *command);

/* Finds a command by name or alias. */
const struct command *cli_find_command(const char *name);

/* Returns the command or query whose name or alias is nearest to `name`; NULL if none is near. */
const char *cli_nearest_command(const char *name);
const struct hdb_query_spec *cli_nearest_query(const char *name);

/* Prints one line to standard error, "heapdb: COMMAND: ...", unless --quiet was given. */
void cli_notice(const struct cli *cli, const char *format, ...) HDB_PRINTF(2, 3);
/* Prints a notice; a callback for libraries. `ctx` is the command. */
void cli_on_notice(void *ctx, const char *text);

/*
 * A problem with a database, reported as a fact in every answer. The strings are borrowed from the
 * database.
 */
struct health_line {
	const char *name, *text; /* "stale", "redacted", "incomplete" */
};
#define HEALTH_LINES 3
size_t cli_health(const struct hdb *db, struct health_line out[HEALTH_LINES]);

/*
 * Prints problems of the database to standard error before an answer, even with --quiet, because
 * CSV cannot contain them. `name` is the name of the database if there are several, otherwise NULL.
 */
void cli_report_health(const struct cli *cli, const struct hdb *db, const char *name);

/* Functions of the commands. */
int cmd_import(struct cli *cli);
int cmd_capture(struct cli *cli);
int cmd_query(struct cli *cli);
int cmd_export(struct cli *cli);
int cmd_export_dump(struct cli *cli);
int cmd_export_bitmaps(struct cli *cli);
int cmd_convert(struct cli *cli);
int cmd_strip(struct cli *cli);
int cmd_redact(struct cli *cli);
int cmd_meminfo(struct cli *cli);
int meminfo_timeline(struct cli *cli);
int cmd_memory(struct cli *cli);
int cmd_allocations(struct cli *cli);
int cmd_jfr(struct cli *cli);
int cmd_report(struct cli *cli);
int cmd_diff(struct cli *cli);
int cmd_gate(struct cli *cli);
int cmd_mcp(struct cli *cli);
int cmd_fleet(struct cli *cli);
int cmd_growth(struct cli *cli);
int cmd_watch(struct cli *cli);
int cmd_sql(struct cli *cli);
int cmd_oql(struct cli *cli);
int cmd_serve(struct cli *cli);
int cmd_notes(struct cli *cli);
int cmd_help(struct cli *cli);
int cmd_version(struct cli *cli);

/* Prints possible completions of a command line; see complete.c. */
int cli_complete(struct cli *cli, struct arguments words);

/*
 * Options parsed by Python (cmd_fleet.c), listed for help and completion; terminated by a NULL
 * name.
 */
extern const struct option_info fleet_options[];

/*
 * Returns the SQL statement for an operand of export: the operand itself, or a SELECT from the
 * table that it names. Returns NULL if it is neither a statement nor a table.
 */
char *export_statement(const char *operand);
/* Sets cli->statement to read a table or a class. */
int export_table(struct cli *cli, const char *name);
/* Prints a notice that heapdb exports the query, not the table of the same name. */
void export_suggest_query(const struct cli *cli, const char *name);

/* Returns the query arguments from the command line. */
struct hdb_query_args cli_query_args(const struct options *opt);

/* Runs `print` with its output in the -o file, which appears only when it is complete. */
int export_to_file(struct cli *cli, int (*print)(struct cli *cli));

/*
 * Prints help on a command, or on a query (NULL means on the command only). `is_all` adds columns,
 * facts and shared options of a query.
 */
void help_command(struct output *out, const struct command *command,
		  const struct hdb_query_spec *query, bool is_all);

/*
 * Imports `dump_path` with the command line's options. `out` may be NULL; `wait` as in struct
 * hdb_import_options.
 */
int cli_import(struct cli *cli, const char *dump_path, const char *db_path,
	       struct hdb_import_result *out, bool wait);

/* Like cli_import, with given options. Sets their dump_name if the dump is not a plain file. */
int cli_import_as(struct cli *cli, const char *dump_path, const char *db_path,
		  struct hdb_import_options *options, struct hdb_import_result *out);

/* Returns the directory of a path, which need not exist. */
void cli_folder_of(const char *path, char *folder, size_t size);

/* Returns the import options from the command line, for callers that do not use cli_import. */
struct hdb_import_options cli_import_options(const struct cli *cli);

struct capture_cost;

/*
 * Reports the result of an import that took `seconds`, problems of the dump, and the cost of a
 * capture (NULL if it was not a capture).
 */
int cli_report_import(struct cli *cli, const char *db_path, const struct hdb_import_result *result,
		      const struct capture_cost *cost, double seconds);

/*
 * Locates the database (see FILES in the manual). If the command line names a dump without a
 * database, imports the dump first. Sets cli->db_path and, if known, cli->dump_path.
 */
int locate_database(struct cli *cli);

/*
 * Like locate_database, but imports and prints nothing. Returns HDB_EABSENT if the database does
 * not exist.
 */
int locate_existing(struct cli *cli);

/*
 * Returns whether an operand names a database or dump rather than a class or thread. The file must
 * exist, and be recognised by its first bytes, its suffix or a slash in its name.
 */
bool locate_is_file(const char *name);
/* Returns whether the file is a dump, archive or database, by its first bytes or its suffix. */
bool locate_is_heap(const char *name);

/* Returns whether the name has the suffix of a dump or database. The file need not exist. */
bool locate_has_suffix(const char *name);
/* Returns whether the name has the suffix of a dump or database, or contains a slash. */
bool locate_looks_like_file(const char *name);
/* Fails because the file does not exist, or is neither a dump nor a database. */
int locate_refuse(struct cli *cli, const char *name);

/*
 * Returns the result of checks on a dump: HDB_NOTFOUND if a check failed. If none failed, but the
 * dump is truncated, damaged or has changed, fails with HDB_ETRUNC or HDB_ECHANGED, because missing
 * objects could have made a check fail. A dump that records no roots or no values does not fail for
 * this reason.
 */
int cli_verdict(struct cli *cli, bool has_failed);

/*
 * Returns the database `name`. If `name` is a dump, returns the database of the dump, and imports
 * the dump if it has no database. The caller must free() *db_path and *dump_path (NULL for a
 * database), even after a failure.
 */
int locate_named(struct cli *cli, const char *name, char **db_path, char **dump_path);

/* Locates and opens the database as cli->db, and reports its health. */
int cli_open_database(struct cli *cli);

/*
 * Returns the open options from the command line, for one of `of` databases that share the memory
 * budget. `dump_path` is borrowed while a database is open.
 */
struct hdb_open_options cli_open_options(struct cli *cli, const char *dump_path, unsigned of);
/*
 * Opens a database with the options of cli_open_options. Arguments are borrowed while the database
 * is open.
 */
int cli_open(struct cli *cli, const char *db_path, const char *dump_path, unsigned of,
	     struct hdb **db);

/*
 * Sets *notes to the notes of cli->db, borrowed, or to NULL if there are none. If the file is
 * damaged, foreign or unreadable, prints a notice once and continues without notes; other failures
 * are errors.
 */
int cli_notes(struct cli *cli, struct notes **notes);
void cli_notes_release(struct cli *cli);

/* Reads and writes notes for the page. Used as the member `notes` of struct serve_options. */
int page_notes(const char *db_path, const char *target, const char *text, char **json,
	       struct hdb_error *err);

/*
 * Reads a whole file, or standard input for "-". Fails with HDB_ELIMIT if it has more than size_max
 * bytes.
 */
int cli_read_file(struct cli *cli, const char *path, size_t size_max, struct file_text *out);

/* Fails with HDB_EUSAGE and a printf-style message: the command line is invalid. */
#define cli_usage(cli, ...) hdb_fail(&(cli)->err, HDB_EUSAGE, __VA_ARGS__)

/* Adds the file's name at the start of the message of a reader that returned `rc`. */
int cli_name_file(struct cli *cli, const char *name, int rc);

/* Prints the JSON Schema of all --json output; schema.c. */
void schema_print(struct output *out);

#endif

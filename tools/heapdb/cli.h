/*
 * heapdb/cli.h - what the files of the command share: the command table and the running command.
 *
 * The command is linked with the static library: names that cross files here begin with none of the
 * library's prefixes (hdb_, base_, hprof_, store_, graph_, import_, heap_, derive_, query_), for a
 * name of both would silently replace the library's.
 */
#ifndef HEAPDB_CLI_H
#define HEAPDB_CLI_H

#include "heapdb.h"

#include "base/error.h"
#include "base/scope.h"
#include "common/feed.h"
#include "common/output.h"
#include "heapdb/options.h"

/* Exit codes, as the manual has them. */
enum cli_exit {
	CLI_DONE = 0,
	CLI_NO = 1, /* it ran, and the answer is "no" or "not found" */
	CLI_USAGE = 2,
	CLI_INPUT = 3, /* bad input: a dump or a database, or none of that name */
	CLI_SYSTEM = 4 /* disk, memory, permission, interruption */
};

/* A database that is open beside cli->db, and where it and its dump are. */
struct database {
	char *db_path, *dump_path; /* owned; dump_path may be NULL */
	struct hdb *db;
};

/* Flags of a command. */
enum {
	NEEDS_DB = 1,    /* the runner finds and opens the database */
	WRITES = 2,      /* runs long: catches signals and draws progress */
	NAMES_QUERY = 4, /* its first operand is the name of a query */
	EXPORTS = 8,     /* for programs: any query, as TSV by default */
	NAMES_DB = 16,   /* its operand, if there is one, is the database, like --db */
	PASSES_ON = 32   /* another program reads its arguments: cli->rest */
};

struct cli;

struct command {
	const char *name; /* "import"; "export dump": a form with options of its own */
	/* HDB_OK, HDB_NOTFOUND, or a failure with its message in cli->err. NULL: not built in. */
	int (*run)(struct cli *cli);
	unsigned flags;
	uint64_t options;     /* enum option_group, those that it takes */
	const char *query;    /* the query that it asks, or NULL */
	const char *synopsis; /* what follows its name */
	const char *summary;  /* one line */
	const char *alias;    /* another name that it takes, or NULL */
};

/* Options of `capture` without a process, which lists the JVMs. */
#define CAPTURE_LIST_OPTIONS (OPTIONS_ROWS | OPTIONS_TABLE | OPTIONS_COLUMNS | OPTIONS_LIMIT)

/* The running command. */
struct cli {
	const struct command *command;
	struct options opt;
	struct arguments rest; /* of a command that PASSES_ON: all that follows its name */
	const struct hdb_query_spec *query; /* NULL: none */
	bool is_direct;                     /* `heapdb NAME` for `heapdb query NAME` */
	struct hdb *db;                     /* open if the command NEEDS_DB */
	char *db_path, *dump_path;          /* as located; owned, needed while db is open */
	struct database *before;            /* older ones to compare with; owned */
	size_t before_count;
	struct notes *notes; /* beside db; owned; NULL: not looked for, or there are none */
	bool has_read_notes;
	struct output *out;
	struct hdb_error err;
	char *statement;         /* `export TABLE` or a statement in SQL; owned; NULL: neither */
	bool is_open;            /* a JSON object is half written; see struct answer */
	char message_prefix[64]; /* "import", "query retained" */
};

/* The command table, ended by a NULL name. */
extern const struct command commands[];

/* Parts that this program was built without, and the library each needs; ended by a NULL name. */
struct missing {
	const char *name, *library;
};
extern const struct missing missing_doors[];

/* Fails: the command was not built in. */
int cli_fail_missing(struct hdb_error *err, const struct command *command);

/* By name or alias. */
const struct command *cli_find_command(const char *name);

/* The command, and the query, with the name or alias nearest to `name`; NULL: none is near. */
const char *cli_nearest_command(const char *name);
const struct hdb_query_spec *cli_nearest_query(const char *name);

/* One line on standard error, "heapdb: COMMAND: ..."; nothing under --quiet. */
void cli_notice(const struct cli *cli, const char *format, ...) HDB_PRINTF(2, 3);
/* The same of a text, as libraries call it; `ctx` is the command. */
void cli_on_notice(void *ctx, const char *text);

/* What is wrong with a database: facts that any answer of it has. Lent by the database. */
struct health_line {
	const char *name, *text; /* "stale", "redacted", "incomplete" */
};
#define HEALTH_LINES 3
size_t cli_health(const struct hdb *db, struct health_line out[HEALTH_LINES]);

/*
 * Prints these lines to standard error before an answer; under --quiet, too, because CSV has no
 * other place for them. `name` is that of the database if there are several, else NULL.
 */
void cli_tell_health(const struct cli *cli, const struct hdb *db, const char *name);

/* The bodies. */
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
int cmd_allocations(struct cli *cli);
int cmd_jfr(struct cli *cli);
int cmd_report(struct cli *cli);
int cmd_diff(struct cli *cli);
int cmd_mcp(struct cli *cli);
int cmd_fleet(struct cli *cli);
int cmd_sql(struct cli *cli);
int cmd_oql(struct cli *cli);
int cmd_serve(struct cli *cli);
int cmd_notes(struct cli *cli);
int cmd_help(struct cli *cli);
int cmd_version(struct cli *cli);

/* Prints what may stand at the end of a line; see complete.c. */
int cli_complete(struct cli *cli, struct arguments words);

/* The options that Python reads (cmd_fleet.c), for help and completion; ended by a NULL name. */
extern const struct option_info fleet_options[];

/* The statement that an operand of export is, or that reads the table it names; NULL: neither. */
char *export_statement(const char *operand);
/* Makes cli->statement read a table, or a class. */
int export_table(struct cli *cli, const char *name);
/* A notice that the query of this name is exported, if there is a table of that name. */
void export_tell_query(const struct cli *cli, const char *name);

/* What a query is asked with, as the command line says. */
struct hdb_query_args cli_query_args(const struct options *opt);

/* Runs `print` with its output in the file that -o names, which appears when it is whole. */
int export_to_file(struct cli *cli, int (*print)(struct cli *cli));

/*
 * Help on one command, or on one query (NULL: on the command alone); of a query `is_all` adds
 * columns, facts and the options that all queries share.
 */
void help_command(struct output *out, const struct command *command,
		  const struct hdb_query_spec *query, bool is_all);

/*
 * Imports `dump_path` as the options say; `out` may be NULL. `wait` as in struct
 * hdb_import_options.
 */
int cli_import(struct cli *cli, const char *dump_path, const char *db_path,
	       struct hdb_import_result *out, bool wait);

/* The same with options that were made before; their dump_name is set where the dump is no file. */
int cli_import_as(struct cli *cli, const char *dump_path, const char *db_path,
		  struct hdb_import_options *options, struct hdb_import_result *out);

/* The folder that a file is in, or would be in. */
void cli_folder_of(const char *path, char *folder, size_t size);

/* The options of an import from the command line, for callers that do not use cli_import. */
struct hdb_import_options cli_import_options(const struct cli *cli);

/* Reports the result of an import that took `seconds`, and problems of the dump. */
int cli_tell_import(struct cli *cli, const char *db_path, const struct hdb_import_result *result,
		    double seconds);

/*
 * Finds the database that is meant (see FILES in the manual), importing a dump first where one is
 * named that has none. Sets cli->db_path, and cli->dump_path where that is known.
 */
int locate_database(struct cli *cli);

/* The same if the database is there, with nothing imported or said; else HDB_EABSENT. */
int locate_existing(struct cli *cli);

/*
 * Whether an operand is a file that is meant as database or dump, and no name of a class or thread:
 * it is there, and is one of them by its first bytes, its ending or a slash in its name.
 */
bool locate_is_file(const char *name);
/* Whether it is a dump, an archive or a database, by its first bytes or its ending. */
bool locate_is_heap(const char *name);

/* Whether it has such an ending, or a slash, whether it is there or not. */
bool locate_looks_like_file(const char *name);

/*
 * The database that `name` is, or that of the dump that `name` is, which is imported if it has
 * none. *db_path and *dump_path (NULL for a database) are owned: free(), also after a failure.
 */
int locate_named(struct cli *cli, const char *name, char **db_path, char **dump_path);

/* Locates and opens the database that is meant, as cli->db, and reports its health. */
int cli_open_database(struct cli *cli);

/* Opens a database as the options say; what is lent is needed while it is open. */
int cli_open(struct cli *cli, const char *db_path, const char *dump_path, unsigned of,
	     struct hdb **db);

/*
 * The notes beside cli->db, lent, or NULL: there are none. That a file is damaged, is none of ours
 * or may not be read is said once, and answers come without notes; other failures are errors.
 */
int cli_notes(struct cli *cli, struct notes **notes);
void cli_notes_release(struct cli *cli);

/* The same for the page, as `notes` of struct serve_options has it. */
int page_notes(const char *db_path, const char *target, const char *text, char **json,
	       struct hdb_error *err);

/* A file that was read. */
struct file_text {
	const char *name; /* for messages; lent */
	char *data;       /* owned, with a zero behind it; NULL after a failure */
	size_t size, size_max;
};

/* Reads all of a file, of "-" the standard input. HDB_ELIMIT: it has more than size_max bytes. */
int cli_read_file(struct cli *cli, const char *path, size_t size_max, struct file_text *out);
static inline void file_text_release(struct file_text *text)
{
	free(text->data);
}

/* HDB_EUSAGE: what the command line asks for cannot be done; the message is printf's. */
#define cli_usage(cli, ...) hdb_fail(&(cli)->err, HDB_EUSAGE, __VA_ARGS__)

/* Puts the name of the file before the message of its reader, which returned `rc`. */
int cli_name_file(struct cli *cli, const char *name, int rc);

/* schema.c: prints the JSON Schema of all that --json prints. */
void schema_print(struct output *out);

#endif

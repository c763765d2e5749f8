/* heapdb/options.h - command-line options: options that commands share, and options of queries. */
#ifndef HEAPDB_OPTIONS_H
#define HEAPDB_OPTIONS_H

#include "heapdb.h"

#include <stdbool.h>
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command;

/* Default of --limit for people. */
#define OPTIONS_LIMIT_DEFAULT 25

/* Default of --limit for commands that run a single query with a short answer. */
#define OPTIONS_LIMIT_COMMAND 100

/*
 * Groups of options. A command accepts an option if its row in the command table has one of the
 * option's groups. Help, completion and option checking use the command table and the option table.
 */
enum option_group {
	OPTIONS_HELP = 1 << 0,     /* all commands */
	OPTIONS_DATABASE = 1 << 1, /* commands that open a database */
	OPTIONS_MEMORY = 1 << 2,   /* commands that compute */
	OPTIONS_QUIET = 1 << 3,    /* commands that report progress */
	OPTIONS_TIMINGS = 1 << 4,  /* commands that work in stages */
	OPTIONS_JSON = 1 << 5,     /* commands with JSON output */
	OPTIONS_HUMAN = 1 << 6,    /* commands that print sizes in tables */
	OPTIONS_ROWS = 1 << 7,     /* commands that print rows */
	OPTIONS_TABLE = 1 << 8,    /* commands that print tables by default */
	OPTIONS_FORMAT = 1 << 9,   /* commands with several row formats */
	OPTIONS_TREES = 1 << 10,   /* commands that draw trees */
	OPTIONS_COLUMNS = 1 << 11,
	OPTIONS_LIMIT = 1 << 12,
	OPTIONS_SORT = 1 << 13,
	OPTIONS_WHERE = 1 << 14,
	OPTIONS_FILE = 1 << 15,   /* commands that can write their output to a file */
	OPTIONS_OUTPUT = 1 << 16, /* commands that write a dump */
	OPTIONS_IMPORT = 1 << 17, /* each of the following groups applies to one or two commands */
	OPTIONS_CAPTURE = 1 << 18,
	OPTIONS_EXPORT = 1 << 19,
	OPTIONS_CONVERT = 1 << 20,
	OPTIONS_STRIP = 1 << 21,
	OPTIONS_REDACT = 1 << 22,
	OPTIONS_REPORT = 1 << 23,
	OPTIONS_SERVE = 1 << 24,
	OPTIONS_SQL = 1 << 25,
	OPTIONS_ALLOCATIONS = 1 << 26,
	OPTIONS_NAMES = 1 << 27,
	OPTIONS_TABLES_ALL = 1 << 28, /* commands that read SQL tables */
	/* --format for answers that can be drawn; see options_groups */
	OPTIONS_TREE_FORMAT = 1 << 29,
	OPTIONS_STACKS = 1 << 30 /* answers with stacks; see options_groups */
};

/*
 * Groups beyond the bits of an enum: commands that apply rules to classes, and commands that apply
 * rules to leaks.
 */
#define OPTIONS_RULES (UINT64_C(1) << 31)
#define OPTIONS_JFR (UINT64_C(1) << 32)
#define OPTIONS_NATIVE (UINT64_C(1) << 33)
#define OPTIONS_MEMINFO (UINT64_C(1) << 34)
/* Forms of the capture command: of Android apps, of dumps and histograms, and of JVM dumps. */
#define OPTIONS_ADB (UINT64_C(1) << 35)
#define OPTIONS_CAPTURE_ALL (UINT64_C(1) << 36)
#define OPTIONS_JVM_DUMP (UINT64_C(1) << 37)
#define OPTIONS_CHART (UINT64_C(1) << 38) /* options of `growth` */
#define OPTIONS_GATE (UINT64_C(1) << 39)
/* Commands that query a running JVM. */
#define OPTIONS_PROCESS (UINT64_C(1) << 40)
#define OPTIONS_WATCH (UINT64_C(1) << 41)
#define OPTIONS_MCP (UINT64_C(1) << 42)

/* The values of an option that may be repeated. */
#define OPTIONS_REPEATED_MAX 16
struct repeated {
	const char *values[OPTIONS_REPEATED_MAX]; /* borrowed */
	size_t count;
};

/*
 * Machine-readable formats of rows: X(NAME, word). The function render_##word of render.h writes an
 * answer in the format. options.c lists the suffixes of file names that select a format.
 */
#define FORMATS_OF_ROWS(X) \
	X(JSON, json) \
	X(JSONL, jsonl) \
	X(CSV, csv) \
	X(TSV, tsv)
/* Human-readable formats other than tables. */
#define FORMATS_OF_ROWS_TEXT "table, json, jsonl, csv or tsv"

#define FORMAT_NUMBER(name, word) FORMAT_##name,

/* Formats, in the order of the values of --format. */
enum format {
	FORMAT_TABLE,
	FORMATS_OF_ROWS(FORMAT_NUMBER) FORMAT_FOLDED,
	FORMAT_SPEEDSCOPE,
	FORMAT_PPROF,
	FORMAT_TREEMAP,
	FORMAT_ICICLE,
	FORMAT_PARQUET,
	FORMAT_ARROW,
	FORMAT_ARROW_STREAM
};

/* Values from the command line; zero if not given. */
struct options {
	const char *db, *dump, *tmp, *rules, *jfr, *output, *layout, *mapping, *javacore, *fetch,
		*sort, *columns, *where;
	const char *table;     /* export: an SQL table; NULL means a query or a statement */
	uint64_t memory_bytes; /* 0 means not given */
	unsigned threads;      /* 0 means not given */
	unsigned snapshot;     /* 0 means not given */
	unsigned timeout;      /* seconds; 0 means not given */
	unsigned port;         /* 0 means any free port */
	const char *listen;    /* NULL means loopback */
	bool open;             /* open a browser */
	const char *html;      /* output file of the report, or NULL if none */
	bool no_values;        /* whether to omit strings of the heap */
	/*
	 * Values of options that take one of several words: the index of the word, which equals the
	 * value of an enum of the library or of a reader.
	 */
	unsigned sizes, contents, packing, zero, arrays, by;
	const char *adb, *serial; /* for `capture`: process and device */
	unsigned parallel, gz;    /* 0 means not given */
	struct repeated when;     /* for `watch` */
	struct repeated with;     /* other files, for `report` and `serve` */
	const char *name, *dir, *then, *series, *interval, *histograms;
	const char *keep, *hash_key, *names_file, *report;
	const char *budget, *baseline; /* for `gate` */
	unsigned at_most;              /* for `watch`; 0 means not given */
	unsigned gate_format;
	bool live, all, histogram, once, update;
	bool allow_import, allow_capture; /* for `mcp` */
	bool app_only, segments, koom, hash, chart, points;
	unsigned id_size;  /* size of IDs in units of 4 bytes, or 0 if not given */
	unsigned is_plain; /* export without compression */
	enum format format;
	bool has_format; /* whether --json, --csv or --format was given */
	bool human, bytes, wide, stacks, quiet, verbose, no_progress, no_pager, timings, strict,
		force, help, names, schema;
	bool has_limit;
	uint64_t limit;        /* rows; 0 means all */
	const char **operands; /* owned array of operands, without the query's name */
	size_t operand_count;
	struct hdb_option *query_options; /* owned array */
	size_t query_option_count;
	const struct option_info *
		*given; /* owned array: distinct options given, except the query's own */
	size_t given_count;
};

/* Kind of an option's value, and the type of its member in struct options. */
enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char *, borrowed */
	OPTION_NUMBER, /* unsigned: 1 to `limit` */
	OPTION_BYTES,  /* uint64_t, at least 1 */
	OPTION_COUNT,  /* uint64_t: rows, 0 for all */
	OPTION_LIST,   /* struct repeated */
	OPTION_WORD,   /* unsigned: index of the word in `argument`; added to `limit` */
	OPTION_FORMAT  /* enum format, also an index added to `limit`; for a switch, `limit` */
};

/* An option that does not belong to a query. */
struct option_info {
	const char *name;
	const char *argument; /* NULL means a switch */
	uint64_t groups;      /* enum option_group */
	int letter;           /* letter of the short option, such as 'o' for -o; 0 if none */
	enum option_kind kind;
	unsigned place; /* offset of the member in struct options */
	unsigned limit; /* see option_kind */
	const char *help;
};

/* All shared options, terminated by a NULL name. */
extern const struct option_info option_table[];

/*
 * Returns the option groups that a command accepts. If `query` is not NULL, returns only the groups
 * that apply to its rows. Used by help, completion and options_parse.
 */
uint64_t options_groups(const struct command *command, const struct hdb_query_spec *query);

/* Finds the option with this name among the groups. Returns NULL if there is none. */
const struct option_info *options_find(const char *name, size_t size, uint64_t groups);

/* Returns the process ID in an operand, or 0 if the operand is not a process ID. */
int options_pid(const char *operand);

/* Range of argv that belongs to a command. argv[0] is the command's name. */
struct arguments {
	int count;
	char **values;
	int skip; /* index of an argument to skip, or 0 */
};

/*
 * Finds the first operand of a command with NAMES_QUERY, because the accepted options depend on the
 * query. Sets *place to the operand's index in args, or to 0 if there is none. Sets *table to the
 * value of a preceding --table of export, or to NULL. Fails with HDB_EUSAGE if options of the query
 * precede the operand.
 */
int options_query_name(const struct command *command, struct arguments args, int *place,
		       const char **table, struct hdb_error *err);

/*
 * Parses options and operands in any order. `spec` (may be NULL) adds the query's options. The
 * caller must pass `opt` to options_release even after a failure.
 */
int options_parse(const struct command *command, const struct hdb_query_spec *spec,
		  struct arguments args, struct options *opt, struct hdb_error *err);

/* Returns whether a shared option was given. */
bool options_given(const struct options *opt, const char *name);

/*
 * Fails with HDB_EUSAGE if an option outside the groups was given. For forms of a command that
 * accept fewer options than the command. `what` names the form.
 */
int options_only(const struct options *opt, uint64_t groups, const char *what,
		 struct hdb_error *err);

/* Returns whether this option of the query was given. */
bool options_has(const struct options *opt, const char *name);

void options_release(struct options *opt);

/* Returns whether --json is among the arguments, for errors before or during parsing. */
bool options_want_json(struct arguments args);

/* Returns whether the query itself defines this option. */
bool options_spec_has(const struct hdb_query_spec *spec, const char *name);

#endif

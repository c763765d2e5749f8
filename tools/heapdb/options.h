/*
 * heapdb/options.h - the command line: options that commands share, and those of queries.
 */
#ifndef HEAPDB_OPTIONS_H
#define HEAPDB_OPTIONS_H

#include "heapdb.h"

#include <stdbool.h>

struct command;

/* Rows that people get if they do not say --limit. */
#define OPTIONS_LIMIT_DEFAULT 25

/* The same of commands that answer one question only: what there is to know fits. */
#define OPTIONS_LIMIT_COMMAND 100

/*
 * Which commands take an option: those whose row in the command table has one of its groups. Help,
 * completion and the check of the command line follow from these two tables.
 */
enum option_group {
	OPTIONS_HELP = 1 << 0,     /* all */
	OPTIONS_DATABASE = 1 << 1, /* those that open a database */
	OPTIONS_MEMORY = 1 << 2,   /* those that compute */
	OPTIONS_QUIET = 1 << 3,    /* those that report progress */
	OPTIONS_TIMINGS = 1 << 4,  /* those that work in stages */
	OPTIONS_JSON = 1 << 5,     /* those that answer in JSON, too */
	OPTIONS_HUMAN = 1 << 6,    /* those with sizes in tables */
	OPTIONS_ROWS = 1 << 7,     /* those that answer with rows */
	OPTIONS_TABLE = 1 << 8,    /* those whose rows are for people unless they say otherwise */
	OPTIONS_FORMAT = 1 << 9,   /* those with rows in several formats */
	OPTIONS_TREES = 1 << 10,   /* those that draw trees, too */
	OPTIONS_COLUMNS = 1 << 11,
	OPTIONS_LIMIT = 1 << 12,
	OPTIONS_SORT = 1 << 13,
	OPTIONS_WHERE = 1 << 14,
	OPTIONS_FILE = 1 << 15,   /* those that write what they print into a file, too */
	OPTIONS_OUTPUT = 1 << 16, /* those that write a dump */
	OPTIONS_IMPORT = 1 << 17, /* and so on: those of one command or two */
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
	OPTIONS_TABLES_ALL = 1 << 28,  /* those that read tables of SQL */
	OPTIONS_TREE_FORMAT = 1 << 29, /* FORMAT of what can be drawn: options_groups */
	OPTIONS_STACKS = 1 << 30       /* those with stacks: options_groups */
};

/* An enum has no room for more: those whose answers try rules on classes, and leaks. */
#define OPTIONS_RULES (UINT64_C(1) << 31)
#define OPTIONS_JFR (UINT64_C(1) << 32)
#define OPTIONS_NATIVE (UINT64_C(1) << 33)
#define OPTIONS_MEMINFO (UINT64_C(1) << 34)
/* Of capture: those of devices, of dumps and histograms, and of dumps of JVMs. */
#define OPTIONS_ADB (UINT64_C(1) << 35)
#define OPTIONS_CAPTURE_ALL (UINT64_C(1) << 36)
#define OPTIONS_JVM_DUMP (UINT64_C(1) << 37)

/* In the order of the words of --format. */
enum format {
	FORMAT_TABLE,
	FORMAT_JSON,
	FORMAT_JSONL,
	FORMAT_CSV,
	FORMAT_TSV,
	FORMAT_FOLDED,
	FORMAT_SPEEDSCOPE,
	FORMAT_PPROF,
	FORMAT_TREEMAP,
	FORMAT_ICICLE,
	FORMAT_PARQUET,
	FORMAT_ARROW,
	FORMAT_ARROW_STREAM
};

/* What the command line said; zeros where it said nothing. */
struct options {
	const char *db, *dump, *tmp, *rules, *jfr, *output, *layout, *mapping, *javacore, *fetch,
		*sort, *columns, *where;
	const char *table;     /* of export: a table of SQL; NULL: a query, or a statement */
	uint64_t memory_bytes; /* 0: not given */
	unsigned threads;      /* 0: not given */
	unsigned snapshot;     /* 0: not given */
	unsigned timeout;      /* seconds; 0: not given */
	unsigned port;         /* 0: a free one */
	const char *listen;    /* NULL: loopback */
	bool open;             /* a browser */
	const char *html;      /* file of the report; NULL: none */
	bool no_values;        /* texts of the heap are left out of it */
	/* Words: the place of the word that was given; enums of the library and of readers. */
	unsigned sizes, contents, packing, zero, arrays, by;
	const char *adb, *serial; /* of capture: process and device */
	unsigned parallel, gz;    /* 0: not given */
	bool live, all, histogram;
	const char *keep, *hash_key, *names_file, *report;
	bool app_only, segments, koom, hash, chart;
	unsigned id_size;  /* in units of 4 bytes; 0: not given */
	unsigned is_plain; /* what is exported is not compressed */
	enum format format;
	bool has_format; /* one of --json, --csv, --format was given */
	bool human, bytes, wide, stacks, quiet, verbose, no_progress, no_pager, timings, strict,
		force, help, names, schema;
	bool has_limit;
	uint64_t limit;        /* rows; 0: all */
	const char **operands; /* owned array of what is no option, the query's name left out */
	size_t operand_count;
	struct hdb_option *query_options; /* owned array */
	size_t query_option_count;
	const struct option_info *
		*given; /* owned array: those that are not a query's own, each once */
	size_t given_count;
};

/* What an option's value is, and the type of its member of struct options. */
enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char *, lent */
	OPTION_NUMBER, /* unsigned: 1 to `limit` */
	OPTION_BYTES,  /* uint64_t, at least 1 */
	OPTION_COUNT,  /* uint64_t: rows, 0 for all */
	OPTION_WORD,   /* unsigned: the place of the word in `argument`, and `limit` */
	OPTION_FORMAT  /* enum format, the same; of a switch `limit` */
};

/* An option that is not a query's own. */
struct option_info {
	const char *name;
	const char *argument; /* NULL: a switch */
	uint64_t groups;      /* enum option_group */
	int letter;           /* 'o' for -o, 0: none */
	enum option_kind kind;
	unsigned place; /* of the member of struct options */
	unsigned limit; /* see option_kind */
	const char *help;
};

/* All of them, ended by a NULL name. */
extern const struct option_info option_table[];

/*
 * The groups of options that a command takes; with a query (may be NULL) those that make sense for
 * its rows. Help, completion and options_parse go by it.
 */
uint64_t options_groups(const struct command *command, const struct hdb_query_spec *query);

/* The table's option of that name which the groups have, or NULL. */
const struct option_info *options_find(const char *name, size_t size, uint64_t groups);

/* Which places of argv a command's line has: argv[0] is the command's name. */
struct arguments {
	int count;
	char **values;
	int skip; /* one that is passed over, 0: none */
};

/*
 * The first operand of a command that NAMES_QUERY, which the other options depend on: its place in
 * args, 0 if there is none. *table: what --table NAME of export said before it, or NULL.
 * HDB_EUSAGE if a query's own options come before it.
 */
int options_query_name(const struct command *command, struct arguments args, int *place,
		       const char **table, struct hdb_error *err);

/*
 * Reads options and operands in any order. `spec` (may be NULL) adds its own options. `opt` is
 * released by options_release even on failure.
 */
int options_parse(const struct command *command, const struct hdb_query_spec *spec,
		  struct arguments args, struct options *opt, struct hdb_error *err);

/* Whether an option that is not a query's own was given. */
bool options_given(const struct options *opt, const char *name);

/*
 * HDB_EUSAGE if an option of none of the groups was given; `what` takes only those. For commands
 * that take fewer options in one of their forms.
 */
int options_only(const struct options *opt, uint64_t groups, const char *what,
		 struct hdb_error *err);

/* Whether this option of the query was given. */
bool options_has(const struct options *opt, const char *name);

void options_release(struct options *opt);

/* Whether --json is among the arguments: for errors met before or while they are read. */
bool options_want_json(struct arguments args);

/* Whether the query has an option of that name itself. */
bool options_spec_has(const struct hdb_query_spec *spec, const char *name);

#endif

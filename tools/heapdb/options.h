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

/* Which commands take an option. */
enum option_group {
	OPTIONS_DATABASE = 1, /* those that open a database */
	OPTIONS_WORK = 2,     /* those that work long */
	OPTIONS_IMPORT = 4,
	OPTIONS_JSON = 8,     /* those that answer in tables or JSON */
	OPTIONS_ROWS = 16,    /* those that answer with rows */
	OPTIONS_HELP = 32,    /* all */
	OPTIONS_NAMES = 64,   /* help */
	OPTIONS_SQL = 128,    /* those that run statements */
	OPTIONS_SERVE = 256,  /* serve */
	OPTIONS_OUTPUT = 512, /* those that write a dump */
	OPTIONS_CONVERT = 1024,
	OPTIONS_STRIP = 2048,
	OPTIONS_REDACT = 4096,
	OPTIONS_REPORT = 8192, /* report */
	OPTIONS_CAPTURE = 16384,
	OPTIONS_TABLES = 32768,      /* those whose rows are no query's */
	OPTIONS_ALLOCATIONS = 65536, /* allocations */
	OPTIONS_EXPORT = 131072,
	OPTIONS_PEOPLE = 262144 /* those that answer with rows, for people, too */
};

/* In the order of the words of --format. */
enum format {
	FORMAT_TABLE,
	FORMAT_JSON,
	FORMAT_JSONL,
	FORMAT_CSV,
	FORMAT_TSV,
	FORMAT_FOLDED,
	FORMAT_SPEEDSCOPE,
	FORMAT_TREEMAP,
	FORMAT_ICICLE,
	FORMAT_PARQUET,
	FORMAT_ARROW,
	FORMAT_ARROW_STREAM
};

struct options {
	const char *db, *dump, *tmp, *output, *layout, *mapping, *sort, *columns, *where;
	const char *table;     /* of export: a table of SQL; NULL: a query, or a statement */
	uint64_t memory_bytes; /* 0: not given */
	unsigned threads;      /* 0: not given */
	unsigned snapshot;     /* 0: not given */
	unsigned timeout;      /* seconds; 0: not given */
	unsigned port;         /* 0: a free one */
	const char *listen;    /* NULL: loopback */
	bool open;             /* a browser */
	const char *by;        /* of allocations; NULL: not given */
	const char *html;      /* file of the report; NULL: none */
	bool no_values;        /* texts of the heap are left out of it */
	enum hdb_size_model sizes;
	enum hdb_contents contents;
	enum hdb_packing packing;
	enum hdb_strip strip;
	const char *adb, *serial; /* of capture: process and device */
	unsigned parallel, gz;    /* 0: not given */
	bool live, all;
	enum hdb_redact_arrays arrays;
	const char *keep, *hash_key, *names_file, *report;
	bool app_only, segments, koom, has_zero, hash;
	unsigned id_size; /* 0: not given */
	bool is_plain;    /* what is exported is not compressed */
	enum format format;
	bool has_format; /* one of --json, --csv, --format was given */
	bool human, wide, quiet, no_progress, timings, strict, force, help, names, schema;
	bool has_limit;
	uint64_t limit;        /* rows; 0: all */
	const char **operands; /* owned array of what is no option, the query's name left out */
	size_t operand_count;
	struct hdb_option *query_options; /* owned array */
	size_t query_option_count;
};

/* An option that is not a query's own. */
struct option_info {
	const char *name;
	const char *argument; /* NULL: a switch */
	unsigned groups;      /* enum option_group */
	char letter;          /* 'o' for -o, 0: none */
	const char *help;
};

/* All of them, ended by a NULL name. */
extern const struct option_info option_table[];

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

/* Whether an option of the query was given by this name of an earlier version. */
bool options_has_old(const struct options *opt, const char *name);

void options_release(struct options *opt);

/* Whether --json is among the arguments: for errors met before or while they are read. */
bool options_want_json(struct arguments args);

/* Whether the query has an option of that name itself. */
bool options_spec_has(const struct hdb_query_spec *spec, const char *name);

#endif

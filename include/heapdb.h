/*
 * heapdb.h - the one public header of heapdb, a database for Java and Android heap dumps.
 *
 * A heap database is made once from an HPROF file (hdb_import), opened any number of times
 * (hdb_open) and asked questions (hdb_query and the direct look-ups). Answers come row by row
 * from an iterator with named, typed columns; nothing is built whole in memory unless it must be
 * sorted.
 *
 * Results: every function that can fail returns an int: HDB_OK (0), an expected outcome above 0
 * (HDB_END, HDB_NOTFOUND), or a failure below 0 with its message in `err`. `err` may be NULL.
 * Threads: a handle is used by one thread at a time; several handles may be open on one database,
 * in one process or many.
 * Process-wide are only what handles on one file share, behind a lock, and a handler of SIGBUS: it
 * makes a page of our own maps that cannot be read a failure with a message (the file shrank, the
 * disk failed) and passes all other faults on to the handler that was there before.
 * Ownership words: "owned" (you free it with the named function), "borrowed until EVENT" (the
 * pointer dies with the event), "lent" (you keep it alive for the callee).
 */
#ifndef HEAPDB_H
#define HEAPDB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HDB_API __attribute__((visibility("default")))
#define HDB_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define HDB_API
#define HDB_PRINTF(f, a)
#endif

/* The version of this header, "major.minor.patch". */
#define HDB_VERSION "0.1.0"

/* The `schema` number that JSON output carries; it grows when a documented key changes. */
#define HDB_SCHEMA 1

/* Result codes. The order of the failures is the order of the command's exit codes. */
enum hdb_result {
	HDB_OK = 0,
	HDB_END = 1,      /* no more rows, records or entries */
	HDB_NOTFOUND = 2, /* the thing asked for is not there */

	HDB_EUSAGE = -1,    /* the call's arguments are wrong */
	HDB_EFORMAT = -10,  /* not an HPROF file, or a record that breaks the format */
	HDB_ETRUNC = -11,   /* input ends too early */
	HDB_ELIMIT = -12,   /* a named limit of heapdb was reached */
	HDB_ECORRUPT = -13, /* the heap database is damaged */
	HDB_EVERSION = -14, /* the heap database was written by another format version */
	HDB_ECHANGED = -15, /* the dump is not the one that was imported, or is not found */
	HDB_EABSENT = -16,  /* a dump or database of this name does not exist */
	HDB_EIO = -20,      /* the system refused or failed: disk, permission, mapping */
	HDB_ENOMEM = -21,   /* no memory */
	HDB_EINTR = -22,    /* interrupted by the caller's cancel flag */
	HDB_EBUG = -23      /* an invariant of heapdb does not hold: please report */
};

/* Longest message that an error carries, with its final zero. */
#define HDB_ERROR_SIZE 768

/* A failure: a result code and one line of English that says what, where and what was expected. */
struct hdb_error {
	int code;                     /* enum hdb_result, HDB_OK when there is none */
	char message[HDB_ERROR_SIZE]; /* zero-terminated, no newline at its end */
};

/*
 * Long work reports here. `report` may be called from the calling thread only; `done` and `total`
 * are bytes or objects as `unit` says; total 0 means unknown. When `*cancel` becomes nonzero (it
 * may be set from a signal handler) the work stops soon and returns HDB_EINTR, leaving nothing
 * behind.
 */
struct hdb_progress {
	void (*report)(void *ctx, const char *stage, uint64_t done, uint64_t total,
		       const char *unit); /* NULL: silent */
	void *ctx;                        /* passed to report and notice */
	const volatile int *cancel;       /* NULL: cannot be cancelled; lent */
	/*
	 * One line that the user should know, as that the database cannot be written; NULL: silent.
	 */
	void (*notice)(void *ctx, const char *text);
};

/* How shallow sizes are computed; see the manual's SIZES. */
enum hdb_size_model {
	HDB_SIZES_VM = 0,  /* as the running VM laid objects out, inferred from the dump */
	HDB_SIZES_MAT = 1, /* exactly Eclipse MAT's arithmetic */
	HDB_SIZES_DUMP = 2 /* what the file records: no headers, no padding */
};

struct hdb_import_options {
	uint64_t memory_bytes;     /* budget of anonymous memory; 0: a quarter of RAM or cgroup */
	unsigned threads;          /* worker threads; 0: one a core */
	enum hdb_size_model sizes; /* the shallow size model */
	const char *layout;        /* "header=12,ref=4,align=8", any part; NULL: infer; lent */
	unsigned snapshot;         /* which dump of a file that holds several, from 1; 0: first */
	int strict;                /* nonzero: refuse a damaged dump instead of salvaging it */
	int force;                 /* nonzero: replace an existing database */
	/*
	 * nonzero: if somebody else is importing into the same database, wait for the end of that
	 * and return HDB_END if it has made the database; else that is a failure, HDB_EIO
	 */
	int wait;
	struct hdb_progress progress;
};

/* What an import did. */
struct hdb_import_result {
	uint64_t object_count;    /* objects of all kinds, class objects included */
	uint64_t class_count;     /* classes */
	uint64_t reference_count; /* stored references, without the one to the object's class */
	uint64_t root_count;      /* root records on objects of the dump */
	uint64_t problem_count;   /* problems met, see hdb_query "problems" */
	uint64_t dump_bytes;      /* size of the dump file */
	uint64_t database_bytes;  /* size of the database file */
	unsigned snapshot_count;  /* heap dumps in the file */
};

/*
 * Imports the HPROF file `dump_path` into a new heap database `db_path` (NULL: the dump's name
 * with its extension replaced by ".heapdb"). The database appears under its name only when whole.
 * `opt` and `out` may be NULL. HDB_EUSAGE if the database exists and `force` is not set. HDB_END:
 * see `wait`.
 */
HDB_API int hdb_import(const char *dump_path, const char *db_path,
		       const struct hdb_import_options *opt, struct hdb_import_result *out,
		       struct hdb_error *err);

/*
 * Writes the default database name of `dump_path` into `buf` (`size` bytes): "x.hprof" gives
 * "x.heapdb". HDB_ELIMIT if it does not fit.
 */
HDB_API int hdb_default_path(const char *dump_path, char *buf, size_t size, struct hdb_error *err);

/* An open heap database. */
struct hdb;

struct hdb_open_options {
	const char *dump_path; /* where the dump is now; NULL: where it was at import; lent */
	uint64_t memory_bytes; /* budget for building derived tables; 0: as for import */
	unsigned threads;      /* worker threads; 0: one a core */
	struct hdb_progress progress;
	/*
	 * folder for private files (0600, without a name) if the database cannot be written; NULL:
	 * $TMPDIR or /tmp; lent. They are in memory where that cannot be written either
	 */
	const char *tmp_dir;
};

/*
 * Opens the database `db_path`. `opt` may be NULL. *out is owned: hdb_close.
 * The dump itself is opened only when a question needs its bytes (field values, array contents).
 */
HDB_API int hdb_open(const char *db_path, const struct hdb_open_options *opt, struct hdb **out,
		     struct hdb_error *err);

/*
 * What whoever shows an answer should say first. Where it holds, every hdb_rows has it as facts,
 * too, before its own (hdb_common_facts); hdb_object and hdb_retained have no other place for it.
 */
struct hdb_health {
	/*
	 * one line: the dump beside the database, or that of dump_path, is not the one that was
	 * imported: answers are of that one, and questions that need the dump's bytes fail with
	 * HDB_ECHANGED. NULL: it is, or there is none. Found when the database was opened. Borrowed
	 * until hdb_close
	 */
	const char *stale;
	/*
	 * one line: what the dump lacks, as its end or its GC roots; NULL: nothing that is known.
	 * Objects that nothing in it holds then count as GC roots. Borrowed until hdb_close
	 */
	const char *incomplete;
	uint64_t missing_bytes; /* of a dump that was cut: what it lacks at least; 0: not known */
	/* of an incomplete dump: bytes with objects that could not be read */
	uint64_t skipped_bytes;
	uint64_t roots_seen; /* root records on objects of the dump */
	/* How it was imported, for whoever imports the dump anew. */
	const char *dump_path; /* where the dump was; borrowed until hdb_close */
	const char *layout;    /* as import options have it, or NULL; borrowed until hdb_close */
	enum hdb_size_model sizes;
	unsigned snapshot;
	int strict;
};

/* Fills in *out. Reads nothing that hdb_open has not read. */
HDB_API void hdb_health(const struct hdb *db, struct hdb_health *out);

/* Closes the handle; NULL is fine. Every hdb_rows of it must be closed before. */
HDB_API void hdb_close(struct hdb *db);

/* Kinds of objects. */
enum hdb_object_kind {
	HDB_KIND_INSTANCE = 0,
	HDB_KIND_OBJECT_ARRAY = 1,
	HDB_KIND_PRIMITIVE_ARRAY = 2,
	HDB_KIND_CLASS = 3
};

/* The short facts of one object. */
struct hdb_object_info {
	uint64_t id; /* HPROF identifier */
	enum hdb_object_kind kind;
	const char *class_name; /* "java.util.HashMap$Node[]"; borrowed until hdb_close */
	uint64_t class_id;      /* identifier of its class object */
	uint64_t shallow_bytes; /* under the database's size model */
	uint64_t length;        /* elements of an array, else 0 */
	uint64_t file_offset;   /* of its record in the dump */
};

/* Looks up one object by HPROF identifier. HDB_NOTFOUND if the dump has none. */
HDB_API int hdb_object(struct hdb *db, uint64_t id, struct hdb_object_info *out,
		       struct hdb_error *err);

/*
 * The exact retained size in bytes of one object; builds what tables it needs. An unreachable
 * object retains 0 bytes. HDB_NOTFOUND if the dump has no such object.
 */
HDB_API int hdb_retained(struct hdb *db, uint64_t id, uint64_t *bytes, struct hdb_error *err);

/* Types of column values. */
enum hdb_type {
	HDB_TYPE_NULL = 0, /* no value */
	HDB_TYPE_COUNT,    /* u: a number of things */
	HDB_TYPE_BYTES,    /* u: a size in bytes */
	HDB_TYPE_ID,       /* u: an HPROF identifier, printed as 0x... */
	HDB_TYPE_INT,      /* i: a signed integer */
	HDB_TYPE_DOUBLE,   /* d */
	HDB_TYPE_BOOL,     /* u: 0 or 1 */
	HDB_TYPE_TEXT      /* text, text_size: valid UTF-8, not always zero-terminated */
};

/* One value of a row or one fact of an answer. */
struct hdb_value {
	enum hdb_type type; /* says which of the others has the value */
	uint64_t u;
	int64_t i;
	double d;
	const char *text; /* borrowed until the next call on the rows */
	size_t text_size; /* bytes */
};

/* One column of an answer, or one key among an answer's facts. */
struct hdb_column {
	const char *name;   /* key in JSON, CSV and --sort: lower case, [a-z0-9_] */
	enum hdb_type type; /* type of its values, each of which may also be HDB_TYPE_NULL */
	const char *title;  /* heading for people */
	const char *help;   /* one line: what it says, its unit */
};

/* One option that a query takes. */
struct hdb_option_spec {
	const char *name;     /* without dashes: "by" */
	const char *argument; /* NULL: a switch; else what it takes, "class|package|loader" */
	const char *help;     /* one line */
};

/* A name that an option had in earlier versions: understood for one version more. */
struct hdb_old_option {
	const char *old_name; /* without dashes */
	const char *name;     /* of the option now */
};

/* One query, as listed by hdb_queries. */
struct hdb_query_spec {
	const char *name; /* "retained" */
	/*
	 * other names that hdb_query takes, terms of other tools, with "|" between:
	 * "histo|class-histogram"; NULL: none
	 */
	const char *aliases;
	/* its name in earlier versions, taken for one version more, or NULL */
	const char *old_name;
	/*
	 * what it is about: "leaks", "sizes", "objects", "waste", "threads", "classes", "compare"
	 * or "database". Queries of a group follow each other
	 */
	const char *group;
	/*
	 * arguments as in a shell, that run on the sample dump (tests/data): what comes after its
	 * name; "": nothing
	 */
	const char *example;
	const char *targets;                   /* what its arguments are, "OBJECT|CLASS..." or "" */
	const char *summary;                   /* one line */
	const struct hdb_option_spec *options; /* ended by a NULL name; never NULL */
	const struct hdb_old_option *old_options; /* ended by a NULL old_name; NULL: none */
	const struct hdb_column *columns;         /* its columns, as documented */
	size_t column_count;
	const struct hdb_column *facts; /* its facts, as documented */
	size_t fact_count;
	int is_query; /* nonzero: `heapdb query NAME`; 0: another command's */
};

/* All queries, in the order of the manual. The array is static. */
HDB_API const struct hdb_query_spec *hdb_queries(size_t *count);

/*
 * The query that `name` names: its name, an alias or the name that it had. NULL: there is none.
 * Static.
 */
HDB_API const struct hdb_query_spec *hdb_query_named(const char *name);

/* Facts that any answer may have, before its own: see struct hdb_health. The array is static. */
HDB_API const struct hdb_column *hdb_common_facts(size_t *count);

/* An option given to a query; value NULL for a switch. */
struct hdb_option {
	const char *name;
	const char *value;
};

/* What a query is asked with; everything is lent until the rows are closed. */
struct hdb_query_args {
	const char *const *targets; /* object IDs ("0x12c4"), class names, patterns */
	size_t target_count;
	const struct hdb_option *options;
	size_t option_count;
	/*
	 * column to sort by, largest numbers and first texts first; "-column" the other way round;
	 * NULL: the query's own order
	 */
	const char *sort;
	uint64_t limit; /* most rows that will be taken; 0: all */
	/*
	 * open databases of earlier dumps, oldest first, for queries that compare ("diff"); NULL:
	 * none. Lent: a handle that is lent answers nothing else until the rows are closed
	 */
	struct hdb *const *before;
	size_t before_count;
};

/* An answer: an iterator over rows. */
struct hdb_rows;

/*
 * Asks a question. `args` may be NULL. *out is owned: hdb_rows_close. Builds the derived tables
 * that it needs, keeps them in the database, and reports progress meanwhile. HDB_NOTFOUND if an
 * object or class that is named does not exist, HDB_EUSAGE for an unknown query, option or column.
 */
HDB_API int hdb_query(struct hdb *db, const char *name, const struct hdb_query_args *args,
		      struct hdb_rows **out, struct hdb_error *err);

/* Number of columns, and one of them (borrowed until hdb_rows_close). */
HDB_API size_t hdb_rows_column_count(const struct hdb_rows *rows);
HDB_API const struct hdb_column *hdb_rows_column(const struct hdb_rows *rows, size_t column);

/* Steps to the next row: HDB_OK, HDB_END after the last (or after `limit`), or a failure. */
HDB_API int hdb_rows_next(struct hdb_rows *rows, struct hdb_error *err);

/* A value of the current row, borrowed until the next call of hdb_rows_next or hdb_rows_close. */
HDB_API const struct hdb_value *hdb_rows_value(const struct hdb_rows *rows, size_t column);

/*
 * How many rows there are without the limit. Known at once for most queries; for the others it
 * is counted, which may read on to the end: call it after the last hdb_rows_next.
 */
HDB_API int hdb_rows_total(struct hdb_rows *rows, uint64_t *total, struct hdb_error *err);

/*
 * Facts: named values that belong to the answer as a whole (totals, how it was found). Complete
 * once hdb_query returned. The column and the value are borrowed until hdb_rows_close.
 */
HDB_API size_t hdb_rows_fact_count(const struct hdb_rows *rows);
HDB_API const struct hdb_column *hdb_rows_fact_column(const struct hdb_rows *rows, size_t fact);
HDB_API const struct hdb_value *hdb_rows_fact_value(const struct hdb_rows *rows, size_t fact);

/* Ends the answer; NULL is fine. */
HDB_API void hdb_rows_close(struct hdb_rows *rows);

/* The library's version and a result code's name ("HDB_ETRUNC"); static strings. */
HDB_API const char *hdb_version(void);
HDB_API const char *hdb_result_name(int result);

#ifdef __cplusplus
}
#endif

#endif

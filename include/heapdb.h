/*
 * heapdb.h - the public header of heapdb, a database for Java and Android heap dumps.
 *
 * hdb_import makes a heap database from an HPROF file once. hdb_open opens it any number of times;
 * hdb_query and other functions read it. An answer is an iterator over rows with named, typed
 * columns; rows are kept in memory only to sort them.
 *
 * Results: a function that can fail returns an int: HDB_OK (0), an expected outcome above 0
 * (HDB_END, HDB_NOTFOUND), or a failure below 0 with its message in `err`, which may be NULL.
 * NULL: a pointer may be NULL if its function says so, and so may `err` and the argument of
 * functions named _close or _free. Any other NULL is HDB_EUSAGE and has no effect; functions
 * without a result code return 0, NULL, HDB_NONE, SIZE_MAX or "" then. Empty lists in structures
 * may be NULL. As with free(), no handle may be used after it was closed, or closed twice.
 * Threads: one thread at a time uses a handle. Several handles may be open on one database, in one
 * process or many.
 * Global state: handles on the same file share some, behind a lock. A SIGBUS handler turns an
 * unreadable page of the library's own maps (the file shrank, the disk failed) into a failure with
 * a message, and passes any other fault to the previous handler; an option leaves it out.
 * Ownership: "owned" (you free it with the named function), "borrowed until EVENT" (the pointer is
 * invalid after the event), "lent" (you keep it alive for the library).
 *
 * Structures: libraries with the same soname only add functions, and members at the end of
 * structures, so that programs need not be recompiled. This requires one rule:
 * - A structure that you make, for options or for a result, begins with `struct_size`: set it to
 *   sizeof the structure. The library reads and writes nothing beyond it. 0 stands for the size in
 *   the first version with this soname; a smaller size is HDB_EUSAGE. A member of options that
 *   is 0 is the default.
 * - A structure that the library makes is returned by pointer, never as an element of an array.
 * - Structures without `struct_size` that you make never change: hdb_error, hdb_progress,
 *   hdb_basic, hdb_value, hdb_option, hdb_class_count, hdb_set, and those of Arrow.
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
#define HDB_VERSION "0.3.0"

/* The version as a number, for comparisons: 10000 * major + 100 * minor + patch. */
#define HDB_VERSION_NUMBER 300

/* The `schema` number that JSON output carries; it grows when a documented key changes. */
#define HDB_SCHEMA 2

/*
 * Result codes. Failures of a kind follow each other: -1 to -9 the call is wrong, -10 to -19 the
 * dump or the database is, -20 and below the system is.
 */
enum hdb_result {
	HDB_OK = 0,
	HDB_END = 1,      /* no more rows, records or entries */
	HDB_NOTFOUND = 2, /* no such object, class or entry */

	HDB_EUSAGE = -1,    /* wrong arguments */
	HDB_EEXIST = -2,    /* the file exists; see `force` */
	HDB_EFORMAT = -10,  /* not an HPROF file, or an invalid record */
	HDB_ETRUNC = -11,   /* input ends too early */
	HDB_ELIMIT = -12,   /* a limit of heapdb was reached */
	HDB_ECORRUPT = -13, /* the database is damaged */
	HDB_EVERSION = -14, /* another version of heapdb wrote the database */
	HDB_ECHANGED = -15, /* the dump has changed since the import, or is missing */
	HDB_EABSENT = -16,  /* no dump or database of this name */
	HDB_EIO = -20,      /* system failure: disk, permission, mapping */
	HDB_ENOMEM = -21,   /* out of memory */
	HDB_EINTR = -22,    /* cancelled by the caller's flag */
	HDB_EBUG = -23      /* a bug of heapdb: please report it */
};

/* Size of an error message, including the final zero. */
#define HDB_ERROR_SIZE 768

/* A failure: a result code, and one line that states what failed, where, and what was expected. */
struct hdb_error {
	int code;                     /* enum hdb_result; HDB_OK: no error */
	char message[HDB_ERROR_SIZE]; /* zero-terminated, without newline */
};

/*
 * Progress of long work. `report` is called on the calling thread only; `done` and `total` are in
 * `unit` (bytes or objects), and total 0 is unknown. When `*cancel` becomes nonzero, which a signal
 * handler may do, the work soon stops and returns HDB_EINTR, leaving nothing behind.
 */
struct hdb_progress {
	void (*report)(void *ctx, const char *stage, uint64_t done, uint64_t total,
		       const char *unit); /* NULL: silent */
	void *ctx;                        /* first argument of report and notice */
	const volatile int *cancel;       /* NULL: cannot be cancelled; lent */
	/* One line for the user, such as that the database is read-only. NULL: silent. */
	void (*notice)(void *ctx, const char *text);
};

/* How shallow sizes are computed; see SIZES in heapdb(1). */
enum hdb_size_model {
	HDB_SIZES_VM = 0,   /* sizes in the VM, inferred from the dump */
	HDB_SIZES_MAT = 1,  /* Eclipse MAT's arithmetic, exactly */
	HDB_SIZES_DUMP = 2, /* recorded sizes: no headers, no padding */
	HDB_SIZES_AHAT = 3  /* the arithmetic of Android's ahat, exactly */
};

/* How the database refers to the dump. If it contains the dump, the dump file may be deleted. */
enum hdb_contents {
	HDB_CONTENTS_AUTO = 0, /* refer to a plain file, keep anything else */
	HDB_CONTENTS_KEEP = 1, /* keep it, compressed */
	HDB_CONTENTS_REFER = 2 /* refer to the file, which must be plain */
};

struct hdb_import_options {
	size_t struct_size;
	/*
	 * budget of anonymous memory; 0: a quarter of RAM or of the cgroup's limit, of up to 16 GiB
	 * at most 1 GiB; all beyond 5 bytes per object are pages of unlinked files if possible
	 */
	uint64_t memory_bytes;
	unsigned threads; /* worker threads; 0: one per core; fewer if the budget is small */
	enum hdb_size_model sizes;
	const char *layout; /* "header=12,ref=4,align=8", or parts of it; NULL: inferred; lent */
	unsigned snapshot;  /* which dump of a file with several, from 1; 0: first */
	int strict;         /* nonzero: refuse a damaged dump */
	int force;          /* nonzero: replace an existing database */
	/*
	 * nonzero: wait for another import into the same database, and return HDB_END if it
	 * succeeds; 0: HDB_EIO if there is one
	 */
	int wait;
	int no_sigbus_handler; /* nonzero: an unreadable page ends the process */
	struct hdb_progress progress;
	enum hdb_contents contents; /* whether the database contains the dump */
	const char *dump_name;      /* name of a dump that is not a file; NULL: dump_path; lent */
	/* mapping.txt of ProGuard or R8, to restore names and lines; NULL: none; lent */
	const char *mapping_path;
	/*
	 * nonzero: do not wait for the disk, for temporary databases. Processes see a complete
	 * database or none, but it may be damaged if the machine stops
	 */
	int no_sync;
	/* javacore of a portable heap dump; NULL: the one next to it, if any; lent */
	const char *javacore_path;
};

/* Result of an import. */
struct hdb_import_result {
	size_t struct_size;
	uint64_t object_count; /* objects of all kinds, including class objects */
	uint64_t class_count;
	uint64_t reference_count; /* references, except those to classes of objects */
	uint64_t root_count;      /* root records on objects of the dump */
	uint64_t problem_count;   /* see the query "problems" */
	uint64_t dump_bytes;      /* size of the dump, uncompressed */
	uint64_t database_bytes;
	unsigned snapshot_count; /* heap dumps in the file */
};

/*
 * Imports the dump `dump_path` into a new heap database `db_path` (NULL: the dump's name with the
 * extension ".heapdb"; required for "-"). The dump may be compressed by gzip or zstd, and may be a
 * pipe; "-" is standard input. A Perfetto trace must be a file; opt->snapshot selects one of its
 * Java heap graphs. A portable heap dump of OpenJ9 that is not a plain file is copied to the
 * database's directory while it is read. The database gets its name only when it is complete. `opt`
 * and `out` may be NULL. Fails with HDB_EEXIST if the database exists and `force` is not set.
 * HDB_END: see `wait`.
 */
HDB_API int hdb_import(const char *dump_path, const char *db_path,
		       const struct hdb_import_options *opt, struct hdb_import_result *out,
		       struct hdb_error *err);

/*
 * Imports the dump of an existing database again and replaces the database, with the options that
 * the database records (sizes, layout, mapping, snapshot, strict). For a database that hdb_open
 * refuses with HDB_EVERSION because an earlier version of heapdb wrote it. `dump_path` is the
 * current path of the dump; NULL: its path at the import. Of `opt`, only the budget, the threads,
 * `wait`, the SIGBUS handler and the progress are used; `notice` is called before the import
 * begins. Returns HDB_EVERSION, without changing the database, if it has another format, if it
 * contains its dump (a pipe, a compressed file) and dump_path is NULL, or if the dump is missing or
 * has changed. Otherwise as hdb_import.
 */
HDB_API int hdb_import_again(const char *db_path, const char *dump_path,
			     const struct hdb_import_options *opt, struct hdb_import_result *out,
			     struct hdb_error *err);

/*
 * Writes the default database name of `dump_path` into `buf` (`size` bytes): "x.hprof" and
 * "x.hprof.gz" give "x.heapdb". HDB_EUSAGE for "-"; HDB_ELIMIT if it does not fit.
 */
HDB_API int hdb_default_path(const char *dump_path, char *buf, size_t size, struct hdb_error *err);

/* ---- writing dumps ---- */

/* Compression of the new dump. */
enum hdb_packing {
	HDB_PACKING_AUTO = 0, /* selected by the suffix, .gz or .zst; otherwise none */
	HDB_PACKING_NONE = 1,
	HDB_PACKING_GZIP = 2, /* members of 1 MiB, as the JDK writes it */
	HDB_PACKING_ZSTD = 3  /* seekable */
};

/* Options of all functions that write a dump. */
struct hdb_output_options {
	size_t struct_size;
	enum hdb_packing packing;
	int force;             /* nonzero: replace an existing file */
	uint64_t memory_bytes; /* budget; 0: 32 MiB */
	unsigned threads;      /* for decompression; 0: one per core */
	struct hdb_progress progress;
};

/* Result of writing a dump. */
struct hdb_output_result {
	size_t struct_size;
	uint64_t dump_bytes;    /* size of the input, uncompressed */
	uint64_t file_bytes;    /* size of the new file */
	uint64_t object_count;  /* instances and arrays read; 0: bytes were copied */
	uint64_t dropped_count; /* objects left out */
	uint64_t changed_count; /* objects with changed contents */
	uint64_t changed_bytes; /* bytes replaced with zeros or hashes */
	uint64_t problem_count; /* number of damaged places; unreadable parts are left out */
	uint64_t renamed_count; /* names changed */
	uint64_t secret_count;  /* possible secrets reported */
};

struct hdb_convert_options {
	size_t struct_size;
	const struct hdb_output_options *output; /* NULL: defaults; lent */
	int app_only; /* nonzero: leave out Android's zygote and image heaps, as `hprof-conv -z` */
	int segments; /* nonzero: write the heap dump as short segments */
	unsigned id_size;  /* size of an identifier in the new dump, 4 or 8; 0: unchanged */
	unsigned snapshot; /* heap graph of a Perfetto trace, from 1; 0: first */
	const char *dump_name, *javacore_path; /* as in struct hdb_import_options */
};

/*
 * Converts the dump `in_path` ("-": standard input), compressed or not, to `out_path` ("-":
 * standard output). An Android dump (1.0.3) becomes a 1.0.2, as hprof-conv makes it: without the
 * records that only Android has, and with its GC roots as unknown ones. A Perfetto trace becomes an
 * Android dump (1.0.3) of one of its Java heap graphs, in which arrays and strings have lengths but
 * no contents. A portable heap dump of OpenJ9 becomes a 1.0.2 without contents. Any other dump is
 * copied byte for byte, unless the options change something. The file gets its name when it is
 * complete. `opt` and `out` may be NULL. Fails with HDB_EEXIST if the file exists and `force` is
 * not set; HDB_ELIMIT, naming the first one, if identifiers do not fit in 4 bytes.
 */
HDB_API int hdb_convert(const char *in_path, const char *out_path,
			const struct hdb_convert_options *opt, struct hdb_output_result *out,
			struct hdb_error *err);

/* What is set to zero. */
enum hdb_strip {
	HDB_STRIP_ARRAYS = 0,     /* contents of primitive arrays */
	HDB_STRIP_PRIMITIVES = 1, /* and primitive fields */
};

/* Primitive arrays to keep; all others are left out. */
enum hdb_keep {
	HDB_KEEP_STRINGS = 1, /* those of strings */
	HDB_KEEP_BITMAPS = 2, /* pixels of Android's bitmaps; the first of equal ones */
};

struct hdb_strip_options {
	size_t struct_size;
	const struct hdb_output_options *output; /* NULL: defaults; lent */
	enum hdb_strip what;
	unsigned keep; /* sum of enum hdb_keep; 0: leave out no array */
	int app_only;  /* nonzero: leave out Android's zygote and image heaps, as KOOM does */
};

/*
 * Writes a dump without contents, in the formats of hdb_convert. Object IDs, classes, references
 * and lengths remain, and so do sizes, dominators and paths. Compressed, it is a fraction of the
 * size.
 */
HDB_API int hdb_strip(const char *in_path, const char *out_path,
		      const struct hdb_strip_options *opt, struct hdb_output_result *out,
		      struct hdb_error *err);

/* Primitive arrays that lose their contents. */
enum hdb_redact_arrays {
	HDB_REDACT_ARRAYS = 0, /* all */
	HDB_REDACT_BYTES = 1,  /* those of bytes and chars */
	/*
	 * arrays of chars, arrays of strings, and arrays of bytes with four printable bytes in a
	 * row
	 */
	HDB_REDACT_TEXTS = 2,
};

struct hdb_redact_options {
	size_t struct_size;
	const struct hdb_output_options *output; /* NULL: defaults; lent */
	enum hdb_redact_arrays arrays;
	/*
	 * primitive fields that keep their values, and arrays ("byte[]"): names or patterns,
	 * "CLASS" or "CLASS:FIELD", ended by NULL; NULL: none; lent
	 */
	const char *const *keep;
	/*
	 * nonzero: replace contents of byte and char arrays with letters, the same for the same
	 * contents and key (SipHash-2-4-128)
	 */
	int hash;
	const char *key_path;   /* file with the key, 16 to 4,096 bytes; NULL: random; lent */
	const char *names_path; /* file with lines "OLD -> NEW" that rename; NULL: none; lent */
	/* output file for places (not values) of possible secrets; NULL: no search; lent */
	const char *report_path;
};

/*
 * Writes a dump without the program's data: as hdb_strip with HDB_STRIP_PRIMITIVES, except for the
 * sizes of the JDK's collections and what the options keep. The dump is marked as redacted, and
 * every answer from it says so. Names of classes, fields, methods, source files, threads and heaps
 * remain if a record refers to them.
 */
HDB_API int hdb_redact(const char *in_path, const char *out_path,
		       const struct hdb_redact_options *opt, struct hdb_output_result *out,
		       struct hdb_error *err);

/* An open heap database. */
struct hdb;

struct hdb_open_options {
	size_t struct_size;
	const char *dump_path; /* current path of the dump; NULL: as at import; lent */
	uint64_t memory_bytes; /* budget for building derived tables; 0: as for import */
	unsigned threads;      /* as for import */
	struct hdb_progress progress;
	/*
	 * directory for unnamed private files if the database cannot be written, or memory if the
	 * directory cannot be written; NULL: $TMPDIR or /tmp; lent
	 */
	const char *tmp_dir;
	int no_sigbus_handler; /* as for import */
	int no_sync; /* as for import; the first open handle on a file decides for the process */
	/* your own rules for the query "explain", read on first use; NULL: $HEAPDB_RULES; lent */
	const char *rules_path;
};

/*
 * Opens the database `db_path`. `opt` may be NULL. *out is owned: hdb_close. The dump itself is
 * opened only when a query needs its bytes (field values, array contents).
 */
HDB_API int hdb_open(const char *db_path, const struct hdb_open_options *opt, struct hdb **out,
		     struct hdb_error *err);

/*
 * Messages to show before an answer. Every hdb_rows has those that apply as facts before its own
 * (hdb_query_fact); hdb_object and hdb_retained do not report them.
 */
struct hdb_health {
	size_t struct_size;
	/*
	 * one line: the dump file has changed since the import. Answers describe the imported
	 * version; queries that need the dump's bytes fail with HDB_ECHANGED. NULL: unchanged when
	 * the database was opened, or gone. Borrowed until hdb_close
	 */
	const char *stale;
	/*
	 * one line: what the dump lacks, such as its end or GC roots; objects without referrers
	 * then count as GC roots. NULL: nothing is known to be missing. Borrowed until hdb_close
	 */
	const char *incomplete;
	const char *redacted;   /* one line: values were removed on purpose; or NULL; static */
	uint64_t missing_bytes; /* minimum number of bytes that a cut dump lacks; 0: unknown */
	uint64_t skipped_bytes; /* bytes with objects that could not be read */
	uint64_t roots_seen;    /* root records on objects of the dump */
	/* How the dump was imported, for importing it again. */
	const char *dump_path; /* path at import; borrowed until hdb_close */
	const char *layout;    /* as for import, or NULL; borrowed until hdb_close */
	enum hdb_size_model sizes;
	unsigned snapshot;
	int strict;
	const char *mapping_path; /* as for import, or NULL; borrowed until hdb_close */
};

/* Fills in *out with what hdb_open has read. */
HDB_API void hdb_health(const struct hdb *db, struct hdb_health *out);

/*
 * Returns the fingerprint of the imported dump; databases with the same fingerprint have the same
 * dump. Returns 0 if `db` is NULL.
 */
HDB_API uint64_t hdb_dump_fingerprint(const struct hdb *db);

/*
 * Returns the first failure that a function without `err`, or with NULL for it, could not report
 * because it returned a default such as "?" for a class name. Returns HDB_OK if there is none. Call
 * it before showing results of such functions. hdb_rows_next, and functions with `err` that read
 * names, do so themselves.
 */
HDB_API int hdb_failed(const struct hdb *db, struct hdb_error *err);

/* Closes the handle; close its rows and readers before. NULL is allowed. */
HDB_API void hdb_close(struct hdb *db);

/*
 * Reads up to `size` bytes of the uncompressed dump from `offset` into buf; *done is their number.
 * Returns HDB_END at the end. Fails with HDB_ECHANGED if the database does not contain the dump and
 * the dump is missing or changed.
 */
HDB_API int hdb_dump_read(struct hdb *db, uint64_t offset, void *buf, size_t size, size_t *done,
			  struct hdb_error *err);

/* Kinds of objects. */
enum hdb_object_kind {
	HDB_KIND_INSTANCE = 0,
	HDB_KIND_OBJECT_ARRAY = 1,
	HDB_KIND_PRIMITIVE_ARRAY = 2,
	HDB_KIND_CLASS = 3
};

/* An object. */
struct hdb_object_info {
	size_t struct_size;
	uint64_t id; /* HPROF identifier */
	enum hdb_object_kind kind;
	const char *class_name; /* "java.util.HashMap$Node[]"; borrowed until hdb_close */
	uint64_t class_id;      /* identifier of its class object */
	uint64_t shallow_bytes;
	uint64_t length;      /* array length, or 0 */
	uint64_t file_offset; /* of its record in the dump */
};

/* Looks up an object by identifier. Returns HDB_NOTFOUND if the dump does not have it. */
HDB_API int hdb_object(struct hdb *db, uint64_t id, struct hdb_object_info *out,
		       struct hdb_error *err);

/*
 * Finds the exact retained size of an object in bytes; 0 if it is unreachable. Builds the tables
 * that it needs. Returns HDB_NOTFOUND if the dump does not have the object.
 */
HDB_API int hdb_retained(struct hdb *db, uint64_t id, uint64_t *bytes, struct hdb_error *err);

/* ---- object by object ----
 *
 * For what no query answers. Objects are numbered in the order of their IDs, below
 * hdb_object_count, and classes below hdb_class_count; any other number is HDB_EUSAGE. Several
 * readers may be open on a handle at the same time; close them before hdb_close. Numbers belong to
 * a database: another import of the same dump may assign others.
 */

/* No object, no class. */
#define HDB_NONE UINT32_MAX

/* Objects and classes have numbers below these. Some objects are not in the dump: is_real. */
HDB_API uint32_t hdb_object_count(const struct hdb *db);
HDB_API uint32_t hdb_class_count(const struct hdb *db);

/* Finds the number of the object with this ID. HDB_NOTFOUND has no message. */
HDB_API int hdb_find(struct hdb *db, uint64_t id, uint32_t *ix, struct hdb_error *err);

struct hdb_object_facts {
	size_t struct_size;
	uint64_t id;
	uint32_t ix;
	uint32_t class_no;
	enum hdb_object_kind kind;
	int is_real;         /* 0: not in the dump, such as the boot class loader */
	uint32_t stands_for; /* class of a class object, or HDB_NONE */
	uint32_t heap_no;    /* Android heap, for hdb_heap_name, or HDB_NONE */
	uint64_t length;     /* array length, or 0 */
	uint64_t shallow_bytes;
};

/* Returns facts about object number ix without reading the dump. */
HDB_API int hdb_object_at(struct hdb *db, uint32_t ix, struct hdb_object_facts *out,
			  struct hdb_error *err);

/* Derived tables, which are computed on first use and stored. */
enum hdb_need {
	HDB_NEED_REACHABLE = 1,  /* reachability; paths to GC roots by any reference */
	HDB_NEED_STRONG = 2,     /* paths to GC roots by strong references */
	HDB_NEED_DOMINATORS = 4, /* dominators and retained sizes */
	HDB_NEED_CHILDREN = 8,   /* dominated objects */
	HDB_NEED_REFERRERS = 16  /* referrers */
};
/* Computes the tables that are missing. `needs` is the sum of enum hdb_need. */
HDB_API int hdb_need(struct hdb *db, unsigned needs, struct hdb_error *err);
/* Those that are stored. */
HDB_API unsigned hdb_has(struct hdb *db);

/* Sets *reachable to whether a GC root reaches the object by any reference. */
HDB_API int hdb_reachable_at(struct hdb *db, uint32_t ix, int *reachable, struct hdb_error *err);
/* As hdb_retained. */
HDB_API int hdb_retained_at(struct hdb *db, uint32_t ix, uint64_t *bytes, struct hdb_error *err);
/*
 * Finds the immediate dominator; HDB_NONE for the top level of the dominator tree. HDB_NOTFOUND for
 * an unreachable object. Needs dominators.
 */
HDB_API int hdb_dominator_at(struct hdb *db, uint32_t ix, uint32_t *dominator,
			     struct hdb_error *err);
/*
 * Finds the next object on a shortest path to a GC root; HDB_NONE if the object is a root. Returns
 * HDB_NOTFOUND if there is no path. If `strong` is nonzero, referents of weak, soft, phantom and
 * final references are ignored.
 */
HDB_API int hdb_parent_at(struct hdb *db, uint32_t ix, int strong, uint32_t *parent,
			  struct hdb_error *err);

/* Columns of a scan. */
enum hdb_scan_column {
	HDB_SCAN_ID = 1,
	HDB_SCAN_REACHABLE = 2,
	HDB_SCAN_RETAINED = 4,             /* needs dominators */
	HDB_SCAN_DOMINATOR = 8,            /* needs dominators */
	HDB_SCAN_OFFSET = 16,              /* offset of the record in the dump */
	HDB_SCAN_FIELDS = 32,              /* no column: read ahead for hdb_scan_field */
	HDB_SCAN_REFERRERS = 64,           /* their number; needs their table */
	HDB_SCAN_REACHABLE_REFERRERS = 128 /* count only reachable referrers */
};

struct hdb_scan_options {
	size_t struct_size;
	unsigned columns;       /* sum of enum hdb_scan_column; other columns are always set */
	const uint8_t *classes; /* by class number, nonzero: include; NULL: all; lent */
	unsigned kinds;         /* sum of 1 << enum hdb_object_kind; 0: all */
	int population;         /* 1: reachable objects; -1: unreachable ones; 0: all */
	uint32_t from_ix;       /* first object */
	uint32_t end_ix;        /* object after the last; 0: to the end */
	int descending;         /* nonzero: last object first */
};

/* Columns of `count` objects, borrowed until the next call on the scan. */
struct hdb_batch {
	size_t struct_size;
	size_t count;
	const uint32_t *ix;
	const uint32_t *class_no;
	const uint8_t *kind; /* enum hdb_object_kind */
	const uint64_t *shallow_bytes;
	const uint64_t *length; /* array length; of a class object, its class */
	const uint64_t *id;     /* this and the following: NULL unless requested */
	const uint8_t *reachable;
	const uint64_t *retained_bytes;
	const uint32_t *dominator;   /* HDB_NONE: top level; the object itself: unreachable */
	const uint64_t *file_offset; /* 0: unknown */
	const uint64_t *referrers;   /* number of objects in its HDB_REFERRERS list */
};

/*
 * Scans the objects that the options select, in the order of their numbers: about ten million per
 * second. Parts of the heap without these classes are skipped. `opt` may be NULL. *out is owned:
 * hdb_scan_close.
 */
struct hdb_scan;
HDB_API int hdb_scan_open(struct hdb *db, const struct hdb_scan_options *opt, struct hdb_scan **out,
			  struct hdb_error *err);
/* Reads the next batch: HDB_OK with at least one object, or HDB_END after the last. */
HDB_API int hdb_scan_next(struct hdb_scan *scan, struct hdb_batch *out, struct hdb_error *err);
/*
 * The value of a field of object `at` of the last batch, as hdb_field_value: about ten million per
 * second if all fields of an object are read before those of the next. Needs HDB_SCAN_FIELDS.
 */
struct hdb_field;
struct hdb_basic;
HDB_API int hdb_scan_field(struct hdb_scan *scan, size_t at, const struct hdb_field *field,
			   struct hdb_basic *out, struct hdb_error *err);
HDB_API void hdb_scan_close(struct hdb_scan *scan);

/* ---- classes ---- */

/* Types of fields and elements, with HPROF's numbers. */
enum hdb_basic_type {
	HDB_BASIC_OBJECT = 2,
	HDB_BASIC_BOOLEAN = 4,
	HDB_BASIC_CHAR = 5,
	HDB_BASIC_FLOAT = 6,
	HDB_BASIC_DOUBLE = 7,
	HDB_BASIC_BYTE = 8,
	HDB_BASIC_SHORT = 9,
	HDB_BASIC_INT = 10,
	HDB_BASIC_LONG = 11
};

struct hdb_class {
	size_t struct_size;
	uint32_t class_no;
	uint32_t super_no;       /* superclass, or HDB_NONE */
	uint32_t object_ix;      /* its class object */
	uint32_t loader_ix;      /* its class loader, or HDB_NONE for the boot loader */
	uint64_t id;             /* of its class object */
	uint64_t loader_id;      /* 0: boot loader */
	const char *name;        /* "java.util.HashMap$Node[]"; borrowed until hdb_close */
	const char *loader_name; /* class of the loader, or "<boot>"; borrowed likewise */
	uint64_t instance_bytes; /* shallow size of an instance or an empty array */
	uint32_t field_count;    /* own instance fields */
	uint32_t static_count;
	int is_array;
	int is_real;       /* 0: the dump has only objects of the class */
	unsigned strength; /* strength of the referents of its instances, as hdb_strength */
};
HDB_API int hdb_class_at(struct hdb *db, uint32_t class_no, struct hdb_class *out,
			 struct hdb_error *err);
/* Number and size of the objects of a class, without subclasses. */
struct hdb_class_count {
	uint64_t objects, shallow_bytes;                     /* all objects */
	uint64_t reachable_objects, reachable_shallow_bytes; /* 0 unless requested */
};
/*
 * The counts of all classes by class number; `out` has room for hdb_class_count. Reachable counts
 * come from the table of totals if it is stored, otherwise from a pass over the objects, and
 * require the table of reachable objects. All other counts come from the import.
 */
HDB_API int hdb_class_counts(struct hdb *db, int with_reachable, struct hdb_class_count *out,
			     struct hdb_error *err);
/* Returns the name of a class; "?" if it cannot be read (hdb_failed). Borrowed until hdb_close. */
HDB_API const char *hdb_class_name(struct hdb *db, uint32_t class_no);
/* Returns the first class with this name from number `from` on, or HDB_NONE. Searches all names. */
HDB_API uint32_t hdb_class_named(struct hdb *db, const char *name, uint32_t from);
/*
 * Sets marks[no] to 1 for each class that matches the pattern ("java.util.*", with * and ?) or
 * whose class object has that ID ("0x12c4"), to 2 for their subclasses if `subclasses` is nonzero,
 * and to 0 for all others. marks has room for hdb_class_count. Returns HDB_NOTFOUND if there is
 * none.
 */
HDB_API int hdb_classes_like(struct hdb *db, const char *pattern, int subclasses, uint8_t *marks,
			     struct hdb_error *err);
/* Returns 1 if class_no is super_no or a subclass of it, otherwise 0. */
HDB_API int hdb_is_subclass(struct hdb *db, uint32_t class_no, uint32_t super_no);

/* A value of a field or an element. */
struct hdb_basic {
	enum hdb_basic_type type; /* which of the other members is set */
	uint64_t id;              /* OBJECT: identifier, 0 for null; the dump may lack the object */
	int64_t i;                /* BOOLEAN (0, 1), CHAR, BYTE, SHORT, INT, LONG */
	double d;                 /* FLOAT, DOUBLE */
};

/* A field of a class. */
struct hdb_field {
	const char *name; /* UTF-8 */
	enum hdb_basic_type type;
	uint32_t declaring_no;  /* declaring class */
	uint32_t class_no;      /* class of the list */
	uint32_t from_end;      /* place in instances, for hdb_field_value */
	struct hdb_basic value; /* of a static field, otherwise 0 */
};
/*
 * The instance fields of a class, its own first, then those of each superclass; or its own static
 * fields. *count is their number. *out is owned: hdb_fields_free.
 */
struct hdb_fields;
HDB_API int hdb_class_fields(struct hdb *db, uint32_t class_no, struct hdb_fields **out,
			     size_t *count, struct hdb_error *err);
HDB_API int hdb_class_statics(struct hdb *db, uint32_t class_no, struct hdb_fields **out,
			      size_t *count, struct hdb_error *err);
/*
 * Returns one of the fields, by number from 0; NULL after the last. Borrowed until hdb_fields_free.
 */
HDB_API const struct hdb_field *hdb_field_at(const struct hdb_fields *fields, size_t no);
HDB_API void hdb_fields_free(struct hdb_fields *fields);

/* ---- values: from the dump; HDB_ECHANGED if it is missing or has changed ---- */

/*
 * Finds the value of a field (hdb_class_fields) of an instance of its class or of a subclass: about
 * a million per second. Returns HDB_NOTFOUND if the dump lacks it.
 */
HDB_API int hdb_field_value(struct hdb *db, uint32_t ix, const struct hdb_field *field,
			    struct hdb_basic *out, struct hdb_error *err);
/*
 * Finds the value at the end of a path of field names ("map.table", 16 names at most) from an
 * instance. Returns HDB_NOTFOUND if a field is missing, or a reference on the way is null or not in
 * the dump.
 */
HDB_API int hdb_path_value(struct hdb *db, uint32_t ix, const char *path, struct hdb_basic *out,
			   struct hdb_error *err);
/* A part of an array. */
struct hdb_slice {
	size_t struct_size;
	uint64_t from;  /* first element */
	size_t room;    /* size of `bits` */
	uint64_t *bits; /* elements as raw bits, for hdb_basic_of; lent */
	size_t count;   /* set by hdb_elements: less than `room` at the end of the array */
	enum hdb_basic_type type; /* set by hdb_elements */
};
/* Reads elements of an array. Fails with HDB_EUSAGE if the object is not an array. */
HDB_API int hdb_elements(struct hdb *db, uint32_t ix, struct hdb_slice *slice,
			 struct hdb_error *err);
HDB_API void hdb_basic_of(enum hdb_basic_type type, uint64_t bits, struct hdb_basic *out);
/*
 * Finds the text of an object: characters of a string or a char[], printable ASCII of a byte[], a
 * boxed number, the name of a thread, a date, or the class name of a class object. It is written to
 * buf (size bytes, terminated) and cut at a character. *units (may be NULL): UTF-16 units of a
 * string or elements of an array, at most three bytes each; otherwise 0. Returns HDB_NOTFOUND if it
 * has no text. A string may contain U+0000: see hdb_read_text.
 */
HDB_API int hdb_text(struct hdb *db, uint32_t ix, char *buf, size_t size, uint64_t *units,
		     struct hdb_error *err);
/* A text with its size, because it may contain zeros (U+0000). */
struct hdb_text {
	size_t struct_size;
	char *text;     /* UTF-8 and a final zero; owned: free() */
	size_t size;    /* bytes without the final zero */
	uint64_t units; /* as in hdb_text */
	int is_whole;   /* 0: truncated to at most `most` bytes, at a character boundary */
};
/* As hdb_text, in new memory, with at most `most` bytes. HDB_NOTFOUND: *out is zeros. */
HDB_API int hdb_read_text(struct hdb *db, uint32_t ix, uint64_t most, struct hdb_text *out,
			  struct hdb_error *err);
/* Returns 1 if the object is a java.lang.String, otherwise 0. */
HDB_API int hdb_is_string(struct hdb *db, uint32_t ix);

/* ---- references ---- */

/* Lists of an object. */
enum hdb_list_kind {
	HDB_REFERENCES, /* objects that it refers to, except its class, in the order of fields */
	HDB_REFERRERS,  /* objects that refer to it; of a class object, without its instances */
	HDB_DOMINATED /* objects that it immediately dominates, largest first; of HDB_NONE: the top
			   level */
};
/* Opens a reader of lists; builds the table that it needs. *out is owned: hdb_list_close. */
struct hdb_list;
HDB_API int hdb_list_open(struct hdb *db, enum hdb_list_kind kind, struct hdb_list **out,
			  struct hdb_error *err);
/* Starts to read the list of object ix. *length (may be NULL) is its number of entries. */
HDB_API int hdb_list_begin(struct hdb_list *list, uint32_t ix, uint64_t *length,
			   struct hdb_error *err);
/*
 * Returns the next entries, borrowed until the next call on the list; *count is 0 after the last.
 */
HDB_API int hdb_list_next(struct hdb_list *list, const uint32_t **ixs, size_t *count,
			  struct hdb_error *err);
HDB_API void hdb_list_close(struct hdb_list *list);

/* The reference of a field, static field or element. */
struct hdb_reference {
	uint64_t to_id; /* the object referred to */
	/*
	 * "next", "static cache", "<super>", "<class loader>", "<local variable>"; NULL: an
	 * element. Borrowed until hdb_close
	 */
	const char *name;
	uint64_t element;  /* index in the array, if `name` is NULL */
	unsigned strength; /* as in hdb_strength */
};
/*
 * Opens a reader of single references: one for each field and element, except those to classes and
 * to objects that the dump lacks. `name`: only those with this name ("next", "[3]"), which is
 * faster; NULL: all. *out is owned: hdb_references_close.
 */
struct hdb_references;
HDB_API int hdb_references_open(struct hdb *db, const char *name, struct hdb_references **out,
				struct hdb_error *err);
/* Sets marks[no] to 1 for classes whose objects can have such references, otherwise to 0. */
HDB_API int hdb_references_classes(struct hdb_references *refs, uint8_t *marks,
				   struct hdb_error *err);
/* Starts with the references of object `from` to object `to`; HDB_NONE: to any. */
HDB_API int hdb_references_begin(struct hdb_references *refs, uint32_t from, uint32_t to,
				 struct hdb_error *err);
/*
 * Returns the next reference, borrowed until the next call on the reader, or HDB_END. Fields of the
 * object's own class come before those of superclasses.
 */
HDB_API int hdb_references_next(struct hdb_references *refs, const struct hdb_reference **out,
				struct hdb_error *err);
HDB_API void hdb_references_close(struct hdb_references *refs);

/*
 * How `from` refers to `to`: names of fields separated by ", ", "[3]", "<class>", "<super>",
 * "<class loader>", "static NAME", "<local variable>"; "[?]" in very long arrays. Truncated to buf.
 */
HDB_API int hdb_holder(struct hdb *db, uint32_t from, uint32_t to, char *buf, size_t size,
		       struct hdb_error *err);
/* Returns the strength of the reference: 0 strong, 1 soft, 2 weak, 3 phantom, 4 final. */
HDB_API int hdb_strength(struct hdb *db, uint32_t from, uint32_t to, unsigned *strength,
			 struct hdb_error *err);
/* Returns the name of a strength, "strong" and so on; static. */
HDB_API const char *hdb_strength_name(unsigned strength);

/* ---- sets of objects ---- */

/*
 * A set of objects and its exact retained size: all objects that would become unreachable without
 * its reachable members, including these.
 */
struct hdb_set {
	const uint32_t *ixs; /* any order, repetitions allowed; lent */
	size_t count;
	uint64_t retained_bytes; /* set by hdb_retained_sets */
	uint64_t retained_count; /* number of objects; set likewise */
};
/*
 * Computes the sizes of many sets in one call, which is much faster than one by one. Builds the
 * tables that it needs.
 */
HDB_API int hdb_retained_sets(struct hdb *db, struct hdb_set *sets, size_t set_count,
			      struct hdb_error *err);

/*
 * Sets the bits of the objects that a set retains, including its reachable members and objects that
 * are not in the dump (is_real): bits[ix / 64] >> (ix % 64) & 1. There is room for hdb_object_count
 * bits and 64 more. One walk over the heap.
 */
HDB_API int hdb_retained_marks(struct hdb *db, const struct hdb_set *set, uint64_t *bits,
			       struct hdb_error *err);

/* ---- collections ---- */

struct hdb_collection {
	size_t struct_size;
	const char *known_as; /* known class, such as "java.util.HashMap"; static */
	const char *kind;     /* "list", "set", "map", "queue", "bits"; static */
	int has_size, has_capacity;
	uint64_t size;     /* number of elements or entries */
	uint64_t capacity; /* number that fits without growing */
};
/*
 * Describes a collection. Returns HDB_NOTFOUND if the object is not a collection of a known class.
 * Reads the dump.
 */
HDB_API int hdb_collection_at(struct hdb *db, uint32_t ix, struct hdb_collection *out,
			      struct hdb_error *err);

struct hdb_entry {
	size_t struct_size;
	uint64_t no;       /* from 0 */
	uint32_t entry_ix; /* object with key and value, or HDB_NONE */
	int has_key;       /* of a map */
	struct hdb_basic key, value;
};
/*
 * Opens the entries of a collection. HDB_NOTFOUND as above; HDB_EUSAGE if only the size of the
 * class is known. *out is owned: hdb_entries_close.
 */
struct hdb_entries;
HDB_API int hdb_entries_open(struct hdb *db, uint32_t ix, struct hdb_entries **out,
			     struct hdb_error *err);
/*
 * Returns the next entry. Returns HDB_END after the last, or where damaged links form a cycle.
 * Fails with HDB_EUSAGE after the last known entry if further ones are unknown.
 */
HDB_API int hdb_entries_next(struct hdb_entries *entries, struct hdb_entry *out,
			     struct hdb_error *err);
HDB_API void hdb_entries_close(struct hdb_entries *entries);

/* ---- GC roots and threads ---- */

struct hdb_root {
	size_t struct_size;
	uint32_t ix;
	const char *kind;       /* "JNI global", ...; static */
	uint32_t thread_serial; /* 0: none */
	uint32_t frame_depth;   /* 0: innermost; HDB_NONE: none */
	int is_local; /* held by a known thread, like a local variable; not a separate root */
};
/* Root records, ordered by object. */
HDB_API int hdb_root_count(struct hdb *db, uint64_t *count, struct hdb_error *err);
HDB_API int hdb_root_at(struct hdb *db, uint64_t no, struct hdb_root *out, struct hdb_error *err);
/* Finds the roots of object ix: numbers [*first, *first + *count). */
HDB_API int hdb_roots_of(struct hdb *db, uint32_t ix, uint64_t *first, uint64_t *count,
			 struct hdb_error *err);

struct hdb_thread {
	size_t struct_size;
	uint32_t serial;
	uint32_t ix;           /* thread object; HDB_NONE: not in the dump */
	uint32_t trace_serial; /* for hdb_frame_at */
	uint32_t frame_count;
	char name[512];   /* "": unknown */
	size_t name_size; /* bytes; the name may contain zeros */
};
/* Threads with a stack or start record, ordered by serial number. */
HDB_API uint64_t hdb_thread_count(struct hdb *db);
HDB_API int hdb_thread_at(struct hdb *db, uint64_t no, struct hdb_thread *out,
			  struct hdb_error *err);

struct hdb_frame {
	size_t struct_size;
	char class_name[1024], method[1024], signature[1024], source[1024]; /* "": unknown; cut */
	int line; /* 0 or -1: unknown, -2: compiled, -3: native */
};
/*
 * Returns frame `depth` of a trace (0: the innermost). Returns HDB_NOTFOUND if the dump does not
 * have it.
 */
HDB_API int hdb_frame_at(struct hdb *db, uint32_t trace_serial, uint32_t depth,
			 struct hdb_frame *out, struct hdb_error *err);

/* Return the number of Android's heaps, and the name of a heap, truncated to fit buf. */
HDB_API uint32_t hdb_heap_count(struct hdb *db);
HDB_API int hdb_heap_name(struct hdb *db, uint32_t heap_no, char *buf, size_t size,
			  struct hdb_error *err);

/* Types of column values. */
enum hdb_type {
	HDB_TYPE_NULL = 0, /* no value */
	HDB_TYPE_COUNT,    /* u */
	HDB_TYPE_BYTES,    /* u: size in bytes */
	HDB_TYPE_ID,       /* u: identifier, printed as 0x... */
	HDB_TYPE_INT,      /* i */
	HDB_TYPE_DOUBLE,   /* d */
	HDB_TYPE_BOOL,     /* u: 0 or 1 */
	HDB_TYPE_TEXT,     /* text, text_size: valid UTF-8, not always terminated */
	HDB_TYPE_PERCENT   /* d: percentage, shown with two decimals */
};

/* A value of a row, or a fact of an answer. */
struct hdb_value {
	enum hdb_type type; /* which of the other members is set */
	uint64_t u;
	int64_t i;
	double d;
	const char *text; /* borrowed until the next call on the rows */
	size_t text_size;
};

/* A column or a fact of an answer. */
struct hdb_column {
	const char *name;   /* key: [a-z0-9_] */
	enum hdb_type type; /* type of its values, which may also be HDB_TYPE_NULL */
	const char *title;  /* heading for people */
	const char *help;   /* one line, with the unit */
};

/* Type of the argument of a query option. */
enum hdb_option_type {
	HDB_OPTION_FLAG = 0, /* no argument */
	HDB_OPTION_CHOICE,   /* a word of `argument`, where "|" separates them */
	HDB_OPTION_NUMBER,   /* a number from `low` to `high`; of bytes also "64K", "10M" */
	HDB_OPTION_CLASSES,  /* class names and patterns, separated by commas */
	HDB_OPTION_OBJECT,   /* an object: "0x12c4" */
	HDB_OPTION_TEXT      /* any other text */
};

/* An option of a query; members in the order in which definitions are written. */
struct hdb_option_spec {  /* NOLINT(clang-analyzer-optin.performance.Padding) */
	const char *name; /* without dashes: "by" */
	enum hdb_option_type type;
	const char *argument;      /* "class|package", "BYTES"; NULL: a flag */
	const char *help;          /* one line */
	const char *default_value; /* NULL: see `help` */
	const char *example;       /* NULL for flags and choices */
	const char *unit;          /* of a number: "bytes", "percent", "objects"; or NULL */
	uint64_t low, high;        /* of a number; UINT64_MAX or INT64_MAX: no upper limit */
	int is_repeated;           /* nonzero: may be given several times */
};

/* Types of targets; flags. */
enum hdb_target_type {
	HDB_TARGET_OBJECT = 1,  /* an object: "0x12c4" */
	HDB_TARGET_CLASS = 2,   /* a class: name, or identifier of its class object */
	HDB_TARGET_PATTERN = 4, /* classes: names with * and ? */
	HDB_TARGET_LOADER = 8,  /* classes of a class loader: "loader:0x12c4", "loader:a.Loader" */
	HDB_TARGET_NAME = 16    /* a pattern for other names, such as thread names */
};

/* A query; hdb_query_at lists them. */
struct hdb_query_spec {      /* NOLINT(clang-analyzer-optin.performance.Padding) */
	const char *name;    /* "retained" */
	const char *aliases; /* other names, "histo|class-histogram"; NULL: none */
	/*
	 * "leaks", "sizes", "objects", "waste", "threads", "classes", "compare" or "database".
	 * Queries of a group are adjacent
	 */
	const char *group;
	const char *example;   /* shell arguments that run on the sample dump (tests/data), or "" */
	const char *targets;   /* for people: "OBJECT|CLASS..." or "" */
	unsigned target_types; /* sum of enum hdb_target_type; 0: no targets */
	unsigned target_min, target_max; /* their number; UINT_MAX: any */
	const char *summary;             /* one line */
	const char *never_null; /* columns with a value in every row, "name|objects", or NULL */
	/* Arrays for hdb_query_option, hdb_query_column and hdb_query_fact. */
	const struct hdb_option_spec *options; /* ended by a NULL name */
	const struct hdb_column *columns;
	size_t column_count;
	const struct hdb_column *facts;
	size_t fact_count;
	int is_query; /* 0: about a database or a comparison as a whole */
	/*
	 * the reason why a query that counts objects lacks the options "unreachable" and "all"; or
	 * NULL
	 */
	const char *one_population;
	int is_tree; /* nonzero: no row can be left out (struct hdb_row_filter) */
};

/*
 * Return the number of queries, and one by number, in the order of the manual. Static; NULL if
 * there is none.
 */
HDB_API size_t hdb_query_count(void);
HDB_API const struct hdb_query_spec *hdb_query_at(size_t no);

/*
 * An option, a column or a fact of a query, by number from 0. Static; NULL after the last. The
 * facts of query NULL are those that precede any answer's own: see struct hdb_health.
 */
HDB_API const struct hdb_option_spec *hdb_query_option(const struct hdb_query_spec *query,
						       size_t no);
HDB_API const struct hdb_column *hdb_query_column(const struct hdb_query_spec *query, size_t no);
HDB_API const struct hdb_column *hdb_query_fact(const struct hdb_query_spec *query, size_t no);

/* Returns the query with this name or alias, or NULL; static. */
HDB_API const struct hdb_query_spec *hdb_query_named(const char *name);

/* An option given to a query; value NULL for a flag. */
struct hdb_option {
	const char *name;
	const char *value;
};

/*
 * Selects rows of an answer, for callers that evaluate expressions over its columns. Answers whose
 * rows belong together, such as trees, refuse a filter: HDB_EUSAGE.
 */
struct hdb_row_filter {
	size_t struct_size;
	const char *text; /* as the user wrote it, to repeat in answers; NULL: unknown */
	void *ctx;        /* first argument of the functions */
	/* Called before the first row; columns are borrowed until hdb_rows_close. */
	int (*begin)(void *ctx, const struct hdb_column *const *columns, size_t count,
		     struct hdb_error *err);
	/* Whether `test` reads this column; others are computed for selected rows only. */
	int (*uses)(void *ctx, size_t column);
	/* Sets *wanted for a row with one value per column, borrowed. */
	int (*test)(void *ctx, const struct hdb_value *const *values, int *wanted,
		    struct hdb_error *err);
};

/* Arguments of a query; everything that it points to is lent until the rows are closed. */
struct hdb_query_args {
	size_t struct_size;
	const char *const *targets; /* object IDs ("0x12c4"), class names, patterns */
	size_t target_count;
	const uint64_t *ids; /* further targets, by identifier */
	size_t id_count;
	const struct hdb_option *options;
	size_t option_count;
	const char *
		/* column, numbers descending, strings ascending; "-column": reversed; or NULL */
		sort;
	uint64_t limit; /* maximum number of rows; 0: all */
	/*
	 * databases of earlier dumps, oldest first, for comparisons ("diff"); they cannot be used
	 * for anything else until the rows are closed
	 */
	struct hdb *const *before;
	size_t before_count;
	const struct hdb_row_filter *filter; /* NULL: all rows */
};

/* An answer: an iterator over rows. */
struct hdb_rows;

/*
 * Runs a query. `args` may be NULL. *out is owned: hdb_rows_close. Builds the derived tables that
 * it needs, with progress, and stores them in the database. Returns HDB_NOTFOUND if an object or
 * class that is named does not exist; HDB_EUSAGE for an unknown query, option or column.
 */
HDB_API int hdb_query(struct hdb *db, const char *name, const struct hdb_query_args *args,
		      struct hdb_rows **out, struct hdb_error *err);

/* Number of columns, and a single column (borrowed until hdb_rows_close). */
HDB_API size_t hdb_rows_column_count(const struct hdb_rows *rows);
HDB_API const struct hdb_column *hdb_rows_column(const struct hdb_rows *rows, size_t column);

/*
 * Returns the number of the column with this name, for hdb_rows_column, hdb_rows_value and the
 * functions below. A column of the query that does not apply to this answer or dump comes after the
 * other columns, and all its values are null. Returns SIZE_MAX if the query has no such column.
 */
HDB_API size_t hdb_rows_find_column(const struct hdb_rows *rows, const char *name);

/* Steps to the next row: HDB_OK, HDB_END after the last (or after `limit`), or a failure. */
HDB_API int hdb_rows_next(struct hdb_rows *rows, struct hdb_error *err);

/* A value of the current row, borrowed until the next call of hdb_rows_next or hdb_rows_close. */
HDB_API const struct hdb_value *hdb_rows_value(const struct hdb_rows *rows, size_t column);

/*
 * Returns the value by type: hdb_rows_u64 for counts, bytes, identifiers and booleans, hdb_rows_i64
 * for these and integers, hdb_rows_double for all numbers, hdb_rows_text for strings,
 * zero-terminated and borrowed like the value. 0 or NULL if there is no value or column, or if the
 * type is different.
 */
HDB_API uint64_t hdb_rows_u64(const struct hdb_rows *rows, size_t column);
HDB_API int64_t hdb_rows_i64(const struct hdb_rows *rows, size_t column);
HDB_API double hdb_rows_double(const struct hdb_rows *rows, size_t column);
HDB_API const char *hdb_rows_text(struct hdb_rows *rows, size_t column);

/* Whether the current row has no value in the column. */
HDB_API int hdb_rows_is_null(const struct hdb_rows *rows, size_t column);

/*
 * Returns the number of rows without the limit. Some queries have to count and may read to the end
 * for this: call it after the last hdb_rows_next.
 */
HDB_API int hdb_rows_total(struct hdb_rows *rows, uint64_t *total, struct hdb_error *err);

/*
 * Facts: named values about the answer as a whole (totals, how it was computed). Complete when
 * hdb_query returns. The column and the value are borrowed until hdb_rows_close.
 */
HDB_API size_t hdb_rows_fact_count(const struct hdb_rows *rows);
HDB_API const struct hdb_column *hdb_rows_fact_column(const struct hdb_rows *rows, size_t fact);
HDB_API const struct hdb_value *hdb_rows_fact_value(const struct hdb_rows *rows, size_t fact);

/* Returns the value of the fact with this name, borrowed likewise; NULL if the answer has none. */
HDB_API const struct hdb_value *hdb_rows_find_fact(const struct hdb_rows *rows, const char *name);

/* Ends the answer; NULL is allowed. */
HDB_API void hdb_rows_close(struct hdb_rows *rows);

/*
 * The structures of the Arrow C data and stream interfaces, an ABI that needs no library, unless
 * another header has defined them. See
 * https://arrow.apache.org/docs/format/CDataInterface.html
 */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

/*
 * Makes the remaining rows a stream of the Arrow C data interface, in `out` (lent): batches of at
 * most `batch_rows` rows (0: 65,536; SIZE_MAX: one batch, unless there is much text) with a field
 * per column. Counts, bytes and identifiers are uint64, integers int64, strings utf8; if all
 * possible strings are known beforehand (class names in "objects"), int32 indexes into a
 * dictionary, the same in all batches. The stream owns `rows` and must be released before
 * hdb_close. A failing call of the stream returns an errno and has a message. HDB_ENOMEM: `rows`
 * remains the caller's.
 */
HDB_API int hdb_rows_arrow(struct hdb_rows *rows, size_t batch_rows, struct ArrowArrayStream *out,
			   struct hdb_error *err);

/*
 * Rows from another source than a query, such as an SQL statement; the members work like the
 * functions hdb_rows_... Only members of columns that the first version with this soname has are
 * read.
 */
struct hdb_row_source {
	size_t struct_size;
	void *ctx;
	size_t column_count;
	const struct hdb_column *(*column)(void *ctx, size_t column);
	int (*next)(void *ctx, struct hdb_error *err);
	const struct hdb_value *(*value)(void *ctx, size_t column);
	void (*close)(void *ctx); /* on release of the stream; may be NULL */
};

/*
 * As hdb_rows_arrow, for the rows of a source. HDB_ENOMEM, or HDB_EUSAGE if a function other than
 * `close` is NULL, in which case nothing was closed.
 */
HDB_API int hdb_source_arrow(const struct hdb_row_source *source, size_t batch_rows,
			     struct ArrowArrayStream *out, struct hdb_error *err);

/* Returns the version of the loaded library, and the name of a result code; static strings. */
HDB_API const char *hdb_version(void);
/* HDB_VERSION_NUMBER of the loaded library, which may be newer than the header. */
HDB_API unsigned hdb_version_number(void);
HDB_API const char *hdb_result_name(int result);

#ifdef __cplusplus
}
#endif

#endif

/*
 * heapdb.h - the public header of heapdb, a database for Java and Android heap dumps.
 *
 * hdb_import converts a dump to a heap database once. hdb_open then opens the database as often as
 * needed, and hdb_query and other functions read it. An answer is an iterator over rows with named,
 * typed columns; rows are kept in memory only to sort them.
 *
 * Results: a function that can fail returns an int: HDB_OK (0), a positive code for an expected
 * outcome (HDB_END, HDB_NOTFOUND), or a negative code for a failure, whose message it writes to
 * `err`.
 * NULL: `err` may be NULL, and so may the argument of functions named _close or _free. Any other
 * pointer may be NULL only if the comment of its function says so. Otherwise the function does
 * nothing and returns HDB_EUSAGE or, if it has no result code, 0, NULL, HDB_NONE, SIZE_MAX or "".
 * Empty lists in structures may be NULL. As with free(), a handle must not be used or closed again
 * after it was closed.
 * Threads: only one thread at a time may use a handle. Several handles may be open on one database,
 * in one process or in several.
 * Global state: handles on the same file share some state, which a lock protects. A SIGBUS handler
 * turns an unreadable page of the library's own maps (the file shrank, the disk failed) into a
 * failure with a message, and passes any other fault to the previous handler. An option disables
 * this handler.
 * Ownership: "owned" means that you free the pointer with the named function, and "borrowed until
 * EVENT" that it is invalid after the event. An argument is "borrowed" if the library uses it
 * without making a copy; keep it alive.
 *
 * Structures: later libraries with the same soname add functions, and members at the end of
 * structures, but change nothing else, so programs need not be recompiled. This works as follows:
 * - A structure that you allocate, for options or for a result, begins with `struct_size`: set it
 * to the sizeof the structure. The library reads and writes nothing beyond it. 0 means the size in
 * the first version with this soname. A function that gets a smaller size returns HDB_EUSAGE. A
 * member of an options structure that is 0 has its default value.
 * - A structure that the library allocates is returned by pointer, never as an element of an array.
 * - Structures without `struct_size` that you allocate never change: hdb_error, hdb_progress,
 * hdb_basic, hdb_value, hdb_option, hdb_class_count, hdb_set, and the Arrow structures.
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
#define HDB_VERSION "0.4.0"

/* The version as a number, for comparisons: 10000 * major + 100 * minor + patch. */
#define HDB_VERSION_NUMBER 400

/* The value of `schema` in JSON output. It increases when a documented key changes. */
#define HDB_SCHEMA 2

/*
 * Result codes. Codes from -1 to -9 are caused by an incorrect call, codes from -10 to -19 by the
 * dump or the database, and codes from -20 on by the system or by heapdb.
 */
enum hdb_result {
	HDB_OK = 0,
	HDB_END = 1,      /* no more rows, records or entries */
	HDB_NOTFOUND = 2, /* no such object, class or entry */

	HDB_EUSAGE = -1,    /* wrong arguments */
	HDB_EEXIST = -2,    /* the file exists; see `force` */
	HDB_EFORMAT = -10,  /* the file is not an HPROF file, or a record is invalid */
	HDB_ETRUNC = -11,   /* input ends too early */
	HDB_ELIMIT = -12,   /* a limit of heapdb was reached */
	HDB_ECORRUPT = -13, /* the database is damaged */
	HDB_EVERSION = -14, /* another version of heapdb wrote the database */
	HDB_ECHANGED = -15, /* the dump has changed since the import, or is missing */
	HDB_EABSENT = -16,  /* no dump or database with this name */
	HDB_EIO = -20,      /* system failure: disk, permission, mapping */
	HDB_ENOMEM = -21,   /* out of memory */
	HDB_EINTR = -22,    /* cancelled by the caller's flag */
	HDB_EBUG = -23      /* a bug in heapdb: please report it */
};

/* Size of an error message, including the final zero. */
#define HDB_ERROR_SIZE 768

/*
 * A failure: a result code, and one line that states which operation failed, where, and what was
 * expected.
 */
struct hdb_error {
	int code;                     /* enum hdb_result; HDB_OK: no error */
	char message[HDB_ERROR_SIZE]; /* zero-terminated, without newline */
};

/*
 * Progress of a long operation. `report` is called only on the thread that called the function.
 * `done` and `total` are counted in `unit` (bytes or objects); `total` is 0 if it is unknown. To
 * cancel the operation, set `*cancel` to a nonzero value, from a signal handler or another thread
 * if you like (the library reads it atomically). The function then soon returns HDB_EINTR and
 * leaves no files behind.
 */
struct hdb_progress {
	void (*report)(void *ctx, const char *stage, uint64_t done, uint64_t total,
		       const char *unit); /* NULL means silent */
	void *ctx;                        /* first argument of report and notice */
	const volatile int *cancel;       /* NULL if the operation cannot be cancelled; borrowed */
	/* One line for the user, such as that the database is read-only. NULL means silent. */
	void (*notice)(void *ctx, const char *text);
};

/* How shallow sizes are computed; see SIZES in heapdb(1). */
enum hdb_size_model {
	HDB_SIZES_VM = 0,   /* sizes in the VM, inferred from the dump */
	HDB_SIZES_MAT = 1,  /* the same sizes as Eclipse MAT */
	HDB_SIZES_DUMP = 2, /* recorded sizes: no headers, no padding */
	HDB_SIZES_AHAT = 3  /* the same sizes as Android's ahat */
};

/* Whether the database contains the dump. If so, the dump file may be deleted. */
enum hdb_contents {
	HDB_CONTENTS_AUTO = 0, /* store the path of a plain file, and any other dump itself */
	HDB_CONTENTS_KEEP = 1, /* store the dump, compressed */
	HDB_CONTENTS_REFER = 2 /* store only the path of the file, which must be plain */
};

struct hdb_import_options {
	size_t struct_size;
	/*
	 * budget of anonymous memory; 0 means a quarter of RAM or of the cgroup's limit, with a
	 * maximum of 1 GiB on machines with up to 16 GiB. Memory beyond 5 bytes per object is
	 * backed by unlinked files if possible
	 */
	uint64_t memory_bytes;
	unsigned threads; /* worker threads; 0 means one per core; fewer if the budget is small */
	enum hdb_size_model sizes;
	/* "header=12,ref=4,align=8", or some of these; NULL means inferred; borrowed */
	const char *layout;
	/* number of the dump in a file with several dumps, starting at 1; 0 means the first */
	unsigned snapshot;
	int strict; /* nonzero: refuse a damaged dump */
	int force;  /* nonzero: replace an existing database */
	/*
	 * if another import into the same database is running, nonzero means to wait for that
	 * import, and to return HDB_END if it succeeds; 0 means to return HDB_EIO
	 */
	int wait;
	int no_sigbus_handler; /* nonzero: an unreadable page ends the process */
	struct hdb_progress progress;
	enum hdb_contents contents; /* whether the database contains the dump */
	/* name to record for a dump that is not a file; NULL means dump_path; borrowed */
	const char *dump_name;
	/* mapping.txt of ProGuard or R8, to restore names and lines, or NULL if none; borrowed */
	const char *mapping_path;
	/*
	 * nonzero: do not wait for the disk; meant for temporary databases. Other processes still
	 * see a complete database or no database, but a crash of the machine may damage it
	 */
	int no_sync;
	/*
	 * javacore of a portable heap dump; NULL means the javacore next to the dump, if any;
	 * borrowed
	 */
	const char *javacore_path;
};

/* Result of an import. */
struct hdb_import_result {
	size_t struct_size;
	uint64_t object_count; /* objects of all kinds, including class objects */
	uint64_t class_count;
	uint64_t reference_count; /* references, without those from objects to their classes */
	uint64_t root_count;      /* root records for objects in the dump */
	uint64_t problem_count;   /* see the query "problems" */
	uint64_t dump_bytes;      /* size of the dump, uncompressed */
	uint64_t database_bytes;
	unsigned snapshot_count; /* heap dumps in the file */
};

/*
 * Imports the dump `dump_path` into a new heap database `db_path` (NULL means the dump's name with
 * the extension ".heapdb"; required for "-"). The dump may be compressed by gzip or zstd, and may
 * be a pipe; "-" is standard input. A Perfetto trace must be a file; opt->snapshot selects one of
 * its Java heap graphs. A portable heap dump of OpenJ9 that is not a plain file is copied to the
 * database's directory while it is read. The database file appears only when it is complete. `opt`
 * and `out` may be NULL. Returns HDB_EEXIST if the database exists and `force` is not set, and
 * HDB_END as described for `wait`.
 */
HDB_API int hdb_import(const char *dump_path, const char *db_path,
		       const struct hdb_import_options *opt, struct hdb_import_result *out,
		       struct hdb_error *err);

/*
 * Imports the dump of an existing database again and replaces the database, with the options that
 * the database records (sizes, layout, mapping, snapshot, strict). Call this function if hdb_open
 * returns HDB_EVERSION because an earlier version wrote the database. `dump_path` is the current
 * path of the dump; NULL means its path at the import. Of `opt`, only the budget, the threads,
 * `wait`, the SIGBUS handler and the progress are used; `notice` is called before the import
 * begins. Returns HDB_EVERSION and leaves the database unchanged if the database has another
 * format, if the database contains its dump (read from a pipe or a compressed file) and dump_path
 * is NULL, or if the dump is missing or has changed. Otherwise like hdb_import.
 */
HDB_API int hdb_import_again(const char *db_path, const char *dump_path,
			     const struct hdb_import_options *opt, struct hdb_import_result *out,
			     struct hdb_error *err);

/*
 * Writes the default database name of `dump_path` into `buf` (`size` bytes): "x.hprof" and
 * "x.hprof.gz" become "x.heapdb". Returns HDB_EUSAGE for "-", and HDB_ELIMIT if the name does not
 * fit.
 */
HDB_API int hdb_default_path(const char *dump_path, char *buf, size_t size, struct hdb_error *err);

/* ---- writing dumps ---- */

/* Compression of the new dump. */
enum hdb_packing {
	HDB_PACKING_AUTO = 0, /* selected by the suffix, .gz or .zst; otherwise none */
	HDB_PACKING_NONE = 1,
	HDB_PACKING_GZIP = 2, /* members of 1 MiB, like the JDK's gzip dumps */
	HDB_PACKING_ZSTD = 3  /* seekable */
};

/* Options of all functions that write a dump. */
struct hdb_output_options {
	size_t struct_size;
	enum hdb_packing packing;
	int force;             /* nonzero: replace an existing file */
	uint64_t memory_bytes; /* budget; 0: 32 MiB */
	unsigned threads;      /* threads for decompression; 0 means one per core */
	struct hdb_progress progress;
};

/* Result of writing a dump. */
struct hdb_output_result {
	size_t struct_size;
	uint64_t dump_bytes; /* size of the input, uncompressed */
	uint64_t file_bytes; /* size of the new file */
	/* instances and arrays read; 0 means the dump was copied byte for byte */
	uint64_t object_count;
	uint64_t dropped_count; /* objects left out */
	uint64_t changed_count; /* objects with changed contents */
	uint64_t changed_bytes; /* bytes replaced with zeros or hashes */
	uint64_t problem_count; /* number of damaged places; unreadable parts are omitted */
	uint64_t renamed_count; /* names changed */
	uint64_t secret_count;  /* possible secrets reported */
};

struct hdb_convert_options {
	size_t struct_size;
	const struct hdb_output_options *output; /* NULL means defaults; borrowed */
	/* nonzero: omit Android's zygote and image heaps, like `hprof-conv -z` */
	int app_only;
	int segments;      /* nonzero: write the heap dump as short segments */
	unsigned id_size;  /* size of an identifier in the new dump, 4 or 8; 0 means unchanged */
	unsigned snapshot; /* heap graph of a Perfetto trace, from 1; 0 means the first */
	const char *dump_name, *javacore_path; /* as in struct hdb_import_options */
};

/*
 * Converts the dump `in_path` ("-": standard input), compressed or not, to `out_path` ("-":
 * standard output). An Android dump (1.0.3) is converted to 1.0.2 as by hprof-conv: records that
 * only Android has are omitted, and Android's kinds of GC root become "unknown". A Perfetto trace
 * becomes an Android dump (1.0.3) of one of its Java heap graphs, in which arrays and strings have
 * lengths but no contents. A portable heap dump of OpenJ9 becomes a 1.0.2 dump without contents.
 * Any other dump is copied byte for byte, unless the options change something. The file gets its
 * name when it is complete. `opt` and `out` may be NULL. Returns HDB_EEXIST if the file exists and
 * `force` is not set, and HDB_ELIMIT if an identifier does not fit in 4 bytes. The message contains
 * the first such identifier.
 */
HDB_API int hdb_convert(const char *in_path, const char *out_path,
			const struct hdb_convert_options *opt, struct hdb_output_result *out,
			struct hdb_error *err);

/* What to set to zero. */
enum hdb_strip {
	HDB_STRIP_ARRAYS = 0,     /* contents of primitive arrays */
	HDB_STRIP_PRIMITIVES = 1, /* primitive fields as well */
};

/* Primitive arrays to keep; all others are omitted. */
enum hdb_keep {
	HDB_KEEP_STRINGS = 1, /* arrays with the contents of strings */
	HDB_KEEP_BITMAPS = 2, /* pixels of Android's bitmaps; only one copy of equal bitmaps */
};

struct hdb_strip_options {
	size_t struct_size;
	const struct hdb_output_options *output; /* NULL means defaults; borrowed */
	enum hdb_strip what;
	unsigned keep; /* sum of enum hdb_keep; 0 means that no array is omitted */
	int app_only;  /* nonzero: omit Android's zygote and image heaps, like KOOM */
};

/*
 * Writes a dump without contents. Files and formats are as for hdb_convert. Object IDs, classes,
 * references and lengths remain, and with them sizes, dominators and paths. The result compresses
 * to a fraction of its size.
 */
HDB_API int hdb_strip(const char *in_path, const char *out_path,
		      const struct hdb_strip_options *opt, struct hdb_output_result *out,
		      struct hdb_error *err);

/* Primitive arrays whose contents are removed. */
enum hdb_redact_arrays {
	HDB_REDACT_ARRAYS = 0, /* all primitive arrays */
	HDB_REDACT_BYTES = 1,  /* byte and char arrays */
	/*
	 * char arrays, arrays with the contents of strings, and byte arrays with at least four
	 * consecutive printable bytes
	 */
	HDB_REDACT_TEXTS = 2,
};

struct hdb_redact_options {
	size_t struct_size;
	const struct hdb_output_options *output; /* NULL means defaults; borrowed */
	enum hdb_redact_arrays arrays;
	/*
	 * primitive fields and arrays ("byte[]") that keep their values: names or patterns, "CLASS"
	 * or "CLASS:FIELD", with NULL at the end; NULL means none; borrowed
	 */
	const char *const *keep;
	/*
	 * nonzero: replace contents of byte and char arrays with letters that depend only on the
	 * contents and the key (SipHash-2-4-128)
	 */
	int hash;
	const char *key_path; /* file with the key, 16 to 4,096 bytes; NULL if random; borrowed */
	const char
		*names_path; /* file of lines "OLD -> NEW" with new names; NULL if none; borrowed */
	/*
	 * output file for the locations, but not the values, of possible secrets; NULL means that
	 * heapdb does not search for secrets; borrowed
	 */
	const char *report_path;
};

/*
 * Writes a dump without the program's data. Like hdb_strip with HDB_STRIP_PRIMITIVES, but keeps the
 * sizes of the JDK's collections and the values that the options select. The dump is marked as
 * redacted, and every answer from it says so. Names of classes, fields, methods, source files,
 * threads and heaps remain if a record refers to them.
 */
HDB_API int hdb_redact(const char *in_path, const char *out_path,
		       const struct hdb_redact_options *opt, struct hdb_output_result *out,
		       struct hdb_error *err);

/* An open heap database. */
struct hdb;

struct hdb_open_options {
	size_t struct_size;
	/* current path of the dump; NULL means the path at the time of the import; borrowed */
	const char *dump_path;
	uint64_t memory_bytes; /* memory budget for building derived tables; 0 as for import */
	unsigned threads;      /* as in struct hdb_import_options */
	struct hdb_progress progress;
	/*
	 * directory for unnamed temporary files, which are used if the database is not writable. If
	 * the directory is not writable either, memory is used. NULL: $TMPDIR or /tmp; borrowed
	 */
	const char *tmp_dir;
	int no_sigbus_handler; /* as in struct hdb_import_options */
	/* as in struct hdb_import_options; if a process opens several handles on a file, the first
	 * decides */
	int no_sync;
	/*
	 * your own rules for the query "explain", read on first use; NULL: $HEAPDB_RULES; borrowed
	 */
	const char *rules_path;
};

/*
 * Opens the database `db_path`. `opt` may be NULL. The caller must close *out with hdb_close. The
 * dump itself is opened only when a query needs field values or array contents.
 */
HDB_API int hdb_open(const char *db_path, const struct hdb_open_options *opt, struct hdb **out,
		     struct hdb_error *err);

/*
 * Problems to report before an answer. Every hdb_rows reports the members that apply as facts,
 * before its own facts (hdb_query_fact). hdb_object and hdb_retained do not report them.
 */
struct hdb_health {
	size_t struct_size;
	/*
	 * one line: the dump file has changed since the import. Answers describe the imported
	 * version; queries that need the dump's bytes fail with HDB_ECHANGED. NULL means the file
	 * was unchanged, or missing, when the database was opened. Borrowed until hdb_close
	 */
	const char *stale;
	/*
	 * one line: parts that are missing from the dump, such as its end or its GC roots, in which
	 * case objects without referrers are treated as GC roots. NULL means no part is known to be
	 * missing. Borrowed until hdb_close
	 */
	const char *incomplete;
	/* one line if values were deliberately removed, otherwise NULL; static */
	const char *redacted;
	/* minimum number of bytes missing from a truncated dump, or 0 if unknown */
	uint64_t missing_bytes;
	uint64_t skipped_bytes; /* bytes with objects that could not be read */
	uint64_t roots_seen;    /* root records for objects in the dump */
	/* How the dump was imported. Use these values to import the dump again. */
	const char *dump_path; /* path at import; borrowed until hdb_close */
	const char *layout;    /* as for import, or NULL; borrowed until hdb_close */
	enum hdb_size_model sizes;
	unsigned snapshot;
	int strict;
	/* as in struct hdb_import_options, or NULL; borrowed until hdb_close */
	const char *mapping_path;
	/*
	 * whether objects may be missing, because the dump is truncated or damaged, or lacks
	 * packets; 0 if `incomplete` only reports that the dump does not record some data or was
	 * stripped
	 */
	int is_damaged;
};

/*
 * Sets *out to the state of the database: whether the dump has changed, is incomplete or was
 * redacted, and how it was imported.
 */
HDB_API void hdb_health(const struct hdb *db, struct hdb_health *out);

/*
 * Returns the fingerprint of the imported dump. Databases with the same fingerprint were made from
 * the same dump. Returns 0 if `db` is NULL.
 */
HDB_API uint64_t hdb_dump_fingerprint(const struct hdb *db);

/*
 * Returns the first failure that a function could not report because it has no `err` or `err` was
 * NULL, or HDB_OK if there was no such failure. The function returned a default instead, such as
 * "?" for a class name. Call hdb_failed before showing such results. hdb_rows_next and functions
 * with `err` that read names call hdb_failed themselves.
 */
HDB_API int hdb_failed(const struct hdb *db, struct hdb_error *err);

/* Closes the handle. Its rows and readers must be closed first. NULL is allowed. */
HDB_API void hdb_close(struct hdb *db);

/*
 * Reads up to `size` bytes of the uncompressed dump from `offset` into buf, and sets *done to the
 * number of bytes read. Returns HDB_END at the end, and HDB_ECHANGED if the database does not
 * contain the dump and the dump is missing or has changed.
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
	uint64_t file_offset; /* offset of its record in the dump */
};

/*
 * Looks up an object by identifier. Returns HDB_NOTFOUND if the dump does not contain the object.
 */
HDB_API int hdb_object(struct hdb *db, uint64_t id, struct hdb_object_info *out,
		       struct hdb_error *err);

/*
 * Sets *bytes to the exact retained size of an object, or to 0 if the object is unreachable. Builds
 * the tables that it needs. Returns HDB_NOTFOUND if the dump does not contain the object.
 */
HDB_API int hdb_retained(struct hdb *db, uint64_t id, uint64_t *bytes, struct hdb_error *err);

/* ---- object by object ----
 *
 * Use these functions for questions that no query answers. Objects are numbered from 0 to
 * hdb_object_count - 1 in the order of their IDs, and classes from 0 to hdb_class_count - 1. For
 * any other number, functions return HDB_EUSAGE. Several readers may be open on a handle at the
 * same time. Close them before hdb_close. Numbers are valid only for one database: another import
 * of the same dump may assign different numbers.
 */

/* No object, no class. */
#define HDB_NONE UINT32_MAX

/* Return the number of objects and of classes. Some objects are not in the dump: see is_real. */
HDB_API uint32_t hdb_object_count(const struct hdb *db);
HDB_API uint32_t hdb_class_count(const struct hdb *db);

/*
 * Finds the number of the object with this ID. Returns HDB_NOTFOUND, without a message, if there is
 * no such object.
 */
HDB_API int hdb_find(struct hdb *db, uint64_t id, uint32_t *ix, struct hdb_error *err);

struct hdb_object_facts {
	size_t struct_size;
	uint64_t id;
	uint32_t ix;
	uint32_t class_no;
	enum hdb_object_kind kind;
	int is_real;         /* 0 if not in the dump, such as the boot class loader */
	uint32_t stands_for; /* for a class object, the number of its class; otherwise HDB_NONE */
	uint32_t heap_no;    /* Android heap, for hdb_heap_name, or HDB_NONE */
	uint64_t length;     /* array length, or 0 */
	uint64_t shallow_bytes;
};

/* Returns facts about object number ix without reading the dump. */
HDB_API int hdb_object_at(struct hdb *db, uint32_t ix, struct hdb_object_facts *out,
			  struct hdb_error *err);

/* Derived tables. They are computed on first use and stored. */
enum hdb_need {
	HDB_NEED_REACHABLE = 1,  /* reachability; paths to GC roots by any reference */
	HDB_NEED_STRONG = 2,     /* paths to GC roots by strong references */
	HDB_NEED_DOMINATORS = 4, /* dominators and retained sizes */
	HDB_NEED_CHILDREN = 8,   /* dominated objects */
	HDB_NEED_REFERRERS = 16  /* referrers */
};
/* Computes the requested tables that are not stored yet. `needs` is a sum of enum hdb_need. */
HDB_API int hdb_need(struct hdb *db, unsigned needs, struct hdb_error *err);
/* Returns which tables are stored, as a sum of enum hdb_need. */
HDB_API unsigned hdb_has(struct hdb *db);

/* Sets *reachable to whether a GC root reaches the object by any reference. */
HDB_API int hdb_reachable_at(struct hdb *db, uint32_t ix, int *reachable, struct hdb_error *err);
/* Like hdb_retained, by object number. */
HDB_API int hdb_retained_at(struct hdb *db, uint32_t ix, uint64_t *bytes, struct hdb_error *err);
/*
 * Sets *dominator to the immediate dominator of an object, or to HDB_NONE if the object is at the
 * top level of the dominator tree. Returns HDB_NOTFOUND if the object is unreachable. Needs
 * dominators.
 */
HDB_API int hdb_dominator_at(struct hdb *db, uint32_t ix, uint32_t *dominator,
			     struct hdb_error *err);
/*
 * Sets *parent to the next object on a shortest path to a GC root, or to HDB_NONE if the object is
 * a root. Returns HDB_NOTFOUND if there is no path. If `strong` is nonzero, referents of weak,
 * soft, phantom and final references are ignored.
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
	HDB_SCAN_FIELDS = 32,              /* not a column: reads ahead for hdb_scan_field */
	HDB_SCAN_REFERRERS = 64,           /* number of referrers; needs HDB_NEED_REFERRERS */
	HDB_SCAN_REACHABLE_REFERRERS = 128 /* count only reachable referrers */
};

struct hdb_scan_options {
	size_t struct_size;
	unsigned columns; /* sum of enum hdb_scan_column; other columns are always set */
	/* indexed by class number; nonzero: include the class; NULL means all classes; borrowed */
	const uint8_t *classes;
	unsigned kinds;   /* sum of 1 << enum hdb_object_kind; 0 means all */
	int population;   /* 1 means reachable objects, -1 unreachable objects, 0 all objects */
	uint32_t from_ix; /* first object */
	uint32_t end_ix;  /* object after the last; 0 means the end */
	int descending;   /* nonzero: last object first */
};

/* Columns of `count` objects, borrowed until the next call on the scan. */
struct hdb_batch {
	size_t struct_size;
	size_t count;
	const uint32_t *ix;
	const uint32_t *class_no;
	const uint8_t *kind; /* enum hdb_object_kind */
	const uint64_t *shallow_bytes;
	const uint64_t *length; /* array length; for a class object, the number of its class */
	const uint64_t *id;     /* this and the following columns are NULL unless requested */
	const uint8_t *reachable;
	const uint64_t *retained_bytes;
	const uint32_t *dominator;   /* HDB_NONE at the top; the object itself if unreachable */
	const uint64_t *file_offset; /* 0 means unknown */
	const uint64_t *referrers;   /* number of objects in its HDB_REFERRERS list */
};

/*
 * Scans the objects that the options select, in the order of their numbers, at about ten million
 * objects per second. Parts of the heap without objects of the selected classes are skipped. `opt`
 * may be NULL. The caller must close *out with hdb_scan_close.
 */
struct hdb_scan;
HDB_API int hdb_scan_open(struct hdb *db, const struct hdb_scan_options *opt, struct hdb_scan **out,
			  struct hdb_error *err);
/*
 * Reads the next batch. Returns HDB_OK with at least one object, or HDB_END after the last object.
 */
HDB_API int hdb_scan_next(struct hdb_scan *scan, struct hdb_batch *out, struct hdb_error *err);
/*
 * Like hdb_field_value, for object `at` of the last batch. Needs HDB_SCAN_FIELDS. Reads about ten
 * million values per second if all fields of an object are read before the fields of the next
 * object.
 */
struct hdb_field;
struct hdb_basic;
HDB_API int hdb_scan_field(struct hdb_scan *scan, size_t at, const struct hdb_field *field,
			   struct hdb_basic *out, struct hdb_error *err);
HDB_API void hdb_scan_close(struct hdb_scan *scan);

/* ---- classes ---- */

/* Types of fields and elements, numbered as in HPROF. */
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
	uint64_t id;             /* ID of the class object */
	uint64_t loader_id;      /* 0 means boot loader */
	const char *name;        /* "java.util.HashMap$Node[]"; borrowed until hdb_close */
	const char *loader_name; /* class of the loader, or "<boot>"; borrowed until hdb_close */
	uint64_t instance_bytes; /* shallow size of an instance or an empty array */
	uint32_t field_count;    /* instance fields that the class declares */
	uint32_t static_count;
	int is_array;
	int is_real; /* 0 means the dump contains objects of the class, but not the class */
	/* strength of the references from its instances to their referents, as in hdb_strength */
	unsigned strength;
};
HDB_API int hdb_class_at(struct hdb *db, uint32_t class_no, struct hdb_class *out,
			 struct hdb_error *err);
/* Number and size of the objects of a class, without subclasses. */
struct hdb_class_count {
	uint64_t objects, shallow_bytes;                     /* all objects */
	uint64_t reachable_objects, reachable_shallow_bytes; /* 0 unless requested */
};
/*
 * Writes the counts of all classes to `out`, which is indexed by class number and must have room
 * for hdb_class_count elements. Reachable counts require HDB_NEED_REACHABLE. They come from the
 * table of totals if it is stored, and otherwise from a pass over the objects. All other counts
 * come from the import.
 */
HDB_API int hdb_class_counts(struct hdb *db, int with_reachable, struct hdb_class_count *out,
			     struct hdb_error *err);
/*
 * Returns the name of a class, or "?" if the name cannot be read (see hdb_failed). Borrowed until
 * hdb_close.
 */
HDB_API const char *hdb_class_name(struct hdb *db, uint32_t class_no);
/*
 * Returns the first class with this name and a number of at least `from`, or HDB_NONE if there is
 * none. This is a linear search.
 */
HDB_API uint32_t hdb_class_named(struct hdb *db, const char *name, uint32_t from);
/*
 * Sets marks[no] to 1 for each class whose name matches the pattern ("java.util.*", with * and ?)
 * or whose class object has this ID ("0x12c4"). If `subclasses` is nonzero, sets marks[no] to 2 for
 * subclasses of these classes. All other marks are 0. `marks` has hdb_class_count elements.
 * Returns HDB_NOTFOUND if no class matches.
 */
HDB_API int hdb_classes_like(struct hdb *db, const char *pattern, int subclasses, uint8_t *marks,
			     struct hdb_error *err);
/* Returns 1 if class_no is super_no or a subclass of it, otherwise 0. */
HDB_API int hdb_is_subclass(struct hdb *db, uint32_t class_no, uint32_t super_no);

/* A value of a field or an element. */
struct hdb_basic {
	enum hdb_basic_type type; /* which of the other members is set */
	/* OBJECT: identifier, 0 for null; the object may be missing in the dump */
	uint64_t id;
	int64_t i; /* BOOLEAN (0, 1), CHAR, BYTE, SHORT, INT, LONG */
	double d;  /* FLOAT, DOUBLE */
};

/* A field of a class. */
struct hdb_field {
	const char *name; /* UTF-8 */
	enum hdb_basic_type type;
	uint32_t declaring_no;  /* declaring class */
	uint32_t class_no;      /* class that was passed to hdb_class_fields or hdb_class_statics */
	uint32_t from_end;      /* position in instances, for hdb_field_value */
	struct hdb_basic value; /* value of a static field, otherwise 0 */
};
/*
 * hdb_class_fields returns the instance fields of a class: first the fields that the class
 * declares, then those of each superclass. hdb_class_statics returns the static fields that the
 * class declares. *count receives the number of fields. The caller must free *out with
 * hdb_fields_free.
 */
struct hdb_fields;
HDB_API int hdb_class_fields(struct hdb *db, uint32_t class_no, struct hdb_fields **out,
			     size_t *count, struct hdb_error *err);
HDB_API int hdb_class_statics(struct hdb *db, uint32_t class_no, struct hdb_fields **out,
			      size_t *count, struct hdb_error *err);
/*
 * Returns field number `no`, starting at 0, or NULL after the last field. Borrowed until
 * hdb_fields_free.
 */
HDB_API const struct hdb_field *hdb_field_at(const struct hdb_fields *fields, size_t no);
HDB_API void hdb_fields_free(struct hdb_fields *fields);

/* ---- values: from the dump; HDB_ECHANGED if it is missing or has changed ---- */

/*
 * Reads the value of an instance field (hdb_class_fields) from an instance of the class or of a
 * subclass, at about a million values per second. Returns HDB_NOTFOUND if the dump does not contain
 * the value.
 */
HDB_API int hdb_field_value(struct hdb *db, uint32_t ix, const struct hdb_field *field,
			    struct hdb_basic *out, struct hdb_error *err);
/*
 * Reads the value at the end of a path of at most 16 field names ("map.table") that starts at an
 * instance. Returns HDB_NOTFOUND if a field is missing, or if a reference in the path is null or
 * refers to an object that is not in the dump.
 */
HDB_API int hdb_path_value(struct hdb *db, uint32_t ix, const char *path, struct hdb_basic *out,
			   struct hdb_error *err);
/* A part of an array. */
struct hdb_slice {
	size_t struct_size;
	uint64_t from;  /* first element */
	size_t room;    /* size of `bits` */
	uint64_t *bits; /* elements as raw bits, for hdb_basic_of; borrowed */
	size_t count;   /* set by hdb_elements: less than `room` at the end of the array */
	enum hdb_basic_type type; /* set by hdb_elements */
};
/* Reads elements of an array. Returns HDB_EUSAGE if the object is not an array. */
HDB_API int hdb_elements(struct hdb *db, uint32_t ix, struct hdb_slice *slice,
			 struct hdb_error *err);
HDB_API void hdb_basic_of(enum hdb_basic_type type, uint64_t bits, struct hdb_basic *out);
/*
 * Writes the text of an object into buf (`size` bytes): the characters of a string or a char[], the
 * printable ASCII of a byte[], a boxed number, the name of a thread, a date, or the class name of a
 * class object. The text is zero-terminated, and truncated at a character boundary if it is too
 * long. Sets *units (`units` may be NULL) to the number of UTF-16 units of a string or of elements
 * of an array, each of which becomes at most three bytes of text, and otherwise to 0. Returns
 * HDB_NOTFOUND if the object has no text. If the text may contain U+0000, use hdb_read_text.
 */
HDB_API int hdb_text(struct hdb *db, uint32_t ix, char *buf, size_t size, uint64_t *units,
		     struct hdb_error *err);
/* A string. Its size is stored because the string may contain zeros (U+0000). */
struct hdb_text {
	size_t struct_size;
	char *text;     /* UTF-8 and a final zero; owned: free() */
	size_t size;    /* bytes without the final zero */
	uint64_t units; /* as in hdb_text */
	int is_whole;   /* 0: truncated to at most `most` bytes, at a character boundary */
};
/*
 * Like hdb_text, but allocates the text, of at most `most` bytes. If the result is HDB_NOTFOUND,
 * all members of *out are 0.
 */
HDB_API int hdb_read_text(struct hdb *db, uint32_t ix, uint64_t most, struct hdb_text *out,
			  struct hdb_error *err);
/* Returns 1 if the object is a java.lang.String, otherwise 0. */
HDB_API int hdb_is_string(struct hdb *db, uint32_t ix);

/* ---- references ---- */

/* Lists of objects that are related to an object. */
enum hdb_list_kind {
	HDB_REFERENCES, /* objects to which the object refers, except its class, by field order */
	HDB_REFERRERS,  /* objects that refer to the object; no instances for a class object */
	/* objects that the object immediately dominates, largest first; HDB_NONE: top level */
	HDB_DOMINATED
};
/*
 * Opens a reader of lists, and builds the table that it needs. The caller must close *out with
 * hdb_list_close.
 */
struct hdb_list;
HDB_API int hdb_list_open(struct hdb *db, enum hdb_list_kind kind, struct hdb_list **out,
			  struct hdb_error *err);
/* Starts the list of object ix. Sets *length (`length` may be NULL) to its number of entries. */
HDB_API int hdb_list_begin(struct hdb_list *list, uint32_t ix, uint64_t *length,
			   struct hdb_error *err);
/*
 * Sets *ixs to the next entries, which are borrowed until the next call on the list, and *count to
 * their number, which is 0 after the last entry.
 */
HDB_API int hdb_list_next(struct hdb_list *list, const uint32_t **ixs, size_t *count,
			  struct hdb_error *err);
HDB_API void hdb_list_close(struct hdb_list *list);

/* A reference from a field, a static field or an array element. */
struct hdb_reference {
	uint64_t to_id; /* ID of the object to which the reference leads */
	/*
	 * "next", "static cache", "<super>", "<class loader>", "<local variable>"; NULL means an
	 * element. Borrowed until hdb_close
	 */
	const char *name;
	uint64_t element;  /* index in the array, if `name` is NULL */
	unsigned strength; /* as in hdb_strength */
};
/*
 * Opens a reader that returns one reference for each field and element, except references from
 * objects to their classes and references to objects that are not in the dump. If `name` ("next",
 * "[3]") is not NULL, returns only references with this name, which is faster. The caller must
 * close *out with hdb_references_close.
 */
struct hdb_references;
HDB_API int hdb_references_open(struct hdb *db, const char *name, struct hdb_references **out,
				struct hdb_error *err);
/*
 * Sets marks[no] to 1 if objects of class `no` can contain references that the reader returns, and
 * to 0 otherwise.
 */
HDB_API int hdb_references_classes(struct hdb_references *refs, uint8_t *marks,
				   struct hdb_error *err);
/*
 * Selects the references from object `from` to object `to`, or to any object if `to` is HDB_NONE,
 * for hdb_references_next.
 */
HDB_API int hdb_references_begin(struct hdb_references *refs, uint32_t from, uint32_t to,
				 struct hdb_error *err);
/*
 * Returns the next reference, borrowed until the next call on the reader, or HDB_END. Fields that
 * the object's own class declares come before fields of superclasses.
 */
HDB_API int hdb_references_next(struct hdb_references *refs, const struct hdb_reference **out,
				struct hdb_error *err);
HDB_API void hdb_references_close(struct hdb_references *refs);

/*
 * Writes how `from` refers to `to`: one or more references, separated by ", ". Each is the name of
 * a field, "[3]", "<class>", "<super>", "<class loader>", "static NAME" or "<local variable>". The
 * index is "[?]" in very long arrays. The text is truncated to fit buf.
 */
HDB_API int hdb_holder(struct hdb *db, uint32_t from, uint32_t to, char *buf, size_t size,
		       struct hdb_error *err);
/*
 * Sets *strength to the strength of the reference from `from` to `to`: 0 strong, 1 soft, 2 weak, 3
 * phantom, 4 final.
 */
HDB_API int hdb_strength(struct hdb *db, uint32_t from, uint32_t to, unsigned *strength,
			 struct hdb_error *err);
/* Returns the name of a strength, such as "strong"; static. */
HDB_API const char *hdb_strength_name(unsigned strength);

/* ---- sets of objects ---- */

/*
 * A set of objects and its exact retained size: the size of all objects that would become
 * unreachable if the reachable members of the set were removed, including these members.
 */
struct hdb_set {
	const uint32_t *ixs; /* any order, repetitions allowed; borrowed */
	size_t count;
	uint64_t retained_bytes; /* set by hdb_retained_sets */
	uint64_t retained_count; /* number of retained objects; set by hdb_retained_sets */
};
/*
 * Computes the retained size of each set. One call with many sets is much faster than one call for
 * each set. Builds the tables that it needs.
 */
HDB_API int hdb_retained_sets(struct hdb *db, struct hdb_set *sets, size_t set_count,
			      struct hdb_error *err);

/*
 * Sets the bit of each object that a set retains, including reachable members of the set and
 * objects that are not in the dump (see is_real). The bit of object ix is bits[ix / 64] >> (ix %
 * 64) & 1. `bits` must have room for hdb_object_count + 64 bits. Visits all objects of the
 * heap once.
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
	uint64_t capacity; /* number of elements or entries that fit without growing */
};
/*
 * Describes a collection. Reads the dump. Returns HDB_NOTFOUND if the object is not a collection of
 * a known class.
 */
HDB_API int hdb_collection_at(struct hdb *db, uint32_t ix, struct hdb_collection *out,
			      struct hdb_error *err);

struct hdb_entry {
	size_t struct_size;
	uint64_t no;       /* number of the entry, starting at 0 */
	uint32_t entry_ix; /* object with key and value, or HDB_NONE */
	int has_key;       /* nonzero: an entry of a map */
	struct hdb_basic key, value;
};
/*
 * Opens the entries of a collection. The caller must close *out with hdb_entries_close. Returns
 * HDB_NOTFOUND if the object is not a collection of a known class, and HDB_EUSAGE if heapdb can
 * only read the size of collections of this class.
 */
struct hdb_entries;
HDB_API int hdb_entries_open(struct hdb *db, uint32_t ix, struct hdb_entries **out,
			     struct hdb_error *err);
/*
 * Returns the next entry, or HDB_END after the last entry, or at a cycle of damaged links. Returns
 * HDB_EUSAGE after the last known entry if the collection has further entries.
 */
HDB_API int hdb_entries_next(struct hdb_entries *entries, struct hdb_entry *out,
			     struct hdb_error *err);
HDB_API void hdb_entries_close(struct hdb_entries *entries);

/* ---- GC roots and threads ---- */

struct hdb_root {
	size_t struct_size;
	uint32_t ix;
	const char *kind;       /* "JNI global", ...; static */
	uint32_t thread_serial; /* 0 means none */
	uint32_t frame_depth;   /* depth of the frame, where 0 is the innermost; HDB_NONE if none */
	/*
	 * nonzero: a known thread holds the object, for example in a local variable, so the object
	 * is not a root itself
	 */
	int is_local;
};
/* Read the number of root records, and one record. Records are sorted by object. */
HDB_API int hdb_root_count(struct hdb *db, uint64_t *count, struct hdb_error *err);
HDB_API int hdb_root_at(struct hdb *db, uint64_t no, struct hdb_root *out, struct hdb_error *err);
/* Finds the root records of object ix, which have the numbers [*first, *first + *count). */
HDB_API int hdb_roots_of(struct hdb *db, uint32_t ix, uint64_t *first, uint64_t *count,
			 struct hdb_error *err);

struct hdb_thread {
	size_t struct_size;
	uint32_t serial;
	uint32_t ix;           /* thread object; HDB_NONE means not in the dump */
	uint32_t trace_serial; /* for hdb_frame_at */
	uint32_t frame_count;
	char name[512];   /* "": unknown */
	size_t name_size; /* bytes; the name may contain zeros */
};
/*
 * hdb_thread_count returns the number of threads with a stack or start record. hdb_thread_at
 * returns thread number `no`, in order of serial number.
 */
HDB_API uint64_t hdb_thread_count(struct hdb *db);
HDB_API int hdb_thread_at(struct hdb *db, uint64_t no, struct hdb_thread *out,
			  struct hdb_error *err);

struct hdb_frame {
	size_t struct_size;
	/* "" if unknown; truncated */
	char class_name[1024], method[1024], signature[1024], source[1024];
	int line; /* line number; 0 or -1 means unknown, -2 compiled, -3 native */
};
/*
 * Reads frame `depth` (0 means innermost) of a stack trace. Returns HDB_NOTFOUND if the dump does
 * not contain the frame.
 */
HDB_API int hdb_frame_at(struct hdb *db, uint32_t trace_serial, uint32_t depth,
			 struct hdb_frame *out, struct hdb_error *err);

/* Return the number of Android heaps, and the name of a heap, truncated to fit buf. */
HDB_API uint32_t hdb_heap_count(struct hdb *db);
HDB_API int hdb_heap_name(struct hdb *db, uint32_t heap_no, char *buf, size_t size,
			  struct hdb_error *err);

/* Types of column values. */
enum hdb_type {
	HDB_TYPE_NULL = 0, /* no value */
	HDB_TYPE_COUNT,    /* a count; value in `u` */
	HDB_TYPE_BYTES,    /* size in bytes; value in `u` */
	HDB_TYPE_ID,       /* identifier, printed as 0x...; value in `u` */
	HDB_TYPE_INT,      /* a signed integer; value in `i` */
	HDB_TYPE_DOUBLE,   /* a floating-point number; value in `d` */
	HDB_TYPE_BOOL,     /* 0 or 1; value in `u` */
	HDB_TYPE_TEXT,     /* valid UTF-8, not always terminated; value in `text`, `text_size` */
	HDB_TYPE_PERCENT   /* percentage, shown with two decimals; value in `d` */
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
	HDB_OPTION_CHOICE,   /* one of the words in `argument`, which are separated by "|" */
	HDB_OPTION_NUMBER,   /* a number from `low` to `high`; for bytes also "64K", "10M" */
	HDB_OPTION_CLASSES,  /* class names and patterns, separated by commas */
	HDB_OPTION_OBJECT,   /* an object: "0x12c4" */
	HDB_OPTION_TEXT      /* any other text */
};

/* An option of a query. The members are in the order in which definitions are written. */
struct hdb_option_spec {  /* NOLINT(clang-analyzer-optin.performance.Padding) */
	const char *name; /* without dashes: "by" */
	enum hdb_option_type type;
	const char *argument;      /* "class|package", "BYTES"; NULL for a flag */
	const char *help;          /* one line */
	const char *default_value; /* NULL if `help` states it */
	const char *example;       /* NULL for flags and choices */
	const char *unit;          /* unit of a number: "bytes", "percent", "objects"; or NULL */
	uint64_t low, high;        /* range of a number; UINT64_MAX or INT64_MAX: no upper limit */
	int is_repeated;           /* nonzero: may be given several times */
};

/* Types of targets, as flags. */
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
	const char *aliases; /* other names, "histo|class-histogram", or NULL if none */
	/*
	 * "leaks", "sizes", "objects", "waste", "threads", "classes", "compare" or "database".
	 * Queries of the same group are adjacent
	 */
	const char *group;
	const char *example;   /* shell arguments that run on the sample dump (tests/data), or "" */
	const char *targets;   /* for people: "OBJECT|CLASS..." or "" */
	unsigned target_types; /* sum of enum hdb_target_type; 0 means no targets */
	unsigned target_min, target_max; /* number of targets; UINT_MAX: any */
	const char *summary;             /* one line */
	/* columns that have a value in every row, such as "name|objects"; or NULL */
	const char *never_null;
	/* Arrays behind hdb_query_option, hdb_query_column and hdb_query_fact. */
	const struct hdb_option_spec *options; /* ended by a NULL name */
	const struct hdb_column *columns;
	size_t column_count;
	const struct hdb_column *facts;
	size_t fact_count;
	int is_query; /* 0 means the answer describes a database or a comparison as a whole */
	/*
	 * the reason why a query that counts objects has no options "unreachable" and "all"; or
	 * NULL
	 */
	const char *one_population;
	int is_tree; /* nonzero: rows cannot be filtered (struct hdb_row_filter) */
};

/*
 * hdb_query_count returns the number of queries. hdb_query_at returns query number `no`, starting
 * at 0, in the order of the manual, or NULL after the last query. Queries are static.
 */
HDB_API size_t hdb_query_count(void);
HDB_API const struct hdb_query_spec *hdb_query_at(size_t no);

/*
 * Return option, column or fact number `no` of a query, starting at 0, or NULL after the last. The
 * results are static. If `query` is NULL, hdb_query_fact returns the facts that precede the facts
 * of every answer: see struct hdb_health.
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
 * Selects rows of an answer, for callers that evaluate expressions over its columns. If the rows of
 * an answer belong together, as in a tree, hdb_query refuses a filter with HDB_EUSAGE.
 */
struct hdb_row_filter {
	size_t struct_size;
	const char *text; /* as the user wrote it, to repeat in answers, or NULL if unknown */
	void *ctx;        /* first argument of the functions */
	/* Called before the first row; columns are borrowed until hdb_rows_close. */
	int (*begin)(void *ctx, const struct hdb_column *const *columns, size_t count,
		     struct hdb_error *err);
	/*
	 * Returns whether `test` reads this column. Other columns are computed only for selected
	 * rows.
	 */
	int (*uses)(void *ctx, size_t column);
	/*
	 * Sets *wanted to whether the row is selected. There is one value per column; the values
	 * are borrowed.
	 */
	int (*test)(void *ctx, const struct hdb_value *const *values, int *wanted,
		    struct hdb_error *err);
};

/* Arguments of a query; everything that it points to is borrowed until the rows are closed. */
struct hdb_query_args {
	size_t struct_size;
	const char *const *targets; /* object IDs ("0x12c4"), class names, patterns */
	size_t target_count;
	const uint64_t *ids; /* further targets, by identifier */
	size_t id_count;
	const struct hdb_option *options;
	size_t option_count;
	/*
	 * column to sort by: numbers descending, strings ascending; "-column" for the reverse
	 * order; or NULL
	 */
	const char *sort;
	uint64_t limit; /* maximum number of rows; 0 means all */
	/*
	 * databases of earlier dumps, oldest first, for comparisons ("diff"). Their handles must
	 * not be used otherwise until the rows are closed
	 */
	struct hdb *const *before;
	size_t before_count;
	const struct hdb_row_filter *filter; /* NULL means all rows */
};

/* An answer: an iterator over rows. */
struct hdb_rows;

/*
 * Runs a query. `args` may be NULL. The caller must close *out with hdb_rows_close. Builds the
 * derived tables that the query needs, reports progress, and stores the tables in the database.
 * Returns HDB_NOTFOUND if an object or class named in the arguments does not exist, and HDB_EUSAGE
 * if a query, option or column is unknown.
 */
HDB_API int hdb_query(struct hdb *db, const char *name, const struct hdb_query_args *args,
		      struct hdb_rows **out, struct hdb_error *err);

/* Return the number of columns, and a column by its number; borrowed until hdb_rows_close. */
HDB_API size_t hdb_rows_column_count(const struct hdb_rows *rows);
HDB_API const struct hdb_column *hdb_rows_column(const struct hdb_rows *rows, size_t column);

/*
 * Returns the number of the column with this name, for hdb_rows_column, hdb_rows_value and the
 * functions below. A column of the query that does not apply to this answer or dump comes after the
 * other columns, and all its values are null. Returns SIZE_MAX if the query has no such column.
 */
HDB_API size_t hdb_rows_find_column(const struct hdb_rows *rows, const char *name);

/*
 * Advances to the next row. Returns HDB_OK, HDB_END after the last row (or after `limit`), or a
 * failure.
 */
HDB_API int hdb_rows_next(struct hdb_rows *rows, struct hdb_error *err);

/*
 * Returns a value of the current row, borrowed until the next call of hdb_rows_next or
 * hdb_rows_close.
 */
HDB_API const struct hdb_value *hdb_rows_value(const struct hdb_rows *rows, size_t column);

/*
 * Return a value of the current row as a C type. hdb_rows_u64 returns counts, bytes, identifiers
 * and booleans. hdb_rows_i64 also returns integers. hdb_rows_double returns any number.
 * hdb_rows_text returns strings, which are zero-terminated and borrowed like the value. All return
 * 0 or NULL if the row has no value in the column, if there is no such column, or if the value has
 * another type.
 */
HDB_API uint64_t hdb_rows_u64(const struct hdb_rows *rows, size_t column);
HDB_API int64_t hdb_rows_i64(const struct hdb_rows *rows, size_t column);
HDB_API double hdb_rows_double(const struct hdb_rows *rows, size_t column);
HDB_API const char *hdb_rows_text(struct hdb_rows *rows, size_t column);

/* Returns whether the current row has no value in the column. */
HDB_API int hdb_rows_is_null(const struct hdb_rows *rows, size_t column);

/*
 * Sets *total to the number of rows without the limit. Call this function after the last
 * hdb_rows_next, because some queries must read all remaining rows to count them.
 */
HDB_API int hdb_rows_total(struct hdb_rows *rows, uint64_t *total, struct hdb_error *err);

/*
 * Return the number of facts, and the column and the value of a fact, which are borrowed until
 * hdb_rows_close. Facts are named values that describe the answer as a whole, such as totals. All
 * facts are known when hdb_query returns.
 */
HDB_API size_t hdb_rows_fact_count(const struct hdb_rows *rows);
HDB_API const struct hdb_column *hdb_rows_fact_column(const struct hdb_rows *rows, size_t fact);
HDB_API const struct hdb_value *hdb_rows_fact_value(const struct hdb_rows *rows, size_t fact);

/*
 * Returns the value of the fact with this name, or NULL if the answer has no such fact. Borrowed
 * until hdb_rows_close.
 */
HDB_API const struct hdb_value *hdb_rows_find_fact(const struct hdb_rows *rows, const char *name);

/* Closes the rows. NULL is allowed. */
HDB_API void hdb_rows_close(struct hdb_rows *rows);

/*
 * The structures of the Arrow C data and stream interfaces, an ABI that needs no library. This
 * header omits structures that another header has defined. See
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
 * Exports the remaining rows as a stream of the Arrow C data interface in `out` (borrowed). The
 * stream has one field per column, and batches of at most `batch_rows` rows (0: 65,536; SIZE_MAX:
 * one batch, unless there is much text). Counts, bytes and identifiers are uint64, integers are
 * int64, and texts are utf8. If all possible texts of a column are known beforehand, such as class
 * names in "objects", the column contains int32 indexes into a dictionary that is the same in all
 * batches. The stream owns `rows` and must be released before hdb_close. If a function of the
 * stream fails, it returns an errno, and get_last_error returns a message. If hdb_rows_arrow
 * returns HDB_ENOMEM, `rows` still belongs to the caller.
 */
HDB_API int hdb_rows_arrow(struct hdb_rows *rows, size_t batch_rows, struct ArrowArrayStream *out,
			   struct hdb_error *err);

/*
 * Rows from a source other than a query, such as an SQL statement. The members work like the
 * functions of the same name that begin with hdb_rows_. Members of struct hdb_column that the first
 * version with this soname did not have are ignored.
 */
struct hdb_row_source {
	size_t struct_size;
	void *ctx;
	size_t column_count;
	const struct hdb_column *(*column)(void *ctx, size_t column);
	int (*next)(void *ctx, struct hdb_error *err);
	const struct hdb_value *(*value)(void *ctx, size_t column);
	void (*close)(void *ctx); /* called when the stream is released; may be NULL */
};

/*
 * Like hdb_rows_arrow, for the rows of a source. Returns HDB_ENOMEM if memory is exhausted, and
 * HDB_EUSAGE if a function other than `close` is NULL. After an error, the source is still open.
 */
HDB_API int hdb_source_arrow(const struct hdb_row_source *source, size_t batch_rows,
			     struct ArrowArrayStream *out, struct hdb_error *err);

/* Returns the version of the loaded library, and the name of a result code; static strings. */
HDB_API const char *hdb_version(void);
/* Returns HDB_VERSION_NUMBER of the loaded library, which may be newer than the header. */
HDB_API unsigned hdb_version_number(void);
HDB_API const char *hdb_result_name(int result);

#ifdef __cplusplus
}
#endif

#endif

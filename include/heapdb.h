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
 * NULL: a pointer may be NULL where its function says so, and so may `err` and what a function
 * named _close or _free takes. Elsewhere NULL is HDB_EUSAGE, and nothing was done; functions that
 * return no result give 0, NULL, HDB_NONE, SIZE_MAX or "" then, whichever says that there is
 * nothing. Lists in structures may be NULL if they say that they are empty. No handle may be used
 * after it was closed, nor closed twice, as with free().
 * Threads: a handle is used by one thread at a time; several handles may be open on one database,
 * in one process or many.
 * Process-wide are only what handles on one file share, behind a lock, and a handler of SIGBUS: it
 * makes a page of our own maps that cannot be read a failure with a message (the file shrank, the
 * disk failed) and passes all other faults on to the handler that was there before. Options leave
 * the handler out.
 * Ownership words: "owned" (you free it with the named function), "borrowed until EVENT" (the
 * pointer dies with the event), "lent" (you keep it alive for the callee).
 *
 * Structures: libraries of one soname only add functions, and add members at the end of structures,
 * so that programs need not be compiled again. One rule makes that possible:
 * - A structure that you make begins with `struct_size`: set it to sizeof of the structure, in
 *   structures for results too. The library neither reads nor writes beyond it. 0 stands for the
 *   size in version 0.3.0; a smaller size is HDB_EUSAGE. Members of options that are 0 mean the
 *   default.
 * - Structures that the library makes come by pointer, one at a time. They are never elements of
 *   an array that you step through.
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

/* The same as a number, to compare: 10000 * major + 100 * minor + patch. */
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
	HDB_NOTFOUND = 2, /* the thing asked for is not there */

	HDB_EUSAGE = -1,    /* the call's arguments are wrong */
	HDB_EEXIST = -2,    /* the file exists already, see `force` */
	HDB_EFORMAT = -10,  /* not an HPROF file, or a record that breaks the format */
	HDB_ETRUNC = -11,   /* input ends too early */
	HDB_ELIMIT = -12,   /* a named limit of heapdb was reached */
	HDB_ECORRUPT = -13, /* the heap database is damaged */
	HDB_EVERSION = -14, /* the heap database was written by a version that counts otherwise */
	HDB_ECHANGED = -15, /* the dump has changed since it was imported, or is missing */
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
	HDB_SIZES_VM = 0,   /* as the running VM laid objects out, inferred from the dump */
	HDB_SIZES_MAT = 1,  /* exactly Eclipse MAT's arithmetic */
	HDB_SIZES_DUMP = 2, /* what the file records: no headers, no padding */
	/* exactly ahat's: what the file records, also of array classes and java.lang.Class */
	HDB_SIZES_AHAT = 3
};

/* Whether the database keeps the dump's bytes, so that the dump may go. */
enum hdb_contents {
	HDB_CONTENTS_AUTO = 0, /* a plain file is referred to, anything else is kept */
	HDB_CONTENTS_KEEP = 1, /* kept, compressed, in the database */
	HDB_CONTENTS_REFER = 2 /* read from the dump when needed; only a plain file can be */
};

struct hdb_import_options {
	size_t struct_size; /* sizeof the structure, or 0 */
	/*
	 * budget of anonymous memory; 0: a quarter of RAM or cgroup, 1 GiB at most, of which
	 * what is beyond 5 bytes an object is pages of unlinked files where possible
	 */
	uint64_t memory_bytes;
	unsigned threads;          /* worker threads; 0: one a core; fewer in a small budget */
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
	/*
	 * nonzero: no handler of SIGBUS is installed, see above; a page that cannot be read then
	 * ends the process
	 */
	int no_sigbus_handler;
	struct hdb_progress progress;
	enum hdb_contents contents; /* kept in the database or not */
	const char *dump_name; /* what a dump that is no file is called; NULL: dump_path; lent */
	/*
	 * a mapping.txt of ProGuard or R8: classes, fields, methods and lines get the names of the
	 * source; NULL: those of the dump; lent
	 */
	const char *mapping_path;
	/*
	 * nonzero: nothing waits for the disk, for a database that is thrown away after its
	 * questions. Whole or absent for every process, but if the machine stops it may be damaged
	 */
	int no_sync;
	/* the javacore of a portable heap dump; NULL: one beside it, if there is one; lent */
	const char *javacore_path;
};

/* What an import did. */
struct hdb_import_result {
	size_t struct_size;       /* sizeof the structure, or 0 */
	uint64_t object_count;    /* objects of all kinds, class objects included */
	uint64_t class_count;     /* classes */
	uint64_t reference_count; /* stored references, without the one to the object's class */
	uint64_t root_count;      /* root records on objects of the dump */
	uint64_t problem_count;   /* problems met, see hdb_query "problems" */
	uint64_t dump_bytes;      /* size of the dump, inflated if it is compressed */
	uint64_t database_bytes;  /* size of the database file */
	unsigned snapshot_count;  /* heap dumps in the file */
};

/*
 * Imports the HPROF file `dump_path` into a new heap database `db_path` (NULL: the dump's name
 * with its extension replaced by ".heapdb"; with "-" it must be given). The dump may be compressed
 * by gzip or zstd, and may be a pipe; "-" is the standard input. Of a Perfetto trace, which must be
 * a file, a Java heap graph is imported, opt->snapshot says which; a portable heap dump of OpenJ9
 * is copied to the database's folder while it is read, unless it is a plain file. The database
 * appears under its name only when whole. `opt` and `out` may be NULL. HDB_EEXIST if the database
 * exists and `force` is not set. HDB_END: see `wait`.
 */
HDB_API int hdb_import(const char *dump_path, const char *db_path,
		       const struct hdb_import_options *opt, struct hdb_import_result *out,
		       struct hdb_error *err);

/*
 * Imports the dump of an existing database again, with the options that the database records
 * (sizes, layout, mapping, snapshot, strict), and replaces it: for a database that hdb_open refuses
 * with HDB_EVERSION, since an earlier version of heapdb made it. `dump_path` is where the dump is
 * now; NULL: where it was. Of `opt` the budget, the threads, `wait`, the handler of SIGBUS and the
 * progress count, whose `notice` is called before the import begins. HDB_EVERSION if the database
 * is of another format, keeps its dump (a pipe, a compressed file) and dump_path is NULL, or if the
 * dump is gone or has changed; the database stays as it is then. Otherwise as hdb_import.
 */
HDB_API int hdb_import_again(const char *db_path, const char *dump_path,
			     const struct hdb_import_options *opt, struct hdb_import_result *out,
			     struct hdb_error *err);

/*
 * Writes the default database name of `dump_path` into `buf` (`size` bytes): "x.hprof" and
 * "x.hprof.gz" give "x.heapdb". HDB_EUSAGE for "-"; HDB_ELIMIT if it does not fit.
 */
HDB_API int hdb_default_path(const char *dump_path, char *buf, size_t size, struct hdb_error *err);

/* ---- dumps to dumps ---- */

/* How a dump that is written is compressed. */
enum hdb_packing {
	HDB_PACKING_AUTO = 0, /* by its name: .gz, .zst, else not at all */
	HDB_PACKING_NONE = 1,
	HDB_PACKING_GZIP = 2, /* in members of 1 MiB, as the JDK writes them */
	HDB_PACKING_ZSTD = 3  /* seekable */
};

/* What is common to all that write a dump. */
struct hdb_output_options {
	size_t struct_size; /* sizeof the structure, or 0 */
	enum hdb_packing packing;
	int force;             /* nonzero: replace a file of that name */
	uint64_t memory_bytes; /* budget; 0: 32 MiB */
	unsigned threads;      /* for inflating; 0: one a core */
	struct hdb_progress progress;
};

/* What became of a dump. */
struct hdb_output_result {
	size_t struct_size;     /* sizeof the structure, or 0 */
	uint64_t dump_bytes;    /* of the dump that was read, inflated */
	uint64_t file_bytes;    /* of the file that was written */
	uint64_t object_count;  /* instances and arrays that were read; 0: bytes were copied */
	uint64_t dropped_count; /* of them, those left out */
	uint64_t changed_count; /* and those whose contents were changed */
	uint64_t changed_bytes; /* bytes of contents that are zero, or a hash, now */
	uint64_t problem_count; /* damage that was met; what could not be read is left out */
	uint64_t renamed_count; /* names that are others now */
	uint64_t secret_count;  /* lines of the report of what looks like a secret */
};

struct hdb_convert_options {
	size_t struct_size;                      /* sizeof the structure, or 0 */
	const struct hdb_output_options *output; /* NULL: defaults; lent */
	/*
	 * nonzero: objects of Android's zygote and image heaps are left out, as `hprof-conv -z`
	 * does
	 */
	int app_only;
	/* nonzero: heap dump records are written anew as short segments, whatever else changes */
	int segments;
	/* bytes of an identifier in the new dump, 4 or 8; 0: as it was */
	unsigned id_size;
	unsigned snapshot; /* of a Perfetto trace: which heap graph, from 1; 0: first */
	/* as import options have them */
	const char *dump_name, *javacore_path;
};

/*
 * Writes the dump `in_path`, compressed or not, "-" for the standard input, to `out_path`, "-" for
 * the standard output. An Android dump (1.0.3) becomes a 1.0.2, as hprof-conv makes it: without the
 * records that only Android has, its GC roots as unknown ones. Any other is copied byte for byte,
 * unless the options say more. The file appears when it is whole. `opt` and `out` may be NULL.
 * HDB_EEXIST if it exists and `force` is not set; HDB_ELIMIT, with the first one, if identifiers do
 * not fit in 4 bytes. A Perfetto trace becomes an Android dump (1.0.3) of one of its Java heap
 * graphs, in which arrays and strings have lengths but no contents; a portable heap dump of OpenJ9
 * a 1.0.2 without contents.
 */
HDB_API int hdb_convert(const char *in_path, const char *out_path,
			const struct hdb_convert_options *opt, struct hdb_output_result *out,
			struct hdb_error *err);

/* What of a dump is zeroed. */
enum hdb_strip {
	HDB_STRIP_ARRAYS = 0,     /* the contents of primitive arrays */
	HDB_STRIP_PRIMITIVES = 1, /* and all primitive fields */
};

/* Which primitive arrays stay; all others are left out. */
enum hdb_keep {
	HDB_KEEP_STRINGS = 1, /* the texts of strings */
	HDB_KEEP_BITMAPS = 2, /* the buffers of Android's bitmaps; of equal ones the first */
};

struct hdb_strip_options {
	size_t struct_size;                      /* sizeof the structure, or 0 */
	const struct hdb_output_options *output; /* NULL: defaults; lent */
	enum hdb_strip what;
	unsigned keep; /* enum hdb_keep, added; 0: no array is left out, `what` says */
	/* nonzero: objects of Android's zygote and image heaps are left out, as KOOM does */
	int app_only;
};

/*
 * Writes a dump without contents, as hdb_convert does: object IDs, classes, references and lengths
 * stay, so that sizes, dominators and paths do. Compressed it is a fraction of the size.
 */
HDB_API int hdb_strip(const char *in_path, const char *out_path,
		      const struct hdb_strip_options *opt, struct hdb_output_result *out,
		      struct hdb_error *err);

/* Which primitive arrays lose their contents. */
enum hdb_redact_arrays {
	HDB_REDACT_ARRAYS = 0, /* all */
	HDB_REDACT_BYTES = 1,  /* those of bytes and chars */
	/* those of chars, of strings, and of bytes those with four printable ones on end */
	HDB_REDACT_TEXTS = 2,
};

struct hdb_redact_options {
	size_t struct_size;                      /* sizeof the structure, or 0 */
	const struct hdb_output_options *output; /* NULL: defaults; lent */
	enum hdb_redact_arrays arrays;
	/*
	 * "CLASS" or "CLASS:FIELD", names or patterns: primitive fields, and for "byte[]" and the
	 * like arrays, that keep their values. Ended by NULL; NULL: none. Lent
	 */
	const char *const *keep;
	/*
	 * nonzero: arrays of bytes and chars get letters instead of their contents, the same
	 * for the same content under the same key (SipHash-2-4-128)
	 */
	int hash;
	/* file with the key, of 16 to 4,096 bytes; NULL: a new one that nobody knows. Lent */
	const char *key_path;
	/* file with lines "OLD -> NEW": other names of classes and fields. NULL: none. Lent */
	const char *names_path;
	/*
	 * file for what looks like a secret: keys, tokens, passwords, numbers of cards; where it
	 * was, not what. NULL: nobody looks. Lent
	 */
	const char *report_path;
};

/*
 * Writes a dump without the program's data: as hdb_strip with HDB_STRIP_PRIMITIVES, except the
 * sizes of the JDK's collections and what options keep, and marked as redacted, which every answer
 * of a database made of it says. Of texts, names of classes, fields, methods, source files, threads
 * and heaps stay, if a record refers to them.
 */
HDB_API int hdb_redact(const char *in_path, const char *out_path,
		       const struct hdb_redact_options *opt, struct hdb_output_result *out,
		       struct hdb_error *err);

/* An open heap database. */
struct hdb;

struct hdb_open_options {
	size_t struct_size;    /* sizeof the structure, or 0 */
	const char *dump_path; /* where the dump is now; NULL: where it was at import; lent */
	uint64_t memory_bytes; /* budget for building derived tables; 0: as for import */
	unsigned threads;      /* worker threads; 0: one a core; fewer in a small budget */
	struct hdb_progress progress;
	/*
	 * folder for private files (0600, without a name) if the database cannot be written; NULL:
	 * $TMPDIR or /tmp; lent. They are in memory where that cannot be written either
	 */
	const char *tmp_dir;
	int no_sigbus_handler; /* as of struct hdb_import_options */
	/*
	 * nonzero: tables that are built do not wait for the disk, as of struct hdb_import_options.
	 * Of handles on one file in one process the first that is open decides for all
	 */
	int no_sync;
	/*
	 * a file with rules of your own, which explain objects before those built in do (the manual
	 * has the format); NULL: $HEAPDB_RULES, if it is set; lent. Read when a question needs it
	 */
	const char *rules_path;
};

/*
 * Opens the database `db_path`. `opt` may be NULL. *out is owned: hdb_close.
 * The dump itself is opened only when a question needs its bytes (field values, array contents).
 */
HDB_API int hdb_open(const char *db_path, const struct hdb_open_options *opt, struct hdb **out,
		     struct hdb_error *err);

/*
 * What whoever shows an answer should say first. Where it holds, every hdb_rows has it as facts,
 * too, before its own (hdb_query_fact); hdb_object and hdb_retained have no other place for it.
 */
struct hdb_health {
	size_t struct_size; /* sizeof the structure, or 0 */
	/*
	 * one line: the dump beside the database, or that of dump_path, has changed since it was
	 * imported: answers are of the imported one, and questions that need the dump's bytes fail
	 * with HDB_ECHANGED. NULL: it has not, or there is no dump. Found when the database was
	 * opened. Borrowed until hdb_close
	 */
	const char *stale;
	/*
	 * one line: what the dump lacks, as its end or its GC roots; NULL: nothing that is known.
	 * Objects that nothing in it holds then count as GC roots. Borrowed until hdb_close
	 */
	const char *incomplete;
	/*
	 * one line: values were removed from the dump on purpose (hdb_redact); NULL: it does not
	 * say so. Static
	 */
	const char *redacted;
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
	const char *mapping_path; /* as import options have it, or NULL; borrowed until hdb_close */
};

/* Fills in *out. Reads nothing that hdb_open has not read. */
HDB_API void hdb_health(const struct hdb *db, struct hdb_health *out);

/*
 * The fingerprint of the imported dump: databases with the same fingerprint are of the same dump.
 * 0 if `db` is NULL.
 */
HDB_API uint64_t hdb_dump_fingerprint(const struct hdb *db);

/*
 * Functions without an error, or with NULL for it, take a default for what cannot be read, as "?"
 * for the name of a class. The handle keeps the first such failure: HDB_OK, or its code and
 * message. Ask before what they returned is shown; hdb_rows_next and functions with an error that
 * read names do it themselves.
 */
HDB_API int hdb_failed(const struct hdb *db, struct hdb_error *err);

/* Closes the handle; NULL is fine. Every hdb_rows of it must be closed before. */
HDB_API void hdb_close(struct hdb *db);

/*
 * Reads bytes of the HPROF dump that the database was made from, as it was before anybody
 * compressed it: at most `size` from `offset` on into buf, *done of them. HDB_END at its end, and
 * nothing is read. HDB_ECHANGED if the database does not keep the dump, and the dump is not where
 * it was.
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

/* The short facts of one object. */
struct hdb_object_info {
	size_t struct_size; /* sizeof the structure, or 0 */
	uint64_t id;        /* HPROF identifier */
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

/* ---- object by object ----
 *
 * For whoever asks what no query answers. Objects have numbers, their places in the order of IDs,
 * below hdb_object_count; classes have numbers below hdb_class_count. A number that is not below
 * its count is HDB_EUSAGE. Several readers may be open at once on a handle; each is closed before
 * hdb_close. Numbers belong to a database: another import of the same dump may give others.
 */

/* No object, no class. */
#define HDB_NONE UINT32_MAX

/* Numbers of objects and of classes end before these; some objects are not in the dump: is_real. */
HDB_API uint32_t hdb_object_count(const struct hdb *db);
HDB_API uint32_t hdb_class_count(const struct hdb *db);

/* The number of the object with this ID: HDB_OK, or HDB_NOTFOUND without a message. */
HDB_API int hdb_find(struct hdb *db, uint64_t id, uint32_t *ix, struct hdb_error *err);

struct hdb_object_facts {
	size_t struct_size; /* sizeof the structure, or 0 */
	uint64_t id;
	uint32_t ix;
	uint32_t class_no; /* its class */
	enum hdb_object_kind kind;
	int is_real;         /* 0: the boot class loader's stand-in, a class that the dump lacks */
	uint32_t stands_for; /* class objects: the class; else HDB_NONE */
	uint32_t heap_no;    /* Android: for hdb_heap_name; HDB_NONE: none */
	uint64_t length;     /* elements of an array, else 0 */
	uint64_t shallow_bytes; /* under the database's size model */
};

/* What is known of object number ix without the dump. */
HDB_API int hdb_object_at(struct hdb *db, uint32_t ix, struct hdb_object_facts *out,
			  struct hdb_error *err);

/* Tables that are computed on first need and kept. */
enum hdb_need {
	HDB_NEED_REACHABLE = 1,  /* who is reachable; paths to GC roots by any reference */
	HDB_NEED_STRONG = 2,     /* paths to GC roots by strong references */
	HDB_NEED_DOMINATORS = 4, /* dominators and retained sizes */
	HDB_NEED_CHILDREN = 8,   /* what objects dominate */
	HDB_NEED_REFERRERS = 16  /* who refers to objects */
};
/* Computes those that are not there yet, with progress; `needs`: enum hdb_need added up. */
HDB_API int hdb_need(struct hdb *db, unsigned needs, struct hdb_error *err);
/* Those that are there. */
HDB_API unsigned hdb_has(struct hdb *db);

/* *reachable: whether a GC root reaches the object, by any reference. */
HDB_API int hdb_reachable_at(struct hdb *db, uint32_t ix, int *reachable, struct hdb_error *err);
/* As hdb_retained. */
HDB_API int hdb_retained_at(struct hdb *db, uint32_t ix, uint64_t *bytes, struct hdb_error *err);
/*
 * The immediate dominator; HDB_NONE for the top level of the dominator tree. HDB_NOTFOUND for an
 * unreachable object. Needs dominators.
 */
HDB_API int hdb_dominator_at(struct hdb *db, uint32_t ix, uint32_t *dominator,
			     struct hdb_error *err);
/*
 * The next object on a shortest path to a GC root; HDB_NONE: it is a root. HDB_NOTFOUND if there is
 * no path. `strong` nonzero: not by the referents of weak, soft, phantom and final references.
 */
HDB_API int hdb_parent_at(struct hdb *db, uint32_t ix, int strong, uint32_t *parent,
			  struct hdb_error *err);

/* Columns of a scan. */
enum hdb_scan_column {
	HDB_SCAN_ID = 1,
	HDB_SCAN_REACHABLE = 2,
	HDB_SCAN_RETAINED = 4,   /* needs dominators */
	HDB_SCAN_DOMINATOR = 8,  /* needs dominators */
	HDB_SCAN_OFFSET = 16,    /* of records in the dump */
	HDB_SCAN_FIELDS = 32,    /* no column: hdb_scan_field will be called; reads ahead */
	HDB_SCAN_REFERRERS = 64, /* how many; needs their table */
	HDB_SCAN_REACHABLE_REFERRERS = 128 /* with HDB_SCAN_REFERRERS: only those count */
};

struct hdb_scan_options {
	size_t struct_size;     /* sizeof the structure, or 0 */
	unsigned columns;       /* enum hdb_scan_column added up; the others always come */
	const uint8_t *classes; /* by class number: nonzero to include it; NULL: all; lent */
	unsigned kinds;         /* 1 << enum hdb_object_kind, added up; 0: all */
	int population;         /* 1: reachable objects only; -1: unreachable ones only; 0: all */
	uint32_t from_ix;       /* first number that is looked at */
	uint32_t end_ix;        /* the first that is not; 0: to the end */
	int descending;         /* nonzero: last objects first */
};

/* Some objects, column by column; arrays of `count`, borrowed until the next call on the scan. */
struct hdb_batch {
	size_t struct_size; /* sizeof the structure, or 0 */
	size_t count;
	const uint32_t *ix;
	const uint32_t *class_no;
	const uint8_t *kind; /* enum hdb_object_kind */
	const uint64_t *shallow_bytes;
	const uint64_t *length; /* elements of arrays; class objects: the class it stands for */
	const uint64_t *id;     /* this and the following: NULL unless asked for */
	const uint8_t *reachable;
	const uint64_t *retained_bytes;
	const uint32_t *dominator; /* HDB_NONE for the top level; the object itself: unreachable */
	const uint64_t *file_offset; /* 0: the dump does not tell */
	const uint64_t *referrers;   /* how many objects refer to it, as HDB_REFERRERS has them */
};

/*
 * All objects of the dump that the options want, in the order of their numbers: some ten million a
 * second. Parts of the heap that hold no requested class are skipped. `opt` may be NULL.
 * *out is owned: hdb_scan_close.
 */
struct hdb_scan;
HDB_API int hdb_scan_open(struct hdb *db, const struct hdb_scan_options *opt, struct hdb_scan **out,
			  struct hdb_error *err);
/* HDB_OK with at least one object, HDB_END after the last. */
HDB_API int hdb_scan_next(struct hdb_scan *scan, struct hdb_batch *out, struct hdb_error *err);
/*
 * The value of a field of object `at` of the last batch, as hdb_field_value: some ten million a
 * second where all fields of an object are asked for before those of the next. Needs
 * HDB_SCAN_FIELDS.
 */
struct hdb_field;
struct hdb_basic;
HDB_API int hdb_scan_field(struct hdb_scan *scan, size_t at, const struct hdb_field *field,
			   struct hdb_basic *out, struct hdb_error *err);
HDB_API void hdb_scan_close(struct hdb_scan *scan);

/* ---- classes ---- */

/* Types of fields and elements: HPROF's numbers. */
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
	size_t struct_size; /* sizeof the structure, or 0 */
	uint32_t class_no;
	uint32_t super_no;       /* HDB_NONE: none */
	uint32_t object_ix;      /* its class object */
	uint32_t loader_ix;      /* its class loader; HDB_NONE: the boot loader */
	uint64_t id;             /* of its class object */
	uint64_t loader_id;      /* 0: the boot loader */
	const char *name;        /* "java.util.HashMap$Node[]"; borrowed until hdb_close */
	const char *loader_name; /* class of the loader, "<boot>"; borrowed until hdb_close */
	uint64_t instance_bytes; /* shallow size of an instance; of an empty array */
	uint32_t field_count;    /* own instance fields */
	uint32_t static_count;   /* static fields */
	int is_array;
	int is_real;       /* 0: the dump has no such class, objects of it only */
	unsigned strength; /* of its instances' referents: 0 strong, 1 soft, 2 weak, 3
				     phantom, 4 final */
};
HDB_API int hdb_class_at(struct hdb *db, uint32_t class_no, struct hdb_class *out,
			 struct hdb_error *err);
/* How many objects a class has, its subclasses not among them, and their bytes. */
struct hdb_class_count {
	uint64_t objects, shallow_bytes;                     /* all, reachable or not */
	uint64_t reachable_objects, reachable_shallow_bytes; /* 0 unless they were asked for */
};
/*
 * Those of all classes, by class number: room for hdb_class_count. The reachable ones come from the
 * table of totals where it is there, else from a pass over the objects, and need the table of
 * reachable objects; the others are as the import counted them.
 */
HDB_API int hdb_class_counts(struct hdb *db, int with_reachable, struct hdb_class_count *out,
			     struct hdb_error *err);
/* Its name alone; never NULL, "?" if it cannot be read (hdb_failed). Borrowed until hdb_close. */
HDB_API const char *hdb_class_name(struct hdb *db, uint32_t class_no);
/* The first class of this name from number `from` on, or HDB_NONE. Looks at all names. */
HDB_API uint32_t hdb_class_named(struct hdb *db, const char *name, uint32_t from);
/*
 * Sets marks[no] to 1 for each class whose name the pattern ("java.util.*", * and ? match any
 * characters) matches, or that the ID of its class object ("0x12c4") names, to 2 for their
 * subclasses if `subclasses` is nonzero, to 0 for all others. marks has room for hdb_class_count.
 * HDB_NOTFOUND if that is none.
 */
HDB_API int hdb_classes_like(struct hdb *db, const char *pattern, int subclasses, uint8_t *marks,
			     struct hdb_error *err);
/* 1 if class_no is super_no or a subclass of it, else 0. */
HDB_API int hdb_is_subclass(struct hdb *db, uint32_t class_no, uint32_t super_no);

/* A value of a field or an element. */
struct hdb_basic {
	enum hdb_basic_type type; /* says which of the others has it */
	uint64_t id; /* OBJECT: what it refers to, 0 for null; need not be in the dump */
	int64_t i;   /* BOOLEAN (0, 1), CHAR, BYTE, SHORT, INT, LONG */
	double d;    /* FLOAT, DOUBLE */
};

/* A field of a class. */
struct hdb_field {
	const char *name; /* UTF-8 */
	enum hdb_basic_type type;
	uint32_t declaring_no;  /* the class that declares it */
	uint32_t class_no;      /* the class whose list this is */
	uint32_t from_end;      /* where it is in instances: for hdb_field_value */
	struct hdb_basic value; /* static fields: the value; else 0 */
};
/*
 * The instance fields of a class, its own first, then each superclass's; or the static fields that
 * it declares itself; *count of them. *out is owned: hdb_fields_free.
 */
struct hdb_fields;
HDB_API int hdb_class_fields(struct hdb *db, uint32_t class_no, struct hdb_fields **out,
			     size_t *count, struct hdb_error *err);
HDB_API int hdb_class_statics(struct hdb *db, uint32_t class_no, struct hdb_fields **out,
			      size_t *count, struct hdb_error *err);
/* One of them, by number from 0; NULL after the last. Borrowed until hdb_fields_free. */
HDB_API const struct hdb_field *hdb_field_at(const struct hdb_fields *fields, size_t no);
HDB_API void hdb_fields_free(struct hdb_fields *fields);

/* ---- values: from the dump; HDB_ECHANGED if it is not there or another one ---- */

/*
 * The value of a field (hdb_class_fields) of an instance of its class or of a subclass: some
 * million a second. HDB_NOTFOUND if the dump lacks it.
 */
HDB_API int hdb_field_value(struct hdb *db, uint32_t ix, const struct hdb_field *field,
			    struct hdb_basic *out, struct hdb_error *err);
/*
 * The value at the end of a path of field names ("map.table", 16 names at most) from an instance.
 * HDB_NOTFOUND if a field is missing, or a reference on the way is null or not in the dump.
 */
HDB_API int hdb_path_value(struct hdb *db, uint32_t ix, const char *path, struct hdb_basic *out,
			   struct hdb_error *err);
/* A part of an array. */
struct hdb_slice {
	size_t struct_size; /* sizeof the structure, or 0 */
	uint64_t from;      /* the first element */
	size_t room;        /* number of elements to read */
	uint64_t *bits;     /* room for them, as raw bits for hdb_basic_of; lent */
	/* set by hdb_elements: how many there are, less than room at the end of the array */
	size_t count;
	enum hdb_basic_type type; /* set by hdb_elements: of all of them */
};
/* Reads elements of an array. HDB_EUSAGE if it is no array. */
HDB_API int hdb_elements(struct hdb *db, uint32_t ix, struct hdb_slice *slice,
			 struct hdb_error *err);
HDB_API void hdb_basic_of(enum hdb_basic_type type, uint64_t bits, struct hdb_basic *out);
/*
 * The text of an object: a string's characters, a char[]'s, a byte[]'s as far as they are printable
 * ASCII; a boxed number, a thread's name, a date, the name of the class that a class object stands
 * for. In buf (size bytes, terminated), cut at a character. *units (may be NULL): UTF-16 units of
 * a string or elements of an array, at most three bytes each; 0 for others. HDB_NOTFOUND if it has
 * no text. To a reader of C strings a text ends at its first U+0000: hdb_read_text.
 */
HDB_API int hdb_text(struct hdb *db, uint32_t ix, char *buf, size_t size, uint64_t *units,
		     struct hdb_error *err);
/* A text with its size, for there may be zeros (U+0000) in it. */
struct hdb_text {
	size_t struct_size; /* sizeof the structure, or 0 */
	char *text;         /* owned: free(); size bytes of UTF-8 and a zero */
	size_t size;        /* bytes */
	uint64_t units;     /* as above */
	int is_whole;       /* 0: cut at a character, for it has more than `most` bytes */
};
/* The same in memory of its own, and at most so many bytes. HDB_NOTFOUND: *out is zeros. */
HDB_API int hdb_read_text(struct hdb *db, uint32_t ix, uint64_t most, struct hdb_text *out,
			  struct hdb_error *err);
/* 1 if it is a java.lang.String, else 0. */
HDB_API int hdb_is_string(struct hdb *db, uint32_t ix);

/* ---- references ---- */

/* Lists of objects that an object has. */
enum hdb_list_kind {
	HDB_REFERENCES, /* what it refers to: not its class; in the order of fields or elements */
	HDB_REFERRERS,  /* who refers to it; of a class object not its instances */
	HDB_DOMINATED   /* what it dominates immediately, largest retained size first; of HDB_NONE
			   the top level */
};
/* A reader of such lists; builds the table that it needs. *out is owned: hdb_list_close. */
struct hdb_list;
HDB_API int hdb_list_open(struct hdb *db, enum hdb_list_kind kind, struct hdb_list **out,
			  struct hdb_error *err);
/* Starts with the list of object ix; *length (may be NULL): its entries. */
HDB_API int hdb_list_begin(struct hdb_list *list, uint32_t ix, uint64_t *length,
			   struct hdb_error *err);
/* The next entries, borrowed until the next call on the list; *count is 0 after the last. */
HDB_API int hdb_list_next(struct hdb_list *list, const uint32_t **ixs, size_t *count,
			  struct hdb_error *err);
HDB_API void hdb_list_close(struct hdb_list *list);

/* A reference that one field, static field or element holds; the library makes it. */
struct hdb_reference {
	uint64_t to_id; /* the object that is referred to */
	/*
	 * "next", "static cache"; of a class object also "<super>", "<class loader>"; of a thread
	 * "<local variable>". Borrowed until hdb_close. NULL: an element.
	 */
	const char *name;
	uint64_t element;  /* its place in the array, if `name` is NULL */
	unsigned strength; /* of this reference, as hdb_strength has them */
};
/*
 * A reader of the references of objects one by one, as often as the dump has them: not to their
 * classes, and not to what the dump lacks. `name`: only those of this name ("next", "[3]"), which
 * costs less; NULL: all. *out is owned: hdb_references_close.
 */
struct hdb_references;
HDB_API int hdb_references_open(struct hdb *db, const char *name, struct hdb_references **out,
				struct hdb_error *err);
/* Sets marks[no] to 1 for classes whose objects can have any, to 0 for all others; as above. */
HDB_API int hdb_references_classes(struct hdb_references *refs, uint8_t *marks,
				   struct hdb_error *err);
/* Starts with the references of object `from` to object `to`; HDB_NONE: to any. */
HDB_API int hdb_references_begin(struct hdb_references *refs, uint32_t from, uint32_t to,
				 struct hdb_error *err);
/*
 * The next one, borrowed until the next call on the reader: HDB_OK or HDB_END. Fields of the
 * object's own class come before those of superclasses.
 */
HDB_API int hdb_references_next(struct hdb_references *refs, const struct hdb_reference **out,
				struct hdb_error *err);
HDB_API void hdb_references_close(struct hdb_references *refs);

/*
 * How `from` holds `to`: names of fields with ", " between, "[3]", "<class>", "<super>",
 * "<class loader>", "static NAME", "<local variable>"; "[?]" in very long arrays. In buf, cut.
 */
HDB_API int hdb_holder(struct hdb *db, uint32_t from, uint32_t to, char *buf, size_t size,
		       struct hdb_error *err);
/* Strength of that reference: 0 strong, 1 soft, 2 weak, 3 phantom, 4 final. */
HDB_API int hdb_strength(struct hdb *db, uint32_t from, uint32_t to, unsigned *strength,
			 struct hdb_error *err);
/* Its name, "strong" and so on; static. */
HDB_API const char *hdb_strength_name(unsigned strength);

/* ---- sets of objects ---- */

/*
 * A set of objects, and what it retains exactly: what becomes unreachable if all its reachable
 * members go, themselves included.
 */
struct hdb_set {
	const uint32_t *ixs; /* in any order, also repeated; lent */
	size_t count;
	uint64_t retained_bytes; /* set by hdb_retained_sets */
	uint64_t retained_count; /* objects; set by hdb_retained_sets */
};
/* Many sets at once cost far less than one by one. Builds tables that it needs. */
HDB_API int hdb_retained_sets(struct hdb *db, struct hdb_set *sets, size_t set_count,
			      struct hdb_error *err);

/*
 * The objects that a set retains, its reachable members too: those whose bit is set in `bits`,
 * bits[ix / 64] >> (ix % 64) & 1, of which there is room for hdb_object_count and 64 more. What is
 * not in the dump (is_real) is among them. One walk over the heap.
 */
HDB_API int hdb_retained_marks(struct hdb *db, const struct hdb_set *set, uint64_t *bits,
			       struct hdb_error *err);

/* ---- collections ---- */

struct hdb_collection {
	size_t struct_size;   /* sizeof the structure, or 0 */
	const char *known_as; /* "java.util.HashMap": the class that is known; static */
	const char *kind;     /* "list", "set", "map", "queue", "bits"; static */
	int has_size, has_capacity;
	uint64_t size;     /* elements or entries, by its own count */
	uint64_t capacity; /* that fit without growing */
};
/* HDB_NOTFOUND if it is no collection of a known class. Reads the dump. */
HDB_API int hdb_collection_at(struct hdb *db, uint32_t ix, struct hdb_collection *out,
			      struct hdb_error *err);

struct hdb_entry {
	size_t struct_size; /* sizeof the structure, or 0 */
	uint64_t no;        /* from 0 */
	uint32_t entry_ix;  /* the object that holds key and value, or HDB_NONE */
	int has_key;        /* maps */
	struct hdb_basic key, value;
};
/*
 * The entries of a collection; HDB_NOTFOUND as above, HDB_EUSAGE if they are not known (of some
 * classes only the size is). *out is owned: hdb_entries_close.
 */
struct hdb_entries;
HDB_API int hdb_entries_open(struct hdb *db, uint32_t ix, struct hdb_entries **out,
			     struct hdb_error *err);
/*
 * HDB_END after the last; of damaged links also where they run into themselves. HDB_EUSAGE after
 * the last if there are others that are not known.
 */
HDB_API int hdb_entries_next(struct hdb_entries *entries, struct hdb_entry *out,
			     struct hdb_error *err);
HDB_API void hdb_entries_close(struct hdb_entries *entries);

/* ---- GC roots and threads ---- */

struct hdb_root {
	size_t struct_size; /* sizeof the structure, or 0 */
	uint32_t ix;
	const char *kind;       /* "JNI global", ...; static */
	uint32_t thread_serial; /* 0: none */
	uint32_t frame_depth;   /* from 0, the innermost; HDB_NONE: none */
	int is_local; /* held by a known thread, as a local variable is: no root of its own */
};
/* Root records in the order of objects. */
HDB_API int hdb_root_count(struct hdb *db, uint64_t *count, struct hdb_error *err);
HDB_API int hdb_root_at(struct hdb *db, uint64_t no, struct hdb_root *out, struct hdb_error *err);
/* Those of object ix: numbers [*first, *first + *count). */
HDB_API int hdb_roots_of(struct hdb *db, uint32_t ix, uint64_t *first, uint64_t *count,
			 struct hdb_error *err);

struct hdb_thread {
	size_t struct_size; /* sizeof the structure, or 0 */
	uint32_t serial;
	uint32_t ix;           /* the thread object; HDB_NONE: not in the dump */
	uint32_t trace_serial; /* for hdb_frame_at */
	uint32_t frame_count;
	char name[512];   /* "" if the dump does not tell */
	size_t name_size; /* bytes of it, among which there may be zeros */
};
/* Threads whose stack or start the dump has, in the order of serial numbers. */
HDB_API uint64_t hdb_thread_count(struct hdb *db);
HDB_API int hdb_thread_at(struct hdb *db, uint64_t no, struct hdb_thread *out,
			  struct hdb_error *err);

struct hdb_frame {
	size_t struct_size; /* sizeof the structure, or 0 */
	char class_name[1024], method[1024], signature[1024], source[1024]; /* "": not told; cut */
	int line; /* above 0; else HPROF's: 0 or -1 unknown, -2 compiled, -3 native */
};
/* Frame `depth` (0: the innermost) of a trace. HDB_NOTFOUND past the last, or not in the dump. */
HDB_API int hdb_frame_at(struct hdb *db, uint32_t trace_serial, uint32_t depth,
			 struct hdb_frame *out, struct hdb_error *err);

/* Android's heaps: how many, and their names (buf: cut). */
HDB_API uint32_t hdb_heap_count(struct hdb *db);
HDB_API int hdb_heap_name(struct hdb *db, uint32_t heap_no, char *buf, size_t size,
			  struct hdb_error *err);

/* Types of column values. */
enum hdb_type {
	HDB_TYPE_NULL = 0, /* no value */
	HDB_TYPE_COUNT,    /* u: a number of things */
	HDB_TYPE_BYTES,    /* u: a size in bytes */
	HDB_TYPE_ID,       /* u: an HPROF identifier, printed as 0x... */
	HDB_TYPE_INT,      /* i: a signed integer */
	HDB_TYPE_DOUBLE,   /* d */
	HDB_TYPE_BOOL,     /* u: 0 or 1 */
	HDB_TYPE_TEXT,     /* text, text_size: valid UTF-8, not always zero-terminated */
	HDB_TYPE_PERCENT   /* d: a share in percent; two digits behind the point are shown */
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
	const char *name;   /* its key: lower case, [a-z0-9_] */
	enum hdb_type type; /* type of its values, each of which may also be HDB_TYPE_NULL */
	const char *title;  /* heading for people */
	const char *help;   /* one line: what it says, its unit */
};

/* What an option of a query takes. */
enum hdb_option_type {
	HDB_OPTION_FLAG = 0, /* nothing: it is given or not */
	HDB_OPTION_CHOICE,   /* one of the words in `argument`, which has "|" between them */
	HDB_OPTION_NUMBER,   /* a decimal number from `low` to `high`; of bytes also "64K", "10M" */
	HDB_OPTION_CLASSES,  /* class names and patterns with * and ?, with commas between */
	HDB_OPTION_OBJECT,   /* an object: "0x12c4" */
	HDB_OPTION_TEXT      /* any other text, as `argument` and `help` say */
};

/* One option that a query takes; members in the order in which definitions are written. */
struct hdb_option_spec {  /* NOLINT(clang-analyzer-optin.performance.Padding) */
	const char *name; /* without dashes: "by" */
	enum hdb_option_type type;
	const char *argument;      /* NULL: a flag; else what it takes: "class|package", "BYTES" */
	const char *help;          /* one line */
	const char *default_value; /* what counts if it is not given; NULL: see `help` */
	const char *example;       /* a value that makes sense; NULL for flags and choices */
	const char *unit;          /* of a number: "bytes", "percent", "objects"; else NULL */
	uint64_t low, high;        /* of a number; UINT64_MAX or INT64_MAX: no upper limit */
	int is_repeated;           /* nonzero: may be given several times, and each counts */
};

/* What the targets of a query may be; flags. */
enum hdb_target_type {
	HDB_TARGET_OBJECT = 1,  /* an object: "0x12c4" */
	HDB_TARGET_CLASS = 2,   /* a class: its name, or the identifier of its class object */
	HDB_TARGET_PATTERN = 4, /* classes: names with * and ? */
	HDB_TARGET_LOADER = 8,  /* classes of a class loader: "loader:0x12c4", "loader:a.Loader" */
	HDB_TARGET_NAME = 16    /* a pattern of other names, as those of threads */
};

/* One query; hdb_query_at lists them. */
struct hdb_query_spec {   /* NOLINT(clang-analyzer-optin.performance.Padding) */
	const char *name; /* "retained" */
	/*
	 * other names that hdb_query takes, terms of other tools, with "|" between:
	 * "histo|class-histogram"; NULL: none
	 */
	const char *aliases;
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
	const char *targets;   /* what its targets are, for people: "OBJECT|CLASS..." or "" */
	unsigned target_types; /* enum hdb_target_type; 0: it takes none */
	unsigned target_min, target_max; /* how many; UINT_MAX: any number */
	const char *summary;             /* one line */
	/* names of columns that have a value in every row, "name|objects"; NULL: none is promised */
	const char *never_null;
	/* Arrays of the library: hdb_query_option, hdb_query_column and hdb_query_fact step on. */
	const struct hdb_option_spec *options; /* ended by a NULL name; never NULL */
	const struct hdb_column *columns;      /* its columns, as documented */
	size_t column_count;
	const struct hdb_column *facts; /* its facts, as documented */
	size_t fact_count;
	/* 0: about a database or a comparison as a whole, which a door may show in its own place */
	int is_query;
	/*
	 * of a query that counts objects: which ones alone, and why it has no options "unreachable"
	 * and "all"; NULL: it has them, or counts none
	 */
	const char *one_population;
	/* its rows belong to one another: none can be left out (struct hdb_row_filter) */
	int is_tree;
};

/* How many queries there are, and one, in the order of the manual. Static; NULL: no such number. */
HDB_API size_t hdb_query_count(void);
HDB_API const struct hdb_query_spec *hdb_query_at(size_t no);

/*
 * An option, a column or a fact of a query, by number from 0. Static; NULL after the last. The
 * facts of NULL are those that any answer may have before its own: see struct hdb_health.
 */
HDB_API const struct hdb_option_spec *hdb_query_option(const struct hdb_query_spec *query,
						       size_t no);
HDB_API const struct hdb_column *hdb_query_column(const struct hdb_query_spec *query, size_t no);
HDB_API const struct hdb_column *hdb_query_fact(const struct hdb_query_spec *query, size_t no);

/* The query with this name or alias; static. NULL: there is none. */
HDB_API const struct hdb_query_spec *hdb_query_named(const char *name);

/* An option given to a query; value NULL for a switch. */
struct hdb_option {
	const char *name;
	const char *value;
};

/*
 * Chooses rows of an answer, for callers that understand expressions over its columns. Of answers
 * whose rows belong together, as those of trees, none can be left out: HDB_EUSAGE.
 */
struct hdb_row_filter {
	size_t struct_size; /* sizeof the structure, or 0 */
	const char *text;   /* as its user wrote it, for what echoes a question; NULL: not told */
	void *ctx;          /* given to the functions */
	/* Called once, before the first row; columns are borrowed until hdb_rows_close. */
	int (*begin)(void *ctx, const struct hdb_column *const *columns, size_t count,
		     struct hdb_error *err);
	/* Whether `test` looks at this column, so that others are made of wanted rows only. */
	int (*uses)(void *ctx, size_t column);
	/* *wanted: whether the row with these values, one a column, is. Values are borrowed. */
	int (*test)(void *ctx, const struct hdb_value *const *values, int *wanted,
		    struct hdb_error *err);
};

/* What a query is asked with; everything that it points to is lent until the rows are closed. */
struct hdb_query_args {
	size_t struct_size;         /* sizeof the structure, or 0 */
	const char *const *targets; /* object IDs ("0x12c4"), class names, patterns */
	size_t target_count;
	const uint64_t *ids; /* further targets: objects by identifier */
	size_t id_count;
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
	const struct hdb_row_filter *filter; /* NULL: all rows */
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

/*
 * The place of the column that is named so, for hdb_rows_column, hdb_rows_value and the functions
 * below. A column that the query has, but that does not apply to this answer or dump, has a place
 * past the others; all its values are null. SIZE_MAX if the query has no such column.
 */
HDB_API size_t hdb_rows_find_column(const struct hdb_rows *rows, const char *name);

/* Steps to the next row: HDB_OK, HDB_END after the last (or after `limit`), or a failure. */
HDB_API int hdb_rows_next(struct hdb_rows *rows, struct hdb_error *err);

/* A value of the current row, borrowed until the next call of hdb_rows_next or hdb_rows_close. */
HDB_API const struct hdb_value *hdb_rows_value(const struct hdb_rows *rows, size_t column);

/*
 * The same as what they are. hdb_rows_u64 is for counts, bytes, identifiers and booleans,
 * hdb_rows_i64 for those and integers, hdb_rows_double for all numbers; hdb_rows_text is
 * zero-terminated, and borrowed as the value is. Where there is no value, no such column or one of
 * another type, they give 0 or NULL.
 */
HDB_API uint64_t hdb_rows_u64(const struct hdb_rows *rows, size_t column);
HDB_API int64_t hdb_rows_i64(const struct hdb_rows *rows, size_t column);
HDB_API double hdb_rows_double(const struct hdb_rows *rows, size_t column);
HDB_API const char *hdb_rows_text(struct hdb_rows *rows, size_t column);

/* Whether the current row has no value in the column. */
HDB_API int hdb_rows_is_null(const struct hdb_rows *rows, size_t column);

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

/* The value of the fact that is named so, borrowed as above; NULL if the answer has none. */
HDB_API const struct hdb_value *hdb_rows_find_fact(const struct hdb_rows *rows, const char *name);

/* Ends the answer; NULL is fine. */
HDB_API void hdb_rows_close(struct hdb_rows *rows);

/*
 * The structures of the Arrow C data and stream interfaces, an ABI that needs no library; here
 * unless another header has brought them. See
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
 * The rows that follow as a stream of the Arrow C data interface (which the caller provides empty):
 * batches of `batch_rows` rows at most (0: 65,536; SIZE_MAX: all in one batch, unless it has much
 * text), a field a column: counts, bytes and identifiers are uint64, integers int64, texts utf8;
 * where all texts that there can be are known beforehand (names of classes in "objects") int32
 * numbers in a dictionary of them, the same in all batches. The stream owns `rows` from then on:
 * its release closes them, before hdb_close. A call of it that fails returns an errno and has its
 * message. HDB_ENOMEM, and `rows` stays the caller's.
 */
HDB_API int hdb_rows_arrow(struct hdb_rows *rows, size_t batch_rows, struct ArrowArrayStream *out,
			   struct hdb_error *err);

/*
 * Rows that are no query's, as those of a statement; members as the functions hdb_rows_... are. Of
 * your columns only members that version 0.3.0 has are read.
 */
struct hdb_row_source {
	size_t struct_size; /* sizeof the structure, or 0 */
	void *ctx;
	size_t column_count;
	const struct hdb_column *(*column)(void *ctx, size_t column);
	int (*next)(void *ctx, struct hdb_error *err);
	const struct hdb_value *(*value)(void *ctx, size_t column);
	void (*close)(void *ctx); /* called by the stream's release; may be NULL */
};

/*
 * The same for rows that are no query's. HDB_ENOMEM, or HDB_EUSAGE if a function but `close` is
 * NULL; nothing was closed.
 */
HDB_API int hdb_source_arrow(const struct hdb_row_source *source, size_t batch_rows,
			     struct ArrowArrayStream *out, struct hdb_error *err);

/* The version of the library that is loaded, and a result code's name; static strings. */
HDB_API const char *hdb_version(void);
/* HDB_VERSION_NUMBER of the library that is loaded, which may be newer than the header. */
HDB_API unsigned hdb_version_number(void);
HDB_API const char *hdb_result_name(int result);

#ifdef __cplusplus
}
#endif

#endif

/*
 * serve/serve.h - HTTP server of the page, on loopback, for one or several databases. The only
 * header of this directory that the command includes; the server uses only heapdb.h and its own
 * files.
 *
 * Clients must present the token. Databases are not changed, except that any query may add derived
 * tables. Notes are stored next to a database. No path in a request reaches the file system.
 */
#ifndef HEAPDB_SERVE_H
#define HEAPDB_SERVE_H

#include "heapdb.h"

#include "base/flag.h"
#include "common/pixels.h"

#include <stdbool.h>

/* Maximum number of open databases, and of workers (threads with a handle for each database). */
#define SERVE_DATABASES_MAX 16
#define SERVE_WORKERS_MAX 8
/* Maximum number of bytes in an answer. */
#define SERVE_ANSWER_MAX ((uint64_t)64 << 20)
/*
 * Maximum number of bytes in an exported file, which is in the temporary directory until it is
 * sent.
 */
#define SERVE_EXPORT_MAX ((uint64_t)64 << 30)
/*
 * Number of workers. The number does not depend on the cores, because two long queries must not
 * block all short queries.
 */
#define SERVE_WORKERS_DEFAULT 4

struct serve_database {
	const char *name;    /* name shown on the page; borrowed */
	const char *db_path; /* borrowed */
	/* current path of the dump; NULL means the path at the time of the import; borrowed */
	const char *dump_path;
};

/*
 * Format of an answer: either JSON for the page, of at most SERVE_ANSWER_MAX bytes, or a file with
 * all rows.
 */
enum serve_format { SERVE_PAGE, SERVE_CSV, SERVE_JSON, SERVE_PARQUET };

struct serve_options {
	const struct serve_database *databases; /* borrowed */
	size_t database_count;
	const char *listen;    /* an IPv4 or IPv6 address; NULL means 127.0.0.1; borrowed */
	unsigned port;         /* 0 means any free port */
	unsigned workers;      /* 0: SERVE_WORKERS_DEFAULT */
	uint64_t memory_bytes; /* budget of all workers together; 0 means the default for each */
	const char *tmp_dir;   /* as in struct hdb_open_options; borrowed */
	const base_flag *stop; /* stops the server if nonzero; may be set by a signal handler;
			        * borrowed */
	/*
	 * Names of the answers that are made from files other than the databases, and the function
	 * that makes such an answer. Any worker may call the function, which stops with HDB_EINTR
	 * if *cancel is set.
	 */
	const char *const *files; /* borrowed */
	size_t file_count;
	int (*write_file)(void *ctx, const char *name, int fd, const base_flag *cancel,
			  struct hdb_error *err);
	/*
	 * Writes a note on `target` (NULL means none), or removes it (`text` NULL), and returns all
	 * notes of the database as JSON, which the caller must free(). This member is NULL if notes
	 * are not supported.
	 */
	int (*notes)(const char *db_path, const char *target, const char *text, char **json,
		     struct hdb_error *err);
	/* Called once when the server accepts requests; `url` includes the token. */
	void (*ready)(void *ctx, const char *url);
	/* As in struct hdb_progress, but may be called from any worker thread. */
	void (*notice)(void *ctx, const char *text);
	void *ctx;
};

/*
 * Returns a file of the page: "/report.js", "/app.css", or its hash for a Content-Security-Policy:
 * "/report.js.hash", "/app.css.hash". `path` must be one of these four. The contents are static.
 */
const char *serve_page(const char *path, size_t *size);

/*
 * Returns the queries for which is_wanted(name) is true, without their options, as a JSON array.
 * The caller must free() *text. Fails with HDB_ENOMEM if memory is exhausted.
 */
int serve_columns_json(bool is_wanted(const char *query), char **text, size_t *size);

/*
 * Serves until *stop is set, and then returns HDB_OK. Returns a failure if the server cannot start.
 */
int serve_run(const struct serve_options *options, struct hdb_error *err);

#endif

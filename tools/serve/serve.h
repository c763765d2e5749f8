/*
 * serve/serve.h - the page: an HTTP server on loopback for one or several databases. The command
 * includes this header and no other of this folder; the server sees heapdb.h and its own files.
 *
 * Whoever asks must know the token. Databases are read; the only things that are ever written are
 * derived tables, as by any query, and notes beside a database. No path of a request reaches the
 * file system.
 */
#ifndef HEAPDB_SERVE_H
#define HEAPDB_SERVE_H

#include "heapdb.h"

#include "common/pixels.h"

#include <stdbool.h>

/* Databases that are open at once, and workers (threads with a handle on each of them). */
#define SERVE_DATABASES_MAX 16
#define SERVE_WORKERS_MAX 8
/* Bytes of an answer. */
#define SERVE_ANSWER_MAX ((uint64_t)64 << 20)
/* Bytes of a file that is exported; it lies in the folder for temporary files until it is sent. */
#define SERVE_EXPORT_MAX ((uint64_t)64 << 30)
/* Whatever the cores: two long questions must not keep all short ones waiting. */
#define SERVE_WORKERS_DEFAULT 4

struct serve_database {
	const char *name;      /* what the page calls it; lent */
	const char *db_path;   /* lent */
	const char *dump_path; /* where the dump is now; NULL: where it was at import; lent */
};

struct serve_options;

/* What an answer is written as: for the page, within SERVE_ANSWER_MAX, or as a file of all rows. */
enum serve_format { SERVE_PAGE, SERVE_CSV, SERVE_JSON, SERVE_PARQUET };

/* Where an answer goes. */
struct serve_sink {
	int fd; /* stays open */
	enum serve_format format;
	_Atomic uint64_t *rows;     /* counts those that are written; lent */
	const volatile int *cancel; /* when it becomes nonzero: HDB_EINTR; lent */
};

/* A statement of SQL, for the worker that asks. All of it is lent. */
struct serve_statement {
	const struct serve_options *options;
	struct hdb *const *handles; /* the worker's, one a database */
	size_t database;            /* whose tables need no name before them */
	const char *text;
	bool all;                   /* tables show unreachable objects, too */
	uint64_t limit;             /* rows; 0: all */
	const volatile int *cancel; /* when it becomes nonzero: HDB_EINTR */
};

struct serve_options {
	const struct serve_database *databases; /* lent */
	size_t database_count;
	const char *listen;       /* an IPv4 or IPv6 address; NULL: 127.0.0.1; lent */
	unsigned port;            /* 0: a free one */
	unsigned workers;         /* 0: SERVE_WORKERS_DEFAULT */
	uint64_t memory_bytes;    /* for all workers together; 0: as needed */
	const char *tmp_dir;      /* as struct hdb_open_options has it; lent */
	const volatile int *stop; /* nonzero: the server ends; may be set by a signal; lent */
	/*
	 * Writes an answer. `args` is what was asked. HDB_OK also where an answer for the page ends
	 * in an error, if that is in the JSON.
	 */
	int (*write_rows)(struct hdb_rows *rows, const char *name,
			  const struct hdb_query_args *args, const struct serve_sink *to,
			  struct hdb_error *err);
	/* Runs a statement that reads, and writes its rows likewise; NULL: there is no SQL. */
	int (*write_sql)(const struct serve_statement *statement, const struct serve_sink *to,
			 struct hdb_error *err);
	/* Writes pixels as PNG; NULL: not supported. */
	int (*write_png)(const struct pixels *pixels, int fd, struct hdb_error *err);
	/*
	 * Writes a note on `target` (NULL: none), or removes it (`text` NULL), and returns all
	 * notes beside the database as JSON, owned: free(). NULL: there are no notes.
	 */
	int (*notes)(const char *db_path, const char *target, const char *text, char **json,
		     struct hdb_error *err);
	/* Called once, when requests are answered; `url` has the token. */
	void (*ready)(void *ctx, const char *url);
	/* As in struct hdb_progress; from any worker. */
	void (*notice)(void *ctx, const char *text);
	void *ctx;
};

/*
 * A file of the page: "/app.js", "/app.css", or its hash in the form of a Content-Security-Policy:
 * "/app.js.hash", "/app.css.hash". Static; `path` is one of them.
 */
const char *serve_page(const char *path, size_t *size);

/* The list of queries for the page, a JSON array. *text is owned: free(). HDB_ENOMEM. */
int serve_specs_json(char **text, size_t *size);

/* Serves until *stop. HDB_OK after that, or a failure to begin. */
int serve_run(const struct serve_options *options, struct hdb_error *err);

#endif

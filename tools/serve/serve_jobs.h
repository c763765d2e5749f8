/*
 * serve/serve_jobs.h - queued requests and the workers that answer them: threads with their own
 * handle for each database. Independent of HTTP.
 */
#ifndef HEAPDB_SERVE_JOBS_H
#define HEAPDB_SERVE_JOBS_H

#include "serve/serve.h"

#include <stdbool.h>

/* Limits of a request. */
#define SERVE_ARGUMENTS_MAX 64
#define SERVE_ROWS_MAX 100000 /* maximum number of rows in an answer; the page requests fewer */
#define SERVE_ROWS_DEFAULT 1000
#define SERVE_EXPORTS_MAX 4       /* maximum number of concurrent exports, which take disk space */
#define SERVE_SECONDS_MAX 1800    /* time limit of a query */
#define SERVE_SQL_SECONDS_MAX 300 /* time limit of an SQL statement */
/* Maximum number of bytes in a value. A string with a third as many characters always fits. */
#define SERVE_VALUE_MAX SERVE_ANSWER_MAX
/*
 * Maximum number of bytes of all answers not yet read. Answers smaller than the minimum do not
 * count, since the number of connections limits them.
 */
#define SERVE_HELD_MAX ((uint64_t)128 << 20)
#define SERVE_HELD_LEAST ((uint64_t)1 << 20)
/* Maximum number of pixels of a bitmap, which is more than a screen has. */
#define SERVE_PIXELS_MAX ((uint64_t)16 << 20)
#define SERVE_ID_SIZE 40

/* Milliseconds until a client's request interrupts a job that fills the cache. */
#define SERVE_SLOW_ANSWER_MS 50

/* Maximum number of queued requests. Further requests are rejected. */
#define SERVE_WAITING_MAX 64

enum serve_state { SERVE_WAITING, SERVE_RUNNING, SERVE_DONE };

enum serve_kind {
	SERVE_QUERY,  /* `spec`, with targets and options */
	SERVE_SQL,    /* `statement` */
	SERVE_VALUE,  /* bytes or text of `object` */
	SERVE_BITMAP, /* image in the byte array `object` */
	SERVE_FILE    /* `file` */
};

/* A request. */
struct serve_job {
	enum serve_kind kind;
	char id[SERVE_ID_SIZE]; /* chosen by the client, for cancellation; "" if none */
	const struct hdb_query_spec *spec;
	const char *statement;
	const char *file;     /* name of an answer from a file; static */
	uint64_t object;      /* object ID */
	uint64_t from, count; /* range of a value; count 0 means all */
	uint64_t width, height,
		pixel_bytes; /* size of a bitmap, or zeros if the array is an image file */
	char *strings[SERVE_ARGUMENTS_MAX]; /* owned: memory of the arguments */
	size_t string_count;
	const char *targets[SERVE_ARGUMENTS_MAX];
	struct hdb_option options[SERVE_ARGUMENTS_MAX];
	size_t target_count, option_count;
	const char *sort;   /* NULL means none */
	const char *filter; /* words that a row must contain; NULL selects all rows */
	uint64_t limit;     /* 0 means all rows, for a file */
	size_t database;
	size_t before[SERVE_DATABASES_MAX];
	size_t before_count;

	enum serve_format format;
	bool takes_gzip;       /* whether the client accepts gzip */
	bool all;              /* whether tables include unreachable objects */
	_Atomic uint64_t rows; /* number of rows written */

	/* The answer, once the job is done. */
	int result;
	int fd;           /* unnamed file with the answer, owned; -1 means none */
	bool is_packed;   /* whether the file is compressed with gzip */
	bool is_text;     /* whether the value is UTF-8 text */
	const char *type; /* Content-Type of an image; static */
	struct hdb_error err;

	/*
	 * Called when the job is done. The function then owns the job. NULL if no client is
	 * waiting.
	 */
	void (*done)(struct serve_job *job);
	void *connection;
	int client;             /* socket of the client, which stays open until `done`; -1 if
				 * none */
	_Atomic uint64_t *held; /* counter of the bytes in all unread answers; borrowed; may be
				 * NULL */

	/* For the workers only. */
	struct hdb_rows *opened;                 /* closed after the answer was delivered; owned */
	struct hdb *others[SERVE_DATABASES_MAX]; /* handles of `before`; borrowed */
	uint64_t size;                           /* bytes of this answer, counted in *held */
	char *key; /* cache key, see serve_cache.h; owned; NULL if memory is exhausted */
	_Atomic unsigned users; /* number of users, worker and client; the last one frees the job */
	enum serve_state state;
	bool is_cancelled;
	struct serve_job *next;
};

struct serve_jobs;

/*
 * Opens all databases for all workers and starts the workers. The caller must pass *out to
 * serve_jobs_stop.
 */
int serve_jobs_start(const struct serve_options *options, struct serve_jobs **out,
		     struct hdb_error *err);

/* Cancels all jobs, calls their `done`, and ends the workers. NULL is allowed. */
void serve_jobs_stop(struct serve_jobs *jobs);

/*
 * Queues a job. Returns false if the queue is full. If the same request is already being answered,
 * the job waits for that answer. Jobs that fill the cache are interrupted.
 */
bool serve_jobs_add(struct serve_jobs *jobs, struct serve_job *job);

/*
 * Cancels jobs that run too long, jobs whose clients have disconnected, and jobs that fill the
 * cache while a client is waiting. Must be called periodically.
 */
void serve_jobs_watch(struct serve_jobs *jobs);

/* Cancels the job with this ID. Returns false if there is no such job. */
bool serve_jobs_cancel(struct serve_jobs *jobs, const char *id);

/* Buffer size for the name of a stage, twice the longest name. */
#define SERVE_STAGE_SIZE 96

/* Progress of a job. serve_jobs_progress returns false if there is no such job. */
struct serve_progress {
	enum serve_state state;
	char stage[SERVE_STAGE_SIZE], unit[SERVE_STAGE_SIZE];
	uint64_t done, total, rows;
};
bool serve_jobs_progress(struct serve_jobs *jobs, const char *id, struct serve_progress *out);

/*
 * Returns the health of a database when it was opened. The strings are borrowed until
 * serve_jobs_stop.
 */
const struct hdb_health *serve_jobs_health(const struct serve_jobs *jobs, size_t database);

/* Returns whether the dump has named heaps, as Android dumps do. */
bool serve_jobs_is_android(const struct serve_jobs *jobs, size_t database);
/*
 * Returns whether the database's path now refers to another file. Answers come from the file that
 * was opened.
 */
bool serve_jobs_is_replaced(const struct serve_jobs *jobs, size_t database);

struct serve_job *serve_job_new(void);
/* Closes a job's file, and frees the job once its worker does not need it. NULL is allowed. */
void serve_job_free(struct serve_job *job);

#endif

/*
 * serve/serve_jobs.h - questions that wait, and the workers that answer them: threads, each with a
 * handle of its own on every database. Knows nothing of HTTP.
 */
#ifndef HEAPDB_SERVE_JOBS_H
#define HEAPDB_SERVE_JOBS_H

#include "serve/serve.h"

#include <stdbool.h>

/* Limits of one question. */
#define SERVE_ARGUMENTS_MAX 64
#define SERVE_ROWS_MAX 100000 /* rows of an answer; the page asks for fewer */
#define SERVE_ROWS_DEFAULT 1000
#define SERVE_EXPORTS_MAX 4       /* files of all rows at once: they lie on a disk */
#define SERVE_SECONDS_MAX 1800    /* then it is cancelled */
#define SERVE_SQL_SECONDS_MAX 300 /* the same, of a statement */
/* Bytes of a value that is sent; a text's characters may be a third of that. */
#define SERVE_VALUE_MAX SERVE_ANSWER_MAX
/*
 * Bytes of answers that wait to be read, together; those below the least do not count, for they are
 * no more than the connections.
 */
#define SERVE_HELD_MAX ((uint64_t)128 << 20)
#define SERVE_HELD_LEAST ((uint64_t)1 << 20)
/* Pixels of a bitmap that is drawn: more than a screen has. */
#define SERVE_PIXELS_MAX ((uint64_t)16 << 20)
#define SERVE_ID_SIZE 40

/*
 * Memory of all workers where nobody says how much, once tables are built: larger arrays lie in
 * files. To build them they have what hdb_open takes for itself.
 */
#define SERVE_MEMORY ((uint64_t)128 << 20)

/* Questions that wait at most; a further one is refused. */
#define SERVE_WAITING_MAX 64

enum serve_state { SERVE_WAITING, SERVE_RUNNING, SERVE_DONE };

enum serve_kind {
	SERVE_QUERY, /* `spec`, with targets and options */
	SERVE_SQL,   /* `statement` */
	SERVE_VALUE, /* the bytes or the text of `object` */
	SERVE_BITMAP /* the picture in `object`, an array of bytes */
};

/* One question. */
struct serve_job {
	enum serve_kind kind;
	char id[SERVE_ID_SIZE]; /* chosen by the client, to cancel the job; "": none */
	const struct hdb_query_spec *spec;
	const char *statement;
	bool all;                            /* its tables show unreachable objects, too */
	uint64_t object;                     /* its ID */
	uint64_t from, count;                /* of its value; count 0: all */
	uint64_t width, height, pixel_bytes; /* of its pixels; all 0: it is a file of a picture */
	char *strings[SERVE_ARGUMENTS_MAX];  /* owned: what the arguments point to */
	size_t string_count;
	const char *targets[SERVE_ARGUMENTS_MAX];
	struct hdb_option options[SERVE_ARGUMENTS_MAX];
	size_t target_count, option_count;
	const char *sort; /* NULL: none */
	uint64_t limit;   /* 0, of a file: all rows */
	size_t database;
	size_t before[SERVE_DATABASES_MAX];
	size_t before_count;

	bool takes_gzip; /* who asks understands it */
	enum serve_format format;
	_Atomic uint64_t rows; /* that are written */

	/* The answer, once it is done. */
	int result;
	int fd;           /* a file in memory with the answer, owned; -1: none */
	bool is_packed;   /* the answer is gzip */
	bool is_text;     /* of a value: it is a text, in UTF-8 */
	const char *type; /* of a picture: Content-Type; static */
	struct hdb_error err;

	/* Called when it is done; the job is the caller's then. NULL: no client waits. */
	void (*done)(struct serve_job *job);
	void *connection;
	int client;             /* its socket, which stays open until `done`; -1: none */
	_Atomic uint64_t *held; /* lent: bytes of all answers that wait to be read; NULL: none */

	/* For the workers. */
	uint64_t size; /* bytes of its own in *held */
	char *key;     /* what it asks, serve_cache.h; owned; NULL: there was no memory */
	enum serve_state state;
	bool is_cancelled;
	struct serve_job *next;
};

struct serve_jobs;

/* Opens all databases for all workers and starts these. *out is owned: serve_jobs_stop. */
int serve_jobs_start(const struct serve_options *options, struct serve_jobs **out,
		     struct hdb_error *err);

/* Cancels everything, calls `done` of each job, and ends the workers. NULL is fine. */
void serve_jobs_stop(struct serve_jobs *jobs);

/*
 * Queues a job; false if too many wait. Who asks what is being answered already waits for that
 * answer, and what nobody waits for gives way.
 */
bool serve_jobs_add(struct serve_jobs *jobs, struct serve_job *job);

/* Cancels what works for too long, or for a client that is gone. To be called now and then. */
void serve_jobs_watch(struct serve_jobs *jobs);

/* Cancels the job of that id; false if there is none. */
bool serve_jobs_cancel(struct serve_jobs *jobs, const char *id);

/* Room for the name of a stage: the longest has half of that. */
#define SERVE_STAGE_SIZE 96

/* How far a job is. False: there is none. */
struct serve_progress {
	enum serve_state state;
	char stage[SERVE_STAGE_SIZE], unit[SERVE_STAGE_SIZE];
	uint64_t done, total, rows;
};
bool serve_jobs_progress(struct serve_jobs *jobs, const char *id, struct serve_progress *out);

/* The health of a database, as found when it was opened; borrowed until serve_jobs_stop. */
void serve_jobs_health(const struct serve_jobs *jobs, size_t database, struct hdb_health *out);

/* Whether the dump has heaps with names, as those of Android's runtime do. */
bool serve_jobs_is_android(const struct serve_jobs *jobs, size_t database);

struct serve_job *serve_job_new(void);
/* Frees the job and closes its file; NULL is fine. */
void serve_job_free(struct serve_job *job);

#endif

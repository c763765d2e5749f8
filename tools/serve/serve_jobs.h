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
#define SERVE_SECONDS_MAX 1800 /* then it is cancelled */
#define SERVE_ID_SIZE 40

/* Questions that wait at most; a further one is refused. */
#define SERVE_WAITING_MAX 64

enum serve_state { SERVE_WAITING, SERVE_RUNNING, SERVE_DONE };

/* One question. */
struct serve_job {
	char id[SERVE_ID_SIZE]; /* chosen by whoever asks, to cancel it; "": none */
	const struct hdb_query_spec *spec;
	char *strings[SERVE_ARGUMENTS_MAX]; /* owned: what the arguments point to */
	size_t string_count;
	const char *targets[SERVE_ARGUMENTS_MAX];
	struct hdb_option options[SERVE_ARGUMENTS_MAX];
	size_t target_count, option_count;
	const char *sort; /* NULL: none */
	uint64_t limit;
	size_t database;
	size_t before[SERVE_DATABASES_MAX];
	size_t before_count;

	/* The answer, once it is done. */
	int result;
	int fd; /* a file in memory with JSON, owned; -1: none */
	struct hdb_error err;

	/* Called by a worker when it is done; the job is the caller's then. */
	void (*done)(struct serve_job *job);
	void *connection;

	/* For the workers. */
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

/* Queues a job; false if too many wait. */
bool serve_jobs_add(struct serve_jobs *jobs, struct serve_job *job);

/* Cancels the job of that id; false if there is none. */
bool serve_jobs_cancel(struct serve_jobs *jobs, const char *id);

/* How far a job is. `stage` and `unit` have room for SERVE_ID_SIZE bytes. False: there is none. */
struct serve_progress {
	enum serve_state state;
	char stage[SERVE_ID_SIZE], unit[SERVE_ID_SIZE];
	uint64_t done, total;
};
bool serve_jobs_progress(struct serve_jobs *jobs, const char *id, struct serve_progress *out);

/* The health of a database, as found when it was opened; borrowed until serve_jobs_stop. */
void serve_jobs_health(const struct serve_jobs *jobs, size_t database, struct hdb_health *out);

struct serve_job *serve_job_new(void);
/* Frees the job and closes its file; NULL is fine. */
void serve_job_free(struct serve_job *job);

#endif

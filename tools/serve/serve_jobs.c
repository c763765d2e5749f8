/*
 * serve/serve_jobs.c - the queue, the workers, progress and cancelling.
 */
#include "serve/serve_jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct worker {
	struct serve_jobs *jobs;
	pthread_t thread;
	bool is_started;
	struct hdb *databases[SERVE_DATABASES_MAX]; /* owned */
	volatile int cancel;
	/* Under the lock of `jobs`. */
	struct serve_job *job; /* that it works on; NULL: none */
	struct serve_progress progress;
	time_t began;
};

struct serve_jobs {
	const struct serve_options *options; /* lent */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct serve_job *first, *last; /* waiting */
	size_t waiting;
	bool is_stopping;
	struct worker workers[SERVE_WORKERS_MAX];
	size_t worker_count;
};

static int fail(struct hdb_error *err, int code, const char *what)
{
	snprintf(err->message, sizeof(err->message), "%s", what);
	return err->code = code;
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

struct serve_job *serve_job_new(void)
{
	struct serve_job *job = calloc(1, sizeof(*job));

	if (job)
		job->fd = -1;
	return job;
}

void serve_job_free(struct serve_job *job)
{
	if (!job)
		return;
	for (size_t i = 0; i < job->string_count; i++)
		free(job->strings[i]);
	if (job->fd >= 0)
		close(job->fd);
	free(job);
}

/* From a worker's own thread, while the library works for it. */
static void on_report(void *ctx, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
	struct worker *w = ctx;

	pthread_mutex_lock(&w->jobs->lock);
	snprintf(w->progress.stage, sizeof(w->progress.stage), "%s", stage ? stage : "");
	snprintf(w->progress.unit, sizeof(w->progress.unit), "%s", unit ? unit : "");
	w->progress.done = done;
	w->progress.total = total;
	if (w->job && now() - w->began > SERVE_SECONDS_MAX)
		w->cancel = 1;
	pthread_mutex_unlock(&w->jobs->lock);
}

static void on_notice(void *ctx, const char *text)
{
	const struct serve_options *options = ((struct worker *)ctx)->jobs->options;

	if (options->notice)
		options->notice(options->ctx, text);
}

/* The answer goes to a file without a name, so that a slow reader holds no worker. */
static int answer(struct worker *w, struct serve_job *job)
{
	struct hdb *before[SERVE_DATABASES_MAX];
	struct hdb_query_args args = {
		.targets = job->targets,
		.target_count = job->target_count,
		.options = job->options,
		.option_count = job->option_count,
		.sort = job->sort,
		.limit = job->limit,
		.before_count = job->before_count,
	};
	struct hdb_rows *rows = NULL;
	int r;

	for (size_t i = 0; i < job->before_count; i++)
		before[i] = w->databases[job->before[i]];
	if (job->before_count > 0)
		args.before = before;
	r = hdb_query(w->databases[job->database], job->spec->name, &args, &rows, &job->err);
	if (r == HDB_OK) {
		job->fd = memfd_create("heapdb-answer", MFD_CLOEXEC);
		r = job->fd < 0 ? fail(&job->err, HDB_EIO, strerror(errno)) :
				  w->jobs->options->write_rows(rows, job->spec->name, &args,
							       job->fd, &job->err);
	}
	hdb_rows_close(rows);
	return r;
}

/* Takes the first job that waits; NULL: the server ends. */
static struct serve_job *take(struct worker *w)
{
	struct serve_jobs *jobs = w->jobs;
	struct serve_job *job;

	pthread_mutex_lock(&jobs->lock);
	w->job = NULL;
	while (!jobs->first && !jobs->is_stopping)
		pthread_cond_wait(&jobs->wake, &jobs->lock);
	job = jobs->first;
	if (job) {
		jobs->first = job->next;
		if (!jobs->first)
			jobs->last = NULL;
		jobs->waiting--;
		job->state = SERVE_RUNNING;
		w->job = job;
		w->began = now();
		w->progress = (struct serve_progress){ .state = SERVE_RUNNING };
		w->cancel = job->is_cancelled || jobs->is_stopping;
	}
	pthread_mutex_unlock(&jobs->lock);
	return job;
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	struct serve_job *job;

	while ((job = take(w)) != NULL) {
		const int r = w->cancel ? fail(&job->err, HDB_EINTR, "cancelled") : answer(w, job);

		pthread_mutex_lock(&w->jobs->lock);
		w->job = NULL;
		job->result = r;
		job->state = SERVE_DONE;
		pthread_mutex_unlock(&w->jobs->lock);
		job->done(job);
	}
	return NULL;
}

/* Opens the databases of a worker, whose address the library keeps. */
static int open_databases(struct worker *w, struct hdb_error *err)
{
	const struct serve_options *options = w->jobs->options;
	int r = HDB_OK;

	for (size_t i = 0; i < options->database_count && r == HDB_OK; i++) {
		const struct hdb_open_options open = {
			.dump_path = options->databases[i].dump_path,
			.memory_bytes = options->memory_bytes / w->jobs->worker_count,
			.tmp_dir = options->tmp_dir,
			.progress = { .report = on_report,
				      .ctx = w,
				      .cancel = &w->cancel,
				      .notice = on_notice },
		};

		r = hdb_open(options->databases[i].db_path, &open, &w->databases[i], err);
	}
	return r;
}

static size_t count_workers(const struct serve_options *options)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (options->workers > 0)
		return options->workers < SERVE_WORKERS_MAX ? options->workers : SERVE_WORKERS_MAX;
	return cores < 2 ? 2 : cores > 4 ? 4 : (size_t)cores;
}

int serve_jobs_start(const struct serve_options *options, struct serve_jobs **out,
		     struct hdb_error *err)
{
	struct serve_jobs *jobs = calloc(1, sizeof(*jobs));
	int r = HDB_OK;

	if (!jobs)
		return fail(err, HDB_ENOMEM, "no memory for workers");
	jobs->options = options;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->wake, NULL);
	jobs->worker_count = count_workers(options);
	for (size_t i = 0; i < jobs->worker_count && r == HDB_OK; i++) {
		struct worker *w = &jobs->workers[i];

		w->jobs = jobs;
		r = open_databases(w, err);
		if (r == HDB_OK && pthread_create(&w->thread, NULL, work, w) != 0)
			r = fail(err, HDB_EIO, "cannot start a thread");
		w->is_started = r == HDB_OK;
	}
	if (r != HDB_OK) {
		serve_jobs_stop(jobs);
		return r;
	}
	*out = jobs;
	return HDB_OK;
}

void serve_jobs_stop(struct serve_jobs *jobs)
{
	if (!jobs)
		return;
	pthread_mutex_lock(&jobs->lock);
	jobs->is_stopping = true;
	for (size_t i = 0; i < jobs->worker_count; i++)
		jobs->workers[i].cancel = 1;
	pthread_cond_broadcast(&jobs->wake);
	pthread_mutex_unlock(&jobs->lock);
	for (size_t i = 0; i < jobs->worker_count; i++)
		if (jobs->workers[i].is_started)
			pthread_join(jobs->workers[i].thread, NULL);
	for (size_t i = 0; i < jobs->worker_count; i++)
		for (size_t d = 0; d < SERVE_DATABASES_MAX; d++)
			hdb_close(jobs->workers[i].databases[d]);
	pthread_cond_destroy(&jobs->wake);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}

bool serve_jobs_add(struct serve_jobs *jobs, struct serve_job *job)
{
	bool has_room;

	pthread_mutex_lock(&jobs->lock);
	has_room = jobs->waiting < SERVE_WAITING_MAX && !jobs->is_stopping;
	if (has_room) {
		job->state = SERVE_WAITING;
		job->next = NULL;
		if (jobs->last)
			jobs->last->next = job;
		else
			jobs->first = job;
		jobs->last = job;
		jobs->waiting++;
		pthread_cond_signal(&jobs->wake);
	}
	pthread_mutex_unlock(&jobs->lock);
	return has_room;
}

bool serve_jobs_cancel(struct serve_jobs *jobs, const char *id)
{
	bool is_found = false;

	pthread_mutex_lock(&jobs->lock);
	for (struct serve_job *job = jobs->first; job; job = job->next) {
		if (strcmp(job->id, id) == 0)
			is_found = job->is_cancelled = true;
	}
	for (size_t i = 0; i < jobs->worker_count; i++) {
		struct worker *w = &jobs->workers[i];

		if (w->job && strcmp(w->job->id, id) == 0) {
			w->cancel = 1;
			is_found = true;
		}
	}
	pthread_mutex_unlock(&jobs->lock);
	return is_found;
}

bool serve_jobs_progress(struct serve_jobs *jobs, const char *id, struct serve_progress *out)
{
	bool is_found = false;

	pthread_mutex_lock(&jobs->lock);
	for (const struct serve_job *job = jobs->first; job && !is_found; job = job->next) {
		is_found = strcmp(job->id, id) == 0;
		*out = (struct serve_progress){ .state = SERVE_WAITING };
	}
	for (size_t i = 0; i < jobs->worker_count && !is_found; i++) {
		const struct worker *w = &jobs->workers[i];

		is_found = w->job && strcmp(w->job->id, id) == 0;
		*out = w->progress;
	}
	pthread_mutex_unlock(&jobs->lock);
	return is_found;
}

void serve_jobs_health(const struct serve_jobs *jobs, size_t database, struct hdb_health *out)
{
	hdb_health(jobs->workers[0].databases[database], out);
}

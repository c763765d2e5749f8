/*
 * serve/serve_jobs.c - queue, workers, progress and cancellation.
 */
#include "serve/serve_jobs.h"

#include "base/scope.h"
#include "base/work.h"
#include "base/error.h"
#include "base/flag.h"
#include "serve/serve_answer.h"
#include "serve/serve_cache.h"
#include "serve/serve_pack.h"
#include "serve/serve_value.h"
#include "serve/serve_warm.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct worker {
	struct serve_jobs *jobs;
	pthread_t thread;
	bool is_started;
	struct hdb *databases[SERVE_DATABASES_MAX]; /* owned */
	base_flag cancel;
	/* whether the job was cancelled because of the time limit; set by another thread */
	atomic_bool is_late;
	/* Protected by the lock of `jobs`. */
	struct serve_job *job; /* current job, or NULL if none */
	struct serve_progress progress;
	uint64_t began_ms;
};

struct serve_jobs {
	const struct serve_options *options; /* borrowed */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct serve_job *first, *last; /* waiting jobs */
	size_t waiting;
	size_t warmed; /* number of requests that serve_warm_job returned */
	bool is_warming, is_stopping;
	struct serve_cache *cache; /* owned */
	struct worker workers[SERVE_WORKERS_MAX];
	size_t worker_count;
	bool is_android[SERVE_DATABASES_MAX];
	/* health of the databases when they were opened */
	struct hdb_health health[SERVE_DATABASES_MAX];
	struct stat
		/* the files of the databases at the time when they were opened */
		opened[SERVE_DATABASES_MAX];
};

struct serve_job *serve_job_new(void)
{
	struct serve_job *job = calloc(1, sizeof(*job));

	if (job) {
		job->fd = job->client = -1;
		job->users = 1;
	}
	return job;
}

/* Frees a job if neither its worker nor its client needs it any more. */
static void release(struct serve_job *job)
{
	if (atomic_fetch_sub(&job->users, 1) > 1)
		return;
	assert(!job->opened);
	for (size_t i = 0; i < job->string_count; i++)
		free(job->strings[i]);
	free(job->key);
	free(job);
}

void serve_job_free(struct serve_job *job)
{
	if (!job)
		return;
	if (job->fd >= 0)
		close(job->fd);
	if (job->size > 0)
		atomic_fetch_sub(job->held, job->size);
	release(job);
}

/* Stores the progress of a job. Called on the worker's thread. */
static void on_report(void *ctx, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
	struct worker *w = ctx;

	pthread_mutex_lock(&w->jobs->lock);
	snprintf(w->progress.stage, sizeof(w->progress.stage), "%s", stage ? stage : "");
	snprintf(w->progress.unit, sizeof(w->progress.unit), "%s", unit ? unit : "");
	w->progress.done = done;
	w->progress.total = total;
	pthread_mutex_unlock(&w->jobs->lock);
}

static void on_notice(void *ctx, const char *text)
{
	const struct serve_options *options = ((struct worker *)ctx)->jobs->options;

	if (options->notice)
		options->notice(options->ctx, text);
}

static int make_answer(struct worker *w, struct serve_job *job)
{
	const struct serve_means means = { w->jobs->options, w->databases, &w->cancel };

	switch (job->kind) {
	case SERVE_VALUE:
		return serve_value(w->databases[job->database], job);
	case SERVE_BITMAP:
		return serve_bitmap(w->databases[job->database], job);
	case SERVE_SQL:
		return serve_sql(&means, job);
	case SERVE_FILE:
		return w->jobs->options->write_file(w->jobs->options->ctx, job->file, job->fd,
						    &w->cancel, &job->err);
	case SERVE_QUERY:
		break;
	}
	return serve_query(&means, job);
}

/* Returns whether the large tables needed by the page are already built. */
static bool is_built(struct hdb *db)
{
	const unsigned needs = HDB_NEED_DOMINATORS | HDB_NEED_CHILDREN;

	return (hdb_has(db) & needs) == needs;
}

/*
 * Returns whether the answer can be cached. Answers that list built tables change. A comparison
 * builds all tables that it needs, so its answers do not change.
 */
static bool is_lasting(struct worker *w, const struct serve_job *job)
{
	return (job->before_count > 0 || is_built(w->databases[job->database])) &&
	       !(job->kind == SERVE_QUERY &&
		 (strcmp(job->spec->name, "info") == 0 || strcmp(job->spec->name, "tables") == 0));
}

/* Caches an answer that took a long time, and frees its memory. */
static void keep_answer(struct worker *w, const struct serve_job *job, const char *key)
{
	const off_t size = lseek(job->fd, 0, SEEK_END);

	if (base_now_ms() - w->began_ms < SERVE_CACHE_LEAST_MS)
		return;
	if (key && (job->kind == SERVE_QUERY || job->kind == SERVE_SQL) && size > 0 &&
	    job->err.code == HDB_OK)
		serve_cache_put(w->jobs->cache, key, job->fd, (size_t)size);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

/*
 * Counts the answer as unread. Fails with HDB_EINTR if unread answers are too large in total, so
 * that clients that do not read their answers cannot exhaust memory.
 */
static int hold_answer(struct serve_job *job)
{
	const off_t end = lseek(job->fd, 0, SEEK_END);
	const uint64_t size = end < 0 ? 0 : (uint64_t)end;

	assert(!job->size); /* the answer is counted only once */
	if (!job->held || size < SERVE_HELD_LEAST)
		return HDB_OK;
	job->size = size;
	if (atomic_fetch_add(job->held, size) + size <= SERVE_HELD_MAX)
		return HDB_OK;
	close(job->fd);
	job->fd = -1;
	return hdb_fail(&job->err, HDB_EINTR,
			"too many answers are waiting to be read; try again later");
}

/* Opens an unnamed file: in memory, or on disk for any number of rows. Returns -1 with errno. */
static int open_file(const struct serve_options *options, const struct serve_job *job)
{
	const char *dir = options->tmp_dir ? options->tmp_dir : getenv("TMPDIR");
	char path[4096];
	int fd;

	if (job->format == SERVE_PAGE)
		return memfd_create("heapdb-answer", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "%s/heapdb-XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Writes the answer to an unnamed file, so that a slow reader does not block the worker. */
static int answer(struct worker *w, struct serve_job *job)
{
	const char *key = job->key;
	bool is_kept;
	int r = HDB_OK;

	job->fd = open_file(w->jobs->options, job);
	if (job->fd < 0) {
		r = hdb_fail(&job->err, HDB_EIO, "%s", strerror(errno));
	} else if (!key || job->object || !serve_cache_get(w->jobs->cache, key, job->fd)) {
		is_kept = is_lasting(w, job);
		r = make_answer(w, job);
		if (r == HDB_OK)
			keep_answer(w, job, is_kept ? key : NULL);
	}
	if (job->format != SERVE_PAGE)
		return r;
	if (r == HDB_OK && job->takes_gzip &&
	    (job->kind == SERVE_QUERY || job->kind == SERVE_SQL || job->kind == SERVE_FILE))
		job->is_packed = serve_pack_file(&job->fd);
	if (r == HDB_OK)
		r = hold_answer(job);
	if (r == HDB_EINTR && w->is_late)
		hdb_fail(
			&job->err, r,
			"stopped because the request took too long; request fewer rows, or use the "
			"heapdb command, which has no time limit");
	return r;
}

/*
 * Returns the next request for the page's initial views. Returns NULL if no request is left or a
 * client is waiting for an answer.
 */
static struct serve_job *take_warm(struct serve_jobs *jobs)
{
	struct serve_job *job = NULL;
	bool is_idle = !jobs->first;

	for (size_t i = 0; i < jobs->worker_count && is_idle; i++)
		is_idle = !jobs->workers[i].job;
	if (is_idle && !jobs->is_warming && !jobs->is_stopping)
		job = serve_warm_job(jobs->warmed, jobs->options->database_count);
	if (job) {
		job->key = serve_cache_key(job);
		jobs->is_warming = true;
		jobs->warmed++;
	}
	return job;
}

/* Returns whether two jobs have the same answer. */
static bool is_same(const struct serve_job *a, const struct serve_job *b)
{
	return a->key && b->key && !a->object && strcmp(a->key, b->key) == 0;
}

/* Returns whether a worker is already answering the same request. */
static bool is_being_answered(const struct serve_jobs *jobs, const struct serve_job *job)
{
	for (size_t i = 0; i < jobs->worker_count; i++) {
		const struct serve_job *other = jobs->workers[i].job;

		if (other && is_same(job, other))
			return true;
	}
	return false;
}

/*
 * Takes the first job that no worker is already answering for another client. Returns NULL if there
 * is no such job.
 */
static struct serve_job *take_waiting(struct serve_jobs *jobs)
{
	struct serve_job *before = NULL, *job = jobs->first;

	while (job && is_being_answered(jobs, job)) {
		before = job;
		job = job->next;
	}
	if (!job)
		return NULL;
	if (before)
		before->next = job->next;
	else
		jobs->first = job->next;
	if (jobs->last == job)
		jobs->last = before;
	assert(jobs->waiting > 0);
	jobs->waiting--;
	assert(!jobs->first == !jobs->waiting && !jobs->last == !jobs->waiting);
	return job;
}

/* Waits for a job. Returns NULL when the server stops. */
static struct serve_job *take(struct worker *w)
{
	struct serve_jobs *jobs = w->jobs;
	struct serve_job *job;

	pthread_mutex_lock(&jobs->lock);
	w->job = NULL;
	while ((job = take_waiting(jobs)) == NULL && !jobs->is_stopping) {
		job = take_warm(jobs);
		if (job)
			break;
		pthread_cond_wait(&jobs->wake, &jobs->lock);
	}
	if (job) {
		job->state = SERVE_RUNNING;
		w->job = job;
		w->began_ms = base_now_ms();
		w->progress = (struct serve_progress){ .state = SERVE_RUNNING };
		base_flag_set(&w->cancel, job->is_cancelled || jobs->is_stopping);
		w->is_late = false;
	}
	pthread_mutex_unlock(&jobs->lock);
	return job;
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	struct serve_job *job;

	while ((job = take(w)) != NULL) {
		const int r = base_flag_is_set(&w->cancel) ?
				      hdb_fail(&job->err, HDB_EINTR, "cancelled") :
				      answer(w, job);

		pthread_mutex_lock(&w->jobs->lock);
		assert(w->job == job && job->state == SERVE_RUNNING);
		w->job = NULL;
		job->users++;
		job->result = r;
		job->state = SERVE_DONE;
		if (!job->done) {
			w->jobs->is_warming = false;
			/* interrupted by a client's request: retry later */
			w->jobs->warmed -= r == HDB_EINTR && !w->is_late;
		}
		pthread_cond_broadcast(&w->jobs->wake);
		pthread_mutex_unlock(&w->jobs->lock);
		if (job->done)
			job->done(job);
		else
			serve_job_free(job);
		/*
		 * Closing rows may store the answer in the database, for which the client does not
		 * have to wait.
		 */
		hdb_rows_close(job->opened);
		job->opened = NULL;
		release(job);
	}
	return NULL;
}

/*
 * Opens the worker's databases. The worker must not move afterwards, because the library keeps its
 * address.
 */
static int open_databases(struct worker *w, struct hdb_error *err)
{
	const struct serve_options *options = w->jobs->options;

	for (size_t i = 0; i < options->database_count; i++) {
		/*
		 * The default budget is that of the command, so that limits that depend on memory
		 * give the same answers.
		 */
		const struct hdb_open_options open = {
			.struct_size = sizeof(open),
			.dump_path = options->databases[i].dump_path,
			.memory_bytes = options->memory_bytes / w->jobs->worker_count,
			.tmp_dir = options->tmp_dir,
			.progress = { .report = on_report,
				      .ctx = w,
				      .cancel = &w->cancel,
				      .notice = on_notice },
		};

		TRY(hdb_open(options->databases[i].db_path, &open, &w->databases[i], err));
	}
	return HDB_OK;
}

/*
 * Records facts that the server's own thread needs to answer requests, because the database handles
 * belong to the workers.
 */
static void note_database(struct serve_jobs *jobs, size_t i)
{
	struct hdb *db = jobs->workers[0].databases[i];

	jobs->health[i].struct_size = sizeof(jobs->health[i]);
	hdb_health(db, &jobs->health[i]);
	jobs->is_android[i] = hdb_heap_count(db) > 0;
	stat(jobs->options->databases[i].db_path, &jobs->opened[i]);
}

static size_t count_workers(const struct serve_options *options)
{
	if (options->workers == 0)
		return SERVE_WORKERS_DEFAULT;
	return options->workers < SERVE_WORKERS_MAX ? options->workers : SERVE_WORKERS_MAX;
}

int serve_jobs_start(const struct serve_options *options, struct serve_jobs **out,
		     struct hdb_error *err)
{
	struct serve_jobs *jobs;
	int r = HDB_OK;

	assert(options->database_count > 0 && options->database_count <= SERVE_DATABASES_MAX);
	TRY(BASE_ALLOC(jobs, 1, "workers", err));
	jobs->options = options;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->wake, NULL);
	jobs->worker_count = count_workers(options);
	assert(jobs->worker_count > 0 && jobs->worker_count <= SERVE_WORKERS_MAX);
	jobs->cache = serve_cache_new();
	if (!jobs->cache)
		r = hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for answers");
	for (size_t i = 0; i < jobs->worker_count && r == HDB_OK; i++) {
		struct worker *w = &jobs->workers[i];

		w->jobs = jobs;
		r = open_databases(w, err);
		/* Do this before a thread uses the handles of the first worker. */
		for (size_t d = 0; d < options->database_count && r == HDB_OK && i == 0; d++)
			note_database(jobs, d);
		if (r == HDB_OK && pthread_create(&w->thread, NULL, work, w) != 0)
			r = hdb_fail(err, HDB_EIO, "cannot start a thread");
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
		base_flag_set(&jobs->workers[i].cancel, 1);
	pthread_cond_broadcast(&jobs->wake);
	pthread_mutex_unlock(&jobs->lock);
	for (size_t i = 0; i < jobs->worker_count; i++)
		if (jobs->workers[i].is_started)
			pthread_join(jobs->workers[i].thread, NULL);
	for (size_t i = 0; i < jobs->worker_count; i++)
		for (size_t d = 0; d < SERVE_DATABASES_MAX; d++)
			hdb_close(jobs->workers[i].databases[d]);
	serve_cache_free(jobs->cache);
	pthread_cond_destroy(&jobs->wake);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}

/* Interrupts the job that fills the cache, unless a client is waiting for the same answer. */
static void stop_warming(struct serve_jobs *jobs)
{
	for (size_t i = 0; i < jobs->worker_count; i++) {
		struct worker *w = &jobs->workers[i];
		const struct serve_job *job = jobs->first;

		if (!w->job || w->job->done)
			continue;
		while (job && !is_same(job, w->job))
			job = job->next;
		if (!job)
			base_flag_set(&w->cancel, 1);
	}
}

static bool is_every_worker_busy(const struct serve_jobs *jobs)
{
	for (size_t i = 0; i < jobs->worker_count; i++)
		if (!jobs->workers[i].job)
			return false;
	return true;
}

bool serve_jobs_add(struct serve_jobs *jobs, struct serve_job *job)
{
	bool has_room;

	assert(job->done);
	/* Answers from other files are not cached, because these files may change. */
	job->key =
		job->format == SERVE_PAGE && job->kind != SERVE_FILE ? serve_cache_key(job) : NULL;
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
		assert(jobs->first && jobs->waiting <= SERVE_WAITING_MAX);
		if (is_every_worker_busy(jobs))
			stop_warming(jobs);
		pthread_cond_signal(&jobs->wake);
	}
	pthread_mutex_unlock(&jobs->lock);
	return has_room;
}

/* Returns whether the client has closed its connection, at least for writing. */
static bool is_left(const struct serve_job *job)
{
	struct pollfd client = { .fd = job->client, .events = POLLRDHUP };

	return poll(&client, 1, 0) > 0;
}

/*
 * Removes from the queue the jobs of clients that have disconnected, and adds them to the list
 * *left.
 */
static void take_left(struct serve_jobs *jobs, struct serve_job **left)
{
	struct serve_job **at = &jobs->first;

	jobs->last = NULL;
	while (*at) {
		struct serve_job *job = *at;

		if (is_left(job)) {
			*at = job->next;
			job->next = *left;
			*left = job;
			assert(jobs->waiting > 0);
			jobs->waiting--;
		} else {
			jobs->last = job;
			at = &job->next;
		}
	}
	assert(!jobs->first == !jobs->waiting && !jobs->last == !jobs->waiting);
}

void serve_jobs_watch(struct serve_jobs *jobs)
{
	struct serve_job *left = NULL, *next;
	bool is_slow = false;

	pthread_mutex_lock(&jobs->lock);
	for (size_t i = 0; i < jobs->worker_count; i++) {
		struct worker *w = &jobs->workers[i];
		const uint64_t most = w->job && w->job->kind == SERVE_SQL ? SERVE_SQL_SECONDS_MAX :
									    SERVE_SECONDS_MAX;

		if (!w->job)
			continue;
		w->is_late |= base_now_ms() - w->began_ms > most * 1000;
		is_slow |= w->job->done && base_now_ms() - w->began_ms > SERVE_SLOW_ANSWER_MS;
		if (w->is_late || is_left(w->job))
			base_flag_set(&w->cancel, 1);
	}
	/* interrupt jobs that fill the cache, so that the client's answer gets the processors */
	if (is_slow)
		stop_warming(jobs);
	take_left(jobs, &left);
	pthread_mutex_unlock(&jobs->lock);
	for (; left; left = next) {
		assert(left->done); /* jobs that fill the cache are never in the queue */
		next = left->next;
		left->state = SERVE_DONE;
		left->result = hdb_fail(&left->err, HDB_EINTR, "cancelled");
		left->done(left);
	}
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
			base_flag_set(&w->cancel, 1);
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
		out->rows = is_found ? w->job->rows : 0;
	}
	pthread_mutex_unlock(&jobs->lock);
	return is_found;
}

bool serve_jobs_is_android(const struct serve_jobs *jobs, size_t database)
{
	assert(database < SERVE_DATABASES_MAX);
	return jobs->is_android[database];
}

bool serve_jobs_is_replaced(const struct serve_jobs *jobs, size_t database)
{
	struct stat now;
	const struct stat *then = &jobs->opened[database];

	assert(database < SERVE_DATABASES_MAX);
	return stat(jobs->options->databases[database].db_path, &now) == 0 &&
	       (now.st_ino != then->st_ino || now.st_dev != then->st_dev);
}

const struct hdb_health *serve_jobs_health(const struct serve_jobs *jobs, size_t database)
{
	assert(database < SERVE_DATABASES_MAX);
	return &jobs->health[database];
}

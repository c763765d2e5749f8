/*
 * base/pipeline.c - produces items in order on several threads.
 *
 * The calling thread consumes the next item as soon as it is ready, and produces items while it
 * waits. With one thread, the pipeline is therefore a plain loop, and with two threads it uses two
 * cores.
 */
#include "base/pipeline.h"

#include "base/scope.h"
#include "base/thread.h"

#include <assert.h>
#include <stdbool.h>
#include <time.h>

/* ---- measuring ---- */

/*
 * The meter is a thread-local variable, because a pipeline has no reference to the command that
 * measures all its pipelines. Only the thread that requested the measurement is measured.
 */
static _Thread_local struct base_meter *used_meter;

void base_meter_use(struct base_meter *meter)
{
	used_meter = meter;
}

/*
 * Returns the processor time of this thread, or 0 if nothing is measured, because reading the clock
 * takes a system call.
 */
static uint64_t thread_ns(bool is_measured)
{
	struct timespec now;

	if (!is_measured || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void add_part(struct base_meter *meter, uint64_t spent_ns)
{
	meter->parts++;
	meter->made_ns += spent_ns;
	if (spent_ns > meter->longest_ns)
		meter->longest_ns = spent_ns;
}

/*
 * Adds the times of one run. Runs follow each other, so their critical paths add up. The critical
 * path of a run is its longest part.
 */
static void add_run(const struct base_meter *run)
{
	if (!used_meter)
		return;
	used_meter->parts += run->parts;
	used_meter->made_ns += run->made_ns;
	used_meter->longest_ns += run->longest_ns;
}

enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_READY };

struct slot {
	enum slot_state state;
	int result;
	struct hdb_error error;
	BASE_NO_SHARING;
};

struct run {
	const struct base_pipeline *p;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot *slots;
	uint64_t next_item; /* the next item to produce */
	bool is_stopping;
	bool is_measured;
	struct base_meter meter; /* protected by the lock */
};

/* Claims the next item if its slot is free. The lock must be held. */
static bool claim(struct run *run, uint64_t *item)
{
	const uint64_t i = run->next_item;
	struct slot *slot;

	if (run->is_stopping || i >= run->p->item_count)
		return false;
	slot = &run->slots[i % run->p->slot_count];
	if (slot->state != SLOT_FREE)
		return false;
	slot->state = SLOT_BUSY;
	run->next_item++;
	*item = i;
	return true;
}

/* Produces a claimed item. The lock is held on entry and return, and released in between. */
static void make(struct run *run, uint64_t item)
{
	const unsigned at = (unsigned)(item % run->p->slot_count);
	struct slot *slot = &run->slots[at];
	uint64_t spent;

	pthread_mutex_unlock(&run->lock);
	spent = thread_ns(run->is_measured);
	slot->result = run->p->produce(run->p->ctx, at, item, &slot->error);
	spent = thread_ns(run->is_measured) - spent;
	pthread_mutex_lock(&run->lock);
	add_part(&run->meter, spent);
	slot->state = SLOT_READY;
	pthread_cond_broadcast(&run->changed);
}

static void *worker(void *arg)
{
	struct run *run = arg;
	uint64_t item;

	pthread_mutex_lock(&run->lock);
	while (!run->is_stopping && run->next_item < run->p->item_count) {
		if (claim(run, &item))
			make(run, item);
		else
			pthread_cond_wait(&run->changed, &run->lock);
	}
	pthread_mutex_unlock(&run->lock);
	return NULL;
}

/* Consumes the items in order on the calling thread. The lock must be held. */
static int take_all(struct run *run, struct hdb_error *err)
{
	uint64_t take = 0;
	int r = HDB_OK;

	while (take < run->p->item_count) {
		const unsigned at = (unsigned)(take % run->p->slot_count);
		struct slot *slot = &run->slots[at];
		uint64_t item;

		if (slot->state == SLOT_READY) {
			r = slot->result;
			if (r == HDB_END)
				return HDB_OK;
			if (r < 0) {
				if (err)
					*err = slot->error;
				return r;
			}
			pthread_mutex_unlock(&run->lock);
			if (run->p->consume)
				r = run->p->consume(run->p->ctx, at, take, err);
			pthread_mutex_lock(&run->lock);
			TRY_ERRORS(r);
			slot->state = SLOT_FREE;
			take++;
			pthread_cond_broadcast(&run->changed);
		} else if (claim(run, &item)) {
			make(run, item);
		} else {
			pthread_cond_wait(&run->changed, &run->lock);
		}
	}
	return HDB_OK;
}

int base_pipeline_run(const struct base_pipeline *pipeline, struct hdb_error *err)
{
	struct run run = { .p = pipeline, .is_measured = used_meter != NULL };
	const unsigned extra = pipeline->threads > 1 ? pipeline->threads - 1 : 0;
	BASE_FREED struct base_thread *threads = NULL;
	BASE_FREED struct slot *slots = NULL;
	unsigned started = 0;
	int r;

	TRY(BASE_ALLOC(slots, pipeline->slot_count, "worker threads", err));
	TRY(BASE_ALLOC(threads, extra, "worker threads", err));
	run.slots = slots;
	(void)pthread_mutex_init(&run.lock, NULL);
	(void)pthread_cond_init(&run.changed, NULL);
	/*
	 * If a thread cannot be started, the pipeline runs with fewer threads. This is not a
	 * failure.
	 */
	while (started < extra && base_thread_start(&threads[started], worker, &run))
		started++;
	pthread_mutex_lock(&run.lock);
	r = take_all(&run, err);
	run.is_stopping = true;
	pthread_cond_broadcast(&run.changed);
	pthread_mutex_unlock(&run.lock);
	for (unsigned i = 0; i < started; i++)
		base_thread_join(&threads[i]);
	(void)pthread_mutex_destroy(&run.lock);
	(void)pthread_cond_destroy(&run.changed);
	add_run(&run.meter);
	return r;
}

int base_pipeline_each(uint64_t item_count, unsigned threads, void *ctx,
		       int (*produce)(void *ctx, unsigned slot, uint64_t item,
				      struct hdb_error *err),
		       struct hdb_error *err)
{
	return base_pipeline_run(&(struct base_pipeline){ .item_count = item_count,
							  .threads = threads,
							  .slot_count = 4 * threads,
							  .ctx = ctx,
							  .produce = produce },
				 err);
}

/* ---- parts at the same time ---- */

struct part_call {
	void *ctx;
	int (*part)(void *ctx, unsigned no, struct hdb_error *err);
	unsigned no;
	int result;
	bool is_started;
	bool is_measured;
	uint64_t spent_ns;
	struct base_thread thread;
	struct hdb_error error;
	BASE_NO_SHARING;
};

static void *call_part(void *arg)
{
	struct part_call *call = arg;

	const uint64_t start = thread_ns(call->is_measured);

	call->result = call->part(call->ctx, call->no, &call->error);
	call->spent_ns = thread_ns(call->is_measured) - start;
	return NULL;
}

int base_pipeline_parts(unsigned count, void *ctx,
			int (*part)(void *ctx, unsigned no, struct hdb_error *err),
			struct hdb_error *err)
{
	BASE_FREED struct part_call *calls = NULL;
	struct base_meter run = { 0 };
	int r = HDB_OK;

	assert(count > 0);
	if (count == 1)
		return part(ctx, 0, err);
	TRY(BASE_ALLOC(calls, count, "worker threads", err));
	for (unsigned i = 0; i < count; i++)
		calls[i] = (struct part_call){
			.ctx = ctx, .part = part, .no = i, .is_measured = used_meter != NULL
		};
	for (unsigned i = 1; i < count; i++)
		calls[i].is_started = base_thread_start(&calls[i].thread, call_part, &calls[i]);
	for (unsigned i = 0; i < count; i++) {
		if (calls[i].is_started)
			base_thread_join(&calls[i].thread);
		else
			(void)call_part(&calls[i]);
		add_part(&run, calls[i].spent_ns);
	}
	add_run(&run);
	for (unsigned i = 0; i < count && r == HDB_OK; i++) {
		r = calls[i].result < 0 ? calls[i].result : HDB_OK;
		if (r < 0 && err)
			*err = calls[i].error;
	}
	return r;
}

/*
 * base/work.h - the context of long computations: memory budget, thread count, progress,
 * cancellation, and big arrays that respect the budget.
 */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include "base/scope.h"

#include <pthread.h>
#include <stdbool.h>

/* Maximum number of freed arrays kept for reuse; others are returned to the system. */
#define BASE_POOL_MAX 32

struct base_pool_entry {
	uint8_t *data;
	uint64_t size_bytes;
	bool is_clear;  /* never touched */
	bool is_cached; /* pages of a file */
};

/*
 * The largest default budget on a machine with up to MEMORY_LARGE bytes. It is enough for 100
 * million objects with little use of a scratch file, and leaves room on a machine that others use
 * too.
 */
#define MEMORY_DEFAULT_MAX ((uint64_t)1 << 30)
#define MEMORY_LARGE ((uint64_t)16 << 30)

/* A stage of the work, for progress. Its texts are static. */
struct base_stage {
	const char *name; /* NULL: none, and steps report nothing */
	uint64_t total;   /* 0: unknown */
	const char *unit;
};

struct base_work {
	pthread_mutex_t
		lock; /* held while arrays come and go: some work takes them on all threads */
	uint64_t memory_bytes;  /* memory budget, not counting mapped files */
	uint64_t memory_used;   /* bytes taken by base_big_alloc within the budget */
	uint64_t anonymous_max; /* how many of these may be anonymous: base_work_limit_anonymous */
	/* Bytes of arrays in use and kept for reuse: anonymous memory, and pages of files. */
	uint64_t anonymous_bytes, cached_bytes;
	uint64_t cached_max;  /* maximum of the latter; 0 if a budget was set explicitly */
	uint64_t memory_kept; /* reserved, not available to arrays: base_work_keep */
	uint64_t memory_peak; /* maximum of bytes used and kept for reuse together */
	uint64_t pool_bytes;  /* kept for reuse; together with memory_used within the budget */
	struct base_pool_entry pool[BASE_POOL_MAX]; /* in order of address */
	unsigned pool_count;
	unsigned threads;        /* at least 1 */
	const char *scratch_dir; /* where spill files go; lent; NULL: no spilling */
	/* directory for private files if scratch_dir cannot be written; lent */
	const char *tmp_dir;
	bool is_unsynced; /* databases that are written do not wait for the disk */
	struct hdb_progress progress;
	struct base_stage stage; /* the current one */
	uint64_t next_report_ns; /* throttles reports */
};

/*
 * The default budget: a quarter of the memory there is, and up to MEMORY_LARGE of it at most
 * MEMORY_DEFAULT_MAX.
 */
uint64_t base_work_default(uint64_t ram);

/* Fills in defaults: that budget, of RAM or of the cgroup's limit; one thread a core. */
void base_work_init(struct base_work *work, uint64_t memory_bytes, unsigned threads,
		    const struct hdb_progress *progress);

/*
 * The budget covers the whole process, not only arrays: subtracts what threads and the program use
 * without counting it. Also limits the number of threads to what fits in an eighth of the budget.
 */
void base_work_allow(struct base_work *work);

/*
 * Returns a budget to request, a power of two, of which base_work_allow leaves at least
 * `size_bytes` with any number of threads.
 */
uint64_t base_work_budget_for(uint64_t size_bytes);

/*
 * Gives kept memory back to the system. Arrays must have been freed; the work can go on to be used.
 */
void base_work_release(struct base_work *work);

/*
 * Names and reports the stage that begins, with its total (0: unknown) and unit ("objects",
 * "bytes").
 */
void base_stage(struct base_work *work, const char *stage, uint64_t total, const char *unit);

/*
 * Reports progress (at most some ten times per second; otherwise cheap) and checks the cancel flag:
 * HDB_OK or HDB_EINTR. Call it from the calling thread every few thousand steps.
 */
int base_step(struct base_work *work, uint64_t done, struct hdb_error *err);

/*
 * For a stage whose steps call code that counts steps in other units. It copies its stage, calls
 * base_stage_aside before each such call, and reports its own progress with base_step_of and the
 * copy. The inner steps are then not reported as steps of this stage; a stage begun by the inner
 * code is reported.
 */
static inline void base_stage_aside(struct base_work *work)
{
	work->stage.name = NULL;
}
int base_step_of(struct base_work *work, const struct base_stage *stage, uint64_t done,
		 struct hdb_error *err);

/* Whether the work has been cancelled. On any thread. */
static inline bool base_is_cancelled(const struct base_work *work)
{
	return work->progress.cancel && *work->progress.cancel;
}

/* Sends the user a message through progress.notice. */
void base_notice(struct base_work *work, const char *text);

/* Time since some fixed moment, in nanoseconds, microseconds and milliseconds. */
uint64_t base_now_ns(void);
uint64_t base_now_us(void);
uint64_t base_now_ms(void);

/*
 * A big array of zeros: in memory while the budget lasts, otherwise in an unlinked file in
 * scratch_dir (or in tmp_dir, or in memory if neither is writable), which is mapped shared, so that
 * the kernel can write it back. Zero-initialise; base_big_free accepts an empty one.
 *
 * Within the budget, memory is anonymous up to base_work_limit_anonymous. Further arrays are pages
 * of such a file, too, if scratch_dir is on a local disk with enough space. They are as fast as
 * anonymous memory, and count as used. The kernel writes them to the disk after half a minute or if
 * memory is short; it can then reclaim them instead of swapping or killing processes.
 *
 * Arrays may be allocated, freed and counted on any thread.
 */
struct base_big {
	void *data;
	struct base_work *work; /* whose budget it counts for; lent */
	uint64_t size_bytes;
	bool is_file;   /* beyond the budget */
	bool is_cached; /* within the budget, and pages of a file */
	bool is_clear;  /* it was all zeros when allocated */
};
int base_big_alloc(struct base_work *work, struct base_big *big, uint64_t size_bytes,
		   const char *what, struct hdb_error *err);
/* As base_big_alloc, but not cleared: the array may contain data of an array freed before. */
int base_big_alloc_raw(struct base_work *work, struct base_big *big, uint64_t size_bytes,
		       const char *what, struct hdb_error *err);
void base_big_free(struct base_big *big);

/*
 * Growing arrays (vec.h, idmap.h) use malloc while they are small, and count for the budget from
 * this size on. base_free_large frees either kind: `big` is empty for one from malloc.
 */
#define BASE_LARGE_BYTES ((size_t)1 << 20)
void base_free_large(struct base_big *big, void *data);

/*
 * Returns memory to the system that malloc keeps after many small arrays were freed. Only if a
 * budget was set explicitly: the next pass would need the memory again, and the system has to clear
 * pages that it gives back.
 */
void base_heap_trim(const struct base_work *work);

/*
 * Announces that these bytes of the array will be used soon, in order; for arrays in files. Costs a
 * system call. Thread-safe.
 */
void base_big_prefetch(const struct base_big *big, uint64_t offset, uint64_t size_bytes);

/*
 * Announces that all of these bytes of a mapped file will be read soon. Costs a system call.
 * Thread-safe.
 */
void base_map_prefetch(const void *data, uint64_t size_bytes);

/*
 * An empty file without a name in scratch_dir (not NULL), tmp_dir, or memory; *fd is owned:
 * close().
 */
int base_scratch_file(const struct base_work *work, int *fd, struct hdb_error *err);

/* Remaining budget in bytes. */
uint64_t base_work_room(struct base_work *work);
/*
 * Reserves this much of the budget: arrays cannot use it until the next call with 0. For more
 * important arrays that are allocated later.
 */
void base_work_keep(struct base_work *work, uint64_t size_bytes);

/*
 * Counts memory allocated elsewhere, such as by malloc, as used: `bytes` instead of *counted, which
 * is 0 at the start and the end.
 */
void base_work_count(struct base_work *work, uint64_t *counted, uint64_t bytes);
/*
 * From now on, arrays take at most this much anonymous memory, unless a budget was set explicitly:
 * a user who sets a budget has decided how much may be used.
 */
void base_work_limit_anonymous(struct base_work *work, uint64_t size_bytes);
/*
 * Reserves one untouched range of address space for the next arrays. When they are freed, they form
 * one contiguous piece again, which a later array of that size fits. Does nothing if the budget has
 * no room for it.
 */
void base_pool_reserve(struct base_work *work, uint64_t size_bytes);

#endif

/*
 * base/work.h - what long work carries with it: memory budget, thread count, progress,
 * cancellation, and big arrays that respect the budget.
 */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include "base/scope.h"

#include <pthread.h>
#include <stdbool.h>

/*
 * Freed arrays that are kept for the next ones; more than this at once are given back to the
 * system.
 */
#define BASE_POOL_MAX 32

struct base_pool_entry {
	uint8_t *data;
	uint64_t size_bytes;
	bool is_clear;  /* never touched */
	bool is_cached; /* pages of a file */
};

/*
 * The largest budget that nobody asked for: it is enough for 100 million objects without a scratch
 * file of much weight, and little on a machine where others work, too.
 */
#define MEMORY_DEFAULT_MAX ((uint64_t)1 << 30)

/* A stage of the work, for progress. Its texts are static. */
struct base_stage {
	const char *name; /* NULL: none, and steps report nothing */
	uint64_t total;   /* 0: unknown */
	const char *unit;
};

struct base_work {
	pthread_mutex_t
		lock; /* held while arrays come and go: some work takes them on all threads */
	uint64_t memory_bytes; /* budget of memory, but for mapped files */
	uint64_t memory_used;  /* by base_big_alloc, what the budget had room for */
	uint64_t memory_calm;  /* of those arrays, that much may be anonymous: base_work_calm */
	/* Of those arrays and what is kept for reuse: anonymous, and pages of files. */
	uint64_t anonymous_bytes, cached_bytes;
	uint64_t cached_max;  /* most of the latter; 0 where somebody asked for a budget */
	uint64_t memory_kept; /* not for arrays now: base_work_keep */
	uint64_t memory_peak; /* most that was used and kept for reuse at once */
	uint64_t pool_bytes;  /* kept for reuse; together with memory_used within the budget */
	struct base_pool_entry pool[BASE_POOL_MAX]; /* in order of address */
	unsigned pool_count;
	unsigned threads;        /* at least 1 */
	const char *scratch_dir; /* where spill files go; lent; NULL: no spilling */
	const char *tmp_dir;     /* for private files where scratch_dir cannot be written; lent */
	bool is_unsynced;        /* databases that are written do not wait for the disk */
	struct hdb_progress progress;
	struct base_stage stage; /* the current one */
	uint64_t next_report_ns; /* throttles reports */
};

/*
 * Fills in defaults: a quarter of RAM or of the cgroup's limit, MEMORY_DEFAULT_MAX at most; one
 * thread a core.
 */
void base_work_init(struct base_work *work, uint64_t memory_bytes, unsigned threads,
		    const struct hdb_progress *progress);

/*
 * The budget is for all that the process takes, not for arrays alone: takes out of it what threads
 * and the program have without counting it. There are as many threads then as an eighth of the
 * budget has room for.
 */
void base_work_allow(struct base_work *work);

/*
 * A budget to ask for, a power of two, of which base_work_allow leaves `size_bytes` at least,
 * whatever the threads.
 */
uint64_t base_work_asking(uint64_t size_bytes);

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
 * Reports progress (at most some ten times a second; cheap otherwise) and looks at the cancel flag:
 * HDB_OK or HDB_EINTR. Call it from the calling thread every few thousand steps.
 */
int base_step(struct base_work *work, uint64_t done, struct hdb_error *err);

/*
 * A stage whose steps call code that takes steps of its own, in other units: it sets itself aside
 * before each call, and reports by base_step_of. What the code counts is then not reported as if it
 * were of this stage; a stage that the code begins is.
 */
static inline void base_stage_aside(struct base_work *work)
{
	work->stage.name = NULL;
}
int base_step_of(struct base_work *work, const struct base_stage *stage, uint64_t done,
		 struct hdb_error *err);

/* Whether somebody cancelled the work. On any thread. */
static inline bool base_is_cancelled(const struct base_work *work)
{
	return work->progress.cancel && *work->progress.cancel;
}

/* Tells the user one thing, by progress.notice. */
void base_notice(struct base_work *work, const char *text);

/* Time since some fixed moment, in nanoseconds, microseconds and milliseconds. */
uint64_t base_now_ns(void);
uint64_t base_now_us(void);
uint64_t base_now_ms(void);

/*
 * A big zeroed array: memory while the budget lasts, else an unlinked file in scratch_dir (or
 * tmp_dir, or memory if neither can be written), mapped shared, so that the kernel may write it
 * back. Zero-initialise; base_big_free takes an empty one too.
 *
 * Memory is anonymous up to base_work_calm, and beyond that pages of such a file, too, where
 * scratch_dir is on a disk of this machine that has room. They cost no more time. They reach the
 * disk where they live for half a minute, or where memory is short; then the system takes them back
 * where it would have to swap or kill. They count as used all the same.
 *
 * Arrays may be taken, freed and counted on any thread.
 */
struct base_big {
	void *data;
	struct base_work *work; /* whose budget it is of; lent */
	uint64_t size_bytes;
	bool is_file;   /* beyond the budget */
	bool is_cached; /* within it, and pages of a file */
	bool is_clear;  /* zeros when it was given */
};
int base_big_alloc(struct base_work *work, struct base_big *big, uint64_t size_bytes,
		   const char *what, struct hdb_error *err);
/* The same with contents that nobody has cleared: they may be those of an array freed before. */
int base_big_alloc_raw(struct base_work *work, struct base_big *big, uint64_t size_bytes,
		       const char *what, struct hdb_error *err);
void base_big_free(struct base_big *big);

/*
 * Growing arrays (vec.h, idmap.h) that are malloc's while they are small, and of this size and more
 * the budget's. Frees either: big is empty for malloc's.
 */
#define BASE_LARGE_BYTES ((size_t)1 << 20)
void base_free_large(struct base_big *big, void *data);

/*
 * Gives the system back what many small arrays have left behind, where malloc would keep it, if
 * somebody asked for a budget: the next pass takes it again, and pages that are taken again have to
 * be cleared.
 */
void base_heap_trim(const struct base_work *work);

/*
 * An array that is in a file: these bytes will be used soon, in order. Costs a system call. On any
 * thread.
 */
void base_big_soon(const struct base_big *big, uint64_t offset, uint64_t size_bytes);

/*
 * Bytes of a mapped file that will be read soon, all of them. Costs a system call. On any thread.
 */
void base_map_soon(const void *data, uint64_t size_bytes);

/*
 * An empty file without a name in scratch_dir (not NULL), tmp_dir, or memory; *fd is owned:
 * close().
 */
int base_scratch_file(const struct base_work *work, int *fd, struct hdb_error *err);

/* What is left of the budget, in bytes. */
uint64_t base_work_room(struct base_work *work);
/*
 * Keeps that much of the budget from arrays until it is called with 0: for those that come later
 * and matter more.
 */
void base_work_keep(struct base_work *work, uint64_t size_bytes);

/*
 * Counts memory that somebody else takes, malloc for instance, as used: `bytes` instead of
 * *counted, which is 0 at first and at last.
 */
void base_work_count(struct base_work *work, uint64_t *counted, uint64_t bytes);
/*
 * From now on arrays take at most that much anonymous memory, if nobody asked for a budget: who
 * says what may be used has said it.
 */
void base_work_calm(struct base_work *work, uint64_t size_bytes);
/*
 * Keeps one untouched piece of address space for the arrays that come next, so that what they leave
 * behind is one piece again, which a later array of that size fits. Does nothing where the budget
 * has no room for it.
 */
void base_pool_reserve(struct base_work *work, uint64_t size_bytes);

#endif

/*
 * base/work.h - the context of long computations: memory budget, thread count, progress,
 * cancellation, and large arrays that respect the budget.
 */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include "base/flag.h"
#include "base/scope.h"

#include <pthread.h>
#include <stdbool.h>

/* Maximum number of freed arrays kept for reuse. Further arrays are returned to the system. */
#define BASE_POOL_MAX 32

struct base_pool_entry {
	uint8_t *data;
	uint64_t size_bytes;
	bool is_clear;  /* never touched */
	bool is_cached; /* whether the memory is backed by a file */
};

/*
 * Maximum default budget on a machine with up to MEMORY_LARGE bytes. It suffices for 100 million
 * objects with little use of a scratch file, and leaves memory for other users of the machine.
 */
#define MEMORY_DEFAULT_MAX ((uint64_t)1 << 30)
#define MEMORY_LARGE ((uint64_t)16 << 30)

/* A stage of the work, for progress reports. Its strings are static. */
struct base_stage {
	const char *name; /* NULL means no stage, and steps report nothing */
	uint64_t total;   /* 0 means unknown */
	const char *unit;
};

struct base_work {
	pthread_mutex_t
		/*
		 * held while arrays are allocated and freed, because some code does this on all
		 * threads
		 */
		lock;
	uint64_t memory_bytes; /* memory budget, not counting mapped files */
	uint64_t memory_used;  /* bytes allocated by base_big_alloc within the budget */
	/* maximum number of these bytes that may be anonymous; see base_work_limit_anonymous */
	uint64_t anonymous_max;
	/*
	 * size of the arrays in use or kept for reuse: in anonymous memory, and in file-backed
	 * memory
	 */
	uint64_t anonymous_bytes, cached_bytes;
	uint64_t cached_max;  /* maximum of cached_bytes; 0 if the user set a budget explicitly */
	uint64_t memory_kept; /* part of the budget that arrays cannot use; see base_work_keep */
	uint64_t memory_peak; /* peak of the bytes in use and kept for reuse together */
	/* bytes kept for reuse; together with memory_used, they are within the budget */
	uint64_t pool_bytes;
	struct base_pool_entry pool[BASE_POOL_MAX]; /* free pieces in order of address */
	unsigned pool_count;
	unsigned threads;        /* at least 1 */
	const char *scratch_dir; /* directory of spill files; borrowed; NULL means no spilling */
	/* directory for private files if scratch_dir cannot be written; borrowed */
	const char *tmp_dir;
	bool is_unsynced; /* whether databases are written without waiting for the disk */
	struct hdb_progress progress;
	struct base_stage stage; /* the current one */
	uint64_t next_report_ns; /* throttles reports */
};

/*
 * Returns the default budget for a machine with `ram` bytes: a quarter of RAM, but at most
 * MEMORY_DEFAULT_MAX on machines with up to MEMORY_LARGE.
 */
uint64_t base_work_default(uint64_t ram);

/*
 * Fills in the defaults: the default budget for the machine's memory or the cgroup's limit, and one
 * thread per core.
 */
void base_work_init(struct base_work *work, uint64_t memory_bytes, unsigned threads,
		    const struct hdb_progress *progress);

/*
 * Makes the budget cover the whole process and not only arrays, by subtracting what threads and the
 * program use without counting it. Also limits the number of threads to what an eighth of the
 * budget allows.
 */
void base_work_allow(struct base_work *work);

/*
 * Returns a budget, a power of two, with which base_work_allow leaves at least `size_bytes` for any
 * number of threads.
 */
uint64_t base_work_budget_for(uint64_t size_bytes);

/*
 * Returns pooled memory to the system. All arrays must have been freed. The work can still be used
 * afterwards.
 */
void base_work_release(struct base_work *work);

/* Starts and reports a stage, with its total (0 means unknown) and unit ("objects", "bytes"). */
void base_stage(struct base_work *work, const char *stage, uint64_t total, const char *unit);

/*
 * Reports progress, at most about ten times per second, and checks the cancel flag. Returns HDB_OK
 * or HDB_EINTR. This is cheap, so the calling thread should call it every few thousand steps.
 */
int base_step(struct base_work *work, uint64_t done, struct hdb_error *err);

/*
 * Sets the current stage aside while its steps call code that counts steps in other units. The
 * stage's code copies the stage, calls base_stage_aside before each such call, and reports its own
 * progress with base_step_of and the copy. The inner steps are then not reported as steps of this
 * stage, but a stage begun by the inner code is reported.
 */
static inline void base_stage_aside(struct base_work *work)
{
	work->stage.name = NULL;
}
int base_step_of(struct base_work *work, const struct base_stage *stage, uint64_t done,
		 struct hdb_error *err);

/* Returns whether the work has been cancelled. Can be called on any thread. */
static inline bool base_is_cancelled(const struct base_work *work)
{
	return base_flag_is_set(work->progress.cancel);
}
/* Returns HDB_EINTR with a message if the work has been cancelled. Can be called on any thread. */
int base_check_cancelled(const struct base_work *work, struct hdb_error *err);

/* Sends the user a message through progress.notice. */
void base_notice(struct base_work *work, const char *text);

/* Return the time since a fixed moment, in nanoseconds, microseconds and milliseconds. */
uint64_t base_now_ns(void);
uint64_t base_now_us(void);
uint64_t base_now_ms(void);

/*
 * A large array of zeros. It is in memory until the budget is exhausted, and otherwise in an
 * unlinked file in scratch_dir (or in tmp_dir, or in memory if neither is writable). The file is
 * mapped shared, so that the kernel can write it back. The structure must be initialised with
 * zeros; base_big_free accepts an empty one.
 *
 * Within the budget, memory is anonymous up to the limit set by base_work_limit_anonymous. Beyond
 * that limit, arrays are pages of such a file if scratch_dir is on a local disk with enough space.
 * They are as fast as anonymous memory, and count as used. The kernel writes them to the disk after
 * half a minute or if memory is short; it can then reclaim them instead of swapping or killing
 * processes.
 *
 * Arrays may be allocated, freed and counted on any thread.
 */
struct base_big {
	void *data;
	struct base_work *work; /* the work whose budget includes the array; borrowed */
	uint64_t size_bytes;
	bool is_file;   /* beyond the budget */
	bool is_cached; /* whether the array counts against the budget, but is backed by a file */
	bool is_clear;  /* whether the array was all zeros when allocated */
};
int base_big_alloc(struct base_work *work, struct base_big *big, uint64_t size_bytes,
		   const char *what, struct hdb_error *err);
/* Like base_big_alloc, but does not clear the array, which may contain data of a freed array. */
int base_big_alloc_raw(struct base_work *work, struct base_big *big, uint64_t size_bytes,
		       const char *what, struct hdb_error *err);
void base_big_free(struct base_big *big);

/*
 * Minimum size of growing arrays (vec.h, idmap.h) that count against the budget. Smaller arrays use
 * malloc. base_free_large frees either kind; `big` is empty if the array came from malloc.
 */
#define BASE_LARGE_BYTES ((size_t)1 << 20)
void base_free_large(struct base_big *big, void *data);

/*
 * Returns memory that malloc keeps after many small arrays have been freed to the system. Does so
 * only if the user set a budget, because otherwise the next pass would need the memory again, and
 * the system would have to clear it.
 */
void base_heap_trim(const struct base_work *work);

/*
 * Announces that these bytes of the array will be used soon, in order. Has an effect only for
 * arrays in files. Takes a system call. Thread-safe.
 */
void base_big_prefetch(const struct base_big *big, uint64_t offset, uint64_t size_bytes);

/* Announces that this part of a mapped file will be read soon. Takes a system call. Thread-safe. */
void base_map_prefetch(const void *data, uint64_t size_bytes);

/*
 * Creates an empty file without a name in scratch_dir (not NULL), in tmp_dir, or in memory. The
 * caller must close *fd.
 */
int base_scratch_file(const struct base_work *work, int *fd, struct hdb_error *err);

/* Returns the remaining budget in bytes. */
uint64_t base_work_room(struct base_work *work);
/*
 * Reserves part of the budget, which arrays cannot use until the next call with 0. The reserved
 * part is for more important arrays that will be allocated later.
 */
void base_work_keep(struct base_work *work, uint64_t size_bytes);

/*
 * Counts memory allocated elsewhere, for example by malloc, as used. `bytes` replaces *counted,
 * which is 0 at the start and at the end.
 */
void base_work_count(struct base_work *work, uint64_t *counted, uint64_t bytes);
/*
 * Limits the anonymous memory that arrays may use from now on. Has no effect if the user has set a
 * budget.
 */
void base_work_limit_anonymous(struct base_work *work, uint64_t size_bytes);
/*
 * Reserves one untouched range of address space for the next arrays. When they are freed, they form
 * one contiguous piece again, which fits a later array of that size. Does nothing if the budget is
 * too small for it.
 */
void base_pool_reserve(struct base_work *work, uint64_t size_bytes);

#endif

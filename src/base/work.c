/* base/work.c - memory budget, progress, cancellation, and large arrays. */
#include "base/work.h"

#include "base/bytes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif
#include <time.h>
#include <unistd.h>

/* Budget if neither the caller nor the system provides one. */
#define MEMORY_FALLBACK MEMORY_DEFAULT_MAX
/*
 * Divisor: part of the machine's memory that may be pages of files instead of anonymous memory.
 * Linux starts to write dirty pages when they take 10 % of the free memory, and throttles writers
 * at 15 %.
 */
#define CACHED_PART 16u
/*
 * Number of bytes of a work file that are written at once. Up to this size, larger writes let the
 * kernel use larger pages. With writes of 64 KiB, writing takes a third longer, and touching and
 * freeing the pages takes twice as long. Larger writes than this gain nothing.
 */
#define CLEAR_BYTES (1u << 20)
/* Work files may take 1/CACHED_DISK_PART of the free disk space. */
#define CACHED_DISK_PART 8u
/* Minimum budget. Tables do not work with less. */
#define MEMORY_MIN (16ull << 20)
/*
 * Maximum memory that is not counted against the budget. For each thread, it covers the blocks
 * being processed, the stack, and what malloc keeps for the thread (2.2 to 3.1 MB, measured with 2
 * and 16 threads). For the program, it covers tables of classes, caches of the store, and rounding.
 */
#define THREAD_BYTES (3ull << 20)
#define PROGRAM_BYTES (12ull << 20)
/* Divisor: threads may use an eighth of the budget, because arrays need the rest. */
#define THREADS_PART 8u
/* Minimum size of arrays that may be in files. Smaller arrays always use anonymous memory. */
#define BIG_MIN (1ull << 20)
/* Unit to which sizes are rounded up, so that pieces of freed arrays fit new arrays. */
#define BIG_UNIT (1ull << 16)
/* Alignment of the kernel's read-ahead, which is the size of one of its larger pages. */
#define PREFETCH_UNIT (1ull << 16)
/*
 * The kernel's page size. A kernel with larger pages rejects advice about parts of a page, which is
 * harmless.
 */
#define PAGE_BYTES 4096u
/*
 * Maximum number of worker threads. More would gain nothing, because one thread writes the
 * database.
 */
#define THREADS_MAX 64
/* Minimum time between two progress reports. */
#define REPORT_INTERVAL_NS 80000000ull

uint64_t base_now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t base_now_us(void)
{
	return base_now_ns() / 1000;
}

uint64_t base_now_ms(void)
{
	return base_now_ns() / 1000000;
}

/*
 * Reads the number in a one-line file. Returns UINT64_MAX if the file is missing or contains "max".
 */
static uint64_t read_number(const char *path)
{
	uint64_t v = UINT64_MAX;
	FILE *f = fopen(path, "re");

	if (!f)
		return v;
	if (fscanf(f, "%" SCNu64, &v) != 1)
		v = UINT64_MAX;
	(void)fclose(f);
	return v;
}

/* Returns the smallest limit from a group's directory up to the root of its hierarchy. */
static uint64_t limit_upwards(const char *mount, const char *group, const char *file)
{
	uint64_t least = UINT64_MAX;
	char path[4096], folder[2048];
	char *slash;

	(void)snprintf(folder, sizeof(folder), "%s", group);
	folder[strcspn(folder, "\n")] = '\0';
	do {
		uint64_t limit;

		slash = strrchr(folder, '/');
		if (slash && !slash[1])
			*slash = '\0';
		(void)snprintf(path, sizeof(path), "%s%s/%s", mount, folder, file);
		limit = read_number(path);
		if (limit < least)
			least = limit;
		slash = strrchr(folder, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return least;
}

/*
 * Returns the memory limit of this process's control group, version 2 ("0::/path") or 1
 * ("N:memory:/path"), or UINT64_MAX if it has none. In a container, the path of the group may be
 * invisible, so the root of the mount is checked too.
 */
static uint64_t cgroup_limit(void)
{
	uint64_t least = limit_upwards("/sys/fs/cgroup", "", "memory.max");
	const uint64_t old = limit_upwards("/sys/fs/cgroup/memory", "", "memory.limit_in_bytes");
	char line[2048];
	FILE *f = fopen("/proc/self/cgroup", "re");

	if (old < least)
		least = old;
	while (f && fgets(line, sizeof(line), f)) {
		const char *memory = strstr(line, ":memory:");
		uint64_t limit = UINT64_MAX;

		if (strncmp(line, "0::", 3) == 0)
			limit = limit_upwards("/sys/fs/cgroup", line + 3, "memory.max");
		else if (memory)
			limit = limit_upwards("/sys/fs/cgroup/memory", memory + 8,
					      "memory.limit_in_bytes");
		if (limit < least)
			least = limit;
	}
	if (f)
		(void)fclose(f);
	return least;
}

/* Returns the machine's memory or, if lower, the control group's limit. */
static uint64_t memory_there_is(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES);
	const long page = sysconf(_SC_PAGESIZE);
	const uint64_t limit = cgroup_limit();
	uint64_t ram = UINT64_MAX;

	if (pages > 0 && page > 0)
		ram = (uint64_t)pages * (uint64_t)page;
	if (limit < ram)
		ram = limit;
	return ram == UINT64_MAX ? 4 * MEMORY_FALLBACK : ram;
}

uint64_t base_work_default(uint64_t ram)
{
	return ram / 4 < MEMORY_DEFAULT_MAX || ram > MEMORY_LARGE ? ram / 4 : MEMORY_DEFAULT_MAX;
}

void base_work_init(struct base_work *work, uint64_t memory_bytes, unsigned threads,
		    const struct hdb_progress *progress)
{
	memset(work, 0, sizeof(*work));
	(void)pthread_mutex_init(&work->lock, NULL);
	work->memory_bytes = memory_bytes;
	work->anonymous_max = UINT64_MAX;
	if (!memory_bytes) {
		const uint64_t ram = memory_there_is();

		work->memory_bytes = base_work_default(ram);
		work->cached_max = ram / CACHED_PART;
	}
	if (work->memory_bytes < MEMORY_MIN)
		work->memory_bytes = MEMORY_MIN;
	if (!threads) {
		const long cores = sysconf(_SC_NPROCESSORS_ONLN);
		threads = cores > 0 ? (unsigned)cores : 1;
	}
	work->threads = threads > THREADS_MAX ? THREADS_MAX : threads;
	if (progress)
		work->progress = *progress;
	work->tmp_dir = getenv("TMPDIR");
	if (!work->tmp_dir || !*work->tmp_dir)
		work->tmp_dir = "/tmp";
	assert(work->threads > 0);
}

void base_work_allow(struct base_work *work)
{
	const uint64_t threads_max = work->memory_bytes / THREADS_PART / THREAD_BYTES;
	uint64_t allowed;

	if (work->threads > threads_max)
		work->threads = threads_max ? (unsigned)threads_max : 1;
	allowed = PROGRAM_BYTES + work->threads * THREAD_BYTES;
	work->memory_bytes = work->memory_bytes > MEMORY_MIN + allowed ?
				     work->memory_bytes - allowed :
				     MEMORY_MIN;
}

uint64_t base_work_budget_for(uint64_t size_bytes)
{
	uint64_t budget = 2 * MEMORY_MIN;

	/* Threads use a part of the budget. */
	while (budget < 1ull << 62 &&
	       budget - budget / THREADS_PART < size_bytes + PROGRAM_BYTES + THREAD_BYTES)
		budget *= 2;
	return budget;
}

void base_notice(struct base_work *work, const char *text)
{
	if (work->progress.notice)
		work->progress.notice(work->progress.ctx, text);
}

void base_stage(struct base_work *work, const char *stage, uint64_t total, const char *unit)
{
	assert(stage && unit);
	work->stage = (struct base_stage){ stage, total, unit };
	work->next_report_ns = 0;
	if (work->progress.report && stage)
		work->progress.report(work->progress.ctx, stage, 0, total, unit);
}

int base_check_cancelled(const struct base_work *work, struct hdb_error *err)
{
	return base_is_cancelled(work) ? hdb_fail(err, HDB_EINTR, "interrupted") : HDB_OK;
}

int base_step_of(struct base_work *work, const struct base_stage *stage, uint64_t done,
		 struct hdb_error *err)
{
	TRY(base_check_cancelled(work, err));
	if (work->progress.report && stage->name) {
		const uint64_t now = base_now_ns();

		if (now >= work->next_report_ns) {
			work->next_report_ns = now + REPORT_INTERVAL_NS;
			work->progress.report(work->progress.ctx, stage->name, done, stage->total,
					      stage->unit);
		}
	}
	return HDB_OK;
}

int base_step(struct base_work *work, uint64_t done, struct hdb_error *err)
{
	return base_step_of(work, &work->stage, done, err);
}

/*
 * Creates an empty, unlinked file in the directory, readable only by its owner. Returns 0 or an
 * errno.
 */
static int scratch_file(const char *dir, int *fd)
{
	char name[4096];
	int r;

	*fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*fd >= 0)
		return 0;
	r = snprintf(name, sizeof(name), "%s/.heapdb-scratch-XXXXXX", dir);
	if (r < 0 || (size_t)r >= sizeof(name))
		return ENAMETOOLONG;
	*fd = mkostemp(name, O_CLOEXEC);
	if (*fd < 0)
		return errno;
	(void)unlink(name);
	return 0;
}

/*
 * Creates a work file with reserved blocks, so that a full disk causes an error now rather than a
 * SIGBUS later. If size is 0, no blocks are reserved.
 */
static int reserved_file(const char *dir, uint64_t size, int *fd)
{
	int e = scratch_file(dir, fd);

	if (e == 0 && size) {
		e = posix_fallocate(*fd, 0, (off_t)size);
		if (e != 0) {
			(void)close(*fd);
			*fd = -1;
		}
	}
	return e;
}

/*
 * Returns whether the error means that no file can be created in the directory, regardless of its
 * free space.
 */
static bool is_closed(int e)
{
	return e == EACCES || e == EPERM || e == EROFS || e == ENOENT || e == ENOTDIR ||
	       e == ENAMETOOLONG;
}

/*
 * Creates a scratch file in the scratch directory. If that directory cannot be written or its disk
 * is full, uses the other directory. If neither can be written at all, uses memory, because
 * exceeding the budget is better than giving no answer.
 */
static int any_file(const struct base_work *work, uint64_t size, int *fd, struct hdb_error *err)
{
	const char *dir = work->scratch_dir;
	int e = reserved_file(dir, size, fd);
	bool is_nowhere = is_closed(e);

	if (e != 0 && strcmp(work->tmp_dir, dir) != 0) {
		dir = work->tmp_dir;
		e = reserved_file(dir, size, fd);
		is_nowhere = is_nowhere && is_closed(e);
	}
	if (e != 0 && is_nowhere) {
		*fd = memfd_create("heapdb-scratch", MFD_CLOEXEC);
		if (*fd >= 0)
			e = 0;
		if (e == 0 && size && ftruncate(*fd, (off_t)size) < 0) {
			e = errno;
			(void)close(*fd);
			*fd = -1;
		}
	}
	if (e == 0)
		return HDB_OK;
	if (size)
		return hdb_fail_errno(err, e,
				      "%s: no space for a temporary file of %" PRIu64 " bytes", dir,
				      size);
	return hdb_fail_errno(err, e, "%s: cannot create a temporary file", dir);
}

int base_scratch_file(const struct base_work *work, int *fd, struct hdb_error *err)
{
	return any_file(work, 0, fd, err);
}

static int alloc_file(struct base_work *work, struct base_big *big, uint64_t size,
		      struct hdb_error *err)
{
	BASE_CLOSED int fd = -1;

	big->is_file = true;
	TRY(any_file(work, size, &fd, err));
	big->data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (big->data == MAP_FAILED) {
		big->data = NULL;
		return hdb_fail_errno(err, errno,
				      "cannot map a temporary file of %" PRIu64 " "
				      "bytes",
				      size);
	}
	/*
	 * When memory is short, read-ahead would evict pages that are still needed, because most
	 * arrays are accessed at random.
	 */
	(void)madvise(big->data, size, MADV_RANDOM);
	return HDB_OK;
}

/*
 * File systems whose pages are not a cache of a local disk (numbers from Linux's header
 * <linux/magic.h> and the sources of the file systems).
 */
#define FS_TMPFS 0x01021994u
#define FS_RAMFS 0x858458f6u
#define FS_NFS 0x6969u
#define FS_CIFS 0xff534d42u
#define FS_SMB2 0xfe534d42u
#define FS_FUSE 0x65735546u
#define FS_9P 0x01021997u
#define FS_CEPH 0x00c36400u

/*
 * Returns whether pages of a file on this file system can replace that amount of anonymous memory.
 */
static bool is_good_disk(int fd, uint64_t size)
{
	static const uint32_t others[] = { FS_TMPFS, FS_RAMFS, FS_NFS, FS_CIFS,
					   FS_SMB2,  FS_FUSE,  FS_9P,  FS_CEPH };
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return false;
	for (size_t i = 0; i < BASE_COUNT(others); i++)
		if ((uint32_t)fs.f_type == others[i])
			return false;
	return size / (uint64_t)fs.f_bsize < fs.f_bavail / CACHED_DISK_PART;
}

static bool write_zeros(int fd, uint64_t size)
{
	static const uint8_t zeros[CLEAR_BYTES];

	for (uint64_t at = 0; at < size;) {
		const uint64_t left = size - at;
		const ssize_t n =
			pwrite(fd, zeros, left < sizeof(zeros) ? left : sizeof(zeros), (off_t)at);

		if (n <= 0)
			return false;
		at += (uint64_t)n;
	}
	return true;
}

/*
 * Maps pages of a file for use as memory. Returns NULL if this is not possible, and the caller then
 * uses anonymous memory. The file is written and not merely reserved, because creating mapped pages
 * on first use takes twice as long as creating anonymous pages.
 */
static uint8_t *map_cached(const struct base_work *work, uint64_t size)
{
	void *data = MAP_FAILED;
	int fd = -1;

	if (scratch_file(work->scratch_dir, &fd) != 0)
		return NULL;
	if (is_good_disk(fd, size) && write_zeros(fd, size))
		data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	return data == MAP_FAILED ? NULL : data;
}

void base_big_prefetch(const struct base_big *big, uint64_t offset, uint64_t size_bytes)
{
	const uint64_t start = offset & ~(uint64_t)(PREFETCH_UNIT - 1);

	assert(!big->size_bytes || big->data);
	if (!big->is_file || offset >= big->size_bytes)
		return;
	if (size_bytes > big->size_bytes - offset)
		size_bytes = big->size_bytes - offset;
	(void)madvise((char *)big->data + start, offset - start + size_bytes, MADV_WILLNEED);
}

void base_map_prefetch(const void *data, uint64_t size_bytes)
{
	const uint64_t inside = (uint64_t)(uintptr_t)data & (PAGE_BYTES - 1);

	if (size_bytes)
		(void)madvise((char *)(uintptr_t)data - inside, inside + size_bytes, MADV_WILLNEED);
}

/*
 * ---- the pool of freed memory, which is cheap to reuse, while the kernel must clear fresh memory
 * ----
 */

/* Removes a piece from the list, without releasing its memory. */
static void pool_remove(struct base_work *work, unsigned i)
{
	assert(i < work->pool_count);
	assert(work->pool[i].size_bytes <= work->pool_bytes);
	work->pool_bytes -= work->pool[i].size_bytes;
	work->pool_count--;
	memmove(&work->pool[i], &work->pool[i + 1], (work->pool_count - i) * sizeof(work->pool[0]));
}

/* Unmaps memory and subtracts it from the bytes counted. */
static void give_back(struct base_work *work, void *data, uint64_t size, bool is_cached)
{
	(void)munmap(data, size);
	*(is_cached ? &work->cached_bytes : &work->anonymous_bytes) -= size;
}

/*
 * Returns at least `size` bytes of a pooled piece to the system, taken from its end, or the whole
 * piece.
 */
static void pool_drop(struct base_work *work, unsigned i, uint64_t size)
{
	struct base_pool_entry *piece = &work->pool[i];
	const uint64_t back = round_up(size, BIG_UNIT);

	if (back >= piece->size_bytes) {
		give_back(work, piece->data, piece->size_bytes, piece->is_cached);
		pool_remove(work, i);
		return;
	}
	piece->size_bytes -= back;
	work->pool_bytes -= back;
	give_back(work, piece->data + piece->size_bytes, back, piece->is_cached);
}

/* Returns pooled memory to the system until at most `keep` bytes are pooled. */
static void pool_trim(struct base_work *work, uint64_t keep)
{
	while (work->pool_count && work->pool_bytes > keep)
		pool_drop(work, work->pool_count - 1, work->pool_bytes - keep);
}

/* Trims the pool until `size` more bytes fit within the limit of anonymous memory. */
static void pool_limit_anonymous(struct base_work *work, uint64_t size)
{
	for (unsigned i = work->pool_count; i-- > 0;)
		if (work->anonymous_bytes + size > work->anonymous_max && !work->pool[i].is_cached)
			pool_drop(work, i, work->anonymous_bytes + size - work->anonymous_max);
}

void base_work_release(struct base_work *work)
{
	pool_trim(work, 0);
}

static bool are_neighbours(const struct base_pool_entry *a, const struct base_pool_entry *b)
{
	return a->data + a->size_bytes == b->data && a->is_cached == b->is_cached;
}

/* Adds a freed array to the pool, and joins it with adjacent pieces. */
static void pool_put(struct base_work *work, const struct base_pool_entry *piece)
{
	unsigned i = 0;

	assert(work->pool_count <= BASE_POOL_MAX);
	assert(piece->size_bytes > 0);
	if (work->pool_count == BASE_POOL_MAX) {
		give_back(work, piece->data, piece->size_bytes, piece->is_cached);
		return;
	}
	while (i < work->pool_count && work->pool[i].data < piece->data)
		i++;
	memmove(&work->pool[i + 1], &work->pool[i], (work->pool_count - i) * sizeof(work->pool[0]));
	work->pool[i] = *piece;
	work->pool_count++;
	work->pool_bytes += piece->size_bytes;
	for (unsigned k = i ? i - 1 : 0; k + 1 < work->pool_count && k <= i;) {
		if (!are_neighbours(&work->pool[k], &work->pool[k + 1])) {
			k++;
			continue;
		}
		const uint64_t more = work->pool[k + 1].size_bytes;
		const bool is_more_clear = work->pool[k + 1].is_clear;

		pool_remove(work, k + 1);
		work->pool[k].is_clear = work->pool[k].is_clear && is_more_clear;
		work->pool[k].size_bytes += more;
		work->pool_bytes += more;
	}
}

/*
 * Takes an array from the smallest pooled piece that is large enough. Returns false if there is
 * none.
 */
static bool pool_take(struct base_work *work, struct base_big *big)
{
	const uint64_t size = big->size_bytes;
	unsigned best = BASE_POOL_MAX;

	assert(size > 0);
	for (unsigned i = 0; i < work->pool_count; i++)
		if (work->pool[i].size_bytes >= size &&
		    (best == BASE_POOL_MAX ||
		     work->pool[i].size_bytes < work->pool[best].size_bytes))
			best = i;
	if (best == BASE_POOL_MAX)
		return false;
	big->data = work->pool[best].data;
	big->is_clear = work->pool[best].is_clear;
	big->is_cached = work->pool[best].is_cached;
	if (work->pool[best].size_bytes == size) {
		pool_remove(work, best);
	} else {
		work->pool[best].data += size;
		work->pool[best].size_bytes -= size;
		work->pool_bytes -= size;
	}
	return true;
}

/*
 * Maps anonymous memory with small pages, so that memory is taken only when it is used. Huge pages
 * made building dominators 10 to 20 % slower on virtual machines whose host provides them one by
 * one, and gained almost nothing on random graphs.
 */
static uint8_t *map_anonymous(uint64_t size)
{
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return data == MAP_FAILED ? NULL : data;
}

static uint64_t room_left(const struct base_work *work)
{
	const uint64_t used = work->memory_used + work->memory_kept;

	return used < work->memory_bytes ? work->memory_bytes - used : 0;
}

uint64_t base_work_room(struct base_work *work)
{
	uint64_t room;

	(void)pthread_mutex_lock(&work->lock);
	room = room_left(work);
	(void)pthread_mutex_unlock(&work->lock);
	return room;
}

static void note_peak(struct base_work *work)
{
	if (work->memory_used + work->pool_bytes > work->memory_peak)
		work->memory_peak = work->memory_used + work->pool_bytes;
}

void base_free_large(struct base_big *big, void *data)
{
	if (big->data)
		base_big_free(big);
	else
		free(data);
}

void base_work_count(struct base_work *work, uint64_t *counted, uint64_t bytes)
{
	(void)pthread_mutex_lock(&work->lock);
	assert(work->memory_used >= *counted && work->anonymous_bytes >= *counted);
	work->memory_used += bytes - *counted;
	work->anonymous_bytes += bytes - *counted;
	*counted = bytes;
	/* Pooled memory is released first. */
	pool_trim(work, room_left(work));
	pool_limit_anonymous(work, 0);
	note_peak(work);
	(void)pthread_mutex_unlock(&work->lock);
}

void base_work_limit_anonymous(struct base_work *work, uint64_t size_bytes)
{
	if (work->cached_max)
		work->anonymous_max = size_bytes;
}

void base_work_keep(struct base_work *work, uint64_t size_bytes)
{
	work->memory_kept = size_bytes;
}

/*
 * Releases pooled memory to make room for memory in use, so that the pool neither raises the peak
 * nor exceeds the budget.
 */
static void pool_make_way(struct base_work *work)
{
	const uint64_t limit =
		work->memory_peak < work->memory_bytes ? work->memory_peak : work->memory_bytes;

	pool_trim(work, limit > work->memory_used ? limit - work->memory_used : 0);
}

/*
 * Allocates fresh memory for a large array, and counts it as used. Releases the lock while it
 * creates pages of files. This takes a long time, and other threads can allocate meanwhile.
 */
static void take_fresh(struct base_work *work, struct base_big *big)
{
	const uint64_t size = big->size_bytes;
	bool is_cached;

	pool_make_way(work);
	if (work->anonymous_bytes + size > work->anonymous_max)
		pool_limit_anonymous(work, size);
	is_cached = work->anonymous_bytes + size > work->anonymous_max && work->scratch_dir &&
		    work->cached_bytes + size <= work->cached_max;
	if (is_cached) {
		work->cached_bytes += size;
		(void)pthread_mutex_unlock(&work->lock);
		big->data = map_cached(work, size);
		(void)pthread_mutex_lock(&work->lock);
		work->cached_bytes -= big->data ? 0 : size;
	}
	big->is_clear = true;
	big->is_cached = big->data != NULL;
	if (big->data)
		return;
	big->data = map_anonymous(size);
	work->anonymous_bytes += big->data ? size : 0;
}

/* Allocates an array. The lock is held on entry and return, but may be released in between. */
static int take_array(struct base_work *work, struct base_big *big, uint64_t size, const char *what,
		      struct hdb_error *err)
{
	*big = (struct base_big){ .size_bytes = size, .is_clear = true };
	if (size >= BIG_MIN && work->scratch_dir && size > room_left(work)) {
		int r;

		/* Files and the pool compete for the same physical memory. */
		pool_trim(work, 0);
		r = alloc_file(work, big, size, err);
		if (r < 0)
			*big = (struct base_big){ 0 };
		return r;
	}
	work->memory_used += size;
	if (size < BIG_MIN) {
		if (work->memory_used + work->pool_bytes > work->memory_bytes)
			pool_make_way(work);
		big->data = calloc(1, size);
		work->anonymous_bytes += big->data ? size : 0;
	} else if (!pool_take(work, big)) {
		take_fresh(work, big);
	}
	if (!big->data) {
		work->memory_used -= size;
		*big = (struct base_big){ 0 };
		return hdb_fail_memory(err, what, size);
	}
	note_peak(work);
	return HDB_OK;
}

int base_big_alloc_raw(struct base_work *work, struct base_big *big, uint64_t size_bytes,
		       const char *what, struct hdb_error *err)
{
	uint64_t size = size_bytes ? size_bytes : 1;
	int r;

	if (size >= BIG_MIN)
		size = round_up(size, BIG_UNIT);
	(void)pthread_mutex_lock(&work->lock);
	r = take_array(work, big, size, what, err);
	big->work = work;
	(void)pthread_mutex_unlock(&work->lock);
	return r;
}

void base_pool_reserve(struct base_work *work, uint64_t size_bytes)
{
	const uint64_t size = round_up(size_bytes, BIG_UNIT);
	const uint64_t kept = work->memory_used + work->pool_bytes;
	uint8_t *data = NULL;

	if (size >= BIG_MIN && kept < work->memory_bytes && size <= work->memory_bytes - kept &&
	    work->anonymous_bytes + size <= work->anonymous_max)
		data = map_anonymous(size);
	if (!data)
		return;
	work->anonymous_bytes += size;
	pool_put(work,
		 &(struct base_pool_entry){ .data = data, .size_bytes = size, .is_clear = true });
}

int base_big_alloc(struct base_work *work, struct base_big *big, uint64_t size_bytes,
		   const char *what, struct hdb_error *err)
{
	int r = base_big_alloc_raw(work, big, size_bytes, what, err);

	TRY(r);
	if (!big->is_clear)
		memset(big->data, 0, big->size_bytes);
	return r;
}

void base_heap_trim(const struct base_work *work)
{
#ifdef __GLIBC__
	if (!work->cached_max)
		(void)malloc_trim(0);
#else
	(void)work;
#endif
}

void base_big_free(struct base_big *big)
{
	struct base_work *work = big->work;

	if (!big->data)
		return;
	assert(big->size_bytes > 0);
	(void)pthread_mutex_lock(&work->lock);
	assert(big->is_file || big->size_bytes <= work->memory_used);
	if (big->size_bytes < BIG_MIN) {
		free(big->data);
		work->anonymous_bytes -= big->size_bytes;
	} else if (big->is_file) {
		(void)munmap(big->data, big->size_bytes);
	} else {
		pool_put(work, &(struct base_pool_entry){ .data = big->data,
							  .size_bytes = big->size_bytes,
							  .is_cached = big->is_cached });
	}
	if (!big->is_file)
		work->memory_used -= big->size_bytes;
	(void)pthread_mutex_unlock(&work->lock);
	*big = (struct base_big){ 0 };
}

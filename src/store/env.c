/* store/env.c - manages LMDB environments and file locks. */
#include "store/env.h"

#include "base/bytes.h"
#include "base/source.h"
#include "store/own_file.h"
#include "store/pages.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Maximum number of handles that can read a database at the same time. LMDB requires a fixed
 * number.
 */
#define READERS_MAX 510
/*
 * Address space reserved for the growth of a database: 16 times its size plus 16 GiB, which
 * suffices for all derived tables of a database with only base tables. It is only virtual memory.
 * The size is halved until the system grants it.
 */
#define MAP_GROWTH_FACTOR 16
#define MAP_GROWTH_BYTES (16ull << 30)
/* Offset of the lock bytes, far beyond any data. */
#define LOCK_BYTE (1ll << 61)
/* Maximum number of attempts to open a file that other processes keep replacing. */
#define OPEN_TRIES_MAX 100

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_env *list;

int store_fail_mdb(struct hdb_error *err, int mdb_result, const char *path, const char *doing)
{
	switch (mdb_result) {
	case MDB_CORRUPTED:
	case MDB_PAGE_NOTFOUND:
	case MDB_PANIC:
	case MDB_BAD_TXN:
		return hdb_fail(err, HDB_ECORRUPT, "%s: damaged database (%s while %s)", path,
				mdb_strerror(mdb_result), doing);
	case MDB_INVALID:
		return hdb_fail(err, HDB_ECORRUPT, "%s: not a heap database", path);
	case MDB_VERSION_MISMATCH:
		return hdb_fail(err, HDB_EVERSION, "%s: written by another version of LMDB", path);
	case MDB_MAP_FULL:
		return hdb_fail(err, HDB_ELIMIT,
				"%s: no address space left for the database while %s", path, doing);
	case MDB_READERS_FULL:
		return hdb_fail(err, HDB_ELIMIT, "%s: too many concurrent readers (limit %d)", path,
				READERS_MAX);
	case EIO: /* LMDB also reports EIO for a short write */
		return hdb_fail(err, HDB_EIO, "%s: %s: the disk is full or has failed", path,
				doing);
	default:
		if (mdb_result > 0)
			return hdb_fail_errno(err, mdb_result, "%s: %s", path, doing);
		return hdb_fail(err, HDB_EBUG, "%s: %s while %s", path, mdb_strerror(mdb_result),
				doing);
	}
}

int store_lock_file(int fd, enum store_lock lock, unsigned how, const char *path,
		    struct hdb_error *err)
{
	struct flock range = {
		.l_type = how & STORE_LOCK_ALONE ? F_WRLCK : F_RDLCK,
		.l_whence = SEEK_SET,
		.l_start = LOCK_BYTE + (off_t)lock,
		.l_len = 1,
	};
	int r;

	assert(fd >= 0);
	do
		r = fcntl(fd, how & STORE_LOCK_WAIT ? F_OFD_SETLKW : F_OFD_SETLK, &range);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return HDB_OK;
	if (errno == EAGAIN || errno == EACCES)
		return HDB_END;
	return hdb_fail_errno(err, errno, "%s: cannot lock", path);
}

/*
 * Opens `env` with as much address space as the system grants. If the size is too large, Linux
 * reports ENOMEM and valgrind EINVAL.
 */
static int open_sized(MDB_env **env, const char *path, unsigned flags, uint64_t want,
		      uint64_t least)
{
	int r;

	for (;;) {
		r = mdb_env_create(env);
		if (r)
			return r;
		(void)mdb_env_set_maxreaders(*env, READERS_MAX);
		r = mdb_env_set_mapsize(*env, want);
		if (!r)
			r = mdb_env_open(*env, path, flags, 0600);
		if (!r)
			return 0;
		mdb_env_close(*env);
		*env = NULL;
		if ((r != ENOMEM && r != EINVAL) || want / 2 < least)
			return r;
		want /= 2;
	}
}

/* Returns the minimum file size for the pages of the newest state. */
static uint64_t wanted_size(MDB_env *env)
{
	MDB_envinfo info;
	MDB_stat st;

	(void)mdb_env_info(env, &info);
	(void)mdb_env_stat(env, &st);
	return ((uint64_t)info.me_last_pgno + 1) * st.ms_psize;
}

int store_env_extend(MDB_env *env, const char *path, struct hdb_error *err)
{
	const uint64_t want = wanted_size(env);
	mdb_filehandle_t fd;
	struct stat st;
	const int r = mdb_env_get_fd(env, &fd);

	if (r)
		return store_fail_mdb(err, r, path, "growing");
	if (fstat(fd, &st) < 0)
		return hdb_fail_errno(err, errno, "%s", path);
	if ((uint64_t)st.st_size < want && ftruncate(fd, (off_t)want) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot extend the file to %" PRIu64 " bytes",
				      path, want);
	return HDB_OK;
}

void store_env_write_out(MDB_env *env)
{
	mdb_filehandle_t fd;

	if (mdb_env_get_fd(env, &fd) == 0)
		(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

/* Frees the reader slots of dead processes, and opens the main database. */
static int open_main(struct store_env *env, struct hdb_error *err)
{
	MDB_txn *txn = NULL;
	int dead, r;

	(void)mdb_reader_check(env->env, &dead);
	r = mdb_txn_begin(env->env, NULL, MDB_RDONLY, &txn);
	if (!r)
		r = mdb_dbi_open(txn, NULL, 0, &env->dbi);
	if (!r)
		r = mdb_txn_commit(txn);
	else
		mdb_txn_abort(txn);
	return r ? store_fail_mdb(err, r, env->path, "opening") : HDB_OK;
}

/*
 * Opens the environment. Falls back to read-only mode and, if the lock file cannot be written
 * either, or has no room on the disk, to reading without a lock file.
 */
static int open_env(struct store_env *env, const struct stat *st, bool is_unsynced,
		    struct hdb_error *err)
{
	const uint64_t file_size = (uint64_t)st->st_size;
	const uint64_t want = round_up(file_size * MAP_GROWTH_FACTOR + MAP_GROWTH_BYTES, 65536);
	/*
	 * A commit waits for the disk once instead of twice. A power failure may undo the last
	 * commit, that is, a derived table, which is then built again.
	 */
	const unsigned flags =
		MDB_NOSUBDIR | MDB_NOTLS | (is_unsynced ? MDB_NOSYNC : MDB_NOMETASYNC);
	int r;

	TRY_ERRORS(r = store_lock_prepare(env->path, st, err));
	r = r == HDB_END ? ENOSPC :
			   open_sized(&env->env, env->path, flags, want, file_size + (1u << 30));
	if (r == ENOSPC || r == EACCES || r == EROFS || r == EPERM) {
		env->is_read_only = true;
		if (r != ENOSPC)
			r = open_sized(&env->env, env->path, flags | MDB_RDONLY, want, file_size);
		if (r == ENOSPC || r == EACCES || r == EROFS || r == EPERM || r == ENOENT)
			r = open_sized(&env->env, env->path, flags | MDB_RDONLY | MDB_NOLOCK, want,
				       file_size);
	}
	return r ? store_fail_mdb(err, r, env->path, "opening") : open_main(env, err);
}

int store_env_watch(struct store_env *env, MDB_txn *txn, MDB_val key, uint64_t offset,
		    struct hdb_error *err)
{
	MDB_envinfo info;
	MDB_val v;
	int r = HDB_OK;

	pthread_mutex_lock(&list_lock);
	if (!env->map) {
		r = mdb_get(txn, env->dbi, &key, &v);
		if (!r)
			r = mdb_env_info(env->env, &info);
		if (r) {
			r = store_fail_mdb(err, r, env->path, "opening");
		} else {
			env->map = (const uint8_t *)v.mv_data - offset;
			r = base_sigbus_add(env->map, info.me_mapsize, &env->fault, err);
		}
	}
	pthread_mutex_unlock(&list_lock);
	return r;
}

static void free_env(struct store_env *env)
{
	if (env->map)
		base_sigbus_remove(env->map);
	if (env->env)
		mdb_env_close(env->env);
	store_unpacked_release(&env->unpacked);
	free(env->path);
	free(env);
}

/*
 * Returns the file's environment from the list, or creates it. Requires list_lock and the open
 * lock.
 */
static int share_env(const char *path, const struct stat *st, bool is_unsynced,
		     struct store_env **out, struct hdb_error *err)
{
	struct store_env *env;
	int r;

	for (env = list; env; env = env->next) {
		if (env->device == st->st_dev && env->inode == st->st_ino) {
			env->user_count++;
			*out = env;
			return HDB_OK;
		}
	}
	env = calloc(1, sizeof(*env));
	if (env)
		env->path = strdup(path);
	if (!env || !env->path) {
		free(env);
		return hdb_fail_memory(err, "a database handle", sizeof(*env));
	}
	env->device = st->st_dev;
	env->inode = st->st_ino;
	env->user_count = 1;
	store_unpacked_init(&env->unpacked);
	r = open_env(env, st, is_unsynced, err);
	if (r < 0) {
		free_env(env);
		return r;
	}
	env->next = list;
	list = env;
	*out = env;
	return HDB_OK;
}

/*
 * Opens the data file and takes its open lock. An import takes the same lock before it replaces the
 * file, so when LMDB opens `path` afterwards, `path` still names this file.
 */
static int open_locked(const char *path, int *fd, struct stat *st, struct hdb_error *err)
{
	struct stat now;

	for (int tries = 0; tries < OPEN_TRIES_MAX; tries++) {
		*fd = open(path, O_RDONLY | O_CLOEXEC);
		if (*fd < 0)
			return hdb_fail_open(err, errno, path);
		if (fstat(*fd, st) < 0)
			return hdb_fail_errno(err, errno, "%s", path);
		if (!S_ISREG(st->st_mode))
			return hdb_fail(err, HDB_EFORMAT, "%s: not a regular file", path);
		TRY_ERRORS(store_lock_file(*fd, STORE_LOCK_OPEN, STORE_LOCK_WAIT, path, err));
		if (stat(path, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev)
			return HDB_OK;
		(void)close(*fd);
		*fd = -1;
	}
	return hdb_fail(err, HDB_EIO, "%s: other processes keep replacing this file", path);
}

/* Opens the file. Requires list_lock. */
static int open_shared(const char *path, bool is_unsynced, struct store_env **out,
		       struct hdb_error *err)
{
	BASE_CLOSED int fd = -1; /* closing the descriptor releases its lock */
	uint64_t wanted;         /* closing the descriptor releases the lock */
	struct stat st;

	TRY(open_locked(path, &fd, &st, err));
	if (st.st_size < 8192)
		return hdb_fail(err, HDB_ECORRUPT, "%s: not a heap database (%" PRIu64 " bytes)",
				path, (uint64_t)st.st_size);
	/*
	 * LMDB trusts these pages. In a truncated file, reading a missing page would cause a bus
	 * error.
	 */
	TRY(store_pages_check_file(fd, path, &wanted, err));
	return share_env(path, &st, is_unsynced, out, err);
}

int store_env_open(const char *path, bool is_unsynced, struct store_env **out,
		   struct hdb_error *err)
{
	int r;

	pthread_mutex_lock(&list_lock);
	r = open_shared(path, is_unsynced, out, err);
	pthread_mutex_unlock(&list_lock);
	return r;
}

struct store_env *store_env_share(struct store_env *env)
{
	pthread_mutex_lock(&list_lock);
	env->user_count++;
	pthread_mutex_unlock(&list_lock);
	return env;
}

void store_env_release(struct store_env *env)
{
	struct store_env **at;

	if (!env)
		return;
	if (env->is_private) {
		free_env(env);
		return;
	}
	pthread_mutex_lock(&list_lock);
	assert(env->user_count > 0);
	if (--env->user_count == 0) {
		for (at = &list; *at != env; at = &(*at)->next)
			;
		*at = env->next;
		free_env(env);
	}
	pthread_mutex_unlock(&list_lock);
}

int store_env_create(const char *path, uint64_t size_hint, MDB_env **env, struct hdb_error *err)
{
	const uint64_t want = round_up(size_hint + MAP_GROWTH_BYTES, 65536);
	const int r = open_sized(env, path, MDB_NOSUBDIR | MDB_NOTLS | MDB_NOLOCK | MDB_NOSYNC,
				 want, 1u << 30);

	return r ? store_fail_mdb(err, r, path, "creating") : HDB_OK;
}

/* ---- private files ---- */

/*
 * Directory for private files if the given directory is not writable. On Linux, this directory is
 * in memory.
 */
#define MEMORY_DIR "/dev/shm"
/* Name shown for a private file that is not in a directory. */
#define MEMORY_NAME "memory"

/*
 * Opens a new file in a new directory in `dir`, and removes both names immediately, so that nothing
 * remains after a crash.
 */
static int open_private(struct store_env *env, const char *dir, uint64_t want)
{
	char folder[512], path[600], lock[600];
	struct hdb_error err;
	int r;

	if (snprintf(folder, sizeof(folder), "%s/heapdb-XXXXXX", dir) >= (int)sizeof(folder))
		return ENAMETOOLONG;
	if (!mkdtemp(folder))
		return errno;
	(void)snprintf(path, sizeof(path), "%s/tables", folder);
	(void)snprintf(lock, sizeof(lock), "%s/tables-lock", folder);
	r = store_lock_prepare(path, &(struct stat){ 0 }, &err) == HDB_OK ?
		    open_sized(&env->env, path, MDB_NOSUBDIR | MDB_NOTLS | MDB_NOSYNC, want,
			       1u << 30) :
		    ENOSPC;
	(void)unlink(path);
	(void)unlink(lock);
	(void)rmdir(folder);
	return r;
}

/*
 * Opens a new file that is not in a directory. LMDB needs a path to the file, and no lock file can
 * be placed next to it. store_env_private describes what is_memory means for writers.
 */
static int open_memory(struct store_env *env, uint64_t want)
{
	char path[64];
	const int fd = memfd_create("heapdb-tables", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return errno;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = open_sized(&env->env, path, MDB_NOSUBDIR | MDB_NOTLS | MDB_NOSYNC | MDB_NOLOCK, want,
		       1u << 30);
	(void)close(fd); /* LMDB has opened its own descriptor */
	env->is_memory = !r;
	return r;
}

int store_env_private(const char *dir, uint64_t size_hint, struct store_env **out,
		      const char **where, struct hdb_error *err)
{
	const uint64_t want = round_up(size_hint * MAP_GROWTH_FACTOR + MAP_GROWTH_BYTES, 65536);
	struct store_env *env;
	int r;

	TRY(BASE_ALLOC(env, 1, "a private file", err));
	env->is_private = true;
	store_unpacked_init(&env->unpacked);
	*where = dir;
	r = open_private(env, dir, want);
	if (r) {
		*where = MEMORY_DIR;
		if (open_private(env, MEMORY_DIR, want) == 0)
			r = 0;
	}
	if (r) {
		*where = MEMORY_NAME;
		if (open_memory(env, want) == 0)
			r = 0;
	}
	if (r) {
		r = hdb_fail_errno(
			err, r,
			"%s: cannot create a private file in this directory or in memory (" MEMORY_DIR
			", /proc)",
			dir);
	} else if (asprintf(&env->path, "private file in %s", *where) >= 0) {
		r = open_main(env, err);
	} else {
		env->path = NULL;
		r = hdb_fail_memory(err, "a private file", strlen(*where));
	}
	if (r < 0) {
		free_env(env);
		return r;
	}
	*out = env;
	return HDB_OK;
}

/* store/own_file.c - implements own_file.h. */
#include "store/own_file.h"

#include "store/env.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Maximum number of attempts to open a file that appears and disappears repeatedly. */
#define OPEN_TRIES_MAX 100

/*
 * Returns the reason to reject an existing file, or NULL if it is a plain file. `st` comes from
 * lstat, so links and directories are rejected before anything is opened.
 */
static const char *not_plain(const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return "is a symbolic link";
	if (!S_ISREG(st->st_mode))
		return S_ISDIR(st->st_mode) ? "is a directory" : "is not a regular file";
	if (st->st_nlink > 1)
		return "has other hard links";
	return NULL;
}

/*
 * Returns why the temporary file of a dead import may not be reused, or NULL. It may be reused only
 * if no other user can have opened it.
 */
static const char *not_leftover(const struct stat *st)
{
	const char *why = not_plain(st);

	if (why)
		return why;
	if (st->st_uid != geteuid())
		return "is owned by another user";
	/* If others could open the file earlier, they may still have it open. */
	return st->st_mode & 077 ? "is readable or writable by other users" : NULL;
}

static int fail_leftover(const char *temp_path, const char *why, struct hdb_error *err)
{
	return hdb_fail(err, HDB_EIO,
			"%s: %s; remove the file (heapdb overwrites only temporary files "
			"left over from your own imports)",
			temp_path, why);
}

/* Opens an existing file. Returns HDB_END if it has disappeared. */
static int open_leftover(const char *temp_path, int *fd, struct hdb_error *err)
{
	const char *why;
	struct stat st;

	if (lstat(temp_path, &st) < 0)
		return errno == ENOENT ? HDB_END :
					 hdb_fail_errno(err, errno, "%s: cannot write", temp_path);
	why = not_leftover(&st);
	if (why)
		return fail_leftover(temp_path, why, err);
	*fd = open(temp_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return errno == ENOENT ? HDB_END :
					 hdb_fail_errno(err, errno, "%s: cannot write", temp_path);
	if (fstat(*fd, &st) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot write", temp_path);
	/* A running import may have renamed or removed the file. */
	if (st.st_nlink == 0)
		return HDB_END;
	why = not_leftover(&st);
	return why ? fail_leftover(temp_path, why, err) : HDB_OK;
}

static void give_up(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/*
 * Checks that the locked file still has its name. Returns HDB_END if the previous owner of the lock
 * has renamed or removed it.
 */
static int see_name(int fd, const char *temp_path, struct hdb_error *err)
{
	struct stat held, named;

	if (fstat(fd, &held) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot write", temp_path);
	if (lstat(temp_path, &named) < 0)
		return errno == ENOENT ? HDB_END :
					 hdb_fail_errno(err, errno, "%s: cannot write", temp_path);
	return held.st_ino == named.st_ino && held.st_dev == named.st_dev ? HDB_OK : HDB_END;
}

/* Opens and locks the file. Returns HDB_NOTFOUND if another import has the lock. */
static int open_locked(const char *temp_path, int *fd, struct hdb_error *err)
{
	bool is_made;
	int r;

	*fd = open(temp_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	is_made = *fd >= 0;
	if (!is_made && errno != EEXIST)
		return hdb_fail_errno(err, errno, "%s: cannot write", temp_path);
	if (!is_made)
		TRY(open_leftover(temp_path, fd, err));
	r = store_lock_file(*fd, STORE_LOCK_IMPORT, STORE_LOCK_ALONE, temp_path, err);
	if (r < 0 && is_made)
		(void)unlink(temp_path);
	return r == HDB_END ? HDB_NOTFOUND : r;
}

/*
 * Makes one attempt. Returns HDB_OK if the file is open and locked, HDB_END to try again, or
 * HDB_NOTFOUND if another import has the lock. After a failure, *fd is -1 or a locked file.
 */
static int try_open(const char *temp_path, int *fd, struct hdb_error *err)
{
	int r = open_locked(temp_path, fd, err);

	if (r != HDB_OK) {
		give_up(fd);
		return r;
	}
	r = see_name(*fd, temp_path, err);
	if (r == HDB_END)
		give_up(fd);
	return r;
}

int store_temp_open(const char *temp_path, int *fd, struct hdb_error *err)
{
	int r = HDB_END;

	for (int tries = 0; r == HDB_END && tries < OPEN_TRIES_MAX; tries++)
		r = try_open(temp_path, fd, err);
	if (r == HDB_NOTFOUND)
		return HDB_END;
	if (r == HDB_END)
		return hdb_fail(err, HDB_EIO,
				"%s: other processes keep creating and removing this file",
				temp_path);
	TRY(r);
	if ((ftruncate(*fd, 0) < 0 || fchmod(*fd, 0600) < 0))
		return hdb_fail_errno(err, errno, "%s: cannot write", temp_path);
	return r;
}

int store_temp_same(MDB_env *env, int fd, const char *temp_path, struct hdb_error *err)
{
	mdb_filehandle_t written;
	struct stat ours, theirs;
	const int r = mdb_env_get_fd(env, &written);

	if (r)
		return store_fail_mdb(err, r, temp_path, "creating");
	if (fstat(fd, &ours) < 0 || fstat(written, &theirs) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot write", temp_path);
	if (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev)
		return HDB_OK;
	return hdb_fail(err, HDB_EIO, "%s: another process replaced this file", temp_path);
}

int store_temp_rename(const char *temp_path, const char *path, bool is_force, struct hdb_error *err)
{
	BASE_FREED char *lock_path = NULL;
	BASE_CLOSED int old_fd = -1;

	assert(strcmp(temp_path, path) != 0);
	if (asprintf(&lock_path, "%s-lock", path) < 0) {
		lock_path = NULL;
		return hdb_fail_memory(err, "a file name", strlen(path));
	}
	old_fd = open(path, O_RDWR | O_CLOEXEC);
	if (old_fd >= 0 && !is_force)
		return hdb_fail(err, HDB_EEXIST, "another process created %s in the meantime",
				path);
	if (old_fd >= 0)
		TRY(store_lock_file(old_fd, STORE_LOCK_OPEN, STORE_LOCK_ALONE | STORE_LOCK_WAIT,
				    path, err));
	(void)unlink(lock_path);
	if (rename(temp_path, path) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot rename to %s", temp_path, path);
	return HDB_OK;
}

/* Size of a lock file, in which LMDB records the readers of all processes. */
#define LOCK_FILE_BYTES 32768

/*
 * Reserves room on the disk for the lock file. LMDB writes to this file through a mapping, and on a
 * full disk such a write would cause a bus error. A file without room keeps its name: another
 * process may have opened it, and two lock files of one database would not exclude each other.
 * Returns HDB_END if the disk is full.
 */
static int reserve_lock_file(int fd, const char *lock_path, struct hdb_error *err)
{
	struct stat st;
	int r;

	/*
	 * Reserving may overwrite the file with zeros, so take the lock, which delays other
	 * processes.
	 */
	TRY(store_lock_file(fd, STORE_LOCK_IMPORT, STORE_LOCK_ALONE | STORE_LOCK_WAIT, lock_path,
			    err));
	if (fstat(fd, &st) < 0 || not_plain(&st) || st.st_size >= LOCK_FILE_BYTES)
		return HDB_OK;
	r = posix_fallocate(fd, 0, LOCK_FILE_BYTES);
	return r == ENOSPC || r == EDQUOT ? HDB_END : HDB_OK;
}

int store_lock_prepare(const char *path, const struct stat *db, struct hdb_error *err)
{
	BASE_FREED char *lock_path = NULL;
	BASE_CLOSED int fd = -1;
	const char *why;
	struct stat st;

	if (asprintf(&lock_path, "%s-lock", path) < 0) {
		lock_path = NULL;
		return hdb_fail_memory(err, "a file name", strlen(path));
	}
	fd = open(lock_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		return reserve_lock_file(fd, lock_path, err);
	if (errno != EEXIST || lstat(lock_path, &st) < 0)
		return HDB_OK;
	why = not_plain(&st);
	/*
	 * A lock file that this user cannot open is harmless, because LMDB works without it and
	 * writes nothing.
	 */
	if (!why && st.st_uid != geteuid() && st.st_uid != db->st_uid && st.st_uid != 0 &&
	    faccessat(AT_FDCWD, lock_path, R_OK | W_OK, AT_EACCESS) == 0)
		why = "is owned neither by you nor by the owner of the database";
	if (!why && st.st_size < LOCK_FILE_BYTES)
		fd = open(lock_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (!why)
		return fd < 0 ? HDB_OK : reserve_lock_file(fd, lock_path, err);
	return hdb_fail(err, HDB_EIO,
			"%s: %s, so heapdb cannot use this file as the lock file of the "
			"database; remove the file",
			lock_path, why);
}

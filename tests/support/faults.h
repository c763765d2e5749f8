/*
 * support/faults.h - makes the n-th call that can fail do so, either that call only or all calls
 * from then on. Include it once per test program, and link the program with --wrap for each
 * function named in WRAP, so that heapdb's calls of these functions come here. pwrite, writev,
 * fsync, fdatasync and ftruncate are defined here, which also catches the calls inside liblmdb.
 */
#ifndef SUPPORT_FAULTS_H
#define SUPPORT_FAULTS_H

#include "heapdb.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
	bool is_armed;
	bool is_sticky; /* all calls fail from the n-th on */
	/* number of the call that fails, starting at 1; 0: no call fails, but calls are counted */
	unsigned long at;
	_Atomic unsigned long count; /* number of calls so far, on all threads */
	_Atomic long live;           /* number of memory blocks that have not been freed */
	const char *_Atomic failed;  /* name of the function that failed last */
	int write_error;             /* errno of a failed write; 0: ENOSPC */
	bool is_short_write;         /* a write accepts only a few bytes at a time */
} fault;

/* Whether this call must fail. If so, sets errno. */
static bool fails(const char *name, int code)
{
	unsigned long count;

	if (!fault.is_armed)
		return false;
	count = ++fault.count;
	if (!fault.at || count < fault.at || (count > fault.at && !fault.is_sticky))
		return false;
	fault.failed = name;
	errno = code;
	return true;
}

/* The function that the linker calls instead of NAME, and the function that it replaces. */
#define WRAP(type, name, params) \
	type __real_##name params; \
	type __wrap_##name params; \
	type __wrap_##name params

WRAP(void *, malloc, (size_t size))
{
	void *p = fails("malloc", ENOMEM) ? NULL : __real_malloc(size);

	fault.live += p != NULL;
	return p;
}

WRAP(void *, calloc, (size_t count, size_t size))
{
	void *p = fails("calloc", ENOMEM) ? NULL : __real_calloc(count, size);

	fault.live += p != NULL;
	return p;
}

WRAP(void *, realloc, (void *old, size_t size))
{
	void *p = fails("realloc", ENOMEM) ? NULL : __real_realloc(old, size);

	fault.live += p && !old;
	return p;
}

WRAP(void, free, (void *p))
{
	fault.live -= p != NULL;
	__real_free(p);
}

WRAP(char *, strdup, (const char *text))
{
	char *p = fails("strdup", ENOMEM) ? NULL : __real_strdup(text);

	fault.live += p != NULL;
	return p;
}

WRAP(char *, strndup, (const char *text, size_t size))
{
	char *p = fails("strndup", ENOMEM) ? NULL : __real_strndup(text, size);

	fault.live += p != NULL;
	return p;
}

WRAP(char *, realpath, (const char *path, char *buf))
{
	char *p = fails("realpath", ENOMEM) ? NULL : __real_realpath(path, buf);

	fault.live += p && !buf;
	return p;
}

int __wrap_asprintf(char **out, const char *format, ...);
int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list args;
	int r;

	if (fails("asprintf", ENOMEM))
		return -1;
	va_start(args, format);
	r = vasprintf(out, format, args);
	va_end(args);
	fault.live += r >= 0;
	return r;
}

WRAP(void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset))
{
	return fails("mmap", ENOMEM) ? MAP_FAILED : __real_mmap(at, size, prot, flags, fd, offset);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	if (fails("open", EMFILE))
		return -1;
	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return __real_open(path, flags, mode);
}

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...)
{
	va_list args;
	void *arg;

	if (fails("fcntl", ENOLCK))
		return -1;
	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	return __real_fcntl(fd, what, arg);
}

WRAP(FILE *, fopen, (const char *path, const char *mode))
{
	return fails("fopen", EMFILE) ? NULL : __real_fopen(path, mode);
}

WRAP(int, fstat, (int fd, struct stat *st))
{
	return fails("fstat", EIO) ? -1 : __real_fstat(fd, st);
}

WRAP(int, stat, (const char *path, struct stat *st))
{
	return fails("stat", EIO) ? -1 : __real_stat(path, st);
}

WRAP(ssize_t, pread, (int fd, void *data, size_t size, off_t offset))
{
	return fails("pread", EIO) ? -1 : __real_pread(fd, data, size, offset);
}

/* Usually standard output, which may be a file on a full disk or a pipe that nobody reads. */
WRAP(ssize_t, write, (int fd, const void *data, size_t size))
{
	return fails("write", fault.write_error ? fault.write_error : ENOSPC) ?
		       -1 :
		       __real_write(fd, data, fault.is_short_write && size > 7 ? 7 : size);
}

/* Closing can report that earlier output was not written. */
WRAP(int, close, (int fd))
{
	const bool fail = fd == STDOUT_FILENO && fails("close", EIO);
	const int r = __real_close(fd);

	if (fail)
		errno = EIO;
	return fail ? -1 : r;
}

WRAP(DIR *, opendir, (const char *path))
{
	return fails("opendir", EMFILE) ? NULL : __real_opendir(path);
}

WRAP(ssize_t, read, (int fd, void *data, size_t size))
{
	return fails("read", EIO) ? -1 : __real_read(fd, data, size);
}

WRAP(int, linkat, (int from, const char *old, int to, const char *path, int flags))
{
	return fails("linkat", EIO) ? -1 : __real_linkat(from, old, to, path, flags);
}

WRAP(int, rename, (const char *from, const char *to))
{
	return fails("rename", EIO) ? -1 : __real_rename(from, to);
}

WRAP(int, fchmod, (int fd, mode_t mode))
{
	return fails("fchmod", EPERM) ? -1 : __real_fchmod(fd, mode);
}

WRAP(int, posix_fallocate, (int fd, off_t offset, off_t size))
{
	return fails("posix_fallocate", ENOSPC) ? ENOSPC : __real_posix_fallocate(fd, offset, size);
}

WRAP(int, mkostemp, (char *name, int flags))
{
	return fails("mkostemp", ENOSPC) ? -1 : __real_mkostemp(name, flags);
}

WRAP(char *, mkdtemp, (char *name))
{
	return fails("mkdtemp", ENOSPC) ? NULL : __real_mkdtemp(name);
}

WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg))
{
	return fails("pthread_create", EAGAIN) ? EAGAIN :
						 __real_pthread_create(thread, attr, start, arg);
}

/* LMDB's functions return the errors that they return if memory or the disk fails. */
WRAP(int, mdb_env_create, (MDB_env * *env))
{
	return fails("mdb_env_create", ENOMEM) ? ENOMEM : __real_mdb_env_create(env);
}

WRAP(int, mdb_env_open, (MDB_env * env, const char *path, unsigned flags, mdb_mode_t mode))
{
	return fails("mdb_env_open", EIO) ? EIO : __real_mdb_env_open(env, path, flags, mode);
}

WRAP(int, mdb_env_sync, (MDB_env * env, int force))
{
	return fails("mdb_env_sync", EIO) ? EIO : __real_mdb_env_sync(env, force);
}

WRAP(int, mdb_env_get_fd, (MDB_env * env, mdb_filehandle_t *fd))
{
	return fails("mdb_env_get_fd", EINVAL) ? EINVAL : __real_mdb_env_get_fd(env, fd);
}

WRAP(int, mdb_txn_begin, (MDB_env * env, MDB_txn *parent, unsigned flags, MDB_txn **txn))
{
	return fails("mdb_txn_begin", ENOMEM) ? ENOMEM :
						__real_mdb_txn_begin(env, parent, flags, txn);
}

/* Like LMDB, frees the transaction even if it fails. */
WRAP(int, mdb_txn_commit, (MDB_txn * txn))
{
	if (!fails("mdb_txn_commit", ENOSPC))
		return __real_mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return ENOSPC;
}

WRAP(int, mdb_dbi_open, (MDB_txn * txn, const char *name, unsigned flags, MDB_dbi *dbi))
{
	return fails("mdb_dbi_open", ENOMEM) ? ENOMEM : __real_mdb_dbi_open(txn, name, flags, dbi);
}

WRAP(int, mdb_cursor_open, (MDB_txn * txn, MDB_dbi dbi, MDB_cursor **cursor))
{
	return fails("mdb_cursor_open", ENOMEM) ? ENOMEM : __real_mdb_cursor_open(txn, dbi, cursor);
}

WRAP(int, mdb_cursor_get, (MDB_cursor * cursor, MDB_val *k, MDB_val *v, MDB_cursor_op op))
{
	return fails("mdb_cursor_get", EIO) ? EIO : __real_mdb_cursor_get(cursor, k, v, op);
}

WRAP(int, mdb_cursor_del, (MDB_cursor * cursor, unsigned flags))
{
	return fails("mdb_cursor_del", ENOMEM) ? ENOMEM : __real_mdb_cursor_del(cursor, flags);
}

WRAP(int, mdb_put, (MDB_txn * txn, MDB_dbi dbi, MDB_val *k, MDB_val *v, unsigned flags))
{
	return fails("mdb_put", MDB_MAP_FULL) ? MDB_MAP_FULL :
						__real_mdb_put(txn, dbi, k, v, flags);
}

WRAP(int, mdb_get, (MDB_txn * txn, MDB_dbi dbi, MDB_val *k, MDB_val *v))
{
	return fails("mdb_get", EIO) ? EIO : __real_mdb_get(txn, dbi, k, v);
}

WRAP(int, mdb_del, (MDB_txn * txn, MDB_dbi dbi, MDB_val *k, MDB_val *v))
{
	return fails("mdb_del", ENOMEM) ? ENOMEM : __real_mdb_del(txn, dbi, k, v);
}

/* Functions that liblmdb calls. The linker finds these definitions before the C library's. */
HDB_API ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return fails("pwrite", ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}

HDB_API ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return fails("writev", ENOSPC) ? -1 : syscall(SYS_writev, fd, parts, count);
}

HDB_API int fsync(int fd)
{
	return fails("fsync", EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

HDB_API int fdatasync(int fd)
{
	return fails("fdatasync", EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

HDB_API int ftruncate(int fd, off_t size)
{
	return fails("ftruncate", ENOSPC) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

#endif

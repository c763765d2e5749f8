/*
 * base/platform.h - replacements for functions that only Linux or a recent C library has. Sources
 * are written for Linux and do not include this file. The compiler includes it (-include) if
 * PORTABLE is defined, which is the case on macOS, for wheels that must run on old systems, and in
 * `make PORTABLE=1`, which tests the replacements.
 */
#ifndef BASE_PLATFORM_H
#define BASE_PLATFORM_H

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/auxv.h>
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
extern char **environ;
#define AT_RANDOM 25
#define AT_STATX_SYNC_AS_STAT 0
#define GRND_NONBLOCK 1
#define SOCK_CLOEXEC 0x80000
#define SOCK_NONBLOCK 0x800
#define POLLRDHUP POLLHUP
#define st_mtim st_mtimespec
#define st_birthtim st_birthtimespec
#endif

/* Fills the buffer with random bytes from the system. Returns `size`, or -1. */
ssize_t portable_getrandom(void *bytes, size_t size, unsigned flags);
#undef getrandom
#define getrandom portable_getrandom

/* Returns the address of 16 bytes that are random in each process. Supports only AT_RANDOM. */
unsigned long portable_getauxval(unsigned long type);
#undef getauxval
#define getauxval portable_getauxval

void *portable_memrchr(const void *bytes, int c, size_t size);
#undef memrchr
#define memrchr portable_memrchr
void portable_explicit_bzero(void *bytes, size_t size);
#undef explicit_bzero
#define explicit_bzero portable_explicit_bzero

/* Returns the message, which may be in `out`, like glibc's strerror_r. */
const char *portable_strerror_r(int number, char *out, size_t size);
#undef strerror_r
#define strerror_r portable_strerror_r

/* Sorts like glibc's qsort_r: by merging, so that equal elements keep their order. */
void portable_qsort_r(void *base, size_t count, size_t size,
		      int (*compare)(const void *a, const void *b, void *ctx), void *ctx);
#undef qsort_r
#define qsort_r portable_qsort_r

/* Creates a file without a name, which it creates in $TMPDIR or /tmp and unlinks. */
int portable_memfd_create(const char *name, unsigned flags);
#undef memfd_create
#define memfd_create portable_memfd_create
#undef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
/*
 * Without O_TMPFILE, opening a directory for writing fails, so callers create a named file instead.
 */
#undef O_TMPFILE
#define O_TMPFILE 0

/* Reserves space by writing zeros, which is correct because the caller's file is new. */
int portable_fallocate(int fd, off_t offset, off_t size);
#undef posix_fallocate
#define posix_fallocate portable_fallocate

int portable_pipe2(int ends[2], int flags);
#undef pipe2
#define pipe2 portable_pipe2
int portable_socket(int domain, int type, int protocol);
#undef socket
#define socket portable_socket
/* Copies the bytes available in the pipe. The writer waits until there is room. */
ssize_t portable_splice(int from, int to, size_t size);
#undef splice
#define splice(from, from_at, to, to_at, size, flags) portable_splice(from, to, size)
#undef SPLICE_F_MOVE
#define SPLICE_F_MOVE 1
#undef SPLICE_F_NONBLOCK
#define SPLICE_F_NONBLOCK 2

/* The following functions only give hints, which do not affect results. */
#undef posix_fadvise
#define posix_fadvise(fd, offset, size, advice) ((void)(fd), (void)(offset), (void)(size), 0)
#undef sync_file_range
#define sync_file_range(fd, offset, size, flags) ((void)(fd), 0)
#undef MADV_HUGEPAGE
#define MADV_HUGEPAGE MADV_NORMAL
#undef F_SETPIPE_SZ
#define F_SETPIPE_SZ F_GETFD

/* The members that heapdb uses: only times, with a birth time only if stat() has one. */
struct portable_statx_timestamp {
	int64_t tv_sec;
	uint32_t tv_nsec;
};
struct portable_statx {
	uint32_t stx_mask;
	mode_t stx_mode;
	struct portable_statx_timestamp stx_btime, stx_mtime;
};
int portable_statx(int folder, const char *path, int flags, unsigned mask,
		   struct portable_statx *out);
#undef statx
#define statx portable_statx
#undef statx_timestamp
#define statx_timestamp portable_statx_timestamp
#undef STATX_TYPE
#define STATX_TYPE 1u
#undef STATX_MTIME
#define STATX_MTIME 0x40u
#undef STATX_BTIME
#define STATX_BTIME 0x800u

#endif

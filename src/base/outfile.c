/*
 * base/outfile.c - writes a file that appears only when it is complete. Until then it has no name
 * (O_TMPFILE) or, on file systems that do not support this, a name that ends in ".writing".
 */
#include "base/outfile.h"

#include "base/bytes.h"
#include "base/vec.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <libgen.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* Number of bytes that are compressed independently. */
#define BLOCK_BYTES (1u << 20)
/* Compression levels: the JDK's level for -gz=1, and zstd's default. */
#define GZIP_LEVEL 1
#define ZSTD_LEVEL 3
#define GZIP_COMMENT "HPROF BLOCKSIZE=1048576"
/*
 * Size of a gzip member without its deflate stream: the header with its comment, and the trailer.
 */
#define GZIP_MORE (10u + sizeof(GZIP_COMMENT) + 8u)

struct base_outfile {
	const char *path; /* borrowed */
	char *temp_path;  /* NULL if the file does not have a name yet, or is written in place */
	struct base_outfile_options options;
	int fd;
	bool is_stdout;
	bool is_in_place; /* whether the output is standard output, a device or a named pipe */
	uint8_t *block;   /* buffer of BLOCK_BYTES bytes for data that has not been written yet */
	size_t used;
	uint8_t *packed;
	size_t packed_max;
	struct libdeflate_compressor *deflate;
	ZSTD_CCtx *zstd;
	struct base_vec seek; /* uint32_t: packed and plain size of each frame */
	uint64_t bytes;       /* number of bytes written */
};

/* whether the reader of standard output has closed its end */
static atomic_bool is_stdout_closed;

/* bit set of files that were open when the process began */
static uint64_t inherited;

/* ---- names ---- */

bool base_names_stdout(const char *path)
{
	static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };

	return BASE_HAS(names, path);
}

void base_note_inherited_files(void)
{
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			inherited |= 1ull << fd;
}

/* Returns the inherited file that a path such as /dev/fd/3 names, or -1. */
static int inherited_fd(const char *path)
{
	int fd = strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : -1, end = 0;

	if ((sscanf(path, "/dev/fd/%9d%n", &fd, &end) == 1 ||
	     sscanf(path, "/proc/self/fd/%9d%n", &fd, &end) == 1) &&
	    path[end])
		return -1;
	return fd >= 0 && fd < 64 && inherited >> fd & 1 ? fd : -1;
}

bool base_stdout_closed(void)
{
	return is_stdout_closed;
}

int base_check_folder(const char *path, struct hdb_error *err)
{
	BASE_FREED char *copy = NULL, *folder = NULL;

	TRY(BASE_COPY(copy, path, "a file name", err));
	folder = realpath(dirname(copy), NULL);
	if (folder && (strcmp(folder, "/dev") == 0 || strcmp(folder, "/proc") == 0 ||
		       strncmp(folder, "/proc/", 6) == 0))
		return hdb_fail(err, HDB_EUSAGE, "%s: cannot create files in /dev or /proc", path);
	return HDB_OK;
}

/* ---- opening ---- */

static int make_packer(struct base_outfile *f, struct hdb_error *err)
{
	f->packed_max = BLOCK_BYTES;
	if (f->options.packing == BASE_GZIP) {
		f->deflate = libdeflate_alloc_compressor(GZIP_LEVEL);
		if (f->deflate)
			f->packed_max = libdeflate_deflate_compress_bound(f->deflate, BLOCK_BYTES) +
					GZIP_MORE;
	} else if (f->options.packing == BASE_ZSTD) {
		f->zstd = ZSTD_createCCtx();
		f->packed_max = ZSTD_compressBound(BLOCK_BYTES);
	}
	f->block = malloc(BLOCK_BYTES);
	f->packed = malloc(f->packed_max);
	if (!f->block || !f->packed || (f->options.packing == BASE_GZIP && !f->deflate) ||
	    (f->options.packing == BASE_ZSTD &&
	     (!f->zstd ||
	      ZSTD_isError(ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)))))
		return hdb_fail_memory(err, "a file's bytes", BLOCK_BYTES + f->packed_max);
	return HDB_OK;
}

/*
 * Creates a file without a name in the directory of the path. Returns HDB_END if the file system
 * does not support this, or if the file could not get a name later, which requires /proc.
 */
static int open_nameless(struct base_outfile *f, struct hdb_error *err)
{
	BASE_FREED char *copy = NULL;

	if (access("/proc/self/fd", X_OK) != 0)
		return HDB_END;
	TRY(BASE_COPY(copy, f->path, "a file name", err));
	f->fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	return f->fd >= 0 ? HDB_OK : HDB_END;
}

static int make_temp_path(struct base_outfile *f, struct hdb_error *err)
{
	if (asprintf(&f->temp_path, "%s.writing", f->path) >= 0) {
		/* Replaces a file left by an interrupted run. */
		(void)unlink(f->temp_path);
		return HDB_OK;
	}
	f->temp_path = NULL;
	return hdb_fail_memory(err, "a file name", strlen(f->path));
}

/*
 * Returns whether the path is a device or named pipe, which is written directly. heapdb does not
 * write to a pipe of another user, who may have planted it.
 */
static bool is_written_in_place(const struct stat *st)
{
	return S_ISCHR(st->st_mode) || (S_ISFIFO(st->st_mode) && st->st_uid == geteuid());
}

static int open_file(struct base_outfile *f, struct hdb_error *err)
{
	const int fd = inherited_fd(f->path);
	struct stat st;
	int r;

	if (base_names_stdout(f->path)) {
		f->is_stdout = f->is_in_place = true;
		f->path = "standard output";
		f->fd = dup(STDOUT_FILENO);
		return f->fd >= 0 ? HDB_OK : hdb_fail_errno(err, errno, "%s", f->path);
	}
	if (fd >= 0) {
		f->is_in_place = true;
		f->fd = dup(fd);
		return f->fd >= 0 ? HDB_OK : hdb_fail_errno(err, errno, "%s", f->path);
	}
	f->is_in_place = stat(f->path, &st) == 0 && is_written_in_place(&st);
	if (f->is_in_place) {
		f->fd = open(f->path, O_WRONLY | O_CLOEXEC);
		return f->fd >= 0 ? HDB_OK : hdb_fail_errno(err, errno, "%s", f->path);
	}
	if (!f->options.force && access(f->path, F_OK) == 0)
		return hdb_fail(err, HDB_EEXIST, "%s already exists", f->path);
	TRY(base_check_folder(f->path, err));
	r = open_nameless(f, err);
	if (r != HDB_END)
		return r;
	TRY(make_temp_path(f, err));
	f->fd = open(f->temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (f->fd >= 0)
		return HDB_OK;
	r = hdb_fail_errno(err, errno, "%s", f->path);
	free(f->temp_path);
	f->temp_path = NULL;
	return r;
}

bool base_is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

BASE_CLOSER(abort_at, struct base_outfile, base_outfile_abort)

int base_outfile_create(const char *path, const struct base_outfile_options *options,
			struct base_outfile **out, struct hdb_error *err)
{
	BASE_SCOPED(abort_at) struct base_outfile *f = NULL;

	TRY(BASE_ALLOC(f, 1, "a file", err));
	f->path = path;
	f->options = *options;
	f->fd = -1;
	TRY(open_file(f, err));
	TRY(make_packer(f, err));
	*out = f;
	f = NULL;
	return HDB_OK;
}

/* ---- writing ---- */

static bool write_to(int fd, const void *data, uint64_t size, const uint64_t *offset)
{
	for (uint64_t done = 0; done < size;) {
		const char *at = (const char *)data + done;
		const ssize_t n = offset ? pwrite(fd, at, size - done, (off_t)(*offset + done)) :
					   write(fd, at, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		done += (uint64_t)n;
	}
	return true;
}

bool base_write_all(int fd, const void *data, uint64_t size)
{
	return write_to(fd, data, size, NULL);
}

bool base_write_at(int fd, const void *data, uint64_t size, uint64_t offset)
{
	return write_to(fd, data, size, &offset);
}

static int write_all(struct base_outfile *f, const uint8_t *p, uint64_t size, struct hdb_error *err)
{
	f->bytes += size;
	if (base_write_all(f->fd, p, size))
		return HDB_OK;
	if (f->is_stdout && errno == EPIPE)
		is_stdout_closed = true;
	return hdb_fail_errno(err, errno, "%s: cannot write", f->path);
}

/* Writes a gzip member. The first member has a comment. */
static int write_member(struct base_outfile *f, struct hdb_error *err)
{
	static const uint8_t head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3 };
	const size_t comment = f->bytes ? 0 : sizeof(GZIP_COMMENT);
	uint8_t *p = f->packed;
	size_t n;

	memcpy(p, head, sizeof(head));
	if (comment) {
		p[3] = 0x10;
		memcpy(p + sizeof(head), GZIP_COMMENT, comment);
	}
	p += sizeof(head) + comment;
	n = libdeflate_deflate_compress(f->deflate, f->block, f->used, p,
					f->packed_max - sizeof(head) - comment - 8);
	if (!n)
		return hdb_fail(err, HDB_EBUG, "cannot compress a block of %zu bytes", f->used);
	store32(p + n, libdeflate_crc32(0, f->block, f->used));
	store32(p + n + 4, (uint32_t)f->used);
	return write_all(f, f->packed, (uint64_t)(p - f->packed) + n + 8, err);
}

static int write_frame(struct base_outfile *f, struct hdb_error *err)
{
	const size_t n = ZSTD_compress2(f->zstd, f->packed, f->packed_max, f->block, f->used);
	const uint32_t sizes[2] = { (uint32_t)n, (uint32_t)f->used };

	assert(f->used <= BLOCK_BYTES);
	if (ZSTD_isError(n))
		return hdb_fail(err, HDB_ENOMEM, "cannot compress %zu bytes: %s", f->used,
				ZSTD_getErrorName(n));
	TRY(base_bytes_append(&f->seek, sizes, sizeof(sizes), err));
	return write_all(f, f->packed, n, err);
}

/* Writes the bytes in the buffer. */
static int flush(struct base_outfile *f, struct hdb_error *err)
{
	int r;

	if (!f->used)
		return HDB_OK;
	r = f->options.packing == BASE_GZIP ? write_member(f, err) :
	    f->options.packing == BASE_ZSTD ? write_frame(f, err) :
					      write_all(f, f->block, f->used, err);
	f->used = 0;
	return r;
}

int base_outfile_write(struct base_outfile *f, const void *data, uint64_t size,
		       struct hdb_error *err)
{
	const uint8_t *p = data;

	assert(f->used < BLOCK_BYTES);
	assert(data || !size);
	while (size) {
		const uint64_t room = BLOCK_BYTES - f->used;
		const size_t n = size < room ? size : room;

		memcpy(f->block + f->used, p, n);
		f->used += n;
		p += n;
		size -= n;
		if (f->used == BLOCK_BYTES)
			TRY(flush(f, err));
	}
	return HDB_OK;
}

/* Writes the table of zstd's seekable format: a skippable frame with both sizes of each frame. */
static int write_seek_table(struct base_outfile *f, struct hdb_error *err)
{
	const uint32_t frames = (uint32_t)(f->seek.count / 8);
	uint8_t head[8], foot[9] = { 0 };

	store32(head, 0x184d2a5e);
	store32(head + 4, (uint32_t)f->seek.count + sizeof(foot));
	store32(foot, frames);
	store32(foot + 5, 0x8f92eab1);
	TRY(write_all(f, head, sizeof(head), err));
	if (f->seek.count)
		TRY(write_all(f, f->seek.data, f->seek.count, err));
	return write_all(f, foot, sizeof(foot), err);
}

/* ---- completing a file ---- */

int base_sync_folder(const char *path, struct hdb_error *err)
{
	BASE_FREED char *copy = NULL;
	BASE_CLOSED int fd = -1;

	TRY(BASE_COPY(copy, path, "a file name", err));
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/*
	 * Some file systems cannot sync a directory. The rename is then only as durable as the file
	 * system makes it.
	 */
	if (fd >= 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		return hdb_fail_errno(err, errno, "%s: cannot sync the directory of this file",
				      path);
	return HDB_OK;
}

/* Gives a nameless file its name. */
static int link_file(struct base_outfile *f, struct hdb_error *err)
{
	char from[64];

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", f->fd);
	if (linkat(AT_FDCWD, from, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) == 0)
		return HDB_OK;
	if (errno != EEXIST)
		return hdb_fail_errno(err, errno, "%s: cannot create the file", f->path);
	if (!f->options.force)
		return hdb_fail(err, HDB_EEXIST, "%s already exists", f->path);
	TRY(make_temp_path(f, err));
	if (linkat(AT_FDCWD, from, AT_FDCWD, f->temp_path, AT_SYMLINK_FOLLOW) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot create the file", f->temp_path);
	return HDB_OK;
}

static int name_file(struct base_outfile *f, struct hdb_error *err)
{
	if (f->is_in_place)
		return HDB_OK;
	if (f->options.mode && fchmod(f->fd, f->options.mode) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot set the file permissions", f->path);
	if (fsync(f->fd) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot write", f->path);
	if (!f->temp_path)
		TRY(link_file(f, err));
	if (f->temp_path && rename(f->temp_path, f->path) < 0)
		return hdb_fail_errno(err, errno, "%s: cannot create the file", f->path);
	free(f->temp_path);
	f->temp_path = NULL;
	return base_sync_folder(f->path, err);
}

int base_outfile_descriptor(const struct base_outfile *f)
{
	return f->fd;
}

int base_outfile_finish(struct base_outfile *f, uint64_t *bytes, struct hdb_error *err)
{
	int r = flush(f, err);

	if (r == HDB_OK && f->options.packing == BASE_ZSTD)
		r = write_seek_table(f, err);
	if (r == HDB_OK)
		r = name_file(f, err);
	if (bytes)
		*bytes = f->bytes;
	base_outfile_abort(f);
	return r;
}

void base_outfile_abort(struct base_outfile *f)
{
	if (!f)
		return;
	if (f->temp_path)
		(void)unlink(f->temp_path);
	if (f->fd >= 0)
		(void)close(f->fd);
	libdeflate_free_compressor(f->deflate);
	(void)ZSTD_freeCCtx(f->zstd);
	base_vec_release(&f->seek);
	free(f->temp_path);
	free(f->block);
	free(f->packed);
	free(f);
}

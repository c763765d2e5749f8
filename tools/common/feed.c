/*
 * common/feed.c - implements feed.h.
 */
#include "common/feed.h"
#include "base/error.h"
#include "base/outfile.h"
#include "base/scope.h"
#include "common/library.h"

#include "base/try.h"
#include "base/work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Number of bytes unpacked per step. */
#define PIECE_BYTES (256u << 10)
/* Number of bytes needed to recognise a dump, plain or compressed. */
#define HEAD_BYTES 16
/*
 * Number of bytes in a pipe needed to recognise its format: the first block of zstd may be 128 KiB
 * long.
 */
#define FIRST_BYTES (256u << 10)
/* Interval between checks of the cancel flag while no data arrives. */
#define WAIT_MS 100
/*
 * Beyond this size, the unpacked data must not exceed RATIO_MAX times the archive, as in
 * base/unpack.c.
 */
#define BOMB_BYTES (8ull << 30)
#define RATIO_MAX 500u
#define PATH_BYTES 4096

struct feed {
	char path[32];    /* path of the pipe */
	const char *name; /* borrowed, as is progress */
	const struct hdb_progress *progress;
	pid_t fetch;                 /* process of the command, or 0 if none */
	int from_fd;                 /* input */
	bool is_pipe;                /* whether the input can only be read sequentially */
	uint64_t archive_bytes;      /* size of the archive, if the input is a file */
	char *first;                 /* first bytes of a pipe; owned */
	size_t first_size, first_at; /* size of `first`, and number of bytes consumed from it */
	char *block;                 /* buffer for libarchive, if the input is a pipe; owned */
	int read_fd;                 /* the reader's end of the pipe */
	int write_fd;                /* the thread's end of the pipe */
	const char *named;           /* file in the archive, borrowed; NULL means the first dump */
	struct archive *archive;
	bool is_running; /* whether the thread is running */
	pthread_t thread;
	uint64_t bytes; /* bytes unpacked or skipped */
	size_t head_size;
	char head[HEAD_BYTES];
	char archive_name[PATH_BYTES];
	char other[256];
	int result; /* result of the thread, and its message */
	struct hdb_error error;
};

/* ---- names ---- */

/* Returns the length of the archive suffix of a name of at most `size` bytes, or 0 if none. */
static size_t ending_size(const char *name, size_t size)
{
	static const char *const endings[] = { ".tar.gz",  ".tar.xz", ".tar.bz2", ".tar.zst",
					       ".tar.lz4", ".tgz",    ".tar",     ".zip",
					       ".xz",      ".bz2",    ".lz4" };

	for (size_t i = 0; i < BASE_COUNT(endings); i++) {
		const size_t n = strlen(endings[i]);

		if (size > n && memcmp(name + size - n, endings[i], n) == 0)
			return n;
	}
	return 0;
}

/* Returns the length of the archive's name in ARCHIVE!FILE, or of the whole name. */
static size_t archive_size(const char *name)
{
	for (const char *p = strchr(name, '!'); p; p = strchr(p + 1, '!'))
		if (ending_size(name, (size_t)(p - name)))
			return (size_t)(p - name);
	return strlen(name);
}

static bool is_address(const char *name)
{
	return strstr(name, "://") != NULL;
}

bool feed_is_archive(const char *name)
{
	const size_t size = archive_size(name), path = strcspn(name, "?#");

	return ending_size(name, is_address(name) && path < size ? path : size) > 0;
}

/* Returns whether the input can only be read sequentially: standard input, pipes, devices. */
static bool is_pipe(const char *name)
{
	struct stat st;

	return strcmp(name, "-") == 0 || strncmp(name, "/dev/stdin", 10) == 0 ||
	       strncmp(name, "/dev/fd/", 8) == 0 ||
	       (stat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/*
 * Returns whether the name refers to an archive, a file in an archive, a URL or a pipe, rather than
 * to a dump file.
 */
static bool takes(const char *name)
{
	return is_address(name) || feed_is_archive(name) || is_pipe(name);
}

bool feed_archive(const char *name, char *path, size_t size)
{
	struct stat st;
	const int n = snprintf(path, size, "%.*s", (int)archive_size(name), name);

	return feed_is_archive(name) && n > 0 && (size_t)n < size && stat(path, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

bool feed_is_same(const char *a, const char *b)
{
	char path[2][PATH_BYTES];

	return strcmp(a + archive_size(a), b + archive_size(b)) == 0 &&
	       feed_archive(a, path[0], PATH_BYTES) && feed_archive(b, path[1], PATH_BYTES) &&
	       base_is_same_file(path[0], path[1]);
}

/* Returns the name that a local copy of the dump would have. */
static int file_name(const char *name, char *out, size_t size, struct hdb_error *err)
{
	const size_t archive = archive_size(name);
	const char *file = name[archive] ? name + archive + 1 : name;
	const char *slash = strrchr(file, '/');
	size_t folder = 0, used;

	for (size_t i = 0; i < archive && !is_address(name); i++)
		folder = name[i] == '/' ? i + 1 : folder;
	file = slash ? slash + 1 : file;
	used = is_address(name) ? strcspn(file, "?#") : strlen(file);
	used -= ending_size(file, used);
	if ((size_t)snprintf(out, size, "%.*s%.*s", (int)folder, name, (int)used, file) < size)
		return HDB_OK;
	return hdb_fail(err, HDB_ELIMIT, "%s: file name too long", name);
}

int feed_default_path(const char *dump, char *out, size_t size, struct hdb_error *err)
{
	char name[PATH_BYTES];

	if (!takes(dump) || is_pipe(dump))
		return hdb_default_path(dump, out, size, err);
	TRY(file_name(dump, name, sizeof(name), err));
	return hdb_default_path(name, out, size, err);
}

bool feed_begins_dump(const char *head, size_t size)
{
	static const struct {
		const char *magic;
		size_t size;
	} kinds[] = { { "JAVA PROFILE ", 13 },
		      { "\x00\x12portable heap ", 16 },
		      { "\x1f\x8b\x08", 3 },
		      { "\x28\xb5\x2f\xfd", 4 } };

	for (size_t i = 0; i < BASE_COUNT(kinds); i++)
		if (size >= kinds[i].size && memcmp(head, kinds[i].magic, kinds[i].size) == 0)
			return true;
	/* pzstd writes a skippable frame before each frame. */
	return size >= 4 && (head[0] & 0xf0) == 0x50 && memcmp(head + 1, "\x2a\x4d\x18", 3) == 0;
}

/* Returns whether the data begins with a packet of a Perfetto trace. */
static bool begins_trace(const char *head, size_t size)
{
	return size > 1 && head[0] == '\n';
}

/* ---- input ---- */

static int check_cancel(const struct feed *f, struct hdb_error *err)
{
	return base_flag_is_set(f->progress->cancel) ? hdb_fail(err, HDB_EINTR, "interrupted") :
						       HDB_OK;
}

/*
 * Reads available bytes from the pipe. Returns 0 at its end, or a negative code on failure or
 * cancellation.
 */
static ssize_t read_pipe(struct feed *f, char *to, size_t size)
{
	struct pollfd poller = { .fd = f->from_fd, .events = POLLIN };

	for (;;) {
		ssize_t n;

		if (check_cancel(f, NULL) < 0)
			return -1;
		n = poll(&poller, 1, WAIT_MS);
		if (n == 0 || (n < 0 && errno == EINTR))
			continue;
		n = read(f->from_fd, to, size);
		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			return n;
	}
}

static int fail_pipe(const struct feed *f, struct hdb_error *err)
{
	const int e = errno;

	TRY(check_cancel(f, err));
	return hdb_fail(err, HDB_EIO, "%s: cannot read: %s", f->name, strerror(e));
}

/* Reads the first bytes of the pipe, and stores them for the next reader of the pipe. */
static int read_first(struct feed *f, struct hdb_error *err)
{
	TRY(BASE_ALLOC(f->first, FIRST_BYTES, "a pipe", err));
	TRY(BASE_ALLOC(f->block, PIECE_BYTES, "a pipe", err));
	while (f->first_size < FIRST_BYTES) {
		const ssize_t n =
			read_pipe(f, f->first + f->first_size, FIRST_BYTES - f->first_size);

		if (n < 0)
			return fail_pipe(f, err);
		if (n == 0)
			break;
		f->first_size += (size_t)n;
	}
	return HDB_OK;
}

/* Returns the next bytes of the pipe, 0 at its end, or a negative value as read_pipe does. */
static ssize_t next_bytes(struct feed *f, const char **out)
{
	const size_t first = f->first_size - f->first_at;

	*out = first ? f->first + f->first_at : f->block;
	f->first_at = f->first_size;
	return first ? (ssize_t)first : read_pipe(f, f->block, PIECE_BYTES);
}

/* Writes to the reader. Returns HDB_END if the reader has closed its end. */
static int write_out(struct feed *f, const char *bytes, size_t size, struct hdb_error *err)
{
	if (base_write_all(f->write_fd, bytes, size))
		return HDB_OK;
	return errno == EPIPE ?
		       HDB_END :
		       hdb_fail(err, HDB_EIO, "%s: cannot pass on the data that was read: %s",
				f->name, strerror(errno));
}

/* Copies the rest of the pipe unchanged. */
static int copy_all(struct feed *f, struct hdb_error *err)
{
	const char *bytes;
	ssize_t n;

	while ((n = next_bytes(f, &bytes)) > 0)
		TRY(write_out(f, bytes, (size_t)n, err));
	return n < 0 ? fail_pipe(f, err) : HDB_OK;
}

/* ---- archives ---- */

#ifdef HAVE_ARCHIVE

#include <archive.h>
#include <archive_entry.h>

#ifdef ARCHIVE_LIBRARY
#define ARCHIVE_FUNCTIONS(X) \
	X(archive_read_new) \
	X(archive_read_support_filter_by_code) \
	X(archive_read_support_format_by_code) \
	X(archive_read_open) \
	X(archive_read_open_fd) \
	X(archive_read_open_memory) \
	X(archive_read_next_header) \
	X(archive_read_data) \
	X(archive_read_data_block) \
	X(archive_read_free) \
	X(archive_error_string) \
	X(archive_filter_bytes) \
	X(archive_filter_code) \
	X(archive_format) \
	X(archive_entry_pathname) \
	X(archive_entry_size) \
	X(archive_entry_size_is_set) \
	X(archive_entry_filetype)

static struct {
#define X(name) __typeof__(name) *(name);
	ARCHIVE_FUNCTIONS(X)
#undef X
} library;

#define archive_read_new library.archive_read_new
#define archive_read_support_filter_by_code library.archive_read_support_filter_by_code
#define archive_read_support_format_by_code library.archive_read_support_format_by_code
#define archive_read_open library.archive_read_open
#define archive_read_open_fd library.archive_read_open_fd
#define archive_read_open_memory library.archive_read_open_memory
#define archive_read_next_header library.archive_read_next_header
#define archive_read_data library.archive_read_data
#define archive_read_data_block library.archive_read_data_block
#define archive_read_free library.archive_read_free
#define archive_error_string library.archive_error_string
#define archive_filter_bytes library.archive_filter_bytes
#define archive_filter_code library.archive_filter_code
#define archive_format library.archive_format
#define archive_entry_pathname library.archive_entry_pathname
#define archive_entry_size library.archive_entry_size
#define archive_entry_size_is_set library.archive_entry_size_is_set
#define archive_entry_filetype library.archive_entry_filetype
#endif

#ifdef ARCHIVE_LIBRARY
static struct hdb_error load_error;

static void load_once(void)
{
	static const struct library_function functions[] = {
#define X(name) { #name, &(name) },
		ARCHIVE_FUNCTIONS(X)
#undef X
	};

	(void)library_load(LIBRARY_QUOTED(ARCHIVE_LIBRARY), functions, BASE_COUNT(functions),
			   &load_error);
}
#endif

/*
 * Loads the library on first use. Thread-safe, because Python and `mcp` read archives on several
 * threads.
 */
static int load(struct hdb_error *err)
{
#ifdef ARCHIVE_LIBRARY
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, load_once);
	if (load_error.code != HDB_OK && err)
		*err = load_error;
	return load_error.code;
#else
	(void)err;
	return HDB_OK;
#endif
}

static int fail_archive(const struct feed *f, struct hdb_error *err)
{
	const char *why = archive_error_string(f->archive);

	TRY(check_cancel(f, err));
	return hdb_fail(err, HDB_EFORMAT, "%s: %s", f->archive_name, why ? why : "is damaged");
}

static la_ssize_t on_read(struct archive *archive, void *ctx, const void **out)
{
	const char *bytes;
	const ssize_t n = next_bytes(ctx, &bytes);

	(void)archive;
	*out = bytes;
	return n;
}

/* Enables all formats and filters that do not run other programs. */
static struct archive *make_archive(void)
{
	static const int filters[] = { ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ,
				       ARCHIVE_FILTER_LZ4, ARCHIVE_FILTER_ZSTD };
	static const int formats[] = { ARCHIVE_FORMAT_TAR, ARCHIVE_FORMAT_ZIP, ARCHIVE_FORMAT_RAW };
	struct archive *archive = archive_read_new();

	for (size_t i = 0; archive && i < BASE_COUNT(filters); i++)
		(void)archive_read_support_filter_by_code(archive, filters[i]);
	for (size_t i = 0; archive && i < BASE_COUNT(formats); i++)
		(void)archive_read_support_format_by_code(archive, formats[i]);
	return archive;
}

static int open_archive(struct feed *f, struct hdb_error *err)
{
	int r;

	TRY(load(err));
	f->archive = make_archive();
	if (!f->archive)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for an archive");
	r = f->is_pipe ? archive_read_open(f->archive, f, NULL, on_read, NULL) :
			 archive_read_open_fd(f->archive, f->from_fd, PIECE_BYTES);
	return r == ARCHIVE_OK ? HDB_OK : fail_archive(f, err);
}

/*
 * Returns whether the bytes begin an archive or a compression format that only libarchive reads:
 * .zip, .xz, .bz2, .lz4.
 */
static bool begins_packed(const char *head, size_t size)
{
	static const char *const magics[] = { "PK\3\4", "\3757zXZ", "BZh", "\x04\x22\x4d\x18" };

	for (size_t i = 0; i < BASE_COUNT(magics); i++)
		if (size > strlen(magics[i]) && memcmp(head, magics[i], strlen(magics[i])) == 0)
			return true;
	return false;
}

/*
 * Recognises an archive, or a compression format that only libarchive reads, in the first bytes of
 * a pipe. Otherwise, sets *head to the first bytes after decompression.
 */
static bool is_archive_inside(const struct feed *f, char *head, size_t *head_size)
{
	struct archive *archive = load(NULL) == HDB_OK ? make_archive() : NULL;
	bool is_inside = begins_packed(f->first, f->first_size);
	struct archive_entry *entry;

	if (archive && !is_inside &&
	    archive_read_open_memory(archive, f->first, f->first_size) == ARCHIVE_OK &&
	    archive_read_next_header(archive, &entry) >= ARCHIVE_WARN) {
		is_inside = archive_format(archive) != ARCHIVE_FORMAT_RAW;
		if (!is_inside) {
			const la_ssize_t n = archive_read_data(archive, head, HEAD_BYTES);

			*head_size = n > 0 ? (size_t)n : 0;
		}
	}
	if (archive)
		archive_read_free(archive);
	return is_inside;
}

/*
 * Counts unpacked and skipped bytes, and the announced size of an entry. One limit applies to the
 * whole archive.
 */
static int count_bytes(struct feed *f, uint64_t size, uint64_t announced, struct hdb_error *err)
{
	const uint64_t packed = f->archive_bytes ? f->archive_bytes :
						   (uint64_t)archive_filter_bytes(f->archive, -1);

	TRY(check_cancel(f, err));
	f->bytes += size;
	if (f->bytes + announced <= BOMB_BYTES || (f->bytes + announced) / RATIO_MAX <= packed)
		return HDB_OK;
	return hdb_fail(err, HDB_ELIMIT,
			"%s: decompressed size is implausibly large (more than %u times the "
			"file size)",
			f->archive_name, RATIO_MAX);
}

/* Returns whether skipped entries must be read because the input cannot seek. */
static bool is_read_through(const struct feed *f)
{
	return f->is_pipe || archive_filter_code(f->archive, 0) != ARCHIVE_FILTER_NONE;
}

/* Checks the announced size of an entry before reading it. */
static int check_size(struct feed *f, struct archive_entry *entry, struct hdb_error *err)
{
	const int64_t size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;

	return count_bytes(f, 0, f->archive_bytes && size > 0 ? (uint64_t)size : 0, err);
}

/*
 * Skips the rest of an entry in steps that check the cancel flag. libarchive's own function does
 * not check it.
 */
static int pass_entry(struct feed *f, struct hdb_error *err)
{
	const void *bytes;
	size_t size;
	la_int64_t offset;
	int r;

	if (!is_read_through(f))
		return check_cancel(f, err);
	while ((r = archive_read_data_block(f->archive, &bytes, &size, &offset)) == ARCHIVE_OK)
		TRY(count_bytes(f, size, 0, err));
	return r == ARCHIVE_FATAL ? fail_archive(f, err) : HDB_OK;
}

/*
 * Advances to the next matching file and reads its head. Returns HDB_END if no further file
 * matches.
 */
static int next_dump(struct feed *f, const char **name, struct hdb_error *err)
{
	struct archive_entry *entry;
	int r;

	while ((r = archive_read_next_header(f->archive, &entry)) != ARCHIVE_EOF) {
		la_ssize_t n = 0;

		TRY(check_cancel(f, err));
		if (r < ARCHIVE_WARN)
			return fail_archive(f, err);
		*name = archive_entry_pathname(entry);
		if (is_read_through(f))
			TRY(check_size(f, entry, err));
		if (!*name || (archive_entry_filetype(entry) & AE_IFMT) == AE_IFDIR ||
		    (f->named && strcmp(f->named, *name) != 0)) {
			TRY(pass_entry(f, err));
			continue;
		}
		f->head_size = 0;
		while (f->head_size < HEAD_BYTES &&
		       (n = archive_read_data(f->archive, f->head + f->head_size,
					      HEAD_BYTES - f->head_size)) > 0)
			f->head_size += (size_t)n;
		if (n < 0)
			return fail_archive(f, err);
		if (f->named || feed_begins_dump(f->head, f->head_size) ||
		    (archive_format(f->archive) == ARCHIVE_FORMAT_RAW &&
		     begins_trace(f->head, f->head_size)))
			return check_size(f, entry, err);
		TRY(pass_entry(f, err));
	}
	return HDB_END;
}

static int find_dump(struct feed *f, struct hdb_error *err)
{
	const char *name;
	int r;

	TRY(open_archive(f, err));
	r = next_dump(f, &name, err);
	if (r == HDB_END)
		return f->named ? hdb_fail(err, HDB_EABSENT, "%s: no file %s in this archive",
					   f->archive_name, f->named) :
				  hdb_fail(err, HDB_EFORMAT, "%s: contains no heap dump",
					   f->archive_name);
	return r;
}

static int unpack(struct feed *f, struct hdb_error *err)
{
	BASE_FREED char *piece = NULL;
	la_ssize_t n;

	TRY(BASE_ALLOC(piece, PIECE_BYTES, "an archive", err));
	TRY(write_out(f, f->head, f->head_size, err));
	while ((n = archive_read_data(f->archive, piece, PIECE_BYTES)) > 0) {
		TRY(write_out(f, piece, (size_t)n, err));
		TRY(count_bytes(f, (uint64_t)n, 0, err));
	}
	return n < 0 ? fail_archive(f, err) : HDB_OK;
}

static void find_other(struct feed *f)
{
	const char *name;

	if (!f->named && next_dump(f, &name, &f->error) == HDB_OK)
		snprintf(f->other, sizeof(f->other), "%s", name);
}

static void close_archive(struct feed *f)
{
	if (f->archive)
		archive_read_free(f->archive);
}

#else

static int find_dump(struct feed *f, struct hdb_error *err)
{
	return hdb_fail(err, HDB_EUSAGE,
			"%s: this heapdb was built without libarchive: unpack the "
			"file first",
			f->archive_name);
}

static bool is_archive_inside(const struct feed *f, char *head, size_t *head_size)
{
	(void)f;
	(void)head;
	(void)head_size;
	return false;
}

static int unpack(struct feed *f, struct hdb_error *err)
{
	return find_dump(f, err);
}

static void find_other(struct feed *f)
{
	(void)f;
}

static void close_archive(struct feed *f)
{
	(void)f;
}

#endif

/* ---- output to the reader ---- */

static int put_all(struct feed *f, struct hdb_error *err)
{
	return f->archive ? unpack(f, err) : copy_all(f, err);
}

static void *run(void *arg)
{
	struct feed *f = arg;

	f->result = put_all(f, &f->error);
	close(f->write_fd);
	if (f->result == HDB_OK && f->archive)
		find_other(f);
	return NULL;
}

/* Starts the thread that feeds a pipe. */
static int start_thread(struct feed *f, struct hdb_error *err)
{
	int ends[2], e;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return hdb_fail(err, HDB_EIO, "pipe: %s", strerror(errno));
	f->read_fd = ends[0];
	f->write_fd = ends[1];
	e = pthread_create(&f->thread, NULL, run, f);
	f->is_running = e == 0;
	if (e) {
		close(f->write_fd);
		return hdb_fail(err, HDB_ENOMEM, "thread: %s", strerror(e));
	}
	return HDB_OK;
}

/* Unpacks into an unlinked file, because a trace requires random access. */
static int spool(struct feed *f, struct hdb_error *err)
{
	struct base_work work;
	int r;

	base_work_init(&work, 0, 1, NULL);
	work.scratch_dir = work.tmp_dir;
	r = base_scratch_file(&work, &f->write_fd, err);
	base_work_release(&work);
	TRY(r);
	f->read_fd = f->write_fd;
	return put_all(f, err);
}

/* Recognises the input, finds the dump in an archive, and starts feeding it to the reader. */
static int begin(struct feed *f, const char *name, struct hdb_error *err)
{
	char head[HEAD_BYTES];
	size_t head_size = 0;
	bool is_packed = feed_is_archive(name);

	if (f->is_pipe) {
		TRY(read_first(f, err));
		head_size = f->first_size < HEAD_BYTES ? f->first_size : HEAD_BYTES;
		memcpy(head, f->first, head_size);
		is_packed |= is_archive_inside(f, head, &head_size);
	}
	if (is_packed) {
		TRY(find_dump(f, err));
		head_size = f->head_size;
		memcpy(head, f->head, head_size);
	}
	return begins_trace(head, head_size) ? spool(f, err) : start_thread(f, err);
}

/* ---- commands ---- */

/*
 * Returns the command with {} replaced by "$1", so that the shell never parses the name as code.
 * Returns NULL if {} is inside quotes, where the replacement would not be safe.
 */
static char *command_of(const char *fetch, struct hdb_error *err)
{
	char *text = NULL;
	size_t size, count = 0;
	FILE *out = open_memstream(&text, &size);
	bool is_quoted = false;
	char quote = 0;

	for (const char *p = fetch; out && *p; p++) {
		if (strncmp(p, "{}", 2) == 0) {
			is_quoted |= quote != 0;
			count++;
			fputs("\"$1\"", out);
			p++;
			continue;
		}
		if (quote ? *p == quote : strchr("'\"`", *p) != NULL)
			quote = quote ? 0 : *p;
		fputc(*p, out);
		if (*p == '\\' && quote != '\'' && p[1])
			fputc(*++p, out);
	}
	if (!out || fclose(out) != 0) {
		hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a command");
	} else if (is_quoted) {
		hdb_fail(err, HDB_EUSAGE,
			 "--fetch %s: write {} without quotes: heapdb quotes the name itself, "
			 "and additional quotes would let the shell execute parts of the name",
			 fetch);
	} else if (!count) {
		hdb_fail(err, HDB_EUSAGE,
			 "--fetch %s: missing {}, which stands for the name of the dump, as in "
			 "'curl -sSf {}'",
			 fetch);
	} else {
		return text;
	}
	free(text);
	return NULL;
}

static int spawn(struct feed *f, char *command, int to_fd)
{
	static char sh[] = "sh", option[] = "-c";
	char *const arguments[] = { sh, option, command, sh, f->archive_name, NULL };
	posix_spawn_file_actions_t actions;
	int e = posix_spawn_file_actions_init(&actions);

	if (e)
		return e;
	e = posix_spawn_file_actions_adddup2(&actions, to_fd, STDOUT_FILENO);
	if (!e)
		e = posix_spawn(&f->fetch, "/bin/sh", &actions, NULL, arguments, environ);
	f->fetch = e ? 0 : f->fetch;
	(void)posix_spawn_file_actions_destroy(&actions);
	return e;
}

static int start_fetch(struct feed *f, const char *fetch, struct hdb_error *err)
{
	char *command;
	int ends[2], e;

	if (f->archive_name[0] == '-')
		return hdb_fail(err, HDB_EUSAGE,
				"%s: the name begins with -, so the --fetch command could treat "
				"it as an option",
				f->archive_name);
	command = command_of(fetch, err);
	if (!command)
		return err->code;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		free(command);
		return hdb_fail(err, HDB_EIO, "pipe: %s", strerror(errno));
	}
	e = spawn(f, command, ends[1]);
	free(command);
	close(ends[1]);
	f->from_fd = ends[0];
	return e ? hdb_fail(err, HDB_EIO, "sh: %s", strerror(e)) : HDB_OK;
}

/* ---- archives and commands ---- */

/* Opens the input: the output of the command `fetch`, or the file `name`. */
static int open_input(struct feed *f, const char *name, const char *fetch, struct hdb_error *err)
{
	struct stat st;

	f->is_pipe = fetch || is_pipe(name);
	if (fetch)
		return start_fetch(f, fetch, err);
	if (is_address(name))
		return hdb_fail(err, HDB_EUSAGE,
				"%s: heapdb does not open network connections; give a command "
				"that writes the dump to standard output: --fetch '%s'",
				name, strncmp(name, "s3:", 3) ? "curl -sSf {}" : "aws s3 cp {} -");
	f->from_fd = strcmp(name, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) :
					      open(f->archive_name, O_RDONLY | O_CLOEXEC);
	if (f->from_fd < 0)
		return hdb_fail(err, errno == ENOENT ? HDB_EABSENT : HDB_EIO, "%s: %s",
				f->archive_name, strerror(errno));
	if (!f->is_pipe && fstat(f->from_fd, &st) == 0)
		f->archive_bytes = (uint64_t)st.st_size;
	return HDB_OK;
}

/*
 * Starts reading. In an archive, selects the named file, or the first file that begins like a dump.
 * The caller must pass *out to finish, even after an error.
 */
static int start(const char *name, const char *fetch, const struct hdb_progress *progress,
		 struct feed **out, struct hdb_error *err)
{
	const size_t size = archive_size(name);
	struct feed *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a pipe");
	f->from_fd = f->read_fd = f->write_fd = -1;
	f->progress = progress;
	f->name = strcmp(name, "-") == 0 ? "standard input" : name;
	f->named = name[size] ? name + size + 1 : NULL;
	if ((size_t)snprintf(f->archive_name, sizeof(f->archive_name), "%.*s", (int)size, name) >=
	    sizeof(f->archive_name))
		return hdb_fail(err, HDB_ELIMIT, "%s: file name too long", name);
	TRY(open_input(f, name, fetch, err));
	TRY(begin(f, name, err));
	snprintf(f->path, sizeof(f->path), "/dev/fd/%d", f->read_fd);
	return HDB_OK;
}

/* Waits for the command. Its exit code is ignored unless its pipe was read to the end. */
static int end_fetch(struct feed *f, bool is_read, struct hdb_error *err)
{
	int status = 0;

	close(f->from_fd);
	if (check_cancel(f, NULL) < 0)
		(void)kill(f->fetch, SIGTERM);
	while (waitpid(f->fetch, &status, 0) < 0 && errno == EINTR)
		if (check_cancel(f, NULL) < 0)
			(void)kill(f->fetch, SIGTERM);
	if (status == 0 || !is_read)
		return HDB_OK;
	return hdb_fail(err, HDB_EIO, "%s: the --fetch command failed (%s %d)", f->archive_name,
			WIFSIGNALED(status) ? "signal" : "exit code",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/*
 * Waits for the thread and the command to end. Returns HDB_OK, HDB_END if the archive is damaged
 * but earlier data is usable, or a negative code if no data is usable. After HDB_END or a failure,
 * *err has the message.
 */
static int finish(struct feed *f, struct hdb_error *err)
{
	int r = HDB_OK;

	if (f->read_fd >= 0)
		close(f->read_fd);
	if (f->is_running) {
		(void)pthread_join(f->thread, NULL);
		r = f->result == HDB_EFORMAT ? HDB_END : f->result == HDB_END ? HDB_OK : f->result;
		if (r != HDB_OK)
			*err = f->error;
	}
	close_archive(f);
	if (f->fetch) {
		struct hdb_error ended;
		const int fetched = end_fetch(f, r >= 0 && f->result != HDB_END, &ended);

		if (fetched < 0) {
			*err = ended;
			r = fetched;
		}
	} else if (f->from_fd >= 0) {
		close(f->from_fd);
	}
	free(f->first);
	free(f->block);
	return r;
}

/*
 * In the reader's message, replaces the path of the pipe with the dump's name, and adds the reason
 * why the input ended early.
 */
static int fail_read(const struct feed *f, int rc, const char *why, struct hdb_error *err)
{
	const struct hdb_error read = *err;
	const size_t size = strlen(f->path);
	const bool names_pipe = strncmp(read.message, f->path, size) == 0;

	return hdb_fail(err, rc, "%s%s%s%s", names_pipe ? f->name : "",
			read.message + (names_pipe ? size : 0), why[0] ? "; " : "", why);
}

static void notice(const struct hdb_progress *progress, const char *before, const char *after)
{
	char line[1024];

	if (!progress->notice)
		return;
	snprintf(line, sizeof(line), "%s%s", before, after);
	progress->notice(progress->ctx, line);
}

int feed_open(const char *name, const char *fetch, const struct hdb_progress *progress,
	      struct feed **out, struct hdb_error *err)
{
	struct hdb_error dropped;
	int rc;

	*out = NULL;
	if (!fetch && (!takes(name) || (strcmp(name, "-") == 0 && isatty(STDIN_FILENO))))
		return HDB_OK;
	rc = start(name, fetch, progress, out, err);
	if (rc != HDB_OK && *out)
		(void)finish(*out, &dropped);
	if (rc != HDB_OK) {
		free(*out);
		*out = NULL;
	}
	return rc;
}

const char *feed_path(const struct feed *f, const char *name)
{
	return f ? f->path : name;
}

/*
 * An error of the feed overrides the reader's success: a database made from a partial dump would
 * look complete.
 */
int feed_close(struct feed *f, int rc, const char *made, struct hdb_error *err)
{
	struct hdb_error why = { 0 };
	struct stat st;
	int fed;

	if (!f)
		return rc;
	fed = finish(f, &why);
	if (rc < 0) {
		rc = fail_read(f, rc, fed != HDB_OK ? why.message : "", err);
	} else if (fed < 0) {
		if (strcmp(made, "-") != 0 && lstat(made, &st) == 0 && S_ISREG(st.st_mode))
			(void)unlink(made);
		*err = why;
		rc = fed;
	} else {
		if (f->other[0])
			notice(f->progress,
			       "the archive contains another dump; to import that dump, use "
			       "ARCHIVE!",
			       f->other);
		if (fed == HDB_END)
			notice(f->progress, why.message,
			       "; heapdb read the data before this "
			       "position");
	}
	free(f);
	return rc;
}

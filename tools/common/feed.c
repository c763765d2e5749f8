/*
 * common/feed.c - see feed.h.
 */
#include "common/feed.h"
#include "common/fail.h"
#include "common/library.h"

#include "base/try.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes that are unpacked at a time. */
#define PIECE_BYTES (256u << 10)
/* What tells a dump, plain or compressed. */
#define HEAD_BYTES 16
/* What unpacks to more must not be RATIO_MAX times as large as the archive: as base/unpack.c. */
#define BOMB_BYTES (8ull << 30)
#define RATIO_MAX 500u
#define PATH_BYTES 4096

struct feed {
	char path[32];    /* of the pipe */
	const char *name; /* lent, as is progress */
	const struct hdb_progress *progress;
	FILE *fetch;       /* the command, or NULL */
	int from_fd;       /* the archive; -1: none, the command's output is the dump */
	int read_fd;       /* what the dump is read from */
	int write_fd;      /* of the thread */
	const char *named; /* file in the archive, lent; NULL: any */
	struct archive *archive;
	bool is_running; /* the thread */
	pthread_t thread;
	uint64_t bytes; /* unpacked */
	size_t head_size;
	char head[HEAD_BYTES];
	char archive_name[PATH_BYTES];
	char other[256];
	int result; /* the thread's, and its message */
	struct hdb_error error;
};

/* ---- names ---- */

/* Bytes of an archive's ending that the name has, up to `size`; 0: it has none. */
static size_t ending_size(const char *name, size_t size)
{
	static const char *const endings[] = { ".tar.gz",  ".tar.xz", ".tar.bz2", ".tar.zst",
					       ".tar.lz4", ".tgz",    ".tar",     ".zip",
					       ".xz",      ".bz2",    ".lz4" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const size_t n = strlen(endings[i]);

		if (size > n && memcmp(name + size - n, endings[i], n) == 0)
			return n;
	}
	return 0;
}

/* The bytes of the archive's name in ARCHIVE!FILE, or all. */
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

static bool is_archive(const char *name)
{
	const size_t size = archive_size(name), path = strcspn(name, "?#");

	return ending_size(name, is_address(name) && path < size ? path : size) > 0;
}

/* Whether it names an archive, a file in one, or an address: what is no dump itself. */
static bool takes(const char *name)
{
	return is_address(name) || is_archive(name);
}

bool feed_archive(const char *name, char *path, size_t size)
{
	struct stat st;
	const int n = snprintf(path, size, "%.*s", (int)archive_size(name), name);

	return is_archive(name) && n > 0 && (size_t)n < size && stat(path, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

bool feed_is_same(const char *a, const char *b)
{
	char path[2][PATH_BYTES];
	struct stat x, y;

	return strcmp(a + archive_size(a), b + archive_size(b)) == 0 &&
	       feed_archive(a, path[0], PATH_BYTES) && feed_archive(b, path[1], PATH_BYTES) &&
	       stat(path[0], &x) == 0 && stat(path[1], &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* What the dump would be called as a file here. */
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
	return door_fail(err, HDB_ELIMIT, "%s: file name too long", name);
}

int feed_default_path(const char *dump, char *out, size_t size, struct hdb_error *err)
{
	char name[PATH_BYTES];

	if (!takes(dump))
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

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (size >= kinds[i].size && memcmp(head, kinds[i].magic, kinds[i].size) == 0)
			return true;
	/* What pzstd writes before each frame. */
	return size >= 4 && (head[0] & 0xf0) == 0x50 && memcmp(head + 1, "\x2a\x4d\x18", 3) == 0;
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
	X(archive_read_open_fd) \
	X(archive_read_next_header) \
	X(archive_read_data) \
	X(archive_read_free) \
	X(archive_error_string) \
	X(archive_filter_bytes) \
	X(archive_entry_pathname) \
	X(archive_entry_filetype)

static struct {
#define X(name) __typeof__(name) *(name);
	ARCHIVE_FUNCTIONS(X)
#undef X
} library;

#define archive_read_new library.archive_read_new
#define archive_read_support_filter_by_code library.archive_read_support_filter_by_code
#define archive_read_support_format_by_code library.archive_read_support_format_by_code
#define archive_read_open_fd library.archive_read_open_fd
#define archive_read_next_header library.archive_read_next_header
#define archive_read_data library.archive_read_data
#define archive_read_free library.archive_read_free
#define archive_error_string library.archive_error_string
#define archive_filter_bytes library.archive_filter_bytes
#define archive_entry_pathname library.archive_entry_pathname
#define archive_entry_filetype library.archive_entry_filetype
#endif

static int load(struct hdb_error *err)
{
#ifdef ARCHIVE_LIBRARY
	static const struct library_function functions[] = {
#define X(name) { #name, &(name) },
		ARCHIVE_FUNCTIONS(X)
#undef X
	};

	return library_load(LIBRARY_QUOTED(ARCHIVE_LIBRARY), functions,
			    sizeof(functions) / sizeof(functions[0]), err);
#else
	(void)err;
	return HDB_OK;
#endif
}

static int fail_archive(const struct feed *f, struct hdb_error *err)
{
	const char *why = archive_error_string(f->archive);

	return door_fail(err, HDB_EFORMAT, "%s: %s", f->archive_name, why ? why : "is damaged");
}

/* Nothing that runs other programs. */
static int open_archive(struct feed *f, struct hdb_error *err)
{
	static const int filters[] = { ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ,
				       ARCHIVE_FILTER_LZ4, ARCHIVE_FILTER_ZSTD };
	static const int formats[] = { ARCHIVE_FORMAT_TAR, ARCHIVE_FORMAT_ZIP, ARCHIVE_FORMAT_RAW };

	TRY(load(err));
	f->archive = archive_read_new();
	if (!f->archive)
		return door_fail(err, HDB_ENOMEM, "no memory for an archive");
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		(void)archive_read_support_filter_by_code(f->archive, filters[i]);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		(void)archive_read_support_format_by_code(f->archive, formats[i]);
	return archive_read_open_fd(f->archive, f->from_fd, PIECE_BYTES) == ARCHIVE_OK ?
		       HDB_OK :
		       fail_archive(f, err);
}

/* Goes to the next file that is asked for, and reads its head; HDB_END: there is none. */
static int next_dump(struct feed *f, const char **name, struct hdb_error *err)
{
	struct archive_entry *entry;
	int r;

	while ((r = archive_read_next_header(f->archive, &entry)) != ARCHIVE_EOF) {
		la_ssize_t n = 0;

		if (f->progress->cancel && *f->progress->cancel)
			return door_fail(err, HDB_EINTR, "interrupted");
		if (r < ARCHIVE_WARN)
			return fail_archive(f, err);
		*name = archive_entry_pathname(entry);
		if (!*name || (archive_entry_filetype(entry) & AE_IFMT) == AE_IFDIR ||
		    (f->named && strcmp(f->named, *name) != 0))
			continue;
		f->head_size = 0;
		while (f->head_size < HEAD_BYTES &&
		       (n = archive_read_data(f->archive, f->head + f->head_size,
					      HEAD_BYTES - f->head_size)) > 0)
			f->head_size += (size_t)n;
		if (n < 0)
			return fail_archive(f, err);
		if (f->named || feed_begins_dump(f->head, f->head_size))
			return HDB_OK;
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
		return f->named ?
			       door_fail(err, HDB_EABSENT, "%s: has no file %s", f->archive_name,
					 f->named) :
			       door_fail(err, HDB_EFORMAT, "%s: has no heap dump", f->archive_name);
	return r;
}

/* HDB_END: the reader has left. */
static int write_out(struct feed *f, const char *bytes, size_t size, struct hdb_error *err)
{
	while (size) {
		const ssize_t n = write(f->write_fd, bytes, size);

		if (n < 0 && errno == EPIPE)
			return HDB_END;
		if (n < 0 && errno != EINTR)
			return door_fail(err, HDB_EIO, "pipe: %s", strerror(errno));
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return HDB_OK;
}

static int unpack_dump(struct feed *f, char *piece, struct hdb_error *err)
{
	la_ssize_t n;

	TRY(write_out(f, f->head, f->head_size, err));
	while ((n = archive_read_data(f->archive, piece, PIECE_BYTES)) > 0) {
		int r = write_out(f, piece, (size_t)n, err);

		TRY(r);
		f->bytes += (uint64_t)n;
		if (f->bytes > BOMB_BYTES &&
		    f->bytes / RATIO_MAX > (uint64_t)archive_filter_bytes(f->archive, -1))
			return door_fail(
				err, HDB_ELIMIT,
				"%s: unpacks to more than %u times its size, which no heap "
				"does",
				f->archive_name, RATIO_MAX);
	}
	return n < 0 ? fail_archive(f, err) : HDB_OK;
}

static void *run(void *arg)
{
	struct feed *f = arg;
	char *piece = malloc(PIECE_BYTES);
	const char *name;

	f->result = piece ? unpack_dump(f, piece, &f->error) :
			    door_fail(&f->error, HDB_ENOMEM, "no memory to unpack");
	free(piece);
	close(f->write_fd);
	if (f->result == HDB_OK && !f->named && next_dump(f, &name, &f->error) == HDB_OK)
		snprintf(f->other, sizeof(f->other), "%s", name);
	return NULL;
}

static void close_archive(struct feed *f)
{
	if (f->archive)
		archive_read_free(f->archive);
}

#else

static int find_dump(struct feed *f, struct hdb_error *err)
{
	return door_fail(err, HDB_EUSAGE, "%s: this heapdb was built without libarchive: unpack it",
			 f->archive_name);
}

static void *run(void *arg)
{
	return arg;
}

static void close_archive(struct feed *f)
{
	(void)f;
}

#endif

static int unpack(struct feed *f, struct hdb_error *err)
{
	int ends[2], e;

	TRY(find_dump(f, err));
	if (pipe2(ends, O_CLOEXEC) < 0)
		return door_fail(err, HDB_EIO, "pipe: %s", strerror(errno));
	f->read_fd = ends[0];
	f->write_fd = ends[1];
	e = pthread_create(&f->thread, NULL, run, f);
	f->is_running = e == 0;
	if (e) {
		close(f->write_fd);
		return door_fail(err, HDB_ENOMEM, "thread: %s", strerror(e));
	}
	return HDB_OK;
}

/* ---- commands ---- */

/* The command with the name in place of {}, as one word for the shell. */
static char *command_of(const char *fetch, const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (const char *p = fetch; *p; p++) {
		if (strncmp(p, "{}", 2) != 0) {
			fputc(*p, out);
			continue;
		}
		p++;
		fputc('\'', out);
		for (const char *n = name; *n; n++)
			fputs(*n == '\'' ? "'\\''" : (char[]){ *n, 0 }, out);
		fputc('\'', out);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static int start_fetch(struct feed *f, const char *fetch, struct hdb_error *err)
{
	char *command;

	if (!strstr(fetch, "{}"))
		return door_fail(err, HDB_EUSAGE,
				 "--fetch %s: say where the name goes, as in 'curl -sSf {}'",
				 fetch);
	command = command_of(fetch, f->archive_name);
	if (!command)
		return door_fail(err, HDB_ENOMEM, "no memory for a command");
	f->fetch = popen(command, "r"); /* NOLINT(cert-env33-c): the user's own command */
	free(command);
	if (!f->fetch)
		return door_fail(err, HDB_EIO, "sh: %s", strerror(errno));
	f->from_fd = fileno(f->fetch);
	return HDB_OK;
}

/* ---- both ---- */

/*
 * Begins to read: of an archive the file that is named, or the first that begins as a dump. In any
 * case *out is owned: finish.
 */
static int start(const char *name, const char *fetch, const struct hdb_progress *progress,
		 struct feed **out, struct hdb_error *err)
{
	const size_t size = archive_size(name);
	struct feed *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return door_fail(err, HDB_ENOMEM, "no memory for a pipe");
	f->from_fd = f->read_fd = f->write_fd = -1;
	f->progress = progress;
	f->name = name;
	f->named = name[size] ? name + size + 1 : NULL;
	if ((size_t)snprintf(f->archive_name, sizeof(f->archive_name), "%.*s", (int)size, name) >=
	    sizeof(f->archive_name))
		return door_fail(err, HDB_ELIMIT, "%s: file name too long", name);
	if (fetch)
		TRY(start_fetch(f, fetch, err));
	else if (is_address(name))
		return door_fail(err, HDB_EUSAGE,
				 "%s: heapdb itself opens no connection; name a command that "
				 "prints the dump: --fetch '%s'",
				 name, strncmp(name, "s3:", 3) ? "curl -sSf {}" : "aws s3 cp {} -");
	else if ((f->from_fd = open(f->archive_name, O_RDONLY | O_CLOEXEC)) < 0)
		return door_fail(err, errno == ENOENT ? HDB_EABSENT : HDB_EIO, "%s: %s",
				 f->archive_name, strerror(errno));
	if (is_archive(name))
		TRY(unpack(f, err));
	else
		f->read_fd = f->from_fd;
	snprintf(f->path, sizeof(f->path), "/dev/fd/%d", f->read_fd);
	return HDB_OK;
}

/* Waits for the command; what it ended with counts if nobody left its pipe before. */
static int end_fetch(struct feed *f, bool is_read, struct hdb_error *err)
{
	const int status = pclose(f->fetch);

	if (status == 0 || !is_read)
		return HDB_OK;
	return door_fail(err, HDB_EIO, "%s: the command of --fetch failed (%s %d)", f->archive_name,
			 WIFSIGNALED(status) ? "signal" : "exit code",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/*
 * Waits for the end. HDB_OK; HDB_END: the archive is damaged, and what came before is good; below
 * 0: nothing that came is to be used. The message of both is in *err.
 */
static int finish(struct feed *f, struct hdb_error *err)
{
	int r = HDB_OK;

	if (f->read_fd != f->from_fd)
		close(f->read_fd);
	if (f->is_running) {
		(void)pthread_join(f->thread, NULL);
		r = f->result == HDB_EFORMAT ? HDB_END : f->result == HDB_END ? HDB_OK : f->result;
		if (r != HDB_OK)
			*err = f->error;
	}
	close_archive(f);
	if (f->fetch && r >= 0) {
		const int fetched = end_fetch(f, f->result != HDB_END, err);

		r = fetched < 0 ? fetched : r;
	} else if (f->fetch) {
		(void)pclose(f->fetch);
	} else if (f->from_fd >= 0) {
		close(f->from_fd);
	}
	return r;
}

/* The reader's message names the dump, not the pipe, and says why it ended early. */
static int fail_read(const struct feed *f, int rc, const char *why, struct hdb_error *err)
{
	const struct hdb_error read = *err;
	const size_t size = strlen(f->path);
	const bool names_pipe = strncmp(read.message, f->path, size) == 0;

	return door_fail(err, rc, "%s%s%s%s", names_pipe ? f->name : "",
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
	if (!fetch && !takes(name))
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

/* What fed the reader has the last word: what is made of half a dump would look whole. */
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
			notice(f->progress, "the archive has another dump: name it ARCHIVE!",
			       f->other);
		if (fed == HDB_END)
			notice(f->progress, why.message, "; what came before was read");
	}
	free(f);
	return rc;
}

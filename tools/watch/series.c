/*
 * watch/series.c - implements series.h: appends records to a file of JSON lines, and thins it out.
 */
#include "watch/series.h"

#include "base/outfile.h"
#include "base/scope.h"
#include "common/escape.h"
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

struct series {
	int fd;
	char *path; /* owned */
	uint64_t size, size_max;
	struct bytes waiting; /* complete lines that have not been written to the file yet */
	size_t waiting_lines;
	uint64_t lost;
};

const char *const series_kind_names[SERIES_KINDS] = { "jvm", "sample", "classes", "event" };
#define SERIES_KEY(name, key) #key,
const char *const series_figure_keys[SERIES_FIGURES] = { SERIES_FIGURES_ALL(SERIES_KEY) };

/* ---- writing a line ---- */

static void put_text(struct bytes *out, const char *key, const char *text)
{
	if (!text[0])
		return;
	bytes_format(out, ",\"%s\":", key);
	escape_json(out, text);
}

static void put_classes(struct bytes *out, const struct series_record *r)
{
	bytes_format(out,
		     ",\"pause_us\":%" PRIu64 ",\"objects\":%" PRIu64 ",\"bytes\":%" PRIu64
		     ",\"classes\":[",
		     r->pause_us, r->objects, r->bytes);
	for (size_t i = 0; i < r->class_count && i < SERIES_CLASSES_MAX; i++) {
		const struct series_class *c = &r->classes[i];
		char name[1024];

		snprintf(name, sizeof(name), "%.*s", (int)c->name_size, c->name);
		bytes_string(out, i ? ",[" : "[");
		escape_json(out, name);
		bytes_format(out, ",%" PRIu64 ",%" PRIu64 "]", c->objects, c->bytes);
	}
	bytes_string(out, "]");
}

void series_write_line(struct bytes *out, const struct series_record *r)
{
	const size_t start = out->size;

	bytes_format(out, "{\"kind\":\"%s\",\"time\":%" PRIu64, series_kind_names[r->kind],
		     r->time_ms);
	put_text(out, "jvm", r->jvm);
	bytes_format(out, ",\"age\":%" PRIu64, r->age_ms);
	put_text(out, "main", r->main_class);
	put_text(out, "version", r->version);
	put_text(out, "event", r->event);
	put_text(out, "text", r->text);
	put_text(out, "path", r->path);
	for (unsigned i = 0; i < SERIES_FIGURES; i++)
		if (r->has >> i & 1)
			bytes_format(out, ",\"%s\":%" PRIu64, series_figure_keys[i], r->figures[i]);
	if (r->kind == SERIES_CLASSES)
		put_classes(out, r);
	if (!out->failed)
		bytes_format(out, ",\"crc\":\"%08x\"}\n",
			     libdeflate_crc32(0, out->data + start, out->size - start));
}

/* ---- the file ---- */

/* Returns whether the file is empty or ends with a line feed. */
static bool ends_whole(int fd, uint64_t size)
{
	char last = '\n';

	return size == 0 || pread(fd, &last, 1, (off_t)size - 1) != 1 || last == '\n';
}

/* Opens and locks the file. If a writer was killed, the file may end with an incomplete line. */
static int open_file(struct series *s, struct hdb_error *err)
{
	struct stat st, named;

	s->fd = open(s->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		     0600);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return hdb_fail_errno(err, errno, "%s", s->path);
	if (!S_ISREG(st.st_mode))
		return hdb_fail(err, HDB_EIO, "%s is not a regular file", s->path);
	if (flock(s->fd, LOCK_EX | LOCK_NB) < 0)
		return hdb_fail(
			err, HDB_EIO,
			"%s: another `heapdb watch` is writing to it; use --series for another "
			"file",
			s->path);
	/* the other process may have replaced the file in the meantime */
	if (stat(s->path, &named) < 0 || named.st_ino != st.st_ino)
		return hdb_fail(err, HDB_EIO, "%s was replaced while it was opened", s->path);
	s->size = (uint64_t)st.st_size;
	if (!ends_whole(s->fd, s->size) && base_write_all(s->fd, "\n", 1))
		s->size++;
	return HDB_OK;
}

int series_open(const char *path, uint64_t bytes_max, struct series **out, struct hdb_error *err)
{
	struct series *s;
	int rc;

	*out = NULL;
	TRY(BASE_ALLOC(s, 1, "a series", err));
	s->fd = -1;
	s->size_max = bytes_max;
	s->path = strdup(path);
	rc = s->path ? open_file(s, err) :
		       hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a series");
	if (rc != HDB_OK)
		series_close(s);
	else
		*out = s;
	return rc;
}

/* ---- thinning ---- */

/*
 * State of copying a file. Every second sample and every second histogram is kept, counted
 * separately. Events are always kept.
 */
struct thinning {
	FILE *to;
	uint64_t keep_from, at; /* offsets in the old file */
	uint64_t seen[SERIES_KINDS];
};

static void copy_line(struct thinning *t, const char *line, size_t size)
{
	const bool is_old = t->at < t->keep_from;
	enum series_kind kind = SERIES_EVENT;

	t->at += size;
	if (size > 12 && memcmp(line, "{\"kind\":\"", 9) == 0)
		kind = line[9] == 's' ? SERIES_SAMPLE : line[9] == 'c' ? SERIES_CLASSES : kind;
	if (is_old && kind != SERIES_EVENT && t->seen[kind]++ % 2)
		return;
	fwrite(line, 1, size, t->to);
}

static int copy_thinned(struct series *s, FILE *from, FILE *to)
{
	struct thinning t = { .to = to, .keep_from = s->size / 4 * 3 };
	char *line = NULL;
	size_t room = 0;
	ssize_t size;

	/* heapdb never writes a line longer than the limit */
	while ((size = getline(&line, &room, from)) > 0 && (size_t)size <= SERIES_LINE_MAX)
		copy_line(&t, line, (size_t)size);
	free(line);
	return ferror(from) || fflush(to) != 0 || fsync(fileno(to)) != 0 ? -1 : 0;
}

/*
 * Replaces the file with one that has fewer lines. If this fails, the old file remains and
 * continues to grow.
 */
static void thin(struct series *s)
{
	char name[4096];
	FILE *from, *to;
	struct stat st;
	int fd, bad;

	if (snprintf(name, sizeof(name), "%s.new", s->path) >= (int)sizeof(name))
		return;
	(void)unlink(name);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	to = fd < 0 ? NULL : fdopen(dup(fd), "a");
	from = fopen(s->path, "re");
	bad = !to || !from || flock(fd, LOCK_EX | LOCK_NB) < 0 || copy_thinned(s, from, to) < 0;
	if (from)
		fclose(from);
	if (to)
		bad = fclose(to) != 0 || bad;
	if (bad || fstat(fd, &st) < 0 || (uint64_t)st.st_size >= s->size ||
	    rename(name, s->path) < 0) {
		if (fd >= 0) {
			(void)unlink(name);
			close(fd);
		}
		return;
	}
	(void)base_sync_folder(s->path, NULL);
	close(s->fd);
	s->fd = fd;
	s->size = (uint64_t)st.st_size;
}

/* ---- appending ---- */

/* Writes either all pending lines or none. */
static int flush(struct series *s, struct hdb_error *err)
{
	if (!s->waiting.size)
		return HDB_OK;
	if (!base_write_all(s->fd, s->waiting.data, s->waiting.size)) {
		const int why = errno;

		/* if this fails as well, the next reader skips the incomplete line */
		if (ftruncate(s->fd, (off_t)s->size) < 0)
			s->size = (uint64_t)lseek(s->fd, 0, SEEK_END);
		return hdb_fail_errno(err, why, "%s", s->path);
	}
	s->size += s->waiting.size;
	s->waiting.size = 0;
	s->waiting_lines = 0;
	if (s->size > s->size_max)
		thin(s);
	return HDB_OK;
}

int series_append(struct series *s, const struct series_record *record, struct hdb_error *err)
{
	struct bytes line = { 0 };

	series_write_line(&line, record);
	if (line.failed || line.size > SERIES_LINE_MAX ||
	    (s->waiting.size && line.size > SERIES_PENDING_MAX - s->waiting.size)) {
		s->lost++;
	} else {
		bytes_add(&s->waiting, line.data, line.size);
		s->waiting_lines++;
	}
	bytes_release(&line);
	if (s->waiting.failed)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a sample");
	return flush(s, err);
}

size_t series_pending(const struct series *s)
{
	return s->waiting_lines;
}

uint64_t series_lost(const struct series *s)
{
	return s->lost;
}

void series_close(struct series *s)
{
	if (!s)
		return;
	if (s->fd >= 0) {
		(void)flush(s, NULL);
		close(s->fd);
	}
	bytes_release(&s->waiting);
	free(s->path);
	free(s);
}

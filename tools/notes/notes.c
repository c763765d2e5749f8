/*
 * notes/notes.c - notes as JSON in a file that is replaced whole.
 */
#include "notes/notes.h"

#include "base/scope.h"
#include "common/fail.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_MCP /* which needs the same library */

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SCHEMA 1
#define PATH_SIZE 4096
/* Longer than anybody takes to write a small file. */
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 20000000

static int path_of(const char *db_path, const char *ending, char *path, struct hdb_error *err)
{
	return snprintf(path, PATH_SIZE, "%s.notes%s", db_path, ending) < PATH_SIZE ?
		       HDB_OK :
		       door_fail(err, HDB_ELIMIT, "the name of the database is too long for notes");
}

/* The file's text, with a zero behind it; *data is owned, also after a failure. No file: NULL. */
static int read_text(const char *path, char **data, size_t *size, struct hdb_error *err)
{
	BASE_CLOSED const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = 1;

	*data = NULL;
	*size = 0;
	if (fd < 0)
		return errno == ENOENT ? HDB_OK :
					 door_fail(err, HDB_EIO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return door_fail(err, HDB_EFORMAT, "%s is no file of notes", path);
	if ((uint64_t)st.st_size > NOTES_FILE_MAX)
		return door_fail(err, HDB_ELIMIT, "%s is larger than %zu bytes", path,
				 NOTES_FILE_MAX);
	*data = malloc((size_t)st.st_size + 1);
	if (!*data)
		return door_fail(err, HDB_ENOMEM, "no memory for notes");
	while (n > 0 && *size < (size_t)st.st_size) {
		n = read(fd, *data + *size, (size_t)st.st_size - *size);
		if (n < 0)
			return door_fail(err, HDB_EIO, "%s: %s", path, strerror(errno));
		*size += (size_t)n;
	}
	(*data)[*size] = '\0';
	return HDB_OK;
}

static bool is_text(const json_t *value, size_t most)
{
	const size_t size = json_string_length(value);

	return json_is_string(value) && size > 0 && size <= most;
}

static int by_target(const void *a, const void *b)
{
	return strcmp(((const struct note *)a)->target, ((const struct note *)b)->target);
}

/* Fills the list from the JSON; false: it is not as we write it. */
static bool take(struct notes *notes)
{
	json_t *all = json_object_get(notes->json, "notes"), *value;
	const char *target;

	if (json_integer_value(json_object_get(notes->json, "schema")) != SCHEMA ||
	    !json_is_object(all) || json_object_size(all) > NOTES_MAX)
		return false;
	json_object_foreach(all, target, value)
	{
		const json_t *text = json_object_get(value, "text");
		const json_t *time = json_object_get(value, "time");

		if (!*target || strlen(target) > NOTE_TARGET_MAX || !is_text(text, NOTE_TEXT_MAX) ||
		    !is_text(time, NOTE_TEXT_MAX))
			return false;
		notes->list[notes->count++] = (struct note){
			.target = target,
			.text = json_string_value(text),
			.time = json_string_value(time),
		};
	}
	qsort(notes->list, notes->count, sizeof(*notes->list), by_target);
	return true;
}

int notes_read(const char *db_path, struct notes *notes, struct hdb_error *err)
{
	char path[PATH_SIZE];
	size_t size = 0;
	int r;

	*notes = (struct notes){ 0 };
	TRY(path_of(db_path, "", path, err));
	r = read_text(path, &notes->text, &size, err);
	if (r != HDB_OK || !notes->text)
		goto out;
	notes->list = calloc(NOTES_MAX, sizeof(*notes->list));
	notes->json = json_loadb(notes->text, size, JSON_REJECT_DUPLICATES, NULL);
	if (!notes->list)
		r = door_fail(err, HDB_ENOMEM, "no memory for notes");
	else if (!notes->json || !take(notes))
		r = door_fail(err, HDB_EFORMAT, "%s is no file of notes, or is damaged", path);
out:
	if (r != HDB_OK)
		notes_release(notes);
	return r;
}

/* ---- writing ---- */

/* One writer at a time, whatever process it is in: *fd holds the lock until it is closed. */
static int lock(const char *db_path, int *fd, struct hdb_error *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };

	*fd = open(db_path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return door_fail(err, HDB_EIO, "%s: %s", db_path, strerror(errno));
	for (int i = 0; i < LOCK_TRIES; i++) {
		/* where the file system has no such locks the last writer wins */
		if (flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return HDB_OK;
		nanosleep(&pause, NULL);
	}
	close(*fd);
	return door_fail(err, HDB_EIO, "another process is writing the notes of %s", db_path);
}

/* As readable as the database: `like` is open. */
static int replace(const char *db_path, const json_t *json, int like, struct hdb_error *err)
{
	char path[PATH_SIZE], made[PATH_SIZE];
	struct stat st;
	bool good;
	int fd;

	TRY(path_of(db_path, "", path, err));
	TRY(path_of(db_path, ".XXXXXX", made, err));
	fd = mkstemp(made);
	if (fd < 0)
		return door_fail(err, HDB_EIO, "%s: %s", path, strerror(errno));
	good = fstat(like, &st) == 0 && fchmod(fd, st.st_mode & 0666) == 0 &&
	       json_dumpfd(json, fd, JSON_INDENT(1) | JSON_SORT_KEYS) == 0 && fsync(fd) == 0;
	good = close(fd) == 0 && good;
	if (good && rename(made, path) == 0)
		return HDB_OK;
	door_fail(err, HDB_EIO, "%s: %s", path, strerror(errno));
	unlink(made);
	return HDB_EIO;
}

/* Changes the notes that were read. */
static int change(struct notes *notes, const char *target, const char *text, struct hdb_error *err)
{
	json_t *all, *note;
	const time_t now = time(NULL);
	char when[32];
	struct tm utc;

	if (!notes->json)
		notes->json = json_pack("{s:i,s:{}}", "schema", SCHEMA, "notes");
	all = json_object_get(notes->json, "notes");
	if (!text)
		return json_object_del(all, target) == 0 ?
			       HDB_OK :
			       door_fail(err, HDB_NOTFOUND, "there is no note on %s", target);
	if (notes->count == NOTES_MAX && !notes_find(notes, target, strlen(target)))
		return door_fail(err, HDB_ELIMIT, "there are %d notes already", NOTES_MAX);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	note = json_pack("{s:s,s:s}", "text", text, "time", when);
	return json_object_set_new(all, target, note) == 0 ?
		       HDB_OK :
		       door_fail(err, HDB_EUSAGE, "a note is a text in UTF-8");
}

int notes_set(const char *db_path, const char *target, const char *text, struct hdb_error *err)
{
	struct notes notes = { 0 };
	int fd, r;

	if (!*target || strlen(target) > NOTE_TARGET_MAX)
		return door_fail(err, HDB_EUSAGE, "a note is on an object, a class or a leak");
	if (text && (!*text || strlen(text) > NOTE_TEXT_MAX))
		return door_fail(err, HDB_EUSAGE, "a note has 1 to %d bytes", NOTE_TEXT_MAX);
	TRY(lock(db_path, &fd, err));
	r = notes_read(db_path, &notes, err);
	if (r == HDB_OK)
		r = change(&notes, target, text, err);
	if (r == HDB_OK)
		r = replace(db_path, notes.json, fd, err);
	notes_release(&notes);
	close(fd);
	return r;
}

#else

int notes_read(const char *db_path, struct notes *notes, struct hdb_error *err)
{
	(void)db_path;
	(void)err;
	*notes = (struct notes){ 0 };
	return HDB_OK;
}

int notes_set(const char *db_path, const char *target, const char *text, struct hdb_error *err)
{
	(void)db_path;
	(void)target;
	(void)text;
	return door_fail(err, HDB_EUSAGE,
			 "this heapdb was built without libjansson, which notes need");
}

#endif

void notes_release(struct notes *notes)
{
#ifdef HAVE_MCP
	json_decref(notes->json);
#endif
	free(notes->list);
	free(notes->text);
	*notes = (struct notes){ 0 };
}

struct note *notes_find(const struct notes *notes, const char *target, size_t size)
{
	size_t low = 0, high = notes->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *have = notes->list[middle].target;
		const int order = strncmp(have, target, size);

		if (order == 0 && !have[size])
			return &notes->list[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

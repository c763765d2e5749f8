/* notes/notes.c - stores notes in a JSON file, which is replaced atomically. */
#include "notes/notes.h"

#include "base/sort.h"
#include "common/door_rows.h"
#include "base/outfile.h"
#include "base/scope.h"
#include "base/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of a leak fingerprint: SHA-1 in hexadecimal. */
#define LEAK_DIGITS 40

static bool is_object(const char *target)
{
	return strncmp(target, "0x", 2) == 0;
}

const char *notes_kind(const char *target)
{
	if (is_object(target))
		return "object";
	return strlen(target) == LEAK_DIGITS && strspn(target, "0123456789abcdef") == LEAK_DIGITS ?
		       "leak" :
		       "class";
}

#ifdef HAVE_MCP /* requires jansson */

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SCHEMA 1
#define PATH_SIZE 4096
/* Size of a dump's fingerprint in hexadecimal, including the zero. */
#define DUMP_SIZE 17
/*
 * Number of attempts to take the lock, and pause between them: far longer than it takes to write a
 * small file.
 */
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 20000000

static int path_of(const char *db_path, char *path, struct hdb_error *err)
{
	return snprintf(path, PATH_SIZE, "%s.notes", db_path) < PATH_SIZE ?
		       HDB_OK :
		       hdb_fail(err, HDB_ELIMIT, "the database name is too long for a notes file");
}

/*
 * Reads the file into *data, with a terminating zero. The caller must free() *data even after a
 * failure. If there is no file, *data is NULL.
 */
static int read_text(const char *path, char **data, size_t *size, struct hdb_error *err)
{
	BASE_CLOSED const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = 1;

	*data = NULL;
	*size = 0;
	if (fd < 0 && errno == ENOENT)
		return HDB_OK;
	if (fd < 0)
		return hdb_fail(err, errno == EACCES ? HDB_EABSENT : HDB_EIO, "%s: %s", path,
				strerror(errno));
	if (fstat(fd, &st) != 0)
		return hdb_fail(err, HDB_EIO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return hdb_fail(err, HDB_EFORMAT, "%s is not a notes file", path);
	if ((uint64_t)st.st_size > NOTES_FILE_MAX)
		return hdb_fail(err, HDB_ELIMIT, "%s is too large (limit %zu bytes)", path,
				NOTES_FILE_MAX);
	*data = malloc((size_t)st.st_size + 1);
	if (!*data)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for notes");
	while (n > 0 && *size < (size_t)st.st_size) {
		n = read(fd, *data + *size, (size_t)st.st_size - *size);
		if (n < 0)
			return hdb_fail(err, HDB_EIO, "%s: %s", path, strerror(errno));
		*size += (size_t)n;
	}
	assert(*size <= (size_t)st.st_size);
	(*data)[*size] = '\0';
	return HDB_OK;
}

/*
 * Returns the JSON text, which the caller must free(). Returns NULL if memory is exhausted, which
 * jansson would otherwise ignore.
 */
static char *dump(const json_t *json, size_t flags)
{
	char *text;

	errno = 0;
	text = json ? json_dumps(json, flags) : NULL;
	if (errno != ENOMEM)
		return text;
	free(text);
	return NULL;
}

static bool is_text(const json_t *value, size_t most)
{
	const size_t size = json_string_length(value);

	return json_is_string(value) && size > 0 && size <= most;
}

BASE_ORDER(by_target, struct note, BASE_UP(is_other), BASE_BY_TEXT(target),
	   BASE_BY(strcmp(x->dump ? x->dump : "", y->dump ? y->dump : "")))

static void write_dump(const struct hdb *db, char dump[DUMP_SIZE])
{
	snprintf(dump, DUMP_SIZE, "%016" PRIx64, hdb_dump_fingerprint(db));
}

/* Sorts the notes, and counts the notes of this dump. */
static void arrange(struct notes *notes)
{
	qsort(notes->list, notes->count, sizeof(*notes->list), by_target);
	notes->shown = 0;
	while (notes->shown < notes->count && !notes->list[notes->shown].is_other)
		notes->shown++;
	assert(notes->shown <= notes->count);
}

/* Fills the list from the JSON. Returns false if the JSON does not have the format of notes. */
static bool take(const struct hdb *db, struct notes *notes)
{
	const json_t *all = json_object_get(notes->json, "notes");
	char here[DUMP_SIZE];

	if (json_integer_value(json_object_get(notes->json, "schema")) != SCHEMA ||
	    !json_is_array(all) || json_array_size(all) > NOTES_MAX)
		return false;
	write_dump(db, here);
	assert(notes->count == 0);
	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *value = json_array_get(all, i);
		const json_t *target = json_object_get(value, "target");
		const json_t *dump = json_object_get(value, "dump");
		const json_t *text = json_object_get(value, "text");
		const json_t *time = json_object_get(value, "time");
		struct note *note = &notes->list[notes->count++];

		if (!is_text(target, NOTE_TARGET_MAX) || !is_text(text, NOTE_TEXT_MAX) ||
		    !is_text(time, NOTE_TEXT_MAX) || (dump && !is_text(dump, DUMP_SIZE - 1)) ||
		    (dump != NULL) != is_object(json_string_value(target)))
			return false;
		*note = (struct note){
			.target = json_string_value(target),
			.text = json_string_value(text),
			.time = json_string_value(time),
			.dump = json_string_value(dump),
		};
		note->is_other = note->dump && strcmp(note->dump, here) != 0;
	}
	arrange(notes);
	for (size_t i = 1; i < notes->count; i++)
		if (by_target(&notes->list[i - 1], &notes->list[i]) == 0)
			return false;
	return true;
}

int notes_read(const struct hdb *db, const char *db_path, struct notes *notes,
	       struct hdb_error *err)
{
	BASE_FREED char *text = NULL;
	char path[PATH_SIZE];
	size_t size = 0;

	*notes = (struct notes){ 0 };
	TRY(path_of(db_path, path, err));
	TRY(read_text(path, &text, &size, err));
	/* one extra element for a note that may be added */
	TRY(BASE_ALLOC(notes->list, NOTES_MAX + 1, "notes", err));
	if (!text)
		return HDB_OK;
	/* jansson ignores failed allocations, which only errno indicates */
	errno = 0;
	notes->json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	if (errno == ENOMEM)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for notes");
	return notes->json && take(db, notes) ?
		       HDB_OK :
		       hdb_fail(err, HDB_EFORMAT, "%s is damaged or not a notes file", path);
}

int notes_json(const struct notes *notes, char **text, struct hdb_error *err)
{
	json_t *all = json_object(), *whole = NULL;
	bool is_good = all != NULL;

	for (size_t i = 0; is_good && i < notes->shown; i++) {
		const struct note *note = &notes->list[i];

		is_good = json_object_set_new(all, note->target,
					      json_pack("{s:s,s:s}", "text", note->text, "time",
							note->time)) == 0;
	}
	whole = json_pack("{s:o}", "notes", all);
	*text = is_good ? dump(whole, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(whole);
	return *text ? HDB_OK : hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for notes");
}

/* ---- writing ---- */

/* Takes a lock that excludes writers in other processes. Closing *fd releases the lock. */
static int lock(const char *db_path, int *fd, struct hdb_error *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };

	*fd = open(db_path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return hdb_fail(err, HDB_EIO, "%s: %s", db_path, strerror(errno));
	for (int i = 0; i < LOCK_TRIES; i++) {
		/* if the file system does not support locks, the last writer wins */
		if (flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return HDB_OK;
		nanosleep(&pause, NULL);
	}
	close(*fd);
	return hdb_fail(err, HDB_EIO, "another process is writing the notes of %s", db_path);
}

/* Replaces the file atomically, with the access mode of the open file `like`. */
static int replace(const char *db_path, const json_t *json, int like, struct hdb_error *err)
{
	BASE_FREED char *text = dump(json, JSON_INDENT(1));
	struct base_outfile_options options = { .packing = BASE_PLAIN, .force = true };
	struct base_outfile *file = NULL;
	char path[PATH_SIZE];
	struct stat st;
	int r;

	if (!text)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for notes");
	TRY(path_of(db_path, path, err));
	if (fstat(like, &st) != 0)
		return hdb_fail(err, HDB_EIO, "%s: %s", db_path, strerror(errno));
	options.mode = st.st_mode & 0666;
	TRY(base_outfile_create(path, &options, &file, err));
	r = base_outfile_write(file, text, strlen(text), err);
	if (r == HDB_OK)
		return base_outfile_finish(file, NULL, err);
	base_outfile_abort(file);
	return r;
}

static int write_list(const char *db_path, const struct notes *notes, int like,
		      struct hdb_error *err)
{
	json_t *all = json_array(), *whole = NULL;
	bool is_good = all != NULL;
	int r;

	for (size_t i = 0; is_good && i < notes->count; i++) {
		const struct note *note = &notes->list[i];

		is_good = json_array_append_new(all,
						json_pack("{s:s,s:s*,s:s,s:s}", "target",
							  note->target, "dump", note->dump, "text",
							  note->text, "time", note->time)) == 0;
	}
	whole = json_pack("{s:i,s:o}", "schema", SCHEMA, "notes", all);
	r = is_good && whole ? replace(db_path, whole, like, err) :
			       hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for notes");
	json_decref(whole);
	return r;
}

/* Checks that the object or class exists. Leak fingerprints may belong to other dumps. */
static int check_target(struct hdb *db, const char *target, struct hdb_error *err)
{
	const struct hdb_query_args args = {
		.struct_size = sizeof(args), .targets = &target, .target_count = 1, .limit = 1
	};
	const char *kind = notes_kind(target);
	DOOR_ROWS *rows = NULL;

	if (strcmp(kind, "leak") == 0)
		return HDB_OK;
	if (strpbrk(target, "*?"))
		return hdb_fail(err, HDB_EUSAGE, "a note requires a single class, not a pattern");
	return hdb_query(db, kind, &args, &rows, err);
}

static int check_text(const char *text, struct hdb_error *err)
{
	json_t *json;

	if (!*text || strlen(text) > NOTE_TEXT_MAX)
		return hdb_fail(err, HDB_EUSAGE, "a note must be 1 to %d bytes long",
				NOTE_TEXT_MAX);
	errno = 0;
	json = json_string(text);
	json_decref(json);
	if (json)
		return HDB_OK;
	return errno == ENOMEM ? hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for notes") :
				 hdb_fail(err, HDB_EUSAGE, "a note must be UTF-8 text");
}

/* Target in normal form: the object's ID without leading zeros, and its dump. */
struct place {
	char target[NOTE_TARGET_MAX + 1], dump[DUMP_SIZE];
};

static int find_place(const struct hdb *db, const char *target, struct place *place,
		      struct hdb_error *err)
{
	char *end = NULL;
	uint64_t id;

	if (!*target || strlen(target) > NOTE_TARGET_MAX)
		return hdb_fail(err, HDB_EUSAGE, "a note requires an object, a class or a leak");
	*place = (struct place){ 0 };
	if (!is_object(target)) {
		memcpy(place->target, target, strlen(target));
		return HDB_OK;
	}
	id = strtoull(target, &end, 16);
	write_dump(db, place->dump);
	if (*end == '@' && strlen(end + 1) == DUMP_SIZE - 1)
		memcpy(place->dump, end + 1, DUMP_SIZE);
	else if (*end || end == target + 1)
		return hdb_fail(err, HDB_EUSAGE, "%s is not an object ID", target);
	snprintf(place->target, sizeof(place->target), "0x%" PRIx64, id);
	return HDB_OK;
}

static struct note *find_note(const struct notes *notes, const struct place *place)
{
	for (size_t i = 0; i < notes->count; i++) {
		const char *dump = notes->list[i].dump ? notes->list[i].dump : "";

		if (strcmp(notes->list[i].target, place->target) == 0 &&
		    strcmp(dump, place->dump) == 0)
			return &notes->list[i];
	}
	return NULL;
}

/* Changes the notes in memory; `when` must outlive the notes. */
static int change(struct notes *notes, const struct place *place, const char *text,
		  const char *when, struct hdb_error *err)
{
	struct note *note = find_note(notes, place);

	assert(notes->count <= NOTES_MAX);
	if (!text && !note)
		return hdb_fail(err, HDB_NOTFOUND, "no note on %s", place->target);
	if (!text) {
		*note = notes->list[--notes->count];
	} else if (!note && notes->count == NOTES_MAX) {
		return hdb_fail(err, HDB_ELIMIT, "too many notes (limit %d)", NOTES_MAX);
	} else {
		note = note ? note : &notes->list[notes->count++];
		*note = (struct note){ .target = place->target,
				       .text = text,
				       .time = when,
				       .dump = place->dump[0] ? place->dump : NULL };
	}
	arrange(notes);
	return HDB_OK;
}

int notes_set(struct hdb *db, const char *db_path, const char *target, const char *text,
	      struct hdb_error *err)
{
	const time_t now = time(NULL);
	struct notes notes = { 0 };
	struct place place;
	char when[32];
	struct tm utc;
	int fd, r;

	TRY(find_place(db, target, &place, err));
	if (text) {
		TRY(check_text(text, err));
		TRY(check_target(db, place.target, err));
	}
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	TRY(lock(db_path, &fd, err));
	r = notes_read(db, db_path, &notes, err);
	if (r == HDB_OK)
		r = change(&notes, &place, text, when, err);
	if (r == HDB_OK)
		r = write_list(db_path, &notes, fd, err);
	notes_release(&notes);
	close(fd);
	return r;
}

#else

int notes_read(const struct hdb *db, const char *db_path, struct notes *notes,
	       struct hdb_error *err)
{
	(void)db;
	(void)db_path;
	(void)err;
	*notes = (struct notes){ 0 };
	return HDB_OK;
}

int notes_json(const struct notes *notes, char **text, struct hdb_error *err)
{
	(void)notes;
	return BASE_COPY(*text, "{\"notes\":{}}", "notes", err);
}

int notes_set(struct hdb *db, const char *db_path, const char *target, const char *text,
	      struct hdb_error *err)
{
	(void)db;
	(void)db_path;
	(void)target;
	(void)text;
	return hdb_fail(err, HDB_EUSAGE,
			"notes require libjansson, but this heapdb was built without it");
}

#endif

void notes_release(struct notes *notes)
{
#ifdef HAVE_MCP
	json_decref(notes->json);
#endif
	free(notes->list);
	*notes = (struct notes){ 0 };
}

struct note *notes_find(const struct notes *notes, const char *target, size_t size)
{
	size_t low = 0, high = notes->shown;

	assert(notes->shown <= notes->count);
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

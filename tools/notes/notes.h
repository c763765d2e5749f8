/*
 * notes/notes.h - what people say of objects, classes and leaks ("expected: our cache"): a small
 * JSON file beside a database, NAME.heapdb.notes. Knows no database but the name of its file, and
 * is the only code that reads or writes notes.
 */
#ifndef HEAPDB_NOTES_H
#define HEAPDB_NOTES_H

#include "base/try.h"
#include "heapdb.h"

#include <stdbool.h>
#include <stddef.h>

/* People write notes: more of them, or longer ones, are a mistake or an attack. */
#define NOTES_MAX 1000
#define NOTE_TEXT_MAX 1000
/* Bytes of what a note is on; names of classes are shorter, in all that was seen. */
#define NOTE_TARGET_MAX 4000
#define NOTES_FILE_MAX ((size_t)8 << 20)

struct note {
	/* Lent by the notes. The target: "0x12c4", the name of a class, or a leak fingerprint. */
	const char *target, *text, *time;
	/* For whoever prints an answer: it is of something in it, and stands there already. */
	bool is_met, is_told;
};

struct notes {
	struct note *list; /* in order of targets; owned */
	size_t count;
	/* {"schema":1,"notes":{"TARGET":{"text":"...","time":"..."},...}} as read; owned; NULL: none */
	char *text;
	void *json; /* owned */
};

/*
 * The notes beside a database; none if there is no such file. HDB_EFORMAT: the file is none of
 * ours or is damaged; HDB_ELIMIT. To be released in any case.
 */
int notes_read(const char *db_path, struct notes *notes, struct hdb_error *err);
void notes_release(struct notes *notes);

/* The note on that, or NULL. */
struct note *notes_find(const struct notes *notes, const char *target, size_t size);

/*
 * Writes a note in place of the one that there was, or removes it (`text` NULL; HDB_NOTFOUND: there
 * is none). The file appears whole, and what another process writes meanwhile is not lost.
 */
int notes_set(const char *db_path, const char *target, const char *text, struct hdb_error *err);

#endif

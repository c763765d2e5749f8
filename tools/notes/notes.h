/*
 * notes/notes.h - what people say of objects, classes and leaks ("expected: our cache"): a small
 * JSON file beside a database, NAME.heapdb.notes. The only code that reads, checks or writes notes.
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
	/* Of an object, the fingerprint of its dump in 16 hexadecimal digits: IDs are addresses,
	 * and another dump has another object there. NULL: the note applies to all dumps. */
	const char *dump;
	bool is_other; /* on an object of another dump: listed, and otherwise not shown */
	/* For whoever prints an answer: it is of something in it, and stands there already. */
	bool is_met, is_told;
};

struct notes {
	struct note *list; /* in order of targets, those of other dumps last; owned */
	size_t count;
	size_t shown; /* notes on this dump: the first of the list */
	void *json;   /* of the file, which the texts are lent by; owned; NULL: there is no file */
};

/* What a note is on: "object", "class" or "leak". */
const char *notes_kind(const char *target);

/*
 * The notes beside the database `db`, whose file is `db_path`; none if there is no such file.
 * HDB_EFORMAT: the file is none of ours or is damaged; HDB_ELIMIT; HDB_EABSENT: this user may not
 * read it; HDB_EIO, HDB_ENOMEM. To be released in any case.
 */
int notes_read(const struct hdb *db, const char *db_path, struct notes *notes,
	       struct hdb_error *err);
void notes_release(struct notes *notes);

/* The note on that in this dump, or NULL. */
struct note *notes_find(const struct notes *notes, const char *target, size_t size);

/* {"notes":{"TARGET":{"text":"...","time":"..."},...}} of those on this dump; owned: free(). */
int notes_json(const struct notes *notes, char **text, struct hdb_error *err);

/*
 * Writes a note in place of the one that there was, or removes it (`text` NULL; HDB_NOTFOUND: there
 * is none). A note is refused if its target is not in the dump, but leak fingerprints are of any.
 * "0x12c4@FINGERPRINT" is the note of another dump, which can be removed. The file is replaced
 * whole, and what another process writes meanwhile is not lost.
 */
int notes_set(struct hdb *db, const char *db_path, const char *target, const char *text,
	      struct hdb_error *err);

#endif

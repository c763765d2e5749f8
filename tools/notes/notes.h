/*
 * notes/notes.h - users' notes on objects, classes and leaks ("expected: our cache"), stored in a
 * small JSON file next to the database, NAME.heapdb.notes. No other directory reads, checks or
 * writes the file.
 */
#ifndef HEAPDB_NOTES_H
#define HEAPDB_NOTES_H

#include "base/try.h"
#include "heapdb.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Maximum number of notes and of bytes in a note. People write notes, so more or longer ones are a
 * mistake or an attack.
 */
#define NOTES_MAX 1000
#define NOTE_TEXT_MAX 1000
/* Maximum number of bytes in a note's target. All class names that we have seen are shorter. */
#define NOTE_TARGET_MAX 4000
#define NOTES_FILE_MAX ((size_t)8 << 20)

struct note {
	/* Borrowed from the notes. The target is "0x12c4", a class name, or a leak fingerprint. */
	const char *target, *text, *time;
	/*
	 * For a note on an object, its dump's fingerprint in 16 hexadecimal digits: IDs are
	 * addresses, which refer to other objects in other dumps. NULL means the note applies to
	 * all dumps.
	 */
	const char *dump;
	bool is_other; /* whether the object is in another dump; such notes are only listed */
	/*
	 * While printing: whether the answer contains the target, and whether the note was already
	 * printed.
	 */
	bool is_matched, is_printed;
};

struct notes {
	struct note *list; /* sorted by target, with notes of other dumps last; owned */
	size_t count;
	size_t shown; /* number of notes for this dump, which come first */
	void *json;   /* parsed file, which owns the strings; owned; NULL means no file */
};

/* Returns the kind of a target: "object", "class" or "leak". */
const char *notes_kind(const char *target);

/*
 * Reads the notes of the database `db` at `db_path`. If there is no file, there are no notes. Fails
 * with HDB_EFORMAT if the file is damaged or not a notes file, with HDB_EABSENT if access is
 * denied, or with HDB_ELIMIT, HDB_EIO or HDB_ENOMEM. The caller must release the notes even after
 * an error.
 */
int notes_read(const struct hdb *db, const char *db_path, struct notes *notes,
	       struct hdb_error *err);
void notes_release(struct notes *notes);

/* Finds the note on a target in this dump, or returns NULL. */
struct note *notes_find(const struct notes *notes, const char *target, size_t size);

/*
 * Returns {"notes":{"TARGET":{"text":"...","time":"..."},...}} for this dump. The caller must
 * free() *text.
 */
int notes_json(const struct notes *notes, char **text, struct hdb_error *err);

/*
 * Adds or replaces a note. If `text` is NULL, removes the note, or returns HDB_NOTFOUND if there is
 * no note. The target must exist in the dump, except for leak fingerprints. "0x12c4@FINGERPRINT"
 * names a note of another dump, which can be removed. The file is replaced atomically under a lock,
 * so concurrent changes are not lost.
 */
int notes_set(struct hdb *db, const char *db_path, const char *target, const char *text,
	      struct hdb_error *err);

#endif

/*
 * jfr/jfr.h - reads JDK Flight Recorder files (JDK 11 and later): the events of the four kinds that
 * concern memory, and their fields by name. Independent of databases.
 *
 * Recordings describe themselves: each chunk contains the types of its events, and pools of
 * constants (classes, methods, stacks) to which events refer. Fields are therefore found by a path
 * such as "object.type" in any version of the JDK, or not at all (HDB_NOTFOUND) if the version does
 * not have them.
 *
 * The input is not trusted. For damaged input, functions fail with HDB_EFORMAT or HDB_ETRUNC, at
 * the latest the next jfr_next.
 */
#ifndef JFR_JFR_H
#define JFR_JFR_H

#include "heapdb.h"

#include "base/flag.h"
#include "common/escape.h"

#include <stdbool.h>

/* Maximum size of a recording in bytes. Offsets have 32 bits. */
#define JFR_SIZE_MAX (1u << 30)
/* Maximum number of frames read, equal to the JDK's own limit. */
#define JFR_FRAMES_MAX 2048

enum jfr_kind { JFR_OLD_OBJECT, JFR_ALLOCATION, JFR_HEAP, JFR_CPU, JFR_KINDS };

/* A value in a recording: an event, field or constant. Valid until the next jfr_next. */
struct jfr_value {
	uint32_t type;
	uint32_t at, end; /* offset of the value, and end of the enclosing value */
	uint32_t left;    /* remaining items of a list */
	uint32_t *memo;   /* for a constant: storage for the caller, initially 0; otherwise NULL */
};

struct jfr;

/*
 * Opens a recording. `data` and `cancel` (may be NULL) are borrowed until jfr_close. Once *cancel
 * is set, jfr_next fails with HDB_EINTR. The caller must close *out even after an error.
 */
int jfr_open(const void *data, size_t size, const base_flag *cancel, struct jfr **out,
	     struct hdb_error *err);
void jfr_close(struct jfr *jfr);

/* Restarts at the first event. */
void jfr_rewind(struct jfr *jfr);
/* Returns HDB_OK, or HDB_END after the last event. */
int jfr_next(struct jfr *jfr, enum jfr_kind *kind, struct jfr_value *event, struct hdb_error *err);
/* Returns the number of chunks read since jfr_open or jfr_rewind. */
unsigned jfr_chunks(const struct jfr *jfr);

/*
 * Finds a field by a path of names separated by dots. Returns HDB_NOTFOUND if the field is absent
 * or null.
 */
int jfr_find(struct jfr *jfr, const struct jfr_value *of, const char *path, struct jfr_value *out);
/* Reads the next item of a list. Returns false at the end. */
bool jfr_item(struct jfr *jfr, struct jfr_value *list, struct jfr_value *item);

/* Returns an integer, a real (float), or a time in ns since 1970. Returns 0 for other types. */
int64_t jfr_integer(struct jfr *jfr, const struct jfr_value *value);
float jfr_real(struct jfr *jfr, const struct jfr_value *value);
int64_t jfr_time(struct jfr *jfr, const struct jfr_value *value);

/*
 * Appends a string as UTF-8, truncated if the string is long. Returns false and appends nothing if
 * the string is null.
 */
bool jfr_text(struct jfr *jfr, const struct jfr_value *value, struct bytes *out);
/* Appends the Java name of a class, "p.A[]". */
bool jfr_class(struct jfr *jfr, const struct jfr_value *value, struct bytes *out);
/* Appends "p.A.method:12" for a frame. */
bool jfr_frame(struct jfr *jfr, const struct jfr_value *frame, struct bytes *out);

#endif

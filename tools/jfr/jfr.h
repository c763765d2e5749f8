/*
 * jfr/jfr.h - recordings of JDK Flight Recorder (JDK 11 and later): events of the four kinds that
 * say something of memory, and their fields by name. Bytes in, values out; knows no database.
 *
 * A recording describes itself: each of its chunks has the types of its events, and pools of
 * constants (classes, methods, stacks) that events refer to. So a field is found by its path, as
 * "object.type", whatever the version of the JDK; one that a version does not have is HDB_NOTFOUND.
 *
 * The bytes may be anything: what is damaged is HDB_EFORMAT or HDB_ETRUNC, at the latest from the
 * next jfr_next.
 */
#ifndef JFR_JFR_H
#define JFR_JFR_H

#include "heapdb.h"

#include "common/escape.h"

#include <stdbool.h>

/* Recordings that are read, in bytes: offsets have 32 bits. */
#define JFR_SIZE_MAX (1u << 30)
/* Frames of a stack that are read, as many as the JDK records at most. */
#define JFR_FRAMES_MAX 2048

enum jfr_kind { JFR_OLD_OBJECT, JFR_ALLOCATION, JFR_HEAP, JFR_CPU, JFR_KINDS };

/* Something in a recording: an event, a field, a constant. Valid until the next jfr_next. */
struct jfr_value {
	uint32_t type;
	uint32_t at, end; /* where it is, and where what it lies in ends */
	uint32_t left;    /* of a list: items to come */
	uint32_t *memo;   /* of a constant: the caller's, 0 at first; else NULL */
};

struct jfr;

/* `data` is lent until jfr_close. Release *out in any case. */
int jfr_open(const void *data, size_t size, struct jfr **out, struct hdb_error *err);
void jfr_close(struct jfr *jfr);

/* From the first event again. */
void jfr_rewind(struct jfr *jfr);
/* HDB_OK, HDB_END behind the last event. */
int jfr_next(struct jfr *jfr, enum jfr_kind *kind, struct jfr_value *event, struct hdb_error *err);
/* Chunks that were met since jfr_open or jfr_rewind. */
unsigned jfr_chunks(const struct jfr *jfr);

/* The field at a path of names with dots between. HDB_OK, HDB_NOTFOUND: there is none, or null. */
int jfr_find(struct jfr *jfr, const struct jfr_value *of, const char *path, struct jfr_value *out);
/* The next item of a list; false: none. */
bool jfr_item(struct jfr *jfr, struct jfr_value *list, struct jfr_value *item);

/* A whole number; a real one (float); ticks as nanoseconds since 1970. 0 of other types. */
int64_t jfr_integer(struct jfr *jfr, const struct jfr_value *value);
float jfr_real(struct jfr *jfr, const struct jfr_value *value);
int64_t jfr_time(struct jfr *jfr, const struct jfr_value *value);

/* Appends a text as UTF-8, of a long one the begin; false, and nothing: it is null. */
bool jfr_text(struct jfr *jfr, const struct jfr_value *value, struct bytes *out);
/* Appends the name of a class as people write it, "p.A[]". */
bool jfr_class(struct jfr *jfr, const struct jfr_value *value, struct bytes *out);
/* Appends "p.A.method:12" for a frame. */
bool jfr_frame(struct jfr *jfr, const struct jfr_value *frame, struct bytes *out);

#endif

/*
 * hprof/dump_writer.h - writes a dump record by record, into a pipe or a file: heaps that came in
 * another format.
 *
 * Put functions collect the body of a record, or sub-records of a segment; the first failure is
 * kept until the record or the sub-record ends.
 */
#ifndef HPROF_DUMP_WRITER_H
#define HPROF_DUMP_WRITER_H

#include "base/vec.h"

/* Where the dump goes, piece by piece. */
struct hprof_sink {
	int (*put)(void *ctx, const void *data, size_t size, struct hdb_error *err);
	void *ctx;
};

/* What was written of a heap. */
struct hprof_written {
	uint64_t object_count;
	/* parts that are missing, objects and fields that could not be read, sizes that differ */
	uint64_t problem_count;
};

struct hprof_writer {
	const struct hprof_sink *sink; /* lent */
	struct hdb_error *err;         /* lent */
	struct base_vec segment;       /* bytes that were put */
	/* bytes, and the most that there may be: a few of a hostile file can stand for many */
	uint64_t written, most;
	unsigned id_size;
	int result; /* the first failure of the put functions */
};

void hprof_put(struct hprof_writer *w, const void *data, size_t size);
void hprof_put_u1(struct hprof_writer *w, uint8_t value);
/* HDB_ELIMIT beyond 65,535: only numbers of fields are that large. */
void hprof_put_u2(struct hprof_writer *w, size_t value);
void hprof_put_u4(struct hprof_writer *w, uint32_t value);
void hprof_put_u8(struct hprof_writer *w, uint64_t value);
void hprof_put_id(struct hprof_writer *w, uint64_t id);

/* A primitive array without its elements. */
void hprof_put_bare_array(struct hprof_writer *w, uint64_t id, uint64_t count, uint8_t type);

/* Overwrites two bytes of what was put with a count. */
void hprof_patch_u2(struct hprof_writer *w, size_t at, size_t value);

/* Writes the dump's head: "JAVA PROFILE 1.0.3" and so on; ms since 1970, or 0. */
int hprof_write_head(struct hprof_writer *w, const char *version, uint64_t ms);

/* Writes what was put as the body of a record. */
int hprof_end_record(struct hprof_writer *w, uint8_t tag);

/* Ends a sub-record; writes a segment once there is enough. */
int hprof_end_sub(struct hprof_writer *w);
/* The same behind so many null references, which take no memory. */
int hprof_end_sub_nulls(struct hprof_writer *w, uint64_t count);

int hprof_write_text(struct hprof_writer *w, uint64_t text_id, const void *text, size_t size);

/* HDB_ELIMIT: more than `most`. */
int hprof_too_large(struct hdb_error *err);

void hprof_writer_release(struct hprof_writer *w);

#endif

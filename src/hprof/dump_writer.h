/*
 * hprof/dump_writer.h - writes a dump record by record to a pipe or file. Used to convert heaps of
 * other formats to HPROF.
 *
 * The hprof_put functions collect the body of a record or the sub-records of a segment. They return
 * nothing; the next hprof_end_ function returns the first failure.
 */
#ifndef HPROF_DUMP_WRITER_H
#define HPROF_DUMP_WRITER_H

#include "base/vec.h"

/* Receives the bytes of the dump in order. */
struct hprof_sink {
	int (*put)(void *ctx, const void *data, size_t size, struct hdb_error *err);
	void *ctx;
};

/* Statistics of a heap that was written. */
struct hprof_written {
	uint64_t object_count;
	/* number of missing parts, unreadable objects and fields, and size mismatches */
	uint64_t problem_count;
};

struct hprof_writer {
	const struct hprof_sink *sink; /* borrowed */
	struct hdb_error *err;         /* borrowed */
	struct base_vec segment;       /* bytes that were put but not yet written */
	/*
	 * number of bytes written, and its limit, because a few bytes of hostile input can expand
	 * to very many
	 */
	uint64_t written, most;
	unsigned id_size;
	int result; /* the first failure of the put functions */
};

void hprof_put(struct hprof_writer *w, const void *data, size_t size);
void hprof_put_u1(struct hprof_writer *w, uint8_t value);
/*
 * Puts a two-byte number. Fails with HDB_ELIMIT above 65,535, which only field counts can exceed.
 */
void hprof_put_u2(struct hprof_writer *w, size_t value);
void hprof_put_u4(struct hprof_writer *w, uint32_t value);
void hprof_put_u8(struct hprof_writer *w, uint64_t value);
void hprof_put_id(struct hprof_writer *w, uint64_t id);

/* Puts a primitive array without its elements (PRIMITIVE ARRAY NODATA). */
void hprof_put_bare_array(struct hprof_writer *w, uint64_t id, uint64_t count, uint8_t type);

/* Overwrites the two bytes at `at` with a count that was not known earlier. */
void hprof_patch_u2(struct hprof_writer *w, size_t at, size_t value);

/*
 * Writes the file header. `version` is a string such as "JAVA PROFILE 1.0.3", and `ms` is the time
 * since 1970, or 0.
 */
int hprof_write_head(struct hprof_writer *w, const char *version, uint64_t ms);

/* Writes the bytes put so far as the body of a record. */
int hprof_end_record(struct hprof_writer *w, uint8_t tag);

/* Ends a sub-record. Writes the segment if it is large enough. */
int hprof_end_sub(struct hprof_writer *w);
/* Like hprof_end_sub, but first appends `count` null references without buffering them. */
int hprof_end_sub_nulls(struct hprof_writer *w, uint64_t count);

int hprof_write_text(struct hprof_writer *w, uint64_t text_id, const void *text, size_t size);

/* Reports that the dump is larger than `most`, and returns HDB_ELIMIT. */
int hprof_too_large(struct hdb_error *err);

void hprof_writer_release(struct hprof_writer *w);

#endif

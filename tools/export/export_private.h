/*
 * export/export_private.h - what the writers of files share: growing bytes, the columns of a
 * stream, compression.
 */
#ifndef EXPORT_PRIVATE_H
#define EXPORT_PRIVATE_H

#include "export/export.h"

#include "base/base_text.h"
#include "base/vec.h"
#include "base/error.h"
#include "base/scope.h"

#include <stdbool.h>
#include <string.h>
#include <zstd.h>

/* ---- export_bytes.c: numbers at the end of bytes, and compression ---- */

void export_bytes_byte(struct bytes *b, uint8_t byte);
void export_bytes_u32(struct bytes *b, uint32_t value); /* little-endian, as the next */
void export_bytes_u64(struct bytes *b, uint64_t value);
void export_bytes_varint(struct bytes *b, uint64_t value);
/* Zeros up to a multiple of `alignment`. */
void export_bytes_align(struct bytes *b, size_t alignment);

/* ---- export.c: the columns of a stream ---- */

enum export_kind {
	EXPORT_I64, /* also uint64: identifiers, counts, sizes; they stay below 2^63 in practice */
	EXPORT_F64,
	EXPORT_BOOL,
	EXPORT_TEXT
};

struct export_column {
	const char *name; /* borrowed from the schema */
	enum export_kind kind;
	bool is_unsigned;
	/* texts come as int32 numbers in a dictionary, the same in all batches */
	bool has_dictionary;
};

/* What a writer is called with. */
struct export_writer {
	const struct export_options *options;
	const struct export_sink *sink;
	const struct export_column *columns;
	size_t column_count;
	uint64_t offset; /* bytes written so far */
	void *state;     /* the format's own */
};

int export_write(struct export_writer *w, const void *data, size_t size, struct hdb_error *err);

/*
 * A format: begin, a call a batch, end (not after a failure), and release always. `batch` has a
 * child a column.
 */
struct export_writing {
	int (*begin)(struct export_writer *w, struct hdb_error *err);
	int (*batch)(struct export_writer *w, const struct ArrowArray *batch,
		     struct hdb_error *err);
	int (*end)(struct export_writer *w, struct hdb_error *err);
	void (*release)(struct export_writer *w);
};
extern const struct export_writing export_parquet, export_arrow;

static inline bool export_is_there(const struct ArrowArray *column, size_t row)
{
	const uint8_t *bits = column->buffers[0];

	return !bits || bits[row / 8] >> row % 8 & 1;
}

int export_no_memory(struct hdb_error *err);

/* ---- export_bytes.c: zstd ---- */

/* zstd's own, at the level of the options. *out is owned, also after a failure: ZSTD_freeCCtx. */
int export_zstd_new(const struct export_options *options, ZSTD_CCtx **out, struct hdb_error *err);
/* Appends a frame of `size` bytes. */
int export_zstd_put(ZSTD_CCtx *z, const void *data, size_t size, struct bytes *to,
		    struct hdb_error *err);

/* ---- export_encode.c: Parquet's encodings ---- */

/* Numbers of `bits` bits each: runs of one and the same, and groups of eight. */
void export_encode_rle(struct bytes *to, const uint32_t *values, size_t count, unsigned bits);
/* The bits of `count` rows, all of them there if `bitmap` is NULL: with their size before them. */
void export_encode_levels(struct bytes *to, const uint8_t *bitmap, size_t from, size_t count);
/* DELTA_BINARY_PACKED. */
void export_encode_delta(struct bytes *to, const uint64_t *values, size_t count);

/* ---- export_distinct.c: the distinct values of a column ---- */

struct export_distinct {
	bool is_text;
	uint64_t seed;
	uint32_t count;
	uint32_t *slots;     /* owned: 1 + number, 0: free */
	uint32_t slot_count; /* a power of two */
	/* numbers, or texts' places in plain */
	BASE_VEC_AS(value_vec, uint64_t, values, value_count);
	struct bytes plain; /* as Parquet's PLAIN encoding has them */
};

/* No code: no memory. */
#define EXPORT_NO_CODE UINT32_MAX

void export_distinct_init(struct export_distinct *d, bool is_text, uint64_t seed);
/* The number of a value, from 0 in the order of their first time. */
uint32_t export_distinct_number(struct export_distinct *d, uint64_t value);
uint32_t export_distinct_text(struct export_distinct *d, const char *text, uint32_t size);
const char *export_distinct_text_at(const struct export_distinct *d, uint32_t no, uint32_t *size);
/* Forgets all values, keeps the memory. */
void export_distinct_clear(struct export_distinct *d);
void export_distinct_release(struct export_distinct *d);

#endif

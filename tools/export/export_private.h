/*
 * export/export_private.h - declarations shared by the writers: growing buffers, columns of a
 * stream, compression.
 */
#ifndef EXPORT_PRIVATE_H
#define EXPORT_PRIVATE_H

#include "export/export.h"

#include "base/base_text.h"
#include "base/name_tree.h"
#include "base/error.h"
#include "base/scope.h"

#include <stdbool.h>
#include <zstd.h>

/* ---- export_bytes.c: numbers at the end of bytes, and compression ---- */

void export_bytes_byte(struct bytes *b, uint8_t byte);
void export_bytes_u32(struct bytes *b, uint32_t value); /* little-endian, like export_bytes_u64 */
void export_bytes_u64(struct bytes *b, uint64_t value);
void export_bytes_varint(struct bytes *b, uint64_t value);
/* Pads with zeros to a multiple of `alignment`. */
void export_bytes_align(struct bytes *b, size_t alignment);

/* ---- export.c: the columns of a stream ---- */

enum export_kind {
	/* int64 and uint64: identifiers, counts and sizes stay below 2^63 in practice */
	EXPORT_I64,
	EXPORT_F64,
	EXPORT_BOOL,
	EXPORT_TEXT
};

struct export_column {
	const char *name; /* borrowed from the schema */
	enum export_kind kind;
	bool is_unsigned;
	/* whether values are int32 indexes into one dictionary, the same in all batches */
	bool has_dictionary;
};

/* State that a format's functions share. */
struct export_writer {
	const struct export_options *options;
	const struct export_sink *sink;
	const struct export_column *columns;
	size_t column_count;
	uint64_t offset; /* bytes written */
	void *state;     /* private to the format */
};

int export_write(struct export_writer *w, const void *data, size_t size, struct hdb_error *err);

/*
 * The functions of a format. The caller calls begin, then batch for each batch, then end unless a
 * call failed, and in any case release. `batch` has one child per column.
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

/*
 * Creates a zstd context with the options' level. The caller must free *out with ZSTD_freeCCtx,
 * even after a failure.
 */
int export_zstd_new(const struct export_options *options, ZSTD_CCtx **out, struct hdb_error *err);
/* Compresses `size` bytes and appends them as one zstd frame. */
int export_zstd_put(ZSTD_CCtx *z, const void *data, size_t size, struct bytes *to,
		    struct hdb_error *err);

/* ---- export_encode.c: Parquet's encodings ---- */

/* Encodes numbers of `bits` bits as RLE runs and bit-packed groups of eight. */
void export_encode_rle(struct bytes *to, const uint32_t *values, size_t count, unsigned bits);
/*
 * Encodes the validity of `count` rows, prefixed with its size. If `bitmap` is NULL, all rows are
 * valid.
 */
void export_encode_levels(struct bytes *to, const uint8_t *bitmap, size_t from, size_t count);
/* Encodes numbers as DELTA_BINARY_PACKED. */
void export_encode_delta(struct bytes *to, const uint64_t *values, size_t count);

/* ---- export_distinct.c: the distinct values of a column ---- */

/* The distinct values of a column, which are numbers or texts. Must be initialised with zeros. */
struct export_distinct {
	uint32_t count;
	struct base_idmap numbers; /* value -> code */
	struct base_names texts;   /* indexed by code */
	struct bytes plain;        /* values in Parquet's PLAIN encoding */
};

/* Returned instead of a code if memory is exhausted. */
#define EXPORT_NO_CODE UINT32_MAX

/* Returns the code of a value. Codes are assigned from 0 in order of first occurrence. */
uint32_t export_distinct_number(struct export_distinct *d, uint64_t value);
uint32_t export_distinct_text(struct export_distinct *d, const char *text, uint32_t size);
void export_distinct_release(struct export_distinct *d);

#endif

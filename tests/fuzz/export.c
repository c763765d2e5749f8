/*
 * fuzz/export.c - rows with any types, values and texts as Parquet and Arrow files. Packed data
 * unpacks to the same values, a file has its magic numbers and all rows, equal rows give equal
 * bytes, and a failed write ends the file.
 *
 * Input: u8 format and compression, u8 rows per row group, u8 rows per batch, u8 number of batches,
 * u8 number of the write that fails (0: none), u8 number of columns, u8 type for each column. The
 * remaining bytes, repeated as needed, determine the values.
 */
#include "export/export_private.h"

#include "support/fuzz_target.h"

#include <errno.h>
#include <stdlib.h>

#define HEAD 6
#define COLUMNS_MAX 8
#define ROWS_MAX 64
#define BATCHES_MAX 6
#define TEXTS_MAX ((size_t)ROWS_MAX * 40)
#define WORDS 4

/* ---- values ---- */

struct source {
	const uint8_t *data;
	size_t size, at;
};

static uint8_t take(struct source *s)
{
	return s->size ? s->data[s->at++ % s->size] : 0;
}

static uint64_t take64(struct source *s)
{
	uint64_t value = 0;

	for (unsigned i = take(s) % 9; i > 0; i--)
		value = value << 8 | take(s);
	return value;
}

/* ---- a stream ---- */

struct column {
	unsigned type; /* index in `formats` */
	union {
		uint64_t numbers[ROWS_MAX];
		int32_t ends[ROWS_MAX + 1];
		uint8_t bits[(ROWS_MAX + 7) / 8];
	} values;
	uint8_t there[(ROWS_MAX + 7) / 8];
	char texts[TEXTS_MAX];
	const void *buffers[3];
	struct ArrowArray array;
	struct ArrowSchema schema;
};

struct rows {
	struct source source;
	unsigned column_count, batch_count, batches_given, batch_rows;
	struct column columns[COLUMNS_MAX];
	struct ArrowArray *arrays[COLUMNS_MAX];
	struct ArrowSchema *schemas[COLUMNS_MAX];
};

static const char *const formats[] = { "L", "l", "g", "b", "u", "i" };
#define FORMATS (sizeof(formats) / sizeof(formats[0]))
enum { BOOL = 3, TEXT = 4, CODE = 5 };

/* The dictionary that all columns with a dictionary share. */
static char words[] = "aa\xff\xfe"
		      "b";
static int32_t word_ends[WORDS + 1] = { 0, 0, 2, 4, 5 };
static const void *word_buffers[3] = { NULL, word_ends, words };
static struct ArrowArray word_array = { .length = WORDS, .n_buffers = 3, .buffers = word_buffers };
static struct ArrowSchema word_schema = { .format = "u", .name = "" };

static void keep_schema(struct ArrowSchema *schema)
{
	schema->release = NULL;
}

static void keep_array(struct ArrowArray *array)
{
	array->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct rows *r = stream->private_data;

	for (unsigned i = 0; i < r->column_count; i++) {
		struct column *c = &r->columns[i];

		c->schema = (struct ArrowSchema){
			.format = formats[c->type],
			.name = i % 2 ? "a\xff\"" : "",
			.dictionary = c->type == CODE ? &word_schema : NULL,
		};
		r->schemas[i] = &c->schema;
	}
	*out = (struct ArrowSchema){ .format = "+s",
				     .n_children = r->column_count,
				     .children = r->schemas,
				     .release = keep_schema };
	return 0;
}

static void fill(struct rows *r, struct column *c)
{
	struct source *s = &r->source;
	const bool has_nulls = take(s) % 2;
	size_t size = 0;

	memset(c->values.numbers, 0, sizeof(c->values));
	memset(c->there, 0, sizeof(c->there));
	for (unsigned i = 0; i < r->batch_rows; i++) {
		if (take(s) % 4)
			c->there[i / 8] |= (uint8_t)(1u << i % 8);
		if (c->type < BOOL)
			c->values.numbers[i] = take64(s);
		else if (c->type == BOOL)
			c->values.bits[i / 8] |= (uint8_t)((take(s) & 1u) << i % 8);
		else if (c->type == CODE)
			c->values.ends[i] = take(s) % WORDS;
		for (unsigned n = c->type == TEXT ? take(s) % 40 : 0; n > 0; n--)
			c->texts[size++] = (char)take(s);
		if (c->type == TEXT)
			c->values.ends[i + 1] = (int32_t)size;
	}
	c->buffers[0] = has_nulls ? c->there : NULL;
	c->buffers[1] = &c->values;
	c->buffers[2] = c->texts;
	c->array = (struct ArrowArray){ .length = r->batch_rows,
					.null_count = has_nulls ? -1 : 0,
					.n_buffers = c->type == TEXT ? 3 : 2,
					.buffers = c->buffers,
					.dictionary = c->type == CODE ? &word_array : NULL };
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct rows *r = stream->private_data;

	*out = (struct ArrowArray){ 0 };
	if (r->batches_given == r->batch_count)
		return 0;
	r->batches_given++;
	for (unsigned i = 0; i < r->column_count; i++) {
		fill(r, &r->columns[i]);
		r->arrays[i] = &r->columns[i].array;
	}
	*out = (struct ArrowArray){ .length = r->batch_rows,
				    .n_children = r->column_count,
				    .children = r->arrays,
				    .release = keep_array };
	return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return NULL;
}

/* ---- a file ---- */

struct file {
	struct bytes bytes;
	unsigned writes, fails_at;
};

static int put(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	struct file *f = ctx;

	if (++f->writes == f->fails_at)
		return hdb_fail(err, HDB_EIO, "no room");
	bytes_add(&f->bytes, data, size);
	return HDB_OK;
}

static const uint8_t *unsigned_data(const struct bytes *b)
{
	return (const uint8_t *)b->data;
}

static void check_file(const struct file *f, enum export_format format)
{
	const uint8_t *data = unsigned_data(&f->bytes);
	const size_t size = f->bytes.size;
	uint64_t footer;

	if (format == EXPORT_ARROW_STREAM)
		return;
	if (format == EXPORT_ARROW) {
		if (size < 16 || memcmp(data, "ARROW1", 6) != 0 ||
		    memcmp(data + size - 6, "ARROW1", 6) != 0)
			abort();
		return;
	}
	if (size < 12 || memcmp(data, "PAR1", 4) != 0 || memcmp(data + size - 4, "PAR1", 4) != 0)
		abort();
	footer = data[size - 8] | (uint64_t)data[size - 7] << 8 | (uint64_t)data[size - 6] << 16 |
		 (uint64_t)data[size - 5] << 24;
	if (footer == 0 || footer > size - 12)
		abort();
}

/* Writes the rows that the input describes. */
static void write_rows(const uint8_t *data, size_t size, struct file *f)
{
	static struct rows r;
	const struct export_options options = {
		.format = (enum export_format)(data[0] % 3),
		.is_plain = data[0] / 3 % 2,
		.rows = data[1],
	};
	const struct export_sink sink = { put, f };
	struct ArrowArrayStream stream = { .get_schema = get_schema,
					   .get_next = get_next,
					   .get_last_error = last_error,
					   .private_data = &r };
	struct export_result result = { 0 };
	struct hdb_error err = { 0 };
	int code;

	r.column_count = data[5] % COLUMNS_MAX + 1;
	r.batch_rows = data[2] % (ROWS_MAX + 1);
	r.batch_count = data[3] % (BATCHES_MAX + 1);
	r.batches_given = 0;
	if (size < HEAD + r.column_count)
		return;
	for (unsigned i = 0; i < r.column_count; i++)
		r.columns[i].type = data[HEAD + i] % FORMATS;
	r.source = (struct source){ .data = data + HEAD + r.column_count,
				    .size = size - HEAD - r.column_count };
	code = export_stream(&stream, &options, &sink, &result, &err);
	if (f->fails_at && f->writes >= f->fails_at) {
		if (code != HDB_EIO || strcmp(err.message, "no room") != 0)
			abort();
		return;
	}
	if (code != HDB_OK || result.rows != (uint64_t)r.batch_rows * r.batch_count ||
	    result.bytes != f->bytes.size)
		abort();
	check_file(f, options.format);
}

/* ---- unpacking, as the formats define it ---- */

static uint64_t read_bits(const uint8_t *data, size_t size, uint64_t at, unsigned bits)
{
	uint64_t value = 0;

	if (at + bits > 8 * (uint64_t)size)
		abort();
	for (unsigned i = 0; i < bits; i++, at++)
		value |= (uint64_t)(data[at / 8] >> at % 8 & 1) << i;
	return value;
}

static uint64_t read_varint(const struct bytes *b, size_t *at)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		if (*at == b->size || shift > 63)
			abort();
		value |= (uint64_t)(unsigned_data(b)[*at] & 0x7f) << shift;
		if (!(unsigned_data(b)[(*at)++] & 0x80))
			return value;
	}
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

static void check_delta(const uint64_t *values, size_t count)
{
	struct bytes b = { 0 };
	uint64_t block, minis, last;
	size_t at = 0, done = 1;

	export_encode_delta(&b, values, count);
	block = read_varint(&b, &at);
	minis = read_varint(&b, &at);
	if (!minis || block % 128 || block / minis % 32 || read_varint(&b, &at) != count)
		abort();
	last = unzigzag(read_varint(&b, &at));
	if (count && last != values[0])
		abort();
	while (done < count) {
		const uint64_t least = unzigzag(read_varint(&b, &at));
		const size_t widths = at;

		at += minis;
		for (uint64_t m = 0; m < minis && done < count; m++) {
			const unsigned bits =
				widths + m < b.size ? unsigned_data(&b)[widths + m] : 99;

			if (bits > 64)
				abort();
			for (uint64_t i = 0; i < block / minis && done < count; i++, done++) {
				last += least + read_bits(unsigned_data(&b) + at, b.size - at,
							  i * bits, bits);
				if (last != values[done])
					abort();
			}
			at += block / minis * bits / 8;
		}
	}
	if (at != b.size)
		abort();
	bytes_release(&b);
}

static void check_rle(const uint32_t *values, size_t count, unsigned bits)
{
	struct bytes b = { 0 };
	size_t at = 0, done = 0;

	export_encode_rle(&b, values, count, bits);
	while (done < count) {
		const uint64_t head = read_varint(&b, &at);
		const bool is_packed = head & 1;
		const uint64_t n = is_packed ? (head >> 1) * 8 : head >> 1;

		if (!n)
			abort();
		for (uint64_t i = 0; i < n && done < count; i++, done++)
			if (read_bits(unsigned_data(&b) + at, b.size - at, is_packed ? i * bits : 0,
				      bits) != values[done])
				abort();
		at += is_packed ? n * bits / 8 : (bits + 7) / 8;
	}
	if (at != b.size)
		abort();
	bytes_release(&b);
}

static void check_packing(const uint8_t *data, size_t size)
{
	struct source s = { data, size, 0 };
	const size_t count = 1 + (size_t)take(&s) * 2;
	const unsigned bits = take(&s) % 33, repeats = take(&s);
	uint64_t numbers[512];
	uint32_t codes[512];

	for (size_t i = 0; i < count; i++) {
		const bool again = i > 0 && repeats > 0 && take(&s) % 8 < repeats % 8;

		numbers[i] = again ? numbers[i - 1] : take64(&s);
		codes[i] =
			again ? codes[i - 1] : (uint32_t)(numbers[i] & ((UINT64_C(1) << bits) - 1));
	}
	check_delta(numbers, count);
	if (bits > 0)
		check_rle(codes, count, bits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file files[2] = { { .fails_at = 0 }, { .fails_at = 0 } };

	if (size < HEAD + 1)
		return 0;
	check_packing(data, size);
	for (unsigned i = 0; i < 2; i++) {
		files[i].fails_at = data[4];
		write_rows(data, size, &files[i]);
	}
	if (files[0].bytes.size != files[1].bytes.size ||
	    (files[0].bytes.size &&
	     memcmp(files[0].bytes.data, files[1].bytes.data, files[0].bytes.size) != 0))
		abort();
	bytes_release(&files[0].bytes);
	bytes_release(&files[1].bytes);
	return 0;
}

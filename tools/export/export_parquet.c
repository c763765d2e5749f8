/*
 * export/export_parquet.c - Parquet writer. Pages are encoded and compressed as batches arrive, and
 * kept in memory until their row group is complete.
 *
 * heapdb has its own writer (about 2,400 lines including Arrow) because Debian 12 has no library
 * that writes Parquet, such as Arrow C++, and carquet, the only such library in C, has 20,000
 * lines. tools/export/README.md has the measurements.
 *
 * It writes format 2.6 with V1 data pages, page CRCs, column statistics and zstd compression. All
 * columns are flat and optional. Types: INT64 (also for unsigned numbers, because Spark does not
 * support unsigned types), DOUBLE, BOOLEAN, and BYTE_ARRAY with UTF8. Encodings: PLAIN,
 * RLE_DICTIONARY and DELTA_BINARY_PACKED.
 */
#include "base/sort.h"
#include "export/export_private.h"

#include <assert.h>
#include <libdeflate.h>
#include <stdlib.h>

/* Writes Thrift's compact protocol, with the features that Parquet metadata needs. */

/* Maximum nesting of structures. Parquet's nesting is lower. */
#define THRIFT_DEPTH 8

enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12
};

/* Writer state. Fields of a structure must be written in ascending order. */
struct thrift {
	struct bytes *to;       /* output; borrowed */
	int last[THRIFT_DEPTH]; /* number of the last field, by nesting level */
	int depth;
};

enum { TRUE_FIELD = 1, FALSE_FIELD = 2 };

static void thrift_begin(struct thrift *t, struct bytes *to)
{
	*t = (struct thrift){ .to = to };
}

static void header(struct thrift *t, int field, unsigned type)
{
	const int step = field - t->last[t->depth];

	assert(step > 0);
	assert(step <= 15);
	assert(type <= 15);
	export_bytes_byte(t->to, (uint8_t)((unsigned)step << 4 | type));
	t->last[t->depth] = field;
}

static void number(struct thrift *t, int64_t value)
{
	export_bytes_varint(t->to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void thrift_i32(struct thrift *t, int field, int32_t value)
{
	header(t, field, THRIFT_I32);
	number(t, value);
}

static void thrift_i64(struct thrift *t, int field, int64_t value)
{
	header(t, field, THRIFT_I64);
	number(t, value);
}

static void thrift_bool(struct thrift *t, int field, bool value)
{
	header(t, field, value ? TRUE_FIELD : FALSE_FIELD);
}

static void thrift_bytes(struct thrift *t, int field, const void *data, size_t size)
{
	header(t, field, THRIFT_BINARY);
	export_bytes_varint(t->to, size);
	bytes_add(t->to, data, size);
}

static void thrift_text(struct thrift *t, int field, const char *text)
{
	thrift_bytes(t, field, text, strlen(text));
}

/* Begins a structure, which thrift_end ends. If `field` is 0, it is an element of a list. */
static void thrift_struct(struct thrift *t, int field)
{
	if (field)
		header(t, field, THRIFT_STRUCT);
	assert(t->depth + 1 < THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

static void thrift_end(struct thrift *t)
{
	assert(t->depth >= 0);
	export_bytes_byte(t->to, 0);
	t->depth -= t->depth > 0;
}

/* Begins a list; `count` elements follow. */
static void thrift_list(struct thrift *t, int field, enum thrift_type type, size_t count)
{
	header(t, field, THRIFT_LIST);
	if (count < 15) {
		export_bytes_byte(t->to, (uint8_t)(count << 4 | type));
	} else {
		export_bytes_byte(t->to, (uint8_t)(0xf0 | type));
		export_bytes_varint(t->to, count);
	}
}

/* Writes a list element. */
static void thrift_element_i32(struct thrift *t, int32_t value)
{
	number(t, value);
}

static void thrift_element_text(struct thrift *t, const char *text)
{
	const size_t size = strlen(text);

	export_bytes_varint(t->to, size);
	bytes_add(t->to, text, size);
}

/* Default number of rows in a row group. */
#define GROUP_ROWS (1u << 20)
/* A row group also ends when its pages reach this size. */
#define GROUP_BYTES (40u << 20)
/* Maximum number of bytes of text in a page. */
#define PAGE_TEXT (1u << 20)
/*
 * Maximum number of values in the dictionary of a column. The dictionary is also dropped once at
 * least 1 in 4 values is new.
 */
#define DISTINCT_MAX 65536
#define DISTINCT_TEXT (4u << 20)
/* Maximum length of a string in statistics. */
#define STATISTICS_TEXT 64

enum parquet_type { TYPE_BOOLEAN = 0, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum parquet_encoding { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 };
enum parquet_page { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum parquet_codec { UNCOMPRESSED = 0, ZSTD = 6 };

/* Minimum and maximum of a column chunk. */
struct bounds {
	bool is_set;
	int64_t low, high;  /* bounds of integers and booleans */
	int64_t last;       /* previous value */
	bool has_fallen;    /* whether a value was less than its predecessor: not sorted */
	double least, most; /* bounds of doubles */
	struct bytes low_text, high_text;
};

/* A column of the current row group. */
struct chunk {
	struct export_distinct distinct;
	bool has_dictionary; /* whether all values so far are in `distinct` */
	bool was_used;       /* whether a page uses the dictionary */
	/* owned: 1 + code in the file, indexed by the index in the stream's dictionary */
	uint32_t *codes_of;
	size_t codes_room;
	struct bytes pages; /* encoded pages, including headers */
	uint64_t raw_bytes; /* size of the pages before compression */
	uint64_t null_count;
	bool has_plain, has_delta; /* encodings used by pages */
	struct bounds bounds;
};

struct parquet {
	struct chunk *chunks; /* indexed by column */
	ZSTD_CCtx *zstd;
	uint64_t group_rows, row_count, group_count;
	struct bytes raw;    /* current page */
	struct bytes packed; /* current page, compressed */
	uint64_t *values;    /* values of the current page without nulls */
	uint32_t *codes;
	size_t value_room;
	struct bytes groups; /* metadata of finished row groups */
};

static const enum parquet_type types[] = {
	[EXPORT_I64] = TYPE_INT64,
	[EXPORT_F64] = TYPE_DOUBLE,
	[EXPORT_BOOL] = TYPE_BOOLEAN,
	[EXPORT_TEXT] = TYPE_BYTE_ARRAY,
};

static int begin(struct export_writer *w, struct hdb_error *err)
{
	struct parquet *p = calloc(1, sizeof(*p));

	w->state = p;
	if (!p)
		return export_no_memory(err);
	p->chunks = calloc(w->column_count, sizeof(*p->chunks));
	if (!p->chunks)
		return export_no_memory(err);
	for (size_t i = 0; i < w->column_count; i++)
		p->chunks[i].has_dictionary = w->columns[i].kind != EXPORT_BOOL;
	TRY(export_zstd_new(w->options, &p->zstd, err));
	return export_write(w, "PAR1", 4, err);
}

/* ---- pages ---- */

/* The fields of a page header. */
struct page {
	enum parquet_page type;
	enum parquet_encoding encoding;
	size_t count; /* number of values */
};

/* Compresses p->raw and appends it to the chunk as a page. */
static int put_page(struct export_writer *w, struct chunk *c, struct page page, struct bytes *to,
		    struct hdb_error *err)
{
	struct parquet *p = w->state;
	const struct bytes *body = &p->raw;
	const size_t before = to->size;
	struct thrift t;
	size_t header;

	if (p->raw.failed)
		return export_no_memory(err);
	if (!w->options->is_plain) {
		p->packed.size = 0;
		TRY(export_zstd_put(p->zstd, p->raw.data, p->raw.size, &p->packed, err));
		body = &p->packed;
	}
	if (p->raw.size > INT32_MAX || body->size > INT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "a string is longer than 2 GiB");
	thrift_begin(&t, to);
	thrift_i32(&t, 1, (int32_t)page.type);
	thrift_i32(&t, 2, (int32_t)p->raw.size);
	thrift_i32(&t, 3, (int32_t)body->size);
	thrift_i32(&t, 4, (int32_t)libdeflate_crc32(0, body->data, body->size));
	thrift_struct(&t, page.type == DATA_PAGE ? 5 : 7);
	thrift_i32(&t, 1, (int32_t)page.count);
	thrift_i32(&t, 2, (int32_t)page.encoding);
	if (page.type == DATA_PAGE) {
		thrift_i32(&t, 3, RLE);
		thrift_i32(&t, 4, RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	header = to->size - before;
	bytes_add(to, body->data, body->size);
	c->raw_bytes += header + p->raw.size;
	return to->failed ? export_no_memory(err) : HDB_OK;
}

/* Makes a data page of p->raw. */
static int put_data(struct export_writer *w, struct chunk *c, enum parquet_encoding encoding,
		    size_t rows, struct hdb_error *err)
{
	c->has_plain |= encoding == PLAIN;
	c->has_delta |= encoding == DELTA_BINARY_PACKED;
	c->was_used |= encoding == RLE_DICTIONARY;
	return put_page(w, c, (struct page){ DATA_PAGE, encoding, rows }, &c->pages, err);
}

/* Begins a page with its definition levels, which mark null rows. */
static void put_levels(struct parquet *p, const struct ArrowArray *a, size_t from, size_t rows)
{
	p->raw.size = 0;
	export_encode_levels(&p->raw, a->buffers[0], from, rows);
}

static void put_codes(struct parquet *p, size_t count, uint32_t distinct)
{
	unsigned bits = 1;

	while (bits < 32 && distinct > 1u << bits)
		bits++;
	export_bytes_byte(&p->raw, (uint8_t)bits);
	export_encode_rle(&p->raw, p->codes, count, bits);
}

static int make_room(struct parquet *p, size_t rows, struct hdb_error *err)
{
	if (rows <= p->value_room)
		return HDB_OK;
	free(p->values);
	free(p->codes);
	p->values = malloc(rows * sizeof(*p->values));
	p->codes = malloc(rows * sizeof(*p->codes));
	p->value_room = p->values && p->codes ? rows : 0;
	return p->value_room ? HDB_OK : export_no_memory(err);
}

/* ---- numbers ---- */

static void bound_numbers(struct bounds *b, const uint64_t *values, size_t count)
{
	int64_t low = b->is_set ? b->low : INT64_MAX, high = b->is_set ? b->high : INT64_MIN;
	int64_t last = b->is_set ? b->last : INT64_MIN;
	bool has_fallen = b->has_fallen;

	for (size_t i = 0; i < count; i++) {
		const int64_t v = (int64_t)values[i];

		low = v < low ? v : low;
		high = v > high ? v : high;
		has_fallen |= v < last;
		last = v;
	}
	b->low = low;
	b->high = high;
	b->last = last;
	b->has_fallen = has_fallen;
	b->is_set |= count > 0;
}

/*
 * Updates the bounds. NaN is ignored. As the format requires, zero bounds are written as -0 and +0.
 */
static void bound_doubles(struct bounds *b, const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double v;

		memcpy(&v, &values[i], sizeof(v));
		if (v != v)
			continue;
		if (!b->is_set || v < b->least)
			b->least = v;
		if (!b->is_set || v > b->most)
			b->most = v;
		b->is_set = true;
	}
}

/*
 * Assigns dictionary codes to the values of a page. If there are too many distinct values, drops
 * the dictionary of the chunk and returns false.
 */
static bool number_values(struct parquet *p, struct chunk *c, size_t count)
{
	const uint32_t before = c->distinct.count;

	for (size_t i = 0; i < count; i++) {
		p->codes[i] = export_distinct_number(&c->distinct, p->values[i]);
		if (p->codes[i] == EXPORT_NO_CODE || c->distinct.count > DISTINCT_MAX)
			return false;
		if (c->distinct.count - before > 1024 && c->distinct.count - before > (i + 1) / 4 &&
		    i > 4096)
			return false;
	}
	return true;
}

static int put_numbers(struct export_writer *w, size_t no, const struct ArrowArray *a,
		       struct hdb_error *err)
{
	const bool is_double = w->columns[no].kind == EXPORT_F64;
	const uint64_t *from = a->buffers[1];
	const size_t rows = (size_t)a->length;
	struct parquet *p = w->state;
	struct chunk *c = &p->chunks[no];
	const uint64_t *values = from;
	size_t count = rows;

	if (a->null_count) {
		count = 0;
		for (size_t i = 0; i < rows; i++) {
			p->values[count] = from[i];
			count += export_is_there(a, i);
		}
		values = p->values;
	} else if (rows) {
		/* `from` is NULL for a batch without rows. */
		memcpy(p->values, from, rows * sizeof(*from));
	}
	if (is_double)
		bound_doubles(&c->bounds, values, count);
	else
		bound_numbers(&c->bounds, values, count);
	put_levels(p, a, 0, rows);
	if (c->has_dictionary && !(c->has_dictionary = number_values(p, c, count)) &&
	    c->distinct.plain.failed)
		return export_no_memory(err);
	if (c->has_dictionary) {
		put_codes(p, count, c->distinct.count);
		return put_data(w, c, RLE_DICTIONARY, rows, err);
	}
	if (!is_double && count) {
		const size_t levels = p->raw.size;

		export_encode_delta(&p->raw, p->values, count);
		if (p->raw.size - levels < count * 7)
			return put_data(w, c, DELTA_BINARY_PACKED, rows, err);
		p->raw.size = levels;
	}
	bytes_add(&p->raw, p->values, count * sizeof(*p->values));
	return put_data(w, c, PLAIN, rows, err);
}

static int put_booleans(struct export_writer *w, size_t no, const struct ArrowArray *a,
			struct hdb_error *err)
{
	const uint8_t *bits = a->buffers[1];
	const size_t rows = (size_t)a->length;
	struct parquet *p = w->state;
	struct chunk *c = &p->chunks[no];
	size_t count = 0;
	uint8_t *out;

	put_levels(p, a, 0, rows);
	out = bytes_room(&p->raw, (rows + 7) / 8);
	if (!out)
		return export_no_memory(err);
	memset(out, 0, (rows + 7) / 8);
	for (size_t i = 0; i < rows; i++) {
		const uint64_t bit = bits[i / 8] >> i % 8 & 1;

		if (!export_is_there(a, i))
			continue;
		bound_numbers(&c->bounds, &bit, 1);
		out[count / 8] |= (uint8_t)(bit << count % 8);
		count++;
	}
	p->raw.size += (count + 7) / 8;
	return put_data(w, c, PLAIN, rows, err);
}

/* ---- strings ---- */

static int compare(const struct bytes *a, const char *text, size_t size)
{
	return base_compare_text(a->data, a->size, text, size);
}

static void bound_text(struct bounds *b, const char *text, size_t size)
{
	if (!b->is_set || compare(&b->low_text, text, size) > 0) {
		b->low_text.size = 0;
		bytes_add(&b->low_text, text, size);
	}
	if (!b->is_set || compare(&b->high_text, text, size) < 0) {
		b->high_text.size = 0;
		bytes_add(&b->high_text, text, size);
	}
	b->is_set = true;
}

/* Encodes a column of strings that are given as indexes into the stream's dictionary. */
static int put_names(struct export_writer *w, size_t no, const struct ArrowArray *a,
		     struct hdb_error *err)
{
	const struct ArrowArray *names = a->dictionary;
	const int32_t *from = a->buffers[1], *offsets = names->buffers[1];
	const char *text = names->buffers[2];
	const size_t rows = (size_t)a->length;
	struct parquet *p = w->state;
	struct chunk *c = &p->chunks[no];
	size_t count = 0;

	if ((size_t)names->length > c->codes_room || !c->codes_of) {
		free(c->codes_of);
		c->codes_of = calloc((size_t)names->length + 1, sizeof(*c->codes_of));
		if (!c->codes_of)
			return export_no_memory(err);
		c->codes_room = (size_t)names->length;
	}
	for (size_t i = 0; i < rows; i++) {
		const int32_t name = from[i];

		if (!export_is_there(a, i))
			continue;
		if (!c->codes_of[name]) {
			const char *at = text + offsets[name];
			const uint32_t size = (uint32_t)(offsets[name + 1] - offsets[name]);
			const uint32_t code = export_distinct_text(&c->distinct, at, size);

			if (code == EXPORT_NO_CODE)
				return export_no_memory(err);
			c->codes_of[name] = code + 1;
		}
		p->codes[count++] = c->codes_of[name] - 1;
	}
	put_levels(p, a, 0, rows);
	put_codes(p, count, c->distinct.count);
	return put_data(w, c, RLE_DICTIONARY, rows, err);
}

/* Assigns dictionary codes to the strings of a page, as number_values does. */
static bool number_texts(struct parquet *p, struct chunk *c, const struct ArrowArray *a,
			 size_t from, size_t rows)
{
	const int32_t *offsets = a->buffers[1];
	const uint32_t before = c->distinct.count;
	const char *text = a->buffers[2];
	size_t count = 0;

	for (size_t i = from; i < from + rows; i++) {
		const uint32_t size = (uint32_t)(offsets[i + 1] - offsets[i]);

		if (!export_is_there(a, i))
			continue;
		p->codes[count] = export_distinct_text(&c->distinct, text + offsets[i], size);
		if (p->codes[count] == EXPORT_NO_CODE || c->distinct.count > DISTINCT_MAX ||
		    c->distinct.plain.size > DISTINCT_TEXT)
			return false;
		count++;
		if (c->distinct.count - before > 1024 && c->distinct.count - before > count / 2 &&
		    count > 4096)
			return false;
	}
	put_levels(p, a, from, rows);
	put_codes(p, count, c->distinct.count);
	return true;
}

/* Range of rows that form a page. */
struct rows {
	const struct ArrowArray *a;
	size_t from, count;
};

static int put_texts_page(struct export_writer *w, size_t no, const struct rows *page,
			  struct hdb_error *err)
{
	const struct ArrowArray *a = page->a;
	const size_t from = page->from, rows = page->count;
	const int32_t *offsets = a->buffers[1];
	const char *text = a->buffers[2];
	struct parquet *p = w->state;
	struct chunk *c = &p->chunks[no];

	if (c->has_dictionary && number_texts(p, c, a, from, rows))
		return put_data(w, c, RLE_DICTIONARY, rows, err);
	if (c->distinct.plain.failed)
		return export_no_memory(err);
	c->has_dictionary = false;
	put_levels(p, a, from, rows);
	for (size_t i = from; i < from + rows; i++) {
		const uint32_t size = (uint32_t)(offsets[i + 1] - offsets[i]);

		if (!export_is_there(a, i))
			continue;
		bound_text(&c->bounds, text + offsets[i], size);
		export_bytes_u32(&p->raw, size);
		bytes_add(&p->raw, text + offsets[i], size);
	}
	return put_data(w, c, PLAIN, rows, err);
}

static int put_texts(struct export_writer *w, size_t no, const struct ArrowArray *a,
		     struct hdb_error *err)
{
	const int32_t *offsets = a->buffers[1];
	const size_t rows = (size_t)a->length;
	size_t from = 0;

	while (from < rows) {
		size_t end = from + 1;

		while (end < rows && offsets[end + 1] - offsets[from] < (int32_t)PAGE_TEXT)
			end++;
		TRY(put_texts_page(w, no, &(struct rows){ a, from, end - from }, err));
		from = end;
	}
	return HDB_OK;
}

/* ---- metadata ---- */

/* Truncates a string at a character boundary. The prefix is never greater than the text. */
static size_t cut_text(const struct bytes *b)
{
	size_t size = b->size;

	if (size <= STATISTICS_TEXT)
		return size;
	for (size = STATISTICS_TEXT; size > 0 && (b->data[size] & 0xc0) == 0x80; size--)
		;
	return size;
}

static void put_statistics(struct thrift *t, const struct chunk *c, enum export_kind kind)
{
	const struct bounds *b = &c->bounds;
	uint8_t low[8], high[8];
	double least = b->least, most = b->most;

	thrift_struct(t, 12);
	thrift_i64(t, 3, (int64_t)c->null_count);
	if (b->is_set && kind == EXPORT_TEXT) {
		const size_t size = cut_text(&b->low_text);
		const bool has_high = b->high_text.size <= STATISTICS_TEXT;

		/* a truncated maximum would be too low, so it is omitted */
		if (has_high)
			thrift_bytes(t, 5, b->high_text.data, b->high_text.size);
		thrift_bytes(t, 6, b->low_text.data, size);
		if (has_high)
			thrift_bool(t, 7, true);
		thrift_bool(t, 8, size == b->low_text.size);
	} else if (b->is_set && kind == EXPORT_BOOL) {
		low[0] = (uint8_t)b->low;
		high[0] = (uint8_t)b->high;
		thrift_bytes(t, 5, high, 1);
		thrift_bytes(t, 6, low, 1);
	} else if (b->is_set) {
		if (kind == EXPORT_F64) {
			least = least == 0 ? -0.0 : least;
			most = most == 0 ? 0.0 : most;
			memcpy(low, &least, sizeof(low));
			memcpy(high, &most, sizeof(high));
		} else {
			memcpy(low, &b->low, sizeof(low));
			memcpy(high, &b->high, sizeof(high));
		}
		thrift_bytes(t, 5, high, sizeof(high));
		thrift_bytes(t, 6, low, sizeof(low));
	}
	thrift_end(t);
}

/* Location of a chunk in the file. */
struct place {
	uint64_t at, dictionary, size, raw;
};

static void put_chunk(struct thrift *t, const struct export_writer *w, size_t no,
		      const struct place *place)
{
	const struct parquet *p = w->state;
	const struct chunk *c = &p->chunks[no];

	thrift_struct(t, 0);
	thrift_i64(t, 2, 0);
	thrift_struct(t, 3);
	thrift_i32(t, 1, (int32_t)types[w->columns[no].kind]);
	thrift_list(t, 2, THRIFT_I32,
		    1u + (c->has_plain || c->was_used) + c->was_used + c->has_delta);
	thrift_element_i32(t, RLE);
	if (c->has_plain || c->was_used)
		thrift_element_i32(t, PLAIN);
	if (c->was_used)
		thrift_element_i32(t, RLE_DICTIONARY);
	if (c->has_delta)
		thrift_element_i32(t, DELTA_BINARY_PACKED);
	thrift_list(t, 3, THRIFT_BINARY, 1);
	thrift_element_text(t, w->columns[no].name);
	thrift_i32(t, 4, w->options->is_plain ? UNCOMPRESSED : ZSTD);
	thrift_i64(t, 5, (int64_t)p->group_rows);
	thrift_i64(t, 6, (int64_t)place->raw);
	thrift_i64(t, 7, (int64_t)place->size);
	thrift_i64(t, 9, (int64_t)(place->at + place->dictionary));
	if (place->dictionary)
		thrift_i64(t, 11, (int64_t)place->at);
	put_statistics(t, c, w->columns[no].kind);
	thrift_end(t);
	thrift_end(t);
}

/* ---- row groups ---- */

/* Writes the dictionary, if used, and the pages. */
static int write_chunk(struct export_writer *w, size_t no, struct place *place,
		       struct hdb_error *err)
{
	struct parquet *p = w->state;
	struct chunk *c = &p->chunks[no];
	struct bytes dictionary = { 0 };
	int r = HDB_OK;

	*place = (struct place){ .at = w->offset };
	/* compute the bounds of strings with a dictionary here, once per distinct text */
	for (size_t i = 0; c->was_used && i < c->distinct.texts.list.count; i++) {
		const struct base_name *name =
			base_vec_at(&c->distinct.texts.list, struct base_name, i);

		bound_text(&c->bounds, name->text, name->size);
	}
	if (c->bounds.low_text.failed || c->bounds.high_text.failed)
		return export_no_memory(err);
	if (c->was_used) {
		p->raw.size = 0;
		bytes_add(&p->raw, c->distinct.plain.data, c->distinct.plain.size);
		r = put_page(w, c, (struct page){ DICTIONARY_PAGE, PLAIN, c->distinct.count },
			     &dictionary, err);
	}
	if (r >= 0)
		r = export_write(w, dictionary.data, dictionary.size, err);
	if (r >= 0)
		r = export_write(w, c->pages.data, c->pages.size, err);
	place->dictionary = dictionary.size;
	place->size = dictionary.size + c->pages.size;
	place->raw = c->raw_bytes;
	bytes_release(&dictionary);
	return r;
}

static void clear_chunk(struct chunk *c, enum export_kind kind)
{
	export_distinct_release(&c->distinct);
	c->has_dictionary = kind != EXPORT_BOOL;
	c->was_used = c->has_plain = c->has_delta = false;
	if (c->codes_of)
		memset(c->codes_of, 0, c->codes_room * sizeof(*c->codes_of));
	c->pages.size = 0;
	c->raw_bytes = c->null_count = 0;
	c->bounds.is_set = c->bounds.has_fallen = false;
	c->bounds.low_text.size = c->bounds.high_text.size = 0;
}

static int write_group(struct export_writer *w, struct hdb_error *err)
{
	struct parquet *p = w->state;
	const uint64_t at = w->offset;
	struct bytes columns = { 0 };
	uint64_t raw = 0;
	bool is_sorted;
	struct thrift t;
	int r = HDB_OK;

	if (!p->group_rows)
		return HDB_OK;
	is_sorted = w->columns[0].kind == EXPORT_I64 && !p->chunks[0].null_count &&
		    !p->chunks[0].bounds.has_fallen;
	thrift_begin(&t, &columns);
	/* the list of columns is the first field of the row group */
	thrift_list(&t, 1, THRIFT_STRUCT, w->column_count);
	for (size_t i = 0; i < w->column_count && r >= 0; i++) {
		struct place place;

		r = write_chunk(w, i, &place, err);
		put_chunk(&t, w, i, &place);
		raw += place.raw;
		clear_chunk(&p->chunks[i], w->columns[i].kind);
	}
	thrift_i64(&t, 2, (int64_t)raw);
	thrift_i64(&t, 3, (int64_t)p->group_rows);
	if (is_sorted) { /* sorted by the first column, ascending, without nulls */
		thrift_list(&t, 4, THRIFT_STRUCT, 1);
		thrift_struct(&t, 0);
		thrift_i32(&t, 1, 0);
		thrift_bool(&t, 2, false);
		thrift_bool(&t, 3, false);
		thrift_end(&t);
	}
	thrift_i64(&t, 5, (int64_t)at);
	thrift_i64(&t, 6, (int64_t)(w->offset - at));
	thrift_end(&t);
	bytes_add(&p->groups, columns.data, columns.size);
	if (r >= 0 && (columns.failed || p->groups.failed))
		r = export_no_memory(err);
	bytes_release(&columns);
	p->group_count++;
	p->group_rows = 0;
	return r;
}

static int put_batch(struct export_writer *w, const struct ArrowArray *batch, struct hdb_error *err)
{
	const uint64_t most = w->options->rows ? w->options->rows : GROUP_ROWS;
	const size_t rows = (size_t)batch->length;
	struct parquet *p = w->state;
	size_t waiting = 0;
	int r = make_room(p, rows, err);

	for (size_t i = 0; i < w->column_count && r >= 0; i++) {
		const struct ArrowArray *a = batch->children[i];
		struct chunk *c = &p->chunks[i];

		if (w->columns[i].has_dictionary)
			r = put_names(w, i, a, err);
		else if (w->columns[i].kind == EXPORT_TEXT)
			r = put_texts(w, i, a, err);
		else if (w->columns[i].kind == EXPORT_BOOL)
			r = put_booleans(w, i, a, err);
		else
			r = put_numbers(w, i, a, err);
		c->null_count += (uint64_t)a->null_count;
		waiting += c->pages.size + c->distinct.plain.size;
	}
	p->group_rows += rows;
	p->row_count += rows;
	if (r >= 0 && (p->group_rows >= most || waiting > GROUP_BYTES))
		r = write_group(w, err);
	return r;
}

static void put_schema(struct thrift *t, const struct export_writer *w)
{
	thrift_list(t, 2, THRIFT_STRUCT, w->column_count + 1);
	thrift_struct(t, 0);
	thrift_text(t, 4, "schema");
	thrift_i32(t, 5, (int32_t)w->column_count);
	thrift_end(t);
	for (size_t i = 0; i < w->column_count; i++) {
		thrift_struct(t, 0);
		thrift_i32(t, 1, (int32_t)types[w->columns[i].kind]);
		thrift_i32(t, 3, 1); /* repetition type OPTIONAL */
		thrift_text(t, 4, w->columns[i].name);
		if (w->columns[i].kind == EXPORT_TEXT) {
			thrift_i32(t, 6, 0); /* converted type UTF8 */
			thrift_struct(t, 10);
			thrift_struct(t, 1); /* logical type STRING */
			thrift_end(t);
			thrift_end(t);
		}
		thrift_end(t);
	}
}

static void put_notes(struct thrift *t, const char *const *notes)
{
	size_t count = 0;

	while (notes && notes[count])
		count += 2;
	if (!count)
		return;
	thrift_list(t, 5, THRIFT_STRUCT, count / 2);
	for (size_t i = 0; i < count; i += 2) {
		thrift_struct(t, 0);
		thrift_text(t, 1, notes[i]);
		thrift_text(t, 2, notes[i + 1]);
		thrift_end(t);
	}
}

static int end(struct export_writer *w, struct hdb_error *err)
{
	struct parquet *p = w->state;
	BASE_SCOPED(bytes_release) struct bytes footer = { 0 };
	struct thrift t;
	const int r = write_group(w, err);

	thrift_begin(&t, &footer);
	thrift_i32(&t, 1, 2);
	put_schema(&t, w);
	thrift_i64(&t, 3, (int64_t)p->row_count);
	thrift_list(&t, 4, THRIFT_STRUCT, p->group_count);
	bytes_add(&footer, p->groups.data, p->groups.size);
	put_notes(&t, w->options->notes);
	thrift_text(&t, 6, "heapdb version " HDB_VERSION);
	thrift_list(&t, 7, THRIFT_STRUCT, w->column_count);
	for (size_t i = 0; i < w->column_count; i++) {
		thrift_struct(&t, 0);
		thrift_struct(&t, 1); /* the type defines the sort order */
		thrift_end(&t);
		thrift_end(&t);
	}
	thrift_end(&t);
	export_bytes_u32(&footer, (uint32_t)footer.size);
	bytes_add(&footer, "PAR1", 4);
	TRY_ERRORS(r);
	return footer.failed ? export_no_memory(err) :
			       export_write(w, footer.data, footer.size, err);
}

static void release(struct export_writer *w)
{
	struct parquet *p = w->state;

	if (!p)
		return;
	for (size_t i = 0; p->chunks && i < w->column_count; i++) {
		struct chunk *c = &p->chunks[i];

		export_distinct_release(&c->distinct);
		bytes_release(&c->pages);
		bytes_release(&c->bounds.low_text);
		bytes_release(&c->bounds.high_text);
		free(c->codes_of);
	}
	free(p->chunks);
	ZSTD_freeCCtx(p->zstd);
	bytes_release(&p->raw);
	bytes_release(&p->packed);
	bytes_release(&p->groups);
	free(p->values);
	free(p->codes);
	free(p);
}

const struct export_writing export_parquet = { begin, put_batch, end, release };

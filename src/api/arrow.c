/*
 * api/arrow.c - exports rows as a stream of the Arrow C data interface, for data frames and other
 * column-oriented programs. The structures of the interface are an ABI, so no Arrow library is
 * needed.
 *
 * A batch is a struct array with one child per column. The consumer frees the buffers by calling
 * release; it may move children out of a batch, as the interface allows. Columns with a known set
 * of strings (class names) are dictionary-encoded; all batches share the dictionary.
 */
#include "api/handle.h"
#include "base/plain_locale.h"
#include "base/search.h"
#include "base/sort.h"
#include "query/query.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Default number of rows in a batch. */
#define BATCH_DEFAULT 65536
/* Number of rows for which a new batch reserves memory; doubled as needed. */
#define ROOM_FIRST 65536
/*
 * A batch ends when a text column reaches this size. Offsets have 32 bits, so TEXT_MAX_ALL applies
 * even if the caller wants all rows in one batch.
 */
#define TEXT_MAX (4u << 20)
#define TEXT_MAX_ALL (1u << 30)
/* Buffers of an array: validity bits, values or offsets, text. */
#define BUFFERS 3

/* The strings of a column, reference-counted by the stream and by each batch that uses them. */
struct dictionary {
	atomic_size_t users;
	int64_t count;
	int32_t *offsets;
	char *text;
};

struct arrow_stream {
	struct hdb_row_source source;
	struct query
		*query; /* the query that produces the rows, or NULL; borrowed from the source */
	size_t batch_rows, text_max;
	struct dictionary **dictionaries; /* indexed by column, or NULL if none */
	bool has_batches;
	/* whether the last row was read; next() must not be called again */
	bool has_ended;
	/* rows of the query; rows before `at` are already in a batch */
	struct query_batch batch;
	size_t at;
	struct hdb_error err; /* error of the last failed call */
};

/* ---- dictionaries ---- */

static void drop_dictionary(struct dictionary *d)
{
	if (!d || atomic_fetch_sub(&d->users, 1) > 1)
		return;
	free(d->offsets);
	free(d->text);
	free(d);
}

static struct dictionary *make_dictionary(const struct query_names *names)
{
	struct dictionary *d = calloc(1, sizeof(*d));
	size_t used = 0;

	if (!d)
		return NULL;
	atomic_init(&d->users, 1);
	d->count = names->count;
	d->offsets = calloc((size_t)names->count + 1, sizeof(*d->offsets));
	d->text = malloc(names->bytes + 1);
	if (!d->offsets || !d->text) {
		drop_dictionary(d);
		return NULL;
	}
	for (uint32_t i = 0; i < names->count; i++) {
		memcpy(d->text + used, names->texts[i], names->sizes[i]);
		used += names->sizes[i];
		d->offsets[i + 1] = (int32_t)used;
	}
	assert(used <= names->bytes);
	return d;
}

struct shared_dictionary {
	const void *buffers[BUFFERS];
	struct dictionary *d;
};

static void release_dictionary(struct ArrowArray *array)
{
	struct shared_dictionary *shared = array->private_data;

	drop_dictionary(shared->d);
	free(shared);
	array->release = NULL;
}

/* Returns a new reference to the dictionary, or NULL if memory is exhausted. */
static struct ArrowArray *share_dictionary(struct dictionary *d)
{
	struct ArrowArray *array = calloc(1, sizeof(*array));
	struct shared_dictionary *shared = calloc(1, sizeof(*shared));

	assert(d);
	if (!array || !shared) {
		free(array);
		free(shared);
		return NULL;
	}
	atomic_fetch_add(&d->users, 1);
	*shared = (struct shared_dictionary){ { NULL, d->offsets, d->text }, d };
	*array = (struct ArrowArray){
		.length = d->count,
		.n_buffers = BUFFERS,
		.buffers = shared->buffers,
		.release = release_dictionary,
		.private_data = shared,
	};
	return array;
}

static const struct hdb_column *column_of(const struct arrow_stream *s, size_t no)
{
	return s->source.column(s->source.ctx, no);
}

static size_t column_count(const struct arrow_stream *s)
{
	return s->source.column_count;
}

static int make_dictionaries(struct arrow_stream *s)
{
	s->dictionaries = calloc(column_count(s) + 1, sizeof(struct dictionary *));
	for (size_t i = 0; s->dictionaries && i < column_count(s); i++) {
		const struct query_names *names = s->query ? query_names_of(s->query, i) : NULL;

		if (names && !(s->dictionaries[i] = make_dictionary(names)))
			return ENOMEM;
	}
	return s->dictionaries ? 0 : ENOMEM;
}

/* Returns the index of a string in the sorted dictionary, or -1 if it is missing. */
static int64_t code_of(const struct dictionary *d, const char *text, size_t size)
{
	struct base_search search = base_search_in((uint64_t)d->count);

	while (base_search_next(&search)) {
		const int32_t *at = &d->offsets[search.mid];
		const int order =
			base_compare_text(d->text + at[0], (size_t)(at[1] - at[0]), text, size);

		if (order == 0)
			return (int64_t)search.mid;
		base_search_step(&search, order < 0);
	}
	return -1;
}

/* ---- the schema ---- */

static const char *format_of(enum hdb_type type)
{
	switch (type) {
	case HDB_TYPE_COUNT:
	case HDB_TYPE_BYTES:
	case HDB_TYPE_ID:
		return "L";
	case HDB_TYPE_INT:
		return "l";
	case HDB_TYPE_DOUBLE:
	case HDB_TYPE_PERCENT:
		return "g";
	case HDB_TYPE_BOOL:
		return "b";
	case HDB_TYPE_TEXT:
	case HDB_TYPE_NULL:
		break;
	}
	return "u";
}

static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		struct ArrowSchema *child = schema->children[i];

		if (child && child->release)
			child->release(child);
		free(child);
	}
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(schema->dictionary);
	free(schema->children);
	free(schema->private_data);
	schema->release = NULL;
}

/*
 * Metadata that marks a column of IDs, which are plain numbers in Arrow: one key "heapdb.type" with
 * the value "id", encoded as the interface requires (32-bit sizes before the strings).
 */
static const struct {
	int32_t count, key_size;
	char key[11];
	int32_t value_size;
	char value[2];
} __attribute__((packed)) id_metadata = { 1, 11, "heapdb.type", 2, "id" };

/* Initialises a schema. `format` must be static; `name` is copied. Returns 0 or ENOMEM. */
static int init_schema(struct ArrowSchema *schema, const char *format, const char *name)
{
	char *copy = strdup(name);

	*schema = (struct ArrowSchema){
		.format = format,
		.name = copy,
		.flags = ARROW_FLAG_NULLABLE,
		.release = release_schema,
		.private_data = copy,
	};
	return copy ? 0 : ENOMEM;
}

/* Turns a column into indexes into a dictionary of strings. */
static int init_dictionary_schema(struct ArrowSchema *schema)
{
	schema->dictionary = calloc(1, sizeof(*schema->dictionary));
	schema->format = "i";
	return schema->dictionary ? init_schema(schema->dictionary, "u", "") : ENOMEM;
}

static int fail_memory(struct arrow_stream *s)
{
	hdb_fail(&s->err, HDB_ENOMEM, "cannot allocate memory for a batch of rows");
	return ENOMEM;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct arrow_stream *s = stream->private_data;
	const size_t count = column_count(s);

	if (init_schema(out, "+s", "") != 0)
		goto fail;
	out->flags = 0;
	out->children = calloc(count + 1, sizeof(*out->children));
	if (!out->children)
		goto fail;
	for (size_t i = 0; i < count; i++) {
		const struct hdb_column *column = column_of(s, i);
		struct ArrowSchema *child = calloc(1, sizeof(*child));

		if (!child)
			goto fail;
		out->children[out->n_children++] = child;
		if (init_schema(child, format_of(column->type), column->name) != 0)
			goto fail;
		if (column->type == HDB_TYPE_ID)
			child->metadata = (const char *)&id_metadata;
		if (s->dictionaries[i] && init_dictionary_schema(child) != 0)
			goto fail;
	}
	return 0;
fail:
	release_schema(out);
	return fail_memory(s);
}

/* ---- batches ---- */

/* A column of the batch being filled: the private_data of its array. */
struct arrow_column {
	const void *buffers[BUFFERS]; /* owned: validity, values or offsets, text */
	enum hdb_type type;
	const struct dictionary *dictionary; /* shared, or NULL if none */
	size_t room;                         /* number of rows that fit */
	size_t text_size, text_capacity;
};

static void release_array(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++) {
		struct ArrowArray *child = array->children[i];

		if (child && child->release)
			child->release(child);
		free(child);
	}
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	free(array->dictionary);
	for (int64_t i = 0; i < array->n_buffers; i++)
		free((void *)array->buffers[i]);
	free(array->children);
	free(array->private_data);
	array->release = NULL;
}

static bool is_text(const struct arrow_column *column)
{
	return !column->dictionary &&
	       (column->type == HDB_TYPE_TEXT || column->type == HDB_TYPE_NULL);
}

static size_t value_bytes(const struct arrow_column *column, size_t rows)
{
	if (column->dictionary)
		return rows * sizeof(int32_t);
	if (is_text(column))
		return (rows + 1) * sizeof(int32_t);
	return column->type == HDB_TYPE_BOOL ? (rows + 7) / 8 : rows * sizeof(uint64_t);
}

static int resize(const void **buffer, size_t bytes)
{
	void *grown = realloc((void *)*buffer, bytes ? bytes : 1);

	if (grown)
		*buffer = grown;
	return grown ? 0 : ENOMEM;
}

/*
 * Reserves memory for `rows` rows. For buffers of this size, realloc moves pages instead of
 * copying, and pages that are never written cost nothing.
 */
static int set_room(struct arrow_column *column, size_t rows)
{
	if (resize(&column->buffers[1], value_bytes(column, rows)) != 0)
		return ENOMEM;
	if (column->buffers[0] && resize(&column->buffers[0], (rows + 7) / 8) != 0)
		return ENOMEM;
	column->room = rows;
	return 0;
}

static int init_column(struct arrow_stream *s, size_t no, struct ArrowArray *array)
{
	struct arrow_column *column = calloc(1, sizeof(*column));

	assert(no < s->source.column_count);
	*array = (struct ArrowArray){ .release = release_array, .private_data = column };
	if (!column)
		return ENOMEM;
	column->type = column_of(s, no)->type;
	column->dictionary = s->dictionaries[no];
	array->buffers = column->buffers;
	array->n_buffers = is_text(column) ? 3 : 2;
	if (column->dictionary && !(array->dictionary = share_dictionary(s->dictionaries[no])))
		return ENOMEM;
	if (set_room(column, s->batch_rows < ROOM_FIRST ? s->batch_rows : ROOM_FIRST) != 0)
		return ENOMEM;
	if (!is_text(column))
		return 0;
	((int32_t *)column->buffers[1])[0] = 0;
	column->text_capacity = 4096;
	return resize(&column->buffers[2], column->text_capacity);
}

static int init_batch(struct arrow_stream *s, struct ArrowArray *out)
{
	const size_t count = column_count(s);
	const void **buffers = calloc(1, sizeof(*buffers));

	*out = (struct ArrowArray){
		.n_buffers = 1,
		.buffers = buffers,
		.release = release_array,
		.private_data = buffers,
		.children = calloc(count + 1, sizeof(*out->children)),
	};
	if (!buffers) {
		out->n_buffers = 0;
		return ENOMEM;
	}
	for (size_t i = 0; out->children && i < count; i++) {
		struct ArrowArray *child = calloc(1, sizeof(*child));

		if (!child)
			return ENOMEM;
		out->children[out->n_children++] = child;
		if (init_column(s, i, child) != 0)
			return ENOMEM;
	}
	return out->children ? 0 : ENOMEM;
}

static void set_bit(const void *bits, size_t at, bool value)
{
	uint8_t *byte = &((uint8_t *)(uintptr_t)bits)[at / 8];

	assert(bits);
	*byte = (uint8_t)((*byte & ~(1U << at % 8)) | (value ? 1U : 0U) << at % 8);
}

/*
 * Records whether the row has a value. The bitmap is allocated at the first null, with all earlier
 * rows set.
 */
static int put_validity(struct ArrowArray *array, size_t row, bool is_there)
{
	struct arrow_column *column = array->private_data;

	if (!is_there && !column->buffers[0]) {
		if (resize(&column->buffers[0], (column->room + 7) / 8) != 0)
			return ENOMEM;
		memset((void *)(uintptr_t)column->buffers[0], 0xff, (row + 7) / 8);
	}
	if (column->buffers[0])
		set_bit(column->buffers[0], row, is_there);
	array->null_count += !is_there;
	return 0;
}

static int put_text(struct arrow_column *column, const struct hdb_value *value)
{
	const size_t size = value->text_size;

	assert(column->text_size <= column->text_capacity);
	if (size > INT32_MAX - column->text_size)
		return EOVERFLOW;
	if (size > column->text_capacity - column->text_size) {
		const size_t capacity = 2 * (column->text_size + size);

		if (resize(&column->buffers[2], capacity) != 0)
			return ENOMEM;
		column->text_capacity = capacity;
	}
	if (size)
		memcpy((char *)column->buffers[2] + column->text_size, value->text, size);
	column->text_size += size;
	return 0;
}

/* Stores a value in a row. A value of the wrong type becomes null. */
static int put_value(struct ArrowArray *array, const struct hdb_value *value, size_t row)
{
	struct arrow_column *column = array->private_data;
	bool is_there = value->type == column->type && value->type != HDB_TYPE_NULL;
	void *values = (void *)(uintptr_t)column->buffers[1];
	uint64_t number = 0;
	int rc = 0;

	assert(row < column->room);
	if (column->dictionary) {
		const int64_t code =
			is_there ? code_of(column->dictionary, value->text, value->text_size) : -1;

		is_there = code >= 0;
		((int32_t *)values)[row] = is_there ? (int32_t)code : 0;
	} else if (is_text(column)) {
		if (is_there)
			rc = put_text(column, value);
		((int32_t *)values)[row + 1] = (int32_t)column->text_size;
	} else if (column->type == HDB_TYPE_BOOL) {
		set_bit(values, row, is_there && value->u);
	} else {
		if (is_there &&
		    (column->type == HDB_TYPE_DOUBLE || column->type == HDB_TYPE_PERCENT))
			memcpy(&number, &value->d, sizeof(number));
		else if (is_there)
			number = column->type == HDB_TYPE_INT ? (uint64_t)value->i : value->u;
		((uint64_t *)values)[row] = number;
	}
	array->length++;
	return rc ? rc : put_validity(array, row, is_there);
}

static int fail_put(struct arrow_stream *s, int rc)
{
	if (rc == EOVERFLOW)
		return hdb_fail(&s->err, HDB_ELIMIT, "a string is longer than 2 GiB");
	return hdb_fail(&s->err, HDB_ENOMEM, "cannot allocate memory for a batch of rows");
}

/* Reserves memory for `more` rows in all columns. */
static int make_room(struct arrow_stream *s, const struct ArrowArray *out, size_t more)
{
	const size_t need = (size_t)out->length + more;

	for (int64_t i = 0; i < out->n_children; i++) {
		struct arrow_column *column = out->children[i]->private_data;
		const size_t room = 2 * column->room > need ? 2 * column->room : need;

		if (need > column->room &&
		    set_room(column, room < s->batch_rows ? room : s->batch_rows) != 0)
			return fail_put(s, ENOMEM);
	}
	return HDB_OK;
}

/* ---- batches of rows ---- */

/* Returns HDB_OK if the batch is full, HDB_END after the last row, or a failure. */
static int fill_rows(struct arrow_stream *s, struct ArrowArray *out)
{
	const size_t count = (size_t)out->n_children;

	for (size_t row = 0; row < s->batch_rows; row++) {
		bool is_full = false;
		int rc = s->source.next(s->source.ctx, &s->err);

		TRY(rc);
		TRY(make_room(s, out, 1));
		for (size_t i = 0; i < count; i++) {
			const struct arrow_column *column = out->children[i]->private_data;

			rc = put_value(out->children[i], s->source.value(s->source.ctx, i), row);
			if (rc != 0)
				return fail_put(s, rc);
			is_full = is_full || column->text_size > s->text_max;
		}
		out->length++;
		if (is_full)
			break;
	}
	return HDB_OK;
}

/* ---- batches of columns ---- */

static int put_gaps(struct ArrowArray *array, const uint8_t *there, size_t row, size_t count)
{
	const struct arrow_column *column = array->private_data;
	int rc = 0;

	if (!column->buffers[0] && (!there || !memchr(there, 0, count)))
		return 0;
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = put_validity(array, row + i, !there || there[i]);
	return rc;
}

static int put_column(struct arrow_stream *s, struct ArrowArray *array, size_t no, size_t count)
{
	const struct query_batch_column *from = &s->batch.columns[query_spec_no(s->query, no)];
	struct arrow_column *column = array->private_data;
	const size_t row = (size_t)array->length;
	void *values = (void *)(uintptr_t)column->buffers[1];

	if (column->dictionary) {
		memcpy((int32_t *)values + row, from->codes + s->at, count * sizeof(int32_t));
	} else if (column->type == HDB_TYPE_BOOL) {
		for (size_t i = 0; i < count; i++)
			set_bit(values, row + i, from->flags[s->at + i]);
	} else {
		memcpy((uint64_t *)values + row, from->values + s->at, count * sizeof(uint64_t));
	}
	array->length += (int64_t)count;
	return put_gaps(array, from->there ? from->there + s->at : NULL, row, count);
}

/* Fills the columns of a batch. Returns the same codes as fill_rows. */
static int fill_columns(struct arrow_stream *s, struct ArrowArray *out)
{
	while ((size_t)out->length < s->batch_rows) {
		size_t count = s->batch_rows - (size_t)out->length;
		int rc = HDB_OK;

		if (s->at == s->batch.count) {
			rc = query_next_batch(s->query, &s->batch, &s->err);
			s->at = 0;
			if (rc != HDB_OK) {
				s->batch.count = 0;
				return rc;
			}
		}
		if (count > s->batch.count - s->at)
			count = s->batch.count - s->at;
		TRY(make_room(s, out, count));
		for (size_t i = 0; i < (size_t)out->n_children; i++) {
			rc = put_column(s, out->children[i], i, count);
			if (rc != 0)
				return fail_put(s, rc);
		}
		out->length += (int64_t)count;
		s->at += count;
	}
	return HDB_OK;
}

/* Frees unused memory of a batch. */
static void trim(struct ArrowArray *out)
{
	for (int64_t i = 0; i < out->n_children; i++) {
		struct arrow_column *column = out->children[i]->private_data;

		if (column->room > (size_t)out->length)
			(void)set_room(column, (size_t)out->length);
		if (is_text(column))
			(void)resize(&column->buffers[2], column->text_size);
	}
}

/* Returns the closest errno, the only kind of error that the interface knows. */
static int errno_of(int code)
{
	switch (code) {
	case HDB_ENOMEM:
		return ENOMEM;
	case HDB_EINTR:
		return EINTR;
	case HDB_EUSAGE:
	case HDB_ELIMIT:
		return EINVAL;
	default:
		return code <= HDB_EFORMAT && code > HDB_EIO ? EBADMSG : EIO;
	}
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	BASE_PLAIN_LOCALE;
	struct arrow_stream *s = stream->private_data;
	int rc;

	if (init_batch(s, out) != 0) {
		release_array(out);
		return fail_memory(s);
	}
	rc = s->has_ended ? HDB_END : s->has_batches ? fill_columns(s, out) : fill_rows(s, out);
	s->has_ended = rc != HDB_OK;
	if (rc >= 0 && out->length > 0) {
		trim(out);
		return 0;
	}
	release_array(out);
	if (rc >= 0)
		return 0;
	return errno_of(rc);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	const struct arrow_stream *s = stream->private_data;

	return s->err.message[0] ? s->err.message : NULL;
}

static void free_stream(struct arrow_stream *s)
{
	for (size_t i = 0; s->dictionaries && i < column_count(s); i++)
		drop_dictionary(s->dictionaries[i]);
	free(s->dictionaries);
	free(s);
}

static void release_stream(struct ArrowArrayStream *stream)
{
	struct arrow_stream *s = stream->private_data;
	const struct hdb_row_source source = s->source;

	free_stream(s);
	if (source.close)
		source.close(source.ctx);
	stream->release = NULL;
}

static int open_stream(const struct hdb_row_source *source, struct query *query, size_t batch_rows,
		       struct ArrowArrayStream *out, struct hdb_error *err)
{
	struct arrow_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a stream");
	s->source = *source;
	s->query = query;
	s->batch_rows = batch_rows == 0 ? BATCH_DEFAULT : batch_rows;
	s->text_max = batch_rows == SIZE_MAX ? TEXT_MAX_ALL : TEXT_MAX;
	s->has_batches = query && query_has_batches(query);
	if (make_dictionaries(s) != 0) {
		free_stream(s);
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a stream");
	}
	*out = (struct ArrowArrayStream){
		.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = release_stream,
		.private_data = s,
	};
	return HDB_OK;
}

int hdb_source_arrow(const struct hdb_row_source *source, size_t batch_rows,
		     struct ArrowArrayStream *out, struct hdb_error *err)
{
	API_NEEDS(source && out, err);

	struct hdb_row_source ours;

	API_READ(&ours, source, err);
	if (!source->next || !source->column || !source->value)
		return hdb_fail(err, HDB_EUSAGE, "a required function of the row source is NULL");
	return open_stream(&ours, NULL, batch_rows, out, err);
}

/* ---- rows of queries ---- */

static const struct hdb_column *rows_column(void *ctx, size_t column)
{
	return hdb_rows_column(ctx, column);
}

static int rows_next(void *ctx, struct hdb_error *err)
{
	return hdb_rows_next(ctx, err);
}

static const struct hdb_value *rows_value(void *ctx, size_t column)
{
	return hdb_rows_value(ctx, column);
}

static void rows_close(void *ctx)
{
	hdb_rows_close(ctx);
}

int hdb_rows_arrow(struct hdb_rows *rows, size_t batch_rows, struct ArrowArrayStream *out,
		   struct hdb_error *err)
{
	API_NEEDS(rows && out, err);

	const struct hdb_row_source source = {
		.ctx = rows,
		.column_count = hdb_rows_column_count(rows),
		.column = rows_column,
		.next = rows_next,
		.value = rows_value,
		.close = rows_close,
	};

	return open_stream(&source, rows->query, batch_rows, out, err);
}

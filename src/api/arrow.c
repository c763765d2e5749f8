/*
 * api/arrow.c - rows as a stream of the Arrow C data interface, for data frames and other programs
 * that take columns. The structures are that interface's, which is an ABI and needs no library.
 *
 * A batch is a struct array with a child a column. Buffers are ours until the consumer calls
 * release; children can be moved out, as the interface says.
 */
#include "heapdb.h"

#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

/* Rows of a batch if the caller does not say, and the most. */
#define BATCH_DEFAULT 65536
#define BATCH_MAX (1 << 20)
/* A batch ends when a column has so much text: offsets have 31 bits. */
#define TEXT_MAX (64 << 20)
/* Validity, offsets or values, text. */
#define BUFFERS 3

struct arrow_stream {
	struct hdb_rows *rows; /* owned */
	size_t batch_rows;
	struct hdb_error err; /* of the last call that failed */
};

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
	free(schema->children);
	free(schema->private_data);
	schema->release = NULL;
}

/* Formats are static, names are the private data. 0 or ENOMEM. */
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

static int fail_memory(struct arrow_stream *s)
{
	hdb_fail(&s->err, HDB_ENOMEM, "no memory for a batch of rows");
	return ENOMEM;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct arrow_stream *s = stream->private_data;
	const size_t count = hdb_rows_column_count(s->rows);

	if (init_schema(out, "+s", "") != 0)
		goto fail;
	out->flags = 0;
	out->children = calloc(count + 1, sizeof(*out->children));
	if (!out->children)
		goto fail;
	for (size_t i = 0; i < count; i++) {
		const struct hdb_column *column = hdb_rows_column(s->rows, i);
		struct ArrowSchema *child = calloc(1, sizeof(*child));

		if (!child)
			goto fail;
		out->children[out->n_children++] = child;
		if (init_schema(child, format_of(column->type), column->name) != 0)
			goto fail;
	}
	return 0;
fail:
	release_schema(out);
	return fail_memory(s);
}

/* ---- batches ---- */

/* A column of the batch that is being made; what it becomes is its `array`. */
struct arrow_column {
	const void *buffers[BUFFERS]; /* owned: validity, values or offsets, text */
	enum hdb_type type;
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
	for (int64_t i = 0; i < array->n_buffers; i++)
		free((void *)array->buffers[i]);
	free(array->children);
	free(array->private_data);
	array->release = NULL;
}

static size_t value_bytes(enum hdb_type type, size_t rows)
{
	if (type == HDB_TYPE_TEXT || type == HDB_TYPE_NULL)
		return (rows + 1) * sizeof(int32_t);
	return type == HDB_TYPE_BOOL ? (rows + 7) / 8 : rows * sizeof(uint64_t);
}

static int init_column(struct ArrowArray *array, enum hdb_type type, size_t rows)
{
	struct arrow_column *column = calloc(1, sizeof(*column));

	*array = (struct ArrowArray){ .release = release_array, .private_data = column };
	if (!column)
		return ENOMEM;
	column->type = type;
	array->buffers = column->buffers;
	array->n_buffers = type == HDB_TYPE_TEXT || type == HDB_TYPE_NULL ? 3 : 2;
	column->buffers[0] = calloc(1, (rows + 7) / 8);
	column->buffers[1] = calloc(1, value_bytes(type, rows));
	if (array->n_buffers == 3) {
		column->text_capacity = 4096;
		column->buffers[2] = malloc(column->text_capacity);
		if (!column->buffers[2])
			return ENOMEM;
	}
	return column->buffers[0] && column->buffers[1] ? 0 : ENOMEM;
}

static int init_batch(struct arrow_stream *s, struct ArrowArray *out)
{
	const size_t count = hdb_rows_column_count(s->rows);
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
		if (init_column(child, hdb_rows_column(s->rows, i)->type, s->batch_rows) != 0)
			return ENOMEM;
	}
	return out->children ? 0 : ENOMEM;
}

static int put_text(struct arrow_column *column, const struct hdb_value *value)
{
	const size_t size = value->text_size;

	if (size > INT32_MAX - column->text_size)
		return EOVERFLOW;
	if (size > column->text_capacity - column->text_size) {
		const size_t capacity = 2 * (column->text_size + size);
		void *grown = realloc((void *)column->buffers[2], capacity);

		if (!grown)
			return ENOMEM;
		column->buffers[2] = grown;
		column->text_capacity = capacity;
	}
	memcpy((char *)column->buffers[2] + column->text_size, value->text, size);
	column->text_size += size;
	return 0;
}

/* Puts a value at the place `row`; another type than the column's is null. */
static int put_value(struct ArrowArray *array, const struct hdb_value *value, size_t row)
{
	struct arrow_column *column = array->private_data;
	const bool is_there = value->type == column->type && value->type != HDB_TYPE_NULL;
	uint8_t *valid = (uint8_t *)column->buffers[0], *bits = (uint8_t *)column->buffers[1];
	uint64_t *numbers = (uint64_t *)column->buffers[1];
	int rc = 0;

	if (is_there)
		valid[row / 8] = (uint8_t)(valid[row / 8] | 1U << row % 8);
	else
		array->null_count++;
	if (array->n_buffers == BUFFERS) {
		if (is_there)
			rc = put_text(column, value);
		((int32_t *)column->buffers[1])[row + 1] = (int32_t)column->text_size;
	} else if (is_there && column->type == HDB_TYPE_BOOL) {
		bits[row / 8] = (uint8_t)(bits[row / 8] | (value->u ? 1U : 0U) << row % 8);
	} else if (is_there &&
		   (column->type == HDB_TYPE_DOUBLE || column->type == HDB_TYPE_PERCENT)) {
		memcpy(&numbers[row], &value->d, sizeof(value->d));
	} else if (is_there) {
		numbers[row] = column->type == HDB_TYPE_INT ? (uint64_t)value->i : value->u;
	}
	array->length++;
	return rc;
}

/* HDB_OK: the batch is full; HDB_END after the last row; or a failure. */
static int fill_batch(struct arrow_stream *s, struct ArrowArray *out)
{
	const size_t count = (size_t)out->n_children;

	for (size_t row = 0; row < s->batch_rows; row++) {
		bool is_full = false;
		int rc = hdb_rows_next(s->rows, &s->err);

		if (rc != HDB_OK)
			return rc;
		for (size_t i = 0; i < count; i++) {
			const struct arrow_column *column = out->children[i]->private_data;

			rc = put_value(out->children[i], hdb_rows_value(s->rows, i), row);
			if (rc == EOVERFLOW)
				return hdb_fail(&s->err, HDB_ELIMIT, "a text of over 2 GiB");
			if (rc != 0)
				return hdb_fail(&s->err, HDB_ENOMEM,
						"no memory for a batch of rows");
			is_full = is_full || column->text_size > TEXT_MAX;
		}
		out->length++;
		if (is_full)
			break;
	}
	return HDB_OK;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct arrow_stream *s = stream->private_data;
	int rc;

	if (init_batch(s, out) != 0) {
		release_array(out);
		return fail_memory(s);
	}
	rc = fill_batch(s, out);
	if (rc >= 0 && out->length > 0)
		return 0;
	release_array(out);
	if (rc >= 0)
		return 0;
	return rc == HDB_ENOMEM ? ENOMEM : rc == HDB_EINTR ? EINTR : EIO;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	const struct arrow_stream *s = stream->private_data;

	return s->err.message[0] ? s->err.message : NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
	struct arrow_stream *s = stream->private_data;

	hdb_rows_close(s->rows);
	free(s);
	stream->release = NULL;
}

int hdb_rows_arrow(struct hdb_rows *rows, size_t batch_rows, struct ArrowArrayStream *out,
		   struct hdb_error *err)
{
	struct arrow_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return hdb_fail(err, HDB_ENOMEM, "no memory for a stream");
	s->rows = rows;
	s->batch_rows = batch_rows == 0        ? BATCH_DEFAULT :
			batch_rows > BATCH_MAX ? BATCH_MAX :
						 batch_rows;
	*out = (struct ArrowArrayStream){
		.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = release_stream,
		.private_data = s,
	};
	return HDB_OK;
}

/*
 * common/typed_rows.c - converts rows of an SQL or OQL statement to Arrow columns, each of one
 * type.
 *
 * In a statement, types belong to values, not to columns. The first rows are buffered until the
 * types of all columns are known. A column of integers and reals becomes floating point. A column
 * of numbers and strings becomes text, and so does a column of reals and integers beyond 2^53. If
 * there are more rows than the buffer holds and a column's type is not declared, the statement runs
 * twice. A row that contradicts its column's type is an error, not a null.
 */
#include "common/typed_rows.h"

#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows, and bytes of text, buffered to determine column types. */
#define KEPT_ROWS 4096
#define KEPT_BYTES (16u << 20)
/* Buffer size for a number as text. */
#define NUMBER_SIZE 32

struct typed_rows {
	struct typed_source from;
	size_t count; /* number of columns */
	struct hdb_column *columns;
	/* buffered rows, `count` values each; owned, including strings */
	BASE_VEC_AS(kept_vec, struct hdb_value, kept, kept_count);
	size_t at;
	uint64_t row_no;
	struct hdb_value *values; /* values of the current row */
	char (*numbers)[NUMBER_SIZE];
	bool *is_large; /* indexed by column: whether an integer that a double cannot represent has
			 * occurred */
	int last;       /* result of reading the first rows */
	struct hdb_error err;
};

static void drop_kept(struct typed_rows *s)
{
	for (size_t i = 0; i < s->kept_count * s->count; i++)
		free((void *)(uintptr_t)s->kept[i].text);
	s->kept_count = 0;
}

static void close_rows(void *ctx)
{
	struct typed_rows *s = ctx;

	drop_kept(s);
	base_vec_release(&s->kept_vec);
	free(s->columns);
	free(s->values);
	free(s->numbers);
	free(s->is_large);
	s->from.rows.close(s->from.rows.ctx);
	free(s);
}

/* ---- the first rows ---- */

static bool is_real(enum hdb_type type)
{
	return type == HDB_TYPE_DOUBLE || type == HDB_TYPE_PERCENT;
}

/* Returns the narrowest type for values of both types. */
static enum hdb_type merge(enum hdb_type a, enum hdb_type b)
{
	if (a == b || b == HDB_TYPE_NULL)
		return a;
	if (a == HDB_TYPE_NULL)
		return b;
	if (a == HDB_TYPE_TEXT || b == HDB_TYPE_TEXT)
		return HDB_TYPE_TEXT;
	return is_real(a) || is_real(b) ? HDB_TYPE_DOUBLE : HDB_TYPE_INT;
}

/* Extends the type of column `i` to include this value. */
static void widen(struct typed_rows *s, size_t i, const struct hdb_value *value)
{
	const int64_t most = (int64_t)1 << 53;

	s->columns[i].type = merge(s->columns[i].type, value->type);
	if (value->type == HDB_TYPE_INT)
		s->is_large[i] |= value->i > most || value->i < -most;
	else if (!is_real(value->type) && value->type != HDB_TYPE_TEXT)
		s->is_large[i] |= value->u > (uint64_t)most;
}

static int keep_row(struct typed_rows *s, size_t *bytes, struct hdb_error *err)
{
	struct hdb_value *to;

	/* reserve an extra value, so that the allocation is never empty */
	TRY(base_vec_reserve(&s->kept_vec, 1, (s->count + 1) * sizeof(*s->kept), err));
	to = s->kept + s->kept_count * s->count;
	memset(to, 0, s->count * sizeof(*to));
	s->kept_count++;
	for (size_t i = 0; i < s->count; i++) {
		const struct hdb_value *value = s->from.rows.value(s->from.rows.ctx, i);
		char *text = NULL;

		if (value->type == HDB_TYPE_TEXT) {
			TRY(BASE_ALLOC(text, value->text_size + 1, "rows", err));
			memcpy(text, value->text, value->text_size);
			*bytes += value->text_size;
		}
		to[i] = *value;
		to[i].text = text;
		widen(s, i, value);
	}
	return HDB_OK;
}

/* If any column is untyped, reads all rows to determine the types, then restarts the statement. */
static int read_types(struct typed_rows *s, struct hdb_error *err)
{
	bool is_open = false;
	int r = HDB_OK;

	for (size_t i = 0; i < s->count; i++)
		is_open |= s->columns[i].type != HDB_TYPE_TEXT &&
			   !(s->from.is_typed && s->from.is_typed(s->from.rows.ctx, i));
	if (!is_open)
		return HDB_OK;
	while ((r = s->from.rows.next(s->from.rows.ctx, err)) == HDB_OK) {
		for (size_t i = 0; i < s->count; i++)
			widen(s, i, s->from.rows.value(s->from.rows.ctx, i));
	}
	TRY_ERRORS(r);
	drop_kept(s);
	TRY_ERRORS(s->from.restart(s->from.rows.ctx, err));
	/* Names are owned by the statement. */
	for (size_t i = 0; i < s->count; i++) {
		const enum hdb_type type = s->columns[i].type;

		s->columns[i] = *s->from.rows.column(s->from.rows.ctx, i);
		s->columns[i].type = type;
	}
	return HDB_OK;
}

static int read_first(struct typed_rows *s, struct hdb_error *err)
{
	size_t bytes = 0;
	int r = HDB_OK;

	s->count = s->from.rows.column_count;
	TRY(BASE_ALLOC(s->columns, s->count, "columns", err));
	TRY(BASE_ALLOC(s->values, s->count, "columns", err));
	TRY(BASE_ALLOC(s->numbers, s->count, "columns", err));
	TRY(BASE_ALLOC(s->is_large, s->count, "columns", err));
	for (size_t i = 0; i < s->count; i++) {
		s->columns[i] = *s->from.rows.column(s->from.rows.ctx, i);
		s->columns[i].type = HDB_TYPE_NULL;
	}
	while (s->kept_count < KEPT_ROWS && bytes < KEPT_BYTES) {
		if ((r = s->from.rows.next(s->from.rows.ctx, err)) != HDB_OK)
			goto out;
		if ((r = keep_row(s, &bytes, err)) != HDB_OK)
			goto out;
	}
	r = read_types(s, err);
out:
	for (size_t i = 0; i < s->count; i++) {
		if (s->columns[i].type == HDB_TYPE_DOUBLE && s->is_large[i])
			s->columns[i].type = HDB_TYPE_TEXT;
		if (s->columns[i].type == HDB_TYPE_NULL)
			s->columns[i].type = s->from.rows.column(s->from.rows.ctx, i)->type;
		if (s->columns[i].type == HDB_TYPE_NULL)
			s->columns[i].type = HDB_TYPE_TEXT;
	}
	s->last = r;
	return r < 0 ? r : HDB_OK;
}

/* ---- rows ---- */

static void as_text(struct hdb_value *value, char *room)
{
	const int size =
		is_real(value->type) && isinf(value->d) ?
			snprintf(room, NUMBER_SIZE, value->d > 0 ? "Infinity" : "-Infinity") :
		is_real(value->type)        ? snprintf(room, NUMBER_SIZE, "%.17g", value->d) :
		value->type == HDB_TYPE_INT ? snprintf(room, NUMBER_SIZE, "%" PRId64, value->i) :
		value->type == HDB_TYPE_ID  ? snprintf(room, NUMBER_SIZE, "0x%" PRIx64, value->u) :
					      snprintf(room, NUMBER_SIZE, "%" PRIu64, value->u);

	value->text = room;
	value->text_size = (size_t)size;
}

/* Converts the value to its column's type. */
static int fit(struct typed_rows *s, size_t i, struct hdb_error *err)
{
	struct hdb_value *value = &s->values[i];
	const enum hdb_type type = s->columns[i].type;

	if (value->type == HDB_TYPE_NULL || value->type == type)
		return HDB_OK;
	if (type == HDB_TYPE_TEXT) {
		as_text(value, s->numbers[i]);
	} else if (value->type == HDB_TYPE_TEXT || (is_real(value->type) && !is_real(type))) {
		return hdb_fail(err, HDB_EUSAGE,
				"column \"%.60s\": row %" PRIu64 " contains %s, but all "
				"previous rows contain integers; use CAST",
				s->columns[i].name, s->row_no,
				value->type == HDB_TYPE_TEXT ? "a string" : "a fraction");
	} else if (is_real(type) && !is_real(value->type)) {
		value->d = value->type == HDB_TYPE_INT ? (double)value->i : (double)value->u;
	} else if (value->type == HDB_TYPE_INT) {
		value->u = (uint64_t)value->i;
	} else {
		value->i = (int64_t)value->u;
	}
	value->type = type;
	return HDB_OK;
}

/* Returns a buffered row, or the next row of the statement. */
static int take_row(struct typed_rows *s, struct hdb_error *err)
{
	assert(s->at <= s->kept_count);
	if (s->at < s->kept_count) {
		memcpy(s->values, s->kept + s->at * s->count, s->count * sizeof(*s->values));
		s->at++;
		return HDB_OK;
	}
	if (s->last != HDB_OK)
		return s->last;
	TRY(s->from.rows.next(s->from.rows.ctx, err));
	for (size_t i = 0; i < s->count; i++)
		s->values[i] = *s->from.rows.value(s->from.rows.ctx, i);
	return HDB_OK;
}

static int next_row(void *ctx, struct hdb_error *err)
{
	struct typed_rows *s = ctx;

	TRY(take_row(s, err));
	s->row_no++;
	for (size_t i = 0; i < s->count; i++)
		TRY(fit(s, i, err));
	return HDB_OK;
}

static const struct hdb_column *column_at(void *ctx, size_t column)
{
	return &((struct typed_rows *)ctx)->columns[column];
}

static const struct hdb_value *value_at(void *ctx, size_t column)
{
	return &((struct typed_rows *)ctx)->values[column];
}

int typed_rows_arrow(const struct typed_source *from, size_t batch_rows,
		     struct ArrowArrayStream *out, struct hdb_error *err)
{
	struct typed_rows *s = calloc(1, sizeof(*s));
	struct hdb_row_source source = {
		.struct_size = sizeof(source),
		.ctx = s,
		.column_count = from->rows.column_count,
		.column = column_at,
		.next = next_row,
		.value = value_at,
		.close = close_rows,
	};
	int r;

	if (!s) {
		from->rows.close(from->rows.ctx);
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a statement");
	}
	s->from = *from;
	r = read_first(s, err);
	if (r >= 0)
		r = hdb_source_arrow(&source, batch_rows, out, err);
	if (r < 0)
		close_rows(s);
	return r;
}

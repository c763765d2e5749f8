/*
 * common/answer.c - rows, columns and facts of an answer from any source.
 */
#include "common/answer.h"

#include "base/error.h"
#include "base/scope.h"
#include "base/suggest.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static size_t column_count(const struct answer *answer)
{
	if (answer->source)
		return answer->source->count;
	return answer->rows ? hdb_rows_column_count(answer->rows) : 0;
}

static const struct hdb_column *any_column(const struct answer *answer, size_t column)
{
	return answer->source ? &answer->source->columns[column] :
				hdb_rows_column(answer->rows, column);
}

/*
 * Returns the index of the column with this name (`size` bytes). Returns -1 with a message if there
 * is none.
 */
static int find_column(const struct answer *answer, const char *name, size_t size, size_t *column)
{
	const size_t count = column_count(answer);
	struct base_suggest near;
	char now[64], list[512] = "";
	size_t used = 0;

	snprintf(now, sizeof(now), "%.*s", (int)size, name);
	*column = answer->source ? SIZE_MAX : hdb_rows_find_column(answer->rows, now);
	if (size < sizeof(now) && *column != SIZE_MAX)
		return HDB_OK;
	base_suggest_init(&near, name, size);
	for (*column = 0; *column < count; (*column)++) {
		const char *have = any_column(answer, *column)->name;

		if (answer->source && strlen(have) == size && memcmp(have, name, size) == 0)
			return HDB_OK;
		base_suggest_try(&near, have);
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", have);
	}
	return hdb_fail(answer->err, HDB_EUSAGE,
			"no such column: \"%.*s\"%s%s%s; available columns: %s%s", (int)size, name,
			near.best ? ", but \"" : "", near.best ? near.best : "",
			near.best ? "\"" : "", list, used < sizeof(list) ? "" : "...");
}

int answer_pick(struct answer *answer, const char *columns)
{
	const size_t most = strlen(columns) + 1;

	assert(answer->picked_count == 0);
	TRY(BASE_ALLOC(answer->picked, most, "a list of columns", answer->err));
	for (const char *name = columns;;) {
		const size_t size = strcspn(name, ",");

		assert(answer->picked_count < most);
		TRY(find_column(answer, name, size, &answer->picked[answer->picked_count]));
		for (size_t i = 0; i < answer->picked_count; i++)
			if (answer->picked[i] == answer->picked[answer->picked_count])
				return hdb_fail(answer->err, HDB_EUSAGE,
						"column \"%.*s\" is listed twice", (int)size, name);
		answer->picked_count++;
		if (!name[size])
			break;
		name += size + 1;
	}
	answer->is_picked = true;
	return HDB_OK;
}

const struct hdb_column *answer_absent(const struct answer *answer, size_t i)
{
	return answer->picked[i] < column_count(answer) ? NULL :
							  any_column(answer, answer->picked[i]);
}

/*
 * Returns whether another column contains the same value together with its class, as "key_label"
 * does for "key".
 */
static bool is_labelled(const struct answer *answer, size_t column)
{
	const char *name = hdb_rows_column(answer->rows, column)->name;
	const size_t size = strlen(name);

	for (size_t i = 0; i < hdb_rows_column_count(answer->rows); i++) {
		const struct hdb_column *other = hdb_rows_column(answer->rows, i);

		if (strncmp(other->name, name, size) == 0 &&
		    strcmp(other->name + size, "_label") == 0 && strcmp(other->title, name) == 0)
			return true;
	}
	return false;
}

/*
 * Returns whether the column is shown by default in human-readable output or in line-based formats.
 */
static bool is_shown(const struct answer *answer, size_t column, bool for_people)
{
	const char *name = hdb_rows_column(answer->rows, column)->name;

	if (strncmp(name, "label_", 6) == 0)
		return false;
	return !for_people || (strncmp(name, "signature", 9) != 0 && !is_labelled(answer, column));
}

/*
 * Returns whether tables show the column at the end: IDs of objects other than the object of the
 * row.
 */
static bool is_last(const struct answer *answer, size_t column, bool for_people)
{
	const struct hdb_column *c = hdb_rows_column(answer->rows, column);

	return for_people && c->type == HDB_TYPE_ID && strcmp(c->name, "id") != 0;
}

int answer_thin(struct answer *answer, bool for_people)
{
	const size_t count = hdb_rows_column_count(answer->rows);
	size_t class = count;
	bool has_label = false;

	assert(!answer->picked);
	TRY(BASE_ALLOC(answer->picked, count + 1, "a list of columns", answer->err));
	for (size_t i = 0; i < count; i++) {
		const struct hdb_column *column = hdb_rows_column(answer->rows, i);

		if (strcmp(column->name, "class") == 0 &&
		    strcmp(column_title(column), "class") == 0)
			class = i;
		has_label |= strcmp(column->name, "label") == 0;
	}
	for (int last = 0; last < 2; last++)
		for (size_t i = 0; i < count; i++)
			if (is_shown(answer, i, for_people) &&
			    is_last(answer, i, for_people) == last &&
			    !(i == class && has_label && for_people))
				answer->picked[answer->picked_count++] = i;
	return HDB_OK;
}

void answer_release(struct answer *answer)
{
	free(answer->picked);
	answer->picked = NULL;
}

size_t answer_column_count(const struct answer *answer)
{
	if (answer->picked)
		return answer->picked_count;
	return column_count(answer);
}

const struct hdb_column *answer_column(const struct answer *answer, size_t column)
{
	assert(column < answer_column_count(answer));
	return any_column(answer, answer->picked ? answer->picked[column] : column);
}

const struct hdb_value *answer_value(const struct answer *answer, size_t column)
{
	const size_t no = answer->picked ? answer->picked[column] : column;

	assert(!answer->picked || column < answer->picked_count);
	assert(answer->row_count > 0);
	if (answer->changed && answer->changed_column == no)
		return answer->changed;
	return answer->source ? &answer->source->cells[no] : hdb_rows_value(answer->rows, no);
}

static bool contains(const char *text, size_t size, const char *word, size_t length)
{
	for (size_t at = 0; length <= size && at <= size - length; at++)
		if (strncasecmp(text + at, word, length) == 0)
			return true;
	return false;
}

/* Returns whether a string or an ID of the row contains the word, ignoring case. */
static bool row_has(const struct answer *answer, const char *word, size_t length)
{
	const struct hdb_value *value;
	char id[24];

	for (size_t i = 0; i < column_count(answer); i++) {
		value = answer->source ? &answer->source->cells[i] :
					 hdb_rows_value(answer->rows, i);
		if (value->type == HDB_TYPE_TEXT &&
		    contains(value->text, value->text_size, word, length))
			return true;
		if (value->type != HDB_TYPE_ID)
			continue;
		snprintf(id, sizeof(id), "0x%" PRIx64, value->u);
		if (contains(id, strlen(id), word, length))
			return true;
	}
	return false;
}

/* Returns whether the row contains every word of the filter. */
static bool row_fits(const struct answer *answer)
{
	const char *word = answer->filter;
	size_t length;

	for (; word && *(word += strspn(word, " ")); word += length) {
		length = strcspn(word, " ");
		if (!row_has(answer, word, length))
			return false;
	}
	return true;
}

/* Returns the next matching row. `hooks` may be NULL. */
static int read_row(struct answer *answer, const struct output_hooks *hooks)
{
	int rc;

	do {
		if ((hooks && hooks->is_cancelled()) || base_flag_is_set(answer->cancel))
			return hdb_fail(answer->err, HDB_EINTR, "interrupted");
		rc = answer->source ? answer->source->next(answer->source->ctx, answer->err) :
				      hdb_rows_next(answer->rows, answer->err);
	} while (rc == HDB_OK && !row_fits(answer));
	return rc;
}

static bool is_filtered(const struct answer *answer)
{
	return answer->filter && *answer->filter;
}

int answer_next(struct answer *answer, const struct output *out)
{
	int rc;

	if (!answer->rows && !answer->source)
		return HDB_END;
	if (out->error != 0) {
		answer->err->message[0] = 0; /* the runner prints the message */
		return answer->err->code = HDB_EIO;
	}
	if (answer->size_max && out->written > answer->size_max)
		return hdb_fail(answer->err, HDB_ELIMIT,
				"the answer is longer than %" PRIu64 " MiB; request fewer rows",
				answer->size_max >> 20);
	if ((answer->source || is_filtered(answer)) && answer->limit &&
	    answer->row_count == answer->limit)
		return HDB_END;
	rc = read_row(answer, out->hooks);
	answer->row_count += rc == HDB_OK;
	if (answer->written)
		*answer->written = answer->row_count;
	if (rc == HDB_OK && answer->on_row)
		answer->on_row(answer);
	return rc;
}

int answer_total(struct answer *answer, uint64_t *total)
{
	int rc = HDB_OK;

	*total = answer->row_count;
	if (answer->limit == 0 || answer->row_count < answer->limit)
		return HDB_OK;
	if (is_filtered(answer)) {
		while ((rc = read_row(answer, NULL)) == HDB_OK)
			++*total;
		return rc == HDB_END ? HDB_OK : rc;
	}
	if (answer->source && answer->source->total)
		return answer->source->total(answer->source->ctx, total, answer->err);
	if (answer->source && answer->source->row_count)
		*total = answer->source->row_count;
	return answer->source || !answer->rows ? HDB_OK :
						 hdb_rows_total(answer->rows, total, answer->err);
}

const char *column_title(const struct hdb_column *column)
{
	return column->title ? column->title : column->name;
}

size_t answer_fact_count(const struct answer *answer)
{
	return answer->rows ? hdb_rows_fact_count(answer->rows) : answer->fact_count;
}

const struct hdb_column *answer_fact_column(const struct answer *answer, size_t fact)
{
	return answer->rows ? hdb_rows_fact_column(answer->rows, fact) :
			      &answer->facts[fact].column;
}

const struct hdb_value *answer_fact_value(const struct answer *answer, size_t fact)
{
	return answer->rows ? hdb_rows_fact_value(answer->rows, fact) : &answer->facts[fact].value;
}

/* ---- columns ---- */

static const struct hdb_column *get_column(void *ctx, size_t column)
{
	return answer_column(((const struct answer_columns *)ctx)->answer, column);
}

static int get_next(void *ctx, struct hdb_error *err)
{
	const struct answer_columns *columns = ctx;

	(void)err; /* `err` is answer->err */
	return answer_next(columns->answer, columns->out);
}

static const struct hdb_value *get_value(void *ctx, size_t column)
{
	return answer_value(((const struct answer_columns *)ctx)->answer, column);
}

int answer_stream(struct answer_columns *columns, struct ArrowArrayStream *stream)
{
	const struct hdb_row_source source = { .struct_size = sizeof(source),
					       .ctx = columns,
					       .column_count = answer_column_count(columns->answer),
					       .column = get_column,
					       .next = get_next,
					       .value = get_value };

	return hdb_source_arrow(&source, ANSWER_BATCH_ROWS, stream, columns->answer->err);
}

/*
 * heapdb/render.c - rows, columns and facts of an answer from any source, and the choice of writer.
 */
#include "heapdb/render.h"

#include "heapdb/call_rows.h"
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "common/suggest.h"
#include "heapdb/prose.h"

#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Minimum line width, even if the terminal is narrower. */
#define WIDTH_MIN 40

size_t render_text_width(const struct output *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize window;
	unsigned long width = out->is_terminal ? 80 : 100;

	/* standard output is still the terminal when the output goes to a pager */
	if (ioctl(out->is_terminal ? STDOUT_FILENO : out->fd, TIOCGWINSZ, &window) == 0 &&
	    window.ws_col > 0)
		width = window.ws_col;
	else if (columns && *columns >= '1' && *columns <= '9')
		width = strtoul(columns, NULL, 10);
	return width < WIDTH_MIN ? WIDTH_MIN : width > 4096 ? 4096 : (size_t)width;
}

/* See no-color.org. Dumb terminals have no colours. */
static bool wants_colour(const struct output *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return out->is_terminal && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

struct render_style render_style_of(const struct options *opt, const struct output *out)
{
	return (struct render_style){
		.format = opt->format,
		.human = !opt->bytes,
		.is_wide = opt->wide,
		.is_whole = opt->stacks,
		.has_colour = wants_colour(out),
		.width = out->is_terminal && !opt->wide ? render_text_width(out) : 0,
	};
}

bool is_among(const char *name, const char *names)
{
	return word_index(name, names) >= 0;
}

/*
 * Prints warnings about the dump, and which objects and references the answer covers if not all.
 * Other facts are not printed with text.
 */
static void put_choices(struct answer *answer, struct output *out)
{
	bool is_any = false;

	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		const struct hdb_column *fact = answer_fact_column(answer, i);

		if (!is_among(fact->name, "stale|incomplete|redacted|only_heap|strength") ||
		    !has_value(answer_fact_value(answer, i)))
			continue;
		output_string(out, column_title(fact));
		output_string(out, ": ");
		prose_value(out, answer_fact_value(answer, i));
		output_char(out, '\n');
		is_any = true;
	}
	if (is_any)
		output_char(out, '\n');
}

/* Prints an answer as text, shortening class names in lines too wide for the terminal. */
static int render_prose(struct answer *answer, const struct render_style *style, struct output *out)
{
	int rc;

	assert(prose_of(answer->name));
	output_fit(out, style->width);
	out->is_exact = !style->human;
	put_choices(answer, out);
	rc = prose_of(answer->name)->put(answer, style, out);
	output_fit(out, 0);
	TRY(rc);
	if (out->was_shortened)
		output_string(out, "(--wide shows whole names)\n");
	return HDB_OK;
}

int render(struct answer *answer, const struct render_style *style, struct output *out)
{
	static_assert(FORMAT_ICICLE - FORMAT_FOLDED == PICTURE_ICICLE, "pictures in one order");
	assert(answer->err);
	assert(!answer->is_open);
	switch (style->format) {
	case FORMAT_TABLE:
		TRY(style->as_text ? render_prose(answer, style, out) :
				     render_table(answer, style, out));
		notes_below(answer, style, out);
		return HDB_OK;
#define X(name, word) \
	case FORMAT_##name: \
		return render_##word(answer, out);
		FORMATS_OF_ROWS(X)
#undef X
	case FORMAT_FOLDED:
	case FORMAT_SPEEDSCOPE:
	case FORMAT_PPROF:
	case FORMAT_TREEMAP:
	case FORMAT_ICICLE:
		return render_picture(answer, (enum picture_kind)(style->format - FORMAT_FOLDED),
				      out);
	case FORMAT_PARQUET:
	case FORMAT_ARROW:
	case FORMAT_ARROW_STREAM:
		break;
	}
	return hdb_fail(answer->err, HDB_EUSAGE, "use `heapdb export` to write parquet and arrow");
}

/* ---- rows of a query, or of another source ---- */

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

/* Finds the column with this name (`size` bytes), or returns -1 with a message. */
static int find_column(const struct answer *answer, const char *name, size_t size, size_t *column)
{
	const size_t count = column_count(answer);
	struct suggest near;
	char now[64], list[512] = "";
	size_t used = 0;

	snprintf(now, sizeof(now), "%.*s", (int)size, name);
	*column = answer->source ? SIZE_MAX : hdb_rows_find_column(answer->rows, now);
	if (size < sizeof(now) && *column != SIZE_MAX)
		return HDB_OK;
	suggest_init(&near, name, size);
	for (*column = 0; *column < count; (*column)++) {
		const char *have = any_column(answer, *column)->name;

		if (answer->source && strlen(have) == size && memcmp(have, name, size) == 0)
			return HDB_OK;
		suggest_try(&near, have);
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", have);
	}
	return hdb_fail(answer->err, HDB_EUSAGE,
			"no such column: \"%.*s\"%s%s%s; available columns: %s%s", (int)size, name,
			near.best ? ", but \"" : "", near.best ? near.best : "",
			near.best ? "\"" : "", list, used < sizeof(list) ? "" : "...");
}

int render_columns(struct answer *answer, const char *columns, const struct render_style *style,
		   struct output *out)
{
	int rc;

	if (columns && (rc = answer_pick(answer, columns)) != HDB_OK)
		return rc;
	return render(answer, style, out);
}

int print_answer(struct cli *cli, struct answer *answer)
{
	const struct render_style style = render_style_of(&cli->opt, cli->out);
	int rc;

	answer->err = &cli->err;
	answer->is_sparse = cli->is_sparse;
	if (cli->opt.columns) {
		answer_release(answer);
		answer->picked_count = 0;
	}
	rc = render_columns(answer, cli->opt.columns, &style, cli->out);
	cli->is_open = answer->is_open;
	answer_release(answer);
	return rc;
}

int print_own_answer(struct cli *cli, const struct own_answer *own)
{
	struct answer answer = {
		.name = own->name,
		.source = &own->source,
		.facts = own->facts,
		.fact_count = own->fact_count,
		.limit = cli->opt.limit,
	};

	return print_answer(cli, &answer);
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

void answer_report_absent(const struct cli *cli, const struct answer *answer)
{
	for (size_t i = 0; i < answer->picked_count; i++)
		if (answer->picked[i] >= column_count(answer))
			cli_notice(cli, "column \"%s\" is empty in this answer",
				   any_column(answer, answer->picked[i])->name);
}

/* Whether another column repeats this one with its class: "key" and "key_label". */
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

/* Whether the column is shown by default, to people or to programs that read lines. */
static bool is_shown(const struct answer *answer, size_t column, bool for_people)
{
	const char *name = hdb_rows_column(answer->rows, column)->name;

	if (strncmp(name, "label_", 6) == 0)
		return false;
	return !for_people || (strncmp(name, "signature", 9) != 0 && !is_labelled(answer, column));
}

/* Whether the column is moved to the end in tables: IDs of objects other than the row's own. */
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
	if (answer->sampled && answer->sampled->text == no &&
	    answer->sampled->value.type != HDB_TYPE_NULL)
		return &answer->sampled->value;
	return answer->source ? &answer->source->cells[no] : hdb_rows_value(answer->rows, no);
}

static bool contains(const char *text, size_t size, const char *word, size_t length)
{
	for (size_t at = 0; length <= size && at <= size - length; at++)
		if (strncasecmp(text + at, word, length) == 0)
			return true;
	return false;
}

/* Whether a text or an ID of the row has the word, in upper or lower case. */
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

/* Whether the row has each word of the filter. */
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

/* The next row that fits. */
static int read_row(struct answer *answer)
{
	int rc;

	do {
		if (progress_is_cancelled() || (answer->cancel && *answer->cancel))
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
	rc = read_row(answer);
	answer->row_count += rc == HDB_OK;
	if (rc == HDB_OK && answer->sampled)
		sampled_match_row(answer->sampled);
	if (answer->written)
		*answer->written = answer->row_count;
	if (rc == HDB_OK && answer->notes && answer->rows)
		notes_meet(answer);
	return rc;
}

int answer_total(struct answer *answer, uint64_t *total)
{
	int rc = HDB_OK;

	*total = answer->row_count;
	if (answer->limit == 0 || answer->row_count < answer->limit)
		return HDB_OK;
	if (is_filtered(answer)) {
		while ((rc = read_row(answer)) == HDB_OK)
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

	(void)err; /* the same as the answer's */
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

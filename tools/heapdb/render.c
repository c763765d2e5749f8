/* heapdb/render.c - determines the style of answers and selects the writer. */
#include "heapdb/render.h"

#include "heapdb/cli.h"
#include "base/suggest.h"
#include "heapdb/prose.h"

#include <sys/ioctl.h>
#include <unistd.h>

/* Minimum line width, even if the terminal is narrower. */
#define WIDTH_MIN 40

size_t render_text_width(const struct output *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize window;
	unsigned long width = out->is_terminal ? 80 : 100;

	/* if the output goes to a pager, standard output is still the terminal */
	if (ioctl(out->is_terminal ? STDOUT_FILENO : out->fd, TIOCGWINSZ, &window) == 0 &&
	    window.ws_col > 0)
		width = window.ws_col;
	else if (columns && *columns >= '1' && *columns <= '9')
		width = strtoul(columns, NULL, 10);
	return width < WIDTH_MIN ? WIDTH_MIN : width > 4096 ? 4096 : (size_t)width;
}

/* Returns whether to use colours; see no-color.org. Dumb terminals have no colours. */
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
	return base_word_index(name, names) >= 0;
}

/*
 * Prints warnings about the dump, and, if the answer does not cover all objects and references,
 * states which it covers. Answers as text include no other facts.
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
	return hdb_fail(answer->err, HDB_EUSAGE,
			"use `heapdb export` to write Parquet and Arrow files");
}

int print_answer(struct cli *cli, struct answer *answer)
{
	const struct render_style style = render_style_of(&cli->opt, cli->out);
	int rc = HDB_OK;

	answer->err = &cli->err;
	answer->is_sparse = cli->is_sparse;
	if (cli->opt.columns) {
		answer_release(answer);
		answer->picked_count = 0;
		rc = answer_pick(answer, cli->opt.columns);
	}
	if (rc == HDB_OK)
		rc = render(answer, &style, cli->out);
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

void answer_report_absent(const struct cli *cli, const struct answer *answer)
{
	const struct hdb_column *column;

	for (size_t i = 0; i < answer->picked_count; i++)
		if ((column = answer_absent(answer, i)))
			cli_notice(cli, "column \"%s\" is empty in this answer", column->name);
}

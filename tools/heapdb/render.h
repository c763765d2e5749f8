/*
 * heapdb/render.h - writes an answer as a table, JSON, JSON lines, CSV, TSV or picture.
 */
#ifndef HEAPDB_RENDER_H
#define HEAPDB_RENDER_H

#include "heapdb.h"

#include "common/escape.h"
#include "common/output.h"
#include "common/answer.h"
#include "heapdb/options.h"
#include "pictures/pictures.h"

#include <stdbool.h>

struct cli;

struct render_style {
	enum format format;
	bool human;   /* whether to print sizes as 1.2 GiB */
	bool is_wide; /* whether to print all columns and complete strings */
	/* with as_text: whether to print all stacks instead of a table of threads */
	bool is_whole;
	bool as_text;    /* whether to print as text; see prose.h */
	bool has_colour; /* whether to use bold, dim and colours */
	size_t width;    /* columns of the terminal; 0 means unlimited */
	uint64_t parts;  /* with as_text: maximum number of threads or leaks; 0 means all */
};

/* Terminal escapes, used if style.has_colour. */
#define STYLE_BOLD "\033[1m"
#define STYLE_DIM "\033[2m"
#define STYLE_END "\033[0m"

/* Returns the human-readable style that suits standard output. */
struct render_style render_style_of(const struct options *opt, const struct output *out);

/*
 * Returns the width of a line of text: the width of the terminal, otherwise $COLUMNS, or 100 in a
 * pipe.
 */
size_t render_text_width(const struct output *out);

/* Returns HDB_OK, or a failure of the query or of writing with its message in answer->err. */
int render(struct answer *answer, const struct render_style *style, struct output *out);

/*
 * Prints an answer that does not come from a query, according to the command's options, and
 * releases it.
 */
int print_answer(struct cli *cli, struct answer *answer);
int print_own_answer(struct cli *cli, const struct own_answer *own);

/* Prints to standard error which requested columns are missing from the answer. */
void answer_report_absent(const struct cli *cli, const struct answer *answer);

/* Makes the answer annotate its rows with matching notes and samples. */
void answer_annotate(struct answer *answer);
/*
 * Prints notes on the leak, object and class of the current row, one per line. These notes are not
 * repeated below the rows.
 */
void notes_of_row(const struct answer *answer, const struct render_style *style, size_t indent,
		  struct output *out);
/* Prints all other matched notes below the rows, unless the answer is JSON. */
void notes_below(const struct answer *answer, const struct render_style *style, struct output *out);

/* Returns whether `name` is one of "name|name|...". */
bool is_among(const char *name, const char *names);

/*
 * Print the facts that precede the rows, followed by a blank line, and the facts that follow the
 * rows.
 */
void facts_above(struct answer *answer, const struct render_style *style, struct output *out);
void facts_below(struct answer *answer, const struct render_style *style, struct output *out);
/* Appends "left out: WHY (25 rows, 1.2 MiB)" if rows were left out. */
void facts_cut(const struct answer *answer, const struct render_style *style, struct bytes *to);

int render_table(struct answer *answer, const struct render_style *style, struct output *out);
/* Draws the answer. Fails with HDB_EUSAGE if the rows do not form a tree. */
int render_picture(struct answer *answer, enum picture_kind kind, struct output *out);

/* Appends a value in human-readable form. Returns its width in columns. */
size_t value_for_people(const struct hdb_value *value, const struct render_style *style,
			struct bytes *out);
/* Like value_for_people, but for a column or fact that may be a difference, such as "+1.2 MiB". */
size_t column_for_people(const struct hdb_column *column, const struct hdb_value *value,
			 const struct render_style *style, struct bytes *out);

#endif

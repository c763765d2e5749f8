/*
 * heapdb/render.h - writes an answer as a table, JSON, JSON lines, CSV, TSV or picture.
 */
#ifndef HEAPDB_RENDER_H
#define HEAPDB_RENDER_H

#include "heapdb.h"

#include "common/escape.h"
#include "common/output.h"
#include "common/own_answer.h"
#include "heapdb/options.h"
#include "pictures/pictures.h"

#include <stdbool.h>

struct cli;
struct notes;
struct sampled;

/* An answer to print: rows and facts of a query, or of the command itself. */
struct answer {
	const char *name;                  /* value of "query" in JSON */
	const char *section;               /* value of "section" in JSON, for reports; NULL: none */
	const struct hdb_query_args *args; /* arguments of the query; lent; NULL: none */
	struct hdb_rows *rows;             /* lent; NULL: not a query, facts are in: */
	const struct row_source *source;   /* lent; row source if `rows` is NULL; NULL: none */
	const struct own_fact *facts;
	size_t fact_count;
	uint64_t limit;   /* limit passed to the query; 0: none */
	const char *sort; /* sort column; NULL: none */
	size_t *picked;   /* owned: indexes of columns to print; NULL: all */
	size_t picked_count;
	bool is_picked;    /* the columns were requested by name */
	bool is_sparse;    /* JSON rows lack the keys of nulls */
	uint64_t size_max; /* maximum output in bytes, otherwise HDB_ELIMIT; 0: unlimited */
	/* counter of rows shared with waiting clients, who can cancel with HDB_EINTR; NULL: none */
	_Atomic uint64_t *written;
	const volatile int *cancel;
	const char *filter;      /* words that a printed row must contain; lent; NULL or "": any */
	struct sampled *sampled; /* samples of a recording for the rows; lent; NULL: none */
	struct notes *notes;     /* notes of the database, for people and JSON; lent; NULL: none */
	uint64_t row_count;      /* out: number of rows printed */
	struct hdb_error *err;   /* out: error of rendering */
	bool is_open;            /* out: a failure left a JSON object incomplete */
};

struct render_style {
	enum format format;
	bool human;      /* print sizes as 1.2 GiB */
	bool is_wide;    /* all columns, uncut texts */
	bool is_whole;   /* with as_text: all stacks instead of a table of threads */
	bool as_text;    /* print as text: see prose.h */
	bool has_colour; /* use bold, dim and colours */
	size_t width;    /* columns of the terminal; 0: unlimited */
	uint64_t parts;  /* with as_text: maximum number of threads or leaks; 0: all */
};

/* Terminal escapes, used if style.has_colour. */
#define STYLE_BOLD "\033[1m"
#define STYLE_DIM "\033[2m"
#define STYLE_END "\033[0m"

/* Returns the style for people that suits standard output. */
struct render_style render_style_of(const struct options *opt, const struct output *out);

/* Width of a text line: the terminal's, otherwise $COLUMNS, or 100 in a pipe. */
size_t render_text_width(const struct output *out);

/* Returns HDB_OK, or a failure of the query or of writing with its message in answer->err. */
int render(struct answer *answer, const struct render_style *style, struct output *out);
/* Like render, with these columns only; NULL: all. */
int render_columns(struct answer *answer, const char *columns, const struct render_style *style,
		   struct output *out);

/* Prints an answer of the command itself with its options, and releases it. */
int print_answer(struct cli *cli, struct answer *answer);
int print_own_answer(struct cli *cli, const struct own_answer *own);

/* Writes a quoted JSON string. */
void render_json_string(struct output *out, const char *string);

/* Writes `before` (key and comma) and the text as JSON; null for NULL. */
void render_json_field(struct output *out, const char *before, const char *text);

/* Writes {"schema":2,"error":{...}}, or only the end of the open object. */
void render_json_error(struct output *out, bool is_open, const struct hdb_error *err,
		       int exit_code);

/*
 * Selects the columns named in "a,b,c", in this order. Columns that the query defines but this
 * answer lacks are null. HDB_EUSAGE for unknown columns.
 */
int answer_pick(struct answer *answer, const char *columns);
/* Reports such null columns on standard error. */
void answer_report_absent(const struct cli *cli, const struct answer *answer);

/*
 * Removes columns that split a label into parts, which serve JSON readers; for people, also an
 * object's class if its label, which begins with the class, is shown.
 */
int answer_thin(struct answer *answer, bool for_people);
void answer_release(struct answer *answer);

/* ---- for the writers ---- */

size_t answer_column_count(const struct answer *answer);
const struct hdb_column *answer_column(const struct answer *answer, size_t column);
const struct hdb_value *answer_value(const struct answer *answer, size_t column);
/* Returns HDB_OK, HDB_END, or a failure of the query or of writing, or because of a signal. */
int answer_next(struct answer *answer, const struct output *out);
/* Returns the number of rows without the limit. Call after the last answer_next. */
int answer_total(struct answer *answer, uint64_t *total);
/* An answer and its output as a column stream, to which both are lent. */
struct answer_columns {
	struct answer *answer;
	const struct output *out;
};
/* Rows per batch. */
#define ANSWER_BATCH_ROWS 65536
int answer_stream(struct answer_columns *columns, struct ArrowArrayStream *stream);
size_t answer_fact_count(const struct answer *answer);
const struct hdb_column *answer_fact_column(const struct answer *answer, size_t fact);
const struct hdb_value *answer_fact_value(const struct answer *answer, size_t fact);

/* Matches notes against the names in the current row. answer->notes must be set. */
void notes_meet(const struct answer *answer);
/*
 * Prints notes on the leak, object and class of the current row, one per line. They are not
 * repeated below.
 */
void notes_of_row(const struct answer *answer, const struct render_style *style, size_t indent,
		  struct output *out);
/* Prints all other matched notes below the rows, or all as the JSON key "notes". */
void notes_below(const struct answer *answer, const struct render_style *style, struct output *out);
void notes_in_json(const struct answer *answer, struct output *out);

/* Whether `name` is one of "name|name|...". */
bool is_among(const char *name, const char *names);

/* Returns the title of a column or fact for use in sentences. */
const char *column_title(const struct hdb_column *column);

/* Prints facts that belong before the rows, followed by a blank line; or those below. */
void facts_above(struct answer *answer, const struct render_style *style, struct output *out);
void facts_below(struct answer *answer, const struct render_style *style, struct output *out);
/* Appends "left out: WHY (25 rows, 1.2 MiB)" if rows were left out. */
void facts_cut(const struct answer *answer, const struct render_style *style, struct bytes *to);

int render_table(struct answer *answer, const struct render_style *style, struct output *out);
#define X(name, word) int render_##word(struct answer *answer, struct output *out);
FORMATS_OF_ROWS(X)
#undef X
/* HDB_EUSAGE if the rows do not form a tree. */
int render_picture(struct answer *answer, enum picture_kind kind, struct output *out);

/* Appends a value for people. Returns its width in columns. */
size_t value_for_people(const struct hdb_value *value, const struct render_style *style,
			struct bytes *out);
/* Like value_for_people, for a column or fact that may be a difference: "+1.2 MiB". */
size_t column_for_people(const struct hdb_column *column, const struct hdb_value *value,
			 const struct render_style *style, struct bytes *out);

#endif

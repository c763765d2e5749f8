/*
 * heapdb/render.h - writes an answer as a table, JSON, JSON lines, CSV or TSV, and as a
 * picture.
 */
#ifndef HEAPDB_RENDER_H
#define HEAPDB_RENDER_H

#include "heapdb.h"

#include "common/escape.h"
#include "heapdb/options.h"
#include "common/output.h"
#include "pictures/pictures.h"

#include <stdbool.h>

struct cli;
struct notes;
struct sampled;

/* Rows that are no query's. */
struct row_source {
	void *ctx;
	size_t count;                                  /* columns */
	int (*next)(void *ctx, struct hdb_error *err); /* as hdb_rows_next */
	const struct hdb_column *columns;              /* lent */
	const struct hdb_value *cells;                 /* of the current row; lent */
	uint64_t row_count;                            /* of all rows; 0: ask total */
	/* as hdb_rows_total; NULL: it is not known how many there are */
	int (*total)(void *ctx, uint64_t *total, struct hdb_error *err);
};

/* A fact that the command itself has. */
struct own_fact {
	struct hdb_column column;
	struct hdb_value value;
};

/* What is printed: the rows and facts of a query, or facts that the command itself has. */
struct answer {
	const char *name;    /* key "query" in JSON */
	const char *section; /* key "section" in JSON: which part of a report; NULL: none */
	const struct hdb_query_args *args; /* what was asked; lent; NULL: nothing */
	struct hdb_rows *rows;             /* lent; NULL: no query's, and the facts are: */
	const struct row_source
		*source; /* lent; where rows come from if `rows` is NULL; NULL: none */
	const struct own_fact *facts;
	size_t fact_count;
	uint64_t limit;   /* that the query was given; 0: none */
	const char *sort; /* the column that rows are sorted by; NULL: none */
	size_t *picked;   /* owned: columns to print; NULL: all */
	size_t picked_count;
	bool is_picked;    /* the columns are those that were asked for by name */
	uint64_t size_max; /* bytes; more is HDB_ELIMIT; 0: any */
	/* of an answer that others wait for: counts rows, and ends it as HDB_EINTR; NULL: none */
	_Atomic uint64_t *written;
	const volatile int *cancel;
	struct sampled *sampled; /* what a recording says of the rows; lent; NULL: nothing */
	struct notes *notes;     /* of the database, for people and JSON; lent; NULL: none */
	uint64_t row_count;      /* out: rows printed */
	struct hdb_error *err;   /* out: why rendering failed */
	bool is_open;            /* out: failed within a JSON object, not yet ended */
};

struct render_style {
	enum format format;
	bool human;      /* sizes as 1.2 GiB */
	bool is_wide;    /* all columns and whole texts */
	bool is_whole;   /* with as_text: all stacks, not a table of threads */
	bool as_text;    /* as people read it from top to bottom: see prose.h */
	bool has_colour; /* bold, dim and colours may be printed */
	size_t width;    /* columns of the terminal; 0: do not cut */
	uint64_t parts;  /* with as_text: threads or leaks printed at most; 0: all */
};

/* What a terminal obeys, where style.has_colour. */
#define STYLE_BOLD "\033[1m"
#define STYLE_DIM "\033[2m"
#define STYLE_END "\033[0m"

/* Prints for people in the style that standard output asks for. */
struct render_style render_style_of(const struct options *opt, const struct output *out);

/* Columns of a line of text: those of the terminal, or else $COLUMNS, or 100 in a pipe. */
size_t render_text_width(const struct output *out);

/* HDB_OK, or a failure, of the query or of writing, with its message in answer->err. */
int render(struct answer *answer, const struct render_style *style, struct output *out);
/* The same, of these columns only; NULL: of all. */
int render_columns(struct answer *answer, const char *columns, const struct render_style *style,
		   struct output *out);

/* Prints an answer of the command's own as its options say, and releases it. */
int print_answer(struct cli *cli, struct answer *answer);

/* Cells: a text, null if it is empty or NULL, lent; a number. */
struct hdb_value text_value(const char *text);
struct hdb_value number_value(enum hdb_type type, uint64_t u);
/* The same as facts; what is null has HDB_TYPE_NULL. `title` NULL: the name. */
struct own_fact text_fact(const char *name, const char *title, const char *text);
struct own_fact number_fact(const char *name, const char *title, enum hdb_type type, uint64_t u);

/* A text as JSON has it, in quotes. */
void render_json_string(struct output *out, const char *string);

/* What stands before the text, its key and a comma, and the text as JSON; NULL: null. */
void render_json_field(struct output *out, const char *before, const char *text);

/* {"schema":2,"error":{...}}, or only what ends the object that is open. */
void render_json_error(struct output *out, bool is_open, const struct hdb_error *err,
		       int exit_code);

/*
 * Prints only the columns named in "a,b,c", in that order; what the query has and this answer has
 * not is null. HDB_EUSAGE if there is no such column.
 */
int answer_pick(struct answer *answer, const char *columns);
/* Says on standard error which of them are null for that reason. */
void answer_tell_absent(const struct cli *cli, const struct answer *answer);

/*
 * Leaves out the parts of labels, which are for programs that read JSON; and for people an object's
 * class where its label is shown, which begins with the class.
 */
int answer_thin(struct answer *answer, bool for_people);
void answer_release(struct answer *answer);

/* ---- for the writers ---- */

size_t answer_column_count(const struct answer *answer);
const struct hdb_column *answer_column(const struct answer *answer, size_t column);
const struct hdb_value *answer_value(const struct answer *answer, size_t column);
/* HDB_OK, HDB_END, or a failure: of the query, of writing, or because a signal came. */
int answer_next(struct answer *answer, const struct output *out);
/* Rows without the limit; to be called after the last answer_next. */
int answer_total(struct answer *answer, uint64_t *total);
/* An answer and where it is written to, as a stream of columns, by which both are lent. */
struct answer_columns {
	struct answer *answer;
	const struct output *out;
};
/* Rows of a batch. */
#define ANSWER_BATCH_ROWS 65536
int answer_stream(struct answer_columns *columns, struct ArrowArrayStream *stream);
size_t answer_fact_count(const struct answer *answer);
const struct hdb_column *answer_fact_column(const struct answer *answer, size_t fact);
const struct hdb_value *answer_fact_value(const struct answer *answer, size_t fact);

/* Notes on what the rows and facts name: meets those of a row; answer->notes is there. */
void notes_meet(const struct answer *answer);
/* Prints those on the current row's leak, object and class, a line each, but not below again. */
void notes_of_row(const struct answer *answer, const struct render_style *style, size_t indent,
		  struct output *out);
/* Prints all that were met, below the rows; or as JSON's key "notes", if there are any. */
void notes_below(const struct answer *answer, const struct render_style *style, struct output *out);
void notes_in_json(const struct answer *answer, struct output *out);

/* Whether `name` is one of "name|name|...". */
bool is_among(const char *name, const char *names);

/* What a column or a fact is called in sentences. */
const char *column_title(const struct hdb_column *column);

/* Prints what is to say before the rows, and a blank line; or below them. */
void facts_above(struct answer *answer, const struct render_style *style, struct output *out);
void facts_below(struct answer *answer, const struct render_style *style, struct output *out);
/* Appends "left out: WHY (25 rows, 1.2 MiB)", if the answer leaves out something. */
void facts_cut(const struct answer *answer, const struct render_style *style, struct bytes *to);

int render_table(struct answer *answer, const struct render_style *style, struct output *out);
int render_json(struct answer *answer, struct output *out);
int render_jsonl(struct answer *answer, struct output *out);
int render_csv(struct answer *answer, struct output *out);
int render_tsv(struct answer *answer, struct output *out);
/* HDB_EUSAGE if the rows are no tree. */
int render_picture(struct answer *answer, enum picture_kind kind, struct output *out);

/* Prints a number or a boolean as all formats for programs have it; false: it is neither. */
bool value_for_programs(struct output *out, const struct hdb_value *value);

/* Appends the value as people read it; returns its columns on a terminal. */
size_t value_for_people(const struct hdb_value *value, const struct render_style *style,
			struct bytes *out);
/* The same of a column or fact, which may be how much a number grew: "+1.2 MiB". */
size_t column_for_people(const struct hdb_column *column, const struct hdb_value *value,
			 const struct render_style *style, struct bytes *out);

#endif

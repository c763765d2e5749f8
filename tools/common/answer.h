/*
 * common/answer.h - an answer, which consists of the rows and facts of a query, of a statement or
 * of the command itself, and functions that write answers in formats for programs.
 */
#ifndef COMMON_ANSWER_H
#define COMMON_ANSWER_H

#include "base/flag.h"
#include "common/own_answer.h"

struct notes;
struct sampled;

/* An answer to print: rows and facts of a query, or of the command itself. */
struct answer {
	const char *name; /* value of the key "query" in JSON */
	/* value of the key "section" in JSON, for reports, or NULL if none */
	const char *section;
	const struct hdb_query_args *args; /* arguments of the query; borrowed, or NULL if none */
	struct hdb_rows *rows;             /* borrowed; NULL if `facts` is used instead */
	const struct row_source
		*source; /* borrowed; source of rows if `rows` is NULL, or NULL if none */
	const struct own_fact *facts;
	size_t fact_count;
	uint64_t limit;   /* limit passed to the query, or 0 if none */
	const char *sort; /* sort column, or NULL if none */
	size_t *picked;   /* owned: indexes of columns to print; NULL means all */
	size_t picked_count;
	bool is_picked;    /* whether the columns were requested by name */
	bool is_sparse;    /* whether JSON rows omit keys whose value is null */
	uint64_t size_max; /* maximum size of the output in bytes, beyond which writing fails with
			    * HDB_ELIMIT; 0 means unlimited */
	/* counter of rows, shared with a waiting client; NULL if none */
	_Atomic uint64_t *written;
	const base_flag *cancel;
	const char *filter; /* words that a printed row must contain; borrowed; NULL or "" selects
			     * all rows */
	struct sampled
		*sampled;    /* samples of a recording for the rows; borrowed, or NULL if none */
	struct notes *notes; /* notes of the database, for text and JSON; borrowed; may be NULL */
	/* Called after each row; may replace a value of the row. */
	void (*on_row)(struct answer *answer);
	const struct hdb_value *changed; /* borrowed, or NULL if none */
	size_t changed_column;
	/* Adds members to the end of the JSON object. May be NULL. */
	void (*put_more)(const struct answer *answer, struct output *out);
	uint64_t row_count;    /* set by the writer: number of rows printed */
	struct hdb_error *err; /* out: error of rendering */
	bool is_open; /* set by the writer: whether a failure left a JSON object incomplete */
};

/* Returns the title of a column or fact for use in sentences. */
const char *column_title(const struct hdb_column *column);

/* Writes a quoted JSON string. */
void render_json_string(struct output *out, const char *string);

/* Writes `before` (key and comma), followed by the text as JSON, or by null if there is no text. */
void render_json_field(struct output *out, const char *before, const char *text);

/* Writes {"schema":2,"error":{...}}, or only the end of the open object. */
void render_json_error(struct output *out, bool is_open, const struct hdb_error *err,
		       int exit_code);

/*
 * Selects the columns named in "a,b,c", in this order. Columns that the query defines but this
 * answer lacks are null. Fails with HDB_EUSAGE for unknown columns.
 */
int answer_pick(struct answer *answer, const char *columns);
/*
 * Returns the selected column `i` if the query defines it but this answer lacks it, otherwise NULL.
 */
const struct hdb_column *answer_absent(const struct answer *answer, size_t i);

/*
 * Removes columns that split a label into parts, which are intended for readers of JSON. In
 * human-readable output, also removes the class of an object if its label is shown, because the
 * label begins with the class.
 */
int answer_thin(struct answer *answer, bool for_people);
void answer_release(struct answer *answer);

/* ---- for the writers ---- */

size_t answer_column_count(const struct answer *answer);
const struct hdb_column *answer_column(const struct answer *answer, size_t column);
const struct hdb_value *answer_value(const struct answer *answer, size_t column);
/* Returns HDB_OK, HDB_END, or the code for a failure of the query, a failed write, or a signal. */
int answer_next(struct answer *answer, const struct output *out);
/* Returns the number of rows without the limit. Call after the last answer_next. */
int answer_total(struct answer *answer, uint64_t *total);
/* An answer and its output as a column stream, which borrows both. */
struct answer_columns {
	struct answer *answer;
	const struct output *out;
};
/* Number of rows per batch. */
#define ANSWER_BATCH_ROWS 65536
int answer_stream(struct answer_columns *columns, struct ArrowArrayStream *stream);
size_t answer_fact_count(const struct answer *answer);
const struct hdb_column *answer_fact_column(const struct answer *answer, size_t fact);
const struct hdb_value *answer_fact_value(const struct answer *answer, size_t fact);

/*
 * Write an answer as one JSON object, JSON lines, or separated values. These functions return the
 * same codes as render.
 */
int render_json(struct answer *answer, struct output *out);
int render_jsonl(struct answer *answer, struct output *out);
int render_csv(struct answer *answer, struct output *out);
int render_tsv(struct answer *answer, struct output *out);

#endif

/*
 * heapdb/report.h - Markdown output for `heapdb report`. Text from a dump is printed in code spans,
 * which Markdown does not interpret.
 */
#ifndef HEAPDB_REPORT_H
#define HEAPDB_REPORT_H

#include "base/try.h"
#include "heapdb/render.h"

struct cli;

/*
 * Appends text in a code span: control characters escaped, ` as ', | escaped so that it does not
 * separate cells.
 */
void markdown_code(struct output *out, const char *text, size_t size);

/* Appends text with Markdown's special characters escaped. */
void markdown_text(struct output *out, const char *text, size_t size);

/* Appends a value in human-readable form: a size as 1.2 GiB, a string in a code span. */
void markdown_value(struct output *out, const struct hdb_value *value);

/*
 * Returns the value of the named column, or NULL if there is no such column. Borrowed until the
 * next row.
 */
const struct hdb_value *rows_value(const struct hdb_rows *rows, const char *name);

/* Returns whether the column has this text. */
bool rows_is(const struct hdb_rows *rows, const char *name, const char *text);

/* Selection of an answer's rows and columns for a table. */
struct markdown_rows {
	const char *columns; /* "name,name" */
	const char *among;   /* values of the column "section", "dump|vm"; NULL means all */
	bool is_largest;     /* whether to omit rows that are 0.00 % of the heap */
};

/* Prints the rows as a table, or a sentence if there are no rows. */
int markdown_table(struct answer *answer, const struct markdown_rows *which, struct output *out);

/* Writes the report as one HTML file, completely or not at all. Error messages are in cli->err. */
int report_html(struct cli *cli, const char *path);

/*
 * Prints the leaks as `heapdb leaks` does, in a code block. `answer` is the answer of the leaks
 * query.
 */
int markdown_leaks(struct answer *answer, struct output *out);

/*
 * Prints the opening lines: the main suspect, its share and the path to it, from the rows of leaks.
 */
int markdown_headline(struct answer *answer, struct output *out);

/*
 * Sets *text to the Markdown report of an open database. The caller must free() *text, which is not
 * zero-terminated. `name` is used in the heading.
 */
int report_text(struct hdb *db, const char *name, char **text, size_t *size, struct hdb_error *err);

#endif

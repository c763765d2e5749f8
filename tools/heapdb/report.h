/*
 * heapdb/report.h - Markdown out of answers, for `heapdb report`.
 *
 * Text that comes from a dump stands in code spans, where Markdown leaves it alone.
 */
#ifndef HEAPDB_REPORT_H
#define HEAPDB_REPORT_H

#include "base/try.h"
#include "heapdb/render.h"

struct cli;

/*
 * Appends text in a code span: control characters escaped, ` as ', | as a bar that parts no cells.
 */
void markdown_code(struct output *out, const char *text, size_t size);

/* Appends text as it is read, with what Markdown would take as its own escaped. */
void markdown_text(struct output *out, const char *text, size_t size);

/* Appends a value as people read it: sizes as 1.2 GiB, text in a code span. */
void markdown_value(struct output *out, const struct hdb_value *value);

/* The column of that name in the rows, or NULL: no value. Borrowed until the next row. */
const struct hdb_value *rows_value(const struct hdb_rows *rows, const char *name);

/* Whether the column has that text. */
bool rows_is(const struct hdb_rows *rows, const char *name, const char *text);

/* What of an answer is in a table. */
struct markdown_rows {
	const char *columns; /* "name,name" */
	const char *among;   /* of the column "section" these, "dump|vm"; NULL: all */
	bool is_largest;     /* rows that are 0.00 % of the heap say nothing */
};

/* A table of the rows. Nothing but a sentence if there are none. */
int markdown_table(struct answer *answer, const struct markdown_rows *which, struct output *out);

/* Writes the report as one HTML file, whole or not at all. Messages of failures: cli->err. */
int report_html(struct cli *cli, const char *path);

/* The leaks as `heapdb leaks` prints them, as a block of code. `answer` has the rows of leaks. */
int markdown_leaks(struct answer *answer, struct output *out);

/* The first lines: the culprit, its share and the path to it, out of the rows of leaks. */
int markdown_headline(struct answer *answer, struct output *out);

/*
 * The whole report of an open database, as Markdown, in memory: *text is owned, free(), and has no
 * zero at its end. `name` is what the heading says.
 */
int report_text(struct hdb *db, const char *name, char **text, size_t *size, struct hdb_error *err);

#endif

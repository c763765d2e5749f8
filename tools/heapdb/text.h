/*
 * heapdb/text.h - answers that people read from top to bottom on a terminal, instead of as a table.
 *
 * Which queries have such a text is a table in text.c. In a pipe, with --table, --columns, --sort or another format they
 * are rows like all others.
 */
#ifndef HEAPDB_TEXT_H
#define HEAPDB_TEXT_H

#include "heapdb/render.h"
#include "heapdb/report.h"

/* Prints the answer as text: HDB_OK, or a failure as render(). */
typedef int text_fn(struct answer *answer, const struct render_style *style, struct output *out);

/* The text of the query of that name; NULL if it has none. */
text_fn *text_of(const char *query);

/* Whether the text is printed whole if no --limit is given: a story is not cut in its middle. */
bool text_is_whole(const char *query);

text_fn text_object, text_path, text_threads;

/* ---- for the texts ---- */

/* The fact of that name, or NULL: it was not set. Borrowed until the rows are closed. */
const struct hdb_value *answer_fact(const struct answer *answer, const char *name);

/* Whether there is such a value. NULL is none. */
bool has_value(const struct hdb_value *value);

/* A value as people read it; sizes as 1.2 GiB. Nothing for null. */
void text_value(struct output *out, const struct hdb_value *value);

/* "LABEL 0x12c4", of the columns or facts that hold them; either may be NULL or null. */
void text_object_name(struct output *out, const struct hdb_value *label, const struct hdb_value *id);

/* ", retained 1.2 MiB" if it is known. */
void text_retained(struct output *out, const struct hdb_value *retained);

/* "25 of 3,412 rows (--limit all shows all)", if rows were left out. */
int text_footer(struct answer *answer, const struct render_style *style, struct output *out);

/* Bold, and its end, where the style has it. */
void text_bold(struct output *out, const struct render_style *style, bool is_on);

/* Whether the terminal shows box-drawing characters. */
bool text_has_boxes(void);

#endif

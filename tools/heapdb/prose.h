/*
 * heapdb/prose.h - answers that people read from top to bottom on a terminal, instead of as a
 * table.
 *
 * Which queries have such a text is a table in prose.c. With --table, --columns, --sort, --where
 * or another format they are rows like all others.
 */
#ifndef HEAPDB_PROSE_H
#define HEAPDB_PROSE_H

#include "heapdb/render.h"
#include "heapdb/report.h"

/* Prints the answer as text: HDB_OK, or a failure as render(). */
typedef int prose_fn(struct answer *answer, const struct render_style *style, struct output *out);

/* A query whose answer is a text for people. */
struct prose {
	const char *query;
	prose_fn *put;
	bool is_whole;       /* printed whole without --limit: it is not cut in its middle */
	bool has_parts;      /* --limit counts its parts (threads, leaks), not rows */
	bool has_stacks;     /* a table of threads; with --stacks a thread dump */
	bool needs_retained; /* in order of retained sizes, which are computed for it */
};

/* NULL: the query has no text. */
const struct prose *prose_of(const char *query);

prose_fn prose_leaks, prose_object, prose_overview, prose_path, prose_references, prose_threads,
	prose_triage;

/* What `diff` says before its table by class: the answer by owner. */
prose_fn prose_growth;

/* ---- for the texts ---- */

/* The fact of that name, or NULL: it was not set. Borrowed until the rows are closed. */
const struct hdb_value *answer_fact(const struct answer *answer, const char *name);

/* Whether there is such a value. NULL is none. */
bool has_value(const struct hdb_value *value);

/* Appends a text; of a long one the beginning and "... (7,016 characters; --json has all)". */
void prose_add_text(struct bytes *to, const struct hdb_value *text);

/* A value as people read it; sizes as 1.2 GiB, or 1,288,490,189 B. Nothing for null. */
void prose_value(struct output *out, const struct hdb_value *value);
/* The same at the end of a text, as `out` will have it. */
void prose_add(struct bytes *to, const struct output *out, const struct hdb_value *value);

/*
 * Prints a text with values of the row in it: "{retained}" is the column's. What stands in
 * brackets is printed only if all its values are there: "{label}[, retained {retained}]\n".
 */
void prose_row(struct output *out, const struct hdb_rows *rows, const char *text);
/* The same with facts; and at the end of a text. */
void prose_facts(struct output *out, const struct answer *answer, const char *text);
void prose_add_row(struct bytes *to, const struct output *out, const struct hdb_rows *rows,
		   const char *text);
void prose_add_facts(struct bytes *to, const struct output *out, const struct answer *answer,
		     const char *text);

/*
 * Advice as a command: "heapdb threads 'transfer-*'", of a query's name and its target, quoted for
 * a shell. Nothing where there is no query.
 */
void prose_add_command(struct bytes *to, const struct hdb_value *action,
		       const struct hdb_value *target);

/* "25 of 3,412 rows (--limit all shows all)", if rows were left out. */
int prose_footer(struct answer *answer, const struct render_style *style, struct output *out);

/* The same of parts: "3 of 42 threads (--limit all shows all)". */
void prose_parts_footer(const struct render_style *style, struct output *out, uint64_t all,
			const char *parts);

/* Where a text goes. */
struct prose_place {
	size_t indent; /* blanks before each line */
	size_t at;     /* columns of the first line that are written already */
};

/* A text in lines that fit the terminal. Ends the line. */
void prose_wrap(struct output *out, const struct render_style *style, struct prose_place place,
		const char *text, size_t size);

/* The same of a value's text; nothing where there is no value. */
void prose_wrap_value(struct output *out, const struct render_style *style,
		      struct prose_place place, const struct hdb_value *value);

/* Bold, and its end, where the style has it. */
void prose_bold(struct output *out, const struct render_style *style, bool is_on);

/* Whether the terminal shows box-drawing characters. */
bool prose_has_boxes(void);

/* What a path is drawn with: box-drawing characters, where the terminal shows them. */
enum prose_stroke { STROKE_ROOT, STROKE_STEP, STROKE_LAST, STROKE_BAR, STROKE_DOWN };
const char *prose_stroke(enum prose_stroke stroke);

#endif

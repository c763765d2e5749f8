/*
 * heapdb/prose.h - answers printed as text on a terminal instead of a table.
 *
 * A table in prose.c lists the queries whose answers are text. With --table, --columns, --sort,
 * --where or a format, these queries print rows, like all other queries.
 */
#ifndef HEAPDB_PROSE_H
#define HEAPDB_PROSE_H

#include "heapdb/render.h"
#include "heapdb/report.h"

/* Prints the answer as text. Returns HDB_OK, or fails like render(). */
typedef int prose_fn(struct answer *answer, const struct render_style *style, struct output *out);

/* How a query is printed as text. */
struct prose {
	const char *query;
	prose_fn *put;
	bool is_whole;       /* whether the answer is printed in full without --limit */
	bool has_parts;      /* whether --limit counts threads or leaks instead of rows */
	bool has_stacks;     /* whether the answer is a table of threads or a thread dump */
	bool has_beginning;  /* whether the query has the option --brief, with which it answers
			      * faster */
	bool needs_retained; /* whether the answer is sorted by retained size */
};

/* Returns the entry for a query, or NULL if the query is not printed as text. */
const struct prose *prose_of(const char *query);

prose_fn prose_leaks, prose_object, prose_overview, prose_path, prose_references, prose_threads,
	prose_triage;

/* Prints growth by owner, for `diff`, which prints it before its table by class. */
prose_fn prose_growth;

/* ---- helpers for texts ---- */

/*
 * Returns the fact with this name, or NULL if it is not set. The value is borrowed until the rows
 * are closed.
 */
const struct hdb_value *answer_fact(const struct answer *answer, const char *name);

/* Returns whether the value is present. Returns false for NULL. */
bool has_value(const struct hdb_value *value);

/*
 * Appends a string. A long string is truncated and followed by "... (7,016 characters; --json shows
 * all)".
 */
void prose_add_text(struct bytes *to, const struct hdb_value *text);

/*
 * Prints a value in human-readable form, for example a size as 1.2 GiB or 1,288,490,189 B. Prints
 * nothing for null.
 */
void prose_value(struct output *out, const struct hdb_value *value);
/* Like prose_value, but appends to a string that `out` will print. */
void prose_add(struct bytes *to, const struct output *out, const struct hdb_value *value);

/*
 * Prints a template filled with values of the row: "{retained}" is a column. A part in brackets is
 * printed only if all its values are present: "{label}[, retained {retained}]\n".
 */
void prose_row(struct output *out, const struct hdb_rows *rows, const char *text);
/* Like prose_row, but filled with facts. The second function appends to a string. */
void prose_facts(struct output *out, const struct answer *answer, const char *text);
void prose_add_row(struct bytes *to, const struct output *out, const struct hdb_rows *rows,
		   const char *text);
void prose_add_facts(struct bytes *to, const struct output *out, const struct answer *answer,
		     const char *text);

/*
 * Appends an advised command: "heapdb threads 'transfer-*'", with the target quoted for a shell.
 * Appends nothing without an action, or if the target looks like an option or needs escapes.
 */
void prose_add_command(struct bytes *to, const struct hdb_value *action,
		       const struct hdb_value *target);

/*
 * Prints the name of a file in an advised command, quoted for a shell. A name could otherwise run a
 * command when it is pasted.
 */
void prose_file(struct output *out, const char *path, size_t size);

/* Returns the quoted name for a message, in `to`, which the caller must release. */
const char *prose_quote(struct bytes *to, const char *path);

/* Prints "25 of 3,412 rows (--limit all shows all)" if rows were omitted. */
int prose_footer(struct answer *answer, const struct render_style *style, struct output *out);

/*
 * Prints the number of items shown in a part of an answer, such as "3 of 42 threads (--limit all
 * shows all)".
 */
void prose_parts_footer(const struct render_style *style, struct output *out, uint64_t all,
			const char *parts);

/* Position of a string. */
struct prose_place {
	size_t indent; /* blanks before each line */
	size_t at;     /* columns of the first line that are already in use */
};

/* Prints a string wrapped to the terminal's width, and ends the line. */
void prose_wrap(struct output *out, const struct render_style *style, struct prose_place place,
		const char *text, size_t size);

/* Like prose_wrap, for a value's text. Prints nothing for null. */
void prose_wrap_value(struct output *out, const struct render_style *style,
		      struct prose_place place, const struct hdb_value *value);

/* Switches bold text on or off, if the style uses it. */
void prose_bold(struct output *out, const struct render_style *style, bool is_on);

/* Returns whether the terminal shows box-drawing characters. */
bool prose_has_boxes(void);

/*
 * Elements of a drawn path: box-drawing characters, or ASCII if the terminal does not support them.
 */
enum prose_stroke { STROKE_ROOT, STROKE_STEP, STROKE_LAST, STROKE_BAR, STROKE_DOWN };
const char *prose_stroke(enum prose_stroke stroke);

#endif

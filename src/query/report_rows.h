/*
 * query/report_rows.h - answers of several parts, such as suspects: rows of several kinds, which
 * are made at once and kept, part by part.
 *
 * For reports with few items and many details each; whoever makes a part bounds its rows.
 */
#ifndef QUERY_REPORT_ROWS_H
#define QUERY_REPORT_ROWS_H

#include "query/query.h"

/* No number in a cell. */
#define REPORT_NONE UINT64_MAX

struct query_report_row {
	const char *kind;          /* static */
	uint64_t part;             /* number of the suspect or finding, from 1; REPORT_NONE */
	uint64_t step;             /* in a path, a stack, ...; REPORT_NONE */
	uint32_t ix;               /* the object; HEAP_NONE */
	uint32_t class_no;         /* the class if it is not the object's; HEAP_NONE */
	size_t label, holds, text; /* as query_report_text gave them; 0: none */
	size_t signature, signature_shape, signature_text; /* likewise */
	uint64_t count, shallow_bytes, retained_bytes;     /* REPORT_NONE */
};

struct query_report {
	struct base_vec rows;  /* struct query_report_row */
	struct base_vec texts; /* bytes, each text terminated */
	uint64_t part;         /* the current part: number of the suspect or finding */
	bool is_brief;         /* of each part only its headline */
};

/* An empty row of that kind, of the current part. */
struct query_report_row query_report_row(const struct query_report *report, const char *kind);

/* Appends a row. */
int query_report_add(struct query_report *report, const struct query_report_row *row,
		     struct hdb_error *err);

/* Keeps a text; *place is what rows have. */
int query_report_text(struct query_report *report, size_t *place, struct hdb_error *err,
		      const char *format, ...) HDB_PRINTF(4, 5);

/* The text at a place; "" for 0. Borrowed until the next text is kept. */
const char *query_report_text_at(const struct query_report *report, size_t place);

/* Where the parts of a row go. */
struct query_report_columns {
	size_t part, kind, step, id, class, label, holds, count, shallow, retained, percent, text;
	size_t signature, signature_shape, signature_text;
};

/* Fills the cells of a row. `whole` is 100 % of retained, else of shallow. */
void query_report_set(struct query *q, const struct query_report *report, size_t no,
		      const struct query_report_columns *columns, uint64_t whole);

void query_report_release(struct query_report *report);

#endif

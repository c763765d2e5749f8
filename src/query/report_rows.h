/*
 * query/report_rows.h - an answer of several parts: rows of several kinds, made at once and kept, a
 * suspect after the other.
 *
 * For analyses that tell about few things much; the rows of each part are bounded by their makers.
 */
#ifndef QUERY_REPORT_ROWS_H
#define QUERY_REPORT_ROWS_H

#include "query/query.h"

/* No number in a cell. */
#define STORY_NONE UINT64_MAX

struct query_story_row {
	const char *kind;          /* static */
	uint64_t part;             /* number of the suspect or finding, from 1; STORY_NONE */
	uint64_t step;             /* in a path, a stack, ...; STORY_NONE */
	uint32_t ix;               /* the object; HEAP_NONE */
	uint32_t class_no;         /* the class if it is not the object's; HEAP_NONE */
	size_t label, holds, text; /* as query_story_text gave them; 0: none */
	size_t signature, signature_shape, signature_text; /* likewise */
	uint64_t count, shallow_bytes, retained_bytes;     /* STORY_NONE */
};

struct query_story {
	struct base_vec rows;  /* struct query_story_row */
	struct base_vec texts; /* bytes, each text terminated */
	size_t at;             /* the next row to give */
	uint64_t part;         /* what is told now: number of the suspect or finding */
	bool is_brief;         /* of each part only its headline */
};

/* A row of that kind of the part that is told, with nothing else in it. */
struct query_story_row query_story_row(const struct query_story *story, const char *kind);

/* Appends a row. */
int query_story_add(struct query_story *story, const struct query_story_row *row,
		    struct hdb_error *err);

/* Keeps a text; *place is what rows have. */
int query_story_text(struct query_story *story, size_t *place, struct hdb_error *err,
		     const char *format, ...) HDB_PRINTF(4, 5);

/* The text at a place; "" for 0. Borrowed until the next text is kept. */
const char *query_story_text_at(const struct query_story *story, size_t place);

/* Where the parts of a row go. */
struct query_story_columns {
	size_t part, kind, step, id, class, label, holds, count, shallow, retained, percent, text;
	size_t signature, signature_shape, signature_text;
};

/*
 * Fills the cells of the next row: HDB_OK or HDB_END. `whole` is 100 % of retained, else of
 * shallow.
 */
int query_story_next(struct query *q, struct query_story *story,
		     const struct query_story_columns *columns, uint64_t whole);

void query_story_release(struct query_story *story);

/* Asserts what holds of a story between two calls. For tests and debugging. */
void query_story_check(const struct query_story *story);

#endif

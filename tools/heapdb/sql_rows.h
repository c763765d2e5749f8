/*
 * heapdb/sql_rows.h - rows of a statement for the writers of render.h.
 */
#ifndef HEAPDB_SQL_ROWS_H
#define HEAPDB_SQL_ROWS_H

#include "heapdb/render.h"

struct heapsql_rows;

/* Rows, the first of which was read to know of what type the columns of expressions are. */
struct sql_rows {
	struct row_source source;  /* for an answer; it refers to this struct */
	struct heapsql_rows *rows; /* lent */
	uint64_t texts_max;        /* bytes of texts in all rows; more is HDB_ELIMIT; 0: any */
	uint64_t texts;
	bool is_first;
	int first; /* what reading it came to */
};

/* Reads the first row. `rows` is lent while `out` is used. HDB_OK also where there is none. */
int sql_rows_begin(struct sql_rows *out, struct heapsql_rows *rows, struct hdb_error *err);

#endif

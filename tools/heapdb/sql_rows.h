/*
 * heapdb/sql_rows.h - adapts rows of an SQL statement to the writers of render.h.
 */
#ifndef HEAPDB_SQL_ROWS_H
#define HEAPDB_SQL_ROWS_H

#include "heapdb/render.h"

struct heapsql_rows;

/* Row source. The first row is read in advance to determine the types of expression columns. */
struct sql_rows {
	struct row_source source;  /* for an answer; refers to this struct */
	struct heapsql_rows *rows; /* lent */
	/* maximum bytes of text in all rows, otherwise HDB_ELIMIT; 0: unlimited */
	uint64_t texts_max;
	uint64_t texts;
	bool is_first;
	int first; /* result of reading the first row */
};

/* Reads the first row. `rows` is lent while `out` is in use. HDB_OK even if there is no row. */
int sql_rows_begin(struct sql_rows *out, struct heapsql_rows *rows, struct hdb_error *err);

#endif

/*
 * heapdb/where.h - --where: an SQL expression that selects rows of an answer.
 */
#ifndef HEAPDB_WHERE_H
#define HEAPDB_WHERE_H

#include "heapdb/cli.h"

/* An expression as hdb_query takes it. */
struct where {
	struct hdb_row_filter filter;
	struct cli *cli;
	struct heapsql *sql;
	struct heapsql_filter *expression;
};

/*
 * Makes args->filter of --where, if it was given: `where` is lent to it until the rows are closed,
 * then where_close. HDB_EUSAGE without SQLite.
 */
int where_open(struct where *where, struct cli *cli, struct hdb_query_args *args);
void where_close(struct where *where);

/* What the query is called in SQL. */
void where_table(const struct hdb_query_spec *query, char *name, size_t size);

#endif

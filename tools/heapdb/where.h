/*
 * heapdb/where.h - --where: an SQL expression that selects rows of an answer.
 */
#ifndef HEAPDB_WHERE_H
#define HEAPDB_WHERE_H

#include "heapdb/cli.h"

/* Filter expression in the form that hdb_query accepts. */
struct where {
	struct hdb_row_filter filter;
	struct cli *cli;
	struct heapsql *sql;
	struct heapsql_filter *expression;
};

/*
 * Sets args->filter if --where was given. `where` is borrowed until the rows are closed. The caller
 * must then call where_close. Fails with HDB_EUSAGE in a build without SQLite.
 */
int where_open(struct where *where, struct cli *cli, struct hdb_query_args *args);
void where_close(struct where *where);

/* Returns the SQL name of the query. */
void where_table(const struct hdb_query_spec *query, char *name, size_t size);

#endif

/*
 * heapdb/sql_shell.h - statements of `heapdb sql`, one after the other, and its shell.
 */
#ifndef HEAPDB_SQL_SHELL_H
#define HEAPDB_SQL_SHELL_H

#include "heapdb/cli.h"

struct heapsql;

/* Opens SQLite with the memory, folder and cancelling of the command line. */
int sql_open(struct cli *cli, struct heapsql **sql);

/* Runs all statements of a text, and prints the rows of each; stops at the first that fails. */
int sql_run(struct cli *cli, struct heapsql *sql, const char *text);

/* Reads statements from a terminal until its end; reports a failure and goes on. */
int sql_shell(struct cli *cli, struct heapsql *sql);

#endif

/*
 * heapdb/sql_shell.h - runs the statements of `heapdb sql`, and its shell.
 */
#ifndef HEAPDB_SQL_SHELL_H
#define HEAPDB_SQL_SHELL_H

#include "heapdb/cli.h"

struct heapsql;

/* Opens SQLite with the memory limit, temporary directory and cancellation of the command line. */
int sql_open(struct cli *cli, struct heapsql **sql);

/* Runs all statements of a string and prints their rows. Stops at the first failure. */
int sql_run(struct cli *cli, struct heapsql *sql, const char *text);

/* Reads statements from a terminal until its end. Reports failures and continues. */
int sql_shell(struct cli *cli, struct heapsql *sql);

#endif

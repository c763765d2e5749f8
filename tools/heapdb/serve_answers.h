/*
 * heapdb/serve_answers.h - callbacks from the page's server to the command: answers as JSON in a
 * file, and SQL statements.
 */
#ifndef HEAPDB_SERVE_ANSWERS_H
#define HEAPDB_SERVE_ANSWERS_H

#include "heapdb/render.h"

#include "serve/serve.h"

/* Writes the answer to a file. A failure among the rows becomes part of the JSON. */
int serve_write_answer(struct answer *answer, const struct serve_sink *to);

/* write_sql of struct serve_options; NULL in builds without SQLite. */
typedef int serve_sql_writer(const struct serve_statement *statement, const struct serve_sink *to,
			     struct hdb_error *err);
serve_sql_writer *serve_sql(void);

#endif

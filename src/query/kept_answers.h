/*
 * query/kept_answers.h - answers that took long to find and are kept in the database, table
 * answer.NAME, for whoever asks the same again. Private to the framework.
 *
 * Kept are answers of queries whose definition names a table (`keeps`), asked without targets,
 * options, filter and order of their own, of a database that can be written and whose dump is
 * there.
 * A table's version is a hash of this library's sources, so that another library's answers are made
 * anew.
 */
#ifndef QUERY_KEPT_ANSWERS_H
#define QUERY_KEPT_ANSWERS_H

#include "query/query.h"

/* Answers about fewer objects are made in no time. */
#define QUERY_KEPT_OBJECTS 1000000u
/* Bytes of an answer that are kept, and rows that there are at least if not all fit. */
#define QUERY_KEPT_BYTES ((size_t)1 << 20)
#define QUERY_KEPT_ROWS 1000u

struct query_kept;

/*
 * For a question whose arguments were read: HDB_OK if its answer is kept; columns, facts and total
 * are set, and query_kept_next gives its rows. HDB_NOTFOUND (with no message) if it has to be made;
 * query_kept_add then takes its rows, if it is one that is kept. HDB_ECORRUPT for what does not
 * hold.
 */
int query_kept_begin(struct query *q, struct hdb_error *err);
/* Fills the cells of the next row: HDB_OK or HDB_END. */
int query_kept_next(struct query *q, struct hdb_error *err);

/* Takes the row in the cells; with its texts in place. */
void query_kept_add(struct query *q);
/* There are no more rows. */
void query_kept_end(struct query *q);
/* Writes what was taken, if it is worth it; what cannot be written is made again. */
void query_kept_write(struct query *q);

/* Whether the rows come from the database. */
bool query_is_replayed(const struct query *q);

void query_kept_free(struct query_kept *kept); /* NULL is fine */

#endif

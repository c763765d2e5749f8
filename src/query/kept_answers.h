/*
 * query/kept_answers.h - stores answers that take a long time to compute in the database, in table
 * answer.NAME, so that the same query is fast the next time. Private to the framework.
 *
 * An answer is stored if its query's definition names a table (`keeps`), the query was run without
 * a filter and without rules of the user, the database can be written, and the dump is available.
 * Answers of queries with options or targets are stored in the table answer.options if they took
 * QUERY_KEPT_MS. Stored answers that have all rows can be filtered and sorted. The version of such
 * a table is a hash of this library's sources, so another version of the library computes its own
 * answers.
 */
#ifndef QUERY_KEPT_ANSWERS_H
#define QUERY_KEPT_ANSWERS_H

#include "query/query.h"

/*
 * Minimum number of objects for an answer to be stored. With fewer objects, answers are computed
 * fast enough.
 */
#define QUERY_KEPT_OBJECTS 1000000u
/* Maximum size of a stored answer in bytes, and minimum number of its rows if not all rows fit. */
#define QUERY_KEPT_BYTES ((size_t)1 << 20)
#define QUERY_KEPT_ROWS 1000u
/* Minimum time to compute an answer with arguments that is stored, in milliseconds. */
#define QUERY_KEPT_MS 20u

struct query_kept;

/*
 * Begins an answer. Called after the arguments have been read. If the answer is stored, sets
 * columns, facts and total, and returns HDB_OK. query_kept_next then returns the rows. If the
 * answer must be computed, returns HDB_NOTFOUND without a message. query_kept_add then records rows
 * if answers of this query are stored. Returns HDB_ECORRUPT if a stored answer is damaged.
 */
int query_kept_begin(struct query *q, struct hdb_error *err);
/* Sets the cells of the next row. Returns HDB_OK or HDB_END. */
int query_kept_next(struct query *q, struct hdb_error *err);

/* Records the current row. Its strings must have been placed. */
void query_kept_add(struct query *q);
/* Ends the recording before the current row, because a row was dropped by a test. */
void query_kept_drop(struct query *q);
/* Ends the recording. Must be called after the last row. */
void query_kept_end(struct query *q);
/* Stores the recorded answer if this is worthwhile. Ignores a failure to write. */
void query_kept_write(struct query *q);

/* Returns whether the rows come from the database. */
bool query_is_replayed(const struct query *q);

void query_kept_free(struct query_kept *kept); /* NULL is fine */

#endif

/*
 * query/kept_answers.h - stores expensive answers in the database, in table answer.NAME, so that
 * the same query is fast the next time. Private to the framework.
 *
 * An answer is stored if its query's definition names a table (`keeps`), the query was run without
 * a filter and without user rules, the database is writable, and the dump is available. An answer
 * to a query with options or targets goes to table answer.options, if it took QUERY_KEPT_MS. A
 * stored answer with all rows can be filtered and sorted. The revision of such a table is a hash of
 * this library's sources, so other versions of the library compute their own answers.
 */
#ifndef QUERY_KEPT_ANSWERS_H
#define QUERY_KEPT_ANSWERS_H

#include "query/query.h"

/* Minimum number of objects in the heap. Answers about smaller heaps are fast enough. */
#define QUERY_KEPT_OBJECTS 1000000u
/* Maximum size of a stored answer in bytes, and minimum number of rows if not all of them fit. */
#define QUERY_KEPT_BYTES ((size_t)1 << 20)
#define QUERY_KEPT_ROWS 1000u
/* Minimum time to compute an answer with arguments, in milliseconds. */
#define QUERY_KEPT_MS 20u

struct query_kept;

/*
 * Begins an answer, after the arguments have been read. If it is stored, sets columns, facts and
 * total, and returns HDB_OK; query_kept_next then returns the rows. Otherwise returns HDB_NOTFOUND
 * without a message; query_kept_add then records rows if this query's answers are stored. Returns
 * HDB_ECORRUPT if a stored answer is damaged.
 */
int query_kept_begin(struct query *q, struct hdb_error *err);
/* Sets the cells of the next row. Returns HDB_OK or HDB_END. */
int query_kept_next(struct query *q, struct hdb_error *err);

/* Records the current row, after query_place_texts. */
void query_kept_add(struct query *q);
/* Stops recording before the current row, because a test dropped a row. */
void query_kept_drop(struct query *q);
/* Completes the recording after the last row. */
void query_kept_end(struct query *q);
/* Stores the recorded answer if it is worth it. Ignores write errors. */
void query_kept_write(struct query *q);

/* Returns whether the rows come from the database. */
bool query_is_replayed(const struct query *q);

void query_kept_free(struct query_kept *kept); /* NULL is fine */

#endif

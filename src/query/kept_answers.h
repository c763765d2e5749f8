/*
 * query/kept_answers.h - stores answers that took long to compute in the database, in table
 * answer.NAME, for the next time that the same query is run. Private to the framework.
 *
 * An answer is stored if its query's definition names a table (`keeps`), the query was run without
 * targets, options, filter and sort order, the database can be written, and the dump is available.
 * The version of such a table is a hash of this library's sources, so another version of the
 * library computes its own answers.
 */
#ifndef QUERY_KEPT_ANSWERS_H
#define QUERY_KEPT_ANSWERS_H

#include "query/query.h"

/* Answers about fewer objects are fast enough not to be kept. */
#define QUERY_KEPT_OBJECTS 1000000u
/* Maximum number of bytes of a kept answer, and minimum number of rows if they do not all fit. */
#define QUERY_KEPT_BYTES ((size_t)1 << 20)
#define QUERY_KEPT_ROWS 1000u

struct query_kept;

/*
 * Called when the arguments have been read. Returns HDB_OK if the answer is stored; columns, facts
 * and total are then set, and query_kept_next returns the rows. Returns HDB_NOTFOUND without a
 * message if the answer must be computed; query_kept_add then records rows if answers of this kind
 * are stored. HDB_ECORRUPT if a stored answer is damaged.
 */
int query_kept_begin(struct query *q, struct hdb_error *err);
/* Fills in the cells of the next row: HDB_OK or HDB_END. */
int query_kept_next(struct query *q, struct hdb_error *err);

/* Records the row in the cells; its texts must be placed. */
void query_kept_add(struct query *q);
/* Call it after the last row. */
void query_kept_end(struct query *q);
/* Writes the recorded answer if it is worth keeping. A failure to write is ignored. */
void query_kept_write(struct query *q);

/* Whether the rows come from the database. */
bool query_is_replayed(const struct query *q);

void query_kept_free(struct query_kept *kept); /* NULL is fine */

#endif

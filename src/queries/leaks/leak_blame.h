/*
 * queries/leaks/leak_blame.h - how well the steps of a path explain it.
 */
#ifndef QUERIES_LEAKS_LEAK_BLAME_H
#define QUERIES_LEAKS_LEAK_BLAME_H

#include "queries/leaks/leak_parts.h"

/* By what a step is, the best last. An array only passes on what its owner holds. */
enum leak_blame { BLAME_ARRAY, BLAME_PLATFORM, BLAME_THREAD, BLAME_STATIC, BLAME_OWN };

/* What step `i` of a path is; HDB_OK or a failure. */
int leak_blame_step(struct query *q, const struct query_leak_path *path, size_t i,
		    enum leak_blame *out, struct hdb_error *err);

/*
 * The last of the steps that explain most; the end of the path, which holds nothing on it, only if
 * no other is own.
 */
int leak_choose_step(struct query *q, const struct query_leak_path *path, size_t *chosen,
		     enum leak_blame *best, struct hdb_error *err);

/* Who holds by step `i` of a path. */
int leak_holder_find(struct query *q, const struct query_leak_path *path, size_t i,
		     struct leak_holder *out, struct hdb_error *err);

#endif

/*
 * query/dominator_children.h - the children of a node of the dominator tree, largest first, as the
 * analyses show them.
 */
#ifndef QUERY_DOMINATOR_CHILDREN_H
#define QUERY_DOMINATOR_CHILDREN_H

#include "query/query.h"

struct query_level {
	struct store_lists children; /* the list that is read */
	struct store_lists others;   /* for looking at the children's children */
	const uint32_t *batch;       /* borrowed from children */
	size_t batch_count, at;
	uint64_t length;     /* children that are shown */
	bool hides_invented; /* all that the dump lacks; else only those that dominate nothing */
};

/*
 * Starts with what `ix` dominates immediately, HEAP_NONE for the top level; builds the table
 * children. Objects that the dump lacks are shown only if they dominate something, or never if
 * `hides_invented`.
 */
int query_level_begin(struct query *q, uint32_t ix, bool hides_invented, struct query_level *out,
		      struct hdb_error *err);

/* The next one: HDB_OK or HDB_END. */
int query_level_next(struct query *q, struct query_level *level, uint32_t *ix,
		     struct hdb_error *err);

/* How many objects ix dominates immediately. */
int query_level_count(struct query_level *level, uint32_t ix, uint64_t *count,
		      struct hdb_error *err);

#endif

/*
 * analysis/dominator_children.h - the children of a node of the dominator tree, largest first,
 * without hidden objects.
 */
#ifndef ANALYSIS_DOMINATOR_CHILDREN_H
#define ANALYSIS_DOMINATOR_CHILDREN_H

#include "analysis/session.h"

/* State of an iteration over the children of one node. It need not be released. */
struct analysis_level {
	struct store_lists children; /* the list being read */
	/* counts the children of children; not used with hides_invented */
	struct store_lists others;
	const uint32_t *batch; /* borrowed from `children` */
	size_t batch_count, at;
	uint64_t length; /* number of children shown */
	/*
	 * whether all objects that the dump does not contain are hidden, not only those that
	 * dominate nothing
	 */
	bool hides_invented;
};

/*
 * Starts with the objects that `ix` immediately dominates, or with the top level for HEAP_NONE.
 * Builds the table of children. For the top level with hides_invented, builds only a smaller table,
 * which takes less time. Objects that the dump does not contain are shown only if they dominate
 * something, and never with hides_invented.
 */
int analysis_level_begin(const struct session *session, uint32_t ix, bool hides_invented,
			 struct analysis_level *out, struct hdb_error *err);

/* Returns the next child: HDB_OK, or HDB_END after the last child. */
int analysis_level_next(const struct session *session, struct analysis_level *level, uint32_t *ix,
			struct hdb_error *err);

/*
 * Returns the number of objects that ix immediately dominates. Not available with hides_invented.
 */
int analysis_level_count(struct analysis_level *level, uint32_t ix, uint64_t *count,
			 struct hdb_error *err);

#endif

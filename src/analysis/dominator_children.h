/*
 * analysis/dominator_children.h - lists the children of a node of the dominator tree, largest
 * first, without hidden objects.
 */
#ifndef ANALYSIS_DOMINATOR_CHILDREN_H
#define ANALYSIS_DOMINATOR_CHILDREN_H

#include "analysis/session.h"

/* State of an iteration over the children of one node. It need not be released. */
struct analysis_level {
	struct store_lists children; /* the list being read */
	/* used to count the children of children; not used if hides_invented is set */
	struct store_lists others;
	const uint32_t *batch; /* borrowed from `children` */
	size_t batch_count, at;
	uint64_t length; /* number of children shown */
	/*
	 * whether objects that are not in the dump are hidden even if they dominate other objects
	 */
	bool hides_invented;
};

/*
 * Starts with the objects that `ix` immediately dominates or, if `ix` is HEAP_NONE, with the top
 * level. Builds the table of children. For the top level with hides_invented, builds only a smaller
 * table, which takes less time. An object that is not in the dump is shown only if it dominates
 * other objects and hides_invented is not set.
 */
int analysis_level_begin(const struct session *session, uint32_t ix, bool hides_invented,
			 struct analysis_level *out, struct hdb_error *err);

/* Returns the next child: HDB_OK, or HDB_END after the last child. */
int analysis_level_next(const struct session *session, struct analysis_level *level, uint32_t *ix,
			struct hdb_error *err);

/*
 * Returns the number of objects that ix immediately dominates. Not available if hides_invented is
 * set.
 */
int analysis_level_count(struct analysis_level *level, uint32_t ix, uint64_t *count,
			 struct hdb_error *err);

#endif

/*
 * analysis/dominator_children.h - the children of a node of the dominator tree, largest first, as
 * the analyses show them.
 */
#ifndef ANALYSIS_DOMINATOR_CHILDREN_H
#define ANALYSIS_DOMINATOR_CHILDREN_H

#include "analysis/session.h"

struct analysis_level {
	struct store_lists children; /* the list that is read */
	struct store_lists others;   /* for the children's children; not if hides_invented */
	const uint32_t *batch;       /* borrowed from children */
	size_t batch_count, at;
	uint64_t length;     /* children that are shown */
	bool hides_invented; /* all that the dump lacks; else only those that dominate nothing */
};

/*
 * Starts with what `ix` dominates immediately, HEAP_NONE for the top level. Builds the table
 * children, but for the top level with `hides_invented`, which has a table of its own that is built
 * sooner. Objects that the dump lacks are shown only if they dominate something, or never if
 * `hides_invented`.
 */
int analysis_level_begin(const struct session *session, uint32_t ix, bool hides_invented,
			 struct analysis_level *out, struct hdb_error *err);

/* The next one: HDB_OK or HDB_END. */
int analysis_level_next(const struct session *session, struct analysis_level *level, uint32_t *ix,
			struct hdb_error *err);

/* How many objects ix dominates immediately. */
int analysis_level_count(struct analysis_level *level, uint32_t ix, uint64_t *count,
			 struct hdb_error *err);

#endif

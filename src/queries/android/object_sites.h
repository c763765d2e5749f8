/*
 * queries/android/object_sites.h - objects counted by the stack trace that each has, and by class.
 */
#ifndef QUERIES_OBJECT_SITES_H
#define QUERIES_OBJECT_SITES_H

#include "query/grouping.h"
#include "query/query.h"

struct object_site {
	uint64_t count, bytes;
	uint32_t trace, class_no; /* the trace's serial, 0: none */
	struct store_trace stack; /* frame_count 0: the dump does not have it */
};

struct object_sites {
	struct query_groups sites; /* struct object_site, by trace and class */
	bool is_by_class;
};

/*
 * Counts the objects of the population; opens the dump. Set is_by_class before. Release in any
 * case.
 */
int object_sites_count(struct query *q, struct object_sites *out, struct hdb_error *err);
void object_sites_release(struct object_sites *sites);

/*
 * Sets the cells of a stack: its innermost frame, and the others, of which OBJECT_SITES_FRAMES are
 * shown at most. Both stay null where the stack has no frames.
 */
#define OBJECT_SITES_FRAMES 32u
int object_sites_set_stack(struct query *q, const struct store_trace *stack, size_t site_column,
			   size_t stack_column, struct hdb_error *err);

#endif

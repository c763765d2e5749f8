/* queries/android/object_sites.h - counts objects by stack trace and class. */
#ifndef QUERIES_OBJECT_SITES_H
#define QUERIES_OBJECT_SITES_H

#include "query/grouping.h"
#include "query/query.h"

/* Objects allocated with the same stack trace. */
struct object_site {
	uint64_t count, bytes;
	/* serial number of the trace (0 means none), and class of the objects */
	uint32_t trace, class_no;
	struct store_trace stack; /* frame_count is 0 if the dump does not contain the trace */
};

/* The result. */
struct object_sites {
	struct query_groups sites; /* struct object_site, by trace and class */
	bool is_by_class;
};

/*
 * Counts the objects of the population, and opens the dump. The caller must set out->is_by_class
 * first, and release *out even after a failure.
 */
int object_sites_count(struct query *q, struct object_sites *out, struct hdb_error *err);
void object_sites_release(struct object_sites *sites);

/*
 * Sets the cells that describe a stack: its innermost frame, and at most OBJECT_SITES_FRAMES
 * frames. Both remain null for a stack without frames.
 */
#define OBJECT_SITES_FRAMES 32u
int object_sites_set_stack(struct query *q, const struct store_trace *stack, size_t site_column,
			   size_t stack_column, struct hdb_error *err);

#endif

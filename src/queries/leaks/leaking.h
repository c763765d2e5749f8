/*
 * queries/leaks/leaking.h - leaking objects, as a part of the answer of the leaks query.
 *
 * An object is leaking if Android's life cycles show that it was destroyed (the rules are in
 * queries/inspect). Unlike suspects, leaking objects are certain, and they are leaks however small
 * they are.
 */
#ifndef QUERIES_LEAKS_LEAKING_H
#define QUERIES_LEAKS_LEAKING_H

#include "queries/leaks/leak_rows.h"

struct query_leaking_counts {
	uint64_t objects;       /* reachable leaking objects */
	uint64_t held_by_other; /* leaking objects that another leaking object retains */
	/* groups of the other leaking objects, by the references that hold them */
	uint64_t leaks;
	uint64_t library_leaks;  /* groups that are known faults of a library */
	uint64_t traced;         /* objects whose paths were searched; the search has a limit */
	uint64_t listed;         /* groups, of both kinds, that have their own rows */
	uint64_t unreachable;    /* unreachable leaking objects */
	uint64_t retained_bytes; /* total of all groups */
};

/* The leaking objects of a heap, grouped by the references that hold them. */
struct query_leaking;

/*
 * Finds all leaking objects and fills in *counts. The caller must release *out with
 * query_leaking_release, even after a failure.
 */
int query_leaking_find(struct query *q, struct query_leaking **out,
		       struct query_leaking_counts *counts, struct hdb_error *err);
void query_leaking_release(struct query_leaking **leaking);

/*
 * Appends one row per group, the one that retains the most first: kind "leaking" and, unless the
 * rows are brief, its path as rows of kind "trace". If is_library is set, appends groups that are a
 * library's fault instead (kind "library"), and unreachable leaking objects (kind "unreachable").
 * Each group is numbered rows->part, which is increased, and counted in `counts`.
 */
int query_leaking_add_rows(struct query_leaking *leaking, struct leak_rows *rows, bool is_library,
			   struct query_leaking_counts *counts, struct hdb_error *err);

#endif

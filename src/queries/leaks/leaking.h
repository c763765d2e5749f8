/*
 * queries/leaks/leaking.h - leaking objects, as a part of the answer of query leaks.
 *
 * An object is leaking if Android's life cycles say it was destroyed (the rules are in
 * queries/inspect). Unlike suspects, leaking objects are certain, and they are leaks however small
 * they are.
 */
#ifndef QUERIES_LEAKS_LEAKING_H
#define QUERIES_LEAKS_LEAKING_H

#include "queries/leaks/leak_rows.h"

struct query_leaking_counts {
	uint64_t objects;        /* leaking objects that a root reaches */
	uint64_t held_by_other;  /* of those, the ones retained by another leaking object */
	uint64_t leaks;          /* the others, grouped by the references that hold them */
	uint64_t library_leaks;  /* groups that are a known fault of a library */
	uint64_t traced;         /* objects whose paths were searched; the search has a limit */
	uint64_t listed;         /* groups, of both kinds, that got their own rows */
	uint64_t unreachable;    /* leaking objects that no root reaches */
	uint64_t retained_bytes; /* total of all groups */
};

/* The leaking objects of a heap, grouped by the references that hold them. */
struct query_leaking;

/*
 * Finds all leaking objects and fills in *counts. The caller owns *out, also after a failure:
 * query_leaking_release.
 */
int query_leaking_find(struct query *q, struct query_leaking **out,
		       struct query_leaking_counts *counts, struct hdb_error *err);
void query_leaking_release(struct query_leaking **leaking);

/*
 * Appends one row per group, the one that retains most first: kind "leaking" and, unless the rows
 * are brief, its path as rows of kind "trace". With is_library, appends groups that are a library's
 * fault instead (kind "library"), and leaking objects that no root reaches (kind "unreachable").
 * Each group is numbered rows->part, which is increased, and counted in `counts`.
 */
int query_leaking_add_rows(struct query_leaking *leaking, struct leak_rows *rows, bool is_library,
			   struct query_leaking_counts *counts, struct hdb_error *err);

#endif

/*
 * queries/leaks/leaking.h - leaking objects of applications as a part of the answer on leaks.
 */
#ifndef QUERIES_LEAKS_LEAKING_H
#define QUERIES_LEAKS_LEAKING_H

#include "queries/leaks/leak_rows.h"

struct query_leaking_counts {
	uint64_t objects;        /* leaking ones, which something keeps */
	uint64_t hanging;        /* of those, kept by another one of them */
	uint64_t leaks;          /* the others, by what keeps them */
	uint64_t library_leaks;  /* of those, known to be the fault of a library */
	uint64_t traced;         /* objects whose paths were looked at: all, or the first ones */
	uint64_t told;           /* leaks, of whichever fault, that have rows of their own */
	uint64_t unreachable;    /* leaking objects that nothing keeps */
	uint64_t retained_bytes; /* of all leaks, the sum */
};

/* Leaking objects, by what keeps them. */
struct query_leaking;

/* Finds them; *out is owned: query_leaking_release, also after a failure. */
int query_leaking_find(struct query *q, struct query_leaking **out,
		       struct query_leaking_counts *counts, struct hdb_error *err);
void query_leaking_release(struct query_leaking **leaking);

/*
 * Kinds "leaking" and "trace": one for all that the same references keep, with its path (unless the
 * rows are brief), the one that retains most first. They are parts of the answer from rows->part
 * on, which goes up, as counts->told does. is_library: kind "library" instead, those that are known
 * to be the fault of a library, and kind "unreachable", what nothing keeps.
 */
int query_leaking_tell(struct query_leaking *leaking, struct leak_rows *rows, bool is_library,
		       struct query_leaking_counts *counts, struct hdb_error *err);

#endif

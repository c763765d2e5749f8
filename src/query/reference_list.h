/*
 * query/reference_list.h - all soft, weak, phantom and final references of a heap with their
 * referents, and how strongly each object is reachable.
 */
#ifndef QUERY_REFERENCE_LIST_H
#define QUERY_REFERENCE_LIST_H

#include "query/query.h"

/*
 * How an object can be reached at best, as java.lang.ref has it: a path is as strong as its weakest
 * reference. A finalizer's referent is reached after all weaker ways of being kept are gone, a
 * phantom's last.
 */
enum query_reached {
	QUERY_STRONGLY,
	QUERY_SOFTLY,
	QUERY_WEAKLY,
	QUERY_FINALLY,
	QUERY_PHANTOMLY,
	QUERY_UNREACHABLE,
	QUERY_LEVELS
};

/* A reference object. */
struct query_reference {
	uint32_t ix;
	uint32_t class_no;
	uint32_t referent; /* HEAP_NONE: cleared, or not in the dump */
	uint32_t strength; /* enum store_strength */
};

struct query_reference_list {
	struct base_big refs; /* struct query_reference, by ix */
	uint64_t count;
	struct base_big levels; /* uint8_t an object: enum query_reached; empty until asked for */
};

/* Lists them. Release *out in any case. */
int query_references_read(struct query *q, struct query_reference_list *out, struct hdb_error *err);
void query_references_release(struct query *q, struct query_reference_list *list);

/*
 * Fills in the levels. Memory: an object 6 bytes, an edge 2. `graph` (may be NULL) gets the strong
 * graph that was loaded for it: graph_rows_release in any case.
 */
struct graph_rows;
int query_references_levels(struct query *q, struct query_reference_list *list,
			    struct graph_rows *graph, struct hdb_error *err);

/* Level of an object. */
static inline enum query_reached query_reached_of(const struct query_reference_list *list,
						  uint32_t ix)
{
	return (enum query_reached)((const uint8_t *)list->levels.data)[ix];
}

/* The level that referents of a strength have when nothing stronger reaches them. */
enum query_reached query_reached_by(uint32_t strength);

/* "strongly", "softly", ...; static. */
const char *query_reached_name(enum query_reached level);

#endif

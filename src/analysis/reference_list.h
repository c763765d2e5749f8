/*
 * analysis/reference_list.h - all soft, weak, phantom and final references of a heap with their
 * referents, and how strongly each object is reachable.
 */
#ifndef ANALYSIS_REFERENCE_LIST_H
#define ANALYSIS_REFERENCE_LIST_H

#include "analysis/session.h"

/*
 * How an object can be reached at best, as java.lang.ref has it: a path is as strong as its weakest
 * reference. A finalizer's referent is reached after all weaker ways of being kept are gone, a
 * phantom's last.
 */
enum analysis_reached {
	ANALYSIS_STRONGLY,
	ANALYSIS_SOFTLY,
	ANALYSIS_WEAKLY,
	ANALYSIS_FINALLY,
	ANALYSIS_PHANTOMLY,
	ANALYSIS_UNREACHABLE,
	ANALYSIS_LEVELS
};

/* A reference object. */
struct analysis_reference {
	uint32_t ix;
	uint32_t class_no;
	uint32_t referent; /* HEAP_NONE: cleared, or not in the dump */
	uint32_t strength; /* enum store_strength */
};

struct analysis_reference_list {
	struct base_big refs; /* struct analysis_reference, by ix */
	uint64_t count;
	struct base_big
		levels; /* uint8_t an object: enum analysis_reached; empty until asked for */
};

/* Lists them. Release *out in any case. */
int analysis_references_read(const struct session *session, struct analysis_reference_list *out,
			     struct hdb_error *err);
void analysis_references_release(struct analysis_reference_list *list);

/*
 * Fills in the levels. Memory: an object 6 bytes, an edge 2. `graph` (may be NULL) gets the strong
 * graph that was loaded for it: graph_rows_release in any case.
 */
struct graph_rows;
int analysis_references_levels(const struct session *session, struct analysis_reference_list *list,
			       struct graph_rows *graph, struct hdb_error *err);

/* Level of an object. */
static inline enum analysis_reached analysis_reached_of(const struct analysis_reference_list *list,
							uint32_t ix)
{
	return (enum analysis_reached)((const uint8_t *)list->levels.data)[ix];
}

/* The level that referents of a strength have when nothing stronger reaches them. */
enum analysis_reached analysis_reached_by(uint32_t strength);

/* "strongly", "softly", ...; static. */
const char *analysis_reached_name(enum analysis_reached level);

#endif

/*
 * analysis/reference_list.h - lists all soft, weak, phantom and final references of a heap with
 * their referents, and determines how strongly each object is reachable.
 */
#ifndef ANALYSIS_REFERENCE_LIST_H
#define ANALYSIS_REFERENCE_LIST_H

#include "analysis/session.h"

/*
 * The strongest way in which an object is reachable, as defined by java.lang.ref: a path is as
 * strong as its weakest reference. Finalizers and phantom references come last, because they take
 * effect only when nothing else holds the referent.
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
	uint32_t referent; /* the referent, or HEAP_NONE if it was cleared or is not in the dump */
	uint32_t strength; /* enum store_strength */
};

struct analysis_reference_list {
	struct base_big refs; /* struct analysis_reference, ascending by ix */
	uint64_t count;
	struct base_big
		/*
		 * uint8_t by object: enum analysis_reached; empty before analysis_references_levels
		 */
		levels;
};

/* Lists all references. The caller must release *out, even after a failure. */
int analysis_references_read(const struct session *session, struct analysis_reference_list *out,
			     struct hdb_error *err);
void analysis_references_release(struct analysis_reference_list *list);

/*
 * Computes the levels. Memory: 6 bytes per object and 2 per reference. If `graph` is not NULL, sets
 * it to the graph of strong references that was loaded for this purpose. The caller must call
 * graph_rows_release in any case.
 */
struct graph_rows;
int analysis_references_levels(const struct session *session, struct analysis_reference_list *list,
			       struct graph_rows *graph, struct hdb_error *err);

/* Returns the level of an object. */
static inline enum analysis_reached analysis_reached_of(const struct analysis_reference_list *list,
							uint32_t ix)
{
	return (enum analysis_reached)((const uint8_t *)list->levels.data)[ix];
}

/* Returns the level of a referent that no stronger reference reaches. */
enum analysis_reached analysis_reached_by(uint32_t strength);

/* Returns "strongly", "softly" and so on, as a static string. */
const char *analysis_reached_name(enum analysis_reached level);

#endif

/*
 * queries/leaks/leak_sums.h - what leak suspects retain by class, and what their accumulation
 * points dominate: exact, counted in passes over all objects.
 *
 * All suspects are on the top level of the dominator tree, so each object belongs to the one, if
 * any, that its way up ends at. One pass marks the objects that dominate others, one notes their
 * dominators, and one, on its way through all objects, looks up where these lead and notes it for
 * all that it passed. Memory: a bit an object, 4 bytes an object that dominates others; 24 bytes a
 * class and suspect, twice; files where the budget has no room.
 */
#ifndef QUERIES_LEAKS_LEAK_SUMS_H
#define QUERIES_LEAKS_LEAK_SUMS_H

#include "analysis/session.h"
#include "analysis/suspects.h"

struct analysis_class_sum {
	uint64_t count, shallow_bytes;
	uint64_t retained_bytes; /* of children; contents have none */
	uint32_t class_no;
};

struct analysis_leak_sums {
	struct base_work *work; /* lent */
	uint32_t class_count;
	struct base_big contents_big, children_big;
};

/* Counts for all suspects at once. Release *out in any case. */
int analysis_leak_sums_count(const struct session *session,
			     const struct analysis_suspects *suspects,
			     struct analysis_leak_sums *out, struct hdb_error *err);
void analysis_leak_sums_release(struct analysis_leak_sums *sums);

/*
 * By class number, of a suspect: all that it retains; what its accumulation point dominates
 * immediately. What the dump lacks counts nowhere.
 */
struct analysis_class_sum *analysis_leak_sums_contents(const struct analysis_leak_sums *sums,
						       size_t suspect);
struct analysis_class_sum *analysis_leak_sums_children(const struct analysis_leak_sums *sums,
						       size_t suspect);

#endif

/*
 * queries/leaks/leak_sums.h - computes, by class, exact sums of the objects that leak suspects
 * retain and of the objects that their accumulation points dominate, in passes over all objects.
 *
 * No suspect dominates another: suspects are at the top level of the dominator tree, or were split
 * from a class object. So each object belongs to at most one suspect, the first one on its chain of
 * dominators. The first pass marks objects that dominate others (inner objects), the second records
 * the dominators of inner objects, and the third visits all objects, follows the chains, and
 * shortens them on the way as in union-find.
 *
 * Memory: 1 bit per object, 4 bytes per inner object, and 64 bytes per class and suspect (two
 * sums), in files if the budget is too small.
 */
#ifndef QUERIES_LEAKS_LEAK_SUMS_H
#define QUERIES_LEAKS_LEAK_SUMS_H

#include "analysis/session.h"
#include "analysis/suspects.h"

/* Sums of the objects of one class. */
struct analysis_class_sum {
	uint64_t count, shallow_bytes;
	uint64_t retained_bytes; /* retained size of children; always 0 in contents */
	uint32_t class_no;
};

struct analysis_leak_sums {
	struct base_work *work; /* borrowed */
	uint32_t class_count;
	/* for each suspect, class_count structs analysis_class_sum */
	struct base_big contents_big, children_big;
};

/* Counts for all suspects at once. The caller must release *out, even after a failure. */
int analysis_leak_sums_count(const struct session *session,
			     const struct analysis_suspects *suspects,
			     struct analysis_leak_sums *out, struct hdb_error *err);
void analysis_leak_sums_release(struct analysis_leak_sums *sums);

/*
 * Return the sums of one suspect, indexed by class number: of all objects that the suspect retains,
 * and of the objects that its accumulation point immediately dominates. Borrowed until `sums` is
 * released. Objects missing from the dump do not count.
 */
struct analysis_class_sum *analysis_leak_sums_contents(const struct analysis_leak_sums *sums,
						       size_t suspect);
struct analysis_class_sum *analysis_leak_sums_children(const struct analysis_leak_sums *sums,
						       size_t suspect);

#endif

/*
 * analysis/groups.h - counts objects by class, superclass, package or class loader.
 *
 * Objects that are not in the dump (the boot loader's placeholder, invented classes) are not
 * counted. If a heap filter is set, only objects of the selected heaps are counted.
 *
 * Structures named *out are initialised first, so callers must release them even after a failure.
 */
#ifndef ANALYSIS_GROUPS_H
#define ANALYSIS_GROUPS_H

#include "analysis/population.h"
#include "analysis/session.h"

/* The totals of groups. `by` is the kind of group. */
struct analysis_groups {
	enum derive_group by;
	struct derive_total *totals; /* without empty groups unless stated otherwise; owned */
	size_t count;
};

/* How analysis_count_groups distinguishes reachable objects. */
enum analysis_counting {
	/* Treats all objects as reachable. Uses the import's counts and builds no table. */
	ANALYSIS_COUNT_ALL,
	/*
	 * Uses the dominators or the reach tree to find reachable objects. If neither exists,
	 * builds the reach tree.
	 */
	ANALYSIS_COUNT_REACHED
};

/* Reads the groups from the `totals` table, which is built if it is missing. */
int analysis_load_groups(const struct session *session, enum derive_group by,
			 struct analysis_groups *out, struct hdb_error *err);

/* Counts the groups in one pass over all objects, without retained sizes. */
int analysis_count_groups(const struct session *session, enum derive_group by,
			  enum analysis_counting counting, struct analysis_groups *out,
			  struct hdb_error *err);

/*
 * Makes an empty total for each class, indexed by class number, and loads the classes. The caller
 * must free() *out.
 */
int analysis_make_class_totals(const struct session *session, struct derive_total **out,
			       struct hdb_error *err);

/*
 * Reads the totals of all classes from the `totals` table. The caller must free *out even after a
 * failure.
 */
int analysis_load_class_totals(const struct session *session, struct derive_total **out,
			       struct hdb_error *err);

/*
 * Counts the objects of each class, without retained sizes. If with_reachable is set, the counts
 * come from the `totals` table if it exists, or else from a pass over the objects. Otherwise, all
 * objects count as reachable, as in the import's counts. The caller must free *out even after a
 * failure.
 */
int analysis_count_classes(const struct session *session, bool with_reachable,
			   struct derive_total **out, struct hdb_error *err);

/* Adds up totals by class, including retained sizes, to groups of another kind. */
int analysis_fold_groups(const struct session *session, enum derive_group by,
			 const struct derive_total *by_class, struct analysis_groups *out,
			 struct hdb_error *err);

/*
 * Finds native memory of reachable and unreachable objects by group. Groups without native memory
 * are omitted. In the totals, shallow_bytes and unreachable_bytes contain the native memory, and
 * count and unreachable_count contain the number of owners. If the heap has no native memory, sets
 * *has to false and *out to an empty list.
 */
int analysis_native_groups(const struct session *session, enum derive_group by,
			   struct analysis_groups *out, bool *has, struct hdb_error *err);

/* Returns the native memory of the reachable objects of a group, from analysis_native_groups. */
uint64_t analysis_group_native(const struct analysis_groups *groups, uint32_t no);
/* Returns the native memory of the unreachable objects of a group. */
uint64_t analysis_group_lost_native(const struct analysis_groups *groups, uint32_t no);

/* Returns the group with this number, or NULL. The groups must be in order of their numbers. */
const struct derive_total *analysis_groups_find(const struct analysis_groups *groups, uint32_t no);

void analysis_groups_release(struct analysis_groups *groups);

/* Adds one object to a total. */
static inline void analysis_count_object(struct derive_total *total, uint64_t bytes,
					 bool is_reachable)
{
	if (is_reachable) {
		total->count++;
		total->shallow_bytes += bytes;
	} else {
		total->unreachable_count++;
		total->unreachable_bytes += bytes;
	}
}

/*
 * Replaces the count and shallow_bytes of a total with the values for a population. Unreachable
 * objects retain nothing.
 */
static inline void analysis_choose_counts(struct derive_total *total,
					  enum analysis_population population)
{
	if (population == ANALYSIS_OF_UNREACHABLE)
		total->count = total->shallow_bytes = total->retained_bytes = 0;
	if (population == ANALYSIS_OF_REACHABLE)
		return;
	total->count += total->unreachable_count;
	total->shallow_bytes += total->unreachable_bytes;
}

/* Sorts groups, largest first. Groups of the same size are in order of their numbers. */
enum analysis_group_key { ANALYSIS_BY_SHALLOW, ANALYSIS_BY_RETAINED, ANALYSIS_BY_UNREACHABLE };
void analysis_sort_groups(struct analysis_groups *groups, enum analysis_group_key key);

/*
 * Keeps the groups whose names match a pattern. If no group matches, returns HDB_NOTFOUND with a
 * message that suggests a similar name.
 */
int analysis_filter_groups(const struct session *session, struct analysis_groups *groups,
			   const char *pattern, struct hdb_error *err);

/*
 * Returns the name of a group, which is the name of a class, package or class loader. The name is
 * not terminated. It is borrowed until the heap is closed.
 */
const char *analysis_group_name(const struct session *session, enum derive_group by, uint32_t no,
				size_t *size);

/*
 * Reads the total of the whole heap from the `whole` table, which is built if it is missing.
 * retained_bytes is the size retained by all roots, which is 100 % for retained sizes. It exceeds
 * the shallow size by the size of the objects that are not in the dump.
 */
int analysis_heap_total(const struct session *session, struct derive_total *out,
			struct hdb_error *err);

/* Adds up groups that do not overlap. Groups by superclass overlap. */
void analysis_add_groups(const struct analysis_groups *groups, struct derive_total *out);

/* Returns 100 * part / whole, or 0 if whole is 0. */
double analysis_percent(uint64_t part, uint64_t whole);

#endif

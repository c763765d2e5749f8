/*
 * analysis/groups.h - objects counted by class, superclass, package or loader, for the analyses
 * that do so.
 *
 * Objects that the dump lacks (the boot loader's stand-in, invented classes) are counted nowhere.
 */
#ifndef ANALYSIS_GROUPS_H
#define ANALYSIS_GROUPS_H

#include "analysis/population.h"
#include "analysis/session.h"

struct analysis_groups {
	enum derive_group by;
	struct derive_total *totals; /* groups that have objects; owned */
	size_t count;
};

/* How objects are distinguished by analysis_count_groups. */
enum analysis_counting {
	/* all count as reachable, as the import counted them: nothing is built */
	ANALYSIS_COUNT_ALL,
	/* by the dominators or the reach tree; the latter is built if neither is there */
	ANALYSIS_COUNT_REACHED
};

/* Groups from the table totals, which is built if it is not there. Release *out in any case. */
int analysis_load_groups(const struct session *session, enum derive_group by,
			 struct analysis_groups *out, struct hdb_error *err);

/* Groups from one pass over all objects, without retained sizes. Release *out in any case. */
int analysis_count_groups(const struct session *session, enum derive_group by,
			  enum analysis_counting counting, struct analysis_groups *out,
			  struct hdb_error *err);

/* An empty total for each class, by number; *out is owned: free(). Loads the classes. */
int analysis_make_class_totals(const struct session *session, struct derive_total **out,
			       struct hdb_error *err);

/* The same with the objects of each class, from the table totals. *out after a failure, too. */
int analysis_load_class_totals(const struct session *session, struct derive_total **out,
			       struct hdb_error *err);

/*
 * Objects of each class, by number, without retained sizes: with_reachable from the table totals if
 * it is there, else by a pass over the objects; without, all count as reachable, as the import
 * counted them. *out as above.
 */
int analysis_count_classes(const struct session *session, bool with_reachable,
			   struct derive_total **out, struct hdb_error *err);

/* Adds up totals of classes (retained sizes too) as --by says. Release *out in any case. */
int analysis_fold_groups(const struct session *session, enum derive_group by,
			 const struct derive_total *by_class, struct analysis_groups *out,
			 struct hdb_error *err);

/*
 * Native memory of reachable objects, in shallow_bytes, and its owners, by group; groups without
 * any are left out. *has: whether the heap has any at all, else *out is empty. Release *out in any
 * case.
 */
int analysis_native_groups(const struct session *session, enum derive_group by,
			   struct analysis_groups *out, bool *has, struct hdb_error *err);

/* The group of that number among those of analysis_native_groups: what it owns. */
uint64_t analysis_group_native(const struct analysis_groups *groups, uint32_t no);
/* The same of its unreachable objects. */
uint64_t analysis_group_lost_native(const struct analysis_groups *groups, uint32_t no);

/* The group of that number, or NULL; of groups that are still in order of their numbers. */
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
 * Makes count and shallow_bytes of a total those of a population; what unreachable objects retain
 * is nothing.
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

/* Largest first; ties in order of the groups' numbers. */
enum analysis_group_key { ANALYSIS_BY_SHALLOW, ANALYSIS_BY_RETAINED, ANALYSIS_BY_UNREACHABLE };
void analysis_sort_groups(struct analysis_groups *groups, enum analysis_group_key key);

/* Keeps the groups whose name matches. HDB_NOTFOUND if there is none. */
int analysis_filter_groups(const struct session *session, struct analysis_groups *groups,
			   const char *pattern, struct hdb_error *err);

/*
 * Name of a group: of the class, package or loader; lent until the heap is closed, not terminated.
 */
const char *analysis_group_name(const struct session *session, enum derive_group by, uint32_t no,
				size_t *size);

/*
 * All objects of the heap, from the table whole (built if it is not there). Its retained_bytes are
 * what all roots retain: the whole that retained sizes are shares of. They are more than the
 * shallow sizes by the objects that the dump lacks.
 */
int analysis_heap_total(const struct session *session, struct derive_total *out,
			struct hdb_error *err);

/* Adds up groups of which each object is in one: not superclasses. */
void analysis_add_groups(const struct analysis_groups *groups, struct derive_total *out);

/* 100 * part / whole, 0 for an empty whole. */
double analysis_percent(uint64_t part, uint64_t whole);

#endif

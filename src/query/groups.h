/*
 * query/groups.h - objects counted by class, superclass, package or loader, for the analyses that
 * do so.
 *
 * Objects that the dump lacks (the boot loader's stand-in, invented classes) are counted nowhere.
 */
#ifndef QUERY_GROUPS_H
#define QUERY_GROUPS_H

#include "query/query.h"

struct query_groups {
	enum derive_group by;
	struct derive_total *totals; /* groups that have objects; owned */
	size_t count;
	size_t at; /* the next one to give */
};

/* The value of --by: class, superclass, package or loader; `fallback` if it was not given. */
int query_by(const struct query *q, enum derive_group fallback, enum derive_group *out,
	     struct hdb_error *err);

/* How objects are told apart by query_count_groups. */
enum query_counting {
	QUERY_COUNT_ALL, /* all count as reachable, as the import counted them: nothing is built */
	/* by the dominators or the reach tree; the latter is built if neither is there */
	QUERY_COUNT_REACHED
};

/* Groups from the table totals, which is built if it is not there. Release *out in any case. */
int query_load_groups(struct query *q, enum derive_group by, struct query_groups *out,
		      struct hdb_error *err);

/* Groups from one pass over all objects, without retained sizes. Release *out in any case. */
int query_count_groups(struct query *q, enum derive_group by, enum query_counting counting,
		       struct query_groups *out, struct hdb_error *err);

/* An empty total for each class, by number; *out is owned: free(). Loads the classes. */
int query_make_class_totals(struct query *q, struct derive_total **out, struct hdb_error *err);

/* Adds up totals of classes (retained sizes too) as --by says. Release *out in any case. */
int query_fold_groups(struct query *q, enum derive_group by, const struct derive_total *by_class,
		      struct query_groups *out, struct hdb_error *err);

void query_groups_release(struct query_groups *groups);

/* Largest first; ties in order of the groups' numbers. */
enum query_group_key { QUERY_BY_SHALLOW, QUERY_BY_RETAINED, QUERY_BY_UNREACHABLE };
void query_sort_groups(struct query_groups *groups, enum query_group_key key);

/* Keeps the groups whose name matches. HDB_NOTFOUND if there is none. */
int query_filter_groups(struct query *q, struct query_groups *groups, const char *pattern,
			struct hdb_error *err);

/*
 * Name of a group: of the class, package or loader; lent until the heap is closed, not terminated.
 */
const char *query_group_name(struct query *q, enum derive_group by, uint32_t no, size_t *size);

/* Sets a text column to the group's name. */
void query_set_group(struct query *q, size_t column, const struct query_groups *groups,
		     const struct derive_total *total);

/* Sets a text column to a loader's name, with its ID unless it is the boot loader. */
int query_set_loader(struct query *q, size_t column, uint32_t loader_ix, struct hdb_error *err);

/* All objects of the heap, from the table whole (built if it is not there); no retained size. */
int query_heap_total(struct query *q, struct derive_total *out, struct hdb_error *err);

/* Adds up groups of which each object is in one: not superclasses. */
void query_add_groups(const struct query_groups *groups, struct derive_total *out);

/* How many names several classes have. The body is in q_duplicates.c. */
int query_count_duplicates(struct query *q, uint64_t *names, struct hdb_error *err);

/* 100 * part / whole, 0 for an empty whole. */
double query_percent(uint64_t part, uint64_t whole);

#endif

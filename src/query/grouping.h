/*
 * query/grouping.h - sums by key: finds or adds the group of each item; the caller sorts the groups
 * at the end.
 *
 * Suitable for a moderate number of groups, such as classes or stack traces. If there may be one
 * group per object, use analysis/hash_counter.h, which moves to a file when memory is short.
 */
#ifndef QUERY_GROUPING_H
#define QUERY_GROUPING_H

#include "base/idmap.h"
#include "base/vec.h"

/* Set `size` and zero the other members. Call query_groups_release at the end. */
struct query_groups {
	size_t size;          /* size of a group in bytes */
	struct base_vec list; /* groups in the order in which their first items were found */
	/* index in the list of each key's group; invalid once the list is sorted */
	struct base_idmap numbers;
};

/*
 * Finds the group of a key. If the key is new, its group is a copy of *fresh. *out is borrowed
 * until the next call.
 */
int query_group_of(struct query_groups *groups, uint64_t key, const void *fresh, void **out,
		   struct hdb_error *err);

void query_groups_release(struct query_groups *groups);

#endif

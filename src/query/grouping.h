/*
 * query/grouping.h - groups items by key: finds or adds the group of each item. The caller sorts
 * the groups at the end.
 *
 * Suitable for a moderate number of groups, such as classes or stack traces. If each object may
 * have its own group, use analysis/hash_counter.h, which can spill to a file.
 */
#ifndef QUERY_GROUPING_H
#define QUERY_GROUPING_H

#include "base/idmap.h"
#include "base/vec.h"

/*
 * Groups by key. The caller must set `size`, zero the other members, and call query_groups_release
 * at the end.
 */
struct query_groups {
	size_t size;          /* size of a group in bytes */
	struct base_vec list; /* the groups, in the order of their first items */
	/* key to index in the list; invalid once the list is sorted */
	struct base_idmap numbers;
};

/*
 * Finds the group of a key. A new group is a copy of *fresh. Sets *out to the group, borrowed until
 * the next call.
 */
int query_group_of(struct query_groups *groups, uint64_t key, const void *fresh, void **out,
		   struct hdb_error *err);

void query_groups_release(struct query_groups *groups);

#endif

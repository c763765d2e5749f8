/*
 * query/grouping.h - sums by a key: the group of each item is found or added, and at the end groups
 * are put in order.
 *
 * For groups that are few, by class or stack trace. What may be one for each object counts with
 * analysis/hash_counter.h, which goes to a file when memory is short.
 */
#ifndef QUERY_GROUPING_H
#define QUERY_GROUPING_H

#include "base/idmap.h"
#include "base/vec.h"

/* Set `size`, zero the rest; query_groups_release at the end. */
struct query_groups {
	size_t size;               /* bytes of a group */
	struct base_vec list;      /* groups, in the order of their first items */
	struct base_idmap numbers; /* places in the list, by key; of no use once that is sorted */
};

/* The group of a key; a new one is a copy of `fresh`. *out is borrowed until the next call. */
int query_group_of(struct query_groups *groups, uint64_t key, const void *fresh, void **out,
		   struct hdb_error *err);

void query_groups_release(struct query_groups *groups);

#endif

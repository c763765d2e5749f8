/*
 * query/members.h - the objects that a class name, a pattern or a loader stands for, and what they
 * retain at least.
 */
#ifndef QUERY_MEMBERS_H
#define QUERY_MEMBERS_H

#include "query/query.h"

struct query_members {
	struct base_big ixs; /* uint32_t, ascending */
	uint64_t count;      /* unreachable ones included */
	uint64_t reachable_count;
	uint64_t reachable_bytes; /* shallow */
	uint64_t unreachable_count, unreachable_bytes;
	uint32_t class_no;        /* if it is one class, else HEAP_NONE */
	uint8_t *is_member_class; /* by class number; owned */
};

/*
 * Finds them: "java.util.HashMap", "com.acme.*", "loader:0x12c4", "loader:com.acme.Loader",
 * "loader:<boot>"; of a loader the instances of its classes. `with_sub`: of subclasses too.
 * HDB_NOTFOUND if no class or loader is named so. Tells reachable objects apart, which may build a
 * table. Release *out in any case.
 */
int query_members_find(struct query *q, const char *target, bool with_sub,
		       struct query_members *out, struct hdb_error *err);
void query_members_release(struct query *q, struct query_members *members);

/* Takes one of the members. */
typedef int (*query_take_member)(void *ctx, uint32_t ix, struct hdb_error *err);

/*
 * Calls `take` for every reachable member that no other member dominates, in order of index. Needs
 * the table retained.
 */
int query_members_topmost(struct query *q, const struct query_members *members,
			  query_take_member take, void *ctx, struct hdb_error *err);

/*
 * What they retain at least: the sum over those that no other member dominates. Needs the table
 * retained.
 */
int query_members_bound(struct query *q, const struct query_members *members, uint64_t *bytes,
			struct hdb_error *err);

#endif

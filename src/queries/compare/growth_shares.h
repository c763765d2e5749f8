/*
 * queries/compare/growth_shares.h - what groups of objects hold: everything that would be freed if
 * none of the groups existed, divided among the groups that reach it.
 *
 * Dominators cannot answer this: what two growing collections share is retained by neither.
 * References are those of leak traces, sizes those that the dump records (traces/trace_search.h).
 */
#ifndef QUERIES_COMPARE_GROWTH_SHARES_H
#define QUERIES_COMPARE_GROWTH_SHARES_H

#include "analysis/session.h"

/* The groups. All pointers are borrowed. */
struct growth_members {
	const uint32_t *place;    /* by object: its node, or UINT32_MAX */
	const uint32_t *group_of; /* by node: its group, or UINT32_MAX */
	uint32_t group_count;
};

/* What one group holds. */
struct growth_share {
	/* including its share of what several groups reach, rounded */
	uint64_t bytes, objects;
	uint64_t alone_bytes, alone_objects; /* what no other group reaches */
};

struct growth_shares {
	struct growth_share *list; /* by group; owned */
	bool is_cut; /* the groups reach too much of one another: shares are lower bounds */
};

/*
 * Computes all shares. Memory: temporarily 13 bytes per object, within the budget. The caller
 * releases *out, also after a failure.
 */
int growth_shares_find(const struct session *session, const struct growth_members *members,
		       struct growth_shares *out, struct hdb_error *err);
void growth_shares_release(struct growth_shares *shares);

static inline const struct growth_share *growth_share(const struct growth_shares *shares,
						      uint32_t group)
{
	return &shares->list[group];
}

#endif

/*
 * queries/compare/growth_shares.h - what groups of objects hold of a heap: what would be freed if
 * none of the groups were there, divided among those that reach it.
 *
 * References are those of leak traces, sizes those that the dump records (traces/trace_search.h).
 */
#ifndef QUERIES_COMPARE_GROWTH_SHARES_H
#define QUERIES_COMPARE_GROWTH_SHARES_H

#include "analysis/session.h"

struct growth_members {
	const uint32_t *place;    /* by object: its node; UINT32_MAX: none; lent */
	const uint32_t *group_of; /* by node: its group; UINT32_MAX: none; lent */
	uint32_t group_count;
};

/* Of one group. */
struct growth_share {
	uint64_t bytes, objects;             /* its share of what several reach, rounded */
	uint64_t alone_bytes, alone_objects; /* what no other group reaches */
};

struct growth_shares {
	struct growth_share *list; /* by group; owned */
	bool is_cut; /* groups reach too much of one another: shares are lower bounds */
};

/* Memory: 13 bytes an object meanwhile, within the budget. Release them in any case. */
int growth_shares_find(const struct session *session, const struct growth_members *members,
		       struct growth_shares *out, struct hdb_error *err);
void growth_shares_release(struct growth_shares *shares);

static inline const struct growth_share *growth_share(const struct growth_shares *shares,
						      uint32_t group)
{
	return &shares->list[group];
}

#endif

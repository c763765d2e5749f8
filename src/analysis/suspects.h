/*
 * analysis/suspects.h - leak suspects: what holds a large share of the heap, and where that piles
 * up.
 *
 * The rules are those of Eclipse MAT's find_leaks (org.eclipse.mat.inspections.FindLeaksQuery), so
 * that both name the same: objects on the top level of the dominator tree that retain more than a
 * share of all reachable bytes, one by one; what is left of the top level by class, if all of a
 * class together retain more than that. From a single object the tree is followed down while one
 * child keeps most of it: there is the accumulation point. For a group the shortest paths to its
 * members are laid on one another and followed down while most of them stay together; nothing
 * dominates its members, so it has no accumulation point. Values (texts, boxes, arrays of the
 * platform's) are no group, as they belong to whoever holds them; large arrays of numbers are.
 */
#ifndef ANALYSIS_SUSPECTS_H
#define ANALYSIS_SUSPECTS_H

#include "analysis/session.h"

/* Below one percent everything is suspect; MAT's leakhunter takes 10. */
#define SUSPECTS_PERCENT_MIN 1
#define SUSPECTS_PERCENT_DEFAULT 10
/* More than one percent each: fewer than 100; a heap of some bytes could have more. */
#define SUSPECTS_MAX 100u

struct analysis_suspect {
	uint32_t ix;       /* the object; HEAP_NONE: a group */
	uint32_t class_no; /* its class, or that of all members */
	uint64_t count;    /* 1, or members */
	uint64_t shallow_bytes;
	uint64_t retained_bytes; /* of members the sum: nothing of theirs overlaps */
	uint64_t least_bytes;    /* of a group of large arrays: smaller ones are no members */
	uint32_t point_ix;       /* accumulation point; HEAP_NONE: a group, nothing holds it */
	uint64_t point_bytes;    /* what it retains */
	/* it is the first node of a long list, each of whose nodes dominates the next */
	bool is_list;
	/* uint32_t, of a group: all, or some of them evenly, largest first */
	struct base_vec members;
	/* uint32_t, of a group: what most paths have in common, root first */
	struct base_vec common;
};

struct analysis_suspects {
	struct analysis_suspect *list; /* owned; largest first */
	size_t count;
	struct base_vec values;   /* struct analysis_suspect: groups of values that are as large */
	uint64_t whole_bytes;     /* reachable bytes of the heap */
	uint64_t retained_bytes;  /* that all roots retain: 100 % */
	uint64_t threshold_bytes; /* suspects retain more than this */
};

/*
 * Finds them; `percent` is at least SUSPECTS_PERCENT_MIN. Builds children, retained, totals and
 * reach.strong. Memory: 24 bytes a class, and the members of groups (at most 10,000 each). Release
 * *out in any case.
 */
int analysis_suspects_find(const struct session *session, unsigned percent,
			   struct analysis_suspects *out, struct hdb_error *err);
void analysis_suspects_release(struct analysis_suspects *suspects);

/*
 * Lays the shortest paths from roots to a group's members on one another (without those through
 * weak, soft, phantom and final references, unless there are no others) and follows them from the
 * root down: `common` gets the objects that more than 80 % of the paths pass. None of them holds
 * the members, which are on the top level of the dominator tree.
 */
int analysis_common_path(const struct session *session, struct analysis_suspect *group,
			 struct hdb_error *err);

#endif

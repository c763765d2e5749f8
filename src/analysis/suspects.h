/*
 * analysis/suspects.h - finds leak suspects, which are objects that retain a large share of the
 * heap, and the points at which that memory accumulates.
 *
 * The rules are the same as in Eclipse MAT's find_leaks
 * (org.eclipse.mat.inspections.FindLeaksQuery), so that both tools name the same suspects. The
 * first suspects are single objects on the top level of the dominator tree that retain more than a
 * threshold, which is a share of all reachable bytes. The rest of the top level is then grouped by
 * class, and a class is a suspect if its objects together retain more than the threshold.
 *
 * The static fields of a class are unrelated. If the search from a single object finds a class
 * object, each object that the class dominates and that retains more than the threshold is a
 * suspect instead, and so is the rest if it is large enough. The same applies to an accumulation
 * point that is the only instance of a class of the application, such as a server that holds its
 * tables and caches, if at least two suspects replace it. MAT reports it as one suspect.
 *
 * From a single object, the search follows the tree down as long as one child retains most of its
 * parent. The last such object is the accumulation point. A group has no accumulation point,
 * because nothing dominates all its members. Instead, the shortest paths to its members are merged
 * and followed down as long as most of them stay together.
 *
 * Values (strings, boxes, platform arrays) do not form groups, because they belong to their
 * holders. Large primitive arrays do form groups.
 */
#ifndef ANALYSIS_SUSPECTS_H
#define ANALYSIS_SUSPECTS_H

#include "analysis/session.h"

/*
 * Bounds of the threshold in percent. Below one percent, nearly every object would be a suspect.
 * MAT's leakhunter uses 10.
 */
#define SUSPECTS_PERCENT_MIN 1
#define SUSPECTS_PERCENT_DEFAULT 10
/*
 * Each suspect retains more than one percent, so there are fewer than 100. Only a heap of a few
 * bytes could have more.
 */
#define SUSPECTS_MAX 100u

/* A single object, or a group of objects of the same class. */
struct analysis_suspect {
	uint32_t ix; /* the object, or HEAP_NONE for a group */
	/*
	 * if the suspect is part of an object that was split: the topmost such object; otherwise
	 * HEAP_NONE
	 */
	uint32_t split_ix;
	/*
	 * for the rest of an object that was split, the minimum retained size of the parts that are
	 * suspects themselves; otherwise 0
	 */
	uint64_t split_bytes;
	uint32_t class_no; /* class of the object, or of all members */
	uint64_t count;    /* 1, or the number of members */
	uint64_t shallow_bytes;
	/*
	 * for a group, the sum over its members, which do not overlap because no member dominates
	 * another
	 */
	uint64_t retained_bytes;
	/* for a group of large arrays, the minimum size; smaller arrays are not members */
	uint64_t least_bytes;
	uint32_t point_ix; /* accumulation point, or HEAP_NONE for a group */
	/*
	 * whether the point is the first node of a long linked list in which each node dominates
	 * the next
	 */
	bool is_list;
	/* uint32_t: for a group, all members or an evenly spaced sample of them, largest first */
	struct base_vec members;
	/* uint32_t: for a group, the part shared by most paths, root first */
	struct base_vec common;
};

/*
 * The verdict of the leaks query about a suspect: the largest one that is not large by design or,
 * if all are, the largest one.
 */
struct analysis_verdict {
	uint64_t listed; /* number of suspects in the answer, or 0 if the verdict is unknown */
	uint64_t id, bytes;
	char class_name[512];
	char held_class[512]; /* class of the objects that the suspect holds, or "" */
	/* the sentence, the cause and the advice; "" if there is none */
	char text[1024], why[1024], advice[1024];
	bool is_by_design;
	char stuck[1024]; /* the sentence about threads that cannot continue, or "" */
};

struct analysis_suspects {
	struct analysis_suspect *list; /* largest first; owned */
	size_t count;
	/* struct analysis_suspect: value classes that are as large as suspects */
	struct base_vec values;
	uint64_t whole_bytes;            /* shallow size of all reachable objects */
	uint64_t retained_bytes;         /* retained size of all roots, which is 100 % */
	uint64_t threshold_bytes;        /* minimum retained size of a suspect */
	struct analysis_verdict verdict; /* set by queries that have run the leaks query */
	/*
	 * Whether the leaks query lists the owner of direct memory, and whether it lists closed
	 * loaders.
	 */
	bool is_outside_listed, is_loaders_listed;
};

/*
 * Finds all suspects; `percent` is at least SUSPECTS_PERCENT_MIN. Builds the `children`,
 * `retained`, `totals` and `reach.strong` tables if they are missing. Memory: 48 bytes per class,
 * and at most 10,000 members per group. The caller must release *out, even after a failure.
 */
int analysis_suspects_find(const struct session *session, unsigned percent,
			   struct analysis_suspects *out, struct hdb_error *err);
void analysis_suspects_release(struct analysis_suspects *suspects);
/*
 * Returns the object at which explanations of a suspect begin: the object from which it was split,
 * or the suspect itself. HEAP_NONE for a group.
 */
uint32_t analysis_suspect_top(const struct analysis_suspect *suspect);
/* Releases the suspects, or stores them in the session for the next analysis_suspects_find. */
void analysis_suspects_leave(const struct session *session, struct analysis_suspects *suspects);

/*
 * Finds the objects that are on more than 80 % of the shortest paths to a group's members, and
 * stores them in group->common, root first. Paths through weak, soft, phantom and final references
 * count only if there are no other paths. None of these objects retains the members, which are on
 * the top level of the dominator tree.
 */
int analysis_common_path(const struct session *session, struct analysis_suspect *group,
			 struct hdb_error *err);

#endif

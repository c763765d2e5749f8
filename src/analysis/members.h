/*
 * analysis/members.h - finds the objects selected by a class name, a pattern or a class loader, and
 * a lower bound of their retained size.
 */
#ifndef ANALYSIS_MEMBERS_H
#define ANALYSIS_MEMBERS_H

#include "analysis/session.h"

/* A set of objects. */
struct analysis_members {
	struct base_big ixs; /* uint32_t, ascending; empty after analysis_members_count */
	uint64_t count;      /* number of all members, including unreachable ones */
	uint64_t reachable_count;
	uint64_t reachable_bytes; /* shallow size */
	uint64_t unreachable_count, unreachable_bytes;
	uint32_t class_no; /* the class if there is only one, otherwise HEAP_NONE */
	/* indexed by class number: whether instances of the class are members; owned */
	uint8_t *is_member_class;
	/* The following members are set only by analysis_members_find_whole, for a class loader: */
	/* struct analysis_member_loader, ascending: all class loaders in the heap */
	struct base_vec loaders;
	/* indexed by class number: whether objects of the class may be members; owned */
	uint8_t *is_read_class;
};

/* An object that is the class loader of a class, and whether it is a member. */
struct analysis_member_loader {
	uint32_t ix;
	bool is_member;
};

/*
 * Finds the instances of the named classes: "java.util.HashMap", "com.acme.*", "loader:0x12c4",
 * "loader:com.acme.Loader", "loader:app" (the class loader's own name, if the dump is available),
 * "loader:<boot>". For a class loader, the members are the instances of its classes. If `with_sub`
 * is set, subclasses are included. Returns HDB_NOTFOUND if no class or class loader has the name.
 * May build a table to distinguish reachable objects. The caller must release *out, even after a
 * failure.
 */
int analysis_members_find(const struct session *session, const char *target, bool with_sub,
			  struct analysis_members *out, struct hdb_error *err);
/*
 * Finds the objects whose retained size is to be computed. For a class loader, these are the class
 * loader, its class objects and their instances. For any other target, they are the same as for
 * analysis_members_find. A class object belongs to the loader of the class that it represents, not
 * to the loader of java.lang.Class, and a class loader does not belong to its own loader. The
 * totals by loader follow the same rule (derive/totals.c).
 */
int analysis_members_find_whole(const struct session *session, const char *target, bool with_sub,
				struct analysis_members *out, struct hdb_error *err);
void analysis_members_release(struct analysis_members *members);

/*
 * Counts the members without listing them, so `ixs` remains empty. Uses the totals by class if they
 * exist and no filter is set. Otherwise, reads the blocks that contain members.
 */
int analysis_members_count(const struct session *session, const char *target, bool with_sub,
			   struct analysis_members *out, struct hdb_error *err);

/*
 * State of an iteration over the members. Must be zero-initialised, and released even after a
 * failure.
 */
struct analysis_member_list {
	struct heap_block *block; /* owned */
	/* the next block to read, and the position of the next object in the current block */
	uint32_t block_no, at;
};

/*
 * Returns the next member in index order. The result is HDB_OK, or HDB_END after the last member.
 * Blocks without members are not decoded, so the first members of a set are found quickly.
 */
int analysis_member_list_next(const struct session *session, const struct analysis_members *members,
			      struct analysis_member_list *list, uint32_t *ix,
			      struct hdb_error *err);
void analysis_member_list_release(struct analysis_member_list *list);

/* Called for each member. A failure ends the iteration. */
typedef int (*analysis_take_member)(void *ctx, uint32_t ix, struct hdb_error *err);

/*
 * Calls `take`, in index order, for every reachable member that no other member dominates. Builds
 * the `retained` table if it is missing. Memory: about 5 bytes per object.
 */
int analysis_members_topmost(const struct session *session, const struct analysis_members *members,
			     analysis_take_member take, void *ctx, struct hdb_error *err);

/*
 * Computes a lower bound of the members' retained size: the sum of the retained sizes of members
 * that no other member dominates. The bound does not include objects that only several members
 * together retain. Builds the `retained` table if it is missing.
 */
int analysis_members_bound(const struct session *session, const struct analysis_members *members,
			   uint64_t *bytes, struct hdb_error *err);

#endif

/*
 * analysis/members.h - the objects that a class name, a pattern or a class loader stands for, and a
 * lower bound of what they retain.
 */
#ifndef ANALYSIS_MEMBERS_H
#define ANALYSIS_MEMBERS_H

#include "analysis/session.h"

/* A set of objects. */
struct analysis_members {
	struct base_big ixs; /* uint32_t, ascending; empty after analysis_members_count */
	uint64_t count;      /* all members, including unreachable ones */
	uint64_t reachable_count;
	uint64_t reachable_bytes; /* shallow size */
	uint64_t unreachable_count, unreachable_bytes;
	uint32_t class_no;        /* the class if it is a single one, else HEAP_NONE */
	uint8_t *is_member_class; /* by class number: its instances are members; owned */
	/* Only set by analysis_members_find_whole for a class loader: */
	/* struct analysis_member_loader, ascending: all loaders of the heap */
	struct base_vec loaders;
	uint8_t *is_read_class; /* by class number: objects of it may be members; owned */
};

/* An object that is the loader of a class, and whether it is a member. */
struct analysis_member_loader {
	uint32_t ix;
	bool is_member;
};

/*
 * Finds the instances of the named classes: "java.util.HashMap", "com.acme.*", "loader:0x12c4",
 * "loader:com.acme.Loader", "loader:app" (the loader's own name, if the dump is available),
 * "loader:<boot>". For a loader, these are the instances of its classes. `with_sub` includes
 * subclasses. Returns HDB_NOTFOUND if no class or loader has the name. Distinguishes reachable
 * objects, which may build a table. The caller releases *out, also after a failure.
 */
int analysis_members_find(const struct session *session, const char *target, bool with_sub,
			  struct analysis_members *out, struct hdb_error *err);
/*
 * The set whose retained size is meant. Differs for a class loader, which stands for itself, its
 * class objects and their instances: class objects belong to the loader of the class that they
 * represent, not to that of java.lang.Class, and a loader does not belong to its own loader. The
 * totals by loader use the same rule (derive/totals.c).
 */
int analysis_members_find_whole(const struct session *session, const char *target, bool with_sub,
				struct analysis_members *out, struct hdb_error *err);
void analysis_members_release(struct analysis_members *members);

/*
 * Counts them without listing them; `ixs` stays empty. Uses the totals by class if they exist and
 * no filter is set, else reads the blocks that contain such objects.
 */
int analysis_members_count(const struct session *session, const char *target, bool with_sub,
			   struct analysis_members *out, struct hdb_error *err);

/* State of an iteration over the members. Zero-initialize it, and release it in any case. */
struct analysis_member_list {
	struct heap_block *block; /* owned */
	uint32_t block_no, at;    /* the next block to read; the next object of the current one */
};

/*
 * Returns the next member in order of index: HDB_OK, or HDB_END after the last. Blocks without
 * members are not decoded, so the first members of a set are found at once.
 */
int analysis_member_list_next(const struct session *session, const struct analysis_members *members,
			      struct analysis_member_list *list, uint32_t *ix,
			      struct hdb_error *err);
void analysis_member_list_release(struct analysis_member_list *list);

/* Called with a member; a failure ends the iteration. */
typedef int (*analysis_take_member)(void *ctx, uint32_t ix, struct hdb_error *err);

/*
 * Calls `take` for every reachable member that no other member dominates, in order of index. Builds
 * the table retained if needed. Memory: about 5 bytes per object.
 */
int analysis_members_topmost(const struct session *session, const struct analysis_members *members,
			     analysis_take_member take, void *ctx, struct hdb_error *err);

/*
 * Returns a lower bound of what the members retain: the sum over members that no other member
 * dominates. Objects that several of them hold together are not in it. Builds the table retained if
 * needed.
 */
int analysis_members_bound(const struct session *session, const struct analysis_members *members,
			   uint64_t *bytes, struct hdb_error *err);

#endif

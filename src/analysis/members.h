/*
 * analysis/members.h - the objects that a class name, a pattern or a loader stands for, and what
 * they retain at least.
 */
#ifndef ANALYSIS_MEMBERS_H
#define ANALYSIS_MEMBERS_H

#include "analysis/session.h"

struct analysis_members {
	struct base_big ixs; /* uint32_t, ascending */
	uint64_t count;      /* unreachable ones included */
	uint64_t reachable_count;
	uint64_t reachable_bytes; /* shallow */
	uint64_t unreachable_count, unreachable_bytes;
	uint32_t class_no;        /* if it is one class, else HEAP_NONE */
	uint8_t *is_member_class; /* by class number; owned */
	/* of analysis_members_find_whole and a class loader, else empty: */
	struct base_vec loaders; /* struct analysis_member_loader, ascending: all of the heap */
	uint8_t *is_read_class;  /* by class number: members may be of it; owned */
};

/* An object that is the loader of some class, and whether it is a member. */
struct analysis_member_loader {
	uint32_t ix;
	bool is_member;
};

/*
 * Finds them: "java.util.HashMap", "com.acme.*", "loader:0x12c4", "loader:com.acme.Loader",
 * "loader:app" (the name that it was given, where the dump is there), "loader:<boot>"; of a loader
 * the instances of its classes. `with_sub`: of subclasses too. HDB_NOTFOUND if no class or loader
 * is named so. Tells reachable objects apart, which may build a table. Release *out in any case.
 */
int analysis_members_find(const struct session *session, const char *target, bool with_sub,
			  struct analysis_members *out, struct hdb_error *err);
/*
 * The set whose retained size is meant: the same, but a class loader stands for itself, its class
 * objects and their instances. So class objects are members with the loader of the class that they
 * stand for, not with that of java.lang.Class, and a loader is none of another one's: the rule of
 * the totals by loader (derive/totals.c).
 */
int analysis_members_find_whole(const struct session *session, const char *target, bool with_sub,
				struct analysis_members *out, struct hdb_error *err);
void analysis_members_release(struct analysis_members *members);

/*
 * The same without a list of them, `ixs` being empty: from the totals by class, if they are there
 * and no filter is, else by a pass over the blocks that have some.
 */
int analysis_members_count(const struct session *session, const char *target, bool with_sub,
			   struct analysis_members *out, struct hdb_error *err);

/* The state of an iteration over them; zero-initialise, release in any case. */
struct analysis_member_list {
	struct heap_block *block; /* owned */
	uint32_t block_no, at;    /* the block that comes next; the next place in this one */
};

/*
 * The next member, in order of index: HDB_OK or HDB_END. Blocks without members are not decoded, so
 * that the first ones of a set cost as little as they are.
 */
int analysis_member_list_next(const struct session *session, const struct analysis_members *members,
			      struct analysis_member_list *list, uint32_t *ix,
			      struct hdb_error *err);
void analysis_member_list_release(struct analysis_member_list *list);

/* Takes one of the members. */
typedef int (*analysis_take_member)(void *ctx, uint32_t ix, struct hdb_error *err);

/*
 * Calls `take` for every reachable member that no other member dominates, in order of index. Needs
 * the table retained.
 */
int analysis_members_topmost(const struct session *session, const struct analysis_members *members,
			     analysis_take_member take, void *ctx, struct hdb_error *err);

/*
 * What they retain at least: the sum over those that no other member dominates. Needs the table
 * retained.
 */
int analysis_members_bound(const struct session *session, const struct analysis_members *members,
			   uint64_t *bytes, struct hdb_error *err);

#endif

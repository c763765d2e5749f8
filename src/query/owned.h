/*
 * query/owned.h - members of a query's state that query_close frees, so that few queries need a
 * `close` function. A query names its state and these members in its definition:
 *
 *	QUERY_DEFINE(arrays, QUERY_STATE(struct arrays, counter, rows, is_class), .open = ...)
 */
#ifndef QUERY_OWNED_H
#define QUERY_OWNED_H

#include "query/query.h"

#include <stddef.h>

/* Types of such members, and their release functions, which accept zeroed structures. */
#define QUERY_OWNED_TYPES(X) \
	X(base_vec, base_vec_release) \
	X(base_big, base_big_free) \
	X(graph_rows, graph_rows_release) \
	X(heap_entries, heap_entries_end) \
	X(analysis_contents, analysis_contents_release) \
	X(analysis_counter, analysis_counter_release) \
	X(analysis_excludes, analysis_excludes_release) \
	X(analysis_groups, analysis_groups_release) \
	X(analysis_loader_tree, analysis_loaders_release) \
	X(analysis_members, analysis_members_release) \
	X(analysis_member_list, analysis_member_list_release) \
	X(analysis_merged, analysis_merged_release) \
	X(analysis_merged_walk, analysis_merged_walk_release) \
	X(analysis_reference_list, analysis_references_release) \
	X(query_groups, query_groups_release)

/* Each release function takes the address of such a member. */
#define QUERY_OWNED_FUNCTION(type, release) \
	struct type; \
	void query_free_##type(void *member);
QUERY_OWNED_TYPES(QUERY_OWNED_FUNCTION)
/* Takes the address of a pointer from malloc. */
void query_free_pointer(void *member);

#define QUERY_OWNED_CASE(type, release) struct type * : query_free_##type,
#define QUERY_OWNED_MEMBER(state, member) (((state *)NULL)->member)
#define QUERY_OWNED(state, member) \
	{ offsetof(state, member), sizeof(QUERY_OWNED_MEMBER(state, member)), \
	  _Generic(&QUERY_OWNED_MEMBER(state, member), QUERY_OWNED_TYPES(QUERY_OWNED_CASE) default \
		   : query_free_pointer) },

/* QUERY_OWNED for each of up to 8 members. */
#define QUERY_OWNED_1(state, a) QUERY_OWNED(state, a)
#define QUERY_OWNED_2(state, a, ...) QUERY_OWNED(state, a) QUERY_OWNED_1(state, __VA_ARGS__)
#define QUERY_OWNED_3(state, a, ...) QUERY_OWNED(state, a) QUERY_OWNED_2(state, __VA_ARGS__)
#define QUERY_OWNED_4(state, a, ...) QUERY_OWNED(state, a) QUERY_OWNED_3(state, __VA_ARGS__)
#define QUERY_OWNED_5(state, a, ...) QUERY_OWNED(state, a) QUERY_OWNED_4(state, __VA_ARGS__)
#define QUERY_OWNED_6(state, a, ...) QUERY_OWNED(state, a) QUERY_OWNED_5(state, __VA_ARGS__)
#define QUERY_OWNED_7(state, a, ...) QUERY_OWNED(state, a) QUERY_OWNED_6(state, __VA_ARGS__)
#define QUERY_OWNED_8(state, a, ...) QUERY_OWNED(state, a) QUERY_OWNED_7(state, __VA_ARGS__)
#define QUERY_OWNED_CHOOSE(a, b, c, d, e, f, g, h, each, ...) each

/* Calls `close`, and frees the owned members and the state. */
void query_free_state(struct query *q);

/* Members of QUERY_DEFINE: a state with at least one owned member. */
#define QUERY_STATE(state, ...) \
	.state_size = sizeof(state), .owned = (const struct query_owned[]) \
	{ \
		QUERY_OWNED_CHOOSE(__VA_ARGS__, QUERY_OWNED_8, QUERY_OWNED_7, QUERY_OWNED_6, \
				   QUERY_OWNED_5, QUERY_OWNED_4, QUERY_OWNED_3, QUERY_OWNED_2, \
				   QUERY_OWNED_1, 0) \
		(state, __VA_ARGS__) \
		{ \
			0, 0, NULL \
		} \
	}

#endif

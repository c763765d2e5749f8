/* query/owned.c - frees members of query states. */
#include "query/owned.h"

#include "analysis/contents.h"
#include "analysis/exclude.h"
#include "analysis/groups.h"
#include "analysis/hash_counter.h"
#include "analysis/loader_tree.h"
#include "analysis/members.h"
#include "analysis/merged.h"
#include "analysis/reference_list.h"
#include "base/scope.h"
#include "graph/adjacency.h"
#include "heap/collections/collections.h"
#include "query/grouping.h"

#include <assert.h>

#define DEFINE(type, release) \
	void query_free_##type(void *member) \
	{ \
		release(member); \
	}
QUERY_OWNED_TYPES(DEFINE)

void query_free_pointer(void *member)
{
	base_free_at(member);
}

void query_free_state(struct query *q)
{
	if (!q->state)
		return;
	if (q->def->close)
		q->def->close(q);
	for (const struct query_owned *o = q->def->owned; o && o->release; o++) {
		/*
		 * without this check, a structure missing from QUERY_OWNED_TYPES would be treated
		 * as a pointer
		 */
		assert(o->release != query_free_pointer || o->size == sizeof(void *));
		o->release((char *)q->state + o->offset);
	}
	free(q->state);
	q->state = NULL;
}

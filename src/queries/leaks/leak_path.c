/*
 * queries/leaks/leak_path.c - the path from a root to a leak suspect.
 */
#include "analysis/describe.h"
#include "heap/heap_database.h"
#include "queries/leaks/leak_parts.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 512

/* The node above in a tree: the one that is given, or else the table. */
static int parent_of(struct query *q, const uint32_t *parents, bool is_strong, uint32_t ix,
		     bool *reachable, uint32_t *parent, struct hdb_error *err)
{
	if (!parents)
		return derive_reach(q->derive, is_strong, ix, reachable, parent, err);
	*parent = parents[ix];
	*reachable = *parent != ix;
	return HDB_OK;
}

/* Walks up the tree: the first nodes from below are kept, and of the others the last ones. */
static int walk_up(struct query *q, const uint32_t *parents, uint32_t ix,
		   struct query_leak_path *out, struct hdb_error *err)
{
	uint32_t above[LEAK_PATH_ENDS] = { 0 }, parent;
	uint64_t length = 0, from_top;
	bool reachable;

	for (uint32_t at = ix; at != GRAPH_NONE; at = parent, length++) {
		const int r = parent_of(q, parents, out->is_strong, at, &reachable, &parent, err);

		if (r < 0)
			return r;
		if (!reachable)
			return HDB_OK;
		if (length > q->heap->object_count)
			return hdb_fail(err, HDB_ECORRUPT,
					"%s: damaged: the reach tree has a "
					"cycle; import the dump again",
					heap_path(q->heap));
		if (length < LEAK_PATH_ENDS)
			out->nodes[2 * LEAK_PATH_ENDS - 1 - length] = at;
		else
			above[length % LEAK_PATH_ENDS] = at;
	}
	from_top = length <= LEAK_PATH_ENDS ? 0 : length - LEAK_PATH_ENDS;
	if (from_top > LEAK_PATH_ENDS) {
		out->gap = from_top - LEAK_PATH_ENDS;
		from_top = LEAK_PATH_ENDS;
	}
	out->gap_at = (size_t)from_top;
	out->count = (size_t)(length - out->gap);
	/* The root was met last. */
	memmove(out->nodes + from_top, out->nodes + 2 * LEAK_PATH_ENDS - (out->count - from_top),
		(out->count - from_top) * sizeof(out->nodes[0]));
	for (uint64_t i = 0; i < from_top; i++)
		out->nodes[i] = above[(length - 1 - i) % LEAK_PATH_ENDS];
	return HDB_OK;
}

int query_leak_path_find(struct query *q, uint32_t ix, struct query_leak_path *out,
			 struct hdb_error *err)
{
	int r;

	*out = (struct query_leak_path){ .is_strong = true };
	r = walk_up(q, NULL, ix, out, err);
	if (r != HDB_OK || out->count)
		return r;
	*out = (struct query_leak_path){ .is_strong = false };
	return walk_up(q, NULL, ix, out, err);
}

int query_leak_path_along(struct query *q, const uint32_t *parents, uint32_t ix,
			  struct query_leak_path *out, struct hdb_error *err)
{
	*out = (struct query_leak_path){ .is_strong = true };
	return walk_up(q, parents, ix, out, err);
}

int query_leak_path_holds(struct query *q, const struct query_leak_path *path, size_t i, char *buf,
			  size_t size, struct hdb_error *err)
{
	int r;

	buf[0] = '\0';
	if (i + 1 >= path->count || (path->gap && i + 1 == path->gap_at))
		return HDB_OK;
	r = analysis_holder(&q->session, path->nodes[i], path->nodes[i + 1],
			    (struct base_text){ buf, size }, err);
	if (r == HDB_ECHANGED) {
		buf[0] =
			/* the path stands without the dump, only the names of fields do not */
			'\0';
		r = HDB_OK;
	}
	return r;
}

void query_leak_roots(struct query *q, uint32_t ix, char *buf, size_t size)
{
	size_t count, used = 0;
	const struct store_root *roots = heap_roots_of(q->heap, ix, &count);

	buf[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		if (roots[i].is_local || (i && roots[i].kind == roots[i - 1].kind))
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
					 heap_root_name(roots[i].kind));
	}
	if (!used && heap_is_orphan(q->heap, ix))
		(void)snprintf(buf, size, "%s", HEAP_ORPHAN_NAME);
}

int query_leak_path_rows(struct query *q, struct query_story *story, uint64_t part,
			 const struct query_leak_path *path, struct hdb_error *err)
{
	char text[NAME_MAX_BYTES];
	int r = HDB_OK;

	for (size_t i = 0; i < path->count && r == HDB_OK; i++) {
		struct query_story_row row = query_story_row("path", part);
		struct query_story_row gap = query_story_row("gap", part);
		struct heap_object object;

		if (path->gap && i == path->gap_at) {
			gap.count = path->gap;
			r = query_story_text(story, &gap.text, err, "%" PRIu64 " more steps",
					     path->gap);
			if (r == HDB_OK)
				r = query_story_add(story, &gap, err);
		}
		row.ix = path->nodes[i];
		row.step = i + (i >= path->gap_at ? path->gap : 0);
		if (r == HDB_OK)
			r = heap_object(q->heap, row.ix, &object, err);
		if (r == HDB_OK)
			row.shallow_bytes = object.shallow_bytes;
		if (r == HDB_OK)
			r = derive_retained(q->derive, row.ix, &row.retained_bytes, err);
		if (r == HDB_OK)
			r = query_leak_path_holds(q, path, i, text, sizeof(text), err);
		if (r == HDB_OK && text[0])
			r = query_story_text(story, &row.holds, err, "%s", text);
		if (r == HDB_OK && i == 0) {
			query_leak_roots(q, row.ix, text, sizeof(text));
			if (text[0])
				r = query_story_text(story, &row.text, err, "GC root: %s", text);
		}
		if (r == HDB_OK)
			r = query_story_add(story, &row, err);
	}
	return r;
}

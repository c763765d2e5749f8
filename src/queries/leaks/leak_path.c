/*
 * queries/leaks/leak_path.c - finds the shortest path from a root to a leak suspect.
 *
 * Paths come from the reach table, a breadth-first tree with one parent per object. A path of
 * strong references is preferred, even to a shorter path with weak references, because strong
 * references explain why an object stays alive.
 */
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "queries/leaks/leak_prose.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/* Number of steps between two checks for cancellation. */
#define STEPS_BETWEEN 4096u
/* Maximum size of a thread's name. Longer names are truncated. */
#define THREAD_NAME_MAX 128

/*
 * Walks from ix up to its root. A path may have millions of nodes, and its length is unknown until
 * the root is found, so keeps the first LEAK_PATH_ENDS nodes and, in a ring buffer, the last
 * LEAK_PATH_ENDS.
 */
static int walk_up(struct query *q, bool is_strong, uint32_t ix, struct query_leak_path *out,
		   struct hdb_error *err)
{
	static const struct base_stage unnamed = { .name = NULL };
	uint32_t above[LEAK_PATH_ENDS] = { 0 }, parent;
	uint64_t length = 0, from_top;

	*out = (struct query_leak_path){ .is_strong = is_strong };
	for (uint32_t at = ix; at != GRAPH_NONE; at = parent, length++) {
		/* Steps are not reported as progress, because callers search many paths. */
		if (length % STEPS_BETWEEN == 0)
			TRY(base_step_of(q->work, &unnamed, 0, err));
		TRY(derive_reach(q->derive, is_strong, at, &parent, err));
		/* An unreachable object is recorded as its own parent. */
		if (parent == at)
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
	assert(out->count && out->count <= 2 * LEAK_PATH_ENDS && out->gap_at <= out->count);
	/* The walk went from the end to the root; the path begins at the root. */
	memmove(out->nodes + from_top, out->nodes + 2 * LEAK_PATH_ENDS - (out->count - from_top),
		(out->count - from_top) * sizeof(out->nodes[0]));
	for (uint64_t i = 0; i < from_top; i++)
		out->nodes[i] = above[(length - 1 - i) % LEAK_PATH_ENDS];
	return HDB_OK;
}

/* Shortens the path to begin at the last class that is never unloaded, which needs no holder. */
static void begin_at_class(struct query *q, struct query_leak_path *path)
{
	size_t first = path->count;

	while (first > 0 && !heap_is_permanent_class(q->heap, path->nodes[first - 1]))
		first--;
	if (first < 2)
		return;
	first--;
	path->count -= first;
	assert(path->count && path->gap_at <= path->count + first);
	memmove(path->nodes, path->nodes + first, path->count * sizeof(path->nodes[0]));
	if (first >= path->gap_at)
		path->gap = 0;
	path->gap_at = path->gap ? path->gap_at - first : path->count;
}

int query_leak_path_find(struct query *q, uint32_t ix, struct query_leak_path *out,
			 struct hdb_error *err)
{
	TRY(walk_up(q, true, ix, out, err));
	if (!out->count)
		TRY(walk_up(q, false, ix, out, err));
	begin_at_class(q, out);
	return HDB_OK;
}

int query_leak_link(struct query *q, const struct query_leak_path *path, size_t i,
		    struct analysis_link *out, struct hdb_error *err)
{
	int r;

	assert(i < path->count);
	out->kind = ANALYSIS_LINK_NONE;
	out->count = 0;
	out->text[0] = '\0';
	if (i + 1 >= path->count || (path->gap && i + 1 == path->gap_at))
		return HDB_OK;
	r = analysis_link_find(&q->session, path->nodes[i], path->nodes[i + 1], out, err);
	if (r == HDB_ECHANGED) {
		/* Only the field names require the dump. */
		*out = (struct analysis_link){ .count = 0 };
		r = HDB_OK;
	}
	return r;
}

int query_leak_path_holds(struct query *q, const struct query_leak_path *path, size_t i,
			  struct base_text to, struct hdb_error *err)
{
	struct analysis_link link;

	TRY(query_leak_link(q, path, i, &link, err));
	(void)snprintf(to.buf, to.size, "%s", link.text);
	return HDB_OK;
}

void query_roots_text(struct query *q, uint32_t ix, bool names_threads, struct base_text to)
{
	char name[THREAD_NAME_MAX];
	size_t count, used = 0;
	const struct store_root *roots = heap_roots_of(q->heap, ix, &count);

	to.buf[0] = '\0';
	for (size_t i = 0; i < count && used < to.size; i++) {
		if (roots[i].is_local || (i && roots[i].kind == roots[i - 1].kind))
			continue;
		used += (size_t)snprintf(to.buf + used, to.size - used, "%s%s", used ? ", " : "",
					 heap_root_name(roots[i].kind));
		if (names_threads && roots[i].kind == HPROF_ROOT_THREAD_OBJECT && used < to.size &&
		    heap_thread_name(q->heap, ix, name, sizeof(name), NULL) == HDB_OK && name[0])
			used += (size_t)snprintf(to.buf + used, to.size - used, " \"%s\"", name);
	}
	if (!used && heap_is_orphan(q->heap, ix))
		(void)snprintf(to.buf, to.size, "%s", HEAP_ORPHAN_NAME);
	else if (!used && heap_is_permanent_class(q->heap, ix))
		(void)snprintf(to.buf, to.size, "%s", HEAP_STAYS_NAME);
}

/* Appends the row for step `i`. */
static int add_step(struct query *q, struct leak_rows *rows, const struct query_leak_path *path,
		    size_t i, struct hdb_error *err)
{
	struct leak_row row = leak_row_of(rows, LEAK_ROW_PATH);
	struct heap_object object;
	struct analysis_link link;
	char roots[NAME_MAX_BYTES];

	row.ix = path->nodes[i];
	row.cells[LEAK_STEP] = i + (i >= path->gap_at ? path->gap : 0);
	TRY(heap_object(q->heap, row.ix, &object, err));
	row.cells[LEAK_SHALLOW] = object.shallow_bytes;
	TRY(derive_retained(q->derive, row.ix, &row.cells[LEAK_RETAINED], err));
	TRY(query_leak_link(q, path, i, &link, err));
	TRY(leak_say_link(rows, &row, &link, err));
	if (i == 0) {
		query_roots_text(q, row.ix, false, BASE_TEXT(roots));
		TRY(leak_say_root(rows, &row, roots, path->is_passing, err));
	}
	return leak_rows_add(rows, &row, err);
}

static int add_gap(struct leak_rows *rows, uint64_t steps, struct hdb_error *err)
{
	struct leak_row gap = leak_row_of(rows, LEAK_ROW_GAP);

	TRY(leak_rows_text(rows, &gap, LEAK_TEXT, err, "%" PRIu64 " more steps", steps));
	gap.cells[LEAK_COUNT] = steps;
	return leak_rows_add(rows, &gap, err);
}

int query_leak_path_rows(struct query *q, struct leak_rows *rows,
			 const struct query_leak_path *path, struct hdb_error *err)
{
	for (size_t i = 0; i < path->count; i++) {
		if (path->gap && i == path->gap_at)
			TRY(add_gap(rows, path->gap, err));
		TRY(add_step(q, rows, path, i, err));
	}
	return HDB_OK;
}

/*
 * queries/triage/triage_loaders.c - measures closed class loaders that are still reachable.
 */
#include "queries/leaks/leak_faults.h"
#include "queries/leaks/leak_loaders.h"
#include "queries/leaks/leak_parts.h"
#include "queries/triage/triage.h"

#include <stdio.h>

#define NAME_MAX_BYTES 512

/* Writes why a class loader is alive: "kept by a thread-local value: class a.B static c -> ..." */
static int explain(struct query *q, uint32_t ix, char *buf, size_t size, struct hdb_error *err)
{
	struct query_leak_path path;
	char culprit[NAME_MAX_BYTES], roots[NAME_MAX_BYTES] = "";
	const char *text;
	uint64_t id;
	int r = query_leak_path_find(q, ix, &path, err);

	if (r != HDB_OK || !path.count)
		return r;
	TRY(heap_id(q->heap, ix, &id, err));
	TRY(query_leak_loader_hint(q, &path, &text, err));
	query_roots_text(q, path.nodes[0], false, BASE_TEXT(roots));
	path.is_end_kept = true;
	TRY(query_leak_culprit(q, &path, HEAP_NONE, BASE_TEXT(culprit), err));
	(void)snprintf(buf, size, "0x%" PRIx64 " is held by %s (%s), GC root: %s", id,
		       text ? text : "a reference", culprit, roots);
	return HDB_OK;
}

int triage_take_loaders(struct triage *t, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_CLOSED_LOADER];
	struct leak_loaders found;

	TRY(leak_loaders_find(t->q, &found, err));
	f->count += found.count;
	f->bytes += found.bytes;
	f->ix = found.ix;
	return f->ix == HEAP_NONE ? HDB_OK :
				    explain(t->q, f->ix, f->detail, sizeof(f->detail), err);
}

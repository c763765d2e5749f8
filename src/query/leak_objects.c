/*
 * query/leak_objects.c - objects that should be gone by the rules on single objects, with the paths that keep them.
 *
 * The steps of a path are told apart as LeakCanary does: up to the last one that is rightly there none is to blame;
 * from the first one after it that should be gone on, all only hang on it; the references between the two are
 * suspect.
 */
#include "query/leak_parts.h"
#include "query/object_rules.h"

#include <stdlib.h>
#include <string.h>

/* Objects that are told with their paths; all are counted. */
#define LEAKING_SHOWN 20u
#define NAME_MAX_BYTES 512
/* Blocks between two looks at the cancel flag. */
#define STEP_BLOCKS 16u

static int add_trace(struct object_judge *j, struct query_story *story, uint64_t part,
		     const struct query_leak_path *path, struct hdb_error *err)
{
	enum object_verdict verdicts[2 * LEAK_PATH_ENDS] = { OBJECT_UNKNOWN };
	const char *reasons[2 * LEAK_PATH_ENDS] = { NULL };
	size_t first_gone = path->count, last_there = SIZE_MAX;
	char holds[NAME_MAX_BYTES];
	int r = HDB_OK;

	for (size_t i = 0; i < path->count && r == HDB_OK; i++) {
		r = object_judge_look(j, path->nodes[i], false, &verdicts[i], &reasons[i], err);
		if (verdicts[i] == OBJECT_THERE && i + 1 < path->count)
			last_there = i;
	}
	for (size_t i = path->count; i-- > 0 && i + 1 != last_there + 1;)
		if (verdicts[i] == OBJECT_GONE || i + 1 == path->count)
			first_gone = i;
	for (size_t i = 0; i < path->count && r == HDB_OK; i++) {
		struct query_story_row row = query_story_row("trace", part);
		const bool is_there = last_there != SIZE_MAX && i <= last_there;
		const char *status = is_there ? "not leaking" : i >= first_gone ? "leaking" :
				     "unknown";

		row.ix = path->nodes[i];
		row.step = i + (i >= path->gap_at ? path->gap : 0);
		r = derive_retained(j->q->derive, row.ix, &row.retained_bytes, err);
		if (r == HDB_OK)
			r = query_leak_path_holds(j->q, path, i, holds, sizeof(holds), err);
		if (r == HDB_OK && holds[0])
			r = query_story_text(story, &row.holds, err, "%s", holds);
		if (r == HDB_OK)
			r = query_story_text(story, &row.text, err, "%s%s%s", status,
					     reasons[i] ? ": " : "", reasons[i] ? reasons[i] : "");
		if (r == HDB_OK)
			r = query_story_add(story, &row, err);
	}
	return r;
}

static int add_leaking(struct object_judge *j, struct query_story *story, uint64_t part, uint32_t ix,
		       const char *reason, struct hdb_error *err)
{
	struct query_story_row row = query_story_row("leaking", part);
	struct query_leak_path path = { .count = 0 };
	struct heap_object object;
	int r = heap_object(j->q->heap, ix, &object, err);

	row.ix = ix;
	row.shallow_bytes = object.shallow_bytes;
	if (r == HDB_OK)
		r = derive_retained(j->q->derive, ix, &row.retained_bytes, err);
	if (r == HDB_OK)
		r = query_story_text(story, &row.text, err, "%s", reason);
	if (r == HDB_OK)
		r = query_leak_path_find(j->q, ix, &path, err);
	if (r == HDB_OK)
		r = query_story_add(story, &row, err);
	return r == HDB_OK ? add_trace(j, story, part, &path, err) : r;
}

/* Looks at one object of a class that rules are about. */
static int look(struct object_judge *j, struct query_story *story, uint64_t part, uint32_t ix,
		uint64_t *count, struct hdb_error *err)
{
	enum object_verdict verdict;
	const char *reason;
	bool is_strong;
	uint32_t parent;
	int r = derive_reach(j->q->derive, true, ix, &is_strong, &parent, err);

	if (r != HDB_OK || !is_strong)
		return r;
	r = object_judge_look(j, ix, true, &verdict, &reason, err);
	if (r != HDB_OK || verdict != OBJECT_GONE)
		return r;
	if ((*count)++ < LEAKING_SHOWN)
		r = add_leaking(j, story, part + *count - 1, ix, reason, err);
	return r;
}

int query_leaking_objects(struct query *q, struct query_story *story, uint64_t part,
			  uint64_t *count, struct hdb_error *err)
{
	struct heap_block *block = malloc(sizeof(*block));
	struct object_judge judge = { 0 };
	bool any = false;
	int r = block ? object_judge_init(&judge, q, &any, err) :
		hdb_fail_memory(err, "a block of objects", sizeof(*block));

	*count = 0;
	base_stage(q->work, "looking for objects that should be gone", q->heap->object_count,
		   "objects");
	for (uint32_t b = 0; any && r == HDB_OK && b < heap_block_count(q->heap); b++) {
		r = heap_read_block(q->heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++)
			if (block->kind[i] == STORE_INSTANCE &&
			    judge.rules_of_class[block->class_no[i]])
				r = look(&judge, story, part, block->first_ix + i, count, err);
		if (r == HDB_OK && b % STEP_BLOCKS == 0)
			r = base_step(q->work, block->first_ix, err);
	}
	object_judge_release(&judge);
	free(block);
	return r;
}

/*
 * queries/leaks/object_watched.c - what tools wait for: objects that a watcher in the program
 * expected to be gone.
 */
#include "heap/known.h"
#include "heap/values/values.h"
#include "queries/leaks/object_rules.h"

#include <stdlib.h>

/* Objects that are watched: some at a time, unless they are a leak themselves. */
#define WATCHED_MAX (1u << 20)

/*
 * References of tools that wait for objects to go; the field tells since when one is overdue, -1:
 * it is not.
 */
static const struct {
	const char *class_name, *field;
} watchers[] = {
	{ "leakcanary.KeyedWeakReference", "retainedUptimeMillis" },
	{ "com.squareup.leakcanary.KeyedWeakReference", NULL },
};

/* What one of them watches, if it is overdue. */
static int add_watched(struct heap *heap, struct base_vec *watched, uint32_t ix, const char *field,
		       struct hdb_error *err)
{
	int64_t since = 0;
	uint32_t referent;
	int r = field ? heap_path_number(heap, ix, HEAP_NONE, field, &since, err) : HDB_OK;

	if (r < 0 || since == -1)
		return r < 0 ? r : HDB_OK;
	r = heap_path_object(heap, ix, HEAP_NONE, "referent", &referent, err);
	if (r == HDB_OK)
		r = base_vec_push(watched, &referent, sizeof(referent), err);
	return r < 0 ? r : HDB_OK;
}

static int load_of(struct heap *heap, struct base_vec *watched, uint32_t class_no,
		   const char *field, struct heap_block *block, struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint32_t b = 0; r == HDB_OK && b < heap_block_count(heap); b++) {
		r = heap_read_block(heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++)
			if (block->kind[i] == STORE_INSTANCE && block->class_no[i] == class_no &&
			    watched->count < WATCHED_MAX)
				r = add_watched(heap, watched, block->first_ix + i, field, err);
	}
	return r;
}

int object_watched_load(struct heap *heap, struct base_vec *watched, struct hdb_error *err)
{
	struct heap_block *block = malloc(sizeof(*block));
	int r = block ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*block));

	for (size_t i = 0; i < sizeof(watchers) / sizeof(watchers[0]) && r == HDB_OK; i++) {
		const uint32_t no = heap_class_by_name(heap, watchers[i].class_name, 0);

		if (no != HEAP_NONE)
			r = load_of(heap, watched, no, watchers[i].field, block, err);
	}
	if (r == HDB_OK && watched->count)
		qsort(watched->data, watched->count, sizeof(uint32_t), object_compare_ix);
	free(block);
	return r;
}

bool object_is_watched(const struct base_vec *watched, uint32_t ix)
{
	return watched->count &&
	       bsearch(&ix, watched->data, watched->count, sizeof(ix), object_compare_ix);
}

/* analysis/dominator_children.c - iterates over the children of a node of the dominator tree. */
#include "analysis/dominator_children.h"

#include <assert.h>

int analysis_level_count(struct analysis_level *level, uint32_t ix, uint64_t *count,
			 struct hdb_error *err)
{
	return store_lists_begin(&level->others, ix, count, err);
}

/*
 * Sets *hidden to whether an object is hidden because it is not in the dump or is excluded by a
 * heap filter.
 */
static int is_hidden(const struct session *session, struct analysis_level *level, uint32_t ix,
		     bool *hidden, struct hdb_error *err)
{
	struct heap_object object;
	uint64_t count = 0;
	bool is_real;
	int r = heap_is_real(session->heap, ix, &is_real, err);

	TRY(r);
	*hidden = !is_real;
	if (session->heap->filter.is_on) {
		TRY(heap_object(session->heap, ix, &object, err));
		if (heap_leaves_out(session->heap, object.heap_no)) {
			*hidden = true;
			return HDB_OK;
		}
	}
	if (*hidden && !level->hides_invented) {
		r = analysis_level_count(level, ix, &count, err);
		*hidden = count == 0;
	}
	return r;
}

/* Subtracts an object from the length of the list if it is a hidden child of `parent`. */
static int uncount(const struct session *session, struct analysis_level *level, uint32_t parent,
		   uint32_t ix, struct hdb_error *err)
{
	uint32_t dominator;
	bool hidden = false;

	TRY(derive_dominator(session->derive, ix, &dominator, err));
	if (dominator == parent && dominator != ix)
		TRY(is_hidden(session, level, ix, &hidden, err));
	if (hidden && level->length)
		level->length--;
	return HDB_OK;
}

int analysis_level_begin(const struct session *session, uint32_t ix, bool hides_invented,
			 struct analysis_level *out, struct hdb_error *err)
{
	struct heap *heap = session->heap;
	uint32_t list = ix;

	*out = (struct analysis_level){ .hides_invented = hides_invented };
	TRY(heap_load_classes(heap, err));
	if (!hides_invented)
		TRY(derive_children(session->derive, &out->others, err));
	TRY(ix == HEAP_NONE ? derive_top_level(session->derive, &out->children, &list, err) :
			      derive_children(session->derive, &out->children, err));
	TRY(store_lists_begin(&out->children, list, &out->length, err));
	/* only the boot loader and invented classes can be missing from the dump */
	if (heap->object_count)
		TRY(uncount(session, out, ix, HEAP_BOOT_LOADER, err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		if (heap_class(heap, no)->flags & STORE_CLASS_INVENTED)
			TRY(uncount(session, out, ix, heap_class(heap, no)->ix, err));
	return HDB_OK;
}

int analysis_level_next(const struct session *session, struct analysis_level *level, uint32_t *ix,
			struct hdb_error *err)
{
	bool hidden = true;

	assert(level->at <= level->batch_count);
	while (hidden) {
		if (level->at == level->batch_count) {
			level->at = 0;
			TRY(store_lists_next(&level->children, &level->batch, &level->batch_count,
					     err));
			if (!level->batch_count)
				return HDB_END;
		}
		*ix = level->batch[level->at++];
		TRY(is_hidden(session, level, *ix, &hidden, err));
	}
	return HDB_OK;
}

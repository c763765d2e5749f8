/*
 * heap/values/string_scan.c - iterates over all strings of a heap; see string_scan.h.
 *
 * The value array of a string comes from the stored references of its block, which are decoded as a
 * whole. Finding it by its ID would take a lookup for each of millions of strings.
 */
#include "heap/values/string_scan.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- one string at a time ---- */

int heap_string_scan_begin(struct heap_string_scan *s, struct heap *heap, struct hdb_error *err)
{
	int r = heap_load_strings(heap, err);

	memset(s, 0, sizeof(*s));
	s->heap = heap;
	TRY(r);
	TRY(heap_open_dump(heap, err));
	s->view = (struct base_view){ .src = heap->dump.source };
	heap_references(heap, &s->references);
	TRY(HEAP_ALLOC(heap, s->objects, 1, "strings", err));
	TRY(HEAP_ALLOC(heap, s->lengths, STORE_BLOCK_OBJECTS, "strings", err));
	return HDB_OK;
}

void heap_string_scan_release(struct heap_string_scan *s)
{
	base_view_release(&s->view);
	base_vec_release(&s->entries);
	free(s->objects);
	free(s->lengths);
	free(s->groups);
	memset(s, 0, sizeof(*s));
}

static int check_lists(struct heap *heap, const struct heap_block *objects, uint32_t lists,
		       struct hdb_error *err)
{
	assert(objects->count <= STORE_BLOCK_OBJECTS);
	return lists == objects->count ? HDB_OK :
					 store_damaged(heap->store, STORE_REFERENCES,
						       objects->first_ix, "impossible size", err);
}

/*
 * Opens the next block. Strings are read in order, so the next part of the dump can be prefetched.
 */
static int open_block(struct heap_string_scan *s, struct hdb_error *err)
{
	struct store_lists_out lists = { .lengths = s->lengths, .target = &s->entries };
	const uint32_t block_no = s->next_block++;

	assert(block_no < heap_block_count(s->heap));
	s->i = 0;
	s->entry = 0;
	s->entries.count = 0;
	TRY(heap_read_block(s->heap, block_no, s->objects, err));
	heap_prefetch_ahead(s->heap, block_no);
	TRY(store_lists_block(&s->references, s->objects->first_ix, &lists, err));
	return check_lists(s->heap, s->objects, lists.count, err);
}

/* A block of objects and their lists of references, one after another. */
struct walked {
	const struct heap_block *objects;
	const uint64_t *lengths;
	const uint32_t *entries;
};

/*
 * Moves *entry past the list of object i. Returns true for a string, with *out set to its layout
 * and, if the list shows it, its value array.
 */
static bool step(const struct heap *heap, const struct walked *block, uint32_t i, uint64_t *entry,
		 struct heap_string_at *out)
{
	const uint64_t n = block->lengths[i], at = *entry;

	assert(i < block->objects->count);
	*out = (struct heap_string_at){ .ix = block->objects->first_ix + i, .target = HEAP_NONE };
	if (!(n & STORE_LIST_IS_BIG))
		*entry += n;
	if (block->objects->kind[i] == STORE_INSTANCE)
		out->layout = heap_string_layout(heap, block->objects->class_no[i]);
	if (out->layout && out->layout->has_one_reference && n == 1)
		out->target = block->entries[at];
	return out->layout;
}

/*
 * Finds the characters of a string. If strings have no reference other than the value array, an
 * empty list means that the characters are not in the dump.
 */
static int find(struct heap *heap, const struct heap_reader *reader,
		const struct heap_string_at *at, struct heap_string *out, struct hdb_error *err)
{
	*out = (struct heap_string){ .array_ix = HEAP_NONE };
	if (at->layout->has_one_reference && at->target == HEAP_NONE)
		return HDB_OK;
	return heap_string_find(heap, reader, at, out, err);
}

/* Finds the next string. Without a String class, ends without reading a block. */
int heap_string_scan_next(struct heap_string_scan *s, struct hdb_error *err)
{
	const struct heap_reader reader = { .view = &s->view, .groups = &s->groups };

	for (;;) {
		const struct walked block = { s->objects, s->lengths, s->entries.data };
		struct heap_string_at at;
		uint32_t i;

		if (s->i >= s->objects->count) {
			if (!s->heap->values.string_layouts.count ||
			    s->next_block >= heap_block_count(s->heap))
				return HDB_END;
			TRY(open_block(s, err));
			continue;
		}
		i = s->i++;
		if (!step(s->heap, &block, i, &s->entry, &at))
			continue;
		s->ix = at.ix;
		s->shallow_bytes = s->objects->shallow[i];
		return find(s->heap, &reader, &at, &s->string, err);
	}
}

int heap_string_one(struct heap *heap, uint32_t ix, struct heap_string *out, struct hdb_error *err)
{
	const struct heap_reader reader = { .view = &heap->dump.view,
					    .groups = &heap->blocks.offsets };
	struct heap_string_at at;

	TRY(heap_string_at(heap, ix, &at, err));
	TRY(heap_open_dump(heap, err));
	TRY(heap_string_find(heap, &reader, &at, out, err));
	return out->has_chars ? HDB_OK : HDB_NOTFOUND;
}

/* ---- whole blocks, on several threads ---- */

/*
 * Prepares all blocks. If String has other reference fields, the lists do not show which entry is
 * the value array. It must then be found by its ID, on one thread only, because lookups share
 * caches of the heap.
 */
int heap_string_blocks(struct heap *heap, struct store_block **out, unsigned *threads_max,
		       struct hdb_error *err)
{
	const uint32_t n = heap_block_count(heap);

	*out = NULL;
	*threads_max = UINT_MAX;
	TRY(heap_load_strings(heap, err));
	TRY(heap_open_dump(heap, err));
	for (size_t i = 0; i < heap->values.string_layouts.count; i++)
		if (!base_vec_at(&heap->values.string_layouts, struct heap_string_layout, i)
			     ->has_one_reference)
			*threads_max = 1;
	TRY(HEAP_ALLOC(heap, *out, (size_t)n + 1, "strings", err));
	for (uint32_t b = 0; b < n; b++) {
		const uint32_t first_ix = b * STORE_BLOCK_OBJECTS;

		TRY(store_need_block(heap->store, STORE_REFERENCES, first_ix, &(*out)[b], err));
	}
	return HDB_OK;
}

/*
 * Reads the strings of a block. heap_string_blocks has done everything that needs the store, so
 * several threads can decode blocks and read the dump through their own views.
 */
int heap_string_block(const struct heap_string_block *block, heap_take_string take, void *ctx,
		      struct hdb_error *err)
{
	struct heap *heap = block->heap;
	const struct heap_block *objects = block->objects;
	const struct store_lists_of of = heap_references_of(heap);
	struct store_lists_out lists = { .lengths = block->lengths, .target = block->entries };
	struct walked walked = { .objects = objects, .lengths = block->lengths };
	uint64_t entry = 0;
	int r = check_lists(heap, objects, block->references->item_count, err);

	block->entries->count = 0;
	TRY(r);
	TRY(store_lists_decode(&of, block->references, &lists, err));
	walked.entries = block->entries->data;
	for (uint32_t i = 0; i < objects->count; i++) {
		struct heap_string string;
		struct heap_string_at at;

		if (!step(heap, &walked, i, &entry, &at))
			continue;
		TRY(find(heap, &block->reader, &at, &string, err));
		TRY(take(ctx, i, &string, err));
	}
	return HDB_OK;
}

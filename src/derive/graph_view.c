/*
 * derive/graph_view.c - provides access to the graph node by node, for algorithms that visit a
 * small part of it.
 */
#include "derive/build.h"
#include "derive/strangeness.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* State of an open list: first the stored list, then the class edge or the instances of a class. */
struct derive_access_state {
	struct derive *derive;
	struct store_lists references, referrers;
	struct store_lists *list; /* the stored list that is being read */
	struct store_column *reach;
	/* class object of the edge to return after the stored list, or HEAP_NONE */
	uint32_t class_ix;
	/* class whose instances are returned after the stored list, or HEAP_NONE */
	uint32_t class_no;
	uint64_t at, end; /* range of the class's remaining blocks in class_blocks */
	uint32_t i;       /* position of the next object in the open block */
	bool is_open;
	struct heap_block block;
	uint64_t *class_first; /* index of each class's first block in class_blocks */
	uint32_t *class_blocks;
	uint32_t batch[256];
};

static void release_index(struct derive_access_state *s)
{
	free(s->class_first);
	free(s->class_blocks);
	s->class_first = NULL;
	s->class_blocks = NULL;
}

static void release_state(struct derive_access_state *s)
{
	if (!s)
		return;
	release_index(s);
	free(s);
}

void derive_release(struct derive *derive)
{
	for (unsigned v = 0; v < DERIVE_VIEWS; v++) {
		if (derive->views[v])
			derive_release(derive->views[v]);
		free(derive->views[v]);
		derive->views[v] = NULL;
	}
	store_column_release(&derive->native);
	store_column_release(&derive->retained_native);
	store_column_release(&derive->retained_heaps);
	store_column_release(&derive->depth);
	store_column_release(&derive->reach);
	store_column_release(&derive->reach_strong);
	store_column_release(&derive->dominators);
	store_column_release(&derive->retained);
	derive_near_close(derive);
	base_vec_release(&derive->few.wanted);
	base_vec_release(&derive->few.pairs);
	release_state(derive->access);
	derive->access = NULL;
}

/*
 * Performs one pass over all objects, handling each class once per block. In the first pass,
 * class_blocks is NULL, and the pass counts the blocks of each class in class_first[no + 1]. In the
 * second pass, it stores the block numbers at class_first[no], which it advances. last[no] is the
 * last block in which the class was found.
 */
static int index_pass(struct derive_access_state *s, uint32_t *last, struct hdb_error *err)
{
	struct heap *heap = s->derive->heap;

	memset(last, 0xff, heap->class_count * sizeof(*last));
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		TRY(heap_read_block(heap, b, &s->block, err));
		for (uint32_t i = 0; i < s->block.count; i++) {
			const uint32_t no = s->block.class_no[i];

			if (last[no] == b)
				continue;
			last[no] = b;
			if (s->class_blocks)
				s->class_blocks[s->class_first[no]++] = b;
			else
				s->class_first[no + 1]++;
		}
	}
	return HDB_OK;
}

/*
 * Builds an index from each class to the blocks that contain its instances. The database contains
 * no such index because only a few algorithms need it.
 */
static int make_index(struct derive_access_state *s, struct hdb_error *err)
{
	const uint32_t classes = s->derive->heap->class_count;
	HEAP_FILTER_SCOPE(heap_show_all, s->derive->heap);
	BASE_FREED uint32_t *last = NULL;

	assert(!s->class_first && !s->class_blocks);
	TRY(BASE_ALLOC(last, classes, "an index of classes", err));
	TRY(BASE_ALLOC(s->class_first, (size_t)classes + 2, "an index of classes", err));
	TRY(index_pass(s, last, err));
	for (uint32_t no = 0; no < classes; no++)
		s->class_first[no + 1] += s->class_first[no];
	TRY(BASE_ALLOC(s->class_blocks, s->class_first[classes], "an index of classes", err));
	TRY(index_pass(s, last, err));
	/* The second pass advanced each start to its end, so the starts are moved back. */
	for (uint32_t no = classes; no > 0; no--)
		s->class_first[no] = s->class_first[no - 1];
	s->class_first[0] = 0;
	return HDB_OK;
}

/* Builds the index if it does not exist. */
static int need_index(struct derive_access_state *s, struct hdb_error *err)
{
	const int r = s->class_first ? HDB_OK : make_index(s, err);

	if (r != HDB_OK)
		release_index(s);
	return r;
}

/*
 * Opens a list. The references of an object include the edge to its class. The referrers of a class
 * object include its instances, which no table lists.
 */
static int begin(void *ctx, enum graph_side side, uint32_t node, struct hdb_error *err)
{
	struct derive_access_state *s = ctx;
	struct heap *heap = s->derive->heap;
	struct heap_object object;

	s->class_ix = s->class_no = HEAP_NONE;
	s->list = side == GRAPH_REFERENCES ? &s->references : &s->referrers;
	TRY(heap_object(heap, node, &object, err));
	if (side == GRAPH_REFERENCES) {
		s->class_ix = heap_class(heap, object.class_no)->ix;
	} else if (object.kind == STORE_CLASS) {
		TRY(need_index(s, err));
		s->class_no = (uint32_t)object.length;
		s->at = s->class_first[s->class_no];
		s->end = s->class_first[s->class_no + 1];
		s->is_open = false;
	}
	return store_lists_begin(s->list, node, NULL, err);
}

/* Fills the batch with the next instances of a class. */
static int next_instances(struct derive_access_state *s, size_t *count, struct hdb_error *err)
{
	const size_t room = BASE_COUNT(s->batch);

	while (*count == 0 && (s->is_open || s->at < s->end)) {
		if (!s->is_open) {
			HEAP_FILTER_SCOPE(heap_show_all, s->derive->heap);

			TRY(heap_read_block(s->derive->heap, s->class_blocks[s->at++], &s->block,
					    err));
			s->is_open = true;
			s->i = 0;
		}
		for (; s->i < s->block.count && *count < room; s->i++)
			if (s->block.class_no[s->i] == s->class_no)
				s->batch[(*count)++] = s->block.first_ix + s->i;
		if (s->i == s->block.count)
			s->is_open = false;
	}
	return HDB_OK;
}

/* Returns the next batch: first the stored list, and then the class edge or the instances. */
static int next(void *ctx, const uint32_t **batch, size_t *count, struct hdb_error *err)
{
	struct derive_access_state *s = ctx;
	const int r = store_lists_next(s->list, batch, count, err);

	if (r < 0 || *count)
		return r;
	*batch = s->batch;
	if (s->class_ix != HEAP_NONE) {
		s->batch[0] = s->class_ix;
		s->class_ix = HEAP_NONE;
		*count = 1;
		return HDB_OK;
	}
	return s->class_no == HEAP_NONE ? HDB_OK : next_instances(s, count, err);
}

/*
 * Reads the parent of a node. The parent is read from the file and used as an index, so its range
 * is checked.
 */
static int reach(void *ctx, uint32_t node, bool *reachable, uint32_t *parent, struct hdb_error *err)
{
	const struct derive_access_state *s = ctx;
	uint64_t value;

	TRY(store_column_get(s->reach, node, &value, err));
	*reachable = value != 0;
	*parent = derive_tree_parent(value, node);
	if (*parent >= s->derive->heap->object_count && *parent != GRAPH_NONE)
		return store_damaged(s->derive->heap->store, s->reach->table, node,
				     "parent out of range", err);
	return HDB_OK;
}

static bool is_root(void *ctx, uint32_t node)
{
	const struct derive_access_state *s = ctx;

	return heap_is_root(s->derive->heap, node);
}

/* Creates the state on first use. All readers of this derive share it. */
static int make_state(struct derive *derive, struct hdb_error *err)
{
	struct derive_access_state *s;

	TRY(BASE_ALLOC(s, 1, "a view of the graph", err));
	s->derive = derive;
	derive->access = s;
	return HDB_OK;
}

int derive_access(struct derive *derive, bool is_strong, struct graph_access *out,
		  struct hdb_error *err)
{
	struct derive_access_state *s;

	TRY(derive_need(derive, STORE_REFERRERS, err));
	TRY(derive_need(derive, is_strong ? STORE_REACH_STRONG : STORE_REACH, err));
	TRY(heap_load_roots(derive->heap, err));
	if (!derive->access)
		TRY(make_state(derive, err));
	s = derive->access;
	heap_references(derive->heap, &s->references);
	TRY(derive_referrers(derive, &s->referrers, err));
	s->reach = is_strong ? &derive->reach_strong : &derive->reach;
	*out = (struct graph_access){
		.ctx = s,
		.node_count = derive->heap->object_count,
		.begin = begin,
		.next = next,
		.reach = reach,
		.is_root = is_root,
	};
	return HDB_OK;
}

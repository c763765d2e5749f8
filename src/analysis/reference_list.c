/*
 * analysis/reference_list.c - lists reference objects, and computes how strongly objects are
 * reachable.
 */
#include "analysis/reference_list.h"

#include "base/bits.h"
#include "base/search.h"
#include "derive/build.h"
#include "heap/values/values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Number of nodes between two checks of the cancel flag. */
#define STEP_NODES 65536

/* ---- the list ---- */

static int read_referent(struct heap *heap, uint32_t ix, uint32_t class_no, uint32_t *referent,
			 struct hdb_error *err)
{
	uint64_t id;
	int r = heap_referent_id(heap, ix, class_no, &id, err);

	if (r == HDB_OK)
		r = heap_find(heap, id, referent, err);
	if (r == HDB_NOTFOUND)
		*referent = HEAP_NONE;
	return r < 0 ? r : HDB_OK;
}

struct listing {
	const struct session *session;
	struct analysis_reference_list *list;
	struct heap_block *block;
	uint32_t *strength; /* indexed by class */
};

/*
 * Makes one pass over the heap, which counts the references if `refs` is NULL and otherwise lists
 * them.
 */
static int pass(struct listing *l, struct analysis_reference *refs, struct hdb_error *err)
{
	struct heap *heap = l->session->heap;
	uint64_t count = 0;

	base_stage(l->session->work, "finding references", heap->object_count, "objects");
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		TRY(heap_read_block(heap, b, l->block, err));
		for (uint32_t i = 0; i < l->block->count; i++) {
			const uint32_t no = l->block->class_no[i];
			struct analysis_reference *ref;

			if (l->block->kind[i] != STORE_INSTANCE || !l->strength[no])
				continue;
			count++;
			if (!refs)
				continue;
			ref = &refs[count - 1];
			ref->ix = l->block->first_ix + i;
			ref->class_no = no;
			ref->strength = l->strength[no];
			TRY(read_referent(heap, ref->ix, no, &ref->referent, err));
		}
		TRY(base_step(l->session->work, l->block->first_ix, err));
	}
	l->list->count = count;
	return HDB_OK;
}

static void release_listing(struct listing *l)
{
	free(l->block);
	free(l->strength);
}

int analysis_references_read(const struct session *session, struct analysis_reference_list *out,
			     struct hdb_error *err)
{
	struct heap *heap = session->heap;
	BASE_SCOPED(release_listing) struct listing l = { .session = session, .list = out };
	/*
	 * All heaps are searched, because an object may be held only by a reference in a hidden
	 * heap.
	 */
	HEAP_FILTER_SCOPE(heap_show_all, heap);

	*out = (struct analysis_reference_list){ 0 };
	TRY(heap_open_dump(heap, err));
	TRY(heap_load_classes(heap, err));
	TRY(BASE_ALLOC(l.block, 1, "references", err));
	TRY(BASE_ALLOC(l.strength, (size_t)heap->class_count + 1, "references", err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		l.strength[no] = heap_class(heap, no)->strength;
	TRY(pass(&l, NULL, err));
	TRY(base_big_alloc(session->work, &out->refs,
			   (out->count + 1) * sizeof(struct analysis_reference), "references",
			   err));
	return pass(&l, out->refs.data, err);
}

void analysis_references_release(struct analysis_reference_list *list)
{
	base_big_free(&list->refs);
	base_big_free(&list->levels);
}

/* ---- levels ---- */

/*
 * State of the search for levels. Each level is one search over strong references. It starts at the
 * objects waiting for this level: the roots for the first level, and for later levels the referents
 * of references that have been reached. An object waits once for each reference that leads to it.
 */
struct search {
	const struct session *session;
	const struct graph_rows *graph;
	const struct analysis_reference *refs;
	uint64_t ref_count;
	uint8_t *level;
	uint32_t *stack;
	uint32_t depth;
	/* uint32_t: referents, by the level at which they will be reached */
	struct base_vec waiting[ANALYSIS_LEVELS];
	uint64_t seen;
};

enum analysis_reached analysis_reached_by(uint32_t strength)
{
	static const enum analysis_reached levels[] = {
		[STORE_STRONG] = ANALYSIS_STRONGLY,   [STORE_SOFT] = ANALYSIS_SOFTLY,
		[STORE_WEAK] = ANALYSIS_WEAKLY,       [STORE_PHANTOM] = ANALYSIS_PHANTOMLY,
		[STORE_FINALIZER] = ANALYSIS_FINALLY,
	};

	return strength < BASE_COUNT(levels) ? levels[strength] : ANALYSIS_STRONGLY;
}

const char *analysis_reached_name(enum analysis_reached level)
{
	static const char *const names[ANALYSIS_LEVELS] = {
		"strongly", "softly", "weakly", "by a finalizer", "phantom", "unreachable",
	};

	return names[level];
}

/* Returns the entry of reference object ix, or NULL. */
static const struct analysis_reference *find_ref(const struct search *s, uint32_t ix)
{
	struct base_search search = base_search_in(s->ref_count);

	while (base_search_next(&search))
		base_search_step(&search, s->refs[search.mid].ix < ix);
	return search.low < s->ref_count && s->refs[search.low].ix == ix ? &s->refs[search.low] :
									   NULL;
}

static void reach(struct search *s, uint32_t ix, enum analysis_reached level)
{
	if (s->level[ix] != ANALYSIS_UNREACHABLE)
		return;
	s->level[ix] = (uint8_t)level;
	s->stack[s->depth++] = ix;
}

/*
 * Adds the referent of a reached reference to the list for its level. If the search has already
 * reached that level, visits the referent immediately.
 */
static int follow_referent(struct search *s, uint32_t ix, enum analysis_reached level,
			   const uint64_t *ref_bits, struct hdb_error *err)
{
	const struct analysis_reference *ref = base_bit_has(ref_bits, ix) ? find_ref(s, ix) : NULL;
	enum analysis_reached to;

	if (!ref || ref->referent == HEAP_NONE || s->level[ref->referent] != ANALYSIS_UNREACHABLE)
		return HDB_OK;
	to = analysis_reached_by(ref->strength);
	if (to <= level) {
		reach(s, ref->referent, level);
		return HDB_OK;
	}
	return base_vec_push(&s->waiting[to], &ref->referent, sizeof(ref->referent), err);
}

static int search_level(struct search *s, enum analysis_reached level, const uint64_t *ref_bits,
			struct hdb_error *err)
{
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	unsigned count;

	while (s->depth) {
		const uint32_t ix = s->stack[--s->depth];

		count = graph_rows_get(s->graph, ix, target, &row);
		for (unsigned i = 0; i < count; i++)
			reach(s, target[i], level);
		for (uint64_t e = row.at; e < row.end; e++)
			reach(s, graph_rows_long(s->graph, e), level);
		TRY(follow_referent(s, ix, level, ref_bits, err));
		if (++s->seen % STEP_NODES == 0)
			TRY(base_step(s->session->work, s->seen, err));
	}
	return HDB_OK;
}

static int search_all(struct search *s, const uint64_t *ref_bits, struct hdb_error *err)
{
	struct heap *heap = s->session->heap;

	base_stage(s->session->work, "reference strengths", heap->object_count, "objects");
	for (uint32_t ix = 0; ix < heap->object_count; ix++)
		if (heap_is_root(heap, ix))
			reach(s, ix, ANALYSIS_STRONGLY);
	TRY(search_level(s, ANALYSIS_STRONGLY, ref_bits, err));
	for (unsigned level = ANALYSIS_SOFTLY; level < ANALYSIS_UNREACHABLE; level++) {
		for (size_t i = 0; i < s->waiting[level].count; i++) {
			reach(s, *base_vec_at(&s->waiting[level], uint32_t, i),
			      (enum analysis_reached)level);
			TRY(search_level(s, (enum analysis_reached)level, ref_bits, err));
		}
	}
	return HDB_OK;
}

static void release_search(struct search *s)
{
	for (unsigned level = 0; level < ANALYSIS_LEVELS; level++)
		base_vec_release(&s->waiting[level]);
}

static int with_graph(const struct session *session, struct analysis_reference_list *list,
		      const struct graph_rows *graph, struct hdb_error *err)
{
	const uint64_t n = session->heap->object_count;
	BASE_SCOPED(base_big_free) struct base_big stack = { 0 }, bits = { 0 };
	BASE_SCOPED(release_search)
	struct search s = {
		.session = session,
		.graph = graph,
		.refs = list->refs.data,
		.ref_count = list->count,
		.level = list->levels.data,
	};

	TRY(base_big_alloc(session->work, &stack, n * 4 + 4, "a stack", err));
	TRY(base_big_alloc(session->work, &bits, n / 8 + 16, "references", err));
	s.stack = stack.data;
	for (uint64_t i = 0; i < list->count; i++)
		base_bit_put(bits.data, s.refs[i].ix);
	memset(s.level, ANALYSIS_UNREACHABLE, n);
	return search_all(&s, bits.data, err);
}

int analysis_references_levels(const struct session *session, struct analysis_reference_list *list,
			       struct graph_rows *graph, struct hdb_error *err)
{
	BASE_SCOPED(graph_rows_release) struct graph_rows own = { 0 };
	struct graph_rows *g = graph ? graph : &own;

	TRY(heap_load_roots(session->heap, err));
	TRY(base_big_alloc(session->work, &list->levels, (uint64_t)session->heap->object_count + 1,
			   "levels of reachability", err));
	TRY(derive_graph_load(session->derive, true, g, err));
	return with_graph(session, list, g, err);
}

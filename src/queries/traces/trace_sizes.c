/*
 * queries/traces/trace_sizes.c - computes the retained sizes of objects in the graph of leak
 * traces.
 *
 * Everything that an object dominates is below it in the tree of shortest paths, so dominators are
 * computed only among the objects below the requested ones. A reference from outside this set
 * counts as a reference from the root, because every object outside the set has a path that passes
 * none of the wanted objects.
 */
#include "base/bits.h"
#include "derive/blocks.h"
#include "derive/native.h"
#include "heap/known.h"
#include "queries/traces/trace_search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 16384u

/* Adds the size of the boxes in an array, assuming that all are as large as the first. */
static int boxes_size(struct heap *heap, const struct heap_object *array, uint64_t *bytes,
		      struct hdb_error *err)
{
	uint64_t id, count = 0, one = 0;
	struct heap_object object;
	struct heap_walk walk;
	uint32_t ix;
	int r;

	heap_walk_begin(&walk, array->ix, 0, array->length);
	while ((r = heap_walk_next(heap, &walk, &id, err)) == HDB_OK) {
		if (id && !count++ && heap_find(heap, id, &ix, err) == HDB_OK) {
			TRY(heap_object(heap, ix, &object, err));
			one = heap_class(heap, object.class_no)->declared_size;
		}
	}
	*bytes += count * one;
	return r < 0 ? r : HDB_OK;
}

static int class_size(struct heap *heap, uint32_t class_no, uint64_t *bytes, struct hdb_error *err)
{
	const uint64_t offset = heap_class(heap, class_no)->file_offset;
	struct hprof_sub sub;

	*bytes = 0;
	if (offset)
		TRY(hprof_sub_read(&heap->dump.file, &heap->dump.view, offset, &sub, err));
	/* the record without its tag */
	if (offset && sub.end > sub.offset)
		*bytes = sub.end - sub.offset - 1;
	return HDB_OK;
}

int trace_recorded_size(struct heap *heap, const struct heap_object *object, uint64_t *bytes,
			struct hdb_error *err)
{
	const struct store_class *class = heap_class(heap, object->class_no);
	struct heap_object value;
	uint32_t ix;

	switch (object->kind) {
	case STORE_CLASS:
		return class_size(heap, (uint32_t)object->length, bytes, err);
	case STORE_OBJECT_ARRAY:
		*bytes = object->length * heap->id_size;
		return trace_is_boxes(heap, object->class_no) ?
			       boxes_size(heap, object, bytes, err) :
			       HDB_OK;
	case STORE_INSTANCE:
		*bytes = class->declared_size +
			 (object->length ? heap_tail_bytes(heap, object->length) : 0);
		if (!heap_is_string(heap, object->ix))
			return HDB_OK;
		TRY_FOUND(heap_path_object(heap, object->ix, "value", &ix, err));
		TRY(heap_object(heap, ix, &value, err));
		if (value.kind == STORE_PRIMITIVE_ARRAY)
			*bytes += value.length *
				  hprof_type_size(heap_class(heap, value.class_no)->element_type,
						  heap->id_size);
		return HDB_OK;
	default:
		*bytes = object->length * hprof_type_size(class->element_type, heap->id_size);
		return HDB_OK;
	}
}

/* ---- dominators of the objects below the requested objects ---- */

/* Adds the wanted objects and all objects below them to the set. */
static int find_below(struct trace_search *s, const uint32_t *wanted, size_t count,
		      struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec stack = { 0 }; /* uint32_t */
	uint32_t targets[GRAPH_ROW_MAX];
	struct graph_long_row row;
	uint64_t done = 0;

	for (size_t i = 0; i < count; i++) {
		if (!base_ranks_has(&s->below, wanted[i]))
			TRY(base_vec_push(&stack, &wanted[i], sizeof(*wanted), err));
		base_ranks_put_alone(&s->below, wanted[i]);
	}
	while (stack.count) {
		const uint32_t ix = *base_vec_at(&stack, uint32_t, --stack.count);
		const unsigned n = graph_rows_get(&s->rows, ix, targets, &row);

		for (uint64_t i = 0; i < n + (row.end - row.at); i++) {
			const uint32_t to =
				i < n ? targets[i] : graph_rows_long(&s->rows, row.at + (i - n));

			if (s->parents[to] != ix || base_ranks_has(&s->below, to))
				continue;
			base_ranks_put_alone(&s->below, to);
			TRY(base_vec_push(&stack, &to, sizeof(to), err));
		}
		if (++done % STEP_OBJECTS == 0)
			TRY(base_step(s->graph->session->work, done, err));
	}
	base_ranks_rank(&s->below);
	return HDB_OK;
}

/* State of the search for objects in the set that objects outside the set refer to. */
struct entering {
	struct trace_search *search;
	struct base_ranks entered;
};

static int mark_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct entering *e = ctx;
	const struct trace_search *s = e->search;
	const uint32_t end = block->objects->first_ix + block->objects->count;
	uint32_t targets[GRAPH_ROW_MAX];
	struct graph_long_row row;

	(void)err;
	for (uint32_t ix = block->objects->first_ix; ix < end; ix++) {
		unsigned n;

		if (s->parents[ix] == ix || base_ranks_has(&s->below, ix))
			continue;
		n = graph_rows_get(&s->rows, ix, targets, &row);
		for (unsigned i = 0; i < n; i++)
			if (base_ranks_has(&s->below, targets[i]))
				base_ranks_put(&e->entered, targets[i]);
		for (uint64_t i = row.at; i < row.end; i++) {
			const uint32_t to = graph_rows_long(&s->rows, i);

			if (base_ranks_has(&s->below, to))
				base_ranks_put(&e->entered, to);
		}
	}
	return HDB_OK;
}

/* Returns the next object of the set from ix on, or HEAP_NONE. */
static uint32_t next_below(const struct trace_search *s, uint32_t ix)
{
	const uint32_t n = s->graph->session->heap->object_count;

	while (ix < n) {
		const uint64_t word = base_ranks_word(&s->below, ix / 64) >> (ix % 64);

		if (word) {
			ix += (uint32_t)__builtin_ctzll(word);
			return ix < n ? ix : HEAP_NONE;
		}
		ix = (ix / 64 + 1) * 64;
	}
	return HEAP_NONE;
}

/* The graph of the objects in the set, by rank, and its roots. */
struct part {
	struct trace_search *search;
	struct graph_rows rows;
	uint64_t *roots;
	struct base_vec targets; /* uint32_t: targets of the current object, as ranks */
	/* the group of rows being packed: lengths of the rows, and position of the next row */
	uint8_t length[GRAPH_GROUP];
	uint8_t *group_end;
	uint8_t group[GRAPH_GROUP * GRAPH_ROW_MAX + GRAPH_ROW_MAX + 8];
};

/* Packs the row of one object into the group. */
static int add_row(struct part *part, uint32_t ix, uint32_t rank, struct hdb_error *err)
{
	struct trace_search *s = part->search;
	struct graph_row out = { .source = rank,
				 .out = part->group_end,
				 .length = &part->length[rank % GRAPH_GROUP] };
	struct graph_long_row row;
	uint32_t targets[GRAPH_ROW_MAX];
	const unsigned n = graph_rows_get(&s->rows, ix, targets, &row);

	assert(rank < s->below.count);
	part->targets.count = 0;
	for (uint64_t i = 0; i < n + (row.end - row.at); i++) {
		uint32_t to = i < n ? targets[i] : graph_rows_long(&s->rows, row.at + (i - n));

		if (!base_ranks_has(&s->below, to))
			continue;
		to = base_ranks_before(&s->below, to);
		TRY(base_vec_push(&part->targets, &to, sizeof(to), err));
	}
	TRY(graph_rows_finish(&part->rows, &out, part->targets.data, part->targets.count, err));
	part->group_end += *out.length & GRAPH_ROW_MAX;
	assert(part->group_end <= part->group + sizeof(part->group));
	return HDB_OK;
}

static int add_rows(struct part *part, struct hdb_error *err)
{
	struct trace_search *s = part->search;
	const uint32_t count = s->below.count;
	uint32_t ix = next_below(s, 0);

	for (uint32_t first = 0; first < count; first += GRAPH_GROUP) {
		memset(part->length, 0, sizeof(part->length));
		part->group_end = part->group;
		for (uint32_t i = 0; i < GRAPH_GROUP && i < count - first; i++) {
			assert(ix != HEAP_NONE);
			TRY(add_row(part, ix, first + i, err));
			ix = next_below(s, ix + 1);
		}
		TRY(graph_rows_put(&part->rows, first / GRAPH_GROUP, part->length, part->group,
				   err));
		if (first % STEP_OBJECTS == 0)
			TRY(base_step(s->graph->session->work, first, err));
		if (first > UINT32_MAX - GRAPH_GROUP)
			break;
	}
	return HDB_OK;
}

/* ---- building the part of the graph ---- */
static void release_entering(struct entering *e)
{
	base_ranks_release(&e->entered);
}

/* Builds the graph of the set, and releases the graph of the whole heap. */
static int make_part(struct part *part, struct hdb_error *err)
{
	struct trace_search *s = part->search;
	const struct session *session = s->graph->session;
	BASE_SCOPED(release_entering) struct entering e = { .search = s };

	TRY(base_ranks_init(&e.entered, session->heap->object_count, session->work,
			    "objects retained by leaks", err));
	TRY(derive_each_block(session->derive,
			      &(struct derive_pass){ .stage = "objects retained by leaks",
						     .make = mark_block,
						     .ctx = &e },
			      err));
	TRY(BASE_ALLOC(part->roots, (size_t)s->below.count / 64 + 1, "objects retained by leaks",
		       err));
	for (uint32_t ix = next_below(s, 0), rank = 0; ix != HEAP_NONE;
	     ix = next_below(s, ix + 1), rank++)
		if (base_bit_has(s->roots, ix) || base_ranks_has(&e.entered, ix))
			base_bit_put(part->roots, rank);
	TRY(graph_rows_init(&part->rows, s->below.count, session->work, err));
	TRY(add_rows(part, err));
	graph_rows_release(&s->rows);
	return HDB_OK;
}

/* A pass over the objects of the set in order of rank. */
struct sizing {
	struct trace_search *search;
	const struct base_vec *native;
	struct heap_block *block; /* contains the current object */
	/* dominator tree numbers of the ranks around the current one */
	uint64_t numbers[GRAPH_NUMBERS_STEP];
};

/* Reads the dominator tree numbers of a rank and its neighbours. */
static int read_numbers(const struct trace_search *s, uint32_t rank, uint64_t *numbers,
			struct hdb_error *err)
{
	const uint32_t first = rank - rank % GRAPH_NUMBERS_STEP;
	const uint32_t left = s->below.count - first;

	assert(rank < s->below.count);
	return graph_dominators_numbers(&s->dominators, first, numbers,
					left < GRAPH_NUMBERS_STEP ? left : GRAPH_NUMBERS_STEP, err);
}

/* Sets the size and count of an object. Returns HDB_ELIMIT if the size needs wide entries. */
static int set_size(struct sizing *z, uint32_t ix, uint32_t rank, struct hdb_error *err)
{
	struct trace_search *s = z->search;
	struct heap *heap = s->graph->session->heap;
	const uint32_t i = ix % STORE_BLOCK_OBJECTS;
	uint64_t bytes, number;

	if (rank % GRAPH_NUMBERS_STEP == 0)
		TRY(read_numbers(s, rank, z->numbers, err));
	if (!rank || i + z->block->first_ix != ix)
		TRY(heap_read_block(heap, ix / STORE_BLOCK_OBJECTS, z->block, err));
	number = z->numbers[rank % GRAPH_NUMBERS_STEP];
	if (!number)
		return HDB_OK;

	const struct heap_object object = {
		.ix = ix,
		.class_no = z->block->class_no[i],
		.kind = z->block->kind[i],
		.length = z->block->length[i],
	};

	assert(number <= s->dominators.count);
	TRY(trace_recorded_size(heap, &object, &bytes, err));
	bytes += derive_native_in(z->native, ix);
	(void)base_sizes_set(&s->counts, (uint32_t)number, 1);
	return base_sizes_set(&s->bytes, (uint32_t)number, bytes) ? HDB_OK : HDB_ELIMIT;
}

static int set_sizes(struct trace_search *s, bool is_wide, const struct base_vec *native,
		     struct hdb_error *err)
{
	struct heap *heap = s->graph->session->heap;
	struct base_work *work = s->graph->session->work;
	const uint64_t n = (uint64_t)s->dominators.count + 1;
	BASE_FREED struct heap_block *block = NULL;
	struct sizing z = { .search = s, .native = native };
	uint32_t rank = 0;
	HEAP_FILTER_SCOPE(heap_show_all, heap);

	base_sizes_release(&s->bytes);
	base_sizes_release(&s->counts);
	TRY(BASE_ALLOC(block, 1, "sizes", err));
	z.block = block;
	TRY(base_sizes_init(&s->bytes, n, is_wide, work, err));
	TRY(base_sizes_init(&s->counts, n, false, work, err));
	for (uint32_t ix = next_below(s, 0); ix != HEAP_NONE; ix = next_below(s, ix + 1)) {
		TRY(set_size(&z, ix, rank++, err));
		if (rank % STEP_OBJECTS == 0)
			TRY(base_step(work, rank, err));
	}
	assert(rank == s->below.count);
	TRY(graph_retained(&s->dominators, &s->bytes, err));
	return graph_retained(&s->dominators, &s->counts, err);
}

static void release_part(struct part *part)
{
	graph_rows_release(&part->rows);
	free(part->roots);
	base_vec_release(&part->targets);
}

int trace_search_sizes(struct trace_search *s, const uint32_t *wanted, size_t count,
		       struct hdb_error *err)
{
	const struct session *session = s->graph->session;
	BASE_SCOPED(release_part) struct part part = { .search = s };
	BASE_SCOPED(base_vec_release) struct base_vec native = { 0 };
	int r;

	TRY(base_ranks_init(&s->below, session->heap->object_count, session->work,
			    "objects retained by leaks", err));
	TRY(find_below(s, wanted, count, err));
	TRY(make_part(&part, err));
	TRY(graph_dominators(&part.rows, part.roots, GRAPH_SEARCH_ANY, &s->dominators, err));
	TRY(derive_native_sizes(session->derive, DERIVE_NATIVE_REGISTERED, &native, err));
	r = set_sizes(s, false, &native, err);
	if (r == HDB_ELIMIT)
		r = set_sizes(s, true, &native, err);
	s->has_sizes = r == HDB_OK;
	return r;
}

int trace_search_retained(const struct trace_search *s, uint32_t ix, uint64_t *bytes,
			  uint64_t *objects, struct hdb_error *err)
{
	uint64_t numbers[GRAPH_NUMBERS_STEP], number;
	uint32_t rank;

	*bytes = *objects = 0;
	if (!s->has_sizes || !base_ranks_has(&s->below, ix))
		return HDB_OK;
	rank = base_ranks_before(&s->below, ix);
	TRY(read_numbers(s, rank, numbers, err));
	number = numbers[rank % GRAPH_NUMBERS_STEP];
	if (number) {
		*bytes = base_sizes_get(&s->bytes, (uint32_t)number);
		*objects = base_sizes_get(&s->counts, (uint32_t)number);
	}
	return HDB_OK;
}

/* derive/dominators/top_notes.c - see top_notes.h. */
#include "derive/dominators/top_notes.h"

#include "base/pipeline.h"
#include "graph/size_order.h"

#include <assert.h>
#include <stdlib.h>

/* Notes take this part of the room in memory at most. */
#define ROOM_PART 4u

/* Threads that sort at once: each counts all small sizes. */
#define PARTS_MAX 16u

static_assert(STORE_BLOCK_OBJECTS % 64 == 0, "a block's bits are its own");

static uint32_t block_count(const struct derive_top_notes *notes)
{
	return (notes->object_count + STORE_BLOCK_OBJECTS - 1) / STORE_BLOCK_OBJECTS;
}

int derive_top_begin(struct derive_top_notes *notes, const struct derive *derive,
		     struct hdb_error *err)
{
	int r;

	assert(!notes->bits);
	notes->work = derive->work;
	notes->object_count = derive->heap->object_count;
	notes->first = calloc((size_t)block_count(notes) + 1, sizeof(*notes->first));
	if (!notes->first)
		return hdb_fail_memory(err, "the top level", block_count(notes) * 8ull);
	r = base_big_alloc(notes->work, &notes->bits_big,
			   ((uint64_t)notes->object_count / 64 + 1) * sizeof(*notes->bits),
			   "the top level", err);
	notes->bits = notes->bits_big.data;
	return r;
}

void derive_top_release(struct derive_top_notes *notes)
{
	if (!notes->work)
		return;
	base_big_free(notes->work, &notes->bits_big);
	base_big_free(notes->work, &notes->units_big);
	free(notes->first);
	*notes = (struct derive_top_notes){ 0 };
}

void derive_top_mark(struct derive_top_notes *notes, const struct derive_block *block)
{
	const uint32_t count = block->objects->count;
	uint64_t *word = &notes->bits[block->objects->first_ix / 64];
	uint64_t sum = 0;

	assert(block->objects->first_ix % STORE_BLOCK_OBJECTS == 0);
	for (uint32_t start = 0; start < count; start += 64, word++) {
		const uint32_t n = count - start < 64 ? count - start : 64;
		uint64_t bits = 0;

		for (uint32_t i = 0; i < n; i++)
			bits |= (uint64_t)derive_tree_is_top(block->values[start + i]) << i;
		*word = bits;
		sum += count_bits(bits);
	}
	notes->first[block->block_no + 1] = sum;
}

int derive_top_marked(struct derive_top_notes *notes, struct hdb_error *err)
{
	const uint32_t blocks = block_count(notes);
	uint64_t size;
	int r;

	for (uint32_t b = 0; b < blocks; b++) {
		notes->count += notes->first[b + 1];
		/* One more: what is written there does not always count. */
		notes->first[b + 1] += notes->first[b] + 1;
	}
	size = notes->first[blocks] * sizeof(*notes->units);
	if (size > base_work_room(notes->work) / ROOM_PART)
		return HDB_OK;
	r = base_big_alloc_raw(notes->work, &notes->units_big, size, "the top level", err);
	notes->units = notes->units_big.data;
	return r;
}

void derive_top_set(struct derive_top_notes *notes, const struct heap_block *objects,
		    const uint64_t *units)
{
	const uint64_t *word = notes->bits + objects->first_ix / 64;
	uint64_t all = 0;
	uint32_t *next;

	if (!notes->units)
		return;
	next = notes->units + notes->first[objects->first_ix / STORE_BLOCK_OBJECTS];
	for (uint32_t i = 0; i < objects->count; i++) {
		const bool is_top = word[i / 64] >> (i % 64) & 1;

		*next = (uint32_t)units[i];
		next += is_top;
		all |= is_top ? units[i] : 0;
	}
	if (all > UINT32_MAX)
		atomic_store(&notes->is_too_big, true);
}

int derive_top_keep(struct derive_top_notes *notes, struct derive *derive, struct hdb_error *err)
{
	derive_top_drop(derive);
	if (!notes->units || atomic_load(&notes->is_too_big))
		return HDB_OK;
	derive->top_notes = malloc(sizeof(*derive->top_notes));
	if (!derive->top_notes)
		return hdb_fail_memory(err, "the top level", sizeof(*derive->top_notes));
	*derive->top_notes = *notes;
	*notes = (struct derive_top_notes){ 0 };
	return HDB_OK;
}

void derive_top_drop(struct derive *derive)
{
	if (derive->top_notes)
		derive_top_release(derive->top_notes);
	free(derive->top_notes);
	derive->top_notes = NULL;
}

/* ---- sorting ---- */

struct sorting {
	const struct derive_top_notes *notes;
	unsigned part_count;                      /* of the blocks, one after the other */
	struct graph_size_order order[PARTS_MAX]; /* by part */
	uint32_t *node;                           /* NULL: they are counted first */
};

/* Counts those of the 64 objects from first_ix on, or places them; `units` are their sizes. */
static int take_word(struct sorting *s, unsigned no, uint32_t first_ix, const uint32_t *units,
		     struct hdb_error *err)
{
	struct graph_size_order *order = &s->order[no];
	int r = HDB_OK;

	for (uint64_t bits = s->notes->bits[first_ix / 64]; bits && r == HDB_OK;
	     bits &= bits - 1, units++) {
		const uint32_t ix = first_ix + (unsigned)__builtin_ctzll(bits);

		if (s->node)
			graph_size_order_place(order, s->node, ix, *units);
		else
			r = graph_size_order_count(order, ix, *units, err);
	}
	return r;
}

static int take_part(void *ctx, unsigned no, struct hdb_error *err)
{
	struct sorting *s = ctx;
	const struct derive_top_notes *notes = s->notes;
	const uint64_t blocks = block_count(notes), end = blocks * (no + 1) / s->part_count;
	int r = s->node ? HDB_OK : graph_size_order_init(&s->order[no], err);

	for (uint64_t b = blocks * no / s->part_count; b < end; b++) {
		const uint32_t *units = notes->units + notes->first[b];
		const uint64_t first = b * STORE_BLOCK_OBJECTS;
		const uint64_t left = notes->object_count - first;
		const uint64_t last =
			first + (left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS);

		for (uint64_t ix = first; ix < last && r == HDB_OK; ix += 64) {
			r = take_word(s, no, (uint32_t)ix, units, err);
			units += count_bits(notes->bits[ix / 64]);
		}
	}
	return r;
}

int derive_top_sort(const struct derive_top_notes *notes, struct base_big *nodes,
		    struct hdb_error *err)
{
	const unsigned threads = notes->work->threads;
	struct sorting s = { .notes = notes,
			     .part_count = threads < PARTS_MAX ? threads : PARTS_MAX };
	int r;

	assert(notes->units);
	r = base_pipeline_parts(s.part_count, &s, take_part, err);
	for (unsigned no = 0; no < s.part_count && r == HDB_OK; no++)
		if (graph_size_order_is_full(&s.order[no]))
			r = HDB_NOTFOUND;
	if (r != HDB_OK)
		goto out;
	r = base_big_alloc_raw(notes->work, nodes, (notes->count + 1) * sizeof(*s.node),
			       "the top level", err);
	if (r != HDB_OK)
		goto out;
	r = graph_size_orders_start(s.order, s.part_count, nodes->data, (uint32_t)notes->count,
				    err);
	if (r != HDB_OK)
		goto out;
	s.node = nodes->data;
	r = base_pipeline_parts(s.part_count, &s, take_part, err);
out:
	for (unsigned no = 0; no < s.part_count; no++)
		graph_size_order_release(&s.order[no]);
	return r;
}

/* derive/top_notes.c - see top_notes.h. */
#include "derive/top_notes.h"

#include "base/pipeline.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Sizes that are counted; few objects are larger, and those are sorted. */
#define SMALL_SIZES 65536u

/* Notes take this part of the room in memory at most. */
#define ROOM_PART 4u

/* Larger ones that are sorted: of heaps there are some thousand. */
#define LARGE_MAX ((size_t)1 << 16)

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

void derive_top_add(struct derive_top_notes *notes, const struct heap_block *objects,
		    const uint64_t *units)
{
	const uint64_t *word = notes->bits + objects->first_ix / 64;
	uint32_t *next;

	if (!notes->units)
		return;
	next = notes->units + notes->first[objects->first_ix / STORE_BLOCK_OBJECTS];
	for (uint32_t start = 0; start < objects->count; start += 64, word++) {
		for (uint64_t bits = *word; bits; bits &= bits - 1, next++) {
			const uint64_t sum = *next + units[start + (unsigned)__builtin_ctzll(bits)];

			*next = (uint32_t)sum;
			if (sum > UINT32_MAX)
				atomic_store(&notes->is_too_big, true);
		}
	}
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

/* ---- sorting: by counting sizes ---- */

/* Some of the blocks, one after the other. */
struct part {
	uint32_t first, end;   /* blocks */
	uint32_t *size_count;  /* by size: how many have it, then where the next one goes */
	struct base_vec large; /* struct base_sort_key: objects with larger sizes */
};

struct sorting {
	const struct derive_top_notes *notes;
	uint32_t *node;
	unsigned part_count;
	struct part part[PARTS_MAX];
};

static int count_sizes(void *ctx, unsigned no, struct hdb_error *err)
{
	struct sorting *s = ctx;
	const struct derive_top_notes *notes = s->notes;
	struct part *part = &s->part[no];

	part->size_count = calloc(SMALL_SIZES, sizeof(*part->size_count));
	if (!part->size_count)
		return hdb_fail_memory(err, "the top level", SMALL_SIZES * 4ull);
	for (uint32_t b = part->first; b < part->end; b++) {
		const uint32_t *units = notes->units + notes->first[b];
		const uint64_t count = notes->first[b + 1] - 1 - notes->first[b];

		for (uint64_t i = 0; i < count; i++)
			if (units[i] < SMALL_SIZES)
				part->size_count[units[i]]++;
	}
	return HDB_OK;
}

/* Where each part's objects of each size go: behind those with larger ones, which come later. */
static void start_places(struct sorting *s)
{
	uint32_t sum = (uint32_t)s->notes->count;

	for (uint32_t size = 0; size < SMALL_SIZES; size++) {
		for (unsigned no = s->part_count; no-- > 0;) {
			sum -= s->part[no].size_count[size];
			s->part[no].size_count[size] = sum;
		}
	}
}

static int add_large(struct part *part, const struct base_sort_key *key, struct hdb_error *err)
{
	if (part->large.count == LARGE_MAX)
		return HDB_NOTFOUND;
	return base_vec_push(&part->large, key, sizeof(*key), err);
}

/* Puts objects there, in order of index. */
static int place(void *ctx, unsigned no, struct hdb_error *err)
{
	struct sorting *s = ctx;
	const struct derive_top_notes *notes = s->notes;
	struct part *part = &s->part[no];
	int r;

	for (uint32_t b = part->first; b < part->end; b++) {
		const uint64_t *word = notes->bits + (size_t)b * (STORE_BLOCK_OBJECTS / 64);
		const uint32_t *units = notes->units + notes->first[b];
		const uint32_t first_ix = b * STORE_BLOCK_OBJECTS;
		const uint32_t left = notes->object_count - first_ix;
		const uint32_t count = left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS;

		for (uint32_t start = 0; start < count; start += 64, word++) {
			for (uint64_t bits = *word; bits; bits &= bits - 1, units++) {
				const struct base_sort_key key = {
					.key = ~(uint64_t)*units,
					.node = first_ix + start + (unsigned)__builtin_ctzll(bits),
				};

				if (*units < SMALL_SIZES)
					s->node[part->size_count[*units]++] = key.node;
				else if ((r = add_large(part, &key, err)) != HDB_OK)
					return r;
			}
		}
	}
	return HDB_OK;
}

/* Those with larger sizes, of all parts, go first. */
static int place_large(struct sorting *s, struct hdb_error *err)
{
	struct base_vec *all = &s->part[0].large;
	struct base_sort_key *keys;
	size_t count;
	int r;

	for (unsigned no = 1; no < s->part_count; no++) {
		const struct base_vec *more = &s->part[no].large;

		r = base_vec_reserve(all, more->count, sizeof(*keys), err);
		if (r != HDB_OK)
			return r;
		if (more->count)
			memcpy(base_vec_at(all, struct base_sort_key, all->count), more->data,
			       more->count * sizeof(*keys));
		all->count += more->count;
	}
	count = all->count;
	if (count == 0)
		return HDB_OK;
	if ((r = base_vec_reserve(all, count, sizeof(*keys), err)) != HDB_OK)
		return r;
	keys = all->data;
	base_sort_keys(keys, keys + count, count);
	for (size_t i = 0; i < count; i++)
		s->node[i] = keys[i].node;
	return HDB_OK;
}

int derive_top_sort(const struct derive_top_notes *notes, struct base_big *nodes,
		    struct hdb_error *err)
{
	const unsigned threads = notes->work->threads;
	struct sorting s = { .notes = notes,
			     .part_count = threads < PARTS_MAX ? threads : PARTS_MAX };
	const uint64_t blocks = block_count(notes);
	int r;

	assert(notes->units);
	for (unsigned no = 0; no < s.part_count; no++) {
		s.part[no].first = (uint32_t)(blocks * no / s.part_count);
		s.part[no].end = (uint32_t)(blocks * (no + 1) / s.part_count);
	}
	r = base_big_alloc_raw(notes->work, nodes, (notes->count + 1) * sizeof(*s.node),
			       "the top level", err);
	if (r != HDB_OK)
		goto out;
	s.node = nodes->data;
	if ((r = base_pipeline_parts(s.part_count, &s, count_sizes, err)) != HDB_OK)
		goto out;
	start_places(&s);
	if ((r = base_pipeline_parts(s.part_count, &s, place, err)) != HDB_OK)
		goto out;
	r = place_large(&s, err);
out:
	for (unsigned no = 0; no < s.part_count; no++) {
		free(s.part[no].size_count);
		base_vec_release(&s.part[no].large);
	}
	return r;
}

/*
 * import/idset.c - the set of object IDs.
 *
 * Dense form: one bit for each possible address, in chunks that cover a region of the address
 * space. Each word of bits is stored together with the number of IDs before the word. The index of
 * an ID is this number plus the number of set bits below the ID's own bit, so a lookup takes one
 * cache miss. Heaps are so dense that this form takes 1 to 2 bytes per object, a quarter of a
 * sorted array. Sparse form (idset_sorted.c): a sorted array, for dumps with scattered IDs,
 * including hostile ones.
 */
#include "import/idset_bits.h"

#include "base/prefetch.h"
#include "base/processor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The set becomes sparse when dense chunks take more than DENSE_FREE_BYTES plus DENSE_BYTES_PER_ID
 * for each ID, which is twice the size of a sorted array. The chosen form therefore never takes
 * much more memory than the other form would.
 */
#define DENSE_FREE_BYTES (16u << 20)
#define DENSE_BYTES_PER_ID 16
/*
 * Maximum number of entries in the table of regions: TABLE_MAX, or TABLE_PER_CHUNK per chunk if
 * that number is larger.
 */
#define TABLE_MAX (1u << 20)
#define TABLE_PER_CHUNK 8
/* Number of words per page of 4 KiB. Writing every PAGE_WORDS-th word touches each page. */
#define PAGE_WORDS (4096 / sizeof(struct idset_word))

void import_idset_init(struct idset *set)
{
	memset(set, 0, sizeof(*set));
	set->shift = 3;
}

static size_t slab_chunks(size_t no)
{
	return no ? IDSET_SLAB_CHUNKS : IDSET_FIRST_SLAB_CHUNKS;
}

/*
 * Takes a zeroed chunk from the last slab or, if the last slab is full, from a new slab. Returns
 * NULL if memory is exhausted.
 */
static struct idset_chunk *take_chunk(struct idset *set)
{
	if (!set->slab_count || set->slab_used == slab_chunks(set->slab_count - 1)) {
		const size_t size = slab_chunks(set->slab_count) * sizeof(struct idset_chunk);
		void **grown = realloc(set->slabs, (set->slab_count + 1) * sizeof(void *));
		void *slab;

		if (!grown)
			return NULL;
		set->slabs = grown;
		slab = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (slab == MAP_FAILED)
			return NULL;
		if (set->slab_count)
			(void)madvise(slab, size, MADV_HUGEPAGE);
		set->slabs[set->slab_count++] = slab;
		set->slab_used = 0;
	}
	return (struct idset_chunk *)set->slabs[set->slab_count - 1] + set->slab_used++;
}

/*
 * Writes to each page of a zeroed chunk. If a page were read first, the system would map the shared
 * zero page. Replacing that page at the first write would interrupt all processors that run our
 * threads.
 */
static void make_pages(struct idset_chunk *chunk)
{
	for (size_t w = 0; w < IDSET_CHUNK_WORDS; w += PAGE_WORDS)
		chunk->words[w].first_ix = 0;
	chunk->words[IDSET_CHUNK_WORDS - 1].first_ix = 0;
}

static void release_chunks(struct idset *set)
{
	for (size_t i = 0; i < set->slab_count; i++)
		(void)munmap(set->slabs[i], slab_chunks(i) * sizeof(struct idset_chunk));
	free(set->slabs);
	set->slabs = NULL;
	set->slab_count = set->slab_used = 0;
	free(set->chunks);
	free(set->table);
	base_idmap_release(&set->regions);
	set->chunks = NULL;
	set->table = NULL;
	set->last = NULL;
	set->chunk_count = set->chunk_capacity = 0;
}

void import_idset_release(struct idset *set)
{
	release_chunks(set);
	import_idset_sorted_release(&set->sorted);
}

/* Calls `add` with every ID of the dense form. The IDs within a chunk are in ascending order. */
static int each_dense(const struct idset *set,
		      int (*add)(void *ctx, uint64_t id, struct hdb_error *err), void *ctx,
		      struct hdb_error *err)
{
	for (size_t c = 0; c < set->chunk_count; c++) {
		const struct idset_chunk *chunk = set->chunks[c];

		for (unsigned w = 0; w < IDSET_CHUNK_WORDS; w++) {
			for (uint64_t bits = bits_of(&chunk->words[w]); bits; bits &= bits - 1) {
				const uint64_t unit = chunk->region << IDSET_CHUNK_BITS | w * 64 |
						      (unsigned)__builtin_ctzll(bits);
				TRY_ERRORS(add(ctx, unit << set->shift, err));
			}
		}
	}
	return HDB_OK;
}

static int push_id(void *ctx, uint64_t id, struct hdb_error *err)
{
	return base_vec_push(ctx, &id, sizeof(id), err);
}

/* Converts the set to the sparse form. A finished set stays finished. */
static int turn_sparse(struct idset *set, struct hdb_error *err)
{
	uint64_t none;

	assert(!set->is_sparse);
	assert(!set->sorted.ids.count);
	TRY(each_dense(set, push_id, &set->sorted.ids, err));
	release_chunks(set);
	set->is_sparse = true;
	return set->is_finished ? import_idset_sorted_finish(&set->sorted, &none, err) : HDB_OK;
}

static int add_again(void *ctx, uint64_t id, struct hdb_error *err)
{
	return import_idset_add(ctx, id, err);
}

/*
 * Rebuilds the set with smaller units. Called for an ID with fewer low zero bits than all previous
 * IDs.
 */
static int lower_shift(struct idset *set, uint64_t id, struct hdb_error *err)
{
	struct idset finer;
	int r;

	assert(id & ((1u << set->shift) - 1));
	import_idset_init(&finer);
	finer.shift = (unsigned)__builtin_ctzll(id);
	assert(finer.shift < set->shift);
	r = each_dense(set, add_again, &finer, err);
	import_idset_release(set);
	*set = finer;
	return r;
}

static int new_chunk(struct idset *set, uint64_t region, struct hdb_error *err)
{
	struct idset_chunk *chunk;

	assert(!set->is_sparse);
	if (set->chunk_count == set->chunk_capacity) {
		const size_t capacity = set->chunk_capacity ? set->chunk_capacity * 2 : 64;
		void *grown = realloc(set->chunks, capacity * sizeof(struct idset_chunk *));

		if (!grown)
			return hdb_fail_memory(err, "the identifier set", capacity * 8);
		set->chunks = grown;
		set->chunk_capacity = capacity;
	}
	chunk = take_chunk(set);
	if (!chunk)
		return hdb_fail_memory(err, "the identifier set", sizeof(*chunk));
	chunk->region = region;
	make_pages(chunk);
	TRY(base_idmap_put(&set->regions, region, (uint32_t)set->chunk_count, err));
	set->chunks[set->chunk_count++] = chunk;
	set->last = chunk;
	return HDB_OK;
}

/*
 * Sets set->last to the chunk of `region`. Creates the chunk if necessary. May convert the set to
 * the sparse form.
 */
static int find_chunk(struct idset *set, uint64_t region, struct hdb_error *err)
{
	const uint32_t no = base_idmap_get(&set->regions, region);

	if (no != BASE_IDMAP_NONE) {
		set->last = set->chunks[no];
		return HDB_OK;
	}
	if (set->chunk_count * sizeof(struct idset_chunk) >
	    DENSE_FREE_BYTES + set->count * DENSE_BYTES_PER_ID)
		return turn_sparse(set, err);
	return new_chunk(set, region, err);
}

/*
 * Adds an ID. Consecutive IDs are usually in the same region, so the last chunk is tried first. If
 * the ID is not a multiple of the unit, the whole set is converted to a smaller unit.
 */
int import_idset_add(struct idset *set, uint64_t id, struct hdb_error *err)
{
	uint64_t unit, region;

	if (!set->is_sparse && id & ((1u << set->shift) - 1)) {
		TRY(lower_shift(set, id, err));
	}
	unit = id >> set->shift;
	region = unit >> IDSET_CHUNK_BITS;
	if (!set->is_sparse && (!set->last || set->last->region != region)) {
		TRY(find_chunk(set, region, err));
	}
	if (set->is_sparse) {
		set->count++;
		return base_vec_push(&set->sorted.ids, &id, sizeof(id), err);
	}
	assert(set->last && set->last->region == region);
	if (set_bit(word_of(set->last, unit), unit))
		return HDB_END;
	set->count++;
	return HDB_OK;
}

/*
 * Converts an ID to units. If the ID is not a multiple of the unit, its low bits become the highest
 * bits, so that the result is in a region that has no chunk.
 */
static inline uint64_t unit_and_rest(uint64_t id, const unsigned shift)
{
	return shift ? id >> shift | id << (64 - shift) : id;
}

/*
 * Adds IDs up to the first ID that is outside the chunk or already in the set. In the common case,
 * the shift is a constant, which makes the loop faster.
 */
static inline __attribute__((always_inline)) size_t add_to(struct idset_chunk *chunk,
							   const uint64_t *ids, size_t count,
							   const unsigned shift)
{
	const uint64_t region = chunk->region;
	size_t i;

	for (i = 0; i < count; i++) {
		const uint64_t unit = unit_and_rest(ids[i], shift);

		if (unit >> IDSET_CHUNK_BITS != region || set_bit(word_of(chunk, unit), unit))
			break;
	}
	return i;
}

/*
 * Adds the leading IDs that belong to the most recently used chunk and are new. Returns their
 * number.
 */
static size_t add_near(struct idset *set, const uint64_t *ids, size_t count)
{
	/* Nearly all heaps align objects to 8 bytes. */
	const size_t added = set->shift == 3 ? add_to(set->last, ids, count, 3) :
					       add_to(set->last, ids, count, set->shift);

	set->count += added;
	return added;
}

int import_idset_add_many(struct idset *set, const uint64_t *ids, size_t count, size_t *added,
			  struct hdb_error *err)
{
	size_t i = 0;
	int r = HDB_OK;

	for (; i < count; i++) {
		/* Most IDs are close to the previous one. */
		if (set->last)
			i += add_near(set, ids + i, count - i);
		if (i < count)
			r = import_idset_add(set, ids[i], err);
		if (r != HDB_OK)
			break;
	}
	*added = i < count ? i : count;
	return r;
}

/* Removes the IDs that import_idset_add_many added before it found a duplicate. */
void import_idset_remove(struct idset *set, const uint64_t *ids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint64_t unit = ids[i] >> set->shift;
		const uint32_t no = base_idmap_get(&set->regions, unit >> IDSET_CHUNK_BITS);

		assert(no != BASE_IDMAP_NONE); /* the previous IDs were added */
		clear_bit(word_of(set->chunks[no], unit), unit);
		set->count--;
	}
}

static int compare_chunks(const void *a, const void *b)
{
	const uint64_t x = (*(struct idset_chunk *const *)a)->region;
	const uint64_t y = (*(struct idset_chunk *const *)b)->region;

	return x < y ? -1 : x > y;
}

/*
 * Builds a direct table of regions if the regions are close together. Otherwise, lookups use the
 * hash map.
 */
static int build_table(struct idset *set, struct hdb_error *err)
{
	uint64_t span;

	free(set->table);
	set->table = NULL;
	set->table_count = 0;
	if (!set->chunk_count)
		return HDB_OK;
	/*
	 * Region 0 contains the boot loader's placeholder and invented classes. It is excluded
	 * because it would enlarge the span.
	 */
	set->first_region = set->chunks[set->chunk_count > 1 && !set->chunks[0]->region]->region;
	assert(set->chunks[set->chunk_count - 1]->region >= set->first_region);
	span = set->chunks[set->chunk_count - 1]->region - set->first_region + 1;
	if (span > TABLE_MAX && span > TABLE_PER_CHUNK * (uint64_t)set->chunk_count)
		return HDB_OK;
	TRY(BASE_ALLOC(set->table, span, "the identifier set", err));
	set->table_count = span;
	for (size_t c = 0; c < set->chunk_count; c++)
		if (set->chunks[c]->region >= set->first_region)
			set->table[set->chunks[c]->region - set->first_region] = set->chunks[c];
	return HDB_OK;
}

int import_idset_finish(struct idset *set, uint64_t *duplicates, struct hdb_error *err)
{
	uint64_t ix = 0;

	*duplicates = 0;
	if (set->is_sparse) {
		TRY(import_idset_sorted_finish(&set->sorted, duplicates, err));
		set->count = set->sorted.ids.count;
	} else if (set->chunk_count) {
		qsort(set->chunks, set->chunk_count, sizeof(*set->chunks), compare_chunks);
	}
	if (set->count >= UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT,
				"too many objects: %" PRIu64 " (limit %" PRIu32 ")", set->count,
				UINT32_MAX - 1);
	for (size_t c = 0; c < set->chunk_count; c++) {
		struct idset_chunk *chunk = set->chunks[c];

		chunk->first_ix = (uint32_t)ix;
		for (unsigned w = 0; w < IDSET_CHUNK_WORDS; w++) {
			chunk->words[w].first_ix = (uint32_t)ix;
			ix += count_bits(bits_of(&chunk->words[w]));
		}
		TRY(base_idmap_put(&set->regions, chunk->region, (uint32_t)c, err));
	}
	if (!set->is_sparse)
		TRY(build_table(set, err));
	assert(set->is_sparse || ix == set->count);
	set->last = NULL;
	set->is_finished = true;
	return HDB_OK;
}

/* Finds the chunk of a region that is not in the table. Returns NULL if there is no such chunk. */
static const struct idset_chunk *far_chunk(const struct idset *set, uint64_t region)
{
	uint32_t no;

	if (set->table && region >= set->first_region)
		return NULL;
	no = base_idmap_get(&set->regions, region);
	return no == BASE_IDMAP_NONE ? NULL : set->chunks[no];
}

static inline const struct idset_chunk *chunk_of(const struct idset *set, uint64_t region)
{
	return region - set->first_region < set->table_count ?
		       set->table[region - set->first_region] :
		       far_chunk(set, region);
}

/*
 * Returns whether an ID is in the set. The words of an unfinished set have no counts, so only the
 * bit is tested.
 */
bool import_idset_has(const struct idset *set, uint64_t id)
{
	const uint64_t unit = id >> set->shift;

	if (set->is_sparse && !set->is_finished) {
		for (size_t i = 0; i < set->sorted.ids.count; i++)
			if (*base_vec_at(&set->sorted.ids, uint64_t, i) == id)
				return true;
		return false;
	}
	if (!set->is_sparse && !set->is_finished) {
		const uint32_t no = base_idmap_get(&set->regions, unit >> IDSET_CHUNK_BITS);

		return no != BASE_IDMAP_NONE && !(id & ((1u << set->shift) - 1)) &&
		       has_bit(set->chunks[no], unit);
	}
	return import_idset_find(set, id) != IDSET_NONE;
}

/*
 * Finds the index of an ID, which is the number of smaller IDs: the count stored with its word,
 * plus the number of set bits below its own bit.
 */
static inline uint32_t find_in_chunk(const struct idset_chunk *chunk, uint64_t unit)
{
	const struct idset_word *word = &chunk->words[(unit >> 6) & (IDSET_CHUNK_WORDS - 1)];
	const uint64_t bits = bits_of(word);
	const uint64_t mask = (uint64_t)1 << (unit & 63);

	if (!(bits & mask))
		return IDSET_NONE;
	return word->first_ix + count_bits(bits & (mask - 1));
}

/* Finds the index of an ID. An ID that is not a multiple of the unit cannot be in the set. */
uint32_t import_idset_find(const struct idset *set, uint64_t id)
{
	const uint64_t unit = id >> set->shift;
	const struct idset_chunk *chunk;

	assert(set->is_finished);
	if (set->is_sparse)
		return import_idset_sorted_find(&set->sorted, id);
	if (id & ((1u << set->shift) - 1))
		return IDSET_NONE;
	chunk = chunk_of(set, unit >> IDSET_CHUNK_BITS);
	return chunk ? find_in_chunk(chunk, unit) : IDSET_NONE;
}

static size_t find_sparse(const struct idset *set, const uint64_t *ids, size_t count, uint32_t *out)
{
	size_t found = 0;

	import_idset_sorted_find_many(&set->sorted, ids, count, out);
	for (size_t i = 0; i < count; i++)
		found += out[i] != IDSET_NONE;
	return found;
}

/*
 * Returns the word of an ID that is not a multiple of the unit or whose region is not in the table.
 * Returns an empty word if the ID cannot be in the set.
 */
static const struct idset_word *far_word(const struct idset *set, uint64_t id)
{
	static const struct idset_word none;
	const uint64_t unit = id >> set->shift;
	const struct idset_chunk *chunk = chunk_of(set, unit >> IDSET_CHUNK_BITS);

	return chunk && unit << set->shift == id ?
		       &chunk->words[(unit >> 6) & (IDSET_CHUNK_WORDS - 1)] :
		       &none;
}

/*
 * Prefetches the words of IDs. For IDs in the table, there are no branches: the address of a word
 * is computed without reading memory, and the word is prefetched.
 */
static inline __attribute__((always_inline)) void ask(const struct idset *set, const uint64_t *ids,
						      struct idset_lookup *lookup,
						      const unsigned shift)
{
	const uint64_t table_count = set->table_count, first = set->first_region;
	struct idset_chunk *const *table = set->table;
	const size_t count = lookup->count;

	for (size_t i = 0; i < count; i++) {
		const uint64_t unit = unit_and_rest(ids[i], shift);
		const uint64_t place = (unit >> IDSET_CHUNK_BITS) - first;
		const struct idset_word *word;

		if (place < table_count && table[place])
			word = &table[place]->words[(unit >> 6) & (IDSET_CHUNK_WORDS - 1)];
		else
			word = far_word(set, ids[i]);
		lookup->words[i] = word;
		/* A word has 12 bytes and may cross a cache line. */
		prefetch_read(word);
		prefetch_read((const char *)word + sizeof(*word) - 1);
	}
}

/*
 * First half of a batched lookup: computes the addresses of the words and prefetches them, so that
 * the cache misses of a batch overlap.
 */
void import_idset_prefetch(const struct idset *set, const uint64_t *ids, size_t count,
			   struct idset_lookup *lookup)
{
	assert(set->is_finished);
	assert(count <= IDSET_BATCH);
	lookup->count = count;
	if (set->is_sparse)
		return;
	/* Nearly all heaps align objects to 8 bytes. */
	if (set->shift == 3)
		ask(set, ids, lookup, 3);
	else
		ask(set, ids, lookup, set->shift);
}

/*
 * Computes the indexes of a batch. has_instruction states that the processor can count bits with a
 * single instruction.
 */
static inline __attribute__((always_inline)) size_t answer(const struct idset *set,
							   const uint64_t *ids,
							   const struct idset_lookup *lookup,
							   uint32_t *out,
							   const bool has_instruction)
{
	const unsigned shift = set->shift;
	size_t found = 0;

	for (size_t i = 0; i < lookup->count; i++) {
		const struct idset_word *word = lookup->words[i];
		const uint64_t bits = bits_of(word);
		const unsigned at = ids[i] >> shift & 63;
		const uint64_t below = bits & (((uint64_t)1 << at) - 1);
		const uint32_t has = bits >> at & 1;
		const uint32_t ix =
			word->first_ix + (has_instruction ? (uint32_t)__builtin_popcountll(below) :
							    count_bits(below));

		found += has;
		out[i] = ix | (has - 1); /* IDSET_NONE is all ones */
	}
	return found;
}

#ifdef __x86_64__
__attribute__((target("popcnt,bmi,bmi2"))) static size_t answer_bmi2(
	const struct idset *set, const uint64_t *ids, const struct idset_lookup *lookup,
	uint32_t *out)
{
	return answer(set, ids, lookup, out, true);
}
#endif

/*
 * Second half of a batched lookup: reads the words. The variant for newer processors counts bits
 * with a single instruction.
 */
size_t import_idset_find_prefetched(const struct idset *set, const uint64_t *ids,
				    const struct idset_lookup *lookup, uint32_t *out)
{
	if (set->is_sparse)
		return find_sparse(set, ids, lookup->count, out);
#ifdef __x86_64__
	if (processor_has_bits())
		return answer_bmi2(set, ids, lookup, out);
#endif
	return answer(set, ids, lookup, out, false);
}

size_t import_idset_find_many(const struct idset *set, const uint64_t *ids, size_t count,
			      uint32_t *out)
{
	struct idset_lookup lookup;
	size_t found = 0;

	if (set->is_sparse)
		return find_sparse(set, ids, count, out);
	for (size_t i = 0; i < count; i += IDSET_BATCH) {
		const size_t n = count - i < IDSET_BATCH ? count - i : IDSET_BATCH;

		import_idset_prefetch(set, ids + i, n, &lookup);
		found += import_idset_find_prefetched(set, ids + i, &lookup, out + i);
	}
	return found;
}

/* Finds the chunk that contains index ix. */
static size_t chunk_at(const struct idset *set, uint32_t ix)
{
	size_t low = 0, high = set->chunk_count;

	while (high - low > 1) {
		const size_t mid = low + (high - low) / 2;

		if (set->chunks[mid]->first_ix <= ix)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/*
 * Writes the IDs of the set bits of a word. The first unit of the word is `unit`. Returns the end
 * of the output.
 */
static uint64_t *put_ids(uint64_t *out, uint64_t bits, uint64_t unit, unsigned shift)
{
	for (; bits; bits &= bits - 1)
		*out++ = (unit | (unsigned)__builtin_ctzll(bits)) << shift;
	return out;
}

/*
 * Writes at most *count IDs of one chunk, beginning with index first_ix. Subtracts their number
 * from *count and returns the end of the output.
 */
static uint64_t *scan_chunk(const struct idset *set, const struct idset_chunk *chunk,
			    uint32_t first_ix, uint32_t *count, uint64_t *out)
{
	for (unsigned w = 0; w < IDSET_CHUNK_WORDS && *count; w++) {
		const uint64_t unit = chunk->region << IDSET_CHUNK_BITS | w * 64;
		uint64_t bits = bits_of(&chunk->words[w]);
		uint32_t ix = chunk->words[w].first_ix, n = count_bits(bits);

		if (ix < first_ix && ix + n <= first_ix)
			continue;
		for (; ix < first_ix; ix++, n--)
			bits &= bits - 1;
		for (; n > *count; n--)
			bits &= ~((uint64_t)1 << 63 >> __builtin_clzll(bits));
		*count -= n;
		out = put_ids(out, bits, unit, set->shift);
	}
	return out;
}

void import_idset_scan(const struct idset *set, uint32_t first_ix, uint32_t count, uint64_t *out)
{
	assert(set->is_finished);
	assert(count <= set->count - first_ix);
	if (set->is_sparse) {
		memcpy(out, base_vec_at(&set->sorted.ids, uint64_t, first_ix), (size_t)count * 8);
		return;
	}
	for (size_t c = chunk_at(set, first_ix); count && c < set->chunk_count; c++)
		out = scan_chunk(set, set->chunks[c], first_ix, &count, out);
}

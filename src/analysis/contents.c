/*
 * analysis/contents.c - hashes the contents of all strings or primitive arrays, and sorts them.
 *
 * The size of the array of records is known from the import's counts. One pass over the objects, on
 * several threads, reads the contents in heap order, which is nearly the order of the dump. The
 * records are then distributed by the first byte of their hash, and the threads sort the parts.
 */
#include "analysis/contents.h"

#include "base/bits.h"
#include "base/idmap.h"
#include "base/pipeline.h"
#include "base/prefetch.h"
#include "base/sort.h"
#include "derive/blocks.h"
#include "heap/heap_database.h"
#include "heap/values/string_scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Number of bytes hashed at a time. */
#define CHUNK_BYTES (1u << 20)
/* Number of bytes in the sort key, which consists of the hash and the index. */
#define HASH_BYTES 16u
#define KEY_BYTES 20u
/* Maximum length of a run of records that is sorted by insertion sort. */
#define SHORT_RUN 24u

struct reading {
	const struct session *session;
	const struct analysis_contents_options *options;
	struct analysis_contents *out;
	struct store_block *references; /* indexed by block; used only for strings */
	uint64_t room;                  /* number of records for which memory is allocated */
	uint8_t *reachable;             /* whether each object of the current block is reachable */
};

/* Returns whether object i of the current block belongs to the population. */
static bool counts(const struct reading *s, uint32_t i)
{
	return analysis_population_has(s->options->population, s->reachable[i]);
}

/* ---- counting ---- */

/* Returns whether the contents of object i must be read. */
static bool is_wanted(const struct reading *s, const struct heap_block *objects, uint32_t i)
{
	const uint32_t no = objects->class_no[i];

	assert(i < objects->count);
	/* An embedded array is part of another object, so it cannot be shared. */
	return objects->kind[i] == STORE_PRIMITIVE_ARRAY && !objects->embedded[i] &&
	       (!s->options->is_class || s->options->is_class[no]);
}

/* Adds the size of the records for objects of one class and kind. */
static int add_room(void *ctx, const struct heap_count *c, struct hdb_error *err)
{
	struct reading *s = ctx;
	const uint8_t *is_class = s->options->is_class;

	(void)err;
	if (s->options->kind == ANALYSIS_ARRAYS ?
		    c->kind == STORE_PRIMITIVE_ARRAY && (!is_class || is_class[c->class_no]) :
		    c->kind == STORE_INSTANCE && heap_string_layout(s->session->heap, c->class_no))
		s->room += c->count;
	return HDB_OK;
}

/*
 * Reads the reachability of a block's objects. Must be called on the main thread, because reading
 * reachability is not thread-safe.
 */
static int find_reachable(const struct reading *s, uint32_t block_no, struct hdb_error *err)
{
	return derive_reachable_block(s->session->derive, block_no, s->reachable, err);
}

/* ---- reading ---- */

int analysis_array_hash(struct heap *heap, struct base_view *view, uint64_t offset,
			struct analysis_content *out, struct hdb_error *err)
{
	struct hprof_sub sub;
	XXH3_state_t state;
	XXH128_hash_t hash;
	uint64_t seed;

	TRY(offset ? hprof_sub_read(&heap->dump.file, view, offset, &sub, err) : HDB_NOTFOUND);
	if (sub.tag != HPROF_PRIMITIVE_ARRAY_DUMP)
		return HDB_NOTFOUND;
	seed = base_hash_seed() + sub.element_type;
	if (sub.body_size <= CHUNK_BYTES) {
		const uint8_t *p = base_view_at(view, sub.body_offset, sub.body_size, err);

		if (!p)
			return HDB_ETRUNC;
		hash = XXH3_128bits_withSeed(p, sub.body_size, seed);
	} else {
		XXH3_INITSTATE(&state);
		(void)XXH3_128bits_reset_withSeed(&state, seed);
		for (uint64_t at = 0; at < sub.body_size; at += CHUNK_BYTES) {
			const uint64_t left = sub.body_size - at;
			const uint64_t n = left < CHUNK_BYTES ? left : CHUNK_BYTES;
			const uint8_t *p = base_view_at(view, sub.body_offset + at, n, err);

			if (!p)
				return HDB_ETRUNC;
			(void)XXH3_128bits_update(&state, p, n);
		}
		hash = XXH3_128bits_digest(&state);
	}
	out->low = hash.low64;
	out->high = hash.high64;
	return HDB_OK;
}

/*
 * Output of a thread for one block: records in block->bytes[0], and a bit for each object without
 * content. The bits are copied to block->values.
 */
struct made {
	struct reading *s;
	struct derive_block *block;
	struct derive_reader dump;
	uint64_t without[STORE_BLOCK_OBJECTS / 64]; /* one bit per object */
};

/* Returns a size in the form that a record stores. */
static uint32_t size_of(uint64_t bytes)
{
	return bytes < ANALYSIS_BYTES_MANY ? (uint32_t)bytes : ANALYSIS_BYTES_MANY;
}

static void note_without(struct made *m, uint32_t i)
{
	assert(i < m->block->objects->count);
	base_bit_put(m->without, i);
}

static int take_string(void *ctx, uint32_t i, const struct heap_string *string,
		       struct hdb_error *err)
{
	struct made *m = ctx;
	struct analysis_content record = {
		.ix = m->block->objects->first_ix + i,
		.array_ix = string->array_ix,
		.bytes = size_of(m->block->objects->shallow[i]),
		.array_bytes = size_of(string->array_bytes),
	};
	struct heap_text_hash hash;

	if (!string->has_chars) {
		note_without(m, i);
		return HDB_OK;
	}
	if (m->s->options->kind == ANALYSIS_SPANS) {
		const uint64_t width = string->chars.is_char_array ? 1 : string->chars.unit_bytes;

		record.low = string->array_ix;
		record.high = string->first_unit * width << 32 | string->chars.count * width;
		return base_vec_push(&m->block->bytes[0], &record, sizeof(record), err);
	}
	if (string->chars.count != string->array_units)
		record.array_ix = HEAP_NONE;
	TRY(heap_chars_hash(&m->dump.view, &string->chars, &hash, err));
	record.low = hash.low;
	record.high = hash.high;
	return base_vec_push(&m->block->bytes[0], &record, sizeof(record), err);
}

static int read_arrays(struct made *m, struct hdb_error *err)
{
	const struct heap_block *objects = m->block->objects;
	uint64_t *offsets = m->block->values;
	struct heap *heap = m->s->session->heap;
	int r;

	TRY(heap_read_offsets(heap, m->block->block_no, offsets, err));
	for (uint32_t i = 0; i < objects->count; i++) {
		struct analysis_content record = {
			.ix = objects->first_ix + i,
			.array_ix = objects->first_ix + i,
			.array_bytes = size_of(objects->shallow[i]),
		};

		if (!is_wanted(m->s, objects, i))
			continue;
		r = analysis_array_hash(heap, &m->dump.view, offsets[i], &record, err);
		TRY_ERRORS(r);
		if (r == HDB_NOTFOUND)
			note_without(m, i);
		else
			TRY(base_vec_push(&m->block->bytes[0], &record, sizeof(record), err));
	}
	return HDB_OK;
}

static int read_make(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct reading *s = ctx;
	struct made m = { .s = s,
			  .block = block,
			  .dump = derive_reader(s->session->heap, s->references) };
	int r;

	heap_prefetch_ahead(s->session->heap, block->block_no);
	if (s->options->kind == ANALYSIS_ARRAYS)
		r = read_arrays(&m, err);
	else
		r = derive_block_strings(&m.dump, block, take_string, &m, err);
	derive_reader_release(&m.dump);
	memcpy(block->values, m.without, sizeof(m.without));
	return r;
}

/* Counts an object of the block, and returns whether it belongs to the population. */
static bool count_one(struct reading *s, const struct heap_block *objects, uint32_t i)
{
	assert(i < objects->count);
	s->out->unreachable_count += !s->reachable[i];
	s->out->unreachable_bytes += s->reachable[i] ? 0 : objects->shallow[i];
	return counts(s, i);
}

/* Appends the records of a block to the result. Runs on the main thread, in block order. */
static int read_take(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct reading *s = ctx;
	const struct analysis_content *made = block->bytes[0].data;
	struct analysis_content *records = s->out->records.data;

	assert(s->out->count <= s->room);
	TRY(find_reachable(s, block->block_no, err));
	for (uint32_t i = 0; i < block->objects->count && s->options->counts_heap; i++)
		if (counts(s, i) && heap_is_counted(s->session->heap, block->objects, i))
			s->out->heap_bytes += block->objects->shallow[i];
	for (uint32_t i = 0; i < block->objects->count; i++)
		if (base_bit_has(block->values, i))
			s->out->without += count_one(s, block->objects, i);
	for (size_t i = 0; i < block->bytes[0].count; i++) {
		if (!count_one(s, block->objects, made[i].ix - block->objects->first_ix))
			continue;
		if (s->out->count == s->room)
			return heap_damaged(s->session->heap, STORE_CLASS_COUNTS, 0,
					    "too few objects", err);
		records[s->out->count++] = made[i];
	}
	return HDB_OK;
}

/* ---- sorting: a radix sort in place, most significant byte first ---- */

static int compare(const struct analysis_content *a, const struct analysis_content *b)
{
	BASE_ASCENDING(a->low, b->low);
	BASE_ASCENDING(a->high, b->high);
	return a->ix < b->ix ? -1 : a->ix > b->ix;
}

static void sort_short(struct analysis_content *records, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++) {
		const struct analysis_content record = records[i];
		uint64_t at = i;

		for (; at > 0 && compare(&record, &records[at - 1]) < 0; at--)
			records[at] = records[at - 1];
		records[at] = record;
	}
}

/* Returns byte `depth` of the key, most significant first. */
static unsigned key_byte(const struct analysis_content *record, unsigned depth)
{
	assert(depth < KEY_BYTES);
	if (depth < 8)
		return record->low >> (56 - 8 * depth) & 0xff;
	if (depth < 16)
		return record->high >> (56 - 8 * (depth - 8)) & 0xff;
	return record->ix >> (24 - 8 * (depth - 16)) & 0xff;
}

/*
 * Splits the records in place into 256 parts by the byte at `depth`. Sets end[] to the ends of
 * the parts.
 */
static void spread(struct analysis_content *records, uint64_t count, unsigned depth, uint64_t *end)
{
	uint64_t next[256], sizes[256] = { 0 }, sum = 0;

	assert(depth < KEY_BYTES);
	for (uint64_t i = 0; i < count; i++)
		sizes[key_byte(&records[i], depth)]++;
	for (unsigned b = 0; b < 256; b++) {
		next[b] = sum;
		sum += sizes[b];
		end[b] = sum;
	}
	for (unsigned b = 0; b < 256; b++) {
		while (next[b] < end[b]) {
			const struct analysis_content record = records[next[b]];
			const unsigned to = key_byte(&record, depth);

			records[next[b]] = records[next[to]];
			records[next[to]++] = record;
			/* the processor cannot prefetch 256 parts on its own */
			prefetch_write(&records[next[to]]);
		}
	}
}

/* Returns whether all records have the same hash. */
static bool is_one_run(const struct analysis_content *records, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++)
		if (records[i].low != records[0].low || records[i].high != records[0].high)
			return false;
	return true;
}

/*
 * Sorts by hash, then by index. The sort is in place, because the array may be in a file, and a
 * copy might not fit. The first `top` bytes of all keys are equal.
 */
static void sort(struct analysis_content *records, uint64_t count, unsigned top)
{
	/*
	 * State for one byte of the key: the first record, the end of the part for each value of
	 * the byte, the next part to sort, and the byte to return to when all parts are sorted.
	 */
	struct level {
		uint64_t start, end[256];
		unsigned b, above;
	} levels[KEY_BYTES];
	unsigned depth = top;

	levels[top].start = 0;
	levels[top].b = 0;
	spread(records, count, top, levels[top].end);
	for (;;) {
		struct level *l = &levels[depth];
		uint64_t from, n;

		if (l->b == 256) {
			if (depth == top)
				return;
			depth = l->above;
			continue;
		}
		from = l->b ? l->end[l->b - 1] : 0;
		n = l->end[l->b] - from;
		from += l->start;
		l->b++;
		if (n <= SHORT_RUN) {
			sort_short(records + from, n);
		} else if (depth + 1 < KEY_BYTES) {
			const unsigned above = depth;

			depth = depth < HASH_BYTES && is_one_run(records + from, n) ? HASH_BYTES :
										      depth + 1;
			levels[depth].above = above;
			levels[depth].start = from;
			levels[depth].b = 0;
			spread(records + from, n, depth, levels[depth].end);
		}
	}
}

/* The records, by the first byte of their hash. */
struct sorting {
	struct analysis_content *records;
	uint64_t end[256];
};

static int sort_part(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	const struct sorting *s = ctx;
	const uint64_t from = no ? s->end[no - 1] : 0;

	(void)slot;
	(void)err;
	sort(s->records + from, s->end[no] - from, 1);
	return HDB_OK;
}

static int sort_all(struct analysis_contents *contents, unsigned threads, struct hdb_error *err)
{
	struct sorting s = { .records = contents->records.data };

	spread(s.records, contents->count, 0, s.end);
	return base_pipeline_each(256, threads, &s, sort_part, err);
}

/* ---- the whole analysis ---- */

static int prepare(struct reading *s, unsigned *threads_max, struct hdb_error *err)
{
	struct heap *heap = s->session->heap;

	*threads_max = UINT32_MAX;
	TRY(heap_load_strings(heap, err));
	TRY(heap_open_dump(heap, err));
	if (s->options->kind != ANALYSIS_ARRAYS)
		TRY(heap_string_blocks(heap, &s->references, threads_max, err));
	if (!heap->object_count)
		return HDB_OK;
	TRY(BASE_ALLOC(s->reachable, STORE_BLOCK_OBJECTS, "a block of objects", err));
	/* this may build a table, so it must be called before the stage begins */
	return find_reachable(s, 0, err);
}

static void release_reading(struct reading *s)
{
	free(s->references);
	free(s->reachable);
}

int analysis_contents_read(const struct session *session,
			   const struct analysis_contents_options *options,
			   struct analysis_contents *out, struct hdb_error *err)
{
	BASE_SCOPED(release_reading)
	struct reading s = { .session = session, .options = options, .out = out };
	const unsigned threads = session->work->threads;
	unsigned threads_max;
	int r;

	*out = (struct analysis_contents){ 0 };
	TRY(prepare(&s, &threads_max, err));
	TRY_ERRORS(heap_count_all(session->heap, session->work, add_room, &s, err));
	/* Counts come from the file, so they may be wrong. */
	s.room = s.room < session->heap->object_count ? s.room : session->heap->object_count;
	TRY(base_big_alloc(session->work, &out->records,
			   (s.room + 1) * sizeof(struct analysis_content), "contents", err));
	session->work->threads = threads < threads_max ? threads : threads_max;
	r = derive_each_block(session->derive,
			      &(struct derive_pass){ .stage = options->kind == ANALYSIS_ARRAYS ?
								      "reading arrays" :
								      "reading strings",
						     .reads_objects = true,
						     .make = read_make,
						     .take = read_take,
						     .ctx = &s },
			      err);
	session->work->threads = threads;
	TRY(r);
	return sort_all(out, threads, err);
}

void analysis_contents_release(struct analysis_contents *contents)
{
	base_big_free(&contents->records);
}

/* ---- runs ---- */

uint64_t analysis_contents_run(const struct analysis_contents *contents, uint64_t from)
{
	const struct analysis_content *records = contents->records.data;
	uint64_t to = from + 1;

	assert(from < contents->count);
	while (to < contents->count && records[to].low == records[from].low &&
	       records[to].high == records[from].high)
		to++;
	return to;
}

/* Looks up a size that does not fit into its record. */
static int bytes_of(const struct session *session, uint32_t ix, uint32_t known, uint64_t *bytes,
		    struct hdb_error *err)
{
	struct heap_object object;

	*bytes = known;
	if (known != ANALYSIS_BYTES_MANY)
		return HDB_OK;
	TRY(heap_object(session->heap, ix, &object, err));
	*bytes = object.shallow_bytes;
	return HDB_OK;
}

int analysis_copies_measure(const struct session *session, const struct analysis_run *run,
			    struct analysis_copies *out, struct hdb_error *err)
{
	struct base_sort_key *keys = run->keys;
	uint64_t least = UINT64_MAX, bytes;
	size_t n = 0;

	*out = (struct analysis_copies){ 0 };
	for (uint64_t i = 0; i < run->count; i++) {
		const struct analysis_content *copy = &run->first[i];

		if (!run->of_arrays) {
			TRY(bytes_of(session, copy->ix, copy->bytes, &bytes, err));
			out->total += bytes;
			out->wasted += i ? bytes : 0;
		}
		if (copy->array_ix != HEAP_NONE)
			keys[n++] = (struct base_sort_key){ copy->array_ix, (uint32_t)i };
	}
	if (!run->of_arrays)
		base_sort_keys(keys, run->spare, n);
	for (size_t i = 0; i < n; i++) {
		const struct analysis_content *copy = &run->first[keys[i].node];

		if (i && keys[i].key == keys[i - 1].key)
			continue;
		TRY(bytes_of(session, copy->array_ix, copy->array_bytes, &bytes, err));
		out->arrays++;
		out->total += bytes;
		out->wasted += bytes;
		least = bytes < least ? bytes : least;
	}
	if (out->arrays)
		out->wasted -= least;
	return HDB_OK;
}

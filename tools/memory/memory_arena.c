/*
 * memory/memory_arena.c - finds the free blocks of malloc in a process whose VM does not report
 * them (JDK 17 and earlier), by reading glibc's arenas from the process. An arena is a chain of
 * chunks without gaps. Each chunk begins with its size, whose lowest bit is set if the previous
 * chunk is in use. Blocks in caches of threads are counted as used.
 *
 * The process continues to run meanwhile, and versions of glibc differ. An arena is therefore
 * ignored unless its chain ends exactly where the arena ends.
 */
#include "memory/memory_private.h"

/* size and alignment of every arena except the main arena */
#define ARENA_BYTES (UINT64_C(64) << 20)
#define CHUNK_ALIGNMENT 16u
#define CHUNK_MIN 32u
#define BEFORE_IN_USE 1u
/*
 * Range of the size of an arena's state, about 2,200 bytes, and of a heap's head, up to 64 bytes,
 * both of which precede the chunks.
 */
#define STATE_MIN 2048u
#define STATE_MAX 2560u
#define HEAD_MIN 32u
#define HEAD_MAX 64u
#define TRIES 3

struct walk {
	memory_read read;
	void *ctx;
	uint64_t from; /* address of the bytes in the window */
	size_t size;
	unsigned char window[65536];
};

static bool word_at(struct walk *w, uint64_t at, uint64_t *out)
{
	if (at < w->from || at - w->from + sizeof(*out) > w->size) {
		w->from = at;
		w->size = w->read(w->ctx, at, w->window, sizeof(w->window));
		if (w->size < sizeof(*out))
			return false;
	}
	memcpy(out, w->window + (at - w->from), sizeof(*out));
	return true;
}

/* Sums the free chunks of [at, end). Returns false if the chain does not end there. */
static bool sum_free(struct walk *w, uint64_t at, uint64_t end, uint64_t *out)
{
	uint64_t head, next;

	*out = 0;
	if (at >= end || !word_at(w, at + sizeof(head), &head))
		return false;
	for (;; head = next) {
		const uint64_t size = head & ~(uint64_t)7;

		/* two small chunks end a heap if the arena continues in another one */
		if (size < CHUNK_MIN)
			return end - at <= CHUNK_MIN;
		if (size % CHUNK_ALIGNMENT || size > end - at)
			return false;
		if (size == end - at) {
			*out += size; /* the chunk has never been used */
			return true;
		}
		if (!word_at(w, at + size + sizeof(next), &next))
			return false;
		*out += next & BEFORE_IN_USE ? 0 : size;
		at += size;
	}
}

/*
 * Sums the free chunks of the arena's heap at `start`, and sets *end to its end. The position of
 * the first chunk varies.
 */
static bool sum_heap(struct walk *w, uint64_t start, uint64_t *end, uint64_t *out)
{
	uint64_t arena, size, from = start + HEAD_MIN, to = start + HEAD_MAX;

	if (!word_at(w, start, &arena) || !word_at(w, start + 2 * sizeof(size), &size) || !size ||
	    size > ARENA_BYTES)
		return false;
	*end = start + size;
	if (arena > start && arena - start <= HEAD_MAX) {
		from = arena + STATE_MIN;
		to = arena + STATE_MAX;
	}
	for (uint64_t at = from; at <= to; at += CHUNK_ALIGNMENT)
		if (sum_free(w, at, *end, out))
			return true;
	return false;
}

/* Adds an arena. Returns false if the memory is not an arena. */
static bool add(struct memory *m, struct walk *w, uint64_t start, uint64_t end, bool is_main)
{
	uint64_t free_bytes;

	for (unsigned i = 0; i < TRIES; i++) {
		w->size = 0;
		if (!(is_main ? sum_free(w, start, end, &free_bytes) :
				sum_heap(w, start, &end, &free_bytes)))
			continue;
		m->malloc_arenas += end - start;
		m->malloc_free += free_bytes;
		return m->has_malloc = true;
	}
	return false;
}

int memory_add_arenas(struct memory *m, memory_read read, void *ctx, struct hdb_error *err)
{
	BASE_FREED struct walk *w = NULL;

	TRY(BASE_ALLOC(w, 1, "a walk over malloc's arenas", err));
	w->read = read;
	w->ctx = ctx;
	for (size_t i = 0; i < m->mappings.count; i++) {
		const struct mapping *mapping = base_vec_at(&m->mappings, struct mapping, i);
		uint64_t at = mapping->start;

		if (mapping->is_arena && !mapping->is_anonymous)
			(void)add(m, w, at, mapping->end, true);
		/* the kernel merges arenas that are full */
		else if (mapping->is_anonymous && mapping->is_accessible && at % ARENA_BYTES == 0)
			while (at < mapping->end && add(m, w, at, 0, false))
				at += ARENA_BYTES;
	}
	return HDB_OK;
}

/*
 * base/idmap.h - a hash map from 64-bit identifiers to 32-bit numbers. It is meant for small sets
 * such as classes, strings and threads, never for one entry per object.
 */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include "base/work.h"

#include <stdbool.h>

/*
 * A slot. Key and value share a cache line, so a look-up in a large map waits for memory only once.
 */
struct base_idmap_slot {
	uint64_t key;
	uint32_t value; /* BASE_IDMAP_NONE: the slot is free */
	uint32_t unused;
};

struct base_idmap {
	struct base_idmap_slot *slots;
	uint64_t capacity; /* number of slots: a power of two, or 0 */
	uint64_t count;
	uint64_t seed; /* base_hash_seed, once the map has slots */
	/* borrowed; has the same meaning as in struct base_vec */
	struct base_work *work;
	struct base_big big;
};

#define BASE_IDMAP_NONE UINT32_MAX

/*
 * Returns a random number that stays the same for the life of the process. All hashes depend on it,
 * so nobody can construct a dump whose identifiers all collide.
 */
uint64_t base_hash_seed(void);

/*
 * Mixes the bits of identifiers, which often differ in few bits. For each seed, the function is a
 * bijection.
 */
uint64_t base_hash(uint64_t id, uint64_t seed);

/* Prefetches the slot of `id`. */
void base_idmap_prefetch(const struct base_idmap *map, uint64_t id);

/* Returns the number of `id`, or BASE_IDMAP_NONE. */
uint32_t base_idmap_get(const struct base_idmap *map, uint64_t id);

/* Makes room for `count` identifiers in total, so that the map need not grow step by step. */
int base_idmap_reserve(struct base_idmap *map, uint64_t count, struct hdb_error *err);

/* Sets the number of `id`. value must not be BASE_IDMAP_NONE. */
int base_idmap_put(struct base_idmap *map, uint64_t id, uint32_t value, struct hdb_error *err);

/* Frees and empties the map. */
void base_idmap_release(struct base_idmap *map);

#endif

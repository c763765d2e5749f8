/*
 * base/idmap.h - a hash map from 64-bit identifiers to 32-bit numbers, for the small sets (classes,
 * strings, threads), never one entry an object.
 */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include "base/work.h"

#include <stdbool.h>

/* Both in one cache line: a look-up in a big map waits for memory once. */
struct base_idmap_slot {
	uint64_t key;
	uint32_t value; /* BASE_IDMAP_NONE: slot free */
	uint32_t unused;
};

struct base_idmap {
	struct base_idmap_slot *slots;
	uint64_t capacity; /* slots, a power of two, or 0 */
	uint64_t count;
	uint64_t seed; /* base_hash_seed, once there are slots */
	/* lent; as of struct base_vec */
	struct base_work *work;
	struct base_big big;
};

#define BASE_IDMAP_NONE UINT32_MAX

/*
 * A number of this process alone, the same all its life: hash tables mix it in, so that nobody can
 * write a dump whose identifiers all fall into one slot.
 */
uint64_t base_hash_seed(void);

/* Spreads identifiers that differ in few bits; one to one for each seed. */
uint64_t base_hash(uint64_t id, uint64_t seed);

/* Prefetches what a look-up of `id` reads. */
void base_idmap_soon(const struct base_idmap *map, uint64_t id);

/* The number of `id`, or BASE_IDMAP_NONE. */
uint32_t base_idmap_get(const struct base_idmap *map, uint64_t id);

/* Makes room for `count` identifiers in all, so that the map does not grow step by step. */
int base_idmap_reserve(struct base_idmap *map, uint64_t count, struct hdb_error *err);

/* Sets the number of `id`; value is not BASE_IDMAP_NONE. */
int base_idmap_put(struct base_idmap *map, uint64_t id, uint32_t value, struct hdb_error *err);

/* Frees the map and empties it. */
void base_idmap_release(struct base_idmap *map);

#endif

/* base/idmap.c - a hash map with open addressing and linear probing, at most half full. */
#include "base/idmap.h"

#include "base/prefetch.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

uint64_t base_hash_seed(void)
{
	/* The seed is stored, because getauxval searches a list. */
	static _Atomic uint64_t kept;
	uint64_t seed = atomic_load_explicit(&kept, memory_order_relaxed);
	const void *random;

	if (seed)
		return seed;
	/* The kernel gives each process 16 random bytes. */
	random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	if (random)
		memcpy(&seed, random, sizeof(seed));
	atomic_store_explicit(&kept, seed, memory_order_relaxed);
	return seed;
}

/* Computes the finalizer of MurmurHash3 (Appleby, public domain). */
uint64_t base_hash(uint64_t id, uint64_t seed)
{
	uint64_t v = id ^ seed;

	v ^= v >> 33;
	v *= 0xff51afd7ed558ccdull;
	v ^= v >> 33;
	v *= 0xc4ceb9fe1a85ec53ull;
	return v ^ (v >> 33);
}

static uint64_t slot_of(const struct base_idmap *map, uint64_t id)
{
	uint64_t slot = base_hash(id, map->seed) & (map->capacity - 1);

	assert(map->capacity > map->count);
	while (map->slots[slot].value != BASE_IDMAP_NONE && map->slots[slot].key != id)
		slot = (slot + 1) & (map->capacity - 1);
	return slot;
}

void base_idmap_prefetch(const struct base_idmap *map, uint64_t id)
{
	if (map->capacity)
		prefetch_write(&map->slots[base_hash(id, map->seed) & (map->capacity - 1)]);
}

uint32_t base_idmap_get(const struct base_idmap *map, uint64_t id)
{
	if (!map->capacity)
		return BASE_IDMAP_NONE;
	return map->slots[slot_of(map, id)].value;
}

static int grow(struct base_idmap *map, uint64_t capacity, struct hdb_error *err)
{
	struct base_idmap bigger = {
		.capacity = capacity,
		.seed = map->capacity ? map->seed : base_hash_seed(),
		.work = map->work,
	};
	const size_t size = capacity * sizeof(*bigger.slots);

	if (map->work && size >= BASE_LARGE_BYTES) {
		TRY(base_big_alloc_raw(map->work, &bigger.big, size, "an identifier map", err));
		bigger.slots = bigger.big.data;
	} else {
		bigger.slots = malloc(size);
	}
	if (!bigger.slots)
		return hdb_fail_memory(err, "an identifier map", size);
	/* Sets every value to BASE_IDMAP_NONE. */
	memset(bigger.slots, 0xff, size);
	for (uint64_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value != BASE_IDMAP_NONE)
			bigger.slots[slot_of(&bigger, map->slots[i].key)] = map->slots[i];
	bigger.count = map->count;
	base_idmap_release(map);
	*map = bigger;
	assert(map->count * 2 < map->capacity);
	return HDB_OK;
}

int base_idmap_reserve(struct base_idmap *map, uint64_t count, struct hdb_error *err)
{
	uint64_t capacity = map->capacity ? map->capacity : 64;

	if (count > UINT32_MAX)
		return hdb_fail_memory(err, "an identifier map", count * sizeof(*map->slots));
	while (count * 2 >= capacity)
		capacity *= 2;
	return capacity > map->capacity ? grow(map, capacity, err) : HDB_OK;
}

int base_idmap_put(struct base_idmap *map, uint64_t id, uint32_t value, struct hdb_error *err)
{
	uint64_t slot;

	assert(value != BASE_IDMAP_NONE);
	if (map->count * 2 >= map->capacity) {
		TRY(base_idmap_reserve(map, map->count + 1, err));
	}
	slot = slot_of(map, id);
	map->count += map->slots[slot].value == BASE_IDMAP_NONE;
	map->slots[slot] = (struct base_idmap_slot){ .key = id, .value = value };
	return HDB_OK;
}

void base_idmap_release(struct base_idmap *map)
{
	base_free_large(&map->big, map->slots);
	*map = (struct base_idmap){ .work = map->work };
}

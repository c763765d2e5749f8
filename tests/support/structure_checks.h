/*
 * support/structure_checks.h - assertions for the invariants of structures in base/, which hold
 * between calls.
 */
#ifndef SUPPORT_STRUCTURE_CHECKS_H
#define SUPPORT_STRUCTURE_CHECKS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "base/work.h"

#include <assert.h>

static inline void base_vec_check(const struct base_vec *vec)
{
	assert(vec->count <= vec->capacity);
	assert(vec->data || vec->capacity == 0);
}

/* At least half of the slots are free, and each identifier can be found. */
static inline void base_idmap_check(const struct base_idmap *map)
{
	uint64_t used = 0;

	assert((map->capacity & (map->capacity - 1)) == 0);
	assert(map->count * 2 <= map->capacity);
	assert(!map->capacity || map->slots);
	for (uint64_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].value == BASE_IDMAP_NONE)
			continue;
		used++;
		assert(base_idmap_get(map, map->slots[i].key) == map->slots[i].value);
	}
	assert(used == map->count);
}

/* Checks the accounting of arrays and pooled memory. Not valid after base_pool_reserve. */
static inline void base_work_check(const struct base_work *work)
{
	uint64_t kept = 0;

	assert(work->pool_count <= BASE_POOL_MAX);
	assert(work->anonymous_bytes + work->cached_bytes == work->memory_used + work->pool_bytes);
	assert(work->cached_bytes <= work->cached_max);
	assert(work->memory_used + work->pool_bytes <= work->memory_peak);
	for (unsigned i = 0; i < work->pool_count; i++) {
		const struct base_pool_entry *one = &work->pool[i], *before = one - 1;

		kept += one->size_bytes;
		assert(i == 0 || before->data + before->size_bytes <= one->data);
		/* Adjacent ranges of the same kind form one entry. */
		assert(i == 0 || before->data + before->size_bytes != one->data ||
		       before->is_cached != one->is_cached);
	}
	assert(kept == work->pool_bytes);
}

#endif

/*
 * base/size_array.h - an array of sizes with 4 bytes per entry if all sizes fit, and otherwise 8.
 */
#ifndef BASE_SIZE_ARRAY_H
#define BASE_SIZE_ARRAY_H

#include "base/prefetch.h"
#include "base/work.h"

struct base_sizes {
	struct base_work *work;
	uint32_t *narrow; /* either `narrow` or `wide` is NULL */
	uint64_t *wide;
	struct base_big big;
};

/*
 * Allocates `count` zeros. `work` is borrowed. The caller must release *sizes, even after a
 * failure.
 */
int base_sizes_init(struct base_sizes *sizes, uint64_t count, bool is_wide, struct base_work *work,
		    struct hdb_error *err);
void base_sizes_release(struct base_sizes *sizes);

/* Sets a size. Returns false if it does not fit a narrow array. */
static inline bool base_sizes_set(struct base_sizes *sizes, uint32_t i, uint64_t size)
{
	if (sizes->wide)
		sizes->wide[i] = size;
	else
		sizes->narrow[i] = (uint32_t)size;
	return sizes->wide || size <= UINT32_MAX;
}

static inline uint64_t base_sizes_get(const struct base_sizes *sizes, uint32_t i)
{
	return sizes->wide ? sizes->wide[i] : sizes->narrow[i];
}

static inline void base_sizes_prefetch(const struct base_sizes *sizes, uint32_t i)
{
	if (sizes->wide)
		prefetch_read(&sizes->wide[i]);
	else
		prefetch_read(&sizes->narrow[i]);
}

#endif

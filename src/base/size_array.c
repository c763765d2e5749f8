/* base/size_array.c - implements an array of sizes. */
#include "base/size_array.h"

#include <assert.h>

int base_sizes_init(struct base_sizes *sizes, uint64_t count, bool is_wide, struct base_work *work,
		    struct hdb_error *err)
{
	*sizes = (struct base_sizes){ .work = work };
	TRY(base_big_alloc(work, &sizes->big, count * (is_wide ? 8 : 4), "retained sizes", err));
	if (is_wide)
		sizes->wide = sizes->big.data;
	else
		sizes->narrow = sizes->big.data;
	assert((sizes->wide != NULL) == is_wide);
	return HDB_OK;
}

void base_sizes_release(struct base_sizes *sizes)
{
	if (sizes->work)
		base_big_free(&sizes->big);
	*sizes = (struct base_sizes){ 0 };
}

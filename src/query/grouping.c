/* query/grouping.c - groups items by key. */
#include "query/grouping.h"

#include <assert.h>

int query_group_of(struct query_groups *groups, uint64_t key, const void *fresh, void **out,
		   struct hdb_error *err)
{
	uint32_t no = base_idmap_get(&groups->numbers, key);

	assert(groups->size > 0);
	if (no == BASE_IDMAP_NONE) {
		no = (uint32_t)groups->list.count;
		TRY(base_idmap_put(&groups->numbers, key, no, err));
		TRY(base_vec_push(&groups->list, fresh, groups->size, err));
	}
	*out = (char *)groups->list.data + no * groups->size;
	return HDB_OK;
}

void query_groups_release(struct query_groups *groups)
{
	base_vec_release(&groups->list);
	base_idmap_release(&groups->numbers);
}

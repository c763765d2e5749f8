/* base/rank_bitset.c - implements bit sets with ranks. */
#include "base/rank_bitset.h"

#include <assert.h>

int base_ranks_init(struct base_ranks *set, uint32_t node_count, struct base_work *work,
		    const char *what, struct hdb_error *err)
{
	const uint64_t ranks = (uint64_t)node_count / BASE_RANK_BITS + 1;

	static_assert(BASE_RANK_BITS == 64, "a rank stands before each word");
	*set = (struct base_ranks){ .work = work, .node_count = node_count };
	TRY(base_big_alloc(work, &set->bits_big, ranks * BASE_RANK_BITS / 8, what, err));
	TRY(base_big_alloc_raw(work, &set->before_big, ranks * sizeof *set->before, what, err));
	set->bits = set->bits_big.data;
	set->before = set->before_big.data;
	return HDB_OK;
}

void base_ranks_release(struct base_ranks *set)
{
	if (!set->work)
		return;
	base_big_free(&set->before_big);
	base_big_free(&set->bits_big);
	*set = (struct base_ranks){ 0 };
}

void base_ranks_rank(struct base_ranks *set)
{
	uint32_t rank = 0;

	assert(set->bits && set->before);
	for (uint64_t w = 0; w <= set->node_count / BASE_RANK_BITS; w++) {
		set->before[w] = rank;
		rank += count_bits(base_ranks_word(set, w));
	}
	set->count = rank;
	assert(set->count <= (uint64_t)set->node_count + 1);
}

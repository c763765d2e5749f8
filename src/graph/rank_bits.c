/*
 * graph/rank_bits.c - bits and their ranks.
 */
#include "graph/rank_bits.h"

#define WORDS_OF_RANK (GRAPH_RANK_BITS / 64)

int graph_rank_bits_init(struct graph_rank_bits *set, uint32_t node_count, struct base_work *work,
			 const char *what, struct hdb_error *err)
{
	const uint64_t ranks = (uint64_t)node_count / GRAPH_RANK_BITS + 1;
	int rc;

	*set = (struct graph_rank_bits){ .work = work, .node_count = node_count };
	rc = base_big_alloc(work, &set->bits_big, ranks * GRAPH_RANK_BITS / 8, what, err);
	if (rc == HDB_OK)
		rc = base_big_alloc_raw(work, &set->before_big, ranks * sizeof *set->before, what, err);
	set->bits = set->bits_big.data;
	set->before = set->before_big.data;
	return rc;
}

void graph_rank_bits_release(struct graph_rank_bits *set)
{
	if (!set->work)
		return;
	base_big_free(set->work, &set->before_big);
	base_big_free(set->work, &set->bits_big);
	*set = (struct graph_rank_bits){ 0 };
}

void graph_rank_bits_rank(struct graph_rank_bits *set)
{
	const uint64_t words = ((uint64_t)set->node_count / GRAPH_RANK_BITS + 1) * WORDS_OF_RANK;
	uint32_t rank = 0;

	for (uint64_t w = 0; w < words; w++) {
		if (w % WORDS_OF_RANK == 0)
			set->before[w / WORDS_OF_RANK] = rank;
		rank += count_bits(graph_rank_bits_word(set, w));
	}
	set->count = rank;
}

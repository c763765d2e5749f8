/*
 * analysis/merged_private.h - what merged.c and merged_few.c share.
 */
#ifndef ANALYSIS_MERGED_PRIVATE_H
#define ANALYSIS_MERGED_PRIVATE_H

#include "analysis/merged.h"

/* Steps of the ways of few objects: some 20 ms and 5 MB. More are found by passes over the heap. */
#define ANALYSIS_FEW_STEPS (1u << 17)

/* Counts an object with its node; of two that retain the same the first one is the example. */
static inline void analysis_merged_count_one(struct analysis_merged_sum *sum, uint32_t ix,
					     uint64_t shallow, uint64_t weight)
{
	sum->count++;
	sum->shallow_bytes += shallow;
	if (sum->example_ix == HEAP_NONE || weight > sum->example_bytes) {
		sum->example_ix = ix;
		sum->example_bytes = weight;
	}
}

/* A tree's damage: of its table, or of this program where it has none. HDB_ECORRUPT or HDB_EBUG. */
int analysis_merged_damaged(const struct session *session, enum analysis_tree tree, uint32_t ix,
			    const char *what, struct hdb_error *err);

/* What a tree is made of; all is lent. */
struct analysis_merged_job {
	const struct session *session;
	struct analysis_merged *m;
	const struct analysis_merged_source *source;
	unsigned dump;
	const uint32_t *names; /* numbers of names by class, then by the class of class objects */
};

/*
 * Adds the objects of the source's list as analysis_merged_add does, with the same nodes in the
 * same order, by walking up from each; the tree's table is there. *is_done is false, and nothing
 * was added, if their ways have more than ANALYSIS_FEW_STEPS steps.
 */
int analysis_merged_few(const struct analysis_merged_job *job, bool *is_done,
			struct hdb_error *err);

#endif

/*
 * queries/database/size_proof.h - describes the evidence for the size of a class's instances;
 * implemented in q_sizes.c.
 */
#ifndef QUERIES_DATABASE_SIZE_PROOF_H
#define QUERIES_DATABASE_SIZE_PROOF_H

#include "query/query.h"

/*
 * Maximum number of bytes in a sentence that describes the proof of a size, including the
 * terminator.
 */
#define QUERY_PROOF_MAX 160

/* Describes the evidence in the dump for the size of a class's instances. */
void query_size_proof(const struct query *q, const struct store_class *class,
		      char out[QUERY_PROOF_MAX]);

#endif

/*
 * derive/dominators/dominators_spill.h - writes dominators and retained sizes by object if memory
 * is short. Private to derive.
 */
#ifndef DERIVE_DOMINATORS_SPILL_H
#define DERIVE_DOMINATORS_SPILL_H

#include "derive/build.h"

/*
 * Writes the `dominators` and `retained` tables from the result of graph_dominators, without random
 * access to large arrays. Records are distributed to spill buckets (base/spill_buckets.h) by their
 * lookup key, and each bucket is processed in memory. Takes about 15 bytes per object, in a file if
 * the budget is too small, plus the arrays of one range (dominators_spill.c). Writes the same bytes
 * as the in-memory builder. The caller must call store_put_table.
 */
int derive_put_spilled(struct derive *derive, struct store_writer *writer,
		       const struct graph_dominators *dominators, struct hdb_error *err);

#endif

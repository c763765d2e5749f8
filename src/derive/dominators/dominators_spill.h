/*
 * derive/dominators/dominators_spill.h - dominators and retained sizes by object, where memory is
 * short. Private to derive.
 */
#ifndef DERIVE_DOMINATORS_SPILL_H
#define DERIVE_DOMINATORS_SPILL_H

#include "derive/build.h"

/*
 * Writes the tables dominators and retained of what graph_dominators found, without arrays that are
 * used at random: everything goes into spill buckets (base/spill_buckets.h) by what it is looked up
 * by, and each bucket is worked off in memory. About 15 bytes an object, in a file where the budget
 * has no room; what is in memory besides is named in dominators_spill.c. The same bytes as in the
 * other way. Without store_put_table.
 */
int derive_put_spilled(struct derive *derive, struct store_writer *writer,
		       const struct graph_dominators *dominators, struct hdb_error *err);

#endif

/*
 * derive/dominators_nca.h - dominators and retained sizes of heaps whose references lead far away.
 * Private to derive.
 */
#ifndef DERIVE_DOMINATORS_NCA_H
#define DERIVE_DOMINATORS_NCA_H

#include "derive/build.h"

/*
 * Builds the tables dominators and retained with graph/dominators/nca_grow.h, where most references
 * lead far away and the graph is shallow: HDB_NOTFOUND if it is not, and nothing was written.
 * Memory: graph/dominators/nca_grow.h, then graph/dominators/subtree_sums.h; the references are
 * read from the database, those of each object once.
 */
int derive_build_nca(struct derive *derive, struct store_writer *writer, struct hdb_error *err);

#endif

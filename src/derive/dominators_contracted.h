/*
 * derive/dominators_contracted.h - dominators by way of a small graph. Private to derive.
 */
#ifndef DERIVE_DOMINATORS_CONTRACTED_H
#define DERIVE_DOMINATORS_CONTRACTED_H

#include "derive/build.h"

/*
 * Builds the tables dominators and retained where the budget has room for some bytes an object;
 * else HDB_NOTFOUND, and nothing is written.
 */
int derive_build_contracted(struct derive *derive, struct store_writer *writer,
			    struct hdb_error *err);

#endif

/*
 * derive/dominators_thinned.h - which of the heap's edges graph/dominators/thinning.h leaves out,
 * and whether that was right. Private to dominators_contracted.c.
 *
 * The kind of an edge is its object's class. Edges of big lists are not left out. Of the edges that
 * objects have to their classes, those of classes with many objects are, as long as they are soft.
 */
#ifndef DERIVE_DOMINATORS_THINNED_H
#define DERIVE_DOMINATORS_THINNED_H

#include "derive/derive.h"
#include "graph/dominators/contract.h"

/* The heap's references, and what is kept of them; lent. */
struct derive_thinned {
	struct derive *derive;
	const struct store_block *blocks; /* of the table references */
	struct graph_contract *c;
	const uint64_t *objects; /* by class, 0: not known */
};

/*
 * Before the first pass, with soft classes: looks at some objects, and fills *thinning. Release it
 * in any case, after x->c. *is_dense if contraction (contract.h) would keep most objects, while
 * references lead near: most refer to some that others refer to. So it is where objects have many
 * references to what is not popular, since one for each object is the only one that leads there.
 */
int derive_thin(const struct derive_thinned *x, struct graph_thinning *thinning, bool *is_dense,
		struct hdb_error *err);

/*
 * After the search, without suspects: *is_right if no edge that was left out is needed. Else fewer
 * are left out from now on, or none, and all comes from the second pass on.
 */
int derive_check_thinned(const struct derive_thinned *x, struct graph_thinning *thinning,
			 bool *is_right, struct hdb_error *err);

#endif

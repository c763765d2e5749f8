/*
 * derive/dominators/inner_order.h - numbers the inner nodes of the dominator tree in preorder.
 * Private to derive.
 */
#ifndef DERIVE_INNER_ORDER_H
#define DERIVE_INNER_ORDER_H

#include "derive/derive.h"
#include "graph/preorder.h"

/*
 * Numbers in preorder the objects that dominate others, in two passes over the `dominators` table
 * (derive_tree_prepare). A subtree has the numbers from its node's own up to, but not including,
 * graph_preorder_end. The caller must release *order even after a failure.
 */
int derive_number_inner(struct derive *derive, struct graph_preorder *order, struct hdb_error *err);

#endif

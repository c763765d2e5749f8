/*
 * derive/dominators/inner_order.h - numbers the inner nodes of the dominator tree in preorder.
 * Private to derive.
 */
#ifndef DERIVE_INNER_ORDER_H
#define DERIVE_INNER_ORDER_H

#include "derive/derive.h"
#include "graph/preorder.h"

/*
 * Numbers the objects that dominate others in preorder, in two passes over the `dominators` table
 * (derive_tree_prepare). The numbers of a node's subtree begin at the node's own number and end at
 * graph_preorder_end. The caller must release *order even after a failure.
 */
int derive_number_inner(struct derive *derive, struct graph_preorder *order, struct hdb_error *err);

#endif

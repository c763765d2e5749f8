/*
 * graph/dominators/contract_private.h - what the files of contract.h share. Private to contract*.c.
 */
#ifndef GRAPH_DOMINATORS_CONTRACT_PRIVATE_H
#define GRAPH_DOMINATORS_CONTRACT_PRIVATE_H

#include "graph/dominators/contract.h"

/* From c->whole to c->dominator. */
int graph_contract_spread(struct graph_contract *c, struct hdb_error *err);

#endif

/*
 * derive/dominators_contracted_private.h - what the passes of contraction and what calls them
 * share. Private to dominators_contracted.c and dominators_passes.c.
 */
#ifndef DERIVE_DOMINATORS_CONTRACTED_PRIVATE_H
#define DERIVE_DOMINATORS_CONTRACTED_PRIVATE_H

#include "derive/blocks.h"
#include "graph/dominators/contract.h"

struct contract_slot;

struct contracted {
	struct derive *derive;
	struct store_block *blocks;  /* of the table references */
	struct store_lists lists;    /* for big ones */
	struct contract_slot *slots; /* what blocks' work has for itself */
	unsigned slot_count;
	/* uint32_t: objects of classes that have few, each with its class object */
	struct base_vec few;
	uint64_t *objects;         /* by class: how many there are */
	uint32_t *class_ix;        /* by class: its object, or GRAPH_NONE: it is a root, or none */
	bool *is_soft;             /* by class: edges to it are pushed */
	uint32_t *suspected;       /* by class: the dominator of a suspect, or GRAPH_NONE */
	atomic_bool *is_confirmed; /* by class: it stays one */
	bool is_hardened;          /* some are not, which were */
	bool is_whole;             /* all objects are kept */
	bool is_seen;              /* the first pass was the last one */
	struct graph_thinning thinning;
	struct graph_contract c;
	struct graph_rows rows;
};

/* Room for what blocks' work has. Release it in any case. */
int derive_contracted_slots(struct contracted *x, struct hdb_error *err);
void derive_contracted_free_slots(struct contracted *x);

/*
 * The four passes over all objects: referrers, and what is kept; what is kept, where more edges
 * matter than before; what is pushed, edges to classes; the rows of what is kept.
 */
int derive_contracted_see(struct contracted *x, struct hdb_error *err);
int derive_contracted_mark(struct contracted *x, struct hdb_error *err);
int derive_contracted_push(struct contracted *x, struct hdb_error *err);
int derive_contracted_pack(struct contracted *x, struct hdb_error *err);

#endif

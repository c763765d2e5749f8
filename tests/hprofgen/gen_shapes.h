/*
 * gen_shapes.h - the shapes of heaps that hprofgen makes, and the functions that each must
 * implement.
 *
 * Order of calls: declare (classes), plan (addresses and roots, after the objects that all dumps
 * contain), write (objects, in the order of their addresses), answers.
 */
#ifndef HPROFGEN_GEN_SHAPES_H
#define HPROFGEN_GEN_SHAPES_H

#include "gen_world.h"

#include <stdio.h>

struct gen_shape;

struct gen_run {
	struct gen_world world;
	const struct gen_shape *shape;
	uint64_t objects; /* objects of the shape, without the objects that every dump has */
	bool is_shuffled; /* neighbours in the graph are not neighbours in memory */
	void *state;      /* the shape's own; NULL or owned by the shape */
};

struct gen_shape {
	const char *name;
	const char *help;
	void (*declare)(struct gen_run *run);
	/* Returns false, with a message on stderr, if the dump cannot have so many objects. */
	bool (*plan)(struct gen_run *run);
	void (*write)(struct gen_run *run);
	/* NULL: the answers are not known in advance. */
	void (*answers)(const struct gen_run *run, FILE *out);
	void (*release)(struct gen_run *run); /* NULL: nothing to free */
};

/* gen_nodes.c: one class of nodes, dominators known by construction. */
extern const struct gen_shape gen_tree, gen_list, gen_ladder, gen_ring, gen_star, gen_tail;
/* gen_service.c */
extern const struct gen_shape gen_service;
/* gen_random.c */
extern const struct gen_shape gen_random;

#endif

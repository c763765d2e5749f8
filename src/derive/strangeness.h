/*
 * derive/strangeness.h - how strange a reference is as an explanation of why an object is alive.
 *
 * Paths that people are shown have the least strangeness in sum, not the fewest steps: a field of
 * the application's explains more than a local variable that passes by.
 */
#ifndef DERIVE_STRANGENESS_H
#define DERIVE_STRANGENESS_H

#include "derive/derive.h"
#include "graph/reach.h"

/*
 * Fills parent (object_count) with the tree of paths of least strangeness over the graph in `rows`.
 * Temporary memory: 2 bytes an object, and what the search takes.
 */
int derive_least_strange(struct derive *derive, const struct graph_rows *rows, uint32_t *parent,
			 struct hdb_error *err);

/* The rules, for tests: a class of objects whose references are strange, and why. */
struct derive_strange {
	const char *rule; /* its name */
	const char *name; /* of a class; at its end '*' stands for the rest, at its beginning too */
	bool with_subclasses;
	uint8_t cost;
	const char *reason;
};
const struct derive_strange *derive_strange_rows(size_t *count);

#endif

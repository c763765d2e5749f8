/*
 * derive/strangeness.h - measures how little a reference explains why an object is alive.
 *
 * Displayed paths minimise the total strangeness instead of the number of steps, because a field of
 * the application explains more than a local variable that exists only briefly.
 */
#ifndef DERIVE_STRANGENESS_H
#define DERIVE_STRANGENESS_H

#include "derive/derive.h"
#include "graph/reach.h"

/*
 * Computes the tree of the least strange paths in the graph `rows`. *parent is initially empty and
 * receives object_count entries (uint32_t); the caller must free it, even after a failure. In
 * addition to the memory for the search, the kinds take 2 bytes per object.
 */
int derive_least_strange(struct derive *derive, const struct graph_rows *rows,
			 struct base_big *parent, struct hdb_error *err);

/*
 * Searches for the parent of an object in that tree without loading the graph. Reads only the part
 * of the heap that is nearer to the roots. In a large heap, most leak suspects are near the roots.
 * *is_known is false if the table of the tree exists, or if building it would take less time.
 */
int derive_near_parent(struct derive *derive, uint32_t ix, uint32_t *parent, bool *is_known,
		       struct hdb_error *err);
void derive_near_close(struct derive *derive);

/* A rule, exposed for tests. It names classes whose references are strange, and the reason. */
struct derive_strange {
	const char *rule; /* name of the rule */
	const char *name; /* class name; '*' at the beginning or end matches any characters */
	bool with_subclasses;
	uint8_t cost;
	const char *reason;
};
const struct derive_strange *derive_strange_rows(size_t *count);

#endif

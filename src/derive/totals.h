/*
 * derive/totals.h - what the two steps of building the table totals share.
 */
#ifndef DERIVE_TOTALS_H
#define DERIVE_TOTALS_H

#include "derive/build.h"
#include "derive/class_tree.h"

/* By class, superclass, package, loader: enum derive_group. */
#define TOTALS_KINDS 4

struct totals_groups {
	uint32_t *of_class;          /* by class: its group's number */
	struct derive_total *totals; /* by group */
	uint32_t count;
};

/* Everything is owned. */
struct totals {
	struct derive *derive; /* lent */
	struct totals_groups kinds[TOTALS_KINDS];
	struct class_tree supers; /* for the totals by superclass */
	/*
	 * Of the loader objects, by group of DERIVE_LOADER: each one's class; and by class: whether
	 * some loader is an instance of it.
	 */
	uint32_t *loader_class;
	uint8_t *has_loaders;
};

/*
 * Adds all objects to their classes' groups: counts, sizes, and what the topmost ones of each group
 * retain. By superclass, what an object comes to is added where it begins to count, and taken off
 * again (modulo 2^64) above the class where it ends to.
 */
int derive_totals_add_objects(struct totals *t, struct hdb_error *err);

#endif

/* derive/totals.h - declarations shared by the two files that build the `totals` table. */
#ifndef DERIVE_TOTALS_H
#define DERIVE_TOTALS_H

#include "derive/build.h"
#include "derive/class_tree.h"

/* Number of values of enum derive_group. */
#define TOTALS_KINDS 4

struct totals_groups {
	uint32_t *of_class;          /* indexed by class: index of its group */
	struct derive_total *totals; /* indexed by group */
	uint32_t count;
};

/* State of the computation. All arrays are owned. */
struct totals {
	struct derive *derive; /* borrowed */
	struct totals_groups kinds[TOTALS_KINDS];
	struct class_tree supers; /* class tree for totals by superclass */
	/*
	 * For each group of DERIVE_LOADER, class of the loader object. For each class, whether
	 * class loaders are instances of the class.
	 */
	uint32_t *loader_class;
	uint8_t *has_loaders;
};

/*
 * Adds all objects to the groups of their classes: counts, sizes, and the retained size of each
 * group's topmost members. For totals by superclass, an object's size is added at the lowest class
 * for which it counts, and subtracted (modulo 2^64) at the first superclass for which it does not
 * count.
 */
int derive_totals_add_objects(struct totals *t, struct hdb_error *err);

#endif

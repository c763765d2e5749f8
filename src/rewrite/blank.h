/*
 * rewrite/blank.h - sub-records whose contents become zeros: what the shapes select of instances
 * and classes, all of arrays.
 */
#ifndef REWRITE_BLANK_H
#define REWRITE_BLANK_H

#include "rewrite/shapes.h"

/*
 * Whether the size of an object follows from a field's value, as it does of the stacks of virtual
 * threads: that value stays in any dump.
 */
bool rewrite_blank_spares(const char *class_name, const char *field_name);

/*
 * Writes an instance, zeros where fields are selected; all of its bytes if they are not what its
 * class says.
 */
int rewrite_blank_instance(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
			   struct hdb_error *err);
/* Writes a class, its static fields likewise. */
int rewrite_blank_class(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
			struct hdb_error *err);
/* Writes a primitive array of zeros. */
int rewrite_blank_array(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

#endif

/*
 * rewrite/blank.h - writes sub-records with zeros instead of values. In instances and classes,
 * these are the values of the fields that the shapes select. In arrays, these are all elements.
 */
#ifndef REWRITE_BLANK_H
#define REWRITE_BLANK_H

#include "rewrite/shapes.h"

/*
 * Returns whether the size of an object depends on the value of this field, as with the stacks of
 * virtual threads. Such a value is never blanked.
 */
bool rewrite_blank_spares(const char *class_name, const char *field_name);

/*
 * Writes an instance with zeros in the selected fields. If its size does not match the fields of
 * its class, all of its bytes become zeros, because their meaning is unknown.
 */
int rewrite_blank_instance(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
			   struct hdb_error *err);
/* Writes a class with zeros in the selected static fields. */
int rewrite_blank_class(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
			struct hdb_error *err);
/* Writes a primitive array whose elements are all zero. */
int rewrite_blank_array(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

#endif

/*
 * rewrite/blank.h - writes sub-records with their values replaced by zeros: the selected fields of
 * instances and classes, and all elements of arrays.
 */
#ifndef REWRITE_BLANK_H
#define REWRITE_BLANK_H

#include "rewrite/shapes.h"

/*
 * Returns whether this field determines the size of its object, as in the stack chunks of virtual
 * threads. Such fields are never blanked.
 */
bool rewrite_blank_spares(const char *class_name, const char *field_name);

/*
 * Writes an instance with the selected fields zeroed. If the instance does not match the fields of
 * its class, all of its bytes are zeroed, because their meaning is unknown.
 */
int rewrite_blank_instance(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
			   struct hdb_error *err);
/* Writes a class with the selected static fields zeroed. */
int rewrite_blank_class(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
			struct hdb_error *err);
/* Writes a primitive array with all elements zeroed. */
int rewrite_blank_array(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

#endif

/*
 * rewrite/widths.h - records and sub-records with IDs of another size: wherever the format has an
 * ID, and in the fields of instances, where the classes say.
 */
#ifndef REWRITE_WIDTHS_H
#define REWRITE_WIDTHS_H

#include "rewrite/shapes.h"

/* Selects references, for shapes. */
bool rewrite_widths_selects(void *ctx, uint8_t type, const char *class_name,
			    const char *field_name);

/*
 * Finds out, when the shapes are loaded, whether the sizes of instances that classes say change
 * with the size of references: HotSpot's do, ART's are those of the objects.
 */
int rewrite_widths_prepare(struct rewrite_shapes *shapes, struct hdb_error *err);

/*
 * Write a sub-record, a record, with IDs of w->id_size bytes. HDB_ELIMIT if one does not fit. An
 * instance whose bytes are not what its class says keeps them, and counts as a problem.
 */
int rewrite_widths_sub(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
		       struct hdb_error *err);
int rewrite_widths_record(struct rewriter *w, const struct hprof_record *rec,
			  struct hdb_error *err);

#endif

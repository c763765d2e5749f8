/*
 * rewrite/widths.h - records and sub-records with IDs of another size, both where the format has
 * IDs and in reference fields of instances, as the classes describe them.
 */
#ifndef REWRITE_WIDTHS_H
#define REWRITE_WIDTHS_H

#include "rewrite/shapes.h"

/* Selects reference fields; for rewrite_shapes. */
bool rewrite_widths_selects(void *ctx, uint8_t type, const char *class_name,
			    const char *field_name);

/*
 * Call it after rewrite_shapes_load. Finds out whether the instance sizes in the classes depend on
 * the size of references: those of HotSpot do, those of ART are the real sizes of objects.
 */
int rewrite_widths_prepare(struct rewrite_shapes *shapes, struct hdb_error *err);

/*
 * Write a sub-record or a record with IDs of w->id_size bytes. HDB_ELIMIT if an ID does not fit. An
 * instance that does not match its class is copied unchanged, and counts as a problem.
 */
int rewrite_widths_sub(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
		       struct hdb_error *err);
int rewrite_widths_record(struct rewriter *w, const struct hprof_record *rec,
			  struct hdb_error *err);

#endif

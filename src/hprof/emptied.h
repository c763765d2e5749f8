/*
 * hprof/emptied.h - recognises dumps stripped by KOOM, whose primitive arrays have no elements
 * although the lengths of heap dump records still include them. See FORMAT.md.
 */
#ifndef HPROF_EMPTIED_H
#define HPROF_EMPTIED_H

#include "hprof/salvage.h"

/*
 * Examines the first records of the dump, and sets file->is_emptied if the arrays of a heap dump
 * record lack their elements. Primitive arrays are then read as PRIMITIVE ARRAY NODATA. Returns a
 * value below 0 only if reading the source failed.
 */
int hprof_find_emptied(struct hprof_file *file, struct hdb_error *err);

/* The extent of a heap dump record in a stripped dump. */
struct hprof_emptied {
	uint64_t end; /* offset after the last byte */
	/* number of bytes that are included in the record's length but missing from the file */
	uint64_t missing;
};

/*
 * Returns 1 if the sizes of a heap dump record's sub-records, including the missing elements, add
 * up to its length, and a record or the end of the file follows. Returns 0 if they do not, or if
 * s->budget is exhausted (each sub-record takes one step), and a value below 0 if reading the
 * source failed.
 */
int hprof_emptied_measure(struct hprof_salvage *s, const struct hprof_record *rec,
			  struct hprof_emptied *out, struct hdb_error *err);

#endif

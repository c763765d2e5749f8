/*
 * hprof/emptied.h - recognises dumps stripped by KOOM, whose primitive arrays have no elements
 * although the lengths of heap dump records still include them. See FORMAT.md.
 */
#ifndef HPROF_EMPTIED_H
#define HPROF_EMPTIED_H

#include "hprof/salvage.h"

/*
 * Examines the first records of the dump, and sets file->is_emptied if arrays lack their elements.
 * Primitive arrays are then read as PRIMITIVE ARRAY NODATA. Returns a negative value only if the
 * source cannot be read.
 */
int hprof_find_emptied(struct hprof_file *file, struct hdb_error *err);

/* The extent of a heap dump record in a stripped dump. */
struct hprof_emptied {
	uint64_t end; /* offset after the last byte */
	/* number of bytes that the record's length includes but the file does not */
	uint64_t missing;
};

/*
 * Returns 1 if the sub-records of a heap dump record add up to its length once missing elements are
 * counted, and a record or the end of the file follows. Returns 0 if not, or if s->budget is
 * exhausted (each sub-record takes one step), and a negative value if the source cannot be read.
 */
int hprof_emptied_measure(struct hprof_salvage *s, const struct hprof_record *rec,
			  struct hprof_emptied *out, struct hdb_error *err);

#endif

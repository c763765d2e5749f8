/*
 * hprof/emptied.h - dumps stripped by KOOM, in which primitive arrays have no elements, but the
 * lengths of heap dump records still include the elements. See FORMAT.md.
 */
#ifndef HPROF_EMPTIED_H
#define HPROF_EMPTIED_H

#include "hprof/salvage.h"

/*
 * Examines the first records of the dump, and sets file->is_emptied if the arrays of a heap dump
 * record lack their elements. From then on, primitive arrays are read as PRIMITIVE ARRAY NODATA.
 * Returns a value below 0 only if the source failed.
 */
int hprof_find_emptied(struct hprof_file *file, struct hdb_error *err);

/* Extent of a heap dump record in such a dump. */
struct hprof_emptied {
	uint64_t end;     /* offset past its last byte */
	uint64_t missing; /* bytes that the record's length counts but the file does not have */
};

/*
 * Returns 1 if the sub-records of a heap dump record, with the missing elements counted, add up to
 * its length and a record or the end of the file follows. Returns 0 if not, or if s->budget ran out
 * (each sub-record costs one step), and a value below 0 if the source failed.
 */
int hprof_emptied_measure(struct hprof_salvage *s, const struct hprof_record *rec,
			  struct hprof_emptied *out, struct hdb_error *err);

#endif

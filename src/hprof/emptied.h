/*
 * hprof/emptied.h - dumps that KOOM has stripped: primitive arrays without their elements, in heap
 * dump records whose lengths still count them. See FORMAT.md.
 */
#ifndef HPROF_EMPTIED_H
#define HPROF_EMPTIED_H

#include "hprof/salvage.h"

/*
 * Finds out whether the dump is one, by its first heap dump record with such an array, and sets
 * file->is_emptied. From then on these arrays are read as PRIMITIVE ARRAY NODATA. Below 0 only if
 * the source failed.
 */
int hprof_find_emptied(struct hprof_file *file, struct hdb_error *err);

/* What a heap dump record of such a dump comes to. */
struct hprof_emptied {
	uint64_t end;     /* offset past its last byte */
	uint64_t missing; /* bytes that its length counts and that are not there */
};

/*
 * 1 if the sub-records of a heap dump record come to its length when the missing elements are
 * counted, and a record or the file's end is behind them; 0 if not, or if the steps that s->budget
 * has left, one a sub-record, were not enough; below 0 if the source failed.
 */
int hprof_emptied_measure(struct hprof_salvage *s, const struct hprof_record *rec,
			  struct hprof_emptied *out, struct hdb_error *err);

#endif

/*
 * hprof/parse.h - parses a heap sub-record without error messages. Private to src/hprof.
 *
 * The strict reader adds messages. The walk and the salvage code handle errors in other ways.
 */
#ifndef HPROF_PARSE_H
#define HPROF_PARSE_H

#include "hprof/reader.h"

/*
 * Results of hprof_sub_parse in addition to HDB_OK. Values below 0 mean that reading the source
 * failed.
 */
enum hprof_parse_result {
	HPROF_PARSE_BAD_TAG = 101,  /* no sub-record has this tag */
	HPROF_PARSE_BAD_TYPE = 102, /* unknown basic type of an array, static or field */
	HPROF_PARSE_OVERRUN = 103   /* runs past the limit */
};

/*
 * Reads the sub-record at `offset`, which must end at or before `limit` (at most the file's size).
 * Unless reading the source fails, sets out->offset, out->tag and, if known, out->end. After
 * HPROF_PARSE_OVERRUN, out->end is where the sub-record would end, or the lowest offset at which it
 * could end.
 */
int hprof_sub_parse(const struct hprof_file *file, struct base_view *view, struct hprof_range range,
		    struct hprof_sub *out, struct hdb_error *err);

/*
 * Returns the result to use when base_view_at returns NULL for a range within the source's bounds.
 */
static inline int hprof_view_failed(const struct hdb_error *err)
{
	return err && err->code < 0 ? err->code : HDB_EIO;
}

#endif

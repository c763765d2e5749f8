/*
 * hprof/parse.h - parses a heap sub-record without error messages. Private to src/hprof.
 *
 * The strict reader adds messages. The walk and the salvage code handle errors in other ways.
 */
#ifndef HPROF_PARSE_H
#define HPROF_PARSE_H

#include "hprof/reader.h"

/*
 * Results of hprof_sub_parse other than HDB_OK. Negative values mean that the source cannot be
 * read.
 */
enum hprof_parse_result {
	HPROF_PARSE_BAD_TAG = 101,  /* no sub-record has this tag */
	HPROF_PARSE_BAD_TYPE = 102, /* unknown basic type of an array, static or field */
	HPROF_PARSE_OVERRUN = 103   /* extends past the limit */
};

/*
 * Reads the sub-record at range.offset, which must end at or before range.limit (at most the file's
 * size). Unless the source cannot be read, sets out->offset, out->tag and, if known, out->end.
 * After HPROF_PARSE_OVERRUN, out->end is where the sub-record ends, or the lowest offset at which
 * it could.
 */
int hprof_sub_parse(const struct hprof_file *file, struct base_view *view, struct hprof_range range,
		    struct hprof_sub *out, struct hdb_error *err);

/* Returns the error code after base_view_at returned NULL for a range within the source. */
static inline int hprof_view_failed(const struct hdb_error *err)
{
	return err && err->code < 0 ? err->code : HDB_EIO;
}

#endif

/*
 * hprof/parse.h - parsing a heap sub-record without making messages. Private to src/hprof.
 *
 * The strict reader adds the messages, the walk and the salvage decide for themselves.
 */
#ifndef HPROF_PARSE_H
#define HPROF_PARSE_H

#include "hprof/reader.h"

/* Outcomes of hprof_sub_parse besides HDB_OK; below 0 only for failures of the source. */
enum hprof_parse_result {
	HPROF_PARSE_BAD_TAG = 101,  /* no sub-record has this tag */
	HPROF_PARSE_BAD_TYPE = 102, /* an array's, static's or field's basic type is none */
	HPROF_PARSE_OVERRUN = 103   /* it runs past the limit */
};

/*
 * Reads the sub-record at `offset`, whose bytes must end at or before `limit` (at most the file's
 * size). out->offset, tag and (where known) end are set in every case but a failing source; on
 * HPROF_PARSE_OVERRUN `end` is how far it would reach, or the least that it needs.
 */
int hprof_sub_parse(const struct hprof_file *file, struct base_view *view, struct hprof_range range,
		    struct hprof_sub *out, struct hdb_error *err);

/* The result code of a base_view_at that gave NULL within the source's bounds. */
static inline int hprof_view_failed(const struct hdb_error *err)
{
	return err && err->code < 0 ? err->code : HDB_EIO;
}

#endif

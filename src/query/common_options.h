/*
 * query/common_options.h - options that several queries have.
 */
#ifndef QUERY_COMMON_OPTIONS_H
#define QUERY_COMMON_OPTIONS_H

#include "analysis/exclude.h"
#include "query/query.h"

/* The value of --by: class, superclass, package or loader; `fallback` if it was not given. */
int query_by(const struct query *q, enum derive_group fallback, enum derive_group *out,
	     struct hdb_error *err);

/* Reads --exclude, `fallback` if it was not given; as analysis_excludes_parse. */
int query_read_excludes(const struct query *q, const char *fallback, struct analysis_excludes *out,
			struct hdb_error *err);

#endif

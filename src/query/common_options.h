/*
 * query/common_options.h - options that several queries have.
 */
#ifndef QUERY_COMMON_OPTIONS_H
#define QUERY_COMMON_OPTIONS_H

#include "analysis/exclude.h"
#include "query/query.h"

/* Without --skip: classes that tell nobody whose memory it is, as in Eclipse MAT. */
#define QUERY_SKIP_DEFAULT "java.*,javax.*,com.sun.*,sun.*,jdk.*"

/* The value of --by: class, superclass, package or loader; class if it says something else. */
enum derive_group query_by(const struct query *q);

/* Reads --exclude, as analysis_excludes_parse: nothing is excluded unless the option says so. */
int query_read_excludes(const struct query *q, struct analysis_excludes *out,
			struct hdb_error *err);

#endif

/* query/common_options.h - reads options that several queries share. */
#ifndef QUERY_COMMON_OPTIONS_H
#define QUERY_COMMON_OPTIONS_H

#include "analysis/exclude.h"
#include "query/query.h"

/* Default of --skip, as in Eclipse MAT: classes that do not reveal the owner of memory. */
#define QUERY_SKIP_DEFAULT "java.*,javax.*,com.sun.*,sun.*,jdk.*"

/* Returns the value of --by: class, superclass, package or loader. Other values count as class. */
enum derive_group query_by(const struct query *q);

/* Reads --exclude (analysis_excludes_parse). The default excludes nothing. */
int query_read_excludes(const struct query *q, struct analysis_excludes *out,
			struct hdb_error *err);

#endif

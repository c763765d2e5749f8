/* query/common_options.c - reads options that several queries share. */
#include "query/common_options.h"

#include <string.h>

enum derive_group query_by(const struct query *q)
{
	static const char *const names[] = { "class", "superclass", "package", "loader" };
	const char *text = query_text(q, "by");
	const size_t i = text ? BASE_INDEX(names, text) : 0;

	return i < BASE_COUNT(names) ? (enum derive_group)i : DERIVE_CLASS;
}

int query_read_excludes(const struct query *q, struct analysis_excludes *out, struct hdb_error *err)
{
	const char *text = query_text(q, "exclude");

	return analysis_excludes_parse(&q->session, text ? text : "none", out, err);
}

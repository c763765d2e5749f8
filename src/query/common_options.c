/*
 * query/common_options.c - options that several queries have.
 */
#include "query/common_options.h"

#include <assert.h>
#include <string.h>

int query_by(const struct query *q, enum derive_group fallback, enum derive_group *out,
	     struct hdb_error *err)
{
	static const char *const names[] = { "class", "superclass", "package", "loader" };
	const char *text = query_option(q, "by");

	*out = fallback;
	if (!text)
		return HDB_OK;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], text) == 0) {
			*out = (enum derive_group)i;
			return HDB_OK;
		}
	}
	return hdb_fail(err, HDB_EUSAGE, "--by must be one of %s, not \"%s\"",
			"class, superclass, package, loader", text);
}

int query_read_excludes(const struct query *q, const char *fallback, struct analysis_excludes *out,
			struct hdb_error *err)
{
	const char *text = query_option(q, "exclude");

	assert(fallback);
	return analysis_excludes_parse(&q->session, text ? text : fallback, out, err);
}

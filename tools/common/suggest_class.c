/*
 * common/suggest_class.c - implements suggest_class.h.
 */
#include "common/suggest_class.h"

#include "base/suggest.h"

static const char *class_name(void *ctx, uint32_t no)
{
	return hdb_class_name(ctx, no);
}

const char *suggest_class(struct hdb *db, const char *wanted)
{
	const struct base_suggest_names names = { hdb_class_count(db), class_name, db };

	return base_suggest_class(wanted, &names);
}

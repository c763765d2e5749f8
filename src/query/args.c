/*
 * query/args.c - what a query is asked with: options, and targets that name objects and classes.
 */
#include "query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct hdb_old_option query_old_sub[] = { { "sub", "subclasses" }, { NULL, NULL } };

const char *query_option_now(const struct hdb_query_spec *spec, const char *name)
{
	for (const struct hdb_old_option *o = spec->old_options; o && o->old_name; o++)
		if (strcmp(o->old_name, name) == 0)
			return o->name;
	return name;
}

const char *query_option(const struct query *q, const char *name)
{
	const char *value = NULL;

	/* The last one counts, as on any command line. */
	for (size_t i = 0; i < q->args->option_count; i++) {
		const struct hdb_option *option = &q->args->options[i];

		if (strcmp(query_option_now(&q->def->spec, option->name), name) == 0)
			value = option->value ? option->value : "";
	}
	return value;
}

int query_number(const struct query *q, const char *name, uint64_t low, uint64_t high,
		 uint64_t fallback, uint64_t *out, struct hdb_error *err)
{
	const char *text = query_option(q, name);
	char *end = NULL;
	unsigned long long value;

	*out = fallback;
	if (!text)
		return HDB_OK;
	errno = 0;
	value = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	if (!end || *end || errno || value < low || value > high)
		return hdb_fail(err, HDB_EUSAGE,
				"--%s must be a number from %" PRIu64 " to %" PRIu64 ", not \"%s\"",
				name, low, high, text);
	*out = value;
	return HDB_OK;
}

int query_targets(const struct query *q, size_t low, size_t high, struct hdb_error *err)
{
	const struct hdb_query_spec *spec = &q->def->spec;

	if (q->args->target_count >= low && q->args->target_count <= high)
		return HDB_OK;
	if (high == 0)
		return hdb_fail(err, HDB_EUSAGE, "%s takes no arguments", spec->name);
	if (q->args->target_count < low)
		return hdb_fail(err, HDB_EUSAGE, "missing argument: %s", spec->targets);
	return hdb_fail(err, HDB_EUSAGE, "%s takes at most %zu argument%s: %s", spec->name, high,
			high == 1 ? "" : "s", spec->targets);
}

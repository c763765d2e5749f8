/*
 * queries/objects/q_properties.c - the properties query: system properties, environment and
 * arguments of the VM, if the heap contains them.
 */
#include "analysis/properties.h"
#include "base/glob.h"
#include "heap/values/values.h"
#include "queries/queries.h"

#include <queries/objects/q_properties.query.h>

static int next_properties(struct query *q, struct hdb_error *err)
{
	struct analysis_properties *p = q->state;
	const char *pattern = query_option(q, "match");
	int r;

	do
		r = analysis_properties_next(&q->session, p, err);
	while (r == HDB_OK && pattern && !base_glob(pattern, p->name));
	TRY(r);
	query_lend_text(q, SECTION, p->section);
	query_set_text(q, NAME, p->name);
	query_set_text(q, VALUE, p->value);
	query_set_id(q, ID, p->value_ix);
	/* A full buffer may have been truncated within a character. */
	if (strlen(p->value) + 4 >= sizeof(p->value) && p->value_ix != HEAP_NONE &&
	    heap_is_string(q->heap, p->value_ix))
		return query_set_string(q, VALUE, p->value_ix, err);
	return HDB_OK;
}

QUERY_DEFINE(properties, .state_size = sizeof(struct analysis_properties), .next = next_properties);

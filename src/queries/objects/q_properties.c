/*
 * queries/objects/q_properties.c - query properties: system properties, environment and arguments
 * of the VM, if the heap contains them.
 */
#include "analysis/properties.h"
#include "base/glob.h"
#include "heap/values/values.h"
#include "queries/queries.h"

static const struct hdb_option_spec options[] = {
	{ "match", HDB_OPTION_TEXT, "PATTERN", "Only names that match; * and ? are wildcards",
	  .example = "java.*" },
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(SECTION, TEXT, "section", "section", \
	  "Section: property (current), vm property (at the VM's start), environment, vm " \
	  "argument or android") \
	X(NAME, TEXT, "name", "name", "Name of the property, or index of the argument") \
	X(VALUE, TEXT, "value", "value", \
	  "Value as text. Beyond 1 MiB, the beginning and length " \
	  "of the value.") \
	X(ID, ID, "id", "id", "ID of the object that holds the value")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) };

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
	/* A full buffer may end within a character. */
	if (strlen(p->value) + 4 >= sizeof(p->value) && p->value_ix != HEAP_NONE &&
	    heap_is_string(q->heap, p->value_ix))
		return query_set_string(q, VALUE, p->value_ix, err);
	return HDB_OK;
}

const struct query_def query_properties = {
	.spec = {
		.name = "properties", .aliases = "system-properties",
		.group = "database", .example = "",
		.targets = "",
		.summary = "System properties, environment and arguments of the VM",
		.options = options,
		QUERY_COLUMNS(columns),
		.is_query = 1,
	},
	.state_size = sizeof(struct analysis_properties),
	.next = next_properties,
};

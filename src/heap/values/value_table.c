/*
 * heap/values/value_table.c - the table of how values of known classes are displayed, compiled from
 * values.rows.
 */
#include "heap/values/value_text.h"

#define VALUE(class, template) \
	{ \
		class, template \
	}

static const struct heap_value_rule table[] = {
#include <heap/values/values.rows.h>
};

const struct heap_value_rule *heap_value_rules(size_t *count)
{
	*count = BASE_COUNT(table);
	return table;
}

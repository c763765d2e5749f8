/*
 * store/problems.c - names of the problems in the table problems.
 */
#include "store/schema.h"

#include <stddef.h>

static const char *const names[] = {
	[STORE_PROBLEM_DUPLICATE_ID] = "duplicate-id",
	[STORE_PROBLEM_MISSING_CLASS] = "missing-class",
	[STORE_PROBLEM_MISSING_SUPER] = "missing-super",
	[STORE_PROBLEM_SUPER_CYCLE] = "super-cycle",
	[STORE_PROBLEM_SHORT_INSTANCE] = "short-instance",
	[STORE_PROBLEM_NULL_ID] = "null-id",
	[STORE_PROBLEM_MISSING_NAME] = "missing-name",
	[STORE_PROBLEM_LONG_TEXT] = "long-text",
	[STORE_PROBLEM_BAD_FIELD_TYPE] = "bad-field-type",
	[STORE_PROBLEM_CLASS_ID] = "class-id",
	[STORE_PROBLEM_LOST_PACKETS] = "lost-packets",
};

const char *store_problem_name(uint32_t kind)
{
	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

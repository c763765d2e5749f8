/*
 * store/problems.c - names of the problems that are kept in the table problems.
 */
#include "store/schema.h"

#include <stddef.h>

const char *store_problem_name(uint32_t kind)
{
	switch (kind) {
	case STORE_PROBLEM_DUPLICATE_ID:
		return "duplicate-id";
	case STORE_PROBLEM_MISSING_CLASS:
		return "missing-class";
	case STORE_PROBLEM_MISSING_SUPER:
		return "missing-super";
	case STORE_PROBLEM_SUPER_CYCLE:
		return "super-cycle";
	case STORE_PROBLEM_SHORT_INSTANCE:
		return "short-instance";
	case STORE_PROBLEM_NULL_ID:
		return "null-id";
	case STORE_PROBLEM_MISSING_NAME:
		return "missing-name";
	case STORE_PROBLEM_LONG_TEXT:
		return "long-text";
	case STORE_PROBLEM_BAD_FIELD_TYPE:
		return "bad-field-type";
	case STORE_PROBLEM_CLASS_ID:
		return "class-id";
	default:
		return NULL;
	}
}

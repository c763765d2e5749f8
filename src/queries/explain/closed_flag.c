/*
 * queries/explain/closed_flag.c - finds boolean fields that mark objects as closed or finished and
 * therefore no longer needed, and counts objects by the values of these fields.
 */
#include "queries/explain/suspect_facts.h"

#include "heap/platform_classes.h"
#include "heap/values/values.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of fields of a class to examine. */
#define FLAG_FIELDS 24u

/*
 * Names of fields that mark objects as closed. "!" means that the object is closed if the field is
 * false.
 */
static const char *const closed_names[] = {
	"closed",    "isClosed",  "disposed",   "isDisposed",   "destroyed",   "released",
	"cancelled", "isStopped", "terminated", "disconnected", "isCancelled", "stopped",
	"!open",     "!isOpen",   "!connected", "!alive",
};

bool explain_is_closed_name(const char *name, bool *is_inverse)
{
	for (size_t i = 0; i < BASE_COUNT(closed_names); i++) {
		*is_inverse = closed_names[i][0] == '!';
		if (strcmp(name, closed_names[i] + *is_inverse) == 0)
			return true;
	}
	return false;
}

/* Finds the boolean field of the object's class that marks objects as closed, if there is one. */
static int find_flag(struct heap *heap, const struct heap_object *object, struct explain_flag *flag,
		     struct hdb_error *err)
{
	struct heap_fields fields;

	flag->tried_no = object->class_no;
	TRY_FOUND(heap_fields_begin(heap, object->ix, &fields, err));
	for (flag->field_no = 0; flag->field_no < FLAG_FIELDS; flag->field_no++) {
		char name[EXPLAIN_CONTENT_MAX];

		TRY_FOUND(heap_fields_next(&fields, err));
		if (fields.value.type != HPROF_BOOLEAN)
			continue;
		TRY(heap_text(heap, fields.field.name_text, name, sizeof(name), err));
		if (!explain_is_closed_name(name, &flag->is_inverse))
			continue;
		flag->class_no = object->class_no;
		(void)snprintf(flag->name, sizeof(flag->name), "%.90s.%.60s",
			       explain_short_class(heap, object->class_no), name);
		return HDB_OK;
	}
	return HDB_OK;
}

int explain_flag_add(struct heap *heap, uint32_t ix, struct explain_flag *flag,
		     struct hdb_error *err)
{
	struct heap_object object;
	struct heap_fields fields;

	TRY(heap_object(heap, ix, &object, err));
	if (heap->state.lacks_values || object.kind != STORE_INSTANCE || ix == flag->last_ix ||
	    heap_is_platform_class(heap_class_name(heap, object.class_no)))
		return HDB_OK;
	if (flag->class_no == HEAP_NONE && object.class_no != flag->tried_no)
		TRY(find_flag(heap, &object, flag, err));
	if (object.class_no != flag->class_no)
		return HDB_OK;
	flag->last_ix = ix;
	TRY_FOUND(heap_fields_begin(heap, ix, &fields, err));
	for (uint32_t no = 0; no <= flag->field_no; no++)
		TRY_FOUND(heap_fields_next(&fields, err));
	flag->objects++;
	flag->closed += (fields.value.bits & 1) != flag->is_inverse;
	return HDB_OK;
}

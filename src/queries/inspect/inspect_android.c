/*
 * queries/inspect/inspect_android.c - functions for rules that cannot be written as expressions,
 * except those for views and contexts.
 */
#include "heap/known.h"
#include "base/sort.h"
#include "queries/inspect/inspect.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/* Maximum number of elements of lists and maps shown. */
#define ELEMENTS_MAX 64u
/* Maximum number of resource IDs of an application. */
#define RESOURCES_MAX 1048576u

/* ---- any VM ---- */

/* Describes an anonymous class. The compiler generates names like "Outer$1". */
int inspect_anonymous(struct inspect_look *look, struct hdb_error *err)
{
	const char *name = heap_class_name(look->heap, look->class_no);
	const char *dollar = strrchr(name, '$');
	const uint32_t super = heap_class(look->heap, look->class_no)->super_no;
	const char *super_name;

	if (!dollar || dollar == name || !dollar[1] ||
	    dollar[1 + strspn(dollar + 1, "0123456789")] || super == STORE_NONE)
		return HDB_OK;
	super_name = heap_class_name(look->heap, super);
	/* The dump does not record which interface the class implements. */
	if (strcmp(super_name, "java.lang.Object") == 0)
		return HDB_OK;
	return inspect_say(look, INSPECT_LABEL, err, "Anonymous subclass of %s", super_name);
}

/* ---- applications ---- */

int inspect_service(struct inspect_look *look, struct hdb_error *err)
{
	const struct base_vec *known = &look->inspector->services;

	if (!look->inspector->knows_services)
		return HDB_OK;
	if (known->count &&
	    bsearch(&look->ix, known->data, known->count, sizeof(uint32_t), base_compare_u32))
		return inspect_say(look, INSPECT_THERE, err,
				   "the activity thread knows this service");
	return inspect_say(look, INSPECT_GONE, err,
			   "the activity thread does not know this service");
}

/* ---- animators ---- */

int inspect_animator(struct inspect_look *look, struct hdb_error *err)
{
	struct heap_walk walk;
	uint32_t list, array, ix;
	int64_t size;
	int r;

	TRY_FOUND(inspect_reference(look, "mListeners", &list, err));
	if (list == HEAP_NONE)
		return inspect_say(look, INSPECT_LABEL, err, "mListeners = null");
	TRY_FOUND(heap_path_number(look->heap, list, "size", &size, err));
	if (size <= 0)
		return inspect_say(look, INSPECT_LABEL, err, "mListeners is empty");
	TRY_FOUND(heap_path_object(look->heap, list, "elementData|array", &array, err));
	heap_walk_begin(&walk, array, 0,
			(uint64_t)size < ELEMENTS_MAX ? (uint64_t)size : ELEMENTS_MAX);
	while ((r = heap_walk_target_next(look->heap, &walk, &ix, err)) == HDB_OK)
		TRY(inspect_say(look, INSPECT_LABEL, err, "mListeners[%" PRIu64 "] = %s",
				walk.at - 1, inspect_class_of(look->heap, ix)));
	return r < 0 ? r : HDB_OK;
}

/* ---- receivers ---- */

/*
 * Adds the receivers of a map. The receivers are the keys of an ArrayMap, which are every other
 * element of mArray.
 */
static int say_receivers_of(struct inspect_look *look, uint32_t map, struct hdb_error *err)
{
	uint64_t bits[ELEMENTS_MAX];
	struct heap_slice slice = { .bits = bits, .room = ELEMENTS_MAX };
	uint32_t array, ix;
	int r;

	TRY_FOUND(heap_path_object(look->heap, map, "mArray", &array, err));
	TRY_FOUND(heap_elements(look->heap, array, 0, &slice, err));
	for (uint64_t i = 0; i < slice.done; i += 2) {
		if (!bits[i])
			continue;
		TRY_ERRORS(r = heap_find(look->heap, bits[i], &ix, err));
		if (r == HDB_OK)
			TRY(inspect_say(look, INSPECT_LABEL, err, "....%s@%" PRIu64,
					inspect_simple_name(inspect_class_of(look->heap, ix)),
					bits[i]));
	}
	return HDB_OK;
}

/*
 * Adds a context and the receivers that it registered. Returns HDB_NOTFOUND if the dump lacks the
 * context or one of the receivers.
 */
static int say_context_of(struct inspect_look *look, uint64_t context, uint64_t map,
			  struct hdb_error *err)
{
	uint32_t ix;

	TRY(heap_find(look->heap, context, &ix, err));
	TRY(inspect_say(look, INSPECT_LABEL, err, "..%s@%" PRIu64,
			inspect_simple_name(inspect_class_of(look->heap, ix)), context));
	TRY(heap_find(look->heap, map, &ix, err));
	return say_receivers_of(look, ix, err);
}

int inspect_loaded_apk(struct inspect_look *look, struct hdb_error *err)
{
	uint64_t bits[ELEMENTS_MAX];
	struct heap_slice slice = { .bits = bits, .room = ELEMENTS_MAX };
	uint32_t array;
	bool any = false;

	TRY_FOUND(heap_path_object_as(look->heap, (struct heap_as){ look->ix, look->start_no },
				      "mReceivers.mArray", &array, err));
	TRY_FOUND(heap_elements(look->heap, array, 0, &slice, err));
	for (uint64_t i = 0; i + 1 < slice.done; i += 2) {
		if (!bits[i] || !bits[i + 1])
			continue;
		if (!any)
			TRY(inspect_say(look, INSPECT_LABEL, err, "Receivers"));
		any = true;
		TRY_ERRORS(say_context_of(look, bits[i], bits[i + 1], err));
	}
	return HDB_OK;
}

/* ---- resources ---- */

bool inspect_resource_name(struct inspector *inspector, int64_t id, char *buf, size_t size)
{
	struct heap *heap = inspector->session->heap;
	struct heap_object ids;
	uint64_t low = 0, high, bits;
	struct heap_slice slice = { .bits = &bits, .room = 1 };
	uint32_t text;

	if (inspector->resource_ids == HEAP_NONE || inspector->resource_names == HEAP_NONE ||
	    heap_object(heap, inspector->resource_ids, &ids, NULL) != HDB_OK)
		return false;
	high = ids.length < RESOURCES_MAX ? ids.length : RESOURCES_MAX;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (heap_elements(heap, inspector->resource_ids, middle, &slice, NULL) != HDB_OK ||
		    !slice.done || slice.type != HPROF_INT)
			return false;
		if ((int32_t)(uint32_t)bits == id)
			return heap_elements(heap, inspector->resource_names, middle, &slice,
					     NULL) == HDB_OK &&
			       slice.done && bits && heap_find(heap, bits, &text, NULL) == HDB_OK &&
			       heap_string(heap, text, buf, size, NULL) == HDB_OK;
		if ((int32_t)(uint32_t)bits < id)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

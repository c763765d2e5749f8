/*
 * heap/collections/entries_bounds.c - decides which keys of a sorted map belong to a view between
 * two keys (submaps of java.util.TreeMap and ConcurrentSkipListMap).
 *
 * This requires the order of the map. heapdb knows the natural order of common JDK values and its
 * reverse, but cannot run a program's own comparator.
 */
#include "heap/collections/entries_private.h"

#include "heap/values/values.h"

#include <assert.h>
#include <string.h>

/*
 * Maximum number of bytes of each string that are compared. If all of these bytes are equal, the
 * order is unknown.
 */
#define TEXT_SIZE 4096

static const char NO_ORDER[] = "the bounds cannot be compared because the order of the keys is "
			       "unknown";
static const char BACKWARDS[] = "the collection is a reversed view of a list that has only "
				"forward links";

/* Fields of these views, by bound. A missing field counts as false. */
static const char *const bound_fields[2] = { "lo", "hi" };
static const char *const open_fields[2] = { "fromStart", "toEnd" };
static const char *const included_fields[2] = { "loInclusive", "hiInclusive" };

/* Classes with a natural order, and the field that determines the order. */
static const struct {
	const char *class_name, *field;
} orders[] = {
	{ "java.lang.Integer", "value" },   { "java.lang.Long", "value" },
	{ "java.lang.Short", "value" },     { "java.lang.Byte", "value" },
	{ "java.lang.Character", "value" }, { "java.lang.Enum", "ordinal" },
	{ "java.util.Date", "fastTime" },
};

/*
 * Reads the number that an object is ordered by. Returns HDB_NOTFOUND if its class is not in the
 * table.
 */
static int order_number(struct heap *heap, uint32_t ix, int64_t *out, struct hdb_error *err)
{
	struct heap_object object;
	uint32_t no;
	int r = heap_object(heap, ix, &object, err);

	if (r < 0 || object.kind != STORE_INSTANCE)
		return r < 0 ? r : HDB_NOTFOUND;
	no = object.class_no;
	for (uint32_t steps = 0; no != STORE_NONE && steps <= heap->class_count; steps++) {
		for (size_t i = 0; i < BASE_COUNT(orders); i++)
			if (strcmp(heap_class_name(heap, no), orders[i].class_name) == 0)
				return heap_path_number_as(heap, (struct heap_as){ ix, no },
							   orders[i].field, out, err);
		no = heap_class(heap, no)->super_no;
	}
	return HDB_NOTFOUND;
}

/*
 * Compares UTF-8 strings in the order of their UTF-16 units. Only surrogate pairs make a
 * difference: characters above U+FFFF come before U+E000 to U+FFFF.
 */
static int compare_texts(const char *a, const char *b)
{
	const uint8_t *x = (const uint8_t *)a, *y = (const uint8_t *)b;

	while (*x && *x == *y) {
		x++;
		y++;
	}
	if (*x >= 0xee && *y >= 0xee && (*x >= 0xf0) != (*y >= 0xf0))
		return *x >= 0xf0 ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/*
 * Compares two keys. Sets *out to -1, 0 or 1, or returns HDB_NOTFOUND if they are not comparable.
 */
static int compare(struct heap *heap, const struct heap_value *a, const struct heap_value *b,
		   int *out, struct hdb_error *err)
{
	char texts[2][TEXT_SIZE];
	const struct heap_value *values[2] = { a, b };
	int64_t numbers[2] = { 0, 0 };
	uint32_t ixs[2];
	int r = HDB_OK;

	if (a->type != HPROF_OBJECT || b->type != HPROF_OBJECT || !a->bits || !b->bits)
		return HDB_NOTFOUND;
	for (unsigned i = 0; i < 2 && r == HDB_OK; i++)
		r = heap_find(heap, values[i]->bits, &ixs[i], err);
	TRY(r);
	if (heap_is_string(heap, ixs[0]) && heap_is_string(heap, ixs[1])) {
		for (unsigned i = 0; i < 2 && r == HDB_OK; i++)
			r = heap_string(heap, ixs[i], texts[i], TEXT_SIZE, err);
		TRY(r);
		*out = compare_texts(texts[0], texts[1]);
		return !*out && ixs[0] != ixs[1] && strlen(texts[0]) >= TEXT_SIZE - 8 ?
			       HDB_NOTFOUND :
			       HDB_OK;
	}
	for (unsigned i = 0; i < 2 && r == HDB_OK; i++)
		r = order_number(heap, ixs[i], &numbers[i], err);
	*out = numbers[0] < numbers[1] ? -1 : numbers[0] > numbers[1];
	return r;
}

/* Reads whether the map has natural or reverse order. Sets e->unknown for any other order. */
static int read_order(struct heap_entries *e, struct hdb_error *err)
{
	struct heap_object object;
	uint32_t comparator;
	int r = heap_path_object_as(e->heap, heap_as_inner(&e->from), "m.comparator", &comparator,
				    err);

	e->bounds.is_backwards = false;
	if (r != HDB_OK)
		return heap_soft(r);
	TRY(heap_object(e->heap, comparator, &object, err));
	e->bounds.is_backwards = strcmp(heap_class_name(e->heap, object.class_no),
					"java.util.Collections$ReverseComparator") == 0;
	if (!e->bounds.is_backwards)
		e->unknown = NO_ORDER;
	return HDB_OK;
}

/*
 * Reads the bounds of a view. An open end has no bound. The contents of a descending view are
 * unknown.
 */
int heap_begin_bounds(struct heap_entries *e, struct hdb_error *err)
{
	const struct heap_as view = heap_as_inner(&e->from);
	int64_t is_open, is_included, descends;
	int r;

	TRY(heap_inner_number(e->heap, &e->from, "isDescending", &descends, err));
	for (unsigned i = 0; i < 2; i++) {
		struct heap_value *key = &e->bounds.keys[i];

		TRY(heap_inner_number(e->heap, &e->from, open_fields[i], &is_open, err));
		TRY(heap_inner_number(e->heap, &e->from, included_fields[i], &is_included, err));
		r = heap_path_value_as(e->heap, view, bound_fields[i], key, err);
		TRY_ERRORS(r);
		e->bounds.has[i] = r == HDB_OK && key->bits && !is_open;
		e->bounds.is_included[i] = is_included;
	}
	if (e->bounds.has[0] || e->bounds.has[1])
		TRY(read_order(e, err));
	if (descends)
		e->unknown = BACKWARDS;
	return HDB_OK;
}

/*
 * Sets *out to whether the current key is within the bounds. If it cannot be compared with a bound,
 * the contents are unknown (e->unknown).
 */
int heap_is_inside(struct heap_entries *e, bool *out, struct hdb_error *err)
{
	assert(e->rule->flags & HEAP_BOUNDED);
	*out = true;
	for (unsigned i = 0; i < 2 && *out; i++) {
		int order = 0, r;

		if (!e->bounds.has[i])
			continue;
		r = compare(e->heap, &e->key, &e->bounds.keys[i], &order, err);
		TRY_ERRORS(r);
		if (r != HDB_OK)
			e->unknown = NO_ORDER;
		order = e->bounds.is_backwards ? -order : order;
		*out = r == HDB_OK && (order == 0 ? e->bounds.is_included[i] :
				       i == 0     ? order > 0 :
						    order < 0);
	}
	return HDB_OK;
}

/*
 * queries/objects/q_references.c - the references query: the objects to which an object refers, and
 * how.
 */

#include "queries/queries.h"

#define NAME_MAX_BYTES 512

#include <queries/objects/q_references.query.h>

struct references {
	uint32_t ix;
	uint32_t class_ix;    /* the object's class, until it has been listed, then HEAP_NONE */
	struct base_vec list; /* uint32_t, ascending and unique; not for arrays */
	size_t at;
	struct heap_object object;
	/*
	 * whether the list also contains the class because a field, such as ART's shadow$_klass_,
	 * refers to it
	 */
	bool has_class;
	struct heap_walk walk; /* walk over object arrays */
};

/* Reads the list of references. A long list may contain an object twice. */
static int read_list(struct references *s, struct store_lists *lists, struct hdb_error *err)
{
	const uint32_t *batch;
	uint32_t *list;
	size_t count, kept = 0;

	do {
		TRY(store_lists_next(lists, &batch, &count, err));
		TRY(base_vec_reserve(&s->list, count, sizeof(*batch), err));
		memcpy((uint32_t *)s->list.data + s->list.count, batch, count * sizeof(*batch));
		s->list.count += count;
	} while (count);
	base_vec_sort(&s->list, sizeof(*batch), base_compare_u32);
	list = s->list.data;
	for (size_t i = 0; i < s->list.count; i++) {
		list[kept] = list[i];
		kept += !kept || list[kept - 1] != list[i];
		s->has_class |= list[i] == s->class_ix;
	}
	s->list.count = kept;
	return HDB_OK;
}

static int open_references(struct query *q, struct hdb_error *err)
{
	struct references *s = q->state;
	struct store_lists lists;
	uint64_t length = 0;

	TRY(analysis_object(&q->session, q->targets[0], &s->ix, err));
	TRY(heap_object(q->heap, s->ix, &s->object, err));
	heap_references(q->heap, &lists);
	s->class_ix = heap_class(q->heap, s->object.class_no)->ix;
	TRY(store_lists_begin(&lists, s->ix, &length, err));
	if (s->object.kind != STORE_OBJECT_ARRAY) {
		TRY(read_list(s, &lists, err));
		length = s->list.count;
	}
	heap_walk_begin(&s->walk, s->ix, 0, UINT64_MAX);
	query_fact_object(q, s->ix);
	query_fact(q, "references", length + !s->has_class);
	return HDB_OK;
}

static int set_row(struct query *q, const struct references *s, uint32_t ix, const char *name,
		   struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	uint8_t strength;

	query_set_text(q, NAME, name);
	query_set_object(q, &cells, ix);
	TRY(heap_strength(q->heap, s->ix, ix, &strength, err));
	query_set_text(q, STRENGTH, analysis_strength_name(strength));
	return HDB_OK;
}

/*
 * Returns one row per element of an array, except nulls and objects that the dump does not contain.
 */
static int next_element(struct query *q, struct references *s, struct hdb_error *err)
{
	char name[32];
	uint32_t ix;

	TRY(heap_walk_target_next(q->heap, &s->walk, &ix, err));
	(void)snprintf(name, sizeof(name), "[%" PRIu64 "]", s->walk.at - 1);
	return set_row(q, s, ix, name, err);
}

static int next_references(struct query *q, struct hdb_error *err)
{
	struct references *s = q->state;
	char name[NAME_MAX_BYTES];
	uint32_t ix = s->class_ix;

	if (ix != HEAP_NONE) {
		s->class_ix = HEAP_NONE;
		/*
		 * if fields also refer to the class, the class and these fields share a row at the
		 * class's position in the list
		 */
		if (!s->has_class)
			return set_row(q, s, ix, "<class>", err);
	}
	if (s->object.kind == STORE_OBJECT_ARRAY)
		return next_element(q, s, err);
	if (s->at == s->list.count)
		return HDB_END;
	ix = *base_vec_at(&s->list, uint32_t, s->at++);
	TRY(analysis_holder(&q->session, s->ix, ix, BASE_TEXT(name), err));
	return set_row(q, s, ix, name, err);
}

QUERY_DEFINE(references, QUERY_STATE(struct references, list), .open = open_references,
	     .next = next_references);

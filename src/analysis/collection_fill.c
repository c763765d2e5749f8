/*
 * analysis/collection_fill.c - measures how full a collection or an object array is.
 *
 * The fill ratio is size / capacity, and the collision ratio is (size - used slots) / size, as in
 * Eclipse MAT, so that users of both tools see the same numbers.
 */
#include "analysis/collection_fill.h"

#include "heap/heap_database.h"

#include <assert.h>

/*
 * Maximum average number of reads per slot and of steps per object. A slot is read again for each
 * wrapper of its collection.
 */
#define LOOKS 8

void analysis_measuring_init(const struct session *session, bool is_arrays, bool wants_used,
			     struct analysis_measuring *out)
{
	const uint64_t bytes = heap_meta_number(session->heap, "dump.bytes", 0);

	*out = (struct analysis_measuring){
		.is_arrays = is_arrays,
		.wants_used = wants_used,
		.slots_left = bytes / session->heap->id_size * LOOKS,
		.steps_left = (uint64_t)session->heap->object_count * LOOKS,
	};
}

double analysis_measure_fill(const struct analysis_measure *m)
{
	if (!m->capacity)
		return m->size ? 0.0 : 1.0;
	return (double)m->size / (double)m->capacity;
}

double analysis_measure_collisions(const struct analysis_measure *m)
{
	return m->size > m->used ? (double)(m->size - m->used) / (double)m->size : 0.0;
}

static int measure_array(const struct session *session, const struct heap_object *object,
			 struct analysis_measure *m, struct hdb_error *err)
{
	struct heap_walk walk;

	assert(object->kind == STORE_OBJECT_ARRAY);
	m->kind = "array";
	m->capacity = object->length;
	m->has_size = m->has_capacity = true;
	heap_walk_begin(&walk, object->ix, 0, object->length);
	TRY(heap_walk_count(session->heap, &walk, 1, &m->size, err));
	m->wasted_bytes = (m->capacity - m->size) * session->heap->layout.reference_bytes;
	return HDB_OK;
}

/*
 * Determines the size of one slot (a reference, a pair of references, or a number), and the size of
 * the backing array.
 */
static int slot_bytes(const struct session *session, const struct heap_collection *c,
		      uint64_t *bytes, uint64_t *array_bytes, struct hdb_error *err)
{
	struct heap_object array;

	*bytes = session->heap->layout.reference_bytes;
	*array_bytes = 0;
	if (c->array_ix == HEAP_NONE)
		return HDB_OK;
	TRY(heap_object(session->heap, c->array_ix, &array, err));
	/*
	 * Lists that were created empty share one empty array, which does not belong to any of
	 * them.
	 */
	*array_bytes = array.length ? array.shallow_bytes : 0;
	if (array.kind == STORE_PRIMITIVE_ARRAY)
		*bytes = hprof_type_size(heap_class(session->heap, array.class_no)->element_type,
					 session->heap->id_size);
	if (c->inner->shape == HEAP_PAIRS)
		*bytes *= 2;
	return HDB_OK;
}

/* Adds the backing array and the unused slots of a collection that owns its array. */
static int add_costs(const struct session *session, const struct heap_collection *c,
		     struct analysis_measure *m, struct hdb_error *err)
{
	uint64_t bytes, array_bytes;
	int r;

	assert(c->rule);
	/*
	 * A collection that is part of another collection is counted as part of that other
	 * collection.
	 */
	if (!c->inner || c->inner_ix != c->ix || c->inner->flags & HEAP_LENT)
		return HDB_OK;
	r = slot_bytes(session, c, &bytes, &array_bytes, err);
	m->shallow_bytes += array_bytes;
	/* In a bit set, zero bits are not wasted. */
	TRY(r);
	if (m->has_capacity && m->has_size && c->inner->shape != HEAP_WORDS &&
	    m->capacity > m->size)
		m->wasted_bytes = (m->capacity - m->size) * bytes;
	return r;
}

/* Counts the used slots of a hash table, within the budget. */
static int add_used(const struct session *session, struct analysis_measuring *how,
		    const struct heap_collection *c, struct analysis_measure *m,
		    struct hdb_error *err)
{
	const bool is_hashed =
		c->inner && (c->inner->shape == HEAP_PARTS ||
			     (c->inner->flags & HEAP_HASHED &&
			      (c->inner->shape == HEAP_CHAINS || c->inner->shape == HEAP_LINKED)));
	int r;

	assert(!m->has_used);
	if (!how->wants_used || !is_hashed || !m->has_size || !m->size)
		return HDB_OK;
	r = heap_collection_used(session->heap, c, &how->slots_left, &m->used, err);
	m->has_used = r == HDB_OK;
	return r < 0 ? r : HDB_OK;
}

int analysis_measure(const struct session *session, struct analysis_measuring *how,
		     const struct heap_object *object, struct analysis_measure *m,
		     struct hdb_error *err)
{
	const struct heap_collection_rule *rule;
	struct heap_collection c;

	*m = (struct analysis_measure){
		.class_no = object->class_no,
		.shallow_bytes = object->shallow_bytes,
	};
	if (how->is_arrays)
		return object->kind == STORE_OBJECT_ARRAY ? measure_array(session, object, m, err) :
							    HDB_NOTFOUND;
	if (object->kind != STORE_INSTANCE)
		return HDB_NOTFOUND;
	rule = heap_collection_rule(session->heap, object->class_no);
	if (!rule || rule->flags & HEAP_PART)
		return HDB_NOTFOUND;
	TRY(heap_collection_open(session->heap, object->ix, &c, err));
	if (!c.has_size)
		TRY_ERRORS(heap_collection_count(session->heap, &c, &how->steps_left, err));
	m->kind = heap_collection_kind_name(rule->kind);
	m->size = c.size;
	m->has_size = c.has_size;
	m->capacity = c.capacity;
	m->has_capacity = c.has_capacity;
	m->has_lied = c.has_lied;
	TRY(add_costs(session, &c, m, err));
	return add_used(session, how, &c, m, err);
}

/*
 * queries/android/q_native.c - the native query: native memory owned by objects, by class or by
 * object.
 */
#include "derive/native.h"
#include "queries/queries.h"
#include "query/grouping.h"

#include <queries/android/q_native.query.h>

struct owner {
	uint32_t ix, class_no;
	uint64_t count, native, shallow;
};

struct state {
	struct query_groups owners; /* struct owner, by class or object */
	bool is_by_object;
};

BASE_ORDER(compare_native, struct owner, BASE_DOWN(native), BASE_UP(ix), BASE_UP(class_no))

static int load_owners(struct query *q, struct state *s, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec sizes = { 0 };
	uint64_t sum = 0, count = 0, lost = 0, lost_bytes = 0;
	bool is_reachable;

	TRY(derive_native_counted(q->derive, &sizes, err));
	for (size_t i = 0; i < sizes.count; i++) {
		const struct derive_native *native = base_vec_at(&sizes, struct derive_native, i);
		struct heap_object object;
		struct owner fresh = { .ix = s->is_by_object ? native->ix : HEAP_NONE }, *owner;
		void *found;

		TRY(heap_object(q->heap, native->ix, &object, err));
		if (heap_leaves_out(q->heap, object.heap_no))
			continue;
		TRY(derive_is_reachable(q->derive, native->ix, &is_reachable, err));
		lost += !is_reachable;
		lost_bytes += is_reachable ? 0 : object.shallow_bytes;
		if (!query_counts(q, is_reachable))
			continue;
		count++;
		fresh.class_no = object.class_no;
		sum += native->bytes;
		TRY(query_group_of(&s->owners, s->is_by_object ? native->ix : object.class_no,
				   &fresh, &found, err));
		owner = found;
		owner->count++;
		owner->native += native->bytes;
		owner->shallow += object.shallow_bytes;
	}
	query_fact(q, "objects", count);
	query_fact(q, "native", sum);
	query_report_unreachable(q, lost, lost_bytes);
	return HDB_OK;
}

static int open_native(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;

	s->is_by_object = query_option(q, "objects") != NULL;
	s->owners.size = sizeof(struct owner);
	TRY(load_owners(q, s, err));
	base_vec_sort(&s->owners.list, sizeof(struct owner), compare_native);
	q->total = s->owners.list.count;
	query_choose(q, s->is_by_object ? "id,class,label,native,shallow,retained" :
					  "class,objects,native,shallow");
	return HDB_OK;
}

static int native_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct state *s = q->state;
	const struct owner *owner = base_vec_at(&s->owners.list, struct owner, no);

	(void)err;
	assert(no < s->owners.list.count);
	query_set_text(q, CLASS, heap_class_name(q->heap, owner->class_no));
	query_set(q, COUNT, owner->count);
	query_set(q, NATIVE, owner->native);
	query_set(q, SHALLOW, owner->shallow);
	if (!s->is_by_object)
		return HDB_OK;
	query_set_id(q, ID, owner->ix);
	query_set_label(q, LABEL, owner->ix);
	if (query_is_shown(q, RETAINED))
		query_set_retained(q, RETAINED, owner->ix);
	return HDB_OK;
}

QUERY_DEFINE(native, QUERY_STATE(struct state, owners), .open = open_native, .row = native_row);

/*
 * queries/retained/q_drops.c - the big-drops query: accumulation points, which are objects that
 * retain much more than the largest object they dominate.
 *
 * As in Eclipse MAT, an object is listed if its retained size exceeds that of its largest child (0
 * if it has none) by more than a threshold. The search continues in all children above the
 * threshold below a listed object, and only in the largest child below any other object.
 */
#include "base/glob.h"
#include "heap/heap_database.h"
#include "queries/queries.h"

#include <queries/retained/q_drops.query.h>

/* A node to examine, and the number of listed nodes above it. */
struct todo {
	uint32_t ix;
	uint32_t level;
};

struct drops {
	struct query *q;
	struct store_lists children;
	struct base_vec stack; /* struct todo; the largest child is on top */
	uint64_t whole, threshold;
	uint64_t retained_whole; /* retained size of all roots (100 %) */
	uint64_t looked_at;      /* number of objects examined */
	const char *skip;
};

/* ---- opening ---- */

/* Reverses the entries from `start` on, so that the entry pushed first is on top. */
static void turn(struct base_vec *stack, size_t start)
{
	struct todo *todo = stack->data;

	for (size_t a = start, b = stack->count; a + 1 < b; a++) {
		const struct todo swap = todo[a];

		todo[a] = todo[--b];
		todo[b] = swap;
	}
}

/* The objects that a node dominates. */
struct dominated {
	uint64_t count;
	uint64_t largest; /* retained size of the first child */
};

/*
 * Pushes up to `most` children above the threshold, the largest child last, so that the largest is
 * on top.
 */
static int push_children(struct drops *d, struct todo at, size_t most, struct dominated *out,
			 struct hdb_error *err)
{
	const size_t start = d->stack.count;
	const uint32_t *batch;
	size_t n = 0;
	bool is_done = false;

	out->largest = 0;
	TRY(store_lists_begin(&d->children, at.ix, &out->count, err));
	while (!is_done) {
		TRY(store_lists_next(&d->children, &batch, &n, err));
		is_done = !n;
		for (size_t i = 0; i < n && !is_done; i++) {
			const struct todo child = { batch[i], at.level };
			uint64_t retained = 0;

			/* Children are sorted by retained size, largest first. */
			TRY(derive_retained(d->q->derive, batch[i], &retained, err));
			if (retained > out->largest)
				out->largest = retained;
			is_done = retained <= d->threshold || d->stack.count - start == most;
			if (!is_done)
				TRY(base_vec_push(&d->stack, &child, sizeof(child), err));
		}
	}
	turn(&d->stack, start);
	return HDB_OK;
}

/* Reports the part of the top level that is not examined: everything that is not on the stack. */
static int leave_small(struct query *q, const struct drops *d, uint64_t count,
		       struct hdb_error *err)
{
	struct analysis_cut cut = { .rows = ANALYSIS_NOT_COUNTED,
				    .objects = count - d->stack.count,
				    .bytes = d->whole };

	for (size_t i = 0; i < d->stack.count; i++) {
		uint64_t retained = 0;

		TRY(derive_retained(q->derive, base_vec_at(&d->stack, struct todo, i)->ix,
				    &retained, err));
		cut.bytes -= retained < cut.bytes ? retained : cut.bytes;
	}
	query_cut(q, &cut,
		  "objects of the top level that retain at most %" PRIu64 " bytes each "
		  "(--threshold)",
		  d->threshold);
	return HDB_OK;
}

static int open_drops(struct query *q, struct hdb_error *err)
{
	struct drops *d = q->state;
	struct derive_total whole = { 0 };
	struct dominated top;
	uint64_t percent;

	d->q = q;
	d->skip = query_text(q, "skip");
	percent = query_number(q, "threshold", 0);
	{
		/* Retained sizes include objects of other heaps. */
		HEAP_FILTER_SCOPE(heap_show_all, q->heap);

		TRY(analysis_heap_total(&q->session, &whole, err));
	}
	TRY(derive_children(q->derive, &d->children, err));
	d->whole = whole.shallow_bytes;
	d->retained_whole = whole.retained_bytes;
	d->threshold = d->whole / 100 * percent + d->whole % 100 * percent / 100;
	query_fact(q, "heap_shallow", d->whole);
	query_fact(q, "threshold", d->threshold);
	query_report_unreachable(q, whole.unreachable_count, whole.unreachable_bytes);
	TRY(push_children(d, (struct todo){ q->heap->object_count, 0 }, SIZE_MAX, &top, err));
	return leave_small(q, d, top.count, err);
}

/* ---- rows ---- */

/* Finds the nearest dominator that --skip does not match, or HEAP_NONE. */
static int find_holder(struct query *q, const struct drops *d, uint32_t ix, uint32_t *holder,
		       struct hdb_error *err)
{
	TRY(derive_dominator(q->derive, ix, holder, err));
	for (uint32_t steps = 0; *holder != HEAP_NONE; steps++) {
		struct heap_object object;

		if (steps > q->heap->object_count)
			return heap_damaged(q->heap, STORE_DOMINATORS, ix,
					    "dominators form a circle", err);
		TRY(heap_object(q->heap, *holder, &object, err));
		if (*holder != HEAP_BOOT_LOADER &&
		    !base_glob_list(d->skip, heap_class_name(q->heap, heap_known_class(&object))))
			return HDB_OK;
		TRY(derive_dominator(q->derive, *holder, holder, err));
	}
	return HDB_OK;
}

static int drop_row(struct query *q, struct drops *d, const struct todo *at,
		    const struct dominated *dominated, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SIZE_MAX, RETAINED };
	static const struct query_object_columns holder_cells = {
		HOLDER_ID, SIZE_MAX, HOLDER, SIZE_MAX, HOLDER_RETAINED,
	};
	uint32_t holder = HEAP_NONE;

	query_set_object(q, &cells, at->ix);
	query_set(q, LEVEL, at->level);
	query_set_double(q, PERCENT, analysis_percent(q->cells[RETAINED].u, d->retained_whole));
	query_set(q, DOMINATED, dominated->count);
	query_set(q, LARGEST, dominated->largest);
	TRY(find_holder(q, d, at->ix, &holder, err));
	if (holder != HEAP_NONE)
		query_set_object(q, &holder_cells, holder);
	return HDB_OK;
}

static int next_drop(struct query *q, struct hdb_error *err)
{
	struct drops *d = q->state;

	while (d->stack.count) {
		const struct todo at = *base_vec_at(&d->stack, struct todo, d->stack.count - 1);
		struct dominated found = { 0 };
		uint64_t retained = 0;

		d->stack.count--;
		if (++d->looked_at > q->heap->object_count)
			return heap_damaged(q->heap, STORE_CHILDREN, at.ix,
					    "what is dominated forms a circle", err);
		TRY(derive_retained(q->derive, at.ix, &retained, err));
		/*
		 * Until the node is known to be an accumulation point, push only its largest child.
		 */
		TRY(push_children(d, at, 1, &found, err));
		if (d->looked_at % 65536 == 0)
			TRY(base_step(q->work, d->looked_at, err));
		if (retained - found.largest <= d->threshold)
			continue;
		if (found.largest > d->threshold)
			d->stack.count--;
		TRY(push_children(d, (struct todo){ at.ix, at.level + 1 }, SIZE_MAX, &found, err));
		return drop_row(q, d, &at, &found, err);
	}
	return HDB_END;
}

QUERY_DEFINE(drops, QUERY_STATE(struct drops, stack), .open = open_drops, .next = next_drop);

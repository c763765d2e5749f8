/*
 * queries/leaks/leak_objects.c - builds the rows of the leaks query for leaking objects and the
 * paths that hold them. queries/traces finds these objects.
 */
#include "base/base_text.h"
#include "heap/known.h"
#include "queries/leaks/leak_prose.h"
#include "queries/leaks/leak_signature.h"
#include "queries/traces/leak_traces.h"

#include <assert.h>

/*
 * Maximum number of leaks listed with their paths, and of unreachable objects listed. Counts
 * include leaks that are not listed.
 */
#define LEAKS_SHOWN 20u
#define NAME_MAX_BYTES 1024

/* Appends a row of kind "trace" for each step of a leak trace. */
static int add_trace(struct leak_rows *rows, const struct leak_steps *steps, struct hdb_error *err)
{
	for (size_t i = 0; i < steps->list.count; i++) {
		const struct leak_step *step = base_vec_at(&steps->list, struct leak_step, i);
		struct leak_row row = leak_row_of(rows, LEAK_ROW_TRACE);

		row.ix = step->ix;
		row.cells[LEAK_STEP] = step->place;
		row.cells[LEAK_RETAINED] = step->bytes == LEAK_NO_SIZE ? LEAK_NONE : step->bytes;
		row.cells[LEAK_COUNT] = step->objects == LEAK_NO_SIZE ? LEAK_NONE : step->objects;
		TRY(leak_say_step(rows, &row, steps, step, err));
		TRY(leak_rows_add(rows, &row, err));
	}
	return HDB_OK;
}

/* Computes the total shallow size of the leaking objects of a group. */
static int sum_shallow(const struct leak_traces *t, const struct leak_group *group, uint64_t *bytes,
		       struct hdb_error *err)
{
	*bytes = 0;
	for (size_t i = 0; i < group->count; i++) {
		struct heap_object object;

		const uint32_t ix =
			base_vec_at(&t->traces, struct leak_trace, group->first + i)->ix;

		TRY(heap_object(t->session->heap, ix, &object, err));
		*bytes += object.shallow_bytes;
	}
	return HDB_OK;
}

/* Appends the headline of a group. The last step of its trace is the leaking object. */
static int add_leaking(struct leak_traces *t, struct leak_rows *rows,
		       const struct leak_group *group, const struct leak_steps *steps,
		       struct hdb_error *err)
{
	const struct leak_step *last =
		base_vec_at(&steps->list, struct leak_step, steps->list.count - 1);
	struct leak_row row = leak_row_of(rows, group->rule ? LEAK_ROW_LIBRARY : LEAK_ROW_LEAKING);
	struct leak_leaking leaking;
	char library[NAME_MAX_BYTES] = "", suspect[NAME_MAX_BYTES], signature[BASE_SHA1_TEXT];
	char text[LEAK_SIGNATURE_MAX_BYTES];

	row.ix = last->ix;
	assert(group->count > 0 && last->place + 1 >= steps->list.count);
	row.cells[LEAK_COUNT] = group->count;
	row.cells[LEAK_RETAINED] = group->bytes;
	TRY(sum_shallow(t, group, &row.cells[LEAK_SHALLOW], err));
	base_sha1_text(group->signature, signature);
	leak_steps_suspect(t, steps, suspect, sizeof(suspect));
	if (group->rule)
		library_leaks_text(group->rule, library, sizeof(library));
	TRY(leak_rows_text(rows, &row, LEAK_VIA_FIELD, err, "%s", suspect));
	leaking = (struct leak_leaking){ leak_steps_text(steps, last->reason), library,
					 group->objects };
	TRY(leak_say_leaking(rows, &row, &leaking, err));
	TRY(leak_rows_text(rows, &row, LEAK_SIGNATURE, err, "%s", signature));
	query_leaking_signature_text(group, steps, t->session->heap, BASE_TEXT(text));
	TRY(leak_rows_text(rows, &row, LEAK_SIGNATURE_TEXT, err, "%s", text));
	return leak_rows_add(rows, &row, err);
}

static int add_group(struct leak_traces *t, struct leak_rows *rows, const struct leak_group *group,
		     struct hdb_error *err)
{
	BASE_SCOPED(leak_steps_release) struct leak_steps steps = { .gap = 0 };

	TRY(leak_steps_get(t, group->first, &steps, err));
	TRY(add_leaking(t, rows, group, &steps, err));
	return rows->is_brief ? HDB_OK : add_trace(rows, &steps, err);
}

static int add_unreachable(struct leak_traces *t, struct leak_rows *rows, size_t i,
			   struct hdb_error *err)
{
	struct leak_row row = leak_row_of(rows, LEAK_ROW_UNREACHABLE);
	BASE_SCOPED(leak_steps_release) struct leak_steps steps = { .gap = 0 };
	const struct leak_step *step;
	const char *labels;

	TRY(leak_steps_unreachable(t, i, &steps, err));
	step = base_vec_at(&steps.list, struct leak_step, 0);
	labels = leak_steps_text(&steps, step->labels);
	/* The object is not part of a suspect. */
	row.cells[LEAK_SUSPECT] = LEAK_NONE;
	row.ix = step->ix;
	TRY(leak_rows_text(rows, &row, LEAK_TEXT, err, "%s%s%s",
			   leak_steps_text(&steps, step->reason), labels[0] ? "; " : "", labels));
	return leak_rows_add(rows, &row, err);
}

int query_leaking_rows(struct leak_traces *t, struct leak_rows *rows, bool is_library,
		       struct hdb_error *err)
{
	/* Groups of library leaks come last. */
	for (size_t i = 0; i < t->groups.count && i < LEAKS_SHOWN; i++) {
		const struct leak_group *group = base_vec_at(&t->groups, struct leak_group, i);

		if ((group->rule != NULL) != is_library)
			continue;
		TRY(add_group(t, rows, group, err));
		rows->part++;
	}
	for (size_t i = 0; is_library && i < t->unreachable.count && i < LEAKS_SHOWN; i++)
		TRY(add_unreachable(t, rows, i, err));
	return HDB_OK;
}

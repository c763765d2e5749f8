/*
 * queries/leaks/leak_objects.c - rows of the leaks query about leaking objects and the paths that
 * hold them. The objects are found by queries/traces.
 */
#include "base/base_text.h"
#include "heap/known.h"
#include "queries/leaks/leak_prose.h"
#include "queries/leaks/leak_signature.h"
#include "queries/traces/leak_traces.h"
#include "queries/leaks/leaking.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Maximum number of leaks listed with their paths, and of unreachable objects. All of them are
 * counted.
 */
#define LEAKS_SHOWN 20u
#define NAME_MAX_BYTES 1024

struct query_leaking {
	struct query *q;
	struct leak_traces traces;
};

int query_leaking_find(struct query *q, struct query_leaking **out,
		       struct query_leaking_counts *counts, struct hdb_error *err)
{
	struct query_leaking *f = *out = calloc(1, sizeof(*f));

	*counts = (struct query_leaking_counts){ .objects = 0 };
	if (!f)
		return hdb_fail_memory(err, "leaking objects", sizeof(*f));
	f->q = q;
	TRY(leak_traces_find(&f->traces, &q->session, false, err));
	counts->unreachable = f->traces.unreachable.count;
	counts->objects = f->traces.found - counts->unreachable;
	counts->held_by_other = f->traces.held_by_other;
	counts->leaks = f->traces.groups.count;
	counts->traced = counts->objects - f->traces.untraced;
	for (size_t i = 0; i < f->traces.groups.count; i++) {
		const struct leak_group *group =
			base_vec_at(&f->traces.groups, struct leak_group, i);

		counts->library_leaks += group->rule != NULL;
		counts->retained_bytes += group->bytes;
	}
	return HDB_OK;
}

void query_leaking_release(struct query_leaking **f)
{
	if (*f)
		leak_traces_release(&(*f)->traces);
	free(*f);
}

/* ---- rows ---- */

/* Appends a row of kind "trace" for each step. */
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

/* The total shallow size of the leaking objects of a group. */
static int sum_shallow(struct query_leaking *f, const struct leak_group *group, uint64_t *bytes,
		       struct hdb_error *err)
{
	*bytes = 0;
	for (size_t i = 0; i < group->count; i++) {
		struct heap_object object;

		const uint32_t ix =
			base_vec_at(&f->traces.traces, struct leak_trace, group->first + i)->ix;

		TRY(heap_object(f->q->heap, ix, &object, err));
		*bytes += object.shallow_bytes;
	}
	return HDB_OK;
}

/* Appends the headline of a group, whose last step is the leaking object itself. */
static int add_leaking(struct query_leaking *f, struct leak_rows *rows,
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
	TRY(sum_shallow(f, group, &row.cells[LEAK_SHALLOW], err));
	base_sha1_text(group->signature, signature);
	leak_steps_suspect(&f->traces, steps, suspect, sizeof(suspect));
	if (group->rule)
		library_leaks_text(group->rule, library, sizeof(library));
	TRY(leak_rows_text(rows, &row, LEAK_VIA_FIELD, err, "%s", suspect));
	leaking = (struct leak_leaking){ leak_steps_text(steps, last->reason), library,
					 group->objects };
	TRY(leak_say_leaking(rows, &row, &leaking, err));
	TRY(leak_rows_text(rows, &row, LEAK_SIGNATURE, err, "%s", signature));
	query_leaking_signature_text(group, steps, f->q->heap, BASE_TEXT(text));
	TRY(leak_rows_text(rows, &row, LEAK_SIGNATURE_TEXT, err, "%s", text));
	return leak_rows_add(rows, &row, err);
}

static int add_group(struct query_leaking *f, struct leak_rows *rows, size_t no,
		     struct hdb_error *err)
{
	const struct leak_group *group = base_vec_at(&f->traces.groups, struct leak_group, no);
	BASE_SCOPED(leak_steps_release) struct leak_steps steps = { .gap = 0 };

	TRY(leak_steps_get(&f->traces, group->first, &steps, err));
	TRY(add_leaking(f, rows, group, &steps, err));
	return rows->is_brief ? HDB_OK : add_trace(rows, &steps, err);
}

static int add_unreachable(struct query_leaking *f, struct leak_rows *rows, size_t i,
			   struct hdb_error *err)
{
	struct leak_row row = leak_row_of(rows, LEAK_ROW_UNREACHABLE);
	BASE_SCOPED(leak_steps_release) struct leak_steps steps = { .gap = 0 };
	const struct leak_step *step;
	const char *labels;

	TRY(leak_steps_unreachable(&f->traces, i, &steps, err));
	step = base_vec_at(&steps.list, struct leak_step, 0);
	labels = leak_steps_text(&steps, step->labels);
	/* The object belongs to no suspect, so it has no number. */
	row.cells[LEAK_SUSPECT] = LEAK_NONE;
	row.ix = step->ix;
	TRY(leak_rows_text(rows, &row, LEAK_TEXT, err, "%s%s%s",
			   leak_steps_text(&steps, step->reason), labels[0] ? "; " : "", labels));
	return leak_rows_add(rows, &row, err);
}

static int add_all_unreachable(struct query_leaking *f, struct leak_rows *rows,
			       struct hdb_error *err)
{
	for (size_t i = 0; i < f->traces.unreachable.count && i < LEAKS_SHOWN; i++)
		TRY(add_unreachable(f, rows, i, err));
	return HDB_OK;
}

int query_leaking_add_rows(struct query_leaking *f, struct leak_rows *rows, bool is_library,
			   struct query_leaking_counts *counts, struct hdb_error *err)
{
	for (size_t i = 0; i < f->traces.groups.count; i++) {
		const struct leak_group *group =
			base_vec_at(&f->traces.groups, struct leak_group, i);

		if ((group->rule != NULL) != is_library || counts->listed == LEAKS_SHOWN)
			continue;
		TRY(add_group(f, rows, i, err));
		rows->part++;
		counts->listed++;
	}
	return is_library ? add_all_unreachable(f, rows, err) : HDB_OK;
}

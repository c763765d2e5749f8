/*
 * queries/leaks/leak_objects.c - leaking objects, with the paths that keep them, as rows.
 */
#include "base/base_text.h"
#include "heap/known.h"
#include "queries/leaks/leak_signature.h"
#include "queries/traces/leak_traces.h"
#include "queries/leaks/leaking.h"

#include <stdlib.h>

/* Leaks that are listed with their paths, and unreachable objects; all are counted. */
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
	counts->hanging = f->traces.hanging;
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

/* ---- telling ---- */

/* "static listeners", "[12]", "map[\"key\"]": how a step holds the next. */
static int add_holds(struct query_report *report, const struct leak_steps *steps,
		     const struct leak_step *step, size_t *place, struct hdb_error *err)
{
	const char *name = leak_steps_text(steps, step->name);
	if (step->reference->kind == TRACE_LOCAL)
		return query_report_text(report, place, err, "<local variable>");
	if (step->reference->kind != TRACE_ENTRY)
		return query_report_text(report, place, err, "%s%s",
					 step->reference->kind == TRACE_STATIC ? "static " : "",
					 name);
	return query_report_text(report, place, err, "[%s]", name);
}

/* "Leaking: NO (classes stay); ~~~ suspect reference; labels", in LeakCanary's words. */
static int add_step_text(struct query_report *report, const struct leak_steps *steps,
			 const struct leak_step *step, size_t *place, struct hdb_error *err)
{
	static const char *const statuses[] = {
		[LEAK_UNKNOWN] = "Leaking: UNKNOWN",
		[LEAK_THERE] = "Leaking: NO",
		[LEAK_GONE] = "Leaking: YES",
	};
	const char *reason = leak_steps_text(steps, step->reason);
	const char *labels = leak_steps_text(steps, step->labels);
	const bool is_root = step->place == 0 && steps->root_kind;
	const struct library_rule *rule = step->reference ? step->reference->rule : NULL;

	return query_report_text(
		report, place, err, "%s%s%s%s%s%s%s%s%s%s%s%s", is_root ? "GC root: " : "",
		is_root ? heap_root_name(steps->root_kind) : "", is_root ? "; " : "",
		statuses[step->status], reason[0] ? " (" : "", reason, reason[0] ? ")" : "",
		step->is_suspect ? "; ~~~ suspect reference" : "",
		rule ? "; known leak of a library: " : "", rule ? rule->id : "",
		labels[0] ? "; " : "", labels);
}

static int add_trace(struct query_report *report, const struct leak_steps *steps,
		     struct hdb_error *err)
{
	for (size_t i = 0; i < steps->list.count; i++) {
		const struct leak_step *step = base_vec_at(&steps->list, struct leak_step, i);
		struct query_report_row row = query_report_row(report, "trace");

		row.ix = step->ix;
		row.step = step->place;
		row.retained_bytes = step->bytes == LEAK_NO_SIZE ? REPORT_NONE : step->bytes;
		row.count = step->objects == LEAK_NO_SIZE ? REPORT_NONE : step->objects;
		if (step->reference)
			TRY(add_holds(report, steps, step, &row.holds, err));
		TRY(add_step_text(report, steps, step, &row.text, err));
		TRY(query_report_add(report, &row, err));
	}
	return HDB_OK;
}

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

static int add_leaking(struct query_leaking *f, struct query_report *report,
		       const struct leak_group *group, const struct leak_steps *steps,
		       struct hdb_error *err)
{
	const struct leak_step *last =
		base_vec_at(&steps->list, struct leak_step, steps->list.count - 1);
	struct query_report_row row = query_report_row(report, group->rule ? "library" : "leaking");
	char library[NAME_MAX_BYTES] = "", suspect[NAME_MAX_BYTES], signature[BASE_SHA1_TEXT];
	char text[LEAK_SIGNATURE_MAX_BYTES];
	int r = sum_shallow(f, group, &row.shallow_bytes, err);

	row.ix = last->ix;
	row.count = group->count;
	row.retained_bytes = group->bytes;
	base_sha1_text(group->signature, signature);
	leak_steps_suspect(&f->traces, steps, suspect, sizeof(suspect));
	if (group->rule)
		library_leaks_text(group->rule, library, sizeof(library));
	TRY(r);
	if (suspect[0])
		TRY(query_report_text(report, &row.holds, err, "%s", suspect));
	TRY(query_report_text(report, &row.text, err, "%s%s%s; retains %s object%s",
			      leak_steps_text(steps, last->reason), library[0] ? "; " : "", library,
			      base_number(group->objects).text, group->objects == 1 ? "" : "s"));
	TRY(query_report_text(report, &row.signature, err, "%s", signature));
	query_leaking_signature_text(group, steps, f->q->heap, BASE_TEXT(text));
	if (text[0])
		TRY(query_report_text(report, &row.signature_text, err, "%s", text));
	return query_report_add(report, &row, err);
}

static int tell_group(struct query_leaking *f, struct query_report *report, size_t no,
		      struct hdb_error *err)
{
	const struct leak_group *group = base_vec_at(&f->traces.groups, struct leak_group, no);
	BASE_SCOPED(leak_steps_release) struct leak_steps steps = { .gap = 0 };

	TRY(leak_steps_get(&f->traces, group->first, &steps, err));
	TRY(add_leaking(f, report, group, &steps, err));
	return report->is_brief ? HDB_OK : add_trace(report, &steps, err);
}

static int add_unreachable(struct query_leaking *f, struct query_report *report, size_t i,
			   struct hdb_error *err)
{
	struct query_report_row row = query_report_row(report, "unreachable");
	BASE_SCOPED(leak_steps_release) struct leak_steps steps = { .gap = 0 };
	const struct leak_step *step;
	const char *labels;

	TRY(leak_steps_unreachable(&f->traces, i, &steps, err));
	step = base_vec_at(&steps.list, struct leak_step, 0);
	labels = leak_steps_text(&steps, step->labels);
	row.part = REPORT_NONE;
	row.ix = step->ix;
	TRY(query_report_text(report, &row.text, err, "%s%s%s",
			      leak_steps_text(&steps, step->reason), labels[0] ? "; " : "",
			      labels));
	return query_report_add(report, &row, err);
}

static int tell_unreachable(struct query_leaking *f, struct query_report *report,
			    struct hdb_error *err)
{
	for (size_t i = 0; i < f->traces.unreachable.count && i < LEAKS_SHOWN; i++)
		TRY(add_unreachable(f, report, i, err));
	return HDB_OK;
}

int query_leaking_tell(struct query_leaking *f, struct query_report *report, bool is_library,
		       struct query_leaking_counts *counts, struct hdb_error *err)
{
	for (size_t i = 0; i < f->traces.groups.count; i++) {
		const struct leak_group *group =
			base_vec_at(&f->traces.groups, struct leak_group, i);

		if ((group->rule != NULL) != is_library || counts->told == LEAKS_SHOWN)
			continue;
		TRY(tell_group(f, report, i, err));
		report->part++;
		counts->told++;
	}
	return is_library ? tell_unreachable(f, report, err) : HDB_OK;
}

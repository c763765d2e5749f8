/*
 * analysis/exclude.c - determines which references are ignored, by strength or by field.
 *
 * A single reference is checked by reading the fields of its object by name. This would be far too
 * slow for traversals of the whole heap, so the filter records the positions of reference fields
 * for each class, and reads only these fields from the dump.
 */
#include "analysis/exclude.h"

#include "analysis/targets.h"
#include "base/bytes.h"
#include "heap/heap_database.h"
#include "heap/known.h"
#include "heap/threads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/*
 * Maximum number of other reference fields that are compared with the excluded fields. If an
 * instance has more, a reference may be removed although another field also holds the target. Real
 * classes do not have so many fields.
 */
#define OTHERS_MAX 1024
/* Maximum number of references that are matched by their order, without looking up their IDs. */
#define FEW 16u

void analysis_excludes_release(struct analysis_excludes *excludes)
{
	free(excludes->from_class);
	free(excludes->first_place);
	free(excludes->has_other_edges);
	base_vec_release(&excludes->places);
	excludes->from_class = NULL;
	excludes->first_place = NULL;
	excludes->has_other_edges = NULL;
}

/* Parses one CLASS:FIELD. */
static int add_field(const struct session *session, struct analysis_excludes *s, const char *text,
		     size_t size, struct hdb_error *err)
{
	const char *colon = memchr(text, ':', size);
	char name[NAME_MAX_BYTES];
	struct analysis_class_list classes;
	const size_t class_size = colon ? (size_t)(colon - text) : 0;

	assert(s->field_count <= ANALYSIS_EXCLUDES_MAX);
	if (!colon || class_size >= sizeof(name) || size - class_size > sizeof(s->fields[0].name))
		return hdb_fail(err, HDB_EUSAGE,
				"--exclude: \"%.*s\" is not valid; expected weak, soft, phantom, "
				"finalizer, none or CLASS:FIELD",
				(int)size, text);
	memcpy(name, text, class_size);
	name[class_size] = '\0';
	TRY(analysis_classes(session, name, false, &classes, err));
	if (classes.count > ANALYSIS_EXCLUDES_MAX - s->field_count) {
		free(classes.numbers);
		return hdb_fail(err, HDB_ELIMIT,
				"--exclude: too many classes (limit %d); name a common "
				"superclass instead",
				ANALYSIS_EXCLUDES_MAX);
	}
	for (size_t i = 0; i < classes.count; i++) {
		struct analysis_excluded_field *field = &s->fields[s->field_count++];

		field->class_no = classes.numbers[i];
		memcpy(field->name, colon + 1, size - class_size - 1);
		field->name[size - class_size - 1] = '\0';
	}
	free(classes.numbers);
	return HDB_OK;
}

int analysis_excludes_parse(const struct session *session, const char *text,
			    struct analysis_excludes *out, struct hdb_error *err)
{
	static const char *const names[] = { "", "soft", "weak", "phantom", "finalizer" };

	*out = (struct analysis_excludes){ .session = session, .text = text };
	for (const char *p = text; *p;) {
		const size_t size = strcspn(p, ",");
		bool known = size == 4 && strncmp(p, "none", 4) == 0;

		for (unsigned k = STORE_SOFT; k <= STORE_FINALIZER; k++) {
			if (strlen(names[k]) == size && strncmp(p, names[k], size) == 0)
				known = out->strengths[k] = true;
		}
		if (!known)
			TRY(add_field(session, out, p, size, err));
		p += size + (p[size] == ',');
	}
	return HDB_OK;
}

/* Sets *out to whether every field through which `from` holds `to` is excluded by name. */
static int is_field_excluded(const struct analysis_excludes *s, uint32_t from, uint32_t to,
			     bool *out, struct hdb_error *err)
{
	struct heap_object object;
	struct heap_fields fields;
	char name[NAME_MAX_BYTES];
	uint64_t to_id;
	bool any = false;
	int r = heap_object(s->session->heap, from, &object, err);

	*out = false;
	if (r < 0 || object.kind != STORE_INSTANCE ||
	    heap_class(s->session->heap, object.class_no)->ix == to)
		return r;
	TRY(heap_id(s->session->heap, to, &to_id, err));
	TRY(heap_fields_begin(s->session->heap, from, &fields, err));
	while ((r = heap_fields_next(&fields, err)) == HDB_OK) {
		bool is_excluded = false;

		if (fields.value.type != HPROF_OBJECT || fields.value.bits != to_id)
			continue;
		any = true;
		TRY(heap_text(s->session->heap, fields.field.name_text, name, sizeof(name), err));
		for (size_t i = 0; i < s->field_count; i++)
			if (strcmp(s->fields[i].name, name) == 0 &&
			    heap_is_subclass(s->session->heap, object.class_no,
					     s->fields[i].class_no))
				is_excluded = true;
		if (!is_excluded)
			return HDB_OK;
	}
	*out = any;
	return r < 0 ? r : HDB_OK;
}

int analysis_is_excluded(const struct analysis_excludes *excludes, uint32_t from, uint32_t to,
			 bool *out, struct hdb_error *err)
{
	uint8_t strength;
	int r = heap_strength(excludes->session->heap, from, to, &strength, err);

	*out = r == HDB_OK && strength != STORE_STRONG && excludes->strengths[strength];
	TRY(r);
	if (!*out && excludes->field_count)
		r = is_field_excluded(excludes, from, to, out, err);
	return r;
}

/* ---- for walks over the whole heap ---- */

/* Sets *out to whether a field is excluded for instances of a class. */
static int is_named(const struct analysis_excludes *s, uint32_t class_no,
		    const struct store_field *field, bool *out, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES];

	*out = false;
	TRY(heap_text(s->session->heap, field->name_text, name, sizeof(name), err));
	for (size_t i = 0; i < s->field_count; i++)
		if (strcmp(s->fields[i].name, name) == 0 &&
		    heap_is_subclass(s->session->heap, class_no, s->fields[i].class_no))
			*out = true;
	return HDB_OK;
}

/*
 * Records the positions of references in instances of a class. The dump stores the fields of the
 * class first, followed by the fields of each superclass.
 */
static int note_places(const struct session *session, struct analysis_excludes *s,
		       uint32_t class_no, struct hdb_error *err)
{
	const uint32_t n = session->heap->class_count;
	uint64_t at = 0;

	assert(class_no < n);
	for (uint32_t no = class_no, steps = 0; no != STORE_NONE && steps < n; steps++) {
		const struct store_class *class = heap_class(session->heap, no);

		for (uint32_t i = 0; i < class->field_count; i++) {
			struct analysis_place place = { .at = (uint32_t)at };
			const bool is_near = at < UINT32_MAX;
			struct store_field field;

			TRY(heap_field(session->heap, class->first_field + i, &field, err));
			at += hprof_type_size(field.type, session->heap->id_size);
			if (field.type != HPROF_OBJECT || !is_near)
				continue;
			TRY(is_named(s, class_no, &field, &place.is_excluded, err));
			TRY(base_vec_push(&s->places, &place, sizeof(place), err));
		}
		no = class->super_no;
	}
	return HDB_OK;
}

/* Removes all edges to an object. */
static void drop(uint32_t *edges, uint32_t *count, uint32_t to)
{
	uint32_t kept = 0;

	for (uint32_t e = 0; e < *count; e++)
		if (edges[e] != to)
			edges[kept++] = edges[e];
	*count = kept;
}

/* Removes the referent if its strength is excluded and no strong reference also holds it. */
static int drop_weak(const struct analysis_excludes *s, uint32_t from, uint32_t *edges,
		     uint32_t *count, struct hdb_error *err)
{
	uint32_t kept = 0;
	struct heap_weak weak;

	TRY_ERRORS(heap_weak_target(s->session->heap, from, &weak, err));
	for (uint32_t e = 0; e < *count; e++)
		if (edges[e] != weak.to || !s->strengths[weak.strength])
			edges[kept++] = edges[e];
	*count = kept;
	return HDB_OK;
}

/* The IDs in the reference fields of an instance. */
struct held {
	uint32_t class_no;
	uint64_t excluded[ANALYSIS_EXCLUDES_MAX], others[OTHERS_MAX];
	uint32_t excluded_count, other_count;
};

/* Reads the reference fields of one instance. */
static int read_held(const struct analysis_excludes *s, uint32_t from, uint32_t class_no,
		     struct held *out, struct hdb_error *err)
{
	struct heap_instance instance;

	assert(class_no < s->session->heap->class_count);
	assert(s->first_place[class_no] <= s->first_place[class_no + 1]);
	out->class_no = class_no;
	out->excluded_count = out->other_count = 0;
	TRY_FOUND(heap_instance_open(s->session->heap, from, &instance, err));
	for (uint32_t p = s->first_place[class_no]; p < s->first_place[class_no + 1]; p++) {
		const struct analysis_place *place =
			base_vec_at(&s->places, struct analysis_place, p);
		const unsigned size = s->session->heap->id_size;
		const uint8_t *at;
		uint64_t id;

		if ((uint64_t)place->at + size > instance.body_size)
			break; /* the instance is truncated, which the import has reported */
		at = base_view_at(&s->session->heap->dump.view, instance.body_offset + place->at,
				  size, err);
		if (!at)
			return HDB_ETRUNC;
		id = be_id(at, size);
		if (id && place->is_excluded && out->excluded_count < ANALYSIS_EXCLUDES_MAX)
			out->excluded[out->excluded_count++] = id;
		else if (id && !place->is_excluded && out->other_count < OTHERS_MAX)
			out->others[out->other_count++] = id;
	}
	return HDB_OK;
}

/* An object to which fields refer. */
struct target {
	uint64_t id;
	bool is_held; /* whether a field that is not excluded refers to the object */
};

/*
 * Inserts an ID into the ascending list unless it is already in the list. Returns the new length.
 */
static unsigned add_target(struct target *targets, unsigned count, uint64_t id, bool is_held)
{
	unsigned i = count;

	while (i && targets[i - 1].id > id)
		i--;
	if (i && targets[i - 1].id == id) {
		targets[i - 1].is_held = targets[i - 1].is_held || is_held;
		return count;
	}
	memmove(&targets[i + 1], &targets[i], (count - i) * sizeof(*targets));
	targets[i] = (struct target){ id, is_held };
	return count + 1;
}

/*
 * Removes excluded edges without looking up IDs. Objects are numbered in ID order. If all targets
 * of the fields are among the edges, the k-th ID therefore belongs to the k-th edge. If the counts
 * show that some target is missing, returns false without removing an edge.
 */
static bool drop_in_order(const struct analysis_excludes *s, const struct held *held,
			  uint32_t *edges, uint32_t *count)
{
	const struct store_class *class = heap_class(s->session->heap, held->class_no);
	struct target targets[FEW + 1];
	uint32_t kept = *count && edges[0] == class->ix;
	const uint32_t first = kept;
	unsigned n = 0;

	assert(held->excluded_count > 0);
	if (s->has_other_edges[held->class_no] || held->excluded_count + held->other_count > FEW)
		return false;
	for (uint32_t i = 0; i < held->other_count; i++)
		n = add_target(targets, n, held->others[i], true);
	for (uint32_t i = 0; i < held->excluded_count; i++)
		n = add_target(targets, n, held->excluded[i], false);
	if (n != *count - first)
		return false;
	for (unsigned k = 0; k < n; k++)
		if ((k && edges[first + k] <= edges[first + k - 1]) ||
		    edges[first + k] == class->ix)
			return false;
	for (unsigned k = 0; k < n; k++)
		if (targets[k].is_held)
			edges[kept++] = edges[first + k];
	*count = kept;
	return true;
}

/* Removes the edges that are held only by excluded fields. */
static int drop_fields(const struct analysis_excludes *s, const struct held *held, uint32_t *edges,
		       uint32_t *count, struct hdb_error *err)
{
	struct heap *heap = s->session->heap;
	uint32_t to;

	if (!held->excluded_count || drop_in_order(s, held, edges, count))
		return HDB_OK;
	for (uint32_t i = 0; i < held->excluded_count; i++) {
		bool is_held = false;
		int r;

		for (uint32_t o = 0; o < held->other_count; o++)
			is_held = is_held || held->others[o] == held->excluded[i];
		if (is_held)
			continue;
		TRY_ERRORS(r = heap_find(heap, held->excluded[i], &to, err));
		if (r == HDB_OK && to != heap_class(heap, held->class_no)->ix)
			drop(edges, count, to);
	}
	return HDB_OK;
}

/* Removes the excluded edges of one object. This is the callback of the filter. */
static int keep(void *ctx, uint32_t from, uint32_t *edges, uint32_t *count, struct hdb_error *err)
{
	const struct analysis_excludes *s = ctx;
	struct heap *heap = s->session->heap;
	struct heap_object object;
	struct held held;

	TRY(heap_object(heap, from, &object, err));
	if (heap_class(heap, object.class_no)->strength)
		TRY(drop_weak(s, from, edges, count, err));
	if (!s->field_count)
		return HDB_OK;
	TRY(read_held(s, from, object.class_no, &held, err));
	return drop_fields(s, &held, edges, count, err);
}

/*
 * Marks the classes whose instances have edges without a field: threads with local variables, and
 * class loaders with classes. If fields of the dump refer to missing objects, marks all classes,
 * because some fields then have no edge.
 */
static int note_other_edges(const struct session *session, struct analysis_excludes *s,
			    struct hdb_error *err)
{
	struct heap *heap = session->heap;
	const bool is_any = heap_meta_number(heap, "references.dangling", 1) != 0;
	const uint64_t threads = heap_thread_count(heap);
	struct heap_object object;

	memset(s->has_other_edges, is_any, heap->class_count);
	for (uint64_t no = 0; no < threads && !is_any; no++) {
		struct store_thread thread;

		TRY(heap_thread(heap, no, &thread, err));
		if (thread.ix != STORE_NONE)
			TRY(heap_object(heap, thread.ix, &object, err));
		if (thread.ix != STORE_NONE)
			s->has_other_edges[object.class_no] = 1;
	}
	for (uint32_t no = 0; no < heap->class_count && !is_any; no++) {
		TRY(heap_object(heap, heap_class(heap, no)->loader_ix, &object, err));
		s->has_other_edges[object.class_no] = 1;
	}
	return HDB_OK;
}

int analysis_excludes_filter(const struct session *session, struct analysis_excludes *excludes,
			     struct derive_filter *out, struct hdb_error *err)
{
	struct heap *heap = session->heap;

	TRY(heap_load_classes(heap, err));
	analysis_excludes_release(excludes);
	excludes->session = session;
	TRY(BASE_ALLOC(excludes->from_class, (size_t)heap->class_count + 1, "classes", err));
	TRY(BASE_ALLOC(excludes->first_place, (size_t)heap->class_count + 1, "classes", err));
	TRY(BASE_ALLOC(excludes->has_other_edges, (size_t)heap->class_count + 1, "classes", err));
	*out = (struct derive_filter){
		.from_class = excludes->from_class,
		.keep = keep,
		.ctx = excludes,
	};
	TRY(note_other_edges(session, excludes, err));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		const uint8_t strength = heap_class(heap, no)->strength;
		uint8_t *is_from = &excludes->from_class[no];

		*is_from = strength && strength <= STORE_FINALIZER && excludes->strengths[strength];
		for (size_t i = 0; i < excludes->field_count && !*is_from; i++)
			*is_from = heap_is_subclass(heap, no, excludes->fields[i].class_no);
		if (*is_from && excludes->field_count)
			TRY(note_places(session, excludes, no, err));
		excludes->first_place[no + 1] = (uint32_t)excludes->places.count;
	}
	return HDB_OK;
}

static bool has_strengths(const struct analysis_excludes *excludes, bool value)
{
	for (unsigned k = STORE_SOFT; k <= STORE_FINALIZER; k++)
		if (excludes->strengths[k] != value)
			return false;
	return excludes->field_count == 0;
}

bool analysis_excludes_is_weak(const struct analysis_excludes *excludes)
{
	return has_strengths(excludes, true);
}

bool analysis_excludes_is_none(const struct analysis_excludes *excludes)
{
	return has_strengths(excludes, false);
}

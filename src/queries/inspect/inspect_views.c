/*
 * queries/inspect/inspect_views.c - rules for views, and for the contexts to which views and other
 * objects belong.
 */
#include "heap/known.h"
#include "queries/inspect/inspect.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/* Maximum depth of wrapped contexts. */
#define WRAPS_MAX 64u
/* Maximum depth of nested views. */
#define VIEWS_MAX 1024u

static const char activity[] = "android.app.Activity";
static const char wrapper[] = "android.content.ContextWrapper";
static const char view[] = "android.view.View";
static const char decor_view[] = "com.android.internal.policy.DecorView";

/* ---- contexts ---- */

enum context_kind { CONTEXT_NONE, CONTEXT_WRAPPER, CONTEXT_ACTIVITY, CONTEXT_OTHER };

/* Returns the kind of the nearest known class of an object. */
static enum context_kind kind_of(struct heap *heap, uint32_t ix)
{
	if (!inspect_is_a(heap, ix, wrapper))
		return CONTEXT_NONE;
	if (inspect_is_a(heap, ix, activity))
		return CONTEXT_ACTIVITY;
	return inspect_is_a(heap, ix, "android.app.Application") ||
			       inspect_is_a(heap, ix, "android.app.Service") ?
		       CONTEXT_OTHER :
		       CONTEXT_WRAPPER;
}

/* Reads a reference. Sets *out to HEAP_NONE if it is null or missing. */
static int get(struct heap *heap, uint32_t ix, const char *path, uint32_t *out,
	       struct hdb_error *err)
{
	const int r = heap_path_object(heap, ix, path, out, err);

	if (r != HDB_OK)
		*out = HEAP_NONE;
	return r < 0 ? r : HDB_OK;
}

int inspect_component(struct heap *heap, uint32_t context, uint32_t *out, struct hdb_error *err)
{
	enum context_kind kind = kind_of(heap, context);

	*out = HEAP_NONE;
	for (unsigned i = 0; i < WRAPS_MAX && kind == CONTEXT_WRAPPER; i++) {
		uint32_t base, other = HEAP_NONE;

		TRY(get(heap, context, "mBase", &base, err));
		kind = base == HEAP_NONE ? CONTEXT_NONE : kind_of(heap, base);
		/* A DecorContext refers to its window instead of its activity. */
		if (kind != CONTEXT_ACTIVITY &&
		    inspect_is_a(heap, context, "com.android.internal.policy.DecorContext"))
			TRY(get(heap, context, "mPhoneWindow.mContext", &other, err));
		if (other != HEAP_NONE) {
			kind = kind == CONTEXT_OTHER ? kind : kind_of(heap, other);
			base = other;
		}
		if (base == HEAP_NONE)
			return HDB_OK;
		context = base;
	}
	if (kind == CONTEXT_ACTIVITY || kind == CONTEXT_OTHER)
		*out = context;
	return HDB_OK;
}

/* Reads Activity.mDestroyed. Returns HDB_NOTFOUND if there is no such field. */
static int read_destroyed(struct heap *heap, uint32_t ix, bool *out, struct hdb_error *err)
{
	struct inspect_look look = { .heap = heap, .ix = ix, .start_no = HEAP_NONE };

	return inspect_bool(&look, "mDestroyed", out, err);
}

int inspect_is_destroyed(struct heap *heap, uint32_t context, bool *out, struct hdb_error *err)
{
	uint32_t component = HEAP_NONE;
	int r = HDB_OK;

	*out = false;
	if (context != HEAP_NONE)
		TRY_FOUND(inspect_component(heap, context, &component, err));
	if (component != HEAP_NONE && inspect_is_a(heap, component, activity))
		r = read_destroyed(heap, component, out, err);
	return r < 0 ? r : HDB_OK;
}

/* ---- views ---- */

struct view_facts {
	uint32_t root; /* topmost view above the view; HEAP_NONE if the view itself is topmost */
	bool is_in_window, is_attached, is_root_attached, is_destroyed;
	bool has_root_impl; /* whether the parent of the topmost view is not a view */
	int64_t attach_count;
};

static int find_root(struct heap *heap, uint32_t ix, struct view_facts *out, struct hdb_error *err)
{
	uint32_t parent = HEAP_NONE;

	out->root = HEAP_NONE;
	TRY(get(heap, ix, "mParent", &parent, err));
	for (unsigned i = 0;
	     i < VIEWS_MAX && parent != HEAP_NONE && inspect_is_a(heap, parent, view); i++) {
		out->root = parent;
		TRY(get(heap, parent, "mParent", &parent, err));
	}
	out->has_root_impl = parent != HEAP_NONE;
	return HDB_OK;
}

static int look_at(struct inspect_look *look, struct view_facts *out, struct hdb_error *err)
{
	struct heap *heap = look->heap;
	const uint32_t ix = look->ix;
	uint32_t info, context;

	TRY(find_root(heap, ix, out, err));
	out->is_in_window =
		out->has_root_impl || (out->root != HEAP_NONE &&
				       strcmp(inspect_class_of(heap, out->root), decor_view) == 0);
	out->is_root_attached = true;
	if (out->root != HEAP_NONE) {
		TRY(get(heap, out->root, "mAttachInfo", &info, err));
		out->is_root_attached = info != HEAP_NONE;
	}
	TRY(get(heap, ix, "mAttachInfo", &info, err));
	out->is_attached = info != HEAP_NONE;
	out->attach_count = 0;
	TRY_ERRORS(heap_path_number(heap, ix, "mWindowAttachCount", &out->attach_count, err));
	TRY(get(heap, ix, "mContext", &context, err));
	return inspect_is_destroyed(heap, context, &out->is_destroyed, err);
}

static int say_view_id(struct inspect_look *look, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES];
	int64_t id;
	int r = heap_path_number(look->heap, look->ix, "mID", &id, err);

	if (r != HDB_OK || id == -1 || look->inspector->resource_ids == HEAP_NONE)
		return r < 0 ? r : HDB_OK;
	if (!inspect_resource_name(look->inspector, id, name, sizeof(name)))
		(void)snprintf(name, sizeof(name), "null");
	return inspect_say(look, INSPECT_LABEL, err, "View.mID = R.id.%s", name);
}

int inspect_view(struct inspect_look *look, struct hdb_error *err)
{
	struct view_facts f;
	int r = look_at(look, &f, err);

	TRY(r);
	if (f.is_destroyed)
		r = inspect_say(look, INSPECT_GONE, err,
				"View.mContext is of a destroyed activity");
	else if (f.is_in_window && f.attach_count > 0 && !f.is_attached)
		r = inspect_say(look, INSPECT_GONE, err,
				"detached, but still among the views of a window");
	else if (f.is_in_window && f.attach_count > 0 && !f.is_root_attached)
		r = inspect_say(look, INSPECT_GONE, err,
				"attached, but its root view %s is detached",
				inspect_class_of(look->heap, f.root));
	else if (f.is_in_window && f.attach_count > 0)
		r = inspect_say(look, INSPECT_THERE, err, "attached to a window");
	if (r != HDB_OK || !look->out->wants_text)
		return r;
	TRY(inspect_say(look, INSPECT_LABEL, err, "%s the views of a window",
			f.is_in_window ? "among" : "not among"));
	TRY(inspect_say(look, INSPECT_LABEL, err, "View.mAttachInfo is %s",
			f.is_attached ? "not null" : "null"));
	TRY(say_view_id(look, err));
	return inspect_say(look, INSPECT_LABEL, err, "View.mWindowAttachCount = %" PRId64,
			   f.attach_count);
}

/*
 * Reports a leaking view. Only the topmost view counts as leaking, because it holds all the other
 * views.
 */
int inspect_view_filter(struct inspect_look *look, struct hdb_error *err)
{
	struct view_facts f;
	uint32_t parent;
	int r = get(look->heap, look->ix, "mParent", &parent, err);

	if (r != HDB_OK || (parent != HEAP_NONE && inspect_is_a(look->heap, parent, view)))
		return r;
	TRY(look_at(look, &f, err));
	if (f.is_destroyed ||
	    (!f.is_attached && f.attach_count > 0 &&
	     (f.has_root_impl || strcmp(inspect_class_of(look->heap, look->ix), decor_view) == 0)))
		r = inspect_say(look, INSPECT_GONE, err, "a view of a closed window");
	return r;
}

/* Reports the status of an editor, which is the same as the status of its text view. */
int inspect_editor(struct inspect_look *look, struct hdb_error *err)
{
	struct inspect_look inner = *look;

	TRY(get(look->heap, look->ix, "mTextView", &inner.ix, err));
	inner.prefix = "Editor#mTextView: ";
	return inner.ix == HEAP_NONE ? HDB_OK : inspect_view(&inner, err);
}

int inspect_editor_filter(struct inspect_look *look, struct hdb_error *err)
{
	struct inspect_look inner = *look;

	TRY(get(look->heap, look->ix, "mTextView", &inner.ix, err));
	return inner.ix == HEAP_NONE ? HDB_OK : inspect_view_filter(&inner, err);
}

/* ---- labels for contexts ---- */

/* Adds a label for a field that is a context: "screen: app.Screen, mDestroyed = true". */
static int say_context(struct inspect_look *look, const char *field, uint32_t context,
		       struct hdb_error *err)
{
	const char *name = inspect_class_of(look->heap, context);
	char wraps[NAME_MAX_BYTES] = "";
	uint32_t component;
	bool is_destroyed;
	int r;

	TRY(inspect_component(look->heap, context, &component, err));
	if (component != HEAP_NONE && component != context)
		(void)snprintf(wraps, sizeof(wraps), ", wraps %s%s",
			       inspect_is_a(look->heap, component, activity) ? "activity " : "",
			       inspect_class_of(look->heap, component));
	if (component == HEAP_NONE || !inspect_is_a(look->heap, component, activity))
		return inspect_say(look, INSPECT_LABEL, err, "%s: %s%s", field, name, wraps);
	TRY_ERRORS(r = read_destroyed(look->heap, component, &is_destroyed, err));
	return inspect_say(look, INSPECT_LABEL, err, "%s: %s%s, mDestroyed = %s", field, name,
			   wraps,
			   r != HDB_OK  ? "UNKNOWN" :
			   is_destroyed ? "true" :
					  "false");
}

int inspect_context_fields(struct inspect_look *look, struct hdb_error *err)
{
	struct heap_fields fields;
	int r;

	/* Most heaps are not from Android and do not contain this class. */
	if (heap_class_by_name(look->heap, "android.content.Context", 0) == HEAP_NONE)
		return HDB_OK;
	TRY_FOUND(heap_fields_begin(look->heap, look->ix, &fields, err));
	while ((r = heap_fields_next(&fields, err)) == HDB_OK) {
		char name[NAME_MAX_BYTES];
		uint32_t target;

		if (fields.value.type != HPROF_OBJECT || !fields.value.bits)
			continue;
		TRY_ERRORS(r = heap_find(look->heap, fields.value.bits, &target, err));
		if (r == HDB_NOTFOUND ||
		    !inspect_is_a(look->heap, target, "android.content.Context"))
			continue;
		TRY(heap_text(look->heap, fields.field.name_text, name, sizeof(name), err));
		TRY_FOUND(say_context(look, name, target, err));
	}
	return r < 0 ? r : HDB_OK;
}

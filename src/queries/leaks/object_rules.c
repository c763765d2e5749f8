/*
 * queries/leaks/object_rules.c - the conditions that rules on single objects are made of.
 */
#include "queries/leaks/object_rules.h"

#include "analysis/describe.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "heap/values/values.h"

#include <stdlib.h>
#include <string.h>

/* Contexts wrapped in one another. */
#define WRAPS_MAX 64u
/* Services of one process. */
#define SERVICES_MAX 65536u
/* Views in one another. */
#define VIEWS_MAX 1024u
#define NAME_MAX_BYTES 256

static const char activity[] = "android.app.Activity";
static const char wrapper[] = "android.content.ContextWrapper";

int object_compare_ix(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* ---- fields ---- */

/* A boolean: HDB_NOTFOUND if there is no such field. */
static int read_bool(struct heap *heap, uint32_t ix, const char *field, bool *out,
		     struct hdb_error *err)
{
	struct heap_value value;
	int r = heap_path_value(heap, ix, HEAP_NONE, field, &value, err);

	if (r == HDB_OK && value.type != HPROF_BOOLEAN)
		r = HDB_NOTFOUND;
	*out = r == HDB_OK && value.bits & 0xff;
	return r;
}

/* A reference: *target HEAP_NONE if it is null; HDB_NOTFOUND if there is no such field. */
static int read_object(struct heap *heap, uint32_t ix, const char *field, uint32_t *target,
		       struct hdb_error *err)
{
	struct heap_value value;
	int r = heap_path_value(heap, ix, HEAP_NONE, field, &value, err);

	*target = HEAP_NONE;
	if (r == HDB_OK && value.type != HPROF_OBJECT)
		return HDB_NOTFOUND;
	if (r != HDB_OK || !value.bits)
		return r;
	r = heap_find(heap, value.bits, target, err);
	return r < 0 ? r : HDB_OK;
}

static bool is_a(struct heap *heap, uint32_t ix, const char *class_name)
{
	struct heap_object object;

	return heap_object(heap, ix, &object, NULL) == HDB_OK && object.kind == STORE_INSTANCE &&
	       heap_has_superclass(heap, object.class_no, class_name);
}

/* ---- contexts ---- */

/* The activity that a context is or wraps, HEAP_NONE if there is none. */
static int activity_of(struct heap *heap, uint32_t context, uint32_t *out, struct hdb_error *err)
{
	int r = HDB_OK;

	*out = HEAP_NONE;
	for (unsigned i = 0; i < WRAPS_MAX && context != HEAP_NONE && r == HDB_OK; i++) {
		uint32_t window;

		if (is_a(heap, context, activity)) {
			*out = context;
			return HDB_OK;
		}
		if (!is_a(heap, context, wrapper) ||
		    is_a(heap, context, "android.app.Application") ||
		    is_a(heap, context, "android.app.Service"))
			return HDB_OK;
		if (is_a(heap, context, "com.android.internal.policy.DecorContext")) {
			r = read_object(heap, context, "mPhoneWindow", &window, err);
			if (r == HDB_OK && window != HEAP_NONE)
				r = read_object(heap, window, "mContext", &context, err);
			continue;
		}
		r = read_object(heap, context, "mBase", &context, err);
	}
	return r < 0 ? r : HDB_OK;
}

static int check_context(struct heap *heap, uint32_t context, enum object_verdict *out,
			 struct hdb_error *err)
{
	uint32_t found;
	bool destroyed;
	int r = activity_of(heap, context, &found, err);

	if (r != HDB_OK || found == HEAP_NONE)
		return r;
	r = read_bool(heap, found, "mDestroyed", &destroyed, err);
	if (r == HDB_OK)
		*out = destroyed ? OBJECT_GONE : OBJECT_THERE;
	return r < 0 ? r : HDB_OK;
}

static int check_context_field(struct heap *heap, const struct object_rule *rule, uint32_t ix,
			       enum object_verdict *out, struct hdb_error *err)
{
	uint32_t context = ix, parent;
	int r = rule->field ? read_object(heap, ix, rule->field, &context, err) : HDB_OK;

	/* The activity itself has a rule of its own. */
	if (!rule->field && is_a(heap, ix, activity))
		return HDB_OK;
	/* Of views only the one on top is looked for: the others hang on it. */
	if (r == HDB_OK && rule->is_filter && is_a(heap, ix, "android.view.View")) {
		r = read_object(heap, ix, "mParent", &parent, err);
		if (r == HDB_OK && parent != HEAP_NONE && is_a(heap, parent, "android.view.View"))
			return HDB_OK;
	}
	if (r == HDB_OK && context != HEAP_NONE && is_a(heap, context, "android.view.View"))
		r = read_object(heap, context, "mContext", &context, err);
	if (r != HDB_OK || context == HEAP_NONE)
		return r < 0 ? r : HDB_OK;
	return check_context(heap, context, out, err);
}

static int check_outer(struct heap *heap, const struct object_rule *rule, uint32_t ix,
		       enum object_verdict *out, struct hdb_error *err)
{
	uint32_t outer;
	bool destroyed;
	int r = read_object(heap, ix, rule->field, &outer, err);

	if (r != HDB_OK || outer == HEAP_NONE || !is_a(heap, outer, activity))
		return r < 0 ? r : HDB_OK;
	r = read_bool(heap, outer, "mDestroyed", &destroyed, err);
	if (r == HDB_OK)
		*out = destroyed ? OBJECT_GONE : OBJECT_THERE;
	return r < 0 ? r : HDB_OK;
}

/* A root view (of a window, or a DecorView) that was attached once and has no mAttachInfo. */
static int check_view(struct heap *heap, uint32_t ix, enum object_verdict *out,
		      struct hdb_error *err)
{
	struct heap_value count;
	uint32_t parent, info;
	int r = read_object(heap, ix, "mParent", &parent, err);

	if (r == HDB_OK && parent != HEAP_NONE && is_a(heap, parent, "android.view.View"))
		return HDB_OK;
	if (r == HDB_OK)
		r = read_object(heap, ix, "mAttachInfo", &info, err);
	if (r == HDB_OK)
		r = heap_field_value(heap, ix, NULL, "mWindowAttachCount", &count, err);
	if (r == HDB_OK && info == HEAP_NONE && (int32_t)(uint32_t)count.bits > 0 &&
	    (parent != HEAP_NONE || is_a(heap, ix, "com.android.internal.policy.DecorView")))
		*out = OBJECT_GONE;
	return r < 0 ? r : HDB_OK;
}

/* A view whose topmost parent is in a window: it, or that one, was attached and is no more. */
static int check_view_part(struct heap *heap, uint32_t ix, enum object_verdict *out,
			   struct hdb_error *err)
{
	struct heap_value count;
	uint32_t root = ix, parent = HEAP_NONE, info, root_info = HEAP_NONE;
	int r = read_object(heap, ix, "mAttachInfo", &info, err);

	for (unsigned i = 0; i < VIEWS_MAX && r == HDB_OK; i++) {
		r = read_object(heap, root, "mParent", &parent, err);
		if (r != HDB_OK || parent == HEAP_NONE || !is_a(heap, parent, "android.view.View"))
			break;
		root = parent;
	}
	if (r == HDB_OK)
		r = read_object(heap, root, "mAttachInfo", &root_info, err);
	if (r == HDB_OK)
		r = heap_field_value(heap, ix, NULL, "mWindowAttachCount", &count, err);
	if (r == HDB_OK && (int32_t)(uint32_t)count.bits > 0 &&
	    (parent != HEAP_NONE || is_a(heap, root, "com.android.internal.policy.DecorView")))
		*out = info == HEAP_NONE || root_info == HEAP_NONE ? OBJECT_GONE : OBJECT_THERE;
	return r < 0 ? r : HDB_OK;
}

/* ---- services ---- */

/* ActivityThread.sCurrentActivityThread. */
static int find_activity_thread(struct heap *heap, uint32_t *out, struct hdb_error *err)
{
	const uint32_t no = heap_class_by_name(heap, "android.app.ActivityThread", 0);
	struct heap_fields statics;
	char name[NAME_MAX_BYTES];
	int r;

	if (no == HEAP_NONE)
		return HDB_NOTFOUND;
	heap_statics_begin(heap, no, &statics);
	while ((r = heap_fields_next(&statics, err)) == HDB_OK) {
		r = heap_text(heap, statics.field.name_text, name, sizeof(name), err);
		if (r < 0)
			return r;
		if (strcmp(name, "sCurrentActivityThread") == 0 &&
		    statics.value.type == HPROF_OBJECT && statics.value.bits)
			return heap_find(heap, statics.value.bits, out, err);
	}
	return r < 0 ? r : HDB_NOTFOUND;
}

/* mServices is an ArrayMap: keys and values by turns in mArray; all that is in it is known. */
static int load_services(struct object_judge *j, struct hdb_error *err)
{
	struct heap *heap = j->q->heap;
	uint64_t bits[64], done = 1;
	uint32_t thread, map, array;
	uint8_t type;
	int r = find_activity_thread(heap, &thread, err);

	if (r == HDB_OK)
		r = heap_field_object(heap, thread, NULL, "mServices", &map, err);
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	r = heap_field_object(heap, map, NULL, "mArray", &array, err);
	j->knows_services = r == HDB_OK;
	for (uint64_t at = 0; r == HDB_OK && done && at < SERVICES_MAX; at += done) {
		r = heap_elements(heap, array, at, sizeof(bits) / sizeof(bits[0]), bits, &type,
				  &done, err);
		for (uint64_t i = 0; i < done && r == HDB_OK; i++) {
			uint32_t ix;
			const int found =
				bits[i] ? heap_find(heap, bits[i], &ix, err) : HDB_NOTFOUND;

			r = found < 0 ? found : HDB_OK;
			if (found == HDB_OK)
				r = base_vec_push(&j->services, &ix, sizeof(ix), err);
		}
	}
	if (r == HDB_OK && j->services.count)
		qsort(j->services.data, j->services.count, sizeof(uint32_t), object_compare_ix);
	return r < 0 ? r : HDB_OK;
}

/* ---- states ---- */

/* Name of the state of a LifecycleRegistry: "" if the dump does not tell. */
static int read_state(struct query *q, uint32_t registry, char *buf, size_t size,
		      struct hdb_error *err)
{
	uint32_t state;
	int r = heap_field_object(q->heap, registry, NULL, "state", &state, err);

	buf[0] = '\0';
	if (r == HDB_NOTFOUND)
		r = heap_field_object(q->heap, registry, NULL, "mState", &state, err);
	if (r == HDB_OK)
		analysis_describe(&q->session, state, buf, size);
	return r < 0 ? r : HDB_OK;
}

/*
 * Before androidx.fragment 1.1 a retained fragment goes back to INITIALIZED: then other fields
 * tell.
 */
static int check_fragment(struct query *q, uint32_t ix, uint32_t registry, enum object_verdict *out,
			  struct hdb_error *err)
{
	char state[NAME_MAX_BYTES];
	uint32_t manager, max_state;
	bool called = false;
	int r = read_state(q, registry, state, sizeof(state), err);

	if (r != HDB_OK || !state[0])
		return r;
	*out = strcmp(state, "DESTROYED") == 0 ? OBJECT_GONE : OBJECT_THERE;
	if (strcmp(state, "INITIALIZED") != 0)
		return HDB_OK;
	r = read_object(q->heap, ix, "mMaxState", &max_state, err);
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	r = read_object(q->heap, ix, "mFragmentManager", &manager, err);
	if (r == HDB_OK && manager == HEAP_NONE)
		r = read_bool(q->heap, ix, "mCalled", &called, err);
	if (called)
		*out = OBJECT_GONE;
	return r < 0 ? r : HDB_OK;
}

static int check_toast(struct heap *heap, uint32_t ix, enum object_verdict *out,
		       struct hdb_error *err)
{
	uint32_t tn, manager, view;
	int r = read_object(heap, ix, "mTN", &tn, err);

	if (r != HDB_OK || tn == HEAP_NONE)
		return r < 0 ? r : HDB_OK;
	r = read_object(heap, tn, "mWM", &manager, err);
	if (r == HDB_OK)
		r = read_object(heap, tn, "mView", &view, err);
	if (r == HDB_OK && manager != HEAP_NONE)
		*out = view == HEAP_NONE ? OBJECT_GONE : OBJECT_THERE;
	return r < 0 ? r : HDB_OK;
}

/* ---- one rule ---- */

static int check_state(struct query *q, const struct object_rule *rule, uint32_t ix,
		       enum object_verdict *out, struct hdb_error *err)
{
	char state[NAME_MAX_BYTES];
	uint32_t registry;
	int r;

	if (rule->condition == OBJECT_LIFECYCLE_STATE) {
		r = read_state(q, ix, state, sizeof(state), err);
		if (r == HDB_OK && state[0] && strcmp(state, "DESTROYED") != 0)
			*out = OBJECT_THERE;
		return r;
	}
	r = heap_field_object(q->heap, ix, NULL, rule->field, &registry, err);
	return r == HDB_OK ? check_fragment(q, ix, registry, out, err) : r < 0 ? r : HDB_OK;
}

static int check_field(struct heap *heap, const struct object_rule *rule, uint32_t ix,
		       enum object_verdict *out, struct hdb_error *err)
{
	uint32_t target;
	bool value;
	int r;

	if (rule->condition == OBJECT_FIELD_TRUE) {
		r = read_bool(heap, ix, rule->field, &value, err);
		if (r == HDB_OK)
			*out = value ? OBJECT_GONE : OBJECT_THERE;
		return r < 0 ? r : HDB_OK;
	}
	r = read_object(heap, ix, rule->field, &target, err);
	if (r == HDB_OK)
		*out = target == HEAP_NONE ? OBJECT_GONE : OBJECT_THERE;
	return r < 0 ? r : HDB_OK;
}

static int check(struct object_judge *j, const struct object_rule *rule, uint32_t ix,
		 enum object_verdict *out, struct hdb_error *err)
{
	struct heap *heap = j->q->heap;
	char name[NAME_MAX_BYTES];
	int r = HDB_OK;

	switch (rule->condition) {
	case OBJECT_ALWAYS:
		*out = OBJECT_THERE;
		return HDB_OK;
	case OBJECT_FIELD_TRUE:
	case OBJECT_FIELD_NULL:
	case OBJECT_FIELD_NULL_ONLY:
		return check_field(heap, rule, ix, out, err);
	case OBJECT_CONTEXT_DESTROYED:
		return check_context_field(heap, rule, ix, out, err);
	case OBJECT_OUTER_DESTROYED:
		return check_outer(heap, rule, ix, out, err);
	case OBJECT_VIEW_DETACHED:
		return check_view(heap, ix, out, err);
	case OBJECT_VIEW_PART:
		return check_view_part(heap, ix, out, err);
	case OBJECT_SERVICE:
		if (j->knows_services)
			*out = bsearch(&ix, j->services.data, j->services.count, sizeof(ix),
				       object_compare_ix) ?
				       OBJECT_THERE :
				       OBJECT_GONE;
		return HDB_OK;
	case OBJECT_LIFECYCLE:
	case OBJECT_LIFECYCLE_STATE:
		return check_state(j->q, rule, ix, out, err);
	case OBJECT_TOAST:
		return check_toast(heap, ix, out, err);
	case OBJECT_MAIN_THREAD:
		r = heap_thread_name(heap, ix, name, sizeof(name), err);
		if (r == HDB_OK && strcmp(name, "main") == 0)
			*out = OBJECT_THERE;
		return r;
	}
	return r;
}

/* ---- all rules ---- */

int object_judge_init(struct object_judge *j, struct query *q, bool *any, struct hdb_error *err)
{
	int r = heap_load_classes(q->heap, err);

	*j = (struct object_judge){ .q = q };
	*any = false;
	if (r != HDB_OK)
		return r;
	if (object_rule_count > OBJECT_RULES_MAX)
		return hdb_fail(err, HDB_EBUG, "more than %u object rules", OBJECT_RULES_MAX);
	j->rules_of_class = calloc((size_t)q->heap->class_count + 1, sizeof(uint32_t));
	if (!j->rules_of_class)
		return hdb_fail_memory(err, "object rules", q->heap->class_count * 4ull);
	for (uint32_t no = 0; no < q->heap->class_count; no++) {
		for (size_t i = 0; i < object_rule_count; i++) {
			if (!heap_has_superclass(q->heap, no, object_rules[i].class_name))
				continue;
			j->rules_of_class[no] |= 1u << i;
			*any |= object_rules[i].is_filter;
		}
	}
	r = object_watched_load(j->q->heap, &j->watched, err);
	*any |= j->watched.count > 0;
	if (*any && r == HDB_OK)
		r = load_services(j, err);
	return r == HDB_ECHANGED ? HDB_OK : r;
}

bool object_judge_wants(const struct object_judge *j, uint32_t class_no)
{
	return j->rules_of_class[class_no] || j->watched.count;
}

void object_judge_release(struct object_judge *j)
{
	free(j->rules_of_class);
	base_vec_release(&j->services);
	base_vec_release(&j->watched);
	*j = (struct object_judge){ 0 };
}

int object_judge_look(struct object_judge *j, uint32_t ix, bool filters_only,
		      enum object_verdict *verdict, const char **reason, struct hdb_error *err)
{
	struct heap_object object;
	int r = heap_object(j->q->heap, ix, &object, err);

	*verdict = OBJECT_UNKNOWN;
	*reason = NULL;
	if (r == HDB_OK && object.kind == STORE_CLASS) {
		*verdict = OBJECT_THERE;
		*reason = "classes stay";
	}
	if (r != HDB_OK || object.kind != STORE_INSTANCE)
		return r;
	for (uint32_t rules = j->rules_of_class[object.class_no]; rules && r == HDB_OK;
	     rules &= rules - 1) {
		const struct object_rule *rule = &object_rules[__builtin_ctz(rules)];
		enum object_verdict one = OBJECT_UNKNOWN;

		if (filters_only && !rule->is_filter)
			continue;
		r = check(j, rule, ix, &one, err);
		if (one == OBJECT_GONE && rule->gone && *verdict == OBJECT_UNKNOWN) {
			*verdict = one;
			*reason = rule->gone;
		} else if (one == OBJECT_THERE && rule->there && *verdict != OBJECT_THERE) {
			*verdict = one;
			*reason = rule->there;
		}
	}
	if (r == HDB_OK && *verdict == OBJECT_UNKNOWN && object_is_watched(&j->watched, ix)) {
		*verdict = OBJECT_GONE;
		*reason = "a watcher expects it to be gone";
	}
	return r;
}

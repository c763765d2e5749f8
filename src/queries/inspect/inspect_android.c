/*
 * queries/inspect/inspect_android.c - what data cannot say of single objects, but for views and
 * contexts.
 */
#include "heap/known.h"
#include "base/sort.h"
#include "heap/threads.h"
#include "queries/inspect/inspect.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/* Elements of lists and maps that are shown. */
#define ELEMENTS_MAX 64u
/* Ids of resources of an application. */
#define RESOURCES_MAX 1048576u

/* ---- any VM ---- */

/* "Outer$1": the compiler's own name. */
int inspect_anonymous(struct inspect_look *look, struct hdb_error *err)
{
	const char *name = heap_class_name(look->heap, look->class_no);
	const char *dollar = strrchr(name, '$');
	const uint32_t super = heap_class(look->heap, look->class_no)->super_no;
	const char *super_name;

	if (!dollar || dollar == name || !dollar[1] ||
	    dollar[1 + strspn(dollar + 1, "0123456789")] || super == STORE_NONE)
		return HDB_OK;
	super_name = heap_class_name(look->heap, super);
	/* What it implements is not in the dump. */
	if (strcmp(super_name, "java.lang.Object") == 0)
		return HDB_OK;
	return inspect_say(look, INSPECT_LABEL, err, "Anonymous subclass of %s", super_name);
}

int inspect_thread(struct inspect_look *look, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES];
	const int r = heap_thread_name(look->heap, look->ix, name, sizeof(name), err);

	return r >= 0 && name[0] ?
		       inspect_say(look, INSPECT_LABEL, err, "Thread name: '%s'", name) :
		       r;
}

int inspect_main_thread(struct inspect_look *look, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES];
	const int r = heap_thread_name(look->heap, look->ix, name, sizeof(name), err);

	return r >= 0 && strcmp(name, "main") == 0 ?
		       inspect_say(look, INSPECT_THERE, err, "the main thread stays") :
		       r;
}

/* ---- applications ---- */

int inspect_service(struct inspect_look *look, struct hdb_error *err)
{
	const struct base_vec *known = &look->inspector->services;

	if (!look->inspector->knows_services)
		return HDB_OK;
	if (known->count &&
	    bsearch(&look->ix, known->data, known->count, sizeof(uint32_t), base_compare_u32))
		return inspect_say(look, INSPECT_THERE, err,
				   "the activity thread knows this service");
	return inspect_say(look, INSPECT_GONE, err,
			   "the activity thread does not know this service");
}

int inspect_fragment_tag(struct inspect_look *look, struct hdb_error *err)
{
	char tag[NAME_MAX_BYTES];
	const int r = inspect_text(look, "mTag", BASE_TEXT(tag), err);

	return r == HDB_OK && tag[0] ?
		       inspect_say(look, INSPECT_LABEL, err, "Fragment.mTag=%s", tag) :
		       r;
}

/*
 * Before androidx.fragment 1.1 a fragment that is kept goes back to INITIALIZED: then other fields
 * tell that it was in use.
 */
static int was_in_use(struct inspect_look *look, bool *out, struct hdb_error *err)
{
	uint32_t manager, max_state;

	*out = false;
	TRY_FOUND(inspect_reference(look, "mMaxState", &max_state, err));
	TRY_FOUND(inspect_reference(look, "mFragmentManager", &manager, err));
	if (manager == HEAP_NONE)
		TRY_ERRORS(inspect_bool(look, "mCalled", out, err));
	return HDB_OK;
}

int inspect_fragment_state(struct inspect_look *look, struct hdb_error *err)
{
	char state[NAME_MAX_BYTES], tag[NAME_MAX_BYTES] = "";
	uint32_t registry;
	bool is_gone = false;

	TRY_FOUND(inspect_reference(look, "mLifecycleRegistry", &registry, err));
	if (registry == HEAP_NONE)
		return inspect_say(look, INSPECT_LABEL, err, "Fragment.mLifecycleRegistry = null");
	TRY(inspect_text_of(look->heap, registry, "state.name|mState.name", BASE_TEXT(state), err));
	if (strcmp(state, "INITIALIZED") == 0)
		TRY(was_in_use(look, &is_gone, err));
	is_gone |= strcmp(state, "DESTROYED") == 0;
	if (state[0])
		TRY(inspect_say(look, is_gone ? INSPECT_GONE : INSPECT_THERE, err,
				"Fragment.mLifecycleRegistry.state is %s", state));
	if (look->out->wants_text)
		TRY(inspect_text(look, "mTag", BASE_TEXT(tag), err));
	return tag[0] ? inspect_say(look, INSPECT_LABEL, err, "Fragment.mTag = %s", tag) : HDB_OK;
}

int inspect_registry(struct inspect_look *look, struct hdb_error *err)
{
	char state[NAME_MAX_BYTES];
	const int r = inspect_text(look, "state.name|mState.name", BASE_TEXT(state), err);

	if (r != HDB_OK || !state[0])
		return r;
	/* That of a fragment's view is destroyed with the view, and stays. */
	return strcmp(state, "DESTROYED") == 0 ?
		       inspect_say(look, INSPECT_LABEL, err, "state = %s", state) :
		       inspect_say(look, INSPECT_THERE, err, "state is %s", state);
}

int inspect_scope(struct inspect_look *look, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES] = "";
	bool is_dead;

	TRY_FOUND(inspect_bool(look, "dead", &is_dead, err));
	if (look->out->wants_text)
		TRY(inspect_text(look, "name", BASE_TEXT(name), err));
	return inspect_say(look, is_dead ? INSPECT_GONE : INSPECT_THERE, err,
			   "MortarScope#dead is %s, scope %s", is_dead ? "true" : "false", name);
}

int inspect_toast(struct inspect_look *look, struct hdb_error *err)
{
	struct inspect_look tn = *look;
	uint32_t manager, view;
	int r = inspect_reference(look, "mTN", &tn.ix, err);

	tn.start_no = HEAP_NONE;
	if (r != HDB_OK || tn.ix == HEAP_NONE)
		return r < 0 ? r : HDB_OK;
	TRY_FOUND(inspect_reference(&tn, "mWM", &manager, err));
	r = inspect_reference(&tn, "mView", &view, err);
	/* Never shown: nothing is known. */
	if (r != HDB_OK || manager == HEAP_NONE)
		return r < 0 ? r : HDB_OK;
	return view == HEAP_NONE ?
		       inspect_say(look, INSPECT_GONE, err, "it was shown and is hidden") :
		       inspect_say(look, INSPECT_THERE, err, "it is shown");
}

/* ---- messages ---- */

int inspect_queue_thread(struct inspect_look *look, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES];
	uint32_t thread;

	TRY_FOUND(heap_path_object_as(look->heap, (struct heap_as){ look->ix, look->start_no },
				      "mMessages.target.mLooper.mThread", &thread, err));
	TRY_FOUND(heap_thread_name(look->heap, thread, name, sizeof(name), err));
	return inspect_say(look, INSPECT_LABEL, err, "HandlerThread: \"%s\"", name);
}

static int say_when(struct inspect_look *look, struct hdb_error *err)
{
	const struct inspector *inspector = look->inspector;
	int64_t at;

	TRY_FOUND(inspect_number(look, "when", &at, err));
	if (!inspector->has_uptime)
		return inspect_say(look, INSPECT_LABEL, err, "Message.when = %" PRId64, at);
	return at > inspector->uptime_ms ?
		       inspect_say(look, INSPECT_LABEL, err,
				   "Message.when = %" PRId64 " (%" PRIu64 " ms after heap dump)",
				   at, (uint64_t)at - (uint64_t)inspector->uptime_ms) :
		       inspect_say(look, INSPECT_LABEL, err,
				   "Message.when = %" PRId64 " (%" PRIu64 " ms before heap dump)",
				   at, (uint64_t)inspector->uptime_ms - (uint64_t)at);
}

int inspect_message(struct inspect_look *look, struct hdb_error *err)
{
	static const char *const fields[] = { "obj", "callback", "target" };
	char text[NAME_MAX_BYTES];
	uint32_t target;
	int64_t what;
	int r;

	TRY_ERRORS(r = inspect_number(look, "what", &what, err));
	if (r == HDB_OK)
		TRY_ERRORS(inspect_say(look, INSPECT_LABEL, err, "Message.what = %" PRId64, what));
	TRY_ERRORS(say_when(look, err));
	for (size_t i = 0; i < 3; i++) {
		TRY_ERRORS(r = inspect_reference(look, fields[i], &target, err));
		if (r != HDB_OK)
			continue;
		TRY_ERRORS(r = inspect_describe(look->heap, target, text, sizeof(text), err));
		if (r == HDB_OK)
			TRY_ERRORS(inspect_say(look, INSPECT_LABEL, err, "Message.%s = %s",
					       fields[i], text));
	}
	return HDB_OK;
}

int inspect_binder(struct inspect_look *look, struct hdb_error *err)
{
	return inspect_say(look, INSPECT_LABEL, err,
			   "a binder stub: it stays until the other process lets it go and "
			   "should be of a static class");
}

/* ---- Compose ---- */

int inspect_recomposer(struct inspect_look *look, struct hdb_error *err)
{
	char state[NAME_MAX_BYTES];
	enum inspect_says says = INSPECT_LABEL;
	const int r = inspect_text(look, "_state._state.name", BASE_TEXT(state), err);

	if (r != HDB_OK || !state[0])
		return r;
	if (strcmp(state, "ShutDown") == 0 || strcmp(state, "ShuttingDown") == 0)
		says = INSPECT_GONE;
	else if (strcmp(state, "PendingWork") == 0 || strcmp(state, "Idle") == 0)
		says = INSPECT_THERE;
	return inspect_say(look, says, err, "Recomposer's state is %s", state);
}

int inspect_composition(struct inspect_look *look, struct hdb_error *err)
{
	bool is_disposed;

	TRY_FOUND(inspect_bool(look, "disposed", &is_disposed, err));
	return inspect_say(look, is_disposed ? INSPECT_GONE : INSPECT_THERE, err,
			   "CompositionImpl#disposed is %s", is_disposed ? "true" : "false");
}

/* ---- animators ---- */

int inspect_animator(struct inspect_look *look, struct hdb_error *err)
{
	uint64_t bits[ELEMENTS_MAX];
	struct heap_slice slice = { .bits = bits };
	uint32_t list, array;
	int64_t size;
	int r;

	TRY_FOUND(inspect_reference(look, "mListeners", &list, err));
	if (list == HEAP_NONE)
		return inspect_say(look, INSPECT_LABEL, err, "mListeners = null");
	TRY_FOUND(heap_path_number(look->heap, list, "size", &size, err));
	if (size <= 0)
		return inspect_say(look, INSPECT_LABEL, err, "mListeners is empty");
	TRY_FOUND(heap_path_object(look->heap, list, "elementData|array", &array, err));
	slice.room = (uint64_t)size < ELEMENTS_MAX ? (uint64_t)size : ELEMENTS_MAX;
	TRY_FOUND(heap_elements(look->heap, array, 0, &slice, err));
	for (uint64_t i = 0; i < slice.done; i++) {
		uint32_t ix;

		if (!bits[i])
			continue;
		TRY_ERRORS(r = heap_find(look->heap, bits[i], &ix, err));
		if (r == HDB_OK)
			TRY_ERRORS(inspect_say(look, INSPECT_LABEL, err,
					       "mListeners[%" PRIu64 "] = %s", i,
					       inspect_class_of(look->heap, ix)));
	}
	return HDB_OK;
}

static int say_property(struct inspect_look *look, struct hdb_error *err)
{
	char text[NAME_MAX_BYTES];
	uint32_t property, type = HEAP_NONE;
	int r;

	TRY_FOUND(inspect_text(look, "mPropertyName", BASE_TEXT(text), err));
	TRY_FOUND(inspect_say(look, INSPECT_LABEL, err, "mPropertyName = %s",
			      text[0] ? text : "null"));
	TRY_FOUND(inspect_reference(look, "mProperty", &property, err));
	if (property == HEAP_NONE)
		return inspect_say(look, INSPECT_LABEL, err, "mProperty = null");
	TRY_ERRORS(r = inspect_text_of(look->heap, property, "mName", BASE_TEXT(text), err));
	if (r == HDB_OK) {
		TRY(inspect_say(look, INSPECT_LABEL, err, "mProperty.mName = %s",
				text[0] ? text : "null"));
		TRY_ERRORS(r = heap_path_object(look->heap, property, "mType", &type, err));
	}
	return inspect_say(look, INSPECT_LABEL, err, "mProperty.mType = %s",
			   r == HDB_OK ? inspect_class_of(look->heap, type) : "null");
}

int inspect_object_animator(struct inspect_look *look, struct hdb_error *err)
{
	static const char *const flags[] = { "mInitialized", "mStarted", "mRunning",
					     "mAnimationEndRequested" };
	static const char *const numbers[] = { "mDuration", "mStartDelay", "mRepeatCount",
					       "mRepeatMode" };
	static const char *const modes[] = { "RESTART (1)", "REVERSE (2)" };
	int r;

	TRY_ERRORS(say_property(look, err));
	for (size_t i = 0; i < 4; i++) {
		bool value;

		TRY_ERRORS(r = inspect_bool(look, flags[i], &value, err));
		if (r == HDB_OK)
			TRY_ERRORS(inspect_say(look, INSPECT_LABEL, err, "%s = %s", flags[i],
					       value ? "true" : "false"));
	}
	for (size_t i = 0; i < 4; i++) {
		int64_t value;

		TRY_ERRORS(r = inspect_number(look, numbers[i], &value, err));
		if (r != HDB_OK)
			continue;
		if (i == 2 && value == -1)
			TRY_ERRORS(inspect_say(look, INSPECT_LABEL, err,
					       "mRepeatCount = INFINITE (-1)"));
		else if (i == 3 && (value == 1 || value == 2))
			TRY_ERRORS(inspect_say(look, INSPECT_LABEL, err, "mRepeatMode = %s",
					       modes[value - 1]));
		else
			TRY_ERRORS(inspect_say(look, INSPECT_LABEL, err, "%s = %" PRId64,
					       numbers[i], value));
	}
	return HDB_OK;
}

/* ---- receivers ---- */

/* Keys of an ArrayMap: every other element of mArray. */
static int say_receivers_of(struct inspect_look *look, uint32_t map, struct hdb_error *err)
{
	uint64_t bits[ELEMENTS_MAX];
	struct heap_slice slice = { .bits = bits, .room = ELEMENTS_MAX };
	uint32_t array, ix;
	int r;

	TRY_FOUND(heap_path_object(look->heap, map, "mArray", &array, err));
	TRY_FOUND(heap_elements(look->heap, array, 0, &slice, err));
	for (uint64_t i = 0; i < slice.done; i += 2) {
		if (!bits[i])
			continue;
		TRY_ERRORS(r = heap_find(look->heap, bits[i], &ix, err));
		if (r == HDB_OK)
			TRY_ERRORS(inspect_say(
				look, INSPECT_LABEL, err, "....%s@%" PRIu64,
				inspect_simple_name(inspect_class_of(look->heap, ix)), bits[i]));
	}
	return HDB_OK;
}

/* A context, and the receivers that it registered: HDB_NOTFOUND if the dump lacks one of both. */
static int say_context_of(struct inspect_look *look, uint64_t context, uint64_t map,
			  struct hdb_error *err)
{
	uint32_t ix;

	TRY(heap_find(look->heap, context, &ix, err));
	TRY(inspect_say(look, INSPECT_LABEL, err, "..%s@%" PRIu64,
			inspect_simple_name(inspect_class_of(look->heap, ix)), context));
	TRY(heap_find(look->heap, map, &ix, err));
	return say_receivers_of(look, ix, err);
}

int inspect_loaded_apk(struct inspect_look *look, struct hdb_error *err)
{
	uint64_t bits[ELEMENTS_MAX];
	struct heap_slice slice = { .bits = bits, .room = ELEMENTS_MAX };
	uint32_t array;
	bool any = false;

	TRY_FOUND(heap_path_object_as(look->heap, (struct heap_as){ look->ix, look->start_no },
				      "mReceivers.mArray", &array, err));
	TRY_FOUND(heap_elements(look->heap, array, 0, &slice, err));
	for (uint64_t i = 0; i + 1 < slice.done; i += 2) {
		if (!bits[i] || !bits[i + 1])
			continue;
		if (!any)
			TRY_ERRORS(inspect_say(look, INSPECT_LABEL, err, "Receivers"));
		any = true;
		TRY_ERRORS(say_context_of(look, bits[i], bits[i + 1], err));
	}
	return HDB_OK;
}

/* ---- resources ---- */

bool inspect_resource_name(struct inspector *inspector, int64_t id, char *buf, size_t size)
{
	struct heap *heap = inspector->session->heap;
	struct heap_object ids;
	uint64_t low = 0, high, bits;
	struct heap_slice slice = { .bits = &bits, .room = 1 };
	uint32_t text;

	if (inspector->resource_ids == HEAP_NONE || inspector->resource_names == HEAP_NONE ||
	    heap_object(heap, inspector->resource_ids, &ids, NULL) != HDB_OK)
		return false;
	high = ids.length < RESOURCES_MAX ? ids.length : RESOURCES_MAX;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (heap_elements(heap, inspector->resource_ids, middle, &slice, NULL) != HDB_OK ||
		    !slice.done || slice.type != HPROF_INT)
			return false;
		if ((int32_t)(uint32_t)bits == id)
			return heap_elements(heap, inspector->resource_names, middle, &slice,
					     NULL) == HDB_OK &&
			       slice.done && bits && heap_find(heap, bits, &text, NULL) == HDB_OK &&
			       heap_string(heap, text, buf, size, NULL) == HDB_OK;
		if ((int32_t)(uint32_t)bits < id)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

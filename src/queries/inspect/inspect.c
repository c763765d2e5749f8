/* queries/inspect/inspect.c - applies the rules for single objects. */
#include "queries/inspect/inspect.h"

#include "queries/explain/rules.h"

#include "base/search.h"
#include "base/sort.h"
#include "heap/known.h"
#include "heap/values/values.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES 1024
/* Maximum number of services in one process. */
#define SERVICES_MAX 65536u
/*
 * Maximum number of bytes of strings kept for one object, because strings and lists in a dump can
 * be huge.
 */
#define INSPECTION_MAX_BYTES 16384u

/* Classes of weak references that tools use to watch objects. */
static const char *const watchers[] = {
	"leakcanary.KeyedWeakReference",
	"com.squareup.leakcanary.KeyedWeakReference",
};
static const char since[] = "retainedUptimeMillis";

/* ---- reading ---- */

bool inspect_is_a(struct heap *heap, uint32_t ix, const char *class_name)
{
	struct heap_object object;

	return heap_object(heap, ix, &object, NULL) == HDB_OK && object.kind == STORE_INSTANCE &&
	       heap_has_superclass(heap, object.class_no, class_name);
}

const char *inspect_simple_name(const char *class_name)
{
	const char *dot = strrchr(class_name, '.');

	return dot ? dot + 1 : class_name;
}

const char *inspect_class_of(struct heap *heap, uint32_t ix)
{
	struct heap_object object;

	if (heap_object(heap, ix, &object, NULL) != HDB_OK)
		return "?";
	return heap_class_name(heap, heap_known_class(&object));
}

int inspect_bool(struct inspect_look *look, const char *path, bool *out, struct hdb_error *err)
{
	struct heap_value value;

	*out = false;
	TRY(heap_path_value_as(look->heap, (struct heap_as){ look->ix, look->start_no }, path,
			       &value, err));
	if (value.type != HPROF_BOOLEAN)
		return HDB_NOTFOUND;
	*out = value.bits & 0xff;
	return HDB_OK;
}

int inspect_reference(struct inspect_look *look, const char *path, uint32_t *target,
		      struct hdb_error *err)
{
	struct heap_value value;

	*target = HEAP_NONE;
	TRY(heap_path_value_as(look->heap, (struct heap_as){ look->ix, look->start_no }, path,
			       &value, err));
	if (value.type != HPROF_OBJECT)
		return HDB_NOTFOUND;
	if (!value.bits)
		return HDB_OK;
	TRY_ERRORS(heap_find(look->heap, value.bits, target, err));
	return HDB_OK;
}

/*
 * Reads a string of an object. Writes "" if the string is null or missing, which is not a failure.
 */
static int text_of(struct heap *heap, uint32_t ix, const char *path, struct base_text to,
		   struct hdb_error *err)
{
	uint32_t text;
	const int r = heap_path_object(heap, ix, path, &text, err);

	to.buf[0] = '\0';
	TRY_FOUND(r);
	TRY_ERRORS(heap_string(heap, text, to.buf, to.size, err));
	return HDB_OK;
}

int inspect_describe(struct heap *heap, uint32_t ix, char *buf, size_t size, struct hdb_error *err)
{
	struct heap_object object;
	uint64_t id;

	(void)snprintf(buf, size, "null");
	if (ix == HEAP_NONE)
		return HDB_OK;
	TRY(heap_object(heap, ix, &object, err));
	TRY(heap_id(heap, ix, &id, err));
	if (object.kind == STORE_CLASS)
		(void)snprintf(buf, size, "class %s",
			       heap_class_name(heap, (uint32_t)object.length));
	else
		(void)snprintf(buf, size, "%s @%" PRIu64 " of %s",
			       object.kind == STORE_INSTANCE     ? "instance" :
			       object.kind == STORE_OBJECT_ARRAY ? "object array" :
								   "primitive array",
			       id, heap_class_name(heap, object.class_no));
	return HDB_OK;
}

/* ---- statements about objects ---- */

static bool has_said(const struct inspection *out, enum inspect_says says, const char *text)
{
	const char *p = out->texts.data;
	const char *end = p ? p + out->texts.count : NULL;

	for (; p < end; p += 1 + strlen(p + 1) + 1)
		if (*p == (char)says && strcmp(p + 1, text) == 0)
			return true;
	return false;
}

int inspect_say(struct inspect_look *look, enum inspect_says says, struct hdb_error *err,
		const char *format, ...)
{
	struct inspection *out = look->out;
	char text[TEXT_MAX_BYTES];
	const char kind = (char)says;
	size_t size;
	va_list args;

	assert(says < INSPECT_SAYS && look->prefix);
	out->is_gone |= says == INSPECT_GONE;
	out->is_there |= says == INSPECT_THERE;
	if (!out->wants_text || out->texts.count > INSPECTION_MAX_BYTES)
		return HDB_OK;
	(void)snprintf(text, sizeof(text), "%s", look->prefix);
	size = strlen(text);
	va_start(args, format);
	(void)vsnprintf(text + size, sizeof(text) - size, format, args);
	va_end(args);
	if (has_said(out, says, text))
		return HDB_OK;
	TRY(base_bytes_append(&out->texts, &kind, 1, err));
	return base_bytes_append(&out->texts, text, strlen(text) + 1, err);
}

void inspection_join(const struct inspection *inspection, enum inspect_says says,
		     const char *between, char *buf, size_t size)
{
	const char *p = inspection->texts.data;
	const char *end = p ? p + inspection->texts.count : NULL;
	size_t used = 0;

	assert(size > 0);
	buf[0] = '\0';
	for (; p < end; p += 1 + strlen(p + 1) + 1)
		if (*p == (char)says && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s",
						 used ? between : "", p + 1);
}

void inspection_release(struct inspection *inspection)
{
	base_vec_release(&inspection->texts);
}

/* ---- objects that tools watch ---- */

BASE_ORDER(compare_watched, struct inspect_watched, BASE_UP(ix), BASE_UP(reference))

static int add_watched(struct inspector *inspector, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = inspector->session->heap;
	struct inspect_watched watched = { .reference = ix, .is_retained = true };
	int64_t retained = 0;
	const int r = heap_path_number(heap, ix, since, &retained, err);

	TRY_ERRORS(r);
	watched.is_retained = r != HDB_OK || retained != -1;
	TRY_FOUND(heap_path_object(heap, ix, "referent", &watched.ix, err));
	return base_vec_push(&inspector->watched, &watched, sizeof(watched), err);
}

struct watching {
	struct inspector *inspector;
	uint32_t class_no[2]; /* classes of the watchers; HEAP_NONE means not in the heap */
};

static int look_for_watchers(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct watching *w = ctx;

	for (uint32_t i = 0; i < block->count; i++)
		if (block->kind[i] == STORE_INSTANCE &&
		    (block->class_no[i] == w->class_no[0] || block->class_no[i] == w->class_no[1]))
			TRY(add_watched(w->inspector, block->first_ix + i, err));
	return HDB_OK;
}

static int load_watched(struct inspector *inspector, struct hdb_error *err)
{
	struct heap *heap = inspector->session->heap;
	struct watching w = {
		.inspector = inspector,
		.class_no = { heap_class_by_name(heap, watchers[0], 0),
			      heap_class_by_name(heap, watchers[1], 0) },
	};

	if (w.class_no[0] == HEAP_NONE && w.class_no[1] == HEAP_NONE)
		return HDB_OK;
	TRY(heap_each_block(heap, NULL, look_for_watchers, &w, err));
	base_vec_sort(&inspector->watched, sizeof(struct inspect_watched), compare_watched);
	return HDB_OK;
}

static int load_uptime(struct inspector *inspector, struct hdb_error *err)
{
	struct heap_value value;
	const int r = heap_static_value(inspector->session->heap,
					"leakcanary.KeyedWeakReference.heapDumpUptimeMillis",
					&value, err);

	inspector->has_uptime = r == HDB_OK && heap_value_number(&value, &inspector->uptime_ms);
	return r < 0 ? r : HDB_OK;
}

/*
 * Returns the index of an object's first entry in the list of watched objects, or the length of the
 * list if there is no entry.
 */
static size_t find_watched(const struct inspector *inspector, uint32_t ix)
{
	struct base_search s = base_search_in(inspector->watched.count);

	while (base_search_next(&s))
		base_search_step(
			&s,
			base_vec_at(&inspector->watched, struct inspect_watched, s.mid)->ix < ix);
	return s.low;
}

/* Adds labels with the times of a watch, if the dump records when it was made. */
static int say_times(struct inspect_look *look, uint32_t reference, struct hdb_error *err)
{
	static const struct {
		const char *field, *label;
	} times[] = { { "watchUptimeMillis", "watchDurationMillis" },
		      { since, "retainedDurationMillis" } };
	int r;

	for (size_t i = 0; i < 2 && look->inspector->has_uptime; i++) {
		int64_t at;

		TRY_ERRORS(r = heap_path_number(look->heap, reference, times[i].field, &at, err));
		if (r == HDB_NOTFOUND)
			continue;
		TRY(inspect_say(look, INSPECT_LABEL, err, "%s = %" PRId64, times[i].label,
				i && at == -1 ? -1 : look->inspector->uptime_ms - at));
	}
	return HDB_OK;
}

static int say_watched(struct inspect_look *look, struct hdb_error *err)
{
	const struct base_vec *watched = &look->inspector->watched;
	char text[TEXT_MAX_BYTES] = "";

	for (size_t i = find_watched(look->inspector, look->ix); i < watched->count; i++) {
		const struct inspect_watched *one = base_vec_at(watched, struct inspect_watched, i);

		if (one->ix != look->ix)
			break;
		if (look->out->wants_text)
			TRY(text_of(look->heap, one->reference, "description|name", BASE_TEXT(text),
				    err));
		TRY(inspect_say(look, INSPECT_GONE, err, "a watcher expects it to be collected%s%s",
				text[0] ? ": " : "", text));
		if (!look->out->wants_text)
			return HDB_OK;
		TRY(text_of(look->heap, one->reference, "key", BASE_TEXT(text), err));
		if (text[0])
			TRY(inspect_say(look, INSPECT_LABEL, err, "key = %s", text));
		TRY(say_times(look, one->reference, err));
	}
	return HDB_OK;
}

/* ---- other preparations ---- */

/* Loads the known services. mServices is an ArrayMap, so keys and values alternate in mArray. */
static int load_services(struct inspector *inspector, struct hdb_error *err)
{
	struct heap *heap = inspector->session->heap;
	struct heap_walk walk;
	uint32_t thread, array, ix;
	int r;

	TRY_FOUND(heap_static_object(heap, "android.app.ActivityThread.sCurrentActivityThread",
				     &thread, err));
	TRY_FOUND(heap_path_object(heap, thread, "mServices.mArray", &array, err));
	inspector->knows_services = true;
	heap_walk_begin(&walk, array, 0, SERVICES_MAX);
	while ((r = heap_walk_target_next(heap, &walk, &ix, err)) == HDB_OK)
		if (walk.at % 2 == 0)
			TRY(base_vec_push(&inspector->services, &ix, sizeof(ix), err));
	TRY_ERRORS(r);
	base_vec_sort(&inspector->services, sizeof(uint32_t), base_compare_u32);
	return HDB_OK;
}

/* Finds the names of view IDs, which LeakCanary adds to the heap before dumping it. */
static int load_resources(struct inspector *inspector, struct hdb_error *err)
{
	struct heap *heap = inspector->session->heap;
	uint32_t holder;

	inspector->resource_ids = inspector->resource_names = HEAP_NONE;
	TRY_FOUND(
		heap_static_object(heap, "shark.AndroidResourceIdNames.holderField", &holder, err));
	TRY_FOUND(heap_path_object(heap, holder, "resourceIds", &inspector->resource_ids, err));
	TRY_ERRORS(heap_path_object(heap, holder, "names", &inspector->resource_names, err));
	return HDB_OK;
}

/* ---- rules ---- */

#define RULE_rule(word, text, nth) .line = __LINE__, .name = text
#define RULE_class(word, text, nth) .class_name = text
#define RULE_where(word, text, nth) .where = text
#define RULE_gone(word, text, nth) .lines[INSPECT_GONE][nth] = text
#define RULE_there(word, text, nth) .lines[INSPECT_THERE][nth] = text
#define RULE_label(word, text, nth) .lines[INSPECT_LABEL][nth] = text
#define RULE_calls(word, text, nth) .function = inspect_##word
#define RULE_labels(word, text, nth) .labels = inspect_##word
#define RULE_search(word, text, nth) SEARCH_##word
#define SEARCH_all .is_filter = true
#define SEARCH_views .filter = inspect_view_filter
#define SEARCH_editors .filter = inspect_editor_filter

static const struct inspect_rule rules[] = {
#include <queries/inspect/inspect.rules.h>
};
#define RULES BASE_COUNT(rules)
_Static_assert(RULES <= INSPECT_RULES_MAX, "rules are bits of a word");

static int parse(struct inspector *inspector, const struct inspect_rule *rule,
		 struct base_word text, uint32_t *out, struct hdb_error *err)
{
	struct hdb_error why;
	const int r = base_expression_parse(&explain_grammar, text, &inspector->nodes, out, &why);

	if (r == HDB_OK)
		return HDB_OK;
	return hdb_fail(err, r == HDB_ENOMEM ? HDB_ENOMEM : HDB_EBUG,
			"inspect.rules, rule on line %d: %s", rule->line, why.message);
}

/* Parses "CONDITION -> TEXT", or only TEXT, with expressions in braces. */
static int add_saying(struct inspector *inspector, const struct inspect_rule *rule,
		      enum inspect_says says, const char *line, struct hdb_error *err)
{
	static const char arrow[] = " -> ";
	const char *text = strstr(line, arrow);
	struct inspect_saying saying = { .says = says,
					 .condition = BASE_NO_NODE,
					 .first_value = inspector->values.count,
					 .text = text ? text + strlen(arrow) : line };

	if (text)
		TRY(parse(inspector, rule, (struct base_word){ line, (size_t)(text - line) },
			  &saying.condition, err));
	for (const char *p = saying.text; (p = strchr(p, '{')) != NULL;) {
		uint32_t value;

		p++;
		TRY(parse(inspector, rule, (struct base_word){ p, strcspn(p, ":}") }, &value, err));
		TRY(base_vec_push(&inspector->values, &value, sizeof(value), err));
	}
	return base_vec_push(&inspector->sayings, &saying, sizeof(saying), err);
}

static int add_rule(struct inspector *inspector, size_t no, struct hdb_error *err)
{
	struct heap *heap = inspector->session->heap;
	const struct inspect_rule *rule = &rules[no];
	const uint64_t bit = (uint64_t)1 << no;

	assert(no < RULES && inspector->rules_of_class && inspector->filters);
	/*
	 * Skips rules for classes that the heap does not contain, which is the case for most rules.
	 */
	if (rule->class_name && heap_class_by_name(heap, rule->class_name, 0) == HEAP_NONE)
		return HDB_OK;
	inspector->where[no] = BASE_NO_NODE;
	if (rule->where)
		TRY(parse(inspector, rule, base_word(rule->where), &inspector->where[no], err));
	for (unsigned says = 0; says < INSPECT_SAYS; says++)
		for (size_t i = 0; i < INSPECT_LINES_MAX && rule->lines[says][i]; i++)
			TRY(add_saying(inspector, rule, (enum inspect_says)says,
				       rule->lines[says][i], err));
	for (uint32_t class_no = 0; class_no < heap->class_count; class_no++) {
		if (rule->class_name && !heap_has_superclass(heap, class_no, rule->class_name))
			continue;
		inspector->rules_of_class[class_no] |= bit;
		if (rule->is_filter || rule->filter)
			inspector->filters[class_no] |= bit;
	}
	return HDB_OK;
}

int inspector_init(struct inspector *inspector, const struct session *session,
		   struct hdb_error *err)
{
	struct heap *heap = session->heap;

	*inspector = (struct inspector){ .session = session };
	TRY(heap_load_classes(heap, err));
	TRY(BASE_ALLOC(inspector->rules_of_class, (size_t)heap->class_count + 1, "rules on objects",
		       err));
	TRY(BASE_ALLOC(inspector->filters, (size_t)heap->class_count + 1, "rules on objects", err));
	for (size_t i = 0; i < RULES; i++) {
		TRY(add_rule(inspector, i, err));
		inspector->first_saying[i + 1] = inspector->sayings.count;
	}
	TRY(load_watched(inspector, err));
	TRY(load_uptime(inspector, err));
	TRY(load_services(inspector, err));
	return load_resources(inspector, err);
}

void inspector_release(struct inspector *inspector)
{
	free(inspector->rules_of_class);
	free(inspector->filters);
	base_vec_release(&inspector->nodes);
	base_vec_release(&inspector->values);
	base_vec_release(&inspector->sayings);
	base_vec_release(&inspector->watched);
	base_vec_release(&inspector->services);
	*inspector = (struct inspector){ .session = NULL };
}

bool inspector_has_any(const struct inspector *inspector)
{
	if (inspector->watched.count)
		return true;
	for (uint32_t no = 0; no < inspector->session->heap->class_count; no++)
		if (inspector->filters[no])
			return true;
	return false;
}

bool inspector_wants(const struct inspector *inspector, uint32_t class_no)
{
	assert(class_no < inspector->session->heap->class_count);
	return inspector->filters[class_no] != 0;
}

/* ---- applying rules ---- */

/* State while the text of a rule is expanded: the object, and the next expression in the text. */
struct saying_state {
	struct explain_subject subject;
	const uint32_t *next;
};

static int next_value(void *ctx, struct base_word name, struct base_value *out,
		      struct hdb_error *err)
{
	struct saying_state *state = ctx;

	(void)name;
	return explain_evaluate(&state->subject, *state->next++, out, err);
}

/* Sets *out to whether a condition is true. BASE_NO_NODE is always true. */
static int holds(struct saying_state *state, uint32_t condition, bool *out, struct hdb_error *err)
{
	struct base_value value;

	*out = true;
	if (condition == BASE_NO_NODE)
		return HDB_OK;
	TRY(explain_evaluate(&state->subject, condition, &value, err));
	*out = base_value_is_true(&value);
	return HDB_OK;
}

static int say(struct inspect_look *look, struct saying_state *state,
	       const struct inspect_saying *saying, struct hdb_error *err)
{
	struct explain_values values = { next_value, state, true };
	char text[TEXT_MAX_BYTES] = "";
	bool is_said;

	assert(saying->first_value <= look->inspector->values.count);
	TRY(holds(state, saying->condition, &is_said, err));
	state->next = (const uint32_t *)look->inspector->values.data + saying->first_value;
	if (is_said && look->out->wants_text)
		TRY(explain_write(saying->text, &values, BASE_TEXT(text), err));
	return is_said && values.is_whole ? inspect_say(look, saying->says, err, "%s", text) :
					    HDB_OK;
}

static int apply(struct inspect_look *look, struct hdb_error *err)
{
	const struct inspector *inspector = look->inspector;
	const size_t no = (size_t)(look->rule - rules);
	struct saying_state state = { .subject = { .session = inspector->session,
						   .nodes = &inspector->nodes,
						   .ix = look->ix,
						   .start_no = look->start_no } };
	bool is_about;

	assert(no < RULES && look->out);
	TRY(holds(&state, inspector->where[no], &is_about, err));
	if (!is_about)
		return HDB_OK;
	for (size_t i = inspector->first_saying[no]; i < inspector->first_saying[no + 1]; i++) {
		const struct inspect_saying *saying =
			base_vec_at(&inspector->sayings, struct inspect_saying, i);

		if (saying->says != INSPECT_LABEL || look->out->wants_text)
			TRY(say(look, &state, saying, err));
	}
	if (look->rule->function)
		TRY(look->rule->function(look, err));
	return look->rule->labels && look->out->wants_text ? look->rule->labels(look, err) : HDB_OK;
}

/* Returns the class or its nearest superclass with a name, or HEAP_NONE. */
static uint32_t find_start(struct heap *heap, uint32_t class_no, const char *class_name)
{
	uint32_t no = class_no;

	for (uint32_t steps = 0; class_name && no != STORE_NONE && steps <= heap->class_count;
	     steps++) {
		if (strcmp(heap_class_name(heap, no), class_name) == 0)
			return no;
		no = heap_class(heap, no)->super_no;
	}
	return HEAP_NONE;
}

int inspect_is_leaking(struct inspector *inspector, uint32_t ix, bool only_watched, bool *out,
		       struct hdb_error *err)
{
	struct inspection inspection = { .wants_text = false };
	struct inspect_look look = {
		.inspector = inspector,
		.heap = inspector->session->heap,
		.ix = ix,
		.prefix = "",
		.out = &inspection,
	};
	struct heap_object object;
	uint64_t bits;
	int r = heap_object(look.heap, ix, &object, err);

	*out = false;
	for (size_t i = find_watched(inspector, ix); i < inspector->watched.count; i++) {
		const struct inspect_watched *one =
			base_vec_at(&inspector->watched, struct inspect_watched, i);

		if (one->ix != ix)
			break;
		*out |= one->is_retained;
	}
	if (r != HDB_OK || *out || only_watched || object.kind != STORE_INSTANCE)
		return r;
	look.class_no = object.class_no;
	bits = inspector->filters[object.class_no];
	TRY(r);
	for (size_t i = 0; bits >> i && !inspection.is_gone; i++) {
		if (!(bits >> i & 1))
			continue;
		look.rule = &rules[i];
		look.start_no = find_start(look.heap, object.class_no, look.rule->class_name);
		TRY(look.rule->filter ? look.rule->filter(&look, err) : apply(&look, err));
	}
	*out = inspection.is_gone;
	return HDB_OK;
}

int inspect_object(struct inspector *inspector, uint32_t ix, struct inspection *out,
		   struct hdb_error *err)
{
	struct inspect_look look = {
		.inspector = inspector,
		.heap = inspector->session->heap,
		.ix = ix,
		.prefix = "",
		.out = out,
	};
	struct heap_object object;
	uint64_t bits;

	TRY(heap_object(look.heap, ix, &object, err));
	TRY(say_watched(&look, err));
	if (object.kind == STORE_CLASS)
		return inspect_say(&look, INSPECT_THERE, err, "classes stay");
	if (object.kind != STORE_INSTANCE)
		return HDB_OK;
	look.class_no = object.class_no;
	bits = inspector->rules_of_class[object.class_no];
	for (size_t i = 0; i < RULES; i++) {
		if (!(bits >> i & 1))
			continue;
		look.rule = &rules[i];
		look.start_no = find_start(look.heap, object.class_no, look.rule->class_name);
		TRY(apply(&look, err));
	}
	return HDB_OK;
}

/*
 * queries/explain/rule_expression.c - evaluates field paths and object functions in the expressions
 * of rules, and lists all functions. See base/expression.h for the syntax.
 */
#include "queries/explain/rule_private.h"

#include "analysis/describe.h"
#include "base/error.h"
#include "heap/collections/collections.h"
#include "heap/threads.h"
#include "queries/inspect/inspect.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Maximum number of dominators above an object that are searched for the entry of a map. */
#define KEY_CLIMBS 16u

/* ---- values of the heap ---- */

int rule_set_value(const struct session *session, const struct heap_value *value,
		   struct base_value *out, struct hdb_error *err)
{
	const uint32_t low = (uint32_t)value->bits;
	int64_t whole;
	double number;
	float small;

	if (value->type == HPROF_OBJECT) {
		if (!value->bits)
			return HDB_OK;
		TRY_FOUND(heap_find(session->heap, value->bits, &out->object, err));
		out->kind = BASE_OBJECT;
		return HDB_OK;
	}
	if (!value->bits && session->heap->state.lacks_values) {
		out->kind = BASE_REMOVED;
	} else if (heap_value_number(value, &whole)) {
		base_value_set_number(out, (double)whole);
	} else if (value->type == HPROF_DOUBLE) {
		memcpy(&number, &value->bits, sizeof(number));
		base_value_set_number(out, number);
	} else if (value->type == HPROF_FLOAT) {
		memcpy(&small, &low, sizeof(small));
		base_value_set_number(out, (double)small);
	}
	return HDB_OK;
}

/* ---- functions of one object ---- */

/* count(): returns the number of entries of a collection, or of elements of an array. */
static int count_entries(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	const struct session *session = s->subject->session;
	struct heap_collection collection;
	struct heap_object object;

	TRY(heap_object(session->heap, ix, &object, s->err));
	if (object.kind == STORE_OBJECT_ARRAY || object.kind == STORE_PRIMITIVE_ARRAY) {
		base_value_set_number(out, (double)object.length);
		return HDB_OK;
	}
	TRY_FOUND(heap_collection_open(session->heap, ix, &collection, s->err));
	if (!collection.has_size)
		TRY_FOUND(heap_collection_count(session->heap, &collection, &s->subject->steps,
						s->err));
	base_value_set_number(out, (double)collection.size);
	return HDB_OK;
}

static int retained_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	uint64_t bytes;

	TRY(derive_retained(s->subject->session->derive, ix, &bytes, s->err));
	base_value_set_number(out, (double)bytes);
	return HDB_OK;
}

static int share_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	TRY(retained_of(s, ix, out));
	out->number =
		s->subject->whole_bytes ? out->number * 100 / (double)s->subject->whole_bytes : 0;
	return HDB_OK;
}

static int shallow_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	struct heap_object object;

	TRY(heap_object(s->subject->session->heap, ix, &object, s->err));
	base_value_set_number(out, (double)object.shallow_bytes);
	return HDB_OK;
}

void rule_set_name(struct base_value *out, const char *name)
{
	base_value_set_text(out, name);
	out->text[EXPLAIN_VALUE_MAX - 1] = '\0';
}

static int class_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	rule_set_name(out, heap_class_name_of(s->subject->session->heap, ix));
	return HDB_OK;
}

/*
 * text(): returns the text of a string, or the value of another object as text. Returns nothing if
 * there is no text.
 */
static int text_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	const struct session *session = s->subject->session;
	char text[EXPLAIN_VALUE_MAX] = "";

	if (heap_is_string(session->heap, ix))
		TRY_FOUND(heap_string(session->heap, ix, text, sizeof(text), s->err));
	else
		analysis_describe(session, ix, text, sizeof(text));
	if (text[0])
		base_value_set_text(out, text);
	return HDB_OK;
}

/*
 * string(): returns the text of a string. Returns nothing for other objects, or if the text is
 * empty.
 */
static int string_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	TRY_FOUND(heap_string(s->subject->session->heap, ix, out->text, sizeof(out->text), s->err));
	out->kind = out->text[0] ? BASE_STRING : BASE_NOTHING;
	return HDB_OK;
}

static int thread_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	TRY_FOUND(heap_thread_name(s->subject->session->heap, ix, out->text, sizeof(out->text),
				   s->err));
	out->kind = out->text[0] ? BASE_STRING : BASE_NOTHING;
	return HDB_OK;
}

static int represented_by(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	base_value_set_text(out, inspect_class_of(s->subject->session->heap, ix));
	return HDB_OK;
}

static int simple_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	base_value_set_text(out,
			    inspect_simple_name(heap_class_name_of(s->subject->session->heap, ix)));
	/*
	 * A lambda is named by the class that declares it, because the rest of its name is
	 * generated.
	 */
	if (strstr(out->text, "$$Lambda"))
		*strstr(out->text, "$$Lambda") = '\0';
	return HDB_OK;
}

static int component_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	TRY(inspect_component(s->subject->session->heap, ix, &out->object, s->err));
	if (out->object != HEAP_NONE)
		out->kind = BASE_OBJECT;
	return HDB_OK;
}

static int is_destroyed(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	bool destroyed;

	TRY(inspect_is_destroyed(s->subject->session->heap, ix, &destroyed, s->err));
	base_value_set_number(out, destroyed);
	return HDB_OK;
}

/*
 * loader(): returns the class loader of an object's class or, for a class object, of the class that
 * it represents.
 */
static int loader_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	struct heap_object object;

	TRY(heap_object(heap, ix, &object, s->err));
	out->object = heap_class(heap, heap_known_class(&object))->loader_ix;
	if (out->object != HEAP_BOOT_LOADER && out->object != HEAP_NONE)
		out->kind = BASE_OBJECT;
	return HDB_OK;
}

/*
 * entry(): returns the key, as text, of the only map entry that holds an object, such as one of
 * many queues. Returns nothing if there is no such entry.
 */
static int entry_of(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	const struct session *session = s->subject->session;
	uint32_t above = ix, key = HEAP_NONE;

	for (unsigned i = 0; i < KEY_CLIMBS && key == HEAP_NONE; i++, ix = above) {
		const char *name;
		int r;

		TRY(derive_dominator(session->derive, ix, &above, s->err));
		if (above == HEAP_NONE || above == ix)
			return HDB_OK;
		name = heap_class_name_of(session->heap, above);
		if (strncmp(name, "java.util.", 10) != 0 || !strchr(name, '$'))
			continue;
		TRY_ERRORS(r = heap_path_object(session->heap, above, "key", &key, s->err));
		if (r != HDB_OK || key == ix)
			key = HEAP_NONE;
	}
	return key == HEAP_NONE ? HDB_OK : text_of(s, key, out);
}

/* ---- functions of an object and a string, or of two strings ---- */

static int exists(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	(void)s;
	base_value_set_number(out, a->value->kind != BASE_NOTHING);
	return HDB_OK;
}

static int static_of(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct session *session = s->subject->session;
	struct heap_value value;

	if (a->value->kind != BASE_STRING)
		return HDB_OK;
	TRY_FOUND(heap_static_value(session->heap, a->value->text, &value, s->err));
	return rule_set_value(session, &value, out, s->err);
}

/* Reads a reference given by a path. Returns HDB_NOTFOUND if the field is not a reference. */
static int reference(const struct explain_subject *subject, const char *path,
		     struct heap_value *out, struct hdb_error *err)
{
	TRY(heap_path_value_as(subject->session->heap,
			       (struct heap_as){ subject->ix, subject->start_no }, path, out, err));
	return out->type == HPROF_OBJECT ? HDB_OK : HDB_NOTFOUND;
}

static int is_null(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct heap_value value;

	TRY_FOUND(reference(s->subject, a->text, &value, s->err));
	base_value_set_number(out, !value.bits);
	return HDB_OK;
}

static int described(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	struct heap_value value;
	uint32_t ix = HEAP_NONE;

	TRY_FOUND(reference(s->subject, a->text, &value, s->err));
	if (value.bits)
		TRY_ERRORS(heap_find(heap, value.bits, &ix, s->err));
	TRY_FOUND(inspect_describe(heap, ix, out->text, sizeof(out->text), s->err));
	out->kind = BASE_STRING;
	return HDB_OK;
}

static int is_a(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	if (a->value->kind == BASE_OBJECT)
		base_value_set_number(
			out, inspect_is_a(s->subject->session->heap, a->value->object, a->text));
	return HDB_OK;
}

/*
 * reaches(PATH, PATH): returns whether the first object, or an object in one of its fields, refers
 * to the second object.
 */
static int reaches(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	struct explain_subject *subject = s->subject;
	char first[BASE_WORD_MAX];
	const char *second = strchr(a->text, ',');
	struct heap_value from, wanted;
	struct heap_fields fields;
	bool found;
	uint32_t ix;
	int r = HDB_OK;

	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(a->text, ","), a->text);
	TRY_FOUND(reference(subject, first, &from, s->err));
	TRY_FOUND(reference(subject, second ? second + 1 + strspn(second + 1, " ") : "", &wanted,
			    s->err));
	if (!from.bits || !wanted.bits)
		return HDB_OK;
	TRY_FOUND(heap_find(heap, from.bits, &ix, s->err));
	TRY(heap_field_refers(s->subject->session->heap, ix, wanted.bits, &found, s->err));
	TRY_FOUND(heap_fields_begin(heap, ix, &fields, s->err));
	while (!found && (r = heap_fields_next(&fields, s->err)) == HDB_OK) {
		if (fields.value.type != HPROF_OBJECT || !fields.value.bits)
			continue;
		TRY_ERRORS(r = heap_find(heap, fields.value.bits, &ix, s->err));
		if (r == HDB_OK)
			TRY(heap_field_refers(s->subject->session->heap, ix, wanted.bits, &found,
					      s->err));
	}
	base_value_set_number(out, found);
	return r < 0 ? r : HDB_OK;
}

/* ---- functions of suspects ---- */

static int figure_of(struct rule_scan *s, const char *name, const struct explain_figure **out)
{
	const enum explain_fact no = explain_fact_of(name);

	*out = NULL;
	if (no == EXPLAIN_FACT_COUNT)
		return hdb_fail(s->err, HDB_EUSAGE, "a rule refers to %s, which is not measured",
				name);
	if (s->subject->facts)
		*out = &s->subject->facts->figures[no];
	return HDB_OK;
}

/* held(): returns a figure about the objects that a suspect holds. */
static int held(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_figure *figure;

	TRY(figure_of(s, a->text, &figure));
	if (!figure)
		return HDB_OK;
	if (figure->kind == BASE_STRING)
		base_value_set_text(out, figure->text);
	if (figure->kind == BASE_NUMBER)
		base_value_set_number(out, figure->number);
	if (figure->kind == BASE_OBJECT)
		*out = (struct base_value){ .kind = BASE_OBJECT,
					    .object = (uint32_t)figure->number };
	return HDB_OK;
}

/* about(): returns "about " if the figure is an estimate. */
static int about(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_figure *figure;

	TRY(figure_of(s, a->text, &figure));
	if (figure)
		TRY(explain_facts_count(s->subject->session, explain_fact_of(a->text),
					s->subject->facts, s->err));
	if (figure && figure->is_about)
		base_value_set_text(out, "about ");
	return HDB_OK;
}

/*
 * least(): returns "at least " if the figure is an estimate from a sample, which misses some of the
 * counted objects.
 */
static int least(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	TRY(about(s, a, out));
	if (out->kind == BASE_STRING)
		base_value_set_text(out, "at least ");
	return HDB_OK;
}

/* ---- all functions ---- */

/*
 * For each function: the name, the kind of argument, and the function that implements it, which
 * takes one object or any value.
 */
#define FUNCTIONS(X) \
	X("count", VALUE, count_entries, NULL) \
	X("retained", VALUE, retained_of, NULL) \
	X("share", VALUE, share_of, NULL) \
	X("shallow", VALUE, shallow_of, NULL) \
	X("class", VALUE, class_of, NULL) \
	X("text", VALUE, text_of, NULL) \
	X("first", VALUE, rule_first, NULL) \
	X("kind", VALUE, rule_kind, NULL) \
	X("loader", VALUE, loader_of, NULL) \
	X("string", VALUE, string_of, NULL) \
	X("thread", VALUE, thread_of, NULL) \
	X("users", VALUE, rule_users, NULL) \
	X("user", VALUE, rule_user, NULL) \
	X("waiters", VALUE, rule_waiters, NULL) \
	X("represents", VALUE, represented_by, NULL) \
	X("simple", VALUE, simple_of, NULL) \
	X("entry", VALUE, entry_of, NULL) \
	X("component", VALUE, component_of, NULL) \
	X("is", TEXT, NULL, is_a) \
	X("destroyed", VALUE, is_destroyed, NULL) \
	X("null", RAW, NULL, is_null) \
	X("reference", RAW, NULL, described) \
	X("held", RAW, NULL, held) \
	X("about", RAW, NULL, about) \
	X("least", RAW, NULL, least) \
	X("reaches", RAW, NULL, reaches) \
	X("exists", VALUE, NULL, exists) \
	X("static", VALUE, NULL, static_of) \
	X("sum", EXPRESSION, NULL, rule_sum) \
	X("most", EXPRESSION, NULL, rule_most) \
	X("most_count", EXPRESSION, NULL, rule_most_count) \
	X("different", EXPRESSION, NULL, rule_different) \
	X("varied", RAW, NULL, rule_varied) \
	X("referrer", TEXT, NULL, rule_referrer) \
	X("instances", EXPRESSION, NULL, rule_instances) \
	X("instance", EXPRESSION, NULL, rule_instance)

#define DECLARED(name, takes, of_object, of_any) { name, BASE_TAKES_##takes },
#define DEFINED(name, takes, of_object, of_any) { of_object, of_any },

static const struct base_function functions[] = { FUNCTIONS(DECLARED) };
static const struct {
	rule_of_object *of_object;
	rule_of_any *of_any;
} bodies[] = { FUNCTIONS(DEFINED) };

const struct base_grammar explain_grammar = {
	.functions = functions,
	.function_count = BASE_COUNT(functions),
	.first = "a field, a number, a string or a function",
	.operand = "a field, a number, a string or a function",
};

static int call(void *ctx, unsigned function, const struct base_arguments *a,
		struct base_value *out, struct hdb_error *err)
{
	struct rule_scan s = { ctx, err };

	assert(function < BASE_COUNT(bodies));
	assert(!bodies[function].of_any != !bodies[function].of_object);
	if (bodies[function].of_any)
		return bodies[function].of_any(&s, a, out);
	return a->value->kind == BASE_OBJECT ?
		       bodies[function].of_object(&s, a->value->object, out) :
		       HDB_OK;
}

/* Follows a field path from an object. "this" is the object itself. */
static int follow(void *ctx, const struct base_value *from, const char *path,
		  struct base_value *out, struct hdb_error *err)
{
	const struct explain_subject *subject = ctx;
	struct heap_value value;

	if (!from && strcmp(path, "this") == 0) {
		*out = (struct base_value){ .kind = BASE_OBJECT, .object = subject->ix };
		return HDB_OK;
	}
	TRY_FOUND(heap_path_value_as(subject->session->heap,
				     from ? (struct heap_as){ from->object, HEAP_NONE } :
					    (struct heap_as){ subject->ix, subject->start_no },
				     path, &value, err));
	return rule_set_value(subject->session, &value, out, err);
}

int explain_evaluate(struct explain_subject *subject, uint32_t expression, struct base_value *out,
		     struct hdb_error *err)
{
	const struct base_evaluator evaluator = { subject->nodes, follow, call, subject };

	return base_expression_evaluate(&evaluator, expression, out, err);
}

int rule_evaluate_at(struct rule_scan *s, uint32_t ix, uint32_t expression, struct base_value *out)
{
	struct explain_subject other = *s->subject;
	int r;

	other.ix = ix;
	other.start_no = HEAP_NONE;
	r = explain_evaluate(&other, expression, out, s->err);
	assert(other.steps <= s->subject->steps);
	s->subject->steps = other.steps;
	return r;
}

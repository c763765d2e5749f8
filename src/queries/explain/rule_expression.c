/*
 * queries/explain/rule_expression.c - expressions of rules: field paths, functions, arithmetic and
 * comparisons, evaluated from their text.
 *
 * A rule has few short expressions and is evaluated for few objects, so nothing is compiled. What a
 * dump does not have (a field of another version, a null, an object that is missing) is the value
 * "nothing": expressions go on, comparisons with it do not hold.
 */
#include "queries/explain/rules.h"

#include "analysis/describe.h"
#include "base/error.h"
#include "base/glob.h"
#include "heap/collections/collections.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parentheses and functions within one another. */
#define DEPTH_MAX 16
/* Bytes of a field path. */
#define PATH_MAX_BYTES 200
/* Entries whose classes are looked at, and different classes counted among them. */
#define KIND_ENTRIES 10000u
#define KIND_CLASSES 16

struct scan {
	struct explain_subject *subject;
	const char *at;
	unsigned depth;
	struct hdb_error *err;
};

static int expression(struct scan *s, struct explain_value *out);

static int fail(const struct scan *s, const char *wanted)
{
	return hdb_fail(s->err, HDB_EUSAGE, "expected %s at \"%.40s\"", wanted, s->at);
}

/* Steps over blanks, and over `text` if it comes next. */
static bool take(struct scan *s, const char *text)
{
	s->at += strspn(s->at, " \t");
	if (strncmp(s->at, text, strlen(text)) != 0)
		return false;
	s->at += strlen(text);
	return true;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* ---- values of the heap ---- */

static void set_number(struct explain_value *out, double number)
{
	out->kind = EXPLAIN_NUMBER;
	out->number = number;
}

static void set_text(struct explain_value *out, const char *text)
{
	out->kind = EXPLAIN_TEXT;
	(void)snprintf(out->text, sizeof(out->text), "%s", text);
}

/* What a field or an element holds. */
static int set_value(const struct session *session, const struct heap_value *value,
		     struct explain_value *out, struct hdb_error *err)
{
	const uint32_t low = (uint32_t)value->bits;
	int64_t whole;
	double number;
	float small;

	if (value->type == HPROF_OBJECT) {
		if (!value->bits)
			return HDB_OK;
		TRY_FOUND(heap_find(session->heap, value->bits, &out->ix, err));
		out->kind = EXPLAIN_OBJECT;
		return HDB_OK;
	}
	if (heap_value_number(value, &whole)) {
		set_number(out, (double)whole);
	} else if (value->type == HPROF_DOUBLE) {
		memcpy(&number, &value->bits, sizeof(number));
		set_number(out, number);
	} else if (value->type == HPROF_FLOAT) {
		memcpy(&small, &low, sizeof(small));
		set_number(out, (double)small);
	}
	return HDB_OK;
}

/* Follows a path of fields from an object; "" is the object itself. */
static int follow(struct scan *s, uint32_t ix, const char *path, struct explain_value *out)
{
	const struct session *session = s->subject->session;
	struct heap_value value;

	out->kind = EXPLAIN_NOTHING;
	if (!*path) {
		out->kind = EXPLAIN_OBJECT;
		out->ix = ix;
		return HDB_OK;
	}
	TRY_FOUND(heap_path_value(session->heap, ix, path, &value, s->err));
	return set_value(session, &value, out, s->err);
}

/* ---- functions of an object ---- */

typedef int (*object_function)(struct scan *s, uint32_t ix, struct explain_value *out);

/* Entries of a collection or elements of an array. */
static int count_entries(struct scan *s, uint32_t ix, struct explain_value *out)
{
	const struct session *session = s->subject->session;
	struct heap_collection collection;
	struct heap_object object;

	TRY_ERRORS(heap_object(session->heap, ix, &object, s->err));
	if (object.kind == STORE_OBJECT_ARRAY || object.kind == STORE_PRIMITIVE_ARRAY) {
		set_number(out, (double)object.length);
		return HDB_OK;
	}
	TRY_FOUND(heap_collection_open(session->heap, ix, &collection, s->err));
	if (!collection.has_size)
		TRY_FOUND(heap_collection_count(session->heap, &collection, &s->subject->steps,
						s->err));
	set_number(out, (double)collection.size);
	return HDB_OK;
}

static int retained_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	uint64_t bytes;

	TRY_ERRORS(derive_retained(s->subject->session->derive, ix, &bytes, s->err));
	set_number(out, (double)bytes);
	return HDB_OK;
}

static int share_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	TRY(retained_of(s, ix, out));
	out->number =
		s->subject->whole_bytes ? out->number * 100 / (double)s->subject->whole_bytes : 0;
	return HDB_OK;
}

static int shallow_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	struct heap_object object;

	TRY_ERRORS(heap_object(s->subject->session->heap, ix, &object, s->err));
	set_number(out, (double)object.shallow_bytes);
	return HDB_OK;
}

static int class_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	set_text(out, heap_class_name_of(s->subject->session->heap, ix));
	return HDB_OK;
}

/* A string's text, or another form of an object's value as text; nothing if there is none. */
static int text_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	const struct session *session = s->subject->session;
	char text[EXPLAIN_VALUE_MAX] = "";

	if (heap_is_string(session->heap, ix))
		TRY_FOUND(heap_string(session->heap, ix, text, sizeof(text), s->err));
	else
		analysis_describe(session, ix, text, sizeof(text));
	if (text[0])
		set_text(out, text);
	return HDB_OK;
}

/* What a walk over a collection's entries looks for. */
struct entry_kinds {
	uint32_t first_ix; /* of the entries' objects; HEAP_NONE: none yet */
	uint32_t class_no[KIND_CLASSES];
	uint64_t count[KIND_CLASSES];
	unsigned classes;
};

struct entry_taker {
	/* takes the object that is an entry of a collection, of maps a value */
	int (*take)(struct scan *s, uint32_t ix, void *ctx);
	void *ctx;
	uint64_t most; /* entries that are looked at */
};

static int give_entry(struct scan *s, const struct heap_value *value,
		      const struct entry_taker *taker)
{
	struct explain_value entry = { .kind = EXPLAIN_NOTHING };

	TRY(set_value(s->subject->session, value, &entry, s->err));
	return entry.kind == EXPLAIN_OBJECT ? taker->take(s, entry.ix, taker->ctx) : HDB_OK;
}

/* Counts the classes of entries, and notes the first entry. */
static int count_kind(struct scan *s, uint32_t ix, void *ctx)
{
	struct entry_kinds *kinds = ctx;
	struct heap_object object;
	unsigned i = 0;

	if (kinds->first_ix == HEAP_NONE)
		kinds->first_ix = ix;
	TRY_ERRORS(heap_object(s->subject->session->heap, ix, &object, s->err));
	while (i < kinds->classes && kinds->class_no[i] != object.class_no)
		i++;
	if (i == KIND_CLASSES)
		return HDB_OK;
	if (i == kinds->classes) {
		kinds->class_no[i] = object.class_no;
		kinds->count[i] = 0;
		kinds->classes++;
	}
	kinds->count[i]++;
	return HDB_OK;
}

/* The first entries of a collection or an array of references; of maps the values. */
static int walk_entries(struct scan *s, uint32_t ix, const struct entry_taker *taker)
{
	struct heap *heap = s->subject->session->heap;
	struct heap_collection collection;
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	struct heap_object object;
	uint64_t left = taker->most;

	TRY_ERRORS(heap_object(heap, ix, &object, s->err));
	if (object.kind == STORE_OBJECT_ARRAY) {
		for (uint64_t i = 0; i < object.length && i < left && s->subject->steps; i++) {
			uint64_t bits;
			struct heap_slice slice = { .bits = &bits, .room = 1 };

			TRY_ERRORS(heap_elements(heap, ix, i, &slice, s->err));
			if (slice.done)
				TRY(give_entry(
					s, &(struct heap_value){ .type = slice.type, .bits = bits },
					taker));
		}
		return HDB_OK;
	}
	TRY_FOUND(heap_collection_open(heap, ix, &collection, s->err));
	TRY_FOUND(heap_entries_begin(heap, &collection, &entries, s->err));
	while (left-- && s->subject->steps) {
		TRY_FOUND(heap_entries_next(&entries, s->err));
		TRY_FOUND(give_entry(s, &entries.value, taker));
	}
	return HDB_OK;
}

static int first_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	struct entry_kinds kinds = { .first_ix = HEAP_NONE };

	TRY(walk_entries(s, ix, &(struct entry_taker){ count_kind, &kinds, 1 }));
	if (kinds.first_ix == HEAP_NONE)
		return HDB_OK;
	out->kind = EXPLAIN_OBJECT;
	out->ix = kinds.first_ix;
	return HDB_OK;
}

/* The class that most of the first entries have, without its package. */
static int kind_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	struct entry_kinds kinds = { .first_ix = HEAP_NONE };
	const char *name, *dot;
	unsigned most = 0;

	TRY(walk_entries(s, ix, &(struct entry_taker){ count_kind, &kinds, KIND_ENTRIES }));
	if (!kinds.classes)
		return HDB_OK;
	for (unsigned i = 1; i < kinds.classes; i++)
		if (kinds.count[i] > kinds.count[most])
			most = i;
	name = heap_class_name(s->subject->session->heap, kinds.class_no[most]);
	dot = strrchr(name, '.');
	set_text(out, dot ? dot + 1 : name);
	return HDB_OK;
}

/* The loader of a class object's class, or of an object's. */
static int loader_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	struct heap *heap = s->subject->session->heap;
	struct heap_object object;

	TRY_ERRORS(heap_object(heap, ix, &object, s->err));
	out->ix = heap_class(heap, heap_known_class(&object))->loader_ix;
	if (out->ix != HEAP_BOOT_LOADER && out->ix != HEAP_NONE)
		out->kind = EXPLAIN_OBJECT;
	return HDB_OK;
}

static const struct {
	const char *name;
	object_function call;
} functions[] = {
	{ "count", count_entries }, { "retained", retained_of }, { "share", share_of },
	{ "shallow", shallow_of },  { "class", class_of },       { "text", text_of },
	{ "first", first_of },      { "kind", kind_of },         { "loader", loader_of },
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* ---- functions of an object and a text, or of two texts ---- */

/* What is summed: an expression on other objects. */
struct addition {
	const char *expression;
	double sum;
};

/* The expression's value with another object as `this`. */
static int evaluate_at(struct scan *s, uint32_t ix, const char *text, struct explain_value *out)
{
	struct explain_subject other = *s->subject;
	int r;

	other.ix = ix;
	other.is_within = true;
	r = explain_evaluate(&other, text, out, s->err);
	s->subject->steps = other.steps;
	return r;
}

static int add_entry(struct scan *s, uint32_t ix, void *ctx)
{
	struct addition *addition = ctx;
	struct explain_value value = { .kind = EXPLAIN_NOTHING };

	if (!s->subject->steps)
		return HDB_OK;
	s->subject->steps--;
	TRY(evaluate_at(s, ix, addition->expression, &value));
	if (value.kind == EXPLAIN_NUMBER)
		addition->sum += value.number;
	return HDB_OK;
}

/* The sum of an expression over the entries of a collection. */
static int sum_of(struct scan *s, const struct explain_value pair[2], struct explain_value *out)
{
	struct addition addition = { pair[1].text, 0 };
	const struct entry_taker taker = { add_entry, &addition, UINT64_MAX };

	if (pair[0].kind != EXPLAIN_OBJECT)
		return HDB_OK;
	TRY(walk_entries(s, pair[0].ix, &taker));
	set_number(out, addition.sum);
	return HDB_OK;
}

/* Whether the class, or one of its super classes, has a name that the patterns have. */
static bool is_of_class(struct heap *heap, uint32_t class_no, const char *patterns)
{
	return strchr(patterns, '*') ? base_glob_list(patterns, heap_class_name(heap, class_no)) :
				       heap_has_superclass(heap, class_no, patterns);
}

static bool has_class(struct heap *heap, const char *patterns)
{
	if (!strchr(patterns, '*'))
		return heap_class_by_name(heap, patterns, 0) != HEAP_NONE;
	for (uint32_t no = 0; no < heap->class_count; no++)
		if (base_glob_list(patterns, heap_class_name(heap, no)))
			return true;
	return false;
}

/* The first object of a class that refers to an object. */
static int referrer_of(struct scan *s, const struct explain_value pair[2],
		       struct explain_value *out)
{
	const struct session *session = s->subject->session;
	struct store_lists referrers;
	const uint32_t *batch;
	size_t count = 1;

	/* No table of referrers is built for a class that the heap does not have. */
	if (pair[0].kind != EXPLAIN_OBJECT || (!derive_has(session->derive, STORE_REFERRERS) &&
					       !has_class(session->heap, pair[1].text)))
		return HDB_OK;
	TRY(derive_referrers(session->derive, &referrers, s->err));
	TRY(store_lists_begin(&referrers, pair[0].ix, NULL, s->err));
	while (count && s->subject->steps && out->kind == EXPLAIN_NOTHING) {
		TRY(store_lists_next(&referrers, &batch, &count, s->err));
		for (size_t i = 0; i < count && s->subject->steps; i++, s->subject->steps--) {
			struct heap_object object;

			TRY_ERRORS(heap_object(session->heap, batch[i], &object, s->err));
			if (object.kind != STORE_INSTANCE ||
			    !is_of_class(session->heap, object.class_no, pair[1].text))
				continue;
			out->kind = EXPLAIN_OBJECT;
			out->ix = batch[i];
			break;
		}
	}
	return HDB_OK;
}

/* Counts instances for which an expression is neither nothing nor 0. */
struct instances {
	struct scan *s;
	const uint8_t *is_wanted; /* by class number */
	const char *expression;
	struct explain_count *out;
};

static int count_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct instances *n = ctx;
	struct explain_subject *subject = n->s->subject;

	for (uint32_t i = 0; i < block->count && subject->steps; i++) {
		struct explain_value value = { .kind = EXPLAIN_NOTHING };
		bool is_reachable;

		if (block->kind[i] != STORE_INSTANCE || !n->is_wanted[block->class_no[i]])
			continue;
		subject->steps--;
		TRY(derive_is_reachable(subject->session->derive, block->first_ix + i,
					&is_reachable, err));
		if (!is_reachable)
			continue;
		TRY(evaluate_at(n->s, block->first_ix + i, n->expression, &value));
		if (value.kind == EXPLAIN_NOTHING ||
		    (value.kind == EXPLAIN_NUMBER && value.number == 0))
			continue;
		if (n->out->count++ == 0)
			n->out->first_ix = block->first_ix + i;
	}
	return HDB_OK;
}

static int count_instances(struct scan *s, const char *classes, const char *text,
			   struct explain_count *out)
{
	const struct session *session = s->subject->session;
	BASE_FREED uint8_t *is_wanted = NULL;
	bool any = false;

	*out = (struct explain_count){ .first_ix = HEAP_NONE };
	TRY(BASE_ALLOC(is_wanted, (size_t)session->heap->class_count + 1, "classes", s->err));
	for (uint32_t no = 0; no < session->heap->class_count; no++) {
		is_wanted[no] = is_of_class(session->heap, no, classes);
		any |= is_wanted[no];
	}
	if (!any)
		return HDB_OK;
	return heap_each_block_of(session->heap, &(struct heap_pass){ session->work, is_wanted },
				  count_block, &(struct instances){ s, is_wanted, text, out },
				  s->err);
}

/* Reachable objects of a class for which an expression holds; one pass over the heap each. */
static int find_instances(struct scan *s, const struct explain_value pair[2],
			  const struct explain_count **out)
{
	struct explain_counts *known = s->subject->counts;
	struct explain_count *c = known->list;

	while (c < known->list + EXPLAIN_COUNTS &&
	       (strcmp(c->classes, pair[0].text) != 0 || strcmp(c->expression, pair[1].text) != 0))
		c++;
	if (c == known->list + EXPLAIN_COUNTS) {
		c = &known->list[known->next++ % EXPLAIN_COUNTS];
		TRY(count_instances(s, pair[0].text, pair[1].text, c));
		(void)snprintf(c->classes, sizeof(c->classes), "%s", pair[0].text);
		(void)snprintf(c->expression, sizeof(c->expression), "%s", pair[1].text);
	}
	*out = c;
	return HDB_OK;
}

static int instances_of(struct scan *s, const struct explain_value pair[2],
			struct explain_value *out)
{
	const struct explain_count *found;

	if (pair[0].kind != EXPLAIN_TEXT)
		return HDB_OK;
	TRY(find_instances(s, pair, &found));
	set_number(out, found->count);
	return HDB_OK;
}

/* The first of them. */
static int instance_of(struct scan *s, const struct explain_value pair[2],
		       struct explain_value *out)
{
	const struct explain_count *found;

	if (pair[0].kind != EXPLAIN_TEXT)
		return HDB_OK;
	TRY(find_instances(s, pair, &found));
	if (found->first_ix != HEAP_NONE)
		*out = (struct explain_value){ .kind = EXPLAIN_OBJECT, .ix = found->first_ix };
	return HDB_OK;
}

static const struct {
	const char *name;
	int (*call)(struct scan *s, const struct explain_value pair[2], struct explain_value *out);
} pair_functions[] = {
	{ "sum", sum_of },
	{ "referrer", referrer_of },
	{ "instances", instances_of },
	{ "instance", instance_of },
};
#define PAIR_FUNCTIONS (sizeof(pair_functions) / sizeof(pair_functions[0]))

/* ---- syntax ---- */

/* Fields after a function's object: ".name.other". */
static int suffix(struct scan *s, struct explain_value *value)
{
	char path[PATH_MAX_BYTES];
	size_t size = 1;

	if (*s->at != '.' || !is_name_char(s->at[1]))
		return HDB_OK;
	while (is_name_char(s->at[size]) || s->at[size] == '.' || s->at[size] == '|')
		size++;
	if (size > sizeof(path))
		return fail(s, "a shorter path");
	memcpy(path, s->at + 1, size - 1);
	path[size - 1] = '\0';
	s->at += size;
	return value->kind == EXPLAIN_OBJECT ? follow(s, value->ix, path, value) : HDB_OK;
}

/* NAME(first, 'TEXT'), from behind the comma on. */
static int pair_function(struct scan *s, struct explain_word name,
			 const struct explain_value *first, struct explain_value *out)
{
	struct explain_value pair[2] = { *first, { .kind = EXPLAIN_NOTHING } };
	size_t i = 0;

	while (i < PAIR_FUNCTIONS && !explain_is_word(name, pair_functions[i].name))
		i++;
	if (i == PAIR_FUNCTIONS)
		return hdb_fail(s->err, HDB_EUSAGE, "there is no function \"%.*s\" of two values",
				(int)name.size, name.text);
	TRY(expression(s, &pair[1]));
	if (pair[1].kind != EXPLAIN_TEXT || !take(s, ")"))
		return fail(s, "a text and \")\"");
	out->kind = EXPLAIN_NOTHING;
	/* An expression in a text is checked with the rule, and may have no other in it. */
	if (s->subject->is_within)
		return fail(s, "no function of two values within another");
	if (!s->subject->session && pair_functions[i].call != referrer_of)
		return evaluate_at(s, 0, pair[1].text, out);
	return s->subject->session ? pair_functions[i].call(s, pair, out) : HDB_OK;
}

/* NAME(expression), or NAME('class.field') of static. */
static int function(struct scan *s, struct explain_word name, struct explain_value *out)
{
	const struct session *session = s->subject->session;
	struct explain_value argument = { .kind = EXPLAIN_NOTHING };
	struct heap_value value;
	size_t i = 0;

	TRY(expression(s, &argument));
	if (take(s, ","))
		return pair_function(s, name, &argument, out);
	if (!take(s, ")"))
		return fail(s, "\")\"");
	out->kind = EXPLAIN_NOTHING;
	if (explain_is_word(name, "exists")) {
		set_number(out, argument.kind != EXPLAIN_NOTHING);
		return HDB_OK;
	}
	if (explain_is_word(name, "static")) {
		if (!session || argument.kind != EXPLAIN_TEXT)
			return HDB_OK;
		TRY_FOUND(heap_static_value(session->heap, argument.text, &value, s->err));
		return set_value(session, &value, out, s->err);
	}
	while (i < FUNCTIONS && !explain_is_word(name, functions[i].name))
		i++;
	if (i == FUNCTIONS)
		return hdb_fail(s->err, HDB_EUSAGE, "there is no function \"%.*s\"", (int)name.size,
				name.text);
	if (argument.kind == EXPLAIN_OBJECT)
		TRY(functions[i].call(s, argument.ix, out));
	return HDB_OK;
}

/* A number; K, M and G are powers of 1,024. */
static int number(struct scan *s, struct explain_value *out)
{
	static const char units[] = "KMG";
	char *end;
	const char *unit;

	set_number(out, strtod(s->at, &end));
	s->at = end;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		out->number *= (double)(1u << (10 * (unit - units + 1)));
		s->at++;
	}
	return HDB_OK;
}

static int quoted(struct scan *s, struct explain_value *out)
{
	const char *end = strchr(s->at, '\'');

	if (!end || (size_t)(end - s->at) >= sizeof(out->text))
		return fail(s, "a text of at most 199 bytes and \"'\"");
	out->kind = EXPLAIN_TEXT;
	(void)snprintf(out->text, sizeof(out->text), "%.*s", (int)(end - s->at), s->at);
	s->at = end + 1;
	return HDB_OK;
}

static int factor(struct scan *s, struct explain_value *out)
{
	const char *name;
	char path[PATH_MAX_BYTES];
	size_t size = 0;

	out->kind = EXPLAIN_NOTHING;
	if (take(s, "(")) {
		TRY(expression(s, out));
		return take(s, ")") ? HDB_OK : fail(s, "\")\"");
	}
	if (take(s, "'"))
		return quoted(s, out);
	if (isdigit((unsigned char)*s->at))
		return number(s, out);
	name = s->at;
	while (is_name_char(name[size]) || (size && (name[size] == '.' || name[size] == '|')))
		size++;
	if (!size)
		return fail(s, "a field, a number, a text or a function");
	if (size >= sizeof(path))
		return fail(s, "a shorter path");
	s->at += size;
	if (*s->at == '(') {
		s->at++;
		TRY(function(s, (struct explain_word){ name, size }, out));
		return suffix(s, out);
	}
	memcpy(path, name, size);
	path[size] = '\0';
	if (!s->subject->session)
		return HDB_OK;
	return follow(s, s->subject->ix, strcmp(path, "this") == 0 ? "" : path, out);
}

/* `left` becomes what `op` makes of two numbers; of anything else nothing. */
static void combine(struct explain_value *left, char op, const struct explain_value *right)
{
	if (left->kind != EXPLAIN_NUMBER || right->kind != EXPLAIN_NUMBER ||
	    (op == '/' && right->number == 0)) {
		left->kind = EXPLAIN_NOTHING;
		return;
	}
	left->number = op == '+' ? left->number + right->number :
		       op == '-' ? left->number - right->number :
		       op == '*' ? left->number * right->number :
				   left->number / right->number;
}

/* Parts with one of two operators between, from left to right. */
static int combine_all(struct scan *s, const char *const signs[2],
		       int (*part)(struct scan *s, struct explain_value *out),
		       struct explain_value *out)
{
	struct explain_value right = { .kind = EXPLAIN_NOTHING };

	TRY(part(s, out));
	for (;;) {
		const char *sign = take(s, signs[0]) ? signs[0] :
				   take(s, signs[1]) ? signs[1] :
						       NULL;

		if (!sign)
			return HDB_OK;
		TRY(part(s, &right));
		combine(out, *sign, &right);
	}
}

static int product(struct scan *s, struct explain_value *out)
{
	static const char *const signs[] = { "*", "/" };

	return combine_all(s, signs, factor, out);
}

static int sum(struct scan *s, struct explain_value *out)
{
	static const char *const signs[] = { "+", "-" };

	return combine_all(s, signs, product, out);
}

enum comparison { AT_LEAST, AT_MOST, EQUAL, UNEQUAL, ABOVE, BELOW, LIKE, COMPARISONS };

static bool holds(const struct explain_value *left, enum comparison op,
		  const struct explain_value *right)
{
	double order;

	if (left->kind != right->kind || left->kind == EXPLAIN_NOTHING)
		return false;
	if (op == LIKE)
		return left->kind == EXPLAIN_TEXT && base_glob_list(right->text, left->text);
	order = left->kind == EXPLAIN_TEXT   ? (double)strcmp(left->text, right->text) :
		left->kind == EXPLAIN_OBJECT ? (double)left->ix - (double)right->ix :
					       left->number - right->number;
	return op == AT_LEAST ? order >= 0 :
	       op == AT_MOST  ? order <= 0 :
	       op == EQUAL    ? order == 0 :
	       op == UNEQUAL  ? order != 0 :
	       op == ABOVE    ? order > 0 :
				order < 0;
}

static int comparison(struct scan *s, struct explain_value *out)
{
	static const char *const signs[COMPARISONS] = { ">=", "<=", "==", "!=", ">", "<", "~" };
	struct explain_value right = { .kind = EXPLAIN_NOTHING };

	TRY(sum(s, out));
	for (unsigned op = 0; op < COMPARISONS; op++) {
		if (!take(s, signs[op]))
			continue;
		TRY(sum(s, &right));
		set_number(out, holds(out, op, &right));
		break;
	}
	return HDB_OK;
}

/* Comparisons with "or" between; an expression alone holds if it is a number other than 0. */
static int expression(struct scan *s, struct explain_value *out)
{
	struct explain_value right = { .kind = EXPLAIN_NOTHING };
	bool is_true;

	if (++s->depth > DEPTH_MAX)
		return fail(s, "fewer parentheses");
	TRY(comparison(s, out));
	while (take(s, "or ")) {
		is_true = out->kind == EXPLAIN_NUMBER && out->number != 0;
		TRY(comparison(s, &right));
		set_number(out, is_true || (right.kind == EXPLAIN_NUMBER && right.number != 0));
	}
	s->depth--;
	return HDB_OK;
}

int explain_evaluate(struct explain_subject *subject, const char *text, struct explain_value *out,
		     struct hdb_error *err)
{
	struct scan s = { .subject = subject, .at = text, .err = err };

	assert(text);
	TRY(expression(&s, out));
	s.at += strspn(s.at, " \t");
	return *s.at ? fail(&s, "the end of the expression") : HDB_OK;
}

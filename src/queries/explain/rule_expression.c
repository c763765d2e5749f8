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
/* Entries whose classes are looked at, and classes that are told apart among them. */
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
	int r;

	if (value->type == HPROF_OBJECT) {
		if (!value->bits)
			return HDB_OK;
		r = heap_find(session->heap, value->bits, &out->ix, err);
		if (r == HDB_OK)
			out->kind = EXPLAIN_OBJECT;
		return r < 0 ? r : HDB_OK;
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
	int r;

	out->kind = EXPLAIN_NOTHING;
	if (!*path) {
		out->kind = EXPLAIN_OBJECT;
		out->ix = ix;
		return HDB_OK;
	}
	r = heap_path_value(session->heap, ix, path, &value, s->err);
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
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
	int r;

	TRY_ERRORS(heap_object(session->heap, ix, &object, s->err));
	if (object.kind == STORE_OBJECT_ARRAY || object.kind == STORE_PRIMITIVE_ARRAY) {
		set_number(out, (double)object.length);
		return HDB_OK;
	}
	r = heap_collection_open(session->heap, ix, &collection, s->err);
	if (r == HDB_OK && !collection.has_size)
		r = heap_collection_count(session->heap, &collection, &s->subject->steps, s->err);
	if (r == HDB_OK)
		set_number(out, (double)collection.size);
	return r < 0 ? r : HDB_OK;
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

/* A string's text, or what else can be told of an object's value; nothing if nothing can. */
static int text_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	const struct session *session = s->subject->session;
	char text[EXPLAIN_VALUE_MAX] = "";
	int r = HDB_OK;

	if (heap_is_string(session->heap, ix))
		r = heap_string(session->heap, ix, text, sizeof(text), s->err);
	else
		analysis_describe(session, ix, text, sizeof(text));
	if (r == HDB_OK && text[0])
		set_text(out, text);
	return r < 0 ? r : HDB_OK;
}

/* What a walk over a collection's entries looks for. */
struct entry_kinds {
	uint32_t first_ix; /* of the entries' objects; HEAP_NONE: none yet */
	uint32_t class_no[KIND_CLASSES];
	uint64_t count[KIND_CLASSES];
	unsigned classes;
};

static int add_entry(struct scan *s, const struct heap_value *value, struct entry_kinds *kinds)
{
	struct heap_object object;
	struct explain_value entry = { .kind = EXPLAIN_NOTHING };
	unsigned i = 0;

	TRY(set_value(s->subject->session, value, &entry, s->err));
	if (entry.kind != EXPLAIN_OBJECT)
		return HDB_OK;
	if (kinds->first_ix == HEAP_NONE)
		kinds->first_ix = entry.ix;
	TRY_ERRORS(heap_object(s->subject->session->heap, entry.ix, &object, s->err));
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

/* The first `most` entries of a collection or an array of references; of maps the values. */
static int walk_entries(struct scan *s, uint32_t ix, uint64_t most, struct entry_kinds *kinds)
{
	struct heap *heap = s->subject->session->heap;
	struct heap_collection collection;
	struct heap_entries *entries;
	struct heap_object object;
	int r;

	*kinds = (struct entry_kinds){ .first_ix = HEAP_NONE };
	TRY_ERRORS(heap_object(heap, ix, &object, s->err));
	if (object.kind == STORE_OBJECT_ARRAY) {
		for (uint64_t i = 0; i < object.length && i < most; i++) {
			uint64_t bits;
			struct heap_slice slice = { .bits = &bits, .room = 1 };

			TRY_ERRORS(heap_elements(heap, ix, i, &slice, s->err));
			if (slice.done)
				TRY(add_entry(
					s, &(struct heap_value){ .type = slice.type, .bits = bits },
					kinds));
		}
		return HDB_OK;
	}
	r = heap_collection_open(heap, ix, &collection, s->err);
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	entries = calloc(1, sizeof(*entries));
	if (!entries)
		return hdb_fail_memory(s->err, "entries", sizeof(*entries));
	r = heap_entries_begin(heap, &collection, entries, s->err);
	while (r == HDB_OK && most--) {
		r = heap_entries_next(entries, s->err);
		if (r == HDB_OK)
			r = add_entry(s, &entries->value, kinds);
	}
	heap_entries_end(entries);
	free(entries);
	return r < 0 ? r : HDB_OK;
}

static int first_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	struct entry_kinds kinds;

	TRY(walk_entries(s, ix, 1, &kinds));
	if (kinds.first_ix == HEAP_NONE)
		return HDB_OK;
	out->kind = EXPLAIN_OBJECT;
	out->ix = kinds.first_ix;
	return HDB_OK;
}

/* The class that most of the first entries have, without its package. */
static int kind_of(struct scan *s, uint32_t ix, struct explain_value *out)
{
	struct entry_kinds kinds;
	const char *name, *dot;
	unsigned most = 0;

	TRY(walk_entries(s, ix, KIND_ENTRIES, &kinds));
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

static const struct {
	const char *name;
	object_function call;
} functions[] = {
	{ "count", count_entries }, { "retained", retained_of }, { "share", share_of },
	{ "shallow", shallow_of },  { "class", class_of },       { "text", text_of },
	{ "first", first_of },      { "kind", kind_of },
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

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

/* NAME(expression), or NAME('class.field') of static. */
static int function(struct scan *s, const char *name, size_t size, struct explain_value *out)
{
	const struct session *session = s->subject->session;
	struct explain_value argument = { .kind = EXPLAIN_NOTHING };
	struct heap_value value;
	size_t i = 0;
	int r;

	TRY(expression(s, &argument));
	if (!take(s, ")"))
		return fail(s, "\")\"");
	out->kind = EXPLAIN_NOTHING;
	if (size == 6 && memcmp(name, "exists", size) == 0) {
		set_number(out, argument.kind != EXPLAIN_NOTHING);
		return HDB_OK;
	}
	if (size == 6 && memcmp(name, "static", size) == 0) {
		if (!session || argument.kind != EXPLAIN_TEXT)
			return HDB_OK;
		r = heap_static_value(session->heap, argument.text, &value, s->err);
		if (r != HDB_OK)
			return r < 0 ? r : HDB_OK;
		return set_value(session, &value, out, s->err);
	}
	while (i < FUNCTIONS &&
	       (strlen(functions[i].name) != size || memcmp(functions[i].name, name, size) != 0))
		i++;
	if (i == FUNCTIONS)
		return hdb_fail(s->err, HDB_EUSAGE, "there is no function \"%.*s\"", (int)size,
				name);
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
	char text[EXPLAIN_VALUE_MAX];

	if (!end || (size_t)(end - s->at) >= sizeof(text))
		return fail(s, "a text of at most 199 bytes and \"'\"");
	(void)snprintf(text, sizeof(text), "%.*s", (int)(end - s->at), s->at);
	set_text(out, text);
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
		TRY(function(s, name, size, out));
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

static int product(struct scan *s, struct explain_value *out)
{
	struct explain_value right = { .kind = EXPLAIN_NOTHING };

	TRY(factor(s, out));
	for (;;) {
		const char op = take(s, "*") ? '*' : take(s, "/") ? '/' : '\0';

		if (!op)
			return HDB_OK;
		TRY(factor(s, &right));
		combine(out, op, &right);
	}
}

static int sum(struct scan *s, struct explain_value *out)
{
	struct explain_value right = { .kind = EXPLAIN_NOTHING };

	TRY(product(s, out));
	for (;;) {
		const char op = take(s, "+") ? '+' : take(s, "-") ? '-' : '\0';

		if (!op)
			return HDB_OK;
		TRY(product(s, &right));
		combine(out, op, &right);
	}
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
	switch (op) {
	case AT_LEAST:
		return order >= 0;
	case AT_MOST:
		return order <= 0;
	case EQUAL:
		return order == 0;
	case UNEQUAL:
		return order != 0;
	case ABOVE:
		return order > 0;
	default:
		return order < 0;
	}
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

/*
 * oql/oql_methods.c - "name(...)": MAT's functions, and the methods of its objects, lists and texts
 * that statements call. get...() and is...() without arguments are attributes.
 */
#include "oql/oql_eval.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Longest name of a getter. */
#define NAME_MAX_SIZE 64

/* ---- what both have in common ---- */

int oql_class_meant(struct oql_eval *ev, const struct oql_value *v, uint32_t *class_no)
{
	struct hdb_object_facts facts;

	*class_no = HDB_NONE;
	if (v->type != OQL_V_OBJECT)
		return HDB_OK;
	TRY(hdb_object_at(ev->db, v->ix, &facts, ev->err));
	if (facts.kind == HDB_KIND_CLASS)
		*class_no = facts.stands_for;
	return HDB_OK;
}

int oql_object_meant(struct oql_eval *ev, const struct oql_value *v, uint32_t *ix)
{
	int r = HDB_OK;

	*ix = HDB_NONE;
	if (v->type == OQL_V_OBJECT)
		*ix = v->ix;
	else if (v->type == OQL_V_INT)
		r = oql_object_of(ev, v->i, ix);
	else if ((v->type == OQL_V_LONG || v->type == OQL_V_REFERENCE) && v->i) {
		r = hdb_find(ev->db, (uint64_t)v->i, ix, ev->err);
		if (r != HDB_OK)
			*ix = HDB_NONE;
	}
	return r < 0 ? r : HDB_OK;
}

const char *oql_java_class(struct oql_eval *ev, const struct oql_value *v)
{
	static const char *const names[] = {
		[OQL_V_BOOL] = "java.lang.Boolean",
		[OQL_V_CHAR] = "java.lang.Character",
		[OQL_V_BYTE] = "java.lang.Byte",
		[OQL_V_SHORT] = "java.lang.Short",
		[OQL_V_INT] = "java.lang.Integer",
		[OQL_V_LONG] = "java.lang.Long",
		[OQL_V_FLOAT] = "java.lang.Float",
		[OQL_V_DOUBLE] = "java.lang.Double",
		[OQL_V_STRING] = "java.lang.String",
		[OQL_V_REFERENCE] = "org.eclipse.mat.snapshot.model.ObjectReference",
		[OQL_V_FIELD] = "org.eclipse.mat.snapshot.model.Field",
		[OQL_V_JAVA_CLASS] = "java.lang.Class",
	};
	static const char *const objects[] = {
		[HDB_KIND_INSTANCE] = "org.eclipse.mat.parser.model.InstanceImpl",
		[HDB_KIND_OBJECT_ARRAY] = "org.eclipse.mat.parser.model.ObjectArrayImpl",
		[HDB_KIND_PRIMITIVE_ARRAY] = "org.eclipse.mat.parser.model.PrimitiveArrayImpl",
		[HDB_KIND_CLASS] = "org.eclipse.mat.parser.model.ClassImpl",
	};
	struct hdb_object_facts facts;

	if (v->type == OQL_V_OBJECT && hdb_object_at(ev->db, v->ix, &facts, NULL) == HDB_OK)
		return facts.kind == HDB_KIND_INSTANCE &&
				       oql_is_a(ev, facts.class_no, "java.lang.ClassLoader") ?
			       "org.eclipse.mat.parser.model.ClassLoaderImpl" :
			       objects[facts.kind];
	if (v->type < sizeof(names) / sizeof(names[0]) && names[v->type])
		return names[v->type];
	return "java.lang.Object";
}

int oql_class_objects(struct oql_eval *ev, const uint8_t *marks, struct oql_arena *arena,
		      struct oql_value *out)
{
	const uint32_t count = hdb_class_count(ev->db);
	struct oql_value *values;
	struct hdb_class class;
	size_t kept = 0;

	TRY_ERRORS(oql_survey(ev));
	values = oql_make_list(ev, arena, count, out);
	if (!values)
		return HDB_ELIMIT;
	for (uint32_t no = 0; no < count; no++) {
		if (marks && !marks[no])
			continue;
		TRY_ERRORS(hdb_class_at(ev->db, no, &class, ev->err));
		if (class.object_ix != HDB_NONE &&
		    ev->reachable[class.object_ix / 64] >> (class.object_ix % 64) & 1)
			values[kept++] = oql_object(class.object_ix);
	}
	assert(kept <= count);
	((struct oql_list *)(uintptr_t)out->list)->count = kept;
	return HDB_OK;
}

int oql_to_string(struct oql_eval *ev, const struct oql_value *v, struct oql_arena *arena,
		  struct oql_value *out)
{
	struct oql_text text = { .budget = &ev->budget };
	bool has;
	const int r = v->type == OQL_V_OBJECT ? oql_display(ev, v->ix, &text, &has) :
						oql_put_plain(ev, v, &text);

	return oql_end_string(ev, arena, r, &text, out);
}

/* ---- functions ---- */

static int to_hex(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value *v,
		  struct oql_arena *arena, struct oql_value *out)
{
	struct oql_text text = { .budget = &ev->budget };

	if (!oql_is_number(v))
		return oql_refuse(ev, e, "toHex() takes a number, not %s", oql_type_name(ev, v));
	oql_put_format(&text, "0x%" PRIx64,
		       (uint64_t)(oql_is_whole(v)             ? v->i :
				  v->d > -9e18 && v->d < 9e18 ? (int64_t)v->d :
								0));
	return oql_end_string(ev, arena, HDB_OK, &text, out);
}

/* Numbers instead of objects, as MAT's arrays of them. */
static int numbers_of(struct oql_eval *ev, const struct oql_value *v, struct oql_arena *arena,
		      struct oql_value *out)
{
	struct oql_value *values;

	*out = *v;
	if (v->type != OQL_V_LIST || v->list->kind != OQL_L_IDS)
		return HDB_OK;
	values = oql_make_list(ev, arena, v->list->count, out);
	if (!values)
		return HDB_ELIMIT;
	for (size_t i = 0; i < v->list->count; i++)
		TRY_ERRORS(oql_element(ev, v->list, i, &values[i]));
	return HDB_OK;
}

static int class_of_object(struct oql_eval *ev, uint32_t ix, struct oql_value *out)
{
	struct hdb_object_facts facts;
	struct hdb_class class;

	*out = (struct oql_value){ 0 };
	TRY(hdb_object_at(ev->db, ix, &facts, ev->err));
	TRY(hdb_class_at(ev->db, facts.class_no, &class, ev->err));
	if (class.object_ix != HDB_NONE)
		*out = oql_object(class.object_ix);
	return HDB_OK;
}

static int dominator_of(struct oql_eval *ev, uint32_t ix, struct oql_value *out)
{
	uint32_t dominator = HDB_NONE;
	int r;

	*out = (struct oql_value){ 0 };
	TRY_ERRORS(hdb_need(ev->db, HDB_NEED_DOMINATORS, ev->err));
	r = hdb_dominator_at(ev->db, ix, &dominator, ev->err);
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	if (dominator != HDB_NONE)
		*out = oql_object(dominator);
	return HDB_OK;
}

/* Functions of one object. */
static int of_object(struct oql_eval *ev, const struct oql_expr *e, uint32_t ix,
		     struct oql_arena *arena, struct oql_value *out)
{
	if (oql_is(e->name, "classof"))
		return class_of_object(ev, ix, out);
	if (oql_is(e->name, "dominatorof"))
		return dominator_of(ev, ix, out);
	if (oql_is(e->name, "inbounds"))
		return oql_relatives(ev, HDB_REFERRERS, ix, arena, out);
	if (oql_is(e->name, "outbounds"))
		return oql_relatives(ev, HDB_REFERENCES, ix, arena, out);
	return oql_relatives(ev, HDB_DOMINATED, ix, arena, out);
}

static const char *const functions[] = { "toHex",    "toString",  "eval",        "classof",
					 "inbounds", "outbounds", "dominatorof", "dominators" };
#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

static size_t function_no(struct oql_str name)
{
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		if (oql_is(name, functions[i]))
			return i;
	return FUNCTION_COUNT;
}

int oql_function(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_expr *e = call->e;
	struct oql_arena *arena = call->frame->arena;
	const size_t no = function_no(e->name);
	const struct oql_value *v = call->args.values;
	uint32_t ix;

	if (no == FUNCTION_COUNT)
		return oql_method(ev, call, out);
	if (call->args.count != 1)
		return oql_refuse(ev, e, "%s() takes one argument", functions[no]);
	if (no == 0)
		return to_hex(ev, e, v, arena, out);
	if (no == 1)
		return oql_to_string(ev, v, arena, out);
	if (no == 2)
		return numbers_of(ev, v, arena, out);
	*out = (struct oql_value){ 0 };
	if (v->type == OQL_V_NULL)
		return HDB_OK;
	TRY_ERRORS(oql_object_meant(ev, v, &ix));
	if (ix == HDB_NONE)
		return oql_refuse(ev, e, "%s() takes an object, not %s", functions[no],
				  oql_type_name(ev, v));
	return of_object(ev, e, ix, arena, out);
}

/* ---- texts ---- */

/* Java counts UTF-16 units: those of the first `size` bytes. */
static int64_t units_in(const char *text, size_t size)
{
	int64_t units = 0;

	for (size_t i = 0; i < size; i++)
		units += ((unsigned char)text[i] & 0xc0) != 0x80 ?
				 1 + ((unsigned char)text[i] >= 0xf0) :
				 0;
	return units;
}

/* The byte at which unit `unit` begins; the end if there are less. */
static size_t byte_of(struct oql_str text, int64_t unit)
{
	size_t i = 0;

	for (int64_t at = 0; i < text.size; i++) {
		if (((unsigned char)text.data[i] & 0xc0) == 0x80)
			continue;
		if (at >= unit)
			break;
		at += 1 + ((unsigned char)text.data[i] >= 0xf0);
	}
	return i;
}

static int64_t index_of(struct oql_str text, struct oql_str part, bool is_last)
{
	int64_t found = -1;

	for (size_t i = 0; part.size <= text.size && i <= text.size - part.size; i++) {
		if (part.size && memcmp(text.data + i, part.data, part.size) != 0)
			continue;
		found = units_in(text.data, i);
		if (!is_last)
			break;
	}
	return found;
}

static char turned(char c, bool to_upper)
{
	if (to_upper)
		return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Letters of ASCII alone. */
static int turn(struct oql_eval *ev, struct oql_str s, bool to_upper, struct oql_arena *arena,
		struct oql_value *out)
{
	char *copy = oql_take_text(arena, s.data, s.size, ev->err);

	if (!copy)
		return HDB_ELIMIT;
	for (size_t i = 0; i < s.size; i++)
		copy[i] = turned(copy[i], to_upper);
	*out = (struct oql_value){ .type = OQL_V_STRING, .text = { copy, s.size } };
	return HDB_OK;
}

static struct oql_str trimmed(struct oql_str s)
{
	while (s.size && (unsigned char)s.data[0] <= ' ') {
		s.data++;
		s.size--;
	}
	while (s.size && (unsigned char)s.data[s.size - 1] <= ' ')
		s.size--;
	return s;
}

static int substring(struct oql_eval *ev, const struct oql_expr *e, struct oql_str s,
		     struct oql_args args, struct oql_value *out)
{
	const int64_t length = units_in(s.data, s.size);
	const int64_t from = args.values[0].i;
	const int64_t to = args.count > 1 ? args.values[1].i : length;
	const size_t at = byte_of(s, from);

	if (from < 0 || to < from || to > length)
		return oql_refuse(ev, e,
				  "substring from %" PRId64 " to %" PRId64 " of a text of %" PRId64
				  " characters",
				  from, to, length);
	*out = (struct oql_value){ .type = OQL_V_STRING,
				   .text = { s.data + at, byte_of(s, to) - at } };
	return HDB_OK;
}

/* Methods with one text as their argument. */
static int text_with_text(struct oql_eval *ev, const struct oql_expr *e, struct oql_str s,
			  struct oql_str t, struct oql_value *out)
{
	const bool fits = t.size <= s.size;
	struct oql_pattern *pattern;
	bool is;

	if (oql_is(e->name, "startsWith"))
		*out = oql_bool(fits && (!t.size || memcmp(s.data, t.data, t.size) == 0));
	else if (oql_is(e->name, "endsWith"))
		*out = oql_bool(fits &&
				(!t.size || memcmp(s.data + s.size - t.size, t.data, t.size) == 0));
	else if (oql_is(e->name, "contains"))
		*out = oql_bool(index_of(s, t, false) >= 0);
	else if (oql_is(e->name, "indexOf") || oql_is(e->name, "lastIndexOf"))
		*out = oql_int(index_of(s, t, oql_is(e->name, "lastIndexOf")));
	else if (oql_is(e->name, "equals"))
		*out = oql_bool(s.size == t.size && index_of(s, t, false) == 0);
	else if (oql_is(e->name, "equalsIgnoreCase"))
		*out = oql_bool(s.size == t.size && strncasecmp(s.data, t.data, s.size) == 0);
	else if (oql_is(e->name, "matches")) {
		TRY_ERRORS(oql_pattern(ev, e, t, &pattern));
		TRY_ERRORS(oql_matches(ev, e, pattern, s, &is));
		*out = oql_bool(is);
	} else {
		return HDB_NOTFOUND;
	}
	return HDB_OK;
}

static int text_alone(struct oql_eval *ev, const struct oql_expr *e, struct oql_str s,
		      struct oql_arena *arena, struct oql_value *out)
{
	if (oql_is(e->name, "length"))
		*out = oql_int(units_in(s.data, s.size));
	else if (oql_is(e->name, "isEmpty"))
		*out = oql_bool(s.size == 0);
	else if (oql_is(e->name, "toString") || oql_is(e->name, "intern"))
		*out = (struct oql_value){ .type = OQL_V_STRING, .text = s };
	else if (oql_is(e->name, "trim") || oql_is(e->name, "strip"))
		*out = (struct oql_value){ .type = OQL_V_STRING, .text = trimmed(s) };
	else if (oql_is(e->name, "toUpperCase"))
		return turn(ev, s, true, arena, out);
	else if (oql_is(e->name, "toLowerCase"))
		return turn(ev, s, false, arena, out);
	else
		return HDB_NOTFOUND;
	return HDB_OK;
}

static int of_text(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_expr *e = call->e;
	const struct oql_args args = call->args;
	const struct oql_str s = call->of->text;

	if (args.count == 0)
		return text_alone(ev, e, s, call->frame->arena, out);
	if (args.count <= 2 && oql_is(e->name, "substring") && oql_is_whole(&args.values[0]) &&
	    (args.count == 1 || oql_is_whole(&args.values[1])))
		return substring(ev, e, s, args, out);
	if (args.count == 1 && oql_is(e->name, "charAt") && oql_is_whole(&args.values[0])) {
		const struct oql_value range[2] = { args.values[0], oql_int(args.values[0].i + 1) };

		return substring(ev, e, s, (struct oql_args){ range, 2 }, out);
	}
	if (args.count == 1 && args.values[0].type == OQL_V_STRING)
		return text_with_text(ev, e, s, args.values[0].text, out);
	return HDB_NOTFOUND;
}

/* ---- lists ---- */

static int of_list(struct oql_eval *ev, const struct oql_expr *e, const struct oql_list *list,
		   struct oql_args args, struct oql_value *out)
{
	int r = HDB_OK;

	if (args.count == 0 && (oql_is(e->name, "size") || oql_is(e->name, "length"))) {
		*out = oql_int((int64_t)list->count);
	} else if (args.count == 0 && oql_is(e->name, "isEmpty")) {
		*out = oql_bool(list->count == 0);
	} else if (args.count == 1 && oql_is(e->name, "get") && oql_is_whole(&args.values[0])) {
		const int64_t i = args.values[0].i;

		if (i < 0 || (uint64_t)i >= list->count)
			return oql_refuse(ev, e, "element %" PRId64 " of a list of %zu", i,
					  list->count);
		r = oql_element(ev, list, (size_t)i, out);
	} else if (args.count == 1 && oql_is(e->name, "contains")) {
		struct oql_value v;

		*out = oql_bool(false);
		for (size_t i = 0; i < list->count && !out->i; i++) {
			if ((r = oql_element(ev, list, i, &v)) < 0)
				return r;
			out->i = oql_equal(&v, &args.values[0]);
		}
	} else {
		return HDB_NOTFOUND;
	}
	return r;
}

/* ---- the snapshot ---- */

static int classes_by_name(struct oql_eval *ev, struct oql_args args, struct oql_arena *arena,
			   struct oql_value *out)
{
	const uint32_t count = hdb_class_count(ev->db);
	uint8_t *marks = oql_take(arena, (size_t)count + 1, 1, ev->err);
	const bool with_subclasses = args.count == 2 && args.values[1].i;

	if (!marks)
		return HDB_ELIMIT;
	for (uint32_t no = 0; no < count; no++) {
		if (!oql_is(args.values[0].text, hdb_class_name(ev->db, no)))
			continue;
		marks[no] = 1;
		for (uint32_t sub = 0; with_subclasses && sub < count; sub++)
			marks[sub] |= (uint8_t)hdb_is_subclass(ev->db, sub, no);
	}
	return oql_class_objects(ev, marks, arena, out);
}

/* Methods of the snapshot that take an object's number. */
static int of_number(struct oql_eval *ev, const struct oql_expr *e, uint32_t ix,
		     const struct oql_frame *frame, struct oql_value *out)
{
	static const struct {
		const char *method, *attribute;
	} same[] = {
		{ "getHeapSize", "usedHeapSize" },
		{ "getRetainedHeapSize", "retainedHeapSize" },
		{ "getClassOf", "clazz" },
		{ "mapIdToAddress", "objectAddress" },
	};
	const struct oql_value object = oql_object(ix);

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (oql_is(e->name, same[i].method))
			return oql_attribute(
				ev, frame, &object,
				(struct oql_str){ same[i].attribute, strlen(same[i].attribute) },
				out);
	if (oql_is(e->name, "getObject"))
		*out = object;
	else if (oql_is(e->name, "getThreadStack"))
		return oql_stack_of(ev, ix, out);
	else if (oql_is(e->name, "getImmediateDominatedIds"))
		return oql_relatives(ev, HDB_DOMINATED, ix, frame->arena, out);
	else if (oql_is(e->name, "getInboundRefererIds"))
		return oql_relatives(ev, HDB_REFERRERS, ix, frame->arena, out);
	else if (oql_is(e->name, "getOutboundReferentIds"))
		return oql_relatives(ev, HDB_REFERENCES, ix, frame->arena, out);
	else
		return HDB_NOTFOUND;
	return HDB_OK;
}

static int of_snapshot(struct oql_eval *ev, const struct oql_expr *e, struct oql_args args,
		       const struct oql_frame *frame, struct oql_value *out)
{
	uint32_t ix;
	int r;

	if (args.count >= 1 && args.count <= 2 && oql_is(e->name, "getClassesByName") &&
	    args.values[0].type == OQL_V_STRING)
		return classes_by_name(ev, args, frame->arena, out);
	if (args.count != 1 || !oql_is_whole(&args.values[0]))
		return HDB_NOTFOUND;
	if (oql_is(e->name, "mapAddressToId")) {
		r = hdb_find(ev->db, (uint64_t)args.values[0].i, &ix, ev->err);
		*out = oql_int(-1);
		if (r != HDB_OK)
			return r < 0 ? r : HDB_OK;
		return oql_number_of(ev, ix, &out->i);
	}
	TRY_ERRORS(oql_object_of(ev, args.values[0].i, &ix));
	if (ix == HDB_NONE)
		return oql_refuse(ev, e, "there is no object number %" PRId64, args.values[0].i);
	return of_number(ev, e, ix, frame, out);
}

/* ---- objects ---- */

static int named_field(struct oql_eval *ev, const struct oql_frame *frame,
		       const struct oql_value *v, struct oql_str name, struct oql_value *out)
{
	static const struct oql_str fields_name = { "fields", 6 },
				    statics_name = { "staticFields", 12 };
	struct oql_value fields;
	int r = oql_attribute(ev, frame, v, fields_name, &fields);

	if (r == HDB_NOTFOUND)
		r = oql_attribute(ev, frame, v, statics_name, &fields);
	*out = (struct oql_value){ 0 };
	if (r != HDB_OK)
		return r;
	assert(fields.type == OQL_V_LIST);
	for (size_t i = 0; i < fields.list->count; i++) {
		const struct oql_value *field = &fields.list->values[i];

		if (field->text.size == name.size &&
		    memcmp(field->text.data, name.data, name.size) == 0)
			*out = *field; /* the last is that of the uppermost class */
	}
	return HDB_OK;
}

static int object_string(struct oql_eval *ev, uint32_t ix, struct oql_arena *arena,
			 struct oql_value *out)
{
	struct oql_text text = { .budget = &ev->budget };
	bool has;
	int r = oql_display(ev, ix, &text, &has);

	if (r == HDB_OK && !has)
		r = oql_put_technical(ev, ix, &text);
	return oql_end_string(ev, arena, r, &text, out);
}

static int does_extend(struct oql_eval *ev, const struct oql_value *v, struct oql_str name,
		       struct oql_value *out)
{
	const uint32_t count = hdb_class_count(ev->db);
	uint32_t class_no;
	int r = oql_class_meant(ev, v, &class_no);

	if (r < 0 || class_no == HDB_NONE)
		return r < 0 ? r : HDB_NOTFOUND;
	*out = oql_bool(false);
	for (uint32_t no = 0; no < count && !out->i; no++)
		if (oql_is(name, hdb_class_name(ev->db, no)))
			out->i = hdb_is_subclass(ev->db, class_no, no);
	return HDB_OK;
}

/* getValueAt(i), getReferenceArray(offset, length), getValueArray(offset, length). */
static int of_array(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_args args = call->args;
	const bool is_references = oql_is(call->e->name, "getReferenceArray");
	const struct oql_str name = is_references ? (struct oql_str){ "referenceArray", 14 } :
						    (struct oql_str){ "valueArray", 10 };
	struct oql_value list;
	size_t from, count;

	assert(args.count == 1 || args.count == 2);
	TRY(oql_attribute(ev, call->frame, call->of, name, &list));
	from = args.values[0].i < 0 ? SIZE_MAX : (size_t)args.values[0].i;
	count = args.count == 1 ? 1 : args.values[1].i < 0 ? SIZE_MAX : (size_t)args.values[1].i;
	if (from > list.list->count || count > list.list->count - from)
		return oql_refuse(ev, call->e, "elements from %" PRId64 " on of an array of %zu",
				  args.values[0].i, list.list->count);
	if (args.count == 1)
		return oql_element(ev, list.list, from, out);
	return oql_slice(ev, call->frame->arena, list.list, (struct oql_range){ from, count }, out);
}

static int of_object_method(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_expr *e = call->e;
	const struct oql_frame *frame = call->frame;
	const struct oql_value *v = call->of;
	const struct oql_args args = call->args;
	const struct oql_value *first = args.values;
	struct oql_value super;

	if (args.count == 0 && oql_is(e->name, "toString"))
		return object_string(ev, v->ix, frame->arena, out);
	if (args.count == 0 && oql_is(e->name, "hasSuperClass")) {
		const int r =
			oql_attribute(ev, frame, v, (struct oql_str){ "superClass", 10 }, &super);

		*out = oql_bool(super.type == OQL_V_OBJECT);
		return r;
	}
	if (args.count == 1 && first->type == OQL_V_STRING) {
		if (oql_is(e->name, "getField"))
			return named_field(ev, frame, v, first->text, out);
		if (oql_is(e->name, "doesExtend"))
			return does_extend(ev, v, first->text, out);
	}
	if (args.count == 1 && oql_is_whole(first) && oql_is(e->name, "getValueAt"))
		return of_array(ev, call, out);
	if (args.count == 2 && oql_is_whole(first) && oql_is_whole(first + 1) &&
	    (oql_is(e->name, "getReferenceArray") || oql_is(e->name, "getValueArray")))
		return of_array(ev, call, out);
	return HDB_NOTFOUND;
}

/* getName() is @name, isArrayType() is @arrayType, getGCRoots() is @GCRoots. */
static int getter(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		  const struct oql_value *v, struct oql_value *out)
{
	const size_t prefix = e->name.size > 3 && memcmp(e->name.data, "get", 3) == 0 ? 3 :
			      e->name.size > 2 && memcmp(e->name.data, "is", 2) == 0  ? 2 :
											0;
	struct oql_str name = { e->name.data + prefix, e->name.size - prefix };
	char buf[NAME_MAX_SIZE];

	if (!prefix || name.size >= sizeof(buf) || name.data[0] < 'A' || name.data[0] > 'Z')
		return HDB_NOTFOUND;
	memcpy(buf, name.data, name.size);
	if (name.size < 2 || buf[1] < 'A' || buf[1] > 'Z')
		buf[0] = (char)(buf[0] + 32);
	name.data = buf;
	return oql_attribute(ev, frame, v, name, out);
}

int oql_method(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_expr *e = call->e;
	const struct oql_frame *frame = call->frame;
	const struct oql_value *v = call->of;
	const struct oql_args args = call->args;
	const int size = (int)(e->name.size < 60 ? e->name.size : 60);
	int r = HDB_NOTFOUND;

	oql_frame_check(frame);
	oql_value_check(v);
	*out = (struct oql_value){ 0 };
	if (v->type == OQL_V_NULL && e->kind == OQL_METHOD)
		return HDB_OK;
	if (v->type == OQL_V_STRING)
		r = of_text(ev, call, out);
	else if (v->type == OQL_V_LIST)
		r = of_list(ev, e, v->list, args, out);
	else if (v->type == OQL_V_SNAPSHOT)
		r = of_snapshot(ev, e, args, frame, out);
	else if (v->type == OQL_V_OBJECT)
		r = of_object_method(ev, call, out);
	if (r == HDB_NOTFOUND && args.count == 0)
		r = getter(ev, e, frame, v, out);
	if (r == HDB_NOTFOUND && args.count == 0 && oql_is(e->name, "toString"))
		r = oql_to_string(ev, v, frame->arena, out);
	if (r == HDB_NOTFOUND && args.count == 1 && oql_is(e->name, "equals")) {
		*out = oql_bool(oql_equal(v, &args.values[0]));
		r = HDB_OK;
	}
	if (r != HDB_NOTFOUND)
		return r;
	if (e->kind == OQL_CALL)
		return oql_refuse(ev, e,
				  "there is no function %.*s(); there are toHex, toString, "
				  "classof, inbounds, outbounds, dominators, dominatorof, "
				  "eval, count, sum, min, max and avg",
				  size, e->name.data);
	return oql_refuse(ev, e, "%s has no method %.*s() with %zu argument%s",
			  oql_type_name(ev, v), size, e->name.data, args.count,
			  args.count == 1 ? "" : "s");
}

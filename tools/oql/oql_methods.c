/*
 * oql/oql_methods.c - evaluates "name(...)": MAT's functions and the methods of objects, lists and
 * numbers. Methods of strings are in oql_strings.c. Getters (get...() and is...() without
 * arguments) are attributes.
 */
#include "oql/oql_eval.h"

#include <math.h>

/* Maximum length of a getter's name. */
#define NAME_MAX_SIZE 64

/* ---- common to functions and methods ---- */

int oql_class_meant(struct oql_eval *ev, const struct oql_value *v, uint32_t *class_no)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

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
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	if (v->type == OQL_V_OBJECT && hdb_object_at(ev->db, v->ix, &facts, NULL) == HDB_OK)
		return facts.kind == HDB_KIND_INSTANCE &&
				       oql_is_a(ev, facts.class_no, "java.lang.ClassLoader") ?
			       "org.eclipse.mat.parser.model.ClassLoaderImpl" :
			       objects[facts.kind];
	if (v->type < BASE_COUNT(names) && names[v->type])
		return names[v->type];
	return "java.lang.Object";
}

int oql_class_objects(struct oql_eval *ev, const uint8_t *marks, struct oql_arena *arena,
		      struct oql_value *out)
{
	const uint32_t count = hdb_class_count(ev->db);
	struct oql_value *values;
	struct hdb_class class = { .struct_size = sizeof(class) };
	size_t kept = 0;

	TRY(oql_survey(ev));
	TRY(oql_make_list(ev, arena, count, &values, out));
	for (uint32_t no = 0; no < count; no++) {
		if (marks && !marks[no])
			continue;
		TRY(hdb_class_at(ev->db, no, &class, ev->err));
		if (class.object_ix != HDB_NONE && oql_is_reachable(ev, class.object_ix))
			values[kept++] = oql_object(class.object_ix);
	}
	assert(kept <= count);
	((struct oql_list *)(uintptr_t)out->list)->count = kept;
	return HDB_OK;
}

/* Implements toString(v). */
static int to_string(struct oql_eval *ev, const struct oql_value *v, struct oql_arena *arena,
		     struct oql_value *out)
{
	struct bytes text = { .most = ev->budget.most_bytes };
	bool has;
	const int r = v->type == OQL_V_OBJECT ? oql_display(ev, v->ix, &text, &has) :
						oql_put_plain(ev, v, &text);

	return oql_end_string(ev, arena, r, &text, out);
}

/* ---- functions ---- */

static int to_hex(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value *v,
		  struct oql_arena *arena, struct oql_value *out)
{
	struct bytes text = { .most = ev->budget.most_bytes };

	if (!oql_is_number(v))
		return oql_refuse(ev, e, "toHex() takes a number, not %s", oql_type_name(ev, v));
	bytes_format(&text, "0x%" PRIx64,
		     (uint64_t)(oql_is_whole(v)             ? v->i :
				v->d > -9e18 && v->d < 9e18 ? (int64_t)v->d :
							      0));
	return oql_end_string(ev, arena, HDB_OK, &text, out);
}

/* Converts objects to numbers, like MAT's int arrays of object IDs. */
static int numbers_of(struct oql_eval *ev, const struct oql_value *v, struct oql_arena *arena,
		      struct oql_value *out)
{
	struct oql_value *values;

	*out = *v;
	if (v->type != OQL_V_LIST || v->list->kind != OQL_L_IDS)
		return HDB_OK;
	TRY(oql_make_list(ev, arena, v->list->count, &values, out));
	for (size_t i = 0; i < v->list->count; i++)
		TRY(oql_element(ev, v->list, i, &values[i]));
	return HDB_OK;
}

static int dominator_of(struct oql_eval *ev, uint32_t ix, struct oql_value *out)
{
	uint32_t dominator = HDB_NONE;

	*out = (struct oql_value){ 0 };
	TRY(hdb_need(ev->db, HDB_NEED_DOMINATORS, ev->err));
	TRY_FOUND(hdb_dominator_at(ev->db, ix, &dominator, ev->err));
	if (dominator != HDB_NONE)
		*out = oql_object(dominator);
	return HDB_OK;
}

/* Calls a function or method that lists related objects. Returns HDB_NOTFOUND for other names. */
static int relatives(struct oql_eval *ev, struct oql_str name, uint32_t ix, struct oql_arena *arena,
		     struct oql_value *out)
{
	static const struct {
		const char *name;
		enum hdb_list_kind kind;
	} lists[] = {
		{ "inbounds", HDB_REFERRERS },
		{ "outbounds", HDB_REFERENCES },
		{ "dominators", HDB_DOMINATED },
		{ "getInboundRefererIds", HDB_REFERRERS },
		{ "getOutboundReferentIds", HDB_REFERENCES },
		{ "getImmediateDominatedIds", HDB_DOMINATED },
	};

	for (size_t i = 0; i < BASE_COUNT(lists); i++)
		if (oql_is(name, lists[i].name))
			return oql_relatives(ev, lists[i].kind, ix, arena, out);
	return HDB_NOTFOUND;
}

/* Calls a function of one object. */
static int of_object(struct oql_eval *ev, const struct oql_expr *e, uint32_t ix,
		     const struct oql_frame *frame, struct oql_value *out)
{
	const struct oql_value object = oql_object(ix);

	if (oql_is(e->name, "classof"))
		return oql_attribute(ev, frame, &object, (struct oql_str){ "clazz", 5 }, out);
	if (oql_is(e->name, "dominatorof"))
		return dominator_of(ev, ix, out);
	return relatives(ev, e->name, ix, frame->arena, out);
}

static const char *const functions[] = { "toHex",    "toString",  "eval",        "classof",
					 "inbounds", "outbounds", "dominatorof", "dominators" };
#define FUNCTION_COUNT BASE_COUNT(functions)

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
		return to_string(ev, v, arena, out);
	if (no == 2)
		return numbers_of(ev, v, arena, out);
	*out = (struct oql_value){ 0 };
	if (v->type == OQL_V_NULL)
		return HDB_OK;
	TRY(oql_object_meant(ev, v, &ix));
	if (ix == HDB_NONE)
		return oql_refuse(ev, e, "%s() takes an object, not %s", functions[no],
				  oql_type_name(ev, v));
	return of_object(ev, e, ix, call->frame, out);
}

/* ---- lists ---- */

static int sub_list(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_list *list = call->of->list;
	const int64_t from = call->args.values[0].i, to = call->args.values[1].i;

	if (from < 0 || to < from || (uint64_t)to > list->count)
		return oql_refuse(ev, call->e,
				  "range %" PRId64 " to %" PRId64 " is out of bounds for a list of "
				  "%zu elements",
				  from, to, list->count);
	return oql_slice(ev, call->frame->arena, list,
			 (struct oql_range){ (size_t)from, (size_t)(to - from) }, out);
}

static int get_element(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_list *list = call->of->list;
	const int64_t i = call->args.values[0].i;

	if (i < 0 || (uint64_t)i >= list->count)
		return oql_refuse(ev, call->e,
				  "index %" PRId64 " is out of range for a list of %zu elements", i,
				  list->count);
	return oql_element(ev, list, (size_t)i, out);
}

static int list_contains(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_list *list = call->of->list;
	struct oql_value v;

	*out = oql_bool(false);
	for (size_t i = 0; i < list->count && !out->i; i++) {
		TRY(oql_element(ev, list, i, &v));
		out->i = oql_equal(&v, &call->args.values[0]);
	}
	return HDB_OK;
}

static int of_list(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_expr *e = call->e;
	const struct oql_list *list = call->of->list;
	const struct oql_args args = call->args;
	int r = HDB_OK;

	if (args.count == 2 && oql_is(e->name, "subList") && oql_is_whole(args.values) &&
	    oql_is_whole(args.values + 1))
		return sub_list(ev, call, out);
	if (args.count == 1 && oql_is(e->name, "get") && oql_is_whole(args.values))
		return get_element(ev, call, out);
	if (args.count == 1 && oql_is(e->name, "contains"))
		return list_contains(ev, call, out);
	if (args.count > 0)
		return HDB_NOTFOUND;
	if (oql_is(e->name, "size") || oql_is(e->name, "length")) {
		*out = oql_int((int64_t)list->count);
	} else if (oql_is(e->name, "iterator") || oql_is(e->name, "toArray")) {
		*out = *call->of;
	} else if (oql_is(e->name, "next") || oql_is(e->name, "hasNext")) {
		*out = oql_bool(list->count > 0); /* every call starts with a new iterator */
		if (list->count && oql_is(e->name, "next"))
			r = oql_element(ev, list, 0, out);
	} else if (oql_is(e->name, "isEmpty")) {
		*out = oql_bool(list->count == 0);
	} else {
		return HDB_NOTFOUND;
	}
	return r;
}

/* ---- numbers, rows ---- */

/*
 * Narrows a number as Java does: reals are converted to the nearest int or long, whose low bits are
 * the result for smaller types.
 */
static int64_t narrow(const struct oql_value *v, enum oql_type to)
{
	const double most = to == OQL_V_LONG ? 9223372036854775808.0 : 2147483648.0;
	int64_t i = v->i;

	if (!oql_is_whole(v))
		i = isnan(v->d)   ? 0 :
		    v->d >= most  ? (to == OQL_V_LONG ? INT64_MAX : INT32_MAX) :
		    v->d <= -most ? (to == OQL_V_LONG ? INT64_MIN : INT32_MIN) :
				    (int64_t)v->d;
	return to == OQL_V_BYTE  ? (int8_t)i :
	       to == OQL_V_SHORT ? (int16_t)i :
	       to == OQL_V_INT   ? (int32_t)i :
				   i;
}

/* Calls a method of a number: intValue() and so on, or compareTo(). */
static int of_number(const struct oql_call *call, struct oql_value *out)
{
	static const struct {
		const char *name;
		enum oql_type type;
	} values[] = {
		{ "byteValue", OQL_V_BYTE },   { "shortValue", OQL_V_SHORT },
		{ "intValue", OQL_V_INT },     { "longValue", OQL_V_LONG },
		{ "floatValue", OQL_V_FLOAT }, { "doubleValue", OQL_V_DOUBLE },
	};
	const struct oql_str name = call->e->name;
	const struct oql_value *v = call->of;

	if (call->args.count == 1 && oql_is(name, "compareTo") &&
	    oql_is_number(call->args.values)) {
		const int order = oql_rank(v, call->args.values);

		*out = oql_int(order < 0 ? -1 : order > 0);
		return HDB_OK;
	}
	for (size_t i = 0; call->args.count == 0 && i < BASE_COUNT(values); i++) {
		if (!oql_is(name, values[i].name))
			continue;
		*out = (struct oql_value){ .type = values[i].type };
		if (out->type == OQL_V_DOUBLE)
			out->d = oql_double_of(v);
		else if (out->type == OQL_V_FLOAT)
			out->d = (double)(float)oql_double_of(v);
		else
			out->i = narrow(v, out->type);
		return HDB_OK;
	}
	return HDB_NOTFOUND;
}

/* Calls a method of a row, which is a map of its columns. */
static int of_row(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_value *key = call->args.values;
	int r;

	if (call->args.count == 0 && oql_is(call->e->name, "size")) {
		*out = oql_int((int64_t)call->of->list->count);
		return HDB_OK;
	}
	if (call->args.count != 1 || key->type != OQL_V_STRING || !oql_is(call->e->name, "get"))
		return HDB_NOTFOUND;
	r = oql_attribute(ev, call->frame, call->of, key->text, out);
	return r > 0 ? HDB_OK : r;
}

/* ---- the snapshot ---- */

static int classes_by_name(struct oql_eval *ev, struct oql_args args, struct oql_arena *arena,
			   struct oql_value *out)
{
	const uint32_t count = hdb_class_count(ev->db);
	uint8_t *marks;
	const bool with_subclasses = args.count == 2 && args.values[1].i;

	TRY(OQL_TAKE(marks, arena, (size_t)count + 1, ev->err));
	for (uint32_t no = 0; no < count; no++) {
		if (!oql_is(args.values[0].text, hdb_class_name(ev->db, no)))
			continue;
		marks[no] = 1;
		for (uint32_t sub = 0; with_subclasses && sub < count; sub++)
			marks[sub] |= (uint8_t)hdb_is_subclass(ev->db, sub, no);
	}
	return oql_class_objects(ev, marks, arena, out);
}

/* Tests the kind of an object, for isClass(number) and so on. */
static int is_kind(struct oql_eval *ev, struct oql_str name, uint32_t ix, struct oql_value *out)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	uint64_t first, count;

	TRY(hdb_object_at(ev->db, ix, &facts, ev->err));
	if (oql_is(name, "isClass")) {
		*out = oql_bool(facts.kind == HDB_KIND_CLASS);
	} else if (oql_is(name, "isArray")) {
		*out = oql_bool(facts.kind == HDB_KIND_OBJECT_ARRAY ||
				facts.kind == HDB_KIND_PRIMITIVE_ARRAY);
	} else if (oql_is(name, "isClassLoader")) {
		*out = oql_bool(oql_is_a(ev, facts.class_no, "java.lang.ClassLoader"));
	} else if (oql_is(name, "isGCRoot")) {
		TRY(hdb_roots_of(ev->db, ix, &first, &count, ev->err));
		*out = oql_bool(count > 0);
	} else {
		return HDB_NOTFOUND;
	}
	return HDB_OK;
}

static int dominator_number(struct oql_eval *ev, uint32_t ix, struct oql_value *out)
{
	struct oql_value dominator;

	TRY(dominator_of(ev, ix, &dominator));
	*out = oql_int(-1);
	return dominator.type == OQL_V_OBJECT ? oql_number_of(ev, dominator.ix, &out->i) : HDB_OK;
}

/* Calls a method of the snapshot that takes an object number. */
static int of_object_number(struct oql_eval *ev, const struct oql_expr *e, uint32_t ix,
			    const struct oql_frame *frame, struct oql_value *out)
{
	static const struct {
		const char *method, *attribute;
	} same[] = {
		{ "getHeapSize", "usedHeapSize" }, { "getRetainedHeapSize", "retainedHeapSize" },
		{ "getClassOf", "clazz" },         { "mapIdToAddress", "objectAddress" },
		{ "getGCRootInfo", "GCRootInfo" },
	};
	const struct oql_value object = oql_object(ix);
	int r;

	for (size_t i = 0; i < BASE_COUNT(same); i++)
		if (oql_is(e->name, same[i].method))
			return oql_attribute(
				ev, frame, &object,
				(struct oql_str){ same[i].attribute, strlen(same[i].attribute) },
				out);
	if (oql_is(e->name, "getThreadStack"))
		return oql_stack_of(ev, ix, out);
	if (oql_is(e->name, "getImmediateDominatorId"))
		return dominator_number(ev, ix, out);
	*out = object;
	if (oql_is(e->name, "getObject"))
		return HDB_OK;
	r = function_no(e->name) == FUNCTION_COUNT ? relatives(ev, e->name, ix, frame->arena, out) :
						     HDB_NOTFOUND;
	return r > 0 ? is_kind(ev, e->name, ix, out) : r;
}

static int of_snapshot(struct oql_eval *ev, const struct oql_expr *e, struct oql_args args,
		       const struct oql_frame *frame, struct oql_value *out)
{
	uint32_t ix;
	int r;

	if (args.count >= 1 && args.count <= 2 && oql_is(e->name, "getClassesByName") &&
	    args.values[0].type == OQL_V_STRING)
		return classes_by_name(ev, args, frame->arena, out);
	if (args.count != 1 || (!oql_is_whole(args.values) && args.values->type != OQL_V_OBJECT))
		return HDB_NOTFOUND;
	if (args.values->type == OQL_V_OBJECT)
		return of_object_number(ev, e, args.values->ix, frame, out);
	if (oql_is(e->name, "mapAddressToId")) {
		r = hdb_find(ev->db, (uint64_t)args.values[0].i, &ix, ev->err);
		*out = oql_int(-1);
		if (r != HDB_OK)
			return r < 0 ? r : HDB_OK;
		return oql_number_of(ev, ix, &out->i);
	}
	TRY(oql_object_of(ev, args.values[0].i, &ix));
	if (ix == HDB_NONE)
		return oql_refuse(ev, e, "object number out of range: %" PRId64, args.values[0].i);
	return of_object_number(ev, e, ix, frame, out);
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
	TRY(r);
	assert(fields.type == OQL_V_LIST);
	for (size_t i = 0; i < fields.list->count; i++) {
		const struct oql_value *field = &fields.list->values[i];

		if (oql_same(field->text, name))
			*out = *field; /* the last field belongs to the uppermost class */
	}
	return HDB_OK;
}

static int object_string(struct oql_eval *ev, uint32_t ix, struct oql_arena *arena,
			 struct oql_value *out)
{
	struct bytes text = { .most = ev->budget.most_bytes };
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

/* Evaluates resolveValue("a.b"), which is null if any reference on the path is null. */
static int resolve_value(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	struct oql_str path = call->args.values[0].text;

	*out = *call->of;
	while (out->type == OQL_V_OBJECT) {
		const char *dot = path.size ? memchr(path.data, '.', path.size) : NULL;
		const struct oql_str name = { path.data,
					      dot ? (size_t)(dot - path.data) : path.size };
		const struct oql_value of = *out;
		uint32_t ix;

		*out = (struct oql_value){ 0 };
		TRY(oql_object_field(ev, NULL, name, &of, out));
		if (out->type == OQL_V_REFERENCE) {
			TRY(oql_object_meant(ev, out, &ix));
			*out = oql_object(ix);
			out->type = ix == HDB_NONE ? OQL_V_NULL : OQL_V_OBJECT;
		}
		if (!dot)
			return HDB_OK;
		path.size -= name.size + 1;
		path.data += name.size + 1;
	}
	*out = (struct oql_value){ 0 };
	return HDB_OK;
}

/* Evaluates getValueAt(i), getReferenceArray(offset, length) and getValueArray(offset, length). */
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
		return oql_refuse(ev, call->e,
				  "range starting at %" PRId64 " is out of bounds for an "
				  "array of %zu elements",
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
		if (oql_is(e->name, "resolveValue"))
			return resolve_value(ev, call, out);
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

/*
 * Calls a getter, which returns an attribute: getName() is @name, isArrayType() is @arrayType,
 * getGCRoots() is @GCRoots.
 */
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

	*out = (struct oql_value){ 0 };
	if (v->type == OQL_V_NULL && e->kind == OQL_METHOD)
		return HDB_OK;
	if (v->type == OQL_V_STRING)
		r = oql_string_method(ev, call, out);
	else if (v->type == OQL_V_LIST)
		r = of_list(ev, call, out);
	else if (v->type == OQL_V_ROW)
		r = of_row(ev, call, out);
	else if (oql_is_number(v))
		r = of_number(call, out);
	else if (v->type == OQL_V_SNAPSHOT)
		r = of_snapshot(ev, e, args, frame, out);
	else if (v->type == OQL_V_OBJECT)
		r = of_object_method(ev, call, out);
	if (r == HDB_NOTFOUND && args.count == 0)
		r = getter(ev, e, frame, v, out);
	if (r == HDB_NOTFOUND && args.count == 0 && oql_is(e->name, "toString"))
		r = to_string(ev, v, frame->arena, out);
	if (r == HDB_NOTFOUND && args.count == 1 && oql_is(e->name, "equals")) {
		*out = oql_bool(oql_equal(v, &args.values[0]));
		r = HDB_OK;
	}
	if (r != HDB_NOTFOUND)
		return r;
	if (e->kind == OQL_CALL)
		return oql_refuse(ev, e,
				  "unknown function %.*s(); available functions: toHex, "
				  "toString, classof, inbounds, outbounds, dominators, "
				  "dominatorof, eval, count, sum, min, max and avg",
				  size, e->name.data);
	return oql_refuse(ev, e, "%s has no method %.*s() with %zu argument%s",
			  oql_type_name(ev, v), size, e->name.data, args.count,
			  args.count == 1 ? "" : "s");
}

/*
 * oql/oql_eval.c - evaluates expressions. The parser limits the depth of recursion.
 */
#include "oql/oql_eval.h"

#include "base/flag.h"
#include "base/scope.h"

/* Number of rows between checks for cancellation. */
#define TICKS 256

int oql_tick(struct oql_eval *ev)
{
	if (++ev->steps % TICKS == 0 && base_flag_is_set(ev->progress.cancel))
		return hdb_fail(ev->err, HDB_EINTR, "interrupted");
	return HDB_OK;
}

static int shown(struct oql_str name)
{
	return (int)(name.size < 100 ? name.size : 100);
}

/* ---- fields ---- */

/* Caches the field that an expression refers to, for one class. */
struct field_memo {
	uint32_t class_no;
	const struct hdb_field *field; /* NULL means the class has no such field */
};

/*
 * Returns the field with this name. If several classes of the hierarchy declare the field, returns
 * the field of the uppermost class, as MAT does.
 */
static const struct hdb_field *last_named(const struct hdb_fields *fields, size_t count,
					  struct oql_str name)
{
	const struct hdb_field *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (oql_is(name, hdb_field_at(fields, i)->name))
			found = hdb_field_at(fields, i);
	return found;
}

/* Finds a field. `node` caches the result for consecutive objects of the same class. */
static int find_field(struct oql_eval *ev, struct oql_expr *node, struct oql_str name,
		      uint32_t class_no, const struct hdb_field **field)
{
	struct field_memo *memo = node ? node->cache : NULL;
	const struct hdb_fields *fields;
	size_t count;

	if (memo && memo->class_no == class_no) {
		*field = memo->field;
		return HDB_OK;
	}
	if (node && !memo && !(node->cache = memo = oql_take(&ev->keep, 1, sizeof(*memo), ev->err)))
		return HDB_ELIMIT;
	if (memo)
		memo->class_no = HDB_NONE;
	TRY(oql_class_fields(ev, class_no, false, &fields, &count));
	*field = last_named(fields, count, name);
	if (memo)
		*memo = (struct field_memo){ class_no, *field };
	return HDB_OK;
}

static int static_field(struct oql_eval *ev, struct oql_str name, uint32_t class_no,
			struct oql_value *out)
{
	const struct hdb_fields *fields;
	const struct hdb_field *field;
	size_t count;
	int r;

	TRY(oql_class_fields(ev, class_no, true, &fields, &count));
	field = last_named(fields, count, name);
	if (!field)
		return HDB_OK;
	r = oql_basic(ev, &field->value, true, out);
	out->text = (struct oql_str){ field->name, strlen(field->name) };
	return r;
}

int oql_object_field(struct oql_eval *ev, struct oql_expr *node, struct oql_str name,
		     const struct oql_value *of, struct oql_value *out)
{
	const struct hdb_field *field = NULL;
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	struct hdb_basic basic;
	int r;

	TRY(hdb_object_at(ev->db, of->ix, &facts, ev->err));
	if (facts.kind == HDB_KIND_CLASS)
		return static_field(ev, name, facts.stands_for, out);
	if (facts.kind != HDB_KIND_INSTANCE) {
		if (oql_is(name, "length"))
			*out = oql_int((int64_t)facts.length);
		return HDB_OK;
	}
	if (!facts.is_real)
		return HDB_OK;
	r = find_field(ev, node, name, facts.class_no, &field);
	if (r < 0 || !field)
		return r;
	TRY_FOUND(hdb_field_value(ev->db, of->ix, field, &basic, ev->err));
	return oql_basic(ev, &basic, false, out);
}

/* Evaluates "." on an object or row. */
static int field_value(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame,
		       const struct oql_value *of, struct oql_value *out)
{
	int r;

	*out = (struct oql_value){ 0 };
	if (of->type == OQL_V_NULL)
		return HDB_OK;
	if (of->type == OQL_V_OBJECT)
		return oql_object_field(ev, e, e->name, of, out);
	r = oql_attribute(ev, frame, of, e->name, out);
	if (r == HDB_NOTFOUND)
		return oql_refuse(ev, e, "%s has no %s \"%.*s\"", oql_type_name(ev, of),
				  of->type == OQL_V_ROW ? "column" : "field", shown(e->name),
				  e->name.data);
	return r;
}

static int name_value(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame,
		      struct oql_value *out)
{
	for (const struct oql_frame *f = frame; f; f = f->outer)
		if (f->alias.data && oql_same(f->alias, e->name)) {
			*out = f->current;
			return HDB_OK;
		}
	if (frame->current.type == OQL_V_NULL && !frame->outer)
		return oql_refuse(ev, e, "unknown name \"%.*s\"", shown(e->name), e->name.data);
	return field_value(ev, e, frame, &frame->current, out);
}

static int attribute_value(struct oql_eval *ev, const struct oql_expr *e,
			   const struct oql_frame *frame, struct oql_value *out)
{
	struct oql_value of = frame->current;
	int r = e->a ? oql_evaluate(ev, e->a, frame, &of) : HDB_OK;

	*out = (struct oql_value){ 0 };
	if (r < 0 || of.type == OQL_V_NULL)
		return r;
	r = oql_attribute(ev, frame, &of, e->name, out);
	if (r == HDB_NOTFOUND)
		return oql_refuse(ev, e, "%s has no attribute @%.*s", oql_type_name(ev, &of),
				  shown(e->name), e->name.data);
	return r;
}

static int call_value(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		      struct oql_value *out)
{
	struct oql_value of = frame->current;
	struct oql_value *values;
	struct oql_call call = { .e = e, .frame = frame, .of = &of };
	int r = e->a ? oql_evaluate(ev, e->a, frame, &of) : HDB_OK;

	*out = (struct oql_value){ 0 };
	if (r < 0 || (e->kind == OQL_METHOD && of.type == OQL_V_NULL))
		return r;
	TRY(OQL_TAKE(values, frame->arena, e->arg_count + 1, ev->err));
	for (size_t i = 0; i < e->arg_count; i++)
		TRY_ERRORS(oql_evaluate(ev, e->args[i], frame, &values[i]));
	call.args = (struct oql_args){ values, e->arg_count };
	return e->kind == OQL_CALL ? oql_function(ev, &call, out) : oql_method(ev, &call, out);
}

/* ---- subscripts ---- */

/*
 * Returns an entry of a collection: for a list or set, the element; for a map, the object that
 * holds key and value or, if there is no such object, a row of key and value.
 */
static int entry_value(struct oql_eval *ev, const struct hdb_entry *entry, struct oql_arena *arena,
		       struct oql_value *out)
{
	static const struct oql_str names[] = { { "key", 3 }, { "value", 5 } };
	struct oql_value *values;

	if (!entry->has_key)
		return oql_basic(ev, &entry->value, false, out);
	*out = oql_object(entry->entry_ix);
	if (entry->entry_ix != HDB_NONE)
		return HDB_OK;
	TRY(oql_make_list(ev, arena, 2, &values, out));
	out->type = OQL_V_ROW;
	((struct oql_list *)(uintptr_t)out->list)->names = names;
	TRY(oql_basic(ev, &entry->key, false, &values[0]));
	return oql_basic(ev, &entry->value, false, &values[1]);
}

/* A growing list of values in an arena. */
struct growing {
	struct oql_value *values;
	size_t count, room;
};

/* Adds an element. On failure, returns NULL and sets the message. */
static struct oql_value *add_value(struct oql_eval *ev, struct oql_arena *arena, struct growing *g)
{
	assert(g->count <= g->room);
	if (g->count == g->room && !OQL_GROW(arena, g->values, g->room, ev->err))
		return NULL;
	return &g->values[g->count++];
}

BASE_CLOSER(close_entries, struct hdb_entries, hdb_entries_close)

/*
 * Lists the first `most` entries of a collection. Returns HDB_NOTFOUND if the object is not a
 * collection.
 */
static int entries_of(struct oql_eval *ev, uint32_t ix, uint64_t most, struct oql_arena *arena,
		      struct oql_value *out)
{
	BASE_SCOPED(close_entries) struct hdb_entries *entries = NULL;
	struct hdb_collection collection = { .struct_size = sizeof(collection) };
	struct hdb_entry entry = { .struct_size = sizeof(entry) };
	struct growing g = { 0 };
	struct oql_value *value;
	int r = HDB_OK;

	TRY(hdb_collection_at(ev->db, ix, &collection, ev->err));
	TRY(hdb_entries_open(ev->db, ix, &entries, ev->err));
	while (g.count < most && (r = hdb_entries_next(entries, &entry, ev->err)) == HDB_OK) {
		value = add_value(ev, arena, &g);
		if (!value)
			return HDB_ELIMIT;
		TRY(entry_value(ev, &entry, arena, value));
		TRY(oql_tick(ev));
	}
	TRY_ERRORS(r);
	TRY(oql_make_list(ev, arena, 0, &value, out));
	((struct oql_list *)(uintptr_t)out->list)->values = g.values;
	((struct oql_list *)(uintptr_t)out->list)->count = g.count;
	return HDB_OK;
}

/* Lists the elements of a value; for collections, the first `most`. */
static int elements_of(struct oql_eval *ev, const struct oql_expr *e, uint64_t most,
		       struct oql_arena *arena, struct oql_value *v)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	struct oql_list *list;
	int r = HDB_NOTFOUND;

	if (v->type == OQL_V_LIST || v->type == OQL_V_NULL)
		return HDB_OK;
	if (v->type == OQL_V_OBJECT) {
		TRY(hdb_object_at(ev->db, v->ix, &facts, ev->err));
		if (facts.kind == HDB_KIND_INSTANCE)
			r = entries_of(ev, v->ix, most, arena, v);
		else if (facts.kind == HDB_KIND_CLASS)
			r = HDB_NOTFOUND;
		else if (!(list = oql_take(arena, 1, sizeof(*list), ev->err)))
			return HDB_ELIMIT;
		else {
			*list = (struct oql_list){ .kind = OQL_L_ARRAY,
						   .count = (size_t)facts.length,
						   .array_ix = v->ix };
			*v = (struct oql_value){ .type = OQL_V_LIST, .list = list };
			r = HDB_OK;
		}
	}
	if (r != HDB_NOTFOUND)
		return r;
	/* the object may be a map or list that the library does not know */
	if (v->type == OQL_V_OBJECT &&
	    (oql_is_a(ev, facts.class_no, "java.util.AbstractMap") ||
	     oql_is_a(ev, facts.class_no, "java.util.AbstractCollection"))) {
		*v = (struct oql_value){ 0 };
		return HDB_OK;
	}
	return oql_refuse(ev, e, "%s has no elements", oql_type_name(ev, v));
}

static int whole_value(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		       int64_t *out)
{
	struct oql_value v;

	*out = 0;
	TRY_ERRORS(oql_evaluate(ev, e, frame, &v));
	if (!oql_is_whole(&v))
		return oql_refuse(ev, e, "the index of an element must be an int, not %s",
				  oql_type_name(ev, &v));
	*out = v.i;
	return HDB_OK;
}

static int index_value(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		       struct oql_value *out)
{
	struct oql_value list;
	int64_t i = 0;
	int r;

	assert(e->b);
	*out = (struct oql_value){ 0 };
	TRY_ERRORS(oql_evaluate(ev, e->a, frame, &list));
	if ((r = whole_value(ev, e->b, frame, &i)) < 0 || list.type == OQL_V_NULL)
		return r;
	r = elements_of(ev, e, i < 0 ? 0 : (uint64_t)i + 1, frame->arena, &list);
	if (r < 0 || i < 0 || list.type == OQL_V_NULL || (uint64_t)i >= list.list->count)
		return r;
	return oql_element(ev, list.list, (size_t)i, out);
}

/* Evaluates a[i:j], which includes element j. Negative indexes count from the end. */
static int slice_value(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		       struct oql_value *out)
{
	struct oql_value list;
	int64_t from = 0, to = 0, count;
	int r;

	assert(e->b);
	assert(e->c);
	*out = (struct oql_value){ 0 };
	TRY_ERRORS(oql_evaluate(ev, e->a, frame, &list));
	TRY(whole_value(ev, e->b, frame, &from));
	if ((r = whole_value(ev, e->c, frame, &to)) < 0 || list.type == OQL_V_NULL)
		return r;
	TRY_ERRORS(elements_of(ev, e, from >= 0 && to >= 0 ? (uint64_t)to + 1 : UINT64_MAX,
			       frame->arena, &list));
	if (list.type == OQL_V_NULL)
		return HDB_OK;
	/* the array length in a damaged database may be any number */
	count = list.list->count < INT64_MAX ? (int64_t)list.list->count : INT64_MAX;
	from = from >= 0 ? from : from >= -count ? from + count : 0;
	to = to >= 0 ? to : to >= -count ? to + count : -1;
	to = to < count ? to : count - 1;
	if (from > to)
		from = to = -1;
	return oql_slice(ev, frame->arena, list.list,
			 (struct oql_range){ from < 0 ? 0 : (size_t)from,
					     from < 0 ? 0 : (size_t)(to - from + 1) },
			 out);
}

/* ---- conditions ---- */

/* Returns the truth value of a value in AND and OR: null, false, 0 and "" are false. */
static bool is_true(const struct oql_value *v)
{
	if (oql_is_number(v))
		return oql_double_of(v) != 0;
	if (v->type == OQL_V_STRING)
		return v->text.size > 0;
	return v->type == OQL_V_BOOL ? v->i != 0 : v->type != OQL_V_NULL;
}

static int all_value(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		     struct oql_value *out)
{
	const bool is_and = e->kind == OQL_AND;
	struct oql_value v;
	bool is = is_and;

	assert(e->arg_count > 1);
	*out = oql_bool(false);
	for (size_t i = 0; is == is_and && i < e->arg_count; i++) {
		TRY_ERRORS(oql_evaluate(ev, e->args[i], frame, &v));
		is = is_true(&v);
	}
	*out = oql_bool(is);
	return HDB_OK;
}

static int like_value(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value *a,
		      const struct oql_value *b, struct oql_value *out)
{
	BASE_SCOPED(bytes_release) struct bytes text = { .most = ev->budget.most_bytes };
	struct oql_pattern *pattern;
	struct oql_match match = { .text = a->text };
	int r;

	if (b->type != OQL_V_STRING)
		return oql_refuse(ev, e, "LIKE takes a \"regular expression\", not %s",
				  oql_type_name(ev, b));
	r = oql_pattern(ev, e, b->text, true, &pattern);
	*out = oql_bool(false);
	if (r < 0 || a->type == OQL_V_NULL)
		return r;
	if (a->type != OQL_V_STRING) {
		TRY(oql_put_plain(ev, a, &text));
		match.text = (struct oql_str){ text.data, text.size };
	}
	TRY(oql_matches(ev, pattern, &match));
	*out = oql_bool(match.is_found == (e->kind == OQL_LIKE));
	return HDB_OK;
}

static int is_in_list(struct oql_eval *ev, const struct oql_list *list, const struct oql_value *v,
		      bool *is)
{
	struct oql_value element;

	*is = false;
	for (size_t i = 0; !*is && i < list->count; i++) {
		if (list->kind == OQL_L_IDS && v->type == OQL_V_OBJECT) {
			*is = list->ixs[i] == v->ix;
			continue;
		}
		TRY(oql_element(ev, list, i, &element));
		*is = oql_equal(&element, v);
		TRY(oql_tick(ev));
	}
	return HDB_OK;
}

static int in_value(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		    struct oql_value *out)
{
	struct oql_value a, list;
	bool is = false;
	int r = oql_evaluate(ev, e->a, frame, &a);

	*out = oql_bool(false);
	if (r < 0 || a.type == OQL_V_NULL)
		return r;
	if (e->b->kind == OQL_SELECT && e->b->select->is_free) {
		r = oql_in_select(ev, e->b, frame, &a, &is);
	} else {
		TRY_ERRORS(oql_evaluate(ev, e->b, frame, &list));
		TRY_ERRORS(elements_of(ev, e, UINT64_MAX, frame->arena, &list));
		/* null counts as false; a sub-select without rows contains no values */
		if (list.type == OQL_V_NULL && e->b->kind != OQL_SELECT)
			return HDB_OK;
		if (list.type == OQL_V_LIST)
			r = is_in_list(ev, list.list, &a, &is);
	}
	TRY_ERRORS(r);
	*out = oql_bool(is == (e->kind == OQL_IN));
	return HDB_OK;
}

/*
 * Evaluates "implements". For the name of a MAT interface, tests MAT's type of the value. Any other
 * name is a class of the heap.
 */
static int implements_value(struct oql_eval *ev, const struct oql_expr *e,
			    const struct oql_frame *frame, struct oql_value *out)
{
	static const struct {
		const char *name;
		unsigned kinds;
	} interfaces[] = {
		{ "IObject", ~0u },
		{ "IInstance", 1 << HDB_KIND_INSTANCE },
		{ "IClassLoader", 1 << HDB_KIND_INSTANCE },
		{ "IClass", 1 << HDB_KIND_CLASS },
		{ "IArray", 1 << HDB_KIND_OBJECT_ARRAY | 1 << HDB_KIND_PRIMITIVE_ARRAY },
		{ "IObjectArray", 1 << HDB_KIND_OBJECT_ARRAY },
		{ "IPrimitiveArray", 1 << HDB_KIND_PRIMITIVE_ARRAY },
	};
	static const char package[] = "org.eclipse.mat.snapshot.model.";
	const size_t skip = sizeof(package) - 1;
	const bool is_mat = e->name.size > skip && memcmp(e->name.data, package, skip) == 0;
	const struct oql_str name = { e->name.data + (is_mat ? skip : 0),
				      e->name.size - (is_mat ? skip : 0) };
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	struct oql_value a;
	int r = oql_evaluate(ev, e->a, frame, &a);

	*out = oql_bool(false);
	if (r < 0 || a.type != OQL_V_OBJECT)
		return r;
	TRY(hdb_object_at(ev->db, a.ix, &facts, ev->err));
	for (size_t i = 0; is_mat && i < BASE_COUNT(interfaces); i++)
		if (oql_is(name, interfaces[i].name))
			out->i = interfaces[i].kinds >> facts.kind & 1;
	if ((is_mat && oql_is(name, "IClassLoader") && out->i))
		out->i = oql_is_a(ev, facts.class_no, "java.lang.ClassLoader");
	if (!is_mat) /* names are zero-terminated in the arena */
		out->i = oql_is_a(ev, facts.class_no, e->name.data);
	return HDB_OK;
}

static int relation_value(struct oql_eval *ev, const struct oql_expr *e,
			  const struct oql_frame *frame, struct oql_value *out)
{
	struct oql_value of[2];
	const struct oql_value *a = &of[0], *b = &of[1];
	int order = 0;
	int r;

	assert(e->a);
	assert(e->b);
	TRY_ERRORS(oql_evaluate(ev, e->a, frame, &of[0]));
	TRY_ERRORS(oql_evaluate(ev, e->b, frame, &of[1]));
	switch (e->kind) {
	case OQL_EQUAL:
	case OQL_NOT_EQUAL:
		*out = oql_bool(oql_equal(a, b) == (e->kind == OQL_EQUAL));
		return HDB_OK;
	case OQL_LIKE:
	case OQL_NOT_LIKE:
		return like_value(ev, e, a, b, out);
	case OQL_ADD:
	case OQL_SUBTRACT:
	case OQL_MULTIPLY:
	case OQL_DIVIDE:
		return oql_arithmetic(ev, e, of, frame->arena, out);
	default:
		break;
	}
	assert(e->kind >= OQL_LESS);
	assert(e->kind <= OQL_GREATER_EQUAL);
	r = oql_order(ev, e, a, b, &order);
	*out = oql_bool(e->kind == OQL_LESS       ? order < 0 :
			e->kind == OQL_LESS_EQUAL ? order <= 0 :
			e->kind == OQL_GREATER    ? order > 0 :
						    order >= 0);
	return r;
}

static int negative_value(struct oql_eval *ev, const struct oql_expr *e,
			  const struct oql_frame *frame, struct oql_value *out)
{
	TRY_ERRORS(oql_evaluate(ev, e->a, frame, out));
	if (!oql_is_number(out))
		return oql_refuse(ev, e, "\"-\" takes a number, not %s", oql_type_name(ev, out));
	if (out->type == OQL_V_LONG)
		out->i = (int64_t)(0 - (uint64_t)out->i);
	else if (oql_is_whole(out))
		*out = oql_int((int32_t)(0 - (uint32_t)out->i));
	else
		out->d = -out->d;
	return HDB_OK;
}

static int literal_value(struct oql_eval *ev, const struct oql_expr *e, struct oql_value *out)
{
	static const enum oql_type types[] = {
		[OQL_NULL] = OQL_V_NULL,         [OQL_BOOL] = OQL_V_BOOL,
		[OQL_INT] = OQL_V_INT,           [OQL_LONG] = OQL_V_LONG,
		[OQL_FLOAT] = OQL_V_FLOAT,       [OQL_DOUBLE] = OQL_V_DOUBLE,
		[OQL_CHAR] = OQL_V_CHAR,         [OQL_STRING] = OQL_V_STRING,
		[OQL_SNAPSHOT] = OQL_V_SNAPSHOT,
	};

	(void)ev;
	assert((size_t)e->kind < BASE_COUNT(types));
	*out = (struct oql_value){ .type = types[e->kind], .i = e->i };
	if (e->kind == OQL_FLOAT || e->kind == OQL_DOUBLE)
		out->d = e->d;
	if (e->kind == OQL_STRING)
		out->text = e->name;
	return HDB_OK;
}

int oql_evaluate(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		 struct oql_value *out)
{
	/* the evaluator owns the caches in the nodes */
	struct oql_expr *node = (struct oql_expr *)(uintptr_t)e;
	struct oql_value of;

	switch (e->kind) {
	case OQL_NULL:
	case OQL_BOOL:
	case OQL_INT:
	case OQL_LONG:
	case OQL_FLOAT:
	case OQL_DOUBLE:
	case OQL_CHAR:
	case OQL_STRING:
	case OQL_SNAPSHOT:
		return literal_value(ev, e, out);
	case OQL_NAME:
		return name_value(ev, node, frame, out);
	case OQL_SELECT:
		return oql_subselect(ev, node, frame, frame->arena, out);
	case OQL_FIELD:
		TRY_ERRORS(oql_evaluate(ev, e->a, frame, &of));
		return field_value(ev, node, frame, &of, out);
	case OQL_ATTRIBUTE:
		return attribute_value(ev, e, frame, out);
	case OQL_METHOD:
	case OQL_CALL:
		return call_value(ev, e, frame, out);
	case OQL_AGGREGATE:
		if (!frame->aggregates)
			return oql_refuse(ev, e, "an aggregate is not allowed here");
		assert(e->i >= 0);
		*out = frame->aggregates[e->i];
		return HDB_OK;
	case OQL_INDEX:
		return index_value(ev, e, frame, out);
	case OQL_SLICE:
		return slice_value(ev, e, frame, out);
	case OQL_NEGATE:
		return negative_value(ev, e, frame, out);
	case OQL_IN:
	case OQL_NOT_IN:
		return in_value(ev, e, frame, out);
	case OQL_IMPLEMENTS:
		return implements_value(ev, e, frame, out);
	case OQL_AND:
	case OQL_OR:
		return all_value(ev, e, frame, out);
	default:
		return relation_value(ev, e, frame, out);
	}
}

int oql_condition(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		  bool *out)
{
	struct oql_value v;
	const int r = oql_evaluate(ev, e, frame, &v);

	*out = false;
	if (r < 0 || v.type == OQL_V_NULL)
		return r;
	if (v.type != OQL_V_BOOL)
		return oql_refuse(ev, e, "the condition after WHERE is %s, not true or false",
				  oql_type_name(ev, &v));
	*out = v.i != 0;
	return HDB_OK;
}

/*
 * oql/oql_value_attributes.c - "@name" of any value: the snapshot, rows, roots, fields, stacks and
 * frames; objects are in oql_attributes.c.
 */
#include "oql/oql_attributes.h"

#include <assert.h>

/* ---- the snapshot ---- */

static int get_classes(const struct subject *s, struct oql_value *out)
{
	return oql_class_objects(s->ev, NULL, s->arena, out);
}

static int get_roots(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	uint64_t count;
	uint32_t *ixs;
	size_t kept = 0;

	TRY(hdb_root_count(ev->db, &count, ev->err));
	TRY(OQL_TAKE(ixs, s->arena, (size_t)count + 1, ev->err));
	for (uint64_t no = 0; no < count; no++) {
		struct hdb_root root = { .struct_size = sizeof(root) };

		TRY(hdb_root_at(ev->db, no, &root, ev->err));
		if (!root.is_local && (!kept || ixs[kept - 1] != root.ix))
			ixs[kept++] = root.ix;
	}
	assert(kept <= count);
	return oql_make_ids(ev, s->arena, ixs, kept, out);
}

static const struct attribute snapshot_attributes[] = {
	{ "classes", get_classes, 0 },
	{ "GCRoots", get_roots, 0 },
	{ NULL, NULL, 0 },
};

enum { OBJECTS, CLASSES, ROOTS, BYTES, ID_BYTES, TIME, PATH };

static int get_of_info(const struct subject *s, struct oql_value *out)
{
	struct hdb_health health = { .struct_size = sizeof(health) };

	*out = oql_int(0);
	switch (s->which) {
	case OBJECTS:
		TRY(oql_survey(s->ev));
		out->i = (int64_t)s->ev->reachable_count;
		return HDB_OK;
	case BYTES:
		TRY(oql_survey(s->ev));
		*out = oql_long((int64_t)s->ev->reachable_bytes);
		return HDB_OK;
	case CLASSES:
	case ROOTS:
		TRY(s->which == ROOTS ? get_roots(s, out) : get_classes(s, out));
		*out = oql_int((int64_t)out->list->count);
		return HDB_OK;
	case ID_BYTES:
		return oql_info(s, "id size", out);
	case TIME: /* MAT returns a Date. As ISO text, later dates also compare as greater. */
		*out = (struct oql_value){ 0 };
		return oql_info(s, "time", out);
	default:
		hdb_health(s->ev->db, &health);
		*out = oql_static_string(health.dump_path ? health.dump_path : "");
		return HDB_OK;
	}
}

/* Class loaders are the objects whose class is a subclass of ClassLoader. */
static int get_loader_count(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;

	*out = oql_int(0);
	TRY(oql_survey(ev));
	for (uint32_t no = 0; no < hdb_class_count(ev->db); no++)
		if (ev->class_sizes[no] && oql_is_a(ev, no, "java.lang.ClassLoader"))
			out->i += ev->class_sizes[no];
	return HDB_OK;
}

static const struct attribute info_attributes[] = {
	{ "numberOfObjects", get_of_info, OBJECTS },
	{ "numberOfClasses", get_of_info, CLASSES },
	{ "numberOfClassLoaders", get_loader_count, 0 },
	{ "numberOfGCRoots", get_of_info, ROOTS },
	{ "usedHeapSize", get_of_info, BYTES },
	{ "identifierSize", get_of_info, ID_BYTES },
	{ "creationDate", get_of_info, TIME },
	{ "path", get_of_info, PATH },
	{ NULL, NULL, 0 },
};

/* ---- the others ---- */

static int get_of_reference(const struct subject *s, struct oql_str name, struct oql_value *out)
{
	uint32_t ix;
	int r = HDB_OK;

	*out = (struct oql_value){ 0 };
	if (oql_is(name, "objectAddress")) {
		*out = oql_long(s->v->i);
	} else if (oql_is(name, "name") && s->v->text.data) {
		*out = (struct oql_value){ .type = OQL_V_STRING, .text = s->v->text };
	} else if (oql_is(name, "object") || oql_is(name, "objectId")) {
		r = oql_object_meant(s->ev, s->v, &ix);
		if (r < 0 || ix == HDB_NONE)
			return r;
		*out = oql_is(name, "object") ? oql_object(ix) : oql_int(0);
		if (out->type == OQL_V_INT)
			r = oql_number_of(s->ev, ix, &out->i);
	} else {
		return HDB_NOTFOUND;
	}
	return r;
}

static int get_of_row(const struct subject *s, struct oql_str name, struct oql_value *out)
{
	const struct oql_list *row = s->v->list;

	for (size_t i = 0; i < row->count; i++)
		if (oql_same(row->names[i], name)) {
			*out = row->values[i];
			return HDB_OK;
		}
	return HDB_NOTFOUND;
}

static int get_of_root(const struct subject *s, struct oql_str name, struct oql_value *out)
{
	const bool is_context = oql_is(name, "contextId") || oql_is(name, "contextAddress");
	const uint32_t ix = is_context ? (uint32_t)s->v->i : s->v->ix;
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	int r = HDB_OK;

	if (oql_is(name, "typeAsString")) {
		*out = (struct oql_value){ .type = OQL_V_STRING, .text = s->v->text };
	} else if (oql_is(name, "type")) {
		*out = oql_int(oql_root_kind(s->v->text.data)->mat_type);
	} else if (is_context && s->v->i < 0) {
		*out = oql_is(name, "contextId") ? oql_int(-1) : oql_long(0);
	} else if (oql_is(name, "objectId") || oql_is(name, "contextId")) {
		*out = oql_int(0);
		r = oql_number_of(s->ev, ix, &out->i);
	} else if (oql_is(name, "objectAddress") || is_context) {
		r = hdb_object_at(s->ev->db, ix, &facts, s->ev->err);
		*out = oql_long(r < 0 ? 0 : (int64_t)facts.id);
	} else {
		return HDB_NOTFOUND;
	}
	return r;
}

static int get_of_stack(const struct subject *s, struct oql_str name, struct oql_value *out)
{
	struct oql_value *values;

	if (!oql_is(name, "stackFrames"))
		return HDB_NOTFOUND;
	TRY(oql_make_list(s->ev, s->arena, s->v->ix, &values, out));
	for (uint32_t i = 0; i < s->v->ix; i++)
		values[i] = (struct oql_value){ .type = OQL_V_FRAME, .ix = i, .i = s->v->i };
	return HDB_OK;
}

static int get_of_frame(const struct subject *s, struct oql_str name, struct oql_value *out)
{
	struct bytes text = { .most = s->ev->budget.most_bytes };

	if (!oql_is(name, "text"))
		return HDB_NOTFOUND;
	return oql_end_string(s->ev, s->arena, oql_put_plain(s->ev, s->v, &text), &text, out);
}

static int get_of_field(const struct subject *s, struct oql_str name, struct oql_value *out)
{
	if (oql_is(name, "name"))
		*out = (struct oql_value){ .type = OQL_V_STRING, .text = s->v->text };
	else if (oql_is(name, "value"))
		*out = s->v->list->values[0];
	else if (oql_is(name, "type"))
		*out = oql_int(s->v->i);
	else if (oql_is(name, "verboseSignature"))
		*out = oql_static_string(oql_field_type(s->v));
	else
		return HDB_NOTFOUND;
	return HDB_OK;
}

int oql_attribute(struct oql_eval *ev, const struct oql_frame *frame, const struct oql_value *v,
		  struct oql_str name, struct oql_value *out)
{
	struct subject s = { .ev = ev, .arena = frame->arena, .v = v };

	assert(frame->arena);
	if (oql_is(name, "class")) {
		*out = oql_static_string(oql_java_class(ev, v));
		out->type = OQL_V_JAVA_CLASS;
		return HDB_OK;
	}
	switch (v->type) {
	case OQL_V_OBJECT:
		return oql_object_attribute(&s, name, out);
	case OQL_V_REFERENCE:
		return get_of_reference(&s, name, out);
	case OQL_V_LIST:
		if (!oql_is(name, "length") && !oql_is(name, "size"))
			return HDB_NOTFOUND;
		*out = oql_int((int64_t)v->list->count);
		return HDB_OK;
	case OQL_V_ROW:
		return get_of_row(&s, name, out);
	case OQL_V_ROOT:
		return get_of_root(&s, name, out);
	case OQL_V_FIELD:
		return get_of_field(&s, name, out);
	case OQL_V_STACK:
		return get_of_stack(&s, name, out);
	case OQL_V_FRAME:
		return get_of_frame(&s, name, out);
	case OQL_V_SNAPSHOT:
		if (oql_is(name, "snapshotInfo")) {
			*out = (struct oql_value){ .type = OQL_V_INFO };
			return HDB_OK;
		}
		return find(snapshot_attributes, &s, name, out);
	case OQL_V_INFO:
		return find(info_attributes, &s, name, out);
	case OQL_V_JAVA_CLASS:
		if (!oql_is(name, "name"))
			return HDB_NOTFOUND;
		*out = (struct oql_value){ .type = OQL_V_STRING, .text = v->text };
		return HDB_OK;
	default:
		return HDB_NOTFOUND;
	}
}

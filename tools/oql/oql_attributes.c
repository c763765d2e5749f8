/*
 * oql/oql_attributes.c - evaluates "@name" for any value: the snapshot, rows, roots, fields,
 * stacks, frames and objects.
 */
#include "base/sort.h"
#include "oql/oql_eval.h"

#include <stdio.h>

/* Private to oql: subject and tables of attributes. */

/* The value whose attribute is requested. */
struct subject {
	struct oql_eval *ev;
	struct oql_arena *arena;
	const struct oql_value *v;
	struct hdb_object_facts facts; /* facts about the value, if it is an object */
	int which;                     /* selects the attribute */
};

typedef int get_fn(const struct subject *s, struct oql_value *out);

struct attribute {
	const char *name;
	get_fn *get;
	int which; /* selects one of several attributes of a function */
};

static inline int find(const struct attribute *table, struct subject *s, struct oql_str name,
		       struct oql_value *out)
{
	for (const struct attribute *a = table; a->name; a++)
		if (oql_is(name, a->name)) {
			s->which = a->which;
			return a->get(s, out);
		}
	return HDB_NOTFOUND;
}

/* A kind of GC root: heapdb's name, MAT's name, and MAT's number. */
struct oql_root_kind {
	const char *kind, *mat_name;
	int mat_type;
};

/* ---- any object ---- */

/* Returns the class object of a class; null if the dump contains no class object for it. */
static int class_value(const struct subject *s, uint32_t class_no, struct oql_value *out)
{
	struct hdb_class class = { .struct_size = sizeof(class) };

	*out = (struct oql_value){ 0 };
	if (class_no == HDB_NONE)
		return HDB_OK;
	TRY(hdb_class_at(s->ev->db, class_no, &class, s->ev->err));
	if (class.object_ix != HDB_NONE)
		*out = oql_object(class.object_ix);
	return HDB_OK;
}

enum { ADDRESS, SHALLOW, LENGTH, SNAPSHOT, OBJECT_ID, CLASS_OBJECT };

static int get_fact(const struct subject *s, struct oql_value *out)
{
	switch (s->which) {
	case ADDRESS:
		*out = oql_long((int64_t)s->facts.id);
		return HDB_OK;
	case SHALLOW:
		*out = oql_long((int64_t)s->facts.shallow_bytes);
		return HDB_OK;
	case LENGTH:
		*out = oql_int((int64_t)s->facts.length);
		return HDB_OK;
	case SNAPSHOT:
		*out = (struct oql_value){ .type = OQL_V_SNAPSHOT };
		return HDB_OK;
	case OBJECT_ID:
		*out = oql_int(0);
		return oql_number_of(s->ev, s->v->ix, &out->i);
	default:
		return class_value(s, s->facts.class_no, out);
	}
}

static int get_retained(const struct subject *s, struct oql_value *out)
{
	uint64_t bytes = 0;
	const int r = hdb_retained_at(s->ev->db, s->v->ix, &bytes, s->ev->err);

	*out = oql_long((int64_t)bytes);
	return r;
}

enum { TECHNICAL, SPECIFIC, DISPLAY };

static int get_text(const struct subject *s, struct oql_value *out)
{
	struct bytes text = { .most = s->ev->budget.most_bytes };
	bool has = true;
	const int r = s->which == TECHNICAL ? oql_put_technical(s->ev, s->v->ix, &text) :
		      s->which == DISPLAY   ? oql_put_label(s->ev, s->v->ix, &text) :
					      oql_display(s->ev, s->v->ix, &text, &has);

	*out = (struct oql_value){ 0 };
	if (has)
		return oql_end_string(s->ev, s->arena, r, &text, out);
	bytes_release(&text);
	return r;
}

/* Finds a kind of root by heapdb's or MAT's name. Returns the first kind for an unknown name. */
static const struct oql_root_kind *oql_root_kind(const char *kind)
{
	static const struct oql_root_kind kinds[] = {
		{ "unknown", "Unknown", 1 },
		{ "sticky class", "System Class", 2 },
		{ "JNI local", "JNI Local", 4 },
		{ "JNI global", "JNI Global", 8 },
		{ "thread block", "Thread Block", 16 },
		{ "monitor used", "Busy Monitor", 32 },
		{ "Java frame", "Java Local", 64 },
		{ "native stack", "Native Stack", 128 },
		{ "thread object", "Thread", 256 },
		{ "finalizing", "Finalizable", 512 },
	};

	for (size_t i = 0; i < BASE_COUNT(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0 || strcmp(kinds[i].mat_name, kind) == 0)
			return &kinds[i];
	return &kinds[0];
}

static int read_threads(struct oql_eval *ev)
{
	const uint64_t count = hdb_thread_count(ev->db);
	struct hdb_thread thread = { .struct_size = sizeof(thread) };
	struct oql_thread *threads;

	if (ev->threads)
		return HDB_OK;
	TRY(OQL_TAKE(threads, &ev->keep, (size_t)count + 1, ev->err));
	for (uint64_t no = 0; no < count; no++) {
		TRY(hdb_thread_at(ev->db, no, &thread, ev->err));
		threads[no] = (struct oql_thread){
			.ix = thread.ix,
			.serial = thread.serial,
			.trace_serial = thread.trace_serial,
			.frame_count = thread.frame_count,
		};
	}
	if (count)
		qsort(threads, (size_t)count, sizeof(threads[0]), base_compare_u32);
	ev->threads = threads;
	ev->thread_count = (size_t)count;
	return HDB_OK;
}

static int get_root_info(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	struct oql_value *values;
	struct hdb_root root = { .struct_size = sizeof(root) };
	uint64_t first, count;
	size_t kept = 0;
	int r;

	*out = (struct oql_value){ 0 };
	TRY(hdb_roots_of(ev->db, s->v->ix, &first, &count, ev->err));
	if ((r = read_threads(ev)) < 0 || !count)
		return r;
	TRY(oql_make_list(ev, s->arena, (size_t)count, &values, out));
	for (uint64_t no = first; no < first + count; no++) {
		TRY(hdb_root_at(ev->db, no, &root, ev->err));
		if (root.is_local)
			continue;
		values[kept] = oql_static_string(oql_root_kind(root.kind)->mat_name);
		values[kept].type = OQL_V_ROOT;
		values[kept].ix = s->v->ix;
		values[kept].i = -1;
		for (size_t t = 0; root.thread_serial && t < ev->thread_count; t++)
			if (ev->threads[t].serial == root.thread_serial &&
			    ev->threads[t].ix != HDB_NONE && ev->threads[t].ix != s->v->ix)
				values[kept].i = ev->threads[t].ix;
		kept++;
	}
	assert(kept <= count);
	((struct oql_list *)(uintptr_t)out->list)->count = kept;
	if (!kept)
		*out = (struct oql_value){ 0 };
	return r;
}

static int set_reference(const struct subject *s, uint64_t id, const char *name,
			 struct oql_value *out)
{
	*out = (struct oql_value){
		.type = OQL_V_REFERENCE,
		.i = (int64_t)id,
		.text = { oql_take_text(s->arena, name, strlen(name), s->ev->err), strlen(name) },
	};
	return out->text.data ? HDB_OK : HDB_ELIMIT;
}

/* Counts the references of an object, except the reference to its class. */
static int count_references(const struct subject *s, size_t *count)
{
	const struct hdb_reference *reference;
	int r;

	*count = 0;
	TRY(hdb_references_begin(s->ev->references, s->v->ix, HDB_NONE, s->ev->err));
	while ((r = hdb_references_next(s->ev->references, &reference, s->ev->err)) == HDB_OK) {
		++*count;
		TRY(oql_tick(s->ev));
	}
	return r < 0 ? r : HDB_OK;
}

/* Lists all named references, like the SQL table `refs`. The reference to the class comes first. */
static int get_outbound(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	const struct hdb_reference *reference;
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	struct hdb_class class = { .struct_size = sizeof(class) };
	struct oql_value *values;
	size_t count, at = 0;
	char element[32];

	if (!ev->references)
		TRY(hdb_references_open(ev->db, NULL, &ev->references, ev->err));
	TRY(count_references(s, &count));
	TRY(oql_make_list(ev, s->arena, count + 1, &values, out));
	TRY(hdb_object_at(ev->db, s->v->ix, &facts, ev->err));
	TRY(hdb_class_at(ev->db, facts.class_no, &class, ev->err));
	TRY(set_reference(s, class.id, "<class>", &values[at++]));
	TRY(hdb_references_begin(ev->references, s->v->ix, HDB_NONE, ev->err));
	for (; at <= count; at++) {
		TRY(hdb_references_next(ev->references, &reference, ev->err));
		(void)snprintf(element, sizeof(element), "[%" PRIu64 "]", reference->element);
		TRY(set_reference(s, reference->to_id, reference->name ? reference->name : element,
				  &values[at]));
	}
	return HDB_OK;
}

static const struct attribute object_attributes[] = {
	{ "objectId", get_fact, OBJECT_ID },         { "objectAddress", get_fact, ADDRESS },
	{ "usedHeapSize", get_fact, SHALLOW },       { "retainedHeapSize", get_retained, 0 },
	{ "clazz", get_fact, CLASS_OBJECT },         { "technicalName", get_text, TECHNICAL },
	{ "classSpecificName", get_text, SPECIFIC }, { "displayName", get_text, DISPLAY },
	{ "GCRootInfo", get_root_info, 0 },          { "outboundReferences", get_outbound, 0 },
	{ "snapshot", get_fact, SNAPSHOT },          { NULL, NULL, 0 },
};

/* ---- instances ---- */

/* Describes fields without values, "int size" in MAT. */
static int get_descriptors(const struct subject *s, struct oql_value *out)
{
	const struct hdb_fields *fields;
	struct oql_value *values, *inner;
	size_t count, kept = 0;

	TRY(oql_class_fields(s->ev, s->facts.stands_for, false, &fields, &count));
	TRY(oql_make_list(s->ev, s->arena, count, &values, out));
	for (size_t i = 0; i < count; i++) {
		const struct hdb_field *field = hdb_field_at(fields, i);

		if (field->declaring_no != s->facts.stands_for)
			continue;
		TRY(oql_make_list(s->ev, s->arena, 1, &inner, &values[kept]));
		values[kept].type = OQL_V_FIELD;
		values[kept].i = field->type;
		values[kept].ix = 1;
		values[kept++].text = (struct oql_str){ field->name, strlen(field->name) };
	}
	((struct oql_list *)(uintptr_t)out->list)->count = kept;
	return HDB_OK;
}

/* Lists instance fields or static fields with their values. */
static int list_fields(const struct subject *s, const struct hdb_fields *fields, size_t count,
		       bool is_static, struct oql_value *out)
{
	struct oql_value *values, *inner;

	TRY(oql_make_list(s->ev, s->arena, count, &values, out));
	for (size_t i = 0; i < count; i++) {
		const struct hdb_field *field = hdb_field_at(fields, i);
		struct hdb_basic basic = field->value;

		TRY(oql_make_list(s->ev, s->arena, 1, &inner, &values[i]));
		values[i].type = OQL_V_FIELD;
		values[i].i = field->type;
		values[i].text = (struct oql_str){ field->name, strlen(field->name) };
		if (!is_static)
			TRY_FOUND(hdb_field_value(s->ev->db, s->v->ix, field, &basic, s->ev->err));
		TRY(oql_basic(s->ev, &basic, true, inner));
	}
	return HDB_OK;
}

static int get_fields(const struct subject *s, struct oql_value *out)
{
	const bool is_static = s->which;
	const struct hdb_fields *fields;
	size_t count;

	TRY(oql_class_fields(s->ev, is_static ? s->facts.stands_for : s->facts.class_no, is_static,
			     &fields, &count));
	return list_fields(s, fields, count, is_static, out);
}

/* Returns the key or value of a map entry. */
static int get_of_entry(const struct subject *s, struct oql_value *out)
{
	static const char *const paths[] = { "val", "key", "value" };
	struct hdb_basic basic;
	int r = hdb_path_value(s->ev->db, s->v->ix, paths[s->which], &basic, s->ev->err);

	if (r == HDB_NOTFOUND && s->which == 2)
		r = hdb_path_value(s->ev->db, s->v->ix, paths[0], &basic, s->ev->err);
	return r == HDB_OK ? oql_basic(s->ev, &basic, false, out) : r;
}

static const struct attribute instance_attributes[] = {
	{ "fields", get_fields, false },
	{ "key", get_of_entry, 1 },
	{ "value", get_of_entry, 2 },
	{ NULL, NULL, 0 },
};

/* ---- class loaders ---- */

static int get_defined(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	const uint32_t count = hdb_class_count(ev->db);
	const uint32_t loader = s->facts.is_real ? s->v->ix : HDB_NONE;
	uint8_t *marks;
	struct hdb_class class = { .struct_size = sizeof(class) };

	TRY(OQL_TAKE(marks, s->arena, (size_t)count + 1, ev->err));
	for (uint32_t no = 0; no < count; no++) {
		TRY(hdb_class_at(ev->db, no, &class, ev->err));
		marks[no] = class.loader_ix == loader ||
			    (loader == HDB_NONE && class.loader_ix == s->v->ix);
	}
	return oql_class_objects(ev, marks, s->arena, out);
}

static const struct attribute loader_attributes[] = {
	{ "definedClasses", get_defined, 0 },
	{ NULL, NULL, 0 },
};

/* ---- arrays ---- */

static int get_array(const struct subject *s, struct oql_value *out)
{
	struct oql_list *list;

	assert(s->facts.kind != HDB_KIND_INSTANCE);
	TRY(OQL_TAKE(list, s->arena, 1, s->ev->err));
	*list = (struct oql_list){
		.kind = OQL_L_ARRAY,
		.is_addresses = s->which,
		.count = (size_t)s->facts.length,
		.array_ix = s->v->ix,
	};
	*out = (struct oql_value){ .type = OQL_V_LIST, .list = list };
	return HDB_OK;
}

static const struct attribute primitive_attributes[] = {
	{ "length", get_fact, LENGTH },
	{ "valueArray", get_array, false },
	{ NULL, NULL, 0 },
};

static const struct attribute array_attributes[] = {
	{ "length", get_fact, LENGTH },
	{ "referenceArray", get_array, true },
	{ NULL, NULL, 0 },
};

/* ---- classes ---- */

/* Looks up a number or text of `heapdb info`. If there is no such value, *out stays unchanged. */
static int oql_info(const struct subject *s, const char *key, struct oql_value *out)
{
	struct hdb_rows *rows = NULL;
	struct oql_eval *ev = s->ev;
	int r = hdb_query(ev->db, "info", NULL, &rows, ev->err);

	while (r == HDB_OK && (r = hdb_rows_next(rows, ev->err)) == HDB_OK) {
		const struct hdb_value *name =
			hdb_rows_value(rows, hdb_rows_find_column(rows, "key"));
		const struct hdb_value *number =
			hdb_rows_value(rows, hdb_rows_find_column(rows, "number"));
		const struct hdb_value *text =
			hdb_rows_value(rows, hdb_rows_find_column(rows, "value"));

		if (!oql_is((struct oql_str){ name->text, name->text_size }, key))
			continue;
		if (number->type != HDB_TYPE_NULL)
			*out = oql_int((int64_t)number->u);
		else if (text->type == HDB_TYPE_TEXT)
			out->text = (struct oql_str){ oql_take_text(s->arena, text->text,
								    text->text_size, ev->err),
						      text->text_size };
		if (out->text.data)
			out->type = OQL_V_STRING;
	}
	hdb_rows_close(rows);
	return r < 0 ? r : HDB_OK;
}

enum {
	NAME,
	COUNT,
	INSTANCE_BYTES,
	SUPER,
	SUPER_ID,
	LOADER_ADDRESS,
	LOADER_ID,
	IS_ARRAY,
	OBJECT_IDS
};

/* Returns MAT's object number, or `none` for HDB_NONE. */
static int object_number(const struct subject *s, uint32_t ix, int64_t none, struct oql_value *out)
{
	*out = oql_int(none);
	return ix == HDB_NONE ? HDB_OK : oql_number_of(s->ev, ix, &out->i);
}

/*
 * Returns the instance size of a class. For arrays, the result is the size of a reference
 * regardless of the element type, as in MAT.
 */
static int instance_size(const struct subject *s, const struct hdb_class *class,
			 struct oql_value *out)
{
	struct oql_value bytes = oql_int(0);

	*out = oql_long((int64_t) class->instance_bytes);
	if (!class->is_array)
		return HDB_OK;
	if (!s->ev->reference_bytes) {
		TRY(oql_info(s, "reference", &bytes));
		s->ev->reference_bytes = bytes.i;
	}
	out->i = s->ev->reference_bytes;
	return HDB_OK;
}

static int get_class_fact(const struct subject *s, struct oql_value *out)
{
	const uint32_t class_no = s->facts.stands_for;
	struct hdb_class class = { .struct_size = sizeof(class) };

	TRY(hdb_class_at(s->ev->db, class_no, &class, s->ev->err));
	switch (s->which) {
	case NAME:
		*out = oql_static_string(hdb_class_name(s->ev->db, class_no));
		return HDB_OK;
	case COUNT:
		TRY(oql_survey(s->ev));
		*out = oql_int((int64_t)s->ev->class_sizes[class_no]);
		return HDB_OK;
	case INSTANCE_BYTES:
		return instance_size(s, &class, out);
	case SUPER:
		return class_value(s, class.super_no, out);
	case SUPER_ID:
		TRY(class_value(s, class.super_no, out));
		return object_number(s, out->type == OQL_V_OBJECT ? out->ix : HDB_NONE, -1, out);
	case LOADER_ADDRESS:
		*out = oql_long((int64_t) class.loader_id);
		return HDB_OK;
	case LOADER_ID: /* the boot loader is MAT's first object */
		return object_number(s, class.loader_ix, 0, out);
	case IS_ARRAY:
		*out = oql_bool(class.is_array);
		return HDB_OK;
	default:
		return oql_instances(s->ev, class_no, s->arena, out);
	}
}

static int get_subclasses(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	const uint32_t count = hdb_class_count(ev->db), me = s->facts.stands_for;
	uint8_t *marks;
	struct hdb_class class = { .struct_size = sizeof(class) };

	TRY(OQL_TAKE(marks, s->arena, (size_t)count + 1, ev->err));
	for (uint32_t no = 0; no < count; no++) {
		TRY(hdb_class_at(ev->db, no, &class, ev->err));
		marks[no] = no != me &&
			    (s->which ? hdb_is_subclass(ev->db, no, me) : class.super_no == me);
	}
	return oql_class_objects(ev, marks, s->arena, out);
}

static const struct attribute class_attributes[] = {
	{ "name", get_class_fact, NAME },
	{ "numberOfObjects", get_class_fact, COUNT },
	{ "heapSizePerInstance", get_class_fact, INSTANCE_BYTES },
	{ "superClass", get_class_fact, SUPER },
	{ "superClassId", get_class_fact, SUPER_ID },
	{ "classLoaderAddress", get_class_fact, LOADER_ADDRESS },
	{ "classLoaderId", get_class_fact, LOADER_ID },
	{ "arrayType", get_class_fact, IS_ARRAY },
	{ "allSubclasses", get_subclasses, true },
	{ "subclasses", get_subclasses, false },
	{ "fieldDescriptors", get_descriptors, 0 },
	{ "staticFields", get_fields, true },
	{ "objectIds", get_class_fact, OBJECT_IDS },
	{ NULL, NULL, 0 },
};

/*
 * Evaluates an attribute of a heap object, filling s->facts. Returns HDB_NOTFOUND if there is no
 * such attribute.
 */
static int oql_object_attribute(struct subject *s, struct oql_str name, struct oql_value *out)
{
	int r;

	assert(s->v->type == OQL_V_OBJECT);
	TRY(hdb_object_at(s->ev->db, s->v->ix, &s->facts, s->ev->err));
	r = find(object_attributes, s, name, out);
	if (r != HDB_NOTFOUND)
		return r;
	switch (s->facts.kind) {
	case HDB_KIND_CLASS:
		return find(class_attributes, s, name, out);
	case HDB_KIND_OBJECT_ARRAY:
		return find(array_attributes, s, name, out);
	case HDB_KIND_PRIMITIVE_ARRAY:
		return find(primitive_attributes, s, name, out);
	case HDB_KIND_INSTANCE:
		break;
	}
	if (oql_is_a(s->ev, s->facts.class_no, "java.lang.ClassLoader") &&
	    (r = find(loader_attributes, s, name, out)) != HDB_NOTFOUND)
		return r;
	return find(instance_attributes, s, name, out);
}

/* ---- stacks ---- */

int oql_stack_of(struct oql_eval *ev, uint32_t ix, struct oql_value *out)
{
	const struct oql_thread key = { .ix = ix };
	const struct oql_thread *found;

	*out = (struct oql_value){ 0 };
	TRY(read_threads(ev));
	found = ev->thread_count ? bsearch(&key, ev->threads, ev->thread_count,
					   sizeof(ev->threads[0]), base_compare_u32) :
				   NULL;
	if (found)
		*out = (struct oql_value){
			.type = OQL_V_STACK,
			.ix = found->frame_count,
			.i = found->trace_serial,
		};
	return HDB_OK;
}

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
		out->i = s->ev->reachable.count;
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
	/*
	 * MAT returns a Date. An ISO string is returned instead, because it sorts by date as well.
	 */
	case TIME:
		*out = (struct oql_value){ 0 };
		return oql_info(s, "time", out);
	default:
		hdb_health(s->ev->db, &health);
		*out = oql_static_string(health.dump_path ? health.dump_path : "");
		return HDB_OK;
	}
}

/* Counts class loaders: the objects whose class is a subclass of ClassLoader. */
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

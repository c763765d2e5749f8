/*
 * oql/oql_attributes.c - "@name" of objects of the heap: what MAT's own objects have as Java beans.
 */
#include "oql/oql_attributes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- any object ---- */

static int get_object_id(const struct subject *s, struct oql_value *out)
{
	*out = oql_int(0);
	return oql_number_of(s->ev, s->v->ix, &out->i);
}

static int get_object_address(const struct subject *s, struct oql_value *out)
{
	*out = oql_long((int64_t)s->facts.id);
	return HDB_OK;
}

static int get_used(const struct subject *s, struct oql_value *out)
{
	*out = oql_long((int64_t)s->facts.shallow_bytes);
	return HDB_OK;
}

static int get_retained(const struct subject *s, struct oql_value *out)
{
	uint64_t bytes = 0;
	const int r = hdb_retained_at(s->ev->db, s->v->ix, &bytes, s->ev->err);

	*out = oql_long((int64_t)bytes);
	return r;
}

/* A class as its class object; null: the dump has none. */
static int class_value(const struct subject *s, uint32_t class_no, struct oql_value *out)
{
	struct hdb_class class;
	int r = HDB_OK;

	*out = (struct oql_value){ 0 };
	if (class_no != HDB_NONE)
		r = hdb_class_at(s->ev->db, class_no, &class, s->ev->err);
	if (r != HDB_OK)
		return r;
	if (class_no != HDB_NONE && class.object_ix != HDB_NONE)
		*out = oql_object(class.object_ix);
	return r;
}

static int get_clazz(const struct subject *s, struct oql_value *out)
{
	return class_value(s, s->facts.class_no, out);
}

static int get_technical(const struct subject *s, struct oql_value *out)
{
	struct oql_text text = { .budget = &s->ev->budget };
	const int r = oql_put_technical(s->ev, s->v->ix, &text);

	return oql_end_string(s->ev, s->arena, r, &text, out);
}

static int get_specific(const struct subject *s, struct oql_value *out)
{
	struct oql_text text = { .budget = &s->ev->budget };
	bool has;
	const int r = oql_display(s->ev, s->v->ix, &text, &has);

	*out = (struct oql_value){ 0 };
	if (r == HDB_OK && has)
		return oql_end_string(s->ev, s->arena, r, &text, out);
	oql_text_release(&text);
	return r;
}

static int get_display(const struct subject *s, struct oql_value *out)
{
	struct oql_text text = { .budget = &s->ev->budget };
	const int r = oql_put_label(s->ev, s->v->ix, &text);

	return oql_end_string(s->ev, s->arena, r, &text, out);
}

const struct oql_root_kind *oql_root_kind(const char *kind)
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

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].kind, kind) == 0 || strcmp(kinds[i].mat_name, kind) == 0)
			return &kinds[i];
	return &kinds[0];
}

static int by_object(const void *a, const void *b)
{
	const struct oql_thread *x = a, *y = b;

	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

static int read_threads(struct oql_eval *ev)
{
	const uint64_t count = hdb_thread_count(ev->db);
	struct hdb_thread thread;
	struct oql_thread *threads;

	if (ev->threads)
		return HDB_OK;
	threads = oql_take(&ev->keep, (size_t)count + 1, sizeof(threads[0]), ev->err);
	if (!threads)
		return HDB_ELIMIT;
	for (uint64_t no = 0; no < count; no++) {
		TRY_ERRORS(hdb_thread_at(ev->db, no, &thread, ev->err));
		threads[no] = (struct oql_thread){
			.ix = thread.ix,
			.serial = thread.serial,
			.trace_serial = thread.trace_serial,
			.frame_count = thread.frame_count,
		};
	}
	if (count)
		qsort(threads, (size_t)count, sizeof(threads[0]), by_object);
	ev->threads = threads;
	ev->thread_count = (size_t)count;
	return HDB_OK;
}

static int get_root_info(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	struct oql_value *values;
	struct hdb_root root;
	uint64_t first, count;
	size_t kept = 0;
	int r;

	*out = (struct oql_value){ 0 };
	TRY_ERRORS(hdb_roots_of(ev->db, s->v->ix, &first, &count, ev->err));
	if ((r = read_threads(ev)) < 0 || !count)
		return r;
	values = oql_make_list(ev, s->arena, (size_t)count, out);
	if (!values)
		return HDB_ELIMIT;
	for (uint64_t no = first; no < first + count; no++) {
		TRY_ERRORS(hdb_root_at(ev->db, no, &root, ev->err));
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

static int get_outbound(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	struct oql_value ids, *values;
	char how[1024];
	int r;

	TRY_ERRORS(oql_relatives(ev, HDB_REFERENCES, s->v->ix, s->arena, &ids));
	values = oql_make_list(ev, s->arena, ids.list->count, out);
	if (!values)
		return HDB_ELIMIT;
	assert(ids.list->kind == OQL_L_IDS);
	for (size_t i = 0; i < ids.list->count; i++) {
		const uint32_t ix = ids.list->ixs[i];
		struct hdb_object_facts facts;

		TRY_ERRORS(hdb_object_at(ev->db, ix, &facts, ev->err));
		if (i == 0)
			strcpy(how, "<class>");
		else if ((r = hdb_holder(ev->db, s->v->ix, ix, how, sizeof(how), ev->err)) < 0)
			return r;
		values[i] = (struct oql_value){
			.type = OQL_V_REFERENCE,
			.i = (int64_t)facts.id,
			.text = { oql_take_text(s->arena, how, strlen(how), ev->err), strlen(how) },
		};
		if (!values[i].text.data)
			return HDB_ELIMIT;
	}
	return HDB_OK;
}

static int get_snapshot(const struct subject *s, struct oql_value *out)
{
	(void)s;
	*out = (struct oql_value){ .type = OQL_V_SNAPSHOT };
	return HDB_OK;
}

static const struct attribute object_attributes[] = {
	{ "objectId", get_object_id },
	{ "objectAddress", get_object_address },
	{ "usedHeapSize", get_used },
	{ "retainedHeapSize", get_retained },
	{ "clazz", get_clazz },
	{ "technicalName", get_technical },
	{ "classSpecificName", get_specific },
	{ "displayName", get_display },
	{ "GCRootInfo", get_root_info },
	{ "outboundReferences", get_outbound },
	{ "snapshot", get_snapshot },
	{ NULL, NULL },
};

/* ---- instances ---- */

/* What a field is, without its value: "int size" to MAT. */
static int get_descriptors(const struct subject *s, struct oql_value *out)
{
	const struct hdb_field *fields;
	struct oql_value *values;
	size_t count, kept = 0;

	TRY_ERRORS(oql_class_fields(s->ev, s->facts.stands_for, false, &fields, &count));
	values = oql_make_list(s->ev, s->arena, count, out);
	if (!values)
		return HDB_ELIMIT;
	for (size_t i = 0; i < count; i++) {
		if (fields[i].declaring_no != s->facts.stands_for)
			continue;
		if (!oql_make_list(s->ev, s->arena, 1, &values[kept]))
			return HDB_ELIMIT;
		values[kept].type = OQL_V_FIELD;
		values[kept].i = fields[i].type;
		values[kept].ix = 1;
		values[kept++].text = (struct oql_str){ fields[i].name, strlen(fields[i].name) };
	}
	((struct oql_list *)(uintptr_t)out->list)->count = kept;
	return HDB_OK;
}

/* A list of fields with their values, those of the object or static ones. */
static int list_fields(const struct subject *s, const struct hdb_field *fields, size_t count,
		       bool is_static, struct oql_value *out)
{
	struct oql_value *values = oql_make_list(s->ev, s->arena, count, out);

	if (!values)
		return HDB_ELIMIT;
	for (size_t i = 0; i < count; i++) {
		struct oql_value *inner = oql_make_list(s->ev, s->arena, 1, &values[i]);
		struct hdb_basic basic = fields[i].value;

		if (!inner)
			return HDB_ELIMIT;
		values[i].type = OQL_V_FIELD;
		values[i].i = fields[i].type;
		values[i].text = (struct oql_str){ fields[i].name, strlen(fields[i].name) };
		if (!is_static) {
			const int r = hdb_field_value(s->ev->db, s->v->ix, &fields[i], &basic,
						      s->ev->err);

			if (r != HDB_OK)
				return r < 0 ? r : HDB_OK;
		}
		TRY_ERRORS(oql_basic(s->ev, &basic, true, inner));
	}
	return HDB_OK;
}

static int get_fields(const struct subject *s, struct oql_value *out)
{
	const struct hdb_field *fields;
	size_t count;

	TRY_ERRORS(oql_class_fields(s->ev, s->facts.class_no, false, &fields, &count));
	return list_fields(s, fields, count, false, out);
}

static int path_of(const struct subject *s, const char *path, struct oql_value *out)
{
	struct hdb_basic basic;
	int r = hdb_path_value(s->ev->db, s->v->ix, path, &basic, s->ev->err);

	return r == HDB_OK ? oql_basic(s->ev, &basic, false, out) : r;
}

/* Entries of maps. */
static int get_key(const struct subject *s, struct oql_value *out)
{
	return path_of(s, "key", out);
}

static int get_value(const struct subject *s, struct oql_value *out)
{
	const int r = path_of(s, "value", out);

	return r == HDB_NOTFOUND ? path_of(s, "val", out) : r;
}

static const struct attribute instance_attributes[] = {
	{ "fields", get_fields },
	{ "key", get_key },
	{ "value", get_value },
	{ NULL, NULL },
};

/* ---- class loaders ---- */

static int get_defined(const struct subject *s, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	const uint32_t count = hdb_class_count(ev->db);
	const uint32_t loader = s->facts.is_real ? s->v->ix : HDB_NONE;
	uint8_t *marks = oql_take(s->arena, (size_t)count + 1, 1, ev->err);
	struct hdb_class class;

	if (!marks)
		return HDB_ELIMIT;
	for (uint32_t no = 0; no < count; no++) {
		TRY_ERRORS(hdb_class_at(ev->db, no, &class, ev->err));
		marks[no] = class.loader_ix == loader ||
			    (loader == HDB_NONE && class.loader_ix == s->v->ix);
	}
	return oql_class_objects(ev, marks, s->arena, out);
}

static const struct attribute loader_attributes[] = {
	{ "definedClasses", get_defined },
	{ NULL, NULL },
};

/* ---- arrays ---- */

static int get_length(const struct subject *s, struct oql_value *out)
{
	*out = oql_int((int64_t)s->facts.length);
	return HDB_OK;
}

static int array_of(const struct subject *s, bool is_addresses, struct oql_value *out)
{
	struct oql_list *list = oql_take(s->arena, 1, sizeof(*list), s->ev->err);

	assert(s->facts.kind != HDB_KIND_INSTANCE);
	if (!list)
		return HDB_ELIMIT;
	*list = (struct oql_list){
		.kind = OQL_L_ARRAY,
		.is_addresses = is_addresses,
		.count = (size_t)s->facts.length,
		.array_ix = s->v->ix,
	};
	*out = (struct oql_value){ .type = OQL_V_LIST, .list = list };
	return HDB_OK;
}

static int get_values(const struct subject *s, struct oql_value *out)
{
	return array_of(s, false, out);
}

static int get_references(const struct subject *s, struct oql_value *out)
{
	return array_of(s, true, out);
}

static const struct attribute primitive_attributes[] = {
	{ "length", get_length },
	{ "valueArray", get_values },
	{ NULL, NULL },
};

static const struct attribute array_attributes[] = {
	{ "length", get_length },
	{ "referenceArray", get_references },
	{ NULL, NULL },
};

/* ---- classes ---- */

static int class_of(const struct subject *s, struct hdb_class *class)
{
	return hdb_class_at(s->ev->db, s->facts.stands_for, class, s->ev->err);
}

static int get_name(const struct subject *s, struct oql_value *out)
{
	return name_of(s, hdb_class_name(s->ev->db, s->facts.stands_for), out);
}

static int get_instances(const struct subject *s, struct oql_value *out)
{
	const int r = oql_survey(s->ev);

	*out = oql_int(r < 0 ? 0 : (int64_t)s->ev->class_sizes[s->facts.stands_for]);
	return r;
}

/* The column of a row of `heapdb info`; NULL: it has none. */
static const struct hdb_value *info_cell(struct hdb_rows *rows, const char *name)
{
	for (size_t i = 0; i < hdb_rows_column_count(rows); i++)
		if (strcmp(hdb_rows_column(rows, i)->name, name) == 0)
			return hdb_rows_value(rows, i);
	return NULL;
}

int oql_info(const struct subject *s, const char *key, struct oql_value *out)
{
	struct hdb_rows *rows = NULL;
	struct oql_eval *ev = s->ev;
	int r = hdb_query(ev->db, "info", NULL, &rows, ev->err);

	while (r == HDB_OK && (r = hdb_rows_next(rows, ev->err)) == HDB_OK) {
		const struct hdb_value *name = info_cell(rows, "key"),
				       *number = info_cell(rows, "number"),
				       *text = info_cell(rows, "value");

		if (!name || name->text_size != strlen(key) ||
		    memcmp(name->text, key, strlen(key)) != 0)
			continue;
		if (number && number->type != HDB_TYPE_NULL)
			*out = oql_int((int64_t)number->u);
		else if (text && text->type == HDB_TYPE_TEXT)
			out->text = (struct oql_str){ oql_take_text(s->arena, text->text,
								    text->text_size, ev->err),
						      text->text_size };
		if (out->text.data)
			out->type = OQL_V_STRING;
	}
	hdb_rows_close(rows);
	return r < 0 ? r : HDB_OK;
}

/* Of arrays: MAT says the bytes of a reference, whatever their elements are. */
static int get_instance_size(const struct subject *s, struct oql_value *out)
{
	struct hdb_class class;
	int r = class_of(s, &class);

	*out = oql_long(r < 0 ? 0 : (int64_t) class.instance_bytes);
	if (r != HDB_OK)
		return r;
	if (class.is_array && !s->ev->reference_bytes) {
		struct oql_value bytes = oql_int(0);

		TRY(oql_info(s, "reference", &bytes));
		s->ev->reference_bytes = bytes.i;
	}
	if (class.is_array)
		out->i = s->ev->reference_bytes;
	return r;
}

static int get_super(const struct subject *s, struct oql_value *out)
{
	struct hdb_class class;
	const int r = class_of(s, &class);

	return r < 0 ? r : class_value(s, class.super_no, out);
}

static int get_super_id(const struct subject *s, struct oql_value *out)
{
	struct oql_value super;
	int r = get_super(s, &super);

	*out = oql_int(-1);
	if (r != HDB_OK)
		return r;
	if (super.type == OQL_V_OBJECT)
		r = oql_number_of(s->ev, super.ix, &out->i);
	return r;
}

static int get_loader_address(const struct subject *s, struct oql_value *out)
{
	struct hdb_class class;
	const int r = class_of(s, &class);

	*out = oql_long(r < 0 ? 0 : (int64_t) class.loader_id);
	return r;
}

/* The boot loader is MAT's first object. */
static int get_loader_id(const struct subject *s, struct oql_value *out)
{
	struct hdb_class class;
	const int r = class_of(s, &class);

	*out = oql_int(0);
	return r < 0 || class.loader_ix == HDB_NONE ?
		       r :
		       oql_number_of(s->ev, class.loader_ix, &out->i);
}

static int get_is_array(const struct subject *s, struct oql_value *out)
{
	struct hdb_class class;

	TRY_ERRORS(class_of(s, &class));
	*out = oql_bool(class.is_array);
	return HDB_OK;
}

static int subclasses(const struct subject *s, bool all, struct oql_value *out)
{
	struct oql_eval *ev = s->ev;
	const uint32_t count = hdb_class_count(ev->db), me = s->facts.stands_for;
	uint8_t *marks = oql_take(s->arena, (size_t)count + 1, 1, ev->err);
	struct hdb_class class;

	if (!marks)
		return HDB_ELIMIT;
	for (uint32_t no = 0; no < count; no++) {
		TRY_ERRORS(hdb_class_at(ev->db, no, &class, ev->err));
		marks[no] =
			no != me && (all ? hdb_is_subclass(ev->db, no, me) : class.super_no == me);
	}
	return oql_class_objects(ev, marks, s->arena, out);
}

static int get_all_subclasses(const struct subject *s, struct oql_value *out)
{
	return subclasses(s, true, out);
}

static int get_subclasses(const struct subject *s, struct oql_value *out)
{
	return subclasses(s, false, out);
}

static int get_statics(const struct subject *s, struct oql_value *out)
{
	const struct hdb_field *fields;
	size_t count;

	TRY_ERRORS(oql_class_fields(s->ev, s->facts.stands_for, true, &fields, &count));
	return list_fields(s, fields, count, true, out);
}

static int get_object_ids(const struct subject *s, struct oql_value *out)
{
	return oql_instances(s->ev, s->facts.stands_for, s->arena, out);
}

static const struct attribute class_attributes[] = {
	{ "name", get_name },
	{ "numberOfObjects", get_instances },
	{ "heapSizePerInstance", get_instance_size },
	{ "superClass", get_super },
	{ "superClassId", get_super_id },
	{ "classLoaderAddress", get_loader_address },
	{ "classLoaderId", get_loader_id },
	{ "arrayType", get_is_array },
	{ "allSubclasses", get_all_subclasses },
	{ "subclasses", get_subclasses },
	{ "fieldDescriptors", get_descriptors },
	{ "staticFields", get_statics },
	{ "objectIds", get_object_ids },
	{ NULL, NULL },
};

int oql_object_attribute(struct subject *s, struct oql_str name, struct oql_value *out)
{
	int r;

	assert(s->v->type == OQL_V_OBJECT);
	TRY_ERRORS(hdb_object_at(s->ev->db, s->v->ix, &s->facts, s->ev->err));
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
	TRY_ERRORS(read_threads(ev));
	found = ev->thread_count ? bsearch(&key, ev->threads, ev->thread_count,
					   sizeof(ev->threads[0]), by_object) :
				   NULL;
	if (found)
		*out = (struct oql_value){
			.type = OQL_V_STACK,
			.ix = found->frame_count,
			.i = found->trace_serial,
		};
	return HDB_OK;
}

/*
 * queries/objects/q_instances.c - the instances query: the objects of a class or of all classes
 * that match a pattern, with their fields as columns.
 */
#include "analysis/members.h"
#include "heap/known.h"
#include "queries/queries.h"

/* Maximum number of fields with a column. */
#define FIELDS_MAX 12
/* Maximum number of objects examined to determine the type of a field. */
#define PROBES_MAX 256
/* Maximum number of bytes in a field path. */
#define PATH_SIZE 256
/* Maximum number of bytes in a value's text. */
#define VALUE_SIZE 1024

#define FIELD_COLUMN(name) \
	{ \
		name, HDB_TYPE_TEXT, name, "Field value. The column has the field's name." \
	}

#include <queries/objects/q_instances.query.h>

struct instances {
	struct analysis_members members; /* counted, not listed */
	struct analysis_member_list list;
	unsigned field_count;
	bool has_retained;
	char path[FIELDS_MAX][PATH_SIZE];
};

/* ---- choosing fields ---- */

static int add_path(struct instances *s, const char *path, size_t size, struct hdb_error *err)
{
	if (s->field_count == FIELDS_MAX)
		return hdb_fail(err, HDB_EUSAGE, "too many names in --fields (limit %d)",
				FIELDS_MAX);
	if (!size || size >= PATH_SIZE)
		return hdb_fail(err, HDB_EUSAGE, "expected field names in --fields, not \"%.*s\"",
				(int)(size < 80 ? size : 80), path);
	memcpy(s->path[s->field_count], path, size);
	s->path[s->field_count++][size] = '\0';
	return HDB_OK;
}

static int read_fields(struct instances *s, const char *list, struct hdb_error *err)
{
	for (const char *p = list;; p++) {
		const size_t size = strcspn(p, ",");

		TRY(add_path(s, p, size, err));
		p += size;
		if (!*p)
			return HDB_OK;
	}
}

/* Adds the fields of the class, then the fields of its superclasses. Each name is added once. */
static int add_class_fields(struct query *q, struct instances *s, uint32_t class_no,
			    struct hdb_error *err)
{
	for (uint32_t steps = 0; class_no != STORE_NONE && steps <= q->heap->class_count; steps++) {
		const struct store_class *class = heap_class(q->heap, class_no);

		for (uint32_t f = 0; f < class->field_count; f++) {
			struct store_field field;
			char name[PATH_SIZE] = "";
			bool is_new = true;

			TRY(heap_field(q->heap, class->first_field + f, &field, err));
			TRY(heap_text(q->heap, field.name_text, name, sizeof(name), err));
			for (unsigned i = 0; i < s->field_count; i++)
				is_new &= strcmp(s->path[i], name) != 0;
			if (!is_new || !name[0] || strchr(name, '.'))
				continue;
			if (s->field_count == FIELDS_MAX)
				return HDB_OK;
			TRY(add_path(s, name, strlen(name), err));
		}
		class_no = class->super_no;
	}
	return HDB_OK;
}

static enum hdb_type column_type(uint8_t type)
{
	switch (type) {
	case HPROF_FLOAT:
	case HPROF_DOUBLE:
		return HDB_TYPE_DOUBLE;
	case HPROF_BOOLEAN:
		return HDB_TYPE_BOOL;
	case HPROF_BYTE:
	case HPROF_SHORT:
	case HPROF_INT:
	case HPROF_LONG:
		return HDB_TYPE_INT;
	default:
		return HDB_TYPE_TEXT;
	}
}

/* Chooses the objects that are examined to determine the types of fields. */
static int first_members(struct query *q, const struct instances *s, uint32_t *ixs, uint64_t *count,
			 struct hdb_error *err)
{
	BASE_SCOPED(analysis_member_list_release) struct analysis_member_list list = { 0 };

	while (*count < PROBES_MAX && s->field_count) {
		TRY_FOUND(analysis_member_list_next(&q->session, &s->members, &list, &ixs[*count],
						    err));
		(*count)++;
	}
	return HDB_OK;
}

/* Returns whether another column has this name, ignoring case. */
static bool is_taken(const char *name)
{
	for (size_t i = 0; i < BASE_COUNT(instances_columns); i++)
		if ((i < FIRST_FIELD || i >= FIRST_FIELD + FIELDS_MAX) &&
		    strcasecmp(instances_columns[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Finds the class that declares a field of the requested class. Sets *out to HEAP_NONE if it is
 * unknown.
 */
static int declaring_class(struct query *q, const struct instances *s, const char *name,
			   uint32_t *out, struct hdb_error *err)
{
	uint32_t class_no = s->members.class_no;

	*out = HEAP_NONE;
	for (uint32_t steps = 0; class_no != HEAP_NONE && steps <= q->heap->class_count; steps++) {
		const struct store_class *class = heap_class(q->heap, class_no);

		for (uint32_t f = 0; f < class->field_count; f++) {
			struct store_field field;
			char text[PATH_SIZE] = "";

			TRY(heap_field(q->heap, class->first_field + f, &field, err));
			TRY(heap_text(q->heap, field.name_text, text, sizeof(text), err));
			if (strcmp(text, name) == 0) {
				*out = class_no;
				return HDB_OK;
			}
		}
		class_no = class->super_no;
	}
	return HDB_OK;
}

/*
 * Renames the column of a field to the name of the field, or to Class.name if another column
 * already has the name.
 */
static int rename_column(struct query *q, const struct instances *s, unsigned f, enum hdb_type type,
			 struct hdb_error *err)
{
	const char *name = s->path[f], *class_name = "field", *dot;
	char longer[2 * PATH_SIZE];
	uint32_t class_no;

	if (!is_taken(name)) {
		query_rename(q, FIRST_FIELD + f, name, type);
		return HDB_OK;
	}
	TRY(declaring_class(q, s, name, &class_no, err));
	if (class_no != HEAP_NONE)
		class_name = heap_class_name(q->heap, class_no);
	dot = strrchr(class_name, '.');
	(void)snprintf(longer, sizeof(longer), "%.*s.%s", PATH_SIZE - 1, dot ? dot + 1 : class_name,
		       name);
	query_rename(q, FIRST_FIELD + f, longer, type);
	return HDB_OK;
}

/*
 * Names the columns of fields. A column has the type of the field in the first object that has the
 * field.
 */
static int name_columns(struct query *q, struct instances *s, struct hdb_error *err)
{
	char names[1024];
	uint32_t ixs[PROBES_MAX];
	size_t used;
	uint64_t count = 0;
	int r = first_members(q, s, ixs, &count, err);

	TRY(r);
	used = (size_t)snprintf(names, sizeof(names), "id,label,shallow%s,reachable",
				s->has_retained ? ",retained" : "");
	for (unsigned f = 0; f < s->field_count; f++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, ",field%u", f + 1);
	/* Choose the columns before renaming them, because new names may clash with others. */
	query_choose(q, names);
	for (unsigned f = 0; f < s->field_count; f++) {
		enum hdb_type type = HDB_TYPE_TEXT;
		bool has = false;

		for (uint64_t i = 0; i < count && !has; i++) {
			struct heap_value value;

			TRY_ERRORS(r = heap_path_value(q->heap, ixs[i], s->path[f], &value, err));
			has = r == HDB_OK;
			if (has)
				type = column_type(value.type);
		}
		TRY(rename_column(q, s, f, type, err));
	}
	return HDB_OK;
}

static int open_instances(struct query *q, struct hdb_error *err)
{
	struct instances *s = q->state;
	const char *fields;

	s->has_retained = !query_option(q, "no-retained");
	TRY(analysis_members_count(&q->session, q->targets[0],
				   query_option(q, "subclasses") != NULL, &s->members, err));
	fields = query_option(q, "fields");
	if (fields)
		TRY(read_fields(s, fields, err));
	else if (s->members.class_no != HEAP_NONE)
		TRY(add_class_fields(q, s, s->members.class_no, err));
	TRY(name_columns(q, s, err));
	if (s->has_retained)
		TRY(derive_need(q->derive, STORE_RETAINED, err));
	else
		q->extra.retained_native = SIZE_MAX;
	query_fact_text(q, "class", q->targets[0]);
	query_fact(q, "objects", s->members.count);
	query_report_unreachable(q, s->members.unreachable_count, s->members.unreachable_bytes);
	q->total = q->population == ANALYSIS_OF_ALL       ? s->members.count :
		   q->population == ANALYSIS_OF_REACHABLE ? s->members.reachable_count :
							    s->members.unreachable_count;
	return HDB_OK;
}

/* ---- rows ---- */

static int set_reference(struct query *q, size_t column, uint64_t id, struct hdb_error *err)
{
	char text[VALUE_SIZE];
	uint32_t ix;
	int r;

	if (!id)
		return HDB_OK;
	TRY_ERRORS(r = heap_find(q->heap, id, &ix, err));
	if (r == HDB_NOTFOUND) {
		query_set_text(q, column, "not in the dump");
	} else if (heap_is_string(q->heap, ix)) {
		TRY(heap_string(q->heap, ix, text, sizeof(text), err));
		query_set_text(q, column, text);
	} else {
		query_set_label(q, column, ix);
	}
	return HDB_OK;
}

static int set_field(struct query *q, size_t column, const char *path, uint32_t ix,
		     struct hdb_error *err)
{
	const enum hdb_type type = query_spec_column(q, column)->type;
	struct heap_value value;
	char text[64];
	int64_t number;
	float narrow;
	double wide;
	int r = heap_path_value(q->heap, ix, path, &value, err);

	/*
	 * Another class that matches the pattern may have a field with this name but a different
	 * type.
	 */
	if (r != HDB_OK || column_type(value.type) != type)
		return r < 0 ? r : HDB_OK;
	switch (type) {
	case HDB_TYPE_DOUBLE:
		if (value.type == HPROF_DOUBLE) {
			memcpy(&wide, &value.bits, sizeof(wide));
		} else {
			const uint32_t bits = (uint32_t)value.bits;

			memcpy(&narrow, &bits, sizeof(narrow));
			wide = (double)narrow;
		}
		query_set_double(q, column, wide);
		return HDB_OK;
	case HDB_TYPE_BOOL:
		query_set(q, column, (value.bits & 0xff) != 0);
		return HDB_OK;
	case HDB_TYPE_INT:
		if (heap_value_number(&value, &number))
			query_set_int(q, column, number);
		return HDB_OK;
	default:
		break;
	}
	if (value.type == HPROF_OBJECT)
		return set_reference(q, column, value.bits, err);
	analysis_value_text(&value, text, sizeof(text));
	query_set_text(q, column, text);
	return HDB_OK;
}

/* Sets either the columns that a filter tests, or the other columns. */
static int set_columns(struct query *q, uint32_t ix, bool is_tested, struct hdb_error *err)
{
	const struct instances *s = q->state;
	struct query_object_columns cells = { ID, SIZE_MAX, LABEL, SHALLOW, RETAINED };

	cells.id = is_tested ? ID : SIZE_MAX; /* the columns of the filter may require the ID */
	cells.label = query_is_tested(q, LABEL) == is_tested ? LABEL : SIZE_MAX;
	cells.shallow = query_is_tested(q, SHALLOW) == is_tested ? SHALLOW : SIZE_MAX;
	cells.retained =
		s->has_retained && query_is_tested(q, RETAINED) == is_tested ? RETAINED : SIZE_MAX;
	query_set_object(q, &cells, ix);
	for (unsigned f = 0; f < s->field_count; f++)
		if (query_is_tested(q, FIRST_FIELD + f) == is_tested)
			TRY(set_field(q, FIRST_FIELD + f, s->path[f], ix, err));
	return HDB_OK;
}

static int next_instances(struct query *q, struct hdb_error *err)
{
	struct instances *s = q->state;
	bool reachable = false, wanted = false;
	uint32_t ix;

	while (!wanted) {
		TRY(analysis_member_list_next(&q->session, &s->members, &s->list, &ix, err));
		TRY(derive_is_reachable(q->derive, ix, &reachable, err));
		if (!query_counts(q, reachable))
			continue;
		if (q->is_counting)
			return HDB_OK;
		query_reset(q);
		query_set(q, REACHABLE, reachable);
		TRY_ERRORS(set_columns(q, ix, true, err));
		TRY(query_test(q, &wanted, err));
	}
	return set_columns(q, ix, false, err);
}

QUERY_DEFINE(instances, QUERY_STATE(struct instances, list, members), .open = open_instances,
	     .next = next_instances);

/*
 * oql/oql_from.c - evaluates FROM: instances of classes by scanning the heap, the elements of a
 * list, or the rows of a sub-select.
 */
#include "oql/oql_rows.h"

#include "common/suggest_class.h"

struct oql_source {
	struct oql_eval *ev;
	const struct oql_select *select;
	struct oql_arena arena; /* lives as long as the source */
	/* instances: sets of classes, scanned one after the other */
	uint8_t **marks; /* indexed by class number: nonzero if selected */
	size_t mark_count, mark_at;
	/* position in the set; objects that are not in the dump come first */
	size_t stand_in_at;
	struct hdb_scan *scan; /* owned; NULL means the next set has not been started */
	struct hdb_batch batch;
	size_t batch_at;
	/* for a list, or a single value */
	struct oql_value list;
	size_t list_at;
	/* for a sub-select */
	struct oql_rows *rows; /* owned */
	struct oql_arena row_arena;
	const struct oql_value *row; /* row being unnested, or NULL if none */
	size_t *places;              /* positions in the row's lists */
};

/* ---- sets of classes ---- */

static int add_marks(struct oql_source *s, uint8_t **marks)
{
	struct oql_eval *ev = s->ev;
	uint8_t **grown;

	TRY(OQL_TAKE(*marks, &s->arena, (size_t)hdb_class_count(ev->db) + 1, ev->err));
	TRY(OQL_TAKE(grown, &s->arena, s->mark_count + 1, ev->err));
	if (s->mark_count)
		memcpy(grown, s->marks, s->mark_count * sizeof(grown[0]));
	s->marks = grown;
	s->marks[s->mark_count++] = *marks;
	return HDB_OK;
}

static void mark_subclasses(struct oql_source *s, uint8_t *marks)
{
	struct hdb *db = s->ev->db;
	const uint32_t count = hdb_class_count(db);
	bool has_new = s->select->from.is_instanceof;

	/* superclasses may have higher numbers: repeat until nothing changes */
	while (has_new) {
		has_new = false;
		for (uint32_t no = 0; no < count; no++) {
			struct hdb_class class = { .struct_size = sizeof(class) };

			if (marks[no] || hdb_class_at(db, no, &class, NULL) < 0 ||
			    class.super_no == HDB_NONE || !marks[class.super_no])
				continue;
			marks[no] = 1;
			has_new = true;
		}
	}
}

/*
 * Fails because of an unknown class. In MAT, such a class has no objects; here, the name is
 * reported as a mistake if it is the only class of a statement.
 */
static int refuse_class(struct oql_source *s)
{
	const struct oql_expr place = { .at = s->select->from.at };
	const char *name = s->select->from.name.data;
	const char *similar = suggest_class(s->ev->db, name);

	return oql_refuse(s->ev, &place, "no such class: %s%s%s%s", name,
			  similar ? "; did you mean " : "", similar ? similar : "",
			  similar ? "?" : "");
}

static int mark_named(struct oql_source *s, uint8_t *marks)
{
	const struct oql_str name = s->select->from.name;
	struct hdb *db = s->ev->db;

	/* names are zero-terminated in the arena */
	if (s->select->is_alone && hdb_class_named(db, name.data, 0) == HDB_NONE) {
		/* a name that cannot be read is an error, not a missing class */
		TRY(hdb_failed(db, s->ev->err));
		return refuse_class(s);
	}
	for (uint32_t no = hdb_class_named(db, name.data, 0); no != HDB_NONE;
	     no = hdb_class_named(db, name.data, no + 1))
		marks[no] = 1;
	mark_subclasses(s, marks);
	return HDB_OK;
}

static int mark_matching(struct oql_source *s, uint8_t *marks)
{
	struct oql_eval *ev = s->ev;
	const struct oql_expr place = { .at = s->select->from.at };
	struct oql_pattern *pattern;

	TRY(oql_pattern(ev, &place, s->select->from.name, true, &pattern));
	for (uint32_t no = 0; no < hdb_class_count(ev->db); no++) {
		const char *name = hdb_class_name(ev->db, no);
		struct oql_match match = { .text = { name, strlen(name) } };

		TRY(oql_matches(ev, pattern, &match));
		marks[no] = match.is_found;
	}
	mark_subclasses(s, marks);
	return HDB_OK;
}

/* Selects the class that a class object represents, as in FROM without OBJECTS. */
static int mark_class(struct oql_source *s, const struct oql_value *v, uint8_t *marks)
{
	struct oql_eval *ev = s->ev;
	const struct oql_expr place = { .at = s->select->from.at };
	struct oql_value object = { 0 };
	uint32_t ix, class_no = HDB_NONE;

	TRY(oql_object_meant(ev, v, &ix));
	if (ix != HDB_NONE) {
		object = oql_object(ix);
		TRY(oql_class_meant(ev, &object, &class_no));
	}
	if (class_no == HDB_NONE)
		return oql_refuse(ev, &place,
				  "%s is not a class; use FROM OBJECTS for objects of any kind",
				  oql_type_name(ev, ix == HDB_NONE ? v : &object));
	marks[class_no] = 1;
	return HDB_OK;
}

static int mark_list(struct oql_source *s, const struct oql_value *v, uint8_t *marks)
{
	struct oql_value element;

	if (v->type != OQL_V_LIST)
		return mark_class(s, v, marks);
	for (size_t i = 0; i < v->list->count; i++) {
		TRY(oql_element(s->ev, v->list, i, &element));
		TRY(mark_class(s, &element, marks));
	}
	mark_subclasses(s, marks);
	return HDB_OK;
}

static int mark_rows(struct oql_source *s, uint8_t *marks)
{
	const struct oql_value *values;
	int r;

	while ((r = oql_rows_next(s->rows, &values)) == HDB_OK)
		if ((r = mark_class(s, &values[0], marks)) < 0)
			break;
	oql_rows_close(s->rows);
	s->rows = NULL;
	mark_subclasses(s, marks);
	return r < 0 ? r : HDB_OK;
}

/* ---- opening ---- */

static int number_object(struct oql_source *s, uint64_t number, uint32_t *ix)
{
	const struct oql_from *from = &s->select->from;
	const struct oql_expr place = { .at = from->at };
	struct oql_eval *ev = s->ev;
	int r;

	if (from->kind == OQL_FROM_IDS) {
		TRY(oql_object_of(ev, (int64_t)number, ix));
		if (*ix == HDB_NONE)
			return oql_refuse(ev, &place, "object number out of range: %" PRIu64,
					  number);
		return HDB_OK;
	}
	r = hdb_find(ev->db, number, ix, ev->err);
	if (r == HDB_NOTFOUND)
		return oql_refuse(ev, &place, "no such object: 0x%" PRIx64, number);
	return r;
}

/* Lists the objects that FROM names by address or object number. */
static int list_numbers(struct oql_source *s)
{
	const struct oql_from *from = &s->select->from;
	struct oql_value *values;
	uint32_t ix;

	TRY(oql_make_list(s->ev, &s->arena, from->number_count, &values, &s->list));
	for (size_t i = 0; i < from->number_count; i++) {
		TRY_ERRORS(number_object(s, from->numbers[i], &ix));
		values[i] = oql_object(ix);
	}
	return HDB_OK;
}

/* Selects each class separately because, as in MAT, objects of overlapping sets occur twice. */
static int mark_numbers(struct oql_source *s)
{
	const struct oql_from *from = &s->select->from;
	struct oql_value class = oql_object(HDB_NONE);
	uint8_t *marks;

	for (size_t i = 0; i < from->number_count; i++) {
		TRY_ERRORS(number_object(s, from->numbers[i], &class.ix));
		TRY(add_marks(s, &marks));
		TRY(mark_class(s, &class, marks));
		mark_subclasses(s, marks);
	}
	return HDB_OK;
}

static int open_numbers(struct oql_source *s)
{
	const struct oql_from *from = &s->select->from;

	assert(from->number_count > 0);
	return from->is_objects && !from->is_instanceof ? list_numbers(s) : mark_numbers(s);
}

static int open_value(struct oql_source *s, const struct oql_frame *outer)
{
	const struct oql_from *from = &s->select->from;
	const struct oql_frame none = { .arena = &s->arena };
	struct oql_frame around = outer ? *outer : none;
	uint8_t *marks;
	int r;

	around.arena = &s->arena;
	r = oql_evaluate(s->ev, from->expr, &around, &s->list);
	if (r < 0 || (from->is_objects && !from->is_instanceof))
		return r;
	TRY(add_marks(s, &marks));
	return mark_list(s, &s->list, marks);
}

static int open_select(struct oql_source *s, const struct oql_frame *outer)
{
	const struct oql_from *from = &s->select->from;
	uint8_t *marks;

	TRY(oql_rows_open(s->ev, from->select, outer, &s->rows));
	TRY(OQL_TAKE(s->places, &s->arena, s->rows->width + 1, s->ev->err));
	if (from->is_objects && !from->is_instanceof)
		return HDB_OK;
	TRY(add_marks(s, &marks));
	return mark_rows(s, marks);
}

static int open_classes(struct oql_source *s)
{
	uint8_t *marks;

	TRY(add_marks(s, &marks));
	return s->select->from.kind == OQL_FROM_CLASS ? mark_named(s, marks) :
							mark_matching(s, marks);
}

/* Lists the class objects of all sets, for FROM OBJECTS with classes. */
static int list_classes(struct oql_source *s)
{
	struct oql_eval *ev = s->ev;
	uint8_t *all = s->marks[0];

	assert(s->mark_count > 0);
	for (size_t i = 1; i < s->mark_count; i++)
		for (uint32_t no = 0; no < hdb_class_count(ev->db); no++)
			all[no] |= s->marks[i][no];
	s->mark_count = 0;
	return oql_class_objects(ev, all, &s->arena, &s->list);
}

int oql_source_open(struct oql_eval *ev, const struct oql_select *select,
		    const struct oql_frame *outer, struct oql_source **out)
{
	const struct oql_from *from = &select->from;
	struct oql_source *s;
	int r;

	TRY(BASE_ALLOC(s, 1, "a source of rows", ev->err));
	*out = s;
	s->ev = ev;
	s->select = select;
	s->arena.budget = s->row_arena.budget = &ev->budget;
	if (from->kind == OQL_FROM_CLASS || from->kind == OQL_FROM_PATTERN)
		r = open_classes(s);
	else if (from->kind == OQL_FROM_VALUE)
		r = open_value(s, outer);
	else if (from->kind == OQL_FROM_SELECT)
		r = open_select(s, outer);
	else
		r = open_numbers(s);
	TRY_ERRORS(r);
	return s->mark_count && from->is_objects ? list_classes(s) : HDB_OK;
}

void oql_source_close(struct oql_source *s)
{
	if (!s)
		return;
	hdb_scan_close(s->scan);
	oql_rows_close(s->rows);
	oql_arena_release(&s->row_arena);
	oql_arena_release(&s->arena);
	free(s);
}

/* ---- instances ---- */

static int open_scan(struct oql_source *s)
{
	const struct hdb_scan_options options = { .struct_size = sizeof(options),
						  .classes = s->marks[s->mark_at],
						  .population = 1 };
	/* a scan does not find the boot loader or classes that are not in the dump */
	const int r = oql_find_stand_ins(s->ev);

	s->batch = (struct hdb_batch){ .struct_size = sizeof(struct hdb_batch) };
	s->batch_at = s->stand_in_at = 0;
	return r < 0 ? r : hdb_scan_open(s->ev->db, &options, &s->scan, s->ev->err);
}

static int next_batch(struct oql_source *s)
{
	struct oql_eval *ev = s->ev;
	const int r = hdb_scan_next(s->scan, &s->batch, ev->err);

	s->batch_at = 0;
	TRY_ERRORS(r);
	if (r == HDB_END) {
		hdb_scan_close(s->scan);
		s->scan = NULL;
		s->mark_at++;
		return r;
	}
	assert(s->batch.count > 0);
	if (!ev->nesting && ev->progress.report)
		ev->progress.report(ev->progress.ctx, "rows", s->batch.ix[0],
				    hdb_object_count(ev->db), "objects");
	return HDB_OK;
}

static int next_instance(struct oql_source *s, struct oql_value *out)
{
	for (;;) {
		if (s->mark_at == s->mark_count)
			return HDB_END;
		assert(s->mark_at < s->mark_count);
		if (!s->scan)
			TRY(open_scan(s));
		assert(s->stand_in_at <= s->ev->stand_in_count);
		assert(s->batch_at <= s->batch.count);
		if (s->stand_in_at < s->ev->stand_in_count) {
			const struct oql_stand_in *found = &s->ev->stand_ins[s->stand_in_at++];

			if (!s->marks[s->mark_at][found->class_no])
				continue;
			*out = oql_object(found->ix);
			return HDB_OK;
		}
		if (s->batch_at < s->batch.count) {
			*out = oql_object(s->batch.ix[s->batch_at++]);
			return HDB_OK;
		}
		s->batch.count = 0;
		TRY_ERRORS(next_batch(s));
	}
}

/* ---- lists and rows ---- */

static int next_element(struct oql_source *s, struct oql_value *out)
{
	const struct oql_value *v = &s->list;
	int r = HDB_OK;

	if (v->type != OQL_V_LIST) {
		*out = *v;
		/* null is not a row unless the statement requests it */
		return s->list_at++ || (v->type == OQL_V_NULL &&
					s->select->from.expr->kind != OQL_NULL) ?
			       HDB_END :
			       HDB_OK;
	}
	if (s->list_at == v->list->count)
		return HDB_END;
	if (v->list->kind == OQL_L_IDS)
		*out = oql_object(v->list->ixs[s->list_at]);
	else
		r = oql_element(s->ev, v->list, s->list_at, out);
	s->list_at++;
	return r;
}

/* Advances to the next combination of elements of the row's lists. Returns false at the end. */
static bool step(struct oql_source *s)
{
	for (size_t i = s->rows->width; i-- > 0;) {
		if (s->row[i].type != OQL_V_LIST)
			continue;
		if (++s->places[i] < s->row[i].list->count)
			return true;
		s->places[i] = 0;
	}
	return false;
}

static bool has_empty_list(const struct oql_source *s)
{
	for (size_t i = 0; i < s->rows->width; i++)
		if (s->row[i].type == OQL_V_LIST && s->row[i].list->count == 0)
			return true;
	return false;
}

/* Makes a row in which each list is replaced by one element. */
static int make_row(struct oql_source *s, struct oql_value *out)
{
	const size_t width = s->rows->width;
	struct oql_value *values;

	assert(s->row);
	oql_arena_reset(&s->row_arena);
	TRY(oql_make_list(s->ev, &s->row_arena, width, &values, out));
	out->type = OQL_V_ROW;
	((struct oql_list *)(uintptr_t)out->list)->names = s->rows->names;
	for (size_t i = 0; i < width; i++) {
		const struct oql_list *list = s->row[i].list;

		values[i] = s->row[i];
		if (s->row[i].type != OQL_V_LIST)
			continue;
		assert(s->places[i] < list->count);
		if (list->kind == OQL_L_IDS)
			values[i] = oql_object(list->ixs[s->places[i]]);
		else
			TRY(oql_element(s->ev, list, s->places[i], &values[i]));
	}
	if (width == 1 && !s->rows->names[0].size) /* an unnamed column, from AS "" */
		*out = values[0];
	return HDB_OK;
}

static int next_row(struct oql_source *s, struct oql_value *out)
{
	const struct oql_value *values;

	if (s->row && step(s))
		return make_row(s, out);
	do {
		s->row = NULL;
		TRY(oql_rows_next(s->rows, &values));
		if (s->rows->are_values) {
			*out = values[0];
			return HDB_OK;
		}
		s->row = values;
		TRY(oql_tick(s->ev));
	} while (has_empty_list(s));
	memset(s->places, 0, s->rows->width * sizeof(s->places[0]));
	return make_row(s, out);
}

int oql_source_next(struct oql_source *s, struct oql_value *out)
{
	TRY(oql_tick(s->ev));
	if (s->mark_count)
		return next_instance(s, out);
	return s->rows ? next_row(s, out) : next_element(s, out);
}

/*
 * sqlite/sql_objects.c - tables of objects: objects, arrays, strings, instances(pattern), and one
 * per class. They share a module and differ in classes, kinds and columns. Constraints are passed
 * to the library's scan.
 */
#include "sqlite/sql_objects.h"

static void end_objects(struct sql_cursor *cursor)
{
	struct objects_cursor *c = cursor->state;

	hdb_scan_close(c->scan);
	hdb_list_close(c->list);
	free(c->marks);
	free(c->found);
}

/* ---- stepping ---- */

int sql_object_take(struct objects_cursor *c, uint32_t ix, struct hdb_error *err)
{
	TRY(hdb_object_at(c->db, ix, &c->facts, err));
	c->kind = (uint8_t)c->facts.kind;
	c->at = 0;
	c->batch = (struct hdb_batch){
		.struct_size = sizeof(struct hdb_batch),
		.count = 1,
		.ix = &c->facts.ix,
		.class_no = &c->facts.class_no,
		.kind = &c->kind,
		.shallow_bytes = &c->facts.shallow_bytes,
		.length = &c->facts.length,
		.id = &c->facts.id,
	};
	return HDB_OK;
}

/* Returns whether the object belongs to the table and to the requested classes. */
static bool is_member(const struct objects_cursor *c)
{
	const struct shape *s = c->shape;

	return c->facts.is_real && (!s->classes || s->classes[c->facts.class_no]) &&
	       (!c->marks || c->marks[c->facts.class_no]) &&
	       (!s->kinds || s->kinds >> c->facts.kind & 1);
}

/* Starts to return unreachable objects, which retain nothing and therefore come last. */
static int begin_unreachable(struct objects_cursor *c, struct hdb_error *err)
{
	const struct hdb_scan_options opt = {
		.struct_size = sizeof(opt),
		.columns = HDB_SCAN_ID | HDB_SCAN_RETAINED | HDB_SCAN_DOMINATOR |
			   HDB_SCAN_REACHABLE | HDB_SCAN_OFFSET,
		.population = -1,
	};
	const int r = c->population == 1 ? HDB_END : hdb_scan_open(c->db, &opt, &c->scan, err);

	c->at = 0;
	return r == HDB_OK ? hdb_scan_next(c->scan, &c->batch, err) : r;
}

static int next_of_list(struct objects_cursor *c, struct hdb_error *err)
{
	int r;

	do {
		assert(c->list_at <= c->list_count);
		if (c->list_at == c->list_count) {
			if (c->found || !c->list)
				return c->is_largest ? begin_unreachable(c, err) : HDB_END;
			r = hdb_list_next(c->list, &c->list_ixs, &c->list_count, err);
			c->list_at = 0;
			TRY(r);
			if (!c->list_count)
				return HDB_END;
		}
		TRY(sql_object_take(c, c->list_ixs[c->list_at++], err));
	} while (!is_member(c));
	return HDB_OK;
}

static int next_object(struct sql_cursor *cursor, struct hdb_error *err)
{
	struct objects_cursor *c = cursor->state;

	if (!c->scan) {
		TRY(sql_end(c->source, next_of_list(c, err), err));
	} else if (++c->at >= c->batch.count) {
		c->at = 0;
		TRY(sql_end(c->source, hdb_scan_next(c->scan, &c->batch, err), err));
	}
	assert(c->at < c->batch.count);
	assert(!c->found || c->list_ixs == c->found);
	cursor->row_no = c->batch.ix[c->at];
	return HDB_OK;
}

/* Finds the first object whose ID is at least `id`, by binary search. */
static int first_from(struct objects_cursor *c, uint64_t id, uint32_t *ix, struct hdb_error *err)
{
	uint32_t low = 0, high = hdb_object_count(c->db);

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

		TRY(hdb_object_at(c->db, mid, &facts, err));
		if (facts.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	*ix = low;
	return HDB_OK;
}

bool sql_has_negative_ids(struct hdb *db)
{
	const uint32_t count = hdb_object_count(db);
	struct hdb_object_facts last = { .struct_size = sizeof(last) };
	struct hdb_error err;

	return count &&
	       (hdb_object_at(db, count - 1, &last, &err) != HDB_OK || last.id > INT64_MAX);
}

static bool need_marks(struct objects_cursor *c)
{
	if (!c->marks)
		c->marks = calloc((size_t)hdb_class_count(c->db) + 1, 1);
	return c->marks != NULL;
}

/* Intersects `marks` with the classes of this constraint. */
static int narrow(struct objects_cursor *c, uint8_t *found)
{
	const uint32_t n = hdb_class_count(c->db);
	const bool is_first = !c->marks;

	if (!need_marks(c))
		return HDB_ENOMEM;
	for (uint32_t no = 0; no < n; no++)
		c->marks[no] = found[no] && (is_first || c->marks[no]);
	return HDB_OK;
}

static void mark_value(struct objects_cursor *c, sqlite3_value *value, int is_glob, uint8_t *marks)
{
	const char *text = (const char *)sqlite3_value_text(value);

	if (text)
		(void)sql_mark_classes(c->source, text, is_glob, marks);
}

/* A constraint on classes. */
struct class_part {
	int part;
	bool is_in; /* whether the value is a list (IN) */
	sqlite3_value *value;
	sqlite3_value *sub; /* for a pattern, whether to include subclasses (NULL means yes) */
};

/* Marks the class whose class object has this ID, if there is such a class. */
static int mark_class_object(struct objects_cursor *c, sqlite3_value *value, uint8_t *marks,
			     struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	uint32_t ix;

	TRY_FOUND(sql_value_object(c->source, value, &ix, err));
	TRY_FOUND(hdb_object_at(c->db, ix, &facts, err));
	if (facts.stands_for != HDB_NONE)
		marks[facts.stands_for] = 1;
	return HDB_OK;
}

static int mark_pattern(struct objects_cursor *c, const struct class_part *p, uint8_t *marks,
			struct hdb_error *err)
{
	const char *pattern = (const char *)sqlite3_value_text(p->value);
	int r;

	if (!pattern)
		return HDB_OK;
	r = hdb_classes_like(c->db, pattern, !p->sub || sqlite3_value_int(p->sub), marks, err);
	/* a name that matches no class is an error in the statement */
	if (r == HDB_NOTFOUND)
		return hdb_fail(err, HDB_EUSAGE, "no class matches %s", pattern);
	return r;
}

static void mark_values(struct objects_cursor *c, sqlite3_value *values, uint8_t *marks)
{
	sqlite3_value *one;
	int rc = sqlite3_vtab_in_first(values, &one);

	for (; rc == SQLITE_OK && one; rc = sqlite3_vtab_in_next(values, &one))
		mark_value(c, one, 0, marks);
}

static int by_class(struct objects_cursor *c, const struct class_part *p, struct hdb_error *err)
{
	BASE_FREED uint8_t *found = NULL;
	int r = HDB_OK;

	TRY(BASE_ALLOC(found, (size_t)hdb_class_count(c->db) + 1, "classes", err));
	if (p->part == BY_CLASS && p->is_in)
		mark_values(c, p->value, found);
	else if (p->part == BY_CLASS || p->part == BY_CLASS_GLOB)
		mark_value(c, p->value, p->part == BY_CLASS_GLOB, found);
	else if (p->part == BY_CLASS_ID)
		r = mark_class_object(c, p->value, found, err);
	else
		r = mark_pattern(c, p, found, err);
	return r == HDB_OK ? narrow(c, found) : r;
}

static unsigned kind_named(const char *name)
{
	for (unsigned k = 0; name && k < 4; k++)
		if (strcmp(name, sql_kind_name(k)) == 0)
			return 1u << k;
	return 0;
}

static int begin_one(struct objects_cursor *c, int index, sqlite3_value *value,
		     struct hdb_error *err)
{
	const sqlite3_int64 row = sqlite3_value_int64(value);
	bool is_shown;

	c->single = (uint32_t)row;
	c->list_ixs = &c->single;
	c->list_count = 1;
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return HDB_END;
	if (index & BY_ID)
		TRY(sql_value_object(c->source, value, &c->single, err));
	else if (row < 0 || row >= hdb_object_count(c->db))
		return HDB_END;
	TRY(sql_is_shown(c->source, c->single, &is_shown, err));
	return is_shown ? HDB_OK : HDB_END;
}

static int begin_scan(struct objects_cursor *c, int index, struct hdb_error *err)
{
	struct hdb_scan_options opt = {
		.struct_size = sizeof(opt),
		.columns = (unsigned)index >> SCAN_SHIFT,
		.classes = c->marks ? c->marks : c->shape->classes,
		.kinds = c->kinds,
		.population = c->population,
		.from_ix = c->from_ix,
		.end_ix = c->end_ix,
		.descending = (index & DESCENDING) != 0,
	};

	/* both the constraint and the table restrict the classes */
	for (uint32_t no = 0; c->marks && c->shape->classes && no < hdb_class_count(c->db); no++)
		c->marks[no] &= c->shape->classes[no] != 0;
	if (c->from_ix && c->from_ix >= hdb_object_count(c->db))
		return HDB_END;
	return hdb_scan_open(c->db, &opt, &c->scan, err);
}

static int read_id_from(struct objects_cursor *c, sqlite3_value *value, struct hdb_error *err)
{
	const sqlite3_int64 id = sqlite3_value_int64(value);

	if (sqlite3_value_type(value) != SQLITE_INTEGER || id <= 0)
		return HDB_OK;
	return first_from(c, (uint64_t)id, &c->from_ix, err);
}

static int read_id_to(struct objects_cursor *c, sqlite3_value *value, struct hdb_error *err)
{
	const sqlite3_int64 id = sqlite3_value_int64(value);

	/* SQLite checks the constraint again */
	if (sqlite3_value_type(value) != SQLITE_INTEGER || id <= 0 || id == INT64_MAX)
		return HDB_OK;
	/* negative IDs are also below the limit, but come last in the scan */
	if (sql_has_negative_ids(c->db))
		return HDB_OK;
	TRY(first_from(c, (uint64_t)id + 1, &c->end_ix, err));
	return c->end_ix <= c->from_ix ? HDB_END : HDB_OK;
}

/* Applies a constraint. Returns HDB_END if no object can satisfy it. */
static int read_part(struct objects_cursor *c, const struct class_part *p, struct hdb_error *err)
{
	sqlite3_value *value = p->value;

	assert(value);
	switch (p->part) {
	case BY_PATTERN:
	case BY_CLASS:
	case BY_CLASS_GLOB:
	case BY_CLASS_ID:
		return by_class(c, p, err);
	case BY_KIND:
		c->kinds &= kind_named((const char *)sqlite3_value_text(value));
		return c->kinds ? HDB_OK : HDB_END;
	case BY_REACHABLE:
		if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER ||
		    sqlite3_value_int64(value) >> 1)
			return HDB_END;
		if (!sqlite3_value_int64(value) && c->population == 1)
			return HDB_END;
		c->population = sqlite3_value_int64(value) ? 1 : -1;
		return HDB_OK;
	case ID_FROM:
		return read_id_from(c, value, err);
	case ID_TO:
		return read_id_to(c, value, err);
	case RETAINED_FROM:
		/* SQLite checks the constraint again, so the limit 1 can be used for 1.5 */
		if ((sqlite3_value_type(value) == SQLITE_INTEGER ||
		     sqlite3_value_type(value) == SQLITE_FLOAT) &&
		    sqlite3_value_int64(value) > 0)
			c->retained_from = (uint64_t)sqlite3_value_int64(value);
		return HDB_OK;
	default:
		return HDB_OK;
	}
}

static int read_parts(struct objects_cursor *c, int index, int argc, sqlite3_value **argv,
		      struct hdb_error *err)
{
	sqlite3_value *values[SQL_PART_COUNT] = { NULL };
	int at = 0;

	assert(sql_parts[4].part == BY_SUB);
	for (size_t p = 2; p < SQL_PART_COUNT; p++)
		if (index & sql_parts[p].part && at < argc)
			values[p] = argv[at++];
	for (size_t p = 2; p < SQL_PART_COUNT; p++) {
		const struct class_part part = {
			.part = sql_parts[p].part,
			.is_in = index & BY_CLASS_IN,
			.value = values[p],
			.sub = sql_parts[p].part == BY_PATTERN ? values[4] : NULL,
		};

		if (part.value)
			TRY(read_part(c, &part, err));
	}
	return HDB_OK;
}

/*
 * If only few objects retain at least this number of bytes, reads these objects from the dominator
 * tree, provided that the tree has been built.
 */
static int begin_retaining(struct objects_cursor *c, int index, struct hdb_error *err)
{
	bool is_few = false;

	if (c->retained_from && hdb_has(c->db) & HDB_NEED_CHILDREN)
		TRY(sql_objects_retaining(c, (index & DESCENDING) != 0, &is_few, err));
	return is_few ? HDB_OK : begin_scan(c, index, err);
}

/* Lists the objects that an object dominates. For NULL, lists the objects without a dominator. */
static int begin_dominated(struct objects_cursor *c, sqlite3_value *value, struct hdb_error *err)
{
	uint32_t ix = HDB_NONE;

	if (sqlite3_value_type(value) != SQLITE_NULL)
		TRY(sql_value_object(c->source, value, &ix, err));
	TRY(hdb_list_open(c->db, HDB_DOMINATED, &c->list, err));
	return hdb_list_begin(c->list, ix, NULL, err);
}

/*
 * Lists the first objects in the order of the statement. Lists one object more than the limit,
 * because SQLite reads one row too many.
 */
static int begin_first(struct objects_cursor *c, int index, sqlite3_value *limit,
		       struct hdb_error *err)
{
	const size_t wanted = (size_t)sqlite3_value_int64(limit) + 1;

	c->is_largest = index & LARGEST;
	return c->is_largest ?
		       sql_objects_largest(c, wanted, err) :
		       sql_objects_most_referred(c, (unsigned)index >> SCAN_SHIFT, wanted, err);
}

static int begin_objects(struct sql_cursor *cursor, struct hdb_error *err)
{
	struct objects_cursor *c = cursor->state;
	const int index = cursor->index;

	c->source = cursor->source;
	c->db = cursor->db;
	c->shape = (const struct shape *)cursor->def;
	c->kinds = c->shape->kinds ? c->shape->kinds : 15;
	c->population = sql_population(c->source);
	if (index & (BY_ID | BY_ROWID))
		return begin_one(c, index, cursor->argv[0], err);
	if (index & BY_DOMINATOR)
		return begin_dominated(c, cursor->argv[0], err);
	if (index & (LARGEST | MOST_REFERRED) && cursor->argc)
		return begin_first(c, index, cursor->argv[0], err);
	TRY(read_parts(c, index, cursor->argc, cursor->argv, err));
	return begin_retaining(c, index, err);
}

/* ---- registration ---- */

/* Declares the columns of an announced class. */
static int declare_shape(struct sql_table_def *def, struct hdb_error *err)
{
	const struct sql_table_def same = *def;
	struct shape *s = (struct shape *)def;

	TRY(sql_shape_fill(s, err));
	s->def = same;
	s->def.declaration = s->declaration;
	return HDB_OK;
}

static int add_shape(struct sql_source *source, struct shape *s)
{
	s->def = (struct sql_table_def){
		.name = s->name,
		.declaration = s->declaration,
		.state_size = sizeof(struct objects_cursor),
		.declare = declare_shape,
		.plan = sql_objects_plan,
		.begin = begin_objects,
		.next = next_object,
		.column = sql_object_column,
		.end = end_objects,
	};
	return sql_add_table(source, s->name, &s->def, sql_shape_free);
}

/* clang-format off */
const struct sql_objects_def sql_object_tables[SQL_OBJECT_TABLES] = {
	{ "objects", "All objects: class, kind, sizes, dominator, referrers", 0, NULL,
	  { C_ID, C_CLASS, C_KIND, C_SHALLOW, C_RETAINED, C_DOMINATOR, C_LENGTH, C_REACHABLE,
	    C_CLASS_ID, C_HEAP, C_OFFSET, C_REFERRERS, -1 } },
	{ "instances", "Objects of the classes that match a pattern", 0, NULL,
	  { C_ID, C_CLASS, C_KIND, C_SHALLOW, C_RETAINED, C_DOMINATOR, C_LENGTH, C_REACHABLE,
	    C_CLASS_ID, C_TEXT, C_PATTERN, C_SUB, -1 } },
	{ "arrays", "Arrays: type, length, sizes",
	  1u << HDB_KIND_OBJECT_ARRAY | 1u << HDB_KIND_PRIMITIVE_ARRAY, NULL,
	  { C_ID, C_CLASS, C_TYPE, C_LENGTH, C_SHALLOW, C_RETAINED, C_DOMINATOR, C_REACHABLE,
	    C_KIND, -1 } },
	{ "strings", "Strings, with their contents", 1u << HDB_KIND_INSTANCE, "java.lang.String",
	  { C_ID, C_TEXT, C_SHALLOW, C_RETAINED, C_DOMINATOR, C_REACHABLE, -1 } },
};
/* clang-format on */

int sql_register_objects(struct sql_source *source)
{
	for (size_t i = 0; i < SQL_OBJECT_TABLES; i++) {
		struct shape *s = sql_shape_plain(source, &sql_object_tables[i]);

		TRY(s ? add_shape(source, s) : SQLITE_NOMEM);
	}
	return SQLITE_OK;
}

static int add_class(struct sql_source *source, struct shape *shape, struct hdb_error *err)
{
	const int rc = add_shape(source, shape);

	return rc == SQLITE_OK ?
		       HDB_OK :
		       hdb_fail(err, rc == SQLITE_NOMEM ? HDB_ENOMEM : HDB_EBUG,
				"cannot create a class table: %s", sqlite3_errmsg(source->sqlite));
}

int sql_define_class(struct sql_source *source, const char *name, struct hdb_error *err)
{
	struct shape *shape = NULL;
	const int r = sql_shape_of(source, name, &shape, err);

	return r == HDB_OK ? add_class(source, shape, err) : r;
}

int sql_announce_class(struct sql_source *source, const char *name, struct hdb_error *err)
{
	struct shape *shape = sql_shape_new(source, name);

	return shape ? add_class(source, shape, err) :
		       hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a table");
}

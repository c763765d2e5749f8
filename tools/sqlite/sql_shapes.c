/*
 * sqlite/sql_shapes.c - shape of an object table: its columns, classes and kinds. Every class is a
 * table with its fields.
 */
#include "sqlite/sql_objects.h"

#include "base/name_tree.h"

static const char *const declared[] = {
	[C_ID] = "id ID",
	[C_CLASS] = "class TEXT",
	[C_KIND] = "kind TEXT",
	[C_SHALLOW] = "shallow BYTES",
	[C_RETAINED] = "retained BYTES",
	[C_DOMINATOR] = "dominator ID",
	[C_REACHABLE] = "reachable BOOL",
	[C_LENGTH] = "length COUNT",
	[C_CLASS_ID] = "class_id ID",
	[C_HEAP] = "heap TEXT",
	[C_OFFSET] = "file_offset COUNT",
	[C_REFERRERS] = "referrers COUNT HIDDEN",
	[C_TEXT] = "text TEXT",
	[C_TYPE] = "element_type TEXT",
	[C_PATTERN] = "pattern TEXT HIDDEN",
	[C_SUB] = "subclasses BOOL HIDDEN",
};

/* Maximum number of columns. Further fields are dropped, since SQLite allows 2,000 columns. */
#define COLUMNS_MAX 1900
void sql_shape_free(void *p)
{
	struct shape *s = p;

	if (!s)
		return;
	for (uint32_t b = 0; b < s->base_count; b++)
		hdb_fields_free(s->fields[b]);
	free(s->field_of);
	free(s->classes);
	free(s->columns);
	free(s->name);
	sqlite3_free(s->declaration);
	free(s);
}

struct shape *sql_shape_new(struct sql_source *source, const char *name)
{
	struct shape *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->source = source;
	s->name = strdup(name);
	if (!s->name) {
		sql_shape_free(s);
		return NULL;
	}
	return s;
}

/* Returns the separator to write before the next column. */
static const char *comma(sqlite3_str *text)
{
	return sqlite3_str_length(text) ? ", " : "";
}

static void declare(sqlite3_str *text, struct shape *s, enum column column, bool is_hidden)
{
	sqlite3_str_appendf(text, "%s%s%s", comma(text), declared[column],
			    is_hidden && column < C_PATTERN ? " HIDDEN" : "");
	assert(s->column_count < COLUMNS_MAX + 32);
	s->columns[s->column_count++] = (int)column;
}

static int *new_columns(void)
{
	return calloc(COLUMNS_MAX + 32, sizeof(int));
}

static const char *simple_name(const char *class_name)
{
	const char *dot = strrchr(class_name, '.');

	return dot ? dot + 1 : class_name;
}

/*
 * Records a name. Returns false if it is taken, ignoring the case of ASCII letters as SQLite does.
 */
static bool take_name(struct base_names *taken, const char *name)
{
	const size_t before = taken->list.count;
	BASE_FREED char *lower = strdup(name);
	const struct base_name added = { .text = lower, .size = strlen(name) };
	uint32_t no;

	for (char *c = lower; c && *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 'a' - 'A');
	return lower && base_names_add(taken, &added, false, &no, NULL) == HDB_OK && no == before;
}

/*
 * Declares the column of a field. The name is that of the field, or Super.field if the field's name
 * is taken, and so on. Returns false if memory is exhausted.
 */
static bool add_field(sqlite3_str *text, struct shape *s, struct base_names *taken,
		      const struct hdb_field *field, size_t no)
{
	const char *class_name = hdb_class_name(s->source->db, field->declaring_no);
	const char *type = field->type == HDB_BASIC_OBJECT  ? "ID" :
			   field->type == HDB_BASIC_BOOLEAN ? "BOOLEAN" :
			   field->type == HDB_BASIC_FLOAT || field->type == HDB_BASIC_DOUBLE ?
							      "DOUBLE" :
							      "INT";
	char *name = sqlite3_mprintf("%s", field->name);

	for (unsigned attempt = 1; name && !take_name(taken, name); attempt++) {
		sqlite3_free(name);
		name = attempt == 1 ?
			       sqlite3_mprintf("%s.%s", simple_name(class_name), field->name) :
		       attempt == 2 ? sqlite3_mprintf("%s.%s", class_name, field->name) :
				      sqlite3_mprintf("%s.%s#%u", class_name, field->name, attempt);
		if (attempt > 1000)
			break;
	}
	if (!name)
		return false;
	sqlite3_str_appendf(text, "%s\"%w\" %s", comma(text), name, type);
	sqlite3_free(name);
	assert(s->column_count < COLUMNS_MAX);
	s->columns[s->column_count++] = C_FIELD + (int)no;
	return true;
}

static int add_fields(sqlite3_str *text, struct shape *s, struct hdb_error *err)
{
	struct hdb *db = s->source->db;
	BASE_SCOPED(base_names_release) struct base_names taken = { 0 };
	size_t counts[BASES_MAX] = { 0 };

	TRY(BASE_ALLOC(s->field_of, (size_t)(COLUMNS_MAX + 32) * (s->base_count + 1), "a table",
		       err));
	for (int i = 0; i < C_PATTERN; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(declared[i], " "), declared[i]);
		if (i == C_ID || i == C_SHALLOW || i == C_RETAINED || i == C_DOMINATOR ||
		    (i == C_LENGTH && s->column_count > 4))
			take_name(&taken, name);
	}
	for (uint32_t b = 0; b < s->base_count; b++)
		TRY(hdb_class_fields(db, s->bases[b], &s->fields[b], &counts[b], err));
	for (size_t f = 0; f < counts[0] && s->column_count < COLUMNS_MAX; f++) {
		const struct hdb_field *field = hdb_field_at(s->fields[0], f);

		s->field_of[s->column_count * s->base_count] = field;
		/*
		 * find the same field in other classes of this name, which other class loaders have
		 * defined
		 */
		for (uint32_t b = 1; b < s->base_count; b++)
			for (size_t o = 0; o < counts[b]; o++) {
				const struct hdb_field *other = hdb_field_at(s->fields[b], o);

				if (strcmp(other->name, field->name) == 0 &&
				    other->type == field->type) {
					s->field_of[s->column_count * s->base_count + b] = other;
					break;
				}
			}
		if (!add_field(text, s, &taken, field, f))
			return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a table");
	}
	return HDB_OK;
}

/* Declares a hidden column, unless a field has the same name. */
static void declare_hidden(sqlite3_str *text, struct shape *s, enum column column)
{
	char name[40];
	const char *have;

	snprintf(name, sizeof(name), "\"%.*s\"", (int)strcspn(declared[column], " "),
		 declared[column]);
	for (have = sqlite3_str_value(text); have && *have; have++)
		if (sqlite3_strnicmp(have, name, (int)strlen(name)) == 0)
			return;
	declare(text, s, column, true);
}

static int fill_shape(struct shape *s, const char *plain, sqlite3_str *text, struct hdb_error *err)
{
	struct hdb *db = s->source->db;
	struct hdb_class class = { .struct_size = sizeof(class) };

	TRY_ERRORS(hdb_classes_like(db, "", 0, s->classes, err));
	for (uint32_t no = hdb_class_named(db, plain, 0);
	     no != HDB_NONE && s->base_count < BASES_MAX; no = hdb_class_named(db, plain, no + 1))
		s->bases[s->base_count++] = no;
	if (!s->base_count)
		return HDB_NOTFOUND;
	/* include the subclasses of all these classes */
	for (uint32_t no = 0; no < hdb_class_count(db); no++)
		for (uint32_t b = 0; b < s->base_count && !s->classes[no]; b++)
			s->classes[no] = s->with_sub ?
						 (uint8_t)hdb_is_subclass(db, no, s->bases[b]) :
						 no == s->bases[b];
	TRY(hdb_class_at(db, s->bases[0], &class, err));
	declare(text, s, C_ID, false);
	if (s->with_sub)
		declare(text, s, C_CLASS, false);
	declare(text, s, C_SHALLOW, false);
	declare(text, s, C_RETAINED, false);
	declare(text, s, C_DOMINATOR, false);
	if (class.is_array)
		declare(text, s, C_LENGTH, false);
	TRY(add_fields(text, s, err));
	if (!s->with_sub)
		declare_hidden(text, s, C_CLASS);
	declare_hidden(text, s, C_REACHABLE);
	declare_hidden(text, s, C_KIND);
	declare_hidden(text, s, C_TEXT);
	declare_hidden(text, s, C_CLASS_ID);
	return HDB_OK;
}

/* Makes the table of a class with its fields. */
static int class_shape(struct sql_source *source, const char *name, bool with_sub,
		       struct shape **out, struct hdb_error *err)
{
	BASE_FREED char *plain = strndup(name, strlen(name) - with_sub);
	sqlite3_str *text = sqlite3_str_new(source->sqlite);
	struct shape *s = sql_shape_new(source, name);
	int r = HDB_OK;

	if (s && plain && (s->columns = new_columns()) &&
	    (s->classes = calloc((size_t)hdb_class_count(source->db) + 1, 1))) {
		s->with_sub = with_sub;
		r = fill_shape(s, plain, text, err);
		s->declaration = sqlite3_str_finish(text);
		text = NULL;
	}
	sqlite3_free(sqlite3_str_finish(text));
	if (r == HDB_OK && !(s && s->declaration))
		r = hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a table");
	if (r == HDB_OK)
		*out = s;
	else
		sql_shape_free(s);
	return r;
}

int sql_shape_of(struct sql_source *source, const char *name, struct shape **out,
		 struct hdb_error *err)
{
	const size_t size = strlen(name);
	int r = class_shape(source, name, false, out, err);

	if (r == HDB_NOTFOUND && size > 1 && name[size - 1] == '+')
		r = class_shape(source, name, true, out, err);
	return r;
}

int sql_shape_fill(struct shape *s, struct hdb_error *err)
{
	struct shape *made;
	int r = sql_shape_of(s->source, s->name, &made, err);

	if (r == HDB_NOTFOUND)
		return hdb_fail(err, HDB_EBUG, "no such class: %.200s", s->name);
	TRY_ERRORS(r);
	free(made->name);
	made->name = s->name;
	*s = *made;
	free(made);
	return HDB_OK;
}

struct shape *sql_shape_plain(struct sql_source *source, const struct sql_objects_def *def)
{
	struct shape *s = sql_shape_new(source, def->name);
	sqlite3_str *text;

	if (!s || !(s->columns = new_columns())) {
		sql_shape_free(s);
		return NULL;
	}
	text = sqlite3_str_new(source->sqlite);
	for (const int *at = def->columns; *at >= 0; at++)
		declare(text, s, (enum column) * at, false);
	s->kinds = def->kinds;
	s->declaration = sqlite3_str_finish(text);
	if (def->class_name)
		s->classes = calloc((size_t)hdb_class_count(source->db) + 1, 1);
	if (!s->declaration || (def->class_name && !s->classes)) {
		sql_shape_free(s);
		return NULL;
	}
	if (def->class_name)
		(void)sql_mark_classes(source, def->class_name, 0, s->classes);
	return s;
}

/*
 * sqlite/sql_queries.c - registers every query as a table-valued function.
 *
 * The columns are the columns of the query. Arguments are hidden columns: "target" if the query
 * takes one, its options in order, and "before" if it compares. If the target is optional, the
 * option "by" precedes it: histogram('package'). A query can be called by its name with _ for -, as
 * "query_NAME", and by its quoted original name. If a table has the same name, only "query_NAME"
 * remains.
 */
#include "sqlite/sql_objects.h"

/* Maximum number of arguments, and of targets. */
#define ARGS_MAX SQL_KEYS_MAX

struct query_def {
	struct sql_table_def def; /* must be first */
	const struct hdb_query_spec *spec;
	bool has_target, has_before;
	bool by_first; /* whether the first option precedes the optional target */
	size_t option_count;
};

struct query_state {
	struct hdb_rows *rows;
	struct hdb *before;    /* owned */
	char *texts[ARGS_MAX]; /* owned memory that the rows borrow */
	size_t text_count;
	const char *targets[ARGS_MAX];
	struct hdb_option options[ARGS_MAX];
	struct hdb_query_args args;
	struct hdb *const *before_list;
	/* indexed by column of the table: column of the rows, or -1 if absent; owned */
	int *columns;
};

static const struct query_def *def_of(const struct sql_cursor *c)
{
	return (const struct query_def *)c->def;
}

/* Returns whether a column or option already has this name. */
static bool is_column(const struct hdb_query_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->column_count; i++)
		if (sqlite3_stricmp(hdb_query_column(spec, i)->name, name) == 0)
			return true;
	return false;
}

/* Copies a name, with _ instead of each -. */
static void plain_name(const char *name, char *out, size_t size)
{
	snprintf(out, size, "%s", name);
	for (char *p = out; *p; p++)
		if (*p == '-')
			*p = '_';
}

static void declare_hidden(sqlite3_str *text, const char *name)
{
	sqlite3_str_appendf(text, ", \"%w\" HIDDEN", name);
}

static void declare_option(const struct query_def *aux, sqlite3_str *text, size_t i)
{
	char name[100];

	plain_name(hdb_query_option(aux->spec, i)->name, name, 80);
	if (is_column(aux->spec, name) || strcmp(name, "target") == 0)
		strcat(name, "_option");
	declare_hidden(text, name);
}

static char *declare(struct sqlite3 *sqlite, const struct query_def *aux)
{
	const struct hdb_query_spec *spec = aux->spec;
	sqlite3_str *text = sqlite3_str_new(sqlite);

	for (size_t i = 0; i < spec->column_count; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "",
				    hdb_query_column(spec, i)->name,
				    sql_column_type(hdb_query_column(spec, i)->type));
	if (aux->by_first)
		declare_option(aux, text, 0);
	if (aux->has_target)
		declare_hidden(text, is_column(spec, "target") ? "target_arg" : "target");
	for (size_t i = aux->by_first; i < aux->option_count; i++)
		declare_option(aux, text, i);
	if (aux->has_before)
		declare_hidden(text, "before");
	return sqlite3_str_finish(text);
}

static void free_def(void *p)
{
	const struct query_def *d = p;

	sqlite3_free((char *)(uintptr_t)d->def.declaration);
	free(p);
}

/* ---- arguments ---- */

/*
 * Returns an argument as text. An integer target is an object ID. Returns NULL if memory is
 * exhausted.
 */
static const char *text_of(struct query_state *s, sqlite3_value *value, bool is_target)
{
	char *text;

	if (s->text_count == ARGS_MAX)
		return NULL;
	if (is_target && sqlite3_value_type(value) == SQLITE_INTEGER)
		text = sqlite3_mprintf("0x%llx", sqlite3_value_int64(value));
	else
		text = sqlite3_mprintf("%s", sqlite3_value_text(value) ?
						     (const char *)sqlite3_value_text(value) :
						     "");
	if (text)
		s->texts[s->text_count++] = text;
	return text;
}

/* Splits "a,b" into targets. Class names contain no commas. */
static void split_targets(struct query_state *s, char *text)
{
	for (char *at = text; at && s->args.target_count < ARGS_MAX;) {
		char *comma = strchr(at, ',');

		if (comma)
			*comma++ = '\0';
		while (*at == ' ')
			at++;
		s->targets[s->args.target_count++] = at;
		at = comma;
	}
	s->args.targets = s->targets;
}

static int take_before(struct sql_cursor *c, const char *name, struct hdb_error *err)
{
	struct sql_source *other = sql_source_named(c->source->owner, name);
	struct query_state *s = c->state;
	int r;

	if (!other || !other->database.path)
		return hdb_fail(err, HDB_EUSAGE, "no such database: %s", name);
	r = hdb_open(other->database.path, &other->database.open, &s->before, err);
	s->before_list = &s->before;
	s->args.before = s->before_list;
	s->args.before_count = r == HDB_OK;
	return r;
}

static int take_argument(struct sql_cursor *c, int number, sqlite3_value *value,
			 struct hdb_error *err)
{
	const struct query_def *aux = def_of(c);
	const struct hdb_option_spec *option;
	struct query_state *s = c->state;
	const char *text;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		return HDB_OK;
	/*
	 * Swaps the target and the first option, so that both are in the order of the query. If the
	 * argument for "by" is an object, the argument is the target.
	 */
	if (aux->by_first && number < 2 &&
	    !(number == 0 && sqlite3_value_type(value) == SQLITE_INTEGER))
		number = 1 - number;
	text = text_of(s, value, aux->has_target && number == 0);
	if (!text)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for an argument");
	if (aux->has_target && number-- == 0) {
		split_targets(s, s->texts[s->text_count - 1]);
		return HDB_OK;
	}
	if ((size_t)number >= aux->option_count)
		return take_before(c, text, err);
	option = hdb_query_option(aux->spec, (size_t)number);
	if (!option->argument && (strcmp(text, "0") == 0 || !*text))
		return HDB_OK; /* ignore a switch that is off */
	/* there is room, because each option has a string */
	assert(s->args.option_count < s->text_count);
	s->options[s->args.option_count++] = (struct hdb_option){
		.name = option->name,
		.value = option->argument ? text : NULL,
	};
	s->args.options = s->options;
	return HDB_OK;
}

/* Maps the table's columns to the columns of the rows, which options may select. */
static int map_columns(const struct hdb_query_spec *spec, struct query_state *s,
		       struct hdb_error *err)
{
	const size_t shown = hdb_rows_column_count(s->rows);

	assert(!s->columns);
	TRY(BASE_ALLOC(s->columns, spec->column_count + 1, "columns", err));
	for (size_t i = 0; i < spec->column_count; i++) {
		s->columns[i] = -1;
		for (size_t k = 0; k < shown; k++)
			if (strcmp(hdb_rows_column(s->rows, k)->name,
				   hdb_query_column(spec, i)->name) == 0)
				s->columns[i] = (int)k;
	}
	/* columns named by options take the remaining positions in order */
	for (size_t k = 0, at = 0; k < shown; k++) {
		if (is_column(spec, hdb_rows_column(s->rows, k)->name))
			continue;
		while (at < spec->column_count && s->columns[at] >= 0)
			at++;
		if (at < spec->column_count)
			s->columns[at] = (int)k;
	}
	return HDB_OK;
}

static int begin_query(struct sql_cursor *c, struct hdb_error *err)
{
	struct query_state *s = c->state;
	int r;

	for (int i = 0; i < ARGS_MAX; i++)
		if (c->key[i])
			TRY(take_argument(c, i, c->key[i], err));
	r = hdb_query(c->db, def_of(c)->spec->name, &s->args, &s->rows, err);
	/* a missing object means no rows, but a missing class is an error */
	if (r == HDB_NOTFOUND && s->args.target_count && strncmp(s->targets[0], "0x", 2) == 0)
		return HDB_END;
	if (r != HDB_OK)
		return r > 0 ? hdb_fail(err, HDB_EUSAGE, "%s", err->message) : r;
	return map_columns(def_of(c)->spec, s, err);
}

static int next_query(struct sql_cursor *c, struct hdb_error *err)
{
	return hdb_rows_next(((struct query_state *)c->state)->rows, err);
}

static int column_query(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			struct hdb_error *err)
{
	const struct query_state *s = c->state;

	(void)err;
	if (s->columns[column] >= 0)
		sql_result_value(ctx, hdb_rows_value(s->rows, (size_t)s->columns[column]));
	return HDB_OK;
}

static void end_query(struct sql_cursor *c)
{
	struct query_state *s = c->state;

	hdb_rows_close(s->rows);
	hdb_close(s->before);
	for (size_t i = 0; i < s->text_count; i++)
		sqlite3_free(s->texts[i]);
	free(s->columns);
}

static bool is_base_table(const char *name)
{
	for (size_t i = 0; i < SQL_OBJECT_TABLES; i++)
		if (sqlite3_stricmp(sql_object_tables[i].name, name) == 0)
			return true;
	for (size_t i = 0; sql_tables[i]; i++)
		if (sqlite3_stricmp(sql_tables[i]->name, name) == 0)
			return true;
	return false;
}

bool sql_has_table(const char *name)
{
	const char *query = sqlite3_strnicmp(name, "query_", 6) == 0 ? name + 6 : name;
	char plain[80];
	const size_t count = hdb_query_count();

	if (is_base_table(name))
		return true;
	for (size_t i = 0; i < count; i++) {
		plain_name(hdb_query_at(i)->name, plain, sizeof(plain));
		if (sqlite3_stricmp(plain, query) == 0 ||
		    sqlite3_stricmp(hdb_query_at(i)->name, query) == 0)
			return true;
	}
	return false;
}

bool sql_table_at(size_t no, struct heapsql_table *out, size_t *left)
{
	const size_t count = hdb_query_count();
	size_t tables = 0;

	while (sql_tables[tables])
		tables++;
	*out = (struct heapsql_table){ .kind = HEAPSQL_TABLE };
	if (no < SQL_OBJECT_TABLES) {
		snprintf(out->name, sizeof(out->name), "%s", sql_object_tables[no].name);
		out->help = sql_object_tables[no].help;
		return true;
	}
	no -= SQL_OBJECT_TABLES;
	if (no < tables) {
		snprintf(out->name, sizeof(out->name), "%s", sql_tables[no]->name);
		out->help = sql_tables[no]->help;
		for (size_t i = 0; i < sql_tables[no]->column_count; i++)
			out->needs_argument |=
				(sql_tables[no]->columns[i].cell & SQL_ARGUMENT) == SQL_ARGUMENT;
		out->kind = out->needs_argument ? HEAPSQL_FUNCTION : HEAPSQL_TABLE;
		return true;
	}
	no -= tables;
	if (no < count) {
		char plain[72];

		plain_name(hdb_query_at(no)->name, plain, sizeof(plain));
		snprintf(out->name, sizeof(out->name), "%s%s", is_base_table(plain) ? "query_" : "",
			 plain);
		out->help = hdb_query_at(no)->summary;
		out->needs_argument = hdb_query_at(no)->target_min > 0;
		out->kind = HEAPSQL_QUERY;
		return true;
	}
	*left = no - count;
	return false;
}

static int add(struct sql_source *source, const struct hdb_query_spec *spec, const char *name)
{
	struct query_def *d = calloc(1, sizeof(*d));
	size_t options;

	if (!d)
		return SQLITE_NOMEM;
	d->spec = spec;
	d->has_target = spec->targets[0] != '\0';
	d->by_first = spec->targets[0] == '[' && hdb_query_option(spec, 0) &&
		      strcmp(hdb_query_option(spec, 0)->name, "by") == 0;
	d->has_before = strcmp(spec->group, "compare") == 0;
	while (hdb_query_option(spec, d->option_count) && d->option_count < ARGS_MAX - 2)
		d->option_count++;
	options = d->option_count + d->has_target + d->has_before;
	d->def = (struct sql_table_def){
		.name = spec->name,
		.column_count = spec->column_count + options,
		.declaration = declare(source->sqlite, d),
		.option_count = options,
		.rows = 1000,
		.state_size = sizeof(struct query_state),
		.begin = begin_query,
		.next = next_query,
		.column = column_query,
		.end = end_query,
	};
	if (d->def.declaration)
		return sql_add_table(source, name, &d->def, free_def);
	free(d);
	return SQLITE_NOMEM;
}

int sql_register_queries(struct sql_source *source)
{
	const size_t count = hdb_query_count();

	for (size_t i = 0; i < count; i++) {
		char name[100], plain[80];

		plain_name(hdb_query_at(i)->name, plain, sizeof(plain));
		snprintf(name, sizeof(name), "query_%s", plain);
		TRY(add(source, hdb_query_at(i), name));
		if (!is_base_table(plain))
			TRY(add(source, hdb_query_at(i), plain));
		if (strcmp(plain, hdb_query_at(i)->name) != 0)
			TRY(add(source, hdb_query_at(i), hdb_query_at(i)->name));
	}
	return SQLITE_OK;
}

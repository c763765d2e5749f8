/*
 * sqlite/sql_queries.c - every query of the registry as a table-valued function.
 *
 * Its columns are the query's; its arguments are hidden columns: "target", where it takes one, then
 * its options in their order, then "before" where it compares. Where the target may be left out,
 * the option "by" comes before it: histogram('package'). A query is called by its name with _
 * for -, as "query_NAME", and by its name as it is in quotes. Where a base table has the name,
 * only the longer one is left.
 */
#include "sqlite/sql_private.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options of a query, and its targets. */
#define ARGS_MAX 48

struct query_aux {
	struct sql_source *source;
	const struct hdb_query_spec *spec;
	char *declaration; /* owned */
	bool has_target, has_before;
	bool by_first; /* its first option comes before the target, which may be left out */
	size_t option_count;
};

struct query_table {
	struct sqlite3_vtab base;
	const struct query_aux *aux;
};

struct query_cursor {
	struct sqlite3_vtab_cursor base;
	const struct query_aux *aux;
	struct hdb_rows *rows;
	struct hdb *before;    /* owned */
	char *texts[ARGS_MAX]; /* owned: what is lent to the rows */
	size_t text_count;
	const char *targets[ARGS_MAX];
	struct hdb_option options[ARGS_MAX];
	struct hdb_query_args args;
	struct hdb *const *before_list;
	int *columns; /* of the rows by column of the table; -1: not there; owned */
	int64_t row_no;
	bool at_end;
};

/* A column, or an option, that already has the name. */
static bool is_column(const struct hdb_query_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->column_count; i++)
		if (sqlite3_stricmp(spec->columns[i].name, name) == 0)
			return true;
	return false;
}

/* Names with - in them get _. */
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

static void declare_option(const struct query_aux *aux, sqlite3_str *text, size_t i)
{
	char name[100];

	plain_name(aux->spec->options[i].name, name, 80);
	if (is_column(aux->spec, name) || strcmp(name, "target") == 0)
		strcat(name, "_option");
	declare_hidden(text, name);
}

static char *declare(struct query_aux *aux)
{
	const struct hdb_query_spec *spec = aux->spec;
	sqlite3_str *text = sqlite3_str_new(aux->source->sqlite);

	for (size_t i = 0; i < spec->column_count; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", spec->columns[i].name,
				    sql_column_type(spec->columns[i].type));
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

static void free_aux(void *p)
{
	struct query_aux *aux = p;

	if (aux)
		sqlite3_free(aux->declaration);
	free(aux);
}

static struct query_aux *new_aux(struct sql_source *source, const struct hdb_query_spec *spec)
{
	struct query_aux *aux = calloc(1, sizeof(*aux));

	if (!aux)
		return NULL;
	aux->source = source;
	aux->spec = spec;
	aux->has_target = spec->targets[0] != '\0';
	aux->by_first = spec->targets[0] == '[' && spec->options[0].name &&
			strcmp(spec->options[0].name, "by") == 0;
	aux->has_before = strcmp(spec->group, "compare") == 0;
	while (spec->options[aux->option_count].name && aux->option_count < ARGS_MAX - 4)
		aux->option_count++;
	aux->declaration = declare(aux);
	if (!aux->declaration) {
		free_aux(aux);
		return NULL;
	}
	return aux;
}

/* ---- methods ---- */

/* NOLINTNEXTLINE(readability-function-size): SQLite says which parameters */
static int connect_query(sqlite3 *sqlite, void *p, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **message)
{
	const struct query_aux *aux = p;
	const int rc =
		sql_connect(aux->source, sqlite, aux->declaration, sizeof(struct query_table), out);

	(void)argc;
	(void)argv;
	(void)message;
	if (rc != SQLITE_OK)
		return rc;
	((struct query_table *)*out)->aux = aux;
	return SQLITE_OK;
}

/* Arguments, in the order of the hidden columns, whose numbers idxStr lists. */
static int best_query(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct query_aux *aux = ((struct query_table *)vtab)->aux;
	const int first = (int)aux->spec->column_count;
	char text[ARGS_MAX * 4 + 16] = "query";
	int next = 1;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (c->iColumn < first || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!c->usable)
			return SQLITE_CONSTRAINT;
		if (next >= ARGS_MAX)
			continue;
		info->aConstraintUsage[i].argvIndex = next++;
		info->aConstraintUsage[i].omit = 1;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %d",
			 c->iColumn - first);
	}
	info->idxStr = sqlite3_mprintf("%s", text);
	info->needToFreeIdxStr = 1;
	info->estimatedCost = 1e6;
	info->estimatedRows = 1000;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int open_query(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	const struct query_table *table = (const struct query_table *)vtab;
	const int rc = sql_open_cursor(sizeof(struct query_cursor), out);

	if (rc != SQLITE_OK)
		return rc;
	((struct query_cursor *)*out)->aux = table->aux;
	return SQLITE_OK;
}

static void end_query(struct query_cursor *c)
{
	hdb_rows_close(c->rows);
	c->rows = NULL;
	hdb_close(c->before);
	c->before = NULL;
	for (size_t i = 0; i < c->text_count; i++)
		sqlite3_free(c->texts[i]);
	c->text_count = 0;
	free(c->columns);
	c->columns = NULL;
	memset(&c->args, 0, sizeof(c->args));
}

static int close_query(sqlite3_vtab_cursor *cursor)
{
	end_query((struct query_cursor *)cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* The text of an argument: an integer target is an object. NULL: no memory. */
static const char *text_of(struct query_cursor *c, sqlite3_value *value, bool is_target)
{
	char *text;

	if (c->text_count == ARGS_MAX)
		return NULL;
	if (is_target && sqlite3_value_type(value) == SQLITE_INTEGER)
		text = sqlite3_mprintf("0x%llx", sqlite3_value_int64(value));
	else
		text = sqlite3_mprintf("%s", sqlite3_value_text(value) ?
						     (const char *)sqlite3_value_text(value) :
						     "");
	if (text)
		c->texts[c->text_count++] = text;
	return text;
}

/* "a,b" as two targets; names of classes have no commas. */
static void split_targets(struct query_cursor *c, char *text)
{
	for (char *at = text; at && c->args.target_count < ARGS_MAX;) {
		char *comma = strchr(at, ',');

		if (comma)
			*comma++ = '\0';
		while (*at == ' ')
			at++;
		c->targets[c->args.target_count++] = at;
		at = comma;
	}
	c->args.targets = c->targets;
}

static int take_before(struct query_cursor *c, const char *name, struct hdb_error *err)
{
	struct sql_source *other = sql_source_named(c->aux->source->owner, name);
	int r;

	if (!other || !other->database.reopen)
		return sql_fail(err, HDB_EUSAGE, "there is no database %s", name);
	r = other->database.reopen(other->database.ctx, &c->before, err);
	c->before_list = &c->before;
	c->args.before = c->before_list;
	c->args.before_count = r == HDB_OK;
	return r;
}

static int take_argument(struct query_cursor *c, int number, sqlite3_value *value,
			 struct hdb_error *err)
{
	const struct query_aux *aux = c->aux;
	const struct hdb_option_spec *option;
	const char *text;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		return HDB_OK;
	/*
	 * The numbers of target and first option as they are without this; an object in place of
	 * "by" is the target.
	 */
	if (aux->by_first && number < 2 &&
	    !(number == 0 && sqlite3_value_type(value) == SQLITE_INTEGER))
		number = 1 - number;
	text = text_of(c, value, aux->has_target && number == 0);
	if (!text)
		return sql_fail(err, HDB_ENOMEM, "no memory for an argument");
	if (aux->has_target && number-- == 0) {
		split_targets(c, c->texts[c->text_count - 1]);
		return HDB_OK;
	}
	if ((size_t)number >= aux->option_count)
		return take_before(c, text, err);
	option = &aux->spec->options[number];
	if (!option->argument && (strcmp(text, "0") == 0 || !*text))
		return HDB_OK;                        /* a switch that is off */
	assert(c->args.option_count < c->text_count); /* each has a text, and so there is room */
	c->options[c->args.option_count++] = (struct hdb_option){
		.name = option->name,
		.value = option->argument ? text : NULL,
	};
	c->args.options = c->options;
	return HDB_OK;
}

/* Which columns the rows have: options choose among the query's. */
static int map_columns(struct query_cursor *c, struct hdb_error *err)
{
	const struct hdb_query_spec *spec = c->aux->spec;
	const size_t shown = hdb_rows_column_count(c->rows);

	assert(!c->columns);
	c->columns = malloc((spec->column_count + 1) * sizeof(*c->columns));
	if (!c->columns)
		return sql_fail(err, HDB_ENOMEM, "no memory for columns");
	for (size_t i = 0; i < spec->column_count; i++) {
		c->columns[i] = -1;
		for (size_t k = 0; k < shown; k++)
			if (strcmp(hdb_rows_column(c->rows, k)->name, spec->columns[i].name) == 0)
				c->columns[i] = (int)k;
	}
	/* Columns that options have named take the places that are left, in their order. */
	for (size_t k = 0, at = 0; k < shown; k++) {
		if (is_column(spec, hdb_rows_column(c->rows, k)->name))
			continue;
		while (at < spec->column_count && c->columns[at] >= 0)
			at++;
		if (at < spec->column_count)
			c->columns[at] = (int)k;
	}
	return HDB_OK;
}

static int fail(struct query_cursor *c, int code, struct hdb_error *err)
{
	c->at_end = true;
	return sql_vtab_fail(c->base.pVtab, c->aux->source, code, err);
}

static int next_query(sqlite3_vtab_cursor *cursor)
{
	struct query_cursor *c = (struct query_cursor *)cursor;
	struct hdb_error err = { 0 };
	const int r = hdb_rows_next(c->rows, &err);

	c->row_no++;
	c->at_end = r != HDB_OK;
	return r < 0 ? fail(c, r, &err) : SQLITE_OK;
}

static int filter_query(sqlite3_vtab_cursor *cursor, int index, const char *text, int argc,
			sqlite3_value **argv)
{
	struct query_cursor *c = (struct query_cursor *)cursor;
	const char *at = text ? strchr(text, ' ') : NULL;
	struct hdb_error err = { 0 };
	int r;

	(void)index;
	end_query(c);
	c->row_no = 0;
	for (int i = 0; i < argc && at; i++) {
		r = take_argument(c, (int)strtol(at, NULL, 10), argv[i], &err);
		if (r < 0)
			return fail(c, r, &err);
		at = strchr(at + 1, ' ');
	}
	r = hdb_query(c->aux->source->db, c->aux->spec->name, &c->args, &c->rows, &err);
	/* An object that is not there has no rows; a class that is not there is an error. */
	if (r == HDB_NOTFOUND && c->args.target_count && strncmp(c->targets[0], "0x", 2) == 0) {
		c->at_end = true;
		return SQLITE_OK;
	}
	if (r != HDB_OK)
		return fail(c, r == HDB_NOTFOUND ? HDB_EUSAGE : r, &err);
	if ((r = map_columns(c, &err)) < 0)
		return fail(c, r, &err);
	return next_query(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct query_cursor *)cursor)->at_end;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int number)
{
	struct query_cursor *c = (struct query_cursor *)cursor;

	if ((size_t)number < c->aux->spec->column_count && c->columns[number] >= 0)
		sql_result_value(ctx, hdb_rows_value(c->rows, (size_t)c->columns[number]));
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	*out = ((struct query_cursor *)cursor)->row_no;
	return SQLITE_OK;
}

static const struct sqlite3_module module = {
	.iVersion = 0,
	.xCreate = connect_query,
	.xConnect = connect_query,
	.xBestIndex = best_query,
	.xDisconnect = sql_disconnect,
	.xDestroy = sql_disconnect,
	.xOpen = open_query,
	.xClose = close_query,
	.xFilter = filter_query,
	.xNext = next_query,
	.xEof = is_at_end,
	.xColumn = column,
	.xRowid = row_id,
};

static const char *const object_tables[] = { "objects", "instances", "arrays", "strings" };
#define OBJECT_TABLES (sizeof(object_tables) / sizeof(object_tables[0]))

static bool is_base_table(const char *name)
{
	for (size_t i = 0; i < OBJECT_TABLES; i++)
		if (sqlite3_stricmp(object_tables[i], name) == 0)
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
	size_t count;
	const struct hdb_query_spec *specs = hdb_queries(&count);

	if (is_base_table(name))
		return true;
	for (size_t i = 0; i < count; i++) {
		plain_name(specs[i].name, plain, sizeof(plain));
		if (sqlite3_stricmp(plain, query) == 0 ||
		    sqlite3_stricmp(specs[i].name, query) == 0)
			return true;
	}
	return false;
}

bool sql_table_at(size_t no, struct heapsql_table *out, size_t *left)
{
	static const char *const helps[] = {
		"every object: class, kind, sizes, dominator",
		"objects of the classes that a pattern names",
		"arrays: type, length, sizes",
		"strings and their texts",
	};
	size_t count, tables = 0;
	const struct hdb_query_spec *specs = hdb_queries(&count);

	static_assert(sizeof(helps) / sizeof(helps[0]) == OBJECT_TABLES, "a text for each");
	while (sql_tables[tables])
		tables++;
	*out = (struct heapsql_table){ .kind = HEAPSQL_TABLE };
	if (no < OBJECT_TABLES) {
		snprintf(out->name, sizeof(out->name), "%s", object_tables[no]);
		out->help = helps[no];
		return true;
	}
	no -= OBJECT_TABLES;
	if (no < tables) {
		snprintf(out->name, sizeof(out->name), "%s", sql_tables[no]->name);
		out->help = sql_tables[no]->help;
		out->needs_argument = sql_tables[no]->required_args > 0;
		out->kind = out->needs_argument ? HEAPSQL_FUNCTION : HEAPSQL_TABLE;
		return true;
	}
	no -= tables;
	if (no < count) {
		char plain[72];

		plain_name(specs[no].name, plain, sizeof(plain));
		snprintf(out->name, sizeof(out->name), "%s%s", is_base_table(plain) ? "query_" : "",
			 plain);
		out->help = specs[no].summary;
		out->needs_argument = specs[no].target_min > 0;
		out->kind = HEAPSQL_QUERY;
		return true;
	}
	*left = no - count;
	return false;
}

static int add(struct sql_source *source, const struct hdb_query_spec *spec, const char *name)
{
	struct query_aux *aux = new_aux(source, spec);

	return aux ? sql_make_table(source, name, &module, aux, free_aux) : SQLITE_NOMEM;
}

int sql_register_queries(struct sql_source *source)
{
	size_t count;
	const struct hdb_query_spec *specs = hdb_queries(&count);
	int rc;

	for (size_t i = 0; i < count; i++) {
		char name[100], plain[80];

		plain_name(specs[i].name, plain, sizeof(plain));
		snprintf(name, sizeof(name), "query_%s", plain);
		if ((rc = add(source, &specs[i], name)) != SQLITE_OK)
			return rc;
		if (!is_base_table(plain) && (rc = add(source, &specs[i], plain)) != SQLITE_OK)
			return rc;
		if (strcmp(plain, specs[i].name) != 0 &&
		    (rc = add(source, &specs[i], specs[i].name)) != SQLITE_OK)
			return rc;
	}
	return SQLITE_OK;
}

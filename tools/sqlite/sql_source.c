/*
 * sqlite/sql_source.c - a database as seen by SQLite modules: its tables and functions, and class
 * tables, which are created when a statement mentions them.
 */
#include "sqlite/sql_private.h"

/* Maximum number of class tables in a connection. */
#define MADE_MAX 4096

int sql_source_open(struct sqlite3 *sqlite, const struct heapsql_database *database,
		    struct sql_source **out, struct hdb_error *err)
{
	struct sql_source *source;

	TRY(BASE_ALLOC(source, 1, "a database", err));
	source->sqlite = sqlite;
	source->database = *database;
	source->db = database->db;
	source->name = strdup(database->name ? database->name : "main");
	source->is_only = !database->name;
	source->database.name = NULL; /* borrowed: the source has its own copy */
	source->name_sizes =
		calloc((size_t)hdb_class_count(source->db) + 1, sizeof(*source->name_sizes));
	if (!source->name || !source->name_sizes) {
		sql_source_close(source);
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a database");
	}
	*out = source;
	return HDB_OK;
}

void sql_source_close(struct sql_source *source)
{
	if (!source)
		return;
	for (size_t i = 0; i < source->made_count; i++)
		free(source->made[i]);
	base_vec_release(&source->made_vec);
	while (source->reader_count)
		hdb_references_close(source->readers[--source->reader_count]);
	if (source->owns_db) {
		hdb_close(source->db);
		free((char *)(uintptr_t)source->database.path);
	}
	free(source->counts);
	free(source->retained);
	free(source->name_sizes);
	free(source->name);
	free(source);
}

/* ---- the catalogue ---- */

static int on_pragma(void *ctx, int count, char **values, char **names)
{
	(void)names;
	*(bool *)ctx = count && values[0] && strcmp(values[0], "1") == 0;
	return 0;
}

/*
 * Lists queries as query_NAME, since clients have tables of their own with names such as "tables".
 * The connection's own tables are not replaced.
 */
static int list_table(struct sqlite3 *sqlite, const char *schema, const struct heapsql_table *table,
		      struct hdb_error *err)
{
	const bool is_plain =
		table->kind == HEAPSQL_QUERY && strncmp(table->name, "query_", 6) != 0;
	char *name = sqlite3_mprintf("%s%s", is_plain ? "query_" : "", table->name);
	char *made = NULL;
	int r = HDB_OK;

	if (!name || sqlite3_table_column_metadata(sqlite, "main", name, NULL, NULL, NULL, NULL,
						   NULL, NULL) != SQLITE_OK) {
		if (name)
			made = sqlite3_mprintf(
				"CREATE VIRTUAL TABLE %s.\"%w\" USING \"%w\"(/* %s */)", schema,
				name, name, table->help);
		if (!made || sqlite3_exec(sqlite, made, NULL, NULL, NULL) != SQLITE_OK)
			r = hdb_fail(err, HDB_ELIMIT, "%s", sqlite3_errmsg(sqlite));
		sqlite3_free(made);
	}
	sqlite3_free(name);
	return r;
}

/*
 * Lists the tables in the catalogue. The eponymous tables of the only database can be used by name,
 * but clients read the catalogue. Datasette sets query_only, which would reject even these tables.
 */
int sql_list_tables(struct sql_source *source, struct hdb_error *err)
{
	const char *file = sqlite3_db_filename(source->sqlite, "main");
	const char *schema = file && *file ? "temp" : "main";
	struct heapsql_table table;
	bool is_query_only = false;
	size_t left;
	int r = HDB_OK;

	sqlite3_exec(source->sqlite, "PRAGMA query_only", on_pragma, &is_query_only, NULL);
	if (is_query_only)
		sqlite3_exec(source->sqlite, "PRAGMA query_only = 0", NULL, NULL, NULL);

	for (size_t no = 0; r == HDB_OK && sql_table_at(no, &table, &left); no++)
		if (!table.needs_argument)
			r = list_table(source->sqlite, schema, &table, err);
	if (is_query_only)
		sqlite3_exec(source->sqlite, "PRAGMA query_only = 1", NULL, NULL, NULL);
	return r;
}

int sql_register(struct sql_source *source, struct hdb_error *err)
{
	int rc = sql_register_queries(source);

	if (rc == SQLITE_OK)
		rc = sql_register_objects(source);
	if (rc == SQLITE_OK)
		rc = sql_register_tables(source);
	if (rc == SQLITE_OK)
		return HDB_OK;
	return hdb_fail(err, rc == SQLITE_NOMEM ? HDB_ENOMEM : HDB_EBUG,
			"cannot create the tables: %s", sqlite3_errmsg(source->sqlite));
}

/* ---- names of classes ---- */

/* Returns whether the name, or the name without a final "+", is a class. */
static bool is_class(struct hdb *db, char *name)
{
	const size_t size = strlen(name);
	bool is_it = size && hdb_class_named(db, name, 0) != HDB_NONE;

	if (!is_it && size > 1 && name[size - 1] == '+') {
		name[size - 1] = '\0';
		is_it = hdb_class_named(db, name, 0) != HDB_NONE;
		name[size - 1] = '+';
	}
	return is_it;
}

/* Creates the table of a class unless the table exists. */
static int make_class(struct sql_source *source, const char *name, struct hdb_error *err)
{
	size_t same = MADE_MAX;
	char *copy;

	assert(source->made_count <= MADE_MAX);
	for (size_t i = 0; i < source->made_count; i++) {
		if (strcmp(source->made[i], name) == 0)
			return HDB_OK;
		/*
		 * SQLite ignores case, so this table replaces a table whose name differs only in
		 * case
		 */
		if (sqlite3_stricmp(source->made[i], name) == 0)
			same = i;
	}
	if (same == MADE_MAX && source->made_count == MADE_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many class tables (limit %d)", MADE_MAX);
	TRY(base_vec_reserve(&source->made_vec, 1, sizeof(*source->made), err));
	TRY(sql_define_class(source, name, err));
	TRY(BASE_COPY(copy, name, "a table", err));
	if (same < MADE_MAX)
		free(source->made[same]);
	else
		same = source->made_count++;
	source->made[same] = copy;
	return HDB_OK;
}

int sql_define_classes(struct sql_source *source, const char *statement, struct hdb_error *err)
{
	const size_t size = strlen(statement) + 1;
	BASE_FREED char *name = malloc(size);
	struct sql_word word;

	if (!name)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a statement");
	for (; sql_next_word(statement, &word); statement = word.at + word.size) {
		if (word.kind != SQL_WORD && word.kind != SQL_QUOTED)
			continue;
		sql_word_text(&word, name, size);
		if (!sql_has_table(name) && is_class(source->db, name))
			TRY(make_class(source, name, err));
	}
	return HDB_OK;
}

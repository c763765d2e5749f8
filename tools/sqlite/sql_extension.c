/*
 * sqlite/sql_extension.c - heapdb as a loadable SQLite extension: sqlite3's .load, Python's
 * load_extension, Datasette.
 *
 * heapdb_open('x.heapdb') opens a database for the connection and defines its tables, including one
 * per class; heapdb_open('y.heapdb', 'y') opens another as the schema y. With 'all' as the last
 * argument, tables include unreachable objects. Tables that need no arguments appear in the
 * schema's catalogue.
 *
 * Nothing is written to the connection's own database: tables are in "main" if that is in memory,
 * otherwise in "temp".
 */
#ifdef HEAPSQL_EXTENSION
#include "sqlite/sql_private.h"

SQLITE_EXTENSION_INIT1

/* SQLite's limit of attached databases. */
#define DATABASES_MAX 10

/* Databases opened by a connection, freed with it. */
struct heapsql {
	struct sql_source *sources[DATABASES_MAX];
	size_t count;
};

bool sql_set_guard(struct heapsql *sql, bool is_on)
{
	(void)sql;
	return is_on;
}

struct sql_source *sql_source_named(struct heapsql *sql, const char *name)
{
	for (size_t i = 0; i < sql->count; i++)
		if (sqlite3_stricmp(sql->sources[i]->name, name) == 0)
			return sql->sources[i];
	return NULL;
}

int sql_retained_of(struct sql_source *source, const uint32_t *ixs, size_t count, uint64_t *bytes,
		    struct hdb_error *err)
{
	struct hdb_set set = { .ixs = ixs, .count = count };
	const int r = hdb_retained_sets(source->db, &set, 1, err);

	*bytes = set.retained_bytes;
	return r;
}

/*
 * Announces two tables for a class: one of its own instances, and one that includes the instances
 * of subclasses.
 */
static int announce(struct sql_source *source, const char *name, struct hdb_error *err)
{
	char *with_sub = sqlite3_mprintf("%s+", name);
	int r;

	if (!with_sub)
		return HDB_ENOMEM;
	r = sql_announce_class(source, name, err);
	if (r >= 0)
		r = sql_announce_class(source, with_sub, err);
	sqlite3_free(with_sub);
	return r;
}

/* NOLINTNEXTLINE(readability-function-size): SQLite defines the parameters */
static int no_create(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
		     char **message)
{
	(void)db;
	(void)aux;
	(void)argc;
	(void)argv;
	(void)out;
	(void)message;
	return SQLITE_ERROR;
}

/* NOLINTNEXTLINE(readability-function-size): SQLite defines the parameters */
static int no_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
		      char **message)
{
	*message = sqlite3_mprintf("heapdb_database is not a table");
	return no_create(db, aux, argc, argv, out, message);
}

static void close_source(void *p)
{
	sql_source_close(p);
}

/*
 * Keeps the source until the connection is closed, by letting a module without a table own it.
 * SQLite destroys modules in any order, but by then the other modules no longer use the source.
 */
static int keep_source(struct sqlite3 *sqlite, struct sql_source *source)
{
	static const struct sqlite3_module module = { .xCreate = no_create,
						      .xConnect = no_connect };
	char *name = sqlite3_mprintf("heapdb_database %s", source->name);
	const int rc =
		name ? sqlite3_create_module_v2(sqlite, name, &module, source, close_source) :
		       SQLITE_NOMEM;

	sqlite3_free(name);
	return rc;
}

/* Runs one of the extension's own statements, and frees its text. */
static int run(struct sqlite3 *sqlite, char *statement, struct hdb_error *err)
{
	const int rc = statement ? sqlite3_exec(sqlite, statement, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(statement);
	return rc == SQLITE_OK ?
		       HDB_OK :
		       hdb_fail(err, HDB_ELIMIT, "heapdb_open: %s", sqlite3_errmsg(sqlite));
}

static int make_tables(struct sql_source *source, bool is_first, struct hdb_error *err)
{
	TRY(sql_register(source, err));
	if (source->is_only)
		TRY(sql_list_tables(source, err));
	/*
	 * Registers a module for each class, because SQLite finds an eponymous table only through a
	 * module of the same name.
	 */
	for (uint32_t no = 0; source->is_only && no < hdb_class_count(source->db); no++) {
		const char *name = hdb_class_name(source->db, no);

		if (!sql_has_table(name))
			TRY(announce(source, name, err));
	}
	return is_first && sql_register_functions(source) != SQLITE_OK ?
		       hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for functions") :
		       HDB_OK;
}

/* Opens a database, or the database of a dump. */
static int open_file(const char *path, struct heapsql_database *database, struct hdb_error *err)
{
	const size_t size = strlen(path);
	char made[4096];
	int r;

	if (size > 7 && strcmp(path + size - 7, ".heapdb") == 0) {
		r = hdb_open(path, NULL, &database->db, err);
	} else {
		TRY(hdb_default_path(path, made, sizeof(made), err));
		r = hdb_open(made, NULL, &database->db, err);
		if (r == HDB_EABSENT)
			return hdb_fail(err, r,
					"%s has no heap database; create it with heapdb import "
					"'%s'",
					path, path);
		path = made;
	}
	TRY(r);
	database->open.struct_size = sizeof(database->open);
	return BASE_COPY(database->path, path, "a database", err);
}

static int open_database(struct heapsql *sql, struct sqlite3 *sqlite, const char *path,
			 struct heapsql_database *database, struct hdb_error *err)
{
	struct sql_source *source = NULL;
	int r = open_file(path, database, err);

	if (r == HDB_OK && database->name)
		r = run(sqlite, sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", database->name),
			err);
	if (r == HDB_OK)
		r = sql_source_open(sqlite, database, &source, err);
	if (r < 0) {
		hdb_close(database->db);
		free((char *)(uintptr_t)database->path);
		return r;
	}
	source->owns_db = true;
	source->owner = sql;
	/* from here on the connection owns the source, even after a failure */
	if (keep_source(sqlite, source) != SQLITE_OK)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a database");
	sql->sources[sql->count++] = source;
	return make_tables(source, sql->count == 1, err);
}

static const char *refusal(const struct heapsql *sql, const struct heapsql_database *database,
			   const char *path)
{
	if (!path)
		return "heapdb_open requires the name of a heap database";
	if (sql->count == DATABASES_MAX)
		return "heapdb_open: too many databases";
	if (!database->name && sql->count)
		return "heapdb_open: a second database needs a name: heapdb_open('y.heapdb', 'y')";
	return NULL;
}

/* Implements heapdb_open(path [, name] [, 'all']). */
static void do_open(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct heapsql *sql = sqlite3_user_data(ctx);
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	const char *last = argc > 1 ? (const char *)sqlite3_value_text(argv[argc - 1]) : NULL;
	struct heapsql_database database = { .all = last && strcmp(last, "all") == 0 };
	struct hdb_error err = { 0 };
	const char *why;
	int r;

	if (argc > (database.all ? 2 : 1))
		database.name = (const char *)sqlite3_value_text(argv[1]);
	if (argc == 3 && !database.all) {
		sqlite3_result_error(ctx, "heapdb_open: only 'all' may follow the name", -1);
		return;
	}
	why = refusal(sql, &database, path);
	if (why) {
		sqlite3_result_error(ctx, why, -1);
		return;
	}
	r = open_database(sql, sqlite3_context_db_handle(ctx), path, &database, &err);
	if (r < 0)
		sqlite3_result_error(ctx, err.message, -1);
	else
		sqlite3_result_text(ctx, path, -1, SQLITE_TRANSIENT);
}

int sqlite3_heapdb_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
__attribute__((visibility("default"))) int sqlite3_heapdb_init(sqlite3 *db, char **message,
							       const sqlite3_api_routines *api)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	struct heapsql *opened;
	int rc;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < 3038000) {
		*message = sqlite3_mprintf("heapdb requires SQLite 3.38 or later, not %s",
					   sqlite3_libversion());
		return SQLITE_ERROR;
	}
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return SQLITE_NOMEM;
	/*
	 * SQLite's own functions cannot be replaced if a statement loads the extension: SELECT
	 * load_extension(...)
	 */
	rc = sql_register_plain(db, NULL);
	if (rc != SQLITE_OK && rc != SQLITE_BUSY) {
		free(opened);
		return rc;
	}
	rc = sqlite3_create_function_v2(db, "heapdb_open", 1, flags, opened, do_open, NULL, NULL,
					free);
	for (int argc = 2; rc == SQLITE_OK && argc <= 3; argc++)
		rc = sqlite3_create_function_v2(db, "heapdb_open", argc, flags, opened, do_open,
						NULL, NULL, NULL);
	return rc;
}
#endif

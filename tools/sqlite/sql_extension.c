/*
 * sqlite/sql_extension.c - heapdb as an extension that SQLite loads: sqlite3's .load, Python's
 * load_extension, Datasette.
 *
 * heapdb_open('x.heapdb') opens a database for the connection: its tables are then there under
 * their names, every class too; they show reachable objects, after heapdb_open('x.heapdb', 'all')
 * unreachable ones, too. Nothing is written to the connection's own database.
 */
#ifdef HEAPSQL_EXTENSION
#include "sqlite/sql_private.h"

#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

/* What the connection has open: freed with it. */
struct opened {
	struct sql_source *source;
};

bool sql_set_guard(struct heapsql *sql, bool is_on)
{
	(void)sql;
	return is_on;
}

struct sql_source *sql_source_named(struct heapsql *sql, const char *name)
{
	(void)sql;
	(void)name;
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

/* A class, and the class with its subclasses. */
static int announce(struct sql_source *source, const char *name, struct hdb_error *err)
{
	char *with_sub = sqlite3_mprintf("%s+", name);
	int r;

	if (!with_sub)
		return HDB_ENOMEM;
	if ((r = sql_announce_class(source, name, err)) < 0)
		goto out;
	r = sql_announce_class(source, with_sub, err);
out:
	sqlite3_free(with_sub);
	return r;
}

/* NOLINTNEXTLINE(readability-function-size): SQLite says which parameters */
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

/* NOLINTNEXTLINE(readability-function-size): SQLite says which parameters */
static int no_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
		      char **message)
{
	*message = sqlite3_mprintf("heapdb_database is no table");
	return no_create(db, aux, argc, argv, out, message);
}

static void close_source(void *p)
{
	sql_source_close(p);
}

/*
 * The source lives as long as the connection: it belongs to a module that is no table. Other
 * modules go at the same time, in any order, and none looks at the source when it goes.
 */
static int keep_source(struct sqlite3 *sqlite, struct sql_source *source)
{
	static const struct sqlite3_module module = { .xCreate = no_create,
						      .xConnect = no_connect };

	return sqlite3_create_module_v2(sqlite, "heapdb_database", &module, source, close_source);
}

static int open_database(struct sqlite3 *sqlite, const char *path, bool all,
			 struct sql_source **out, struct hdb_error *err)
{
	struct heapsql_database database = { .all = all };
	int r;

	TRY_ERRORS(hdb_open(path, NULL, &database.db, err));
	r = sql_source_open(sqlite, &database, out, err);
	if (r < 0) {
		hdb_close(database.db);
		return r;
	}
	(*out)->owns_db = true;
	/* From here on the connection has it, also after a failure. */
	if (keep_source(sqlite, *out) != SQLITE_OK) {
		*out = NULL;
		return sql_fail(err, HDB_ENOMEM, "no memory for a database");
	}
	if ((r = sql_register(*out, err)) < 0)
		return r;
	/* All classes by name: SQLite finds a table only by a module of its name. */
	for (uint32_t no = 0; no < hdb_class_count(database.db); no++) {
		const char *name = hdb_class_name(database.db, no);

		if (!sql_has_table(name) && (r = announce(*out, name, err)) < 0)
			return r;
	}
	return sql_register_functions(*out) != SQLITE_OK ?
		       sql_fail(err, HDB_ENOMEM, "no memory for functions") :
		       HDB_OK;
}

static void do_open(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct opened *opened = sqlite3_user_data(ctx);
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	const char *what = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
	struct hdb_error err = { 0 };
	int r;

	if (argc > 1 && (!what || strcmp(what, "all") != 0)) {
		sqlite3_result_error(ctx, "heapdb_open: after the name only 'all' may follow", -1);
		return;
	}
	if (!path) {
		sqlite3_result_error(ctx, "heapdb_open takes the name of a heap database", -1);
		return;
	}
	if (opened->source) {
		sqlite3_result_error(ctx, "a connection opens one heap database", -1);
		return;
	}
	r = open_database(sqlite3_context_db_handle(ctx), path, what != NULL, &opened->source,
			  &err);
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
	struct opened *opened;
	int rc;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < 3038000) {
		*message = sqlite3_mprintf("heapdb needs SQLite 3.38 or newer, this is %s",
					   sqlite3_libversion());
		return SQLITE_ERROR;
	}
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return SQLITE_NOMEM;
	/* Loaded by a statement, SELECT load_extension(...), SQLite keeps its own hex(). */
	rc = sql_register_hex(db);
	if (rc != SQLITE_OK && rc != SQLITE_BUSY) {
		free(opened);
		return rc;
	}
	rc = sqlite3_create_function_v2(db, "heapdb_open", 1, flags, opened, do_open, NULL, NULL,
					free);
	return rc != SQLITE_OK ? rc :
				 sqlite3_create_function_v2(db, "heapdb_open", 2, flags, opened,
							    do_open, NULL, NULL, NULL);
}
#endif

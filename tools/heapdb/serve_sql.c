/*
 * heapdb/serve_sql.c - runs one SQL statement for the page, on its own connection over the worker's
 * handles, within limits.
 */
#include "heapdb/cli.h"
#include "heapdb/serve_answers.h"
#include "heapdb/sql_rows.h"

#if defined(HAVE_SQLITE) && defined(HAVE_SERVE)

#include "sqlite/sqlite.h"

/* Memory of SQLite for all workers together, and maximum bytes of text in an answer. */
#define MEMORY_MAX ((uint64_t)64 << 20)
#define TEXTS_MAX ((uint64_t)32 << 20)

/*
 * Makes a schema name: "before" for "before.heapdb", or the database's number if the name is
 * invalid or taken.
 */
static void name_schema(char *name, size_t size, const char *file, size_t number)
{
	const int length = (int)strcspn(file, ".");

	if (number == SIZE_MAX)
		snprintf(name, size, "%.*s", length, file);
	else
		snprintf(name, size, "db%zu", number);
}

/*
 * A single database is the schema main. Several databases each have their own schema; unqualified
 * names refer to the first, because SQLite searches schemas in order of attachment and main, which
 * stays empty, does not interfere.
 */
static int add_databases(struct heapsql *sql, const struct serve_statement *ask,
			 struct hdb_error *err)
{
	const struct serve_options *o = ask->options;
	int rc;

	assert(ask->database < o->database_count);
	for (size_t i = 0; i < o->database_count; i++) {
		const size_t no = (ask->database + i) % o->database_count;
		char name[64];
		struct heapsql_database database = {
			.db = ask->handles[no],
			.all = ask->all,
			.path = o->databases[no].db_path,
			.open = { .struct_size = sizeof(database.open),
				  .dump_path = o->databases[no].dump_path,
				  .memory_bytes = o->memory_bytes,
				  .tmp_dir = o->tmp_dir,
				  .progress = { .cancel = ask->cancel } },
		};

		if (o->database_count > 1) {
			name_schema(name, sizeof(name), o->databases[no].name, SIZE_MAX);
			database.name = name;
		}
		rc = heapsql_add(sql, &database, err);
		if (rc == HDB_EUSAGE && database.name) {
			name_schema(name, sizeof(name), "", no);
			*err = (struct hdb_error){ 0 };
			rc = heapsql_add(sql, &database, err);
		}
		/*
		 * SQLite attaches at most ten databases. Further ones cannot be named in a
		 * statement.
		 */
		if (rc == HDB_ELIMIT && i > 0) {
			*err = (struct hdb_error){ 0 };
			return HDB_OK;
		}
		TRY(rc);
	}
	return HDB_OK;
}

/* Fails if anything but blanks and semicolons follows the statement. */
static int check_rest(const char *rest, struct hdb_error *err)
{
	return rest[strspn(rest, " \t\r\n;")] == '\0' ?
		       HDB_OK :
		       hdb_fail(err, HDB_EUSAGE,
				"expected one statement, but a second statement follows the "
				"first semicolon");
}

static int run(struct heapsql *sql, const struct serve_statement *ask, const struct serve_sink *to,
	       struct hdb_error *err)
{
	BASE_SCOPED(heapsql_rows_close_at) struct heapsql_rows *rows = NULL;
	struct sql_rows source;
	struct answer answer = {
		.name = "sql", .source = &source.source, .limit = ask->limit, .err = err
	};
	const char *rest;

	TRY(heapsql_prepare(sql, ask->text, &rest, &rows, err));
	if (!rows)
		return hdb_fail(err, HDB_EUSAGE,
				"missing SQL statement, such as SELECT * FROM objects ORDER BY "
				"retained DESC LIMIT 10");
	TRY(check_rest(rest, err));
	TRY(sql_rows_begin(&source, rows, err));
	source.texts_max = to->format == SERVE_PAGE ? TEXTS_MAX : 0;
	return serve_write_answer(&answer, to);
}

static int write_sql(const struct serve_statement *ask, const struct serve_sink *to,
		     struct hdb_error *err)
{
	const struct heapsql_options options = { .memory_bytes = MEMORY_MAX,
						 .cancel = ask->cancel };
	BASE_SCOPED(heapsql_close_at) struct heapsql *sql = NULL;

	TRY(heapsql_open(&options, &sql, err));
	TRY(add_databases(sql, ask, err));
	return run(sql, ask, to, err);
}

serve_sql_writer *serve_sql(void)
{
	return write_sql;
}

#else

serve_sql_writer *serve_sql(void)
{
	return NULL;
}

#endif

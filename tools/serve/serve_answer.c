/*
 * serve/serve_answer.c - implements serve_answer.h.
 */
#include "serve/serve_answer.h"

#include "base/error.h"
#include "base/scope.h"
#include "common/answer.h"
#include "export/export.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- writing ---- */

static int write_bytes(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	struct output *out = ctx;

	output_bytes(out, data, size);
	return out->error ? hdb_fail(err, HDB_EIO, "%s", strerror(out->error)) : HDB_OK;
}

static int write_parquet(struct answer *answer, struct output *out)
{
	struct answer_columns columns = { answer, out };
	const struct export_options options = { .format = EXPORT_PARQUET };
	const struct export_sink sink = { write_bytes, out };
	struct ArrowArrayStream stream = { 0 };
	int rc;

	TRY(answer_stream(&columns, &stream));
	rc = export_stream(&stream, &options, &sink, NULL, answer->err);
	stream.release(&stream);
	return rc;
}

static int write_answer(struct answer *answer, enum serve_format format, struct output *out)
{
	int rc;

	if (answer->rows && (format == SERVE_CSV || format == SERVE_PARQUET))
		TRY(answer_thin(answer, false));
	if (format == SERVE_CSV)
		return render_csv(answer, out);
	if (format == SERVE_PARQUET)
		return write_parquet(answer, out);
	rc = render_json(answer, out);
	if (rc == HDB_OK || !answer->is_open || format == SERVE_JSON)
		return rc;
	render_json_error(out, true, answer->err, 0);
	return HDB_OK;
}

/* Writes an answer to the file of the job. */
static int put_answer(const struct serve_means *means, struct serve_job *job, struct answer *answer)
{
	BASE_FREED struct output *out = NULL;
	int copy, rc;

	TRY(BASE_ALLOC(out, 1, "an answer", answer->err));
	copy = dup(job->fd);
	if (copy < 0)
		return hdb_fail(answer->err, HDB_EIO, "cannot store the answer: %s",
				strerror(errno));
	output_init(out, copy, NULL);
	answer->limit = job->limit;
	answer->size_max = job->format == SERVE_PAGE ? SERVE_ANSWER_MAX : SERVE_EXPORT_MAX;
	answer->written = &job->rows;
	answer->cancel = means->cancel;
	answer->filter = job->filter;
	rc = write_answer(answer, job->format, out);
	if (output_close(out) != 0)
		rc = hdb_fail(answer->err, HDB_EIO, "cannot store the answer: %s",
			      strerror(out->error));
	answer_release(answer);
	return rc;
}

/* ---- queries ---- */

int serve_query(const struct serve_means *means, struct serve_job *job)
{
	struct hdb_query_args args = {
		.struct_size = sizeof(args),
		.targets = job->targets,
		.target_count = job->target_count,
		.options = job->options,
		.option_count = job->option_count,
		.sort = job->sort,
		.limit = job->filter ? 0 : job->limit,
		.before_count = job->before_count,
	};
	struct answer answer = { .args = &args, .err = &job->err };

	assert(job->spec);
	assert(job->database < means->options->database_count);
	assert(job->before_count <= SERVE_DATABASES_MAX);
	for (size_t i = 0; i < job->before_count; i++)
		job->others[i] = means->databases[job->before[i]];
	if (job->before_count > 0)
		args.before = job->others;
	TRY(hdb_query(means->databases[job->database], job->spec->name, &args, &job->opened,
		      &job->err));
	answer.name = job->spec->name;
	answer.rows = job->opened;
	return put_answer(means, job, &answer);
}

/* ---- statements ---- */

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"

/* Memory of SQLite for all workers together, and maximum number of bytes of text in an answer. */
#define MEMORY_MAX ((uint64_t)64 << 20)
#define TEXTS_MAX ((uint64_t)32 << 20)

/*
 * Makes a schema name, such as "before" for "before.heapdb". If this name is invalid or taken, uses
 * the number of the database instead.
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
 * Adds the databases of a job. A single database has the schema main. Several databases each have
 * their own schema; unqualified names refer to the first, because SQLite searches schemas in order
 * of attachment and main, which stays empty, does not interfere.
 */
static int add_databases(struct heapsql *sql, const struct serve_means *means,
			 struct serve_job *job)
{
	const struct serve_options *o = means->options;
	struct hdb_error *err = &job->err;
	int rc;

	assert(job->database < o->database_count);
	for (size_t i = 0; i < o->database_count; i++) {
		const size_t no = (job->database + i) % o->database_count;
		char name[64];
		struct heapsql_database database = {
			.db = means->databases[no],
			.all = job->all,
			.path = o->databases[no].db_path,
			.open = { .struct_size = sizeof(database.open),
				  .dump_path = o->databases[no].dump_path,
				  .memory_bytes = o->memory_bytes,
				  .tmp_dir = o->tmp_dir,
				  .progress = { .cancel = means->cancel } },
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
		 * SQLite attaches at most ten databases; a statement cannot use further databases
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

int serve_sql(const struct serve_means *means, struct serve_job *job)
{
	const struct heapsql_options options = { .memory_bytes = MEMORY_MAX,
						 .cancel = means->cancel };
	BASE_SCOPED(heapsql_close_at) struct heapsql *sql = NULL;
	BASE_SCOPED(heapsql_rows_close_at) struct heapsql_rows *rows = NULL;
	struct heapsql_answer read;
	struct answer answer = { .name = "sql", .source = &read.source, .err = &job->err };
	const char *rest;

	TRY(heapsql_open(&options, &sql, &job->err));
	TRY(add_databases(sql, means, job));
	TRY(heapsql_prepare(sql, job->statement, &rest, &rows, &job->err));
	if (!rows)
		return hdb_fail(&job->err, HDB_EUSAGE,
				"missing SQL statement, such as SELECT * FROM objects ORDER BY "
				"retained DESC LIMIT 10");
	TRY(check_rest(rest, &job->err));
	TRY(heapsql_answer(&read, rows, &job->err));
	read.texts_max = job->format == SERVE_PAGE ? TEXTS_MAX : 0;
	return put_answer(means, job, &answer);
}

#else

int serve_sql(const struct serve_means *means, struct serve_job *job)
{
	(void)means;
	return hdb_fail(&job->err, HDB_EUSAGE, "this heapdb was built without SQLite");
}

#endif

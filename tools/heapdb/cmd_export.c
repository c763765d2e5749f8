/*
 * heapdb/cmd_export.c - `heapdb export`: writes the rows of a query or SQL statement as text
 * (renderer) or as columns (export/), to standard output or a file.
 */
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/render.h"
#include "heapdb/report.h"
#include "heapdb/sql_shell.h"
#include "heapdb/where.h"

#include "base/scope.h"
#include "base/vec.h"
#include "export/export.h"

#include "common/door_rows.h"

#include <strings.h>

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"
#endif

static bool is_columns(const struct options *opt)
{
	return opt->format >= FORMAT_PARQUET;
}

/* ---- statements ---- */

char *export_statement(const char *operand)
{
#ifdef HAVE_SQLITE
	static const char *const words[] = { "select", "with", "values" };
	const char *at = operand + strspn(operand, " \t\r\n(");
	const size_t size = strlen(operand) + 32;
	char *text;

	for (size_t i = 0; i < BASE_COUNT(words); i++) {
		const size_t length = strlen(words[i]);

		if (strncasecmp(at, words[i], length) == 0 && strchr(" \t\r\n(", at[length]) &&
		    at[length])
			return strdup(operand);
	}
	if (!heapsql_has_table(operand) || !(text = malloc(size)))
		return NULL;
	snprintf(text, size, "SELECT * FROM %s", operand);
	return text;
#else
	(void)operand;
	return NULL;
#endif
}

int export_table(struct cli *cli, const char *name)
{
#ifdef HAVE_SQLITE
	struct bytes text = { 0 };

	bytes_string(&text, "SELECT * FROM \"");
	for (; *name; name++)
		bytes_add(&text, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
	bytes_add(&text, "\"", sizeof("\""));
	cli->statement = text.data;
	return text.failed ? hdb_fail_memory(&cli->err, "a statement", text.size) : HDB_OK;
#else
	return cli_usage(cli, "--table %s: built without SQLite", name);
#endif
}

void export_suggest_query(const struct cli *cli, const char *name)
{
#ifdef HAVE_SQLITE
	char query[64];

	/*
	 * the SQL name of a query that shares its name with a table; for "objects", query and table
	 * have the same rows
	 */
	snprintf(query, sizeof(query), "query_%s", name);
	if (cli->query->is_query && heapsql_has_table(query))
		cli_notice(cli, "%s is a query; use --table %s to export the table", name, name);
#else
	(void)cli;
	(void)name;
#endif
}

/* ---- notes in the file ---- */

/* Keys and values in turn, terminated by NULL. All are owned. */
struct notes {
	BASE_VEC_AS(vec, char *, texts, count);
};

static void free_notes(struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->texts[i]);
	base_vec_release(&notes->vec);
}

static int add_note(struct notes *notes, const char *key, const char *value, size_t size,
		    struct hdb_error *err)
{
	const size_t room = strlen(key) + sizeof("heapdb.");

	TRY(base_vec_reserve(&notes->vec, 3, sizeof(*notes->texts), err));
	TRY(BASE_ALLOC(notes->texts[notes->count], room, "facts", err));
	snprintf(notes->texts[notes->count++], room, "heapdb.%s", key);
	TRY(BASE_ALLOC(notes->texts[notes->count], size + 1, "facts", err));
	memcpy(notes->texts[notes->count++], value, size);
	notes->texts[notes->count] = NULL;
	return HDB_OK;
}

static int note_fact(struct notes *notes, const char *name, const struct hdb_value *value,
		     struct hdb_error *err)
{
	char buf[OUTPUT_NUMBER_SIZE];
	size_t size = 0;

	switch (value->type) {
	case HDB_TYPE_NULL:
		return HDB_OK;
	case HDB_TYPE_TEXT:
		return add_note(notes, name, value->text, value->text_size, err);
	case HDB_TYPE_ID:
		size = format_id(buf, value->u);
		break;
	case HDB_TYPE_INT:
		size = (size_t)snprintf(buf, sizeof(buf), "%" PRId64, value->i);
		break;
	case HDB_TYPE_DOUBLE:
	case HDB_TYPE_PERCENT:
		size = (size_t)snprintf(buf, sizeof(buf), "%s", base_real(value->d, false).text);
		break;
	case HDB_TYPE_COUNT:
	case HDB_TYPE_BYTES:
	case HDB_TYPE_BOOL:
		size = (size_t)snprintf(buf, sizeof(buf), "%" PRIu64, value->u);
		break;
	}
	return add_note(notes, name, buf, size, err);
}

/* Records the dump's fingerprint: files made from the same dump have the same fingerprint. */
static int note_fingerprint(struct notes *notes, struct hdb *db, struct hdb_error *err)
{
	DOOR_ROWS *rows = NULL;
	int r;

	TRY_ERRORS(hdb_query(db, "info", NULL, &rows, err));
	while ((r = hdb_rows_next(rows, err)) == HDB_OK) {
		const struct hdb_value *value = rows_value(rows, "value");

		if (rows_is(rows, "key", "fingerprint"))
			TRY(add_note(notes, "dump_fingerprint", value->text, value->text_size,
				     err));
	}
	return r < 0 ? r : HDB_OK;
}

static int note_facts(struct notes *notes, const struct cli *cli, const struct hdb_rows *rows,
		      struct hdb_error *err)
{
	const char *name = cli->statement ? cli->statement : cli->query->name;

	TRY(add_note(notes, cli->statement ? "sql" : "query", name, strlen(name), err));
	TRY(add_note(notes, "version", HDB_VERSION, strlen(HDB_VERSION), err));
	TRY(note_fingerprint(notes, cli->db, err));
	for (size_t i = 0; rows && i < hdb_rows_fact_count(rows); i++)
		TRY(note_fact(notes, hdb_rows_fact_column(rows, i)->name,
			      hdb_rows_fact_value(rows, i), err));
	return HDB_OK;
}

#ifdef HAVE_SQLITE
/* Adds the problems of the database to the metadata. A statement has no other facts. */
static int note_health(struct notes *notes, const struct hdb *db, struct hdb_error *err)
{
	struct health_line lines[HEALTH_LINES];
	const size_t count = cli_health(db, lines);

	for (size_t i = 0; i < count; i++)
		TRY(add_note(notes, lines[i].name, lines[i].text, strlen(lines[i].text), err));
	return HDB_OK;
}
#endif

/* ---- columns ---- */

/*
 * Opens the stream of a query. `where` and `picked` must stay valid until the stream is released.
 * With --columns, the rows come from *picked, otherwise from *out.
 */
static int query_stream(struct cli *cli, struct where *where, struct notes *notes,
			struct answer_columns *picked, struct ArrowArrayStream *out)
{
	const struct options *opt = &cli->opt;
	struct hdb_query_args args = cli_query_args(opt);
	struct hdb_rows *rows = NULL;
	int r;

	TRY(where_open(where, cli, &args));
	TRY(hdb_query(cli->db, cli->query->name, &args, &rows, &cli->err));
	r = note_facts(notes, cli, rows, &cli->err);
	if (opt->columns) {
		picked->answer->rows = rows;
		TRY(r);
		TRY(answer_pick(picked->answer, opt->columns));
		answer_report_absent(cli, picked->answer);
		return answer_stream(picked, out);
	}
	if (r >= 0)
		r = hdb_rows_arrow(rows, ANSWER_BATCH_ROWS, out, &cli->err);
	if (r < 0)
		hdb_rows_close(rows);
	return r;
}

#ifdef HAVE_SQLITE
static int statement_stream(struct cli *cli, struct notes *notes, struct ArrowArrayStream *out)
{
	const struct heapsql_arrow_options options = {
		.sql = { .memory_bytes = cli->opt.memory_bytes,
			 .tmp_dir = cli->opt.tmp,
			 .cancel = progress_callbacks().cancel },
		.batch_rows = ANSWER_BATCH_ROWS,
		.all = cli->opt.all,
	};

	TRY(note_facts(notes, cli, NULL, &cli->err));
	TRY(note_health(notes, cli->db, &cli->err));
	return heapsql_arrow(cli->db, cli->statement, &options, out, &cli->err);
}
#endif

static int export_columns(struct cli *cli)
{
	const struct options *opt = &cli->opt;
	struct export_options options = {
		.format = opt->format == FORMAT_PARQUET ? EXPORT_PARQUET :
			  opt->format == FORMAT_ARROW   ? EXPORT_ARROW :
							  EXPORT_ARROW_STREAM,
		.is_plain = opt->is_plain != 0,
	};
	struct ArrowArrayStream stream = { 0 };
	struct export_result result = { 0 };
	const struct base_outfile_options opening = { .force = opt->force != 0 };
	struct base_outfile *file = NULL;
	struct export_sink sink;
	struct notes notes = { 0 };
	struct where where = { .cli = cli };
	struct answer picked = { .err = &cli->err };
	struct answer_columns columns = { &picked, cli->out };
	int r;

	if (!opt->output && cli->out->is_terminal)
		return cli_usage(cli, "cannot print binary output on a terminal; use -o FILE");
#ifdef HAVE_SQLITE
	r = cli->statement ? statement_stream(cli, &notes, &stream) :
			     query_stream(cli, &where, &notes, &columns, &stream);
#else
	r = query_stream(cli, &where, &notes, &columns, &stream);
#endif
	if (r != HDB_OK)
		goto out;
	options.notes = (const char *const *)notes.texts;
	r = base_outfile_create(opt->output ? opt->output : "-", &opening, &file, &cli->err);
	if (r >= 0) {
		sink = export_file_sink(file);
		r = export_stream(&stream, &options, &sink, &result, &cli->err);
	}
	if (r >= 0) {
		r = base_outfile_finish(file, NULL, &cli->err);
		file = NULL;
	}
	if (r >= 0 && opt->output)
		cli_notice(cli, "%s: %" PRIu64 " rows, %" PRIu64 " bytes", opt->output, result.rows,
			   result.bytes);
out:
	base_outfile_abort(file);
	if (stream.release)
		stream.release(&stream);
	answer_release(&picked);
	hdb_rows_close(picked.rows);
	where_close(&where);
	free_notes(&notes);
	return r;
}

/* ---- text ---- */

static int print_rows(struct cli *cli)
{
#ifdef HAVE_SQLITE
	struct heapsql_database database = { .db = cli->db, .all = cli->opt.all };
	BASE_SCOPED(heapsql_close_at) struct heapsql *sql = NULL;

	if (!cli->statement)
		return cmd_query(cli);
	if (!cli->opt.has_format)
		cli->opt.format = FORMAT_TSV;
	TRY(sql_open(cli, &sql));
	TRY(heapsql_add(sql, &database, &cli->err));
	return sql_run(cli, sql, cli->statement);
#else
	return cmd_query(cli);
#endif
}

/* Makes the output buffer write to the file of -o directly, unless -o names standard output. */
int export_to_file(struct cli *cli, int (*print)(struct cli *cli))
{
	BASE_FREED struct output *out = NULL;
	struct output *console = cli->out;
	const struct base_outfile_options opening = { .force = cli->opt.force != 0 };
	struct base_outfile *file = NULL;
	int r;

	if (base_names_stdout(cli->opt.output))
		return print(cli);
	out = calloc(1, sizeof(*out));
	if (!out)
		return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for a file");
	TRY(base_outfile_create(cli->opt.output, &opening, &file, &cli->err));
	output_init(out, base_outfile_descriptor(file), &progress_hooks);
	cli->out = out;
	r = print(cli);
	output_flush(out);
	cli->out = console;
	if ((r >= 0 || r == HDB_EIO || r == cli->verdict) && out->error)
		r = hdb_fail(&cli->err, HDB_EIO, "%s: %s", cli->opt.output, strerror(out->error));
	if (r < 0 && r != cli->verdict) {
		base_outfile_abort(file);
		return r;
	}
	/* Finish the file even if a check failed: the check affects only the exit code. */
	TRY(base_outfile_finish(file, NULL, &cli->err));
	return r;
}

int cmd_export(struct cli *cli)
{
	const struct options *opt = &cli->opt;

	if (cli->statement && (opt->operand_count || opt->columns || opt->sort || opt->where))
		return cli_usage(
			cli, "a statement or table cannot be combined with a target, --columns, "
			     "--sort or --where");
	if (cli->statement && opt->limit && is_columns(opt))
		return cli_usage(cli, "--limit cannot be combined with a statement; use LIMIT in "
				      "the statement");
	if (opt->is_plain && !is_columns(opt))
		return cli_usage(cli, "--compress requires --format parquet or arrow");
	if (is_columns(opt))
		return export_columns(cli);
	return opt->output ? export_to_file(cli, print_rows) : print_rows(cli);
}

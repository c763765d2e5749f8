/*
 * heapdb/cmd_oql.c - oql: runs a statement in Eclipse MAT's object query language, from the command
 * line or standard input.
 */
#include "base/scope.h"
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/render.h"
#include "heapdb/sql_shell.h"

#include "oql/oql.h"

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"
#endif

static int source_next(void *rows, struct hdb_error *err)
{
	return oql_next(rows, err);
}

static int source_total(void *rows, uint64_t *total, struct hdb_error *err)
{
	return oql_total(rows, total, err);
}

/* Adds the facts common to all answers. */
static size_t add_facts(const struct cli *cli, struct own_fact *facts)
{
	struct health_line lines[HEALTH_LINES];
	const size_t count = cli_health(cli->db, lines);

	for (size_t i = 0; i < count; i++)
		facts[i] = text_fact(lines[i].name, NULL, lines[i].text);
	return count;
}

static int print(struct cli *cli, struct oql *oql)
{
	const struct row_source source = {
		.ctx = oql,
		.count = oql_column_count(oql),
		.next = source_next,
		.columns = oql_column(oql, 0),
		.cells = oql_value(oql, 0),
		.total = source_total,
	};
	struct own_fact facts[HEALTH_LINES];
	struct answer answer = {
		.name = "oql",
		.source = &source,
		.facts = facts,
		.fact_count = add_facts(cli, facts),
		.limit = cli->opt.limit,
		.is_picked = true,
		.sort = cli->opt.sort && *cli->opt.sort == '-' ? cli->opt.sort + 1 : cli->opt.sort,
	};
	const char *why;
	const int rc = print_answer(cli, &answer);
	const uint64_t empty = oql_empty_cells(oql, &why);

	if (empty)
		cli_notice(cli,
			   "%" PRIu64 " cell%s could not be computed and %s empty; first error: "
			   "%s",
			   empty, empty == 1 ? "" : "s", empty == 1 ? "is" : "are", why);
	return rc;
}

#ifdef HAVE_SQLITE
/* Prints the SQL quoted for a shell: a single quote becomes '\''. */
static int print_translation(struct cli *cli, const char *statement)
{
	BASE_SCOPED(bytes_release) struct bytes quoted = { 0 };

	for (const char *at = statement; *at; at++)
		bytes_add(&quoted, *at == '\'' ? "'\\''" : at, *at == '\'' ? 4 : 1);
	bytes_add(&quoted, "", 1);
	if (quoted.failed)
		return hdb_fail_memory(&cli->err, "a statement", quoted.size);
	cli_notice(cli, "VisualVM's OQL, translated to: heapdb sql '%s'", quoted.data);
	return HDB_OK;
}

/*
 * Translates a statement in VisualVM's dialect to SQL, prints it and runs it. Returns HDB_NOTFOUND
 * if the statement is not in that dialect.
 */
static int run_visualvm(struct cli *cli, struct oql_str text)
{
	const struct heapsql_database database = { .db = cli->db };
	BASE_SCOPED(heapsql_close_at) struct heapsql *sql = NULL;
	BASE_FREED char *statement = NULL;

	TRY(oql_to_sql(text, &statement, &cli->err));
	TRY(print_translation(cli, statement));
	TRY(sql_open(cli, &sql));
	TRY(heapsql_add(sql, &database, &cli->err));
	return sql_run(cli, sql, statement);
}
#endif

BASE_CLOSER(close_oql, struct oql, oql_close)

int cmd_oql(struct cli *cli)
{
	struct options *opt = &cli->opt;
	struct oql_options options;
	BASE_SCOPED(file_text_release) struct file_text input = { 0 };
	BASE_SCOPED(close_oql) struct oql *oql = NULL;
	const char *text = opt->operand_count ? opt->operands[0] : "-";
	size_t size = strlen(text);

	if (opt->operand_count != 1)
		return cli_usage(cli, "%s, or - to read it from standard input",
				 opt->operand_count ? "expected one statement, in quotes" :
						      "expected a statement: \"SELECT ...\"");
	if (strcmp(text, "-") == 0) {
		TRY(cli_read_file(cli, text, OQL_TEXT_MAX, &input));
		text = input.data;
		size = input.size;
	}
	if (!opt->has_limit && opt->format == FORMAT_TABLE)
		opt->limit = OPTIONS_LIMIT_DEFAULT;
	options = (struct oql_options){
		.memory_bytes = opt->memory_bytes,
		.limit = opt->limit,
		.sort = opt->sort,
		.with_labels = opt->format == FORMAT_TABLE,
		.progress = progress_callbacks(),
	};
#ifdef HAVE_SQLITE
	const int rc = run_visualvm(cli, (struct oql_str){ text, size });

	if (rc != HDB_NOTFOUND)
		return rc;
#endif
	TRY(oql_open(cli->db, (struct oql_str){ text, size }, &options, &oql, &cli->err));
	return print(cli, oql);
}

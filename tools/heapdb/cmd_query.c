/*
 * heapdb/cmd_query.c - query, info, check and export: one question to the library, and its answer
 * printed. Knows no query by name: options, columns and facts are the library's.
 */
#include "heapdb/cli.h"
#include "heapdb/render.h"

#include <string.h>

/* What people and programs get if they do not say. */
static void set_defaults(struct cli *cli)
{
	struct options *opt = &cli->opt;

	if (!opt->has_format && strcmp(cli->command->name, "export") == 0)
		opt->format = FORMAT_TSV;
	if (!opt->has_limit && opt->format == FORMAT_TABLE)
		opt->limit = OPTIONS_LIMIT_DEFAULT;
}

static int ask(struct cli *cli, struct hdb_rows **rows)
{
	const struct hdb_query_args args = {
		.targets = cli->opt.operands,
		.target_count = cli->opt.operand_count,
		.options = cli->opt.query_options,
		.option_count = cli->opt.query_option_count,
		.sort = cli->opt.sort,
		.limit = cli->opt.limit,
	};

	return hdb_query(cli->db, cli->query->name, &args, rows, &cli->err);
}

/* A query's own name may be asked as a command's only: `heapdb info`, not `heapdb query info`. */
static int check_place(struct cli *cli)
{
	const char *name = cli->query->name;

	if (cli->query->is_query || strcmp(cli->command->name, "query") != 0)
		return HDB_OK;
	return cli_fail(&cli->err, HDB_EUSAGE, "that is a command: `heapdb %s%s`",
			command_find(name) ? "" : "export ", name);
}

/* Asks and prints; the answer's facts are looked at by `judge`, if there is one, before it ends. */
static int ask_and_print(struct cli *cli, int (*judge)(const struct answer *answer))
{
	struct render_style style;
	struct answer answer;
	struct hdb_rows *rows = NULL;
	int rc;

	set_defaults(cli);
	style = render_style_of(&cli->opt, cli->out);
	rc = ask(cli, &rows);
	if (rc != HDB_OK)
		return rc;
	answer = (struct answer){
		.name = cli->query->name,
		.rows = rows,
		.limit = cli->opt.limit,
		.err = &cli->err,
	};
	if (cli->opt.columns)
		rc = answer_pick(&answer, cli->opt.columns);
	if (rc == HDB_OK)
		rc = render(&answer, &style, cli->out);
	if (rc == HDB_OK && judge)
		rc = judge(&answer);
	cli->is_open = answer.is_open;
	answer_release(&answer);
	hdb_rows_close(rows);
	return rc;
}

int cmd_query(struct cli *cli)
{
	const int rc = check_place(cli);

	return rc == HDB_OK ? ask_and_print(cli, NULL) : rc;
}

/* The answer is "no" if the check counts problems. */
static int judge_check(const struct answer *answer)
{
	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		const struct hdb_value *value = answer_fact_value(answer, i);

		if (strcmp(answer_fact_column(answer, i)->name, "problems") == 0 && value->u > 0)
			return HDB_NOTFOUND;
	}
	return HDB_OK;
}

int cmd_check(struct cli *cli)
{
	return ask_and_print(cli, judge_check);
}

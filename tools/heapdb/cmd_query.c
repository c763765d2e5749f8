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

	if (!opt->has_format && cli->command->flags & EXPORTS)
		opt->format = FORMAT_TSV;
	if (!opt->has_limit && opt->format == FORMAT_TABLE)
		opt->limit = cli->command->query ? OPTIONS_LIMIT_COMMAND : OPTIONS_LIMIT_DEFAULT;
}

static struct hdb_query_args args_of(const struct options *opt)
{
	return (struct hdb_query_args){
		.targets = opt->operands,
		.target_count = opt->operand_count,
		.options = opt->query_options,
		.option_count = opt->query_option_count,
		.sort = opt->sort,
		.limit = opt->limit,
	};
}

/* Asks and prints; the answer's facts are looked at by `judge`, if there is one, before it ends. */
static int ask_and_print(struct cli *cli, int (*judge)(const struct answer *answer))
{
	struct render_style style;
	struct answer answer;
	struct hdb_query_args args; /* lent to the rows */
	struct hdb_rows *rows = NULL;
	int rc;

	set_defaults(cli);
	style = render_style_of(&cli->opt, cli->out);
	args = args_of(&cli->opt);
	rc = hdb_query(cli->db, cli->query->name, &args, &rows, &cli->err);
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
	else if (cli->opt.format == FORMAT_TABLE)
		rc = answer_thin(&answer);
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
	return ask_and_print(cli, NULL);
}

/* The answer is "no" if the check counts failures. */
static int judge_check(const struct answer *answer)
{
	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		const struct hdb_value *value = answer_fact_value(answer, i);

		if (strcmp(answer_fact_column(answer, i)->name, "failed") == 0 && value->u > 0)
			return HDB_NOTFOUND;
	}
	return HDB_OK;
}

int cmd_check(struct cli *cli)
{
	return ask_and_print(cli, judge_check);
}

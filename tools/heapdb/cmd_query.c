/*
 * heapdb/cmd_query.c - query, info, check and diff: runs one query and prints the answer. Treats
 * all queries alike: options, columns and facts come from the library.
 */
#include "heapdb/call_rows.h"
#include "heapdb/cli.h"
#include "heapdb/render.h"
#include "heapdb/progress.h"
#include "heapdb/prose.h"
#include "heapdb/where.h"

#include "common/door_rows.h"

/*
 * Returns the function that prints the query's answer as text. Returns NULL if the query has no
 * such function, or if the user requested columns, an order or a format.
 */
static const struct prose *text_of(const struct cli *cli)
{
	const struct options *opt = &cli->opt;

	return opt->has_format || opt->columns || opt->sort || opt->where ||
			       cli->command->flags & EXPORTS ?
		       NULL :
		       prose_of(cli->query->name);
}

/* Sets the defaults of options, for output to people or to programs. */
static void set_defaults(struct cli *cli)
{
	const struct prose *text = text_of(cli);
	struct options *opt = &cli->opt;

	if (!opt->has_format && cli->command->flags & EXPORTS)
		opt->format = FORMAT_TSV;
	if (!opt->has_limit && opt->format == FORMAT_TABLE && !(text && text->is_whole))
		opt->limit = cli->command->query && !cli->before_count ? OPTIONS_LIMIT_COMMAND :
									 OPTIONS_LIMIT_DEFAULT;
}

struct hdb_query_args cli_query_args(const struct options *opt)
{
	return (struct hdb_query_args){
		.struct_size = sizeof(struct hdb_query_args),
		.targets = opt->operands,
		.target_count = opt->operand_count,
		.options = opt->query_options,
		.option_count = opt->query_option_count,
		.sort = opt->sort,
		.limit = opt->limit,
	};
}

int cli_verdict(struct cli *cli, bool has_failed)
{
	/* a successful query may have left the message of a lookup that failed */
	cli->err = (struct hdb_error){ 0 };
	if (has_failed)
		return HDB_NOTFOUND;
	for (size_t i = 0; i <= cli->before_count && cli->verdict == HDB_OK; i++) {
		const char *which = i ? "earlier dump" : "dump";
		struct hdb_health health = { .struct_size = sizeof(health) };

		hdb_health(i ? cli->before[i - 1].db : cli->db, &health);
		if (health.stale)
			cli->verdict = hdb_fail(&cli->err, HDB_ECHANGED,
						"no check failed, but the %s has changed since it "
						"was imported",
						which);
		else if (health.is_damaged)
			cli->verdict = hdb_fail(&cli->err, HDB_ETRUNC,
						"no check failed, but the %s is incomplete, so the "
						"result is not reliable",
						which);
	}
	return cli->verdict;
}

/*
 * Returns the "no" status if the answer counts failed checks or --fail-if conditions that are true.
 * Also prints these checks and conditions to standard error, since the answer may be cut or
 * redirected.
 */
static int judge(struct cli *cli, const struct answer *answer)
{
	bool is_unknown = false, has_conditions = false;
	int rc = HDB_OK;

	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		const char *name = answer_fact_column(answer, i)->name;
		const struct hdb_value *value = answer_fact_value(answer, i);

		if (strcmp(name, "failed") == 0 && value->u > 0)
			rc = HDB_NOTFOUND;
		is_unknown |= strcmp(name, "unknown") == 0 && value->type != HDB_TYPE_NULL;
		if (strcmp(name, "conditions") == 0 && (rc != HDB_OK || is_unknown))
			cli_notice(
				cli, "%s: %.*s",
				rc != HDB_OK ?
					"conditions met" :
					"conditions on classes or objects missing from all dumps",
				(int)value->text_size, value->text);
		has_conditions |= strcmp(name, "conditions") == 0 && value->type != HDB_TYPE_NULL;
	}
	return has_conditions ? cli_verdict(cli, rc != HDB_OK) : rc;
}

/* Prints to standard error which rows were omitted, for formats without facts. */
static void report_cut(const struct cli *cli, const struct answer *answer,
		       const struct render_style *style)
{
	struct bytes text = { 0 };

	facts_cut(answer, style, &text);
	if (text.size)
		cli_notice(cli, "%.*s", (int)text.size, text.data);
	bytes_release(&text);
}

/* Prints the answer and evaluates --fail-if. */
static int print_and_judge(struct cli *cli, struct answer *answer, const struct render_style *style)
{
	if (answer->sampled)
		TRY(sampled_open(cli, cli->opt.jfr, answer->rows, answer->sampled));
	if (cli->opt.columns)
		TRY(answer_pick(answer, cli->opt.columns));
	else if (cli->opt.format != FORMAT_JSON && cli->opt.format != FORMAT_JSONL)
		TRY(answer_thin(answer, cli->opt.format == FORMAT_TABLE));
	answer_report_absent(cli, answer);
	if (style->format != FORMAT_TABLE && style->format != FORMAT_JSON)
		report_cut(cli, answer, style);
	TRY(render(answer, style, cli->out));
	return judge(cli, answer);
}

/* Prints an answer. `args` are the arguments of the query. */
static int print(struct cli *cli, struct hdb_rows *rows, const struct hdb_query_args *args,
		 const struct render_style *style)
{
	struct answer answer = {
		.name = cli->query->name,
		.rows = rows,
		.args = args,
		.limit = args->limit,
		.sort = cli->opt.sort && *cli->opt.sort == '-' ? cli->opt.sort + 1 : cli->opt.sort,
		.err = &cli->err,
	};
	struct sampled sampled = { 0 };
	int rc;

	if (style->format == FORMAT_TABLE || style->format == FORMAT_JSON)
		TRY(cli_notes(cli, &answer.notes));
	answer.sampled = cli->opt.jfr ? &sampled : NULL;
	answer_annotate(&answer);
	rc = print_and_judge(cli, &answer, style);
	cli->is_open = answer.is_open;
	answer_release(&answer);
	call_tree_release(&sampled.tree);
	return rc;
}

/*
 * Shows the first facts of the overview (the dump and its largest object) until the whole overview
 * is available. Ignores a failure, because the overview will fail as well and report the failure.
 */
static void show_beginning(struct cli *cli, const struct render_style *style)
{
	static const struct hdb_option brief = { "brief", NULL };
	const struct hdb_query_args args = { .struct_size = sizeof(args),
					     .options = &brief,
					     .option_count = 1 };
	struct hdb_error err;
	struct answer answer = { .name = cli->query->name, .args = &args, .err = &err };
	struct bytes text = { 0 };
	BASE_FREED struct output *collected = NULL;

	if (BASE_ALLOC(collected, 1, "an answer", &err) != HDB_OK ||
	    hdb_query(cli->db, cli->query->name, &args, &answer.rows, &err) != HDB_OK)
		return;
	output_collect(collected, &text);
	if (render(&answer, style, collected) != HDB_OK)
		text.failed = true;
	output_collect_end(collected);
	answer_release(&answer);
	hdb_rows_close(answer.rows);
	if (!text.failed)
		progress_show(&text);
	bytes_release(&text);
}

/* Runs the query on `db` and prints the answer. `before` are older databases to compare with. */
static int ask_and_print(struct cli *cli, struct hdb *const *before)
{
	const struct prose *text = text_of(cli);
	struct render_style style;
	struct hdb_query_args args; /* borrowed by the rows */
	BASE_SCOPED(where_close)
	struct where where = { .cli = cli }; /* also borrowed by the rows */
	DOOR_ROWS *rows = NULL;

	set_defaults(cli);
	style = render_style_of(&cli->opt, cli->out);
	style.as_text = text != NULL;
	if (text && !cli->opt.wide)
		style.width = render_text_width(cli->out);
	args = cli_query_args(&cli->opt);
	if (text && text->has_parts) {
		style.parts = cli->opt.limit;
		args.limit = 0;
	}
	if (before) {
		args.before = before;
		args.before_count = cli->before_count;
		args.target_count = 0; /* all operands were databases */
	}
	TRY(where_open(&where, cli, &args));
	if (text && text->needs_retained)
		TRY(hdb_need(cli->db, HDB_NEED_DOMINATORS, &cli->err));
	if (text && text->has_beginning && !args.option_count && cli->out->is_terminal &&
	    progress_draws())
		show_beginning(cli, &style);
	TRY(hdb_query(cli->db, cli->query->name, &args, &rows, &cli->err));
	return print(cli, rows, &args, &style);
}

int cmd_query(struct cli *cli)
{
	return ask_and_print(cli, NULL);
}

/* Opens all named databases, the last one as cli->db. */
static int open_all(struct cli *cli)
{
	const size_t count = cli->opt.operand_count;

	if (count < 2)
		return cli_usage(cli, "expected two databases or dumps, the older dump first");
	TRY(BASE_ALLOC(cli->before, count - 1, "databases", &cli->err));
	for (size_t i = 0; i < count; i++) {
		struct database *d = &cli->before[i];
		const bool is_last = i == count - 1;
		char **db_path = is_last ? &cli->db_path : &d->db_path;
		char **dump_path = is_last ? &cli->dump_path : &d->dump_path;

		cli->before_count += !is_last;
		TRY(locate_named(cli, cli->opt.operands[i], db_path, dump_path));
		TRY(cli_open(cli, *db_path, *dump_path, (unsigned)count,
			     is_last ? &cli->db : &d->db));
		cli_report_health(cli, is_last ? cli->db : d->db, *db_path);
	}
	return HDB_OK;
}

/* Returns whether to print growth by owner: text output, and no specific comparison requested. */
static bool wants_growth(const struct cli *cli)
{
	const struct options *opt = &cli->opt;

	return !opt->has_format && !opt->columns && !opt->sort && !opt->where &&
	       !options_has(opt, "by") && !options_has(opt, "only") && !options_has(opt, "heap");
}

/* Prints a sentence if there are no rows, because all classes are equal in both dumps. */
static int print_unchanged(struct cli *cli, struct hdb *const *before, bool *is_unchanged)
{
	const struct hdb_query_args args = { .struct_size = sizeof(args),
					     .limit = 1,
					     .before = before,
					     .before_count = cli->before_count };
	static const char text[] =
		"Nothing changed: every class has the same number and size of objects in both "
		"dumps.";
	struct render_style style = render_style_of(&cli->opt, cli->out);
	struct hdb_rows *rows = NULL;
	int rc = hdb_query(cli->db, cli->query->name, &args, &rows, &cli->err);

	style.width = render_text_width(cli->out);
	if (rc == HDB_OK)
		rc = hdb_rows_next(rows, &cli->err);
	*is_unchanged = rc == HDB_END && cli->before_count == 1;
	if (*is_unchanged)
		prose_wrap(cli->out, &style, (struct prose_place){ 0, 0 }, text, strlen(text));
	hdb_rows_close(rows);
	return rc == HDB_END ? HDB_OK : rc;
}

/* Prints growth by owner. */
static int print_growth(struct cli *cli, struct hdb *const *before)
{
	static const struct hdb_option by = { "by", "owner" };
	const struct hdb_query_args args = { .struct_size = sizeof(args),
					     .options = &by,
					     .option_count = 1,
					     .before = before,
					     .before_count = cli->before_count };
	struct answer answer = { .name = cli->query->name, .args = &args, .err = &cli->err };
	struct render_style style = render_style_of(&cli->opt, cli->out);
	int rc = hdb_query(cli->db, cli->query->name, &args, &answer.rows, &cli->err);

	style.width = render_text_width(cli->out);
	if (rc == HDB_OK) {
		rc = prose_growth(&answer, &style, cli->out);
	} else if (rc == HDB_ECHANGED) {
		output_string(cli->out, "Without the dump, heapdb cannot tell which owner "
					"grew.\n\n");
		rc = HDB_OK;
	}
	answer_release(&answer);
	hdb_rows_close(answer.rows);
	return rc;
}

int cmd_diff(struct cli *cli)
{
	BASE_FREED struct hdb **before = NULL;
	bool is_unchanged = false;

	TRY(open_all(cli));
	TRY(BASE_ALLOC(before, cli->before_count, "databases", &cli->err));
	for (size_t i = 0; i < cli->before_count; i++)
		before[i] = cli->before[i].db;
	if (wants_growth(cli) && !options_has(&cli->opt, "fail-if"))
		TRY(print_unchanged(cli, before, &is_unchanged));
	if (is_unchanged)
		return HDB_OK;
	if (wants_growth(cli))
		TRY(print_growth(cli, before));
	return ask_and_print(cli, before);
}

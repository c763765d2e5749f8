/*
 * heapdb/cmd_rewrite.c - convert, strip and redact: rewrites a dump and reports the result.
 */
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/render.h"

#include "base/outfile.h"
#include "common/feed.h"

static int print_result(struct cli *cli, const struct hdb_output_result *r)
{
	/* object_count is 0 if the dump was copied without reading its objects */
	const enum hdb_type count = r->object_count ? HDB_TYPE_COUNT : HDB_TYPE_NULL;
	const enum hdb_type bytes = r->object_count ? HDB_TYPE_BYTES : HDB_TYPE_NULL;
	const struct own_fact facts[] = {
		text_fact("dump", "dump", cli->opt.operands[1]),
		number_fact("dump_bytes", "size before", HDB_TYPE_BYTES, r->dump_bytes),
		number_fact("file_bytes", "size of the file", HDB_TYPE_BYTES, r->file_bytes),
		number_fact("objects", "instances and arrays", count, r->object_count),
		number_fact("dropped", "left out", count, r->dropped_count),
		number_fact("changed", "changed", count, r->changed_count),
		number_fact("changed_bytes", "bytes changed", bytes, r->changed_bytes),
		number_fact("problems", "problems", r->problem_count ? HDB_TYPE_COUNT : count,
			    r->problem_count),
		number_fact("renamed", "names changed",
			    cli->opt.names_file ? HDB_TYPE_COUNT : HDB_TYPE_NULL, r->renamed_count),
		number_fact("secrets", "possible secrets",
			    cli->opt.report ? HDB_TYPE_COUNT : HDB_TYPE_NULL, r->secret_count),
	};
	struct answer answer = {
		.name = cli->command->name,
		.facts = facts,
		.fact_count = BASE_COUNT(facts),
	};

	return print_answer(cli, &answer);
}

static int check_operands(struct cli *cli)
{
	/* the array has room for all arguments */
	if (cli->opt.output)
		cli->opt.operands[cli->opt.operand_count++] = cli->opt.output;
	if (cli->opt.operand_count != 2)
		return cli_usage(cli, "%s; usage: heapdb %s %s",
				 cli->opt.operand_count < 2 ?
					 "expected a dump to read and a dump to write" :
					 "only one dump is allowed",
				 cli->command->name, cli->command->synopsis);
	if (feed_is_archive(cli->opt.operands[1]))
		return cli_usage(cli, "%s: this command compresses only to .gz and .zst",
				 cli->opt.operands[1]);
	if (base_names_stdout(cli->opt.operands[1]) && cli->out->is_terminal)
		return cli_usage(cli, "cannot write a dump to a terminal");
	if (base_names_stdout(cli->opt.operands[1]) &&
	    (cli->opt.has_format || cli->opt.human || cli->opt.bytes))
		return cli_usage(
			cli,
			"--json, --bytes and --human require an output file, but the dump goes "
			"to standard output");
	return HDB_OK;
}

static struct hdb_output_options output_of(struct cli *cli)
{
	struct hdb_progress progress = progress_callbacks();

	progress.notice = cli_on_notice;
	progress.ctx = cli;
	return (struct hdb_output_options){
		.struct_size = sizeof(struct hdb_output_options),
		.packing = (enum hdb_packing)cli->opt.packing,
		.force = cli->opt.force,
		.memory_bytes = cli->opt.memory_bytes,
		.threads = cli->opt.threads,
		.progress = progress,
	};
}

/* State of a rewrite. */
struct rewriting {
	struct cli *cli;
	struct hdb_output_options output;
	struct feed *feed;
	const char *path; /* path to read from; borrowed by the feed */
	struct hdb_output_result result;
};

static int begin(struct rewriting *r, struct cli *cli)
{
	*r = (struct rewriting){ .cli = cli,
				 .output = output_of(cli),
				 .result = { .struct_size = sizeof(r->result) } };
	TRY(check_operands(cli));
	TRY(feed_open(cli->opt.operands[0], cli->opt.fetch, &r->output.progress, &r->feed,
		      &cli->err));
	r->path = feed_path(r->feed, cli->opt.operands[0]);
	return HDB_OK;
}

/* Prints the result, unless the dump itself went to standard output. */
static int finish(struct rewriting *r, int rc)
{
	struct cli *cli = r->cli;
	const struct hdb_output_result *result = &r->result;

	TRY(feed_close(r->feed, rc, cli->opt.operands[1], &cli->err));
	if (base_names_stdout(cli->opt.operands[1]))
		return HDB_OK;
	if (result->problem_count)
		cli_notice(cli, "the dump has %llu problem%s: unreadable parts were omitted",
			   (unsigned long long)result->problem_count,
			   result->problem_count == 1 ? "" : "s");
	rc = print_result(cli, result);
	output_flush(cli->out);
	/* do not remove the file, because it is complete */
	if (rc != HDB_OK || cli->out->error)
		cli_notice(cli, "%s is complete, but its summary was not printed",
			   cli->opt.operands[1]);
	return rc;
}

int cmd_convert(struct cli *cli)
{
	struct rewriting r;
	const struct hdb_convert_options options = {
		.struct_size = sizeof(options),
		.output = &r.output,
		.app_only = cli->opt.app_only,
		.segments = cli->opt.segments,
		.id_size = 4 * cli->opt.id_size,
		.snapshot = cli->opt.snapshot,
		.dump_name = cli->opt.operands[0],
		.javacore_path = cli->opt.javacore,
	};

	TRY(begin(&r, cli));
	return finish(&r,
		      hdb_convert(r.path, cli->opt.operands[1], &options, &r.result, &cli->err));
}

/* Splits a list at commas, in place. The caller must free() the array. */
static char **split(char *list, struct hdb_error *err)
{
	char **parts;
	size_t count = 2;

	for (const char *p = list; *p; p++)
		count += *p == ',';
	parts = calloc(count, sizeof(*parts));
	if (!parts) {
		hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a list");
		return NULL;
	}
	count = 0;
	for (char *p = strtok(list, ","); p; p = strtok(NULL, ","))
		parts[count++] = p;
	return parts;
}

/* Parses --keep, a list of "strings" and "bitmaps". */
static int read_keep(struct cli *cli, unsigned *keep)
{
	const char *at = cli->opt.keep;

	for (size_t size; at; at = at[size] ? at + size + 1 : NULL) {
		size = strcspn(at, ",");
		if (size == strlen("strings") && memcmp(at, "strings", size) == 0)
			*keep |= HDB_KEEP_STRINGS;
		else if (size == strlen("bitmaps") && memcmp(at, "bitmaps", size) == 0)
			*keep |= HDB_KEEP_BITMAPS;
		else if (size > 0)
			return cli_usage(
				cli, "strip --keep takes strings, bitmaps or both, not \"%.*s\"",
				(int)size, at);
	}
	if (!cli->opt.keep || (*keep && !cli->opt.koom && !options_given(&cli->opt, "zero")))
		return HDB_OK;
	if (!*keep)
		return cli_usage(cli, "strip --keep takes strings, bitmaps or both");
	return cli_usage(cli, "--keep cannot be combined with %s",
			 cli->opt.koom ? "--koom" : "--zero");
}

int cmd_strip(struct cli *cli)
{
	struct rewriting r;
	struct hdb_strip_options options = {
		.struct_size = sizeof(options),
		.output = &r.output,
		.what = (enum hdb_strip)cli->opt.zero,
		.app_only = cli->opt.app_only || cli->opt.koom,
	};

	TRY(read_keep(cli, &options.keep));
	TRY(begin(&r, cli));
	return finish(&r, hdb_strip(r.path, cli->opt.operands[1], &options, &r.result, &cli->err));
}

int cmd_redact(struct cli *cli)
{
	struct rewriting r;
	struct hdb_redact_options options = {
		.struct_size = sizeof(options),
		.output = &r.output,
		.arrays = (enum hdb_redact_arrays)cli->opt.arrays,
		.hash = cli->opt.hash || cli->opt.hash_key,
		.key_path = cli->opt.hash_key,
		.names_path = cli->opt.names_file,
		.report_path = cli->opt.report,
	};
	BASE_FREED char **keep = NULL;
	BASE_FREED char *list = NULL;

	if (cli->opt.keep) {
		list = strdup(cli->opt.keep);
		keep = list ? split(list, &cli->err) : NULL;
		if (!keep)
			return HDB_ENOMEM;
		options.keep = (const char *const *)keep;
	}
	TRY(begin(&r, cli));
	return finish(&r, hdb_redact(r.path, cli->opt.operands[1], &options, &r.result, &cli->err));
}

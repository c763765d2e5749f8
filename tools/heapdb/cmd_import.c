/*
 * heapdb/cmd_import.c - imports a dump and reports the result.
 */
#include "common/door_rows.h"
#include "base/work.h"
#include "capture/capture.h"
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/prose.h"
#include "heapdb/render.h"

#include <unistd.h>

/* Maximum number of problem kinds named in the notice; `heapdb info` lists all. */
#define KINDS_MAX 4
#define KIND_SIZE 64

/* Maximum number of problems read to list the kinds of problems. */
#define PROBLEMS_READ 1000

#define DATABASE_PATH_SIZE 4096

struct hdb_import_options cli_import_options(const struct cli *cli)
{
	return (struct hdb_import_options){
		.struct_size = sizeof(struct hdb_import_options),
		.memory_bytes = cli->opt.memory_bytes,
		.threads = cli->opt.threads,
		.sizes = (enum hdb_size_model)cli->opt.sizes,
		.layout = cli->opt.layout,
		.snapshot = cli->opt.snapshot,
		.strict = cli->opt.strict,
		.force = cli->opt.force,
		.progress = progress_callbacks(),
		.contents = (enum hdb_contents)cli->opt.contents,
		.mapping_path = cli->opt.mapping,
		.javacore_path = cli->opt.javacore,
	};
}

void cli_folder_of(const char *path, char *folder, size_t size)
{
	const char *slash = strrchr(path, '/');

	snprintf(folder, size, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
}

/* If the directory of the database is not writable, adds a hint to the import's message. */
static void hint_at_output(struct cli *cli, const char *dump_path, const char *db_path)
{
	const size_t used = strlen(cli->err.message);
	char folder[DATABASE_PATH_SIZE];

	cli_folder_of(db_path, folder, sizeof(folder));
	if (access(folder, F_OK) == 0 && access(folder, W_OK) != 0)
		snprintf(cli->err.message + used, sizeof(cli->err.message) - used,
			 "; to write it elsewhere, run heapdb import %s -o FILE", dump_path);
}

int cli_import_as(struct cli *cli, const char *dump_path, const char *db_path,
		  struct hdb_import_options *options, struct hdb_import_result *out)
{
	struct feed *feed;
	int rc;

	options->progress.notice = cli_on_notice;
	options->progress.ctx = cli;
	TRY(feed_open(dump_path, cli->opt.fetch, &options->progress, &feed, &cli->err));
	if (feed)
		options->dump_name = dump_path;
	rc = feed_close(feed,
			hdb_import(feed_path(feed, dump_path), db_path, options, out, &cli->err),
			db_path, &cli->err);
	if (rc == HDB_EIO)
		hint_at_output(cli, dump_path, db_path);
	return rc;
}

int cli_import(struct cli *cli, const char *dump_path, const char *db_path,
	       struct hdb_import_result *out, bool wait)
{
	struct hdb_import_options options = cli_import_options(cli);

	options.wait = wait;
	return cli_import_as(cli, dump_path, db_path, &options, out);
}

/* Rounds a value to a multiple of 1/parts. */
static double rounded(double value, double parts)
{
	return (double)(uint64_t)(value * parts + 0.5) / parts;
}

static struct own_fact double_fact(const char *name, const char *title, double value)
{
	return (struct own_fact){ { name, HDB_TYPE_DOUBLE, title, NULL },
				  { .type = HDB_TYPE_DOUBLE, .d = value } };
}

/* Number of facts that only a capture has. */
#define COST_FACTS 4

/* The printed facts of an import. */
struct summary {
	const char *db_path, *incomplete; /* incomplete is NULL if the dump is complete */
	const struct hdb_import_result *result;
	const struct capture_cost *cost; /* NULL means not a capture */
	double seconds;
};

static int print_summary(struct cli *cli, const struct summary *s)
{
	const struct hdb_import_result *r = s->result;
	const struct capture_cost none = { 0 }, *c = s->cost ? s->cost : &none;
	const double rate = (double)r->dump_bytes / 1e6 / (s->seconds > 1e-6 ? s->seconds : 1e-6);
	/* the first fact applies only to an incomplete dump */
	const struct own_fact facts[] = {
		text_fact("incomplete", "incomplete", s->incomplete),
		text_fact("database", "database", s->db_path),
		number_fact("objects", "objects", HDB_TYPE_COUNT, r->object_count),
		number_fact("classes", "classes", HDB_TYPE_COUNT, r->class_count),
		number_fact("references", "references", HDB_TYPE_COUNT, r->reference_count),
		number_fact("roots", "roots", HDB_TYPE_COUNT, r->root_count),
		number_fact("problems", "problems", HDB_TYPE_COUNT, r->problem_count),
		number_fact("snapshots", "heap dumps in the file", HDB_TYPE_COUNT,
			    r->snapshot_count),
		number_fact("dump_bytes", "dump size", HDB_TYPE_BYTES, r->dump_bytes),
		number_fact("database_bytes", "database size", HDB_TYPE_BYTES, r->database_bytes),
		double_fact("seconds", "seconds", rounded(s->seconds, 1000)),
		double_fact("megabytes_per_second", "MB/s", rounded(rate, 100)),
		number_fact("written_bytes", "written by the program", HDB_TYPE_BYTES, c->bytes),
		c->pause_us ? double_fact("pause_seconds", "pause in seconds",
					  rounded((double)c->pause_us / 1e6, 1000)) :
			      number_fact("pause_seconds", NULL, HDB_TYPE_NULL, 0),
		number_fact("pause_is_estimate", "pause is an upper bound",
			    c->pause_us ? HDB_TYPE_BOOL : HDB_TYPE_NULL, !c->pauses),
		known_fact("pauses", "pauses", HDB_TYPE_COUNT, c->pauses),
	};
	const size_t first = !s->incomplete;
	struct answer answer = {
		.name = cli->command->name,
		.facts = facts + first,
		.fact_count = BASE_COUNT(facts) - first - (s->cost ? 0 : COST_FACTS),
	};

	return print_answer(cli, &answer);
}

static void print_cost(struct output *out, const struct capture_cost *cost)
{
	const double seconds = (double)cost->pause_us / 1e6;

	if (!cost->pause_us)
		output_format(out, "The app wrote %s.\n", base_size(cost->bytes).text);
	else if (!cost->pauses)
		output_format(out, "The JVM was paused for at most %.3f s and wrote %s.\n", seconds,
			      base_size(cost->bytes).text);
	else
		output_format(out,
			      "The JVM was paused for %.3f s (%" PRIu64 " pause%s) and wrote "
			      "%s.\n",
			      seconds, cost->pauses, cost->pauses == 1 ? "" : "s",
			      base_size(cost->bytes).text);
}

/*
 * Prints a summary of the import and the next command. The caller has already printed `incomplete`.
 */
static void print_line(struct cli *cli, const struct summary *s)
{
	const struct hdb_import_result *r = s->result;
	const struct own_fact facts[] = {
		text_fact("database", NULL, s->db_path),
		number_fact("objects", NULL, HDB_TYPE_COUNT, r->object_count),
		number_fact("classes", NULL, HDB_TYPE_COUNT, r->class_count),
		number_fact("bytes", NULL, HDB_TYPE_BYTES, r->database_bytes),
		number_fact("problems", NULL, HDB_TYPE_COUNT, r->problem_count),
	};
	const struct answer answer = { .facts = facts, .fact_count = BASE_COUNT(facts) };
	struct output *out = cli->out;

	prose_facts(out, &answer, "{database}: {objects} object");
	output_string(out, r->object_count == 1 ? "" : "s");
	prose_facts(out, &answer,
		    r->class_count == 1 ? ", {classes} class" : ", {classes} classes");
	prose_facts(out, &answer, ", {bytes}");
	output_format(out, ", in %.1f s, ", s->seconds);
	prose_facts(out, &answer,
		    r->problem_count == 0 ? "no problems\n" :
		    r->problem_count == 1 ? "{problems} problem\n" :
					    "{problems} problems\n");
	if (s->cost)
		print_cost(out, s->cost);
	output_string(out, "Next: heapdb ");
	prose_file(out, s->db_path, strlen(s->db_path));
	output_char(out, '\n');
}

/*
 * Appends the kind of the current row to the list ", a, b" unless the list already contains the
 * kind.
 */
static void add_kind(const struct hdb_value *value, char *list, size_t size, unsigned *count)
{
	char kind[KIND_SIZE + 4];
	const size_t used = strlen(list);
	const char *found;

	if (value->type != HDB_TYPE_TEXT || value->text_size >= KIND_SIZE)
		return;
	snprintf(kind, sizeof(kind), ", %.*s", (int)value->text_size, value->text);
	found = strstr(list, kind);
	if (found && (found[strlen(kind)] == 0 || found[strlen(kind)] == ','))
		return;
	if ((*count)++ < KINDS_MAX)
		snprintf(list + used, size - used, "%s", kind);
}

/* Prints the number and kinds of problems. The database can be used nevertheless. */
static int report_problems(struct cli *cli, struct hdb *db, const char *db_path,
			   uint64_t problem_count)
{
	const struct hdb_query_args args = { .struct_size = sizeof(args), .limit = PROBLEMS_READ };
	char kinds[KINDS_MAX * (KIND_SIZE + 4)] = "";
	DOOR_ROWS *rows = NULL;
	unsigned count = 0;
	int rc;

	TRY(hdb_query(db, "problems", &args, &rows, &cli->err));
	while ((rc = hdb_rows_next(rows, &cli->err)) == HDB_OK)
		add_kind(rows_value(rows, "kind"), kinds, sizeof(kinds), &count);
	cli_notice(cli, "the dump has %llu problem%s%s%s%s; see `heapdb info --problems --db %s`",
		   (unsigned long long)problem_count, problem_count == 1 ? "" : "s",
		   count ? ": " : "", count ? kinds + 2 : "", count > KINDS_MAX ? ", ..." : "",
		   db_path);
	return rc < 0 ? rc : HDB_OK;
}

int cli_report_import(struct cli *cli, const char *db_path, const struct hdb_import_result *result,
		      const struct capture_cost *cost, double seconds)
{
	struct hdb_health health = { .struct_size = sizeof(health) };
	struct summary summary = {
		.db_path = db_path, .result = result, .cost = cost, .seconds = seconds
	};
	struct hdb *db = NULL;
	int rc;

	if (result->snapshot_count > 1)
		cli_notice(cli,
			   "the file contains %u heap dumps; imported heap dump %u. Use "
			   "--snapshot N to import another one.",
			   result->snapshot_count, cli->opt.snapshot ? cli->opt.snapshot : 1);
	/* the database records the problems of the dump */
	if (result->problem_count > 0 || result->root_count == 0) {
		TRY(hdb_open(db_path, NULL, &db, &cli->err));
		cli_report_health(cli, db, NULL);
		hdb_health(db, &health);
	}
	rc = result->problem_count > 0 ? report_problems(cli, db, db_path, result->problem_count) :
					 HDB_OK;
	summary.incomplete = health.incomplete;
	if (rc == HDB_OK && cli->opt.format == FORMAT_TABLE && !cli->opt.verbose)
		print_line(cli, &summary);
	else if (rc == HDB_OK)
		rc = print_summary(cli, &summary);
	hdb_close(db);
	return rc;
}

int cmd_import(struct cli *cli)
{
	char default_path[DATABASE_PATH_SIZE];
	const char *db_path = cli->opt.output;
	struct hdb_import_result result = { .struct_size = sizeof(result) };
	uint64_t began_ns;

	if (cli->opt.operand_count != 1)
		return cli_usage(cli, "%s; usage: heapdb import DUMP",
				 cli->opt.operand_count ? "only one dump is allowed" :
							  "missing argument DUMP");
	if (!db_path) {
		TRY(feed_default_path(cli->opt.operands[0], default_path, sizeof(default_path),
				      &cli->err));
		db_path = default_path;
	}
	began_ns = base_now_ns();
	TRY(cli_import(cli, cli->opt.operands[0], db_path, &result, false));
	return cli_report_import(cli, db_path, &result, NULL,
				 (double)(base_now_ns() - began_ns) / 1e9);
}

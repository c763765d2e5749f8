/*
 * heapdb/main.c - command table and runner: parses options, opens the database, prints errors,
 * checks that output was written, and sets the exit code.
 */
#include "heapdb/cli.h"
#include "heapdb/pager.h"
#include "heapdb/progress.h"
#include "heapdb/prose.h"
#include "heapdb/render.h"
#include "base/outfile.h"
#include "base/suggest.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

/* Option groups of long-running commands, and of commands that print rows. */
#define WORK_OPTIONS (OPTIONS_MEMORY | OPTIONS_QUIET | OPTIONS_TIMINGS)
#define ROWS_OPTIONS \
	(WORK_OPTIONS | OPTIONS_JSON | OPTIONS_HUMAN | OPTIONS_ROWS | OPTIONS_COLUMNS | \
	 OPTIONS_LIMIT | OPTIONS_SORT | OPTIONS_WHERE | OPTIONS_TREES | OPTIONS_FORMAT | \
	 OPTIONS_FILE)
#define QUERY_OPTIONS \
	(OPTIONS_DATABASE | ROWS_OPTIONS | OPTIONS_TABLE | OPTIONS_STACKS | OPTIONS_RULES | \
	 OPTIONS_JFR)
#define FORMAT_OPTIONS \
	(OPTIONS_JSON | OPTIONS_ROWS | OPTIONS_TABLE | OPTIONS_FORMAT | OPTIONS_LIMIT | \
	 OPTIONS_FILE)
#define DUMP_OPTIONS (WORK_OPTIONS | OPTIONS_OUTPUT | OPTIONS_JSON | OPTIONS_HUMAN)

const struct missing missing_doors[] = {
#ifndef HAVE_SERVE
#define cmd_serve NULL
	{ "serve", "libmicrohttpd" },
#endif
#ifndef HAVE_SQLITE
#define cmd_sql NULL
	{ "sql", "SQLite" },
#elif !defined(HAVE_EDIT)
	{ "line editing in sql", "libedit" },
#endif
#ifndef HAVE_YAML
#define cmd_gate NULL
	{ "gate", "libyaml" },
#endif
#ifndef HAVE_MCP
#define cmd_mcp NULL
	{ "mcp", "libjansson" },
#endif
#ifndef HAVE_PNG
	{ "PNG images", "libpng" },
#endif
	{ NULL, NULL },
};

#define RULE_rule(word, text, nth) .name = text
#define RULE_run(function, text, nth) .run = function
#define RULE_flags(bits, text, nth) .flags = bits
#define RULE_options(groups, text, nth) .options = groups
#define RULE_query(word, text, nth) .query = text
#define RULE_usage(word, text, nth) .synopsis = text
#define RULE_summary(word, text, nth) .summary = text
#define RULE_alias(word, text, nth) .alias = text

const struct command commands[] = {
#include <heapdb/commands.rules.h>
	, { .name = NULL }
};

const struct command *cli_find_command(const char *name)
{
	for (const struct command *c = commands; c->name; c++) {
		if (strcmp(c->name, name) == 0 || (c->alias && strcmp(c->alias, name) == 0))
			return c;
	}
	return NULL;
}

const char *cli_nearest_command(const char *name)
{
	struct base_suggest near;
	const struct command *found;

	base_suggest_init(&near, name, strlen(name));
	for (const struct command *c = commands; c->name; c++) {
		base_suggest_try(&near, c->name);
		if (c->alias)
			base_suggest_try(&near, c->alias);
	}
	found = near.best ? cli_find_command(near.best) : NULL;
	return found ? found->name : NULL;
}

/* Buffer size for the longest alias of a query. */
#define ALIAS_SIZE 40

const struct hdb_query_spec *cli_nearest_query(const char *name)
{
	const struct hdb_query_spec *best = NULL;
	struct base_suggest near;
	const size_t count = hdb_query_count();

	base_suggest_init(&near, name, strlen(name));
	for (size_t i = 0; i < count; i++) {
		const size_t before = near.distance;
		char alias[ALIAS_SIZE];

		base_suggest_try(&near, hdb_query_at(i)->name);
		for (const char *a = hdb_query_at(i)->aliases; a && *a;) {
			const size_t size = strcspn(a, "|");

			snprintf(alias, sizeof(alias), "%.*s", (int)size, a);
			base_suggest_try(&near, alias);
			a += size + (a[size] == '|');
		}
		if (near.distance < before)
			best = hdb_query_at(i);
	}
	return best;
}

int cli_fail_missing(struct hdb_error *err, const struct command *command)
{
	for (const struct missing *m = missing_doors; m->name; m++) {
		if (strcmp(m->name, command->name) == 0)
			return hdb_fail(err, HDB_EUSAGE,
					"this heapdb was built without %s, which %s requires",
					m->library, m->name);
	}
	return HDB_EBUG;
}

/* An escaped byte takes up to four bytes, such as \xff. */
#define SAID_MAX (4 * HDB_ERROR_SIZE)

/*
 * Prints a message to standard error. Names in it may come from a dump or a file name, so they are
 * escaped. Allocates no memory, because the message may report that memory is exhausted.
 */
static void say(const char *prefix, const char *message)
{
	char room[SAID_MAX] = "";
	struct bytes text = { .data = room, .capacity = sizeof(room) };

	progress_hide();
	pager_flush();
	escape_text(&text, message, strnlen(message, HDB_ERROR_SIZE));
	fprintf(stderr, "heapdb: %s%s%.*s\n", prefix, *prefix ? ": " : "", (int)text.size, room);
}

void cli_notice(const struct cli *cli, const char *format, ...)
{
	char message[HDB_ERROR_SIZE];
	va_list args;

	if (cli->opt.quiet)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	say(cli->message_prefix, message);
}

size_t cli_health(const struct hdb *db, struct health_line out[HEALTH_LINES])
{
	struct hdb_health health = { .struct_size = sizeof(health) };
	size_t count = 0;

	hdb_health(db, &health);
	if (health.stale)
		out[count++] = (struct health_line){ "stale", health.stale };
	if (health.redacted)
		out[count++] = (struct health_line){ "redacted", health.redacted };
	if (health.incomplete)
		out[count++] = (struct health_line){ "incomplete", health.incomplete };
	return count;
}

void cli_report_health(const struct cli *cli, const struct hdb *db, const char *name)
{
	struct health_line lines[HEALTH_LINES];
	const size_t count = cli_health(db, lines);
	char message[HDB_ERROR_SIZE];

	for (size_t i = 0; i < count; i++) {
		snprintf(message, sizeof(message), "%s%s%s: %s", name ? name : "", name ? ": " : "",
			 lines[i].name, lines[i].text);
		say(cli->message_prefix, message);
	}
}

/*
 * Shells report a process killed by a signal as 128 plus the number of the signal: 130 for Ctrl-C.
 */
#define SIGNAL_EXIT 128

static int exit_code_of(int result)
{
	if (result < 0 && progress_signal())
		return SIGNAL_EXIT + progress_signal();
	if (result == HDB_OK)
		return CLI_DONE;
	if (result > 0)
		return CLI_NO;
	if (result == HDB_EUSAGE || result == HDB_EEXIST)
		return CLI_USAGE;
	return result <= HDB_EFORMAT && result > HDB_EIO ? CLI_INPUT : CLI_SYSTEM;
}

/*
 * Returns a hint that names an option of the command that would help. Messages of the library
 * cannot name options of the command.
 */
static const char *hint_of(int result)
{
	return result == HDB_EEXIST   ? "; --force replaces it" :
	       result == HDB_ECHANGED ? "; --dump PATH names the dump" :
					"";
}

/*
 * Prints an error: with --json as JSON to standard output, unless a write there has failed or the
 * whole answer has already been written.
 */
static void print_error(struct cli *cli, int result, bool as_json)
{
	cli->err.code = result;
	if (cli->err.message[0] == 0 && cli->out->error == 0 && result < 0)
		snprintf(cli->err.message, sizeof(cli->err.message), "%s",
			 result == HDB_ENOMEM ? "no memory" : hdb_result_name(result));
	if (cli->err.message[0]) {
		const size_t used = strlen(cli->err.message);

		snprintf(cli->err.message + used, sizeof(cli->err.message) - used, "%s",
			 hint_of(result));
	}
	if (as_json && result != cli->verdict && cli->out->error == 0 &&
	    (cli->err.message[0] || cli->is_open))
		render_json_error(cli->out, cli->is_open, &cli->err, exit_code_of(result));
	else if (cli->err.message[0])
		say(cli->message_prefix, cli->err.message);
}

/*
 * Fails because the query does not exist or has its own command, such as `heapdb info` instead of
 * `heapdb query info`.
 */
static int no_query(struct cli *cli, const char *name)
{
	const struct hdb_query_spec *spec = hdb_query_named(name);

	if (spec)
		return cli_usage(cli, "this is a command, not a query: `heapdb %s%s`",
				 cli_find_command(spec->name) ? "" : "export ", spec->name);
	spec = cli_nearest_query(name);
	if (spec)
		return cli_usage(cli, "unknown query \"%s\"; did you mean \"%s\"?", name,
				 spec->name);
	return cli_usage(cli, "unknown query \"%s\"; `heapdb help query` lists all queries", name);
}

/* Switches to a form with its own row in the table: "export dump". */
static void use_form(struct cli *cli, const char *name)
{
	cli->command = cli_find_command(name);
	snprintf(cli->message_prefix, sizeof(cli->message_prefix), "%s", name);
}

/* Selects the command's own query, or the one named by an operand. */
static int choose_query(struct cli *cli, struct arguments args, int *place)
{
	const struct command *command = cli->command;
	const char *name = command->query, *table;

	*place = 0;
	if (command->flags & NAMES_QUERY) {
		const int rc = options_query_name(command, args, place, &table, &cli->err);

		if (rc != HDB_OK || (*place == 0 && !table))
			return rc;
		if (table)
			return export_table(cli, table);
		name = args.values[*place];
		if (command->flags & EXPORTS && strcmp(name, "dump") == 0) {
			use_form(cli, "export dump");
			return HDB_OK;
		}
	}
	if (!name)
		return HDB_OK;
	cli->query = hdb_query_named(name);
	if (!cli->query && command->flags & EXPORTS) {
		cli->statement = export_statement(name);
		if (cli->statement)
			return HDB_OK;
	}
	if (!cli->query ||
	    (!cli->query->is_query && command->flags & NAMES_QUERY && !(command->flags & EXPORTS)))
		return no_query(cli, name);
	if (command->flags & NAMES_QUERY && !cli->is_implied)
		snprintf(cli->message_prefix, sizeof(cli->message_prefix), "%s%s%s",
			 cli->is_direct ? "" : command->name, cli->is_direct ? "" : " ",
			 cli->query->name);
	return HDB_OK;
}

void cli_on_notice(void *ctx, const char *text)
{
	cli_notice(ctx, "%s", text);
}

struct hdb_open_options cli_open_options(struct cli *cli, const char *dump_path, unsigned of)
{
	struct hdb_open_options options = {
		.struct_size = sizeof(options),
		.dump_path = dump_path,
		.memory_bytes = cli->opt.memory_bytes / (of ? of : 1),
		.threads = cli->opt.threads,
		.progress = progress_callbacks(),
		.tmp_dir = cli->opt.tmp,
	};

	options.progress.notice = cli_on_notice;
	options.progress.ctx = cli;
	return options;
}

int cli_open(struct cli *cli, const char *db_path, const char *dump_path, unsigned of,
	     struct hdb **db)
{
	const struct hdb_open_options options = cli_open_options(cli, dump_path, of);
	const struct hdb_import_options again = {
		.struct_size = sizeof(again),
		.memory_bytes = cli->opt.memory_bytes,
		.threads = cli->opt.threads,
		.wait = 1,
		.progress = options.progress,
	};
	int rc;

	rc = hdb_open(db_path, &options, db, &cli->err);
	/* `check` reports an outdated database instead of importing the dump again */
	if (rc != HDB_EVERSION || (cli->query && strcmp(cli->query->name, "check") == 0))
		return rc;
	rc = hdb_import_again(db_path, dump_path, &again, NULL, &cli->err);
	if (rc != HDB_OK && rc != HDB_END)
		return rc;
	return hdb_open(db_path, &options, db, &cli->err);
}

/*
 * Returns whether the answer itself reports the dump's health, as text output does at its
 * beginning.
 */
static bool answer_reports_health(const struct cli *cli)
{
	return cli->query && !(cli->command->flags & EXPORTS) && !cli->opt.output &&
	       cli->opt.format == FORMAT_TABLE;
}

int cli_open_database(struct cli *cli)
{
	TRY(locate_database(cli));
	TRY(cli_open(cli, cli->db_path, cli->dump_path, 1, &cli->db));
	if (!answer_reports_health(cli))
		cli_report_health(cli, cli->db, NULL);
	return HDB_OK;
}

static void close_databases(struct cli *cli)
{
	for (size_t i = 0; i < cli->before_count; i++) {
		hdb_close(cli->before[i].db);
		free(cli->before[i].db_path);
		free(cli->before[i].dump_path);
	}
	free(cli->before);
	hdb_close(cli->db);
	cli_notes_release(cli);
	free(cli->db_path);
	free(cli->dump_path);
	free(cli->statement);
}

/*
 * Removes the database or dump, which may be at any position, from the operands. The other operands
 * are targets. A command with NAMES_DB has no targets.
 */
static int take_file(struct cli *cli)
{
	struct options *opt = &cli->opt;
	const bool asks = cli->command->run == cmd_query;
	/* the operand is the database even if it does not exist */
	const bool is_only = cli->command->flags & NAMES_DB ||
			     (asks && cli->query && cli->query->target_max == 0);
	size_t kept = 0;

	for (size_t i = 0; i < opt->operand_count; i++) {
		const char *operand = opt->operands[i];

		/*
		 * An operand with a dump's suffix names a file, even a missing one: no class has
		 * such a name.
		 */
		if (!is_only && !locate_is_file(operand) && !locate_has_suffix(operand)) {
			opt->operands[kept++] = operand;
			continue;
		}
		if (opt->db)
			return cli_usage(cli,
					 "only one database is allowed, not both %s and %s; "
					 "`heapdb diff` compares databases",
					 opt->db, operand);
		opt->db = operand;
	}
	opt->operand_count = kept;
	return HDB_OK;
}

/* Returns whether this is `export bitmaps DIR`, which writes images, not rows. */
static bool exports_bitmaps(const struct cli *cli)
{
	return cli->command->flags & EXPORTS && cli->query && cli->opt.operand_count &&
	       strcmp(cli->query->name, "bitmaps") == 0;
}

/* Chooses the query, parses the options and starts the pager if the command has one. */
static int read_arguments(struct cli *cli, struct arguments *args)
{
	TRY(choose_query(cli, *args, &args->skip));
	TRY(options_parse(cli->command, cli->query, *args, &cli->opt, &cli->err));
	if (exports_bitmaps(cli)) {
		use_form(cli, "export bitmaps");
		TRY(options_only(&cli->opt, cli->command->options, cli->command->name, &cli->err));
	}
	if (!cli->opt.no_pager &&
	    (cli->opt.help || options_find("no-pager", strlen("no-pager"), cli->command->options)))
		pager_want(cli->out);
	return HDB_OK;
}

/* Runs the command with its database, progress and output file. */
static int run_prepared(struct cli *cli, struct arguments args)
{
	const struct command *command = cli->command;
	const bool is_export = command->flags & EXPORTS;

	if (cli->opt.table && args.skip)
		return cli_usage(cli, "--table %s cannot be combined with \"%s\"", cli->opt.table,
				 args.values[args.skip]);
	if (cli->query && is_export)
		export_suggest_query(cli, args.values[args.skip]);
	if (command->flags & WRITES)
		progress_start(!cli->opt.quiet && !cli->opt.no_progress, cli->opt.timings);
	/* the setting applies to every handle opened in this process */
	if (cli->opt.rules)
		setenv("HEAPDB_RULES", cli->opt.rules, 1);
	if (command->flags & (NEEDS_DB | NAMES_DB))
		TRY(take_file(cli));
	if (command->flags & NEEDS_DB)
		TRY(cli_open_database(cli));
	/* export handles -o itself, because it also writes Parquet and Arrow */
	if (cli->opt.output && command->options & OPTIONS_FILE && !is_export &&
	    command->run != cmd_export_dump)
		return export_to_file(cli, command->run);
	return command->run(cli);
}

static int run(struct cli *cli, struct arguments args)
{
	const struct command *command = cli->command;
	bool names_nothing;
	int rc;

	if (command->flags & PASSES_ON) {
		cli->rest.count = args.count - 1;
		cli->rest.values = args.values + 1;
		return command->run(cli);
	}
	TRY(read_arguments(cli, &args));
	command = cli->command;
	names_nothing = !cli->query && !cli->statement;
	if (!cli->opt.help && command->flags & EXPORTS && names_nothing)
		return cli_usage(cli, "expected a query, a table or a SELECT statement; `heapdb "
				      "help export` lists queries");
	if (cli->opt.help || (command->flags & NAMES_QUERY && names_nothing)) {
		help_command(cli->out, command, cli->query, false);
		return HDB_OK;
	}
	rc = run_prepared(cli, args);
	progress_hide();
	/* the dump's poor health may be the reason for the failure */
	if (rc != HDB_OK && cli->db && answer_reports_health(cli))
		cli_report_health(cli, cli->db, NULL);
	progress_print_timings();
	close_databases(cli);
	return rc;
}

/*
 * If the name is a heading of the help text, such as "waste", adds the queries under this heading
 * to the message.
 */
static bool name_group(struct cli *cli, const char *name)
{
	char *message = cli->err.message;
	const size_t count = hdb_query_count();

	for (size_t i = 0; i < count; i++) {
		const struct hdb_query_spec *query = hdb_query_at(i);
		const size_t used = strlen(message);

		if (!query->is_query || strcmp(query->group, name) != 0)
			continue;
		if (used)
			snprintf(message + used, HDB_ERROR_SIZE - used, ", %s", query->name);
		else
			cli_usage(cli, "\"%s\" is a group of queries: %s", name, query->name);
	}
	return *message != 0;
}

/*
 * Finds the command for the first word. If the word is the name of a query, the command is `query`.
 */
static const struct command *choose_command(struct cli *cli, const char *name)
{
	const struct hdb_query_spec *query = hdb_query_named(name);
	const struct command *command = cli_find_command(name);
	const char *near;

	if (command && command->run)
		return command;
	if (!command && query && query->is_query) {
		cli->is_direct = true;
		return cli_find_command("query");
	}
	if (name[0] == '-' && name[1]) {
		cli_usage(cli,
			  "expected a command before %s: options follow the command, as in "
			  "`heapdb info --db FILE`",
			  name);
		return NULL;
	}
	if (command) {
		(void)cli_fail_missing(&cli->err, command);
		return NULL;
	}
	if (!query && name_group(cli, name))
		return NULL;
	near = cli_nearest_command(name);
	if (query)
		cli_usage(cli, "unknown command \"%s\"; did you mean \"export %s\"?", name,
			  query->name);
	else if (locate_looks_like_file(name) || (!near && access(name, F_OK) == 0))
		(void)locate_refuse(cli, name);
	else if (near)
		cli_usage(cli, "unknown command \"%s\"; did you mean \"%s\"?", name, near);
	else if (cli_nearest_query(name))
		cli_usage(cli, "unknown command \"%s\"; did you mean \"%s\"?", name,
			  cli_nearest_query(name)->name);
	else
		cli_usage(cli, "unknown command \"%s\"; `heapdb help` lists all commands", name);
	return NULL;
}

/* Fails because the command `word` follows the file. */
static int refuse_order(struct cli *cli, const char *word, const char *file)
{
	struct bytes quoted = { 0 };
	const int rc = cli_usage(cli, "put the command first: `heapdb %s %s`", word,
				 prose_quote(&quoted, file));

	bytes_release(&quoted);
	return rc;
}

/*
 * Rewrites `heapdb FILE ...` to `heapdb overview FILE ...` in *args, whose values the caller owns.
 * Fails with HDB_EUSAGE for `heapdb FILE COMMAND`.
 */
static int overview_of(struct cli *cli, struct arguments *args, char *file)
{
	static char overview[] = "overview";
	char **values;

	for (int i = 1; i < args->count; i++) {
		const char *word = args->values[i];

		if (cli_find_command(word) || hdb_query_named(word))
			return refuse_order(cli, word, file);
	}
	TRY(BASE_ALLOC(values, (size_t)args->count + 3, "arguments", &cli->err));
	values[0] = values[1] = overview;
	for (int i = 0; i < args->count; i++)
		values[2 + i] = args->values[i];
	args->count += 2;
	args->values = values;
	return HDB_OK;
}

/*
 * Opens standard streams that the caller closed. Otherwise a database could get descriptor 1 or 2
 * and messages would overwrite it. Writing to such a standard output still fails.
 */
static void fill_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
	}
}

/*
 * Uses the user's locale only to find out whether text is UTF-8. Other properties of a locale would
 * change results: in Turkish, "i" is not the lowercase of "I", and in single-byte encodings every
 * byte may be a letter.
 */
static void set_locale(void)
{
	if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		(void)setlocale(LC_CTYPE, "C");
	else
		(void)setlocale(LC_CTYPE, "C.UTF-8");
}

/*
 * Finds the command of the first argument; *args becomes the arguments that the command parses.
 * Returns NULL and sets cli->err if there is none.
 */
static const struct command *take_command(struct cli *cli, int argc, char **argv,
					  struct arguments *args)
{
	const char *name = argc > 1 ? argv[1] : "help";
	const struct command *command;

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		name = "help";
	} else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		name = "version";
	} else if (!cli_find_command(name) && !hdb_query_named(name) &&
		   (strcmp(name, "-") == 0 || locate_is_file(name))) {
		if (overview_of(cli, args, argv[1]) != HDB_OK)
			return NULL;
		name = "overview";
		cli->is_implied = true;
	}
	command = choose_command(cli, name);
	if (!command || cli->is_implied)
		return command;
	snprintf(cli->message_prefix, sizeof(cli->message_prefix), "%s", command->name);
	/* for `heapdb leaks`, the query's name is an operand */
	if (cli->is_direct)
		*args = (struct arguments){ .count = argc, .values = argv };
	return command;
}

/* Closes standard output and returns the exit code for rc. */
static int finish(struct cli *cli, int rc)
{
	struct output *out = cli->out;

	/* it is not an error if the reader, such as `head` or a pager, stops early */
	if (out->error == EPIPE && rc == HDB_EIO)
		rc = HDB_OK;
	if (output_close(out) == 0 || out->error == EPIPE)
		return exit_code_of(rc);
	hdb_fail(&cli->err, HDB_EIO, "standard output: %s", strerror(out->error));
	if (!progress_signal())
		say(cli->message_prefix, cli->err.message);
	return exit_code_of(HDB_EIO);
}

int main(int argc, char **argv)
{
	static struct output out;
	struct cli cli = { .out = &out };
	struct arguments args = { .count = argc - 1, .values = argv + 1 };
	int rc, code;

	fill_streams();
	base_note_inherited_files();
	set_locale();
	signal(SIGPIPE, SIG_IGN);
	output_init(&out, STDOUT_FILENO, &progress_hooks);
	if (argc > 1 && strcmp(argv[1], "--complete") == 0) {
		(void)cli_complete(&cli, (struct arguments){ argc - 2, argv + 2, 0 });
		return output_close(&out) == 0 ? CLI_DONE : CLI_SYSTEM;
	}
	/* without a command, the program runs `help` */
	if (argc < 2)
		args = (struct arguments){ .count = 1, .values = argv };
	cli.command = take_command(&cli, argc, argv, &args);
	rc = cli.command ? run(&cli, args) : (int)cli.err.code;
	if (rc == HDB_EIO && base_stdout_closed())
		rc = HDB_OK;
	if (rc != HDB_OK)
		print_error(&cli, rc, options_want_json(args));
	options_release(&cli.opt);
	if (cli.is_implied)
		free(args.values);
	code = finish(&cli, rc);
	pager_wait();
	if (code > SIGNAL_EXIT) {
		/*
		 * a shell ends a loop that runs this command only if the signal kills the process
		 */
		(void)signal(code - SIGNAL_EXIT, SIG_DFL);
		(void)raise(code - SIGNAL_EXIT);
	}
	return code;
}

/*
 * heapdb/cmd_help.c - help and version, generated from the command table, the option table and the
 * library's list of queries.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"

#include <limits.h>

/* Column where descriptions begin. */
#define HELP_COLUMN 28

/* Maximum width of a help line. */
#define HELP_WIDTH 80

/* Prints text wrapped at `indent`, the column of the cursor. */
static void put_words(struct output *out, const char *text, size_t indent)
{
	const struct render_style style = { .width = HELP_WIDTH };

	prose_wrap(out, &style, (struct prose_place){ indent, indent }, text, strlen(text));
}

/* Prints an option. If a list of choices does not fit on the line, breaks the list after a "|". */
static void put_left(struct output *out, const char *left)
{
	size_t room = HELP_WIDTH - 2;

	while (strlen(left) > room) {
		size_t part = room;

		while (part > 0 && left[part - 1] != '|')
			part--;
		if (part == 0)
			break;
		output_bytes(out, left, part);
		output_string(out, "\n      ");
		left += part;
		room = HELP_WIDTH - 6;
	}
	output_string(out, left);
}

/* Prints "  left    right", with right on its own line if left is long. */
static void put_line(struct output *out, const char *left, const char *right)
{
	const size_t size = strlen(left) + 2;

	output_string(out, "  ");
	put_left(out, left);
	if (size + 2 > HELP_COLUMN) {
		output_char(out, '\n');
		output_blanks(out, HELP_COLUMN);
	} else {
		output_blanks(out, HELP_COLUMN - size);
	}
	put_words(out, right ? right : "", HELP_COLUMN);
}

static void put_option(struct output *out, char letter, const char *name, const char *argument,
		       const char *help)
{
	char left[128], first[8] = "";

	if (letter)
		snprintf(first, sizeof(first), "-%c, ", letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", first, name, argument ? " " : "",
		 argument ? argument : "");
	put_line(out, left, help);
}

/* Formats default and range of an option: " Default: 10. Range: 1 to 100." */
static void describe_range(const struct hdb_option_spec *o, char *out, size_t size)
{
	const bool is_number = o->type == HDB_OPTION_NUMBER;
	size_t used = 0;

	out[0] = '\0';
	if (o->default_value)
		used = (size_t)snprintf(out, size, " Default: %s.", o->default_value);
	/* omit upper limits beyond 32 bits, which no value reaches in practice */
	if (is_number && o->high < UINT32_MAX)
		snprintf(out + used, size - used, " Range: %" PRIu64 " to %" PRIu64 ".", o->low,
			 o->high);
	else if (is_number && o->low > 0)
		snprintf(out + used, size - used, " Minimum: %" PRIu64 ".", o->low);
}

static void put_query_option(struct output *out, const struct hdb_option_spec *o)
{
	char range[160], help[512];

	describe_range(o, range, sizeof(range));
	snprintf(help, sizeof(help), "%s%s%s", o->help,
		 *range && o->help[strlen(o->help) - 1] != '.' ? "." : "", range);
	put_option(out, 0, o->name, o->argument, help);
}

/* Returns the heading of a group of queries. */
static const char *group_title(const char *group)
{
	static const struct {
		const char *group, *title;
	} titles[] = {
		{ "leaks", "Leaks: what leaks and what keeps it alive" },
		{ "sizes", "Sizes: what uses the memory" },
		{ "objects", "Objects: their contents and references" },
		{ "waste", "Waste: what could be saved" },
		{ "threads", "Threads" },
		{ "classes", "Classes and class loaders" },
		{ "compare", "Compare: what changed between dumps" },
		{ "database", "Database and dump" },
	};
	const size_t i = BASE_INDEX(titles, group);

	return i < BASE_COUNT(titles) ? titles[i].title : group;
}

/* Returns the words between "heapdb" and the name of the query in a usage line. */
static const char *verb_of(const struct hdb_query_spec *query)
{
	return query->is_query || cli_find_command(query->name) ? "" : "export ";
}

/*
 * Lists queries by group, one per line. A query that has its own command is shown with the command.
 */
static void put_queries(struct output *out)
{
	const char *group = "";
	const size_t count = hdb_query_count();

	for (size_t i = 0; i < count; i++) {
		const struct hdb_query_spec *query = hdb_query_at(i);
		char left[128];

		if (strcmp(query->group, group) != 0)
			output_format(out, "\n%s\n", group_title(query->group));
		group = query->group;
		snprintf(left, sizeof(left), "%s%s%s%s%s", query->is_query ? "" : "heapdb ",
			 query->is_query ? "" : verb_of(query), query->name,
			 *query->targets ? " " : "", query->targets);
		put_line(out, left, query->summary);
	}
	output_string(
		out,
		"\n`heapdb help query NAME` shows a query's options, columns and an example.\n");
}

static const struct option_info *options_of(const struct command *command)
{
	return command->flags & PASSES_ON ? fleet_options : option_table;
}

static void put_common_options(struct output *out, const struct command *command,
			       const struct hdb_query_spec *query)
{
	const uint64_t groups = options_groups(command, query);

	output_string(out, query ? "\nOptions shared with other queries:\n" : "\nOptions:\n");
	for (const struct option_info *o = options_of(command); o->name; o++) {
		if (o->groups & groups && !options_spec_has(query, o->name))
			put_option(out, (char)o->letter, o->name, o->argument, o->help);
	}
}

/* Type of functions that return a column or fact of a query. */
typedef const struct hdb_column *column_of(const struct hdb_query_spec *query, size_t no);

static void put_columns(struct output *out, const char *heading, column_of *get,
			const struct hdb_query_spec *query)
{
	const struct hdb_column *column;

	for (size_t i = 0; (column = get(query, i)) != NULL; i++) {
		if (i == 0)
			output_format(out, "\n%s:\n", heading);
		put_line(out, column->name, column->help);
	}
}

/* Prints "Aliases: histo, class-histogram". */
static void put_aliases(struct output *out, const struct hdb_query_spec *query)
{
	const char *a = query->aliases ? query->aliases : "";

	output_string(out, *a ? "Aliases: " : "");
	while (*a) {
		const size_t size = strcspn(a, "|");

		output_bytes(out, a, size);
		a += size + (a[size] == '|');
		output_string(out, *a ? ", " : "\n");
	}
}

static void put_query(struct output *out, const struct hdb_query_spec *query, bool is_all)
{
	const struct hdb_option_spec *o;
	char text[256];

	output_format(out, "\nExample: heapdb %s%s%s%s\n", verb_of(query), query->name,
		      *query->example ? " " : "", query->example);
	put_aliases(out, query);
	if (hdb_query_option(query, 0))
		output_string(out, "\nOptions:\n");
	for (size_t n = 0; (o = hdb_query_option(query, n)) != NULL; n++)
		put_query_option(out, o);
	if (query->one_population) {
		snprintf(text, sizeof(text), "--unreachable and --all do not apply: %s.",
			 query->one_population);
		output_char(out, '\n');
		put_words(out, text, 0);
	}
	if (!is_all)
		return;
	put_columns(out, "Columns", hdb_query_column, query);
	put_columns(out, "Facts", hdb_query_fact, query);
	put_columns(out, "Facts of any answer, if they apply", hdb_query_fact, NULL);
}

void help_command(struct output *out, const struct command *command,
		  const struct hdb_query_spec *query, bool is_all)
{
	if (!query && command->query)
		query = hdb_query_named(command->query);
	if (query && command->flags & NAMES_QUERY)
		output_format(out, "usage: heapdb %s%s%s%s [FILE] [options]\n\n",
			      command->flags & EXPORTS ? "export " : verb_of(query), query->name,
			      *query->targets ? " " : "", query->targets);
	else
		output_format(out, "usage: heapdb %s%s%s\n\n", command->name,
			      command->synopsis ? " " : "",
			      command->synopsis ? command->synopsis : "");
	put_words(out, query && command->flags & NAMES_QUERY ? query->summary : command->summary,
		  0);
	if (query)
		put_query(out, query, is_all);
	else if (command->flags & NAMES_QUERY)
		put_queries(out);
	if (is_all || !query)
		put_common_options(out, command, query);
	else
		output_format(
			out,
			"\nThe answer is text or a table. --json, --csv and --format select other formats.\n"
			"`heapdb help %s --all` lists all options, columns and facts.\n",
			query->name);
}

/* Prints "Not in this build: serve (libmicrohttpd), ...". */
static void put_missing(struct output *out)
{
	for (const struct missing *m = missing_doors; m->name; m++)
		output_format(out, "%s%s (%s)%s", m == missing_doors ? "Not in this build: " : ", ",
			      m->name, m->library, m[1].name ? "" : "\n");
}

/* Prints the names of a group: "  leaks    leaks, triage, ...". */
static void put_group(struct output *out, const char *group)
{
	const char *between = "";
	const size_t count = hdb_query_count();
	size_t at = 0;

	output_format(out, "  %-9s ", group);
	for (size_t i = 0; i < count; i++) {
		const size_t size = strlen(hdb_query_at(i)->name);

		if (strcmp(hdb_query_at(i)->group, group) != 0 || !hdb_query_at(i)->is_query)
			continue;
		if (at + size + 2 > HELP_WIDTH - 12) {
			output_string(out, ",\n            ");
			between = "";
			at = 0;
		}
		output_format(out, "%s%s", between, hdb_query_at(i)->name);
		between = ", ";
		at += size + 2;
	}
	output_char(out, '\n');
}

/* Prints the short help: first steps, all names, and where to find more. */
static void put_screen(struct output *out)
{
	const char *group = "";
	const size_t count = hdb_query_count();
	size_t at = 0;

	output_string(
		out,
		"heapdb analyses heap dumps of Java and Android programs.\n\n"
		"  heapdb FILE               summary of a dump on one screen\n"
		"  heapdb leaks FILE         leak suspects, each with its size and path\n"
		"  heapdb top FILE           biggest objects; --by class, package or loader\n"
		"  heapdb retained 0x12c4    retained size of an object or a class\n"
		"  heapdb path 0x12c4        path from a GC root to an object\n"
		"  heapdb diff OLD NEW       what grew between two dumps\n\n"
		"FILE is a dump, which is imported on first use, or a database (*.heapdb).\n"
		"Without FILE, heapdb reads the newest database in the current directory.\n\nCommands:\n ");
	for (const struct command *c = commands; c->name; c++) {
		if (!c->run || strchr(c->name, ' '))
			continue;
		if (at + strlen(c->name) + 2 > HELP_WIDTH - 2) {
			output_string(out, "\n ");
			at = 0;
		}
		output_format(out, " %s", c->name);
		at += strlen(c->name) + 1;
	}
	output_string(out, "\n\nQueries, each of which is also a command:\n");
	for (size_t i = 0; i < count; i++) {
		if (strcmp(hdb_query_at(i)->group, group) != 0 && hdb_query_at(i)->is_query)
			put_group(out, hdb_query_at(i)->group);
		group = hdb_query_at(i)->group;
	}
	output_char(out, '\n');
	put_missing(out);
	output_string(out, "`heapdb help NAME` describes one, `heapdb help --all` lists all.\n");
}

/* Lists every command and query with its description. */
static void put_overview(struct output *out)
{
	output_string(out, "usage: heapdb COMMAND [FILE] [arguments]\n\nCommands:\n");
	for (const struct command *c = commands; c->name; c++) {
		if (c->run)
			put_line(out, c->name, c->summary);
	}
	put_missing(out);
	put_queries(out);
	output_string(out,
		      "\nThe database is FILE, --db FILE, $HEAPDB or the newest *.heapdb in the "
		      "current\ndirectory, in this order. The manual is `man heapdb`.\n");
}

/* A line of `heapdb help --names`: kind, owner, name, argument and help. */
struct listed {
	const char *kind, *owner, *name;
	const char *more, *help; /* further fields, or NULL if none */
};

static void put_name(struct output *out, struct listed l)
{
	output_format(out, "%s\t%s\t%s\t%s\t%s\n", l.kind, l.owner, l.name, l.more ? l.more : "",
		      l.help ? l.help : "");
}

static const char *type_name(enum hdb_option_type type)
{
	static const char *const names[] = {
		[HDB_OPTION_FLAG] = "flag",     [HDB_OPTION_CHOICE] = "choice",
		[HDB_OPTION_NUMBER] = "number", [HDB_OPTION_CLASSES] = "classes",
		[HDB_OPTION_OBJECT] = "object", [HDB_OPTION_TEXT] = "text",
	};

	return names[type];
}

/* Like put_name, with additional fields for type, default, range, unit and example. */
static void put_option_name(struct output *out, const char *owner, const struct hdb_option_spec *o)
{
	char range[64] = "";

	if (o->type == HDB_OPTION_NUMBER && o->high < INT64_MAX)
		snprintf(range, sizeof(range), "%" PRIu64 "..%" PRIu64, o->low, o->high);
	else if (o->type == HDB_OPTION_NUMBER)
		snprintf(range, sizeof(range), "%" PRIu64 "..", o->low);
	output_format(out, "option\t%s\t--%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", owner, o->name,
		      o->argument ? o->argument : "", o->help, type_name(o->type),
		      o->default_value ? o->default_value : "", range, o->unit ? o->unit : "",
		      o->example ? o->example : "");
}

/* Like put_name, with the kinds and the number of targets as additional fields. */
static void put_targets(struct output *out, const struct hdb_query_spec *query)
{
	static const char *const names[] = { "object", "class", "pattern", "loader", "name" };
	const char *between = "";

	output_format(out, "query\t%s\t%s\t%s\t%s\t", query->is_query ? "query" : "-", query->name,
		      query->targets, query->summary);
	for (unsigned i = 0; i < BASE_COUNT(names); i++) {
		if (query->target_types >> i & 1) {
			output_format(out, "%s%s", between, names[i]);
			between = ",";
		}
	}
	if (query->target_max == UINT_MAX)
		output_format(out, "\t%u..\n", query->target_min);
	else
		output_format(out, "\t%u..%u\n", query->target_min, query->target_max);
}

/* Lists options of the command that do not apply to this query. */
static void put_untaken(struct output *out, const struct hdb_query_spec *query, const char *owner)
{
	const struct command *command = cli_find_command(query->is_query ? "query" : query->name);
	const uint64_t all = options_groups(command ? command : cli_find_command("export"), NULL);
	const uint64_t taken =
		options_groups(command ? command : cli_find_command("export"), query);

	for (const struct option_info *o = option_table; o->name; o++) {
		char option[80];

		snprintf(option, sizeof(option), "--%s", o->name);
		if (o->groups & all && !options_spec_has(query, o->name) &&
		    !options_find(o->name, strlen(o->name), taken))
			put_name(out, (struct listed){ "untaken", owner, option, "", "" });
	}
}

static void put_query_names(struct output *out, const struct hdb_query_spec *query)
{
	const struct hdb_option_spec *o;
	const struct hdb_column *column;
	char owner[80], option[80];

	snprintf(owner, sizeof(owner), "query %s", query->name);
	put_targets(out, query);
	for (const char *a = query->aliases; a && *a;) {
		const size_t size = strcspn(a, "|");

		snprintf(option, sizeof(option), "%.*s", (int)size, a);
		put_name(out, (struct listed){ "alias", owner, option, "", "" });
		a += size + (a[size] == '|');
	}
	snprintf(option, sizeof(option), "%s%s", verb_of(query), query->name);
	put_name(out, (struct listed){ "example", owner, option, query->example, "" });
	if (query->one_population)
		put_name(out,
			 (struct listed){ "population", owner, "", "", query->one_population });
	for (size_t n = 0; (o = hdb_query_option(query, n)) != NULL; n++)
		put_option_name(out, owner, o);
	for (size_t i = 0; (column = hdb_query_column(query, i)) != NULL; i++)
		put_name(out, (struct listed){ "column", owner, column->name, "", column->help });
	put_untaken(out, query, owner);
	for (size_t i = 0; (column = hdb_query_fact(query, i)) != NULL; i++)
		put_name(out, (struct listed){ "fact", owner, column->name, "", column->help });
}

/*
 * Prints one name per line: kind, owner, name, argument and help, separated by tabs. Options of
 * queries have further fields, see put_option_name.
 */
static void put_names(struct output *out)
{
	const size_t count = hdb_query_count();
	char option[80];

	for (const struct command *c = commands; c->name; c++) {
		/* "export", "dump" */
		const char *blank = strchr(c->name, ' ');
		const uint64_t groups =
			options_groups(c, c->query ? hdb_query_named(c->query) : NULL);

		if (!c->run)
			continue;
		snprintf(option, sizeof(option), "%.*s", blank ? (int)(blank - c->name) : 1,
			 blank ? c->name : "-");
		put_name(out, (struct listed){ "command", option, blank ? blank + 1 : c->name,
					       c->synopsis, c->summary });
		for (const struct option_info *o = options_of(c); o->name; o++) {
			snprintf(option, sizeof(option), "--%s", o->name);
			if (o->groups & groups)
				put_name(out, (struct listed){ "option", c->name, option,
							       o->argument, o->help });
		}
	}
	for (size_t i = 0; i < count; i++)
		put_query_names(out, hdb_query_at(i));
}

/* Fails because there is no help on `word`. `near` is the nearest existing name, or NULL. */
static int no_topic(struct cli *cli, const char *kind, const char *word, const char *near)
{
	if (near)
		return cli_usage(cli, "unknown %s \"%s\"; did you mean \"%s\"?", kind, word, near);
	return cli_usage(cli, "unknown %s \"%s\"; see `heapdb help%s`", kind, word,
			 strcmp(kind, "query") == 0 ? " query" : "");
}

int cmd_help(struct cli *cli)
{
	const char *const *words = cli->opt.operands;
	const size_t count = cli->opt.operand_count;
	const struct command *command = count > 0 ? cli_find_command(words[0]) : NULL;
	const struct hdb_query_spec *query = NULL;
	char form[64];

	if (cli->opt.schema) {
		schema_print(cli->out);
		return HDB_OK;
	}
	if (cli->opt.names) {
		put_names(cli->out);
		return HDB_OK;
	}
	if (count == 0) {
		(cli->opt.all ? put_overview : put_screen)(cli->out);
		return HDB_OK;
	}
	if (!command && hdb_query_named(words[0])) {
		query = hdb_query_named(words[0]);
		command = cli_find_command(query->is_query ? "query" : "export");
	}
	if (command && !command->run)
		return cli_fail_missing(&cli->err, command);
	if (!command && cli_nearest_command(words[0]))
		return no_topic(cli, "command", words[0], cli_nearest_command(words[0]));
	if (!command) {
		query = cli_nearest_query(words[0]);
		return no_topic(cli, "command", words[0], query ? query->name : NULL);
	}
	if (count == 2) {
		snprintf(form, sizeof(form), "%s %s", words[0], words[1]);
		if (cli_find_command(form)) {
			help_command(cli->out, cli_find_command(form), NULL, cli->opt.all);
			return HDB_OK;
		}
	}
	if (count > 2)
		return cli_usage(cli, "too many arguments; usage: heapdb help [COMMAND [QUERY]]");
	if (count > 1) {
		query = hdb_query_named(words[1]);
		if (!(command->flags & NAMES_QUERY))
			return cli_usage(cli, "the command %s takes no query name", command->name);
		if (!query) {
			query = cli_nearest_query(words[1]);
			return no_topic(cli, "query", words[1], query ? query->name : NULL);
		}
	}
	help_command(cli->out, command, query, cli->opt.all);
	return HDB_OK;
}

int cmd_version(struct cli *cli)
{
	output_format(cli->out, "heapdb %s\n", hdb_version());
	return HDB_OK;
}

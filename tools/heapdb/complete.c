/*
 * heapdb/complete.c - shell completion: `heapdb --complete WORD...` prints candidates for the last
 * word, given its beginning. Each line is a candidate, a tab and its description. ":files",
 * ":folders" and ":processes" tell the shell to complete those itself. It does not import or
 * compute anything, and prints no errors.
 */
#include "base/sort.h"
#include "heapdb/cli.h"

/* Maximum number of classes offered; longer lists do not help. */
#define CLASSES_MAX 200

struct line {
	struct cli *cli;
	char **words;
	size_t count; /* number of words, including the word to complete */
	const char *typed;
	size_t keep;  /* number of leading bytes of the word to keep, such as "a,b," of a list */
	bool has_any; /* whether a candidate was printed */
	const struct command *command;
	const struct hdb_query_spec *query;
};

static void offer(struct line *l, const char *word, const char *help)
{
	const char *rest = l->typed + l->keep;

	if (strncmp(word, rest, strlen(rest)) != 0)
		return;
	output_format(l->cli->out, "%.*s%s\t%s\n", (int)l->keep, l->typed, word, help ? help : "");
	l->has_any = true;
}

static void offer_list(struct line *l, const char *words)
{
	char word[80];

	for (size_t size; *words; words += size + (words[size] == '|')) {
		size = strcspn(words, "|");
		snprintf(word, sizeof(word), "%.*s", (int)size, words);
		offer(l, word, NULL);
	}
}

static void ask_shell(const struct line *l, const char *what)
{
	output_format(l->cli->out, ":%s\n", what);
}

static void offer_commands(struct line *l)
{
	for (const struct command *c = commands; c->name; c++)
		if (c->run && !strchr(c->name, ' '))
			offer(l, c->name, c->summary);
}

static void offer_queries(struct line *l, bool is_any)
{
	for (size_t i = 0; i < hdb_query_count(); i++)
		if (is_any || hdb_query_at(i)->is_query)
			offer(l, hdb_query_at(i)->name, hdb_query_at(i)->summary);
}

/* Offers the second words of commands of two words, such as "dump" for "export dump". */
static void offer_forms(struct line *l, const char *name)
{
	const size_t size = strlen(name);

	for (const struct command *c = commands; c->name; c++)
		if (c->run && strncmp(c->name, name, size) == 0 && c->name[size] == ' ')
			offer(l, c->name + size + 1, c->summary);
}

/* ---- preceding words ---- */

static void use_form(struct line *l, const char *word)
{
	char form[64];

	snprintf(form, sizeof(form), "%s %s", l->command->name, word);
	if (cli_find_command(form))
		l->command = cli_find_command(form);
}

/* Finds the command and its query, which is NULL if it is unknown. */
static void find_command(struct line *l)
{
	const char *name = l->words[0];

	l->command = cli_find_command(name);
	l->query = l->command ? NULL : hdb_query_named(name);
	if (!l->command && (l->query ? l->query->is_query : locate_is_file(name))) {
		l->command = cli_find_command("query");
		l->query = l->query ? l->query : hdb_query_named("overview");
		return;
	}
	if (l->command && l->command->query)
		l->query = hdb_query_named(l->command->query);
	for (size_t i = 1; l->command && i + 1 < l->count; i++) {
		if (!(l->command->flags & NAMES_QUERY) || l->query)
			break;
		l->query = hdb_query_named(l->words[i]);
		use_form(l, l->words[i]);
	}
}

/*
 * Returns the argument of an option; NULL for a switch or an unknown option. Sets *own if the
 * option belongs to the query.
 */
static const char *argument_of(const struct line *l, const char *name,
			       const struct hdb_option_spec **own)
{
	const struct option_info *o = NULL;
	const struct hdb_option_spec *spec;

	*own = NULL;
	for (size_t n = 0; (spec = hdb_query_option(l->query, n)) != NULL; n++) {
		if (strcmp(spec->name, name) == 0) {
			*own = spec;
			return spec->argument;
		}
	}
	if (l->command->flags & PASSES_ON)
		for (o = fleet_options; o->name && strcmp(o->name, name) != 0;)
			o++;
	else
		o = options_find(name, strlen(name), options_groups(l->command, l->query));
	return o && o->name ? o->argument : NULL;
}

/* ---- contents of a database ---- */

/* Returns the file named on the line, preferring --db; NULL if there is none. */
static const char *named_file(const struct line *l)
{
	for (size_t i = 0; i + 2 < l->count; i++)
		if (strcmp(l->words[i], "--db") == 0)
			return l->words[i + 1];
	for (size_t i = 0; i + 1 < l->count; i++)
		if (locate_is_file(l->words[i]))
			return l->words[i];
	return NULL;
}

struct class_size {
	uint64_t bytes; /* total size of the objects of the class */
	uint32_t no;
};

BASE_ORDER(by_size, struct class_size, BASE_DOWN(bytes), BASE_UP(no))

/*
 * Returns the classes of a database by descending size. The caller must free() the array. Returns
 * NULL after a failure.
 */
static struct class_size *classes_by_size(struct hdb *db)
{
	const uint32_t n = hdb_class_count(db);
	BASE_FREED struct hdb_class_count *counts = calloc((size_t)n + 1, sizeof(*counts));
	struct class_size *sizes;

	if (!counts || hdb_class_counts(db, 0, counts, NULL) != HDB_OK ||
	    BASE_ALLOC(sizes, n, "classes", NULL) != HDB_OK)
		return NULL;
	for (uint32_t no = 0; no < n; no++)
		sizes[no] = (struct class_size){ counts[no].shallow_bytes, no };
	qsort(sizes, n, sizeof(*sizes), by_size);
	return sizes;
}

/* Offers class names with the given prefix by descending size. */
static void offer_classes(struct line *l)
{
	struct cli *cli = l->cli;
	const char *rest = l->typed + l->keep;
	const size_t size = strlen(rest);
	BASE_FREED struct class_size *sizes = NULL;
	struct hdb *db = NULL;
	unsigned offered = 0;

	cli->opt.db = named_file(l);
	cli->opt.quiet = true;
	if (locate_existing(cli) != HDB_OK ||
	    hdb_open(cli->db_path, NULL, &db, &cli->err) != HDB_OK)
		return;
	sizes = classes_by_size(db);
	for (uint32_t i = 0; sizes && i < hdb_class_count(db) && offered < CLASSES_MAX; i++) {
		const char *name = hdb_class_name(db, sizes[i].no);

		if (strncmp(name, rest, size) == 0 && !strpbrk(name, "\t\n")) {
			offer(l, name, "class");
			offered++;
		}
	}
	hdb_close(db);
}

/* ---- candidates ---- */

static void offer_options(struct line *l)
{
	const uint64_t groups = options_groups(l->command, l->query);
	const struct option_info *o = l->command->flags & PASSES_ON ? fleet_options : option_table;
	const struct hdb_option_spec *spec;
	char word[80];

	for (size_t n = 0; (spec = hdb_query_option(l->query, n)) != NULL; n++) {
		snprintf(word, sizeof(word), "--%s", spec->name);
		offer(l, word, spec->help);
	}
	for (; o->name; o++) {
		snprintf(word, sizeof(word), "--%s", o->name);
		if (o->groups & groups && !options_spec_has(l->query, o->name))
			offer(l, word, o->help);
	}
}

static void offer_columns(struct line *l, bool is_list)
{
	const char *comma = strrchr(l->typed, ',');
	const struct hdb_column *column;

	l->keep = is_list && comma ? (size_t)(comma - l->typed + 1) : 0;
	if (!is_list && *l->typed == '-') /* descending order: --sort -retained */
		l->keep = 1;
	for (size_t i = 0; (column = hdb_query_column(l->query, i)) != NULL; i++)
		offer(l, column->name, column->help);
}

/* Offers values of an option. */
static void offer_value(struct line *l, const char *name, const char *argument,
			const struct hdb_option_spec *own)
{
	const bool is_text = own && own->type != HDB_OPTION_CHOICE;

	if (!own && (strcmp(name, "columns") == 0 || strcmp(name, "sort") == 0))
		offer_columns(l, *name == 'c');
	else if (strcmp(argument, "FILE") == 0 || strcmp(argument, "PATH") == 0)
		ask_shell(l, "files");
	else if (strcmp(argument, "DIR") == 0)
		ask_shell(l, "folders");
	else if (own && own->type == HDB_OPTION_CLASSES)
		offer_classes(l);
	else if (!is_text && strchr(argument, '|') && strcmp(argument, "N|all") != 0)
		offer_list(l, argument);
}

/* Offers the fixed first operands of commands that have any. */
static void offer_operand(struct line *l)
{
	const char *name = l->command->name;
	const bool is_first = l->count == 2;

	if (l->command->flags & NAMES_QUERY && !l->query) {
		if (l->command->flags & EXPORTS) {
			offer_list(l, "objects|refs|classes");
			offer_forms(l, name);
		}
		offer_queries(l, l->command->flags & EXPORTS);
	} else if (strcmp(name, "help") == 0) {
		if (is_first)
			offer_commands(l);
		offer_queries(l, false);
	} else if (strcmp(name, "capture") == 0) {
		ask_shell(l, "processes");
	} else if (strcmp(name, "mcp") == 0 || strcmp(name, "fleet") == 0 ||
		   strcmp(name, "export bitmaps") == 0) {
		if (is_first && strcmp(name, "fleet") == 0)
			offer_list(l, "run|prune");
		ask_shell(l, "folders");
	} else if (strcmp(name, "notes") == 0 && is_first) {
		offer_list(l, "list|add|remove");
	} else if (strcmp(name, "version") != 0) {
		const bool has_target = l->query && l->query->target_types &
							    (HDB_TARGET_CLASS | HDB_TARGET_PATTERN);
		const bool has_file = named_file(l) != NULL;

		if (has_target && (*l->typed || has_file))
			offer_classes(l);
		if (!has_target || !has_file || !l->has_any)
			ask_shell(l, "files");
	}
}

static void complete(struct line *l)
{
	const char *previous = l->count > 1 ? l->words[l->count - 2] : "", *argument = NULL;
	const struct hdb_option_spec *own = NULL;

	if (l->count < 2) {
		offer_list(l, *l->typed == '-' ? "--help|--version" : "");
		if (*l->typed == '-')
			return;
		offer_commands(l);
		offer_queries(l, false);
		if (!l->has_any || strpbrk(l->typed, "./"))
			ask_shell(l, "files");
		return;
	}
	find_command(l);
	if (!l->command || !l->command->run)
		return;
	if (strcmp(previous, "-o") == 0)
		previous = "--output";
	if (strncmp(previous, "--", 2) == 0)
		argument = argument_of(l, previous + 2, &own);
	if (argument)
		offer_value(l, previous + 2, argument, own);
	else if (*l->typed == '-')
		offer_options(l);
	else
		offer_operand(l);
}

int cli_complete(struct cli *cli, struct arguments words)
{
	static char nothing[] = "";
	char *none[] = { nothing };
	struct line l = {
		.cli = cli,
		.words = words.count ? words.values : none,
		.count = words.count ? (size_t)words.count : 1,
	};

	l.typed = l.words[l.count - 1];
	complete(&l);
	free(cli->db_path);
	free(cli->dump_path);
	cli->db_path = cli->dump_path = NULL;
	return HDB_OK;
}

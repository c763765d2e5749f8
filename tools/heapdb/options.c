/*
 * heapdb/options.c - parses the command line with getopt_long, using two tables: the shared options
 * (here) and the options of the query (from the library).
 */
#include "heapdb/options.h"

#include "base/base_text.h"
#include "base/outfile.h"
#include "base/scope.h"
#include "base/suggest.h"
#include "heapdb/cli.h"
#include "heapdb/prose.h"
#include "heapdb/where.h"

#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <strings.h>

#define RULE_rule(member, text, nth) .name = text
#define RULE_for(groups_of_it, text, nth) .groups = groups_of_it
#define RULE_letter(word, text, nth) .letter = (text)[0]
#define RULE_argument(word, text, nth) .argument = text
#define RULE_formats(of, text, nth) .argument = of##_FORMATS
#define RULE_help(word, text, nth) .help = text
#define RULE_limit(most, text, nth) .limit = most
#define SETS(member, type) .kind = (type), .place = (unsigned)offsetof(struct options, member)
#define RULE_flag(member, text, nth) SETS(member, OPTION_FLAG)
#define RULE_text(member, text, nth) SETS(member, OPTION_TEXT)
#define RULE_number(member, text, nth) SETS(member, OPTION_NUMBER)
#define RULE_bytes(member, text, nth) SETS(member, OPTION_BYTES)
#define RULE_count(member, text, nth) SETS(member, OPTION_COUNT)
#define RULE_list(member, text, nth) SETS(member, OPTION_LIST)
#define RULE_word(member, text, nth) SETS(member, OPTION_WORD)
#define RULE_format(first, text, nth) SETS(format, OPTION_FORMAT), .limit = (first)

#define OR_WORD(name, word) "|" #word
#define ROW_FORMATS "table" FORMATS_OF_ROWS(OR_WORD)
#define TREE_FORMATS ROW_FORMATS "|folded|speedscope|pprof|treemap|icicle"
#define EXPORT_FORMATS TREE_FORMATS "|parquet|arrow|arrow-stream"

/* The options, in the order of the help text. */
const struct option_info option_table[] = {
#include <heapdb/options.rules.h>
	, { .name = NULL }
};

/*
 * getopt returns VALUE_COMMON + i for option i of the table, and VALUE_QUERY + i for option i of
 * the query.
 */
#define VALUE_COMMON 1000
#define VALUE_QUERY 2000

/* Maximum number of options of a query. */
#define OPTIONS_MAX 64

struct parser {
	const struct command *command;
	const struct hdb_query_spec *spec;
	uint64_t groups;
	struct arguments args;
	struct option longs[OPTIONS_MAX + 1];
	char shorts[16];
};

bool options_spec_has(const struct hdb_query_spec *spec, const char *name)
{
	const struct hdb_option_spec *o;

	for (size_t n = 0; (o = hdb_query_option(spec, n)) != NULL; n++) {
		if (strcmp(o->name, name) == 0)
			return true;
	}
	return false;
}

/* hdb_query_column or hdb_query_fact. */
typedef const struct hdb_column *column_of(const struct hdb_query_spec *query, size_t no);

/* Returns whether there is a column with this name or, if `name` is NULL, of this type. */
static bool has(column_of *get, const struct hdb_query_spec *spec, const char *name,
		enum hdb_type type)
{
	const struct hdb_column *column;

	for (size_t i = 0; (column = get(spec, i)) != NULL; i++)
		if (name ? strcmp(column->name, name) == 0 : column->type == type)
			return true;
	return false;
}

static bool has_column(const struct hdb_query_spec *spec, const char *name)
{
	return has(hdb_query_column, spec, name, HDB_TYPE_NULL);
}

static bool has_bytes(const struct hdb_query_spec *spec)
{
	return has(hdb_query_column, spec, NULL, HDB_TYPE_BYTES) ||
	       has(hdb_query_fact, spec, NULL, HDB_TYPE_BYTES);
}

/* Returns whether the query has the columns that render_picture needs. */
static bool can_be_drawn(const struct hdb_query_spec *spec)
{
	return has_column(spec, "level") && has_column(spec, "name") &&
	       has_column(spec, "objects") &&
	       (has_column(spec, "retained") || has_column(spec, "below_shallow"));
}

uint64_t options_groups(const struct command *command, const struct hdb_query_spec *query)
{
	uint64_t groups = command->options | OPTIONS_HELP;

	if (query) /* queries have their own option for unreachable objects */
		groups &= ~(uint64_t)OPTIONS_TABLES_ALL;
	if (query && query->is_tree)
		groups &= ~(uint64_t)OPTIONS_WHERE;
	if (query && !has(hdb_query_fact, query, "rules_tried", HDB_TYPE_NULL))
		groups &= ~(uint64_t)OPTIONS_RULES;
	if (query && !has_bytes(query))
		groups &= ~(uint64_t)OPTIONS_HUMAN;
	if (query && strcmp(query->name, "leaks") != 0)
		groups &= ~OPTIONS_JFR;
	if (query && !(prose_of(query->name) && prose_of(query->name)->has_stacks))
		groups &= ~(uint64_t)OPTIONS_STACKS;
	if (query && !can_be_drawn(query))
		groups &= ~(uint64_t)OPTIONS_TREES;
	if (groups & OPTIONS_EXPORT) /* export supports all formats */
		groups &= ~(uint64_t)OPTIONS_FORMAT;
	else if (groups & OPTIONS_TREES)
		groups ^= OPTIONS_FORMAT | OPTIONS_TREE_FORMAT;
	return groups;
}

const struct option_info *options_find(const char *name, size_t size, uint64_t groups)
{
	for (const struct option_info *o = option_table; o->name; o++)
		if (o->groups & groups && strncmp(o->name, name, size) == 0 && !o->name[size])
			return o;
	return NULL;
}

static void add_long(struct parser *p, size_t *count, const char *name, const char *argument,
		     int value)
{
	if (*count < OPTIONS_MAX)
		p->longs[(*count)++] = (struct option){
			.name = name,
			.has_arg = argument ? required_argument : no_argument,
			.val = value,
		};
}

/*
 * Prepares getopt. The query's options come first: if both tables define an option (--columns), the
 * query's option is used. getopt's state is global; optind = 0 resets it.
 */
static void parser_init(struct parser *p, const struct command *command,
			const struct hdb_query_spec *spec, struct arguments args)
{
	const struct hdb_option_spec *o;
	size_t count = 0, letters = 0;
	int i = 0;

	*p = (struct parser){ .command = command,
			      .spec = spec,
			      .groups = options_groups(command, spec),
			      .args = args };
	for (size_t n = 0; (o = hdb_query_option(spec, n)) != NULL; n++)
		add_long(p, &count, o->name, o->argument, VALUE_QUERY + i++);
	p->shorts[letters++] = '-'; /* makes getopt report operands in order, as option 1 */
	p->shorts[letters++] = ':';
	for (i = 0; option_table[i].name; i++) {
		const struct option_info *info = &option_table[i];

		if (!(info->groups & p->groups))
			continue;
		if (!options_spec_has(spec, info->name))
			add_long(p, &count, info->name, info->argument, VALUE_COMMON + i);
		if (info->letter) {
			p->shorts[letters++] = (char)info->letter;
			if (info->argument)
				p->shorts[letters++] = ':';
		}
	}
	opterr = 0;
	optind = 0;
}

static int parser_next(struct parser *p)
{
	int name = -1;
	int value = getopt_long(p->args.count, p->args.values, p->shorts, p->longs, &name);

	/* the full name of another option is not an abbreviation: --by does not mean --bytes */
	if (name >= 0 && p->longs[name].name && !p->longs[name].has_arg) {
		const char *given = p->args.values[optind - 1] + 2;

		if (strcmp(given, p->longs[name].name) != 0 &&
		    options_find(given, strlen(given), ~0U)) {
			optopt = 0;
			return '?';
		}
	}
	for (int i = 0; value > 1 && value < 256 && option_table[i].name; i++) {
		if (option_table[i].letter == value && option_table[i].groups & p->groups)
			return VALUE_COMMON + i;
	}
	return value;
}

/* Names listed in a message; long lists are truncated. */
struct names {
	char text[160];
	size_t count;
};

#define NAMES_MAX 8

static void add_name(struct names *names, const char *name)
{
	const size_t used = strlen(names->text);

	if (names->count++ < NAMES_MAX)
		snprintf(names->text + used, sizeof(names->text) - used, "%s%s", used ? ", " : "",
			 name);
	else if (names->count == NAMES_MAX + 1)
		snprintf(names->text + used, sizeof(names->text) - used, ", ...");
}

/*
 * Finds queries or commands that accept an option: first, queries that define the option or for
 * which this command accepts it; if there is no such query, other commands.
 */
static void find_takers(struct names *takers, const struct command *command, const char *name,
			size_t size)
{
	const size_t count = hdb_query_count();
	const struct option_info *o = options_find(name, size, command->options);

	for (size_t i = 0; i < count; i++) {
		const struct hdb_option_spec *own;
		const struct hdb_query_spec *spec = hdb_query_at(i);
		bool has = o && o->groups & options_groups(command, spec);

		for (size_t n = 0; (own = hdb_query_option(spec, n)) != NULL && !has; n++)
			has = strncmp(own->name, name, size) == 0 && !own->name[size];
		if (has)
			add_name(takers, spec->name);
	}
	for (const struct command *c = commands; c->name && !o; c++)
		if (options_find(name, size, c->options))
			add_name(takers, c->name);
}

/*
 * Fails if the option belongs to another command or query. Returns HDB_OK if no command or query
 * has the option.
 */
static int not_taken(const struct command *command, const struct hdb_query_spec *spec,
		     const char *name, size_t size, struct hdb_error *err)
{
	struct names takers = { "", 0 };
	char table[64];

	if (spec && spec->is_tree && size == strlen("where") && memcmp(name, "where", size) == 0) {
		where_table(spec, table, sizeof(table));
		return hdb_fail(err, HDB_EUSAGE,
				"--where cannot filter a tree; use heapdb sql \"SELECT ... FROM "
				"%s WHERE ...\"",
				table);
	}
	find_takers(&takers, command, name, size);
	/* for `query --by top` the caller reports the error */
	if (takers.count == 0 ||
	    (command->flags & NAMES_QUERY && !spec && !options_find(name, size, ~0U)))
		return HDB_OK;
	return hdb_fail(err, HDB_EUSAGE, "unknown option --%.*s for %s%s%s; available for %s",
			(int)size, name, command->name,
			spec && command->flags & NAMES_QUERY ? " " : "",
			spec && command->flags & NAMES_QUERY ? spec->name : "", takers.text);
}

/* Returns the table's option for getopt's result; NULL if there is none. */
static const struct option_info *table_option(int value)
{
	const int count = BASE_COUNT(option_table) - 1;

	return value >= VALUE_COMMON && value < VALUE_COMMON + count ?
		       &option_table[value - VALUE_COMMON] :
		       NULL;
}

/* Reports the error in the option at which getopt stopped. */
static int bad_option(const struct parser *p, int value, struct hdb_error *err)
{
	const char *given = p->args.values[optind > 0 ? optind - 1 : 0];
	const size_t name_size = strcspn(given, "=");
	struct base_suggest near;

	assert(value == ':' || value == '?');
	assert(optind <= p->args.count);
	if (value == ':')
		return hdb_fail(err, HDB_EUSAGE, "option %s requires a value", given);
	if (strncmp(given, "--", 2) != 0) {
		const struct option_info *o = option_table;

		while (o->name && o->letter != optopt)
			o++;
		if (o->name && not_taken(p->command, p->spec, o->name, strlen(o->name), err))
			return HDB_EUSAGE;
		return hdb_fail(err, HDB_EUSAGE, "unknown option -%c", optopt);
	}
	if (optopt != 0)
		return hdb_fail(err, HDB_EUSAGE, "option %.*s takes no value", (int)name_size,
				given);
	if (p->spec && p->spec->one_population &&
	    (strcmp(given, "--unreachable") == 0 || strcmp(given, "--all") == 0))
		return hdb_fail(err, HDB_EUSAGE, "%s has no option %s: %s", p->spec->name, given,
				p->spec->one_population);
	if (not_taken(p->command, p->spec, given + 2, name_size - 2, err))
		return HDB_EUSAGE;
	base_suggest_init(&near, given + 2, name_size - 2);
	for (const struct option *o = p->longs; o->name; o++) {
		if (name_size > 2 && strncmp(o->name, given + 2, name_size - 2) == 0)
			return hdb_fail(err, HDB_EUSAGE,
					"option %.*s is ambiguous: several option names begin "
					"with these letters",
					(int)name_size, given);
		base_suggest_try(&near, o->name);
	}
	if (near.best)
		return hdb_fail(err, HDB_EUSAGE, "unknown option %.*s; did you mean --%s?",
				(int)name_size, given, near.best);
	return hdb_fail(err, HDB_EUSAGE, "unknown option %.*s%s", (int)name_size, given,
			p->command->flags & NAMES_QUERY && !p->spec ?
				"; the options of a query follow the query name" :
				"");
}

int options_query_name(const struct command *command, struct arguments args, int *place,
		       const char **table, struct hdb_error *err)
{
	struct parser p;
	int value;

	*place = 0;
	*table = NULL;
	parser_init(&p, command, NULL, args);
	while ((value = parser_next(&p)) != -1) {
		if (value == 1 && (hdb_query_named(optarg) || !locate_is_file(optarg))) {
			*place = optind - 1;
			return HDB_OK;
		}
		if (value == '?' || value == ':')
			return bad_option(&p, value, err);
		if (table_option(value) &&
		    table_option(value)->place == offsetof(struct options, table))
			*table = optarg;
	}
	if (optind < args.count)
		*place = optind;
	return HDB_OK;
}

static int set_format(struct options *opt, enum format format, struct hdb_error *err)
{
	assert(opt->has_format || !opt->format);
	if (opt->has_format && opt->format != format)
		return hdb_fail(err, HDB_EUSAGE, "only one output format is allowed");
	opt->has_format = true;
	opt->format = format;
	return HDB_OK;
}

/*
 * Fails because the word is invalid. If another command accepts it, the message names this command.
 */
static int bad_word(const struct option_info *o, const char *value, struct hdb_error *err)
{
	const char *taker = NULL;

	for (const struct option_info *other = option_table; other->name; other++) {
		if (strcmp(other->name, o->name) != 0 || !other->argument ||
		    base_word_index(value, other->argument) < 0)
			continue;
		for (const struct command *c = commands; c->name && !taker; c++)
			if (options_groups(c, NULL) & other->groups)
				taker = c->name;
	}
	return hdb_fail(err, HDB_EUSAGE, "--%s must be one of %s, not \"%s\"%s%s%s", o->name,
			o->argument, value, taker ? ", which `heapdb " : "", taker ? taker : "",
			taker ? "` takes" : "");
}

static int set_word(const struct option_info *o, const char *value, struct options *opt,
		    struct hdb_error *err)
{
	const int word = value ? base_word_index(value, o->argument) : 0;

	if (word < 0)
		return bad_word(o, value, err);
	if (o->kind == OPTION_FORMAT)
		return set_format(opt, (enum format)(o->limit + (unsigned)word), err);
	*(unsigned *)((char *)opt + o->place) = o->limit + (unsigned)word;
	return HDB_OK;
}

static int set_number(const struct option_info *o, const char *value, struct options *opt,
		      struct hdb_error *err)
{
	void *const place = (char *)opt + o->place;
	const bool is_count = o->kind == OPTION_COUNT, is_bytes = o->kind == OPTION_BYTES;
	uint64_t number;
	char range[48];

	if (is_count && strcmp(value, "all") == 0)
		value = "0";
	snprintf(range, sizeof(range), o->limit < UINT_MAX ? "a number from 1 to %u" : "a number",
		 o->limit);
	if (!base_read_number(value, is_bytes, &number) ||
	    number > (is_count || is_bytes ? INT64_MAX : o->limit) || (number == 0 && !is_count))
		return hdb_fail(err, HDB_EUSAGE, "--%s takes %s, not \"%s\"", o->name,
				is_bytes ? "a size such as 512M or 2G" :
				is_count ? "a number of rows or \"all\"" :
					   range,
				value);
	if (is_count || is_bytes)
		*(uint64_t *)place = number;
	else
		*(unsigned *)place = (unsigned)number;
	opt->has_limit |= is_count;
	return HDB_OK;
}

bool options_given(const struct options *opt, const char *name)
{
	for (size_t i = 0; i < opt->given_count; i++)
		if (strcmp(opt->given[i]->name, name) == 0)
			return true;
	return false;
}

static int add_value(struct repeated *list, const struct option_info *o, const char *value,
		     struct hdb_error *err)
{
	if (list->count == OPTIONS_REPEATED_MAX)
		return hdb_fail(err, HDB_EUSAGE, "--%s was given more than %d times", o->name,
				OPTIONS_REPEATED_MAX);
	list->values[list->count++] = value;
	return HDB_OK;
}

/* Sets an option. `value` is NULL for a switch. */
static int set_option(const struct option_info *o, const char *value, struct options *opt,
		      struct hdb_error *err)
{
	if (!options_given(opt, o->name))
		opt->given[opt->given_count++] = o;
	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)((char *)opt + o->place) = true;
		return HDB_OK;
	case OPTION_TEXT:
		*(const char **)((char *)opt + o->place) = value;
		return HDB_OK;
	case OPTION_LIST:
		return add_value((struct repeated *)((char *)opt + o->place), o, value, err);
	case OPTION_WORD:
	case OPTION_FORMAT:
		return set_word(o, value, opt, err);
	case OPTION_NUMBER:
	case OPTION_BYTES:
	case OPTION_COUNT:
		return set_number(o, value, opt, err);
	}
	return HDB_EBUG;
}

/* ---- formats by file name ---- */

#define IS(format) (1u << (format))

static const struct suffix {
	const char *suffix;
	enum format format;
	unsigned others; /* other formats that a file with this suffix may have: IS() bits */
} suffixes[] = {
	{ ".parquet", FORMAT_PARQUET, 0 },
	{ ".arrows", FORMAT_ARROW_STREAM, 0 },
	{ ".arrow", FORMAT_ARROW, IS(FORMAT_ARROW_STREAM) },
	{ ".csv", FORMAT_CSV, 0 },
	{ ".tsv", FORMAT_TSV, 0 },
	{ ".jsonl", FORMAT_JSONL, 0 },
	{ ".ndjson", FORMAT_JSONL, 0 },
	{ ".speedscope.json", FORMAT_SPEEDSCOPE, 0 },
	{ ".json", FORMAT_JSON, IS(FORMAT_SPEEDSCOPE) },
	{ ".folded", FORMAT_FOLDED, 0 },
	{ ".pprof", FORMAT_PPROF, 0 },
	{ ".pb.gz", FORMAT_PPROF, 0 },
	{ ".svg", FORMAT_TREEMAP, IS(FORMAT_ICICLE) },
};

static bool ends_with(const char *name, const char *suffix)
{
	const size_t size = strlen(name), length = strlen(suffix);

	return size > length && strcasecmp(name + size - length, suffix) == 0;
}

/* Returns whether options of these groups can select the format. */
static bool has_format(uint64_t groups, enum format format)
{
	return groups & OPTIONS_EXPORT      ? true :
	       groups & OPTIONS_TREE_FORMAT ? format <= FORMAT_ICICLE :
	       groups & OPTIONS_FORMAT      ? format < FORMAT_FOLDED :
					      groups & OPTIONS_JSON && format == FORMAT_JSON;
}

/* Fails if commands with options of these groups cannot write a file with this name. */
static int check_output(uint64_t groups, const char *name, struct hdb_error *err)
{
	static const char *const packed[] = { ".gz", ".zst", ".xz", ".bz2", ".lz4", ".zip" };
	struct bytes quoted = { 0 };

	if (!*name)
		return hdb_fail(err, HDB_EUSAGE, "-o: expected the name of a file");
	if (base_names_stdout(name) && groups & OPTIONS_IMPORT)
		return hdb_fail(err, HDB_EUSAGE,
				"-o %s: a heap database cannot be written to standard output",
				name);
	if (ends_with(name, ".hprof") && groups & OPTIONS_IMPORT) {
		hdb_fail(err, HDB_EUSAGE,
			 "-o %s: this command writes a heap database (FILE.heapdb), not a dump; "
			 "use `heapdb export dump -o %s` to write a dump",
			 name, prose_quote(&quoted, name));
		bytes_release(&quoted);
		return HDB_EUSAGE;
	}
	for (size_t i = 0; groups & OPTIONS_FILE && i < BASE_COUNT(packed); i++)
		if (ends_with(name, packed[i]) && !ends_with(name, ".pb.gz"))
			return hdb_fail(err, HDB_EUSAGE,
					"-o %s: this command does not compress files", name);
	return HDB_OK;
}

/* Sets the format that a suffix selects. Fails if --format contradicts the suffix. */
static int use_suffix(uint64_t groups, const struct suffix *s, struct options *opt,
		      struct hdb_error *err)
{
	if (opt->has_format)
		return opt->format == s->format || s->others & IS(opt->format) ?
			       HDB_OK :
			       hdb_fail(err, HDB_EUSAGE,
					"-o %s: this suffix contradicts the chosen format",
					opt->output);
	if (!has_format(groups, s->format))
		return hdb_fail(err, HDB_EUSAGE,
				"-o %s: this command cannot write %s files; use `heapdb export` "
				"(trees such as .svg require a query that returns a tree)",
				opt->output, s->suffix);
	opt->has_format = true;
	opt->format = s->format;
	return HDB_OK;
}

/* Derives the format from the suffix of -o FILE. */
static int take_suffix(uint64_t groups, struct options *opt, struct hdb_error *err)
{
	const char *name = opt->output;

	if (!name || !(groups & (OPTIONS_FILE | OPTIONS_IMPORT)))
		return HDB_OK;
	TRY(check_output(groups, name, err));
	if (!(groups & OPTIONS_FILE) || !(groups & OPTIONS_JSON))
		return HDB_OK;
	if (ends_with(name, ".html") && groups & OPTIONS_REPORT) {
		opt->html = name;
		opt->output = NULL;
		return HDB_OK;
	}
	if (ends_with(name, ".hprof") || ends_with(name, ".heapdb") || ends_with(name, ".html") ||
	    ends_with(name, ".xml") || ends_with(name, ".sarif"))
		return hdb_fail(err, HDB_EUSAGE,
				"-o %s: this command does not write files of this type; `heapdb "
				"export dump` writes .hprof, `import` .heapdb, `report` .html, "
				"`gate` .xml and .sarif",
				name);
	for (size_t i = 0; i < BASE_COUNT(suffixes); i++)
		if (ends_with(name, suffixes[i].suffix))
			return use_suffix(groups, &suffixes[i], opt, err);
	return HDB_OK;
}

/* Sets the members of *opt from the arguments. */
static int parse(const struct command *command, const struct hdb_query_spec *spec,
		 struct arguments args, struct options *opt, struct hdb_error *err)
{
	struct parser p;
	int value;

	parser_init(&p, command, spec, args);
	while ((value = parser_next(&p)) != -1) {
		assert(opt->query_option_count < (size_t)args.count);
		if (value == '?' || value == ':') {
			TRY(bad_option(&p, value, err));
		} else if (value == 1) {
			if (args.skip == 0 || optind - 1 != args.skip)
				opt->operands[opt->operand_count++] = optarg;
		} else if (value >= VALUE_QUERY) {
			opt->query_options[opt->query_option_count++] = (struct hdb_option){
				.name = hdb_query_option(spec, (size_t)(value - VALUE_QUERY))->name,
				.value = optarg,
			};
		} else {
			assert(table_option(value));
			TRY(set_option(table_option(value), optarg, opt, err));
		}
	}
	for (int i = optind; i < args.count; i++) {
		if (i != args.skip)
			opt->operands[opt->operand_count++] = args.values[i];
	}
	assert(opt->operand_count <= (size_t)args.count);
	return take_suffix(p.groups, opt, err);
}

int options_parse(const struct command *command, const struct hdb_query_spec *spec,
		  struct arguments args, struct options *opt, struct hdb_error *err)
{
	/* The page asks for several answers at once, and getopt's state is global. */
	static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;
	int rc;

	*opt = (struct options){ 0 };
	TRY(BASE_ALLOC(opt->operands, (size_t)args.count, "arguments", err));
	TRY(BASE_ALLOC(opt->query_options, (size_t)args.count, "arguments", err));
	TRY(BASE_ALLOC(opt->given, BASE_COUNT(option_table), "options", err));
	pthread_mutex_lock(&parsing);
	rc = parse(command, spec, args, opt, err);
	pthread_mutex_unlock(&parsing);
	return rc;
}

int options_only(const struct options *opt, uint64_t groups, const char *what,
		 struct hdb_error *err)
{
	for (size_t i = 0; i < opt->given_count; i++) {
		const char *name = opt->given[i]->name;

		if (!options_find(name, strlen(name), groups | OPTIONS_HELP))
			return hdb_fail(err, HDB_EUSAGE, "unknown option --%s for %s", name, what);
	}
	return HDB_OK;
}

bool options_has(const struct options *opt, const char *name)
{
	for (size_t i = 0; i < opt->query_option_count; i++) {
		if (strcmp(opt->query_options[i].name, name) == 0)
			return true;
	}
	return false;
}

void options_release(struct options *opt)
{
	free(opt->operands);
	free(opt->query_options);
	free(opt->given);
	*opt = (struct options){ 0 };
}

bool options_want_json(struct arguments args)
{
	for (int i = 1; i < args.count && strcmp(args.values[i], "--") != 0; i++) {
		if (strcmp(args.values[i], "--json") == 0 ||
		    strcmp(args.values[i], "--format=json") == 0)
			return true;
		if (strcmp(args.values[i], "--format") == 0 && i + 1 < args.count &&
		    strcmp(args.values[i + 1], "json") == 0)
			return true;
	}
	return false;
}

int options_pid(const char *operand)
{
	char *end;
	const long value = operand[0] >= '0' && operand[0] <= '9' ? strtol(operand, &end, 10) : 0;

	return value > 0 && value <= INT_MAX && !*end ? (int)value : 0;
}

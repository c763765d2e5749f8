/*
 * heapdb/options.c - reads the command line with getopt_long, from two tables: the options that
 * commands share (here) and those of the query (from the library).
 */
#include "heapdb/options.h"

#include "heapdb/cli.h"
#include "heapdb/suggest.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* In the order of help and of the table. */
enum option_key {
	KEY_DB,
	KEY_DUMP,
	KEY_TMP,
	KEY_LIVE,
	KEY_ALL,
	KEY_TABLES_ALL,
	KEY_PARALLEL,
	KEY_GZ,
	KEY_ADB,
	KEY_SERIAL,
	KEY_WAIT,
	KEY_PLACE,
	KEY_OUTPUT,
	KEY_FILE,
	KEY_SQL_TABLE,
	KEY_PLAIN,
	KEY_FORCE,
	KEY_SIZES,
	KEY_LAYOUT,
	KEY_MAPPING,
	KEY_SNAPSHOT,
	KEY_STRICT,
	KEY_CONTENTS,
	KEY_COMPRESS,
	KEY_APP_ONLY,
	KEY_SEGMENTS,
	KEY_ZERO,
	KEY_KEEP,
	KEY_KOOM,
	KEY_ID_SIZE,
	KEY_ARRAYS,
	KEY_HASH,
	KEY_HASH_KEY,
	KEY_RENAME,
	KEY_SECRETS,
	KEY_JSON,
	KEY_CSV,
	KEY_TABLE,
	KEY_FORMAT,
	KEY_SVG,
	KEY_COLUMNS,
	KEY_LIMIT,
	KEY_SORT,
	KEY_WHERE,
	KEY_HUMAN,
	KEY_WIDE,
	KEY_BY,
	KEY_HTML,
	KEY_NO_VALUES,
	KEY_PORT,
	KEY_LISTEN,
	KEY_OPEN,
	KEY_MEMORY,
	KEY_THREADS,
	KEY_QUIET,
	KEY_NO_PROGRESS,
	KEY_TIMINGS,
	KEY_TIMEOUT,
	KEY_NAMES,
	KEY_SCHEMA,
	KEY_HELP,
	KEY_COUNT
};

const struct option_info option_table[] = {
	[KEY_DB] = { "db", "FILE", OPTIONS_DATABASE, 0,
		     "the database, or a dump (imported first if it has none)" },
	[KEY_DUMP] = { "dump", "PATH", OPTIONS_DATABASE, 0, "where the dump is now, if it moved" },
	[KEY_TMP] = { "tmp", "DIR", OPTIONS_DATABASE, 0,
		      "folder for private files if the database cannot be written (default: "
		      "$TMPDIR or /tmp)" },
	[KEY_LIVE] = { "live", NULL, OPTIONS_CAPTURE, 0,
		       "reachable objects alone: the VM collects garbage first (default)" },
	[KEY_ALL] = { "all", NULL, OPTIONS_CAPTURE, 0, "unreachable objects, too" },
	[KEY_TABLES_ALL] = { "all", NULL, OPTIONS_SQL | OPTIONS_EXPORT, 0,
			     "tables show unreachable objects, too" },
	[KEY_PARALLEL] = { "parallel", "N", OPTIONS_CAPTURE, 0,
			   "threads of the VM that dump; more than one write parts to its disk first" },
	[KEY_GZ] = { "gz", "N", OPTIONS_CAPTURE, 0,
		     "have the VM compress what it sends, level 1 to 9 (default: it does not)" },
	[KEY_ADB] = { "adb", "PROCESS", OPTIONS_CAPTURE, 0,
		      "an app of an Android device, by process name or PID, with adb" },
	[KEY_SERIAL] = { "serial", "S", OPTIONS_CAPTURE, 0,
			 "which Android device, as `adb devices` lists them" },
	[KEY_WAIT] = { "timeout", "SECONDS", OPTIONS_CAPTURE, 0,
		       "how long the VM or the device may take to answer (default: 10)" },
	[KEY_PLACE] = { "tmp", "DIR", OPTIONS_CAPTURE, 0,
			"folder for the pipe that the dump comes through, as the VM sees it (default: "
			"/tmp)" },
	[KEY_OUTPUT] = { "output", "FILE", OPTIONS_IMPORT, 'o',
			 "name of the database (default: x.heapdb for x.hprof, java_pidN.heapdb of a JVM)" },
	[KEY_FILE] = { "output", "FILE", OPTIONS_EXPORT, 'o',
		       "file that is written (default: standard output)" },
	[KEY_SQL_TABLE] = { "table", "NAME", OPTIONS_EXPORT, 0,
			    "a table of SQL, also where a query has its name" },
	[KEY_PLAIN] = { "compress", "zstd|none", OPTIONS_EXPORT, 0,
			"of parquet and arrow (default: zstd)" },
	[KEY_FORCE] = { "force", NULL, OPTIONS_IMPORT | OPTIONS_OUTPUT | OPTIONS_EXPORT, 0,
			"replace an existing file" },
	[KEY_SIZES] = { "sizes", "vm|mat|dump|ahat", OPTIONS_IMPORT, 0,
			"how shallow sizes are computed" },
	[KEY_LAYOUT] = { "layout", "header=N,ref=N,align=N", OPTIONS_IMPORT, 0,
			 "object layout for --sizes vm, any part of it (default: inferred)" },
	[KEY_MAPPING] = { "mapping", "FILE", OPTIONS_IMPORT, 0,
			  "mapping.txt of ProGuard or R8: names of the source for classes, fields, "
			  "methods and lines" },
	[KEY_SNAPSHOT] = { "snapshot", "N", OPTIONS_IMPORT, 0,
			   "which of several heap dumps in the file, from 1" },
	[KEY_STRICT] = { "strict", NULL, OPTIONS_IMPORT, 0, "refuse a damaged dump" },
	[KEY_CONTENTS] = { "contents", "auto|keep|refer", OPTIONS_IMPORT, 0,
			   "keep the dump in the database, or refer to the file (default: refer to "
			   "a plain file, keep anything else)" },
	[KEY_COMPRESS] = { "compress", "auto|none|gzip|zstd", OPTIONS_OUTPUT, 0,
			   "how the new dump is compressed (default: by its name, .gz or .zst)" },
	[KEY_APP_ONLY] = { "app-only", NULL, OPTIONS_CONVERT | OPTIONS_STRIP, 'z',
			   "without the objects of Android's zygote and image heaps" },
	[KEY_SEGMENTS] = { "segments", NULL, OPTIONS_CONVERT, 0,
			   "write the heap dump in short segments, whatever it was in" },
	[KEY_ZERO] = { "zero", "arrays|primitives", OPTIONS_STRIP, 0,
		       "what becomes zeros: primitive arrays (default), or all primitive values" },
	[KEY_KEEP] = { "keep", "WHAT,...", OPTIONS_STRIP | OPTIONS_REDACT, 0,
		       "of strip: strings, bitmaps: the arrays that stay, all others are left out; of "
		       "redact: CLASS[:FIELD], names or patterns of values that stay; byte[] and the "
		       "like: arrays" },
	[KEY_KOOM] = { "koom", NULL, OPTIONS_STRIP, 0, "as KOOM strips: -z and --zero arrays" },
	[KEY_ID_SIZE] = { "id-size", "4|8", OPTIONS_CONVERT, 0,
			  "bytes of an identifier in the new dump" },
	[KEY_ARRAYS] = { "arrays", "all|bytes|text", OPTIONS_REDACT, 0,
			 "which arrays lose their contents: all (default), those of bytes and chars, "
			 "or those that hold text" },
	[KEY_HASH] = { "hash", NULL, OPTIONS_REDACT, 0,
		       "texts become keyed hashes: the same for the same text" },
	[KEY_HASH_KEY] = { "hash-key", "FILE", OPTIONS_REDACT, 0,
			   "the key, 16 bytes or more, so that several dumps can be compared (default: "
			   "a new one that nobody knows)" },
	[KEY_RENAME] = { "rename", "FILE", OPTIONS_REDACT, 0,
			 "other names of classes and fields: lines \"OLD -> NEW\"" },
	[KEY_SECRETS] = { "secrets", "FILE", OPTIONS_REDACT, 0,
			  "write to FILE where something looked like a key, token, password or card "
			  "number" },
	[KEY_JSON] = { "json", NULL, OPTIONS_JSON, 0, "one JSON object" },
	[KEY_CSV] = { "csv", NULL, OPTIONS_ROWS | OPTIONS_TABLES | OPTIONS_SQL | OPTIONS_CAPTURE, 0,
		      "comma-separated values with a heading" },
	[KEY_TABLE] = { "table", NULL,
			OPTIONS_PEOPLE | OPTIONS_TABLES | OPTIONS_SQL | OPTIONS_CAPTURE, 0,
			"a table, also of what a terminal shows as text" },
	[KEY_FORMAT] = { "format",
			 "table|json|jsonl|csv|tsv|folded|speedscope|treemap|icicle|parquet|"
			 "arrow|arrow-stream",
			 OPTIONS_ROWS | OPTIONS_TABLES | OPTIONS_SQL, 0,
			 "how rows are written; folded to icicle draw trees, as dominator-tree; the "
			 "last three are for export" },
	[KEY_SVG] = { "svg", "treemap|icicle", OPTIONS_ROWS, 0,
		      "a tree as a picture, like --format treemap" },
	[KEY_COLUMNS] = { "columns", "A,B,...", OPTIONS_ROWS | OPTIONS_TABLES | OPTIONS_CAPTURE, 0,
			  "these columns, in this order" },
	[KEY_LIMIT] = { "limit", "N|all", OPTIONS_ROWS | OPTIONS_TABLES | OPTIONS_SQL, 0,
			"most rows to print; 0 or all: all (default in tables: 25, of info and check "
			"100; else all)" },
	[KEY_SORT] = { "sort", "COLUMN", OPTIONS_ROWS, 0,
		       "sort by it: numbers descending, texts ascending; -COLUMN: the other way round" },
	[KEY_WHERE] = { "where", "EXPRESSION", OPTIONS_ROWS, 0,
			"only rows for which an SQL expression over the columns holds" },
	[KEY_HUMAN] = { "human", NULL, OPTIONS_JSON, 0, "sizes in tables as 1.2 GiB" },
	[KEY_WIDE] = { "wide", NULL, OPTIONS_ROWS | OPTIONS_TABLES | OPTIONS_SQL | OPTIONS_CAPTURE,
		       0, "tables with all columns and whole texts, however wide the terminal is" },
	[KEY_BY] = { "by", "class|thread|site|stack", OPTIONS_ALLOCATIONS, 0,
		     "what allocations are added up by; site: the frame that allocates; stack: "
		     "the tree of call stacks, the outermost frame first" },
	[KEY_HTML] = { "html", "FILE", OPTIONS_REPORT, 0,
		       "write the report as one HTML file for a browser" },
	[KEY_NO_VALUES] = { "no-values", NULL, OPTIONS_REPORT, 0,
			    "in HTML: without texts of the heap" },
	[KEY_PORT] = { "port", "N", OPTIONS_SERVE, 0, "port of the page (default: a free one)" },
	[KEY_LISTEN] = { "listen", "ADDRESS", OPTIONS_SERVE, 0,
			 "address that the page listens on (default: 127.0.0.1)" },
	[KEY_OPEN] = { "open", NULL, OPTIONS_SERVE, 0, "open the page in a browser" },
	[KEY_MEMORY] = { "memory", "SIZE", OPTIONS_WORK, 0,
			 "memory budget: 512M, 2G, or bytes (default: a quarter of what there is, at most "
			 "1G)" },
	[KEY_THREADS] = { "threads", "N", OPTIONS_WORK, 0, "worker threads (default: one a core)" },
	[KEY_QUIET] = { "quiet", NULL, OPTIONS_WORK, 0, "no progress and no notices" },
	[KEY_NO_PROGRESS] = { "no-progress", NULL, OPTIONS_WORK, 0, "no progress" },
	[KEY_TIMINGS] = { "timings", NULL, OPTIONS_WORK, 0,
			  "the seconds that each stage took, on standard error" },
	[KEY_TIMEOUT] = { "timeout", "SECONDS", OPTIONS_SQL, 0,
			  "end a statement that takes longer, as Ctrl-C does" },
	[KEY_NAMES] = { "names", NULL, OPTIONS_NAMES, 0, "all names, for completion" },
	[KEY_SCHEMA] = { "schema", NULL, OPTIONS_NAMES, 0, "a JSON Schema of what --json prints" },
	[KEY_HELP] = { "help", NULL, OPTIONS_HELP, 'h', "help on the command" },
	[KEY_COUNT] = { NULL, NULL, 0, 0, NULL },
};

/* What getopt returns for option i of the table, and for option i of the query. */
#define VALUE_COMMON 1000
#define VALUE_QUERY 2000
/* And for an old name of one. */
#define VALUE_OLD 3000

/* More options than any query has. */
#define OPTIONS_MAX 64

struct parser {
	const struct command *command;
	const struct hdb_query_spec *spec;
	struct arguments args;
	struct option longs[OPTIONS_MAX + 1];
	char shorts[16];
};

static unsigned groups_of(const struct command *command)
{
	return command->options | OPTIONS_HELP;
}

bool options_spec_has(const struct hdb_query_spec *spec, const char *name)
{
	for (const struct hdb_option_spec *o = spec ? spec->options : NULL; o && o->name; o++) {
		if (strcmp(o->name, name) == 0)
			return true;
	}
	return false;
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

/* An old name begins no others: it is given in full. */
static void add_old_longs(struct parser *p, size_t *count)
{
	const struct hdb_old_option *old = p->spec ? p->spec->old_options : NULL;

	for (int i = 0; old && old[i].old_name; i++) {
		for (const struct hdb_option_spec *o = p->spec->options; o->name; o++) {
			if (strcmp(o->name, old[i].name) == 0)
				add_long(p, count, old[i].old_name, o->argument, VALUE_OLD + i);
		}
	}
}

/*
 * The query's options come first: where both have a name (--columns), the query's is meant.
 * getopt's state is global to the process; optind = 0 starts it anew.
 */
static void parser_init(struct parser *p, const struct command *command,
			const struct hdb_query_spec *spec, struct arguments args)
{
	size_t count = 0, letters = 0;
	int i = 0;

	*p = (struct parser){ .command = command, .spec = spec, .args = args };
	for (const struct hdb_option_spec *o = spec ? spec->options : NULL; o && o->name; o++)
		add_long(p, &count, o->name, o->argument, VALUE_QUERY + i++);
	add_old_longs(p, &count);
	p->shorts[letters++] = '-'; /* operands come as 1, in place */
	p->shorts[letters++] = ':';
	for (i = 0; i < KEY_COUNT; i++) {
		const struct option_info *o = &option_table[i];

		if (!(o->groups & groups_of(command)))
			continue;
		if (!options_spec_has(spec, o->name))
			add_long(p, &count, o->name, o->argument, VALUE_COMMON + i);
		if (o->letter) {
			p->shorts[letters++] = o->letter;
			if (o->argument)
				p->shorts[letters++] = ':';
		}
	}
	opterr = 0;
	optind = 0;
}

static int parser_next(struct parser *p)
{
	int value = getopt_long(p->args.count, p->args.values, p->shorts, p->longs, NULL);

	for (int i = 0; value > 1 && value < 256 && i < KEY_COUNT; i++) {
		if (option_table[i].letter == value)
			return VALUE_COMMON + i;
	}
	return value;
}

/* Says what is wrong with the option that getopt stopped at. */
static int bad_option(const struct parser *p, int value, struct hdb_error *err)
{
	const char *given = p->args.values[optind > 0 ? optind - 1 : 0];
	const size_t name_size = strcspn(given, "=");
	struct suggest near;

	assert(value == ':' || value == '?');
	assert(optind <= p->args.count);
	if (value == ':')
		return cli_fail(err, HDB_EUSAGE, "option %s needs a value", given);
	if (strncmp(given, "--", 2) != 0)
		return cli_fail(err, HDB_EUSAGE, "unknown option -%c", optopt);
	if (optopt != 0)
		return cli_fail(err, HDB_EUSAGE, "option %.*s takes no value", (int)name_size,
				given);
	if (p->spec && p->spec->one_population &&
	    (strcmp(given, "--unreachable") == 0 || strcmp(given, "--all") == 0))
		return cli_fail(err, HDB_EUSAGE, "%s has no option %s: %s", p->spec->name, given,
				p->spec->one_population);
	suggest_init(&near, given + 2, name_size - 2);
	for (const struct option *o = p->longs; o->name; o++) {
		if (name_size > 2 && strncmp(o->name, given + 2, name_size - 2) == 0)
			return cli_fail(err, HDB_EUSAGE,
					"option %.*s is ambiguous: it begins several names",
					(int)name_size, given);
		suggest_try(&near, o->name);
	}
	if (near.best)
		return cli_fail(err, HDB_EUSAGE, "unknown option %.*s; did you mean --%s?",
				(int)name_size, given, near.best);
	return cli_fail(err, HDB_EUSAGE, "unknown option %.*s%s", (int)name_size, given,
			p->command->flags & NAMES_QUERY && !p->spec ?
				"; a query's own options come after its name" :
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
		if (value == 1) {
			*place = optind - 1;
			return HDB_OK;
		}
		if (value == '?' || value == ':')
			return bad_option(&p, value, err);
		if (value == VALUE_COMMON + KEY_SQL_TABLE)
			*table = optarg;
	}
	if (optind < args.count)
		*place = optind;
	return HDB_OK;
}

/* A decimal number in [low, high], with one of K, M, G, T after it if `has_unit`. */
static bool parse_number(const char *text, bool has_unit, uint64_t high, uint64_t *out)
{
	char *end;
	unsigned shift = 0;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno != 0)
		return false;
	if (has_unit && *end) {
		const char *units = "KMGT";
		const char *unit = strchr(units, toupper((unsigned char)*end));

		if (!unit)
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
		if (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)
			end += strlen(end);
	}
	assert(shift < 64);
	if (*end || *out > high >> shift)
		return false;
	*out <<= shift;
	return true;
}

/* The place of `text` in a list of words "a|b|c", or -1. */
static int word_index(const char *text, const char *words)
{
	const size_t size = strlen(text);
	int index = 0;

	for (const char *w = words; *w; index++) {
		const size_t n = strcspn(w, "|");

		if (n == size && memcmp(w, text, n) == 0)
			return index;
		w += n + (w[n] == '|');
	}
	return -1;
}

static int set_format(struct options *opt, enum format format, struct hdb_error *err)
{
	assert(opt->has_format || !opt->format);
	if (opt->has_format && opt->format != format)
		return cli_fail(err, HDB_EUSAGE, "only one output format can be chosen");
	opt->has_format = true;
	opt->format = format;
	return HDB_OK;
}

/* The words stand in the order of their enums. */
static int set_words(enum option_key key, const char *value, struct options *opt,
		     struct hdb_error *err)
{
	const int word = word_index(value, option_table[key].argument);

	assert(key < KEY_COUNT);
	if (word < 0)
		return cli_fail(err, HDB_EUSAGE, "--%s is %s, not \"%s\"", option_table[key].name,
				option_table[key].argument, value);
	if (key == KEY_FORMAT)
		return set_format(opt, (enum format)word, err);
	if (key == KEY_SVG)
		return set_format(opt, word ? FORMAT_ICICLE : FORMAT_TREEMAP, err);
	opt->has_zero |= key == KEY_ZERO;
	if (key == KEY_CONTENTS)
		opt->contents = (enum hdb_contents)word;
	else if (key == KEY_PLAIN)
		opt->is_plain = word != 0;
	else if (key == KEY_COMPRESS)
		opt->packing = (enum hdb_packing)word;
	else if (key == KEY_ZERO)
		opt->strip = (enum hdb_strip)word;
	else if (key == KEY_ARRAYS)
		opt->arrays = (enum hdb_redact_arrays)word;
	else if (key == KEY_ID_SIZE)
		opt->id_size = word ? 8 : 4;
	else
		opt->sizes = (enum hdb_size_model)word;
	return HDB_OK;
}

static int set_number(enum option_key key, const char *value, struct options *opt,
		      struct hdb_error *err)
{
	const uint64_t high = key == KEY_THREADS  ? 1024 :
			      key == KEY_TIMEOUT  ? 1000000 :
			      key == KEY_WAIT     ? 1000000 :
			      key == KEY_PARALLEL ? 1024 :
			      key == KEY_GZ       ? 9 :
			      key == KEY_PORT     ? UINT16_MAX :
			      key == KEY_SNAPSHOT ? UINT32_MAX :
						    INT64_MAX;
	uint64_t number;

	assert(key < KEY_COUNT);
	if (key == KEY_LIMIT && strcmp(value, "all") == 0)
		value = "0";
	if (!parse_number(value, key == KEY_MEMORY, high, &number))
		return cli_fail(err, HDB_EUSAGE, "--%s takes %s, not \"%s\"",
				option_table[key].name,
				key == KEY_MEMORY   ? "a size such as 512M or 2G" :
				key == KEY_LIMIT    ? "a number of rows or \"all\"" :
				key == KEY_THREADS  ? "a number up to 1024" :
				key == KEY_PARALLEL ? "a number up to 1024" :
				key == KEY_GZ       ? "a level from 1 to 9" :
						      "a number",
				value);
	if (number == 0 && key != KEY_LIMIT)
		return cli_fail(err, HDB_EUSAGE, "--%s is at least 1", option_table[key].name);
	if (key == KEY_MEMORY)
		opt->memory_bytes = number;
	else if (key == KEY_TIMEOUT || key == KEY_WAIT)
		opt->timeout = (unsigned)number;
	else if (key == KEY_PARALLEL)
		opt->parallel = (unsigned)number;
	else if (key == KEY_GZ)
		opt->gz = (unsigned)number;
	else if (key == KEY_THREADS)
		opt->threads = (unsigned)number;
	else if (key == KEY_PORT)
		opt->port = (unsigned)number;
	else if (key == KEY_SNAPSHOT)
		opt->snapshot = (unsigned)number;
	else
		opt->limit = number;
	opt->has_limit |= key == KEY_LIMIT;
	return HDB_OK;
}

/* Takes option `key` of the table; `value` is NULL for a switch. */
static int set_common(enum option_key key, const char *value, struct options *opt,
		      struct hdb_error *err)
{
	switch (key) {
	case KEY_DB:
		opt->db = value;
		break;
	case KEY_TMP:
	case KEY_PLACE:
		opt->tmp = value;
		break;
	case KEY_DUMP:
		opt->dump = value;
		break;
	case KEY_OUTPUT:
	case KEY_FILE:
		opt->output = value;
		break;
	case KEY_SQL_TABLE:
		opt->table = value;
		break;
	case KEY_MAPPING:
		opt->mapping = value;
		break;
	case KEY_LAYOUT:
		opt->layout = value;
		break;
	case KEY_COLUMNS:
		opt->columns = value;
		break;
	case KEY_SORT:
		opt->sort = value;
		break;
	case KEY_WHERE:
		opt->where = value;
		break;
	case KEY_SIZES:
	case KEY_CONTENTS:
	case KEY_COMPRESS:
	case KEY_PLAIN:
	case KEY_ZERO:
	case KEY_ARRAYS:
	case KEY_ID_SIZE:
	case KEY_FORMAT:
	case KEY_SVG:
		return set_words(key, value, opt, err);
	case KEY_JSON:
		return set_format(opt, FORMAT_JSON, err);
	case KEY_TABLE:
		return set_format(opt, FORMAT_TABLE, err);
	case KEY_CSV:
		return set_format(opt, FORMAT_CSV, err);
	case KEY_SNAPSHOT:
	case KEY_PORT:
	case KEY_LIMIT:
	case KEY_MEMORY:
	case KEY_THREADS:
	case KEY_TIMEOUT:
	case KEY_WAIT:
	case KEY_PARALLEL:
	case KEY_GZ:
		return set_number(key, value, opt, err);
	case KEY_LIVE:
		opt->live = true;
		break;
	case KEY_ALL:
	case KEY_TABLES_ALL:
		opt->all = true;
		break;
	case KEY_ADB:
		opt->adb = value;
		break;
	case KEY_SERIAL:
		opt->serial = value;
		break;
	case KEY_LISTEN:
		opt->listen = value;
		break;
	case KEY_BY:
		opt->by = value;
		break;
	case KEY_HTML:
		opt->html = value;
		break;
	case KEY_NO_VALUES:
		opt->no_values = true;
		break;
	case KEY_OPEN:
		opt->open = true;
		break;
	case KEY_KEEP:
		opt->keep = value;
		break;
	case KEY_HASH_KEY:
		opt->hash_key = value;
		opt->hash = true;
		break;
	case KEY_RENAME:
		opt->names_file = value;
		break;
	case KEY_SECRETS:
		opt->report = value;
		break;
	case KEY_HASH:
		opt->hash = true;
		break;
	case KEY_KOOM:
		opt->koom = opt->app_only = true;
		break;
	case KEY_APP_ONLY:
		opt->app_only = true;
		break;
	case KEY_SEGMENTS:
		opt->segments = true;
		break;
	case KEY_FORCE:
		opt->force = true;
		break;
	case KEY_STRICT:
		opt->strict = true;
		break;
	case KEY_HUMAN:
		opt->human = true;
		break;
	case KEY_WIDE:
		opt->wide = true;
		break;
	case KEY_QUIET:
		opt->quiet = true;
		break;
	case KEY_NO_PROGRESS:
		opt->no_progress = true;
		break;
	case KEY_TIMINGS:
		opt->timings = true;
		break;
	case KEY_NAMES:
		opt->names = true;
		break;
	case KEY_SCHEMA:
		opt->schema = true;
		break;
	case KEY_HELP:
		opt->help = true;
		break;
	case KEY_COUNT:
		break;
	}
	return HDB_OK;
}

int options_parse(const struct command *command, const struct hdb_query_spec *spec,
		  struct arguments args, struct options *opt, struct hdb_error *err)
{
	struct parser p;
	int value, rc;

	*opt = (struct options){ 0 };
	opt->operands = calloc((size_t)args.count + 1, sizeof(opt->operands[0]));
	opt->query_options = calloc((size_t)args.count + 1, sizeof(opt->query_options[0]));
	if (!opt->operands || !opt->query_options)
		return cli_fail(err, HDB_ENOMEM, "no memory for %d arguments", args.count);
	parser_init(&p, command, spec, args);
	while ((value = parser_next(&p)) != -1) {
		assert(opt->query_option_count < (size_t)args.count);
		if (value == '?' || value == ':') {
			if ((rc = bad_option(&p, value, err)) != HDB_OK)
				return rc;
		} else if (value == 1) {
			if (args.skip == 0 || optind - 1 != args.skip)
				opt->operands[opt->operand_count++] = optarg;
		} else if (value >= VALUE_OLD) {
			opt->query_options[opt->query_option_count++] = (struct hdb_option){
				.name = spec->old_options[value - VALUE_OLD].old_name,
				.value = optarg,
			};
		} else if (value >= VALUE_QUERY) {
			opt->query_options[opt->query_option_count++] = (struct hdb_option){
				.name = spec->options[value - VALUE_QUERY].name,
				.value = optarg,
			};
		} else {
			rc = set_common((enum option_key)(value - VALUE_COMMON), optarg, opt, err);
			if (rc != HDB_OK)
				return rc;
		}
	}
	for (int i = optind; i < args.count; i++) {
		if (i != args.skip)
			opt->operands[opt->operand_count++] = args.values[i];
	}
	assert(opt->operand_count <= (size_t)args.count);
	return HDB_OK;
}

bool options_has_old(const struct options *opt, const char *name)
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

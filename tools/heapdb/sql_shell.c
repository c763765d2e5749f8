/*
 * heapdb/sql_shell.c - runs SQL statements and prints their rows; the interactive shell with its
 * commands, history and completion.
 */
#include "heapdb/sql_shell.h"

#include "heapdb/progress.h"
#include "heapdb/render.h"

#include <ctype.h>
#include <strings.h>

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"

#ifdef HAVE_EDIT
#include <histedit.h>
#endif

int sql_open(struct cli *cli, struct heapsql **sql)
{
	const struct heapsql_options options = {
		.memory_bytes = cli->opt.memory_bytes,
		.tmp_dir = cli->opt.tmp,
		.cancel = progress_callbacks().cancel,
	};

	return heapsql_open(&options, sql, &cli->err);
}

/*
 * Prints the rows of the first statement in `text`. JSON states the reason for an empty result as a
 * fact.
 */
static int print(struct cli *cli, struct heapsql *sql, const char *text, struct heapsql_rows *rows)
{
	struct heapsql_answer read;
	struct answer answer = { .name = "sql", .source = &read.source, .limit = cli->opt.limit };
	struct own_fact note;
	char why[512];

	answer.is_picked = heapsql_names_columns(text);
	TRY(heapsql_answer(&read, rows, &cli->err));
	if (read.first == HDB_END && heapsql_why_empty(sql, text, why, sizeof(why))) {
		note = text_fact("note", NULL, why);
		answer.facts = &note;
		answer.fact_count = cli->opt.format == FORMAT_JSON;
		if (!answer.fact_count)
			cli_notice(cli, "%s", why);
	}
	return print_answer(cli, &answer);
}

/* Runs the next statement. Sets *text to the text after it. */
static int run_one(struct cli *cli, struct heapsql *sql, const char **text)
{
	struct heapsql_rows *rows = NULL;
	const char *statement = *text;
	int rc;

	if (cli->opt.timeout)
		progress_time_limit(cli->opt.timeout);
	rc = heapsql_prepare(sql, *text, text, &rows, &cli->err);
	if (rc == HDB_OK && rows)
		rc = print(cli, sql, statement, rows);
	heapsql_rows_close(rows);
	if (cli->opt.timeout)
		progress_time_limit(0);
	return rc;
}

/* ---- the shell's own commands ---- */

static const char help[] =
	"Statements end with a semicolon: SELECT * FROM objects ORDER BY retained DESC LIMIT 5;\n"
	".tables [TEXT]     list tables and functions, and classes whose names contain TEXT\n"
	".schema [TABLE]    list the columns of a table, function or class, or of all tables\n"
	".mode FORMAT       " FORMATS_OF_ROWS_TEXT "\n"
	".limit N|all       print at most N rows\n"
	".timeout SECONDS   cancel statements that take longer; 0 means no limit\n"
	".help, help        print this list\n"
	".quit, quit, exit  quit (also Ctrl-D); Ctrl-C cancels a statement or the current line\n"
	"Manual: man heapdb-sql\n";

/* Headings by kind of table. */
static const char *const kind_titles[] = {
	[HEAPSQL_TABLE] = "Tables (.schema NAME lists the columns)",
	[HEAPSQL_FUNCTION] = "Tables of one object, such as SELECT * FROM fields(0x12c4)",
	[HEAPSQL_QUERY] = "Queries, such as SELECT * FROM retained('java.util.HashMap')",
	[HEAPSQL_CLASS] = "Classes, such as SELECT * FROM \"java.util.HashMap\"",
};

/* Width of the name column. */
#define NAME_WIDTH 20

/*
 * Lists tables by kind. Of the thousands of class tables, lists only tables whose names contain
 * `part`.
 */
static void list_tables(struct cli *cli, struct heapsql *sql, const char *part)
{
	enum heapsql_kind last = HEAPSQL_CLASS;
	struct heapsql_table table;
	bool has_any = false;

	for (size_t no = 0; heapsql_table(sql, no, &table); no++) {
		const bool is_class = table.kind == HEAPSQL_CLASS;
		const char *name = is_class ? table.class : table.name;

		if (*part ? strcasestr(name, part) == NULL : is_class)
			continue;
		if (table.kind != last || !has_any)
			output_format(cli->out, "%s:\n", kind_titles[table.kind]);
		if (is_class)
			output_format(cli->out, "  \"%s\"\n", name);
		else
			output_format(cli->out, "  %-*s  %s\n", NAME_WIDTH, name, table.help);
		last = table.kind;
		has_any = true;
	}
	if (!*part)
		output_format(cli->out,
			      "%s: .tables TEXT lists the tables whose name contains "
			      "TEXT\n",
			      kind_titles[HEAPSQL_CLASS]);
}

/* Returns a short description of a table; "" for a class. */
static const char *help_of(struct heapsql *sql, const char *name)
{
	struct heapsql_table table;

	for (size_t no = 0; heapsql_table(sql, no, &table) && table.kind != HEAPSQL_CLASS; no++)
		if (strcmp(table.name, name) == 0)
			return table.help;
	return "";
}

/*
 * Prints all tables and functions, except queries, which the manual describes, and classes, of
 * which there are thousands.
 */
static int show_schema(struct cli *cli, struct heapsql *sql, char *name);

static int show_schemas(struct cli *cli, struct heapsql *sql)
{
	struct heapsql_table table;
	int rc = HDB_OK;

	for (size_t no = 0; rc == HDB_OK && heapsql_table(sql, no, &table); no++)
		if (table.kind < HEAPSQL_QUERY)
			rc = show_schema(cli, sql, table.name);
	return rc;
}

static int show_schema(struct cli *cli, struct heapsql *sql, char *name)
{
	const size_t size = strlen(name);
	char *text = NULL;
	int rc;

	if (!size)
		return show_schemas(cli, sql);
	if (size > 1 && name[0] == '"' && name[size - 1] == '"') {
		name[size - 1] = '\0';
		name++;
	}
	rc = heapsql_schema(sql, name, true, &text, &cli->err);
	if (rc != HDB_OK)
		rc = cli_usage(cli, "no such table: %s", name);
	else
		output_format(cli->out, "%s%s%s\n%s", name, *help_of(sql, name) ? ": " : "",
			      help_of(sql, name), text);
	free(text);
	return rc;
}

static int set_mode(struct cli *cli, const char *name)
{
#define X(name, word) #word,
	static const char *const names[] = { "table", FORMATS_OF_ROWS(X) };
#undef X
	const size_t i = BASE_INDEX(names, name);

	if (i == BASE_COUNT(names))
		return cli_usage(cli, ".mode takes " FORMATS_OF_ROWS_TEXT);
	cli->opt.format = (enum format)i;
	cli->opt.has_format = true;
	return HDB_OK;
}

/* Returns whether the line is a shell command: ".tables", or a word that other shells use. */
static bool is_command(const char *text)
{
	static const char *const words[] = { "help", "quit", "exit" };

	for (size_t i = 0; i < BASE_COUNT(words); i++) {
		const size_t size = strlen(words[i]);
		const char *rest = text + size;

		if (strncasecmp(text, words[i], size) == 0 &&
		    strchr("\n", rest[strspn(rest, " \t\r;")]))
			return true;
	}
	return *text == '.';
}

/* Runs a command. Returns HDB_END if it ends the shell. */
static int run_command(struct cli *cli, struct heapsql *sql, char *line)
{
	char *name = line + (*line == '.'), *argument = name + strcspn(name, " \t;");

	if (*argument)
		*argument++ = '\0';
	argument += strspn(argument, " \t;");
	for (size_t n = strlen(argument); n > 0 && strchr(" \t;\r", argument[n - 1]); n--)
		argument[n - 1] = '\0';
	if (strcasecmp(name, "quit") == 0 || strcasecmp(name, "exit") == 0)
		return HDB_END;
	if (strcmp(name, "schema") == 0)
		return show_schema(cli, sql, argument);
	if (strcmp(name, "mode") == 0)
		return set_mode(cli, argument);
	if (strcmp(name, "tables") == 0)
		list_tables(cli, sql, argument);
	else if (strcmp(name, "limit") == 0)
		cli->opt.limit = strcmp(argument, "all") == 0 ? 0 : strtoull(argument, NULL, 10);
	else if (strcmp(name, "timeout") == 0)
		cli->opt.timeout = (unsigned)strtoul(argument, NULL, 10);
	else if (strcasecmp(name, "help") == 0)
		output_string(cli->out, help);
	else
		return cli_usage(cli, "unknown command .%s; .help lists all commands", name);
	return HDB_OK;
}

/* Runs the next command or statement. Sets *text to the text after it. */
static int run_next(struct cli *cli, struct heapsql *sql, const char **text)
{
	const size_t size = strcspn(*text, "\n");
	char *line;
	int rc;

	if (!is_command(*text))
		return run_one(cli, sql, text);
	line = strndup(*text, size);
	if (!line)
		return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for a command");
	*text += size;
	rc = run_command(cli, sql, line);
	free(line);
	return rc;
}

/* Skips blanks and comments before a command. */
static const char *skip_comments(const char *text)
{
	text += strspn(text, " \t\r\n");
	while (strncmp(text, "--", 2) == 0) {
		text += strcspn(text, "\n");
		text += strspn(text, " \t\r\n");
	}
	return text;
}

int sql_run(struct cli *cli, struct heapsql *sql, const char *text)
{
	int rc = HDB_OK;

	while (rc == HDB_OK && *(text = skip_comments(text)))
		rc = run_next(cli, sql, &text);
	if (rc == HDB_EINTR && progress_is_out_of_time())
		return hdb_fail(&cli->err, HDB_EINTR, "stopped after %u seconds (--timeout)",
				cli->opt.timeout);
	return rc;
}

/* Runs the input and reports failures. Returns HDB_END if it ends the shell. */
static int run_typed(struct cli *cli, struct heapsql *sql, const char *text)
{
	const int rc = sql_run(cli, sql, text);

	progress_hide();
	output_flush(cli->out);
	if (rc < 0 && cli->err.message[0])
		fprintf(stderr, "heapdb: %s\n", cli->err.message);
	cli->err.message[0] = '\0';
	cli->is_open = false;
	progress_again();
	return rc;
}

#ifdef HAVE_EDIT
/* ---- line editing ---- */

static bool
	/* whether to show the continuation prompt; global because libedit passes no context */
	is_continued;

static char *prompt(EditLine *el)
{
	static char first[] = "heapdb> ", more[] = "   ...> ";

	(void)el;
	return is_continued ? more : first;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || strchr("_.$[]+-", c) != NULL;
}

/* Common prefix of the matching table and class names. */
struct completion {
	const char *start;
	size_t size;
	char common[512];
	size_t count;
};

static void offer(struct completion *c, const char *name)
{
	size_t same = 0;

	if (strncasecmp(name, c->start, c->size) != 0 || strlen(name) >= sizeof(c->common))
		return;
	if (!c->count++) {
		snprintf(c->common, sizeof(c->common), "%s", name);
		return;
	}
	while (c->common[same] && c->common[same] == name[same])
		same++;
	c->common[same] = '\0';
}

/* Offers columns of the tables named on the line, and SQL keywords. */
static void offer_columns(struct completion *c, struct heapsql *sql, const char *text)
{
	static const char *const words[] = {
		"SELECT",    "FROM",        "WHERE",        "GROUP BY",
		"ORDER BY",  "LIMIT",       "retained_set", "common_dominator",
		"class_of",  "is_instance", "retained",     "shallow",
		"dominator", "element",     "field",        "text",
		"path",      "hex"
	};
	struct hdb_error err;
	char name[512];

	for (size_t i = 0; i < BASE_COUNT(words); i++)
		offer(c, words[i]);
	for (const char *at = text; *at;) {
		size_t size = 0;
		char *columns;

		while (is_name_char(at[size]))
			size++;
		if (size && size < sizeof(name)) {
			memcpy(name, at, size);
			name[size] = '\0';
			if (heapsql_schema(sql, name, false, &columns, &err) == HDB_OK) {
				for (char *column = strtok(columns, ",;: "); column;
				     column = strtok(NULL, ",;: "))
					offer(c, column);
				free(columns);
			}
		}
		at += size + (at[size] != '\0');
	}
}

static unsigned char complete(EditLine *el, int key)
{
	const LineInfo *info = el_line(el);
	struct heapsql *sql = NULL;
	struct completion c = { 0 };
	char start[512], line[2048];
	struct heapsql_table table;
	size_t size = 0;

	(void)key;
	el_get(el, EL_CLIENTDATA, &sql);
	while (info->cursor - size > info->buffer && is_name_char(*(info->cursor - size - 1)))
		size++;
	if (!size || size >= sizeof(start) || !sql)
		return CC_REFRESH_BEEP;
	memcpy(start, info->cursor - size, size);
	start[size] = '\0';
	snprintf(line, sizeof(line), "%.*s", (int)(info->lastchar - info->buffer), info->buffer);
	c.start = start;
	c.size = size;
	for (size_t no = 0; heapsql_table(sql, no, &table); no++)
		offer(&c, table.kind == HEAPSQL_CLASS ? table.class : table.name);
	offer_columns(&c, sql, line);
	if (strlen(c.common) <= size)
		return CC_REFRESH_BEEP;
	el_insertstr(el, c.common + size);
	return CC_REFRESH;
}

/* Whether Ctrl-C was pressed, which the line editor reads as an ordinary key. */
static bool is_dropped;

static unsigned char drop(EditLine *el, int key)
{
	(void)el;
	(void)key;
	is_dropped = true;
	return CC_NEWLINE;
}

/* Returns the history file: $HEAPDB_HISTORY, or ~/.heapdb_history. */
static const char *history_file(char *buf, size_t size)
{
	const char *named = getenv("HEAPDB_HISTORY"), *home = getenv("HOME");

	if (named)
		return *named ? named : NULL;
	if (!home)
		return NULL;
	snprintf(buf, size, "%s/.heapdb_history", home);
	return buf;
}

struct editor {
	EditLine *el;
	History *history;
	const char *file;
	char path[1024];
};

static int editor_open(struct editor *e, struct cli *cli, struct heapsql *sql)
{
	HistEvent event;

	e->el = el_init("heapdb", stdin, stdout, stderr);
	e->history = history_init();
	if (!e->el || !e->history)
		return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for line editing");
	history(e->history, &event, H_SETSIZE, 1000);
	history(e->history, &event, H_SETUNIQUE, 1);
	e->file = history_file(e->path, sizeof(e->path));
	if (e->file)
		history(e->history, &event, H_LOAD, e->file);
	el_set(e->el, EL_PROMPT, prompt);
	el_set(e->el, EL_EDITOR, "emacs");
	el_set(e->el, EL_SIGNAL, 0);
	el_set(e->el, EL_HIST, history, e->history);
	el_set(e->el, EL_CLIENTDATA, sql);
	el_set(e->el, EL_ADDFN, "heapdb-complete", "Complete a name", complete);
	el_set(e->el, EL_BIND, "^I", "heapdb-complete", NULL);
	el_set(e->el, EL_ADDFN, "heapdb-drop", "Drop the line", drop);
	el_set(e->el, EL_BIND, "^C", "heapdb-drop", NULL);
	el_set(e->el, EL_SETTY, "-d", "intr=", NULL);
	el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_source(e->el, NULL);
	return HDB_OK;
}

/*
 * Reads a line. Returns NULL at the end of input. Sets *is_cancelled if Ctrl-C discarded the
 * statement.
 */
static const char *editor_line(struct editor *e, int *size, bool *is_cancelled)
{
	const char *line = "";
	HistEvent event;

	/*
	 * prepare the terminal first, because el_gets shows the prompt while Ctrl-C still sends a
	 * signal, which would not interrupt the read
	 */
	el_set(e->el, EL_PREP_TERM, 1);
	if (!progress_is_cancelled())
		line = el_gets(e->el, size);
	*is_cancelled = is_dropped || progress_is_cancelled();
	is_dropped = false;
	if (line && *size > 1 && !*is_cancelled)
		history(e->history, &event, H_ENTER, line);
	return line;
}

static void editor_close(struct editor *e)
{
	HistEvent event;

	if (e->history && e->file)
		history(e->history, &event, H_SAVE, e->file);
	if (e->history)
		history_end(e->history);
	if (e->el)
		el_end(e->el);
}
#else
struct editor {
	char *line;
	size_t room;
};

static bool is_continued;

static int editor_open(struct editor *e, struct cli *cli, struct heapsql *sql)
{
	(void)e;
	(void)cli;
	(void)sql;
	return HDB_OK;
}

static const char *editor_line(struct editor *e, int *size, bool *is_cancelled)
{
	fputs(is_continued ? "   ...> " : "heapdb> ", stdout);
	fflush(stdout);
	*size = (int)getline(&e->line, &e->room, stdin);
	*is_cancelled = progress_is_cancelled();
	if (*is_cancelled)
		clearerr(stdin);
	return *size > 0 ? e->line : NULL;
}

static void editor_close(struct editor *e)
{
	free(e->line);
}
#endif

int sql_shell(struct cli *cli, struct heapsql *sql)
{
	struct editor editor = { 0 };
	struct bytes text = { 0 };
	bool is_cancelled;
	const char *line;
	int size, rc = editor_open(&editor, cli, sql);

	cli->out->is_held = false; /* show each answer immediately */
	TRY(rc);
	if (!cli->opt.has_limit && cli->opt.format == FORMAT_TABLE)
		cli->opt.limit = OPTIONS_LIMIT_DEFAULT;
	output_format(cli->out, "heapdb %s: SQL over %s. .help lists commands, .quit ends.\n",
		      hdb_version(), cli->db_path ? cli->db_path : "several databases");
	output_flush(cli->out);
	while (!text.failed) {
		is_continued = text.size > 0;
		line = editor_line(&editor, &size, &is_cancelled);
		if (is_cancelled) {
			progress_again();
			text.size = 0;
			continue;
		}
		if (!line)
			break;
		if (!text.size && line[strspn(line, " \t\n")] == '\0')
			continue;
		bytes_add(&text, line, (size_t)size);
		bytes_add(&text, "", 1);
		if (text.failed)
			break;
		text.size--;
		if (!is_command(text.data + strspn(text.data, " \t")) &&
		    !heapsql_is_complete(text.data))
			continue;
		if (run_typed(cli, sql, text.data) == HDB_END)
			break;
		text.size = 0;
	}
	free(text.data);
	editor_close(&editor);
	return text.failed ?
		       hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for a statement") :
		       HDB_OK;
}
#endif

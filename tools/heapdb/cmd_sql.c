/*
 * heapdb/cmd_sql.c - `heapdb sql`: chooses the databases, their schema names and the statement.
 */
#include "heapdb/cli.h"
#include "heapdb/render.h"
#include "heapdb/sql_shell.h"

#include <ctype.h>
#include <strings.h>
#include <unistd.h>

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"

/* Maximum size of statements from standard input. */
#define INPUT_MAX (64u << 20)

/* A database and the data needed to reopen it. */
struct member {
	struct cli *cli;
	char *name; /* schema name; owned; NULL: the only database */
	const char *db_path, *dump_path;
	struct hdb *db;
};

struct run {
	struct cli *cli;
	struct heapsql *sql;
	struct member *members; /* owned */
	size_t count;
};

/* ---- operands ---- */

/* Whether an operand is an SQL statement: it begins like one, and no such file exists. */
static bool is_statement(const char *operand)
{
	static const char *const words[] = { "select", "with",   "explain", "values", "pragma",
					     "insert", "update", "delete",  "create", "drop",
					     "attach", "detach", "alter",   "vacuum", "begin",
					     "--",     "/*" };
	const char *at = operand + strspn(operand, " \t\r\n(;");

	if (access(operand, F_OK) == 0)
		return false;
	/* ".tables" is a shell command; "./a.heapdb" and ".a.heapdb" are not. */
	if (operand[0] == '.' && !operand[strspn(operand, ".abcdefghijklmnopqrstuvwxyz")])
		return !strchr(operand + 1, '.');
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t size = strlen(words[i]);

		if (strncasecmp(at, words[i], size) == 0 &&
		    !strchr("abcdefghijklmnopqrstuvwxyz./=", at[size] | (at[size] ? 0x20 : 'a')))
			return true;
	}
	return strpbrk(at, " \n;") != NULL && !strchr(at, '=');
}

/*
 * Returns the schema name: "before" in "before=a.heapdb", otherwise the file name up to its first
 * dot.
 */
static char *schema_of(const char *operand, const char **file)
{
	const char *equals = strchr(operand, '='), *slash = strrchr(operand, '/');

	if (equals && equals > operand &&
	    memchr(operand, '/', (size_t)(equals - operand)) == NULL) {
		*file = equals + 1;
		return strndup(operand, (size_t)(equals - operand));
	}
	*file = operand;
	slash = slash ? slash + 1 : operand;
	return strndup(slash, strcspn(slash, "."));
}

/* ---- databases ---- */

static int reopen(void *ctx, struct hdb **out, struct hdb_error *err)
{
	const struct member *m = ctx;
	int rc = cli_open(m->cli, m->db_path, m->dump_path, 2, out);

	if (rc != HDB_OK)
		*err = m->cli->err;
	return rc;
}

static int open_only(struct run *run)
{
	struct cli *cli = run->cli;
	struct member *m = &run->members[0];

	TRY(cli_open_database(cli));
	*m = (struct member){
		.cli = cli, .db_path = cli->db_path, .dump_path = cli->dump_path, .db = cli->db
	};
	run->count = 1;
	return HDB_OK;
}

/* Opens several databases, or a named one. The runner closes them. */
static int open_named(struct run *run, size_t count)
{
	struct cli *cli = run->cli;

	if (cli->opt.dump)
		return cli_usage(cli, "--dump requires a single database");
	TRY(BASE_ALLOC(cli->before, count, "databases", &cli->err));
	for (size_t i = 0; i < count; i++) {
		struct database *d = &cli->before[i];
		struct member *m = &run->members[i];
		const char *file;

		m->cli = cli;
		m->name = schema_of(cli->opt.operands[i], &file);
		run->count++;
		cli->before_count++;
		if (!m->name)
			return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for a name");
		TRY(locate_named(cli, file, &d->db_path, &d->dump_path));
		TRY(cli_open(cli, d->db_path, d->dump_path, (unsigned)count, &d->db));
		cli_report_health(cli, d->db, m->name);
		m->db_path = d->db_path;
		m->dump_path = d->dump_path;
		m->db = d->db;
	}
	assert(run->count == count);
	return HDB_OK;
}

static int open_databases(struct run *run, size_t count)
{
	struct cli *cli = run->cli;

	if (cli->opt.db && count)
		return cli_usage(cli, "name databases either with --db or as arguments, not both");
	TRY(BASE_ALLOC(run->members, count + 1, "databases", &cli->err));
	if (count == 1 && !strchr(cli->opt.operands[0], '=')) {
		cli->opt.db = cli->opt.operands[0];
		count = 0;
	}
	TRY(count ? open_named(run, count) : open_only(run));
	TRY(sql_open(cli, &run->sql));
	for (size_t i = 0; i < run->count; i++) {
		const struct heapsql_database database = {
			.db = run->members[i].db,
			.name = run->members[i].name,
			.all = cli->opt.all,
			.reopen = reopen,
			.ctx = &run->members[i],
		};

		TRY(heapsql_add(run->sql, &database, &cli->err));
	}
	return HDB_OK;
}

/* ---- statements ---- */

/* Whether a statement mentions the column "reachable", which is 1 in all rows without --all. */
static bool mentions_reachable(const char *text)
{
	static const char name[] = "reachable";
	const char *at = text;

	for (; (at = strcasestr(at, name)) != NULL; at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[sizeof(name) - 1]) && at[sizeof(name) - 1] != '_')
			return true;
	return false;
}

static void end_run(struct run *run)
{
	heapsql_close(run->sql);
	for (size_t i = 0; i < run->count; i++)
		free(run->members[i].name);
	free(run->members);
}

int cmd_sql(struct cli *cli)
{
	BASE_SCOPED(end_run) struct run run = { .cli = cli };
	size_t count = cli->opt.operand_count;
	const char *statement = NULL;
	BASE_SCOPED(file_text_release) struct file_text input = { 0 };
	int rc;

	/* the statement may precede or follow the databases */
	for (size_t i = count; i-- > 0 && !statement;) {
		if (!is_statement(cli->opt.operands[i]))
			continue;
		statement = cli->opt.operands[i];
		memmove(&cli->opt.operands[i], &cli->opt.operands[i + 1],
			(--count - i) * sizeof(cli->opt.operands[0]));
	}
	if (count && strcmp(cli->opt.operands[count - 1], "-") == 0) {
		count--;
		TRY(cli_read_file(cli, "-", INPUT_MAX, &input));
		statement = input.data;
	}
	TRY(open_databases(&run, count));
	if (!statement && !isatty(STDIN_FILENO)) {
		TRY(cli_read_file(cli, "-", INPUT_MAX, &input));
		statement = input.data;
	}
	if (statement && !cli->opt.all && mentions_reachable(statement))
		cli_notice(cli, "tables show reachable objects; use --all to include unreachable "
				"ones");
	rc = statement ? sql_run(cli, run.sql, statement) : sql_shell(cli, run.sql);
	return rc == HDB_END /* .quit */ ? HDB_OK : rc;
}
#endif

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

/* ---- operands ---- */

/* Returns whether an operand is an SQL statement: it begins like one, and no such file exists. */
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
	for (size_t i = 0; i < BASE_COUNT(words); i++) {
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

/* Adds a database. `name` is NULL if this is the only database. */
static int add(struct cli *cli, struct heapsql *sql, const char *name, const struct database *d)
{
	const struct heapsql_database database = {
		.db = d->db,
		.name = name,
		.all = cli->opt.all,
		.path = d->db_path,
		.open = cli_open_options(cli, d->dump_path, 2),
	};

	return heapsql_add(sql, &database, &cli->err);
}

static int add_only(struct cli *cli, struct heapsql *sql)
{
	TRY(cli_open_database(cli));
	return add(cli, sql, NULL, &(struct database){ cli->db_path, cli->dump_path, cli->db });
}

/*
 * Opens several databases, or a single database with a schema name. The runner closes the
 * databases.
 */
static int add_named(struct cli *cli, struct heapsql *sql, size_t count)
{
	if (cli->opt.dump)
		return cli_usage(cli, "--dump requires a single database");
	TRY(BASE_ALLOC(cli->before, count, "databases", &cli->err));
	for (size_t i = 0; i < count; i++) {
		struct database *d = &cli->before[i];
		const char *file;
		BASE_FREED char *name = schema_of(cli->opt.operands[i], &file);

		cli->before_count++;
		if (!name)
			return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for a name");
		TRY(locate_named(cli, file, &d->db_path, &d->dump_path));
		TRY(cli_open(cli, d->db_path, d->dump_path, (unsigned)count, &d->db));
		cli_report_health(cli, d->db, name);
		TRY(add(cli, sql, name, d));
	}
	return HDB_OK;
}

static int add_databases(struct cli *cli, struct heapsql *sql, size_t count)
{
	if (cli->opt.db && count)
		return cli_usage(
			cli, "databases can be given either with --db or as arguments, not both");
	if (count == 1 && !strchr(cli->opt.operands[0], '=')) {
		cli->opt.db = cli->opt.operands[0];
		count = 0;
	}
	return count ? add_named(cli, sql, count) : add_only(cli, sql);
}

/* ---- statements ---- */

/*
 * Returns whether a statement mentions the column "reachable", which is 1 in all rows without
 * --all.
 */
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

int cmd_sql(struct cli *cli)
{
	BASE_SCOPED(heapsql_close_at) struct heapsql *sql = NULL;
	size_t count = cli->opt.operand_count;
	const char *statement = NULL;
	BASE_SCOPED(file_text_release) struct file_text input = { 0 };
	int rc;

	/* the statement may come before or after the databases */
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
	TRY(sql_open(cli, &sql));
	TRY(add_databases(cli, sql, count));
	if (!statement && !isatty(STDIN_FILENO)) {
		TRY(cli_read_file(cli, "-", INPUT_MAX, &input));
		statement = input.data;
	}
	if (statement && !cli->opt.all && mentions_reachable(statement))
		cli_notice(cli, "tables show reachable objects; use --all to include unreachable "
				"ones");
	rc = statement ? sql_run(cli, sql, statement) : sql_shell(cli, sql);
	return rc == HDB_END /* .quit */ ? HDB_OK : rc;
}
#endif

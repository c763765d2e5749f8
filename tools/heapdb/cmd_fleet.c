/*
 * heapdb/cmd_fleet.c - fleet: passes its arguments to the Python package, which implements fleet
 * tables and reports with DuckDB.
 */
#include "heapdb/cli.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define RULE_rule(word, text, nth) .groups = OPTIONS_HELP, .kind = OPTION_TEXT, .name = text
#define RULE_argument(word, text, nth) .argument = text
#define RULE_help(word, text, nth) .help = text
const struct option_info fleet_options[] = {
#include <heapdb/cmd_fleet.rules.h>
	, { .name = NULL }
};

/*
 * Program run by Python. It does not import modules from the current directory, because the owner
 * of a directory of dumps must not be able to run code here. If a package is missing, it prints one
 * line and exits with 4.
 */
static const char program[] =
	"import sys\n"
	"sys.path[:] = [path for path in sys.path if path]\n"
	"try:\n"
	"    from heapdb_jvm.fleet._command import main\n"
	"except ImportError as error:\n"
	"    print(\"heapdb: fleet: requires the Python package heapdb-jvm: pip install 'WHEEL[fleet]', \"\n"
	"          'where WHEEL is the file that `make wheel` builds: %s' % error, file=sys.stderr)\n"
	"    sys.exit(4)\n"
	"sys.exit(main(sys.argv[1:]))\n";

int cmd_fleet(struct cli *cli)
{
	const char *python = getenv("HEAPDB_PYTHON");
	const size_t count = (size_t)cli->rest.count;
	char **values;

	if (!python || !python[0])
		python = "python3";
	if (count == 1 && strcmp(cli->rest.values[0], "--help") == 0) {
		help_command(cli->out, cli->command, NULL, true);
		return HDB_OK;
	}
	if (!count)
		return cli_usage(cli, "expected a directory with the tables of a fleet, or `run`");
	TRY(BASE_ALLOC(values, count + 4, "arguments", &cli->err));
	values[0] = (char *)(uintptr_t)python;
	values[1] = (char *)(uintptr_t) "-c";
	values[2] = (char *)(uintptr_t)program;
	for (size_t i = 0; i < count; i++)
		values[3 + i] = cli->rest.values[i];
	(void)signal(SIGPIPE, SIG_DFL);
	execvp(python, values);
	free(values);
	return hdb_fail(&cli->err, HDB_EIO, "requires Python 3.9 or later: %s: %s", python,
			strerror(errno));
}

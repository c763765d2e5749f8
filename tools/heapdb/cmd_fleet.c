/*
 * heapdb/cmd_fleet.c - fleet: passes its arguments to the Python package, which implements fleet
 * tables and reports with DuckDB.
 */
#include "heapdb/cli.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/* Must match the parsers in fleet/_command.py; a test compares them. */
#define FLEET(name, argument, help) \
	{ \
		name, argument, OPTIONS_HELP, 0, OPTION_TEXT, 0, 0, help \
	}
const struct option_info fleet_options[] = {
	FLEET("report", "NAME", "Print only this report. May be repeated."),
	FLEET("owner", "PATTERN", "Print the retained size of matching owners in each build"),
	FLEET("json", NULL, "Print the reports as JSON"),
	FLEET("csv", NULL, "Print the reports as comma-separated values"),
	FLEET("html", "FILE", "Also write all reports as one HTML page, with trends"),
	FLEET("fail-if", "new-leak|growing",
	      "Exit with status 1 if the newest build has new or growing leaks. May be "
	      "repeated."),
	FLEET("junit", "FILE", "Also write the leaks as JUnit XML"),
	FLEET("webhook", "URL",
	      "Post the leaks selected by --fail-if to this address. Default: new and growing "
	      "leaks."),
	FLEET("pattern", "PATTERN", "With `fleet run`: pattern for the end of the dumps' paths"),
	FLEET("fetch", "COMMAND",
	      "With `fleet run`: command that prints a dump. {} is replaced by the dump's name "
	      "in the listing."),
	FLEET("mapping", "PATTERN",
	      "With `fleet run`: pattern for the names of mapping files, such as "
	      "mappings/{app}/{build}.txt"),
	FLEET("jobs", "N", "With `fleet run`: number of dumps to import at once"),
	FLEET("memory", "SIZE", "With `fleet run`: memory budget of each import process"),
	FLEET("threads", "N", "With `fleet run`: number of threads of each import process"),
	FLEET("sizes", "vm|mat|dump", "With `fleet run`: how to compute shallow sizes"),
	FLEET("salvage", NULL, "With `fleet run`: also import damaged dumps"),
	FLEET("query", "TABLE=QUERY", "With `fleet run`: add a table with the rows of a query"),
	FLEET("timeout", "SECONDS", "With `fleet run`: maximum number of seconds per dump"),
	FLEET("work", "DIR", "With `fleet run`: directory for temporary databases"),
	FLEET("retry", NULL, "With `fleet run`: retry dumps whose import failed before"),
	FLEET("keep", "30d",
	      "With `fleet prune`: number of days or weeks to keep. With `fleet run`: skip "
	      "older dumps."),
	FLEET("dry-run", NULL, "With `fleet prune`: only print what would be removed"),
	FLEET("quiet", NULL, "With `fleet run`: do not print a line per dump"),
	FLEET("help", NULL, "Print this help"),
	{ .name = NULL },
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

/*
 * heapdb/cmd_fleet.c - fleet: hands its arguments to the Python package, which has the tables and
 * the reports of a fleet, and knows how DuckDB is asked.
 */
#include "heapdb/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As the parsers of fleet/_command.py have them: a test compares. */
#define FLEET(name, argument, help) \
	{ \
		name, argument, OPTIONS_HELP, 0, OPTION_TEXT, 0, 0, help \
	}
const struct option_info fleet_options[] = {
	FLEET("report", "NAME", "only this report; may be repeated"),
	FLEET("json", NULL, "the reports as JSON"),
	FLEET("csv", NULL, "the reports as comma-separated values"),
	FLEET("html", "FILE", "also write all reports as one page, with trends"),
	FLEET("fail-if", "new-leak|growing", "exit code 1 if a program has one"),
	FLEET("junit", "FILE", "also write the leaks as JUnit's XML"),
	FLEET("webhook", "URL", "post the leaks that --fail-if names, or new and growing ones"),
	FLEET("pattern", "PATTERN", "run: what folders and names say of dumps"),
	FLEET("mapping", "PATTERN", "run: mapping files, as mappings/{app}/{build}.txt"),
	FLEET("jobs", "N", "run: dumps that are imported at once"),
	FLEET("memory", "SIZE", "run: memory budget of each dump's process"),
	FLEET("threads", "N", "run: threads of each dump's process"),
	FLEET("sizes", "vm|mat|dump", "run: how shallow sizes are computed"),
	FLEET("salvage", NULL, "run: damaged dumps, too"),
	FLEET("query", "TABLE=QUERY", "run: another table, of a query's rows"),
	FLEET("timeout", "SECONDS", "run: seconds that a dump may take"),
	FLEET("work", "DIR", "run: folder for databases while they are needed"),
	FLEET("retry", NULL, "run: also dumps that failed before"),
	FLEET("keep", "30d",
	      "prune: the last days or weeks that stay; run: passes over older dumps"),
	FLEET("dry-run", NULL, "prune: only say what would be removed"),
	FLEET("quiet", NULL, "run: no line for each dump"),
	FLEET("help", NULL, "print this help"),
	{ .name = NULL },
};

/*
 * What Python runs. Modules of the current folder are not taken: whoever wrote a folder of dumps
 * must not choose what runs here. What is missing is said in one line, exit code 4.
 */
static const char program[] =
	"import sys\n"
	"sys.path[:] = [path for path in sys.path if path]\n"
	"try:\n"
	"    from heapdb_jvm.fleet._command import main\n"
	"except ImportError as error:\n"
	"    print(\"heapdb: fleet: needs the Python package heapdb-jvm: pip install 'WHEEL[fleet]', \"\n"
	"          'WHEEL being the file that `make wheel` builds: %s' % error, file=sys.stderr)\n"
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
		return cli_usage(cli, "expected a folder with the tables of a fleet, or `run`");
	TRY(DOOR_ALLOC(values, count + 4, "arguments", &cli->err));
	values[0] = (char *)(uintptr_t)python;
	values[1] = (char *)(uintptr_t) "-c";
	values[2] = (char *)(uintptr_t)program;
	for (size_t i = 0; i < count; i++)
		values[3 + i] = cli->rest.values[i];
	(void)signal(SIGPIPE, SIG_DFL);
	execvp(python, values);
	free(values);
	return door_fail(&cli->err, HDB_EIO, "needs Python 3.9 or later: %s: %s", python,
			 strerror(errno));
}

"""The command lines of heapdb_jvm.fleet and heapdb_jvm.spark."""
import argparse
import fnmatch
import os
import re
import signal
import sys

from .._extras import need
from ._alert import CONDITIONS, failing, junit, leaks_of, notify, sentence
from ._listing import PATTERN, ListingError, local_path
from ._prune import prune
from ._report import ORDER, ReportError, answers_of, render, shown, wanted

# Exit codes of the command heapdb.
DONE, NO, USAGE, INPUT, SYSTEM = range(5)


def size(text):
    """Converts "512M" to bytes."""
    found = re.fullmatch(r"(\d+)([kmgt]?)(?:i?b)?", text.lower())
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: expected a size such as 512M or 2G")
    return int(found[1]) << (10 * ("kmgt".index(found[2]) + 1) if found[2] else 0)


def positive(text):
    if not re.fullmatch("0*[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text}: expected a number of at least 1")
    return int(text)


def _put(text, stream):
    """Prints a line. A pipe closed by its reader affects neither the work nor the exit code."""
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError as error:
        error.filename = "standard output" if stream is sys.stdout else "standard error"
        raise


def _report_options(parser):
    parser.add_argument("--report", action="append", choices=ORDER, dest="reports",
                        help="print only this report; can be repeated")
    parser.add_argument("--owner", metavar="PATTERN", help="in the report owners, print only matching owners")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_const", const="json", dest="form", default="text",
                      help="print one JSON object")
    form.add_argument("--csv", action="store_const", const="csv", dest="form", help="print comma-separated values")
    parser.add_argument("--html", metavar="FILE", help="also write all reports as one HTML page, with trends")
    parser.add_argument("--fail-if", action="append", choices=list(CONDITIONS), default=[],
                        help="exit with status 1 if the newest build has a new or growing leak; can be repeated")
    parser.add_argument("--junit", metavar="FILE", help="also write the leaks as JUnit XML, one test case per leak")
    parser.add_argument("--webhook", metavar="URL", help="post each leak selected by --fail-if once "
                        "(default: new and growing leaks); @FILE reads the address from a file")


def _write(path, text):
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    except FileNotFoundError as error:  # the directory: a failed write, not a missing input
        raise OSError(f"{path}: {error.strerror}") from None


def _address(text):
    if not text.startswith("@"):
        return text
    with open(text[1:], encoding="utf-8") as f:
        return f.read().strip()


def show(given, folder, ask):
    """Prints the reports, and writes and posts what the options request. `ask(reports)` returns answers. `folder` is
    the directory in which posted leaks are recorded, or None.
    """
    reports = list(wanted(None, "html") if given.html else given.reports or ORDER)
    if given.owner and not given.reports:
        reports = given.reports = ["owners"]
    needed = ["leaks"] * bool(given.fail_if or given.webhook or given.junit) + ["failures"] * bool(given.junit)
    answers = ask(reports + [name for name in needed if name not in reports])
    if given.owner:
        answers = [(name, columns, [row for row in rows if name != "owners" or
                                    fnmatch.fnmatchcase(row[columns.index("owner")], given.owner)])
                   for name, columns, rows in answers]
    _put(render([answer for answer in answers if answer[0] in (given.reports or ORDER)], given.form), sys.stdout)
    if given.html:
        _write(given.html, render(answers, "html"))
    leaks, conditions = leaks_of(answers), given.fail_if or list(CONDITIONS)
    if given.junit:
        _write(given.junit, junit(leaks, conditions, [
            dict(zip(columns, row)) for name, columns, rows in answers if name == "failures" for row in rows]))
    found = failing(leaks, given.fail_if)
    for leak in found:
        _put(shown(sentence(leak)), sys.stderr)
    if given.webhook:
        notify(folder, _address(given.webhook), failing(leaks, conditions))
    return NO if found else DONE


def _prune_options(parser):
    parser.add_argument("folder", metavar="DIR", help="directory of the tables")
    parser.add_argument("--keep", required=True, metavar="30d", help="number of days (30d) or weeks (8w) to "
                        "keep, including today; rows of dumps from earlier days are removed")
    parser.add_argument("--dry-run", action="store_true", help="only print what would be removed")


def removed(days, is_dry):
    for day in days:
        _put(day, sys.stdout)
    _put(f"{len(days)} days {'would be ' if is_dry else ''}removed", sys.stdout)
    return DONE


def _run_options(parser):
    parser.add_argument("listing", help="file that lists dumps (one path per line, a table with the "
                        "columns uri, app, build, day, dump and mapping, or the output of aws s3 ls --recursive; - for "
                        "standard input), a quoted path pattern, or a directory")
    parser.add_argument("out", help="directory of the tables")
    parser.add_argument("--pattern", default=PATTERN,
                        help=f"pattern that the end of each path must match ({PATTERN.replace('%', '%%')})")
    parser.add_argument("--mapping", help="pattern for the names of mapping files, such as mappings/{app}/{build}.txt")
    parser.add_argument("--memory", type=size, default=0, help="memory budget of each import process")
    parser.add_argument("--threads", type=positive, default=1, help="number of threads of each import process")
    parser.add_argument("--sizes", choices=("vm", "mat", "dump"), default="vm",
                        help="how shallow sizes are computed (default: vm)")
    parser.add_argument("--salvage", action="store_true",
                        help="also import damaged dumps; by default, a damaged dump counts as a failure")
    parser.add_argument("--query", action="append", default=[], metavar="TABLE=QUERY",
                        help='add a table, such as "copies=duplicates --arrays --limit 50"')
    parser.add_argument("--timeout", type=float, default=0, help="maximum number of seconds per dump")
    parser.add_argument("--work", help="directory for temporary databases")
    parser.add_argument("--fetch", metavar="COMMAND", help="shell command that writes a dump to standard output, such as "
                        "'aws s3 cp {} -'; {} is replaced by the name of the dump in the listing")
    parser.add_argument("--retry", action="store_true", help="retry dumps whose import failed before")
    parser.add_argument("--keep", metavar="30d", help="skip dumps that `prune` would remove")
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def settings_of(arguments):
    from ._run import Settings
    queries = {}
    for text in arguments.query:
        table, found, query = text.partition("=")
        if not found:
            raise ListingError(f"--query {text}: expected TABLE=QUERY")
        queries[table] = query
    return Settings(memory=arguments.memory, threads=arguments.threads, sizes=arguments.sizes,
                    salvage=arguments.salvage, queries=queries, timeout=arguments.timeout,
                    work=arguments.work, fetch=arguments.fetch)


def _progress(done, count, result):
    words = "ok" if result["status"] == "ok" else f"failed: {result['error']}"
    name = "/".join(result[key] for key in ("app", "build", "day", "dump"))
    _put(shown(f"{done}/{count} {name}: {words}"), sys.stderr)


def tell(summary):
    text = (f"{summary.listed} dumps: {summary.done} imported, {summary.failed} failed, "
            f"{summary.passed_over} skipped; {summary.duplicates} dumps in the tables are copies")
    _put(text, sys.stdout)
    return DONE


def _guarded(name, work):
    """Runs a command and prints errors as one line. SIGTERM is treated like Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return work()
    except ListingError as error:
        message, code = error, USAGE
    except (ReportError, FileNotFoundError) as error:
        message, code = error, INPUT
    except (ImportError, OSError) as error:
        message, code = error, SYSTEM
    except KeyboardInterrupt:
        message, code = "interrupted; finished dumps are kept", SYSTEM
    if isinstance(message, OSError) and message.strerror and message.filename:
        message = f"{message.filename}: {message.strerror}"
    _put(shown(f"{name}: {message}"), sys.stderr)
    return code


def main(arguments=None):
    """heapdb fleet DIR, heapdb fleet run LISTING DIR, heapdb fleet prune DIR."""
    # Tables and reports contain strings from heaps, such as thread names, so only the user may read them.
    os.umask(0o077)
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["run"]:
        parser = argparse.ArgumentParser(prog="heapdb fleet run",
                                         description="Imports dumps and adds query results to tables.")
        _run_options(parser)
        parser.add_argument("--jobs", type=positive, default=1, help="number of dumps to import at once")
        given = parser.parse_args(words[1:])

        def work():
            from ._run import run
            return tell(run(given.listing, given.out, jobs=given.jobs, pattern=given.pattern,
                            mapping=given.mapping, settings=settings_of(given), retry=given.retry,
                            keep=given.keep, progress=None if given.quiet else _progress))
    elif words[:1] == ["prune"]:
        parser = argparse.ArgumentParser(prog="heapdb fleet prune",
                                         description="Removes the rows of old dumps from the tables.")
        _prune_options(parser)
        given = parser.parse_args(words[1:])

        def work():
            return removed(prune(given.folder, given.keep, dry_run=given.dry_run), given.dry_run)
    else:
        parser = argparse.ArgumentParser(
            prog="heapdb fleet", description="Prints reports on the tables of a fleet. "
            "`heapdb fleet run` writes the tables; `heapdb fleet prune` removes old rows.")
        parser.add_argument("folder", metavar="DIR", help="directory of the tables")
        _report_options(parser)
        given = parser.parse_args(words)

        def work():
            return show(given, given.folder, lambda reports: answers_of(given.folder, reports))
    return _guarded("heapdb: fleet", work)


def spark_main(arguments=None):
    """python -m heapdb_jvm.spark run LISTING OUT; report OUT; prune OUT --keep 30d."""
    parser = argparse.ArgumentParser(prog="heapdb_jvm.spark", description="Imports and reports on dumps with Spark.")
    parser.add_argument("--master", help="Spark master, if not set by spark-submit")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE")
    commands = parser.add_subparsers(dest="command", required=True)
    _run_options(commands.add_parser("run", help="import dumps into tables"))
    shown = commands.add_parser("report", help="print reports on the tables")
    shown.add_argument("out")
    _report_options(shown)
    _prune_options(commands.add_parser("prune", help="remove the rows of old dumps"))
    given = parser.parse_args(arguments)

    def work():
        from .. import spark as heapdb_spark
        from pyspark.sql import SparkSession
        builder = SparkSession.builder.appName("heapdb fleet")
        if given.master:
            builder = builder.master(given.master)
        for text in given.conf:
            builder = builder.config(*text.split("=", 1))
        session = builder.getOrCreate()
        try:
            if given.command == "report":
                from ..spark._report import answers_of as spark_answers
                return show(given, local_path(given.out), lambda reports: spark_answers(given.out, session, reports))
            if given.command == "prune":
                return removed(heapdb_spark.prune(given.folder, given.keep, spark=session,
                                                  dry_run=given.dry_run), given.dry_run)
            return tell(heapdb_spark.run(
                given.listing, given.out, spark=session, pattern=given.pattern,
                mapping=given.mapping, settings=settings_of(given), retry=given.retry,
                keep=given.keep, progress=None if given.quiet else _progress))
        finally:
            session.stop()

    return _guarded("heapdb_jvm.spark", work)

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
from ._report import ORDER, ReportError, answers_of, render, wanted

# Exit codes of the command heapdb.
DONE, NO, USAGE, INPUT, SYSTEM = range(5)


def size(text):
    """"512M" as bytes."""
    found = re.fullmatch(r"(\d+)([kmgt]?)(?:i?b)?", text.lower())
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is no size: 512M, 2G")
    return int(found[1]) << (10 * ("kmgt".index(found[2]) + 1) if found[2] else 0)


def _report_options(parser):
    parser.add_argument("--report", action="append", choices=ORDER, dest="reports",
                        help="only this one; can be repeated")
    parser.add_argument("--owner", metavar="PATTERN", help="only owners with such a name in the report owners")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_const", const="json", dest="form", default="text")
    form.add_argument("--csv", action="store_const", const="csv", dest="form")
    parser.add_argument("--html", metavar="FILE", help="also write all reports as one page, with trends")
    parser.add_argument("--fail-if", action="append", choices=list(CONDITIONS), default=[],
                        help="exit with 1 if the newest build has such a leak; can be repeated")
    parser.add_argument("--junit", metavar="FILE", help="also write the leaks as JUnit's XML: a case each")
    parser.add_argument("--webhook", metavar="URL", help="post the leaks that --fail-if names, or new and "
                        "growing ones, each once; @FILE: the file has the address")


def _write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def _address(text):
    if not text.startswith("@"):
        return text
    with open(text[1:], encoding="utf-8") as f:
        return f.read().strip()


def show(given, folder, ask):
    """Prints the report, writes and posts what else is asked for; `ask(reports)` gives answers. `folder`:
    where to keep what was posted; None: nowhere.
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
    print(render([answer for answer in answers if answer[0] in (given.reports or ORDER)], given.form))
    if given.html:
        _write(given.html, render(answers, "html"))
    leaks, conditions = leaks_of(answers), given.fail_if or list(CONDITIONS)
    if given.junit:
        _write(given.junit, junit(leaks, conditions, [
            dict(zip(columns, row)) for name, columns, rows in answers if name == "failures" for row in rows]))
    found = failing(leaks, given.fail_if)
    for leak in found:
        print(sentence(leak), file=sys.stderr)
    if given.webhook:
        notify(folder, _address(given.webhook), failing(leaks, conditions))
    return NO if found else DONE


def _prune_options(parser):
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--keep", required=True, metavar="30d", help="the last days (30d) or weeks (8w), "
                        "today among them; rows of dumps of earlier days are removed")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")


def removed(days, is_dry):
    for day in days:
        print(day)
    print(f"{len(days)} days {'would be ' if is_dry else ''}removed")
    return DONE


def _run_options(parser):
    parser.add_argument("listing", help="a file that lists dumps (a path a line, or a table with the "
                        "columns uri, app, build, day, dump, mapping, or the output of aws s3 ls --recursive; - for "
                        "standard input), or a quoted pattern of paths")
    parser.add_argument("out", help="where the tables are")
    parser.add_argument("--pattern", default=PATTERN,
                        help=f"what the end of a path says ({PATTERN.replace('%', '%%')})")
    parser.add_argument("--mapping", help="mapping files, by names like mappings/{app}/{build}.txt")
    parser.add_argument("--memory", type=size, default=0, help="budget of each dump's process")
    parser.add_argument("--threads", type=int, default=1, help="of each dump's process")
    parser.add_argument("--sizes", choices=("vm", "mat", "dump"), default="vm")
    parser.add_argument("--salvage", action="store_true",
                        help="take what can be read of damaged dumps; else they are failures")
    parser.add_argument("--query", action="append", default=[], metavar="TABLE=QUERY",
                        help='one more table: "copies=duplicates --arrays --limit 50"')
    parser.add_argument("--timeout", type=float, default=0, help="seconds that a dump may take")
    parser.add_argument("--work", help="folder for temporary databases")
    parser.add_argument("--fetch", metavar="COMMAND", help="shell command that prints a dump, with {} for its name "
                        "in the listing: 'aws s3 cp {} -'")
    parser.add_argument("--retry", action="store_true", help="also dumps that failed before")
    parser.add_argument("--keep", metavar="30d", help="pass over dumps of days that `prune` would remove")
    parser.add_argument("--quiet", action="store_true")


def settings_of(arguments):
    from ._run import Settings
    queries = {}
    for text in arguments.query:
        table, found, query = text.partition("=")
        if not found:
            raise ListingError(f"--query {text}: TABLE=QUERY is expected")
        queries[table] = query
    return Settings(memory=arguments.memory, threads=arguments.threads, sizes=arguments.sizes,
                    salvage=arguments.salvage, queries=queries, timeout=arguments.timeout,
                    work=arguments.work, fetch=arguments.fetch)


def _progress(done, count, result):
    words = "ok" if result["status"] == "ok" else f"failed: {result['error']}"
    name = "/".join(result[key] for key in ("app", "build", "day", "dump"))
    print(f"{done}/{count} {name}: {words}", file=sys.stderr, flush=True)


def tell(summary):
    text = (f"{summary.listed} dumps: {summary.done} taken, {summary.failed} failed, "
            f"{summary.passed_over} there already; {summary.duplicates} of all are copies of others")
    print(text)
    return DONE


def _guarded(name, work):
    """Runs a command; what goes wrong is one line. To be terminated is to be interrupted."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return work()
    except BrokenPipeError:
        return SYSTEM
    except ListingError as error:
        message, code = error, USAGE
    except (ReportError, FileNotFoundError) as error:
        message, code = error, INPUT
    except (ImportError, OSError) as error:
        message, code = error, SYSTEM
    except KeyboardInterrupt:
        message, code = "interrupted; what is done is kept", SYSTEM
    print(f"{name}: {message}", file=sys.stderr)
    return code


def main(arguments=None):
    """heapdb fleet DIR, heapdb fleet run LISTING DIR, heapdb fleet prune DIR."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["run"]:
        parser = argparse.ArgumentParser(prog="heapdb fleet run",
                                         description="Takes dumps into the tables of a folder.")
        _run_options(parser)
        parser.add_argument("--jobs", type=int, default=1, help="dumps at once")
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
            prog="heapdb fleet", description="Prints the report over the tables of a fleet. "
            "`heapdb fleet run --help`: how they are made; `heapdb fleet prune --help`: how they are removed.")
        parser.add_argument("folder", metavar="DIR")
        _report_options(parser)
        given = parser.parse_args(words)

        def work():
            return show(given, given.folder, lambda reports: answers_of(given.folder, reports))
    return _guarded("heapdb: fleet", work)


def spark_main(arguments=None):
    """python -m heapdb_jvm.spark run LISTING OUT; report OUT; prune OUT --keep 30d."""
    parser = argparse.ArgumentParser(prog="heapdb_jvm.spark", description="A fleet's dumps on Spark.")
    parser.add_argument("--master", help="the cluster, where spark-submit does not say it")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE")
    commands = parser.add_subparsers(dest="command", required=True)
    _run_options(commands.add_parser("run", help="take dumps into tables"))
    shown = commands.add_parser("report", help="print the report over the tables")
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

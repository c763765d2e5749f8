"""Imports the dumps of a listing that are not in the tables yet."""
import concurrent.futures
import json
import os
import queue
import shlex
import threading
from collections import namedtuple

from .._extras import need
from ._client import Server, one
from ._dump import QUERIES
from ._listing import ListingError, PATTERN, local_path, read_listing
from ._prune import kept
from ._store import KEYS, TABLES, LocalStore, open_store

# Number of dumps after which a run merges their archives, because a directory with very many files is slow.
_JOIN_EACH = 200

# The result of a run: numbers of dumps, total time of all dumps in seconds, and failed jobs.
Summary = namedtuple("Summary", "listed done failed duplicates passed_over seconds failures")


class Settings:
    """Settings for importing dumps.

    memory: memory budget of a process in bytes.
    threads: number of threads of a process.
    sizes: model of object sizes: "vm", "mat" or "dump".
    salvage: import what can be read of a damaged dump. By default a damaged dump is a failure, because its numbers
        cannot be compared with others.
    queries: additional tables, {"table": "query --option value"}.
    timeout: maximum number of seconds per dump.
    work: directory for temporary databases. Each needs about half the dump's size.
    fetch: shell command that writes a dump of the listing to standard output, with {} for its name, such as "aws s3 cp {} -".
    """

    def __init__(self, *, memory=0, threads=1, sizes="vm", salvage=False, queries=None, timeout=0,
                 work=None, fetch=None):
        self.memory, self.threads, self.sizes = int(memory), int(threads), sizes
        self.salvage, self.timeout, self.work, self.fetch = bool(salvage), timeout, work, fetch
        if fetch is not None and "{}" not in fetch:
            raise ListingError(f"--fetch {fetch}: missing {{}}, which is replaced by the name of the dump")
        self.queries = {name: parse_query(name, text) for name, text in (queries or {}).items()}

    def text(self):
        """Returns the settings on which rows depend. Dumps imported with other settings are imported again."""
        from .. import __version__
        return json.dumps({"version": __version__, "sizes": self.sizes, "salvage": self.salvage,
                           "queries": self.queries}, sort_keys=True)


def parse_query(table, text):
    """Splits "duplicates --arrays --limit 10" into a query's name and its options."""
    from .. import queries
    words = shlex.split(text) if isinstance(text, str) else list(text)
    known = {query.name: query for query in queries()}
    if table in TABLES or not table.isidentifier():
        raise ListingError(f"{table}: not a valid name for an additional table")
    if not words or words[0] not in known:
        raise ListingError(f"{table}: unknown query {words[0] if words else ''}")
    options, rest = {}, words[1:]
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            options.setdefault("targets", []).append(word)
            continue
        name = word[2:].replace("-", "_")
        takes = name in ("sort", "limit") or known[words[0]].options.get(name, (None,))[0]
        options[name] = rest.pop(0) if takes and rest else True
        if name == "limit":
            options[name] = int(options[name])
    return [words[0], options]


def stat(uri):
    """Returns size and modification time of a local file; None if it does not exist."""
    try:
        found = os.stat(local_path(uri))
        return found.st_size, int(found.st_mtime * 1000)
    except OSError:
        return None, None


def jobs_of(entries, out, settings, stats, known, hadoop=None, retry=False):
    """Returns the remaining jobs, largest dumps first. `known` maps keys to the rows of dumps and failures."""
    text, jobs = settings.text(), []
    counted = {"/".join(key) for key, row in known.items() if row.get("status") == "counted"}
    for entry in entries:
        size, modified = (entry.bytes, entry.modified) if settings.fetch else stats(entry.uri)
        key = (entry.app, entry.build, entry.day, entry.dump)
        row = known.get(key)
        if row and (row["uri"], row["bytes"], row["modified"], row["settings"]) == \
                (entry.uri, size, modified, text) and \
                not (row.get("is_system") or "code" in row and retry) and \
                (row.get("status") != "duplicate" or row["duplicate_of"] in counted) and \
                (row.get("mapping") == entry.mapping or "code" in row):
            continue
        jobs.append({**entry._asdict(), "bytes": size, "modified": modified, "out": out,
                     "memory": settings.memory, "threads": settings.threads,
                     "sizes": settings.sizes, "strict": not settings.salvage,
                     "queries": settings.queries, "timeout": settings.timeout,
                     "work": settings.work, "fetch": settings.fetch, "settings": text, "hadoop": hadoop or {}})
    return sorted(jobs, key=lambda job: (-(job["bytes"] or 0), job["uri"]))


def known_rows(rows):
    """Returns the rows of dumps and failures by key. `rows(table)` reads a table."""
    return {tuple(str(row[name]) for name in KEYS): row for table in ("failures", "dumps") for row in rows(table)}


def copies(rows):
    """Returns how many dumps in the tables are copies of others."""
    return sum(row["status"] == "duplicate" for row in rows("dumps"))


def summary_of(listed, jobs, results, duplicates):
    failures = [result for result in results if result["status"] == "failed"]
    return Summary(listed, len(results) - len(failures), len(failures), duplicates,
                   listed - len(jobs), round(sum(r.get("seconds", 0) for r in results), 3),
                   sorted(failures, key=lambda r: [r[name] for name in KEYS]))


def _done(todo, count):
    """Runs the jobs on `count` servers and yields their results as they finish."""
    servers = queue.SimpleQueue()
    made = [Server() for _ in range(count)]
    own = threading.local()

    def do(job):
        if not hasattr(own, "server"):
            own.server = servers.get()
        return one(job, own.server)

    for server in made:
        servers.put(server)
    pool = concurrent.futures.ThreadPoolExecutor(count)
    try:
        for future in concurrent.futures.as_completed([pool.submit(do, job) for job in todo]):
            yield future.result()
    finally:
        # Also when interrupted: start no more jobs, and do not count interrupted ones as failures.
        pool.shutdown(wait=False, cancel_futures=True)
        for server in made:
            server.close()
        pool.shutdown()


def run(listing, out, *, jobs=1, pattern=PATTERN, mapping=None, settings=None, retry=False,
        keep=None, progress=None):
    """Imports the dumps of a listing into the tables in the directory `out`, each in its own process. Returns a Summary.

    listing, pattern, mapping: see read_listing.
    jobs: number of dumps to import at once.
    retry: also import dumps that failed before.
    keep: "30d" skips dumps that `prune` would remove.
    progress: function called with (done, all, result) for each dump.
    """
    need("fleet", "pyarrow")
    settings = settings or Settings()
    if local_path(out) is None:
        raise ListingError(f"{out}: not a local directory: use heapdb_jvm.spark")
    out = os.path.abspath(local_path(out))
    entries = kept(read_listing(listing, pattern, mapping, fetched=bool(settings.fetch)), keep)
    remote = [entry.uri for entry in entries if local_path(entry.uri) is None]
    if remote and not settings.fetch:
        raise ListingError(f"{remote[0]}: not a local file: use --fetch with a command that prints it, or "
                           "heapdb_jvm.spark")
    store = LocalStore(out)
    store.prepare()
    todo = jobs_of(entries, out, settings, stat, known_rows(store.rows), retry=retry)
    results = []
    try:
        for result in _done(todo, max(1, min(jobs, len(todo)))):
            results.append(result)
            if progress:
                progress(len(results), len(todo), result)
            if len(results) % _JOIN_EACH == 0:
                store.compact()
    finally:
        store.compact()
    return summary_of(len(entries), todo, results, copies(store.rows))


__all__ = ["QUERIES", "Settings", "Summary", "copies", "jobs_of", "known_rows", "open_store", "run", "stat",
           "summary_of"]

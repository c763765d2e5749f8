"""Selects the dumps of a listing that are to be imported, imports them, and counts each once."""
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

# Dumps after which a run joins what is done: a folder with too many files is slow.
_JOIN_EACH = 200

# What a run did: numbers of dumps. seconds: what the dumps took, added up.
Summary = namedtuple("Summary", "listed done failed duplicates passed_over seconds failures")


class Settings:
    """How dumps are taken.

    memory: budget of a process in bytes. threads: of a process. sizes: "vm", "mat" or "dump".
    salvage: take what can be read of a damaged dump; else it is a failure, for its numbers cannot
    be compared. queries: more tables, {"table": "query --option value"}. timeout: seconds a dump.
    work: folder for databases while they are needed, some half of the dump's size each. fetch: a shell
    command that prints a dump of the listing, with {} for its name: "aws s3 cp {} -".
    """

    def __init__(self, *, memory=0, threads=1, sizes="vm", salvage=False, queries=None, timeout=0,
                 work=None, fetch=None):
        self.memory, self.threads, self.sizes = int(memory), int(threads), sizes
        self.salvage, self.timeout, self.work, self.fetch = bool(salvage), timeout, work, fetch
        if fetch is not None and "{}" not in fetch:
            raise ListingError(f"--fetch {fetch}: {{}} is missing, for which the name of a dump is put")
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
        raise ListingError(f"{table} cannot be the name of a table of its own")
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
    """Yields the results of the jobs as they end. They are done by `count` servers."""
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
        # Also when interrupted: nothing is begun any more, and what was begun is not a failure.
        pool.shutdown(wait=False, cancel_futures=True)
        for server in made:
            server.close()
        pool.shutdown()


def run(listing, out, *, jobs=1, pattern=PATTERN, mapping=None, settings=None, retry=False,
        keep=None, progress=None):
    """Takes the dumps of a listing into the tables of the folder `out`, `jobs` at once, each in a
    process of its own, and returns a Summary. See read_listing for the listing, pattern and
    mapping. retry: also those that failed before. keep: "30d" passes over dumps of
    days before, which `prune` would remove. progress(done, all, result) is called for each.
    """
    need("fleet", "pyarrow")
    settings = settings or Settings()
    if local_path(out) is None:
        raise ListingError(f"{out}: only heapdb_jvm.spark writes to places that are not local")
    out = os.path.abspath(local_path(out))
    entries = kept(read_listing(listing, pattern, mapping, fetched=bool(settings.fetch)), keep)
    remote = [entry.uri for entry in entries if local_path(entry.uri) is None]
    if remote and not settings.fetch:
        raise ListingError(f"{remote[0]}: not a local file: name a command that prints it (--fetch), or use "
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

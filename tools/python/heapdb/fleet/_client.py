"""Who has the jobs done: each by a server that forks, see _server."""
import json
import shutil
import subprocess
import sys
import tempfile

from ._dump import Work, failure_schema, publish, work_folder
from ._listing import local_path
from ._store import KEYS, LocalStore, last_line, open_store


class Stopped(Exception):
    """The run ends: what a job that was not finished left is not looked at."""


class Server:
    """A server process, started when it is needed first, and again after it died. For one thread, the
    one that asks first: the system ends the server with that. close() may be called by any.
    """

    def __init__(self):
        self.process = self.errors = None
        self.is_closed = False

    def _start(self):
        self.errors = tempfile.TemporaryFile()
        # A group of its own: an interrupt of the terminal is for who started the run.
        self.process = subprocess.Popen([sys.executable, "-m", "heapdb.fleet._server"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, start_new_session=True)

    def ask(self, job):
        """{"ok": row} or {"failure": row}."""
        if not self.process:
            self._start()
        try:
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except (BrokenPipeError, ValueError):
            line = b""
        if self.is_closed:
            raise Stopped
        if line.endswith(b"\n"):
            return json.loads(line)
        code = self.process.wait()
        self.errors.seek(0)
        text = f"the process ended with {code}: {last_line(self.errors.read())}"
        self.process = None
        return {"failure": {"code": "died", "error": text, "is_system": code == -9}}

    def close(self):
        """Ends the server, and what it does."""
        self.is_closed = True
        if self.process:
            self.process.kill()
            self.process.wait()


def one(job, server):
    """Has a job done, and says what became of it: a dict with the job's key.

    What the server reports, and that it died, becomes a row of failures; only what keeps that row
    from being written is raised.
    """
    key = {name: job[name] for name in KEYS}
    result = server.ask(job)
    if "ok" in result:
        return {**key, "status": "ok", "seconds": result["ok"]["seconds"]}
    failure = result["failure"]
    row = {"uri": job["uri"], "bytes": job["bytes"], "modified": job["modified"],
           "settings": job["settings"], **failure}
    folder = work_folder(job)
    try:
        work = Work(job, folder)
        publish(job, open_store(job["out"], job["hadoop"], folder), work, "failures",
                failure_schema(), row)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {**key, "status": "failed", **failure}


_own = Server()


def all_here(jobs):
    """The same for several, with this process's own server, which stays for the next ones: for Spark's
    workers. Jobs that are done already, by a worker that was lost, are not done again.
    """
    return [done_before(job) or one(job, _own) for job in jobs]


def done_before(job):
    """What `one` said of a job, if a local table says that it was done; else None."""
    path = local_path(job["out"])
    row = LocalStore(path).row("dumps", job) if path is not None else None
    if not row or row["status"] != "counted" or any(
            row[name] != job[name] for name in ("uri", "bytes", "modified", "settings", "mapping")):
        return None
    return {**{name: job[name] for name in KEYS}, "status": "ok", "seconds": row["seconds"]}

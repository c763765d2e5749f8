"""python -m heapdb_jvm.fleet._server: runs jobs, each in a fork that already has everything loaded.

A job is one line of JSON on standard input, and its result one line on standard output: {"ok": row of the table dumps}
or {"failure": row of the table failures}. The server ends when its standard input ends, on SIGTERM, or with the process
that started it, and removes its temporary files. Standard error is a file with the output of the last job.
"""
import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import sys
import time
import traceback

# Use malloc: Arrow's other memory pools may have a background thread, which a fork does not inherit.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

from ._dump import Work, dump_schema, failure_of, last_line, publish, signed  # noqa: E402
from ._folder import Folder, places, sweep  # noqa: E402
from ._store import LocalStore, open_store  # noqa: E402


def die_with_parent(how):
    """Lets the system send this process a signal when its parent ends (Linux)."""
    parent = os.getppid()
    try:
        ctypes.CDLL(None).prctl(1, how)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)


def load():
    """Loads what jobs need, and triggers pyarrow's slow first-time initialisation once."""
    import heapdb_jvm  # noqa: F401
    import pyarrow.parquet
    schema = pyarrow.schema([("text", pyarrow.string()), ("number", pyarrow.int64())])
    names = pyarrow.array(["a"]).dictionary_encode()
    table = pyarrow.table({"text": names, "number": pyarrow.array([1], pyarrow.uint64())})
    pyarrow.parquet.write_table(signed(table, schema), pyarrow.BufferOutputStream(),
                                compression="zstd")
    # Exclude all present objects from garbage collection, so that forks do not touch and copy their pages.
    gc.collect()
    gc.freeze()


def work_of(job, folder):
    """Does a job and returns its answer."""
    try:
        work = Work(job, folder)
        row = work.run()
        publish(job, open_store(job["out"], job["hadoop"], folder), work, "dumps", dump_schema(), row)
        return {"ok": row}
    except Exception as error:  # any error becomes the row of this dump
        return {"failure": failure_of(error)}


def in_fork(job, folder, answer):
    """Body of the fork; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        die_with_parent(signal.SIGKILL)
        os.setpgid(0, 0)  # so that the job's own child processes are killed with it
        os.dup2(2, 1)  # standard output belongs to the server's protocol
        data = json.dumps(work_of(job, folder)).encode()
        while data:
            data = data[os.write(answer, data):]
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        # Skip destructors: the thread of an unread _Feed could block them.
        os._exit(code)


@contextlib.contextmanager
def may_end():
    """Allows termination of this process only while it waits, so that it can remove its temporary files."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])


def read_all(pipe, seconds):
    """Returns everything that a fork writes until it ends; None if that takes too long."""
    ends, data = time.monotonic() + seconds if seconds else None, b""
    while True:
        left = None if ends is None else max(0, ends - time.monotonic())
        with may_end():
            if not select.select([pipe], [], [], left)[0]:
                return None
        piece = os.read(pipe, 65536)
        if not piece:
            return data
        data += piece


def end_of(child, is_left):
    """Waits for a fork, killing it first if it is still running. Returns its exit code, or minus the signal."""
    if not is_left:
        for kill in (os.killpg, os.kill):  # the process may not have its own group yet
            try:
                kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def do(job, folder):
    """Runs a job in a fork and returns its result."""
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)
    pipe, answer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(pipe)
        in_fork(job, folder, answer)
    data = code = None
    try:
        os.close(answer)
        data = read_all(pipe, job["timeout"])
    finally:
        os.close(pipe)
        code = end_of(child, data is not None)
        if code:
            store = open_store(job["out"], job["hadoop"], folder)
            if isinstance(store, LocalStore):
                sweep(store.incoming)  # what the fork was writing
    if data is None:
        return {"failure": {"code": "timeout", "is_system": False,
                            "error": f"took longer than {job['timeout']} s"}}
    try:
        return json.loads(data) if code == 0 else died(code, os.pread(2, 1 << 16, 0))
    except ValueError:
        return died(code, os.pread(2, 1 << 16, 0))


def serve(job):
    """Does a job. If it fails because of the system, for example because memory ran out, tries the next place, which
    is on a disk."""
    answer = None
    for place in places(job):
        try:
            with Folder(place) as folder:
                answer = do(job, folder)
        except OSError as error:
            answer = {"failure": failure_of(error)}
        if not answer.get("failure", {}).get("is_system"):
            break
    return answer


def died(code, errors):
    return {"failure": {"code": "died", "is_system": code == -signal.SIGKILL,
                        "error": f"the process ended with {code}: {last_line(errors)}"}}


def end(*_):
    sys.exit(128 + signal.SIGTERM)


def main():
    signal.signal(signal.SIGTERM, end)
    die_with_parent(signal.SIGTERM)
    load()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    while True:
        with may_end():
            line = sys.stdin.readline()
        if not line:
            break
        print(json.dumps(serve(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

"""python -m heapdb.fleet._server: does jobs, each in a fork of itself that has everything loaded.

A job is a line of JSON on standard input, its answer a line on standard output: {"ok": the row of the
table dumps}, {"failure": what the table failures says of it}. Ends with its standard input, or with
the process that started it. Standard error is a file, which has what the last job wrote.
"""
import ctypes
import gc
import json
import os
import select
import shutil
import signal
import sys
import time
import traceback

# The pool of glibc: another one would have a thread, and threads are not there in a fork.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

from ._dump import (Work, dump_schema, failure_of, last_line, publish, signed,  # noqa: E402
                    work_folder)
from ._store import open_store  # noqa: E402


def die_with_parent():
    """Lets the system end this process when the one that started it ends (Linux)."""
    parent = os.getppid()
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)


def load():
    """Loads what jobs need, and has pyarrow do once what takes it long the first time."""
    import heapdb  # noqa: F401
    import pyarrow.parquet
    schema = pyarrow.schema([("text", pyarrow.string()), ("number", pyarrow.int64())])
    names = pyarrow.array(["a"]).dictionary_encode()
    table = pyarrow.table({"text": names, "number": pyarrow.array([1], pyarrow.uint64())})
    pyarrow.parquet.write_table(signed(table, schema), pyarrow.BufferOutputStream(),
                                compression="zstd")
    # What is there now stays: forks need not look through it, nor copy it.
    gc.collect()
    gc.freeze()


def work_of(job):
    """Does a job: its answer."""
    folder = work_folder(job)
    try:
        work = Work(job, folder)
        row = work.run()
        publish(job, open_store(job["out"], job["hadoop"], folder), work, "dumps", dump_schema(), row)
        return {"ok": row}
    except Exception as error:  # whatever it is, it is this dump's row
        return {"failure": failure_of(error)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def in_fork(job, answer):
    """What the fork does: never returns."""
    code = 1
    try:
        die_with_parent()
        os.dup2(2, 1)  # the standard output is the server's
        data = json.dumps(work_of(job)).encode()
        while data:
            data = data[os.write(answer, data):]
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        # Not by way of destructors: a feed that nobody reads may wait.
        os._exit(code)


def read_all(pipe, seconds):
    """What a fork writes until it ends; None if that takes longer."""
    ends, data = time.monotonic() + seconds if seconds else None, b""
    while True:
        left = None if ends is None else max(0, ends - time.monotonic())
        if not select.select([pipe], [], [], left)[0]:
            return None
        piece = os.read(pipe, 65536)
        if not piece:
            return data
        data += piece


def serve(job):
    """Has a job done, and says what became of it."""
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)
    pipe, answer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(pipe)
        in_fork(job, answer)
    os.close(answer)
    data = read_all(pipe, job["timeout"])
    os.close(pipe)
    if data is None:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if data is None:
        return {"failure": {"code": "timeout", "is_system": False,
                            "error": f"took longer than {job['timeout']} s"}}
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    try:
        return json.loads(data) if code == 0 else died(code, os.pread(2, 1 << 16, 0))
    except ValueError:
        return died(code, os.pread(2, 1 << 16, 0))


def died(code, errors):
    return {"failure": {"code": "died", "is_system": code == -signal.SIGKILL,
                        "error": f"the process ended with {code}: {last_line(errors)}"}}


def main():
    die_with_parent()
    load()
    for line in sys.stdin:
        print(json.dumps(serve(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

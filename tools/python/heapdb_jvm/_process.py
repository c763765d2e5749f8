"""The commands growth and memory as functions that return dictionaries."""
import ctypes
import json
import os
from ctypes import byref

from . import _library as c
from ._database import _Progress


def _ask(call):
    """Calls a function that produces JSON and returns the parsed answer. Ctrl-C cancels the call."""
    if not c.HAS_PROCESSES:
        raise c.UsageError("this library cannot read series or processes: use the library of the wheel", -1)
    watch, text, error = _Progress(False), ctypes.c_void_p(), c.Error()
    c.check(watch.run(lambda: call(watch.cancel, byref(text), byref(error))), error)
    try:
        return json.loads(ctypes.string_at(text.value))
    finally:
        c.lib.hdbpy_free(text)


def _paths(paths):
    return (ctypes.c_char_p * len(paths))(*map(os.fsencode, paths))


def growth(*series):
    """Finds steady growth in series written by `heapdb watch`. Returns what `heapdb growth --json` prints.

        for row in heapdb_jvm.growth("series.jsonl")["rows"]:
            if row["grows"]:
                print(row["name"], row["hourly_delta"], row["since"])

    series: files, or directories that contain them. "facts" has the summary; "rows" has the heap of each JVM and
    the growing classes.
    """
    if not series:
        raise c.UsageError("missing argument: a series file or its directory", -1)
    return _ask(lambda cancel, text, error: c.lib.hdbpy_growth(_paths(series), len(series), text, error))


def memory(*sources, database=None):
    """Divides the memory of a JVM into parts that add up to its RSS. Returns what `heapdb memory --json` prints.

        account = heapdb_jvm.memory(4711)
        {row["part"]: row["resident"] for row in account["rows"] if row["detail"] is None}

    sources: the process ID of a running JVM, or paths of /proc/PID/smaps and of saved output of jcmd
    (VM.native_memory, VM.info, System.map, System.native_heap_info). database: an open Database with a dump of
    the process, for buffers outside the heap.
    """
    pids = [source for source in sources if isinstance(source, int)]
    files = [source for source in sources if not isinstance(source, int)]
    if len(pids) > 1 or not sources:
        raise c.UsageError("expected one process ID, or files", -1)
    handle = database._check_open() or database._handle if database is not None else None
    return _ask(lambda cancel, text, error: c.lib.hdbpy_memory(
        pids[0] if pids else 0, _paths(files), len(files), handle, byref(cancel), text, error))

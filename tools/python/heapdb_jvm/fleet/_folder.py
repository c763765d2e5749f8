"""Temporary directories of jobs, removed even after the process that created them was killed."""
import fcntl
import os
import shutil
import tempfile

from ._listing import local_path

_PREFIX = "heapdb-fleet-"
_MEMORY = "/dev/shm"
# Largest dump that is processed in memory. Its database takes half the dump's size, and the tables for queries take
# less than the database. On a busy disk, removing the temporary directory alone takes longer than the whole job in
# memory.
_MOST_BYTES = 64 << 20
_PART_OF_BUDGET = 4  # the memory budget must be this many times the dump's size
_PART_OF_MEMORY = 16  # so must the free memory, because other jobs need some, too
_MAGIC = b"JAVA PROFILE"  # the file must be uncompressed: otherwise the size of the heap is unknown
_swept = set()


def _fits_in_memory(job):
    path, size = None if job["fetch"] else local_path(job["uri"]), job["bytes"]
    if path is None or not size or size > _MOST_BYTES or \
            0 < job["memory"] < size * _PART_OF_BUDGET:
        return False
    try:
        free = os.statvfs(_MEMORY)
        with open(path, "rb") as f:
            return f.read(len(_MAGIC)) == _MAGIC and \
                free.f_bavail * free.f_frsize >= size * _PART_OF_MEMORY
    except OSError:
        return False


def _on_disk():
    """Returns Spark's directory for temporary files, or else the system's."""
    for name in ("LOCAL_DIRS", "SPARK_LOCAL_DIRS"):
        folder = os.environ.get(name, "").split(",")[0]
        if os.path.isdir(folder):
            return folder
    return tempfile.gettempdir()


def places(job):
    """Returns the directories in which a job may run. After a system error the next one is tried."""
    if job["work"]:
        return [job["work"]]
    return [_MEMORY, _on_disk()] if _fits_in_memory(job) else [_on_disk()]


def sweep(place):
    """Removes the directories of killed processes, which are those without a lock."""
    try:
        entries = list(os.scandir(place))
    except OSError:
        return  # creating the directory will report the error
    for entry in entries:
        try:
            if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False) or \
                    entry.stat(follow_symlinks=False).st_uid != os.getuid():
                continue
            lock = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(entry.path, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(lock)


class Folder:
    """Context manager for a new temporary directory."""

    def __init__(self, place):
        if place not in _swept:
            _swept.add(place)
            sweep(place)
        while True:
            self.path = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
            try:
                self.lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                continue  # another process removed it before it was locked
            # Child processes inherit the lock.
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            if os.path.isdir(self.path):
                break
            os.close(self.lock)  # removed between open and lock

    def __enter__(self):
        return self.path

    def __exit__(self, *error):
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)

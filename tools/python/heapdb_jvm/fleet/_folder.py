"""Folders for what a job needs while it is done, which are gone when the process is that made them."""
import fcntl
import os
import shutil
import tempfile

from ._listing import local_path

_PREFIX = "heapdb-fleet-"
_MEMORY = "/dev/shm"
# What is made in memory: the database of a dump has half of its size, and what is made for the
# questions less than that again. Taking a folder of a disk away, where others write, takes longer
# than all that was done in it.
_MOST_BYTES = 64 << 20
_PART_OF_BUDGET = 4  # of a process that has one
_PART_OF_MEMORY = 16  # of what is free there: others have theirs
_MAGIC = b"JAVA PROFILE"  # compressed dumps say nothing about the size of what comes of them
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
    """Where Spark keeps what it needs for a while, else where everybody does."""
    for name in ("LOCAL_DIRS", "SPARK_LOCAL_DIRS"):
        folder = os.environ.get(name, "").split(",")[0]
        if os.path.isdir(folder):
            return folder
    return tempfile.gettempdir()


def places(job):
    """Where a job may be done: the next one if the system fails in the one before."""
    if job["work"]:
        return [job["work"]]
    return [_MEMORY, _on_disk()] if _fits_in_memory(job) else [_on_disk()]


def sweep(place):
    """Removes the folders of processes that were killed: those that nobody has locked."""
    try:
        entries = list(os.scandir(place))
    except OSError:
        return  # what is wrong with the place, the folder itself will say
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
    """A new folder at a place, `path`, for a with statement."""

    def __init__(self, place):
        if place not in _swept:
            _swept.add(place)
            sweep(place)
        while True:
            self.path = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
            try:
                self.lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                continue  # swept away by another before it was locked
            # Held by the processes that come from this one, too.
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            if os.path.isdir(self.path):
                break
            os.close(self.lock)  # the same, but later

    def __enter__(self):
        return self.path

    def __exit__(self, *error):
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)

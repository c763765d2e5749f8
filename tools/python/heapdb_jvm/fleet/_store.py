"""The storage of the tables: a local or shared directory, or a location in a Hadoop file system.

The answers about a dump arrive as one archive in the directory .incoming. `compact` merges archives into
TABLE/day=D/part-N.parquet. Several runs may add archives at once, but only one at a time merges them.
"""
import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import tempfile
import time

from ._folder import Folder, sweep
from ._listing import local_path

DATA = ("totals", "histogram", "owners", "leaks", "triage", "threads", "waste")
TABLES = ("dumps", "failures") + DATA
KEYS = ("app", "build", "day", "dump")
# Spark and DuckDB ignore directories whose names begin with a dot.
INCOMING = ".incoming"
_LOCK_MS = 3600 * 1000
_ARGUMENTS = 500  # maximum number of files per call of Hadoop's shell


def hash_of(key):
    """Returns a hash that distinguishes the archives of a dump from those of others."""
    return hashlib.sha1("/".join(key[name] for name in KEYS).encode()).hexdigest()[:20]


def archive_name(key):
    """Returns the name of an archive. The archives of one dump sort in the order in which they were made."""
    return f"{hash_of(key)}-{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}.zip"


def day_of(file):
    """Returns the day of a table's file."""
    return os.path.dirname(file).rsplit("day=", 1)[1]


def last_dumps(table):
    """Sort key: tables in the order in which they are written. The tables that count dumps come last."""
    return (table in ("dumps", "failures"), table)


class LocalStore:
    """A directory. A file appears under its name only when it is complete."""

    def __init__(self, root):
        self.root, self.incoming = root, os.path.join(root, INCOMING)

    def prepare(self):
        """Creates the directory, and merges the archives that a killed run left."""
        old = glob.glob(os.path.join(glob.escape(self.root), "*", "app=*"))
        if old:
            raise FileExistsError(f"{self.root} has tables of an earlier version of heapdb: use a new directory, "
                                  "or remove these")
        os.makedirs(self.incoming, exist_ok=True)
        sweep(self.incoming)
        self.compact()

    def add(self, archive, key):
        """Adds the archive of a dump for `compact`. Archives never replace one another, so a process that has merged an
        archive can remove it without checking for a newer one.
        """
        os.makedirs(self.incoming, exist_ok=True)
        with Folder(self.incoming) as folder:
            copy = os.path.join(folder, "rows")
            shutil.copyfile(archive, copy)
            os.rename(copy, os.path.join(self.incoming, archive_name(key)))

    def waiting(self, key):
        """Returns the row of the table dumps in the newest archive of a dump; None if there is none."""
        from ._compact import Archive
        for file in sorted(glob.glob(os.path.join(glob.escape(self.incoming), hash_of(key) + "-*.zip")),
                           reverse=True):
            archive = Archive.open(file)
            table = archive and archive.table("dumps")
            if table:
                return table.to_pylist()[0]
        return None

    def compact(self):
        """Merges the waiting archives into the files of tables."""
        from ._compact import compact
        with self.lock():
            compact(self)

    @contextlib.contextmanager
    def lock(self):
        """Lock for replacing or removing files of tables: one process at a time."""
        os.makedirs(self.incoming, exist_ok=True)
        file = os.open(os.path.join(self.incoming, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)

    def files(self, table, day="*"):
        """Returns the files of a table, or of one day of it, in order."""
        day = day if day == "*" else glob.escape(day)
        return sorted(glob.glob(os.path.join(glob.escape(self.root), table, "day=" + day, "part-*.parquet")))

    def tables(self):
        """Returns all tables that have files."""
        return sorted({os.path.relpath(file, self.root).split(os.sep)[0] for file in self.files("*")})

    def rows(self, table):
        """Returns the rows of a table as dicts, including the day, which is recorded only in directory names."""
        import pyarrow.parquet
        for file in self.files(table):
            for row in pyarrow.parquet.ParquetFile(file).read().to_pylist():
                yield {**row, "day": day_of(file)}


class HadoopStore:
    """A location in any file system that Hadoop supports, accessed through Hadoop's shell with one JVM per call."""

    def __init__(self, root, shell):
        self.root, self.shell = root.rstrip("/"), shell

    def prepare(self):
        self.shell.run("-mkdir", "-p", f"{self.root}/{INCOMING}")
        self.compact()

    def add(self, archive, key):
        # The shell gives the file its final name when it is complete.
        self.shell.run("-put", archive, f"{self.root}/{INCOMING}/{archive_name(key)}")

    def compact(self):
        """Merges the archives in a local copy of the files that change. While another run does so, they wait for the
        next run."""
        lock = f"{self.root}/{INCOMING}/lock"
        names = self.shell.run("-ls", "-C", f"{self.root}/{INCOMING}").decode().splitlines()
        if not any(name.endswith(".zip") for name in names) or not self._take(lock):
            return
        try:
            with tempfile.TemporaryDirectory(prefix="heapdb-", dir=self.shell.folder) as folder:
                self._compact(LocalStore(folder))
        finally:
            self.shell.run("-rm", "-r", "-f", "-skipTrash", lock)

    def _take(self, lock):
        """Takes the lock by creating a directory, which only one process can do. A directory older than an hour was
        left by a killed run."""
        for _ in range(2):
            try:
                self.shell.run("-mkdir", lock)
                return True
            except OSError:
                made = self.shell.run("-stat", "%Y", lock).decode().strip()
                if time.time() * 1000 - int(made) < _LOCK_MS:
                    return False
                self.shell.run("-rm", "-r", "-f", "-skipTrash", lock)
        return False

    def _compact(self, local):
        from ._compact import compact
        os.makedirs(local.incoming)
        self.shell.run("-get", f"{self.root}/{INCOMING}/*.zip", local.incoming + "/")
        archives = os.listdir(local.incoming)
        there = self.shell.run("-ls", "-C", f"{self.root}/*").decode().splitlines()
        folders = [name for name in there if "/day=" in name]

        def get(tables, days):
            for table in tables:
                wanted = [f for f in folders if f.split("/")[-2] == table and
                          (days is None or f.rsplit("day=", 1)[1] in days)]
                os.makedirs(os.path.join(local.root, table), exist_ok=True)
                missing = [f for f in wanted if not os.path.isdir(
                    os.path.join(local.root, table, f.rsplit("/", 1)[1]))]
                if missing:
                    self.shell.run("-get", *missing, os.path.join(local.root, table) + "/")

        # All days of the table dumps are needed to find copies.
        get(["dumps"], None)
        made = compact(local, lambda days: get({f.split("/")[-2] for f in folders}, days))
        gone = [f for f in made if not os.path.exists(f)]
        for file in local.files("*"):
            if file not in made:
                os.unlink(file)
        for is_last in (False, True):
            tables = [table for table in local.tables() if last_dumps(table)[0] == is_last]
            if tables:
                self.shell.run("-put", "-f", *(os.path.join(local.root, table) for table in tables), self.root + "/")
        if gone:
            self.shell.run("-rm", "-f", "-skipTrash",
                           *(f"{self.root}/{os.path.relpath(file, local.root)}" for file in gone))
        for start in range(0, len(archives), _ARGUMENTS):
            self.shell.run("-rm", "-f", "-skipTrash", *(
                f"{self.root}/{INCOMING}/{name}" for name in archives[start:start + _ARGUMENTS]))


class Shell:
    """Hadoop's file system shell, run from the jars of Spark.

    settings: the job's own Hadoop configuration (spark.hadoop.*). It is written to a directory that only this user can
    read, because it may contain secrets.
    """

    def __init__(self, settings, folder):
        self.settings, self.folder = settings, folder

    def command(self, *arguments):
        home = os.environ.get("SPARK_HOME")
        if not home:
            import pyspark
            home = os.path.dirname(pyspark.__file__)
        java = os.environ.get("JAVA_HOME")
        path = [self._configuration(), os.environ.get("HADOOP_CONF_DIR", ""), "./*", "./",
                os.path.join(home, "jars", "*"), os.environ.get("SPARK_DIST_CLASSPATH", "")]
        return [os.path.join(java, "bin", "java") if java else "java", "-Xmx256m",
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp",
                ":".join(p for p in path if p), "org.apache.hadoop.fs.FsShell", *arguments]

    def _configuration(self):
        folder = os.path.join(self.folder, "hadoop")
        if not os.path.isdir(folder):
            os.makedirs(folder, mode=0o700)
            from xml.sax.saxutils import escape
            with open(os.path.join(folder, "core-site.xml"), "w", encoding="utf-8") as f:
                f.write("<configuration>\n" + "".join(
                    f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
                    for name, value in self.settings.items()) + "</configuration>\n")
        return folder

    def run(self, *arguments):
        done = subprocess.run(self.command(*arguments), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise OSError(f"hadoop fs {' '.join(arguments)}: {last_line(done.stderr)}")
        return done.stdout


def last_line(data):
    """Returns the line of an error output that describes the error."""
    lines = [line for line in data.decode("utf-8", "replace").splitlines()
             if line.strip() and " WARN " not in line and " INFO " not in line and
             not line.startswith("SLF4J")]
    return lines[-1].strip() if lines else "no message"


def open_store(out, settings, folder):
    """Returns the store of an output location: a path, a file: URI, or a URI of another scheme."""
    path = local_path(out)
    return LocalStore(path) if path is not None else HadoopStore(out, Shell(settings, folder))

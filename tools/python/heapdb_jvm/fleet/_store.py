"""Where the tables are: a folder that all executors see, or a place of a Hadoop file system."""
import glob
import os
import re
import shutil
import subprocess
from urllib.parse import unquote

from ._listing import local_path

DATA = ("totals", "histogram", "leaks", "triage", "threads", "waste")
TABLES = ("dumps", "failures") + DATA
KEYS = ("app", "build", "day", "dump")
PART = "part-0.parquet"
_MAGIC = b"PAR1"  # what a Parquet file ends with
_ESCAPED = re.compile(r'[\x00-\x1f"#%\'*/:=?\x7f{\[\]^\\]')


def quote(value):
    """A value in the name of a partition's folder, as Hive and Spark escape it."""
    return _ESCAPED.sub(lambda m: f"%{ord(m[0]):02X}", value)


def place(table, key):
    """"histogram/app=a/build=b/day=d/dump=n"."""
    return "/".join([table] + [f"{name}={quote(key[name])}" for name in KEYS])


def tables_of(job):
    """All tables in which a dump can have rows."""
    return TABLES + tuple(job["queries"])


class LocalStore:
    """A folder. A file appears whole, under its name, or not at all."""

    def __init__(self, root):
        self.root = root

    def prepare(self):
        """Makes the place, and removes what a process that was killed left there."""
        for file in glob.glob(os.path.join(glob.escape(self.root), "*", "*=*", "*=*", "*=*", "*=*",
                                           f".{PART}.*.tmp")):
            os.unlink(file)

    def put(self, tree, tables, key):
        """Moves a dump's files from the folder `tree` to their places, in the order of tables."""
        for table in tables:
            source = os.path.join(tree, place(table, key), PART)
            if not os.path.exists(source):
                continue
            target = os.path.join(self.root, place(table, key), PART)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            beside = self._beside(table, key, os.getpid())
            shutil.copyfile(source, beside)
            os.replace(beside, target)

    def _beside(self, table, key, process):
        # Spark and DuckDB see no file whose name begins with a dot.
        return os.path.join(self.root, place(table, key), f".{PART}.{process}.tmp")

    def forget(self, tables, key, process):
        """Removes what a process that was killed was writing."""
        for table in tables:
            try:
                os.unlink(self._beside(table, key, process))
            except OSError:
                pass

    def drop(self, tables, key):
        for table in tables:
            folder = os.path.join(self.root, place(table, key))
            shutil.rmtree(folder, ignore_errors=True)
            for _ in KEYS[1:]:
                folder = os.path.dirname(folder)
                try:
                    os.rmdir(folder)
                except OSError:
                    break

    def row(self, table, key):
        """The row of a table that has one for each dump; None if there is none."""
        import pyarrow
        import pyarrow.parquet
        file = os.path.join(self.root, place(table, key), PART)
        try:
            return pyarrow.parquet.ParquetFile(file).read().to_pylist()[0]
        except (FileNotFoundError, pyarrow.ArrowInvalid):
            return None

    def rows(self, table):
        """The rows of a table that has one for each dump, as dicts, with the values that the names of
        folders have.
        """
        found = []
        pattern = os.path.join(glob.escape(self.root), table, *(f"{name}=*" for name in KEYS), PART)
        for file in sorted(glob.glob(pattern)):
            names = os.path.relpath(file, self.root).split(os.sep)[1:-1]
            key = dict(name.split("=", 1) for name in names)
            key = {name: unquote(value) for name, value in key.items()}
            # Of one file, not of a data set: what folders are called is no column here.
            row = self.row(table, key)
            if row:
                found.append({**row, **key})
        return found

    def is_whole(self, tables, key):
        """False if a file of a dump is not there, or has lost its end: nothing waits for the disk when
        they are written, so that those of a machine that stopped can be empty.
        """
        for table in tables:
            try:
                with open(os.path.join(self.root, place(table, key), PART), "rb") as f:
                    f.seek(-len(_MAGIC), os.SEEK_END)
                    if f.read() != _MAGIC:
                        return False
            except OSError:
                return False
        return True


class HadoopStore:
    """A place of any file system that Hadoop knows, by way of its shell: a JVM a call."""

    def __init__(self, root, shell):
        self.root, self.shell = root.rstrip("/"), shell

    def prepare(self):
        self.shell.run("-mkdir", "-p", self.root)

    def put(self, tree, tables, key):
        """Two calls, for a JVM takes its time: all but the last table, then that."""
        for part in (tables[:-1], tables[-1:]):
            folders = [os.path.join(tree, table) for table in part]
            folders = [folder for folder in folders if os.path.isdir(folder)]
            if folders:
                self.shell.run("-put", "-f", *folders, self.root + "/")

    def forget(self, tables, key, process):
        """Nothing: Hadoop's shell has names of its own for what it is writing, which Spark passes over."""

    def drop(self, tables, key):
        self.shell.run("-rm", "-r", "-f", "-skipTrash",
                       *(f"{self.root}/{place(table, key)}" for table in tables))


class Shell:
    """Hadoop's file system shell, of the jars that Spark brings.

    settings: what the job's configuration says beyond the machine's own files (spark.hadoop.*); it
    goes into a file that only this user can read.
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
    """The line of an error output that says what happened."""
    lines = [line for line in data.decode("utf-8", "replace").splitlines()
             if line.strip() and " WARN " not in line and " INFO " not in line and
             not line.startswith("SLF4J")]
    return lines[-1].strip() if lines else "no message"


def open_store(out, settings, folder):
    """The store of an output place: a path or file: URI, or a URI of another scheme."""
    path = local_path(out)
    return LocalStore(path) if path is not None else HadoopStore(out, Shell(settings, folder))

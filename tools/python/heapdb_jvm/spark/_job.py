"""The Spark job. Each task imports a few dumps in separate processes on an executor."""
import concurrent.futures
import os
import re
import tempfile
import uuid

from .. import fleet
from ..fleet._client import all_here
from ..fleet._listing import PATTERN, ListingError, local_path, read_listing
from ..fleet._prune import days_of, first_day, kept, old
from ..fleet._run import Settings, copies, jobs_of, known_rows, stat, summary_of
from ..fleet._store import LocalStore, open_store

_MIB = 1 << 20
_LEAST = 64 * _MIB
# Bytes of dumps per task. The minimum keeps the start-up cost of a task small in comparison. The maximum leaves enough
# tasks for many executors; larger dumps have their own task.
_TASK_LEAST, _TASK_MOST = 8 * _MIB, 64 * _MIB
# Approximate number of tasks per core. The last tasks are small, so that no core waits long for another.
_TASKS_EACH = 3


def _bytes(text, unit=_MIB):
    """Converts "4g" to bytes. A number without a unit is in `unit`, as in Spark's memory settings."""
    found = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)i?b?\s*", str(text).lower())
    if not found:
        raise ValueError(f"{text}: expected an amount of memory such as 4g")
    return int(found[1]) * (1 << 10 * "kmgt".find(found[2]) + 10 if found[2] else unit)


def memory_of(spark):
    """Returns the memory budget of a process: the executor's memory outside its JVM, divided by the number of tasks
    that run at once.
    """
    conf = spark.sparkContext.getConf()
    heap = _bytes(conf.get("spark.executor.memory", "1g"))
    factor = float(conf.get("spark.executor.memoryOverheadFactor", "0.1"))
    least = _bytes(conf.get("spark.executor.minMemoryOverhead", "384m"))
    beside = conf.get("spark.executor.memoryOverhead")
    beside = _bytes(beside) if beside else max(least, int(heap * factor))
    cores = conf.get("spark.executor.cores")
    found = re.match(r"local-cluster\[\s*\d+\s*,\s*(\d+)", conf.get("spark.master", ""))
    cores = int(cores or (found[1] if found else 1))
    return max(_LEAST, beside // max(1, cores // threads_of(spark)))


def threads_of(spark):
    return int(spark.sparkContext.getConf().get("spark.task.cpus", "1"))


def batches_of(jobs, cores):
    """Divides the jobs, which are sorted by size, into lists, one per task. Later lists are smaller."""
    left, batches = sum(job["bytes"] or 0 for job in jobs), []
    size = limit = 0
    for job in jobs:
        if not batches or size >= limit:
            batches.append([])
            size = 0
            limit = min(_TASK_MOST, max(_TASK_LEAST, left // (cores * _TASKS_EACH)))
        batches[-1].append(job)
        # A dump of unknown size is remote, so reading it takes some time.
        size += job["bytes"] if job["bytes"] is not None else _TASK_LEAST
        left -= job["bytes"] or 0
    return batches


def hadoop_settings(spark):
    """Returns the job's Hadoop configuration beyond the machines' own files."""
    prefix = "spark.hadoop."
    return {name[len(prefix):]: value for name, value in spark.sparkContext.getConf().getAll()
            if name.startswith(prefix)}


class _Files:
    """The driver's view of Hadoop's file systems."""

    def __init__(self, spark):
        self.jvm = spark.sparkContext._jvm
        self.configuration = spark.sparkContext._jsc.hadoopConfiguration()

    def _open(self, uri):
        path = self.jvm.org.apache.hadoop.fs.Path(uri)
        return path.getFileSystem(self.configuration), path

    def stat(self, uri):
        """Returns size and modification time of a file; None if it cannot be examined."""
        if local_path(uri) is not None:
            return stat(uri)
        from py4j.protocol import Py4JJavaError
        try:
            system, path = self._open(uri)
            found = system.getFileStatus(path)
            return found.getLen(), found.getModificationTime()
        except Py4JJavaError:
            return None, None

    def glob(self, pattern):
        system, path = self._open(pattern)
        return sorted(str(found.getPath()) for found in system.globStatus(path) or ())

    def exists(self, uri):
        system, path = self._open(uri)
        return system.exists(path)

    def remove(self, uri):
        """Removes a directory with all its contents."""
        system, path = self._open(uri)
        system.delete(path, True)


def _listing(spark, files, listing):
    """Reads a listing that is not local in the form that read_listing accepts."""
    if isinstance(listing, (str, os.PathLike)) and local_path(os.fspath(listing)) is None:
        if re.search(r"[*?\[{]", listing):
            return files.glob(listing)
    return listing


def _rows_of(spark, files, out):
    """Returns a function that reads the rows of dumps or failures at a location that is not local."""
    def rows(table):
        if not files.exists(f"{out}/{table}"):
            return []
        from ._report import read_table
        return [row.asDict() for row in read_table(spark, out, table).collect()]
    return rows


def _collect(spark, data, description):
    """Returns the elements of an RDD. They are collected in another thread because interrupt handlers, including
    PySpark's own, must talk to the JVM, and a thread that is waiting for the JVM cannot.
    """
    from pyspark import inheritable_thread_target
    context, tag = spark.sparkContext, f"heapdb-{uuid.uuid4()}"

    def collect():
        context.setJobDescription(description)
        context.addJobTag(tag)
        return data.collect()

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        inheriting = inheritable_thread_target(spark)  # without pinned threads this is the session itself
        found = pool.submit(inheriting(collect) if callable(inheriting) else collect)
        try:
            return found.result()
        except BaseException:
            if not found.done():
                context.cancelJobsWithTag(tag)
            raise


def run(listing, out, *, spark=None, pattern=PATTERN, mapping=None, settings=None, retry=False,
        keep=None, progress=None):
    """Imports the dumps of a listing into the tables at `out`, on the executors of a Spark session. Returns a
    fleet.Summary.

    The arguments are those of fleet.run. The listing, the dumps, mapping files and `out` can be URIs of any file system
    that the executors' Hadoop supports ("s3a://...", "hdfs://..."). Plain paths and file: URIs are paths on the
    executors; as `out` they need a file system shared by all of them. By default the memory budget of a process is its
    share of the executor's memory outside the JVM. progress(done, all, result) is called only after the end of the job;
    until then Spark shows its own progress.
    """
    from pyspark.sql import SparkSession
    spark = spark or SparkSession.builder.appName("heapdb fleet").getOrCreate()
    context, files = spark.sparkContext, _Files(spark)
    settings = settings or Settings(threads=threads_of(spark))
    settings.memory = settings.memory or memory_of(spark)
    hadoop = hadoop_settings(spark)

    def read(uri):
        return "\n".join(context.textFile(uri).collect())

    entries = kept(read_listing(_listing(spark, files, listing), pattern, mapping, read, bool(settings.fetch)), keep)
    path = local_path(out)
    if path is not None:
        out = os.path.abspath(path)
        store = LocalStore(out)
        rows = store.rows
    else:
        out = out.rstrip("/")
        # A private directory, because the shell's configuration may contain secrets.
        folder = tempfile.TemporaryDirectory(prefix="heapdb-")
        store = open_store(out, hadoop, folder.name)
        rows = _rows_of(spark, files, out)
    store.prepare()
    todo = jobs_of(entries, out, settings, files.stat, known_rows(rows), hadoop, retry)
    results = []
    if todo:
        # If an executor is lost, its unfinished dumps are imported again elsewhere. Dumps that its tasks had finished
        # are found in the store.
        batches = batches_of(todo, max(1, context.defaultParallelism))
        try:
            results = _collect(spark, context.parallelize(batches, len(batches)).flatMap(all_here),
                               f"heapdb: {len(todo)} dumps")
        except BaseException:
            if path is not None:  # in other stores the next run merges the finished archives
                store.compact()
            raise
        for i, result in enumerate(results):
            if progress:
                progress(i + 1, len(todo), result)
    store.compact()
    return summary_of(len(entries), todo, results, copies(rows))


def prune(out, keep, *, spark=None, today=None, dry_run=False):
    """Removes the rows of old dumps; see fleet.prune."""
    from pyspark.sql import SparkSession
    if local_path(out) is not None:
        return fleet.prune(out, keep, today=today, dry_run=dry_run)
    spark = spark or SparkSession.builder.appName("heapdb fleet").getOrCreate()
    files = _Files(spark)
    found = old(files.glob(f"{out.rstrip('/')}/*/day=*"), first_day(keep, today))
    for folder in found if not dry_run else ():
        files.remove(folder)
    return days_of(found)


__all__ = ["ListingError", "fleet", "memory_of", "prune", "run"]

"""The job: tasks of a few dumps each, which have them done by processes on the executors."""
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
# Bytes of dumps that a task has: no fewer than take much longer than a task costs before anything is
# done. No more, so that many executors have something to do; larger dumps have a task each.
_TASK_LEAST, _TASK_MOST = 8 * _MIB, 64 * _MIB
# Tasks that each core has, more or less: the last ones are small, so that no core waits long for another.
_TASKS_EACH = 3


def _bytes(text, unit=_MIB):
    """Converts "4g" to bytes. A number without a unit is in `unit`, as in Spark's memory settings."""
    found = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)i?b?\s*", str(text).lower())
    if not found:
        raise ValueError(f"{text} is no amount of memory")
    return int(found[1]) * (1 << 10 * "kmgt".find(found[2]) + 10 if found[2] else unit)


def memory_of(spark):
    """The memory budget of a dump's process: what the executors have beside their JVM, shared by the
    tasks that run at once on one.
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
        # What is of unknown size is remote, and takes its time.
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
    """The elements of an RDD. In a thread of its own: what interrupts this one, PySpark's own handler of
    interrupts among it, talks to the JVM, which a thread that waits for an answer of it cannot.
    """
    from pyspark import inheritable_thread_target
    context, tag = spark.sparkContext, f"heapdb-{uuid.uuid4()}"

    def collect():
        context.setJobDescription(description)
        context.addJobTag(tag)
        return data.collect()

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        inheriting = inheritable_thread_target(spark)  # the session itself without pinned threads
        found = pool.submit(inheriting(collect) if callable(inheriting) else collect)
        try:
            return found.result()
        except BaseException:
            if not found.done():
                context.cancelJobsWithTag(tag)
            raise


def run(listing, out, *, spark=None, pattern=PATTERN, mapping=None, settings=None, retry=False,
        keep=None, progress=None):
    """Takes the dumps of a listing into the tables at `out` on the executors of a Spark session, and
    returns a fleet.Summary. Arguments as of fleet.run; the listing, the dumps, mapping files and
    `out` can be URIs of any file system that the executors' Hadoop reads ("s3a://...", "hdfs://...");
    plain paths and file: URIs are paths of the executors' own file systems, and `out` must be one
    that all of them share. The budget of a process is what the executors have beside their JVM,
    unless settings say otherwise. progress(done, all, result) is called when all are done: Spark
    shows its own until then.
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
        # A folder of its own: the configuration that the shell gets may have secrets.
        folder = tempfile.TemporaryDirectory(prefix="heapdb-")
        store = open_store(out, hadoop, folder.name)
        rows = _rows_of(spark, files, out)
    store.prepare()
    todo = jobs_of(entries, out, settings, files.stat, known_rows(rows), hadoop, retry)
    results = []
    if todo:
        # An executor that is lost costs the dumps that it had in work. They are done again elsewhere,
        # into the same files; those of its tasks that were done are found there.
        batches = batches_of(todo, max(1, context.defaultParallelism))
        try:
            results = _collect(spark, context.parallelize(batches, len(batches)).flatMap(all_here),
                               f"heapdb: {len(todo)} dumps")
        except BaseException:
            if path is not None:  # elsewhere, the next run joins what is done
                store.compact()
            raise
        for i, result in enumerate(results):
            if progress:
                progress(i + 1, len(todo), result)
    store.compact()
    return summary_of(len(entries), todo, results, copies(rows))


def prune(out, keep, *, spark=None, today=None, dry_run=False):
    """Removes the rows of dumps of days before the last ones, "30d": see fleet.prune."""
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

"""heapdb_jvm.fleet: Parquet tables about the dumps of many programs, builds and days.

    from heapdb_jvm import fleet
    fleet.run("listing.csv", "tables", jobs=2)        # on this machine; heapdb_jvm.spark.run on a cluster
    print(fleet.report("tables"))
    fleet.prune("tables", "30d")                      # removes rows of older dumps

`run` imports each dump of a listing in its own process, runs some queries on it and writes the answers to
OUT/TABLE/day=D/part-N.parquet, with the columns app, build and dump:

    dumps      one row per imported dump, also for duplicates; written last
    failures   one row per dump that could not be imported, with the reason
    totals     number of objects, bytes, classes and threads, and the VM
    histogram  objects, shallow and retained bytes of each class, also of classes without objects
    owners     classes and fields that retain at least 1 % of a heap
    leaks      suspects and leaking objects with paths, signature and signature_shape
    triage     findings
    threads    threads and their retained sizes
    waste      bytes wasted by duplicate strings, unused slots of collections, arrays of zeros and garbage

A dump that is already in the tables is skipped, so an interrupted run can simply be started again. The reports are
SQL files (directory sql) that run in DuckDB here and in Spark on a cluster.
"""
from ._listing import Entry, ListingError, read_listing
from ._prune import prune
from ._report import ReportError, names as report_names, report
from ._run import Settings, Summary, run
from ._store import TABLES

__all__ = ["Entry", "ListingError", "ReportError", "Settings", "Summary", "TABLES",
           "prune", "read_listing", "report", "report_names", "run"]

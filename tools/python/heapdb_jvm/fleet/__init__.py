"""heapdb_jvm.fleet: the dumps of many programs, builds and days as one set of Parquet tables.

    from heapdb_jvm import fleet
    fleet.run("listing.csv", "tables", jobs=2)        # on this machine; heapdb_jvm.spark.run on a cluster
    print(fleet.report("tables"))
    fleet.prune("tables", "30d")                      # rows of dumps that are older go

`run` imports each dump of a listing in a process of its own, asks it a few questions and writes the
answers to OUT/TABLE/day=D/part-N.parquet, with the columns app, build and dump:

    dumps      a row for each dump that counts, and for each duplicate of one, the last that is written
    failures   a row for each dump that could not be taken, and why
    totals     objects, bytes, classes, threads, the VM
    histogram  classes: objects, shallow and retained bytes; also classes without objects
    owners     what retains at least 1 % of a heap, by class and field
    leaks      suspects and leaking objects with paths, signature and signature_shape
    triage     findings
    threads    threads and what they retain
    waste      bytes that duplicate texts, room in collections, arrays of zeros and garbage take

A dump that is already in the tables is skipped, so that a run that ended in the middle is started
again. The reports are SQL (the folder sql), for DuckDB here and for Spark on a cluster.
"""
from ._listing import Entry, ListingError, read_listing
from ._prune import prune
from ._report import ReportError, names as report_names, report
from ._run import Settings, Summary, run
from ._store import TABLES

__all__ = ["Entry", "ListingError", "ReportError", "Settings", "Summary", "TABLES",
           "prune", "read_listing", "report", "report_names", "run"]

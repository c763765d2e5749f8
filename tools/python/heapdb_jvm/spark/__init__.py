"""heapdb_jvm.spark: heap dumps on Apache Spark 4.

    from heapdb_jvm import spark as hs
    hs.run("s3a://dumps/listing.csv", "s3a://tables/heap", spark=spark)     # a fleet's dumps
    print(hs.report("s3a://tables/heap", spark=spark))

    hs.register(spark)                                                      # a data source
    spark.read.format("heapdb").option("query", "histogram").load("dumps/*.heapdb")

The executors need the package heapdb_jvm and pyarrow, and for dumps of other file systems than their own
the jars and the configuration that Spark reads these with. What is done is heapdb_jvm.fleet's: see there
for the tables and the reports.
"""
from .._extras import need

need("spark", "pyspark", "pyarrow")

from ._job import memory_of, prune, run
from ._report import report, tables
from ._source import HeapdbDataSource, register

__all__ = ["HeapdbDataSource", "memory_of", "prune", "register", "report", "run", "tables"]

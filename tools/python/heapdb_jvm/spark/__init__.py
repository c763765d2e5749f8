"""heapdb_jvm.spark: heap dumps on Apache Spark 4.

    from heapdb_jvm import spark as hs
    hs.run("s3a://dumps/listing.csv", "s3a://tables/heap", spark=spark)     # the dumps of a fleet
    print(hs.report("s3a://tables/heap", spark=spark))

    hs.register(spark)                                                      # a data source
    spark.read.format("heapdb").option("query", "histogram").load("dumps/*.heapdb")

The executors need the packages heapdb_jvm and pyarrow. To read dumps from other file systems they also need the jars
and the configuration that Spark itself would need. heapdb_jvm.fleet does the work and describes the tables and reports.
"""
from .._extras import need

need("spark", "pyspark", "pyarrow")

from ._job import memory_of, prune, run
from ._report import report, tables
from ._source import HeapdbDataSource, register

__all__ = ["HeapdbDataSource", "memory_of", "prune", "register", "report", "run", "tables"]

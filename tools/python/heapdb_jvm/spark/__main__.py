"""python -m heapdb_jvm.spark, or spark-submit of this file: see --help."""
import sys

from heapdb_jvm.fleet._command import spark_main

if __name__ == "__main__":
    sys.exit(spark_main())

"""python -m heapdb.spark, or spark-submit of this file: see --help."""
import sys

from heapdb.fleet._command import spark_main

if __name__ == "__main__":
    sys.exit(spark_main())

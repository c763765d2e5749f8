"""python -m heapdb.spark, or spark-submit: see --help."""
import sys

from ..fleet._command import spark_main

if __name__ == "__main__":
    sys.exit(spark_main())

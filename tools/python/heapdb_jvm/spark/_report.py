"""The reports of a fleet in Spark: the SQL of heapdb_jvm.fleet on views in a session."""
import os

from ..fleet import _report as fleet_report
from ..fleet._listing import local_path
from ..fleet._store import KEYS, TABLES

# Small views that other views use many times. They are cached so that Spark computes them once.
_KEPT = ("counted", "builds", "newest", "sightings", "changes", "renamed", "leak_sightings", "leak_builds")


def _place(out):
    path = local_path(out)
    return out.rstrip("/") if path is None else "file://" + os.path.abspath(path)


def read_table(spark, out, table):
    """Reads the files of a table. app, build, day and dump, which are recorded only in directory names, are strings.
    """
    return spark.read.schema(_schema(table)).parquet(f"{_place(out)}/{table}")


def _schema(table):
    from pyspark.sql.types import (BooleanType, DoubleType, LongType, StringType, StructField,
                                   StructType)
    types = {"int64": LongType(), "double": DoubleType(), "bool": BooleanType()}
    return StructType([StructField(field.name, types.get(str(field.type), StringType()))
                       for field in fleet_report.empty_schema(table)])


def tables(out, spark, reports=None):
    """Creates the views of all reports, or those that some reports need, in a session: counted, builds, totals,
    histogram, leaks and others. TABLE_files are the files of a table. Returns the names of the views."""
    from ._job import _Files
    files, made = _Files(spark), []
    statements, wanted = fleet_report.needed(reports) if reports else (fleet_report.views(), TABLES)
    for table in wanted:
        found = files.exists(f"{_place(out)}/{table}")
        data = read_table(spark, out, table) if found else \
            spark.createDataFrame([], _schema(table))
        data.createOrReplaceTempView(f"{table}_files")
    for text in statements:
        spark.sql(text)
        made.append(fleet_report.view_name(text))
        if made[-1] in _KEPT:
            spark.catalog.cacheTable(made[-1])
    return made


def answers_of(out, spark=None, reports=None):
    """Returns the answers over a fleet's tables; see heapdb_jvm.fleet."""
    from pyspark.sql import SparkSession
    spark = spark or SparkSession.builder.appName("heapdb fleet").getOrCreate()
    made = tables(out, spark, reports)

    def execute(text):
        found = spark.sql(text)
        return found.columns, [tuple(row) for row in found.collect()]

    try:
        return fleet_report.answer(execute, reports)
    finally:
        for name in set(made) & set(_KEPT):
            spark.catalog.uncacheTable(name)


def report(out, *, spark=None, reports=None, form="text"):
    """Returns the report over a fleet's tables; see heapdb_jvm.fleet.report."""
    return fleet_report.render(answers_of(out, spark, fleet_report.wanted(reports, form)), form)


__all__ = ["KEYS", "read_table", "report", "tables"]

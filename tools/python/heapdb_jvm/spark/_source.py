"""The data source "heapdb": a query over heap databases or dumps as a Spark table."""
import glob
import json
import os

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import (BooleanType, DoubleType, LongType, StringType, StructField,
                               StructType)

from ..fleet._listing import local_path

FILE = "file"
# Options of the data source itself; all others are options of the query.
_OWN = ("path", "paths", "query", "table", "columns", "targets", "memory", "threads", "before", "sql")
_SPARK = {"count": LongType(), "bytes": LongType(), "id": LongType(), "integer": LongType(),
          "number": DoubleType(), "percent": DoubleType(), "bool": BooleanType()}


def _query(options):
    from .. import queries
    name = options.get("query") or options.get("table") or "objects"
    for query in queries():
        if name == query.name or name in query.aliases:
            return query
    raise ValueError(f"heapdb: unknown query {name}")


def _option_values(query, options):
    """Returns the query's options. Spark passes names in lower case, and only strings."""
    values = {}
    for name, text in options.items():
        if name in _OWN:
            continue
        name = name.replace("-", "_")
        if name in ("sort", "limit"):
            values[name] = int(text) if name == "limit" else text
            continue
        if name not in query.options:
            raise ValueError(f"heapdb: {query.name} has no option {name}")
        is_flag = query.options[name][0] is None
        values[name] = text.strip().lower() in ("true", "yes", "1", "") if is_flag else text
    return values


def _columns(options):
    """Returns the columns of the rows. For an SQL statement, they are found by running it on the first file."""
    if "sql" not in options:
        return _query(options).columns
    import heapdb_jvm
    files = _files(options)
    if not files:
        raise FileNotFoundError(f"heapdb: {options.get('path', '')}: no such file")
    with heapdb_jvm.open(files[0]) as db:
        return db.sql(options["sql"]).columns


def _files(options):
    """Returns the files of load(PATH) in order."""
    given = options.get("paths")
    files = []
    for pattern in json.loads(given) if given else [options.get("path", "")]:
        path = local_path(pattern)
        if not path:
            raise ValueError("heapdb: load(PATH) needs the path of a heap database, or a pattern, "
                             "in the executors' own file system")
        found = sorted(glob.glob(path, recursive=True))
        if not found and os.path.basename(path).find("*") < 0:
            raise FileNotFoundError(f"heapdb: {path}: no such file")
        files += found
    return [os.path.abspath(file) for file in dict.fromkeys(files)]


class FilePartition(InputPartition):
    """A partition: one file."""

    def __init__(self, file):
        super().__init__(file)
        self.file = file


class HeapdbDataSource(DataSource):
    """spark.read.format("heapdb").option("query", "histogram").load("dumps/*.heapdb")

    Options:
        query (or table): a query; default: objects
        sql: a SELECT statement instead of a query
        before: earlier database, for the diff query
        targets: arguments of the query, separated by spaces
        columns: the columns to read, such as "class,retained"; .schema("class string") also selects columns
        memory: memory budget in bytes
        threads: number of threads
    and the options of the query. Columns that do not apply to a dump or to the options are null. The files are local
    to the executors: heap databases, or dumps, whose databases are created next to them. Each file is a partition; the
    column "file" has its path.

    Write conditions into the SQL statement, which uses the database's indexes:
    .option("sql", "SELECT id, retained FROM objects WHERE class = 'com.acme.Order'"). Spark's own filters are not
    pushed down. Spark offers this since 4.1, but 4.3.0 keeps the filters of one action for later actions on the same
    DataFrame: with a source of the rows 0 to 9 that accepts "x > 6", df.filter("x > 6").count() returns 3, and then
    df.count() also returns 3.
    """

    @classmethod
    def name(cls):
        return "heapdb"

    def schema(self):
        fields = [StructField(column.name, _SPARK.get(column.type, StringType()))
                  for column in _columns(self.options)]
        fields.append(StructField(FILE, StringType()))
        chosen = [name.strip() for name in self.options.get("columns", "").split(",") if name.strip()]
        known = {field.name: field for field in fields}
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise ValueError(f"heapdb: the answer has no column {unknown[0]}")
        return StructType([known[name] for name in chosen] if chosen else fields)

    def reader(self, schema):
        return HeapdbReader(schema, dict(self.options))


class HeapdbReader(DataSourceReader):
    def __init__(self, schema, options):
        self.fields, self.options = [field.name for field in schema.fields], options
        self.values = {} if "sql" in options else _option_values(_query(options), options)
        self.kinds = {column.name: column.type for column in _columns(options)}
        for field in schema.fields:
            expected = _SPARK.get(self.kinds.get(field.name), StringType())
            if field.name != FILE and field.name not in self.kinds:
                raise ValueError(f"heapdb: the answer has no column {field.name}")
            if field.dataType != expected:
                raise ValueError(f"heapdb: the column {field.name} is {expected.simpleString()}")

    def partitions(self):
        return [FilePartition(file) for file in _files(self.options)]

    def _ask(self, db):
        if "sql" in self.options:
            return db.sql(self.options["sql"])
        values, wanted = dict(self.values), ",".join(name for name in self.fields if name != FILE)
        query = _query(self.options)
        if wanted and "columns" in query.options:  # some columns are computed only on request
            values["columns"] = wanted
        if "before" in self.options:
            values["before"] = self.options["before"].split(",")
        return db.query(query.name, *self.options.get("targets", "").split(), **values)

    def read(self, partition):
        import pyarrow
        import heapdb_jvm
        from ..fleet._dump import arrow_type
        memory, threads = int(self.options.get("memory", 0)), int(self.options.get("threads", 1))
        with heapdb_jvm.open(partition.file, memory=memory, threads=threads) as db:
            stream = pyarrow.RecordBatchReader.from_stream(self._ask(db))
            for batch in stream:
                arrays = []
                for name in self.fields:
                    if name == FILE:
                        arrays.append(pyarrow.array([partition.file] * batch.num_rows,
                                                    pyarrow.string()))
                    elif name in batch.schema.names:
                        arrays.append(batch.column(name).cast(arrow_type(self.kinds[name]), safe=False))
                    else:  # the column does not apply to this dump or query
                        arrays.append(pyarrow.nulls(batch.num_rows, arrow_type(self.kinds[name])))
                yield pyarrow.RecordBatch.from_arrays(arrays, names=self.fields)
            del stream


def register(spark):
    """Registers the format "heapdb" with a session."""
    spark.dataSource.register(HeapdbDataSource)

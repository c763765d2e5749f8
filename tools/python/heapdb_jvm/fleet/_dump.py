"""Processes one dump: imports it, runs the queries and stores the answers as Parquet."""
import os
import subprocess
import threading
import time

from ._compact import write_archive
from ._listing import local_path
from ._mapping import Mapping
from ._store import Shell, last_line, open_store

# table: query, options. Threads are stored without their stacks, which matter only for a single dump.
QUERIES = {
    "histogram": ("histogram", {}),
    "owners": ("leaks", {"threshold": "1", "brief": True}),
    "leaks": ("leaks", {}),
    "triage": ("triage", {}),
    "threads": ("threads", {"no_stack": True}),
}
# kind of waste: query, options, the facts with the number of objects and their bytes.
WASTE = (
    ("duplicate strings", "duplicates", {"limit": 1}, "copies", "wasted"),
    ("room in collections", "collections", {"limit": 1}, "objects", "wasted"),
    ("arrays of zeros", "arrays", {"zero": True, "limit": 1}, "found", "wasted"),
    ("garbage", "histogram", {"limit": 1}, "unreachable_objects", "unreachable_shallow"),
)
# column of totals: section and key of the info query, type.
TOTALS = (
    ("dump_time", "dump", "time", "text"), ("dump_bytes", "dump", "bytes", "count"),
    ("objects", "objects", "objects", "count"), ("classes", "objects", "classes", "count"),
    ("references", "objects", "references", "count"), ("threads", "objects", "threads", "count"),
    ("problems", "dump", "problems", "count"), ("max_heap", "vm", "max heap", "count"),
    ("vm", "vm", "name", "text"), ("java", "vm", "java", "text"),
    ("runtime", "dump", "runtime", "text"), ("sizes", "sizes", "model", "text"),
    ("database_bytes", "database", "bytes", "count"),
)
HEAP = ("reachable_objects", "reachable_bytes", "unreachable_objects", "unreachable_bytes")


def arrow_type(kind):
    """Returns the Arrow type for a column type. Spark has no unsigned integers."""
    import pyarrow
    return {"count": pyarrow.int64(), "bytes": pyarrow.int64(), "id": pyarrow.int64(),
            "integer": pyarrow.int64(), "number": pyarrow.float64(), "percent": pyarrow.float64(),
            "bool": pyarrow.bool_(), "null": pyarrow.string()}.get(kind, pyarrow.string())


def schema_of(columns):
    import pyarrow
    return pyarrow.schema([(column.name, arrow_type(column.type)) for column in columns])


def signed(table, schema):
    """Converts a table to Spark's types: unsigned integers keep their bits, dictionaries become plain strings."""
    import pyarrow
    return pyarrow.table([table.column(field.name).cast(field.type, safe=False) for field in schema],
                         schema=schema)


def with_empty_classes(db, data, schema):
    """Adds a row to the histogram for each class without objects, because the reports check whether a class still
    exists, for example one with only static fields.
    """
    import pyarrow
    known = set(data.column("name").to_pylist())
    names = sorted({row.class_ for row in db.query("class", "*", list=True)} - known)
    empty = {field.name: names if field.name == "name" else
             [0 if field.name in ("objects", "shallow", "retained") else None] * len(names)
             for field in schema}
    return pyarrow.concat_tables([data, pyarrow.table(empty, schema=schema)])


def failure_of(error):
    """Returns a failure as columns: code, message, and whether it is a system error, which a retry may avoid."""
    from .. import HeapdbError, OutOfMemory, SystemFailure
    name = error.name if isinstance(error, HeapdbError) else type(error).__name__
    passing = isinstance(error, (SystemFailure, OutOfMemory, MemoryError)) or \
        isinstance(error, OSError) and not isinstance(error, HeapdbError)
    return {"code": name, "error": str(error) or name, "is_system": passing}


def fetching(template, uri):
    """Returns the command of --fetch. The shell gets the name as a parameter, so it cannot inject commands."""
    return ["sh", "-c", template.replace("{}", '"$1"'), "sh", uri]


class _Feed(threading.Thread):
    """Copies a remote dump into a named pipe."""

    def __init__(self, command, pipe):
        super().__init__(daemon=True)
        self.command, self.pipe, self.error = command, pipe, None

    def run(self):
        with open(self.pipe, "wb") as out:
            done = subprocess.run(self.command, stdout=out, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            self.error = f"cannot be read: {last_line(done.stderr)}"


class Work:
    """The state of a job: the dump, the database and the files of answers."""

    def __init__(self, job, folder):
        self.job, self.folder = job, folder
        self.shell = Shell(job["hadoop"], folder)
        self.tree = os.path.join(folder, "tables")
        self.mapping = None

    def import_dump(self):
        import heapdb_jvm
        uri, job = self.job["uri"], self.job
        database = os.path.join(self.folder, "dump.heapdb")
        options = {"memory": job["memory"], "threads": job["threads"], "strict": job["strict"],
                   "sizes": job["sizes"], "no_sync": True}
        path = None if job["fetch"] else local_path(uri)
        if path is not None:
            heapdb_jvm.import_dump(path, database, **options)
            return heapdb_jvm.open(database, dump=path, **self.opening())
        pipe = os.path.join(self.folder, "dump")
        os.mkfifo(pipe)
        feed = _Feed(fetching(job["fetch"], uri) if job["fetch"] else self.shell.command("-cat", uri), pipe)
        feed.start()
        try:
            heapdb_jvm.import_dump(pipe, database, **options)
        except heapdb_jvm.HeapdbError:
            feed.join(30)
            if feed.error:
                raise OSError(f"{uri}: {feed.error}") from None
            raise
        feed.join()
        if feed.error:
            raise OSError(f"{uri}: {feed.error}")
        return heapdb_jvm.open(database, **self.opening())

    def opening(self):
        # The database is temporary, so there is no need to wait for the disk.
        return {"memory": self.job["memory"], "threads": self.job["threads"], "no_sync": True}

    def read_mapping(self):
        uri = self.job["mapping"]
        if not uri:
            return
        path = local_path(uri)
        if path is None:
            text = (subprocess.run(fetching(self.job["fetch"], uri), stdout=subprocess.PIPE, check=True).stdout
                    if self.job["fetch"] else self.shell.run("-cat", uri)).decode("utf-8", "replace")
            self.mapping = Mapping(text.splitlines())
        else:
            with open(path, encoding="utf-8", errors="replace") as f:
                self.mapping = Mapping(f)

    def write(self, table, data):
        import pyarrow.parquet
        os.makedirs(self.tree, exist_ok=True)
        pyarrow.parquet.write_table(data, os.path.join(self.tree, table + ".parquet"), compression="zstd")

    def write_rows(self, table, schema, rows):
        import pyarrow
        columns = {name: [row[name] for row in rows] for name in schema.names}
        self.write(table, pyarrow.table(columns, schema=schema))

    def ask(self, db, table, query, options):
        answer = db.query(query, *options.get("targets", ()),
                          **{k: v for k, v in options.items() if k != "targets"})
        schema = schema_of(answer.columns)
        data = signed(answer.to_arrow(), schema)
        if table == "histogram":
            data = with_empty_classes(db, data, schema)
        if self.mapping and data.num_rows:
            import pyarrow
            data = pyarrow.table(self.mapping.rows(table, data.to_pydict()), schema=schema)
        self.write(table, data)
        return answer.facts

    def totals(self, db, facts):
        import pyarrow
        found = {(row.section, row.key): row for row in db.query("info")}
        values, fields = {}, []
        for name, section, key, kind in TOTALS:
            row = found.get((section, key))
            number = row and (row.number if row.number is not None else _number(row.value))
            values[name] = (number if kind == "count" else row.value) if row else None
            fields.append((name, arrow_type(kind)))
        shallow = facts["shallow"]
        heap = (facts["objects"], shallow, facts["unreachable_objects"], facts["unreachable_shallow"])
        values.update(zip(HEAP, heap))
        fields += [(name, pyarrow.int64()) for name in HEAP]
        values["incomplete"] = db.incomplete
        fields.append(("incomplete", pyarrow.string()))
        self.write_rows("totals", pyarrow.schema(fields), [values])
        return found[("dump", "fingerprint")].value

    def waste(self, db):
        import pyarrow
        rows = []
        for kind, query, options, count, wasted in WASTE:
            facts = db.query(query, **options).facts
            rows.append({"kind": kind, "objects": facts.get(count) or 0,
                         "bytes": facts.get(wasted) or 0})
        schema = pyarrow.schema([("kind", pyarrow.string()), ("objects", pyarrow.int64()),
                                 ("bytes", pyarrow.int64())])
        self.write_rows("waste", schema, rows)

    def run(self):
        """Does the job and returns the row for the table dumps."""
        started = time.time()
        self.read_mapping()
        with self.import_dump() as db:
            facts = {table: self.ask(db, table, *QUERIES[table]) for table in QUERIES}
            fingerprint = self.totals(db, facts["histogram"])
            self.waste(db)
            for table, (query, options) in self.job["queries"].items():
                self.ask(db, table, query, options)
        return {"uri": self.job["uri"], "bytes": self.job["bytes"], "modified": self.job["modified"],
                "fingerprint": fingerprint, "status": "counted", "duplicate_of": None,
                "mapping": self.job["mapping"], "settings": self.job["settings"],
                "seconds": round(time.time() - started, 3), "host": os.uname().nodename}


def _number(text):
    text = (text or "").replace(",", "")
    return int(text) if text.isdigit() else None


def dump_schema():
    import pyarrow
    number, text = pyarrow.int64(), pyarrow.string()
    return pyarrow.schema([
        ("uri", text), ("bytes", number), ("modified", number), ("fingerprint", text),
        ("status", text), ("duplicate_of", text), ("mapping", text), ("settings", text),
        ("seconds", pyarrow.float64()), ("host", text)])


def failure_schema():
    import pyarrow
    number, text = pyarrow.int64(), pyarrow.string()
    return pyarrow.schema([
        ("uri", text), ("bytes", number), ("modified", number), ("code", text), ("error", text),
        ("is_system", pyarrow.bool_()), ("settings", text)])


def publish(job, store, work, table, schema, row):
    """Stores a dump's answers, and its row of dumps or failures, as an archive for `compact`."""
    work.write_rows(table, schema, [row])
    archive = os.path.join(work.folder, "answers.zip")
    write_archive(archive, job, work.tree)
    store.add(archive, job)

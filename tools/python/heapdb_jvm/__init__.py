"""heapdb_jvm: an indexed database for Java and Android heap dumps.

    import heapdb_jvm
    db = heapdb_jvm.open("dump.hprof")              # imported first if it has no database
    for row in db.leaks(brief=True):
        print(row.label, row.retained)
    db.histogram(by="package").to_pandas()
    db.top(limit=100).picture()                     # a treemap, shown in notebooks
    db.sql("SELECT class, sum(shallow) FROM objects GROUP BY class").to_pandas()
    obj = db.object(0x12c4)
    obj.fields, obj.retained, obj.path_to_root()
    heapdb_jvm.growth("series.jsonl")["facts"]      # what `heapdb watch` recorded
    heapdb_jvm.memory(4711)["rows"]                 # all memory of a running JVM, part by part

Every query of the library is a method of Database, and its options are keyword arguments. `queries()` lists
the queries; help(db.histogram) explains one.
"""
from ._database import Database, Object, Query, default_path, import_dump, open, queries
from ._library import (DatabaseError, FormatError, HeapdbError, Interrupted, Missing, NotFound,
                       OutOfMemory, SystemFailure, UsageError, lib)
from ._picture import Picture
from ._process import growth, memory
from ._rows import Column, Rows

__version__ = lib.hdb_version().decode()
__all__ = ["Column", "Database", "DatabaseError", "FormatError", "HeapdbError", "Interrupted",
           "Missing", "NotFound", "Object", "OutOfMemory", "Picture", "Query", "Rows", "SystemFailure",
           "UsageError", "default_path", "growth", "import_dump", "memory", "open", "queries"]

"""Writes the type stubs of the package, out of the registry: make_stubs.py > heapdb_jvm/__init__.pyi"""
import heapdb_jvm
from heapdb_jvm._rows import _name

HEAD = '''"""Made by make_stubs.py out of the library's registry."""
from typing import (Any, Callable, Generic, Iterator, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union,
                    overload)

R = TypeVar("R", covariant=True)

Target = Union[int, str, "Object"]
Progress = Union[bool, Callable[[str, int, Optional[int], str], None]]

class HeapdbError(Exception):
    code: int
    name: str

class UsageError(HeapdbError, ValueError): ...
class NotFound(HeapdbError, KeyError): ...
class FormatError(HeapdbError): ...
class DatabaseError(HeapdbError): ...
class Missing(HeapdbError, FileNotFoundError): ...
class SystemFailure(HeapdbError, OSError): ...
class OutOfMemory(HeapdbError, MemoryError): ...
class Interrupted(HeapdbError): ...

class Column:
    name: str
    type: str
    title: Optional[str]
    help: Optional[str]

class Query:
    name: str
    method: str
    group: str
    summary: str
    targets: str
    example: Optional[str]
    aliases: list[str]
    options: dict[str, tuple[Optional[str], Optional[str]]]
    columns: list[Column]
    facts: list[Column]

class Picture:
    svg: str
    def _repr_svg_(self) -> str: ...
    def write(self, path: Any) -> None: ...

class Rows(Generic[R]):
    query: str
    columns: list[Column]
    facts: Mapping[str, Any]
    total: int
    def __iter__(self) -> Iterator[R]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> list[R]: ...
    def rows(self) -> list[R]: ...
    def first(self) -> Optional[R]: ...
    def close(self) -> None: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def to_arrow(self) -> Any: ...
    def to_pandas(self, *, hex_ids: bool = False) -> Any: ...
    def to_polars(self) -> Any: ...
    def picture(self, size: Optional[str] = None, name: Optional[str] = None) -> Picture: ...
    def write(self, path: Any, format: str = "parquet", *, force: bool = False) -> None: ...

class Object:
    id: int
    cls: str
    kind: str
    shallow: int
    facts: Mapping[str, Any]
    @property
    def retained(self) -> int: ...
    @property
    def fields(self) -> dict[str, Any]: ...
    def path_to_root(self, **options: Any) -> list[Any]: ...
    def referrers(self, **options: Any) -> Rows[Any]: ...
    def references(self, **options: Any) -> Rows[Any]: ...
    def dominated(self, **options: Any) -> Rows[Any]: ...
    def __int__(self) -> int: ...

def open(path: Any, *, dump: Any = None, memory: int = 0, threads: int = 0,
         progress: Optional[Progress] = None, no_sync: bool = False) -> Database: ...
def growth(*series: Any) -> dict[str, Any]: ...
def memory(*sources: Any, database: Optional[Database] = None) -> dict[str, Any]: ...
def import_dump(dump: Any, database: Any = None, *, sizes: str = "vm",
                layout: Optional[str] = None, snapshot: int = 0, strict: bool = False,
                force: bool = False, memory: int = 0, threads: int = 0,
                progress: Optional[Progress] = None, no_sync: bool = False) -> str: ...
def default_path(dump: Any) -> str: ...
def queries() -> list[Query]: ...

__version__: str

class Database:
    file: str
    stale: Optional[str]
    incomplete: Optional[str]
    redacted: Optional[str]
    def __init__(self, path: Any, *, dump: Any = None, memory: int = 0, threads: int = 0,
                 progress: Optional[Progress] = None, no_sync: bool = False) -> None: ...
    def __enter__(self) -> Database: ...
    def __exit__(self, *exception: Any) -> None: ...
    def close(self) -> None: ...
    def query(self, name: str, *targets: Target, sort: Optional[str] = None, limit: int = 0,
              before: Any = (), **options: Any) -> Rows[Any]: ...
    def object(self, id: Target) -> Object: ...
    def sql(self, statement: str, parameters: Union[Sequence[Any], Mapping[str, Any]] = (), *,
            all: bool = False) -> Rows[Any]: ...
    def oql(self, statement: str) -> Rows[Any]: ...
    def retained(self, *targets: Target, **options: Any) -> Any: ...
'''


def typed(argument):
    """The type of an option that takes `argument`."""
    if argument is None:
        return "bool"
    if argument in ("N", "BYTES", "PERCENT"):
        return "Union[int, float, str]"
    return "Union[str, Sequence[str]]"


def method(query):
    options = {name: typed(argument) for name, (argument, _) in query.options.items()}
    options.setdefault("sort", "str")
    options.setdefault("limit", "int")
    options.setdefault("before", "Any")
    words = "".join(f", {name}: Optional[{type}] = None" for name, type in options.items())
    return f"    def {query.method}(self, *targets: Target{words}) -> Rows[{row_name(query)}]: ..."


PYTHON_TYPES = {"number": "float", "percent": "float", "bool": "bool", "text": "str"}


def row_name(query):
    return query.method.title().replace("_", "") + "Row"


def row_class(query):
    """The named tuple of the query's rows, with all columns, including those that an answer may omit."""
    def type_of(column):
        plain = PYTHON_TYPES.get(column.type, "int")
        return plain if column.name in query.never_null else f"Optional[{plain}]"

    fields = "".join(f"    {_name(col.name)}: {type_of(col)}"
                     # These fields replace tuple's methods of the same name.
                     f"{'  # type: ignore[assignment]' if col.name in ('count', 'index') else ''}\n"
                     for col in query.columns)
    return f"class {row_name(query)}(NamedTuple):\n{fields or '    ...'}"


def main():
    print(HEAD, end="")
    rows = []
    for query in heapdb_jvm.queries():
        if query.method not in ("object", "retained"):
            print(method(query))
            rows.append(row_class(query))
    print()
    print("\n".join(rows))


if __name__ == "__main__":
    main()

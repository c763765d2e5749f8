"""The C library in ctypes: structures of heapdb.h, functions, and exceptions for errors.

Queries are not declared here: the library describes their names, options and columns at run time.
"""
import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64,
                    c_size_t, c_uint, c_uint32, c_uint64, c_void_p)

ERROR_SIZE = 768


def _find():
    """Loads $HEAPDB_LIBRARY, the library next to this file (in the wheel), or the system's library."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libheapdb.so")
    path = os.environ.get("HEAPDB_LIBRARY") or (here if os.path.exists(here) else None)
    if not path:
        from ctypes.util import find_library  # slow: it runs ldconfig and compilers
        path = find_library("heapdb")
    if path:
        return ctypes.CDLL(path)
    raise ImportError("libheapdb.so not found: install it, or set HEAPDB_LIBRARY to its path")


lib = _find()


class Error(Structure):
    _fields_ = [("code", c_int), ("message", ctypes.c_char * ERROR_SIZE)]


class StatementOptions(Structure):
    _fields_ = [("batch_rows", c_size_t), ("cancel", POINTER(c_int)), ("all", c_int)]


REPORT = CFUNCTYPE(None, c_void_p, c_char_p, c_uint64, c_uint64, c_char_p)
NOTICE = CFUNCTYPE(None, c_void_p, c_char_p)


class Progress(Structure):
    _fields_ = [("report", REPORT), ("ctx", c_void_p), ("cancel", POINTER(c_int)),
                ("notice", NOTICE)]


class Sized(Structure):
    """A structure that contains its own size; see "Structures" in heapdb.h."""
    _fields_ = [("struct_size", c_size_t)]

    def __init__(self, **members):
        super().__init__(struct_size=ctypes.sizeof(self), **members)


class ImportOptions(Sized):
    _fields_ = [
        ("memory_bytes", c_uint64), ("threads", c_uint), ("sizes", c_int), ("layout", c_char_p),
        ("snapshot", c_uint), ("strict", c_int), ("force", c_int), ("wait", c_int),
        ("no_sigbus_handler", c_int), ("progress", Progress), ("contents", c_int),
        ("dump_name", c_char_p), ("mapping_path", c_char_p), ("no_sync", c_int),
        ("javacore_path", c_char_p)]


class OpenOptions(Sized):
    _fields_ = [
        ("dump_path", c_char_p), ("memory_bytes", c_uint64), ("threads", c_uint),
        ("progress", Progress), ("tmp_dir", c_char_p), ("no_sigbus_handler", c_int),
        ("no_sync", c_int), ("rules_path", c_char_p)]


class Health(Sized):
    _fields_ = [
        ("stale", c_char_p), ("incomplete", c_char_p), ("redacted", c_char_p),
        ("missing_bytes", c_uint64), ("skipped_bytes", c_uint64), ("roots_seen", c_uint64),
        ("dump_path", c_char_p), ("layout", c_char_p), ("sizes", c_int), ("snapshot", c_uint),
        ("strict", c_int), ("mapping_path", c_char_p), ("is_damaged", c_int)]


class Value(Structure):
    _fields_ = [("type", c_int), ("u", c_uint64), ("i", c_int64), ("d", c_double),
                ("text", c_void_p), ("text_size", c_size_t)]


class Column(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("title", c_char_p), ("help", c_char_p)]


class OptionSpec(Structure):
    _fields_ = [
        ("name", c_char_p), ("type", c_int), ("argument", c_char_p), ("help", c_char_p),
        ("default_value", c_char_p), ("example", c_char_p), ("unit", c_char_p),
        ("low", c_uint64), ("high", c_uint64), ("is_repeated", c_int)]


class QuerySpec(Structure):
    _fields_ = [
        ("name", c_char_p), ("aliases", c_char_p), ("group", c_char_p),
        ("example", c_char_p), ("targets", c_char_p), ("target_types", c_uint),
        ("target_min", c_uint), ("target_max", c_uint), ("summary", c_char_p),
        ("never_null", c_char_p)]


class Option(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class QueryArgs(Sized):
    _fields_ = [
        ("targets", POINTER(c_char_p)), ("target_count", c_size_t), ("ids", POINTER(c_uint64)),
        ("id_count", c_size_t), ("options", POINTER(Option)), ("option_count", c_size_t),
        ("sort", c_char_p), ("limit", c_uint64), ("before", POINTER(c_void_p)),
        ("before_count", c_size_t), ("filter", c_void_p)]


class ArrowSchema(Structure):
    pass


ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64),
    ("n_children", c_int64), ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", c_void_p), ("release", CFUNCTYPE(None, POINTER(ArrowSchema))),
    ("private_data", c_void_p)]


class ArrowArray(Structure):
    pass


ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
    ("n_children", c_int64), ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)),
    ("release", CFUNCTYPE(None, POINTER(ArrowArray))), ("private_data", c_void_p)]


class ArrowArrayStream(Structure):
    pass


STREAM_RELEASE = CFUNCTYPE(None, POINTER(ArrowArrayStream))
ArrowArrayStream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))),
    ("release", STREAM_RELEASE), ("private_data", c_void_p)]


def _declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype = result
    function.argtypes = arguments


_E = POINTER(Error)
_declare("hdb_import", c_int, c_char_p, c_char_p, POINTER(ImportOptions), c_void_p, _E)
_declare("hdb_default_path", c_int, c_char_p, c_char_p, c_size_t, _E)
_declare("hdb_open", c_int, c_char_p, POINTER(OpenOptions), POINTER(c_void_p), _E)
_declare("hdb_close", None, c_void_p)
_declare("hdb_health", None, c_void_p, POINTER(Health))
_declare("hdb_retained", c_int, c_void_p, c_uint64, POINTER(c_uint64), _E)
_declare("hdb_query_at", POINTER(QuerySpec), c_size_t)
_declare("hdb_query_option", POINTER(OptionSpec), POINTER(QuerySpec), c_size_t)
_declare("hdb_query_column", POINTER(Column), POINTER(QuerySpec), c_size_t)
_declare("hdb_query_fact", POINTER(Column), POINTER(QuerySpec), c_size_t)
_declare("hdb_query_named", POINTER(QuerySpec), c_char_p)
_declare("hdb_query", c_int, c_void_p, c_char_p, POINTER(QueryArgs), POINTER(c_void_p), _E)
_declare("hdb_rows_column_count", c_size_t, c_void_p)
_declare("hdb_rows_column", POINTER(Column), c_void_p, c_size_t)
_declare("hdb_rows_total", c_int, c_void_p, POINTER(c_uint64), _E)
_declare("hdb_rows_fact_count", c_size_t, c_void_p)
_declare("hdb_rows_fact_column", POINTER(Column), c_void_p, c_size_t)
_declare("hdb_rows_fact_value", POINTER(Value), c_void_p, c_size_t)
_declare("hdb_rows_close", None, c_void_p)
_declare("hdb_rows_arrow", c_int, c_void_p, c_size_t, POINTER(ArrowArrayStream), _E)
# Functions that only the wheel's library has: SQL, OQL, columnar files and others.
STATEMENTS = {name: hasattr(lib, f"hdbpy_{name}") for name in ("sql", "oql")}
HAS_FILES = hasattr(lib, "hdbpy_write")
HAS_ARCHIVES = hasattr(lib, "hdbpy_import")
HAS_PROCESSES = hasattr(lib, "hdbpy_memory")
for _name in STATEMENTS:
    if STATEMENTS[_name]:
        _declare(f"hdbpy_{_name}", c_int, c_void_p, c_char_p, POINTER(StatementOptions),
                 POINTER(ArrowArrayStream), _E)
if STATEMENTS["sql"]:
    _declare("hdbpy_why_empty", c_int, c_void_p, c_char_p, c_int, c_char_p, c_size_t)
if HAS_ARCHIVES:
    _declare("hdbpy_import", c_int, c_char_p, c_char_p, POINTER(ImportOptions), _E)
    _declare("hdbpy_default_path", c_int, c_char_p, c_char_p, c_size_t, _E)
if HAS_PROCESSES:
    _declare("hdbpy_growth", c_int, POINTER(c_char_p), c_size_t, POINTER(c_void_p), _E)
    _declare("hdbpy_memory", c_int, c_int, POINTER(c_char_p), c_size_t, c_void_p, POINTER(c_int),
             POINTER(c_void_p), _E)
    _declare("hdbpy_free", None, c_void_p)
if HAS_FILES:
    _declare("hdbpy_write", c_int, POINTER(ArrowArrayStream), c_char_p, c_int, c_int, _E)
_declare("hdb_version", c_char_p)
_declare("hdb_result_name", c_char_p, c_int)


# Types of columns, as in enum hdb_type.
NULL, COUNT, BYTES, ID, INT, DOUBLE, BOOL, TEXT, PERCENT = range(9)
TYPE_NAMES = ("null", "count", "bytes", "id", "integer", "number", "bool", "text", "percent")


class HeapdbError(Exception):
    """An error of the library. `code` is the result code, `name` its name."""

    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code
        self.name = lib.hdb_result_name(code).decode()


class UsageError(HeapdbError, ValueError):
    """The arguments of a call are wrong."""


class NotFound(HeapdbError, KeyError):
    """The dump does not contain the named object or class."""

    __str__ = Exception.__str__


class FormatError(HeapdbError):
    """The input is not a dump, is truncated, or exceeds a limit."""


class DatabaseError(HeapdbError):
    """The database is damaged or of another version, or its dump has changed."""


class Missing(HeapdbError, FileNotFoundError):
    """The dump or database does not exist."""

    __str__ = Exception.__str__


class SystemFailure(HeapdbError, OSError):
    """A system failure, such as a full disk or missing permission."""

    __str__ = Exception.__str__


class OutOfMemory(HeapdbError, MemoryError):
    """Memory is exhausted."""


class Interrupted(HeapdbError):
    """The work was cancelled."""


_CLASSES = {2: NotFound, -1: UsageError, -2: UsageError, -10: FormatError, -11: FormatError,
            -12: FormatError, -13: DatabaseError, -14: DatabaseError, -15: DatabaseError,
            -16: Missing, -20: SystemFailure, -21: OutOfMemory, -22: Interrupted}


def check(code, error):
    """Raises the exception that corresponds to a result code."""
    if code == 0:
        return
    message = error.message.decode("utf-8", "replace") or lib.hdb_result_name(code).decode()
    raise _CLASSES.get(code, HeapdbError)(message, code)


def text(value):
    """Converts a C string; None for NULL."""
    return None if value is None else value.decode("utf-8", "replace")


def value_of(v):
    """Converts a value of the library to a Python value."""
    if v.type in (COUNT, BYTES, ID):
        return v.u
    if v.type == INT:
        return v.i
    if v.type in (DOUBLE, PERCENT):
        return v.d
    if v.type == BOOL:
        return bool(v.u)
    if v.type == TEXT:
        return ctypes.string_at(v.text, v.text_size).decode("utf-8", "replace")
    return None


__all__ = [name for name in dir() if not name.startswith("_")] + ["byref"]

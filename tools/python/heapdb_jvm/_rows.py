"""Answers: rows that can be iterated, or converted to data frames through the Arrow C stream interface."""
import ctypes
import functools
import html
import keyword
import os
import re
import threading
from collections import namedtuple
from ctypes import byref

from . import _library as c
from ._extras import need

# Exported Arrow streams. Each keeps its database open until the consumer releases it.
_exported = {}
# Released streams. Freed at the next export, because a callback must not free itself while it runs.
_released = []
_lock = threading.Lock()

_BATCH = 65536
_ALL = ctypes.c_size_t(-1).value
_SHOWN = 20
# Maximum number of rows kept when an answer is printed. Of a longer answer, only the first rows are read.
_KEPT_MOST = 100_000
_FORMATS = ("parquet", "arrow", "arrow-stream")
_CAPSULE = b"arrow_array_stream"


def _name(name):
    """Converts a name of a query, option or column to a Python name: class_, no_stack."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


class Column:
    """A column of an answer: name, type, title and help."""

    __slots__ = ("name", "type", "title", "help")

    def __init__(self, spec):
        self.name = spec.name.decode()
        self.type = c.TYPE_NAMES[spec.type]
        self.title = c.text(spec.title)
        self.help = c.text(spec.help)

    @classmethod
    def _of_arrow(cls, field):
        """A column of an SQL or OQL statement, which has only a name and an Arrow type."""
        column = cls.__new__(cls)
        column.name = column.title = c.text(field.name)
        column.type = "id" if field.metadata else _ARROW_TYPES[field.format]
        column.help = None
        return column

    def __repr__(self):
        return f"<{self.name}: {self.type}, {self.help}>"


_ARROW_TYPES = {b"L": "count", b"l": "integer", b"g": "number", b"b": "bool", b"u": "text",
                b"i": "text"}


def _columns(get, spec):
    return [Column(column[0]) for column in _each(get, spec)]


def _each(get, spec):
    """Yields the pointers that a function of the library returns for 0, 1, ... until it returns NULL."""
    no = 0
    while found := get(spec, no):
        yield found
        no += 1


def _bits(address, count):
    """Converts a packed array of bits to a list of booleans."""
    data = ctypes.string_at(address, (count + 7) // 8)
    return [bool(data[i >> 3] >> (i & 7) & 1) for i in range(count)]


def _values(array, format):
    """Returns the values of a batch's child as a list."""
    count = array.length
    if array.dictionary:
        names = _values(array.dictionary.contents, b"u")
        codes = (ctypes.c_int32 * count).from_address(array.buffers[1])
        there = _bits(array.buffers[0], count) if array.null_count else (True,) * count
        return [names[code] if is_there else None for code, is_there in zip(codes, there)]
    where = array.buffers[1]
    if format == b"u":
        offsets = (ctypes.c_int32 * (count + 1)).from_address(where)
        data = ctypes.string_at(array.buffers[2], offsets[count])
        values = [data[offsets[i]:offsets[i + 1]].decode("utf-8", "replace") for i in range(count)]
    elif format == b"b":
        values = _bits(where, count)
    else:
        kind = {b"L": ctypes.c_uint64, b"l": ctypes.c_int64, b"g": ctypes.c_double}[format]
        values = list((kind * count).from_address(where))
    if array.null_count:
        values = [v if there else None
                  for v, there in zip(values, _bits(array.buffers[0], count))]
    return values


class Rows:
    """The rows of an answer. They can be iterated, indexed or converted to a data frame, any number of times.

    Rows are named tuples, and object identifiers are integers. `facts` has values about the whole answer, and
    `columns` describes the columns. Only rows(), len(), indexing and printing keep the rows in memory; otherwise
    the query runs again when the rows are read again.
    """

    def __init__(self, database, ask, name):
        self.query = name
        self._database = database
        self._ask = ask
        self._handle = handle = ask()
        self._closed = False
        count = c.lib.hdb_rows_column_count(handle)
        self.columns = [Column(c.lib.hdb_rows_column(handle, i).contents) for i in range(count)]
        self.facts = {
            c.lib.hdb_rows_fact_column(handle, i).contents.name.decode():
                c.value_of(c.lib.hdb_rows_fact_value(handle, i).contents)
            for i in range(c.lib.hdb_rows_fact_count(handle))}
        self._row = _row_class(tuple(col.name for col in self.columns))
        self._kept = self._total = None

    def __del__(self):
        self.close()

    def close(self):
        """Closes the answer. Unread rows are lost."""
        self._closed = True
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            c.lib.hdb_rows_close(handle)

    def _check_open(self):
        self._database._check_open()
        if self._closed:
            raise c.UsageError("the answer is closed: run the query again", -1)

    def _take(self, batch=_BATCH):
        """Returns the stream of the rows. Runs the query again if the rows were read before."""
        self._check_open()
        if not self._handle:
            self._handle = self._ask()
        stream, error = c.ArrowArrayStream(), c.Error()
        c.check(c.lib.hdb_rows_arrow(self._handle, batch, byref(stream), byref(error)), error)
        self._reading, self._handle = self._handle, None
        self._database._acquire()
        return stream

    def _batches(self):
        """Yields batches as lists of columns, each a list of values."""
        stream = self._take()
        handle = self._reading
        schema = c.ArrowSchema()
        try:
            self._check(stream, lambda: stream.get_schema(byref(stream), byref(schema)))
            formats = [schema.children[i].contents.format for i in range(schema.n_children)]
            schema.release(byref(schema))
            while True:
                batch = c.ArrowArray()
                self._check(stream, lambda: stream.get_next(byref(stream), byref(batch)))
                if not batch.release:
                    self._total = self._count(handle)
                    return
                try:
                    columns = [_values(batch.children[i].contents, f)
                               for i, f in enumerate(formats)]
                finally:
                    batch.release(byref(batch))
                yield columns
        finally:
            stream.release(byref(stream))
            self._database._release()

    def _count(self, handle):
        number, error = ctypes.c_uint64(), c.Error()
        c.check(self._database._watch.run(lambda: c.lib.hdb_rows_total(handle, byref(number), byref(error))), error)
        return number.value

    def _check(self, stream, call):
        if self._database._watch.run(call):
            raise c.HeapdbError(c.text(stream.get_last_error(byref(stream))) or "no rows", 0)

    def __iter__(self):
        if self._kept is not None:
            yield from self._kept
            return
        for columns in self._batches():
            yield from map(self._row._make, zip(*columns))

    def rows(self):
        """Returns all rows as a list and keeps them, so that the answer can be read again."""
        if self._kept is None:
            self._kept = list(iter(self))  # not list(self), which asks for the length
        return self._kept

    def first(self):
        """Returns the first row, or None if there are no rows."""
        rows = self.rows()
        return rows[0] if rows else None

    def __len__(self):
        return len(self.rows())

    def __bool__(self):
        return True

    def __getitem__(self, index):
        return self.rows()[index]

    @property
    def total(self):
        """Number of rows without the limit. Reads all rows and keeps them."""
        if self._total is None:
            self.rows()
        return self._total

    # -- files and data frames

    def write(self, path, format="parquet", *, force=False):
        """Writes the rows to a file in the format "parquet", "arrow" (IPC, Feather 2) or "arrow-stream".

        The file appears when it is complete; force replaces an existing one. No other package is needed.
        """
        if not c.HAS_FILES:
            raise c.UsageError("this library cannot write files: use to_arrow() or the library of the wheel", -1)
        if format not in _FORMATS:
            raise c.UsageError(f"unknown format {format!r}: expected one of {', '.join(_FORMATS)}", -1)
        stream, error = self._take(), c.Error()
        try:
            code = self._database._watch.run(lambda: c.lib.hdbpy_write(
                byref(stream), os.fsencode(path), _FORMATS.index(format), int(force), byref(error)))
        finally:
            self._database._release()
        c.check(code, error)

    def __arrow_c_stream__(self, requested_schema=None):
        """The rows as an Arrow C stream, which other libraries read without an intermediate file.

            classes = db.histogram()
            duckdb.sql("SELECT name, shallow FROM classes ORDER BY 2 DESC LIMIT 10")
            polars.DataFrame(db.sql("SELECT class, shallow FROM objects"))
        """
        return self._export(_BATCH)

    def _export(self, batch):
        stream = self._take(batch)
        # Copy the address: the field is a view of the structure and is overwritten below.
        original = c.STREAM_RELEASE(ctypes.cast(stream.release, ctypes.c_void_p).value)
        database = self._database
        key = object()

        def release(pointer):
            original(pointer)
            database._release()
            with _lock:
                _released.append(_exported.pop(key, None))

        callback = c.STREAM_RELEASE(release)
        with _lock:
            del _released[:]
            _exported[key] = (callback, original, database, self)
        stream.release = callback
        return _capsule(stream)

    def to_arrow(self):
        """Returns a pyarrow.Table whose columns use the library's memory without copying."""
        need("arrow", "pyarrow")
        import pyarrow
        capsule = self._export(_ALL)
        address = _pointer(id(capsule), _CAPSULE)
        reader = pyarrow.RecordBatchReader._import_from_c(address)
        return self._database._watch.run(reader.read_all)

    def to_pandas(self, *, hex_ids=False):
        """Returns a pandas.DataFrame, using pyarrow if it is installed.

        With pyarrow, columns of numbers use the library's memory without copying, and repeated names such as class
        names are categories. Integer columns with missing values have a nullable integer type, because floats would
        round identifiers. hex_ids: identifiers as strings such as "0x12c4".
        """
        need("pandas", "pandas")
        import pandas
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            names = [col.name for col in self.columns]
            parts = list(self._batches())
            data = {name: [v for part in parts for v in part[i]] for i, name in enumerate(names)}
            frame = pandas.DataFrame(data, columns=names, dtype=object).infer_objects()
            whole = {name: pandas.UInt64Dtype() if kind in ("count", "bytes", "id") else pandas.Int64Dtype()
                     for name, kind in ((col.name, col.type) for col in self.columns)
                     if kind in ("count", "bytes", "id", "integer") and None in data[name]}
            frame = frame.astype(whole)
        else:
            table = self.to_arrow()
            whole = {field.name: table[field.name] for field in table.schema
                     if pyarrow.types.is_integer(field.type) and table[field.name].null_count}
            dtypes = {pyarrow.uint64(): pandas.UInt64Dtype(), pyarrow.int64(): pandas.Int64Dtype()}
            frame = table.to_pandas(split_blocks=True, self_destruct=True)
            for name, values in whole.items():
                frame[name] = values.to_pandas(types_mapper=dtypes.get)
        for column in self.columns if hex_ids else ():
            if column.type == "id":
                frame[column.name] = [None if pandas.isna(v) else hex(v) for v in frame[column.name]]
        return frame

    def to_polars(self):
        """Returns a polars.DataFrame."""
        need("polars", "polars")
        import polars
        return self._database._watch.run(lambda: polars.DataFrame(self))

    # -- display

    def picture(self, size=None, name=None):
        """Returns the rows as an SVG, which notebooks display. The answer of path() becomes a chain of boxes from
        the GC root to the object; other answers become a treemap. Trees show their top level only.

        size, name: columns for areas and labels. Default: retained and label for objects, otherwise shallow, bytes
        or wasted, and the name.

            db.top(limit=100).picture()
            db.path("0x12c4").picture().write("path.svg")
        """
        from ._picture import picture
        return picture(self, size, name)

    def _head(self):
        """Returns the first rows and the number of rows, or None for the number if there are very many. Otherwise,
        keeps all rows."""
        if self._kept is None:
            found, rows = [], iter(self)
            for row in rows:
                found.append(row)
                if len(found) > _KEPT_MOST:
                    rows.close()
                    return found[:_SHOWN], None
            self._kept = found
        return self._kept[:_SHOWN], len(self._kept)

    @staticmethod
    def _more(total):
        """Returns the line printed below the first rows if there are more, otherwise ""."""
        if total is None:
            return f"{_SHOWN} of more than {_KEPT_MOST:,} rows"
        return f"{_SHOWN} of {total:,} rows" if total > _SHOWN else ""

    def _cells(self, row):
        for column, value in zip(self.columns, row):
            if value is None:
                yield ""
            elif column.type == "id":
                yield hex(value)
            elif column.type in ("count", "bytes", "integer"):
                yield f"{value:,}"
            elif column.type in ("number", "percent"):
                yield f"{value:.1f}"
            else:
                yield str(value)

    def __repr__(self):
        if self._kept is None and (self._closed or not self._database._handle):
            return f"<rows of {self.query}, closed>"
        return self._table()

    def _table(self):
        rows, total = self._head()
        lines = [[col.name for col in self.columns]] + [list(self._cells(r)) for r in rows]
        widths = [min(60, max(len(line[i]) for line in lines)) for i in range(len(self.columns))]
        numbers = {i for i, col in enumerate(self.columns)
                   if col.type in ("count", "bytes", "integer", "number", "percent")}
        out = ["  ".join(cell[:60].rjust(w) if i in numbers else cell[:60].ljust(w)
                         for i, (cell, w) in enumerate(zip(line, widths))).rstrip()
               for line in lines]
        return "\n".join(out + [self._more(total)] * bool(self._more(total)))

    def _repr_html_(self):
        rows, total = self._head()
        head = "".join(f'<th title="{html.escape(col.help or "")}">{html.escape(col.name)}</th>'
                       for col in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in self._cells(r))
                       + "</tr>" for r in rows)
        foot = f"<p>{self._more(total)}</p>" if self._more(total) else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


class StatementRows(Rows):
    """The rows of an SQL or OQL statement. Unlike other Rows they have no facts, and their number is known only after
    all of them were read.
    """

    def __init__(self, database, language, statement, all=False):
        self.query = language
        self.statement = statement
        self.facts = {}
        self._database = database
        self._all = bool(all)
        self._closed = False
        self._handle = self._reading = self._kept = self._total = None
        self._stream = stream = self._ask()
        schema = c.ArrowSchema()
        self._check(stream, lambda: stream.get_schema(byref(stream), byref(schema)))
        self.columns = [Column._of_arrow(schema.children[i].contents)
                        for i in range(schema.n_children)]
        schema.release(byref(schema))
        self._row = _row_class(tuple(col.name for col in self.columns))

    def _ask(self):
        stream, error, database = c.ArrowArrayStream(), c.Error(), self._database
        options = c.StatementOptions(_BATCH, ctypes.pointer(database._watch.cancel), self._all)
        run = getattr(c.lib, f"hdbpy_{self.query}")
        try:
            code = database._watch.run(lambda: run(database._handle, self.statement.encode(), byref(options),
                                                   byref(stream), byref(error)))
        except BaseException:
            if stream.release:
                stream.release(byref(stream))
            raise
        c.check(code, error)
        return stream

    def close(self):
        """Closes the answer. Unread rows are lost."""
        self._closed = True
        stream, self._stream = getattr(self, "_stream", None), None
        if stream is not None and stream.release:
            stream.release(byref(stream))

    @property
    def note(self):
        """The reason why there are no rows, if the statement asks for a class or kind that does not occur; otherwise
        None."""
        self._check_open()
        why = ctypes.create_string_buffer(512)
        if self.query != "sql" or len(self) or not c.lib.hdbpy_why_empty(
                self._database._handle, self.statement.encode(), self._all, why, len(why)):
            return None
        return c.text(why.value)

    def _take(self, batch=_BATCH):
        self._check_open()
        stream, self._stream = self._stream or self._ask(), None
        self._database._acquire()
        return stream

    def _count(self, handle):
        return None

    @property
    def total(self):
        """Number of rows. Reads all rows and keeps them."""
        return len(self.rows())


def bound(statement, parameters):
    """Returns the statement with its "?" (a sequence) or ":name" (a mapping) replaced by parameters."""
    given = parameters if hasattr(parameters, "keys") else iter(parameters)

    def literal(match):
        sign = match[1]
        if not sign:
            return match[0]
        try:
            value = given[sign[1:]] if sign[0] == ":" else next(given)
        except (KeyError, StopIteration, TypeError):
            raise c.UsageError(f"no parameter for {sign!r}", -1) from None
        if value is None:
            return "NULL"
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        return repr(float(value)) if isinstance(value, float) else str(int(value))

    made = _PARAMETER.sub(literal, statement)
    if not hasattr(parameters, "keys") and next(given, _released) is not _released:
        raise c.UsageError("more parameters than \"?\" in the statement", -1)
    return made


# The first alternatives match strings, quoted names and comments, in which "?" is no parameter.
_PARAMETER = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|--[^\n]*|/\*.*?\*/|"""
                        r"""(\?|:[A-Za-z_]\w*)""", re.DOTALL)


@functools.lru_cache(maxsize=256)
def _row_class(names):
    """Returns the named tuple class for rows with these columns. Rows can be pickled."""
    fields = [_name(name) for name in names]
    row = namedtuple("Row", fields, rename=True)
    row.__reduce__ = lambda self: (_row_of, (names, tuple(self)))
    return row


def _row_of(names, values):
    return _row_class(names)._make(values)


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_streams = {}


@_DESTRUCTOR
def _drop(capsule):
    """Called when a capsule is destroyed. Releases the stream if no consumer took it."""
    address = _pointer(capsule, _CAPSULE)
    stream = _streams.pop(address, None)
    if stream is not None and stream.release:
        stream.release(byref(stream))


def _capsule(stream):
    address = ctypes.addressof(stream)
    _streams[address] = stream
    return _new(address, _CAPSULE, ctypes.cast(_drop, ctypes.c_void_p))

"""An open database. Every query of the library becomes a method when the package is loaded."""
import ctypes
import functools
import html
import inspect
import os
import queue
import sys
import threading
import warnings
import weakref
from ctypes import byref

from . import _library as c
from ._progress import chosen
from ._rows import Rows, StatementRows, _columns, _each, _name, bound

_SIZES = {"vm": 0, "mat": 1, "dump": 2}


def _encode(path):
    return None if path is None else os.fsencode(path)


class _Progress:
    """Calls `function(stage, done, total, unit)`. An exception that it raises cancels the work."""

    def __init__(self, progress):
        self.function = function = chosen(progress)
        self.cancel = ctypes.c_int(0)
        self.raised = None
        self._worker = self._events = None
        self._notices = []
        self._report = c.REPORT(self._call) if function else c.REPORT()
        self._notice = c.NOTICE(self._note)
        self.struct = c.Progress(self._report, None, ctypes.pointer(self.cancel), self._notice)

    def run(self, call):
        """Calls the library so that Ctrl-C can cancel the call. Python handles signals only in the main thread and
        not while C code runs there, so the call is made in another thread. Progress and warnings are reported here."""
        if threading.current_thread() is not threading.main_thread():
            try:
                return call()
            finally:
                self.raise_pending()
        result, events = [], queue.SimpleQueue()

        def work():
            self._worker, self._events = threading.get_ident(), events
            try:
                result.append((call(), None))
            except BaseException as error:
                result.append((None, error))
            self._worker = self._events = None
            events.put(None)

        thread = threading.Thread(target=work, name="heapdb", daemon=True)
        event = False
        while event is not None:
            try:
                if thread.ident is None:
                    thread.start()
                event = events.get()
                if event:
                    self.function(*event)
            except BaseException as error:  # including KeyboardInterrupt; raised after the work has ended
                if thread.ident is None:
                    raise
                self.cancel.value = 1
                self.raised = self.raised or error
        self.raise_pending()
        value, error = result[0]
        if error:
            raise error
        return value

    def _call(self, ctx, stage, done, total, unit):
        event = c.text(stage), done, total or None, c.text(unit)
        if threading.get_ident() == self._worker:
            self._events.put(event)
            return
        try:
            self.function(*event)
        except BaseException as error:  # raised by raise_pending
            self.raised = error
            self.cancel.value = 1

    def _note(self, ctx, line):
        self._notices.append(c.text(line))

    def raise_pending(self):
        """Reports warnings and exceptions that were recorded during a call, after the library has returned."""
        raised, self.raised = self.raised, None
        notices, self._notices = self._notices, []
        self.cancel.value = 0
        if hasattr(self.function, "close"):
            self.function.close()
        try:
            for line in notices:
                warnings.warn(line, stacklevel=_depth_outside())
        finally:
            if raised:
                raise raised


def _depth_outside():
    """Returns the stack level of the caller of this package, for warnings.warn."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, depth = frame.f_back, depth + 1
    return depth


def import_dump(dump, database=None, *, sizes="vm", layout=None, snapshot=0, strict=False,
                force=False, memory=0, threads=0, progress=None, no_sync=False, javacore=None):
    """Imports an HPROF file into a heap database and returns the database's path.

    dump: path of the dump. If libarchive is installed, it can be an archive (.zip, .tar, .tgz, .xz, .bz2,
        .lz4), whose first dump is imported, or a member such as "archive.zip!a/b.hprof".
    database: path of the database (default: x.heapdb for x.hprof).
    sizes: model of object sizes: "vm", "mat" or "dump".
    layout: object layout, or parts of it: "header=12,ref=4,align=8".
    strict: refuse a damaged dump.
    force: replace an existing database.
    memory: memory budget in bytes.
    progress: function called with (stage, done, total or None, unit). True shows a tqdm bar, False shows
        nothing. Default: a bar in notebooks, if tqdm is installed.
    no_sync: do not wait for the disk. The database may be damaged if the machine stops, so use this only for
        temporary databases.
    javacore: path of the javacore of a portable heap dump, if it is not next to the dump.
    """
    path = database if database is not None else default_path(dump)
    watch, error = _Progress(progress), c.Error()
    options = c.ImportOptions(memory_bytes=memory, threads=threads, sizes=_SIZES[sizes],
                              layout=layout.encode() if layout else None, snapshot=snapshot,
                              strict=strict, force=force, progress=watch.struct, no_sync=no_sync,
                              javacore_path=_encode(javacore) if javacore else None)
    if c.HAS_ARCHIVES:
        call = functools.partial(c.lib.hdbpy_import, _encode(dump), _encode(path), byref(options), byref(error))
    else:
        call = functools.partial(c.lib.hdb_import, _encode(dump), _encode(path), byref(options), None,
                                 byref(error))
    c.check(watch.run(call), error)
    return os.fspath(path)


def default_path(dump):
    """Returns the default database path of a dump: x.heapdb for x.hprof."""
    buffer, error = ctypes.create_string_buffer(4096), c.Error()
    find = c.lib.hdbpy_default_path if c.HAS_ARCHIVES else c.lib.hdb_default_path
    c.check(find(_encode(dump), buffer, len(buffer), byref(error)), error)
    return os.fsdecode(buffer.value)


def open(path, *, dump=None, memory=0, threads=0, progress=None, no_sync=False):
    """Opens a heap database, or a dump, which is imported first if it has no database.

    dump: current path of the dump, if it was moved.
    memory: memory budget in bytes for building tables.
    progress: function called with (stage, done, total or None, unit) during long work. An exception that it
        raises cancels the work. True, False and the default are as in import_dump.
    no_sync: as in import_dump.
    """
    path = os.fspath(path)
    if not path.endswith(".heapdb"):
        dump = dump or path
        database = default_path(path)
        if not os.path.exists(database):
            import_dump(path, database, memory=memory, threads=threads, progress=progress,
                        no_sync=no_sync)
        path = database
    return Database(path, dump=dump, memory=memory, threads=threads, progress=progress,
                    no_sync=no_sync)


class Database:
    """An open heap database. Its methods are the queries of the library; see `queries()`."""

    def __init__(self, path, *, dump=None, memory=0, threads=0, progress=None, no_sync=False):
        self._handle = self._closing = None
        self._lock = threading.Lock()
        self._streams = 0
        self._answers = weakref.WeakSet()
        self.file = os.fspath(path)
        self._watch = _Progress(progress)
        self._dump = _encode(dump)
        handle, error = ctypes.c_void_p(), c.Error()
        options = c.OpenOptions(dump_path=self._dump, memory_bytes=memory, threads=threads,
                                progress=self._watch.struct, no_sync=no_sync)
        self._options = options
        code = c.lib.hdb_open(_encode(self.file), byref(options), byref(handle), byref(error))
        self._handle = handle
        self._watch.raise_pending()
        c.check(code, error)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """Closes the database. Unread answers are lost, but a data frame that is being built from one still gets
        its rows.
        """
        handle, self._handle = getattr(self, "_handle", None), None
        if not handle:
            return
        for answer in list(self._answers):
            answer.close()
        with self._lock:
            self._closing = handle
        self._release(0)

    def _acquire(self):
        """Marks the handle as used by a stream of rows until the stream is released."""
        with self._lock:
            self._streams += 1

    def _release(self, count=1):
        with self._lock:
            self._streams -= count
            handle = self._closing if self._streams == 0 else None
            if handle:
                self._closing = None
        if handle:
            c.lib.hdb_close(handle)

    def __repr__(self):
        return f"<heap database {self.file}{'' if self._handle else ', closed'}>"

    def _check_open(self):
        if not self._handle:
            raise c.UsageError("the database is closed", -1)

    @property
    def stale(self):
        """The warning if the dump file has changed since the import, or None."""
        return self._health("stale")

    @property
    def redacted(self):
        """The note that values were deliberately removed from the dump, or None."""
        return self._health("redacted")

    @property
    def incomplete(self):
        """A description of the data missing from the dump, or None."""
        return self._health("incomplete")

    def _health(self, name):
        self._check_open()
        health = c.Health()
        c.lib.hdb_health(self._handle, byref(health))
        return c.text(getattr(health, name))

    def query(self, name, *targets, sort=None, limit=0, before=(), **options):
        """Runs a query, given its name or an alias.

        targets: objects (numbers or Object), class names or patterns. For "diff", the same as `before`.
        sort: column to sort by; "-column" reverses the order.
        limit: maximum number of rows.
        before: earlier databases or their paths, for "diff".
        options: the options of the query as in the manual, with _ for -. Switches take True.
        """
        self._check_open()
        found = c.lib.hdb_query_named(name.encode())
        if not found:
            raise c.UsageError(f"unknown query {name!r}", -1)
        if limit and limit < 0:
            raise c.UsageError(f"limit must not be negative: {limit}", -1)
        if targets and not before and found.contents.name == b"diff":
            targets, before = (), targets
        args = _Args(found.contents, targets, options, before)
        args.struct.sort = sort.encode() if sort else None
        args.struct.limit = limit or 0

        def ask():
            rows, error = ctypes.c_void_p(), c.Error()
            try:
                code = self._watch.run(lambda: c.lib.hdb_query(self._handle, name.encode(), byref(args.struct),
                                                               byref(rows), byref(error)))
            except BaseException:
                c.lib.hdb_rows_close(rows)
                raise
            c.check(code, error)
            return rows

        answer = Rows(self, ask, found.contents.name.decode())
        self._answers.add(answer)
        return answer

    def sql(self, statement, parameters=(), *, all=False):
        """Runs an SQL statement, like `heapdb sql`. The rows can be iterated or converted: .to_pandas(), .to_arrow().

            db.sql("SELECT class, count(*) AS n FROM objects GROUP BY class ORDER BY n DESC")
            db.sql("SELECT * FROM refs WHERE target = ?", [id])

        Tables are objects, refs, classes and others. Each class is also a table, and each query is a function; see
        heapdb-sql(1). Tables contain reachable objects; all=True adds unreachable ones. parameters: values for "?",
        or a mapping for ":name".
        """
        return self._statement("sql", bound(statement, parameters), all)

    def oql(self, statement):
        """Runs a statement in OQL, the query language of Eclipse MAT, like `heapdb oql`.

            db.oql("SELECT m, m.size FROM java.util.HashMap m WHERE m.size > 1000")
        """
        return self._statement("oql", statement)

    def _statement(self, language, statement, all=False):
        self._check_open()
        if not c.STATEMENTS[language]:
            raise c.UsageError(f"this library was built without {language.upper()}: use the wheel", -1)
        answer = StatementRows(self, language, statement, all)
        self._answers.add(answer)
        return answer

    def object(self, id):
        """Returns the object with this identifier, a number or "0x12c4". Raises NotFound if the dump does not have
        it."""
        return Object(self, _id(id))

    def retained(self, *targets, **options):
        """Like query("retained"). For the identifier of one object, returns its retained size as a number."""
        if len(targets) == 1 and not options and (
                isinstance(targets[0], (int, Object)) or str(targets[0]).startswith("0x")):
            self._check_open()
            number, error = ctypes.c_uint64(), c.Error()
            id = _id(targets[0])
            c.check(self._watch.run(lambda: c.lib.hdb_retained(self._handle, id, byref(number), byref(error))),
                    error)
            return number.value
        return self.query("retained", *targets, **options)


def _id(value):
    """Returns the identifier for a number, an Object, or a string such as "0x12c4" or "Main@0x12c4"."""
    if not isinstance(value, str):
        return int(value)
    try:
        return int(value.rsplit("@", 1)[-1], 0)
    except ValueError:
        raise c.UsageError(f"{value!r} is not an object identifier, such as 0x12c4 or Main@0x12c4", -1) from None


class _Args:
    """The arguments of a query as C structures. They must stay alive while the rows are read."""

    def __init__(self, spec, targets, options, before):
        texts = [self._target(t) for t in targets]
        given = []
        names = {_name(o.name.decode()): o for o in _options(spec)}
        for name, value in options.items():
            if name not in names:
                raise c.UsageError(f"the query {spec.name.decode()!r} has no option {name!r}; available options: "
                                   f"{', '.join(sorted(names)) or 'none'}", -1)
            given += self._values(names[name], value)
        self.texts = (ctypes.c_char_p * max(1, len(texts)))(*texts)
        self.options = (c.Option * max(1, len(given)))(*given)
        before = before if isinstance(before, (list, tuple)) else [before]
        self.databases = [d if isinstance(d, Database) else open(d) for d in before]
        self.before = (ctypes.c_void_p * max(1, len(before)))(*[d._handle for d in self.databases])
        self.struct = c.QueryArgs(targets=self.texts, target_count=len(texts),
                                  options=self.options, option_count=len(given),
                                  before=self.before, before_count=len(before))

    @staticmethod
    def _target(target):
        return (target if isinstance(target, str) else hex(int(target))).encode()

    @staticmethod
    def _values(option, value):
        if value is None or value is False:
            return []
        if option.argument is None:
            if value is not True:
                raise c.UsageError(f"{option.name.decode()} is a switch: True or False", -1)
            return [c.Option(option.name, None)]
        if not isinstance(value, (list, tuple)):
            value = [value]
        return [c.Option(option.name, (hex(v.id) if isinstance(v, Object) else str(v)).encode())
                for v in value]


class Object:
    """An object of the heap, with its fields, referrers and sizes."""

    def __init__(self, database, id):
        self._database = database
        self.id = id
        answer = database.query("object", id)
        facts = answer.facts
        self._rows = answer.rows()
        self.cls = facts.get("class")
        self.kind = facts.get("kind")
        self.shallow = facts.get("shallow")
        self.facts = facts

    def __int__(self):
        return self.id

    __index__ = __int__

    def __eq__(self, other):
        return isinstance(other, Object) and (other.id, other._database) == (self.id, self._database)

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f"<{self.cls} {self.id:#x}>"

    @property
    def retained(self):
        """The retained size in bytes."""
        return self._database.retained(self.id)

    @property
    def fields(self):
        """Fields (or elements of an array) by name. Values are an Object, a Python value or None."""
        found = {}
        for row in self._rows:
            row = row._asdict()
            name = row.get("name")
            if name is None or name in found:
                continue
            ref = row.get("ref")
            found[name] = Object(self._database, ref) if ref else _plain(row)
        return found

    def _repr_html_(self):
        fields = self.fields
        shown = list(fields.items())[:100]
        rows = "".join(f"<tr><td>{html.escape(str(name))}</td><td>{html.escape(repr(value))}</td>"
                       "</tr>" for name, value in shown)
        more = f"<p>100 of {len(fields):,} fields</p>" if len(fields) > 100 else ""
        return (f"<b>{html.escape(repr(self))}</b> shallow {self.shallow:,}, "
                f"retained {self.retained:,} bytes<table>{rows}</table>{more}")

    def path_to_root(self, **options):
        """Returns the shortest path from the object to a GC root as rows, starting with the object."""
        return self._database.query("path", self.id, **options).rows()

    def referrers(self, **options):
        """Returns the objects that refer to this one."""
        return self._database.query("referrers", self.id, **options)

    def references(self, **options):
        """Returns the objects to which this one refers."""
        return self._database.query("references", self.id, **options)

    def dominated(self, **options):
        """Returns the objects that this one dominates immediately, largest first."""
        return self._database.query("dominators", self.id, **options)


def _plain(row):
    """Returns a primitive value as a Python value, given its text and type."""
    value, kind = row.get("value"), row.get("type")
    if value is None or value == "null":
        return None
    try:
        if kind in ("int", "long", "short", "byte"):
            return int(value.replace(",", ""))
        if kind in ("float", "double"):
            return float(value)
    except ValueError:
        return value
    return {"true": True, "false": False}.get(value, value) if kind == "boolean" else value


# -- descriptions of queries

class Query:
    """Description of a query: its name, arguments and columns."""

    def __init__(self, spec):
        self.name = spec.name.decode()
        self.group = spec.group.decode()
        self.summary = spec.summary.decode()
        self.targets = spec.targets.decode()
        self.example = c.text(spec.example)
        self.aliases = (c.text(spec.aliases) or "").split("|") if spec.aliases else []
        self.options = {_name(o.name.decode()): (c.text(o.argument), c.text(o.help))
                        for o in _options(spec)}
        self.columns = _columns(c.lib.hdb_query_column, spec)
        self.facts = _columns(c.lib.hdb_query_fact, spec)
        self.never_null = (c.text(spec.never_null) or "").split("|") if spec.never_null else []
        self.method = _name(self.name)

    def __repr__(self):
        return f"<query {self.name}: {self.summary}>"


def _options(spec):
    return [option[0] for option in _each(c.lib.hdb_query_option, spec)]


def queries():
    """Returns all queries of the library."""
    return [Query(spec[0]) for spec in _each(lambda _, no: c.lib.hdb_query_at(no), None)]


def _doc(query):
    lines = [query.summary[:1].upper() + query.summary[1:] + ".", ""]
    if query.targets:
        lines += [f"targets: {query.targets}", ""]
    if query.options:
        lines += ["Options:"] + [f"    {name}: {help}{f' ({argument})' if argument else ''}"
                                 for name, (argument, help) in query.options.items()] + [""]
    lines += ["Columns:"] + [f"    {col.name}: {col.help} ({col.type})" for col in query.columns]
    lines += ["", "Facts:"] + [f"    {col.name}: {col.help} ({col.type})" for col in query.facts]
    return "\n".join(lines)


def _signature(query):
    P = inspect.Parameter
    common = {"sort": None, "limit": 0, "before": ()}
    names = {**{name: None for name in query.options},
             **{n: v for n, v in common.items() if n not in query.options}}
    return inspect.Signature(
        [P("self", P.POSITIONAL_OR_KEYWORD), P("targets", P.VAR_POSITIONAL)] +
        [P(n, P.KEYWORD_ONLY, default=v) for n, v in names.items()])


def _method(query):
    def ask(self, *targets, **options):
        return self.query(query.name, *targets, **options)

    ask.__name__ = query.method
    ask.__qualname__ = f"Database.{query.method}"
    ask.__doc__ = _doc(query)
    ask.__signature__ = _signature(query)
    return ask


for _query in queries():
    if not hasattr(Database, _query.method):
        setattr(Database, _query.method, _method(_query))

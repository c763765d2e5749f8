"""Reports over the tables of a fleet, as SQL files that both DuckDB and Spark can run."""
import csv
import io
import json
import os
import re

from .._extras import need
from ._page import page
from ._store import DATA, KEYS, TABLES, LocalStore

_SQL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sql")
ORDER = ("overview", "leaks", "builds", "names", "owners", "growth", "waste", "outliers", "failures")
# Additional data for the HTML page.
_HISTORY = "leak_builds"
# Functions of Spark that DuckDB has under other names.
_MACROS = ("CREATE OR REPLACE TEMP MACRO unix_date(d) AS date_diff('day', DATE '1970-01-01', d)",
           "CREATE OR REPLACE TEMP MACRO explode(list) AS unnest(list)")
_SHOWN = 25
_WIDEST = 90


class ReportError(Exception):
    """A report cannot be made because something is missing."""


def names():
    """Returns the names of all reports in display order."""
    return list(ORDER)


def statement(name):
    """Returns the title, the explanation and the SQL of a report."""
    if name not in ORDER + (_HISTORY,):
        raise ReportError(f"unknown report {name}; expected one of {', '.join(ORDER)}")
    with open(os.path.join(_SQL, name + ".sql"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    notes = [line[3:] for line in lines if line.startswith("-- ")]
    return notes[0], " ".join(notes[1:]), "\n".join(x for x in lines if not x.startswith("-- "))


def views():
    """Returns the statements that create the views of the reports."""
    with open(os.path.join(_SQL, "views.sql"), encoding="utf-8") as f:
        text = "\n".join(line for line in f.read().splitlines() if not line.startswith("--"))
    return [part.strip() for part in text.split(";") if part.strip()]


def needed(reports=None):
    """Returns, in order, the statements of the views that some reports need, and the tables."""
    wanted = " ".join(statement(name)[2] for name in reports or ORDER)
    found, words = [], set(re.findall(r"\w+", wanted))
    for text in reversed(views()):
        if view_name(text) in words:
            found.insert(0, text)
            words |= set(re.findall(r"\w+", text))
    return found, [table for table in TABLES if f"{table}_files" in words]


def view_name(text):
    """Returns the name of the view that a statement creates."""
    return text.split(" VIEW ", 1)[1].split(" ", 1)[0]


def empty_schema(table):
    """Returns the columns of a table that has no file: pyarrow's schema, plus the columns from directory names."""
    import pyarrow
    from .. import queries
    from ._dump import HEAP, QUERIES, TOTALS, arrow_type, dump_schema, failure_schema, schema_of
    text, number = pyarrow.string(), pyarrow.int64()
    if table in QUERIES:
        known = {query.name: query for query in queries()}
        schema = schema_of(known[QUERIES[table][0]].columns)
    elif table == "totals":
        schema = pyarrow.schema([(t[0], arrow_type(t[3])) for t in TOTALS] +
                                [(name, number) for name in HEAP] + [("incomplete", text)])
    elif table == "waste":
        schema = pyarrow.schema([("kind", text), ("objects", number), ("bytes", number)])
    else:
        schema = dump_schema() if table == "dumps" else failure_schema()
    for key in KEYS:
        schema = schema.append(pyarrow.field(key, text))
    return schema


def connect(folder):
    """Returns a DuckDB connection with the tables and views of a fleet."""
    need("fleet", "duckdb", "pyarrow")
    import duckdb
    folder = os.path.abspath(folder)
    if not any(os.path.isdir(os.path.join(folder, table)) for table in ("dumps", "failures")):
        raise ReportError(f"{folder}: not a fleet: it has no tables")
    db = duckdb.connect()
    extra = [name for name in sorted(os.listdir(folder)) if name.isidentifier() and
             name not in TABLES and os.path.isdir(os.path.join(folder, name))]
    for table in ("dumps", "failures") + DATA + tuple(extra):
        path = os.path.join(folder, table)
        files = path.replace("'", "''") + "/day=*/part-*.parquet"
        if LocalStore(folder).files(table):
            db.execute(f"CREATE VIEW {table}_files AS SELECT * FROM read_parquet('{files}', "
                       "hive_partitioning = true, hive_types = {'day': 'VARCHAR'}, union_by_name = true)")
        elif table in TABLES:
            db.register(f"{table}_none", empty_schema(table).empty_table())
            db.execute(f"CREATE TEMP VIEW {table}_files AS SELECT * FROM {table}_none")
    for text in list(_MACROS) + [duck(text) for text in views()]:
        db.execute(text)
    return db


def duck(text):
    """Converts a statement to DuckDB's dialect."""
    return text.replace("LEFT SEMI JOIN", "SEMI JOIN").replace(") WITHIN GROUP (ORDER BY n)", " ORDER BY n)")


def shown(text):
    """Returns text for a terminal or a log: file names and names of classes may contain control characters."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return shown(str(value))


def table_text(columns, rows, limit=_SHOWN):
    """Formats rows as a table for people."""
    cells = [[_cell(value) for value in row] for row in rows[:limit]]
    cells = [[text if len(text) <= _WIDEST else text[:_WIDEST - 3] + "..." for text in row]
             for row in cells]
    widths = [max([len(name)] + [len(row[i]) for row in cells]) for i, name in enumerate(columns)]
    numbers = [any(isinstance(row[i], (int, float)) for row in rows) for i in range(len(columns))]
    lines = ["  ".join(text.rjust(width) if number else text.ljust(width)
                       for text, width, number in zip(line, widths, numbers)).rstrip()
             for line in [columns] + cells]
    if len(rows) > limit:
        lines.append(f"{limit} of {len(rows):,} rows")
    return "\n".join(lines)


def render(answers, form="text"):
    """Formats answers, (name, columns, rows) each, as "text", "json", "csv" or "html"."""
    if form == "html":
        history = next((answer[1:] for answer in answers if answer[0] == _HISTORY), ([], []))
        return page("Heap dumps of a fleet", [(name, *statement(name)[:2], columns, rows)
                                              for name, columns, rows in answers if name != _HISTORY],
                    history)
    if form == "json":
        return json.dumps({"schema": 1, "reports": {
            name: [dict(zip(columns, row)) for row in rows] for name, columns, rows in answers}},
            default=str, indent=1)
    if form == "csv":
        out = io.StringIO()
        for i, (_, columns, rows) in enumerate(answers):
            writer = csv.writer(out, lineterminator="\n")
            if i:
                out.write("\n")
            writer.writerow(columns)
            writer.writerows(rows)
        return out.getvalue().rstrip("\n")
    parts = []
    for name, columns, rows in answers:
        title, notes, _ = statement(name)
        shown = [i for i, column in enumerate(columns) if column not in ("leak", "signature", "is_new_name")]
        body = table_text([columns[i] for i in shown], [[row[i] for i in shown] for row in rows]) \
            if rows else "none"
        parts.append(f"{title}\n{notes}\n\n{body}")
    return "\n\n".join(parts)


def wanted(reports=None, form="text"):
    """Returns the reports to run: the named ones, or all if None."""
    names = tuple(reports or ORDER)
    return names + (_HISTORY,) if form == "html" and "leaks" in names else names


def answer(execute, reports=None):
    """Returns the answers to some reports, or to all. `execute(sql)` returns column names and rows."""
    return [(name, *execute(statement(name)[2])) for name in reports or ORDER]


def answers_of(folder, reports=None):
    """Returns the answers over a fleet's tables in a local directory, using DuckDB."""
    db = connect(folder)

    def execute(text):
        found = db.execute(duck(text))
        return [column[0] for column in found.description], [tuple(row) for row in found.fetchall()]

    return answer(execute, reports)


def report(folder, reports=None, form="text"):
    """Returns the report over a fleet's tables in a local directory, using DuckDB, as "text", "json", "csv" or
    "html"."""
    return render(answers_of(folder, wanted(reports, form)), form)

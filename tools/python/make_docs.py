"""Writes the package's documentation, from docstrings and the query registry, as one HTML page:
make_docs.py > heapdb_jvm.html"""
import ast
import inspect
import re
import sys
import textwrap
from html import escape

import heapdb_jvm
from heapdb_jvm import fleet

STYLE = """body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2128 } pre, code { font: 13px/1.45 ui-monospace, monospace; background: #f2f4f7 }
pre { padding: .6rem .8rem; overflow-x: auto } h2 { margin-top: 2.4rem; border-bottom: 1px solid #d5dae0 }
h3 { font: 600 14px/1.4 ui-monospace, monospace; margin: 1.6rem 0 .3rem } nav { columns: 14rem }
table { border-collapse: collapse } td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top }
"""
FUNCTIONS = ("open", "import_dump", "default_path", "queries")
CLASSES = ("Database", "Rows", "Object", "Picture", "Column", "Query")


def doc_of(what):
    """Returns a docstring without its indentation, which is that of its last line. inspect.cleandoc and, since
    Python 3.13, the compiler would remove the indentation of an example if there is no other text.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(what)))
        doc = ast.get_docstring(tree if inspect.ismodule(what) else tree.body[0], clean=False)
    except (OSError, TypeError):
        doc = None
    doc = doc or what.__doc__ or ""  # docstrings of query methods come from the library
    base = len(doc) - len(doc.rstrip(" "))
    return "\n".join(line[base:] if not line[:base].strip() else line for line in doc.splitlines()).strip()


def text_of(doc):
    """Converts a docstring to HTML: indented lines are code, other lines are paragraphs."""
    parts, out = re.split(r"\n\n+", doc or ""), []
    for part in parts:
        lines = part.splitlines()
        while lines and not lines[0].startswith("    "):
            words = []
            while lines and not lines[0].startswith("    "):
                words.append(lines.pop(0))
            out.append(f"<p>{escape(' '.join(words))}</p>")
        if lines:
            out.append(f"<pre>{escape(inspect.cleandoc(chr(10).join(lines)))}</pre>")
    return "\n".join(out)


def entry(name, what, prefix=""):
    """Returns the entry of a function or a class member: its signature and docstring."""
    if callable(what):
        try:
            signature = re.sub(r"^\(self(, )?", "(", str(inspect.signature(what)))
        except ValueError:
            signature = "(...)"
    else:
        signature = ""
    return (f'<h3 id="{prefix}{name}">{escape(prefix + name + signature)}</h3>\n'
            f"{text_of(doc_of(what))}")


def is_query(name):
    return name in {query.method for query in heapdb_jvm.queries()} - {"object", "retained"}


def class_entry(name):
    cls = getattr(heapdb_jvm, name)
    members = [(member, what) for member, what in vars(cls).items() if not member.startswith("_") and
               (callable(what) or isinstance(what, property)) and inspect.getdoc(what) and
               not (cls is heapdb_jvm.Database and is_query(member))]
    return (f'<h2 id="{name}">{name}</h2>\n{text_of(doc_of(cls))}\n' +
            "\n".join(entry(member, what, f"{name}.") for member, what in members))


def query_entry(query):
    options = "".join(f"<tr><td><code>{escape(name)}{'=' + escape(argument) if argument else ''}</code></td>"
                      f"<td>{escape((text or '').replace('--', ''))}</td></tr>"
                      for name, (argument, text) in query.options.items())
    columns = ", ".join(f"<code title=\"{escape(column.help or '')}\">{escape(column.name)}</code>"
                        for column in query.columns)
    targets = f" Targets: <code>{escape(query.targets)}</code>." if query.targets else ""
    return (f'<h3 id="Database.{query.method}">db.{query.method}({"*targets, " if query.targets else ""}...)</h3>\n'
            f"<p>{escape(query.summary)}.{targets}</p>\n" +
            (f"<table>{options}</table>\n" if options else "") + f"<p>Columns: {columns}</p>")


def main():
    errors = [name for name in heapdb_jvm.__all__ if isinstance(getattr(heapdb_jvm, name), type) and
              issubclass(getattr(heapdb_jvm, name), Exception)]
    parts = ["<h2 id=\"functions\">Functions</h2>"]
    parts += [entry(name, getattr(heapdb_jvm, name), "heapdb_jvm.") for name in FUNCTIONS]
    parts += [class_entry(name) for name in CLASSES]
    parts.append('<h2 id="errors">Errors</h2><table>' + "".join(
        f"<tr><td><code>{name}</code></td><td>{escape((inspect.getdoc(getattr(heapdb_jvm, name)) or '').splitlines()[0])}"
        f"</td><td>is also {', '.join(base.__name__ for base in getattr(heapdb_jvm, name).__bases__)}</td></tr>"
        for name in errors) + "</table>")
    parts.append('<h2 id="queries">Queries</h2><p>Each is a method of Database, with its options as keywords '
                 "(sort and limit are those of all).</p>")
    parts += [query_entry(query) for query in heapdb_jvm.queries() if query.method not in ("object", "retained")]
    parts.append(f'<h2 id="fleet">heapdb_jvm.fleet</h2>\n{text_of(doc_of(fleet))}\n' + "\n".join(
        entry(name, getattr(fleet, name), "fleet.") for name in ("run", "report", "prune", "read_listing")))
    links = "".join(f'<a href="#{name}">{name}</a><br>'
                    for name in ("functions",) + CLASSES + ("errors", "queries", "fleet"))
    print(f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>heapdb_jvm '
          f"{heapdb_jvm.__version__}</title><style>{STYLE}</style></head><body>\n<h1>heapdb_jvm "
          f"{heapdb_jvm.__version__}</h1>\n{text_of(doc_of(heapdb_jvm))}\n<nav>{links}</nav>\n" +
          "\n".join(parts) + "\n</body></html>")


if __name__ == "__main__":
    sys.exit(main())

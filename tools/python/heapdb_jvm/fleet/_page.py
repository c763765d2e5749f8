"""The report of a fleet as a single HTML file that has no scripts and loads nothing."""
from html import escape

from .._picture import amount

STYLE = """
:root { color-scheme: light dark; --ink: #1c2128; --soft: #5b6570; --line: #d5dae0; --back: #fff;
  --mark: #0b62c4; --bad: #b42318; --warn: #8a5a00; --good: #1a7f37 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ae; --line: #363c44;
  --back: #14171b; --mark: #6cb0ff; --bad: #ff8a80; --warn: #e5b567; --good: #6fd08c } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back);
  max-width: 80rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin: 2.2rem 0 .2rem } h3 { font-size: 1rem }
p.note { color: var(--soft); margin: .2rem 0 .6rem; max-width: 60rem }
div.table { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .7rem .2rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line) } td { white-space: nowrap }
th { color: var(--soft); font-weight: 600; white-space: nowrap }
.n { text-align: right } td.text { white-space: normal; overflow-wrap: anywhere; min-width: 14rem }
.new { color: var(--bad); font-weight: 600 } .growing { color: var(--warn); font-weight: 600 }
.gone { color: var(--good) } nav a { margin-right: .9rem } a { color: var(--mark) }
figure { display: inline-block; margin: .4rem 1.6rem .4rem 0 } figcaption { color: var(--soft) }
svg { display: block } svg path { fill: none; stroke: var(--mark); stroke-width: 1.6 }
svg circle { fill: var(--mark) } svg line { stroke: var(--line) } svg text { fill: var(--soft); font-size: 10px }
"""
_ROWS = 200


def line(points, width, height, label=None):
    """Draws (name, number) values as a line in SVG. The title of each point shows its name and number."""
    left, top = (4, 6) if not label else (4, 16)
    most = max(value for _, value in points) or 1
    step = (width - 2 * left) / max(1, len(points) - 1)
    at = [(left + i * step, height - 4 - (height - 4 - top) * value / most)
          for i, (_, value) in enumerate(points)]
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in at)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"><title>{escape(name)}: {amount(value)}'
                   "</title></circle>" for (x, y), (name, value) in zip(at, points))
    head = f'<text x="{left}" y="10">{escape(label)}</text>' if label else ""
    words = "; ".join(f"{name}: {amount(value)}" for name, value in points)
    return (f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(words)}">{head}<line x1="{left}" y1="{height - 4}" '
            f'x2="{width - left}" y2="{height - 4}"/><path d="{path}"/>{dots}</svg>')


def _cell(name, value):
    if value is None:
        return "<td></td>"
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float)):
        shown = amount(value) if name.endswith("bytes") else f"{value:,}"
        title = f' title="{value:,}"' if name.endswith("bytes") else ""
        return f'<td class="n"{title}>{shown}</td>'
    text = str(value)
    kind = text if name == "state" else "text" if len(text) > 24 else ""
    return f'<td class="{escape(kind)}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def table(columns, rows, extra=None):
    """Formats rows as a table. `extra` is the title of an additional column, and its cells."""
    if not rows:
        return "<p>none</p>"
    numbers = [any(isinstance(row[i], (int, float)) for row in rows) for i in range(len(columns))]
    head = "".join(f'<th scope="col"{" class=n" if number else ""}>{escape(name.replace("_", " "))}</th>'
                   for name, number in zip(columns, numbers))
    head += f'<th scope="col">{extra[0]}</th>' if extra else ""
    body = "".join("<tr>" + "".join(_cell(name, value) for name, value in zip(columns, row)) +
                   (f"<td>{extra[1][i]}</td>" if extra else "") + "</tr>\n"
                   for i, row in enumerate(rows[:_ROWS]))
    more = f"<p>{_ROWS} of {len(rows):,} rows</p>" if len(rows) > _ROWS else ""
    return (f'<div class="table"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>'
            f"</div>{more}")


def _trends(columns, rows):
    """Draws, for each application, the bytes per dump and the bytes of leaks, build by build."""
    by_app = {}
    for row in rows:
        row = dict(zip(columns, row))
        by_app.setdefault(row["app"], []).append(row)
    return "".join(
        f"<figure>{line([(row['build'], row[name]) for row in found], 320, 90, amount(found[-1][name]))}"
        f"<figcaption>{escape(app)}: {title}, {escape(found[0]['build'])} to "
        f"{escape(found[-1]['build'])}</figcaption></figure>"
        for app, found in by_app.items() if len(found) > 1
        for name, title in (("bytes", "reachable bytes"), ("leak_bytes", "bytes of leaks"))
        if any(row[name] for row in found))


def _leak_lines(columns, rows, history):
    """Draws a small line for each leak: its bytes in each build of the application."""
    names = dict(zip(("columns", "rows"), history))
    found = {}
    for row in names["rows"]:
        row = dict(zip(names["columns"], row))
        found.setdefault((row["app"], row["leak"]), []).append((row["build"], row["bytes"]))
    app, leak = columns.index("app"), columns.index("leak")
    return [line(found[row[app], row[leak]], 110, 28)
            if len(found.get((row[app], row[leak]), ())) > 1 else "" for row in rows]


def page(title, parts, history):
    """Returns the page. parts: (name, title, notes, columns, rows) each. history: columns and rows of leak_builds."""
    links = "".join(f'<a href="#{name}">{escape(head)}</a>' for name, head, *_ in parts)
    out = []
    for name, head, notes, columns, rows in parts:
        shown = [i for i, column in enumerate(columns) if column not in ("leak", "signature", "is_new_name")]
        extra = ("by build", _leak_lines(columns, rows, history)) if name == "leaks" and rows else None
        out.append(f'<section><h2 id="{name}">{escape(head)}</h2><p class="note">{escape(notes)}</p>'
                   f"{_trends(columns, rows) if name == 'builds' else ''}" +
                   table([columns[i] for i in shown], [[row[i] for i in shown] for row in rows], extra) +
                   "</section>")
    body = "\n".join(out)
    return ("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
            f"content=\"width=device-width\"><title>{escape(title)}</title><style>{STYLE}</style></head>\n"
            f"<body><h1>{escape(title)}</h1><nav>{links}</nav>\n{body}\n</body></html>\n")

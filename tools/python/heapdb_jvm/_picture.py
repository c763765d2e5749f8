"""Answers as SVG pictures for notebooks: a treemap of sizes, or a path as a chain of boxes."""
from html import escape

from . import _library as c

# Columns for areas. Retained sizes of classes overlap and do not add up, so only answers with objects prefer them.
_SIZES = ("retained", "shallow", "bytes", "wasted", "objects")
_NAMES = ("label", "name", "class", "text", "thread")
_WIDTH, _HEIGHT, _BOX = 860, 420, 34
_MOST = 200  # maximum number of boxes of a treemap; the remaining rows share one box
# Fill colours, distinguishable with colour blindness and dark enough for white text.
_HUES = ("#33638d", "#1f7a5c", "#7a4f9a", "#a3572b", "#4a6b1f", "#8c3a55", "#2f6f79", "#6b5b2a")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def amount(value):
    """Formats bytes for people: 1536 is "1.5 KiB"."""
    size, unit = float(value), 0
    while size >= 1024 and unit + 1 < len(_UNITS):
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{size:.0f} B"


class Picture:
    """An SVG. Notebooks display it, str() returns its text, write() saves it to a file."""

    def __init__(self, svg):
        self.svg = svg

    def __str__(self):
        return self.svg

    def _repr_svg_(self):
        return self.svg

    def write(self, path):
        """Writes the picture to a file."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.svg)


def picture(rows, size=None, name=None):
    """See Rows.picture."""
    names = [column.name for column in rows.columns]
    if size is None and {"path", "step", "via_field", "label"} <= set(names):
        return Picture(_chains([row._asdict() for row in rows]))
    size = _column(names, size, _SIZES if "label" in names else _SIZES[1:] + _SIZES[:1], "size")
    name = _column(names, name, _NAMES, "name")
    # Columns of SQL are numbers without a unit, so their names decide.
    is_bytes = rows.columns[names.index(size)].type == "bytes" or size in _SIZES[:4]
    return Picture(_treemap(list(_pairs(rows, names, size, name)), amount if is_bytes else "{:,}".format))


def _pairs(rows, names, size, name):
    size_at, name_at = names.index(size), names.index(name)
    level = names.index("level") if "level" in names else None
    for row in rows:
        # In trees, the sizes of the top level include the sizes of the levels below.
        if row[size_at] and (level is None or not row[level]):
            yield "" if row[name_at] is None else str(row[name_at]), row[size_at]


def _column(names, given, known, what):
    found = [given] if given in names else [] if given else [one for one in known if one in names]
    if not found:
        raise c.UsageError(f"the answer has no column {given or ' or '.join(known)} for the {what}; "
                           f"it has: {', '.join(names)}", -1)
    return found[0]


def _frame(width, height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="sans-serif" font-size="12">{body}</svg>')


def _treemap(pairs, shown_as):
    pairs = sorted((pair for pair in pairs if pair[1] > 0), key=lambda pair: -pair[1])
    if len(pairs) > _MOST:
        rest = pairs[_MOST - 1:]
        pairs = pairs[:_MOST - 1] + [(f"{len(rest):,} others", sum(value for _, value in rest))]
    if not pairs:
        return _frame(_WIDTH, 20, '<text x="4" y="15">nothing to show</text>')
    whole = sum(value for _, value in pairs)
    boxes = squarified([value for _, value in pairs], 0, 0, _WIDTH, _HEIGHT)
    body = []
    for i, ((label, value), (x, y, w, h)) in enumerate(zip(pairs, boxes)):
        title = f"{label}: {shown_as(value)}, {100 * value / whole:.1f} %"
        text = ""
        if w > 50 and h > 18:
            fits = int((w - 8) / 6.6)
            shown = label if len(label) <= fits else label[:fits - 1] + "\u2026"
            text = f'<text x="{x + 4:.1f}" y="{y + 14:.1f}" fill="#fff">{escape(shown)}</text>'
            if h > 34:
                text += f'<text x="{x + 4:.1f}" y="{y + 29:.1f}" fill="#fff">{shown_as(value)}</text>'
        body.append(f'<g><title>{escape(title)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" '
                    f'height="{h:.1f}" fill="{_HUES[i % len(_HUES)]}" stroke="#fff"/>{text}</g>')
    return _frame(_WIDTH, _HEIGHT, "".join(body))


def squarified(values, x, y, w, h):
    """Returns rectangles (x, y, width, height) with areas in proportion to the values, largest first, and as square as
    possible (Bruls, Huizing, van Wijk 2000). Each row of rectangles is laid along the shorter side of the remaining
    area.
    """
    scale = w * h / sum(values)
    areas, found, start = [value * scale for value in values], [], 0
    while start < len(areas):
        side, end, total = min(w, h), start + 1, areas[start]
        worst = _ratio(total, areas[start], areas[start], side)
        while end < len(areas):
            next_worst = _ratio(total + areas[end], areas[start], areas[end], side)
            if next_worst > worst:
                break
            worst, total, end = next_worst, total + areas[end], end + 1
        depth, at = total / side, 0.0
        for area in areas[start:end]:
            length = area / depth
            found.append((x, y + at, depth, length) if w >= h else (x + at, y, length, depth))
            at += length
        if w >= h:
            x, w = x + depth, max(w - depth, 1e-9)
        else:
            y, h = y + depth, max(h - depth, 1e-9)
        start = end
    return found


def _ratio(total, largest, smallest, side):
    """Returns the worst aspect ratio in a row of rectangles."""
    return max(side * side * largest / (total * total), total * total / (side * side * smallest))


def _chains(rows):
    """Draws paths from GC roots: one box per step, the root first, with the field between two boxes."""
    body, y = [], 4
    for number in dict.fromkeys(row["path"] for row in rows):
        steps = [row for row in rows if row["path"] == number][::-1]
        for i, row in enumerate(steps):
            label = row["label"] or row["class"] or ""
            notes = [f"{key} {amount(row[key])}" for key in ("shallow", "retained") if row[key] is not None]
            notes += [f"GC root: {row['root']}"] * bool(row["root"])
            shown = label if len(label) <= 100 else label[:99] + "\u2026"
            body.append(f'<g><title>{escape(label)}</title><rect x="4" y="{y}" width="{_WIDTH - 8}" height="{_BOX}" '
                        f'rx="4" fill="#eef2f6" stroke="#8795a3"/><text x="12" y="{y + 14}" fill="#1c2128">'
                        f'{escape(shown)}</text><text x="12" y="{y + 28}" fill="#5b6570">{escape(", ".join(notes))}'
                        "</text></g>")
            y += _BOX
            if i + 1 < len(steps):
                body.append(f'<path d="M24 {y} v16 m-4 -5 l4 5 l4 -5" fill="none" stroke="#5b6570"/>'
                            f'<text x="34" y="{y + 13}" fill="#5b6570">{escape(row["via_field"] or "")}</text>')
                y += 18
        y += 14
    return _frame(_WIDTH, y, "".join(body))

"""Listings of dumps with their application, build and day."""
import csv
import datetime
import glob
import hashlib
import io
import os
import re
import sys
from collections import namedtuple
from urllib.parse import quote, unquote, urlsplit

PATTERN = "{app}/{build}/{day}/{dump}.hprof"
_ENDINGS = re.compile(r"(\.hprof|\.bin|\.dump)?(\.gz|\.zst)?$")
_PART = {"app": r"[^/]+", "build": r"[^/]+", "day": r"\d{4}-?\d\d-?\d\d", "dump": r"[^/]+?"}

# A dump: its location, its keys, and the mapping file of its build or None. For dumps that are fetched, bytes and
# modified come from the listing if it has them, so that a replaced dump is noticed.
Entry = namedtuple("Entry", "uri app build day dump mapping bytes modified", defaults=(None, None))
# Lines of `aws s3 ls --recursive` and of `gsutil ls -l`.
_LISTED = (re.compile(r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) +(?P<bytes>\d+) (?P<uri>.+)"),
           re.compile(r" *(?P<bytes>\d+) +(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z +(?P<uri>.+)"))


class ListingError(ValueError):
    """A listing that cannot be understood."""


def compile_pattern(pattern):
    """"{app}/{build}/{day}/{dump}.hprof" as a regular expression on the end of a path; "*" is any
    name. Compressed dumps match, too."""
    out = ""
    for piece in re.split(r"(\{\w+\}|\*)", pattern):
        if piece == "*":
            out += r"[^/]*"
        elif piece[:1] == "{" and piece[1:-1] in _PART:
            out += f"(?P<{piece[1:-1]}>{_PART[piece[1:-1]]})"
        elif piece[:1] == "{":
            raise ListingError(f"pattern {pattern}: {piece} is not known: app, build, day, dump")
        else:
            out += re.escape(piece)
    try:
        return re.compile(rf"(?:^|/){out}(?:\.gz|\.zst)?$")
    except re.error as error:
        raise ListingError(f"pattern {pattern}: {error}") from None


def local_path(uri):
    """Returns the path for a plain name or a file: URI; None for other schemes."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return unquote(parts.path, errors="surrogateescape")
    return None if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", uri) else uri


def _absolute(path):
    """Returns a path for the tables: absolute, and as a file: URI if it is not valid UTF-8."""
    path = os.path.abspath(path)
    try:
        path.encode()
    except UnicodeEncodeError:
        return "file://" + quote(os.fsencode(path))
    return path


def _entry(given, pattern, source, fetched):
    """Returns the entry for a row of a listing. Missing columns are taken from the path."""
    uri = given.get("uri") or given.get("path") or given.get("file")
    if not uri:
        raise ListingError(f"{source}: entry without uri: {given}")
    path = local_path(uri)
    if fetched and uri.startswith("-"):
        raise ListingError(f"{source}: {uri}: begins with -, which the --fetch command could take for an option")
    if path is not None and not fetched:
        uri = _absolute(path)
    found = pattern.search(uri)
    found = found.groupdict() if found else {}
    values = {name: str(given.get(name) or found.get(name) or "").strip() for name in _PART}
    if not values["dump"]:
        # Names such as heap.hprof occur in many directories, so add a hash of the whole path.
        name = _ENDINGS.sub("", uri.rsplit("/", 1)[-1])
        values["dump"] = f"{name}-{hashlib.sha1(uri.encode()).hexdigest()[:6]}"
    missing = [name for name in ("app", "build", "day") if not values[name]]
    if missing:
        raise ListingError(f"{source}: {uri}: no {', '.join(missing)}: the path does not match the pattern "
                           "(default: app/build/2026-03-02/name.hprof); use --pattern, or add columns with "
                           "these names")
    day = re.fullmatch(r"(\d{4})-?(\d\d)-?(\d\d)", values["day"])
    if not day:
        raise ListingError(f"{source}: {uri}: the day {values['day']} is not like 2026-03-02")
    mapping = str(given.get("mapping") or "").strip() or None
    if mapping and local_path(mapping) is not None:
        mapping = _absolute(local_path(mapping))
    numbers = [int(given[name]) if str(given.get(name) or "").isdigit() else None for name in ("bytes", "modified")]
    return Entry(uri, values["app"], values["build"], "-".join(day.groups()), values["dump"],
                 mapping, *numbers)


def _listed(lines, pattern):
    """Returns the rows of an object store's listing whose names match the pattern; None if it is another text."""
    rows = []
    for line in lines:
        found = next(filter(None, (one.fullmatch(line) for one in _LISTED)), None)
        if found and pattern.search(found["uri"]):
            time = datetime.datetime.fromisoformat(found["time"]).replace(tzinfo=datetime.timezone.utc)
            rows.append({"uri": found["uri"], "bytes": found["bytes"], "modified": int(time.timestamp() * 1000)})
        elif not found and not line.startswith("TOTAL:"):
            return None
    return rows


def _rows(text, pattern):
    """Returns the rows of a listing's text: a table with a column uri, one path per line, or the listing of an object
    store."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    listed = _listed(lines, pattern)
    if listed is not None:
        return listed
    head = re.split(r"[,\t]", lines[0].strip().lower()) if lines else []
    if {"uri", "path", "file"} & set(head):
        delimiter = "\t" if "\t" in lines[0] else ","
        lines[0] = lines[0].lower()
        return list(csv.DictReader(io.StringIO("\n".join(lines)), delimiter=delimiter))
    return [{"uri": line.strip()} for line in lines]


def read_listing(listing, pattern=PATTERN, mapping=None, read=None, fetched=False):
    """Returns the entries of a listing.

    listing: a list of paths or dicts; a file that lists dumps (one path per line, a table with the columns uri, app,
        build, day, dump and mapping, or the output of `aws s3 ls --recursive` or `gsutil ls -l`); "-" for standard
        input; a local path pattern such as "dumps/*/*.hprof", with "**" for all subdirectories; or a directory, whose
        files that match `pattern` are listed.
    pattern: extracts from the path what the listing does not contain.
    mapping: pattern for mapping files, "mappings/{app}/{build}.txt". Missing files are ignored.
    read: function that returns the text of a listing that is not local.
    fetched: the names are not local files.
    """
    compiled, source = compile_pattern(pattern), "listing"
    if isinstance(listing, (str, os.PathLike)):
        source = os.fspath(listing)
        path = local_path(source)
        if path is not None and re.search(r"[*?\[]", path):
            rows = [{"uri": name} for name in sorted(glob.glob(path, recursive=True))]
        elif path == "-":
            rows = _rows(sys.stdin.read(), compiled)
        elif path is not None and os.path.isdir(path):
            names = sorted(glob.glob(os.path.join(glob.escape(path), "**"), recursive=True))
            rows = [{"uri": name} for name in names if compiled.search(os.path.abspath(name))]
            if not rows:
                raise ListingError(f"{source}: no file in this directory matches the pattern {pattern}")
        elif path is None and read is None:
            raise ListingError(f"{source}: only Spark reads listings that are not local")
        elif path is None:
            rows = _rows(read(source), compiled)
        else:
            try:
                with open(path, encoding="utf-8") as f:
                    rows = _rows(f.read(), compiled)
            except UnicodeDecodeError:
                raise ListingError(f"{source}: not a text file: expected a listing of dumps") from None
    else:
        rows = [dict(one) if isinstance(one, dict) else {"uri": os.fspath(one)} for one in listing]
    entries = [_entry(row, compiled, source, fetched) for row in rows]
    if not entries:
        raise ListingError(f"{source}: lists no dumps")
    if mapping:
        entries = [_with_mapping(entry, mapping) for entry in entries]
    keys, found = {}, []
    for entry in entries:
        key = (entry.app, entry.build, entry.day, entry.dump)
        if keys.setdefault(key, entry.uri) != entry.uri:
            raise ListingError(f"{source}: {keys[key]} and {entry.uri} are both {'/'.join(key)}: "
                               "give them different names in the column dump")
        if entry not in found[-1:]:
            found.append(entry)
    return list(dict.fromkeys(found))


def _with_mapping(entry, mapping):
    name = mapping.format(app=entry.app, build=entry.build, day=entry.day, dump=entry.dump)
    path = local_path(name)
    if entry.mapping or (path is not None and not os.path.exists(path)):
        return entry
    return entry._replace(mapping=name if path is None else os.path.abspath(path))

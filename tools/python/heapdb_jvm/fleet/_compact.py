"""Merges the archives of dumps into a few files, TABLE/day=D/part-N.parquet.

The rows of the archives are appended to the last file of each table and day by rewriting it. When it is large enough,
the next file begins. Files are replaced atomically, and archives are removed last. If the process is killed earlier,
the merge is repeated and rows of the same dumps are replaced, so nothing is lost and nothing counts twice. The tables
dumps and failures are written last, because a dump counts only when all its rows exist.
"""
import io
import json
import os
import re
import zipfile

from ._store import KEYS, archive_name, day_of, last_dumps

_FULL_BYTES = 64 << 20  # a file of this size gets no more rows
_GROUP_ROWS = 1 << 17  # rows of a row group; bounds the memory of writers and readers
_KEY = "key.json"  # member of an archive that identifies its dump
_IN_FILE = tuple(name for name in KEYS if name != "day")


class Archive:
    """The tables of one dump."""

    def __init__(self, key, file=None, names=(), tables=None):
        self.key, self.file, self._tables = key, file, tables
        self.names = set(names) if tables is None else set(tables)

    @classmethod
    def open(cls, file):
        """Opens an archive. Returns None if it is truncated, which can happen if the machine stopped: archives are
        written without waiting for the disk.
        """
        try:
            with zipfile.ZipFile(file) as z:
                if z.testzip() is not None:
                    return None
                names = [name.rsplit(".", 1)[0] for name in z.namelist() if name != _KEY]
                return cls(json.loads(z.read(_KEY)), file, names)
        except (zipfile.BadZipFile, FileNotFoundError):
            return None

    def _parquet(self, name):
        import pyarrow.parquet
        with zipfile.ZipFile(self.file) as z:
            return pyarrow.parquet.ParquetFile(io.BytesIO(z.read(name + ".parquet")))

    def table(self, name):
        """Returns a table without the key columns, or None if the archive does not contain the table."""
        if name not in self.names:
            return None
        return self._tables[name] if self._tables is not None else self._parquet(name).read()

    def schema(self, name):
        return self._tables[name].schema if self._tables is not None else self._parquet(name).schema_arrow


def write_archive(file, key, folder):
    """Writes an archive of the Parquet files in a directory."""
    with zipfile.ZipFile(file, "w") as z:
        z.writestr(_KEY, json.dumps({name: key[name] for name in KEYS}))
        for name in sorted(os.listdir(folder)):
            z.write(os.path.join(folder, name), name)


def with_key(table, key):
    import pyarrow
    for i, name in enumerate(_IN_FILE):
        table = table.add_column(i, name, pyarrow.array([key[name]] * table.num_rows, pyarrow.string()))
    return table


def key_in(row):
    return tuple(row[name] for name in KEYS)


def joined(schemas):
    """Returns a schema with the columns of all schemas. A column whose types differ becomes a string."""
    import pyarrow
    types = {}
    for schema in schemas:
        for field in schema:
            if types.setdefault(field.name, field.type) != field.type:
                types[field.name] = pyarrow.string()
    return pyarrow.schema(list(types.items()))


def fitted(table, schema):
    """Returns the table with the columns of a schema. Missing columns are null."""
    import pyarrow
    names = set(table.schema.names)
    return pyarrow.table([table.column(field.name).cast(field.type) if field.name in names else
                          pyarrow.nulls(table.num_rows, field.type) for field in schema], schema=schema)


def row_keys(table):
    """The key of each row, without the day."""
    return zip(*(table.column(name).to_pylist() for name in _IN_FILE))


def dumps_of(table):
    """Returns the keys of the dumps in a table."""
    rows = table.select(_IN_FILE).group_by(list(_IN_FILE)).aggregate([])
    return set(row_keys(rows))


def without(table, keys):
    """Returns the table without the rows of these dumps."""
    import pyarrow
    if not dumps_of(table) & keys:
        return table
    return table.filter(pyarrow.array([key not in keys for key in row_keys(table)]))


def has_any(file, keys):
    """Returns whether a file has rows of any of these dumps."""
    reader = file.reader
    for group in range(reader.num_row_groups):
        if dumps_of(reader.read_row_group(group, columns=list(_IN_FILE))) & keys:
            return True
    return False


class _File:
    """A file of a table and day. A new file has no reader."""

    def __init__(self, path):
        import pyarrow.parquet
        self.path = path
        self.reader = pyarrow.parquet.ParquetFile(path) if os.path.exists(path) else None

    def replace(self, keys, tables):
        """Rewrites the file without the rows of some dumps, and appends tables, given as (schemas, iterator)."""
        import pyarrow
        import pyarrow.parquet
        schemas, more = tables
        schema = joined(([self.reader.schema_arrow] if self.reader else []) + schemas)
        groups = self.reader.num_row_groups if self.reader else 0

        def parts():
            for group in range(groups):
                yield without(self.reader.read_row_group(group), keys)
            yield from more

        beside = f"{os.path.dirname(self.path)}/.{os.path.basename(self.path)}.tmp"
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        rows, waiting, count = 0, [], 0
        with open(beside, "wb") as out:
            with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
                def flush():
                    if waiting:
                        writer.write_table(pyarrow.concat_tables(waiting).combine_chunks(),
                                           row_group_size=_GROUP_ROWS)
                        waiting.clear()
                for part in parts():
                    waiting.append(fitted(part, schema))
                    rows, count = rows + part.num_rows, count + part.num_rows
                    if count >= _GROUP_ROWS:
                        flush()
                        count = 0
                flush()
            out.flush()
            os.fsync(out.fileno())
        if rows:
            os.replace(beside, self.path)
            return
        for path in (beside, self.path):
            if os.path.exists(path):
                os.unlink(path)
        if not os.listdir(os.path.dirname(self.path)):
            os.removedirs(os.path.dirname(self.path))


def _copies(store, archives):
    """Marks copies. Of dumps with the same fingerprint, only the first by day counts. Each of the others that is not yet
    marked gets an archive that contains only the mark and replaces its own archive, if it has one.
    """
    import pyarrow.parquet
    marks, columns = {}, list(_IN_FILE) + ["fingerprint", "status", "duplicate_of"]
    new = {}
    for key, archive in archives.items():
        table = archive.table("dumps")
        if table:
            new[key] = {**table.to_pylist()[0], **archive.key}
            marks.setdefault(new[key]["fingerprint"], []).append((new[key], None))
    for file in store.files("dumps") if marks else ():
        for row in pyarrow.parquet.ParquetFile(file).read(columns=columns).to_pylist():
            row["day"] = day_of(file)
            if row["fingerprint"] in marks and key_in(row) not in archives:
                marks[row["fingerprint"]].append((row, file))
    for same in marks.values():
        same.sort(key=lambda one: [one[0][name] for name in ("day", "app", "build", "dump")])
        first = "/".join(key_in(same[0][0]))
        for row, file in same[1:]:
            if (row["status"], row["duplicate_of"]) == ("duplicate", first):
                continue
            table = pyarrow.parquet.ParquetFile(file).read() if file else archives[key_in(row)].table("dumps")
            if file:
                mine = tuple(row[name] for name in _IN_FILE)
                table = table.filter(pyarrow.array([key == mine for key in row_keys(table)]))
                table = table.drop_columns(list(_IN_FILE))
            for name, value in (("status", "duplicate"), ("duplicate_of", first)):
                table = table.set_column(table.schema.get_field_index(name), name,
                                         pyarrow.array([value], pyarrow.string()))
            key = {name: row[name] for name in KEYS}
            archives[key_in(row)] = Archive(key, tables={"dumps": table})


def _join(store, table, day, archives):
    """Merges the archives of a day into a table's files. Returns the paths of written and removed files."""
    keys = {tuple(archive.key[name] for name in _IN_FILE) for archive in archives}
    mine = [archive for archive in archives if table in archive.names]
    files = [_File(path) for path in store.files(table, day)]
    changed = [file for file in files if has_any(file, keys)]
    last = files[-1] if files else None
    if mine and (not last or os.path.getsize(last.path) >= _FULL_BYTES):
        number = int(re.search(r"part-(\d+)", last.path)[1]) + 1 if last else 0
        last = _File(os.path.join(store.root, table, f"day={day}", f"part-{number:05d}.parquet"))
    if mine and last not in changed:
        changed.append(last)
    for file in changed:
        more = mine if file is last else []
        schemas = {archive.schema(table) for archive in more}
        schemas = [with_key(schema.empty_table(), dict.fromkeys(KEYS)).schema for schema in sorted(schemas, key=str)]
        file.replace(keys, (schemas, (with_key(archive.table(table), archive.key) for archive in more)))
    return [file.path for file in changed]


def compact(store, fetch=None):
    """Merges all archives of a local store. Calls fetch(days) before it reads files of those days. Returns the paths of
    written and removed files.
    """
    names = [name for name in sorted(os.listdir(store.incoming)) if name.endswith(".zip")]
    taken, archives = [], {}
    for name in names:
        file = os.path.join(store.incoming, name)
        archive = Archive.open(file)
        taken.append(file)
        if archive:
            archives[key_in(archive.key)] = archive  # the newest archive of a dump wins
    _copies(store, archives)
    days = {}
    for archive in archives.values():
        days.setdefault(archive.key["day"], []).append(archive)
    if fetch and days:
        fetch(set(days))
    made = []
    for day, mine in sorted(days.items()):
        tables = set(store.tables()).union(*(archive.names for archive in mine))
        for table in sorted(tables, key=last_dumps):
            made += _join(store, table, day, sorted(mine, key=lambda archive: key_in(archive.key)))
    for file in taken:
        os.unlink(file)
    return made


__all__ = ["Archive", "archive_name", "compact", "write_archive"]

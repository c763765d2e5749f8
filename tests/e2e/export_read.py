"""Reads the files of export_test.sh in its directory with pyarrow, DuckDB and polars."""
import csv
import glob
import json
import os

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq


def rows_of(name):
    with open(name + ".jsonl") as file:
        return [json.loads(line) for line in file]


def same(table, rows, what):
    assert table.num_rows == len(rows), (what, table.num_rows, len(rows))
    for name in table.column_names:
        values = table.column(name).to_pylist()
        for mine, row in zip(values, rows):
            its = row.get(name)
            if isinstance(its, str) and its.startswith("0x") and isinstance(mine, int):
                its = int(its, 16)
            if isinstance(mine, float) and its is not None:
                assert abs(mine - its) < 0.006, (what, name, mine, its)
            else:
                assert mine == its, (what, name, mine, its)


def check_objects():
    rows = rows_of("a")
    table = pq.read_table("a.parquet", page_checksum_verification=True)
    table.validate(full=True)
    same(table, rows, "objects")
    types = {f.name: str(f.type) for f in table.schema}
    assert types["id"] == types["retained"] == types["length"] == "int64", types
    assert types["class"] == "string" and types["reachable"] == "bool", types
    file = pq.ParquetFile("a.parquet").metadata
    assert file.created_by.startswith("heapdb") and file.metadata[b"heapdb.query"] == b"objects"
    assert file.metadata[b"heapdb.version"] and len(file.metadata[b"heapdb.dump_fingerprint"]) == 16
    sorted_by = file.row_group(0).sorting_columns
    assert [(s.column_index, s.descending) for s in sorted_by] == [(0, False)], sorted_by
    assert table.column(0).to_pylist() == sorted(table.column(0).to_pylist())
    columns = {file.row_group(0).column(i).path_in_schema: file.row_group(0).column(i)
               for i in range(file.num_columns)}
    for name, column in columns.items():
        values = [v for v in table.column(name).to_pylist() if v is not None]
        statistics = column.statistics
        assert column.compression == "ZSTD", name
        assert statistics.null_count == len(rows) - len(values), name
        if values:
            assert (statistics.min, statistics.max) == (min(values), max(values)), name
    assert "RLE_DICTIONARY" in columns["class"].encodings
    assert "DELTA_BINARY_PACKED" in columns["id"].encodings
    plain = pq.read_table("plain.parquet")
    assert plain.equals(table)
    # the same in Arrow files; identifiers are unsigned there
    arrow = pa.ipc.open_file("a.arrow").read_all()
    arrow.validate(full=True)
    assert arrow.equals(pa.ipc.open_stream("a.arrow-stream").read_all())
    assert arrow.equals(pa.ipc.open_file(pa.memory_map("plain.arrow")).read_all())
    assert str(arrow.schema.field("id").type) == "uint64"
    assert pa.types.is_dictionary(arrow.schema.field("class").type)
    same(arrow, rows, "arrow")
    # sums, by three readers
    want = tuple(sum(r[c] or 0 for r in rows) for c in ("shallow", "retained", "length"))
    sums = "sum(shallow), sum(retained), sum(length)"
    assert duckdb.sql(f"SELECT {sums} FROM 'a.parquet'").fetchall()[0] == want
    groups = duckdb.sql("SELECT class, count(*) FROM 'a.parquet' GROUP BY 1").fetchall()
    assert sum(n for _, n in groups) == len(rows) and len(groups) > 100
    low = min(r["retained"] for r in rows)
    assert duckdb.sql(f"SELECT count(*) FROM 'a.parquet' WHERE retained > {low}").fetchall()[0][0] == \
        sum(r["retained"] > low for r in rows)
    for frame in (polars.read_parquet("a.parquet"), polars.read_ipc("a.arrow"),
                  polars.read_ipc_stream("a.arrow-stream")):
        assert tuple(frame[c].sum() for c in ("shallow", "retained", "length")) == want
        assert frame["class"].n_unique() == len(groups)


def check_queries():
    for name in ("roots", "dominators", "strings", "histogram", "leaks", "info"):
        same(pq.read_table(name + ".parquet"), rows_of(name), name)
        duckdb.sql(f"SELECT * FROM '{name}.parquet'").fetchall()
        polars.read_parquet(name + ".parquet")
    if os.path.exists("where.parquet"):
        same(pq.read_table("where.parquet"), rows_of("where"), "--where")
    assert pq.read_table("picked.parquet").column_names == ["name", "retained"]


def check_tables():
    for name in ("refs", "classes", "class_fields", "threads"):
        if not os.path.exists(name + ".parquet"):
            return
        table = pq.read_table(name + ".parquet")
        with open(name + ".tsv", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        assert table.num_rows == len(rows) > 0, name
        for column in table.column_names:
            if (name, column) == ("class_fields", "value"):
                continue  # numbers of all kinds, as text
            for mine, row in zip(table.column(column).to_pylist(), rows):
                its = row[column]
                if isinstance(mine, float):
                    its = float(its)
                if isinstance(mine, int):
                    its = {"true": 1, "false": 0}.get(its) if isinstance(mine, bool) else int(its, 0)
                assert mine == its or mine is None and its == "" or "\\" in its, (name, column, mine, its)
    # One text, one fraction after many whole numbers.
    table = pq.read_table("late.parquet")
    assert [str(f.type) for f in table.schema] == ["int64", "string", "double"], table.schema
    assert table.num_rows == 70000 and table["late"][69998].as_py() == "x"
    assert table["late"][0].as_py() == "1" and table["half"][4999].as_py() == 0.5
    table = pq.read_table("mixed.parquet")
    assert table.to_pydict() == {"i": [1, 2], "d": [2.5, 3.0], "t": ["x", "4"], "n": [None, None]}


check_objects()
check_queries()
check_tables()
print(f"{len(glob.glob('*.parquet'))} Parquet files read with pyarrow, DuckDB and polars")

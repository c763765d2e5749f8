"""phd_check.py DUMP DATABASE: every record of a portable heap dump against the database made of it.
Objects, classes, references, sizes of instances and of arrays with elements must be the same."""
import csv
import gzip
import io
import subprocess
import sys

from phd_dump import Reader

PRIMITIVES = dict(Z="boolean", C="char", F="float", D="double", B="byte", S="short", I="int", J="long")


def java(name):
    depth = len(name) - len(name.lstrip("["))
    name = name[depth:]
    if depth:
        name = PRIMITIVES.get(name) or name[1:-1]
    return name.replace("/", ".") + "[]" * depth


def ask(question):
    done = subprocess.run(["heapdb", "sql", sys.argv[2], "--csv", "--limit", "all", question], check=True,
                          capture_output=True, text=True)
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def round_up(size):
    return (size + 7) // 8 * 8


data = open(sys.argv[1], "rb").read()
reader = Reader(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
records = list(reader.records())
names = {r[1]: r[3] for r in records if r[0] == "class"}
instance = {r[1]: r[4] for r in records if r[0] == "class"}
want, sizes, refs = {}, {}, set()
for r in records:
    if r[0] == "object":
        want[r[1]], sizes[r[1]] = java(names[r[2]]), round_up(instance[r[2]])
    elif r[0] == "array":
        here = r[-1][-1:] if reader.version == 4 else []
        want[r[1]] = java(names[here[0]]) if here else java(names[r[2]]) + "[]"
        if here:
            r = (*r[:-1], r[-1][:-1])
    elif r[0] == "primitive":
        want[r[1]] = r[2] + "[]"
    else:
        want[r[1]] = "java.lang.Class"
    if r[0] in ("array", "primitive") and r[3] and r[4] is not None:
        sizes[r[1]] = r[4]
    if r[0] != "primitive":
        refs |= {(r[1], target) for target in r[-1]}
got = {int(i, 16): (c, int(s)) for i, c, s in ask("SELECT id, class, shallow FROM objects")}
failed = 0
for what, different in (
        ("objects", set(want) ^ set(got)),
        ("classes", {i for i in want if i in got and got[i][0] != want[i]}),
        ("sizes", {i for i in sizes if i in got and got[i][1] != sizes[i]}),
        ("references", refs - {(int(s, 16), int(t, 16)) for s, t in ask(
            "SELECT source, target FROM refs WHERE source <> '' AND target <> ''")})):
    if different:
        some = sorted(different)[:5]
        print(f"FAILED: {sys.argv[1]}: {len(different)} {what} differ: {some}, {[(want.get(i), got.get(i)) for i in some]}")
        failed = 1
print(f"{len(want)} objects, {len(sizes)} sizes, {len(refs)} references compared")
sys.exit(failed)

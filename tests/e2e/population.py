"""Asks each door how many objects of a class there are; see population_test.sh.

    population.py DATABASE    HEAPDB_LIBRARY: the library for Python, empty if there is none
"""
import collections
import json
import os
import subprocess
import sys

database = os.path.abspath(sys.argv[1])
OPTIONS = {"reachable": [], "unreachable": ["--unreachable"], "all": ["--all"]}
COUNTED = {"reachable": "reachable", "unreachable": "unreachable", "all": "all objects, reachable or not"}
failed = False


def command(*args, code=0):
    run = subprocess.run(["heapdb", *args, "--db", database, "--json", "--quiet"], capture_output=True, text=True)
    assert run.returncode == code, (args, run.returncode, run.stdout[:300], run.stderr)
    return json.loads(run.stdout)


def same(what, got, want):
    global failed
    if got != want:
        failed = True
        wrong = {k: (got.get(k), want.get(k)) for k in {*got, *want} if got.get(k) != want.get(k)} \
            if isinstance(got, dict) else (got, want)
        print(f"FAILED: {os.path.basename(database)}: {what}: got, expected: {str(wrong)[:600]}")


def by_name(rows, name="name", count="objects"):
    sums = collections.Counter()
    for row in rows:
        sums[row[name]] += row[count]
    return sums


# ---- expected numbers: the histogram, which check and relations compare with the graph ----

histogram = {which: command("query", "histogram", "--limit", "0", *options) for which, options in OPTIONS.items()}
counts = {which: by_name(answer["rows"]) for which, answer in histogram.items()}
same("populations add up", counts["reachable"] + counts["unreachable"], +counts["all"])
for which, answer in histogram.items():
    same("counted", answer["facts"]["counted"], COUNTED[which])
# Classes with mostly unreachable objects, and the most frequent ones.
names = [name for name, _ in counts["unreachable"].most_common(30)]
names += [name for name, _ in counts["reachable"].most_common(80) if name not in names][:50 - len(names)]
assert len(names) == 50
want = {which: {name: counts[which][name] for name in names} for which in OPTIONS}
for which, options in OPTIONS.items():
    some = names if which == "reachable" else names[:10]
    same(f"instances, {which}", {name: command("query", "instances", name, "--limit", "1", *options)["total_rows"]
                                 for name in some}, {name: want[which][name] for name in some})

# By superclass: each class with all its subclasses, objects and bytes.
above = {row["class"]: row["superclass"] for row in command("query", "class", "*", "--list", "--limit", "0")["rows"]}
for which, options in OPTIONS.items():
    sums = {"objects": collections.Counter(), "shallow": collections.Counter()}
    for row in histogram[which]["rows"]:
        name = row["name"]
        while name:
            for key, counter in sums.items():
                counter[name] += row[key]
            name = above.get(name)
    rows = command("query", "histogram", "--by", "superclass", "--limit", "0", *options)["rows"]
    assert len(rows) > 20, len(rows)
    for key, counter in sums.items():
        same(f"{key} by superclass, {which}", +by_name(rows, count=key),
             {row["name"]: counter[row["name"]] for row in rows if row[key]})

# ---- SQL, in each program that opens it ----

STATEMENTS = {
    "class tables": " UNION ALL ".join(f"SELECT '{n}' AS name, count(*) AS n FROM \"{n}\"" for n in names),
    "objects": "SELECT class AS name, count(*) AS n FROM objects GROUP BY class",
    "objects, one by one": "SELECT class AS name, count(id + 0) AS n FROM objects GROUP BY class",
    "classes": "SELECT name, sum(objects) AS n FROM classes GROUP BY name",
    "refs": "SELECT class_of(source) AS name, 1 AS n FROM refs GROUP BY source",
    "owners of entries": "SELECT 'e' AS name, count(DISTINCT owner) AS n FROM entries('java.util.HashMap')",
}


def sql_command(text, which):
    return command("sql", *OPTIONS[which], "--limit", "0", text)["rows"]


doors = {"heapdb sql": sql_command}
if os.environ.get("HEAPDB_LIBRARY"):
    import heapdb_jvm
    db = heapdb_jvm.open(database)
    doors["Python"] = lambda text, which: [row._asdict() for row in db.sql(text, all=which == "all")]
    for which in OPTIONS:
        rows = db.histogram(**({} if which == "reachable" else {which: True}))
        same(f"Python's histogram, {which}", by_name([row._asdict() for row in rows]), counts[which])
    import sqlite3
    extension = os.path.join(os.environ["BUILD"], "heapdb.so")
    if hasattr(sqlite3.Connection, "enable_load_extension") and sqlite3.sqlite_version_info >= (3, 38):
        connections = {}
        for which in "reachable", "all":
            connections[which] = c = sqlite3.connect(":memory:")
            c.row_factory = sqlite3.Row
            c.enable_load_extension(True)
            c.load_extension(extension)
            c.execute("SELECT heapdb_open(?)" if which == "reachable" else "SELECT heapdb_open(?, 'all')", (database,))
        doors["extension"] = lambda text, which: [dict(row) for row in connections[which].execute(text)]

expected = {}
for door, ask in doors.items():
    for which in "reachable", "all":
        for title, text in STATEMENTS.items():
            got = by_name(ask(text, which), count="n")
            if title in ("refs", "owners of entries"):
                same(f"{door}, {title}, {which}", got, expected.setdefault((title, which), got))
            else:
                same(f"{door}, {title}, {which}", {n: got[n] for n in names}, want[which])
# Not all objects refer to one, but those that do and are reachable are at most as many as these.
for which in "reachable", "all":
    for name, n in expected["refs", which].items():
        same(f"refs of {name}", min(n, counts[which][name]), n)
bytes_of = {which: histogram[which]["facts"]["shallow"] for which in OPTIONS}
for which in "reachable", "all":
    same(f"bytes, {which}", [row["n"] for row in sql_command("SELECT sum(shallow) AS n FROM objects", which)],
         [bytes_of[which]])
    same(f"strings, {which}", sql_command("SELECT count(*) AS n FROM strings", which)[0]["n"],
         command("query", "strings", "--limit", "1", *OPTIONS[which])["facts"]["objects"])
    same(f"entries, {which}", sql_command("SELECT count(*) AS n FROM entries('java.util.HashMap')", which)[0]["n"],
         command("query", "entries", "java.util.HashMap", "--limit", "0", *OPTIONS[which])["row_count"])

# ---- OQL: what Eclipse MAT would parse, so reachable objects ----

rows = command("oql", "--limit", "0", "SELECT classof(s).@name AS name, COUNT(*) AS n FROM INSTANCEOF java.lang.Object s "
               "GROUP BY classof(s).@name")["rows"]
got = by_name(rows, count="n")
same("OQL", {n: got[n] for n in names}, want["reachable"])


# ---- MCP ----

def mcp(calls):
    lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": tool, "arguments": args}})
             for i, (tool, args) in enumerate(calls)]
    run = subprocess.run(["heapdb", "mcp", os.path.dirname(database)], input="\n".join(lines) + "\n", capture_output=True,
                         text=True)
    answers = {a["id"]: a["result"]["content"][0]["text"] for a in map(json.loads, run.stdout.splitlines())}
    return [json.loads(answers[i]) for i in range(len(calls))]


if "built without" not in subprocess.run(["heapdb", "mcp", "."], stdin=subprocess.DEVNULL, capture_output=True,
                                         text=True).stderr:
    base = {"db": os.path.basename(database), "max_tokens": 20000}
    text = STATEMENTS["class tables"]
    some, every, lost = mcp([("sql", dict(base, statement=text)), ("sql", dict(base, statement=text, all=True)),
                             ("query", dict(base, name="histogram", limit=10, options={"unreachable": True}))])
    same("MCP, reachable", by_name(some["rows"], count="n"), want["reachable"])
    same("MCP, all", by_name(every["rows"], count="n"), want["all"])
    same("MCP, unreachable", {r["name"]: r["objects"] for r in lost["rows"]},
         {r["name"]: r["objects"] for r in histogram["unreachable"]["rows"][:10]})

# ---- each query that counts objects has the options, or explains why not ----

spec = collections.defaultdict(lambda: collections.defaultdict(set))
for line in subprocess.run(["heapdb", "help", "--names"], capture_output=True, text=True).stdout.splitlines():
    kind, owner, name = (line.split("\t") + ["", ""])[:3]
    if owner.startswith("query "):
        spec[owner[6:]][kind].add(name)
counting = {name: parts for name, parts in spec.items() if "counted" in parts["fact"]}
assert len(counting) > 25
for name, parts in counting.items():
    has = {"--unreachable", "--all"} <= parts["option"]
    same(f"{name}: --unreachable and --all, or why not", has, not parts["population"])
    target = ["java.util.HashMap"] if name in ("retained", "merged-paths", "immediate-dominators", "instances", "class",
                                               "entries") else []
    if name in ("referrers", "diff", "objects", "group-by-value"):
        continue
    for which, options in OPTIONS.items():
        answer = command("query", name, *target, "--limit", "1", *options, code=0 if has or not options else 2)
        if has or not options:
            same(f"{name}, {which}: counted", answer["facts"].get("counted"),
                 "unreachable" if name == "unreachable" else COUNTED[which])
        else:
            said, _, why = answer["error"]["message"].rpartition(": ")
            same(f"{name} {options[0]}: why not", (f"has no option {options[0]}" in said, len(why) > 20), (True, True))
sys.exit(failed)

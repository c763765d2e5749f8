#!/usr/bin/env python3
"""Every command with every option: one that `heapdb help --names` lists for the command changes what
is printed, what is written or how it ends; any other one is refused, with exit 2 and a message that
names the option. Argument: a folder to work in. Needs heapdb in PATH, DUMP and HDB_ROOT."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys

import jfr_make

os.chdir(sys.argv[1])
DUMP = os.environ["DUMP"]
CORPUS = os.environ["HDB_ROOT"] + "/tests/corpus/"
failed = False
runs = 0


def complain(*what):
    global failed
    print("FAILED:", *what)
    failed = True


def files():
    """What is in the folder out, by name."""
    found = {}
    for folder, _, names in os.walk("out"):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                found[name] = f.read()
    return found


# Values that differ between runs.
CHANGES = re.compile(rb"(seconds|MB/s|stage\t)[^\n]*|[0-9.]+ ?s\b|XXXXXX|heapdb-[a-zA-Z0-9]{6}")


def run(arguments, before=None):
    """Exit code, output, messages and files, in a folder out that `before` prepares."""
    global runs
    runs += 1
    shutil.rmtree("out", ignore_errors=True)
    os.mkdir("out")
    if before:
        before()
    p = subprocess.run(["heapdb"] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=60, check=False)
    return p.returncode, CHANGES.sub(b"", p.stdout), CHANGES.sub(b"", p.stderr), files()


def on_terminal(arguments):
    """What is printed where the output is a narrow terminal."""
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM="dumb", COLUMNS="40")
        os.execvp("heapdb", ["heapdb"] + arguments)
    text = b""
    while select.select([fd], [], [], 30)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        text += data
    os.close(fd)
    os.waitpid(pid, 0)
    return text


# ---- what there is ----

# Commands that take the options of a query.
ASKS = {"info": "info", "check": "check", "diff": "diff", "bitmaps": "export bitmaps"}
taken, queries, untaken, own = {}, {}, set(), set()
for line in subprocess.run(["heapdb", "help", "--names"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines():
    kind, owner, name, argument, *_ = line.split("\t") + [""]
    if kind == "command":
        taken[name if owner == "-" else owner + " " + name] = {}
    elif kind == "option" and owner in taken:
        taken[owner].setdefault(name, argument)
    elif kind == "option" and owner[6:] in ASKS:
        own.add((ASKS[owner[6:]], name))
    elif kind == "example":
        queries[owner] = name + " " + argument
    elif kind == "untaken":
        untaken.add((owner, name))
every = sorted(set(name for options in taken.values() for name in options))
if len(taken) < 20 or len(every) < 50 or len(queries) < 50:
    complain("names:", len(taken), len(every), len(queries))

# ---- arguments of each command ----

with open(DUMP, "rb") as whole, open("cut.hprof", "wb") as cut:
    cut.write(whole.read()[:-100000])
with open("hashes.jfr", "wb") as f:
    f.write(jfr_make.sample(3, "[Ljava/util/HashMap$Node;").data())
with open("ours.rules", "w", encoding="ascii") as f:
    f.write("rule ours\nclass java.util.HashMap\nsays ours\ndo nothing\nsource a test\n")
with open("key", "w", encoding="ascii") as f:
    f.write("0123456789abcdef")
with open("names", "w", encoding="ascii") as f:
    f.write("Sample -> Other\n")
for name, check in (("budget", "leaks: none"), ("other", "secrets: none"), ("grows", "growth: <= 1 %")):
    with open(name + ".yaml", "w", encoding="ascii") as f:
        f.write("checks: { one: { " + check + " } }\n")
with open("mapping.txt", "w", encoding="ascii") as f:
    f.write("com.acme.Long -> Sample:\n")
run(["import", DUMP, "-o", "a.heapdb"])
run(["import", "cut.hprof", "-o", "b.heapdb", "--sizes", "mat"])
run(["query", "retained", "java.util.HashMap", "--db", "a.heapdb"])
with open("leak.jsonl", "wb") as f:
    subprocess.run([sys.executable, os.environ["HDB_ROOT"] + "/tests/e2e/growth_make.py", "leak"],
                   stdout=f, check=True)
DB = ["--db", "a.heapdb"]
ARGUMENTS = {
    "import": ["cut.hprof", "-o", "out/x.heapdb"],
    "capture": [],
    "info": DB,
    "check": DB,
    "diff": ["a.heapdb", "b.heapdb"],
    "gate": DB + ["--budget", "budget.yaml"],
    "query": ["top"] + DB,
    "sql": DB + ["SELECT * FROM top LIMIT 30"],
    "report": DB,
    "serve": DB,
    "export": ["top"] + DB,
    "export dump": DB,
    "export bitmaps": ["out/pictures"] + DB,
    "convert": ["cut.hprof", "out/y.hprof"],
    "strip": ["cut.hprof", "out/y.hprof"],
    "redact": ["cut.hprof", "out/y.hprof"],
    "meminfo": [CORPUS + "meminfo/dumpsys", "a.heapdb"],
    "allocations": [CORPUS + "allocations/two"],
    "jfr": [CORPUS + "jfr/sample"],
    "watch": None,  # its options are tried one by one in watch_test
    "growth": ["leak.jsonl"],
    "memory": [CORPUS + "memory/" + name for name in ("smaps", "nmt_summary", "vm_info", "malloc_info")],
    "mcp": ["."],
    "notes": None,  # its forms are tried one by one in notes_test
    "fleet": None,  # its options are those of a program in Python
    "oql": DB + ["SELECT s.@displayName AS first, s.size AS n, s.@displayName AS second FROM "
                 "java.util.HashMap s"],
    "help": [],
    "version": [],
}


def arguments_of(command):
    words = command.split(" ")
    return words + ARGUMENTS[command]


def leave_file(name):
    def make():
        with open("out/" + name, "w", encoding="ascii") as f:
            f.write("old\n")
    return make


# Options that do not change the answer, with the reason. Those with a value still refuse an invalid one.
SILENT = {
    "--human": "sizes are for people without it",
    "--memory": "answers are the same in any memory",
    "--threads": "answers are the same on any number of threads",
    "--tmp": "needed where a database cannot be written: read_only_test.sh",
    "--dump": "needed where the dump moved: stale.sh",
    "--no-progress": "no progress is drawn where nothing lasts long",
    "--no-pager": "there is none but on a terminal: cli/pager.sh",
    "--quiet": "few commands have something to say",
    "--allow-import": "permits what a client asks: mcp_make_test.sh",
    "--allow-capture": "likewise",
    "--timings": "few commands have stages on so small a dump",
    "--table": "only some queries print a text",
    "--app-only": "needs a dump of Android: rewrite_test.sh",
    "--koom": "the same",
    "--segments": "the dump is in segments already: rewrite_test.sh",
}
BAD_VALUES = {"--memory": "x", "--threads": "0"}
# The sample has no bitmaps, there may be no JVM, and the recorded allocations are few.
NO_ROWS = {("convert", "--snapshot"), ("export bitmaps", "--db"), ("export bitmaps", "--wide"), ("capture", "--wide"),
           ("allocations", "--wide")}
CAPTURE_LIST = {"--json", "--csv", "--table", "--columns", "--wide", "--quiet", "--no-progress", "--no-pager", "--help"}

VALUES = {
    "--rules": [["ours.rules"]],
    "--jfr": [["hashes.jfr"]],
    "--columns": [], "--sort": [],
    "--db": [["b.heapdb"]], "--where": [["1 = 0"]], "--limit": [["1"]], "--format": [["jsonl"], ["junit"]],
    "--budget": [["other.yaml"]], "--baseline": [["b.heapdb"]],
    "--svg": [["treemap"]], "--by": [["thread"]], "--html": [["out/r.html"]], "--output": [["out/other"]],
    "--compress": [["gzip"], ["none"]], "--sizes": [["mat"]], "--layout": [["header=16"]],
    "--mapping": [["mapping.txt"]], "--javacore": [["mapping.txt"]],
    "--fetch": [["false {}"]], "--snapshot": [["2"]], "--contents": [["keep"]],
    "--zero": [["primitives"]], "--keep": [["strings"], ["java.lang.String"]], "--id-size": [["4"]],
    "--arrays": [["bytes"]], "--hash-key": [["key"]], "--rename": [["names"]], "--secrets": [["out/found"]],
    "--with": [["leak.jsonl"]],
    }
# If an option needs others: the command's arguments instead of those above.
COMPANY = {
    ("query", "--rules"): ["query", "leaks"] + DB,
    ("gate", "--baseline"): ["gate", "--budget", "grows.yaml"] + DB,
    ("query", "--jfr"): ["query", "leaks"] + DB,
    ("allocations", "--svg"): ["allocations", CORPUS + "allocations/two", "--by", "stack"],
    ("allocations", "--snapshot"): ["allocations", CORPUS + "heapprofd/own.pftrace"],
    ("meminfo", "--chart"): ["meminfo", CORPUS + "meminfo/dumpsys", CORPUS + "meminfo/dumpsys"],
    ("import", "--javacore"): ["import", CORPUS + "phd/v66404.phd", "-o", "out/p.heapdb"],
    ("convert", "--javacore"): ["convert", CORPUS + "phd/v66404.phd", "out/p.hprof"],
    ("jfr", "--svg"): ["jfr", CORPUS + "jfr/sample", "--by", "stack"],
    ("query", "--svg"): ["query", "dominator-tree"] + DB,
    ("query", "--stacks"): ["query", "threads"] + DB,
    ("diff", "--svg"): ["diff", "a.heapdb", "b.heapdb", "--by", "path"],
    ("capture", "--columns"): ["capture", "--csv"],
    ("sql", "--svg"): ["sql"] + DB + ["SELECT level, name, retained FROM dominator_tree"],
    ("sql", "--all"): ["sql"] + DB + ["SELECT count(*) FROM objects"],
    ("export", "--all"): ["export", "--table", "arrays"] + DB,
    ("export", "--svg"): ["export", "dominator-tree"] + DB,
    ("export", "--bytes"): ["export", "top", "--format", "table"] + DB,
    ("export", "--wide"): ["export", "top", "--format", "table"] + DB,
    ("export", "--compress"): ["export", "top", "--format", "parquet", "-o", "out/p"] + DB,
    ("export", "--force"): ["export", "top", "-o", "out/old"] + DB,
    ("export", "--table"): ["export"] + DB,
    ("export dump", "--force"): ["export", "dump", "-o", "out/old"] + DB,
    ("import", "--force"): ["import", "cut.hprof", "-o", "out/old"],
    ("convert", "--force"): ["convert", "cut.hprof", "out/old"],
    ("strip", "--force"): ["strip", "cut.hprof", "out/old"],
    ("redact", "--force"): ["redact", "cut.hprof", "out/old"],
    ("import", "--snapshot"): ["import", DUMP, "-o", "out/x.heapdb"],
    ("convert", "--output"): ["convert", "cut.hprof"],
    ("strip", "--output"): ["strip", "cut.hprof"],
    ("redact", "--output"): ["redact", "cut.hprof"],
    ("import", "--output"): ["import", "out/x.hprof"],
    ("report", "--no-values"): ["report", "--html", "out/r.html"] + DB,
    ("redact", "--hash-key"): ["redact", "cut.hprof", "out/y.hprof", "--hash"],
    ("export bitmaps", "--columns"): ["export", "bitmaps", "out/pictures", "--csv"] + DB,
}


def columns_of(command, given):
    as_csv = ["--format", "csv"] if command == "export" else ["--csv"]
    _, out, _, _ = run(given + as_csv)
    return out.decode().splitlines()[0].split(",")


def candidates(command, option, given):
    """Ways of giving the option; one of them shows."""
    if option == "--columns":
        return [[columns_of(command, given)[0]]]
    if option == "--sort":
        return [[sign + name] for name in columns_of(command, given) for sign in ("", "-")]
    if (command, option) == ("export", "--table"):
        return [["classes"]]
    return VALUES.get(option, [[]])


bases = {}


def shows(command, option):
    given = COMPANY.get((command, option)) or arguments_of(command)
    if option == "--force" and "out/old" not in given:
        given = given + ["-o", "out/old"]
    before = leave_file("old") if option == "--force" else None
    if (command, option) == ("import", "--output"):
        before = lambda: shutil.copy(DUMP, "out/x.hprof")
    key = (tuple(given), option == "--force")
    if option == "--help":
        # of `query NAME`, which is a command itself, the help is that of NAME
        what = given[1] if command == "query" else command
        return run(given + [option])[1].startswith(b"usage: heapdb " + what.encode())
    if option == "--timeout":
        return b"stopped after" in run(["sql", option, "1"] + DB + [
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"])[2]
    if option == "--wide":
        return on_terminal(given) != on_terminal(given + [option])
    if key not in bases:
        bases[key] = run(given, before)
    for value in candidates(command, option, given):
        without = [w for w in given]
        if option == "--db":
            at = without.index("--db")
            del without[at:at + 2]
        if option == "--output" and "-o" in without:
            at = without.index("-o")
            del without[at:at + 2]
        got = run(without + [option] + value, before)
        if got[0] == 2 and option != "--snapshot":
            continue
        if got != bases[key]:
            return True
    return False


for command, options in taken.items():
    if ARGUMENTS[command] is None:
        continue
    for option in every:
        if (command, option) in own:
            continue
        # It runs until it is stopped; see serve_test.sh.
        if command == "serve" and option != "--help" and option in options:
            continue
        if option not in options and any(o.startswith(option) for o in options):
            continue  # understood as the longer one
        if option not in options:
            code, out, err, _ = run(arguments_of(command) + [option])
            if code != 2 or option[2:].encode() not in out + err:
                complain(command, option, "is not refused:", code, (out + err)[:200])
        elif option in BAD_VALUES:
            code = run(arguments_of(command) + [option, BAD_VALUES[option]])[0]
            if code != 2:
                complain(command, option, BAD_VALUES[option], "exits with", code)
        elif command == "capture" and option not in CAPTURE_LIST:
            # The list of JVMs has few options; the others are for a capture.
            value = [(VALUES.get(option) or [["1"]])[0][0]] if options[option] else []
            code = run(["capture", option] + value)[0]
            if code != 2 and option not in ("--adb",):
                complain(command, option, "is not refused:", code)
        elif (command, option) in NO_ROWS or option in SILENT and (command, option) != ("export", "--table"):
            continue
        elif not shows(command, option):
            complain(command, option, "is taken and changes nothing")

# Options with a visible effect.
if b"using" in run(["query", "top", "--quiet"])[2] or b"using" not in run(["query", "top"])[2]:
    complain("--quiet")
if b"\t" not in run(arguments_of("import") + ["--timings"])[2]:
    complain("--timings")
if on_terminal(["query", "leaks", "--table"] + DB) == on_terminal(["query", "leaks"] + DB):
    complain("--table")
if run(["query", "strings", "--limit", "1", "--dump", "none"] + DB) == run(["query", "strings", "--limit", "1"] + DB):
    complain("--dump")

# What a query does not take of the options that others take.
for owner, option in sorted(untaken):
    name = owner.split(" ", 1)[1]
    verb = queries[owner].split(" ")[0]
    code, out, err, _ = run(([verb] if verb == name else [verb, name]) + [option])
    if code != 2 or option.encode() not in out + err:
        complain(owner, option, "is not refused:", code, (out + err)[:200])
    if option.encode() in run(["help", "query", name])[1]:
        complain("help has", option, "of", owner)

# -o writes the dump, byte for byte, and the library's bytes go nowhere else.
code, out, err, found = run(["export", "dump", "-o", "out/d.hprof"] + DB)
with open(DUMP, "rb") as f:
    if code or out or list(found) != ["d.hprof"] or found["d.hprof"] != f.read():
        complain("export dump -o:", code, len(out), err, list(found))
print(runs, "runs,", len(taken), "commands,", len(every), "options")
sys.exit(failed)

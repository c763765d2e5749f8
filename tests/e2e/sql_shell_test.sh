#!/bin/sh
# sql_shell_test.sh - the shell of heapdb sql on a terminal: commands, statements of several lines, history and
# completion; and Ctrl-C, which ends endless statements, here and on the command line. Prints how long that took.
set -eu
if heapdb sql --db "$DUMP" "SELECT 1" 2>&1 | grep -q "built without SQLite"; then
	echo "this heapdb was built without SQLite"
	exit 77
fi
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
python3 -c 'import pty; pty.openpty()' 2>/dev/null || { echo "no pseudo-terminals here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# libedit copies the name of the completion and never frees it (el_set, EL_ADDFN).
echo 'leak:el_set' >lsan.supp
LSAN_OPTIONS=suppressions=$work/lsan.supp:print_suppressions=0
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}fast_unwind_on_malloc=0
export LSAN_OPTIONS ASAN_OPTIONS
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
heapdb query retained java.util.HashMap --db s.heapdb --quiet >/dev/null
cat >shell.py <<'END'
import os, pty, re, select, signal, subprocess, sys, time

# Ctrl-C ends a statement within 0.2 s on an idle machine.
SOON = 1.0
failed = False
has_editor = b"libedit" in subprocess.run(["ldd", os.environ["BUILD"] + "/heapdb"],
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def complain(*what):
    global failed
    print("FAILED:", *what)
    failed = True


class Shell:
    def __init__(self):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm", HEAPDB_HISTORY="history", COLUMNS="200")
            os.execvp("heapdb", ["heapdb", "sql", "s.heapdb"])
        self.text = ""
        self.until("heapdb> ")

    def until(self, wanted, seconds=30):
        """Reads until a text comes; what came before it."""
        end = time.time() + seconds
        while wanted not in self.text and time.time() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    break
                self.text += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", data.decode(errors="replace"))
        before, found, self.text = self.text.partition(wanted)
        if not found:
            complain("no", repr(wanted), "in", repr(before[-500:]))
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def ask(self, text, *wanted):
        self.type(text + "\n")
        answer = self.until("heapdb> ")
        for w in wanted:
            if w not in answer:
                complain(repr(text), "has no", repr(w), ":", repr(answer[-500:]))
        return answer

    def end(self):
        self.type("exit\n")
        _, status = os.waitpid(self.pid, 0)
        if status:
            complain("the shell ends with", status)


s = Shell()
s.ask(".mode csv")
s.ask("SELECT count(*) AS n FROM objects;", "30954")
s.ask("SELECT nope;", "no such column: nope")
s.type("SELECT count(*)\n")
s.until("...> ")
s.ask("AS two_lines FROM classes;", "two_lines")
for word in (".help", "help", "help;"):
    s.ask(word, ".tables", ".schema", ".mode", ".timeout")
tables = s.ask(".tables", "Tables (", "Tables of one object", "Queries, such as", "All objects: class", ".tables TEXT")
tables = [line.split()[0] for line in tables.splitlines() if line.startswith("  ")]
for name in ("objects", "refs", "histogram", "query_references", "leak_traces", "problems", "records"):
    if tables.count(name) != 1:
        complain(".tables has", tables.count(name), name)
s.ask(".tables HashMap", '"java.util.HashMap"', '"java.util.HashMap$Node[]"')
s.ask(".schema java.util.HashMap", "loadFactor")
s.ask(".schema nothing", "no such table: nothing")
s.ask(".mode nothing", ".mode takes")
s.ask(".nothing", "unknown command .nothing")
# Ctrl-C discards the input, of one line or several, and the shell continues.
s.type("SELECT nonsense")
time.sleep(0.2)
s.type("\x03")
s.until("heapdb> ")
s.type("SELECT 1,\n")
s.until("...> ")
time.sleep(0.2)
s.type("more nonsense\x03")
s.until("heapdb> ")
s.ask("SELECT 40 + 2 AS after;", "42")
s.ask(".limit 2")
if s.ask("SELECT id FROM objects;").count("0x") != 2:
    complain(".limit")
s.ask(".timeout 1")
s.ask("SELECT count(*) FROM objects a, objects b, objects c;", "stopped after 1 seconds")
s.ask(".timeout 0")
if has_editor:
    s.ask('SELECT size FROM "java.util.HashM\t" ORDER BY siz\t DESC LIMIT 1;', "\r\n1010\r\n")
    s.ask("SELECT count(*) AS m FROM class_tot\t;", "\r\nm\r\n")
    s.ask("\x1b[A", "\r\nm\r\n")  # once more
endless = [
    "SELECT count(*) FROM objects a, objects b, objects c",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "SELECT count(*) FROM strings a, strings b WHERE a.text = b.text || '.'",
    "SELECT max(path(a.id)) FROM objects a, objects b",
]
times = []
for statement in endless:
    s.type(statement + ";\n")
    time.sleep(0.7)
    start = time.time()
    s.type("\x03")
    if "interrupted" not in s.until("heapdb> "):
        complain("Ctrl-C is not told of", statement)
    times.append(time.time() - start)
s.ask("SELECT 4711 + 1 AS n;", "4712")
s.end()
if has_editor and "class_totals" not in open("history").read():
    complain("no history")

# A shell's background jobs ignore SIGINT; these must not.
for statement in endless:
    p = subprocess.Popen(["heapdb", "sql", "s.heapdb", statement], stderr=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(0.7)
    start = time.time()
    p.send_signal(signal.SIGINT)
    code = p.wait(30)
    times.append(time.time() - start)
    if code != -signal.SIGINT or "interrupted" not in p.stderr.read():
        complain(statement, "ends with", code)
# Commands of the shell on the command line and in a pipe.
def asked(arguments, text=None):
    p = subprocess.run(["heapdb", "sql"] + arguments, input=text, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, stdin=None if text else subprocess.DEVNULL)
    return p.returncode, p.stdout


for what, wanted, code in (
        (asked(["s.heapdb", ".tables"]), "class_totals", 0),
        (asked(["s.heapdb", ".tables HashMap"]), '"java.util.HashMap$Node[]"', 0),
        (asked(["s.heapdb", ".schema objects"]), "dominator", 0),
        (asked(["s.heapdb", ".nothing"]), "unknown command .nothing", 2),
        (asked(["s.heapdb"], ".tables\n"), "class_totals", 0),
        (asked(["s.heapdb"], "help\n"), ".schema", 0),
        (asked(["s.heapdb"], "-- a comment\n.mode csv\nSELECT 1\n AS n;\n.quit\nSELECT nope;\n"), "n\n1\n", 0),
        (asked(["s.heapdb"], "SELECT 1;\n.schema nothing\n"), "no such table: nothing", 2)):
    if wanted not in what[1] or what[0] != code:
        complain("expected", code, repr(wanted), "in", what)
print("Ctrl-C: ms until the prompt, until the end:", *(round(t * 1000) for t in times))
if max(times) > SOON:
    complain("Ctrl-C takes", max(times), "s")
sys.exit(failed)
END
python3 shell.py

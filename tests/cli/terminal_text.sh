# On a terminal tables fit its width, numbers are complete, and omitted columns are listed. Threads, paths, objects,
# leaks and findings are text, also in a pipe; with --columns or a format they are rows.
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	echo "there are no terminals: /dev/pts is not mounted" >&2
	exit 77
fi
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
cat >term.py <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios

sys.path.insert(0, os.environ["HDB_ROOT"] + "/tests/support")
from terminal import read_all

def on_terminal(columns, command, verb="query", **env):
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    db = [] if verb in ("diff", "help") else ["--db", "s.heapdb"]
    child = subprocess.Popen(["heapdb", verb] + command.split() + db, stdout=side,
                             env=dict(os.environ, **env))
    os.close(side)
    text = read_all(main)
    child.wait()
    return text.decode().replace("\r\n", "\n")

plain = {"NO_COLOR": "1"}
for columns in 80, 120, 200:
    text = on_terminal(columns, "histogram --limit 9", **plain)
    print("--- histogram at", columns)
    print(text, end="")
    assert all(len(line) <= columns for line in text.split("\n")), columns
for command in "top", "loaders", "dominator-tree", "reference-stats", "direct-buffers", "collections", \
        "entries java.util.HashMap", "threads":
    for columns in 80, 120:
        text = on_terminal(columns, command + " --limit 4", **plain)
        print("---", command, "at", columns)
        print(text, end="")
        assert all(len(line) <= columns for line in text.split("\n")), text
wide = on_terminal(80, "histogram --limit 9 --wide", **plain)
assert "not shown" not in wide and "unreachable_shallow" in wide
# the end of frames and paths is kept
cut = on_terminal(60, "threads main --table", **plain)
assert any("(" not in line.split("\u2026")[0] and line.split("\u2026")[1].split()[0][-1] == ")"
           for line in cut.split("\n") if "\u2026" in line and "frame" in line), cut
# texts contain the identifiers of objects
assert "objects of Android heap: default" in on_terminal(80, "triage --heap default", **plain)
# the sort column stays
assert "unreachable_shallow" in on_terminal(80, "histogram --sort unreachable_shallow --limit 3", **plain)
# bold and dim if the terminal supports them and no setting forbids them
assert "\033[1m" in on_terminal(80, "histogram --limit 1", TERM="xterm", NO_COLOR="")
assert "\033" not in on_terminal(80, "histogram --limit 1", TERM="dumb", NO_COLOR="")
assert "\033" not in on_terminal(80, "histogram --limit 1", TERM="xterm", NO_COLOR="1")

latch = subprocess.run(["heapdb", "query", "group-by-value", "java.util.concurrent.CountDownLatch",
                        "--csv", "--columns", "id", "--db", "s.heapdb"],
                       stdout=subprocess.PIPE, check=True).stdout.decode().split()[1]
for command in "threads main", "threads", "threads --stacks --limit 1", "path " + latch, "object " + latch, \
        "object " + latch + " --depth 1", "references " + latch, "referrers " + latch, \
        "leaks --threshold 14", "leaks --threshold 14 --limit 1", "triage":
    text = on_terminal(80, command, **plain)
    assert all(len(line) <= 80 for line in text.split("\n")), text
    print("---", command)
    print(text, end="")
    assert on_terminal(80, command + " --table", **plain) != text, command
    # the same text in a pipe, with $COLUMNS columns or 100
    ask = ["heapdb", "query"] + command.split() + ["--db", "s.heapdb"]
    for columns in "80", "100":
        env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
        env.update({"COLUMNS": columns} if columns != "100" else {})
        piped = subprocess.run(ask, env=env, stdout=subprocess.PIPE, check=True).stdout.decode()
        assert piped == on_terminal(int(columns), command, **plain), (piped, columns)
    coloured = on_terminal(80, command, TERM="xterm", NO_COLOR="")
    for code in "0", "1", "2":
        coloured = coloured.replace("\033[" + code + "m", "")
    assert text == coloured
# a line that is too wide even without packages is wrapped after the tree lines of its path
narrow = on_terminal(50, "path " + latch, **plain)
print("--- path at 50")
print(narrow, end="")
assert all(len(line) <= 50 for line in narrow.split("\n")), narrow
# the previous value comes after the growth
for columns in 80, 200:
    text = on_terminal(columns, "s.heapdb s.heapdb --limit 2 --by class", "diff", **plain)
    print("--- diff at", columns)
    print(text, end="")
    assert all(len(line) <= columns for line in text.split("\n")), text
# facts are wrapped, too; numbers that info repeats are for programs
print("--- diff without a difference")
print(on_terminal(60, "s.heapdb s.heapdb", "diff", **plain), end="")
text = on_terminal(60, "--by path s.heapdb s.heapdb --limit 2", "diff", **plain)
assert "\nleft out: " in text and all(len(line) <= 60 for line in text.split("\n")), text
text = on_terminal(80, "", "info", **plain)
assert "not shown: explanations" in text and "classes" in text, text
assert " -" not in [line[-2:] for line in text.split("\n")], text
assert all(len(line) <= 80 for line in on_terminal(80, "query leaks", "help", **plain).split("\n"))
# no box-drawing characters if the locale has none
assert on_terminal(80, "path " + latch, LC_ALL="C", **plain).isascii()
END
python3 term.py

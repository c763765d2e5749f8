# On a terminal of 46 columns lines are cut to it, and the cut is shown; elsewhere nothing is cut.
export PYTHONPATH="$HDB_ROOT/tests/support"
python3 "$PYTHONPATH/terminal.py" || exit 77
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
python3 - <<'END'
import os, subprocess, terminal

COMMAND = ["heapdb", "query", "histogram", "java.util.concurrent.*", "--columns", "name,count"]

def on_terminal(columns, command=COMMAND):
    return terminal.show(command, columns, env=dict(os.environ, NO_COLOR="1"), quiet=True)[0]

narrow = on_terminal(46)
print(narrow, end="")
assert all(len(line) <= 46 for line in narrow.split("\n"))
assert "--wide shows whole names" in narrow and "\033" not in narrow
piped = subprocess.run(COMMAND, stdout=subprocess.PIPE, check=True).stdout.decode()
assert "\u2026" not in piped
assert on_terminal(100) == piped

# Texts of the heap are no names of classes: no package goes, and what is wasted stays in sight.
STRINGS = ["heapdb", "query", "strings", "--match", "^java.util.co.*Map", "--limit", "3"]
COLLECTIONS = ["heapdb", "query", "collections", "--limit", "3"]
for columns, command in (62, STRINGS), (72, COLLECTIONS):
    print(on_terminal(columns, command), end="")
# A size is not broken at the end of a line.
threads = on_terminal(60, ["heapdb", "query", "threads", "main"])
assert "retained\n" in threads and "\n          B" not in threads and "KiB\n" in threads
assert not [line for line in threads.split("\n") if line.strip() in ("B", "KiB")]
END

# On a terminal of 46 columns lines are shortened, with a mark; elsewhere nothing is shortened.
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	echo "there are no terminals: /dev/pts is not mounted" >&2
	exit 77
fi
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
python3 - <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios

sys.path.insert(0, os.environ["HDB_ROOT"] + "/tests/support")
from terminal import read_all

COMMAND = ["heapdb", "query", "histogram", "java.util.concurrent.*", "--columns", "name,objects"]

def on_terminal(columns, command=COMMAND):
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(command, stdout=side, stderr=subprocess.DEVNULL,
                             env=dict(os.environ, NO_COLOR="1"))
    os.close(side)
    text = read_all(main)
    child.wait()
    return text.decode().replace("\r\n", "\n")

narrow = on_terminal(46)
print(narrow, end="")
assert all(len(line) <= 46 for line in narrow.split("\n"))
assert "--wide shows whole names" in narrow and "\033" not in narrow
piped = subprocess.run(COMMAND, stdout=subprocess.PIPE, check=True).stdout.decode()
assert "\u2026" not in piped
assert on_terminal(100) == piped

# Strings of the heap are not class names: they lose no package, and the wasted size stays visible.
STRINGS = ["heapdb", "query", "strings", "--match", "^java.util.co.*Map", "--limit", "3"]
COLLECTIONS = ["heapdb", "query", "collections", "--limit", "3"]
OQL = ["heapdb", "oql", "SELECT toString(s), s FROM java.lang.String s WHERE toString(s) LIKE \"java.util.co.*Map\""]
SQL = ["heapdb", "sql", "SELECT id, text FROM strings WHERE text LIKE 'java.util.co%Map'"]
for columns, command in (62, STRINGS), (72, COLLECTIONS), (100, OQL), (70, OQL), (40, SQL):
    print(on_terminal(columns, command), end="")
# Sizes are not split at the end of a line.
threads = on_terminal(60, ["heapdb", "query", "threads", "main"])
assert "retained\n" in threads and "\n          B" not in threads and "KiB\n" in threads
assert not [line for line in threads.split("\n") if line.strip() in ("B", "KiB")]
END

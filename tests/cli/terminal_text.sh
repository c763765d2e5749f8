# On a terminal: tables fit its width, numbers are whole, what is left out is named; threads, paths and objects are
# texts.
# Elsewhere, and where columns or a format are asked for, they are rows.
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	echo "there are no terminals: /dev/pts is not mounted" >&2
	exit 77
fi
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
cat >term.py <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios

def on_terminal(columns, command, **env):
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(["heapdb", "query"] + command.split() + ["--db", "s.heapdb"], stdout=side,
                             env=dict(os.environ, **env))
    os.close(side)
    text = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    child.wait()
    return text.decode().replace("\r\n", "\n")

plain = {"NO_COLOR": "1"}
for columns in 80, 120, 200:
    text = on_terminal(columns, "histogram --limit 9", **plain)
    print("--- histogram at", columns)
    print(text[text.index("\n\n") + 2:], end="")
    assert all(len(line) <= columns for line in text.split("\n")), columns
wide = on_terminal(80, "histogram --limit 9 --wide", **plain)
assert "not shown" not in wide and "unreachable bytes" in wide
# the column that is sorted by stays
assert "unreachable bytes" in on_terminal(80, "histogram --sort unreachable_shallow --limit 3", **plain)
# bold and dim where the terminal obeys them and nobody minds
assert "\033[1m" in on_terminal(80, "histogram --limit 1", TERM="xterm", NO_COLOR="")
assert "\033" not in on_terminal(80, "histogram --limit 1", TERM="dumb", NO_COLOR="")
assert "\033" not in on_terminal(80, "histogram --limit 1", TERM="xterm", NO_COLOR="1")

latch = subprocess.run(["heapdb", "query", "group", "java.util.concurrent.CountDownLatch", "--csv", "--columns", "id",
                        "--db", "s.heapdb"], stdout=subprocess.PIPE, check=True).stdout.decode().split()[1]
for command in "threads main", "path " + latch, "object " + latch, "leaks --threshold 14", "triage":
    text = on_terminal(80, command, **plain)
    print("---", command)
    print(text, end="")
    for rows in command + " --table", command + " --wide":
        assert on_terminal(80, rows, **plain) != text, rows
    assert text == on_terminal(80, command, TERM="xterm", NO_COLOR="").replace("\033[1m", "").replace("\033[0m", "")
# no box-drawing characters where the locale has none
assert on_terminal(80, "path " + latch, LC_ALL="C", **plain).isascii()
END
python3 term.py

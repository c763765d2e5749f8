#!/bin/sh
# tests/e2e/two_steps_test.sh - on a terminal `heapdb FILE` shows the dump and its largest object as soon as they are
# known, and then the screen that a pipe gets at once.
set -eu
python3 -c 'import pty; pty.openpty()' 2> /dev/null || { echo "no pseudo-terminals here"; exit 77; }
cd "$TMPDIR"
export LC_ALL=C.UTF-8 COLUMNS=100 PAGER=cat
unset HEAPDB
# Enough objects that progress after the dominator tree is drawn on every machine.
hprofgen random --objects 3M -o big.hprof
heapdb import big.hprof --quiet
heapdb top --limit 1 big.heapdb > largest
cp big.heapdb kept
heapdb big.heapdb > want
# fresh: the state before the overview was requested.
fresh()
{
	cp kept big.heapdb
	rm -f big.heapdb-lock
}
fresh
python3 - want << 'EOF'
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

COLUMNS, ROWS = 100, 50


def on_terminal(arguments, **files):
    """What a terminal receives."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    p = subprocess.Popen(["heapdb"] + arguments, stdin=subprocess.DEVNULL,
                         stdout=files.get("stdout", theirs), stderr=theirs)
    os.close(theirs)
    data = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        data += part
    os.close(ours)
    assert p.wait() == 0, data
    return data.decode()


def screens(text):
    """What stands on the screen after each command of the terminal, as lines."""
    lines, row, column = [""], 0, 0
    for token in re.findall("\033\\[[0-9]*[A-Za-z]|\r|\n|[^\033\r\n]+", text):
        if token == "\r":
            column = 0
        elif token == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif token[0] != "\033":
            lines[row] = lines[row][:column].ljust(column) + token + \
                lines[row][column + len(token):]
            column += len(token)
            assert column <= COLUMNS, lines[row]
        elif token[-1] == "A":
            row -= int(token[2:-1])
            assert row >= 0, text
        elif token[-1] == "K":
            lines[row] = lines[row][:column]
        elif token[-1] == "J":
            lines = lines[:row] + [lines[row][:column]]
        elif token[-1] != "m":
            raise AssertionError("unknown command %r" % token)
        yield list(lines)


want = open(sys.argv[1]).read().splitlines()
head = want[:want.index("")]
seen = list(screens(on_terminal(["big.heapdb", "--threads", "1"])))
while seen[-1][-1] == "":
    seen[-1].pop()
assert seen[-1] == want, "\n".join(seen[-1])
early = [s for s in seen if s[:len(head)] == head and len(s) > len(head) + 2 and
         re.match(" +1 +[0-9.]+ % ", s[len(head) + 1]) and "Next:" not in s]
print("screens with the beginning alone:", len(early))
assert len(early) > 1, seen
# From then on the first lines stay, except for the moment in which the complete answer replaces them.
later = seen[seen.index(early[0]):]
assert sum(s[:len(head)] != head for s in later) <= len(head) * 3, "it flickers"

# A pipe gets everything at once, and only the progress line is on the terminal.
subprocess.run(["sh", "-c", "cp kept big.heapdb; rm -f big.heapdb-lock"], check=True)
with open("piped", "wb") as piped:
    drawn = on_terminal(["big.heapdb", "--threads", "1"], stdout=piped)
assert open("piped").read().splitlines() == want
assert head[0] not in drawn, drawn

# A dumb terminal gets no escape sequences.
subprocess.run(["sh", "-c", "cp kept big.heapdb; rm -f big.heapdb-lock"], check=True)
os.environ["TERM"] = "dumb"
assert "\033" not in on_terminal(["big.heapdb", "--threads", "1"])
EOF
heapdb overview --brief big.heapdb > brief
[ "$(head -n 2 brief)" = "$(head -n 2 want)" ]
grep -q "^  1 " brief
! grep -q Next brief

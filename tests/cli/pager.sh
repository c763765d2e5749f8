# Output longer than the terminal's screen goes through $PAGER, as in git; output to a pipe never does.
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	echo "there are no terminals: /dev/pts is not mounted" >&2
	exit 77
fi
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
python3 - <<'PY'
import fcntl, os, pty, re, struct, subprocess, sys, termios

sys.path.insert(0, os.environ["HDB_ROOT"] + "/tests/support")
from terminal import read_all

# This pager prefixes each line with "paged: ".
MARK = "sed 's/^/paged: /'"
LONG = ["heapdb", "histogram", "--limit", "60"]

def show(command, pager=None, rows=24, keys=b"", wait_for=b""):
    """What a terminal shows of the command, and its exit code."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("PAGER", "LESS", "LV")}
    env.update(NO_COLOR="1", TERM="xterm")
    if pager is not None:
        env["PAGER"] = pager
    child = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=env,
                             start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0))
    os.close(side)
    answers = [keys] if keys else []

    def answer(text):
        if answers and wait_for in text:
            os.write(main, answers.pop())

    text = read_all(main, answer)
    os.close(main)
    text = re.sub(rb"\r[^\r\n]*\033\[K", b"", text).replace(b"\r\033[K", b"")  # progress
    return text.decode().replace("\r\n", "\n"), child.wait()

def same(got, wanted):
    assert got == wanted, (got, wanted)

def is_paged(text):
    lines = text.rstrip("\n").split("\n")
    assert all(line.startswith("paged: ") for line in lines) or "paged: " not in text, text
    return "paged: " in text

plain, code = show(LONG, "cat")
assert code == 0 and plain.count("\n") > 50 and not is_paged(plain)
same(show(LONG, ""), (plain, 0))
same(show(LONG + ["--no-pager"], MARK), (plain, 0))
paged, code = show(LONG, MARK)
assert code == 0 and is_paged(paged) and paged.replace("paged: ", "") == plain, (code, paged, plain)
# A command of one word is started without a shell, and with git's defaults for the environment.
os.environ["PATH"] = os.getcwd() + ":" + os.environ["PATH"]
for name in "own-pager", "less":
    with open(name, "w") as file:
        file.write("#!/bin/sh\necho \"$LESS $LV\"\nexec " + MARK + "\n")
    os.chmod(name, 0o755)
same(show(LONG, "own-pager"), ("FRX -c\n" + paged, 0))
same(show(LONG), ("FRX -c\n" + paged, 0))  # less, if PAGER is not set
# Output that fits on the screen needs no pager. If the pager cannot be started, nothing is lost.
assert not is_paged(show(LONG, MARK, rows=80)[0])
same(show(LONG, "no-such-pager"), (plain, 0))
print("paged: help", is_paged(show(["heapdb", "help", "histogram", "--all"], MARK)[0]))
print("paged: leaks --help", is_paged(show(["heapdb", "leaks", "--help"], MARK, rows=8)[0]))
print("paged: report", is_paged(show(["heapdb", "report"], MARK)[0]))
print("paged: sql", is_paged(show(["heapdb", "sql", "SELECT * FROM classes LIMIT 90"], MARK)[0]))
print("paged: overview", is_paged(show(["heapdb", "s.heapdb"], MARK, rows=60)[0]))
shell, code = show(["heapdb", "sql"], MARK, keys=b"SELECT * FROM classes LIMIT 90;\n.quit\n",
                   wait_for=b"heapdb>")
assert code == 0 and not is_paged(shell), shell
# The exit status is that of the command; its messages follow the output.
judged = ["heapdb", "diff", "s.heapdb", "s.heapdb", "--fail-if", "count(java.lang.String) > 1"]
failed, code = show(judged, MARK)
assert code == 1 and is_paged(failed) and "conditions met" in failed, failed
# Leaving the pager early is no error; Ctrl-C is handled by the pager.
assert show(["heapdb", "histogram", "--limit", "all"], "head -n 1")[1] == 0
stays = "sh -c 'trap \"\" INT; cat; echo; echo ready; read line </dev/tty; echo left'"
late, code = show(LONG, stays, keys=b"\x03\x03\n", wait_for=b"ready")
assert code == 0 and late.rstrip().endswith("left"), (late, code)
# No pager in a pipe.
piped = subprocess.run(LONG, env=dict(os.environ, PAGER=MARK), stdout=subprocess.PIPE, check=True)
assert b"paged: " not in piped.stdout
PY

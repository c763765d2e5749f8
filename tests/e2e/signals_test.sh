#!/bin/sh
# signals_test.sh - a command that SIGINT, SIGTERM or SIGHUP stops ends by that signal, leaves nothing
# behind, and so ends the loop of a shell, too; under --json it says the same exit code.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
hprofgen random --objects 1M -o big.hprof > /dev/null
cat > signals.py << 'END'
import json, os, signal, subprocess, sys, time

failed = False


def complain(*what):
    global failed
    print("FAILED:", *what)
    failed = True


def begin(arguments):
    """Starts a command in a group of its own; a shell's background jobs ignore SIGINT: it does not."""
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def wait_for(name):
    end = time.time() + 30
    while not os.path.exists(name) and time.time() < end:
        time.sleep(0.002)


def check_left():
    left = sorted(os.listdir("."))
    if left != ["big.hprof", "signals.py"]:
        complain("left behind:", left)
        for name in set(left) - {"big.hprof", "signals.py"}:
            os.unlink(name)


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    for arguments, sign in ((["import", "big.hprof"], "big.heapdb.importing"),
                            (["import", "big.hprof", "--json"], "big.heapdb.importing")):
        p = begin(["heapdb"] + arguments)
        wait_for(sign)
        p.send_signal(number)
        out, err = p.communicate(timeout=60)
        if p.returncode != -number or "interrupted" not in out + err:
            complain(arguments, number, "ends with", p.returncode, out, err)
        if "--json" in arguments and json.loads(out)["error"]["exit"] != 128 + number:
            complain("JSON:", out)
        check_left()

# As a terminal does it: the signal is for the shell and for what it runs.
p = begin(["bash", "-c", "for i in 1 2 3; do heapdb import big.hprof -o $i.heapdb; echo after $i; done"])
wait_for("1.heapdb.importing")
os.killpg(p.pid, signal.SIGINT)
out, err = p.communicate(timeout=60)
if p.returncode != -signal.SIGINT or "after" in out:
    complain("the loop goes on:", p.returncode, out, err)
check_left()
sys.exit(failed)
END
command -v bash > /dev/null || { echo "no bash here"; exit 77; }
python3 signals.py

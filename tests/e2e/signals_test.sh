#!/bin/sh
# signals_test.sh - a command stopped by SIGINT, SIGTERM or SIGHUP terminates with the same signal and leaves no files,
# so a shell loop ends, too; with --json it prints the same exit code. Archives, pipes, --fetch commands, exports and
# statements end within a second of CPU time.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
hprofgen random --objects 1M -o big.hprof > /dev/null
cat > signals.py << 'END'
import bz2, json, lzma, os, resource, signal, subprocess, sys, tarfile, time

failed = False


def complain(*what):
    global failed
    print("FAILED:", *what)
    failed = True


KEPT = {"big.hprof", "signals.py", "skip.tar.bz2", "big.hprof.xz", "hole.tar", "made.heapdb",
        "made.heapdb-lock", "made.jfr"}
SECONDS_MAX = 10 if any(s in os.environ["BUILD"] for s in ("san", "cov")) else 1


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
    if set(left) - KEPT:
        complain("left behind:", left)
        for name in set(left) - KEPT:
            os.unlink(name)


def cpu_seconds(pid):
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stop(what, command, after, number=signal.SIGTERM):
    """A command line that a signal stops so many seconds of processor time after it began, or of time if it waits."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = begin(["sh", "-c", "exec " + command])
    end = time.time() + 60

    def passed():
        return cpu_seconds(p.pid) if after > 0 else time.time() - end + 60

    while p.poll() is None and time.time() < end and passed() < abs(after):
        time.sleep(0.01)
    if p.poll() is not None:
        complain(what, "ended before it was stopped:", p.communicate())
        return
    used = cpu_seconds(p.pid)
    began = time.time()
    p.send_signal(number)
    try:
        out, err = p.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        complain(what, "does not end")
        p.communicate()
        check_left()
        return
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - used
    print("%-34s %5.2f s of processor time, %5.2f s" % (what, seconds, time.time() - began))
    if p.returncode != -number or seconds > SECONDS_MAX:
        complain(what, "ends with", p.returncode, "%.2f s after the signal" % seconds, err)
    check_left()


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

# As in a terminal, the signal goes to the shell and to its command.
p = begin(["bash", "-c", "for i in 1 2 3; do heapdb import big.hprof -o $i.heapdb; echo after $i; done"])
wait_for("1.heapdb.importing")
os.killpg(p.pid, signal.SIGINT)
out, err = p.communicate(timeout=60)
if p.returncode != -signal.SIGINT or "after" in out:
    complain("the loop goes on:", p.returncode, out, err)
check_left()
# An entry of zeros before the dump, a dump being unpacked, a hole of 7 GiB: 2 KB that unpack to less than the limit.
said = begin(["heapdb", "import", "none.zip"]).communicate()[1]
if os.path.exists("/proc/self/stat") and "built without" not in said:
    def entry(name, size):
        info = tarfile.TarInfo(name)
        info.size = size
        return info.tobuf(tarfile.GNU_FORMAT)
    with open("skip.tar.bz2", "wb") as out:
        zeros = bz2.compress(bytes(64 << 20)) * 112
        out.write(bz2.compress(entry("zeros", 7 << 30)) + zeros + bz2.compress(bytes(1024)))
    with open("big.hprof.xz", "wb") as out:
        out.write(lzma.compress(open("big.hprof", "rb").read(), preset=0) * 4)
    head = tarfile.TarInfo("hole.hprof")
    head.size = 543
    head.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole.hprof",
                        "GNU.sparse.realsize": str(7 << 30)}
    with open("hole.tar", "wb") as out:
        out.write(head.tobuf(tarfile.PAX_FORMAT) + b"1\n0\n31\n".ljust(512, b"\0") +
                  (b"JAVA PROFILE 1.0.2\0" + bytes([0, 0, 0, 8]) + bytes(8)).ljust(512, b"\0") + bytes(1024))
    stop("import: entry that is skipped", "heapdb import skip.tar.bz2 -o x.heapdb", 0.3)
    stop("import: the same from a pipe", "heapdb import - -o x.heapdb < skip.tar.bz2", 0.3)
    stop("import: a hole, unpacked", "heapdb import hole.tar -o x.heapdb", 0.3)
    stop("import: a hole, searched", "heapdb import hole.tar -o x.heapdb", 6)
    stop("import: unpacking", "heapdb import big.hprof.xz -o x.heapdb", 0.3, signal.SIGINT)
    stop("convert: unpacking", "heapdb convert big.hprof.xz x.hprof", 0.3)
    stop("redact: unpacking a pipe", "heapdb redact - x.hprof < big.hprof.xz", 0.3)
stop("import: a command that waits", "heapdb import --fetch ': {}; exec sleep 30' -o x.heapdb x", -1)
subprocess.run(["heapdb", "import", "big.hprof", "-o", "made.heapdb", "--quiet"], check=True,
               stdout=subprocess.DEVNULL)
for what, command in (("export", "heapdb export objects --db made.heapdb -o x.csv"),
                      ("sql", "heapdb sql made.heapdb 'WITH RECURSIVE r(i) AS "
                       "(SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r'"),
                      ("leaks", "heapdb leaks --db made.heapdb")):
    stop(what, command, 0.05)
stop("growth: a line without end", "heapdb growth /dev/zero", 0.3)
recording = open(os.environ["HDB_ROOT"] + "/tests/corpus/jfr/sample", "rb").read()
with open("made.jfr", "wb") as out:
    out.write(recording * (400_000_000 // len(recording)))
stop("jfr", "heapdb jfr made.jfr", 0.5)
sys.exit(failed)
END
command -v bash > /dev/null || { echo "no bash here"; exit 77; }
python3 signals.py

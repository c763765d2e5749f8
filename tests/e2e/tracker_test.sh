#!/bin/sh
# tracker_test.sh - `heapdb capture --adb PROCESS --allocations SECONDS` against an adb of our own and a stand-in of
# an app's VM (fake_jdwp.py): the record comes whole, between other packets; what is broken, silent or refuses is
# said; the tracker is switched off again, unless somebody else had switched it on; no port stays forwarded.
set -eu
export PYTHONPATH="$HDB_ROOT/tests/support:$HDB_ROOT/tests/e2e" PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
cat > adb << 'SHELL'
#!/bin/sh
echo "$@" >> adb.log
[ "$1" != -s ] || shift 2
case "$1 $2 $3" in
"get-state "*) echo device ;;
"shell pidof com.example.twins") echo 11 12 ;;
"shell pidof com.example.app") echo 4711 ;;
"shell pidof "*) exit 1 ;;
"forward tcp:0 jdwp:4711") [ "$ADB_PORT" ] || { echo "adb: error: cannot bind"; exit 1; }
	echo "$ADB_PORT" > forwarded; echo "$ADB_PORT" ;;
"forward --remove tcp:$ADB_PORT") rm forwarded ;;
*) echo "adb: unknown $*"; exit 1 ;;
esac
SHELL
chmod 755 adb
cat > test.py << 'PY'
import concurrent.futures, json, os, random, signal, struct, subprocess, tempfile, time

from checks import check, end, want
from fake_jdwp import Vm

os.environ["PATH"] = os.getcwd() + ":" + os.environ["PATH"]
SAMPLE = os.environ["HDB_ROOT"] + "/tests/corpus/allocations/two"
APP = ["--adb", "com.example.app", "--allocations", "1"]
with open(SAMPLE, "rb") as f:
    record = f.read()


def answer(file):
    return json.loads(subprocess.run(["heapdb", "allocations", file, "--json"], capture_output=True, check=True).stdout)


class Run:
    """A capture, in a folder of its own, of an app that behaves as `mode` says."""

    def __init__(self, mode, *words, mutate=None, old=None, signal_at=None, has_port=True, record=record):
        self.vm = Vm(mode, record, mutate)
        self.mode, self.record = mode, record
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
            if old:
                with open(folder + "/com.example.app.alloc", "wb") as f:
                    f.write(old)
            p = subprocess.Popen(["heapdb", "capture", "--timeout", "1", *words], cwd=folder, text=True,
                                 env=dict(os.environ, ADB_PORT=str(self.vm.port) if has_port else ""),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while signal_at and signal_at not in self.vm.log:
                time.sleep(0.01)
            if signal_at:
                time.sleep(0.3)
                p.send_signal(signal.SIGINT)
            self.out, self.err = p.communicate(timeout=60)
            self.code = p.returncode
            self.adb, self.files = [], {}
            for name in os.listdir(folder):
                with open(folder + "/" + name, "rb") as f:
                    self.files[name] = f.read()
        self.adb = self.files.pop("adb.log", b"").decode().splitlines()
        self.vm.close()

    def check(self, code, text, files=None):
        what = "%s: %d %r" % (self.mode, self.code, self.err)
        want(what, self.code, code)
        check("%s: not %r" % (what, text), text in self.out + self.err)
        want(what, self.files, {"com.example.app.alloc": self.record} if files is None and code == 0 else files or {})


def run_all(jobs):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda job: Run(*job[0], **job[1]), jobs))


def job(*words, **more):
    return words, more


REQUESTS = ["REAQ", "REAE1", "REAQ", "REAL", "REAE0", "REAQ"]
began = time.time()
r = Run("", *APP)
check("it waits a second: %.2f" % (time.time() - began), time.time() - began >= 1)
r.check(0, "Next: heapdb allocations com.example.app.alloc")
want("requests", r.vm.log[:6], REQUESTS)
want("adb", r.adb, ["get-state", "shell pidof com.example.app", "forward tcp:0 jdwp:4711",
                    "forward --remove tcp:%d" % r.vm.port])

# As many as a record can have: 65,535 with four frames each.
ENTRIES = 65535
big = (struct.pack(">BBBHIHHH", 15, 9, 8, ENTRIES, 15 + ENTRIES * 41, 1, 1, 1) +
       (struct.pack(">IHHB", 24, 1, 0, 4) + struct.pack(">HHHh", 0, 0, 0, 7) * 4) * ENTRIES +
       struct.pack(">I", 1) + "A".encode("utf-16-be") + struct.pack(">I", 0) * 2)
good = run_all([job("", "--adb", "4711", "--serial", "emulator-5554", "--allocations", "1", "-o", "x.alloc"),
                job("pieces", *APP, "--json"), job("on", *APP), job("", *APP, "--force", old=b"old"),
                job("", "--adb", "com.example.app", "--allocations", "1000", signal_at="REAE1"),
                job("", *APP, "--json", record=big), job("agent", *APP)])
good[0].check(0, "x.alloc", {"x.alloc": record})
want("adb -s", good[0].adb, ["-s emulator-5554 " + w for w in ("get-state", "forward tcp:0 jdwp:4711",
                                                              "forward --remove tcp:%d" % good[0].vm.port)])
good[1].check(0, '"file":"com.example.app.alloc"')
facts, sums = json.loads(good[1].out)["facts"], answer(SAMPLE)["facts"]
want("facts", {n: facts[n] for n in sums}, sums)
# Somebody else's tracker is not switched off.
good[2].check(0, "was on already")
want("on", good[2].vm.log[:2], ["REAQ", "REAL"])
check("on: %s" % good[2].vm.log, "REAE0" not in good[2].vm.log)
good[3].check(0, "")
# An interruption ends the waiting alone.
good[4].check(0, "Next:")
want("interrupted", good[4].vm.log[:6], REQUESTS)
good[6].check(0, "")
want("an agent", good[6].vm.log[:6], REQUESTS)
good[5].check(0, '"objects":65535,"bytes":1572840')

MODES = (("new", 4, "12 and later have none"), ("new agent", 4, "12 and later have none"),
         ("stuck", 4, "the allocation tracker stays off"), ("closes", 4, "cannot be debugged"),
         ("silent", 4, "did not answer within 1 s"), ("stranger", 3, "another handshake"),
         ("fail", 4, "the VM refuses REAL: the tracker is busy, ?h"), ("error", 4, "error 99 of JDWP"),
         ("agent empty", 4, "gave no record"), ("liar", 3, "is no chunk of that type"),
         ("other", 3, "is no chunk of that type"), ("huge", 3, "a packet of 4294967295 bytes"),
         ("short", 3, "a packet of 10 bytes"), ("hangs", 4, "did not answer within 1 s"),
         ("dies", 4, "the VM hung up"), ("endless", 4, "did not answer within 1 s"))
for r, (mode, code, text) in zip(run_all([job(m[0], *APP) for m in MODES]), MODES):
    r.check(code, text)
    if mode in ("fail", "error", "agent empty", "hangs"):
        want(mode + ": off again", r.vm.is_on, False)
        check(mode + ": " + r.err, "may still be on" not in r.err)
    if mode in ("dies", "endless"):
        check(mode + ": " + r.err, "may still be on" in r.err)

USES = (("there is no process com.example.none", 3, ["--adb", "com.example.none", "--allocations", "1"]),
        ("several processes are called", 3, ["--adb", "com.example.twins", "--allocations", "1"]),
        ("is not a process name", 2, ["--adb", "a;b", "--allocations", "1"]),
        ("is not an option of the list", 2, ["--allocations", "1"]), ("needs --adb", 2, ["--allocations", "1", "1"]),
        ("--all is not an option of --allocations", 2, APP + ["--all"]),
        ("--gz is not an option of --adb", 2, ["--adb", "x", "--gz", "1"]),
        ("--adb is not an option of --histogram", 2, APP + ["--histogram"]),
        ("is not an option of --allocations", 2, APP + ["--sizes", "mat"]),
        ("--allocations", 2, ["--adb", "x", "--allocations", "0"]))
for r, (text, code, words) in zip(run_all([job("", *u[2]) for u in USES]), USES):
    r.check(code, text)
    want(text, r.vm.log, [])
r = Run("", *APP, old=b"old")
r.check(2, "exists already", {"com.example.app.alloc": b"old"})
want("exists already", r.vm.log, [])
Run("", *APP, has_port=False).check(4, "cannot bind")

# Anything may come: a record or a message, never a crash, and no waiting for ever.
seed, rounds = int(os.environ.get("SEED", "7")), int(os.environ.get("ROUNDS", "16"))
print("seed", seed)
rnd = random.Random(seed)


def mutate(data):
    data = bytearray(data)
    for _ in range(rnd.choice((0, 0, 0, 1, 2))):
        at = rnd.randrange(len(data)) if data else 0
        kind = rnd.randrange(4)
        if kind == 0:
            data[at:at + 1] = bytes([rnd.choice((0, 1, 127, 128, 255, rnd.randrange(256)))])
        elif kind == 1:
            del data[at:at + rnd.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = rnd.randbytes(rnd.randrange(1, 20))
        else:
            del data[at:]
    return bytes(data)


codes = {}
for i, r in enumerate(run_all([job("", *APP, mutate=mutate)] * rounds)):
    codes[r.code] = codes.get(r.code, 0) + 1
    check("mutant %d: %d %s" % (i, r.code, r.err), r.code in (0, 3, 4) and "anitizer" not in r.err)
    check("mutant %d: %s" % (i, r.files), len(r.files) == (r.code == 0))
    check("mutant %d: a port is forwarded still" % i, "forwarded" not in r.files)
print("mutants by exit code:", codes)
end()
PY
python3 test.py

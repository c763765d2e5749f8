"""Tests of heapdb_jvm.fleet and heapdb_jvm.spark, see fleet_test.sh: fleet_test.py FOLDER small|full."""
import difflib
import fcntl
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

FOLDER, KIND = sys.argv[1:3]
os.chdir(FOLDER)
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.pop("SPARK_HOME", None)

import pyarrow.parquet  # noqa: E402
import heapdb_jvm  # noqa: E402
from heapdb_jvm import fleet  # noqa: E402
from heapdb_jvm.fleet import _mapping, _store  # noqa: E402

LISTING = os.path.join(FOLDER, "dumps/*/*/*/*.hprof")
MAPPING = os.path.join(FOLDER, "dumps/mapping/{app}/{build}.txt")
PLANTED = json.load(open("dumps/planted.json", encoding="utf-8"))
COUNT = PLANTED["dumps"]
LAST = "2.8" if KIND == "small" else "2.10"
# What differs from one run to the next.
VARIES = {"dumps": ("seconds", "host"), "totals": ("database_bytes",)}
# A test may take 300 s; Spark takes its time where others work, too.
BEGUN, ENOUGH = time.time(), 180
failed = []
SETTINGS = {
    "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "600m", "spark.executor.memory": "600m",
    "spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false",
    # Little data: compiling the plans would take longer than running them.
    "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # The same of Java's own compilers: half of the test's time would be the second one's.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.local.dir": os.path.join(FOLDER, "local"),
    "spark.sql.warehouse.dir": os.path.join(FOLDER, "warehouse"),
    "spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false",
    # A file system that is no file: URI, as an object store is none.
    "spark.hadoop.fs.viewfs.mounttable.fleet.link./data": f"file://{FOLDER}",
    **{f"spark.executorEnv.{name}": os.environ[name]
       for name in ("PYTHONPATH", "HEAPDB_LIBRARY", "PYTHONDONTWRITEBYTECODE")}}


def check(what, condition, *shown):
    if not condition:
        failed.append(what)
        print("FAILED:", what, *shown, flush=True)


def tables(out):
    """All rows of all tables, by table and dump."""
    found, store = {}, _store.LocalStore(out)
    for table in store.tables():
        for row in store.rows(table):
            for name in VARIES.get(table, ()):
                row.pop(name)
            key = [row.pop(name) for name in _store.KEYS]
            found.setdefault("/".join([table] + key), []).append(row)
    return found


def taken(out):
    """Returns the number of dumps in the tables or waiting to be merged."""
    return len(glob.glob(f"{out}/.incoming/*.zip")) + len(list(_store.LocalStore(out).rows("dumps")))


def same_tables(what, one, other):
    one, other = tables(one), tables(other)
    check(f"{what}: the same dumps", set(one) == set(other), sorted(set(one) ^ set(other))[:5])
    differ = [name for name in one if one[name] != other.get(name)]
    check(f"{what}: the same rows", not differ, differ[:5])


def leaks_of(out):
    answer = json.loads(fleet.report(out, ["leaks"], "json"))
    return {(row["app"], row["state"]): row for row in answer["reports"]["leaks"]
            if "SessionCache" in row["name"] or "LiveStore" in row["name"]}


# -- parts that need no dumps

def test_mapping():
    mapping = _mapping.Mapping([
        "# compiler: R8", "com.acme.Cache -> a.b:", "    java.util.Map ENTRIES -> c",
        "    int size -> d", "    1:3:void fill(int):7:9 -> c", "com.acme.Session -> a.e:"])
    for text, original in (("a.b#static c > java.util.HashMap > a.e[]",
                            "com.acme.Cache#static ENTRIES > java.util.HashMap > com.acme.Session[]"),
                           ("a.b#d", "com.acme.Cache#size"), ("x.y#c", "x.y#c"),
                           ("java.lang.Thread#local variable of a.e.f > a.e",
                            "java.lang.Thread#local variable of com.acme.Session.f > "
                            "com.acme.Session")):
        check(f"mapping {text}", mapping.signature("suspect", text)[0] == original,
              mapping.signature("suspect", text))
    check("mapping class object", mapping.class_name("class a.b") == "class com.acme.Cache")


def test_listing():
    entries = fleet.read_listing(["/d/shop/1.2/2026-03-02/pod-1.hprof.gz"])
    check("pattern", entries[0][1:5] == ("shop", "1.2", "2026-03-02", "pod-1"), entries)
    entries = fleet.read_listing([{"uri": "s3a://b/x.hprof", "app": "a", "build": "b",
                                   "day": "20260302"}])
    check("columns", entries[0].day == "2026-03-02" and entries[0].dump.startswith("x-"), entries)
    with open("listing.csv", "w", encoding="utf-8") as f:
        f.write("# a note\nuri,app,build,day\n/d/one.hprof,a,1,2026-01-01\n")
    check("table", fleet.read_listing("listing.csv")[0][0] == "/d/one.hprof")
    for wrong in (["/d/x.hprof"], [], [{"uri": "/d/x", "app": "a", "build": "b", "day": "monday"}],
                  [{"uri": f"/{i}/x", "app": "a", "build": "b", "day": "20260302", "dump": "n"}
                   for i in range(2)]):
        try:
            fleet.read_listing(wrong)
            check(f"listing {wrong} is refused", False)
        except fleet.ListingError:
            pass
    with open("listed", "w", encoding="utf-8") as f:
        f.write("2026-03-02 10:11:12    12345 shop/1.2/2026-03-02/a b.hprof.gz\n"
                "2026-03-02 10:11:12        7 README\n")
    entries = fleet.read_listing("listed", fetched=True)
    check("a listing of aws", [e[:5] + e[6:] for e in entries] == [
        ("shop/1.2/2026-03-02/a b.hprof.gz", "shop", "1.2", "2026-03-02", "a b", 12345, 1772446272000)], entries)
    with open("listed", "w", encoding="utf-8") as f:
        f.write("     12345  2026-03-02T10:11:12Z  gs://b/shop/1.2/2026-03-02/a.hprof\nTOTAL: 1 objects\n")
    entries = fleet.read_listing("listed", fetched=True)
    check("a listing of gsutil", entries[0][0] == "gs://b/shop/1.2/2026-03-02/a.hprof" and
          entries[0].modified == 1772446272000, entries)
    os.makedirs("folder/shop/1.2/2026-03-02")
    for name in ("2026-03-02/a.hprof.zst", "2026-03-02/a.heapdb", "b.hprof"):
        open(f"folder/shop/1.2/{name}", "w", encoding="utf-8").close()
    entries = fleet.read_listing("folder")
    check("a directory", [entry[1:5] for entry in entries] == [("shop", "1.2", "2026-03-02", "a")], entries)
    for wrong in ("-x/1/2026-03-02/a.hprof", ):
        try:
            fleet.read_listing([wrong], fetched=True)
            check("an option for a name", False)
        except fleet.ListingError:
            pass


# -- without Spark

def processor_seconds():
    """Returns the CPU seconds of this process and all its descendants, including those that have ended."""
    parents, used, total = {}, {}, 0
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat, encoding="utf-8", errors="replace") as f:
                pid, words = f.read().split(" ", 1)
        except OSError:
            continue
        words = words.rsplit(")", 1)[1].split()
        parents[int(pid)] = int(words[1])
        used[int(pid)] = sum(int(n) for n in words[11:15]) / os.sysconf("SC_CLK_TCK")
    for pid, seconds in used.items():
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        total += seconds if pid > 1 else 0
    return total


def test_run():
    before, started = processor_seconds(), time.time()
    summary = fleet.run(LISTING, "one", mapping=MAPPING, jobs=1 if KIND == "full" else 2,
                        settings=fleet.Settings(queries={"copies": "duplicates --limit 5"}))
    seconds = time.time() - started
    check("all are listed", (summary.listed, summary.done, summary.failed, summary.duplicates) ==
          (COUNT, COUNT - 2, 2, 1), summary)
    print(f"without Spark: {COUNT} dumps in {seconds:.1f} s, processor time "
          f"{processor_seconds() - before:.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    again = fleet.run(LISTING, "one", mapping=MAPPING,
                      settings=fleet.Settings(queries={"copies": "duplicates --limit 5"}))
    check("a second run has nothing to do", (again.done, again.failed, again.passed_over) ==
          (0, 0, COUNT), again)
    check("a table of one's own", any(name.startswith("copies/") for name in tables("one")))
    days = len({row["day"] for row in _store.LocalStore("one").rows("dumps")})
    files = glob.glob("one/*/*/*")
    check("a file a table and day", len(files) <= (len(_store.TABLES) + 1) * days and len(files) > 8 * days, len(files))
    return seconds


def test_restart():
    """A run that ended in the middle: what it left is not counted, and is done again."""
    from heapdb_jvm.fleet import _compact
    settings = fleet.Settings(queries={"copies": "duplicates --limit 5"})
    shutil.copytree("one", "half")
    # A run that was killed before it joined what it had done: archives, one cut short by a machine that
    # stopped, and the folder in which another one was made.
    store = _store.LocalStore("half")
    entries = fleet.read_listing(sorted(glob.glob("dumps/orders/2.[67]/*/heap.hprof")))
    day = entries[1].day
    shutil.rmtree(f"half/dumps/day={day}")
    check("an unfinished dump does not count", day not in {row["day"] for row in store.rows("dumps")} and
          "2.7" not in fleet.report("half", ["builds"], "csv"))
    fleet.run([entries[1].uri, entries[0].uri], "other", settings=settings)
    from heapdb_jvm.fleet import _client, _run
    server = _client.Server()
    for job in _run.jobs_of(entries, os.path.join(FOLDER, "half"), settings, _run.stat, {}):
        _client.one(job, server)
    server.close()
    archives = sorted(glob.glob("half/.incoming/*.zip"))
    check("archives wait", len(archives) == 2, archives)
    by_build = {_compact.Archive.open(file).key["build"]: file for file in archives}
    os.truncate(by_build["2.7"], os.path.getsize(by_build["2.7"]) - 1)
    os.mkdir("half/.incoming/heapdb-fleet-dead")
    summary = fleet.run(LISTING, "half", mapping=MAPPING, settings=settings)
    lost = [name for name in tables("one") if name.startswith("dumps/") and f"/{day}/" in name]
    check("it is done again", (summary.done, summary.passed_over) == (len(lost), COUNT - len(lost)), summary, lost)
    same_tables("after a restart", "one", "half")
    check("nothing is left over", os.listdir("half/.incoming") == ["lock"] and
          not glob.glob("half/**/.*.tmp", recursive=True))


def test_join():
    """An interrupted merge is repeated, and loses and duplicates no rows."""
    from heapdb_jvm.fleet import _compact
    full, write, writes = _compact._FULL_BYTES, _compact._File.replace, []

    def killed(self, *arguments):
        writes.append(self.path)
        if len(writes) > stop:
            raise KeyboardInterrupt
        write(self, *arguments)

    settings = fleet.Settings(queries={"copies": "duplicates --limit 5"})
    shutil.copytree("one", "again")
    entries = fleet.read_listing(LISTING, mapping=MAPPING)
    from heapdb_jvm.fleet import _client, _run
    jobs = _run.jobs_of(entries[:6], os.path.join(FOLDER, "again"), settings, _run.stat, {})
    server = _client.Server()
    for job in jobs:
        _client.one(job, server)
    server.close()
    shutil.copytree("again/.incoming", "waiting")
    _compact._File.replace = killed
    _compact._FULL_BYTES = 1 << 13  # several files a day
    try:
        for stop in (0, 1, 5, 13, 1 << 20):
            writes.clear()
            try:
                _store.LocalStore("again").compact()
                check("joined", stop == 1 << 20)
            except KeyboardInterrupt:
                check("archives stay until all is joined", len(glob.glob("again/.incoming/*.zip")) == 6, stop)
        for file in glob.glob("waiting/*.zip"):
            shutil.copy(file, "again/.incoming")
        _store.LocalStore("again").compact()
    finally:
        _compact._File.replace, _compact._FULL_BYTES = write, full
    same_tables("merged again", "one", "again")
    check("large files are not written again", len(glob.glob("again/histogram/*/part-*")) >
          len(glob.glob("one/histogram/*/part-*")))


def test_concurrent():
    """Three runs at once with the same dumps and output; one is killed."""
    command = ["heapdb", "fleet", "run", LISTING, "shared", "--quiet"] + ARGUMENTS
    runs = [subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(3)]
    while taken("shared") < 3 and runs[0].poll() is None:
        time.sleep(0.02)
    os.killpg(runs[0].pid, signal.SIGKILL)
    for run in runs:
        errors = run.communicate(timeout=250)[1]
        check("a run among others", run.returncode == (-9 if run is runs[0] else 0), run.returncode, errors[-500:])
    same_tables("three at once", "one", "shared")
    # A server ends with the run that was killed, and what it did counts or is swept away by the next run.
    fleet.run(LISTING, "shared", mapping=MAPPING, settings=fleet.Settings(queries={"copies": "duplicates --limit 5"}))
    check("nothing waits", os.listdir("shared/.incoming") == ["lock"], os.listdir("shared/.incoming"))


def test_fetch():
    """Dumps of an object store, fetched by a command; its listing comes from standard input."""
    os.makedirs("bucket")
    lines = []
    for name in sorted(glob.glob("dumps/*/2.[1-3]/*/heap.hprof")):
        key = os.path.relpath(name, "dumps")
        lines.append(f"2026-03-02 10:11:12 {os.path.getsize(name):10} {key}")
    lines.append("2026-03-02 10:11:12         99 tax/2.1/2026-03-02/it's $(touch hacked) \"none\".hprof")
    listing = "\n".join(lines) + "\n"
    command = ["heapdb", "fleet", "run", "-", "fetched", "--fetch", "cat dumps/{}", "--jobs", "2", "--quiet"]
    run = subprocess.run(command, input=listing, stdout=subprocess.PIPE, text=True, check=True)
    check("dumps are fetched", run.stdout.startswith(f"{len(lines)} dumps: {len(lines) - 1} imported, 1 failed"),
          run.stdout)
    check("a name is no command", not os.path.exists("hacked"))
    run = subprocess.run(command, input=listing, stdout=subprocess.PIPE, text=True, check=True)
    check("but once; one that is not there is asked for again",
          f"0 imported, 1 failed, {len(lines) - 1} skipped" in run.stdout, run.stdout)
    run = subprocess.run(command, input=listing.replace("10:11:12", "10:11:13", 1), stdout=subprocess.PIPE, text=True,
                         check=True)
    check("a new one of the same name", "1 imported" in run.stdout, run.stdout)
    mine, theirs = tables("fetched"), tables("one")
    names = [name for name in mine if name.startswith(("histogram", "leaks", "waste")) and "mobile" not in name]
    check("the same rows", len(names) > 10 and all(mine[name] == theirs[name] for name in names), names[:5])
    for wrong in (["--fetch", "cat"], []):
        run = subprocess.run(["heapdb", "fleet", "run", "-", "fetched"] + wrong,
                             input="s3://b/a/1/2026-03-02/x.hprof\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        check("what --fetch needs", run.returncode == 2 and "--fetch" in run.stderr, run)


def test_server():
    """Dumps that take too long and processes that die become rows of failures; the next dumps are imported."""
    from heapdb_jvm.fleet import _client, _run
    entries = fleet.read_listing(sorted(glob.glob("dumps/mobile/2.[23]/*/heap.hprof")))
    jobs = _run.jobs_of(entries, os.path.join(FOLDER, "served"), fleet.Settings(), _run.stat, {})
    server = _client.Server()
    late = _client.one({**jobs[0], "timeout": 0.001}, server)
    check("a dump that takes too long", late["code"] == "timeout", late)
    first = server.process.pid
    os.kill(first, 9)
    dead = _client.one(jobs[0], server)
    check("a server that died", (dead["code"], dead["is_system"]) == ("died", True), dead)
    done = [_client.one(job, server)["status"] for job in jobs]
    check("is started again", done == ["ok", "ok"] and server.process.pid != first, done)
    check("what is done is found", all(_client.done_before(job) for job in jobs) and taken("served") == 4)
    check("what has changed is not", not _client.done_before({**jobs[0], "modified": 1}))
    server.close()


def test_folders():
    """Where a job is done; what a process that was killed left is removed, what others work in is not."""
    from heapdb_jvm.fleet import _folder
    with open("plain.hprof", "wb") as f:
        f.write(b"JAVA PROFILE 1.0.2\0")
    with open("packed.hprof", "wb") as f:
        f.write(b"\x1f\x8b")
    job = {"uri": os.path.join(FOLDER, "plain.hprof"), "bytes": 1 << 10, "memory": 0, "work": None, "fetch": None}
    in_memory = [_folder._MEMORY] if os.path.isdir(_folder._MEMORY) else []
    disk = _folder._on_disk()
    for changed, expected in (({}, in_memory + [disk]), ({"work": FOLDER}, [FOLDER]),
                              ({"bytes": 1 << 30}, [disk]), ({"bytes": None}, [disk]),
                              ({"memory": 2 << 10}, [disk]), ({"memory": 4 << 10}, in_memory + [disk]),
                              ({"uri": os.path.join(FOLDER, "packed.hprof")}, [disk]),
                              ({"uri": "s3a://b/plain.hprof"}, [disk])):
        found = _folder.places({**job, **changed})
        check(f"places of {changed}", found == expected, found)
    os.mkdir("places")
    os.mkdir("places/heapdb-fleet-dead")
    open("places/heapdb-fleet-dead/dump.heapdb", "w").close()
    os.symlink(FOLDER, "places/heapdb-fleet-link")
    with _folder.Folder("places") as one:
        _folder.sweep("places")
        check("a folder in use stays", sorted(os.listdir("places")) == sorted(
            [os.path.basename(one), "heapdb-fleet-link"]), os.listdir("places"))
    check("and goes with its user", os.listdir("places") == ["heapdb-fleet-link"] and os.path.isdir("dumps"))


def test_batches():
    from heapdb_jvm.spark._job import batches_of
    for sizes, cores in (([4 << 20] * 200, 2), ([1 << 30, 1 << 20, None, None], 3), ([None], 1),
                         ([1000] * 5000, 64), ([80 << 20] * 7, 2)):
        jobs = [{"bytes": size, "n": n} for n, size in enumerate(sizes)]
        batches = batches_of(jobs, cores)
        check("each job is in one batch, in order", sum(batches, []) == jobs)
        sums = [sum(job["bytes"] or 0 for job in batch) for batch in batches]
        check("batches are not large", all(
            size - (batch[-1]["bytes"] or 0) < 64 << 20 for size, batch in zip(sums, batches)))
        check("large dumps are alone", all(len(batch) == 1 for batch in batches
                                           if (batch[0]["bytes"] or 0) >= 64 << 20))
    counts = [len(batch) for batch in batches_of([{"bytes": 4 << 20}] * 200, 2)]
    check("the last ones are smaller", counts[0] == 16 and counts[-2] <= 4, counts)


# -- interrupted

def marked(mark):
    """The processes whose environment has a mark."""
    found = []
    for file in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(file, "rb") as f:
                if f"HEAPDB_MARK={mark}\0".encode() in f.read():
                    with open(os.path.join(os.path.dirname(file), "cmdline"), "rb") as line:
                        found.append(line.read().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return found


def left_in_memory():
    """Returns temporary directories that no run uses."""
    found = []
    for folder in glob.glob("/dev/shm/heapdb-fleet-*"):
        try:
            lock = os.open(folder, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found.append(folder)
        except OSError:
            pass
        finally:
            os.close(lock)
    return found


def interrupt(name, command, how):
    """Runs a command that takes dumps into the folder `name`, and interrupts all of it, as a terminal
    does, when it has some: nothing of it may be left, and the next run completes it.
    """
    mark, temporary = f"{name}-{os.getpid()}", os.path.join(FOLDER, f"{name}-tmp")
    os.mkdir(temporary)
    before = left_in_memory()
    run = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True,
                           env={**os.environ, "HEAPDB_MARK": mark, "TMPDIR": temporary})
    while run.poll() is None and taken(name) < 3:
        time.sleep(0.02)
    check(f"{name}: it was at work", run.poll() is None)
    started = time.time()
    os.killpg(run.pid, how)
    errors = run.communicate(timeout=60)[1]
    took = time.time() - started
    check(f"{name}: it says so", run.returncode == 4 and
          errors.rstrip().endswith("interrupted; finished dumps are kept"), run.returncode, errors[-800:])
    check(f"{name}: it ends soon", took < 20, took)
    for _ in range(200):  # what others ended takes a moment
        left = marked(mark)
        if not left:
            break
        time.sleep(0.1)
    check(f"{name}: no process is left", not left, left)
    check(f"{name}: no table is half written", not glob.glob(f"{name}/*/**/.*", recursive=True) and
          all(os.path.getsize(f) > 0 for f in glob.glob(f"{name}/**/*.parquet", recursive=True)))
    left = glob.glob(f"{temporary}/**/heapdb-*", recursive=True) + \
        [folder for folder in left_in_memory() if folder not in before]
    check(f"{name}: no folder is left", not left, left)
    done = taken(name)
    summary = fleet.run(LISTING, name, mapping=MAPPING, jobs=2,
                        settings=fleet.Settings(queries={"copies": "duplicates --limit 5"}))
    check(f"{name}: the next run does the rest", done < COUNT - 2 and
          summary.done <= COUNT - 2 - done + 1, done, summary)
    same_tables(f"{name}: after an interrupt", "one", name)
    print(f"{name}: {done} dumps were done, ended in {took:.1f} s", flush=True)


ARGUMENTS = ["--mapping", MAPPING, "--query", "copies=duplicates --limit 5"]


def test_interrupt():
    for name, how in (("interrupted", signal.SIGINT), ("terminated", signal.SIGTERM)):
        interrupt(name, ["heapdb", "fleet", "run", LISTING, name, "--jobs", "2", "--quiet"] + ARGUMENTS,
                  how)


def test_spark_interrupt():
    conf = []
    for name, value in SETTINGS.items():
        conf += ["--conf", f"{name}={value}"]
    interrupt("spark-interrupted",
              [sys.executable, "-m", "heapdb_jvm.spark", "--master", "local-cluster[2,1,1024]", *conf, "run",
               LISTING, os.path.join(FOLDER, "spark-interrupted"), "--quiet"] + ARGUMENTS, signal.SIGINT)


def test_report():
    found = leaks_of("one")
    leak = found.get(("orders", "growing"), {})
    check("the leak", leak.get("first_build") == "2.6" and leak.get("last_build") == LAST and
          leak.get("names") == 2 and
          leak["name"] == "com.acme.orders.LiveStore#static ALIVE > "
          "java.util.concurrent.ConcurrentHashMap" and
          leak["was"] == "com.acme.orders.SessionCache#static SESSIONS > "
          "java.util.concurrent.ConcurrentHashMap", found)
    leak = found.get(("mobile", "steady"), {})
    check("the obfuscated leak has one name", leak.get("names") == 1 and
          leak["name"].startswith("com.acme.mobile.SessionCache#static SESSIONS"), leak)
    leak = found.get(("basket", "gone"), {})
    check("the leak that is gone", leak.get("last_build") == "2.4", leak)
    answers = json.loads(fleet.report("one", form="json"))["reports"]
    check("all reports", set(answers) == set(fleet.report_names()))
    failures = {f"{r['app']}/{r['build']}/{r['day']}/{r['dump']}.hprof": r for r in answers["failures"]}
    check("failures", set(failures) == set(PLANTED["damaged"]) | {PLANTED["duplicate"]}, failures)
    copy = failures[PLANTED["duplicate"]]
    check("the copy", copy["code"] == "copy" and
          copy["reason"] == "the same as " + PLANTED["duplicate_of"][:-6], copy)
    check("growth", answers["growth"][0]["app"] == "orders", answers["growth"][:2])
    owner = answers["owners"][0]
    check("owners", owner["owner"] == "com.acme.orders.SessionCache.SESSIONS" and owner["first_build"] == "2.6" and
          owner["last_build"] == "2.7" and owner["bytes_per_build"] == owner["last_bytes"] - owner["first_bytes"] and
          owner["by_build"] == f"2.6: {owner['first_bytes']}, 2.7: {owner['last_bytes']}", owner)
    check("owners have their own names", any(row["owner"] == "com.acme.mobile.SessionCache.SESSIONS" and
                                             row["builds"] == len(row["by_build"].split(", "))
                                             for row in answers["owners"]))
    if KIND == "full":
        check("outlier", any(row["app"] == "ledger" and row["build"] == "2.7" and
                             row["measure"] == "objects" for row in answers["outliers"]))
        most = {}
        for row in answers["waste"]:
            most.setdefault(row["kind"], row["app"])
        check("waste", most.get("duplicate strings") == "search" and
              most.get("room in collections") == "mail", most)
    text = subprocess.run(["heapdb", "fleet", "one"], stdout=subprocess.PIPE, check=True, text=True)
    want = fleet.report("one")
    check("the command", text.stdout.rstrip() == want,
          "\n".join(difflib.unified_diff(want.split("\n"), text.stdout.rstrip().split("\n"), n=0)))
    shown = subprocess.run(["heapdb", "fleet", "nothing"], stderr=subprocess.PIPE, check=False,
                           text=True)
    check("no such folder", shown.returncode == 3 and shown.stderr.count("\n") == 1, shown)


# -- Spark

def session():
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("fleet")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def executors():
    """The processes of this session's executors: those that come from this one."""
    parents, found = {}, []
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat, encoding="utf-8", errors="replace") as f:
                text = f.read()
            pid = int(text.split(" ", 1)[0])
            parents[pid] = int(text.rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if b"CoarseGrainedExecutorBackend" in f.read():
                    found.append(pid)
        except (OSError, ValueError):
            continue

    def is_ours(pid):
        while pid > 1:
            if pid == os.getpid():
                return True
            pid = parents.get(pid, 0)
        return False

    return [pid for pid in found if is_ours(pid)]


def test_worker_killed(spark):
    """An executor dies during a job: the tables are the same."""
    from heapdb_jvm import spark as heapdb_spark
    killed = []

    def kill():
        for _ in range(600):
            time.sleep(0.2)
            if taken("killed") > 2:
                killed.extend(executors()[:1])
                for pid in killed:
                    os.kill(pid, 9)
                return

    thread = threading.Thread(target=kill)
    thread.start()
    summary = heapdb_spark.run(LISTING, "killed", spark=spark, mapping=MAPPING,
                               settings=fleet.Settings(queries={"copies": "duplicates --limit 5"}))
    thread.join()
    check("an executor was killed", len(killed) == 1)
    check("the job ends", (summary.done, summary.failed) == (COUNT - 2, 2), summary)
    same_tables("a worker killed", "one", "killed")



def test_throughput(spark, alone):
    """The same work, a thread a dump, by one process after the other and by two workers with one core
    each; the limit is for a machine of two cores that has nothing else to do.
    """
    from heapdb_jvm import spark as heapdb_spark
    before, started = processor_seconds(), time.time()
    heapdb_spark.run(LISTING, "two", spark=spark, mapping=MAPPING,
                     settings=fleet.Settings(queries={"copies": "duplicates --limit 5"}))
    seconds = time.time() - started
    used = processor_seconds() - before
    same_tables("on Spark", "one", "two")
    print(f"two workers: {COUNT} dumps in {seconds:.1f} s, {alone / seconds:.2f} times as fast; "
          f"processor time {used:.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    check("two workers are 1.7 times as fast", alone / seconds >= 1.7)


def test_spark_report(spark):
    from heapdb_jvm import spark as heapdb_spark
    names = ["leaks", "builds", "names", "owners"] if KIND == "small" else None
    mine = heapdb_spark.report("killed", spark=spark, reports=names, form="json")
    mine = json.loads(mine)["reports"]
    for name, theirs in json.loads(fleet.report("killed", names, "json"))["reports"].items():
        differ = [pair for pair in zip(mine[name], theirs) if pair[0] != pair[1]]
        check(f"Spark and DuckDB report the same: {name}",
              not differ and len(mine[name]) == len(theirs), differ[:2])


def test_counts(spark):
    """Other readers of the tables, without this package, count the same."""
    import duckdb
    for table in ("dumps", "histogram", "owners"):
        mine = [len(rows) for name, rows in tables("killed").items() if name.startswith(table + "/")]
        theirs = duckdb.sql(f"SELECT count(*), count(DISTINCT (app, build, day, dump)) FROM "
                            f"read_parquet('killed/{table}/*/*.parquet', hive_partitioning = true)").fetchall()[0]
        spark.read.parquet(f"file://{FOLDER}/killed/{table}").createOrReplaceTempView("counted_rows")
        row = spark.sql("SELECT count(*), count(DISTINCT app, build, day, dump) FROM counted_rows").collect()[0]
        check(f"rows of {table}", (sum(mine), len(mine)) == theirs == tuple(row), table, theirs, row)


def every_query():
    """Each query without a target, as read by an executor."""
    from heapdb_jvm.spark._source import FilePartition, HeapdbDataSource, HeapdbReader
    count = 0
    for query in heapdb_jvm.queries():
        if query.name == "diff" or query.targets and not query.targets.startswith("["):
            continue
        options = {"query": query.name, "limit": "5"}
        schema = HeapdbDataSource(options).schema()
        for batch in HeapdbReader(schema, options).read(FilePartition("source0.heapdb")):
            check(f"the columns of {query.name}", batch.schema.names == schema.names, batch.schema.names)
        count += 1
    check("queries without a target", count > 35, count)


def test_source(spark):
    from heapdb_jvm import spark as heapdb_spark
    heapdb_spark.register(spark)
    dumps = sorted(glob.glob("dumps/orders/2.[67]/*/heap.hprof"))
    for i, dump in enumerate(dumps):
        heapdb_jvm.import_dump(dump, f"source{i}.heapdb")
    data = spark.read.format("heapdb").option("query", "histogram").load(f"{FOLDER}/source*.heapdb")
    check("a partition a file", data.rdd.getNumPartitions() == 2)
    rows = {(os.path.basename(r.file), r.id): r.shallow for r in data.collect()}
    expected = {}
    for i in range(2):
        with heapdb_jvm.open(f"source{i}.heapdb") as db:
            expected.update({(f"source{i}.heapdb", r.id): r.shallow for r in db.histogram()})
    check("the rows of a query", rows == expected and len(rows) > 600)
    data = spark.read.format("heapdb").schema("class string, shallow long") \
        .load(f"{FOLDER}/source0.heapdb")
    check("columns that the schema names", data.columns == ["class", "shallow"])
    with heapdb_jvm.open("source0.heapdb") as db:
        objects = db.histogram().facts["objects"]
    check("all objects", data.count() == objects, data.count(), objects)
    data = spark.read.format("heapdb").load(f"{FOLDER}/source0.heapdb")
    check("no query: all objects, all columns", data.count() == objects and
          data.filter("depth IS NULL OR heap IS NOT NULL OR retained_heap1 IS NOT NULL").count() == 0)
    data = spark.read.format("heapdb").option("query", "top").load(f"{FOLDER}/source0.heapdb")
    check("a query whose columns depend on its options", data.filter("id > 0 AND name IS NULL").count() > 0)
    every_query()
    data = spark.read.format("heapdb").option("query", "diff").option("before", f"{FOLDER}/source0.heapdb") \
        .load(f"{FOLDER}/source1.heapdb")
    check("a comparison", data.count() > 0)
    data = spark.read.format("heapdb").option(
        "sql", "SELECT class, count(*) AS n, sum(shallow) AS bytes FROM objects GROUP BY class") \
        .load(f"{FOLDER}/source*.heapdb")
    check("a statement", data.columns == ["class", "n", "bytes", "file"] and
          data.filter("class = 'java.lang.String'").count() == 2 and data.count() > 600)
    for options in ({"query": "nothing"}, {"query": "histogram", "columns": "nothing"},
                    {"query": "histogram", "nothing": "1"}):
        try:
            spark.read.format("heapdb").options(**options).load(f"{FOLDER}/source0.heapdb").count()
            check(f"{options} is refused", False)
        except Exception as error:  # whatever Spark makes of it
            check(f"{options} says why", "heapdb: " in str(error), str(error)[:300])


def test_parquet(spark):
    """A table of objects as the command writes it: the same sums by pyarrow, DuckDB and Spark."""
    import duckdb
    from pyspark.sql import functions as f
    subprocess.run(["heapdb", "export", "objects", "--all", "--format", "parquet", "--quiet", "--db",
                    "source0.heapdb", "-o", "objects.parquet"], check=True)
    table = pyarrow.parquet.read_table("objects.parquet")
    names = [field.name for field in table.schema if str(field.type) == "int64"]
    mine = [sum(v or 0 for v in table.column(name).to_pylist()) for name in names]
    counts = [table.num_rows, len(set(table.column("class").to_pylist()))]
    sums = ", ".join(f'sum("{name}")' for name in names)
    row = duckdb.sql(f"SELECT count(*), count(DISTINCT class), {sums} FROM 'objects.parquet'")
    check("DuckDB's sums", list(row.fetchall()[0]) == counts + mine)
    data = spark.read.parquet(f"file://{FOLDER}/objects.parquet")
    check("Spark's types", {c: t for c, t in data.dtypes} == {
        field.name: {"int64": "bigint", "bool": "boolean"}.get(str(field.type), "string")
        for field in table.schema}, data.dtypes)
    row = data.agg(f.count("*"), f.countDistinct("class"), *[f.sum(name) for name in names]).collect()
    check("Spark's sums", list(row[0]) == counts + mine and counts[0] > 10000, row, counts, mine)


def test_remote(spark):
    """Dumps and tables of a file system that only Hadoop knows."""
    from heapdb_jvm import spark as heapdb_spark
    place = "viewfs://fleet/data"
    with open("remote.txt", "w", encoding="utf-8") as f:
        f.write(f"{place}/{glob.glob('dumps/mobile/2.2/*/heap.hprof')[0]}\n")
        f.write(f"{place}/dumps/orders/2.9/2026-03-09/nothing.hprof\n")
    summary = heapdb_spark.run(f"{place}/remote.txt", f"{place}/remote", spark=spark,
                               mapping=f"{place}/dumps/mapping/mobile/2.2.txt")
    check("remote dumps", (summary.done, summary.failed) == (1, 1), summary)
    check("a missing dump is a failure", "nothing.hprof" in summary.failures[0]["error"], summary)
    mine, theirs = tables("remote"), tables("one")
    names = [name for name in mine if name.startswith(("histogram", "leaks", "waste", "threads"))]
    check("remote tables are the same", len(names) == 4 and
          all(mine[name] == theirs[name] for name in names), names)
    again = heapdb_spark.run(f"{place}/remote.txt", f"{place}/remote", spark=spark,
                             mapping=f"{place}/dumps/mapping/mobile/2.2.txt")
    check("and are not made again", (again.done, again.passed_over) == (0, 1), again)
    day = glob.glob("remote/dumps/*")[0].rsplit("day=", 1)[1]
    check("remote tables of the last days stay", heapdb_spark.prune(
        f"{place}/remote", "1d", spark=spark, today=day, dry_run=True) == [])
    gone = heapdb_spark.prune(f"{place}/remote", "1d", spark=spark, today="2036-01-01")
    check("remote tables of old days go", len(gone) == 2 and not glob.glob("remote/*/day=*"), gone)


def main():
    for test in (test_mapping, test_listing):
        test()
    alone = test_run()
    test_report()
    for test in (test_restart, test_join, test_server, test_folders, test_fetch, test_concurrent, test_interrupt):
        started = time.time()
        test()
        print(f"{test.__name__}: {time.time() - started:.1f} s", flush=True)
    version = subprocess.run(["java", "-version"], stderr=subprocess.PIPE, check=False, text=True)
    if not any(f'"{number}' in version.stderr for number in (17, 21)):
        print("Spark 4 wants JDK 17 or 21: left out")
        return
    test_batches()
    started = time.time()
    spark = session()
    spark.sparkContext.parallelize(range(4), 4).count()
    print(f"Spark's start, not counted: {time.time() - started:.1f} s", flush=True)
    try:
        if KIND == "full":
            test_throughput(spark, alone)
        for test in (test_worker_killed, test_counts, test_spark_report, test_source, test_parquet, test_remote):
            started = time.time()
            if KIND == "small" and started - BEGUN > ENOUGH:
                print(f"{test.__name__}: left out, the machine is busy")
                continue
            try:
                test(spark)
            except Exception:  # the others tell something, too
                traceback.print_exc()
                failed.append(test.__name__)
            print(f"{test.__name__}: {time.time() - started:.1f} s", flush=True)
    finally:
        spark.stop()
    if KIND == "full" or time.time() - BEGUN < ENOUGH:
        test_spark_interrupt()


main()
sys.exit(1 if failed else 0)

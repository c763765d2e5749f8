"""Tests of heapdb fleet DIR and heapdb fleet prune, see fleet_report_test.sh."""
import glob
import http.server
import json
import os
import subprocess
import sys
import threading
from html.parser import HTMLParser
from xml.etree import ElementTree

from heapdb_jvm import fleet
from heapdb_jvm import _picture
from heapdb_jvm.fleet import _alert, _prune, _store
from heapdb_jvm.fleet._compact import write_archive
from heapdb_jvm.fleet._dump import Work, dump_schema, failure_schema
from heapdb_jvm.fleet._report import empty_schema

HOSTILE = "com.acme.<script>alert(1)</script>&\x01"
failed = []


def check(what, condition, *shown):
    if not condition:
        failed.append(what)
        print("FAILED:", what, *shown, flush=True)


def bring(work, key, folder):
    """Adds the tables of a dump, and merges them."""
    store = _store.LocalStore(folder)
    os.makedirs(store.incoming, exist_ok=True)
    write_archive(work.folder + ".zip", key, work.tree)
    store.add(work.folder + ".zip", key)
    store.compact()


def put(app, build, day, leaks, reachable=1 << 20, folder="made", large=()):
    """A dump with leaks, {name: bytes}. Those in `large` are owners of memory outside the heap."""
    key = {"app": app, "build": build, "day": day, "dump": "d"}
    work = Work({**key, "hadoop": {}}, f"work-{app}-{build}-{day}-{folder}")
    schemas = {name: empty_schema(name) for name in ("leaks", "totals")}
    for name in schemas:
        for _ in _store.KEYS:
            schemas[name] = schemas[name].remove(len(schemas[name]) - 1)
    none = dict.fromkeys
    work.write_rows("dumps", dump_schema(), [{**none(dump_schema().names), "uri": f"/{app}/{build}/{day}",
                                              "status": "counted", "fingerprint": f"{app}{build}{day}"}])
    work.write_rows("leaks", schemas["leaks"], [
        {**none(schemas["leaks"].names), "kind": "suspect", "signature": name, "signature_text": name,
         "retained": size, "percent": 50.0, "verdict": "large" if name in large else None}
        for name, size in leaks.items()])
    work.write_rows("totals", schemas["totals"], [
        {**none(schemas["totals"].names), "reachable_bytes": reachable, "reachable_objects": 1000,
         "unreachable_bytes": 0, "unreachable_objects": 0}])
    bring(work, key, folder)


def put_failure():
    key = {"app": "shop", "build": "1.3", "day": "2026-01-09", "dump": "cut"}
    work = Work({**key, "hadoop": {}}, "work-failure")
    work.write_rows("failures", failure_schema(), [
        {**dict.fromkeys(failure_schema().names), "uri": "/cut", "code": "truncated", "error": "cut short"}])
    bring(work, key, "made")


def command(*words):
    return subprocess.run(["heapdb", "fleet", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


class Page(HTMLParser):
    """Tags that are opened and closed; all texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        check("tags are closed in order", self.open and self.open.pop() == tag, tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_page():
    done = command("made", "--report", "leaks", "--html", "fleet.html")
    check("the page is written", done.returncode == 0 and "Leaks by build" in done.stdout, done)
    check("only the report that is named is printed", "Trends" not in done.stdout, done.stdout)
    with open("fleet.html", encoding="utf-8") as f:
        text = f.read()
    page = Page(text)
    words = " ".join(page.texts)
    check("no tag is left open", not page.open, page.open)
    check("all reports are on it", page.tags.count("section") == 9, page.tags.count("section"))
    check("texts of dumps are texts", "script" not in page.tags and "<script>alert" in words)
    check("nothing is loaded", "http" not in text.replace("http-equiv", "") and "src=" not in text)
    # shop: bytes and leaks of three builds, and the one leak that is in more than one.
    check("a line a trend", page.tags.count("svg") == 3, page.tags.count("svg"))
    check("points have their numbers", "1.2: 2.0 MiB" in words, words[:3000])
    rows = json.loads(command("made", "--report", "builds", "--json").stdout)["reports"]["builds"]
    check("trends by build", [(r["app"], r["build"], r["bytes"], r["leaks"], r["leak_bytes"]) for r in rows] ==
          [("mail", "7", 1 << 20, 1, 5000), ("shop", "1.1", 1 << 20, 2, 300 << 10),
           ("shop", "1.2", 2 << 20, 1, 200 << 10), ("shop", "1.3", 3 << 20, 3, 1012 << 10)], rows)
    check("amounts", [_picture.amount(n) for n in (0, 1023, 1536, 3 << 30)] ==
          ["0 B", "1023 B", "1.5 KiB", "3.0 GiB"])


def test_conditions():
    for words, code, told in (((), 0, []), (("--fail-if", "new-leak"), 1, ["new leak: com.acme.Fresh"]),
                              (("--fail-if", "growing"), 1, ["growing leak: com.acme.Cache"]),
                              (("--fail-if", "growing", "--fail-if", "new-leak"), 1, ["Fresh", "Cache"]),
                              (("--fail-if", "nothing"), 2, [])):
        done = command("made", "--report", "overview", *words)
        check(f"{words}: exit code", done.returncode == code, done)
        check(f"{words}: the message", all(text in done.stderr for text in told), done.stderr)
    done = command("quiet", "--fail-if", "new-leak", "--fail-if", "growing")
    check("nothing new, nothing growing", done.returncode == 0 and not done.stderr, done)
    for words, code in (((), 0), (("--fail-if", "new-leak"), 1)):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(["heapdb", "fleet", "made", *words], stdout=write, stderr=write, check=False)
        os.close(write)
        check(f"{words}: exit code without a reader", done.returncode == code, done)


def test_wrong_words():
    for words, code, told in ((("run", "absent.txt", "x"), 3, "absent.txt: No such file or directory"),
                              (("run", ".", "x", "--jobs", "0"), 2, "--jobs: 0: expected a number of at least 1"),
                              (("made", "--html", "absent/x.html"), 4, "absent/x.html: No such file or directory"),
                              (("made", "--junit", "absent/x.xml"), 4, "absent/x.xml: No such file or directory")):
        done = command(*words)
        check(f"{words}", done.returncode == code and told in done.stderr and "Errno" not in done.stderr, done)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(["heapdb", "fleet", "made"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        check("a full disk", done.returncode == 4 and "standard output: No space left" in done.stderr, done)


def test_junit():
    done = command("made", "--junit", "leaks.xml", "--report", "overview")
    top = ElementTree.parse("leaks.xml").getroot()
    suites = {suite.get("name"): suite for suite in top}
    check("exit code without --fail-if", done.returncode == 0, done)
    check("a suite an application", sorted(suites) == ["mail", "shop"], list(suites))
    shop = suites["shop"]
    check("counts", (shop.get("tests"), shop.get("failures"), shop.get("errors")) == ("5", "3", "1"), shop.attrib)
    check("counts are those of the cases", [len(shop), len(shop.findall("*/failure")),
                                            len(shop.findall("*/error"))] == [5, 3, 1])
    names = [case.get("name") for case in shop]
    check("a case a leak", "com.acme.Cache" in names and "dump 1.3/2026-01-09/cut" in names, names)
    check("no character that XML cannot have", HOSTILE.replace("\x01", "\ufffd") in names, names)
    command("made", "--junit", "growing.xml", "--fail-if", "growing", "--report", "overview")
    check("only what the condition names fails",
          len(ElementTree.parse("growing.xml").getroot().findall("*/*/failure")) == 1)


class Hook(http.server.BaseHTTPRequestHandler):
    got, code = [], 200

    def do_POST(self):
        self.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.code)
        self.end_headers()

    def log_message(self, *words):
        pass


def test_webhook():
    with http.server.HTTPServer(("127.0.0.1", 0), Hook) as gone:
        url = f"http://127.0.0.1:{gone.server_port}/secret"
    done = command("made", "--webhook", url)
    check("no server", done.returncode == 4 and "the webhook at 127.0.0.1: Connection refused\n" in done.stderr, done)
    server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/secret"
    with open("address", "w", encoding="utf-8") as f:
        f.write(url + "\n")
    Hook.code = 500
    done = command("made", "--webhook", url)
    check("not delivered: exit code", done.returncode == 4 and "500" not in done.stdout, done)
    check("the address is not told", "127.0.0.1" in done.stderr and "secret" not in done.stderr, done.stderr)
    Hook.code, Hook.got[:] = 200, []
    done = command("made", "--fail-if", "growing", "--webhook", "@address")
    check("what the condition names", done.returncode == 1 and len(Hook.got) == 1 and
          [leak["name"] for leak in Hook.got[0]["leaks"]] == ["com.acme.Cache"], Hook.got)
    check("what chats show", Hook.got[0]["text"] == "shop 1.3: growing leak: com.acme.Cache retains 500.0 KiB per "
          "dump, 100.0 KiB in 1.1", Hook.got[0]["text"])
    done = command("made", "--webhook", url)
    check("new ones, without those that were posted", done.returncode == 0 and
          len(Hook.got) == 2 and {leak["state"] for leak in Hook.got[1]["leaks"]} == {"new"}, Hook.got[1:])
    command("made", "--webhook", url)
    check("each is posted once", len(Hook.got) == 2, len(Hook.got))
    server.shutdown()
    server.server_close()
    check("many leaks are not a long text", len(_alert.message(
        [Hook.got[0]["leaks"][0]] * 100)["text"].splitlines()) == 21)


def put_build(app, n, signatures, classes=()):
    """A build of the folder "shapes" with leaks {name: bytes} of one shape, and classes."""
    key = {"app": app, "build": f"1.{n + 9}", "day": f"2026-01-0{n + 1}", "dump": "d"}
    work = Work({**key, "hadoop": {}}, f"shapes-{app}-{n}")
    schemas = {name: empty_schema(name) for name in ("leaks", "histogram")}
    for name in schemas:
        for _ in _store.KEYS:
            schemas[name] = schemas[name].remove(len(schemas[name]) - 1)
    work.write_rows("dumps", dump_schema(), [{**dict.fromkeys(dump_schema().names), "uri": app,
                                              "status": "counted", "fingerprint": f"{app}{n}"}])
    work.write_rows("leaks", schemas["leaks"], [
        {**dict.fromkeys(schemas["leaks"].names), "kind": "suspect", "signature": name, "signature_shape": "S",
         "signature_text": name, "retained": size, "percent": 50.0} for name, size in signatures.items()])
    work.write_rows("histogram", schemas["histogram"], [
        {**dict.fromkeys(schemas["histogram"].names), "name": name, "objects": 0, "shallow": 0} for name in classes])
    bring(work, key, "shapes")


def test_shapes():
    """Decides which signatures of one shape are one leak, given the signatures of each build of an application."""
    cases = {"renamed": ["A", "A", "B"], "twice": ["A", "B", "C"], "back": ["A", "B", "A"],
             "both": ["A", "AB", "B"], "gone": ["A", "", "B"]}
    for app, builds in cases.items():
        for n, signatures in enumerate(builds):
            put_build(app, n, {f"com.acme.{name}#x": 100 for name in signatures},
                      [f"com.acme.{name}" for name in signatures])
    # The first leak is fixed, and another one with the same shape appears; both classes exist in both builds.
    for app, was, now, later in (
            ("mended", "a.Cache#static items > java.util.ArrayList", "a.Log#static lines > java.util.ArrayList",
             ["a.Cache", "a.Log"]),
            ("field", "a.Cache#static a", "a.Cache#static b", ["a.Cache"]),
            ("local", "java.lang.Thread#local variable of a.Job.run", "java.lang.Thread#local variable of a.New.run",
             ["a.Job", "a.New", "java.lang.Thread"]),
            ("below", "a.Cache#static a > a.Old#b", "a.Cache#static a > a.New#b", ["a.Cache", "a.New"])):
        put_build(app, 0, {was: 100}, ["a.Cache", "a.Log", "a.Job", "a.Old", "java.util.ArrayList"])
        put_build(app, 1, {now: 100}, later + ["java.util.ArrayList"])
    put_build("grown", 0, {"a.Old#x": 100})
    put_build("grown", 1, {"a.New#x": 1000})
    rows = json.loads(fleet.report("shapes", ["leaks"], "json"))["reports"]["leaks"]
    found = {}
    for row in rows:
        found.setdefault(row["app"], []).append((row["state"], row["names"], row["first_build"], row["last_build"]))
    check("leaks of one shape", {app: sorted(states) for app, states in found.items()} == {
        "renamed": [("renamed", 2, "1.9", "1.11")], "twice": [("renamed", 3, "1.9", "1.11")],
        "back": [("gone", 1, "1.10", "1.10"), ("steady", 1, "1.9", "1.11")],
        "both": [("gone", 1, "1.9", "1.10"), ("steady", 1, "1.10", "1.11")],
        "gone": [("renamed", 2, "1.9", "1.11")], "grown": [("growing", 2, "1.9", "1.10")],
        "below": [("renamed", 2, "1.9", "1.10")],
        **{app: [("gone", 1, "1.9", "1.9"), ("new", 1, "1.10", "1.10")] for app in ("mended", "field", "local")}},
          found)
    # A build does not pass because of a guess that a leak was renamed.
    done = command("shapes", "--fail-if", "new-leak", "--report", "overview")
    told = sorted(line.split()[0] for line in done.stderr.splitlines())
    check("renamed leaks fail the gate", done.returncode == 1 and told ==
          ["below", "field", "gone", "grown", "local", "mended", "renamed", "twice"], done)
    check("with both names", "below 1.10: renamed leak: a.Cache#static a > a.New#b (was a.Cache#static a > a.Old#b) "
          "retains 100 B per dump" in done.stderr, done.stderr)
    done = command("shapes", "--fail-if", "growing", "--report", "overview")
    check("a renamed leak can grow", done.returncode == 1 and done.stderr.startswith("grown 1.10: growing"), done)
    answers = json.loads(fleet.report("shapes", form="json"))["reports"]
    check("tables that are not there are empty", answers["waste"] == [] == answers["failures"])


def test_dumps():
    """Two builds of one program: a leak that was fixed, and a new one. The dumps need a JVM."""
    if not os.path.exists("old.hprof"):
        return
    with open("listing.csv", "w", encoding="utf-8") as f:
        f.write("uri,app,build,day,dump\n")
        for n, name in enumerate(("old", "new")):
            f.write(f"{os.getcwd()}/{name}.hprof,shop,1.{n},2026-01-0{n + 1},d\n")
    done = command("run", "listing.csv", "builds", "--quiet")
    check("dumps are taken", done.returncode == 0, done)
    done = command("builds", "--report", "leaks", "--json", "--fail-if", "new-leak")
    rows = json.loads(done.stdout)["reports"]["leaks"]
    check("a mended leak and a new one", sorted((row["state"], row["name"].split("#")[0]) for row in rows) ==
          [("gone", "SessionCache"), ("new", "AuditLog")], rows)
    check("the gate sees the new one", done.returncode == 1 and "new leak: AuditLog#static lines" in done.stderr, done)


def test_names():
    """Names of files that are not UTF-8, or that contain control characters: imported once, shown escaped."""
    for app, dump in ((b"a\x1b[31m", b"line\nfeed"), (b"b", b"c\xff d")):
        folder = b"odd names/" + app + b"/1/2026-01-01/"
        os.makedirs(folder)
        os.symlink(os.fsencode(os.environ["DUMP"]), folder + dump + b".hprof")
    done = command("run", "odd names", "odd")
    check("odd names are imported", done.returncode == 0 and "2 dumps: 2 imported, 0 failed" in done.stdout, done)
    check("progress is escaped", r"a\x1b[31m/1/2026-01-01/line\nfeed: ok" in done.stderr, done)
    check("the name is a URI", "b/1/2026-01-01/c%FF%20d: ok" in done.stderr, done)
    done = command("run", "odd names", "odd")
    check("odd names are imported once", "0 imported, 0 failed, 2 skipped" in done.stdout, done)
    done = command("odd")
    check("reports are escaped", r"a\x1b[31m" in done.stdout and "\x1b" not in done.stdout, done)


def test_prune():
    for keep, first in (("1d", "2026-03-10"), ("30d", "2026-02-09"), ("2w", "2026-02-25"), ("999999d", "0001-01-01")):
        check(f"the first day of {keep}", _prune.first_day(keep, "2026-03-10") == first)
    for wrong in ("0d", "30", "d", "-1d", "30m", "1" * 50 + "d"):
        check(f"--keep={wrong}", command("prune", "made", f"--keep={wrong}").returncode == 2)
    check("no tables", command("prune", ".", "--keep", "1d").returncode == 3)
    before = sorted(glob.glob("made/**/*.parquet", recursive=True))
    days = fleet.prune("made", "8d", today="2026-01-10", dry_run=True)
    check("what would go", days == ["2026-01-01", "2026-01-02"], days)
    check("nothing went", before == sorted(glob.glob("made/**/*.parquet", recursive=True)))
    # Interrupted after the first directory: that dump no longer counts, whatever other rows remain.
    order = _prune.old(glob.glob("made/*/day=*"), "2026-01-03")
    check("a dump counts no more before its rows go", ["/dumps/" in name for name in order] ==
          [True] * 2 + [False] * (len(order) - 2) and len(order) == 6, order)
    check("the rest", fleet.prune("made", "8d", today="2026-01-10") == days)
    left = sorted(glob.glob("made/**/*.parquet", recursive=True))
    check("other days stay", left == [name for name in before if "2026-01-01" not in name and
                                      "2026-01-02" not in name] and len(left) == 4, left)
    check("no empty folders", not [f for f, dirs, files in os.walk("made")
                                   if not dirs + files and not f.startswith("made/.")])
    check("reports go on", command("made").returncode == 0)
    done = command("prune", "made", "--keep", "1d")
    check("by the command", done.returncode == 0 and "2 days removed" in done.stdout, done)
    entries = fleet.read_listing([f"/d/shop/1/2026-03-0{n}/p.hprof" for n in range(1, 6)])
    check("a run passes over old days", [e.day[-2:] for e in _prune.kept(entries, "3d", "2026-03-05")] ==
          ["03", "04", "05"] and _prune.kept(entries, None) == entries)


def main():
    put("shop", "1.1", "2026-01-01", {"com.acme.Cache": 100 << 10, "com.acme.Gone": 200 << 10})
    put("shop", "1.2", "2026-01-02", {"com.acme.Cache": 200 << 10}, reachable=2 << 20)
    put("shop", "1.3", "2026-01-03", {"com.acme.Cache": 500 << 10, "com.acme.Fresh": 500 << 10,
                                      HOSTILE: 12 << 10}, reachable=3 << 20)
    put("mail", "7", "2026-01-03", {"com.acme.Box": 5000})
    put_failure()
    put("shop", "1", "2026-01-01", {"com.acme.Cache": 1000}, folder="quiet")
    # The pool of buffers is not a new leak.
    put("shop", "2", "2026-01-02", {"com.acme.Cache": 1100, "com.acme.Pool": 900}, folder="quiet",
        large=["com.acme.Pool"])
    for test in (test_page, test_conditions, test_wrong_words, test_junit, test_webhook, test_shapes, test_dumps,
                 test_names, test_prune):
        test()


main()
sys.exit(1 if failed else 0)

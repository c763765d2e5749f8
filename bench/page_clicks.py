"""page_clicks.py URL PID CLICKS SEED - sends a running `heapdb serve` the requests that the page sends when a user
clicks, and prints how long answers took: wall time from the request to the last byte of the answer, on a persistent
connection as in a browser, and CPU time of all threads of the server, which is about the wall time on an idle machine."""
import http.client
import json
import random
import sys
import threading
import time
import urllib.parse

URL, PID, CLICKS, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
parts = urllib.parse.urlsplit(URL)
COOKIE = f"heapdb_{parts.port}={urllib.parse.parse_qs(parts.query)['token'][0]}"
FIRST, CLICK, SLOW, TREEMAP, MEMORY = 300, 200, 1000, 300, 200
errors, times, work, peak = [], {}, {}, [0]
local, unreachable = threading.local(), set()
chance = random.Random(SEED)


def cpu():
    """Returns the CPU seconds used by the server."""
    return time.clock_gettime(~PID << 3 | 2)


def ask(path, kind=None, **params):
    """Sends a request and returns the answer. Records its time in ms under `kind`."""
    if params:
        path += "?" + urllib.parse.urlencode({k: v for k, v in params.items() if v is not None}, doseq=True)
    if not hasattr(local, "connection"):
        local.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=600)
    began, spent = time.perf_counter(), cpu()
    try:
        local.connection.request("GET", path, headers={"Cookie": COOKIE})
        answer = local.connection.getresponse()
        text = answer.read()
    except (OSError, http.client.HTTPException) as e:
        local.connection.close()
        errors.append(f"{path}: {e}")
        return {}
    took = (time.perf_counter() - began) * 1000
    if took > SLOW:
        print(f"slow, {took:.0f} ms: {path}", file=sys.stderr)
    if kind:
        times.setdefault(kind, []).append(took)
        work.setdefault(kind, []).append((cpu() - spent) * 1000)
    if answer.status != 200:
        errors.append(f"{path}: {answer.status} {text[:200]}")
        return {}
    return json.loads(text) if text[:1] in b"{[" else {}


def together(*questions):
    """Sends several requests at once, each on its own connection. Returns the time of each answer by path."""
    began, took = time.perf_counter(), {}

    def one(path, params):
        ask(path, **params)
        took[path] = (time.perf_counter() - began) * 1000

    threads = [threading.Thread(target=one, args=question) for question in questions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return took


def memory():
    """Returns the anonymous and shared memory of the server in MiB."""
    with open(f"/proc/{PID}/status", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(("RssAnon", "RssShmem"))) / 1024


def watch():
    while True:
        try:
            peak[0] = max(peak[0], memory())
        except OSError:
            return
        time.sleep(0.02)


def at(list_, share):
    return sorted(list_)[min(len(list_) - 1, int(len(list_) * share))] if list_ else 0


def query(name, kind=None, **params):
    return ask(f"/api/query/{name}", kind or name, **params)


STORY = ("/api/query/leaks", "/api/query/triage")


def first_view():
    """Returns the times until the page shows its first content and until it shows the findings."""
    took = together(("/", {}), ("/app.js", {}), ("/app.css", {}), ("/api/specs", {}), ("/api/health", {}),
                    ("/api/query/leaks", {"limit": 5000}), ("/api/query/triage", {"limit": 200}),
                    ("/api/query/info", {"limit": 500}), ("/api/query/top", {"limit": 12}),
                    ("/api/query/dominator-tree", {"by": "class", "limit": 100000}))
    return max(t for path, t in took.items() if path not in STORY), max(took.values())


threading.Thread(target=watch, daemon=True).start()
cold = first_view()
while query("triage", "warming", limit=200) and times["warming"][-1] > 100:
    time.sleep(0.2)
# Meanwhile, the server prepares the answers of the page's views.
quiet = 0
while quiet < 5:
    spent = cpu()
    time.sleep(1)
    quiet = quiet + 1 if cpu() - spent < 0.01 else 0
local.connection.close()  # the server would close an idle connection
warm = at([first_view()[1] for _ in range(5)], 0.5)
idle = memory()

# Simulates an investigation, in which each answer determines the next requests.
objects = [row["id"] for row in query("top", limit=200).get("rows", [])]
classes = [row["name"] for row in query("histogram", limit=300).get("rows", [])]
if not objects or not classes:
    sys.exit("nothing to click on: " + "; ".join(errors))
times.clear()
work.clear()


def click(kind):
    one, klass = chance.choice(objects), chance.choice(classes)
    if kind == "object":
        answer = query("object", target=one, limit=100)
        rows = answer.get("rows", [])
        if not answer.get("facts", {}).get("reachable", True):
            unreachable.add(one)
        objects.extend(row["ref"] for row in rows if row.get("ref") and len(objects) < 5000)
    elif kind == "referrers":
        rows = query("referrers", target=one, limit=1000).get("rows", [])
        objects.extend([row["id"] for row in rows if row.get("id")][:5])
    elif kind == "dominated":
        rows = query("dominators", "dominated", target=one, limit=50).get("rows", [])
        objects.extend([row["id"] for row in rows[:5]])
    elif kind == "treemap":
        query("dominators", "treemap", target=one, tree=4000, limit=100000)
        query("path", "path of a treemap", target=one, exclude="none", internals=1, limit=1000)
    elif kind == "folded":
        query("dominators", "what a treemap folds, by class", target=one, by="class", limit=200)
    elif kind == "histogram":
        query("histogram", by=chance.choice(["class", "superclass", "package", "loader"]), limit=1000,
              sort=chance.choice(["retained", "shallow", "objects", "name"]))
    elif kind == "search":
        word = f"*{klass.split('.')[-1][:6]}*"
        query("histogram", "filter", target=word, limit=1000)
        query("class", "search", target=word, list=1, sort="instances", limit=8)
    elif kind == "path":
        # Unreachable objects have no path.
        if one not in unreachable and query("object", target=one, limit=1).get("facts", {}).get("reachable"):
            query("path", target=one, limit=1000)
    elif kind == "map":
        query("dominator-tree", "map", by=chance.choice(["class", "package", "loader"]), limit=100000)
    elif kind == "instances":
        query("instances", target=klass, limit=1000)
    elif kind == "view":
        query(chance.choice(["threads", "loaders", "collections", "arrays", "duplicates", "strings", "problems", "info"]), "view", limit=1000)
    elif kind == "merged paths":
        query("merged-paths", "merged paths", target=klass, limit=1000)
    elif kind == "SQL":
        ask("/api/sql", "SQL", q=f"SELECT id, retained FROM objects WHERE retained > {chance.randrange(1 << 20, 1 << 30)} ORDER BY retained DESC LIMIT 20", limit=1000)


# Of 100 clicks.
MIX = {"object": 28, "referrers": 10, "dominated": 12, "treemap": 12, "histogram": 8, "search": 5, "path": 7, "folded": 1, "map": 4,
       "instances": 4, "view": 5, "merged paths": 2, "SQL": 2}
kinds = [k for k, n in MIX.items() for _ in range(n)]
for _ in range(CLICKS):
    click(chance.choice(kinds))
by_kind = {k: list(v) for k, v in times.items()}
every = [t for list_ in by_kind.values() for t in list_]
times.clear()
computed = [t for list_ in work.values() for t in list_]
for one in chance.sample(objects, min(100, len(objects))):
    query("dominators", "any subtree", target=one, tree=4000, limit=100000)
query("dominators", "any subtree", tree=4000, limit=100000)
trees = times["any subtree"]
alone = peak[0]


def client():
    local.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=600)
    for _ in range(10):
        click(chance.choice(["object", "dominated", "treemap", "histogram", "path"]))


before = len(errors)
crowd_began = time.perf_counter()
crowd = [threading.Thread(target=client) for _ in range(20)]
for t in crowd:
    t.start()
for t in crowd:
    t.join()
crowd_ms = (time.perf_counter() - crowd_began) * 1000

lines = [("first view, server just started: facts, biggest objects, histogram, treemap", cold[0], FIRST, "ms"),
         ("the same with the findings", cold[1], FIRST, "ms"), ("first view with the findings, later", warm, FIRST, "ms"),
         (f"{len(every)} clicks: median", at(every, 0.5), None, "ms"), ("95th percentile", at(every, 0.95), CLICK, "ms"),
         ("95th percentile of the server's processor time", at(computed, 0.95), None, "ms"), ("99th percentile", at(every, 0.99), None, "ms"), ("slowest", max(every), None, "ms"),
         (f"treemap of {len(trees)} subtrees: slowest", max(trees), TREEMAP, "ms"),
         ("20 clients, 10 questions each: all answered in", crowd_ms, None, "ms"), ("errors of theirs", len(errors) - before, 0, ""),
         ("anonymous memory between clicks", idle, None, "MiB"), ("after all clicks", memory(), MEMORY, "MiB"),
         ("at its highest, one person", alone, None, "MiB"), ("at its highest, 20 clients", peak[0], None, "MiB")]
print("| | | budget |\n|---|---:|---:|")
for name, value, budget, unit in lines:
    print(f"| {name} | {value:.0f} {unit} | {'' if budget is None else f'{budget} {unit}'} |")
print("\n| click | of " + str(len(every)) + " | median, ms | 95th, ms | slowest, ms |\n|---|---:|---:|---:|---:|")
for kind, list_ in sorted(by_kind.items(), key=lambda k: -len(k[1])):
    print(f"| {kind} | {len(list_)} | {at(list_, 0.5):.0f} | {at(list_, 0.95):.0f} | {max(list_):.0f} |")
for error in errors[:10]:
    print("error:", error, file=sys.stderr)
sys.exit(1 if errors or any(b is not None and v > b for _, v, b, _ in lines) else 0)

"""page_big.py URL PID small|full - every view of a running `heapdb serve` (process PID) on a heap of Social.java.

Database 0 is the heap, database 1 a smaller one of the same program. What waits longer than the limits below, moves
while it loads, shows no rows or an error, fails.
"""
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium
import page_looks

URL, SERVER, FORM = sys.argv[1], int(sys.argv[2]), sys.argv[3]

# Milliseconds from a click until the result is shown, on a shared machine; an idle one needs a tenth. The first time,
# tables may have to be built and whole heaps counted. The second time the server has stored slow answers.
FIRST_LIMIT_MS = {"small": 30_000, "full": 300_000}[FORM]
AGAIN_LIMIT_MS = {"small": 10_000, "full": 30_000}[FORM]
MEDIAN_LIMIT_MS = 1_000  # the budget of DESIGN.md is 200, on a quiet machine
DRAW_LIMIT_MS = 5_000  # pictures of CELLS cells, their answer included
CANCEL_LIMIT_S = 30  # until nobody works for a question that was cancelled
MOVED_LIMIT = 0.02  # sum of layout shifts of a visit; 0.1 is what the Web calls good
CELLS = 5_000  # of a picture at most, see layout.ts
FAILURES_MAX = 12  # then nothing more is tried

# Before the page's own code: counts running and failed requests, and layout shifts.
WATCH = """
window.asking = 0; window.refused = []; window.moved = 0;
const plain = window.fetch, body = Response.prototype.json;
window.fetch = async (url, more) => {
  const counts = !/api.(progress|cancel)/.test(url);
  asking += counts;
  try {
    const response = await plain(url, more);
    if (!response.ok) refused.push(`${response.status} ${url}`);
    return response;
  } catch (e) {
    if (e.name !== 'AbortError') refused.push(`${e.message} ${url}`);
    throw e;
  } finally { asking -= counts; }
};
Response.prototype.json = async function () { asking++; try { return await body.call(this); } finally { asking--; } };
new PerformanceObserver((list) => { for (const e of list.getEntries()) moved += e.value; }).observe({ type: 'layout-shift', buffered: true });

// Acts as somebody who clicks, and tells what is to be seen then, and after how long. It is to be seen once nothing is
// asked any more and two frames agree.
window.visit = (act, shown, least, limit) => new Promise((done) => {
  const began = performance.now(), old = location.hash, before = moved;
  let since = 0, frames = 0;
  const tell = (error) => setTimeout(() => done({ ms: (since || performance.now()) - began, count: document.querySelectorAll(shown).length,
    empty: document.querySelector('main .empty')?.innerText ?? '', cells: document.querySelector('main .status')?.innerText.match(/^[0-9,]+(?= cells)/)?.[0] ?? '', moved: moved - before, error }), 100);
  const look = () => {
    const wrong = document.querySelector('main .error, .inspector .error'), now = performance.now();
    const ready = location.hash !== old && !asking && !document.querySelector('.wait, .late') && document.querySelectorAll(shown).length >= least;
    frames = ready ? frames + 1 : 0;
    if (frames === 1) since = now;
    if (wrong && !asking) tell(wrong.innerText);
    else if (frames === 3) tell('');
    else if (now - began > limit) { since = 0; tell(`not shown: ${asking} questions, ${document.querySelector('.wait')?.innerText ?? ''}`); }
    else requestAnimationFrame(look);
  };
  if (act() === false) done({ ms: 0, count: 0, moved: 0, empty: '', error: 'there is nothing to click' });
  else requestAnimationFrame(look);
});
"""

failed = 0


def check(what, good):
    global failed
    if not good:
        print("FAILED:", what, flush=True)
        failed += 1
        if failed == FAILURES_MAX:
            sys.exit("more was not tried")


def click(selector, text):
    return (f"() => {{ const e = [...document.querySelectorAll({selector!r})].find(e => e.innerText.trim() === {text!r});"
            " if (!e) return false; e.click(); }")


def choose(label, value):
    return (f"() => {{ const e = [...document.querySelectorAll('label')].find(e => e.innerText.startsWith({label!r}))?.querySelector('select');"
            f" if (!e) return false; e.value = {value!r}; e.dispatchEvent(new Event('change', {{ bubbles: true }})); }}")


def go(address):
    return f"() => {{ location.hash = {address!r}; }}"


ROW = "main table tbody td"
TABLE = "main .table, main .tree, main .suspect"
PERSON = "Social$Person"
# A view: name, click, what must then be visible, and the minimum number.
VIEWS = [
    ("Overview", click(".views a", "Overview"), ".suspect, .finding, .reserved canvas, .figures details", 5),
    ("Leaks", click(".views a", "Leaks"), ".suspect", 1),
    ("Map", click(".views a", "Map"), "canvas", 1),
    ("Map, icicle", choose("Shape", "icicle"), "canvas", 1),
    ("Map by package", choose("By", "package"), "canvas", 1),
    ("Map by class loader", choose("By", "loader"), "canvas", 1),
    ("Map by object", choose("By", "object"), "canvas", 1),
    ("Map by object, treemap", choose("Shape", "treemap"), "canvas", 1),
    ("Map by object, table", choose("Shape", "table"), ROW, 20),
    ("Dominators", click(".views a", "Dominators"), "main .tree .row", 20),
    ("Dominators by class", choose("By", "class"), ROW, 20),
    ("Dominators by package", choose("By", "package"), ROW, 20),
    ("Dominators by class loader", choose("By", "loader"), ROW, 4),
    ("Histogram", click(".views a", "Histogram"), ROW, 50),
    ("Histogram by superclass", click(".tabs a", "superclasses"), ROW, 50),
    ("Histogram by package", click(".tabs a", "packages"), ROW, 50),
    ("Histogram by class loader", click(".tabs a", "class loaders"), ROW, 4),
    ("Merged paths", go(f"#/paths?target={PERSON}"), ROW, 8),
    ("Threads", click(".views a", "Threads"), "main .thread", 3),
    ("Threads, all open", click("main button", "Open all"), "main .frame-line", 3),
    ("Threads, table", click("main button", "Table"), ROW, 20),
    ("Waste", click(".views a", "Waste by kind"), ROW, 4),
    ("Waste: collections", click(".tabs a", "collections"), ROW, 20),
    ("Waste: arrays", click(".tabs a", "arrays"), ROW, 10),
    ("Waste: shared strings", click(".tabs a", "shared strings"), TABLE, 1),
    ("Waste: references", click(".tabs a", "references"), ROW, 4),
    ("Waste: finalizers", click(".tabs a", "finalizers"), TABLE, 1),
    ("Waste: unreachable", click(".tabs a", "unreachable"), TABLE, 1),
    ("Waste: direct buffers", click(".tabs a", "direct buffers"), TABLE, 1),
    ("Class loaders", click(".views a", "Class loaders"), ROW, 8),
    ("Strings", click(".views a", "Strings"), ROW, 50),
    ("Strings that match", go("#/strings?o_match=^town 19..$"), ROW, 50),
    ("Strings by prefix", go("#/strings?o_by=prefix"), ROW, 10),
    ("Strings, each object", go("#/strings?o_objects=1"), ROW, 50),
    ("Instances of a class", go(f"#/all?q=instances&target={PERSON}"), ROW, 50),
    ("Instances, sorted", go(f"#/all?q=instances&target={PERSON}&sort=retained"), ROW, 50),
    ("Compare", click(".views a", "Compare"), ROW, 20),
    # The first dump is the large one.
    ("Compare: swap", click("main .tools a", "Swap"), ROW, 20),
    ("Compare by package", click(".tabs a", "packages"), ROW, 4),
    ("Compare by class loader", click(".tabs a", "class loaders"), ROW, 4),
    # The IDs of two runs are unrelated: no rows, and a message.
    ("Compare: new and removed objects", click(".tabs a", "new and removed objects"), "main .mark", 1),
    ("Compare: growth by path", click(".tabs a", "growth by path"), ROW, 4),
    ("Compare: growth by dominator", click(".tabs a", "growth by dominator"), ROW, 4),
    ("Compare: suspects", click(".tabs a", "suspects"), ROW, 2),
    ("SQL", click(".views a", "SQL"), "main textarea", 1),
    ("SQL: objects by class", go("#/sql?sql=SELECT class, count(*) AS n, sum(shallow) AS bytes FROM objects GROUP BY class "
                                 "ORDER BY bytes DESC LIMIT 20"), ".result td", 40),
    ("SQL: names of persons", go(f'#/sql?sql=SELECT id, number, name FROM "{PERSON}" WHERE number % 100000 = 0'), ".result td", 3),
    ("Problems", "() => { location.hash = '#/problems'; }", TABLE, 1),
    ("All queries", click(".views a", "All queries"), "main .parts a", 40),
]
# A click that changes a shape or opens rows moves the content below.
MOVES = {"Map, icicle", "Map by object, treemap", "Threads, all open"}
# Queries without rows on this heap; all others have some.
EMPTY = {"explain", "secrets", "leak-traces", "reference-leaks", "direct-buffers", "finalizers", "native", "bitmaps", "duplicate-classes", "problems",
         "alloc-sites", "object-sites", "cpu-samples", "heap-summaries"} | ({"triage"} if FORM == "small" else set())
# The inspector of the list of all persons.
TABS = ["Elements", "Referrers", "Path", "Merged paths", "Dominated"]


def visit(name, act, shown, least, limit):
    seen = browser.run(f"visit({act}, {shown!r}, {least}, {limit})")
    check(f"{name}: {seen['error']}", not seen["error"])
    check(f"{name}: {seen['count']} of {shown}, {least} at least: {seen['empty']}", seen["count"] >= least)
    check(f"{name}: {seen['moved']:.3f} moves while it loads", seen["moved"] <= MOVED_LIMIT or name in MOVES)
    wrong = browser.run(page_looks.LAYOUT)
    check(f"layout of {name}: {wrong}", not wrong)
    if os.environ.get("SHOTS"):
        browser.screenshot(os.path.join(os.environ["SHOTS"], name.replace(" ", "_").replace("/", "") + ".png"))
    return seen


def reload():
    """Reloads the page: it has no answers, but the server has stored slow ones."""
    browser.open("about:blank")
    browser.open(URL.split("?")[0] + "#/problems")
    check("the page opens", browser.until("document.querySelector('main .table') !== null"))


def queries():
    """Those of the registry that need no target and no other database."""
    return browser.run("fetch('/api/specs').then(r => r.json()).then(a => a.specs.filter(s => s.name !== 'diff' && (!s.targets || s.targets[0] === '['))"
                       ".map(s => s.name))")


def all_views(limit):
    """Milliseconds of each view, by name."""
    times = {}
    for name, act, shown, least in VIEWS:
        times[name] = visit(name, act, shown, least, limit)
    for name in queries():
        seen = times[f"query {name}"] = visit(f"query {name}", go(f"#/all?q={name}"), TABLE, 1, limit)
        check(f"{name} has rows: {seen['empty']}", not seen["empty"] or name in EMPTY)
    people = browser.run("fetch('/api/query/instances?target=java.lang.Object[]&sort=retained&limit=1').then(r => r.json()).then(a => a.rows[0].id)")
    times["Inspector"] = visit("Inspector", go(f"#/problems?obj={people}"), ".inspector .holds .row, .inspector table td", 5, limit)
    for tab in TABS[1:]:
        name = f"Inspector: {tab}"
        times[name] = visit(name, click(".inspector [role=tab]", tab), ".inspector .holds .row, .inspector .chain li, .inspector table td", 1, limit)
    return times


# ---- cancelling ----

LONG = "SELECT count(*) FROM objects a JOIN objects b ON a.shallow"


def processor_seconds():
    with open(f"/proc/{SERVER}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rests():
    """Waits until the server does nothing; whether it does so soon."""
    deadline = time.monotonic() + CANCEL_LIMIT_S
    while time.monotonic() < deadline:
        before = processor_seconds()
        time.sleep(0.5)
        if processor_seconds() - before < 0.05:
            return True
    return False


def begin_long(comparison):
    """A statement that takes hours: it is under way."""
    browser.run(f"({go(f'#/sql?sql={LONG} {comparison} b.shallow')})(); 1")
    check("a long question can be cancelled", browser.until("document.querySelector('.wait button')?.innerText === 'Cancel'"))
    before = processor_seconds()
    time.sleep(0.5)
    check("it is worked on", processor_seconds() - before > 0.02)


def cancelling():
    check("the server rests when nothing is asked", rests())
    begin_long('<')
    browser.run("document.querySelector('.wait button').click(); 1")
    check("it is cancelled", browser.until("document.querySelector('main .error')?.innerText.startsWith('Cancelled.')", 5))
    check("nobody works for it any more", rests())
    begin_long('>')
    visit("Histogram after a long question", click(".views a", "Histogram"), ROW, 50, AGAIN_LIMIT_MS)
    check("nobody works for what was left", rests())


# ---- the maximum number of cells in a picture ----

# Answers instead of the server's: FAN has 17 children per node on three levels, CHAINS has 240 chains of 30 nodes.
BIG_CUT = """
window.cut = (shape) => {
  const rows = [], row = (level, retained) => rows.push({ level, id: '0x' + (rows.length + 4096).toString(16), label: 'a.b' + rows.length % 40 + '.Node', retained, others: null });
  if (shape === 'treemap') for (let i = 0; i < 17; i++) { row(0, 289000); for (let j = 0; j < 17; j++) { row(1, 17000); for (let k = 0; k < 20; k++) row(2, 850); } }
  else for (let i = 0; i < 240; i++) for (let j = 0; j < 30; j++) row(j, 4000 - j);
  const facts = { heap_shallow: shape === 'treemap' ? 17 * 289000 : 240 * 4000 };
  return { query: 'dominators', facts, columns: Object.keys(rows[0]), rows, row_count: rows.length, total_rows: rows.length };
};
const asks = window.fetch;
window.fetch = (url, more) => /query.(dominators.*tree=|path)/.test(url) ? Promise.resolve(new Response(JSON.stringify(cut(readShape())))) : asks(url, more);
window.readShape = () => new URLSearchParams(location.hash.split('?')[1]).get('shape') ?? 'treemap';
"""
# How many of 16 x 16 parts of the canvas have more than one colour.
DRAWN = """(() => {
  const c = document.querySelector('canvas'), w = Math.floor(c.width / 16), h = Math.floor(c.height / 16), g = c.getContext('2d');
  let drawn = 0;
  for (let x = 0; x < 16; x++) for (let y = 0; y < 16; y++) {
    const p = new Uint32Array(g.getImageData(x * w, y * h, w, h).data.buffer);
    drawn += p.some((v) => v !== p[0]);
  }
  return drawn;
})()"""


def big_pictures():
    browser.size(1920, 1080)
    for shape in "treemap", "icicle":
        reload()
        browser.run(BIG_CUT + "1")
        seen = visit(f"{shape} of many cells", go(f"#/map?by=object&shape={shape}"), "canvas", 1, DRAW_LIMIT_MS)
        cells = int(seen["cells"].replace(",", "") or 0)
        check(f"{shape}: {cells} cells", 0.98 * CELLS <= cells <= CELLS)
        drawn = browser.run(DRAWN)
        check(f"{shape}: {drawn} of 256 parts are drawn", drawn >= 200)
        began = time.monotonic()
        browser.run("document.querySelector('canvas').focus(); 1")
        browser.key("ArrowDown")
        check(f"{shape}: arrows choose a cell", browser.until("document.querySelector('.status').innerText.includes('of the heap')"))
        browser.key("Enter")
        check(f"{shape}: Enter zooms in", browser.until("location.hash.includes('root=0x')"))
        print(f"{shape} of {cells} cells: {seen['ms']:.0f} ms; a cell is chosen and zoomed into: {1000 * (time.monotonic() - began):.0f} ms")
    browser.size(1280, 800)


# ---- all of it ----

try:
    browser = chromium.Browser(seconds=FIRST_LIMIT_MS / 1000 + 60)
except (TimeoutError, OSError):
    sys.exit(77)
try:
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    browser.size(1280, 800)
    browser.open(URL)
    check("the page opens", browser.until("document.querySelector('.views') !== null"))
    reload()
    first = all_views(FIRST_LIMIT_MS)
    check("the heap's size is shown once it is known", browser.until("[...document.querySelectorAll('.dbs a')].every(a => /[KM]iB/.test(a.innerText))"))
    reload()
    again = all_views(AGAIN_LIMIT_MS)
    print(f"{'view':34} {'first':>9} {'again':>9} {'moved':>7}")
    for name, seen in first.items():
        print(f"{name:34} {seen['ms']:6.0f} ms {again[name]['ms']:6.0f} ms {seen['moved']:7.3f}")
    median = statistics.median(seen["ms"] for seen in again.values())
    print(f"median of {len(again)}: {median:.0f} ms")
    check(f"the median of all views is {median:.0f} ms", median <= MEDIAN_LIMIT_MS)
    cancelling()
    big_pictures()
    refused = browser.run("refused.join('; ')")
    check(f"no request fails: {refused}", not refused)
    check("nothing went wrong in the page: " + "; ".join(browser.errors[:3]), not browser.errors)
finally:
    browser.close()
sys.exit(1 if failed else 0)

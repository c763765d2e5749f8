"""What the tests of the page in a browser share: the browser, checks that count, and the list of views."""
import glob
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../support")]
import checks
import chromium
import page_looks
from checks import check

URL, FOLDER = sys.argv[1:3]
BUILD = os.path.join(HERE, "../../build")
VENV = os.path.join(BUILD, "fleet-venv")  # of `tools/install-deps.sh --all`, as in CI
# That brings axe-core, and so does `make page`; without either what it looks for is not looked for.
AXE = os.environ.get("AXE") or next(iter(glob.glob(BUILD + "/page/node_modules/axe-core/axe.min.js") + glob.glob(VENV + "/lib/python3*/site-packages/axe_playwright_python/axe.min.js")), "")
SHOTS = os.environ.get("SHOTS")

try:
    browser = chromium.Browser()
except (TimeoutError, OSError):
    sys.exit(77)


def shot(name):
    if SHOTS:
        time.sleep(0.4)
        browser.screenshot(os.path.join(SHOTS, name + ".png"))


def go(path, selector, name):
    browser.run(f"location.hash = {path!r}; 1")
    check(f"{name} is shown", browser.until(f"document.querySelector({selector!r}) !== null"))


def write(selector, words):
    """Types in place of all that a field has: once it has the keys, and until the words are there."""
    field = f"document.querySelector({selector!r})"
    browser.run(f"{field}.focus(); {field}.select(); 1")
    check(f"{selector} has the keys", browser.until(f"document.hasFocus() && document.activeElement === {field} && {field}.selectionEnd === {field}.value.length"))
    browser.call("Input.insertText", text=words)
    check(f"{words!r} is in {selector}", browser.until(f"{field}.value === {words!r}"))


def text(selector="main"):
    return browser.run(f"document.querySelector({selector!r})?.innerText ?? ''")


def accessible(name):
    if not os.path.exists(AXE):
        return
    if not browser.run("'axe' in window"):
        with open(AXE, encoding="utf-8") as script:
            browser.run(script.read() + "; 1")
    found = browser.run("axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`))")
    check(f"axe on {name}: {found}", not found)


def layout(name):
    found = browser.run(page_looks.LAYOUT)
    check(f"layout of {name}: {found}", not found)
    # a map is drawn again in the frame after the theme has changed
    for _ in range(20):
        pale = browser.run(page_looks.CONTRAST)
        if not pale:
            break
        time.sleep(0.1)
    check(f"contrast in {name}: {pale}", not pale)
    odd = browser.run(page_looks.LANGUAGE)
    check(f"visual language of {name}: {odd}", not odd)


VIEWS = [("#/overview", ".suspect", "overview"), ("#/leaks", ".suspect", "leaks"), ("#/map", "canvas", "map"), ("#/map?shape=icicle", "canvas", "icicle"),
         ("#/map?by=object&colour=class", "canvas", "map of objects"), ("#/dominators", ".tree .row", "dominators"),
         ("#/dominators?by=package", "main table td", "merged dominators"), ("#/histogram", "main table td", "histogram"), ("#/paths?target=java.util.HashMap", "main table td", "merged paths"), ("#/class?target=java.lang.String", "main table td", "class"),
         ("#/threads", "main .thread", "threads"), ("#/waste", ".kinds td", "waste"), ("#/waste?q=duplicates", "main table td", "duplicates"), ("#/loaders", "main table td", "loaders"),
         ("#/strings?o_match=hello", "main .table", "strings"), ("#/compare?db=1&before=0", "main table td", "compare"),
         ("#/android?db=2", "main .card, main .empty", "android"), ("#/sql?sql=SELECT+class,count(*)+AS+n,sum(shallow)+AS+bytes+FROM+objects+GROUP+BY+class"
         "+ORDER+BY+bytes+DESC+LIMIT+20", ".result td", "sql"), ("#/problems", "main .table", "problems"), ("#/all", "main .parts a", "all queries")]


def sample_cache():
    """IDs of the objects that hold the sample's cache, from the top of the dominator tree down to its map."""
    return browser.run("fetch('/api/query/dominators?tree=300&limit=1000').then(r => r.json()).then(a => { const at = a.rows.findIndex(r => (r.label ?? '').includes('HashMap size=500'));"
                        " let level = a.rows[at].level, ids = [a.rows[at].id]; for (let i = at; i >= 0; i--) if (a.rows[i].level < level) { level = a.rows[i].level; ids.unshift(a.rows[i].id); } return ids; })")


def look_at_views(width, height, dark, looks=layout):
    """Each view at a size, light or dark: nothing is cut, nothing lies on something else."""
    browser.size(width, height, dark=dark)
    android = browser.run("[...document.querySelectorAll('.dbs a')].length") > 2
    for path, selector, name in VIEWS:
        if name == "android" and not android:
            continue
        go(path, selector, f"{name} at {width}")
        time.sleep(0.1)
        if name == "android" and browser.run("document.querySelector('.gallery img') !== null"):
            check("bitmaps are pictures", browser.until("[...document.querySelectorAll('.gallery img')].some(i => i.complete && i.naturalWidth > 1)"))
        looks(f"{name} at {width} pixels{', dark' if dark else ''}")
        shot(f"{name.replace(' ', '_')}_{width}{'_dark' if dark else ''}")


def end():
    browser.close()
    checks.end()

"""page_client.py URL FOLDER - opens the page of a running `heapdb serve` and the reports in FOLDER."""
import base64
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium

URL, FOLDER = sys.argv[1:3]
ONLY_VIEWS = len(sys.argv) > 3  # of a large heap: each view is there, and how long it took
SHOTS = os.environ.get("SHOTS")
failed = clicks = 0


def check(what, good):
    global failed
    if not good:
        print("FAILED:", what)
        failed += 1


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


def text(selector="main"):
    return browser.run(f"document.querySelector({selector!r})?.innerText ?? ''")


# Boxes that are shown and cut off or that lie on each other, where nothing may: names of the first three.
LAYOUT = """(() => {
  const out = [], see = (e) => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 ? r : null; };
  const name = (e) => e.tagName + '.' + e.className + ' ' + (e.innerText || '').slice(0, 30);
  if (document.documentElement.scrollWidth > innerWidth) out.push('the page is wider than the window: ' + document.documentElement.scrollWidth);
  for (const e of document.querySelectorAll('header *, .views a, .tabs a, .tabs button, h2, .tools > *, .panel p, dl div')) {
    const r = see(e);
    if (!r || e.closest('.views') && innerWidth < 760 || e.closest('.scroll, .columns, .offer')) continue;
    if (r.right > innerWidth + 1 || r.left < -1) out.push('outside: ' + name(e));
    if (e.children.length === 0 && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).display !== 'inline'
      && !/INPUT|SELECT|TEXTAREA/.test(e.tagName) && getComputedStyle(e).textOverflow !== 'ellipsis') out.push('cut: ' + name(e));
  }
  for (const group of document.querySelectorAll('.tools, .tabs, main, header, .inspector, .panel')) {
    const boxes = [...group.children].filter((e) => see(e) && !/absolute|fixed|sticky/.test(getComputedStyle(e).position) && getComputedStyle(e).float === 'none');
    for (let i = 0; i < boxes.length && i < 60; i++) for (let j = i + 1; j < boxes.length && j < 60; j++) {
      const a = boxes[i].getBoundingClientRect(), b = boxes[j].getBoundingClientRect();
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
        out.push('on each other: ' + name(boxes[i]) + ' / ' + name(boxes[j]));
    }
  }
  return out.slice(0, 3).join('; ');
})()"""


def layout(name):
    found = browser.run(LAYOUT)
    check(f"layout of {name}: {found}", not found)


VIEWS = [("#/overview", ".suspect", "overview"), ("#/map", "canvas", "map"), ("#/map?shape=icicle", "canvas", "icicle"),
         ("#/map?by=object&colour=class", "canvas", "map of objects"), ("#/dominators", ".tree .row", "dominators"),
         ("#/histogram", "main table td", "histogram"), ("#/paths?target=java.util.HashMap", "main table td", "merged paths"),
         ("#/threads", "main table td", "threads"), ("#/waste?q=collections", "main table td", "waste"), ("#/loaders", "main table td", "loaders"),
         ("#/strings?o_match=hello", "main .table", "strings"), ("#/compare?db=1&before=0", "main table td", "compare"),
         ("#/android?db=2", "main .trace, main .empty", "android"), ("#/sql?sql=SELECT+class,count(*)+AS+n,sum(shallow)+AS+bytes+FROM+objects+GROUP+BY+class"
         "+ORDER+BY+bytes+DESC+LIMIT+20", ".result td", "sql"), ("#/problems", "main .table", "problems"), ("#/all", "main .parts a", "all queries")]


def click_on(selector, word, what):
    """A click on what has that text, as somebody would who sees it; it counts."""
    global clicks
    clicks += 1
    found = browser.until(f"[...document.querySelectorAll({selector!r})].some(e => e.innerText.includes({word!r}))", 15)
    check(f"{what}: there is {word!r} to click", found)
    if found:
        browser.run(f"[...document.querySelectorAll({selector!r})].find(e => e.innerText.includes({word!r})).click(); 1")


def sees(what, word, selector="body"):
    check(f"{what}: {word!r} is seen", browser.until(f"document.querySelector({selector!r})?.innerText.includes({word!r})", 15))


# Ten questions of somebody who was woken up, on the sample: what is clicked from the first page on, and
# what is then seen. tools/serve/README.md has the same list.
INCIDENTS = [
    ("what holds the memory", [], "class Sample"),
    ("which cache holds the sessions", [], "Sample$SessionCache.SESSIONS"),
    ("why is this class alive", [(".suspect .obj", "Sample"), (".inspector [role=tab]", "Path")], "sticky class"),
    ("what is in this map", [("main .obj", "HashMap size=500")], "key"),
    ("who refers to it", [("main .obj", "HashMap size=500"), (".inspector [role=tab]", "Referrers")], "SESSIONS"),
    ("which classes use the memory", [(".views a", "Histogram")], "byte[]"),
    ("which package uses the memory", [(".views a", "Histogram"), (".tabs a", "packages")], "java.util"),
    ("what does this thread hold", [(".views a", "Threads")], "main"),
    ("which texts are there many times", [(".views a", "Waste")], "the same text"),
    ("what grew between two dumps", [(".views a", "Compare")], "same"),
]


try:
    browser.size(1280, 800)
    browser.open(URL)
    check("the story is there", browser.until("document.querySelectorAll('.suspect').length > 0"))
    check("it names the suspect", ONLY_VIEWS or "class Sample" in text(".suspect") and "14." in text(".suspect"))
    if ONLY_VIEWS:
        raise StopIteration
    check("the token is out of the address", browser.run("location.search") == "")
    shot("overview")

    # From the suspect to what it holds.
    browser.run("document.querySelector('.suspect .obj').click(); 1")
    check("a click opens the inspector", browser.until("document.querySelector('.inspector table td') !== null"))
    check("with its sizes", "Retained size" in text(".inspector"))
    for tab in "Referrers", "Path", "Dominated":
        browser.run(f"[...document.querySelectorAll('.inspector [role=tab]')].find(b => b.innerText === '{tab}').click(); 1")
        check(f"{tab} of the object", browser.until("document.querySelector('.inspector table td') !== null"))
    browser.key("Escape")
    check("Escape closes it", browser.until("document.querySelector('.inspector') === null"))
    browser.run("history.back(); 1")
    check("back opens it again", browser.until("document.querySelector('.inspector') !== null"))

    for path, selector, name in [
            ("#/map", "canvas", "map"), ("#/map?shape=icicle", "canvas", "icicle"), ("#/map?by=object", "canvas", "map of objects"),
            ("#/map?shape=table", "main table td", "map as a table"), ("#/dominators", ".tree .row", "dominators"),
            ("#/histogram", "main table td", "histogram"), ("#/histogram?o_by=package", "main table td", "histogram by package"),
            ("#/paths?target=java.util.HashMap", "main table td", "merged paths"), ("#/threads", "main table td", "threads"),
            ("#/waste", "main table td", "waste"), ("#/waste?q=arrays", "main table td", "arrays"), ("#/loaders", "main table td", "loaders"),
            ("#/strings", "main table td", "strings"), ("#/compare?db=1&before=0", "main table td", "compare"),
            ("#/problems", "main .table", "problems"), ("#/all", "main .parts a", "all queries")]:
        go(path, selector, name)
        if name in ("map", "icicle", "histogram", "dominators"):
            shot(name)

    # The picture: a click zooms in, Escape goes up, and both are in the URL.
    go("#/map", "canvas", "map")
    browser.until("document.querySelector('.status')?.innerText.includes('cells')")
    # What is loaded late moves the picture: on a slow machine the first click may miss it.
    for _ in range(5):
        box = browser.run("(r => [r.x, r.y])(document.querySelector('canvas').getBoundingClientRect())")
        browser.click(box[0] + 60, box[1] + 24)
        if browser.until("location.hash.includes('zoom=')", 4):
            break
    check("a click zooms in", browser.run("location.hash.includes('zoom=')"))
    browser.run("document.querySelector('canvas').focus(); 1")
    browser.key("Escape")
    check("Escape goes up", browser.until("!location.hash.includes('zoom=')"))

    # Keys: search, the tree.
    browser.run("document.querySelector('main').focus(); document.activeElement.blur(); 1")
    browser.key("/")
    check("/ searches", browser.run("document.activeElement.type") == "search")
    for key in "Node":
        browser.key(key)
    browser.key("Enter")
    check("a search finds classes", browser.until("location.hash.includes('histogram') && "
                                                 "document.querySelector('main table td')?.innerText.includes('Node')"))
    go("#/dominators", ".tree .row", "dominators")
    browser.run("document.querySelector('.tree .row').focus(); 1")
    browser.key("ArrowRight")
    check("the right arrow opens a row", browser.until("document.querySelectorAll('.tree .tree .row').length > 0"))
    check("and the URL has it", browser.until("location.hash.includes('open=0x')"))

    # Markup in a dump stays text.
    go("#/histogram?db=1&target=*script*", "main table td", "a heap full of markup")
    check("markup is text", browser.until("document.querySelector('main table')?.innerText.includes('<script>&\"b')"))
    check("and nothing else", browser.run("document.querySelectorAll('main script, main img').length") == 0)

    # SQL: completion, a chart, what is wrong.
    if browser.run("[...document.querySelectorAll('.views a')].some(a => a.innerText === 'SQL')"):
        go("#/sql?sql=SELECT+class,count(*)+AS+n+FROM+objects+GROUP+BY+class+ORDER+BY+n+DESC+LIMIT+5&as=bars", ".bars td i", "bars")
        go("#/sql?sql=SELECT+nothing+FROM+objects", ".error", "what is wrong with a statement")
        browser.run("document.querySelector('.sql').focus(); document.querySelector('.sql').select(); 1")
        browser.call("Input.insertText", text="SELECT id FROM coll")
        check("tables are completed", browser.until("[...document.querySelectorAll('.offer li')].some(e => e.innerText === 'collections')"))
        browser.key("Tab")
        check("Tab takes one", browser.until("document.querySelector('.sql').value === 'SELECT id FROM collections'"))
        browser.call("Input.insertText", text=' JOIN "java.util.HashM')
        check("classes are completed", browser.until("[...document.querySelectorAll('.offer li')].some(e => e.innerText.includes('java.util.HashMap'))"))
        browser.key("Escape")
        browser.run("document.querySelector('.sql').select(); 1")
        browser.call("Input.insertText", text="SELECT ret FROM objects")
        browser.run("document.querySelector('.sql').setSelectionRange(10, 10); document.querySelector('.sql').dispatchEvent(new Event('input', {bubbles: true})); 1")
        check("columns are completed", browser.until("[...document.querySelectorAll('.offer li')].some(e => e.innerText === 'retained')"))
        shipped = browser.run("[...[...document.querySelectorAll('.tools select optgroup')].pop().querySelectorAll('option')].map(o => o.value)")
        for value in shipped:
            browser.run(f"(s => {{ s.value = {value!r}; s.dispatchEvent(new Event('change', {{bubbles: true}})); }})(document.querySelector('.tools select')); 1")
            check(f"shipped question {value} is answered", browser.until("document.querySelector('.result .table') !== null && !document.querySelector('main .error')", 15))
        browser.errors = [e for e in browser.errors if "/api/sql" not in e]  # the statement that was wrong

    # Any object's menu, its bytes, and the part of the tree below it.
    go("#/overview", ".suspect .obj", "overview")
    browser.run("document.querySelector('.suspect .obj').focus(); 1")
    browser.key(".")
    check("a dot opens the menu of an object", browser.until("document.querySelectorAll('.menu a').length >= 4"))
    browser.key("Escape")
    check("Escape closes it", browser.until("document.querySelector('.menu') === null"))
    go("#/map?by=object", "canvas", "map of objects")
    browser.until("document.querySelector('.status')?.innerText.includes('cells')")
    browser.run("document.querySelector('canvas').focus(); 1")
    browser.key("ArrowDown")
    check("arrows choose a cell", browser.until("document.querySelector('.status').innerText.includes('of the heap')"))
    browser.key("Enter")
    check("Enter zooms in", browser.until("location.hash.includes('root=0x')"))
    array = browser.run("fetch('/api/query/top?limit=1000').then(r => r.json()).then(a => (a.rows.find(r => r.class === 'byte[]') ?? {}).id ?? '')")
    if array:
        go(f"#/overview?obj={array}&tab=hex", ".hex", "bytes of an array")
        check("as bytes", browser.until("document.querySelector('.hex').innerText.startsWith('000000  ')"))

    # Incidents, from the first page on; a click is a click that somebody does.
    for what, steps, answer in INCIDENTS:
        browser.run("location.hash = '#/overview'; 1")
        browser.until("document.querySelectorAll('main .obj').length > 3 && !document.querySelector('.inspector')")
        clicks = 0
        for selector, word in steps:
            click_on(selector, word, what)
        sees(what, answer)
        print(f"{what}: {clicks} clicks")

    # Every view at three sizes, light and dark: nothing is cut, nothing lies on something else.
    android = browser.run("[...document.querySelectorAll('.dbs a')].length") > 2
    for width, height, dark in (1280, 800, False), (1920, 1080, True), (390, 844, True), (390, 844, False):
        browser.size(width, height, dark=dark)
        for path, selector, name in VIEWS:
            if name == "android" and not android:
                continue
            go(path, selector, f"{name} at {width}")
            time.sleep(0.1)
            if name == "android" and browser.run("document.querySelector('.gallery img') !== null"):
                check("bitmaps are pictures", browser.until("[...document.querySelectorAll('.gallery img')].some(i => i.complete && i.naturalWidth > 1)"))
            layout(f"{name} at {width} pixels")
            if SHOTS and width == 1280 or name == "overview":
                shot(f"{name.replace(' ', '_')}_{width}{'_dark' if dark else ''}")
    browser.size(390, 844, dark=True)
    check("the dark is dark", browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)")

    # The report asks nobody.
    browser.size(1280, 800)
    browser.open(f"file://{FOLDER}/report.html")
    check("the report opens from disk", browser.until("location.protocol === 'file:' && document.querySelectorAll('.suspect').length > 0"))
    for path, selector in [("#/map", "canvas"), ("#/histogram", "main table td"), ("#/threads", "main table td"),
                           ("#/waste", "main table td"), ("#/loaders", "main table td")]:
        go(path, selector, "report " + path)
    check("it is at most 2 MB", os.path.getsize(f"{FOLDER}/report.html") <= 2_000_000)
    check("it has both pictures", browser.run("document.querySelectorAll('canvas').length") == 2)
    for dark in False, True:
        browser.size(1280, 800, dark=dark)
        time.sleep(0.2)
        layout(f"the report, {'dark' if dark else 'light'}")
        shot(f"report_{'dark' if dark else 'light'}")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    pages = pdf.count(b"/Type /Page") - pdf.count(b"/Type /Pages")
    check(f"it prints: {len(pdf)} bytes, {pages} pages", pdf.startswith(b"%PDF") and 2 <= pages <= 40)
    browser.call("Emulation.setEmulatedMedia", media="print")
    check("on white", browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)")
    check("without what is clicked", browser.run("[...document.querySelectorAll('.views, .tools, header button')].every(e => getComputedStyle(e).display === 'none')"))
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.open(f"file://{FOLDER}/evil.html")
    check("a report of markup opens", browser.until("document.title.includes('evil') && document.querySelectorAll('.suspect').length > 0"))
    browser.run("location.hash = '#/histogram'; 1")
    check("no text of the heap is in a report without values", "img onerror" not in browser.run("document.documentElement.outerHTML").split("<script>")[0])
    check("markup in a report is text", browser.until("document.querySelector('main table')?.innerText.includes('<script>&')"))
    check("nothing went wrong in the page: " + "; ".join(browser.errors[:3]), not browser.errors)
except StopIteration:
    for path, selector, name in VIEWS:
        if name not in ("compare", "android"):
            began = time.monotonic()
            go(path, selector, name)
            print(f"{name}: {1000 * (time.monotonic() - began):.0f} ms")
            layout(name)
    check("nothing went wrong in the page: " + "; ".join(browser.errors[:3]), not browser.errors)
finally:
    browser.close()
sys.exit(1 if failed else 0)

"""page_outside.py URL FOLDER - the views of --with files, on a server and in FOLDER/report.html."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_support import FOLDER, URL, accessible, browser, check, end, go, layout, shot, text

VIEWS = [("#/growth", ".lines polyline", "growth"), ("#/memory", ".account span", "memory"),
         ("#/allocations", "main table td", "allocations"), ("#/native", "main table td", "native")]
SIZES = [(1440, 900, False), (1280, 800, True), (390, 844, True), (390, 844, False)]
NUMBERS = "[...document.querySelectorAll('.account span')].map(s => s.getBoundingClientRect().width)"


def line(number):
    return " ".join(browser.run(f"document.querySelectorAll('.lines')[{number}]?.innerText ?? ''").split())


def growth(where):
    have = line(0)
    check(f"{where}: four lines of memory", browser.run("document.querySelector('.lines').querySelectorAll('polyline').length") == 4)
    check(f"{where}: the last values: {have}", "heap after GC 127.0 MiB" in have and "RSS 600.0 MiB" in have)
    check(f"{where}: the class that grows is the first", "AM com.acme.Session 63.0 MiB" in line(2).replace("\u202f", " "))
    check(f"{where}: the sentence", "has grown by 6.0 MiB per hour" in text())


try:
    browser.size(1440, 900)
    browser.open(URL)
    check("the page is there", browser.until("document.querySelector('.suspect') !== null"))
    have = text("#views")
    check(f"views of the files: {have}", all(word in have for word in ("Growth", "Memory outside the heap", "Allocations", "Native memory")))

    go("#/growth", ".lines polyline", "growth")
    growth("server")
    box = browser.run("(b => [b.left, b.top, b.width])(document.querySelector('.lines svg').getBoundingClientRect())")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 2, y=box[1] + 20)
    check("the value at the pointer", browser.until("document.querySelector('.lines .legend').innerText.replace(/\\s+/g, ' ').includes('heap after GC 44.0 MiB')"))
    # Growth is a line that rises: the last point is above the first.
    check("the line of the class rises", browser.run("(p => p[p.length - 1][1] < p[0][1] - 100)(document.querySelectorAll('.lines')[2].querySelector('polyline').getAttribute('points').trim().split(' ').map(p => p.split(',').map(Number)))"))

    go("#/memory", ".account span", "memory")
    parts = browser.run("fetch('/api/file/memory').then(r => r.json())")
    whole = [r for r in parts["rows"] if not r.get("detail")]
    check("parts add up to RSS", sum(r["resident"] for r in whole) == parts["facts"]["rss"])
    widths = browser.run(NUMBERS)
    check(f"a part of the bar for each: {widths}", len(widths) == len(whole))
    total = sum(widths)
    check("as wide as it is large", all(abs(w / total - r["resident"] / parts["facts"]["rss"]) < 0.01 for w, r in zip(widths, whole)))
    check("no command line in the advice", "heapdb " not in text() and " --" not in text())

    go("#/allocations", "main table td", "allocations")
    check("the heap over the recording", browser.until("document.querySelector('.lines .legend')?.innerText.replace(/\\s+/g, ' ').includes('used 20.0 MiB')"))
    check("and the busiest thread", browser.until("(document.querySelectorAll('.lines .legend')[1]?.innerText ?? '').replace(/\\s+/g, ' ').includes('wärter 😀 37.5')"))
    check("who allocated", "com.acme.SessionServlet.doGet:31" in browser.run("document.querySelector('main').textContent"))
    go("#/allocations?q=jfr-class", "main table td", "allocations by class")
    check("what was allocated", browser.until("document.querySelector('main table').innerText.includes('com.acme.Session')"))
    go("#/native", "main table td", "native memory")
    check("meminfo and native allocations", browser.until("document.querySelector('main').innerText.includes('libhwui.so') && document.querySelector('main').innerText.includes('Dalvik Heap')"))

    for words, wanted in ("growth", "#/growth"), ("outside", "#/memory"), ("rss", "#/memory"), ("jfr", "#/allocations"), ("native mem", "#/native"):
        browser.run("location.hash = '#/histogram'; document.getElementById('search').focus(); document.getElementById('search').select(); 1")
        browser.call("Input.insertText", text=words)
        browser.key("Enter")
        check(f"{words!r} leads to {wanted}, not to {browser.run('location.hash')}", browser.until(f"location.hash.startsWith({wanted!r})", 10))

    # The file is read again when its view is opened.
    with open(os.path.join(FOLDER, "series.jsonl"), "a", encoding="utf-8") as series:
        series.write("damaged\n")
    check("files are read again", browser.run("fetch('/api/file/growth').then(r => r.json()).then(a => a.facts.damaged)") == 1)
    before = len(browser.errors)
    check("no other file is", browser.run("fetch('/api/file/..%2Fone.heapdb').then(r => r.status)") == 404)
    check("nor arguments", browser.run("fetch('/api/file/growth?target=x').then(r => r.status)") == 400)
    del browser.errors[before:]

    # Owners over three dumps, with a made-up answer of the server, because these dumps are equal.
    browser.run("""{ const real = window.fetch; window.fetch = (url, more) => String(url).includes('/api/query/diff') && new URL(url, location).searchParams.getAll('before').length === 2
        ? Promise.resolve(new Response(JSON.stringify({ query: 'diff', facts: {}, columns: ['name', 'steps'], row_count: 5, total_rows: 5,
            rows: [{ name: 'A.cache', steps: '1048576 2097152 3145728' }, { name: 'B.gone', steps: '1048576 0 0' },
              ...['a.Thing', 'b.Other', 'b.Other'].map((held, i) => ({ name: 'the VM', held, steps: `0 0 ${i + 1}` }))] }))) : real(url, more); }""")
    go("#/compare", ".lines polyline", "owners over dumps")
    browser.until("document.querySelector('.lines')?.innerText.includes('A.cache')")
    have = line(0)
    check(f"owners over three dumps: {have}", "A.cache 3.0 MiB" in have and "B.gone 0 B" in have and "one" in have and "three" in have)
    names = browser.run("[...document.querySelectorAll('.lines .legend span')].map(s => s.title)")
    check(f"an owner with several lines has a name for each: {names}", names == ["A.cache", "B.gone", "the VM: a.Thing", "the VM: b.Other (1)", "the VM: b.Other (2)"])
    # A comparison with itself, or with a dump that is not open, becomes that with the dump before.
    for address in "#/compare?db=1&before=1", "#/compare?db=1&before=9":
        browser.run(f"location.hash = {address!r}; 1")
        check(f"{address} is mended", browser.until("location.hash.includes('before=0') && document.querySelector('main .card') !== null"))
    layout("owners over dumps")
    accessible("owners over dumps")

    for width, height, dark in SIZES:
        browser.size(width, height, dark=dark)
        for path, selector, name in VIEWS:
            go(path, selector, f"{name} at {width}")
            time.sleep(0.1)
            layout(f"{name} at {width}{', dark' if dark else ''}")
            accessible(f"{name} at {width}{', dark' if dark else ''}")
            shot(f"{name}_{width}{'_dark' if dark else ''}")

    browser.size(1440, 900)
    browser.open("file://" + os.path.join(FOLDER, "report.html"))
    check("the report is there", browser.until("document.querySelector('#view-growth .lines polyline') !== null"))
    growth("report")
    check("and the account", browser.run(f"{NUMBERS}.length") == len(whole))
    check("and who allocated", "com.acme.SessionServlet.doGet:31" in browser.run("document.querySelector('#view-allocations').textContent"))
    check("nothing went wrong in the page: " + "; ".join(browser.errors[:3]), not browser.errors)
finally:
    end()

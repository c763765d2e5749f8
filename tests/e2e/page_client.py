"""page_client.py URL FOLDER - opens the page of a running `heapdb serve` and the reports in FOLDER."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium

URL, FOLDER = sys.argv[1:]
SHOTS = os.environ.get("SHOTS")
failed = 0


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


try:
    browser.size(1280, 800)
    browser.open(URL)
    check("the story is there", browser.until("document.querySelectorAll('.suspect').length > 0"))
    check("it names the suspect", "class Sample" in text(".suspect") and "14." in text(".suspect"))
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

    # A phone, and the dark.
    for path, selector in ("#/overview", ".suspect"), ("#/map", "canvas"), ("#/histogram", "main table td"):
        browser.size(390, 844, dark=True)
        go(path, selector, path + " at 390 pixels")
        check(f"{path} does not run over at 390 pixels",
              browser.run("document.documentElement.scrollWidth <= 390"))
    shot("phone")
    check("the dark is dark", browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)")

    # The report asks nobody.
    browser.size(1280, 800)
    browser.open(f"file://{FOLDER}/report.html")
    check("the report opens from disk", browser.until("location.protocol === 'file:' && document.querySelectorAll('.suspect').length > 0"))
    for path, selector in [("#/map", "canvas"), ("#/map?by=package", "canvas"), ("#/histogram", "main table td"), ("#/threads", "main table td"),
                           ("#/waste", "main table td"), ("#/loaders", "main table td")]:
        go(path, selector, "report " + path)
    browser.open(f"file://{FOLDER}/evil.html")
    check("a report of markup opens", browser.until("document.title.includes('evil') && document.querySelectorAll('.suspect').length > 0"))
    browser.run("location.hash = '#/histogram'; 1")
    check("markup in a report is text", browser.until("document.querySelector('main table')?.innerText.includes('<script>&')"))
    check("nothing went wrong in the page: " + "; ".join(browser.errors[:3]), not browser.errors)
finally:
    browser.close()
sys.exit(1 if failed else 0)

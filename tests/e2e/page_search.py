"""page_search.py URL FOLDER - types words into the search of a running `heapdb serve`; database 1 has 100,000 classes."""
import os
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_support import URL, browser, check, end, go, text, write

# Queries with their own view, and its address.
VIEWS = {"leaks": "#/leaks", "histogram": "#/histogram", "threads": "#/threads", "loaders": "#/loaders",
         "strings": "#/strings", "diff": "#/compare", "dominators": "#/dominators", "problems": "#/problems"}
FULL = os.environ.get("HEAPDB_PAGE") == "full"
START = "#/all?q=info"


def start(db=""):
    """A place to search from, which no search leads to."""
    address = START + db
    browser.run(f"location.hash = {address!r}; document.activeElement.blur(); 1")
    browser.until(f"location.hash === {address!r} && document.querySelector('main .table') !== null")
    browser.run("document.getElementById('search').focus(); document.getElementById('search').select(); 1")
    return address


def arrives(word, wanted, db="", both=True):
    """Enter at once, and when all that is looked up is there, leads to the same address."""
    for late in (False, True) if both else (False,):
        address = start(db)
        if late:
            write("#search", word)
            time.sleep(0.15)  # it says that it is looking only once it has been drawn
            browser.until("!document.querySelector('.search [role=status]')", 30)
            shown = browser.run("document.querySelector('#found li.on')?.innerText.replace(/\\s+/g, ' ')")
        else:
            browser.call("Input.insertText", text=word)
            shown = "what comes first"
        browser.key("Enter")
        browser.until(f"location.hash !== {address!r}", 20)
        found = urllib.parse.unquote_plus(browser.run("location.hash"))
        check(f"{word!r} and Enter {'later' if late else 'at once'} leads to {wanted}, not to {found} ({shown})",
              found.startswith(wanted) or any(w in found for w in ([wanted] if wanted.startswith("q=") else [])))


def names(db=""):
    """Names of ten classes, the largest and others, some of one package."""
    found = browser.run(f"fetch('/api/query/histogram?limit=1000{db}').then(r => r.json()).then(a => a.rows.map(r => r.name))")
    return [n for n in found if "." in n and not n.endswith("[]") and "/" not in n][::7][:10]


try:
    browser.size(1280, 800)
    browser.open(URL)
    check("the page is there", browser.until("document.querySelector('.suspect') !== null"))

    # Enter before any other request: not even the descriptions of queries are loaded.
    browser.run("document.getElementById('search').focus(); 1")
    browser.call("Input.insertText", text="reference-stats")
    browser.key("Enter")
    check("the first word of all", browser.until("location.hash.includes('q=reference-stats')"))

    views = browser.run("[...document.querySelectorAll('.views a')].map(a => [a.innerText, a.hash.replace(/[?].*/, '')])")
    check(f"there are views: {views}", len(views) > 10)
    for title, address in views:
        arrives(title, address)
    titles = {title.lower(): address for title, address in views}
    queries = browser.run("fetch('/api/specs').then(r => r.json()).then(s => s.specs.map(q => q.name))")
    check(f"there are queries: {len(queries)}", len(queries) > 40)
    for no, name in enumerate(queries):
        arrives(name, titles.get(name) or VIEWS.get(name) or f"q={name}", both=FULL or no % 6 == 0)
    for name in names():
        arrives(name, f"#/class?target={name}")
    # The highlighted offer is the right one, also for synonyms.
    for word, wanted in [("thread", "#/threads"), ("leak", "#/leaks"), ("duplicate", "q=duplicates"), ("jfr", "q=object-sites"), ("SessionCache", "#/class?target=Sample$SessionCache")]:
        arrives(word, wanted)

    # Nothing moves: each list begins with the previous one.
    for word in "thread", "class", "hashmap", "object", "session", "a", "hello":
        start()
        browser.run("""window.lists = []; window.seen?.disconnect(); window.seen = new MutationObserver(() => {
            const box = document.getElementById('search'); lists.push([box.value, [...document.querySelectorAll('#found li')].map(e => e.textContent)]); });
            seen.observe(document.querySelector('.search .offer'), { childList: true, subtree: true, characterData: true }); 1""")
        write("#search", word)
        browser.until("!document.querySelector('.search [role=status]')", 20)
        time.sleep(0.1)
        lists = [found for typed, found in browser.run("window.lists") if typed == word]
        moved = [(a, b) for a, b in zip(lists, lists[1:]) if b[:len(a)] != a]
        # While a word is being typed, the list of the previous word is shown.
        check(f"{word!r}: what comes later stands below: {moved[-1:]}", len(moved) <= 1 and lists and len(lists[-1]) > 0)
    check("one class is a class, not a list", browser.run("!document.querySelector('#found')?.innerText.includes('1 classes')"))

    # 100,000 classes.
    db = "&db=1"
    for name in names(db):
        arrives(name, "#/class?", db)
        check(f"it is {name}", name in urllib.parse.unquote_plus(browser.run("location.hash")))
    arrives("proxy99999", "#/class?", db)
    check("one class is its page", text("main h2").startswith("com.example") and "Proxy99999" in text("main h2"))
    arrives("generatedname$$proxy9999", "#/histogram", db)
    check(f"a list is not empty: {text('main .count')}", browser.until("/^11 (rows match|of 100,002 rows)/.test(document.querySelector('main .count')?.innerText ?? '')"))
    # Unfinished searches are cancelled.
    errors = [e for e in browser.errors if "status of 500" not in e or "/api/" not in e]
    check("nothing went wrong in the page: " + "; ".join(errors[:3]), not errors)
finally:
    end()

"""page_tasks.py DIR - performs the tasks of an investigation on the page in Chromium and counts clicks.

Serves the dumps of ../shared/dumps, unpacked in DIR, performs each task from the first page, and prints a table with
the number of clicks (choosing from a list counts as one, as does entering text and pressing Enter), the seconds from
the first click until the answer is visible, and dead ends, which are steps that end in an error or with nothing to
click. Exit status: 0 no dead end, 1 otherwise, 77 no browser or no dumps. HEAPDB is the path of heapdb (default:
build/heapdb).
"""
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import chromium

DUMPS = ["tomcat9_j17", "loaders_j17", "vthreads_j25_live", "android_service_leak", "android_ahat_base", "android_ahat_test", "colls_j17"]
WAIT = 20  # seconds for one step
HASHMAPS = "HashMaps with more than 1,000 entries"

# Tasks: question, dump, steps, and a text that must be visible at the end. Steps: ("click", selector, its text),
# ("open", selector, its text), which expands a row, ("choose", label of a list, its option), ("type", text), followed by
# Enter.
TASKS = [
    ("who holds the memory", "tomcat9_j17", [], "StandardManager.sessions holds"),
    ("what grew between two dumps", "android_ahat_test", [("click", ".views a", "Compare")], "The heap grew"),
    ("which class loaders leak", "loaders_j17", [("click", ".views a", "Class loaders")], "61 Loaders$L"),
    ("the biggest session, and what is in it", "tomcat9_j17", [("click", ".go", "12,000 StandardSession"), ("click", "main td a.obj", "0x"),
                                                       ("open", ".inspector .row", "attributes")], "AppServlet$Cart"),
    ("texts that are there many times", "tomcat9_j17", [("click", ".views a", "Waste")], "/app/page"),
    ("what a thread holds, with its stack", "tomcat9_j17", [("click", ".views a", "Threads")], "HotSpotDiagnostic.dumpHeap"),
    ("HashMaps with more than 1,000 entries", "colls_j17", [("click", ".views a", "SQL"), ("click", ".asks a", HASHMAPS)], "rows"),
    ("the object of an ID", "tomcat9_j17", [("type", "0x80b16278")], "ConcurrentHashMap"),
    ("objects of a class, by retained size", "tomcat9_j17", [("click", ".views a", "Histogram"), ("click", "main td a", "StandardSession")], "1,000 of 12,000 rows"),
    ("which object has a text", "tomcat9_j17", [("type", "sessionTimeout")], "sessionTimeout"),
    ("all rows of a table as a file", "tomcat9_j17", [("click", ".views a", "Histogram"), ("click", "main .export summary", "Export"), ("click", "main .export button", "CSV file")], "Saved "),
    ("which package uses the memory", "tomcat9_j17", [("click", ".views a", "Histogram"), ("click", ".tabs a", "packages")], "org.apache.catalina.session"),
    ("why all objects of a class are alive", "tomcat9_j17", [("click", ".parts a.class", "StandardSession"), ("click", ".tabs a", "Merged paths")], "StandardManager"),
    ("how large the objects of a class are", "tomcat9_j17", [("click", ".parts a.class", "StandardSession"), ("click", ".tabs a", "Sizes")], "1.0 KiB to 2.0 KiB"),
    ("which threads do the same", "vthreads_j25_live", [("click", ".views a", "Threads")], "threads with the same stack"),
    ("keys and values of a map", "tomcat9_j17", [("click", ".suspect .chain a", "ConcurrentHashMap size=12000")], "StandardSession"),
    ("who refers to an object", "tomcat9_j17", [("click", ".suspect .more-button", ""), ("click", ".menu a", "Who refers to it")], "reference"),
    ("memory outside of the heap", "tomcat9_j17", [("click", ".views a", "Waste"), ("click", ".tabs a", "direct buffers")], "Direct buffers"),
    ("a leak of Android, and which field holds it", "android_service_leak", [], ".leakAllTheBinders"),
    ("classes that several loaders define", "loaders_j17", [("click", ".views a", "Class loaders")], "Loaders$Helper"),
    ("what is unreachable", "tomcat9_j17", [("click", ".views a", "Waste"), ("click", ".tabs a", "unreachable")], "Unreachable"),
    ("where objects were allocated", "tomcat9_j17", [("type", "jfr")], "where its objects were allocated"),
    ("bytes by package as a treemap of SQL", "tomcat9_j17", [("click", ".views a", "SQL"), ("click", ".asks a", "Bytes by package"), ("choose", "Show as", "treemap")], "cells"),
    ("this view as a file to send", "tomcat9_j17", [("click", "header .more-button", ""), ("click", ".menu button", "Share as one HTML file")], "StandardManager"),
    ("a flame graph of who holds what", "tomcat9_j17", [("click", ".views a", "Map"), ("choose", "Shape", "icicle"), ("choose", "Shows", "what holds each one")], "cells"),
]

CLICK = "(() => { const e = [...document.querySelectorAll(%r)].find(e => e.checkVisibility() && e.textContent.includes(%r)); if (!e) return false; e.click(); return true; })()"
CHOOSE = ("(() => { const l = [...document.querySelectorAll('main label')].find(l => l.textContent.trim().startsWith(%r)), s = l?.querySelector('select'), "
          "o = [...(s?.options ?? [])].find(o => o.text === %r); if (!o) return false; s.value = o.value; s.dispatchEvent(new Event('change', { bubbles: true })); return true; })()")


def serve(heapdb, folder, work):
    databases = []
    for dump in DUMPS:
        source = os.path.join(folder, dump + ".hprof")
        if not os.path.exists(source):
            sys.exit(77)
        databases.append(os.path.join(work, dump + ".heapdb"))
        subprocess.run([heapdb, "import", source, "-o", databases[-1], "--quiet"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = subprocess.Popen([heapdb, "serve", "--quiet", *databases], stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().strip()


def step(browser, kind, *what):
    """Performs a step as soon as possible. Returns whether it was possible."""
    if kind == "type":
        browser.run("document.getElementById('search').focus(); 1")
        browser.call("Input.insertText", text=what[0])
        done = browser.until("document.querySelectorAll('#found li').length > 0", WAIT)
        browser.key("Enter")
        return done
    return browser.until({"click": CLICK, "open": CLICK.replace("e.click()", "e.querySelector('.twist').click()"), "choose": CHOOSE}[kind] % what, WAIT)


def task(browser, dump, steps, answer):
    """Returns the seconds until the answer is visible, and the dead ends."""
    browser.run("document.activeElement?.blur(); 1")
    browser.run(f"location.hash = '#/problems'; 1")
    browser.run(f"location.hash = '#/overview?db={DUMPS.index(dump) or ''}'; 1")
    first = f"[...document.querySelectorAll('main article, main .panel')].length > 2 && !document.querySelector('main .wait')"
    browser.until(first, WAIT)
    began, dead = time.monotonic(), 0
    for one in steps:
        dead += not step(browser, *one)
        dead += bool(browser.run("document.querySelector('main .error') !== null"))
    dead += not browser.until(f"document.body.innerText.replace(/\\u00a0/g, ' ').includes({answer!r})", WAIT)
    return time.monotonic() - began, dead


def main():
    heapdb = os.environ.get("HEAPDB", os.path.join(ROOT, "build/heapdb"))
    with tempfile.TemporaryDirectory() as work:
        try:
            browser = chromium.Browser()
        except (TimeoutError, OSError):
            sys.exit(77)
        server, url = serve(heapdb, sys.argv[1], work)
        ends = 0
        try:
            browser.size(1440, 900)
            browser.open(url)
            browser.until("document.querySelectorAll('.suspect').length > 0")
            print("| task | clicks | seconds | dead ends |\n|---|---:|---:|---:|")
            for what, dump, steps, answer in TASKS:
                seconds, dead = task(browser, dump, steps, answer)
                ends += dead
                print(f"| {what} (`{dump}`) | {len(steps)} | {seconds:.1f} | {dead} |", flush=True)
        finally:
            browser.close()
            server.terminate()
            server.wait()
    return 1 if ends else 0


if __name__ == "__main__":
    sys.exit(main())

"""page_looks_client.py URL - looks at each view of a running `heapdb serve` at six sizes, with axe-core, too."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_support import AXE, URL, VENV, accessible, browser, check, end, go, layout, look_at_views, sample_cache, write

FULL = os.environ.get("HEAPDB_PAGE") == "full"
SIZES = [(1440, 900, False), (1280, 800, True), (1920, 1080, True), (768, 1024, False), (390, 844, True), (390, 844, False)]
# Sizes checked by axe-core; in the long form all four widths, light and dark.
WITH_AXE = [(1440, False), (1280, True), (390, True)]
if FULL:
    SIZES += [(1440, 900, True), (1280, 800, False), (1920, 1080, False)]
    WITH_AXE = [(width, dark) for width, _, dark in SIZES]


def closely(name):
    layout(name)
    accessible(name)


try:
    browser.open(URL)
    check("the overview is there", browser.until("document.querySelector('.suspect') !== null"))
    for width, height, dark in SIZES:
        look_at_views(width, height, dark, closely if (width, dark) in WITH_AXE else layout)
    browser.size(768, 1024)
    go(f"#/overview?obj={sample_cache()[-1]}", ".inspector .holds", "inspector at 768")
    layout("inspector at 768")
    browser.size(390, 844)
    for tab in "fields", "contents", "referrers", "path", "dominated":
        go(f"#/overview?obj={sample_cache()[-1]}&tab={tab}", ".inspector .holds, .inspector .chain", f"inspector: {tab}")
        accessible(f"inspector: {tab}")
    browser.run("document.getElementById('search').focus(); 1")
    write("#search", "hashmap")
    browser.until("document.querySelectorAll('#found li').length > 1")
    accessible("the search, open")
    if not os.path.exists(AXE):
        print("axe-core is not here: nothing was looked at with it")
        check("axe-core is where install-deps.sh --all put it", not os.path.exists(VENV))
    check("nothing went wrong in the page: " + "; ".join(browser.errors[:3]), not browser.errors)
finally:
    end()

"""page_touch.py URL FOLDER - selects rows of tables with taps, on a phone."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_support import URL, accessible, browser, check, end, go, layout, shot, text

BUTTON = "document.querySelector('.fingers')"
TICKED = "[...document.querySelectorAll('.tick input')].flatMap((box, i) => box.checked ? [i] : []).join()"


def tap(element):
    x, y = browser.run(f"(b => [b.x + b.width / 2, b.y + b.height / 2])(({element}).getBoundingClientRect())")
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def row(no, cell):
    return f"document.querySelectorAll('main tbody tr')[{no}].cells[{cell}].firstElementChild"


def selects(path, what, by):
    """Taps rows 1 and 3 of the table at a link, then row 3 again at its checkbox."""
    go(path, "main tbody tr:nth-of-type(6)", path)
    here = browser.run("location.hash")
    tap(BUTTON)
    check(f"{path}: each row has a checkbox", browser.until("document.querySelector('.fingers').innerText === 'Done' && document.querySelectorAll('tbody .tick input').length > 5"))
    tap(row(1, 1))
    check(f"{path}: one row: {text('.selection')!r}", browser.until(f"document.querySelector('.selection')?.innerText.includes('1 {what} selected. {by} ')"))
    tap(row(3, 1))
    plural = what + ("es" if what.endswith("s") else "s")
    check(f"{path}: two: {text('.selection')!r}", browser.until(f"document.querySelector('.selection')?.innerText.includes('2 {plural} selected. Together they retain ') && {TICKED} === '1,3'"))
    check(f"{path}: a tap on a link opens nothing", browser.run("location.hash") == here)
    layout(f"selection of {path}")
    accessible(f"selection of {path}")
    shot(f"touch_{what}")
    tap(row(3, 0))
    check(f"{path}: a checkbox is cleared", browser.until(f"{TICKED} === '1'"))
    tap(BUTTON)
    check(f"{path}: Done ends it", browser.until("!document.querySelector('.tick, .selection, tr.selected') && document.querySelector('.fingers').innerText === 'Select'"))
    tap(row(1, 0))
    check(f"{path}: then a tap opens a row", browser.until(f"location.hash !== {here!r}"))


# Numbers of columns, in the order on a phone, and what is sorted.
HEADS = "[...document.querySelectorAll('main th')].map(h => h.innerText.split(/[\\n,]/)[0] + (h.ariaSort === 'descending' ? '!' : '')).slice(0, 3)"

try:
    browser.size(390, 844)
    browser.open(URL)
    check("the page is there", browser.until("document.querySelector('.suspect') !== null"))
    if not browser.run("fetch('/api/health').then(r => r.json()).then(h => h.sql)"):
        sys.exit(0)  # heapdb was built without SQL, which computes common sizes
    go("#/histogram", "main tbody tr", "a table without fingers")
    heads = browser.run(HEADS)
    check(f"the column that orders the rows is marked and in view: {heads}", heads[0] == "name" and heads[1].startswith("shallow") and heads[1].endswith("!"))
    check("a mouse needs no button", browser.run(f"getComputedStyle({BUTTON}).display") == "none")
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
    selects("#/histogram", "class", "Its objects retain")
    selects("#/class?target=java.util.HashMap", "object", "It retains")
    go("#/all?q=strings&sort=objects", "main tbody tr", "groups of equal strings")
    tap(BUTTON)
    browser.until("document.querySelector('.tick input') !== null")
    tap(row(0, 0))
    check("several objects in a row are not selected as one", browser.run("document.querySelector('main tbody tr').cells[2].innerText") != "1" and browser.run("document.querySelector('.selection') === null"))
    # Checkboxes take room from the columns, not from the window.
    for path in "#/all?q=top", "#/strings?o_objects=1", "#/all?q=instances&target=java.lang.String", "#/all?q=big-drops":
        go(path, "main tbody tr:nth-of-type(3)", path)
        tap(BUTTON)
        check(f"{path} has checkboxes", browser.until("document.querySelector('tbody .tick input') !== null"))
        layout(f"checkboxes of {path}")
    go("#/all?q=info", "main tbody tr", "a table of facts")
    check("rows that are no objects are not selected", browser.run(f"{BUTTON} === null"))
    check("nothing went wrong in the page: " + "; ".join(browser.errors[:3]), not browser.errors)
finally:
    end()

"""Opens trees in speedscope, in Chromium, and reads the bytes of each class: see speedscope_test.sh."""
import base64
import collections
import json
import os
import re
import sys
import time

import chromium

_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def shown(browser):
    """The table of the sandwich view: total and own bytes by name, and what the last digit is worth."""
    rows = browser.call("Runtime.evaluate", returnByValue=True, expression="""
        [...document.querySelectorAll('tr')].slice(1).map(r => [...r.querySelectorAll('td')].map(c => c.innerText.trim()))
        """)["result"]["value"]
    found = {}
    for total, own, name in rows:
        numbers = []
        for text in (total, own):
            number, unit = re.match(r"([\d,.]+) ?([KMG]?B)?", text).groups("")
            digits = len(number.partition(".")[2])
            numbers.append((float(number.replace(",", "")) * _UNITS[unit], _UNITS[unit] * 10 ** -digits))
        found[name] = numbers
    return found


def opened(index, path):
    browser = chromium.Browser()
    try:
        script = os.path.abspath(path) + ".js"
        with open(path, "rb") as f, open(script, "w", encoding="utf-8") as out:
            data = base64.b64encode(f.read()).decode()
            out.write(f"speedscope.loadFileFromBase64({json.dumps(path)}, {json.dumps(data)})")
        browser.call("Page.navigate", url=f"file://{index}#localProfilePath={script}")
        deadline = time.monotonic() + 60
        while True:
            for kind in "keyDown", "keyUp":  # "3": the sandwich view
                browser.call("Input.dispatchKeyEvent", type=kind, key="3", code="Digit3", windowsVirtualKeyCode=51,
                             text="3" if kind == "keyDown" else "")
            time.sleep(0.5)
            found = shown(browser)
            if found:
                break
            assert time.monotonic() < deadline, f"{path} is not shown"
        assert not browser.errors, browser.errors
        return found
    finally:
        browser.close()


def main():
    index, *paths = sys.argv[1:]
    own, total = collections.Counter(), collections.Counter()
    with open("tree.folded", encoding="utf-8") as f:
        for line in f:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            names = stack.split(";")
            own[names[-1]] += int(count)
            for name in set(names):
                total[name] += int(count)
    for path in paths:
        found = opened(index, path)
        assert len(found) > 20, (path, found)
        for name, numbers in found.items():
            for (number, step), expected in zip(numbers, (total[name], own[name])):
                assert abs(number - expected) <= step, (path, name, number, expected)
        print(f"{path}: {len(found)} classes as in folded stacks")


main()

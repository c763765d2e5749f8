"""page_kept.py URL PROCESS - asks the server twice for what the view Compare shows first."""
import http.cookiejar
import os
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import checks
from checks import check

URL, PROCESS = sys.argv[1:3]
QUESTION = URL.split("/?")[0] + "/api/query/diff?before=0&by=owner&db=1&limit=1000"
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def spent():
    """CPU time of the server in ticks, including threads that have ended."""
    with open(f"/proc/{PROCESS}/stat", encoding="utf-8") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))


def ask():
    before = spent()
    return browser.open(QUESTION).read(), spent() - before


def rest():
    """Waits until the server has prepared the answers that it prepares while it is idle."""
    for _ in range(60):
        before = spent()
        time.sleep(0.5)
        if spent() == before:
            break


browser.open(URL).read()  # for the cookie
answer, first = ask()
rest()
again, second = ask()
print(f"first comparison: {first} ticks of CPU, second {second}")
check("both answers are equal", again == answer and b'"heap_objects"' in answer)
check(f"the second is not computed: {second} ticks, the first {first}", second < first / 3)
checks.end()

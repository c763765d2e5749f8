"""page_away.py DATABASE - the page when its server ends, and when another program or server comes."""
import http.server
import os
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../support")]
import checks
import chromium
from checks import check


def serve(port=0):
    port = ["--port", str(port)] if port else []
    server = subprocess.Popen(["heapdb", "serve", sys.argv[1], "--quiet", *port], stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().strip()


def end(server):
    server.terminate()
    server.wait(20)


class Stranger(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<h1>a stranger</h1>")

    def log_message(self, *args):
        pass


def text():
    return browser.run("document.body?.innerText ?? ''")


server, url = serve()
if not url:
    sys.exit(77)
port = int(url.split(":")[2].split("/")[0])
try:
    browser = chromium.Browser()
except (TimeoutError, OSError):
    end(server)
    sys.exit(77)
try:
    browser.open(url)
    check("the page is there", browser.until("document.querySelector('.suspect') !== null"))
    check("a service worker is, too", browser.until("navigator.serviceWorker.controller !== null"))
    browser.run("location.hash = '#/histogram'; 1")
    check("a view is shown", browser.until("document.querySelector('main table td') !== null"))
    end(server)
    browser.call("Page.reload")
    check("a reload says that the server is away", browser.until("document.body?.innerText.includes('continues when')"))
    check("at the same address", browser.run("location.hash") == "#/histogram")
    check("nothing of the heap is kept", "java." not in browser.run("document.documentElement.outerHTML")
          and browser.run("caches.keys().then(k => k.length)") == 0)
    # Back with the same token, like an interrupted tunnel: the page is reloaded.
    browser.run("window.stays = 1; window.fetch = () => Promise.resolve({ ok: true }); 1")
    check("the page is reloaded when the server is back", browser.until("window.stays === undefined"))
    check("and waits again", browser.until("document.body?.innerText.includes('continues when')"))
    # After a restart it has the same address and token, and the tab continues where it was.
    server, other = serve()
    check(f"a restarted server has the same address: {other}, {url}", other == url)
    check("the tab goes on, at the same view", browser.until("document.querySelector('main table td') !== null && location.hash === '#/histogram'"))
    # Another file replaces the database: the page reports it when the user comes back to the tab, and not before.
    browser.run("dispatchEvent(new Event('focus')); 1")
    time.sleep(0.5)
    check("nothing was replaced", "Replaced:" not in text())
    shutil.copy(sys.argv[1], "copy.heapdb")
    os.replace("copy.heapdb", sys.argv[1])
    browser.run("dispatchEvent(new Event('focus')); 1")
    check("a replaced database is announced", browser.until("document.querySelector('main .mark')?.innerText.startsWith('Replaced:')"))
    browser.call("Page.reload")
    check("after a reload, too", browser.until("document.querySelector('main .mark')?.innerText.startsWith('Replaced:')"))
    kept = sys.argv[1] + ".token"
    check("the token is its owner's alone", os.stat(kept).st_mode & 0o777 == 0o600)
    end(server)
    # A token file that others can read, or that is a link, is ignored.
    browser.call("Page.reload")
    check("the page waits", browser.until("document.body?.innerText.includes('continues when')"))
    os.chmod(kept, 0o640)
    server, other = serve(port)
    check("another token then", other.split("=")[1] != url.split("=")[1] and browser.until("document.body?.innerText.includes('Open the address that it printed')"))
    end(server)
    os.rename(kept, kept + "s")
    os.chmod(kept + "s", 0o600)
    os.symlink(kept + "s", kept)
    server, other = serve(port)
    check("nor is a link followed", other.split("=")[1] != url.split("=")[1])
    os.unlink(kept)
    second, beside = serve()
    check("two servers of a database have different ports", beside.split("=")[1] != other.split("=")[1] and beside.split(":")[2] != other.split(":")[2])
    end(second)
    browser.open(other)
    check("its address works", browser.until("document.querySelector('.suspect') !== null"))
    end(server)
    # Another program at the same address is not disturbed.
    stranger = http.server.ThreadingHTTPServer(("127.0.0.1", port), Stranger)
    threading.Thread(target=stranger.serve_forever, daemon=True).start()
    browser.open(f"http://127.0.0.1:{port}/x")
    check("a stranger is shown", browser.until("document.body?.innerText === 'a stranger'"))
    check("the service worker has gone", browser.until("navigator.serviceWorker.getRegistrations().then(r => r.length === 0)"))
    stranger.shutdown()
finally:
    browser.close()
    if server.poll() is None:
        end(server)
checks.end()

"""serve_client.py URL DATABASE - asks a running `heapdb serve`: right answers, and attacks that must
be refused while it stays alive. Each check is a line of .github/SECURITY.md."""
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

URL, DATABASE = sys.argv[1:]
parts = urllib.parse.urlsplit(URL)
HOST, PORT = parts.hostname, parts.port
TOKEN = urllib.parse.parse_qs(parts.query)["token"][0]
COOKIE = f"heapdb_{PORT}={TOKEN}"
failed = 0


def ask(path, method="GET", host=None, cookie=COOKIE, headers=None, body=None):
    connection = http.client.HTTPConnection(HOST, PORT, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    if host != "":
        connection.putheader("Host", host or f"{HOST}:{PORT}")
    if cookie:
        connection.putheader("Cookie", cookie)
    for key, value in (headers or {}).items():
        connection.putheader(key, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders()
    if body is not None:
        try:
            connection.send(body)
        except OSError:
            pass
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer, text


def check(what, good):
    global failed
    if not good:
        print("FAILED:", what)
        failed += 1


def refused(what, status, *args, **kwargs):
    answer, text = ask(*args, **kwargs)
    check(f"{what}: {answer.status}, expected {status}", answer.status == status)
    check(f"{what}: says nothing of the heap", b'"rows":' not in text and b"root:" not in text)


def raw(data, seconds=1, most=65536):
    """Sends bytes and returns the first of what comes back."""
    with socket.create_connection((HOST, PORT), timeout=seconds) as s:
        try:
            s.sendall(data)
            return s.recv(most)
        except OSError:
            return b""


def command(*args):
    out = subprocess.run(["heapdb", "query", *args, "--db", DATABASE, "--json"], check=True,
                         stdout=subprocess.PIPE).stdout
    return json.loads(out)


# ---- the page, and answers as the command has them ----
page, text = ask("/?token=" + TOKEN, cookie=None)
cookie = page.getheader("Set-Cookie") or ""
check("the address opens the page", page.status == 200 and b"<" in text)
check("its cookie is strict", COOKIE in cookie and "HttpOnly" in cookie and "SameSite=Strict" in cookie)
for path in "/", "/app.js", "/app.css", "/api/health", "/api/specs":
    answer, text = ask(path)
    policy = answer.getheader("Content-Security-Policy") or ""
    check(f"{path} is there", answer.status == 200)
    check(f"{path} runs no inline script",
          "script-src 'self';" in policy and "unsafe" not in policy and "default-src 'none'" in policy)
    check(f"{path} has its headers", answer.getheader("X-Content-Type-Options") == "nosniff"
          and answer.getheader("X-Frame-Options") == "DENY"
          and answer.getheader("Referrer-Policy") == "no-referrer"
          and answer.getheader("Cache-Control") == "no-store"
          and answer.getheader("Access-Control-Allow-Origin") is None)
specs = {spec["name"]: spec for spec in json.loads(ask("/api/specs")[1])["specs"]}
check("the registry is whole", {"leaks", "histogram", "path", "diff", "info"} <= set(specs))
for name, path, args in [
        ("top", "limit=5&by=class", ["--limit", "5", "--by", "class"]),
        ("histogram", "limit=7&sort=-count&target=java.util.*", ["java.util.*", "--limit", "7",
                                                                "--sort", "-count"]),
        ("leaks", "brief=1&limit=50", ["--brief", "--limit", "50"]),
        ("threads", "limit=20", ["--limit", "20"])]:
    answer, text = ask(f"/api/query/{name}?{path}")
    check(f"{name} is what the command says", answer.status == 200
          and json.loads(text) == command(name, *args))
databases = json.loads(ask("/api/health")[1])["databases"]
check("both databases are open", [d["name"] for d in databases] == ["s.heapdb", "evil.heapdb"])
answer, text = ask("/api/query/diff?db=1&before=0&limit=10")
check("two databases are compared", answer.status == 200 and json.loads(text)["query"] == "diff")

# ---- a heap full of markup is JSON and nothing else ----
answer, text = ask("/api/query/histogram?db=1&limit=5000")
check("markup in names is JSON", answer.getheader("Content-Type") == "application/json"
      and any("<script>" in row["name"] for row in json.loads(text)["rows"]))
answer, text = ask("/api/query/strings?db=1&limit=100000")
check("controls in texts are escaped", json.loads(text)["row_count"] > 100
      and not any(byte < 32 and byte != 10 for byte in text) and b"\x7f" not in text)

# ---- who may ask ----
refused("no token", 403, "/api/health", cookie=None)
refused("no token for the page", 403, "/", cookie=None)
refused("a wrong token", 403, "/?token=" + "0" * 32, cookie=None)
refused("a part of the token", 403, "/?token=" + TOKEN[:-1], cookie=None)
refused("a longer token", 403, "/?token=" + TOKEN + "0", cookie=None)
refused("a wrong cookie", 403, "/api/health", cookie=COOKIE[:-1] + "x")
refused("another port's cookie", 403, "/api/health", cookie=f"heapdb_1={TOKEN}")
refused("the token in the address of an answer", 403, "/api/health?token=" + TOKEN, cookie=None)
for host in "evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1.evil.example:{PORT}", "":
    refused(f"the host '{host}'", 421, "/api/health", host=host)
check("localhost is we", ask("/api/health", host=f"localhost:{PORT}")[0].status == 200)
refused("another origin", 403, "/api/health", headers={"Origin": "http://evil.example"})
refused("the origin null", 403, "/api/health", headers={"Origin": "null"})
refused("a request of another site", 403, "/api/health", headers={"Sec-Fetch-Site": "cross-site"})
refused("a cross-site post", 403, "/api/cancel?job=a", method="POST",
        headers={"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"})
check("our own post", ask("/api/cancel?job=a", method="POST",
                          headers={"Origin": f"http://{HOST}:{PORT}"})[0].status == 200)

# ---- what may be asked ----
for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
             "/app.js/../../../etc/passwd", "//etc/passwd", "/api/query/../../etc/passwd",
             "/api/query/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/api/query/", "/api/", "/index.html",
             "/tools/serve/bundle/app.js"):
    refused(path, 404, path)
for path in ("db=2", "db=-1", "db=/etc/passwd", "db=", "before=9", "limit=0", "limit=1000000",
             "limit=x", "file=/etc/passwd", "dump=/etc/passwd", "tmp=/tmp", "job=../a", "job=" + "a" * 99,
             "a%00b=1", "db=0%00", "&".join("target=a" for _ in range(70))):
    refused(path[:40], 400, "/api/query/top?" + path)
refused("a put", 405, "/api/health", method="PUT")
refused("a delete", 405, "/api/health", method="DELETE")
refused("a post of a question", 405, "/api/query/top", method="POST")
refused("a body", 413, "/api/cancel?job=a", method="POST", body=b"x" * 100)
refused("a large body", 413, "/api/cancel?job=a", method="POST", body=b"x" * 10_000_000)
refused("an object that is not there", 404, "/api/query/object?target=0x1")

# ---- sizes and broken requests: refused or closed, never an answer ----
head = f"Host: {HOST}:{PORT}\r\nCookie: {COOKIE}\r\n".encode()
for what, data in [
        ("a long address", b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + head + b"\r\n"),
        ("a long header", b"GET /api/health HTTP/1.1\r\n" + head + b"X: " + b"a" * 100_000 + b"\r\n\r\n"),
        ("many headers", b"GET /api/health HTTP/1.1\r\n" + head + b"X: a\r\n" * 20_000 + b"\r\n"),
        ("no HTTP", b"\x00\x01\x02\xff" * 1000 + b"\r\n\r\n"),
        ("a TLS greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 512),
        ("a wrong length", b"POST /api/cancel HTTP/1.1\r\n" + head + b"Content-Length: -5\r\n\r\n"),
        ("two lengths", b"POST /api/cancel HTTP/1.1\r\n" + head
         + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\nabcdefg"),
        ("chunks", b"POST /api/cancel HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n"),
]:
    back = raw(data)
    check(f"{what}: {back[:40]!r}", b" 200 " not in back.split(b"\r\n")[0])

# ---- many and slow ones: others are answered meanwhile ----
slow = []
for _ in range(100):
    s = socket.create_connection((HOST, PORT), timeout=5)
    s.sendall(b"GET /api/health HTTP/1.1\r\nHost: ")
    slow.append(s)
began = time.monotonic()
check("an answer beside 100 slow requests", ask("/api/health")[0].status == 200)
check("it is not kept waiting", time.monotonic() - began < 5)
for s in slow:
    s.close()

statuses = []


def client():
    for _ in range(5):
        statuses.append(ask("/api/query/dominators?limit=20")[0].status)


clients = [threading.Thread(target=client) for _ in range(20)]
for c in clients:
    c.start()
for c in clients:
    c.join()
check("20 clients at once", statuses == [200] * 100)
for _ in range(1000):
    socket.create_connection((HOST, PORT), timeout=5).close()
check("alive after 1,000 connections", ask("/api/health")[0].status == 200)

sys.exit(1 if failed else 0)

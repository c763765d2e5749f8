"""serve_client.py URL DATABASE - asks a running `heapdb serve`: right answers, and attacks that must
be refused while it stays alive. Each check is a line of .github/SECURITY.md."""
import glob
import gzip
import http.client
import json
import os
import resource
import select
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from checks import check, end

URL, DATABASE = sys.argv[1:]
parts = urllib.parse.urlsplit(URL)
HOST, PORT = parts.hostname, parts.port
TOKEN = urllib.parse.parse_qs(parts.query)["token"][0]
COOKIE = f"heapdb_{PORT}={TOKEN}"


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


def packed():
    """Answers and the page's files are gzip for whom they may be, the same bytes, and much shorter."""
    for path in "/chunk.js", "/app.css", "/api/specs", "/api/query/histogram?limit=1000":
        plain_answer, plain = ask(path)
        answer, text = ask(path, headers={"Accept-Encoding": "br, gzip;q=0.8"})
        check(f"{path} is gzip", answer.getheader("Content-Encoding") == "gzip" and plain_answer.getheader("Content-Encoding") is None)
        check(f"{path} is the same", gzip.decompress(text) == plain and len(text) * 2 < len(plain))
    for accepted in "identity", "gzip;q=0", "br, gzip; q=0.000":
        answer, text = ask("/app.css", headers={"Accept-Encoding": accepted})
        check(f"{accepted} is no gzip", answer.getheader("Content-Encoding") is None and text.startswith(b":root"))


# libmicrohttpd 1.0 refuses some broken requests itself, which 0.9 left to us: both count as refusals.
def either(status):
    return status if isinstance(status, tuple) else (status,)


def refused(what, status, *args, **kwargs):
    answer, text = ask(*args, **kwargs)
    check(f"{what}: {answer.status}, expected {status}", answer.status in either(status))
    check(f"{what}: says nothing of the heap", b'"rows":' not in text and b"root:" not in text)


def raw(data, seconds=1, most=65536):
    """Sends bytes and returns the first of what comes back."""
    with socket.create_connection((HOST, PORT), timeout=seconds) as s:
        try:
            s.sendall(data)
            return s.recv(most)
        except OSError:
            return b""


def whole(data, seconds=10):
    """All that comes back until the server closes the connection."""
    back = b""
    with socket.create_connection((HOST, PORT), timeout=seconds) as s:
        try:
            s.sendall(data)
            while piece := s.recv(65536):
                back += piece
        except OSError:
            pass
    return back


def command(*args):
    out = subprocess.run(["heapdb", "query", *args, "--db", DATABASE, "--json"], check=True,
                         stdout=subprocess.PIPE).stdout
    return json.loads(out)


# A request that never ends, one byte at a time.
dripping = []


def drip():
    began = time.monotonic()
    with socket.create_connection((HOST, PORT), timeout=2) as s:
        try:
            s.sendall(b"GET /api/health HTTP/1.1\r\nX: ")
            while time.monotonic() - began < 60:
                s.sendall(b"a")
                if select.select([s], [], [], 1)[0] and not s.recv(4096):
                    break
        except OSError:
            pass
    dripping.append(time.monotonic() - began)


dripper = threading.Thread(target=drip)
dripper.start()

# ---- the page, and the same answers as the command ----
page, text = ask("/?token=" + TOKEN, cookie=None)
cookie = page.getheader("Set-Cookie") or ""
check("the address opens the page", page.status == 200 and b"<" in text)
check("its cookie is strict", COOKIE in cookie and "HttpOnly" in cookie and "SameSite=Strict" in cookie)
for path in "/", "/app.js", "/chunk.js", "/views.js", "/app.css", "/api/health", "/api/specs":
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
        ("histogram", "limit=7&sort=-objects&target=java.util.*", ["java.util.*", "--limit", "7",
                                                                "--sort", "-objects"]),
        ("leaks", "brief=1&limit=50", ["--brief", "--limit", "50"]),
        ("threads", "limit=20", ["--limit", "20"])]:
    answer, text = ask(f"/api/query/{name}?{path}")
    check(f"{name} is what the command says", answer.status == 200
          and json.loads(text) == command(name, *args))
# ---- exports of all rows ----
def exported(query, kind, *args):
    return subprocess.run(["heapdb", "export", *query, *args, "--db", DATABASE, "--format", kind], check=True, stdout=subprocess.PIPE).stdout


for kind in "csv", "parquet":
    answer, text = ask(f"/api/query/histogram?sort=-objects&format={kind}")
    wanted = exported(["histogram"], kind, "--sort", "-objects")
    # Parquet files have metadata at the end, and before it pages with the same bytes.
    check(f"a file of {kind} is as the command writes it", answer.status == 200 and (text == wanted if kind == "csv" else text[:4] == b"PAR1" == text[-4:] and text[:2000] == wanted[:2000]))
    check(f"it has a name: {answer.getheader('Content-Disposition')}", answer.getheader("Content-Disposition") == f'attachment; filename="histogram.{kind}"')
answer, text = ask("/api/query/histogram?format=json")
check("a file of JSON is as the command writes it", json.loads(text) == command("histogram"))
for path, status in [("histogram?format=xml", 400), ("histogram?format=csv&limit=5", 400), ("path?format=csv", 400)]:
    refused(f"a file by {path}", status, "/api/query/" + path)
check("that there is nothing is an answer, not a file", json.loads(ask("/api/query/object?target=0x1&format=csv")[1])["error"]["code"] == "HDB_NOTFOUND")
refused("a file without a token", 403, "/api/query/histogram?format=csv", cookie=None)

# ---- filters: over all rows, whatever the limit ----
def fits(row, words):
    return all(any(isinstance(cell, str) and word.lower() in cell.lower() for cell in row.values()) for word in words.split())


for query, words in [("histogram", "HASHMAP"), ("histogram", "util map$node"), ("histogram", "nobody-has-this"), ("instances?target=java.lang.String", "0x"),
                     ("histogram", "byte[]"), ("dominators?tree=300", "Sample")]:
    path = f"/api/query/{query}{'&' if '?' in query else '?'}"
    unfiltered = json.loads(ask(path + "limit=100000")[1])
    wanted = [row for row in unfiltered["rows"] if fits(row, words)]
    for limit in 3, 100000:
        found = json.loads(ask(f"{path}limit={limit}&filter={urllib.parse.quote_plus(words)}")[1])
        check(f"{query}: {words}, {limit} rows: {found['row_count']} of {found['total_rows']}, {len(wanted)}",
              found["rows"] == wanted[:limit] and found["total_rows"] == len(wanted) and found["facts"] == unfiltered["facts"])
found = ask("/api/query/histogram?format=csv&filter=HashMap")[1].decode().splitlines()
check(f"a file has these rows only: {len(found)}", len(found) > 3 and all("HashMap" in line for line in found[1:]))
found = json.loads(ask("/api/sql?q=SELECT+name+FROM+classes&limit=2&filter=hashmap")[1])
check("so has a statement", "error" in found or found["row_count"] == 2 < found["total_rows"] and all("HashMap" in row["name"] for row in found["rows"]))
refused("a filter of a value", 400, "/api/value?id=0x1&filter=a")

databases = json.loads(ask("/api/health")[1])["databases"]
check("both databases are open", [d["name"] for d in databases] == ["s.heapdb", "evil.heapdb"])
answer, text = ask("/api/query/diff?db=1&before=0&limit=10")
check("two databases are compared", answer.status == 200 and json.loads(text)["query"] == "diff")

# ---- SQL: reads, within limits ----
def sql(statement, more="", method="GET"):
    answer, text = ask("/api/sql?q=" + urllib.parse.quote(statement, safe="") + more, method=method)
    return answer.status, json.loads(text)


has_sql = json.loads(ask("/api/health")[1])["sql"]
if has_sql:
    status, rows = sql("SELECT class, count(*) AS n FROM objects GROUP BY class ORDER BY n DESC, class LIMIT 3")
    status, sizes = sql("SELECT shallow, id, retained AS size, length, sum(shallow) FROM arrays")
    check("SQL says which columns are sizes", sizes["in_bytes"] == ["shallow", "size"])
    check("SQL is answered", status == 200 and rows["columns"] == ["class", "n"] and rows["row_count"] == 3)
    status, rows = sql("SELECT id FROM objects", "&limit=7")
    check("rows have a limit", status == 200 and rows["row_count"] == 7)
    counts = [sql("SELECT count(*) AS n, sum(reachable) AS r FROM objects", more)[1]["rows"][0] for more in ("", "&all=1")]
    check("tables show reachable objects, or all", counts[0]["n"] == counts[0]["r"] == counts[1]["r"] < counts[1]["n"])
    check("all is 1 or not there", sql("SELECT 1", "&all=2")[0] == 400)
    status, both = sql("SELECT (SELECT count(*) FROM s.objects) - (SELECT count(*) FROM evil.objects) AS n",
                       "&all=1")
    check("other databases go by their names", status == 200 and both["rows"] == [{"n": 0}])
    for db, there in ("", False), ("&db=1", True):
        status, other = sql("SELECT count(*) AS n FROM objects WHERE class LIKE '%<script>%'", db)
        check("tables without a name are those of the database that is asked", (other["rows"][0]["n"] > 0) == there)
    for statement in ("DELETE FROM objects", "ATTACH '/etc/passwd' AS x", "ATTACH 'x.db' AS x", "CREATE TABLE t (a)",
                      "DROP TABLE objects", "INSERT INTO objects VALUES (1)", "PRAGMA temp_store_directory = '/tmp'",
                      "VACUUM INTO 'x.db'", "SELECT load_extension('x')", "SELECT hex(fts3_tokenizer('simple'))",
                      "SELECT fts3_tokenizer('a', x'0000000000000000')", "SELECT readfile('/etc/passwd')",
                      "SELECT writefile('x', 'y')", "SELECT edit('x')", "SELECT 1; SELECT 2", "", ";", "SELECT", "x" * 9000,
                      "SELECT randomblob(1 << 40)", "PRAGMA writable_schema = 1"):
        status, said = sql(statement)
        check(f"{statement[:40]!r}: {status} {str(said)[:80]}", status in (400, 500) and said["error"]["message"])
    check("nothing was written", not glob.glob("x*") and not glob.glob("dump/x*"))
    status, said = sql("SELECT hex(zeroblob(4000000)) FROM objects")
    check("texts of an answer have a limit", "HDB_ELIMIT" in json.dumps(said))
    many = urllib.parse.quote("SELECT a.id AS x, b.class FROM objects a, objects b LIMIT 250000")
    answer, text = ask(f"/api/sql?format=csv&q={many}")
    check("a file has all rows of a statement", answer.status == 200 and text.count(b"\n") == 250_001 and text.startswith(b"x,class\n0x"))
    check("a file of columns, too", ask(f"/api/sql?format=parquet&q={many}")[1][-4:] == b"PAR1")
    check("with only its heading", ask("/api/sql?format=csv&q=" + urllib.parse.quote("SELECT id FROM objects WHERE 0"))[1] == b"id\n")
    # An endless export: it is counted, at most four run at once, and it is cancelled.
    rows_without_end = urllib.parse.quote("SELECT a.id, b.id, c.id FROM objects a, objects b, objects c")
    got = []
    makers = [threading.Thread(target=lambda i=i: got.append(ask(f"/api/sql?format=csv&job=file-{i}&q={rows_without_end}"))) for i in range(4)]
    for maker in makers:
        maker.start()
    written, deadline = [0], time.monotonic() + 60
    while max(written) <= 1000 and time.monotonic() < deadline:
        time.sleep(0.1)
        written = [json.loads(ask(f"/api/progress?job=file-{i}")[1]).get("rows", 0) for i in range(4)]
    check(f"rows that are written are counted: {written}", max(written) > 1000)
    refused("a fifth file", 400, f"/api/sql?format=csv&q={rows_without_end}")
    for i in range(4):
        ask(f"/api/cancel?job=file-{i}", method="POST")
    for maker in makers:
        maker.join(20)
    check("all of them are cancelled", [a.status for a, _ in got] == [503] * 4)
    check("then there is room", ask("/api/query/histogram?format=csv")[0].status == 200)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    said = []
    waiting = threading.Thread(target=lambda: said.append(sql(endless, "&job=endless")))
    waiting.start()
    progress, deadline = {"state": "none"}, time.monotonic() + 60
    while progress["state"] != "running" and time.monotonic() < deadline:
        time.sleep(0.1)
        progress = json.loads(ask("/api/progress?job=endless")[1])
    check("a statement runs", progress["state"] == "running")
    check("and is cancelled", json.loads(ask("/api/cancel?job=endless", method="POST")[1])["cancelled"])
    waiting.join(20)
    check("at once", said and said[0][0] == 503)
    # If a client disconnects, the worker is free within about a second, and the connection is closed.
    def leave(how, method):
        s = socket.create_connection((HOST, PORT), timeout=20)
        s.sendall(f"GET /api/sql?q={urllib.parse.quote(endless)}&job=left-{how} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\nCookie: {COOKIE}\r\n"
                  f"Connection: {method}\r\n\r\n".encode())
        while state(f"left-{how}") == "none":
            time.sleep(0.02)
        if how.startswith("reset"):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if how.startswith("shutdown"):
            s.shutdown(socket.SHUT_WR)
        else:
            s.close()
        return s

    def state(job):
        return json.loads(ask(f"/api/progress?job={job}")[1])["state"]

    names = [how + kept for how in ("close", "reset", "shutdown") for kept in ("", "-kept")]  # more than there are workers
    held = [leave(how, "keep-alive" if how.endswith("kept") else "close") for how in names[:4]]
    began = time.monotonic()
    while any(state(f"left-{how}") != "none" for how in names[:4]) and time.monotonic() - began < 20:
        time.sleep(0.05)
    check(f"questions end when nobody waits for them: {time.monotonic() - began:.1f} s", time.monotonic() - began < 2)
    held += [leave(how, "keep-alive") for how in names[4:]]
    began = time.monotonic()
    while any(state(f"left-{how}") != "none" for how in names[4:]) and time.monotonic() - began < 20:
        time.sleep(0.05)
    check(f"also those whose connection is shut half: {time.monotonic() - began:.1f} s", time.monotonic() - began < 2)
    for s in held:
        s.close()
    refused("a statement of another site", 403, "/api/sql?q=SELECT+1", headers={"Sec-Fetch-Site": "cross-site"})
    refused("a statement without a token", 403, "/api/sql?q=SELECT+1", cookie=None)
    refused("an option of a statement", 400, "/api/sql?q=SELECT+1&sort=a")
    refused("two statements", 400, "/api/sql?q=SELECT+1&q=SELECT+2")
else:
    refused("SQL that is not there", 404, "/api/sql?q=SELECT+1")

# ---- values ----
one = json.loads(ask("/api/query/strings?objects=1&limit=50")[1])["rows"]
one = next((row for row in one if row.get("id") and row.get("text")), None)
if one:
    answer, text = ask("/api/value?id=" + one["id"])
    check("a text is sent whole, to be kept", text.decode() == one["text"] and answer.getheader("Content-Type")
          == "application/octet-stream" and "attachment" in answer.getheader("Content-Disposition"))
for path in "", "id=", "id=0x", "id=12", "id=0xg", "id=../a", "id=0x1&from=-1", "id=0x" + "1" * 17, "id=0x1&file=a", "id=0x1&db=9":
    refused("a value: " + path, 400, "/api/value?" + path)
refused("the value of nothing", 404, "/api/value?id=0x1")
refused("a value without a token", 403, "/api/value?id=0x1", cookie=None)

for path in "", "id=0x", "id=0x1&width=-1", "id=0x1&width=a", "id=0x1&from=1", "id=0x1&file=a":
    refused("a bitmap: " + path, 400, "/api/bitmap?" + path)
refused("the picture of nothing", 404, "/api/bitmap?id=0x1&width=1&height=1&pixel=4")
array = next(row["id"] for row in json.loads(ask("/api/query/top?limit=4000")[1])["rows"] if row["class"] in ("byte[]", "char[]"))
for size in ("width=0&height=5&pixel=4", "width=99999999&height=99999999&pixel=4", "width=4294967295&height=4294967295&pixel=4",
             "width=2&height=2&pixel=3", "width=2&height=2&pixel=99", "width=100000&height=100000&pixel=1", ""):
    refused("a picture that is none: " + size, 404, f"/api/bitmap?id={array}&{size}")

# ---- the largest nodes of the dominator tree ----
tree = json.loads(ask("/api/query/dominators?tree=40&limit=1000")[1])
check("a cut has levels", sum(1 for row in tree["rows"] if row["id"]) == 40 and max(row["level"] for row in tree["rows"]) > 1)
check("its top level is all of the heap", sum(row["retained"] for row in tree["rows"] if row["level"] == 0)
      == tree["facts"]["heap_shallow"])

# ---- a heap full of markup is valid JSON ----
answer, text = ask("/api/query/histogram?db=1&limit=5000")
check("markup in names is JSON", answer.getheader("Content-Type") == "application/json"
      and any("<script>" in row["name"] for row in json.loads(text)["rows"]))
answer, text = ask("/api/query/strings?db=1&limit=100000")
check("controls in texts are escaped", json.loads(text)["row_count"] > 100
      and not any(byte < 32 and byte != 10 for byte in text) and b"\x7f" not in text)

# ---- access ----
refused("no token", 403, "/api/health", cookie=None)
refused("no token for the page", 403, "/", cookie=None)
refused("a wrong token", 403, "/?token=" + "0" * 32, cookie=None)
answer, text = ask("/", cookie=COOKIE[:-1] + "x")
check("an old address says in words what to do", answer.getheader("Content-Type").startswith("text/html") and b"Open the address" in text and TOKEN.encode() not in text)
refused("a part of the token", 403, "/?token=" + TOKEN[:-1], cookie=None)
refused("a longer token", 403, "/?token=" + TOKEN + "0", cookie=None)
refused("a wrong cookie", 403, "/api/health", cookie=COOKIE[:-1] + "x")
refused("another port's cookie", 403, "/api/health", cookie=f"heapdb_1={TOKEN}")
refused("the token in the address of an answer", 403, "/api/health?token=" + TOKEN, cookie=None)
for host in "evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1.evil.example:{PORT}":
    refused(f"the host '{host}'", 421, "/api/health", host=host)
refused("no host", (421, 400), "/api/health", host="")
check("localhost is we", ask("/api/health", host=f"localhost:{PORT}")[0].status == 200)
refused("another origin", 403, "/api/health", headers={"Origin": "http://evil.example"})
refused("the origin null", 403, "/api/health", headers={"Origin": "null"})
refused("a request of another site", 403, "/api/health", headers={"Sec-Fetch-Site": "cross-site"})
refused("a cross-site post", 403, "/api/cancel?job=a", method="POST",
        headers={"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"})
check("our own post", ask("/api/cancel?job=a", method="POST",
                          headers={"Origin": f"http://{HOST}:{PORT}"})[0].status == 200)

# ---- notes: the only thing that a client can write ----
def note(method="POST", headers=None, cookie=COOKIE, **arguments):
    answer, text = ask("/api/notes?" + urllib.parse.urlencode(arguments), method=method, headers=headers, cookie=cookie)
    return answer.status, json.loads(text)


NOTES = DATABASE + ".notes"
has_notes = json.loads(ask("/api/health")[1])["notes"]
if has_notes:
    check("there are no notes", note("GET") == (200, {"notes": {}}) and not os.path.exists(NOTES))
    refused("a note of another site", 403, "/api/notes?on=a.B&text=x", method="POST", headers={"Origin": "http://evil.example"})
    refused("a note of another site that hides", 403, "/api/notes?on=a.B&text=x", method="POST", headers={"Sec-Fetch-Site": "cross-site"})
    refused("a note without a token", 403, "/api/notes?on=a.B&text=x", method="POST", cookie=None)
    refused("notes without a token", 403, "/api/notes", cookie=None)
    refused("a note on nothing", 400, "/api/notes?text=x", method="POST")
    refused("a note on no database", 400, "/api/notes?on=a.B&text=x&db=9", method="POST")
    refused("a note of nothing", 400, "/api/notes?on=a.B&text=", method="POST")
    refused("a note that is too long", 400, "/api/notes?on=a.B&text=" + "x" * 1001, method="POST")
    refused("a note that is no text", 400, "/api/notes?on=a.B&text=%ff%fe", method="POST")
    refused("a note on a class that is not there", 404, "/api/notes?on=a.B&text=x", method="POST")
    refused("a note on a name that no class has", 404, "/api/notes?on=java.lang.String%01x&text=x", method="POST")
    refused("a note on an object that is not there", 404, "/api/notes?on=0x12345&text=x", method="POST")
    refused("a note on a pattern", 400, "/api/notes?on=java.*&text=x", method="POST")
    refused("no note to remove", 404, "/api/notes?on=a.B", method="POST")
    refused("a GET writes nothing", 200, "/api/notes?on=a.B&text=x")
    check("none of these left anything", not os.path.exists(NOTES))
    NOTED = "java.lang.String"
    words = "expected: <script>\"\\ \u202e \U0001f600"
    status, got = note(on=NOTED, text=words, headers={"Origin": f"http://{HOST}:{PORT}"})
    check("a note is written", status == 200 and got["notes"][NOTED]["text"] == words)
    check("into a file next to the database", json.load(open(NOTES, encoding="utf-8"))["notes"][0]["text"] == words)
    check("as readable as it is", os.stat(NOTES).st_mode & 0o777 == os.stat(DATABASE).st_mode & 0o666)
    writers = [threading.Thread(target=note, kwargs={"on": f"{i:040x}", "text": str(i)}) for i in range(20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    check("none of twenty at once is lost", len(note("GET")[1]["notes"]) == 21)
    check("another one takes its place", note(on=NOTED, text="no")[1]["notes"][NOTED]["text"] == "no")
    check("and is removed", NOTED not in note(on=NOTED)[1]["notes"] and not glob.glob(NOTES + ".*"))
    with open(NOTES, "w", encoding="utf-8") as damaged:
        damaged.write('{"schema":1,"notes":[{"target":"a","text":7}]}')
    refused("damaged notes", 500, "/api/notes")
    refused("another note", 500, "/api/notes?on=java.lang.String&text=x", method="POST")
    check("damaged notes stay as they are", open(NOTES, encoding="utf-8").read().endswith("7}]}"))
    os.unlink(NOTES)

# ---- allowed queries ----
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
answer, text = ask("/api/query/object?target=0x1")
check("an object that is not there", answer.status == 404 and json.loads(text)["error"]["code"] == "HDB_NOTFOUND")

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

# ---- requests that two servers could interpret differently are refused ----
follows = b"GET /api/health HTTP/1.1\r\n" + head + b"\r\n"
get, post, length = b"GET /api/health HTTP/1.1\r\n", b"POST /api/cancel?job=a HTTP/1.1\r\n", str(len(follows)).encode()
own = f"http://{HOST}:{PORT}".encode()
for what, status, data in [
        ("two hosts", 400, get + head + b"Host: evil.example\r\n\r\n"),
        ("two hosts, ours last", 400, get + b"Host: evil.example\r\n" + head + b"\r\n"),
        ("a host in two lines", (400, 421), get + f"Host: evil\r\n {HOST}:{PORT}\r\nCookie: {COOKIE}\r\n\r\n".encode()),
        ("two origins", 400, get + head + b"Origin: " + own + b"\r\nOrigin: http://evil.example\r\n\r\n"),
        ("two sites", 400, get + head + b"Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n\r\n"),
        ("two cookies", 400, get + b"Cookie: a=b\r\n" + head + b"\r\n"),
        ("lengths 0 and more", 400, post + head + b"Content-Length: 0\r\nContent-Length: " + length + b"\r\n\r\n" + follows),
        ("lengths more and 0", 400, post + head + b"Content-Length: " + length + b"\r\nContent-Length: 0\r\n\r\n" + follows),
        ("a length and chunks", (413, 400), post + head + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + follows),
        ("a blank before the colon", 400, post + head + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + follows),
        ("an encoding that is none", (413, 400), post + head + b"Transfer-Encoding: identity\r\n\r\n" + follows),
        ("chunks of too much", 413, post + head + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 30 + b"\r\nx"),
        ("a length with a sign", 400, post + head + b"Content-Length: +0\r\n\r\n" + follows),
        ("a body that is another request", 413, get + head + b"Content-Length: " + length + b"\r\n\r\n" + follows),
        ("a body that is awaited", 413, post + head + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"),
        ("an address of another server", 404, b"GET http://evil.example/api/health HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n"),
        ("a tunnel", 405, b"CONNECT evil.example:443 HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n"),
        ("a trace", 405, b"TRACE / HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n"),
        ("a preflight", 405, b"OPTIONS /api/health HTTP/1.1\r\n" + head + b"Origin: " + own
         + b"\r\nAccess-Control-Request-Method: PUT\r\nConnection: close\r\n\r\n"),
        ("another version", 505, b"GET /api/health HTTP/2.0\r\n" + head + b"\r\n"),
        ("a zero byte in a path", 404, b"GET /api/health%00/../x HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n"),
        ("a zero byte in the token", 403, f"GET /?token={TOKEN}%00x HTTP/1.1\r\nHost: {HOST}:{PORT}\r\nConnection: close\r\n\r\n".encode()),
        ("a line's end in a name", 404, b"GET /api/query/%0d%0aSet-Cookie:a=b HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n"),
        ("a name in long UTF-8", 404, b"GET /%c0%ae%c0%ae/etc/passwd HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n"),
        ("a name encoded twice", 404, b"GET /%252e%252e/etc/passwd HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n")]:
    back = whole(data)
    answers = [part[:3] for part in back.split(b"HTTP/1.1 ")[1:]]  # the library may begin its own twice
    check(f"{what}: {answers}, {back[:40]!r}", len(set(answers)) == 1 and int(answers[0]) in either(status) and b"Set-Cookie" not in back and b'"databases"' not in back and b"Access-Control" not in back)
for what, data in [("bare line ends", get + head), ("a bare end of the request line", get[:-2] + b"\n" + head), ("a bare end of a header", get + b"X: a\n" + head),
                   ("bare ends of headers", get + head.replace(b"\r", b""))]:
    if what == "bare line ends":
        data = data.replace(b"\r", b"")
    back = whole(data + (b"\n" if what == "bare line ends" else b"\r\n"))
    check(f"{what}: {back[:40]!r}", back.startswith(b"HTTP/1.1 400"))
back = whole(get + head + b"\r\n" + get + head + b"Connection: close\r\n\r\n")
check("two requests at once have two answers", back.count(b"HTTP/1.1 200") == 2 and back.count(b'"databases"') == 2)

# ---- answers that are requested and never read ----
large = b"GET /api/query/instances?target=*&limit=100000 HTTP/1.1\r\n" + head + b"\r\n"
size = len(ask("/api/query/instances?target=*&limit=100000")[1])
check("an answer is large", size > 4_000_000)
held, began = [], time.monotonic()
for _ in range((128 << 20) // size + 3):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect((HOST, PORT))
    s.sendall(large)
    held.append(s)
    s.settimeout(60)
    first = s.recv(12)
# After 20 s without reading, the first ones are closed; a slow machine has not filled the memory by then.
check("what nobody reads has a limit", first == b"HTTP/1.1 503" or time.monotonic() - began > 20)
check("others are answered", ask("/api/query/histogram?limit=5")[0].status == 200)
for s in held:
    s.close()
began = time.monotonic()
while ask("/api/query/instances?target=*&limit=100000")[0].status != 200 and time.monotonic() - began < 30:
    time.sleep(0.2)
check("and large answers, too, once they are gone", time.monotonic() - began < 30)

# ---- many slow requests: others are still answered ----
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

# More idle connections than the limit: they are closed, and others get in.
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
slow = []
for _ in range(min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100)):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((HOST, PORT))
    slow.append(s)
began = time.monotonic()
check(f"an answer beside {len(slow)} connections that ask nothing", ask("/api/health")[0].status == 200)
check(f"it is not kept waiting: {time.monotonic() - began:.1f} s", time.monotonic() - began < 8)
for s in slow:
    s.close()

statuses = []


def client():
    for _ in range(5):
        statuses.append(ask("/api/query/dominators?limit=20")[0].status)


packed()
clients = [threading.Thread(target=client) for _ in range(20)]
for c in clients:
    c.start()
for c in clients:
    c.join()
check("20 clients at once", statuses == [200] * 100)
# 10,000 connections, 500 at once, each with a part of a request as soon as it is accepted.
for _ in range(20):
    held = []
    for _ in range(500):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex((HOST, PORT))
        held.append(s)
    for s in select.select([], held, [], 0.2)[1]:
        try:
            s.sendall(b"GET /api/health HT")
        except OSError:
            pass
    for s in held:
        s.close()
began = time.monotonic()
check("alive after 10,000 connections", ask("/api/health")[0].status == 200)
check(f"and quick: {time.monotonic() - began:.1f} s", time.monotonic() - began < 10)

dripper.join(60)
check(f"a request of single bytes ends: {dripping}", dripping and dripping[0] < 40)

end()

#!/bin/sh
# datasette_test.sh - the extension in Datasette, installed from PyPI: a page with rows of a heap, a class as a table,
# and no way to write. Skipped without network or pip.
set -eu
skip()
{
	echo "$1"
	exit 77
}
so=$BUILD/heapdb.so
[ -f "$so" ] || skip "no $so: this heapdb was built without SQLite"
case $(ldd "$BUILD/heapdb" 2>/dev/null) in
*libasan* | *libtsan*) skip "a program without the sanitizer cannot load the extension" ;;
esac
python=
for p in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! "$p" -c 'import sqlite3, sys
sqlite3.connect(":memory:").enable_load_extension
sys.exit(sqlite3.sqlite_version_info < (3, 38))' 2>/dev/null || python=$p
done
[ -n "$python" ] || skip "Python's sqlite3 loads no extensions, or is older than 3.38"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" -m venv venv 2>/dev/null || skip "python3 has no venv"
timeout 240 venv/bin/pip install --quiet --disable-pip-version-check --retries 1 --timeout 15 \
	'datasette==0.65.1' >pip.log 2>&1 || skip "Datasette cannot be installed from PyPI: $(tail -n 1 pip.log)"
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
mkdir plugins
cat >plugins/heap.py <<'END'
from datasette import hookimpl


@hookimpl
def prepare_connection(conn):
    conn.execute("SELECT heapdb_open('s.heapdb')")
END
cat >ask.py <<'END'
"""Opens pages of the Datasette on the port that it names, and compares what they say."""
import html, json, re, subprocess, sys, time, urllib.error, urllib.parse, urllib.request

so, binary = sys.argv[1:]
server = subprocess.Popen(
    [binary, "serve", "--memory", "--port", "0", "--load-extension", so, "--plugins-dir", "plugins",
     "--setting", "sql_time_limit_ms", "20000", "--setting", "num_sql_threads", "1"],
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
port = None
for line in server.stdout:
    found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
    if found:
        port = found[1]
        break
    print(line, end="")
failed = port is None


def get(path, sql):
    url = f"http://127.0.0.1:{port}{path}?" + urllib.parse.urlencode({"sql": sql, "_shape": "array"})
    for _ in range(50):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except urllib.error.URLError:
            time.sleep(0.2)
    return "no answer"


def same(what, got, want):
    global failed
    if got != want:
        print("FAILED:", what, "\n  got:     ", got, "\n  expected:", want)
        failed = True


def heapdb(sql):
    out = subprocess.run(["heapdb", "sql", "--db", "s.heapdb", sql, "--json"], capture_output=True, text=True)
    return json.loads(out.stdout)["rows"]


try:
    if port:
        for sql in ("SELECT count(*) AS n FROM objects",
                    'SELECT size, shallow, retained FROM "java.util.HashMap" ORDER BY size DESC LIMIT 5',
                    "SELECT name, objects FROM query_histogram LIMIT 3",
                    'SELECT retained_set(id) AS bytes FROM "java.util.HashMap"'):
            same(sql, json.loads(get("/_memory.json", sql)), heapdb(sql))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_memory.json", timeout=60) as answer:
            listed = {table["name"] for table in json.load(answer)["tables"]}
        same("tables", {"objects", "refs", "classes", "query_histogram"} <= listed, True)
        page = get("/_memory", 'SELECT text FROM strings WHERE text LIKE \'%lib/libnio.so\'')
        same("the page", "/lib/libnio.so" in re.sub("<[^>]*>", "", html.unescape(page)), True)
        same("writing", "error" in get("/_memory.json", "DELETE FROM objects"), True)
finally:
    server.terminate()
    server.wait(20)
sys.exit(failed)
END
python3 ask.py "${so%.so}" venv/bin/datasette

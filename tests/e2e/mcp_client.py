"""Scripted conversations with `heapdb mcp`; see mcp_test.sh. Standard library only.

    mcp_client.py FOLDER    with dumps/, outside/ and big/ as mcp_test.sh makes them
"""
import json
import os
import re
import queue
import shutil
import subprocess
import sys
import threading
import time

NOW = "2026-07-28"
BYTES_PER_TOKEN = 3
work = sys.argv[1]
dumps = os.path.join(work, "dumps")


class Server:
    """One running server: requests by number, answers by number."""

    def __init__(self, *folders):
        self.process = subprocess.Popen(["heapdb", "mcp", *folders], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        self.id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def send_text(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method, params=None, modern=False, id=None):
        self.id += 1
        params = dict(params or {})
        if modern:
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": NOW,
                               "io.modelcontextprotocol/clientCapabilities": {}}
        self.send_text(json.dumps({"jsonrpc": "2.0", "id": self.id if id is None else id,
                                   "method": method, "params": params}))
        return self.id if id is None else id

    def notify(self, method, params):
        self.send_text(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def next(self, timeout=60):
        return self.lines.get(timeout=timeout)

    def ask(self, method, params=None, modern=False):
        id = self.send(method, params, modern)
        answer = self.next()
        assert answer["id"] == id, answer
        return answer

    def call(self, tool, **args):
        """Returns the JSON answer of a tool, after comparing the size of its text with the budget."""
        result = self.ask("tools/call", {"name": tool, "arguments": args})["result"]
        text = result["content"][0]["text"]
        budget = args.get("max_tokens", 6000) * BYTES_PER_TOKEN
        assert len(text.encode()) <= budget, (tool, args, len(text), budget)
        assert not result["isError"], (tool, args, text)
        assert result["structuredContent"] == json.loads(text), (tool, args)
        return json.loads(text)

    def refuse(self, tool, want, **args):
        """The same for a call that must fail with a message that contains `want`."""
        result = self.ask("tools/call", {"name": tool, "arguments": args})["result"]
        text = result["content"][0]["text"]
        assert result["isError"] and want in text, (tool, args, text)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=30) == 0
        assert self.lines.get(timeout=5) is None


def heapdb(*args):
    """Returns the JSON output of the command itself."""
    out = subprocess.run(["heapdb", *args, "--json", "--limit", "all", "--db",
                          os.path.join(dumps, "sample.heapdb")], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


def without_nulls(row):
    return {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()
            if v is not None}


def check_beginning(s):
    r = s.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                             "clientInfo": {"name": "test", "version": "1"}})["result"]
    assert r["protocolVersion"] == "2025-11-25" and r["serverInfo"]["name"] == "heapdb"
    assert "investigate" in r["instructions"] and "resultType" not in r
    s.notify("notifications/initialized", {})
    assert s.ask("initialize", {"protocolVersion": "1999-01-01"})["result"][
        "protocolVersion"] == "2025-11-25"
    assert s.ask("ping")["result"] == {}
    r = s.ask("server/discover", modern=True)["result"]
    assert NOW in r["supportedVersions"] and r["resultType"] == "complete"
    assert r["ttlMs"] >= 0 and r["cacheScope"] == "private"
    assert r["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "heapdb"
    tools = s.ask("tools/list")["result"]["tools"]
    names = [t["name"] for t in tools]
    for name in ("open", "overview", "leaks", "histogram", "object", "path", "dominators",
                 "compare", "explain", "query"):
        assert name in names, name
    for t in tools:
        assert t["inputSchema"]["type"] == "object" and t["annotations"]["readOnlyHint"]
        assert t["outputSchema"]["type"] == "object", t
        assert " --" not in json.dumps(t), t["name"]
    by = next(t for t in tools if t["name"] == "histogram")["inputSchema"]["properties"]["by"]
    assert "package" in by["enum"], by
    path = next(t for t in tools if t["name"] == "path")["inputSchema"]
    assert path["required"] == ["target"], path
    print(f"tools/list: {len(tools)} tools, {len(json.dumps(tools))} bytes")
    return names


def check_tools(s, tools):
    listed = s.call("open")["databases"]
    assert {d.get("db") for d in listed} == {"sample.heapdb", "sub/later.heapdb",
                                             "empty.heapdb"}, listed
    db = "sample.heapdb"
    assert s.call("open", db=db) == {"db": db, "opened": True}
    assert s.call("open", db="sample.hprof")["db"] == db
    o = s.call("overview", db=db)
    assert o["leak suspects"]["facts"]["suspects"] == 2 and o["biggest classes"]["rows"]
    assert any(row.get("action") and row.get("target") for row in o["leak suspects"]["rows"]), o["leak suspects"]
    assert s.call("overview", db=db, max_tokens=500)["findings"]
    first = s.call("leaks", db=db)["rows"][0]
    assert first["id"].startswith("0x") and first["kind"] == "suspect"
    assert s.call("dominators", db=db)["rows"][0]["id"].startswith("0x")
    assert s.call("dominators", db=db, target=first["id"])["facts"]
    o = s.call("object", db=db, target=[first["id"]])
    assert o["facts"]["id"] == first["id"]
    assert s.call("path", db=db, target=first["id"])["rows"][-1]["root"]
    c = s.call("compare", db="sub/later.heapdb", before=db)
    assert c["query"] == "diff"
    names = [q["name"] for q in s.call("explain")["queries"]]
    for name in names:
        e = s.call("explain", name=name)
        assert e["columns"] and e["summary"], name
    t = s.call("query", db=db, name="threads", options={"no-stack": True}, limit=2,
               sort="retained", columns=["thread", "retained"])
    assert set(t["rows"][0]) == {"thread", "retained"} and t["row_count"] == 2
    assert t["total_rows"] == 7 and t["next_cursor"]
    assert s.call("query", db=db, name="top", columns=["name", "heap"], limit=1)["rows"]
    assert s.call("histogram", db=db, target="java.util.*", by="class")["rows"]
    assert s.call("query", db=db, name="top", options={"by": "class"}, limit=1)["rows"]
    if "sql" in tools:
        a = s.call("sql", db=db, statement="SELECT count(*) AS n FROM objects")
        assert a["rows"][0]["n"] > 30000 and "cut" not in a, a
        a = s.call("sql", db=db, statement="SELECT * FROM objects", max_tokens=500)
        assert a["cut"] and 0 < a["row_count"] < 100, a
        assert s.call("sql", db=db, statement="SELECT * FROM classes", limit=2)["row_count"] == 2
        a = s.call("sql", db=db, statement="SELECT 1 AS a, 2 AS a, 3 AS a_2")
        assert a["rows"] == [{"a": 1, "a_3": 2, "a_2": 3}], a
        a = s.call("sql", db=db, statement="SELECT sql FROM sqlite_master WHERE name = 'objects'")
        assert "All objects" in a["rows"][0]["sql"], a
        a = s.call("sql", db=db, statement="SELECT id FROM objects WHERE class = 'String'")
        assert not a["rows"] and "did you mean 'java.lang.String'" in a["note"], a
        a = s.call("sql", db=db, statement="SELECT 1 AS a, NULL AS b")
        assert a == {"rows": [{"a": 1, "b": None}], "row_count": 1}, a
        for statement in ("DELETE FROM objects", "ATTACH 'x' AS y", "SELECT", "",
                          "SELECT 1; SELECT 2", "SELECT * FROM nix"):
            s.refuse("sql", "HDB_", db=db, statement=statement)
        s.refuse("sql", "expected", db=db)
    a = s.call("oql", db=db, statement="SELECT s, s.nosuch AS none FROM Sample s")
    assert list(a["rows"][0]) == ["s", "none"] and a["rows"][0]["s"].startswith("0x"), a
    a = s.call("oql", db=db, statement="SELECT t.name, t FROM java.lang.Thread t", limit=1)
    assert a["rows"][0]["t.name"] == "main" and a["rows"][0]["t"].startswith("0x"), a
    a = s.call("oql", db=db, statement="SELECT * FROM java.lang.String", limit=2)
    assert a["cut"] and a["row_count"] == 2, a
    s.refuse("oql", "did you mean java.util.HashMap", db=db, statement="SELECT * FROM java.util.HashMab")
    s.refuse("oql", 'expected one of: db, statement, limit, max_tokens', db=db, statement="SELECT", all=True)
    assert s.call("leaks", db=db, threshold=5, brief=True)["facts"]["suspects"] >= 2
    return names


def check_cursor(s):
    """All pages of an answer together have the same rows as the command's output."""
    rows, pages, args = [], 0, {"db": "sample.heapdb", "name": "histogram", "max_tokens": 600}
    while True:
        a = s.call("query", **args)
        rows += a["rows"]
        pages += 1
        if "next_cursor" not in a:
            break
        args["cursor"] = a["next_cursor"]
    whole = heapdb("query", "histogram")["rows"]
    assert pages > 10 and len(rows) == len(whole) == a["total_rows"]
    assert [without_nulls(r) for r in rows] == [without_nulls(r) for r in whole]
    s.refuse("query", "a different question", **dict(args, name="top"))
    s.refuse("query", "not a cursor", **dict(args, cursor="abc"))
    assert s.call("query", **dict(args, cursor=args["cursor"], limit=1))["row_count"] == 1


def check_every_query(s, names):
    """Every query returns the same rows as the command for its example."""
    asked = 0
    for name in names:
        e = s.call("explain", name=name)
        if name == "diff":
            continue
        target, options = e["example"]["target"], e["example"]["options"]
        a = s.call("query", db="sample.heapdb", name=name, options=options, target=target)
        command = "export" if name == "objects" else "query"
        words = [name] if name in ("info", "check") else [command, name]
        for option, value in options.items():
            words += ["--" + option] + ([] if value is True else [value])
        whole = heapdb(*words, *target) if name != "objects" else None
        if whole is None:
            assert a["total_rows"] > 30000
        else:
            assert a["total_rows"] == whole["total_rows"], name
            for mine, its in zip(a["rows"], whole["rows"]):
                if name not in ("info", "tables", "check"):
                    cut = without_nulls(its)
                    mine = without_nulls(mine)
                    assert set(mine) == set(cut), (name, mine, its)
                    for key in mine:
                        if isinstance(cut[key], float):
                            assert abs(mine[key] - cut[key]) <= 1e-4 * abs(cut[key]) + 1e-3
                        elif cut_text(mine[key]):
                            assert cut_text(mine[key]) == len(cut[key].encode()), (name, key, mine, its)
                        else:
                            assert mine[key] == cut[key], (name, key, mine, its)
        asked += 1
    print(f"queries: {asked} asked, rows as the command prints them")


def cut_text(value):
    """Bytes of a text that was cut, as its mark says; 0: it is whole."""
    mark = re.search("\u2026 \\((\\d+) bytes\\)$", str(value))
    return int(mark[1]) if mark else 0


def check_errors(s):
    db = "sample.heapdb"
    s.refuse("leaks", "choose one")
    s.refuse("open", "no such database", db="../outside/secret.heapdb")
    s.refuse("open", "no such database", db=os.path.join(work, "outside/secret.heapdb"))
    s.refuse("open", "no such database", db="link.heapdb")
    s.refuse("open", "no such database", db="/etc/passwd")
    s.refuse("open", "no such database", db="x" * 5000)
    s.refuse("open", "HDB_", db="empty.heapdb")
    s.refuse("open", "must be a string", db=3)
    s.refuse("open", "unknown argument \"dbs\"; expected one of: db (", dbs=db)
    s.refuse("overview", "expected one of: db, max_tokens", database=db)
    dump = os.path.join(dumps, "new dump.hprof")
    with open(dump, "w"):
        pass
    s.refuse("overview", f"heapdb import '{os.path.realpath(dump)}'", db="new dump.hprof")
    os.remove(dump)
    s.refuse("object", "expected a \"target\": OBJECT", db=db)
    s.refuse("compare", "missing \"before\"", db=db)
    s.refuse("object", "no such object", db=db, target="0x1")
    s.refuse("object", "", db=db, target=["0x1"] * 100)
    s.refuse("object", "must be a string", db=db, target=[1])
    s.refuse("path", "HDB_EUSAGE", db=db, target="java.nix.Nix")
    s.refuse("histogram", "HDB_EUSAGE", db=db, by="nix")
    s.refuse("histogram", "expected one of: by, ", db=db, nix=1)
    s.refuse("histogram", "unknown argument", db=db, **{"fail-if": "count(a.B) > 1"})
    s.refuse("histogram", "by must be one of", db=db, by="nix")
    s.refuse("histogram", "must be true or false", db=db, shallow="yes")
    s.refuse("histogram", "HDB_EUSAGE", db=db, sort="nix")
    s.refuse("histogram", "no such column: \"nix\"; available columns: name, ", db=db, columns=["nix"])
    s.refuse("histogram", "no such column", db=db, columns=[None])
    s.refuse("histogram", "array", db=db, columns="name")
    s.refuse("histogram", "positive integer", db=db, limit=0)
    s.refuse("histogram", "between 500", db=db, max_tokens=10)
    s.refuse("histogram", "between 500", db=db, max_tokens=10**9)
    s.refuse("query", "missing", db=db)
    s.refuse("query", "unknown query", db=db, name="nix")
    s.refuse("query", "unknown option \"nix\"; expected one of: threshold, ", db=db, name="leaks", options={"nix": 1})
    s.refuse("query", "pass this option in \"options\"", db=db, name="leaks", brief=True)
    s.refuse("query", "object", db=db, name="leaks", options=[])
    s.refuse("compare", "itself", db=db, before=[db])
    s.refuse("compare", "at once" if False else "HDB_", db=db, before=["sub/later.heapdb"] * 9)
    s.refuse("explain", "unknown query", name="nix")
    s.refuse("explain", "unknown argument", options={})

    def error(method, code, params=None, modern=False):
        assert s.ask(method, params, modern)["error"]["code"] == code, method

    error("nix/nix", -32601)
    error("tools/call", -32602, {"name": "nix"})
    error("tools/call", -32602, {})
    error("tools/call", -32602, {"name": "open", "arguments": []})
    error("initialize", -32602, {})
    error("resources/read", -32002, {"uri": "heapdb://report/nix.heapdb"})
    error("resources/read", -32602, {"uri": "file:///etc/passwd"}, modern=True)
    meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}}
    e = s.ask("tools/list", meta)["error"]
    assert e["code"] == -32022 and NOW in e["data"]["supported"]
    for text, code in (("{", -32700), ("\u0001", -32700), ("[]", -32600), ("3", -32700),
                       ('{"id":[1],"method":"ping"}', -32600), ('{"id":1}', -32600),
                       ("[" * 5000, -32700), ('{"a":"' + "x" * 1500000 + '"}', -32600)):
        s.send_text(text)
        answer = s.next()
        assert answer["error"]["code"] == code, (text[:40], answer)
    s.send_text('{"jsonrpc":"2.0","id":99,"result":{}}')
    s.notify("notifications/nix", {})
    s.notify("notifications/cancelled", {"requestId": 12345})
    s.notify("notifications/cancelled", {})
    id = s.send("ping", id="a text")
    assert s.next()["id"] == id


FLAG = re.compile(r"(^|[\\s(\"'`])--[a-z]|fail-if|\\bexit \\d")


def check_texts(s):
    """Texts mention tools and arguments, not the command line."""
    listed = s.ask("tools/list")["result"]["tools"]
    texts = [(t["name"], json.dumps(t)) for t in listed]
    options = 0
    for query in s.call("explain")["queries"]:
        told = s.call("explain", name=query["name"])
        texts.append((query["name"], json.dumps(told)))
        example = told["example"]
        options += len(example["options"])
        if query["name"] != "diff":
            result = s.ask("tools/call", {"name": "query", "arguments": {**example, "db": "sample.heapdb"}})
            text = result["result"]["content"][0]["text"]
            assert "HDB_EUSAGE" not in text, (example, text)
            if query["name"] in ("info", "arrays", "big-drops", "top-consumers"):
                texts.append((query["name"], text))
    assert options > 10, options
    for name, text in texts:
        found = FLAG.search(text)
        assert not found, (name, text[max(0, found.start() - 80):found.end() + 80])


def check_prompts(s):
    prompts = s.ask("prompts/list")["result"]["prompts"]
    assert [p["name"] for p in prompts] == ["find-leak", "compare", "savings", "threads"], prompts
    tools = {t["name"] for t in s.ask("tools/list")["result"]["tools"]}
    for p in prompts:
        args = {a["name"]: "x.heapdb" for a in p["arguments"]}
        r = s.ask("prompts/get", {"name": p["name"], "arguments": args})["result"]
        text = r["messages"][0]["content"]["text"]
        assert 'Use db "x.heapdb".' in text and tools & set(text.split()), text
        assert "Use" not in s.ask("prompts/get", {"name": p["name"]})["result"]["messages"][0]["content"]["text"]
    assert s.ask("prompts/get", {"name": "nix"})["error"]["code"] == -32602
    # The skill has the plans of the prompts.
    with open(os.path.join(os.environ["HDB_ROOT"], "tools/mcp/skill/SKILL.md"), encoding="utf-8") as f:
        skill = f.read()
    plans = [line for p in prompts for line in s.ask("prompts/get", {"name": p["name"]})["result"]["messages"][0][
        "content"]["text"].splitlines() if re.match(r"\d+\. \w+ \{", line)]
    assert plans == re.findall(r"^\d+\. \w+ \{.*$", skill, re.MULTILINE) and len(plans) == 17, plans


def check_resources(s):
    listed = s.ask("resources/list")["result"]["resources"]
    uri = "heapdb://report/sample.heapdb"
    assert uri in [r["uri"] for r in listed]
    r = s.ask("resources/read", {"uri": uri}, modern=True)["result"]
    assert r["contents"][0]["text"].startswith("# Heap report: `sample.heapdb`")
    assert r["resultType"] == "complete" and r["ttlMs"] == 0
    assert s.ask("resources/templates/list")["result"]["resourceTemplates"]


def rss(process):
    for line in open(f"/proc/{process.pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])


def check_growth(s):
    if not os.path.exists(f"/proc/{s.process.pid}/status"):
        print("no /proc here: memory is not looked at")
        return

    def ask_many(count):
        for i in range(count):
            s.call("query", db="sample.heapdb", name=("histogram", "top", "roots")[i % 3], limit=5)
            if i % 5 == 0:
                s.refuse("object", "no such object", db="sample.heapdb", target="0x1")

    ask_many(200)
    before, start = rss(s.process), time.time()
    ask_many(1000)
    took, after = time.time() - start, rss(s.process)
    print(f"1,200 requests: {took:.1f} s, resident {before} kB before, {after} kB after")
    assert after <= before + 1024, (before, after)


def check_outside(s):
    """Growth of a series and the memory of a process: what the command prints, of files below the folders only."""
    root = os.environ["HDB_ROOT"]
    series, smaps = os.path.join(dumps, "leak.jsonl"), os.path.join(dumps, "smaps")
    with open(series, "wb") as out:
        subprocess.run([sys.executable, os.path.join(root, "tests/e2e/growth_make.py"), "leak"], stdout=out, check=True)
    shutil.copy(os.path.join(root, "tests/corpus/memory/smaps"), smaps)
    shutil.copy(series, os.path.join(work, "outside/leak.jsonl"))
    os.symlink(os.path.join(work, "outside/leak.jsonl"), os.path.join(dumps, "link.jsonl"))
    for tool, name, path in ("growth", "leak.jsonl", series), ("memory", "smaps", smaps):
        told = s.call(tool, files=name)
        out = subprocess.run(["heapdb", tool, path, "--json"], stdout=subprocess.PIPE, check=True)
        want = [without_nulls(row) for row in json.loads(out.stdout)["rows"]]
        assert [without_nulls(row) for row in told["rows"]] == want, (told["rows"], want)
        assert s.call(tool, files=[path])["rows"] == told["rows"]
    assert "com.acme.Session has grown" in s.call("growth", files="leak.jsonl")["facts"]["summary"]
    account = s.call("memory", files=["smaps"], db="sample.heapdb")
    assert sum(r["resident"] for r in account["rows"] if "detail" not in r) == account["facts"]["rss"]
    shutil.copy(os.path.join(root, "tests/corpus/memory/nmt_detail"), dumps)
    few = s.call("memory", files=["smaps", "nmt_detail"], max_tokens=500)
    assert 0 < few["row_count"] == len(few["rows"]) < few["total_rows"] and few["cut"], few
    for path in ("link.jsonl", "../outside/leak.jsonl", os.path.join(work, "outside/leak.jsonl"), "/etc/passwd",
                 "sub", "none", "/proc/self/smaps", "x" * 5000):
        s.refuse("growth", "no such file", files=path)
        s.refuse("memory", "no such file", files=path)
    s.refuse("memory", "expected /proc/PID/smaps", files="sample.heapdb")
    s.refuse("memory", "missing", db="sample.heapdb")
    s.refuse("memory", "process ID", pid=-1)
    s.refuse("memory", "", pid=s.process.pid)  # no JVM
    s.refuse("growth", "missing")
    s.refuse("growth", "array of strings", files=[3])
    s.refuse("growth", "unknown argument", pid=3)
    for name in "leak.jsonl", "smaps", "nmt_detail", "link.jsonl":
        os.remove(os.path.join(dumps, name))


def check_cancelled():
    s = Server(os.path.join(work, "big"))
    slow = s.send("tools/call", {"name": "dominators", "arguments": {},
                                 "_meta": {"progressToken": "t"}})
    waits = s.send("tools/call", {"name": "leaks", "arguments": {}})
    s.notify("notifications/cancelled", {"requestId": waits, "reason": "test"})
    time.sleep(0.05)
    s.notify("notifications/cancelled", {"requestId": slow})
    ping = s.send("ping")
    last = s.send("tools/call", {"name": "open", "arguments": {}})
    seen = []
    while not seen or seen[-1].get("id") != last:
        seen.append(s.next())
    ids = [m["id"] for m in seen if "id" in m]
    assert slow not in ids and waits not in ids and ping in ids, seen
    start = time.time()
    rows = s.call("dominators", limit=3)["rows"]
    assert len(rows) == 3
    print(f"asked again after it was cancelled: {time.time() - start:.2f} s")
    s.close()


def check_gone():
    """A client that closes everything in the middle of work: the server ends soon."""
    for f in os.listdir(os.path.join(work, "big")):
        if f.endswith(".heapdb"):
            os.remove(os.path.join(work, "big", f))
    subprocess.run(["heapdb", "import", os.path.join(work, "big/big.hprof")], check=True,
                   stdout=subprocess.DEVNULL)
    p = subprocess.Popen(["heapdb", "mcp", os.path.join(work, "big")], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    p.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leaks"}}\n')
    p.stdin.flush()
    p.stdout.close()
    p.stdin.close()
    start = time.time()
    assert p.wait(timeout=20) == 0
    print(f"client gone: the server ended after {time.time() - start:.2f} s")
    # In the middle of a message, too, and while answers wait to be read.
    p = subprocess.Popen(["heapdb", "mcp", dumps], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for i in range(300):
        p.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % i)
        if i == 5:
            p.stdout.close()
            try:
                p.stdin.flush()
            except BrokenPipeError:
                pass
            break
    p.stdin.write(b'{"jsonrpc":')
    try:
        p.stdin.close()
    except BrokenPipeError:
        pass
    assert p.wait(timeout=20) == 0


def check_script():
    """Everything sent at once, then the end: all is answered, in order."""
    lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {
        "name": "histogram", "arguments": {"db": "sample.heapdb", "limit": 1}}})
        for i in range(500)]
    out = subprocess.run(["heapdb", "mcp", dumps], input="\n".join(lines).encode(),
                         stdout=subprocess.PIPE, check=True).stdout
    assert [json.loads(line)["id"] for line in out.splitlines()] == list(range(500))


def check_folders():
    """Two folders: names are whole paths, and both are read."""
    s = Server(dumps, os.path.join(work, "outside"))
    names = [d["db"] for d in s.call("open")["databases"]]
    assert os.path.realpath(os.path.join(work, "outside/secret.heapdb")) in names, names
    for name in names:
        if "empty" not in name:
            assert s.call("open", db=name)["db"] == name
    s.close()


def main():
    s = Server(dumps)
    tools = check_beginning(s)
    names = check_tools(s, tools)
    check_cursor(s)
    check_every_query(s, names)
    check_errors(s)
    check_prompts(s)
    check_texts(s)
    check_resources(s)
    check_outside(s)
    check_growth(s)
    s.close()
    check_folders()
    check_script()
    check_cancelled()
    check_gone()


main()

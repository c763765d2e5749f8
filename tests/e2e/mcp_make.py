"""Databases made by `heapdb mcp`; see mcp_make_test.sh. Standard library only.

    mcp_make.py PID     of a JVM; in a folder with dumps/ and outside/
"""
import json
import os
import shutil
import subprocess
import sys

NOW = "2026-07-28"
jvm = int(sys.argv[1])
dumps = os.path.realpath("dumps")


class Server:
    """A running server, and a client that can ask its user (forms) or not."""

    def __init__(self, *options, forms=None, version="2025-11-25"):
        self.process = subprocess.Popen(["heapdb", "mcp", dumps, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.capabilities = {} if forms is None else {"elicitation": forms}
        self.modern = version == NOW
        self.id = 0
        if not self.modern:
            self.ask("initialize", {"protocolVersion": version, "capabilities": self.capabilities})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def next(self):
        return json.loads(self.process.stdout.readline())

    def begin(self, method, params):
        self.id += 1
        if self.modern:
            params = {**params, "_meta": {"io.modelcontextprotocol/protocolVersion": NOW,
                                          "io.modelcontextprotocol/clientCapabilities": self.capabilities}}
        self.send({"id": self.id, "method": method, "params": params})
        return self.id

    def ask(self, method, params):
        self.begin(method, params)
        return self.next()["result"]

    def names(self):
        return {tool["name"]: tool for tool in self.ask("tools/list", {})["tools"]}

    def call(self, name, action=None, **args):
        """The result of a call; the user's answer to the question, if one is asked, is `action`."""
        self.question = None
        params = {"name": name, "arguments": args}
        result = self.begin("tools/call", params) and self.next()
        if "method" in result:
            assert result["method"] == "elicitation/create", result
            assert result["params"]["requestedSchema"]["type"] == "object"
            self.question = result["params"]["message"]
            self.send({"id": "heapdb-999", "result": {"action": "accept"}})  # of another question
            self.send({"id": result["id"], "result": {"action": action, "content": {}}})
            result = self.next()
        result = result["result"]
        if result.get("resultType") == "input_required":
            asked = result["inputRequests"]["consent"]
            assert asked["method"] == "elicitation/create" and asked["params"]["mode"] == "form", asked
            self.question = asked["params"]["message"]
            answers = {"consent": {"action": action, "content": {}}}
            # An answer without the state, or for another call, is none.
            for wrong in ({}, {"requestState": "0123456789abcdef"}):
                again = self.ask("tools/call", {**params, "inputResponses": answers, **wrong})
                assert again["resultType"] == "input_required", again
            result = self.ask("tools/call", {**params, "inputResponses": answers,
                                             "requestState": result["requestState"]})
        return result

    def makes(self, name, **args):
        result = self.call(name, "accept", **args)
        assert not result["isError"], result
        made = result["structuredContent"]
        path = os.path.join(dumps, made["db"])
        assert os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode)
        assert made["objects"] > 1000 and made["seconds"] > 0, made
        rows = self.call("histogram", db=made["db"], limit=1)["structuredContent"]["rows"]
        assert rows, made
        return made

    def refuses(self, want, name, action=None, **args):
        before = sorted(os.listdir(dumps))
        result = self.call(name, action, **args)
        text = result["content"][0]["text"]
        assert result["isError"] and want in text, (want, text)
        assert sorted(os.listdir(dumps)) == before, os.listdir(dumps)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=30) == 0


def clean():
    for name in os.listdir(dumps):
        os.remove(os.path.join(dumps, name))
    shutil.copy(os.environ["DUMP"], os.path.join(dumps, "a.hprof"))
    os.symlink("../outside/b.hprof", os.path.join(dumps, "link.hprof"))


def check_mistakes(s):
    s.refuses("missing \"dump\"", "import")
    s.refuses("unknown argument \"db\"", "import", db="x")
    for name in "../outside/b.hprof", "link.hprof", os.path.realpath("outside/b.hprof"), "none.hprof", ".":
        s.refuses("no such dump in the served directories", "import", dump=name)
    s.refuses("\"pid\" must be a process ID", "capture", pid=str(jvm))
    s.refuses("\"pid\" must be a process ID", "capture", pid=1 << 40)
    s.refuses("no such JVM: %d" % os.getpid(), "capture", pid=os.getpid())
    jvms = s.call("capture")["structuredContent"]["jvms"]
    assert jvm in [row["pid"] for row in jvms], jvms


def check_consent(s):
    tools = s.names()
    assert not tools["import"]["annotations"]["readOnlyHint"] and tools["open"]["annotations"]["readOnlyHint"]
    check_mistakes(s)
    assert s.question is None
    for action in "decline", "cancel", "other":
        s.refuses("the user declined the request", "import", action, dump="a.hprof")
        s.refuses("the user declined the request", "capture", action, pid=jvm)
    s.refuses("the user declined the request", "import", "decline", dump="a.hprof")
    assert "%s/a.hprof (" % dumps in s.question and "%s/a.heapdb" % dumps in s.question, s.question
    assert s.makes("import", dump="a.hprof")["db"] == "a.heapdb"
    s.refuses("already exists", "import", "accept", dump="a.hprof")
    s.refuses("no such dump", "import", "accept", dump="a.heapdb")
    made = [s.makes("capture", pid=jvm) for _ in range(2 if s.modern else 1)]
    assert [m["db"] for m in made] == ["java_pid%d-%d.heapdb" % (jvm, no) for no in (1, 2)][:len(made)], made
    assert made[0]["pause_is_estimate"] and made[0]["pause_seconds"] > 0, made


def main():
    shutil.copy(os.environ["DUMP"], "outside/b.hprof")
    # Nobody can be asked: the tools are not listed, and refuse.
    for version, forms in ("2025-11-25", None), (NOW, None), (NOW, {"url": {}}):
        clean()
        s = Server(forms=forms, version=version)
        assert not {"import", "capture"} & set(s.names())
        s.refuses("with the option allow-import to allow it", "import", dump="a.hprof")
        s.refuses("with the option allow-capture to allow it", "capture", pid=jvm)
        s.close()
    for version, forms in ("2025-06-18", {}), ("2025-11-25", {"form": {}}), (NOW, {}):
        clean()
        s = Server(forms=forms, version=version)
        check_consent(s)
        s.close()
    # Permitted on the command line: permission for one tool does not include the other.
    clean()
    s = Server("--allow-import")
    assert "import" in s.names() and "capture" not in s.names()
    s.makes("import", dump=os.path.join(dumps, "a.hprof"))
    assert s.question is None
    s.refuses("the option allow-capture", "capture", pid=jvm)
    s.close()
    s = Server("--allow-capture", version=NOW)
    s.makes("capture", pid=jvm)
    s.close()
    # A question that is never answered: the call is cancelled, or the input ends.
    clean()
    s = Server(forms={})
    call = s.begin("tools/call", {"name": "import", "arguments": {"dump": "a.hprof"}})
    assert s.next()["method"] == "elicitation/create"
    s.send({"method": "notifications/cancelled", "params": {"requestId": call}})
    assert s.names()
    s.begin("tools/call", {"name": "import", "arguments": {"dump": "a.hprof"}})
    assert s.next()["method"] == "elicitation/create"
    s.close()
    assert not os.path.exists(os.path.join(dumps, "a.heapdb"))


main()

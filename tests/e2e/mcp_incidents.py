"""Ten incidents over `heapdb mcp FOLDER`, see mcp_incidents_test.sh: prints the table of
tools/mcp/README.md. Standard library only."""
import json
import subprocess
import sys

BUDGET = 3000  # tokens of an answer


class Server:
    def __init__(self, folder):
        self.process = subprocess.Popen(["heapdb", "mcp", folder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.no = 0

    def call(self, tool, **arguments):
        """The answer as text."""
        self.no += 1
        message = {"jsonrpc": "2.0", "id": self.no, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())["result"]
        assert not result.get("isError"), result
        text = result["content"][0]["text"]
        assert len(text) <= BUDGET * 3 + 200, (tool, len(text))
        return text


def suspect(text):
    """The identifier of the first leak suspect of an overview."""
    part = json.loads(text)["leak suspects"]
    rows = part["rows"] if isinstance(part, dict) else []
    return next((r["id"] for r in rows if "id" in r), None)


def by_path(s, db):
    """What holds the first suspect, and what is below it."""
    found = suspect(s(db=db, tool="overview"))
    if found:
        s(db=db, tool="path", target=found)
        s(db=db, tool="dominators", target=found, limit=5)


def by_leaks(s, db):
    s(db=db, tool="overview")
    s(db=db, tool="leaks")


def by_query(name, **more):
    def ask(s, db):
        s(db=db, tool="overview")
        s(db=db, tool="query", name=name, **more)
    return ask


# What happened, the steps, and what the conversation has to have seen.
INCIDENTS = [
    ("Map", "a static map that nobody empties", by_path, ["PlantedMap", "RESULTS"]),
    ("ThreadLocal", "buffers in thread locals of a pool", by_leaks, ["BUFFERS", "pool-1-thread"]),
    ("Loader", "class loaders of undeployed applications", by_leaks,
     ["registeredDrivers", "DriverManager"]),
    ("Listeners", "listeners that are never removed", by_path, ["PlantedListeners$Bus", "listeners"]),
    ("Local", "a local variable of a thread that runs for ever", by_query("threads"),
     ["server-thread", "PlantedLocal.serve"]),
    ("Strings", "copies of the same texts", by_query("duplicates", limit=5), ["COUNTRIES"]),
    ("Pool", "scratch objects, tasks and handlers of a pool", by_leaks,
     ["PlantedPool.SCRATCH", "eventHandlers"]),
    ("Holders", "a field of a worker thread", by_leaks, ["PlantedHolders$Worker", "mine"]),
    ("Full", "an OutOfMemoryError: the heap is full", by_path, ["PlantedFull$Journal", "orders"]),
    ("Waste", "memory wasted in many places", by_query("triage", columns=["rule", "count", "bytes", "text"]),
     ["sparse-collections", "boxed-values", "direct-buffers"]),
]


def main():
    server = Server(sys.argv[1])
    server.call("open")
    print("| incident | calls | bytes of answers | bytes of the largest |\n|---|---|---|---|")
    for name, title, steps, words in INCIDENTS:
        answers = []

        def ask(db, tool, **arguments):
            answers.append(server.call(tool, db=db, max_tokens=BUDGET, **arguments))
            return answers[-1]

        steps(ask, name + ".heapdb")
        seen = "\n".join(answers)
        for word in words:
            assert word in seen, (name, word, seen[:4000])
        sizes = [len(a.encode()) for a in answers]
        print(f"| {title} | {len(answers)} | {sum(sizes):,} | {max(sizes):,} |")
    server.process.stdin.close()
    assert server.process.wait(timeout=30) == 0


main()

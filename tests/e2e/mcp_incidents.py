"""Ten incidents and one comparison over `heapdb mcp FOLDER`, see mcp_incidents_test.sh: the plan of a
prompt is followed literally, without knowledge of the incident. Prints the table of
tools/mcp/README.md. Standard library only."""
import json
import re
import subprocess
import sys

CALLS, BYTES = 5, 20000  # of a plan, at most


class Server:
    def __init__(self, folder):
        self.process = subprocess.Popen(["heapdb", "mcp", folder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.no = 0

    def ask(self, method, **params):
        self.no += 1
        message = {"jsonrpc": "2.0", "id": self.no, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, tool, arguments):
        """The answer as text."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        text = result["content"][0]["text"]
        assert not result.get("isError"), (tool, arguments, text)
        assert result["structuredContent"] == json.loads(text)
        assert len(text) <= arguments["max_tokens"] * 3 + 200, (tool, arguments, len(text))
        return text

    def plan(self, prompt, **arguments):
        """The calls of a prompt, as they are written: (tool, arguments) each."""
        text = self.ask("prompts/get", name=prompt, arguments=arguments)["messages"][0]["content"]["text"]
        found = re.findall(r"^(\d+)\. (\w+) (\{.*\})$", text, re.MULTILINE)
        assert [int(no) for no, _, _ in found] == list(range(1, len(found) + 1)), text
        return [(tool, json.loads(given)) for _, tool, given in found]


def rows_of(answers):
    """All rows of some answers, those of an overview's parts among them."""
    for text in answers:
        answer = json.loads(text)
        for part in [answer] + list(answer.values()):
            if isinstance(part, dict):
                yield from part.get("rows", ())


# What a word in capitals of a plan stands for: the first row that has it.
WORDS = {
    "SUSPECT": lambda row: row.get("id") if row.get("kind") == "suspect" else None,
    "POINT": lambda row: row.get("id") if row.get("kind") == "point" else None,
    "THREAD": lambda row: row.get("id"),
    "OWNER": lambda row: row.get("id"),
}


def follow(server, prompt, db, before=None):
    """The answers to the calls of a prompt's plan."""
    answers = []
    for tool, arguments in server.plan(prompt, db=db, **({"before": before} if before else {})):
        arguments["db"] = db
        if before and "before" in arguments:
            arguments["before"] = before
        word = arguments.get("target")
        if word in WORDS:
            arguments["target"] = next((found for found in map(WORDS[word], rows_of(answers)) if found), None)
            if not arguments["target"]:
                continue
        answers.append(server.call(tool, arguments))
    return answers


# What happened, the prompt that a person would take, and what the conversation has to have seen.
INCIDENTS = [
    ("Map", "a static map that nobody empties", "find-leak", ["PlantedMap", "RESULTS"]),
    ("ThreadLocal", "buffers in thread locals of a pool", "find-leak", ["BUFFERS", "pool-1-thread"]),
    ("Loader", "class loaders of undeployed applications", "find-leak",
     ["registeredDrivers", "DriverManager"]),
    ("Listeners", "listeners that are never removed", "find-leak", ["PlantedListeners$Bus", "listeners"]),
    ("Local", "a local variable of a thread that runs for ever", "threads",
     ["server-thread", "PlantedLocal.serve"]),
    ("Strings", "copies of the same texts", "savings", ["COUNTRIES"]),
    ("Pool", "scratch objects, tasks and handlers of a pool", "find-leak",
     ["PlantedPool.SCRATCH", "eventHandlers"]),
    ("Holders", "a field of a worker thread", "find-leak", ["PlantedHolders$Worker", "mine"]),
    ("Full", "an OutOfMemoryError: the heap is full", "find-leak", ["PlantedFull$Journal", "orders"]),
    ("Waste", "memory wasted in many places", "savings",
     ["sparse-collections", "boxed-values", "direct-buffers"]),
    ("Grow", "a map and a list that grow", "compare", ["Grow.CACHE", "worker"]),
]


def main():
    server = Server(sys.argv[1])
    server.ask("tools/list")
    bad = 0
    print("| incident | prompt | calls | bytes of answers | bytes of the largest |\n|---|---|---|---|---|")
    for name, title, prompt, words in INCIDENTS:
        answers = follow(server, prompt, name + ".heapdb", "Grow1.heapdb" if prompt == "compare" else None)
        seen, sizes = "\n".join(answers), [len(a.encode()) for a in answers]
        print(f"| {title} | {prompt} | {len(answers)} | {sum(sizes):,} | {max(sizes):,} |")
        for word in words:
            if word not in seen:
                bad += 1
                print(f"FAILED: {name}: {word} is in no answer:\n{seen}", file=sys.stderr)
        if len(answers) > CALLS or sum(sizes) > BYTES:
            bad += 1
            print(f"FAILED: {name}: {len(answers)} calls, {sum(sizes)} bytes", file=sys.stderr)
    # A row of explain about a group of objects names their class and no object.
    answer = json.loads(server.call("query", {"db": "Pool.heapdb", "name": "explain", "max_tokens": 3000}))
    groups = [row for row in answer["rows"] if row.get("id") is None]
    assert any(row["class"] == "java.lang.Thread" and row["retained"] and row["text"] for row in groups), answer
    server.process.stdin.close()
    assert server.process.wait(timeout=30) == 0
    return bad > 0


sys.exit(main())

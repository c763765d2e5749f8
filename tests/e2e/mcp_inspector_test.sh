#!/bin/sh
# mcp_inspector_test.sh - MCP's inspector as a client of `heapdb mcp`: tools, prompts, resources, an answer, an error,
# and a dump without a database, for which the error contains the import command.
# Slow: npm installs the inspector on first use.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
inspector=$HDB_ROOT/build/mcp-inspector
# shellcheck source=tests/support/npm.sh
. "$HDB_ROOT/tests/support/npm.sh"
npm_package "$inspector" @modelcontextprotocol/inspector@0.15.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/dumps"
if heapdb mcp "$work/dumps" </dev/null 2>&1 | grep -q 'built without'; then
	echo "heapdb was built without libjansson"
	exit 77
fi
heapdb import "$DUMP" -o "$work/dumps/sample.heapdb" --quiet >/dev/null
cp "$DUMP" "$work/dumps/new.hprof"
failed=0

# ask WHAT OPTIONS...: the answer is true for the Python expression `a`...
ask()
{
	expected=$1
	shift
	timeout 60 "$inspector/node_modules/.bin/mcp-inspector" --cli heapdb mcp "$work/dumps" "$@" \
		>"$work/answer" 2>&1 || true
	python3 - "$work/answer" "$expected" <<'END' || { echo "FAILED: $*: $(head -c 500 "$work/answer")"; failed=1; }
import json, sys
a = json.load(open(sys.argv[1]))
text = "".join(part.get("text", "") for part in a.get("content", ()))
sys.exit(not eval(sys.argv[2]))
END
}
ask '{"open", "leaks", "sql", "path"} <= {t["name"] for t in a["tools"] if t["inputSchema"]["properties"]}' \
	--method tools/list
ask '"find-leak" in [p["name"] for p in a["prompts"]]' --method prompts/list
ask '[r["name"] for r in a["resources"]] == ["sample.heapdb"]' --method resources/list
ask 'json.loads(text)["rows"][0]["count(*)"] == 30954 and not a.get("isError")' --method tools/call --tool-name sql \
	--tool-arg db=sample.heapdb --tool-arg "statement=SELECT count(*) FROM objects"
ask 'a["isError"] and "statement" in text' --method tools/call --tool-name sql --tool-arg db=sample.heapdb
ask 'a["isError"] and "heapdb import" in text and "new.hprof" in text' --method tools/call --tool-name histogram \
	--tool-arg db=new.hprof
exit $failed

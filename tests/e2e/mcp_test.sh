#!/bin/sh
# mcp_test.sh - conversations with `heapdb mcp` on the sample: every tool, every error, cursors, budgets, cancelled
# requests, a client that disconnects, many requests without memory growth; and the official client if it can be
# installed.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if heapdb mcp "$work" < /dev/null 2>&1 | grep -q 'built without'; then
	echo "heapdb was built without libjansson"
	exit 77
fi
mkdir -p "$work/dumps/sub" "$work/outside"
heapdb import "$DUMP" -o "$work/dumps/sample.heapdb" > /dev/null
cp "$work/dumps/sample.heapdb" "$work/dumps/sub/later.heapdb"
cp "$work/dumps/sample.heapdb" "$work/outside/secret.heapdb"
ln -s "$work/outside/secret.heapdb" "$work/dumps/link.heapdb"
: > "$work/dumps/empty.heapdb"
mkdir "$work/big"
hprofgen random -o "$work/big/big.hprof" --objects 1M
heapdb import "$work/big/big.hprof" > /dev/null
mkdir "$work/fresh"
# Freed memory that AddressSanitizer keeps, 256 MB, looks like growth.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1
export ASAN_OPTIONS
python3 "$HDB_ROOT/tests/e2e/mcp_client.py" "$work"

# The official client, another implementation of the protocol.
if python3 -m venv "$work/venv" > /dev/null 2>&1 &&
	timeout 120 "$work/venv/bin/pip" install -q mcp > /dev/null 2>&1; then
	# Large enough that building its tree takes longer than the interval between progress messages, on any machine.
	hprofgen random -o "$work/fresh/big.hprof" --objects 6M
	heapdb import "$work/fresh/big.hprof" > /dev/null
	rm "$work/fresh/big.hprof"
	"$work/venv/bin/python" "$HDB_ROOT/tests/e2e/mcp_official.py" "$work/dumps" "$work/fresh"
else
	echo "the official client cannot be installed here: left out"
fi

#!/bin/sh
# option_walk_test.sh - every command with every option: each option that `heapdb help` lists changes something, and any
# other option is refused (option_walk.py).
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
python3 -c 'import pty; pty.openpty()' 2> /dev/null || { echo "no pseudo-terminals here"; exit 77; }
if heapdb sql --db none "SELECT 1" 2>&1 | grep -q "built without"; then
	echo "this heapdb was built without SQLite"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$HDB_ROOT/tests/e2e/option_walk.py" "$work"

#!/bin/sh
# tests/lint/layers_test.sh - the layer check finds violations.
set -eu

cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# A tree with one correct source, plus $1 with the line $2, must be rejected with a message that contains $3.
refuses()
{
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/src/base" "$tmp/tree/src/heap" "$tmp/tree/src/import" \
		"$tmp/tree/src/heap/values" "$tmp/tree/tools/heapdb"
	printf '#include "heapdb.h"\n' >"$tmp/tree/src/heap/inner.h"
	printf '#include "heapdb.h"\n' >"$tmp/tree/src/heap/values/own_private.h"
	printf '#include "heapdb.h"\n' >"$tmp/tree/src/base/one.h"
	printf '#include "base/one.h"\n' >"$tmp/tree/src/heap/two.h"
	printf '#include "heapdb.h"\n' >"$tmp/tree/tools/heapdb/three.h"
	sh layers.sh "$tmp/tree" >/dev/null
	mkdir -p "$tmp/tree/$(dirname "$1")"
	printf '%s\n' "$2" >"$tmp/tree/$1"
	if sh layers.sh "$tmp/tree" >"$tmp/out" 2>&1; then
		echo "not refused: $1 with $2"
		exit 1
	fi
	grep -qF "$3" "$tmp/out" || {
		echo "$1 with $2 is refused, but not for \"$3\":"
		cat "$tmp/out"
		exit 1
	}
}

# A file in the top directory is rejected only if it is tracked.
top()
{
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/src/base" "$tmp/tree/tools/heapdb"
	printf '#include "heapdb.h"\n' >"$tmp/tree/src/base/one.h"
	echo >"$tmp/tree/heapdb_jvm-1.0-py3-none-any.whl"
	git -C "$tmp/tree" init -q
	git -C "$tmp/tree" add src
	sh layers.sh "$tmp/tree" >/dev/null
	git -C "$tmp/tree" add .
	if sh layers.sh "$tmp/tree" >"$tmp/out" 2>&1; then
		echo "not refused: a wheel in the top folder"
		exit 1
	fi
	grep -q 'whl does not belong in the top folder' "$tmp/out"
}

if command -v git >/dev/null; then
	top
fi
refuses src/base/up.c '#include "heap/two.h"' 'src/base may not see'
refuses src/import/side.c '#include "heap/two.h"' 'src/import may not see'
refuses src/base/near.c '#include "one.h"' 'write "room/one.h"'
refuses src/heap/gone.c '#include "base/gone.h"' 'does not exist'
refuses src/cellar/a.c '' 'not in the table'
refuses src/heap/one.h '' 'several files are called one.h'
refuses src/analysis/inside.c '#include "heap/inner.h"' 'is no door of its room'
refuses src/heap/above.c '#include "heap/values/own_private.h"' 'is private to its folder'
refuses tools/heapdb/in.c '#include "heap/two.h"' 'tools/heapdb may not see'
echo "layers.sh refuses what it should"

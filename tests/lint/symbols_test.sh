#!/bin/sh
# tests/lint/symbols_test.sh - the shared library exports exactly the functions that heapdb.h declares and
# api/heapdb.map lists, each with its version. The manual page heapdb(3) has a line for each, and all structures and
# constants.
set -eu

bad=0
compare()
{
	if ! diff -u --label "$1" --label "$2" "$3" "$4"; then
		echo "symbols: $1 and $2 differ"
		bad=1
	fi
}

tr '\n' ' ' <"$HDB_ROOT/include/heapdb.h" | grep -oE 'HDB_API [^;{]*\);' | grep -v __attribute__ |
	sed 's/(.*//; s/.*[ *]//' | sort -u >"$TMPDIR/declared"
sed -n 's/^\t\(hdb_[a-z0-9_]*\);$/\1/p' "$HDB_ROOT/src/api/heapdb.map" | sort >"$TMPDIR/listed"
nm -D --defined-only "$BUILD/libheapdb.so" | awk '$2 == "T" { print $3 }' >"$TMPDIR/versioned"
sed 's/@.*//' "$TMPDIR/versioned" | sort >"$TMPDIR/exported"
sed -n 's/^\.Fn \(hdb_[a-z0-9_]*\) .*/\1/p' "$HDB_ROOT/tools/heapdb/heapdb.3" | sort -u >"$TMPDIR/manual"
[ -s "$TMPDIR/declared" ] || { echo "symbols: heapdb.h declares nothing"; bad=1; }
compare heapdb.h heapdb.map "$TMPDIR/declared" "$TMPDIR/listed"
compare heapdb.h libheapdb.so "$TMPDIR/declared" "$TMPDIR/exported"
compare heapdb.h heapdb.3 "$TMPDIR/declared" "$TMPDIR/manual"
sh "$HDB_ROOT/tools/heapdb/man_library.sh" >"$TMPDIR/structures"
sed -n '/^\.\\" structures: begin/,/^\.\\" structures: end/p' "$HDB_ROOT/tools/heapdb/heapdb.3" |
	sed '1d;$d' >"$TMPDIR/printed"
compare heapdb.h "heapdb.3 (sh tools/heapdb/man_library.sh --write)" "$TMPDIR/structures" "$TMPDIR/printed"
# Each function with pointer arguments is called with NULLs.
grep -v '^hdb_version\|^hdb_result_name' "$TMPDIR/declared" >"$TMPDIR/called"
while read -r name; do
	grep -q "[^a-z_]$name(" "$HDB_ROOT/tests/api/objects_test.c" ||
		{ echo "symbols: tests/api/objects_test.c does not call $name"; bad=1; }
done <"$TMPDIR/called"
if grep -v '@@HEAPDB_[0-9.]*$' "$TMPDIR/versioned"; then
	echo "symbols: without a version"
	bad=1
fi
exit $bad

#!/bin/sh
# tools/heapdb/man_library.sh - prints the section STRUCTURES of heapdb(3) from heapdb.h: structures and constants with
# the comments of the header. With --write it updates heapdb.3. tests/lint/symbols_test.sh fails if the page is out of
# date.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

awk '
/^(struct|enum) hdb_[a-z_]* \{/ {
	if (count++)
		print ""
	else
		print ".Sh STRUCTURES\n.Va struct_size\nis sizeof the structure, or 0; see\n" \
			".Sx Versions .\n.Bd -literal"
	inside = 1
}
inside {
	sub(/ *\/\* NOLINT[^*]*\*\//, "")
	gsub(/\\/, "\\e")
	gsub(/\t/, "    ")
	print
}
inside && /^};/ { inside = 0 }
END {
	print ".Ed"
	exit !count
}' "$here/../../include/heapdb.h" >"$tmp/section"
if [ "${1:-}" != --write ]; then
	cat "$tmp/section"
	exit
fi
awk -v from="$tmp/section" '
/^\.\\" structures: end/ { skip = 0 }
!skip { print }
/^\.\\" structures: begin/ {
	while ((getline line <from) > 0)
		print line
	skip = 1
}' "$here/heapdb.3" >"$tmp/page"
cp "$tmp/page" "$here/heapdb.3"

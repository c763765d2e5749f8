#!/bin/sh
# tools/heapdb/man_sql.sh - writes the columns of tables and functions into heapdb-sql.1.
#
#   man_sql.sh DATABASE [HEAPDB]            prints the page
#   man_sql.sh --write DATABASE [HEAPDB]    replaces it
#
# The .Dq line after the name of a table or function lists its columns, as reported by the command.
# tests/lint/man_test.sh fails if the page is out of date.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
write=
if [ "$1" = --write ]; then
	write=1
	shift
fi
schema=$("${2:-$here/../../build/heapdb}" sql "$1" .schema)
page=$(printf '%s\n' "$schema" | awk '
	NR == FNR && /^[^ ]/ { name = $1; sub(/:$/, "", name); next }
	NR == FNR {
		if ($0 !~ /argument or hidden/)
			columns[name] = columns[name] (columns[name] ? ", " : "") \
				($1 == "group" ? "\\(dqgroup\\(dq" : $1)
		next
	}
	name in columns && /^\.Dq / { $0 = ".Dq " columns[name] }
	{ name = ""; print }
	/^\.It Ic / {
		name = $3
		gsub(/\\\(dq/, "", name)
		sub(/\(.*/, "", name)
		if ($0 ~ /\([^)]*\), /) { # two names: the columns are those of the second
			name = $NF
			gsub(/\\\(dq|\(.*/, "", name)
		}
	}' - "$here/heapdb-sql.1")
if [ "$write" ]; then
	printf '%s\n' "$page" >"$here/heapdb-sql.1"
else
	printf '%s\n' "$page"
fi

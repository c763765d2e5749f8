#!/bin/sh
# tools/heapdb/man_sql.sh - heapdb-sql.1 with the columns that tables and functions have.
#
#   man_sql.sh DATABASE [HEAPDB]            prints the page
#   man_sql.sh --write DATABASE [HEAPDB]    replaces it
#
# Columns stand in the line behind the name, of tables in .Dq and of functions before a colon; they
# are those of the command, whatever the page says. tests/lint/man_test.sh fails when it is behind.
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
	name in columns && is_function { sub(/^[^:]*:/, columns[name] ":") }
	{ name = ""; print }
	/^\.It Ic / {
		name = $3
		gsub(/\\\(dq/, "", name)
		is_function = sub(/\(.*/, "", name)
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

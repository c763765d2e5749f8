#!/bin/sh
# tools/heapdb/man_queries.sh - the part of the manual page that lists queries, from the command.
#
#   man_queries.sh [HEAPDB]            prints it, in mdoc
#   man_queries.sh --write [HEAPDB]    replaces it in heapdb-queries.1, between the lines that mark it
#
# Summary, aliases, example, options, columns and facts are the library's own words, so the page
# cannot say anything else than `heapdb help query NAME`. tests/lint/man_test.sh fails when the page
# is behind.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
write=
if [ "${1:-}" = --write ]; then
	write=1
	shift
fi
heapdb=${1:-$here/../../build/heapdb}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Nothing is printed or written of a command that failed half way.
section()
{
	"$heapdb" help --names >"$tmp/names" || return
	awk -F '\t' '
	function text(s) {
		gsub(/\\/, "\\e", s)
		gsub(/ - /, " \\(en ", s)
		if (s ~ /^[.\047]/)
			s = "\\&" s
		return s
	}
	# What heapdb help says in brackets: "1..100" and the default.
	function range(numbers, value, s) {
		if (numbers ~ /\.\.[0-9]/) {
			sub(/\.\./, " to ", numbers)
			s = numbers
		} else if (numbers ~ /^[1-9]/) {
			sub(/\.\./, " or more", numbers)
			s = numbers
		}
		if (value != "")
			s = s (s == "" ? "" : ", ") "default " value
		return s == "" ? "" : " (" s ")"
	}
	function end_list() {
		if (list != "")
			print ".El"
		list = ""
	}
	# One list for each kind of name.
	function item(kind, heading, tag, help) {
		if (list != kind) {
			end_list()
			print ".Pp"
			print heading ":"
			print ".Bl -tag -width unreachable_shallow -compact -offset 2n"
			list = kind
		}
		print ".It " tag
		print text(help)
	}
	$1 == "query" {
		end_list()
		print ($2 == "query" ? ".Ss query " : $3 ~ /^(info|check|diff)$/ ? ".Ss " : ".Ss export ") \
			$3 ($4 == "" ? "" : " " $4)
		print text(toupper(substr($5, 1, 1)) substr($5, 2)) "."
	}
	# After the summary: what it is also called, and an example.
	$1 == "alias" { aliases = aliases (aliases == "" ? "" : ", ") $3 }
	$1 == "example" {
		if (aliases != "")
			print "Also understood: " aliases "."
		aliases = ""
		print ".Pp"
		print ".Dl heapdb " text($3 ($4 == "" ? "" : " " $4))
	}
	$1 == "population" {
		print ".Pp"
		print "No"
		print ".Fl Fl unreachable ,"
		print "no"
		print ".Fl Fl all :"
		print text($5) "."
	}
	$1 == "option" && $2 ~ /^query / {
		item("option", "Options", "Fl Fl " substr($3, 3) ($4 == "" ? "" : " Ar " $4), \
			$5 range($8, $7))
	}
	$1 == "column" { item("column", "Columns", "Va " $3, $5) }
	$1 == "fact" { item("fact", "Facts", "Va " $3, $5) }
	END { end_list() }' "$tmp/names"
}

if [ -z "$write" ]; then
	section
	exit 0
fi
section >"$tmp/part"
[ -s "$tmp/part" ] || { echo "man_queries.sh: $heapdb lists no queries" >&2; exit 1; }
awk -v part="$tmp/part" '
	/^\.\\" queries: end/ { skip = 0 }
	!skip { print }
	/^\.\\" queries: begin/ {
		while ((getline line <part) > 0)
			print line
		skip = 1
	}' "$here/heapdb-queries.1" >"$tmp/page"
cat "$tmp/page" >"$here/heapdb-queries.1"

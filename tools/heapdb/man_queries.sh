#!/bin/sh
# tools/heapdb/man_queries.sh - writes the list of queries in heapdb-queries.1, using the help of the command.
#
#   man_queries.sh [HEAPDB]            prints it, in mdoc
#   man_queries.sh --write [HEAPDB]    replaces it in heapdb-queries.1, between the lines that mark it
#
# Summary, aliases, example, options, columns and facts are the library's own texts, so the page always agrees with
# `heapdb help query NAME`. Options, columns and facts with the same text in several queries are described once, at the
# top, and each query only lists their names. tests/lint/man_test.sh fails if the page is out of date.
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

# If a command fails half way, nothing is printed or written.
section()
{
	"$heapdb" help --names >"$tmp/names" || return
	awk -F '\t' '
	function text(s) {
		gsub(/\\/, "\\e", s)
		gsub(/ - /, " \\(en ", s)
		gsub(/[.] /, ".\n", s)
		while (sub(/`/, "\\(oq", s))
			sub(/`/, "\\(cq", s)
		if (s ~ /^[.\047]/)
			s = "\\&" s
		return s
	}
	# The range "1..100" and the default, as in heapdb help.
	function range(numbers, value, s) {
		s = value == "" ? "" : " Default: " value "."
		if (numbers == "0..100") # a percentage
			return s
		sub(/\.\.4294967295$/, "..", numbers) # practically unlimited
		if (sub(/\.\./, " to ", numbers) && numbers ~ / to [0-9]/)
			return s " Range: " numbers "."
		return numbers ~ /^([2-9]|1[0-9])/ ? s " Minimum: " (numbers + 0) "." : s
	}
	function tag() {
		return $1 == "option" ? "Fl " substr($3, 2) ($4 == "" ? "" : " Ar " $4) : $3
	}
	# A reference to this page is useful only outside this page.
	function help() {
		sub(/ (See )?heapdb-queries\(1\)( describes the values)?\.$/, "", $5)
		value = $1 == "option" ? range($8, $7) : ""
		return $5 (value == "" || $5 ~ /\.$/ ? "" : ".") value
	}
	# One list for each query: "Options:", its items, "Columns:", its items, ...
	function heading(kind) {
		if (!is_open)
			print ".Bl -tag -width 19n -compact"
		is_open = 1
		print ".It Sy " toupper(substr(kind, 1, 1)) substr(kind, 2) "s"
	}
	function end_list() {
		if (is_open)
			print ".El"
		is_open = 0
	}
	function sort_names(all, n, i, k, name) {
		n = split(all, list_of, "\t")
		for (i = 2; i <= n; i++) {
			name = list_of[i]
			for (k = i - 1; k > 0 && list_of[k] > name; k--)
				list_of[k + 1] = list_of[k]
			list_of[k + 1] = name
		}
		return n
	}
	# Names that share one text, such as field1 to field12, are one item.
	function put_item() {
		gsub(/\|/, "|\\:", tags) # a long list of values may be broken
		if (tags != "")
			print ".It " tags "\n" text(said)
		tags = ""
	}
	function add_item(name, says) {
		if (says != said || name ~ /^Fl/)
			put_item()
		tags = tags (tags == "" ? "" : " , ") name
		said = says
	}
	# Names that are described at the top come last, without text.
	function end_kind() {
		put_item()
		if (shared != "")
			also = also (also == "" ? "" : "; ") kind "s " shared
		list = shared = ""
	}
	function end_query() {
		end_kind()
		end_list()
		kind = ""
		if (also != "") {
			# Columns and facts that coverage.h and object_columns.h add to most queries.
			sub(coverage, "coverage", also)
			sub(of_objects, "object columns", also)
			print "Also " text(also) "."
		}
		also = ""
	}
	function item() {
		if (kind != $1)
			end_kind()
		kind = $1
		if (is_common[$1, $3] == tag() "\n" help()) {
			shared = shared (shared == "" ? "" : ", ") $3
			return
		}
		if (list == "")
			heading($1)
		list = $1
		add_item(tag(), help())
	}
	# Texts shared by several queries. If a name has several texts, the most frequent one.
	FNR == NR {
		reasons[$5] += $1 == "population"
		if ($1 !~ /^(option|column|fact)$/ || $2 !~ /^query /)
			next
		said = tag() "\n" help()
		n = ++count[$1, $3, said]
		if (!(($1, $3) in most)) {
			names[$1] = names[$1] (names[$1] == "" ? "" : "\t") $3
			most[$1, $3] = 1
		}
		# "These" refers to the objects of the previous row, so such a text stays in place.
		if (n > most[$1, $3] && $5 !~ / (these|them|that query)/) {
			most[$1, $3] = n
			is_common[$1, $3] = said
		}
		next
	}
	FNR == 1 {
		coverage = "counted, unreachable_objects, unreachable_shallow, " \
			"cut, cut_rows, cut_objects, cut_bytes"
		of_objects = "native, retained_native, depth, " \
			"retained_heap1, retained_heap2, retained_heap3, retained_heap4, heap"
		print ".Ss Common options, columns and facts"
		print "A query that uses one of these names lists it after \(lqAlso\(rq."
		for (i = 1; i <= split("option column fact", kinds, " "); i++) {
			heading(kinds[i])
			n = sort_names(names[kinds[i]])
			for (k = 1; k <= n; k++)
				if ((kinds[i], list_of[k]) in is_common) {
					split(is_common[kinds[i], list_of[k]], parts, "\n")
					add_item(parts[1], parts[2])
				}
			put_item()
		}
		end_list()
		print ".Pp"
		print "Object columns: " of_objects "."
		print "Coverage facts: " coverage "."
	}
	$1 == "query" {
		end_query()
		print ($2 == "query" ? ".Ss " : $3 ~ /^(info|check|diff)$/ ? ".Ss " : ".Ss export ") \
			$3 ($4 == "" ? "" : " " $4)
		print text($5) "."
	}
	# After the summary: aliases and an example.
	$1 == "alias" { aliases = aliases (aliases == "" ? "" : ", ") $3 }
	$1 == "example" {
		if (aliases != "")
			print "Aliases: " aliases "."
		aliases = ""
		print ".Dl heapdb " text($3 ($4 == "" ? "" : " " $4))
	}
	$1 == "population" && reasons[$5] == 1 {
		print ".Pp"
		print ".Fl -unreachable"
		print "and"
		print ".Fl -all"
		print "do not apply: " text($5) "."
	}
	($1 == "option" || $1 == "column" || $1 == "fact") && $2 ~ /^query / { item() }
	END { end_query() }' "$tmp/names" "$tmp/names"
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

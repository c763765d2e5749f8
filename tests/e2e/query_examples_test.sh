#!/bin/sh
# query_examples_test.sh - the example of every query in `heapdb help query NAME` runs on the sample dump and returns
# rows. Every query has a group, and `heapdb help` lists the queries of a group together.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
heapdb import "$DUMP" -o before.heapdb --quiet > /dev/null
cp before.heapdb after.heapdb
HEAPDB=$work/before.heapdb
export HEAPDB

# Queries for which the sample dump has no data, and diff, which leaves out what is the same in both databases.
without_rows='problems dangling alloc-sites cpu-samples heap-summaries reference-leaks secrets'
without_rows="$without_rows leak-traces object-sites bitmaps explain diff"

heapdb help --names | awk -F '\t' '$1 == "example" { print $2 "\t" $3 " " $4 }' > examples
count=0
while IFS="$(printf '\t')" read -r owner example; do
	count=$((count + 1))
	name=${owner#query }
	got=0
	eval "heapdb $example --csv" > out 2> err || got=$?
	rows=$(($(wc -l < out) - 1))
	case " $without_rows " in
	*" $name "*) enough=$((got <= 1 && rows >= 0)) ;;
	*) enough=$((got == 0 && rows >= 1)) ;;
	esac
	if [ "$enough" -ne 1 ]; then
		echo "FAILED (exit $got, $rows rows): heapdb $example"
		head -n 3 err
		failed=1
	fi
	heapdb help query "$name" | grep -qF "Example: heapdb ${example% }" || { echo "no example: $name"; failed=1; }
done < examples
queries=$(heapdb help --names | grep -c '^query')
if [ "$count" -lt 45 ] || [ "$count" -ne "$queries" ]; then
	echo "$count examples of $queries queries"
	failed=1
fi

# Each group has one heading, and each query one line.
heapdb help --all > listing
heapdb help --names | awk -F '\t' '$1 == "query" { print $3 }' | while read -r name; do
	grep -qE "^  (heapdb (export )?)?$name( |\$)" listing || echo "not in help: $name"
done > missing
[ ! -s missing ] || { cat missing; failed=1; }
[ "$(grep -cE '^(Leaks|Sizes|Objects|Waste|Threads|Classes|Compare|Database)' listing)" -eq 8 ] ||
	{ echo "not eight groups"; failed=1; }
exit $failed

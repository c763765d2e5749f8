#!/bin/sh
# instances_test.sh - instances and direct-buffers: the objects of a class with their fields as columns, equal to other
# queries; buffers with their capacity.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
HEAPDB=$work/s.heapdb
export HEAPDB
failed=0
same()
{
	if [ "$2" != "$3" ]; then
		printf 'FAILED: %s\n  got:      %s\n  expected: %s\n' "$1" "$2" "$3"
		failed=1
	fi
}

same "all objects of a class" "$(heapdb query instances java.util.HashMap --csv | wc -l)" 281
same "the largest" "$(heapdb query instances java.util.HashMap --fields size --sort size --limit 1 --csv | sed 1d)" \
	"$(heapdb query instances java.util.HashMap --fields size --csv | sort -t, -k6,6nr | head -n 1)"
same "heading" "$(heapdb query instances java.util.HashMap --fields size,table --csv | head -n 1)" \
	"id,label,shallow,retained,reachable,size,table,native,retained_native"
same "a path" "$(heapdb query instances java.lang.Thread --fields name,group.name --csv | grep -c ",main,main,")" 1
same "subclasses" "$(heapdb query instances java.lang.Thread --subclasses --all --csv | wc -l)" 13
same "unreachable" "$(heapdb query instances java.lang.Thread --subclasses --unreachable --csv | wc -l)" 4
# The top few of a column are the first of all objects sorted by it, and the same number of rows is reported.
best()
{
	heapdb query "$@" --limit all --json | sed 's/"row_count":[0-9]*,//; s/,$//' >all.json
	heapdb query "$@" --limit 7 --json | sed 's/"row_count":[0-9]*,//; s/,$//' >few.json
	{ sed -n 2,8p all.json; tail -n 1 all.json; } >want
	sed 1d few.json | cmp want - || { echo "FAILED: the best few of $*"; failed=1; }
	[ "$(wc -l <few.json)" -eq 9 ] || { echo "FAILED: rows of $*"; failed=1; }
}
map=$(heapdb query instances java.util.HashMap --sort retained --limit 1 --csv --columns id | tail -n 1)
for turn in "" -; do
	for column in id label retained size table label_kind native; do
		best instances java.util.HashMap --all "--sort=$turn$column"
	done
	for column in no key value_label retained; do
		best entries "$map" "--sort=$turn$column"
	done
	best entries java.util.HashMap "--sort=$turn""key"
	best instances 'java.*' --depth "--sort=$turn""depth"
	for column in objects shallow text id; do
		best strings "--sort=$turn$column"
	done
	for column in wasted holder; do
		best duplicates "--sort=$turn$column"
	done
	for column in objects value; do
		best group-by-value java.lang.String "--sort=$turn$column"
	done
done
# As in the table of all objects.
heapdb export objects --columns id,class,shallow,retained --format csv | grep ',java.util.HashMap,' |
	cut -d, -f1,3,4 | sort >want
heapdb query instances java.util.HashMap --fields size --csv | sed 1d | cut -d, -f1,3,4 | sort >got
cmp want got || { echo "FAILED: sizes differ"; failed=1; }
got=0
heapdb query instances java.util.HashMap --fields size --sort table 2>err || got=$?
same "no such column" "$got" 2
got=0
heapdb query instances java.util.HashMap --fields a,,b 2>err || got=$?
same "no name" "$got" 2
same "buffers" "$(heapdb query direct-buffers --columns kind,capacity --csv | sort | tr '\n' ' ')" \
	"direct,4096 kind,capacity "
same "of the JDK" "$(heapdb query direct-buffers --json | grep -o '"native":0,"jdk_modules":[0-9]*' | head -n 1)" \
	'"native":0,"jdk_modules":128651445'
same "capacity" "$(heapdb query direct-buffers --json | grep -o '"capacity":[0-9]*' | head -n 1)" '"capacity":4096'

# Rows of an answer as CSV: of instances of HashMap, and of the entries of all HashMaps.
rows()
{
	heapdb query "$@" --csv | sed 1d
}
maps()
{
	rows instances java.util.HashMap "$@"
}
entries()
{
	rows entries java.util.HashMap "$@"
}

# ---- entries ----
ids=owner,no,key_id,value_id,entry,retained
for map in $(maps | cut -d, -f1); do
	rows entries "$map" --columns "${ids#owner,}" | sed "s/^/$map,/"
done >want
entries --columns $ids >got
cmp want got || { echo "FAILED: entries of a class are not those of its objects"; failed=1; }
rows entries 'java.*.HashMa?' --columns $ids >got
cmp want got || { echo "FAILED: entries of a pattern are not those of the class"; failed=1; }
same "heading" "$(heapdb query entries java.util.HashMap --csv | head -n 1)" \
	"owner,no,key,key_label,key_id,value,value_label,value_id,retained,entry"
same "subclasses" "$(entries --subclasses --all --columns no | wc -l)" \
	"$(maps --subclasses --all --fields size | awk -F, '{ n += $6 } END { print n }')"
same "not the first" "$(entries --from 1 --columns no | sort -n | head -n 1)" 1
got=0
heapdb query entries java.lang.String 2>err || got=$?
same "no collections" "$got $(cat err)" \
	"1 heapdb: query entries: java.lang.String is not a known collection class"

# ---- --where ----
if heapdb query histogram --where 1 2>&1 >/dev/null | grep -q "requires SQLite"; then
	exit $failed
fi
same "where" "$(maps --where "size > 100 AND retained < 20000" | cut -d, -f1)" \
	"$(maps --fields size | awk -F, '$6 > 100 && $4 < 20000 { print $1 }')"
heapdb query instances java.util.HashMap --where "size > 100" --limit 2 --json >some.json
same "total" "$(tail -n 1 some.json)" "$(maps --fields size | awk -F, '$6 > 100 { n++ } END {
	print "],\"row_count\":2,\"total_rows\":" n "}" }')"
same "echo" "$(grep -o '"limit":2,"where":"size > 100"' some.json)" '"limit":2,"where":"size > 100"'
same "sorted" "$(maps --where "size > 100" --sort size --limit 1 --fields size | cut -d, -f6)" 1010
best instances java.util.HashMap --where "size > 1" --sort size
best strings --where "length > 9" --sort objects
same "a path in quotes" "$(rows instances java.lang.Thread --fields name,group.name \
	--where "\"group.name\" = 'main' -- all" | wc -l)" 1
same "functions and tables" "$(maps --where "(SELECT count(*) FROM entries(id)) <> size" | wc -l)" 0
same "labels" "$(rows instances java.lang.Thread --where "label LIKE '%\"main\"'" | wc -l)" 1
same "what a label is made of" \
	"$(rows instances java.lang.Thread --columns id,label_kind --where "label_kind = 'instance'" | wc -l)" \
	"$(rows instances java.lang.Thread | wc -l)"
same "any answer" "$(rows histogram --where "objects = 280" | cut -d, -f1)" java.util.HashMap
same "of entries" "$(entries --where "key LIKE '%lib/%'" --columns key)" \
	"$(entries --columns key | grep lib/)"
same "nothing" "$(maps --where "size / 0" | wc -l)" 0

# Fails with this exit status and message.
refused()
{
	got=0
	heapdb query "$1" ${2:+"$2"} --where "$3" >/dev/null 2>err || got=$?
	if [ "$got" -ne 2 ] || ! grep -qF -e "$4" err; then
		echo "FAILED: $1 --where $3: exit $got, $(cat err)"
		failed=1
	fi
}
refused instances java.util.HashMap "sizes > 3" "--where: no such column: sizes; there are: id, label, shallow"
refused instances java.util.HashMap "size >" "--where:"
refused instances java.util.HashMap "1); SELECT (1" "--where:"
refused instances java.util.HashMap "" "--where:"
refused instances java.util.HashMap "load_extension('x')" "--where:"
refused dominator-tree "" 1 "--where cannot filter a tree"
exit $failed

#!/bin/sh
# options_test.sh - rarely used options, each answer compared with that of another query: conditions on objects,
# patterns of duplicate arrays, classes of loaders, paths to one object, sorting by numbers of each type, arrays by
# content.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
HEAPDB=$work/a.heapdb
export HEAPDB
heapdb import "$DUMP" -o "$HEAPDB" > /dev/null
cp "$HEAPDB" fresh.heapdb
failed=0
fail() {
	echo "FAILED: $*"
	failed=1
}

# holds EXIT CONDITION: exit status 1 if the condition is true
holds() {
	got=0
	heapdb query histogram --limit 1 --fail-if "$2" > out 2>&1 || got=$?
	[ $got -eq "$1" ] || fail "exit $got, $1 expected: $2: $(cat out)"
}
# The same if the answer is written to a file.
got=0
heapdb query histogram --limit 1 --fail-if 'count(java.lang.String) > 0' -o out.csv > out 2>&1 || got=$?
[ $got -eq 1 ] || fail "exit $got with -o: $(cat out)"
heapdb query top --limit 1 --csv --columns id,shallow,retained > biggest
IFS=, read -r id shallow retained << EOT
$(tail -n 1 biggest)
EOT
holds 1 "retained($id) > $((retained - 1))"
holds 0 "retained($id) > $retained"
holds 1 "shallow($id) >= $shallow"
holds 0 "shallow($id) > $shallow"
holds 1 "count($id) > 0"
holds 0 "count($id) > 1"
# kinds of objects that the dump does not have
holds 0 "count(0x13) > 0"
holds 1 "retained(0x13) < 1"
# an unreachable object retains nothing
gone=$(heapdb query group-by-value 'byte[]' --all --csv --columns objects,unreachable_objects,id --limit all |
	awk -F, '$1 == $2 { print $3; exit }')
holds 0 "count($gone) > 0"

# a pattern selects duplicate arrays by class
for class in 'int[]' 'char[]' 'byte[]' '*[]'; do
	heapdb query duplicates --arrays "$class" --csv --columns class,wasted,objects,length > some
	heapdb query duplicates --arrays --csv --columns class,wasted,objects,length |
		awk -F, -v class="$class" 'NR == 1 || class == "*[]" || $1 == class' > all
	cmp some all || fail "duplicates of $class"
done
got=0
heapdb query duplicates 'int[]' > out 2>&1 || got=$?
if [ $got -ne 2 ] || ! grep -q "requires --arrays" out; then
	fail "a pattern without --arrays exits $got: $(cat out)"
fi

# arrays by content: as many groups of each size as duplicates finds among arrays that are not empty
heapdb query group-by-value 'int[]' --csv --columns objects,shallow --limit all |
	awk -F, 'NR > 1 && $1 > 1 && $2 > 16 * $1 { print $1 }' | sort -n > groups
heapdb query duplicates --arrays 'int[]' --csv --columns objects,length |
	awk -F, 'NR > 1 && $2 > 0 { print $1 }' | sort -n > doubles
if [ ! -s groups ] || ! cmp groups doubles; then
	fail "groups of int[] are not its duplicates"
fi
heapdb query group-by-value 'int[]' --all --csv --columns objects --limit all |
	awk 'NR > 1 { n += $1 } END { print n }' > sum
heapdb query histogram 'int[]' --csv --columns objects,unreachable_objects |
	awk -F, 'NR > 1 { print $1 + $2 }' | cmp sum - || fail "groups of int[] miss objects"

# the classes of a loader add up to the total of the loader
heapdb query loaders --classes --csv --columns kind,classes,objects,shallow,unreachable_objects |
	awk -F, 'function check() { if (row && (classes != has || instances != n)) { print row; bad = 1 } }
		$1 == "loader" { check(); row = $0; has = $2; n = $3; classes = instances = 0; loaders++ }
		$1 == "class" { classes++; instances += $3 }
		END { check(); exit bad || loaders < 2 }' > out || fail "classes of loaders: $(cat out)"

# the paths to one object equal its path, which skips the internals of collections
for class in Sample 'java.util.HashMap'; do
	object=$(heapdb query top "$class" --limit 1 --csv --columns id 2> /dev/null | tail -n 1)
	case $object in 0x*) ;; *) object=$id ;; esac
	steps=$(heapdb query path "$object" --csv --columns id | grep -c 0x)
	heapdb query merged-paths "$object" --csv > out
	deepest=$(awk -F, 'NR > 1 && $1 > most { most = $1 } END { print most + 1 }' out)
	[ "$deepest" -ge "$steps" ] || fail "paths $object: $deepest levels, path: $steps steps"
	heapdb query path "$object" --csv --columns class | sed 1d | while read -r class; do
		grep -qF "$class" out || echo "$class"
	done > missing
	[ ! -s missing ] || fail "paths $object lack $(cat missing)"
done

# sorted by columns of each type, both ways
sorted() {
	column=$1
	shift
	heapdb query "$@" --csv --columns "$column" --sort "$column" --limit all | tail -n +2 | grep . > down
	heapdb query "$@" --csv --columns "$column" --sort="-$column" --limit all | tail -n +2 | grep . > up
	sort -g -r -c down || fail "$* --sort $column"
	sort -g -c up || fail "$* --sort -$column"
	sort -g down > a
	sort -g up | cmp a - || fail "$* --sort $column: other rows"
	[ "$(sort -u down | wc -l)" -gt 1 ] || fail "$*: one $column only"
}
sorted priority threads --no-stack
sorted percent top --by class
sorted objects histogram
sorted retained threads --no-stack

# In a database without tables, those by which rows are sorted or filtered are built before sizes are added up.
for o in "--sort retained" "--where retained>0" "--where Retained>0"; do
	cp fresh.heapdb made.heapdb
	# shellcheck disable=SC2086
	heapdb query group-by-value java.lang.Thread --by field:name --csv $o --db made.heapdb > first
	# shellcheck disable=SC2086
	heapdb query group-by-value java.lang.Thread --by field:name --csv $o --db made.heapdb > second
	cmp first second || fail "group-by-value $o: another answer the second time"
	rm -f made.heapdb made.heapdb-lock
done
exit $failed

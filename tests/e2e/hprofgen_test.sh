#!/bin/sh
# tests/e2e/hprofgen_test.sh - every shape of build/hprofgen, with 4-byte and 8-byte IDs: the dump imports without a
# problem, the answers equal those known by construction, the same seed gives the same bytes and another seed different
# ones. Also its usage errors.
set -eu

generator=${BUILD:-build}/hprofgen
command=${BUILD:-build}/heapdb
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

complain()
{
	echo "hprofgen: $*"
	bad=1
}

# Compares answers $1 with the exported rows $2; both: ID, retained, dominator.
compare()
{
	awk -F '\t' -v name="$3" '
		FNR == NR { known[$1] = $2 "\t" $3; next }
		FNR == 1 { next }
		$1 in known {
			seen++
			if (known[$1] != $2 "\t" ($3 == "" ? "0x0" : $3) && bad++ < 3)
				print name ": " $1 " should be " known[$1] ", is " $2 "\t" $3
		}
		END {
			for (id in known)
				count++
			if (seen != count || !count)
				print name ": " seen + 0 " of " count + 0 " objects found"
			exit bad || seen != count || !count
		}' "$1" "$2"
}

# check NAME SHAPE IDSIZE OBJECTS OPTIONS...
check()
{
	name=$1
	shape=$2
	size=$3
	objects=$4
	shift 4
	dump=$tmp/dump.hprof
	db=$tmp/dump.heapdb
	answers=
	case $shape in
	random) ;;
	*) answers="--answers $tmp/answers" ;;
	esac
	# shellcheck disable=SC2086
	"$generator" "$shape" --objects "$objects" --seed 7 --id-size "$size" $answers "$@" -o "$dump"
	"$generator" "$shape" --objects "$objects" --seed 7 --id-size "$size" "$@" -o "$tmp/again"
	cmp -s "$dump" "$tmp/again" || complain "$name: not the same bytes twice"
	"$command" import "$dump" -o "$db" --force >"$tmp/out" 2>&1 || {
		complain "$name: import: $(cat "$tmp/out")"
		return
	}
	"$command" info --db "$db" --csv >"$tmp/info"
	grep -q '^dump,problems,0,0,' "$tmp/info" ||
		complain "$name: problems: $(grep '^dump,problems' "$tmp/info")"
	grep -q '^objects,dangling references,0,0,' "$tmp/info" || complain "$name: dangling references"
	case $size in 8) header=12 ;; *) header=8 ;; esac
	for layout in "header,$header" reference,4 alignment,8; do
		grep -q "^sizes,$layout," "$tmp/info" ||
			complain "$name: not $layout: $(grep '^sizes' "$tmp/info")"
	done
	if [ -n "$answers" ]; then
		"$command" export objects --columns id,retained,dominator --format tsv --db "$db" \
			>"$tmp/rows"
		compare "$tmp/answers" "$tmp/rows" "$name" || bad=1
	fi
}

for size in 8 4; do
	for shape in tree list ladder ring star tail service random; do
		check "$shape, $size-byte IDs" "$shape" "$size" 100000
	done
	for shape in tree list ladder ring star tail service; do
		check "$shape shuffled, $size-byte IDs" "$shape" "$size" 100001 --shuffle
		check "$shape of one, $size-byte IDs" "$shape" "$size" 1
		check "$shape of five, $size-byte IDs" "$shape" "$size" 5 --shuffle
	done
done

"$generator" random --objects 1000 --seed 1 -o "$tmp/one"
"$generator" random --objects 1000 --seed 2 -o "$tmp/two"
cmp -s "$tmp/one" "$tmp/two" && complain "random: the seed changes nothing"

# refuses EXIT ARGUMENT...: fails and leaves no file.
refuses()
{
	want=$1
	shift
	rm -f "$tmp/none"
	rc=0
	"$generator" "$@" >"$tmp/out" 2>&1 || rc=$?
	[ $rc -eq "$want" ] || complain "$*: exit $rc, not $want: $(cat "$tmp/out")"
	[ ! -e "$tmp/none" ] || complain "$*: leaves a file"
}

refuses 2
refuses 2 cube -o "$tmp/none"
refuses 2 list
refuses 2 list -o "$tmp/none" --objects -5
refuses 2 list -o "$tmp/none" --objects 0
refuses 2 list -o "$tmp/none" --objects 99G
refuses 2 list -o "$tmp/none" --objects 5X
refuses 2 list -o "$tmp/none" --id-size 6
refuses 2 random -o "$tmp/none" --answers "$tmp/answers"
refuses 2 list -o "$tmp/none" --id-size 4 --objects 500M
refuses 2 star -o "$tmp/none" --objects 600M
refuses 4 list -o "$tmp/none/none"
refuses 4 list -o "$tmp/none" --objects 10 --answers "$tmp/none/none"
[ ! -e /dev/full ] || refuses 4 list -o /dev/full --objects 10

[ $bad -eq 0 ] && echo "hprofgen: every shape imports, and what is known holds"
exit $bad

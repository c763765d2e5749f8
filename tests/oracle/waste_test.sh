#!/bin/sh
# waste_test.sh - duplicates, arrays, substrings, strings by group, references, finalizers and
# garbage: compared with waste_oracle.py, which has its own reader of dumps, on the sample and, if ../shared/dumps
# exists, on dumps of old VMs, Android and others; and with what java/Waste.java plants, if there is a JDK. Names of
# nested classes have a dollar sign in them.
# Slow: reads whole dumps in Python.
# shellcheck disable=SC2016
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# compare NAME DUMP: compares all answers with those of the oracle, for one thread and several.
compare() {
	heapdb import "$2" -o "$work/$1.heapdb" --quiet > /dev/null
	python3 "$HDB_ROOT/tests/oracle/waste_oracle.py" "$2" "$work/$1.heapdb" || { echo "FAILED: $1"; failed=1; }
	for query in duplicates "duplicates --arrays" "arrays --by length" substrings; do
		# shellcheck disable=SC2086
		heapdb query $query --db "$work/$1.heapdb" --json --threads 1 > "$work/one"
		# shellcheck disable=SC2086
		heapdb query $query --db "$work/$1.heapdb" --json --threads 4 > "$work/four"
		cmp "$work/one" "$work/four" || { echo "FAILED: $query on threads, $1"; failed=1; }
	done
}

compare sample "$DUMP"
dumps=$HDB_ROOT/../shared/dumps
if [ -d "$dumps" ] && command -v zstd > /dev/null; then
	for name in sun_jdk6_18_x32 oracle_jdk8_05_x64 slurp_32 android_ahat_base refs_j17_all; do
		zstd -dqf "$dumps/$name.hprof.zst" -o "$work/$name.hprof"
		compare $name "$work/$name.hprof"
		rm -f "$work/$name.hprof" "$work/$name.heapdb"
	done
fi

if ! command -v java > /dev/null || ! command -v javac > /dev/null; then
	[ $failed -ne 0 ] || echo "no JDK here: nothing planted"
	exit $failed
fi
javac -J-XX:TieredStopAtLevel=1 -nowarn -encoding UTF-8 -d "$work" \
	"$HDB_ROOT/tests/java/Waste.java" 2> "$work/javac" || cat "$work/javac"
java -XX:+UseSerialGC -Xms64m -Xmx64m -cp "$work" Waste "$work/waste.hprof"
compare waste "$work/waste.hprof"

# found COLUMNS WANTED QUERY...: the answer must contain a row that begins with WANTED.
found() {
	columns=$1 wanted=$2
	shift 2
	heapdb query "$@" --db "$work/waste.heapdb" --json > "$work/answer"
	python3 - "$work/answer" "$columns" "$wanted" << 'PY' || { echo "FAILED: heapdb query $*"; failed=1; }
import json, sys

columns = sys.argv[2].split(',')
rows = [','.join(str(row[c]) for c in columns) for row in json.load(open(sys.argv[1], encoding='utf-8'))['rows']]
if sys.argv[3] not in rows:
    print('no row %s among %s' % (sys.argv[3], rows[:10]))
    sys.exit(1)
PY
}

# The constants in the program's class are a copy, too.
found text,objects,arrays,holder,held "a planted duplicate,501,501,Waste\$Named.name,500" duplicates
found text,objects,arrays,holder,held "a planted € share,101,2,Waste\$Named.name,100" duplicates
found text,strings,used,length,wasted "a planted € share,100,34,34,0" substrings --shared
found class,length,objects "short[],10,50" duplicates --arrays 'short[]'
found class,objects 'Waste$Leaf[],40' arrays --empty
found class,length,objects "double[],333,30" arrays --zero
found class,length,value,objects "float[],77,1.5,20" arrays --constant
found class,objects "long[],10" arrays --trailing-zeros 'long[]' --min-tail 7000
found strength,class,referent_class,objects 'weak,java.util.WeakHashMap$Entry,Waste$Key,70' reference-leaks
found name,strength,referents,only 'Waste$Soft,soft,60,60' reference-stats --by referent
found name,strength,referents,only 'Waste$Held,weak,25,0' reference-stats --by referent
found name,strength,referents,only 'Waste$Fin,finalizer,80,44' reference-stats --by referent
found state,class,objects 'registered,Waste$Fin,35' finalizers
found state,class,objects 'queued,Waste$Fin,44' finalizers
found state,class,objects 'running,Waste$Fin,1' finalizers
found name,holders,objects 'Waste$Top,20,240' unreachable --by holder
found name,holders,objects 'Waste$Ring,1,12' unreachable --by holder
exit $failed

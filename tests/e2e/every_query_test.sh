#!/bin/sh
# every_query_test.sh - every query, as a table, JSON and CSV, on the sample dump and, if ../shared/dumps exists, on
# dumps of Android, old VMs and others: each gives an answer or a clear error, and its JSON parses.
# Slow: every query in three formats on many dumps.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
count=0
mkdir "$work/json"

# ask DB ARGUMENTS...: exit code 0 or 1, JSON that parses, nothing of a sanitizer.
ask() {
	db=$1
	shift
	for format in "" --json --csv; do
		got=0
		out=$work/out
		if [ "$format" = --json ]; then
			count=$((count + 1))
			out=$work/json/$count
			echo "heapdb $*" > "$out.command"
		fi
		# shellcheck disable=SC2086
		heapdb "$@" --db "$db" $format --limit 200 > "$out" 2> "$work/err" || got=$?
		if [ $got -gt 1 ] || { [ -s "$work/err" ] && grep -qE 'Sanitizer|runtime error' "$work/err"; }; then
			echo "FAILED (exit $got): heapdb $* --db $db $format"
			head -n 3 "$work/err"
			failed=1
		fi
	done
}

try_dump() {
	dump=$1 db=$work/try.heapdb
	rm -f "$db" "$db-lock"
	heapdb import "$dump" -o "$db" --json > "$work/import.json"
	if [ "${2:-}" = clean ] && ! grep -q '"problems": *0' "$work/import.json"; then
		echo "FAILED: $dump has problems"
		failed=1
	fi
	heapdb export objects --db "$db" --all --columns id,kind --format tsv > "$work/objects.tsv"
	rows=$(wc -l < "$work/objects.tsv")
	ids=$(awk -v step=$((rows / ${samples:-4} + 1)) 'NR > 1 && NR % step == 2 { print $1 }' "$work/objects.tsv")
	for id in $ids; do
		for q in object references referrers path retained dominators; do
			ask "$db" query $q "$id"
		done
		ask "$db" query path "$id" --exclude none
		ask "$db" query path "$id" --internals
		ask "$db" query entries "$id"
		ask "$db" query path "$id" --all 3 --exclude weak
		ask "$db" query retained "$id" --explain
	done
	ask "$db" info
	ask "$db" info --tables
	ask "$db" info --problems
	ask "$db" check
	for by in class superclass package loader; do
		ask "$db" query histogram --by $by
	done
	ask "$db" query histogram 'java.util.*' --sort objects
	ask "$db" query histogram --shallow
	for by in object class package loader; do
		ask "$db" query top --by $by
	done
	ask "$db" query retained java.lang.String
	ask "$db" query retained 'java.util.*' --lower-bound
	ask "$db" query dominators --by package
	ask "$db" query unreachable
	ask "$db" query leaks
	ask "$db" query leaks --brief --threshold 1
	ask "$db" query triage --all
	ask "$db" query roots
	ask "$db" query roots --kind all
	ask "$db" query threads
	ask "$db" query threads --no-stack
	ask "$db" query threads --no-stack --all
	for q in big-drops top-consumers loaders duplicate-classes; do
		ask "$db" query $q
	done
	ask "$db" query top-consumers 'java.lang.*' --threshold 0
	ask "$db" query loaders --classes --idle
	ask "$db" query immediate-dominators java.lang.String --skip 'java.*'
	ask "$db" query retained java.lang.String --exclude java.lang.Class:name,weak
	for by in class package loader; do
		ask "$db" query dominator-tree --by $by
		ask "$db" query merged-paths java.lang.String --by $by
	done
	ask "$db" query merged-paths java.lang.String --by field
	ask "$db" query merged-paths 'java.util.*' --exclude java.lang.Thread:name
	ask "$db" query histogram --fail-if 'retained(java.lang.*) > 1K'
	for by in class package loader superclass object path dominator suspect; do
		"$BUILD/heapdb" diff "$db" "$db" --by $by --json > "$work/out" 2> "$work/err" || {
			echo "FAILED: heapdb diff --by $by: $(head -n 1 "$work/err")"
			failed=1
		}
	done
	ask "$db" query strings --match '^[a-z]+$' --min-count 2
	ask "$db" query strings --equals main --objects
	for by in prefix length encoding; do
		ask "$db" query strings --by $by
	done
	ask "$db" query duplicates
	ask "$db" query duplicates --arrays --no-holders --unreachable --min-wasted 100
	ask "$db" query substrings
	ask "$db" query substrings --shared --unreachable
	ask "$db" query arrays
	ask "$db" query arrays 'byte*' --by length
	for kind in empty zero constant trailing-zeros; do
		ask "$db" query arrays --$kind --unreachable
	done
	for by in class referent strength; do
		ask "$db" query reference-stats --by $by
	done
	ask "$db" query app
	ask "$db" query object-sites
	ask "$db" query object-sites --by class
	ask "$db" query native
	ask "$db" query native --objects
	ask "$db" query leak-traces
	ask "$db" query leak-traces --watched
	ask "$db" query reference-leaks
	ask "$db" query reference-leaks --objects --max-objects 50
	ask "$db" query finalizers
	ask "$db" query finalizers --objects --state registered
	ask "$db" query unreachable --by holder
	ask "$db" query unreachable --holders
	for by in class size fill collisions object; do
		ask "$db" query collections --by $by
	done
	ask "$db" query collections 'java.util.*' --arrays --by fill
	ask "$db" query collections --unreachable
	ask "$db" query group-by-value java.lang.String
	ask "$db" query group-by-value 'java.lang.*' --min-count 2
	ask "$db" query group-by-value java.lang.Thread --by field:name --subclasses
	ask "$db" query properties
	for id in $(heapdb query collections --by object --db "$db" --csv --columns id --limit 8 | tail -n +2); do
		ask "$db" query entries "$id"
	done
	ask "$db" query class java.lang.String
	ask "$db" query class 'java.lang.*'
	for q in problems dangling records alloc-sites cpu-samples heap-summaries tables; do
		ask "$db" query $q
	done
}

samples=12
# shellcheck disable=SC2153
try_dump "$DUMP" clean
samples=4
dumps=$HDB_ROOT/../shared/dumps
if [ -d "$dumps" ] && command -v zstd > /dev/null; then
	for name in android_ahat_base android_ahat_test android_service_leak oracle_jdk7_21_hprofagent \
		sun_jdk5_13_x32 basics_j17_i386; do
		zstd -dqf "$dumps/$name.hprof.zst" -o "$work/$name.hprof"
		try_dump "$work/$name.hprof" clean
		rm -f "$work/$name.hprof"
	done
fi
# One interpreter for all of them.
python3 - "$work/json" << 'PY' || failed=1
import glob, json, sys

bad = 0
for path in glob.glob(sys.argv[1] + '/*[0-9]'):
    try:
        answer = json.load(open(path, encoding='utf-8'))
        if answer['schema'] != 2:
            raise ValueError('schema %r' % answer['schema'])
    except Exception as e:
        bad += 1
        print('FAILED: no JSON:', open(path + '.command').read().strip(), e)
sys.exit(bad != 0)
PY
exit $failed

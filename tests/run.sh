#!/bin/sh
# tests/run.sh - runs every test; called by `make test`, which builds what it needs.
#
# A test is a program tests/ROOM/*_test.c, a script tests/FOLDER/*_test.sh, a fuzz target on its corpus, or a golden
# case tests/cli/*.sh. tests/base/pack_test.c is called base_pack_test; names of scripts and of programs in tests/e2e do
# not contain the directory. Each test has its own time limit, log and temporary directory (TMPDIR), and gets BUILD
# (directory of the build) and DUMP (the sample dump) as absolute paths. Exit status 77 means "cannot run here": the
# test counts neither as passed nor as failed.
# A test whose opening comment has a line "Slow: REASON" runs in `make test-all` only.
# Environment: BUILD, T (run only tests whose name contains it), LIMIT (seconds per test), DUMP, JOBS (number of tests
# at once; default: one more than processors, because many tests wait for a server or a browser), SET: quick
# (without the slow tests), slow (only those), all (default; always used with T), and PASSED: output of an earlier run
# of the same commit on such a system. Programs that passed there count as passed, unless they run other programs or
# read shared dumps: nothing else here could change their result.
set -eu

cd "$(dirname "$0")/.."
root=$PWD
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
case ${DUMP:-build/sample.hprof} in
/*) ;;
*) DUMP=$root/${DUMP:-build/sample.hprof} ;;
esac
PATH=$BUILD:$BUILD/examples:$PATH
PAGER="cat"
export BUILD DUMP PATH LIMIT PAGER
export HDB_ROOT="$root"
unset HEAPDB || true
out=$BUILD/tests/out

# Runs one test in this process: `run.sh --one NAME COMMAND...`.
if [ "${1:-}" = --one ]; then
	name=$2
	shift 2
	TMPDIR=$out/$name.tmp
	export TMPDIR
	mkdir -p "$TMPDIR"
	start=$(date +%s%N)
	rc=0
	timeout -k 5 "$LIMIT" "$@" >"$out/$name.log" 2>&1 </dev/null || rc=$?
	ms=$((($(date +%s%N) - start) / 1000000))
	# A test may leave directories without permissions, or be killed while a child is still writing.
	chmod -R u+rwX "$TMPDIR" 2>/dev/null || true
	rm -rf "$TMPDIR" || rm -rf "$TMPDIR" || true
	# A JVM that is killed leaves its socket for attaching behind.
	find /tmp -maxdepth 1 -name '.java_pid*' -newer "$out/list" 2>/dev/null | while read -r socket; do
		status=/proc/${socket##*pid}/status
		if [ ! -e "$status" ] || grep -q '^State:[[:space:]]Z' "$status" 2>/dev/null; then
			rm -f "$socket"
		fi
	done
	case $rc in
	0) verdict=ok ;;
	77) verdict=skip ;;
	124 | 137) verdict="FAIL (over $LIMIT s)" ;;
	*) verdict="FAIL (exit $rc)" ;;
	esac
	echo "$verdict" >"$out/$name.verdict"
	# Counts processes that were waited for, so not the renderers of a browser. A pipe would ask a process without
	# children.
	times >"$out/$name.times"
	cpu=$(awk -F '[ms ]+' 'END { printf "%d", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 }' "$out/$name.times")
	rm "$out/$name.times"
	printf '%-8s %6d ms  %6d ms CPU  %s\n' "${verdict%% *}" "$ms" "$cpu" "$name"
	exit 0
fi

rm -rf "$out"
mkdir -p "$out"

# The list of tests, one per line: name, then command, without spaces in their words.
{
	for src in tests/*/*_test.c; do
		[ -f "$src" ] || continue
		program=${src%.c}
		program=${program#tests/}
		echo "$(echo "${program#e2e/}" | tr / _) $BUILD/tests/$program"
	done
	for script in tests/*/*_test.sh; do
		[ -f "$script" ] && echo "$(basename "$script" .sh) sh $script"
	done
	for src in tests/fuzz/*.c; do
		name=$(basename "$src" .c)
		if [ ! -f "$src" ] || [ "$name" = replay ]; then
			continue
		fi
		inputs=$(find "tests/corpus/$name" -type f 2>/dev/null | sort | tr '\n' ' ')
		echo "fuzz_$name $BUILD/tests/fuzz_$name $inputs"
	done
	for case in tests/cli/*.sh; do
		[ -f "$case" ] && echo "cli_$(basename "$case" .sh) sh tests/run_cli.sh $case"
	done
	true
} | sed 's/ *$//' | T="${T:-}" awk 'index($1, ENVIRON["T"])' >"$out/every"

# Two tests of the same name would overwrite each other's verdict.
twice=$(cut -d ' ' -f 1 "$out/every" | sort | uniq -d | tr '\n' ' ')
if [ -n "$twice" ]; then
	echo "tests that have the same name: $twice" >&2
	exit 1
fi

# Programs are found by their sources.
slow=$(grep -lE '^( \*|#) Slow: ' tests/*/*_test.c tests/*/*_test.sh 2>/dev/null |
	sed "s|^tests/\(.*\)\.c\$|$BUILD/tests/\1|" | tr '\n' ' ')
[ -z "${T:-}" ] || SET=all
SET=${SET:-all} SLOW="$slow" awk '
	BEGIN { n = split(ENVIRON["SLOW"], s, " "); for (i = 1; i <= n; i++) slow[s[i]] = 1 }
	ENVIRON["SET"] == "all" || (ENVIRON["SET"] == "slow") == ($NF in slow)' "$out/every" >"$out/set"

: >"$out/earlier"
earlier=${PASSED:-}
unset PASSED
if [ -f "$earlier" ]; then
	others=$(grep -lE 'exec[lv]|popen\(|system\(|shared/' tests/*/*_test.c |
		sed "s|^tests/\(.*\)\.c\$|$BUILD/tests/\1|" | tr '\n' ' ')
	OTHERS="$others" TESTS="$BUILD/tests/" awk '
		BEGIN { n = split(ENVIRON["OTHERS"], o, " "); for (i = 1; i <= n; i++) other[o[i]] = 1 }
		NR == FNR { if ($1 == "ok") ok[$NF] = 1; next }
		$1 in ok && index($2, ENVIRON["TESTS"]) == 1 && !($2 in other)' "$earlier" "$out/set" >"$out/earlier"
	grep -vxFf "$out/earlier" "$out/set" >"$out/rest" || true
	mv "$out/rest" "$out/set"
fi

# The longest tests start first, in this order, so that no processor is idle at the end.
longest="relations_test fleet_test page_test reproducible_test page_looks_test query_growth_test watch_java_test
	import_faults_test page_search_test every_query_test causes_test allocations_test store_flips_test
	sizes_jvm_test refs_test bombs_test page_big_test memory_programs_test import_dump_test cli_faults_test
	sql_extremes_all_test archives_test long_record_test mat_figures_test planted_leaks_test coverage_test
	option_walk_test watch_leaks_test contents_test leak_suspects_test watch_test what_grew_java_test"
LONGEST="$longest" awk '
	BEGIN { n = split(ENVIRON["LONGEST"], s, " "); for (i = 1; i <= n; i++) rank[s[i]] = i }
	{ print $1 in rank ? rank[$1] : n + NR, $0 }' "$out/set" | sort -n | cut -d ' ' -f 2- >"$out/list"

xargs -r -L 1 -P "${JOBS:-$(($(nproc) + 1))}" sh tests/run.sh --one <"$out/list"

passed=$(wc -l <"$out/earlier")
[ "$passed" -eq 0 ] || echo "$passed passed earlier: see $earlier"
failed=0
skipped=0
while read -r name rest; do
	verdict=$(cat "$out/$name.verdict" 2>/dev/null || echo "FAIL (did not run)")
	case $verdict in
	ok) passed=$((passed + 1)) ;;
	skip)
		skipped=$((skipped + 1))
		echo "skipped $name: $(tail -n 1 "$out/$name.log")"
		;;
	*)
		failed=$((failed + 1))
		echo
		echo "--- $name: $verdict: $rest"
		tail -n 60 "$out/$name.log" 2>/dev/null || true
		;;
	esac
done <"$out/list"

[ $skipped -eq 0 ] || echo "$skipped skipped"
if [ $((passed + failed + skipped)) -eq 0 ]; then
	echo "no test is called ${T:-anything}" >&2
	failed=1
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

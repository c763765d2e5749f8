#!/bin/sh
# android_shark_test.sh - every leak of the Android dumps equals that of LeakCanary's Shark: objects, steps, references,
# verdicts with reasons, labels, signatures, sizes and counts (shark_answers.py lists the deliberate differences). Also
# with a small memory budget and with one thread, and for dumps in which Shark finds nothing.
set -eu
for tool in zstd python3; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}
answers=$dumps/../android
[ -f "$answers/syn.shark.tsv.zst" ] || { echo "no $answers; HDB_DUMPS names another folder"; exit 77; }
cd "$TMPDIR"
failed=0
complain() {
	echo "FAILED: $*"
	failed=1
}

# take NAME FILE: imports a dump.
take() {
	zstd -dqf -o dump.hprof "$2"
	heapdb import dump.hprof -o dump.heapdb --force --quiet > import.log
}

# compare NAME FILE: compares all leaks, and those of watched objects.
compare() {
	take "$1" "$2"
	zstd -dqf -o want.tsv "$answers/$1.shark.tsv.zst"
	heapdb query leak-traces --db dump.heapdb --csv > leaks.csv
	heapdb query leak-traces --watched --db dump.heapdb --csv > keyed.csv
	heapdb query app --db dump.heapdb --csv > app.csv
	for mode in leaks keyed; do
		python3 "$HDB_ROOT/tests/oracle/shark_answers.py" want.tsv $mode $mode.csv app.csv > out ||
			complain "$1, $mode: another answer"
		sed "s/^/$1 $mode: /" out
	done
	heapdb query leak-traces --db dump.heapdb --csv --memory 16M --threads 1 > small.csv
	cmp -s leaks.csv small.csv || complain "$1: another answer with little memory"
}
compare leak_service_binder "$dumps/android_service_leak.hprof.zst"
for name in syn syn2 syn3; do
	compare $name "$answers/$name.hprof.zst"
done
for file in "$answers"/g0.hprof.zst "$answers"/test-dump.hprof.zst "$answers"/test-dump-base.hprof.zst \
	"$dumps/android_ahat_test.hprof.zst"; do
	take none "$file"
	[ "$(heapdb query leak-traces --db dump.heapdb --csv | wc -l)" = 1 ] || complain "$file has leaks"
done
exit $failed
